//! Prints the table of docs/model.md: what single keys of a model do to four workloads.

fn main() {
    print!("{}", counters::sweep::table());
}

//! Prints the table of docs/model.md: what single keys of a model do to four workloads; with `plot`, the picture of it.

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("plot") => print!("{}", counters::sweep::plot::plot()),
        _ => print!("{}", counters::sweep::table()),
    }
}

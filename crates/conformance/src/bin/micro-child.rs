//! The microbenchmarks ([`conformance::micro`]), of a GPU whose cores and KiB of L1 and L2 are its arguments; without any, what is held against
//! hardware ([`conformance::micro::fit`]).

use conformance::{check, micro};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|a| a.parse::<u32>().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    let done = match std::env::args().len() {
        1 => micro::fit::run(),
        _ => micro::run(next(), next(), next()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => check::failed(&e),
    }
}

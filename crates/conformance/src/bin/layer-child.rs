//! The program that its argument names ([`conformance::layer`]).

use std::process::ExitCode;

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_default();
    match conformance::layer::run(&name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => conformance::check::failed(&e),
    }
}

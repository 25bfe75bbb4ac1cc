//! Runs the cases of descriptor buffers on the driver that the environment shows; with the argument `own` also those
//! that are for Tuff alone.

use std::process::ExitCode;

fn main() -> ExitCode {
    let own = std::env::args().any(|a| a == "own");
    if conformance::descriptor_buffers::run_all(own) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

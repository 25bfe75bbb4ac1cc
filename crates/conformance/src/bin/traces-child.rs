//! Workloads whose traffic is held against what all of their accesses do ([`conformance::traces`]).

use conformance::{check, traces};
use std::process::ExitCode;

fn main() -> ExitCode {
    match traces::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => check::failed(&e),
    }
}

//! A program of frames, of the kind that its argument names ([`conformance::frames`]).

use conformance::{check, frames};
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match std::env::args().nth(1).as_deref() {
        Some("told") => frames::told(),
        Some("presented") => frames::presented(false),
        Some("numbered") => frames::presented(true),
        other => Err(format!("no program {other:?}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => check::failed(&e),
    }
}

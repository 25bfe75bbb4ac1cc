//! A program that this one runs in its own place.

use std::io::Result;
use std::process::{Command, ExitStatus};

/// Runs a program to its end. What a console sends goes to both.
///
/// # Errors
/// It cannot be started.
pub fn run(command: &mut Command) -> Result<ExitStatus> {
    command.status()
}

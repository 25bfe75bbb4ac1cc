//! Memory, semaphores and fences that two processes share by Windows' handles and by names: a line for each, a line with what is wrong for each
//! that fails. Descriptors of Linux have tests of their own (`crates/icd/tests/shared_sync.rs`).

use std::process::ExitCode;

#[cfg(windows)]
#[path = "external/windows.rs"]
mod windows;

fn main() -> ExitCode {
    #[cfg(windows)]
    match windows::run() {
        Ok(lines) => lines.iter().for_each(|l| println!("{l}")),
        Err(e) => {
            println!("WRONG external: {e}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

//! Shows a colour in a window of Windows, and reads it back from there: a line with its name for each size and format, a line with what is wrong for
//! each that fails. Other systems' windows have tests of their own.

use std::process::ExitCode;

#[cfg(windows)]
#[path = "window/windows.rs"]
mod windows;

fn main() -> ExitCode {
    #[cfg(windows)]
    match windows::run() {
        Ok(lines) => lines.iter().for_each(|l| println!("{l}")),
        Err(e) => {
            println!("WRONG window: {e}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

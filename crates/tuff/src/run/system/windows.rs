//! Windows.

use client::{Error, Result};
use std::os::windows::io::{FromRawHandle, OwnedHandle};
use std::path::PathBuf;
use std::process::ExitStatus;
use windows_sys::Win32::Foundation::WAIT_TIMEOUT;
use windows_sys::Win32::System::Threading::{OpenProcess, PROCESS_SYNCHRONIZE, WaitForSingleObject};

/// Between the paths of a list.
pub const SEPARATOR: &str = ";";

/// No program ends by a signal.
pub fn signal(_: ExitStatus) -> Option<i32> {
    None
}

/// Whether the driver has ended its process because all that a debugger asked for was recorded.
pub fn ended_by_driver(status: ExitStatus) -> bool {
    // As `end_process` of gpu/src/debugged.rs has it.
    status.code() == Some(143)
}

/// Whether the process of this number has not ended.
pub fn runs(number: &str) -> bool {
    let Ok(number) = number.parse() else { return false };
    // SAFETY: the handle, if there is one, is new, and is closed when it is dropped.
    unsafe {
        let process = OpenProcess(PROCESS_SYNCHRONIZE, 0, number);
        if process.is_null() {
            return false;
        }
        let _closed = OwnedHandle::from_raw_handle(process);
        WaitForSingleObject(process, 0) == WAIT_TIMEOUT
    }
}

/// The variable that names folders of layers beside those of the registry; VK_LAYER_PATH, if it is set, stands for the registry.
pub fn layers() -> (&'static str, &'static [&'static str]) {
    let set = std::env::var_os("VK_LAYER_PATH").is_some_and(|v| !v.is_empty());
    (if set { "VK_LAYER_PATH" } else { "VK_ADD_LAYER_PATH" }, &[])
}

/// The last part of a program's path.
pub fn name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// # Errors
/// Always: the driver listens on Linux alone.
pub fn listen_folder() -> Result<PathBuf> {
    Err(Error(format!(
        "on Windows no process can be watched: {} has no effect (docs/windows.md)",
        settings::LISTEN.name
    )))
}

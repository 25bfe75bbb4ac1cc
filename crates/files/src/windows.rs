//! Windows.

use std::fs::File;
use std::io::Result;
use std::os::windows::io::AsRawHandle;
use std::path::Path;
use windows_sys::Win32::Storage::FileSystem::{FILE_TYPE_DISK, GetFileType};

/// Whether the environment may not name files: never. A program on Windows does not get the rights of its file's owner. A user who sets
/// the environment of an elevated process already has that process's rights.
pub fn is_secure() -> bool {
    false
}

/// Runs what makes or writes files. Windows has no limit of their size that would end the process.
pub fn within_limits<R>(run: impl FnOnce() -> R) -> R {
    run()
}

/// Opens a file; `None` if it is no regular one.
pub fn regular(path: &Path) -> Result<Option<File>> {
    let file = File::open(path)?;
    // SAFETY: a live handle.
    let disk = unsafe { GetFileType(file.as_raw_handle()) } == FILE_TYPE_DISK;
    Ok((disk && file.metadata()?.is_file()).then_some(file))
}

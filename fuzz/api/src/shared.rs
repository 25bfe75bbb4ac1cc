//! What a run says to its parent, through a file that both map: it is there when the run is not any more.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Commands that there is room for.
const COMMANDS: usize = 512;
/// Calls that are remembered.
pub const RING: usize = 32;

#[repr(C)]
pub struct Shared {
    /// Calls that were begun.
    pub calls: AtomicU64,
    /// Those that returned a success, an error, and those that cannot fail.
    pub succeeded: AtomicU64,
    pub failed: AtomicU64,
    pub silent: AtomicU64,
    /// The driver said that it had panicked.
    pub faults: AtomicU64,
    /// What the run is at, if not a call.
    pub phase: AtomicU64,
    /// The last calls, in a ring: key and command.
    pub ring: [(AtomicU64, AtomicU64); RING],
    /// Calls and successes by command.
    pub by_command: [(AtomicU32, AtomicU32); COMMANDS],
}

pub const FIXTURE: u64 = 1;
pub const CALLS: u64 = 2;
pub const END: u64 = 3;

/// Maps the file at `path`, which is made if it is not there.
pub fn map(path: &Path) -> std::io::Result<&'static Shared> {
    use std::os::fd::AsRawFd;
    assert!(crate::COMMANDS.len() <= COMMANDS, "room for all commands");
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    file.set_len(size_of::<Shared>() as u64)?;
    // SAFETY: a mapping of as many bytes as the file has, for as long as the process; of atomics, for which all bits do.
    unsafe {
        let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        let at = libc::mmap(std::ptr::null_mut(), size_of::<Shared>(), prot, flags, file.as_raw_fd(), 0);
        if at == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(&*at.cast::<Shared>())
    }
}

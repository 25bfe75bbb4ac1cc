//! How much memory the process may have: the machine's.

use std::sync::OnceLock;
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

/// What is assumed where the system tells nothing.
const UNKNOWN: u64 = 4 << 30;

fn status() -> Option<MEMORYSTATUSEX> {
    let mut told = MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..Default::default() };
    // SAFETY: it fills the structure, whose size is told.
    (unsafe { GlobalMemoryStatusEx(&mut told) } != 0).then_some(told)
}

/// Bytes of the heap.
pub(crate) fn heap_size() -> u64 {
    static SIZE: OnceLock<u64> = OnceLock::new();
    *SIZE.get_or_init(|| status().map_or(UNKNOWN, |s| s.ullTotalPhys))
}

/// Bytes that there are to be had now: memory is committed when it is allocated, and the system limits what all programs commit.
pub(crate) fn available() -> u64 {
    status().map_or(heap_size(), |s| s.ullAvailPhys.min(s.ullAvailPageFile))
}

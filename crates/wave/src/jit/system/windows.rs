//! Windows.

use std::ptr::{NonNull, null};
use windows_sys::Win32::System::Diagnostics::Debug::FlushInstructionCache;
use windows_sys::Win32::System::Memory::*;
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// Fresh pages that can be written.
pub fn writable(bytes: usize) -> Option<NonNull<u8>> {
    // SAFETY: fresh memory.
    let p = unsafe { VirtualAlloc(null(), bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
    NonNull::new(p.cast())
}

/// Pages can be executed from now on, and not written. False: the system does not allow it.
///
/// # Safety
/// They are [`writable`]'s.
pub unsafe fn executable(at: NonNull<u8>, bytes: usize) -> bool {
    let (at, mut before) = (at.as_ptr().cast(), 0);
    // SAFETY: the caller's.
    unsafe {
        VirtualProtect(at, bytes, PAGE_EXECUTE_READ, &mut before) != 0
            && FlushInstructionCache(GetCurrentProcess(), at, bytes) != 0
    }
}

/// Gives pages back.
///
/// # Safety
/// They are [`writable`]'s, and nobody uses them any more.
pub unsafe fn free(at: NonNull<u8>, _: usize) {
    // SAFETY: the caller's.
    unsafe { VirtualFree(at.as_ptr().cast(), 0, MEM_RELEASE) };
}

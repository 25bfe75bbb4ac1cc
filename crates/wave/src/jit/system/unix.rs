//! Linux.

use std::ptr::NonNull;

/// Fresh pages that can be written.
pub fn writable(bytes: usize) -> Option<NonNull<u8>> {
    let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping.
    let p = unsafe { libc::mmap(std::ptr::null_mut(), bytes, prot, flags, -1, 0) };
    if p == libc::MAP_FAILED { None } else { NonNull::new(p.cast()) }
}

/// Pages can be executed from now on, and not written. False: the system does not allow it.
///
/// # Safety
/// They are [`writable`]'s.
pub unsafe fn executable(at: NonNull<u8>, bytes: usize) -> bool {
    // SAFETY: the caller's.
    unsafe { libc::mprotect(at.as_ptr().cast(), bytes, libc::PROT_READ | libc::PROT_EXEC) == 0 }
}

/// Gives pages back.
///
/// # Safety
/// They are [`writable`]'s, and nobody uses them any more.
pub unsafe fn free(at: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller's.
    unsafe { libc::munmap(at.as_ptr().cast(), bytes) };
}

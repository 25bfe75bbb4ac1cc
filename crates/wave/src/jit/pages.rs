//! Memory that code lies in: written, then executable, never both.

use std::ptr::NonNull;

/// Pages of code, given back when it is dropped.
pub struct Pages {
    at: NonNull<u8>,
    bytes: usize,
}

// SAFETY: nobody writes there once it is made.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// Pages that hold `code`; none where the system gives no memory, or does not let any be executable.
    pub fn new(code: &[u8]) -> Option<Pages> {
        if code.is_empty() {
            return None;
        }
        let bytes = code.len().checked_next_multiple_of(4096)?;
        let (prot, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping.
        let p = unsafe { libc::mmap(std::ptr::null_mut(), bytes, prot, flags, -1, 0) };
        if p == libc::MAP_FAILED {
            return None;
        }
        let it = Pages { at: NonNull::new(p.cast())?, bytes };
        // SAFETY: the mapping is as large, and nobody else's.
        unsafe { it.at.as_ptr().copy_from_nonoverlapping(code.as_ptr(), code.len()) };
        // SAFETY: as above.
        let done = unsafe { libc::mprotect(p, bytes, libc::PROT_READ | libc::PROT_EXEC) };
        (done == 0).then_some(it)
    }

    pub fn ptr(&self) -> *const u8 {
        self.at.as_ptr()
    }
    /// The instructions, with constants between them.
    pub fn code(&self) -> &[u8] {
        // SAFETY: the mapping is as large, readable, and never written again.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.bytes) }
    }
    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; nobody has code there any more.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.bytes) };
    }
}

//! Memory that code lies in: written, then executable, never both.

use super::{cache, system};
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
        let it = Pages { at: system::writable(bytes)?, bytes };
        // SAFETY: the pages are as many, and nobody else's.
        unsafe { it.at.as_ptr().copy_from_nonoverlapping(code.as_ptr(), code.len()) };
        cache::written(it.code());
        // SAFETY: as above.
        unsafe { system::executable(it.at, bytes) }.then_some(it)
    }

    pub fn ptr(&self) -> *const u8 {
        self.at.as_ptr()
    }
    /// The instructions, with constants between them.
    pub fn code(&self) -> &[u8] {
        // SAFETY: the pages are as many, readable, and never written again.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.bytes) }
    }
    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: made by `new`; nobody has code there any more.
        unsafe { system::free(self.at, self.bytes) };
    }
}

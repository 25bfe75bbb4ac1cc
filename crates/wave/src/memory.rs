//! Zeroed, page-aligned memory that grows.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

/// A run of bytes aligned to pages: where a register file lies among them decides which of its rows share cache sets with
/// a shader's data, and that must not depend on what the process allocated before.
pub struct Aligned {
    ptr: *mut u8,
    bytes: usize,
}

const PAGE: usize = 4096;

// SAFETY: owns its memory like a Vec<u8>.
unsafe impl Send for Aligned {}

impl Aligned {
    pub fn new() -> Aligned {
        Aligned { ptr: std::ptr::null_mut(), bytes: 0 }
    }
    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, PAGE).expect("a size within the address space")
    }
    /// At least `bytes` bytes. The contents are kept only if there was room; returns false when they were not.
    pub fn reserve(&mut self, bytes: usize) -> bool {
        if bytes <= self.bytes {
            return true;
        }
        let bytes = bytes.next_multiple_of(PAGE);
        self.free();
        // SAFETY: the size is not zero.
        let ptr = unsafe { alloc_zeroed(Self::layout(bytes)) };
        if ptr.is_null() {
            handle_alloc_error(Self::layout(bytes));
        }
        (self.ptr, self.bytes) = (ptr, bytes);
        false
    }
    pub fn ptr(&self) -> *mut u8 {
        self.ptr
    }
    fn free(&mut self) {
        if self.bytes > 0 {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.ptr, Self::layout(self.bytes)) };
        }
        (self.ptr, self.bytes) = (std::ptr::null_mut(), 0);
    }
}

impl Default for Aligned {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        self.free();
    }
}

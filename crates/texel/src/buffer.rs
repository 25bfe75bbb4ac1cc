//! Buffers.

use crate::memory::Bound;
use ash::vk;
use std::sync::OnceLock;

pub struct Buffer {
    pub size: u64,
    pub usage: vk::BufferUsageFlags,
    pub flags: vk::BufferCreateFlags,
    pub bound: OnceLock<Bound>,
}

impl Buffer {
    pub fn new(size: u64, usage: vk::BufferUsageFlags, flags: vk::BufferCreateFlags) -> Buffer {
        Buffer { size, usage, flags, bound: OnceLock::new() }
    }

    /// Host and device address of byte 0; null while unbound.
    pub fn ptr(&self) -> *mut u8 {
        self.bound.get().map_or(std::ptr::null_mut(), Bound::ptr)
    }

    /// Address and length of a range, cut to what the buffer has (`VK_WHOLE_SIZE` = to its end).
    pub fn range(&self, offset: u64, size: u64) -> (*mut u8, u64) {
        let p = self.ptr();
        if p.is_null() || offset > self.size {
            return (std::ptr::null_mut(), 0);
        }
        // SAFETY: offset ≤ size of the bound memory.
        (unsafe { p.add(offset as usize) }, size.min(self.size - offset))
    }
}

//! Descriptor sets as the shader engine reads them: tables of 32-byte descriptors.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use texel::buffer::Buffer;

pub use shader::options::{DESCRIPTOR_BYTES, DYNAMIC_TABLE};

/// A descriptor; layout as told at [`shader::options::DESCRIPTOR_BYTES`].
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Descriptor {
    /// Host address of a buffer's first byte, and its bytes.
    pub address: u64,
    pub size: u64,
    /// `*const ImageView` or `*const BufferView` (texel buffers).
    pub view: u64,
    /// `*const Sampler`.
    pub sampler: u64,
}

impl Descriptor {
    pub const NULL: Descriptor = Descriptor { address: 0, size: 0, view: 0, sampler: 0 };

    pub fn buffer(b: &Buffer, offset: u64, range: u64) -> Descriptor {
        let (p, n) = b.range(offset, range);
        Descriptor { address: p as u64, size: n, ..Self::NULL }
    }
}

/// The memory of one descriptor set: zeroed (null descriptors), 64-byte aligned, committed on first touch.
pub struct SetMemory {
    ptr: *mut u8,
    size: usize,
}

// SAFETY: plain bytes; the specification makes the application synchronise updates with use.
unsafe impl Send for SetMemory {}
unsafe impl Sync for SetMemory {}

impl SetMemory {
    pub fn new(size: usize) -> SetMemory {
        let layout = Self::layout(size);
        // SAFETY: the layout's size is not zero.
        let ptr = unsafe { alloc_zeroed(layout) };
        if ptr.is_null() {
            handle_alloc_error(layout);
        }
        SetMemory { ptr, size }
    }
    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size.max(64), 64).expect("set sizes are checked at layout creation")
    }
    pub fn ptr(&self) -> *mut u8 {
        self.ptr
    }
    pub fn size(&self) -> usize {
        self.size
    }
    pub fn write(&self, offset: u32, d: Descriptor) {
        if offset as usize + size_of::<Descriptor>() <= self.size {
            // SAFETY: in bounds; aligned because offsets are multiples of 32.
            unsafe { self.ptr.add(offset as usize).cast::<Descriptor>().write_unaligned(d) }
        }
    }
    pub fn read(&self, offset: u32) -> Descriptor {
        if offset as usize + size_of::<Descriptor>() > self.size {
            return Descriptor::NULL;
        }
        // SAFETY: in bounds.
        unsafe { self.ptr.add(offset as usize).cast::<Descriptor>().read_unaligned() }
    }
    /// Writes part of an inline uniform block; what lies outside the set is dropped.
    pub fn write_bytes(&self, offset: u32, bytes: &[u8]) {
        if let Some(room) = self.size.checked_sub(offset as usize) {
            // SAFETY: in bounds.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    bytes.as_ptr(),
                    self.ptr.add(offset as usize),
                    bytes.len().min(room),
                )
            }
        }
    }
}

impl Drop for SetMemory {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with the same layout.
        unsafe { dealloc(self.ptr, Self::layout(self.size)) }
    }
}

impl Clone for SetMemory {
    fn clone(&self) -> SetMemory {
        let new = SetMemory::new(self.size);
        // SAFETY: both are `size` bytes.
        unsafe { std::ptr::copy_nonoverlapping(self.ptr, new.ptr, self.size) };
        new
    }
}

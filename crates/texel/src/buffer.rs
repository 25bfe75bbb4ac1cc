//! Buffers.

use crate::memory::{AddressSpace, Bound, DeviceMemory, Wanted};
use ash::vk;
use std::sync::{Arc, OnceLock};

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

    /// A sparse one: its addresses, to which nothing is bound.
    ///
    /// # Errors
    /// `ERROR_OUT_OF_DEVICE_MEMORY`, `ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS`
    pub fn unbound(
        space: &Arc<AddressSpace>,
        size: u64,
        usage: vk::BufferUsageFlags,
        flags: vk::BufferCreateFlags,
        wanted: Wanted,
    ) -> Result<Buffer, vk::Result> {
        let holes = flags.contains(vk::BufferCreateFlags::SPARSE_RESIDENCY);
        let bound =
            OnceLock::from(Bound { memory: DeviceMemory::sparse_at(space, size, holes, wanted)?, offset: 0 });
        Ok(Buffer { size, usage, flags, bound })
    }

    /// The addresses of a sparse buffer.
    pub fn sparse(&self) -> Option<&Arc<DeviceMemory>> {
        self.bound.get().map(|b| &b.memory).filter(|m| m.is_sparse())
    }

    /// That of a range of the device's memory, which it keeps; `None` where that is not within one allocation.
    pub fn at(space: &AddressSpace, address: u64, size: u64) -> Option<Buffer> {
        let whole = Buffer::from(space, address).filter(|b| size <= b.size)?;
        Some(Buffer { size, ..whole })
    }

    /// Of all that its allocation has from this address on.
    pub fn from(space: &AddressSpace, address: u64) -> Option<Buffer> {
        let bound = space.at(address)?;
        let size = bound.memory.size() - bound.offset;
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        Some(Buffer { size, usage, flags: Default::default(), bound: OnceLock::from(bound) })
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

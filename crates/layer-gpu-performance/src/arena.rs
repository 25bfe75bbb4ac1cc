//! Memory that the host reads: results of batches (given back when they are read), and what a command buffer keeps
//! aside of secondaries that it executes again.

use crate::device::Device;
use crate::table::next;
use ash::vk;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Acquire};
use vk::Result as R;

/// Bytes of a chunk, unless more is asked for at once.
const CHUNK: u64 = 256 << 10;

struct Chunk {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    at: *mut u64,
    size: u64,
    /// Taken from the front; all is free again when nothing is left of it in use.
    taken: u64,
    live: u32,
}
// SAFETY: the pointer is the mapping of the chunk's own memory.
unsafe impl Send for Chunk {}

/// Pieces of buffers; see the module's text. Its destroyer is [`Arena::destroy`].
#[derive(Default)]
pub(crate) struct Arena(Mutex<Vec<Chunk>>);

/// A piece of a buffer, mapped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub buffer: vk::Buffer,
    pub offset: u64,
    words: *mut u64,
    count: usize,
}
// SAFETY: whoever holds a region is the only one on the host that reads or writes it.
unsafe impl Send for Region {}
// SAFETY: as above; reads are atomic.
unsafe impl Sync for Region {}

impl Region {
    /// The device may write at any time: read as it stands now. What the device wrote before a word that is seen here
    /// is seen too.
    pub fn word(&self, i: usize) -> u64 {
        assert!(i < self.count);
        // SAFETY: within the region, which is mapped as long as its chunk lives.
        unsafe { AtomicU64::from_ptr(self.words.add(i)).load(Acquire) }
    }

    fn clear(&self) {
        // SAFETY: as in `word`; nobody else has the region yet.
        unsafe { self.words.write_bytes(0, self.count) }
    }
}

impl Arena {
    /// `bytes` (a multiple of 8) of zeros.
    pub unsafe fn take(&self, device: &Device, bytes: u64) -> Result<Region, R> {
        // SAFETY: the caller's.
        unsafe {
            let mut chunks = self.0.lock();
            let at = match chunks.iter().position(|c| c.size - c.taken >= bytes) {
                Some(at) => at,
                None => {
                    chunks.push(Chunk::new(device, bytes.next_power_of_two().max(CHUNK))?);
                    chunks.len() - 1
                }
            };
            let c = &mut chunks[at];
            let offset = c.taken;
            c.taken += bytes;
            c.live += 1;
            let words = c.at.add(offset as usize / 8);
            let region = Region { buffer: c.buffer, offset, words, count: bytes as usize / 8 };
            region.clear();
            Ok(region)
        }
    }

    pub fn give_back(&self, region: &Region) {
        let mut chunks = self.0.lock();
        if let Some(c) = chunks.iter_mut().find(|c| c.buffer == region.buffer) {
            c.live -= 1;
            if c.live == 0 {
                c.taken = 0;
            }
        }
    }

    pub unsafe fn destroy(&self, device: &Device) {
        // SAFETY: the caller's.
        unsafe {
            for c in self.0.lock().drain(..) {
                c.destroy(device);
            }
        }
    }
}

impl Chunk {
    unsafe fn new(device: &Device, size: u64) -> Result<Chunk, R> {
        // SAFETY: the caller's.
        unsafe {
            let missing = R::ERROR_INITIALIZATION_FAILED;
            let none = std::ptr::null();
            let info = vk::BufferCreateInfo::default()
                .size(size)
                .usage(vk::BufferUsageFlags::TRANSFER_DST | vk::BufferUsageFlags::TRANSFER_SRC);
            let mut c = Chunk {
                buffer: vk::Buffer::null(),
                memory: vk::DeviceMemory::null(),
                at: std::ptr::null_mut(),
                size,
                taken: 0,
                live: 0,
            };
            let made = (|| {
                next!(device, create_buffer(device.handle, &info, none, &mut c.buffer), else missing)
                    .result()?;
                let mut needs = vk::MemoryRequirements::default();
                next!(device, get_buffer_memory_requirements(device.handle, c.buffer, &mut needs));
                let ty = device.host_memory(needs.memory_type_bits).ok_or(R::ERROR_OUT_OF_HOST_MEMORY)?;
                let info =
                    vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(ty);
                next!(device, allocate_memory(device.handle, &info, none, &mut c.memory), else missing)
                    .result()?;
                next!(device, bind_buffer_memory(device.handle, c.buffer, c.memory, 0), else missing)
                    .result()?;
                let mut at = std::ptr::null_mut();
                let flags = vk::MemoryMapFlags::empty();
                let whole = vk::WHOLE_SIZE;
                next!(device, map_memory(device.handle, c.memory, 0, whole, flags, &mut at), else missing)
                    .result()?;
                c.at = at.cast();
                Ok(())
            })();
            match made {
                Ok(()) => Ok(c),
                Err(e) => {
                    c.destroy(device);
                    Err(e)
                }
            }
        }
    }

    unsafe fn destroy(self, device: &Device) {
        // SAFETY: the caller's.
        unsafe {
            next!(device, destroy_buffer(device.handle, self.buffer, std::ptr::null()));
            next!(device, free_memory(device.handle, self.memory, std::ptr::null()));
        }
    }
}

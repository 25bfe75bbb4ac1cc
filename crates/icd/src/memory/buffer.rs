//! VkBuffer.

use crate::base::answer::{Answer, created, invalid};
use crate::base::chain;
use crate::base::object::{self, Object};
use crate::device::Device;
use crate::device::addresses::{self, Binding};
use crate::instance::limits::MAX_ALLOCATION;
use crate::instance::physical_device::{PLAIN_TYPE_BITS, SPARSE_TYPE_BITS};
use crate::memory::{self, Memory};
use std::sync::Arc;
use texel::memory::Bound;
use texel::memory::sparse::BLOCK;

pub struct Buffer {
    pub(crate) gpu: Arc<texel::buffer::Buffer>,
}

impl Object for Buffer {
    type Handle = vk::Buffer;
}

/// Alignment of every buffer: a cache line, so that vectors and 64-bit atomics never straddle one.
pub(crate) const ALIGN: u64 = 64;

/// The buffer behind a handle.
pub(crate) unsafe fn get(buffer: vk::Buffer) -> Option<Arc<texel::buffer::Buffer>> {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe { Some(object::get::<Buffer>(buffer)?.gpu.clone()) }
}

pub(crate) unsafe fn create_buffer(
    device: &Device,
    info: *const vk::BufferCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::Buffer,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let result = created(out, new(device, &*info));
        // A sparse one has its addresses from the beginning.
        if result == vk::Result::SUCCESS && (*info).flags.contains(vk::BufferCreateFlags::SPARSE_BINDING) {
            tell(device, *out, Binding::BIND);
        }
        result
    }
}

unsafe fn new(device: &Device, info: &vk::BufferCreateInfo) -> Answer<Buffer> {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        use vk::BufferCreateFlags as Flags;
        if info.flags.contains(Flags::PROTECTED) {
            return Err(invalid("vkCreateBuffer: protected buffers are not supported"));
        }
        let is_sparse = info.flags.contains(Flags::SPARSE_BINDING);
        if info.flags.intersects(Flags::SPARSE_RESIDENCY | Flags::SPARSE_ALIASED) && !is_sparse {
            return Err(invalid("vkCreateBuffer: sparse residency or aliasing without sparse binding"));
        }
        if info.size == 0 {
            return Err(invalid("vkCreateBuffer: a buffer of 0 bytes"));
        }
        if info.size > MAX_ALLOCATION {
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        }
        let usage = match chain::find::<vk::BufferUsageFlags2CreateInfoKHR>(info.p_next) {
            Some(u) => vk::BufferUsageFlags::from_raw(u.usage.as_raw() as u32),
            None => info.usage,
        };
        // Others are where the memory is that they are bound to.
        let captured = chain::find::<vk::BufferOpaqueCaptureAddressCreateInfo>(info.p_next);
        let for_replay = info.flags.contains(Flags::DEVICE_ADDRESS_CAPTURE_REPLAY);
        let wanted = memory::wanted(device, captured.map(|c| c.opaque_capture_address), for_replay);
        let gpu = match is_sparse {
            true => texel::buffer::Buffer::unbound(device.space(), info.size, usage, info.flags, wanted)?,
            false => texel::buffer::Buffer::new(info.size, usage, info.flags),
        };
        Ok(Buffer { gpu: Arc::new(gpu) })
    }
}

unsafe fn tell(device: &Device, buffer: vk::Buffer, binding: Binding) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    if let Some(b) = unsafe { object::get::<Buffer>(buffer) } {
        addresses::tell_address::<Buffer>(device, buffer, (b.gpu.ptr() as u64, b.gpu.size), binding);
    }
}

pub(crate) unsafe fn destroy_buffer(device: &Device, buffer: vk::Buffer, _: *const vk::AllocationCallbacks) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if buffer != vk::Buffer::null() {
            tell(device, buffer, Binding::UNBIND);
        }
        if let Some(b) = object::destroy::<Buffer>(buffer)
            && let Some(bound) = b.gpu.bound.get()
        {
            bound.memory.released();
        }
    }
}

unsafe fn require(size: u64, flags: vk::BufferCreateFlags, out: &mut vk::MemoryRequirements2) {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let (alignment, memory_type_bits) = match flags.contains(vk::BufferCreateFlags::SPARSE_BINDING) {
            true => (BLOCK, SPARSE_TYPE_BITS),
            false => (ALIGN, PLAIN_TYPE_BITS),
        };
        out.memory_requirements =
            vk::MemoryRequirements { size: size.next_multiple_of(alignment), alignment, memory_type_bits };
        not_dedicated(out);
    }
}

/// Nothing gains from memory of its own.
pub(crate) unsafe fn not_dedicated(out: &mut vk::MemoryRequirements2) {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        if let Some(d) = chain::find_mut::<vk::MemoryDedicatedRequirements>(out.p_next) {
            d.prefers_dedicated_allocation = vk::FALSE;
            d.requires_dedicated_allocation = vk::FALSE;
        }
    }
}

pub(crate) unsafe fn get_buffer_memory_requirements2(
    _: &Device,
    info: *const vk::BufferMemoryRequirementsInfo2,
    out: *mut vk::MemoryRequirements2,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(b) = object::get::<Buffer>((*info).buffer) {
            require(b.gpu.size, b.gpu.flags, &mut *out);
        }
    }
}

pub(crate) unsafe fn get_device_buffer_memory_requirements(
    _: &Device,
    info: *const vk::DeviceBufferMemoryRequirements,
    out: *mut vk::MemoryRequirements2,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let (size, flags) =
            (*info).p_create_info.as_ref().map_or((0, Default::default()), |i| (i.size, i.flags));
        require(size.min(MAX_ALLOCATION), flags, &mut *out);
    }
}

pub(crate) unsafe fn bind_buffer_memory2(
    device: &Device,
    count: u32,
    infos: *const vk::BindBufferMemoryInfo,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let mut result = vk::Result::SUCCESS;
        for i in chain::slice(infos, count) {
            let bound = bind(i);
            if bound == vk::Result::SUCCESS {
                tell(device, i.buffer, Binding::BIND);
            }
            if let Some(status) = chain::find::<vk::BindMemoryStatusKHR>(i.p_next)
                && !status.p_result.is_null()
            {
                *status.p_result = bound;
            }
            if bound != vk::Result::SUCCESS {
                result = bound;
            }
        }
        result
    }
}

unsafe fn bind(i: &vk::BindBufferMemoryInfo) -> vk::Result {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let (Some(b), Some(m)) = (object::get::<Buffer>(i.buffer), object::get::<Memory>(i.memory)) else {
            return vk::Result::ERROR_UNKNOWN;
        };
        let fits = i.memory_offset.checked_add(b.gpu.size).is_some_and(|end| end <= m.gpu.size());
        if !fits {
            return invalid(&format!(
                "vkBindBufferMemory: {} bytes at {} lie outside an allocation of {}",
                b.gpu.size,
                i.memory_offset,
                m.gpu.size()
            ));
        }
        match b.gpu.bound.set(Bound { memory: m.gpu.clone(), offset: i.memory_offset }) {
            Ok(()) => {
                m.gpu.used();
                vk::Result::SUCCESS
            }
            Err(_) => invalid("vkBindBufferMemory: the buffer is bound already"),
        }
    }
}

pub(crate) unsafe fn get_buffer_device_address(_: &Device, info: *const vk::BufferDeviceAddressInfo) -> u64 {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { object::get::<Buffer>((*info).buffer).map_or(0, |b| b.gpu.ptr() as u64) }
}

pub(crate) unsafe fn get_buffer_opaque_capture_address(
    device: &Device,
    info: *const vk::BufferDeviceAddressInfo,
) -> u64 {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { get_buffer_device_address(device, info) }
}

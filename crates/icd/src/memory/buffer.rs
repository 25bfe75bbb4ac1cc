//! VkBuffer.

use crate::base::answer::{Answer, code, handed_out, invalid};
use crate::base::given::{Call, Doomed, Fill, In, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::device::addresses::{self, Binding};
use crate::instance::limits::MAX_ALLOCATION;
use crate::instance::physical_device::{PLAIN_TYPE_BITS, PROTECTED_TYPE_BITS, SPARSE, SPARSE_TYPE_BITS};
use crate::memory::{self, Memory, acceleration_structure, capture};
use std::sync::Arc;
use texel::memory::Bound;
use texel::memory::sparse::BLOCK;
use vk::Handle as _;

pub struct Buffer {
    pub(crate) gpu: Arc<texel::buffer::Buffer>,
}

impl Object for Buffer {
    type Handle = vk::Buffer;
}

/// Alignment of every buffer: a cache line, so that vectors and 64-bit atomics never straddle one.
pub(crate) const ALIGN: u64 = 64;

/// The buffer of a handle.
pub(crate) fn get<'a>(call: impl Call<'a>, buffer: vk::Buffer) -> Option<Arc<texel::buffer::Buffer>> {
    Some(call.object::<Buffer>(buffer)?.gpu.clone())
}

pub(crate) fn create_buffer(
    device: &Device,
    info: In<vk::BufferCreateInfo>,
    out: Out<vk::Buffer>,
) -> vk::Result {
    let made = handed_out(out, new(device, info));
    code(made.map(|buffer| {
        // A sparse one has its addresses from the beginning.
        if info.flags.contains(vk::BufferCreateFlags::SPARSE_BINDING) {
            tell(device, buffer, Binding::BIND);
        }
    }))
}

fn new(device: &Device, info: In<vk::BufferCreateInfo>) -> Answer<Buffer> {
    use vk::BufferCreateFlags as Flags;
    let is_sparse = info.flags.contains(Flags::SPARSE_BINDING);
    if is_sparse && !SPARSE {
        return Err(invalid("vkCreateBuffer: this system has no sparse resources"));
    }
    if info.flags.contains(Flags::PROTECTED) {
        device.protect("vkCreateBuffer", is_sparse)?;
    }
    if info.flags.intersects(Flags::SPARSE_RESIDENCY | Flags::SPARSE_ALIASED) && !is_sparse {
        return Err(invalid("vkCreateBuffer: sparse residency or aliasing without sparse binding"));
    }
    if info.size == 0 {
        return Err(invalid("vkCreateBuffer: a buffer of 0 bytes"));
    }
    if info.size > MAX_ALLOCATION {
        return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
    }
    let usage = usage(info);
    // Others are where the memory is that they are bound to.
    let captured = info.find::<vk::BufferOpaqueCaptureAddressCreateInfo>();
    let captured = captured.map(|c| c.opaque_capture_address).or_else(|| capture::in_buffers(info.find()));
    let for_replay = info
        .flags
        .intersects(Flags::DEVICE_ADDRESS_CAPTURE_REPLAY | Flags::DESCRIPTOR_BUFFER_CAPTURE_REPLAY_EXT);
    let wanted = memory::wanted(device, captured, for_replay);
    let gpu = match is_sparse {
        true => texel::buffer::Buffer::unbound(device.space(), info.size, usage, info.flags, wanted)?,
        false => texel::buffer::Buffer::new(info.size, usage, info.flags),
    };
    Ok(Buffer { gpu: Arc::new(gpu) })
}

/// VkBufferUsageFlags2CreateInfo replaces the usage.
fn usage(info: In<vk::BufferCreateInfo>) -> vk::BufferUsageFlags {
    match info.find::<vk::BufferUsageFlags2CreateInfoKHR>() {
        Some(u) => vk::BufferUsageFlags::from_raw(u.usage.as_raw() as u32),
        None => info.usage,
    }
}

fn tell(device: &Device, buffer: vk::Buffer, binding: Binding) {
    if let Some(b) = device.object::<Buffer>(buffer) {
        let bytes = b.gpu.ptr() as u64..b.gpu.ptr() as u64 + b.gpu.size;
        device.resource("buffer", buffer.as_raw(), bytes, None, binding);
        addresses::tell_address::<Buffer>(device, buffer, (b.gpu.ptr() as u64, b.gpu.size), binding);
    }
}

pub(crate) fn destroy_buffer(device: &Device, buffer: Doomed<Buffer>) {
    if buffer.object().is_some() {
        tell(device, buffer.handle(), Binding::UNBIND);
    }
    if let Some(b) = buffer.destroy()
        && let Some(bound) = b.gpu.bound.get()
    {
        bound.memory.released();
    }
}

pub(crate) fn require(
    size: u64,
    usage: vk::BufferUsageFlags,
    flags: vk::BufferCreateFlags,
    mut out: Fill<vk::MemoryRequirements2>,
) {
    // Structures are at multiples of their alignment in buffers, and must be at such addresses.
    let structures =
        vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR | vk::BufferUsageFlags::MICROMAP_STORAGE_EXT;
    let (alignment, memory_type_bits) = match flags.contains(vk::BufferCreateFlags::SPARSE_BINDING) {
        true => (BLOCK, SPARSE_TYPE_BITS),
        false if flags.contains(vk::BufferCreateFlags::PROTECTED) => (ALIGN, PROTECTED_TYPE_BITS),
        false if usage.intersects(structures) => (acceleration_structure::ALIGN, PLAIN_TYPE_BITS),
        false => (ALIGN, PLAIN_TYPE_BITS),
    };
    out.memory_requirements =
        vk::MemoryRequirements { size: size.next_multiple_of(alignment), alignment, memory_type_bits };
    not_dedicated(out);
}

/// Nothing gains from memory of its own.
pub(crate) fn not_dedicated(mut out: Fill<vk::MemoryRequirements2>) {
    if let Some(mut d) = out.find::<vk::MemoryDedicatedRequirements>() {
        d.prefers_dedicated_allocation = vk::FALSE;
        d.requires_dedicated_allocation = vk::FALSE;
    }
}

pub(crate) fn get_buffer_memory_requirements2(
    _: &Device,
    info: In<vk::BufferMemoryRequirementsInfo2>,
    out: Fill<vk::MemoryRequirements2>,
) {
    if let Some(b) = info.object::<Buffer>(info.buffer) {
        require(b.gpu.size, b.gpu.usage, b.gpu.flags, out);
    }
}

pub(crate) fn get_device_buffer_memory_requirements(
    _: &Device,
    info: In<vk::DeviceBufferMemoryRequirements>,
    out: Fill<vk::MemoryRequirements2>,
) {
    let Some(i) = info.create_info() else { return };
    require(i.size.min(MAX_ALLOCATION), usage(i), i.flags, out);
}

pub(crate) fn bind_buffer_memory2(device: &Device, infos: In<[vk::BindBufferMemoryInfo]>) -> vk::Result {
    let mut result = vk::Result::SUCCESS;
    for i in infos {
        let bound = bind(i);
        if bound == vk::Result::SUCCESS {
            tell(device, i.buffer, Binding::BIND);
        }
        if let Some(status) = i.find::<vk::BindMemoryStatusKHR>().and_then(|s| s.result()) {
            status.set(bound);
        }
        if bound != vk::Result::SUCCESS {
            result = bound;
        }
    }
    result
}

fn bind(i: In<vk::BindBufferMemoryInfo>) -> vk::Result {
    let (Some(b), Some(m)) = (i.object::<Buffer>(i.buffer), i.object::<Memory>(i.memory)) else {
        return vk::Result::ERROR_UNKNOWN;
    };
    place("vkBindBufferMemory", &b.gpu, m, i.memory_offset)
}

/// Gives a buffer, or what has memory as one, its place in an allocation.
pub(crate) fn place(call: &str, b: &texel::buffer::Buffer, m: &Memory, offset: u64) -> vk::Result {
    let fits = offset.checked_add(b.size).is_some_and(|end| end <= m.gpu.size());
    if !fits {
        return invalid(&format!(
            "{call}: {} bytes at {offset} lie outside an allocation of {}",
            b.size,
            m.gpu.size()
        ));
    }
    if let Err(e) = m.accepts(b.flags.contains(vk::BufferCreateFlags::PROTECTED), call) {
        return e;
    }
    match b.bound.set(Bound { memory: m.gpu.clone(), offset }) {
        Ok(()) => {
            m.gpu.used();
            vk::Result::SUCCESS
        }
        Err(_) => invalid(&format!("{call}: it is bound already")),
    }
}

pub(crate) fn get_buffer_device_address(_: &Device, info: In<vk::BufferDeviceAddressInfo>) -> u64 {
    info.object::<Buffer>(info.buffer).map_or(0, |b| b.gpu.ptr() as u64)
}

pub(crate) fn get_buffer_opaque_capture_address(
    device: &Device,
    info: In<vk::BufferDeviceAddressInfo>,
) -> u64 {
    get_buffer_device_address(device, info)
}

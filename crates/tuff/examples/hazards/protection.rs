//! Protected memory in submissions that are not.

use crate::Situation;
use crate::world::*;
use ash::vk;
use client::{Error, Result};

/// A buffer in protected memory, or in other memory; it lives as long as the device.
fn buffer(w: &World, protected: bool) -> Result<vk::Buffer> {
    let flags = if protected { vk::BufferCreateFlags::PROTECTED } else { Default::default() };
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
    let info = vk::BufferCreateInfo::default().size(256).usage(usage).flags(flags);
    // SAFETY: plain calls, with structures of this function.
    unsafe {
        let buffer = w.device.create_buffer(&info, None).map_err(Error::vk("vkCreateBuffer"))?;
        let needs = w.device.get_buffer_memory_requirements(buffer);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(needs.memory_type_bits.trailing_zeros());
        let memory = w.device.allocate_memory(&info, None).map_err(Error::vk("vkAllocateMemory"))?;
        w.device.bind_buffer_memory(buffer, memory, 0).map_err(Error::vk("vkBindBufferMemory"))?;
        Ok(buffer)
    }
}

pub const ALL: &[Situation] = &[
    ("protected_memory_filled", |w, fault| {
        let buffer = buffer(w, fault)?;
        // SAFETY: recording, with live handles.
        w.run(|r| unsafe { w.device.cmd_fill_buffer(r.buffer, buffer, 0, 256, 7) })
    }),
    ("protected_memory_in_a_shader", |w, fault| {
        let buffer = buffer(w, fault)?;
        let set = w.set(Bound { buffers: [Some(&w.buffers[0]), Some(&w.buffers[1])], ..Bound::default() })?;
        let info = [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(1)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&info);
        // SAFETY: nothing uses the set.
        unsafe { w.device.update_descriptor_sets(&[write], &[]) };
        let copy = w.compute("copy")?;
        w.run(|r| r.dispatch(copy, set, [0, 0], [1, 1]))
    }),
];

//! VkCommandPool.

use crate::base::answer::created;
use crate::base::given::{Call, Doomed, In, Out, OutSlice};
use crate::base::object::{self, Object};
use crate::device::Device;
use crate::record::command_buffer::CommandBuffer;
use parking_lot::Mutex;
use vk::Handle;

pub struct CommandPool {
    /// `RESET_COMMAND_BUFFER`: buffers may be reset one by one.
    pub(crate) flags: vk::CommandPoolCreateFlags,
    buffers: Mutex<Vec<vk::CommandBuffer>>,
}

impl Object for CommandPool {
    type Handle = vk::CommandPool;
}

pub(crate) fn create_command_pool(
    _: &Device,
    info: In<vk::CommandPoolCreateInfo>,
    out: Out<vk::CommandPool>,
) -> vk::Result {
    created(out, Ok(CommandPool { flags: info.flags, buffers: Mutex::default() }))
}

pub(crate) fn destroy_command_pool(_: &Device, pool: Doomed<CommandPool>) {
    if let Some(p) = pool.destroy() {
        for b in p.buffers.into_inner() {
            // SAFETY: command buffers end with their pool (valid usage).
            unsafe { object::destroy::<CommandBuffer>(b) };
        }
    }
}

pub(crate) fn reset_command_pool(
    device: &Device,
    pool: vk::CommandPool,
    flags: vk::CommandPoolResetFlags,
) -> vk::Result {
    if let Some(p) = device.object::<CommandPool>(pool) {
        let release = flags.contains(vk::CommandPoolResetFlags::RELEASE_RESOURCES);
        for &b in p.buffers.lock().iter() {
            if let Some(b) = device.object::<CommandBuffer>(b) {
                b.reset(release);
            }
        }
    }
    vk::Result::SUCCESS
}

/// No pool keeps anything, but the C library does.
pub(crate) fn trim_command_pool(_: &Device, pool: vk::CommandPool, _: vk::CommandPoolTrimFlags) {
    if object::hold::<CommandPool>(pool).is_some() {
        crate::base::alloc::give_back();
    }
}

pub(crate) fn allocate_command_buffers(
    device: &Device,
    info: In<vk::CommandBufferAllocateInfo>,
    out: OutSlice<vk::CommandBuffer>,
) -> vk::Result {
    let i = info;
    out.fill(vk::CommandBuffer::null());
    let Some(pool) = device.object::<CommandPool>(i.command_pool) else { return vk::Result::ERROR_UNKNOWN };
    let mut buffers = pool.buffers.lock();
    for n in 0..out.len() {
        let buffer = object::create(CommandBuffer::new(pool.flags, i.level, device.space().clone()));
        if let Some(b) = device.object::<CommandBuffer>(buffer) {
            b.raw.get_or_init(|| buffer.as_raw());
        }
        out.set(n, buffer);
        buffers.push(buffer);
    }
    vk::Result::SUCCESS
}

pub(crate) fn free_command_buffers(device: &Device, pool: vk::CommandPool, buffers: &[vk::CommandBuffer]) {
    let Some(pool) = device.object::<CommandPool>(pool) else { return };
    let mut owned = pool.buffers.lock();
    for &b in buffers {
        if b == vk::CommandBuffer::null() {
            continue;
        }
        match owned.iter().position(|&o| o == b) {
            Some(i) => {
                owned.swap_remove(i);
                // SAFETY: the application frees it, and so uses it no more (valid usage).
                unsafe { object::destroy::<CommandBuffer>(b) };
            }
            None => crate::base::debug::log_error("vkFreeCommandBuffers: a command buffer of another pool"),
        }
    }
}

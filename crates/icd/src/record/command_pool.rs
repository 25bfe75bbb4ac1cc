//! VkCommandPool.

use crate::base::answer::created;
use crate::base::chain;
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

pub(crate) unsafe fn create_command_pool(
    _: &Device,
    info: *const vk::CommandPoolCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::CommandPool,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { created(out, Ok(CommandPool { flags: (*info).flags, buffers: Mutex::default() })) }
}

pub(crate) unsafe fn destroy_command_pool(
    _: &Device,
    pool: vk::CommandPool,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(p) = object::destroy::<CommandPool>(pool) {
            for b in p.buffers.into_inner() {
                object::destroy::<CommandBuffer>(b);
            }
        }
    }
}

pub(crate) unsafe fn reset_command_pool(
    _: &Device,
    pool: vk::CommandPool,
    flags: vk::CommandPoolResetFlags,
) -> vk::Result {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if let Some(p) = object::get::<CommandPool>(pool) {
            let release = flags.contains(vk::CommandPoolResetFlags::RELEASE_RESOURCES);
            for &b in p.buffers.lock().iter() {
                if let Some(b) = object::get::<CommandBuffer>(b) {
                    b.reset(release);
                }
            }
        }
        vk::Result::SUCCESS
    }
}

/// No pool keeps anything, but the C library does.
pub(crate) unsafe fn trim_command_pool(_: &Device, pool: vk::CommandPool, _: vk::CommandPoolTrimFlags) {
    if object::hold::<CommandPool>(pool).is_some() {
        crate::base::alloc::give_back();
    }
}

pub(crate) unsafe fn allocate_command_buffers(
    device: &Device,
    info: *const vk::CommandBufferAllocateInfo,
    out: *mut vk::CommandBuffer,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let out = chain::slice_mut(out, i.command_buffer_count);
        out.fill(vk::CommandBuffer::null());
        let Some(pool) = object::get::<CommandPool>(i.command_pool) else { return vk::Result::ERROR_UNKNOWN };
        let mut buffers = pool.buffers.lock();
        for slot in out.iter_mut() {
            *slot = object::create(CommandBuffer::new(pool.flags, i.level, device.space().clone()));
            if let Some(b) = object::get::<CommandBuffer>(*slot) {
                b.raw.get_or_init(|| slot.as_raw());
            }
        }
        buffers.extend_from_slice(out);
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn free_command_buffers(
    _: &Device,
    pool: vk::CommandPool,
    count: u32,
    buffers: *const vk::CommandBuffer,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(pool) = object::get::<CommandPool>(pool) else { return };
        let mut owned = pool.buffers.lock();
        for &b in chain::slice(buffers, count) {
            if b == vk::CommandBuffer::null() {
                continue;
            }
            match owned.iter().position(|&o| o == b) {
                Some(i) => {
                    owned.swap_remove(i);
                    object::destroy::<CommandBuffer>(b);
                }
                None => {
                    crate::base::debug::log_error("vkFreeCommandBuffers: a command buffer of another pool")
                }
            }
        }
    }
}

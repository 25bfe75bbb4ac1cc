//! Command pools and command buffers.

use super::{Function, function, functions};
use crate::chain;
use crate::device::{self, Device, PoolInfo};
use crate::guard::{caught, told};
use crate::recording::Recording;
use crate::table::next;
use ash::vk;
use parking_lot::Mutex;
use std::ffi::CStr;
use std::sync::Arc;
use vk::Result as R;

functions! {
    pub(super) fn lookup;
    b"vkCreateCommandPool" => create_command_pool, PFN_vkCreateCommandPool;
    b"vkDestroyCommandPool" => destroy_command_pool, PFN_vkDestroyCommandPool;
    b"vkResetCommandPool" => reset_command_pool, PFN_vkResetCommandPool;
    b"vkAllocateCommandBuffers" => allocate_command_buffers, PFN_vkAllocateCommandBuffers;
    b"vkFreeCommandBuffers" => free_command_buffers, PFN_vkFreeCommandBuffers;
    b"vkBeginCommandBuffer" => begin_command_buffer, PFN_vkBeginCommandBuffer;
    b"vkEndCommandBuffer" => end_command_buffer, PFN_vkEndCommandBuffer;
    b"vkResetCommandBuffer" => reset_command_buffer, PFN_vkResetCommandBuffer;
    b"vkCmdBindPipeline" => bind_pipeline, PFN_vkCmdBindPipeline;
    b"vkCmdExecuteCommands" => execute_commands, PFN_vkCmdExecuteCommands;
    b"vkCmdBeginDebugUtilsLabelEXT" => begin_label, PFN_vkCmdBeginDebugUtilsLabelEXT;
    b"vkCmdEndDebugUtilsLabelEXT" => end_label, PFN_vkCmdEndDebugUtilsLabelEXT;
    b"vkCmdInsertDebugUtilsLabelEXT" => insert_label, PFN_vkCmdInsertDebugUtilsLabelEXT;
}

const FAILED: R = R::ERROR_INITIALIZATION_FAILED;

unsafe extern "system" fn create_command_pool(
    handle: vk::Device,
    info: *const vk::CommandPoolCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pool: *mut vk::CommandPool,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        let result = d.seen(next!(d, create_command_pool(handle, info, allocator, pool), else FAILED));
        if result == R::SUCCESS {
            let family = (*info).queue_family_index;
            let unmeasured = d.unmeasured(family, (*info).flags);
            d.command_pools.write().insert(*pool, Arc::new(PoolInfo { pool: *pool, family, unmeasured }));
        }
        result
    }
}

/// Recordings of a pool's command buffers.
fn of_pool(d: &Device, pool: vk::CommandPool) -> Vec<(vk::CommandBuffer, Arc<Mutex<Recording>>)> {
    let all = d.buffers.read();
    let of = |r: &Arc<Mutex<Recording>>| r.lock().pool.pool == pool;
    all.iter().filter(|(_, r)| of(r)).map(|(c, r)| (*c, r.clone())).collect()
}

unsafe extern "system" fn destroy_command_pool(
    handle: vk::Device,
    pool: vk::CommandPool,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return };
        caught(|| {
            for (c, r) in of_pool(&d, pool) {
                d.reset(&r);
                d.buffers.write().remove(&c);
            }
            d.command_pools.write().remove(&pool);
        });
        next!(d, destroy_command_pool(handle, pool, allocator));
    }
}

unsafe extern "system" fn reset_command_pool(
    handle: vk::Device,
    pool: vk::CommandPool,
    flags: vk::CommandPoolResetFlags,
) -> R {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        let result = d.seen(next!(d, reset_command_pool(handle, pool, flags), else FAILED));
        if result == R::SUCCESS {
            caught(|| of_pool(&d, pool).iter().for_each(|(_, r)| d.reset(r)));
        }
        result
    }
}

unsafe extern "system" fn allocate_command_buffers(
    handle: vk::Device,
    info: *const vk::CommandBufferAllocateInfo<'_>,
    buffers: *mut vk::CommandBuffer,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        let result = d.seen(next!(d, allocate_command_buffers(handle, info, buffers), else FAILED));
        if result == R::SUCCESS {
            caught(|| {
                let pool = d.command_pools.read().get(&(*info).command_pool).cloned();
                let Some(pool) = pool else { return };
                let mut all = d.buffers.write();
                for c in chain::slice(buffers, (*info).command_buffer_count) {
                    let secondary = (*info).level == vk::CommandBufferLevel::SECONDARY;
                    all.insert(*c, Arc::new(Mutex::new(Recording::new(*c, pool.clone(), secondary))));
                }
            });
        }
        result
    }
}

unsafe extern "system" fn free_command_buffers(
    handle: vk::Device,
    pool: vk::CommandPool,
    count: u32,
    buffers: *const vk::CommandBuffer,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return };
        caught(|| {
            for c in chain::slice(buffers, count) {
                let r = d.buffers.write().remove(c);
                if let Some(r) = r {
                    d.reset(&r);
                }
            }
        });
        next!(d, free_command_buffers(handle, pool, count, buffers));
    }
}

unsafe extern "system" fn begin_command_buffer(
    c: vk::CommandBuffer,
    info: *const vk::CommandBufferBeginInfo<'_>,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(c) else { return FAILED };
        let result = d.seen(next!(d, begin_command_buffer(c, info), else FAILED));
        if result == R::SUCCESS
            && let Some(r) = d.recording(c)
        {
            // Begun again, it is reset (§ Command Buffer Recording).
            caught(|| {
                d.reset(&r);
                r.lock().begin((*info).flags);
            });
        }
        result
    }
}

unsafe extern "system" fn end_command_buffer(c: vk::CommandBuffer) -> R {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(c) else { return FAILED };
        let result = d.seen(next!(d, end_command_buffer(c), else FAILED));
        if result == R::SUCCESS
            && let Some(r) = d.recording(c)
        {
            caught(|| r.lock().end());
        }
        result
    }
}

unsafe extern "system" fn reset_command_buffer(
    c: vk::CommandBuffer,
    flags: vk::CommandBufferResetFlags,
) -> R {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(c) else { return FAILED };
        let result = d.seen(next!(d, reset_command_buffer(c, flags), else FAILED));
        if result == R::SUCCESS
            && let Some(r) = d.recording(c)
        {
            caught(|| d.reset(&r));
        }
        result
    }
}

unsafe extern "system" fn bind_pipeline(
    c: vk::CommandBuffer,
    point: vk::PipelineBindPoint,
    pipeline: vk::Pipeline,
) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(c) else { return };
        if let Some(r) = d.recording(c) {
            match point {
                vk::PipelineBindPoint::COMPUTE => r.lock().pipeline = pipeline,
                vk::PipelineBindPoint::RAY_TRACING_KHR => r.lock().rays = pipeline,
                _ => {}
            }
        }
        next!(d, cmd_bind_pipeline(c, point, pipeline));
    }
}

unsafe extern "system" fn execute_commands(
    c: vk::CommandBuffer,
    count: u32,
    buffers: *const vk::CommandBuffer,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(c) else { return };
        let recorded = caught(|| {
            let r = d.recording(c)?;
            let list: Vec<_> = chain::slice(buffers, count).iter().map(|b| (*b, d.recorded(*b))).collect();
            Some(r.lock().execute(&d, &list))
        });
        if recorded.flatten() != Some(true) {
            next!(d, cmd_execute_commands(c, count, buffers));
        }
    }
}

/// The name of a label.
pub(super) unsafe fn label(info: *const vk::DebugUtilsLabelEXT<'_>) -> Arc<str> {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let name = (*info).p_label_name;
        let name = if name.is_null() { c"" } else { CStr::from_ptr(name) };
        name.to_string_lossy().into()
    }
}

unsafe extern "system" fn begin_label(c: vk::CommandBuffer, info: *const vk::DebugUtilsLabelEXT<'_>) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(c) else { return };
        told(d.recording(c), |r| r.begin_label(label(info)));
        next!(d, cmd_begin_label(c, info));
    }
}

unsafe extern "system" fn end_label(c: vk::CommandBuffer) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(c) else { return };
        told(d.recording(c), |r| r.end_label());
        next!(d, cmd_end_label(c));
    }
}

unsafe extern "system" fn insert_label(c: vk::CommandBuffer, info: *const vk::DebugUtilsLabelEXT<'_>) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(c) else { return };
        told(d.recording(c), |r| {
            let name = label(info);
            // What is for the channel is no label.
            if !name.starts_with(channel::MARK_PREFIX) {
                r.insert_label(name);
            }
        });
        next!(d, cmd_insert_label(c, info));
    }
}

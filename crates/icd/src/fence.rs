//! VkFence.

use crate::answer::created;
use crate::chain;
use crate::device::Device;
use crate::object::{self, Object};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

pub struct Fence {
    pub(crate) gpu: Arc<machine::sync::Fence>,
}

impl Object for Fence {
    type Handle = vk::Fence;
}

pub(crate) unsafe fn create_fence(
    _device: &Device,
    info: *const vk::FenceCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::Fence,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let gpu = Arc::new(machine::sync::Fence::default());
        gpu.signaled.store((*info).flags.contains(vk::FenceCreateFlags::SIGNALED), SeqCst);
        created(out, Ok(Fence { gpu }))
    }
}

pub(crate) unsafe fn destroy_fence(_: &Device, fence: vk::Fence, _: *const vk::AllocationCallbacks) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        object::destroy::<Fence>(fence);
    }
}

/// The fences of an array; `None` where one is none (which the log then says).
unsafe fn all(fences: *const vk::Fence, count: u32) -> Option<Vec<Arc<machine::sync::Fence>>> {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        chain::slice(fences, count).iter().map(|&f| Some(object::get::<Fence>(f)?.gpu.clone())).collect()
    }
}

pub(crate) unsafe fn reset_fences(device: &Device, count: u32, fences: *const vk::Fence) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(fences) = all(fences, count) else { return vk::Result::ERROR_VALIDATION_FAILED_EXT };
        device.hub().change(|| fences.iter().for_each(|f| f.signaled.store(false, SeqCst)));
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn get_fence_status(device: &Device, fence: vk::Fence) -> vk::Result {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        match object::get::<Fence>(fence) {
            None => vk::Result::ERROR_VALIDATION_FAILED_EXT,
            Some(f) if f.gpu.signaled.load(SeqCst) => {
                device.clock().seen(f.gpu.time.load(SeqCst));
                vk::Result::SUCCESS
            }
            _ if device.hub().is_lost() => vk::Result::ERROR_DEVICE_LOST,
            _ => vk::Result::NOT_READY,
        }
    }
}

pub(crate) unsafe fn wait_for_fences(
    device: &Device,
    count: u32,
    fences: *const vk::Fence,
    wait_all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(fences) = all(fences, count) else { return vk::Result::ERROR_VALIDATION_FAILED_EXT };
        let ready = || {
            let mut signaled = fences.iter().map(|f| f.signaled.load(SeqCst));
            if wait_all != 0 { signaled.all(|s| s) } else { signaled.any(|s| s) }
        };
        let result = if ready() {
            vk::Result::SUCCESS
        } else {
            device.waited(device.hub().wait(timeout, ready), ready)
        };
        for f in fences.iter().filter(|f| f.signaled.load(SeqCst)) {
            device.clock().seen(f.time.load(SeqCst));
        }
        result
    }
}

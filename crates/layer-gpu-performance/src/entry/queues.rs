//! Queues: getting them, waiting, labels. What is submitted: `submit`.

use super::buffers::label;
use super::{Function, function, functions};
use crate::device::{self, Device};
use crate::guard::{caught, told};
use crate::submit;
use crate::table::next;
use ash::vk;
use vk::Result as R;

functions! {
    pub(super) fn lookup;
    b"vkGetDeviceQueue" => get_device_queue, PFN_vkGetDeviceQueue;
    b"vkGetDeviceQueue2" => get_device_queue2, PFN_vkGetDeviceQueue2;
    b"vkQueueSubmit" => submit::queue_submit, PFN_vkQueueSubmit;
    b"vkQueueSubmit2" | b"vkQueueSubmit2KHR" => submit::queue_submit2, PFN_vkQueueSubmit2;
    b"vkQueueBindSparse" => submit::queue_bind_sparse, PFN_vkQueueBindSparse;
    b"vkQueuePresentKHR" => submit::queue_present, PFN_vkQueuePresentKHR;
    b"vkQueueWaitIdle" => queue_wait_idle, PFN_vkQueueWaitIdle;
    b"vkDeviceWaitIdle" => device_wait_idle, PFN_vkDeviceWaitIdle;
    b"vkWaitForFences" => wait_for_fences, PFN_vkWaitForFences;
    b"vkWaitSemaphores" | b"vkWaitSemaphoresKHR" => wait_semaphores, PFN_vkWaitSemaphores;
    b"vkGetFenceStatus" => get_fence_status, PFN_vkGetFenceStatus;
    b"vkQueueBeginDebugUtilsLabelEXT" => begin_label, PFN_vkQueueBeginDebugUtilsLabelEXT;
    b"vkQueueEndDebugUtilsLabelEXT" => end_label, PFN_vkQueueEndDebugUtilsLabelEXT;
    b"vkQueueInsertDebugUtilsLabelEXT" => insert_label, PFN_vkQueueInsertDebugUtilsLabelEXT;
}

const FAILED: R = R::ERROR_INITIALIZATION_FAILED;

unsafe extern "system" fn get_device_queue(
    handle: vk::Device,
    family: u32,
    index: u32,
    queue: *mut vk::Queue,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return };
        next!(d, get_device_queue(handle, family, index, queue));
        if *queue != vk::Queue::null() {
            caught(|| d.found_queue(*queue, family, vk::DeviceQueueCreateFlags::empty(), index));
        }
    }
}

unsafe extern "system" fn get_device_queue2(
    handle: vk::Device,
    info: *const vk::DeviceQueueInfo2<'_>,
    queue: *mut vk::Queue,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return };
        next!(d, get_device_queue2(handle, info, queue));
        if *queue != vk::Queue::null() {
            let i = &*info;
            caught(|| d.found_queue(*queue, i.queue_family_index, i.flags, i.queue_index));
        }
    }
}

unsafe extern "system" fn queue_wait_idle(queue: vk::Queue) -> R {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(queue) else { return FAILED };
        let result = d.seen(next!(d, queue_wait_idle(queue), else FAILED));
        if let (R::SUCCESS, Some(q)) = (result, d.queue(queue)) {
            caught(|| q.lock().collect(&d, true));
        }
        result
    }
}

/// Passes a wait's result on, and reads what has ended. `idle`: all has.
fn waited(d: &Device, result: R, idle: bool) -> R {
    let result = d.seen(result);
    if result == R::SUCCESS {
        caught(|| d.collect(idle));
    }
    result
}

unsafe extern "system" fn device_wait_idle(handle: vk::Device) -> R {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        waited(&d, next!(d, device_wait_idle(handle), else FAILED), true)
    }
}

unsafe extern "system" fn wait_for_fences(
    handle: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    all: vk::Bool32,
    timeout: u64,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        waited(&d, next!(d, wait_for_fences(handle, count, fences, all, timeout), else FAILED), false)
    }
}

unsafe extern "system" fn wait_semaphores(
    handle: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        waited(&d, next!(d, wait_semaphores(handle, info, timeout), else FAILED), false)
    }
}

unsafe extern "system" fn get_fence_status(handle: vk::Device, fence: vk::Fence) -> R {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(handle) else { return FAILED };
        waited(&d, next!(d, get_fence_status(handle, fence), else FAILED), false)
    }
}

unsafe extern "system" fn begin_label(queue: vk::Queue, info: *const vk::DebugUtilsLabelEXT<'_>) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(queue) else { return };
        told(d.queue(queue), |q| q.begin_label(label(info)));
        next!(d, queue_begin_label(queue, info));
    }
}

unsafe extern "system" fn end_label(queue: vk::Queue) {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let Some(d) = device::of(queue) else { return };
        told(d.queue(queue), |q| q.end_label());
        next!(d, queue_end_label(queue));
    }
}

unsafe extern "system" fn insert_label(queue: vk::Queue, info: *const vk::DebugUtilsLabelEXT<'_>) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let Some(d) = device::of(queue) else { return };
        told(d.queue(queue), |q| q.insert_label(label(info)));
        next!(d, queue_insert_label(queue, info));
    }
}

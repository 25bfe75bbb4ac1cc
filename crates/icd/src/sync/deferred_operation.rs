//! VkDeferredOperationKHR: work of the host that the application's threads join (VK_KHR_deferred_host_operations).

use crate::base::answer::created;
use crate::base::object::{self, Object};
use crate::device::Device;
use parking_lot::Mutex;
use std::sync::Arc;

type Work = Box<dyn FnOnce(&Device) -> vk::Result + Send>;

enum State {
    /// Nothing was deferred to it, or what was is done.
    Done(vk::Result),
    Waiting(Work),
    /// A thread has joined and works.
    Running,
}

pub struct DeferredOperation {
    state: Arc<Mutex<State>>,
}

impl Object for DeferredOperation {
    type Handle = vk::DeferredOperationKHR;
}

pub(crate) unsafe fn create_deferred_operation_khr(
    _: &Device,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::DeferredOperationKHR,
) -> vk::Result {
    let state = Arc::new(Mutex::new(State::Done(vk::Result::SUCCESS)));
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { created(out, Ok(DeferredOperation { state })) }
}

pub(crate) unsafe fn destroy_deferred_operation_khr(
    _: &Device,
    operation: vk::DeferredOperationKHR,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        object::destroy::<DeferredOperation>(operation);
    }
}

/// Does `work` now, or, where there is an operation, when a thread joins that.
///
/// # Safety
/// Nobody destroys the operation meanwhile.
pub(crate) unsafe fn perform(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    work: impl FnOnce(&Device) -> vk::Result + Send + 'static,
) -> vk::Result {
    // SAFETY: the caller's.
    match unsafe { object::get::<DeferredOperation>(operation) } {
        None => work(device),
        Some(o) => {
            *o.state.lock() = State::Waiting(Box::new(work));
            vk::Result::OPERATION_DEFERRED_KHR
        }
    }
}

/// One thread does the work; its pool of threads is the device's.
pub(crate) unsafe fn get_deferred_operation_max_concurrency_khr(
    _: &Device,
    operation: vk::DeferredOperationKHR,
) -> u32 {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    let operation = unsafe { object::get::<DeferredOperation>(operation) };
    operation.map_or(0, |o| matches!(*o.state.lock(), State::Waiting(_)) as u32)
}

pub(crate) unsafe fn get_deferred_operation_result_khr(
    _: &Device,
    operation: vk::DeferredOperationKHR,
) -> vk::Result {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    match unsafe { object::get::<DeferredOperation>(operation) } {
        None => vk::Result::ERROR_UNKNOWN,
        Some(o) => match *o.state.lock() {
            State::Done(result) => result,
            _ => vk::Result::NOT_READY,
        },
    }
}

pub(crate) unsafe fn deferred_operation_join_khr(
    device: &Device,
    operation: vk::DeferredOperationKHR,
) -> vk::Result {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    let Some(o) = (unsafe { object::get::<DeferredOperation>(operation) }) else {
        return vk::Result::ERROR_UNKNOWN;
    };
    let state = o.state.clone();
    let mut now = state.lock();
    match std::mem::replace(&mut *now, State::Running) {
        State::Done(result) => {
            *now = State::Done(result);
            vk::Result::SUCCESS
        }
        // There is nothing left for another thread.
        State::Running => vk::Result::THREAD_DONE_KHR,
        State::Waiting(work) => {
            drop(now);
            let result = work(device);
            *state.lock() = State::Done(result);
            vk::Result::SUCCESS
        }
    }
}

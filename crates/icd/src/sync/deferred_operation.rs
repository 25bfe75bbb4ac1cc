//! VkDeferredOperationKHR: work of the host that the application's threads join (VK_KHR_deferred_host_operations).

use crate::base::answer::created;
use crate::base::given::{Call, Doomed, Out};
use crate::base::object::Object;
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

pub(crate) fn create_deferred_operation_khr(_: &Device, out: Out<vk::DeferredOperationKHR>) -> vk::Result {
    let state = Arc::new(Mutex::new(State::Done(vk::Result::SUCCESS)));
    created(out, Ok(DeferredOperation { state }))
}

pub(crate) fn destroy_deferred_operation_khr(_: &Device, operation: Doomed<DeferredOperation>) {
    operation.destroy();
}

/// Does `work` now, or, where there is an operation, when a thread joins that.
pub(crate) fn perform(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    work: impl FnOnce(&Device) -> vk::Result + Send + 'static,
) -> vk::Result {
    match device.object::<DeferredOperation>(operation) {
        None => work(device),
        Some(o) => {
            *o.state.lock() = State::Waiting(Box::new(work));
            vk::Result::OPERATION_DEFERRED_KHR
        }
    }
}

/// One thread does the work; its pool of threads is the device's.
pub(crate) fn get_deferred_operation_max_concurrency_khr(
    device: &Device,
    operation: vk::DeferredOperationKHR,
) -> u32 {
    let operation = device.object::<DeferredOperation>(operation);
    operation.map_or(0, |o| matches!(*o.state.lock(), State::Waiting(_)) as u32)
}

pub(crate) fn get_deferred_operation_result_khr(
    device: &Device,
    operation: vk::DeferredOperationKHR,
) -> vk::Result {
    match device.object::<DeferredOperation>(operation) {
        None => vk::Result::ERROR_UNKNOWN,
        Some(o) => match *o.state.lock() {
            State::Done(result) => result,
            _ => vk::Result::NOT_READY,
        },
    }
}

pub(crate) fn deferred_operation_join_khr(
    device: &Device,
    operation: vk::DeferredOperationKHR,
) -> vk::Result {
    let Some(o) = device.object::<DeferredOperation>(operation) else {
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

//! VkSemaphore: binary and timeline.

use crate::answer::created;
use crate::chain;
use crate::device::Device;
use crate::object::{self, Object};
use machine::sync;
use machine::turns::Step;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

pub struct Semaphore {
    pub(crate) gpu: Arc<sync::Semaphore>,
}

impl Object for Semaphore {
    type Handle = vk::Semaphore;
}

pub(crate) unsafe fn create_semaphore(
    _: &Device,
    info: *const vk::SemaphoreCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::Semaphore,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let gpu = match chain::find::<vk::SemaphoreTypeCreateInfo>((*info).p_next) {
            Some(t) if t.semaphore_type == vk::SemaphoreType::TIMELINE => {
                sync::Semaphore::timeline(t.initial_value)
            }
            _ => sync::Semaphore::binary(),
        };
        created(out, Ok(Semaphore { gpu }))
    }
}

pub(crate) unsafe fn destroy_semaphore(
    _: &Device,
    semaphore: vk::Semaphore,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        object::destroy::<Semaphore>(semaphore);
    }
}

pub(crate) unsafe fn get_semaphore_counter_value(
    device: &Device,
    semaphore: vk::Semaphore,
    value: *mut u64,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(s) = object::get::<Semaphore>(semaphore) {
            *value = s.gpu.value.load(SeqCst);
            device.clock().seen(s.gpu.time(*value));
        }
        device.alive()
    }
}

pub(crate) unsafe fn signal_semaphore(device: &Device, info: *const vk::SemaphoreSignalInfo) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(s) = object::get::<Semaphore>((*info).semaphore) {
            // What the host knows of has ended before it signals.
            let now = device.clock().floor();
            device.hub().change(|| {
                device.turns().host(Step::Signal(s.gpu.clone(), (*info).value));
                s.gpu.signal((*info).value, now);
            });
        }
        device.alive()
    }
}

pub(crate) unsafe fn wait_semaphores(
    device: &Device,
    info: *const vk::SemaphoreWaitInfo,
    timeout: u64,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let values = chain::slice(i.p_values, i.semaphore_count);
        let waits: Vec<(Arc<sync::Semaphore>, u64)> = chain::slice(i.p_semaphores, i.semaphore_count)
            .iter()
            .zip(values)
            .filter_map(|(&s, &v)| Some((object::get::<Semaphore>(s)?.gpu.clone(), v)))
            .collect();
        let any = i.flags.contains(vk::SemaphoreWaitFlags::ANY);
        let ready = || {
            let mut each = waits.iter().map(|(s, v)| s.ready(*v));
            if any { each.any(|r| r) } else { each.all(|r| r) }
        };
        let result = if ready() {
            vk::Result::SUCCESS
        } else {
            device.waited(device.hub().wait(timeout, ready), ready)
        };
        for (s, v) in waits.iter().filter(|(s, v)| s.ready(*v)) {
            device.clock().seen(s.time(*v));
        }
        result
    }
}

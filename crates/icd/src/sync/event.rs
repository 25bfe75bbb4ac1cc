//! VkEvent.

use crate::base::answer::created;
use crate::base::object::{self, Object};
use crate::device::Device;
use machine::turns::Step;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

pub struct Event {
    pub(crate) gpu: Arc<machine::sync::Event>,
}

impl Object for Event {
    type Handle = vk::Event;
}

pub(crate) unsafe fn create_event(
    _: &Device,
    _: *const vk::EventCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::Event,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { created(out, Ok(Event { gpu: Arc::default() })) }
}

pub(crate) unsafe fn destroy_event(_: &Device, event: vk::Event, _: *const vk::AllocationCallbacks) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        object::destroy::<Event>(event);
    }
}

pub(crate) unsafe fn get_event_status(device: &Device, event: vk::Event) -> vk::Result {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        match object::get::<Event>(event) {
            _ if device.hub().is_lost() => vk::Result::ERROR_DEVICE_LOST,
            Some(e) if e.gpu.set.load(SeqCst) => {
                device.clock().seen(e.gpu.time.load(SeqCst));
                vk::Result::EVENT_SET
            }
            _ => vk::Result::EVENT_RESET,
        }
    }
}

pub(crate) unsafe fn set_event(device: &Device, event: vk::Event) -> vk::Result {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if let Some(e) = object::get::<Event>(event) {
            // What the host knows of has ended before it sets the event.
            let now = device.clock().floor();
            device.hub().change(|| {
                device.turns().host(Step::Set(e.gpu.clone()));
                e.gpu.time.store(now, SeqCst);
                e.gpu.set.store(true, SeqCst);
            });
        }
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn reset_event(device: &Device, event: vk::Event) -> vk::Result {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if let Some(e) = object::get::<Event>(event) {
            device.hub().change(|| {
                device.turns().host(Step::Reset(e.gpu.clone()));
                e.gpu.set.store(false, SeqCst);
            });
        }
        vk::Result::SUCCESS
    }
}

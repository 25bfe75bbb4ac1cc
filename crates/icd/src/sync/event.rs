//! VkEvent.

use crate::base::answer::created;
use crate::base::given::{Call, Doomed, In, Out};
use crate::base::object::Object;
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

pub(crate) fn create_event(_: &Device, _: In<vk::EventCreateInfo>, out: Out<vk::Event>) -> vk::Result {
    created(out, Ok(Event { gpu: Arc::default() }))
}

pub(crate) fn destroy_event(_: &Device, event: Doomed<Event>) {
    event.destroy();
}

pub(crate) fn get_event_status(device: &Device, event: vk::Event) -> vk::Result {
    match device.object::<Event>(event) {
        _ if device.hub().is_lost() => vk::Result::ERROR_DEVICE_LOST,
        Some(e) if e.gpu.set.load(SeqCst) => {
            device.clock().seen(e.gpu.time.load(SeqCst));
            device.saw(|| vec![e.gpu.mark.load(SeqCst)]);
            vk::Result::EVENT_SET
        }
        _ => vk::Result::EVENT_RESET,
    }
}

pub(crate) fn set_event(device: &Device, event: vk::Event) -> vk::Result {
    if let Some(e) = device.object::<Event>(event) {
        // What the host knows of has ended before it sets the event.
        let now = device.clock().floor();
        device.hub().change(|| {
            device.turns().host(Step::Set(e.gpu.clone()));
            e.gpu.time.store(now, SeqCst);
            e.gpu.mark.store(0, SeqCst);
            e.gpu.set.store(true, SeqCst);
        });
        gpu::hazards::host::settle(&device.gpu.shared);
    }
    vk::Result::SUCCESS
}

pub(crate) fn reset_event(device: &Device, event: vk::Event) -> vk::Result {
    if let Some(e) = device.object::<Event>(event) {
        device.hub().change(|| {
            device.turns().host(Step::Reset(e.gpu.clone()));
            e.gpu.set.store(false, SeqCst);
        });
    }
    vk::Result::SUCCESS
}

//! VkBufferView: texel buffers.

use crate::base::answer::created;
use crate::base::object::{self, Object};
use crate::device::Device;
use crate::memory::buffer;
use std::sync::Arc;

/// The view in a form that texel fetches read; descriptors keep it.
pub struct BufferView {
    pub(crate) gpu: Arc<texel::sample::BufferView>,
}

impl Object for BufferView {
    type Handle = vk::BufferView;
}

pub(crate) unsafe fn create_buffer_view(
    _: &Device,
    info: *const vk::BufferViewCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::BufferView,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let made = match buffer::get(i.buffer) {
            Some(b) => texel::sample::BufferView::new(b, i.format, i.offset, i.range)
                .map(|v| BufferView { gpu: Arc::new(v) }),
            None => Err(vk::Result::ERROR_UNKNOWN),
        };
        created(out, made)
    }
}

pub(crate) unsafe fn destroy_buffer_view(
    device: &Device,
    view: vk::BufferView,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(v) = object::destroy::<BufferView>(view) {
            device.quarantine.keep(Box::new(v.gpu), &device.gpu);
        }
    }
}

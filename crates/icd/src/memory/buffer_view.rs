//! VkBufferView: texel buffers.

use crate::base::answer::created;
use crate::base::given::{Doomed, In, Out};
use crate::base::object::Object;
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

pub(crate) fn create_buffer_view(
    _: &Device,
    info: In<vk::BufferViewCreateInfo>,
    out: Out<vk::BufferView>,
) -> vk::Result {
    let i = info;
    let made = match buffer::get(info, i.buffer) {
        Some(b) => texel::sample::BufferView::new(b, i.format, i.offset, i.range)
            .map(|v| BufferView { gpu: Arc::new(v) }),
        None => Err(vk::Result::ERROR_UNKNOWN),
    };
    created(out, made)
}

pub(crate) fn destroy_buffer_view(device: &Device, view: Doomed<BufferView>) {
    if let Some(v) = view.destroy() {
        device.quarantine.keep(Box::new(v.gpu), &device.gpu);
    }
}

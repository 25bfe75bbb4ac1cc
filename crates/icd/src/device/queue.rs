//! VkQueue: which queue of the device it is. Submissions are in the room `queue`.

use crate::base::object::Object;
use crate::device::Inner;
use std::sync::Arc;

pub struct Queue {
    pub(crate) device: Arc<Inner>,
    /// Place in [`gpu::device::Device`].
    pub(crate) index: usize,
}

impl Object for Queue {
    type Handle = vk::Queue;
}

// Labels of queues group an application's work for tools; the driver itself shows nobody a queue's label.

pub(crate) unsafe fn queue_begin_debug_utils_label_ext(
    _queue: &Queue,
    _p_label_info: *const vk::DebugUtilsLabelEXT<'_>,
) {
}

pub(crate) unsafe fn queue_end_debug_utils_label_ext(_queue: &Queue) {}

pub(crate) unsafe fn queue_insert_debug_utils_label_ext(
    _queue: &Queue,
    _p_label_info: *const vk::DebugUtilsLabelEXT<'_>,
) {
}

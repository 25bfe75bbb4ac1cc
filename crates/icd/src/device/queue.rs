//! VkQueue: which queue of the device it is. Submissions are in the room `queue`.

use crate::base::given::{Call, In};
use crate::base::object::Object;
use crate::device::Inner;
use std::sync::Arc;

pub struct Queue {
    pub(crate) device: Arc<Inner>,
    /// Place in [`gpu::device::Device`].
    pub(crate) index: usize,
    /// It may execute protected submissions.
    pub(crate) protected: bool,
}

impl Object for Queue {
    type Handle = vk::Queue;
}

// SAFETY: calls get references to it, and only they do; a thread holds parts of it.
unsafe impl<'a> Call<'a> for &'a Queue {}

// Labels of queues group an application's work for tools; the driver itself does not use them.

pub(crate) fn queue_begin_debug_utils_label_ext(_queue: &Queue, _p_label_info: In<vk::DebugUtilsLabelEXT>) {}

pub(crate) fn queue_end_debug_utils_label_ext(_queue: &Queue) {}

pub(crate) fn queue_insert_debug_utils_label_ext(_queue: &Queue, _p_label_info: In<vk::DebugUtilsLabelEXT>) {}

//! VK_EXT_debug_report, the older way of listening.

use super::messenger::next_id;
use crate::base::debug::{Listener, call};
use crate::base::object::{self, Object};
use crate::instance::Instance;
use std::ffi::c_char;
use vk::DebugReportFlagsEXT as Flags;

pub(crate) struct Callback {
    id: u64,
}

impl Object for Callback {
    type Handle = vk::DebugReportCallbackEXT;
}

pub(super) fn listener(info: &vk::DebugReportCallbackCreateInfoEXT<'_>) -> Listener {
    Listener::Report { flags: info.flags, callback: info.pfn_callback, user_data: info.p_user_data as usize }
}

pub(crate) unsafe fn create_debug_report_callback_ext(
    instance: &Instance,
    p_create_info: *const vk::DebugReportCallbackCreateInfoEXT<'_>,
    _p_allocator: *const vk::AllocationCallbacks<'_>,
    p_callback: *mut vk::DebugReportCallbackEXT,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let id = next_id();
        instance.shared.debug.add(id, listener(&*p_create_info));
        *p_callback = object::create(Callback { id });
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn destroy_debug_report_callback_ext(
    instance: &Instance,
    callback: vk::DebugReportCallbackEXT,
    _p_allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(c) = object::destroy::<Callback>(callback) {
            instance.shared.debug.remove(c.id);
        }
    }
}

pub(crate) unsafe fn debug_report_message_ext(
    instance: &Instance,
    flags: Flags,
    object_type: vk::DebugReportObjectTypeEXT,
    object: u64,
    location: usize,
    message_code: i32,
    p_layer_prefix: *const c_char,
    p_message: *const c_char,
) {
    for (_, l) in &instance.shared.debug.listeners() {
        call(l, flags, object_type, object, location, message_code, p_layer_prefix, p_message);
    }
}

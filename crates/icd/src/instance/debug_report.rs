//! VK_EXT_debug_report, the older way of listening.

use super::messenger::next_id;
use crate::base::debug::{Listener, call};
use crate::base::given::{Doomed, In, Out};
use crate::base::object::{self, Object};
use crate::instance::Instance;
use std::ffi::CStr;
use vk::DebugReportFlagsEXT as Flags;

pub(crate) struct Callback {
    id: u64,
}

impl Object for Callback {
    type Handle = vk::DebugReportCallbackEXT;
}

pub(super) fn listener(info: In<vk::DebugReportCallbackCreateInfoEXT>) -> Listener {
    Listener::Report { flags: info.flags, callback: info.pfn_callback, user_data: info.p_user_data as usize }
}

pub(crate) fn create_debug_report_callback_ext(
    instance: &Instance,
    p_create_info: In<vk::DebugReportCallbackCreateInfoEXT>,
    p_callback: Out<vk::DebugReportCallbackEXT>,
) -> vk::Result {
    let id = next_id();
    instance.shared.debug.add(id, listener(p_create_info));
    p_callback.set(object::create(Callback { id }));
    vk::Result::SUCCESS
}

pub(crate) fn destroy_debug_report_callback_ext(instance: &Instance, callback: Doomed<Callback>) {
    if let Some(c) = callback.destroy() {
        instance.shared.debug.remove(c.id);
    }
}

pub(crate) fn debug_report_message_ext(
    instance: &Instance,
    flags: Flags,
    object_type: vk::DebugReportObjectTypeEXT,
    object: u64,
    location: usize,
    message_code: i32,
    p_layer_prefix: &CStr,
    p_message: &CStr,
) {
    for (_, l) in &instance.shared.debug.listeners() {
        call(
            l,
            flags,
            object_type,
            object,
            location,
            message_code,
            p_layer_prefix.as_ptr(),
            p_message.as_ptr(),
        );
    }
}

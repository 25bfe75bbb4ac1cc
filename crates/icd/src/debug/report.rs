//! VK_EXT_debug_report, the older way of listening.

use super::commands::next_id;
use super::{Listener, MessageTypes, Severity};
use crate::instance::Instance;
use crate::object::{self, Object};
use std::ffi::{c_char, c_void};
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

/// Passes a debug-utils message to an older listener.
pub(super) fn report_as_report(
    l: &Listener,
    severity: Severity,
    kinds: MessageTypes,
    data: &vk::DebugUtilsMessengerCallbackDataEXT<'_>,
) {
    let flag = match severity {
        Severity::ERROR => Flags::ERROR,
        Severity::WARNING if kinds.contains(MessageTypes::PERFORMANCE) => Flags::PERFORMANCE_WARNING,
        Severity::WARNING => Flags::WARNING,
        Severity::INFO => Flags::INFORMATION,
        _ => Flags::DEBUG,
    };
    call(l, flag, vk::DebugReportObjectTypeEXT::UNKNOWN, 0, 0, 0, c"Tuff".as_ptr(), data.p_message);
}

fn call(
    l: &Listener,
    flag: Flags,
    ty: vk::DebugReportObjectTypeEXT,
    object: u64,
    location: usize,
    code: i32,
    prefix: *const c_char,
    message: *const c_char,
) {
    if let Listener::Report { flags, callback: Some(f), user_data } = *l
        && flags.intersects(flag)
    {
        // SAFETY: the application's function, with the data it gave; the strings outlive the call.
        unsafe { f(flag, ty, object, location, code, prefix, message, user_data as *mut c_void) };
    }
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
    let listeners = instance.shared.debug.listeners.read().clone();
    for (_, l) in &listeners {
        call(l, flags, object_type, object, location, message_code, p_layer_prefix, p_message);
    }
}

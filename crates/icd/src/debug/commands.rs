//! The commands of VK_EXT_debug_utils.

use super::{Listener, MessageTypes, Severity, log_error, set_name};
use crate::chain;
use crate::device::Device;
use crate::instance::Instance;
use crate::object::{self, Object};
use crate::queue::Queue;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) struct Messenger {
    id: u64,
}

impl Object for Messenger {
    type Handle = vk::DebugUtilsMessengerEXT;
}

pub(super) fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn listener(info: &vk::DebugUtilsMessengerCreateInfoEXT<'_>) -> Listener {
    Listener::Utils {
        severities: info.message_severity,
        kinds: info.message_type,
        callback: info.pfn_user_callback,
        user_data: info.p_user_data as usize,
    }
}

/// The listeners in the chain of `VkInstanceCreateInfo`: they hear only what happens while the instance is made
/// and unmade.
///
/// # Safety
/// The chain is valid.
pub(crate) unsafe fn listeners_of_chain(p_next: *const std::ffi::c_void) -> Vec<Listener> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        chain::iter(p_next)
            .filter_map(|s| match (*s).s_type {
                vk::StructureType::DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT => Some(listener(&*s.cast())),
                vk::StructureType::DEBUG_REPORT_CALLBACK_CREATE_INFO_EXT => {
                    Some(super::report::listener(&*s.cast()))
                }
                _ => None,
            })
            .collect()
    }
}

pub(crate) unsafe fn create_debug_utils_messenger_ext(
    instance: &Instance,
    p_create_info: *const vk::DebugUtilsMessengerCreateInfoEXT<'_>,
    _p_allocator: *const vk::AllocationCallbacks<'_>,
    p_messenger: *mut vk::DebugUtilsMessengerEXT,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let id = next_id();
        instance.shared.debug.add(id, listener(&*p_create_info));
        *p_messenger = object::create(Messenger { id });
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn destroy_debug_utils_messenger_ext(
    instance: &Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    _p_allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(m) = object::destroy::<Messenger>(messenger) {
            instance.shared.debug.remove(m.id);
        }
    }
}

pub(crate) unsafe fn submit_debug_utils_message_ext(
    instance: &Instance,
    message_severity: Severity,
    message_types: MessageTypes,
    p_callback_data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        instance.shared.debug.tell(message_severity, message_types, &*p_callback_data);
    }
}

pub(crate) unsafe fn set_debug_utils_object_name_ext(
    _device: &Device,
    p_name_info: *const vk::DebugUtilsObjectNameInfoEXT<'_>,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let info = &*p_name_info;
        if info.object_handle == 0 {
            log_error("vkSetDebugUtilsObjectNameEXT: a null object cannot be named");
            return vk::Result::ERROR_UNKNOWN;
        }
        set_name(info.object_handle, chain::str(info.p_object_name));
        if info.object_type == vk::ObjectType::PIPELINE {
            crate::pipeline::named(vk::Handle::from_raw(info.object_handle));
        }
        if info.object_type == vk::ObjectType::SHADER_EXT {
            crate::shader_object::named(vk::Handle::from_raw(info.object_handle));
        }
        vk::Result::SUCCESS
    }
}

/// Tags are for tools in between; the driver has no use for them.
pub(crate) unsafe fn set_debug_utils_object_tag_ext(
    _device: &Device,
    _p_tag_info: *const vk::DebugUtilsObjectTagInfoEXT<'_>,
) -> vk::Result {
    vk::Result::SUCCESS
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

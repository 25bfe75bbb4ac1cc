//! VkDebugUtilsMessengerEXT: listeners to the driver's messages (VK_EXT_debug_utils).

use crate::base::chain;
use crate::base::debug::{Listener, MessageTypes, Severity};
use crate::base::object::{self, Object};
use crate::instance::Instance;
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
                    Some(super::debug_report::listener(&*s.cast()))
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

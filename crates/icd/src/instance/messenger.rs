//! VkDebugUtilsMessengerEXT: listeners to the driver's messages (VK_EXT_debug_utils).

use crate::base::debug::{Listener, MessageTypes, Severity};
use crate::base::given::{Doomed, In, Out};
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

fn listener(info: In<vk::DebugUtilsMessengerCreateInfoEXT>) -> Listener {
    Listener::Utils {
        severities: info.message_severity,
        kinds: info.message_type,
        callback: info.pfn_user_callback,
        user_data: info.p_user_data as usize,
    }
}

/// The listeners in the chain of `VkInstanceCreateInfo`: they hear only what happens while the instance is made
/// and unmade.
pub(crate) fn listeners_of_chain(info: In<vk::InstanceCreateInfo>) -> Vec<Listener> {
    let messengers = info.all().map(listener);
    messengers.chain(info.all().map(super::debug_report::listener)).collect()
}

pub(crate) fn create_debug_utils_messenger_ext(
    instance: &Instance,
    p_create_info: In<vk::DebugUtilsMessengerCreateInfoEXT>,
    p_messenger: Out<vk::DebugUtilsMessengerEXT>,
) -> vk::Result {
    let id = next_id();
    instance.shared.debug.add(id, listener(p_create_info));
    p_messenger.set(object::create(Messenger { id }));
    vk::Result::SUCCESS
}

pub(crate) fn destroy_debug_utils_messenger_ext(instance: &Instance, messenger: Doomed<Messenger>) {
    if let Some(m) = messenger.destroy() {
        instance.shared.debug.remove(m.id);
    }
}

pub(crate) fn submit_debug_utils_message_ext(
    instance: &Instance,
    message_severity: Severity,
    message_types: MessageTypes,
    p_callback_data: In<vk::DebugUtilsMessengerCallbackDataEXT>,
) {
    instance.shared.debug.tell(message_severity, message_types, p_callback_data.plain());
}

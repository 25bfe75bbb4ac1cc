//! Hears what the driver says through VK_EXT_debug_utils.

use crate::common::{entry, instance};
use ash::vk;
use std::ffi::{CStr, c_void};
use std::sync::Mutex;

pub type Heard = Mutex<Vec<String>>;

unsafe extern "system" fn listen(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kinds: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    let text = unsafe { CStr::from_ptr((*data).p_message) }.to_string_lossy().into_owned();
    unsafe { &*user.cast::<Heard>() }.lock().expect("no panic").push(text);
    vk::FALSE
}

/// An instance, and what tells `heard` of its messages.
pub type Listening = (ash::Instance, ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT);

/// An instance whose errors go to `heard`.
#[allow(dead_code, reason = "each test uses a part")]
pub fn listening(heard: &Heard) -> Listening {
    listening_to(heard, vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
}

/// An instance whose messages of these severities go to `heard`.
#[allow(dead_code, reason = "each test uses a part")]
pub fn listening_to(heard: &Heard, severities: vk::DebugUtilsMessageSeverityFlagsEXT) -> Listening {
    let i = instance(&[ash::ext::debug_utils::NAME]);
    let debug = ash::ext::debug_utils::Instance::new(entry(), &i);
    let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(severities)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::GENERAL)
        .pfn_user_callback(Some(listen))
        .user_data((&raw const *heard).cast_mut().cast());
    let m = unsafe { debug.create_debug_utils_messenger(&info, None) }.expect("a messenger");
    (i, debug, m)
}

//! Settings that say nothing sensible: each is told in one line, and its default holds.

mod common;

use ash::vk;
use std::ffi::{CStr, c_void};
use std::process::Command;
use std::sync::Mutex;

const CHILD: &str = "TUFF_TEST_CHILD";
const LINES: [&str; 3] = [
    "TUFF_THREADS=many: must be a number from 1 to 256; the default is used",
    "TUFF_LOG=loud: must be off, error, warn or info; the default is used",
    "TUFF_GPU=/no/such: neither one of g720, g610, g57, small, big nor a file: No such file or directory (os error 2); the \
     default GPU is modelled",
];

unsafe extern "system" fn listen(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    heard: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let heard = &*heard.cast::<Mutex<Vec<String>>>();
        let text = CStr::from_ptr((*data).p_message).to_string_lossy().into_owned();
        // The loader's own are heard too.
        if severity == vk::DebugUtilsMessageSeverityFlagsEXT::WARNING && text.starts_with("TUFF_") {
            heard.lock().expect("no panic").push(text);
        }
        vk::FALSE
    }
}

/// What an instance's own messenger hears while the instance is made.
fn heard() -> Vec<String> {
    let heard = Mutex::new(vec![]);
    let mut messenger = vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::WARNING)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::GENERAL)
        .pfn_user_callback(Some(listen))
        .user_data((&raw const heard).cast_mut().cast());
    let names = [ash::ext::debug_utils::NAME.as_ptr()];
    let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names).push_next(&mut messenger);
    // SAFETY: all pointers outlive the calls.
    unsafe {
        let i = common::entry().create_instance(&info, None).expect("an instance");
        i.destroy_instance(None);
    }
    heard.into_inner().expect("no panic")
}

/// Not a test of its own: what runs in a process with bad settings.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let _ = common::entry();
    // SAFETY: no other thread reads the environment; the driver does with its first instance.
    unsafe { std::env::set_var("TUFF_LOG", "loud") };
    // The loader forgets the driver, and the driver what it has said, with the last instance.
    let i = common::instance(&[]);
    for instance in 0..2 {
        assert_eq!(heard(), LINES, "of instance {instance}");
    }
    // SAFETY: the instance is alive.
    let p = unsafe { i.get_physical_device_properties(common::physical_device(&i)) };
    assert!(p.device_name_as_c_str().is_ok_and(|n| !n.is_empty()));
    unsafe { i.destroy_instance(None) };
}

#[test]
fn bad_values_are_told_once_and_to_each_messenger() {
    let me = std::env::current_exe().expect("this program");
    let mut child = Command::new(me);
    child.args(["--exact", "child", "--test-threads=1"]).env(CHILD, "1");
    let out = child.env("TUFF_THREADS", "many").env("TUFF_GPU", "/no/such").output().expect("it runs");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}{}", String::from_utf8_lossy(&out.stdout));
    for line in LINES {
        assert_eq!(said.matches(line).count(), 1, "{line}: {said}");
    }
}

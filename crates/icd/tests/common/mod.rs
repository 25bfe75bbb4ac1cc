//! Loads the freshly built driver through the system's Vulkan loader.

use ash::vk;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The library that cargo built beside this test.
pub fn library() -> PathBuf {
    let exe = std::env::current_exe().expect("the test has a path");
    let deps = exe.parent().expect("a test lies in a folder");
    let candidates = [deps.join("libvulkan_tuff.so"), deps.join("../libvulkan_tuff.so")];
    let newest = candidates
        .iter()
        .filter_map(|p| Some((p.metadata().ok()?.modified().ok()?, p)))
        .max()
        .map(|(_, p)| p.canonicalize().expect("it was there"));
    newest.unwrap_or_else(|| panic!("none of {candidates:?} is there"))
}

/// Vulkan's global commands, from a loader that sees no driver but ours.
pub fn entry() -> &'static ash::Entry {
    static ENTRY: OnceLock<ash::Entry> = OnceLock::new();
    ENTRY.get_or_init(|| {
        let library = library();
        let text = format!(
            "{{\"file_format_version\": \"1.0.1\", \"ICD\": {{\"library_path\": {library:?}, \"api_version\": \"1.4.0\"}}}}"
        );
        // Beside the library, whole at once: other tests' processes have the same one.
        let (json, own) = (library.with_extension("json"), library.with_extension(std::process::id().to_string()));
        std::fs::write(&own, text).and_then(|()| std::fs::rename(&own, &json)).expect("that folder is writable");
        // SAFETY: done once, before any other thread of the test asks for the entry or reads the environment.
        unsafe {
            std::env::set_var("VK_ICD_FILENAMES", &json);
            std::env::set_var("VK_DRIVER_FILES", &json);
            std::env::set_var("NODEVICE_SELECT", "1");
            std::env::set_var("TUFF_LOG", "off");
            ash::Entry::load().expect("these tests need the Vulkan loader (Debian: libvulkan1)")
        }
    })
}

/// An instance of version 1.3 with these extensions.
pub fn instance(extensions: &[&std::ffi::CStr]) -> ash::Instance {
    let names: Vec<_> = extensions.iter().map(|e| e.as_ptr()).collect();
    let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default().application_info(&app).enabled_extension_names(&names);
    // SAFETY: all pointers outlive the call.
    unsafe { entry().create_instance(&info, None) }.expect("an instance is made")
}

/// The driver's one physical device.
pub fn physical_device(instance: &ash::Instance) -> vk::PhysicalDevice {
    // SAFETY: the instance is alive.
    let all = unsafe { instance.enumerate_physical_devices() }.expect("devices are listed");
    assert_eq!(all.len(), 1);
    all[0]
}

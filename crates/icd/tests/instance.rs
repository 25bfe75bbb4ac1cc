//! The instance side of the driver, through the real loader.

use crate::common::{entry, instance, physical_device};
use ash::vk;
use std::ffi::{CStr, c_void};
use std::sync::Mutex;

#[test]
fn an_instance_of_each_version_is_made() {
    for version in
        [0, vk::API_VERSION_1_0, vk::API_VERSION_1_1, vk::API_VERSION_1_3, vk::make_api_version(0, 1, 9, 0)]
    {
        let app = vk::ApplicationInfo::default().api_version(version);
        let info = vk::InstanceCreateInfo::default().application_info(&app);
        let i = unsafe { entry().create_instance(&info, None) }.expect("an instance");
        assert_eq!(unsafe { i.enumerate_physical_devices() }.map(|d| d.len()), Ok(1));
        unsafe { i.destroy_instance(None) };
    }
}

/// Zink takes R4G4's halves for each other, so it is not told of the format (piglit's LUMINANCE4_ALPHA4); others are.
#[test]
fn zink_is_not_told_of_r4g4() {
    let format = vk::Format::R4G4_UNORM_PACK8;
    for (engine, told) in [(c"mesa zink", false), (c"another", true)] {
        let app = vk::ApplicationInfo::default().engine_name(engine);
        let info = vk::InstanceCreateInfo::default().application_info(&app);
        let i = unsafe { entry().create_instance(&info, None) }.expect("an instance");
        let d = physical_device(&i);
        let p = unsafe { i.get_physical_device_format_properties(d, format) };
        assert_eq!(!p.optimal_tiling_features.is_empty(), told, "{engine:?}");
        let sampled = vk::ImageUsageFlags::SAMPLED;
        let (ty, tiling) = (vk::ImageType::TYPE_2D, vk::ImageTiling::OPTIMAL);
        let none = vk::ImageCreateFlags::empty();
        let image =
            unsafe { i.get_physical_device_image_format_properties(d, format, ty, tiling, sampled, none) };
        assert_eq!(image.is_ok(), told, "{engine:?}");
        unsafe { i.destroy_instance(None) };
    }
}

/// ANGLE copies what it has imported where there is VK_EXT_multisampled_render_to_single_sampled, so it is not told of that.
#[test]
fn angle_is_not_told_of_multisampled_render_to_single_sampled() {
    for (engine, told) in [(c"ANGLE", false), (c"another", true)] {
        let app = vk::ApplicationInfo::default().engine_name(engine);
        let info = vk::InstanceCreateInfo::default().application_info(&app);
        let i = unsafe { entry().create_instance(&info, None) }.expect("an instance");
        let all =
            unsafe { i.enumerate_device_extension_properties(physical_device(&i)) }.expect("extensions");
        let names: Vec<_> = all.iter().filter_map(|e| e.extension_name_as_c_str().ok()).collect();
        assert_eq!(
            names.contains(&ash::ext::multisampled_render_to_single_sampled::NAME),
            told,
            "{engine:?}"
        );
        assert!(names.contains(&ash::khr::external_memory_fd::NAME), "{engine:?}");
        unsafe { i.destroy_instance(None) };
    }
}

#[test]
fn an_unknown_extension_is_refused() {
    let name = c"VK_TUFF_there_is_no_such_thing".as_ptr();
    let names = [name];
    let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
    let r = unsafe { entry().create_instance(&info, None) };
    assert_eq!(r.err(), Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
}

#[test]
fn the_device_says_what_it_is() {
    let i = instance(&[]);
    let d = physical_device(&i);
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut v13 = vk::PhysicalDeviceVulkan13Properties::default();
    let mut p = vk::PhysicalDeviceProperties2::default().push_next(&mut driver).push_next(&mut v13);
    unsafe { i.get_physical_device_properties2(d, &mut p) };
    let core = p.properties;
    assert!(core.device_name_as_c_str().expect("it ends").to_string_lossy().contains("Tuff"));
    assert_eq!(core.device_type, vk::PhysicalDeviceType::CPU);
    assert_eq!(vk::api_version_minor(core.api_version), 4);
    assert_eq!(driver.driver_name_as_c_str(), Ok(c"Tuff"));
    assert_eq!((v13.min_subgroup_size, v13.max_subgroup_size), (16, 16));
    // WebGPU's default limits.
    let l = core.limits;
    assert!(l.max_image_dimension1_d >= 8192 && l.max_image_dimension2_d >= 8192);
    assert!(l.max_image_dimension3_d >= 2048 && l.max_image_array_layers >= 256);
    assert!(l.max_bound_descriptor_sets >= 4 && l.max_storage_buffer_range >= 128 << 20);
    assert!(l.max_uniform_buffer_range >= 65536 && l.max_compute_shared_memory_size >= 16384);
    assert!(l.min_uniform_buffer_offset_alignment <= 256 && l.min_storage_buffer_offset_alignment <= 256);
    assert!(l.max_compute_work_group_invocations >= 256 && l.max_compute_work_group_count[0] >= 65535);
    // The older form says the same.
    assert_eq!(unsafe { i.get_physical_device_properties(d) }.limits.max_viewports, l.max_viewports);
    unsafe { i.destroy_instance(None) };
}

#[test]
fn features_agree_between_structures() {
    let i = instance(&[]);
    let d = physical_device(&i);
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut f16 = vk::PhysicalDeviceShaderFloat16Int8Features::default();
    let mut m = vk::PhysicalDeviceMultiviewFeatures::default();
    let mut f = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut v11)
        .push_next(&mut v12)
        .push_next(&mut f16)
        .push_next(&mut m);
    unsafe { i.get_physical_device_features2(d, &mut f) };
    assert_eq!(f.features.robust_buffer_access, vk::TRUE);
    assert_eq!(f.features.geometry_shader, vk::TRUE);
    assert_eq!((f.features.sparse_residency_aliased, v11.protected_memory), (vk::TRUE, vk::TRUE));
    assert_eq!((v12.shader_float16, v12.shader_int8), (f16.shader_float16, f16.shader_int8));
    assert_eq!((v12.shader_float16, v11.multiview), (vk::TRUE, m.multiview));
    assert_eq!((v12.timeline_semaphore, v12.buffer_device_address), (vk::TRUE, vk::TRUE));
    unsafe { i.destroy_instance(None) };
}

#[test]
fn queues_and_memory() {
    let i = instance(&[]);
    let d = physical_device(&i);
    let q = unsafe { i.get_physical_device_queue_family_properties(d) };
    type Q = vk::QueueFlags;
    let families: Vec<_> = q.iter().map(|q| (q.queue_count, q.timestamp_valid_bits)).collect();
    assert_eq!(families, [(2, 64), (1, 64)]);
    assert!(q[0].queue_flags.contains(Q::GRAPHICS | Q::COMPUTE | Q::TRANSFER));
    assert!(q[1].queue_flags.contains(Q::COMPUTE | Q::TRANSFER) && !q[1].queue_flags.contains(Q::GRAPHICS));
    let m = unsafe { i.get_physical_device_memory_properties(d) };
    let types = &m.memory_types[..m.memory_type_count as usize];
    type F = vk::MemoryPropertyFlags;
    for wanted in [
        F::DEVICE_LOCAL | F::HOST_VISIBLE | F::HOST_COHERENT,
        F::HOST_VISIBLE | F::HOST_CACHED,
        F::DEVICE_LOCAL | F::LAZILY_ALLOCATED,
    ] {
        assert!(types.iter().any(|t| t.property_flags.contains(wanted)), "{wanted:?}");
    }
    assert!(m.memory_heaps[0].size >= 1 << 30);
    let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let mut m2 = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
    unsafe { i.get_physical_device_memory_properties2(d, &mut m2) };
    assert!(budget.heap_budget[0] > 0 && budget.heap_budget[1] == 0);
    unsafe { i.destroy_instance(None) };
}

#[test]
fn promoted_extensions_have_their_strings() {
    let i = instance(&[]);
    let d = physical_device(&i);
    let all = unsafe { i.enumerate_device_extension_properties(d) }.expect("a list");
    let names: Vec<_> = all.iter().map(|e| e.extension_name_as_c_str().expect("it ends")).collect();
    for name in [
        ash::khr::multiview::NAME,
        ash::khr::create_renderpass2::NAME,
        ash::khr::dynamic_rendering::NAME,
        ash::khr::synchronization2::NAME,
        ash::khr::timeline_semaphore::NAME,
        ash::khr::maintenance4::NAME,
        ash::ext::descriptor_indexing::NAME,
        ash::ext::mutable_descriptor_type::NAME,
    ] {
        assert!(names.contains(&name), "{name:?}");
    }
    unsafe { i.destroy_instance(None) };
}

#[test]
fn formats_and_images() {
    let i = instance(&[]);
    let d = physical_device(&i);
    let f = unsafe { i.get_physical_device_format_properties(d, vk::Format::R8G8B8A8_UNORM) };
    type F = vk::FormatFeatureFlags;
    assert!(f.optimal_tiling_features.contains(F::SAMPLED_IMAGE | F::STORAGE_IMAGE | F::BLIT_SRC));
    assert!(f.buffer_features.contains(F::UNIFORM_TEXEL_BUFFER | F::STORAGE_TEXEL_BUFFER));
    let none = unsafe { i.get_physical_device_format_properties(d, vk::Format::from_raw(0x7fff_fff0)) };
    assert!(none.optimal_tiling_features.is_empty() && none.buffer_features.is_empty());
    let query = |format, usage| unsafe {
        let (ty, tiling) = (vk::ImageType::TYPE_2D, vk::ImageTiling::OPTIMAL);
        i.get_physical_device_image_format_properties(d, format, ty, tiling, usage, Default::default())
    };
    let image = query(vk::Format::R8G8B8A8_UNORM, vk::ImageUsageFlags::STORAGE).expect("an image");
    assert!(image.max_extent.width >= 8192 && image.max_array_layers >= 256);
    let no = query(vk::Format::BC7_UNORM_BLOCK, vk::ImageUsageFlags::STORAGE);
    assert_eq!(no.err(), Some(vk::Result::ERROR_FORMAT_NOT_SUPPORTED));
    unsafe { i.destroy_instance(None) };
}

unsafe extern "system" fn listen(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kinds: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    let heard = unsafe { &*user.cast::<Mutex<Vec<(vk::DebugUtilsMessageSeverityFlagsEXT, String)>>>() };
    let text = unsafe { CStr::from_ptr((*data).p_message) }.to_string_lossy().into_owned();
    heard.lock().expect("no panic").push((severity, text));
    vk::FALSE
}

#[test]
fn messengers_hear_what_they_asked_for() {
    type S = vk::DebugUtilsMessageSeverityFlagsEXT;
    let heard: Mutex<Vec<(S, String)>> = Mutex::default();
    let i = instance(&[ash::ext::debug_utils::NAME]);
    let debug = ash::ext::debug_utils::Instance::new(entry(), &i);
    let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(S::WARNING | S::ERROR)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::GENERAL)
        .pfn_user_callback(Some(listen))
        .user_data((&raw const heard).cast_mut().cast());
    let m = unsafe { debug.create_debug_utils_messenger(&info, None) }.expect("a messenger");
    for (severity, text) in [(S::WARNING, c"heard"), (S::INFO, c"not heard")] {
        let data = vk::DebugUtilsMessengerCallbackDataEXT::default().message(text);
        let general = vk::DebugUtilsMessageTypeFlagsEXT::GENERAL;
        unsafe { debug.submit_debug_utils_message(severity, general, &data) };
    }
    unsafe { debug.destroy_debug_utils_messenger(m, None) };
    unsafe { i.destroy_instance(None) };
    let heard = heard.into_inner().expect("no panic");
    assert!(heard.iter().any(|(s, t)| *s == S::WARNING && t == "heard"));
    assert!(heard.iter().all(|(_, t)| t != "not heard"));
}

#[test]
fn device_commands_are_not_there_for_a_name_that_is_none() {
    let i = instance(&[]);
    for name in [c"vkNoSuchCommand", c"vkCmdNoSuchCommandKHR", c""] {
        let f = unsafe { entry().get_instance_proc_addr(i.handle(), name.as_ptr()) };
        assert!(f.is_none(), "{name:?}");
    }
    unsafe { i.destroy_instance(None) };
}

/// How often the application's callbacks were called.
static CALLED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

unsafe extern "system" fn allocate(
    _: *mut c_void,
    _: usize,
    _: usize,
    _: vk::SystemAllocationScope,
) -> *mut c_void {
    CALLED.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    std::ptr::null_mut()
}

unsafe extern "system" fn reallocate(
    _: *mut c_void,
    _: *mut c_void,
    _: usize,
    _: usize,
    _: vk::SystemAllocationScope,
) -> *mut c_void {
    CALLED.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    std::ptr::null_mut()
}

unsafe extern "system" fn free(_: *mut c_void, _: *mut c_void) {
    CALLED.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
}

/// The driver has its own memory (docs/what-works.md): callbacks that have none hinder nothing.
#[test]
fn host_memory_is_the_drivers_own() {
    let callbacks = vk::AllocationCallbacks {
        pfn_allocation: Some(allocate),
        pfn_reallocation: Some(reallocate),
        pfn_free: Some(free),
        ..Default::default()
    };
    let callbacks = Some(&callbacks);
    let i = instance(&[]);
    let physical = physical_device(&i);
    let before = CALLED.load(std::sync::atomic::Ordering::SeqCst);
    unsafe {
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let names = [vk::KHR_PERFORMANCE_QUERY_NAME.as_ptr()];
        let info =
            vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        // Without callbacks here: the loader would use them for what it keeps itself.
        let d = i.create_device(physical, &info, None).expect("a device");
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(64).usage(usage);
        let buffer = d.create_buffer(&info, callbacks).expect("a buffer");
        let info = vk::MemoryAllocateInfo::default().allocation_size(4096);
        let memory = d.allocate_memory(&info, callbacks).expect("memory");
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
        let pool = d.create_query_pool(&info, callbacks).expect("a query pool");
        let commands = d.create_command_pool(&Default::default(), callbacks).expect("a command pool");
        d.destroy_command_pool(commands, callbacks);
        d.destroy_query_pool(pool, callbacks);
        d.free_memory(memory, callbacks);
        d.destroy_buffer(buffer, callbacks);
        d.destroy_device(None);
        i.destroy_instance(None);
    }
    assert_eq!(CALLED.load(std::sync::atomic::Ordering::SeqCst), before);
}

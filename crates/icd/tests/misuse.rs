//! Wrong use gives an error and a clear line, not a crash.

mod common;
#[path = "common/listen.rs"]
mod listen;

use ash::vk::{self, Handle};
use common::{instance, physical_device};
use listen::{Heard, listening};
use std::ffi::{CStr, c_char};

fn create_device(
    i: &ash::Instance,
    features: &vk::PhysicalDeviceFeatures,
    extensions: &[*const c_char],
) -> Result<ash::Device, vk::Result> {
    let queue = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queue)
        .enabled_features(features)
        .enabled_extension_names(extensions);
    unsafe { i.create_device(physical_device(i), &info, None) }
}

#[test]
fn features_and_extensions_that_are_not_there_are_refused_by_name() {
    let heard = Heard::default();
    let (i, debug, m) = listening(&heard);
    let mut features = vk::PhysicalDeviceVulkan12Features::default().buffer_device_address_multi_device(true);
    let info = vk::DeviceCreateInfo::default().push_next(&mut features);
    let no = unsafe { i.create_device(physical_device(&i), &info, None) };
    assert_eq!(no.err(), Some(vk::Result::ERROR_FEATURE_NOT_PRESENT));
    let none = vk::PhysicalDeviceFeatures::default();
    let no = create_device(&i, &none, &[c"VK_TUFF_nothing".as_ptr()]);
    assert_eq!(no.err(), Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
    unsafe { debug.destroy_debug_utils_messenger(m, None) };
    unsafe { i.destroy_instance(None) };
    let heard = heard.into_inner().expect("no panic");
    assert!(heard.iter().any(|t| t.contains("bufferDeviceAddressMultiDevice")), "{heard:?}");
}

#[test]
fn stale_invented_and_mistyped_handles_are_noticed() {
    let heard = Heard::default();
    let (i, debug, m) = listening(&heard);
    let d = create_device(&i, &Default::default(), &[]).expect("a device");
    let info = vk::BufferCreateInfo::default().size(64).usage(vk::BufferUsageFlags::TRANSFER_DST);
    let buffer = unsafe { d.create_buffer(&info, None) }.expect("a buffer");
    let fence = unsafe { d.create_fence(&Default::default(), None) }.expect("a fence");
    unsafe { d.destroy_buffer(buffer, None) };
    // Destroyed twice, of another type, and never a handle at all.
    unsafe { d.destroy_buffer(buffer, None) };
    let r = unsafe { d.get_fence_status(vk::Fence::from_raw(buffer.as_raw())) };
    assert!(r.is_err());
    let r =
        unsafe { d.bind_buffer_memory(vk::Buffer::from_raw(fence.as_raw()), vk::DeviceMemory::null(), 0) };
    assert!(r.is_err());
    let r = unsafe { d.wait_for_fences(&[vk::Fence::from_raw(0x1234_5670)], true, 0) };
    assert!(r.is_err());
    unsafe { d.destroy_fence(fence, None) };
    unsafe { d.destroy_device(None) };
    unsafe { debug.destroy_debug_utils_messenger(m, None) };
    unsafe { i.destroy_instance(None) };
    let heard = heard.into_inner().expect("no panic");
    for what in ["a destroyed BUFFER", "a handle of type FENCE", "not a handle of this driver"] {
        assert!(heard.iter().any(|t| t.contains(what)), "{what}: {heard:?}");
    }
}

#[test]
fn commands_of_extensions_are_there_when_enabled() {
    let i = instance(&[]);
    let names = [ash::khr::push_descriptor::NAME.as_ptr()];
    let plain = create_device(&i, &Default::default(), &[]).expect("a device");
    let with = create_device(&i, &Default::default(), &names).expect("a device");
    let get = |d: &ash::Device, name: &CStr| unsafe { i.get_device_proc_addr(d.handle(), name.as_ptr()) };
    assert!(get(&plain, c"vkCmdPushDescriptorSetKHR").is_none());
    assert!(get(&with, c"vkCmdPushDescriptorSetKHR").is_some());
    assert!(get(&plain, c"vkCmdPipelineBarrier2").is_some());
    assert!(get(&plain, c"vkCmdPipelineBarrier2KHR").is_none());
    assert!(get(&plain, c"vkCreateInstance").is_none());
    unsafe { plain.destroy_device(None) };
    unsafe { with.destroy_device(None) };
    unsafe { i.destroy_instance(None) };
}

#[test]
fn private_data_begins_at_nothing_for_each_object() {
    let i = instance(&[]);
    let queue = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default().private_data(true);
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queue).push_next(&mut v13);
    let d = unsafe { i.create_device(physical_device(&i), &info, None) }.expect("a device");
    let slot = unsafe { d.create_private_data_slot(&Default::default(), None) }.expect("a slot");
    let fence = unsafe { d.create_fence(&Default::default(), None) }.expect("a fence");
    assert_eq!(unsafe { d.get_private_data(fence, slot) }, 0);
    assert_eq!(unsafe { d.set_private_data(fence, slot, 42) }, Ok(()));
    assert_eq!(unsafe { d.get_private_data(fence, slot) }, 42);
    unsafe { d.destroy_fence(fence, None) };
    let other = unsafe { d.create_fence(&Default::default(), None) }.expect("a fence");
    assert_eq!(unsafe { d.get_private_data(other, slot) }, 0);
    unsafe { d.destroy_fence(other, None) };
    unsafe { d.destroy_private_data_slot(slot, None) };
    unsafe { d.destroy_device(None) };
    unsafe { i.destroy_instance(None) };
}

/// What a call needs is not there: an error where there is one to return, else nothing happens.
#[test]
fn null_pointers_end_nobody() {
    use std::ptr::{null, null_mut};
    let i = instance(&[]);
    let d = create_device(&i, &Default::default(), &[]).expect("a device");
    let (f, h) = (d.fp_v1_0(), d.handle());
    let failed = |r: vk::Result| assert!(r.as_raw() < 0, "{r:?}");
    // SAFETY (all blocks): handles are alive, structures outlive the calls; what is null is what is tested.
    unsafe {
        let mut buffer = vk::Buffer::null();
        failed((f.create_buffer)(h, null(), null(), &mut buffer));
        failed((f.create_fence)(h, &Default::default(), null(), null_mut()));
        (f.get_image_memory_requirements)(h, vk::Image::null(), null_mut());
        let pool = d.create_command_pool(&Default::default(), None).expect("a pool");
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let b = d.allocate_command_buffers(&info).expect("a command buffer")[0];
        failed((f.begin_command_buffer)(b, null()));
        d.begin_command_buffer(b, &Default::default()).expect("a beginning");
        let stages = vk::ShaderStageFlags::ALL;
        (f.cmd_push_constants)(b, vk::PipelineLayout::null(), stages, 0, 20, null());
        (f.cmd_bind_vertex_buffers)(b, 0, 3, null(), null());
        (f.cmd_copy_buffer)(b, buffer, buffer, 7, null());
        // Arrays that are said to have elements have none.
        let subpass = [vk::SubpassDescription {
            input_attachment_count: 5,
            color_attachment_count: 9,
            ..Default::default()
        }];
        let info = vk::RenderPassCreateInfo { attachment_count: 3, ..Default::default() }.subpasses(&subpass);
        if let Ok(pass) = d.create_render_pass(&info, None) {
            d.destroy_render_pass(pass, None);
        }
        d.destroy_command_pool(pool, None);
        d.destroy_device(None);
        i.destroy_instance(None);
    }
}

/// Queries that no work writes: waiting for their results ends, with an error.
#[test]
fn a_wait_for_queries_that_nobody_writes_ends() {
    let i = instance(&[]);
    let d = create_device(&i, &Default::default(), &[]).expect("a device");
    // SAFETY: handles are alive, structures outlive the calls.
    unsafe {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
        let pool = d.create_query_pool(&info, None).expect("a pool");
        let mut data = [0u64; 1];
        let r = d.get_query_pool_results(pool, 0, &mut data, vk::QueryResultFlags::WAIT);
        assert!(r.is_err(), "{r:?}");
        d.destroy_query_pool(pool, None);
        d.destroy_device(None);
        i.destroy_instance(None);
    }
}

/// A program's stderr may be full, or closed: what the driver has to say is lost then, and nothing else.
#[test]
fn a_full_stderr_ends_nobody() {
    use std::fs::OpenOptions;
    use std::process::Command;
    const INNER: &str = "TUFF_TEST_FULL_STDERR";
    if std::env::var_os(INNER).is_some() {
        common::entry();
        // SAFETY: this test runs alone here, before the driver reads it. Now it has something to say.
        unsafe { std::env::set_var("TUFF_LOG", "error") };
        let i = instance(&[]);
        let no = create_device(&i, &Default::default(), &[c"VK_TUFF_nothing".as_ptr()]);
        assert_eq!(no.err(), Some(vk::Result::ERROR_EXTENSION_NOT_PRESENT));
        unsafe { i.destroy_instance(None) };
        return;
    }
    let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let me = std::env::current_exe().expect("the test has a path");
    let status = Command::new(me)
        .args(["--exact", "a_full_stderr_ends_nobody", "--nocapture"])
        .env(INNER, "1")
        .stderr(full)
        .stdout(std::process::Stdio::null())
        .status()
        .expect("it runs");
    assert!(status.success(), "{status}");
}

/// vk.xml: optional="true". These two calls were refused as if the pointer were needed.
#[test]
fn pointers_that_may_be_null_are_not_missed() {
    type SetRange = unsafe extern "system" fn(vk::CommandBuffer, i32, *const std::ffi::c_void);
    type End = unsafe extern "system" fn(vk::CommandBuffer, *const std::ffi::c_void);
    let heard = Heard::default();
    let (i, debug, m) = listening(&heard);
    let names = [c"VK_EXT_depth_clamp_control".as_ptr(), c"VK_KHR_maintenance10".as_ptr()];
    let d = create_device(&i, &Default::default(), &names).expect("a device");
    let proc = |name: &CStr| unsafe { i.get_device_proc_addr(d.handle(), name.as_ptr()) }.expect("a command");
    unsafe {
        let pool = d.create_command_pool(&Default::default(), None).expect("a pool");
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let buffer = d.allocate_command_buffers(&info).expect("a command buffer")[0];
        d.begin_command_buffer(buffer, &Default::default()).expect("begun");
        let range: SetRange = std::mem::transmute(proc(c"vkCmdSetDepthClampRangeEXT"));
        range(buffer, 0, std::ptr::null());
        d.cmd_begin_rendering(buffer, &vk::RenderingInfo::default().layer_count(1));
        let end: End = std::mem::transmute(proc(c"vkCmdEndRendering2KHR"));
        end(buffer, std::ptr::null());
        d.end_command_buffer(buffer).expect("ended");
        d.destroy_command_pool(pool, None);
        d.destroy_device(None);
        debug.destroy_debug_utils_messenger(m, None);
        i.destroy_instance(None);
    }
    let heard = heard.into_inner().expect("no panic");
    assert!(!heard.iter().any(|t| t.contains("null pointer")), "{heard:?}");
}

//! Vulkan 1.4, and smaller extensions: what is told of them, and what they do.

use crate::common::{entry, instance, physical_device};
use crate::gpu::{Gpu, Mapped};
use ::vk as new;
use ash::vk;
use std::ffi::c_void;
use std::sync::Mutex;

/// What 1.4 demands of VkPhysicalDeviceVulkan14Features (§ Feature Requirements), and its lists (two calls).
#[test]
fn the_features_and_lists_of_1_4() {
    let i = instance(&[]);
    let p = physical_device(&i);
    unsafe {
        assert!(i.get_physical_device_properties(p).api_version >= vk::make_api_version(0, 1, 4, 0));
        let mut f = new::PhysicalDeviceVulkan14Features::default();
        let mut all = vk::PhysicalDeviceFeatures2 { p_next: (&raw mut f).cast(), ..Default::default() };
        i.get_physical_device_features2(p, &mut all);
        let on = [
            f.global_priority_query,
            f.shader_subgroup_rotate,
            f.shader_subgroup_rotate_clustered,
            f.shader_float_controls2,
            f.shader_expect_assume,
            f.bresenham_lines,
            f.vertex_attribute_instance_rate_divisor,
            f.vertex_attribute_instance_rate_zero_divisor,
            f.index_type_uint8,
            f.dynamic_rendering_local_read,
            f.maintenance5,
            f.maintenance6,
            f.pipeline_robustness,
            f.push_descriptor,
        ];
        assert_eq!(on, [1; 14]);
        let mut told = new::PhysicalDeviceVulkan14Properties::default();
        let mut all = vk::PhysicalDeviceProperties2 { p_next: (&raw mut told).cast(), ..Default::default() };
        i.get_physical_device_properties2(p, &mut all);
        let n = told.copy_src_layout_count;
        assert!(n > 0 && n == told.copy_dst_layout_count && told.max_push_descriptors >= 32);
        let mut layouts = vec![vk::ImageLayout::UNDEFINED; n as usize];
        told.p_copy_src_layouts = layouts.as_mut_ptr();
        let mut all = vk::PhysicalDeviceProperties2 { p_next: (&raw mut told).cast(), ..Default::default() };
        i.get_physical_device_properties2(p, &mut all);
        assert!(layouts.contains(&vk::ImageLayout::GENERAL));
        i.destroy_instance(None);
    }
}

fn address(g: &Gpu, m: &Mapped) -> u64 {
    let info = vk::BufferDeviceAddressInfo::default().buffer(m.buffer);
    unsafe { g.device.get_buffer_device_address(&info) }
}

/// VK_KHR_copy_memory_indirect: what is copied stands in memory when the copy is done, to memory and to an image.
#[test]
fn copies_are_read_from_memory() {
    let g = Gpu::with(&[c"VK_KHR_copy_memory_indirect"], &mut vk::PhysicalDeviceVulkan11Features::default());
    let (data, out, copies) = (g.buffer(16), g.buffer(16), g.buffer(64));
    (0..16).for_each(|i| data.words[i] = 100 + i as u32);
    let (from, to) = (address(&g, &data), address(&g, &out));
    let words = |a: u64| [a as u32, (a >> 32) as u32];
    let stride = 32;
    for (i, (s, d, n)) in [(0, 4, 8), (8, 0, 4)].into_iter().enumerate() {
        let w = [words(from + 4 * s), words(to + 4 * d), words(4 * n)].concat();
        copies.words[8 * i..8 * i + 6].copy_from_slice(&w);
    }
    // One row of four texels, to (1, 2) of an image.
    let w = [&words(from)[..], &[0, 0, 1, 0, 0, 1], &[1, 2, 0], &[4, 1, 1]].concat();
    copies.words[32..46].copy_from_slice(&w);
    let usage = vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::TRANSFER_SRC;
    let image = g.image([8, 4], usage);
    let pixels = g.buffer(32);
    let at = address(&g, &copies);
    unsafe {
        let f = |name: &std::ffi::CStr| {
            g.instance.get_device_proc_addr(g.device.handle(), name.as_ptr()).expect("it is there")
        };
        let to_memory: unsafe extern "system" fn(vk::CommandBuffer, *const new::CopyMemoryIndirectInfoKHR) =
            std::mem::transmute(f(c"vkCmdCopyMemoryIndirectKHR"));
        let to_image: unsafe extern "system" fn(
            vk::CommandBuffer,
            *const new::CopyMemoryToImageIndirectInfoKHR,
        ) = std::mem::transmute(f(c"vkCmdCopyMemoryToImageIndirectKHR"));
        let layers = vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            layer_count: 1,
            ..Default::default()
        };
        g.run(|d, c| {
            let range = |address, size, stride| new::StridedDeviceAddressRangeKHR { address, size, stride };
            let info = new::CopyMemoryIndirectInfoKHR {
                copy_count: 2,
                copy_address_range: range(at, 128, stride),
                ..Default::default()
            };
            to_memory(c, &info);
            let info = new::CopyMemoryToImageIndirectInfoKHR {
                copy_count: 1,
                copy_address_range: range(at + 128, 56, 56),
                dst_image: image.image,
                dst_image_layout: vk::ImageLayout::GENERAL,
                p_image_subresources: &layers,
                ..Default::default()
            };
            to_image(c, &info);
            let region = [vk::BufferImageCopy::default()
                .image_subresource(layers)
                .image_extent(vk::Extent3D { width: 8, height: 4, depth: 1 })];
            d.cmd_copy_image_to_buffer(c, image.image, vk::ImageLayout::GENERAL, pixels.buffer, &region);
        });
    }
    assert_eq!(out.words[..12], [108, 109, 110, 111, 100, 101, 102, 103, 104, 105, 106, 107]);
    let row = &pixels.words[16..24];
    assert_eq!(row[1..5], [100, 101, 102, 103]);
    assert_eq!(pixels.words.iter().filter(|&&w| w != 0).count(), 4);
    // What is no device memory loses the device, and no more.
    copies.words[0..2].copy_from_slice(&words(0xdead_0000));
    unsafe {
        let f = g.instance.get_device_proc_addr(g.device.handle(), c"vkCmdCopyMemoryIndirectKHR".as_ptr());
        let to_memory: unsafe extern "system" fn(vk::CommandBuffer, *const new::CopyMemoryIndirectInfoKHR) =
            std::mem::transmute(f.expect("it is there"));
        let info = new::CopyMemoryIndirectInfoKHR {
            copy_count: 1,
            copy_address_range: new::StridedDeviceAddressRangeKHR { address: at, size: 32, stride },
            ..Default::default()
        };
        let c = g.record(|_, c| to_memory(c, &info));
        g.submit(c, vk::Fence::null());
        assert_eq!(g.device.device_wait_idle(), Err(vk::Result::ERROR_DEVICE_LOST));
    }
    g.free_image(image);
    [data, out, copies, pixels].into_iter().for_each(|b| g.free(b));
}

/// VK_EXT_image_compression_control: attachments are kept compressed (docs/model.md) unless that is forbidden.
#[test]
fn an_image_says_whether_it_is_compressed() {
    let mut f =
        vk::PhysicalDeviceImageCompressionControlFeaturesEXT::default().image_compression_control(true);
    let g = Gpu::with(&[ash::ext::image_compression_control::NAME], &mut f);
    let fp = ash::ext::image_compression_control::Device::new(&g.instance, &g.device);
    for (flags, want) in [
        (vk::ImageCompressionFlagsEXT::DEFAULT, vk::ImageCompressionFlagsEXT::DEFAULT),
        (vk::ImageCompressionFlagsEXT::DISABLED, vk::ImageCompressionFlagsEXT::DISABLED),
    ] {
        let mut control = vk::ImageCompressionControlEXT::default().flags(flags);
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(vk::Format::R8G8B8A8_UNORM)
            .extent(vk::Extent3D { width: 16, height: 16, depth: 1 })
            .mip_levels(1)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED)
            .push_next(&mut control);
        unsafe {
            let image = g.device.create_image(&info, None).expect("an image");
            let part = vk::ImageSubresource2KHR::default().image_subresource(vk::ImageSubresource {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                ..Default::default()
            });
            let mut told = vk::ImageCompressionPropertiesEXT::default();
            let mut layout = vk::SubresourceLayout2KHR::default().push_next(&mut told);
            (fp.fp().get_image_subresource_layout2_ext)(g.device.handle(), image, &part, &mut layout);
            assert_eq!(told.image_compression_flags, want);
            assert_eq!(told.image_compression_fixed_rate_flags, vk::ImageCompressionFixedRateFlagsEXT::NONE);
            g.device.destroy_image(image, None);
        }
    }
}

/// VK_EXT_image_drm_format_modifier: rows one after the other, and no other layout.
#[test]
fn linear_images_have_a_modifier() {
    let g = Gpu::with(
        &[ash::ext::image_drm_format_modifier::NAME],
        &mut vk::PhysicalDeviceVulkan11Features::default(),
    );
    let fp = ash::ext::image_drm_format_modifier::Device::new(&g.instance, &g.device);
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { width: 20, height: 10, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
        .usage(vk::ImageUsageFlags::TRANSFER_DST);
    unsafe {
        let mut one = [vk::DrmFormatModifierPropertiesEXT::default()];
        let mut list =
            vk::DrmFormatModifierPropertiesListEXT::default().drm_format_modifier_properties(&mut one);
        let mut format = vk::FormatProperties2::default().push_next(&mut list);
        let physical = physical_device(&g.instance);
        g.instance.get_physical_device_format_properties2(physical, info.format, &mut format);
        assert_eq!((one[0].drm_format_modifier, one[0].drm_format_modifier_plane_count), (0, 1));
        let mut known = vk::ImageDrmFormatModifierListCreateInfoEXT::default().drm_format_modifiers(&[77, 0]);
        let image = g.device.create_image(&info.push_next(&mut known), None).expect("an image");
        let mut told =
            vk::ImageDrmFormatModifierPropertiesEXT { drm_format_modifier: 9, ..Default::default() };
        fp.get_image_drm_format_modifier_properties(image, &mut told).expect("it has one");
        assert_eq!(told.drm_format_modifier, 0);
        let plane = vk::ImageSubresource {
            aspect_mask: vk::ImageAspectFlags::MEMORY_PLANE_0_EXT,
            ..Default::default()
        };
        let layout = g.device.get_image_subresource_layout(image, plane);
        assert!(layout.row_pitch >= 80 && layout.size >= 10 * layout.row_pitch - (layout.row_pitch - 80));
        g.device.destroy_image(image, None);
        let explicit = |row_pitch, modifier| {
            let layouts = [vk::SubresourceLayout { row_pitch, ..Default::default() }];
            let mut e = vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default()
                .drm_format_modifier(modifier)
                .plane_layouts(&layouts);
            let made = g.device.create_image(&info.push_next(&mut e), None);
            made.map(|image| g.device.destroy_image(image, None))
        };
        assert_eq!(explicit(layout.row_pitch, 0), Ok(()));
        let bad = vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT;
        assert_eq!(explicit(layout.row_pitch + 4, 0), Err(bad));
        assert!(explicit(layout.row_pitch, 77).is_err());
    }
}

/// An image of two planes has two in memory; where they lie is told, and can be asked for.
#[test]
fn planes_of_a_format_are_planes_in_memory() {
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default().sampler_ycbcr_conversion(true);
    let g = Gpu::with(&[ash::ext::image_drm_format_modifier::NAME], &mut v11);
    let format = vk::Format::G8_B8R8_2PLANE_420_UNORM;
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: 20, height: 10, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT)
        .usage(vk::ImageUsageFlags::TRANSFER_DST);
    unsafe {
        let mut one = [vk::DrmFormatModifierPropertiesEXT::default()];
        let mut list =
            vk::DrmFormatModifierPropertiesListEXT::default().drm_format_modifier_properties(&mut one);
        let mut told = vk::FormatProperties2::default().push_next(&mut list);
        g.instance.get_physical_device_format_properties2(physical_device(&g.instance), format, &mut told);
        assert_eq!((one[0].drm_format_modifier, one[0].drm_format_modifier_plane_count), (0, 2));
        let mut known = vk::ImageDrmFormatModifierListCreateInfoEXT::default().drm_format_modifiers(&[0]);
        let image = g.device.create_image(&info.push_next(&mut known), None).expect("an image");
        let layouts = [vk::ImageAspectFlags::MEMORY_PLANE_0_EXT, vk::ImageAspectFlags::MEMORY_PLANE_1_EXT]
            .map(|aspect_mask| {
                let sub = vk::ImageSubresource { aspect_mask, ..Default::default() };
                let l = g.device.get_image_subresource_layout(image, sub);
                vk::SubresourceLayout { size: 0, ..l }
            });
        g.device.destroy_image(image, None);
        // 20 bytes a row of ten, then pairs of bytes for each two texels, in five.
        assert!(layouts.iter().all(|l| l.row_pitch >= 20));
        assert!(layouts[1].offset >= layouts[0].offset + 10 * layouts[0].row_pitch);
        let explicit = |layouts: &[vk::SubresourceLayout]| {
            let mut e = vk::ImageDrmFormatModifierExplicitCreateInfoEXT::default().plane_layouts(layouts);
            let made = g.device.create_image(&info.push_next(&mut e), None);
            made.map(|image| g.device.destroy_image(image, None))
        };
        assert_eq!(explicit(&layouts), Ok(()));
        let bad = Err(vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT);
        assert_eq!(explicit(&layouts[..1]), bad);
        let mut moved = layouts;
        moved[1].offset += 64;
        assert_eq!(explicit(&moved), bad);
    }
}

type Bound = Mutex<Vec<(vk::ObjectType, u64, u64, vk::DeviceAddressBindingTypeEXT)>>;

unsafe extern "system" fn bound(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    unsafe {
        let at = &*(*data).p_next.cast::<vk::DeviceAddressBindingCallbackDataEXT>();
        let ty = (*(*data).p_objects).object_type;
        let all = &*user.cast::<Bound>();
        all.lock().unwrap().push((ty, at.base_address, at.size, at.binding_type));
    }
    vk::FALSE
}

/// VK_EXT_device_address_binding_report: allocations and buffers, as they come and go.
#[test]
fn addresses_are_reported_as_they_are_bound() {
    let told = Bound::default();
    let i = instance(&[ash::ext::debug_utils::NAME]);
    let debug = ash::ext::debug_utils::Instance::new(entry(), &i);
    let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::INFO)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::DEVICE_ADDRESS_BINDING)
        .pfn_user_callback(Some(bound))
        .user_data((&raw const told).cast_mut().cast());
    let messenger = unsafe { debug.create_debug_utils_messenger(&info, None) }.expect("a messenger");
    let mut f = vk::PhysicalDeviceAddressBindingReportFeaturesEXT::default().report_address_binding(true);
    let g = Gpu::of(i, &[ash::ext::device_address_binding_report::NAME], &mut f);
    let b = g.buffer(16);
    let at = address(&g, &b);
    g.free(b);
    let (bind, unbind) = (vk::DeviceAddressBindingTypeEXT::BIND, vk::DeviceAddressBindingTypeEXT::UNBIND);
    let (memory, buffer) = (vk::ObjectType::DEVICE_MEMORY, vk::ObjectType::BUFFER);
    let want =
        [(memory, at, 64, bind), (buffer, at, 64, bind), (buffer, at, 64, unbind), (memory, at, 64, unbind)];
    assert_eq!(*told.lock().unwrap(), want);
    unsafe { debug.destroy_debug_utils_messenger(messenger, None) };
}

/// VK_KHR_maintenance9: queries that begin reset, devices without queues.
#[test]
fn pools_begin_reset_and_devices_may_have_no_queues() {
    let g = Gpu::with(&[c"VK_KHR_maintenance9"], &mut vk::PhysicalDeviceVulkan11Features::default());
    unsafe {
        let info = vk::QueryPoolCreateInfo::default()
            .flags(new::QUERY_POOL_CREATE_RESET_BIT_KHR)
            .query_type(vk::QueryType::OCCLUSION)
            .query_count(2);
        let pool = g.device.create_query_pool(&info, None).expect("a pool");
        let mut got = [[9u32; 2]; 2];
        let flags = vk::QueryResultFlags::WITH_AVAILABILITY | vk::QueryResultFlags::PARTIAL;
        _ = g.device.get_query_pool_results(pool, 0, &mut got, flags);
        assert_eq!(got.map(|q| q[1]), [0; 2]);
        g.device.destroy_query_pool(pool, None);
        let physical = physical_device(&g.instance);
        let none = g.instance.create_device(physical, &vk::DeviceCreateInfo::default(), None);
        let none = none.expect("a device");
        none.device_wait_idle().expect("there is nothing to wait for");
        none.destroy_device(None);
    }
}

/// VK_EXT_external_memory_dma_buf: there where the kernel makes dma-bufs; memory goes through one and back.
#[test]
fn dma_bufs_are_there_where_the_kernel_makes_them() {
    const DMA_BUF: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;
    let there = std::fs::OpenOptions::new().read(true).write(true).open("/dev/udmabuf").is_ok();
    let name = c"VK_EXT_external_memory_dma_buf";
    let mut names = vec![ash::khr::external_memory_fd::NAME];
    names.extend(there.then_some(name));
    let g = Gpu::with(&names, &mut vk::PhysicalDeviceVulkan11Features::default());
    let physical = physical_device(&g.instance);
    let fds = ash::khr::external_memory_fd::Device::new(&g.instance, &g.device);
    unsafe {
        let all = g.instance.enumerate_device_extension_properties(physical).expect("a list");
        assert_eq!(all.iter().any(|e| e.extension_name_as_c_str() == Ok(name)), there);
        let info = vk::PhysicalDeviceExternalBufferInfo::default()
            .usage(vk::BufferUsageFlags::TRANSFER_SRC)
            .handle_type(DMA_BUF);
        let mut told = vk::ExternalBufferProperties::default();
        g.instance.get_physical_device_external_buffer_properties(physical, &info, &mut told);
        let can = told.external_memory_properties.external_memory_features;
        assert_eq!(can.contains(vk::ExternalMemoryFeatureFlags::IMPORTABLE), there);
        let export = |handle_type| {
            let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(handle_type);
            let info = vk::MemoryAllocateInfo::default().allocation_size(65536).push_next(&mut export);
            let memory = g.device.allocate_memory(&info, None).expect("memory");
            let at = g.device.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()).expect("mapped");
            at.cast::<u32>().write(0xABCD);
            let info = vk::MemoryGetFdInfoKHR::default().memory(memory).handle_type(handle_type);
            (memory, fds.get_memory_fd(&info))
        };
        let import = |fd, size| {
            let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(DMA_BUF).fd(fd);
            let info = vk::MemoryAllocateInfo::default().allocation_size(size).push_next(&mut import);
            g.device.allocate_memory(&info, None)
        };
        let invalid = vk::Result::ERROR_INVALID_EXTERNAL_HANDLE;
        // Of memory, but no dma-buf; of nothing.
        let (memory, opaque) = export(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
        let opaque = opaque.expect("a descriptor");
        for fd in [opaque, -1] {
            assert_eq!(import(fd, 65536).err(), Some(invalid));
            let mut told = vk::MemoryFdPropertiesKHR::default();
            assert_eq!(fds.get_memory_fd_properties(DMA_BUF, fd, &mut told), Err(invalid));
        }
        libc::close(opaque);
        g.device.free_memory(memory, None);
        let (memory, made) = export(DMA_BUF);
        if !there {
            assert!(made.is_err());
            g.device.free_memory(memory, None);
            return not_run::say("memory through a dma-buf and back", "/dev/udmabuf");
        }
        let fd = made.expect("a dma-buf");
        let mut told = vk::MemoryFdPropertiesKHR::default();
        fds.get_memory_fd_properties(DMA_BUF, fd, &mut told).expect("it can be imported");
        assert!(told.memory_type_bits & 1 != 0);
        assert_eq!(import(fd, 1 << 30).err(), Some(invalid), "more than there is");
        let again = import(fd, 65536).expect("it is imported");
        let at = g.device.map_memory(again, 0, vk::WHOLE_SIZE, Default::default()).expect("mapped");
        assert_eq!(at.cast::<u32>().read(), 0xABCD);
        at.cast::<u32>().write(0x1234);
        let own = g.device.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default()).expect("mapped");
        assert_eq!(own.cast::<u32>().read(), 0x1234);
        g.device.free_memory(again, None);
        g.device.free_memory(memory, None);
    }
}

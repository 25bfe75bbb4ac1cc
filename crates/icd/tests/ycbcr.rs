//! Y′CbCr formats: what is reported of them, planes and their memory, copies by plane, and what an application may do wrong.

use crate::common::physical_device;
use crate::gpu::Gpu;
use ash::vk;
use vk::ImageAspectFlags as Aspect;

/// Format, planes (0: pairs of texels in one), log2 of luma's texels for one of chroma's, bytes of a component.
type Row = (vk::Format, usize, [u32; 2], u64);

#[rustfmt::skip]
const FORMATS: [Row; 34] = [
    (vk::Format::G8B8G8R8_422_UNORM, 0, [1, 0], 1),
    (vk::Format::B8G8R8G8_422_UNORM, 0, [1, 0], 1),
    (vk::Format::G8_B8_R8_3PLANE_420_UNORM, 3, [1, 1], 1),
    (vk::Format::G8_B8R8_2PLANE_420_UNORM, 2, [1, 1], 1),
    (vk::Format::G8_B8_R8_3PLANE_422_UNORM, 3, [1, 0], 1),
    (vk::Format::G8_B8R8_2PLANE_422_UNORM, 2, [1, 0], 1),
    (vk::Format::G8_B8_R8_3PLANE_444_UNORM, 3, [0, 0], 1),
    (vk::Format::G10X6B10X6G10X6R10X6_422_UNORM_4PACK16, 0, [1, 0], 2),
    (vk::Format::B10X6G10X6R10X6G10X6_422_UNORM_4PACK16, 0, [1, 0], 2),
    (vk::Format::G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16, 3, [1, 1], 2),
    (vk::Format::G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16, 2, [1, 1], 2),
    (vk::Format::G10X6_B10X6_R10X6_3PLANE_422_UNORM_3PACK16, 3, [1, 0], 2),
    (vk::Format::G10X6_B10X6R10X6_2PLANE_422_UNORM_3PACK16, 2, [1, 0], 2),
    (vk::Format::G10X6_B10X6_R10X6_3PLANE_444_UNORM_3PACK16, 3, [0, 0], 2),
    (vk::Format::G12X4B12X4G12X4R12X4_422_UNORM_4PACK16, 0, [1, 0], 2),
    (vk::Format::B12X4G12X4R12X4G12X4_422_UNORM_4PACK16, 0, [1, 0], 2),
    (vk::Format::G12X4_B12X4_R12X4_3PLANE_420_UNORM_3PACK16, 3, [1, 1], 2),
    (vk::Format::G12X4_B12X4R12X4_2PLANE_420_UNORM_3PACK16, 2, [1, 1], 2),
    (vk::Format::G12X4_B12X4_R12X4_3PLANE_422_UNORM_3PACK16, 3, [1, 0], 2),
    (vk::Format::G12X4_B12X4R12X4_2PLANE_422_UNORM_3PACK16, 2, [1, 0], 2),
    (vk::Format::G12X4_B12X4_R12X4_3PLANE_444_UNORM_3PACK16, 3, [0, 0], 2),
    (vk::Format::G16B16G16R16_422_UNORM, 0, [1, 0], 2),
    (vk::Format::B16G16R16G16_422_UNORM, 0, [1, 0], 2),
    (vk::Format::G16_B16_R16_3PLANE_420_UNORM, 3, [1, 1], 2),
    (vk::Format::G16_B16R16_2PLANE_420_UNORM, 2, [1, 1], 2),
    (vk::Format::G16_B16_R16_3PLANE_422_UNORM, 3, [1, 0], 2),
    (vk::Format::G16_B16R16_2PLANE_422_UNORM, 2, [1, 0], 2),
    (vk::Format::G16_B16_R16_3PLANE_444_UNORM, 3, [0, 0], 2),
    (vk::Format::G8_B8R8_2PLANE_444_UNORM, 2, [0, 0], 1),
    (vk::Format::G10X6_B10X6R10X6_2PLANE_444_UNORM_3PACK16, 2, [0, 0], 2),
    (vk::Format::G12X4_B12X4R12X4_2PLANE_444_UNORM_3PACK16, 2, [0, 0], 2),
    (vk::Format::G16_B16R16_2PLANE_444_UNORM, 2, [0, 0], 2),
    // VK_ARM_format_pack: G14X2_B14X2R14X2_2PLANE_420_UNORM_3PACK16_ARM, and the same of 4:2:2.
    (vk::Format::from_raw(1000609012), 2, [1, 1], 2),
    (vk::Format::from_raw(1000609013), 2, [1, 0], 2),
];

const PLANES: [Aspect; 3] = [Aspect::PLANE_0, Aspect::PLANE_1, Aspect::PLANE_2];
/// Every plane's bytes are whole words.
const WIDTH: u32 = 16;
const HEIGHT: u32 = 6;
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

/// What is copied one by one: aspect, size in its texels, bytes of one (of pairs: of a half).
fn planes(&(_, planes, shift, bytes): &Row) -> Vec<(Aspect, [u32; 2], u64)> {
    let half = [WIDTH >> shift[0], HEIGHT >> shift[1]];
    match planes {
        0 => vec![(Aspect::COLOR, [WIDTH, HEIGHT], 2 * bytes)],
        2 => vec![(PLANES[0], [WIDTH, HEIGHT], bytes), (PLANES[1], half, 2 * bytes)],
        _ => vec![(PLANES[0], [WIDTH, HEIGHT], bytes), (PLANES[1], half, bytes), (PLANES[2], half, bytes)],
    }
}

fn info(format: vk::Format) -> vk::ImageCreateInfo<'static> {
    let (src, dst) = (vk::ImageUsageFlags::TRANSFER_SRC, vk::ImageUsageFlags::TRANSFER_DST);
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(format)
        .extent(vk::Extent3D { width: WIDTH, height: HEIGHT, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(src | dst | vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::HOST_TRANSFER_EXT)
}

fn gpu() -> Gpu {
    let mut host = vk::PhysicalDeviceHostImageCopyFeaturesEXT::default().host_image_copy(true);
    let mut features = vk::PhysicalDeviceVulkan11Features::default().sampler_ycbcr_conversion(true);
    features.p_next = (&raw mut host).cast();
    let names = [ash::ext::host_image_copy::NAME, ash::ext::ycbcr_2plane_444_formats::NAME];
    Gpu::with(&names, &mut features)
}

// SAFETY (all blocks): handles are alive, structures outlive the calls.

fn requirements(g: &Gpu, image: vk::Image, plane: Option<Aspect>) -> vk::MemoryRequirements {
    let mut of = vk::ImagePlaneMemoryRequirementsInfo::default();
    let mut ask = vk::ImageMemoryRequirementsInfo2::default().image(image);
    if let Some(p) = plane {
        of.plane_aspect = p;
        ask = ask.push_next(&mut of);
    }
    let mut out = vk::MemoryRequirements2::default();
    unsafe { g.device.get_image_memory_requirements2(&ask, &mut out) };
    out.memory_requirements
}

/// Binds memory for a plane, or for all of an image.
fn bind(g: &Gpu, image: vk::Image, plane: Option<Aspect>) -> (vk::DeviceMemory, Result<(), vk::Result>) {
    let size = requirements(g, image, plane).size;
    unsafe {
        let memory =
            g.device.allocate_memory(&vk::MemoryAllocateInfo::default().allocation_size(size), None).unwrap();
        let mut of = vk::BindImagePlaneMemoryInfo::default();
        let mut info = vk::BindImageMemoryInfo::default().image(image).memory(memory);
        if let Some(p) = plane {
            of.plane_aspect = p;
            info = info.push_next(&mut of);
        }
        (memory, g.device.bind_image_memory2(&[info]))
    }
}

/// An image with memory, a plane's each if it is disjoint.
fn image(g: &Gpu, row: &Row, disjoint: bool) -> (vk::Image, Vec<vk::DeviceMemory>) {
    let flags = if disjoint { vk::ImageCreateFlags::DISJOINT } else { Default::default() };
    let image = unsafe { g.device.create_image(&info(row.0).flags(flags), None) }.expect("an image is made");
    let parts: Vec<_> = if disjoint { planes(row).iter().map(|p| Some(p.0)).collect() } else { vec![None] };
    let memory = parts.into_iter().map(|p| {
        let (m, bound) = bind(g, image, p);
        bound.expect("it is bound");
        m
    });
    (image, memory.collect())
}

fn end(g: &Gpu, (image, memory): (vk::Image, Vec<vk::DeviceMemory>)) {
    unsafe {
        g.device.destroy_image(image, None);
        memory.into_iter().for_each(|m| g.device.free_memory(m, None));
    }
}

fn layers(aspect_mask: Aspect) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask, layer_count: 1, ..Default::default() }
}

fn region(aspect: Aspect, [width, height]: [u32; 2]) -> vk::BufferImageCopy {
    vk::BufferImageCopy::default().image_subresource(layers(aspect)).image_extent(vk::Extent3D {
        width,
        height,
        depth: 1,
    })
}

#[test]
fn features_of_formats() {
    use vk::FormatFeatureFlags as F;
    let g = gpu();
    let physical = physical_device(&g.instance);
    let of = |f| unsafe { g.instance.get_physical_device_format_properties(physical, f) };
    let converts = F::MIDPOINT_CHROMA_SAMPLES
        | F::COSITED_CHROMA_SAMPLES
        | F::SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER
        | F::SAMPLED_IMAGE_YCBCR_CONVERSION_SEPARATE_RECONSTRUCTION_FILTER;
    let moved = F::TRANSFER_SRC | F::TRANSFER_DST | F::SAMPLED_IMAGE | F::SAMPLED_IMAGE_FILTER_LINEAR;
    for row in &FORMATS {
        let p = of(row.0);
        let want = converts | moved | if row.1 > 1 { F::DISJOINT } else { F::empty() };
        assert_eq!((p.optimal_tiling_features, p.linear_tiling_features), (want, want), "{:?}", row.0);
        assert_eq!(p.buffer_features, F::empty());
        let mut count = vk::SamplerYcbcrConversionImageFormatProperties::default();
        let mut out = vk::ImageFormatProperties2::default().push_next(&mut count);
        let ask = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(row.0)
            .ty(vk::ImageType::TYPE_2D)
            .usage(vk::ImageUsageFlags::SAMPLED);
        unsafe { g.instance.get_physical_device_image_format_properties2(physical, &ask, &mut out) }.unwrap();
        let p = out.image_format_properties;
        assert_eq!((p.max_mip_levels, p.sample_counts), (1, vk::SampleCountFlags::TYPE_1));
        assert!(p.max_array_layers > 1);
        assert_eq!(count.combined_image_sampler_descriptor_count, 1);
        for (ty, usage) in [
            (vk::ImageType::TYPE_3D, vk::ImageUsageFlags::SAMPLED),
            (vk::ImageType::TYPE_2D, vk::ImageUsageFlags::COLOR_ATTACHMENT),
            (vk::ImageType::TYPE_2D, vk::ImageUsageFlags::STORAGE),
        ] {
            let ask = vk::PhysicalDeviceImageFormatInfo2::default().format(row.0).ty(ty).usage(usage);
            let mut out = vk::ImageFormatProperties2::default();
            let r =
                unsafe { g.instance.get_physical_device_image_format_properties2(physical, &ask, &mut out) };
            assert_eq!(r, Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED), "{:?} {ty:?} {usage:?}", row.0);
        }
    }
    let rgba = of(vk::Format::R8G8B8A8_UNORM).optimal_tiling_features;
    assert!(rgba.contains(converts) && !rgba.contains(F::DISJOINT));
    assert!(!of(vk::Format::R8G8B8A8_SRGB).optimal_tiling_features.intersects(converts));
}

/// Bytes go through buffer → plane → plane of another image → image of the plane's format → buffer, and by the host's copies.
#[test]
fn planes_are_copied_one_by_one() {
    let g = gpu();
    let d = &g.device;
    let host = ash::ext::host_image_copy::Device::new(&g.instance, d);
    for row in &FORMATS {
        let (a, b) = (image(&g, row, row.1 > 1), image(&g, row, false));
        let (from, to) = (g.buffer(512), g.buffer(512));
        for (n, (aspect, size, bytes)) in planes(row).into_iter().enumerate() {
            let words = (size[0] * size[1]) as usize * bytes as usize / 4;
            from.words
                .iter_mut()
                .enumerate()
                .for_each(|(i, w)| *w = (i as u32 + 7 * n as u32).wrapping_mul(0x9e37_79b9));
            to.words.fill(0);
            let region = region(aspect, size);
            // As a texel of the plane has bytes; two components of eight bits are one of sixteen.
            let single = match (bytes, row.1) {
                (_, 0) => row.0,
                (1, _) => vk::Format::R8_UINT,
                (2, _) => vk::Format::R16_UINT,
                _ => vk::Format::R32_UINT,
            };
            let single_info = info(single).extent(vk::Extent3D { width: size[0], height: size[1], depth: 1 });
            let plain = unsafe { d.create_image(&single_info, None) }.unwrap();
            let (memory, bound) = bind(&g, plain, None);
            bound.unwrap();
            g.run(|d, c| unsafe {
                let barrier = || {
                    let all = vk::PipelineStageFlags::ALL_COMMANDS;
                    let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
                    let m = [vk::MemoryBarrier::default().src_access_mask(access).dst_access_mask(access)];
                    d.cmd_pipeline_barrier(c, all, all, Default::default(), &m, &[], &[]);
                };
                let copy = |src: Aspect, dst: Aspect| {
                    [vk::ImageCopy::default()
                        .src_subresource(layers(src))
                        .dst_subresource(layers(dst))
                        .extent(vk::Extent3D { width: size[0], height: size[1], depth: 1 })]
                };
                d.cmd_copy_buffer_to_image(c, from.buffer, a.0, GENERAL, &[region]);
                barrier();
                d.cmd_copy_image(c, a.0, GENERAL, b.0, GENERAL, &copy(aspect, aspect));
                barrier();
                d.cmd_copy_image(c, b.0, GENERAL, plain, GENERAL, &copy(aspect, Aspect::COLOR));
                barrier();
                let out = vk::BufferImageCopy { image_subresource: layers(Aspect::COLOR), ..region };
                d.cmd_copy_image_to_buffer(c, plain, GENERAL, to.buffer, &[out]);
            });
            assert_eq!(to.words[..words], from.words[..words], "{:?} {aspect:?}", row.0);
            // The host: out of the one, into the other, and what the device then sees there.
            let mut seen = vec![0u32; words];
            let part = [vk::ImageToMemoryCopyEXT::default()
                .host_pointer(seen.as_mut_ptr().cast())
                .image_subresource(layers(aspect))
                .image_extent(region.image_extent)];
            let out = vk::CopyImageToMemoryInfoEXT::default()
                .src_image(b.0)
                .src_image_layout(GENERAL)
                .regions(&part);
            unsafe { host.copy_image_to_memory(&out) }.unwrap();
            assert_eq!(seen, from.words[..words], "{:?} {aspect:?}", row.0);
            seen.iter_mut().for_each(|w| *w = !*w);
            let part = [vk::MemoryToImageCopyEXT::default()
                .host_pointer(seen.as_ptr().cast())
                .image_subresource(layers(aspect))
                .image_extent(region.image_extent)];
            let copy = vk::CopyMemoryToImageInfoEXT::default()
                .dst_image(a.0)
                .dst_image_layout(GENERAL)
                .regions(&part);
            unsafe { host.copy_memory_to_image(&copy) }.unwrap();
            g.run(|d, c| unsafe { d.cmd_copy_image_to_buffer(c, a.0, GENERAL, to.buffer, &[region]) });
            assert_eq!(to.words[..words], seen, "{:?} {aspect:?}", row.0);
            unsafe {
                d.destroy_image(plain, None);
                d.free_memory(memory, None);
            }
        }
        g.free(from);
        g.free(to);
        end(&g, a);
        end(&g, b);
    }
}

#[test]
fn planes_have_memory_and_layouts_of_their_own() {
    let g = gpu();
    for row in FORMATS.iter().filter(|r| r.1 > 1) {
        let apart = image(&g, row, true);
        let whole = image(&g, row, false);
        let mut end_of_last = 0;
        for (aspect, size, bytes) in planes(row) {
            let need = requirements(&g, apart.0, Some(aspect));
            assert!(need.size >= bytes * (size[0] * size[1]) as u64);
            let sub = vk::ImageSubresource { aspect_mask: aspect, mip_level: 0, array_layer: 0 };
            let [own, shared] =
                [apart.0, whole.0].map(|i| unsafe { g.device.get_image_subresource_layout(i, sub) });
            assert_eq!(own.offset, 0);
            assert!(own.size <= need.size && own.row_pitch >= bytes * size[0] as u64);
            assert_eq!((own.row_pitch, own.size), (shared.row_pitch, shared.size));
            assert!(shared.offset >= end_of_last);
            end_of_last = shared.offset + shared.size;
        }
        assert!(end_of_last <= requirements(&g, whole.0, None).size);
        end(&g, apart);
        end(&g, whole);
    }
}

#[test]
fn what_formats_forbid_is_refused() {
    let g = gpu();
    let d = &g.device;
    let bad = Some(vk::Result::ERROR_VALIDATION_FAILED_EXT);
    let made = |i: vk::ImageCreateInfo| unsafe { d.create_image(&i, None).map(|i| d.destroy_image(i, None)) };
    for row in &FORMATS {
        let i = info(row.0);
        assert_eq!(made(i), Ok(()));
        for (k, n) in row.2.iter().enumerate() {
            let mut odd = i;
            odd.extent.width += (k == 0) as u32;
            odd.extent.height += (k == 1) as u32;
            assert_eq!(made(odd).err(), if *n > 0 { bad } else { None }, "{:?} {k}", row.0);
        }
        assert_eq!(made(i.mip_levels(2)).err(), bad);
        assert_eq!(made(i.samples(vk::SampleCountFlags::TYPE_4)).err(), bad);
        assert_eq!(made(i.image_type(vk::ImageType::TYPE_3D)).err(), bad);
        let apart = made(i.flags(vk::ImageCreateFlags::DISJOINT));
        assert_eq!(apart.err(), if row.1 > 1 { None } else { bad });
    }
    let conversion = |format, explicit| {
        let i = vk::SamplerYcbcrConversionCreateInfo::default()
            .format(format)
            .ycbcr_model(vk::SamplerYcbcrModelConversion::YCBCR_709)
            .force_explicit_reconstruction(explicit);
        unsafe { d.create_sampler_ycbcr_conversion(&i, None) }
    };
    assert_eq!(conversion(vk::Format::R8G8B8A8_SRGB, false).err(), bad);
    assert_eq!(conversion(vk::Format::UNDEFINED, false).err(), bad);
    assert_eq!(conversion(vk::Format::D32_SFLOAT, false).err(), bad);
    // The feature by which it could be asked for is not reported.
    assert_eq!(conversion(FORMATS[2].0, true).err(), bad);
    let c = conversion(FORMATS[2].0, false).unwrap();
    // A name that is gone.
    unsafe { d.destroy_sampler_ycbcr_conversion(c, None) };
    let mut of = vk::SamplerYcbcrConversionInfo::default().conversion(c);
    assert_eq!(
        unsafe { d.create_sampler(&vk::SamplerCreateInfo::default().push_next(&mut of), None) }.err(),
        bad
    );
}

#[test]
fn wrong_aspects_and_planes_without_memory_touch_nothing() {
    let g = gpu();
    let d = &g.device;
    let row = &FORMATS[3];
    let flags = vk::ImageCreateFlags::DISJOINT;
    let half = unsafe { d.create_image(&info(row.0).flags(flags), None) }.unwrap();
    let (memory, bound) = bind(&g, half, Some(PLANES[0]));
    bound.unwrap();
    // There already, not there at all, and not named.
    let refused = [Some(PLANES[0]), Some(PLANES[2]), Some(Aspect::DEPTH), None].map(|p| bind(&g, half, p));
    assert!(refused.iter().all(|r| r.1.is_err()));
    let whole = image(&g, row, false);
    let buffer = g.buffer(64);
    buffer.words.fill(0x1234_5678);
    let size = [8, 4];
    g.run(|d, c| unsafe {
        // The second plane has no memory; a third is not there, nor have such images a colour to copy or clear.
        for (i, aspect) in
            [(half, PLANES[1]), (whole.0, PLANES[2]), (whole.0, Aspect::COLOR), (whole.0, Aspect::DEPTH)]
        {
            let region = [region(aspect, size)];
            d.cmd_copy_image_to_buffer(c, i, GENERAL, buffer.buffer, &region);
            d.cmd_copy_buffer_to_image(c, buffer.buffer, i, GENERAL, &region);
            let copy = [vk::ImageCopy::default()
                .src_subresource(layers(aspect))
                .dst_subresource(layers(PLANES[0]))
                .extent(vk::Extent3D { width: 8, height: 4, depth: 1 })];
            d.cmd_copy_image(c, i, GENERAL, whole.0, GENERAL, &copy);
            let range = vk::ImageSubresourceRange {
                aspect_mask: aspect,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            };
            d.cmd_clear_color_image(c, i, GENERAL, &Default::default(), &[range]);
        }
        // Pairs are not written one by one: a blit onto them does nothing.
        let blit =
            vk::ImageBlit::default().src_subresource(layers(PLANES[0])).dst_subresource(layers(PLANES[0]));
        d.cmd_blit_image(c, whole.0, GENERAL, half, GENERAL, &[blit], vk::Filter::LINEAR);
    });
    assert!(buffer.words.iter().all(|w| *w == 0x1234_5678));
    let view = |image, format, aspect_mask| {
        let range =
            vk::ImageSubresourceRange { aspect_mask, level_count: 1, layer_count: 1, ..Default::default() };
        let i = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(format)
            .subresource_range(range);
        unsafe { d.create_image_view(&i, None).map(|v| d.destroy_image_view(v, None)) }
    };
    let (eight, two) = (vk::Format::R8_UNORM, vk::Format::R8G8_UNORM);
    assert_eq!(view(whole.0, eight, PLANES[0]), Ok(()));
    assert_eq!(view(whole.0, two, PLANES[1]), Ok(()));
    for (format, aspect) in [
        (two, PLANES[0]),
        (eight, PLANES[2]),
        (row.0, PLANES[0]),
        (eight, Aspect::COLOR),
        (FORMATS[0].0, PLANES[0]),
    ] {
        assert!(view(whole.0, format, aspect).is_err(), "{format:?} {aspect:?}");
    }
    let plain = g.image([8, 8], vk::ImageUsageFlags::SAMPLED);
    assert!(view(plain.image, eight, PLANES[0]).is_err());
    assert!(view(plain.image, FORMATS[0].0, Aspect::COLOR).is_err());
    assert!(view(plain.image, row.0, Aspect::COLOR).is_err());
    g.free_image(plain);
    g.free(buffer);
    end(&g, whole);
    unsafe {
        d.destroy_image(half, None);
        d.free_memory(memory, None);
        refused.iter().for_each(|r| d.free_memory(r.0, None));
    }
}

//! VK_EXT_multisampled_render_to_single_sampled in dynamic rendering.
//!
//! Pixel 2 is covered by half: of the four standard sample locations (x in sixteenths: 6, 14, 2, 10) samples 0 and 2
//! lie left of its middle, 1 and 3 right of it. A loaded pixel's value is that of all its samples, and what is stored
//! is the samples' mean, or what the resolve mode says.

use super::rig::{RGBA8, Rectangle, Rig, SIDE, area, chain, cleared, fill, floats, whole};
use super::{Check, Found, found, holds, same, text};
use client::graphics::{Image, ImageInfo, Pipeline, barrier};
use std::ffi::CStr;
use vk::AttachmentLoadOp as Load;
use vk::ResolveModeFlags as Mode;

pub const NAME: &CStr = ash::ext::multisampled_render_to_single_sampled::NAME;
pub const FLAG: vk::ImageCreateFlags = vk::ImageCreateFlags::MULTISAMPLED_RENDER_TO_SINGLE_SAMPLED_EXT;

pub fn checks() -> Vec<Check> {
    let check = |name, run| Check { name, of: NAME, run };
    vec![
        check("single_sampled_is_reported", reported),
        check("single_sampled_colours", colours),
        check("single_sampled_depths", depths),
        check("single_sampled_stencils", stencils),
        check("single_sampled_beside_multisampled", mixed),
        check("single_sampled_views", views),
        check("single_sampled_secondary", secondary),
        check("single_sampled_suspended", suspended),
        check("single_sampled_many_primitives", many),
    ]
}

pub fn target() -> ImageInfo {
    let mut info = ImageInfo { flags: FLAG, ..ImageInfo::colour(RGBA8, [SIDE; 2]) };
    info.usage |= vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::INPUT_ATTACHMENT;
    info
}

/// Rectangle over columns left of pixel 2's middle, and one right of it.
pub fn left(value: u8) -> Rectangle {
    Rectangle { from: 0.0, to: 2.5, value, depth: 0.25 }
}
pub fn right(value: u8) -> Rectangle {
    Rectangle { from: 2.5, to: 8.0, value, depth: 0.25 }
}

fn attachment(image: &Image, load: Load, mode: Mode) -> vk::RenderingAttachmentInfo<'static> {
    vk::RenderingAttachmentInfo::default()
        .image_view(image.view)
        .image_layout(vk::ImageLayout::GENERAL)
        .load_op(load)
        .store_op(vk::AttachmentStoreOp::STORE)
        .resolve_mode(mode)
        .resolve_image_layout(vk::ImageLayout::GENERAL)
}

fn colour(image: &Image, load: Load) -> vk::RenderingAttachmentInfo<'static> {
    attachment(image, load, Mode::AVERAGE)
}

pub fn info(samples: u32) -> vk::MultisampledRenderToSingleSampledInfoEXT<'static> {
    vk::MultisampledRenderToSingleSampledInfoEXT::default()
        .multisampled_render_to_single_sampled_enable(true)
        .rasterization_samples(vk::SampleCountFlags::from_raw(samples))
}

/// A pass of four samples; `draws` finds viewport and scissor set.
fn pass(
    d: &ash::Device,
    c: vk::CommandBuffer,
    change: impl FnOnce(&mut vk::RenderingInfo),
    draws: impl FnOnce(),
) {
    let four = info(4);
    let mut r = vk::RenderingInfo::default().render_area(area()).layer_count(1);
    r.p_next = chain(&four);
    change(&mut r);
    // SAFETY: recording into a command buffer that has begun, with live handles.
    unsafe {
        d.cmd_begin_rendering(c, &r);
        if !r.flags.contains(vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS) {
            whole(d, c);
        }
        draws();
        d.cmd_end_rendering(c);
    }
    barrier(d, c);
}

/// A pass with one colour attachment.
fn colour_pass(
    d: &ash::Device,
    c: vk::CommandBuffer,
    a: vk::RenderingAttachmentInfo<'static>,
    flags: vk::RenderingFlags,
    draws: impl FnOnce(),
) {
    let list = [a];
    pass(
        d,
        c,
        |r| (r.color_attachment_count, r.p_color_attachments, r.flags) = (1, list.as_ptr(), flags),
        draws,
    );
}

fn boxes(rig: &Rig) -> Result<Pipeline, String> {
    rig.boxes(|i| i.samples = 4)
}

/// The format query is filled, images can have the flag, and formats that can be drawn to say their sample counts.
fn reported(rig: &Rig) -> Found {
    let (instance, physical) = (&rig.context.instance, rig.context.physical);
    let mut features = vk::PhysicalDeviceMultisampledRenderToSingleSampledFeaturesEXT::default();
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut features);
    // SAFETY: valid chains.
    unsafe { instance.get_physical_device_features2(physical, &mut all) };
    same("the feature", features.multisampled_render_to_single_sampled, vk::TRUE)?;
    for format in [RGBA8, vk::Format::R32G32B32A32_UINT, vk::Format::D32_SFLOAT_S8_UINT] {
        let mut told = vk::SubpassResolvePerformanceQueryEXT { optimal: 0xDEAD, ..Default::default() };
        let mut p = vk::FormatProperties2::default().push_next(&mut told);
        // SAFETY: as above.
        unsafe { instance.get_physical_device_format_properties2(physical, format, &mut p) };
        holds("the query says yes or no", told.optimal <= 1)?;
        let usage = match format {
            vk::Format::D32_SFLOAT_S8_UINT => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
            _ => vk::ImageUsageFlags::COLOR_ATTACHMENT,
        };
        let ask = vk::PhysicalDeviceImageFormatInfo2::default()
            .format(format)
            .ty(vk::ImageType::TYPE_2D)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage)
            .flags(FLAG);
        let mut p = vk::ImageFormatProperties2::default();
        // SAFETY: as above.
        let r = unsafe { instance.get_physical_device_image_format_properties2(physical, &ask, &mut p) };
        same("images with the flag", r, Ok(()))?;
        holds(
            "four samples",
            p.image_format_properties.sample_counts.contains(vk::SampleCountFlags::TYPE_4),
        )?;
    }
    Ok(Vec::new())
}

fn colours(rig: &Rig) -> Found {
    let (image, p) = (rig.image(target())?, boxes(rig)?);
    let none = vk::RenderingFlags::empty();
    // Nothing drawn: what is loaded is stored.
    rig.run(|d, c| {
        fill(d, c, &image, 51);
        colour_pass(d, c, colour(&image, Load::LOAD), none, || ());
    })?;
    same("loaded and stored", rig.reds(&image)?, vec![51; 8])?;
    // Half a pixel over what is loaded: (153 + 51) / 2.
    rig.run(|d, c| colour_pass(d, c, colour(&image, Load::LOAD), none, || left(153).draw(d, c, &p, 1)))?;
    same("over what is loaded", rig.reds(&image)?, vec![153, 153, 102, 51, 51, 51, 51, 51])?;
    // The next pass loads the mean into all four samples: (102 + 204) / 2.
    rig.run(|d, c| colour_pass(d, c, colour(&image, Load::LOAD), none, || right(204).draw(d, c, &p, 1)))?;
    same("once more", rig.reds(&image)?, vec![153, 153, 153, 204, 204, 204, 204, 204])?;
    // Within a pass both halves are whole samples, whatever lay below.
    let clear = colour(&image, Load::CLEAR).clear_value(cleared(255));
    rig.run(|d, c| {
        colour_pass(d, c, clear, none, || {
            left(153).draw(d, c, &p, 1);
            right(51).draw(d, c, &p, 1);
        })
    })?;
    let got = rig.reds(&image)?;
    same("two halves", got.clone(), vec![153, 153, 102, 51, 51, 51, 51, 51])?;
    // vkCmdClearAttachments clears samples; a later draw covers half of them: (204 + 0) / 2.
    rig.run(|d, c| {
        colour_pass(d, c, colour(&image, Load::LOAD), none, || {
            let clear = vk::ClearAttachment {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                color_attachment: 0,
                clear_value: cleared(0),
            };
            let rect = vk::ClearRect { rect: area(), base_array_layer: 0, layer_count: 1 };
            // SAFETY: recording within a pass.
            unsafe { d.cmd_clear_attachments(c, &[clear], &[rect]) };
            left(204).draw(d, c, &p, 1);
        })
    })?;
    same("over a clear", rig.reds(&image)?, vec![204, 204, 102, 0, 0, 0, 0, 0])?;
    found(&got)
}

/// Left and right of pixel 2's middle: which samples the near rectangle covers.
const HALVES: [(fn(u8) -> Rectangle, [bool; 4]); 2] =
    [(left, [true, false, true, false]), (right, [false, true, false, true])];

/// Depth 0.75 below, 0.25 drawn where LESS: samples 0 and 2, or 1 and 3, of pixel 2.
fn depths(rig: &Rig) -> Found {
    let format = vk::Format::D32_SFLOAT;
    let image = rig.image(ImageInfo { flags: FLAG, ..ImageInfo::depth(format, [SIDE; 2]) })?;
    let p = rig.boxes(|i| {
        (i.samples, i.depth_format, i.depth) = (4, format, Some((vk::CompareOp::LESS, true)));
        i.colours.clear();
    })?;
    let mut all = Vec::new();
    for (half, covered) in HALVES {
        let samples = covered.map(|c| if c { 0.25f32 } else { 0.75 });
        let modes =
            [(Mode::SAMPLE_ZERO, samples[0]), (Mode::MIN, 0.25), (Mode::MAX, 0.75), (Mode::AVERAGE, 0.5)];
        let supported = depth_modes(rig).supported_depth_resolve_modes;
        for (mode, want) in modes.into_iter().filter(|(m, _)| supported.contains(*m)) {
            rig.run(|d, c| {
                // The first pass leaves 0.75; the second loads it into all samples.
                for (load, draw) in [(Load::CLEAR, false), (Load::LOAD, true)] {
                    let mut value = vk::ClearValue::default();
                    value.depth_stencil = vk::ClearDepthStencilValue { depth: 0.75, stencil: 0 };
                    let a = attachment(&image, load, mode).clear_value(value);
                    pass(
                        d,
                        c,
                        |r| r.p_depth_attachment = &a,
                        || {
                            if draw {
                                half(0).draw(d, c, &p, 1);
                            }
                        },
                    );
                }
            })?;
            let bytes = image.read(vk::ImageAspectFlags::DEPTH, 4).map_err(text)?;
            let row = floats(&bytes);
            let drawn = |x: usize| if (x < 2) == covered[0] { 0.25 } else { 0.75 };
            let want: Vec<f32> = (0..8).map(|x| if x == 2 { want } else { drawn(x) }).collect();
            same(&format!("{mode:?}, samples {covered:?}"), row.clone(), want)?;
            all.extend(row.iter().map(|v| u64::from(v.to_bits())));
        }
    }
    Ok(all)
}

pub fn depth_modes(rig: &Rig) -> vk::PhysicalDeviceDepthStencilResolveProperties<'static> {
    let mut modes = vk::PhysicalDeviceDepthStencilResolveProperties::default();
    let mut all = vk::PhysicalDeviceProperties2 { p_next: (&raw mut modes).cast(), ..Default::default() };
    // SAFETY: a valid chain.
    unsafe { rig.context.instance.get_physical_device_properties2(rig.context.physical, &mut all) };
    modes
}

/// Stencil 50 below, replaced by 200 in half of pixel 2; depth of the same image has another mode.
fn stencils(rig: &Rig) -> Found {
    let format = vk::Format::D32_SFLOAT_S8_UINT;
    let image = rig.image(ImageInfo { flags: FLAG, ..ImageInfo::depth(format, [SIDE; 2]) })?;
    let op = vk::StencilOpState {
        fail_op: vk::StencilOp::REPLACE,
        pass_op: vk::StencilOp::REPLACE,
        depth_fail_op: vk::StencilOp::REPLACE,
        compare_op: vk::CompareOp::ALWAYS,
        compare_mask: 255,
        write_mask: 255,
        reference: 200,
    };
    let p = rig.boxes(|i| {
        (i.samples, i.depth_format, i.stencil_format) = (4, format, format);
        (i.depth, i.stencil) = (Some((vk::CompareOp::ALWAYS, true)), Some([op; 2]));
        i.colours.clear();
    })?;
    let supported = depth_modes(rig);
    let mut all = Vec::new();
    for (half, covered) in HALVES {
        let zero = if covered[0] { 200 } else { 50 };
        for (mode, want) in [(Mode::SAMPLE_ZERO, zero), (Mode::MIN, 50), (Mode::MAX, 200)] {
            if !supported.supported_stencil_resolve_modes.contains(mode) {
                continue;
            }
            let independent = supported.independent_resolve != 0;
            let depth_mode = if independent { Mode::SAMPLE_ZERO } else { mode };
            rig.run(|d, c| {
                for (load, draw) in [(Load::CLEAR, false), (Load::LOAD, true)] {
                    let mut value = vk::ClearValue::default();
                    value.depth_stencil = vk::ClearDepthStencilValue { depth: 0.75, stencil: 50 };
                    let a = attachment(&image, load, depth_mode).clear_value(value);
                    let b = attachment(&image, load, mode).clear_value(value);
                    pass(
                        d,
                        c,
                        |r| (r.p_depth_attachment, r.p_stencil_attachment) = (&a, &b),
                        || {
                            if draw {
                                half(0).draw(d, c, &p, 1);
                            }
                        },
                    );
                }
            })?;
            let bytes = image.read(vk::ImageAspectFlags::STENCIL, 1).map_err(text)?;
            let drawn = |x: usize| if (x < 2) == covered[0] { 200 } else { 50 };
            let row: Vec<u8> = (0..8).map(|x| if x == 2 { want } else { drawn(x) }).collect();
            same(&format!("{mode:?}, samples {covered:?}"), bytes[..8].to_vec(), row)?;
            let bytes = image.read(vk::ImageAspectFlags::DEPTH, 4).map_err(text)?;
            if independent {
                same("depth of sample 0", floats(&bytes)[2], if covered[0] { 0.25 } else { 0.75 })?;
            }
            all.extend(bytes.iter().map(|&b| u64::from(b)));
        }
    }
    Ok(all)
}

/// A multisampled attachment with a resolve target, one of one sample, and multisampled depth that neither resolves.
fn mixed(rig: &Rig) -> Found {
    let depth = vk::Format::D32_SFLOAT;
    let (single, resolved) = (rig.image(target())?, rig.image(target())?);
    let several = rig.image(ImageInfo { samples: 4, ..ImageInfo::colour(RGBA8, [SIDE; 2]) })?;
    let z = rig.image(ImageInfo { samples: 4, ..ImageInfo::depth(depth, [SIDE; 2]) })?;
    let p = rig.boxes(|i| {
        (i.samples, i.depth_format, i.depth) = (4, depth, Some((vk::CompareOp::LESS, true)));
        i.fragment = Some(include_bytes!("../../shaders/extensions/two.frag.spv"));
        i.colours = vec![RGBA8; 2];
    })?;
    rig.run(|d, c| {
        fill(d, c, &single, 51);
        let a = [
            colour(&single, Load::LOAD),
            colour(&several, Load::CLEAR).clear_value(cleared(255)).resolve_image_view(resolved.view),
        ];
        let mut far = vk::ClearValue::default();
        far.depth_stencil = vk::ClearDepthStencilValue { depth: 0.5, stencil: 0 };
        let z = attachment(&z, Load::CLEAR, Mode::NONE).clear_value(far);
        pass(
            d,
            c,
            |r| {
                (r.color_attachment_count, r.p_color_attachments) = (2, a.as_ptr());
                r.p_depth_attachment = &z;
            },
            || {
                left(153).draw(d, c, &p, 1);
                // Behind what is there: nothing of it shows.
                Rectangle { from: 0.0, to: 8.0, value: 7, depth: 0.75 }.draw(d, c, &p, 1);
            },
        );
    })?;
    let got = rig.reds(&single)?;
    same("of one sample", got.clone(), vec![153, 153, 102, 51, 51, 51, 51, 51])?;
    same("of several", rig.reds(&resolved)?, vec![153, 153, 204, 255, 255, 255, 255, 255])?;
    found(&got)
}

/// Views 0 and 1: the rectangle lies two pixels further right in view 1.
fn views(rig: &Rig) -> Found {
    let image = rig.image(ImageInfo { layers: 2, ..target() })?;
    let p = rig.boxes(|i| {
        (i.samples, i.view_mask) = (4, 0b11);
        i.vertex = include_bytes!("../../shaders/extensions/views.vert.spv");
    })?;
    rig.run(|d, c| {
        fill(d, c, &image, 51);
        let a = [colour(&image, Load::LOAD)];
        pass(
            d,
            c,
            |r| (r.color_attachment_count, r.p_color_attachments, r.view_mask) = (1, a.as_ptr(), 0b11),
            || left(153).draw(d, c, &p, 1),
        );
    })?;
    let got = rig.reds(&image)?;
    same("view 0", got[..8].to_vec(), vec![153, 153, 102, 51, 51, 51, 51, 51])?;
    same("view 1", got[8..].to_vec(), vec![51, 51, 153, 153, 102, 51, 51, 51])?;
    found(&got)
}

/// Draws in a secondary command buffer, which inherits the rasterisation samples.
fn secondary(rig: &Rig) -> Found {
    let (image, p) = (rig.image(target())?, boxes(rig)?);
    let d = &rig.context.device;
    let formats = [RGBA8];
    let mut rendering = vk::CommandBufferInheritanceRenderingInfo::default()
        .color_attachment_formats(&formats)
        .rasterization_samples(vk::SampleCountFlags::TYPE_4);
    let inherited = vk::CommandBufferInheritanceInfo::default().push_next(&mut rendering);
    let begin = vk::CommandBufferBeginInfo::default()
        .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
        .inheritance_info(&inherited);
    // SAFETY: plain Vulkan calls with structs that outlive them; the pool goes when nothing is pending.
    unsafe {
        let pool = d.create_command_pool(&vk::CommandPoolCreateInfo::default(), None).map_err(text)?;
        let allocate = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::SECONDARY)
            .command_buffer_count(1);
        let s = d.allocate_command_buffers(&allocate).map_err(text)?;
        d.begin_command_buffer(s[0], &begin).map_err(text)?;
        whole(d, s[0]);
        left(153).draw(d, s[0], &p, 1);
        d.end_command_buffer(s[0]).map_err(text)?;
        let run = rig.run(|d, c| {
            fill(d, c, &image, 51);
            let flags = vk::RenderingFlags::CONTENTS_SECONDARY_COMMAND_BUFFERS;
            colour_pass(d, c, colour(&image, Load::LOAD), flags, || d.cmd_execute_commands(c, &s));
        });
        d.destroy_command_pool(pool, None);
        run?;
    }
    let got = rig.reds(&image)?;
    same("drawn by a secondary", got.clone(), vec![153, 153, 102, 51, 51, 51, 51, 51])?;
    found(&got)
}

/// A pass that is suspended between two halves of a pixel, and resumed.
fn suspended(rig: &Rig) -> Found {
    let (image, p) = (rig.image(target())?, boxes(rig)?);
    rig.run(|d, c| {
        fill(d, c, &image, 51);
        let a = colour(&image, Load::LOAD);
        for (flags, half) in
            [(vk::RenderingFlags::SUSPENDING, left(153)), (vk::RenderingFlags::RESUMING, right(205))]
        {
            let list = [a];
            let four = info(4);
            let mut r = vk::RenderingInfo::default().render_area(area()).layer_count(1);
            r = r.flags(flags).color_attachments(&list);
            r.p_next = chain(&four);
            // Nothing but the passes may be recorded between the two.
            // SAFETY: recording into a command buffer that has begun, with live handles.
            unsafe {
                d.cmd_begin_rendering(c, &r);
                whole(d, c);
                half.draw(d, c, &p, 1);
                d.cmd_end_rendering(c);
            }
        }
        barrier(d, c);
    })?;
    let got = rig.reds(&image)?;
    same("both halves", got.clone(), vec![153, 153, 179, 205, 205, 205, 205, 205])?;
    found(&got)
}

/// So many primitives in one pass that a tile-based GPU may draw tiles in between: Tuff keeps the samples (the
/// specification would let them go).
fn many(rig: &Rig) -> Found {
    let (image, p) = (rig.image(target())?, boxes(rig)?);
    let near = |r: Rectangle| Rectangle { to: 2.5, from: 2.0, ..r };
    rig.run(|d, c| {
        fill(d, c, &image, 51);
        colour_pass(d, c, colour(&image, Load::LOAD), vk::RenderingFlags::empty(), || {
            for _ in 0..8 {
                near(left(153)).draw(d, c, &p, 1 << 16);
            }
            left(153).draw(d, c, &p, 1 << 16);
            right(205).draw(d, c, &p, 1);
        });
    })?;
    let got = rig.reds(&image)?;
    same("samples of both halves", got.clone(), vec![153, 153, 179, 205, 205, 205, 205, 205])?;
    found(&got)
}

//! Attachments that the modelled GPU compresses, through the loader: what they take, worked out by hand.

use crate::knobs::bench::graphics;
use crate::model::{Counted, SIDE};
use ash::vk;
use vk::ImageUsageFlags as Usage;

const WRITTEN: [&str; 1] = ["Output external write bytes"];
const READ: [&str; 1] = ["Fragment front-end read bytes from external memory"];
/// Of the target: in superblocks of 16 × 16 pixels with a header of 16 bytes each, and as it is.
const HEADERS: f64 = (SIDE * SIDE / 256 * 16) as f64;
const RAW: f64 = (SIDE * SIDE * 4) as f64;

/// All of a target's pixels get a colour, by what is done in a pass and not by how it begins.
fn paint(d: &ash::Device, c: vk::CommandBuffer, side: u32, red: f32) {
    let color = vk::ClearColorValue { float32: [red, 0.0, 0.0, 1.0] };
    let attachment = [vk::ClearAttachment {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        color_attachment: 0,
        clear_value: vk::ClearValue { color },
    }];
    let extent = vk::Extent2D { width: side, height: side };
    let rect = vk::Rect2D { extent, ..Default::default() };
    let rects = [vk::ClearRect { rect, base_array_layer: 0, layer_count: 1 }];
    unsafe { d.cmd_clear_attachments(c, &attachment, &rects) };
}

const NONE: vk::RenderingFlags = vk::RenderingFlags::empty();

#[test]
fn one_colour_takes_headers() {
    let m = Counted::new();
    let sizes = |usage: Usage| {
        let target = m.g.image([SIDE; 2], usage);
        let cleared = m.count(WRITTEN, |d, c| Counted::pass_over(target.view, d, c, NONE, 0.25, || ()))[0];
        let painted = m.count(WRITTEN, |d, c| {
            Counted::pass_over(target.view, d, c, NONE, 0.25, || paint(d, c, SIDE, 0.5));
        })[0];
        // Again it is what memory holds: it is not written.
        let again = m.count(WRITTEN, |d, c| Counted::pass_over(target.view, d, c, NONE, 0.5, || ()))[0];
        let colour = [vk::RenderingAttachmentInfo::default()
            .image_view(target.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::LOAD)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D {
                extent: vk::Extent2D { width: SIDE, height: SIDE },
                ..Default::default()
            })
            .layer_count(1)
            .color_attachments(&colour);
        let read = m.count(READ, |d, c| unsafe {
            d.cmd_begin_rendering(c, &info);
            paint(d, c, SIDE, 0.75);
            d.cmd_end_rendering(c);
        })[0];
        m.g.free_image(target);
        [cleared, painted, again, read]
    };
    assert_eq!(sizes(Usage::COLOR_ATTACHMENT), [HEADERS, HEADERS, 0.0, HEADERS]);
    // What a shader may store to is not compressed.
    assert_eq!(sizes(Usage::COLOR_ATTACHMENT | Usage::STORAGE), [RAW, RAW, 0.0, RAW]);
    m.free();
}

/// White, but for the leftmost pixel of each row, which is grey: 127 less in four bytes.
#[test]
fn blocks_take_what_their_pixels_differ_by() {
    let m = Counted::new();
    let d = &m.g.device;
    let target = m.g.image([SIDE; 2], Usage::COLOR_ATTACHMENT);
    let codes = [&include_bytes!("shaders/heavy.vert.spv")[..], include_bytes!("shaders/heavy.frag.spv")];
    unsafe {
        let modules = codes.map(|code| {
            let code = shader::words(code);
            d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None).unwrap()
        });
        let push =
            [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::FRAGMENT, offset: 0, size: 4 }];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        let layout = d.create_pipeline_layout(&info, None).unwrap();
        let pipeline = graphics(d, layout, modules, [SIDE; 2], 0);
        let written = m.count(WRITTEN, |d, c| {
            Counted::pass_over(target.view, d, c, NONE, 0.0, || {
                d.cmd_bind_pipeline(c, vk::PipelineBindPoint::GRAPHICS, pipeline);
                d.cmd_push_constants(c, layout, vk::ShaderStageFlags::FRAGMENT, 0, &[0; 4]);
                let extent = vk::Extent2D { width: SIDE, height: SIDE };
                d.cmd_set_scissor(c, 0, &[vk::Rect2D { extent, ..Default::default() }]);
                d.cmd_draw(c, 3, 1, 0, 0);
            });
        })[0];
        // Of the eight superblocks at the left four blocks have a pixel and seven bits of three bytes for fifteen others (alpha is added to
        // one, so it is the same everywhere), and twelve a pixel. Positions, 48 bytes, are a line, and sixteen tiles' references, 128
        // bytes, two.
        let block = 4.0 + (7.0 * 3.0 * 15.0 / 8.0f64).ceil();
        let payload = 8.0 * (4.0 * block + 12.0 * 4.0);
        let geometry = 64.0 + 128.0;
        assert_eq!(written, HEADERS + payload + geometry);
        d.destroy_pipeline(pipeline, None);
        d.destroy_pipeline_layout(layout, None);
        modules.into_iter().for_each(|m| d.destroy_shader_module(m, None));
    }
    m.g.free_image(target);
    m.free();
}

/// Of 256 regions few are looked at; the others are like them.
#[test]
fn what_nobody_looks_at_is_like_the_rest() {
    const LARGE: u32 = 1024;
    let m = Counted::new();
    let target = m.g.image([LARGE; 2], Usage::COLOR_ATTACHMENT);
    let colour = [vk::RenderingAttachmentInfo::default()
        .image_view(target.view)
        .image_layout(vk::ImageLayout::GENERAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)];
    let extent = vk::Extent2D { width: LARGE, height: LARGE };
    let info = vk::RenderingInfo::default()
        .render_area(vk::Rect2D { extent, ..Default::default() })
        .layer_count(1)
        .color_attachments(&colour);
    let written = m.count(WRITTEN, |d, c| unsafe {
        d.cmd_begin_rendering(c, &info);
        paint(d, c, LARGE, 0.5);
        d.cmd_end_rendering(c);
    })[0];
    assert_eq!(written, (LARGE * LARGE / 256 * 16) as f64);
    m.g.free_image(target);
    m.free();
}

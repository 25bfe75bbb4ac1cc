//! VK_EXT_shader_tile_image: fragments read the attachments that they draw to, before their own tests.

use super::rig::{RGBA8, Rectangle, Rig, SIDE};
use super::{Check, Found, found, same, text};
use client::graphics::{Attachment, ImageInfo, Load, Pass};

pub fn checks() -> Vec<Check> {
    let check = |name, run| Check { name, of: ash::ext::shader_tile_image::NAME, run };
    vec![check("tile_reads", |rig| reads(rig, 1)), check("tile_reads_of_samples", |rig| reads(rig, 4))]
}

const TILE: &[u8] = include_bytes!("../../shaders/extensions/tile.frag.spv");

/// Rectangles that add a 255th to red, leave in green what depth they found and in blue what stencil. Depth is cleared to 1
/// and drawn at ½; stencil begins with 3 and every rectangle adds one. Of several samples each is shaded, and reads itself.
fn reads(rig: &Rig, samples: u32) -> Found {
    let format = vk::Format::D32_SFLOAT_S8_UINT;
    let face = vk::StencilOpState {
        pass_op: vk::StencilOp::INCREMENT_AND_CLAMP,
        compare_op: vk::CompareOp::ALWAYS,
        compare_mask: 0xFF,
        write_mask: 0xFF,
        ..Default::default()
    };
    let p = rig.boxes(|i| {
        (i.fragment, i.samples, i.sample_shading) = (Some(TILE), samples, samples > 1);
        (i.depth_format, i.depth) = (format, Some((vk::CompareOp::LESS_OR_EQUAL, true)));
        (i.stencil_format, i.stencil) = (format, Some([face; 2]));
    })?;
    let mut all = Vec::new();
    for (count, want) in [(1, [1, 255, 3, 255]), (6, [6, 128, 8, 255])] {
        let colour = rig.image(ImageInfo { samples, ..ImageInfo::colour(RGBA8, [SIDE; 2]) })?;
        let one = rig.image(ImageInfo::colour(RGBA8, [SIDE; 2]))?;
        let depth = rig.image(ImageInfo { samples, ..ImageInfo::depth(format, [SIDE; 2]) })?;
        rig.run(|d, c| {
            let to = Attachment::new(&colour, Load::colour([0.0; 4]));
            let to = Attachment { resolve: (samples > 1).then_some(&one), ..to };
            let ds = Attachment::new(&depth, Load::depth(1.0, 3));
            let pass = Pass { colours: vec![to], size: [SIDE; 2], ..Default::default() };
            Pass { depth: Some(ds), stencil: Some(ds), ..pass }.record(d, c, |d, c| {
                Rectangle { from: 0.0, to: 8.0, value: 0, depth: 0.5 }.draw(d, c, &p, count);
            });
        })?;
        let drawn = if samples > 1 { &one } else { &colour };
        let bytes = drawn.read(vk::ImageAspectFlags::COLOR, 4).map_err(text)?;
        same("the pixels", bytes.clone(), want.repeat((SIDE * SIDE) as usize))?;
        all.extend(bytes);
    }
    found(&all)
}

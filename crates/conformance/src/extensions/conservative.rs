//! VK_EXT_conservative_rasterization: rectangles of two triangles, which meet on the line from the upper left corner to the
//! lower right one; row 4 of 8.

use super::rig::{RGBA8, Rectangle, Rig, SIDE};
use super::{Check, Found, found, same, text};
use client::graphics::{Attachment, ImageInfo, Load, Pass};
use vk::ConservativeRasterizationModeEXT as Mode;

pub fn checks() -> Vec<Check> {
    vec![Check { name: "conservative_rectangles", of: ash::ext::conservative_rasterization::NAME, run }]
}

const FULL: &[u8] = include_bytes!("../../shaders/extensions/full.frag.spv");

/// Red of row 4.
fn drawn(
    rig: &Rig,
    (from, to): (f32, f32),
    mode: Mode,
    extra: f32,
    fragment: Option<&'static [u8]>,
) -> Result<Vec<u8>, String> {
    let states = ash::ext::extended_dynamic_state3::Device::new(&rig.context.instance, &rig.context.device);
    let image = rig.image(ImageInfo::colour(RGBA8, [SIDE; 2]))?;
    let p = rig.boxes(|i| {
        i.fragment = fragment.or(i.fragment);
        i.dynamic = vec![
            vk::DynamicState::CONSERVATIVE_RASTERIZATION_MODE_EXT,
            vk::DynamicState::EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT,
        ];
    })?;
    rig.run(|d, c| {
        let to_image = Attachment::new(&image, Load::colour([0.0; 4]));
        Pass { colours: vec![to_image], size: [SIDE; 2], ..Default::default() }.record(d, c, |d, c| {
            p.bind(c, None, &[]);
            // SAFETY: recording; the states are dynamic.
            unsafe {
                states.cmd_set_conservative_rasterization_mode(c, mode);
                states.cmd_set_extra_primitive_overestimation_size(c, extra);
            }
            Rectangle { from, to, value: 255, depth: 0.5 }.draw(d, c, &p, 1);
        });
    })?;
    let bytes = image.read(vk::ImageAspectFlags::COLOR, 4).map_err(text)?;
    let row = 4 * SIDE as usize;
    Ok(bytes[4 * row..5 * row].chunks(4).map(|p| p[0]).collect())
}

fn run(rig: &Rig) -> Found {
    let cases = [
        // No pixel's centre; touched; touched when half a pixel is added: 2.1 to 3.4.
        ((2.6, 2.9), Mode::DISABLED, 0.0, None, [0; 8]),
        ((2.6, 2.9), Mode::OVERESTIMATE, 0.0, None, [0, 0, 255, 0, 0, 0, 0, 0]),
        ((2.6, 2.9), Mode::OVERESTIMATE, 0.5, None, [0, 0, 255, 255, 0, 0, 0, 0]),
        // The two triangles meet between 4.5 and 5.25: pixels 2 and 3 lie in the lower one, 6 in the upper one.
        ((1.5, 7.5), Mode::UNDERESTIMATE, 0.0, None, [0, 0, 255, 255, 0, 0, 255, 0]),
        // The lower triangle touches pixels 1 to 5 after the upper one has touched 4 to 7.
        ((1.5, 7.5), Mode::OVERESTIMATE, 0.0, Some(FULL), [0, 51, 255, 255, 51, 51, 255, 51]),
    ];
    let mut all = Vec::new();
    for (columns, mode, extra, fragment, want) in cases {
        let got = drawn(rig, columns, mode, extra, fragment)?;
        same(&format!("{columns:?} {mode:?} {extra}"), got.clone(), want.to_vec())?;
        all.extend(got);
    }
    found(&all)
}

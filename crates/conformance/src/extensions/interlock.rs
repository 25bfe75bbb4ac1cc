//! VK_EXT_fragment_shader_interlock: fragments of a pixel, one after the other and in the order of primitives.

use super::rig::{RGBA8, Rectangle, Rig, SIDE};
use super::{Check, Found, same, text};
use client::Buffer;
use client::graphics::{Attachment, Bindings, ImageInfo, Load, Pass, Resource};

pub fn checks() -> Vec<Check> {
    let check = |name, run| Check { name, of: ash::ext::fragment_shader_interlock::NAME, run };
    vec![check("interlock_in_order", ordered), check("interlock_of_samples", samples)]
}

const NUMBERED: &[u8] = include_bytes!("../../shaders/extensions/numbered.vert.spv");
const ORDERED: &[u8] = include_bytes!("../../shaders/extensions/ordered.frag.spv");
const COUNTED: &[u8] = include_bytes!("../../shaders/extensions/counted.frag.spv");
const PIXELS: usize = (SIDE * SIDE) as usize;

/// Six rectangles in one draw, each of which makes c of each pixel 3 · c plus its number: 0, 1, 5, 18, 58, 179.
fn ordered(rig: &Rig) -> Found {
    let buffer = Buffer::with(&rig.context, &[0; 4 * PIXELS]).map_err(text)?;
    let bindings = Bindings::new(&rig.context, &[Resource::Storage(&buffer)]).map_err(text)?;
    let image = rig.image(ImageInfo::colour(RGBA8, [SIDE; 2]))?;
    let p = rig.boxes_with(Some(&bindings), |i| (i.vertex, i.fragment) = (NUMBERED, Some(ORDERED)))?;
    rig.run(|d, c| {
        let to = Attachment::new(&image, Load::colour([0.0; 4]));
        Pass { colours: vec![to], size: [SIDE; 2], ..Default::default() }.record(d, c, |d, c| {
            let all = Rectangle { from: 0.0, to: 8.0, value: 0, depth: 0.5 };
            p.bind(c, Some(&bindings), &all.push());
            // SAFETY: recording with everything bound.
            unsafe { d.cmd_draw(c, 6, 6, 0, 0) };
        });
    })?;
    same("each pixel's", buffer.words().to_vec(), vec![179; PIXELS])?;
    Ok(buffer.words().iter().map(|&w| w.into()).collect())
}

/// With four samples shaded each, six rectangles count 24 at each pixel.
fn samples(rig: &Rig) -> Found {
    let buffer = Buffer::with(&rig.context, &[0; 4 * PIXELS]).map_err(text)?;
    let bindings = Bindings::new(&rig.context, &[Resource::Storage(&buffer)]).map_err(text)?;
    let image = rig.image(ImageInfo { samples: 4, ..ImageInfo::colour(RGBA8, [SIDE; 2]) })?;
    let p = rig.boxes_with(Some(&bindings), |i| (i.fragment, i.samples) = (Some(COUNTED), 4))?;
    rig.run(|d, c| {
        let to = Attachment::new(&image, Load::colour([0.0; 4]));
        Pass { colours: vec![to], size: [SIDE; 2], ..Default::default() }.record(d, c, |d, c| {
            let all = Rectangle { from: 0.0, to: 8.0, value: 0, depth: 0.5 };
            p.bind(c, Some(&bindings), &all.push());
            // SAFETY: as above.
            unsafe { d.cmd_draw(c, 6, 6, 0, 0) };
        });
    })?;
    same("each pixel's", buffer.words().to_vec(), vec![24; PIXELS])?;
    Ok(buffer.words().iter().map(|&w| w.into()).collect())
}

//! VK_KHR_fragment_shader_barycentric: weights and vertices of the upper right half of a square, whose corners are its upper
//! left, upper right and lower right one (numbers 0, 1 and 2).

use super::rig::{RGBA8, Rectangle, Rig, SIDE};
use super::{Check, Found, found, same, text};
use client::graphics::{Attachment, ImageInfo, Load, Pass};

pub fn checks() -> Vec<Check> {
    vec![Check { name: "weights_and_vertices", of: ash::khr::fragment_shader_barycentric::NAME, run }]
}

const NUMBERED: &[u8] = include_bytes!("../../shaders/extensions/numbered.vert.spv");
const WEIGHTS: &[u8] = include_bytes!("../../shaders/extensions/weights.frag.spv");
const VERTICES: &[u8] = include_bytes!("../../shaders/extensions/vertices.frag.spv");

/// The first row's pixels, red and green.
fn drawn(rig: &Rig, vertex: Option<&'static [u8]>, fragment: &'static [u8]) -> Result<Vec<[u8; 2]>, String> {
    let image = rig.image(ImageInfo::colour(RGBA8, [SIDE; 2]))?;
    let p = rig.boxes(|i| {
        i.vertex = vertex.unwrap_or(i.vertex);
        i.fragment = Some(fragment);
    })?;
    rig.run(|d, c| {
        let to = Attachment::new(&image, Load::colour([0.0; 4]));
        Pass { colours: vec![to], size: [SIDE; 2], ..Default::default() }.record(d, c, |d, c| {
            Rectangle { from: 0.0, to: 8.0, value: 0, depth: 0.5 }.draw(d, c, &p, 1);
        });
    })?;
    let bytes = image.read(vk::ImageAspectFlags::COLOR, 4).map_err(text)?;
    Ok(bytes[..4 * SIDE as usize].chunks(4).map(|p| [p[0], p[1]]).collect())
}

fn run(rig: &Rig) -> Found {
    // At the centre of pixel x of the first row: the second vertex weighs x / 8, the third 1 / 16.
    let weights = drawn(rig, None, WEIGHTS)?;
    let want: Vec<_> = (0..8).map(|x| [(x as f64 / 8.0 * 255.0 + 0.5) as u8, 16]).collect();
    same("weights", weights.clone(), want)?;
    // 0 + 10 · 1 + 50 · 2
    let vertices = drawn(rig, Some(NUMBERED), VERTICES)?;
    same("vertices", vertices.clone(), vec![[110; 2]; 8])?;
    let all: Vec<u8> = weights.into_iter().chain(vertices).flatten().collect();
    found(&all)
}

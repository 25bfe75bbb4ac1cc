//! VK_EXT_post_depth_coverage: which samples a fragment is told of.
//!
//! Samples 0 and 2 of pixel 2 lie behind what is there. The input SampleMask is what rasterisation covered, 15, however
//! early depth is tested; with PostDepthCoverage it is what the tests left, samples 1 and 3: 10.

use super::rig::{RGBA8, Rectangle, Rig, SIDE};
use super::single_sampled::left;
use super::{Check, Found, same};
use client::graphics::{Attachment, ImageInfo, Load, Pass};

pub fn checks() -> Vec<Check> {
    vec![Check { name: "coverage_before_and_after_depth", of: ash::ext::post_depth_coverage::NAME, run }]
}

const MASK: &[u8] = include_bytes!("../../shaders/extensions/mask.frag.spv");
const EARLY: &[u8] = include_bytes!("../../shaders/extensions/mask_early.frag.spv");
const POST: &[u8] = include_bytes!("../../shaders/extensions/mask_post.frag.spv");

fn run(rig: &Rig) -> Found {
    let depth = vk::Format::D32_SFLOAT;
    let resolved = rig.image(ImageInfo::colour(RGBA8, [SIDE; 2]))?;
    let several = rig.image(ImageInfo { samples: 4, ..ImageInfo::colour(RGBA8, [SIDE; 2]) })?;
    let z = rig.image(ImageInfo { samples: 4, ..ImageInfo::depth(depth, [SIDE; 2]) })?;
    let less = Some((vk::CompareOp::LESS, true));
    let first = rig.boxes(|i| (i.samples, i.depth_format, i.depth) = (4, depth, less))?;
    let mut all = Vec::new();
    // Shaders write 16 times the mask; half of pixel 2's samples take it.
    for (name, fragment, want) in [("implied", MASK, 120), ("early", EARLY, 120), ("after", POST, 80)] {
        let second = rig.boxes(|i| {
            (i.samples, i.depth_format, i.depth) = (4, depth, less);
            i.fragment = Some(fragment);
        })?;
        rig.run(|d, c| {
            let colour =
                Attachment { resolve: Some(&resolved), ..Attachment::new(&several, Load::colour([0.0; 4])) };
            let pass = Pass {
                colours: vec![colour],
                depth: Some(Attachment::new(&z, Load::depth(1.0, 0))),
                size: [SIDE; 2],
                ..Default::default()
            };
            pass.record(d, c, |d, c| {
                left(0).draw(d, c, &first, 1);
                Rectangle { from: 0.0, to: 7.5, value: 0, depth: 0.5 }.draw(d, c, &second, 1);
            });
        })?;
        let got = rig.reds(&resolved)?;
        // Pixel 7 is covered in samples 0 and 2: a mask of 5, in two of four samples.
        same(name, got.clone(), vec![0, 0, want, 240, 240, 240, 240, 40])?;
        all.extend(got.iter().map(|&v| u64::from(v)));
    }
    Ok(all)
}

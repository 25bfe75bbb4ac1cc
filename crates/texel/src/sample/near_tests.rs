//! Warps whose texels lie close together, against the general path.

use super::tests::{fill, make, plain, sampler, wave_agrees};
use super::*;
use crate::for_tests::{bound_image, info_2d};
use ash::vk;
use std::collections::BTreeSet;

/// Magnified images, flipped and turned, of all sizes around the four columns and rows that are loaded at once.
#[test]
fn magnified() {
    use vk::SamplerAddressMode as M;
    let mut x = 5u32;
    let mut unit = move || {
        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        (x >> 8) as f32 / (1 << 24) as f32
    };
    for format in [vk::Format::R8G8B8A8_UNORM, vk::Format::B8G8R8A8_SRGB] {
        for (w, h) in [(1, 1), (3, 7), (4, 1), (4, 2), (5, 3), (8, 4), (9, 33), (64, 32)] {
            let image = bound_image(&info_2d(format, w, h));
            let data: Vec<u8> = (0..w * h * 4).map(|_| (unit() * 256.0) as u8).collect();
            fill(&image, 0, 0, &data);
            let mut general = plain(&image, vk::ImageViewType::TYPE_2D);
            general.wide = false;
            general.fast.iter_mut().for_each(|f| f.off = true);
            for machine in simd::Level::tested() {
                let mut v = plain(&image, vk::ImageViewType::TYPE_2D);
                v.fast = v.fast.and_then(|f| f.on(image.format.kind, machine));
                if v.fast.is_none() {
                    continue;
                }
                for case in 0..300 {
                    let wraps = [M::REPEAT, M::CLAMP_TO_EDGE, M::MIRRORED_REPEAT];
                    let s = make(sampler(vk::Filter::LINEAR, wraps[case % 3]));
                    // Texels from one pixel to the next, along a row and down a column.
                    let step = [0.3, 0.6, 0.9, 1.3][case / 3 % 4];
                    let turned = if case % 5 == 0 { 0.3 } else { 0.0 };
                    let sign = |bit: usize| if case >> bit & 1 == 0 { step } else { -step };
                    let from = [unit() * 3.0 - 1.0, unit() * 3.0 - 1.0];
                    let mut c = [[0u32; 16]; 2];
                    for lane in 0..16 {
                        let px = (lane >> 1 & 2 | lane & 1) as f32;
                        let py = (lane >> 2 & 2 | lane >> 1 & 1) as f32;
                        c[0][lane] = (from[0] + (px * sign(3) + py * turned) / w as f32).to_bits();
                        c[1][lane] = (from[1] + (py * sign(4) + px * turned) / h as f32).to_bits();
                    }
                    if case % 7 == 0 {
                        c[case & 1][case % 16] = (unit() * 9.0).to_bits();
                    }
                    let args = SampleArgs { dims: 2, coords: &c, ..Default::default() };
                    let mask = if case % 2 == 0 { 0xFFFF } else { (unit() * 65536.0) as u16 | 1 };
                    let mut want = [[0; 16]; 4];
                    sample_warp(&general, &s, &args, mask, &mut want);
                    let touched = Touched::default();
                    touched.sample(&general, &s, &args, mask);
                    let lines: BTreeSet<u64> = touched.into_lines().into_iter().collect();
                    assert!(wave_agrees(&v, &s, &args, mask, &want, lines.len() as u64), "{w} {h} {case}");
                }
            }
        }
    }
}

//! Warps whose texels lie close together, against the general path.

use super::tests::{fill, make, plain, sampler, wave_agrees};
use super::*;
use crate::for_tests::{bound_image, info_2d};
use ash::vk;
use random::Random;
use std::collections::BTreeSet;

/// Magnified images, flipped and turned, of all sizes around the four columns and rows that are loaded at once.
#[test]
fn magnified() {
    // Kernels that are not optimised want more stack than a test has.
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    thread.spawn(magnify).unwrap().join().unwrap();
}

fn magnify() {
    use vk::SamplerAddressMode as M;
    let mut r = Random::new(5);
    let mut unit = move || r.unit();
    use vk::Format as F;
    let sizes = [(1u32, 1u32), (3, 7), (4, 1), (4, 2), (5, 3), (8, 4), (9, 33), (64, 32)];
    for format in
        [F::R8_UNORM, F::R8G8B8A8_UNORM, F::B8G8R8A8_SRGB, F::R16G16B16A16_SFLOAT, F::R32G32B32A32_SFLOAT]
    {
        let sizes = sizes.into_iter().flat_map(|(w, h)| [(w, h, 1), (w, h, w.max(h).ilog2() + 1)]);
        for ((w, h, levels), layers) in sizes.flat_map(|size| [(size, 1), (size, 3)]) {
            use vk::ImageViewType as V;
            let of = if layers > 1 { V::TYPE_2D_ARRAY } else { V::TYPE_2D };
            let image = bound_image(&info_2d(format, w, h).mip_levels(levels).array_layers(layers));
            for (level, layer) in (0..levels).flat_map(|level| (0..layers).map(move |layer| (level, layer))) {
                let texels = (w >> level).max(1) * (h >> level).max(1);
                // No infinities.
                let data: Vec<u8> = (0..texels * image.format.block_bytes)
                    .map(|_| (unit() * 256.0) as u8 & if image.format.block_bytes > 4 { 0x7B } else { 0xFF })
                    .collect();
                fill(&image, level, layer, &data);
            }
            let mut general = plain(&image, of);
            general.wide = false;
            general.fast.iter_mut().for_each(|f| f.off = true);
            for machine in simd::Level::tested() {
                let mut v = plain(&image, of);
                v.fast = v.fast.and_then(|f| f.on(machine));
                if v.fast.is_none() {
                    continue;
                }
                for case in 0..if layers > 1 { 90 } else { 300 } {
                    let wraps = [M::REPEAT, M::CLAMP_TO_EDGE, M::MIRRORED_REPEAT];
                    let mode = [vk::SamplerMipmapMode::LINEAR, vk::SamplerMipmapMode::NEAREST][case / 2 % 2];
                    let s = make(sampler(vk::Filter::LINEAR, wraps[case % 3]).mipmap_mode(mode).max_lod(9.0));
                    // Texels from one pixel to the next, along a row and down a column.
                    let step = [0.3, 0.6, 0.9, 1.3][case / 3 % 4] * if levels > 1 { 2.0 } else { 1.0 };
                    let turned = if case % 5 == 0 { 0.3 } else { 0.0 };
                    let sign = |bit: usize| if case >> bit & 1 == 0 { step } else { -step };
                    let from = [unit() * 3.0 - 1.0, unit() * 3.0 - 1.0];
                    // A layer, beyond the last one too; below, lanes of others.
                    let mut c = [[0u32; 16], [0; 16], [((case % 5) as f32).to_bits(); 16]];
                    for lane in 0..16 {
                        let px = (lane >> 1 & 2 | lane & 1) as f32;
                        let py = (lane >> 2 & 2 | lane >> 1 & 1) as f32;
                        c[0][lane] = (from[0] + (px * sign(3) + py * turned) / w as f32).to_bits();
                        c[1][lane] = (from[1] + (py * sign(4) + px * turned) / h as f32).to_bits();
                    }
                    if case % 11 == 0 {
                        c[2][case % 16] = 1f32.to_bits();
                    }
                    if case % 7 == 0 {
                        c[case & 1][case % 16] = (unit() * 9.0).to_bits();
                    }
                    // One level, or two.
                    let lod = std::array::from_fn(|_| (1.1 * unit() + (case % 4) as f32 - 0.5).to_bits());
                    let lod = (levels > 1 && case % 3 == 1).then_some(&lod);
                    let arrayed = layers > 1;
                    let coords = &c[..2 + arrayed as usize];
                    let args = SampleArgs { dims: 2, arrayed, coords, lod, ..Default::default() };
                    let mask = if case % 2 == 0 { 0xFFFF } else { (unit() * 65536.0) as u16 | 1 };
                    let mut want = [[0; 16]; 4];
                    sample_warp(&general, &s, &args, mask, &mut want);
                    let touched = Touched::default();
                    touched.sample(&general, &s, &args, mask);
                    let lines: BTreeSet<u64> = touched.into_lines().into_iter().collect();
                    let agrees = wave_agrees(&v, &s, &args, mask, &want, lines.len() as u64);
                    assert!(agrees, "{w} {h} {levels} {case}");
                }
            }
        }
    }
}

/// Shadow maps: places inside, across each edge and far out, references equal to texels among them, every comparison.
#[test]
fn compared() {
    use vk::{Format as F, SamplerAddressMode as M};
    let mut r = Random::new(9);
    let mut unit = move || r.unit();
    let sizes = [(1u32, 1u32), (1, 5), (2, 2), (3, 7), (16, 9)];
    let formats = [F::D16_UNORM, F::X8_D24_UNORM_PACK32, F::D32_SFLOAT];
    for ((w, h), format) in sizes.into_iter().flat_map(|size| formats.map(|f| (size, f))) {
        let image = bound_image(&info_2d(format, w, h));
        let word = |z: f32| match format {
            F::D16_UNORM => ((z * 65535.0) as u32).to_le_bytes()[..2].to_vec(),
            F::D32_SFLOAT => z.to_le_bytes().to_vec(),
            _ => ((z * 16777215.0) as u32 | 0xAB00_0000).to_le_bytes().to_vec(),
        };
        // Few depths: references meet them.
        let data: Vec<u8> = (0..w * h).flat_map(|_| word((unit() * 5.0).floor() / 4.0)).collect();
        fill(&image, 0, 0, &data);
        let mut general = plain(&image, vk::ImageViewType::TYPE_2D);
        general.wide = false;
        general.fast.iter_mut().for_each(|f| f.off = true);
        for machine in simd::Level::tested() {
            let mut v = plain(&image, vk::ImageViewType::TYPE_2D);
            v.fast = v.fast.and_then(|f| f.on(machine));
            if v.fast.is_none() {
                continue;
            }
            for case in 0..400 {
                let wraps = [M::REPEAT, M::CLAMP_TO_EDGE, M::MIRRORED_REPEAT, M::CLAMP_TO_BORDER];
                let filter = [vk::Filter::LINEAR, vk::Filter::NEAREST][(case % 9 == 0) as usize];
                let s = make(
                    sampler(filter, wraps[case % 4])
                        .border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE)
                        .compare_enable(case % 13 != 0)
                        .compare_op(vk::CompareOp::from_raw((case / 4 % 8) as i32)),
                );
                // Places in the middle, about an edge, anywhere.
                let [reach, centre] = [[0.2, 0.5], [0.6, 0.9], [1.2, 0.5], [9.0, 0.0]][case / 5 % 4];
                let mut c = [[0u32; 16]; 2];
                let mut dref = [0; 16];
                for lane in 0..16 {
                    (0..2).for_each(|k| c[k][lane] = (centre + (unit() - 0.5) * reach).to_bits());
                    dref[lane] = ((unit() * 7.0).floor() / 4.0 - 0.25).to_bits();
                }
                let mask = if case % 2 == 0 { 0xFFFF } else { (unit() * 65536.0) as u16 | 1 };
                if case % 3 == 0 && mask != 0xFFFF {
                    // A lane that takes no part.
                    let idle = (!mask).trailing_zeros() as usize;
                    (c[0][idle], c[1][idle], dref[idle]) = (u32::MAX, 0xFF80_0000, u32::MAX);
                }
                let args = SampleArgs { dims: 2, coords: &c, dref: Some(&dref), ..Default::default() };
                let mut want = [[0; 16]; 4];
                sample_warp(&general, &s, &args, mask, &mut want);
                let touched = Touched::default();
                touched.sample(&general, &s, &args, mask);
                let lines: BTreeSet<u64> = touched.into_lines().into_iter().collect();
                let agrees = wave_agrees(&v, &s, &args, mask, &want, lines.len() as u64);
                assert!(agrees, "{w} {h} {format:?} {case} {machine:?}");
            }
        }
    }
}

/// A whole wave, some of whose warps are without lanes.
#[test]
fn nearest_of_whole_waves() {
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    thread.spawn(sample_nearest).unwrap().join().unwrap();
}

fn sample_nearest() {
    let image = bound_image(&info_2d(vk::Format::R8G8B8A8_UNORM, 37, 19));
    let data: Vec<u8> = (0..37 * 19 * 4u32).map(|i| (i.wrapping_mul(2654435761) >> 24) as u8).collect();
    fill(&image, 0, 0, &data);
    let s = make(sampler(vk::Filter::NEAREST, vk::SamplerAddressMode::REPEAT));
    for machine in simd::Level::tested() {
        let mut v = plain(&image, vk::ImageViewType::TYPE_2D);
        v.fast = v.fast.and_then(|f| f.on(machine));
        let mut exec = [0u16; 32];
        let mut rows = [[[0u32; 16]; 16]; 4];
        for w in 0..16 {
            exec[w] = [0xFFFF, 0x00F1, 0xFFFF, 0][w % 4];
            for lane in 0..16 {
                rows[0][w][lane] = (w as f32 * 0.37 + lane as f32 * 0.11 - 2.0).to_bits();
                rows[1][w][lane] = (w as f32 * 0.05 - lane as f32 * 0.31).to_bits();
            }
        }
        let mut want = rows;
        for w in (0..16).filter(|w| *w != 5) {
            let c = [rows[0][w], rows[1][w]];
            let args = SampleArgs { dims: 2, coords: &c, ..Default::default() };
            let mut out = want.map(|r| r[w]);
            sample_warp(&v, &s, &args, exec[w], &mut out);
            (0..4).for_each(|k| want[k][w] = out[k]);
        }
        let at: [*mut u8; 4] = std::array::from_fn(|k| rows[k].as_mut_ptr().cast());
        let wave = simd::rows::ImageRows {
            live: 0xFFFF & !(1 << 5),
            exec: &exec,
            coords: at.map(|at| simd::rows::Rows { at, step: 64 }),
            lod: None,
            levels: Default::default(),
            dref: None,
            data: [simd::rows::Rows::NONE; 4],
            out: at,
            lines: None,
            holes: None,
        };
        // SAFETY: rows of sixteen warps.
        let done = unsafe { sample_wave(&v, &s, 2, false, &wave) };
        assert!(done || v.fast.is_none());
        assert!(!done || rows == want, "{machine:?}");
    }
}

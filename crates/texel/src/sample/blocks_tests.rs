//! Images that lie in sparse image blocks, against the same in rows.

#[cfg(unix)]
use super::tests::view;
use super::tests::{fill, make, plain, sampler, wave_agrees};
use super::*;
use crate::for_tests::{bound_image, info_2d, space};
use crate::image::Image;
use crate::memory::DeviceMemory;
use crate::memory::sparse::{BLOCK, resident};
use ash::vk;
use random::Random;
use simd::rows::{Holes, ImageRows, Rows};
use std::collections::BTreeSet;
use std::sync::Arc;

/// An image that lies in sparse image blocks gives what one in rows does: samples, fetches, and blocks of compressed texels.
// (Memory that others share, or that sparse resources have.)
#[cfg(unix)]
#[test]
fn blocks_of_memory_change_no_texel() {
    let mut r = Random::new(7);
    let mut random = move || r.u32() >> 8;
    let (flat, solid) = (vk::ImageViewType::TYPE_2D, vk::ImageViewType::TYPE_3D);
    let deep = vk::ImageCreateInfo {
        image_type: vk::ImageType::TYPE_3D,
        extent: vk::Extent3D { width: 70, height: 40, depth: 35 },
        ..info_2d(vk::Format::R8_UNORM, 70, 40)
    };
    for (info, t) in [
        (info_2d(vk::Format::R8G8B8A8_UNORM, 300, 140).mip_levels(3), flat),
        (info_2d(vk::Format::R32G32_SFLOAT, 130, 65), flat),
        (info_2d(vk::Format::BC1_RGBA_UNORM_BLOCK, 520, 260), flat),
        (deep, solid),
    ] {
        let flags = vk::ImageCreateFlags::SPARSE_BINDING | vk::ImageCreateFlags::SPARSE_RESIDENCY;
        let images = [bound_image(&info), bound_image(&vk::ImageCreateInfo { flags, ..info })];
        assert!(!images[1].surface(vk::ImageAspectFlags::COLOR, 0).unwrap().split.is_none());
        for mip in 0..info.mip_levels {
            let s = images[0].surface(vk::ImageAspectFlags::COLOR, mip).unwrap();
            let n = s.blocks.iter().product::<u32>() * s.format.block_bytes;
            let data: Vec<u8> = (0..n).map(|_| random() as u8 & 0x7b).collect();
            images.iter().for_each(|i| fill(i, mip, 0, &data));
        }
        let views = images.map(|i| view(&i, t, Default::default()));
        for case in 0..200u32 {
            let filter = if case % 2 == 0 { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
            let s = make(sampler(filter, vk::SamplerAddressMode::REPEAT));
            let mut c = [[0u32; 16]; 3];
            for a in &mut c {
                a.fill_with(|| ((random() as f32 / (1 << 22) as f32) - 2.0).to_bits());
            }
            let lod = [(case as f32 / 80.0).to_bits(); 16];
            let dims = views[0].dims;
            let args = SampleArgs { dims, coords: &c[..dims], lod: Some(&lod), ..Default::default() };
            let mask = if case % 3 == 0 { 0x0101 } else { 0xffff };
            let sampled = [0, 1].map(|i| {
                let mut out = [[0; 16]; 4];
                sample_warp(&views[i], &s, &args, mask, &mut out);
                out
            });
            assert_eq!(sampled[0], sampled[1], "{:?} {case}", info.format);
            let at: [[u32; 16]; 3] =
                std::array::from_fn(|k| std::array::from_fn(|_| random() % (views[0].levels[0].size[k] + 1)));
            let fetched = [0, 1].map(|i| {
                let (mut lo, mut hi) = ([[0; 16]; 4], [[0; 16]; 4]);
                fetch_warp(
                    &views[i],
                    &at[..dims],
                    None,
                    None,
                    mask,
                    &mut TexelData { lo: &mut lo, hi: &mut hi },
                );
                lo
            });
            assert_eq!(fetched[0], fetched[1], "{:?} {case}", info.format);
        }
    }
}

/// An image in blocks, of which each second one has memory.
fn half_bound(info: &vk::ImageCreateInfo) -> Arc<Image> {
    let image = Image::new(space(), info).unwrap();
    let memory = DeviceMemory::stored(space(), image.size(), 0).unwrap();
    let addresses = image.sparse().unwrap();
    for at in (0..image.size() / BLOCK).step_by(2).map(|n| n * BLOCK) {
        assert!(addresses.bind_part(at, BLOCK, Some((memory.clone(), at))));
    }
    Arc::new(image)
}

/// Samples of waves, by every kernel: the bits of the general path of an image in rows, the lines of the general path of the one in blocks,
/// and the lanes that touch what has no memory.
pub(crate) fn waves_sample_blocks_as_rows(machine: simd::Level) {
    if !crate::memory::sparse::THERE {
        return;
    }
    use vk::Format as F;
    use vk::SamplerAddressMode as M;
    let mut r = Random::new(3);
    let mut unit = move || r.unit();
    for (info, layers) in [
        (info_2d(F::R8_UNORM, 520, 260).mip_levels(2), false),
        (info_2d(F::R8G8B8A8_UNORM, 300, 140).mip_levels(4), false),
        (info_2d(F::B8G8R8A8_UNORM, 257, 129), false),
        (info_2d(F::R8G8B8A8_SRGB, 256, 130).array_layers(2), true),
        (info_2d(F::R16G16B16A16_SFLOAT, 131, 66).mip_levels(2), false),
        (info_2d(F::R32G32B32A32_SFLOAT, 70, 65), false),
        (info_2d(F::R16_UINT, 300, 129), false),
        (info_2d(F::BC1_RGBA_UNORM_BLOCK, 1030, 260).mip_levels(2), false),
        (info_2d(F::BC7_UNORM_BLOCK, 260, 258), false),
    ] {
        let t = if layers { vk::ImageViewType::TYPE_2D_ARRAY } else { vk::ImageViewType::TYPE_2D };
        let flags = vk::ImageCreateFlags::SPARSE_BINDING | vk::ImageCreateFlags::SPARSE_RESIDENCY;
        let images = [bound_image(&info), bound_image(&vk::ImageCreateInfo { flags, ..info })];
        for (mip, layer) in (0..info.mip_levels).flat_map(|m| (0..info.array_layers).map(move |l| (m, l))) {
            let s = images[0].surface(vk::ImageAspectFlags::COLOR, mip).unwrap();
            let n = s.blocks.iter().product::<u32>() * s.format.block_bytes;
            let bits = if s.format.compressed() { 0xFF } else { 0x7B };
            let data: Vec<u8> = (0..n).map(|_| (unit() * 256.0) as u8 & bits).collect();
            images.iter().for_each(|i| fill(i, mip, layer, &data));
        }
        let general = [0, 1].map(|i| {
            let mut v = plain(&images[i], t);
            v.wide = false;
            v.fast.iter_mut().for_each(|f| f.off = true);
            v
        });
        let mut v = plain(&images[1], t);
        v.fast = v.fast.and_then(|f| f.on(machine));
        if v.fast.is_none() {
            return;
        }
        let size = general[0].levels[0].size;
        let holed = [0, 1].map(|_| half_bound(&vk::ImageCreateInfo { flags, ..info }));
        let mut of_holes = holed.each_ref().map(|i| plain(i, t));
        of_holes[0].fast.iter_mut().for_each(|f| f.off = true);
        of_holes[1].fast = of_holes[1].fast.take().and_then(|f| f.on(machine));
        let mut codes = [0; 2];
        for case in 0..96usize {
            let wraps = [M::REPEAT, M::CLAMP_TO_EDGE, M::CLAMP_TO_BORDER, M::MIRRORED_REPEAT];
            let filter = [vk::Filter::LINEAR, vk::Filter::NEAREST][(case % 3 == 2) as usize];
            let mip = [vk::SamplerMipmapMode::LINEAR, vk::SamplerMipmapMode::NEAREST][case / 2 % 2];
            let s = make(
                sampler(filter, wraps[case % 4])
                    .address_mode_v(wraps[case / 4 % 4])
                    .mipmap_mode(mip)
                    .border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE)
                    .anisotropy_enable(case % 5 == 4)
                    .max_anisotropy(4.0),
            );
            // Side by side in a block, across its edges (the first ones are at 64, 128 and 256), here and there.
            let edge = [64.0, 128.0, 256.0][case / 3 % 3];
            let from = [0, 1].map(|k| match case % 6 {
                0 | 1 => unit(),
                2 | 3 => (edge - 2.0 * unit()) / size[k] as f32,
                _ => unit() * 1.5 - 0.25,
            });
            let step = [1.0, 0.3, 2.5, 40.0][case / 8 % 4];
            let mut c = [[0u32; 16]; 3];
            for lane in 0..16 {
                let at = [lane >> 1 & 2 | lane & 1, lane >> 2 & 2 | lane >> 1 & 1].map(|n| n as f32 * step);
                for k in 0..2 {
                    c[k][lane] = (from[k] + at[k] / size[k] as f32).to_bits();
                }
                c[2][lane] = if case % 7 == 0 { (unit() * 2.0).to_bits() } else { 1f32.to_bits() };
            }
            let lod = [(case as f32 / 40.0).to_bits(); 16];
            let lod = (case % 3 == 1).then_some(&lod);
            let dims = 2;
            let coords = &c[..dims + layers as usize];
            let args = SampleArgs { dims, arrayed: layers, coords, lod, ..Default::default() };
            let mask = if case % 4 == 0 { (unit() * 65535.0) as u16 | 1 } else { 0xFFFF };
            let mut want = [[0; 16]; 4];
            sample_warp(&general[0], &s, &args, mask, &mut want);
            let touched = Touched::default();
            touched.sample(&general[1], &s, &args, mask);
            let lines: BTreeSet<u64> = touched.into_lines().into_iter().collect();
            assert!(
                wave_agrees(&v, &s, &args, mask, &want, lines.len() as u64),
                "{:?} {case} has a kernel for waves",
                info.format
            );
            let mut one = [[0; 16]; 4];
            sample_warp(&v, &s, &args, mask, &mut one);
            assert_eq!(one, want, "{:?} {case} {machine:?} as a warp", info.format);
            // Which lanes touch a hole: of the general path's lines, lane by lane, those without memory.
            let missing = lanes(mask).filter(|lane| {
                let touched = Touched::default();
                touched.sample(&of_holes[0], &s, &args, 1 << lane);
                touched.into_lines().iter().any(|line| !resident((line << 6) as *const u8))
            });
            let missing = missing.fold(0, |m, lane| m | 1 << lane);
            let got = missing_samples(&of_holes[1], &s, &args, mask);
            assert_eq!(got, Some(missing), "{:?} {case} {machine:?}: lanes without memory", info.format);
            // As a warp of a wave, whose first one has other lanes.
            let mut rows = [[[0u32; 16]; 2]; 4];
            rows.iter_mut().zip(&c).for_each(|(r, c)| *r = [*c; 2]);
            let mut exec = [0; 32];
            exec[..2].copy_from_slice(&[0x00FF, mask]);
            let holes = Holes::default();
            let wave = ImageRows {
                live: 3,
                exec: &exec,
                coords: std::array::from_fn(|k| Rows { at: rows[k].as_ptr().cast(), step: 64 }),
                lod: lod.map(|l| Rows { at: l.as_ptr().cast(), step: 0 }),
                levels: Default::default(),
                dref: None,
                data: [Rows::NONE; 4],
                out: rows.each_mut().map(|r| r.as_mut_ptr().cast()),
                lines: None,
                holes: Some(&holes),
            };
            // SAFETY: rows of two warps.
            assert!(unsafe { sample_wave(&of_holes[1], &s, dims, layers, &wave) });
            assert_eq!(holes.of(1), missing, "{:?} {case} {machine:?}: of a wave", info.format);
            codes[0] += missing.count_ones();
            codes[1] += (mask & !missing).count_ones();
        }
        // More lanes of either kind than one warp has.
        assert!(codes.iter().all(|n| *n > 16), "{:?}: {codes:?}", info.format);
    }
}

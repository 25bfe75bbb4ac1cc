//! Images that lie in sparse image blocks, against the same in rows.

use super::tests::{fill, make, sampler, view};
use super::*;
use crate::for_tests::{bound_image, info_2d};
use ash::vk;

/// An image that lies in sparse image blocks gives what one in rows does: samples, fetches, and blocks of compressed texels.
#[test]
fn blocks_of_memory_change_no_texel() {
    let mut state = 7u32;
    let mut random = move || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        state >> 8
    };
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

//! Views that are alike, sampled together: what each gives by itself.

use super::tests::{fill, make, plain, sampler};
use super::*;
use crate::for_tests::{bound_image, info_2d};
use ash::vk;
use random::Random;

#[test]
fn together_as_apart() {
    let mut r = Random::new(5);
    let mut random = move || r.u32() >> 8;
    let line = vk::ImageCreateInfo {
        image_type: vk::ImageType::TYPE_1D,
        ..info_2d(vk::Format::R32_SFLOAT, 9, 1).mip_levels(2)
    };
    let infos = [
        info_2d(vk::Format::R8G8B8A8_UNORM, 8, 8),
        info_2d(vk::Format::R8_UNORM, 7, 5).mip_levels(3),
        info_2d(vk::Format::R16G16B16A16_SFLOAT, 4, 6).mip_levels(2).array_layers(2),
        line,
    ];
    for info in infos {
        let t = match (info.image_type, info.array_layers) {
            (vk::ImageType::TYPE_1D, _) => vk::ImageViewType::TYPE_1D,
            (_, 1) => vk::ImageViewType::TYPE_2D,
            _ => vk::ImageViewType::TYPE_2D_ARRAY,
        };
        let mut views = Vec::new();
        for _ in 0..5 {
            let image = bound_image(&info);
            for mip in 0..image.mips {
                for layer in 0..image.layers {
                    let s = image.surface(vk::ImageAspectFlags::COLOR, mip).unwrap();
                    let n = s.blocks.iter().product::<u32>() * s.format.block_bytes;
                    let data: Vec<u8> = (0..n).map(|_| random() as u8 & 0x7b).collect();
                    fill(&image, mip, layer, &data);
                }
            }
            views.push(plain(&image, t));
        }
        for case in 0..100u32 {
            let filter = [vk::Filter::LINEAR, vk::Filter::NEAREST][case as usize & 1];
            let wrap = [vk::SamplerAddressMode::REPEAT, vk::SamplerAddressMode::CLAMP_TO_BORDER];
            let s = sampler(filter, wrap[case as usize >> 1 & 1])
                .mipmap_mode(vk::SamplerMipmapMode::from_raw((case >> 2 & 1) as i32));
            let samplers = [make(s), make(s)];
            let mut c = [[0u32; 16]; 3];
            for a in &mut c {
                a.fill_with(|| (random() as f32 / (1 << 22) as f32 - 2.0).to_bits());
            }
            let lod = std::array::from_fn(|_| ((random() % 64) as f32 / 16.0 - 1.0).to_bits());
            let dims = views[0].dims;
            let args = SampleArgs {
                dims,
                arrayed: views[0].arrayed,
                coords: &c,
                lod: (case & 8 != 0).then_some(&lod),
                ..SampleArgs::default()
            };
            let lanes: [usize; 16] = std::array::from_fn(|_| random() as usize % views.len());
            let exec = random() as u16 | 1;
            for machine in simd::Level::tested() {
                let fast: Vec<_> =
                    views.iter().map(|v| v.fast.as_ref().and_then(|f| f.on(machine))).collect();
                if fast[0].is_none() {
                    continue;
                }
                for (v, fast) in views.iter_mut().zip(fast) {
                    v.fast = fast;
                }
                let (mut want, mut got) = ([[7; 16]; 4], [[7; 16]; 4]);
                let mut all: Option<Alike> = None;
                for (i, v) in views.iter().enumerate() {
                    let mask = (0..16).fold(0, |m, l| m | ((lanes[l] == i) as u16) << l) & exec;
                    if mask == 0 {
                        continue;
                    }
                    sample_warp(v, &samplers[0], &args, mask, &mut want);
                    match &mut all {
                        // Another sampler of the same content is no other.
                        Some(a) => assert!(a.add(v, &samplers[i & 1], mask)),
                        None => all = Some(Alike::new(v, &samplers[i & 1], mask)),
                    }
                }
                let all = all.unwrap();
                assert_eq!(all.mask(), exec);
                let few = few(exec) && views[1..].iter().enumerate().any(|(i, _)| lanes.contains(&i));
                assert!(all.sample(&args, &mut got) || few, "{} {case} {machine:?}", views[0].format.name);
                if !few {
                    assert_eq!(got, want, "{} {case} {machine:?}", views[0].format.name);
                }
            }
        }
    }
}

#[test]
fn what_is_not_alike() {
    let s = make(sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::REPEAT));
    let other = make(sampler(vk::Filter::NEAREST, vk::SamplerAddressMode::REPEAT));
    let of = |format, w, h| plain(&bound_image(&info_2d(format, w, h)), vk::ImageViewType::TYPE_2D);
    let v = of(vk::Format::R8G8B8A8_UNORM, 8, 8);
    let add = |view: &ImageView, s2: &Sampler| Alike::new(&v, &s, 1).add(view, s2, 2);
    assert!(add(&of(vk::Format::R8G8B8A8_UNORM, 8, 8), &s));
    assert!(!add(&of(vk::Format::R8G8B8A8_UNORM, 8, 8), &other));
    assert!(!add(&of(vk::Format::R8G8B8A8_UNORM, 8, 4), &s));
    assert!(!add(&of(vk::Format::B8G8R8A8_UNORM, 8, 8), &s));
    // Views without kernels over vectors have no way to be sampled together.
    let solid = || {
        let info =
            vk::ImageCreateInfo { image_type: vk::ImageType::TYPE_3D, ..info_2d(vk::Format::R8_UNORM, 8, 8) };
        plain(&bound_image(&info), vk::ImageViewType::TYPE_3D)
    };
    let other = solid();
    assert!(!Alike::new(&solid(), &s, 1).add(&other, &s, 2));
}

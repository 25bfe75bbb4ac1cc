//! A texel of weight 0 adds nothing, whatever it is: by every way of sampling, on every SIMD level.

use super::tests::{at, fill, keep, make, plain, sampler, wave_agrees, with};
use super::*;
use crate::for_tests::{bound_image, info_2d};
use crate::image::Image;
use ash::vk;
use std::collections::BTreeSet;
use std::sync::Arc;

const GOOD: [f32; 4] = [1.0, 2.0, 3.0, 4.0];
const BAD: [[f32; 4]; 2] =
    [[5.0, 6.0, f32::NAN, f32::NAN], [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::INFINITY]];
/// The largest number below a half: the weight of the texel that begins there rounds to 1.
const BELOW: f32 = 0.5 - 1.0 / (1 << 25) as f32;

fn bytes(format: vk::Format, texels: &[[f32; 4]]) -> Vec<u8> {
    let channels = texels.iter().flatten();
    match format {
        vk::Format::R16G16B16A16_SFLOAT => {
            channels.flat_map(|v| crate::format::num::f32_to_f16(*v).to_le_bytes()).collect()
        }
        _ => channels.flat_map(|v| v.to_le_bytes()).collect(),
    }
}

/// A view of each way: the kernels of each level, whole warps of any format, lane by lane.
fn each(image: &Arc<Image>, t: vk::ImageViewType, mut test: impl FnMut(&ImageView, &str)) {
    let mut v = plain(image, t);
    if let Some(fast) = v.fast.take() {
        for machine in simd::Level::tested() {
            v.fast = fast.on(machine);
            test(&v, &format!("{machine:?}"));
        }
        v.fast = None;
    }
    test(&v, "warps");
    v.wide = false;
    test(&v, "lanes");
}

const FORMATS: [vk::Format; 2] = [vk::Format::R32G32B32A32_SFLOAT, vk::Format::R16G16B16A16_SFLOAT];

#[test]
fn beside_a_texel() {
    use vk::SamplerAddressMode as M;
    for format in FORMATS {
        for bad in BAD {
            for good in 0..4 {
                let image = bound_image(&info_2d(format, 2, 2));
                let texels: Vec<_> = (0..4).map(|i| if i == good { GOOD } else { bad }).collect();
                fill(&image, 0, 0, &bytes(format, &texels));
                let centre = |bit: usize| if good & bit == 0 { 0.25 } else { 0.75 };
                each(&image, vk::ImageViewType::TYPE_2D, |v, way| {
                    for wrap in [M::REPEAT, M::CLAMP_TO_EDGE, M::CLAMP_TO_BORDER, M::MIRRORED_REPEAT] {
                        let nan = [f32::NAN.to_bits(); 4];
                        let info =
                            sampler(vk::Filter::LINEAR, wrap).border_color(vk::BorderColor::FLOAT_CUSTOM_EXT);
                        let average = vk::SamplerReductionMode::WEIGHTED_AVERAGE;
                        let s = Sampler::new(&info, Some(nan), average);
                        let got = at(v, &s, &[centre(1), centre(2)]);
                        assert_eq!(got, GOOD, "{format:?} {way} {wrap:?} texel {good}, others {bad:?}");
                        let near = make(sampler(vk::Filter::NEAREST, wrap));
                        assert_eq!(at(v, &near, &[centre(1), centre(2)]), GOOD);
                    }
                });
            }
        }
    }
}

/// As above, where all lanes of a wave's warp have a texel's right neighbour.
#[test]
fn of_whole_waves() {
    let s = make(sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::REPEAT));
    let c = [[0.375f32.to_bits(); 16]; 2];
    let args = SampleArgs { dims: 2, coords: &c, ..Default::default() };
    let want = GOOD.map(|v| [v.to_bits(); 16]);
    for format in FORMATS {
        for bad in BAD {
            let image = bound_image(&info_2d(format, 4, 4));
            let texels: Vec<_> = (0..16).map(|i| if i == 5 { GOOD } else { bad }).collect();
            fill(&image, 0, 0, &bytes(format, &texels));
            let mut v = plain(&image, vk::ImageViewType::TYPE_2D);
            let touched = Touched::default();
            touched.sample(&v, &s, &args, 0xFFFF);
            let lines: BTreeSet<u64> = touched.into_lines().into_iter().collect();
            let Some(fast) = v.fast.take() else { continue };
            for machine in simd::Level::tested() {
                v.fast = fast.on(machine);
                let agrees = wave_agrees(&v, &s, &args, 0xFFFF, &want, lines.len() as u64);
                assert!(agrees || v.fast.is_none(), "{format:?} {machine:?}");
            }
        }
    }
}

#[test]
fn just_below_the_first_centre() {
    for format in FORMATS {
        // Repeated, the texel before the first is the last.
        let image = bound_image(&info_2d(format, 2, 1));
        fill(&image, 0, 0, &bytes(format, &[GOOD, BAD[1]]));
        let s = make(sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::REPEAT));
        each(&image, vk::ImageViewType::TYPE_2D, |v, way| {
            assert_eq!(at(v, &s, &[BELOW / 2.0, 0.5]), GOOD, "{format:?} {way}");
        });
    }
}

#[test]
fn in_volumes_rows_and_cubes() {
    let s = make(sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::REPEAT));
    for format in FORMATS {
        for good in 0..8 {
            let image = bound_image(&vk::ImageCreateInfo {
                image_type: vk::ImageType::TYPE_3D,
                extent: vk::Extent3D { width: 2, height: 2, depth: 2 },
                ..info_2d(format, 2, 2)
            });
            let texels: Vec<_> = (0..8).map(|i| if i == good { GOOD } else { BAD[good & 1] }).collect();
            fill(&image, 0, 0, &bytes(format, &texels));
            let c = [1, 2, 4].map(|bit| if good & bit == 0 { 0.25 } else { 0.75 });
            each(&image, vk::ImageViewType::TYPE_3D, |v, way| {
                assert_eq!(at(v, &s, &c), GOOD, "{format:?} {way} texel {good}");
            });
        }
        let row =
            bound_image(&vk::ImageCreateInfo { image_type: vk::ImageType::TYPE_1D, ..info_2d(format, 2, 1) });
        fill(&row, 0, 0, &bytes(format, &[GOOD, BAD[0]]));
        each(&row, vk::ImageViewType::TYPE_1D, |v, way| {
            assert_eq!(at(v, &s, &[0.25]), GOOD, "{format:?} {way}");
            assert_eq!(at(v, &s, &[BELOW / 2.0]), GOOD, "{format:?} {way}");
        });
        let cube =
            bound_image(&info_2d(format, 2, 2).array_layers(6).flags(vk::ImageCreateFlags::CUBE_COMPATIBLE));
        for face in 0..6 {
            let first = if face == 4 { GOOD } else { BAD[1] };
            fill(&cube, 0, face, &bytes(format, &[first, BAD[0], BAD[1], BAD[0]]));
        }
        // The upper left texel of +Z, next to a corner.
        each(&cube, vk::ImageViewType::CUBE, |v, way| {
            assert_eq!(at(v, &s, &[-0.5, 0.5, 1.0]), GOOD, "{format:?} {way}");
        });
    }
}

#[test]
fn of_levels_taps_and_reductions() {
    let format = vk::Format::R32G32B32A32_SFLOAT;
    let info = sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::REPEAT)
        .mipmap_mode(vk::SamplerMipmapMode::LINEAR);
    for (fine, coarse, lod) in [(GOOD, BAD[1], 0.0f32), (BAD[1], GOOD, 1.0)] {
        let image = bound_image(&info_2d(format, 2, 2).mip_levels(2));
        fill(&image, 0, 0, &bytes(format, &[fine; 4]));
        fill(&image, 1, 0, &bytes(format, &[coarse]));
        each(&image, vk::ImageViewType::TYPE_2D, |v, way| {
            let got = with(v, &make(info), &[0.25, 0.25], |a| a.lod = Some(keep([lod.to_bits(); 16])));
            assert_eq!(got, GOOD, "level {lod}, {way}");
        });
    }
    // Taps in the middle of a column, the columns beside it of no numbers.
    let image = bound_image(&info_2d(format, 2, 8));
    let rows: Vec<_> = (0..8).flat_map(|_| [GOOD, BAD[0]]).collect();
    fill(&image, 0, 0, &bytes(format, &rows));
    let g = keep([[0; 16], [0; 16], [0; 16], [0; 16], [0.5f32.to_bits(); 16], [0; 16]]);
    each(&image, vk::ImageViewType::TYPE_2D, |v, way| {
        let s = make(info.anisotropy_enable(true).max_anisotropy(4.0));
        let got = with(v, &s, &[0.25, 0.3], |a| a.grad = Some(g));
        assert_eq!(got, GOOD, "{way}");
    });
    let image = bound_image(&info_2d(format, 2, 1));
    let [big, small] = [[f32::INFINITY; 4], [f32::NEG_INFINITY; 4]];
    for (bad, mode) in [(big, vk::SamplerReductionMode::MAX), (small, vk::SamplerReductionMode::MIN)] {
        fill(&image, 0, 0, &bytes(format, &[GOOD, bad]));
        each(&image, vk::ImageViewType::TYPE_2D, |v, way| {
            let s = Sampler::new(&info, None, mode);
            for u in [0.25, BELOW / 2.0] {
                assert_eq!(at(v, &s, &[u, 0.5]), GOOD, "{mode:?} {way} {u}");
            }
        });
    }
}

/// Finite texels are blended as ever, to the signs of zeros: the product of a difference and a weight of 0 counts.
#[test]
fn finite_texels_keep_their_bits() {
    for a in [0.0f32, -0.0, 1.0, -3.5, 1e-40] {
        for b in [0.0f32, -0.0, 2.0, -7.0, 1e30, -1e-42] {
            for w in [0.0f32, 0.25, 1.0] {
                assert_eq!(blend::mix(a, b, w).to_bits(), (a + (b - a) * w).to_bits(), "{a} {b} {w}");
            }
        }
    }
}

//! Anisotropic filtering: how many samples, where, and of which level.

use super::tests::{fill, floats, keep, make, plain, sampler, with};
use super::*;
use crate::for_tests::{bound_image, info_2d};
use ash::vk;

#[test]
fn anisotropy_keeps_a_constant_and_sharpens() {
    let image = bound_image(&info_2d(vk::Format::R32_SFLOAT, 8, 8).mip_levels(4));
    for mip in 0..4 {
        fill(&image, mip, 0, &floats(&vec![mip as f32; 64 >> (2 * mip)]));
    }
    let v = plain(&image, vk::ImageViewType::TYPE_2D);
    let info = sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::REPEAT)
        .mipmap_mode(vk::SamplerMipmapMode::LINEAR);
    let g = keep([[1f32.to_bits(); 16], [0; 16], [0; 16], [0; 16], [0.125f32.to_bits(); 16], [0; 16]]);
    let at = |s: &Sampler| with(&v, s, &[0.5, 0.5], |a| a.grad = Some(g))[0];
    assert_eq!(at(&make(info)), 3.0);
    assert_eq!(at(&make(info.anisotropy_enable(true).max_anisotropy(4.0))), 1.0);
    assert_eq!(at(&make(info.anisotropy_enable(true).max_anisotropy(16.0))), 0.0);
}

/// § Texel Anisotropic Filtering: as many taps as the footprint is times longer than wide, rounded up, and no more than the
/// sampler allows.
#[test]
fn lanes_take_the_taps_that_their_footprints_ask_for() {
    let image = bound_image(&info_2d(vk::Format::R32_SFLOAT, 64, 64).mip_levels(7));
    let v = plain(&image, vk::ImageViewType::TYPE_2D);
    let info = sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::REPEAT).anisotropy_enable(true);
    // Texels in x, and in y.
    let long = [1.0f32, 2.0, 2.5, 4.0, 8.0, 16.0, 32.0, 0.25];
    let wide = [1.0f32, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0];
    let bits = |of: &[f32; 8]| std::array::from_fn(|l| (of[l % 8] / 64.0).to_bits());
    let zero = [0; 16];
    let grad = [bits(&long), zero, zero, zero, bits(&wide), zero];
    let coords = [zero; 2];
    let args = SampleArgs { dims: 2, coords: &coords, grad: Some(&grad), ..Default::default() };
    let extra = |most: f32, mask| extra_taps(&v, &make(info.max_anisotropy(most)), &args, mask);
    // 1, 2, 3, 2, 8, 16, 16 (of 32), 4 taps: of each lane one is none too many.
    assert_eq!(extra(16.0, 0x00FF), 1 + 2 + 1 + 7 + 15 + 15 + 3);
    assert_eq!(extra(4.0, 0xFF00), 1 + 2 + 1 + 3 + 3 + 3 + 3);
    assert_eq!(extra(16.0, 1 << 4 | 1), 7);
    assert_eq!(extra_taps(&v, &make(info.anisotropy_enable(false)), &args, 0xFFFF), 0);
}

/// § Scale Factor Operation: ρmin and ρmax are the axes of the footprint's ellipse. A square of the screen that becomes a lozenge
/// of sides (5, 3) and (3, 5) texels is as wide as a circle's image of axes 8 along (1, 1) and 2 across: 4 taps on level 1. Its
/// sides are alike, and say nothing of that.
#[test]
fn footprints_along_the_diagonal_are_long() {
    let image = bound_image(&info_2d(vk::Format::R32_SFLOAT, 64, 64).mip_levels(7));
    for mip in 0..7 {
        fill(&image, mip, 0, &floats(&vec![mip as f32; 4096 >> (2 * mip)]));
    }
    let v = plain(&image, vk::ImageViewType::TYPE_2D);
    let info = sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::REPEAT)
        .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
        .anisotropy_enable(true)
        .max_anisotropy(16.0);
    let all = |texels: f32| [(texels / 64.0).to_bits(); 16];
    for (sign, turn) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
        let x = [all(5.0), all(3.0 * sign), all(0.0)];
        let y = [all(3.0 * turn), all(5.0 * sign * turn), all(0.0)];
        let grad = [x[0], x[1], x[2], y[0], y[1], y[2]];
        let coords = [[0; 16]; 2];
        let args = SampleArgs { dims: 2, coords: &coords, grad: Some(&grad), ..Default::default() };
        assert_eq!(extra_taps(&v, &make(info), &args, 0xFF), 3 * 8);
        let mut lod = [[0; 16]; 4];
        query_lod_warp(&v, &make(info), &args, 1, &mut lod);
        assert_eq!(f32::from_bits(lod[1][0]), 1.0);
        assert_eq!(with(&v, &make(info), &[0.5, 0.5], |a| a.grad = Some(keep(grad)))[0], 1.0);
        // They lie on the diagonal of the texture, where it is 1, and 0 elsewhere.
        let stripe = bound_image(&info_2d(vk::Format::R32_SFLOAT, 64, 64));
        let at = |x: usize, y: usize| if sign > 0.0 { x == y } else { x + y == 63 };
        let texels: Vec<f32> = (0..4096).map(|i| at(i % 64, i / 64) as u8 as f32).collect();
        fill(&stripe, 0, 0, &floats(&texels));
        let v = plain(&stripe, vk::ImageViewType::TYPE_2D);
        let near = info.mag_filter(vk::Filter::NEAREST).min_filter(vk::Filter::NEAREST);
        let centre = [32.5 / 64.0, if sign > 0.0 { 32.5 } else { 31.5 } / 64.0];
        assert_eq!(with(&v, &make(near), &centre, |a| a.grad = Some(keep(grad)))[0], 1.0, "{sign} {turn}");
    }
}

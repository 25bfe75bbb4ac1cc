//! Hand-computed samples, and the kernels against the general path.

use super::*;
use crate::for_tests::{bound_image, image_2d, info_2d};
pub(super) use crate::for_tests::{fill, plain, view};
use ash::vk;
use random::Random;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn sampler(filter: vk::Filter, wrap: vk::SamplerAddressMode) -> vk::SamplerCreateInfo<'static> {
    vk::SamplerCreateInfo::default()
        .mag_filter(filter)
        .min_filter(filter)
        .address_mode_u(wrap)
        .address_mode_v(wrap)
        .address_mode_w(wrap)
        .max_lod(vk::LOD_CLAMP_NONE)
}

pub(super) fn make(info: vk::SamplerCreateInfo) -> Sampler {
    Sampler::new(&info, None, vk::SamplerReductionMode::WEIGHTED_AVERAGE)
}

/// One warp whose lanes all have the same coordinates.
fn coords(c: &[f32]) -> Vec<[u32; 16]> {
    c.iter().map(|v| [v.to_bits(); 16]).collect()
}

pub(super) fn at(v: &ImageView, s: &Sampler, c: &[f32]) -> [f32; 4] {
    with(v, s, c, |_| {})
}

pub(super) fn with(v: &ImageView, s: &Sampler, c: &[f32], edit: impl FnOnce(&mut SampleArgs)) -> [f32; 4] {
    let c = coords(c);
    let dims = if v.is_cube { 3 } else { v.dims };
    let mut args = SampleArgs { dims, arrayed: v.arrayed, coords: &c, ..Default::default() };
    edit(&mut args);
    let mut out = [[0xdead; 16]; 4];
    sample_warp(v, s, &args, 0x8001, &mut out);
    assert_eq!(out[0][1], 0xdead, "inactive lanes stay");
    assert_eq!(out.map(|o| o[0]), out.map(|o| o[15]));
    out.map(|o| f32::from_bits(o[0]))
}

/// Operands that outlive the test.
pub(super) fn keep<T>(v: T) -> &'static T {
    Box::leak(Box::new(v))
}

pub(super) fn floats(v: &[f32]) -> Vec<u8> {
    v.iter().flat_map(|f| f.to_le_bytes()).collect()
}

#[test]
fn bilinear_and_wrap_modes() {
    let image = image_2d(vk::Format::R32_SFLOAT, 2, 2);
    fill(&image, 0, 0, &floats(&[0.0, 4.0, 8.0, 16.0]));
    let v = plain(&image, vk::ImageViewType::TYPE_2D);
    use vk::SamplerAddressMode as M;
    let lin = |m| make(sampler(vk::Filter::LINEAR, m));
    assert_eq!(at(&v, &lin(M::CLAMP_TO_EDGE), &[0.5, 0.5]), [7.0, 0.0, 0.0, 1.0]);
    assert_eq!(at(&v, &lin(M::CLAMP_TO_EDGE), &[0.375, 0.25])[0], 1.0);
    assert_eq!(at(&v, &lin(M::CLAMP_TO_EDGE), &[0.0, 0.25])[0], 0.0);
    assert_eq!(at(&v, &lin(M::REPEAT), &[0.0, 0.25])[0], 2.0);
    assert_eq!(at(&v, &lin(M::MIRRORED_REPEAT), &[0.0, 0.25])[0], 0.0);
    // Half of the footprint is the border, white.
    let white = make(
        sampler(vk::Filter::LINEAR, M::CLAMP_TO_BORDER).border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE),
    );
    assert_eq!(at(&v, &white, &[0.0, 0.25]), [0.5, 0.0, 0.0, 1.0]);
    let near = make(sampler(vk::Filter::NEAREST, M::REPEAT));
    assert_eq!(at(&v, &near, &[1.25, -0.25])[0], 8.0);
    // Coordinates that are no numbers must do no harm.
    for bad in [f32::NAN, f32::INFINITY, -f32::INFINITY, 1e30] {
        for m in [M::REPEAT, M::MIRRORED_REPEAT, M::CLAMP_TO_BORDER, M::MIRROR_CLAMP_TO_EDGE] {
            at(&v, &lin(m), &[bad, bad]);
            at(&v, &make(sampler(vk::Filter::NEAREST, m)), &[bad, 0.5]);
        }
    }
}

#[test]
fn offsets_swizzles_and_unnormalized() {
    let image = image_2d(vk::Format::R8G8B8A8_UNORM, 2, 1);
    fill(&image, 0, 0, &[255, 0, 0, 255, 0, 255, 0, 0]);
    let c = vk::ComponentSwizzle::ZERO;
    let swizzle =
        vk::ComponentMapping { r: vk::ComponentSwizzle::G, g: c, b: vk::ComponentSwizzle::ONE, a: c };
    let v = view(&image, vk::ImageViewType::TYPE_2D, swizzle);
    let s = make(
        sampler(vk::Filter::NEAREST, vk::SamplerAddressMode::CLAMP_TO_EDGE).unnormalized_coordinates(true),
    );
    assert_eq!(at(&v, &s, &[0.5, 0.5]), [0.0, 0.0, 1.0, 0.0]);
    assert_eq!(at(&v, &s, &[1.5, 0.5]), [1.0, 0.0, 1.0, 0.0]);
    let offset = keep([[1u32; 16], [0; 16]]);
    assert_eq!(with(&v, &s, &[0.5, 0.5], |a| a.offsets = Some(offset)), [1.0, 0.0, 1.0, 0.0]);
}

#[test]
fn levels_by_lod_bias_and_derivatives() {
    let image = bound_image(&info_2d(vk::Format::R32_SFLOAT, 4, 4).mip_levels(3));
    for mip in 0..3 {
        fill(&image, mip, 0, &floats(&vec![mip as f32; 16 >> (2 * mip)]));
    }
    let v = plain(&image, vk::ImageViewType::TYPE_2D);
    let info = sampler(vk::Filter::NEAREST, vk::SamplerAddressMode::REPEAT);
    let near = make(info);
    let lin = make(info.mipmap_mode(vk::SamplerMipmapMode::LINEAR));
    let lod = |s: &Sampler, l: f32| with(&v, s, &[0.5, 0.5], |a| a.lod = Some(keep([l.to_bits(); 16])))[0];
    assert_eq!([0.0, 0.5, 0.6, 1.5, 9.0, -3.0].map(|l| lod(&near, l)), [0.0, 0.0, 1.0, 1.0, 2.0, 0.0]);
    assert_eq!([0.0, 0.25, 1.5, 9.0].map(|l| lod(&lin, l)), [0.0, 0.25, 1.5, 2.0]);
    assert_eq!(lod(&make(info.min_lod(1.0).max_lod(1.0)), 9.0), 1.0);
    assert_eq!(lod(&make(info.mip_lod_bias(1.0)), 0.0), 1.0);
    // Gradients of two texels in x, one in y: λ = 1.
    let g = |dx: f32, dy: f32| [[dx.to_bits(); 16], [0; 16], [0; 16], [0; 16], [dy.to_bits(); 16], [0; 16]];
    assert_eq!(with(&v, &lin, &[0.5, 0.5], |a| a.grad = Some(keep(g(0.5, 0.25))))[0], 1.0);
    // Implicit: neighbouring lanes one texel of level 0 apart: λ = 0; four apart: λ = 2.
    for (step, want) in [(0.25, 0.0), (1.0, 2.0)] {
        let x: [u32; 16] = std::array::from_fn(|l| ((l & 1) as f32 * step).to_bits());
        let y: [u32; 16] = std::array::from_fn(|l| ((l >> 1 & 1) as f32 * step).to_bits());
        let c = [x, y];
        let args = SampleArgs { dims: 2, coords: &c, ..Default::default() };
        let mut out = [[0; 16]; 4];
        sample_warp(&v, &lin, &args, 0xffff, &mut out);
        assert!(out[0].iter().all(|&o| f32::from_bits(o) == want));
        query_lod_warp(&v, &lin, &args, 0xffff, &mut out);
        assert_eq!((f32::from_bits(out[0][9]), f32::from_bits(out[1][9])), (want, want));
    }
}

#[test]
fn depth_comparison_is_filtered_after_comparing() {
    let image = image_2d(vk::Format::D32_SFLOAT, 2, 1);
    fill(&image, 0, 0, &floats(&[0.25, 0.75]));
    let v = plain(&image, vk::ImageViewType::TYPE_2D);
    let s = make(
        sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .compare_enable(true)
            .compare_op(vk::CompareOp::LESS),
    );
    // 0.5 < 0.25 fails, 0.5 < 0.75 passes; at u = 0.375 · 2 the second texel weighs a quarter.
    let d = |x: f32| with(&v, &s, &[x, 0.5], |a| a.dref = Some(keep([0.5f32.to_bits(); 16])))[0];
    assert_eq!([d(0.25), d(0.375), d(0.75)], [0.0, 0.25, 1.0]);
}

#[test]
fn reductions_ignore_texels_without_weight() {
    let image = image_2d(vk::Format::R32_SFLOAT, 2, 1);
    fill(&image, 0, 0, &floats(&[1.0, 5.0]));
    let v = plain(&image, vk::ImageViewType::TYPE_2D);
    let info = sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::CLAMP_TO_EDGE);
    let s = |m| Sampler::new(&info, None, m);
    assert_eq!(at(&v, &s(vk::SamplerReductionMode::MAX), &[0.25, 0.5])[0], 1.0);
    assert_eq!(at(&v, &s(vk::SamplerReductionMode::MAX), &[0.3, 0.5])[0], 5.0);
    assert_eq!(at(&v, &s(vk::SamplerReductionMode::MIN), &[0.7, 0.5])[0], 1.0);
}

#[test]
fn arrays_and_volumes() {
    let image = bound_image(&info_2d(vk::Format::R8_UINT, 1, 1).array_layers(3));
    for layer in 0..3 {
        fill(&image, 0, layer, &[layer as u8 + 10]);
    }
    let v = plain(&image, vk::ImageViewType::TYPE_2D_ARRAY);
    let s = make(sampler(vk::Filter::NEAREST, vk::SamplerAddressMode::REPEAT));
    let layer = |a: f32| at(&v, &s, &[0.5, 0.5, a])[0].to_bits();
    // Round to nearest even, then clamp.
    assert_eq!([-5.0, 0.5, 0.6, 1.5, 7.0, f32::NAN].map(layer), [10, 10, 11, 12, 12, 10]);
    assert_eq!(v.query_size(0), [1, 1, 3, 0]);

    let volume = bound_image(&vk::ImageCreateInfo {
        image_type: vk::ImageType::TYPE_3D,
        extent: vk::Extent3D { width: 1, height: 1, depth: 2 },
        ..info_2d(vk::Format::R32_SFLOAT, 1, 1)
    });
    fill(&volume, 0, 0, &floats(&[2.0, 6.0]));
    let v3 = plain(&volume, vk::ImageViewType::TYPE_3D);
    let s = make(sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::CLAMP_TO_EDGE));
    assert_eq!(at(&v3, &s, &[0.5, 0.5, 0.375])[0], 3.0);
    // The same image as layers.
    let sliced = plain(&volume, vk::ImageViewType::TYPE_2D_ARRAY);
    assert_eq!((sliced.layers, at(&sliced, &s, &[0.5, 0.5, 1.0])[0]), (2, 6.0));
}

#[test]
fn cubes_are_seamless() {
    let image = bound_image(
        &info_2d(vk::Format::R32_SFLOAT, 2, 2).array_layers(6).flags(vk::ImageCreateFlags::CUBE_COMPATIBLE),
    );
    for face in 0..6 {
        fill(&image, 0, face, &floats(&[face as f32; 4]));
    }
    let v = plain(&image, vk::ImageViewType::CUBE);
    let near = make(sampler(vk::Filter::NEAREST, vk::SamplerAddressMode::REPEAT));
    let dirs = [
        [1.0, 0.1, 0.0],
        [-1.0, 0.1, 0.0],
        [0.1, 1.0, 0.0],
        [0.1, -1.0, 0.0],
        [0.1, 0.0, 1.0],
        [0.1, 0.0, -1.0],
    ];
    for (face, d) in dirs.iter().enumerate() {
        assert_eq!(at(&v, &near, d)[0], face as f32);
    }
    let lin = make(sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::REPEAT));
    // On the edge of +X and +Z, in the middle of its length: half of each.
    assert_eq!(at(&v, &lin, &[1.0, 0.0, 1.0])[0], 2.0);
    // The corner of +X, +Y, +Z, seen from +Z: mean of the faces 0, 2, 4.
    assert_eq!(at(&v, &lin, &[1.0, 1.0, 1.0])[0], 2.0);
    let apart = make(
        sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .flags(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT),
    );
    assert_eq!(at(&v, &apart, &[1.0, 0.0, 1.0])[0], 4.0);
    assert_eq!(v.query_size(0), [2, 2, 0, 0]);
}

#[test]
fn gathers() {
    let image = image_2d(vk::Format::R8G8_UINT, 2, 2);
    fill(&image, 0, 0, &[1, 11, 2, 12, 3, 13, 4, 14]);
    let v = plain(&image, vk::ImageViewType::TYPE_2D);
    let s = make(sampler(vk::Filter::NEAREST, vk::SamplerAddressMode::CLAMP_TO_EDGE));
    let c = coords(&[0.5, 0.5]);
    let mut args = SampleArgs { dims: 2, coords: &c, ..Default::default() };
    let mut out = [[0; 16]; 4];
    gather_warp(&v, &s, &args, 1, &mut out);
    assert_eq!(out.map(|o| o[0]), [3, 4, 2, 1]);
    args.component = 1;
    gather_warp(&v, &s, &args, 1, &mut out);
    assert_eq!(out.map(|o| o[0]), [13, 14, 12, 11]);
    args.component = 3;
    gather_warp(&v, &s, &args, 1, &mut out);
    assert_eq!(out.map(|o| o[0]), [1; 4]);
    let offsets = [[0; 16], [0; 16], [1; 16], [0; 16], [0; 16], [1; 16], [u32::MAX; 16], [9; 16]];
    args.component = 0;
    args.offsets = Some(&offsets);
    gather_warp(&v, &s, &args, 1, &mut out);
    assert_eq!(out.map(|o| o[0]), [1, 2, 3, 3]);
}

#[test]
fn fetch_load_store_and_their_bounds() {
    let image = image_2d(vk::Format::R16G16_SINT, 2, 2);
    let v = plain(&image, vk::ImageViewType::TYPE_2D);
    let (mut lo, mut hi) = ([[0u32; 16]; 4], [[0u32; 16]; 4]);
    let mut c = [[0u32; 16]; 2];
    // Lane 0 stores -5, 7 at (1, 1); lane 1 outside; lane 2 at a negative place.
    (c[0][0], c[1][0], c[0][1], c[0][2]) = (1, 1, 2, -1i32 as u32);
    lo[0][..3].fill(-5i32 as u32);
    lo[1][..3].fill(7);
    store_warp(&v, &c, None, 7, &lo, &hi);
    let mut out = [[9u32; 16]; 4];
    load_warp(&v, &c, None, 7, &mut TexelData { lo: &mut out, hi: &mut hi });
    assert_eq!(out.map(|o| o[0]), [-5i32 as u32, 7, 0, 1]);
    assert_eq!(out.map(|o| o[1]), [0, 0, 0, 1]);
    assert_eq!(out.map(|o| o[2]), [0, 0, 0, 1]);
    let lod = [1u32; 16];
    fetch_warp(&v, &c, Some(&lod), None, 1, &mut TexelData { lo: &mut out, hi: &mut hi });
    assert_eq!(out.map(|o| o[0]), [0, 0, 0, 1]);
    assert!(texel_pointers(&v, &c, None, 7).iter().all(|p| p.is_null()), "no atomics on this format");
    let counters = image_2d(vk::Format::R32_UINT, 2, 2);
    let v = plain(&counters, vk::ImageViewType::TYPE_2D);
    let p = texel_pointers(&v, &c, None, 7);
    // SAFETY: within what the test has made.
    assert_eq!(p[0], unsafe { v.address(&v.levels[0], 1, 1, 0, 0, 0) });
    assert!(p[1..].iter().all(|p| p.is_null()));
}

#[test]
fn texel_buffers() {
    use crate::buffer::Buffer;
    use crate::memory::{Bound, DeviceMemory};
    let b = Arc::new(Buffer::new(64, vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER, Default::default()));
    let memory = DeviceMemory::allocate(crate::for_tests::space(), 64, 0, false).unwrap();
    assert!(b.bound.set(Bound { memory, offset: 0 }).is_ok());
    let v = BufferView::new(b.clone(), vk::Format::R8G8B8A8_UNORM, 16, 9).unwrap();
    assert_eq!(v.len, 2);
    let (mut lo, mut hi) = ([[1f32.to_bits(); 16]; 4], [[0u32; 16]; 4]);
    let index: [u32; 16] = std::array::from_fn(|i| i as u32);
    buffer_store_warp(&v, &index, 0b110, &lo, &hi);
    // SAFETY: within what the test has made.
    let bytes = unsafe { std::slice::from_raw_parts(b.ptr(), 64) };
    assert!(
        bytes[20..24].iter().all(|&x| x == 255) && bytes[24..].iter().chain(&bytes[..20]).all(|&x| x == 0)
    );
    buffer_load_warp(&v, &index, 0b111, &mut TexelData { lo: &mut lo, hi: &mut hi });
    assert_eq!([0, 1, 2].map(|l| f32::from_bits(lo[0][l])), [0.0, 1.0, 0.0]);
    assert!(BufferView::new(b, vk::Format::BC7_UNORM_BLOCK, 0, 64).is_err());
}

#[test]
fn compressed_and_srgb_images_sample() {
    let image = image_2d(vk::Format::BC1_RGBA_SRGB_BLOCK, 4, 4);
    // All texels the first colour: red 31, green 32 of 63 (130 of 255).
    fill(&image, 0, 0, &(0xfc00u64).to_le_bytes());
    let v = plain(&image, vk::ImageViewType::TYPE_2D);
    let s = make(sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::REPEAT));
    let want = crate::format::num::srgb8_to_f32(130);
    assert_eq!(at(&v, &s, &[0.4, 0.7]), [1.0, want, 0.0, 1.0]);
}

fn info_1d(format: vk::Format, w: u32) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo { image_type: vk::ImageType::TYPE_1D, ..info_2d(format, w, 1) }
}

pub(crate) fn kernels_agree_with_the_general_path(machine: simd::Level) {
    let mut r = Random::new(1);
    let mut random = move || r.u32() >> 8;
    use vk::SamplerAddressMode as M;
    let wraps =
        [M::REPEAT, M::MIRRORED_REPEAT, M::CLAMP_TO_EDGE, M::MIRROR_CLAMP_TO_EDGE, M::CLAMP_TO_BORDER];
    let flat = |f| info_2d(f, 7, 4).mip_levels(3).array_layers(2);
    let power = info_2d(vk::Format::B8G8R8A8_SRGB, 8, 16).mip_levels(4);
    let depth = info_2d(vk::Format::D16_UNORM, 8, 5);
    let deep = info_2d(vk::Format::D32_SFLOAT, 6, 4).mip_levels(2);
    let solid = vk::ImageCreateInfo {
        image_type: vk::ImageType::TYPE_3D,
        extent: vk::Extent3D { width: 5, height: 8, depth: 3 },
        ..info_2d(vk::Format::R16G16_SFLOAT, 5, 8).mip_levels(2)
    };
    let row = info_1d(vk::Format::R10X6_UNORM_PACK16, 9).mip_levels(4);
    let in_parts = |mut info: vk::ImageCreateInfo<'static>| {
        info.flags = vk::ImageCreateFlags::SPARSE_BINDING | vk::ImageCreateFlags::SPARSE_RESIDENCY;
        info
    };
    let deep_parts =
        vk::ImageCreateInfo { extent: vk::Extent3D { width: 40, height: 34, depth: 18 }, ..solid };
    let line = |f| info_1d(f, 11).mip_levels(3).array_layers(2);
    let cube = |f, n, cubes: u32| {
        let info = info_2d(f, n, n).mip_levels(3).array_layers(6 * cubes);
        info.flags(vk::ImageCreateFlags::CUBE_COMPATIBLE)
    };
    let cases = [
        (cube(vk::Format::R8G8B8A8_UNORM, 5, 1), vk::ImageViewType::CUBE),
        (cube(vk::Format::R8G8B8A8_SRGB, 8, 2), vk::ImageViewType::CUBE_ARRAY),
        (cube(vk::Format::R16G16B16A16_SFLOAT, 6, 2), vk::ImageViewType::CUBE_ARRAY),
        (cube(vk::Format::R32_SFLOAT, 16, 1), vk::ImageViewType::CUBE),
        (cube(vk::Format::D32_SFLOAT, 4, 2), vk::ImageViewType::CUBE_ARRAY),
        (cube(vk::Format::R8G8_UNORM, 4, 1).mip_levels(1), vk::ImageViewType::CUBE),
        (info_2d(vk::Format::X8_D24_UNORM_PACK32, 9, 4).mip_levels(2), vk::ImageViewType::TYPE_2D),
        (line(vk::Format::R32_SFLOAT), vk::ImageViewType::TYPE_1D_ARRAY),
        (line(vk::Format::R8G8B8A8_UNORM), vk::ImageViewType::TYPE_1D_ARRAY),
        (info_1d(vk::Format::R16G16B16A16_SFLOAT, 16), vk::ImageViewType::TYPE_1D),
        (info_1d(vk::Format::R16_UNORM, 7), vk::ImageViewType::TYPE_1D),
        (flat(vk::Format::R8G8B8A8_UNORM), vk::ImageViewType::TYPE_2D_ARRAY),
        (flat(vk::Format::B8G8R8A8_SRGB), vk::ImageViewType::TYPE_2D_ARRAY),
        (flat(vk::Format::R8_SNORM), vk::ImageViewType::TYPE_2D_ARRAY),
        (flat(vk::Format::R8_UNORM), vk::ImageViewType::TYPE_2D_ARRAY),
        (flat(vk::Format::R8G8_UNORM), vk::ImageViewType::TYPE_2D_ARRAY),
        (flat(vk::Format::R16G16B16A16_SFLOAT), vk::ImageViewType::TYPE_2D_ARRAY),
        (power, vk::ImageViewType::TYPE_2D),
        (info_2d(vk::Format::R8G8B8A8_UNORM, 8, 4), vk::ImageViewType::TYPE_2D),
        (info_2d(vk::Format::B8G8R8A8_SRGB, 7, 5), vk::ImageViewType::TYPE_2D),
        (info_2d(vk::Format::R8_UNORM, 7, 5), vk::ImageViewType::TYPE_2D),
        (info_2d(vk::Format::R16G16_SFLOAT, 8, 4), vk::ImageViewType::TYPE_2D),
        (depth, vk::ImageViewType::TYPE_2D),
        (deep, vk::ImageViewType::TYPE_2D),
        (flat(vk::Format::R16_UINT), vk::ImageViewType::TYPE_2D_ARRAY),
        (solid, vk::ImageViewType::TYPE_3D),
        (solid.mip_levels(1), vk::ImageViewType::TYPE_3D),
        (solid.mip_levels(1).format(vk::Format::R8G8B8A8_UNORM), vk::ImageViewType::TYPE_3D),
        (solid.mip_levels(1).format(vk::Format::R8G8B8A8_UINT), vk::ImageViewType::TYPE_3D),
        (solid.mip_levels(1).format(vk::Format::BC3_SRGB_BLOCK), vk::ImageViewType::TYPE_3D),
        (row, vk::ImageViewType::TYPE_1D),
        (
            in_parts(info_2d(vk::Format::R16_UNORM, 260, 130).array_layers(2)),
            vk::ImageViewType::TYPE_2D_ARRAY,
        ),
        (in_parts(deep_parts), vk::ImageViewType::TYPE_3D),
    ];
    use vk::ComponentSwizzle as C;
    // Every format that is sampled, so that none is forgotten; those above with more of what else there is.
    let every = crate::format::all().iter().filter(|f| f.sampled() && !(f.has_depth() && f.has_stencil()));
    let every = every.map(|f| {
        let info = if f.compressed() {
            info_2d(f.format, 53, 22).mip_levels(3).array_layers(2)
        } else if f.requires_conversion() {
            info_2d(f.format, 8, 4).array_layers(2)
        } else {
            flat(f.format)
        };
        ((info, vk::ImageViewType::TYPE_2D_ARRAY), C::B, 90)
    });
    let is_there = |info: &vk::ImageCreateInfo| {
        crate::memory::sparse::THERE || !info.flags.contains(vk::ImageCreateFlags::SPARSE_BINDING)
    };
    let cases = cases.into_iter().filter(|(info, _)| is_there(info));
    let cases = cases.flat_map(|c| [(c, C::R, 400), (c, C::B, 400)]).chain(every);
    for ((info, t), r, times) in cases {
        let image = bound_image(&info);
        for mip in 0..image.mips {
            for layer in 0..image.layers {
                let aspects = [
                    vk::ImageAspectFlags::COLOR | vk::ImageAspectFlags::DEPTH,
                    vk::ImageAspectFlags::STENCIL,
                ];
                let s = aspects.into_iter().find_map(|a| image.surface(a, mip)).unwrap();
                let n = s.blocks.iter().product::<u32>() * s.format.block_bytes;
                // No infinities in half floats.
                let bits = if image.format.compressed() { 0xFF } else { 0x7b };
                let data: Vec<u8> = (0..n).map(|_| random() as u8 & bits).collect();
                fill(&image, mip, layer, &data);
            }
        }
        let compares = image.format.has_depth();
        let r = if compares { C::R } else { r };
        let swizzle = vk::ComponentMapping { r, ..Default::default() };
        let mut wide = view(&image, t, swizzle);
        assert_ne!(wide.wide, wide.is_cube);
        let mut general = view(&image, t, swizzle);
        general.wide = false;
        general.fast.iter_mut().chain(&mut general.solid).for_each(|f| f.off = true);
        wide.fast = wide.fast.and_then(|f| f.on(machine));
        wide.solid = wide.solid.and_then(|f| f.on(machine));
        let (mut waves, mut warps) = (0, 0);
        for case in 0u32..times {
            let wrap = |k: u32| wraps[(case / [1, 5, 3][k as usize] % 5) as usize];
            let filter =
                |bit: u32| if case >> bit & 1 == 1 { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
            let s = make(
                vk::SamplerCreateInfo::default()
                    .mag_filter(filter(0))
                    .min_filter(filter(1))
                    .mipmap_mode(vk::SamplerMipmapMode::from_raw((case >> 2 & 1) as i32))
                    .address_mode_u(wrap(0))
                    .address_mode_v(wrap(1))
                    .address_mode_w(wrap(2))
                    .max_lod(10.0)
                    .anisotropy_enable(case % 9 == 0 && !compares)
                    .max_anisotropy(5.0)
                    .compare_enable(compares && case % 2 == 1)
                    .compare_op(vk::CompareOp::from_raw((case / 2 % 8) as i32))
                    .border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE)
                    .flags(match case % 11 {
                        10 => vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT,
                        _ => vk::SamplerCreateFlags::empty(),
                    }),
            );
            let mut c = [[0u32; 16]; 4];
            for a in &mut c {
                a.fill_with(|| ((random() as f32 / (1 << 22) as f32) - 2.0).to_bits());
            }
            c[0][3] = f32::NAN.to_bits();
            c[1][7] = 1e30f32.to_bits();
            let dims = if wide.is_cube { 3 } else { wide.dims };
            if wide.is_cube {
                // No direction; to the middle of an edge, and to a corner.
                (0..3).for_each(|k| c[k][5] = 0);
                (0..3).for_each(|k| c[k][8] = [1f32, -1.0, 0.0][(k + case as usize) % 3].to_bits());
                (0..3).for_each(|k| c[k][9] = [1f32, -1.0][case as usize >> k & 1].to_bits());
            }
            let lod = std::array::from_fn(|_| ((random() % 64) as f32 / 16.0 - 1.0).to_bits());
            let offsets = [[case % 5; 16], [(case % 7).wrapping_sub(3); 16], [1; 16]];
            let dref = std::array::from_fn(|_| (random() as f32 / (1 << 24) as f32).to_bits());
            let bias = std::array::from_fn(|_| ((random() % 9) as f32 - 4.0).to_bits());
            let grad = std::array::from_fn(|_| {
                std::array::from_fn(|_| (random() as f32 / (1 << 25) as f32 - 0.25).to_bits())
            });
            let args = SampleArgs {
                dref: compares.then_some(&dref),
                bias: (case & 40 == 32).then_some(&bias),
                grad: (case & 72 == 64).then_some(&grad),
                min_lod: (case & 128 != 0).then_some(&lod),
                dims,
                arrayed: wide.arrayed,
                coords: &c,
                lod: (case & 8 != 0).then_some(&lod),
                offsets: (case & 16 != 0 && !wide.is_cube).then_some(&offsets[..wide.dims]),
                ..Default::default()
            };
            let (mut a, mut b) = ([[0; 16]; 4], [[0; 16]; 4]);
            let mask = random() as u16;
            sample_warp(&general, &s, &args, mask, &mut b);
            let touched = Touched::default();
            touched.sample(&general, &s, &args, mask);
            let order = touched.into_lines();
            let touched = Touched::default();
            touched.sample(&wide, &s, &args, mask);
            assert_eq!(touched.into_lines(), order, "{} {case}", image.format.name);
            let lines: BTreeSet<u64> = order.into_iter().collect();
            sample_warp(&wide, &s, &args, mask, &mut a);
            assert_eq!(a, b, "{} {case} {machine:?}", image.format.name);
            let mut c = [[0; 16]; 4];
            if super::wide::sample_on(machine, &wide, &s, &args, mask, &mut c) {
                warps += 1;
                assert_eq!(c, b, "{} {case} {machine:?}", image.format.name);
            }
            if wide.dims != 3 && !(args.offsets.is_some() && wide.is_cube) {
                let eight: [[u32; 16]; 8] =
                    std::array::from_fn(|_| std::array::from_fn(|_| (random() % 9).wrapping_sub(4)));
                let offsets = if case % 4 == 1 && wide.dims == 2 && !wide.is_cube {
                    Some(&eight[..])
                } else {
                    args.offsets
                };
                let args = SampleArgs { component: case % 4, offsets, ..args };
                let (mut a, mut b) = ([[7; 16]; 4], [[7; 16]; 4]);
                gather_warp(&general, &s, &args, mask, &mut b);
                gather_warp(&wide, &s, &args, mask, &mut a);
                assert_eq!(a, b, "gather of {} {case} {machine:?}", image.format.name);
            }
            fetches_agree(&wide, case, mask, &mut random);
            let counted = sample_lines(&wide, &s, &args, mask);
            // (Texels of 12 bytes lie in two lines.)
            let lined = wide.fast.is_some() && image.format.block_bytes != 12;
            assert_eq!(counted.is_some(), lined, "{} {case}", image.format.name);
            if let Some(n) = counted {
                assert_eq!(n as usize, lines.len(), "{} {case} {machine:?}", image.format.name);
            }
            waves += wave_agrees(&wide, &s, &args, mask, &b, lines.len() as u64) as u32;
        }
        let lanes = compares || wide.is_cube;
        let has_form = super::fast::PORTABLE || machine != simd::Level::PORTABLE;
        assert_eq!(
            warps > 0,
            has_form && wide.fast.is_none() && !lanes,
            "{} by whole warps",
            image.format.name
        );
        let lined = wide.fast.is_some() && image.format.block_bytes != 12;
        assert_eq!(waves > 0, lined, "{} has kernels for waves", image.format.name);
    }
}

/// Fetches of a wave are those of its warps, where there is a kernel for waves.
fn fetches_agree(v: &ImageView, case: u32, mask: u16, random: &mut impl FnMut() -> u32) {
    let used = v.dims + v.arrayed as usize;
    let mut c = [[[0u32; 16]; 2]; 3];
    for (k, c) in c.iter_mut().enumerate().take(used) {
        let limit = if k < v.dims { v.levels[0].size[k] } else { v.layers };
        for of in c {
            of.fill_with(|| if case.is_multiple_of(3) { random() % (limit + 2) } else { random() % limit });
        }
    }
    c[0][1][3] = u32::MAX;
    let levels = v.levels.len() as u32;
    let lod = [if case.is_multiple_of(4) { case / 4 % (levels + 1) } else { 0 }; 16];
    let exec: [u16; 32] = std::array::from_fn(|w| if w == 0 { 0xFFFF } else { mask });
    let mut got = [[[7u32; 16]; 2]; 4];
    let rows = |k: usize| simd::rows::Rows { at: c[k % 3].as_ptr().cast(), step: 64 };
    let wave = simd::rows::ImageRows {
        live: 3,
        exec: &exec,
        coords: [rows(0), rows(1), rows(2), simd::rows::Rows::NONE],
        lod: case.is_multiple_of(2).then_some(simd::rows::Rows { at: lod.as_ptr().cast(), step: 0 }),
        levels: Default::default(),
        dref: None,
        data: [simd::rows::Rows::NONE; 4],
        out: std::array::from_fn(|k| got[k].as_mut_ptr().cast()),
        lines: None,
        holes: None,
    };
    // SAFETY: rows of two warps.
    let done = unsafe { fetch_wave(v, v.dims, v.arrayed, &wave) };
    let exists = !case.is_multiple_of(2) || lod[0] < levels;
    let planned = !v.is_cube;
    assert_eq!(done, v.fast.is_some() && planned && exists, "{} {case}", v.format.name);
    for w in 0..if done { 2 } else { 0 } {
        let at = c.map(|c| c[w]);
        let (mut want, mut hi) = ([[7; 16]; 4], [[0; 16]; 4]);
        let lod = case.is_multiple_of(2).then_some(&lod);
        fetch_warp(v, &at[..used], lod, None, exec[w], &mut TexelData { lo: &mut want, hi: &mut hi });
        assert_eq!(got.map(|g| g[w]), want, "fetch of {} {case}", v.format.name);
    }
}

/// The same sample as warp 2 of a wave whose warp 1 is another, in place of the operands. False where waves have no
/// kernel.
pub(super) fn wave_agrees(
    v: &ImageView,
    s: &Sampler,
    args: &SampleArgs,
    mask: u16,
    want: &Warp4,
    lines: u64,
) -> bool {
    if args.offsets.is_some() || v.dims > 2 {
        return false;
    }
    let mut rows = [[[0u32; 16]; 3]; 4];
    for (r, c) in rows.iter_mut().zip(args.coords) {
        (r[1], r[2]) = ([7; 16], *c);
    }
    if args.arrayed {
        rows[args.dims][1] = [rows[args.dims][2][0]; 16];
    }
    let before = rows.map(|r| r[2]);
    let mut exec = [0xFFFF; 32];
    exec[2] = mask;
    let at: [*mut u8; 4] = std::array::from_fn(|k| rows[k].as_mut_ptr().cast());
    let counted = Cell::new(1000);
    // Warp 1 samples at one place: where, the same as a warp of its own.
    let one = rows.map(|r| r[1]);
    let alone = SampleArgs {
        coords: &one[..args.coords.len()],
        lod: args.lod,
        dref: args.dref,
        dims: args.dims,
        arrayed: args.arrayed,
        bias: args.bias,
        min_lod: args.min_lod,
        grad: args.grad,
        ..Default::default()
    };
    let one = |l: &[u32; 16]| simd::rows::Rows { at: l.as_ptr().cast(), step: 0 };
    let levels = simd::rows::LevelRows {
        bias: args.bias.map(one),
        min_lod: args.min_lod.map(one),
        grad: args.grad.map(|g| std::array::from_fn(|k| one(&g[k]))),
    };
    let touched = Touched::default();
    touched.sample(v, s, &alone, 0xFFFF);
    let first: BTreeSet<u64> = touched.into_lines().into_iter().collect();
    let wave = simd::rows::ImageRows {
        live: 0b110,
        exec: &exec,
        coords: at.map(|at| simd::rows::Rows { at, step: 64 }),
        lod: args.lod.map(|l| simd::rows::Rows { at: l.as_ptr().cast(), step: 0 }),
        levels,
        dref: args.dref.map(|d| simd::rows::Rows { at: d.as_ptr().cast(), step: 0 }),
        data: [simd::rows::Rows::NONE; 4],
        out: at,
        lines: Some(&counted),
        holes: None,
    };
    // SAFETY: rows of three warps.
    if !unsafe { sample_wave(v, s, args.dims, args.arrayed, &wave) } {
        return false;
    }
    assert_eq!(counted.get(), 1000 + first.len() as u64 + lines, "{} lines of a wave", v.format.name);
    for k in 0..4 {
        for l in 0..16 {
            let want = if mask >> l & 1 != 0 { want[k][l] } else { before[k][l] };
            assert_eq!(rows[k][2][l], want, "{} as a wave, lane {l}", v.format.name);
        }
    }
    // Who wants two of the results has the same ones.
    let mut two = [[[7u32; 16]; 3]; 4];
    let at: [*mut u8; 4] = std::array::from_fn(|k| two[k].as_mut_ptr().cast());
    let mut coords = [[[7u32; 16]; 3]; 4];
    for (r, c) in coords.iter_mut().zip(args.coords) {
        r[2] = *c;
    }
    let none = std::ptr::null_mut();
    let some = simd::rows::ImageRows {
        coords: std::array::from_fn(|k| simd::rows::Rows { at: coords[k].as_ptr().cast(), step: 64 }),
        out: [at[0], none, at[2], none],
        lines: None,
        ..wave
    };
    // SAFETY: as above.
    assert!(unsafe { sample_wave(v, s, args.dims, args.arrayed, &some) });
    for (k, l) in (0..4).flat_map(|k| (0..16).map(move |l| (k, l))) {
        let want = if k % 2 == 0 && mask >> l & 1 != 0 { want[k][l] } else { 7 };
        assert_eq!(two[k][2][l], want, "result {k} of two of {}, lane {l}", v.format.name);
    }
    true
}

/// Rows far apart, a warp's places near each other or not: the numbers of lines are those of sets of them.
pub(crate) fn lines_of_large_images(machine: simd::Level) {
    let mut r = Random::new(7);
    let mut unit = move || r.unit();
    for format in [vk::Format::R8G8B8A8_UNORM, vk::Format::R32G32B32A32_SFLOAT, vk::Format::R8_UNORM] {
        let image = bound_image(&info_2d(format, 1000, 300).mip_levels(4).array_layers(3));
        let mut v = plain(&image, vk::ImageViewType::TYPE_2D_ARRAY);
        v.fast = v.fast.and_then(|f| f.on(machine));
        for case in 0..300 {
            let filter = [vk::Filter::LINEAR, vk::Filter::NEAREST][case & 1];
            let wrap =
                [vk::SamplerAddressMode::REPEAT, vk::SamplerAddressMode::CLAMP_TO_BORDER][case >> 1 & 1];
            let s = make(
                sampler(filter, wrap)
                    .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
                    .anisotropy_enable(case & 4 != 0)
                    .max_anisotropy(16.0),
            );
            let size = [1.0, 0.1, 0.01, 0.001][case / 8 % 4];
            let (cx, cy) = (unit(), unit());
            let mut c = [[0u32; 16]; 3];
            for lane in 0..16 {
                c[0][lane] = (cx + size * unit()).to_bits();
                c[1][lane] = (cy + size * unit()).to_bits();
                c[2][lane] = (3.0 * unit() * (case & 64) as f32).to_bits();
            }
            let args = SampleArgs { dims: 2, arrayed: true, coords: &c, ..Default::default() };
            let mask = (unit() * 65536.0) as u16;
            let touched = Touched::default();
            touched.sample(&v, &s, &args, mask);
            let lines: BTreeSet<u64> = touched.into_lines().into_iter().collect();
            let n = sample_lines(&v, &s, &args, mask);
            let Some(n) = n else {
                assert!(v.fast.is_none());
                continue;
            };
            assert_eq!(n, lines.len() as u32, "{format:?} {case} {machine:?}");
        }
    }
}

//! Waves of cubes, 3D images and gathers, against the general path: whole faces and slices, edges of them, warps apart.

use super::tests::{fill, make, plain, sampler};
use super::*;
use crate::for_tests::{bound_image, info_2d};
use ash::vk;
use random::Random;
use simd::rows::{ImageRows, Rows};
use vk::Format as F;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    Cube,
    Cubes,
    Layers,
    Flat,
    Solid,
    Gather,
    GatherCompared,
}

const WARPS: usize = 10;

/// Where lanes of a warp sample: side by side from a place on, in steps; a part of them elsewhere.
fn places(way: Way, case: usize, unit: &mut impl FnMut() -> f32) -> [[u32; 16]; 4] {
    let mut c = [[0.0f32; 16]; 4];
    let step = [0.001, 0.02, 0.05, 0.1, 0.7][case % 5];
    let from = [unit() * 2.4 - 0.7, unit() * 2.4 - 0.7, unit() * 1.4 - 0.2];
    let face = (unit() * 6.0) as usize % 6;
    for lane in 0..16 {
        let (x, y) =
            ((lane >> 1 & 2 | lane & 1) as f32 * step, (lane >> 2 & 2 | lane >> 1 & 1) as f32 * step);
        match way {
            Way::Cube | Way::Cubes => {
                let (major, sign) = (face / 2, if face.is_multiple_of(2) { 1.0 } else { -1.0 });
                c[major][lane] = sign * 1.1;
                c[(major + 1) % 3][lane] = from[0] + x;
                c[(major + 2) % 3][lane] = from[1] - y;
                c[3][lane] = (case % 3) as f32;
            }
            _ => {
                c[0][lane] = from[0] + x;
                c[1][lane] = from[1] + y;
                c[2][lane] = if way == Way::Layers { (case % 5) as f32 } else { from[2] };
            }
        }
    }
    if case.is_multiple_of(7) {
        c[case % 3][case % 16] = [unit(), f32::NAN, 1e30][case % 3];
    }
    if case.is_multiple_of(11) && way == Way::Solid {
        c[2].iter_mut().for_each(|z| *z += step);
    }
    c.map(|c| c.map(f32::to_bits))
}

fn agree(way: Way, format: F, machine: simd::Level) {
    use vk::SamplerAddressMode as M;
    let mut r = Random::new(11);
    let mut unit = move || r.unit();
    let flat = |w, h| info_2d(format, w, h);
    let cube = |n: u32| flat(16, 16).array_layers(6 * n).flags(vk::ImageCreateFlags::CUBE_COMPATIBLE);
    let deep = vk::ImageCreateInfo {
        image_type: vk::ImageType::TYPE_3D,
        extent: vk::Extent3D { width: 20, height: 12, depth: 5 },
        ..flat(20, 12)
    };
    let (info, t, dims, arrayed) = match way {
        Way::Cube => (cube(1).mip_levels(3), vk::ImageViewType::CUBE, 3, false),
        Way::Cubes => (cube(2), vk::ImageViewType::CUBE_ARRAY, 3, true),
        Way::Layers => (flat(13, 9).array_layers(3), vk::ImageViewType::TYPE_2D_ARRAY, 2, true),
        Way::Solid => (deep, vk::ImageViewType::TYPE_3D, 3, false),
        _ => (flat(37, 16), vk::ImageViewType::TYPE_2D, 2, false),
    };
    let image = bound_image(&info);
    for (mip, layer) in (0..image.mips).flat_map(|m| (0..image.layers).map(move |l| (m, l))) {
        let s = image.surface(vk::ImageAspectFlags::COLOR | vk::ImageAspectFlags::DEPTH, mip).unwrap();
        let n = s.blocks.iter().product::<u32>() * s.format.block_bytes;
        let bits = if image.format.compressed() { 0xFF } else { 0x7B };
        let data: Vec<u8> = (0..n).map(|_| (unit() * 256.0) as u8 & bits).collect();
        fill(&image, mip, layer, &data);
    }
    let mut general = plain(&image, t);
    general.wide = false;
    general.fast.iter_mut().chain(&mut general.solid).for_each(|f| f.off = true);
    let mut v = plain(&image, t);
    v.fast = v.fast.and_then(|f| f.on(machine));
    v.solid = v.solid.and_then(|f| f.on(machine));
    if v.fast.is_none() && v.solid.is_none() {
        return;
    }
    let gathers = matches!(way, Way::Gather | Way::GatherCompared);
    for case in 0..48usize {
        let wraps = [M::REPEAT, M::CLAMP_TO_EDGE, M::MIRRORED_REPEAT, M::CLAMP_TO_BORDER];
        let filter = if case % 3 == 0 { vk::Filter::NEAREST } else { vk::Filter::LINEAR };
        let s = make(
            sampler(filter, wraps[case % 4])
                .address_mode_v(wraps[case / 4 % 4])
                .address_mode_w(wraps[case / 16 % 4])
                .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
                .max_lod(9.0)
                .border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE)
                .compare_enable(way == Way::GatherCompared)
                .compare_op(vk::CompareOp::from_raw((case % 8) as i32))
                .flags(match case % 9 {
                    8 => vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT,
                    _ => vk::SamplerCreateFlags::empty(),
                }),
        );
        let mut rows = [[[0u32; 16]; WARPS]; 4];
        let mut exec = [0u16; 32];
        for w in 0..WARPS {
            let c = places(way, case + w * w, &mut unit);
            (0..4).for_each(|k| rows[k][w] = c[k]);
            exec[w] = if w % 3 == 0 { 0xFFFF } else { (unit() * 65536.0) as u16 };
        }
        let dref = [[0.3f32.to_bits(), 0.7f32.to_bits()], [0, 1f32.to_bits()]].map(|d| d[case % 2]);
        let dref: [u32; 16] = std::array::from_fn(|l| dref[l % 2]);
        let lod = [[0.0f32, 0.4, 1.0, 1.7][case % 4].to_bits(); 16];
        let lod = (way == Way::Cube && case % 2 == 1).then_some(&lod);
        let dref = (way == Way::GatherCompared).then_some(&dref);
        let one = |r: &[u32; 16]| Rows { at: r.as_ptr().cast(), step: 0 };
        let mut out = [[[7u32; 16]; WARPS]; 4];
        let wave = ImageRows {
            live: (1 << WARPS) - 1,
            exec: &exec,
            coords: std::array::from_fn(|k| Rows { at: rows[k].as_ptr().cast(), step: 64 }),
            lod: lod.map(one),
            levels: Default::default(),
            dref: dref.map(one),
            data: [Rows::NONE; 4],
            out: std::array::from_fn(|k| out[k].as_mut_ptr().cast()),
            lines: None,
            holes: None,
        };
        let component = (case % 4) as u32;
        // SAFETY: rows and results of so many warps.
        let done = unsafe {
            match way {
                Way::Solid => sample_solid_wave(&v, &s, &wave),
                _ if gathers => gather_wave(&v, &s, component, &wave),
                _ => sample_wave(&v, &s, dims, arrayed, &wave),
            }
        };
        assert!(done, "{way:?} {format:?} {machine:?} has a kernel for waves");
        for w in 0..WARPS {
            let coords = rows.map(|r| r[w]);
            let coords = &coords[..dims + arrayed as usize];
            let args = SampleArgs { dims, arrayed, coords, lod, dref, component, ..Default::default() };
            let mut want = [[7; 16]; 4];
            if gathers {
                gather_warp(&general, &s, &args, exec[w], &mut want);
            } else {
                sample_warp(&general, &s, &args, exec[w], &mut want);
            }
            for k in 0..4 {
                assert_eq!(out[k][w], want[k], "{way:?} {format:?} {machine:?} {case}, warp {w}, {k}");
            }
        }
    }
}

/// Formats of every size and coding.
const COLOURS: [F; 24] = [
    F::R8_UNORM,
    F::R8G8_UNORM,
    F::R8G8B8A8_UNORM,
    F::B8G8R8A8_UNORM,
    F::R8G8B8A8_SRGB,
    F::R8_SNORM,
    F::R16_UINT,
    F::R8G8B8A8_SINT,
    F::R16G16_UNORM,
    F::R5G6B5_UNORM_PACK16,
    F::A2B10G10R10_UNORM_PACK32,
    F::E5B9G9R9_UFLOAT_PACK32,
    F::B10G11R11_UFLOAT_PACK32,
    F::R16G16B16A16_SFLOAT,
    F::R32G32_UINT,
    F::R32_SFLOAT,
    F::R32G32B32_SFLOAT,
    F::R32G32B32A32_SFLOAT,
    F::R32G32B32A32_SINT,
    F::BC1_RGBA_UNORM_BLOCK,
    F::BC2_UNORM_BLOCK,
    F::BC3_UNORM_BLOCK,
    F::BC4_UNORM_BLOCK,
    F::BC5_SNORM_BLOCK,
];
const DEPTHS: [F; 3] = [F::D16_UNORM, F::X8_D24_UNORM_PACK32, F::D32_SFLOAT];

/// Every way on a SIMD level.
pub(crate) fn waves_are_their_warps(machine: simd::Level) {
    for way in [Way::Cube, Way::Cubes, Way::Layers, Way::Flat, Way::Solid, Way::Gather] {
        COLOURS.iter().for_each(|f| agree(way, *f, machine));
    }
    for way in [Way::Cube, Way::Layers, Way::Flat, Way::Gather, Way::GatherCompared] {
        DEPTHS.iter().for_each(|f| agree(way, *f, machine));
    }
    taps(machine);
}

/// Taps along footprints of all lengths and directions, of warps some of whose quads are not active.
fn taps(machine: simd::Level) {
    let image = bound_image(&info_2d(F::R8G8B8A8_UNORM, 64, 32).mip_levels(6));
    let mut v = plain(&image, vk::ImageViewType::TYPE_2D);
    v.fast = v.fast.and_then(|f| f.on(machine));
    if v.fast.is_none() {
        return;
    }
    let linear = sampler(vk::Filter::LINEAR, vk::SamplerAddressMode::REPEAT);
    let s = make(linear.anisotropy_enable(true).max_anisotropy(8.0).max_lod(9.0));
    let mut c = [[[0u32; 16]; WARPS]; 2];
    let mut exec = [0; 32];
    for w in 0..WARPS {
        for lane in 0..16 {
            let [x, y] = [lane & 1, lane >> 1 & 1].map(|n| n as f32);
            let quad = (lane / 4 + w) as f32;
            c[0][w][lane] = (x * 0.02 * quad + y * 0.001 * w as f32).to_bits();
            c[1][w][lane] = (y * 0.07 - x * 0.01 * quad).to_bits();
        }
        exec[w] = [0xFFFF, 0x0FF0, 0xF00F, 0][w % 4];
    }
    let none = Rows { at: std::ptr::null(), step: 0 };
    let rows = |k: usize| Rows { at: c[k].as_ptr().cast(), step: 64 };
    let wave = ImageRows {
        live: (1 << WARPS) - 1,
        exec: &exec,
        coords: [rows(0), rows(1), none, none],
        lod: None,
        levels: Default::default(),
        dref: None,
        data: [none; 4],
        out: [std::ptr::null_mut(); 4],
        lines: None,
        holes: None,
    };
    let mut got = [0; 32];
    // SAFETY: rows of so many warps.
    assert!(unsafe { extra_taps_wave(&v, &s, &wave, &mut got) });
    let want: Vec<u32> = (0..WARPS)
        .map(|w| {
            let coords = [c[0][w], c[1][w]];
            let args = SampleArgs { dims: 2, coords: &coords, ..Default::default() };
            extra_taps(&v, &s, &args, exec[w])
        })
        .collect();
    assert_eq!(got[..WARPS], want);
    assert!(want.iter().any(|n| *n > 16) && want.contains(&0), "{want:?}");
}

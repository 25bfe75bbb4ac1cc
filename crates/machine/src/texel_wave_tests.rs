//! A wave's operations against those of its warps one by one, on every SIMD level.

use super::*;
use ash::vk;
use random::Random;
use simd::rows::Rows;
use std::sync::Arc;
use texel::for_tests::{bound_image, info_2d, plain};
use texel::image::Image;
use texel::sample::{TexelData, load_warp, store_warp, texel_pointers};
use wave::kernels::atomic::apply;

const WARPS: usize = 3;
type Lanes = [[u32; 16]; WARPS];

/// The warps' active lanes: all, some, and none but one; the middle warp does not take part.
const EXEC: [u16; WARPS] = [0xFFFF, 0xFFFF, 0x8E35];
const LIVE: u32 = 0b101;

/// An image of random bytes, twice the same.
fn images(info: &vk::ImageCreateInfo) -> [Arc<Image>; 2] {
    let pair = [bound_image(info), bound_image(info)];
    let mut random = Random::new(5);
    for at in 0..bytes(&pair[0]).len() {
        let b = random.u32() as u8;
        for i in &pair {
            // SAFETY: within the image.
            unsafe { *bytes(i).as_ptr().cast_mut().add(at) = b };
        }
    }
    pair
}

/// All of an image's bytes, from its first texel on.
fn bytes(image: &Image) -> &[u8] {
    let s = image.surface(vk::ImageAspectFlags::COLOR, 0).unwrap();
    let bytes = s.layer_pitch as usize * image.layers as usize;
    // SAFETY: one level, all layers.
    unsafe { std::slice::from_raw_parts(s.base, bytes) }
}

/// Coordinates that are mostly inside; the first warp's go along a row.
fn coords(random: &mut Random, size: u32, row: bool) -> Lanes {
    let mut c: Lanes = std::array::from_fn(|_| std::array::from_fn(|_| random.u32() % (size + 2)));
    if row {
        c[0] = std::array::from_fn(|i| i as u32);
    }
    c[2][4] = u32::MAX;
    c
}

fn rows(c: &Lanes) -> Rows {
    Rows { at: c.as_ptr().cast(), step: 64 }
}

/// Runs one operation as a wave and warp by warp: `reference` of a view, a warp's coordinates, operands, lanes and results.
fn compare(
    level: Level,
    info: &vk::ImageCreateInfo,
    kind: vk::ImageViewType,
    op: ImageOp,
    reference: impl Fn(&ImageView, &[[u32; 16]; 4], &Warp4, u16, &mut Warp4),
) {
    let pair = images(info);
    let [ours, theirs] = [plain(&pair[0], kind), plain(&pair[1], kind)];
    let texels = Texels::of_image(&ours).expect("a class with kernels");
    let mut random = Random::new(level.index() as u64 + 9);
    for round in 0..8 {
        let size = [info.extent.width, info.extent.height, info.extent.depth.max(info.array_layers), 1];
        let c: [Lanes; 4] = std::array::from_fn(|k| {
            let mut c = coords(&mut random, size[k], k == 0 && round % 2 == 0);
            if k > 0 && round % 2 == 0 {
                c[0] = [1; 16];
            }
            c
        });
        let data: [Lanes; 4] = std::array::from_fn(|_| {
            std::array::from_fn(|_| std::array::from_fn(|_| (random.u32() >> 8) << 3))
        });
        let before: [Lanes; 4] = std::array::from_fn(|k| [[k as u32 + 7; 16]; WARPS]);
        let mut out = before;
        let mut exec = [0; 32];
        exec[..WARPS].copy_from_slice(&EXEC);
        let wave = ImageRows {
            live: LIVE,
            exec: &exec,
            coords: std::array::from_fn(|k| rows(&c[k])),
            lod: None,
            levels: Default::default(),
            dref: None,
            data: std::array::from_fn(|k| rows(&data[k])),
            out: out.each_mut().map(|o| o.as_mut_ptr().cast()),
            lines: None,
            holes: None,
        };
        // SAFETY: rows of three warps, a live image.
        assert!(unsafe { texels.run_on(level, op, &wave) });
        for w in 0..WARPS {
            let mut want = before.map(|b| b[w]);
            if LIVE >> w & 1 != 0 {
                reference(&theirs, &c.map(|c| c[w]), &data.map(|d| d[w]), EXEC[w], &mut want);
            }
            // Writes have no results, atomics one.
            assert_eq!(out.map(|o| o[w]), want, "{op:?} of {}, warp {w}, {level:?}", ours.format.name);
        }
        assert!(bytes(&pair[0]) == bytes(&pair[1]), "{op:?} of {}, {level:?}", ours.format.name);
    }
}

/// The kinds of images, of odd sizes.
fn kinds(format: vk::Format) -> [(vk::ImageCreateInfo<'static>, vk::ImageViewType); 3] {
    let flat = info_2d(format, 21, 7);
    let volume = info_2d(format, 19, 5).image_type(vk::ImageType::TYPE_3D);
    let volume = volume.extent(vk::Extent3D { width: 19, height: 5, depth: 3 });
    [
        (flat, vk::ImageViewType::TYPE_2D),
        (flat.array_layers(3), vk::ImageViewType::TYPE_2D_ARRAY),
        (volume, vk::ImageViewType::TYPE_3D),
    ]
}

fn reads_and_writes_are_those_of_the_warps(level: Level) {
    use vk::Format as F;
    let formats = [
        F::R32_UINT,
        F::R32_SFLOAT,
        F::R8_UNORM,
        F::R8G8B8A8_SNORM,
        F::R16G16_UINT,
        F::R16G16B16A16_SFLOAT,
        F::B10G11R11_UFLOAT_PACK32,
        F::R32G32B32A32_SINT,
    ];
    for (info, kind) in formats.into_iter().flat_map(kinds) {
        compare(level, &info, kind, ImageOp::Read, |v, c, _, mask, out| {
            load_warp(v, c, None, mask, &mut TexelData { lo: out, hi: &mut [[0; 16]; 4] })
        });
        compare(level, &info, kind, ImageOp::Write, |v, c, data, mask, _| {
            store_warp(v, c, None, mask, data, &[[0; 16]; 4])
        });
    }
}

/// Against what each atomic does, lane after lane.
fn atomics_are_those_of_the_lanes(level: Level) {
    use AtomicOp::*;
    for op in [Load, Store, Exchange, CompareExchange, IAdd, UMax, Xor] {
        for (info, kind) in kinds(vk::Format::R32_UINT) {
            compare(level, &info, kind, ImageOp::Atomic(op), |v, c, data, mask, out| {
                let texels = texel_pointers(v, c, None, mask);
                for lane in lanes(mask) {
                    let at = texels[lane].cast::<u32>();
                    // SAFETY: a texel of the view.
                    let old = if at.is_null() { 0 } else { unsafe { *at } };
                    let new = apply(op, Mem::B32, old as u64, data[0][lane] as u64, data[1][lane] as u64);
                    if let Some(new) = new.filter(|_| !at.is_null()) {
                        // SAFETY: as above.
                        unsafe { *at = new as u32 };
                    }
                    if op != Store {
                        out[0][lane] = old;
                    }
                }
                if op != Store {
                    lanes(mask).for_each(|lane| (1..4).for_each(|k| out[k][lane] = 0));
                }
            });
        }
    }
}

simd::walk! {
    "texel_wave::run_at" => |level| {
        reads_and_writes_are_those_of_the_warps(level);
        atomics_are_those_of_the_lanes(level);
    };
}

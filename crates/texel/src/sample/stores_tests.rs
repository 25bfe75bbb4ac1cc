//! Writes of waves against [`store_warp`]'s, texel by texel: of every format, in rectangles of every shape, at edges, here and there.

use super::texel::Grid;
use super::{ImageView, store_warp, store_wave};
use crate::for_tests::{bound_image, info_2d, plain, space};
use crate::format::kernels::packs;
use crate::format::kernels::tests::{any_channel, whole_formats};
use crate::image::Image;
use ash::vk;
use random::Random;
use simd::Level;
use simd::rows::{ImageRows, Rows};

const WARPS: usize = 19;

/// Columns and rows of a warp's lanes: rectangles of 4, 8 and 16 columns by quads, turned or backwards, and what fills none.
fn shape(kind: usize, lane: u32, random: &mut Random) -> [u32; 2] {
    let (x, y) = (lane >> 1 & 2 | lane & 1, lane >> 2 & 2 | lane >> 1 & 1);
    match kind % 9 {
        0 => [x, y],
        1 => [y, x],
        2 => [lane % 8, lane / 8],
        3 => [lane, 0],
        4 => [3 - x, y],
        5 => [15 - lane, 0],
        // Two lanes with one texel; a column too many.
        6 => [if lane == 9 { 0 } else { x }, y],
        7 => [x * 2, y],
        _ => [random.u32() % 7, random.u32() % 5],
    }
}

fn bytes(image: &Image) -> &[u8] {
    let s = image.surface(vk::ImageAspectFlags::COLOR, 0).unwrap();
    // SAFETY: one level, all layers.
    unsafe { std::slice::from_raw_parts(s.base, s.layer_pitch as usize * image.layers as usize) }
}

fn agree(level: Level, info: &vk::ImageCreateInfo, t: vk::ImageViewType, random: &mut Random) {
    let images = [bound_image(info), bound_image(info)];
    let [ours, theirs]: [ImageView; 2] = std::array::from_fn(|i| plain(&images[i], t));
    let l = &ours.levels[0];
    let grid = Grid::new(&ours, l, false);
    for case in 0..9 {
        let mut coords = [[[0u32; 16]; WARPS]; 4];
        let mut data = [[[0u32; 16]; WARPS]; 4];
        let mut exec = [0u16; 32];
        for w in 0..WARPS {
            // Most are inside: of 37 by 9 texels.
            let at = [random.u32() % 36, random.u32() % 8, random.u32() % 4];
            for lane in 0..16 {
                // Four warps with one shape: what is known of the first serves the others.
                let [x, y] = shape(case + w / 4, lane as u32, random);
                coords[0][w][lane] = (at[0] + x).wrapping_sub(1);
                coords[1][w][lane] = (at[1] + y).wrapping_sub(1);
                coords[2][w][lane] = if w % 7 == 6 { lane as u32 % 3 } else { at[2] };
                (0..4).for_each(|k| data[k][w][lane] = any_channel(random));
            }
            exec[w] = [0xFFFF, 0xFFFF, 0xFFFF, random.u32() as u16, 0][w % 5];
        }
        let rows = |of: &[[u32; 16]; WARPS]| Rows { at: of.as_ptr().cast(), step: 64 };
        let mut wave = ImageRows {
            live: ((1 << WARPS) - 1) & !(1 << case),
            exec: &exec,
            coords: coords.each_ref().map(rows),
            lod: None,
            levels: Default::default(),
            dref: None,
            data: data.each_ref().map(rows),
            out: [std::ptr::null_mut(); 4],
            lines: None,
            holes: None,
        };
        // One channel may be the same in all warps, and another not be given.
        if case % 3 == 1 {
            (wave.data[0].step, wave.data[3]) = (0, Rows::NONE);
        }
        // SAFETY: rows of so many warps, an image of the format.
        assert!(unsafe { store_wave(level, &grid, l.base, ours.format, &wave) });
        for w in (0..WARPS).filter(|w| wave.live >> w & 1 != 0) {
            let mut of = data.map(|d| d[w]);
            if case % 3 == 1 {
                (of[0], of[3]) = (data[0][0], [0; 16]);
            }
            store_warp(&theirs, &coords.map(|c| c[w]), None, exec[w], &of, &[[0; 16]; 4]);
        }
        assert!(bytes(&images[0]) == bytes(&images[1]), "{} as {t:?}, {level:?}, {case}", ours.format.name);
    }
}

/// Every format that warps are written of, in every kind of view.
pub(crate) fn stores_are_those_of_the_warps(level: Level) {
    let (mut random, mut formats) = (Random::new(4), 0);
    for format in whole_formats().filter(|f| packs(f) && f.aspects() == vk::ImageAspectFlags::COLOR) {
        let flat = info_2d(format.format, 37, 9);
        // (Some are only for vertices.)
        if Image::new(space(), &flat).is_err() {
            continue;
        }
        formats += 1;
        agree(level, &flat, vk::ImageViewType::TYPE_2D, &mut random);
        if formats % 8 != 0 {
            continue;
        }
        let extent = |width, height, depth| vk::Extent3D { width, height, depth };
        let volume = flat.image_type(vk::ImageType::TYPE_3D).extent(extent(37, 9, 3));
        let line = flat.image_type(vk::ImageType::TYPE_1D).extent(extent(37, 1, 1));
        agree(level, &flat.array_layers(3), vk::ImageViewType::TYPE_2D_ARRAY, &mut random);
        agree(level, &volume, vk::ImageViewType::TYPE_3D, &mut random);
        agree(level, &line, vk::ImageViewType::TYPE_1D, &mut random);
        agree(level, &line.array_layers(12), vk::ImageViewType::TYPE_1D_ARRAY, &mut random);
    }
    assert!(formats > 60, "{formats} formats");
}

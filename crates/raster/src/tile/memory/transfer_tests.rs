//! Tiles come and go by vectors as pixel by pixel.

use super::*;
use crate::layout::PIXELS;
use ash::vk::Format as F;

#[derive(Clone, PartialEq)]
#[repr(C, align(64))]
struct Tile([u8; PIXELS * 16]);

#[derive(Clone, Copy, PartialEq)]
#[repr(C, align(64))]
struct Memory([u8; LINE]);

/// What [`moved_body`] moves, pixel by pixel.
fn by_pixels(plane: &Plane, p: &Place, load: bool) -> u8 {
    let rows = |row: unsafe fn(&Place, usize, usize, usize, bool) -> u8| {
        // SAFETY: pixels of the place, of this kind.
        (p.y0..p.y1).fold(0, |differs, y| differs | unsafe { row(p, p.x0, p.x1, y, load) })
    };
    match (plane.kind, plane.bytes) {
        (PlaneKind::Depth16, _) => rows(pixels::<Depth<u16>>),
        (PlaneKind::Depth24, _) => rows(pixels::<Depth<u32>>),
        (_, 1) => rows(pixels::<Bytes<1>>),
        (_, 2) => rows(pixels::<Bytes<2>>),
        (_, 4) => rows(pixels::<Bytes<4>>),
        (_, 8) => rows(pixels::<Bytes<8>>),
        _ => rows(pixels::<Bytes<16>>),
    }
}

/// Tiles come and go by vectors as pixel by pixel, whole and in part.
pub(crate) fn moves_are_those_of_pixels(level: Level) {
    let kinds = [
        (F::R8_UNORM, PlaneKind::Color),
        (F::R8G8_UNORM, PlaneKind::Color),
        (F::R8G8B8A8_UNORM, PlaneKind::Color),
        (F::R16G16B16A16_SFLOAT, PlaneKind::Color),
        (F::R32G32B32A32_UINT, PlaneKind::Color),
        (F::D16_UNORM, PlaneKind::Depth16),
        (F::X8_D24_UNORM_PACK32, PlaneKind::Depth24),
        (F::D32_SFLOAT, PlaneKind::Depth32),
        (F::S8_UINT, PlaneKind::Stencil),
    ];
    let mut seed = 3u32;
    let mut random = |memory: &mut Vec<Memory>| {
        memory.iter_mut().flat_map(|m| &mut m.0).for_each(|byte| {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            *byte = (seed >> 24) as u8;
        })
    };
    for (format, kind) in kinds {
        let format = texel::format::info(format).unwrap();
        // Every second row begins with a line of cache.
        let pitch = 64 * format.block_bytes as usize + LINE / 2;
        let mut memory = vec![Memory([0; LINE]); pitch];
        for [x0, x1, y0, y1] in
            [[0, 64, 0, 64], [3, 61, 5, 62], [0, 64, 1, 4], [8, 43, 8, 24], [17, 19, 0, 64]]
        {
            random(&mut memory);
            let mut other = memory.clone();
            random(&mut other);
            // Some is there already.
            let same = 20 * pitch / LINE..40 * pitch / LINE;
            other[same.clone()].copy_from_slice(&memory[same]);
            let run = |move_: &dyn Fn(&Plane, &Place, bool) -> u8| {
                let (mut from, mut to, mut tile) =
                    (memory.clone(), other.clone(), Box::new(Tile([0; PIXELS * 16])));
                let mut differs = 0;
                for (memory, load) in [(&mut from, true), (&mut to, false)] {
                    let plane = Plane::of(format, kind, memory.as_mut_ptr().cast(), pitch as u64, 64);
                    let tile = tile.0.as_mut_ptr();
                    let p = Place { tile, memory: plane.base, pitch, x0, x1, y0, y1 };
                    differs = move_(&plane, &p, load);
                }
                simd::streamed();
                (from, to, tile, differs)
            };
            let want = run(&by_pixels);
            let ways = [[true, false], [true, true], [false, false], [false, true]];
            for writes in ways.map(|[compares, past]| Writes { compares, past }) {
                // SAFETY: the memory has the place.
                let got = run(&|plane, p, load| unsafe { moved(level, plane, p, writes, load) });
                assert!(
                    got.0 == memory && got.1 == want.1 && got.2 == want.2,
                    "{} {x0} {y0} {level:?} {writes:?}",
                    format.name
                );
                if kind == PlaneKind::Color && writes.compares {
                    assert_eq!(got.3, want.3, "quarters of {} {x0} {y0} {level:?}", format.name);
                }
            }
        }
    }
}

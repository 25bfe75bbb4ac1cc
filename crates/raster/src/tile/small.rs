//! Coverage of small polygons: each edge at every block of their bounds, straight, with nothing set up beforehand.

use super::cover::{Covered, MAX_SAMPLES};
use crate::layout::{LANES, TILE, window};
use crate::prim::Prim;
use crate::state::Rect;
use simd::Simd;
use texel::vector;

/// Pixels along either side of what counts as small, within the tile. Larger ones are better off with edges that know
/// which blocks they cross ([`super::cover`]).
const MOST: i32 = 16;

/// Edges this far off keep their sign all over a tile.
const FAR: i64 = 1 << 30;

/// Lists the blocks of which a sample is covered. False if the polygon is not small (nothing is listed then).
#[inline(always)]
pub fn list<S: Simd>(
    s: S,
    p: &Prim,
    origin: [i32; 2],
    locations: &[[u8; 2]],
    samples: usize,
    out: &mut Covered,
) -> bool {
    let b = p.bounds.rect();
    let b = Rect {
        x0: (b.x0 - origin[0]).max(0),
        y0: (b.y0 - origin[1]).max(0),
        x1: (b.x1 - origin[0]).min(TILE),
        y1: (b.y1 - origin[1]).min(TILE),
    };
    if b.x1 - b.x0 > MOST || b.y1 - b.y0 > MOST {
        return false;
    }
    let (left, top) = (b.x0 >> 2, b.y0 >> 2);
    let (right, bottom) = ((b.x1 + 3) >> 2, (b.y1 + 3) >> 2);
    let count = (p.edge_count as usize).min(4);
    // Values in whole pixels' steps, as in `cover`: the fraction can go. First at lane 0 of the first block, then what
    // is added for the others.
    let mut at = [[0i32; 4]; MAX_SAMPLES];
    let mut offsets = [s.isplat(0); 4];
    for k in 0..count {
        let e = &p.edges[k];
        for s in 0..samples {
            let [sx, sy] = locations[s];
            let x = (origin[0] + left * 4) as i64 * 256 + sx as i64 * 16;
            let y = (origin[1] + top * 4) as i64 * 256 + sy as i64 * 16;
            let v = (e.a as i64 * x + e.b as i64 * y + e.c) >> 8;
            at[s][k] = v.clamp(-FAR, FAR) as i32;
        }
        let x = s.imul(s.isplat(e.a as u32), vector::load(s, &LANES[0]));
        let y = s.imul(s.isplat(e.b as u32), vector::load(s, &LANES[1]));
        offsets[k] = s.iadd(x, y);
    }
    let mut n = 0;
    for by in top..bottom {
        for bx in left..right {
            let (x, y) = (bx * 4, by * 4);
            let seen = window(b.x0 - x, b.y0 - y, b.x1 - x, b.y1 - y);
            let masks = &mut out.masks[n];
            let mut any = 0;
            for sample in 0..samples {
                let mut least = s.isplat(0);
                for k in 0..count {
                    let e = &p.edges[k];
                    let v = at[sample][k] + (bx - left) * 4 * e.a + (by - top) * 4 * e.b;
                    // The sign says whether any of the values is negative.
                    least = s.ior(least, s.iadd(offsets[k], s.isplat(v as u32)));
                }
                masks[sample] = seen & !s.mbits(s.sgt(s.isplat(0), least));
                any |= masks[sample];
            }
            out.blocks[n] = (by * 16 + bx) as u8;
            n += (any != 0) as usize;
        }
    }
    out.count = n;
    true
}

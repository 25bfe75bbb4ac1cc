//! Coverage of small polygons: each edge is evaluated at every block of their bounds, without any set-up.

use crate::layout::{LANES, TILE, lane_x, lane_y, window};
use crate::prim::{Edge, Prim};
use crate::state::Rect;
use crate::tile::cover::{Covered, MAX_SAMPLES};
use simd::{Simd, ops};
use std::mem::MaybeUninit;
use texel::vector;

/// Pixels along either side of what counts as small, within the tile. Larger ones are better off with edges that know
/// which blocks they cross ([`crate::tile::cover`]).
pub(in crate::tile) const MOST: i32 = 16;

/// Edges this far off keep their sign all over a tile.
const FAR: i64 = 1 << 30;

/// Blocks along either side of those that a small polygon touches, at most.
const SIDE: usize = MOST as usize / 4 + 1;

/// Covered blocks of a small polygon, one sample a pixel.
pub struct Small {
    count: usize,
    blocks: [MaybeUninit<u8>; Small::ROOM],
    masks: [MaybeUninit<u16>; Small::ROOM],
}

impl Small {
    /// One more than there may be has room.
    const ROOM: usize = SIDE * SIDE + 1;

    #[inline(always)]
    pub(in crate::tile) fn new() -> Small {
        Small {
            count: 0,
            blocks: [MaybeUninit::uninit(); Small::ROOM],
            masks: [MaybeUninit::uninit(); Small::ROOM],
        }
    }

    /// Blocks and their covered lanes.
    #[inline(always)]
    pub fn list(&self) -> impl Iterator<Item = (&u8, &u16)> {
        let n = self.count.min(Small::ROOM);
        // SAFETY: so many have been written.
        let (blocks, masks) =
            unsafe { (self.blocks[..n].assume_init_ref(), self.masks[..n].assume_init_ref()) };
        blocks.iter().zip(masks)
    }
}

/// What takes a small polygon's covered blocks.
pub trait Blocks {
    /// The `n`th, unless its mask is empty: then the next one comes in its place. There is room for one more than there may be.
    fn put(&mut self, n: usize, block: u8, mask: u16);
    /// There are so many.
    fn end(&mut self, n: usize);
}

impl Blocks for Small {
    #[inline(always)]
    fn put(&mut self, n: usize, block: u8, mask: u16) {
        let at = n.min(Small::ROOM - 1);
        self.blocks[at].write(block);
        self.masks[at].write(mask);
    }
    #[inline(always)]
    fn end(&mut self, n: usize) {
        self.count = n;
    }
}

impl Blocks for Covered {
    #[inline(always)]
    fn put(&mut self, n: usize, block: u8, mask: u16) {
        let at = n.min(Small::ROOM - 1);
        self.blocks[at] = block;
        self.masks[at][0] = mask;
    }
    #[inline(always)]
    fn end(&mut self, n: usize) {
        self.count = n;
    }
}

/// Lanes of a block whose column (or row) has its bit in the index.
const fn lanes_of(y: bool) -> [u32; 16] {
    let mut t = [0; 16];
    let mut bits = 0;
    while bits < 16 {
        let mut l = 0;
        while l < 16 {
            if bits >> (if y { lane_y(l) } else { lane_x(l) }) & 1 != 0 {
                t[bits] |= 1 << l;
            }
            l += 1;
        }
        bits += 1;
    }
    t
}
pub(in crate::tile) static COLUMNS: [u32; 16] = lanes_of(false);
pub(in crate::tile) static ROWS: [u32; 16] = lanes_of(true);

/// Columns and rows within bounds, a bit each from a first block on.
pub(in crate::tile) struct Window {
    columns: u32,
    rows: u32,
}

impl Window {
    /// From the block in column `left` and row `top` on.
    #[inline(always)]
    pub(in crate::tile) fn new(b: &Rect, left: i32, top: i32) -> Window {
        let bits = |from: i32, to: i32| (1u32 << to).wrapping_sub(1 << from);
        Window { columns: bits(b.x0 - left * 4, b.x1 - left * 4), rows: bits(b.y0 - top * 4, b.y1 - top * 4) }
    }
    /// Lanes of a block so many blocks from the first.
    #[inline(always)]
    pub(in crate::tile) fn lanes(&self, bx: i32, by: i32) -> u16 {
        let of = |bits: u32, n: i32| (bits >> (n * 4) & 0xF) as usize;
        (ROWS[of(self.rows, by)] & COLUMNS[of(self.columns, bx)]) as u16
    }
}

/// [`Prim::corners`] in 1/256 pixels.
#[inline(always)]
pub(in crate::tile) fn fixed<S: Simd>(s: S, corner: S::F) -> S::I {
    s.f_to_s_raw(s.fmul(corner, s.fsplat(256.0)))
}

/// -1 where samples on an edge do not belong to its polygon ([`crate::prim::top_left`]), else 0.
#[inline(always)]
pub(in crate::tile) fn not_top_left<S: Simd>(s: S, a: S::I, b: S::I) -> S::I {
    // Twice a, and one more where b > 0, is positive where they do.
    let positive = ops::shr(s, s.isub(s.isplat(0), b), 31);
    let twice = s.iadd(ops::shl(s, a, 1), positive);
    ops::sar(s, s.isub(twice, s.isplat(1)), 31)
}

/// A polygon's bounds in the tile, if they are no more than so many pixels along either side.
#[inline(always)]
pub(in crate::tile) fn bounds(p: &Prim, origin: [i32; 2], most: i32) -> Option<Rect> {
    let b = p.bounds.rect();
    let b = Rect {
        x0: (b.x0 - origin[0]).max(0),
        y0: (b.y0 - origin[1]).max(0),
        x1: (b.x1 - origin[0]).min(TILE),
        y1: (b.y1 - origin[1]).min(TILE),
    };
    (b.x1 - b.x0 <= most && b.y1 - b.y0 <= most).then_some(b)
}

/// Lists the blocks that are covered, by a sample at each pixel's centre. False if the polygon is not small (nothing is listed
/// then).
#[inline(always)]
pub fn centers<S: Simd>(s: S, p: &Prim, list: &[Edge], origin: [i32; 2], out: &mut impl Blocks) -> bool {
    let Some(b) = bounds(p, origin, MOST) else { return false };
    let edges = p.edges(list);
    match p.form.edges() {
        3 => centers_of::<S, 3, _>(s, &edges, origin, &b, out),
        0 => centers_of::<S, 0, _>(s, &edges, origin, &b, out),
        // Edges that there are not are all zero: everything is inside.
        _ => centers_of::<S, 4, _>(s, &edges, origin, &b, out),
    }
    true
}

#[inline(always)]
fn centers_of<S: Simd, const EDGES: usize, B: Blocks>(
    s: S,
    edges: &[Edge; 4],
    origin: [i32; 2],
    b: &Rect,
    out: &mut B,
) {
    if b.is_empty() {
        return out.end(0);
    }
    let (left, top) = (b.x0 >> 2, b.y0 >> 2);
    let (right, bottom) = ((b.x1 + 3) >> 2, (b.y1 + 3) >> 2);
    let zero = s.isplat(0);
    let x = vector::load(s, &LANES[0]);
    let y = vector::load(s, &LANES[1]);
    let mut row = [zero; EDGES];
    let mut right_by = [zero; EDGES];
    let mut down_by = [zero; EDGES];
    for k in 0..EDGES {
        // Values in whole pixels' steps, as in `cover`: the fraction can go.
        let e = &edges[k];
        let x0 = (origin[0] + left * 4) as i64 * 256 + 128;
        let y0 = (origin[1] + top * 4) as i64 * 256 + 128;
        let v = (e.a as i64 * x0 + e.b as i64 * y0 + e.c) >> 8;
        let first = s.isplat(v.clamp(-FAR, FAR) as i32 as u32);
        let (a, b) = (s.isplat(e.a as u32), s.isplat(e.b as u32));
        row[k] = s.iadd(first, s.iadd(s.imul(a, x), s.imul(b, y)));
        right_by[k] = s.isplat((e.a as u32).wrapping_mul(4));
        down_by[k] = s.isplat((e.b as u32).wrapping_mul(4));
    }
    let window = Window::new(b, left, top);
    let mut n = 0;
    let mut add = |bx: i32, by: i32, mask: u16| {
        out.put(n, ((top + by) * 16 + left + bx) as u8, mask);
        n += (mask != 0) as usize;
    };
    if right - left <= 2 && bottom - top <= 2 {
        // Most: four blocks at once, whether or not there are as many.
        let mut least = [zero; 4];
        for k in 0..EDGES {
            let (here, below) = (row[k], s.iadd(row[k], down_by[k]));
            least[0] = s.ior(least[0], here);
            least[1] = s.ior(least[1], s.iadd(here, right_by[k]));
            least[2] = s.ior(least[2], below);
            least[3] = s.ior(least[3], s.iadd(below, right_by[k]));
        }
        let out_of = s.mbits4([
            s.sgt(zero, least[0]),
            s.sgt(zero, least[1]),
            s.sgt(zero, least[2]),
            s.sgt(zero, least[3]),
        ]);
        for (i, (bx, by)) in [(0, 0), (1, 0), (0, 1), (1, 1)].into_iter().enumerate() {
            add(bx, by, window.lanes(bx, by) & !(out_of >> (16 * i)) as u16);
        }
        out.end(n);
        return;
    }
    for by in 0..(bottom - top).min(SIDE as i32) {
        let mut value = row;
        for bx in 0..(right - left).min(SIDE as i32) {
            // The sign says whether any of the values is negative.
            let mut least = zero;
            for k in 0..EDGES {
                least = s.ior(least, value[k]);
                value[k] = s.iadd(value[k], right_by[k]);
            }
            add(bx, by, window.lanes(bx, by) & !s.mbits(s.sgt(zero, least)));
        }
        for k in 0..EDGES {
            row[k] = s.iadd(row[k], down_by[k]);
        }
    }
    out.end(n);
}

/// Lists the blocks of which a sample is covered. False if the polygon is not small (nothing is listed then).
#[inline(always)]
pub fn list<S: Simd>(
    s: S,
    p: &Prim,
    list: &[Edge],
    origin: [i32; 2],
    locations: &[[u8; 2]],
    samples: usize,
    out: &mut Covered,
) -> bool {
    if samples == 1 {
        return centers(s, p, list, origin, out);
    }
    let Some(b) = bounds(p, origin, MOST) else { return false };
    let (left, top) = (b.x0 >> 2, b.y0 >> 2);
    let (right, bottom) = ((b.x1 + 3) >> 2, (b.y1 + 3) >> 2);
    let (edges, count) = (p.edges(list), p.form.edges());
    // Values in whole pixels' steps, as in `cover`: the fraction can go. First at lane 0 of the first block, then what
    // is added for the others.
    let mut at = [[0i32; 4]; MAX_SAMPLES];
    let mut offsets = [s.isplat(0); 4];
    for k in 0..count {
        let e = &edges[k];
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
                    let e = &edges[k];
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

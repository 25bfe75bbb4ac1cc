//! Coverage of sixteen small triangles at once, one in each lane, with one sample a pixel: two by two blocks, from a triangle's first one on.
//! Pixel after pixel of all of them is computed, without branches, and no triangle waits for the one before. Of triangles that touch three
//! blocks in either direction, only the edges' values are computed here; they are covered one by one ([`Group::rows`]).

// Loops over lanes and edges index several arrays alike.
#![allow(clippy::needless_range_loop)]

use super::small::{COLUMNS, ROWS, fixed, not_top_left};
use crate::geometry::bin;
use crate::layout::{LANES, SIDE, TILE};
use crate::prim::{FORM, Prim, TRIANGLE, word};
use simd::{Simd, ops};
use texel::vector;

/// Triangles of a group.
pub const GROUP: usize = 16;

/// Edges that change by no more than this from pixel to pixel are of triangles so small that values anywhere near them fit 32
/// bits: 32 pixels along either side, 2^14 · 2^13 in a pixel's 256ths.
pub const SHORT: u32 = 1 << 13;

/// What a group covers.
pub struct Group {
    /// Primitives, by lane.
    pub prims: [u32; GROUP],
    /// Their first planes.
    pub planes: [u32; GROUP],
    /// Those that were small triangles here (a bit each); nothing is known of the others.
    pub small: u16,
    /// Triangles that touch three blocks one way, or both (a bit each).
    pub wide: u16,
    /// First block of each.
    pub first: [u32; GROUP],
    /// Its covered pixels: of its first block and the one at its right, then of those below.
    pub masks: [[u32; GROUP]; 2],
    /// Of each edge: its value at the first block's first pixel, and by how much that changes from pixel to pixel.
    edges: [[[u32; GROUP]; 3]; 3],
    /// Columns and rows within bounds and tile, a bit each from the first block on.
    window: [[u32; GROUP]; 2],
}

impl Group {
    pub const EMPTY: Group = Group {
        prims: [0; GROUP],
        planes: [0; GROUP],
        small: 0,
        wide: 0,
        first: [0; GROUP],
        masks: [[0; GROUP]; 2],
        edges: [[[0; GROUP]; 3]; 3],
        window: [[0; GROUP]; 2],
    };

    /// Covered lanes of a triangle's four blocks.
    #[inline(always)]
    pub fn mask(&self, i: usize) -> u64 {
        self.masks[0][i] as u64 | (self.masks[1][i] as u64) << 32
    }

    /// Covered lanes of three blocks by three of a wide triangle: by row of blocks, from the left.
    #[inline(always)]
    pub fn rows<S: Simd>(&self, s: S, i: usize) -> [u64; 3] {
        let i = i % GROUP;
        let (zero, none) = (s.isplat(0), s.mask(0));
        let (x, y) = (vector::load(s, &LANES[0]), vector::load(s, &LANES[1]));
        let (mut row, mut right, mut down) = ([zero; 3], [zero; 3], [zero; 3]);
        for k in 0..3 {
            let [v, a, b] = &self.edges[k];
            let (v, a, b) = (s.isplat(v[i]), s.isplat(a[i]), s.isplat(b[i]));
            row[k] = s.iadd(v, s.iadd(s.imul(a, x), s.imul(b, y)));
            (right[k], down[k]) = (ops::shl(s, a, 2), ops::shl(s, b, 2));
        }
        let [columns, rows] = [self.window[0][i], self.window[1][i]];
        let of = |table: &[u32; 16], bits: u32, k: u32| table[(bits >> (4 * k) & 0xF) as usize] as u64;
        let columns =
            of(&COLUMNS, columns, 0) | of(&COLUMNS, columns, 1) << 16 | of(&COLUMNS, columns, 2) << 32;
        let mut masks = [0; 3];
        for by in 0..3 {
            let mut value = row;
            let mut out = [none; 4];
            for bx in 0..3 {
                // The sign says whether any of the values is negative.
                out[bx] = s.sgt(zero, s.ior(s.ior(value[0], value[1]), value[2]));
                for k in 0..3 {
                    value[k] = s.iadd(value[k], right[k]);
                }
            }
            for k in 0..3 {
                row[k] = s.iadd(row[k], down[k]);
            }
            let seen = columns & (of(&ROWS, rows, by as u32) * 0x0001_0001_0001);
            masks[by] = seen & !s.mbits4(out);
        }
        masks
    }

    /// Takes the primitives of `all` that `entries` name, sixteen of them (the first `n` count).
    #[inline(always)]
    pub fn cover<S: Simd>(&mut self, s: S, all: &[Prim], entries: &[u32; GROUP], n: usize, origin: [i32; 2]) {
        let mut at = [std::ptr::null::<Prim>(); GROUP];
        for i in 0..GROUP {
            self.prims[i] = bin::index(entries[i]);
            at[i] = &all[self.prims[i] as usize];
        }
        // SAFETY: primitives', all of them (here and below).
        let [low, high, kind, planes] = unsafe { words(s, &at, word::BOUNDS) };
        let (zero, ones, side) = (s.isplat(0), s.isplat(0xFFFF), s.isplat(TILE as u32));
        vector::store(s, &mut self.planes, planes);

        // Bounds in the tile.
        let (ox, oy) = (s.isplat(origin[0] as u32), s.isplat(origin[1] as u32));
        let x0 = s.smax(s.isub(s.iand(low, ones), ox), zero);
        let y0 = s.smax(s.isub(ops::shr(s, low, 16), oy), zero);
        let x1 = s.smin(s.isub(s.iand(high, ones), ox), side);
        let y1 = s.smin(s.isub(ops::shr(s, high, 16), oy), side);
        let (left, top) = (ops::shr(s, x0, 2), ops::shr(s, y0, 2));
        let (corner_x, corner_y) = (ops::shl(s, left, 2), ops::shl(s, top, 2));
        let (x0, x1) = (s.isub(x0, corner_x), s.isub(x1, corner_x));
        let (y0, y1) = (s.isub(y0, corner_y), s.isub(y1, corner_y));
        // Something of each way, and no more than two blocks, or three.
        let some = s.mand(s.sgt(x1, x0), s.sgt(y1, y0));
        let mut fits = s.mand(some, s.ieq(s.iand(kind, s.isplat(FORM)), s.isplat(TRIANGLE)));
        let most = s.smax(x1, y1);

        // Values in whole pixels' steps, as in `cover`: the fraction can go.
        let half = s.isplat(128);
        let start_x = s.iadd(ops::shl(s, s.iadd(corner_x, ox), 8), half);
        let start_y = s.iadd(ops::shl(s, s.iadd(corner_y, oy), 8), half);
        let [px, py, qx, qy] = unsafe { words(s, &at, word::CORNERS) };
        let [rx, ry, ..] = unsafe { words(s, &at, word::CORNERS + 4) };
        let mut corners = [[px, py], [qx, qy], [rx, ry]];
        for c in corners.as_flattened_mut() {
            *c = fixed(s, s.from_bits(*c));
        }
        let mut long = zero;
        let (mut a, mut b, mut e) = ([zero; 3], [zero; 3], [zero; 3]);
        for k in 0..3 {
            let ([px, py], [qx, qy]) = (corners[k], corners[(k + 1) % 3]);
            let (dx, dy) = (s.isub(py, qy), s.isub(qx, px));
            (a[k], b[k]) = (dx, dy);
            let (x, y) = (s.isub(start_x, px), s.isub(start_y, py));
            let v = s.iadd(s.imul(dx, x), s.imul(dy, y));
            e[k] = ops::sar(s, s.iadd(v, not_top_left(s, dx, dy)), 8);
            for (to, own) in self.edges[k].iter_mut().zip([e[k], dx, dy]) {
                vector::store(s, to, own);
            }
            long = s.ior(long, s.ior(s.ixor(dx, ops::sar(s, dx, 31)), s.ixor(dy, ops::sar(s, dy, 31))));
        }
        fits = s.mand(fits, s.ugt(s.isplat(SHORT), long));
        let real = ((1u32 << n) - 1) as u16;
        self.small = s.mbits(s.mand(fits, s.sgt(s.isplat(9), most))) & real;
        self.wide = s.mbits(s.mand(fits, s.sgt(s.isplat(13), most))) & real & !self.small;

        // Lanes outside an edge, the first one lowest: each pixel's bit comes in at the top.
        let mut outside = [zero; 2];
        for by in 0..2 {
            let mut bits = zero;
            let mut block = e;
            for _ in 0..2 {
                let mut row = block;
                for qy in 0..2 {
                    let mut quad = row;
                    for qx in 0..2 {
                        let mut right = quad;
                        let mut below = quad;
                        let mut last = quad;
                        for k in 0..3 {
                            right[k] = s.iadd(quad[k], a[k]);
                            below[k] = s.iadd(quad[k], b[k]);
                            last[k] = s.iadd(right[k], b[k]);
                        }
                        for v in [quad, right, below, last] {
                            let any = s.ior(s.ior(v[0], v[1]), v[2]);
                            let sign = s.iand(any, s.isplat(1 << 31));
                            bits = s.ior(ops::shr(s, bits, 1), sign);
                        }
                        if qx == 0 {
                            for k in 0..3 {
                                quad[k] = s.iadd(quad[k], ops::shl(s, a[k], 1));
                            }
                        }
                    }
                    if qy == 0 {
                        for k in 0..3 {
                            row[k] = s.iadd(row[k], ops::shl(s, b[k], 1));
                        }
                    }
                }
                for k in 0..3 {
                    block[k] = s.iadd(block[k], ops::shl(s, a[k], 2));
                }
            }
            outside[by] = bits;
            for k in 0..3 {
                e[k] = s.iadd(e[k], ops::shl(s, b[k], 2));
            }
        }

        // Columns and rows within the bounds, a bit each from the first block on, and the lanes of these.
        let one = s.isplat(1);
        let columns = s.isub(s.ishl(one, x1), s.ishl(one, x0));
        let rows = s.isub(s.ishl(one, y1), s.ishl(one, y0));
        vector::store(s, &mut self.window[0], columns);
        vector::store(s, &mut self.window[1], rows);
        let x = s.ior(lanes(s, &COLUMNS, columns, 0), ops::shl(s, lanes(s, &COLUMNS, columns, 4), 16));
        let y = [lanes(s, &ROWS, rows, 0), lanes(s, &ROWS, rows, 4)];
        for by in 0..2 {
            let y = s.ior(y[by], ops::shl(s, y[by], 16));
            let seen = s.iandn(outside[by], s.iand(x, y));
            vector::store(s, &mut self.masks[by], seen);
        }
        vector::store(s, &mut self.first, s.iadd(s.imul(top, s.isplat(SIDE as u32)), left));
    }
}

/// Four words of each primitive from `first` on, by lane.
///
/// # Safety
/// The pointers are primitives'.
#[inline(always)]
unsafe fn words<S: Simd>(s: S, at: &[*const Prim; GROUP], first: usize) -> [S::I; 4] {
    let mut lanes = [s.isplat(0); 4];
    for k in 0..4 {
        let mut p = [std::ptr::null_mut(); 4];
        for q in 0..4 {
            p[q] = at[4 * q + k].cast::<u32>().wrapping_add(first).cast_mut().cast::<u8>();
        }
        // SAFETY: words of primitives, which are only read.
        lanes[k] = unsafe { s.iload4(p) };
    }
    s.itranspose4(lanes)
}

/// What a table has for four bits from bit `from` on.
#[inline(always)]
fn lanes<S: Simd>(s: S, table: &[u32; 16], bits: S::I, from: u32) -> S::I {
    s.ishuffle(vector::load(s, table), ops::shr(s, bits, from))
}

//! Full warps: blocks that one primitive covers wholly, one sample a pixel. They need no slot of their own in the
//! packer, their inputs are filled by stretches of one primitive, and their pixels are written by stretches of warps.

use super::counts::InTile;
use super::fill::{self, Fill, Warp};
use super::item::Item;
use super::packer::{FULL, Packer, WARPS};
use super::task::{Blocks, QUADS, Task};
use crate::layout::{BLOCKS, LANE_X, LANE_Y, SIDE};
use crate::prim::{Plane, Prim};
use simd::Simd;
use texel::vector;
use wave::Stop;
use wave::graphics::Lanes;

/// Places of a stretch's pixels relative to their primitive's origin, and w, a warp each.
#[repr(C, align(64))]
pub struct Places {
    pub x: [[f32; 16]; WARPS],
    pub y: [[f32; 16]; WARPS],
    pub w: [[f32; 16]; WARPS],
}

impl Places {
    pub const EMPTY: Places = Places { x: [[0.0; 16]; WARPS], y: [[0.0; 16]; WARPS], w: [[0.0; 16]; WARPS] };
}

/// 1/w of a stretch: w itself, for all pixels or by place.
#[derive(Clone, Copy, PartialEq)]
enum W {
    One,
    Same(f32),
    Each,
}

/// Pixels' corners of a block.
#[inline(always)]
fn corners<S: Simd>(s: S, block: u8, origin: [i32; 2]) -> [S::F; 2] {
    let b = block as usize;
    let left = s.fsplat((origin[0] + (b % SIDE) as i32 * 4) as f32);
    let top = s.fsplat((origin[1] + (b / SIDE) as i32 * 4) as f32);
    [s.fadd(left, vector::floats(s, &LANE_X)), s.fadd(top, vector::floats(s, &LANE_Y))]
}

simd::by_level! {
    /// Fills the inputs of the packer's full warps. The same operations as `fill::value`, in the same order.
    #[inline(never)]
    pub(super) fn fill = fill_body, (item: &Item, packer: &mut Packer, origin: [i32; 2], lanes: &mut Lanes)
}

#[inline(always)]
fn fill_body<S: Simd>(s: S, item: &Item, packer: &mut Packer, origin: [i32; 2], lanes: &mut Lanes) {
    let mut left = packer.full;
    while left != 0 {
        // Warps of one primitive, one after the other.
        let first = left.trailing_zeros() as usize;
        let prim = packer.prims[first];
        let mut end = first;
        while end < WARPS && left >> end & 1 != 0 && packer.prims[end] == prim {
            left &= !(1 << end);
            end += 1;
        }
        stretch(s, item, packer, origin, lanes, &item.batch.prims[prim as usize], first, end);
    }
}

#[inline(always)]
fn stretch<S: Simd>(
    s: S,
    item: &Item,
    packer: &mut Packer,
    origin: [i32; 2],
    lanes: &mut Lanes,
    p: &Prim,
    first: usize,
    end: usize,
) {
    let half = s.fsplat(0.5);
    let (ox, oy) = (s.fsplat(p.origin[0]), s.fsplat(p.origin[1]));
    let at = &mut packer.places;
    let mut w = first;
    while w < end {
        // Blocks side by side are four columns apart, which is exact.
        let block = packer.blocks[w];
        let [x, y] = corners(s, block, origin);
        let (mut x, y) = (s.fadd(x, half), s.fsub(s.fadd(y, half), oy));
        let most = (end - w).min(SIDE - block as usize % SIDE);
        for i in 0..most {
            if packer.blocks[w] as usize != block as usize + i {
                break;
            }
            vector::store_floats(s, &mut at.x[w], s.fsub(x, ox));
            vector::store_floats(s, &mut at.y[w], y);
            x = s.fadd(x, s.fsplat(4.0));
            w += 1;
        }
    }
    // Where 1/w has no slope, every lane's value is `at` exactly.
    let mut kind = W::Each;
    if p.w.dx == 0.0 && p.w.dy == 0.0 && p.w.at != 0.0 {
        kind = if p.w.at == 1.0 { W::One } else { W::Same(1.0 / p.w.at) };
    } else if item.plan.perspective {
        let one = s.fsplat(1.0);
        for w in first..end {
            let d = linear(s, at, w, &p.w);
            vector::store_floats(s, &mut at.w[w], s.fdiv(one, d));
        }
    }
    for (i, f) in item.plan.fills.iter().enumerate() {
        if let Fill::Varying { plane, perspective, .. } = *f {
            let k = item.batch.planes[(p.planes + plane) as usize];
            let row = lanes.input(i);
            let Some(row) = row.get_mut(first..end) else { continue };
            let row = (first..end).zip(row);
            match kind {
                W::Each if perspective => {
                    for (w, row) in row {
                        let v = s.fmul(linear(s, at, w, &k), vector::floats(s, &at.w[w]));
                        vector::store(s, row, s.bits(v));
                    }
                }
                W::Same(c) if perspective => {
                    let c = s.fsplat(c);
                    for (w, row) in row {
                        vector::store(s, row, s.bits(s.fmul(linear(s, at, w, &k), c)));
                    }
                }
                _ => {
                    for (w, row) in row {
                        vector::store(s, row, s.bits(linear(s, at, w, &k)));
                    }
                }
            }
            continue;
        }
        other(s, item, &packer.blocks, origin, lanes, p, first, end, (i, *f));
    }
}

/// Inputs that are not interpolated: the general way, a warp at a time.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn other<S: Simd>(
    s: S,
    item: &Item,
    blocks: &[u8; WARPS],
    origin: [i32; 2],
    lanes: &mut Lanes,
    p: &Prim,
    first: usize,
    end: usize,
    (i, f): (usize, Fill),
) {
    if let Fill::Flat(plane) = f {
        let v = s.isplat(item.batch.planes[(p.planes + plane) as usize].at.to_bits());
        let rows = lanes.input(i);
        let n = rows.len();
        for row in &mut rows[first.min(n)..end.min(n)] {
            vector::store(s, row, v);
        }
        return;
    }
    if let Fill::FragCoord(c @ 0..2) = f {
        let rows = lanes.input(i);
        for w in first..end.min(rows.len()) {
            let v = s.fadd(corners(s, blocks[w], origin)[c as usize], s.fsplat(0.5));
            vector::store(s, &mut rows[w], s.bits(v));
        }
        return;
    }
    for w in first..end {
        let [x, y] = corners(s, blocks[w], origin);
        let warp = Warp {
            machine: s,
            prims: [p; 4],
            same: true,
            x,
            y,
            masks: &FULL,
            shown: 0,
            covered: 0xFFFF,
            samples: 1,
            locations: item.plan.locations(),
            sample: None,
            planes: &item.batch.planes,
            view: item.view,
        };
        if let Some(m) = fill::mask(f, &warp) {
            lanes.input_mask(i)[w] = m;
        } else if let Some(row) = lanes.input(i).get_mut(w) {
            let v = fill::value(f, &warp, &mut fill::Shared::default());
            vector::store(s, row, v);
        }
    }
}

/// As `fill::Warp::eval`.
#[inline(always)]
fn linear<S: Simd>(s: S, at: &Places, w: usize, k: &Plane) -> S::F {
    let (x, y) = (vector::floats(s, &at.x[w]), vector::floats(s, &at.y[w]));
    let slope = s.fadd(s.fmul(s.fsplat(k.dx), x), s.fmul(s.fsplat(k.dy), y));
    s.fadd(s.fsplat(k.at), slope)
}

impl Task<'_> {
    /// A primitive that covers the whole tile and is not tested.
    pub(super) fn whole(&mut self, item: &Item, index: u32, hidden: Option<&Blocks>) -> Result<(), Stop> {
        self.counts[InTile::Quads] += QUADS;
        if let Some(h) = hidden {
            let blocks = h.iter().map(|w| w.count_ones() as u64).sum::<u64>();
            self.counts[InTile::Hidden] += 4 * blocks;
            self.counts[InTile::Passed] += if item.plan.all_pass { 16 * blocks } else { 0 };
            for b in (0..BLOCKS).filter(|b| h[b / 64] >> (b % 64) & 1 == 0) {
                self.full(item, index, b)?;
            }
            return Ok(());
        }
        self.counts[InTile::Passed] += if item.plan.counts_early { 16 * BLOCKS as u64 } else { 0 };
        self.blocks(item, index, 0, BLOCKS)
    }

    /// A block all of whose pixels are left, of a plain draw: into the wave.
    #[inline(always)]
    pub(super) fn full(&mut self, item: &Item, index: u32, block: usize) -> Result<(), Stop> {
        let plan = &item.plan;
        if plan.counts_early {
            self.counts[InTile::Passed] += 16;
        }
        if !self.packer.add_full(plan.warps, index, block) {
            self.shade(item)?;
            self.packer.add_full(plan.warps, index, block);
        }
        Ok(())
    }
}

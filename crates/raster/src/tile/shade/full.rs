//! Full warps: blocks that one primitive covers wholly, with all samples of all pixels. They need no slot in the packer. Their inputs are
//! filled for consecutive blocks of one primitive together, and their pixels are written for consecutive warps together.

use super::warp::{self, Warp};
use crate::layout::{BLOCKS, Blocks, LANE_X, LANE_Y, QUADS, SIDE, WARPS};
use crate::prim::{Plane, Prim};
use crate::tile::counts::InTile;
use crate::tile::item::Item;
use crate::tile::item::fill::Fill;
use crate::tile::pack::packer::{FULL, Packer};
use crate::tile::task::Task;
use simd::Simd;
use texel::vector;
use wave::Stop;
use wave::graphics::Lanes;

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

/// Full warps of one primitive, whose blocks lie side by side.
#[derive(Clone, Copy)]
struct Stretch<'a> {
    prim: &'a Prim,
    first: usize,
    end: usize,
    /// Of the first.
    block: u8,
}

simd::by_level! {
    /// Fills the inputs of the packer's full warps. The same operations as `warp::value`, in the same order. `again`: all are of one
    /// primitive, blocks one after the other, and it was of that primitive in this tile the last time too.
    #[inline(never)]
    pub(in crate::tile) fn fill = fill_body,
        (item: &Item, packer: &mut Packer, origin: [i32; 2], lanes: &mut Lanes, again: bool)
}

#[inline(always)]
fn fill_body<S: Simd>(
    s: S,
    item: &Item,
    packer: &mut Packer,
    origin: [i32; 2],
    lanes: &mut Lanes,
    again: bool,
) {
    let full = packer.full as u32;
    let mut first = full.trailing_zeros() as usize;
    while first < WARPS {
        let (number, block) = (packer.prims[first], packer.blocks[first]);
        let most = ((!(full >> first)).trailing_zeros() as usize).min(SIDE - block as usize % SIDE);
        let most = most.min(WARPS - first);
        let mut n = if again { most } else { 1 };
        while n < most
            && packer.prims[first + n] == number
            && packer.blocks[first + n] as usize == block as usize + n
        {
            n += 1;
        }
        let end = first + n;
        let prim = &item.batch.prims[number as usize];
        stretch(s, item, packer, origin, lanes, Stretch { prim, first, end, block }, again);
        first = end + (full >> end).trailing_zeros() as usize;
    }
}

#[inline(always)]
fn stretch<S: Simd>(
    s: S,
    item: &Item,
    packer: &mut Packer,
    origin: [i32; 2],
    lanes: &mut Lanes,
    of: Stretch,
    again: bool,
) {
    let Stretch { prim: p, first, end, block } = of;
    let half = s.fsplat(0.5);
    let [x, y] = corners(s, block, origin);
    let y = s.fsub(s.fadd(y, half), s.fsplat(p.origin()[1]));
    let at = &mut packer.places;
    let Some(columns) = at.columns.get_mut(block as usize % SIDE..) else { return };
    if !again {
        // Blocks are four columns apart, which is exact.
        let (mut x, ox) = (s.fadd(x, half), s.fsplat(p.origin()[0]));
        for column in &mut columns[..end - first] {
            vector::store_floats(s, column, s.fsub(x, ox));
            x = s.fadd(x, s.fsplat(4.0));
        }
    }
    let columns = &columns[..end - first];
    let plan = &*item.plan;
    // Where 1/w has no slope, every lane's value is `at` exactly.
    let mut kind = W::Each;
    if p.w.dx == 0.0 && p.w.dy == 0.0 && p.w.at != 0.0 {
        kind = if p.w.at == 1.0 { W::One } else { W::Same(1.0 / p.w.at) };
    } else if plan.perspective {
        let row = Row::new(s, &p.w, y);
        for (x, w) in columns.iter().zip(&mut at.w) {
            vector::store_floats(s, w, s.fdiv(s.fsplat(1.0), row.at(s, x)));
        }
    }
    for (i, f) in plan.fills.iter().enumerate() {
        if let Fill::Varying { plane, perspective, .. } = *f {
            let k = Row::new(s, &item.batch.planes[(p.planes + plane) as usize], y);
            let Some(row) = lanes.input(i).get_mut(first..end) else { continue };
            let row = row.iter_mut().zip(columns);
            match kind {
                W::Each if perspective => {
                    for ((to, x), w) in row.zip(&at.w) {
                        vector::store(s, to, s.bits(s.fmul(k.at(s, x), vector::floats(s, w))));
                    }
                }
                W::Same(c) if perspective => {
                    let c = s.fsplat(c);
                    for (to, x) in row {
                        vector::store(s, to, s.bits(s.fmul(k.at(s, x), c)));
                    }
                }
                _ => {
                    for (to, x) in row {
                        vector::store(s, to, s.bits(k.at(s, x)));
                    }
                }
            }
            continue;
        }
        other(s, item, &packer.blocks, origin, lanes, of, (i, *f));
    }
}

/// A plane along a row of blocks, as `warp::Warp::eval` has it.
struct Row<S: Simd> {
    at: S::F,
    dx: S::F,
    /// What its place down adds.
    down: S::F,
}

impl<S: Simd> Row<S> {
    #[inline(always)]
    fn new(s: S, k: &Plane, y: S::F) -> Row<S> {
        Row { at: s.fsplat(k.at), dx: s.fsplat(k.dx), down: s.fmul(s.fsplat(k.dy), y) }
    }
    #[inline(always)]
    fn at(&self, s: S, x: &[f32; 16]) -> S::F {
        s.fadd(self.at, s.fadd(s.fmul(self.dx, vector::floats(s, x)), self.down))
    }
}

/// Inputs that are not interpolated: the general way, a warp at a time.
#[inline(always)]
fn other<S: Simd>(
    s: S,
    item: &Item,
    blocks: &[u8; WARPS],
    origin: [i32; 2],
    lanes: &mut Lanes,
    Stretch { prim: p, first, end, .. }: Stretch,
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
        let own = Warp {
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
            edges: &item.batch.edges,
            grown: item.plan.grown,
            view: item.view,
            coarse: None,
        };
        if let Some(m) = warp::mask(f, &own) {
            lanes.input_mask(i)[w] = m;
        } else if let Some(row) = lanes.input(i).get_mut(w) {
            let v = warp::value(f, &own, &mut warp::Shared::default());
            vector::store(s, row, v);
        }
    }
}

impl Task<'_> {
    /// Draws a primitive that covers the whole tile and is not tested. `hidden`: blocks that are not to be drawn.
    pub(in crate::tile) fn whole(
        &mut self,
        item: &Item,
        index: u32,
        hidden: Option<&Blocks>,
    ) -> Result<(), Stop> {
        self.counts[InTile::Quads] += QUADS as u64;
        if let Some(h) = hidden {
            let blocks = h.iter().map(|w| w.count_ones() as u64).sum::<u64>();
            self.counts[InTile::Hidden] += 4 * blocks;
            self.counts[InTile::Passed] += if item.plan.all_pass { 16 * blocks } else { 0 };
        }
        let seen = |b: usize| hidden.is_none_or(|h| h[b / 64] >> (b % 64) & 1 == 0);
        let mut b = 0;
        while b < BLOCKS {
            let end = (b..BLOCKS).find(|b| !seen(*b)).unwrap_or(BLOCKS);
            let samples = (16 * item.plan.samples * (end - b)) as u64;
            self.counts[InTile::Passed] += if item.plan.counts_early { samples } else { 0 };
            self.blocks(item, index, b, end)?;
            b = (end..BLOCKS).find(|b| seen(*b)).unwrap_or(BLOCKS);
        }
        Ok(())
    }

    /// Adds a block of a plain draw, all of whose pixels are left, to the wave.
    #[inline(always)]
    pub(in crate::tile) fn full(&mut self, item: &Item, index: u32, block: usize) -> Result<(), Stop> {
        let plan = &*item.plan;
        if plan.counts_early {
            self.counts[InTile::Passed] += 16 * plan.samples as u64;
        }
        if !self.packer.add_full(plan.warps, index, block) {
            self.shade(item)?;
            self.packer.add_full(plan.warps, index, block);
        }
        Ok(())
    }
}

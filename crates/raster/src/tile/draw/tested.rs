//! Blocks of a primitive with one sample a pixel, where only depth is tested, before shading, as most draws have it. The general path
//! ([`super::block`]) computes bounds of depth, and whether they all fail, block by block; here they are computed for a row of blocks at once.

use crate::layout::{Blocks, LANE_X, LANE_Y, SIDE, quads};
use crate::prim::Prim;
use crate::tile::counts::{self, Tested};
use crate::tile::cover::COLUMNS;
use crate::tile::item::Item;
use crate::tile::item::plan::When;
use crate::tile::task::{Of, Task};
use simd::Simd;
use texel::vector;
use wave::Stop;

/// Bounds of a primitive's depth over each block of a row, and the blocks where depths between them all fail.
#[repr(C, align(64))]
pub(in crate::tile) struct Row {
    pub low: [f32; SIDE],
    pub high: [f32; SIDE],
    fails: u16,
    passes: u16,
}

/// What a row of blocks adds to a primitive's depth, with [`depths`]: in the order of `fill::Warp::places`, so that early and
/// late tests see the same depth.
#[inline(always)]
pub(in crate::tile) fn depths_down<S: Simd>(s: S, prim: &Prim, origin: [i32; 2], row: usize) -> S::F {
    let top = s.fsplat((origin[1] + row as i32 * 4) as f32);
    let y = s.fadd(top, vector::floats(s, &LANE_Y));
    s.fmul(s.fsplat(prim.z.dy), s.fsub(s.fadd(y, s.fsplat(0.5)), s.fsplat(prim.origin()[1])))
}

/// A primitive's depths in a block; `range`: depths that it has at all; `down`: its row's.
#[inline(always)]
pub(in crate::tile) fn depths<S: Simd>(
    s: S,
    item: &Item,
    prim: &Prim,
    range: [f32; 2],
    origin: [i32; 2],
    block: usize,
    down: S::F,
) -> S::F {
    let left = s.fsplat((origin[0] + (block % SIDE) as i32 * 4) as f32);
    let x = s.fadd(left, vector::floats(s, &LANE_X));
    let from = s.fsub(s.fadd(x, s.fsplat(0.5)), s.fsplat(prim.origin()[0]));
    let across = s.fmul(s.fsplat(prim.z.dx), from);
    item.plan.tests.value(s, s.fadd(s.fsplat(prim.z.at), s.fadd(across, down)), range)
}

/// What the least and the most of each block's columns adds to a primitive's depth, in all rows of blocks.
#[inline(always)]
pub(in crate::tile) fn sides<S: Simd>(s: S, prim: &Prim, origin: [i32; 2]) -> [S::F; 2] {
    let columns = s.iadd(s.isplat(origin[0] as u32), vector::load(s, &COLUMNS.0));
    let (half, ox) = (s.fsplat(0.5), s.fsplat(prim.origin()[0]));
    let from = s.fsub(s.fadd(s.s_to_f(columns), half), ox);
    let to = s.fsub(s.fsub(s.s_to_f(s.iadd(columns, s.isplat(4))), half), ox);
    let slope = s.fsplat(prim.z.dx);
    let (from, to) = (s.fmul(slope, from), s.fmul(slope, to));
    if prim.z.dx < 0.0 { [to, from] } else { [from, to] }
}

impl Task<'_> {
    /// Tests the covered blocks (`covered`) of a primitive, and has what is left shaded; of items of
    /// [`crate::tile::item::Plan::depth_alone`].
    #[inline(always)]
    pub(in crate::tile) fn tested<S: Simd>(
        &mut self,
        s: S,
        of: &Of,
        hidden: Option<&Blocks>,
    ) -> Result<(), Stop> {
        let mut n = Tested::default();
        let r = self.test(s, of, hidden, &mut n);
        n.add_to(&mut self.counts);
        r
    }

    #[inline(always)]
    fn test<S: Simd>(&mut self, s: S, of: &Of, hidden: Option<&Blocks>, n: &mut Tested) -> Result<(), Stop> {
        let &Of { item, prim, number: index } = of;
        let plan = &*item.plan;
        let Some(plane) = self.plane(plan.depth, |t| &t.depth) else { return Ok(()) };
        // SAFETY: the task's tile has the plane.
        let zs = unsafe { plane.sample(self.tile, 0) }.cast::<f32>();
        let writes = plan.tests.write && plan.when == When::Early;
        let range = item.depth_range(prim);
        let mut row = usize::MAX;
        let mut bounds = Row { low: [0.0; SIDE], high: [0.0; SIDE], fails: 0, passes: 0 };
        let mut down = s.fsplat(0.0);
        let sides = sides(s, prim, self.origin);
        let mut next = 0;
        while next < self.covered.count {
            let k = next;
            next += 1;
            let b = self.covered.blocks[k] as usize;
            let mask = self.covered.masks[k][0];
            let asked = if plan.observed { counts::quads(mask) } else { 0 };
            n.quads += asked;
            n.whole += if plan.observed { counts::whole_quads(mask) } else { 0 };
            if hidden.is_some_and(|h| h[b / 64] >> (b % 64) & 1 != 0) {
                n.hidden += asked;
                continue;
            }
            if b / SIDE != row {
                row = b / SIDE;
                bounds = self.bounds(s, item, prim, row, range, sides);
                down = depths_down(s, prim, self.origin, row);
            }
            if bounds.fails >> (b % SIDE) & 1 != 0 {
                n.killed += asked;
                continue;
            }
            if plan.deferred {
                if bounds.passes >> (b % SIDE) & 1 != 0 && mask == 0xFFFF {
                    let m = if plan.plain { self.row_of_whole(k, bounds.passes & !bounds.fails) } else { 1 };
                    next = k + m;
                    // The first one has been counted.
                    n.quads += 4 * (m as u64 - 1);
                    n.whole += 4 * (m as u64 - 1);
                    n.passed += 16 * m as u64;
                    self.wait_row(index, b, m);
                    if writes {
                        n.updated += 4 * m as u64;
                        let blocks = (((1u32 << m) - 1) << (b % SIDE)) as u16;
                        self.hiz.wrote_blocks(s, row, blocks, &bounds.low, &bounds.high);
                        self.depths_later(b, m);
                    }
                    continue;
                }
                self.depths_now(s, b);
            }
            let z = depths(s, item, prim, range, self.origin, b, down);
            // SAFETY: a block of the plane.
            let here = unsafe { &mut *zs.add(b * 16).cast::<[f32; 16]>() };
            let old = vector::floats(s, here);
            let passed = mask & plan.tests.passes(s, z, old);
            let shown = if plan.observed { counts::quads(passed) } else { 0 };
            n.killed += asked - shown;
            if passed == 0 {
                continue;
            }
            if writes {
                vector::store_floats(s, here, s.fsel(s.mask(passed), z, old));
                n.updated += shown;
                let z = [bounds.low[b % SIDE], bounds.high[b % SIDE]];
                self.hiz.wrote(b, z, passed == 0xFFFF);
            }
            self.tested_one(of, b, passed, n)?;
        }
        Ok(())
    }

    /// What becomes of a block's lanes that passed.
    #[inline(always)]
    pub(in crate::tile) fn tested_one(
        &mut self,
        &Of { item, prim, number: index }: &Of,
        block: usize,
        passed: u16,
        n: &mut Tested,
    ) -> Result<(), Stop> {
        let plan = &*item.plan;
        if plan.deferred {
            n.passed += passed.count_ones() as u64;
            self.wait(index, block, passed);
            return Ok(());
        }
        if passed == 0xFFFF && plan.plain && plan.shades {
            return self.full(item, index, block);
        }
        if !plan.shades || plan.counts_early {
            n.passed += passed.count_ones() as u64;
        }
        if !plan.shades {
            return Ok(());
        }
        item.soon(prim.planes);
        let q = quads(passed);
        if !self.packer.add_one(plan.warps, index, block, q, passed) {
            self.shade(item)?;
            self.packer.add_one(plan.warps, index, block, q, passed);
        }
        Ok(())
    }

    /// How many of the covered blocks from `first` on, which is one of them, lie side by side, covered wholly, in a row whose blocks
    /// `passes` pass their tests.
    #[inline(always)]
    fn row_of_whole(&self, first: usize, passes: u16) -> usize {
        let c = &self.covered;
        let from = c.blocks[first] as usize;
        let most = (SIDE - from % SIDE).min(c.count - first);
        let goes_on = |i: usize| {
            c.blocks[first + i] as usize == from + i
                && c.masks[first + i][0] == 0xFFFF
                && passes >> ((from + i) % SIDE) & 1 != 0
        };
        let mut n = 1;
        while n < most && goes_on(n) {
            n += 1;
        }
        n
    }

    /// As [`Item::depths`] and [`crate::tile::test::hiz::Hiz::block_fails`] have it for each block of the row, by the same operations.
    /// `range`: depths that the primitive has at all; `sides`: its [`sides`].
    #[inline(always)]
    pub(in crate::tile) fn bounds<S: Simd>(
        &self,
        s: S,
        item: &Item,
        prim: &Prim,
        row: usize,
        range: [f32; 2],
        [left, right]: [S::F; 2],
    ) -> Row {
        let k = &prim.z;
        let y = self.origin[1] + row as i32 * 4;
        let from = k.dy * (y as f32 + 0.5 - prim.origin()[1]);
        let to = k.dy * ((y + 4) as f32 - 0.5 - prim.origin()[1]);
        let (top, bottom) = if k.dy < 0.0 { (to, from) } else { (from, to) };
        let at = s.fsplat(k.at);
        let low = s.fadd(at, s.fadd(left, s.fsplat(top)));
        let high = s.fadd(at, s.fadd(right, s.fsplat(bottom)));
        let tests = &item.plan.tests;
        let [low, high] = [tests.value(s, low, range), tests.value(s, high, range)];
        let fails = self.hiz.row_fails(s, tests, row, low, high);
        let passes = if item.plan.deferred { self.hiz.row_passes(s, tests, row, low, high) } else { 0 };
        let mut out = Row { low: [0.0; SIDE], high: [0.0; SIDE], fails, passes };
        vector::store_floats(s, &mut out.low, low);
        vector::store_floats(s, &mut out.high, high);
        out
    }
}

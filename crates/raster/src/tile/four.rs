//! Small polygons of four samples a pixel that depth alone tests before shading, as most multisampled draws have them: coverage and
//! tests block by block, all four samples of one together. The same operations as [`Task::block`] and `small::list` have, in the
//! same order.

use super::counts::{self, Tested};
use super::cover::MAX_MASKS;
use super::item::Item;
use super::shade::sample_of;
use super::small::{self, FAR, Window};
use super::task::Task;
use crate::layout::{LANE_X, LANE_Y, LANES, SIDE};
use crate::prim::Prim;
use crate::state::Rect;
use simd::Simd;
use texel::vector;
use wave::Stop;

/// Samples a pixel.
pub const FOUR: usize = 4;

/// A block's sixteen lanes of each sample.
const ONCE: u64 = 0x0001_0001_0001_0001;

/// Sixteen words: of each sample, one of each edge.
#[repr(C, align(64))]
struct Values([[u32; 4]; FOUR]);

impl Task<'_> {
    /// Covers and tests a polygon of an item of [`super::item::Plan::four`]. False if it is not small (nothing has been done then).
    #[inline(always)]
    pub(super) fn four<S: Simd>(
        &mut self,
        s: S,
        item: &Item,
        prim: &Prim,
        index: u32,
        n: &mut Tested,
    ) -> Result<bool, Stop> {
        let Some(b) = small::bounds(prim, self.origin) else { return Ok(false) };
        if !b.is_empty() {
            match prim.edge_count {
                3 => self.four_of::<S, 3>(s, item, prim, index, &b, n)?,
                // Edges that there are not are all zero: everything is inside.
                _ => self.four_of::<S, 4>(s, item, prim, index, &b, n)?,
            }
        }
        Ok(true)
    }

    #[inline(always)]
    fn four_of<S: Simd, const EDGES: usize>(
        &mut self,
        s: S,
        item: &Item,
        prim: &Prim,
        index: u32,
        b: &Rect,
        n: &mut Tested,
    ) -> Result<(), Stop> {
        let plan = &item.plan;
        let (left, top) = (b.x0 >> 2, b.y0 >> 2);
        let (right, bottom) = ((b.x1 + 3) >> 2, (b.y1 + 3) >> 2);
        let window = Window::new(b, left, top);
        // Values in whole pixels' steps, as in `cover`: the fraction can go.
        let (mut values, mut across, mut down) =
            (Values([[0; 4]; FOUR]), Values([[0; 4]; FOUR]), Values([[0; 4]; FOUR]));
        let mut offsets = [s.isplat(0); EDGES];
        for k in 0..EDGES {
            let e = &prim.edges[k];
            let (a, b) = (e.a as i64, e.b as i64);
            let x = (self.origin[0] + left * 4) as i64 * 256;
            let y = (self.origin[1] + top * 4) as i64 * 256;
            let corner = a * x + b * y + e.c;
            for i in 0..FOUR {
                let [sx, sy] = plan.places[i];
                let v = (corner + a * (sx as i64 * 16) + b * (sy as i64 * 16)) >> 8;
                values.0[i][k] = v.clamp(-FAR, FAR) as i32 as u32;
                across.0[i][k] = (e.a as u32).wrapping_mul(4);
                down.0[i][k] = (e.b as u32).wrapping_mul(4);
            }
            let x = s.imul(s.isplat(e.a as u32), vector::load(s, &LANES[0]));
            let y = s.imul(s.isplat(e.b as u32), vector::load(s, &LANES[1]));
            offsets[k] = s.iadd(x, y);
        }
        let words = |v: &Values| vector::load(s, bytemuck::cast_ref(&v.0));
        let (across, down) = (words(&across), words(&down));
        let mut row = words(&values);
        for by in 0..(bottom - top) {
            let mut here = row;
            row = s.iadd(row, down);
            for bx in 0..(right - left) {
                vector::store(s, bytemuck::cast_mut(&mut values.0), here);
                here = s.iadd(here, across);
                let mut outside = [s.mask(0); FOUR];
                for i in 0..FOUR {
                    // The sign says whether any of the values is negative.
                    let mut least = s.isplat(0);
                    for k in 0..EDGES {
                        least = s.ior(least, s.iadd(offsets[k], s.isplat(values.0[i][k])));
                    }
                    outside[i] = s.sgt(s.isplat(0), least);
                }
                let seen = window.lanes(bx, by);
                let covered = (seen as u64 * ONCE) & !s.mbits4(outside);
                if covered == 0 {
                    continue;
                }
                let block = (top + by) as usize * SIDE + (left + bx) as usize;
                self.test_four(s, item, prim, index, block, covered, n)?;
            }
        }
        Ok(())
    }

    /// Tests the covered blocks (`covered`) of a polygon.
    #[inline(always)]
    pub(super) fn test_fours<S: Simd>(
        &mut self,
        s: S,
        item: &Item,
        prim: &Prim,
        index: u32,
        n: &mut Tested,
    ) -> Result<(), Stop> {
        for k in 0..self.covered.count {
            let (block, masks) = (self.covered.blocks[k] as usize, &self.covered.masks[k]);
            let covered = masks[..FOUR].iter().rev().fold(0, |all, m| all << 16 | *m as u64);
            self.test_four(s, item, prim, index, block, covered, n)?;
        }
        Ok(())
    }

    /// Tests a block's covered lanes, sixteen of each sample.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn test_four<S: Simd>(
        &mut self,
        s: S,
        item: &Item,
        prim: &Prim,
        index: u32,
        block: usize,
        covered: u64,
        n: &mut Tested,
    ) -> Result<(), Stop> {
        let plan = &item.plan;
        let Some(plane) = self.plane(plan.depth, |t| &t.depth) else { return Ok(()) };
        let [any, every] = folded(covered);
        let asked = counts::quads(any);
        n.quads += asked;
        n.whole += counts::whole_quads(every);
        let corner = [self.origin[0] + (block % SIDE) as i32 * 4, self.origin[1] + (block / SIDE) as i32 * 4];
        let z = item.depths(prim, corner, 4);
        if self.hiz.block_fails(&plan.tests, block, z) {
            n.killed += asked;
            return Ok(());
        }
        let range = item.depth_range(prim);
        let masks = lanes(covered);
        let left = s.fadd(s.fsplat(corner[0] as f32), vector::floats(s, &LANE_X));
        let top = s.fadd(s.fsplat(corner[1] as f32), vector::floats(s, &LANE_Y));
        let mut passed = [s.mask(0); FOUR];
        for i in 0..FOUR {
            let [sx, sy] = plan.places[i];
            // In the order of `fill::Warp::places`, so that early and late tests see the same depth.
            let x = s.fsub(s.fadd(left, s.fsplat(sx as f32 / 16.0)), s.fsplat(prim.origin[0]));
            let y = s.fsub(s.fadd(top, s.fsplat(sy as f32 / 16.0)), s.fsplat(prim.origin[1]));
            let slope = s.fadd(s.fmul(s.fsplat(prim.z.dx), x), s.fmul(s.fsplat(prim.z.dy), y));
            let z = plan.tests.value(s, s.fadd(s.fsplat(prim.z.at), slope), range);
            // SAFETY: a block of the plane, which the task's tile has.
            let stored = unsafe {
                let plane = plane.sample(self.tile, sample_of(plane, i)).cast::<f32>();
                &mut *plane.add(block * 16).cast::<[f32; 16]>()
            };
            let old = vector::floats(s, stored);
            passed[i] = s.mand(s.mask(masks[i]), plan.tests.passing(s, z, old));
            if plan.tests.write {
                vector::store_floats(s, stored, s.fsel(passed[i], z, old));
            }
        }
        let bits = s.mbits4(passed);
        let [any, every] = folded(bits);
        let shown = counts::quads(any);
        n.killed += asked - shown;
        if any == 0 {
            return Ok(());
        }
        if plan.tests.write {
            n.updated += shown;
            self.hiz.wrote(block, z, every == 0xFFFF);
        }
        if plan.deferred {
            n.passed += bits.count_ones() as u64;
            self.wait_four(s, index, block, passed, bits);
            return Ok(());
        }
        let mut masks = [0; MAX_MASKS];
        masks[..FOUR].copy_from_slice(&lanes(bits));
        self.pack_block(item, prim, index, block, any, &masks)
    }
}

/// Lanes of each sample.
#[inline(always)]
pub(super) fn lanes(bits: u64) -> [u16; FOUR] {
    std::array::from_fn(|i| (bits >> (16 * i)) as u16)
}

/// Lanes of any sample, and of every one.
#[inline(always)]
fn folded(bits: u64) -> [u16; 2] {
    let (any, every) = (bits | bits >> 32, bits & bits >> 32);
    [(any | any >> 16) as u16, (every & every >> 16) as u16]
}

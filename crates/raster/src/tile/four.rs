//! Blocks of polygons with four samples a pixel that depth alone tests before shading, as most multisampled draws have them: all four
//! samples of a block together. The same operations as [`Task::block`] has, in the same order.

use super::counts::{self, Tested};
use super::cover::MAX_MASKS;
use super::item::Item;
use super::shade::sample_of;
use super::small_tested::folded;
use super::task::Task;
use crate::layout::{LANE_X, LANE_Y, SIDE};
use crate::prim::Prim;
use simd::Simd;
use texel::vector;
use wave::Stop;

/// Samples a pixel.
pub const FOUR: usize = 4;

impl Task<'_> {
    /// Tests the covered blocks (`covered`) of a polygon of an item of [`super::item::Plan::four`].
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
        let [any, every] = folded::<FOUR>(covered);
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
        let [any, every] = folded::<FOUR>(bits);
        let shown = counts::quads(any);
        n.killed += asked - shown;
        if any == 0 {
            return Ok(());
        }
        if plan.tests.write {
            n.updated += shown;
            self.hiz.wrote(block, z, every == 0xFFFF);
        }
        n.passed += if plan.deferred { bits.count_ones() as u64 } else { 0 };
        self.tested_four(item, prim, index, block, any, bits)
    }

    /// What becomes of a block's lanes that passed, `any` of the samples' `bits`.
    #[inline(always)]
    pub(super) fn tested_four(
        &mut self,
        item: &Item,
        prim: &Prim,
        index: u32,
        block: usize,
        any: u16,
        bits: u64,
    ) -> Result<(), Stop> {
        if item.plan.deferred {
            self.wait_samples(index, block, &lanes(bits));
            return Ok(());
        }
        let mut masks = [0; MAX_MASKS];
        masks[..FOUR].copy_from_slice(&lanes(bits));
        self.pack_block(item, prim, index, block, any, &masks)
    }
}

/// Lanes of each sample.
#[inline(always)]
fn lanes(bits: u64) -> [u16; FOUR] {
    std::array::from_fn(|i| (bits >> (16 * i)) as u16)
}

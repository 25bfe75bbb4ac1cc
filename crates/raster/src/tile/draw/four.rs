//! Blocks of polygons with four samples a pixel, where only depth is tested, before shading, as most multisampled draws have it. All four
//! samples of a block are tested together, by the same operations as in [`super::block`] and in the same order.

use crate::layout::SIDE;
use crate::tile::counts::{self, Tested};
use crate::tile::cover::MAX_MASKS;
use crate::tile::draw::small_tested::{Samples, folded};
use crate::tile::item::plan::FOUR;
use crate::tile::task::{Of, Task};
use simd::Simd;
use wave::Stop;

impl Task<'_> {
    /// Tests the covered blocks (`covered`) of a polygon of an item of [`crate::tile::item::Plan::four`].
    #[inline(always)]
    pub(in crate::tile) fn test_fours<S: Simd>(&mut self, s: S, of: &Of, n: &mut Tested) -> Result<(), Stop> {
        let Some(samples) = self.samples::<FOUR>(of.item) else { return Ok(()) };
        for k in 0..self.covered.count {
            let (block, masks) = (self.covered.blocks[k] as usize, &self.covered.masks[k]);
            let covered = masks[..FOUR].iter().rev().fold(0, |all, m| all << 16 | *m as u64);
            self.test_four(s, of, &samples, block, covered, n)?;
        }
        Ok(())
    }

    /// Tests a block's covered lanes, sixteen of each sample.
    #[inline(always)]
    fn test_four<S: Simd>(
        &mut self,
        s: S,
        of: &Of,
        samples: &Samples<FOUR>,
        block: usize,
        covered: u64,
        n: &mut Tested,
    ) -> Result<(), Stop> {
        let &Of { item, prim, .. } = of;
        let plan = &*item.plan;
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
        let bits = samples.test(s, item, prim, self.origin, block, covered);
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
        self.tested_four(of, block, any, bits)
    }

    /// What becomes of a block's lanes that passed, `any` of the samples' `bits`.
    #[inline(always)]
    pub(in crate::tile) fn tested_four(
        &mut self,
        of: &Of,
        block: usize,
        any: u16,
        bits: u64,
    ) -> Result<(), Stop> {
        if of.item.plan.deferred {
            self.wait_samples(of.number, block, &lanes(bits));
            return Ok(());
        }
        let mut masks = [0; MAX_MASKS];
        masks[..FOUR].copy_from_slice(&lanes(bits));
        self.pack_block(of, block, any, &masks)
    }
}

/// Lanes of each sample.
#[inline(always)]
fn lanes(bits: u64) -> [u16; FOUR] {
    std::array::from_fn(|i| (bits >> (16 * i)) as u16)
}

//! Small polygons of draws with one sample and nothing to test before shading: coverage, counts and packing of all of a polygon's
//! blocks together.

use super::counts;
use super::item::Item;
use super::small::{self, Small};
use super::task::{Task, quads};
use crate::prim::Prim;
use simd::Simd;
use wave::Stop;

impl Task<'_> {
    /// Covers and packs a polygon of an item of [`super::item::Plan::simple`]. False if it is not small (nothing has been done
    /// then).
    #[inline(always)]
    pub(super) fn small<S: Simd>(
        &mut self,
        s: S,
        item: &Item,
        prim: &Prim,
        index: u32,
    ) -> Result<bool, Stop> {
        let plan = &item.plan;
        let mut covered = Small::new();
        if !small::centers(s, prim, self.origin, &mut covered) {
            return Ok(false);
        }
        let mut seen = counts::Seen::default();
        for (&block, &mask) in covered.list() {
            let block = block as usize;
            let done = &mut self.done[block];
            let left = mask & !*done;
            *done |= if plan.last_first { mask } else { 0 };
            seen.block(mask, left);
            if left == 0 {
                continue;
            }
            if plan.plain && left == 0xFFFF {
                self.full(item, index, block)?;
                continue;
            }
            let quads = quads(left);
            if !self.packer.add_one(plan.warps, index, block, quads, left) {
                self.shade(item)?;
                self.packer.add_one(plan.warps, index, block, quads, left);
            }
        }
        seen.add_to(&mut self.counts, plan.all_pass);
        Ok(true)
    }
}

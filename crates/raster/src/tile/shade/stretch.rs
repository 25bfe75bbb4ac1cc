//! Consecutive blocks that one primitive covers wholly. While nothing else is packed, they fill whole waves. What does not change from one
//! such wave to the next is done once for all of them.

use crate::layout::{Blocks, SIDE, WARPS};
use crate::tile::blend::Warps;
use crate::tile::counts::{self, InTile};
use crate::tile::item::Item;
use crate::tile::shade::full;
use crate::tile::shade::{OUTPUTS, channels, outputs};
use crate::tile::task::Task;
use std::mem::MaybeUninit;
use wave::Stop;

impl Task<'_> {
    /// Shades blocks `from..to` of a plain draw, all of whose pixels are left; the last of them when the wave is full.
    pub(in crate::tile) fn blocks(
        &mut self,
        item: &Item,
        prim: u32,
        from: usize,
        to: usize,
    ) -> Result<(), Stop> {
        let warps = item.plan.warps;
        let mut b = from;
        while b < to {
            // The same waves as if they had been packed.
            let many = (to - b) / warps * warps;
            if self.packer.count == 0 && many > 0 {
                self.stretch(item, prim, b, b + many)?;
                b += many;
                continue;
            }
            let n = self.packer.add_stretch(warps, prim, b, to - b);
            if n == 0 {
                self.shade(item)?;
            }
            b += n;
        }
        Ok(())
    }

    /// How many of the covered blocks from the `first` on lie one after the other and are to be drawn, all pixels of them.
    #[inline(never)]
    pub(in crate::tile) fn row_of_full(
        &self,
        samples: usize,
        first: usize,
        hidden: Option<&Blocks>,
    ) -> usize {
        let c = &self.covered;
        let from = c.blocks[first] as usize;
        let full = |i: &usize| {
            let b = from + i;
            c.blocks[first + i] as usize == b
                && c.masks[first + i][..samples].iter().all(|m| *m == 0xFFFF)
                && self.done[b] == 0
                && hidden.is_none_or(|h| h[b / 64] >> (b % 64) & 1 == 0)
        };
        (0..c.count - first).find(|i| !full(i)).unwrap_or(c.count - first)
    }

    /// The `n` covered blocks from the `first` on, which [`Self::row_of_full`] says lie one after the other.
    pub(in crate::tile) fn full_row(
        &mut self,
        item: &Item,
        prim: u32,
        first: usize,
        n: usize,
    ) -> Result<(), Stop> {
        let from = self.covered.blocks[first] as usize;
        let c = &mut self.counts;
        c[InTile::Quads] += 4 * n as u64;
        c[InTile::Passed] += if item.plan.counts_early { (16 * item.plan.samples * n) as u64 } else { 0 };
        if item.plan.last_first {
            self.done[from..from + n].fill(0xFFFF);
        }
        self.blocks(item, prim, from, from + n)
    }

    /// Shades and writes blocks `from..to`, as many as make whole waves, while nothing is packed.
    fn stretch(&mut self, item: &Item, prim: u32, from: usize, to: usize) -> Result<(), Stop> {
        let plan = &*item.plan;
        let Some(program) = plan.pipeline.fragment.as_deref() else { return Ok(()) };
        let warps = plan.warps;
        let job = self.job(item, program);
        let mut lanes = self.worker.open_for(&job, ((to - from) / warps) as u64)?;
        let packer = &mut *self.packer;
        packer.full = ((1u32 << warps) - 1) as u16;
        packer.prims[..warps].fill(prim);
        let mut room = [const { MaybeUninit::uninit() }; OUTPUTS];
        let rows = outputs(program, &lanes, &mut room);
        let mut done = Ok(());
        for b in (from..to).step_by(warps) {
            for (w, block) in packer.blocks[..warps].iter_mut().enumerate() {
                *block = (b + w) as u8;
            }
            let n = warps as u64;
            let c = &mut self.counts;
            c[InTile::Warps] += n;
            c[InTile::Invocations] += 16 * n;
            c[InTile::FullWarps] += n;
            c[InTile::Shaded] += 4 * n;
            full::fill(self.level, item, packer, self.origin, &mut lanes, b >= from + SIDE);
            let all = match lanes.run_whole(warps) {
                Ok(all) => all,
                Err(stop) => {
                    done = Err(stop);
                    break;
                }
            };
            let mut alive = [0xFFFF; WARPS];
            let (mut passed, mut blended) = (16 * n, 4 * n);
            if !all {
                alive.copy_from_slice(&lanes.alive()[..WARPS]);
                passed = alive[..warps].iter().map(|m| m.count_ones() as u64).sum();
                blended = alive[..warps].iter().map(|m| counts::quads(*m)).sum();
            }
            let samples = plan.samples as u64;
            c[InTile::Passed] += if plan.counts_early { 0 } else { samples * passed };
            for color in &plan.colors {
                let Some(p) = self.targets.list[color.attachment as usize].color.as_ref() else { continue };
                c[InTile::Blended] += samples * blended;
                let second = color.second.as_ref().map(|o| channels(rows, o));
                let first = channels(rows, &color.outputs);
                let blocks = &packer.blocks[..warps];
                let of = Warps { src: &first, src1: second.as_ref(), first: 0, masks: &alive[..warps] };
                // SAFETY: the task's tile has the plane, of the writer's format; the outputs have a row for each warp.
                unsafe {
                    p.write_whole(self.level, self.tile, &color.writer, blocks, &of);
                }
            }
        }
        packer.full = 0;
        done
    }
}

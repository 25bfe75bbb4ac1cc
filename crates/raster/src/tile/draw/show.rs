//! Shading of what waited, with one sample a pixel: which fragments of each entry are visible, and how they become waves.
//!
//! No two of them are at the same pixel, so their order does not matter: the last entry is looked at first, because it hides the others.
//! The fragments are sorted by what becomes of them (blocks that are wholly visible, blocks that are mostly visible, and quads), and each
//! kind is packed by itself. In the order of the log, the CPU could not predict the kind.

use crate::layout::{WARPS, quads};
use crate::tile::counts::InTile;
use crate::tile::item::Item;
use crate::tile::pack::log::AHEAD;
use crate::tile::pack::seats::Filling;
use crate::tile::pack::shows::{Part, Shows};
use crate::tile::task::Task;
use wave::Stop;

impl Task<'_> {
    /// Shades what shows of an item's entries `first..end`, after all later entries have been shaded.
    #[inline(always)]
    pub(in crate::tile) fn show_single(&mut self, item: &Item, first: usize, end: usize) -> Result<(), Stop> {
        let Some(mut shows) = self.log.shows.take() else { return Ok(()) };
        self.counts[InTile::Hidden] +=
            shows.sort(&self.log.entries[first..end], item.plan.plain, item.plan.observed);
        let r = self.pack_parts(item, &mut shows);
        self.log.shows = Some(shows);
        r
    }

    #[inline(always)]
    fn pack_parts(&mut self, item: &Item, shows: &mut Shows) -> Result<(), Stop> {
        let warps = item.plan.warps.min(WARPS);
        let mut asked = u32::MAX;
        let mut soon = |parts: &[Part], i: usize| {
            // The parts of a primitive are consecutive.
            if let Some(ahead) = parts.get(i + AHEAD).filter(|p| p.prim != asked) {
                asked = ahead.prim;
                item.soon(item.batch.prims[asked as usize].planes);
            }
        };
        let whole = &shows.whole[..shows.wholes];
        for (i, part) in whole.iter().enumerate() {
            soon(whole, i);
            let first = part.at as usize;
            if part.lanes > 1 {
                self.blocks(item, part.prim, first, first + part.lanes as usize)?;
                continue;
            }
            if self.packer.count >= warps {
                self.shade(item)?;
            }
            self.packer.put_full(part.prim, first);
        }
        let blocks = &shows.blocks[..shows.most];
        for (i, part) in blocks.iter().enumerate() {
            soon(blocks, i);
            if self.packer.count >= warps {
                self.shade(item)?;
            }
            self.packer.put_block(part.prim, part.at as usize, quads(part.lanes), part.lanes);
        }
        let few = &shows.quads[..shows.few];
        let seats = &mut shows.seats;
        let mut of = Filling::default();
        let mut from = 0;
        for (i, part) in few.iter().enumerate() {
            soon(few, i);
            let quad = part.at as usize;
            if !seats.has_room(&of, quad) && self.packer.count >= warps {
                seats.settle(&mut of, self.packer, few[from..i].iter().map(|p| p.at as usize));
                from = i;
                self.shade(item)?;
            }
            seats.put(&mut of, self.packer, part.prim, quad, part.lanes);
        }
        seats.settle(&mut of, self.packer, few[from..].iter().map(|p| p.at as usize));
        Ok(())
    }
}

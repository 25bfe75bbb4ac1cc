//! Shading of what waited, one sample a pixel: which fragments of each entry show, and how they become waves.
//!
//! No pixel shows two of them, so they may come in any order: the last entry is looked at first, for it hides the others. They
//! are sorted by what becomes of them, blocks shown wholly, blocks shown mostly, and quads, and each kind is packed by itself:
//! of entries one after the other nobody foresees the kind.

use crate::tile::counts::{self, InTile};
use crate::tile::draw::deferred::{AHEAD, Entry};
use crate::tile::item::Item;
use crate::tile::pack::packer::WARPS;
use crate::tile::pack::seats::{Filling, Seats};
use crate::tile::task::{Task, quads};
use crate::layout::{BLOCKS, PIXELS};
use wave::Stop;

/// What shows of a primitive.
#[derive(Clone, Copy, Default)]
struct Part {
    prim: u32,
    /// Block of the tile, or quad.
    at: u16,
    /// Lanes of it; of blocks shown wholly how many there are side by side.
    lanes: u16,
}

/// Blocks shown wholly, those shown mostly, and quads, at most: each has its pixels alone. A little more is written than is kept.
const WHOLE: usize = 2 * BLOCKS;
const MOSTLY: usize = PIXELS / 2;
const QUADS: usize = 2 * PIXELS;

/// What shows of an item.
pub struct Shows {
    /// Pixels that later entries have.
    seen: [u16; BLOCKS],
    whole: [Part; WHOLE],
    wholes: usize,
    blocks: [Part; MOSTLY],
    most: usize,
    quads: [Part; QUADS],
    few: usize,
    seats: Seats,
}

impl Shows {
    pub fn empty() -> Box<Shows> {
        Box::new(Shows {
            seen: [0; BLOCKS],
            whole: [Part::default(); WHOLE],
            wholes: 0,
            blocks: [Part::default(); MOSTLY],
            most: 0,
            quads: [Part::default(); QUADS],
            few: 0,
            seats: Seats::new(),
        })
    }

    /// Nothing has been seen of the tile.
    pub fn begin(&mut self) {
        self.seen.fill(0);
    }

    /// Sorts an item's entries, those behind which all have been; quads of theirs that do not show.
    #[inline(always)]
    fn sort(&mut self, entries: &[Entry], plain: bool, observed: bool) -> u64 {
        (self.wholes, self.most, self.few) = (0, 0, 0);
        let mut hidden = 0;
        for e in entries.iter().rev() {
            let first = e.block as usize;
            if e.more == 0 {
                hidden += self.block(e.prim, first, e.mask, plain, observed);
                continue;
            }
            // Rows and whole tiles: they often lie below others altogether.
            let end = (first + e.more as usize + 1).min(BLOCKS);
            if self.seen[first..end].iter().fold(0xFFFF, |all, m| all & m) == 0xFFFF {
                hidden += 4 * (end - first) as u64;
                continue;
            }
            let mut run = 0;
            for b in first..end {
                if plain && self.seen[b] == 0 {
                    self.seen[b] = 0xFFFF;
                    run += 1;
                    continue;
                }
                self.run(e.prim, b - run, run);
                run = 0;
                hidden +=
                    if self.seen[b] == 0xFFFF { 4 } else { self.block(e.prim, b, e.mask, plain, observed) };
            }
            self.run(e.prim, end - run, run);
        }
        hidden
    }

    #[inline(always)]
    fn run(&mut self, prim: u32, first: usize, n: usize) {
        self.whole[self.wholes % WHOLE] = Part { prim, at: first as u16, lanes: n as u16 };
        self.wholes += (n > 0) as usize;
    }

    /// A block of an entry; quads that do not show. It is put on every list, and stays on one: no branches.
    #[inline(always)]
    fn block(&mut self, prim: u32, block: usize, mask: u16, plain: bool, observed: bool) -> u64 {
        let seen = &mut self.seen[block % BLOCKS];
        let own = mask & !*seen;
        *seen |= mask;
        let (at, q) = (block as u16, quads(own));
        let n = q.count_ones();
        let whole = plain & (own == 0xFFFF);
        self.whole[self.wholes % WHOLE] = Part { prim, at, lanes: 1 };
        self.wholes += whole as usize;
        self.blocks[self.most % MOSTLY] = Part { prim, at, lanes: own };
        self.most += (!whole & (n > 2)) as usize;
        // Of two quads at most the lowest and the highest.
        let low = (q | 0x10).trailing_zeros() as u16;
        let high = 7 - (q | 1).leading_zeros() as u16;
        for (i, k) in [low & 3, high].into_iter().enumerate() {
            self.quads[(self.few + i) % QUADS] = Part { prim, at: at * 4 + k, lanes: own >> (4 * k) & 0xF };
        }
        self.few += if n < 3 { n as usize } else { 0 };
        if observed { counts::quads(mask) - n as u64 } else { 0 }
    }
}

impl Task<'_> {
    /// Shades what shows of an item's entries `first..end`, once those behind them have been.
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
            // A primitive's parts lie one after the other.
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

//! What shows of the blocks that wait, one sample a pixel, sorted by what becomes of them.

use super::log::Entry;
use super::seats::Seats;
use crate::layout::{BLOCKS, PIXELS, quads};
use crate::tile::counts;

/// What shows of a primitive.

#[derive(Clone, Copy, Default)]
pub struct Part {
    pub(in crate::tile) prim: u32,
    /// Block of the tile, or quad.
    pub(in crate::tile) at: u16,
    /// Lanes of it; of blocks shown wholly how many there are side by side.
    pub(in crate::tile) lanes: u16,
}

/// Blocks shown wholly, those shown mostly, and quads, at most: each has its pixels alone. A little more is written than is kept.
const WHOLE: usize = 2 * BLOCKS;
const MOSTLY: usize = PIXELS / 2;
const FEW: usize = 2 * PIXELS;

/// What shows of an item.
pub struct Shows {
    /// Pixels that later entries have.
    seen: [u16; BLOCKS],
    pub(in crate::tile) whole: [Part; WHOLE],
    pub(in crate::tile) wholes: usize,
    pub(in crate::tile) blocks: [Part; MOSTLY],
    pub(in crate::tile) most: usize,
    pub(in crate::tile) quads: [Part; FEW],
    pub(in crate::tile) few: usize,
    pub(in crate::tile) seats: Seats,
}

impl Shows {
    pub fn empty() -> Box<Shows> {
        Box::new(Shows {
            seen: [0; BLOCKS],
            whole: [Part::default(); WHOLE],
            wholes: 0,
            blocks: [Part::default(); MOSTLY],
            most: 0,
            quads: [Part::default(); FEW],
            few: 0,
            seats: Seats::new(),
        })
    }

    /// Nothing has been seen of the tile.
    pub fn begin(&mut self) {
        self.seen.fill(0);
    }

    /// Sorts an item's entries, after those of all later items. Returns the number of their quads that are hidden.
    #[inline(always)]
    pub(in crate::tile) fn sort(&mut self, entries: &[Entry], plain: bool, observed: bool) -> u64 {
        (self.wholes, self.most, self.few) = (0, 0, 0);
        let mut hidden = 0;
        for e in entries.iter().rev() {
            let first = e.block as usize;
            if e.more == 0 {
                hidden += self.block(e.prim, first, e.mask, plain, observed);
                continue;
            }
            // Rows and whole tiles: they are often hidden altogether.
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

    /// Sorts a block of an entry, and returns the number of its hidden quads. It is put on every list and stays on one: no branches.
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
            self.quads[(self.few + i) % FEW] = Part { prim, at: at * 4 + k, lanes: own >> (4 * k) & 0xF };
        }
        self.few += if n < 3 { n as usize } else { 0 };
        if observed { counts::quads(mask) - n as u64 } else { 0 }
    }
}

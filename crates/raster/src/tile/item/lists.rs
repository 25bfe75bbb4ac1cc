//! Which draws have primitives in each tile, in order.
//!
//! A draw adds one run of references for each tile that it touches, to that tile's chain. So the cost of a draw does not grow with the number
//! of tiles, nor that of a tile with the number of draws. A draw of thousands of primitives has lists of its own ([`Bins`](crate::geometry::bin::Bins), which threads make
//! together); every tile looks at it, as at a clear.

use super::op::{Op, Step};
use crate::geometry::Batch;
use crate::geometry::bin::{Entries, Full, Tiles};
use crate::state::Rect;
use std::ops::Range;

/// The end of a chain.
const NONE: u32 = u32::MAX;
/// Primitives and references of a draw that chains are made of.
const PRIMITIVES: usize = 8192;
const REFERENCES: usize = 1 << 14;
/// Tiles of a pass with chains.
const TILES: usize = 1 << 20;
/// Bytes that are kept from pass to pass.
const KEPT: usize = 64 << 20;

/// An op's primitives in one tile.
struct Run {
    op: u32,
    /// Of the entries.
    first: u32,
    len: u32,
    /// The tile's next run.
    next: u32,
}

#[derive(Default)]
pub struct Lists {
    /// By tile, the first and the last run of its chain.
    tiles: Vec<[u32; 2]>,
    runs: Vec<Run>,
    entries: Vec<u32>,
    /// Ops without runs.
    everywhere: Vec<u32>,
    /// Of the draw that is being added: tile and entry.
    pairs: Vec<(u32, u32)>,
    /// For sorting them.
    spare: Vec<(u32, u32)>,
    places: Vec<u32>,
}

/// Sorts pairs by tile, those of a tile in their order: by counting where there are about as many as tiles.
fn by_tile(pairs: &mut Vec<(u32, u32)>, spare: &mut Vec<(u32, u32)>, places: &mut Vec<u32>, tiles: usize) {
    if pairs.len() < tiles / 4
        || spare.try_reserve(pairs.len()).is_err()
        || places.try_reserve(tiles).is_err()
    {
        return pairs.sort_by_key(|p| p.0);
    }
    places.clear();
    places.resize(tiles, 0);
    pairs.iter().for_each(|p| places[p.0 as usize] += 1);
    let mut next = 0;
    for place in places.iter_mut() {
        next += std::mem::replace(place, next);
    }
    spare.clear();
    spare.resize(pairs.len(), (0, 0));
    for p in pairs.iter() {
        let place = &mut places[p.0 as usize];
        spare[*place as usize] = *p;
        *place += 1;
    }
    std::mem::swap(pairs, spare);
}

impl Lists {
    /// Adds primitives of a batch, op `op`'s, which comes after all others; how many references they are. `None`: they are
    /// better off with lists of their own.
    ///
    /// # Errors
    /// There is no memory.
    pub fn add(
        &mut self,
        tiles: Tiles,
        batch: &Batch,
        range: Range<usize>,
        area: Rect,
        op: usize,
    ) -> Result<Option<Entries>, Full> {
        let count = tiles.count();
        let ends = |op: &u32| *op < NONE && self.entries.len() + REFERENCES < NONE as usize;
        let Some(op) = u32::try_from(op).ok().filter(ends) else { return Ok(None) };
        if range.len() > PRIMITIVES || count > TILES {
            return Ok(None);
        }
        let pairs = &mut self.pairs;
        pairs.clear();
        let mut told = 0;
        for number in range {
            let add = |tile, entry, n| {
                told += n;
                pairs.push((tile, entry));
            };
            tiles.touch(&batch.prims[number], number as u32, batch, area, add);
            if pairs.len() > REFERENCES {
                return Ok(None);
            }
        }
        // A tile's keep their order.
        if !pairs.is_sorted_by_key(|p| p.0) {
            by_tile(pairs, &mut self.spare, &mut self.places, count);
        }
        let room = self.entries.try_reserve(pairs.len()).and_then(|()| self.runs.try_reserve(pairs.len()));
        let more = count.saturating_sub(self.tiles.len());
        room.and_then(|()| self.tiles.try_reserve(more)).map_err(|_| Full::Memory)?;
        if more > 0 {
            self.tiles.resize(count, [NONE; 2]);
        }
        for run in pairs.chunk_by(|a, b| a.0 == b.0) {
            let (first, at) = (self.entries.len() as u32, self.runs.len() as u32);
            self.entries.extend(run.iter().map(|p| p.1));
            self.runs.push(Run { op, first, len: run.len() as u32, next: NONE });
            let [head, last] = &mut self.tiles[run[0].0 as usize];
            match self.runs.get_mut(*last as usize) {
                Some(before) => before.next = at,
                None => *head = at,
            }
            *last = at;
        }
        Ok(Some(Entries { kept: pairs.len(), told }))
    }

    /// Op `op`, which comes after all others, is to be looked at in every tile.
    pub fn add_everywhere(&mut self, op: usize) {
        self.everywhere.push(op as u32);
    }

    /// The ops that do something in a tile, in order, with references to their primitives; clears have none. `joined`: room for those that
    /// lie in several lists.
    pub fn of<'a>(
        &'a self,
        tiles: Tiles,
        ops: &'a [Step],
        (layer, x, y): (u32, u32, u32),
        joined: &'a mut Vec<u32>,
        out: &mut Vec<(usize, &'a [u32])>,
    ) {
        out.clear();
        joined.clear();
        let bins = |op: u32| match &ops[op as usize].op {
            Op::Draw(item) => item.bins.as_ref(),
            Op::Clear(_) => None,
        };
        for bins in self.everywhere.iter().filter_map(|op| bins(*op)) {
            let mut lists = bins.lists(layer, x, y);
            if let (Some(one), Some(two)) = (lists.next(), lists.next()) {
                [one, two].into_iter().chain(lists).for_each(|l| joined.extend_from_slice(l));
            }
        }
        let mut joined = &joined[..];
        let mut at = self.tiles.get(tiles.number(layer, x, y)).map_or(NONE, |t| t[0]);
        let mut everywhere = self.everywhere.iter().copied().peekable();
        loop {
            let run = self.runs.get(at as usize);
            if let Some(op) = everywhere.next_if(|op| run.is_none_or(|r| *op < r.op)) {
                match bins(op) {
                    Some(bins) => {
                        let mut lists = bins.lists(layer, x, y);
                        let Some(one) = lists.next() else { continue };
                        let more: usize = lists.map(<[u32]>::len).sum();
                        let mut list = one;
                        if more > 0 {
                            (list, joined) = joined.split_at(one.len() + more);
                        }
                        out.push((op as usize, list));
                    }
                    None if matches!(ops[op as usize].op, Op::Clear(_)) => out.push((op as usize, &[])),
                    None => {}
                }
                continue;
            }
            let Some(r) = run else { break };
            out.push((r.op as usize, &self.entries[r.first as usize..][..r.len as usize]));
            at = r.next;
        }
    }

    /// Empty again; the memory is kept, unless it is much.
    pub fn clear(&mut self) {
        let bytes = self.runs.capacity() * size_of::<Run>()
            + (self.entries.capacity() + 2 * self.tiles.capacity()) * 4;
        if bytes > KEPT {
            *self = Lists::default();
        }
        self.tiles.clear();
        self.runs.clear();
        self.entries.clear();
        self.everywhere.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Grid;
    use crate::prim::tests::polygon;
    use crate::tile::memory::clear::Clear;

    const AREA: Rect = Rect { x0: 0, y0: 0, x1: 256, y1: 128 };

    fn room() -> &'static mut Vec<u32> {
        Box::leak(Box::default())
    }

    /// A batch of primitives, of 8 by 8 pixels each, at these places.
    fn batch(at: &[[i32; 2]]) -> Batch {
        let of = |[x, y]: &[i32; 2]| polygon(0, Rect { x0: *x, y0: *y, x1: x + 8, y1: y + 8 });
        let mut b = Batch::default();
        b.prims = at.iter().map(of).collect();
        b
    }

    fn kept(kept: usize) -> Option<Entries> {
        Some(Entries { kept, told: 0 })
    }

    #[test]
    fn a_tile_has_its_draws_in_order_and_nothing_of_others() {
        let tiles = Tiles::new(AREA, Grid::default(), 1, None);
        let clear = || {
            let op = Op::Clear(Clear { attachments: vec![], rects: vec![] });
            Step { subpass: 0, cell: 0, op }
        };
        // Ops 0 and 2 draw, 1 clears, 3 draws nothing here, 4 draws in the second tile and, last, in the first.
        let ops = [clear(), clear(), clear(), clear(), clear()];
        let b = batch(&[[3, 3], [70, 70], [20, 3], [40, 40], [200, 3], [100, 3], [9, 9]]);
        let mut l = Lists::default();
        let mut add = |op, range| l.add(tiles, &b, range, AREA, op).expect("memory");
        assert_eq!(add(0, 0..3), kept(3));
        assert_eq!(add(2, 3..4), kept(1));
        assert_eq!(add(3, 4..5), kept(1));
        assert_eq!(add(4, 5..7), kept(2));
        l.add_everywhere(1);
        let mut seen = Vec::new();
        l.of(tiles, &ops, (0, 0, 0), room(), &mut seen);
        assert_eq!(seen, [(0, &[0, 2][..]), (1, &[]), (2, &[3]), (4, &[6])]);
        l.of(tiles, &ops, (0, 1, 0), room(), &mut seen);
        assert_eq!(seen, [(1, &[][..]), (4, &[5])]);
        l.of(tiles, &ops, (0, 2, 1), room(), &mut seen);
        assert_eq!(seen, [(1, &[][..])]);
        // What a view lacks that others of the pass have.
        l.of(tiles.of_layers(3), &ops, (2, 0, 0), room(), &mut seen);
        assert_eq!(seen, [(1, &[][..])]);
        l.clear();
        let mut seen = Vec::new();
        l.of(tiles, &ops, (0, 0, 0), room(), &mut seen);
        assert!(seen.is_empty());
    }

    /// What thousands of draws leave in one tile costs the others nothing: a chain holds its own tile's alone.
    #[test]
    fn draws_elsewhere_are_not_looked_at() {
        let tiles = Tiles::new(AREA, Grid::default(), 1, None);
        let b = batch(&[[3, 3], [70, 3]]);
        let mut l = Lists::default();
        for op in 0..5000 {
            let at = usize::from(op == 2500);
            assert_eq!(l.add(tiles, &b, at..at + 1, AREA, op), Ok(kept(1)));
        }
        let mut seen = Vec::new();
        // No op is asked for what it is: there is none.
        l.of(tiles, &[], (0, 1, 0), room(), &mut seen);
        assert_eq!(seen, [(2500, &[1][..])]);
        l.of(tiles, &[], (0, 0, 0), room(), &mut seen);
        assert_eq!(seen.len(), 4999);
        assert!(seen.is_sorted() && seen.iter().all(|(_, e)| **e == [0]));
    }

    #[test]
    fn large_draws_have_lists_of_their_own() {
        let tiles = Tiles::new(AREA, Grid::default(), 1, None);
        let b = batch(&vec![[3, 3]; PRIMITIVES + 1]);
        let mut l = Lists::default();
        assert_eq!(l.add(tiles, &b, 0..b.prims.len(), AREA, 0), Ok(None));
        assert_eq!(l.add(tiles, &b, 1..b.prims.len(), AREA, 0), Ok(kept(PRIMITIVES)));
    }
}

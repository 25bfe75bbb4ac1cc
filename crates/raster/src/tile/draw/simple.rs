//! Small polygons of draws with one sample and no tests before shading. All blocks of a polygon, or of a whole group of triangles
//! ([`crate::tile::cover::group`]), are covered, counted and packed together.

use crate::geometry::bin::index;
use crate::layout::{BLOCKS, SIDE, quads};
use crate::prim::{Prim, prefetch};
use crate::tile::counts;
use crate::tile::cover::group::{GROUP, Group};
use crate::tile::cover::small::{self, Small};
use crate::tile::item::{Item, events};
use crate::tile::task::Task;
use simd::Simd;
use std::mem::MaybeUninit;
use std::ops::Range;
use texel::vector;
use wave::Stop;

/// What is packed at once: a block of which at least three quads are covered ([`BLOCK`], with its mask), or a quad (with the four bits of
/// its mask). The number of its first quad in the tile begins at bit 16.
type Piece = u32;
const BLOCK: Piece = 1 << 31;

/// How far the masks of four blocks are shifted for each of their sixteen quads.
const SHIFTS: [u32; 16] = [0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28];
/// Places of four blocks relative to the first: two by two, and in a row.
const SQUARE: [usize; 4] = [0, 1, SIDE, SIDE + 1];
const ROW: [usize; 4] = [0, 1, 2, 3];
/// Places of their quads, as in pieces.
const fn places(blocks: [usize; 4]) -> [u32; 16] {
    let mut t = [0; 16];
    let mut i = 0;
    while i < 16 {
        t[i] = ((blocks[i / 4] * 4 + i % 4) << 16) as u32;
        i += 1;
    }
    t
}

/// Room for the pieces of a group (three rows of blocks a triangle) and of one more row, because whole vectors are written.
const PIECES: usize = 12 * 3 * GROUP + 16;

/// What is to be packed, in order, and the primitive of each piece.
struct Pieces {
    len: usize,
    pieces: [MaybeUninit<Piece>; PIECES],
    prims: [MaybeUninit<u32>; PIECES],
}

impl Pieces {
    #[inline(always)]
    fn new() -> Pieces {
        Pieces {
            len: 0,
            pieces: [const { MaybeUninit::uninit() }; PIECES],
            prims: [const { MaybeUninit::uninit() }; PIECES],
        }
    }

    /// Adds the lanes `left` of four blocks; `places`: those of their quads, relative to block `first`.
    #[inline(always)]
    fn add<S: Simd>(&mut self, s: S, prim: u32, left: u64, first: usize, places: S::I) {
        let v = s.isel(s.mask(0xFF), s.isplat(left as u32), s.isplat((left >> 32) as u32));
        let v = s.ishr(v, vector::load(s, &SHIFTS));
        // A bit a quad.
        let q = !s.mbits(s.ieq(s.iand(v, s.isplat(0xF)), s.isplat(0)));
        // Of each four, three at least: a bit a block.
        let (some, all) = (q | q >> 1, q & q >> 1);
        let blocks = (all & some >> 2 | some & all >> 2) & 0x1111;
        let (of_block, each) = (s.mask(blocks), q & !(blocks * 15));
        let own = s.isel(of_block, s.isplat(0xFFFF), s.isplat(0xF));
        let flag = s.isel(of_block, s.isplat(BLOCK), s.isplat(0));
        let place = s.ior(s.iadd(places, s.isplat((first as u32 * 4) << 16)), flag);
        let words = s.ior(s.iand(v, own), place);
        let kept = each | blocks;
        let n = self.len.min(PIECES - 16);
        // SAFETY: there is room for sixteen words.
        unsafe {
            s.istore_packed(self.pieces.as_mut_ptr().add(n).cast(), s.mask(kept), words);
            s.istoreu(self.prims.as_mut_ptr().add(n).cast(), s.isplat(prim));
        }
        self.len = n + kept.count_ones() as usize;
    }
}

/// What the next groups need from memory, fetched one lane at a time: a tile's primitives may be anywhere, and many requests at once
/// wait for each other.
pub(in crate::tile) struct Ahead<'a> {
    /// The next group: what shading needs of it.
    pub next: &'a Group,
    /// The group after that: what coverage needs of it.
    pub far: [u32; GROUP],
}

impl Ahead<'_> {
    #[inline(always)]
    pub(in crate::tile) fn ask(&self, item: &Item, lane: usize) {
        prefetch(item.batch.prims.as_ptr().wrapping_add(self.far[lane % GROUP] as usize));
        item.soon(self.next.planes[lane % GROUP]);
    }
}

impl Task<'_> {
    /// Covers and packs a polygon of an item of [`crate::tile::item::Plan::simple`]. False if it is not small (nothing has been done
    /// then).
    #[inline(always)]
    pub(in crate::tile) fn small<S: Simd>(
        &mut self,
        s: S,
        item: &Item,
        prim: &Prim,
        index: u32,
    ) -> Result<bool, Stop> {
        let plan = &*item.plan;
        let mut covered = Small::new();
        if !small::centers(s, prim, &item.batch.edges, self.origin, &mut covered) {
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

    /// Covers sixteen entries of a list from `n` on, in their order (`place`).
    #[inline(always)]
    pub(in crate::tile) fn group<S: Simd>(
        &mut self,
        s: S,
        item: &Item,
        group: &mut Group,
        entries: &[u32],
        n: usize,
        place: impl Fn(usize) -> usize,
    ) {
        let mut own = [0; GROUP];
        for k in 0..GROUP {
            own[k] = entries[place((n + k).min(entries.len() - 1))];
        }
        let n = (entries.len() - n).min(GROUP);
        group.cover(s, &item.batch.prims, &own, n, self.origin);
        if item.plan.observed {
            for &entry in &own[..n] {
                let prim = &item.batch.prims[index(entry) as usize];
                events::entered(&mut self.counts, item, prim, entry, self.origin);
            }
        }
    }

    /// Lanes of four blocks, from `first` on. If `asked`, only those that no later primitive has, and they are marked as taken.
    #[inline(always)]
    fn not_done(&mut self, asked: bool, first: usize, blocks: [usize; 4], mask: u64) -> u64 {
        let mut left = mask;
        if asked {
            for (k, b) in blocks.into_iter().enumerate() {
                let done = &mut self.done[first + b];
                left &= !((*done as u64) << (16 * k));
                *done |= (mask >> (16 * k)) as u16;
            }
        }
        left
    }

    /// Packs small triangles of a group, wide ones too.
    #[inline(always)]
    pub(in crate::tile) fn pack<S: Simd>(
        &mut self,
        s: S,
        item: &Item,
        group: &Group,
        ahead: &Ahead,
        seen: &mut counts::SeenFours,
        which: Range<usize>,
    ) -> Result<(), Stop> {
        let plan = &*item.plan;
        let mut all = Pieces::new();
        let (square, row) =
            (vector::load(s, &const { places(SQUARE) }), vector::load(s, &const { places(ROW) }));
        for i in which.start..which.end.min(GROUP) {
            ahead.ask(item, i);
            let first = group.first[i] as usize % BLOCKS;
            if group.wide >> i & 1 != 0 {
                for (by, mask) in group.rows(s, i).into_iter().enumerate() {
                    let first = first + by * SIDE;
                    let left = self.not_done(plan.last_first, first, ROW, mask);
                    seen.four(s, mask, left);
                    all.add(s, group.prims[i], left, first, row);
                }
                continue;
            }
            let mask = group.mask(i);
            let left = self.not_done(plan.last_first, first, SQUARE, mask);
            seen.four(s, mask, left);
            all.add(s, group.prims[i], left, first, square);
        }
        // SAFETY: so many have been written.
        let (pieces, prims) =
            unsafe { (all.pieces[..all.len].assume_init_ref(), all.prims[..all.len].assume_init_ref()) };
        seat(self.level, self, item, pieces, prims)
    }

    /// Packs pieces of these primitives, in their order.
    #[inline(always)]
    fn seat_body(&mut self, item: &Item, pieces: &[Piece], prims: &[u32]) -> Result<(), Stop> {
        let plan = &*item.plan;
        let mut open = self.packer.open;
        let n = pieces.len().min(prims.len());
        let (pieces, prims) = (&pieces[..n], &prims[..n]);
        for k in 0..n {
            let (piece, prim) = (pieces[k], prims[k]);
            let (quad, mask) = ((piece >> 16 & 0x3FF) as usize, piece as u16);
            if piece & BLOCK != 0 {
                let block = quad / 4;
                if plan.plain && mask == 0xFFFF {
                    self.packer.open = open;
                    self.full(item, prim, block)?;
                    open = self.packer.open;
                    continue;
                }
                let quads = quads(mask);
                if !self.packer.add_block(plan.warps, prim, block, quads, mask) {
                    self.shade(item)?;
                    open = self.packer.open;
                    self.packer.add_block(plan.warps, prim, block, quads, mask);
                }
                continue;
            }
            if self.packer.count == plan.warps {
                // The quads of a block go to one wave; room for the second was checked together with the first.
                let beside = |k: usize| {
                    pieces
                        .get(k)
                        .is_some_and(|p| (p ^ piece) & (BLOCK | 0x3FC << 16) == 0 && prims[k] == prim)
                };
                let second = if beside(k + 1) { 1 << (pieces[k + 1] >> 16 & 3) } else { 0 };
                if !beside(k.wrapping_sub(1))
                    && self.packer.lacks(open, plan.warps, quad / 4, 1 << (quad % 4) | second)
                {
                    self.shade(item)?;
                    open = self.packer.open;
                }
            }
            self.packer.add_quad(&mut open, prim, quad, mask);
        }
        self.packer.open = open;
        Ok(())
    }
}

#[inline(always)]
fn seat_body<S: Simd>(
    _: S,
    task: &mut Task,
    item: &Item,
    pieces: &[Piece],
    prims: &[u32],
) -> Result<(), Stop> {
    task.seat_body(item, pieces, prims)
}
simd::by_level! {
    /// A separate function: coverage keeps constants in registers, which would have to be made again after each call inside this loop.
    #[inline(never)]
    fn seat = seat_body, (task: &mut Task, item: &Item, pieces: &[Piece], prims: &[u32]) -> Result<(), Stop>
}

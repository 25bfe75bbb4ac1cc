//! Opaque fragments that passed their depth tests wait before they are shaded. Of the fragments at one pixel only the last is seen, and only
//! that one is shaded (forward pixel kill; Arm describes it so: a quad that is still in the queue when a later opaque one covers it is
//! removed). So drawing back to front shades what drawing front to back shades.
//!
//! Blocks of fragments are logged in order. Each pixel belongs to the last entry that holds it, which is found from the end of the log
//! ([`super::show`]). If an entry covers a block wholly and the bounds of its depths alone say that all of them pass, the block is the
//! entry's without a look at its pixels. Its depths are computed when they are needed.

use super::tested::{depths, depths_down, sides};
use crate::layout::{PIXELS, QUADS, SIDE, quads};
use crate::prim::Prim;
use crate::tile::counts::{self, InTile, TileCounts};
use crate::tile::cover::MAX_SAMPLES;
use crate::tile::item::Item;
use crate::tile::pack::log::{AHEAD, Entry};
use crate::tile::pack::packer::Piece;
use crate::tile::task::{Shown, Task, Waiting};
use simd::Simd;
use texel::vector;
use wave::Stop;

/// Number of blocks (or whole tiles) after which what waits is shaded. One primitive adds at most the blocks of a tile.
const MANY: usize = 4096;

impl<'a> Task<'a> {
    /// Draws an item of [`crate::tile::item::Plan::deferred`] up to its tests. An error may be an earlier item's: [`Self::blamed`].
    pub fn defer(&mut self, op: usize, item: &'a Item, entries: &[u32]) -> Result<TileCounts, Stop> {
        if item.plan.samples != self.log.samples {
            self.show_all()?;
            self.log.samples = item.plan.samples;
        }
        self.waiting.push(Waiting { item, op, first: self.log.entries.len() });
        self.cover_and_test(item, entries, &[])?;
        Ok(std::mem::take(&mut self.counts))
    }

    /// Fragments that passed their tests.
    #[inline(always)]
    pub(in crate::tile) fn wait(&mut self, prim: u32, block: usize, mask: u16) {
        let log = &mut *self.log;
        log.entries.push(Entry { prim, block: block as u8, more: 0, mask });
        log.blocks += 1;
    }

    /// Fragments that passed their tests, of several samples a pixel: lanes of each.
    #[inline(always)]
    pub(in crate::tile) fn wait_samples(&mut self, prim: u32, block: usize, masks: &[u16]) {
        let log = &mut *self.log;
        log.masks.extend_from_slice(masks);
        let mask = masks.iter().fold(0, |any, m| any | m);
        log.entries.push(Entry { prim, block: block as u8, more: 0, mask });
        log.blocks += 1;
    }

    /// All fragments of `n` blocks side by side, which passed their tests by the bounds of their depths.
    #[inline(always)]
    pub(in crate::tile) fn wait_row(&mut self, prim: u32, block: usize, n: usize) {
        let log = &mut *self.log;
        log.entries.push(Entry { prim, block: block as u8, more: (n - 1) as u8, mask: 0xFFFF });
        log.blocks += n;
    }

    /// A primitive that covers the tile, whose depths `z` bounds, and all of which passes its tests.
    #[inline(always)]
    pub(in crate::tile) fn wait_whole<S: Simd>(
        &mut self,
        s: S,
        item: &Item,
        prim: &Prim,
        index: u32,
        z: [f32; 2],
    ) {
        self.counts[InTile::Passed] += PIXELS as u64;
        let n = self.log.entries.len() as u32 + 1;
        self.log.entries.push(Entry { prim: index, block: 0, more: u8::MAX, mask: 0xFFFF });
        self.log.blocks += 1;
        if !item.plan.tests.write {
            return;
        }
        self.counts[InTile::EarlyUpdated] += QUADS as u64;
        self.log.depths.fill(n);
        let range = item.depth_range(prim);
        let sides = sides(s, prim, self.origin);
        for row in 0..SIDE {
            let bounds = self.bounds(s, item, prim, row, range, sides);
            self.hiz.wrote_row(row, &bounds.low, &bounds.high);
        }
        self.hiz.wrote_tile(z);
    }

    /// The entry that waits since now has the depths of `n` blocks side by side (if it writes them).
    #[inline(always)]
    pub(in crate::tile) fn depths_later(&mut self, block: usize, n: usize) {
        let number = self.log.entries.len() as u32;
        self.log.depths[block..block + n].fill(number);
    }

    /// Whose depths those of entry `n` are.
    #[inline(always)]
    fn depths_of(&self, n: usize) -> Option<(&'a Item, &'a Prim, *mut f32)> {
        let after = self.waiting.partition_point(|w| w.first <= n);
        let item = self.waiting[after.checked_sub(1)?].item;
        let plane = self.plane(item.plan.depth, |t| &t.depth)?;
        let prim = &item.batch.prims[self.log.entries[n].prim as usize];
        // SAFETY: the task's tile has the plane.
        Some((item, prim, unsafe { plane.sample(self.tile, 0) }.cast()))
    }

    /// Puts a block's depths into the tile.
    #[inline(always)]
    pub(in crate::tile) fn depths_now<S: Simd>(&mut self, s: S, block: usize) {
        let Some(n) = std::mem::take(&mut self.log.depths[block]).checked_sub(1) else { return };
        if let Some(of) = self.depths_of(n as usize) {
            self.put_depths(s, block, of);
        }
    }

    #[inline(always)]
    fn put_depths<S: Simd>(&self, s: S, block: usize, (item, prim, plane): (&Item, &Prim, *mut f32)) {
        let down = depths_down(s, prim, self.origin, block / SIDE);
        let z = depths(s, item, prim, item.depth_range(prim), self.origin, block, down);
        // SAFETY: a block of the plane.
        let here = unsafe { &mut *plane.add(block * 16).cast::<[f32; 16]>() };
        vector::store_floats(s, here, z);
    }

    #[inline(always)]
    fn all_depths_now_body<S: Simd>(&mut self, s: S) {
        for row in 0..SIDE {
            // Blocks side by side are often one entry's.
            let (mut entry, mut of) = (0, None);
            let (mut down, mut range) = (s.fsplat(0.0), [0.0; 2]);
            for block in row * SIDE..(row + 1) * SIDE {
                let n = std::mem::take(&mut self.log.depths[block]);
                if n == 0 {
                    continue;
                }
                if n != entry {
                    (entry, of) = (n, self.depths_of(n as usize - 1));
                    if let Some((item, prim, _)) = of {
                        (down, range) = (depths_down(s, prim, self.origin, row), item.depth_range(prim));
                    }
                }
                if let Some((item, prim, plane)) = of {
                    let z = depths(s, item, prim, range, self.origin, block, down);
                    // SAFETY: a block of the plane.
                    let here = unsafe { &mut *plane.add(block * 16).cast::<[f32; 16]>() };
                    vector::store_floats(s, here, z);
                }
            }
        }
    }

    /// Shades what waits if there is much of it, in the middle of the item that was begun last.
    pub(in crate::tile) fn wait_no_longer(&mut self) -> Result<(), Stop> {
        if self.log.blocks < MANY {
            return Ok(());
        }
        let under_way = std::mem::take(&mut self.counts);
        let last = self.waiting.last().map(|w| (w.item, w.op));
        self.show_all()?;
        self.waiting.extend(last.map(|(item, op)| Waiting { item, op, first: 0 }));
        self.counts = under_way;
        Ok(())
    }

    /// Shades all that waits. What that counted goes to [`Self::shown`].
    pub fn show_all(&mut self) -> Result<(), Stop> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        if self.depth_ends {
            self.log.depths.fill(0);
        } else {
            all_depths_now(self.level, self);
        }
        self.log.keep_the_last();
        let waiting = std::mem::take(&mut self.waiting);
        // What is drawn last hides what came before.
        for (i, w) in waiting.iter().enumerate().rev() {
            let end = waiting.get(i + 1).map_or(self.log.entries.len(), |next| next.first);
            self.packer.clear();
            let r = show(self.level, self, w.item, w.first, end);
            let r = r.and_then(|()| self.shade(w.item));
            let usage = w.item.take_usage(self.worker);
            self.shown.push(Shown { op: w.op, counts: std::mem::take(&mut self.counts), usage });
            if r.is_err() {
                self.blamed = Some(w.op);
                return r;
            }
        }
        self.log.forget();
        Ok(())
    }

    #[inline(always)]
    fn show_body(&mut self, item: &Item, first: usize, end: usize) -> Result<(), Stop> {
        if item.plan.samples == 1 {
            return self.show_single(item, first, end);
        }
        let mut asked = u32::MAX;
        for n in first..end {
            // The entries of a primitive are consecutive.
            if let Some(ahead) = self.log.entries[..end].get(n + AHEAD).filter(|e| e.prim != asked) {
                asked = ahead.prim;
                item.soon(item.batch.prims[asked as usize].planes);
            }
            let e = self.log.entries[n];
            if item.plan.samples == 4 {
                self.show_four(item, n, e)?;
            } else {
                self.show_samples(item, n, e)?;
            }
        }
        Ok(())
    }

    /// Has what is left of entry `n` shaded, of several samples a pixel.
    #[inline(always)]
    fn show_samples(&mut self, item: &Item, n: usize, e: Entry) -> Result<(), Stop> {
        let samples = item.plan.samples.min(MAX_SAMPLES);
        let mut masks = [0; MAX_SAMPLES];
        masks[..samples].copy_from_slice(&self.log.masks[n * samples..][..samples]);
        let masks = &masks[..samples];
        let any = masks.iter().fold(0, |any, m| any | m);
        self.counts[InTile::Hidden] += counts::quads(e.mask) - counts::quads(any);
        let (block, q) = (e.block as usize, quads(any));
        let piece = Piece { prim: e.prim, block, quads: q, masks, sample: None, coverage: None };
        if q == 0 { Ok(()) } else { self.add(item, &piece) }
    }

    /// As [`Self::show_samples`], of four.
    #[inline(always)]
    fn show_four(&mut self, item: &Item, n: usize, e: Entry) -> Result<(), Stop> {
        let masks = self.log.masks[4 * n..].first_chunk::<4>().map_or([0; 4], |m| m.map(|m| m as u64));
        let any = (masks[0] | masks[1] | masks[2] | masks[3]) as u16;
        if item.plan.observed {
            self.counts[InTile::Hidden] += counts::quads(e.mask) - counts::quads(any);
        }
        let masks = masks[0] | masks[1] << 16 | masks[2] << 32 | masks[3] << 48;
        let (block, q) = (e.block as usize, quads(any));
        if q != 0 && !self.packer.add_four(item.plan.warps, e.prim, block, q, masks) {
            self.shade(item)?;
            self.packer.add_four(item.plan.warps, e.prim, block, q, masks);
        }
        Ok(())
    }
}

#[inline(always)]
fn all_depths_now_body<S: Simd>(s: S, task: &mut Task) {
    task.all_depths_now_body(s);
}
simd::by_level! {
    #[inline(never)]
    fn all_depths_now = all_depths_now_body, (task: &mut Task)
}

#[inline(always)]
fn show_body<S: Simd>(_: S, task: &mut Task, item: &Item, first: usize, end: usize) -> Result<(), Stop> {
    task.show_body(item, first, end)
}
simd::by_level! {
    #[inline(never)]
    fn show = show_body, (task: &mut Task, item: &Item, first: usize, end: usize) -> Result<(), Stop>
}

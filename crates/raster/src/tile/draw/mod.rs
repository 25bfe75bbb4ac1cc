//! Drawing of an item in a tile: primitive by primitive, through coverage and tests to the packer.

pub mod block;
pub mod deferred;
pub mod four;
pub mod shapes;
pub mod show;
pub mod simple;
pub mod small_tested;
pub mod tested;

use crate::layout::{BLOCKS, Blocks, QUADS, TILE, pixel};
use crate::prim::{Shape, prefetch};
use crate::state::Rect;
use crate::tile::counts::{self, InTile, any_quads};
use crate::tile::cover::MAX_SAMPLES;
use crate::tile::cover::group::{GROUP, Group};
use crate::tile::cover::small;
use crate::tile::item::Item;
use crate::tile::item::events::{self, DrawCounts};
use crate::tile::item::plan::When;
use crate::tile::task::{AHEAD, Of, POLL, Task};
use block::block;
use simd::Simd;
use simple::Ahead;
use wave::Stop;

const WHOLE: Rect = Rect { x0: 0, y0: 0, x1: TILE, y1: TILE };

impl Task<'_> {
    /// Draws the primitives `entries` of an item: indices into its batch, with [`crate::geometry::bin::COVERS`]
    /// where they cover the whole tile. `hidden`: blocks that later draws cover, by entry, or empty.
    pub fn draw(
        &mut self,
        item: &Item,
        entries: &[u32],
        hidden: &[Blocks],
        counts: &mut DrawCounts,
    ) -> Result<(), Stop> {
        let r = self.cover_and_test(item, entries, hidden);
        let r = r.and_then(|_| self.shade(item));
        let usage = item.take_usage(self.worker);
        let tile = std::mem::take(&mut self.counts);
        self.load += &events::load(&tile, item, usage.as_ref());
        counts.add_tile(&tile, usage.as_ref());
        r
    }

    /// As [`Task::draw`], up to what is packed at the end.
    pub(in crate::tile) fn cover_and_test(
        &mut self,
        item: &Item,
        entries: &[u32],
        hidden: &[Blocks],
    ) -> Result<(), Stop> {
        self.packer.clear();
        let plan = &*item.plan;
        if plan.depth.is_some() && self.hiz.of != plan.depth {
            self.hiz.forget(plan.depth);
        }
        if plan.tests.write && (plan.when != When::Early || !plan.hiz) {
            self.hiz.written_late(&plan.tests);
        }
        draw(self.level, self, item, entries, hidden)?;
        events::all_entered(&mut self.counts);
        Ok(())
    }

    #[inline(always)]
    fn draw_body<S: Simd>(
        &mut self,
        s: S,
        item: &Item,
        entries: &[u32],
        hidden: &[Blocks],
    ) -> Result<(), Stop> {
        use crate::geometry::bin::{COVERS, index};
        let plan = &*item.plan;
        let single = plan.samples == 1;
        let origin = self.origin;
        // If pixels are replaced whatever was there, the last primitive comes first, and each pixel is shaded once.
        self.done = [0; _];
        // A rectangle of the tile all of whose pixels are done.
        let mut done = Rect::default();
        let place = |n: usize| if plan.last_first { (entries.len() - 1).wrapping_sub(n) } else { n };
        let grouped = plan.simple && hidden.is_empty();
        let mut groups = [Group::EMPTY; 2];
        let mut seen = counts::SeenFours::default();
        let mut tested = counts::Tested::default();
        let mut far = [0; GROUP];
        let small = plan.small.then(|| small_tested::run(self.level, single)).flatten();
        let small = small.filter(|_| hidden.is_empty());
        let mut next = 0;
        while next < entries.len() {
            if next % POLL == 0 && self.host.expired() {
                break;
            }
            if let Some(run) = small {
                // SAFETY: picked for the task's level, which this CPU has.
                next = unsafe { run(self, item, entries, next)? };
                if next == entries.len() {
                    break;
                }
            }
            let n = next;
            if grouped {
                let (lane, odd) = (n % GROUP, n / GROUP % 2);
                if lane == 0 {
                    if n == 0 {
                        self.group(s, item, &mut groups[0], entries, 0, place);
                    }
                    if n + GROUP < entries.len() {
                        self.group(s, item, &mut groups[1 - odd], entries, n + GROUP, place);
                    }
                    for k in 0..GROUP {
                        far[k] = index(entries[place((n + 2 * GROUP + k).min(entries.len() - 1))]);
                    }
                }
                let ahead = Ahead { next: &groups[1 - odd], far };
                let run = ((groups[odd].small | groups[odd].wide) >> lane).trailing_ones() as usize;
                if run > 0 {
                    self.pack(s, item, &groups[odd], &ahead, &mut seen, lane..lane + run)?;
                    next += run;
                    continue;
                }
                ahead.ask(item, lane);
            }
            next += 1;
            let i = place(n);
            if plan.deferred {
                self.wait_no_longer()?;
            }
            let e = entries[i];
            let number = index(e);
            let prim = &item.batch.prims[number as usize];
            let of = &Of { item, prim, number };
            if !grouped {
                events::entered(&mut self.counts, item, prim, e, origin);
                // A tile's primitives may be anywhere: what coverage and shading need of them is prefetched.
                if let Some(next) = entries.get(place(n + AHEAD)) {
                    prefetch(item.batch.prims.as_ptr().wrapping_add(index(*next) as usize));
                }
                if let Some(next) = entries.get(place(n + AHEAD / 2)).filter(|_| plan.simple) {
                    item.soon(item.batch.prims[index(*next) as usize].planes);
                }
            }
            if prim.form.shape() != Shape::Polygon {
                match prim.form.shape() {
                    Shape::Pixels => self.pixels(of)?,
                    Shape::Smooth => self.smooth(of)?,
                    _ => self.centers(of)?,
                }
                continue;
            }
            let b = &prim.bounds.rect();
            if prim.form.edges() == 0 && b.x1 - b.x0 == 1 && b.y1 - b.y0 == 1 {
                // One pixel: a point.
                let (x, y) = (b.x0 - origin[0], b.y0 - origin[1]);
                let p = pixel(x as usize % TILE as usize, y as usize % TILE as usize);
                let mut masks = [0; MAX_SAMPLES];
                masks[..plan.samples].fill(1 << (p % 16));
                block(self.level, self, of, p / 16, &masks)?;
                continue;
            }
            let hidden = hidden.get(i);
            if plan.simple && hidden.is_none() && self.small(s, item, prim, number)? {
                continue;
            }
            if e & COVERS != 0 && hidden.is_some_and(|h| h.iter().all(|w| *w == !0)) {
                counts::gone(&mut self.counts, &WHOLE, plan.all_pass);
                continue;
            }
            if !small::list(s, prim, &item.batch.edges, origin, plan.locations(), plan.samples, self.covered)
            {
                if !self.cover.set(prim, &item.batch.edges, origin, e & COVERS != 0, plan.locations(), single)
                {
                    continue;
                }
                if plan.hiz && self.cover.whole() {
                    let z = item.depths(prim, origin, TILE);
                    let fails = self.hiz.tile_fails(&plan.tests, z);
                    if fails || plan.deferred && plan.plain && self.hiz.tile_passes(&plan.tests, z) {
                        let c = &mut self.counts;
                        c[InTile::Quads] += QUADS as u64;
                        c[InTile::EarlyTested] += QUADS as u64;
                        if fails {
                            c[InTile::EarlyKilled] += QUADS as u64;
                        } else {
                            self.wait_whole(s, item, prim, number, z);
                        }
                        continue;
                    }
                }
                let untouched = !plan.last_first || self.done[..BLOCKS] == [0; BLOCKS];
                if plan.whole && untouched && self.cover.whole() {
                    self.whole(item, number, hidden)?;
                    if plan.last_first {
                        self.done = [0xFFFF; _];
                        done = WHOLE;
                    }
                    continue;
                }
                if let Some(r) = self.cover.rect().filter(|_| plan.last_first && plan.simple) {
                    if done.contains(&r) {
                        counts::gone(&mut self.counts, &r, plan.all_pass);
                        continue;
                    }
                    done = r;
                }
                self.cover.list(s, self.covered);
            }
            if let Some(coarse) = &plan.coarse {
                self.cover_coarse(coarse, of);
            }
            if plan.depth_alone {
                self.tested(s, of, hidden)?;
                continue;
            }
            if plan.four && hidden.is_none() {
                self.test_fours(s, of, &mut tested)?;
                continue;
            }
            let mut next = 0;
            while next < self.covered.count {
                let k = next;
                next += 1;
                let b = self.covered.blocks[k] as usize;
                let masks = self.covered.masks[k];
                if plan.whole && masks[0] == 0xFFFF {
                    let n = self.row_of_full(plan.samples, k, hidden);
                    if n > 1 {
                        self.full_row(item, number, k, n)?;
                        next = k + n;
                        continue;
                    }
                }
                if hidden.is_none_or(|h| h[b / 64] >> (b % 64) & 1 == 0) {
                    block(self.level, self, of, b, &masks)?;
                } else {
                    counts::rasterised(&mut self.counts, &masks[..plan.samples]);
                    self.counts[InTile::Hidden] += any_quads(&masks[..plan.samples]);
                    counts::hidden(&mut self.counts, masks[0], plan.all_pass);
                }
            }
        }
        seen.add_to(s, &mut self.counts, plan.all_pass);
        tested.add_to(&mut self.counts);
        Ok(())
    }
}

#[inline(always)]
fn draw_body<S: Simd>(
    s: S,
    task: &mut Task,
    item: &Item,
    entries: &[u32],
    hidden: &[Blocks],
) -> Result<(), Stop> {
    task.draw_body(s, item, entries, hidden)
}
simd::by_level! {
    #[inline(never)]
    fn draw = draw_body, (task: &mut Task, item: &Item, entries: &[u32], hidden: &[Blocks]) -> Result<(), Stop>
}

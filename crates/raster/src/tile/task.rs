//! One tile of one layer: load, all draws of all subpasses, resolve, store.

use crate::tile::counts::{self, DrawCounts, InTile, TileCounts, any_quads};
use crate::tile::cover::{Cover, Covered, MAX_MASKS, MAX_SAMPLES};
use crate::tile::draw::deferred::{Log, Shown, Waiting};
use crate::tile::cover::group::{GROUP, Group};
use crate::tile::test::hiz::Hiz;
use crate::tile::item::{Item, When};
use crate::tile::pack::packer::Packer;
use crate::tile::shade::sample_of;
use crate::tile::draw::simple::Ahead;
use crate::tile::cover::small;
use crate::tile::draw::small_tested;
use crate::tile::memory::target::{Plane, Targets};
use crate::layout::{BLOCKS, LANE_X, LANE_Y, SIDE, TILE, pixel};
use crate::prim::{Prim, Shape, prefetch};
use crate::state::Rect;
use counters::Load;
use simd::{Level, Simd};
use texel::vector;
use wave::{Arena, Host, Stop, Worker};

/// Quads of a tile.
pub(in crate::tile) const QUADS: u64 = 4 * BLOCKS as u64;
const WHOLE: Rect = Rect { x0: 0, y0: 0, x1: TILE, y1: TILE };

/// A set of blocks.
pub type Blocks = [u64; BLOCKS / 64];

/// What a thread works on.
pub struct Task<'a> {
    pub(in crate::tile) targets: &'a Targets,
    pub worker: &'a mut Worker,
    pub packer: &'a mut Packer,
    pub cover: &'a mut Cover,
    pub covered: &'a mut Covered,
    pub hiz: &'a mut Hiz,
    pub host: &'a dyn Host,
    pub arena: Arena,
    /// The tile buffer, laid out by the targets: who makes a task says so.
    pub(in crate::tile) tile: *mut u8,
    pub layer: u32,
    /// Pixels.
    pub origin: [i32; 2],
    pub level: Level,
    /// Counted here and added once an item.
    pub(in crate::tile) counts: TileCounts,
    /// What all that was drawn in the tile asks of a core.
    pub load: Load,
    /// Pixels that have what they show already, by block ([`Plan::last_first`]).
    /// More than a tile's: who looks at a block looks at those beside it and below too.
    pub(in crate::tile) done: [u16; BLOCKS + 2 * SIDE + 4],
    /// Items whose fragments wait ([`crate::tile::draw::deferred`]), and what came of those that do not any more.
    pub(in crate::tile) log: &'a mut Log,
    pub(in crate::tile) waiting: Vec<Waiting<'a>>,
    pub shown: Vec<Shown>,
    /// The op whose shading failed, where it is not the one that was drawn.
    pub blamed: Option<usize>,
    /// Nobody asks for depths behind the draws to come: those that have not been put into the tile yet need not be.
    pub depth_ends: bool,
    /// Covered sixteenths of the block's pixels (smooth lines; else 16).
    pub(in crate::tile) coverage: [u8; 16],
}

impl<'a> Task<'a> {
    /// A task on the pixels of a tile.
    ///
    /// # Safety
    /// The tile buffer is laid out by `targets`, and while this draws nobody else uses it.
    #[allow(clippy::too_many_arguments)]
    pub unsafe fn new(
        targets: &'a Targets,
        worker: &'a mut Worker,
        packer: &'a mut Packer,
        cover: &'a mut Cover,
        covered: &'a mut Covered,
        hiz: &'a mut Hiz,
        log: &'a mut Log,
        host: &'a dyn Host,
        arena: Arena,
        tile: *mut u8,
        layer: u32,
        origin: [i32; 2],
        level: Level,
    ) -> Task<'a> {
        // A tile that failed has left it as it was.
        log.clear();
        Task {
            targets,
            worker,
            packer,
            cover,
            covered,
            hiz,
            host,
            arena,
            tile,
            layer,
            origin,
            level,
            counts: TileCounts::default(),
            done: [0; _],
            log,
            load: Load::default(),
            waiting: vec![],
            shown: vec![],
            blamed: None,
            depth_ends: false,
            coverage: [16; 16],
        }
    }

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
        self.load += &counts::load(&tile, item, usage.as_ref());
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
        counts::all_entered(&mut self.counts);
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
        // Pixels that are replaced whatever was there: the last primitive comes first, and each pixel is shaded once.
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
                    self.pack(s, item, &groups[odd], &ahead, &mut seen, lane, lane + run)?;
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
            if !grouped {
                counts::entered(&mut self.counts, item, prim, e, origin);
                // A tile's primitives lie anywhere: what coverage wants of them is on its way before they are looked at, and what
                // shading wants too.
                if let Some(next) = entries.get(place(n + AHEAD)) {
                    prefetch(item.batch.prims.as_ptr().wrapping_add(index(*next) as usize));
                }
                if let Some(next) = entries.get(place(n + AHEAD / 2)).filter(|_| plan.simple) {
                    item.soon(item.batch.prims[index(*next) as usize].planes);
                }
            }
            if prim.form.shape() != Shape::Polygon {
                match prim.form.shape() {
                    Shape::Pixels => self.pixels(item, prim, number)?,
                    Shape::Smooth => self.smooth(item, prim, number)?,
                    _ => self.centers(item, prim, number)?,
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
                block(self.level, self, item, prim, number, p / 16, &masks)?;
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
                        c[InTile::Quads] += QUADS;
                        c[InTile::EarlyTested] += QUADS;
                        if fails {
                            c[InTile::EarlyKilled] += QUADS;
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
            if plan.depth_alone {
                self.tested(s, item, prim, number, hidden)?;
                continue;
            }
            if plan.four && hidden.is_none() {
                self.test_fours(s, item, prim, number, &mut tested)?;
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
                    block(self.level, self, item, prim, number, b, &masks)?;
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

    /// A block of a primitive: early tests, then into the wave.
    #[inline(always)]
    fn block_body<S: Simd>(
        &mut self,
        s: S,
        item: &Item,
        prim: &Prim,
        index: u32,
        block: usize,
        covered: &[u16; MAX_SAMPLES],
    ) -> Result<(), Stop> {
        let plan = &*item.plan;
        if plan.simple {
            let mask = covered[0] & !self.done[block];
            counts::rasterised(&mut self.counts, &covered[..1]);
            if plan.last_first {
                self.done[block] |= mask;
                self.counts[InTile::Hidden] += counts::quads(covered[0]) - counts::quads(mask);
                counts::hidden(&mut self.counts, covered[0] & !mask, plan.all_pass);
            }
            if plan.plain && mask == 0xFFFF {
                return self.full(item, index, block);
            }
            let quads = quads(mask);
            if quads == 0 {
                return Ok(());
            }
            item.soon(prim.planes);
            if !self.packer.add_one(plan.warps, index, block, quads, mask) {
                self.shade(item)?;
                self.packer.add_one(plan.warps, index, block, quads, mask);
            }
            return Ok(());
        }
        let mut masks = [0; MAX_MASKS];
        masks[..MAX_SAMPLES].copy_from_slice(covered);
        let mut any = 0;
        for (s, m) in masks[..plan.samples].iter_mut().enumerate() {
            if plan.sample_mask >> s & 1 == 0 {
                *m = 0;
            }
            any |= *m;
        }
        counts::rasterised(&mut self.counts, &masks[..plan.samples]);
        if plan.before_tests {
            masks.copy_within(..plan.samples, plan.samples);
        }
        if plan.deferred {
            self.depths_now(s, block);
        }
        if matches!(plan.when, When::Early | When::Both) && any != 0 {
            let tested = counts::quads(any);
            self.counts[InTile::EarlyTested] += tested;
            let corner =
                [self.origin[0] + (block % SIDE) as i32 * 4, self.origin[1] + (block / SIDE) as i32 * 4];
            let range = if plan.hiz { item.depths(prim, corner, 4) } else { [0.0; 2] };
            if plan.hiz && self.hiz.block_fails(&plan.tests, block, range) {
                self.counts[InTile::EarlyKilled] += tested;
                return Ok(());
            }
            any = 0;
            let mut every = 0xFFFF;
            for k in 0..plan.samples {
                if masks[k] != 0 {
                    masks[k] = self.early(s, item, prim, masks[k], k, block, corner);
                    any |= masks[k];
                }
                every &= masks[k];
            }
            let left = counts::quads(any);
            self.counts[InTile::EarlyKilled] += tested - left;
            self.counts[InTile::EarlyUpdated] +=
                if plan.when == When::Early && plan.tests.write { left } else { 0 };
            if plan.hiz && plan.when == When::Early && plan.tests.write && any != 0 {
                self.hiz.wrote(block, range, every == 0xFFFF);
            }
        }
        if any == 0 {
            return Ok(());
        }
        if plan.deferred {
            let masks = &masks[..plan.samples];
            self.counts[InTile::Passed] += masks.iter().map(|m| m.count_ones() as u64).sum::<u64>();
            if plan.samples == 1 {
                self.wait(index, block, any);
            } else {
                self.wait_samples(index, block, masks);
            }
            return Ok(());
        }
        self.pack_block(item, prim, index, block, any, &masks)
    }

    /// Packs what is left of a block after early tests; `any`: of its samples' masks. (Once, not wherever blocks come from.)
    #[inline(never)]
    pub(in crate::tile) fn pack_block(
        &mut self,
        item: &Item,
        prim: &Prim,
        index: u32,
        block: usize,
        any: u16,
        masks: &[u16; MAX_MASKS],
    ) -> Result<(), Stop> {
        let plan = &*item.plan;
        let whole = any == 0xFFFF && masks[..plan.samples].iter().all(|m| *m == 0xFFFF);
        if whole && plan.full && plan.shades {
            return self.full(item, index, block);
        }
        if !plan.shades || plan.counts_early {
            masks[..plan.samples].iter().for_each(|m| self.counts[InTile::Passed] += m.count_ones() as u64);
        }
        if !plan.shades {
            return Ok(());
        }
        item.soon(prim.planes);
        let smooth = item.smooth().then_some(self.coverage);
        if plan.exclusive && self.packer.overlaps(block, quads(any)) {
            self.shade(item)?;
        }
        if !plan.per_sample {
            let masks = &masks[..if plan.before_tests { 2 * plan.samples } else { plan.samples }];
            if !self.packer.add(plan.warps, index, block, quads(any), masks, None, smooth.as_ref()) {
                self.shade(item)?;
                self.packer.add(plan.warps, index, block, quads(any), masks, None, smooth.as_ref());
            }
            return Ok(());
        }
        for s in 0..plan.samples {
            if masks[s] == 0 {
                continue;
            }
            let mut one = [0; MAX_MASKS];
            one[s] = masks[s];
            if plan.before_tests {
                one[plan.samples + s] = masks[s];
            }
            let one = &one[..if plan.before_tests { 2 * plan.samples } else { plan.samples }];
            let (q, sample) = (quads(masks[s]), Some(s as u8));
            if plan.pixel_interlock && self.packer.overlaps(block, q) {
                self.shade(item)?;
            }
            if !self.packer.add(plan.warps, index, block, q, one, sample, smooth.as_ref()) {
                self.shade(item)?;
                self.packer.add(plan.warps, index, block, q, one, sample, smooth.as_ref());
            }
        }
        Ok(())
    }

    /// Tests one sample of a whole block in place; the lanes that pass.
    #[inline(always)]
    fn early<S: Simd>(
        &self,
        s: S,
        item: &Item,
        prim: &Prim,
        mask: u16,
        sample: usize,
        block: usize,
        corner: [i32; 2],
    ) -> u16 {
        let plan = &*item.plan;
        // Depth bounds are of what is stored: without a depth test the fragment's own decides nothing.
        let z = if plan.tests.test {
            let [sx, sy] = plan.places[sample];
            // In the order of `fill::Warp::places`, so that early and late tests see the same depth.
            let x = s.fadd(s.fsplat(corner[0] as f32), vector::floats(s, &LANE_X));
            let y = s.fadd(s.fsplat(corner[1] as f32), vector::floats(s, &LANE_Y));
            let x = s.fsub(s.fadd(x, s.fsplat(sx as f32 / 16.0)), s.fsplat(prim.origin()[0]));
            let y = s.fsub(s.fadd(y, s.fsplat(sy as f32 / 16.0)), s.fsplat(prim.origin()[1]));
            let k = &prim.z;
            let slope = s.fadd(s.fmul(s.fsplat(k.dx), x), s.fmul(s.fsplat(k.dy), y));
            plan.tests.value(s, s.fadd(s.fsplat(k.at), slope), item.depth_range(prim))
        } else {
            s.fsplat(0.0)
        };
        let mut no_depth = [0f32; 16];
        let mut no_stencil = [0u8; 16];
        let zs = match self.plane(plan.depth, |t| &t.depth) {
            // SAFETY: the tile has the plane (here and below).
            Some(p) => unsafe { p.sample(self.tile, sample_of(p, sample)).cast::<f32>().add(block * 16) },
            None => no_depth.as_mut_ptr(),
        };
        let st = match self.plane(plan.stencil, |t| &t.stencil) {
            Some(p) if plan.tests.has_stencil() => unsafe {
                p.sample(self.tile, sample_of(p, sample)).add(block * 16)
            },
            _ => no_stencil.as_mut_ptr(),
        };
        let front = if prim.side.front() { 0xFFFF } else { 0 };
        // SAFETY: a block's sixteen values each.
        unsafe { plan.tests.run(s, mask, z, zs, st, front, plan.when == When::Early, None) }
    }

    #[inline(always)]
    pub(in crate::tile) fn plane(
        &self,
        attachment: Option<u32>,
        pick: impl Fn(&'a crate::tile::memory::target::Target) -> &'a Option<Plane>,
    ) -> Option<&'a Plane> {
        pick(self.targets.list.get(attachment? as usize)?).as_ref()
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

#[inline(always)]
fn block_body<S: Simd>(
    s: S,
    task: &mut Task,
    item: &Item,
    prim: &Prim,
    index: u32,
    block: usize,
    covered: &[u16; MAX_SAMPLES],
) -> Result<(), Stop> {
    task.block_body(s, item, prim, index, block, covered)
}
simd::by_level! {
    /// A function of its own: it is large, and what comes to it is seldom much.
    #[inline(never)]
    pub(in crate::tile) fn block = block_body, (
        task: &mut Task, item: &Item, prim: &Prim, index: u32, block: usize, covered: &[u16; MAX_SAMPLES],
    ) -> Result<(), Stop>
}

/// Primitives after which it is asked whether work is to stop.
pub(in crate::tile) const POLL: usize = 64;

/// Primitives between the one that is looked at and the one that is fetched.
pub(in crate::tile) const AHEAD: usize = 16;

/// Quads of a block with a lane in `m`.
#[inline(always)]
pub(in crate::tile) fn quads(m: u16) -> u8 {
    let m = m | m >> 1;
    let m = (m | m >> 2) & 0x1111;
    // Every fourth bit to bits 12 to 15: no two sums meet.
    ((m as u32 * 0x1248) >> 12 & 0xF) as u8
}

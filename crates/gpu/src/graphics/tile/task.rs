//! One tile of one layer: load, all draws of all subpasses, resolve, store.

use super::blend::Row;
use super::counts::{self, TileCounts, any_quads};
use super::cover::{Cover, Covered, MAX_SAMPLES};
use super::fill::{self, Warp};
use super::hiz::Hiz;
use super::item::{Item, When};
use super::late::after;
use super::layout::{BLOCKS, LANE_X, LANE_Y, QUAD_X, QUAD_Y, SIDE, TILE, pixel, sample_locations};
use super::packer::{Packer, Slot};
use super::run;
use super::small;
use super::target::{Plane, Targets};
use crate::graphics::prim::{Prim, Shape};
use counters::Counts;
use std::mem::MaybeUninit;
use wave::graphics::Job;
use wave::{Fault, Host, Level, Simd, Worker};

/// Scalars that a fragment program may write: eight attachments and a second source, depth, stencil and mask.
const OUTPUTS: usize = 48;

/// Quads of a tile.
const QUADS: u64 = 4 * BLOCKS as u64;

/// A set of blocks.
pub type Blocks = [u64; BLOCKS / 64];

/// What a thread works on.
pub struct Task<'a> {
    pub targets: &'a Targets,
    pub worker: &'a mut Worker,
    pub packer: &'a mut Packer,
    pub cover: &'a mut Cover,
    pub covered: &'a mut Covered,
    pub hiz: &'a mut Hiz,
    pub host: &'a dyn Host,
    /// The tile buffer.
    pub tile: *mut u8,
    pub layer: u32,
    /// Pixels.
    pub origin: [i32; 2],
    pub level: Level,
    /// Counted here and added once an item.
    counts: TileCounts,
    /// Pixels that have what they show already, by block ([`Plan::last_first`]).
    done: [u16; BLOCKS],
    /// Covered sixteenths of the block's pixels (smooth lines; else 16).
    coverage: [u8; 16],
}

/// A method `$name` that runs `$body::<S>` as compiled for the task's level; all levels give the same bits.
macro_rules! dispatched {
    ($name:ident, $avx2:ident, $avx512:ident, ($($a:ident: $t:ty),*) -> $r:ty, $body:ident) => {
        #[inline(never)]
        unsafe fn $name(&mut self, $($a: $t),*) -> $r {
            #[cfg(target_arch = "x86_64")]
            match self.level {
                Level::Avx512 => return self.$avx512($($a),*),
                Level::Avx2 => return self.$avx2($($a),*),
                Level::Portable => {}
            }
            self.$body::<wave::simd::Portable>($($a),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
        unsafe fn $avx2(&mut self, $($a: $t),*) -> $r {
            self.$body::<wave::simd::Avx2>($($a),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
        unsafe fn $avx512(&mut self, $($a: $t),*) -> $r {
            self.$body::<wave::simd::Avx512>($($a),*)
        }
    };
}

impl<'a> Task<'a> {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        targets: &'a Targets,
        worker: &'a mut Worker,
        packer: &'a mut Packer,
        cover: &'a mut Cover,
        covered: &'a mut Covered,
        hiz: &'a mut Hiz,
        host: &'a dyn Host,
        tile: *mut u8,
        layer: u32,
        origin: [i32; 2],
        level: Level,
    ) -> Task<'a> {
        Task {
            targets,
            worker,
            packer,
            cover,
            covered,
            hiz,
            host,
            tile,
            layer,
            origin,
            level,
            counts: TileCounts::default(),
            done: [0; BLOCKS],
            coverage: [16; 16],
        }
    }

    /// Draws the primitives `entries` of an item: indices into its batch, with [`crate::graphics::geometry::bin::COVERS`]
    /// where they cover the whole tile. `hidden`: blocks that later draws cover, by entry, or empty.
    ///
    /// # Safety
    /// The tile buffer is laid out by `targets`, and nobody else uses it or this tile's pixels.
    pub unsafe fn draw(
        &mut self,
        item: &Item,
        entries: &[u32],
        hidden: &[Blocks],
        counts: &mut Counts,
    ) -> Result<(), Fault> {
        self.packer.clear();
        let plan = &item.plan;
        if plan.depth.is_some() && self.hiz.of != plan.depth {
            self.hiz.forget(plan.depth);
        }
        if plan.tests.write && (plan.when != When::Early || !plan.hiz) {
            self.hiz.written_late(&plan.tests);
        }
        let r = self.draw_(item, entries, hidden);
        let r = r.and_then(|_| self.shade(item));
        let usage = item.take_usage(self.worker);
        let program = item.pipeline.fragment.as_deref();
        std::mem::take(&mut self.counts).add_to(counts, item, program, &usage);
        r
    }

    dispatched!(draw_, draw_avx2, draw_avx512, (item: &Item, entries: &[u32], hidden: &[Blocks]) -> Result<(), Fault>, draw_body);

    #[inline(always)]
    unsafe fn draw_body<S: Simd>(
        &mut self,
        item: &Item,
        entries: &[u32],
        hidden: &[Blocks],
    ) -> Result<(), Fault> {
        use crate::graphics::geometry::bin::{COVERS, index};
        let plan = &item.plan;
        let single = plan.samples == 1;
        let origin = self.origin;
        // Pixels that are replaced whatever was there: the last primitive comes first, and each pixel is shaded once.
        self.done = [0; BLOCKS];
        for n in 0..entries.len() {
            let (i, ahead) = match plan.last_first {
                true => (entries.len() - 1 - n, (entries.len() - 1 - n).wrapping_sub(AHEAD)),
                false => (n, n + AHEAD),
            };
            self.counts.primitives += 1;
            let e = entries[i];
            let number = index(e);
            let prim = &item.batch.prims[number as usize];
            // A tile's primitives lie anywhere: what coverage wants of them is on its way before they are looked at.
            if let Some(next) = entries.get(ahead) {
                prefetch(item.batch.prims.as_ptr().wrapping_add(index(*next) as usize).cast::<Line>());
            }
            if prim.shape == Shape::Pixels {
                self.pixels::<S>(item, prim, number)?;
                continue;
            }
            if prim.shape == Shape::Smooth {
                self.smooth::<S>(item, prim, number)?;
                continue;
            }
            let b = &prim.bounds.rect();
            if prim.edge_count == 0 && b.x1 - b.x0 == 1 && b.y1 - b.y0 == 1 {
                // One pixel: a point.
                let (x, y) = (b.x0 - origin[0], b.y0 - origin[1]);
                let p = pixel(x as usize % TILE as usize, y as usize % TILE as usize);
                let mut masks = [0; MAX_SAMPLES];
                masks[..plan.samples].fill(1 << (p % 16));
                self.block::<S>(item, prim, number, p / 16, &masks)?;
                continue;
            }
            let hidden = hidden.get(i);
            if e & COVERS != 0 && hidden.is_some_and(|h| h.iter().all(|w| *w == !0)) {
                let c = &mut self.counts;
                (c.quads, c.hidden) = (c.quads + QUADS, c.hidden + QUADS);
                continue;
            }
            if !small::list::<S>(prim, origin, plan.locations, plan.samples, self.covered) {
                if !self.cover.set(prim, origin, e & COVERS != 0, plan.locations, single) {
                    continue;
                }
                if plan.hiz
                    && self.cover.whole()
                    && self.hiz.tile_fails(&plan.tests, item.depths(prim, origin, TILE))
                {
                    let c = &mut self.counts;
                    c.quads += QUADS;
                    c.early_tested += QUADS;
                    c.early_killed += QUADS;
                    continue;
                }
                let untouched = !plan.last_first || self.done == [0; BLOCKS];
                if plan.plain && plan.simple && untouched && self.cover.whole() {
                    self.whole(item, number, hidden)?;
                    if plan.last_first {
                        self.done = [0xFFFF; BLOCKS];
                    }
                    continue;
                }
                self.cover.list::<S>(self.covered);
            }
            for k in 0..self.covered.count {
                let b = self.covered.blocks[k] as usize;
                let masks = self.covered.masks[k];
                if hidden.is_none_or(|h| h[b / 64] >> (b % 64) & 1 == 0) {
                    self.block::<S>(item, prim, number, b, &masks)?;
                } else {
                    self.counts.rasterised(&masks[..plan.samples]);
                    self.counts.hidden += any_quads(&masks[..plan.samples]);
                }
            }
        }
        Ok(())
    }

    /// A primitive that covers the whole tile and is not tested.
    unsafe fn whole(&mut self, item: &Item, index: u32, hidden: Option<&Blocks>) -> Result<(), Fault> {
        self.counts.quads += QUADS;
        if let Some(h) = hidden {
            self.counts.hidden += h.iter().map(|w| 4 * w.count_ones() as u64).sum::<u64>();
            for b in (0..BLOCKS).filter(|b| h[b / 64] >> (b % 64) & 1 == 0) {
                self.full(item, index, b)?;
            }
            return Ok(());
        }
        self.counts.passed += if item.plan.counts_early { 16 * BLOCKS as u64 } else { 0 };
        let mut b = 0;
        while b < BLOCKS {
            let n = self.packer.add_stretch(item.plan.warps, index, b, BLOCKS - b);
            if n == 0 {
                self.shade(item)?;
            }
            b += n;
        }
        Ok(())
    }

    /// A block all of whose pixels are left, of a plain draw: into the wave.
    #[inline(always)]
    unsafe fn full(&mut self, item: &Item, index: u32, block: usize) -> Result<(), Fault> {
        let plan = &item.plan;
        if plan.counts_early {
            self.counts.passed += 16;
        }
        if !self.packer.add_full(plan.warps, index, block) {
            self.shade(item)?;
            self.packer.add_full(plan.warps, index, block);
        }
        Ok(())
    }

    /// A smooth line: pixels of which any of sixteen samples is covered, with their share of them
    /// (§ Smooth Lines leaves the filter open).
    unsafe fn smooth<S: Simd>(&mut self, item: &Item, prim: &Prim, index: u32) -> Result<(), Fault> {
        if !self.cover.set(prim, self.origin, false, sample_locations(16), false) {
            return Ok(());
        }
        self.cover.list::<S>(self.covered);
        for k in 0..self.covered.count {
            let (b, sixteen) = (self.covered.blocks[k] as usize, self.covered.masks[k]);
            let any = sixteen.iter().fold(0, |a, m| a | m);
            let mut masks = [0; MAX_SAMPLES];
            masks[..item.plan.samples].fill(any);
            for l in 0..16 {
                self.coverage[l] = sixteen.iter().filter(|m| **m >> l & 1 != 0).count() as u8;
            }
            self.block::<S>(item, prim, index, b, &masks)?;
        }
        self.coverage = [16; 16];
        Ok(())
    }

    /// A primitive that covers listed pixels.
    unsafe fn pixels<S: Simd>(&mut self, item: &Item, prim: &Prim, index: u32) -> Result<(), Fault> {
        let (first, count) = prim.pixels();
        for &[x, y] in &item.batch.pixels[first as usize..(first + count) as usize] {
            let b = &prim.bounds.rect();
            let (tx, ty) = (x - self.origin[0], y - self.origin[1]);
            let inside = x >= b.x0 && x < b.x1 && y >= b.y0 && y < b.y1;
            if inside && (0..TILE).contains(&tx) && (0..TILE).contains(&ty) {
                let p = pixel(tx as usize, ty as usize);
                let mut masks = [0; MAX_SAMPLES];
                masks[..item.plan.samples].fill(1 << (p % 16));
                self.block::<S>(item, prim, index, p / 16, &masks)?;
            }
        }
        Ok(())
    }

    /// A block of a primitive: early tests, then into the wave.
    #[inline(always)]
    unsafe fn block<S: Simd>(
        &mut self,
        item: &Item,
        prim: &Prim,
        index: u32,
        block: usize,
        covered: &[u16; MAX_SAMPLES],
    ) -> Result<(), Fault> {
        let plan = &item.plan;
        if plan.simple {
            let mask = [covered[0] & !self.done[block]];
            self.counts.rasterised(&covered[..1]);
            if plan.last_first {
                self.done[block] |= mask[0];
                self.counts.hidden += counts::quads(covered[0]) - counts::quads(mask[0]);
            }
            if plan.plain && mask[0] == 0xFFFF {
                return self.full(item, index, block);
            }
            let (quads, mask) = (quads(mask[0]), &mask[..]);
            if quads == 0 {
                return Ok(());
            }
            item.soon(prim);
            if !self.packer.add(plan.warps, index, block, quads, mask, None, None) {
                self.shade(item)?;
                self.packer.add(plan.warps, index, block, quads, mask, None, None);
            }
            return Ok(());
        }
        let mut masks = *covered;
        let mut any = 0;
        for (s, m) in masks[..plan.samples].iter_mut().enumerate() {
            if plan.sample_mask >> s & 1 == 0 {
                *m = 0;
            }
            any |= *m;
        }
        self.counts.rasterised(&masks[..plan.samples]);
        if matches!(plan.when, When::Early | When::Both) && any != 0 {
            let tested = counts::quads(any);
            self.counts.early_tested += tested;
            let corner =
                [self.origin[0] + (block % SIDE) as i32 * 4, self.origin[1] + (block / SIDE) as i32 * 4];
            let range = if plan.hiz { item.depths(prim, corner, 4) } else { [0.0; 2] };
            if plan.hiz && self.hiz.block_fails(&plan.tests, block, range) {
                self.counts.early_killed += tested;
                return Ok(());
            }
            any = 0;
            let mut every = 0xFFFF;
            for s in 0..plan.samples {
                if masks[s] != 0 {
                    masks[s] = self.early::<S>(item, prim, masks[s], s, block, corner);
                    any |= masks[s];
                }
                every &= masks[s];
            }
            let left = counts::quads(any);
            self.counts.early_killed += tested - left;
            self.counts.early_updated += if plan.when == When::Early && plan.tests.write { left } else { 0 };
            if plan.hiz && plan.when == When::Early && plan.tests.write && any != 0 {
                self.hiz.wrote(block, range, every == 0xFFFF);
            }
        }
        if any == 0 {
            return Ok(());
        }
        if any == 0xFFFF && plan.plain && plan.shades {
            return self.full(item, index, block);
        }
        if !plan.shades || plan.counts_early {
            masks[..plan.samples].iter().for_each(|m| self.counts.passed += m.count_ones() as u64);
        }
        if !plan.shades {
            return Ok(());
        }
        item.soon(prim);
        let smooth = item.smooth().then_some(self.coverage);
        if plan.reads_tile && self.packer.overlaps(block, quads(any)) {
            self.shade(item)?;
        }
        if !plan.per_sample {
            let masks = &masks[..plan.samples];
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
            let mut one = [0; MAX_SAMPLES];
            one[s] = masks[s];
            let one = &one[..plan.samples];
            let (q, sample) = (quads(masks[s]), Some(s as u8));
            if !self.packer.add(plan.warps, index, block, q, one, sample, smooth.as_ref()) {
                self.shade(item)?;
                self.packer.add(plan.warps, index, block, q, one, sample, smooth.as_ref());
            }
        }
        Ok(())
    }

    /// Tests one sample of a whole block in place; the lanes that pass.
    #[inline(always)]
    unsafe fn early<S: Simd>(
        &self,
        item: &Item,
        prim: &Prim,
        mask: u16,
        s: usize,
        block: usize,
        corner: [i32; 2],
    ) -> u16 {
        let plan = &item.plan;
        let [sx, sy] = plan.locations[s];
        // In the order of `fill::Warp::places`, so that early and late tests see the same depth.
        let x = S::fadd(S::fsplat(corner[0] as f32), S::from_bits(S::iloadu(LANE_X.as_ptr().cast())));
        let y = S::fadd(S::fsplat(corner[1] as f32), S::from_bits(S::iloadu(LANE_Y.as_ptr().cast())));
        let x = S::fsub(S::fadd(x, S::fsplat(sx as f32 / 16.0)), S::fsplat(prim.origin[0]));
        let y = S::fsub(S::fadd(y, S::fsplat(sy as f32 / 16.0)), S::fsplat(prim.origin[1]));
        let k = &prim.z;
        let slope = S::fadd(S::fmul(S::fsplat(k.dx), x), S::fmul(S::fsplat(k.dy), y));
        let z = plan.tests.value::<S>(S::fadd(S::fsplat(k.at), slope), item.depth_range(prim));
        let mut no_depth = [0f32; 16];
        let mut no_stencil = [0u8; 16];
        let zs = match self.plane(plan.depth, |t| &t.depth) {
            Some(p) => p.sample(self.tile, sample_of(p, s)).cast::<f32>().add(block * 16),
            None => no_depth.as_mut_ptr(),
        };
        let st = match self.plane(plan.stencil, |t| &t.stencil) {
            Some(p) if plan.tests.has_stencil() => p.sample(self.tile, sample_of(p, s)).add(block * 16),
            _ => no_stencil.as_mut_ptr(),
        };
        let front = if prim.front { 0xFFFF } else { 0 };
        plan.tests.run::<S>(mask, z, zs, st, front, plan.when == When::Early, None)
    }

    #[inline(always)]
    fn plane(
        &self,
        attachment: Option<u32>,
        pick: impl Fn(&'a super::target::Target) -> &'a Option<Plane>,
    ) -> Option<&'a Plane> {
        pick(self.targets.list.get(attachment? as usize)?).as_ref()
    }

    dispatched!(shade, shade_avx2, shade_avx512, (item: &Item) -> Result<(), Fault>, shade_body);

    /// Shades what is packed, and writes it.
    #[inline(always)]
    unsafe fn shade_body<S: Simd>(&mut self, item: &Item) -> Result<(), Fault> {
        let count = self.packer.count;
        let Some(program) = item.pipeline.fragment.as_deref().filter(|_| count > 0) else { return Ok(()) };
        let plan = &item.plan;
        let job = Job {
            serial: item.serial,
            program,
            tables: &item.tables,
            push: &item.bindings.push,
            host: self.host,
            arena: crate::memory::arena(),
        };
        self.counts.warps += count as u64;
        let mut lanes = self.worker.open(&job)?;
        let mut covered = [0u16; 16];
        let mut exec = [0u16; 16];
        let full = self.packer.full;
        run::fill::<S>(item, self.packer, self.origin, &mut lanes);
        if full != 0 {
            for w in 0..count {
                covered[w] = (full >> w & 1).wrapping_neg();
                exec[w] = covered[w];
            }
            let n = full.count_ones() as u64;
            let c = &mut self.counts;
            c.invocations += 16 * n;
            c.full_warps += n;
            c.shaded += 4 * n;
        }
        let mut others = ((1u32 << count) - 1) & !(full as u32);
        while others != 0 {
            let w = others.trailing_zeros() as usize;
            others &= others - 1;
            let slot = &self.packer.warps[w];
            let warp = warp::<S>(item, slot, self.origin);
            covered[w] = warp.covered;
            exec[w] = warp.covered;
            if plan.needs_quads {
                exec[w] = 0;
                for q in 0..4 {
                    exec[w] |= if slot.quads >> q & 1 != 0 { 0xF << (q * 4) } else { 0 };
                }
            }
            let c = &mut self.counts;
            c.invocations += warp.covered.count_ones() as u64;
            c.shaded += slot.quads.count_ones() as u64;
            c.full_warps += (slot.quads == 0xF) as u64;
            let mut shared = fill::Shared::default();
            for (i, f) in plan.fills.iter().enumerate() {
                if let Some(m) = fill::mask(*f, &warp) {
                    lanes.input_mask(i)[w] = m;
                    continue;
                }
                if let Some(row) = lanes.input(i).get_mut(w) {
                    S::istoreu(row.as_mut_ptr().cast(), fill::value(*f, &warp, &mut shared));
                }
            }
        }
        lanes.exec()[..16].copy_from_slice(&exec);
        lanes.alive()[..16].copy_from_slice(&covered);
        lanes.run()?;
        let mut alive = [0u16; 16];
        alive.copy_from_slice(&lanes.alive()[..16]);
        let mut room = [const { MaybeUninit::<Row>::uninit() }; OUTPUTS];
        let outputs = program.outputs.len().min(OUTPUTS);
        for (i, r) in room[..outputs].iter_mut().enumerate() {
            r.write(Row::new(lanes.output(i)));
        }
        // SAFETY: as many were written.
        let rows = std::slice::from_raw_parts(room.as_ptr().cast::<Row>(), outputs);
        let channels = |o: &[Option<usize>; 4]| -> [Row; 4] {
            let row = |k: usize| o[k].map_or(Row::zero(), |o| rows[o]);
            [row(0), row(1), row(2), row(3)]
        };
        let mut w = 0;
        while w < count {
            if full >> w & 1 != 0 {
                let end = w + (!(full >> w)).trailing_zeros() as usize;
                if !plan.counts_early {
                    alive[w..end].iter().for_each(|m| self.counts.passed += m.count_ones() as u64);
                }
                for c in &plan.colors {
                    let Some(p) = self.targets.list[c.attachment as usize].color.as_ref() else { continue };
                    self.counts.blended += alive[w..end].iter().map(|m| counts::quads(*m)).sum::<u64>();
                    let (base, blocks) = (p.sample(self.tile, 0), &self.packer.blocks[w..end]);
                    let second = c.second.as_ref().map(channels);
                    let first = channels(&c.outputs);
                    c.writer.write_blocks::<S>(base, blocks, w, &first, second.as_ref(), &alive[w..end]);
                }
                w = end;
                continue;
            }
            self.write_quads::<S>(item, w, alive[w], rows);
            w += 1;
        }
        self.packer.clear();
        Ok(())
    }

    /// Writes a warp of the packer's that is not full, after what tests are left.
    #[inline(always)]
    unsafe fn write_quads<S: Simd>(&mut self, item: &Item, w: usize, alive: u16, rows: &[Row]) {
        let plan = &item.plan;
        let slot = &mut self.packer.warps[w];
        let masks = &mut slot.masks;
        let mut any = 0;
        for m in &mut masks[..plan.samples] {
            *m &= alive;
            any |= *m;
        }
        if any == 0 {
            return;
        }
        if plan.late {
            let (targets, tile, origin) = (self.targets, self.tile, self.origin);
            let slot = &mut self.packer.warps[w];
            let tested = if plan.tests.idle() { 0 } else { any_quads(&slot.masks[..plan.samples]) };
            self.counts.late_tested += tested;
            let (left, passed) = after(targets, tile, origin, item, slot, &|i| rows[i].array(w));
            any = left;
            self.counts.passed += passed;
            self.counts.late_killed += tested.saturating_sub(any_quads(&slot.masks[..plan.samples]));
            if any == 0 {
                return;
            }
        } else if !plan.counts_early {
            masks[..plan.samples].iter().for_each(|m| self.counts.passed += m.count_ones() as u64);
        }
        let slot = &self.packer.warps[w];
        for c in &plan.colors {
            let Some(p) = self.targets.list[c.attachment as usize].color.as_ref() else { continue };
            let mut src = [S::isplat(0); 4];
            for k in 0..4 {
                if let Some(o) = c.outputs[k] {
                    src[k] = rows[o].words::<S>(w);
                }
            }
            let mut second = None;
            if let Some(outputs) = &c.second {
                let mut s1 = [S::isplat(0); 4];
                for k in 0..4 {
                    if let Some(o) = outputs[k] {
                        s1[k] = rows[o].words::<S>(w);
                    }
                }
                second = Some(s1);
            }
            if plan.alters_alpha {
                if item.smooth() {
                    let mut k = [0f32; 16];
                    for l in 0..16 {
                        k[l] = slot.coverage[l] as f32 / 16.0;
                    }
                    src[3] = S::bits(S::fmul(S::from_bits(src[3]), wave::simd::ops::f_from::<S>(k)));
                }
                if item.state.samples.alpha_to_one {
                    src[3] = S::bits(S::fsplat(1.0));
                    second.iter_mut().for_each(|s1| s1[3] = src[3]);
                }
            }
            for s in 0..plan.samples {
                let mask = slot.masks[s];
                if mask == 0 || (s > 0 && p.samples as usize <= s) {
                    continue;
                }
                self.counts.blended += counts::quads(mask);
                let base = p.sample(self.tile, sample_of(p, s));
                let bytes = c.writer.bytes();
                if slot.dense {
                    let px = base.add(slot.pixels[0] as usize * bytes);
                    c.writer.write::<S>(px, &src, second.as_ref(), mask);
                    continue;
                }
                let mut px = [0u8; 256];
                for q in 0..4 {
                    let at = base.add(slot.pixels[q] as usize * bytes);
                    copy_quad(at, px.as_mut_ptr().add(q * 4 * bytes), bytes);
                }
                c.writer.write::<S>(px.as_mut_ptr(), &src, second.as_ref(), mask);
                for q in 0..4 {
                    if mask >> (q * 4) & 0xF != 0 {
                        let at = base.add(slot.pixels[q] as usize * bytes);
                        copy_quad(px.as_ptr().add(q * 4 * bytes), at, bytes);
                    }
                }
            }
        }
    }
}

/// Primitives between the one that is looked at and the one that is fetched.
const AHEAD: usize = 16;

/// A line of cache.
type Line = [u8; 64];

/// Asks for a line from memory.
#[inline(always)]
fn prefetch(p: *const Line) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; any address will do.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(p.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

/// Quads of a block with a lane in `m`.
#[inline(always)]
fn quads(m: u16) -> u8 {
    let m = (m | m >> 1 | m >> 2 | m >> 3) & 0x1111;
    ((m | m >> 3 | m >> 6 | m >> 9) & 0xF) as u8
}

/// Copies a quad's four pixels.
#[inline(always)]
unsafe fn copy_quad(from: *const u8, to: *mut u8, bytes: usize) {
    match bytes {
        4 => to.copy_from_nonoverlapping(from, 16),
        8 => to.copy_from_nonoverlapping(from, 32),
        _ => to.copy_from_nonoverlapping(from, 4 * bytes),
    }
}

/// The sample of a plane that holds sample `s` (attachments with one sample hold all).
#[inline(always)]
pub fn sample_of(p: &Plane, s: usize) -> u32 {
    (s as u32).min(p.samples - 1)
}

/// The warp a slot describes.
#[inline(always)]
pub unsafe fn warp<'a, S: Simd>(item: &'a Item, slot: &'a Slot, origin: [i32; 2]) -> Warp<'a, S> {
    let prim = |q: usize| &item.batch.prims[slot.prims[q] as usize];
    let prims = [prim(0), prim(1), prim(2), prim(3)];
    let (x, y);
    if slot.dense {
        let block = slot.pixels[0] as usize / 16;
        let left = S::fsplat((origin[0] + (block % SIDE) as i32 * 4) as f32);
        let top = S::fsplat((origin[1] + (block / SIDE) as i32 * 4) as f32);
        x = S::fadd(left, S::from_bits(S::iloadu(LANE_X.as_ptr().cast())));
        y = S::fadd(top, S::from_bits(S::iloadu(LANE_Y.as_ptr().cast())));
    } else {
        let mut corner = [[0f32; 4]; 2];
        for q in 0..4 {
            let quad = slot.pixels[q] as usize / 4;
            let (block, quad) = (quad / 4, quad % 4);
            corner[0][q] = (origin[0] + (block % SIDE * 4 + (quad & 1) * 2) as i32) as f32;
            corner[1][q] = (origin[1] + (block / SIDE * 4 + (quad >> 1) * 2) as i32) as f32;
        }
        x = S::fadd(S::fquads(corner[0]), S::from_bits(S::iloadu(QUAD_X.as_ptr().cast())));
        y = S::fadd(S::fquads(corner[1]), S::from_bits(S::iloadu(QUAD_Y.as_ptr().cast())));
    }
    let mut covered = 0;
    for m in &slot.masks[..item.plan.samples] {
        covered |= m;
    }
    let [a, b, c, d] = slot.prims;
    Warp {
        prims,
        same: a == b && a == c && a == d,
        x,
        y,
        masks: &slot.masks,
        covered,
        samples: item.plan.samples,
        locations: item.plan.locations,
        sample: slot.sample,
        planes: &item.batch.planes,
        view: item.view,
    }
}

impl Item {
    /// Asks for what shading will want of a primitive.
    #[inline(always)]
    fn soon(&self, p: &Prim) {
        prefetch(std::ptr::from_ref(p).cast::<Line>().wrapping_add(1));
        let planes = self.batch.planes.as_ptr().wrapping_add(p.planes as usize);
        prefetch(planes.cast());
        prefetch(planes.wrapping_add(self.plan.varyings.saturating_sub(1)).cast());
    }
    /// Bounds of a primitive's depth over a square of `side` pixels, as the tile holds it.
    #[inline(always)]
    fn depths(&self, p: &Prim, corner: [i32; 2], side: i32) -> [f32; 2] {
        // Each step rounds monotonically, so the corners' values bound all others. One sample a pixel is at the centre.
        let inset = if self.plan.samples == 1 { 0.5 } else { 0.0 };
        let k = &p.z;
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        let x = [corner[0] as f32 + inset - p.origin[0], (corner[0] + side) as f32 - inset - p.origin[0]];
        let y = [corner[1] as f32 + inset - p.origin[1], (corner[1] + side) as f32 - inset - p.origin[1]];
        for x in x {
            for y in y {
                let z = k.at + (k.dx * x + k.dy * y);
                (low, high) = (low.min(z), high.max(z));
            }
        }
        let range = self.depth_range(p);
        [self.plan.tests.bound(low, range), self.plan.tests.bound(high, range)]
    }
    /// Depth range of the viewport a primitive went through.
    pub fn depth_range(&self, p: &Prim) -> [f32; 2] {
        self.state.viewports.get(p.viewport as usize).map_or([0.0, 1.0], |v| [v.min_depth, v.max_depth])
    }
    /// May hold smooth lines.
    fn smooth(&self) -> bool {
        self.state.raster.line_mode == ash::vk::LineRasterizationModeEXT::RECTANGULAR_SMOOTH
    }
}

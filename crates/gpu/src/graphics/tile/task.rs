//! One tile of one layer: load, all draws of all subpasses, resolve, store.

use super::cover::{Cover, MAX_SAMPLES};
use super::depth::Tests;
use super::fill::{self, Warp};
use super::item::{Item, When};
use super::layout::{BLOCKS, LANE_X, LANE_Y, SIDE, TILE, sample_locations};
use super::packer::{Packer, Slot};
use super::target::{Plane, Targets};
use crate::graphics::prim::{Prim, Shape};
use shader::bytecode::Program;
use std::sync::atomic::Ordering::Relaxed;
use wave::graphics::Job;
use wave::{Fault, Host, Worker};

/// A set of blocks.
pub type Blocks = [u64; BLOCKS / 64];

/// What a thread works on.
pub struct Task<'a> {
    pub targets: &'a Targets,
    pub worker: &'a mut Worker,
    pub packer: &'a mut Packer,
    pub host: &'a dyn Host,
    /// The tile buffer.
    pub tile: *mut u8,
    pub layer: u32,
    /// Pixels.
    pub origin: [i32; 2],
    pub avx2: bool,
    /// Counted here and added once an item.
    passed: u64,
    invocations: u64,
    /// Covered sixteenths of the block's pixels (smooth lines; else 16).
    coverage: [u8; 16],
}

/// Compiles a body for AVX2 too; both give the same bits.
macro_rules! dispatched {
    ($name:ident, $avx2:ident, ($($a:ident: $t:ty),*) -> $r:ty, $body:ident) => {
        #[inline(never)]
        unsafe fn $name(&mut self, $($a: $t),*) -> $r {
            #[cfg(target_arch = "x86_64")]
            if self.avx2 {
                return self.$avx2($($a),*);
            }
            self.$body($($a),*)
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        unsafe fn $avx2(&mut self, $($a: $t),*) -> $r {
            self.$body($($a),*)
        }
    };
}

impl<'a> Task<'a> {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        targets: &'a Targets,
        worker: &'a mut Worker,
        packer: &'a mut Packer,
        host: &'a dyn Host,
        tile: *mut u8,
        layer: u32,
        origin: [i32; 2],
        avx2: bool,
    ) -> Task<'a> {
        Task {
            targets,
            worker,
            packer,
            host,
            tile,
            layer,
            origin,
            avx2,
            passed: 0,
            invocations: 0,
            coverage: [16; 16],
        }
    }

    /// Draws the primitives `entries` of an item: indices into its batch, with [`crate::graphics::geometry::bin::COVERS`]
    /// where they cover the whole tile. `hidden`: blocks that later draws cover, by entry, or empty.
    ///
    /// # Safety
    /// The tile buffer is laid out by `targets`, and nobody else uses it or this tile's pixels.
    pub unsafe fn draw(&mut self, item: &Item, entries: &[u32], hidden: &[Blocks]) -> Result<(), Fault> {
        self.packer.clear();
        let r = self.draw_(item, entries, hidden);
        let r = r.and_then(|_| self.shade(item));
        item.passed.fetch_add(std::mem::take(&mut self.passed), Relaxed);
        item.invocations.fetch_add(std::mem::take(&mut self.invocations), Relaxed);
        r
    }

    dispatched!(draw_, draw_avx2, (item: &Item, entries: &[u32], hidden: &[Blocks]) -> Result<(), Fault>, draw_body);

    #[inline(always)]
    unsafe fn draw_body(&mut self, item: &Item, entries: &[u32], hidden: &[Blocks]) -> Result<(), Fault> {
        use crate::graphics::geometry::bin::COVERS;
        let plan = &item.plan;
        let single = plan.samples == 1;
        let origin = self.origin;
        for (i, &e) in entries.iter().enumerate() {
            let index = e & !COVERS;
            let prim = &item.batch.prims[index as usize];
            let mut fault = None;
            let hidden = hidden.get(i);
            let mut block = |b: usize, masks: &[u16; MAX_SAMPLES]| {
                if fault.is_none() && hidden.is_none_or(|h| h[b / 64] >> (b % 64) & 1 == 0) {
                    fault = self.block(item, prim, index, b, masks).err();
                }
            };
            if prim.shape == Shape::Pixels {
                pixels(item, prim, origin, &mut block);
            } else if prim.shape == Shape::Smooth {
                fault = self.smooth(item, prim, index).err();
            } else if let Some(c) = Cover::new(prim, origin, e & COVERS != 0, plan.locations, single) {
                c.blocks(block);
            }
            if let Some(f) = fault {
                return Err(f);
            }
        }
        Ok(())
    }

    /// A smooth line: pixels of which any of sixteen samples is covered, with their share of them
    /// (§ Smooth Lines leaves the filter open).
    unsafe fn smooth(&mut self, item: &Item, prim: &Prim, index: u32) -> Result<(), Fault> {
        let Some(c) = Cover::new(prim, self.origin, false, sample_locations(16), false) else {
            return Ok(());
        };
        let mut result = Ok(());
        c.blocks(|b, sixteen| {
            if result.is_err() {
                return;
            }
            let any = sixteen.iter().fold(0, |a, m| a | m);
            let mut masks = [0; MAX_SAMPLES];
            masks[..item.plan.samples].fill(any);
            self.coverage =
                std::array::from_fn(|l| sixteen.iter().filter(|m| **m >> l & 1 != 0).count() as u8);
            result = self.block(item, prim, index, b, &masks);
        });
        self.coverage = [16; 16];
        result
    }

    /// A block of a primitive: early tests, then into the wave.
    #[inline(always)]
    unsafe fn block(
        &mut self,
        item: &Item,
        prim: &Prim,
        index: u32,
        block: usize,
        covered: &[u16; MAX_SAMPLES],
    ) -> Result<(), Fault> {
        let plan = &item.plan;
        let mut masks = *covered;
        let mut any = 0;
        for (s, m) in masks[..plan.samples].iter_mut().enumerate() {
            if plan.sample_mask >> s & 1 == 0 {
                *m = 0;
            }
            any |= *m;
        }
        if matches!(plan.when, When::Early | When::Both) && any != 0 {
            any = 0;
            let front = if prim.front { 0xFFFF } else { 0 };
            let range = item.depth_range(prim);
            let write = plan.when == When::Early;
            for (s, m) in masks[..plan.samples].iter_mut().enumerate() {
                if *m == 0 {
                    continue;
                }
                let [sx, sy] = plan.locations[s].map(|v| v as f32 / 16.0);
                let x0 = (self.origin[0] + (block % SIDE) as i32 * 4) as f32 + sx - prim.origin[0];
                let y0 = (self.origin[1] + (block / SIDE) as i32 * 4) as f32 + sy - prim.origin[1];
                let k = &prim.z;
                let z = std::array::from_fn(|l| k.at + (k.dx * (LANE_X[l] + x0) + k.dy * (LANE_Y[l] + y0)));
                let z = plan.tests.value(&z, range);
                *m = self.test_block(item, &plan.tests, *m, &z, s, block, front, write);
                any |= *m;
            }
        }
        if any == 0 {
            return Ok(());
        }
        if !plan.shades || plan.counts_early {
            masks[..plan.samples].iter().for_each(|m| self.passed += m.count_ones() as u64);
        }
        if !plan.shades {
            return Ok(());
        }
        let quads = |m: u16| (0..4).fold(0u8, |q, i| q | ((m >> (i * 4) & 0xF != 0) as u8) << i);
        let capacity = item.warps();
        if plan.reads_tile && self.packer.overlaps(block, quads(any)) {
            self.shade(item)?;
        }
        if !plan.per_sample {
            if !self.packer.add(capacity, index, block, quads(any), &masks, None, &self.coverage) {
                self.shade(item)?;
                self.packer.add(capacity, index, block, quads(any), &masks, None, &self.coverage);
            }
            return Ok(());
        }
        for s in 0..plan.samples {
            if masks[s] == 0 {
                continue;
            }
            let mut one = [0; MAX_SAMPLES];
            one[s] = masks[s];
            if !self.packer.add(capacity, index, block, quads(masks[s]), &one, Some(s as u8), &self.coverage)
            {
                self.shade(item)?;
                self.packer.add(capacity, index, block, quads(masks[s]), &one, Some(s as u8), &self.coverage);
            }
        }
        Ok(())
    }

    /// Tests one sample of a whole block in place.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    unsafe fn test_block(
        &self,
        item: &Item,
        tests: &Tests,
        mask: u16,
        z: &[f32; 16],
        s: usize,
        block: usize,
        front: u16,
        write: bool,
    ) -> u16 {
        let mut no_depth = [0.0; 16];
        let mut no_stencil = [0; 16];
        let zs = match self.plane(item.plan.depth, |t| &t.depth) {
            Some(p) => &mut *p.sample(self.tile, sample_of(p, s)).cast::<[f32; 16]>().add(block),
            None => &mut no_depth,
        };
        let st = match self.plane(item.plan.stencil, |t| &t.stencil) {
            Some(p) if tests.has_stencil() => {
                &mut *p.sample(self.tile, sample_of(p, s)).cast::<[u8; 16]>().add(block)
            }
            _ => &mut no_stencil,
        };
        tests.run(mask, z, zs, st, front, write, None)
    }

    #[inline(always)]
    fn plane(
        &self,
        attachment: Option<u32>,
        pick: impl Fn(&'a super::target::Target) -> &'a Option<Plane>,
    ) -> Option<&'a Plane> {
        pick(self.targets.list.get(attachment? as usize)?).as_ref()
    }

    dispatched!(shade, shade_avx2, (item: &Item) -> Result<(), Fault>, shade_body);

    /// Shades what is packed, and writes it.
    #[inline(always)]
    unsafe fn shade_body(&mut self, item: &Item) -> Result<(), Fault> {
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
        let mut lanes = self.worker.open(&job)?;
        let mut covered = [0u16; 16];
        for w in 0..count {
            let slot = &self.packer.warps[w];
            let warp = warp(item, slot, self.origin);
            covered[w] = warp.covered;
            let mut shared = fill::Shared::default();
            for (i, f) in plan.fills.iter().enumerate() {
                let v = fill::value(*f, &warp, &mut shared);
                if matches!(f, fill::Fill::FrontFacing | fill::Fill::Helper) {
                    lanes.input_mask(i)[w] = v[0] as u16;
                } else if let Some(row) = lanes.input(i).get_mut(w) {
                    *row = v;
                }
            }
            self.invocations += warp.covered.count_ones() as u64;
        }
        {
            let exec = lanes.exec();
            exec.fill(0);
            for w in 0..count {
                let quads = self.packer.warps[w].quads;
                exec[w] = if plan.needs_quads {
                    (0..4).fold(0, |m, q| m | if quads >> q & 1 != 0 { 0xF << (q * 4) } else { 0 })
                } else {
                    covered[w]
                };
            }
        }
        {
            let alive = lanes.alive();
            alive.fill(0);
            alive[..count].copy_from_slice(&covered[..count]);
        }
        lanes.run()?;
        let mut alive = [0u16; 16];
        alive[..count].copy_from_slice(&lanes.alive()[..count]);
        let row = |i: usize, w: usize| -> [u32; 16] {
            let rows = lanes.output(i);
            rows[if rows.len() == 1 { 0 } else { w }]
        };
        for w in 0..count {
            let slot = &self.packer.warps[w];
            let mut masks = slot.masks;
            masks[..plan.samples].iter_mut().for_each(|m| *m &= alive[w]);
            if let Some(i) = plan.mask_out {
                let m = row(i, w);
                for (s, mask) in masks[..plan.samples].iter_mut().enumerate() {
                    (0..16).for_each(|l| *mask &= !(((m[l] >> s & 1 == 0) as u16) << l));
                }
            }
            if let Some(i) = plan.coverage_alpha {
                let a = row(i, w);
                for l in 0..16 {
                    let n = (f32::from_bits(a[l]).clamp(0.0, 1.0) * plan.samples as f32 + 0.5) as usize;
                    (n..plan.samples).for_each(|s| masks[s] &= !(1 << l));
                }
            }
            if matches!(plan.when, When::Both | When::Late) {
                let warp = warp(item, slot, self.origin);
                let z = plan.frag_depth.map(|i| row(i, w).map(f32::from_bits));
                let reference = plan.stencil_ref.map(|i| row(i, w));
                Self::late(self.targets, self.tile, item, slot, &warp, &mut masks, z, reference);
            }
            let mut any = 0;
            for m in &masks[..plan.samples] {
                self.passed += if plan.counts_early { 0 } else { m.count_ones() as u64 };
                any |= m;
            }
            if any == 0 {
                continue;
            }
            for c in &plan.colors {
                let Some(p) = self.targets.list[c.attachment as usize].color.as_ref() else { continue };
                let mut src = [[0u32; 16]; 4];
                for (k, o) in c.outputs.iter().enumerate() {
                    if let Some(o) = o {
                        src[k] = row(*o, w);
                    }
                }
                let mut src1 = [[0u32; 16]; 4];
                if let Some(second) = &c.second {
                    for (k, o) in second.iter().enumerate() {
                        if let Some(o) = o {
                            src1[k] = row(*o, w);
                        }
                    }
                }
                if item.smooth() {
                    for l in 0..16 {
                        let k = slot.coverage[l] as f32 / 16.0;
                        src[3][l] = (f32::from_bits(src[3][l]) * k).to_bits();
                    }
                }
                if item.state.samples.alpha_to_one {
                    src[3] = [1f32.to_bits(); 16];
                    src1[3] = src[3];
                }
                for (s, &mask) in masks[..plan.samples].iter().enumerate() {
                    if mask == 0 || (s > 0 && p.samples as usize <= s) {
                        continue;
                    }
                    let base = p.sample(self.tile, sample_of(p, s));
                    let bytes = c.writer.bytes();
                    if slot.dense {
                        c.writer.write(base.add(slot.pixels[0] as usize * bytes), &src, &src1, mask);
                        continue;
                    }
                    let mut px = [0u8; 256];
                    for q in 0..4 {
                        let at = base.add(slot.pixels[q] as usize * bytes);
                        px.as_mut_ptr().add(q * 4 * bytes).copy_from_nonoverlapping(at, 4 * bytes);
                    }
                    c.writer.write(px.as_mut_ptr(), &src, &src1, mask);
                    for q in (0..4).filter(|q| mask >> (q * 4) & 0xF != 0) {
                        let at = base.add(slot.pixels[q] as usize * bytes);
                        at.copy_from_nonoverlapping(px.as_ptr().add(q * 4 * bytes), 4 * bytes);
                    }
                }
            }
        }
        self.packer.clear();
        Ok(())
    }

    /// Depth and stencil tests after shading.
    #[allow(clippy::too_many_arguments)]
    unsafe fn late(
        targets: &Targets,
        tile: *mut u8,
        item: &Item,
        slot: &Slot,
        warp: &Warp,
        masks: &mut [u16; MAX_SAMPLES],
        written: Option<[f32; 16]>,
        reference: Option<[u32; 16]>,
    ) {
        let plan = &item.plan;
        let front = (0..4).fold(0, |m, q| m | if warp.prims[q].front { 0xF << (q * 4) } else { 0 });
        let target = |a: Option<u32>| a.and_then(|a| targets.list.get(a as usize));
        let depth = target(plan.depth).and_then(|t| t.depth.as_ref());
        let stencil = target(plan.stencil).and_then(|t| t.stencil.as_ref());
        for (s, m) in masks[..plan.samples].iter_mut().enumerate() {
            if *m == 0 {
                continue;
            }
            let z = written.unwrap_or_else(|| {
                let places = warp.places(plan.locations[s].map(|v| v as f32 / 16.0));
                warp.eval(&places, |p| p.z)
            });
            let mut value = [0.0; 16];
            for q in 0..4 {
                let v = plan.tests.value(&z, item.depth_range(warp.prims[q]));
                value[q * 4..q * 4 + 4].copy_from_slice(&v[q * 4..q * 4 + 4]);
            }
            let mut zs = [0.0; 16];
            let mut st = [0u8; 16];
            let zp = depth.map(|p| p.sample(tile, sample_of(p, s)).cast::<f32>());
            let sp = stencil.map(|p| p.sample(tile, sample_of(p, s)));
            for q in 0..4 {
                let at = slot.pixels[q] as usize;
                if let Some(p) = zp {
                    zs.as_mut_ptr().add(q * 4).copy_from_nonoverlapping(p.add(at), 4);
                }
                if let Some(p) = sp {
                    st.as_mut_ptr().add(q * 4).copy_from_nonoverlapping(p.add(at), 4);
                }
            }
            let tested = *m;
            *m = plan.tests.run(tested, &value, &mut zs, &mut st, front, true, reference.as_ref());
            for q in (0..4).filter(|q| tested >> (q * 4) & 0xF != 0) {
                let at = slot.pixels[q] as usize;
                if let Some(p) = zp {
                    p.add(at).copy_from_nonoverlapping(zs.as_ptr().add(q * 4), 4);
                }
                if let Some(p) = sp {
                    p.add(at).copy_from_nonoverlapping(st.as_ptr().add(q * 4), 4);
                }
            }
        }
    }
}

/// The sample of a plane that holds sample `s` (attachments with one sample hold all).
#[inline(always)]
fn sample_of(p: &Plane, s: usize) -> u32 {
    (s as u32).min(p.samples - 1)
}

/// The warp a slot describes.
#[inline(always)]
fn warp<'a>(item: &'a Item, slot: &Slot, origin: [i32; 2]) -> Warp<'a> {
    let prims = slot.prims.map(|p| &item.batch.prims[p as usize]);
    let mut corner = [[0.0f32; 4]; 2];
    for q in 0..4 {
        let at = slot.pixels[q] as usize;
        let (block, quad) = (at / 16, at / 4 % 4);
        corner[0][q] = (origin[0] + (block % SIDE * 4 + (quad & 1) * 2) as i32) as f32;
        corner[1][q] = (origin[1] + (block / SIDE * 4 + (quad >> 1) * 2) as i32) as f32;
    }
    let covered = slot.masks[..item.plan.samples].iter().fold(0, |a, b| a | b);
    Warp {
        prims,
        same: slot.prims[1..].iter().all(|p| *p == slot.prims[0]),
        x: std::array::from_fn(|l| corner[0][l / 4] + (l & 1) as f32),
        y: std::array::from_fn(|l| corner[1][l / 4] + (l >> 1 & 1) as f32),
        masks: slot.masks,
        covered,
        samples: item.plan.samples,
        locations: item.plan.locations,
        sample: slot.sample,
        planes: &item.batch.planes,
        view: item.view,
    }
}

/// Blocks of a primitive that covers listed pixels.
fn pixels(item: &Item, prim: &Prim, origin: [i32; 2], block: &mut impl FnMut(usize, &[u16; MAX_SAMPLES])) {
    let (first, count) = (prim.pixels.0 as usize, prim.pixels.1 as usize);
    let list = &item.batch.pixels[first..first + count];
    for &[x, y] in list {
        let b = &prim.bounds;
        let (tx, ty) = (x - origin[0], y - origin[1]);
        let inside = x >= b.x0 && x < b.x1 && y >= b.y0 && y < b.y1;
        if inside && (0..TILE).contains(&tx) && (0..TILE).contains(&ty) {
            let p = super::layout::pixel(tx as usize, ty as usize);
            let mut masks = [0; MAX_SAMPLES];
            masks[..item.plan.samples].fill(1 << (p % 16));
            block(p / 16, &masks);
        }
    }
}

impl Item {
    /// Depth range of the viewport a primitive went through.
    fn depth_range(&self, p: &Prim) -> [f32; 2] {
        self.state.viewports.get(p.viewport as usize).map_or([0.0, 1.0], |v| [v.min_depth, v.max_depth])
    }
    /// May hold smooth lines.
    fn smooth(&self) -> bool {
        self.state.raster.line_mode == ash::vk::LineRasterizationModeEXT::RECTANGULAR_SMOOTH
    }
    /// Warps of a fragment wave.
    fn warps(&self) -> usize {
        let lanes = |p: &Program| (p.lanes as usize / 16).min(super::packer::WARPS);
        self.pipeline.fragment.as_deref().map_or(1, lanes)
    }
}

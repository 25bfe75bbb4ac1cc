//! Shading of what a task has packed: the inputs of fragments, the program, late tests, and writes into the tile buffer.

pub mod coarse;
pub mod direct;
pub mod full;
pub mod host;
pub mod inputs;
pub mod late;
pub mod quads;
pub mod stretch;
pub mod warp;

use crate::layout::{LANE_X, LANE_Y, QUAD_X, QUAD_Y, SIDE, WARPS};
use crate::tile::blend::{Warps, stored, write_at};
use crate::tile::counts::{self, InTile, any_quads};
use crate::tile::item::Item;
use crate::tile::memory::plane::sample_of;
use crate::tile::pack::packer::{Packer, Slot};
use crate::tile::task::Task;
use direct::Written;
use late::{Shaded, after};
use shader::bytecode::Program;
use simd::Simd;
use std::mem::MaybeUninit;
use texel::row::Row;
use texel::vector;
use warp::Warp;
use wave::Stop;
use wave::graphics::{Job, Lanes};

/// Scalars that a fragment program may write: eight attachments and a second source, depth, stencil and mask.
pub(in crate::tile) const OUTPUTS: usize = 48;

/// Rows of a program's outputs, once it has run.
#[inline(always)]
pub(in crate::tile) fn outputs<'a>(
    program: &Program,
    lanes: &Lanes,
    room: &'a mut [MaybeUninit<Row>; OUTPUTS],
) -> &'a [Row] {
    let n = program.outputs.len().min(OUTPUTS);
    for (i, r) in room[..n].iter_mut().enumerate() {
        r.write(Row::new(lanes.output(i)));
    }
    // SAFETY: as many were written.
    unsafe { std::slice::from_raw_parts(room.as_ptr().cast::<Row>(), n) }
}

/// Rows of an attachment's channels; those that are not written are zero.
#[inline(always)]
pub(in crate::tile) fn channels(rows: &[Row], o: &[Option<usize>; 4]) -> [Row; 4] {
    let row = |k: usize| o[k].map_or(Row::zero(), |o| rows[o]);
    [row(0), row(1), row(2), row(3)]
}

impl<'a> Task<'a> {
    /// What the worker runs for an item.
    #[inline(always)]
    pub(in crate::tile) fn job<'j>(&self, item: &'j Item, program: &'j Program) -> Job<'j>
    where
        'a: 'j,
    {
        Job {
            serial: item.serial,
            program,
            tables: &item.tables,
            push: &item.draw.bindings.push,
            host: self.host,
            arena: self.arena,
        }
    }

    /// Shades what is packed, and writes it.
    #[inline(always)]
    pub(in crate::tile) fn shade(&mut self, item: &Item) -> Result<(), Stop> {
        if let Some(c) = &item.plan.coarse {
            return self.shade_coarse(item, c);
        }
        shade(self.level, self, item)
    }

    #[inline(always)]
    fn shade_body<S: Simd>(&mut self, s: S, item: &Item) -> Result<(), Stop> {
        let count = self.packer.count;
        let Some(program) = item.plan.pipeline.fragment.as_deref().filter(|_| count > 0) else {
            return Ok(());
        };
        let plan = &*item.plan;
        let job = self.job(item, program);
        self.counts[InTile::Warps] += count as u64;
        let mut lanes = self.worker.open(&job)?;
        let mut covered = [0u16; 16];
        let mut exec = [0u16; 16];
        let full = self.packer.full;
        if full != 0 {
            full::fill(self.level, item, self.packer, self.origin, &mut lanes, false);
            for w in 0..count {
                covered[w] = (full >> w & 1).wrapping_neg();
                exec[w] = covered[w];
            }
            let n = full.count_ones() as u64;
            let c = &mut self.counts;
            c[InTile::Invocations] += 16 * n;
            c[InTile::FullWarps] += n;
            c[InTile::Shaded] += 4 * n;
        }
        let others = ((1u32 << count) - 1) & !(full as u32);
        let mut left = others;
        let (mut invocations, mut shaded, mut four) = (0, 0, 0);
        while left != 0 {
            let w = left.trailing_zeros() as usize % 16;
            left &= left - 1;
            let slot = &self.packer.warps[w];
            let any = slot.masks[..plan.samples].iter().fold(0, |any, m| any | m);
            covered[w] = any;
            exec[w] = any;
            if plan.needs_quads {
                exec[w] = 0;
                for q in 0..4 {
                    exec[w] |= if slot.quads >> q & 1 != 0 { 0xF << (q * 4) } else { 0 };
                }
            }
            invocations += any.count_ones() as u64;
            shaded += slot.quads.count_ones() as u64;
            four += (slot.quads == 0xF) as u64;
        }
        let c = &mut self.counts;
        c[InTile::Invocations] += invocations;
        c[InTile::Shaded] += shaded;
        c[InTile::FullWarps] += four;
        if others == 0 {
            // All are full.
        } else if plan.of_planes {
            quads::fill(self.level, item, self.packer, self.origin, &mut lanes, others);
        } else {
            each(self.level, item, self.packer, self.origin, &mut lanes, others);
        }
        lanes.exec()[..16].copy_from_slice(&exec);
        lanes.alive()[..16].copy_from_slice(&covered);
        lanes.run()?;
        let mut alive = [0u16; 16];
        alive.copy_from_slice(&lanes.alive()[..16]);
        let mut room = [const { MaybeUninit::uninit() }; OUTPUTS];
        let rows = outputs(program, &lanes, &mut room);
        let channels = |o: &[Option<usize>; 4]| channels(rows, o);
        let direct = if self.record.is_some() { None } else { self.direct(item, &channels) };
        let mut done = Written::default();
        let mut w = 0;
        while w < count {
            if full >> w & 1 != 0 {
                let end = w + (!(full >> w)).trailing_zeros() as usize;
                if !plan.counts_early {
                    let passed: u64 = alive[w..end].iter().map(|m| m.count_ones() as u64).sum();
                    self.counts[InTile::Passed] += plan.samples as u64 * passed;
                }
                for c in &plan.colors {
                    let Some(p) = self.targets.list[c.attachment as usize].color.as_ref() else { continue };
                    let quads: u64 = alive[w..end].iter().map(|m| counts::quads(*m)).sum();
                    self.counts[InTile::Blended] += plan.samples as u64 * quads;
                    let blocks = &self.packer.blocks[w..end];
                    let second = c.second.as_ref().map(channels);
                    let first = channels(&c.outputs);
                    // SAFETY: the task's tile has the plane, of the writer's format; the outputs have a row for each warp.
                    unsafe {
                        let src1 = second.as_ref();
                        let warps = Warps { src: &first, src1, first: w, masks: &alive[w..end] };
                        p.write_whole(self.level, self.tile, &c.writer, blocks, &warps);
                    }
                }
                w = end;
                continue;
            }
            match &direct {
                // SAFETY: the outputs have a row for each warp; the packer's quads are the tile's.
                Some(d) => unsafe {
                    d.write(s, &self.packer.warps[w % WARPS], w, alive[w % WARPS], &mut done)
                },
                // SAFETY: as above.
                None => unsafe {
                    if self.record.is_some() {
                        self.note_shaded(item, w, alive[w], rows);
                    }
                    self.write_quads(s, item, w, alive[w], rows);
                    if self.record.is_some() {
                        self.note_written(item, w);
                    }
                },
            }
            w += 1;
        }
        self.counts[InTile::Passed] += if plan.counts_early { 0 } else { done.passed };
        self.counts[InTile::Blended] += done.quads;
        self.packer.clear();
        Ok(())
    }

    /// Tells the record of a warp that has been shaded.
    ///
    /// # Safety
    /// The rows hold warp `w`.
    #[cold]
    unsafe fn note_shaded(&mut self, item: &Item, w: usize, alive: u16, rows: &[Row]) {
        if let Some(r) = &mut self.record {
            // SAFETY: the caller's rows.
            unsafe { r.fragments.warp(&item.plan, &self.packer.warps[w], w, alive, rows) };
        }
    }

    /// Tells the record of a warp that has been written.
    #[cold]
    fn note_written(&mut self, item: &Item, w: usize) {
        if let Some(r) = &mut self.record {
            // SAFETY: the task's tile.
            unsafe { r.fragments.written(&item.plan, self.targets, self.tile, &self.packer.warps[w]) };
        }
    }

    /// Writes a warp of the packer's that is not full, after what tests are left.
    ///
    /// # Safety
    /// The rows hold warp `w`.
    #[inline(always)]
    unsafe fn write_quads<S: Simd>(&mut self, s: S, item: &Item, w: usize, alive: u16, rows: &[Row]) {
        let plan = &*item.plan;
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
            let told = self.record.as_ref().map(|r| &r.fragments.late);
            let shaded = Shaded { targets, tile, origin, item, rows, at: w, told };
            let slot = &mut self.packer.warps[w];
            let tested = if plan.tests.idle() { 0 } else { any_quads(&slot.masks[..plan.samples]) };
            self.counts[InTile::LateTested] += tested;
            // SAFETY: the task's tile; the rows hold the warp.
            let (left, passed) = unsafe { after(self.level, shaded, slot) };
            any = left;
            self.counts[InTile::Passed] += passed;
            self.counts[InTile::LateKilled] += tested.saturating_sub(any_quads(&slot.masks[..plan.samples]));
            if any == 0 {
                return;
            }
        } else if !plan.counts_early {
            masks[..plan.samples].iter().for_each(|m| self.counts[InTile::Passed] += m.count_ones() as u64);
        }
        let slot = &self.packer.warps[w];
        for c in &plan.colors {
            let Some(p) = self.targets.list[c.attachment as usize].color.as_ref() else { continue };
            let mut src = [s.isplat(0); 4];
            for k in 0..4 {
                if let Some(o) = c.outputs[k] {
                    // SAFETY: the rows hold the warp.
                    src[k] = unsafe { rows[o].words(s, w) };
                }
            }
            let mut second = None;
            if let Some(outputs) = &c.second {
                let mut s1 = [s.isplat(0); 4];
                for k in 0..4 {
                    if let Some(o) = outputs[k] {
                        // SAFETY: the rows hold the warp.
                        s1[k] = unsafe { rows[o].words(s, w) };
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
                    src[3] = s.bits(s.fmul(s.from_bits(src[3]), simd::ops::f_from(s, k)));
                }
                if item.plan.state.samples.alpha_to_one {
                    src[3] = s.bits(s.fsplat(1.0));
                    second.iter_mut().for_each(|s1| s1[3] = src[3]);
                }
            }
            let bytes = c.writer.bytes();
            // What replaces pixels is the same for all samples.
            let new = c.writer.replaces_four_bytes().filter(|_| plan.samples > 1);
            let new = new.map(|swap| c.writer.new4(s, s.isplat(0), &src, None, swap, false));
            // SAFETY: the task's tile has the plane, and the slot's quads.
            let one = plan.samples > 1
                && unsafe { p.one_for_all(self.tile, &slot.masks[..plan.samples], &slot.pixels) };
            for k in 0..plan.samples {
                let mask = slot.masks[k];
                if mask == 0 || (k > 0 && p.samples as usize <= k) {
                    continue;
                }
                self.counts[InTile::Blended] += counts::quads(mask);
                if one && k > 0 {
                    continue;
                }
                // SAFETY: the task's tile has the plane.
                let base = unsafe { p.sample(self.tile, sample_of(p, k)) };
                if let Some(new) = new {
                    let mut nowhere = [0; 4];
                    let at = slot.quads4(base, mask, &mut nowhere);
                    // SAFETY: four quads of the plane, no two the same, of four bytes a pixel.
                    unsafe { s.istore4(at, s.isel(s.mask(mask), new, s.iload4(at))) };
                    continue;
                }
                // A block that is not whole is written by quads too: a later load of a quad does not wait for a masked store.
                if bytes == 4 && (!slot.dense || mask != 0xFFFF) {
                    let mut nowhere = [0; 4];
                    let at = slot.quads4(base, mask, &mut nowhere);
                    // SAFETY: four quads of the plane, no two the same, of the writer's format.
                    unsafe { c.writer.write_quads4(s, at, &src, second.as_ref(), mask) };
                    continue;
                }
                if slot.dense {
                    // SAFETY: sixteen consecutive pixels, of the writer's format.
                    unsafe {
                        let px = base.add(slot.pixels[0] as usize * bytes);
                        if let Some(swap) = c.writer.replaces_four_bytes() {
                            c.writer.replace4(s, px, &src, mask, swap);
                        } else {
                            let (colors, more) = (stored(s, &src), second.as_ref().map(|c| stored(s, c)));
                            write_at(s.level(), &c.writer, px, &colors, more.as_ref(), mask);
                        }
                    }
                    continue;
                }
                let mut px = [0u8; 256];
                for q in 0..4 {
                    // SAFETY: a quad of the plane; room for four quads of the largest pixels.
                    unsafe {
                        let at = base.add(slot.pixels[q] as usize * bytes);
                        copy_quad(at, px.as_mut_ptr().add(q * 4 * bytes), bytes);
                    }
                }
                let colors = stored(s, &src);
                let more = second.as_ref().map(|c| stored(s, c));
                // SAFETY: sixteen pixels of the writer's format.
                unsafe { write_at(s.level(), &c.writer, px.as_mut_ptr(), &colors, more.as_ref(), mask) };
                for q in 0..4 {
                    if mask >> (q * 4) & 0xF != 0 {
                        // SAFETY: as above.
                        unsafe {
                            let at = base.add(slot.pixels[q] as usize * bytes);
                            copy_quad(px.as_ptr().add(q * 4 * bytes), at, bytes);
                        }
                    }
                }
            }
        }
    }
}

simd::by_level! {
    /// Fills the inputs of warps `which` of the packer's (a bit each), warp by warp.
    #[inline(never)]
    fn each = each_body, (item: &Item, packer: &Packer, origin: [i32; 2], lanes: &mut Lanes, which: u32)
}

#[inline(always)]
fn each_body<S: Simd>(s: S, item: &Item, packer: &Packer, origin: [i32; 2], lanes: &mut Lanes, which: u32) {
    let mut left = which;
    while left != 0 {
        let w = left.trailing_zeros() as usize;
        left &= left - 1;
        fill_warp(item, &warp_of(s, item, &packer.warps[w], origin), w, lanes);
    }
}

/// Fills the inputs of warp `w`.
#[inline(always)]
fn fill_warp<S: Simd>(item: &Item, own: &Warp<S>, w: usize, lanes: &mut Lanes) {
    let mut shared = warp::Shared::default();
    for (i, f) in item.plan.fills.iter().enumerate() {
        if let Some(m) = warp::mask(*f, own) {
            lanes.input_mask(i)[w] = m;
            continue;
        }
        if let Some(row) = lanes.input(i).get_mut(w) {
            vector::store(own.machine, row, warp::value(*f, own, &mut shared));
        }
    }
}

#[inline(always)]
fn shade_body<S: Simd>(s: S, task: &mut Task, item: &Item) -> Result<(), Stop> {
    task.shade_body(s, item)
}
simd::by_level! {
    #[inline(never)]
    fn shade = shade_body, (task: &mut Task, item: &Item) -> Result<(), Stop>
}

/// Copies a quad's four pixels.
///
/// # Safety
/// Four pixels of so many bytes at each; they do not overlap.
#[inline(always)]
unsafe fn copy_quad(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's four pixels.
    unsafe {
        match bytes {
            4 => to.copy_from_nonoverlapping(from, 16),
            8 => to.copy_from_nonoverlapping(from, 32),
            _ => to.copy_from_nonoverlapping(from, 4 * bytes),
        }
    }
}

/// The warp a slot describes.
#[inline(always)]
pub fn warp_of<'a, S: Simd>(s: S, item: &'a Item, slot: &'a Slot, origin: [i32; 2]) -> Warp<'a, S> {
    let prim = |q: usize| &item.batch.prims[slot.prims[q] as usize];
    let prims = [prim(0), prim(1), prim(2), prim(3)];
    let (x, y);
    if slot.dense {
        let block = slot.pixels[0] as usize / 16;
        let left = s.fsplat((origin[0] + (block % SIDE) as i32 * 4) as f32);
        let top = s.fsplat((origin[1] + (block / SIDE) as i32 * 4) as f32);
        x = s.fadd(left, vector::floats(s, &LANE_X));
        y = s.fadd(top, vector::floats(s, &LANE_Y));
    } else {
        let mut corner = [[0f32; 4]; 2];
        for q in 0..4 {
            let quad = slot.pixels[q] as usize / 4;
            let (block, quad) = (quad / 4, quad % 4);
            corner[0][q] = (origin[0] + (block % SIDE * 4 + (quad & 1) * 2) as i32) as f32;
            corner[1][q] = (origin[1] + (block / SIDE * 4 + (quad >> 1) * 2) as i32) as f32;
        }
        x = s.fadd(s.fquads(corner[0]), vector::floats(s, &QUAD_X));
        y = s.fadd(s.fquads(corner[1]), vector::floats(s, &QUAD_Y));
    }
    let mut covered = 0;
    for m in &slot.masks[..item.plan.samples] {
        covered |= m;
    }
    let [a, b, c, d] = slot.prims;
    Warp {
        machine: s,
        prims,
        same: a == b && a == c && a == d,
        x,
        y,
        masks: &slot.masks,
        shown: if item.plan.before_tests { item.plan.samples } else { 0 },
        covered,
        samples: item.plan.samples,
        locations: item.plan.locations(),
        sample: slot.sample,
        planes: &item.batch.planes,
        edges: &item.batch.edges,
        grown: item.plan.grown,
        view: item.view,
        coarse: None,
    }
}

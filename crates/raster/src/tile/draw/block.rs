//! A block of a primitive by the general path: any number of samples, any tests. The other files of this room are compared with it.

use crate::layout::{LANE_X, LANE_Y, SIDE, quads};
use crate::prim::Prim;
use crate::tile::counts::{self, InTile};
use crate::tile::cover::{MAX_MASKS, MAX_SAMPLES};
use crate::tile::item::Item;
use crate::tile::item::plan::When;
use crate::tile::memory::plane::sample_of;
use crate::tile::pack::packer::Piece;
use crate::tile::record::explain;
use crate::tile::task::{Of, Task};
use crate::tile::test::stencil::Stored;
use simd::Simd;
use texel::vector;
use wave::Stop;

impl<'a> Task<'a> {
    /// A block of a primitive: early tests, then into the wave.
    #[inline(always)]
    fn block_body<S: Simd>(
        &mut self,
        s: S,
        of: &Of,
        block: usize,
        covered: &[u16; MAX_SAMPLES],
    ) -> Result<(), Stop> {
        let &Of { item, prim, number: index } = of;
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
        if let Some(coarse) = plan.coarse.as_ref().filter(|_| plan.observed) {
            self.count_coarse(coarse, of, block, any);
        }
        if let Some(r) = &mut self.record
            && any != 0
        {
            r.fragments.covers(item, index, block, &masks[..plan.samples]);
        }
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
                    if self.record.is_some() {
                        self.note_early(of, masks[k], k, block, corner);
                    }
                    masks[k] = self.early(s, of, masks[k], k, block, corner);
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
        self.pack_block(of, block, any, &masks)
    }

    /// Packs what is left of a block after early tests; `any`: of its samples' masks. (Not inlined: several callers.)
    #[inline(never)]
    pub(in crate::tile) fn pack_block(
        &mut self,
        &Of { item, prim, number: index }: &Of,
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
        if plan.coarse.is_some() {
            return self.pack_coarse(item, index, block, &masks[..plan.samples]);
        }
        let mut piece =
            Piece { prim: index, block, quads: quads(any), masks, sample: None, coverage: smooth.as_ref() };
        let n = if plan.before_tests { 2 * plan.samples } else { plan.samples };
        if !plan.per_sample {
            piece.masks = &masks[..n];
            return self.add(item, &piece);
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
            let q = quads(masks[s]);
            if plan.pixel_interlock && self.packer.overlaps(block, q) {
                self.shade(item)?;
            }
            self.add(item, &Piece { quads: q, masks: &one[..n], sample: Some(s as u8), ..piece })?;
        }
        Ok(())
    }

    /// Adds a piece to the wave; if there is no room for it, the wave is shaded first.
    #[inline(always)]
    pub(in crate::tile) fn add(&mut self, item: &Item, piece: &Piece) -> Result<(), Stop> {
        if !self.packer.add(item.plan.warps, piece) {
            self.shade(item)?;
            self.packer.add(item.plan.warps, piece);
        }
        Ok(())
    }

    /// Tests one sample of a whole block in place; the lanes that pass.
    #[inline(always)]
    fn early<S: Simd>(
        &self,
        s: S,
        &Of { item, prim, .. }: &Of,
        mask: u16,
        sample: usize,
        block: usize,
        corner: [i32; 2],
    ) -> u16 {
        let plan = &*item.plan;
        // Depth bounds are of what is stored: without a depth test the fragment's own decides nothing.
        let z = if plan.tests.test { depths(s, item, prim, sample, corner) } else { s.fsplat(0.0) };
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
        unsafe {
            plan.tests.run(
                s,
                mask,
                z,
                &Stored { zs, st, front, write: plan.when == When::Early, reference: None },
            )
        }
    }
}

/// Depths of a sample of a block's pixels, the first of which is `corner`, as the tile holds them.
#[inline(always)]
fn depths<S: Simd>(s: S, item: &Item, prim: &Prim, sample: usize, corner: [i32; 2]) -> S::F {
    let plan = &*item.plan;
    let [sx, sy] = plan.places[sample];
    // In the order of `fill::Warp::places`, so that early and late tests see the same depth.
    let x = s.fadd(s.fsplat(corner[0] as f32), vector::floats(s, &LANE_X));
    let y = s.fadd(s.fsplat(corner[1] as f32), vector::floats(s, &LANE_Y));
    let x = s.fsub(s.fadd(x, s.fsplat(sx as f32 / 16.0)), s.fsplat(prim.origin()[0]));
    let y = s.fsub(s.fadd(y, s.fsplat(sy as f32 / 16.0)), s.fsplat(prim.origin()[1]));
    let k = &prim.z;
    let slope = s.fadd(s.fmul(s.fsplat(k.dx), x), s.fmul(s.fsplat(k.dy), y));
    plan.tests.value(s, s.fadd(s.fsplat(k.at), slope), item.depth_range(prim))
}

impl Task<'_> {
    /// Tells the record which early tests lanes of a sample will fail.
    #[cold]
    #[inline(never)]
    fn note_early(&mut self, of: &Of, mask: u16, sample: usize, block: usize, corner: [i32; 2]) {
        let &Of { item, prim, .. } = of;
        let plan = &*item.plan;
        let (mut zs, mut st) = ([0f32; 16], [0u8; 16]);
        if let Some(p) = self.plane(plan.depth, |t| &t.depth) {
            // SAFETY: the task's tile has the plane (here and below).
            zs = unsafe { p.sample(self.tile, sample_of(p, sample)).cast::<[f32; 16]>().add(block).read() };
        }
        if let Some(p) = self.plane(plan.stencil, |t| &t.stencil) {
            st = unsafe { p.sample(self.tile, sample_of(p, sample)).cast::<[u8; 16]>().add(block).read() };
        }
        let z = if plan.tests.test {
            simd::ops::f_lanes(simd::Portable, depths(simd::Portable, item, prim, sample, corner))
        } else {
            [0.0; 16]
        };
        let front = if prim.side.front() { 0xFFFF } else { 0 };
        let nowhere = (std::ptr::null_mut(), std::ptr::null_mut());
        let stored = Stored { zs: nowhere.0, st: nowhere.1, front, write: false, reference: None };
        let failed = explain(&plan.tests, mask, z, zs, st, &stored);
        if let Some(r) = &mut self.record {
            r.fragments.tested(plan, sample, &z, failed);
        }
    }
}

#[inline(always)]
fn block_body<S: Simd>(
    s: S,
    task: &mut Task,
    of: &Of,
    block: usize,
    covered: &[u16; MAX_SAMPLES],
) -> Result<(), Stop> {
    task.block_body(s, of, block, covered)
}
simd::by_level! {
    /// A separate function: it is large, and few blocks come to it.
    #[inline(never)]
    pub(in crate::tile) fn block = block_body, (task: &mut Task, of: &Of, block: usize, covered: &[u16; MAX_SAMPLES]) -> Result<(), Stop>
}

//! Fragments of a draw in a tile, primitive by primitive and block by block, with what became of each.

use crate::layout::quads;
use crate::tile::cover::MAX_SAMPLES;
use crate::tile::item::Item;
use crate::tile::item::plan::Plan;
use crate::tile::memory::plane::sample_of;
use crate::tile::memory::target::Targets;
use crate::tile::pack::packer::Slot;
use crate::tile::test::depth::Tests;
use crate::tile::test::stencil::Stored;
use simd::Portable;
use std::cell::RefCell;
use texel::row::Row;

/// Lanes of a block, by sample.
type Masks = [u16; MAX_SAMPLES];

/// Which tests lanes failed.
#[derive(Clone, Copy, Default)]
pub struct Failed {
    pub bounds: u16,
    pub stencil: u16,
    pub depth: u16,
}

/// What late tests say of a warp: by sample, and the depths that they compared, of sample 0.
#[derive(Clone, Copy, Default)]
pub struct LateTold {
    pub failed: [Failed; MAX_SAMPLES],
    pub depths: [f32; 16],
    pub tested: bool,
}

impl LateTold {
    /// Late tests of a sample: the depths that they compared.
    pub fn tests(&mut self, sample: usize, z: &[f32; 16], failed: Failed) {
        self.failed[sample] = failed;
        if !self.tested {
            self.depths = *z;
            self.tested = true;
        }
    }
}

/// A primitive's fragments in a block.
struct Piece {
    /// Of its item's batch.
    number: u32,
    id: u32,
    block: u16,
    /// Quads that were shaded.
    quads: u8,
    covered: Masks,
    bounds: Masks,
    stencil: Masks,
    depth: Masks,
    passed: Masks,
    shaded: u16,
    discarded: u16,
    /// What was compared, of the first sample that was covered.
    z: [f32; 16],
    /// By colour and lane.
    outputs: Vec<[[u32; 4]; 16]>,
    after: Vec<[[u8; 16]; 16]>,
}

/// Fragments of the draw under way.
#[derive(Default)]
pub struct Fragments {
    pieces: Vec<Piece>,
    /// Which pieces the quads of the warp under way are of.
    found: [Option<usize>; 4],
    /// Samples, and of each colour the attachment and bytes of a pixel.
    samples: usize,
    colors: Vec<(u32, usize)>,
    tested: bool,
    pub(in crate::tile) late: RefCell<LateTold>,
}

/// Lanes that fail each test, of `mask`, as the tests will find them: nothing that is stored changes.
pub fn explain(
    tests: &Tests,
    mask: u16,
    z: [f32; 16],
    zs: [f32; 16],
    st: [u8; 16],
    stored: &Stored,
) -> Failed {
    let run = |tests: &Tests| {
        let (mut zs, mut st) = (zs, st);
        let stored = Stored { zs: zs.as_mut_ptr(), st: st.as_mut_ptr(), write: false, ..*stored };
        // SAFETY: sixteen depths and stencil values; portable code.
        unsafe { tests.run(Portable, mask, simd::ops::f_from(Portable, z), &stored) }
    };
    let [bounds, stencil, all] = tests.one_by_one().map(|t| run(&t));
    Failed { bounds: mask & !bounds, stencil: bounds & !stencil, depth: stencil & !all }
}

impl Fragments {
    /// A primitive covers lanes of a block.
    pub fn covers(&mut self, item: &Item, number: u32, block: usize, masks: &[u16]) {
        let prim = &item.batch.prims[number as usize];
        let id = (prim.planes as usize).checked_sub(1).and_then(|at| item.batch.planes.get(at));
        let mut covered = [0; MAX_SAMPLES];
        covered[..masks.len()].copy_from_slice(masks);
        let plan = &*item.plan;
        self.samples = plan.samples;
        self.tested = plan.tests.test;
        if self.colors.len() != plan.colors.len() {
            self.colors = plan.colors.iter().map(|c| (c.attachment, c.writer.bytes())).collect();
        }
        let n = plan.colors.len();
        self.pieces.push(Piece {
            number,
            id: id.map_or(0, |p| p.at.to_bits()),
            block: block as u16,
            quads: 0,
            covered,
            bounds: [0; MAX_SAMPLES],
            stencil: [0; MAX_SAMPLES],
            depth: [0; MAX_SAMPLES],
            passed: if plan.shades { [0; MAX_SAMPLES] } else { covered },
            shaded: 0,
            discarded: 0,
            z: [0.0; 16],
            outputs: vec![[[0; 4]; 16]; n],
            after: vec![[[0; 16]; 16]; n],
        });
    }

    /// Early tests of a sample of the last piece.
    pub fn tested(&mut self, plan: &Plan, sample: usize, z: &[f32; 16], failed: Failed) {
        let Some(p) = self.pieces.last_mut() else { return };
        p.bounds[sample] |= failed.bounds;
        p.stencil[sample] |= failed.stencil;
        p.depth[sample] |= failed.depth;
        let gone = failed.bounds | failed.stencil | failed.depth;
        p.passed[sample] &= !gone;
        let first = plan.sample_mask.trailing_zeros() as usize;
        for l in 0..16 {
            if p.covered[sample] >> l & 1 != 0 && (sample == first || p.z[l] == 0.0) {
                p.z[l] = z[l];
            }
        }
    }

    /// The piece that lanes of a quad of a slot are of.
    fn piece_of(&self, slot: &Slot, q: usize, lanes: u16) -> Option<usize> {
        // Where each sample is shaded by itself, the same lanes come several times.
        let again = slot.sample.is_some();
        self.pieces.iter().rposition(|p| {
            p.number == slot.prims[q]
                && p.block == slot.pixels[q] / 16
                && p.covered.iter().any(|m| m & lanes != 0)
                && (again || p.shaded & lanes == 0)
        })
    }

    /// A warp has been shaded: `alive` are lanes that the program has not discarded.
    ///
    /// # Safety
    /// The rows hold warp `w`.
    pub unsafe fn warp(&mut self, plan: &Plan, slot: &Slot, w: usize, alive: u16, rows: &[Row]) {
        let any = slot.masks[..plan.samples].iter().fold(0, |any, m| any | m);
        // SAFETY: the caller's rows.
        let words = |o: Option<usize>| o.map_or([0; 16], |o| unsafe { rows[o].array(w) });
        let outputs: Vec<[[u32; 16]; 4]> = plan.colors.iter().map(|c| c.outputs.map(words)).collect();
        for q in (0..4).filter(|q| slot.quads >> q & 1 != 0) {
            let first = slot.pixels[q] as usize % 16;
            let of = |mask: u16| (mask >> (4 * q) & 0xF) << first;
            let found = self.piece_of(slot, q, of(any));
            self.found[q] = found;
            let Some(p) = found.and_then(|i| self.pieces.get_mut(i)) else { continue };
            p.quads |= 1 << (first / 4);
            p.shaded |= of(any);
            p.discarded |= of(any & !alive);
            for (to, from) in p.outputs.iter_mut().zip(&outputs) {
                for l in 0..4 {
                    to[first + l] = [0, 1, 2, 3].map(|c: usize| from[c][4 * q + l]);
                }
            }
        }
    }

    /// A warp has been written: the slot's masks are what was left of it.
    ///
    /// # Safety
    /// The tile is laid out by the targets, and nobody else uses it.
    pub unsafe fn written(&mut self, plan: &Plan, targets: &Targets, tile: *mut u8, slot: &Slot) {
        let told = std::mem::take(&mut *self.late.borrow_mut());
        for q in (0..4).filter(|q| slot.quads >> q & 1 != 0) {
            let (block, first) = (slot.pixels[q] as usize / 16, slot.pixels[q] as usize % 16);
            let Some(p) = self.found[q].take().and_then(|i| self.pieces.get_mut(i)) else { continue };
            let of = |mask: u16| (mask >> (4 * q) & 0xF) << first;
            let mut any = 0;
            for s in 0..plan.samples {
                p.passed[s] |= of(slot.masks[s]);
                p.bounds[s] |= of(told.failed[s].bounds);
                p.stencil[s] |= of(told.failed[s].stencil);
                p.depth[s] |= of(told.failed[s].depth);
                any |= of(slot.masks[s]);
            }
            if told.tested {
                p.z[first..first + 4].copy_from_slice(&told.depths[4 * q..4 * q + 4]);
            }
            for (c, to) in plan.colors.iter().zip(&mut p.after) {
                let Some(plane) = targets.list[c.attachment as usize].color.as_ref() else { continue };
                for l in (first..first + 4).filter(|l| any >> l & 1 != 0) {
                    let s = (0..plan.samples).find(|s| p.passed[*s] >> l & 1 != 0).unwrap_or(0);
                    let at = (block * 16 + l) * plane.bytes;
                    // SAFETY: a pixel of the plane, in the caller's tile.
                    unsafe {
                        let s = plane.sample_in(tile, sample_of(plane, s), block);
                        let from = plane.sample(tile, s).add(at);
                        to[l].as_mut_ptr().copy_from_nonoverlapping(from, plane.bytes.min(16));
                    }
                }
            }
        }
    }

    /// The draw's fragments as bytes; none: it has had none.
    pub fn take(&mut self) -> Vec<u8> {
        let mut out = vec![];
        let pieces = std::mem::take(&mut self.pieces);
        let colors = std::mem::take(&mut self.colors);
        if pieces.is_empty() {
            return out;
        }
        let n = self.samples;
        out.extend([n as u8, colors.len() as u8, self.tested as u8, 0]);
        for (attachment, bytes) in &colors {
            out.extend([*attachment as u8, *bytes as u8]);
        }
        for p in &pieces {
            let any = |m: &Masks| m[..n].iter().fold(0, |any, m| any | m);
            out.extend(p.id.to_le_bytes());
            out.extend(p.block.to_le_bytes());
            out.extend([p.quads, 0]);
            out.extend(p.shaded.to_le_bytes());
            out.extend(p.discarded.to_le_bytes());
            for masks in [&p.covered, &p.bounds, &p.stencil, &p.depth, &p.passed] {
                out.extend(masks[..n].iter().flat_map(|m| m.to_le_bytes()));
            }
            if self.tested {
                let lanes = (0..16).filter(|l| any(&p.covered) >> l & 1 != 0);
                out.extend(lanes.flat_map(|l| p.z[l].to_bits().to_le_bytes()));
            }
            for (outputs, (after, (_, bytes))) in p.outputs.iter().zip(p.after.iter().zip(&colors)) {
                for l in (0..16).filter(|l| p.shaded >> l & 1 != 0) {
                    out.extend(outputs[l].iter().flat_map(|w| w.to_le_bytes()));
                }
                for l in (0..16).filter(|l| any(&p.passed) >> l & 1 != 0) {
                    out.extend(&after[l][..*bytes]);
                }
            }
        }
        debug_assert!(pieces.iter().all(|p| quads(p.shaded) & !p.quads == 0));
        out
    }
}

//! Shading of fragments of several pixels (§ Fragment Shading Rates): what is packed are pixels, as always. Their fragments
//! are made of them, shaded, and each pixel takes what its fragment gave. Tests and writes are those of pixels.

use super::warp::{Sizes, Warp};
use super::{OUTPUTS, fill_warp, outputs};
use crate::layout::{QUADS, SIDE, WARPS, lane_x, lane_y};
use crate::tile::counts::InTile;
use crate::tile::cover::MAX_MASKS;
use crate::tile::item::Item;
use crate::tile::item::coarse::{AREA, Coarse};
use crate::tile::pack::packer::{Packer, Slot};
use crate::tile::task::{Of, Task};
use simd::{Simd, ops};
use std::mem::MaybeUninit;
use texel::row::Row;
use texel::vector;
use wave::Stop;
use wave::graphics::Lanes;

/// Four quads of fragments.
#[derive(Clone, Copy)]
struct Fragments {
    prims: [u32; 4],
    /// Left and top pixel of each quad, and log2 of a fragment's width and height.
    corners: [[i32; 2]; 4],
    sizes: [[u8; 2]; 4],
    quads: u8,
    covered: u16,
    /// Samples that are covered of each fragment; the first one's place in 1/16 pixels from the quad's corner.
    samples: [u16; 16],
    first: [[u16; 2]; 16],
}

const NONE: Fragments = Fragments {
    prims: [0; 4],
    corners: [[0; 2]; 4],
    sizes: [[0; 2]; 4],
    quads: 0,
    covered: 0,
    samples: [0; 16],
    first: [[0; 2]; 16],
};

/// The fragments of packed pixels.
struct Made {
    warps: [Fragments; WARPS],
    /// Quads in use.
    count: usize,
    /// By warp and lane of pixels: the fragment, as warp · 16 + lane.
    of: [[u8; 16]; WARPS],
}

impl Made {
    /// The fragments of what is packed.
    fn new(item: &Item, coarse: &Coarse, packer: &Packer, origin: [i32; 2], layer: u32) -> Made {
        let mut made = Made { warps: [NONE; WARPS], count: 0, of: [[0; 16]; WARPS] };
        for (w, slot) in packer.warps[..packer.count].iter().enumerate() {
            for q in (0..4).filter(|q| slot.quads >> q & 1 != 0) {
                made.add(item, coarse, (w, slot, q), origin, layer);
            }
        }
        made
    }

    /// Adds a quad of pixels.
    fn add(
        &mut self,
        item: &Item,
        coarse: &Coarse,
        (w, slot, q): (usize, &Slot, usize),
        origin: [i32; 2],
        layer: u32,
    ) {
        let number = slot.prims[q];
        let quad = slot.pixels[q] as usize / 4 % QUADS;
        let (block, corner) = (quad / 4, quad % 4);
        let place = place(block, corner);
        let area = [0, 1].map(|k| origin[k] + (place[k] / AREA * AREA) as i32);
        let prim = &item.batch.prims[number as usize];
        let size = coarse.size(prim, &item.batch.planes, area, layer).0;
        // A quad of fragments has twice as many pixels along each axis as one of them.
        let left = [0, 1].map(|k| origin[k] + (place[k] >> (size[k] + 1) << (size[k] + 1)) as i32);
        let (warp, at) = self.quad(number, left, size);
        let f = &mut self.warps[warp];
        let locations = item.plan.locations();
        for l in 0..4 {
            let lane = q * 4 + l;
            let pixel = [place[0] + (l & 1), place[1] + (l >> 1)];
            let within = [0, 1].map(|k| (origin[k] + pixel[k] as i32 - left[k]) as usize);
            let fragment = at * 4 + (within[0] >> size[0] & 1) + 2 * (within[1] >> size[1] & 1);
            self.of[w][lane] = (warp * 16 + fragment) as u8;
            for (s, [x, y]) in locations.iter().enumerate() {
                if slot.masks[s] >> lane & 1 == 0 {
                    continue;
                }
                if f.covered >> fragment & 1 == 0 {
                    // Where a map says the size, the samples are the fragment's, spread over its area.
                    let spread = if coarse.is_mapped() { size } else { [0; 2] };
                    f.first[fragment] = [0, 1].map(|k| {
                        let corner = within[k] >> spread[k] << spread[k];
                        (corner * 16 + (usize::from([*x, *y][k]) << spread[k])) as u16
                    });
                }
                f.covered |= 1 << fragment;
                f.samples[fragment] += 1;
            }
        }
    }

    /// The quad of fragments of a primitive at a place: its warp, and which of that.
    fn quad(&mut self, prim: u32, corner: [i32; 2], size: [u8; 2]) -> (usize, usize) {
        let same = |n: &usize| {
            let f = &self.warps[n / 4];
            (f.prims[n % 4], f.corners[n % 4], f.sizes[n % 4]) == (prim, corner, size)
        };
        // An area's pixels follow one another, so the quad is one of the last.
        if let Some(n) = (0..self.count).rev().find(same) {
            return (n / 4, n % 4);
        }
        let n = self.count;
        self.count += 1;
        let f = &mut self.warps[n / 4 % WARPS];
        if n.is_multiple_of(4) {
            (f.prims, f.corners, f.sizes) = ([prim; 4], [corner; 4], [size; 4]);
        }
        (f.prims[n % 4], f.corners[n % 4], f.sizes[n % 4]) = (prim, corner, size);
        f.quads |= 1 << (n % 4);
        (n / 4 % WARPS, n % 4)
    }
}

impl Fragments {
    /// Sizes and places of the fragments, for [`Warp`]: x and y half a pixel before their middles.
    fn places(&self, samples: usize) -> ([[f32; 16]; 2], Sizes) {
        let mut places = [[0.0; 16]; 2];
        let mut sizes = Sizes { rates: [0; 4], centroids: [[0.5; 16]; 2] };
        for l in 0..16 {
            let q = l / 4;
            let size = self.sizes[q];
            sizes.rates[q] = u32::from(size[0]) << 2 | u32::from(size[1]);
            let all = samples << (size[0] + size[1]);
            for k in 0..2 {
                let side = (1 << size[k]) as f32;
                let from = (l >> k & 1) as f32 * side;
                places[k][l] = self.corners[q][k] as f32 + from + (side * 0.5 - 0.5);
                if self.samples[l] > 0 && (self.samples[l] as usize) < all {
                    sizes.centroids[k][l] = self.first[l][k] as f32 / 16.0 - from - (side * 0.5 - 0.5);
                }
            }
        }
        (places, sizes)
    }

    /// Fills the inputs of warp `w`.
    fn fill<S: Simd>(&self, s: S, item: &Item, w: usize, lanes: &mut Lanes) {
        let (places, sizes) = self.places(item.plan.samples);
        let prims = self.prims.map(|p| &item.batch.prims[p as usize]);
        let [a, b, c, d] = self.prims;
        let own = Warp {
            machine: s,
            prims,
            same: a == b && a == c && a == d,
            x: ops::f_from(s, places[0]),
            y: ops::f_from(s, places[1]),
            masks: &[0; MAX_MASKS],
            shown: 0,
            covered: self.covered,
            samples: item.plan.samples,
            locations: item.plan.locations(),
            sample: None,
            planes: &item.batch.planes,
            edges: &item.batch.edges,
            grown: item.plan.grown,
            view: item.view,
            coarse: Some(&sizes),
        };
        fill_warp(item, &own, w, lanes);
    }
}

/// Column and row of a block's quad in the tile.
fn place(block: usize, quad: usize) -> [usize; 2] {
    [block % SIDE * 4 + (quad & 1) * 2, block / SIDE * 4 + (quad >> 1) * 2]
}

/// A primitive, and the area that a block is in.
fn area(prim: u32, block: usize) -> (u32, usize) {
    let per_area = AREA / 4;
    (prim, block / SIDE / per_area * SIDE + block % SIDE / per_area)
}

impl Task<'_> {
    /// Puts covered blocks in the order of areas. Where a map of densities says how large fragments are, these have one set
    /// of samples, spread over their area: which of them are covered decides about all of their pixels.
    #[cold]
    #[inline(never)]
    pub(in crate::tile) fn cover_coarse(&mut self, coarse: &Coarse, of: &Of) {
        self.covered.by_area();
        let edges = &of.prim.edges(&of.item.batch.edges)[..of.prim.form.edges()];
        let Some((density, clip)) = coarse.density(of.prim).filter(|_| !edges.is_empty()) else { return };
        let locations = of.item.plan.locations();
        let covered = &mut *self.covered;
        for (block, masks) in covered.blocks.iter().zip(&mut covered.masks).take(covered.count) {
            let first = place(*block as usize, 0);
            let area = [0, 1].map(|k| self.origin[k] + (first[k] / AREA * AREA) as i32);
            let size = density.at(area, self.layer).0;
            for (mask, at) in masks.iter_mut().zip(locations) {
                *mask = 0;
                for l in 0..16 {
                    let [x, y] = [first[0] + lane_x(l), first[1] + lane_y(l)];
                    let [px, py] = [self.origin[0] + x as i32, self.origin[1] + y as i32];
                    let inside = clip.x0 <= px && px < clip.x1 && clip.y0 <= py && py < clip.y1;
                    // In 1/256 pixels: of the fragment, and its sample in it.
                    let of_fragment = |k: usize, pixel: usize| {
                        let left = self.origin[k] + (pixel >> size[k] << size[k]) as i32;
                        i64::from(left) * 256 + ((i64::from(at[k]) * 16) << size[k])
                    };
                    let (x, y) = (of_fragment(0, x), of_fragment(1, y));
                    let within = edges.iter().all(|e| e.a as i64 * x + e.b as i64 * y + e.c >= 0);
                    *mask |= u16::from(inside && within) << l;
                }
            }
        }
    }

    /// Counts the quads of fragments that a block's pixels ask for and no block before it has.
    #[cold]
    pub(in crate::tile) fn count_coarse(&mut self, coarse: &Coarse, of: &Of, block: usize, any: u16) {
        let here = Some(area(of.number, block));
        if self.packer.asked.0 != here {
            self.packer.asked = (here, 0);
        }
        let quads = crate::layout::quads(any);
        for q in (0..4).filter(|q| quads >> q & 1 != 0) {
            let place = place(block, q);
            let corner = [0, 1].map(|k| self.origin[k] + (place[k] / AREA * AREA) as i32);
            let size = coarse.size(of.prim, &of.item.batch.planes, corner, self.layer).0;
            let within = [0, 1].map(|k| (place[k] % AREA / 2) >> size[k]);
            let bit = 1 << (within[1] * 4 + within[0]);
            self.counts[InTile::Coarse] += u64::from(self.packer.asked.1 & bit == 0);
            self.packer.asked.1 |= bit;
        }
    }

    /// As [`Task::shade`], of a draw whose fragments may have several pixels.
    #[cold]
    #[inline(never)]
    pub(super) fn shade_coarse(&mut self, item: &Item, coarse: &Coarse) -> Result<(), Stop> {
        let s = simd::Portable;
        let count = self.packer.count;
        let Some(program) = item.plan.pipeline.fragment.as_deref().filter(|_| count > 0) else {
            return Ok(());
        };
        let plan = &*item.plan;
        let made = Made::new(item, coarse, self.packer, self.origin, self.layer);
        let warps = made.count.div_ceil(4);
        let job = self.job(item, program);
        let mut lanes = self.worker.open(&job)?;
        let (mut exec, mut covered) = ([0u16; 16], [0u16; 16]);
        let c = &mut self.counts;
        c[InTile::Warps] += warps as u64;
        for (w, f) in made.warps[..warps].iter().enumerate() {
            covered[w] = f.covered;
            exec[w] = f.covered;
            if plan.needs_quads {
                exec[w] = (0..4).filter(|q| f.quads >> q & 1 != 0).fold(0, |m, q| m | 0xF << (q * 4));
            }
            c[InTile::Invocations] += u64::from(f.covered.count_ones());
            c[InTile::Shaded] += u64::from(f.quads.count_ones());
            c[InTile::FullWarps] += u64::from(f.quads == 0xF);
            f.fill(s, item, w, &mut lanes);
        }
        lanes.exec()[..16].copy_from_slice(&exec);
        lanes.alive()[..16].copy_from_slice(&covered);
        lanes.run()?;
        let mut alive = [0u16; 16];
        alive.copy_from_slice(&lanes.alive()[..16]);
        let mut room = [const { MaybeUninit::uninit() }; OUTPUTS];
        let of_fragments = outputs(program, &lanes, &mut room);
        // Each pixel takes its fragment's outputs.
        let mut words = vec![[0u32; 16]; of_fragments.len() * count];
        for (row, to) in of_fragments.iter().zip(words.chunks_exact_mut(count)) {
            let mut from = [[0u32; 16]; WARPS];
            for (w, from) in from[..warps].iter_mut().enumerate() {
                // SAFETY: the outputs have a row for each warp.
                vector::store(s, from, unsafe { row.words(s, w) });
            }
            for (to, of) in to.iter_mut().zip(&made.of) {
                *to = of.map(|n| from[n as usize / 16][n as usize % 16]);
            }
        }
        let rows: Vec<Row> = words.chunks_exact(count).map(|rows| Row::at(rows.as_ptr())).collect();
        for w in 0..count {
            let of = &made.of[w];
            let left = (0..16).filter(|l| alive[of[*l] as usize / 16] >> (of[*l] % 16) & 1 != 0);
            let left = left.fold(0, |m, l| m | 1 << l);
            // SAFETY: the rows hold a warp for each of the packer's, whose quads are the tile's.
            unsafe {
                if self.record.is_some() {
                    self.note_shaded(item, w, left, &rows);
                }
                self.write_quads(s, item, w, left, &rows);
                if self.record.is_some() {
                    self.note_written(item, w);
                }
            }
        }
        self.packer.clear();
        Ok(())
    }

    /// Packs a block's pixels of a draw whose fragments may have several: those of an area are shaded together.
    #[cold]
    pub(in crate::tile) fn pack_coarse(
        &mut self,
        item: &Item,
        prim: u32,
        block: usize,
        masks: &[u16],
    ) -> Result<(), Stop> {
        let per_area = AREA / 4;
        let area = area(prim, block);
        let room = if self.packer.area == Some(area) { 1 } else { per_area * per_area };
        if self.packer.count + room > item.plan.warps {
            self.shade(item)?;
        }
        self.packer.area = Some(area);
        self.packer.put_alone(prim, block, masks);
        if item.smooth() {
            self.packer.warps[self.packer.count - 1].coverage = self.coverage;
        }
        Ok(())
    }
}

const _: () = {
    // Lanes of a block are its quads' pixels, as `Made::add` takes them.
    let mut l = 0;
    while l < 16 {
        assert!(lane_x(l) == l / 4 % 2 * 2 + l % 2 && lane_y(l) == l / 8 * 2 + l % 4 / 2);
        l += 1;
    }
};

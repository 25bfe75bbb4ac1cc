//! What tiles count while a draw is drawn in them.

use crate::state::Rect;
use counters::By;
use shader::cost::COUNTED;
use simd::{Simd, ops};
use texel::vector;

counters::names! {
    /// What is counted of a draw in a tile.
    pub InTile {
        /// Primitives that entered the rasteriser: each in as many of the modelled GPU's tiles as it touches.
        Primitives,
        /// Quads that came out of it.
        Quads,
        /// Of these, quads with a sample that is not covered.
        Partial,
        /// Quads of fragments that they ask for, where fragments may have several pixels.
        Coarse,
        /// Quads tested for depth or stencil before shading.
        EarlyTested,
        /// Of these, quads that could update the depth or stencil attachment.
        EarlyUpdated,
        /// Of these, quads that the tests killed whole.
        EarlyKilled,
        /// Quads tested for depth or stencil after shading.
        LateTested,
        /// Of these, quads that the tests killed whole.
        LateKilled,
        /// Quads that were not shaded because a later opaque one covers them.
        Hidden,
        /// Samples that passed all tests.
        Passed,
        /// Fragment shader invocations that cover a sample.
        Invocations,
        /// Fragment warps.
        Warps,
        /// Of these, warps with all sixteen lanes.
        FullWarps,
        /// Quads shaded.
        Shaded,
        /// Quads blended or written, by attachment and sample.
        Blended,
        /// Of the primitives, those whose vertices are shaded in the region.
        Deferred,
        /// These vertices.
        Vertices,
        /// Their warps.
        VertexWarps,
        /// Of these, warps with all sixteen lanes.
        FullVertexWarps,
    }
}

/// What one draw counts in one tile.
pub type TileCounts = By<InTile, { InTile::COUNT }>;

/// Quads with a lane in `m`.
#[inline(always)]
pub fn quads(m: u16) -> u64 {
    ((m | m >> 1 | m >> 2 | m >> 3) & 0x1111).count_ones() as u64
}
/// Quads all of whose lanes are in `m`.
#[inline(always)]
pub fn whole_quads(m: u16) -> u64 {
    (m & m >> 1 & m >> 2 & m >> 3 & 0x1111).count_ones() as u64
}
/// Quads with a lane in one of the samples' masks.
#[inline(always)]
pub fn any_quads(masks: &[u16]) -> u64 {
    quads(masks.iter().fold(0, |a, m| a | m))
}

/// A block's quads come out of the rasteriser; `masks` by sample.
#[inline(always)]
pub fn rasterised(c: &mut TileCounts, masks: &[u16]) {
    if !COUNTED {
        return;
    }
    let n = any_quads(masks);
    c[InTile::Quads] += n;
    c[InTile::Partial] += n - whole_quads(masks.iter().fold(!0, |a, m| a & m));
}

/// What comes of a primitive's quads with one sample a pixel that depth alone tests before shading.
#[derive(Default)]
pub struct Tested {
    /// Out of the rasteriser; whole ones of these; those that later draws hide, which are not tested.
    pub quads: u64,
    pub whole: u64,
    pub hidden: u64,
    pub killed: u64,
    pub updated: u64,
    /// Samples.
    pub passed: u64,
}

impl Tested {
    #[inline(always)]
    pub fn add_to(&self, c: &mut TileCounts) {
        if COUNTED {
            c[InTile::Quads] += self.quads;
            c[InTile::Partial] += self.quads - self.whole;
        }
        c[InTile::Hidden] += self.hidden;
        c[InTile::EarlyTested] += self.quads - self.hidden;
        c[InTile::EarlyKilled] += self.killed;
        c[InTile::EarlyUpdated] += self.updated;
        c[InTile::Passed] += self.passed;
    }
}

/// What comes of a primitive's blocks with one sample a pixel, several of them counted at once: lanes that come out of the
/// rasteriser, and those that are shaded; the others are hidden.
#[derive(Default)]
pub struct Seen {
    covered: u64,
    left: u64,
    blocks: u32,
    quads: u64,
    partial: u64,
    hidden: u64,
    gone: u64,
}

impl Seen {
    #[inline(always)]
    pub fn block(&mut self, covered: u16, left: u16) {
        if self.blocks == 4 {
            self.count();
        }
        self.covered = self.covered << 16 | covered as u64;
        self.left = self.left << 16 | left as u64;
        self.blocks += 1;
    }

    #[inline(always)]
    fn count(&mut self) {
        const FIRST: u64 = 0x1111_1111_1111_1111;
        let some = |m: u64| ((m | m >> 1 | m >> 2 | m >> 3) & FIRST).count_ones() as u64;
        let whole = |m: u64| (m & m >> 1 & m >> 2 & m >> 3 & FIRST).count_ones() as u64;
        let (m, left) = (std::mem::take(&mut self.covered), std::mem::take(&mut self.left));
        self.blocks = 0;
        let quads = some(m);
        self.quads += quads;
        self.partial += quads - whole(m);
        self.hidden += quads - some(left);
        self.gone += (m & !left).count_ones() as u64;
    }

    #[inline(always)]
    pub fn add_to(mut self, c: &mut TileCounts, all_pass: bool) {
        self.count();
        if COUNTED {
            c[InTile::Quads] += self.quads;
            c[InTile::Partial] += self.partial;
        }
        c[InTile::Hidden] += self.hidden;
        c[InTile::Passed] += if all_pass { self.gone } else { 0 };
    }
}

/// As [`Seen`], of four blocks a primitive and of eight primitives at once.
#[derive(Default)]
pub struct SeenFours {
    covered: [u64; 8],
    left: [u64; 8],
    len: usize,
    /// Quads, partial ones, hidden ones and pixels that are gone, by lane.
    sums: [[u32; 16]; 4],
}

impl SeenFours {
    #[inline(always)]
    pub fn four<S: Simd>(&mut self, s: S, covered: u64, left: u64) {
        let at = self.len % 8;
        (self.covered[at], self.left[at]) = (covered, left);
        self.len = at + 1;
        if at == 7 {
            self.count(s);
        }
    }

    #[inline(always)]
    fn count<S: Simd>(&mut self, s: S) {
        let m = vector::load(s, bytemuck::cast_ref(&self.covered));
        let left = vector::load(s, bytemuck::cast_ref(&self.left));
        let (first, pairs) = (s.isplat(0x1111_1111), s.isplat(0x3333_3333));
        let two = s.iand(m, ops::shr(s, m, 1));
        let whole = s.iand(s.iand(two, ops::shr(s, two, 2)), first);
        let gone = s.iandn(left, m);
        let gone = s.isub(gone, s.iand(ops::shr(s, gone, 1), s.isplat(0x5555_5555)));
        let gone = s.iadd(s.iand(gone, pairs), s.iand(ops::shr(s, gone, 2), pairs));
        // Whole quads are some of the quads, and those that are left of those that there were.
        let quads = some(s, m);
        let own = [quads, s.isub(quads, whole), s.isub(quads, some(s, left)), gone];
        for (to, fours) in self.sums.iter_mut().zip(own) {
            let before = vector::load(s, to);
            vector::store(s, to, s.iadd(before, sum(s, fours)));
        }
    }

    #[inline(always)]
    pub fn add_to<S: Simd>(mut self, s: S, c: &mut TileCounts, all_pass: bool) {
        self.covered[self.len..].fill(0);
        self.left[self.len..].fill(0);
        if self.len < 8 {
            self.count(s);
        }
        let [quads, partial, hidden, gone] = self.sums.map(|own| own.iter().map(|n| *n as u64).sum::<u64>());
        if COUNTED {
            c[InTile::Quads] += quads;
            c[InTile::Partial] += partial;
        }
        c[InTile::Hidden] += hidden;
        c[InTile::Passed] += if all_pass { gone } else { 0 };
    }
}

// (Functions, because closures do not have the CPU features of their function.)

/// Sums of a lane's fours of bits, each no more than 4.
#[inline(always)]
fn sum<S: Simd>(s: S, fours: S::I) -> S::I {
    let bytes = s.isplat(0x0F0F_0F0F);
    let two = s.iadd(s.iand(fours, bytes), s.iand(ops::shr(s, fours, 4), bytes));
    ops::shr(s, s.imul(two, s.isplat(0x0101_0101)), 24)
}

/// The first bit of each four of which a bit is set.
#[inline(always)]
fn some<S: Simd>(s: S, m: S::I) -> S::I {
    let two = s.ior(m, ops::shr(s, m, 1));
    s.iand(s.ior(two, ops::shr(s, two, 2)), s.isplat(0x1111_1111))
}

/// All pixels of a rectangle are covered, one sample each, and hidden.
pub fn gone(c: &mut TileCounts, r: &Rect, all_pass: bool) {
    let side =
        |from: i32, to: i32| (((to + 1) / 2 - from / 2) as u64, (to / 2 - (from + 1) / 2).max(0) as u64);
    let ((w, whole_w), (h, whole_h)) = (side(r.x0, r.x1), side(r.y0, r.y1));
    c[InTile::Quads] += w * h;
    c[InTile::Partial] += w * h - whole_w * whole_h;
    c[InTile::Hidden] += w * h;
    c[InTile::Passed] += if all_pass { ((r.x1 - r.x0) * (r.y1 - r.y0)) as u64 } else { 0 };
}

/// Pixels are covered and hidden, one sample each.
#[inline(always)]
pub fn hidden(c: &mut TileCounts, mask: u16, all_pass: bool) {
    c[InTile::Passed] += if all_pass { mask.count_ones() as u64 } else { 0 };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quads_of_a_rectangle() {
        let gone = |x0, y0, x1, y1| {
            let mut c = TileCounts::default();
            super::gone(&mut c, &Rect { x0, y0, x1, y1 }, true);
            assert_eq!(c[InTile::Passed] as i32, (x1 - x0) * (y1 - y0));
            (c[InTile::Quads], c[InTile::Partial], c[InTile::Hidden])
        };
        assert_eq!(gone(0, 0, 64, 64), (1024, 0, 1024));
        // One pixel; a row of three, which touches two quads.
        assert_eq!(gone(5, 7, 6, 8), (1, 1, 1));
        assert_eq!(gone(0, 0, 3, 1), (2, 2, 2));
        // 1 to 6 by 2 to 6: quads 0 to 2 by 1 to 2, of which columns 1 and 2 are whole.
        assert_eq!(gone(1, 2, 6, 6), (6, 2, 6));
    }
}

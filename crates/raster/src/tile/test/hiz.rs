//! Hierarchical Z: bounds of the depths in each block of a tile, so that whole blocks and tiles of a primitive fail without a look at their
//! pixels.

use crate::layout::{BLOCKS, SIDE};
use crate::tile::test::depth::Tests;
use ash::vk::CompareOp as C;
use simd::Simd;
use std::hint::select_unpredictable;
use texel::vector;

/// Bounds of what is stored: every sample of block b lies in `low[b] ..= high[b]`.
pub struct Hiz {
    low: [f32; BLOCKS],
    high: [f32; BLOCKS],
    /// Bounds over the tile; to be made anew while `stale`.
    all: [f32; 2],
    stale: bool,
    /// The depth attachment that these are of.
    pub of: Option<u32>,
}

/// Whether depths between `z[0]` and `z[1]` all fail against any between `low` and `high`.
#[inline(always)]
fn fails(op: C, z: [f32; 2], low: f32, high: f32) -> bool {
    match op {
        C::NEVER => true,
        C::LESS => z[0] >= high,
        C::LESS_OR_EQUAL => z[0] > high,
        C::GREATER => z[1] <= low,
        C::GREATER_OR_EQUAL => z[1] < low,
        C::EQUAL => z[0] > high || z[1] < low,
        _ => false,
    }
}

impl Default for Hiz {
    /// Nothing is known.
    fn default() -> Self {
        let all = [f32::NEG_INFINITY, f32::INFINITY];
        Hiz { low: [all[0]; BLOCKS], high: [all[1]; BLOCKS], all, stale: false, of: None }
    }
}

impl Hiz {
    /// Nothing is known of attachment `of`.
    pub fn forget(&mut self, of: Option<u32>) {
        self.reset(of, f32::NEG_INFINITY, f32::INFINITY);
    }
    /// All of attachment `of` lies between the bounds.
    pub fn reset(&mut self, of: Option<u32>, low: f32, high: f32) {
        self.low.fill(low);
        self.high.fill(high);
        (self.all, self.stale, self.of) = ([low, high], false, of);
    }
    /// Depth will be written late, under test `t`: what stays true of the bounds.
    pub fn written_late(&mut self, t: &Tests) {
        if !matches!(t.compare, C::GREATER | C::GREATER_OR_EQUAL) {
            self.low.fill(f32::NEG_INFINITY);
            self.all[0] = f32::NEG_INFINITY;
        }
        if !matches!(t.compare, C::LESS | C::LESS_OR_EQUAL) {
            self.high.fill(f32::INFINITY);
            self.all[1] = f32::INFINITY;
        }
    }

    /// True if depths between the two fail everywhere in the tile.
    pub fn tile_fails(&mut self, t: &Tests, z: [f32; 2]) -> bool {
        if std::mem::take(&mut self.stale) {
            let mut all = [f32::INFINITY, f32::NEG_INFINITY];
            for (l, h) in self.low.iter().zip(&self.high) {
                all = [if *l < all[0] { *l } else { all[0] }, if *h > all[1] { *h } else { all[1] }];
            }
            self.all = all;
        }
        fails(t.compare, z, self.all[0], self.all[1])
    }
    /// True if depths between the two pass everywhere in the tile; after [`Self::tile_fails`].
    pub fn tile_passes(&self, t: &Tests, z: [f32; 2]) -> bool {
        let [low, high] = self.all;
        // What is no number passes nowhere here.
        z[0] <= z[1]
            && match t.compare {
                C::ALWAYS => true,
                C::LESS => z[1] < low,
                C::LESS_OR_EQUAL => z[1] <= low,
                C::GREATER => z[0] > high,
                C::GREATER_OR_EQUAL => z[0] >= high,
                C::NOT_EQUAL => z[0] > high || z[1] < low,
                _ => false,
            }
    }
    /// Depths between the two were written to the whole tile.
    pub fn wrote_tile(&mut self, z: [f32; 2]) {
        (self.all, self.stale) = (z, false);
    }
    /// Of a tile that was written wholly: bounds of a row's blocks.
    pub fn wrote_row(&mut self, row: usize, low: &[f32; SIDE], high: &[f32; SIDE]) {
        self.low[row * SIDE..][..SIDE].copy_from_slice(low);
        self.high[row * SIDE..][..SIDE].copy_from_slice(high);
    }
    #[inline(always)]
    pub fn block_fails(&self, t: &Tests, block: usize, z: [f32; 2]) -> bool {
        fails(t.compare, z, self.low[block], self.high[block])
    }

    /// [`Self::block_fails`] of each block of a row, with bounds for each.
    #[inline(always)]
    pub fn row_fails<S: Simd>(&self, s: S, t: &Tests, row: usize, low: S::F, high: S::F) -> u16 {
        // SAFETY: a row's sixteen blocks.
        let of =
            |all: &[f32; BLOCKS]| s.from_bits(unsafe { s.iloadu(all[row * SIDE..][..SIDE].as_ptr().cast()) });
        let (below, above) = (of(&self.low), of(&self.high));
        s.mbits(match t.compare {
            C::NEVER => return 0xFFFF,
            C::LESS => s.fle(above, low),
            C::LESS_OR_EQUAL => s.flt(above, low),
            C::GREATER => s.fle(high, below),
            C::GREATER_OR_EQUAL => s.flt(high, below),
            C::EQUAL => s.mor(s.flt(above, low), s.flt(high, below)),
            _ => return 0,
        })
    }

    /// The blocks of a row where depths between bounds for each all pass.
    #[inline(always)]
    pub fn row_passes<S: Simd>(&self, s: S, t: &Tests, row: usize, low: S::F, high: S::F) -> u16 {
        // SAFETY: a row's sixteen blocks.
        let of =
            |all: &[f32; BLOCKS]| s.from_bits(unsafe { s.iloadu(all[row * SIDE..][..SIDE].as_ptr().cast()) });
        let (below, above) = (of(&self.low), of(&self.high));
        let passes = match t.compare {
            C::ALWAYS => return 0xFFFF,
            C::LESS => s.flt(high, below),
            C::LESS_OR_EQUAL => s.fle(high, below),
            C::GREATER => s.flt(above, low),
            C::GREATER_OR_EQUAL => s.fle(above, low),
            C::NOT_EQUAL => s.mor(s.flt(above, low), s.flt(high, below)),
            _ => return 0,
        };
        // Between bounds one of which is no number there may be others.
        s.mbits(s.mand(passes, s.fle(low, high)))
    }

    /// Depths between the two were written to some samples of a block, or to all of them.
    #[inline(always)]
    pub fn wrote(&mut self, block: usize, z: [f32; 2], all: bool) {
        let (l, h) = (&mut self.low[block], &mut self.high[block]);
        // What is no number lies between no bounds.
        let z = if z[0] <= z[1] { z } else { [f32::NEG_INFINITY, f32::INFINITY] };
        // No branch: the CPU cannot predict whether it is all of a block.
        let low = if z[0] < *l { z[0] } else { *l };
        let high = if z[1] > *h { z[1] } else { *h };
        *l = select_unpredictable(all, z[0], low);
        *h = select_unpredictable(all, z[1], high);
        self.stale = true;
    }

    /// Depths that passed test `t` were written to some samples of a block.
    #[inline(always)]
    pub fn wrote_somehow(&mut self, t: &Tests, block: usize) {
        if !matches!(t.compare, C::GREATER | C::GREATER_OR_EQUAL) {
            self.low[block] = f32::NEG_INFINITY;
            self.all[0] = f32::NEG_INFINITY;
        }
        if !matches!(t.compare, C::LESS | C::LESS_OR_EQUAL) {
            self.high[block] = f32::INFINITY;
            self.all[1] = f32::INFINITY;
        }
    }

    /// [`Self::wrote`] of all samples of some blocks of a row, with bounds for each.
    #[inline(always)]
    pub fn wrote_blocks<S: Simd>(
        &mut self,
        s: S,
        row: usize,
        blocks: u16,
        low: &[f32; SIDE],
        high: &[f32; SIDE],
    ) {
        let (low, high) = (vector::floats(s, low), vector::floats(s, high));
        let (known, some) = (s.fle(low, high), s.mask(blocks));
        let low = s.fsel(known, low, s.fsplat(f32::NEG_INFINITY));
        let high = s.fsel(known, high, s.fsplat(f32::INFINITY));
        for (all, z) in [(&mut self.low, low), (&mut self.high, high)] {
            if let Some(all) = all.as_chunks_mut::<SIDE>().0.get_mut(row) {
                let z = s.fsel(some, z, vector::floats(s, all));
                vector::store_floats(s, all, z);
            }
        }
        self.stale = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_follow_writes() {
        let less = Tests::plain(C::LESS);
        let mut h = Hiz::default();
        h.reset(None, 1.0, 1.0);
        assert!(!h.tile_fails(&less, [0.2, 0.3]) && h.tile_fails(&less, [1.0, 1.5]));
        (0..BLOCKS).for_each(|b| h.wrote(b, [0.2, 0.3], b != 7));
        assert!(h.block_fails(&less, 3, [0.3, 0.4]) && !h.block_fails(&less, 3, [0.29, 0.4]));
        assert!(!h.block_fails(&less, 7, [0.9, 0.95]) && h.block_fails(&less, 7, [1.0, 1.0]));
        assert!(!h.tile_fails(&less, [0.9, 0.95]));
        h.wrote(7, [0.25, 0.25], true);
        assert!(h.tile_fails(&less, [0.3, 0.95]));
        let greater = Tests::plain(C::GREATER);
        assert!(h.tile_fails(&greater, [0.0, 0.2]) && !h.tile_fails(&greater, [0.0, 0.21]));
        h.written_late(&less);
        assert!(h.tile_fails(&less, [0.3, 0.95]) && !h.tile_fails(&greater, [0.0, 0.2]));
    }

    /// A row at once says what each block says.
    #[test]
    fn a_row_fails_as_its_blocks_do() {
        use simd::Portable as P;
        let mut h = Hiz::default();
        let step = |i: usize, n: usize| (i * n % 7) as f32 / 4.0 - 0.5;
        (0..BLOCKS).for_each(|b| h.wrote(b, [step(b, 3), step(b, 3) + step(b, 2).abs()], true));
        let low: [f32; SIDE] = std::array::from_fn(|i| step(i, 5));
        let high: [f32; SIDE] =
            std::array::from_fn(|i| if i == 9 { f32::NAN } else { low[i] + step(i, 4).abs() });
        let (mut seen, mut passed) = ([false; 2], 0);
        for op in (0..8).map(C::from_raw) {
            let t = Tests::plain(op);
            for row in 0..SIDE {
                let (got, passes) = {
                    use simd::ops::f_from;
                    let [low, high] = [f_from(P, low), f_from(P, high)];
                    (h.row_fails(P, &t, row, low, high), h.row_passes(P, &t, row, low, high))
                };
                for i in 0..SIDE {
                    let want = h.block_fails(&t, row * SIDE + i, [low[i], high[i]]);
                    assert_eq!(got >> i & 1 != 0, want, "{op:?}, block {i} of row {row}");
                    seen[want as usize] = true;
                    let b = row * SIDE + i;
                    let (stored, z) = ([h.low[b], h.high[b]], [low[i], high[i]]);
                    let all = z.iter().all(|z| stored.iter().all(|old| t.passes_one(*z, *old)));
                    let ends = passes >> i & 1 != 0;
                    assert!(!ends || all, "{op:?}, block {i} of row {row}");
                    passed += ends as u32;
                }
            }
        }
        assert_eq!(seen, [true; 2]);
        assert!(passed > 300, "{passed}");
    }
}

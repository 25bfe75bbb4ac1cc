//! Packs covered quads, of several primitives, into one wave of fragments.
//!
//! Warps are blended in their order, so a quad may join the open warp only if no later warp holds the same pixels
//! already. A block most of whose quads are covered takes a warp of its own, whose pixels lie one after the other.

use super::cover::MAX_SAMPLES;
use super::layout::PIXELS;
use super::run::Places;

/// The most warps of a wave.
pub const WARPS: usize = 16;

/// Masks of a block whose pixels' only sample is covered.
pub const FULL: [u16; MAX_SAMPLES] = {
    let mut m = [0; MAX_SAMPLES];
    m[0] = 0xFFFF;
    m
};

/// Quads waiting to be shaded.
pub struct Packer {
    pub count: usize,
    /// Warps that are not full.
    pub warps: [Slot; WARPS],
    /// Warps that are blocks wholly covered by one primitive, one sample a pixel (a bit each): primitive and block. Their
    /// slots are not used.
    pub full: u16,
    pub prims: [u32; WARPS],
    pub blocks: [u8; WARPS],
    pub places: Places,
    /// Warp (counted from 1) that last took each quad of the tile; 0: none in this wave.
    last: [u8; PIXELS / 4],
    /// The warp that takes single quads, and how many it has.
    open: Option<(usize, usize)>,
    touched: bool,
}

#[derive(Clone, Copy)]
pub struct Slot {
    /// Primitive of each quad (those not in use repeat the first).
    pub prims: [u32; 4],
    /// First pixel of each quad.
    pub pixels: [u16; 4],
    /// Quads in use.
    pub quads: u8,
    /// The pixels of all four are consecutive.
    pub dense: bool,
    pub sample: Option<u8>,
    pub masks: [u16; MAX_SAMPLES],
    /// Smooth lines: covered sixteenths of each pixel, which scale its alpha.
    pub coverage: [u8; 16],
}

impl Packer {
    pub fn new() -> Box<Packer> {
        Box::new(Packer {
            count: 0,
            warps: [Slot {
                prims: [0; 4],
                pixels: [0; 4],
                quads: 0,
                dense: false,
                sample: None,
                masks: [0; MAX_SAMPLES],
                coverage: [16; 16],
            }; WARPS],
            full: 0,
            prims: [0; WARPS],
            blocks: [0; WARPS],
            places: Places::EMPTY,
            last: [0; PIXELS / 4],
            open: None,
            touched: false,
        })
    }

    pub fn clear(&mut self) {
        self.count = 0;
        self.full = 0;
        self.open = None;
        if std::mem::take(&mut self.touched) {
            self.last.fill(0);
        }
    }

    /// True when one of the block's quads is in this wave already.
    pub fn overlaps(&self, block: usize, quads: u8) -> bool {
        (0..4).any(|q| quads >> q & 1 != 0 && self.last[block * 4 + q] != 0)
    }

    /// Adds a block that is covered wholly, one sample a pixel. False when the wave must be shaded first.
    #[inline]
    pub fn add_full(&mut self, capacity: usize, prim: u32, block: usize) -> bool {
        let w = self.count;
        if w >= capacity {
            return false;
        }
        self.touched = true;
        self.count = w + 1;
        self.full |= 1 << w;
        self.prims[w] = prim;
        self.blocks[w] = block as u8;
        self.last[block * 4..block * 4 + 4].fill(w as u8 + 1);
        true
    }

    /// Adds blocks from `block` on, each as [`Self::add_full`]; how many of `most` there was room for.
    #[inline]
    pub fn add_stretch(&mut self, capacity: usize, prim: u32, block: usize, most: usize) -> usize {
        let first = self.count;
        let n = capacity.saturating_sub(first).min(most);
        for i in 0..n {
            self.add_full(capacity, prim, block + i);
        }
        n
    }

    /// Adds a block's covered quads; `masks` by sample. False when the wave must be shaded first (nothing has been added
    /// then).
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub fn add(
        &mut self,
        capacity: usize,
        prim: u32,
        block: usize,
        quads: u8,
        masks: &[u16],
        sample: Option<u8>,
        coverage: Option<&[u8; 16]>,
    ) -> bool {
        self.touched = true;
        let last = &mut self.last[block * 4..block * 4 + 4];
        if quads.count_ones() >= 3 || sample.is_some() {
            if self.count == capacity {
                return false;
            }
            let w = self.count;
            self.count += 1;
            let base = block as u16 * 16;
            let s = &mut self.warps[w];
            (s.prims, s.pixels) = ([prim; 4], [base, base + 4, base + 8, base + 12]);
            (s.quads, s.dense, s.sample) = (quads, true, sample);
            s.masks[..masks.len()].copy_from_slice(masks);
            if let Some(c) = coverage {
                s.coverage = *c;
            }
            for (q, last) in last.iter_mut().enumerate() {
                if quads >> q & 1 != 0 {
                    *last = w as u8 + 1;
                }
            }
            return true;
        }
        // All or nothing: two quads need one more warp at most.
        let mut left = quads;
        let (mut w, mut n) = self.open.unwrap_or((0, 4));
        let crowded =
            n + quads.count_ones() as usize > 4 || (0..4).any(|q| quads >> q & 1 != 0 && last[q] > w as u8);
        if crowded && self.count == capacity {
            return false;
        }
        while left != 0 {
            let q = left.trailing_zeros() as usize;
            if n == 4 || last[q] > w as u8 {
                (w, n) = (self.count, 0);
                self.count += 1;
                let s = &mut self.warps[w];
                (s.prims, s.pixels) = ([prim; 4], [block as u16 * 16; 4]);
                (s.quads, s.dense, s.sample) = (0, false, None);
                s.masks[..masks.len()].fill(0);
            }
            left &= left - 1;
            let s = &mut self.warps[w];
            s.prims[n] = prim;
            s.pixels[n] = (block * 16 + q * 4) as u16;
            s.quads |= 1 << n;
            if let Some(c) = coverage {
                s.coverage[n * 4..n * 4 + 4].copy_from_slice(&c[q * 4..q * 4 + 4]);
            }
            for (to, from) in s.masks.iter_mut().zip(masks) {
                *to |= (from >> (q * 4) & 0xF) << (n * 4);
            }
            last[q] = w as u8 + 1;
            n += 1;
        }
        self.open = Some((w, n));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_overlapping_quads_is_kept() {
        let mut p = Packer::new();
        let m = |v: u16| [v];
        assert!(p.add(4, 1, 7, 0b0001, &m(0x000F), None, None));
        // The block as a whole goes to warp 1; its quad 0 then may not join warp 0 again.
        assert!(p.add(4, 2, 7, 0b1111, &m(0xFFFF), None, None));
        assert!(p.add(4, 3, 7, 0b0001, &m(0x0003), None, None));
        assert!(p.add(4, 4, 8, 0b0100, &m(0x0400), None, None));
        assert_eq!(p.count, 3);
        assert_eq!((p.warps[2].prims, p.warps[2].pixels), ([3, 4, 3, 3], [112, 136, 112, 112]));
        assert_eq!((p.warps[2].quads, p.warps[2].masks[0]), (0b11, 0x0043));
        assert!(p.add(4, 5, 9, 0b1110, &m(0xFFF0), None, None));
        assert!(!p.add(4, 6, 9, 0b1000, &m(0xF000), None, None));
        p.clear();
        assert!(p.add(4, 6, 9, 0b1000, &m(0xF000), None, None) && p.count == 1);
    }
}

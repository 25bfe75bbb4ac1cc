//! Packs covered quads, of several primitives, into one wave of fragments.
//!
//! Warps are blended in order, so a quad may join a warp only if neither that warp nor a later one holds the same pixels already. A few warps
//! accept quads at a time: neighbours in a mesh share quads, and the second one's quads go to another warp than the first one's. A block most of
//! whose quads are covered takes a warp of its own, whose pixels are consecutive.

use super::places::Places;
use crate::layout::{BLOCKS, QUADS, WARPS};
use crate::tile::cover::MAX_MASKS;

/// Masks of a block whose pixels' only sample is covered.
pub const FULL: [u16; MAX_MASKS] = {
    let mut m = [0; MAX_MASKS];
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
    last: [u8; QUADS],
    /// Warps that take single quads.
    pub open: Open,
    /// Of fragments of several pixels: the primitive and the area that were packed last.
    pub area: Option<(u32, usize)>,
    /// The same of what came out of the rasteriser, with a bit for each quad of fragments.
    pub asked: (Option<(u32, usize)>, u16),
    touched: bool,
}

/// The fields that packing uses most are in its first cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
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
    /// Smooth lines: covered sixteenths of each pixel, which scale its alpha.
    pub coverage: [u8; 16],
    pub masks: [u16; MAX_MASKS],
}

/// Covered quads of a block.
#[derive(Clone, Copy)]
pub struct Piece<'a> {
    pub prim: u32,
    pub block: usize,
    pub quads: u8,
    /// Lanes by sample.
    pub masks: &'a [u16],
    /// The sample that is shaded, if each is by itself.
    pub sample: Option<u8>,
    /// Smooth lines: covered sixteenths of each pixel.
    pub coverage: Option<&'a [u8; 16]>,
}

impl Slot {
    /// Masks of four samples.
    #[inline(always)]
    fn four(&self) -> u64 {
        (0..4).fold(0, |all, k| all | (self.masks[k] as u64) << (16 * k))
    }
    #[inline(always)]
    fn set_four(&mut self, masks: u64) {
        for k in 0..4 {
            self.masks[k] = (masks >> (16 * k)) as u16;
        }
    }

    /// Where the quads lie in a plane of four bytes a pixel; those of no lane of `mask` are `nowhere`.
    #[inline(always)]
    pub fn quads4(&self, base: *mut u8, mask: u16, nowhere: &mut [u32; 4]) -> [*mut u8; 4] {
        let mut at = [nowhere.as_mut_ptr().cast::<u8>(); 4];
        for q in 0..4 {
            let here = base.wrapping_add(self.pixels[q] as usize * 4);
            at[q] = if mask >> (q * 4) & 0xF != 0 { here } else { at[q] };
        }
        at
    }
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
                masks: [0; MAX_MASKS],
                coverage: [16; 16],
            }; WARPS],
            full: 0,
            prims: [0; WARPS],
            blocks: [0; WARPS],
            places: Places::EMPTY,
            last: [0; QUADS],
            open: Open::default(),
            area: None,
            asked: (None, 0),
            touched: false,
        })
    }

    pub fn clear(&mut self) {
        self.count = 0;
        self.full = 0;
        self.open = Open::default();
        self.area = None;
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
        self.put_full(prim, block);
        self.last[block * 4..block * 4 + 4].fill(w as u8 + 1);
        true
    }

    /// Adds a block that is covered wholly, one sample a pixel, to a wave with room for it that has no pixel of its twice.
    #[inline(always)]
    pub fn put_full(&mut self, prim: u32, block: usize) {
        let w = self.count % WARPS;
        self.count = w + 1;
        self.full |= 1 << w;
        self.prims[w] = prim;
        self.blocks[w] = block as u8;
    }

    /// As [`Self::put_full`], of some quads of a block.
    #[inline(always)]
    pub fn put_block(&mut self, prim: u32, block: usize, quads: u8, mask: u16) {
        let w = self.count % WARPS;
        self.count = w + 1;
        let s = &mut self.warps[w];
        let base = (block * 16) as u16;
        (s.prims, s.pixels) = ([prim; 4], [base, base + 4, base + 8, base + 12]);
        (s.quads, s.dense, s.sample) = (quads, true, None);
        s.masks[0] = mask;
    }

    /// Adds a block to a wave with room for it, in a warp of its own; lanes by sample.
    pub fn put_alone(&mut self, prim: u32, block: usize, masks: &[u16]) {
        let w = self.count % WARPS;
        let quads = crate::layout::quads(masks.iter().fold(0, |any, m| any | m));
        self.put_block(prim, block, quads, 0);
        self.warps[w].masks[..masks.len()].copy_from_slice(masks);
        self.touched = true;
        for q in (0..4).filter(|q| quads >> q & 1 != 0) {
            self.last[block % BLOCKS * 4 + q] = w as u8 + 1;
        }
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

    /// Adds a block's covered quads. False when the wave must be shaded first (nothing has been added then).
    #[inline(always)]
    pub fn add(
        &mut self,
        capacity: usize,
        &Piece { prim, block, quads, masks, sample, coverage }: &Piece,
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
        let last: [u8; 4] = std::array::from_fn(|q| last[q]);
        if self.count == capacity && needs_warp(self.open, quads, &last) {
            return false;
        }
        let mut left = quads;
        while left != 0 {
            let q = left.trailing_zeros() as usize;
            left &= left - 1;
            let mut open = self.open;
            let (w, n) = self.seat(&mut open, last[q], block, prim, masks.len());
            self.open = open;
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
            self.last[block * 4 + q] = w as u8 + 1;
        }
        true
    }

    /// As [`Self::add`], of one sample a pixel.
    #[inline(always)]
    pub fn add_one(&mut self, capacity: usize, prim: u32, block: usize, quads: u8, mask: u16) -> bool {
        if quads.count_ones() >= 3 {
            return self.add_block(capacity, prim, block, quads, mask);
        }
        let mut open = self.open;
        if self.lacks(open, capacity, block, quads) {
            return false;
        }
        let mut left = quads & 0xF;
        while left != 0 {
            let q = left.trailing_zeros() as usize % 4;
            left &= left - 1;
            self.add_quad(&mut open, prim, block * 4 + q, mask >> (q * 4) & 0xF);
        }
        self.open = open;
        true
    }

    /// Adds a block three of whose quads are covered at least. False when the wave must be shaded first.
    #[inline(always)]
    pub fn add_block(&mut self, capacity: usize, prim: u32, block: usize, quads: u8, mask: u16) -> bool {
        self.touched = true;
        let first = block % BLOCKS * 4;
        let w = self.count;
        if w >= capacity {
            return false;
        }
        self.put_block(prim, block, quads, mask);
        let Some(own) = self.last[first..].first_chunk_mut::<4>() else { return true };
        let last = u32::from_le_bytes(*own);
        // A bit a quad to a byte a quad.
        let bits = (quads as u32 & 0xF).wrapping_mul(0x0020_4081) & 0x0101_0101;
        *own = (last & !(bits * 0xFF) | (bits * (w as u32 + 1))).to_le_bytes();
        true
    }

    /// As [`Self::add`], of four samples a pixel: sixteen lanes each.
    #[inline(always)]
    pub fn add_four(&mut self, capacity: usize, prim: u32, block: usize, quads: u8, masks: u64) -> bool {
        const QUAD: u64 = 0x000F_000F_000F_000F;
        let first = block % BLOCKS * 4;
        let Some(last) = self.last[first..].first_chunk::<4>().copied() else { return true };
        let whole = quads.count_ones() >= 3;
        if self.count >= capacity && (whole || needs_warp(self.open, quads, &last)) {
            return false;
        }
        self.touched = true;
        if whole {
            let w = self.count;
            self.put_block(prim, block, quads, masks as u16);
            self.warps[w % WARPS].set_four(masks);
            for q in 0..4 {
                let own = &mut self.last[first + q];
                *own = if quads >> q & 1 != 0 { w as u8 + 1 } else { *own };
            }
            return true;
        }
        let (mut open, mut left) = (self.open, quads & 0xF);
        while left != 0 {
            let q = left.trailing_zeros() as usize % 4;
            left &= left - 1;
            let (w, n) = self.seat(&mut open, last[q], block, prim, 4);
            let s = &mut self.warps[w];
            s.prims[n] = prim;
            s.pixels[n] = (block * 16 + q * 4) as u16;
            s.quads = ((2u32 << n) - 1) as u8;
            s.set_four(s.four() | (masks >> (q * 4) & QUAD) << (n * 4));
            self.last[first + q] = w as u8 + 1;
        }
        self.open = open;
        true
    }

    /// Whether the wave must be shaded before a block's quads, two at most, are added.
    #[inline(always)]
    pub fn lacks(&self, open: Open, capacity: usize, block: usize, quads: u8) -> bool {
        let first = block % BLOCKS * 4;
        let last = self.last[first..].first_chunk::<4>();
        self.count == capacity && last.is_some_and(|last| needs_warp(open, quads, last))
    }

    /// Adds a quad of the tile, of one sample a pixel, for which the wave does not lack room ([`Self::lacks`]). `open`: the packer's,
    /// which the caller keeps in a register while it adds many.
    #[inline(always)]
    pub fn add_quad(&mut self, open: &mut Open, prim: u32, quad: usize, mask: u16) {
        self.touched = true;
        let quad = quad % QUADS;
        let (w, n) = self.seat(open, self.last[quad], quad / 4, prim, 1);
        let s = &mut self.warps[w];
        s.prims[n] = prim;
        s.pixels[n] = (quad * 4) as u16;
        s.quads = ((2u32 << n) - 1) as u8;
        s.masks[0] |= mask << (n * 4);
        self.last[quad] = w as u8 + 1;
    }

    /// A place for a quad in a warp that comes after those before `after`: the warp, and the quad's number there.
    #[inline(always)]
    fn seat(
        &mut self,
        open: &mut Open,
        after: u8,
        block: usize,
        prim: u32,
        samples: usize,
    ) -> (usize, usize) {
        // Warps are in order: if the first vacant one is late enough, it is the one to take.
        let mut vacant = open.vacant();
        if vacant != 0 && open.first(vacant).0 < after as usize {
            vacant &= open.later(after);
        }
        if vacant == 0 {
            let w = self.count;
            self.count = w + 1;
            let s = &mut self.warps[w % WARPS];
            (s.prims, s.pixels) = ([prim; 4], [block as u16 * 16; 4]);
            (s.quads, s.dense, s.sample) = (0, false, None);
            s.masks[..samples].fill(0);
            open.add(w);
            return (w % WARPS, 0);
        }
        let (w, n) = open.first(vacant);
        open.take(vacant);
        (w % WARPS, n)
    }
}

/// Whether a block's quads, two at most, do not all find a place in open warps.
#[inline(never)]
fn needs_warp(mut open: Open, quads: u8, last: &[u8; 4]) -> bool {
    (0..4).filter(|q| quads >> q & 1 != 0).any(|q| match open.vacant() & open.later(last[q]) {
        0 => true,
        vacant => {
            open.take(vacant);
            false
        }
    })
}

/// Warps that take single quads, in their order: sixteen bits each, the warp and how many quads it has. A quad more is one
/// addition, for each quad waits for the one before: the number begins so that the fourth makes the topmost bit, by which a warp is
/// full. Where there is no warp yet there is nothing but that bit.
#[derive(Clone, Copy)]
pub struct Open(u64);

impl Default for Open {
    fn default() -> Open {
        Open(Open::FULL)
    }
}

impl Open {
    const EACH: u64 = 0x0001_0001_0001_0001;
    const FULL: u64 = 0x8000 * Open::EACH;
    /// A quad.
    const QUAD: u64 = 0x100;
    /// No quads yet.
    const NONE: u64 = 0x8000 - 4 * Open::QUAD;

    /// Those that are not full: the topmost bit of each.
    #[inline(always)]
    fn vacant(self) -> u64 {
        !self.0 & Open::FULL
    }

    /// Those that are not before warp `after`, in the same way.
    #[inline(always)]
    fn later(self, after: u8) -> u64 {
        // The bit above each warp's number stays where it is no less.
        let kept = (self.0 & (0xFF * Open::EACH) | (0x100 * Open::EACH)) - after as u64 * Open::EACH;
        kept << 7 & Open::FULL
    }

    /// The first of `vacant`, some of those that are not full: its warp, and how many quads that has.
    #[inline(always)]
    fn first(self, vacant: u64) -> (usize, usize) {
        let own = self.0 >> (vacant.trailing_zeros() & 0x30);
        ((own & 0xFF) as usize, (own >> 8) as usize % 4)
    }

    /// One more quad for the first of `vacant`.
    #[inline(always)]
    fn take(&mut self, vacant: u64) {
        let lowest = vacant & vacant.wrapping_neg();
        self.0 = self.0.wrapping_add(lowest / (0x8000 / Open::QUAD));
    }

    /// Warp `w`, which has one quad, comes after the others. A full one makes room, else the first one.
    #[inline(always)]
    fn add(&mut self, w: usize) {
        let full = self.0 & Open::FULL;
        let at = if full != 0 { full.trailing_zeros() & 0x30 } else { 0 };
        let below = (1u64 << at) - 1;
        let others = self.0 & below | self.0 >> 16 & !below & !(0xFFFF << 48);
        self.0 = others | (w as u64 | (Open::NONE + Open::QUAD)) << 48;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Packer {
        fn add_piece(&mut self, capacity: usize, prim: u32, block: usize, quads: u8, masks: &[u16]) -> bool {
            self.add(capacity, &Piece { prim, block, quads, masks, sample: None, coverage: None })
        }
    }

    /// Four samples at once are packed as four one after the other.
    #[test]
    fn four_samples_as_any_number() {
        let (mut a, mut b) = (Packer::new(), Packer::new());
        let mut x = 3u32;
        let mut random = move |n: u32| {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            (x >> 8) % n
        };
        let mut full = 0;
        for i in 0..20_000 {
            let (block, quads) = (random(9) as usize, 1 + random(15) as u8);
            let masks = [(); 4].map(|()| {
                (0..4)
                    .fold(0, |m, q| m | if quads >> q & 1 != 0 { (random(16) as u16) << (4 * q) } else { 0 })
            });
            let all = masks.iter().rev().fold(0, |all, m| all << 16 | *m as u64);
            let added = a.add_piece(5, i, block, quads, &masks);
            assert_eq!(b.add_four(5, i, block, quads, all), added, "{i}");
            assert_eq!((a.count, a.last), (b.count, b.last), "{i}");
            for (a, b) in a.warps[..a.count].iter().zip(&b.warps) {
                let of = |s: &Slot| (s.prims, s.pixels, s.quads, s.dense, s.sample, s.four());
                assert_eq!(of(a), of(b), "{i}");
            }
            if !added {
                full += 1;
                a.clear();
                b.clear();
            }
        }
        assert!(full > 100);
    }

    #[test]
    fn order_of_overlapping_quads_is_kept() {
        let mut p = Packer::new();
        let m = |v: u16| [v];
        assert!(p.add_piece(4, 1, 7, 0b0001, &m(0x000F)));
        // The block as a whole goes to warp 1; its quad 0 then may not join warp 0 again.
        assert!(p.add_piece(4, 2, 7, 0b1111, &m(0xFFFF)));
        assert!(p.add_piece(4, 3, 7, 0b0001, &m(0x0003)));
        assert!(p.add_piece(4, 4, 8, 0b0100, &m(0x0400)));
        assert_eq!(p.count, 3);
        // Another block's quad finds room in warp 0.
        assert_eq!((p.warps[0].prims, p.warps[0].pixels), ([1, 4, 1, 1], [112, 136, 112, 112]));
        assert_eq!((p.warps[0].quads, p.warps[0].masks[0]), (0b11, 0x004F));
        assert_eq!((p.warps[2].prims, p.warps[2].quads, p.warps[2].masks[0]), ([3; 4], 1, 3));
        assert!(p.add_piece(4, 5, 9, 0b1110, &m(0xFFF0)));
        assert!(!p.add_piece(4, 6, 9, 0b1000, &m(0xF000)));
        p.clear();
        // Primitives that share quads one after the other fill two warps, not one each.
        for i in 0..8 {
            assert!(p.add_piece(4, i, 3 + i as usize / 2, 1, &m(1 << (i & 1))));
        }
        assert_eq!((p.count, p.warps[0].prims, p.warps[1].prims), (2, [0, 2, 4, 6], [1, 3, 5, 7]));
        // Two quads with one place between them open a warp, or have none.
        p.clear();
        assert!(p.add_piece(1, 1, 1, 0b0111, &m(0x0FFF)) && !p.add_piece(1, 1, 2, 1, &m(1)));
        p.clear();
        for i in 0..3 {
            assert!(p.add_piece(1, i, i as usize, 1, &m(1)));
        }
        assert!(!p.add_piece(1, 3, 9, 0b0011, &m(0x11)) && p.warps[0].quads == 0b111);
        assert!(p.add_piece(2, 3, 9, 0b0011, &m(0x11)));
        assert_eq!((p.count, p.warps[0].prims, p.warps[1].prims), (2, [0, 1, 2, 3], [3; 4]));
        p.clear();
        assert!(p.add_piece(4, 6, 9, 0b1000, &m(0xF000)) && p.count == 1);
    }
}

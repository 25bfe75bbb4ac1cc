//! Blocks whose samples are all alike. For an attachment with several samples, a tile keeps a bit for each block of sixteen pixels. While the
//! bit is set, sample 0 holds the colours of all samples, and the other samples' pixels are undefined. A primitive that covers the block wholly
//! is then blended and written once, and a clear fills one sample. Only what covers some of the samples (an edge) first gives each sample its own
//! colours. The bits are stored in the tile buffer after the plane's pixels.

use crate::layout::{BLOCKS, Blocks, PIXELS};
use crate::tile::memory::plane::{Plane, PlaneKind};

/// Bytes that the bits take, a cache line.
const BYTES: usize = 64;

impl Plane {
    /// Whether it has such bits.
    #[inline(always)]
    pub(in crate::tile) fn has_alike(&self) -> bool {
        self.samples > 1 && self.kind == PlaneKind::Color
    }
    /// What they take in the tile buffer.
    pub(in crate::tile) fn alike_bytes(&self) -> usize {
        if self.has_alike() { BYTES } else { 0 }
    }
    /// The bits, of a plane that has such.
    ///
    /// # Safety
    /// `tile` is a tile buffer laid out for this plane; nobody else uses it while they are borrowed.
    #[inline(always)]
    pub(in crate::tile) unsafe fn alike<'t>(&self, tile: *mut u8) -> Option<&'t mut Blocks> {
        // SAFETY: after the plane's pixels, whose size is a multiple of a cache line, as the tile begins with one.
        self.has_alike().then(|| unsafe {
            &mut *tile.add(self.at + PIXELS * self.bytes * self.samples as usize).cast::<Blocks>()
        })
    }
    /// Says of all blocks whether their samples are alike.
    ///
    /// # Safety
    /// As [`Self::alike`].
    pub(in crate::tile) unsafe fn set_alike(&self, tile: *mut u8, all: bool) {
        // SAFETY: the caller's.
        if let Some(bits) = unsafe { self.alike(tile) } {
            bits.fill(if all { !0 } else { 0 });
        }
    }
    /// The sample that has the value of sample `s` of a block.
    ///
    /// # Safety
    /// As [`Self::alike`].
    #[inline(always)]
    pub(in crate::tile) unsafe fn sample_in(&self, tile: *mut u8, s: u32, block: usize) -> u32 {
        // SAFETY: the caller's.
        let alike = unsafe { self.alike(tile) };
        if alike.is_some_and(|bits| has(bits, block)) { 0 } else { s }
    }
    /// Samples that have to be gone through where all of a pixel's are to be changed.
    ///
    /// # Safety
    /// As [`Self::alike`].
    #[inline(always)]
    pub(in crate::tile) unsafe fn samples_in(&self, tile: *mut u8, block: usize) -> u32 {
        // SAFETY: the caller's.
        unsafe { self.sample_in(tile, self.samples - 1, block) + 1 }
    }
    /// Gives each sample of a block its own value.
    ///
    /// # Safety
    /// As [`Self::alike`].
    pub(in crate::tile) unsafe fn part(&self, tile: *mut u8, block: usize) {
        // SAFETY: the caller's tile, of which the samples lie apart (all of it).
        unsafe {
            let Some(bits) = self.alike(tile).filter(|bits| has(bits, block)) else { return };
            bits[block / 64] &= !(1 << (block % 64));
            let (at, n) = (block * 16 * self.bytes, 16 * self.bytes);
            let from = self.sample(tile, 0).add(at);
            for s in 1..self.samples {
                self.sample(tile, s).add(at).copy_from_nonoverlapping(from, n);
            }
        }
    }
    /// The sample that stands for each of a tile that is stored: sample 0 for all, if all blocks' samples are alike; otherwise each has
    /// its own value from now on.
    ///
    /// # Safety
    /// As [`Self::alike`].
    pub(in crate::tile) unsafe fn stored_samples(&self, tile: *mut u8) -> u32 {
        // SAFETY: the caller's.
        unsafe {
            match self.alike(tile) {
                Some(bits) if bits.iter().all(|w| *w == !0) => 1,
                Some(_) => {
                    (0..BLOCKS).for_each(|b| self.part(tile, b));
                    self.samples
                }
                None => self.samples,
            }
        }
    }

    /// Makes ready what is written next, quads of blocks by masks of samples: if those are the same for all samples, and all of these blocks'
    /// samples are alike, it is enough to write sample 0, and the answer is true.
    ///
    /// # Safety
    /// As [`Self::alike`]; the quads' first pixels are the tile's.
    #[inline(never)]
    pub(in crate::tile) unsafe fn one_for_all(
        &self,
        tile: *mut u8,
        masks: &[u16],
        pixels: &[u16; 4],
    ) -> bool {
        // SAFETY: the caller's (all of it).
        unsafe {
            let Some(bits) = self.alike(tile) else { return false };
            let any = masks.iter().fold(0, |any, m| any | m);
            let used = |q: &usize| any >> (4 * q) & 0xF != 0;
            let block = |q: usize| pixels[q] as usize / 16 % BLOCKS;
            let same = masks.len() == self.samples as usize && masks.iter().all(|m| *m == any);
            if same && (0..4).filter(used).all(|q| has(bits, block(q))) {
                return true;
            }
            (0..4).filter(used).for_each(|q| self.part(tile, block(q)));
            false
        }
    }
}

#[inline(always)]
pub(in crate::tile) fn has(bits: &Blocks, block: usize) -> bool {
    bits[block / 64 % (BLOCKS / 64)] >> (block % 64) & 1 != 0
}

//! Levels in sparse image blocks: how these lie, and which lanes' texels are in blocks without memory.
//!
//! Texels of a block lie as in a small image, so that a block is a tile of its level where it lies ([`super::tile`]): kernels of waves sample it as a
//! level in rows. Warps that reach across a block's edge find each lane's block ([`super::unit`]).

use super::{Fast, LEVELS, Reads};
use crate::memory::sparse::BLOCK;
use crate::sample::args::SampleArgs;
use crate::sample::sampler::Sampler;
use crate::sample::view::{ImageView, Level};

/// How far sparse image blocks lie apart beyond the pitches of texels ([`crate::image::Split`]), by axis: a lane a level.
#[derive(Clone, Copy, PartialEq)]
pub struct Splits {
    /// log2 of a block's sides.
    pub shift: [[u32; 16]; 2],
    pub extra: [[u32; 16]; 2],
}

impl Splits {
    /// Of these levels; none if no level is in blocks, or bytes between blocks have not 32 bits.
    pub fn of(levels: &[Level]) -> Option<Splits> {
        let mut of = Splits { shift: [[31; 16]; 2], extra: [[0; 16]; 2] };
        for (i, l) in levels.iter().enumerate().take(LEVELS) {
            for k in 0..2 {
                of.shift[k][i] = l.split.shift(k);
                of.extra[k][i] = l.split.extra(k).try_into().ok()?;
            }
        }
        levels.iter().any(|l| !l.split.is_none()).then_some(of)
    }

    /// The sparse image block of a place, in columns and rows of blocks.
    #[inline(always)]
    pub fn block(&self, level: usize, at: [u32; 2]) -> [u32; 2] {
        [at[0] >> self.shift[0][level % LEVELS], at[1] >> self.shift[1][level % LEVELS]]
    }

    /// What its bytes lie beyond what pitches say.
    #[inline(always)]
    pub fn beyond(&self, level: usize, block: [u32; 2]) -> u32 {
        let [x, y] = [0, 1].map(|k| block[k].wrapping_mul(self.extra[k][level % LEVELS]));
        x.wrapping_add(y)
    }
}

impl Fast {
    /// Whether [`Self::missing`] knows what samples read: of a 1D view's only row a filter reads more, and offsets within blocks of memory have
    /// 32 bits.
    pub fn knows_holes(&self) -> bool {
        !self.line && self.rows && self.bytes_in_all.checked_add(BLOCK as u32).is_some()
    }

    /// Lanes of the mask that read a texel without memory.
    ///
    /// # Safety
    /// As [`super::body`], without shifts; [`Self::knows_holes`].
    #[inline(never)]
    pub unsafe fn missing(&self, view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16) -> u16 {
        let mut reads = Reads::default();
        // SAFETY: the kernels were picked for this machine.
        unsafe {
            (self.runs.reads)(self, view, sampler, args, mask, &mut reads);
            (self.runs.missing)(&reads, self.base)
        }
    }
}

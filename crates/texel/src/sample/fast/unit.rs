//! What is counted where texels of a column and a row are found: bytes, texels of decoded blocks, the blocks themselves.

use super::Fast;
use super::place::Levels;
use simd::{Simd, ops};

#[derive(Clone, Copy, PartialEq)]
pub enum Unit {
    /// Bytes of texels of so many, as a power of two.
    Shift(u32),
    /// Bytes of texels of so many.
    Bytes(u32),
    /// Texels of compressed blocks: a block's number, and which of its texels, in [`super::Blocks::bits`].
    Decoded,
    /// Bytes of compressed blocks.
    Blocks,
}

impl Unit {
    /// A column's offset in its row.
    #[inline(always)]
    pub fn column<S: Simd>(self, s: S, f: &Fast, i: S::I) -> S::I {
        match self {
            Unit::Shift(n) => ops::shl(s, i, n),
            Unit::Bytes(n) => s.imul(i, s.isplat(n)),
            Unit::Decoded => {
                let Some(b) = &f.blocks else { return i };
                let block = b.of(s, 0, i);
                let within = s.isub(i, s.imul(block, s.isplat(b.shape.extent[0])));
                s.iadd(ops::shl(s, block, b.bits), within)
            }
            Unit::Blocks => {
                let Some(b) = &f.blocks else { return i };
                ops::shl(s, b.of(s, 0, i), b.shift)
            }
        }
    }

    /// A row's offset on a level.
    #[inline(always)]
    pub fn row<S: Simd>(self, s: S, f: &Fast, l: &Levels<S>, i: S::I) -> S::I {
        match (self, &f.blocks) {
            (Unit::Decoded, Some(b)) => {
                let block = b.of(s, 1, i);
                let within = s.isub(i, s.imul(block, s.isplat(b.shape.extent[1])));
                let within = s.imul(within, s.isplat(b.shape.extent[0]));
                s.iadd(s.iadd(s.imul(block, l.row_pitch), within), l.start)
            }
            (Unit::Blocks, Some(b)) => s.iadd(s.imul(b.of(s, 1, i), l.row_pitch), l.start),
            _ => s.iadd(s.imul(i, l.row_pitch), l.start),
        }
    }
}

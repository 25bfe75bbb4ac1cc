//! What is counted where texels of a column and a row are found: bytes, texels of decoded blocks, the blocks themselves.

use super::Fast;
use super::place::Levels;
use simd::{Simd, ops};

#[derive(Clone, Copy, PartialEq)]
pub enum Unit {
    /// Bytes of texels of so many, as a power of two.
    Shift(u32),
    /// The same of a view with levels in sparse image blocks.
    Split(u32),
    /// Bytes of texels of so many.
    Bytes(u32),
    /// Texels of compressed blocks: a block's number, and which of its texels, in [`super::Blocks::bits`].
    Decoded,
    /// Bytes of compressed blocks.
    Blocks,
}

impl Unit {
    /// The offset of a texel that lies in its row after so many others.
    #[inline(always)]
    pub fn after<S: Simd>(self, s: S, i: S::I) -> S::I {
        match self {
            Unit::Shift(n) | Unit::Split(n) => ops::shl(s, i, n),
            Unit::Bytes(n) => s.imul(i, s.isplat(n)),
            Unit::Decoded | Unit::Blocks => i,
        }
    }

    /// A column's offset in its row.
    #[inline(always)]
    pub fn column<S: Simd>(self, s: S, f: &Fast, l: &Levels<S>, i: S::I) -> S::I {
        match self {
            Unit::Shift(_) | Unit::Bytes(_) => self.after(s, i),
            Unit::Split(_) => s.iadd(self.after(s, i), l.beyond(s, 0, i)),
            Unit::Decoded => {
                let Some(b) = &f.blocks else { return i };
                let block = b.of(s, 0, i);
                let within = s.isub(i, s.imul(block, s.isplat(b.shape.extent[0])));
                let at = s.iadd(ops::shl(s, block, b.bits), within);
                if f.split.is_some() { s.iadd(at, l.beyond(s, 0, block)) } else { at }
            }
            Unit::Blocks => {
                let Some(b) = &f.blocks else { return i };
                let block = b.of(s, 0, i);
                let at = ops::shl(s, block, b.shift);
                if f.split.is_some() { s.iadd(at, l.beyond(s, 0, block)) } else { at }
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
                let at = s.iadd(s.iadd(s.imul(block, l.row_pitch), within), l.start);
                if f.split.is_some() { s.iadd(at, l.beyond(s, 1, block)) } else { at }
            }
            (Unit::Blocks, Some(b)) => {
                let block = b.of(s, 1, i);
                let at = s.iadd(s.imul(block, l.row_pitch), l.start);
                if f.split.is_some() { s.iadd(at, l.beyond(s, 1, block)) } else { at }
            }
            (Unit::Split(_), _) => s.iadd(s.iadd(s.imul(i, l.row_pitch), l.start), l.beyond(s, 1, i)),
            _ => s.iadd(s.imul(i, l.row_pitch), l.start),
        }
    }
}

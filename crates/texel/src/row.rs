//! Channels as waves give them.

use simd::Simd;
use simd::rows::Rows;

/// A channel as a wave gives it: a row of sixteen lanes a warp, or one row for all.
#[derive(Clone, Copy)]
pub struct Row {
    at: *const u8,
    /// Bytes from one warp's to the next's.
    step: usize,
}

impl Row {
    /// Rows of a program's output.
    #[inline]
    pub fn new(rows: &[[u32; 16]]) -> Row {
        Row { at: rows.as_ptr().cast(), step: if rows.len() == 1 { 0 } else { 64 } }
    }
    /// Rows one after the other.
    #[inline(always)]
    pub fn at(rows: *const [u32; 16]) -> Row {
        Row { at: rows.cast(), step: 64 }
    }
    /// An operand's rows.
    #[inline(always)]
    pub fn of(rows: &Rows) -> Row {
        Row { at: rows.at, step: rows.step }
    }
    /// The same row for all warps.
    #[inline(always)]
    pub fn one(row: &[u32; 16]) -> Row {
        Row { at: row.as_ptr().cast(), step: 0 }
    }
    /// Zero in all lanes.
    #[inline(always)]
    pub fn zero() -> Row {
        static ZERO: [u32; 16] = [0; 16];
        Row::one(&ZERO)
    }
    /// The rows from warp `w` on.
    #[inline(always)]
    pub fn from(&self, w: usize) -> Row {
        Row { at: self.at.wrapping_add(self.step * w), ..*self }
    }
    /// The same in all warps.
    #[inline(always)]
    pub fn same(&self) -> bool {
        self.step == 0
    }
    /// Lanes of warp `w`.
    ///
    /// # Safety
    /// There is such a warp, and nobody writes the rows.
    #[inline(always)]
    pub unsafe fn words<S: Simd>(&self, s: S, w: usize) -> S::I {
        // SAFETY: the rows have sixteen words for the warp.
        unsafe { s.iloadu(self.at.add(self.step * w)) }
    }
    /// As [`Self::words`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn float<S: Simd>(&self, s: S, w: usize) -> S::F {
        // SAFETY: as the caller says.
        s.from_bits(unsafe { self.words(s, w) })
    }
    /// Words of warp `w`, as [`Self::words`].
    ///
    /// # Safety
    /// As there.
    pub unsafe fn array(&self, w: usize) -> [u32; 16] {
        // SAFETY: the rows have sixteen words for the warp.
        unsafe { self.at.add(self.step * w).cast::<[u32; 16]>().read_unaligned() }
    }
}

//! How the operands of all warps of a wave lie in memory: the engine that has them and what works on images by them both know
//! this, and neither needs to know the other.

use std::cell::Cell;

/// A 32-bit operand of a wave: sixteen lanes a warp.
#[derive(Clone, Copy)]
pub struct Rows {
    pub at: *const u8,
    /// Bytes from one warp's to the next's; 0 when all have the same.
    pub step: usize,
}

impl Rows {
    /// No operand.
    pub const NONE: Rows = Rows { at: std::ptr::null(), step: 0 };

    /// Lanes of warp `w`.
    #[inline(always)]
    pub fn warp(&self, w: usize) -> *const u8 {
        self.at.wrapping_add(self.step * w)
    }
}

/// An operation of all warps of a wave on one image: a sample by coordinates and level, a gather, a read, a write or an atomic of 32
/// bits.
pub struct ImageRows<'a> {
    /// Warps, a bit each, and their active lanes.
    pub live: u32,
    pub exec: &'a [u16; 32],
    pub coords: [Rows; 4],
    pub lod: Option<Rows>,
    /// What texels are compared with.
    pub dref: Option<Rows>,
    /// A texel to write, or an atomic's value and comparator.
    pub data: [Rows; 4],
    /// Where the first warp's results go, 64 bytes a warp; null: not wanted. May be where operands of the same warp are.
    pub out: [*mut u8; 4],
    /// The cache lines of texels that each warp touches are added here, if they are to be counted.
    pub lines: Option<&'a Cell<u64>>,
}

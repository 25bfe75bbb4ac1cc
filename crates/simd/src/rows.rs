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

    /// Zero in all lanes of all warps.
    pub fn zero() -> Rows {
        static ZERO: [u32; 16] = [0; 16];
        Rows { at: ZERO.as_ptr().cast(), step: 0 }
    }

    /// Lanes of warp `w`.
    #[inline(always)]
    pub fn warp(&self, w: usize) -> *const u8 {
        self.at.wrapping_add(self.step * w)
    }
}

/// What a sample's level of detail depends on besides coordinates and an explicit level.
#[derive(Clone, Copy, Default)]
pub struct LevelRows {
    pub bias: Option<Rows>,
    pub min_lod: Option<Rows>,
    /// Derivatives of up to three coordinates in x, then in y; rows of zeros in the place of those that there are none of.
    pub grad: Option<[Rows; 6]>,
}

impl LevelRows {
    /// There is any of them.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.bias.is_some() || self.min_lod.is_some() || self.grad.is_some()
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
    pub levels: LevelRows,
    /// What texels are compared with.
    pub dref: Option<Rows>,
    /// A texel to write, or an atomic's value and comparator.
    pub data: [Rows; 4],
    /// Where the first warp's results go, 64 bytes a warp; null: not wanted. May be where operands of the same warp are.
    pub out: [*mut u8; 4],
    /// The cache lines of texels that each warp touches are added here, if they are to be counted.
    pub lines: Option<&'a Cell<u64>>,
    /// What samples tell here, if it is asked.
    pub holes: Option<&'a Holes>,
}

/// Lanes of a wave's warps whose samples read a texel that has no memory.
#[derive(Default)]
pub struct Holes {
    known: Cell<u32>,
    lanes: [Cell<u16>; 32],
}

impl Holes {
    #[inline(always)]
    pub fn knows(&self, w: usize) -> bool {
        self.known.get() >> (w % 32) & 1 != 0
    }
    #[inline(always)]
    pub fn put(&self, w: usize, lanes: u16) {
        self.known.set(self.known.get() | 1 << (w % 32));
        self.lanes[w % 32].set(lanes);
    }
    /// Of a warp of which they are known.
    pub fn of(&self, w: usize) -> u16 {
        self.lanes[w % 32].get()
    }
}

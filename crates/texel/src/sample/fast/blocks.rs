//! Compressed blocks: what is known of a format's, and their texels one by one. Where samples lie close together they are read from a tile
//! instead ([`super::tile`]).

use super::Fast;
use crate::format::block::{BlockKind, Cached, Decode, Shape, cached, decoder, known, lanes};
use crate::format::plan::Plan;
use crate::format::{FormatInfo, TexelKind};
use crate::vector::{load, store};
use simd::{Simd, ops};
use std::mem::MaybeUninit;

/// What is known of a format's compressed blocks.
#[derive(Clone, Copy)]
pub struct Blocks {
    format: &'static FormatInfo,
    decode: Decode,
    /// Of [`Cached`].
    table: usize,
    /// log2 of a decoded texel's bytes.
    pub texel: u32,
    pub shape: Shape,
    /// log2 of a block's bytes.
    pub shift: u32,
    /// Bits of a texel's number in its block.
    pub bits: u32,
    /// The format's, if lanes make a texel each of their own blocks by vectors.
    pub lanes: Option<BlockKind>,
}

impl Blocks {
    /// Of a compressed format's blocks, for levels of `size` at most; and the plan of their decoded texels.
    pub fn new(format: &'static FormatInfo, size: [u32; 2]) -> Option<(Blocks, Plan)> {
        let known = known(format)?;
        let shape = Shape::of(format);
        let [w, h] = shape.extent;
        let blocks = Blocks {
            format,
            decode: decoder(settings::level())?,
            table: known.table,
            texel: known.packing.bytes().trailing_zeros(),
            shape,
            shift: format.block_bytes.trailing_zeros(),
            bits: (w * h).next_power_of_two().trailing_zeros(),
            lanes: match format.kind {
                TexelKind::Block(kind) if lanes::suits(kind) => Some(kind),
                _ => None,
            },
        };
        size.iter().all(|n| *n <= Shape::MOST).then_some((blocks, known.plan))
    }

    /// The block at `at`, decoded.
    ///
    /// # Safety
    /// There is one of the format's; the cache is this thread's own. See [`Cached::find`].
    #[inline(always)]
    pub unsafe fn decoded(&self, cache: *mut Cached, at: *const u8) -> *const u8 {
        // SAFETY: the caller's.
        unsafe {
            let block = if self.shift == 4 {
                at.cast::<u128>().read_unaligned()
            } else {
                at.cast::<u64>().read_unaligned() as u128
            };
            (*cache).find(self.table, self.format, self.decode, block)
        }
    }

    /// Texels by block: how many times as many units as bytes, as a power of two.
    #[inline(always)]
    pub fn up(&self) -> u32 {
        self.bits.saturating_sub(self.shift)
    }

    /// The block of a column (`axis` 0) or row of texels.
    #[inline(always)]
    pub fn of<S: Simd>(&self, s: S, axis: usize, i: S::I) -> S::I {
        ops::shr(s, s.imul(i, s.isplat(self.shape.by[axis])), 18)
    }

    /// Columns and rows of the blocks of a warp's corners, counted from block `first`.
    #[inline(always)]
    pub fn corners<S: Simd>(&self, s: S, i: &[[[u32; 16]; 2]; 2], first: [u32; 2]) -> [[S::I; 2]; 2] {
        let mut of = [[s.isplat(0); 2]; 2];
        for k in 0..2 {
            for side in 0..2 {
                of[k][side] = s.isub(self.of(s, k, load(s, &i[k][side])), s.isplat(first[k]));
            }
        }
        of
    }
}

/// Different blocks that are looked up at once.
const ROOM: usize = 16;
/// Bytes of the largest decoded block, and of what is copied beyond it.
const BYTES: usize = 12 * 12 * 8 + 64;

#[repr(C, align(64))]
struct Room([[MaybeUninit<u8>; BYTES]; ROOM]);

/// Words (the first two) of texels of each lane, of which [`super::unit::Unit::Decoded`] says the places. Each block that they are in is looked up once.
///
/// # Safety
/// They are texels of blocks from `base` on.
#[inline(always)]
pub unsafe fn texels<S: Simd>(
    s: S,
    f: &Fast,
    base: *const u8,
    at: &[[u32; 16]],
    out: &mut [[[u32; 16]; 4]; 4],
) {
    let Some(b) = &f.blocks else { return };
    if let Some(kind) = b.lanes {
        for c in 0..at.len().min(4) {
            let at = load(s, &at[c]);
            let block = ops::shl(s, ops::shr(s, at, b.bits), b.shift);
            // SAFETY: blocks of the view.
            let words =
                unsafe { lanes::texels(s, kind, base, block, s.iand(at, s.isplat((1 << b.bits) - 1))) };
            for k in 0..2 {
                store(s, &mut out[k][c], words[k]);
            }
        }
        return;
    }
    let cache = cached();
    let none = s.isplat(0);
    let mut room = MaybeUninit::<Room>::uninit();
    let room = room.as_mut_ptr().cast::<u8>();
    let n = at.len().min(4);
    // Copies, for another block may be put where one of these is kept. Vectors of 64 bytes: entries are so many.
    let bytes = ((b.shape.extent[0] * b.shape.extent[1]) << b.texel).next_multiple_of(64) as usize;
    let (mut number, mut from) = ([[0; 16]; 4], [[0; 16]; 4]);
    for c in 0..n {
        store(s, &mut number[c], ops::shr(s, load(s, &at[c]), b.bits));
    }
    let mut left = [0u16; 4];
    left[..n].fill(0xFFFF);
    while left != [0; 4] {
        let before = left;
        let mut slot = 0;
        for c in 0..n {
            while left[c] != 0 && slot < ROOM {
                let of = number[c][left[c].trailing_zeros() as usize & 15];
                // SAFETY: a block of the view; entries and the room have so many bytes.
                unsafe {
                    let texels = b.decoded(cache, base.add((of as usize) << b.shift));
                    for line in 0..bytes / 64 {
                        s.istore(room.add(slot * BYTES + 64 * line), s.iload(texels.add(64 * line)));
                    }
                }
                for d in c..n {
                    let here = s.mand(s.ieq(load(s, &number[d]), s.isplat(of)), s.mask(left[d]));
                    let old = load(s, &from[d]);
                    store(s, &mut from[d], s.isel(here, s.isplat((slot * BYTES) as u32), old));
                    left[d] &= !s.mbits(here);
                }
                slot += 1;
            }
        }
        for c in 0..n {
            let lanes = s.mask(before[c] & !left[c]);
            let within = ops::shl(s, s.iand(load(s, &at[c]), s.isplat((1 << b.bits) - 1)), b.texel);
            let at = s.isel(lanes, s.iadd(load(s, &from[c]), within), none);
            // SAFETY: texels of blocks that have been copied; of other lanes, the first.
            let words =
                unsafe { if b.texel == 3 { s.igather2(room, at) } else { [s.iwords(room, at), none] } };
            for k in 0..2 {
                let old = load(s, &out[k][c]);
                store(s, &mut out[k][c], s.isel(lanes, words[k], old));
            }
        }
    }
}

//! Compressed blocks: what is known of a format's, and their texels one by one. Where samples lie close together they are read from a tile
//! instead ([`super::tile`]).

use super::Fast;
use super::any::by_plan;
use super::texels::Texels;
use super::unit::Unit;
use crate::format::FormatInfo;
use crate::format::block::{Cached, Decode, Shape, cached, decoder, known};
use crate::format::plan::Plan;
use simd::{Level, Simd, ops};
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
}

impl Blocks {
    /// Of a compressed format's blocks, for levels of `size` at most; and the plan of their decoded texels.
    pub fn new(format: &'static FormatInfo, size: [u32; 2]) -> Option<(Blocks, Plan)> {
        let known = known(format)?;
        let shape = Shape::of(format);
        let [w, h] = shape.extent;
        let blocks = Blocks {
            format,
            decode: decoder(Level::best()),
            table: known.table,
            texel: known.packing.bytes().trailing_zeros(),
            shape,
            shift: format.block_bytes.trailing_zeros(),
            bits: (w * h).next_power_of_two().trailing_zeros(),
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
}

/// Different blocks that are looked up at once.
const ROOM: usize = 16;
/// Bytes of the largest decoded block, and of what is copied beyond it.
const BYTES: usize = 12 * 12 * 8 + 64;

#[repr(C, align(64))]
struct Room([[MaybeUninit<u8>; BYTES]; ROOM]);

/// Texels of compressed blocks, anywhere: [`Unit::Decoded`] says which.
pub struct Decoded;

impl Texels for Decoded {
    by_plan!();
    const SHIFT: u32 = 0;
    const FLOATS: bool = true;
    const BLOCKS: bool = true;
    #[inline(always)]
    fn unit(_: &Fast) -> Unit {
        Unit::Decoded
    }
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, f: &Fast, base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        let mut one = [*out];
        // SAFETY: the caller's texels.
        unsafe { texels(s, f, base, &[at], &mut one) };
        *out = one[0];
    }
    #[inline(always)]
    unsafe fn load4<S: Simd>(s: S, f: &Fast, base: *const u8, at: &[S::I; 4], out: &mut [[S::F; 4]; 4]) {
        // SAFETY: the caller's texels.
        unsafe { texels(s, f, base, at, out) };
    }
}

/// `N` texels of each lane. Each block that they are in is looked up once.
///
/// # Safety
/// `at` says which texels of blocks from `base` on; these are the view's.
#[inline(always)]
unsafe fn texels<S: Simd, const N: usize>(
    s: S,
    f: &Fast,
    base: *const u8,
    at: &[S::I; N],
    out: &mut [[S::F; 4]; N],
) {
    let Some(b) = &f.blocks else { return };
    let cache = cached();
    let none = s.isplat(0);
    let mut room = MaybeUninit::<Room>::uninit();
    let room = room.as_mut_ptr().cast::<u8>();
    let (mut number, mut within) = ([none; N], [none; N]);
    for c in 0..N {
        number[c] = ops::shr(s, at[c], b.bits);
        within[c] = ops::shl(s, s.iand(at[c], s.isplat((1 << b.bits) - 1)), b.texel);
    }
    // Copies, for another block may be put where one of these is kept. Vectors of 64 bytes: entries are so many.
    let bytes = ((b.shape.extent[0] * b.shape.extent[1]) << b.texel).next_multiple_of(64) as usize;
    let mut words = [[none; 2]; N];
    let mut left = [0xFFFFu16; N];
    let mut first = true;
    while first || left != [0; N] {
        let mut from = [none; N];
        let before = left;
        let mut slot = 0;
        for c in 0..N {
            let numbers = ops::i_lanes(s, number[c]);
            while left[c] != 0 && slot < ROOM {
                let of = numbers[left[c].trailing_zeros() as usize & 15];
                // SAFETY: a block of the view; entries and the room have so many bytes.
                unsafe {
                    let texels = b.decoded(cache, base.add((of as usize) << b.shift));
                    for line in 0..bytes / 64 {
                        s.istore(room.add(slot * BYTES + 64 * line), s.iload(texels.add(64 * line)));
                    }
                }
                for d in c..N {
                    let here = s.mand(s.ieq(number[d], s.isplat(of)), s.mask(left[d]));
                    from[d] = s.isel(here, s.isplat((slot * BYTES) as u32), from[d]);
                    left[d] &= !s.mbits(here);
                }
                slot += 1;
            }
        }
        for c in 0..N {
            let lanes = before[c] & !left[c];
            let at = s.iadd(from[c], within[c]);
            let at = if lanes == 0xFFFF { at } else { s.isel(s.mask(lanes), at, none) };
            // SAFETY: texels of blocks that have been copied; of other lanes, the first.
            let new = unsafe {
                if b.texel == 3 { s.igather2(room, at) } else { [s.iwords(room, at), none] }
            };
            for k in 0..2 {
                words[c][k] = if first { new[k] } else { s.isel(s.mask(lanes), new[k], words[c][k]) };
            }
        }
        first = false;
    }
    for c in 0..N {
        f.plan.unpack(s, &words[c], &mut out[c]);
    }
}

//! Texels of a warp from blocks anywhere.

use super::{BlockKind, Cached, Packing, cached, decoder, lanes, packing};
use crate::format::kernels::{Channels, GatherFn};
use crate::format::plan::Plan;
use crate::format::table::TABLE;
use crate::format::{FormatInfo, TexelKind};
use crate::vector::{load, store};
use simd::{Level, Simd};
use std::sync::LazyLock;

/// Bits of a lane's offset that say which texel of its block it is; the others are bytes to the block.
pub const WITHIN: u32 = 8;

/// What is known of a format's blocks.
#[derive(Clone, Copy)]
pub struct Known {
    pub plan: Plan,
    /// Of decoded texels.
    pub packing: Packing,
    /// Of [`Cached`].
    pub table: usize,
}

/// Formats of the table, from the first compressed one to the last.
static KNOWN: LazyLock<Vec<Option<Known>>> = LazyLock::new(|| {
    TABLE
        .iter()
        .map(|f| {
            let packing = packing(f)?;
            let [w, h, _] = f.block_extent;
            Some(Known {
                plan: Plan::decoded(f, packing),
                packing,
                table: Cached::table(w * h * packing.bytes()),
            })
        })
        .collect()
});

/// `None` for formats that are not compressed.
pub fn known(info: &'static FormatInfo) -> Option<&'static Known> {
    // (The row of the table.)
    let first = TABLE.as_ptr() as usize;
    let row = (info as *const FormatInfo as usize - first) / size_of::<FormatInfo>();
    KNOWN.get(row)?.as_ref()
}

/// The loader of compressed formats, for this machine: of offsets with a texel's number in the lowest [`WITHIN`] bits.
pub fn gather() -> GatherFn {
    gather_at(settings::level())
}

pub fn gather_at(level: Level) -> GatherFn {
    simd::form!(
        level,
        unsafe fn(info: &'static FormatInfo, base: *const u8, offsets: &[u64; 16], out: &mut Channels) = texels;
        portable = one_by_one
    )
}

/// As [`texels`], for where there is no decoder by vectors.
///
/// # Safety
/// All offsets are those of blocks.
unsafe fn one_by_one<S: Simd>(
    _: S,
    info: &'static FormatInfo,
    base: *const u8,
    offsets: &[u64; 16],
    out: &mut Channels,
) {
    for (lane, at) in offsets.iter().enumerate() {
        // SAFETY: a block of the caller's.
        let bytes = unsafe {
            std::slice::from_raw_parts(base.add((at >> WITHIN) as usize), info.block_bytes as usize)
        };
        let (n, width) = (*at as u32 & ((1 << WITHIN) - 1), info.block_extent[0]);
        let t = super::texel(info, bytes, n % width, n / width);
        for k in 0..4 {
            out[k][lane] = t[k];
        }
    }
}

/// # Safety
/// All offsets are those of blocks.
#[inline(always)]
unsafe fn texels<S: Simd>(
    s: S,
    info: &'static FormatInfo,
    base: *const u8,
    offsets: &[u64; 16],
    out: &mut Channels,
) {
    let (Some(known), Some(decode)) = (known(info), decoder(s.level())) else { return };
    let cache = cached();
    let mut words = [[0u32; 16]; 2];
    let (mut block, mut decoded) = (u64::MAX, std::ptr::null());
    let own = match info.kind {
        // SAFETY: the caller's blocks.
        TexelKind::Block(kind) if lanes::suits(kind) => unsafe { own(s, kind, base, offsets, &mut words) },
        _ => false,
    };
    for lane in 0..if own { 0 } else { 16 } {
        let (at, within) = (offsets[lane] >> WITHIN, offsets[lane] as usize & ((1 << WITHIN) - 1));
        // SAFETY: a block of the caller's; texels of a decoded one.
        unsafe {
            if at != block {
                let p = base.add(at as usize);
                let bits = match info.block_bytes {
                    16 => p.cast::<u128>().read_unaligned(),
                    _ => p.cast::<u64>().read_unaligned() as u128,
                };
                (block, decoded) = (at, (*cache).find(known.table, info, decode, bits));
            }
            if known.packing.bytes() == 8 {
                let [a, b] = decoded.cast::<[u32; 2]>().add(within).read();
                (words[0][lane], words[1][lane]) = (a, b);
            } else {
                words[0][lane] = decoded.cast::<u32>().add(within).read();
            }
        }
    }
    for k in 0..4 {
        if known.plan.has >> k & 1 != 0 {
            let w = [load(s, &words[known.plan.word(k) % 2])];
            // (No block is decoded to what shares an exponent.)
            let [v] = known.plan.channel(s, k, &w, &[s.fsplat(1.0)]);
            store(s, &mut out[k], s.bits(v));
        } else {
            out[k] = [if k == 3 { 1f32.to_bits() } else { 0 }; 16];
        }
    }
}

/// Words of texels that lanes make each of their own blocks; false where blocks lie 4 GiB apart.
///
/// # Safety
/// As [`texels`], of a format that [`lanes::suits`] says.
#[inline(always)]
unsafe fn own<S: Simd>(
    s: S,
    kind: BlockKind,
    base: *const u8,
    offsets: &[u64; 16],
    words: &mut [[u32; 16]; 2],
) -> bool {
    let (mut at, mut within, mut far) = ([0; 16], [0; 16], 0);
    for lane in 0..16 {
        far |= offsets[lane] >> (32 + WITHIN);
        at[lane] = (offsets[lane] >> WITHIN) as u32;
        within[lane] = offsets[lane] as u32 & ((1 << WITHIN) - 1);
    }
    if far != 0 {
        return false;
    }
    // SAFETY: the caller's blocks.
    let of = unsafe { lanes::texels(s, kind, base, load(s, &at), load(s, &within)) };
    store(s, &mut words[0], of[0]);
    store(s, &mut words[1], of[1]);
    true
}

#[cfg(test)]
pub(crate) use tests::texels_of_blocks_anywhere;
#[cfg(test)]
mod tests {
    use super::super::{EMPTY, decode};
    use super::*;
    use random::Random;

    /// Every compressed format: texels of blocks here and there, against whole blocks.
    pub(crate) fn texels_of_blocks_anywhere(level: Level) {
        let mut r = Random::new(5);
        let mut random = || r.u32() >> 8;
        for info in crate::format::all().iter().filter(|f| f.compressed()) {
            let bytes: Vec<u8> = (0..64 * info.block_bytes).map(|_| random() as u8).collect();
            let texels = info.block_extent[0] * info.block_extent[1];
            for case in 0..20 {
                let places: [(usize, u32); 16] = std::array::from_fn(|_| {
                    ((random() % if case < 10 { 3 } else { 64 }) as usize, random() % texels)
                });
                let at =
                    places.map(|(block, t)| (block as u64 * info.block_bytes as u64) << WITHIN | t as u64);
                let mut got = [[7; 16]; 4];
                // SAFETY: blocks of the array; the machine has the level.
                unsafe { gather_at(level)(info, bytes.as_ptr(), &at, &mut got) };
                for (lane, (block, t)) in places.into_iter().enumerate() {
                    let mut want = EMPTY;
                    decode(info, &bytes[block * info.block_bytes as usize..], &mut want);
                    assert_eq!(got.map(|c| c[lane]), want[t as usize], "{} {level:?}", info.name);
                }
            }
        }
    }
}

//! Blits to half the size, as mipmaps are made: four texels of bytes become one, sixteen at a time, by the operations of
//! [`super::scaled`]. Both weights of a pair are one half, and products by that are exact: sums come first.

use super::blit::{Axis, Tap};
use crate::format::FormatInfo;
use crate::format::kernels::Channels;
use crate::sample::{HIGH, LOW};
use crate::vector;
use ash::vk::Format;
use simd::{Simd, ops};

/// Destination texels that are made at once.
pub(super) const LANES: usize = 16;
/// Bytes of the texels of a row that they are made of.
pub(super) const BYTES: usize = LANES * 2 * 4;

/// Whether a destination texel is the mean of two, and of those after the ones of the texel before it.
fn pairs(taps: &[Tap]) -> bool {
    let Some(&(first, ..)) = taps.first() else { return false };
    taps.iter().zip(0u32..).all(|(t, i)| *t == (first + 2 * i, first + 2 * i + 1, 0.5))
}

/// Whether [`texels`] makes such a blit's.
pub(super) fn suits(from: &FormatInfo, to: &FormatInfo, [x, y, z]: [&Axis; 3]) -> bool {
    let bytes = [Format::R8G8B8A8_UNORM, Format::B8G8R8A8_UNORM, Format::A8B8G8R8_UNORM_PACK32];
    bytes.contains(&from.format)
        && from.format == to.format
        && pairs(&x.taps)
        && pairs(&y.taps)
        && z.taps.iter().all(|t| t.2 == 0.0)
}

#[inline(always)]
fn body<S: Simd>(s: S, rows: &[[u8; BYTES]; 2], blue_first: bool, out: &mut Channels) {
    let numbers = vector::load(s, &std::array::from_fn(|i| 2 * i as u32));
    let mut words = [[numbers; 2]; 2];
    for (row, words) in rows.iter().zip(&mut words) {
        // SAFETY: 32 words of the row.
        let (a, b) = unsafe { (s.iloadu(row.as_ptr()), s.iloadu(row.as_ptr().add(BYTES / 2))) };
        *words = [s.ishuffle2(a, b, numbers), s.ishuffle2(a, b, s.iadd(numbers, s.isplat(1)))];
    }
    for k in 0..4 {
        let mut row = [s.fsplat(0.0); 2];
        for y in 0..2 {
            let mut pair = row;
            for x in 0..2 {
                let v = s.s_to_f(s.iand(ops::shr(s, words[y][x], 8 * k as u32), s.isplat(255)));
                pair[x] = s.fma(v, s.fsplat(HIGH), s.fmul(v, s.fsplat(LOW)));
            }
            row[y] = s.fadd(pair[0], pair[1]);
        }
        let v = s.fmul(s.fadd(row[0], row[1]), s.fsplat(0.25));
        let to = if blue_first && k != 3 { 2 - k } else { k };
        vector::store(s, &mut out[to], s.bits(v));
    }
}
simd::by_level! {
    /// Sixteen texels out of 32 of each of two rows.
    fn made = body, (rows: &[[u8; BYTES]; 2], blue_first: bool, out: &mut Channels)
}

/// `count` texels, sixteen at most, whose rows begin there.
///
/// # Safety
/// Two texels of each row for each, of four bytes.
pub(super) unsafe fn texels(
    level: simd::Level,
    format: &FormatInfo,
    rows: [*const u8; 2],
    count: usize,
    out: &mut Channels,
) {
    let mut own = [[0; BYTES]; 2];
    for (own, row) in own.iter_mut().zip(rows) {
        // SAFETY: the caller's texels, which a row here has room for.
        unsafe { own.as_mut_ptr().copy_from_nonoverlapping(row, count.min(LANES) * 8) };
    }
    made(level, &own, format.format == Format::B8G8R8A8_UNORM, out);
}

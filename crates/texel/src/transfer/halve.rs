//! Blits to half the size, as mipmaps are made: a texel of four, by the operations of [`super::scaled`] with weights of one half. Both rows
//! are decoded a wave at a time and added by pairs, so that no row is kept.

// Loops over warps index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::blit::{Axis, Tap};
use crate::format::FormatInfo;
use crate::format::wave::{self, Four, Plan, WARPS};
use simd::{Level, Simd, ops};

/// Texels of a warp.
const LANES: usize = 16;
/// Bytes of the largest warp.
const WARP: usize = LANES * 16;

/// Whether a destination texel is the mean of two, and of those after the ones of the texel before it.
fn pairs(taps: &[Tap]) -> bool {
    let Some(&(first, ..)) = taps.first() else { return false };
    taps.iter().zip(0u32..).all(|(t, i)| *t == (first + 2 * i, first + 2 * i + 1, 0.5))
}

/// Whether [`row`] makes such a blit's. (Formats are the same, so that no channel is missing on one side.)
pub(super) fn suits(from: &FormatInfo, to: &FormatInfo, [x, y, z]: [&Axis; 3]) -> bool {
    from.format == to.format && pairs(&x.taps) && pairs(&y.taps) && z.taps.iter().all(|t| t.2 == 0.0)
}

/// Writes a row: of a format, both rows' first texels, where to, and how many.
pub(super) type Row = unsafe fn(&Plan, [*const u8; 2], *mut u8, usize);

/// None of portable code, which makes texels one by one.
pub(super) fn row(level: Level) -> Option<Row> {
    simd::form!(
        level,
        unsafe fn(plan: &Plan, rows: [*const u8; 2], to: *mut u8, count: usize) = body;
        portable if false
    )
}

/// # Safety
/// So many texels at `to`, and twice as many of both rows.
#[inline(always)]
unsafe fn body<S: Simd>(s: S, plan: &Plan, rows: [*const u8; 2], to: *mut u8, count: usize) {
    // Warps of the destination, each of two of either row.
    const STEP: usize = WARPS / 2;
    let (bytes, mask) = (plan.bytes, plan.channels());
    let warps = count.div_ceil(LANES);
    let whole = count / LANES;
    let left = count - whole * LANES;
    // What is no warp, by way of one.
    let (mut own, mut out) = ([[0u8; 2 * WARP]; 2], [0u8; WARP]);
    for k in 0..2 {
        // SAFETY: what is left of the row.
        unsafe { own[k].as_mut_ptr().copy_from(rows[k].add(2 * whole * LANES * bytes), 2 * left * bytes) };
    }
    let half = s.fsplat(0.5);
    let (mut words, mut channels, mut sums) = (Four::new(), Four::new(), Four::new());
    for first in (0..warps).step_by(STEP) {
        let n = STEP.min(warps - first);
        for k in 0..2 {
            let mut at = [rows[k]; WARPS];
            for w in 0..n {
                let here = if first + w < whole {
                    rows[k].wrapping_add(2 * (first + w) * LANES * bytes)
                } else {
                    own[k].as_ptr()
                };
                (at[2 * w], at[2 * w + 1]) = (here, here.wrapping_add(LANES * bytes));
            }
            // SAFETY: the caller's texels; what is read has been written (all of it).
            unsafe {
                wave::load(s.level(), bytes, &at[..2 * n], &mut words);
                wave::decode(s.level(), plan, &words, 2 * n, &mut channels);
                for c in 0..4 {
                    if mask >> c & 1 == 0 {
                        continue;
                    }
                    for w in 0..n {
                        let [x, y] =
                            ops::apart(s, [channels.get(s, c, 2 * w), channels.get(s, c, 2 * w + 1)]);
                        let pair = s.fadd(s.fmul(s.from_bits(x), half), s.fmul(s.from_bits(y), half));
                        // (From 0 on: of negative zeros the sum is not one.)
                        let before = if k == 0 { s.fsplat(0.0) } else { s.from_bits(sums.get(s, c, w)) };
                        sums.put(s, c, w, s.bits(s.fadd(before, s.fmul(pair, half))));
                    }
                }
            }
        }
        let mut places = [to; STEP];
        for w in 0..n {
            let here = to.wrapping_add((first + w) * LANES * bytes);
            places[w] = if first + w < whole { here } else { out.as_mut_ptr() };
        }
        let all = [sums.row(0), sums.row(1), sums.row(2), sums.row(3)];
        // SAFETY: the caller's texels, or room for a warp of them.
        unsafe {
            wave::encode(s.level(), plan, &all, 0, n, &mut words);
            wave::store(s.level(), bytes, &words, &places[..n]);
        }
    }
    // SAFETY: what is left of the row.
    unsafe { to.wrapping_add(whole * LANES * bytes).copy_from(out.as_ptr(), left * bytes) };
}

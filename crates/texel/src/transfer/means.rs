//! Means of samples, a wave of texels at a time: sums in double precision, in the order of the samples, as [`super::resolve`] has them for
//! single texels.

// Loops over warps index several arrays at once.
#![allow(clippy::needless_range_loop)]

use crate::format::FormatInfo;
use crate::format::wave::{self, Four, Plan, WARPS};
use crate::image::Surface;
use crate::memory::sparse;
use crate::row::Row as Lanes;
use simd::{Level, Simd};
use std::mem::MaybeUninit;

/// Texels of a warp.
const LANES: usize = 16;
/// Bytes of the largest warp.
const WARP: usize = LANES * 16;

/// Whether [`slice`] has surfaces' formats and memory, and form for the level; `d`: what is written.
pub(super) fn has(level: Level, s: &Surface, d: &Surface) -> bool {
    let plain = |f: &FormatInfo| !f.compressed() && !f.is_64bit() && !f.paired() && f.block_bytes <= 16;
    // Where some of the memory may be absent, rows go in parts.
    let whole = s.split.is_none() && d.split.is_none() && !sparse::may_have_holes(d.base);
    row(level).is_some()
        && plain(s.format)
        && plain(d.format)
        && !Plan::new(d.format).shared_exponent()
        && whole
}

/// A slice of a surface: where its rectangle begins, and z and layer.
type At<'a> = (&'a Surface, [u32; 2], (u32, u32));

/// The means of a rectangle's samples, which both surfaces have.
pub(super) fn slice(
    level: Level,
    (s, [sx, sy], (sz, sl)): At,
    (d, [dx, dy], (dz, dl)): At,
    [w, h]: [u32; 2],
) {
    let Some(row) = row(level) else { return };
    let plans = [Plan::new(s.format), Plan::new(d.format)];
    for y in 0..h {
        // SAFETY: both surfaces have the row; samples lie at one pitch, and the row's texels side by side (all of it).
        unsafe {
            let from = s.block(sx, sy + y, sz, 0, sl).cast_const();
            let to = d.block(dx, dy + y, dz, 0, dl);
            row(&plans, from, s.sample_pitch as usize, s.samples as usize, to, w as usize);
        }
    }
}

/// The means of texels that lie side by side: plans of source and destination, sample 0's texels, bytes from a sample to the next, how many
/// samples, where to, and how many texels.
type Row = unsafe fn(&[Plan; 2], *const u8, usize, usize, *mut u8, usize);

/// None of portable code, which adds texels one by one.
fn row(level: Level) -> Option<Row> {
    simd::form!(
        level,
        unsafe fn(
            plans: &[Plan; 2],
            from: *const u8,
            pitch: usize,
            samples: usize,
            to: *mut u8,
            count: usize,
        ) = row_body;
        portable if false
    )
}

/// # Safety
/// There are as many texels of as many samples of the first plan's format at `from`, and of the second's at `to`.
#[inline(always)]
unsafe fn row_body<S: Simd>(
    s: S,
    plans: &[Plan; 2],
    from: *const u8,
    pitch: usize,
    samples: usize,
    to: *mut u8,
    count: usize,
) {
    let [a, b] = plans.each_ref().map(|p| p.bytes);
    let mut done = 0;
    while count - done >= LANES {
        let n = ((count - done) / LANES).min(WARPS);
        // SAFETY: so many warps of texels are left.
        unsafe { warps(s, plans, from.add(done * a), pitch, samples, to.add(done * b), n) };
        done += n * LANES;
    }
    let left = count - done;
    if left == 0 {
        return;
    }
    // What is no warp, by way of one.
    let mut room = [[0u8; WARP]; 17];
    let [own, rest] = {
        let (own, rest) = room.split_at_mut(1);
        [own, rest]
    };
    for (k, room) in rest.iter_mut().enumerate().take(samples) {
        // SAFETY: what is left of the sample's texels.
        unsafe { room.as_mut_ptr().copy_from(from.add(k * pitch + done * a), left * a) };
    }
    // SAFETY: a warp of each sample, and room for one; what is left of the texels.
    unsafe {
        warps(s, plans, rest.as_ptr().cast(), WARP, samples.min(16), own.as_mut_ptr().cast(), 1);
        to.add(done * b).copy_from(own.as_ptr().cast(), left * b);
    }
}

/// Lanes of channels, in double precision.
#[repr(C, align(64))]
struct Sums([[MaybeUninit<[f64; LANES]>; WARPS]; 4]);

/// # Safety
/// As [`row_body`], of `n` warps.
#[inline(always)]
unsafe fn warps<S: Simd>(
    s: S,
    [from_plan, to_plan]: &[Plan; 2],
    from: *const u8,
    pitch: usize,
    samples: usize,
    to: *mut u8,
    n: usize,
) {
    let n = n.min(WARPS);
    let (mut at, mut to_at) = ([from; WARPS], [to; WARPS]);
    for w in 0..n {
        at[w] = from.wrapping_add(w * LANES * from_plan.bytes);
        to_at[w] = to.wrapping_add(w * LANES * to_plan.bytes);
    }
    let (mut words, mut first, mut channels) = (Four::new(), Four::new(), Four::new());
    let channel_mask = from_plan.channels();
    // SAFETY: the caller's texels; what is read has been written (all of it).
    unsafe {
        wave::load(s.level(), from_plan.bytes, &at[..n], &mut first);
        wave::decode(s.level(), from_plan, &first, n, &mut channels);
        let mut apart = false;
        for k in 1..samples {
            apart |= (0..n).any(|w| differs(at[w], at[w].wrapping_add(k * pitch), LANES * from_plan.bytes));
        }
        // (The mean of equal numbers is that number, whatever it is.)
        if apart {
            let mut sums = Sums([[MaybeUninit::uninit(); WARPS]; 4]);
            for k in 0..samples {
                if k > 0 {
                    for w in 0..n {
                        at[w] = at[w].wrapping_add(pitch);
                    }
                    wave::load(s.level(), from_plan.bytes, &at[..n], &mut words);
                    wave::decode(s.level(), from_plan, &words, n, &mut channels);
                }
                for c in 0..4 {
                    if channel_mask >> c & 1 == 0 {
                        continue;
                    }
                    for w in 0..n {
                        let sum = sums.0[c][w].as_mut_ptr().cast::<u8>();
                        let v = s.f_to_d(s.from_bits(channels.get(s, c, w)));
                        s.dstore(sum, if k > 0 { s.dadd(s.dload(sum), v) } else { v });
                    }
                }
            }
            let scale = s.dsplat(1.0 / samples as f64);
            for c in 0..4 {
                if channel_mask >> c & 1 == 0 {
                    continue;
                }
                for w in 0..n {
                    let mean = s.dmul(s.dload(sums.0[c][w].as_ptr().cast()), scale);
                    channels.put(s, c, w, s.bits(s.d_to_f(mean)));
                }
            }
        }
        let mut rows = [Lanes::zero(); 4];
        for (c, row) in rows.iter_mut().enumerate() {
            *row = wave::channel(from_plan, &channels, c);
        }
        wave::encode(s.level(), to_plan, &rows, 0, n, &mut words);
        wave::store(s.level(), to_plan.bytes, &words, &to_at[..n]);
    }
}

/// # Safety
/// Both have so many bytes.
#[inline(always)]
unsafe fn differs(a: *const u8, b: *const u8, bytes: usize) -> bool {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(a, bytes) != std::slice::from_raw_parts(b, bytes) }
}

#[cfg(test)]
pub(crate) use tests::means_are_those_of_texels;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::kernels::{load_fn, store_fn};
    use crate::format::{ChannelClass, all};
    use random::Random;

    /// Every format that may have samples, by texels one by one.
    pub(crate) fn means_are_those_of_texels(level: Level) {
        let mut r = Random::new(5);
        let mut next = || r.u32() >> 9;
        let Some(row) = row(level) else { return };
        let floats = |i: &&FormatInfo| i.color_attachment() && i.channel_class() == ChannelClass::Float;
        for i in all().iter().filter(floats) {
            let (load, store) = (load_fn(i), store_fn(i));
            let bytes = i.block_bytes as usize;
            for (samples, count) in [(2, 3), (4, 16), (8, 35), (4, 16 * WARPS + 5), (16, 20)] {
                let same = next() % 3 == 0;
                let mut from = vec![0u8; samples * count * bytes];
                for n in 0..samples * count {
                    let t = [0; 4].map(|_| ((next() as f32 / (1 << 23) as f32) - 0.25).to_bits());
                    // SAFETY: a texel of those.
                    unsafe { store(i, from[n * bytes..].as_mut_ptr(), t) };
                }
                if same {
                    let (first, rest) = from.split_at_mut(count * bytes);
                    rest.chunks_mut(count * bytes).for_each(|r| r.copy_from_slice(first));
                }
                let mut got = vec![0u8; count * bytes];
                let plans = [Plan::new(i); 2];
                // SAFETY: so many texels of so many samples.
                unsafe { row(&plans, from.as_ptr(), count * bytes, samples, got.as_mut_ptr(), count) };
                for x in 0..count {
                    let mut sum = [0f64; 4];
                    for k in 0..samples {
                        // SAFETY: a texel of those.
                        let t = unsafe { load(i, from[(k * count + x) * bytes..].as_ptr()) };
                        sum.iter_mut().zip(t).for_each(|(a, v)| *a += f32::from_bits(v) as f64);
                    }
                    let mean = sum.map(|v| ((v * (1.0 / samples as f64)) as f32).to_bits());
                    let mut want = [0u8; 16];
                    // SAFETY: room for a texel.
                    unsafe { store(i, want.as_mut_ptr(), mean) };
                    assert_eq!(got[x * bytes..][..bytes], want[..bytes], "{} at {x}, {samples}", i.name);
                }
            }
        }
    }
}

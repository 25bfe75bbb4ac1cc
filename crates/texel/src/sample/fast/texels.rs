//! Texels of sixteen lanes by format.

use super::Fast;
use super::unit::Unit;
use crate::vector::store;
use simd::Simd;
use simd::ops;

/// 1/255 in two parts: `v · HIGH + v · LOW`, the sum rounded once, is `v / 255` rounded, for every byte.
pub const HIGH: f32 = f32::from_bits(0x3b80_8081);
pub const LOW: f32 = f32::from_bits(0xaf7e_feff);

/// A filtered byte's share of 255; exact where all texels agree.
#[inline(always)]
pub fn scale(v: f32) -> f32 {
    v.mul_add(HIGH, v * LOW)
}

/// How texels of a format are read.
pub trait Texels: 'static {
    /// Channels that the format has.
    const N: usize;
    /// log2 of a texel's bytes.
    const SHIFT: u32;
    /// Channels are bytes until [`Texels::finish`].
    const BYTES: bool = false;
    /// Channels may be infinite or NaN.
    const FLOATS: bool = false;
    /// Texels of any format: see [`super::any`].
    const ANY: bool = false;
    /// [`Texels::BYTES`] of a view's format.
    #[inline(always)]
    fn bytes(_: &Fast) -> bool {
        Self::BYTES
    }
    /// [`Texels::FLOATS`] of a view's format.
    #[inline(always)]
    fn floats(_: &Fast) -> bool {
        Self::FLOATS
    }
    /// The format has channel `k`.
    #[inline(always)]
    fn has(_: &Fast, k: usize) -> bool {
        k < Self::N
    }
    /// The format has four.
    #[inline(always)]
    fn has_all(_: &Fast) -> bool {
        Self::N == 4
    }
    /// What offsets of texels are made in.
    #[inline(always)]
    fn unit(_: &Fast) -> Unit {
        Unit::Shift(Self::SHIFT)
    }
    /// The channel may be a depth, which samples are compared with.
    const DEPTHS: bool = false;
    /// Channels at `base + at`.
    ///
    /// # Safety
    /// All offsets are those of texels, all of the aligned words of which are readable; `base` is aligned to 4.
    unsafe fn load<S: Simd>(s: S, f: &Fast, base: *const u8, at: S::I, out: &mut [S::F; 4]);
    /// [`Texels::load`] of four texels of each lane.
    ///
    /// # Safety
    /// As [`Texels::load`], of each.
    #[inline(always)]
    unsafe fn load4<S: Simd>(s: S, f: &Fast, base: *const u8, at: &[S::I; 4], out: &mut [[S::F; 4]; 4]) {
        for n in 0..4 {
            // SAFETY: the caller's texels.
            unsafe { Self::load(s, f, base, at[n], &mut out[n]) };
        }
    }
    /// Channels of texels of one word each; only where `SHIFT` is 2 and `WORD` is set.
    #[inline(always)]
    fn unpack<S: Simd>(_: S, _: &Fast, _: S::I, _: &mut [S::F; 4]) {}
    const WORD: bool = false;
    /// [`Texels::pair`] is there: two neighbours in a row are read together.
    const PAIRS: bool = false;
    /// Channels of the texels at `base + at` and right of them, those of `wanted` (a bit each) at least; `last`: where the last four bytes
    /// of the level begin.
    ///
    /// # Safety
    /// As [`Texels::load`], of both texels; they are of the level that `last` is of.
    #[inline(always)]
    unsafe fn pair<S: Simd>(
        _: S,
        _: &Fast,
        _: *const u8,
        _: S::I,
        _: S::I,
        _wanted: u8,
        _: &mut [S::F; 4],
        _: &mut [S::F; 4],
    ) {
    }
    /// [`Texels::load`] of texels and of those right of them, which are in memory side by side; where `WORD` is set, or `PAIRS` and
    /// texels have more than one byte.
    ///
    /// # Safety
    /// As [`Texels::load`], of both texels.
    #[inline(always)]
    unsafe fn beside<S: Simd>(
        s: S,
        f: &Fast,
        base: *const u8,
        at: S::I,
        a: &mut [S::F; 4],
        b: &mut [S::F; 4],
    ) {
        // SAFETY: the caller's texels. Where `last` matters, texels have one byte.
        unsafe {
            if Self::WORD {
                let [l, r] = s.igather2(base, at);
                Self::unpack(s, f, l, a);
                Self::unpack(s, f, r, b);
            } else {
                Self::pair(s, f, base, at, at, 0xF, a, b);
            }
        }
    }
    /// Texels are four 16-bit floats.
    const HALVES: bool = false;
    /// Filtered channels to the result.
    #[inline(always)]
    fn finish<S: Simd>(s: S, f: &Fast, t: &mut [S::F; 4]) {
        if Self::bytes(f) {
            for v in t.iter_mut().take(Self::N) {
                *v = s.fma(*v, s.fsplat(HIGH), s.fmul(*v, s.fsplat(LOW)));
            }
        }
    }
}

/// One word at each offset.
///
/// # Safety
/// Four bytes are readable at each.
#[inline(always)]
pub unsafe fn words<S: Simd>(s: S, base: *const u8, at: S::I) -> S::I {
    // SAFETY: four bytes at each, says the caller.
    unsafe { s.iwords(base, at) }
}

/// Four words from each offset on: a load of its own for each lane, which takes half of two gathers' time.
///
/// # Safety
/// Sixteen bytes are readable at each.
#[inline(always)]
pub unsafe fn words4<S: Simd>(s: S, base: *const u8, at: S::I) -> [S::I; 4] {
    let mut o = [0u32; 16];
    store(s, &mut o, at);
    let mut lanes = [at; 4];
    for k in 0..4 {
        let mut from = [base.cast_mut(); 4];
        for i in 0..4 {
            from[i] = from[i].wrapping_add(o[k + 4 * i] as usize);
        }
        // SAFETY: sixteen bytes at each, says the caller.
        lanes[k] = unsafe { s.iload4(from) };
    }
    s.itranspose4(lanes)
}

/// Words whose low bits are the texel of 1 or 2 bytes at `at`: never reads beyond the aligned word.
///
/// # Safety
/// As [`words`], at the multiple of four before each; `base` is such a one.
#[inline(always)]
pub unsafe fn narrow<S: Simd>(s: S, base: *const u8, at: S::I) -> S::I {
    // SAFETY: four bytes at each, says the caller.
    let w = unsafe { words(s, base, s.iand(at, s.isplat(!3))) };
    s.ishr(w, ops::shl(s, s.iand(at, s.isplat(3)), 3))
}

#[inline(always)]
fn byte<S: Simd>(s: S, w: S::I, i: u32) -> S::I {
    if i == 3 { ops::shr(s, w, 24) } else { s.iand(ops::shr(s, w, 8 * i), s.isplat(255)) }
}

/// `N` unsigned normalised bytes.
pub struct Bytes<const N: usize>;

impl<const N: usize> Texels for Bytes<N> {
    const N: usize = N;
    const SHIFT: u32 = N.trailing_zeros();
    const BYTES: bool = true;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, f: &Fast, base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        // SAFETY: the caller's texels, and where they are smaller than a word, the aligned one that each is in.
        Self::unpack(s, f, unsafe { if N == 4 { words(s, base, at) } else { narrow(s, base, at) } }, out);
    }
    const WORD: bool = N == 4;
    const PAIRS: bool = N < 4;
    #[inline(always)]
    unsafe fn pair<S: Simd>(
        s: S,
        _: &Fast,
        base: *const u8,
        at: S::I,
        last: S::I,
        _: u8,
        a: &mut [S::F; 4],
        b: &mut [S::F; 4],
    ) {
        let w = if N == 1 {
            // Not beyond the level: single bytes may be its last.
            let from = s.umin(at, last);
            // SAFETY: the level has four bytes from `last` on, and from each place before it.
            let w = unsafe { words(s, base, from) };
            s.ishr(w, ops::shl(s, s.isub(at, from), 3))
        } else {
            // SAFETY: two texels of two bytes.
            unsafe { words(s, base, at) }
        };
        for i in 0..N {
            a[i] = s.s_to_f(byte(s, w, i as u32));
            b[i] = s.s_to_f(byte(s, w, (N + i) as u32));
        }
    }
    #[inline(always)]
    fn unpack<S: Simd>(s: S, _: &Fast, w: S::I, out: &mut [S::F; 4]) {
        for i in 0..N {
            out[i] = s.s_to_f(byte(s, w, i as u32));
        }
    }
}

/// One unsigned normalised component of 16 bits.
pub struct Unorm16;

impl Texels for Unorm16 {
    const N: usize = 1;
    const DEPTHS: bool = true;
    const SHIFT: u32 = 1;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, _: &Fast, base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        // SAFETY: the aligned words that the caller's texels are in.
        let v = s.iand(unsafe { narrow(s, base, at) }, s.isplat(0xffff));
        out[0] = s.fdiv(s.s_to_f(v), s.fsplat(65535.0));
    }
    const PAIRS: bool = true;
    #[inline(always)]
    unsafe fn pair<S: Simd>(
        s: S,
        _: &Fast,
        base: *const u8,
        at: S::I,
        _: S::I,
        _: u8,
        a: &mut [S::F; 4],
        b: &mut [S::F; 4],
    ) {
        // SAFETY: two texels of two bytes.
        let w = unsafe { words(s, base, at) };
        a[0] = s.fdiv(s.s_to_f(s.iand(w, s.isplat(0xffff))), s.fsplat(65535.0));
        b[0] = s.fdiv(s.s_to_f(ops::shr(s, w, 16)), s.fsplat(65535.0));
    }
}

/// Depth in the low 24 bits of a word.
pub struct Depth24;

impl Texels for Depth24 {
    const N: usize = 1;
    const DEPTHS: bool = true;
    const SHIFT: u32 = 2;
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, _: &Fast, base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        // SAFETY: the caller's texels.
        out[0] = depth24(s, unsafe { words(s, base, at) });
    }
    const PAIRS: bool = true;
    #[inline(always)]
    unsafe fn pair<S: Simd>(
        s: S,
        _: &Fast,
        base: *const u8,
        at: S::I,
        _: S::I,
        _: u8,
        a: &mut [S::F; 4],
        b: &mut [S::F; 4],
    ) {
        // SAFETY: two texels of a word.
        let [l, r] = unsafe { s.igather2(base, at) };
        (a[0], b[0]) = (depth24(s, l), depth24(s, r));
    }
}

#[inline(always)]
fn depth24<S: Simd>(s: S, w: S::I) -> S::F {
    s.fdiv(s.s_to_f(s.iand(w, s.isplat(0xff_ffff))), s.fsplat(16777215.0))
}

/// `N` half floats.
pub struct Half<const N: usize>;

impl<const N: usize> Texels for Half<N> {
    const N: usize = N;
    const FLOATS: bool = true;
    const SHIFT: u32 = 1 + N.trailing_zeros();
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, _: &Fast, base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        if N == 1 {
            // SAFETY: the aligned words that the caller's texels are in.
            out[0] = s.f16_to_f(unsafe { narrow(s, base, at) });
            return;
        }
        // SAFETY: texels of two words, or of one.
        let w = unsafe { if N == 4 { s.igather2(base, at) } else { [words(s, base, at); 2] } };
        for i in 0..N / 2 {
            out[2 * i] = s.f16_to_f(w[i]);
            out[2 * i + 1] = s.f16_to_f(ops::shr(s, w[i], 16));
        }
    }
    const HALVES: bool = N == 4;
    const PAIRS: bool = true;
    #[inline(always)]
    unsafe fn pair<S: Simd>(
        s: S,
        _: &Fast,
        base: *const u8,
        at: S::I,
        _: S::I,
        wanted: u8,
        a: &mut [S::F; 4],
        b: &mut [S::F; 4],
    ) {
        if N == 4 {
            // SAFETY: two texels of two words.
            let w = unsafe { words4(s, base, at) };
            for k in 0..4 {
                if wanted >> k & 1 != 0 {
                    let by = 16 * (k as u32 % 2);
                    a[k] = s.f16_to_f(ops::shr(s, w[k / 2], by));
                    b[k] = s.f16_to_f(ops::shr(s, w[2 + k / 2], by));
                }
            }
            return;
        }
        if N == 1 {
            // SAFETY: two texels of two bytes.
            let w = unsafe { words(s, base, at) };
            (a[0], b[0]) = (s.f16_to_f(w), s.f16_to_f(ops::shr(s, w, 16)));
            return;
        }
        // SAFETY: two texels of a word.
        let [l, r] = unsafe { s.igather2(base, at) };
        (a[0], a[1]) = (s.f16_to_f(l), s.f16_to_f(ops::shr(s, l, 16)));
        (b[0], b[1]) = (s.f16_to_f(r), s.f16_to_f(ops::shr(s, r, 16)));
    }
}

/// `N` floats.
pub struct Float<const N: usize>;

impl<const N: usize> Texels for Float<N> {
    const N: usize = N;
    const DEPTHS: bool = N == 1;
    const FLOATS: bool = true;
    const SHIFT: u32 = 2 + N.trailing_zeros();
    #[inline(always)]
    unsafe fn load<S: Simd>(s: S, _: &Fast, base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        if N == 1 {
            // SAFETY: the caller's texels.
            out[0] = s.from_bits(unsafe { words(s, base, at) });
            return;
        }
        if N == 4 {
            // SAFETY: texels of four words.
            let w = unsafe { words4(s, base, at) };
            for i in 0..4 {
                out[i] = s.from_bits(w[i]);
            }
            return;
        }
        // SAFETY: texels of two words.
        let [a, b] = unsafe { s.igather2(base, at) };
        (out[0], out[1]) = (s.from_bits(a), s.from_bits(b));
    }
    const PAIRS: bool = N < 4;
    #[inline(always)]
    unsafe fn pair<S: Simd>(
        s: S,
        _: &Fast,
        base: *const u8,
        at: S::I,
        _: S::I,
        _: u8,
        a: &mut [S::F; 4],
        b: &mut [S::F; 4],
    ) {
        if N == 2 {
            // SAFETY: two texels of two words.
            let w = unsafe { words4(s, base, at) };
            for i in 0..2 {
                (a[i], b[i]) = (s.from_bits(w[i]), s.from_bits(w[2 + i]));
            }
            return;
        }
        // SAFETY: two texels of a word.
        let [l, r] = unsafe { s.igather2(base, at) };
        (a[0], b[0]) = (s.from_bits(l), s.from_bits(r));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        for v in 0..=255u32 {
            let unit = v as f32 / 255.0;
            assert_eq!(scale(v as f32), unit);
            assert_eq!(unit * 255.0, v as f32);
        }
    }
}

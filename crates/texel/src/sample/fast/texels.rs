//! Texels of sixteen lanes by format.

use crate::format::num::srgb8_table;
use simd::Simd;
use simd::ops;

/// 1/255 in two parts: `v · HIGH + v · LOW`, the sum rounded once, is `v / 255` rounded, for every byte.
pub const HIGH: f32 = f32::from_bits(0x3b80_8081);
pub const LOW: f32 = f32::from_bits(0xaf7e_feff);

/// A filtered byte's share of 255; exact where all texels agree.
#[inline]
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
    /// Channels at `base + at`.
    ///
    /// # Safety
    /// All offsets are those of texels; `base` is aligned to 4.
    unsafe fn load<S: Simd>(base: *const u8, at: S::I, out: &mut [S::F; 4]);
    /// Channels of texels of one word each; only where `SHIFT` is 2 and `WORD` is set.
    #[inline(always)]
    unsafe fn unpack<S: Simd>(_: S::I, _: &mut [S::F; 4]) {}
    const WORD: bool = false;
    /// [`Texels::pair`] is there: two neighbours in a row are read together.
    const PAIRS: bool = false;
    /// Channels of the texels at `base + at` and right of them; `last`: where the last four bytes of the level begin.
    ///
    /// # Safety
    /// As [`Texels::load`], of both texels.
    #[inline(always)]
    unsafe fn pair<S: Simd>(_: *const u8, _: S::I, _: S::I, _: &mut [S::F; 4], _: &mut [S::F; 4]) {}
    /// Filtered channels to the result.
    #[inline(always)]
    unsafe fn finish<S: Simd>(t: &mut [S::F; 4]) {
        if Self::BYTES {
            for v in t.iter_mut().take(Self::N) {
                *v = S::fma(*v, S::fsplat(HIGH), S::fmul(*v, S::fsplat(LOW)));
            }
        }
    }
}

/// One word at each offset.
#[inline(always)]
pub unsafe fn words<S: Simd>(base: *const u8, at: S::I) -> S::I {
    S::igather(base, at, S::mask(0xffff))
}

/// Words whose low bits are the texel of 1 or 2 bytes at `at`: never reads beyond the aligned word.
#[inline(always)]
unsafe fn narrow<S: Simd>(base: *const u8, at: S::I) -> S::I {
    let w = words::<S>(base, S::iand(at, S::isplat(!3)));
    S::ishr(w, ops::shl::<S>(S::iand(at, S::isplat(3)), 3))
}

#[inline(always)]
unsafe fn byte<S: Simd>(w: S::I, i: u32) -> S::I {
    if i == 3 { ops::shr::<S>(w, 24) } else { S::iand(ops::shr::<S>(w, 8 * i), S::isplat(255)) }
}

/// `N` unsigned normalised bytes; red and blue exchanged if `BGR`.
pub struct Bytes<const N: usize, const BGR: bool>;

impl<const N: usize, const BGR: bool> Texels for Bytes<N, BGR> {
    const N: usize = N;
    const SHIFT: u32 = N.trailing_zeros();
    const BYTES: bool = true;
    #[inline(always)]
    unsafe fn load<S: Simd>(base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        Self::unpack::<S>(if N == 4 { words::<S>(base, at) } else { narrow::<S>(base, at) }, out);
    }
    const WORD: bool = N == 4;
    const PAIRS: bool = N < 4;
    #[inline(always)]
    unsafe fn pair<S: Simd>(base: *const u8, at: S::I, last: S::I, a: &mut [S::F; 4], b: &mut [S::F; 4]) {
        let w = if N == 1 {
            // Not beyond the level: single bytes may be its last.
            let from = S::umin(at, last);
            S::ishr(words::<S>(base, from), ops::shl::<S>(S::isub(at, from), 3))
        } else {
            words::<S>(base, at)
        };
        for i in 0..N {
            a[i] = S::s_to_f(byte::<S>(w, i as u32));
            b[i] = S::s_to_f(byte::<S>(w, (N + i) as u32));
        }
    }
    #[inline(always)]
    unsafe fn unpack<S: Simd>(w: S::I, out: &mut [S::F; 4]) {
        for i in 0..N {
            let k = if BGR && i != 3 { 2 - i } else { i };
            out[k] = S::s_to_f(byte::<S>(w, i as u32));
        }
    }
}

/// Three bytes through the sRGB curve, and a linear alpha.
pub struct Srgb<const BGR: bool>;

impl<const BGR: bool> Texels for Srgb<BGR> {
    const N: usize = 4;
    const SHIFT: u32 = 2;
    #[inline(always)]
    unsafe fn load<S: Simd>(base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        Self::unpack::<S>(words::<S>(base, at), out);
    }
    const WORD: bool = true;
    #[inline(always)]
    unsafe fn unpack<S: Simd>(w: S::I, out: &mut [S::F; 4]) {
        let table = srgb8_table().as_ptr().cast::<u8>();
        for i in 0..3 {
            let k = if BGR { 2 - i } else { i };
            out[k] = S::from_bits(words::<S>(table, ops::shl::<S>(byte::<S>(w, i as u32), 2)));
        }
        let a = S::s_to_f(byte::<S>(w, 3));
        out[3] = S::fma(a, S::fsplat(HIGH), S::fmul(a, S::fsplat(LOW)));
    }
}

/// One unsigned normalised component of 16 bits.
pub struct Unorm16;

impl Texels for Unorm16 {
    const N: usize = 1;
    const SHIFT: u32 = 1;
    #[inline(always)]
    unsafe fn load<S: Simd>(base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        let v = S::iand(narrow::<S>(base, at), S::isplat(0xffff));
        out[0] = S::fdiv(S::s_to_f(v), S::fsplat(65535.0));
    }
    const PAIRS: bool = true;
    #[inline(always)]
    unsafe fn pair<S: Simd>(base: *const u8, at: S::I, _: S::I, a: &mut [S::F; 4], b: &mut [S::F; 4]) {
        let w = words::<S>(base, at);
        a[0] = S::fdiv(S::s_to_f(S::iand(w, S::isplat(0xffff))), S::fsplat(65535.0));
        b[0] = S::fdiv(S::s_to_f(ops::shr::<S>(w, 16)), S::fsplat(65535.0));
    }
}

/// `N` half floats.
pub struct Half<const N: usize>;

impl<const N: usize> Texels for Half<N> {
    const N: usize = N;
    const FLOATS: bool = true;
    const SHIFT: u32 = 1 + N.trailing_zeros();
    #[inline(always)]
    unsafe fn load<S: Simd>(base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        if N == 1 {
            out[0] = S::f16_to_f(narrow::<S>(base, at));
            return;
        }
        let w = if N == 4 { S::igather2(base, at) } else { [words::<S>(base, at); 2] };
        for i in 0..N / 2 {
            out[2 * i] = S::f16_to_f(w[i]);
            out[2 * i + 1] = S::f16_to_f(ops::shr::<S>(w[i], 16));
        }
    }
    const PAIRS: bool = N < 4;
    #[inline(always)]
    unsafe fn pair<S: Simd>(base: *const u8, at: S::I, _: S::I, a: &mut [S::F; 4], b: &mut [S::F; 4]) {
        if N == 1 {
            let w = words::<S>(base, at);
            (a[0], b[0]) = (S::f16_to_f(w), S::f16_to_f(ops::shr::<S>(w, 16)));
            return;
        }
        let [l, r] = S::igather2(base, at);
        (a[0], a[1]) = (S::f16_to_f(l), S::f16_to_f(ops::shr::<S>(l, 16)));
        (b[0], b[1]) = (S::f16_to_f(r), S::f16_to_f(ops::shr::<S>(r, 16)));
    }
}

/// `N` floats.
pub struct Float<const N: usize>;

impl<const N: usize> Texels for Float<N> {
    const N: usize = N;
    const FLOATS: bool = true;
    const SHIFT: u32 = 2 + N.trailing_zeros();
    #[inline(always)]
    unsafe fn load<S: Simd>(base: *const u8, at: S::I, out: &mut [S::F; 4]) {
        if N == 1 {
            out[0] = S::from_bits(words::<S>(base, at));
            return;
        }
        for i in 0..N / 2 {
            let [a, b] = S::igather2(base.add(8 * i), at);
            out[2 * i] = S::from_bits(a);
            out[2 * i + 1] = S::from_bits(b);
        }
    }
    const PAIRS: bool = N == 1;
    #[inline(always)]
    unsafe fn pair<S: Simd>(base: *const u8, at: S::I, _: S::I, a: &mut [S::F; 4], b: &mut [S::F; 4]) {
        let [l, r] = S::igather2(base, at);
        (a[0], b[0]) = (S::from_bits(l), S::from_bits(r));
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

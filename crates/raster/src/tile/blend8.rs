//! Blending into four unorm bytes in 16-bit fixed point: result = source term + destination · factor, where term and
//! factor don't depend on the destination. Error is below a fiftieth of a code; every level gives the same bits.

use simd::{Level, Simd};

/// A number of 0 to 1 times `scale`, to the nearest; `high`: 65536 times as much, with a fraction below.
#[inline(always)]
pub fn fixed<S: Simd>(s: S, v: S::F, scale: f32, high: bool) -> S::I {
    // By a power of two everything rounds as it did.
    let by = if high { 65536.0 } else { 1.0 };
    s.f_to_s_raw(s.fadd(s.fmul(v, s.fsplat(scale * by)), s.fsplat(0.5 * by)))
}

/// Two channels' numbers in the halves of words, as [`fixed`] gives them.
#[inline(always)]
pub fn pair<S: Simd>(s: S, low: S::I, high: S::I) -> S::I {
    s.ior(s.iand(high, s.isplat(0xFFFF_0000)), low)
}

/// [`fixed`]'s scale for terms.
pub const TERM: f32 = 255.0 * 128.0;
/// And for factors.
pub const FACTOR: f32 = 32767.0;

/// `term` is scaled by [`TERM`], `factor` by [`FACTOR`]; channels in the order of the bytes, two to a word.
///
/// # Safety
/// `px` points to sixteen pixels.
#[inline(always)]
pub unsafe fn blend<S: Simd>(s: S, px: *mut u8, term: [S::I; 2], factor: [S::I; 2], mask: u16) {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: levels whose instructions these are; the caller's pixels.
        let new = match s.level() {
            Level::Portable => None,
            Level::Avx2(_) => Some(unsafe { avx2(s, px, &term, &factor) }),
            Level::Avx512(_) => Some(unsafe { avx512(s, px, &term, &factor) }),
        };
        if let Some(new) = new {
            // SAFETY: the caller's pixels.
            unsafe {
                if mask == 0xFFFF {
                    s.istoreu(px, new);
                } else {
                    s.istore_mask(px, s.mask(mask), new);
                }
            }
            return;
        }
    }
    let mut t = Rows([[0; 16]; 4]);
    for c in 0..2 {
        // SAFETY: arrays of sixteen words, aligned.
        unsafe {
            s.istore(t.0[c].as_mut_ptr().cast(), term[c]);
            s.istore(t.0[c + 2].as_mut_ptr().cast(), factor[c]);
        }
    }
    for l in 0..16 {
        if mask >> l & 1 != 0 {
            for c in 0..4 {
                let half = |of: usize| (t.0[of + c / 2][l] >> (16 * (c % 2)) & 0xFFFF) as i32;
                // SAFETY: a byte of the caller's sixteen pixels.
                let p = unsafe { &mut *px.add(l * 4 + c) };
                let kept = ((*p as i32 * 128) * half(2) + 0x4000) >> 15;
                let sum = (kept + half(0)).min(32767);
                *p = ((sum + 64) >> 7).min(255) as u8;
            }
        }
    }
}

#[repr(C, align(64))]
struct Rows([[u32; 16]; 4]);

/// By which a product is rounded to codes.
#[cfg(target_arch = "x86_64")]
const TO_CODES: i16 = 1 << 8;

/// # Safety
/// As [`blend`]; `S` is of a level with AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn avx2<S: Simd>(_: S, px: *const u8, term: &[S::I; 2], factor: &[S::I; 2]) -> S::I {
    const { assert!(size_of::<S::I>() == 64) };
    // SAFETY: the caller's level has the instructions; `px` has 64 bytes; vectors of `S` are 64 bytes without padding, any of
    // which will do, in halves whose words lie as in memory.
    unsafe {
        use std::arch::x86_64::*;
        let [t, k]: [[[__m256i; 2]; 2]; 2] =
            [std::mem::transmute_copy(term), std::mem::transmute_copy(factor)];
        let zero = _mm256_setzero_si256();
        let codes = _mm256_set1_epi16(TO_CODES);
        let mut out = [zero; 2];
        for h in 0..2 {
            let p = _mm256_loadu_si256(px.cast::<__m256i>().add(h));
            let dl = _mm256_slli_epi16(_mm256_unpacklo_epi8(p, zero), 7);
            let dh = _mm256_slli_epi16(_mm256_unpackhi_epi8(p, zero), 7);
            let ml = _mm256_mulhrs_epi16(dl, _mm256_unpacklo_epi32(k[0][h], k[1][h]));
            let mh = _mm256_mulhrs_epi16(dh, _mm256_unpackhi_epi32(k[0][h], k[1][h]));
            let sl = _mm256_adds_epi16(ml, _mm256_unpacklo_epi32(t[0][h], t[1][h]));
            let sh = _mm256_adds_epi16(mh, _mm256_unpackhi_epi32(t[0][h], t[1][h]));
            // 256 is as good as 255: packing saturates.
            out[h] = _mm256_packus_epi16(_mm256_mulhrs_epi16(sl, codes), _mm256_mulhrs_epi16(sh, codes));
        }
        std::mem::transmute_copy(&out)
    }
}

/// # Safety
/// As [`blend`]; `S` is of a level with AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn avx512<S: Simd>(_: S, px: *const u8, term: &[S::I; 2], factor: &[S::I; 2]) -> S::I {
    const { assert!(size_of::<S::I>() == 64) };
    // SAFETY: as in `avx2`.
    unsafe {
        use std::arch::x86_64::*;
        let [t, k]: [[__m512i; 2]; 2] = [std::mem::transmute_copy(term), std::mem::transmute_copy(factor)];
        let codes = _mm512_set1_epi16(TO_CODES);
        let p = _mm512_loadu_si512(px.cast());
        let dl = _mm512_slli_epi16(_mm512_unpacklo_epi8(p, _mm512_setzero_si512()), 7);
        let dh = _mm512_slli_epi16(_mm512_unpackhi_epi8(p, _mm512_setzero_si512()), 7);
        let ml = _mm512_mulhrs_epi16(dl, _mm512_unpacklo_epi32(k[0], k[1]));
        let mh = _mm512_mulhrs_epi16(dh, _mm512_unpackhi_epi32(k[0], k[1]));
        let sl = _mm512_adds_epi16(ml, _mm512_unpacklo_epi32(t[0], t[1]));
        let sh = _mm512_adds_epi16(mh, _mm512_unpackhi_epi32(t[0], t[1]));
        let out = _mm512_packus_epi16(_mm512_mulhrs_epi16(sl, codes), _mm512_mulhrs_epi16(sh, codes));
        std::mem::transmute_copy(&out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(always)]
    fn body<S: Simd>(s: S, px: &mut [u8; 64], t: &[[u32; 16]; 4], k: &[[u32; 16]; 4], mask: u16) {
        let row = |r: &[u32; 16]| simd::ops::i_from(s, *r);
        // What is below the higher one is nobody's.
        let high = |r: &[u32; 16]| simd::ops::i_from(s, r.map(|v| v << 16 | v & 0xFFF));
        let rows = |r: &[[u32; 16]; 4]| [pair(s, row(&r[0]), high(&r[1])), pair(s, row(&r[2]), high(&r[3]))];
        // SAFETY: sixteen pixels.
        unsafe { blend(s, px.as_mut_ptr(), rows(t), rows(k), mask) };
    }
    simd::by_level!(fn run = body, (px: &mut [u8; 64], t: &[[u32; 16]; 4], k: &[[u32; 16]; 4], mask: u16));

    /// Against exact arithmetic, on every level of this machine.
    #[test]
    fn near_exact_and_the_same_everywhere() {
        let mut seed = 1u32;
        let mut next = |n: u32| {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (seed >> 8) % n
        };
        for _ in 0..500 {
            let start: [u8; 64] = std::array::from_fn(|_| next(256) as u8);
            let mut t = [[0u32; 16]; 4];
            let mut k = [[0u32; 16]; 4];
            t.iter_mut().flatten().for_each(|t| *t = next(255 * 128 + 1));
            k.iter_mut().flatten().for_each(|k| *k = [0, 32767, next(32768)][next(3) as usize]);
            let mask = next(1 << 16) as u16 | if next(2) == 0 { 0xFFFF } else { 0 };
            let mut want = start;
            run(Level::Portable, &mut want, &t, &k, mask);
            for l in 0..16 {
                for c in 0..4 {
                    let at = l * 4 + c;
                    let exact = t[c][l] as f64 / 128.0 + start[at] as f64 * k[c][l] as f64 / 32767.0;
                    let exact = if mask >> l & 1 != 0 { exact.min(255.0) } else { start[at] as f64 };
                    assert!((want[at] as f64 - exact).abs() <= 0.52, "{} {exact}", want[at]);
                }
            }
            for level in Level::tested() {
                let mut got = start;
                run(level, &mut got, &t, &k, mask);
                assert_eq!(got, want, "{level:?}");
            }
        }
    }
}

//! Blending into four unorm bytes in 16-bit fixed point: result = source term + destination · factor, where term and
//! factor don't depend on the destination. Error is below a fiftieth of a code; every level gives the same bits.

use simd::{Level, Simd};

/// `term` is scaled by 255 · 128, `factor` by 32767, both rounded to the nearest; channels in the order of the bytes.
///
/// # Safety
/// `px` points to sixteen pixels.
#[inline(always)]
pub unsafe fn blend<S: Simd>(s: S, px: *mut u8, term: &[S::I; 4], factor: &[S::I; 4], mask: u16) {
    #[cfg(target_arch = "x86_64")]
    if s.level() != Level::Portable {
        // SAFETY: a level above the baseline, so the CPU has AVX2; the caller's pixels.
        return unsafe { avx2(s, px, term, factor, mask) };
    }
    let mut t = Rows([[0; 16]; 8]);
    for c in 0..4 {
        // SAFETY: arrays of sixteen words, aligned.
        unsafe {
            s.istore(t.0[c].as_mut_ptr().cast(), term[c]);
            s.istore(t.0[c + 4].as_mut_ptr().cast(), factor[c]);
        }
    }
    for l in 0..16 {
        if mask >> l & 1 != 0 {
            for c in 0..4 {
                // SAFETY: a byte of the caller's sixteen pixels.
                let p = unsafe { &mut *px.add(l * 4 + c) };
                let kept = ((*p as i32 * 128) * t.0[c + 4][l] + 0x4000) >> 15;
                let sum = (kept + t.0[c][l]).min(32767);
                *p = ((sum + 64).min(32767) >> 7).clamp(0, 255) as u8;
            }
        }
    }
}

#[repr(C, align(64))]
struct Rows([[i32; 16]; 8]);

/// A vector's halves: on the levels with vectors of their own its sixteen words lie as in memory.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn halves<S: Simd>(_: S, v: &S::I) -> [std::arch::x86_64::__m256i; 2] {
    const { assert!(size_of::<S::I>() == 64) };
    // SAFETY: both are 64 bytes without padding, any of which will do.
    unsafe { std::mem::transmute_copy(v) }
}

/// # Safety
/// As [`blend`]; `S` is of a level with AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn avx2<S: Simd>(s: S, px: *mut u8, term: &[S::I; 4], factor: &[S::I; 4], mask: u16) {
    // SAFETY: the caller's level has the instructions; `px` has 64 bytes; vectors of `S` are 64 bytes, any of which will do.
    unsafe {
        use std::arch::x86_64::*;
        let t = [halves(s, &term[0]), halves(s, &term[1]), halves(s, &term[2]), halves(s, &term[3])];
        let k = [halves(s, &factor[0]), halves(s, &factor[1]), halves(s, &factor[2]), halves(s, &factor[3])];
        let zero = _mm256_setzero_si256();
        let round = _mm256_set1_epi16(64);
        let mut out = [zero; 2];
        for h in 0..2 {
            // Two channels in the halves of a word; then pixels of four.
            let t01 = _mm256_or_si256(t[0][h], _mm256_slli_epi32(t[1][h], 16));
            let t23 = _mm256_or_si256(t[2][h], _mm256_slli_epi32(t[3][h], 16));
            let k01 = _mm256_or_si256(k[0][h], _mm256_slli_epi32(k[1][h], 16));
            let k23 = _mm256_or_si256(k[2][h], _mm256_slli_epi32(k[3][h], 16));
            let p = _mm256_loadu_si256(px.cast::<__m256i>().add(h));
            let dl = _mm256_slli_epi16(_mm256_unpacklo_epi8(p, zero), 7);
            let dh = _mm256_slli_epi16(_mm256_unpackhi_epi8(p, zero), 7);
            let ml = _mm256_mulhrs_epi16(dl, _mm256_unpacklo_epi32(k01, k23));
            let mh = _mm256_mulhrs_epi16(dh, _mm256_unpackhi_epi32(k01, k23));
            let sl = _mm256_adds_epi16(ml, _mm256_unpacklo_epi32(t01, t23));
            let sh = _mm256_adds_epi16(mh, _mm256_unpackhi_epi32(t01, t23));
            let cl = _mm256_srai_epi16(_mm256_adds_epi16(sl, round), 7);
            let ch = _mm256_srai_epi16(_mm256_adds_epi16(sh, round), 7);
            out[h] = _mm256_packus_epi16(cl, ch);
        }
        let new: S::I = std::mem::transmute_copy(&out);
        if mask == 0xFFFF {
            s.istoreu(px, new);
        } else {
            s.istore_mask(px, s.mask(mask), new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(always)]
    fn body<S: Simd>(s: S, px: &mut [u8; 64], t: &[[u32; 16]; 4], k: &[[u32; 16]; 4], mask: u16) {
        let row = |r: &[u32; 16]| simd::ops::i_from(s, *r);
        let rows = |r: &[[u32; 16]; 4]| [row(&r[0]), row(&r[1]), row(&r[2]), row(&r[3])];
        // SAFETY: sixteen pixels.
        unsafe { blend(s, px.as_mut_ptr(), &rows(t), &rows(k), mask) };
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

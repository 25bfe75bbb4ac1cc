//! Texels of four floats, two by two, with AVX2.

use std::arch::x86_64::*;

crate::avx2! {
    /// Of texels of four numbers: the left ones of two rows, and the right ones.
    ///
    /// # Safety
    /// There are two texels at each place.
    #[inline]
    unsafe fn columns<const HALF: bool>(upper: *const u8, lower: *const u8) -> [__m256; 2] {
        // SAFETY: the caller's.
        unsafe {
            if HALF {
                let (u, l) = (_mm_loadu_si128(upper.cast()), _mm_loadu_si128(lower.cast()));
                [_mm256_cvtph_ps(_mm_unpacklo_epi64(u, l)), _mm256_cvtph_ps(_mm_unpackhi_epi64(u, l))]
            } else {
                let (u, l) = (upper.cast::<f32>(), lower.cast::<f32>());
                [_mm256_loadu2_m128(l, u), _mm256_loadu2_m128(l.add(4), u.add(4))]
            }
        }
    }

    /// [`crate::Simd::fblend4`] and [`crate::Simd::hblend4`], a lane after the other: a vector for each number would have to be made of as many loads.
    ///
    /// # Safety
    /// There are two texels at each offset.
    #[inline]
    pub unsafe fn blend4<const HALF: bool>(base: *const u8, rows: [[__m256i; 2]; 2], [x, y]: [[__m256; 2]; 2]) -> [[__m256; 2]; 4] {
        #[repr(align(32))]
        struct Lanes<T>([T; 16]);
        let (mut at, mut by) = ([Lanes([0u32; 16]), Lanes([0; 16])], Lanes([0f32; 16]));
        // SAFETY: sixteen lanes, aligned.
        unsafe {
            for h in 0..2 {
                for k in 0..2 {
                    _mm256_store_si256(at[k].0.as_mut_ptr().cast::<__m256i>().add(h), rows[k][h]);
                }
                _mm256_store_ps(by.0.as_mut_ptr().add(8 * h), x[h]);
            }
        }
        let mut out = [x; 4];
        for h in 0..2 {
            // Both rows of a lane by x.
            macro_rules! lane {
                ($lane:expr) => {{
                    let lane = $lane;
                    // SAFETY: the caller's.
                    let [a, b] = unsafe {
                        columns::<HALF>(base.add(at[0].0[lane] as usize), base.add(at[1].0[lane] as usize))
                    };
                    _mm256_add_ps(a, _mm256_mul_ps(_mm256_sub_ps(b, a), _mm256_set1_ps(by.0[lane])))
                }};
            }
            // Of two lanes, which lie in one place of the two halves of a vector, the rows by y.
            macro_rules! lanes {
                ($i:expr, $all:expr) => {{
                    let (first, second) = (lane!(8 * h + $i), lane!(8 * h + $i + 4));
                    let upper = _mm256_permute2f128_ps::<0x20>(first, second);
                    let lower = _mm256_permute2f128_ps::<0x31>(first, second);
                    let y = _mm256_permute_ps::<$all>(y[h]);
                    _mm256_add_ps(upper, _mm256_mul_ps(_mm256_sub_ps(lower, upper), y))
                }};
            }
            let (a, b, c, d) = (lanes!(0, 0x00), lanes!(1, 0x55), lanes!(2, 0xAA), lanes!(3, 0xFF));
            let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
            out[0][h] = _mm256_shuffle_ps::<0x44>(ab, cd);
            out[1][h] = _mm256_shuffle_ps::<0xEE>(ab, cd);
            let (ab, cd) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
            out[2][h] = _mm256_shuffle_ps::<0x44>(ab, cd);
            out[3][h] = _mm256_shuffle_ps::<0xEE>(ab, cd);
        }
        out
    }
}

//! Steps on vectors that several of the level's operations consist of.

use std::arch::x86_64::*;

crate::avx512! {
    #[inline]
    pub fn low(a: __m512i) -> __m256i {
        _mm512_castsi512_si256(a)
    }

    #[inline]
    pub fn high(a: __m512i) -> __m256i {
        _mm512_extracti64x4_epi64::<1>(a)
    }

    #[inline]
    pub fn join(lo: __m256i, hi: __m256i) -> __m512i {
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(lo), hi)
    }

    #[inline]
    pub fn shuffle(a: __m512i, idx: __m512i) -> __m512i {
        _mm512_permutexvar_epi32(idx, a)
    }

    #[inline]
    pub fn blend(m: __mmask16, a: __m512, b: __m512) -> __m512 {
        _mm512_mask_blend_ps(m, b, a)
    }

    #[inline]
    pub fn blend_int(m: __mmask16, a: __m512i, b: __m512i) -> __m512i {
        _mm512_mask_blend_epi32(m, b, a)
    }

    #[inline]
    pub fn widen_u(n: __m512i) -> [__m512i; 2] {
        [_mm512_cvtepu32_epi64(low(n)), _mm512_cvtepu32_epi64(high(n))]
    }

    /// The lanes by fours.
    #[inline]
    pub fn quarters(v: __m512i) -> [__m128i; 4] {
        [
            _mm512_castsi512_si128(v),
            _mm512_extracti32x4_epi32::<1>(v),
            _mm512_extracti32x4_epi32::<2>(v),
            _mm512_extracti32x4_epi32::<3>(v),
        ]
    }

    #[inline]
    pub fn of_quarters([a, b, c, d]: [__m128i; 4]) -> __m512i {
        join(_mm256_set_m128i(b, a), _mm256_set_m128i(d, c))
    }

    /// `yes` in lanes that have the bit.
    #[inline]
    pub fn pick(lanes: __m512i, bit: i32, no: __m512i, yes: __m512i) -> __m512i {
        _mm512_mask_blend_epi32(_mm512_test_epi32_mask(lanes, _mm512_set1_epi32(bit)), no, yes)
    }

    #[inline]
    pub fn high_words(even: __m512i, odd: __m512i) -> __m512i {
        _mm512_mask_blend_epi32(0xAAAA, _mm512_srli_epi64::<32>(even), odd)
    }
}

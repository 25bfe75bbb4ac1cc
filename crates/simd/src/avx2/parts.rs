//! Steps on vectors that several of the level's operations consist of.

use std::arch::x86_64::*;

crate::avx2! {
    #[inline]
    pub fn ps(a: __m256i) -> __m256 {
        _mm256_castsi256_ps(a)
    }

    #[inline]
    pub fn si(a: __m256) -> __m256i {
        _mm256_castps_si256(a)
    }

    #[inline]
    pub fn compare<const P: i32>(a: __m256, b: __m256) -> __m256i {
        si(_mm256_cmp_ps::<P>(a, b))
    }

    #[inline]
    pub fn compare_wide<const P: i32>(a: __m256d, b: __m256d) -> __m256i {
        _mm256_castpd_si256(_mm256_cmp_pd::<P>(a, b))
    }

    #[inline]
    pub fn blend(m: __m256i, a: __m256, b: __m256) -> __m256 {
        _mm256_blendv_ps(b, a, ps(m))
    }

    #[inline]
    pub fn blend_int(m: __m256i, a: __m256i, b: __m256i) -> __m256i {
        si(blend(m, ps(a), ps(b)))
    }

    /// 32-bit truths → 64-bit ones.
    #[inline]
    pub fn widen(m: [__m256i; 2]) -> [__m256i; 4] {
        [
            _mm256_cvtepi32_epi64(_mm256_castsi256_si128(m[0])),
            _mm256_cvtepi32_epi64(_mm256_extracti128_si256::<1>(m[0])),
            _mm256_cvtepi32_epi64(_mm256_castsi256_si128(m[1])),
            _mm256_cvtepi32_epi64(_mm256_extracti128_si256::<1>(m[1])),
        ]
    }

    /// 32-bit counts → 64-bit ones.
    #[inline]
    pub fn widen_u(m: [__m256i; 2]) -> [__m256i; 4] {
        [
            _mm256_cvtepu32_epi64(_mm256_castsi256_si128(m[0])),
            _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(m[0])),
            _mm256_cvtepu32_epi64(_mm256_castsi256_si128(m[1])),
            _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(m[1])),
        ]
    }

    /// High words of eight products, from the products of even and odd lanes.
    #[inline]
    pub fn high_words(even: __m256i, odd: __m256i) -> __m256i {
        _mm256_blend_epi32::<0xAA>(_mm256_srli_epi64::<32>(even), odd)
    }

    /// Offsets of four lanes, two by two. Taken out of the vector itself: by way of memory it is half as much time again.
    #[inline]
    pub fn offsets(v: __m128i) -> [[usize; 2]; 2] {
        let pairs = [_mm_cvtsi128_si64(v) as u64, _mm_extract_epi64::<1>(v) as u64];
        [[pairs[0] as u32 as usize, (pairs[0] >> 32) as usize], [pairs[1] as u32 as usize, (pairs[1] >> 32) as usize]]
    }

    /// 64 bits at each of two offsets.
    ///
    /// # Safety
    /// They may be read there.
    #[inline]
    pub unsafe fn pair(base: *const u8, [a, b]: [usize; 2]) -> __m128 {
        // SAFETY: the caller's.
        unsafe {
            let low = _mm_castsi128_pd(_mm_loadl_epi64(base.add(a).cast()));
            _mm_castpd_ps(_mm_loadh_pd(low, base.add(b).cast()))
        }
    }

    /// Three numbers, and zero. Two loads: a masked one that crosses lines takes some twenty cycles on AMD's CPUs, and a fourth
    /// number need not be there.
    ///
    /// # Safety
    /// They may be read.
    #[inline]
    pub unsafe fn three(p: *const f32) -> __m128 {
        // SAFETY: the caller's.
        unsafe {
            let low = _mm_castsi128_ps(_mm_loadl_epi64(p.cast()));
            _mm_insert_ps::<0x20>(low, _mm_load_ss(p.add(2)))
        }
    }

    /// 32 bits at each of four offsets.
    ///
    /// # Safety
    /// They may be read there.
    #[inline]
    pub unsafe fn words4(base: *const u8, at: __m128i) -> __m128i {
        let [[a, b], [c, d]] = offsets(at);
        // SAFETY: the caller's.
        unsafe {
            let word = |at: usize| base.add(at).cast::<i32>().read_unaligned();
            let v = _mm_cvtsi32_si128(word(a));
            let v = _mm_insert_epi32::<1>(v, word(b));
            let v = _mm_insert_epi32::<2>(v, word(c));
            _mm_insert_epi32::<3>(v, word(d))
        }
    }
}

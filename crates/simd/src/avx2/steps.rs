//! [`Steps`] as pairs of 256-bit vectors. No intrinsics in closures: a closure does not take on the features of the kernel around it,
//! so they would become calls.

use super::Avx2;
use crate::{Steps, WINDOW};
use std::arch::x86_64::*;

crate::avx2! {
    #[inline]
    fn load(p: &[u32; 16]) -> (__m256i, __m256i) {
        let p = p.as_ptr() as *const __m256i;
        // SAFETY: two times eight of sixteen lanes.
        unsafe { (_mm256_loadu_si256(p), _mm256_loadu_si256(p.add(1))) }
    }

    #[inline]
    fn bits(a: __m256i, b: __m256i) -> u16 {
        let lo = _mm256_movemask_ps(_mm256_castsi256_ps(a)) as u32;
        let hi = _mm256_movemask_ps(_mm256_castsi256_ps(b)) as u32;
        (lo | hi << 8) as u16
    }

    /// 4×4 transposes of both halves.
    #[inline]
    fn transpose(v: [__m256i; 4]) -> [__m256i; 4] {
        let (ab, cd) = (_mm256_unpacklo_epi32(v[0], v[1]), _mm256_unpacklo_epi32(v[2], v[3]));
        let (ef, gh) = (_mm256_unpackhi_epi32(v[0], v[1]), _mm256_unpackhi_epi32(v[2], v[3]));
        [
            _mm256_unpacklo_epi64(ab, cd),
            _mm256_unpackhi_epi64(ab, cd),
            _mm256_unpacklo_epi64(ef, gh),
            _mm256_unpackhi_epi64(ef, gh),
        ]
    }
}

/// Four vectors, the halves of each so many bytes apart, one after the other.
macro_rules! pairs {
    ($q:expr, $apart:literal) => {{
        let q: *const u8 = $q;
        [pairs!(q, 0, $apart), pairs!(q, 16, $apart), pairs!(q, 32, $apart), pairs!(q, 48, $apart)]
    }};
    ($q:expr, $at:literal, $apart:literal) => {{
        let low = _mm_loadu_si128($q.add($at) as *const __m128i);
        let high = _mm_loadu_si128($q.add($at + $apart) as *const __m128i);
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
    }};
}

crate::avx2! {
    /// Stores sixteen 16-bit scalars, widened: as floats, or as they are.
    ///
    /// # Safety
    /// `d` is good for sixteen words.
    #[inline]
    unsafe fn widen(v: __m256i, floats: bool, d: *mut u32) {
        let (low, high) = (_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
        // SAFETY: the caller's.
        unsafe {
            if floats {
                _mm256_storeu_ps(d as *mut f32, _mm256_cvtph_ps(low));
                _mm256_storeu_ps(d.add(8) as *mut f32, _mm256_cvtph_ps(high));
            } else {
                _mm256_storeu_si256(d as *mut __m256i, _mm256_cvtepu16_epi32(low));
                _mm256_storeu_si256(d.add(8) as *mut __m256i, _mm256_cvtepu16_epi32(high));
            }
        }
    }

    /// Bits of the lines below 32 and from 32 on. A shift by too much, or by less than 0, leaves 0.
    #[inline]
    fn spread(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        let (one, half) = (_mm256_set1_epi32(1), _mm256_set1_epi32(32));
        // They are below 2^16. Of shifts of the whole lanes the compiler knows so much that it tests them before those below.
        let (a, b) = (_mm256_srli_epi16::<6>(a), _mm256_srli_epi16::<6>(b));
        let low = _mm256_or_si256(_mm256_sllv_epi32(one, a), _mm256_sllv_epi32(one, b));
        let (a, b) = (_mm256_sub_epi32(a, half), _mm256_sub_epi32(b, half));
        (low, _mm256_or_si256(_mm256_sllv_epi32(one, a), _mm256_sllv_epi32(one, b)))
    }

    /// All lanes' bits, those of `high` above those of `low`.
    #[inline]
    fn gather(low: __m256i, high: __m256i) -> u64 {
        let v = _mm256_or_si256(_mm256_unpacklo_epi32(low, high), _mm256_unpackhi_epi32(low, high));
        let v = _mm_or_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
        _mm_cvtsi128_si64(_mm_or_si128(v, _mm_unpackhi_epi64(v, v))) as u64
    }

    /// Offsets from the window on, where offset 0 lies in its line added; and bits that must be 0 from `WINDOW` on.
    #[inline]
    fn places(p: &[u32; 16], k: u32, lead: u32) -> (__m256i, __m256i, __m256i) {
        let k = _mm256_set1_epi32(k as i32);
        let p = p.as_ptr() as *const __m256i;
        // SAFETY: two times eight of sixteen lanes.
        let (x, y) = unsafe { (_mm256_loadu_si256(p), _mm256_loadu_si256(p.add(1))) };
        let a = _mm256_add_epi32(x, k);
        let b = _mm256_add_epi32(y, k);
        let all = _mm256_or_si256(a, b);
        if lead == 0 {
            return (a, b, all);
        }
        let lead = _mm256_set1_epi32(lead as i32);
        let (a, b) = (_mm256_add_epi32(a, lead), _mm256_add_epi32(b, lead));
        let all = _mm256_and_si256(all, _mm256_set1_epi32(-(WINDOW as i32)));
        (a, b, _mm256_or_si256(all, _mm256_or_si256(a, b)))
    }

    /// Four lanes' words turned by `N` within each group of four.
    #[inline]
    fn same<const N: i32>(a: __m256i, b: __m256i) -> __m256i {
        _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32::<N>(b))
    }

    /// Lanes of `a` that are equal to any lane of the same half of `b`.
    #[inline]
    fn any_of(a: __m256i, b: __m256i) -> __m256i {
        let x = _mm256_or_si256(_mm256_cmpeq_epi32(a, b), same::<0b00_11_10_01>(a, b));
        _mm256_or_si256(x, _mm256_or_si256(same::<0b01_00_11_10>(a, b), same::<0b10_01_00_11>(a, b)))
    }

    /// Lanes equal to an earlier one of their half.
    #[inline]
    fn earlier(a: __m256i) -> __m256i {
        // Each lane against those one, two and three before it; the first ones have none.
        let one = _mm256_and_si256(
            same::<0b10_01_00_00>(a, a),
            _mm256_setr_epi32(0, -1, -1, -1, 0, -1, -1, -1),
        );
        let two =
            _mm256_and_si256(same::<0b01_00_00_00>(a, a), _mm256_setr_epi32(0, 0, -1, -1, 0, 0, -1, -1));
        let three = _mm256_and_si256(same::<0>(a, a), _mm256_setr_epi32(0, 0, 0, -1, 0, 0, 0, -1));
        _mm256_or_si256(one, _mm256_or_si256(two, three))
    }

    #[inline]
    fn mask(a: __m256i) -> u32 {
        _mm256_movemask_ps(_mm256_castsi256_ps(a)) as u32
    }
}

impl Steps for Avx2 {
    #[inline(always)]
    fn stride_mask(self, p: &[u32; 16], t: u32, s: u32) -> u16 {
        // SAFETY: `self` is proof that the CPU has the instructions.
        unsafe {
            let (a, b) = load(p);
            let i = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let sv = _mm256_set1_epi32(s as i32);
            let e = _mm256_add_epi32(_mm256_set1_epi32(t as i32), _mm256_mullo_epi32(i, sv));
            let f = _mm256_add_epi32(e, _mm256_slli_epi32::<3>(sv));
            bits(_mm256_cmpeq_epi32(a, e), _mm256_cmpeq_epi32(b, f))
        }
    }
    #[inline(always)]
    unsafe fn quads32<const FROM: i32>(self, d: *mut u32, s: *const u32) {
        // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
        unsafe {
            let (a, b) = load(&*(s as *const [u32; 16]));
            _mm256_storeu_si256(d as *mut __m256i, _mm256_shuffle_epi32::<FROM>(a));
            _mm256_storeu_si256(d.add(8) as *mut __m256i, _mm256_shuffle_epi32::<FROM>(b));
        }
    }
    #[inline(always)]
    fn is_run(self, p: &[u32; 16], s: u32) -> bool {
        // SAFETY: `self` is proof that the CPU has the instructions.
        unsafe {
            let i = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let sv = _mm256_set1_epi32(s as i32);
            let (a, b) = load(p);
            let first = _mm256_set1_epi32(p[0] as i32);
            let e = _mm256_add_epi32(first, _mm256_mullo_epi32(i, sv));
            let f = _mm256_add_epi32(e, _mm256_slli_epi32::<3>(sv));
            let eq = _mm256_and_si256(_mm256_cmpeq_epi32(a, e), _mm256_cmpeq_epi32(b, f));
            _mm256_movemask_epi8(eq) == -1
        }
    }
    #[inline(always)]
    unsafe fn words2(self, q: *const u8, o: &[u32; 16], a: *mut u32, b: *mut u32) {
        // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
        unsafe {
            for g in [0, 8] {
                /// Lanes i and i + 1, each two words.
                #[inline(always)]
                unsafe fn pair(q: *const u8, i: u32, j: u32) -> __m128 {
                    // SAFETY: the caller's.
                    unsafe {
                        let lo = _mm_load_sd(q.add(i as usize) as *const f64);
                        _mm_castpd_ps(_mm_loadh_pd(lo, q.add(j as usize) as *const f64))
                    }
                }
                let (a0, a4) = (pair(q, o[g], o[g + 1]), pair(q, o[g + 4], o[g + 5]));
                let (a2, a6) = (pair(q, o[g + 2], o[g + 3]), pair(q, o[g + 6], o[g + 7]));
                let x = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(a0), a4);
                let y = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(a2), a6);
                _mm256_storeu_ps(a.add(g) as *mut f32, _mm256_shuffle_ps::<0x88>(x, y));
                _mm256_storeu_ps(b.add(g) as *mut f32, _mm256_shuffle_ps::<0xDD>(x, y));
            }
        }
    }
    #[inline(always)]
    unsafe fn words4(self, q: *const u8, o: &[u32; 16], d: [*mut u32; 4]) {
        // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
        unsafe {
            for g in [0, 8] {
                /// Lanes i and i + 4, each four words.
                #[inline(always)]
                unsafe fn pair(q: *const u8, i: u32, j: u32) -> __m256i {
                    // SAFETY: the caller's.
                    unsafe {
                        let lo = _mm_loadu_si128(q.add(i as usize) as *const __m128i);
                        let hi = _mm_loadu_si128(q.add(j as usize) as *const __m128i);
                        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(lo), hi)
                    }
                }
                let v = transpose([
                    pair(q, o[g], o[g + 4]),
                    pair(q, o[g + 1], o[g + 5]),
                    pair(q, o[g + 2], o[g + 6]),
                    pair(q, o[g + 3], o[g + 7]),
                ]);
                for j in 0..4 {
                    _mm256_storeu_si256(d[j].add(g) as *mut __m256i, v[j]);
                }
            }
        }
    }
    #[inline(always)]
    unsafe fn run2(self, q: *const u8, a: *mut u32, b: *mut u32) {
        // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
        unsafe {
            for g in [0, 8] {
                let x = _mm256_loadu_ps(q.add(g * 8) as *const f32);
                let y = _mm256_loadu_ps(q.add(g * 8 + 32) as *const f32);
                // Lanes 0, 1, 4, 5 and 2, 3, 6, 7.
                let first = _mm256_castps_pd(_mm256_shuffle_ps::<0x88>(x, y));
                let second = _mm256_castps_pd(_mm256_shuffle_ps::<0xDD>(x, y));
                _mm256_storeu_pd(a.add(g) as *mut f64, _mm256_permute4x64_pd::<0xD8>(first));
                _mm256_storeu_pd(b.add(g) as *mut f64, _mm256_permute4x64_pd::<0xD8>(second));
            }
        }
    }
    #[inline(always)]
    unsafe fn run4(self, q: *const u8, d: [*mut u32; 4]) {
        // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
        unsafe {
            for g in [0, 8] {
                let v = transpose(pairs!(q.add(g * 16), 64));
                for j in 0..4 {
                    _mm256_storeu_si256(d[j].add(g) as *mut __m256i, v[j]);
                }
            }
        }
    }
    #[inline(always)]
    unsafe fn run_halves4(self, q: *const u8, floats: bool, d: [*mut u32; 4]) {
        // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
        unsafe {
            // Two lanes a half: their scalars by twos.
            let twos = _mm256_broadcastsi128_si256(_mm_setr_epi8(
                0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15,
            ));
            let [a, b, c, e] = pairs!(q, 64);
            let v = transpose([
                _mm256_shuffle_epi8(a, twos),
                _mm256_shuffle_epi8(b, twos),
                _mm256_shuffle_epi8(c, twos),
                _mm256_shuffle_epi8(e, twos),
            ]);
            for j in 0..4 {
                widen(v[j], floats, d[j]);
            }
        }
    }
    #[inline(always)]
    unsafe fn run_halves(self, q: *const u8, floats: bool, d: *mut u32) {
        // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
        unsafe { widen(_mm256_loadu_si256(q as *const __m256i), floats, d) };
    }
    #[inline(always)]
    unsafe fn store_words4(self, q: *mut u8, o: &[u32; 16], v: [*const u32; 4]) {
        // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
        unsafe {
            for g in [0, 8] {
                let r = transpose([
                    _mm256_loadu_si256(v[0].add(g) as *const __m256i),
                    _mm256_loadu_si256(v[1].add(g) as *const __m256i),
                    _mm256_loadu_si256(v[2].add(g) as *const __m256i),
                    _mm256_loadu_si256(v[3].add(g) as *const __m256i),
                ]);
                for i in 0..4 {
                    let to = q.add(o[g + i] as usize) as *mut __m128i;
                    _mm_storeu_si128(to, _mm256_castsi256_si128(r[i]));
                }
                for i in 0..4 {
                    let to = q.add(o[g + i + 4] as usize) as *mut __m128i;
                    _mm_storeu_si128(to, _mm256_extracti128_si256::<1>(r[i]));
                }
            }
        }
    }
    #[inline(always)]
    unsafe fn blend32(self, d: *mut u32, s: *const u32, m: u16) {
        // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
        unsafe {
            let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let (a, b) = load(&*(s as *const [u32; 16]));
            let (x, y) = load(&*(d as *const [u32; 16]));
            let ma = _mm256_set1_epi32(m as i32);
            let mb = _mm256_srli_epi32::<8>(ma);
            let ma = _mm256_cmpeq_epi32(_mm256_and_si256(ma, bit), bit);
            let mb = _mm256_cmpeq_epi32(_mm256_and_si256(mb, bit), bit);
            _mm256_storeu_si256(d as *mut __m256i, _mm256_blendv_epi8(x, a, ma));
            _mm256_storeu_si256(d.add(8) as *mut __m256i, _mm256_blendv_epi8(y, b, mb));
        }
    }
    #[inline(always)]
    unsafe fn store_mask(self, d: *mut u8, v: *const u32, m: u16) {
        // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
        unsafe {
            let bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let (a, b) = load(&*(v as *const [u32; 16]));
            let ma = _mm256_set1_epi32(m as i32);
            let mb = _mm256_srli_epi32::<8>(ma);
            let ma = _mm256_cmpeq_epi32(_mm256_and_si256(ma, bit), bit);
            let mb = _mm256_cmpeq_epi32(_mm256_and_si256(mb, bit), bit);
            _mm256_maskstore_epi32(d as *mut i32, ma, a);
            _mm256_maskstore_epi32((d as *mut i32).wrapping_add(8), mb, b);
        }
    }
    #[inline(always)]
    fn same_mask(self, p: &[u32; 16], v: u32) -> u16 {
        // SAFETY: `self` is proof that the CPU has the instructions.
        unsafe {
            let (a, b) = load(p);
            let e = _mm256_set1_epi32(v as i32);
            bits(_mm256_cmpeq_epi32(a, e), _mm256_cmpeq_epi32(b, e))
        }
    }
    #[inline(always)]
    fn repeated(self, p: &[u32; 16]) -> u16 {
        // SAFETY: `self` is proof that the CPU has the instructions.
        unsafe {
            let (a, b) = load(p);
            let next = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
            // Each half beside the other, and both beside themselves and each other turned by one to seven lanes.
            let mut x = _mm256_cmpeq_epi32(a, b);
            let mut y = x;
            let (mut ra, mut rb) = (a, b);
            for _ in 0..7 {
                ra = _mm256_permutevar8x32_epi32(ra, next);
                rb = _mm256_permutevar8x32_epi32(rb, next);
                let own = _mm256_or_si256(_mm256_cmpeq_epi32(a, ra), _mm256_cmpeq_epi32(a, rb));
                x = _mm256_or_si256(x, own);
                let own = _mm256_or_si256(_mm256_cmpeq_epi32(b, ra), _mm256_cmpeq_epi32(b, rb));
                y = _mm256_or_si256(y, own);
            }
            bits(x, y)
        }
    }
    #[inline(always)]
    fn bound_mask(self, p: &[u32; 16], k: u32, limit: u32) -> u16 {
        // SAFETY: `self` is proof that the CPU has the instructions.
        unsafe {
            let (a, b) = load(p);
            let k = _mm256_set1_epi32(k as i32);
            let l = _mm256_set1_epi32(limit as i32);
            let (a, b) = (_mm256_add_epi32(a, k), _mm256_add_epi32(b, k));
            let x = _mm256_cmpeq_epi32(_mm256_min_epu32(a, l), a);
            let y = _mm256_cmpeq_epi32(_mm256_min_epu32(b, l), b);
            bits(x, y)
        }
    }
    #[inline(always)]
    unsafe fn gather32(self, d: *mut u32, base: *const u8, p: *const u32, k: u32, limit: u32) {
        // SAFETY: `self` is proof that the CPU has the instructions; pointers are the caller's.
        unsafe {
            let (a, b) = load(&*(p as *const [u32; 16]));
            let k = _mm256_set1_epi32(k as i32);
            let l = _mm256_set1_epi32(limit as i32);
            let (a, b) = (_mm256_add_epi32(a, k), _mm256_add_epi32(b, k));
            let x = _mm256_cmpeq_epi32(_mm256_min_epu32(a, l), a);
            let y = _mm256_cmpeq_epi32(_mm256_min_epu32(b, l), b);
            // Sixteen scalar loads beat vpgatherdd on Zen 3 (see examples/op_bench.rs).
            let mut o = [0u32; 16];
            _mm256_storeu_si256(o.as_mut_ptr() as *mut __m256i, _mm256_and_si256(a, x));
            _mm256_storeu_si256(o.as_mut_ptr().add(8) as *mut __m256i, _mm256_and_si256(b, y));
            let r = |i: usize| (base.add(o[i] as usize) as *const i32).read_unaligned();
            let lo = _mm256_setr_epi32(r(0), r(1), r(2), r(3), r(4), r(5), r(6), r(7));
            let hi = _mm256_setr_epi32(r(8), r(9), r(10), r(11), r(12), r(13), r(14), r(15));
            _mm256_storeu_si256(d as *mut __m256i, _mm256_and_si256(lo, x));
            _mm256_storeu_si256(d.add(8) as *mut __m256i, _mm256_and_si256(hi, y));
        }
    }
    #[inline(always)]
    fn near(self, p: &[u32; 16], k: u32, lead: u32, bytes: u32) -> Option<u64> {
        // SAFETY: `self` is proof that the CPU has the instructions.
        unsafe {
            let (a, b, all) = places(p, k, lead);
            let more = _mm256_set1_epi32(bytes as i32 - 1);
            let (c, d) = (_mm256_add_epi32(a, more), _mm256_add_epi32(b, more));
            let all = _mm256_or_si256(all, _mm256_or_si256(c, d));
            if _mm256_testz_si256(all, _mm256_set1_epi32(-(WINDOW as i32))) == 0 {
                return None;
            }
            let (low, high) = spread(a, b);
            let (l, h) = spread(c, d);
            Some(gather(_mm256_or_si256(low, l), _mm256_or_si256(high, h)))
        }
    }
    #[inline(always)]
    fn near_words(self, p: &[u32; 16], k: u32, lead: u32) -> Option<u64> {
        // SAFETY: `self` is proof that the CPU has the instructions.
        unsafe {
            let (a, b, all) = places(p, k, lead);
            if _mm256_testz_si256(all, _mm256_set1_epi32(-(WINDOW as i32) | 3)) == 0 {
                return None;
            }
            let (low, high) = spread(a, b);
            Some(gather(low, high))
        }
    }
    #[inline(always)]
    fn distinct(self, l: &[u32; 16]) -> u32 {
        // SAFETY: `self` is proof that the CPU has the instructions.
        unsafe {
            // Four quarters of four lanes: every pair of quarters once, and each within itself.
            let a = _mm256_loadu_si256(l.as_ptr() as *const __m256i);
            let b = _mm256_loadu_si256(l.as_ptr().add(8) as *const __m256i);
            let swapped = _mm256_permute2x128_si256::<1>(a, a);
            let later = _mm256_or_si256(any_of(b, a), any_of(b, swapped));
            let even = _mm256_permute2x128_si256::<0x20>(a, b);
            let odd = _mm256_permute2x128_si256::<0x31>(a, b);
            let odd = mask(any_of(odd, even));
            let own = mask(earlier(a)) | mask(_mm256_or_si256(earlier(b), later)) << 8;
            16 - (own | (odd & 15) << 4 | (odd >> 4) << 12).count_ones()
        }
    }
}

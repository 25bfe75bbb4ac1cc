//! [`Simd`] as pairs of 256-bit vectors.

mod parts;
mod steps;

use super::{Level, Simd};
use parts::*;
pub(crate) use parts::{offsets, pair, three, words4};
use std::arch::x86_64::*;

/// AVX2, FMA, BMI1/2, LZCNT, POPCNT, F16C. A value is proof that the CPU has them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Avx2(());

/// Functions compiled with the instructions of this level.
#[macro_export]
macro_rules! avx2 {
    (@features $callback:ident $args:tt) => {
        $crate::$callback! { ["avx2" "fma" "bmi1" "bmi2" "lzcnt" "popcnt" "f16c"] $args }
    };
    ($($item:item)*) => {
        $crate::avx2! { @features with_features { $($item)* } }
    };
}

impl Avx2 {
    /// The machine, if this CPU is one.
    pub(crate) fn detect() -> Option<Avx2> {
        crate::avx2! { @features x86_has {} }.then_some(Avx2(()))
    }
}

/// Arrays of an expression at each index. No closures: they are not inlined reliably.
macro_rules! two {
    ($i:ident => $e:expr) => {
        [
            { const $i: usize = 0; $e },
            { const $i: usize = 1; $e },
        ]
    };
}
macro_rules! four {
    ($i:ident => $e:expr) => {
        [
            { const $i: usize = 0; $e },
            { const $i: usize = 1; $e },
            { const $i: usize = 2; $e },
            { const $i: usize = 3; $e },
        ]
    };
}
macro_rules! two3 {
    ($($name:ident($ta:ident, $tb:ident, $tc:ident) -> $r:ident = $f:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::$ta, b: Self::$tb, c: Self::$tc) -> Self::$r {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe { [$f(a[0], b[0], c[0]), $f(a[1], b[1], c[1])] }
        }
    )* };
}
macro_rules! four1 {
    ($($name:ident($ta:ident) -> $r:ident = $f:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::$ta) -> Self::$r {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe { [$f(a[0]), $f(a[1]), $f(a[2]), $f(a[3])] }
        }
    )* };
}
macro_rules! four2 {
    ($($name:ident($ta:ident, $tb:ident) -> $r:ident = $f:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::$ta, b: Self::$tb) -> Self::$r {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe { [$f(a[0], b[0]), $f(a[1], b[1]), $f(a[2], b[2]), $f(a[3], b[3])] }
        }
    )* };
}
/// 64-bit comparisons: four vectors of 64-bit truths narrowed to two of 32.
macro_rules! four_cmp {
    ($($name:ident($t:ident) = $f:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::$t, b: Self::$t) -> Self::M {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe { self.lo([$f(a[0], b[0]), $f(a[1], b[1]), $f(a[2], b[2]), $f(a[3], b[3])]) }
        }
    )* };
}

impl Simd for Avx2 {
    #[inline(always)]
    unsafe fn assume() -> Self {
        Avx2(())
    }
    #[inline(always)]
    fn level(self) -> Level {
        Level::Avx2(self)
    }
    const VECTORS: bool = true;
    const UNROLL: u32 = 4;
    type F = [__m256; 2];
    type I = [__m256i; 2];
    type D = [__m256d; 4];
    type L = [__m256i; 4];
    type M = [__m256i; 2];

    methods! {
        unsafe fn iblend8(self, p: *const u8, term: [Self::I; 2], factor: [Self::I; 2]) -> Self::I {
            let zero = _mm256_setzero_si256();
            // Products with it are rounded to bytes.
            let codes = _mm256_set1_epi16(1 << 8);
            let (t, k) = (term, factor);
            let mut out = [zero; 2];
            for h in 0..2 {
                let p = _mm256_loadu_si256(p.cast::<__m256i>().add(h));
                let dl = _mm256_slli_epi16(_mm256_unpacklo_epi8(p, zero), 7);
                let dh = _mm256_slli_epi16(_mm256_unpackhi_epi8(p, zero), 7);
                let ml = _mm256_mulhrs_epi16(dl, _mm256_unpacklo_epi32(k[0][h], k[1][h]));
                let mh = _mm256_mulhrs_epi16(dh, _mm256_unpackhi_epi32(k[0][h], k[1][h]));
                let sl = _mm256_adds_epi16(ml, _mm256_unpacklo_epi32(t[0][h], t[1][h]));
                let sh = _mm256_adds_epi16(mh, _mm256_unpackhi_epi32(t[0][h], t[1][h]));
                // 256 is as good as 255: packing saturates.
                out[h] = _mm256_packus_epi16(_mm256_mulhrs_epi16(sl, codes), _mm256_mulhrs_epi16(sh, codes));
            }
            out
        }
        unsafe fn fload(self, p: *const u8) -> Self::F {
            [_mm256_load_ps(p.cast()), _mm256_load_ps(p.add(32).cast())]
        }
        unsafe fn fstore(self, p: *mut u8, a: Self::F) {
            _mm256_store_ps(p.cast(), a[0]);
            _mm256_store_ps(p.add(32).cast(), a[1]);
        }
        unsafe fn iload(self, p: *const u8) -> Self::I {
            [_mm256_load_si256(p.cast()), _mm256_load_si256(p.add(32).cast())]
        }
        unsafe fn istore(self, p: *mut u8, a: Self::I) {
            _mm256_store_si256(p.cast(), a[0]);
            _mm256_store_si256(p.add(32).cast(), a[1]);
        }
        unsafe fn iloadu(self, p: *const u8) -> Self::I {
            [_mm256_loadu_si256(p.cast()), _mm256_loadu_si256(p.add(32).cast())]
        }
        unsafe fn istoreu(self, p: *mut u8, a: Self::I) {
            _mm256_storeu_si256(p.cast(), a[0]);
            _mm256_storeu_si256(p.add(32).cast(), a[1]);
        }
        unsafe fn istream(self, p: *mut u8, a: Self::I) {
            _mm256_stream_si256(p.cast(), a[0]);
            _mm256_stream_si256(p.add(32).cast(), a[1]);
        }
        unsafe fn iload_mask(self, p: *const u8, m: Self::M) -> Self::I {
            [_mm256_maskload_epi32(p.cast(), m[0]), _mm256_maskload_epi32(p.add(32).cast(), m[1])]
        }
        unsafe fn istore_mask(self, p: *mut u8, m: Self::M, a: Self::I) {
            _mm256_maskstore_epi32(p.cast(), m[0], a[0]);
            _mm256_maskstore_epi32(p.add(32).cast(), m[1], a[1]);
        }
        unsafe fn istore_packed(self, p: *mut u8, m: Self::M, a: Self::I) {
            let mut lanes = [0u32; 16];
            self.istoreu(lanes.as_mut_ptr().cast(), a);
            crate::portable::pack(p, self.mbits(m), &lanes)
        }
        unsafe fn igather(self, base: *const u8, off: Self::I, m: Self::M) -> Self::I {
            // The instruction's index is signed: move the base to the middle of the 4 GiB.
            let mid = base.wrapping_add(1 << 31).cast::<i32>();
            let flip = _mm256_set1_epi32(i32::MIN);
            let zero = _mm256_setzero_si256();
            [
                _mm256_mask_i32gather_epi32::<1>(zero, mid, _mm256_xor_si256(off[0], flip), m[0]),
                _mm256_mask_i32gather_epi32::<1>(zero, mid, _mm256_xor_si256(off[1], flip), m[1]),
            ]
        }
        unsafe fn iwords(self, base: *const u8, off: Self::I) -> Self::I {
            // Loads of their own, of offsets two by two: as `igather2`.
            let mut words = off;
            for h in 0..2 {
                let [a, b] = [_mm256_castsi256_si128(off[h]), _mm256_extracti128_si256::<1>(off[h])];
                words[h] = _mm256_set_m128i(words4(base, b), words4(base, a));
            }
            words
        }
        unsafe fn lgather(self, base: *const u8, off: Self::I) -> Self::L {
            let mid = base.wrapping_add(1 << 31).cast::<i64>();
            let flip = _mm256_set1_epi32(i32::MIN);
            let (a, b) = (_mm256_xor_si256(off[0], flip), _mm256_xor_si256(off[1], flip));
            [
                _mm256_i32gather_epi64::<1>(mid, _mm256_castsi256_si128(a)),
                _mm256_i32gather_epi64::<1>(mid, _mm256_extracti128_si256::<1>(a)),
                _mm256_i32gather_epi64::<1>(mid, _mm256_castsi256_si128(b)),
                _mm256_i32gather_epi64::<1>(mid, _mm256_extracti128_si256::<1>(b)),
            ]
        }
        unsafe fn igather2(self, base: *const u8, off: Self::I) -> [Self::I; 2] {
            // Loads of their own: gathers take half as long again on Zen 3. Lanes 0 1 4 5 and 2 3 6 7 go together, so that one
            // shuffle in the halves of a vector puts words in order.
            let mut words = [off; 2];
            for h in 0..2 {
                let [a, b] = offsets(_mm256_castsi256_si128(off[h]));
                let [c, d] = offsets(_mm256_extracti128_si256::<1>(off[h]));
                let first = _mm256_set_m128(pair(base, c), pair(base, a));
                let second = _mm256_set_m128(pair(base, d), pair(base, b));
                words[0][h] = si(_mm256_shuffle_ps::<0x88>(first, second));
                words[1][h] = si(_mm256_shuffle_ps::<0xDD>(first, second));
            }
            words
        }
        unsafe fn dload(self, p: *const u8) -> Self::D {
            let p = p.cast::<f64>();
            [_mm256_load_pd(p), _mm256_load_pd(p.add(4)), _mm256_load_pd(p.add(8)), _mm256_load_pd(p.add(12))]
        }
        unsafe fn dstore(self, p: *mut u8, a: Self::D) {
            let p = p.cast::<f64>();
            _mm256_store_pd(p, a[0]);
            _mm256_store_pd(p.add(4), a[1]);
            _mm256_store_pd(p.add(8), a[2]);
            _mm256_store_pd(p.add(12), a[3]);
        }
        unsafe fn lload(self, p: *const u8) -> Self::L {
            let p = p.cast::<__m256i>();
            [
                _mm256_load_si256(p),
                _mm256_load_si256(p.add(1)),
                _mm256_load_si256(p.add(2)),
                _mm256_load_si256(p.add(3)),
            ]
        }
        unsafe fn lstore(self, p: *mut u8, a: Self::L) {
            let p = p.cast::<__m256i>();
            _mm256_store_si256(p, a[0]);
            _mm256_store_si256(p.add(1), a[1]);
            _mm256_store_si256(p.add(2), a[2]);
            _mm256_store_si256(p.add(3), a[3]);
        }
    }

    methods! {
        fn fsplat(self, x: f32) -> Self::F {
            [_mm256_set1_ps(x); 2]
        }
        fn isplat(self, x: u32) -> Self::I {
            [_mm256_set1_epi32(x as i32); 2]
        }
        fn dsplat(self, x: f64) -> Self::D {
            [_mm256_set1_pd(x); 4]
        }
        fn lsplat(self, x: u64) -> Self::L {
            [_mm256_set1_epi64x(x as i64); 4]
        }
    }

    two1! {
        fsqrt(F) -> F = _mm256_sqrt_ps;
        ffloor(F) -> F = _mm256_floor_ps;
        fceil(F) -> F = _mm256_ceil_ps;
        ftrunc(F) -> F = _mm256_round_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>;
        fround_even(F) -> F = _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>;
        bits(F) -> I = si;
        from_bits(I) -> F = ps;
        s_to_f(I) -> F = _mm256_cvtepi32_ps;
        f_to_s_raw(F) -> I = _mm256_cvttps_epi32;
    }
    two2! {
        fadd(F, F) -> F = _mm256_add_ps;
        fsub(F, F) -> F = _mm256_sub_ps;
        fmul(F, F) -> F = _mm256_mul_ps;
        fdiv(F, F) -> F = _mm256_div_ps;
        fmin_raw(F, F) -> F = _mm256_min_ps;
        fmax_raw(F, F) -> F = _mm256_max_ps;
        feq(F, F) -> M = compare::<_CMP_EQ_OQ>;
        fne(F, F) -> M = compare::<_CMP_NEQ_UQ>;
        flt(F, F) -> M = compare::<_CMP_LT_OQ>;
        fle(F, F) -> M = compare::<_CMP_LE_OQ>;
        iadd(I, I) -> I = _mm256_add_epi32;
        isub(I, I) -> I = _mm256_sub_epi32;
        imul(I, I) -> I = _mm256_mullo_epi32;
        imadd16(I, I) -> I = _mm256_madd_epi16;
        iand(I, I) -> I = _mm256_and_si256;
        ior(I, I) -> I = _mm256_or_si256;
        ixor(I, I) -> I = _mm256_xor_si256;
        iandn(I, I) -> I = _mm256_andnot_si256;
        ishl(I, I) -> I = _mm256_sllv_epi32;
        ishr(I, I) -> I = _mm256_srlv_epi32;
        isar(I, I) -> I = _mm256_srav_epi32;
        smin(I, I) -> I = _mm256_min_epi32;
        smax(I, I) -> I = _mm256_max_epi32;
        umin(I, I) -> I = _mm256_min_epu32;
        umax(I, I) -> I = _mm256_max_epu32;
        ieq(I, I) -> M = _mm256_cmpeq_epi32;
        sgt(I, I) -> M = _mm256_cmpgt_epi32;
        mand(M, M) -> M = _mm256_and_si256;
        mor(M, M) -> M = _mm256_or_si256;
        mxor(M, M) -> M = _mm256_xor_si256;
    }
    methods! {
        fn ugt(self, a: Self::I, b: Self::I) -> Self::M {
            let s = self.isplat(0x8000_0000);
            self.sgt(self.ixor(a, s), self.ixor(b, s))
        }
        fn umul_hi(self, a: Self::I, b: Self::I) -> Self::I {
            two!(I => {
                let even = _mm256_mul_epu32(a[I], b[I]);
                let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(a[I]), _mm256_srli_epi64::<32>(b[I]));
                high_words(even, odd)
            })
        }
        fn smul_hi(self, a: Self::I, b: Self::I) -> Self::I {
            two!(I => {
                let even = _mm256_mul_epi32(a[I], b[I]);
                let odd = _mm256_mul_epi32(_mm256_srli_epi64::<32>(a[I]), _mm256_srli_epi64::<32>(b[I]));
                high_words(even, odd)
            })
        }
    }
    #[inline(always)]
    fn fpick<const WHICH: i32>(self, a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: `self` is proof that the CPU has the instructions.
        unsafe { two!(I => _mm256_shuffle_ps::<WHICH>(a[I], b[I])) }
    }
    two3! {
        fma(F, F, F) -> F = _mm256_fmadd_ps;
        fnma(F, F, F) -> F = _mm256_fnmadd_ps;
        fsel(M, F, F) -> F = blend;
        isel(M, I, I) -> I = blend_int;
    }
    methods! {
        fn ihigh_bytes(self, a: Self::I) -> Self::I {
            two!(I => _mm256_srai_epi16::<8>(a[I]))
        }
        fn f_to_f16(self, a: Self::F) -> Self::I {
            [
                _mm256_cvtepu16_epi32(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(a[0])),
                _mm256_cvtepu16_epi32(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(a[1])),
            ]
        }
        fn f16_to_f(self, a: Self::I) -> Self::F {
            // Only the low 16 bits count; packus would saturate, so cut first.
            let m = _mm256_set1_epi32(0xFFFF);
            let p = _mm256_packus_epi32(_mm256_and_si256(a[0], m), _mm256_and_si256(a[1], m));
            let p = _mm256_permute4x64_epi64::<0xD8>(p);
            [_mm256_cvtph_ps(_mm256_castsi256_si128(p)), _mm256_cvtph_ps(_mm256_extracti128_si256::<1>(p))]
        }
        unsafe fn fload_halves(self, p: [*const u8; 4]) -> [Self::F; 2] {
            let of = four!(I => _mm256_cvtph_ps(_mm_loadu_si128(p[I].cast())));
            [
                two!(I => _mm256_permute2f128_ps::<0x20>(of[2 * I], of[2 * I + 1])),
                two!(I => _mm256_permute2f128_ps::<0x31>(of[2 * I], of[2 * I + 1])),
            ]
        }
        unsafe fn iload_bytes(self, rows: [[*const u8; 2]; 2], at: Self::I) -> [Self::I; 2] {
            // (Bytes of a word but the lowest: none.)
            let one = _mm256_set1_epi32(0x8080_8000u32 as i32);
            let next = _mm256_set1_epi32(0x8080_8001u32 as i32);
            let of = two!(I => _mm256_broadcastsi128_si256(_mm_unpacklo_epi64(
                _mm_loadl_epi64(rows[I][0].cast()),
                _mm_loadl_epi64(rows[I][1].cast()),
            )));
            [
                two!(I => _mm256_shuffle_epi8(of[I], _mm256_add_epi32(at[I], one))),
                two!(I => _mm256_shuffle_epi8(of[I], _mm256_add_epi32(at[I], next))),
            ]
        }
        unsafe fn iwiden8(self, p: *const u8) -> Self::I {
            two!(I => _mm256_cvtepu8_epi32(_mm_loadl_epi64(p.add(8 * I).cast())))
        }
        unsafe fn iwiden16(self, p: *const u8) -> Self::I {
            two!(I => _mm256_cvtepu16_epi32(_mm_loadu_si128(p.add(16 * I).cast())))
        }
        unsafe fn inarrow8(self, p: *mut u8, a: Self::I) {
            let m = _mm256_set1_epi32(0xFF);
            let v = _mm256_packus_epi32(_mm256_and_si256(a[0], m), _mm256_and_si256(a[1], m));
            let v = _mm256_permute4x64_epi64::<0xD8>(v);
            let v = _mm_packus_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
            _mm_storeu_si128(p.cast(), v)
        }
        unsafe fn inarrow16(self, p: *mut u8, a: Self::I) {
            let m = _mm256_set1_epi32(0xFFFF);
            let v = _mm256_packus_epi32(_mm256_and_si256(a[0], m), _mm256_and_si256(a[1], m));
            _mm256_storeu_si256(p.cast(), _mm256_permute4x64_epi64::<0xD8>(v))
        }
        unsafe fn iload4(self, p: [*mut u8; 4]) -> Self::I {
            two!(I => _mm256_loadu2_m128i(p[2 * I + 1].cast(), p[2 * I].cast()))
        }
        unsafe fn istore4(self, p: [*mut u8; 4], a: Self::I) {
            _mm256_storeu2_m128i(p[1].cast(), p[0].cast(), a[0]);
            _mm256_storeu2_m128i(p[3].cast(), p[2].cast(), a[1]);
        }
        fn itranspose4(self, words: [Self::I; 4]) -> [Self::I; 4] {
            let [a, b, c, d] = words;
            let (mut low, mut high) = ([a, a], [a, a]);
            for i in 0..2 {
                let (ab, cd) = (_mm256_unpacklo_epi32(a[i], b[i]), _mm256_unpacklo_epi32(c[i], d[i]));
                (low[0][i], low[1][i]) = (_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
                let (ab, cd) = (_mm256_unpackhi_epi32(a[i], b[i]), _mm256_unpackhi_epi32(c[i], d[i]));
                (high[0][i], high[1][i]) = (_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
            }
            [low[0], low[1], high[0], high[1]]
        }
        fn ishuffle(self, a: Self::I, idx: Self::I) -> Self::I {
            two!(I => {
                let lo = _mm256_permutevar8x32_epi32(a[0], idx[I]);
                let hi = _mm256_permutevar8x32_epi32(a[1], idx[I]);
                let pick = _mm256_slli_epi32::<28>(idx[I]);
                si(_mm256_blendv_ps(ps(lo), ps(hi), ps(pick)))
            })
        }
        fn fother_half(self, a: Self::F) -> Self::F {
            [a[1], a[0]]
        }
        fn fnext_quad(self, a: Self::F) -> Self::F {
            [_mm256_permute2f128_ps::<0x21>(a[0], a[1]), _mm256_blend_ps::<0xF0>(a[0], a[1])]
        }
        fn fquads(self, v: [f32; 4]) -> Self::F {
            let v = _mm256_castps128_ps256(_mm_loadu_ps(v.as_ptr()));
            [
                _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1)),
                _mm256_permutevar8x32_ps(v, _mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3)),
            ]
        }
        unsafe fn fquads3(self, p: [*const f32; 4]) -> [Self::F; 3] {
            let v = two!(I => {
                let low = _mm256_castps128_ps256(three(p[I * 2]));
                _mm256_insertf128_ps::<1>(low, three(p[I * 2 + 1]))
            });
            [
                two!(I => _mm256_permute_ps::<0x00>(v[I])),
                two!(I => _mm256_permute_ps::<0x55>(v[I])),
                two!(I => _mm256_permute_ps::<0xAA>(v[I])),
            ]
        }
        unsafe fn fquads4(self, p: [*const f32; 4]) -> [Self::F; 4] {
            let v = two!(I => _mm256_loadu2_m128(p[I * 2 + 1], p[I * 2]));
            [
                two!(I => _mm256_permute_ps::<0x00>(v[I])),
                two!(I => _mm256_permute_ps::<0x55>(v[I])),
                two!(I => _mm256_permute_ps::<0xAA>(v[I])),
                two!(I => _mm256_permute_ps::<0xFF>(v[I])),
            ]
        }
        fn u_to_f(self, a: Self::I) -> Self::F {
            // Both halves are exact; the fused sum rounds once.
            two!(I => {
                let hi = _mm256_cvtepi32_ps(_mm256_srli_epi32::<16>(a[I]));
                let lo = _mm256_cvtepi32_ps(_mm256_and_si256(a[I], _mm256_set1_epi32(0xFFFF)));
                _mm256_fmadd_ps(hi, _mm256_set1_ps(65536.0), lo)
            })
        }
    }

    methods! {
        fn mask(self, bits: u16) -> Self::M {
            let b = _mm256_set1_epi32(bits as i32);
            let lo = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let hi = _mm256_setr_epi32(1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15);
            [_mm256_cmpeq_epi32(_mm256_and_si256(b, lo), lo), _mm256_cmpeq_epi32(_mm256_and_si256(b, hi), hi)]
        }
        fn mbits(self, m: Self::M) -> u16 {
            (_mm256_movemask_ps(ps(m[0])) | _mm256_movemask_ps(ps(m[1])) << 8) as u16
        }
        fn mbits4(self, m: [Self::M; 4]) -> u64 {
            crate::avx2! {
                #[inline]
                fn two(a: [__m256i; 2], b: [__m256i; 2]) -> u32 {
                    let p = _mm256_packs_epi16(_mm256_packs_epi32(a[0], a[1]), _mm256_packs_epi32(b[0], b[1]));
                    let p = _mm256_permutevar8x32_epi32(p, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
                    _mm256_movemask_epi8(p) as u32
                }
            }
            two(m[0], m[1]) as u64 | (two(m[2], m[3]) as u64) << 32
        }
        unsafe fn mstore(self, p: *mut u8, w: [u64; 4]) {
            let v = _mm256_set_epi64x(w[3] as i64, w[2] as i64, w[1] as i64, w[0] as i64);
            _mm256_storeu_si256(p.cast(), v)
        }
        fn mnot(self, a: Self::M) -> Self::M {
            self.ixor(a, [_mm256_set1_epi32(-1); 2])
        }
    }

    four1! {
        dsqrt(D) -> D = _mm256_sqrt_pd;
        dfloor(D) -> D = _mm256_floor_pd;
        dceil(D) -> D = _mm256_ceil_pd;
        dtrunc(D) -> D = _mm256_round_pd::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>;
        dround_even(D) -> D = _mm256_round_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>;
        dbits(D) -> L = _mm256_castpd_si256;
        from_dbits(L) -> D = _mm256_castsi256_pd;
    }
    four2! {
        dadd(D, D) -> D = _mm256_add_pd;
        dsub(D, D) -> D = _mm256_sub_pd;
        dmul(D, D) -> D = _mm256_mul_pd;
        ddiv(D, D) -> D = _mm256_div_pd;
        dmin_raw(D, D) -> D = _mm256_min_pd;
        dmax_raw(D, D) -> D = _mm256_max_pd;
        ladd(L, L) -> L = _mm256_add_epi64;
        lsub(L, L) -> L = _mm256_sub_epi64;
        land(L, L) -> L = _mm256_and_si256;
        lor(L, L) -> L = _mm256_or_si256;
        lxor(L, L) -> L = _mm256_xor_si256;
    }
    four_cmp! {
        deq(D) = compare_wide::<_CMP_EQ_OQ>;
        dne(D) = compare_wide::<_CMP_NEQ_UQ>;
        dlt(D) = compare_wide::<_CMP_LT_OQ>;
        dle(D) = compare_wide::<_CMP_LE_OQ>;
        leq(L) = _mm256_cmpeq_epi64;
        lgt(L) = _mm256_cmpgt_epi64;
    }
    methods! {
        fn dfma(self, a: Self::D, b: Self::D, c: Self::D) -> Self::D {
            four!(I => _mm256_fmadd_pd(a[I], b[I], c[I]))
        }
        fn dsel(self, m: Self::M, a: Self::D, b: Self::D) -> Self::D {
            let m = widen(m);
            four!(I => _mm256_blendv_pd(b[I], a[I], _mm256_castsi256_pd(m[I])))
        }
        fn lsel(self, m: Self::M, a: Self::L, b: Self::L) -> Self::L {
            let m = widen(m);
            four!(I => _mm256_blendv_epi8(b[I], a[I], m[I]))
        }
        fn lmul(self, a: Self::L, b: Self::L) -> Self::L {
            // low · low + ((low · high + high · low) << 32)
            four!(I => {
                let swapped = _mm256_shuffle_epi32::<0xB1>(b[I]);
                let cross = _mm256_mullo_epi32(a[I], swapped);
                let cross = _mm256_add_epi32(cross, _mm256_srli_epi64::<32>(cross));
                _mm256_add_epi64(_mm256_mul_epu32(a[I], b[I]), _mm256_slli_epi64::<32>(cross))
            })
        }
        fn lshl(self, a: Self::L, n: Self::I) -> Self::L {
            let n = widen_u(n);
            four!(I => _mm256_sllv_epi64(a[I], n[I]))
        }
        fn lshr(self, a: Self::L, n: Self::I) -> Self::L {
            let n = widen_u(n);
            four!(I => _mm256_srlv_epi64(a[I], n[I]))
        }
        fn lsar(self, a: Self::L, n: Self::I) -> Self::L {
            // Logical shift, then the shifted sign bit spreads: (x ^ s) − s.
            let n = widen_u(n);
            let sign = _mm256_set1_epi64x(i64::MIN);
            four!(I => {
                let s = _mm256_srlv_epi64(sign, n[I]);
                _mm256_sub_epi64(_mm256_xor_si256(_mm256_srlv_epi64(a[I], n[I]), s), s)
            })
        }
        fn lo(self, a: Self::L) -> Self::I {
            two!(I => {
                let p = _mm256_shuffle_ps::<0x88>(ps(a[2 * I]), ps(a[2 * I + 1]));
                _mm256_permute4x64_epi64::<0xD8>(si(p))
            })
        }
        fn hi(self, a: Self::L) -> Self::I {
            two!(I => {
                let p = _mm256_shuffle_ps::<0xDD>(ps(a[2 * I]), ps(a[2 * I + 1]));
                _mm256_permute4x64_epi64::<0xD8>(si(p))
            })
        }
        fn pack(self, lo: Self::I, hi: Self::I) -> Self::L {
            let l0 = _mm256_unpacklo_epi32(lo[0], hi[0]);
            let h0 = _mm256_unpackhi_epi32(lo[0], hi[0]);
            let l1 = _mm256_unpacklo_epi32(lo[1], hi[1]);
            let h1 = _mm256_unpackhi_epi32(lo[1], hi[1]);
            [
                _mm256_permute2x128_si256::<0x20>(l0, h0),
                _mm256_permute2x128_si256::<0x31>(l0, h0),
                _mm256_permute2x128_si256::<0x20>(l1, h1),
                _mm256_permute2x128_si256::<0x31>(l1, h1),
            ]
        }
        fn s_to_d(self, a: Self::I) -> Self::D {
            [
                _mm256_cvtepi32_pd(_mm256_castsi256_si128(a[0])),
                _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(a[0])),
                _mm256_cvtepi32_pd(_mm256_castsi256_si128(a[1])),
                _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(a[1])),
            ]
        }
        fn d_to_s_raw(self, a: Self::D) -> Self::I {
            [
                _mm256_set_m128i(_mm256_cvttpd_epi32(a[1]), _mm256_cvttpd_epi32(a[0])),
                _mm256_set_m128i(_mm256_cvttpd_epi32(a[3]), _mm256_cvttpd_epi32(a[2])),
            ]
        }
        fn f_to_d(self, a: Self::F) -> Self::D {
            [
                _mm256_cvtps_pd(_mm256_castps256_ps128(a[0])),
                _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(a[0])),
                _mm256_cvtps_pd(_mm256_castps256_ps128(a[1])),
                _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(a[1])),
            ]
        }
        fn d_to_f(self, a: Self::D) -> Self::F {
            [
                _mm256_set_m128(_mm256_cvtpd_ps(a[1]), _mm256_cvtpd_ps(a[0])),
                _mm256_set_m128(_mm256_cvtpd_ps(a[3]), _mm256_cvtpd_ps(a[2])),
            ]
        }
        fn many(self, a: Self::M) -> bool {
            let or = _mm256_or_si256(a[0], a[1]);
            _mm256_testz_si256(or, or) == 0
        }
    }
}

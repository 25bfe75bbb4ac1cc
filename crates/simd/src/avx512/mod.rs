//! [`Simd`] as 512-bit vectors. Mirrors `avx2.rs`; every operation here is either the same IEEE operation or the
//! same integer operation on twice the width.

mod parts;

use super::avx2::{offsets, pair, three, words4};
use super::{Level, Simd, Table, gathers_are_slow};
use parts::*;
use std::arch::x86_64::*;

/// AVX-512 F, BW, DQ, VL and all of [`super::Avx2`]. A value is proof that the CPU has them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Avx512(());

/// Functions compiled with the instructions of this level.
#[macro_export]
macro_rules! avx512 {
    (@features $callback:ident $args:tt) => {
        $crate::$callback! {
            ["avx512f" "avx512bw" "avx512dq" "avx512vl" "avx2" "fma" "bmi1" "bmi2" "lzcnt" "popcnt" "f16c"] $args
        }
    };
    ($($item:item)*) => {
        $crate::avx512! { @features with_features { $($item)* } }
    };
}

impl Avx512 {
    /// The machine, if this CPU is one.
    pub(crate) fn detect() -> Option<Avx512> {
        if !crate::avx512! { @features x86_has {} } {
            return None;
        }
        static VENDOR: std::sync::Once = std::sync::Once::new();
        VENDOR.call_once(|| {
            let id = __cpuid(0);
            let name = [id.ebx, id.edx, id.ecx].map(u32::to_le_bytes);
            crate::levels::set_slow_gathers([*b"Auth", *b"enti", *b"cAMD"] == name);
        });
        Some(Avx512(()))
    }
}

/// Four 16-bit words of 1, of 2 and of 3.
const K1: i64 = 0x0001_0001_0001_0001;
const K2: i64 = 2 * K1;
const K3: i64 = 3 * K1;

macro_rules! one1 {
    ($($name:ident($ta:ident) -> $r:ident = $f:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::$ta) -> Self::$r {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe { $f(a) }
        }
    )* };
}
macro_rules! one2 {
    ($($name:ident($ta:ident, $tb:ident) -> $r:ident = $f:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::$ta, b: Self::$tb) -> Self::$r {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe { $f(a, b) }
        }
    )* };
}
macro_rules! one3 {
    ($($name:ident($ta:ident, $tb:ident, $tc:ident) -> $r:ident = $f:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::$ta, b: Self::$tb, c: Self::$tc) -> Self::$r {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe { $f(a, b, c) }
        }
    )* };
}
macro_rules! two_cmp {
    ($($name:ident($t:ident) = $f:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::$t, b: Self::$t) -> Self::M {
            // SAFETY: `self` is proof that the CPU has the instructions.
            unsafe { $f(a[0], b[0]) as u16 | ($f(a[1], b[1]) as u16) << 8 }
        }
    )* };
}

impl Simd for Avx512 {
    #[inline(always)]
    unsafe fn assume() -> Self {
        Avx512(())
    }
    #[inline(always)]
    fn level(self) -> Level {
        Level::Avx512(self)
    }
    const VECTORS: bool = true;
    const ONE_VECTOR: bool = true;
    const UNROLL: u32 = 4;
    type F = __m512;
    type I = __m512i;
    type D = [__m512d; 2];
    type L = [__m512i; 2];
    type M = __mmask16;

    methods! {
        unsafe fn iblend8(self, p: *const u8, term: [Self::I; 2], factor: [Self::I; 2]) -> Self::I {
            let codes = _mm512_set1_epi16(1 << 8);
            let (t, k) = (term, factor);
            let p = _mm512_loadu_si512(p.cast());
            let dl = _mm512_slli_epi16(_mm512_unpacklo_epi8(p, _mm512_setzero_si512()), 7);
            let dh = _mm512_slli_epi16(_mm512_unpackhi_epi8(p, _mm512_setzero_si512()), 7);
            let ml = _mm512_mulhrs_epi16(dl, _mm512_unpacklo_epi32(k[0], k[1]));
            let mh = _mm512_mulhrs_epi16(dh, _mm512_unpackhi_epi32(k[0], k[1]));
            let sl = _mm512_adds_epi16(ml, _mm512_unpacklo_epi32(t[0], t[1]));
            let sh = _mm512_adds_epi16(mh, _mm512_unpackhi_epi32(t[0], t[1]));
            _mm512_packus_epi16(_mm512_mulhrs_epi16(sl, codes), _mm512_mulhrs_epi16(sh, codes))
        }
        unsafe fn fload(self, p: *const u8) -> Self::F {
            _mm512_load_ps(p.cast())
        }
        unsafe fn fstore(self, p: *mut u8, a: Self::F) {
            _mm512_store_ps(p.cast(), a)
        }
        unsafe fn iload(self, p: *const u8) -> Self::I {
            _mm512_load_si512(p.cast())
        }
        unsafe fn istore(self, p: *mut u8, a: Self::I) {
            _mm512_store_si512(p.cast(), a)
        }
        unsafe fn fload_halves(self, p: [*const u8; 4]) -> [Self::F; 2] {
            let a = _mm512_cvtph_ps(_mm256_loadu2_m128i(p[1].cast(), p[0].cast()));
            let b = _mm512_cvtph_ps(_mm256_loadu2_m128i(p[3].cast(), p[2].cast()));
            [_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xDD>(a, b)]
        }
        unsafe fn iload_bytes(self, rows: [[*const u8; 2]; 2], at: Self::I) -> [Self::I; 2] {
            let low =
                _mm_unpacklo_epi64(_mm_loadl_epi64(rows[0][0].cast()), _mm_loadl_epi64(rows[0][1].cast()));
            let high =
                _mm_unpacklo_epi64(_mm_loadl_epi64(rows[1][0].cast()), _mm_loadl_epi64(rows[1][1].cast()));
            let of = _mm512_castsi256_si512(_mm256_broadcastsi128_si256(low));
            let of = _mm512_inserti64x4::<1>(of, _mm256_broadcastsi128_si256(high));
            // (Bytes of a word but the lowest: none.)
            let one = _mm512_add_epi32(at, _mm512_set1_epi32(0x8080_8000u32 as i32));
            let next = _mm512_add_epi32(at, _mm512_set1_epi32(0x8080_8001u32 as i32));
            [_mm512_shuffle_epi8(of, one), _mm512_shuffle_epi8(of, next)]
        }
        unsafe fn fload16(self, p: *const u8) -> Self::F {
            _mm512_cvtph_ps(_mm256_loadu_si256(p.cast()))
        }
        unsafe fn fstore16(self, p: *mut u8, a: Self::F) {
            _mm256_storeu_si256(p.cast(), _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(a))
        }
        fn fapart16(self, v: [Self::I; 2]) -> [Self::F; 4] {
            let first = _mm512_cvtepu8_epi16(_mm256_setr_epi8(
                0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                0, 0, 0,
            ));
            let mut out = [_mm512_setzero_ps(); 4];
            for (k, out) in out.iter_mut().enumerate() {
                let of = _mm512_add_epi16(first, _mm512_set1_epi16(k as i16));
                *out = _mm512_cvtph_ps(low(_mm512_permutex2var_epi16(v[0], of, v[1])));
            }
            out
        }
        fn ftogether16(self, v: [Self::F; 4]) -> [Self::I; 2] {
            let mut half = [_mm256_setzero_si256(); 4];
            for k in 0..4 {
                half[k] = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(v[k]);
            }
            let (ab, cd) = (join(half[0], half[1]), join(half[2], half[3]));
            let first = _mm512_cvtepu8_epi16(_mm256_setr_epi8(
                0, 16, 32, 48, 1, 17, 33, 49, 2, 18, 34, 50, 3, 19, 35, 51, 4, 20, 36, 52, 5, 21, 37, 53, 6, 22, 38,
                54, 7, 23, 39, 55,
            ));
            let second = _mm512_add_epi16(first, _mm512_set1_epi16(8));
            [_mm512_permutex2var_epi16(ab, first, cd), _mm512_permutex2var_epi16(ab, second, cd)]
        }
        unsafe fn iwiden8(self, p: *const u8) -> Self::I {
            _mm512_cvtepu8_epi32(_mm_loadu_si128(p.cast()))
        }
        unsafe fn iwiden16(self, p: *const u8) -> Self::I {
            _mm512_cvtepu16_epi32(_mm256_loadu_si256(p.cast()))
        }
        unsafe fn inarrow8(self, p: *mut u8, a: Self::I) {
            _mm_storeu_si128(p.cast(), _mm512_cvtepi32_epi8(a))
        }
        unsafe fn inarrow16(self, p: *mut u8, a: Self::I) {
            _mm256_storeu_si256(p.cast(), _mm512_cvtepi32_epi16(a))
        }
        unsafe fn iload4(self, p: [*mut u8; 4]) -> Self::I {
            let low = _mm256_loadu2_m128i(p[1].cast(), p[0].cast());
            let high = _mm256_loadu2_m128i(p[3].cast(), p[2].cast());
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
        }
        unsafe fn istore4(self, p: [*mut u8; 4], a: Self::I) {
            _mm_storeu_si128(p[0].cast(), _mm512_castsi512_si128(a));
            _mm_storeu_si128(p[1].cast(), _mm512_extracti32x4_epi32::<1>(a));
            _mm_storeu_si128(p[2].cast(), _mm512_extracti32x4_epi32::<2>(a));
            _mm_storeu_si128(p[3].cast(), _mm512_extracti32x4_epi32::<3>(a));
        }
        unsafe fn iloadu(self, p: *const u8) -> Self::I {
            _mm512_loadu_si512(p.cast())
        }
        unsafe fn istoreu(self, p: *mut u8, a: Self::I) {
            _mm512_storeu_si512(p.cast(), a)
        }
        unsafe fn istream(self, p: *mut u8, a: Self::I) {
            _mm512_stream_si512(p.cast(), a)
        }
        unsafe fn iload_mask(self, p: *const u8, m: Self::M) -> Self::I {
            _mm512_maskz_loadu_epi32(m, p.cast())
        }
        unsafe fn istore_mask(self, p: *mut u8, m: Self::M, a: Self::I) {
            _mm512_mask_storeu_epi32(p.cast(), m, a)
        }
        unsafe fn istore_packed(self, p: *mut u8, m: Self::M, a: Self::I) {
            // In a register first: the instruction that goes to memory is a slow one.
            _mm512_storeu_si512(p.cast(), _mm512_maskz_compress_epi32(m, a))
        }
        unsafe fn igather(self, base: *const u8, off: Self::I, m: Self::M) -> Self::I {
            // The instruction's index is signed: move the base to the middle of the 4 GiB.
            let mid = base.wrapping_add(1 << 31);
            let off = _mm512_xor_si512(off, _mm512_set1_epi32(i32::MIN));
            _mm512_mask_i32gather_epi32::<1>(_mm512_setzero_si512(), m, off, mid.cast())
        }
        unsafe fn iwords(self, base: *const u8, off: Self::I) -> Self::I {
            if !gathers_are_slow() {
                return self.igather(base, off, 0xFFFF);
            }
            let [a, b, c, d] = quarters(off);
            of_quarters([words4(base, a), words4(base, b), words4(base, c), words4(base, d)])
        }
        unsafe fn igather2(self, base: *const u8, off: Self::I) -> [Self::I; 2] {
            if !gathers_are_slow() {
                let both = self.lgather(base, off);
                return [self.lo(both), self.hi(both)];
            }
            // Each quarter's first two lanes together, and its others, so that one shuffle puts words in order: as with AVX2.
            let (mut first, mut second) = (quarters(off), quarters(off));
            for q in 0..4 {
                let [a, b] = offsets(first[q]);
                (first[q], second[q]) =
                    (_mm_castps_si128(pair(base, a)), _mm_castps_si128(pair(base, b)));
            }
            let first = _mm512_castsi512_ps(of_quarters(first));
            let second = _mm512_castsi512_ps(of_quarters(second));
            [
                _mm512_castps_si512(_mm512_shuffle_ps::<0x88>(first, second)),
                _mm512_castps_si512(_mm512_shuffle_ps::<0xDD>(first, second)),
            ]
        }
        unsafe fn lgather(self, base: *const u8, off: Self::I) -> Self::L {
            let mid = base.wrapping_add(1 << 31).cast::<i64>();
            let off = _mm512_xor_si512(off, _mm512_set1_epi32(i32::MIN));
            [
                _mm512_i32gather_epi64::<1>(_mm512_castsi512_si256(off), mid),
                _mm512_i32gather_epi64::<1>(_mm512_extracti64x4_epi64::<1>(off), mid),
            ]
        }
        unsafe fn dload(self, p: *const u8) -> Self::D {
            [_mm512_load_pd(p.cast()), _mm512_load_pd(p.add(64).cast())]
        }
        unsafe fn dstore(self, p: *mut u8, a: Self::D) {
            _mm512_store_pd(p.cast(), a[0]);
            _mm512_store_pd(p.add(64).cast(), a[1]);
        }
        unsafe fn lload(self, p: *const u8) -> Self::L {
            [_mm512_load_si512(p.cast()), _mm512_load_si512(p.add(64).cast())]
        }
        unsafe fn lstore(self, p: *mut u8, a: Self::L) {
            _mm512_store_si512(p.cast(), a[0]);
            _mm512_store_si512(p.add(64).cast(), a[1]);
        }
    }

    methods! {
        fn fsplat(self, x: f32) -> Self::F {
            _mm512_set1_ps(x)
        }
        fn isplat(self, x: u32) -> Self::I {
            _mm512_set1_epi32(x as i32)
        }
        fn dsplat(self, x: f64) -> Self::D {
            [_mm512_set1_pd(x); 2]
        }
        fn lsplat(self, x: u64) -> Self::L {
            [_mm512_set1_epi64(x as i64); 2]
        }
    }

    one1! {
        fsqrt(F) -> F = _mm512_sqrt_ps;
        ffloor(F) -> F = _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>;
        fceil(F) -> F = _mm512_roundscale_ps::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>;
        ftrunc(F) -> F = _mm512_roundscale_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>;
        fround_even(F) -> F = _mm512_roundscale_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>;
        bits(F) -> I = _mm512_castps_si512;
        from_bits(I) -> F = _mm512_castsi512_ps;
        s_to_f(I) -> F = _mm512_cvtepi32_ps;
        u_to_f(I) -> F = _mm512_cvtepu32_ps;
        f_to_s_raw(F) -> I = _mm512_cvttps_epi32;
    }
    one2! {
        fadd(F, F) -> F = _mm512_add_ps;
        fsub(F, F) -> F = _mm512_sub_ps;
        fmul(F, F) -> F = _mm512_mul_ps;
        fdiv(F, F) -> F = _mm512_div_ps;
        fmin_raw(F, F) -> F = _mm512_min_ps;
        fmax_raw(F, F) -> F = _mm512_max_ps;
        feq(F, F) -> M = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>;
        fne(F, F) -> M = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>;
        flt(F, F) -> M = _mm512_cmp_ps_mask::<_CMP_LT_OQ>;
        fle(F, F) -> M = _mm512_cmp_ps_mask::<_CMP_LE_OQ>;
        iadd(I, I) -> I = _mm512_add_epi32;
        isub(I, I) -> I = _mm512_sub_epi32;
        imul(I, I) -> I = _mm512_mullo_epi32;
        imadd16(I, I) -> I = _mm512_madd_epi16;
        iand(I, I) -> I = _mm512_and_si512;
        ior(I, I) -> I = _mm512_or_si512;
        ixor(I, I) -> I = _mm512_xor_si512;
        iandn(I, I) -> I = _mm512_andnot_si512;
        ishl(I, I) -> I = _mm512_sllv_epi32;
        ishr(I, I) -> I = _mm512_srlv_epi32;
        isar(I, I) -> I = _mm512_srav_epi32;
        smin(I, I) -> I = _mm512_min_epi32;
        smax(I, I) -> I = _mm512_max_epi32;
        umin(I, I) -> I = _mm512_min_epu32;
        umax(I, I) -> I = _mm512_max_epu32;
        ieq(I, I) -> M = _mm512_cmpeq_epi32_mask;
        sgt(I, I) -> M = _mm512_cmpgt_epi32_mask;
        ugt(I, I) -> M = _mm512_cmpgt_epu32_mask;
        ishuffle(I, I) -> I = shuffle;
    }
    one3! {
        fma(F, F, F) -> F = _mm512_fmadd_ps;
        fnma(F, F, F) -> F = _mm512_fnmadd_ps;
        fsel(M, F, F) -> F = blend;
        isel(M, I, I) -> I = blend_int;
    }
    #[inline(always)]
    fn parts_are_cheap(self) -> bool {
        true
    }
    #[inline(always)]
    fn ffix<const TABLE: u32>(self, r: Self::F, x: Self::F) -> Self::F {
        // SAFETY: the machine has the instruction.
        unsafe { _mm512_fixupimm_ps::<0>(r, x, _mm512_set1_epi32(TABLE as i32)) }
    }
    #[inline(always)]
    fn fpick<const WHICH: i32>(self, a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: `self` is proof that the CPU has the instructions.
        unsafe { _mm512_shuffle_ps::<WHICH>(a, b) }
    }
    methods! {
        fn fbound(self, x: Self::F) -> Self::F {
            x
        }
        fn fround16(self, x: Self::F) -> Self::F {
            // Four bits after the binary point.
            _mm512_roundscale_ps::<{ 4 << 4 | _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(x)
        }
        fn fscale(self, p: Self::F, n: Self::F) -> Self::F {
            _mm512_scalef_ps(p, n)
        }
        fn fparts(self, x: Self::F) -> [Self::F; 2] {
            [_mm512_getexp_ps(x), _mm512_getmant_ps::<{ _MM_MANT_NORM_P75_1P5 }, { _MM_MANT_SIGN_SRC }>(x)]
        }
        fn ilook(self, table: &'static Table<32>, idx: Self::I) -> Self::I {
            let words = table.0.as_ptr();
            let (low, high) = (_mm512_load_si512(words.cast()), _mm512_load_si512(words.add(16).cast()));
            _mm512_permutex2var_epi32(low, idx, high)
        }
        fn fother_half(self, a: Self::F) -> Self::F {
            _mm512_shuffle_f32x4::<0b01_00_11_10>(a, a)
        }
        fn fnext_quad(self, a: Self::F) -> Self::F {
            _mm512_shuffle_f32x4::<0b11_00_10_01>(a, a)
        }
        fn fquads(self, v: [f32; 4]) -> Self::F {
            let idx = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
            _mm512_permutexvar_ps(idx, _mm512_castps128_ps512(_mm_loadu_ps(v.as_ptr())))
        }
        unsafe fn fquads3(self, p: [*const f32; 4]) -> [Self::F; 3] {
            let v = _mm512_castps128_ps512(three(p[0]));
            let v = _mm512_insertf32x4::<1>(v, three(p[1]));
            let v = _mm512_insertf32x4::<2>(v, three(p[2]));
            let v = _mm512_insertf32x4::<3>(v, three(p[3]));
            [_mm512_permute_ps::<0x00>(v), _mm512_permute_ps::<0x55>(v), _mm512_permute_ps::<0xAA>(v)]
        }
        fn itranspose4(self, words: [Self::I; 4]) -> [Self::I; 4] {
            let [a, b, c, d] = words;
            let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
            let low = [_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd)];
            let (ab, cd) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
            let high = [_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd)];
            [low[0], low[1], high[0], high[1]]
        }
        fn ffloor_int(self, a: Self::F) -> (Self::F, Self::I) {
            let i = _mm512_cvt_roundps_epi32::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(a);
            (_mm512_cvtepi32_ps(i), i)
        }
        fn ishuffle2(self, a: Self::I, b: Self::I, idx: Self::I) -> Self::I {
            _mm512_permutex2var_epi32(a, idx, b)
        }
        unsafe fn iload2(self, p: [*const u8; 2]) -> Self::I {
            let a = _mm512_castsi256_si512(_mm256_loadu_si256(p[0].cast()));
            _mm512_inserti64x4::<1>(a, _mm256_loadu_si256(p[1].cast()))
        }
        fn fhalves(self, rows: [[Self::I; 2]; 2], at: Self::I) -> [[Self::F; 4]; 2] {
            // Of eight lanes, channel by channel: their 16-bit words.
            let n = _mm512_castsi256_si512(_mm512_cvtepi32_epi16(_mm512_slli_epi32::<2>(at)));
            let channel = _mm512_set_epi64(K3, K3, K2, K2, K1, K1, 0, 0);
            let of = [_mm512_shuffle_i32x4::<0x00>(n, n), _mm512_shuffle_i32x4::<0x55>(n, n)];
            let of = [_mm512_add_epi16(of[0], channel), _mm512_add_epi16(of[1], channel)];
            let four = _mm512_set1_epi16(4);
            let next = [_mm512_add_epi16(of[0], four), _mm512_add_epi16(of[1], four)];
            // A channel of all lanes is 256 bits. (No closure: it would have no CPU features.)
            let (red, blue) = (
                _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15),
            );
            let mut out = [[_mm512_setzero_ps(); 4]; 2];
            for (out, at) in out.iter_mut().zip([of, next]) {
                let low = _mm512_permutex2var_epi16(rows[0][0], at[0], rows[0][1]);
                let high = _mm512_permutex2var_epi16(rows[1][0], at[1], rows[1][1]);
                let rg = _mm512_permutex2var_epi64(low, red, high);
                let ba = _mm512_permutex2var_epi64(low, blue, high);
                *out = [
                    _mm512_cvtph_ps(_mm512_castsi512_si256(rg)),
                    _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(rg)),
                    _mm512_cvtph_ps(_mm512_castsi512_si256(ba)),
                    _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(ba)),
                ];
            }
            out
        }
        unsafe fn fquads4(self, p: [*const f32; 4]) -> [Self::F; 4] {
            let v = _mm512_castps128_ps512(_mm_loadu_ps(p[0]));
            let v = _mm512_insertf32x4::<1>(v, _mm_loadu_ps(p[1]));
            let v = _mm512_insertf32x4::<2>(v, _mm_loadu_ps(p[2]));
            let v = _mm512_insertf32x4::<3>(v, _mm_loadu_ps(p[3]));
            [
                _mm512_permute_ps::<0x00>(v),
                _mm512_permute_ps::<0x55>(v),
                _mm512_permute_ps::<0xAA>(v),
                _mm512_permute_ps::<0xFF>(v),
            ]
        }
        fn umul_hi(self, a: Self::I, b: Self::I) -> Self::I {
            let even = _mm512_mul_epu32(a, b);
            let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
            high_words(even, odd)
        }
        fn smul_hi(self, a: Self::I, b: Self::I) -> Self::I {
            let even = _mm512_mul_epi32(a, b);
            let odd = _mm512_mul_epi32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
            high_words(even, odd)
        }
        fn f_to_f16(self, a: Self::F) -> Self::I {
            _mm512_cvtepu16_epi32(_mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(a))
        }
        fn ihigh_bytes(self, a: Self::I) -> Self::I {
            _mm512_srai_epi16::<8>(a)
        }
        fn f16_to_f(self, a: Self::I) -> Self::F {
            _mm512_cvtph_ps(_mm512_cvtepi32_epi16(a))
        }
    }

    #[inline(always)]
    fn mask(self, bits: u16) -> Self::M {
        bits
    }
    #[inline(always)]
    fn mbits(self, m: Self::M) -> u16 {
        m
    }
    #[inline(always)]
    fn mbits4(self, m: [Self::M; 4]) -> u64 {
        m[0] as u64 | (m[1] as u64) << 16 | (m[2] as u64) << 32 | (m[3] as u64) << 48
    }
    methods! {
        unsafe fn mstore(self, p: *mut u8, w: [u64; 4]) {
            let v = _mm256_set_epi64x(w[3] as i64, w[2] as i64, w[1] as i64, w[0] as i64);
            _mm256_storeu_si256(p.cast(), v)
        }
    }
    #[inline(always)]
    fn ilook256<const N: usize>(self, table: &Table<256>, idx: [Self::I; N]) -> [Self::I; N] {
        // SAFETY: `self` is proof that the CPU has the instructions; vectors of the table.
        unsafe {
            // The table's vectors two by two, each once for all; by the three highest bits the right pair of eight, as soon as both
            // are there: few registers are taken.
            let (mut two, mut four, mut eight) = (idx, idx, idx);
            for n in 0..8 {
                let t = table.0.as_ptr().add(32 * n);
                let (a, b) = (_mm512_load_si512(t.cast()), _mm512_load_si512(t.add(16).cast()));
                for k in 0..N {
                    let mut v = _mm512_permutex2var_epi32(a, idx[k], b);
                    if n % 2 == 0 {
                        two[k] = v;
                        continue;
                    }
                    v = pick(idx[k], 32, two[k], v);
                    if n % 4 == 1 {
                        four[k] = v;
                        continue;
                    }
                    v = pick(idx[k], 64, four[k], v);
                    if n == 3 {
                        eight[k] = v;
                        continue;
                    }
                    eight[k] = pick(idx[k], 128, eight[k], v);
                }
            }
            eight
        }
    }
    #[inline(always)]
    fn mand(self, a: Self::M, b: Self::M) -> Self::M {
        a & b
    }
    #[inline(always)]
    fn mor(self, a: Self::M, b: Self::M) -> Self::M {
        a | b
    }
    #[inline(always)]
    fn mxor(self, a: Self::M, b: Self::M) -> Self::M {
        a ^ b
    }
    #[inline(always)]
    fn mnot(self, a: Self::M) -> Self::M {
        !a
    }

    two1! {
        dsqrt(D) -> D = _mm512_sqrt_pd;
        dfloor(D) -> D = _mm512_roundscale_pd::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>;
        dceil(D) -> D = _mm512_roundscale_pd::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>;
        dtrunc(D) -> D = _mm512_roundscale_pd::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>;
        dround_even(D) -> D = _mm512_roundscale_pd::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>;
        dbits(D) -> L = _mm512_castpd_si512;
        from_dbits(L) -> D = _mm512_castsi512_pd;
    }
    two2! {
        dadd(D, D) -> D = _mm512_add_pd;
        dsub(D, D) -> D = _mm512_sub_pd;
        dmul(D, D) -> D = _mm512_mul_pd;
        ddiv(D, D) -> D = _mm512_div_pd;
        dmin_raw(D, D) -> D = _mm512_min_pd;
        dmax_raw(D, D) -> D = _mm512_max_pd;
        ladd(L, L) -> L = _mm512_add_epi64;
        lsub(L, L) -> L = _mm512_sub_epi64;
        lmul(L, L) -> L = _mm512_mullo_epi64;
        land(L, L) -> L = _mm512_and_si512;
        lor(L, L) -> L = _mm512_or_si512;
        lxor(L, L) -> L = _mm512_xor_si512;
        lsmin(L, L) -> L = _mm512_min_epi64;
        lsmax(L, L) -> L = _mm512_max_epi64;
        lumin(L, L) -> L = _mm512_min_epu64;
        lumax(L, L) -> L = _mm512_max_epu64;
    }
    two_cmp! {
        deq(D) = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>;
        dne(D) = _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>;
        dlt(D) = _mm512_cmp_pd_mask::<_CMP_LT_OQ>;
        dle(D) = _mm512_cmp_pd_mask::<_CMP_LE_OQ>;
        leq(L) = _mm512_cmpeq_epi64_mask;
        lgt(L) = _mm512_cmpgt_epi64_mask;
    }
    methods! {
        fn dfma(self, a: Self::D, b: Self::D, c: Self::D) -> Self::D {
            [_mm512_fmadd_pd(a[0], b[0], c[0]), _mm512_fmadd_pd(a[1], b[1], c[1])]
        }
        fn dsel(self, m: Self::M, a: Self::D, b: Self::D) -> Self::D {
            [_mm512_mask_blend_pd(m as u8, b[0], a[0]), _mm512_mask_blend_pd((m >> 8) as u8, b[1], a[1])]
        }
        fn lsel(self, m: Self::M, a: Self::L, b: Self::L) -> Self::L {
            [_mm512_mask_blend_epi64(m as u8, b[0], a[0]), _mm512_mask_blend_epi64((m >> 8) as u8, b[1], a[1])]
        }
        fn lshl(self, a: Self::L, n: Self::I) -> Self::L {
            let n = widen_u(n);
            [_mm512_sllv_epi64(a[0], n[0]), _mm512_sllv_epi64(a[1], n[1])]
        }
        fn lshr(self, a: Self::L, n: Self::I) -> Self::L {
            let n = widen_u(n);
            [_mm512_srlv_epi64(a[0], n[0]), _mm512_srlv_epi64(a[1], n[1])]
        }
        fn lsar(self, a: Self::L, n: Self::I) -> Self::L {
            let n = widen_u(n);
            [_mm512_srav_epi64(a[0], n[0]), _mm512_srav_epi64(a[1], n[1])]
        }
        fn lo(self, a: Self::L) -> Self::I {
            join(_mm512_cvtepi64_epi32(a[0]), _mm512_cvtepi64_epi32(a[1]))
        }
        fn hi(self, a: Self::L) -> Self::I {
            self.lo([_mm512_srli_epi64::<32>(a[0]), _mm512_srli_epi64::<32>(a[1])])
        }
        fn lshuffle(self, a: Self::L, idx: Self::I) -> Self::L {
            let i = widen_u(idx);
            [_mm512_permutex2var_epi64(a[0], i[0], a[1]), _mm512_permutex2var_epi64(a[0], i[1], a[1])]
        }
        fn pack(self, lo: Self::I, hi: Self::I) -> Self::L {
            let l = widen_u(lo);
            let h = widen_u(hi);
            [
                _mm512_or_si512(l[0], _mm512_slli_epi64::<32>(h[0])),
                _mm512_or_si512(l[1], _mm512_slli_epi64::<32>(h[1])),
            ]
        }
        fn s_to_d(self, a: Self::I) -> Self::D {
            [_mm512_cvtepi32_pd(low(a)), _mm512_cvtepi32_pd(high(a))]
        }
        fn u_to_d(self, a: Self::I) -> Self::D {
            [_mm512_cvtepu32_pd(low(a)), _mm512_cvtepu32_pd(high(a))]
        }
        fn sl_to_d(self, a: Self::L) -> Self::D {
            [_mm512_cvtepi64_pd(a[0]), _mm512_cvtepi64_pd(a[1])]
        }
        fn ul_to_d(self, a: Self::L) -> Self::D {
            [_mm512_cvtepu64_pd(a[0]), _mm512_cvtepu64_pd(a[1])]
        }
        fn d_to_ul(self, a: Self::D) -> Self::L {
            [_mm512_cvttpd_epu64(a[0]), _mm512_cvttpd_epu64(a[1])]
        }
        fn d_to_s_raw(self, a: Self::D) -> Self::I {
            join(_mm512_cvttpd_epi32(a[0]), _mm512_cvttpd_epi32(a[1]))
        }
        fn f_to_d(self, a: Self::F) -> Self::D {
            [_mm512_cvtps_pd(_mm512_castps512_ps256(a)), _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(a))]
        }
        fn d_to_f(self, a: Self::D) -> Self::F {
            _mm512_insertf32x8::<1>(_mm512_castps256_ps512(_mm512_cvtpd_ps(a[0])), _mm512_cvtpd_ps(a[1]))
        }
    }
    #[inline(always)]
    fn many(self, a: Self::M) -> bool {
        a != 0
    }
}

//! [`Simd`] as fours of 128-bit vectors: every AArch64 CPU has the instructions.

mod parts;
mod steps;

use super::{Level, Simd};
use parts::*;
use std::arch::aarch64::*;

/// AArch64's Advanced SIMD, which is part of the architecture.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Neon;

impl Neon {
    pub(crate) fn detect() -> Option<Neon> {
        Some(Neon)
    }
}

/// Functions of this level, which need no instructions beyond the baseline.
#[macro_export]
macro_rules! neon {
    ($($item:item)*) => {
        $($item)*
    };
}

/// Arrays of an expression at each index. No closures: they are not inlined reliably.
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
macro_rules! eight {
    ($i:ident => $e:expr) => {
        [
            { const $i: usize = 0; $e },
            { const $i: usize = 1; $e },
            { const $i: usize = 2; $e },
            { const $i: usize = 3; $e },
            { const $i: usize = 4; $e },
            { const $i: usize = 5; $e },
            { const $i: usize = 6; $e },
            { const $i: usize = 7; $e },
        ]
    };
}
pub(crate) use four;

/// What is done with each vector of a value.
macro_rules! each {
    ($all:ident; $($name:ident($($a:ident: $t:ident),*) -> $r:ident = $f:expr;)*) => { $(
        #[inline(always)]
        #[allow(unused_unsafe)]
        fn $name(self, $($a: Self::$t),*) -> Self::$r {
            // SAFETY: every CPU of the architecture has the instructions.
            unsafe { $all!(I => $f($($a[I]),*)) }
        }
    )* };
}
/// Comparisons of 64 bits: truths narrowed to 32.
macro_rules! wide_compare {
    ($($name:ident($t:ident) = $f:expr;)*) => { $(
        #[inline(always)]
        #[allow(unused_unsafe)]
        fn $name(self, a: Self::$t, b: Self::$t) -> Self::M {
            // SAFETY: every CPU of the architecture has the instructions.
            unsafe { self.lo(eight!(I => $f(a[I], b[I]))) }
        }
    )* };
}
/// Loads and stores of whole values.
macro_rules! memory {
    ($($load:ident, $store:ident, $t:ident, $of:ty, $all:ident, $get:ident, $put:ident;)*) => { $(
        #[inline(always)]
        unsafe fn $load(self, p: *const u8) -> Self::$t {
            // SAFETY: the trait's: that many bytes may be read.
            unsafe { $all!(I => $get(p.add(16 * I).cast::<$of>())) }
        }
        #[inline(always)]
        unsafe fn $store(self, p: *mut u8, a: Self::$t) {
            // SAFETY: the trait's: that many bytes may be written.
            unsafe { $all!(I => $put(p.add(16 * I).cast::<$of>(), a[I])); }
        }
    )* };
}

impl Simd for Neon {
    #[inline(always)]
    unsafe fn assume() -> Self {
        Neon
    }
    #[inline(always)]
    fn level(self) -> Level {
        Level::Neon(self)
    }
    const VECTORS: bool = true;
    const UNROLL: u32 = 2;
    type F = [float32x4_t; 4];
    type I = [uint32x4_t; 4];
    type D = [float64x2_t; 8];
    type L = [uint64x2_t; 8];
    type M = [uint32x4_t; 4];

    memory! {
        fload, fstore, F, f32, four, vld1q_f32, vst1q_f32;
        iload, istore, I, u32, four, vld1q_u32, vst1q_u32;
        iloadu, istoreu, I, u32, four, vld1q_u32, vst1q_u32;
        dload, dstore, D, f64, eight, vld1q_f64, vst1q_f64;
        lload, lstore, L, u64, eight, vld1q_u64, vst1q_u64;
    }

    methods! {
        unsafe fn iload_mask(self, p: *const u8, m: Self::M) -> Self::I {
            let mut left = self.mbits(m);
            if left == 0xFFFF {
                return self.iloadu(p);
            }
            let mut lanes = [0u32; 16];
            while left != 0 {
                let l = left.trailing_zeros() as usize % 16;
                left &= left - 1;
                lanes[l] = p.cast::<u32>().wrapping_add(l).read_unaligned();
            }
            self.iloadu(lanes.as_ptr().cast())
        }
        unsafe fn istore_mask(self, p: *mut u8, m: Self::M, a: Self::I) {
            let mut left = self.mbits(m);
            if left == 0xFFFF {
                return self.istoreu(p, a);
            }
            let lanes: [u32; 16] = std::mem::transmute(a);
            while left != 0 {
                let l = left.trailing_zeros() as usize % 16;
                left &= left - 1;
                p.cast::<u32>().wrapping_add(l).write_unaligned(lanes[l]);
            }
        }
        unsafe fn istore_packed(self, p: *mut u8, m: Self::M, a: Self::I) {
            crate::portable::pack(p, self.mbits(m), &std::mem::transmute::<Self::I, [u32; 16]>(a))
        }
        unsafe fn igather(self, base: *const u8, off: Self::I, m: Self::M) -> Self::I {
            let mut left = self.mbits(m);
            if left == 0xFFFF {
                return self.iwords(base, off);
            }
            let at: [u32; 16] = std::mem::transmute(off);
            let mut lanes = [0u32; 16];
            while left != 0 {
                let l = left.trailing_zeros() as usize % 16;
                left &= left - 1;
                lanes[l] = base.wrapping_add(at[l] as usize).cast::<u32>().read_unaligned();
            }
            self.iloadu(lanes.as_ptr().cast())
        }
        unsafe fn iwords(self, base: *const u8, off: Self::I) -> Self::I {
            four!(I => words4(base, off[I]))
        }
        unsafe fn lgather(self, base: *const u8, off: Self::I) -> Self::L {
            let of = four!(I => pairs4(base, off[I]));
            [of[0][0], of[0][1], of[1][0], of[1][1], of[2][0], of[2][1], of[3][0], of[3][1]]
        }
        unsafe fn iload4(self, p: [*mut u8; 4]) -> Self::I {
            four!(I => vld1q_u32(p[I].cast()))
        }
        unsafe fn istore4(self, p: [*mut u8; 4], a: Self::I) {
            four!(I => vst1q_u32(p[I].cast(), a[I]));
        }
        unsafe fn iload2(self, p: [*const u8; 2]) -> Self::I {
            four!(I => vld1q_u32(p[I / 2].add(I % 2 * 16).cast()))
        }
        unsafe fn fload_halves(self, p: [*const u8; 4]) -> [Self::F; 2] {
            let of = four!(I => vld1q_u16(p[I].cast()));
            [four!(I => from_halves(vget_low_u16(of[I]))), four!(I => from_halves(vget_high_u16(of[I])))]
        }
        unsafe fn iload_bytes(self, rows: [[*const u8; 2]; 2], at: Self::I) -> [Self::I; 2] {
            // Of each word only the lowest byte is in the table.
            let none = vdupq_n_u32(0xFFFF_FF00);
            let of = [
                vcombine_u8(vld1_u8(rows[0][0]), vld1_u8(rows[0][1])),
                vcombine_u8(vld1_u8(rows[1][0]), vld1_u8(rows[1][1])),
            ];
            let at = four!(I => vorrq_u32(vandq_u32(at[I], vdupq_n_u32(15)), none));
            let one = vdupq_n_u32(1);
            [
                four!(I => words(vqtbl1q_u8(of[I / 2], bytes(at[I])))),
                four!(I => words(vqtbl1q_u8(of[I / 2], bytes(vaddq_u32(at[I], one))))),
            ]
        }
        unsafe fn iwiden8(self, p: *const u8) -> Self::I {
            let v = vld1q_u8(p);
            let (a, b) = (vmovl_u8(vget_low_u8(v)), vmovl_u8(vget_high_u8(v)));
            [
                vmovl_u16(vget_low_u16(a)),
                vmovl_u16(vget_high_u16(a)),
                vmovl_u16(vget_low_u16(b)),
                vmovl_u16(vget_high_u16(b)),
            ]
        }
        unsafe fn iwiden16(self, p: *const u8) -> Self::I {
            four!(I => vmovl_u16(vld1_u16(p.add(8 * I).cast())))
        }
        unsafe fn inarrow8(self, p: *mut u8, a: Self::I) {
            vst1q_u8(p, narrow8(a))
        }
        unsafe fn inarrow16(self, p: *mut u8, a: Self::I) {
            four!(I => vst1_u16(p.add(8 * I).cast(), vmovn_u32(a[I])));
        }
        unsafe fn fload16(self, p: *const u8) -> Self::F {
            four!(I => from_halves(vld1_u16(p.add(8 * I).cast())))
        }
        unsafe fn fstore16(self, p: *mut u8, a: Self::F) {
            four!(I => vst1_u16(p.add(8 * I).cast(), to_halves(a[I])));
        }
        unsafe fn iblend8(self, p: *const u8, term: [Self::I; 2], factor: [Self::I; 2]) -> Self::I {
            four!(I => {
                let pixels = vld1q_u8(p.add(16 * I));
                let low = blend(
                    vget_low_u8(pixels),
                    vzip1q_u32(term[0][I], term[1][I]),
                    vzip1q_u32(factor[0][I], factor[1][I]),
                );
                let high = blend(
                    vget_high_u8(pixels),
                    vzip2q_u32(term[0][I], term[1][I]),
                    vzip2q_u32(factor[0][I], factor[1][I]),
                );
                words(vcombine_u8(low, high))
            })
        }
        unsafe fn fquads3(self, p: [*const f32; 4]) -> [Self::F; 3] {
            [
                four!(I => vdupq_n_f32(*p[I])),
                four!(I => vdupq_n_f32(*p[I].add(1))),
                four!(I => vdupq_n_f32(*p[I].add(2))),
            ]
        }
        unsafe fn fquads4(self, p: [*const f32; 4]) -> [Self::F; 4] {
            let v = four!(I => vld1q_f32(p[I]));
            [
                four!(I => vdupq_laneq_f32::<0>(v[I])),
                four!(I => vdupq_laneq_f32::<1>(v[I])),
                four!(I => vdupq_laneq_f32::<2>(v[I])),
                four!(I => vdupq_laneq_f32::<3>(v[I])),
            ]
        }
        unsafe fn mstore(self, p: *mut u8, w: [u64; 4]) {
            // Vectors, which a load of both forwards from.
            vst1q_u64(p.cast(), vcombine_u64(vcreate_u64(w[0]), vcreate_u64(w[1])));
            vst1q_u64(p.add(16).cast(), vcombine_u64(vcreate_u64(w[2]), vcreate_u64(w[3])));
        }
    }

    methods! {
        fn fsplat(self, x: f32) -> Self::F {
            [vdupq_n_f32(x); 4]
        }
        fn isplat(self, x: u32) -> Self::I {
            [vdupq_n_u32(x); 4]
        }
        fn dsplat(self, x: f64) -> Self::D {
            [vdupq_n_f64(x); 8]
        }
        fn lsplat(self, x: u64) -> Self::L {
            [vdupq_n_u64(x); 8]
        }
    }

    each! { four;
        fsqrt(a: F) -> F = vsqrtq_f32;
        ffloor(a: F) -> F = vrndmq_f32;
        fceil(a: F) -> F = vrndpq_f32;
        ftrunc(a: F) -> F = vrndq_f32;
        fround_even(a: F) -> F = vrndnq_f32;
        bits(a: F) -> I = vreinterpretq_u32_f32;
        from_bits(a: I) -> F = vreinterpretq_f32_u32;
        s_to_f(a: I) -> F = signed_to_float;
        u_to_f(a: I) -> F = vcvtq_f32_u32;
        f_to_s_raw(a: F) -> I = to_signed;
        f_to_f16(a: F) -> I = to_wide_halves;
        f16_to_f(a: I) -> F = from_wide_halves;
        ihigh_bytes(a: I) -> I = high_bytes;
        mnot(a: M) -> M = vmvnq_u32;
        fadd(a: F, b: F) -> F = vaddq_f32;
        fsub(a: F, b: F) -> F = vsubq_f32;
        fmul(a: F, b: F) -> F = vmulq_f32;
        fdiv(a: F, b: F) -> F = vdivq_f32;
        fmin_raw(a: F, b: F) -> F = min;
        fmax_raw(a: F, b: F) -> F = max;
        feq(a: F, b: F) -> M = vceqq_f32;
        fne(a: F, b: F) -> M = differ;
        flt(a: F, b: F) -> M = less;
        fle(a: F, b: F) -> M = at_most;
        iadd(a: I, b: I) -> I = vaddq_u32;
        isub(a: I, b: I) -> I = vsubq_u32;
        imul(a: I, b: I) -> I = vmulq_u32;
        imadd16(a: I, b: I) -> I = add_products;
        umul_hi(a: I, b: I) -> I = unsigned_high;
        smul_hi(a: I, b: I) -> I = signed_high;
        iand(a: I, b: I) -> I = vandq_u32;
        ior(a: I, b: I) -> I = vorrq_u32;
        ixor(a: I, b: I) -> I = veorq_u32;
        iandn(a: I, b: I) -> I = and_not;
        ishl(a: I, n: I) -> I = left;
        ishr(a: I, n: I) -> I = right;
        isar(a: I, n: I) -> I = right_signed;
        smin(a: I, b: I) -> I = signed_min;
        smax(a: I, b: I) -> I = signed_max;
        umin(a: I, b: I) -> I = vminq_u32;
        umax(a: I, b: I) -> I = vmaxq_u32;
        ieq(a: I, b: I) -> M = vceqq_u32;
        sgt(a: I, b: I) -> M = signed_above;
        ugt(a: I, b: I) -> M = vcgtq_u32;
        mand(a: M, b: M) -> M = vandq_u32;
        mor(a: M, b: M) -> M = vorrq_u32;
        mxor(a: M, b: M) -> M = veorq_u32;
        fma(a: F, b: F, c: F) -> F = fused;
        fnma(a: F, b: F, c: F) -> F = fused_negated;
        fsel(m: M, a: F, b: F) -> F = vbslq_f32;
        isel(m: M, a: I, b: I) -> I = vbslq_u32;
    }
    #[inline(always)]
    fn fpick<const WHICH: i32>(self, a: Self::F, b: Self::F) -> Self::F {
        four!(I => pick::<WHICH>(a[I], b[I]))
    }
    methods! {
        fn itranspose4(self, words: [Self::I; 4]) -> [Self::I; 4] {
            let of = four!(I => transpose([words[0][I], words[1][I], words[2][I], words[3][I]]));
            [
                four!(I => of[I][0]),
                four!(I => of[I][1]),
                four!(I => of[I][2]),
                four!(I => of[I][3]),
            ]
        }
        fn ishuffle(self, a: Self::I, idx: Self::I) -> Self::I {
            let table = table(a);
            four!(I => words(vqtbl4q_u8(table, places(vandq_u32(idx[I], vdupq_n_u32(15))))))
        }
        fn ishuffle2(self, a: Self::I, b: Self::I, idx: Self::I) -> Self::I {
            let tables = [table(a), table(b)];
            four!(I => of_two(tables, idx[I]))
        }
        fn ilook(self, of: &'static crate::Table<32>, idx: Self::I) -> Self::I {
            let p = of.0.as_ptr().cast::<u8>();
            self.ishuffle2(self.iload(p), self.iload(p.add(64)), idx)
        }
        fn fhalves(self, rows: [[Self::I; 2]; 2], at: Self::I) -> [[Self::F; 4]; 2] {
            let tables = [[table(rows[0][0]), table(rows[0][1])], [table(rows[1][0]), table(rows[1][1])]];
            let first = four!(I => vshlq_n_u32::<1>(vandq_u32(at[I], vdupq_n_u32(15))));
            let mut out = [[self.fsplat(0.0); 4]; 2];
            for k in 0..4 {
                let words = four!(I => of_two(tables[I / 2], vaddq_u32(first[I], vdupq_n_u32(k as u32))));
                out[k / 2][k % 2 * 2] = self.f16_to_f(words);
                out[k / 2][k % 2 * 2 + 1] = four!(I => from_halves(vshrn_n_u32::<16>(words[I])));
            }
            out
        }
        fn fapart16(self, v: [Self::I; 2]) -> [Self::F; 4] {
            let [a, b] = [
                four!(I => vuzp1q_u32(v[I / 2][I % 2 * 2], v[I / 2][I % 2 * 2 + 1])),
                four!(I => vuzp2q_u32(v[I / 2][I % 2 * 2], v[I / 2][I % 2 * 2 + 1])),
            ];
            [
                self.f16_to_f(a),
                four!(I => from_halves(vshrn_n_u32::<16>(a[I]))),
                self.f16_to_f(b),
                four!(I => from_halves(vshrn_n_u32::<16>(b[I]))),
            ]
        }
        fn ftogether16(self, v: [Self::F; 4]) -> [Self::I; 2] {
            let two = [four!(I => halves_of(v[0][I], v[1][I])), four!(I => halves_of(v[2][I], v[3][I]))];
            let of = four!(I => [vzip1q_u32(two[0][I], two[1][I]), vzip2q_u32(two[0][I], two[1][I])]);
            [[of[0][0], of[0][1], of[1][0], of[1][1]], [of[2][0], of[2][1], of[3][0], of[3][1]]]
        }
        fn fother_half(self, a: Self::F) -> Self::F {
            [a[2], a[3], a[0], a[1]]
        }
        fn fnext_quad(self, a: Self::F) -> Self::F {
            [a[1], a[2], a[0], a[3]]
        }
        fn fquads(self, v: [f32; 4]) -> Self::F {
            four!(I => vdupq_n_f32(v[I]))
        }
        fn mask(self, bits: u16) -> Self::M {
            let b = vdupq_n_u32(bits as u32);
            const BITS: [[u32; 4]; 4] =
                [[1, 2, 4, 8], [16, 32, 64, 128], [256, 512, 1024, 2048], [4096, 8192, 16384, 32768]];
            four!(I => vtstq_u32(b, vld1q_u32(BITS[I].as_ptr())))
        }
        fn mbits(self, m: Self::M) -> u16 {
            let v = truth_bits(m);
            let v = vpaddq_u8(v, v);
            let v = vpaddq_u8(v, v);
            vgetq_lane_u16::<0>(vreinterpretq_u16_u8(vpaddq_u8(v, v)))
        }
        fn mbits4(self, m: [Self::M; 4]) -> u64 {
            let low = vpaddq_u8(truth_bits(m[0]), truth_bits(m[1]));
            let high = vpaddq_u8(truth_bits(m[2]), truth_bits(m[3]));
            let v = vpaddq_u8(low, high);
            vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(v, v)))
        }
        fn many(self, a: Self::M) -> bool {
            let all = vorrq_u32(vorrq_u32(a[0], a[1]), vorrq_u32(a[2], a[3]));
            vmaxvq_u32(all) != 0
        }
    }

    each! { eight;
        dsqrt(a: D) -> D = vsqrtq_f64;
        dfloor(a: D) -> D = vrndmq_f64;
        dceil(a: D) -> D = vrndpq_f64;
        dtrunc(a: D) -> D = vrndq_f64;
        dround_even(a: D) -> D = vrndnq_f64;
        dbits(a: D) -> L = vreinterpretq_u64_f64;
        from_dbits(a: L) -> D = vreinterpretq_f64_u64;
        ul_to_d(a: L) -> D = vcvtq_f64_u64;
        sl_to_d(a: L) -> D = signed_to_double;
        d_to_ul(a: D) -> L = vcvtq_u64_f64;
        dadd(a: D, b: D) -> D = vaddq_f64;
        dsub(a: D, b: D) -> D = vsubq_f64;
        dmul(a: D, b: D) -> D = vmulq_f64;
        ddiv(a: D, b: D) -> D = vdivq_f64;
        dmin_raw(a: D, b: D) -> D = min_wide;
        dmax_raw(a: D, b: D) -> D = max_wide;
        dfma(a: D, b: D, c: D) -> D = fused_wide;
        ladd(a: L, b: L) -> L = vaddq_u64;
        lsub(a: L, b: L) -> L = vsubq_u64;
        lmul(a: L, b: L) -> L = product_wide;
        land(a: L, b: L) -> L = vandq_u64;
        lor(a: L, b: L) -> L = vorrq_u64;
        lxor(a: L, b: L) -> L = veorq_u64;
        lumin(a: L, b: L) -> L = unsigned_min_wide;
        lumax(a: L, b: L) -> L = unsigned_max_wide;
        lsmin(a: L, b: L) -> L = signed_min_wide;
        lsmax(a: L, b: L) -> L = signed_max_wide;
    }
    wide_compare! {
        deq(D) = vceqq_f64;
        dlt(D) = less_wide;
        dle(D) = at_most_wide;
        leq(L) = vceqq_u64;
        lgt(L) = signed_above_wide;
    }
    methods! {
        fn dne(self, a: Self::D, b: Self::D) -> Self::M {
            self.mnot(self.deq(a, b))
        }
        fn dsel(self, m: Self::M, a: Self::D, b: Self::D) -> Self::D {
            eight!(I => vbslq_f64(truths(m[I / 2], I % 2), a[I], b[I]))
        }
        fn lsel(self, m: Self::M, a: Self::L, b: Self::L) -> Self::L {
            eight!(I => vbslq_u64(truths(m[I / 2], I % 2), a[I], b[I]))
        }
        fn lshl(self, a: Self::L, n: Self::I) -> Self::L {
            eight!(I => vshlq_u64(a[I], counts(n[I / 2], I % 2)))
        }
        fn lshr(self, a: Self::L, n: Self::I) -> Self::L {
            eight!(I => vshlq_u64(a[I], vnegq_s64(counts(n[I / 2], I % 2))))
        }
        fn lsar(self, a: Self::L, n: Self::I) -> Self::L {
            eight!(I => {
                let shifted = vshlq_s64(vreinterpretq_s64_u64(a[I]), vnegq_s64(counts(n[I / 2], I % 2)));
                vreinterpretq_u64_s64(shifted)
            })
        }
        fn lo(self, a: Self::L) -> Self::I {
            four!(I => vuzp1q_u32(vreinterpretq_u32_u64(a[2 * I]), vreinterpretq_u32_u64(a[2 * I + 1])))
        }
        fn hi(self, a: Self::L) -> Self::I {
            four!(I => vuzp2q_u32(vreinterpretq_u32_u64(a[2 * I]), vreinterpretq_u32_u64(a[2 * I + 1])))
        }
        fn pack(self, lo: Self::I, hi: Self::I) -> Self::L {
            eight!(I => vreinterpretq_u64_u32(match I % 2 {
                0 => vzip1q_u32(lo[I / 2], hi[I / 2]),
                _ => vzip2q_u32(lo[I / 2], hi[I / 2]),
            }))
        }
        fn s_to_d(self, a: Self::I) -> Self::D {
            eight!(I => vcvtq_f64_s64(vmovl_s32(half_signed(a[I / 2], I % 2))))
        }
        fn u_to_d(self, a: Self::I) -> Self::D {
            eight!(I => vcvtq_f64_u64(vmovl_u32(half(a[I / 2], I % 2))))
        }
        fn d_to_s_raw(self, a: Self::D) -> Self::I {
            four!(I => doubles_to_signed(a[2 * I], a[2 * I + 1]))
        }
        fn f_to_d(self, a: Self::F) -> Self::D {
            eight!(I => vcvt_f64_f32(match I % 2 {
                0 => vget_low_f32(a[I / 2]),
                _ => vget_high_f32(a[I / 2]),
            }))
        }
        fn d_to_f(self, a: Self::D) -> Self::F {
            four!(I => vcombine_f32(vcvt_f32_f64(a[2 * I]), vcvt_f32_f64(a[2 * I + 1])))
        }
    }
}

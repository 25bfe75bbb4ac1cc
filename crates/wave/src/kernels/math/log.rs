//! Logarithms: x = 2^e · (1 + f) with 1 + f in [√½, √2).

use super::poly;
use simd::Simd;
use simd::ops::{self, Fix};

/// log2(1 + f) / f, relative error 2^-25.2.
const LOG2: [f32; 9] = [
    std::f32::consts::LOG2_E,
    -0.721_347_33,
    0.480_910_63,
    -0.360_703_68,
    0.287_916_27,
    -0.238_944_84,
    0.215_715_51,
    -0.207_269_58,
    0.125_837_07,
];
/// ln(1 + f) / f, relative error 2^-25.2.
const LN: [f32; 9] = [
    1.0,
    -0.499_999_88,
    0.333_341_87,
    -0.250_020_74,
    0.199_568_35,
    -0.165_623_95,
    0.149_522_6,
    -0.143_668_32,
    0.087_223_61,
];
const SQRT_HALF: u32 = 0x3F35_04F3;

/// (e, f) of positive normal numbers.
#[inline(always)]
fn split<S: Simd>(s: S, bits: S::I) -> (S::F, S::F) {
    let e = ops::sar(s, s.isub(bits, s.isplat(SQRT_HALF)), 23);
    let m = s.isub(bits, ops::shl(s, e, 23));
    (s.s_to_f(e), s.fsub(s.from_bits(m), s.fsplat(1.0)))
}
/// True if a lane is not a positive normal number.
#[inline(always)]
fn any_odd<S: Simd>(s: S, x: S::F) -> bool {
    let above = s.isub(s.bits(x), s.isplat(0x0080_0000));
    s.many(s.ugt(above, s.isplat(0x7EFF_FFFF)))
}
/// As [`split`], denormals too.
#[inline(always)]
fn split_any<S: Simd>(s: S, x: S::F) -> (S::F, S::F) {
    let [e, m] = s.fparts(x);
    let high = s.fle(s.fsplat(f32::from_bits(SQRT_HALF + (1 << 23))), m);
    let m = s.fsel(high, s.fmul(m, s.fsplat(0.5)), m);
    let one = s.fsplat(1.0);
    (s.fsel(high, s.fadd(e, one), e), s.fsub(m, one))
}
/// What the core makes something else of.
const SPECIAL: u32 = Fix {
    nan: Fix::SELF,
    zero: Fix::NEGATIVE_INFINITY,
    negative: Fix::NAN,
    negative_infinity: Fix::NAN,
    infinity: Fix::INFINITY,
}
.table();

#[inline(always)]
pub fn log2<S: Simd>(s: S, x: S::F) -> S::F {
    if s.parts_are_cheap() || any_odd(s, x) {
        let (e, f) = split_any(s, x);
        return s.ffix::<SPECIAL>(s.fma(f, poly::<S, 9>(s, f, LOG2), e), x);
    }
    let (e, f) = split(s, s.bits(x));
    s.fma(f, poly::<S, 9>(s, f, LOG2), e)
}

#[inline(always)]
fn ln_core<S: Simd>(s: S, e: S::F, f: S::F) -> S::F {
    s.fma(e, s.fsplat(std::f32::consts::LN_2), s.fmul(f, poly::<S, 9>(s, f, LN)))
}

#[inline(always)]
pub fn ln<S: Simd>(s: S, x: S::F) -> S::F {
    if s.parts_are_cheap() || any_odd(s, x) {
        let (e, f) = split_any(s, x);
        return s.ffix::<SPECIAL>(ln_core(s, e, f), x);
    }
    let (e, f) = split(s, s.bits(x));
    ln_core(s, e, f)
}

/// ln(1 + u) for u ≥ −1 or NaN: the log of the rounded sum, and what the rounding lost.
#[inline(always)]
pub fn ln_1p<S: Simd>(s: S, u: S::F) -> S::F {
    let one = s.fsplat(1.0);
    let zero = s.fsplat(0.0);
    let w = s.fadd(one, u);
    let lost = s.fsub(u, s.fsub(w, one));
    // Infinity and the pole at −1 have no correction.
    let plain = s.mor(s.feq(w, zero), s.feq(w, s.fsplat(f32::INFINITY)));
    s.fadd(ln(s, w), s.fsel(plain, zero, s.fdiv(lost, w)))
}

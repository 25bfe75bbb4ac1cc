//! Logarithms: x = 2^e · (1 + f) with 1 + f in [√½, √2).

use super::poly;
use simd::{Simd, ops};

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
unsafe fn split<S: Simd>(bits: S::I) -> (S::F, S::F) {
    let e = ops::sar::<S>(S::isub(bits, S::isplat(SQRT_HALF)), 23);
    let m = S::isub(bits, ops::shl::<S>(e, 23));
    (S::s_to_f(e), S::fsub(S::from_bits(m), S::fsplat(1.0)))
}
/// True if a lane is not a positive normal number.
#[inline(always)]
unsafe fn any_odd<S: Simd>(x: S::F) -> bool {
    let above = S::isub(S::bits(x), S::isplat(0x0080_0000));
    S::many(S::ugt(above, S::isplat(0x7EFF_FFFF)))
}
/// As [`split`], denormals too.
#[inline(always)]
unsafe fn split_any<S: Simd>(x: S::F) -> (S::F, S::F) {
    let small = S::sgt(S::isplat(0x0080_0000), S::bits(x));
    let scaled = S::fsel(small, S::fmul(x, S::fsplat(16777216.0)), x);
    let (e, f) = split::<S>(S::bits(scaled));
    (S::fsub(e, S::fsel(small, S::fsplat(24.0), S::fsplat(0.0))), f)
}
/// Puts right what the core makes of 0, negative numbers, infinity and NaN.
#[inline(always)]
unsafe fn special<S: Simd>(x: S::F, r: S::F) -> S::F {
    let zero = S::fsplat(0.0);
    let r = S::fsel(S::flt(x, S::fsplat(f32::INFINITY)), r, x);
    let r = S::fsel(S::flt(x, zero), S::fsplat(f32::NAN), r);
    S::fsel(S::feq(x, zero), S::fsplat(f32::NEG_INFINITY), r)
}

#[inline(always)]
pub unsafe fn log2<S: Simd>(x: S::F) -> S::F {
    if any_odd::<S>(x) {
        let (e, f) = split_any::<S>(x);
        return special::<S>(x, S::fma(f, poly::<S, 9>(f, LOG2), e));
    }
    let (e, f) = split::<S>(S::bits(x));
    S::fma(f, poly::<S, 9>(f, LOG2), e)
}

#[inline(always)]
unsafe fn ln_core<S: Simd>(e: S::F, f: S::F) -> S::F {
    S::fma(e, S::fsplat(std::f32::consts::LN_2), S::fmul(f, poly::<S, 9>(f, LN)))
}

#[inline(always)]
pub unsafe fn ln<S: Simd>(x: S::F) -> S::F {
    if any_odd::<S>(x) {
        let (e, f) = split_any::<S>(x);
        return special::<S>(x, ln_core::<S>(e, f));
    }
    let (e, f) = split::<S>(S::bits(x));
    ln_core::<S>(e, f)
}

/// ln(1 + u) for u ≥ −1 or NaN: the log of the rounded sum, and what the rounding lost.
#[inline(always)]
pub unsafe fn ln_1p<S: Simd>(u: S::F) -> S::F {
    let one = S::fsplat(1.0);
    let zero = S::fsplat(0.0);
    let w = S::fadd(one, u);
    let lost = S::fsub(u, S::fsub(w, one));
    // Infinity and the pole at −1 have no correction.
    let plain = S::mor(S::feq(w, zero), S::feq(w, S::fsplat(f32::INFINITY)));
    S::fadd(ln::<S>(w), S::fsel(plain, zero, S::fdiv(lost, w)))
}

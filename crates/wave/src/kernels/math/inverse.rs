//! Inverse trigonometric functions.

use super::{HALF_PI, HALF_PI_LO, PI, odd};
use simd::{Simd, ops};

/// (asin x / x − 1) / x² on [−1/2, 1/2], relative error 2^-27.6.
const ASIN: [f32; 5] = [0.166_667_52, 0.074_952_975, 0.045_470_38, 0.024_179_513, 0.042_166_304];
/// (atan x / x − 1) / x² on [−1, 1], relative error 2^-28.5.
const ATAN: [f32; 9] = [
    -0.333_333,
    0.199_985_49,
    -0.142_642_41,
    0.109_521_84,
    -0.084_034_47,
    0.057_957_552,
    -0.031_177_811,
    0.010_914_59,
    -0.001_793_618_9,
];

/// π/2 − a, with the part of π/2 that one float does not hold.
#[inline(always)]
unsafe fn from_half_pi<S: Simd>(a: S::F) -> S::F {
    S::fsub(S::fsplat(HALF_PI), S::fsub(a, S::fsplat(HALF_PI_LO)))
}

/// For |x| ≤ 1; NaN beyond.
#[inline(always)]
pub unsafe fn asin<S: Simd>(x: S::F) -> S::F {
    let a = ops::fabs::<S>(x);
    let half = S::fsplat(0.5);
    // asin a = π/2 − 2 asin √((1 − a) / 2)
    let s = S::fsqrt(S::fnma(a, half, half));
    let large = S::flt(half, a);
    let p = odd::<S, 5>(S::fsel(large, s, a), ASIN);
    let r = S::fsel(large, from_half_pi::<S>(S::fadd(p, p)), p);
    ops::xorsign::<S>(r, x)
}

#[inline(always)]
pub unsafe fn acos<S: Simd>(x: S::F) -> S::F {
    let a = ops::fabs::<S>(x);
    let half = S::fsplat(0.5);
    let s = S::fsqrt(S::fnma(a, half, half));
    let large = S::flt(half, a);
    let p = odd::<S, 5>(S::fsel(large, s, x), ASIN);
    // acos x = π/2 − asin x; 2 asin √((1 − x) / 2); π − acos(−x)
    let twice = S::fadd(p, p);
    let mirrored = S::fsub(S::fsplat(PI), S::fsub(twice, S::fsplat(2.0 * HALF_PI_LO)));
    let negative = S::flt(x, S::fsplat(0.0));
    S::fsel(large, S::fsel(negative, mirrored, twice), from_half_pi::<S>(p))
}

#[inline(always)]
pub unsafe fn atan<S: Simd>(x: S::F) -> S::F {
    let a = ops::fabs::<S>(x);
    let one = S::fsplat(1.0);
    let large = S::flt(one, a);
    let t = S::fsel(large, S::fdiv(one, a), a);
    let p = odd::<S, 9>(t, ATAN);
    let r = S::fsel(large, from_half_pi::<S>(p), p);
    ops::xorsign::<S>(r, x)
}

/// The angle of (x, y), with C's values where an operand is zero or infinite.
#[inline(always)]
pub unsafe fn atan2<S: Simd>(y: S::F, x: S::F) -> S::F {
    let (a, b) = (ops::fabs::<S>(y), ops::fabs::<S>(x));
    let steep = S::flt(b, a);
    let (low, high) = (S::fmin_raw(a, b), S::fmax_raw(a, b));
    let t = S::fdiv(low, high);
    // 0/0 and ∞/∞: angles as of 0/1 and 1/1.
    let t = S::fsel(S::feq(high, S::fsplat(0.0)), S::fsplat(0.0), t);
    let t = S::fsel(S::feq(low, S::fsplat(f32::INFINITY)), S::fsplat(1.0), t);
    let p = odd::<S, 9>(t, ATAN);
    let r = S::fsel(steep, from_half_pi::<S>(p), p);
    let back = S::sgt(S::isplat(0), S::bits(x));
    let r = S::fsel(back, S::fsub(S::fsplat(PI), S::fsub(r, S::fsplat(2.0 * HALF_PI_LO))), r);
    let r = ops::xorsign::<S>(r, y);
    let nan = S::mor(S::fne(x, x), S::fne(y, y));
    S::fsel(nan, S::fsplat(f32::NAN), r)
}

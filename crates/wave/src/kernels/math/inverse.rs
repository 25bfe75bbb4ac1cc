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
fn from_half_pi<S: Simd>(s: S, a: S::F) -> S::F {
    s.fsub(s.fsplat(HALF_PI), s.fsub(a, s.fsplat(HALF_PI_LO)))
}

/// For |x| ≤ 1; NaN beyond.
#[inline(always)]
pub fn asin<S: Simd>(s: S, x: S::F) -> S::F {
    let a = ops::fabs(s, x);
    let half = s.fsplat(0.5);
    // asin a = π/2 − 2 asin √((1 − a) / 2)
    let root = s.fsqrt(s.fnma(a, half, half));
    let large = s.flt(half, a);
    let p = odd::<S, 5>(s, s.fsel(large, root, a), ASIN);
    let r = s.fsel(large, from_half_pi(s, s.fadd(p, p)), p);
    ops::xorsign(s, r, x)
}

#[inline(always)]
pub fn acos<S: Simd>(s: S, x: S::F) -> S::F {
    let a = ops::fabs(s, x);
    let half = s.fsplat(0.5);
    let root = s.fsqrt(s.fnma(a, half, half));
    let large = s.flt(half, a);
    let p = odd::<S, 5>(s, s.fsel(large, root, x), ASIN);
    // acos x = π/2 − asin x; 2 asin √((1 − x) / 2); π − acos(−x)
    let twice = s.fadd(p, p);
    let mirrored = s.fsub(s.fsplat(PI), s.fsub(twice, s.fsplat(2.0 * HALF_PI_LO)));
    let negative = s.flt(x, s.fsplat(0.0));
    s.fsel(large, s.fsel(negative, mirrored, twice), from_half_pi(s, p))
}

#[inline(always)]
pub fn atan<S: Simd>(s: S, x: S::F) -> S::F {
    let a = ops::fabs(s, x);
    let one = s.fsplat(1.0);
    let large = s.flt(one, a);
    let t = s.fsel(large, s.fdiv(one, a), a);
    let p = odd::<S, 9>(s, t, ATAN);
    let r = s.fsel(large, from_half_pi(s, p), p);
    ops::xorsign(s, r, x)
}

/// The angle of (x, y), with C's values where an operand is zero or infinite.
#[inline(always)]
pub fn atan2<S: Simd>(s: S, y: S::F, x: S::F) -> S::F {
    let (a, b) = (ops::fabs(s, y), ops::fabs(s, x));
    let steep = s.flt(b, a);
    let (low, high) = (s.fmin_raw(a, b), s.fmax_raw(a, b));
    let t = s.fdiv(low, high);
    // 0/0 and ∞/∞: angles as of 0/1 and 1/1.
    let t = s.fsel(s.feq(high, s.fsplat(0.0)), s.fsplat(0.0), t);
    let t = s.fsel(s.feq(low, s.fsplat(f32::INFINITY)), s.fsplat(1.0), t);
    let p = odd::<S, 9>(s, t, ATAN);
    let r = s.fsel(steep, from_half_pi(s, p), p);
    let back = s.sgt(s.isplat(0), s.bits(x));
    let r = s.fsel(back, s.fsub(s.fsplat(PI), s.fsub(r, s.fsplat(2.0 * HALF_PI_LO))), r);
    let r = ops::xorsign(s, r, y);
    let nan = s.mor(s.fne(x, x), s.fne(y, y));
    s.fsel(nan, s.fsplat(f32::NAN), r)
}

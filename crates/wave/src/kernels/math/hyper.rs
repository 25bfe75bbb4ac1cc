//! Hyperbolic functions and their inverses.

use super::exp::{exp, exp_near};
use super::log::{ln, ln_1p};
use super::odd;
use simd::{Simd, ops};

/// (sinh x / x − 1) / x² on [−1, 1], relative error 2^-34.
const SINH: [f32; 4] = [0.166_666_67, 0.008_333_35, 0.000_198_361_6, 0.000_002_816_951];
/// (tanh x / x − 1) / x² on [−5/8, 5/8], relative error 2^-27.8.
const TANH: [f32; 5] = [-0.333_332_8, 0.133_314_42, -0.053_739_715, 0.020_639_094, -0.005_704_993_4];
/// (atanh x / x − 1) / x² on [−1/2, 1/2], relative error 2^-29.4.
const ATANH: [f32; 6] = [0.333_333_02, 0.200_025_19, 0.142_227_62, 0.118_237_28, 0.051_358_294, 0.176_691_11];

/// eᵃ / 2 and e⁻ᵃ / 2 for a ≥ 0. They overflow where eᵃ does, as what the functions are derived from (§ Precision and Operation
/// of SPIR-V Instructions): CTS wants infinity there, though half of it would be a float.
#[inline(always)]
fn halves<S: Simd>(s: S, a: S::F) -> [S::F; 2] {
    let (e, half) = (exp(s, a), s.fsplat(0.5));
    [s.fmul(e, half), s.fdiv(half, e)]
}
#[inline(always)]
pub fn sinh<S: Simd>(s: S, x: S::F) -> S::F {
    let a = ops::fabs(s, x);
    let [grows, falls] = halves(s, a);
    let far = s.fsub(grows, falls);
    let near = odd::<S, 4>(s, a, SINH);
    ops::xorsign(s, s.fsel(s.flt(a, s.fsplat(1.0)), near, far), x)
}
#[inline(always)]
pub fn cosh<S: Simd>(s: S, x: S::F) -> S::F {
    let [grows, falls] = halves(s, ops::fabs(s, x));
    s.fadd(grows, falls)
}
#[inline(always)]
pub fn tanh<S: Simd>(s: S, x: S::F) -> S::F {
    let a = ops::fabs(s, x);
    let one = s.fsplat(1.0);
    // From 10 on the result is 1; infinity too, and NaN stays.
    let e = exp_near(s, s.fmin_raw(s.fsplat(20.0), s.fadd(a, a)));
    let far = s.fsub(one, s.fdiv(s.fsplat(2.0), s.fadd(e, one)));
    let near = odd::<S, 5>(s, a, TANH);
    let r = ops::xorsign(s, s.fsel(s.flt(a, s.fsplat(0.625)), near, far), x);
    s.fsel(s.fne(x, x), x, r)
}
/// Beyond this a² ± 1 is a².
const LARGE: f32 = 1e9;

#[inline(always)]
pub fn asinh<S: Simd>(s: S, x: S::F) -> S::F {
    let a = ops::fabs(s, x);
    let one = s.fsplat(1.0);
    let large = s.flt(s.fsplat(LARGE), a);
    // ln(a + √(a² + 1)) = ln1p(a + a² / (1 + √(a² + 1)))
    let c = s.fmin_raw(s.fsplat(LARGE), a);
    let root = s.fsqrt(s.fma(c, c, one));
    let u = s.fadd(c, s.fdiv(s.fmul(c, c), s.fadd(one, root)));
    let near = ln_1p(s, u);
    // Where a² underflows against 1 the result is a itself; that also keeps zeros and denormals exact.
    let tiny = s.flt(a, s.fsplat(0.000_244_140_63));
    let r = s.fsel(tiny, a, near);
    if s.many(large) {
        let far = s.fadd(ln(s, a), s.fsplat(std::f32::consts::LN_2));
        return ops::xorsign(s, s.fsel(large, far, r), x);
    }
    ops::xorsign(s, r, x)
}
/// NaN below 1.
#[inline(always)]
pub fn acosh<S: Simd>(s: S, x: S::F) -> S::F {
    let one = s.fsplat(1.0);
    let large = s.flt(s.fsplat(LARGE), x);
    // ln(x + √(x² − 1)) = ln1p(t + √(2t + t²)), t = x − 1
    let t = s.fsub(s.fmin_raw(s.fsplat(LARGE), x), one);
    let root = s.fsqrt(s.fma(t, t, s.fadd(t, t)));
    let near = ln_1p(s, s.fadd(t, root));
    let r = s.fsel(s.flt(x, one), s.fsplat(f32::NAN), near);
    if s.many(large) {
        let far = s.fadd(ln(s, x), s.fsplat(std::f32::consts::LN_2));
        return s.fsel(large, far, r);
    }
    r
}
/// ±∞ at ±1, NaN beyond.
#[inline(always)]
pub fn atanh<S: Simd>(s: S, x: S::F) -> S::F {
    let a = ops::fabs(s, x);
    let half = s.fsplat(0.5);
    let u = s.fdiv(s.fadd(a, a), s.fsub(s.fsplat(1.0), a));
    let far = s.fmul(half, ln_1p(s, u));
    let near = odd::<S, 6>(s, a, ATANH);
    ops::xorsign(s, s.fsel(s.flt(a, half), near, far), x)
}

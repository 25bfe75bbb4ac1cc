//! Hyperbolic functions and their inverses.

use super::exp::{exp_near, half_exp};
use super::log::{ln, ln_1p};
use super::odd;
use simd::{Simd, ops};

/// (sinh x / x − 1) / x² on [−1, 1], relative error 2^-34.
const SINH: [f32; 4] = [0.166_666_67, 0.008_333_35, 0.000_198_361_6, 0.000_002_816_951];
/// (tanh x / x − 1) / x² on [−5/8, 5/8], relative error 2^-27.8.
const TANH: [f32; 5] = [-0.333_332_8, 0.133_314_42, -0.053_739_715, 0.020_639_094, -0.005_704_993_4];
/// (atanh x / x − 1) / x² on [−1/2, 1/2], relative error 2^-29.4.
const ATANH: [f32; 6] = [0.333_333_02, 0.200_025_19, 0.142_227_62, 0.118_237_28, 0.051_358_294, 0.176_691_11];

#[inline(always)]
pub unsafe fn sinh<S: Simd>(x: S::F) -> S::F {
    let a = ops::fabs::<S>(x);
    let h = half_exp::<S>(a);
    let far = S::fsub(h, S::fdiv(S::fsplat(0.25), h));
    let near = odd::<S, 4>(a, SINH);
    ops::xorsign::<S>(S::fsel(S::flt(a, S::fsplat(1.0)), near, far), x)
}
#[inline(always)]
pub unsafe fn cosh<S: Simd>(x: S::F) -> S::F {
    let h = half_exp::<S>(ops::fabs::<S>(x));
    S::fadd(h, S::fdiv(S::fsplat(0.25), h))
}
#[inline(always)]
pub unsafe fn tanh<S: Simd>(x: S::F) -> S::F {
    let a = ops::fabs::<S>(x);
    let one = S::fsplat(1.0);
    // From 10 on the result is 1; infinity too, and NaN stays.
    let e = exp_near::<S>(S::fmin_raw(S::fsplat(20.0), S::fadd(a, a)));
    let far = S::fsub(one, S::fdiv(S::fsplat(2.0), S::fadd(e, one)));
    let near = odd::<S, 5>(a, TANH);
    let r = ops::xorsign::<S>(S::fsel(S::flt(a, S::fsplat(0.625)), near, far), x);
    S::fsel(S::fne(x, x), x, r)
}
/// Beyond this a² ± 1 is a².
const LARGE: f32 = 1e9;

#[inline(always)]
pub unsafe fn asinh<S: Simd>(x: S::F) -> S::F {
    let a = ops::fabs::<S>(x);
    let one = S::fsplat(1.0);
    let large = S::flt(S::fsplat(LARGE), a);
    // ln(a + √(a² + 1)) = ln1p(a + a² / (1 + √(a² + 1)))
    let c = S::fmin_raw(S::fsplat(LARGE), a);
    let root = S::fsqrt(S::fma(c, c, one));
    let u = S::fadd(c, S::fdiv(S::fmul(c, c), S::fadd(one, root)));
    let near = ln_1p::<S>(u);
    // Where a² underflows against 1 the result is a itself; that also keeps zeros and denormals exact.
    let tiny = S::flt(a, S::fsplat(0.000_244_140_63));
    let r = S::fsel(tiny, a, near);
    if S::many(large) {
        let far = S::fadd(ln::<S>(a), S::fsplat(std::f32::consts::LN_2));
        return ops::xorsign::<S>(S::fsel(large, far, r), x);
    }
    ops::xorsign::<S>(r, x)
}
/// NaN below 1.
#[inline(always)]
pub unsafe fn acosh<S: Simd>(x: S::F) -> S::F {
    let one = S::fsplat(1.0);
    let large = S::flt(S::fsplat(LARGE), x);
    // ln(x + √(x² − 1)) = ln1p(t + √(2t + t²)), t = x − 1
    let t = S::fsub(S::fmin_raw(S::fsplat(LARGE), x), one);
    let root = S::fsqrt(S::fma(t, t, S::fadd(t, t)));
    let near = ln_1p::<S>(S::fadd(t, root));
    let r = S::fsel(S::flt(x, one), S::fsplat(f32::NAN), near);
    if S::many(large) {
        let far = S::fadd(ln::<S>(x), S::fsplat(std::f32::consts::LN_2));
        return S::fsel(large, far, r);
    }
    r
}
/// ±∞ at ±1, NaN beyond.
#[inline(always)]
pub unsafe fn atanh<S: Simd>(x: S::F) -> S::F {
    let a = ops::fabs::<S>(x);
    let half = S::fsplat(0.5);
    let u = S::fdiv(S::fadd(a, a), S::fsub(S::fsplat(1.0), a));
    let far = S::fmul(half, ln_1p::<S>(u));
    let near = odd::<S, 6>(a, ATANH);
    ops::xorsign::<S>(S::fsel(S::flt(a, half), near, far), x)
}

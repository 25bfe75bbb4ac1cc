//! 2^x and e^x.

use super::{MAGIC, poly};
use simd::{Simd, ops};

/// (2^f − 1) / f on [−1/2, 1/2], relative error of 2^f 2^-28.9.
const EXP2: [f32; 6] =
    [std::f32::consts::LN_2, 0.240_226_48, 0.055_503_324, 0.009_618_437, 0.001_339_887_4, 0.000_153_533_74];
/// (e^r − 1 − r) / r² on [−ln 2 / 2, ln 2 / 2], relative error of e^r 2^-28.3.
const EXP: [f32; 5] = [0.499_999_94, 0.166_665_21, 0.041_668_39, 0.008_368_715, 0.001_381_460_1];
const LN2: f32 = std::f32::consts::LN_2;
const LN2_LO: f32 = -1.904_654_2e-9;

/// p · 2^n, `t` being n + [`MAGIC`], where the result is normal.
#[inline(always)]
unsafe fn scale<S: Simd>(p: S::F, t: S::F) -> S::F {
    S::from_bits(S::iadd(S::bits(p), ops::shl::<S>(S::bits(t), 23)))
}
/// p · 2^n for |n| ≤ 250, in two steps of which the first is exact.
#[inline(always)]
unsafe fn scale_far<S: Simd>(p: S::F, t: S::F) -> S::F {
    let n = S::isub(S::bits(t), S::isplat(MAGIC.to_bits()));
    let half = ops::sar::<S>(n, 1);
    let rest = S::isub(n, half);
    let bias = S::isplat(127);
    let a = S::from_bits(ops::shl::<S>(S::iadd(half, bias), 23));
    let b = S::from_bits(ops::shl::<S>(S::iadd(rest, bias), 23));
    S::fmul(S::fmul(p, a), b)
}
/// True if a lane's magnitude is `limit` or more, or NaN.
#[inline(always)]
pub unsafe fn any_beyond<S: Simd>(x: S::F, limit: f32) -> bool {
    let abs = S::iand(S::bits(x), S::isplat(0x7FFF_FFFF));
    S::many(S::sgt(abs, S::isplat(limit.to_bits() - 1)))
}
/// Within [lo, hi]; NaN stays.
#[inline(always)]
unsafe fn clamp<S: Simd>(x: S::F, lo: f32, hi: f32) -> S::F {
    S::fmin_raw(S::fsplat(hi), S::fmax_raw(S::fsplat(lo), x))
}

#[inline(always)]
unsafe fn exp2_core<S: Simd>(x: S::F) -> (S::F, S::F) {
    let magic = S::fsplat(MAGIC);
    let t = S::fadd(x, magic);
    let f = S::fsub(x, S::fsub(t, magic));
    (S::fma(f, poly::<S, 6>(f, EXP2), S::fsplat(1.0)), t)
}

#[inline(always)]
pub unsafe fn exp2<S: Simd>(x: S::F) -> S::F {
    if any_beyond::<S>(x, 126.0) {
        let (p, t) = exp2_core::<S>(clamp::<S>(x, -160.0, 130.0));
        return scale_far::<S>(p, t);
    }
    let (p, t) = exp2_core::<S>(x);
    scale::<S>(p, t)
}

/// e^x = p · 2^n: p and n + [`MAGIC`].
#[inline(always)]
unsafe fn exp_core<S: Simd>(x: S::F) -> (S::F, S::F) {
    let magic = S::fsplat(MAGIC);
    let t = S::fma(x, S::fsplat(std::f32::consts::LOG2_E), magic);
    let n = S::fsub(t, magic);
    let r = S::fnma(n, S::fsplat(LN2), x);
    let r = S::fnma(n, S::fsplat(LN2_LO), r);
    let one = S::fsplat(1.0);
    let p = S::fma(S::fmul(r, r), poly::<S, 5>(r, EXP), r);
    (S::fadd(p, one), t)
}

#[inline(always)]
pub unsafe fn exp<S: Simd>(x: S::F) -> S::F {
    if any_beyond::<S>(x, 87.0) {
        let (p, t) = exp_core::<S>(clamp::<S>(x, -120.0, 100.0));
        return scale_far::<S>(p, t);
    }
    exp_near::<S>(x)
}
/// e^x for |x| < 87; anything for NaN.
#[inline(always)]
pub unsafe fn exp_near<S: Simd>(x: S::F) -> S::F {
    let (p, t) = exp_core::<S>(x);
    scale::<S>(p, t)
}

/// e^x / 2 without early overflow, for x ≥ 0 or NaN.
#[inline(always)]
pub unsafe fn half_exp<S: Simd>(x: S::F) -> S::F {
    let (p, t) = exp_core::<S>(S::fmin_raw(S::fsplat(100.0), x));
    scale_far::<S>(p, S::fsub(t, S::fsplat(1.0)))
}

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
fn scale<S: Simd>(s: S, p: S::F, t: S::F) -> S::F {
    s.from_bits(s.iadd(s.bits(p), ops::shl(s, s.bits(t), 23)))
}
/// True if a lane's magnitude is `limit` or more, or NaN.
#[inline(always)]
pub fn any_beyond<S: Simd>(s: S, x: S::F, limit: f32) -> bool {
    let abs = s.iand(s.bits(x), s.isplat(0x7FFF_FFFF));
    s.many(s.sgt(abs, s.isplat(limit.to_bits() - 1)))
}
/// Within [lo, hi]; NaN stays.
#[inline(always)]
fn clamp<S: Simd>(s: S, x: S::F, lo: f32, hi: f32) -> S::F {
    s.fmin_raw(s.fsplat(hi), s.fmax_raw(s.fsplat(lo), x))
}

#[inline(always)]
fn exp2_core<S: Simd>(s: S, x: S::F) -> (S::F, S::F) {
    let magic = s.fsplat(MAGIC);
    let t = s.fadd(x, magic);
    let f = s.fsub(x, s.fsub(t, magic));
    (s.fma(f, poly::<S, 6>(s, f, EXP2), s.fsplat(1.0)), t)
}
/// p · 2^n, `t` being n + [`MAGIC`].
#[inline(always)]
fn scale_far<S: Simd>(s: S, p: S::F, t: S::F) -> S::F {
    s.fscale(p, s.fsub(t, s.fsplat(MAGIC)))
}

#[inline(always)]
pub fn exp2<S: Simd>(s: S, x: S::F) -> S::F {
    if s.parts_are_cheap() || any_beyond(s, x, 126.0) {
        let (p, t) = exp2_core(s, clamp(s, x, -160.0, 130.0));
        return scale_far(s, p, t);
    }
    let (p, t) = exp2_core(s, x);
    scale(s, p, t)
}

/// e^x = p · 2^n: p and n + [`MAGIC`].
#[inline(always)]
fn exp_core<S: Simd>(s: S, x: S::F) -> (S::F, S::F) {
    let magic = s.fsplat(MAGIC);
    let t = s.fma(x, s.fsplat(std::f32::consts::LOG2_E), magic);
    let n = s.fsub(t, magic);
    let r = s.fnma(n, s.fsplat(LN2), x);
    let r = s.fnma(n, s.fsplat(LN2_LO), r);
    let one = s.fsplat(1.0);
    let p = s.fma(s.fmul(r, r), poly::<S, 5>(s, r, EXP), r);
    (s.fadd(p, one), t)
}

#[inline(always)]
pub fn exp<S: Simd>(s: S, x: S::F) -> S::F {
    if s.parts_are_cheap() || any_beyond(s, x, 87.0) {
        let (p, t) = exp_core(s, clamp(s, x, -120.0, 100.0));
        return scale_far(s, p, t);
    }
    exp_near(s, x)
}
/// e^x for |x| < 87; anything for NaN.
#[inline(always)]
pub fn exp_near<S: Simd>(s: S, x: S::F) -> S::F {
    let (p, t) = exp_core(s, x);
    scale(s, p, t)
}

/// e^x / 2 without early overflow, for x ≥ 0 or NaN.
#[inline(always)]
pub fn half_exp<S: Simd>(s: S, x: S::F) -> S::F {
    let (p, t) = exp_core(s, s.fmin_raw(s.fsplat(100.0), x));
    scale_far(s, p, s.fsub(t, s.fsplat(1.0)))
}

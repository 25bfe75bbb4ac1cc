//! Sine, cosine, tangent.

use super::payne::Far;
use super::{MAGIC, poly};
use simd::{Simd, ops};

/// Beyond this magnitude arguments are reduced exactly.
const LIMIT: f32 = 131072.0;
const TURN: u32 = 0x8000_0000 - f32::INFINITY.to_bits();
/// π and π/2 in two parts each, the first rounded down: with both parts positive, −0 keeps its sign on the way.
const PI_DOWN: f32 = f32::from_bits(0x4049_0FDA);
const PI_REST: f32 = f32::from_bits(0x3422_2169); // 1.509958e-7
const HALF_PI_DOWN: f32 = f32::from_bits(0x3FC9_0FDA);
const HALF_PI_REST: f32 = f32::from_bits(0x33A2_2169); // 7.54979e-8
/// (sin r / r − 1) / r², relative error 2^-27.3 on [−π/2, π/2], 2^-28 on [−π/4, π/4].
const SIN_HALF: [f32; 4] = [-0.166_666_6, 0.008_333_066, -0.000_198_095_95, 0.000_002_605_761];
const SIN_QUARTER: [f32; 3] = [-0.166_666_55, 0.008_332_16, -0.000_195_152_82];
/// (cos r − 1 + r²/2) / r⁴ on [−π/4, π/4], 2^-33.
const COS_QUARTER: [f32; 3] = [0.041_666_646, -0.001_388_731_6, 0.000_024_433_157];

/// x − n · unit in two fused steps; n in the low bits of the second result.
#[inline(always)]
fn reduce_near<S: Simd>(s: S, x: S::F, inverse: f32, unit: f32, unit_lo: f32) -> (S::F, S::I) {
    let magic = s.fsplat(MAGIC);
    let t = s.fma(x, s.fsplat(inverse), magic);
    let n = s.fsub(t, magic);
    let r = s.fnma(n, s.fsplat(unit), x);
    (s.fnma(n, s.fsplat(unit_lo), r), s.bits(t))
}
/// (r, q) by π/2.
#[inline(always)]
fn quarters<S: Simd>(s: S, x: S::F) -> (S::F, S::I) {
    let (r, q) = reduce_near(s, x, std::f32::consts::FRAC_2_PI, HALF_PI_DOWN, HALF_PI_REST);
    exact::<S, false>(s, x, r, q)
}
/// Lanes beyond [`LIMIT`] get theirs from the exact reduction. Infinities and NaN are NaN after any.
#[inline(always)]
fn exact<S: Simd, const HALVES: bool>(s: S, x: S::F, r: S::F, n: S::I) -> (S::F, S::I) {
    // One comparison for both ends: what is added makes infinities and NaN the least of integers.
    let abs = s.iand(s.bits(x), s.isplat(0x7FFF_FFFF));
    let far = s.sgt(s.iadd(abs, s.isplat(TURN)), s.isplat(TURN.wrapping_add(LIMIT.to_bits() - 1)));
    s.rarely::<Far<HALVES>>(far, x, (r, n))
}

#[inline(always)]
fn sin_quarter<S: Simd>(s: S, r: S::F, z: S::F) -> S::F {
    s.fmul(r, s.fma(z, poly::<S, 3>(s, z, SIN_QUARTER), s.fsplat(1.0)))
}
#[inline(always)]
fn cos_quarter<S: Simd>(s: S, z: S::F) -> S::F {
    let p = s.fma(z, poly::<S, 3>(s, z, COS_QUARTER), s.fsplat(-0.5));
    s.fma(z, p, s.fsplat(1.0))
}

#[inline(always)]
pub fn sin<S: Simd>(s: S, x: S::F) -> S::F {
    let (r, n) = reduce_near(s, x, std::f32::consts::FRAC_1_PI, PI_DOWN, PI_REST);
    let (r, n) = exact::<S, true>(s, x, r, n);
    // Odd half turns change the sign.
    let r = s.from_bits(s.ixor(s.bits(r), ops::shl(s, n, 31)));
    super::odd::<S, 4>(s, r, SIN_HALF)
}

#[inline(always)]
pub fn cos<S: Simd>(s: S, x: S::F) -> S::F {
    let (r, q) = quarters(s, x);
    let z = s.fmul(r, r);
    // Bit 0 picks the function, bit 1 of q + 1 the sign. The pick goes by a lane's sign bit.
    let odd = s.sgt(s.isplat(0), ops::shl(s, q, 31));
    let v = s.fsel(odd, sin_quarter(s, r, z), cos_quarter(s, z));
    let sign = s.iand(ops::shl(s, s.iadd(q, s.isplat(1)), 30), s.isplat(0x8000_0000));
    s.from_bits(s.ixor(s.bits(v), sign))
}

#[inline(always)]
pub fn tan<S: Simd>(s: S, x: S::F) -> S::F {
    let (r, q) = quarters(s, x);
    let z = s.fmul(r, r);
    let (sin, cos) = (sin_quarter(s, r, z), cos_quarter(s, z));
    let odd = s.sgt(s.isplat(0), ops::shl(s, q, 31));
    // tan(r + π/2) = −cos r / sin r
    let top = s.fsel(odd, ops::fneg(s, cos), sin);
    s.fdiv(top, s.fsel(odd, sin, cos))
}

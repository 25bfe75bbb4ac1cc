//! 64-bit ints and f64. What vectors cannot do is done a lane at a time.

use super::Registry;
use super::map::{D, I, L, Map1, Map2, ops1, ops2, register1, register2};
use super::un::{bit_count, bit_reverse, lsb, umsb};
use simd::ops::lanes;
use simd::{Simd, ops};

const SIGN: u64 = 1 << 63;

#[inline(always)]
pub unsafe fn dneg<S: Simd>(a: S::D) -> S::D {
    S::from_dbits(S::lxor(S::dbits(a), S::lsplat(SIGN)))
}
#[inline(always)]
pub unsafe fn dabs<S: Simd>(a: S::D) -> S::D {
    S::from_dbits(S::land(S::dbits(a), S::lsplat(!SIGN)))
}
/// As [`ops::fmin`].
#[inline(always)]
pub unsafe fn dmin<S: Simd>(a: S::D, b: S::D) -> S::D {
    let r = S::from_dbits(S::lor(S::dbits(S::dmin_raw(a, b)), S::dbits(S::dmin_raw(b, a))));
    let r = S::dsel(S::dne(a, a), b, r);
    S::dsel(S::dne(b, b), a, r)
}
#[inline(always)]
pub unsafe fn dmax<S: Simd>(a: S::D, b: S::D) -> S::D {
    let r = S::from_dbits(S::land(S::dbits(S::dmax_raw(a, b)), S::dbits(S::dmax_raw(b, a))));
    let r = S::dsel(S::dne(a, a), b, r);
    S::dsel(S::dne(b, b), a, r)
}
#[inline(always)]
unsafe fn lneg<S: Simd>(a: S::L) -> S::L {
    S::lsub(S::lsplat(0), a)
}
#[inline(always)]
unsafe fn above<S: Simd>(a: S::L, b: S::L) -> S::M {
    let s = S::lsplat(SIGN);
    S::lgt(S::lxor(a, s), S::lxor(b, s))
}
/// Highest bit of 64.
#[inline(always)]
unsafe fn lmsb<S: Simd>(a: S::L) -> S::I {
    let high = S::hi(a);
    let up = S::iadd(umsb::<S>(high), S::isplat(32));
    S::isel(S::ieq(high, S::isplat(0)), umsb::<S>(S::lo(a)), up)
}
#[inline(always)]
fn srem(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { (a as i64).wrapping_rem(b as i64) as u64 }
}
#[inline(always)]
fn smod(a: u64, b: u64) -> u64 {
    let r = srem(a, b);
    if b != 0 && r != 0 && ((r ^ b) as i64) < 0 { r.wrapping_add(b) } else { r }
}
/// Remainder with the divisor's sign.
fn fmod(a: f64, b: f64) -> f64 {
    let r = a % b;
    if r == 0.0 {
        r.copysign(b)
    } else if (r < 0.0) != (b < 0.0) {
        r + b
    } else {
        r
    }
}
/// x · 2^e, one rounding: all steps but the last are exact, or end in 0 or infinity anyway.
fn ldexp(x: f64, e: i32) -> f64 {
    let two = |e: i32| f64::from_bits(((e + 1023) as u64) << 52);
    let mut x = x;
    let mut e = e.clamp(-3000, 3000);
    while e > 1023 {
        x *= two(1023);
        e -= 1023;
    }
    while e < -1022 {
        // Stop 53 bits above the denormals: what falls below after that falls to nothing.
        x *= two(-969);
        e += 969;
    }
    x * two(e)
}
/// Significand in [0.5, 1) and exponent; (x, 0) for zero, infinity, NaN.
fn frexp(x: f64) -> (f64, u32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let small = x.abs() < f64::MIN_POSITIVE;
    let bits = if small { x * 18014398509481984.0 } else { x }.to_bits(); // 2^54
    let e = (bits >> 52 & 0x7FF) as i32 - 1022 - if small { 54 } else { 0 };
    (f64::from_bits(bits & !(0x7FF << 52) | 1022 << 52), e as u32)
}

ops1! { S;
    Mov cold (a: L) -> L = a;
    FNeg cold (a: D) -> D = dneg::<S>(a);
    FAbs cold (a: D) -> D = dabs::<S>(a);
    FSqrt cold (a: D) -> D = S::dsqrt(a);
    FRsqrt cold (a: D) -> D = S::ddiv(S::dsplat(1.0), S::dsqrt(a));
    FRcp cold (a: D) -> D = S::ddiv(S::dsplat(1.0), a);
    FFloor cold (a: D) -> D = S::dfloor(a);
    FCeil cold (a: D) -> D = S::dceil(a);
    FTrunc cold (a: D) -> D = S::dtrunc(a);
    FRoundEven cold (a: D) -> D = S::dround_even(a);
    FFract cold (a: D) -> D = S::dsub(a, S::dfloor(a));
    FSign cold (a: D) -> D = {
        let zero = S::dsplat(0.0);
        let r = S::dsel(S::dne(a, a), zero, a);
        let r = S::dsel(S::dlt(zero, a), S::dsplat(1.0), r);
        S::dsel(S::dlt(a, zero), S::dsplat(-1.0), r)
    };
    FSaturate cold (a: D) -> D = S::dmin_raw(S::dmax_raw(a, S::dsplat(0.0)), S::dsplat(1.0));
    FlushDenorm cold (a: L) -> L = {
        let small = S::leq(S::land(a, S::lsplat(0x7FF << 52)), S::lsplat(0));
        S::lsel(small, S::land(a, S::lsplat(SIGN)), a)
    };
    FCanon cold (a: D) -> D = S::dsel(S::dne(a, a), S::dsplat(f64::from_bits(0x7FF8 << 48)), a);
    FrexpSig cold (a: D) -> D = lanes!(S, d_from; x = d_lanes a => frexp(x).0);
    FrexpExp cold (a: D) -> I = lanes!(S, i_from; x = d_lanes a => frexp(x).1);
    INeg cold (a: L) -> L = lneg::<S>(a);
    IAbs cold (a: L) -> L = S::lsel(S::lgt(S::lsplat(0), a), lneg::<S>(a), a);
    ISign cold (a: L) -> L = {
        let zero = S::lsplat(0);
        let r = S::lsel(S::lgt(a, zero), S::lsplat(1), zero);
        S::lsel(S::lgt(zero, a), S::lsplat(!0), r)
    };
    Not cold (a: L) -> L = S::lxor(a, S::lsplat(!0));
    BitReverse cold (a: L) -> L = S::pack(bit_reverse::<S>(S::hi(a)), bit_reverse::<S>(S::lo(a)));
    BitCount cold (a: L) -> I = S::iadd(bit_count::<S>(S::lo(a)), bit_count::<S>(S::hi(a)));
    FindLsb cold (a: L) -> I = {
        let (low, high) = (S::lo(a), lsb::<S>(S::hi(a)));
        // −1 of an empty high word stays −1.
        let none = S::sgt(S::isplat(0), high);
        let up = S::isel(none, high, S::iadd(high, S::isplat(32)));
        S::isel(S::ieq(low, S::isplat(0)), up, lsb::<S>(low))
    };
    FindUMsb cold (a: L) -> I = lmsb::<S>(a);
    FindSMsb cold (a: L) -> I = {
        let s = ops::sar::<S>(S::hi(a), 31);
        lmsb::<S>(S::lxor(a, S::pack(s, s)))
    };
}
ops2! { S;
    FAdd cold (a: D, b: D) -> D = S::dadd(a, b);
    FSub cold (a: D, b: D) -> D = S::dsub(a, b);
    FMul cold (a: D, b: D) -> D = S::dmul(a, b);
    FDiv cold (a: D, b: D) -> D = S::ddiv(a, b);
    FMin cold (a: D, b: D) -> D = dmin::<S>(a, b);
    FMax cold (a: D, b: D) -> D = dmax::<S>(a, b);
    FRem cold (a: D, b: D) -> D = lanes!(S, d_from; a = d_lanes a, b = d_lanes b => a % b);
    FMod cold (a: D, b: D) -> D = lanes!(S, d_from; x = d_lanes a, y = d_lanes b => fmod(x, y));
    FStep cold (edge: D, x: D) -> D = S::dsel(S::dlt(x, edge), S::dsplat(0.0), S::dsplat(1.0));
    FLdexp cold (a: D, e: I) -> D = lanes!(S, d_from; x = d_lanes a, n = i_lanes e => ldexp(x, n as i32));
    IAdd cold (a: L, b: L) -> L = S::ladd(a, b);
    ISub cold (a: L, b: L) -> L = S::lsub(a, b);
    IMul cold (a: L, b: L) -> L = S::lmul(a, b);
    UMulHi cold (a: L, b: L) -> L = lanes!(S, l_from; a = l_lanes a, b = l_lanes b => ((a as u128 * b as u128) >> 64) as u64);
    SMulHi cold (a: L, b: L) -> L =
        lanes!(S, l_from; a = l_lanes a, b = l_lanes b => ((a as i64 as i128 * b as i64 as i128) >> 64) as u64);
    UDiv cold (a: L, b: L) -> L = lanes!(S, l_from; a = l_lanes a, b = l_lanes b => a.checked_div(b).unwrap_or(0));
    URem cold (a: L, b: L) -> L = lanes!(S, l_from; a = l_lanes a, b = l_lanes b => a.checked_rem(b).unwrap_or(a));
    SDiv cold (a: L, b: L) -> L =
        lanes!(S, l_from; a = l_lanes a, b = l_lanes b => if b == 0 { 0 } else { (a as i64).wrapping_div(b as i64) as u64 });
    SRem cold (a: L, b: L) -> L = lanes!(S, l_from; x = l_lanes a, y = l_lanes b => srem(x, y));
    SMod cold (a: L, b: L) -> L = lanes!(S, l_from; x = l_lanes a, y = l_lanes b => smod(x, y));
    And cold (a: L, b: L) -> L = S::land(a, b);
    Or cold (a: L, b: L) -> L = S::lor(a, b);
    Xor cold (a: L, b: L) -> L = S::lxor(a, b);
    Shl cold (a: L, n: I) -> L = S::lshl(a, S::iand(n, S::isplat(63)));
    LShr cold (a: L, n: I) -> L = S::lshr(a, S::iand(n, S::isplat(63)));
    AShr cold (a: L, n: I) -> L = S::lsar(a, S::iand(n, S::isplat(63)));
    SMin cold (a: L, b: L) -> L = S::lsel(S::lgt(a, b), b, a);
    SMax cold (a: L, b: L) -> L = S::lsel(S::lgt(a, b), a, b);
    UMin cold (a: L, b: L) -> L = S::lsel(above::<S>(a, b), b, a);
    UMax cold (a: L, b: L) -> L = S::lsel(above::<S>(a, b), a, b);
}

pub fn register(r: &mut Registry) {
    register1!(r, B64: Mov FNeg FAbs FSqrt FRsqrt FRcp FFloor FCeil FTrunc FRoundEven FFract FSign FSaturate);
    register1!(r, B64: FlushDenorm FCanon FrexpSig FrexpExp INeg IAbs ISign Not BitReverse BitCount);
    register1!(r, B64: FindLsb FindUMsb FindSMsb);
    register2!(r, B64: FAdd FSub FMul FDiv FMin FMax FRem FMod FStep FLdexp);
    register2!(r, B64: IAdd ISub IMul UMulHi SMulHi UDiv URem SDiv SRem SMod);
    register2!(r, B64: And Or Xor Shl LShr AShr SMin SMax UMin UMax);
}

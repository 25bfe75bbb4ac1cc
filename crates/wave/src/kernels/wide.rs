//! 64-bit ints and f64. What vectors cannot do is done a lane at a time.

use super::Registry;
use super::map::{D, I, L, Map1, Map2, ops1, ops2, register1, register2};
use super::un::{bit_count, bit_reverse, lsb, umsb};
use simd::ops::lanes;
use simd::{Simd, ops};

const SIGN: u64 = 1 << 63;

#[inline(always)]
pub fn dneg<S: Simd>(s: S, a: S::D) -> S::D {
    s.from_dbits(s.lxor(s.dbits(a), s.lsplat(SIGN)))
}
#[inline(always)]
pub fn dabs<S: Simd>(s: S, a: S::D) -> S::D {
    s.from_dbits(s.land(s.dbits(a), s.lsplat(!SIGN)))
}
/// As [`ops::fmin`].
#[inline(always)]
pub fn dmin<S: Simd>(s: S, a: S::D, b: S::D) -> S::D {
    let r = s.from_dbits(s.lor(s.dbits(s.dmin_raw(a, b)), s.dbits(s.dmin_raw(b, a))));
    let r = s.dsel(s.dne(a, a), b, r);
    s.dsel(s.dne(b, b), a, r)
}
#[inline(always)]
pub fn dmax<S: Simd>(s: S, a: S::D, b: S::D) -> S::D {
    let r = s.from_dbits(s.land(s.dbits(s.dmax_raw(a, b)), s.dbits(s.dmax_raw(b, a))));
    let r = s.dsel(s.dne(a, a), b, r);
    s.dsel(s.dne(b, b), a, r)
}
#[inline(always)]
fn lneg<S: Simd>(s: S, a: S::L) -> S::L {
    s.lsub(s.lsplat(0), a)
}
#[inline(always)]
pub fn above<S: Simd>(s: S, a: S::L, b: S::L) -> S::M {
    let sign = s.lsplat(SIGN);
    s.lgt(s.lxor(a, sign), s.lxor(b, sign))
}
/// Highest bit of 64.
#[inline(always)]
fn lmsb<S: Simd>(s: S, a: S::L) -> S::I {
    let high = s.hi(a);
    let up = s.iadd(umsb(s, high), s.isplat(32));
    s.isel(s.ieq(high, s.isplat(0)), umsb(s, s.lo(a)), up)
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
/// Significand in [0.5, 1) and exponent; (x, 0) for zero, infinity, NaN. By bits alone: a comparison of floats would tell where
/// denormals are zeros, or not, as the compiler pleases.
fn frexp(x: f64) -> (f64, u32) {
    const EXPONENT: u64 = 0x7FF << 52;
    let abs = x.to_bits() & !SIGN;
    if abs == 0 || abs >= EXPONENT {
        return (x, 0);
    }
    // A denormal is its mantissa · 2^-1074.
    let (bits, scale) = if abs < 1 << 52 { ((abs as f64).to_bits(), -1074) } else { (abs, 0) };
    let e = (bits >> 52) as i32 - 1022 + scale;
    (f64::from_bits(x.to_bits() & SIGN | bits & !EXPONENT | 1022 << 52), e as u32)
}

ops1! { S, s;
    Mov cold (a: L) -> L = a;
    FNeg cold (a: D) -> D = dneg(s, a);
    FAbs cold (a: D) -> D = dabs(s, a);
    FSqrt cold (a: D) -> D = s.dsqrt(a);
    FRsqrt cold (a: D) -> D = s.ddiv(s.dsplat(1.0), s.dsqrt(a));
    FRcp cold (a: D) -> D = s.ddiv(s.dsplat(1.0), a);
    FFloor cold (a: D) -> D = s.dfloor(a);
    FCeil cold (a: D) -> D = s.dceil(a);
    FTrunc cold (a: D) -> D = s.dtrunc(a);
    FRoundEven cold (a: D) -> D = s.dround_even(a);
    FFract cold (a: D) -> D = s.dsub(a, s.dfloor(a));
    FSign cold (a: D) -> D = {
        let zero = s.dsplat(0.0);
        let r = s.dsel(s.dne(a, a), zero, a);
        let r = s.dsel(s.dlt(zero, a), s.dsplat(1.0), r);
        s.dsel(s.dlt(a, zero), s.dsplat(-1.0), r)
    };
    FSaturate cold (a: D) -> D = s.dmin_raw(s.dmax_raw(a, s.dsplat(0.0)), s.dsplat(1.0));
    FlushDenorm cold (a: L) -> L = {
        let small = s.leq(s.land(a, s.lsplat(0x7FF << 52)), s.lsplat(0));
        s.lsel(small, s.land(a, s.lsplat(SIGN)), a)
    };
    FCanon cold (a: D) -> D = s.dsel(s.dne(a, a), s.dsplat(f64::from_bits(0x7FF8 << 48)), a);
    FrexpSig cold (a: D) -> D = lanes!(s, d_from; x = d_lanes a => frexp(x).0);
    FrexpExp cold (a: D) -> I = lanes!(s, i_from; x = d_lanes a => frexp(x).1);
    INeg cold (a: L) -> L = lneg(s, a);
    IAbs cold (a: L) -> L = s.lsel(s.lgt(s.lsplat(0), a), lneg(s, a), a);
    ISign cold (a: L) -> L = {
        let zero = s.lsplat(0);
        let r = s.lsel(s.lgt(a, zero), s.lsplat(1), zero);
        s.lsel(s.lgt(zero, a), s.lsplat(!0), r)
    };
    Not cold (a: L) -> L = s.lxor(a, s.lsplat(!0));
    BitReverse cold (a: L) -> L = s.pack(bit_reverse(s, s.hi(a)), bit_reverse(s, s.lo(a)));
    BitCount cold (a: L) -> I = s.iadd(bit_count(s, s.lo(a)), bit_count(s, s.hi(a)));
    FindLsb cold (a: L) -> I = {
        let (low, high) = (s.lo(a), lsb(s, s.hi(a)));
        // −1 of an empty high word stays −1.
        let none = s.sgt(s.isplat(0), high);
        let up = s.isel(none, high, s.iadd(high, s.isplat(32)));
        s.isel(s.ieq(low, s.isplat(0)), up, lsb(s, low))
    };
    FindUMsb cold (a: L) -> I = lmsb(s, a);
    FindSMsb cold (a: L) -> I = {
        let sign = ops::sar(s, s.hi(a), 31);
        lmsb(s, s.lxor(a, s.pack(sign, sign)))
    };
}
ops2! { S, s;
    FAdd cold (a: D, b: D) -> D = s.dadd(a, b);
    FSub cold (a: D, b: D) -> D = s.dsub(a, b);
    FMul cold (a: D, b: D) -> D = s.dmul(a, b);
    FDiv cold (a: D, b: D) -> D = s.ddiv(a, b);
    FMin cold (a: D, b: D) -> D = s.dmin_raw(a, b);
    FMax cold (a: D, b: D) -> D = s.dmax_raw(a, b);
    NMin cold (a: D, b: D) -> D = dmin(s, a, b);
    NMax cold (a: D, b: D) -> D = dmax(s, a, b);
    FRem cold (a: D, b: D) -> D = lanes!(s, d_from; a = d_lanes a, b = d_lanes b => a % b);
    FMod cold (a: D, b: D) -> D = lanes!(s, d_from; x = d_lanes a, y = d_lanes b => fmod(x, y));
    FStep cold (edge: D, x: D) -> D = s.dsel(s.dlt(x, edge), s.dsplat(0.0), s.dsplat(1.0));
    FLdexp cold (a: D, e: I) -> D = lanes!(s, d_from; x = d_lanes a, n = i_lanes e => ldexp(x, n as i32));
    IAdd cold (a: L, b: L) -> L = s.ladd(a, b);
    ISub cold (a: L, b: L) -> L = s.lsub(a, b);
    IMul cold (a: L, b: L) -> L = s.lmul(a, b);
    UMulHi cold (a: L, b: L) -> L = lanes!(s, l_from; a = l_lanes a, b = l_lanes b => ((a as u128 * b as u128) >> 64) as u64);
    SMulHi cold (a: L, b: L) -> L =
        lanes!(s, l_from; a = l_lanes a, b = l_lanes b => ((a as i64 as i128 * b as i64 as i128) >> 64) as u64);
    UDiv cold (a: L, b: L) -> L = lanes!(s, l_from; a = l_lanes a, b = l_lanes b => a.checked_div(b).unwrap_or(0));
    URem cold (a: L, b: L) -> L = lanes!(s, l_from; a = l_lanes a, b = l_lanes b => a.checked_rem(b).unwrap_or(a));
    SDiv cold (a: L, b: L) -> L =
        lanes!(s, l_from; a = l_lanes a, b = l_lanes b => if b == 0 { 0 } else { (a as i64).wrapping_div(b as i64) as u64 });
    SRem cold (a: L, b: L) -> L = lanes!(s, l_from; x = l_lanes a, y = l_lanes b => srem(x, y));
    SMod cold (a: L, b: L) -> L = lanes!(s, l_from; x = l_lanes a, y = l_lanes b => smod(x, y));
    And cold (a: L, b: L) -> L = s.land(a, b);
    Or cold (a: L, b: L) -> L = s.lor(a, b);
    Xor cold (a: L, b: L) -> L = s.lxor(a, b);
    Shl cold (a: L, n: I) -> L = s.lshl(a, s.iand(n, s.isplat(63)));
    LShr cold (a: L, n: I) -> L = s.lshr(a, s.iand(n, s.isplat(63)));
    AShr cold (a: L, n: I) -> L = s.lsar(a, s.iand(n, s.isplat(63)));
    SMin cold (a: L, b: L) -> L = s.lsel(s.lgt(a, b), b, a);
    SMax cold (a: L, b: L) -> L = s.lsel(s.lgt(a, b), a, b);
    UMin cold (a: L, b: L) -> L = s.lsel(above(s, a, b), b, a);
    UMax cold (a: L, b: L) -> L = s.lsel(above(s, a, b), a, b);
}

pub fn register(r: &mut Registry) {
    register1!(r, B64: Mov FNeg FAbs FSqrt FRsqrt FRcp FFloor FCeil FTrunc FRoundEven FFract FSign FSaturate);
    register1!(r, B64: FlushDenorm FCanon FrexpSig FrexpExp INeg IAbs ISign Not BitReverse BitCount);
    register1!(r, B64: FindLsb FindUMsb FindSMsb);
    register2!(r, B64: FAdd FSub FMul FDiv FMin FMax NMin NMax FRem FMod FStep FLdexp);
    register2!(r, B64: IAdd ISub IMul UMulHi SMulHi UDiv URem SDiv SRem SMod);
    register2!(r, B64: And Or Xor Shl LShr AShr SMin SMax UMin UMax);
}

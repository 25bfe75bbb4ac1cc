//! 64-bit ints and f64. What vectors cannot do is done a lane at a time.

use super::Registry;
use super::map::{D, I, L, Map1, Map2, ops1, ops2, register1, register2};
use super::un::{bit_count, bit_reverse, lsb, umsb};
use simd::ops::{WHOLE, lanes};
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
/// Highest bit of 64.
#[inline(always)]
fn lmsb<S: Simd>(s: S, a: S::L) -> S::I {
    let high = s.hi(a);
    let up = s.iadd(umsb(s, high), s.isplat(32));
    s.isel(s.ieq(high, s.isplat(0)), umsb(s, s.lo(a)), up)
}
/// |a| with the sign of b.
#[inline(always)]
fn copysign<S: Simd>(s: S, a: S::D, b: S::D) -> S::D {
    let sign = s.land(s.dbits(b), s.lsplat(SIGN));
    s.from_dbits(s.lor(s.land(s.dbits(a), s.lsplat(!SIGN)), sign))
}
/// x − y · trunc(x / y), exact while |x / y| < 2^51; sign of x. As that of 32 bits.
#[inline(always)]
fn frem<S: Simd>(s: S, x: S::D, y: S::D) -> S::D {
    let zero = s.dsplat(0.0);
    let q = s.dtrunc(s.ddiv(x, y));
    let r = s.dfma(dneg(s, q), y, x);
    // The quotient may have been rounded up to an integer: then r has the wrong sign, by one y.
    let wrong = s.lgt(s.lsplat(0), s.lxor(s.dbits(r), s.dbits(x)));
    let wrong = s.mand(wrong, s.dne(r, zero));
    let fixed = s.dadd(r, copysign(s, y, x));
    let r = copysign(s, s.dsel(wrong, fixed, r), x);
    // A finite number modulo infinity is itself.
    let inf = s.dsplat(f64::INFINITY);
    let finite = s.dlt(dabs(s, x), inf);
    let whole = s.mand(s.deq(dabs(s, y), inf), finite);
    // A quotient beyond every float says nothing of the remainder but that it is less than y: zero will do.
    let beyond = s.mand(s.mand(s.deq(dabs(s, q), inf), finite), s.dne(y, zero));
    let r = s.dsel(beyond, copysign(s, zero, x), r);
    s.dsel(whole, x, r)
}
/// x · 2^e, one rounding: all steps but the last are exact, or end in 0 or infinity anyway.
#[inline(always)]
fn ldexp<S: Simd>(s: S, x: S::D, e: S::I) -> S::D {
    let int = |n: i32| s.isplat(n as u32);
    let two = |n: S::I| s.from_dbits(s.pack(s.isplat(0), ops::shl(s, s.iadd(n, int(1023)), 20)));
    let mut e = s.smin(s.smax(e, int(-2100)), int(2100));
    let mut x = x;
    for _ in 0..2 {
        // Down to 53 bits above the denormals: what falls below after that falls to nothing.
        let down = s.isel(s.sgt(int(-1022), e), int(-969), int(0));
        let n = s.isel(s.sgt(e, int(1023)), int(1023), down);
        x = s.dmul(x, two(n));
        e = s.isub(e, n);
    }
    s.dmul(x, two(e))
}
const EXPONENT: u64 = 0x7FF << 52;
/// Lanes whose significand and exponent are not (x, 0) as those of zero, infinity and NaN, bits of a number of that significand
/// and what is added to its exponent. By bits alone: a comparison of floats would tell where denormals are zeros, or not.
#[inline(always)]
fn frexp<S: Simd>(s: S, x: S::D) -> (S::M, S::L, S::I) {
    let abs = s.land(s.dbits(x), s.lsplat(!SIGN));
    let some = s.mand(s.mnot(s.leq(abs, s.lsplat(0))), s.lgt(s.lsplat(EXPONENT), abs));
    // A denormal is its mantissa · 2^-1074.
    let small = s.lgt(s.lsplat(1 << 52), abs);
    let whole = s.lsplat(WHOLE);
    let mantissa = s.dbits(s.dsub(s.from_dbits(s.lor(abs, whole)), s.from_dbits(whole)));
    let adjust = s.isel(small, s.isplat((-1022 - 1074i32) as u32), s.isplat(-1022i32 as u32));
    (some, s.lsel(small, mantissa, abs), adjust)
}
/// a / b, and what is left; of b = 0 that is a, and the quotient anything.
///
/// Two steps of quotients that are too small, if anything: what is left is never negative. A quotient of f64 is by 2^-51 of itself
/// too small at most, so the first is so much and one of what it should be, the second one.
#[inline(always)]
fn udiv<S: Simd>(s: S, a: S::L, b: S::L) -> [S::L; 2] {
    // (Less than one by more than all roundings, of four operations.)
    let inverse = s.ddiv(s.dsplat(1.0 - f64::EPSILON * 4.0), s.ul_to_d(b));
    let step = |r: S::L| s.dtrunc(s.dmul(s.ul_to_d(r), inverse));
    let first = s.d_to_ul(step(a));
    let left = s.lsub(a, s.lmul(first, b));
    let second = s.lxor(s.dbits(s.dadd(step(left), s.from_dbits(s.lsplat(WHOLE)))), s.lsplat(WHOLE));
    let left = s.lsub(left, s.lmul(second, b));
    let one = s.mnot(ops::above(s, b, left));
    let quotient = s.ladd(s.ladd(first, second), s.lsel(one, s.lsplat(1), s.lsplat(0)));
    let left = s.lsel(one, s.lsub(left, b), left);
    let none = s.leq(b, s.lsplat(0));
    [quotient, s.lsel(none, a, left)]
}
/// As [`udiv`], of signed numbers: the quotient of b = 0 is 0.
#[inline(always)]
fn sdiv<S: Simd>(s: S, a: S::L, b: S::L) -> [S::L; 2] {
    let zero = s.lsplat(0);
    let negative = |x: S::L, m: S::M| s.lsel(m, lneg(s, x), x);
    let (na, nb) = (s.lgt(zero, a), s.lgt(zero, b));
    let [q, r] = udiv(s, negative(a, na), negative(b, nb));
    let q = negative(q, s.mxor(na, nb));
    [s.lsel(s.leq(b, zero), zero, q), negative(r, na)]
}
/// f64 → u64 towards zero; what is beyond becomes the nearest there is, a NaN 0.
#[inline(always)]
pub fn d_to_u64<S: Simd>(s: S, a: S::D) -> S::L {
    let r = s.d_to_ul(s.dtrunc(a));
    let r = s.lsel(s.dlt(a, s.dsplat(18446744073709551616.0)), r, s.lsplat(!0));
    s.lsel(s.dlt(s.dsplat(0.0), a), r, s.lsplat(0))
}
/// f64 → i64, likewise.
#[inline(always)]
pub fn d_to_s64<S: Simd>(s: S, a: S::D) -> S::L {
    let r = s.d_to_ul(s.dtrunc(dabs(s, a)));
    let negative = s.dlt(a, s.dsplat(0.0));
    let beyond = s.lsel(negative, s.lsplat(SIGN), s.lsplat(!SIGN));
    let r =
        s.lsel(s.dlt(dabs(s, a), s.dsplat(9223372036854775808.0)), s.lsel(negative, lneg(s, r), r), beyond);
    s.lsel(s.deq(a, a), r, s.lsplat(0))
}
/// An integer from which f64 rounds nothing away that would tell where f32 rounds to: what its last bits would be, from 2^53 on, is
/// one bit that is set if any was.
#[inline(always)]
pub fn for_f32<S: Simd>(s: S, a: S::L, large: S::M) -> S::L {
    let none = s.leq(s.land(a, s.lsplat(0x7FF)), s.lsplat(0));
    let last = s.lsel(none, s.lsplat(0), s.lsplat(0x400));
    s.lsel(large, s.lor(s.land(a, s.lsplat(!0x7FF)), last), a)
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
    FrexpSig cold (a: D) -> D = {
        let (some, bits, _) = frexp(s, a);
        let mantissa = s.lor(s.land(bits, s.lsplat(!(SIGN | EXPONENT))), s.lsplat(1022 << 52));
        let half = s.lor(s.land(s.dbits(a), s.lsplat(SIGN)), mantissa);
        s.dsel(some, s.from_dbits(half), a)
    };
    FrexpExp cold (a: D) -> I = {
        let (some, bits, adjust) = frexp(s, a);
        s.isel(some, s.iadd(ops::shr(s, s.hi(bits), 20), adjust), s.isplat(0))
    };
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
    FRem cold (a: D, b: D) -> D = frem(s, a, b);
    /// Sign of b where not zero.
    FMod cold (a: D, b: D) -> D = {
        let r = frem(s, a, b);
        let other = s.lgt(s.lsplat(0), s.lxor(s.dbits(r), s.dbits(b)));
        let zero = s.deq(r, s.dsplat(0.0));
        let moved = s.dsel(zero, copysign(s, r, b), s.dadd(r, b));
        s.dsel(other, moved, r)
    };
    FStep cold (edge: D, x: D) -> D = s.dsel(s.dlt(x, edge), s.dsplat(0.0), s.dsplat(1.0));
    FLdexp cold (a: D, e: I) -> D = ldexp(s, a, e);
    IAdd cold (a: L, b: L) -> L = s.ladd(a, b);
    ISub cold (a: L, b: L) -> L = s.lsub(a, b);
    IMul cold (a: L, b: L) -> L = s.lmul(a, b);
    UMulHi cold (a: L, b: L) -> L = lanes!(s, l_from; a = l_lanes a, b = l_lanes b => ((a as u128 * b as u128) >> 64) as u64);
    SMulHi cold (a: L, b: L) -> L =
        lanes!(s, l_from; a = l_lanes a, b = l_lanes b => ((a as i64 as i128 * b as i64 as i128) >> 64) as u64);
    UDiv cold (a: L, b: L) -> L = s.lsel(s.leq(b, s.lsplat(0)), s.lsplat(0), udiv(s, a, b)[0]);
    URem cold (a: L, b: L) -> L = udiv(s, a, b)[1];
    SDiv cold (a: L, b: L) -> L = sdiv(s, a, b)[0];
    SRem cold (a: L, b: L) -> L = sdiv(s, a, b)[1];
    SMod cold (a: L, b: L) -> L = {
        let (r, zero) = (sdiv(s, a, b)[1], s.lsplat(0));
        // b = 0 adds nothing either.
        let other = s.mand(s.lgt(zero, s.lxor(r, b)), s.mnot(s.leq(r, zero)));
        s.lsel(other, s.ladd(r, b), r)
    };
    And cold (a: L, b: L) -> L = s.land(a, b);
    Or cold (a: L, b: L) -> L = s.lor(a, b);
    Xor cold (a: L, b: L) -> L = s.lxor(a, b);
    Shl cold (a: L, n: I) -> L = s.lshl(a, s.iand(n, s.isplat(63)));
    LShr cold (a: L, n: I) -> L = s.lshr(a, s.iand(n, s.isplat(63)));
    AShr cold (a: L, n: I) -> L = s.lsar(a, s.iand(n, s.isplat(63)));
    SMin cold (a: L, b: L) -> L = s.lsmin(a, b);
    SMax cold (a: L, b: L) -> L = s.lsmax(a, b);
    UMin cold (a: L, b: L) -> L = s.lumin(a, b);
    UMax cold (a: L, b: L) -> L = s.lumax(a, b);
}

pub fn register(r: &mut Registry) {
    register1!(r, B64: Mov FNeg FAbs FSqrt FRsqrt FRcp FFloor FCeil FTrunc FRoundEven FFract FSign FSaturate);
    register1!(r, B64: FlushDenorm FCanon FrexpSig FrexpExp INeg IAbs ISign Not BitReverse BitCount);
    register1!(r, B64: FindLsb FindUMsb FindSMsb);
    register2!(r, B64: FAdd FSub FMul FDiv FMin FMax NMin NMax FRem FMod FStep FLdexp);
    register2!(r, B64: IAdd ISub IMul UMulHi SMulHi UDiv URem SDiv SRem SMod);
    register2!(r, B64: And Or Xor Shl LShr AShr SMin SMax UMin UMax);
}

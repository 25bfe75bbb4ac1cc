//! Two operands of 32 bits, results of 32 bits.

use super::Registry;
use super::map::{F, I, Map2, ops2, register2};
use simd::{Simd, ops};

/// Quotients of 32-bit ints in f64: the correctly rounded quotient never reaches the next integer, since that is at
/// least 2^-32 of it away. Results are mod 2^32; garbage for b = 0.
#[inline(always)]
fn udiv<S: Simd>(s: S, a: S::I, b: S::I) -> S::I {
    let q = s.dtrunc(s.ddiv(s.u_to_d(a), s.u_to_d(b)));
    s.lo(s.dbits(s.dadd(q, s.dsplat(4503599627370496.0)))) // 2^52
}
#[inline(always)]
fn sdiv<S: Simd>(s: S, a: S::I, b: S::I) -> S::I {
    let q = s.dtrunc(s.ddiv(s.s_to_d(a), s.s_to_d(b)));
    s.lo(s.dbits(s.dadd(q, s.dsplat(6755399441055744.0)))) // 1.5 · 2^52
}
/// `q` where b is not zero, else 0.
#[inline(always)]
fn guard<S: Simd>(s: S, b: S::I, q: S::I) -> S::I {
    let zero = s.isplat(0);
    s.isel(s.ieq(b, zero), zero, q)
}
/// The bytes of words as halves: of those of even number, and of the others.
#[inline(always)]
fn bytes<S: Simd>(s: S, a: S::I) -> [S::I; 2] {
    let low = s.isplat(0x00FF_00FF);
    [s.iand(a, low), s.iand(ops::shr(s, a, 8), low)]
}
#[inline(always)]
fn signed_bytes<S: Simd>(s: S, a: S::I) -> [S::I; 2] {
    [s.ihigh_bytes(ops::shl(s, a, 8)), s.ihigh_bytes(a)]
}
#[inline(always)]
fn dot4<S: Simd>(s: S, [a, b]: [S::I; 2], [c, d]: [S::I; 2]) -> S::I {
    s.iadd(s.imadd16(a, c), s.imadd16(b, d))
}
/// x − y · trunc(x / y), exact while |x / y| < 2^22; sign of x.
#[inline(always)]
fn frem<S: Simd>(s: S, x: S::F, y: S::F) -> S::F {
    let q = s.ftrunc(s.fdiv(x, y));
    let r = s.fnma(q, y, x);
    // The quotient may have been rounded up to an integer: then r has the wrong sign, by one y.
    let wrong = s.sgt(s.isplat(0), s.ixor(s.bits(r), s.bits(x)));
    let wrong = s.mand(wrong, s.fne(r, s.fsplat(0.0)));
    let fixed = s.fadd(r, ops::copysign(s, y, x));
    let r = ops::copysign(s, s.fsel(wrong, fixed, r), x);
    // A finite number modulo infinity is itself.
    let inf = s.fsplat(f32::INFINITY);
    let finite = s.flt(ops::fabs(s, x), inf);
    let whole = s.mand(s.feq(ops::fabs(s, y), inf), finite);
    // A quotient beyond every float says nothing of the remainder but that it is less than y: zero will do.
    let beyond = s.mand(s.mand(s.feq(ops::fabs(s, q), inf), finite), s.fne(y, s.fsplat(0.0)));
    let r = s.fsel(beyond, ops::copysign(s, s.fsplat(0.0), x), r);
    s.fsel(whole, x, r)
}

ops2! { S, s;
    FAdd light (a: F, b: F) -> F = s.fadd(a, b);
    FSub light (a: F, b: F) -> F = s.fsub(a, b);
    FMul light (a: F, b: F) -> F = s.fmul(a, b);
    FAddCanon light (a: F, b: F) -> F = ops::canon(s, s.fadd(a, b));
    FSubCanon light (a: F, b: F) -> F = ops::canon(s, s.fsub(a, b));
    FMulCanon light (a: F, b: F) -> F = ops::canon(s, s.fmul(a, b));
    FSumSquares light (a: F, b: F) -> F = s.fadd(s.fmul(a, a), s.fmul(b, b));
    FDiffSquares light (a: F, b: F) -> F = s.fsub(s.fmul(a, a), s.fmul(b, b));
    FDiv cold (a: F, b: F) -> F = s.fdiv(a, b);
    FMin light (a: F, b: F) -> F = s.fmin_raw(a, b);
    FMax light (a: F, b: F) -> F = s.fmax_raw(a, b);
    NMin light (a: F, b: F) -> F = ops::fmin(s, a, b);
    NMax light (a: F, b: F) -> F = ops::fmax(s, a, b);
    FRem cold (a: F, b: F) -> F = frem(s, a, b);
    /// Sign of b where not zero.
    FMod cold (a: F, b: F) -> F = {
        let r = frem(s, a, b);
        let other = s.sgt(s.isplat(0), s.ixor(s.bits(r), s.bits(b)));
        let zero = s.feq(r, s.fsplat(0.0));
        let moved = s.fsel(zero, ops::copysign(s, r, b), s.fadd(r, b));
        s.fsel(other, moved, r)
    };
    FStep cold (edge: F, x: F) -> F = s.fsel(s.flt(x, edge), s.fsplat(0.0), s.fsplat(1.0));
    /// Exact in f64, rounded once to f32.
    FLdexp cold (a: F, e: I) -> F = {
        let e = s.smin(s.smax(e, s.isplat(-400i32 as u32)), s.isplat(400));
        let scale = s.pack(s.isplat(0), ops::shl(s, s.iadd(e, s.isplat(1023)), 20));
        s.d_to_f(s.dmul(s.f_to_d(a), s.from_dbits(scale)))
    };
    IAdd light (a: I, b: I) -> I = s.iadd(a, b);
    ISub light (a: I, b: I) -> I = s.isub(a, b);
    IMul light (a: I, b: I) -> I = s.imul(a, b);
    SDot4 cold (a: I, b: I) -> I = dot4(s, signed_bytes(s, a), signed_bytes(s, b));
    UDot4 cold (a: I, b: I) -> I = dot4(s, bytes(s, a), bytes(s, b));
    SUDot4 cold (a: I, b: I) -> I = dot4(s, signed_bytes(s, a), bytes(s, b));
    UMulHi cold (a: I, b: I) -> I = s.umul_hi(a, b);
    SMulHi cold (a: I, b: I) -> I = s.smul_hi(a, b);
    UDiv cold (a: I, b: I) -> I = guard(s, b, udiv(s, a, b));
    URem cold (a: I, b: I) -> I = s.isub(a, s.imul(guard(s, b, udiv(s, a, b)), b));
    SDiv cold (a: I, b: I) -> I = guard(s, b, sdiv(s, a, b));
    SRem cold (a: I, b: I) -> I = s.isub(a, s.imul(guard(s, b, sdiv(s, a, b)), b));
    SMod cold (a: I, b: I) -> I = {
        let r = s.isub(a, s.imul(guard(s, b, sdiv(s, a, b)), b));
        let zero = s.isplat(0);
        let other = s.sgt(zero, s.ixor(r, b));
        // b = 0 adds nothing either.
        let other = s.mand(other, s.mnot(s.ieq(r, zero)));
        s.isel(other, s.iadd(r, b), r)
    };
    And light (a: I, b: I) -> I = s.iand(a, b);
    Or light (a: I, b: I) -> I = s.ior(a, b);
    Xor light (a: I, b: I) -> I = s.ixor(a, b);
    Shl light (a: I, n: I) -> I = s.ishl(a, s.iand(n, s.isplat(31)));
    LShr light (a: I, n: I) -> I = s.ishr(a, s.iand(n, s.isplat(31)));
    AShr light (a: I, n: I) -> I = s.isar(a, s.iand(n, s.isplat(31)));
    SMin light (a: I, b: I) -> I = s.smin(a, b);
    SMax light (a: I, b: I) -> I = s.smax(a, b);
    UMin light (a: I, b: I) -> I = s.umin(a, b);
    UMax light (a: I, b: I) -> I = s.umax(a, b);
    BitMask cold (count: I, offset: I) -> I = {
        // Counts from 32 on shift the one out: 0 − 1 is all ones.
        let ones = s.isub(s.ishl(s.isplat(1), count), s.isplat(1));
        s.ishl(ones, s.iand(offset, s.isplat(31)))
    };
}

pub fn register(r: &mut Registry) {
    register2!(r, B32: FAdd FSub FMul FAddCanon FSubCanon FMulCanon FDiv FMin FMax NMin NMax FRem FMod FStep FLdexp);
    register2!(r, B32: SDot4 UDot4 SUDot4);
    register2!(r, B32: IAdd ISub IMul UMulHi SMulHi UDiv URem SDiv SRem SMod);
    register2!(r, B32: FSumSquares FDiffSquares);
    register2!(r, B32: And Or Xor Shl LShr AShr SMin SMax UMin UMax BitMask);
}

//! Two operands of 32 bits, results of 32 bits.

use super::Registry;
use super::map::{F, I, Map2, ops2, register2};
use simd::{Simd, ops};

/// Quotients of 32-bit ints in f64: the correctly rounded quotient never reaches the next integer, since that is at
/// least 2^-32 of it away. Results are mod 2^32; garbage for b = 0.
#[inline(always)]
unsafe fn udiv<S: Simd>(a: S::I, b: S::I) -> S::I {
    let q = S::dtrunc(S::ddiv(u_to_d::<S>(a), u_to_d::<S>(b)));
    S::lo(S::dbits(S::dadd(q, S::dsplat(4503599627370496.0)))) // 2^52
}
#[inline(always)]
unsafe fn sdiv<S: Simd>(a: S::I, b: S::I) -> S::I {
    let q = S::dtrunc(S::ddiv(S::s_to_d(a), S::s_to_d(b)));
    S::lo(S::dbits(S::dadd(q, S::dsplat(6755399441055744.0)))) // 1.5 · 2^52
}
/// Exact.
#[inline(always)]
pub unsafe fn u_to_d<S: Simd>(a: S::I) -> S::D {
    S::dadd(S::s_to_d(S::ixor(a, S::isplat(0x8000_0000))), S::dsplat(2147483648.0))
}
/// `q` where b is not zero, else 0.
#[inline(always)]
unsafe fn guard<S: Simd>(b: S::I, q: S::I) -> S::I {
    let zero = S::isplat(0);
    S::isel(S::ieq(b, zero), zero, q)
}
/// x − y · trunc(x / y), exact while |x / y| < 2^22; sign of x.
#[inline(always)]
unsafe fn frem<S: Simd>(x: S::F, y: S::F) -> S::F {
    let q = S::ftrunc(S::fdiv(x, y));
    let r = S::fnma(q, y, x);
    // The quotient may have been rounded up to an integer: then r has the wrong sign, by one y.
    let wrong = S::sgt(S::isplat(0), S::ixor(S::bits(r), S::bits(x)));
    let wrong = S::mand(wrong, S::fne(r, S::fsplat(0.0)));
    let fixed = S::fadd(r, ops::copysign::<S>(y, x));
    let r = ops::copysign::<S>(S::fsel(wrong, fixed, r), x);
    // A finite number modulo infinity is itself.
    let inf = S::fsplat(f32::INFINITY);
    let finite = S::flt(ops::fabs::<S>(x), inf);
    let whole = S::mand(S::feq(ops::fabs::<S>(y), inf), finite);
    // A quotient beyond every float says nothing of the remainder but that it is less than y: zero will do.
    let beyond = S::mand(S::mand(S::feq(ops::fabs::<S>(q), inf), finite), S::fne(y, S::fsplat(0.0)));
    let r = S::fsel(beyond, ops::copysign::<S>(S::fsplat(0.0), x), r);
    S::fsel(whole, x, r)
}

ops2! { S;
    FAdd light (a: F, b: F) -> F = S::fadd(a, b);
    FSub light (a: F, b: F) -> F = S::fsub(a, b);
    FMul light (a: F, b: F) -> F = S::fmul(a, b);
    FAddCanon light (a: F, b: F) -> F = ops::canon::<S>(S::fadd(a, b));
    FSubCanon light (a: F, b: F) -> F = ops::canon::<S>(S::fsub(a, b));
    FMulCanon light (a: F, b: F) -> F = ops::canon::<S>(S::fmul(a, b));
    FSumSquares light (a: F, b: F) -> F = S::fadd(S::fmul(a, a), S::fmul(b, b));
    FDiffSquares light (a: F, b: F) -> F = S::fsub(S::fmul(a, a), S::fmul(b, b));
    FDiv cold (a: F, b: F) -> F = S::fdiv(a, b);
    FMin light (a: F, b: F) -> F = ops::fmin::<S>(a, b);
    FMax light (a: F, b: F) -> F = ops::fmax::<S>(a, b);
    FRem cold (a: F, b: F) -> F = frem::<S>(a, b);
    /// Sign of b where not zero.
    FMod cold (a: F, b: F) -> F = {
        let r = frem::<S>(a, b);
        let other = S::sgt(S::isplat(0), S::ixor(S::bits(r), S::bits(b)));
        let zero = S::feq(r, S::fsplat(0.0));
        let moved = S::fsel(zero, ops::copysign::<S>(r, b), S::fadd(r, b));
        S::fsel(other, moved, r)
    };
    FStep cold (edge: F, x: F) -> F = S::fsel(S::flt(x, edge), S::fsplat(0.0), S::fsplat(1.0));
    /// Exact in f64, rounded once to f32.
    FLdexp cold (a: F, e: I) -> F = {
        let e = S::smin(S::smax(e, S::isplat(-400i32 as u32)), S::isplat(400));
        let scale = S::pack(S::isplat(0), ops::shl::<S>(S::iadd(e, S::isplat(1023)), 20));
        S::d_to_f(S::dmul(S::f_to_d(a), S::from_dbits(scale)))
    };
    IAdd light (a: I, b: I) -> I = S::iadd(a, b);
    ISub light (a: I, b: I) -> I = S::isub(a, b);
    IMul light (a: I, b: I) -> I = S::imul(a, b);
    UMulHi cold (a: I, b: I) -> I = S::umul_hi(a, b);
    SMulHi cold (a: I, b: I) -> I = S::smul_hi(a, b);
    UDiv cold (a: I, b: I) -> I = guard::<S>(b, udiv::<S>(a, b));
    URem cold (a: I, b: I) -> I = S::isub(a, S::imul(guard::<S>(b, udiv::<S>(a, b)), b));
    SDiv cold (a: I, b: I) -> I = guard::<S>(b, sdiv::<S>(a, b));
    SRem cold (a: I, b: I) -> I = S::isub(a, S::imul(guard::<S>(b, sdiv::<S>(a, b)), b));
    SMod cold (a: I, b: I) -> I = {
        let r = S::isub(a, S::imul(guard::<S>(b, sdiv::<S>(a, b)), b));
        let zero = S::isplat(0);
        let other = S::sgt(zero, S::ixor(r, b));
        // b = 0 adds nothing either.
        let other = S::mand(other, S::mnot(S::ieq(r, zero)));
        S::isel(other, S::iadd(r, b), r)
    };
    And light (a: I, b: I) -> I = S::iand(a, b);
    Or light (a: I, b: I) -> I = S::ior(a, b);
    Xor light (a: I, b: I) -> I = S::ixor(a, b);
    Shl light (a: I, n: I) -> I = S::ishl(a, S::iand(n, S::isplat(31)));
    LShr light (a: I, n: I) -> I = S::ishr(a, S::iand(n, S::isplat(31)));
    AShr light (a: I, n: I) -> I = S::isar(a, S::iand(n, S::isplat(31)));
    SMin light (a: I, b: I) -> I = S::smin(a, b);
    SMax light (a: I, b: I) -> I = S::smax(a, b);
    UMin light (a: I, b: I) -> I = S::umin(a, b);
    UMax light (a: I, b: I) -> I = S::umax(a, b);
    BitMask cold (count: I, offset: I) -> I = {
        // Counts from 32 on shift the one out: 0 − 1 is all ones.
        let ones = S::isub(S::ishl(S::isplat(1), count), S::isplat(1));
        S::ishl(ones, S::iand(offset, S::isplat(31)))
    };
}

pub fn register(r: &mut Registry) {
    register2!(r, B32: FAdd FSub FMul FAddCanon FSubCanon FMulCanon FDiv FMin FMax FRem FMod FStep FLdexp);
    register2!(r, B32: IAdd ISub IMul UMulHi SMulHi UDiv URem SDiv SRem SMod);
    register2!(r, B32: FSumSquares FDiffSquares);
    register2!(r, B32: And Or Xor Shl LShr AShr SMin SMax UMin UMax BitMask);
}

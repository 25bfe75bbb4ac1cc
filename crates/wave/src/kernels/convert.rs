//! Conversions between 32 and 64 bits, and among 64-bit types.

use super::Registry;
use super::map::{D, F, I, L, Map1, Map2, ops1, ops2, register1, register2};
use super::wide::{d_to_s64, d_to_u64, for_f32};
use simd::{Simd, ops};

/// f64 → f32 such that rounding it again to fewer bits is as rounding once: inexact results get an odd last bit.
#[inline(always)]
fn to_odd<S: Simd>(s: S, a: S::D) -> S::F {
    let f = s.d_to_f(a);
    let back = s.f_to_d(f);
    let number = s.deq(a, a);
    let inexact = s.mand(number, s.dne(a, back));
    let away = s.mand(inexact, s.dlt(super::wide::dabs(s, a), super::wide::dabs(s, back)));
    let bits = s.isub(s.bits(f), s.isel(away, s.isplat(1), s.isplat(0)));
    s.from_bits(s.ior(bits, s.isel(inexact, s.isplat(1), s.isplat(0))))
}

ops1! { S, s;
    F32ToF64 cold (a: F) -> D = s.f_to_d(a);
    S32ToF64 cold (a: I) -> D = s.s_to_d(a);
    U32ToF64 cold (a: I) -> D = s.u_to_d(a);
    S32ToS64 cold (a: I) -> L = ops::s_to_l(s, a);
    U32ToU64 cold (a: I) -> L = ops::u_to_l(s, a);
    F32ToS64 cold (a: F) -> L = d_to_s64(s, s.f_to_d(a));
    F32ToU64 cold (a: F) -> L = d_to_u64(s, s.f_to_d(a));
    F64ToF32 cold (a: D) -> F = s.d_to_f(a);
    F64ToF16 cold (a: D) -> F = s.f16_to_f(s.f_to_f16(to_odd(s, a)));
    F64ToS32 cold (a: D) -> I = {
        let x = s.dmin_raw(s.dmax_raw(a, s.dsplat(-2147483648.0)), s.dsplat(2147483647.0));
        s.isel(s.dne(a, a), s.isplat(0), s.d_to_s_raw(x))
    };
    F64ToU32 cold (a: D) -> I = {
        let x = s.dmin_raw(s.dmax_raw(a, s.dsplat(0.0)), s.dsplat(4294967295.0));
        s.lo(s.dbits(s.dadd(s.dtrunc(x), s.dsplat(4503599627370496.0)))) // 2^52
    };
    F64ToS64 cold (a: D) -> L = d_to_s64(s, a);
    F64ToU64 cold (a: D) -> L = d_to_u64(s, a);
    S64ToF32 cold (a: L) -> F = {
        // Beyond ±2^53.
        let up = s.ladd(a, s.lsplat(1 << 53));
        let large = ops::above(s, up, s.lsplat(1 << 54));
        s.d_to_f(s.sl_to_d(for_f32(s, a, large)))
    };
    U64ToF32 cold (a: L) -> F = s.d_to_f(s.ul_to_d(for_f32(s, a, ops::above(s, a, s.lsplat(1 << 53)))));
    S64ToF64 cold (a: L) -> D = s.sl_to_d(a);
    U64ToF64 cold (a: L) -> D = s.ul_to_d(a);
    Lo32 cold (a: L) -> I = s.lo(a);
    Hi32 cold (a: L) -> I = s.hi(a);
}
ops2! { S, s;
    Pack64 cold (a: I, b: I) -> L = s.pack(a, b);
}

pub fn register(r: &mut Registry) {
    register1!(r, B32: F32ToF64 S32ToF64 U32ToF64 S32ToS64 U32ToU64 F32ToS64 F32ToU64);
    register1!(r, B64: F64ToF32 F64ToF16 F64ToS32 F64ToU32 F64ToS64 F64ToU64);
    register1!(r, B64: S64ToF32 U64ToF32 S64ToF64 U64ToF64 Lo32 Hi32);
    register2!(r, B32: Pack64);
}

//! Conversions between 32 and 64 bits, and among 64-bit types.

use super::Registry;
use super::bin::u_to_d;
use super::map::{D, F, I, L, Map1, Map2, ops1, ops2, register1, register2};
use simd::ops::lanes;
use simd::{Simd, ops};

/// f64 → f32 such that rounding it again to fewer bits is as rounding once: inexact results get an odd last bit.
#[inline(always)]
unsafe fn to_odd<S: Simd>(a: S::D) -> S::F {
    let f = S::d_to_f(a);
    let back = S::f_to_d(f);
    let number = S::deq(a, a);
    let inexact = S::mand(number, S::dne(a, back));
    let away = S::mand(inexact, S::dlt(super::wide::dabs::<S>(a), super::wide::dabs::<S>(back)));
    let bits = S::isub(S::bits(f), S::isel(away, S::isplat(1), S::isplat(0)));
    S::from_bits(S::ior(bits, S::isel(inexact, S::isplat(1), S::isplat(0))))
}

ops1! { S;
    F32ToF64 cold (a: F) -> D = S::f_to_d(a);
    S32ToF64 cold (a: I) -> D = S::s_to_d(a);
    U32ToF64 cold (a: I) -> D = u_to_d::<S>(a);
    S32ToS64 cold (a: I) -> L = ops::s_to_l::<S>(a);
    U32ToU64 cold (a: I) -> L = ops::u_to_l::<S>(a);
    F32ToS64 cold (a: F) -> L = lanes!(S, l_from; x = f_lanes a => x as i64 as u64);
    F32ToU64 cold (a: F) -> L = lanes!(S, l_from; x = f_lanes a => x as u64);
    F64ToF32 cold (a: D) -> F = S::d_to_f(a);
    F64ToF16 cold (a: D) -> F = S::f16_to_f(S::f_to_f16(to_odd::<S>(a)));
    F64ToS32 cold (a: D) -> I = {
        let x = S::dmin_raw(S::dmax_raw(a, S::dsplat(-2147483648.0)), S::dsplat(2147483647.0));
        S::isel(S::dne(a, a), S::isplat(0), S::d_to_s_raw(x))
    };
    F64ToU32 cold (a: D) -> I = {
        let x = S::dmin_raw(S::dmax_raw(a, S::dsplat(0.0)), S::dsplat(4294967295.0));
        S::lo(S::dbits(S::dadd(S::dtrunc(x), S::dsplat(4503599627370496.0)))) // 2^52
    };
    F64ToS64 cold (a: D) -> L = lanes!(S, l_from; x = d_lanes a => x as i64 as u64);
    F64ToU64 cold (a: D) -> L = lanes!(S, l_from; x = d_lanes a => x as u64);
    S64ToF32 cold (a: L) -> F = lanes!(S, f_from; x = l_lanes a => x as i64 as f32);
    U64ToF32 cold (a: L) -> F = lanes!(S, f_from; x = l_lanes a => x as f32);
    S64ToF64 cold (a: L) -> D = lanes!(S, d_from; x = l_lanes a => x as i64 as f64);
    U64ToF64 cold (a: L) -> D = lanes!(S, d_from; x = l_lanes a => x as f64);
    Lo32 cold (a: L) -> I = S::lo(a);
    Hi32 cold (a: L) -> I = S::hi(a);
}
ops2! { S;
    Pack64 cold (a: I, b: I) -> L = S::pack(a, b);
}

pub fn register(r: &mut Registry) {
    register1!(r, B32: F32ToF64 S32ToF64 U32ToF64 S32ToS64 U32ToU64 F32ToS64 F32ToU64);
    register1!(r, B64: F64ToF32 F64ToF16 F64ToS32 F64ToU32 F64ToS64 F64ToU64);
    register1!(r, B64: S64ToF32 U64ToF32 S64ToF64 U64ToF64 Lo32 Hi32);
    register2!(r, B32: Pack64);
}

//! One operand of 32 bits, result of 32 bits; conversions of type are in `convert.rs`, functions in `math`.

use super::Registry;
use super::map::{F, I, Map1, ops1, register1};
use simd::{Simd, ops};

/// Index of the highest set bit; −1 for 0.
#[inline(always)]
pub unsafe fn umsb<S: Simd>(a: S::I) -> S::I {
    // With the bit under the highest one cleared, rounding to f32 cannot reach the next power of two.
    let y = ops::inot::<S>(ops::shr::<S>(a, 1));
    let e = exponent::<S>(S::iand(a, y));
    let e = S::isel(S::sgt(S::isplat(0), a), S::isplat(31), e);
    S::isel(S::ieq(a, S::isplat(0)), S::isplat(!0), e)
}
/// Exponent of an int's f32.
#[inline(always)]
unsafe fn exponent<S: Simd>(a: S::I) -> S::I {
    let e = S::iand(ops::shr::<S>(S::bits(S::s_to_f(a)), 23), S::isplat(0xFF));
    S::isub(e, S::isplat(127))
}
#[inline(always)]
pub unsafe fn lsb<S: Simd>(a: S::I) -> S::I {
    // One bit is exact in f32; bit 31 is −2^31, of exponent 31.
    let e = exponent::<S>(S::iand(a, ops::ineg::<S>(a)));
    S::isel(S::ieq(a, S::isplat(0)), S::isplat(!0), e)
}
#[inline(always)]
pub unsafe fn bit_count<S: Simd>(a: S::I) -> S::I {
    let m1 = S::isplat(0x5555_5555);
    let m2 = S::isplat(0x3333_3333);
    let m4 = S::isplat(0x0F0F_0F0F);
    let a = S::isub(a, S::iand(ops::shr::<S>(a, 1), m1));
    let a = S::iadd(S::iand(a, m2), S::iand(ops::shr::<S>(a, 2), m2));
    let a = S::iand(S::iadd(a, ops::shr::<S>(a, 4)), m4);
    let a = S::iadd(a, ops::shr::<S>(a, 8));
    S::iand(S::iadd(a, ops::shr::<S>(a, 16)), S::isplat(63))
}
#[inline(always)]
pub unsafe fn bit_reverse<S: Simd>(a: S::I) -> S::I {
    #[inline(always)]
    unsafe fn swap<S: Simd>(a: S::I, n: u32, mask: u32) -> S::I {
        let m = S::isplat(mask);
        S::ior(S::iand(ops::shr::<S>(a, n), m), ops::shl::<S>(S::iand(a, m), n))
    }
    let a = swap::<S>(a, 1, 0x5555_5555);
    let a = swap::<S>(a, 2, 0x3333_3333);
    let a = swap::<S>(a, 4, 0x0F0F_0F0F);
    let a = swap::<S>(a, 8, 0x00FF_00FF);
    S::ior(ops::shr::<S>(a, 16), ops::shl::<S>(a, 16))
}
/// Lanes whose frexp is not (x, 0), their mantissa's source and exponent's adjustment (denormals are scaled up).
#[inline(always)]
unsafe fn frexp<S: Simd>(a: S::F) -> (S::M, S::I, S::I) {
    let abs = S::iand(S::bits(a), S::isplat(0x7FFF_FFFF));
    let zero = S::isplat(0);
    let plain = S::mor(S::ieq(abs, zero), S::sgt(abs, S::isplat(0x7F7F_FFFF)));
    let denormal = S::sgt(S::isplat(0x0080_0000), abs);
    let scaled = S::bits(S::fmul(a, S::fsplat(16777216.0)));
    (S::mnot(plain), S::isel(denormal, scaled, S::bits(a)), S::isel(denormal, S::isplat(24), zero))
}
#[inline(always)]
unsafe fn sext<S: Simd>(a: S::I, bits: u32) -> S::I {
    ops::sar::<S>(ops::shl::<S>(a, 32 - bits), 32 - bits)
}
/// Unsigned norm code of `scale`; NaN → 0.
#[inline(always)]
unsafe fn pack_u<S: Simd>(a: S::F, scale: f32) -> S::I {
    let x = S::fmin_raw(S::fmax_raw(a, S::fsplat(0.0)), S::fsplat(1.0));
    S::f_to_s_raw(S::fround_even(S::fmul(x, S::fsplat(scale))))
}
#[inline(always)]
unsafe fn pack_s<S: Simd>(a: S::F, scale: f32, mask: u32) -> S::I {
    let a = S::fsel(S::fne(a, a), S::fsplat(0.0), a);
    let x = S::fmin_raw(S::fmax_raw(a, S::fsplat(-1.0)), S::fsplat(1.0));
    S::iand(S::f_to_s_raw(S::fround_even(S::fmul(x, S::fsplat(scale)))), S::isplat(mask))
}
#[inline(always)]
unsafe fn unpack_s<S: Simd>(a: S::I, bits: u32, scale: f32) -> S::F {
    S::fmax_raw(S::fdiv(S::s_to_f(sext::<S>(a, bits)), S::fsplat(scale)), S::fsplat(-1.0))
}
#[inline(always)]
unsafe fn unpack_u<S: Simd>(a: S::I, mask: u32) -> S::F {
    S::fdiv(S::s_to_f(S::iand(a, S::isplat(mask))), S::fsplat(mask as f32))
}

ops1! { S;
    Mov light (a: I) -> I = a;
    FNeg light (a: F) -> F = ops::fneg::<S>(a);
    FAbs light (a: F) -> F = ops::fabs::<S>(a);
    FSqrt cold (a: F) -> F = S::fsqrt(a);
    FRcp cold (a: F) -> F = S::fdiv(S::fsplat(1.0), a);
    FFloor light (a: F) -> F = S::ffloor(a);
    FCeil light (a: F) -> F = S::fceil(a);
    FTrunc light (a: F) -> F = S::ftrunc(a);
    FRoundEven light (a: F) -> F = S::fround_even(a);
    FFract light (a: F) -> F = S::fsub(a, S::ffloor(a));
    /// Zeros stay; NaN → 0.
    FSign cold (a: F) -> F = {
        let zero = S::fsplat(0.0);
        let one = ops::copysign::<S>(S::fsplat(1.0), a);
        let a = S::fsel(S::fne(a, a), zero, a);
        S::fsel(S::fne(a, zero), one, a)
    };
    /// NaN and −0 → +0.
    FSaturate light (a: F) -> F = S::fmin_raw(S::fmax_raw(a, S::fsplat(0.0)), S::fsplat(1.0));
    F16Round cold (a: F) -> F = S::f16_to_f(S::f_to_f16(a));
    F16RoundRtz cold (a: F) -> F = {
        // One step back where rounding went away from zero; from infinity that is the largest finite value.
        let h = S::f_to_f16(a);
        let away = S::flt(ops::fabs::<S>(a), ops::fabs::<S>(S::f16_to_f(h)));
        S::f16_to_f(S::isel(away, S::isub(h, S::isplat(1)), h))
    };
    F16Quantize cold (a: F) -> F = {
        let h = S::f_to_f16(a);
        let small = S::ieq(S::iand(h, S::isplat(0x7C00)), S::isplat(0));
        S::f16_to_f(S::isel(small, S::iand(h, S::isplat(0x8000)), h))
    };
    F16ToBits cold (a: F) -> I = S::f_to_f16(a);
    BitsToF16 cold (a: I) -> F = S::f16_to_f(a);
    FlushDenorm cold (a: I) -> I = {
        let small = S::ieq(S::iand(a, S::isplat(0x7F80_0000)), S::isplat(0));
        S::isel(small, S::iand(a, S::isplat(0x8000_0000)), a)
    };
    FCanon light (a: F) -> F = ops::canon::<S>(a);
    FrexpSig cold (a: F) -> F = {
        let (some, m, _) = frexp::<S>(a);
        let m = S::ior(S::iand(m, S::isplat(0x807F_FFFF)), S::isplat(0x3F00_0000));
        S::fsel(some, S::from_bits(m), a)
    };
    FrexpExp cold (a: F) -> I = {
        let (some, m, adjust) = frexp::<S>(a);
        let e = S::iand(ops::shr::<S>(m, 23), S::isplat(0xFF));
        S::isel(some, S::isub(S::isub(e, S::isplat(126)), adjust), S::isplat(0))
    };
    INeg light (a: I) -> I = ops::ineg::<S>(a);
    IAbs cold (a: I) -> I = S::smax(a, ops::ineg::<S>(a));
    ISign cold (a: I) -> I = S::smax(S::smin(a, S::isplat(1)), S::isplat(!0));
    Not light (a: I) -> I = ops::inot::<S>(a);
    BitReverse cold (a: I) -> I = bit_reverse::<S>(a);
    BitCount cold (a: I) -> I = bit_count::<S>(a);
    FindLsb cold (a: I) -> I = lsb::<S>(a);
    FindUMsb cold (a: I) -> I = umsb::<S>(a);
    FindSMsb cold (a: I) -> I = umsb::<S>(S::ixor(a, ops::sar::<S>(a, 31)));
    SExt8 cold (a: I) -> I = sext::<S>(a, 8);
    SExt16 cold (a: I) -> I = sext::<S>(a, 16);
    ZExt8 cold (a: I) -> I = S::iand(a, S::isplat(0xFF));
    ZExt16 cold (a: I) -> I = S::iand(a, S::isplat(0xFFFF));
    F32ToS32 light (a: F) -> I = ops::f_to_s::<S>(a);
    F32ToU32 light (a: F) -> I = ops::f_to_u::<S>(a);
    S32ToF32 light (a: I) -> F = S::s_to_f(a);
    U32ToF32 light (a: I) -> F = S::u_to_f(a);
    PackUnorm8 cold (a: F) -> I = pack_u::<S>(a, 255.0);
    PackSnorm8 cold (a: F) -> I = pack_s::<S>(a, 127.0, 0xFF);
    PackUnorm16 cold (a: F) -> I = pack_u::<S>(a, 65535.0);
    PackSnorm16 cold (a: F) -> I = pack_s::<S>(a, 32767.0, 0xFFFF);
    UnpackUnorm8 cold (a: I) -> F = unpack_u::<S>(a, 0xFF);
    UnpackSnorm8 cold (a: I) -> F = unpack_s::<S>(a, 8, 127.0);
    UnpackUnorm16 cold (a: I) -> F = unpack_u::<S>(a, 0xFFFF);
    UnpackSnorm16 cold (a: I) -> F = unpack_s::<S>(a, 16, 32767.0);
}

pub fn register(r: &mut Registry) {
    register1!(r, B32: Mov FNeg FAbs FSqrt FRcp FFloor FCeil FTrunc FRoundEven FFract FSign FSaturate);
    register1!(r, B32: F16Round F16RoundRtz F16Quantize F16ToBits BitsToF16 FlushDenorm FCanon FrexpSig FrexpExp);
    register1!(r, B32: INeg IAbs ISign Not BitReverse BitCount FindLsb FindUMsb FindSMsb);
    register1!(r, B32: SExt8 SExt16 ZExt8 ZExt16 F32ToS32 F32ToU32 S32ToF32 U32ToF32);
    register1!(r, B32: PackUnorm8 PackSnorm8 PackUnorm16 PackSnorm16);
    register1!(r, B32: UnpackUnorm8 UnpackSnorm8 UnpackUnorm16 UnpackSnorm16);
}

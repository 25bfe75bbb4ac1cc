//! One operand of 32 bits, result of 32 bits; conversions of type are in `convert.rs`, functions in `math`.

use super::Registry;
use super::map::{F, I, Map1, ops1, register1};
use simd::{Simd, ops};

/// Index of the highest set bit; −1 for 0.
#[inline(always)]
pub fn umsb<S: Simd>(s: S, a: S::I) -> S::I {
    // With the bit under the highest one cleared, rounding to f32 cannot reach the next power of two.
    let y = ops::inot(s, ops::shr(s, a, 1));
    let e = exponent(s, s.iand(a, y));
    let e = s.isel(s.sgt(s.isplat(0), a), s.isplat(31), e);
    s.isel(s.ieq(a, s.isplat(0)), s.isplat(!0), e)
}
/// Exponent of an int's f32.
#[inline(always)]
fn exponent<S: Simd>(s: S, a: S::I) -> S::I {
    let e = s.iand(ops::shr(s, s.bits(s.s_to_f(a)), 23), s.isplat(0xFF));
    s.isub(e, s.isplat(127))
}
#[inline(always)]
pub fn lsb<S: Simd>(s: S, a: S::I) -> S::I {
    // One bit is exact in f32; bit 31 is −2^31, of exponent 31.
    let e = exponent(s, s.iand(a, ops::ineg(s, a)));
    s.isel(s.ieq(a, s.isplat(0)), s.isplat(!0), e)
}
#[inline(always)]
pub fn bit_count<S: Simd>(s: S, a: S::I) -> S::I {
    let m1 = s.isplat(0x5555_5555);
    let m2 = s.isplat(0x3333_3333);
    let m4 = s.isplat(0x0F0F_0F0F);
    let a = s.isub(a, s.iand(ops::shr(s, a, 1), m1));
    let a = s.iadd(s.iand(a, m2), s.iand(ops::shr(s, a, 2), m2));
    let a = s.iand(s.iadd(a, ops::shr(s, a, 4)), m4);
    let a = s.iadd(a, ops::shr(s, a, 8));
    s.iand(s.iadd(a, ops::shr(s, a, 16)), s.isplat(63))
}
#[inline(always)]
pub fn bit_reverse<S: Simd>(s: S, a: S::I) -> S::I {
    #[inline(always)]
    fn swap<S: Simd>(s: S, a: S::I, n: u32, mask: u32) -> S::I {
        let m = s.isplat(mask);
        s.ior(s.iand(ops::shr(s, a, n), m), ops::shl(s, s.iand(a, m), n))
    }
    let a = swap(s, a, 1, 0x5555_5555);
    let a = swap(s, a, 2, 0x3333_3333);
    let a = swap(s, a, 4, 0x0F0F_0F0F);
    let a = swap(s, a, 8, 0x00FF_00FF);
    s.ior(ops::shr(s, a, 16), ops::shl(s, a, 16))
}
/// Lanes whose frexp is not (x, 0), their mantissa's source and exponent's adjustment. A denormal is its mantissa, an
/// integer, · 2^-149: exact where denormals are zeros too.
#[inline(always)]
fn frexp<S: Simd>(s: S, a: S::F) -> (S::M, S::I, S::I) {
    let abs = s.iand(s.bits(a), s.isplat(0x7FFF_FFFF));
    let zero = s.isplat(0);
    let plain = s.mor(s.ieq(abs, zero), s.sgt(abs, s.isplat(0x7F7F_FFFF)));
    let denormal = s.sgt(s.isplat(0x0080_0000), abs);
    let scaled = s.ior(s.bits(s.s_to_f(abs)), s.iand(s.bits(a), s.isplat(0x8000_0000)));
    (s.mnot(plain), s.isel(denormal, scaled, s.bits(a)), s.isel(denormal, s.isplat(149), zero))
}
#[inline(always)]
fn sext<S: Simd>(s: S, a: S::I, bits: u32) -> S::I {
    ops::sar(s, ops::shl(s, a, 32 - bits), 32 - bits)
}
/// Unsigned norm code of `scale`; NaN → 0.
#[inline(always)]
fn pack_u<S: Simd>(s: S, a: S::F, scale: f32) -> S::I {
    let x = s.fmin_raw(s.fmax_raw(a, s.fsplat(0.0)), s.fsplat(1.0));
    s.f_to_s_raw(s.fround_even(s.fmul(x, s.fsplat(scale))))
}
#[inline(always)]
fn pack_s<S: Simd>(s: S, a: S::F, scale: f32, mask: u32) -> S::I {
    let a = s.fsel(s.fne(a, a), s.fsplat(0.0), a);
    let x = s.fmin_raw(s.fmax_raw(a, s.fsplat(-1.0)), s.fsplat(1.0));
    s.iand(s.f_to_s_raw(s.fround_even(s.fmul(x, s.fsplat(scale)))), s.isplat(mask))
}
#[inline(always)]
fn unpack_s<S: Simd>(s: S, a: S::I, bits: u32, scale: f32) -> S::F {
    s.fmax_raw(s.fdiv(s.s_to_f(sext(s, a, bits)), s.fsplat(scale)), s.fsplat(-1.0))
}
#[inline(always)]
fn unpack_u<S: Simd>(s: S, a: S::I, mask: u32) -> S::F {
    s.fdiv(s.s_to_f(s.iand(a, s.isplat(mask))), s.fsplat(mask as f32))
}

ops1! { S, s;
    Mov light (a: I) -> I = a;
    FNeg light (a: F) -> F = ops::fneg(s, a);
    FAbs light (a: F) -> F = ops::fabs(s, a);
    FSqrt cold (a: F) -> F = s.fsqrt(a);
    FRcp cold (a: F) -> F = s.fdiv(s.fsplat(1.0), a);
    FFloor light (a: F) -> F = s.ffloor(a);
    FCeil light (a: F) -> F = s.fceil(a);
    FTrunc light (a: F) -> F = s.ftrunc(a);
    FRoundEven light (a: F) -> F = s.fround_even(a);
    FFract light (a: F) -> F = s.fsub(a, s.ffloor(a));
    /// Zeros stay; NaN → 0.
    FSign cold (a: F) -> F = {
        // By bits: of comparisons of floats the compiler makes such as see denormals, or not.
        let size = s.iand(s.bits(a), s.isplat(0x7FFF_FFFF));
        let some = s.ugt(s.isplat(0x7F80_0000), s.isub(size, s.isplat(1)));
        let none = s.isel(s.ugt(size, s.isplat(0x7F80_0000)), s.isplat(0), s.bits(a));
        s.fsel(some, ops::copysign(s, s.fsplat(1.0), a), s.from_bits(none))
    };
    /// NaN and −0 → +0.
    FSaturate light (a: F) -> F = s.fmin_raw(s.fmax_raw(a, s.fsplat(0.0)), s.fsplat(1.0));
    F16Round cold (a: F) -> F = s.f16_to_f(s.f_to_f16(a));
    F16RoundRtz cold (a: F) -> F = {
        // One step back where rounding went away from zero; from infinity that is the largest finite value.
        let h = s.f_to_f16(a);
        let away = s.flt(ops::fabs(s, a), ops::fabs(s, s.f16_to_f(h)));
        s.f16_to_f(s.isel(away, s.isub(h, s.isplat(1)), h))
    };
    F16Quantize cold (a: F) -> F = {
        let h = s.f_to_f16(a);
        let small = s.ieq(s.iand(h, s.isplat(0x7C00)), s.isplat(0));
        s.f16_to_f(s.isel(small, s.iand(h, s.isplat(0x8000)), h))
    };
    F16ToBits cold (a: F) -> I = s.f_to_f16(a);
    BitsToF16 cold (a: I) -> F = s.f16_to_f(a);
    FlushDenorm cold (a: I) -> I = {
        let small = s.ieq(s.iand(a, s.isplat(0x7F80_0000)), s.isplat(0));
        s.isel(small, s.iand(a, s.isplat(0x8000_0000)), a)
    };
    FCanon light (a: F) -> F = ops::canon(s, a);
    FrexpSig cold (a: F) -> F = {
        let (some, m, _) = frexp(s, a);
        let m = s.ior(s.iand(m, s.isplat(0x807F_FFFF)), s.isplat(0x3F00_0000));
        s.fsel(some, s.from_bits(m), a)
    };
    FrexpExp cold (a: F) -> I = {
        let (some, m, adjust) = frexp(s, a);
        let e = s.iand(ops::shr(s, m, 23), s.isplat(0xFF));
        s.isel(some, s.isub(s.isub(e, s.isplat(126)), adjust), s.isplat(0))
    };
    INeg light (a: I) -> I = ops::ineg(s, a);
    IAbs cold (a: I) -> I = s.smax(a, ops::ineg(s, a));
    ISign cold (a: I) -> I = s.smax(s.smin(a, s.isplat(1)), s.isplat(!0));
    Not light (a: I) -> I = ops::inot(s, a);
    BitReverse cold (a: I) -> I = bit_reverse(s, a);
    BitCount cold (a: I) -> I = bit_count(s, a);
    FindLsb cold (a: I) -> I = lsb(s, a);
    FindUMsb cold (a: I) -> I = umsb(s, a);
    FindSMsb cold (a: I) -> I = umsb(s, s.ixor(a, ops::sar(s, a, 31)));
    SExt8 cold (a: I) -> I = sext(s, a, 8);
    SExt16 cold (a: I) -> I = sext(s, a, 16);
    ZExt8 cold (a: I) -> I = s.iand(a, s.isplat(0xFF));
    ZExt16 cold (a: I) -> I = s.iand(a, s.isplat(0xFFFF));
    F32ToS32 light (a: F) -> I = ops::f_to_s(s, a);
    F32ToU32 light (a: F) -> I = ops::f_to_u(s, a);
    S32ToF32 light (a: I) -> F = s.s_to_f(a);
    U32ToF32 light (a: I) -> F = s.u_to_f(a);
    PackUnorm8 cold (a: F) -> I = pack_u(s, a, 255.0);
    PackSnorm8 cold (a: F) -> I = pack_s(s, a, 127.0, 0xFF);
    PackUnorm16 cold (a: F) -> I = pack_u(s, a, 65535.0);
    PackSnorm16 cold (a: F) -> I = pack_s(s, a, 32767.0, 0xFFFF);
    UnpackUnorm8 cold (a: I) -> F = unpack_u(s, a, 0xFF);
    UnpackSnorm8 cold (a: I) -> F = unpack_s(s, a, 8, 127.0);
    UnpackUnorm16 cold (a: I) -> F = unpack_u(s, a, 0xFFFF);
    UnpackSnorm16 cold (a: I) -> F = unpack_s(s, a, 16, 32767.0);
}

pub fn register(r: &mut Registry) {
    register1!(r, B32: Mov FNeg FAbs FSqrt FRcp FFloor FCeil FTrunc FRoundEven FFract FSign FSaturate);
    register1!(r, B32: F16Round F16RoundRtz F16Quantize F16ToBits BitsToF16 FlushDenorm FCanon FrexpSig FrexpExp);
    register1!(r, B32: INeg IAbs ISign Not BitReverse BitCount FindLsb FindUMsb FindSMsb);
    register1!(r, B32: SExt8 SExt16 ZExt8 ZExt16 F32ToS32 F32ToU32 S32ToF32 U32ToF32);
    register1!(r, B32: PackUnorm8 PackSnorm8 PackUnorm16 PackSnorm16);
    register1!(r, B32: UnpackUnorm8 UnpackSnorm8 UnpackUnorm16 UnpackSnorm16);
}

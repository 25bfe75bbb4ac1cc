//! One-lane reference of every exact operation of the IR: what constant folding uses and kernels are tested against.
//!
//! Values are raw bits in the low end of a `u64`: Bool 0 or 1, B32 zero-extended. `ty` is the operand's type as in
//! [`crate::bytecode::Code`] (for `Select` the result's). `None` means that the operation is not exact
//! (transcendental or without one agreed rounding) and kernels define it.
//! NaN results of arithmetic are the quiet NaN without payload; kernels may give any NaN, which [`Un::FCanon`] makes
//! that one before anybody sees its bits.

use crate::ir::{Bin, Tri, Ty, Un};

const NAN32: u32 = 0x7FC0_0000;
const NAN64: u64 = 0x7FF8_0000_0000_0000;

fn f32_of(a: u64) -> f32 {
    f32::from_bits(a as u32)
}
fn f64_of(a: u64) -> f64 {
    f64::from_bits(a)
}
fn of_f32(x: f32) -> u64 {
    if x.is_nan() { NAN32 as u64 } else { x.to_bits() as u64 }
}
fn of_f64(x: f64) -> u64 {
    if x.is_nan() { NAN64 } else { x.to_bits() }
}
fn of_bool(b: bool) -> u64 {
    b as u64
}
fn of_u32(x: u32) -> u64 {
    x as u64
}
fn of_s32(x: i32) -> u64 {
    x as u32 as u64
}

/// True when `bits` is a NaN of the float type of `ty`'s width.
pub fn is_nan(ty: Ty, bits: u64) -> bool {
    if ty == Ty::B64 { f64_of(bits).is_nan() } else { f32_of(bits).is_nan() }
}

/// How a float is rounded to f16.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Nearest,
    Zero,
}

/// The f16 bits of an f64, rounded once. Overflow goes to infinity (nearest) or to the largest finite value (zero).
fn f64_to_f16(x: f64, round: Round) -> u16 {
    let bits = x.to_bits();
    let sign = ((bits >> 48) & 0x8000) as u16;
    if x.is_nan() {
        return sign | 0x7E00;
    }
    if x.is_infinite() {
        return sign | 0x7C00;
    }
    let exp = ((bits >> 52) & 0x7FF) as i32 - 1023;
    if exp < -26 {
        return sign; // below half of the smallest denormal, f64 denormals included
    }
    // In units of the result's last place: 2^-24 for denormals, else 2^(exp - 10).
    let mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
    let drop = if exp < -14 { 42 + (-14 - exp) } else { 42 };
    let mut units = mantissa >> drop;
    let rest = mantissa & ((1u64 << drop) - 1);
    let half = 1u64 << (drop - 1);
    if round == Round::Nearest && (rest > half || (rest == half && units & 1 == 1)) {
        units += 1;
    }
    // For normals `units` has the implicit bit: adding it to (exponent − 1) carries correctly.
    let base = if exp < -14 { 0 } else { ((exp + 14) as u64) << 10 };
    let code = base + units;
    if code >= 0x7C00 {
        return sign | if round == Round::Nearest { 0x7C00 } else { 0x7BFF };
    }
    sign | code as u16
}

fn f16_to_f32(h: u16) -> f32 {
    let sign = ((h & 0x8000) as u32) << 16;
    let exp = (h >> 10) & 31;
    let man = (h & 0x3FF) as u32;
    match exp {
        0 => {
            let x = man as f32 * f32::from_bits(0x3380_0000); // 2^-24
            f32::from_bits(x.to_bits() | sign)
        }
        31 => f32::from_bits(sign | 0x7F80_0000 | man << 13),
        _ => f32::from_bits(sign | (exp as u32 + 112) << 23 | man << 13),
    }
}

/// x · 2^e with one rounding.
fn ldexp32(x: f32, e: i32) -> f32 {
    let e = e.clamp(-400, 400);
    ((x as f64) * f64::from_bits(((e + 1023) as u64) << 52)) as f32
}

/// Significand in [0.5, 1) and exponent; (x, 0) for zero, infinity and NaN.
fn frexp64(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (y, adjust) = if x.abs() < f64::MIN_POSITIVE { (x * f64::from_bits(1077 << 52), 54) } else { (x, 0) };
    let bits = y.to_bits();
    let exp = ((bits >> 52) & 0x7FF) as i32 - 1022 - adjust;
    (f64::from_bits(bits & !(0x7FF << 52) | 1022 << 52), exp)
}

/// One operand.
pub fn un(op: Un, ty: Ty, a: u64) -> Option<u64> {
    if ty == Ty::B64 { un64(op, a) } else { un32(op, a as u32) }
}

fn un32(op: Un, a: u32) -> Option<u64> {
    let x = f32::from_bits(a);
    let s = a as i32;
    Some(match op {
        Un::Mov => a as u64,
        Un::FNeg => (a ^ 0x8000_0000) as u64,
        Un::FAbs => (a & 0x7FFF_FFFF) as u64,
        Un::FSqrt => of_f32(x.sqrt()),
        Un::FFloor => of_f32(x.floor()),
        Un::FCeil => of_f32(x.ceil()),
        Un::FTrunc => of_f32(x.trunc()),
        Un::FRoundEven => of_f32(x.round_ties_even()),
        Un::FFract => of_f32(x - x.floor()),
        Un::FSign => of_f32(if x > 0.0 {
            1.0
        } else if x < 0.0 {
            -1.0
        } else if x.is_nan() {
            0.0
        } else {
            x
        }),
        Un::FSaturate => {
            bin(Bin::FMin, Ty::B32, bin(Bin::FMax, Ty::B32, a as u64, 0)?, 1f32.to_bits() as u64)?
        }
        Un::F16Round => of_f32(f16_to_f32(f64_to_f16(x as f64, Round::Nearest))),
        Un::F16RoundRtz => of_f32(f16_to_f32(f64_to_f16(x as f64, Round::Zero))),
        Un::F16Quantize => {
            let h = f64_to_f16(x as f64, Round::Nearest);
            of_f32(f16_to_f32(if h & 0x7C00 == 0 { h & 0x8000 } else { h }))
        }
        Un::F16ToBits => f64_to_f16(x as f64, Round::Nearest) as u64,
        Un::BitsToF16 => f16_to_f32(a as u16).to_bits() as u64,
        Un::FlushDenorm => (if a & 0x7F80_0000 == 0 { a & 0x8000_0000 } else { a }) as u64,
        Un::FCanon => of_f32(x),
        Un::FIsNan => of_bool(x.is_nan()),
        Un::FIsInf => of_bool(x.is_infinite()),
        Un::FrexpSig => of_f32(frexp64(x as f64).0 as f32),
        Un::FrexpExp => of_s32(frexp64(x as f64).1),
        Un::INeg => of_s32(s.wrapping_neg()),
        Un::IAbs => of_s32(s.wrapping_abs()),
        Un::ISign => of_s32(s.signum()),
        Un::Not => of_u32(!a),
        Un::BitReverse => of_u32(a.reverse_bits()),
        Un::BitCount => of_u32(a.count_ones()),
        Un::FindLsb => of_u32(if a == 0 { u32::MAX } else { a.trailing_zeros() }),
        Un::FindUMsb => of_u32(if a == 0 { u32::MAX } else { 31 - a.leading_zeros() }),
        Un::FindSMsb => {
            let v = if s < 0 { !a } else { a };
            of_u32(if v == 0 { u32::MAX } else { 31 - v.leading_zeros() })
        }
        Un::SExt8 => of_s32(a as i8 as i32),
        Un::SExt16 => of_s32(a as i16 as i32),
        Un::ZExt8 => (a & 0xFF) as u64,
        Un::ZExt16 => (a & 0xFFFF) as u64,
        Un::F32ToS32 => of_s32(x as i32),
        Un::F32ToU32 => of_u32(x as u32),
        Un::S32ToF32 => of_f32(s as f32),
        Un::U32ToF32 => of_f32(a as f32),
        Un::F32ToF64 => of_f64(x as f64),
        Un::S32ToF64 => of_f64(s as f64),
        Un::U32ToF64 => of_f64(a as f64),
        Un::F32ToS64 => x as i64 as u64,
        Un::F32ToU64 => x as u64,
        Un::S32ToS64 => s as i64 as u64,
        Un::U32ToU64 | Un::Lo32 => a as u64,
        Un::PackUnorm8 => of_u32(pack(x, 0.0, 255.0) as u32),
        Un::PackSnorm8 => of_u32(pack(x, -1.0, 127.0) as u32 & 0xFF),
        Un::PackUnorm16 => of_u32(pack(x, 0.0, 65535.0) as u32),
        Un::PackSnorm16 => of_u32(pack(x, -1.0, 32767.0) as u32 & 0xFFFF),
        Un::UnpackUnorm8 => of_f32((a & 0xFF) as f32 / 255.0),
        Un::UnpackSnorm8 => of_f32((a as i8 as f32 / 127.0).max(-1.0)),
        Un::UnpackUnorm16 => of_f32((a & 0xFFFF) as f32 / 65535.0),
        Un::UnpackSnorm16 => of_f32((a as i16 as f32 / 32767.0).max(-1.0)),
        Un::BoolToInt => (a & 1) as u64,
        Un::IntToBool => of_bool(a != 0),
        Un::BNot => of_bool(a & 1 == 0),
        _ => return None,
    })
}

/// Norm code: clamp to [lo, 1], scale, round to nearest even; NaN gives 0.
fn pack(x: f32, lo: f32, scale: f32) -> i32 {
    if x.is_nan() {
        return 0;
    }
    (x.clamp(lo, 1.0) * scale).round_ties_even() as i32
}

fn un64(op: Un, a: u64) -> Option<u64> {
    let x = f64::from_bits(a);
    let s = a as i64;
    Some(match op {
        Un::Mov => a,
        Un::FNeg => a ^ 1 << 63,
        Un::FAbs => a & !(1 << 63),
        Un::FSqrt => of_f64(x.sqrt()),
        Un::FFloor => of_f64(x.floor()),
        Un::FCeil => of_f64(x.ceil()),
        Un::FTrunc => of_f64(x.trunc()),
        Un::FRoundEven => of_f64(x.round_ties_even()),
        Un::FFract => of_f64(x - x.floor()),
        Un::FSign => of_f64(if x > 0.0 {
            1.0
        } else if x < 0.0 {
            -1.0
        } else if x.is_nan() {
            0.0
        } else {
            x
        }),
        Un::FSaturate => bin(Bin::FMin, Ty::B64, bin(Bin::FMax, Ty::B64, a, 0)?, 1f64.to_bits())?,
        Un::FlushDenorm => {
            if a & 0x7FF << 52 == 0 {
                a & 1 << 63
            } else {
                a
            }
        }
        Un::FCanon => of_f64(x),
        Un::FIsNan => of_bool(x.is_nan()),
        Un::FIsInf => of_bool(x.is_infinite()),
        Un::FrexpSig => of_f64(frexp64(x).0),
        Un::FrexpExp => of_s32(frexp64(x).1),
        Un::INeg => s.wrapping_neg() as u64,
        Un::IAbs => s.wrapping_abs() as u64,
        Un::ISign => s.signum() as u64,
        Un::Not => !a,
        Un::BitReverse => a.reverse_bits(),
        Un::BitCount => a.count_ones() as u64,
        Un::FindLsb => of_u32(if a == 0 { u32::MAX } else { a.trailing_zeros() }),
        Un::FindUMsb => of_u32(if a == 0 { u32::MAX } else { 63 - a.leading_zeros() }),
        Un::FindSMsb => {
            let v = if s < 0 { !a } else { a };
            of_u32(if v == 0 { u32::MAX } else { 63 - v.leading_zeros() })
        }
        Un::F64ToF32 => of_f32(x as f32),
        Un::F64ToS32 => of_s32(x as i32),
        Un::F64ToU32 => of_u32(x as u32),
        Un::S64ToF32 => of_f32(s as f32),
        Un::U64ToF32 => of_f32(a as f32),
        Un::F64ToS64 => x as i64 as u64,
        Un::F64ToU64 => x as u64,
        Un::S64ToF64 => of_f64(s as f64),
        Un::U64ToF64 => of_f64(a as f64),
        Un::F64ToF16 => of_f32(f16_to_f32(f64_to_f16(x, Round::Nearest))),
        Un::Lo32 => a & 0xFFFF_FFFF,
        Un::Hi32 => a >> 32,
        Un::IntToBool => of_bool(a != 0),
        _ => return None,
    })
}

/// FMin/FMax of the N forms: a NaN gives the other operand; −0 < +0.
macro_rules! min_max {
    ($x:expr, $y:expr, $max:expr) => {{
        let (x, y) = ($x, $y);
        if x.is_nan() {
            y
        } else if y.is_nan() {
            x
        } else if x == y {
            if x.is_sign_negative() != $max { x } else { y }
        } else if (x < y) != $max {
            x
        } else {
            y
        }
    }};
}

/// Two operands; `ty` is the first one's.
pub fn bin(op: Bin, ty: Ty, a: u64, b: u64) -> Option<u64> {
    match op {
        Bin::BAnd => Some(a & b & 1),
        Bin::BOr => Some((a | b) & 1),
        Bin::BXor => Some((a ^ b) & 1),
        Bin::Pack64 => Some(a & 0xFFFF_FFFF | b << 32),
        _ if ty == Ty::B64 => bin64(op, a, b),
        _ => bin32(op, a as u32, b as u32),
    }
}

fn bin32(op: Bin, a: u32, b: u32) -> Option<u64> {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let (s, t) = (a as i32, b as i32);
    Some(match op {
        Bin::FAdd | Bin::FAddCanon => of_f32(x + y),
        Bin::FSub | Bin::FSubCanon => of_f32(x - y),
        Bin::FMul | Bin::FMulCanon => of_f32(x * y),
        Bin::FSumSquares => of_f32(x * x + y * y),
        Bin::FDiffSquares => of_f32(x * x - y * y),
        Bin::FDiv => of_f32(x / y),
        Bin::FMin => of_f32(min_max!(x, y, false)),
        Bin::FMax => of_f32(min_max!(x, y, true)),
        Bin::FStep => of_f32(if y < x { 0.0 } else { 1.0 }),
        Bin::FLdexp => of_f32(ldexp32(x, t)),
        Bin::FEq => of_bool(x == y),
        Bin::FNe => of_bool(x != y),
        Bin::FLt => of_bool(x < y),
        Bin::FLe => of_bool(x <= y),
        Bin::IAdd => of_u32(a.wrapping_add(b)),
        Bin::ISub => of_u32(a.wrapping_sub(b)),
        Bin::IMul => of_u32(a.wrapping_mul(b)),
        Bin::UMulHi => (a as u64 * b as u64) >> 32,
        Bin::SMulHi => of_s32(((s as i64 * t as i64) >> 32) as i32),
        Bin::UDiv => of_u32(a.checked_div(b).unwrap_or(0)),
        Bin::URem => of_u32(a.checked_rem(b).unwrap_or(a)),
        Bin::SDiv => of_s32(if t == 0 { 0 } else { s.wrapping_div(t) }),
        Bin::SRem => of_s32(if t == 0 { s } else { s.wrapping_rem(t) }),
        Bin::SMod => of_s32(if t == 0 {
            s
        } else {
            let r = s.wrapping_rem(t);
            if r != 0 && (r < 0) != (t < 0) { r.wrapping_add(t) } else { r }
        }),
        Bin::And => of_u32(a & b),
        Bin::Or => of_u32(a | b),
        Bin::Xor => of_u32(a ^ b),
        Bin::Shl => of_u32(a << (b & 31)),
        Bin::LShr => of_u32(a >> (b & 31)),
        Bin::AShr => of_s32(s >> (b & 31)),
        Bin::SMin => of_s32(s.min(t)),
        Bin::SMax => of_s32(s.max(t)),
        Bin::UMin => of_u32(a.min(b)),
        Bin::UMax => of_u32(a.max(b)),
        Bin::IEq => of_bool(a == b),
        Bin::INe => of_bool(a != b),
        Bin::SLt => of_bool(s < t),
        Bin::SLe => of_bool(s <= t),
        Bin::ULt => of_bool(a < b),
        Bin::ULe => of_bool(a <= b),
        Bin::BitMask => of_u32(bit_mask(a) << (b & 31)),
        _ => return None,
    })
}

fn bit_mask(count: u32) -> u32 {
    if count >= 32 { u32::MAX } else { (1 << count) - 1 }
}

fn bin64(op: Bin, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    let (s, t) = (a as i64, b as i64);
    Some(match op {
        Bin::FAdd => of_f64(x + y),
        Bin::FSub => of_f64(x - y),
        Bin::FMul => of_f64(x * y),
        Bin::FDiv => of_f64(x / y),
        Bin::FMin => of_f64(min_max!(x, y, false)),
        Bin::FMax => of_f64(min_max!(x, y, true)),
        Bin::FStep => of_f64(if y < x { 0.0 } else { 1.0 }),
        Bin::FEq => of_bool(x == y),
        Bin::FNe => of_bool(x != y),
        Bin::FLt => of_bool(x < y),
        Bin::FLe => of_bool(x <= y),
        Bin::IAdd => a.wrapping_add(b),
        Bin::ISub => a.wrapping_sub(b),
        Bin::IMul => a.wrapping_mul(b),
        Bin::UMulHi => ((a as u128 * b as u128) >> 64) as u64,
        Bin::SMulHi => ((s as i128 * t as i128) >> 64) as u64,
        Bin::UDiv => a.checked_div(b).unwrap_or(0),
        Bin::URem => a.checked_rem(b).unwrap_or(a),
        Bin::SDiv => (if t == 0 { 0 } else { s.wrapping_div(t) }) as u64,
        Bin::SRem => (if t == 0 { s } else { s.wrapping_rem(t) }) as u64,
        Bin::SMod => {
            let r = if t == 0 { s } else { s.wrapping_rem(t) };
            (if t != 0 && r != 0 && (r < 0) != (t < 0) { r.wrapping_add(t) } else { r }) as u64
        }
        Bin::And => a & b,
        Bin::Or => a | b,
        Bin::Xor => a ^ b,
        Bin::Shl => a << (b & 63),
        Bin::LShr => a >> (b & 63),
        Bin::AShr => (s >> (b & 63)) as u64,
        Bin::SMin => s.min(t) as u64,
        Bin::SMax => s.max(t) as u64,
        Bin::UMin => a.min(b),
        Bin::UMax => a.max(b),
        Bin::IEq => of_bool(a == b),
        Bin::INe => of_bool(a != b),
        Bin::SLt => of_bool(s < t),
        Bin::SLe => of_bool(s <= t),
        Bin::ULt => of_bool(a < b),
        Bin::ULe => of_bool(a <= b),
        _ => return None,
    })
}

/// Three operands. `ty`: the result's type for `Select`, else the first operand's.
pub fn tri(op: Tri, ty: Ty, a: u64, b: u64, c: u64) -> Option<u64> {
    let wide = ty == Ty::B64;
    Some(match op {
        Tri::Fma if wide => of_f64(f64_of(a).mul_add(f64_of(b), f64_of(c))),
        Tri::Fma | Tri::FmaCanon => of_f32(f32_of(a).mul_add(f32_of(b), f32_of(c))),
        Tri::Select => {
            if a & 1 == 1 {
                b
            } else {
                c
            }
        }
        Tri::BitSelect => a & b | !a & c,
        Tri::UBfe | Tri::SBfe => {
            let width: u32 = if wide { 64 } else { 32 };
            let (offset, count) = (b as u32 & (width - 1), (c as u32).min(width));
            if count == 0 {
                return Some(0);
            }
            let field = (a >> offset) << (64 - count);
            let value =
                if op == Tri::UBfe { field >> (64 - count) } else { (field as i64 >> (64 - count)) as u64 };
            if wide { value } else { value & 0xFFFF_FFFF }
        }
        Tri::FMix => {
            let neg = un(Un::FNeg, ty, c)?;
            let first = tri(Tri::Fma, ty, neg, a, a)?;
            tri(Tri::Fma, ty, c, b, first)?
        }
        Tri::FClamp => bin(Bin::FMin, ty, bin(Bin::FMax, ty, a, b)?, c)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f(x: f32) -> u64 {
        x.to_bits() as u64
    }

    #[test]
    fn halves_agree_with_the_half_crate() {
        for h in 0..=u16::MAX {
            let want = half::f16::from_bits(h);
            if !want.is_nan() {
                assert_eq!(f16_to_f32(h).to_bits(), want.to_f32().to_bits());
                assert_eq!(un(Un::F16ToBits, Ty::B32, f(want.to_f32())), Some(h as u64));
            }
        }
        let mut x = 0x12345u32;
        for _ in 0..200_000 {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            let v = f32::from_bits(((x >> 4) % 0x1000_0000 + 0x3000_0000) | (x << 31));
            assert_eq!(f64_to_f16(v as f64, Round::Nearest), half::f16::from_f32(v).to_bits(), "{v}");
        }
        assert_eq!(f64_to_f16(65519.999, Round::Nearest), 0x7BFF);
        assert_eq!(f64_to_f16(65520.0, Round::Nearest), 0x7C00);
        assert_eq!(f64_to_f16(1e9, Round::Zero), 0x7BFF);
        // Just above a tie in f64, a tie in f32.
        assert_eq!(f64_to_f16(1.0 + 1.0 / 2048.0 + 1e-14, Round::Nearest), 0x3C01);
    }

    #[test]
    fn corners() {
        assert_eq!(bin(Bin::FMin, Ty::B32, f(0.0), f(-0.0)), Some(f(-0.0)));
        assert_eq!(bin(Bin::FMin, Ty::B32, f(-0.0), f(0.0)), Some(f(-0.0)));
        assert_eq!(bin(Bin::FMax, Ty::B32, f(-0.0), f(0.0)), Some(0));
        assert_eq!(bin(Bin::FMax, Ty::B32, f(0.0), f(-0.0)), Some(0));
        assert_eq!(bin(Bin::FMax, Ty::B32, f(f32::NAN), f(2.0)), Some(f(2.0)));
        assert_eq!(bin(Bin::SMod, Ty::B32, -7i32 as u32 as u64, 3), Some(2));
        assert_eq!(bin(Bin::SMod, Ty::B32, 7, -3i32 as u32 as u64), Some(-2i32 as u32 as u64));
        assert_eq!(bin(Bin::SDiv, Ty::B32, 0x8000_0000, 0xFFFF_FFFF), Some(0x8000_0000));
        assert_eq!(bin(Bin::SRem, Ty::B32, 0x8000_0000, 0xFFFF_FFFF), Some(0));
        assert_eq!(bin(Bin::URem, Ty::B32, 7, 0), Some(7));
        assert_eq!(tri(Tri::SBfe, Ty::B32, 0xF0, 4, 4), Some(0xFFFF_FFFF));
        assert_eq!(tri(Tri::UBfe, Ty::B32, 0xF0, 4, 4), Some(0xF));
        assert_eq!(tri(Tri::UBfe, Ty::B32, 0xF0, 4, 0), Some(0));
        assert_eq!(un(Un::FrexpExp, Ty::B32, f(f32::from_bits(1))), Some((-148i32) as u32 as u64));
        assert_eq!(un(Un::FrexpSig, Ty::B32, f(8.0)), Some(f(0.5)));
        assert_eq!(bin(Bin::FLdexp, Ty::B32, f(1.0), (-149i32) as u32 as u64), Some(1));
        assert_eq!(un(Un::FindSMsb, Ty::B32, 0xFFFF_FFFF), Some(0xFFFF_FFFF));
        assert_eq!(un(Un::F32ToS32, Ty::B32, f(f32::NAN)), Some(0));
        assert_eq!(un(Un::F32ToU32, Ty::B32, f(-1.0)), Some(0));
        assert_eq!(un(Un::PackSnorm8, Ty::B32, f(-2.0)), Some(0x81));
        assert_eq!(bin(Bin::BitMask, Ty::B32, 4, 8), Some(0xF00));
    }
}

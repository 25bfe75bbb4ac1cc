//! Evaluation of ops on constants. `None`: not folded here (transcendental functions are the kernels' to define, and
//! NaN results are left to them, as their bits depend on the instruction).

use crate::ir::*;
use half::f16;

fn f(x: u64) -> f32 {
    f32::from_bits(x as u32)
}
fn d(x: u64) -> f64 {
    f64::from_bits(x)
}
fn r32(x: f32) -> Option<u64> {
    (!x.is_nan()).then_some(x.to_bits() as u64)
}
fn r64(x: f64) -> Option<u64> {
    (!x.is_nan()).then_some(x.to_bits())
}

pub(crate) fn un(op: Un, ty: Ty, x: u64) -> Option<u64> {
    use Un::*;
    let wide = ty == Ty::B64;
    let (u, i) = (x as u32, x as u32 as i32);
    let float = |op32: fn(f32) -> f32, op64: fn(f64) -> f64| {
        if wide { r64(op64(d(x))) } else { r32(op32(f(x))) }
    };
    Some(match op {
        Mov => x,
        FNeg => x ^ if wide { 1 << 63 } else { 1 << 31 },
        FAbs => x & if wide { i64::MAX as u64 } else { i32::MAX as u64 },
        FFloor => return float(f32::floor, f64::floor),
        FCeil => return float(f32::ceil, f64::ceil),
        FTrunc => return float(f32::trunc, f64::trunc),
        FRoundEven => return float(f32::round_ties_even, f64::round_ties_even),
        FSqrt => return float(f32::sqrt, f64::sqrt),
        F16Round => return r32(f16::from_f32(f(x)).to_f32()),
        F16ToBits if !f(x).is_nan() => f16::from_f32(f(x)).to_bits() as u64,
        BitsToF16 => return r32(f16::from_bits(x as u16).to_f32()),
        FIsNan => (if wide { d(x).is_nan() } else { f(x).is_nan() }) as u64,
        FIsInf => (if wide { d(x).is_infinite() } else { f(x).is_infinite() }) as u64,
        INeg => x.wrapping_neg(),
        IAbs if wide => (x as i64).unsigned_abs(),
        IAbs => i.unsigned_abs() as u64,
        ISign if wide => (x as i64).signum() as u64,
        ISign => i.signum() as u32 as u64,
        Not => !x,
        BitReverse if !wide => u.reverse_bits() as u64,
        BitCount if !wide => u.count_ones() as u64,
        FindLsb if !wide => (if u == 0 { !0 } else { u.trailing_zeros() }) as u64,
        FindUMsb if !wide => 31u32.wrapping_sub(u.leading_zeros()) as u64,
        FindSMsb if !wide => 31u32.wrapping_sub((if i < 0 { !u } else { u }).leading_zeros()) as u64,
        SExt8 => u as u8 as i8 as u32 as u64,
        SExt16 => u as u16 as i16 as u32 as u64,
        ZExt8 => u as u8 as u64,
        ZExt16 => u as u16 as u64,
        F32ToS32 => f(x) as i32 as u32 as u64,
        F32ToU32 => f(x) as u32 as u64,
        S32ToF32 => (i as f32).to_bits() as u64,
        U32ToF32 => (u as f32).to_bits() as u64,
        F32ToF64 => return r64(f(x) as f64),
        F64ToF32 => return r32(d(x) as f32),
        F64ToS32 => d(x) as i32 as u32 as u64,
        F64ToU32 => d(x) as u32 as u64,
        S32ToF64 => (i as f64).to_bits(),
        U32ToF64 => (u as f64).to_bits(),
        F32ToS64 => f(x) as i64 as u64,
        F32ToU64 => f(x) as u64,
        S64ToF32 => (x as i64 as f32).to_bits() as u64,
        U64ToF32 => (x as f32).to_bits() as u64,
        F64ToS64 => d(x) as i64 as u64,
        F64ToU64 => d(x) as u64,
        S64ToF64 => (x as i64 as f64).to_bits(),
        U64ToF64 => (x as f64).to_bits(),
        F64ToF16 => return r32(f16::from_f64(d(x)).to_f32()),
        S32ToS64 => i as i64 as u64,
        U32ToU64 => u as u64,
        Lo32 => u as u64,
        Hi32 => x >> 32,
        BoolToInt => x & 1,
        IntToBool => (u != 0) as u64,
        BNot => !x & 1,
        _ => return None,
    })
}

pub(crate) fn bin(op: Bin, ty: Ty, a: u64, b: u64) -> Option<u64> {
    use Bin::*;
    let wide = ty == Ty::B64;
    let float = |op32: fn(f32, f32) -> f32, op64: fn(f64, f64) -> f64| {
        if wide { r64(op64(d(a), d(b))) } else { r32(op32(f(a), f(b))) }
    };
    let cmp = |op32: fn(&f32, &f32) -> bool, op64: fn(&f64, &f64) -> bool| {
        Some((if wide { op64(&d(a), &d(b)) } else { op32(&f(a), &f(b)) }) as u64)
    };
    if ty == Ty::Bool {
        return Some(match op {
            BAnd => a & b,
            BOr => a | b,
            BXor | INe => a ^ b,
            IEq => 1 ^ a ^ b,
            _ => return None,
        });
    }
    match op {
        FAdd => return float(|x, y| x + y, |x, y| x + y),
        FSub => return float(|x, y| x - y, |x, y| x - y),
        FMul => return float(|x, y| x * y, |x, y| x * y),
        FDiv => return float(|x, y| x / y, |x, y| x / y),
        FEq => return cmp(f32::eq, f64::eq),
        FNe => return cmp(f32::ne, f64::ne),
        FLt => return cmp(f32::lt, f64::lt),
        FLe => return cmp(f32::le, f64::le),
        Pack64 => return Some(a & 0xFFFF_FFFF | b << 32),
        BitMask if !wide => {
            let ones = if a >= 32 { !0u32 } else { (1 << a) - 1 };
            return Some((ones << (b & 31)) as u64);
        }
        _ => {}
    }
    Some(if wide {
        let (x, y) = (a as i64, b as i64);
        match op {
            IAdd => a.wrapping_add(b),
            ISub => a.wrapping_sub(b),
            IMul => a.wrapping_mul(b),
            UDiv => a.checked_div(b).unwrap_or(0),
            URem => a.checked_rem(b).unwrap_or(a),
            SDiv if y == 0 => 0,
            SDiv => x.wrapping_div(y) as u64,
            SRem if y == 0 => a,
            SRem => x.wrapping_rem(y) as u64,
            SMod if y == 0 => a,
            SMod => {
                let r = x.wrapping_rem(y);
                (if r != 0 && (r < 0) != (y < 0) { r.wrapping_add(y) } else { r }) as u64
            }
            And => a & b,
            Or => a | b,
            Xor => a ^ b,
            Shl => a.wrapping_shl(b as u32),
            LShr => a.wrapping_shr(b as u32),
            AShr => x.wrapping_shr(b as u32) as u64,
            SMin => x.min(y) as u64,
            SMax => x.max(y) as u64,
            UMin => a.min(b),
            UMax => a.max(b),
            IEq => (a == b) as u64,
            INe => (a != b) as u64,
            SLt => (x < y) as u64,
            SLe => (x <= y) as u64,
            ULt => (a < b) as u64,
            ULe => (a <= b) as u64,
            _ => return None,
        }
    } else {
        let (a, b) = (a as u32, b as u32);
        let (x, y) = (a as i32, b as i32);
        let r = match op {
            IAdd => a.wrapping_add(b),
            ISub => a.wrapping_sub(b),
            IMul => a.wrapping_mul(b),
            UMulHi => ((a as u64 * b as u64) >> 32) as u32,
            SMulHi => ((x as i64 * y as i64) >> 32) as u32,
            UDiv => a.checked_div(b).unwrap_or(0),
            URem => a.checked_rem(b).unwrap_or(a),
            SDiv if y == 0 => 0,
            SDiv => x.wrapping_div(y) as u32,
            SRem if y == 0 => a,
            SRem => x.wrapping_rem(y) as u32,
            SMod if y == 0 => a,
            SMod => {
                let r = x.wrapping_rem(y);
                (if r != 0 && (r < 0) != (y < 0) { r.wrapping_add(y) } else { r }) as u32
            }
            And => a & b,
            Or => a | b,
            Xor => a ^ b,
            Shl => a.wrapping_shl(b),
            LShr => a.wrapping_shr(b),
            AShr => x.wrapping_shr(b) as u32,
            SMin => x.min(y) as u32,
            SMax => x.max(y) as u32,
            UMin => a.min(b),
            UMax => a.max(b),
            IEq => (a == b) as u32,
            INe => (a != b) as u32,
            SLt => (x < y) as u32,
            SLe => (x <= y) as u32,
            ULt => (a < b) as u32,
            ULe => (a <= b) as u32,
            _ => return None,
        };
        r as u64
    })
}

pub(crate) fn tri(op: Tri, ty: Ty, a: u64, b: u64, c: u64) -> Option<u64> {
    match op {
        Tri::Select => Some(if a & 1 != 0 { b } else { c }),
        Tri::Fma if ty == Ty::B64 => r64(d(a).mul_add(d(b), d(c))),
        Tri::Fma => r32(f(a).mul_add(f(b), f(c))),
        Tri::BitSelect => Some(a & b | !a & c),
        Tri::UBfe | Tri::SBfe if ty == Ty::B32 => {
            let (off, count) = (b as u32 & 31, (c as u32).min(32));
            if count == 0 {
                return Some(0);
            }
            let count = count.min(32 - off);
            let up = (a as u32) << (32 - off - count);
            Some(if op == Tri::UBfe {
                (up >> (32 - count)) as u64
            } else {
                (up as i32 >> (32 - count)) as u32 as u64
            })
        }
        _ => None,
    }
}

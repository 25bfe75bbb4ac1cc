//! Every exact op at every level against the one-lane reference: random and special values, uniform and varying
//! operands, dead warps.

mod one_op;

use one_op::*;
use shader::bytecode::{Code, Op};
use shader::eval;
use shader::ir::{Bin, Tri, Ty, Un};
use simd::Level;

use Ty::{B32, B64, Bool};

#[derive(Clone, Copy, Debug)]
enum Any {
    Un(Un, Ty),
    Bin(Bin, Ty),
    Tri(Tri, Ty),
}

/// What one op is: operand types, result type, whether the result is a float.
struct Sig {
    op: Any,
    args: Vec<Ty>,
    result: Ty,
    float: bool,
}

fn un_ops() -> Vec<Sig> {
    use Un::*;
    let mut v = Vec::new();
    let mut add = |ty: Ty, result: Ty, float: bool, ops: &[Un]| {
        for &o in ops {
            v.push(Sig { op: Any::Un(o, ty), args: vec![ty], result, float });
        }
    };
    for ty in [B32, B64] {
        let f = [
            FNeg,
            FAbs,
            FSqrt,
            FRcp,
            FFloor,
            FCeil,
            FTrunc,
            FRoundEven,
            FFract,
            FSign,
            FSaturate,
            FlushDenorm,
            FrexpSig,
        ];
        add(ty, ty, true, &f);
        add(ty, ty, false, &[FCanon, Mov, INeg, IAbs, ISign, Not, BitReverse]);
        add(ty, Bool, false, &[FIsNan, FIsInf, IntToBool]);
        add(ty, B32, false, &[FrexpExp, BitCount, FindLsb, FindUMsb, FindSMsb]);
    }
    add(B32, B32, true, &[F16Round, F16RoundRtz, F16Quantize, BitsToF16, S32ToF32, U32ToF32]);
    add(B32, B32, false, &[F16ToBits, SExt8, SExt16, ZExt8, ZExt16, F32ToS32, F32ToU32]);
    add(B32, B32, false, &[PackUnorm8, PackSnorm8, PackUnorm16, PackSnorm16]);
    add(B32, B32, true, &[UnpackUnorm8, UnpackSnorm8, UnpackUnorm16, UnpackSnorm16]);
    add(B32, B64, true, &[F32ToF64, S32ToF64, U32ToF64]);
    add(B32, B64, false, &[F32ToS64, F32ToU64, S32ToS64, U32ToU64]);
    add(B64, B32, true, &[F64ToF32, F64ToF16, S64ToF32, U64ToF32]);
    add(B64, B32, false, &[F64ToS32, F64ToU32, Lo32, Hi32]);
    add(B64, B64, false, &[F64ToS64, F64ToU64]);
    add(B64, B64, true, &[S64ToF64, U64ToF64, FRsqrt]);
    add(Bool, B32, false, &[BoolToInt]);
    add(Bool, Bool, false, &[BNot]);
    v
}

fn bin_ops() -> Vec<Sig> {
    use Bin::*;
    let mut v = Vec::new();
    let mut add = |a: Ty, b: Ty, result: Ty, float: bool, ops: &[Bin]| {
        for &o in ops {
            v.push(Sig { op: Any::Bin(o, a), args: vec![a, b], result, float });
        }
    };
    for ty in [B32, B64] {
        add(ty, ty, ty, true, &[FAdd, FSub, FMul, FDiv, FMin, FMax, FStep, FRem, FMod]);
        add(ty, B32, ty, true, &[FLdexp]);
        let i = [IAdd, ISub, IMul, UMulHi, SMulHi, UDiv, URem, SDiv, SRem, SMod];
        add(ty, ty, ty, false, &i);
        add(ty, ty, ty, false, &[And, Or, Xor, SMin, SMax, UMin, UMax]);
        add(ty, B32, ty, false, &[Shl, LShr, AShr]);
        add(ty, ty, Bool, false, &[FEq, FNe, FLt, FLe, IEq, INe, SLt, SLe, ULt, ULe]);
    }
    add(B32, B32, B32, false, &[BitMask, FAddCanon, FSubCanon, FMulCanon]);
    add(B32, B32, B32, true, &[FSumSquares, FDiffSquares]);
    add(B32, B32, B64, false, &[Pack64]);
    add(Bool, Bool, Bool, false, &[BAnd, BOr, BXor]);
    v
}

fn tri_ops() -> Vec<Sig> {
    use Tri::*;
    let mut v = Vec::new();
    let mut add = |ty: Ty, args: [Ty; 3], float: bool, op: Tri| {
        v.push(Sig { op: Any::Tri(op, ty), args: args.to_vec(), result: ty, float });
    };
    for ty in [B32, B64] {
        for op in [Fma, FMix, FClamp] {
            add(ty, [ty; 3], true, op);
        }
        add(ty, [Bool, ty, ty], false, Select);
        add(ty, [ty; 3], false, BitSelect);
        add(ty, [ty, B32, B32], false, UBfe);
        add(ty, [ty, B32, B32], false, SBfe);
    }
    add(B32, [B32; 3], false, FmaCanon);
    add(Bool, [Bool; 3], false, Select);
    v
}

fn code(op: Any) -> Code {
    match op {
        Any::Un(o, ty) => Code::un(o, ty),
        Any::Bin(o, ty) => Code::bin(o, ty),
        Any::Tri(o, ty) => Code::tri(o, ty),
    }
}

fn f32_of(v: u64) -> f32 {
    f32::from_bits(v as u32)
}
fn f64_of(v: u64) -> f64 {
    f64::from_bits(v)
}

/// The reference's result; ops that `eval` leaves to the kernels are told here.
fn reference(op: Any, v: &[u64]) -> Option<u64> {
    match op {
        Any::Un(Un::FRcp, B64) => Some((1.0 / f64_of(v[0])).to_bits()),
        Any::Un(Un::FRcp, _) => Some((1.0 / f32_of(v[0])).to_bits() as u64),
        Any::Un(Un::FRsqrt, _) => Some((1.0 / f64_of(v[0]).sqrt()).to_bits()),
        // Exact only while the quotient is small.
        Any::Bin(o @ (Bin::FRem | Bin::FMod), B32) => {
            let (x, y) = (f32_of(v[0]) as f64, f32_of(v[1]) as f64);
            if y == 0.0 || x.is_nan() || y.is_nan() || x.is_infinite() {
                return Some(f32::NAN.to_bits() as u64);
            }
            let denormal = |x: f64| x != 0.0 && x.abs() < f32::MIN_POSITIVE as f64 * 1e8;
            if (x / y).abs() > 4e6 || denormal(x) || denormal(y) {
                return None;
            }
            let r = (x % y) as f32;
            let y = y as f32;
            Some(if o == Bin::FMod { modulo(r, y) } else { r }.to_bits() as u64)
        }
        Any::Bin(Bin::FRem, B64) => Some((f64_of(v[0]) % f64_of(v[1])).to_bits()),
        Any::Bin(Bin::FMod, B64) => {
            let (x, y) = (f64_of(v[0]), f64_of(v[1]));
            let r = x % y;
            Some(
                if r == 0.0 {
                    r.copysign(y)
                } else if r.is_sign_negative() != y.is_sign_negative() {
                    r + y
                } else {
                    r
                }
                .to_bits(),
            )
        }
        Any::Bin(Bin::FLdexp, B64) => Some(ldexp_slow(f64_of(v[0]), v[1] as i32).to_bits()),
        Any::Un(o, ty) => Some(eval::un(o, ty, v[0]).unwrap_or_else(|| panic!("{op:?}: no reference"))),
        Any::Bin(o, ty) => {
            Some(eval::bin(o, ty, v[0], v[1]).unwrap_or_else(|| panic!("{op:?}: no reference")))
        }
        Any::Tri(o, ty) => {
            Some(eval::tri(o, ty, v[0], v[1], v[2]).unwrap_or_else(|| panic!("{op:?}: no reference")))
        }
    }
}
fn modulo(r: f32, y: f32) -> f32 {
    if r == 0.0 {
        r.copysign(y)
    } else if (r < 0.0) != (y < 0.0) {
        r + y
    } else {
        r
    }
}
/// In integers: mantissa shifted and rounded to nearest even.
fn ldexp_slow(x: f64, e: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let bits = x.to_bits();
    let raw = (bits >> 52 & 0x7FF) as i64;
    let m = if raw == 0 { bits & ((1 << 52) - 1) } else { bits & ((1 << 52) - 1) | 1 << 52 };
    let top = 63 - m.leading_zeros() as i64;
    // |x| = m · 2^scale
    let scale = raw.max(1) - 1075 + e as i64;
    let sign = bits & 1 << 63;
    if top + scale > 1023 {
        return f64::from_bits(sign | 0x7FF << 52);
    }
    let last = (top + scale - 52).max(-1074);
    let drop = last - scale;
    let units = if drop <= 0 {
        m << -drop
    } else if drop > 60 {
        0
    } else {
        let (keep, rest, half) = (m >> drop, m & ((1 << drop) - 1), 1u64 << (drop - 1));
        keep + (rest > half || (rest == half && keep & 1 == 1)) as u64
    };
    let code = if top + scale >= -1022 { ((top + scale + 1022) as u64) << 52 } else { 0 };
    f64::from_bits(sign | (code + units))
}

const SPECIAL32: [u32; 44] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    2,
    3,
    0x007F_FFFF,
    0x0080_0000,
    0x8080_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x3F00_0000,
    0xBF00_0000,
    0x3FC0_0000,
    0x4000_0000,
    0x4020_0000,
    0x40A0_0000,
    0x4B00_0000,
    0x4B00_0001,
    0x4B80_0000,
    0xCB00_0001,
    0x4EFF_FFFF,
    0x4F00_0000,
    0xCF00_0000,
    0xCF00_0001,
    0x4F7F_FFFF,
    0x4F80_0000,
    0x5F00_0000,
    0xDF00_0000,
    0x5F80_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFFC1_2345,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
    31,
    32,
    33,
    0x477F_EFFF,
    0x477F_F000,
    0x3380_0000,
];

fn sample(rng: &mut Rng, ty: Ty) -> u64 {
    let pick = rng.below(8);
    match ty {
        Bool => rng.next() >> 40 & 1,
        B64 => match pick {
            0 | 1 => {
                let f = f32::from_bits(SPECIAL32[rng.below(44) as usize]) as f64;
                f.to_bits().wrapping_add(rng.below(3)).wrapping_sub(1)
            }
            2 => SPECIAL32[rng.below(44) as usize] as i32 as i64 as u64,
            3 => (SPECIAL32[rng.below(44) as usize] as u64) << 32 | SPECIAL32[rng.below(44) as usize] as u64,
            // near the edges of f16 and f32
            4 => {
                f64::from_bits((1023 - 27 + rng.below(46)) << 52 | rng.next() >> 12).to_bits()
                    | rng.next() << 63
            }
            5 => ((rng.next() as i64 >> 50) as f64 * 0.5).to_bits(),
            6 => f64::from_bits(rng.below(2) << 52 | rng.next() >> 12 | rng.next() << 63).to_bits(),
            _ => rng.next(),
        },
        _ => match pick {
            0 | 1 => SPECIAL32[rng.below(44) as usize] as u64,
            2 => rng.below(70),
            3 => (rng.below(200) as i32 - 100) as u32 as u64,
            4 => ((rng.below(2000) as f32 - 1000.0) * 0.25).to_bits() as u64,
            5 => {
                (f32::from_bits((100 + rng.below(50) as u32) << 23 | rng.next() as u32 >> 9).to_bits()
                    | (rng.next() as u32) << 31) as u64
            }
            _ => rng.next() as u32 as u64,
        },
    }
}

fn run(level: Level, sig: &Sig, lanes: usize, uniform: u32, live: u32, rng: &mut Rng) {
    let mut b = Bench::new(lanes);
    b.live = live;
    let n = sig.args.len();
    // Bools are uniform by content.
    let uni = |i: usize| uniform >> i & 1 != 0;
    for (i, &ty) in sig.args.iter().enumerate() {
        let one = sample(rng, ty);
        for lane in 0..lanes.max(if ty == Bool { 256 } else { 0 }) {
            if uni(i) && lane >= 16 && ty != Bool {
                break;
            }
            let v = if uni(i) { one } else { sample(rng, ty) };
            b.set(ty, i * 32, lane, v);
        }
    }
    let all_uniform = (0..n).all(uni);
    let mut op = Op::new(code(sig.op));
    let r = |i: usize| operand(i as u16 * 32, uni(i) && sig.args[i] != Bool);
    op.a = r(0);
    if n > 1 {
        op.b = r(1);
    }
    if n > 2 {
        op.c = r(2);
    }
    op.d = operand(RESULT, all_uniform && sig.result != Bool);
    let before = b.regs.clone();
    b.run(level, &op);
    let bools_only = sig.result == Bool && sig.args.iter().all(|&t| t == Bool);
    let checked = if !all_uniform {
        lanes
    } else if sig.result == Bool {
        256
    } else {
        16
    };
    for lane in 0..checked {
        let warp = lane / 16;
        if !all_uniform && !bools_only && live >> warp & 1 == 0 {
            let mut old = Bench { regs: before.clone(), lanes, live };
            assert_eq!(
                b.get(sig.result, RESULT as usize, lane),
                old.get(sig.result, RESULT as usize, lane),
                "{:?} at {level:?} touched a dead warp",
                sig.op
            );
            continue;
        }
        let v: Vec<u64> = (0..n)
            .map(|i| {
                let from = if uni(i) && sig.args[i] != Bool { lane % 16 } else { lane };
                b.get(sig.args[i], i * 32, from)
            })
            .collect();
        let Some(want) = reference(sig.op, &v) else { continue };
        let got = b.get(sig.result, RESULT as usize, lane);
        let half_nan = |v: u64| v & 0x7FFF > 0x7C00;
        let nan_code = matches!(sig.op, Any::Un(Un::F16ToBits, _)) && half_nan(got) && half_nan(want);
        let same = got == want
            || nan_code
            || sig.float && eval::is_nan(sig.result, got) && eval::is_nan(sig.result, want);
        assert!(same, "{:?} at {level:?}: {v:x?} gave {got:x}, not {want:x}", sig.op);
    }
    // Nothing outside the result's own units changed.
    let end = RESULT as usize
        + match (sig.result, all_uniform) {
            (Bool, _) => 1,
            (B64, true) => 2,
            (_, true) => 1,
            (B64, false) => lanes / 8,
            _ => lanes / 16,
        };
    for (u, (x, y)) in before.iter().zip(&b.regs).enumerate() {
        if !(RESULT as usize..end).contains(&u) {
            assert!(x.0 == y.0, "{:?} at {level:?} wrote unit {u}", sig.op);
        }
    }
}

fn all(sigs: Vec<Sig>) {
    let mut rng = Rng(0x1234_5678_9ABC_DEF1);
    for level in levels() {
        for sig in &sigs {
            for round in 0..24 {
                for uniform in 0..1 << sig.args.len() {
                    run(level, sig, 256, uniform, 0xFFFF, &mut rng);
                    let live = rng.next() as u32 & 0xFFFF | 1 << (round & 15);
                    run(level, sig, 256, uniform, live, &mut rng);
                    run(level, sig, 64, uniform, 0xF, &mut rng);
                    run(level, sig, 128, uniform, 0xFF, &mut rng);
                }
            }
        }
    }
}

#[test]
fn one_operand() {
    all(un_ops());
}
#[test]
fn two_operands() {
    all(bin_ops());
}
#[test]
fn three_operands() {
    all(tri_ops());
}

/// In place: the destination is one of the sources.
#[test]
fn in_place() {
    for level in levels() {
        let mut b = Bench::new(256);
        for lane in 0..256 {
            b.set(B32, 0, lane, lane as u64 * 7);
        }
        let mut op = Op::new(Code::bin(Bin::IMul, B32));
        op.d = operand(0, false);
        op.a = operand(0, false);
        op.b = operand(0, false);
        b.run(level, &op);
        for lane in 0..256 {
            assert_eq!(b.get(B32, 0, lane), (lane * 7 * lane * 7) as u64);
        }
    }
}

#[test]
fn codes_without_kernels_fault() {
    use wave::state::{Fault, Status};
    for level in levels() {
        let kernel = wave::kernels::table(level)[Code::COUNT - 1];
        let op = Op::new(Code(Code::COUNT as u16 - 1));
        let mut b = Bench::new(64);
        with_state(&mut b, |st| {
            // The op is a valid one; nothing else is touched.
            assert!(unsafe { kernel(st, &op) }.is_null());
            assert_eq!(st.status, Status::Fault(Fault::Code(Code::COUNT as u16 - 1)));
        });
    }
}

//! Every exact op at every level against the one-lane reference: random and special values, uniform and varying
//! operands, dead warps.

use crate::one_op::*;
use random::Random;
use shader::bytecode::{Code, Op};
use shader::eval;
use shader::ir::{Bin, Tri, Ty, Un};
use shader::isa::{Facts, Nan, OperandType};
use simd::Level;
use std::collections::BTreeSet;

use Ty::{B32, B64, Bool};

#[derive(Clone, Copy, Debug)]
enum Any {
    Un(Un, Ty),
    Bin(Bin, Ty),
    Tri(Tri, Ty),
}

/// Forms without one agreed result; of `FmaCanon` there is no wide one.
const INEXACT: [&str; 20] = [
    "Bin(FAtan2, B32)",
    "Bin(FPow, B32)",
    "Tri(FmaCanon, B64)",
    "Un(FAcos, B32)",
    "Un(FAcosh, B32)",
    "Un(FAsin, B32)",
    "Un(FAsinh, B32)",
    "Un(FAtan, B32)",
    "Un(FAtanh, B32)",
    "Un(FCos, B32)",
    "Un(FCosh, B32)",
    "Un(FExp, B32)",
    "Un(FExp2, B32)",
    "Un(FLog, B32)",
    "Un(FLog2, B32)",
    "Un(FRsqrt, B32)",
    "Un(FSin, B32)",
    "Un(FSinh, B32)",
    "Un(FTan, B32)",
    "Un(FTanh, B32)",
];

const F32_ONE: u64 = 0x3F80_0000;

/// What one op is: operand types, result type, whether the result is a float.
struct Sig {
    op: Any,
    args: Vec<Ty>,
    result: Ty,
    float: bool,
}

/// A row of the table for the forms it has: `op` of the type that picks the form.
fn forms(facts: &Facts, op: impl Fn(Ty) -> Any) -> Vec<Sig> {
    let picks = facts.operands.iter().find(|k| matches!(k, OperandType::Num | OperandType::Any));
    let types: &[Ty] = match picks.or(facts.operands.first()) {
        Some(OperandType::Any) => &[B32, B64, Bool],
        Some(OperandType::Num) => &[B32, B64],
        Some(OperandType::B64) => &[B64],
        Some(OperandType::Bool) => &[Bool],
        _ => &[B32],
    };
    let sig = |ty: &Ty| {
        let of = |k: &OperandType| match k {
            OperandType::Bool => Bool,
            OperandType::B32 | OperandType::Count => B32,
            OperandType::B64 => B64,
            OperandType::Num | OperandType::Any | OperandType::Same => *ty,
        };
        Sig {
            op: op(*ty),
            args: facts.operands.iter().map(of).collect(),
            result: facts.result(*ty),
            // Widening a NaN may make it a quiet one.
            float: facts.nan == Nan::Makes || matches!(op(*ty), Any::Un(Un::BitsToF16, _)),
        }
    };
    types.iter().map(sig).collect()
}

/// Every form of every op of the table.
fn every() -> impl Iterator<Item = Sig> {
    (Un::ALL.iter().flat_map(|o| forms(o.facts(), |ty| Any::Un(*o, ty))))
        .chain(Bin::ALL.iter().flat_map(|o| forms(o.facts(), |ty| Any::Bin(*o, ty))))
        .chain(Tri::ALL.iter().flat_map(|o| forms(o.facts(), |ty| Any::Tri(*o, ty))))
}

/// Those that have a reference of one lane; the others' names.
fn table() -> (Vec<Sig>, BTreeSet<String>) {
    // Ordinary numbers of the op's type.
    let told = |sig: &Sig| {
        let one = if sig.args.contains(&B64) { 1f64.to_bits() } else { F32_ONE };
        reference(sig.op, &[one, one + 1, 1]).is_some()
    };
    let (exact, others): (Vec<Sig>, Vec<Sig>) = every().partition(told);
    (exact, others.iter().map(|sig| format!("{:?}", sig.op)).collect())
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
        Any::Un(Un::FRsqrt, B32) => None,
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
        Any::Bin(o @ (Bin::FRem | Bin::FMod), B64) => {
            let (x, y) = (f64_of(v[0]), f64_of(v[1]));
            if y == 0.0 || x.is_nan() || y.is_nan() || x.is_infinite() {
                return Some(f64::NAN.to_bits());
            }
            let denormal = |x: f64| x != 0.0 && x.abs() < f64::MIN_POSITIVE * 1e16;
            if (x / y).abs() > 2e15 || denormal(x) || denormal(y) {
                return None;
            }
            let r = x % y;
            let other = r.is_sign_negative() != y.is_sign_negative();
            Some(
                match o {
                    Bin::FMod if r == 0.0 => r.copysign(y),
                    Bin::FMod if other => r + y,
                    _ => r,
                }
                .to_bits(),
            )
        }
        Any::Bin(Bin::FLdexp, B64) => Some(ldexp_slow(f64_of(v[0]), v[1] as i32).to_bits()),
        Any::Un(o, ty) => eval::un(o, ty, v[0]),
        Any::Bin(o, ty) => eval::bin(o, ty, v[0], v[1]),
        Any::Tri(o, ty) => eval::tri(o, ty, v[0], v[1], v[2]),
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

fn sample(rng: &mut Random, ty: Ty) -> u64 {
    let pick = rng.below(8);
    match ty {
        Bool => rng.u64() >> 40 & 1,
        B64 => match pick {
            0 | 1 => {
                let f = f32::from_bits(SPECIAL32[rng.below(44) as usize]) as f64;
                f.to_bits().wrapping_add(rng.below(3).into()).wrapping_sub(1)
            }
            2 => SPECIAL32[rng.below(44) as usize] as i32 as i64 as u64,
            3 => (SPECIAL32[rng.below(44) as usize] as u64) << 32 | SPECIAL32[rng.below(44) as usize] as u64,
            // near the edges of f16 and f32
            4 => {
                f64::from_bits(u64::from(1023 - 27 + rng.below(46)) << 52 | rng.u64() >> 12).to_bits()
                    | rng.u64() << 63
            }
            5 => ((rng.u64() as i64 >> 50) as f64 * 0.5).to_bits(),
            6 => f64::from_bits(u64::from(rng.below(2)) << 52 | rng.u64() >> 12 | rng.u64() << 63).to_bits(),
            _ => rng.u64(),
        },
        _ => match pick {
            0 | 1 => SPECIAL32[rng.below(44) as usize] as u64,
            2 => rng.below(70).into(),
            3 => (rng.below(200) as i32 - 100) as u32 as u64,
            4 => ((rng.below(2000) as f32 - 1000.0) * 0.25).to_bits() as u64,
            5 => {
                (f32::from_bits((100 + rng.below(50)) << 23 | rng.u64() as u32 >> 9).to_bits()
                    | (rng.u64() as u32) << 31) as u64
            }
            _ => rng.u64() as u32 as u64,
        },
    }
}

fn run(level: Level, sig: &Sig, lanes: usize, uniform: u32, live: u32, rng: &mut Random) {
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

fn all(which: fn(&Any) -> bool) {
    let sigs: Vec<Sig> = table().0.into_iter().filter(|sig| which(&sig.op)).collect();
    assert!(!sigs.is_empty());
    let mut rng = Random::new(0x1234_5678_9ABC_DEF1);
    for level in levels() {
        for sig in &sigs {
            for round in 0..24 {
                for uniform in 0..1 << sig.args.len() {
                    run(level, sig, 256, uniform, 0xFFFF, &mut rng);
                    let live = rng.u64() as u32 & 0xFFFF | 1 << (round & 15);
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
    all(|op| matches!(op, Any::Un(..)));
}
#[test]
fn two_operands() {
    all(|op| matches!(op, Any::Bin(..)));
}
#[test]
fn three_operands() {
    all(|op| matches!(op, Any::Tri(..)));
}

/// What no lane of a reference tells: `math.rs` and `fused.rs` hold these to their errors.
#[test]
fn the_rest_is_known() {
    let known: BTreeSet<String> = INEXACT.iter().map(|s| s.to_string()).collect();
    assert_eq!(table().1, known);
}

/// Where denormals are flushed all levels have the same bits too, whatever an op makes of them.
#[test]
fn flushed_denormals_are_alike_on_all_levels() {
    let mut rng = Random::new(0x0F1A_54ED_9ABC_DEF1);
    let denormal = |rng: &mut Random, ty: Ty| match (rng.below(3), ty) {
        (0, B32) => rng.u64() & 0x807F_FFFF,
        (0, B64) => rng.u64() & 0x800F_FFFF_FFFF_FFFF,
        // Around the least normal number, the results of a subtraction or a product.
        (1, B32) => rng.u64() & 0x80FF_FFFF,
        (1, B64) => rng.u64() & 0x803F_FFFF_FFFF_FFFF,
        _ => sample(rng, ty),
    };
    let widest = levels().pop().expect("a level");
    let all: Vec<Level> = Level::all().into_iter().filter(|l| *l <= widest).collect();
    for sig in every().filter(|sig| format!("{:?}", sig.op) != "Tri(FmaCanon, B64)") {
        for _ in 0..96 {
            let mut b = Bench::new(256);
            for (i, &ty) in sig.args.iter().enumerate() {
                (0..256).for_each(|lane| b.set(ty, i * 32, lane, denormal(&mut rng, ty)));
            }
            let mut op = Op::new(code(sig.op));
            let r = |i: usize| operand(if i < sig.args.len() { i as u16 * 32 } else { 0 }, false);
            (op.a, op.d) = (r(0), operand(RESULT, false));
            if sig.args.len() > 1 {
                op.b = r(1);
            }
            if sig.args.len() > 2 {
                op.c = r(2);
            }
            let mut first: Option<Vec<u64>> = None;
            for level in &all {
                let mut own = Bench { regs: b.regs.clone(), lanes: 256, live: b.live };
                {
                    let _flushed = wave::flush::Mode::flushed(true);
                    own.run(*level, &op);
                }
                let got: Vec<u64> = (0..256).map(|l| own.get(sig.result, RESULT as usize, l)).collect();
                let first = first.get_or_insert_with(|| got.clone());
                for lane in 0..256 {
                    let (x, y) = (first[lane], got[lane]);
                    let nans = sig.float && eval::is_nan(sig.result, x) && eval::is_nan(sig.result, y);
                    let v: Vec<u64> = (0..sig.args.len()).map(|i| b.get(sig.args[i], i * 32, lane)).collect();
                    let what = || format!("{:?} at {level:?}: {v:x?} gave {y:x}, {:?} {x:x}", sig.op, all[0]);
                    assert!(x == y || nans, "{}", what());
                }
            }
        }
    }
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

//! Compiled segments leave what interpreted ops do: random ones, on every level that code is made for.

use crate::common::lab::{Lab, Unit, masks};
use crate::common::{Asm, TestHost};
use random::Random;
use shader::bytecode::{Code, Op, Program, Reg};
use shader::ir::{Bin, ReduceOp, Tri, Ty, Un};
use simd::Level;
use wave::Status;

/// What a register is used for. What arithmetic makes of a NaN has any sign and payload: floats become no ints here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum T {
    F,
    I,
    D,
    L,
    B,
}
use T::{B, D, F, I, L};

/// Kinds of numbers: their registers are by kind.
const NUMBERS: [T; 4] = [F, I, D, L];

impl T {
    fn is_wide(self) -> bool {
        matches!(self, D | L)
    }
}

/// Operands and result of an op by its name, and the type that its code has.
fn types(name: &str, operands: usize, ty: Ty) -> Option<(Vec<T>, T)> {
    // Of 64 bits where their op is.
    let (f, i) = if ty == Ty::B64 { (D, L) } else { (F, I) };
    Some(match name {
        "F32ToF64" => (vec![F], D),
        "S32ToF64" | "U32ToF64" => (vec![I], D),
        "S32ToS64" | "U32ToU64" => (vec![I], L),
        "F32ToS64" | "F32ToU64" => (vec![F], L),
        "F64ToF32" | "F64ToF16" => (vec![D], F),
        "F64ToS32" | "F64ToU32" => (vec![D], I),
        "F64ToS64" | "F64ToU64" => (vec![D], L),
        "S64ToF32" | "U64ToF32" => (vec![L], F),
        "S64ToF64" | "U64ToF64" => (vec![L], D),
        "Lo32" | "Hi32" => (vec![L], I),
        "Pack64" => (vec![I; 2], L),
        "BitCount" => (vec![i], I),
        "Shl" | "LShr" | "AShr" => (vec![i, I], i),
        "UBfe" | "SBfe" => (vec![i, I, I], i),
        "FLdexp" if ty == Ty::B64 => (vec![D, I], D),
        "F16ToBits" | "BitsToF16" | "FLdexp" | "FlushDenorm" => return None,
        "F32ToS32" | "F32ToU32" => (vec![F], I),
        "FrexpExp" => (vec![f], I),
        "FindLsb" | "FindUMsb" | "FindSMsb" => (vec![i], I),
        "S32ToF32" | "U32ToF32" => (vec![I], F),
        "FIsNan" | "FIsInf" => (vec![f], B),
        "FEq" | "FNe" | "FLt" | "FLe" => (vec![f; 2], B),
        "IEq" | "INe" | "SLt" | "SLe" | "ULt" | "ULe" => (vec![i; 2], B),
        "IntToBool" => (vec![i], B),
        "BoolToInt" => (vec![B], I),
        "Select" => (vec![B, f, f], f),
        "BNot" | "BAnd" | "BOr" | "BXor" => (vec![B; operands], B),
        _ if name.starts_with("Pack") => (vec![F], I),
        _ if name.starts_with("Unpack") => (vec![I], F),
        _ if name.starts_with('F') => (vec![f; operands], f),
        _ => (vec![i; operands], i),
    })
}

struct Shape {
    code: Code,
    operands: Vec<T>,
    results: Vec<T>,
}

/// The ops that compiled code has, of those whose types are told apart.
fn shapes() -> Vec<Shape> {
    let mut single = vec![];
    for ty in [Ty::B32, Ty::B64, Ty::Bool] {
        single.extend(Un::ALL.iter().map(|o| (Code::un(*o, ty), format!("{o:?}"), 1, ty)));
        single.extend(Bin::ALL.iter().map(|o| (Code::bin(*o, ty), format!("{o:?}"), 2, ty)));
        single.extend(Tri::ALL.iter().map(|o| (Code::tri(*o, ty), format!("{o:?}"), 3, ty)));
    }
    let mut all = vec![];
    let of = |code: Code| {
        let (_, name, n, ty) = single.iter().find(|s| s.0 == code)?;
        types(name, *n, *ty)
    };
    for (code, name, n, ty) in &single {
        let of_bools = [Code::tri(Tri::Select, Ty::Bool), Code::tri(Tri::BitSelect, Ty::Bool)];
        if let Some((operands, result)) = types(name, *n, *ty).filter(|_| !of_bools.contains(code)) {
            all.push(Shape { code: *code, operands, results: vec![result] });
        }
    }
    for (i, p) in shader::pairs::PAIRS.iter().enumerate() {
        if let (Some((mut a, _)), Some((mut b, result))) = (of(p.first), of(p.second)) {
            b.remove(p.at as usize);
            a.extend(b);
            all.push(Shape { code: Code::pair(i), operands: a, results: vec![result] });
        }
    }
    for (i, t) in shader::twins::TWINS.iter().enumerate() {
        all.push(Shape { code: Code::twin(i), operands: vec![F; t.operands()], results: vec![F; 2] });
    }
    all.sort_by_key(|s| s.code.0);
    all.dedup_by_key(|s| s.code.0);
    all.retain(|s| wave::jit::has(s.code));
    all
}

/// Registers of each kind: floats, ints (of both half uniform) and Bools.
const EACH: usize = 8;

/// Quad operations.
const QUADS: u32 = shader::ir::Quad::ALL.len() as u32;

struct Registers {
    varying: [Vec<Reg>; 4],
    uniform: [Vec<Reg>; 4],
    bools: Vec<Reg>,
}

impl Registers {
    fn any(&self, r: &mut Random, t: T) -> Reg {
        let i = r.below(EACH as u32) as usize;
        match t {
            B => self.bools[i],
            _ if r.below(3) == 0 => self.uniform[t as usize][i],
            _ => self.varying[t as usize][i],
        }
    }
}

fn float(r: &mut Random) -> u32 {
    match r.below(8) {
        0 => [0, 0x8000_0000, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 1, 0x7F7F_FFFF, 0x3F80_0000]
            [r.below(8) as usize],
        1 => r.u32(),
        _ => ((r.u32() as i32 as f32) / 65536.0 / 1024.0).to_bits(),
    }
}

fn double(r: &mut Random) -> u64 {
    match r.below(8) {
        0 => (f64::from(f32::from_bits(float(r)))).to_bits(),
        1 => r.u64(),
        // Halves of integers, some beyond those that there are of 64 bits.
        2 => (((r.u64() as i64) >> r.below(60)) as f64 * [0.5, 4.0][r.below(2) as usize]).to_bits(),
        _ => ((r.u64() as i64 as f64) / 65536.0 / 65536.0 / 1024.0).to_bits(),
    }
}

/// Registers that a branch writes and nobody after it reads, of each kind.
struct Temporaries {
    all: [Vec<Reg>; 5],
    /// How many of each have been written.
    written: [usize; 5],
}

/// An `if`: ops that write temporaries, moves of these to other registers, others of its kind.
fn branch(r: &mut Random, shapes: &[Shape], a: &mut Asm, regs: &Registers, deep: u32) {
    // Each has registers of its own, and a register's number has fifteen bits.
    if a.p.units > 0x7000 {
        return;
    }
    let (yes, no, cond) = (a.m(), a.m(), regs.any(r, B));
    let split = a.op(Code::SPLIT_RARE, yes, cond, no, Reg::NONE, 0, 0);
    let mut temps = Temporaries { all: Default::default(), written: [0; 5] };
    for _ in 0..3 {
        for t in NUMBERS {
            temps.all[t as usize].push(if t.is_wide() { a.v64() } else { a.v() });
        }
        temps.all[B as usize].push(a.m());
    }
    let most = if r.below(4) == 0 { 60 } else { 10 };
    for _ in 0..1 + r.below(most) {
        let any = |r: &mut Random, temps: &Temporaries, t: T| {
            let n = temps.written[t as usize];
            if n > 0 && r.below(2) == 0 {
                temps.all[t as usize][r.below(n as u32) as usize]
            } else {
                regs.any(r, t)
            }
        };
        match r.below(8) {
            0 if deep > 0 => branch(r, shapes, a, regs, deep - 1),
            0..=2 => {
                let t = if r.below(2) == 0 { F } else { I };
                let d = regs.varying[t as usize][r.below(EACH as u32) as usize];
                let from = any(r, &temps, t);
                a.op(Code::MOVM32, d, from, Reg::NONE, Reg::NONE, 0, 0);
            }
            _ => {
                let s = &shapes[r.below(shapes.len() as u32) as usize];
                let mut x = [Reg::NONE; 5];
                for (x, t) in x.iter_mut().zip(&s.operands) {
                    *x = any(r, &temps, *t);
                }
                let mut d = [Reg::NONE; 2];
                for (i, t) in s.results.iter().enumerate() {
                    let n = &mut temps.written[*t as usize];
                    let k = r.below((*n + 1).min(3) as u32) as usize;
                    d[i] = temps.all[*t as usize][k];
                    *n = (*n).max(k + 1);
                }
                if s.results.len() == 2 && d[0] == d[1] {
                    continue;
                }
                put(a, s, d, x);
            }
        }
    }
    a.op(Code::JOIN, Reg::NONE, no, Reg::NONE, Reg::NONE, 0, 0);
    a.land(split);
}

/// An op that reads a warp's lanes.
fn reads_lanes(r: &mut Random, a: &mut Asm, regs: &Registers) {
    let t = NUMBERS[r.below(4) as usize];
    let wide = t.is_wide();
    let d = regs.varying[t as usize][r.below(EACH as u32) as usize];
    let from = regs.any(r, t);
    let pick = |narrow: Code, of64: Code| if wide { of64 } else { narrow };
    match r.below(4) {
        0 => {
            let by = regs.any(r, I);
            a.op(pick(Code::SHUFFLE32, Code::SHUFFLE64), d, from, by, Reg::NONE, 0, 0);
        }
        1 => {
            let all = ReduceOp::ALL;
            let of: Vec<u16> = (0..all.len() as u16)
                .filter(|n| format!("{:?}", all[*n as usize]).starts_with('F') == matches!(t, F | D))
                .collect();
            let of = of[r.below(of.len() as u32) as usize];
            let e = of | (r.below(3) as u16) << 4 | (1 + r.below(4) as u16) << 8;
            a.op(pick(Code::REDUCE32, Code::REDUCE64), d, from, Reg::NONE, Reg::NONE, e, 0);
        }
        2 => {
            a.op(pick(Code::FIRST32, Code::FIRST64), d, from, Reg::NONE, Reg::NONE, 0, 0);
        }
        _ => {
            let d = regs.varying[I as usize][r.below(EACH as u32) as usize];
            a.op(Code::BALLOT, d, regs.any(r, B), Reg::NONE, Reg::NONE, 0, 0);
        }
    }
}

/// An op of that shape.
fn put(a: &mut Asm, s: &Shape, d: [Reg; 2], x: [Reg; 5]) {
    let imm = |lo: Reg, hi: Reg| lo.0 as u32 | (hi.0 as u32) << 16;
    if s.results.len() == 2 {
        a.op(s.code, d[0], x[0], d[1], x[1], x[2].0, imm(x[3], x[4]));
    } else if (s.code.0 as usize) < Code::UNPAIRED {
        a.op(s.code, d[0], x[0], x[1], x[2], 0, 0);
    } else {
        a.op(s.code, d[0], x[0], x[1], x[2], x[3].0, imm(x[4], Reg::NONE));
    }
}

/// A program of random ops whose outputs are all its registers but some.
fn program(r: &mut Random, shapes: &[Shape]) -> (Program, Registers, Lab) {
    let mut a = Asm::new(256, [256, 1, 1]);
    let mut regs = Registers { varying: Default::default(), uniform: Default::default(), bools: vec![] };
    for (k, t) in NUMBERS.into_iter().enumerate() {
        regs.varying[k] = (0..EACH).map(|_| if t.is_wide() { a.v64() } else { a.v() }).collect();
        regs.uniform[k] = (0..EACH).map(|_| if t.is_wide() { a.u64() } else { a.u() }).collect();
    }
    regs.bools = (0..EACH).map(|_| a.m()).collect();
    let most = if r.below(4) == 0 { 120 } else { 12 };
    let n = 1 + r.below(most);
    let branches = r.below(2) == 0;
    let quads = r.below(3) == 0;
    let across = r.below(3) == 0;
    for _ in 0..n {
        if branches && r.below(8) == 0 {
            branch(r, shapes, &mut a, &regs, 2);
            continue;
        }
        if r.below(12) == 0 {
            let t = if r.below(2) == 0 { F } else { I };
            let d = regs.varying[t as usize][r.below(EACH as u32) as usize];
            let code = if r.below(2) == 0 { Code::MOVM32 } else { Code::MOVIF32 };
            let (from, mask) =
                (regs.any(r, t), if code == Code::MOVM32 { Reg::NONE } else { regs.any(r, B) });
            a.op(code, d, from, mask, Reg::NONE, 0, 0);
            continue;
        }
        if quads && r.below(4) == 0 {
            let t = if r.below(2) == 0 { F } else { I };
            let d = regs.varying[t as usize][r.below(EACH as u32) as usize];
            a.op(Code::QUAD32, d, regs.any(r, t), Reg::NONE, Reg::NONE, r.below(QUADS) as u16, 0);
            continue;
        }
        if across && r.below(4) == 0 {
            reads_lanes(r, &mut a, &regs);
            continue;
        }
        let s = &shapes[r.below(shapes.len() as u32) as usize];
        let mut x = [Reg::NONE; 5];
        for (x, t) in x.iter_mut().zip(&s.operands) {
            *x = regs.any(r, *t);
        }
        let used = &x[..s.operands.len()];
        let uniform = !s.operands.contains(&B) && used.iter().all(|x| x.is_uniform()) && r.below(2) == 0;
        let mut result = |t: T| match t {
            B => regs.bools[r.below(EACH as u32) as usize],
            _ => {
                let of = if uniform { &regs.uniform } else { &regs.varying };
                of[t as usize][r.below(EACH as u32) as usize]
            }
        };
        let d = result(s.results[0]);
        let arithmetic = (s.code.0 as usize) < Code::UNPAIRED;
        if s.results.len() == 2 {
            let mut e = result(s.results[1]);
            while e == d {
                e = regs.varying[0][r.below(EACH as u32) as usize];
            }
            if uniform {
                continue;
            }
            put(&mut a, s, [d, e], x);
        } else if arithmetic || !uniform {
            put(&mut a, s, [d, Reg::NONE], x);
        }
    }
    let end = a.op(Code::END, Reg::NONE, Reg::NONE, Reg::NONE, Reg::NONE, 0, 0);
    a.p.code.iter_mut().filter(|op| op.code == Code::JOIN).for_each(|op| op.imm = end as u32);
    let all = regs.varying.iter().chain(&regs.uniform).flatten().chain(&regs.bools);
    let mut outputs: Vec<(u16, Reg)> = all.map(|reg| (0, *reg)).collect();
    outputs.retain(|_| r.below(3) > 0);
    a.p.outputs = outputs;
    let mut lab = Lab::new(a.p.units as usize + 32, if r.below(2) == 0 { [0xFFFF; 16] } else { masks(r) });
    if quads && r.below(2) == 0 {
        // All lanes of a quad, or none: compiled code has these.
        for e in &mut lab.exec {
            let any = (*e | *e >> 1 | *e >> 2 | *e >> 3) & 0x1111;
            *e = any * 15;
        }
    }
    for (k, (varying, uniform)) in regs.varying.iter().zip(&regs.uniform).enumerate() {
        let value = |r: &mut Random| match NUMBERS[k] {
            F => float(r).into(),
            D => double(r),
            L => r.u64() >> [0, 20, 40, 59][r.below(4) as usize],
            _ => u64::from(r.u32() >> [0, 20, 27][r.below(3) as usize]),
        };
        for reg in varying.iter().chain(uniform) {
            for l in 0..if reg.is_uniform() { 1 } else { 256 } {
                let v = value(r);
                match (NUMBERS[k].is_wide(), reg.is_uniform()) {
                    (false, false) => lab.set(*reg, l, v as u32),
                    (false, true) => lab.set_u(*reg, v as u32),
                    (true, false) => lab.set64(*reg, l, v),
                    (true, true) => lab.set_u64(*reg, v),
                }
            }
        }
    }
    for reg in &regs.bools {
        lab.regs[reg.unit()] = Unit(std::array::from_fn(|_| r.u32()));
    }
    (a.p, regs, lab)
}

fn same(t: T, a: u64, b: u64) -> bool {
    let nans = |is: fn(u64) -> bool| is(a) && is(b);
    a == b
        || t == F && nans(|x| f32::from_bits(x as u32).is_nan())
        || t == D && nans(|x| f64::from_bits(x).is_nan())
}

/// How many programs each test runs; `TUFF_JIT_PROGRAMS` says otherwise.
fn programs() -> u64 {
    std::env::var("TUFF_JIT_PROGRAMS").ok().and_then(|n| n.parse().ok()).unwrap_or(4000)
}

#[test]
fn random_segments_leave_what_ops_do() {
    let shapes = shapes();
    assert!(shapes.len() > 330, "{}", shapes.len());
    let host = TestHost::default();
    let (mut compiled, mut branches) = (0, 0);
    for level in Level::tested() {
        if level == Level::PORTABLE {
            continue;
        }
        for seed in 0..programs() {
            let mut r = Random::new(seed * 2 + 1);
            (0..4).for_each(|_| {
                r.u64();
            });
            let (p, regs, lab) = program(&mut r, &shapes);
            let Some(c) = wave::jit::compile(&p, level) else { continue };
            (compiled, branches) = (compiled + c.segments, branches + c.branches);
            let (mut a, mut b) = (lab.clone(), lab);
            assert_eq!(a.run_through(level, &p.code, &host), Status::Done);
            let code: &[Op] = shader::bytecode::CompiledCode::code(&c);
            assert_eq!(b.run_through(level, code, &host), Status::Done);
            let outputs = |reg: Reg| p.outputs.iter().any(|o| o.1 == reg);
            let what =
                |reg: Reg| format!("{level:?}, seed {seed}, {reg:?}: {}", shader::bytecode_print::print(&p));
            for (k, t) in NUMBERS.into_iter().enumerate() {
                for reg in regs.varying[k].iter().chain(&regs.uniform[k]).filter(|reg| outputs(**reg)) {
                    // What other lanes hold is nobody's business.
                    let lane = |l: usize| a.exec[l / 16] >> (l % 16) & 1 != 0 || reg.is_uniform() && l < 16;
                    for l in (0..256).filter(|l| lane(*l)) {
                        let get = |lab: &Lab| match t.is_wide() {
                            true => lab.get64(*reg, l),
                            false => lab.get(*reg, l).into(),
                        };
                        let (x, y) = (get(&a), get(&b));
                        assert!(
                            same(t, x, y),
                            "lane {l}: {x:#x} interpreted, {y:#x} compiled, {}",
                            what(*reg)
                        );
                    }
                }
            }
            for reg in regs.bools.iter().filter(|reg| outputs(**reg)) {
                for w in (0..16).filter(|w| a.exec[*w] != 0) {
                    let of =
                        |lab: &Lab| lab.regs[reg.unit()].0[w / 2] >> (w % 2 * 16) as u32 & a.exec[w] as u32;
                    assert_eq!(of(&a), of(&b), "warp {w}, {}", what(*reg));
                }
            }
        }
    }
    println!("{compiled} segments, {branches} branches within");
    assert!(compiled > 0 && branches as u64 > programs() / 4 || Level::tested().len() == 1);
}

/// The first op of a compiled program of eight logarithms and products, each of a register of its own or all of one.
fn logarithms(level: Level, chain: bool) -> Option<Code> {
    let mut a = Asm::new(256, [256, 1, 1]);
    let (by, first) = (a.c(0.25f32.to_bits()), a.v());
    let regs: Vec<Reg> = (0..8).map(|_| if chain { first } else { a.v() }).collect();
    for r in &regs {
        a.op(Code::un(Un::FLog, Ty::B32), *r, *r, Reg::NONE, Reg::NONE, 0, 0);
        a.op(Code::bin(Bin::FMul, Ty::B32), *r, *r, by, Reg::NONE, 0, 0);
    }
    a.op(Code::END, Reg::NONE, Reg::NONE, Reg::NONE, Reg::NONE, 0, 0);
    a.p.outputs = regs.into_iter().map(|r| (0, r)).collect();
    let c = wave::jit::compile(&a.p, level)?;
    Some(shader::bytecode::CompiledCode::code(&c)[0].code)
}

/// A kernel does many warps at a time, so that none waits for its own results; where code has enough to do meanwhile, it keeps values
/// in registers.
#[test]
fn functions_are_compiled_unless_all_wait_for_each_other() {
    for level in Level::tested().into_iter().filter(|l| *l != Level::PORTABLE) {
        assert_eq!(logarithms(level, false), Some(Code::SEGMENT), "{level:?}");
        // Products alone are no segments.
        let alone = logarithms(level, true).unwrap_or(Code::un(Un::FLog, Ty::B32));
        assert_eq!(alone, Code::un(Un::FLog, Ty::B32), "{level:?}");
    }
}

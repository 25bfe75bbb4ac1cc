//! Runs bytecode on a wave, one lane at a time, with the register file's layout as documented. Ops without side
//! effects put rubbish into inactive lanes of live warps, as they may.

use super::{LANE_BYTES, TABLE_BINDING, TABLE_WORDS, table_word};
use random::Random;
use shader::bytecode::*;
use shader::eval;
use shader::ir::*;

const UNS: &[Un] = &[
    Un::Mov,
    Un::FNeg,
    Un::FAbs,
    Un::INeg,
    Un::IAbs,
    Un::Not,
    Un::BitCount,
    Un::U32ToU64,
    Un::S32ToS64,
    Un::Lo32,
    Un::Hi32,
    Un::BoolToInt,
    Un::IntToBool,
    Un::BNot,
    Un::U32ToF32,
    Un::F32ToU32,
];
const BINS: &[Bin] = &[
    Bin::FAdd,
    Bin::FSub,
    Bin::FMul,
    Bin::FDiv,
    Bin::FMin,
    Bin::FMax,
    Bin::FEq,
    Bin::FNe,
    Bin::FLt,
    Bin::FLe,
    Bin::IAdd,
    Bin::ISub,
    Bin::IMul,
    Bin::UDiv,
    Bin::URem,
    Bin::And,
    Bin::Or,
    Bin::Xor,
    Bin::Shl,
    Bin::LShr,
    Bin::AShr,
    Bin::SMin,
    Bin::SMax,
    Bin::UMin,
    Bin::UMax,
    Bin::IEq,
    Bin::INe,
    Bin::SLt,
    Bin::SLe,
    Bin::ULt,
    Bin::ULe,
    Bin::Pack64,
    Bin::BAnd,
    Bin::BOr,
    Bin::BXor,
];
const TRIS: &[Tri] = &[Tri::Fma, Tri::Select, Tri::BitSelect];

#[derive(Clone, Copy)]
enum Alu {
    Un(Un, Ty),
    Bin(Bin, Ty),
    Tri(Tri, Ty),
}

fn alu(code: Code) -> Option<Alu> {
    for ty in [Ty::B32, Ty::B64, Ty::Bool] {
        if let Some(op) = UNS.iter().find(|op| Code::un(**op, ty) == code) {
            return Some(Alu::Un(*op, ty));
        }
        if let Some(op) = BINS.iter().find(|op| Code::bin(**op, ty) == code) {
            return Some(Alu::Bin(*op, ty));
        }
        if let Some(op) = TRIS.iter().find(|op| Code::tri(**op, ty) == code) {
            return Some(Alu::Tri(*op, ty));
        }
    }
    None
}

/// Types of an operation's operands and result, for the layout of its registers.
fn types(op: Alu) -> (Vec<Ty>, Ty) {
    use Ty::*;
    match op {
        Alu::Un(Un::BoolToInt, _) => (vec![Bool], B32),
        Alu::Un(Un::IntToBool, t) => (vec![t], Bool),
        Alu::Un(Un::BNot, _) => (vec![Bool], Bool),
        Alu::Un(Un::U32ToU64 | Un::S32ToS64, _) => (vec![B32], B64),
        Alu::Un(Un::Lo32 | Un::Hi32, _) => (vec![B64], B32),
        Alu::Un(_, t) => (vec![t], t),
        Alu::Bin(Bin::BAnd | Bin::BOr | Bin::BXor, _) => (vec![Bool, Bool], Bool),
        Alu::Bin(Bin::Pack64, _) => (vec![B32, B32], B64),
        Alu::Bin(Bin::Shl | Bin::LShr | Bin::AShr, t) => (vec![t, B32], t),
        Alu::Bin(op, t) if is_compare(op) => (vec![t, t], Bool),
        Alu::Bin(_, t) => (vec![t, t], t),
        Alu::Tri(Tri::Select, t) => (vec![Bool, t, t], t),
        Alu::Tri(_, t) => (vec![t, t, t], t),
    }
}

fn is_compare(op: Bin) -> bool {
    use Bin::*;
    matches!(op, FEq | FNe | FLt | FLe | IEq | INe | SLt | SLe | ULt | ULe)
}

pub struct Wave<'a> {
    program: &'a Program,
    file: Vec<u8>,
    exec: Vec<bool>,
    rng: Random,
    lanes: usize,
    pub ops: u64,
    /// Warps and lanes that passed each counter.
    pub tally: Vec<[u64; 2]>,
}

type Mask = Vec<bool>;

impl<'a> Wave<'a> {
    pub fn new(program: &'a Program, seed: u64) -> Wave<'a> {
        let mut rng = Random::new(seed);
        let file = (0..program.units as usize * UNIT_BYTES).map(|_| rng.u32() as u8).collect();
        let lanes = program.lanes as usize;
        Wave {
            program,
            file,
            exec: vec![false; lanes],
            rng,
            lanes,
            ops: 0,
            tally: vec![[0; 2]; program.profile.counters.len()],
        }
    }

    fn at(&self, r: Reg, ty: Ty, lane: usize) -> usize {
        assert!(!r.is_none(), "a register is missing");
        let base = r.unit() * UNIT_BYTES;
        let i = if r.is_uniform() { lane % 16 } else { lane };
        base + match ty {
            Ty::Bool => lane / 16 * 2,
            Ty::B64 => i * 8,
            _ => i * 4,
        }
    }
    fn get(&self, r: Reg, ty: Ty, lane: usize) -> u64 {
        let at = self.at(r, ty, lane);
        match ty {
            Ty::Bool => {
                u16::from_le_bytes(self.file[at..at + 2].try_into().unwrap()) as u64 >> (lane % 16) & 1
            }
            Ty::B64 => u64::from_le_bytes(self.file[at..at + 8].try_into().unwrap()),
            _ => u32::from_le_bytes(self.file[at..at + 4].try_into().unwrap()) as u64,
        }
    }
    fn set(&mut self, r: Reg, ty: Ty, lane: usize, x: u64) {
        let at = self.at(r, ty, lane);
        match ty {
            Ty::Bool => {
                let old = u16::from_le_bytes(self.file[at..at + 2].try_into().unwrap());
                let new = old & !(1 << (lane % 16)) | (x as u16 & 1) << (lane % 16);
                self.file[at..at + 2].copy_from_slice(&new.to_le_bytes());
            }
            Ty::B64 => self.file[at..at + 8].copy_from_slice(&x.to_le_bytes()),
            _ => self.file[at..at + 4].copy_from_slice(&(x as u32).to_le_bytes()),
        }
    }
    fn mask(&self, r: Reg) -> Mask {
        (0..self.lanes).map(|l| self.get(r, Ty::Bool, l) == 1).collect()
    }
    fn set_mask(&mut self, r: Reg, m: &Mask) {
        for (l, x) in m.iter().enumerate() {
            self.set(r, Ty::Bool, l, *x as u64);
        }
    }

    /// Writes what an unmasked op computes; `f(lane)` for uniform destinations is asked once.
    fn write(&mut self, d: Reg, ty: Ty, f: impl Fn(&Wave, usize) -> u64) {
        if d.is_uniform() {
            let lane = self.exec.iter().position(|e| *e).expect("exec is empty");
            let x = f(self, lane);
            let n = if ty == Ty::Bool { 256 } else { 16 };
            (0..n).for_each(|l| self.set(d, ty, l, x));
            return;
        }
        for l in 0..self.lanes {
            if self.exec[l] {
                let x = f(self, l);
                self.set(d, ty, l, x);
            }
        }
        for warp in 0..self.lanes / 16 {
            if self.exec[warp * 16..warp * 16 + 16].contains(&true) {
                for l in warp * 16..warp * 16 + 16 {
                    if !self.exec[l] {
                        let x = (self.rng.u32() as u64).wrapping_mul(0x1_0001_0001);
                        self.set(d, ty, l, x);
                    }
                }
            }
        }
    }

    fn alu(&mut self, op: &Op, alu: Alu) {
        let (from, to) = types(alu);
        let regs = [op.a, op.b, op.c];
        let live = self.file.clone();
        let old = std::mem::replace(&mut self.file, live);
        if op.d.is_uniform() {
            for (r, ty) in regs.iter().zip(&from) {
                assert!(r.is_uniform() || *ty == Ty::Bool, "uniform from varying: {op:?}");
            }
        }
        // Kernels go warp by warp; sources as they were before the op unless in place, which is the same lane.
        let this = Wave {
            program: self.program,
            file: old,
            exec: vec![],
            rng: Random::new(0),
            lanes: self.lanes,
            ops: 0,
            tally: vec![],
        };
        self.write(op.d, to, |_, l| {
            let x: Vec<u64> = regs.iter().zip(&from).map(|(r, ty)| this.get(*r, *ty, l)).collect();
            match alu {
                Alu::Un(op, ty) => eval::un(op, ty, x[0]).unwrap(),
                Alu::Bin(op, ty) => eval::bin(op, ty, x[0], x[1]).unwrap(),
                Alu::Tri(op, ty) => eval::tri(op, ty, x[0], x[1], x[2]).unwrap(),
            }
        });
    }

    /// Several ops as one, with their results.
    fn joined(&mut self, op: &Op, operands: &[Reg], results: &[(Reg, &dyn Fn(&[u64]) -> u64)]) {
        let this = Wave {
            program: self.program,
            file: self.file.clone(),
            exec: vec![],
            rng: Random::new(0),
            lanes: self.lanes,
            ops: 0,
            tally: vec![],
        };
        for (d, f) in results {
            assert!(!d.is_uniform(), "{op:?}");
            self.write(*d, Ty::B32, |_, l| {
                let x: Vec<u64> = operands.iter().map(|r| this.get(*r, Ty::B32, l)).collect();
                f(&x)
            });
        }
    }

    fn pair(&mut self, op: &Op, pair: &shader::pairs::Pair) {
        let regs = [op.a, op.b, op.c, Reg(op.e), Reg(op.imm as u16)];
        self.joined(op, &regs[..pair.operands as usize], &[(op.d, &|x| value(op.code, x))]);
    }

    fn twin(&mut self, op: &Op, twin: &shader::twins::Twin) {
        let regs = [op.a, op.c, Reg(op.e), Reg(op.imm as u16), Reg((op.imm >> 16) as u16)];
        let part = |k: usize, x: &[u64]| {
            let x: Vec<u64> = twin.reads[k].iter().map(|i| x[*i as usize]).collect();
            value(twin.codes()[k], &x)
        };
        let results: [(Reg, &dyn Fn(&[u64]) -> u64); 2] = [(op.d, &|x| part(0, x)), (op.b, &|x| part(1, x))];
        self.joined(op, &regs[..twin.operands()], &results);
    }

    fn compare(&self, op: &Op, l: usize) -> bool {
        let cmp = BINS.iter().find(|b| **b as u16 == op.e & 0xFF).unwrap();
        let get = |r: Reg| self.get(r, Ty::B32, l);
        let a = get(op.a);
        let b = match Before::of(op.e) {
            Before::Nothing => get(op.b),
            Before::FAdd => eval::bin(Bin::FAdd, Ty::B32, get(op.b), get(op.c)).unwrap(),
            Before::FSub => eval::bin(Bin::FSub, Ty::B32, get(op.b), get(op.c)).unwrap(),
            Before::FMul => eval::bin(Bin::FMul, Ty::B32, get(op.b), get(op.c)).unwrap(),
            Before::FSumSquares => eval::bin(Bin::FSumSquares, Ty::B32, get(op.b), get(op.c)).unwrap(),
            Before::Fma => eval::tri(Tri::Fma, Ty::B32, get(op.b), get(op.c), get(op.d)).unwrap(),
        };
        let (a, b) = if op.e & BEFORE_LEFT != 0 { (b, a) } else { (a, b) };
        let x = eval::bin(*cmp, Ty::B32, a, b).unwrap();
        (x == 1) != (op.e & 0x100 != 0)
    }

    fn address(&self, op: &Op, l: usize) -> u32 {
        let part = |r: Reg| if r.is_none() { 0 } else { self.get(r, Ty::B32, l) as u32 };
        assert!(op.c.is_none() || op.c.is_uniform(), "the second addend is uniform");
        part(op.a).wrapping_add(part(op.c)).wrapping_add(op.imm)
    }

    /// Runs the program. `active` lanes start; `input(lane, input)`; `memory`: the output buffer.
    pub fn run(&mut self, active: &Mask, input: impl Fn(usize, Input) -> u32, memory: &mut [u8]) {
        for (r, ty, bits) in self.program.consts.clone() {
            assert!(r.is_uniform());
            (0..if ty == Ty::Bool { 256 } else { 16 }).for_each(|l| self.set(r, ty, l, bits));
        }
        self.exec = vec![true; self.lanes];
        self.go(0, self.program.prologue as usize, memory);
        for (what, r) in self.program.inputs.clone() {
            for l in 0..if r.is_uniform() { 16 } else { self.lanes } {
                let x = input(l, what);
                self.set(r, Ty::B32, l, x as u64);
            }
        }
        self.exec = active.clone();
        self.go(self.program.prologue as usize, usize::MAX, memory);
    }

    fn count(&mut self, counter: usize) {
        if counter != 0 {
            let t = &mut self.tally[counter];
            t[0] += self.exec.chunks(16).filter(|w| w.contains(&true)).count() as u64;
            t[1] += self.exec.iter().filter(|l| **l).count() as u64;
        }
    }

    fn go(&mut self, mut pc: usize, stop: usize, memory: &mut [u8]) {
        let code = &self.program.code;
        while pc != stop {
            let op = code[pc];
            self.ops += 1;
            assert!(self.ops < 3_000_000, "the wave does not end");
            pc += 1;
            let target = op.imm as usize;
            let some = self.exec.contains(&true);
            if ![Code::END, Code::JOIN, Code::SETEXEC].contains(&op.code) {
                assert!(some, "op {} {op:?} with empty exec", pc - 1);
            }
            let exec = self.exec.clone();
            let and = |a: &Mask, b: &Mask| -> Mask { a.iter().zip(b).map(|(x, y)| *x && *y).collect() };
            let andn = |a: &Mask, b: &Mask| -> Mask { a.iter().zip(b).map(|(x, y)| *x && !*y).collect() };
            let or = |a: &Mask, b: &Mask| -> Mask { a.iter().zip(b).map(|(x, y)| *x || *y).collect() };
            match op.code.unfused() {
                Code::END => return,
                Code::JMP => pc = target,
                Code::TALLY => self.count(op.imm as usize),
                Code::LOOP => {
                    assert!(op.a.is_none());
                    self.count(op.e as usize);
                    pc = target;
                }
                Code::LOOP_NEXT => {
                    assert!(op.d.is_uniform() && op.a.is_uniform() && op.b.is_uniform());
                    let x = self.get(op.a, Ty::B32, 0) as u32;
                    let x = x.wrapping_add(self.get(op.b, Ty::B32, 0) as u32);
                    self.write(op.d, Ty::B32, |_, _| x as u64);
                    assert_eq!(code[target].code, Code::CMP_JMP);
                    self.count(op.e as usize);
                    pc = target;
                }
                Code::JMP_UNLESS | Code::JMP_IF | Code::CMP_JMP => {
                    let m: Vec<bool> = (0..self.lanes)
                        .filter(|l| exec[*l])
                        .map(|l| match op.code {
                            Code::CMP_JMP => self.compare(&op, l),
                            _ => self.get(op.a, Ty::Bool, l) == 1,
                        })
                        .collect();
                    assert!(m.iter().all(|x| *x == m[0]), "a jump that lanes disagree on");
                    if m[0] != (op.code == Code::JMP_UNLESS) {
                        pc = target;
                    }
                }
                Code::SPLIT | Code::CMP_SPLIT | Code::SPLIT_RARE | Code::CMP_SPLIT_RARE => {
                    let fused = matches!(op.code.unfused(), Code::CMP_SPLIT | Code::CMP_SPLIT_RARE);
                    let (cond, d, b): (Mask, Reg, Reg) = if fused {
                        let ext = code[pc].regs();
                        pc += 1;
                        ((0..self.lanes).map(|l| self.compare(&op, l)).collect(), ext[0], ext[1])
                    } else {
                        (self.mask(op.a), op.d, op.b)
                    };
                    let (yes, no) = (and(&exec, &cond), andn(&exec, &cond));
                    let none = !yes.contains(&true);
                    let rare = matches!(op.code.unfused(), Code::SPLIT_RARE | Code::CMP_SPLIT_RARE);
                    if !(none && rare) {
                        self.set_mask(d, &yes);
                        self.set_mask(b, &no);
                        self.exec = yes;
                    }
                    if none {
                        pc = target;
                    }
                }
                Code::PARK_IF | Code::CMP_PARK => {
                    let (cond, b): (Mask, Reg) = if op.code.unfused() == Code::CMP_PARK {
                        let ext = code[pc].regs();
                        pc += 1;
                        ((0..self.lanes).map(|l| self.compare(&op, l)).collect(), ext[0])
                    } else {
                        (self.mask(op.a), op.b)
                    };
                    let gone = and(&exec, &cond);
                    let waiting = or(&self.mask(b), &gone);
                    self.set_mask(b, &waiting);
                    self.exec = andn(&exec, &cond);
                    if !self.exec.contains(&true) {
                        pc = target;
                    }
                }
                Code::PARK => {
                    let waiting = or(&self.mask(op.d), &exec);
                    self.set_mask(op.d, &waiting);
                    self.exec = vec![false; self.lanes];
                    pc = target;
                }
                Code::SETEXEC | Code::JOIN => {
                    let m = self.mask(op.a);
                    self.exec = if op.code == Code::JOIN { or(&m, &exec) } else { m };
                    if !self.exec.contains(&true) {
                        pc = target;
                    }
                }
                Code::MASK_CLEAR => self.set_mask(op.d, &vec![false; self.lanes]),
                Code::MOVM32 | Code::MOVM64 | Code::MOVMB => {
                    let ty = [Ty::B32, Ty::B64, Ty::Bool][(op.code.0 - Code::MOVM32.0) as usize];
                    for l in (0..self.lanes).filter(|l| exec[*l]) {
                        let x = self.get(op.a, ty, l);
                        self.set(op.d, ty, l, x);
                    }
                }
                Code::DESC => {
                    assert_eq!(self.get(op.a, Ty::B32, 0), 0);
                    let binding = op.imm as u64 / 32;
                    pc += 1;
                    self.write(op.d, Ty::B64, |_, _| 0x1000 + binding);
                }
                Code::LD_BUF => {
                    let n = n_of(op.e);
                    let mut d = vec![op.d];
                    if n > 1 {
                        d = code[pc..pc + n.div_ceil(8)].iter().flat_map(|e| e.regs()).take(n).collect();
                        pc += n.div_ceil(8);
                    }
                    let before = Wave {
                        program: self.program,
                        file: self.file.clone(),
                        exec: vec![],
                        rng: Random::new(0),
                        lanes: self.lanes,
                        ops: 0,
                        tally: vec![],
                    };
                    for (k, d) in d.into_iter().enumerate() {
                        self.write(d, Ty::B32, |_, l| {
                            let a = before.address(&op, l).wrapping_add(4 * k as u32);
                            if before.get(op.b, Ty::B64, l) == 0x1000 + TABLE_BINDING as u64 {
                                if a / 4 < TABLE_WORDS { table_word(a / 4) as u64 } else { 0 }
                            } else {
                                let a = a as usize;
                                u32::from_le_bytes(memory[a..a + 4].try_into().unwrap()) as u64
                            }
                        });
                    }
                }
                Code::ST_BUF => {
                    let n = n_of(op.e);
                    let mut d = vec![op.d];
                    if n > 1 {
                        d = code[pc..pc + n.div_ceil(8)].iter().flat_map(|e| e.regs()).take(n).collect();
                        pc += n.div_ceil(8);
                    }
                    for l in (0..self.lanes).filter(|l| exec[*l]) {
                        for (k, d) in d.iter().enumerate() {
                            let a = self.address(&op, l) as usize + 4 * k;
                            memory[a..a + 4]
                                .copy_from_slice(&(self.get(*d, Ty::B32, l) as u32).to_le_bytes());
                        }
                    }
                }
                other if shader::pairs::of(other).is_some() => {
                    self.pair(&op, shader::pairs::of(other).unwrap());
                }
                other if shader::twins::of(other).is_some() => {
                    self.twin(&op, shader::twins::of(other).unwrap());
                }
                other => match alu(other) {
                    Some(a) => self.alu(&op, a),
                    None => panic!("op {op:?}"),
                },
            }
        }
    }
}

/// Result of an op of 32 bits or a pair: of a pair the first op's result is an operand of the second.
fn value(code: Code, x: &[u64]) -> u64 {
    if let Some(pair) = shader::pairs::of(code) {
        let (own, rest) = x.split_at(pair.split as usize);
        let mut all = rest.to_vec();
        all.insert(pair.at as usize, value(pair.first, own));
        return value(pair.second, &all);
    }
    match alu(code).unwrap() {
        Alu::Un(op, ty) => eval::un(op, ty, x[0]).unwrap(),
        Alu::Bin(op, ty) => eval::bin(op, ty, x[0], x[1]).unwrap(),
        Alu::Tri(op, ty) => eval::tri(op, ty, x[0], x[1], x[2]).unwrap(),
    }
}

/// What [`run_groups`] gives: the output buffer, ops executed, and counts by counter.
pub type Ran = (Vec<u8>, u64, Vec<[u64; 2]>);

/// Runs whole workgroups.
pub fn run_groups(program: &Program, groups: u32, seed: u64) -> Ran {
    let size: u32 = program.workgroup.iter().product();
    let warps = size.div_ceil(16);
    let mut memory = vec![0u8; (groups * size * LANE_BYTES) as usize];
    let per_wave = if program.packed { program.lanes / 16 / warps } else { 1 };
    let waves = if program.multi_wave { (warps * 16).div_ceil(program.lanes) } else { 1 };
    let mut ops = 0;
    let mut tally = vec![[0; 2]; program.profile.counters.len()];
    let mut first = 0;
    while first < groups {
        for wave in 0..waves {
            let place = |l: usize| -> Option<(u32, u32)> {
                let l = l as u32;
                let (g, i) = if program.packed {
                    (l / 16 / warps, l % (warps * 16))
                } else {
                    (0, l + wave * program.lanes)
                };
                (g < per_wave && first + g < groups && i < size).then_some((first + g, i))
            };
            let active: Mask = (0..program.lanes as usize).map(|l| place(l).is_some()).collect();
            let mut w = Wave::new(program, seed ^ wave as u64);
            let input = |l: usize, what: Input| {
                let (g, i) = place(l).unwrap_or((first, 12345));
                let [x, y, _] = program.workgroup;
                match what {
                    Input::LocalIndex => i,
                    Input::LocalId(0) => i % x,
                    Input::LocalId(1) => i / x % y,
                    Input::LocalId(_) => i / x / y,
                    Input::WorkgroupId(0) => g,
                    Input::WorkgroupId(_) => 0,
                    Input::NumWorkgroups(_) => 7,
                    other => panic!("input {other:?}"),
                }
            };
            w.run(&active, input, &mut memory);
            ops += w.ops;
            tally.iter_mut().zip(&w.tally).for_each(|(a, b)| (0..2).for_each(|k| a[k] += b[k]));
        }
        first += per_wave;
    }
    (memory, ops, tally)
}

//! Random structured programs, written straight as IR.
//!
//! Every mutable variable gets a phi at every join, needed or not. Each invocation writes only its own bytes.

use super::{LANE_BYTES, TABLE_BINDING, TABLE_WORDS};
use random::Random;
use shader::ir::*;

const INTS: usize = 4;
/// Variables: four B32, one B64 (or a float), one Bool, and the counters of the loops around.
type Env = Vec<Value>;

pub struct Generator {
    pub rng: Random,
    shader: Shader,
    /// Block being filled; `None` after a jump.
    open: Option<u32>,
    /// Per label: edges that lead to it (block, successor of a branch, variables).
    labels: Vec<Vec<(u32, u8, Env)>>,
    env: Env,
    budget: i32,
    /// Loops compute on words alone, floats among them, and store nothing.
    words: bool,
    /// They load from the workgroup's memory, too.
    shared: bool,
    /// They load several scalars a lane, and halves of words, too.
    parts: bool,
    own: Value,
    out: Value,
    table: Value,
    local: Value,
    group: Value,
}

#[derive(Clone, Copy)]
struct LoopLabels {
    next: usize,
    merge: usize,
}

impl Generator {
    pub fn new(seed: u64, workgroup: [u32; 3]) -> Generator {
        let shader = Shader { workgroup, ..Shader::empty() };
        let none = Value(0);
        Generator {
            rng: Random::new(seed),
            shader,
            open: None,
            labels: vec![],
            env: vec![],
            budget: 3 + (seed % 40) as i32,
            words: false,
            shared: false,
            parts: false,
            own: none,
            out: none,
            table: none,
            local: none,
            group: none,
        }
    }

    /// As [`Generator::new`], of programs whose loops compute on words alone and store nothing.
    #[allow(dead_code, reason = "the engine's tests use it")]
    pub fn words(seed: u64, workgroup: [u32; 3]) -> Generator {
        Generator { words: true, ..Generator::new(seed, workgroup) }
    }

    /// As [`Generator::words`], of programs that load from their workgroups' memory.
    #[allow(dead_code, reason = "the engine's tests use it")]
    pub fn shared(seed: u64, workgroup: [u32; 3]) -> Generator {
        Generator { shared: true, ..Generator::words(seed, workgroup) }
    }

    /// As [`Generator::words`], of programs that load several scalars a lane, and halves of words.
    #[allow(dead_code, reason = "the engine's tests use it")]
    pub fn parts(seed: u64, workgroup: [u32; 3]) -> Generator {
        Generator { parts: true, ..Generator::words(seed, workgroup) }
    }

    fn value(&mut self, ty: Ty, inst: Inst) -> Value {
        let v = Value(self.shader.values.len() as u32);
        self.shader.values.push(ValueData { inst, ty, flags: ValueFlags::default() });
        let b = self.open.expect("an open block") as usize;
        self.shader.blocks[b].insts.push(v);
        v
    }
    fn int(&mut self, x: u32) -> Value {
        self.value(Ty::B32, Inst::Const(x as u64))
    }
    fn bin(&mut self, op: Bin, a: Value, b: Value) -> Value {
        use Bin::*;
        let ty = if matches!(op, FEq | FNe | FLt | FLe | IEq | INe | SLt | SLe | ULt | ULe) {
            Ty::Bool
        } else {
            self.shader.ty(a)
        };
        self.value(ty, Inst::Bin(op, a, b))
    }
    fn block(&mut self) -> u32 {
        let b = self.shader.blocks.len() as u32;
        self.shader.blocks.push(BlockData {
            insts: vec![],
            term: Term::Return,
            merge: Merge::None,
            origin: Origin::default(),
        });
        self.open = Some(b);
        b
    }
    fn label(&mut self) -> usize {
        self.labels.push(vec![]);
        self.labels.len() - 1
    }
    fn jump(&mut self, label: usize) {
        if let Some(b) = self.open.take() {
            self.shader.blocks[b as usize].term = Term::Jump(Block(u32::MAX));
            self.labels[label].push((b, 0, self.env.clone()));
        }
    }
    fn branch(&mut self, cond: Value, yes: usize, no: usize) {
        let b = self.open.take().unwrap();
        let none = Block(u32::MAX);
        self.shader.blocks[b as usize].term = Term::Branch { cond, yes: none, no: none };
        self.labels[yes].push((b, 0, self.env.clone()));
        self.labels[no].push((b, 1, self.env.clone()));
    }
    fn aim(&mut self, from: u32, k: u8, to: u32) {
        match &mut self.shader.blocks[from as usize].term {
            Term::Jump(t) => *t = Block(to),
            Term::Branch { yes, no, .. } => *(if k == 0 { yes } else { no }) = Block(to),
            Term::Return => unreachable!(),
        }
    }
    /// Opens the label's block, if anything leads there.
    fn start(&mut self, label: usize) -> bool {
        let edges = std::mem::take(&mut self.labels[label]);
        if edges.is_empty() {
            return false;
        }
        let b = self.block();
        for (from, k, _) in &edges {
            self.aim(*from, *k, b);
        }
        let n = edges.iter().map(|e| e.2.len()).min().unwrap();
        self.env = edges[0].2[..n].to_vec();
        if edges.len() > 1 {
            for i in 0..n {
                // Both ways of one branch may lead here: one entry.
                let mut sources: Vec<(Block, Value)> = edges.iter().map(|e| (Block(e.0), e.2[i])).collect();
                sources.dedup_by_key(|s| s.0);
                let ty = self.shader.ty(sources[0].1);
                self.env[i] = self.value(ty, Inst::Phi(sources));
            }
        }
        true
    }

    fn any_int(&mut self) -> Value {
        match self.rng.below(12) {
            0 => self.local,
            1 => self.group,
            2 => {
                let x = self.rng.below(9);
                self.int(x)
            }
            3 => {
                let x = self.rng.u32();
                self.int(x)
            }
            4 if self.env.len() > INTS + 2 => {
                self.env[INTS + 2 + self.rng.below((self.env.len() - INTS - 2) as u32) as usize]
            }
            5 if self.words => {
                let float = self.env[INTS];
                self.value(Ty::B32, Inst::Un(Un::F32ToS32, float))
            }
            5 => {
                let wide = self.env[INTS];
                let op = if self.rng.chance(50) { Un::Lo32 } else { Un::Hi32 };
                self.value(Ty::B32, Inst::Un(op, wide))
            }
            _ => self.env[self.rng.below(INTS as u32) as usize],
        }
    }

    fn expression(&mut self) -> Value {
        let (a, b) = (self.any_int(), self.any_int());
        let ops = [
            Bin::IAdd,
            Bin::ISub,
            Bin::IMul,
            Bin::Xor,
            Bin::And,
            Bin::Shl,
            Bin::SMin,
            Bin::UMax,
            Bin::Or,
            Bin::LShr,
        ];
        if self.shared && self.rng.chance(25) {
            return self.load_workgroup();
        }
        if self.parts && self.rng.chance(25) {
            return self.load_parts();
        }
        match self.rng.below(15) {
            0 => {
                let mask = self.int(TABLE_WORDS - 1);
                let i = self.bin(Bin::And, a, mask);
                let two = self.int(2);
                let addr = self.bin(Bin::Shl, i, two);
                let place = Place::Buffer { desc: self.table, addr };
                let flags = MemFlags { read_only: true, volatile: false };
                if self.rng.chance(30) {
                    let t =
                        self.value(Ty::Tuple, Inst::Load { place, offset: 4, mem: Mem::B32, n: 2, flags });
                    let (x, y) =
                        (self.value(Ty::B32, Inst::Part(t, 0)), self.value(Ty::B32, Inst::Part(t, 1)));
                    self.bin(Bin::Xor, x, y)
                } else {
                    self.value(Ty::B32, Inst::Load { place, offset: 0, mem: Mem::B32, n: 1, flags })
                }
            }
            1 => {
                let place = Place::Buffer { desc: self.out, addr: self.own };
                let offset = 4 * self.rng.below(LANE_BYTES / 4);
                self.value(
                    Ty::B32,
                    Inst::Load { place, offset, mem: Mem::B32, n: 1, flags: MemFlags::default() },
                )
            }
            2 => {
                let c = self.condition();
                self.value(Ty::B32, Inst::Tri(Tri::Select, c, a, b))
            }
            4 => {
                // Row and column, as matrices are read; mostly outside the table, which gives 0.
                let row = self.rng.below(3);
                let row = self.int(row);
                let eight = self.int(8);
                let x = self.bin(Bin::IMul, self.local, row);
                let counter = *self.env.last().unwrap();
                let y = if self.shader.ty(counter) == Ty::B32 {
                    self.bin(Bin::IMul, counter, eight)
                } else {
                    self.group
                };
                let sum = self.bin(Bin::IAdd, x, y);
                let c = self.rng.below(6);
                let c = self.int(c);
                let sum = if self.rng.chance(30) {
                    self.bin(Bin::ISub, sum, c)
                } else {
                    self.bin(Bin::IAdd, c, sum)
                };
                let four = self.int(4);
                let addr = self.bin(Bin::IMul, sum, four);
                let place = Place::Buffer { desc: self.table, addr };
                let flags = MemFlags { read_only: true, volatile: false };
                self.value(Ty::B32, Inst::Load { place, offset: 4, mem: Mem::B32, n: 1, flags })
            }
            3 => {
                let c = self.condition();
                self.value(Ty::B32, Inst::Un(Un::BoolToInt, c))
            }
            n => {
                let op = ops[(n as usize * 7 + self.rng.below(10) as usize) % ops.len()];
                self.bin(op, a, b)
            }
        }
    }

    /// Scalars that lie next to each other in the table, by one load or by several.
    fn load_parts(&mut self) -> Value {
        let mem = [Mem::B32, Mem::F16, Mem::U16][self.rng.below(3) as usize];
        let all = if mem == Mem::B32 { [2, 3, 4, 4] } else { [1, 2, 4, 4] }[self.rng.below(4) as usize];
        let bytes = all as u32 * mem.bytes();
        let counter = *self.env.last().expect("there are variables");
        let index = match self.rng.below(8) {
            // Each lane's after those of the lane before.
            0..3 => self.local,
            3 | 4 if self.shader.ty(counter) == Ty::B32 => self.bin(Bin::IAdd, self.local, counter),
            5 => {
                let one = self.int(1);
                self.bin(Bin::Xor, self.local, one)
            }
            6 => self.any_int(),
            _ => {
                let (x, mask) = (self.any_int(), self.int(127));
                self.bin(Bin::And, x, mask)
            }
        };
        let apart = if self.rng.chance(80) { bytes } else { 2 * self.rng.below(12) };
        let apart = self.int(apart);
        let mut addr = self.bin(Bin::IMul, index, apart);
        if self.rng.chance(40) {
            // The first scalars of some lanes lie before the table, the last ones in it.
            let c = mem.bytes() * self.rng.below(6);
            let c = self.int(c);
            addr = self.bin(Bin::ISub, addr, c);
        }
        let place = Place::Buffer { desc: self.table, addr };
        let flags = MemFlags { read_only: true, volatile: false };
        let offset = if self.rng.chance(50) { 0 } else { 2 * self.rng.below(20) };
        let mut x = self.int(0);
        let n = if self.rng.chance(50) { all } else { 1 };
        for i in 0..all / n {
            let offset = offset + i as u32 * mem.bytes();
            let load = Inst::Load { place, offset, mem, n, flags };
            let t = self.value(if n == 1 { Ty::B32 } else { Ty::Tuple }, load);
            for k in 0..n {
                let y = if n == 1 { t } else { self.value(Ty::B32, Inst::Part(t, k.into())) };
                if self.rng.chance(90) {
                    let three = self.int(3);
                    let moved = self.bin(Bin::IMul, x, three);
                    x = self.bin(Bin::IAdd, moved, y);
                }
            }
        }
        x
    }

    /// A word of the workgroup's memory, or some.
    fn load_workgroup(&mut self) -> Value {
        let four = self.int(4);
        let index = match self.rng.below(4) {
            // Of all lanes the same.
            0 => {
                let counter = *self.env.last().expect("there are variables");
                if self.shader.ty(counter) == Ty::B32 { counter } else { four }
            }
            // Side by side.
            1 => self.local,
            _ => {
                let (x, mask) = (self.any_int(), self.int(127));
                self.bin(Bin::And, x, mask)
            }
        };
        let addr = self.bin(Bin::IMul, index, four);
        let (place, offset) = (Place::Shared { addr }, 4 * self.rng.below(4));
        let load = |n| Inst::Load { place, offset, mem: Mem::B32, n, flags: MemFlags::default() };
        if self.rng.chance(70) {
            return self.value(Ty::B32, load(1));
        }
        let t = self.value(Ty::Tuple, load(4));
        let (x, y) = (self.value(Ty::B32, Inst::Part(t, 1)), self.value(Ty::B32, Inst::Part(t, 3)));
        self.bin(Bin::Xor, x, y)
    }

    /// Each lane's word of the workgroup's memory becomes `x`.
    fn store_workgroup(&mut self, x: Value) {
        let two = self.int(2);
        let addr = self.bin(Bin::Shl, self.local, two);
        let place = Place::Shared { addr };
        let flags = MemFlags::default();
        self.value(Ty::Void, Inst::Store { place, offset: 0, mem: Mem::B32, values: vec![x].into(), flags });
    }

    /// The float variable's next value.
    fn float(&mut self) -> Value {
        let x = self.any_int();
        let mut x = self.value(Ty::B32, Inst::Un(Un::S32ToF32, x));
        if self.rng.chance(60) {
            let small = self.int(0.001f32.to_bits());
            x = self.bin(Bin::FMul, x, small);
        }
        let old = self.env[INTS];
        match self.rng.below(10) {
            0 => self.value(Ty::B32, Inst::Un(Un::FSqrt, x)),
            1 => self.value(Ty::B32, Inst::Un(Un::FRsqrt, x)),
            2 => self.value(Ty::B32, Inst::Un(Un::FSin, x)),
            3 => self.value(Ty::B32, Inst::Un(Un::FExp, x)),
            4 => self.bin(Bin::FMin, old, x),
            5 => self.bin(Bin::FMul, old, x),
            6 | 7 => {
                let y = self.env[0];
                let y = self.value(Ty::B32, Inst::Un(Un::U32ToF32, y));
                self.value(Ty::B32, Inst::Tri(Tri::Fma, x, y, old))
            }
            _ => self.bin(Bin::FAdd, old, x),
        }
    }

    fn condition(&mut self) -> Value {
        let one = self.int(1);
        match self.rng.below(8) {
            0 => self.env[INTS + 1],
            1 => {
                let g = self.bin(Bin::And, self.group, one);
                self.bin(Bin::IEq, g, one)
            }
            2 => {
                let k = self.rng.below(5) + 1;
                let k = self.int(k);
                let l = self.bin(Bin::And, self.local, k);
                let zero = self.int(0);
                self.bin(Bin::INe, l, zero)
            }
            3 if self.env.len() > INTS + 2 => {
                // By a loop's counter: the same for all lanes in the loop.
                let i = *self.env.last().unwrap();
                let k = self.rng.below(4);
                let k = self.int(k);
                self.bin(Bin::SLt, i, k)
            }
            4 => {
                let c = self.env[INTS + 1];
                self.value(Ty::Bool, Inst::Un(Un::BNot, c))
            }
            5 if self.words => {
                let (x, y) = (self.env[INTS], self.any_int());
                let y = self.value(Ty::B32, Inst::Un(Un::S32ToF32, y));
                let op = [Bin::FLt, Bin::FLe, Bin::FNe, Bin::FEq][self.rng.below(4) as usize];
                self.bin(op, x, y)
            }
            n => {
                let (a, b) = (self.any_int(), self.any_int());
                let ops = [Bin::SLt, Bin::ULt, Bin::INe, Bin::SLe];
                self.bin(ops[n as usize % 4], a, b)
            }
        }
    }

    fn store(&mut self, x: Value) {
        let slot = 4 * self.rng.below(LANE_BYTES / 4);
        let place = Place::Buffer { desc: self.out, addr: self.own };
        self.value(
            Ty::Void,
            Inst::Store {
                place,
                offset: slot,
                mem: Mem::B32,
                values: vec![x].into(),
                flags: MemFlags::default(),
            },
        );
    }

    fn statements(&mut self, depth: u32, inside: Option<LoopLabels>) {
        for _ in 0..self.rng.below(4) + 1 {
            if self.open.is_none() {
                return;
            }
            self.budget -= 1;
            let kind = self.rng.below(if depth > 4 || self.budget < 0 { 50 } else { 100 });
            match kind {
                0..30 => {
                    let x = self.expression();
                    let i = self.rng.below(INTS as u32) as usize;
                    self.env[i] = x;
                }
                30..36 if self.words => {
                    let x = self.float();
                    self.env[INTS] = x;
                }
                30..36 => {
                    let x = self.any_int();
                    let w = self.value(Ty::B64, Inst::Un(Un::U32ToU64, x));
                    let old = self.env[INTS];
                    self.env[INTS] = self.bin(Bin::IAdd, old, w);
                }
                36..40 => {
                    let c = self.condition();
                    self.env[INTS + 1] = c;
                }
                40..46 => {
                    let x = self.expression();
                    if self.words && inside.is_some() {
                        self.env[1] = x;
                    } else if self.shared && self.rng.chance(50) {
                        self.store_workgroup(x);
                    } else {
                        self.store(x);
                    }
                }
                46..50 => {
                    // Swaps make cycles of copies.
                    let (i, j) = (self.rng.below(INTS as u32) as usize, self.rng.below(INTS as u32) as usize);
                    self.env.swap(i, j);
                }
                50..72 => self.selection(depth, inside),
                72..86 => self.looping(depth),
                _ => {
                    if let Some(l) = inside {
                        let c = self.condition();
                        let (yes, no) = (self.label(), self.label());
                        match self.rng.below(5) {
                            0..2 => self.branch(c, l.merge, no),
                            2 => self.branch(c, no, l.next),
                            3 => self.branch(c, l.next, no),
                            _ => {
                                self.branch(c, yes, no);
                                self.start(yes);
                                let x = self.expression();
                                self.env[0] = x;
                                self.jump(l.merge);
                            }
                        }
                        self.start(no);
                    } else if self.rng.chance(40) {
                        let c = self.condition();
                        let (yes, no) = (self.label(), self.label());
                        self.branch(c, yes, no);
                        self.start(yes);
                        let x = self.any_int();
                        self.store(x);
                        self.open = None;
                        self.start(no);
                    }
                }
            }
        }
    }

    fn selection(&mut self, depth: u32, inside: Option<LoopLabels>) {
        let c = self.condition();
        let (yes, no, merge) = (self.label(), self.label(), self.label());
        let with_else = self.rng.chance(50);
        self.branch(c, yes, if with_else { no } else { merge });
        self.start(yes);
        self.statements(depth + 1, inside);
        if self.rng.chance(10) {
            match inside {
                Some(l) if self.rng.chance(70) => {
                    let to = if self.rng.chance(50) { l.merge } else { l.next };
                    self.jump(to);
                }
                // Return: the block's terminator already is one.
                _ => self.open = None,
            }
        }
        self.jump(merge);
        if with_else {
            self.start(no);
            self.statements(depth + 1, inside);
            if self.rng.chance(8) {
                self.open = None;
            }
            self.jump(merge);
        }
        self.start(merge);
    }

    fn looping(&mut self, depth: u32) {
        let (next, merge, body) = (self.label(), self.label(), self.label());
        let zero = self.int(0);
        let outer = self.env.len();
        self.env.push(zero);
        let limit = match self.rng.below(3) {
            0 => {
                let x = self.rng.below(5);
                self.int(x)
            }
            1 => {
                let three = self.int(3);
                self.bin(Bin::And, self.local, three)
            }
            _ => {
                let x = self.any_int();
                let three = self.int(3);
                self.bin(Bin::And, x, three)
            }
        };
        let entry = self.open.take().unwrap();
        let header = self.block();
        self.shader.blocks[entry as usize].term = Term::Jump(Block(header));
        let mut phis = vec![];
        for i in 0..self.env.len() {
            let ty = self.shader.ty(self.env[i]);
            let source = vec![(Block(entry), self.env[i])];
            phis.push(self.value(ty, Inst::Phi(source)));
        }
        self.env = phis.clone();
        let bottom = self.rng.chance(35);
        if bottom {
            self.jump(body);
        } else {
            let c = self.bin(Bin::SLt, phis[outer], limit);
            self.branch(c, body, merge);
        }
        self.start(body);
        self.statements(depth + 1, Some(LoopLabels { next, merge }));
        self.jump(next);
        if self.start(next) {
            let one = self.int(1);
            let i = self.env[outer];
            self.env[outer] = self.bin(Bin::IAdd, i, one);
            let last = self.open.unwrap();
            for (i, phi) in phis.iter().enumerate() {
                let source = self.env[i];
                let Inst::Phi(sources) = &mut self.shader.values[phi.0 as usize].inst else { unreachable!() };
                sources.push((Block(last), source));
            }
            if bottom {
                let again = self.bin(Bin::SLt, self.env[outer], limit);
                self.branch(again, merge, merge);
                // The first edge is the back edge.
                let edges = &mut self.labels[merge];
                let back = edges.len() - 2;
                edges.remove(back);
                self.aim(last, 0, header);
            } else {
                self.open = None;
                self.shader.blocks[last as usize].term = Term::Jump(Block(header));
            }
        }
        if self.start(merge) {
            self.env.truncate(outer);
        }
    }

    pub fn generate(mut self) -> Shader {
        self.block();
        self.local = self.value(Ty::B32, Inst::Input(Input::LocalIndex));
        self.group = self.value(Ty::B32, Inst::Input(Input::WorkgroupId(0)));
        let zero = self.int(0);
        let of = |binding| Inst::Descriptor {
            source: DescriptorSource::Binding { set: 0, binding },
            index: zero,
            texels: false,
        };
        self.out = self.value(Ty::B64, of(0));
        self.table = self.value(Ty::B64, of(TABLE_BINDING));
        let size: u32 = self.shader.workgroup.iter().product();
        let size = self.int(size);
        let first = self.bin(Bin::IMul, self.group, size);
        let index = self.bin(Bin::IAdd, first, self.local);
        let bytes = self.int(LANE_BYTES);
        self.own = self.bin(Bin::IMul, index, bytes);
        for i in 0..INTS as u32 {
            let k = self.int(i * 77 + 1);
            let x = if i == 3 { k } else { self.bin(Bin::IMul, self.local, k) };
            self.env.push(x);
        }
        let wide = if self.words {
            self.value(Ty::B32, Inst::Un(Un::U32ToF32, index))
        } else {
            self.value(Ty::B64, Inst::Un(Un::U32ToU64, index))
        };
        self.env.push(wide);
        let yes = self.value(Ty::Bool, Inst::Const(1));
        self.env.push(yes);
        if self.shared {
            self.shader.shared_bytes = 4 * self.shader.workgroup.iter().product::<u32>();
            let mixed = self.int(0x9E37_79B9);
            let x = self.bin(Bin::IMul, index, mixed);
            self.store_workgroup(x);
            self.value(Ty::Void, Inst::Barrier);
        }
        for _ in 0..6 {
            if self.open.is_some() && self.budget > 0 {
                self.statements(0, None);
            }
        }
        if self.open.is_some() {
            let place = Place::Buffer { desc: self.out, addr: self.own };
            let mut values: Vec<Value> = self.env[..INTS].to_vec();
            let wide = self.env[INTS];
            if self.words {
                // A NaN has any payload.
                let (zero, nan) = (self.int(0), self.bin(Bin::FNe, wide, wide));
                values.push(self.value(Ty::B32, Inst::Tri(Tri::Select, nan, zero, wide)));
            } else {
                values.push(self.value(Ty::B32, Inst::Un(Un::Lo32, wide)));
            }
            let b = self.env[INTS + 1];
            values.push(self.value(Ty::B32, Inst::Un(Un::BoolToInt, b)));
            let (values, flags) = (values.into(), MemFlags::default());
            self.value(Ty::Void, Inst::Store { place, offset: 0, mem: Mem::B32, values, flags });
        }
        self.shader
    }
}

//! Programs as SPIR-V.

use super::program::*;

const VOID: u32 = 1;
const BOOL: u32 = 2;
const U32: u32 = 3;
const VEC: u32 = 4;
const UVEC3: u32 = 5;
const PTR: u32 = 6;
const ARRAYS: [u32; 3] = [VEC, 8, 9];
const ARRAY_PTRS: [u32; 3] = [10, 11, 12];
const OUT: u32 = 13;
const TABLE: u32 = 14;
const STORAGE_PTR: u32 = 15;
const LOCAL: u32 = 16;
const GROUP: u32 = 17;
const SPEC: u32 = 18;
const MAIN: u32 = 19;
const FUNCTION: u32 = 20;
const GLSL: u32 = 21;
const INPUT_PTR: u32 = 22;
const TABLE_ARRAY: u32 = 29;
const TABLE_PTR: u32 = 30;
const WORDS_CONSTANT: u32 = 31;
const FIRST: u32 = 64;

/// A function's ids.
struct Frame {
    /// Variables, or values where these are phis.
    vars: Vec<(u32, bool)>,
    arrays: [u32; 3],
    /// The table as a constant array.
    table: u32,
    /// Where a loop's `break` and `continue` lead.
    loops: Vec<[u32; 2]>,
    main: bool,
    /// The block that is being written; None after its end.
    block: Option<u32>,
}

struct Emitter {
    spec: u32,
    invocations: u32,
    next: u32,
    constants: Vec<(u32, u32)>,
    code: Vec<u32>,
    /// The loops' wishes are not to be unrolled.
    kept: bool,
    /// The constant array is stored before it is read, as glslang does; else it is the variable's first value.
    stored: bool,
    local: u32,
    group: u32,
    first: u32,
}

/// The module. `kept`: every loop forbids to be unrolled.
pub fn module(p: &Program, workgroup: u32, (binding, table): (u32, &[u32]), kept: bool) -> Vec<u32> {
    let mut e = Emitter {
        spec: p.spec[0],
        invocations: workgroup,
        next: FIRST,
        constants: vec![],
        code: vec![],
        kept,
        stored: p.spec[0] & 1 != 0,
        local: 0,
        group: 0,
        first: 0,
    };
    e.function(&p.main, true);
    e.function(&p.function, false);
    e.whole(binding, table)
}

fn op(to: &mut Vec<u32>, op: u32, args: &[u32]) {
    to.push((args.len() as u32 + 1) << 16 | op);
    to.extend(args);
}

impl Emitter {
    fn whole(mut self, binding: u32, table: &[u32]) -> Vec<u32> {
        let sizes = SIZES.map(|n| self.constant(n));
        let words: Vec<u32> = table.iter().map(|x| self.constant(*x)).collect();
        let count = self.constant(table.len() as u32);
        let main = u32::from_le_bytes(*b"main");
        let (glsl, mut w) = (
            [u32::from_le_bytes(*b"GLSL"), u32::from_le_bytes(*b".std"), u32::from_le_bytes(*b".450")],
            vec![],
        );
        op(&mut w, 17, &[1]); // Shader
        op(&mut w, 11, &[GLSL, glsl[0], glsl[1], glsl[2], 0]);
        op(&mut w, 14, &[0, 1]);
        op(&mut w, 15, &[5, MAIN, main, 0, OUT, TABLE, LOCAL, GROUP]);
        op(&mut w, 16, &[MAIN, 17, self.invocations, 1, 1]);
        for (id, decoration) in [
            (23, [6, 4].as_slice()),
            (24, &[2]),
            (OUT, &[34, 0]),
            (OUT, &[33, 0]),
            (TABLE, &[34, 0]),
            (TABLE, &[33, binding]),
            (LOCAL, &[11, 29]),
            (GROUP, &[11, 26]),
            (SPEC, &[1, 0]),
        ] {
            op(&mut w, 71, &[&[id], decoration].concat());
        }
        op(&mut w, 72, &[24, 0, 35, 0]);
        op(&mut w, 19, &[VOID]);
        op(&mut w, 20, &[BOOL]);
        op(&mut w, 21, &[U32, 32, 0]);
        for &(value, id) in &self.constants {
            op(&mut w, 43, &[U32, id, value]);
        }
        op(&mut w, 50, &[U32, SPEC, self.spec]);
        op(&mut w, 23, &[VEC, U32, 4]);
        op(&mut w, 23, &[UVEC3, U32, 3]);
        for k in 1..3 {
            op(&mut w, 28, &[ARRAYS[k], U32, sizes[k]]);
        }
        op(&mut w, 28, &[TABLE_ARRAY, U32, count]);
        op(&mut w, 44, &[&[TABLE_ARRAY, WORDS_CONSTANT], &words[..]].concat());
        op(&mut w, 32, &[TABLE_PTR, 7, TABLE_ARRAY]);
        op(&mut w, 32, &[PTR, 7, U32]);
        for k in 0..3 {
            op(&mut w, 32, &[ARRAY_PTRS[k], 7, ARRAYS[k]]);
        }
        op(&mut w, 29, &[23, U32]);
        op(&mut w, 30, &[24, 23]);
        op(&mut w, 32, &[25, 12, 24]);
        op(&mut w, 32, &[STORAGE_PTR, 12, U32]);
        op(&mut w, 32, &[INPUT_PTR, 1, U32]);
        op(&mut w, 32, &[26, 1, UVEC3]);
        op(&mut w, 33, &[27, VOID]);
        op(&mut w, 33, &[28, U32, U32, ARRAY_PTRS[GIVEN]]);
        for id in [OUT, TABLE] {
            op(&mut w, 59, &[25, id, 12]);
        }
        op(&mut w, 59, &[INPUT_PTR, LOCAL, 1]);
        op(&mut w, 59, &[26, GROUP, 1]);
        let mut all = vec![0x0723_0203, 0x1_0500, 0, self.next, 0];
        all.extend(w);
        all.extend(self.code);
        all
    }

    fn id(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }
    fn constant(&mut self, value: u32) -> u32 {
        if let Some(c) = self.constants.iter().find(|c| c.0 == value) {
            return c.1;
        }
        let id = self.id();
        self.constants.push((value, id));
        id
    }
    fn op(&mut self, number: u32, args: &[u32]) {
        op(&mut self.code, number, args);
    }
    fn value(&mut self, number: u32, ty: u32, args: &[u32]) -> u32 {
        let id = self.id();
        self.op(number, &[&[ty, id], args].concat());
        id
    }
    fn label(&mut self, f: &mut Frame, id: u32) {
        self.op(248, &[id]);
        f.block = Some(id);
    }
    /// Ends a block, if one is open.
    fn jump(&mut self, f: &mut Frame, to: u32) {
        if f.block.take().is_some() {
            self.op(249, &[to]);
        }
    }
    fn branch(&mut self, f: &mut Frame, c: u32, yes: u32, no: u32) {
        f.block = None;
        self.op(250, &[c, yes, no]);
    }

    fn function(&mut self, function: &Function, main: bool) {
        let mut f = Frame { vars: vec![], arrays: [0; 3], table: 0, loops: vec![], main, block: None };
        let (id, result, ty) = if main { (MAIN, VOID, 27) } else { (FUNCTION, U32, 28) };
        self.op(54, &[result, id, 0, ty]);
        let mut x = 0;
        if !main {
            x = self.value(55, U32, &[]);
            f.arrays[GIVEN] = self.value(55, ARRAY_PTRS[GIVEN], &[]);
        }
        let label = self.id();
        self.label(&mut f, label);
        let zero = self.constant(0);
        for _ in 0..function.vars {
            let v = self.value(59, PTR, &[7]);
            f.vars.push((v, false));
        }
        for k in 0..3 {
            if main || k != GIVEN {
                f.arrays[k] = self.value(59, ARRAY_PTRS[k], &[7]);
            }
        }
        f.table = self.value(59, TABLE_PTR, if self.stored { &[7] } else { &[7, WORDS_CONSTANT] });
        self.local = self.value(61, U32, &[LOCAL]);
        let g = self.value(61, UVEC3, &[GROUP]);
        self.group = self.value(81, U32, &[g, 0]);
        let (size, words) = (self.constant(self.invocations), self.constant(WORDS));
        let first = self.value(132, U32, &[self.group, size]);
        let index = self.value(128, U32, &[first, self.local]);
        self.first = self.value(132, U32, &[index, words]);
        if main {
            x = self.local;
        }
        for k in 0..function.vars {
            let from = if k == 0 { x } else { zero };
            self.op(62, &[f.vars[k].0, from]);
        }
        for k in 0..3 {
            for i in (0..SIZES[k]).filter(|_| main || k != GIVEN) {
                let at = self.element(&f, k, i);
                self.op(62, &[at, zero]);
            }
        }
        self.all(&mut f, &function.body);
        if main {
            for k in 0..VARS {
                let x = self.read(&f, k);
                self.output(k as u32, x);
            }
            for k in 0..3 {
                let (mut sum, three) = (zero, self.constant(3));
                for i in 0..SIZES[k] {
                    let at = self.element(&f, k, i);
                    let x = self.value(61, U32, &[at]);
                    let more = self.value(132, U32, &[sum, three]);
                    sum = self.value(128, U32, &[more, x]);
                }
                self.output((VARS + k) as u32, sum);
            }
            self.op(253, &[]);
        } else {
            let x = self.read(&f, 0);
            self.op(254, &[x]);
        }
        self.op(56, &[]);
    }

    fn element(&mut self, f: &Frame, array: usize, i: u32) -> u32 {
        let i = self.constant(i);
        self.value(65, PTR, &[f.arrays[array], i])
    }
    fn read(&mut self, f: &Frame, var: usize) -> u32 {
        match f.vars[var] {
            (value, true) => value,
            (pointer, false) => self.value(61, U32, &[pointer]),
        }
    }
    fn output(&mut self, word: u32, x: u32) {
        let (zero, k) = (self.constant(0), self.constant(word));
        let at = self.value(128, U32, &[self.first, k]);
        let p = self.value(65, STORAGE_PTR, &[OUT, zero, at]);
        self.op(62, &[p, x]);
    }

    fn cond(&mut self, f: &Frame, c: &Cond) -> u32 {
        let (a, b) = (self.expr(f, &c.1), self.expr(f, &c.2));
        self.compare(c.0, a, b)
    }
    fn compare(&mut self, cmp: Cmp, a: u32, b: u32) -> u32 {
        let number = match cmp {
            Cmp::Eq => 170,
            Cmp::Ne => 171,
            Cmp::Ugt => 172,
            Cmp::Sgt => 173,
            Cmp::Uge => 174,
            Cmp::Sge => 175,
            Cmp::Ult => 176,
            Cmp::Slt => 177,
            Cmp::Ule => 178,
            Cmp::Sle => 179,
        };
        self.value(number, BOOL, &[a, b])
    }

    fn expr(&mut self, f: &Frame, e: &Expr) -> u32 {
        match e {
            Expr::Const(c) => self.constant(*c),
            Expr::Spec => SPEC,
            Expr::Local => self.local,
            Expr::Group => self.group,
            Expr::Var(v) => self.read(f, *v),
            Expr::Element(a, i) => {
                let i = self.expr(f, i);
                let p = self.value(65, PTR, &[f.arrays[*a], i]);
                self.value(61, U32, &[p])
            }
            Expr::Table(constant, i) => {
                let (i, last, zero) =
                    (self.expr(f, i), self.constant(crate::programs::TABLE_WORDS - 1), self.constant(0));
                let i = self.value(199, U32, &[i, last]);
                let p = if *constant {
                    if self.stored {
                        self.op(62, &[f.table, WORDS_CONSTANT]);
                    }
                    self.value(65, PTR, &[f.table, i])
                } else {
                    self.value(65, STORAGE_PTR, &[TABLE, zero, i])
                };
                self.value(61, U32, &[p])
            }
            Expr::Select(c, a, b) => {
                let (c, a, b) = (self.cond(f, c), self.expr(f, a), self.expr(f, b));
                self.value(169, U32, &[c, a, b])
            }
            Expr::Bin(op, a, b) => {
                let (a, b) = (self.expr(f, a), self.expr(f, b));
                let number = match op {
                    Bin::Add => 128,
                    Bin::Sub => 130,
                    Bin::Mul => 132,
                    Bin::And => 199,
                    Bin::Or => 197,
                    Bin::Xor => 198,
                    Bin::Shl => 196,
                    Bin::Div => 134,
                    Bin::Mod => 137,
                    Bin::Min => return self.value(12, U32, &[GLSL, 38, a, b]),
                };
                self.value(number, U32, &[a, b])
            }
        }
    }

    fn all(&mut self, f: &mut Frame, list: &[Stmt]) {
        for s in list {
            // What follows a jump is left out.
            if f.block.is_some() {
                self.one(f, s);
            }
        }
    }

    fn one(&mut self, f: &mut Frame, s: &Stmt) {
        match s {
            Stmt::Set(v, e) => {
                let x = self.expr(f, e);
                self.op(62, &[f.vars[*v].0, x]);
            }
            Stmt::SetElement(a, i, e) => {
                let (i, x) = (self.expr(f, i), self.expr(f, e));
                let p = self.value(65, PTR, &[f.arrays[*a], i]);
                self.op(62, &[p, x]);
            }
            Stmt::Store(k, e) => {
                let x = self.expr(f, e);
                self.output(*k, x);
            }
            Stmt::Call(v, e) => {
                let x = self.expr(f, e);
                let r = self.value(57, U32, &[FUNCTION, x, f.arrays[GIVEN]]);
                self.op(62, &[f.vars[*v].0, r]);
            }
            Stmt::If(c, yes, no) => {
                let c = self.cond(f, c);
                let [y, n, merge] = [self.id(), self.id(), self.id()];
                self.op(247, &[merge, 0]);
                self.branch(f, c, y, n);
                for (label, list) in [(y, yes), (n, no)] {
                    self.label(f, label);
                    self.all(f, list);
                    self.jump(f, merge);
                }
                self.label(f, merge);
            }
            Stmt::Switch(e, cases) => {
                let (x, three) = (self.expr(f, e), self.constant(3));
                let x = self.value(199, U32, &[x, three]);
                let [a, b, c, merge] = [self.id(), self.id(), self.id(), self.id()];
                self.op(247, &[merge, 0]);
                f.block = None;
                self.op(251, &[x, c, 0, a, 1, b]);
                for (label, list) in [a, b, c].into_iter().zip(cases) {
                    self.label(f, label);
                    self.all(f, list);
                    self.jump(f, merge);
                }
                self.label(f, merge);
            }
            Stmt::Break | Stmt::Continue => {
                let to = f.loops.last().expect("a loop is open")[usize::from(matches!(s, Stmt::Continue))];
                self.jump(f, to);
            }
            Stmt::Return => {
                f.block = None;
                if f.main {
                    self.op(253, &[]);
                } else {
                    let seven = self.constant(7);
                    self.op(254, &[seven]);
                }
            }
            Stmt::Loop(l) => self.looping(f, l),
        }
    }

    fn looping(&mut self, f: &mut Frame, l: &Loop) {
        let [header, body, next, merge] = [self.id(), self.id(), self.id(), self.id()];
        let start = self.expr(f, &l.start);
        if !l.phi {
            self.op(62, &[f.vars[l.counter].0, start]);
        }
        let before = f.block.expect("a block is open");
        self.jump(f, header);
        self.label(f, header);
        let (mut phi, mut after) = (0, 0);
        if l.phi {
            after = self.id();
            phi = self.value(245, U32, &[start, before, after, next]);
            f.vars[l.counter] = (phi, true);
        }
        let control = if self.kept { 2 } else { l.control };
        let mut test = None;
        if l.test == Test::Header {
            let (i, n) = (self.read(f, l.counter), self.expr(f, &l.bound));
            test = Some(self.compare(l.cmp, i, n));
        }
        self.op(246, &[merge, next, control]);
        match l.test {
            Test::Header => self.branch(f, test.expect("made"), body, merge),
            Test::After | Test::Leave => {
                let block = self.id();
                self.jump(f, block);
                self.label(f, block);
                let (i, n) = (self.read(f, l.counter), self.expr(f, &l.bound));
                let c = self.compare(l.cmp, i, n);
                if l.test == Test::After {
                    self.branch(f, c, body, merge);
                } else {
                    let c = self.value(168, BOOL, &[c]);
                    let leave = self.id();
                    self.op(247, &[body, 0]);
                    self.branch(f, c, leave, body);
                    self.label(f, leave);
                    self.jump(f, merge);
                }
            }
            Test::Bottom => self.jump(f, body),
        }
        self.label(f, body);
        f.loops.push([merge, next]);
        self.all(f, &l.body);
        f.loops.pop();
        self.jump(f, next);
        self.label(f, next);
        let step = self.constant(l.step);
        if l.phi {
            self.op(128, &[U32, after, phi, step]);
        } else {
            let i = self.read(f, l.counter);
            after = self.value(128, U32, &[i, step]);
            self.op(62, &[f.vars[l.counter].0, after]);
        }
        if l.test == Test::Bottom {
            let n = self.expr(f, &l.bound);
            let c = self.compare(l.cmp, after, n);
            self.branch(f, c, header, merge);
        } else {
            self.jump(f, header);
        }
        self.label(f, merge);
    }
}

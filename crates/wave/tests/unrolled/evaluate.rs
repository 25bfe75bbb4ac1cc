//! What a program leaves, by walking its tree.

use super::program::*;

/// Statements and turns of an invocation; programs that need more are left out.
const FUEL: u32 = 20_000;

pub struct Evaluator<'a> {
    pub program: &'a Program,
    pub spec: u32,
    pub table: &'a [u32],
    pub local: u32,
    pub group: u32,
    pub out: [u32; WORDS as usize],
    fuel: u32,
}

#[derive(PartialEq)]
enum Flow {
    On,
    Break,
    Continue,
    Return,
}

struct Frame {
    vars: Vec<u32>,
    arrays: [Vec<u32>; 3],
}

impl Frame {
    fn new(f: &Function) -> Frame {
        Frame { vars: vec![0; f.vars], arrays: SIZES.map(|n| vec![0; n as usize]) }
    }
}

/// None: out of fuel.
type Ran = Option<Flow>;

pub fn compare(cmp: Cmp, a: u32, b: u32) -> bool {
    let (sa, sb) = (a as i32, b as i32);
    match cmp {
        Cmp::Eq => a == b,
        Cmp::Ne => a != b,
        Cmp::Ult => a < b,
        Cmp::Ule => a <= b,
        Cmp::Ugt => a > b,
        Cmp::Uge => a >= b,
        Cmp::Slt => sa < sb,
        Cmp::Sle => sa <= sb,
        Cmp::Sgt => sa > sb,
        Cmp::Sge => sa >= sb,
    }
}

impl<'a> Evaluator<'a> {
    pub fn new(program: &'a Program, spec: u32, table: &'a [u32], group: u32, local: u32) -> Evaluator<'a> {
        Evaluator { program, spec, table, local, group, out: [0; WORDS as usize], fuel: FUEL }
    }

    /// Whether it came to its end.
    pub fn run(&mut self) -> bool {
        let mut f = Frame::new(&self.program.main);
        f.vars[0] = self.local;
        let ended = self.all(&mut f, &self.program.main.body);
        if ended == Some(Flow::On) {
            for (k, x) in f.vars[..VARS].iter().enumerate() {
                self.out[k] = *x;
            }
            for (k, a) in f.arrays.iter().enumerate() {
                self.out[VARS + k] = a.iter().fold(0, |s: u32, x| s.wrapping_mul(3).wrapping_add(*x));
            }
        }
        ended.is_some()
    }

    fn cond(&self, f: &Frame, c: &Cond) -> bool {
        compare(c.0, self.expr(f, &c.1), self.expr(f, &c.2))
    }

    fn expr(&self, f: &Frame, e: &Expr) -> u32 {
        match e {
            Expr::Const(c) => *c,
            Expr::Spec => self.spec,
            Expr::Local => self.local,
            Expr::Group => self.group,
            Expr::Var(v) => f.vars[*v],
            Expr::Element(a, i) => f.arrays[*a][self.expr(f, i) as usize],
            Expr::Table(_, i) => self.table[self.expr(f, i) as usize % self.table.len()],
            Expr::Select(c, a, b) => self.expr(f, if self.cond(f, c) { a } else { b }),
            Expr::Bin(op, a, b) => {
                let (a, b) = (self.expr(f, a), self.expr(f, b));
                match op {
                    Bin::Add => a.wrapping_add(b),
                    Bin::Sub => a.wrapping_sub(b),
                    Bin::Mul => a.wrapping_mul(b),
                    Bin::And => a & b,
                    Bin::Or => a | b,
                    Bin::Xor => a ^ b,
                    Bin::Shl => a << b,
                    Bin::Div => a / b,
                    Bin::Mod => a % b,
                    Bin::Min => a.min(b),
                }
            }
        }
    }

    fn all(&mut self, f: &mut Frame, list: &[Stmt]) -> Ran {
        for s in list {
            match self.one(f, s)? {
                Flow::On => {}
                other => return Some(other),
            }
        }
        Some(Flow::On)
    }

    fn one(&mut self, f: &mut Frame, s: &Stmt) -> Ran {
        self.fuel = self.fuel.checked_sub(1)?;
        match s {
            Stmt::Set(v, e) => f.vars[*v] = self.expr(f, e),
            Stmt::SetElement(a, i, e) => {
                let (i, x) = (self.expr(f, i), self.expr(f, e));
                f.arrays[*a][i as usize] = x;
            }
            Stmt::Store(k, e) => self.out[*k as usize] = self.expr(f, e),
            Stmt::If(c, yes, no) => {
                let list = if self.cond(f, c) { yes } else { no };
                return self.all(f, list);
            }
            Stmt::Switch(e, cases) => return self.all(f, &cases[(self.expr(f, e) & 3).min(2) as usize]),
            Stmt::Call(v, e) => {
                let function = &self.program.function;
                let mut inner = Frame::new(function);
                inner.vars[0] = self.expr(f, e);
                std::mem::swap(&mut inner.arrays[GIVEN], &mut f.arrays[GIVEN]);
                let ended = self.all(&mut inner, &function.body)?;
                std::mem::swap(&mut inner.arrays[GIVEN], &mut f.arrays[GIVEN]);
                f.vars[*v] = if ended == Flow::Return { 7 } else { inner.vars[0] };
            }
            Stmt::Break => return Some(Flow::Break),
            Stmt::Continue => return Some(Flow::Continue),
            Stmt::Return => return Some(Flow::Return),
            Stmt::Loop(l) => return self.looping(f, l),
        }
        Some(Flow::On)
    }

    fn looping(&mut self, f: &mut Frame, l: &Loop) -> Ran {
        f.vars[l.counter] = self.expr(f, &l.start);
        loop {
            self.fuel = self.fuel.checked_sub(1)?;
            let goes_on = |s: &Self, f: &Frame, i: u32| compare(l.cmp, i, s.expr(f, &l.bound));
            if l.test != Test::Bottom && !goes_on(self, f, f.vars[l.counter]) {
                return Some(Flow::On);
            }
            match self.all(f, &l.body)? {
                Flow::Break => return Some(Flow::On),
                Flow::Return => return Some(Flow::Return),
                Flow::On | Flow::Continue => {}
            }
            let next = f.vars[l.counter].wrapping_add(l.step);
            // A phi becomes the next value in the header.
            if !l.phi {
                f.vars[l.counter] = next;
            }
            if l.test == Test::Bottom && !goes_on(self, f, next) {
                return Some(Flow::On);
            }
            f.vars[l.counter] = next;
        }
    }
}

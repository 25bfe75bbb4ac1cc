//! Random programs with loops, as trees: their counts are mostly known, and they index private arrays.

use random::Random;

/// Elements of arrays: the first is a vector, and a function's second is its caller's.
pub const SIZES: [u32; 3] = [4, 8, 20];
/// The array that a function is given.
pub const GIVEN: usize = 1;
/// Variables that every function has from the start.
pub const VARS: usize = 3;
/// Words of the output that belong to one invocation.
pub const WORDS: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bin {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    Div,
    Mod,
    Min,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cmp {
    Eq,
    Ne,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
}

#[derive(Clone, Debug)]
pub enum Expr {
    Const(u32),
    /// The specialisation constant.
    Spec,
    /// The invocation in its workgroup; the workgroup.
    Local,
    Group,
    Var(usize),
    /// An array's element, whose index is within it.
    Element(usize, Box<Expr>),
    /// A word of the table, which is a buffer, or a constant array.
    Table(bool, Box<Expr>),
    Bin(Bin, Box<Expr>, Box<Expr>),
    Select(Box<Cond>, Box<Expr>, Box<Expr>),
}

pub type Cond = (Cmp, Expr, Expr);

/// Where a loop asks whether it goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Test {
    /// Before the body: in the header, or in a block after it.
    Header,
    After,
    /// An `if` that leaves.
    Leave,
    /// After the body.
    Bottom,
}

#[derive(Clone, Debug)]
pub struct Loop {
    pub counter: usize,
    /// The counter is an OpPhi of the header.
    pub phi: bool,
    pub start: Expr,
    pub cmp: Cmp,
    pub bound: Expr,
    pub step: u32,
    pub test: Test,
    /// The module's wish: 1 to unroll, 2 not to.
    pub control: u32,
    pub body: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub enum Stmt {
    Set(usize, Expr),
    SetElement(usize, Expr, Expr),
    /// To a word of the invocation's output.
    Store(u32, Expr),
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// Of the selector's last two bits: cases 0 and 1, and the rest.
    Switch(Expr, [Vec<Stmt>; 3]),
    Loop(Loop),
    /// To a variable, what the function makes of a number and of the array that it is given.
    Call(usize, Expr),
    Break,
    Continue,
    Return,
}

#[derive(Debug, Default)]
pub struct Function {
    /// How many variables there are, counters among them.
    pub vars: usize,
    pub body: Vec<Stmt>,
}

#[derive(Debug)]
pub struct Program {
    pub main: Function,
    pub function: Function,
    /// The specialisation constant in the module, and what a program is compiled for.
    pub spec: [u32; 2],
}

struct Generator {
    rng: Random,
    budget: i32,
    vars: usize,
    /// Variables that may be read, and those of them that stay below a bound.
    scope: Vec<usize>,
    below: Vec<(usize, u32)>,
    calls: bool,
}

impl Program {
    pub fn random(seed: u64) -> Program {
        let mut g = Generator {
            rng: Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            budget: 0,
            vars: 0,
            scope: vec![],
            below: vec![],
            calls: false,
        };
        for _ in 0..4 {
            g.rng.u32();
        }
        let function = g.function(4, false);
        let main = g.function(2 + (seed % 12) as i32, true);
        Program { main, function, spec: [g.rng.below(7), g.rng.below(7)] }
    }
}

impl Generator {
    fn function(&mut self, budget: i32, main: bool) -> Function {
        (self.budget, self.vars, self.calls) = (budget, VARS, main);
        self.scope = (0..VARS).collect();
        self.below.clear();
        let mut body = vec![];
        while self.budget > 0 {
            body.extend(self.looping(0));
            body.extend(self.statements(1, None));
            body.retain(|s| !matches!(s, Stmt::Return));
        }
        Function { vars: self.vars, body }
    }

    fn constant(&mut self) -> Expr {
        Expr::Const(if self.rng.chance(80) { self.rng.below(9) } else { self.rng.u32() })
    }

    fn var(&mut self) -> Expr {
        let k = self.rng.below(self.scope.len() as u32) as usize;
        // Counters more often than others.
        let k = if self.rng.chance(50) { k.max(self.scope.len() - 1) } else { k };
        Expr::Var(self.scope[k])
    }

    fn index(&mut self, array: usize) -> Expr {
        let size = SIZES[array];
        let fit: Vec<usize> = self.below.iter().filter(|b| b.1 <= size).map(|b| b.0).collect();
        if !fit.is_empty() && self.rng.chance(60) {
            return Expr::Var(fit[self.rng.below(fit.len() as u32) as usize]);
        }
        if self.rng.chance(25) {
            return Expr::Const(self.rng.below(size));
        }
        let x = self.expr(2);
        let (op, k) = if self.rng.chance(50) { (Bin::Min, size - 1) } else { (Bin::Mod, size) };
        Expr::Bin(op, x.into(), Expr::Const(k).into())
    }

    fn expr(&mut self, depth: u32) -> Expr {
        match self.rng.below(if depth > 2 { 9 } else { 20 }) {
            0..2 => self.constant(),
            2 => Expr::Spec,
            3 => Expr::Local,
            4 => Expr::Group,
            5..9 => self.var(),
            9..12 => {
                let array = self.rng.below(SIZES.len() as u32) as usize;
                Expr::Element(array, self.index(array).into())
            }
            12 => Expr::Table(self.rng.chance(50), self.expr(depth + 1).into()),
            13 => {
                let c = self.cond();
                Expr::Select(c.into(), self.expr(depth + 1).into(), self.expr(depth + 1).into())
            }
            _ => {
                use Bin::*;
                let ops = [Add, Sub, Mul, And, Or, Xor, Add, Add, Mul, Shl, Div, Mod, Min];
                let op = ops[self.rng.below(ops.len() as u32) as usize];
                let b = match op {
                    Shl => Expr::Const(self.rng.below(32)),
                    Div | Mod => Expr::Const(1 + self.rng.below(9)),
                    _ => self.expr(depth + 1),
                };
                Expr::Bin(op, self.expr(depth + 1).into(), b.into())
            }
        }
    }

    fn cmp(&mut self) -> Cmp {
        use Cmp::*;
        [Eq, Ne, Ult, Ule, Ugt, Uge, Slt, Sle, Sgt, Sge][self.rng.below(10) as usize]
    }

    fn cond(&mut self) -> Cond {
        let a = if self.rng.chance(50) { self.var() } else { self.expr(2) };
        (self.cmp(), a, self.expr(2))
    }

    fn statements(&mut self, depth: u32, inside: Option<Option<usize>>) -> Vec<Stmt> {
        let scope = self.scope.len();
        let mut all = vec![];
        for _ in 0..self.rng.below(4) + 1 {
            self.budget -= 1;
            match self.rng.below(if depth > 3 || self.budget < 0 { 50 } else { 100 }) {
                0..16 => {
                    let mut to = self.rng.below(VARS as u32) as usize;
                    // Now and then a counter, which is then no known one.
                    if self.rng.chance(6)
                        && let Some(Some(counter)) = inside
                    {
                        to = counter;
                    }
                    all.push(Stmt::Set(to, self.expr(0)));
                }
                16..34 => {
                    let array = self.rng.below(SIZES.len() as u32) as usize;
                    let index = self.index(array);
                    all.push(Stmt::SetElement(array, index, self.expr(0)));
                }
                34..42 => all.push(Stmt::Store(self.rng.below(WORDS), self.expr(0))),
                42..50 if self.calls => {
                    all.push(Stmt::Call(self.rng.below(VARS as u32) as usize, self.expr(1)))
                }
                42..50 => {}
                50..60 => {
                    let c = self.cond();
                    let yes = self.statements(depth + 1, inside.map(|_| None));
                    let no = if self.rng.chance(40) {
                        self.statements(depth + 1, inside.map(|_| None))
                    } else {
                        vec![]
                    };
                    all.push(Stmt::If(c, yes, no));
                }
                60..64 => {
                    let x = self.expr(1);
                    let cases = [(); 3].map(|()| self.statements(depth + 1, inside.map(|_| None)));
                    all.push(Stmt::Switch(x, cases));
                }
                64..82 => all.extend(self.looping(depth)),
                _ if inside.is_some() => {
                    let c = self.cond();
                    let jump = match self.rng.below(9) {
                        0 => Stmt::Return,
                        1..4 => Stmt::Continue,
                        _ => Stmt::Break,
                    };
                    all.push(Stmt::If(c, vec![jump], vec![]));
                }
                _ => {}
            }
        }
        if inside == Some(None) && self.rng.chance(10) {
            all.push([Stmt::Break, Stmt::Continue, Stmt::Return][self.rng.below(3) as usize].clone());
        }
        self.scope.truncate(scope);
        all
    }

    fn looping(&mut self, depth: u32) -> Vec<Stmt> {
        use Cmp::*;
        let counter = self.vars;
        self.vars += 1;
        let (cmp, step, start, bound);
        match self.rng.below(10) {
            0..5 => {
                (cmp, step) = ([Ult, Slt, Ne][self.rng.below(3) as usize], 1);
                (start, bound) = (Expr::Const(0), Expr::Const(1 + self.rng.below(8)));
            }
            5 => {
                // Downwards.
                (cmp, step) = ([Sge, Sgt][self.rng.below(2) as usize], 1 + self.rng.below(2));
                (start, bound) = (Expr::Const(self.rng.below(9)), Expr::Const(self.rng.below(2)));
            }
            6 => {
                // As far as a loop around it has come, or is specialised.
                (cmp, step) = ([Ult, Ule][self.rng.below(2) as usize], 1 + self.rng.below(3));
                start = Expr::Const(self.rng.below(2));
                let end = if self.rng.chance(50) { Expr::Spec } else { self.var() };
                bound = Expr::Bin(Bin::Min, end.into(), Expr::Const(6).into());
            }
            7 => {
                // By powers of two, or as far as the invocation wants.
                (cmp, step, start) = (Ult, 1 + self.rng.below(4), self.constant());
                bound = Expr::Bin(Bin::And, self.expr(2).into(), Expr::Const(15).into());
            }
            8 => (cmp, step, start, bound) = (Ule, 3, Expr::Const(self.rng.below(4)), Expr::Const(9)),
            // Too long.
            _ => (cmp, step, start, bound) = (Ult, 1, Expr::Const(0), Expr::Const(70)),
        }
        let down = matches!(cmp, Sge | Sgt);
        let test = [Test::Header, Test::After, Test::Leave, Test::Bottom][self.rng.below(4) as usize];
        let phi = self.rng.chance(50);
        if let (Expr::Const(0), Expr::Const(n), true, 1) = (&start, &bound, !down, step)
            && matches!(cmp, Ult | Slt | Ne)
            && test != Test::Bottom
        {
            self.below.push((counter, *n));
        }
        self.scope.push(counter);
        // What indexes an array stays within it.
        let changed = !phi && self.below.last().is_none_or(|b| b.0 != counter);
        let body = self.statements(depth + 1, Some(changed.then_some(counter)));
        // After the loop it may be what ended it.
        self.below.retain(|b| b.0 != counter);
        let step = if down { step.wrapping_neg() } else { step };
        let control = [0, 0, 0, 1, 1, 2][self.rng.below(6) as usize];
        vec![Stmt::Loop(Loop { counter, phi, start, cmp, bound, step, test, control, body })]
    }
}

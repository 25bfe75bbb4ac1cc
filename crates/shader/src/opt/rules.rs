//! Algebra: each rule once. The builder asks before it makes an instruction, [`crate::pass::gvn`] for every instruction
//! that has changed around. Every rule keeps the bits: float identities are here only where they hold for every
//! operand, signed zeros included (of a NaN's bits see [`crate::pass::nan`]).

use crate::eval;
use crate::ir::{Bin, Inst, Tri, Ty, Un, Value};

/// What an instruction may be replaced with.
pub enum Better {
    Value(Value),
    /// Of the result's type.
    Const(u64),
    Inst(Inst),
}

/// What a value is made of, as far as rules look.
#[derive(Clone, Copy)]
pub enum Def {
    Const(u64),
    Un(Un, Value),
    Bin(Bin, Value, Value),
    Other,
}

impl Def {
    pub fn of(inst: &Inst) -> Def {
        match *inst {
            Inst::Const(c) => Def::Const(c),
            Inst::Un(op, a) => Def::Un(op, a),
            Inst::Bin(op, a, b) => Def::Bin(op, a, b),
            _ => Def::Other,
        }
    }
}

/// Code that rules look at.
pub trait Site {
    fn ty(&self, v: Value) -> Ty;
    fn def(&mut self, v: Value) -> Def;
    /// The bits, if it is a constant.
    fn known(&self, v: Value) -> Option<u64>;
    fn constant(&mut self, ty: Ty, bits: u64) -> Value;
    /// An instruction before the one that is replaced; `None` where none can be put.
    fn make(&mut self, inst: Inst) -> Option<Value>;
}

fn ones(ty: Ty) -> u64 {
    match ty {
        Ty::B64 => !0,
        Ty::Bool => 1,
        _ => 0xFFFF_FFFF,
    }
}

fn value(v: Value) -> Option<Better> {
    Some(Better::Value(v))
}
fn constant(bits: u64) -> Option<Better> {
    Some(Better::Const(bits))
}
fn one(op: Un, a: Value) -> Option<Better> {
    Some(Better::Inst(Inst::Un(op, a)))
}
fn two(op: Bin, a: Value, b: Value) -> Option<Better> {
    Some(Better::Inst(Inst::Bin(op, a, b)))
}

/// A better `op a`.
pub fn un(s: &mut impl Site, op: Un, a: Value) -> Option<Better> {
    use Un::*;
    if op == Mov {
        return value(a);
    }
    match s.def(a) {
        Def::Const(c) => eval::un(op, s.ty(a), c).map(Better::Const),
        Def::Un(inner, x) => match (op, inner) {
            (FNeg, FNeg) | (INeg, INeg) | (Not, Not) | (BNot, BNot) => value(x),
            (IntToBool, BoolToInt) | (BitsToF16, F16ToBits) | (F16ToBits, BitsToF16) => value(x),
            (Lo32, U32ToU64 | S32ToS64) => value(x),
            (Hi32, U32ToU64) => constant(0),
            (FAbs, FNeg) => one(FAbs, x),
            (FAbs, FAbs) | (FCanon, FCanon) | (FSaturate, FSaturate) => value(a),
            (F16Round, F16Round | BitsToF16 | F16RoundRtz | F16Quantize) => value(a),
            (FFloor | FCeil | FTrunc | FRoundEven, FFloor | FCeil | FTrunc) => value(a),
            (ZExt8, ZExt8) | (ZExt16, ZExt16 | ZExt8) | (ZExt8 | ZExt16, BoolToInt) => value(a),
            (SExt8, SExt8) | (SExt16, SExt16 | SExt8) => value(a),
            (ZExt8, SExt8 | SExt16 | ZExt16) | (ZExt16, SExt16) => one(op, x),
            (SExt8, ZExt8 | ZExt16 | SExt16) | (SExt16, ZExt16) => one(op, x),
            _ => None,
        },
        Def::Bin(inner, x, y) => match (op, inner) {
            (Lo32, Bin::Pack64) => value(x),
            (Hi32, Bin::Pack64) => value(y),
            (BNot, Bin::IEq) => two(Bin::INe, x, y),
            (BNot, Bin::INe) => two(Bin::IEq, x, y),
            (BNot, Bin::ULt) => two(Bin::ULe, y, x),
            (BNot, Bin::ULe) => two(Bin::ULt, y, x),
            (BNot, Bin::SLt) => two(Bin::SLe, y, x),
            (BNot, Bin::SLe) => two(Bin::SLt, y, x),
            // Ordered comparisons have no opposite: both are false of a NaN.
            (BNot, Bin::FEq) => two(Bin::FNe, x, y),
            (BNot, Bin::FNe) => two(Bin::FEq, x, y),
            (ZExt8, Bin::And) if s.known(y).is_some_and(|c| c <= 0xFF) => value(a),
            (ZExt16, Bin::And) if s.known(y).is_some_and(|c| c <= 0xFFFF) => value(a),
            _ => None,
        },
        Def::Other => None,
    }
}

/// A better `a op b`. Of operands that may change places a constant comes second, else the older value first.
pub fn bin(s: &mut impl Site, op: Bin, a: Value, b: Value) -> Option<Better> {
    let ty = s.ty(a);
    let (ca, cb) = (s.known(a), s.known(b));
    if let (Some(x), Some(y)) = (ca, cb)
        && let Some(bits) = eval::bin(op, ty, x, y)
    {
        return constant(bits);
    }
    let swap = op.facts().commutes && cb.is_none() && (ca.is_some() || b < a);
    if !swap {
        return identity(s, op, ty, [a, b], [ca, cb]);
    }
    identity(s, op, ty, [b, a], [cb, ca]).or_else(|| two(op, b, a))
}

fn identity(
    s: &mut impl Site,
    op: Bin,
    ty: Ty,
    [a, b]: [Value; 2],
    [ca, cb]: [Option<u64>; 2],
) -> Option<Better> {
    use Bin::*;
    if a == b {
        match op {
            And | Or | SMin | SMax | UMin | UMax | BAnd | BOr => return value(a),
            Xor | ISub | INe | SLt | ULt | BXor => return constant(0),
            IEq | SLe | ULe => return constant(1),
            _ => {}
        }
    }
    if let Some(c) = cb {
        return with_const(s, op, ty, a, b, c);
    }
    match (op, ca) {
        (ISub, Some(0)) => one(Un::INeg, b),
        (Shl | LShr | AShr | UDiv | SDiv | URem | SRem | SMod, Some(0)) => value(a),
        (ULt, Some(c)) if c == ones(ty) => constant(0),
        (ULe, Some(0)) => constant(1),
        // −0 − b
        (FSub, Some(c)) if c == sign(ty) => one(Un::FNeg, b),
        (Pack64, None) => match (s.def(a), s.def(b)) {
            (Def::Un(Un::Lo32, x), Def::Un(Un::Hi32, y)) if x == y => value(x),
            _ => None,
        },
        _ => None,
    }
}

fn sign(ty: Ty) -> u64 {
    if ty == Ty::B64 { 1 << 63 } else { 1 << 31 }
}

/// As `identity`, with a constant second operand.
fn with_const(s: &mut impl Site, op: Bin, ty: Ty, a: Value, b: Value, c: u64) -> Option<Better> {
    use Bin::*;
    let all = ones(ty);
    match op {
        IAdd | ISub | Or | Xor | Shl | LShr | AShr | BOr | BXor if c == 0 => return value(a),
        And | BAnd | UMin if c == all => return value(a),
        And | BAnd | IMul | UMulHi | SMulHi | UMin if c == 0 => return value(b),
        Or | BOr | UMax if c == all => return value(b),
        UMax if c == 0 => return value(a),
        Xor if c == all => return one(Un::Not, a),
        BXor => return one(Un::BNot, a),
        IMul | UDiv | SDiv if c == 1 => return value(a),
        URem if c == 1 => return constant(0),
        IMul if c == all => return one(Un::INeg, a),
        IMul | UDiv if c.is_power_of_two() => {
            let by = s.constant(Ty::B32, c.trailing_zeros() as u64);
            return two(if op == IMul { Shl } else { LShr }, a, by);
        }
        URem if c.is_power_of_two() => {
            let mask = s.constant(ty, c - 1);
            return two(And, a, mask);
        }
        ISub => {
            let negative = s.constant(ty, c.wrapping_neg() & all);
            return two(IAdd, a, negative);
        }
        ULt if c == 0 => return constant(0),
        ULe if c == all => return constant(1),
        ULt if c == 1 => {
            let zero = s.constant(ty, 0);
            return two(IEq, a, zero);
        }
        IEq | INe if ty == Ty::Bool => {
            return if (c == 1) == (op == IEq) { value(a) } else { one(Un::BNot, a) };
        }
        Pack64 if c == 0 => return one(Un::U32ToU64, a),
        _ => {}
    }
    float_const(s, op, ty, a, c).or_else(|| chain(s, op, ty, a, c))
}

fn float_const(s: &mut impl Site, op: Bin, ty: Ty, a: Value, c: u64) -> Option<Better> {
    use Bin::*;
    let x = if ty == Ty::B64 { f64::from_bits(c) } else { f32::from_bits(c as u32) as f64 };
    match op {
        FMul | FDiv if x == 1.0 => value(a),
        FMul | FDiv if x == -1.0 && ty == Ty::B32 => one(Un::FNeg, a),
        // x + −0 and x − +0 are x, signed zeros included.
        FAdd if c == sign(ty) => value(a),
        FSub if c == 0 => value(a),
        // By a power of two whose reciprocal is normal: the same rounding.
        FDiv if ty == Ty::B32 && c & 0x7F_FFFF == 0 && (1e-30..1e30).contains(&x.abs()) => {
            let by = s.constant(ty, (1.0 / x as f32).to_bits() as u64);
            two(FMul, a, by)
        }
        _ => None,
    }
}

/// `a op c` where `a` has a constant too, or is made of a Bool.
fn chain(s: &mut impl Site, op: Bin, ty: Ty, a: Value, c: u64) -> Option<Better> {
    use Bin::*;
    match s.def(a) {
        Def::Bin(inner, x, y) => {
            let d = s.known(y)?;
            let width = if ty == Ty::B64 { 64 } else { 32 };
            match (op, inner) {
                (IAdd, IAdd) | (And, And) | (Or, Or) | (Xor, Xor) | (IMul, IMul) => {
                    let both = eval::bin(op, ty, d, c)?;
                    let both = s.constant(ty, both);
                    two(op, x, both)
                }
                (Shl, Shl) | (LShr, LShr) => {
                    let sum = d % width + c % width;
                    if sum >= width {
                        return constant(0);
                    }
                    let by = s.constant(Ty::B32, sum);
                    two(op, x, by)
                }
                // There and back: what has been shifted out is gone.
                (Shl, LShr) | (LShr, Shl) if d % width == c % width => {
                    let all = ones(ty);
                    let kept = if op == Shl { all << (c % width) } else { all >> (c % width) };
                    let mask = s.constant(ty, kept & all);
                    two(And, x, mask)
                }
                _ => None,
            }
        }
        Def::Un(inner, x) => match (op, inner, c) {
            (INe, Un::BoolToInt, 0) | (IEq, Un::BoolToInt, 1) => value(x),
            (IEq, Un::BoolToInt, 0) | (INe, Un::BoolToInt, 1) => one(Un::BNot, x),
            (And, Un::ZExt8, _) if c & 0xFF == 0xFF => value(a),
            (And, Un::ZExt16, _) if c & 0xFFFF == 0xFFFF => value(a),
            (And, Un::BoolToInt, _) if c & 1 == 1 => value(a),
            _ => None,
        },
        _ => None,
    }
}

/// A better op of three operands; `ty`: the result's type.
pub fn tri(s: &mut impl Site, op: Tri, ty: Ty, [a, b, c]: [Value; 3]) -> Option<Better> {
    let consts = [s.known(a), s.known(b), s.known(c)];
    if op == Tri::Select {
        return select(s, ty, [a, b, c], consts);
    }
    match (op, consts) {
        (_, [Some(x), Some(y), Some(z)]) => eval::tri(op, s.ty(a), x, y, z).map(Better::Const),
        (Tri::UBfe, [_, Some(offset), Some(n)]) if ty == Ty::B32 && offset < 32 && (1..=32).contains(&n) => {
            let offset_v = s.constant(ty, offset);
            if offset + n >= 32 {
                return two(Bin::LShr, a, offset_v);
            }
            let x = s.make(Inst::Bin(Bin::LShr, a, offset_v))?;
            let mask = s.constant(ty, (1 << n) - 1);
            two(Bin::And, x, mask)
        }
        _ => None,
    }
}

fn select(
    s: &mut impl Site,
    ty: Ty,
    [cond, a, b]: [Value; 3],
    [k, ca, cb]: [Option<u64>; 3],
) -> Option<Better> {
    if let Some(k) = k {
        return value(if k & 1 == 1 { a } else { b });
    }
    if a == b {
        return value(a);
    }
    if let Def::Un(Un::BNot, x) = s.def(cond) {
        return Some(Better::Inst(Inst::Tri(Tri::Select, x, b, a)));
    }
    match (ty, ca, cb) {
        (Ty::Bool, Some(1), Some(0)) => value(cond),
        (Ty::Bool, Some(0), Some(1)) => one(Un::BNot, cond),
        (Ty::Bool, Some(1), None) => two(Bin::BOr, cond, b),
        (Ty::Bool, None, Some(0)) => two(Bin::BAnd, cond, a),
        (Ty::B32, Some(1), Some(0)) => one(Un::BoolToInt, cond),
        (Ty::B32, Some(0), Some(1)) => {
            let not = s.make(Inst::Un(Un::BNot, cond))?;
            one(Un::BoolToInt, not)
        }
        _ => None,
    }
}

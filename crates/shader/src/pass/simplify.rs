//! Local rules: constants, identities, strength. Every rule keeps the bits.

use super::gvn::Gvn;
use crate::eval;
use crate::ir::{Bin, Input, Inst, Shader, Tri, Ty, Un, Value};

/// What an instruction may be replaced with.
pub enum Better {
    Value(Value),
    Const(u64),
    Inst(Inst),
}

/// One step of simplification; operands are final.
pub fn simplify(shader: &Shader, gvn: &mut Gvn, inst: &Inst, ty: Ty) -> Option<Better> {
    match *inst {
        Inst::Un(op, a) => un(shader, op, a),
        Inst::Bin(op, a, b) => bin(shader, gvn, op, a, b),
        Inst::Tri(op, a, b, c) => tri(shader, op, ty, [a, b, c]),
        Inst::Input(i) => input(shader, i),
        _ => None,
    }
}

fn input(shader: &Shader, input: Input) -> Option<Better> {
    let [x, y, z] = shader.workgroup;
    let n = x * y * z;
    match input {
        Input::LocalId(i) if i < 3 && shader.workgroup[i as usize] == 1 => Some(Better::Const(0)),
        Input::LocalIndex if y == 1 && z == 1 => Some(Better::Inst(Inst::Input(Input::LocalId(0)))),
        Input::NumSubgroups => Some(Better::Const(n.div_ceil(16) as u64)),
        Input::SubgroupId if n <= 16 => Some(Better::Const(0)),
        _ => None,
    }
}

fn un(shader: &Shader, op: Un, a: Value) -> Option<Better> {
    use Un::*;
    if op == Mov {
        return Some(Better::Value(a));
    }
    let ty = shader.ty(a);
    if let Some(x) = shader.as_const(a) {
        return eval::un(op, ty, x).map(Better::Const);
    }
    match (op, &shader.data(a).inst) {
        (FNeg, Inst::Un(FNeg, x)) | (INeg, Inst::Un(INeg, x)) => Some(Better::Value(*x)),
        (Not, Inst::Un(Not, x)) | (BNot, Inst::Un(BNot, x)) => Some(Better::Value(*x)),
        (IntToBool, Inst::Un(BoolToInt, x)) => Some(Better::Value(*x)),
        (FCanon, Inst::Un(FCanon, _)) => Some(Better::Value(a)),
        (FAbs, Inst::Un(FNeg | FAbs, x)) => Some(Better::Inst(Inst::Un(FAbs, *x))),
        (Lo32, Inst::Bin(Bin::Pack64, x, _)) | (Hi32, Inst::Bin(Bin::Pack64, _, x)) => {
            Some(Better::Value(*x))
        }
        (Lo32, Inst::Un(U32ToU64 | S32ToS64, x)) => Some(Better::Value(*x)),
        (Hi32, Inst::Un(U32ToU64, _)) => Some(Better::Const(0)),
        (BNot, Inst::Bin(op, x, y)) => {
            let (op, x, y) = match op {
                Bin::IEq => (Bin::INe, x, y),
                Bin::INe => (Bin::IEq, x, y),
                Bin::SLt => (Bin::SLe, y, x),
                Bin::SLe => (Bin::SLt, y, x),
                Bin::ULt => (Bin::ULe, y, x),
                Bin::ULe => (Bin::ULt, y, x),
                Bin::FEq => (Bin::FNe, x, y),
                Bin::FNe => (Bin::FEq, x, y),
                _ => return None,
            };
            Some(Better::Inst(Inst::Bin(op, *x, *y)))
        }
        _ => None,
    }
}

pub fn commutes(op: Bin) -> bool {
    op.facts().commutes
}

fn bin(shader: &Shader, gvn: &mut Gvn, op: Bin, a: Value, b: Value) -> Option<Better> {
    use Bin::*;
    let ty = shader.ty(a);
    let (ca, cb) = (shader.as_const(a), shader.as_const(b));
    if let (Some(x), Some(y)) = (ca, cb) {
        return eval::bin(op, ty, x, y).map(Better::Const);
    }
    // Constants second.
    if commutes(op) && (ca.is_some() || (cb.is_none() && a > b)) {
        return Some(Better::Inst(Inst::Bin(op, b, a)));
    }
    let ones = if ty == Ty::B64 { u64::MAX } else { 0xFFFF_FFFF };
    let width = if ty == Ty::B64 { 64 } else { 32 };
    let value = |v: Value| Some(Better::Value(v));
    if a == b {
        match op {
            And | Or | BAnd | BOr | SMin | SMax | UMin | UMax => return value(a),
            Xor | ISub | BXor => return Some(Better::Const(0)),
            IEq | SLe | ULe => return Some(Better::Const(1)),
            INe | SLt | ULt => return Some(Better::Const(0)),
            _ => {}
        }
    }
    let one = |t: Ty| if t == Ty::B64 { 1f64.to_bits() } else { 1f32.to_bits() as u64 };
    if op == Pack64
        && let (Inst::Un(Un::Lo32, x), Inst::Un(Un::Hi32, y)) = (&shader.data(a).inst, &shader.data(b).inst)
        && x == y
    {
        return value(*x);
    }
    let c = cb?;
    match op {
        IAdd | ISub | Or | Xor | Shl | LShr | AShr if c == 0 => return value(a),
        ISub => {
            let c = gvn.constant_of(ty, c.wrapping_neg() & ones);
            return c.map(|c| Better::Inst(Inst::Bin(IAdd, a, c)));
        }
        And | IMul if c == 0 => return Some(Better::Const(0)),
        IMul | UDiv | SDiv if c == 1 => return value(a),
        IMul | UDiv if c.is_power_of_two() => {
            let by = gvn.constant_of(Ty::B32, c.trailing_zeros() as u64)?;
            return Some(Better::Inst(Inst::Bin(if op == IMul { Shl } else { LShr }, a, by)));
        }
        URem if c.is_power_of_two() => {
            let mask = gvn.constant_of(ty, c - 1)?;
            return Some(Better::Inst(Inst::Bin(And, a, mask)));
        }
        And if c == ones => return value(a),
        Or if c == ones => return Some(Better::Const(ones)),
        BAnd | BXor if c & 1 == (op == BAnd) as u64 => return value(a),
        BAnd => return Some(Better::Const(0)),
        BOr if c & 1 == 0 => return value(a),
        BOr => return Some(Better::Const(1)),
        BXor => return Some(Better::Inst(Inst::Un(Un::BNot, a))),
        FMul | FDiv if c == one(ty) => return value(a),
        // x + −0 and x − (+0) are x, signed zeros included.
        FAdd if c == 1 << (width - 1) => return value(a),
        FSub if c == 0 => return value(a),
        FDiv if ty == Ty::B32 => {
            // By a power of two whose reciprocal is normal: the same rounding.
            let (exp, man) = ((c >> 23) & 0xFF, c & 0x7F_FFFF);
            if man == 0 && (1..=252).contains(&exp) {
                let r = gvn.constant_of(ty, c & 0x8000_0000 | (254 - exp) << 23)?;
                return Some(Better::Inst(Inst::Bin(FMul, a, r)));
            }
        }
        _ => {}
    }
    match (op, &shader.data(a).inst) {
        (IAdd | And | Or | Xor, Inst::Bin(inner, x, y)) if *inner == op => {
            let d = shader.as_const(*y)?;
            let both = gvn.constant_of(ty, eval::bin(op, ty, c, d)?)?;
            Some(Better::Inst(Inst::Bin(op, *x, both)))
        }
        (Shl | LShr, Inst::Bin(inner, x, y)) if *inner == op => {
            let sum = shader.as_const(*y)? % width + c % width;
            if sum >= width {
                return Some(Better::Const(0));
            }
            let by = gvn.constant_of(Ty::B32, sum)?;
            Some(Better::Inst(Inst::Bin(op, *x, by)))
        }
        // There and back: what has been shifted out is gone.
        (Shl, Inst::Bin(LShr, x, y)) | (LShr, Inst::Bin(Shl, x, y))
            if shader.as_const(*y)? % width == c % width =>
        {
            let kept = if op == Shl { ones << (c % width) } else { ones >> (c % width) };
            let mask = gvn.constant_of(ty, kept & ones)?;
            Some(Better::Inst(Inst::Bin(And, *x, mask)))
        }
        (INe, Inst::Un(Un::BoolToInt, x)) if c == 0 => value(*x),
        (IEq, Inst::Un(Un::BoolToInt, x)) if c == 1 => value(*x),
        (IEq, Inst::Un(Un::BoolToInt, x)) if c == 0 => Some(Better::Inst(Inst::Un(Un::BNot, *x))),
        _ => None,
    }
}

fn tri(shader: &Shader, op: Tri, ty: Ty, [a, b, c]: [Value; 3]) -> Option<Better> {
    let consts = (shader.as_const(a), shader.as_const(b), shader.as_const(c));
    let of = if op == Tri::Select { ty } else { shader.ty(a) };
    if let (Some(x), Some(y), Some(z)) = consts {
        return eval::tri(op, of, x, y, z).map(Better::Const);
    }
    if op != Tri::Select {
        return None;
    }
    match consts {
        (Some(x), _, _) => Some(Better::Value(if x & 1 == 1 { b } else { c })),
        _ if b == c => Some(Better::Value(b)),
        (_, Some(1), Some(0)) if ty == Ty::Bool => Some(Better::Value(a)),
        (_, Some(0), Some(1)) if ty == Ty::Bool => Some(Better::Inst(Inst::Un(Un::BNot, a))),
        (_, Some(1), Some(0)) if ty == Ty::B32 => Some(Better::Inst(Inst::Un(Un::BoolToInt, a))),
        _ => match shader.data(a).inst {
            Inst::Un(Un::BNot, x) => Some(Better::Inst(Inst::Tri(Tri::Select, x, c, b))),
            _ => None,
        },
    }
}

//! Values that the debugger computes itself: specialisation constants made of others, and what extended instructions store.

use super::module::{id, ids};
use super::state::{Moment, State};
use super::types::{Type, Value};
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{GlslStd450Op as GLOp, Op};

/// The value of an OpSpecConstantOp; `None` for operations that are not known here.
pub fn folded(state: &State, i: &Instruction, depth: usize) -> Option<Value> {
    let Some(Operand::LiteralSpecConstantOpInteger(op)) = i.operands.first() else { return None };
    let parts: Vec<Value> =
        ids(i).map(|p| state.constant(p, depth)).map(|v| v.unwrap_or(Value::Unknown)).collect();
    let ty = i.result_type?;
    if let Some(Type::Vector(e, n)) = state.trace.module.types.get(ty)
        && !matches!(op, Op::CompositeExtract | Op::CompositeInsert | Op::VectorShuffle)
    {
        let each = |k: usize| {
            let own: Vec<Value> =
                parts.iter().map(|p| p.parts().get(k).cloned().unwrap_or_else(|| p.clone())).collect();
            scalar(state, *op, &own, *e).unwrap_or(Value::Unknown)
        };
        return Some(Value::Composite((0..*n as usize).map(each).collect()));
    }
    if *op == Op::CompositeExtract {
        let literal = |o: &Operand| if let Operand::LiteralBit32(n) = o { Some(*n) } else { None };
        let path: Vec<u32> = i.operands.iter().filter_map(literal).collect();
        return parts.first().map(|p| p.at(&path));
    }
    scalar(state, *op, &parts, ty)
}

fn scalar(state: &State, op: Op, parts: &[Value], ty: u32) -> Option<Value> {
    let bits = |k: usize| match parts.get(k) {
        Some(Value::Int { of, .. }) => Some(*of),
        Some(Value::Bool(b)) => Some(*b as u64),
        _ => None,
    };
    let signed = |k: usize| {
        let Value::Int { of, bits, .. } = *parts.get(k)? else { return None };
        Value::Int { of, bits, signed: true }.int()
    };
    let truth = |k: usize| match parts.get(k) {
        Some(Value::Bool(b)) => Some(*b),
        _ => None,
    };
    let result: u64 = match op {
        Op::IAdd => bits(0)?.wrapping_add(bits(1)?),
        Op::ISub => bits(0)?.wrapping_sub(bits(1)?),
        Op::IMul => bits(0)?.wrapping_mul(bits(1)?),
        Op::UDiv => bits(0)?.checked_div(bits(1)?)?,
        Op::UMod => bits(0)?.checked_rem(bits(1)?)?,
        Op::SDiv => signed(0)?.checked_div(signed(1)?)? as u64,
        Op::SRem => signed(0)?.checked_rem(signed(1)?)? as u64,
        Op::SNegate => signed(0)?.wrapping_neg() as u64,
        Op::Not => !bits(0)?,
        Op::BitwiseAnd => bits(0)? & bits(1)?,
        Op::BitwiseOr => bits(0)? | bits(1)?,
        Op::BitwiseXor => bits(0)? ^ bits(1)?,
        Op::ShiftLeftLogical => bits(0)?.checked_shl(bits(1)? as u32)?,
        Op::ShiftRightLogical => bits(0)?.checked_shr(bits(1)? as u32)?,
        Op::UConvert | Op::Bitcast => bits(0)?,
        Op::SConvert => signed(0)? as u64,
        Op::LogicalAnd => (truth(0)? && truth(1)?) as u64,
        Op::LogicalOr => (truth(0)? || truth(1)?) as u64,
        Op::LogicalNot => !truth(0)? as u64,
        Op::LogicalEqual | Op::IEqual => (bits(0)? == bits(1)?) as u64,
        Op::LogicalNotEqual | Op::INotEqual => (bits(0)? != bits(1)?) as u64,
        Op::ULessThan => (bits(0)? < bits(1)?) as u64,
        Op::UGreaterThan => (bits(0)? > bits(1)?) as u64,
        Op::ULessThanEqual => (bits(0)? <= bits(1)?) as u64,
        Op::UGreaterThanEqual => (bits(0)? >= bits(1)?) as u64,
        Op::SLessThan => (signed(0)? < signed(1)?) as u64,
        Op::SGreaterThan => (signed(0)? > signed(1)?) as u64,
        Op::SLessThanEqual => (signed(0)? <= signed(1)?) as u64,
        Op::SGreaterThanEqual => (signed(0)? >= signed(1)?) as u64,
        Op::Select => return parts.get(if truth(0)? { 1 } else { 2 }).cloned(),
        _ => return None,
    };
    let result = match state.trace.module.types.get(ty) {
        Some(Type::Int { bits, .. }) if *bits < 64 => result & ((1 << bits) - 1),
        _ => result,
    };
    Some(state.trace.module.types.value(ty, &mut [result as u32, (result >> 32) as u32].into_iter()))
}

/// What Modf and Frexp store through their pointer.
pub fn out_of(state: &State, frame: u32, i: &Instruction, then: Moment) -> Value {
    let Some(Operand::LiteralExtInstInteger(n)) = i.operands.get(1) else { return Value::Unknown };
    let Some(x) = i.operands.get(2).and_then(id) else { return Value::Unknown };
    fn each(v: &Value, f: &dyn Fn(&Value) -> Value) -> Value {
        match v {
            Value::Composite(parts) => Value::Composite(parts.iter().map(|p| each(p, f)).collect()),
            v => f(v),
        }
    }
    let whole = |v: &Value| match (v, v.float()) {
        (Value::Float { bits: 64, .. }, Some(x)) => Value::Float { of: x.trunc().to_bits(), bits: 64 },
        (Value::Float { bits: 32, .. }, Some(x)) => {
            Value::Float { of: (x.trunc() as f32).to_bits() as u64, bits: 32 }
        }
        _ => Value::Unknown,
    };
    let exponent = |v: &Value| match v.float() {
        Some(0.0) => Value::Int { of: 0, bits: 32, signed: true },
        // The float is m · 2ᵉ with m from 0.5 to 1; as a double every one of 32 bits is normal.
        Some(x) if x.is_normal() => {
            let e = ((x.to_bits() >> 52) & 0x7FF) as i32 - 1022;
            Value::Int { of: e as u32 as u64, bits: 32, signed: true }
        }
        _ => Value::Unknown,
    };
    let x = state.value(frame, x, then);
    if *n == GLOp::Modf as u32 { each(&x, &whole) } else { each(&x, &exponent) }
}

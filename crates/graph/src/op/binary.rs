//! Elementwise operators of two tensors, comparisons, and the choice between two.

use super::map::{map, two};
use super::{Check, Rule, Run, need, pick};
use crate::math;
use crate::plan::Stop;
use crate::table::code as c;
use crate::types::{FLOAT, INT, Type};
use crate::value::Value;

/// Whether shapes, broadcast to each other, are the output's.
fn broadcast(inputs: &[&Value], output: &Value) -> Rule {
    for v in inputs {
        let rank = v.shape.len();
        need(rank == output.shape.len(), || {
            "inputs and output must have the same number of dimensions".into()
        })?;
        need(v.shape.iter().zip(&output.shape).all(|(n, o)| n == o || *n == 1), || {
            format!("shape {:?} cannot be broadcast to {:?}", v.shape, output.shape)
        })?;
    }
    let all = (0..output.shape.len()).all(|d| inputs.iter().any(|v| v.shape[d] == output.shape[d]));
    need(all, || format!("output of shape {:?} is larger than its inputs", output.shape))
}

/// Operands of the two tensors.
fn tensors(code: u8) -> [usize; 2] {
    match code {
        c::ARITHMETIC_RIGHT_SHIFT | c::MAXIMUM | c::MINIMUM => [1, 2],
        _ => [0, 1],
    }
}

pub(crate) fn check(k: &Check) -> Rule {
    let [a, b] = tensors(k.code()).map(|i| k.value(i));
    let output = k.result(0);
    let types = match k.code() {
        c::ARITHMETIC_RIGHT_SHIFT
        | c::BITWISE_AND
        | c::BITWISE_OR
        | c::BITWISE_XOR
        | c::LOGICAL_LEFT_SHIFT
        | c::LOGICAL_RIGHT_SHIFT => INT,
        c::LOGICAL_AND | c::LOGICAL_OR | c::LOGICAL_XOR => Type::Bool.bit(),
        c::INTDIV => Type::I32.bit(),
        c::POW => FLOAT,
        c::MUL => FLOAT | INT,
        _ => FLOAT | Type::I32.bit(),
    };
    k.is_of(a, types, "input1")?;
    need(a.ty == b.ty, || "both inputs must have the same type".into())?;
    let wanted = match k.code() {
        c::EQUAL | c::GREATER | c::GREATER_EQUAL => Type::Bool,
        c::MUL if !a.ty.is_float() => Type::I32,
        _ => a.ty,
    };
    need(output.ty == wanted, || format!("the output must be of type {wanted:?}"))?;
    broadcast(&[a, b], output)?;
    match k.code() {
        c::MAXIMUM | c::MINIMUM => k.nan_mode(0),
        c::MUL => {
            let [shift] = k.ints(2, "shift")?;
            let most = if a.ty == Type::I32 { 63 } else { 0 };
            need((0..=most).contains(&shift), || format!("a shift of {shift}, of at most {most}"))
        }
        _ => Ok(()),
    }
}

fn product(a: i64, b: i64, shift: i64) -> i64 {
    if shift == 0 { a.wrapping_mul(b) } else { a.wrapping_mul(b).wrapping_add(1 << (shift - 1)) >> shift }
}

fn shifted_right(a: i64, b: i64, round: bool) -> i64 {
    let b = (b & 31) as u32;
    (a >> b) + (round && b > 0 && a >> (b - 1) & 1 != 0) as i64
}

pub(crate) fn run(r: &Run) -> Result<(), Stop> {
    let places = tensors(r.code());
    let inputs = &places.map(|i| &r.operands[i])[..];
    let ty = inputs[0].ty;
    let larger = r.code() == c::MAXIMUM;
    if ty.is_float() {
        match r.code() {
            c::ADD => two(r, inputs, |a: f32, b| a + b),
            c::SUB => two(r, inputs, |a: f32, b| a - b),
            c::MUL => two(r, inputs, |a: f32, b| a * b),
            c::POW => two(r, inputs, |a: f32, b| math::pow(a as f64, b as f64) as f32),
            _ => {
                let ignore = r.check.ignores_nans(0);
                two(r, inputs, move |a: f32, b| pick(a, b, larger, ignore));
            }
        }
        return Ok(());
    }
    let mask = match ty {
        Type::I8 => 0xff,
        Type::I16 => 0xffff,
        _ => 0xffff_ffffi64,
    };
    match r.code() {
        c::ADD => two(r, inputs, |a: i64, b| a + b),
        c::SUB => two(r, inputs, |a: i64, b| a - b),
        c::BITWISE_AND | c::LOGICAL_AND => two(r, inputs, |a: i64, b| a & b),
        c::BITWISE_OR | c::LOGICAL_OR => two(r, inputs, |a: i64, b| a | b),
        c::BITWISE_XOR | c::LOGICAL_XOR => two(r, inputs, |a: i64, b| a ^ b),
        c::INTDIV => two(r, inputs, |a: i64, b| if b == 0 { 0 } else { a / b }),
        c::LOGICAL_LEFT_SHIFT => two(r, inputs, |a: i64, b| a << (b & 31)),
        c::LOGICAL_RIGHT_SHIFT => two(r, inputs, move |a: i64, b| (a & mask) >> (b & 31)),
        c::ARITHMETIC_RIGHT_SHIFT => {
            let round = r.ints(0)[0] != 0;
            two(r, inputs, move |a, b| shifted_right(a, b, round));
        }
        c::MUL => {
            let shift = r.ints(2)[0];
            two(r, inputs, move |a, b| product(a, b, shift));
        }
        _ => two(r, inputs, move |a: i64, b| if larger { a.max(b) } else { a.min(b) }),
    }
    Ok(())
}

pub(crate) fn compare(r: &Run) -> Result<(), Stop> {
    let inputs = &[&r.operands[0], &r.operands[1]];
    let code = r.code();
    if r.operands[0].ty.is_float() {
        two(r, inputs, move |a: f32, b| if is(code, &a, &b) { 1f32 } else { 0.0 });
    } else {
        two(r, inputs, move |a: i64, b| is(code, &a, &b) as i64);
    }
    Ok(())
}

#[inline(always)]
fn is<T: PartialOrd>(code: u8, a: &T, b: &T) -> bool {
    match code {
        c::EQUAL => a == b,
        c::GREATER => a > b,
        _ => a >= b,
    }
}

pub(crate) fn check_select(k: &Check) -> Rule {
    let [which, a, b] = [0, 1, 2].map(|i| k.value(i));
    k.is_of(which, Type::Bool.bit(), "input1")?;
    k.is_of(a, FLOAT | INT | Type::Bool.bit(), "input2")?;
    need(a.ty == b.ty && a.ty == k.result(0).ty, || {
        "both inputs and the output must have the same type".into()
    })?;
    broadcast(&[which, a, b], k.result(0))
}

fn choose<T: crate::types::Wide>(r: &Run) {
    let inputs = [&r.operands[0], &r.operands[1], &r.operands[2]];
    map(r, &inputs, false, &|_, x: &[&[T]], out: &mut [T]| {
        for (i, o) in out.iter_mut().enumerate() {
            *o = if x[0][i] != T::default() { x[1][i] } else { x[2][i] };
        }
    });
}

pub(crate) fn select(r: &Run) -> Result<(), Stop> {
    if r.operands[1].ty.is_float() {
        choose::<f32>(r)
    } else {
        choose::<i64>(r)
    }
    Ok(())
}

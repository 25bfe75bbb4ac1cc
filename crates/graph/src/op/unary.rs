//! Elementwise operators of one tensor, and lookup tables.

use super::map::one;
use super::{Check, Rule, Run, need};
use crate::math;
use crate::plan::Stop;
use crate::table::code as c;
use crate::types::{FLOAT, INT, Type};

pub(crate) fn check(k: &Check) -> Rule {
    let (input, output) = (k.value(0), k.result(0));
    let types = match k.code() {
        c::ABS => FLOAT | Type::I32.bit(),
        c::BITWISE_NOT => INT,
        c::CLZ => Type::I32.bit(),
        c::LOGICAL_NOT => Type::Bool.bit(),
        c::NEGATE => INT | FLOAT,
        _ => FLOAT,
    };
    k.is_of(input, types, "input1")?;
    need(output.ty == input.ty, || "the output must have the input's type".into())?;
    need(output.shape == input.shape, || "the output must have the input's shape".into())?;
    if k.code() == c::NEGATE {
        k.zero_point(1, input.ty, input.ty == Type::I8)?;
        k.zero_point(2, input.ty, input.ty == Type::I8)?;
    }
    Ok(())
}

/// By way of f64: not the hottest of functions.
fn float(code: u8) -> fn(f64) -> f64 {
    match code {
        c::COS => math::cos,
        c::EXP => math::exp,
        c::LOG => math::log,
        c::RECIPROCAL => |x| 1.0 / x,
        c::RSQRT => |x| if x < 0.0 { f64::NAN } else { 1.0 / x.sqrt() },
        _ => math::sin,
    }
}

pub(crate) fn run(r: &Run) -> Result<(), Stop> {
    let ty = r.operands[0].ty;
    match r.code() {
        c::ABS if ty.is_float() => one(r, 0, f32::abs),
        c::ABS => one(r, 0, i64::abs),
        c::NEGATE if ty.is_float() => one(r, 0, |x: f32| -x),
        c::NEGATE => {
            let ([zero, out], [low, high]) = ([r.ints(1)[0], r.ints(2)[0]], ty.range());
            one(r, 0, move |x: i64| (out - (x - zero)).clamp(low, high));
        }
        c::BITWISE_NOT => one(r, 0, |x: i64| !x),
        c::LOGICAL_NOT => one(r, 0, |x: i64| x ^ 1),
        c::CLZ => one(r, 0, |x: i64| (x as u32).leading_zeros() as i64),
        c::CEIL => one(r, 0, f32::ceil),
        c::FLOOR => one(r, 0, f32::floor),
        code => {
            let f = float(code);
            one(r, 0, move |x: f32| f(x as f64) as f32);
        }
    }
    Ok(())
}

pub(crate) fn check_table(k: &Check) -> Rule {
    let (input, table, output) = (k.value(0), k.value(1), k.result(0));
    let types = (input.ty, table.ty, output.ty);
    let small = types == (Type::I8, Type::I8, Type::I8);
    let large = types == (Type::I16, Type::I16, Type::I32);
    need(small || large, || format!("types {types:?} are not supported"))?;
    need(output.shape == input.shape, || "the output must have the input's shape".into())?;
    k.has_shape(table, &[if small { 256 } else { 513 }], "table")
}

pub(crate) fn table(r: &Run) -> Result<(), Stop> {
    let table = r.ints(1);
    if r.operands[0].ty == Type::I8 {
        one(r, 0, |x: i64| table[(x + 128) as usize & 255]);
    } else {
        one(r, 0, |x: i64| {
            let at = ((x + 32768) >> 7) as usize & 511;
            (table[at] << 7) + (table[at + 1] - table[at]) * (x & 127)
        });
    }
    Ok(())
}

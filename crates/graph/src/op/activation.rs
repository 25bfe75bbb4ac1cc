//! Activation functions.

use super::map::one;
use super::{Check, Rule, Run, need};
use crate::math;
use crate::plan::Stop;
use crate::table::code as c;
use crate::types::{FLOAT, Type};

/// The operand of CLAMP that is the tensor.
const CLAMPED: usize = 3;

pub(crate) fn check(k: &Check) -> Rule {
    let clamp = k.code() == c::CLAMP;
    let (input, output) = (k.value(if clamp { CLAMPED } else { 0 }), k.result(0));
    let types = if clamp { FLOAT | Type::I8.bit() | Type::I16.bit() } else { FLOAT };
    k.is_of(input, types, "input")?;
    need(output.ty == input.ty, || "the output must have the input's type".into())?;
    need(output.shape == input.shape, || "the output must have the input's shape".into())?;
    if clamp {
        for i in 0..2 {
            let v = k.value(i);
            need(v.ty == input.ty && v.elements() == Some(1), || {
                "min_val and max_val must be one element of the input's type".into()
            })?;
        }
        k.nan_mode(2)?;
        // False for a NaN.
        need(k.constants::<f32>(0)[0] <= k.constants::<f32>(1)[0], || {
            "min_val must not exceed max_val".into()
        })?;
    }
    Ok(())
}

pub(crate) fn run(r: &Run) -> Result<(), Stop> {
    match r.code() {
        c::CLAMP if r.operands[CLAMPED].ty.is_float() => {
            let bounds = [0, 1].map(|i| r.check.constants::<f32>(i)[0]);
            let ignore = r.check.ignores_nans(2);
            let [low, high] = bounds;
            one(r, CLAMPED, move |x: f32| {
                // A NaN is in no order, and bounds are none.
                let x = if x < low || ignore && x.is_nan() { low } else { x };
                if x >= high { high } else { x }
            });
        }
        c::CLAMP => {
            let bounds = [0, 1].map(|i| r.ints(i)[0]);
            one(r, CLAMPED, move |x: i64| x.clamp(bounds[0], bounds[1]));
        }
        code => {
            let f = match code {
                c::ERF => math::erf,
                c::SIGMOID => math::sigmoid,
                _ => math::tanh,
            };
            one(r, 0, move |x: f32| f(x as f64) as f32);
        }
    }
    Ok(())
}

//! Conversions of types.

use super::map::{map, one};
use super::{Check, Rule, Run, need};
use crate::plan::Stop;
use crate::types::{F8, FLOAT, INT, Type};

pub(crate) fn check_cast(k: &Check) -> Rule {
    let (input, output) = (k.value(0), k.result(0));
    let (from, to) = (input.ty, output.ty);
    let whole = INT | Type::Bool.bit();
    let fits = match from {
        Type::Bool => to.is_in(INT),
        _ if from.is_in(INT) => to.is_in(whole | FLOAT),
        _ if from.is_in(F8) => to.is_in(FLOAT),
        Type::F32 => to.is_in(INT | F8 | FLOAT),
        _ if from.is_in(FLOAT) => to.is_in(INT | F8) || to == Type::F32,
        _ => false,
    };
    need(fits && from != to, || format!("a conversion from {from:?} to {to:?} is not supported"))?;
    need(output.shape == input.shape, || "the output must have the input's shape".into())
}

/// An integer as a float that rounds to any shorter float as the integer itself does: what is cut off shows in the last bit.
fn odd(x: i64) -> f32 {
    let near = x as f32;
    if near as i64 == x {
        return near;
    }
    let below = if (near as i64).abs() > x.abs() { f32::from_bits(near.to_bits() - 1) } else { near };
    f32::from_bits(below.to_bits() | 1)
}

pub(crate) fn cast(r: &Run) -> Result<(), Stop> {
    let (from, to) = (r.operands[0].ty, r.results[0].ty);
    match (from.is_float(), to.is_float()) {
        (true, true) => one(r, 0, |x: f32| x),
        (false, false) => one(r, 0, |x: i64| x),
        (false, true) if to == Type::F32 => one(r, 0, |x: i64| x as f32),
        (false, true) => one(r, 0, odd),
        (true, false) => {
            let [low, high] = to.range();
            one(r, 0, move |x: f32| (x.round_ties_even() as i64).clamp(low, high));
        }
    }
    Ok(())
}

/// Operands of RESCALE.
mod at {
    pub const SCALE32: usize = 0;
    pub const ROUNDING: usize = 1;
    pub const PER_CHANNEL: usize = 2;
    pub const INPUT_UNSIGNED: usize = 3;
    pub const OUTPUT_UNSIGNED: usize = 4;
    pub const INPUT: usize = 5;
    pub const MULTIPLIER: usize = 6;
    pub const SHIFT: usize = 7;
    pub const INPUT_ZERO: usize = 8;
    pub const OUTPUT_ZERO: usize = 9;
}

const DOUBLE_ROUND: i64 = 3;

/// Zero point of a tensor, which may be unsigned.
fn zero(k: &Check, i: usize, unsigned: bool) -> i64 {
    let v = k.int(i);
    match (unsigned, k.value(i).ty) {
        (true, Type::I8) => v as u8 as i64,
        (true, Type::I16) => v as u16 as i64,
        _ => v,
    }
}

pub(crate) fn check_rescale(k: &Check) -> Rule {
    let (input, output) = (k.value(at::INPUT), k.result(0));
    k.is_of(input, INT | Type::I48.bit(), "input")?;
    k.is_of(output, INT, "output")?;
    need(output.shape == input.shape, || "the output must have the input's shape".into())?;
    let [scale32] = k.ints(at::SCALE32, "scale32")?;
    let [rounding] = k.ints(at::ROUNDING, "rounding_mode")?;
    let [per_channel] = k.ints(at::PER_CHANNEL, "per_channel")?;
    let [from_unsigned] = k.ints(at::INPUT_UNSIGNED, "input_unsigned")?;
    let [to_unsigned] = k.ints(at::OUTPUT_UNSIGNED, "output_unsigned")?;
    need((1..=DOUBLE_ROUND).contains(&rounding), || format!("rounding_mode {rounding} is none"))?;
    need(scale32 != 0 || rounding != DOUBLE_ROUND, || "DOUBLE_ROUND needs scale32".into())?;
    need(scale32 == 0 || input.ty != Type::I48, || "scale32 is not for i48".into())?;
    need(from_unsigned == 0 || to_unsigned == 0, || "input and output must not both be unsigned".into())?;
    let small = |ty: Type| matches!(ty, Type::I8 | Type::I16);
    need(from_unsigned == 0 || small(input.ty) && small(output.ty), || {
        "input_unsigned is for 8 and 16 bits".into()
    })?;
    need(to_unsigned == 0 || small(input.ty) && small(output.ty), || {
        "output_unsigned is for 8 and 16 bits".into()
    })?;
    for (i, v, unsigned) in [(at::INPUT_ZERO, input, from_unsigned), (at::OUTPUT_ZERO, output, to_unsigned)] {
        let wide = v.ty == Type::I16 && unsigned != 0;
        k.zero_point(i, v.ty, v.ty == Type::I8 || wide)?;
        need(!wide || matches!(zero(k, i, true), 0 | 32768), || "a zero point of u16 is 0 or 32768".into())?;
    }
    let channels = match per_channel {
        0 => 1,
        _ => *input.shape.last().unwrap_or(&1) as i64,
    };
    let (multiplier, shift) = (k.value(at::MULTIPLIER), k.value(at::SHIFT));
    let wanted = if scale32 != 0 { Type::I32 } else { Type::I16 };
    need(multiplier.ty == wanted && shift.ty == Type::I8, || {
        format!("multiplier must be of type {wanted:?} and shift of I8")
    })?;
    k.has_shape(multiplier, &[channels], "multiplier")?;
    k.has_shape(shift, &[channels], "shift")?;
    let read = k.constants::<i64>(at::SHIFT).len() as i64;
    need(read == channels, || format!("scales of {channels} channels are not supported"))?;
    need(k.constants::<i64>(at::MULTIPLIER).iter().all(|m| *m >= 0), || "a multiplier is negative".into())?;
    need(k.constants::<i64>(at::SHIFT).iter().all(|s| (2..=62).contains(s)), || {
        "a shift is not of 2 to 62".into()
    })
}

/// value · multiplier / 2^shift, rounded.
fn scaled(value: i64, multiplier: i64, shift: i64, double: bool) -> i64 {
    let mut round = 1i64 << (shift - 1);
    if double && shift > 31 {
        round += if value >= 0 { 1 << 30 } else { -(1 << 30) };
    }
    value.wrapping_mul(multiplier).wrapping_add(round) >> shift
}

pub(crate) fn rescale(r: &Run) -> Result<(), Stop> {
    let k = &r.check;
    let [per_channel, unsigned, to_unsigned] =
        [at::PER_CHANNEL, at::INPUT_UNSIGNED, at::OUTPUT_UNSIGNED].map(|i| k.int(i) != 0);
    let double = k.int(at::ROUNDING) == DOUBLE_ROUND;
    let (multipliers, shifts) = (r.ints(at::MULTIPLIER), r.ints(at::SHIFT));
    let [from, to] = [zero(k, at::INPUT_ZERO, unsigned), zero(k, at::OUTPUT_ZERO, to_unsigned)];
    let input = &r.operands[at::INPUT];
    let mask = match input.ty {
        Type::I8 if unsigned => 0xff,
        Type::I16 if unsigned => 0xffff,
        _ => -1,
    };
    let [low, high] = match (to_unsigned, r.results[0].ty) {
        (true, Type::I8) => [0, 255],
        (true, _) => [0, 65535],
        (false, ty) => ty.range(),
    };
    map(r, &[input], per_channel, &|begin, x: &[&[i64]], out: &mut [i64]| {
        for (i, (o, v)) in out.iter_mut().zip(x[0]).enumerate() {
            let channel = if per_channel { begin + i } else { 0 };
            let value = (v & mask) - from;
            let result = scaled(value, multipliers[channel], shifts[channel], double) as i32 as i64;
            *o = (result + to).clamp(low, high);
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_odd_float_keeps_what_is_cut() {
        assert_eq!(super::odd(5), 5.0);
        // 2^25 + 1 is cut to 2^25, whose last bit is set instead; and so below 2^25 + 4.
        assert_eq!(super::odd((1 << 25) + 1).to_bits(), ((1 << 25) as f32).to_bits() | 1);
        assert_eq!(super::odd((1 << 25) + 3).to_bits(), ((1 << 25) as f32).to_bits() | 1);
        assert_eq!(super::odd(-(1 << 25) - 1), -super::odd((1 << 25) + 1));
    }
}

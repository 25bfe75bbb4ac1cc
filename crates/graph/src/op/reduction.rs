//! Reductions along an axis.

use super::{Check, Rule, Run, dims, need, pick};
use crate::plan::Stop;
use crate::table::code as c;
use crate::types::{F8, FLOAT, INT, Type, Wide, round};
use crate::view::View;

/// Elements of a row that are reduced side by side.
const BLOCK: usize = 256;

fn modes(code: u8) -> bool {
    matches!(code, c::REDUCE_MAX | c::REDUCE_MIN)
}

pub(crate) fn check(k: &Check) -> Rule {
    let at = if modes(k.code()) { 2 } else { 1 };
    let (input, output) = (k.value(at), k.result(0));
    let types = match k.code() {
        c::REDUCE_ALL | c::REDUCE_ANY => Type::Bool.bit(),
        c::REDUCE_MAX | c::REDUCE_MIN => INT | FLOAT,
        c::REDUCE_PRODUCT => FLOAT,
        _ => FLOAT | Type::I32.bit(),
    };
    k.is_of(input, types, "input")?;
    need(output.ty == input.ty, || "the output must have the input's type".into())?;
    if modes(k.code()) {
        k.nan_mode(1)?;
    }
    let mut shape = dims(input);
    shape[k.axis(0, input.shape.len())?] = 1;
    k.has_shape(output, &shape, "output")
}

pub(crate) fn check_argmax(k: &Check) -> Rule {
    let (input, output) = (k.value(2), k.result(0));
    k.is_of(input, FLOAT | F8 | Type::I8.bit() | Type::I16.bit(), "input")?;
    k.is_of(output, Type::I32.bit(), "output")?;
    k.nan_mode(1)?;
    let mut shape = dims(input);
    shape.remove(k.axis(0, input.shape.len())?);
    // A graph's tensor has a dimension at least; Arm's converter makes TOSA's scalars tensors of one element.
    if shape.is_empty() {
        shape.push(1);
    }
    k.has_shape(output, &shape, "output")
}

/// What a reduction does with elements side by side: their number along the axis, the elements, and what has been made of those before.
/// Where one result is made, all elements are its, and follow one another along the axis.
type Each<'a, T> = dyn Fn(usize, &[T], &mut [T], &mut [i64]) + Sync + 'a;

/// Goes along the axis for blocks of elements side by side.
fn along<T: Wide>(r: &Run, input: &View, first: T, f: &Each<T>, places: bool) {
    let (axis, out) = (r.ints(0)[0] as usize, &r.results[0]);
    let count = input.dim(axis);
    // Elements within the axis that lie one after the other in both: those of the last dimension, unless that is reduced.
    let last = input.shape.len() - 1;
    let inner = if axis == last { 1 } else { input.dim(last) };
    let mut outer: Vec<usize> = (0..input.shape.len()).filter(|d| *d != axis).collect();
    if axis != last {
        outer.pop();
    }
    let parts = inner.div_ceil(BLOCK);
    let blocks = outer.iter().map(|d| input.dim(*d)).product::<usize>() * parts;
    // ARGMAX' output lacks the axis.
    let stride = |d: usize| match out.shape.len() == input.shape.len() {
        true => out.strides[d],
        false => out.strides[d - (d > axis) as usize],
    };
    r.pool.run(blocks as u64, &|block| {
        let begin = block as usize % parts * BLOCK;
        let n = (inner - begin).min(BLOCK);
        let mut number = block as usize / parts;
        let (mut from, mut to) = ((begin * input.ty.bytes()) as u64, (begin * out.ty.bytes()) as u64);
        for d in outer.iter().rev() {
            let i = (number % input.dim(*d)) as u64;
            number /= input.dim(*d);
            from += i * input.strides[*d];
            to += i * stride(*d);
        }
        let mut row = [T::default(); BLOCK];
        let (mut made, mut place) = ([first; BLOCK], [0; BLOCK]);
        if axis == last {
            for i in (0..count).step_by(BLOCK) {
                let m = (count - i).min(BLOCK);
                input.read(from + (i * input.ty.bytes()) as u64, &mut row[..m]);
                f(i, &row[..m], &mut made[..1], &mut place[..1]);
            }
        } else {
            for i in 0..count {
                input.read(from + i as u64 * input.strides[axis], &mut row[..n]);
                f(i, &row[..n], &mut made[..n], &mut place[..n]);
            }
        }
        if places { out.write(to, &place[..n]) } else { out.write(to, &made[..n]) }
    });
}

fn fold<T: Wide>(r: &Run, input: &View, first: T, f: impl Fn(T, T) -> T + Sync) {
    let each = |_, x: &[T], made: &mut [T], _: &mut [i64]| match made {
        [one] => *one = x.iter().fold(*one, |m, x| f(m, *x)),
        all => all.iter_mut().zip(x).for_each(|(m, x)| *m = f(*m, *x)),
    };
    along(r, input, first, &each, false);
}

/// What the greatest (or least) element is looked for from.
fn start(ty: Type, larger: bool, ignore: bool) -> f32 {
    match ty {
        _ if ignore => f32::NAN,
        // TOSA's least value of a float is its least finite one, which no element but an infinity is beyond: it gives the same.
        _ if larger => f32::NEG_INFINITY,
        _ => f32::INFINITY,
    }
}

pub(crate) fn run(r: &Run) -> Result<(), Stop> {
    let code = r.code();
    let input = &r.operands[if modes(code) { 2 } else { 1 }];
    let ty = input.ty;
    match code {
        c::REDUCE_ALL => fold(r, input, 1, |a: i64, b| a & b),
        c::REDUCE_ANY => fold(r, input, 0, |a: i64, b| a | b),
        c::REDUCE_SUM if ty.is_float() => fold(r, input, 0.0, |a: f32, b| a + b),
        c::REDUCE_SUM => fold(r, input, 0, i64::wrapping_add),
        // Rounded each time, as its accumulator is of the tensor's type.
        c::REDUCE_PRODUCT => fold(r, input, 1.0, move |a: f32, b| round(ty, a * b)),
        _ => {
            let larger = code == c::REDUCE_MAX;
            if ty.is_float() {
                let ignore = r.check.ignores_nans(1);
                fold(r, input, start(ty, larger, ignore), move |a: f32, b| pick(a, b, larger, ignore));
            } else {
                let first = ty.range()[!larger as usize];
                fold(r, input, first, move |a: i64, b| if larger { a.max(b) } else { a.min(b) });
            }
        }
    }
    Ok(())
}

fn greatest<T: Wide>(r: &Run, first: T, ignore: bool) {
    let each = |i: usize, x: &[T], made: &mut [T], place: &mut [i64]| {
        let step = (made.len() == 1) as usize;
        for (j, x) in x.iter().enumerate() {
            let to = j * (1 - step);
            let better = pick(*x, made[to], true, ignore);
            #[allow(clippy::eq_op, reason = "only a NaN differs from itself")]
            if better != made[to] && !(better != better && made[to] != made[to]) {
                (made[to], place[to]) = (better, (i + j * step) as i64);
            }
        }
    };
    along(r, &r.operands[2], first, &each, true);
}

pub(crate) fn argmax(r: &Run) -> Result<(), Stop> {
    let ty = r.operands[2].ty;
    if ty.is_float() {
        let ignore = r.check.ignores_nans(1);
        greatest(r, start(ty, true, ignore), ignore);
    } else {
        greatest(r, ty.range()[0], false);
    }
    Ok(())
}

//! Operators that change where elements are.

use super::{Check, Rule, Run, dims, need};
use crate::plan::Stop;
use crate::table::code as c;
use crate::types::ANY;
use crate::view::{Span, View, packed};

/// Bytes that a task moves, about.
const TASK: u64 = 1 << 16;

/// A loop: how often, and how many bytes source and destination go on.
#[derive(Clone, Copy)]
struct Step {
    count: u64,
    from: i64,
    to: u64,
}

/// Elements of `size` bytes, moved by loops, the outermost first.
struct Moves {
    steps: Vec<Step>,
    /// Bytes that lie together in both.
    size: u64,
    from: u64,
    to: u64,
}

impl Moves {
    /// Loops along which both go on evenly become one.
    fn joined(mut self) -> Moves {
        let mut joined: Vec<Step> = vec![];
        for s in self.steps.into_iter().rev().filter(|s| s.count != 1) {
            match joined.last_mut() {
                None if s.from == self.size as i64 && s.to == self.size => self.size *= s.count,
                Some(l) if s.from == l.from * l.count as i64 && s.to == l.to * l.count => l.count *= s.count,
                _ => joined.push(s),
            }
        }
        joined.reverse();
        Moves { steps: joined, ..self }
    }

    fn run(self, pool: &dyn super::Pool, from: Span, to: Span) {
        let m = self.joined();
        let count: u64 = m.steps.iter().map(|s| s.count).product();
        let each = (TASK / m.size).max(1);
        pool.run(count.div_ceil(each), &|task| {
            for n in task * each..count.min((task + 1) * each) {
                let (mut number, mut a, mut b) = (n, m.from as i64, m.to);
                for s in m.steps.iter().rev() {
                    let i = number % s.count;
                    number /= s.count;
                    a += i as i64 * s.from;
                    b += i * s.to;
                }
                to.copy(b, from, a as u64, m.size as usize);
            }
        });
    }
}

/// All elements of a view to another of the same shape.
pub(crate) fn copy(pool: &dyn super::Pool, from: &View, to: &View) {
    let steps = (0..to.shape.len())
        .map(|d| Step { count: to.shape[d], from: from.strides[d] as i64, to: to.strides[d] })
        .collect();
    Moves { steps, size: to.ty.bytes() as u64, from: 0, to: 0 }.run(pool, from.span, to.span);
}

/// The operand whose elements move.
fn input(code: u8) -> usize {
    matches!(code, c::REVERSE | c::TRANSPOSE) as usize
}

fn per_dimension<const N: usize>(
    k: &Check,
    i: usize,
    rank: usize,
    name: &str,
) -> Result<Vec<[i64; N]>, String> {
    let all = k.constants::<i64>(i);
    need(!k.value(i).ty.is_float() && all.len() == rank * N, || {
        format!("{name} must be {N} integers for each of {rank} dimensions")
    })?;
    Ok(all.as_chunks::<N>().0.to_vec())
}

pub(crate) fn check(k: &Check) -> Rule {
    let at = input(k.code());
    let (v, output) = (k.value(at), k.result(0));
    let rank = v.shape.len();
    k.is_of(v, ANY, "input1")?;
    need(output.ty == v.ty, || "the output must have the input's type".into())?;
    let shape = dims(v);
    let sum = |a: i64, b: i64| a.checked_add(b).unwrap_or(i64::MAX);
    match k.code() {
        c::REVERSE => {
            k.axis(0, rank)?;
            k.has_shape(output, &shape, "output")
        }
        c::TRANSPOSE => {
            let perms = per_dimension::<1>(k, 0, rank, "perms")?;
            let mut seen = vec![false; rank];
            for [p] in &perms {
                let fresh = usize::try_from(*p).ok().and_then(|p| seen.get_mut(p)).filter(|s| !**s);
                *fresh.ok_or_else(|| format!("perms {perms:?} must name each dimension once"))? = true;
            }
            let shape: Vec<i64> = perms.iter().map(|[p]| shape[*p as usize]).collect();
            k.has_shape(output, &shape, "output")
        }
        c::PAD => {
            let padding = per_dimension::<2>(k, 1, rank, "padding")?;
            need(padding.iter().flatten().all(|p| *p >= 0), || "padding must not be negative".into())?;
            let fill = k.value(2);
            need(fill.ty == v.ty && fill.elements() == Some(1), || {
                "pad_const must be one element of the input's type".into()
            })?;
            let shape: Vec<i64> =
                shape.iter().zip(&padding).map(|(n, [a, b])| sum(*n, sum(*a, *b))).collect();
            k.has_shape(output, &shape, "output")
        }
        c::SLICE => {
            let starts = per_dimension::<1>(k, 1, rank, "start")?;
            let sizes = per_dimension::<1>(k, 2, rank, "size")?;
            for (([a], [n]), of) in starts.iter().zip(&sizes).zip(&shape) {
                need(*a >= 0 && *n > 0 && sum(*a, *n) <= *of, || {
                    format!("{n} elements from {a} on, of {of}")
                })?;
            }
            let sizes: Vec<i64> = sizes.iter().map(|[n]| *n).collect();
            k.has_shape(output, &sizes, "output")
        }
        c::TILE => {
            let multiples = per_dimension::<1>(k, 1, rank, "multiples")?;
            let shape: Vec<i64> = shape.iter().zip(&multiples).map(|(n, [m])| n.saturating_mul(*m)).collect();
            k.has_shape(output, &shape, "output")
        }
        _ => {
            let wanted = per_dimension::<1>(k, 1, output.shape.len(), "shape")?;
            let wanted: Vec<i64> = wanted.iter().map(|[n]| *n).collect();
            k.has_shape(output, &wanted, "output")?;
            need(v.elements() == output.elements(), || {
                "the output must have as many elements as the input".into()
            })
        }
    }
}

pub(crate) fn check_concat(k: &Check) -> Rule {
    let (first, output) = (k.value(1), k.result(0));
    k.is_of(first, ANY, "input1")?;
    let axis = k.axis(0, first.shape.len())?;
    let mut shape = dims(first);
    shape[axis] = 0;
    for i in 1..k.node.operands.len() {
        let v = k.value(i);
        need(v.ty == output.ty, || "inputs and output must have the same type".into())?;
        let mut own = dims(v);
        need(own.len() == shape.len(), || "inputs must have the same number of dimensions".into())?;
        shape[axis] += own[axis];
        own[axis] = shape[axis];
        need(own == shape, || format!("inputs must have the same shape but for dimension {axis}"))?;
    }
    k.has_shape(output, &shape, "output")
}

/// All of the source to a part of the output.
fn place(r: &Run, from: &View, at: u64) {
    let out = &r.results[0];
    let part = View { span: out.span.part(at, out.span.bytes()), shape: from.shape.clone(), ..out.clone() };
    copy(r.pool, from, &part);
}

pub(crate) fn concat(r: &Run) -> Result<(), Stop> {
    let axis = r.ints(0)[0] as usize;
    let mut at = 0;
    for v in &r.operands[1..] {
        place(r, v, at);
        at += v.shape[axis] * r.results[0].strides[axis];
    }
    Ok(())
}

pub(crate) fn run(r: &Run) -> Result<(), Stop> {
    let (from, out) = (&r.operands[input(r.code())], &r.results[0]);
    let rank = out.shape.len();
    let size = out.ty.bytes();
    let step = |d: usize, from: i64| Step { count: out.shape[d], from, to: out.strides[d] };
    let stride = |d: usize| from.strides[d] as i64;
    let (mut begin, mut steps) = (0, vec![]);
    match r.code() {
        c::REVERSE => {
            let axis = r.ints(0)[0] as usize;
            begin = (from.shape[axis] - 1) * from.strides[axis];
            steps.extend((0..rank).map(|d| step(d, if d == axis { -stride(d) } else { stride(d) })));
        }
        c::TRANSPOSE => steps.extend(r.ints(0).iter().enumerate().map(|(d, p)| step(d, stride(*p as usize)))),
        c::SLICE => {
            begin = r.ints(1).iter().zip(&from.strides).map(|(a, s)| *a as u64 * s).sum();
            steps.extend((0..rank).map(|d| step(d, stride(d))));
        }
        c::TILE => {
            for (d, m) in r.ints(1).iter().enumerate() {
                let n = from.shape[d];
                steps.push(Step { count: *m as u64, from: 0, to: n * out.strides[d] });
                steps.push(Step { count: n, ..step(d, stride(d)) });
            }
        }
        c::PAD => {
            let fill = View { shape: out.shape.clone(), strides: vec![0; rank], ..r.operands[2].clone() };
            copy(r.pool, &fill, out);
            let padding = r.ints(1);
            place(
                r,
                from,
                out.strides.iter().zip(padding.iter().step_by(2)).map(|(s, p)| s * *p as u64).sum(),
            );
            return Ok(());
        }
        _ => {
            // Both in the order of their elements: by way of what has no gaps, unless one of them is that.
            let flat = |v: &View| v.strides == packed(&v.shape, size);
            if flat(from) {
                copy(
                    r.pool,
                    &View { strides: packed(&out.shape, size), shape: out.shape.clone(), ..from.clone() },
                    out,
                );
            } else if flat(out) {
                copy(
                    r.pool,
                    from,
                    &View { strides: packed(&from.shape, size), shape: from.shape.clone(), ..out.clone() },
                );
            } else {
                reshape_apart(r, from, out);
            }
            return Ok(());
        }
    }
    Moves { steps, size: size as u64, from: begin, to: 0 }.run(r.pool, from.span, out.span);
    Ok(())
}

/// Element by element: both tensors have gaps.
fn reshape_apart(r: &Run, from: &View, out: &View) {
    let offset = |v: &View, mut n: u64| {
        let mut at = 0;
        for (d, s) in v.shape.iter().zip(&v.strides).rev() {
            at += n % d * s;
            n /= d;
        }
        at
    };
    let count: u64 = out.shape.iter().product();
    r.pool.run(count.div_ceil(4096), &|task| {
        for n in task * 4096..count.min((task + 1) * 4096) {
            out.span.copy(offset(out, n), from.span, offset(from, n), out.ty.bytes());
        }
    });
}

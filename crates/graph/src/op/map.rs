//! Operators that compute each element of their result from the elements at its place.

use super::Run;
use crate::types::Wide;
use crate::view::View;

/// Elements that a kernel gets at once.
const BLOCK: usize = 1024;
/// Blocks of a task.
const BLOCKS: u64 = 16;

/// Elements of operands and of the result.
pub(crate) type Kernel<'a, I, O> = dyn Fn(usize, &[&[I]], &mut [O]) + Sync + 'a;

/// A loop over dimensions: how often, and how far each view goes on.
struct Loops {
    counts: Vec<u64>,
    /// By dimension: the strides of the views.
    strides: Vec<Vec<u64>>,
}

/// Dimensions along which all views go on evenly become one. `channels`: the last one stays.
fn loops(views: &[&View], shape: &[u64], channels: bool) -> Loops {
    let (mut counts, mut strides): (Vec<u64>, Vec<Vec<u64>>) = (vec![], vec![]);
    for d in (0..shape.len()).rev() {
        let of = |v: &&View| if v.shape[d] == 1 { 0 } else { v.strides[d] };
        let here: Vec<u64> = views.iter().map(of).collect();
        let kept = channels && counts.len() < 2;
        if let (Some(n), Some(inner)) = (counts.last_mut(), strides.last())
            && !kept
        {
            let even = here.iter().zip(inner).all(|(h, i)| *h == i * *n);
            if even || shape[d] == 1 {
                *n *= shape[d];
                continue;
            }
        }
        counts.push(shape[d]);
        strides.push(here);
    }
    Loops { counts, strides }
}

/// Reads the operands (each broadcast to the result's shape) in blocks, and writes what the kernel makes of them. The kernel is told a
/// block's place along the last dimension, which is that of the tensors if `channels` is set.
pub(crate) fn map<I: Wide, O: Wide>(run: &Run, inputs: &[&View], channels: bool, kernel: &Kernel<I, O>) {
    let out = &run.results[0];
    let mut views: Vec<&View> = inputs.to_vec();
    views.push(out);
    let l = loops(&views, &out.shape, channels);
    let inner = l.counts[0];
    let parts = inner.div_ceil(BLOCK as u64);
    let blocks = l.counts[1..].iter().product::<u64>() * parts;
    let size = |v: &View| v.ty.bytes() as u64;
    run.pool.run(blocks.div_ceil(BLOCKS), &|task| {
        let mut values = vec![vec![I::default(); BLOCK]; inputs.len()];
        let mut made = [O::default(); BLOCK];
        for block in task * BLOCKS..blocks.min((task + 1) * BLOCKS) {
            let begin = block % parts * BLOCK as u64;
            let n = (inner - begin).min(BLOCK as u64) as usize;
            let mut at = vec![0; views.len()];
            let mut number = block / parts;
            for (count, strides) in l.counts.iter().zip(&l.strides).skip(1) {
                at.iter_mut().zip(strides).for_each(|(a, s)| *a += number % count * s);
                number /= count;
            }
            for (k, (v, to)) in inputs.iter().zip(&mut values).enumerate() {
                if l.strides[0][k] == 0 {
                    v.read(at[k], &mut to[..1]);
                    let first = to[0];
                    to[..n].fill(first);
                } else {
                    v.read(at[k] + begin * size(v), &mut to[..n]);
                }
            }
            let values: Vec<&[I]> = values.iter().map(|v| &v[..n]).collect();
            kernel(begin as usize, &values, &mut made[..n]);
            out.write(at[inputs.len()] + begin * size(out), &made[..n]);
        }
    });
}

/// `f` of each element of operand `i`.
pub(crate) fn one<I: Wide, O: Wide>(run: &Run, i: usize, f: impl Fn(I) -> O + Sync) {
    map(run, &[&run.operands[i]], false, &|_, x: &[&[I]], out: &mut [O]| {
        out.iter_mut().zip(x[0]).for_each(|(o, x)| *o = f(*x));
    });
}

/// `f` of each pair of elements.
pub(crate) fn two<I: Wide, O: Wide>(run: &Run, inputs: &[&View], f: impl Fn(I, I) -> O + Sync) {
    map(run, inputs, false, &|_, x: &[&[I]], out: &mut [O]| {
        out.iter_mut().zip(x[0]).zip(x[1]).for_each(|((o, a), b)| *o = f(*a, *b));
    });
}

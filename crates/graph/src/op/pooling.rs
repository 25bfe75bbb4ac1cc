//! Pooling of images.

use super::{Check, Rule, Run, need, pick, steps};
use crate::plan::Stop;
use crate::table::code as c;
use crate::types::{F8, FLOAT, Type, Wide};

/// Channels that are pooled at once.
const BLOCK: usize = 256;

/// Kernels, strides and paddings of at most so much (TOSA's level 8K).
const MOST: i64 = 8192;

/// The operand that is pooled.
const INPUT: usize = 4;

pub(crate) fn check(k: &Check) -> Rule {
    let (v, output) = (k.value(INPUT), k.result(0));
    k.is_of(v, FLOAT | F8 | Type::I8.bit() | Type::I16.bit(), "input")?;
    need(output.ty == v.ty, || "the output must have the input's type".into())?;
    k.has_rank(v, 4, "input")?;
    let [kernel_y, kernel_x] = k.ints(0, "kernel")?;
    let [stride_y, stride_x] = k.ints(1, "stride")?;
    let [top, bottom, left, right] = k.ints(2, "pad")?;
    let within = |all: &[i64], least: i64| all.iter().all(|n| (least..=MOST).contains(n));
    need(within(&[kernel_y, kernel_x, stride_y, stride_x], 1), || {
        format!("kernel and stride must be 1 to {MOST}")
    })?;
    need(within(&[top, bottom, left, right], 0), || format!("pad must be 0 to {MOST}"))?;
    need(top.max(bottom) < kernel_y && left.max(right) < kernel_x, || "pad must be less than kernel".into())?;
    let [n, h, w, channels] = [0, 1, 2, 3].map(|d| v.shape[d] as i64);
    let oh = steps(h + top + bottom - kernel_y, stride_y, "height")?;
    let ow = steps(w + left + right - kernel_x, stride_x, "width")?;
    k.has_shape(output, &[n, oh, ow, channels], "output")?;
    if k.code() == c::MAX_POOL2D {
        return k.nan_mode(3);
    }
    super::convolution::accumulator(k, 3, v.ty)?;
    k.zero_point(5, v.ty, v.ty == Type::I8)?;
    k.zero_point(6, v.ty, v.ty == Type::I8)
}

/// Where a window lies.
struct Windows {
    kernel: [i64; 2],
    stride: [i64; 2],
    pad: [i64; 2],
}

/// For every window: `f` joins an element to what was made before, `end` makes the result of that and of the number of elements.
fn pool<T: Wide>(r: &Run, first: T, f: impl Fn(T, T) -> T + Sync, end: impl Fn(T, i64) -> T + Sync) {
    let two = |i: usize, step: usize| {
        let all = r.ints(i);
        [all[0], all[step]]
    };
    let of = Windows { kernel: two(0, 1), stride: two(1, 1), pad: two(2, 2) };
    let (input, out) = (&r.operands[INPUT], &r.results[0]);
    let size = |d: usize| input.dim(d) as i64;
    let rows = (out.dim(0) * out.dim(1)) as u64;
    r.pool.run(rows, &|row| {
        let (n, oy) = (row as usize / out.dim(1), row as usize % out.dim(1));
        let mut values = [T::default(); BLOCK];
        for ox in 0..out.dim(2) {
            let begin = [oy as i64 * of.stride[0] - of.pad[0], ox as i64 * of.stride[1] - of.pad[1]];
            let [ys, xs] = [0, 1].map(|i| begin[i].max(0)..(begin[i] + of.kernel[i]).min(size(1 + i)));
            for channel in (0..input.dim(3)).step_by(BLOCK) {
                let m = (input.dim(3) - channel).min(BLOCK);
                let mut made = [first; BLOCK];
                for y in ys.clone() {
                    for x in xs.clone() {
                        input.read(input.at(&[n, y as usize, x as usize, channel]), &mut values[..m]);
                        made[..m].iter_mut().zip(&values).for_each(|(a, v)| *a = f(*a, *v));
                    }
                }
                let count = (ys.end - ys.start) * (xs.end - xs.start);
                made[..m].iter_mut().for_each(|a| *a = end(*a, count));
                out.write(out.at(&[n, oy, ox, channel]), &made[..m]);
            }
        }
    });
}

/// `sum / count`, rounded as TOSA's reciprocal multiplication does.
fn average(sum: i64, count: i64) -> i64 {
    let k = 64 - (count as u64 - 1).leading_zeros();
    let multiplier = (((1i64 << 30) + 1) << k) / count;
    let shift = 30 + k;
    sum.wrapping_mul(multiplier).wrapping_add(1 << (shift - 1)) >> shift
}

pub(crate) fn run(r: &Run) -> Result<(), Stop> {
    let ty = r.operands[INPUT].ty;
    if r.code() == c::MAX_POOL2D {
        if ty.is_float() {
            let ignore = r.check.ignores_nans(3);
            let first = if ignore { f32::NAN } else { f32::NEG_INFINITY };
            pool(r, first, move |a, b| pick(a, b, true, ignore), |a, _| a);
        } else {
            pool(r, ty.range()[0], |a: i64, b| a.max(b), |a, _| a);
        }
    } else if ty.is_float() {
        pool(r, 0.0, |a: f32, b| a + b, |a, n| a / n as f32);
    } else {
        let ([zero, out], [low, high]) = ([r.ints(5)[0], r.ints(6)[0]], ty.range());
        let end = move |sum: i64, n: i64| (average(sum - n * zero, n) + out).clamp(low, high);
        pool(r, 0, |a: i64, b| a + b, end);
    }
    Ok(())
}

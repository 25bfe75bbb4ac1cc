//! Convolutions: as products of a panel of windows and of the weights, but for those that go by channel.

use super::product::{EXACT, Number, PANEL, Packed, Sum, forms};
use super::{Check, Rule, Run, need, room, steps};
use crate::plan::Stop;
use crate::table::code as c;
use crate::types::{F8, FLOAT, Type, Wide, round};
use crate::view::View;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Kernels, strides and paddings of at most so much (TOSA's level 8K).
const MOST: i64 = 8192;

/// Outputs of a place that a convolution by channel computes at once, if those of one channel are no more.
const BLOCK: usize = 256;

/// Elements of a row that a thread of such a convolution holds, where a channel's are no more.
const MAX_ROW: usize = 1 << 20;

/// Products of a sum at most: a thread's panel has so many elements of each row.
const MAX_DEPTH: u64 = 1 << 18;

/// Whether an accumulator is one of those that the elements may have.
pub(crate) fn accumulator(k: &Check, i: usize, ty: Type) -> Rule {
    const INT32: i64 = 1;
    const FP16: i64 = 2;
    const FP32: i64 = 3;
    const INT48: i64 = 4;
    let [acc] = k.ints(i, "acc_type")?;
    let fits = match ty {
        Type::I8 => acc == INT32,
        Type::I16 => acc == if k.code() == c::AVG_POOL2D { INT32 } else { INT48 },
        Type::F8E4M3 | Type::F8E5M2 => acc == FP16,
        Type::F16 => acc == FP16 || acc == FP32,
        _ => acc == FP32,
    };
    need(fits, || format!("acc_type {acc} is not supported with {ty:?}"))
}

/// Operands of all convolutions, from the number of attributes on.
struct Places {
    input: usize,
    weight: usize,
    bias: usize,
    zeros: [usize; 2],
}

fn places(code: u8) -> Places {
    let first = if code == c::TRANSPOSE_CONV2D { 4 } else { 5 };
    Places { input: first, weight: first + 1, bias: first + 2, zeros: [first + 3, first + 4] }
}

/// Types, and the bias' shape.
fn check_types(k: &Check, channels: i64) -> Rule {
    let p = places(k.code());
    let (input, weight, bias, output) = (k.value(p.input), k.value(p.weight), k.value(p.bias), k.result(0));
    k.is_of(input, FLOAT | F8 | Type::I8.bit() | Type::I16.bit(), "input")?;
    let (of_weight, of_output) = match input.ty {
        Type::I8 => (Type::I8, Type::I32),
        Type::I16 => (Type::I8, Type::I48),
        ty if ty.is_in(F8) => (ty, Type::F16),
        ty => (ty, ty),
    };
    need(weight.ty == of_weight && output.ty == of_output && bias.ty == of_output, || {
        format!(
            "with an input of {:?}, weight must be {of_weight:?}, bias and output {of_output:?}",
            input.ty
        )
    })?;
    accumulator(k, p.input - 2, input.ty)?;
    k.zero_point(p.zeros[0], input.ty, input.ty == Type::I8)?;
    k.zero_point(p.zeros[1], weight.ty, weight.ty == Type::I8)?;
    k.has_rank(bias, 1, "bias")?;
    let count = bias.shape[0] as i64;
    need(count == channels || count == 1, || format!("bias must have {channels} elements or 1, not {count}"))
}

/// Strides, and distances between a window's elements, by axis; paddings before and after.
struct Windows {
    pad: Vec<[i64; 2]>,
    stride: Vec<i64>,
    dilation: Vec<i64>,
    transposed: bool,
}

fn windows(k: &Check) -> Result<Windows, String> {
    if k.code() == c::CONV3D {
        let pad: [i64; 6] = k.ints(0, "pad")?;
        let pad = pad.as_chunks::<2>().0.to_vec();
        let (stride, dilation) = (k.ints::<3>(1, "stride")?.to_vec(), k.ints::<3>(2, "dilation")?.to_vec());
        return Ok(Windows { pad, stride, dilation, transposed: false });
    }
    let pad: [i64; 4] = k.ints(0, "pad")?;
    let pad = pad.as_chunks::<2>().0.to_vec();
    let stride = k.ints::<2>(1, "stride")?.to_vec();
    let transposed = k.code() == c::TRANSPOSE_CONV2D;
    let dilation = if transposed { vec![1, 1] } else { k.ints::<2>(2, "dilation")?.to_vec() };
    Ok(Windows { pad, stride, dilation, transposed })
}

pub(crate) fn check(k: &Check) -> Rule {
    let p = places(k.code());
    let (input, weight, output) = (k.value(p.input), k.value(p.weight), k.result(0));
    let w = windows(k)?;
    let axes = w.stride.len();
    k.has_rank(input, axes + 2, "input")?;
    k.has_rank(weight, axes + 2, "weight")?;
    let by_channel = k.code() == c::DEPTHWISE_CONV2D;
    let size = |d: usize| if by_channel { weight.shape[d] } else { weight.shape[1 + d] } as i64;
    let mut shape = vec![input.shape[0] as i64];
    for a in 0..axes {
        let [before, after] = w.pad[a];
        let (stride, dilation, kernel) = (w.stride[a], w.dilation[a], size(a));
        need((0..=MOST).contains(&before) && (0..=MOST).contains(&after), || {
            format!("pad must be 0 to {MOST}")
        })?;
        need((1..=MOST).contains(&stride), || format!("stride must be 1 to {MOST}"))?;
        need((1..=MOST).contains(&dilation) && dilation * kernel <= MOST, || {
            format!("dilation must be at least 1, and at most {MOST} with the kernel's {kernel}")
        })?;
        let reach = input.shape[1 + a] as i64 - 1 + before + after - (kernel - 1) * dilation;
        shape.push(steps(reach, stride, "an axis of the output")?);
    }
    let channels = *input.shape.last().unwrap_or(&1) as i64;
    let made = if by_channel {
        need(weight.shape[2] as i64 == channels, || "weight must have the input's channels".into())?;
        channels * weight.shape[3] as i64
    } else {
        need(weight.shape[axes + 1] as i64 == channels, || "weight must have the input's channels".into())?;
        weight.shape[0] as i64
    };
    shape.push(made);
    k.has_shape(output, &shape, "output")?;
    fits_panel(weight.shape[1..].iter().map(|n| *n as u64).product())?;
    check_types(k, made)
}

/// Whether a panel of products so deep fits a thread's memory.
pub(crate) fn fits_panel(depth: u64) -> Rule {
    need(depth <= MAX_DEPTH, || format!("sums of {depth} products are not supported"))
}

pub(crate) fn check_transpose(k: &Check) -> Rule {
    let p = places(k.code());
    let (input, weight, output) = (k.value(p.input), k.value(p.weight), k.result(0));
    k.has_rank(input, 4, "input")?;
    k.has_rank(weight, 4, "weight")?;
    let w = windows(k)?;
    let mut shape = vec![input.shape[0] as i64];
    for a in 0..2 {
        let kernel = weight.shape[1 + a] as i64;
        let [before, after] = w.pad[a];
        need((1..=MOST).contains(&w.stride[a]) && kernel <= MOST, || {
            format!("stride must be 1 to {MOST}, a kernel at most {MOST}")
        })?;
        let inside = |p: i64| p > -kernel && p <= MOST;
        need(inside(before) && inside(after), || "out_pad must be above minus the kernel's size".into())?;
        shape.push((input.shape[1 + a] as i64 - 1) * w.stride[a] + before + after + kernel);
    }
    need(weight.shape[3] == input.shape[3], || "weight must have the input's channels".into())?;
    shape.push(weight.shape[0] as i64);
    k.has_shape(output, &shape, "output")?;
    fits_panel(weight.shape[1..].iter().map(|n| *n as u64).product())?;
    check_types(k, weight.shape[0] as i64)
}

impl Windows {
    /// The input that element `k` of output `o`'s window is, along an axis of so many.
    fn source(&self, axis: usize, o: usize, k: usize, size: usize) -> Option<usize> {
        let (o, k) = (o as i64, k as i64);
        let i = match self.transposed {
            true => {
                let i = o - self.pad[axis][0] - k;
                if i % self.stride[axis] != 0 {
                    return None;
                }
                i / self.stride[axis]
            }
            false => o * self.stride[axis] - self.pad[axis][0] + k * self.dilation[axis],
        };
        usize::try_from(i).ok().filter(|i| *i < size)
    }
}

impl Windows {
    /// The outputs, of so many along an axis, whose window's element `k` is one of `size` inputs: the first one, and the end. (Not of
    /// transposed ones.)
    fn inside(&self, axis: usize, k: usize, size: usize, outputs: usize) -> [usize; 2] {
        let (stride, before) = (self.stride[axis], self.pad[axis][0] - k as i64 * self.dilation[axis]);
        // Input 0 and the end are these steps from the first output's element.
        [before, before + size as i64]
            .map(|n| ((n + stride - 1).div_euclid(stride)).clamp(0, outputs as i64) as usize)
    }
}

/// A position by number, in a shape.
fn unravel(mut number: usize, shape: &[usize]) -> [usize; 4] {
    let mut at = [0; 4];
    for (d, n) in shape.iter().enumerate().rev() {
        at[d] = number % n;
        number /= n;
    }
    at
}

/// Adds the bias to sums as the output's type has it, and writes them.
fn finish<S: Sum>(out: &View, at: u64, sums: &mut [S], bias: &[S], column: usize) {
    // The sum is of the output's type before the bias is added.
    if out.ty.is_float() && out.ty != Type::F32 {
        sums.iter_mut().for_each(|s| *s = S::of(round(out.ty, s.float())));
    }
    match bias {
        [one] => sums.iter_mut().for_each(|s| *s = *s + *one),
        all => sums.iter_mut().zip(&all[column..]).for_each(|(s, b)| *s = *s + *b),
    }
    out.write(at, sums);
}

/// Weights, less their zero point, as a matrix with a column for each output.
fn weights<T: Number>(
    weight: &View,
    positions: &[[usize; 4]],
    (axes, channels): (usize, usize),
    zero: T,
) -> Result<Packed<T>, Stop> {
    let depth = positions.len() * channels;
    let mut right = Packed::<T>::new(depth, weight.dim(0))?;
    let mut column = room::<T>(depth)?;
    for o in 0..weight.dim(0) {
        for (at, row) in positions.iter().zip(column.chunks_exact_mut(channels)) {
            let offset: u64 = (0..axes).map(|a| at[a] as u64 * weight.strides[1 + a]).sum();
            weight.read(o as u64 * weight.strides[0] + offset, row);
            row.iter_mut().for_each(|v| *v = *v + zero);
        }
        right.set_column(o, &column);
    }
    Ok(right)
}

fn product<T: Number, S: Sum>(r: &Run, chunk: usize) -> Result<(), Stop> {
    let p = places(r.code());
    let (input, weight, out) = (&r.operands[p.input], &r.operands[p.weight], &r.results[0]);
    let bias: Vec<S> = r.operands[p.bias].all()?;
    let [zero, weight_zero] = p.zeros.map(|i| T::of_int(-r.check.constants::<i64>(i)[0]));
    // It has been checked.
    let Ok(w) = windows(&r.check) else { return Ok(()) };
    let axes = w.stride.len();
    let channels = input.dim(axes + 1);
    let kernel: Vec<usize> = (0..axes).map(|a| weight.dim(1 + a)).collect();
    let taps = kernel.iter().product::<usize>();
    let positions: Vec<[usize; 4]> = (0..taps).map(|tap| unravel(tap, &kernel)).collect();
    let pack = || weights(weight, &positions, (axes, channels), weight_zero);
    let (kept, made);
    let right: &Packed<T> = if r.is_steady(p.weight) {
        if r.kept.get().is_none() {
            // Another run may have been faster.
            let _ = r.kept.set(Box::new(pack()?));
        }
        kept = r.kept.get().and_then(|k| k.downcast_ref());
        kept.ok_or(Stop::Memory)?
    } else {
        made = pack()?;
        &made
    };
    let padded = right.depth;
    let places: Vec<usize> = (0..=axes).map(|d| out.dim(d)).collect();
    let count = places.iter().product::<usize>();
    r.pool.run(count.div_ceil(PANEL) as u64, &|task| {
        let first = task as usize * PANEL;
        let mut panel = vec![T::default(); PANEL * padded];
        for (i, window) in panel.chunks_exact_mut(padded).enumerate().take(count - first) {
            let o = unravel(first + i, &places);
            for (at, row) in positions.iter().zip(window.chunks_exact_mut(channels)) {
                let mut offset = Some(o[0] as u64 * input.strides[0]);
                for a in 0..axes {
                    let i = w.source(a, o[1 + a], at[a], input.dim(1 + a));
                    offset = offset.zip(i).map(|(f, i)| f + i as u64 * input.strides[1 + a]);
                }
                if let Some(offset) = offset {
                    input.read(offset, row);
                    row.iter_mut().for_each(|v| *v = *v + zero);
                }
            }
        }
        let rows = (count - first).min(PANEL);
        right.multiply(&panel, rows, chunk.min(padded), &mut |i, column, sums: &mut [S]| {
            let o = unravel(first + i, &places);
            let at = out.at(&o[..=axes]) + (column * out.ty.bytes()) as u64;
            finish(out, at, sums, &bias, column);
        });
    });
    Ok(())
}

pub(crate) fn run(r: &Run) -> Result<(), Stop> {
    match r.operands[places(r.code()).input].ty {
        Type::I8 => product::<i16, i64>(r, EXACT),
        Type::I16 => product::<f64, i64>(r, usize::MAX),
        _ => product::<f32, f32>(r, usize::MAX),
    }
}

/// Places of a row of outputs that have a value for an element of their windows.
#[derive(Clone, Copy)]
pub(crate) struct Along {
    /// Outputs.
    from: usize,
    to: usize,
    /// The first one's value, and how many values on each next one's is.
    first: usize,
    step: usize,
    /// Channels, and outputs of each.
    count: usize,
    many: usize,
}

/// Adds the products of values and weights to the sums of a row; each value belongs to `many` of them.
#[inline(always)]
fn accumulate<T: Each>(sums: &mut [T], line: &[T], weights: &[T], a: Along) {
    let size = a.count * a.many;
    for (i, sums) in sums[a.from * size..a.to * size].chunks_exact_mut(size).enumerate() {
        let values = &line[(a.first + i * a.step) * a.count..][..a.count];
        if a.many == 1 {
            for ((sum, value), weight) in sums.iter_mut().zip(values).zip(weights) {
                *sum = *sum + *value * *weight;
            }
            continue;
        }
        for ((sums, value), weights) in sums.chunks_mut(a.many).zip(values).zip(weights.chunks(a.many)) {
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum = *sum + *value * *weight;
            }
        }
    }
}

/// What a channel's products are summed in.
trait Each: Wide + std::ops::Mul<Output = Self> + std::ops::Add<Output = Self> {
    fn sum(sums: &mut [Self], line: &[Self], weights: &[Self], along: Along);
}

macro_rules! each {
    ($($ty:ident $name:ident)*) => {$(
        forms! { $name(sums: &mut [$ty], line: &[$ty], weights: &[$ty], along: Along) = accumulate::<$ty> or <$ty> }
        impl Each for $ty {
            fn sum(sums: &mut [$ty], line: &[$ty], weights: &[$ty], along: Along) {
                $name(sums, line, weights, along);
            }
        }
    )*};
}
each! { f32 add_f32 i32 add_i32 i64 add_i64 }

/// Each channel by itself: M outputs of each.
fn by_channel<T: Each, S: Sum>(r: &Run) -> Result<(), Stop> {
    let p = places(r.code());
    let (input, weight, out) = (&r.operands[p.input], &r.operands[p.weight], &r.results[0]);
    let bias: Vec<S> = r.operands[p.bias].all()?;
    let [zero, weight_zero] = p.zeros.map(|i| T::of_int(-r.check.constants::<i64>(i)[0]));
    // It has been checked.
    let Ok(w) = windows(&r.check) else { return Ok(()) };
    let mut weights: Vec<T> = weight.all()?;
    weights.iter_mut().for_each(|v| *v = *v + weight_zero);
    let (kernel, many, made) = ([weight.dim(0), weight.dim(1)], weight.dim(3), out.dim(3));
    let (height, width) = (out.dim(1), out.dim(2));
    // Channels that are computed at once, all outputs of each.
    let step = (BLOCK / many).max(1).min((MAX_ROW / width.max(input.dim(2))).max(1));
    let failed = AtomicBool::new(false);
    r.pool.run((out.dim(0) * height) as u64, &|row| {
        let (n, y) = (row as usize / height, row as usize % height);
        let (Ok(mut sums), Ok(mut line)) = (room(width * step * many), room(input.dim(2) * step)) else {
            return failed.store(true, Relaxed);
        };
        for from in (0..input.dim(3)).step_by(step) {
            let count = step.min(input.dim(3) - from);
            let (begin, size) = (from * many, count * many);
            sums.fill(T::default());
            for ky in 0..kernel[0] {
                let Some(iy) = w.source(0, y, ky, input.dim(1)) else { continue };
                for (ix, line) in line.chunks_exact_mut(count).enumerate().take(input.dim(2)) {
                    input.read(input.at(&[n, iy, ix, from]), line);
                    line.iter_mut().for_each(|v| *v = *v + zero);
                }
                for kx in 0..kernel[1] {
                    let weights = &weights[(ky * kernel[1] + kx) * made + begin..][..size];
                    let [from, to] = w.inside(1, kx, input.dim(2), width);
                    if from < to
                        && let Some(first) = w.source(1, from, kx, input.dim(2))
                    {
                        let step = w.stride[1] as usize;
                        T::sum(&mut sums, &line, weights, Along { from, to, first, step, count, many });
                    }
                }
            }
            let mut made = [S::default(); BLOCK];
            for (x, sums) in sums.chunks_exact(size).enumerate().take(width) {
                for (i, sums) in sums.chunks(BLOCK).enumerate() {
                    let (made, at) = (&mut made[..sums.len()], begin + i * BLOCK);
                    made.iter_mut().zip(sums).for_each(|(l, s)| *l = S::of(*s));
                    finish(out, out.at(&[n, y, x, at]), made, &bias, at);
                }
            }
        }
    });
    if failed.into_inner() { Err(Stop::Memory) } else { Ok(()) }
}

pub(crate) fn depthwise(r: &Run) -> Result<(), Stop> {
    let p = places(r.code());
    let taps = (r.operands[p.weight].dim(0) * r.operands[p.weight].dim(1)) as u64;
    // So many products of bytes less their zero points, or of 16 bits and bytes, fit 32 bits.
    match r.operands[p.input].ty {
        Type::I8 if taps <= EXACT as u64 => by_channel::<i32, i64>(r),
        Type::I16 if taps <= 511 => by_channel::<i32, i64>(r),
        Type::I8 | Type::I16 => by_channel::<i64, i64>(r),
        _ => by_channel::<f32, f32>(r),
    }
}

//! Convolutions: as products of a panel of windows and of the weights, but for those that go by channel.

use super::product::{EXACT, Number, PANEL, Packed, Sum};
use super::{Check, Rule, Run, need, room, steps};
use crate::plan::Stop;
use crate::table::code as c;
use crate::types::{F8, FLOAT, Type, round};
use crate::view::View;

/// Kernels, strides and paddings of at most so much (TOSA's level 8K).
const MOST: i64 = 8192;

/// Output channels of a convolution by channel that are computed at once.
const BLOCK: usize = 256;

/// Bytes of a thread's panel at most.
const MAX_PANEL: u64 = 1 << 24;

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
    need(depth * PANEL as u64 * 8 <= MAX_PANEL, || format!("sums of {depth} products are not supported"))
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
    for (i, s) in sums.iter_mut().enumerate() {
        let b = bias[if bias.len() == 1 { 0 } else { column + i }];
        // The sum is of the output's type before the bias is added.
        let sum = if out.ty.is_float() { S::of(round(out.ty, s.float())) } else { *s };
        *s = sum + b;
    }
    out.write(at, sums);
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
    let depth = taps * channels;
    let mut right = Packed::<T>::new(depth, weight.dim(0))?;
    let mut column = room::<T>(depth)?;
    for o in 0..weight.dim(0) {
        for (tap, row) in column.chunks_exact_mut(channels).enumerate() {
            let at = unravel(tap, &kernel);
            let offset: u64 = (0..axes).map(|a| at[a] as u64 * weight.strides[1 + a]).sum();
            weight.read(o as u64 * weight.strides[0] + offset, row);
            row.iter_mut().for_each(|v| *v = *v + weight_zero);
        }
        right.set_column(o, &column);
    }
    let places: Vec<usize> = (0..=axes).map(|d| out.dim(d)).collect();
    let count = places.iter().product::<usize>();
    r.pool.run(count.div_ceil(PANEL) as u64, &|task| {
        let first = task as usize * PANEL;
        let mut panel = vec![T::default(); PANEL * depth];
        for (i, window) in panel.chunks_exact_mut(depth).enumerate().take(count - first) {
            let o = unravel(first + i, &places);
            for (tap, row) in window.chunks_exact_mut(channels).enumerate() {
                let at = unravel(tap, &kernel);
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
        right.multiply(&panel, chunk.min(depth), |i, column, sums: &[S]| {
            if first + i < count {
                let o = unravel(first + i, &places);
                let at = out.at(&o[..=axes]) + (column * out.ty.bytes()) as u64;
                let mut line = [S::default(); 8];
                let line = &mut line[..sums.len()];
                line.copy_from_slice(sums);
                finish(out, at, line, &bias, column);
            }
        });
    });
    Ok(())
}

pub(crate) fn run(r: &Run) -> Result<(), Stop> {
    match r.operands[places(r.code()).input].ty {
        Type::I8 => product::<f32, i64>(r, EXACT),
        Type::I16 => product::<f64, i64>(r, usize::MAX),
        _ => product::<f32, f32>(r, usize::MAX),
    }
}

/// Each channel by itself: M outputs of each.
fn by_channel<S: Sum + std::ops::Mul<Output = S>>(r: &Run) -> Result<(), Stop> {
    let p = places(r.code());
    let (input, weight, out) = (&r.operands[p.input], &r.operands[p.weight], &r.results[0]);
    let bias: Vec<S> = r.operands[p.bias].all()?;
    let [zero, weight_zero] = p.zeros.map(|i| S::of_int(-r.check.constants::<i64>(i)[0]));
    // It has been checked.
    let Ok(w) = windows(&r.check) else { return Ok(()) };
    let mut weights: Vec<S> = weight.all()?;
    weights.iter_mut().for_each(|v| *v = *v + weight_zero);
    let (kernel, many, made) = ([weight.dim(0), weight.dim(1)], weight.dim(3), out.dim(3));
    let places = [out.dim(0), out.dim(1), out.dim(2)];
    r.pool.run((places[0] * places[1]) as u64, &|row| {
        let mut values = [S::default(); BLOCK];
        for x in 0..places[2] {
            let o = unravel(row as usize * places[2] + x, &places);
            for begin in (0..made).step_by(BLOCK) {
                let n = (made - begin).min(BLOCK);
                // Channels that the block's outputs are of.
                let (from, to) = (begin / many, (begin + n - 1) / many + 1);
                let mut sums = [S::default(); BLOCK];
                for tap in 0..kernel[0] * kernel[1] {
                    let at = [tap / kernel[1], tap % kernel[1]];
                    let [iy, ix] = [0, 1].map(|a| w.source(a, o[1 + a], at[a], input.dim(1 + a)));
                    let (Some(iy), Some(ix)) = (iy, ix) else { continue };
                    input.read(input.at(&[o[0], iy, ix, from]), &mut values[..to - from]);
                    let weights = &weights[tap * made + begin..][..n];
                    for (i, (sum, weight)) in sums[..n].iter_mut().zip(weights).enumerate() {
                        *sum = *sum + (values[(begin + i) / many - from] + zero) * *weight;
                    }
                }
                let at = out.at(&[o[0], o[1], o[2], begin]);
                finish(out, at, &mut sums[..n], &bias, begin);
            }
        }
    });
    Ok(())
}

pub(crate) fn depthwise(r: &Run) -> Result<(), Stop> {
    let of_floats = r.operands[places(r.code()).input].ty.is_float();
    if of_floats { by_channel::<f32>(r) } else { by_channel::<i64>(r) }
}

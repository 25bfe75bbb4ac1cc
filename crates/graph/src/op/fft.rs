//! Fourier transforms of two dimensions, in f64: rows, then columns, each by halving.

use super::{Check, Rule, Run, need, room};
use crate::math;
use crate::plan::Stop;
use crate::table::code as c;
use crate::types::Type;
use std::f64::consts::TAU;

/// Height and width at most (TOSA's level 8K).
const MOST: u32 = 8192;

pub(crate) fn check(k: &Check) -> Rule {
    let real = k.code() == c::RFFT2D;
    let input = k.value(if real { 1 } else { 2 });
    k.has_rank(input, 3, "input_real")?;
    let [n, h, w] = [0, 1, 2].map(|d| input.shape[d]);
    need(h.is_power_of_two() && w.is_power_of_two() && h.max(w) <= MOST, || {
        format!("height {h} and width {w} must be powers of two, of at most {MOST}")
    })?;
    let wide = if real { w / 2 + 1 } else { w };
    for v in (if real { vec![] } else { vec![k.value(3)] }).into_iter().chain([input]) {
        k.is_of(v, Type::F32.bit(), "an input")?;
        k.has_shape(v, &[n as i64, h as i64, w as i64], "an input")?;
    }
    for i in 0..2 {
        k.is_of(k.result(i), Type::F32.bit(), "an output")?;
        k.has_shape(k.result(i), &[n as i64, h as i64, wide as i64], "an output")?;
    }
    Ok(())
}

/// e^(−i · 2π · j / n) for the first half of j, with the other sign if it is inverse.
fn roots(n: usize, inverse: bool) -> Vec<[f64; 2]> {
    let sign = if inverse { 1.0 } else { -1.0 };
    let angle = |j: usize| TAU * j as f64 / n as f64;
    (0..n / 2).map(|j| [math::cos(angle(j)), sign * math::sin(angle(j))]).collect()
}

fn transform(line: &mut [[f64; 2]], roots: &[[f64; 2]]) {
    let n = line.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = if bits == 0 { 0 } else { i.reverse_bits() >> (usize::BITS - bits) };
        if i < j {
            line.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        for block in line.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (j, (a, b)) in low.iter_mut().zip(high).enumerate() {
                let [cos, sin] = roots[j * (n / 2 / half)];
                let turned = [b[0] * cos - b[1] * sin, b[0] * sin + b[1] * cos];
                (*a, *b) = ([a[0] + turned[0], a[1] + turned[1]], [a[0] - turned[0], a[1] - turned[1]]);
            }
        }
        half *= 2;
    }
}

pub(crate) fn run(r: &Run) -> Result<(), Stop> {
    let real = r.code() == c::RFFT2D;
    let inverse = !real && r.ints(0)[0] != 0;
    let input = &r.operands[if real { 1 } else { 2 }];
    let (h, w) = (input.dim(1), input.dim(2));
    let (by_row, by_column) = (roots(w, inverse), roots(h, inverse));
    let mut line = room::<f32>(w)?;
    for n in 0..input.dim(0) {
        let mut all = Vec::new();
        all.try_reserve_exact(h * w).map_err(|_| Stop::Memory)?;
        for y in 0..h {
            input.read(input.at(&[n, y]), &mut line);
            all.extend(line.iter().map(|x| [*x as f64, 0.0]));
            if !real {
                let imaginary = &r.operands[3];
                imaginary.read(imaginary.at(&[n, y]), &mut line);
                all[y * w..].iter_mut().zip(&line).for_each(|(a, x)| a[1] = *x as f64);
            }
            transform(&mut all[y * w..], &by_row);
        }
        let mut column = vec![[0.0; 2]; h];
        for x in 0..w {
            column.iter_mut().enumerate().for_each(|(y, c)| *c = all[y * w + x]);
            transform(&mut column, &by_column);
            column.iter().enumerate().for_each(|(y, c)| all[y * w + x] = *c);
        }
        for (i, out) in r.results.iter().enumerate() {
            for y in 0..h {
                line.iter_mut().zip(&all[y * w..]).for_each(|(l, a)| *l = a[i] as f32);
                out.write(out.at(&[n, y]), &line[..out.dim(2)]);
            }
        }
    }
    Ok(())
}

//! Products of matrices.

use super::product::{EXACT, Number, PANEL, Packed, Sum};
use super::{Check, Rule, Run, need, room};
use crate::plan::Stop;
use crate::types::{F8, FLOAT, Type};

pub(crate) fn check(k: &Check) -> Rule {
    let (a, b, output) = (k.value(0), k.value(1), k.result(0));
    k.is_of(a, FLOAT | F8 | Type::I8.bit() | Type::I16.bit(), "A")?;
    need(a.ty == b.ty, || "A and B must have the same type".into())?;
    let fits = match a.ty {
        Type::I8 => output.ty == Type::I32,
        Type::I16 => output.ty == Type::I48,
        Type::F16 => matches!(output.ty, Type::F16 | Type::F32),
        Type::F8E4M3 | Type::F8E5M2 => output.ty == Type::F16,
        _ => output.ty == Type::F32,
    };
    need(fits, || format!("a product of {:?} in {:?} is not supported", a.ty, output.ty))?;
    k.zero_point(2, a.ty, a.ty == Type::I8)?;
    k.zero_point(3, a.ty, a.ty == Type::I8)?;
    k.has_rank(a, 3, "A")?;
    k.has_rank(b, 3, "B")?;
    let [n, h, depth] = [0, 1, 2].map(|d| a.shape[d] as i64);
    let w = b.shape[2] as i64;
    k.has_shape(b, &[n, depth, w], "B")?;
    super::convolution::fits_panel(depth as u64)?;
    k.has_shape(output, &[n, h, w], "output")
}

fn product<T: Number, S: Sum>(r: &Run, chunk: usize) -> Result<(), Stop> {
    let [a, b] = [&r.operands[0], &r.operands[1]];
    let out = &r.results[0];
    let [zero_a, zero_b] = [2, 3].map(|i| r.check.constants::<i64>(i)[0]);
    let (depth, columns, rows) = (a.dim(2), b.dim(2), a.dim(1));
    for n in 0..a.dim(0) {
        let mut right = Packed::<T>::new(depth, columns)?;
        let mut row = room::<T>(columns)?;
        for k in 0..depth {
            b.read(b.at(&[n, k]), &mut row);
            row.iter_mut().for_each(|v| *v = *v + T::of_int(-zero_b));
            right.set_row(k, &row);
        }
        r.pool.run(rows.div_ceil(PANEL) as u64, &|task| {
            let first = task as usize * PANEL;
            let mut panel = vec![T::default(); PANEL * right.depth];
            for (i, row) in panel.chunks_exact_mut(right.depth).enumerate().take(rows - first) {
                let row = &mut row[..depth];
                a.read(a.at(&[n, first + i]), row);
                row.iter_mut().for_each(|v| *v = *v + T::of_int(-zero_a));
            }
            let wanted = (rows - first).min(PANEL);
            right.multiply(&panel, wanted, chunk.min(right.depth), &mut |i, column, sums: &mut [S]| {
                out.write(out.at(&[n, first + i, column]), sums);
            });
        });
    }
    Ok(())
}

pub(crate) fn run(r: &Run) -> Result<(), Stop> {
    match r.operands[0].ty {
        Type::I8 => product::<i16, i64>(r, EXACT),
        Type::I16 => product::<f64, i64>(r, usize::MAX),
        _ => product::<f32, f32>(r, usize::MAX),
    }
}

//! Gathering and scattering by indices.

use super::{Check, Rule, Run, layout, need};
use crate::plan::Stop;
use crate::table::code as c;
use crate::types::{F8, FLOAT, INT, Type};

pub(crate) fn check(k: &Check) -> Rule {
    let (values, indices, output) = (k.value(0), k.value(1), k.result(0));
    k.is_of(values, INT | FLOAT | F8, "values")?;
    k.is_of(indices, Type::I32.bit(), "indices")?;
    need(output.ty == values.ty, || "the output must have the type of values".into())?;
    k.has_rank(values, 3, "values")?;
    k.has_rank(indices, 2, "indices")?;
    let [n, rows, channels] = [0, 1, 2].map(|d| values.shape[d] as i64);
    let width = indices.shape[1] as i64;
    k.has_shape(indices, &[n, width], "indices")?;
    if k.code() == c::GATHER {
        return k.has_shape(output, &[n, width, channels], "output");
    }
    let input = k.value(2);
    need(input.ty == values.ty, || "input must have the type of values".into())?;
    need(rows >= width, || format!("{width} rows cannot be scattered to {rows}"))?;
    k.has_shape(input, &[n, width, channels], "input")?;
    k.has_shape(output, &[n, rows, channels], "output")
}

/// Rows that a task copies.
const ROWS: u64 = 64;

/// An index that is out of range gives zeros, or is not written.
pub(crate) fn run(r: &Run) -> Result<(), Stop> {
    let (values, indices, out) = (&r.operands[0], &r.operands[1], &r.results[0]);
    let gathers = r.code() == c::GATHER;
    if !gathers {
        layout::copy(r.pool, values, out);
    }
    let (from, bytes) = (if gathers { values } else { &r.operands[2] }, out.dim(2) * out.ty.bytes());
    let width = indices.dim(1) as u64;
    let count = indices.dim(0) as u64 * width;
    let limit = values.dim(1) as i64;
    let part = |tasks: std::ops::Range<u64>| {
        for row in tasks {
            let (n, w) = (row / width, row % width);
            let mut index = [0i64];
            indices.read(indices.at(&[n as usize, w as usize]), &mut index);
            let inside = (0..limit).contains(&index[0]);
            let k = index[0] as usize;
            let (n, w) = (n as usize, w as usize);
            match (gathers, inside) {
                (true, true) => out.span.copy(out.at(&[n, w]), from.span, from.at(&[n, k]), bytes),
                (true, false) => (0..out.dim(2)).for_each(|c| out.write(out.at(&[n, w, c]), &[0i64])),
                (false, true) => out.span.copy(out.at(&[n, k]), from.span, from.at(&[n, w]), bytes),
                (false, false) => {}
            }
        }
    };
    // Of two that scatter to one row the later one counts, so one thread goes through all.
    let rows = if gathers { ROWS } else { count.max(1) };
    r.pool.run(count.div_ceil(rows), &|task| part(task * rows..count.min((task + 1) * rows)));
    Ok(())
}

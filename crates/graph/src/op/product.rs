//! Products of matrices, of which convolutions are made.
//!
//! Sums go along the depth in order. Products of bytes are summed in f32, which is exact for as many as [`EXACT`], and then as integers;
//! those of 16 bits in f64, which is exact for all that there can be.

use super::room;
use crate::plan::Stop;
use crate::types::Wide;
use std::ops::{Add, Mul};

/// Columns that are computed at once.
const COLUMNS: usize = 8;
/// Rows that are computed at once.
const ROWS: usize = 4;
/// Rows of a panel.
pub(crate) const PANEL: usize = 8;

/// So many products of 255 · 255 stay below 2^24.
pub(crate) const EXACT: usize = 256;

pub(crate) trait Number: Wide + Mul<Output = Self> + Add<Output = Self> {}
impl Number for f32 {}
impl Number for f64 {}

/// What sums end in: f32, or i64 for integers.
pub(crate) trait Sum: Wide + Add<Output = Self> {
    fn of<T: Wide>(v: T) -> Self;
}

impl Sum for f32 {
    fn of<T: Wide>(v: T) -> f32 {
        v.float()
    }
}

impl Sum for i64 {
    fn of<T: Wide>(v: T) -> i64 {
        v.int()
    }
}

/// The right matrix: strips of [`COLUMNS`], in each row after row.
pub(crate) struct Packed<T> {
    pub depth: usize,
    pub columns: usize,
    data: Vec<T>,
}

impl<T: Number> Packed<T> {
    /// # Errors
    /// There is no memory.
    pub fn new(depth: usize, columns: usize) -> Result<Packed<T>, Stop> {
        Ok(Packed { depth, columns, data: room(depth * columns.next_multiple_of(COLUMNS))? })
    }

    pub fn set_column(&mut self, column: usize, values: &[T]) {
        let strip = &mut self.data[column / COLUMNS * COLUMNS * self.depth..];
        for (k, v) in values.iter().enumerate() {
            strip[k * COLUMNS + column % COLUMNS] = *v;
        }
    }

    pub fn set_row(&mut self, row: usize, values: &[T]) {
        for (column, v) in values.iter().enumerate() {
            self.data[column / COLUMNS * COLUMNS * self.depth + row * COLUMNS + column % COLUMNS] = *v;
        }
    }

    /// Multiplies `PANEL` rows of the left matrix, one after the other, and hands out rows of [`COLUMNS`] sums: row, first column,
    /// values. `chunk`: elements of the depth whose sum is exact, or all of them.
    pub fn multiply<S: Sum>(&self, panel: &[T], chunk: usize, mut done: impl FnMut(usize, usize, &[S])) {
        let depth = self.depth;
        for (s, strip) in self.data.chunks_exact(COLUMNS * depth).enumerate() {
            for first in (0..PANEL).step_by(ROWS) {
                let mut sums = [[S::default(); COLUMNS]; ROWS];
                for begin in (0..depth).step_by(chunk) {
                    let end = (begin + chunk).min(depth);
                    let rows: [&[T]; ROWS] = std::array::from_fn(|r| {
                        &panel[(first + r) * depth + begin..(first + r) * depth + end]
                    });
                    let made = strip_product(rows, &strip[begin * COLUMNS..end * COLUMNS]);
                    for (sum, made) in sums.as_flattened_mut().iter_mut().zip(made.as_flattened()) {
                        *sum = *sum + S::of(*made);
                    }
                }
                let column = s * COLUMNS;
                let n = (self.columns - column).min(COLUMNS);
                sums.iter().enumerate().for_each(|(r, sum)| done(first + r, column, &sum[..n]));
            }
        }
    }
}

fn strip_product<T: Number>(rows: [&[T]; ROWS], strip: &[T]) -> [[T; COLUMNS]; ROWS] {
    // An array each, which stay in registers.
    let [mut p, mut q, mut r, mut s] = [[T::default(); COLUMNS]; ROWS];
    let [a, b, c, d] = rows;
    for ((((right, a), b), c), d) in strip.as_chunks::<COLUMNS>().0.iter().zip(a).zip(b).zip(c).zip(d) {
        for i in 0..COLUMNS {
            p[i] = p[i] + *a * right[i];
            q[i] = q[i] + *b * right[i];
            r[i] = r[i] + *c * right[i];
            s[i] = s[i] + *d * right[i];
        }
    }
    [p, q, r, s]
}

//! Linear algebra: products of vectors and matrices.

use super::Builder;
use super::arith::Class;
use super::types::{Sk, TypeClass};
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

/// A float matrix value: scalars column by column.
pub(crate) struct Mat {
    pub s: Sk,
    pub cols: usize,
    pub rows: usize,
    pub v: Vec<Value>,
}

impl Mat {
    pub fn at(&self, col: usize, row: usize) -> Value {
        self.v[col * self.rows + row]
    }
}

impl<'m> Builder<'m> {
    pub(crate) fn matrix_operand(&mut self, i: &Code, w: usize) -> Result<Mat> {
        let (ty, start, len) = self.value(i.word(w)?, i.at)?;
        if let TypeClass::Matrix(column, n) = self.types.kind(ty)
            && let Some((s, rows)) = self.types.numeric(column)
            && len == (n * rows) as usize
        {
            let start = if i.op == Op::Transpose { start } else { self.flushed_operands(s, start, len) };
            let v = self.pool[start..start + len].to_vec();
            return Ok(Mat { s, cols: n as usize, rows: rows as usize, v });
        }
        Err(i.bad(format!("operand {w} is no matrix")))
    }
    pub(crate) fn vector_operand(&mut self, i: &Code, w: usize) -> Result<(Sk, Vec<Value>)> {
        let (s, start, n) = self.numeric(i, w, Class::Float)?;
        Ok((s, self.pool[start..start + n as usize].to_vec()))
    }
    pub(crate) fn define_list(&mut self, i: &Code, list: &[Value]) -> Result<()> {
        let start = self.pool.len();
        self.pool.extend_from_slice(list);
        self.define_checked(i, start)
    }

    /// Sum of products.
    pub(crate) fn dot(&mut self, s: Sk, a: &[Value], b: &[Value]) -> Value {
        // Of small floats products are exact, and rounded is the sum.
        if s.is_small() {
            let sum = self.dot(Sk::F32, a, b);
            return self.e.small_of(s, sum, Default::default());
        }
        let mut sum = self.e.fmul(s, a[0], b[0]);
        for (x, y) in a.iter().zip(b).skip(1) {
            sum = self.e.fmad(s, *x, *y, sum);
        }
        sum
    }

    pub(crate) fn matrix_op(&mut self, i: &Code) -> Result<bool> {
        if !matches!(
            i.op,
            Op::Transpose
                | Op::VectorTimesScalar
                | Op::MatrixTimesScalar
                | Op::VectorTimesMatrix
                | Op::MatrixTimesVector
                | Op::MatrixTimesMatrix
                | Op::OuterProduct
                | Op::Dot
        ) || i.op == Op::MatrixTimesScalar && self.is_cooperative(i, 3)
        {
            return Ok(false);
        }
        self.set_flags(i.word(2)?);
        let r = self.matrix_values(i);
        self.e.reset_flags();
        let list = r?;
        self.define_list(i, &list)?;
        Ok(true)
    }

    fn matrix_values(&mut self, i: &Code) -> Result<Vec<Value>> {
        let differ = || i.bad("operands of different types");
        let mut out = Vec::new();
        match i.op {
            Op::Transpose => {
                let m = self.matrix_operand(i, 3)?;
                for r in 0..m.rows {
                    out.extend((0..m.cols).map(|c| m.at(c, r)));
                }
            }
            Op::VectorTimesScalar | Op::MatrixTimesScalar => {
                let (s, v) = if i.op == Op::MatrixTimesScalar {
                    let m = self.matrix_operand(i, 3)?;
                    (m.s, m.v)
                } else {
                    self.vector_operand(i, 3)?
                };
                let (t, k) = self.vector_operand(i, 4)?;
                if s != t || k.len() != 1 {
                    return Err(differ());
                }
                for x in v {
                    out.push(self.e.fmul(s, x, k[0]));
                }
            }
            Op::VectorTimesMatrix => {
                let (s, v) = self.vector_operand(i, 3)?;
                let m = self.matrix_operand(i, 4)?;
                if s != m.s || v.len() != m.rows {
                    return Err(differ());
                }
                for c in 0..m.cols {
                    let col = &m.v[c * m.rows..(c + 1) * m.rows];
                    out.push(self.dot(s, &v, col));
                }
            }
            Op::MatrixTimesVector => {
                let m = self.matrix_operand(i, 3)?;
                let (s, v) = self.vector_operand(i, 4)?;
                if s != m.s || v.len() != m.cols {
                    return Err(differ());
                }
                for r in 0..m.rows {
                    let row: Vec<Value> = (0..m.cols).map(|c| m.at(c, r)).collect();
                    out.push(self.dot(s, &row, &v));
                }
            }
            Op::MatrixTimesMatrix => {
                let (a, b) = (self.matrix_operand(i, 3)?, self.matrix_operand(i, 4)?);
                if a.s != b.s || a.cols != b.rows {
                    return Err(differ());
                }
                for c in 0..b.cols {
                    let col = &b.v[c * b.rows..(c + 1) * b.rows];
                    for r in 0..a.rows {
                        let row: Vec<Value> = (0..a.cols).map(|k| a.at(k, r)).collect();
                        out.push(self.dot(a.s, &row, col));
                    }
                }
            }
            Op::OuterProduct => {
                let ((s, a), (t, b)) = (self.vector_operand(i, 3)?, self.vector_operand(i, 4)?);
                if s != t {
                    return Err(differ());
                }
                for y in b {
                    for &x in &a {
                        out.push(self.e.fmul(s, x, y));
                    }
                }
            }
            _ => {
                let ((s, a, n), (t, b, m)) =
                    (self.numeric(i, 3, Class::AnyFloat)?, self.numeric(i, 4, Class::AnyFloat)?);
                let a = self.pool[a..a + n as usize].to_vec();
                let b = self.pool[b..b + m as usize].to_vec();
                if s != t || a.len() != b.len() {
                    return Err(differ());
                }
                out.push(self.dot(s, &a, &b));
            }
        }
        Ok(out)
    }
}

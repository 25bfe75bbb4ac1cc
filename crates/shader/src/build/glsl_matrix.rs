//! GLSL.std.450: vectors as geometry, determinants and inverses.

use super::Builder;
use super::emit::Emit;
use super::matrix::Mat;
use super::types::Sk;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

impl Emit {
    pub fn rsqrt(&mut self, s: Sk, x: Value) -> Value {
        if s == Sk::F64 {
            let one = self.fconst(s, 1.0);
            let root = self.un(Un::FSqrt, x);
            return self.bin(Bin::FDiv, one, root);
        }
        let v = self.un(Un::FRsqrt, x);
        self.round(s, v)
    }
    fn sqrt(&mut self, s: Sk, x: Value) -> Value {
        let v = self.un(Un::FSqrt, x);
        self.round(s, v)
    }
    /// a · b − c · d
    fn det2(&mut self, s: Sk, a: Value, b: Value, c: Value, d: Value) -> Value {
        let (p, q) = (self.fmul(s, a, b), self.fmul(s, c, d));
        self.fsub(s, p, q)
    }
}

impl<'m> Builder<'m> {
    pub(crate) fn glsl_geometry(&mut self, i: &Code, op: GLOp) -> Result<()> {
        let (s, a) = self.vector_operand(i, 5)?;
        let differ = || i.bad("operands of different types");
        let second = |b: &mut Self| -> Result<Vec<Value>> {
            let (t, v) = b.vector_operand(i, 6)?;
            if t != s || v.len() != a.len() { Err(differ()) } else { Ok(v) }
        };
        let mut out = Vec::with_capacity(a.len());
        match op {
            GLOp::Length => out.push(self.length(s, &a)),
            GLOp::Distance => {
                let b = second(self)?;
                let d: Vec<Value> = a.iter().zip(&b).map(|(x, y)| self.e.fsub(s, *x, *y)).collect();
                out.push(self.length(s, &d));
            }
            GLOp::Normalize => {
                if a.len() == 1 {
                    // A scalar's direction is its sign.
                    let one = self.e.fconst(s, 1.0);
                    let minus = self.e.fconst(s, -1.0);
                    let zero = self.e.fconst(s, 0.0);
                    let neg = self.e.bin(Bin::FLt, a[0], zero);
                    out.push(self.e.select(neg, minus, one));
                } else {
                    let d = self.dot(s, &a, &a);
                    if s == Sk::F64 {
                        let l = self.e.sqrt(s, d);
                        out.extend(a.iter().map(|x| self.e.fdiv(s, *x, l)));
                    } else {
                        let r = self.e.rsqrt(s, d);
                        out.extend(a.iter().map(|x| self.e.fmul(s, *x, r)));
                    }
                }
            }
            GLOp::Cross => {
                let b = second(self)?;
                if a.len() != 3 {
                    return Err(differ());
                }
                for (x, y) in [(1, 2), (2, 0), (0, 1)] {
                    out.push(self.e.det2(s, a[x], b[y], a[y], b[x]));
                }
            }
            GLOp::FaceForward => {
                let incident = second(self)?;
                let (t, reference) = self.vector_operand(i, 7)?;
                if t != s || reference.len() != a.len() {
                    return Err(differ());
                }
                let d = self.dot(s, &reference, &incident);
                let zero = self.e.fconst(s, 0.0);
                let c = self.e.bin(Bin::FLt, d, zero);
                for x in a {
                    let n = self.e.un(Un::FNeg, x);
                    out.push(self.e.select(c, x, n));
                }
            }
            GLOp::Reflect => {
                let n = second(self)?;
                let d = self.dot(s, &n, &a);
                let two = self.e.fconst(s, 2.0);
                let k = self.e.fmul(s, d, two);
                for (x, n) in a.iter().zip(n) {
                    let p = self.e.fmul(s, k, n);
                    out.push(self.e.fsub(s, *x, p));
                }
            }
            _ => {
                // Refract: k = 1 − eta² (1 − (N·I)²); k < 0 gives zero.
                let n = second(self)?;
                let (t, eta) = self.vector_operand(i, 7)?;
                if eta.len() != 1 {
                    return Err(differ());
                }
                let eta = self.e.float_to_float(t, s, eta[0], false);
                let one = self.e.fconst(s, 1.0);
                let zero = self.e.fconst(s, 0.0);
                let d = self.dot(s, &n, &a);
                let dd = self.e.fmul(s, d, d);
                let rest = self.e.fsub(s, one, dd);
                let ee = self.e.fmul(s, eta, eta);
                let k = self.e.fmul(s, ee, rest);
                let k = self.e.fsub(s, one, k);
                let none = self.e.bin(Bin::FLt, k, zero);
                let root = self.e.sqrt(s, k);
                let f = self.e.fmul(s, eta, d);
                let f = self.e.fadd(s, f, root);
                for (x, n) in a.iter().zip(n) {
                    let (p, q) = (self.e.fmul(s, eta, *x), self.e.fmul(s, f, n));
                    let v = self.e.fsub(s, p, q);
                    out.push(self.e.select(none, zero, v));
                }
            }
        }
        self.define_list(i, &out)
    }

    fn length(&mut self, s: Sk, v: &[Value]) -> Value {
        if v.len() == 1 {
            return self.e.un(Un::FAbs, v[0]);
        }
        let d = self.dot(s, v, v);
        self.e.sqrt(s, d)
    }

    pub(crate) fn glsl_matrix(&mut self, i: &Code, op: GLOp) -> Result<()> {
        let m = self.matrix_operand(i, 5)?;
        if m.cols != m.rows {
            return Err(i.bad("the matrix is not square"));
        }
        let n = m.cols;
        let all: Vec<usize> = (0..n).collect();
        if op == GLOp::Determinant {
            let d = self.determinant(&m, &all, &all);
            return self.define_list(i, &[d]);
        }
        // Adjugate over determinant.
        let mut cofactors = vec![Value(0); n * n];
        for c in 0..n {
            for r in 0..n {
                let cols: Vec<usize> = (0..n).filter(|&x| x != c).collect();
                let rows: Vec<usize> = (0..n).filter(|&x| x != r).collect();
                let d = self.determinant(&m, &cols, &rows);
                cofactors[c * n + r] = if (c + r) % 2 == 1 { self.e.un(Un::FNeg, d) } else { d };
            }
        }
        let mut det = self.e.fmul(m.s, m.at(0, 0), cofactors[0]);
        for (r, &c) in cofactors.iter().enumerate().take(n).skip(1) {
            det = self.e.fmad(m.s, m.at(0, r), c, det);
        }
        let one = self.e.fconst(m.s, 1.0);
        let inv = self.e.fdiv(m.s, one, det);
        let mut out = Vec::with_capacity(n * n);
        for c in 0..n {
            for r in 0..n {
                out.push(self.e.fmul(m.s, cofactors[r * n + c], inv));
            }
        }
        self.define_list(i, &out)
    }

    /// Determinant of the minor with these columns and rows; shared parts are found by the emitter.
    fn determinant(&mut self, m: &Mat, cols: &[usize], rows: &[usize]) -> Value {
        let s = m.s;
        match cols.len() {
            1 => m.at(cols[0], rows[0]),
            2 => self.e.det2(
                s,
                m.at(cols[0], rows[0]),
                m.at(cols[1], rows[1]),
                m.at(cols[1], rows[0]),
                m.at(cols[0], rows[1]),
            ),
            n => {
                let mut sum = None;
                for k in 0..n {
                    let rest: Vec<usize> = rows.iter().copied().filter(|&r| r != rows[k]).collect();
                    let d = self.determinant(m, &cols[1..], &rest);
                    let a = m.at(cols[0], rows[k]);
                    let a = if k % 2 == 1 { self.e.un(Un::FNeg, a) } else { a };
                    sum = Some(match sum {
                        None => self.e.fmul(s, a, d),
                        Some(t) => self.e.fmad(s, a, d, t),
                    });
                }
                sum.expect("n is at least 3")
            }
        }
    }
}

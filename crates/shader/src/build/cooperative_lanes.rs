//! Cooperative matrices whose elements change places: other uses, columns as rows (SPV_NV_cooperative_matrix2).
//!
//! Matrices of all uses lie in registers alike, so that another use is a matter of names alone.

use super::Builder;
use super::cooperative::{Cooperative, TILE, Use};
use super::sums::Sum;
use super::types::Sk;
use crate::ir::*;
use crate::isa::code::ROWS;
use crate::options::Result;
use crate::spirv::*;

/// A cooperative matrix: its type, shape, what its elements are, and an invocation's of them.
pub(super) struct Matrix {
    pub ty: u32,
    pub shape: Cooperative,
    pub kind: Sk,
    pub elements: Vec<Value>,
}

impl Builder<'_> {
    pub(super) fn cooperative_matrix(&mut self, i: &Code, w: usize) -> Result<Matrix> {
        let (ty, start, len) = self.value(i.word(w)?, i.at)?;
        let (shape, kind) = self.cooperative_shape(i, ty)?;
        if len != shape.elements as usize {
            return Err(i.bad(format!("operand {w} is no cooperative matrix")));
        }
        Ok(Matrix { ty, shape, kind, elements: self.pool[start..start + len].to_vec() })
    }

    /// What a type of cooperative matrices is.
    pub(super) fn cooperative_shape(&self, i: &Code, ty: u32) -> Result<(Cooperative, Sk)> {
        let of = self.types.cooperative(ty).map(|(shape, _)| shape);
        match (of, self.types.numeric(ty)) {
            (Some(shape), Some((kind, _))) => Ok((shape, kind)),
            _ => Err(i.bad("no cooperative matrix")),
        }
    }

    pub(super) fn cooperative_convert(&mut self, i: &Code) -> Result<()> {
        let (ty, _) = self.result(i)?;
        let from = self.cooperative_matrix(i, 3)?;
        let (to, kind) = self.cooperative_shape(i, ty)?;
        if (to.rows, to.columns, kind) != (from.shape.rows, from.shape.columns, from.kind) {
            return Err(i.bad("more than the use changes"));
        }
        let list = self.divided(&from, to.parts)?;
        self.define_list(i, &list)
    }

    /// The operand of a conversion, divided as the result is: where in the pool, and how many.
    pub(super) fn divided_as_result(&mut self, i: &Code) -> Result<(usize, u32)> {
        let (ty, _) = self.result(i)?;
        let from = self.cooperative_matrix(i, 3)?;
        let (to, _) = self.cooperative_shape(i, ty)?;
        if (to.rows, to.columns) != (from.shape.rows, from.shape.columns) {
            return Err(i.bad("the matrices' shapes do not fit"));
        }
        let list = self.divided(&from, to.parts)?;
        let start = self.pool.len();
        self.pool.extend_from_slice(&list);
        Ok((start, list.len() as u32))
    }

    pub(super) fn cooperative_transpose(&mut self, i: &Code) -> Result<()> {
        let (ty, _) = self.result(i)?;
        let from = self.cooperative_matrix(i, 3)?;
        let (to, kind) = self.cooperative_shape(i, ty)?;
        if (to.columns, to.rows) != (from.shape.rows, from.shape.columns) {
            return Err(i.bad("the matrices' shapes do not fit"));
        }
        if from.shape.of != Use::Accumulator || to.of != Use::B {
            return Err(i.bad("not from an accumulator to B"));
        }
        let signed = [from.ty, ty].map(|t| self.types.signed(t));
        if to.is_small() {
            let turned = self.small_transposed(from.shape, &from.elements);
            let number = |v: Value| self.e.number([from.kind, kind], signed, v);
            let list: Vec<Value> = turned.into_iter().map(number).collect();
            return self.define_list(i, &list);
        }
        // A part of its columns is one of the other's rows.
        let [_, own] = self.part(to);
        let elements = self.gathered(&from, [to.parts[1], 1], [own, Sum::of(0)])?;
        let along = to.tiles()[0];
        let mut list = Vec::with_capacity(to.elements as usize);
        for [r, c] in to.each_tile() {
            let at = ((c * along + r) * TILE) as usize;
            let tile = self.tile_transposed(&elements[at..at + ROWS]);
            list.extend(tile.into_iter().map(|v| self.e.number([from.kind, kind], signed, v)));
        }
        self.define_list(i, &list)
    }

    /// Rows of a tile as columns: in four steps quarters of 8, 4, 2 and 1 rows and lanes change places.
    fn tile_transposed(&mut self, tile: &[Value]) -> Vec<Value> {
        let mut rows = tile.to_vec();
        for step in [8, 4, 2, 1] {
            let (upper, other) = self.across(step);
            for k in (0..ROWS).filter(|k| k & step as usize == 0) {
                let (a, b) = (rows[k], rows[k + step as usize]);
                let sent = self.e.select(upper, a, b);
                let got = self.shuffle(sent, other);
                rows[k] = self.e.select(upper, got, a);
                rows[k + step as usize] = self.e.select(upper, b, got);
            }
        }
        rows
    }

    /// Of lanes in pairs, `step` apart: whether this is the upper one, and the other's number.
    pub(super) fn across(&mut self, step: u32) -> (Value, Value) {
        let lane = self.lane();
        let by = self.e.u32(step);
        let other = self.e.bin(Bin::Xor, lane, by);
        let bit = self.e.bin(Bin::And, lane, by);
        let zero = self.e.u32(0);
        (self.e.bin(Bin::INe, bit, zero), other)
    }
}

//! Functions that are called for the elements of a cooperative matrix (SPV_NV_cooperative_matrix2): inlined once for each element that
//! an invocation has.

use super::cooperative::{Cooperative, TILE, Use};
use super::cooperative_lanes::Matrix;
use super::types::Sk;
use super::{Builder, Slot};
use crate::ir::*;
use crate::isa::code::ROWS;
use crate::notes::What;
use crate::options::Result;
use crate::spirv::*;

/// A function that is called by element.
pub(super) struct Called {
    function: usize,
    /// Types of its parameters.
    pub params: Vec<u32>,
}

/// Bits of Cooperative Matrix Reduce.
const ROW: u32 = 1;
const COLUMN: u32 = 2;
const SQUARE: u32 = 4;

/// What a function made of elements; `None`: it never comes back.
pub(super) type Made<T = Value> = Result<Option<T>>;

impl Builder<'_> {
    /// How often an instruction calls its function, or 1.
    pub(super) fn calls(&self, i: &Code) -> u32 {
        let by_element = matches!(
            i.op,
            Op::CooperativeMatrixPerElementOpNV
                | Op::CooperativeMatrixReduceNV
                | Op::CooperativeMatrixLoadTensorNV
        );
        let ty = i.get(1).and_then(|id| self.types.of(id, i.at).ok());
        let shape = ty.and_then(|ty| self.types.cooperative(ty)).filter(|_| by_element);
        shape.map_or(1, |(s, _)| s.elements)
    }

    /// An instruction that calls a function by element; false when no call comes back.
    pub(super) fn cooperative_calls(&mut self, i: &Code) -> Result<bool> {
        let made = match i.op {
            Op::CooperativeMatrixPerElementOpNV => self.each_element(i)?,
            Op::CooperativeMatrixReduceNV => self.cooperative_reduce(i)?,
            _ => self.tensor_load(i)?,
        };
        let Some(list) = made else { return Ok(false) };
        self.define_list(i, &list)?;
        Ok(true)
    }

    /// The function that `i` calls, which returns an element.
    pub(super) fn called(&mut self, i: &Code, element: Sk) -> Result<Called> {
        let callee = i.callee().ok_or_else(|| i.bad("no function"))?;
        let function = self.m.function(callee.id).ok_or_else(|| i.bad("the callee is not a function"))?;
        let head = self.m.inst(self.m.functions[function].start);
        let returns = self.types.of(head.word(1)?, head.at)?;
        if self.types.numeric(returns) != Some((element, 1)) {
            return Err(i.bad("the function returns no element"));
        }
        let Some(info) = self.infos[function].clone() else {
            return Err(i.bad("the callee was not looked at"));
        };
        let params = info.params.iter().map(|&p| {
            let p = self.m.def(p, i.at)?;
            self.types.of(p.word(1)?, p.at)
        });
        Ok(Called { function, params: params.collect::<Result<_>>()? })
    }

    /// An argument for parameter `k`, which must be such a scalar.
    pub(super) fn argument(&mut self, i: &Code, f: &Called, k: usize, of: Sk, v: Value) -> Result<Slot> {
        match f.params.get(k) {
            Some(&ty) if self.types.numeric(ty) == Some((of, 1)) => Ok(self.placed(ty, &[v])),
            _ => Err(i.bad(format!("parameter {k} of the function is of another type"))),
        }
    }

    /// Values as one argument.
    pub(super) fn placed(&mut self, ty: u32, values: &[Value]) -> Slot {
        let start = self.pool.len() as u32;
        self.pool.extend_from_slice(values);
        Slot { ty, start, len: values.len() as u32, block: self.e.cur }
    }

    /// One call, which gives an element.
    pub(super) fn element_of(&mut self, i: &Code, f: &Called, args: &[Slot]) -> Made {
        self.check_size()?;
        let Some((start, len)) = self.inlined(i, f.function, args)? else { return Ok(None) };
        self.note(i, What::Leave)?;
        if len != 1 {
            return Err(i.bad("the function returns no element"));
        }
        Ok(Some(self.pool[start]))
    }

    fn each_element(&mut self, i: &Code) -> Made<Vec<Value>> {
        let (ty, _) = self.result(i)?;
        let m = self.cooperative_matrix(i, 3)?;
        if ty != m.ty {
            return Err(i.bad("the result is of another type than the matrix"));
        }
        let f = self.called(i, m.kind)?;
        // Of a matrix each call has its element; anything else is the same for all.
        let more = i.rest(5).iter().map(|&id| {
            let s = self.slot(id, i.at)?;
            let is_matrix = self.types.cooperative(s.ty).is_some();
            if is_matrix && s.ty != m.ty {
                return Err(i.bad("matrices of different types"));
            }
            Ok((s, is_matrix))
        });
        let more = more.collect::<Result<Vec<(Slot, bool)>>>()?;
        let mut list = Vec::with_capacity(m.elements.len());
        for k in 0..m.shape.elements {
            let [row, column] = self.element_place(m.shape, k);
            let (row, column) = (self.sum_value(row), self.sum_value(column));
            let mut args = vec![
                self.argument(i, &f, 0, Sk::I32, row)?,
                self.argument(i, &f, 1, Sk::I32, column)?,
                self.argument(i, &f, 2, m.kind, m.elements[k as usize])?,
            ];
            for &(s, is_matrix) in &more {
                args.push(match is_matrix {
                    true => {
                        let v = self.pool[(s.start + k) as usize];
                        self.argument(i, &f, args.len(), m.kind, v)?
                    }
                    false => s,
                });
            }
            let Some(v) = self.element_of(i, &f, &args)? else { return Ok(None) };
            list.push(v);
        }
        Ok(Some(list))
    }

    pub(super) fn combined(&mut self, i: &Code, f: &Called, kind: Sk, [a, b]: [Value; 2]) -> Made {
        let args = [self.argument(i, f, 0, kind, a)?, self.argument(i, f, 1, kind, b)?];
        self.element_of(i, f, &args)
    }

    /// All of them, combined in order.
    pub(super) fn folded_in(&mut self, i: &Code, f: &Called, kind: Sk, all: &[Value]) -> Made {
        let mut v = all[0];
        for &x in &all[1..] {
            let Some(next) = self.combined(i, f, kind, [v, x])? else { return Ok(None) };
            v = next;
        }
        Ok(Some(v))
    }

    fn cooperative_reduce(&mut self, i: &Code) -> Made<Vec<Value>> {
        let (ty, _) = self.result(i)?;
        let m = self.cooperative_matrix(i, 3)?;
        let (to, kind) = self.cooperative_shape(i, ty)?;
        if kind != m.kind || to.of != Use::Accumulator || m.shape.of != Use::Accumulator {
            return Err(i.bad("not on these matrices"));
        }
        let f = self.called(i, kind)?;
        let differ = || Err(i.bad("the matrices' shapes do not fit"));
        let mode = i.word(4)?;
        if m.shape.is_small() || to.is_small() {
            let rows = mode != ROW || to.rows == m.shape.rows;
            let columns = mode != COLUMN || to.columns == m.shape.columns;
            return match mode {
                _ if m.shape.grid != [1, 1] => differ(),
                SQUARE
                    if to.is_small() && (2 * to.rows, 2 * to.columns) == (m.shape.rows, m.shape.columns) =>
                {
                    self.small_squares(i, &f, &m, to)
                }
                1..=3 if rows && columns => {
                    self.small_reduced(i, &f, &m, to, [mode & ROW != 0, mode & COLUMN != 0])
                }
                _ => differ(),
            };
        }
        match mode {
            ROW if to.rows == m.shape.rows => self.rows_reduced(i, &f, &m, to),
            COLUMN if to.columns == m.shape.columns => self.columns_reduced(i, &f, &m, to),
            both if both == ROW | COLUMN => {
                let Some(one) = self.folded_in(i, &f, kind, &m.elements)? else { return Ok(None) };
                let Some(one) = self.lanes_reduced(i, &f, kind, one)? else { return Ok(None) };
                let part = vec![one; ROWS];
                let [down, along] = m.shape.parts;
                let parts = self.parts_of_all(&m, [TILE * down, TILE * along], part, [1, 1])?;
                let each: Vec<Value> = parts.chunks_exact(ROWS).map(|tile| tile[0]).collect();
                let Some(all) = self.folded_in(i, &f, kind, &each)? else { return Ok(None) };
                Ok(Some(vec![all; to.elements as usize]))
            }
            SQUARE if (2 * to.rows, 2 * to.columns) == (m.shape.rows, m.shape.columns) => {
                self.squares_reduced(i, &f, &m, to)
            }
            ROW | COLUMN | SQUARE => differ(),
            mode => Err(i.bad(format!("mode {mode}"))),
        }
    }

    /// One value of all lanes', the same in all of them.
    fn lanes_reduced(&mut self, i: &Code, f: &Called, kind: Sk, mut v: Value) -> Made {
        for step in [8, 4, 2, 1] {
            let (_, other) = self.across(step);
            let got = self.shuffle(v, other);
            let Some(next) = self.combined(i, f, kind, [v, got])? else { return Ok(None) };
            v = next;
        }
        let first = self.e.u32(0);
        Ok(Some(self.shuffle(v, first)))
    }

    /// In four steps each lane of two goes on with half of the rows, until lane r has what row r comes to.
    fn rows_reduced(&mut self, i: &Code, f: &Called, m: &Matrix, to: Cooperative) -> Made<Vec<Value>> {
        let [down, along] = m.shape.tiles();
        let mut own = Vec::with_capacity(down as usize * ROWS);
        for t in 0..down {
            let mut rows = Vec::with_capacity(ROWS);
            for r in 0..TILE {
                let at = |c: u32| m.elements[((t * along + c) * TILE + r) as usize];
                let all: Vec<Value> = (0..along).map(at).collect();
                let Some(v) = self.folded_in(i, f, m.kind, &all)? else { return Ok(None) };
                rows.push(v);
            }
            for step in [8, 4, 2, 1] {
                let (upper, other) = self.across(step);
                let mut half = Vec::with_capacity(step as usize);
                for k in 0..step as usize {
                    let (a, b) = (rows[k], rows[k + step as usize]);
                    let (own, sent) = (self.e.select(upper, b, a), self.e.select(upper, a, b));
                    let got = self.shuffle(sent, other);
                    let Some(v) = self.combined(i, f, m.kind, [own, got])? else { return Ok(None) };
                    half.push(v);
                }
                rows = half;
            }
            for r in 0..TILE {
                let lane = self.e.u32(r);
                own.push(self.shuffle(rows[0], lane));
            }
        }
        let [above, beside] = m.shape.parts;
        let parts = self.parts_of_all(m, [m.shape.rows, TILE * beside], own, [above, 1])?;
        let mut list = Vec::with_capacity(to.elements as usize);
        for tiles in parts.chunks_exact(ROWS * beside as usize) {
            let mut tile = Vec::with_capacity(ROWS);
            for r in 0..ROWS {
                let each: Vec<Value> = tiles.iter().skip(r).step_by(ROWS).copied().collect();
                let Some(v) = self.folded_in(i, f, m.kind, &each)? else { return Ok(None) };
                tile.push(v);
            }
            (0..to.tiles()[1]).for_each(|_| list.extend_from_slice(&tile));
        }
        Ok(Some(list))
    }

    fn columns_reduced(&mut self, i: &Code, f: &Called, m: &Matrix, to: Cooperative) -> Made<Vec<Value>> {
        let [down, along] = m.shape.tiles();
        let mut own = Vec::with_capacity(along as usize);
        for c in 0..along {
            let tiles = (0..down).map(|r| ((r * along + c) * TILE) as usize);
            let all: Vec<Value> = tiles.flat_map(|at| m.elements[at..at + ROWS].iter().copied()).collect();
            let Some(v) = self.folded_in(i, f, m.kind, &all)? else { return Ok(None) };
            own.extend([v; ROWS]);
        }
        let [above, beside] = m.shape.parts;
        let parts = self.parts_of_all(m, [TILE * above, m.shape.columns], own, [1, beside])?;
        let mut columns = Vec::with_capacity(along as usize);
        for c in 0..along {
            let at = (0..above).map(|r| parts[((r * along + c) * TILE) as usize]);
            let each: Vec<Value> = at.collect();
            let Some(v) = self.folded_in(i, f, m.kind, &each)? else { return Ok(None) };
            columns.push(v);
        }
        let list = to.each_tile().flat_map(|[_, c]| std::iter::repeat_n(columns[c as usize], ROWS));
        Ok(Some(list.collect()))
    }

    /// Two rows first, then two lanes; a tile's lanes are every other one of two tiles'.
    fn squares_reduced(&mut self, i: &Code, f: &Called, m: &Matrix, to: Cooperative) -> Made<Vec<Value>> {
        let elements = self.divided(m, to.parts)?;
        let along = 2 * to.tiles()[1];
        let (upper, _) = self.across(8);
        let (_, other) = self.across(1);
        let lane = self.lane();
        let (one, mask) = (self.e.u32(1), self.e.u32(15));
        let twice = self.e.bin(Bin::Shl, lane, one);
        let from = self.e.bin(Bin::And, twice, mask);
        let mut list = Vec::with_capacity(to.elements as usize);
        for [r, c] in to.each_tile() {
            for row in 0..TILE {
                let mut sides = Vec::with_capacity(2);
                for side in [2 * c, 2 * c + 1] {
                    let row = 2 * row;
                    let at = (((2 * r + row / TILE) * along + side) * TILE + row % TILE) as usize;
                    let pair = [elements[at], elements[at + 1]];
                    let Some(v) = self.combined(i, f, m.kind, pair)? else { return Ok(None) };
                    let got = self.shuffle(v, other);
                    let Some(v) = self.combined(i, f, m.kind, [v, got])? else { return Ok(None) };
                    sides.push(self.shuffle(v, from));
                }
                list.push(self.e.select(upper, sides[1], sides[0]));
            }
        }
        Ok(Some(list))
    }
}

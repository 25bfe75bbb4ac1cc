//! Cooperative matrices (SPV_KHR_cooperative_matrix) of a subgroup's invocations.
//!
//! A matrix consists of tiles of 16 × 16, row of tiles by row. Column c of a tile is in lane c, and its rows are scalars of their own:
//! an invocation's element 16 · t + r is row r of tile t. So what is done element by element is ordinary arithmetic, a row of
//! memory is a load of consecutive lanes, and a product of tiles is one [`Inst::Product`].

use super::Builder;
use super::access::{Base, Pointer};
use super::arith::Class;
use super::types::{Cooperative, Sk};
use crate::ir::*;
use crate::isa::code::ROWS;
use crate::options::Result;
use crate::spirv::*;

const SCOPE_SUBGROUP: u32 = 3;
const TILE: u32 = ROWS as u32;
/// Rows or columns that a matrix may have.
const MAX_SIDE: u32 = 256;

// Bits of the operands of OpCooperativeMatrixMulAddKHR.
const LEFT_SIGNED: u32 = 1;
const RIGHT_SIGNED: u32 = 2;
const RESULT_SIGNED: u32 = 8;
const SATURATING: u32 = 16;

/// The shape of a matrix, or why there is none.
pub(super) fn cooperative(scope: u32, rows: u32, columns: u32) -> std::result::Result<Cooperative, String> {
    if scope != SCOPE_SUBGROUP {
        return Err("cooperative matrices of another scope than a subgroup".into());
    }
    let fits = |n: u32| n > 0 && n.is_multiple_of(TILE) && n <= MAX_SIDE;
    if !fits(rows) || !fits(columns) {
        return Err(format!("cooperative matrices of {rows} × {columns}"));
    }
    Ok(Cooperative { rows, columns, elements: rows * columns / TILE })
}

impl Cooperative {
    /// Rows and columns of tiles.
    fn tiles(self) -> [u32; 2] {
        [self.rows / TILE, self.columns / TILE]
    }
}

/// A matrix in memory: where it begins, bytes from one row (or column) to the next, and from one element to the next.
struct InMemory {
    pointer: Pointer,
    element: Sk,
    shape: Cooperative,
    by_column: bool,
    stride: Value,
}

impl<'m> Builder<'m> {
    pub(crate) fn cooperative_op(&mut self, i: &Code) -> Result<bool> {
        match i.op {
            Op::CooperativeMatrixLengthKHR => {
                let ty = self.types.of(i.word(3)?, i.at)?;
                let (shape, _) = self.types.cooperative(ty).ok_or_else(|| i.bad("no cooperative matrix"))?;
                let v = self.e.u32(shape.elements);
                self.define_list(i, &[v])?;
            }
            Op::CooperativeMatrixLoadKHR => self.cooperative_load(i)?,
            Op::CooperativeMatrixStoreKHR => self.cooperative_store(i)?,
            Op::CooperativeMatrixMulAddKHR => self.cooperative_product(i)?,
            Op::MatrixTimesScalar => self.cooperative_scaled(i)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether operand `w` is a cooperative matrix.
    pub(crate) fn is_cooperative(&self, i: &Code, w: usize) -> bool {
        let slot = i.get(w).and_then(|id| self.ids.get(id as usize));
        slot.is_some_and(|s| self.types.cooperative(s.ty).is_some())
    }

    fn cooperative_scaled(&mut self, i: &Code) -> Result<()> {
        let (s, from, n) = self.numeric(i, 3, Class::Float).or_else(|_| self.numeric(i, 3, Class::Int))?;
        let factor = self.one(i.word(4)?, i.at)?;
        if self.e.ty(factor) != s.ty() {
            return Err(i.bad("operands of different types"));
        }
        self.set_flags(i.word(2)?);
        let mut list = Vec::with_capacity(n as usize);
        for k in from..from + n as usize {
            let v = self.pool[k];
            list.push(if s.is_float() {
                self.e.fmul(s, v, factor)
            } else {
                let v = self.e.bin(Bin::IMul, v, factor);
                self.e.wrap(s, v)
            });
        }
        self.e.reset_flags();
        self.define_list(i, &list)
    }

    /// Of the operands from word `w` on: pointer, layout, stride, memory operands; `ty`: the matrix's type.
    fn cooperative_memory(&mut self, i: &Code, ty: u32, pointer: usize, w: usize) -> Result<InMemory> {
        let (shape, element) = self.types.cooperative(ty).ok_or_else(|| i.bad("no cooperative matrix"))?;
        let (kind, _) = self.types.numeric(element).ok_or_else(|| i.bad("no elements"))?;
        let mut p = self.pointer(i.word(pointer)?, i.at)?;
        if p.ty == 0 {
            self.accessed(&mut p, element, i.at)?;
        }
        if !matches!(p.base, Base::Buffer(_) | Base::Global | Base::Shared) {
            return Err(unsupported("a cooperative matrix in this storage class"));
        }
        p.flags.volatile |= i.get(w + 2).is_some_and(|m| m & MemoryAccess::VOLATILE.bits() != 0);
        let by_column = match self.const_u32(i.word(w)?, i.at)? {
            0 => false,
            1 => true,
            _ => return Err(unsupported("this layout of cooperative matrices")),
        };
        // It counts elements of what the pointer points at.
        let stride = match i.get(w + 1) {
            Some(id) => self.int32(id, i.at)?,
            None => return Err(i.bad("no stride")),
        };
        let bytes = self.e.u32(self.types.get(p.ty).size);
        let stride = self.e.bin(Bin::IMul, stride, bytes);
        Ok(InMemory { pointer: p, element: kind, shape, by_column, stride })
    }

    /// The place of the first element that each lane has of a row of a tile or, by columns, of a tile: `across` counts
    /// along memory, `along` from row to row (or column to column).
    fn cooperative_place(&mut self, m: &InMemory, across: u32, along: u32) -> Place {
        let size = self.e.u32(m.element.mem().bytes());
        let lane = self.e.input(Input::SubgroupLane, Ty::B32);
        let step = if m.by_column { m.stride } else { size };
        let own = self.e.bin(Bin::IMul, lane, step);
        let first = self.e.u32(along);
        let first = self.e.bin(Bin::IMul, m.stride, first);
        let offset = m.pointer.offset.wrapping_add(across * m.element.mem().bytes());
        let mut p = m.pointer;
        p.offset = 0;
        let ty = if p.base == Base::Global { Ty::B64 } else { Ty::B32 };
        let widen = |b: &mut Self, v: Value| if ty == Ty::B64 { b.e.un(Un::U32ToU64, v) } else { v };
        let (own, first) = (widen(self, own), widen(self, first));
        let k = self.e.constant(ty, offset as u64);
        let base = match p.addr {
            Some(a) => self.e.add(a, own),
            None => own,
        };
        let sum = self.e.add(base, first);
        p.addr = Some(self.e.add(sum, k));
        self.place(&p)
    }

    fn cooperative_load(&mut self, i: &Code) -> Result<()> {
        let (ty, _) = self.result(i)?;
        let m = self.cooperative_memory(i, ty, 3, 4)?;
        let mem = m.element.mem();
        let mut list = Vec::with_capacity(m.shape.elements as usize);
        let [down, along] = m.shape.tiles();
        for (row, column) in (0..down).flat_map(|r| (0..along).map(move |c| (r * TILE, c * TILE))) {
            if m.by_column {
                let place = self.cooperative_place(&m, row, column);
                let tuple = self.e.load(place, 0, mem, ROWS as u8, m.pointer.flags);
                list.extend((0..TILE).map(|k| self.e.part(tuple, k, mem.ty())));
                continue;
            }
            if self.opt.sanitize {
                // Probes tell of accesses one by one.
                for r in row..row + TILE {
                    let place = self.cooperative_place(&m, column, r);
                    list.push(self.e.load(place, 0, mem, 1, m.pointer.flags));
                }
                continue;
            }
            let place = self.cooperative_place(&m, column, row);
            let inst = Inst::LoadRows { place, offset: 0, mem, stride: m.stride, flags: m.pointer.flags };
            let tuple = self.e.push(inst, Ty::Tuple);
            list.extend((0..TILE).map(|k| self.e.part(tuple, k, mem.ty())));
        }
        if m.element.is_small() {
            for v in &mut list {
                *v = self.e.of_small_bits(m.element, *v);
            }
        }
        self.define_list(i, &list)
    }

    fn cooperative_store(&mut self, i: &Code) -> Result<()> {
        let (ty, start, len) = self.value(i.word(2)?, i.at)?;
        let m = self.cooperative_memory(i, ty, 1, 3)?;
        let mem = m.element.mem();
        let mut list = self.pool[start..start + len].to_vec();
        for v in &mut list {
            *v = if m.element.is_small() { self.e.small_bits(m.element, *v) } else { *v };
            *v = self.e.observed(m.element, *v);
        }
        let [down, along] = m.shape.tiles();
        let tiles = (0..down).flat_map(|r| (0..along).map(move |c| (r * TILE, c * TILE)));
        for ((row, column), tile) in tiles.zip(list.chunks_exact(ROWS)) {
            let store = |b: &mut Self, place: Place, values: Vec<Value>| {
                let inst =
                    Inst::Store { place, offset: 0, mem, values: values.into(), flags: m.pointer.flags };
                b.e.push(inst, Ty::Void);
            };
            if m.by_column {
                let place = self.cooperative_place(&m, row, column);
                store(self, place, tile.to_vec());
                continue;
            }
            if self.opt.sanitize {
                for (r, v) in tile.iter().enumerate() {
                    let place = self.cooperative_place(&m, column, row + r as u32);
                    store(self, place, vec![*v]);
                }
                continue;
            }
            let place = self.cooperative_place(&m, column, row);
            let (stride, flags) = (m.stride, m.pointer.flags);
            let inst = Inst::StoreRows { place, offset: 0, mem, stride, values: tile.to_vec(), flags };
            self.e.push(inst, Ty::Void);
        }
        Ok(())
    }

    /// Scalars of operand `w`, their kind and the matrix's shape.
    fn cooperative_operand(&mut self, i: &Code, w: usize) -> Result<(Sk, Cooperative, Vec<Value>)> {
        let (ty, start, len) = self.value(i.word(w)?, i.at)?;
        match (self.types.cooperative(ty), self.types.numeric(ty)) {
            (Some((shape, _)), Some((s, n))) if n as usize == len => {
                let start = if s.is_float() { self.flushed_operands(s, start, len) } else { start };
                Ok((s, shape, self.pool[start..start + len].to_vec()))
            }
            _ => Err(i.bad(format!("operand {w} is no cooperative matrix"))),
        }
    }

    fn cooperative_product(&mut self, i: &Code) -> Result<()> {
        let (ty, _) = self.result(i)?;
        let (kind, left_shape, left) = self.cooperative_operand(i, 3)?;
        let (right_kind, right_shape, right) = self.cooperative_operand(i, 4)?;
        let (sum_kind, sum_shape, sum) = self.cooperative_operand(i, 5)?;
        let bits = i.get(6).unwrap_or(0);
        let Some((shape, _)) = self.types.cooperative(ty) else { return Err(i.bad("no cooperative matrix")) };
        let same = left_shape.columns == right_shape.rows
            && (shape.rows, shape.columns) == (left_shape.rows, right_shape.columns)
            && sum_shape == shape;
        if !same {
            return Err(i.bad("matrices whose shapes do not fit"));
        }
        let (Some((to, _)), floats) = (self.types.numeric(ty), kind.is_float()) else {
            return Err(i.bad("no elements"));
        };
        let op = match (kind, right_kind) {
            (Sk::I8, Sk::I8) if to == Sk::I32 && sum_kind == Sk::I32 => {
                match (bits & LEFT_SIGNED != 0, bits & RIGHT_SIGNED != 0) {
                    (true, true) => Product::SS8,
                    (false, false) => Product::UU8,
                    (true, false) => Product::SU8,
                    (false, true) => Product::US8,
                }
            }
            (Sk::F16, Sk::F16) if to == Sk::F16 => Product::F16,
            (a, b) if a == b && floats && a != Sk::F64 && sum_kind.is_float() && to.is_float() => {
                Product::F32
            }
            _ => return Err(unsupported("a product of such cooperative matrices")),
        };
        let saturates = bits & SATURATING != 0 && !floats;
        let zero = self.e.u32(0);
        let tile = |list: &[Value], along: u32, r: u32, c: u32| -> Vec<Value> {
            let at = ((r * along + c) * TILE) as usize;
            list[at..at + ROWS].to_vec()
        };
        let [down, along] = shape.tiles();
        let [_, between] = left_shape.tiles();
        let mut list = Vec::with_capacity(shape.elements as usize);
        for (r, c) in (0..down).flat_map(|r| (0..along).map(move |c| (r, c))) {
            let begin = tile(&sum, along, r, c);
            let mut rows = if saturates { vec![zero; ROWS] } else { begin.clone() };
            for k in 0..between {
                let mut all = tile(&left, between, r, k);
                all.extend(tile(&right, along, k, c));
                all.append(&mut rows);
                let tuple = self.e.push(Inst::Product { kind: op, rows: all }, Ty::Tuple);
                rows = (0..TILE).map(|k| self.e.part(tuple, k, Ty::B32)).collect();
            }
            for (k, v) in rows.into_iter().enumerate() {
                list.push(match to {
                    _ if saturates => self.saturating_add(to, v, begin[k], bits & RESULT_SIGNED != 0),
                    _ if floats && op != Product::F16 => self.e.float_to_float(Sk::F32, to, v, false),
                    _ => v,
                });
            }
        }
        self.define_list(i, &list)
    }
}

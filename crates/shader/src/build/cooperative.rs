//! Cooperative matrices (SPV_KHR_cooperative_matrix) of a subgroup's invocations, or of a workgroup's (`cooperative_workgroup`).
//!
//! A matrix consists of tiles of 16 × 16, row of tiles by row. Column c of a tile is in lane c, and its rows are scalars of their own:
//! an invocation's element 16 · t + r is row r of tile t. So what is done element by element is ordinary arithmetic, a row of
//! memory is a load of consecutive lanes, and a product of tiles is one [`Inst::Product`]. Matrices of 8 × 8 are `cooperative_small`.

use super::Builder;
use super::access::{Base, Pointer};
use super::arith::Class;
use super::cooperative_small::SMALL;
use super::sums::Sum;
use super::types::{Sk, Type, TypeClass};
use crate::ir::*;
use crate::isa::code::ROWS;
use crate::options::MAX_MATRIX_SIDE as MAX_SIDE;
use crate::options::Result;
use crate::spirv::*;

const SCOPE_WORKGROUP: u32 = 2;
const SCOPE_SUBGROUP: u32 = 3;
pub(super) const TILE: u32 = ROWS as u32;

// Bits of the operands of OpCooperativeMatrixMulAddKHR.
const LEFT_SIGNED: u32 = 1;
const RIGHT_SIGNED: u32 = 2;
const RESULT_SIGNED: u32 = 8;
const SATURATING: u32 = 16;

/// What a matrix is in a product: Cooperative Matrix Use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    A,
    B,
    Accumulator,
}

/// Who shares a matrix: a subgroup, or a workgroup of so many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    Subgroup,
    Workgroup(u32),
}

/// How a workgroup's subgroups stand for its matrices, down and along: [1, 1] for those of a subgroup. Powers of two.
type Grid = [u32; 2];

fn grid(scope: Scope) -> Grid {
    match scope {
        // Others than powers of two all have whole matrices.
        Scope::Workgroup(n) if n.is_power_of_two() => {
            let along = 1 << (n.ilog2() / 2);
            [n / along, along]
        }
        _ => [1, 1],
    }
}

/// Rows and columns of a cooperative matrix, and what an invocation has of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cooperative {
    pub rows: u32,
    pub columns: u32,
    /// Elements of an invocation.
    pub elements: u32,
    pub of: Use,
    pub grid: Grid,
    /// Parts of equal size that the rows and the columns are divided in. Subgroups whose places in the grid differ by multiples of these
    /// numbers have the same part. What a product sums over is in one part, so that a subgroup has all that its part of the result needs.
    pub parts: [u32; 2],
}

/// The shape of a matrix, or why there is none.
fn cooperative(scope: Scope, rows: u32, columns: u32, of: u32) -> std::result::Result<Cooperative, String> {
    let fits = |n: u32| n > 0 && n.is_multiple_of(TILE) && n <= MAX_SIDE;
    // The others are there for reductions of, and to, matrices of 8 × 8.
    let eights = |n: u32| n > 0 && n.is_multiple_of(SMALL) && n <= MAX_SIDE;
    let small = scope == Scope::Subgroup && eights(rows) && eights(columns);
    let small = small && !(fits(rows) && fits(columns));
    if !small && (!fits(rows) || !fits(columns)) {
        return Err(format!("cooperative matrices of {rows} × {columns}"));
    }
    let of = match of {
        0 => Use::A,
        1 => Use::B,
        2 => Use::Accumulator,
        _ => return Err(format!("cooperative matrices of use {of}")),
    };
    let grid = grid(scope);
    if small {
        return Ok(Cooperative {
            rows,
            columns,
            elements: rows * columns / TILE,
            of,
            grid: [1, 1],
            parts: [1, 1],
        });
    }
    let all = Cooperative { rows, columns, elements: 0, of, grid, parts: [1, 1] }.divided();
    let [down, along] = all.parts;
    Ok(match of {
        Use::A => all.with_parts([down, 1]),
        Use::B => all.with_parts([1, along]),
        Use::Accumulator => all,
    })
}

impl Cooperative {
    /// Rows and columns of tiles that a subgroup has.
    pub fn tiles(self) -> [u32; 2] {
        [self.rows / TILE / self.parts[0], self.columns / TILE / self.parts[1]]
    }
    /// Rows and columns of a subgroup's tiles, one after the other.
    pub fn each_tile(self) -> impl Iterator<Item = [u32; 2]> {
        let [down, along] = self.tiles();
        (0..down).flat_map(move |r| (0..along).map(move |c| [r, c]))
    }
    /// The tile of an invocation's element, and the row in it.
    pub fn tile_of(self, k: u32) -> ([u32; 2], u32) {
        let (tile, along) = (k / TILE, self.tiles()[1]);
        ([tile / along, tile % along], k % TILE)
    }
    /// The same matrix, divided otherwise.
    pub fn with_parts(self, parts: [u32; 2]) -> Cooperative {
        let elements = self.rows / parts[0] * (self.columns / parts[1]) / TILE;
        Cooperative { parts, elements, ..self }
    }
    /// The same matrix, divided in as many parts as there can be.
    pub fn divided(self) -> Cooperative {
        // The greatest power of two that both are multiples of.
        let common = |size: u32, subgroups: u32| subgroups.min(1 << (size / TILE).trailing_zeros());
        self.with_parts([common(self.rows, self.grid[0]), common(self.columns, self.grid[1])])
    }
    /// Several subgroups have the same part.
    pub fn is_repeated(self) -> bool {
        self.parts != self.grid
    }
}

/// A matrix in memory: where it begins, bytes from one row (or column) to the next, and from one element to the next.
pub(super) struct InMemory {
    pub pointer: Pointer,
    pub element: Sk,
    pub shape: Cooperative,
    pub by_column: bool,
    pub stride: Value,
}

impl<'m> Builder<'m> {
    /// OpTypeCooperativeMatrixKHR.
    pub(super) fn cooperative_type(&mut self, i: &Code, t: &mut Type) -> Result<()> {
        let e = self.types.of(i.word(2)?, i.at)?;
        let [scope, rows, columns, of] =
            [3, 4, 5, 6].map(|w| i.word(w).and_then(|id| self.const_u32(id, i.at)));
        let scope = match scope? {
            SCOPE_SUBGROUP => Scope::Subgroup,
            SCOPE_WORKGROUP => Scope::Workgroup(self.subgroups_ahead(i)?),
            _ => {
                return Err(unsupported("cooperative matrices of another scope than subgroup and workgroup"));
            }
        };
        let shape = cooperative(scope, rows?, columns?, of?).map_err(unsupported)?;
        if !matches!(self.types.kind(e), TypeClass::Scalar(s, _) if s.ty() == Ty::B32) {
            return Err(unsupported("cooperative matrices of this type"));
        }
        t.kind = TypeClass::Cooperative(e, self.types.cooperative.len() as u32);
        self.types.cooperative.push(shape);
        self.repeat(t, e, shape.elements)
    }

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
            Op::CooperativeMatrixConvertNV => self.cooperative_convert(i)?,
            Op::CooperativeMatrixTransposeNV => self.cooperative_transpose(i)?,
            Op::CooperativeMatrixLoadTensorNV => match self.tensor_load(i)? {
                Some(list) => self.define_list(i, &list)?,
                None => return Err(i.bad("no result")),
            },
            Op::CooperativeMatrixStoreTensorNV => self.tensor_store(i)?,
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
    fn cooperative_place(&mut self, m: &InMemory, across: Sum, along: Sum) -> Place {
        let bytes = m.element.mem().bytes();
        let size = self.e.u32(bytes);
        let lane = self.lane();
        let step = if m.by_column { m.stride } else { size };
        let mut own = self.e.bin(Bin::IMul, lane, step);
        if let Some(rest) = across.rest {
            let rest = self.e.bin(Bin::IMul, rest, size);
            own = self.e.add(own, rest);
        }
        let first = self.sum_value(along);
        let first = self.e.bin(Bin::IMul, m.stride, first);
        self.place_at(m, own, first, across.k * bytes)
    }

    /// The place so many bytes after the matrix's begin: of each lane, of all lanes, and constant ones.
    pub(super) fn place_at(&mut self, m: &InMemory, own: Value, first: Value, more: u32) -> Place {
        let offset = m.pointer.offset.wrapping_add(more);
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
        let list = self.load_tiles(&m)?;
        self.define_list(i, &list)
    }

    /// Elements of an invocation.
    pub(super) fn load_tiles(&mut self, m: &InMemory) -> Result<Vec<Value>> {
        let mem = m.element.mem();
        let mut list = Vec::with_capacity(m.shape.elements as usize);
        if m.shape.is_small() {
            self.load_small(m, &mut list);
        }
        for tile in m.shape.each_tile() {
            self.check_size()?;
            let [row, column] = self.tile_origin(m.shape, tile);
            if m.by_column {
                let place = self.cooperative_place(m, row, column);
                let tuple = self.e.load(place, 0, mem, ROWS as u8, m.pointer.flags);
                list.extend((0..TILE).map(|k| self.e.part(tuple, k, mem.ty())));
                continue;
            }
            if self.opt.sanitize {
                // Probes tell of accesses one by one.
                for r in 0..TILE {
                    let row = self.sum_add(row, Sum::of(r));
                    let place = self.cooperative_place(m, column, row);
                    list.push(self.e.load(place, 0, mem, 1, m.pointer.flags));
                }
                continue;
            }
            let place = self.cooperative_place(m, column, row);
            let inst = Inst::LoadRows { place, offset: 0, mem, stride: m.stride, flags: m.pointer.flags };
            let tuple = self.e.push(inst, Ty::Tuple);
            list.extend((0..TILE).map(|k| self.e.part(tuple, k, mem.ty())));
        }
        if m.element.is_small() {
            for v in &mut list {
                *v = self.e.of_small_bits(m.element, *v);
            }
        }
        Ok(list)
    }

    fn cooperative_store(&mut self, i: &Code) -> Result<()> {
        let (ty, start, len) = self.value(i.word(2)?, i.at)?;
        let m = self.cooperative_memory(i, ty, 1, 3)?;
        let list = self.pool[start..start + len].to_vec();
        self.store_tiles(&m, list)
    }

    /// An element as memory has it.
    pub(super) fn in_memory(&mut self, kind: Sk, v: Value) -> Value {
        let v = if kind.is_small() { self.e.small_bits(kind, v) } else { v };
        self.e.observed(kind, v)
    }

    pub(super) fn store_tiles(&mut self, m: &InMemory, list: Vec<Value>) -> Result<()> {
        let own = self.tells_of(m.shape);
        let nothing = self.e.u32(0);
        self.where_holds(own, nothing, |b| b.store_own_tiles(m, list).map(|_| Some(nothing)))?;
        Ok(())
    }

    fn store_own_tiles(&mut self, m: &InMemory, mut list: Vec<Value>) -> Result<()> {
        let mem = m.element.mem();
        for v in &mut list {
            *v = self.in_memory(m.element, *v);
        }
        if m.shape.is_small() {
            self.store_small(m, &list);
        }
        for (at, tile) in m.shape.each_tile().zip(list.chunks_exact(ROWS)) {
            self.check_size()?;
            let [row, column] = self.tile_origin(m.shape, at);
            let store = |b: &mut Self, place: Place, values: Vec<Value>| {
                let inst =
                    Inst::Store { place, offset: 0, mem, values: values.into(), flags: m.pointer.flags };
                b.e.push(inst, Ty::Void);
            };
            if m.by_column {
                let place = self.cooperative_place(m, row, column);
                store(self, place, tile.to_vec());
                continue;
            }
            if self.opt.sanitize {
                for (r, v) in tile.iter().enumerate() {
                    let row = self.sum_add(row, Sum::of(r as u32));
                    let place = self.cooperative_place(m, column, row);
                    store(self, place, vec![*v]);
                }
                continue;
            }
            let place = self.cooperative_place(m, column, row);
            let (stride, flags) = (m.stride, m.pointer.flags);
            let inst = Inst::StoreRows { place, offset: 0, mem, stride, values: tile.to_vec(), flags };
            self.e.push(inst, Ty::Void);
        }
        Ok(())
    }

    /// Scalars of operand `w`, their kind and the matrix's shape.
    pub(super) fn cooperative_operand(
        &mut self,
        i: &Code,
        w: usize,
    ) -> Result<(Sk, Cooperative, Vec<Value>)> {
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
        let small = [left_shape, right_shape, shape].map(Cooperative::is_small);
        let same = left_shape.columns == right_shape.rows
            && (small == [true; 3] || small == [false; 3])
            && (shape.rows, shape.columns) == (left_shape.rows, right_shape.columns)
            && sum_shape == shape
            && (left_shape.of, right_shape.of, shape.of) == (Use::A, Use::B, Use::Accumulator)
            && [left_shape.grid, right_shape.grid] == [shape.grid; 2];
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
        let ([_, along], [_, between]) = (shape.tiles(), left_shape.tiles());
        let mut list = Vec::with_capacity(shape.elements as usize);
        if shape.is_small() {
            let begin = if saturates { &vec![zero; sum.len()] } else { &sum };
            let rows = self.small_products(op, [shape, left_shape, right_shape], [&left, &right, begin]);
            for (v, begin) in rows.into_iter().zip(&sum) {
                list.push(match to {
                    _ if saturates => self.saturating_add(to, v, *begin, bits & RESULT_SIGNED != 0),
                    _ if floats => self.e.float_to_float(Sk::F32, to, v, false),
                    _ => v,
                });
            }
        }
        for [r, c] in shape.each_tile() {
            self.check_size()?;
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

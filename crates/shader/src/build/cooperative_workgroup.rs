//! Cooperative matrices of a workgroup: each subgroup has a part of one, a whole number of tiles. What a product sums over is not divided,
//! so that products, loads, stores and all that is done by element ask nothing of other subgroups. Where a matrix must be divided
//! otherwise, tiles go through workgroup memory.

use super::Builder;
use super::cooperative::{Cooperative, TILE};
use super::cooperative_lanes::Matrix;
use super::sums::{Sum, Truth};
use crate::ir::*;
use crate::isa::code::ROWS;
use crate::options::{MAX_MATRIX_WORKGROUP, Result};
use crate::spirv::*;

/// Bytes of a row of a tile in workgroup memory, where all elements are registers, and of a tile.
const ROW_BYTES: u32 = 4 * TILE;
const TILE_BYTES: u32 = ROW_BYTES * TILE;

impl Builder<'_> {
    /// Subgroups of a workgroup, before the execution modes are read: types depend on it.
    pub(super) fn subgroups_ahead(&mut self, i: &Code) -> Result<u32> {
        if let Some(n) = self.types.subgroups {
            return Ok(n);
        }
        let size = self.size_ahead()?.ok_or_else(|| i.bad("no workgroup size"))?;
        let invocations = size.iter().try_fold(1u32, |a, &b| a.checked_mul(b)).unwrap_or(0);
        if !(1..=MAX_MATRIX_WORKGROUP).contains(&invocations) {
            return Err(unsupported(format!("cooperative matrices of workgroups of {size:?}")));
        }
        let n = invocations.div_ceil(TILE);
        self.types.subgroups = Some(n);
        Ok(n)
    }

    /// The workgroup's size: a constant decorated so, or the mode's.
    fn size_ahead(&mut self) -> Result<Option<[u32; 3]>> {
        let decorated = self.m.all_decorations().iter().find(|d| {
            d.kind == Decoration::BuiltIn as u32
                && d.value == BuiltIn::WorkgroupSize as u32
                && d.member == WHOLE
        });
        if let Some(at) = decorated.and_then(|d| self.m.def_at(d.target)) {
            let i = self.m.inst(at);
            if matches!(i.op, Op::ConstantComposite | Op::SpecConstantComposite) {
                return self.three_ahead(&i, 3).map(Some);
            }
        }
        let entry = self.find_entry()?;
        let f = self.m.inst(entry).word(2)?;
        for k in 0..self.m.modes.len() {
            let i = self.m.inst(self.m.modes[k]);
            if i.word(1)? != f {
                continue;
            }
            match ExecutionMode::from_u32(i.word(2)?) {
                Some(ExecutionMode::LocalSize) => return Ok(Some([i.word(3)?, i.word(4)?, i.word(5)?])),
                Some(ExecutionMode::LocalSizeId) => return self.three_ahead(&i, 3).map(Some),
                _ => {}
            }
        }
        Ok(None)
    }

    fn three_ahead(&mut self, i: &Code, w: usize) -> Result<[u32; 3]> {
        let mut size = [0; 3];
        for (k, s) in size.iter_mut().enumerate() {
            *s = self.constant_ahead(i.word(w + k)?, i.at)?;
        }
        Ok(size)
    }

    fn subgroup_number(&mut self) -> Value {
        self.e.input(Input::SubgroupId, Ty::B32)
    }

    /// The number of the subgroup's part, down and along.
    pub(super) fn part(&mut self, shape: Cooperative) -> [Sum; 2] {
        [0, 1].map(|d| {
            let parts = shape.parts[d];
            if parts == 1 {
                return Sum::of(0);
            }
            let mut v = self.subgroup_number();
            if d == 0 {
                let by = self.e.u32(shape.grid[1].ilog2());
                v = self.e.bin(Bin::LShr, v, by);
            }
            let mask = self.e.u32(parts - 1);
            Sum::up_to(self.e.bin(Bin::And, v, mask), parts - 1)
        })
    }

    /// The first row and column of a tile of the subgroup's.
    pub(super) fn tile_origin(&mut self, shape: Cooperative, [r, c]: [u32; 2]) -> [Sum; 2] {
        let ([down, along], [row, column]) = (shape.tiles(), self.part(shape));
        let (row, column) =
            (self.sum_times(row, Sum::of(down * TILE)), self.sum_times(column, Sum::of(along * TILE)));
        [self.sum_add(row, Sum::of(r * TILE)), self.sum_add(column, Sum::of(c * TILE))]
    }

    /// Row and column of an invocation's element.
    pub(super) fn element_place(&mut self, shape: Cooperative, k: u32) -> [Sum; 2] {
        if shape.is_small() {
            return self.small_place(shape, k);
        }
        let (tile, r) = shape.tile_of(k);
        let [row, column] = self.tile_origin(shape, tile);
        let lane = self.lane();
        [self.sum_add(row, Sum::of(r)), self.sum_add(column, Sum::up_to(lane, TILE - 1))]
    }

    /// Of subgroups with the same part, whether this is the one that stores it.
    pub(super) fn tells_of(&mut self, shape: Cooperative) -> Truth {
        if !shape.is_repeated() {
            return Truth::Always;
        }
        let whole = shape.with_parts(shape.grid);
        let [row, column] = self.part(whole);
        let (row, column) =
            (self.sum_less(row, Sum::of(shape.parts[0])), self.sum_less(column, Sum::of(shape.parts[1])));
        self.both(row, column)
    }

    /// The elements of a matrix that is divided in fewer parts.
    pub(super) fn divided(&mut self, m: &Matrix, parts: [u32; 2]) -> Result<Vec<Value>> {
        let own = self.part(m.shape.with_parts(parts));
        self.gathered(m, parts, own)
    }

    /// One tile of each part's (a row or column of them), of a matrix as large as they are together, divided otherwise.
    pub(super) fn parts_of_all(
        &mut self,
        m: &Matrix,
        [rows, columns]: [u32; 2],
        own: Vec<Value>,
        parts: [u32; 2],
    ) -> Result<Vec<Value>> {
        let shape = Cooperative { rows, columns, ..m.shape }.with_parts(m.shape.parts);
        self.divided(&Matrix { shape, elements: own, ..*m }, parts)
    }

    /// The elements of part `own` of a matrix, of so many parts, of which each is several of those that it is divided in.
    pub(super) fn gathered(&mut self, m: &Matrix, parts: [u32; 2], own: [Sum; 2]) -> Result<Vec<Value>> {
        let from = m.shape;
        if from.parts == parts && own == self.part(from) {
            return Ok(m.elements.clone());
        }
        if (0..2).any(|d| !from.parts[d].is_multiple_of(parts[d])) {
            return Err(unsupported("this change of use of a matrix of a workgroup"));
        }
        let to = from.with_parts(parts);
        let several = [from.parts[0] / parts[0], from.parts[1] / parts[1]];
        let ([down, along], [_, width]) = (from.tiles(), to.tiles());
        let memory = self.exchange_memory(from.grid)?;
        let zero = self.e.u32(0);
        let mut list = vec![zero; to.elements as usize];
        let number = self.subgroup_number();
        let number = Sum::up_to(number, from.grid[0] * from.grid[1] - 1);
        for ([r, c], tile) in from.each_tile().zip(m.elements.chunks_exact(ROWS)) {
            self.check_size()?;
            // Whoever still reads the tile before.
            self.e.push(Inst::Barrier, Ty::Void);
            let place = self.exchange_place(memory, number);
            let tile: Vec<Value> = tile.iter().map(|&v| self.e.observed(m.kind, v)).collect();
            self.put_rows(place, &tile);
            self.e.push(Inst::Barrier, Ty::Void);
            for (y, x) in (0..several[0]).flat_map(|y| (0..several[1]).map(move |x| (y, x))) {
                let row = self.sum_times(own[0], Sum::of(several[0]));
                let row = self.sum_add(row, Sum::of(y));
                let row = self.sum_times(row, Sum::of(from.grid[1]));
                let column = self.sum_times(own[1], Sum::of(several[1]));
                let column = self.sum_add(column, Sum::of(x));
                let whose = self.sum_add(row, column);
                let place = self.exchange_place(memory, whose);
                let at = (((y * down + r) * width + x * along + c) * TILE) as usize;
                let rows = self.get_rows(place);
                list[at..at + ROWS].copy_from_slice(&rows);
            }
        }
        Ok(list)
    }

    // Accesses of rows are what probes pass over: this memory is none of the application's.
    fn put_rows(&mut self, place: Place, rows: &[Value]) {
        let stride = self.e.u32(ROW_BYTES);
        let (mem, flags) = (Mem::B32, MemFlags::default());
        let inst = Inst::StoreRows { place, offset: 0, mem, stride, values: rows.to_vec(), flags };
        self.e.push(inst, Ty::Void);
    }

    fn get_rows(&mut self, place: Place) -> Vec<Value> {
        let stride = self.e.u32(ROW_BYTES);
        let (mem, flags) = (Mem::B32, MemFlags::default());
        let tuple = self.e.push(Inst::LoadRows { place, offset: 0, mem, stride, flags }, Ty::Tuple);
        (0..TILE).map(|k| self.e.part(tuple, k, Ty::B32)).collect()
    }

    /// An invocation's first element of the tile that a subgroup has put into workgroup memory.
    fn exchange_place(&mut self, memory: u32, subgroup: Sum) -> Place {
        let at = self.sum_times(subgroup, Sum::of(TILE_BYTES));
        let lane = self.lane();
        let own = self.sum_times(Sum::up_to(lane, TILE - 1), Sum::of(4));
        let at = self.sum_add(at, own);
        let at = self.sum_add(at, Sum::of(memory));
        Place::Shared { addr: self.sum_value(at) }
    }

    /// Workgroup memory for a tile of each subgroup: where it begins.
    fn exchange_memory(&mut self, grid: [u32; 2]) -> Result<u32> {
        if let Some(at) = self.exchange {
            return Ok(at);
        }
        let at = self.shared_bytes.saturating_add(15) & !15;
        self.shared_bytes = at.saturating_add(grid[0] * grid[1] * TILE_BYTES);
        self.check_shared()?;
        self.exchange = Some(at);
        Ok(at)
    }
}

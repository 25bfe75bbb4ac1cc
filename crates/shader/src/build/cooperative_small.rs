//! Cooperative matrices whose rows or columns are no multiple of 16: grids of tiles of 8 × 8, row by row. An invocation has four elements of
//! a tile: lane l has column l mod 8, and its element k is row k in the lower eight lanes and row k + 4 in the upper ones. Operations are
//! ordinary arithmetic between lanes that exchange elements.

use super::Builder;
use super::cooperative::{Cooperative, InMemory, TILE};
use super::cooperative_calls::{Called, Made};
use super::cooperative_lanes::Matrix;
use super::sums::Sum;
use super::types::Sk;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

/// Rows and columns of a tile.
pub(super) const SMALL: u32 = 8;
/// Rows of a tile that half of a subgroup has: elements of an invocation.
const OWN: u32 = 4;
const EACH: usize = OWN as usize;

impl Cooperative {
    pub fn is_small(self) -> bool {
        !self.rows.is_multiple_of(TILE) || !self.columns.is_multiple_of(TILE)
    }
    /// Rows and columns of tiles of 8 × 8.
    fn small_tiles(self) -> [u32; 2] {
        [self.rows / SMALL, self.columns / SMALL]
    }
    /// Where a tile's elements begin.
    fn small_tile(self, r: u32, c: u32) -> usize {
        ((r * self.small_tiles()[1] + c) * OWN) as usize
    }
    fn each_small_tile(self) -> impl Iterator<Item = [u32; 2]> {
        let [down, along] = self.small_tiles();
        (0..down).flat_map(move |r| (0..along).map(move |c| [r, c]))
    }
}

impl Builder<'_> {
    /// Row and column of an invocation's element.
    pub(super) fn small_place(&mut self, shape: Cooperative, k: u32) -> [Sum; 2] {
        let along = shape.small_tiles()[1];
        let (tile, k) = (k / OWN, k % OWN);
        let upper = self.upper();
        let one = self.e.u32(1);
        let first = self.e.bin(Bin::LShr, upper, one);
        let row = self.sum_add(Sum::up_to(first, OWN), Sum::of(tile / along * SMALL + k));
        let column = Sum::up_to(self.column(), SMALL - 1);
        [row, self.sum_add(column, Sum::of(tile % along * SMALL))]
    }

    /// 8 in the upper eight lanes, else 0.
    fn upper(&mut self) -> Value {
        let (lane, half) = (self.lane(), self.e.u32(SMALL));
        self.e.bin(Bin::And, lane, half)
    }

    fn column(&mut self) -> Value {
        let (lane, mask) = (self.lane(), self.e.u32(SMALL - 1));
        self.e.bin(Bin::And, lane, mask)
    }

    /// An element that another lane has.
    fn lanes_element(&mut self, v: Value, base: Value, more: u32) -> Value {
        let more = self.e.u32(more);
        let lane = self.e.bin(Bin::Or, base, more);
        self.shuffle(v, lane)
    }

    fn small_in_memory(&mut self, m: &InMemory, k: u32) -> Place {
        let [row, column] = self.small_place(m.shape, k);
        let (along, across) = if m.by_column { (column, row) } else { (row, column) };
        let size = self.e.u32(m.element.mem().bytes());
        let (along, across) = (self.sum_value(along), self.sum_value(across));
        let (along, across) = (self.e.bin(Bin::IMul, along, m.stride), self.e.bin(Bin::IMul, across, size));
        self.place_at(m, across, along, 0)
    }

    pub(super) fn load_small(&mut self, m: &InMemory, list: &mut Vec<Value>) {
        for k in 0..m.shape.elements {
            let place = self.small_in_memory(m, k);
            list.push(self.e.load(place, 0, m.element.mem(), 1, m.pointer.flags));
        }
    }

    pub(super) fn store_small(&mut self, m: &InMemory, list: &[Value]) {
        for (k, v) in (0..m.shape.elements).zip(list) {
            let place = self.small_in_memory(m, k);
            let (mem, values, flags) = (m.element.mem(), vec![*v].into(), m.pointer.flags);
            self.e.push(Inst::Store { place, offset: 0, mem, values, flags }, Ty::Void);
        }
    }

    /// Sums of 32 bits of the result's tiles.
    pub(super) fn small_products(
        &mut self,
        kind: Product,
        [to, left_shape, right_shape]: [Cooperative; 3],
        [left, right, sum]: [&[Value]; 3],
    ) -> Vec<Value> {
        let signs = kind.signs();
        let factors = [(left, signs[0]), (right, signs[1])].map(|(list, signed)| -> Vec<Value> {
            let number = |v: &Value| if kind.is_float() { *v } else { self.byte(*v, signed) };
            list.iter().map(number).collect()
        });
        let mut list = Vec::with_capacity(sum.len());
        for [r, c] in to.each_small_tile() {
            let mut rows = sum[to.small_tile(r, c)..][..EACH].to_vec();
            for k in 0..left_shape.small_tiles()[1] {
                let left = &factors[0][left_shape.small_tile(r, k)..][..EACH];
                let right = &factors[1][right_shape.small_tile(k, c)..][..EACH];
                self.small_product(kind, left, right, &mut rows);
            }
            list.append(&mut rows);
        }
        list
    }

    /// As [`Inst::Product`] makes them: for each k in order one fused multiply–add, or exact sums of bytes.
    fn small_product(&mut self, kind: Product, left: &[Value], right: &[Value], rows: &mut [Value]) {
        let (upper, column) = (self.upper(), self.column());
        for k in 0..SMALL {
            let of_right = self.lanes_element(right[(k % OWN) as usize], column, k / OWN * SMALL);
            for (row, of_left) in rows.iter_mut().zip(left) {
                let of_left = self.lanes_element(*of_left, upper, k);
                *row = if kind.is_float() {
                    self.e.fma(of_left, of_right, *row)
                } else {
                    let product = self.e.bin(Bin::IMul, of_left, of_right);
                    self.e.add(product, *row)
                };
            }
        }
    }

    /// The lowest byte as a number.
    fn byte(&mut self, v: Value, signed: bool) -> Value {
        if !signed {
            let mask = self.e.u32(0xFF);
            return self.e.bin(Bin::And, v, mask);
        }
        let by = self.e.u32(24);
        let high = self.e.bin(Bin::Shl, v, by);
        self.e.bin(Bin::AShr, high, by)
    }

    /// Rows as columns.
    pub(super) fn small_transposed(&mut self, from: Cooperative, list: &[Value]) -> Vec<Value> {
        let [down, along] = from.small_tiles();
        let mut turned = Vec::with_capacity(list.len());
        for (r, c) in (0..along).flat_map(|r| (0..down).map(move |c| (r, c))) {
            let tile = &list[from.small_tile(c, r)..][..EACH];
            turned.extend(self.small_tile_transposed(tile));
        }
        turned
    }

    /// Element (r, c) is what lane r + 8 ⌊c / 4⌋ has as its element c mod 4.
    fn small_tile_transposed(&mut self, tile: &[Value]) -> Vec<Value> {
        let (four, one, three) = (self.e.u32(4), self.e.u32(1), self.e.u32(3));
        let (lane, upper) = (self.lane(), self.upper());
        // Twice bit 2 of the lane, and half of bit 3.
        let bit = self.e.bin(Bin::And, lane, four);
        let (from, own) = (self.e.bin(Bin::Shl, bit, one), self.e.bin(Bin::LShr, upper, one));
        let base = self.e.bin(Bin::Or, from, own);
        let which = self.e.bin(Bin::And, lane, three);
        let mut turned = Vec::with_capacity(EACH);
        for k in 0..OWN {
            let mut v = self.lanes_element(tile[0], base, k);
            for (n, other) in (1..OWN).zip(&tile[1..]) {
                let other = self.lanes_element(*other, base, k);
                let n = self.e.u32(n);
                let is = self.e.bin(Bin::IEq, which, n);
                v = self.e.select(is, other, v);
            }
            turned.push(v);
        }
        turned
    }

    /// The elements of a matrix as they lie in tiles of 8 × 8.
    fn in_small_tiles(&mut self, m: &Matrix) -> Vec<Value> {
        if m.shape.is_small() {
            return m.elements.clone();
        }
        let (upper, column, zero) = (self.upper(), self.column(), self.e.u32(0));
        let is_upper = self.e.bin(Bin::INe, upper, zero);
        let along = m.shape.tiles()[1];
        let mut list = Vec::with_capacity(m.elements.len());
        for [r, c] in m.shape.each_small_tile() {
            let tile = (r / 2 * along + c / 2) * TILE + r % 2 * SMALL;
            for k in 0..OWN {
                let [low, high] = [tile + k, tile + OWN + k]
                    .map(|at| self.lanes_element(m.elements[at as usize], column, c % 2 * SMALL));
                list.push(self.e.select(is_upper, high, low));
            }
        }
        list
    }

    /// Elements that lie `steps` lanes apart, combined; the same for all of those lanes.
    fn small_across(&mut self, i: &Code, f: &Called, kind: Sk, mut v: Value, steps: &[u32]) -> Made {
        for step in steps {
            let (upper, other) = self.across(*step);
            let got = self.shuffle(v, other);
            // In the order of the lanes for both of two.
            let (a, b) = (self.e.select(upper, got, v), self.e.select(upper, v, got));
            let Some(next) = self.combined(i, f, kind, [a, b])? else { return Ok(None) };
            v = next;
        }
        Ok(Some(v))
    }

    /// Rows, columns or both, reduced to one value each.
    pub(super) fn small_reduced(
        &mut self,
        i: &Code,
        f: &Called,
        m: &Matrix,
        to: Cooperative,
        [rows, columns]: [bool; 2],
    ) -> Made<Vec<Value>> {
        let from = m.shape;
        let [down, along] = from.small_tiles();
        // One value for each element of a column of tiles, of a row of tiles, or of one tile: tiles that are all the same.
        let elements = self.in_small_tiles(m);
        let tile = |r: u32, c: u32, k: u32| elements[from.small_tile(r, c) + k as usize];
        let (tile_rows, tile_columns) = (if columns { 1 } else { down }, if rows { 1 } else { along });
        let mut reduced = Vec::with_capacity((tile_rows * tile_columns * OWN) as usize);
        for (r, c) in (0..tile_rows).flat_map(|r| (0..tile_columns).map(move |c| (r, c))) {
            let above = if columns { 0..down } else { r..r + 1 };
            let beside = if rows { 0..along } else { c..c + 1 };
            let mut own = vec![];
            for k in 0..if columns { 1 } else { OWN } {
                let each = if columns { 0..OWN } else { k..k + 1 };
                let all: Vec<Value> = above
                    .clone()
                    .flat_map(|r| each.clone().map(move |k| (r, k)))
                    .flat_map(|(r, k)| beside.clone().map(move |c| (r, c, k)))
                    .map(|(r, c, k)| tile(r, c, k))
                    .collect();
                let Some(v) = self.folded_in(i, f, m.kind, &all)? else { return Ok(None) };
                let steps: &[u32] = match (rows, columns) {
                    (true, true) => &[8, 4, 2, 1],
                    (true, false) => &[4, 2, 1],
                    _ => &[8],
                };
                let Some(v) = self.small_across(i, f, m.kind, v, steps)? else { return Ok(None) };
                own.push(v);
            }
            reduced.extend((0..EACH).map(|k| own[k % own.len()]));
        }
        if !to.is_small() {
            return self.in_large_tiles(to, &reduced, [tile_rows, tile_columns]).map(Some);
        }
        let place = |[r, c]: [u32; 2]| ((r % tile_rows * tile_columns + c % tile_columns) * OWN) as usize;
        Ok(Some(to.each_small_tile().flat_map(|at| reduced[place(at)..][..EACH].to_vec()).collect()))
    }

    /// Elements in tiles of 8 × 8, which repeat themselves down and along, as they lie in tiles of 16 × 16.
    fn in_large_tiles(
        &mut self,
        to: Cooperative,
        list: &[Value],
        [down, along]: [u32; 2],
    ) -> Result<Vec<Value>> {
        let (upper, column, zero) = (self.upper(), self.column(), self.e.u32(0));
        let is_upper = self.e.bin(Bin::INe, upper, zero);
        let mut all = Vec::with_capacity(to.elements as usize);
        for [r, c] in to.each_tile() {
            self.check_size()?;
            for row in 0..TILE {
                let (half, k) = (row % SMALL / OWN * SMALL, row % OWN);
                let [left, right] = [2 * c, 2 * c + 1].map(|c| {
                    let tile = (2 * r + row / SMALL) % down * along + c % along;
                    self.lanes_element(list[(tile * OWN + k) as usize], column, half)
                });
                all.push(self.e.select(is_upper, right, left));
            }
        }
        Ok(all)
    }

    /// Two rows first, then two lanes. An invocation's element comes from a tile of four, by the halves of its lane.
    pub(super) fn small_squares(
        &mut self,
        i: &Code,
        f: &Called,
        m: &Matrix,
        to: Cooperative,
    ) -> Made<Vec<Value>> {
        let from = m.shape;
        let elements = self.in_small_tiles(m);
        let (upper, column, zero) = (self.upper(), self.column(), self.e.u32(0));
        let (one, three, four) = (self.e.u32(1), self.e.u32(3), self.e.u32(4));
        let is_lower_tile = self.e.bin(Bin::INe, upper, zero);
        let right = self.e.bin(Bin::And, column, four);
        let is_right_tile = self.e.bin(Bin::INe, right, zero);
        let pair = self.e.bin(Bin::And, column, three);
        let lane = self.e.bin(Bin::Shl, pair, one);
        let mut list = Vec::with_capacity(to.elements as usize);
        for [r, c] in to.each_small_tile() {
            for k in 0..OWN {
                let mut tiles = Vec::with_capacity(4);
                for (r, c) in [(2 * r, 2 * c), (2 * r, 2 * c + 1), (2 * r + 1, 2 * c), (2 * r + 1, 2 * c + 1)]
                {
                    let at = from.small_tile(r, c) + 2 * (k as usize & 1);
                    let rows = [elements[at], elements[at + 1]];
                    let Some(v) = self.combined(i, f, m.kind, rows)? else { return Ok(None) };
                    let Some(v) = self.small_across(i, f, m.kind, v, &[1])? else { return Ok(None) };
                    tiles.push(self.lanes_element(v, lane, k / 2 * SMALL));
                }
                let above = self.e.select(is_right_tile, tiles[1], tiles[0]);
                let below = self.e.select(is_right_tile, tiles[3], tiles[2]);
                list.push(self.e.select(is_lower_tile, below, above));
            }
        }
        Ok(Some(list))
    }
}

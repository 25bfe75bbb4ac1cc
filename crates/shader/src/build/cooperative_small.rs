//! Cooperative matrices of 8 × 8 elements: an invocation has four of them. Lane l has column l mod 8, and its element k is row k in the lower
//! eight lanes and row k + 4 in the upper ones. Operations are ordinary arithmetic between lanes that exchange elements.

use super::Builder;
use super::cooperative::{Cooperative, InMemory};
use super::cooperative_calls::{Called, Made};
use super::cooperative_lanes::Matrix;
use super::sums::Sum;
use super::types::Sk;
use crate::ir::*;
use crate::spirv::*;

/// Rows and columns.
pub(super) const SMALL: u32 = 8;
/// Rows that half of a subgroup has: elements of an invocation.
const OWN: u32 = 4;

impl Cooperative {
    pub fn is_small(self) -> bool {
        self.rows == SMALL
    }
}

impl Builder<'_> {
    /// Row and column of an invocation's element.
    pub(super) fn small_place(&mut self, k: u32) -> [Sum; 2] {
        let upper = self.upper();
        let one = self.e.u32(1);
        let first = self.e.bin(Bin::LShr, upper, one);
        let row = self.sum_add(Sum::up_to(first, OWN), Sum::of(k));
        [row, Sum::up_to(self.column(), SMALL - 1)]
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
    fn from_lane(&mut self, v: Value, base: Value, more: u32) -> Value {
        let more = self.e.u32(more);
        let lane = self.e.bin(Bin::Or, base, more);
        self.shuffle(v, lane)
    }

    fn small_in_memory(&mut self, m: &InMemory, k: u32) -> Place {
        let [row, column] = self.small_place(k);
        let (along, across) = if m.by_column { (column, row) } else { (row, column) };
        let size = self.e.u32(m.element.mem().bytes());
        let (along, across) = (self.sum_value(along), self.sum_value(across));
        let (along, across) = (self.e.bin(Bin::IMul, along, m.stride), self.e.bin(Bin::IMul, across, size));
        self.place_at(m, across, along, 0)
    }

    pub(super) fn load_small(&mut self, m: &InMemory, list: &mut Vec<Value>) {
        for k in 0..OWN {
            let place = self.small_in_memory(m, k);
            list.push(self.e.load(place, 0, m.element.mem(), 1, m.pointer.flags));
        }
    }

    pub(super) fn store_small(&mut self, m: &InMemory, list: &[Value]) {
        for (k, v) in (0..OWN).zip(list) {
            let place = self.small_in_memory(m, k);
            let (mem, values, flags) = (m.element.mem(), vec![*v].into(), m.pointer.flags);
            self.e.push(Inst::Store { place, offset: 0, mem, values, flags }, Ty::Void);
        }
    }

    /// Sums of 32 bits, as [`Inst::Product`] makes them: for each k in order one fused multiply–add, or exact sums of bytes.
    pub(super) fn small_product(
        &mut self,
        kind: Product,
        left: &[Value],
        right: &[Value],
        sum: &[Value],
    ) -> Vec<Value> {
        let (upper, column) = (self.upper(), self.column());
        let mut rows = sum.to_vec();
        let signs = kind.signs();
        let factors = [(left, signs[0]), (right, signs[1])].map(|(list, signed)| -> Vec<Value> {
            let number = |v: &Value| if kind.is_float() { *v } else { self.byte(*v, signed) };
            list.iter().map(number).collect()
        });
        for k in 0..SMALL {
            let of_right = self.from_lane(factors[1][(k % OWN) as usize], column, k / OWN * SMALL);
            for (row, of_left) in rows.iter_mut().zip(&factors[0]) {
                let of_left = self.from_lane(*of_left, upper, k);
                *row = if kind.is_float() {
                    self.e.fma(of_left, of_right, *row)
                } else {
                    let product = self.e.bin(Bin::IMul, of_left, of_right);
                    self.e.add(product, *row)
                };
            }
        }
        rows
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

    /// Rows as columns: element (r, c) is what lane r + 8 ⌊c / 4⌋ has as its element c mod 4.
    pub(super) fn small_transposed(&mut self, list: &[Value]) -> Vec<Value> {
        let (four, one, three) = (self.e.u32(4), self.e.u32(1), self.e.u32(3));
        let (lane, upper) = (self.lane(), self.upper());
        // Twice bit 2 of the lane, and half of bit 3.
        let bit = self.e.bin(Bin::And, lane, four);
        let (from, own) = (self.e.bin(Bin::Shl, bit, one), self.e.bin(Bin::LShr, upper, one));
        let base = self.e.bin(Bin::Or, from, own);
        let which = self.e.bin(Bin::And, lane, three);
        let mut turned = Vec::with_capacity(list.len());
        for k in 0..OWN {
            let mut v = self.from_lane(list[0], base, k);
            for (n, other) in (1..OWN).zip(&list[1..]) {
                let other = self.from_lane(*other, base, k);
                let n = self.e.u32(n);
                let is = self.e.bin(Bin::IEq, which, n);
                v = self.e.select(is, other, v);
            }
            turned.push(v);
        }
        turned
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
        [rows, columns]: [bool; 2],
    ) -> Made<Vec<Value>> {
        let mut list = m.elements.clone();
        if columns {
            let Some(v) = self.folded_in(i, f, m.kind, &list)? else { return Ok(None) };
            let Some(v) = self.small_across(i, f, m.kind, v, &[8])? else { return Ok(None) };
            list = vec![v; list.len()];
        }
        if rows {
            let mut reduced: Vec<Value> = Vec::with_capacity(list.len());
            for v in &list {
                let same = reduced.last().copied().filter(|_| columns);
                let Some(v) = (match same {
                    Some(v) => Some(v),
                    None => self.small_across(i, f, m.kind, *v, &[4, 2, 1])?,
                }) else {
                    return Ok(None);
                };
                reduced.push(v);
            }
            list = reduced;
        }
        Ok(Some(list))
    }
}

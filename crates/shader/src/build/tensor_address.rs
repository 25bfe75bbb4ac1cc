//! Where an element of a matrix is in a tensor: the calculation of SPV_NV_cooperative_matrix2, "Tensor Layout and View".

use super::Builder;
use super::sums::{Sum, Truth};
use super::tensor_layout::{Clamp, Layout, View};
use crate::ir::*;

/// An element's place.
pub(super) struct Spot {
    /// From the tensor's beginning, in elements, or in blocks.
    pub index: Sum,
    /// It is within the view's clip: what is not, is neither loaded nor stored.
    pub unclipped: Truth,
    /// It is within the tensor, or brought there by the clamp mode: else a load gives the clamp value, and nothing is stored.
    pub inside: Truth,
    /// Coordinates of its block, and in its block.
    pub block: Vec<Sum>,
    pub within: Vec<Sum>,
}

/// The element at a row and column of a matrix of so many columns, for a store or a load.
#[derive(Clone, Copy)]
pub(super) struct Element {
    pub row: Sum,
    pub column: Sum,
    pub columns: u32,
    pub stored: bool,
}

impl Builder<'_> {
    pub(super) fn spot(&mut self, t: &Layout, v: Option<&View>, at: Element) -> Spot {
        let mut unclipped = Truth::Always;
        let coordinates = match v {
            None => {
                let index = self.row_major(at.row, Sum::of(at.columns), at.column);
                self.split(index, &t.span, None)
            }
            Some(v) => {
                let [first_row, rows, first_column, columns] = v.clip;
                let (row, holds) = self.clipped(at.row, first_row, rows);
                let (column, too) = self.clipped(at.column, first_column, columns);
                unclipped = self.both(holds, too);
                let width = match columns.known() {
                    Some(k) => Sum::of(at.columns.min(k)),
                    None => {
                        let (all, columns) = (self.e.u32(at.columns), self.sum_value(columns));
                        let least = self.e.bin(Bin::UMin, all, columns);
                        self.sum_of(least)
                    }
                };
                let index = self.row_major(row, width, column);
                self.viewed(t, v, index)
            }
        };
        let mut spot =
            Spot { index: Sum::of(0), unclipped, inside: Truth::Always, block: vec![], within: vec![] };
        for (d, c) in coordinates.into_iter().enumerate() {
            let c = self.sum_add(c, t.offset[d]);
            let c = self.clamped(t, d, c, at.stored, &mut spot.inside);
            let (block, within) = self.sum_divided(c, t.block[d]);
            let part = self.sum_times(block, t.stride[d]);
            spot.index = self.sum_add(spot.index, part);
            spot.block.push(block);
            spot.within.push(within);
        }
        spot
    }

    fn row_major(&mut self, row: Sum, width: Sum, column: Sum) -> Sum {
        let row = self.sum_times(row, width);
        self.sum_add(row, column)
    }

    /// A row from the clip's first one on, and whether it is among the clip's.
    fn clipped(&mut self, row: Sum, first: Sum, rows: Sum) -> (Sum, Truth) {
        let before = self.sum_less(row, first);
        let first = match first.known() {
            Some(k) => Sum::of(k.wrapping_neg()),
            None => {
                let v = self.sum_value(first);
                let v = self.e.un(Un::INeg, v);
                self.sum_of(v)
            }
        };
        let row = self.sum_add(row, first);
        let holds = self.sum_less(row, rows);
        let after = match before {
            Truth::Always => Truth::Never,
            Truth::Never => Truth::Always,
            Truth::If(v) => Truth::If(self.e.un(Un::BNot, v)),
        };
        (row, self.both(after, holds))
    }

    /// An index as coordinates, the last one innermost, or in the order of a permutation.
    fn split(&mut self, index: Sum, sizes: &[Sum], permutation: Option<&[usize]>) -> Vec<Sum> {
        let mut coordinates = vec![Sum::of(0); sizes.len()];
        let mut rest = index;
        for k in (0..sizes.len()).rev() {
            let d = permutation.map_or(k, |p| p[k]);
            (rest, coordinates[d]) = self.sum_divided(rest, sizes[d]);
        }
        coordinates
    }

    /// Coordinates in the span of what has this index in a view.
    fn viewed(&mut self, t: &Layout, v: &View, index: Sum) -> Vec<Sum> {
        let sizes = if v.has_dimensions { &v.size } else { &t.span };
        let view = self.split(index, sizes, Some(&v.permutation));
        // Dimensions of its own that are the span's are none.
        if !v.has_dimensions || (v.size == t.span && is_natural(&v.stride, &v.size)) {
            return view;
        }
        let mut index = Sum::of(0);
        for (c, stride) in view.into_iter().zip(&v.stride) {
            let part = self.sum_times(c, *stride);
            index = self.sum_add(index, part);
        }
        self.split(index, &t.span, None)
    }

    /// A coordinate as the clamp mode makes it.
    fn clamped(&mut self, t: &Layout, d: usize, c: Sum, stored: bool, inside: &mut Truth) -> Sum {
        if t.clamp == Clamp::Undefined {
            return c;
        }
        // Negative ones are great ones.
        let holds = self.sum_less(c, t.size[d]);
        if holds == Truth::Always {
            return c;
        }
        if stored || t.clamp == Clamp::Constant {
            *inside = self.both(*inside, holds);
            return c;
        }
        let (v, size) = (self.sum_value(c), self.sum_value(t.size[d]));
        let (zero, one) = (self.e.u32(0), self.e.u32(1));
        let last = self.e.bin(Bin::ISub, size, one);
        let v = match t.clamp {
            Clamp::ToEdge => {
                let v = self.e.bin(Bin::SMax, v, zero);
                self.e.bin(Bin::SMin, v, last)
            }
            Clamp::Repeat => self.e.bin(Bin::SMod, v, size),
            _ => {
                let period = self.e.bin(Bin::Shl, last, one);
                let there = self.e.bin(Bin::SMod, v, period);
                let back = self.e.bin(Bin::ISub, period, there);
                let beyond = self.e.bin(Bin::SLe, size, there);
                let turned = self.e.select(beyond, back, there);
                match holds {
                    Truth::If(holds) => self.e.select(holds, v, turned),
                    _ => turned,
                }
            }
        };
        self.sum_of(v)
    }
}

/// Each stride is known to be the product of the sizes after it.
fn is_natural(strides: &[Sum], sizes: &[Sum]) -> bool {
    let mut want = Some(1u32);
    strides.iter().zip(sizes).rev().all(|(stride, size)| {
        let is = want.is_some() && stride.known() == want;
        want = want.and_then(|w| w.checked_mul(size.known()?));
        is
    })
}

//! Tensor layouts and views (SPV_NV_tensor_addressing): lists of 32-bit numbers, which instructions copy and change.
//!
//! A layout of n dimensions has block sizes, dimensions, strides, offsets and spans, n of each, and the clamp value. A view has
//! dimensions, strides and the four numbers of its clip. Both are values as structures are.

use super::Builder;
use super::sums::Sum;
use super::types::{Type, TypeClass};
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

const MAX_DIMENSIONS: usize = 5;
const EVERYTHING: u32 = u32::MAX;

/// Tensor Clamp Mode
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Clamp {
    Undefined,
    Constant,
    ToEdge,
    Repeat,
    Mirror,
}

/// A type of layouts or views.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Addressing {
    Layout { dims: u8, clamp: Clamp },
    View { dims: u8, has_dimensions: bool, permutation: [u8; MAX_DIMENSIONS] },
}

impl Addressing {
    fn dims(self) -> usize {
        match self {
            Addressing::Layout { dims, .. } | Addressing::View { dims, .. } => dims as usize,
        }
    }
    /// Numbers that one consists of.
    pub fn numbers(self) -> u32 {
        let n = self.dims() as u32;
        match self {
            Addressing::Layout { .. } => 5 * n + 1,
            Addressing::View { .. } => 2 * n + 4,
        }
    }
}

/// A layout's numbers, a dimension each.
pub(super) struct Layout {
    pub clamp: Clamp,
    pub block: Vec<Sum>,
    pub size: Vec<Sum>,
    pub stride: Vec<Sum>,
    pub offset: Vec<Sum>,
    pub span: Vec<Sum>,
    pub clamp_value: Value,
}

/// A view's, and its clip: first row, rows, first column, columns.
pub(super) struct View {
    pub has_dimensions: bool,
    pub permutation: Vec<usize>,
    pub size: Vec<Sum>,
    pub stride: Vec<Sum>,
    pub clip: [Sum; 4],
}

impl View {
    /// Nothing is clipped.
    pub fn is_whole(&self) -> bool {
        self.clip.map(Sum::known) == [0, EVERYTHING, 0, EVERYTHING].map(Some)
    }
}

impl Builder<'_> {
    pub(super) fn addressing_type(&mut self, i: &Code, t: &mut Type) -> Result<()> {
        let dims = self.const_u32(i.word(2)?, i.at)?;
        if dims == 0 || dims as usize > MAX_DIMENSIONS {
            return Err(i.bad(format!("{dims} dimensions")));
        }
        let second = self.const_u32(i.word(3)?, i.at)?;
        let n = dims as u8;
        let tensor = if i.op == Op::TypeTensorLayoutNV {
            let clamp = match second {
                0 => Clamp::Undefined,
                1 => Clamp::Constant,
                2 => Clamp::ToEdge,
                3 => Clamp::Repeat,
                4 => Clamp::Mirror,
                mode => return Err(i.bad(format!("clamp mode {mode}"))),
            };
            Addressing::Layout { dims: n, clamp }
        } else {
            let mut permutation = [0; MAX_DIMENSIONS];
            let mut seen = 0u32;
            if i.rest(4).len() != dims as usize {
                return Err(i.bad("the permutation is of another number of dimensions"));
            }
            for (p, &id) in permutation.iter_mut().zip(i.rest(4)) {
                let k = self.const_u32(id, i.at)?;
                if k >= dims || seen & 1 << k != 0 {
                    return Err(i.bad("no permutation"));
                }
                seen |= 1 << k;
                *p = k as u8;
            }
            Addressing::View { dims: n, has_dimensions: second != 0, permutation }
        };
        t.kind = TypeClass::Addressing(tensor);
        t.scalars = tensor.numbers();
        t.words = tensor.numbers();
        Ok(())
    }

    pub(crate) fn addressing_op(&mut self, i: &Code) -> Result<bool> {
        match i.op {
            Op::CreateTensorLayoutNV | Op::CreateTensorViewNV => {
                let list = self.new_tensor(i)?;
                self.define_list(i, &list)?;
            }
            Op::TensorLayoutSetBlockSizeNV => self.change_tensor(i, true, |_, l, new, n| {
                l[..n].copy_from_slice(new);
            })?,
            Op::TensorLayoutSetDimensionNV => self.change_tensor(i, true, |b, l, new, n| {
                l[n..2 * n].copy_from_slice(new);
                let blocks: Vec<Value> = (0..n).map(|k| b.blocks_of(new[k], l[k])).collect();
                b.set_strides(&mut l[2 * n..3 * n], &blocks);
                let zero = b.e.u32(0);
                l[3 * n..4 * n].fill(zero);
                l[4 * n..5 * n].copy_from_slice(new);
            })?,
            Op::TensorLayoutSetStrideNV => self.change_tensor(i, true, |_, l, new, n| {
                l[2 * n..3 * n].copy_from_slice(new);
            })?,
            Op::TensorLayoutSliceNV => self.slice_tensor(i)?,
            Op::TensorLayoutSetClampValueNV => {
                let (_, mut list) = self.tensor_operand(i, true)?;
                let v = self.int32(i.word(4)?, i.at)?;
                list.splice(list.len() - 1.., [v]);
                self.define_list(i, &list)?;
            }
            Op::TensorViewSetDimensionNV => self.change_tensor(i, false, |b, l, new, n| {
                l[..n].copy_from_slice(new);
                b.set_strides(&mut l[n..2 * n], new);
            })?,
            Op::TensorViewSetStrideNV => self.change_tensor(i, false, |_, l, new, n| {
                l[n..2 * n].copy_from_slice(new);
            })?,
            Op::TensorViewSetClipNV => {
                let (_, mut list) = self.tensor_operand(i, false)?;
                let mut clip = Vec::with_capacity(4);
                for w in 4..8 {
                    clip.push(self.int32(i.word(w)?, i.at)?);
                }
                list.splice(list.len() - 4.., clip);
                self.define_list(i, &list)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn new_tensor(&mut self, i: &Code) -> Result<Vec<Value>> {
        let (ty, _) = self.result(i)?;
        let TypeClass::Addressing(tensor) = self.types.kind(ty) else {
            return Err(i.bad("the type is none of these"));
        };
        let (zero, one, all) = (self.e.u32(0), self.e.u32(1), self.e.u32(EVERYTHING));
        let n = tensor.dims();
        let mut list = vec![zero; tensor.numbers() as usize];
        match (i.op, tensor) {
            (Op::CreateTensorLayoutNV, Addressing::Layout { .. }) => list[..n].fill(one),
            (Op::CreateTensorViewNV, Addressing::View { .. }) => {
                (list[2 * n + 1], list[2 * n + 3]) = (all, all)
            }
            _ => return Err(i.bad("the type is none of these")),
        }
        Ok(list)
    }

    /// The layout (or view) that an instruction copies, which is of the result's type.
    fn tensor_operand(&mut self, i: &Code, layout: bool) -> Result<(usize, Vec<Value>)> {
        let (ty, _) = self.result(i)?;
        let (from, start, len) = self.value(i.word(3)?, i.at)?;
        match self.types.kind(ty) {
            TypeClass::Addressing(tensor)
                if from == ty
                    && matches!(tensor, Addressing::Layout { .. }) == layout
                    && len == tensor.numbers() as usize =>
            {
                Ok((tensor.dims(), self.pool[start..start + len].to_vec()))
            }
            _ => Err(i.bad("no layout or view of the result's type")),
        }
    }

    /// Copies one, and changes it by one operand for each dimension.
    fn change_tensor(
        &mut self,
        i: &Code,
        layout: bool,
        change: impl FnOnce(&mut Self, &mut [Value], &[Value], usize),
    ) -> Result<()> {
        let (n, mut list) = self.tensor_operand(i, layout)?;
        let new = self.tensor_numbers(i, n)?;
        change(self, &mut list, &new, n);
        self.define_list(i, &list)
    }

    fn tensor_numbers(&mut self, i: &Code, n: usize) -> Result<Vec<Value>> {
        let ids = i.rest(4);
        if ids.len() != n {
            return Err(i.bad("another number of operands than of dimensions"));
        }
        ids.iter().map(|&id| self.int32(id, i.at)).collect()
    }

    fn slice_tensor(&mut self, i: &Code) -> Result<()> {
        let (n, mut list) = self.tensor_operand(i, true)?;
        let new = self.tensor_numbers(i, 2 * n)?;
        for k in 0..n {
            list[3 * n + k] = self.e.add(list[3 * n + k], new[2 * k]);
            list[4 * n + k] = new[2 * k + 1];
        }
        self.define_list(i, &list)
    }

    /// Blocks that a dimension takes, the last one perhaps in part.
    fn blocks_of(&mut self, size: Value, block: Value) -> Value {
        let (size, block) = (self.sum_of(size), self.sum_of(block));
        let less = self.sum_add(block, Sum::of(u32::MAX));
        let sum = self.sum_add(size, less);
        let (blocks, _) = self.sum_divided(sum, block);
        self.sum_value(blocks)
    }

    /// Each dimension's stride is that of the next one, times its elements.
    fn set_strides(&mut self, strides: &mut [Value], sizes: &[Value]) {
        let mut stride = self.e.u32(1);
        for k in (0..strides.len()).rev() {
            strides[k] = stride;
            stride = self.e.bin(Bin::IMul, stride, sizes[k]);
        }
    }

    fn sums_of(&mut self, list: &[Value]) -> Vec<Sum> {
        list.iter().map(|&v| self.sum_of(v)).collect()
    }

    /// The layout that an id is.
    pub(super) fn tensor_layout(&mut self, i: &Code, id: u32) -> Result<Layout> {
        let (ty, start, len) = self.value(id, i.at)?;
        let TypeClass::Addressing(Addressing::Layout { dims, clamp }) = self.types.kind(ty) else {
            return Err(i.bad("no tensor layout"));
        };
        let n = dims as usize;
        if len != 5 * n + 1 {
            return Err(i.bad("no tensor layout"));
        }
        let list = self.pool[start..start + len].to_vec();
        let [block, size, stride, offset, span] =
            [0, 1, 2, 3, 4].map(|k| self.sums_of(&list[k * n..(k + 1) * n]));
        Ok(Layout { clamp, block, size, stride, offset, span, clamp_value: list[5 * n] })
    }

    /// The view that an id is.
    pub(super) fn tensor_view(&mut self, i: &Code, id: u32) -> Result<View> {
        let (ty, start, len) = self.value(id, i.at)?;
        let TypeClass::Addressing(Addressing::View { dims, has_dimensions, permutation }) =
            self.types.kind(ty)
        else {
            return Err(i.bad("no tensor view"));
        };
        let n = dims as usize;
        if len != 2 * n + 4 {
            return Err(i.bad("no tensor view"));
        }
        let list = self.pool[start..start + len].to_vec();
        let (size, stride) = (self.sums_of(&list[..n]), self.sums_of(&list[n..2 * n]));
        let clip = [0, 1, 2, 3].map(|k| self.sum_of(list[2 * n + k]));
        let permutation = permutation[..n].iter().map(|&p| p as usize).collect();
        Ok(View { has_dimensions, permutation, size, stride, clip })
    }
}

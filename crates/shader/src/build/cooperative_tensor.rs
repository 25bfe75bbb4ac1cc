//! OpCooperativeMatrixLoadTensorNV and OpCooperativeMatrixStoreTensorNV: matrices in tensors, whose elements functions may decode.

use super::Builder;
use super::access::{Base, Pointer};
use super::cooperative::{Cooperative, InMemory};
use super::cooperative_calls::Called;
use super::cooperative_lanes::Matrix;
use super::sums::Sum;
use super::tensor_address::{Element, Spot};
use super::tensor_layout::{Clamp, Layout, View};
use super::types::{Sk, TypeClass};
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

/// What functions made; `None`: they never come back.
type Made<T = Value> = Result<Option<T>>;

/// A tensor in memory.
struct InTensor {
    pointer: Pointer,
    layout: Layout,
    view: Option<View>,
}

/// The function that decodes elements, and the size of what its pointer leads to.
struct Decode {
    f: Called,
    bytes: u32,
    /// The tensor's address (B64).
    base: Value,
}

impl Builder<'_> {
    /// The words of the pointer, the layout, and the masks of other operands; `ty`: the matrix's type.
    fn tensor_in_memory(
        &mut self,
        i: &Code,
        ty: u32,
        [pointer, layout, masks]: [usize; 3],
    ) -> Result<InTensor> {
        let operands = i.tensor_operands(masks)?;
        let mut p = self.pointer(i.word(pointer)?, i.at)?;
        if p.ty == 0
            && let Some((_, element)) = self.types.cooperative(ty)
        {
            self.accessed(&mut p, element, i.at)?;
        }
        if !matches!(p.base, Base::Buffer(_) | Base::Global | Base::Shared) {
            return Err(unsupported("a cooperative matrix in this storage class"));
        }
        p.flags.volatile |= operands.volatile;
        let layout = self.tensor_layout(i, i.word(layout)?)?;
        let view = operands.view.map(|id| self.tensor_view(i, id)).transpose()?;
        if let Some(v) = &view
            && !v.has_dimensions
            && v.permutation.len() != layout.span.len()
        {
            return Err(i.bad("the view has no dimensions, and another number of them than the layout"));
        }
        Ok(InTensor { pointer: p, layout, view })
    }

    /// OpCooperativeMatrixLoadTensorNV.
    pub(super) fn tensor_load(&mut self, i: &Code) -> Made<Vec<Value>> {
        let (ty, _) = self.result(i)?;
        let (shape, kind) = self.cooperative_shape(i, ty)?;
        let before = self.cooperative_matrix(i, 4)?;
        if before.ty != ty {
            return Err(i.bad("the object is of another type than the result"));
        }
        let m = self.tensor_in_memory(i, ty, [3, 5, 6])?;
        let decode = match i.callee() {
            Some(_) => Some(self.decode(i, &m, kind)?),
            None => None,
        };
        if decode.is_none()
            && let Some(regular) = self.regular(&m, shape, kind)
        {
            return self.load_tiles(&regular).map(Some);
        }
        // An element costs more here than its way through workgroup memory: no subgroup does what another has done.
        let own = if m.view.as_ref().is_none_or(View::is_whole) { shape.divided() } else { shape };
        let mut list = Vec::with_capacity(own.elements as usize);
        for k in 0..own.elements {
            self.check_size()?;
            let [row, column] = self.element_place(own, k);
            let at = Element { row, column, columns: shape.columns, stored: false };
            let spot = self.spot(&m.layout, m.view.as_ref(), at);
            // Of a whole view nothing is left.
            let old = *before.elements.get(list.len()).unwrap_or(&before.elements[0]);
            let v = self.where_holds(spot.unclipped, old, |b| {
                let outside = b.clamp_value(kind, m.layout.clamp_value);
                b.where_holds(spot.inside, outside, |b| match &decode {
                    Some(d) => b.decoded(i, d, &spot),
                    None => Ok(Some(b.load_element(&m.pointer, kind, spot.index))),
                })
            })?;
            let Some(v) = v else { return Ok(None) };
            list.push(v);
        }
        self.divided(&Matrix { ty, shape: own, kind, elements: list }, shape.parts).map(Some)
    }

    /// OpCooperativeMatrixStoreTensorNV.
    pub(super) fn tensor_store(&mut self, i: &Code) -> Result<()> {
        let from = self.cooperative_matrix(i, 2)?;
        let m = self.tensor_in_memory(i, from.ty, [1, 3, 4])?;
        if i.tensor_operands(4)?.decode.is_some() {
            return Err(i.bad("a function that decodes what is stored"));
        }
        let (shape, kind) = (from.shape, from.kind);
        if let Some(regular) = self.regular(&m, shape, kind) {
            return self.store_tiles(&regular, from.elements);
        }
        let own = self.tells_of(shape);
        for (k, &v) in (0..shape.elements).zip(&from.elements) {
            self.check_size()?;
            let [row, column] = self.element_place(shape, k);
            let at = Element { row, column, columns: shape.columns, stored: true };
            let spot = self.spot(&m.layout, m.view.as_ref(), at);
            let holds = self.both(spot.unclipped, spot.inside);
            let holds = self.both(own, holds);
            let nothing = self.e.u32(0);
            self.where_holds(holds, nothing, |b| {
                b.store_element(&m.pointer, kind, spot.index, v);
                Ok(Some(nothing))
            })?;
        }
        Ok(())
    }

    /// A matrix whose rows (or columns) lie in memory one after the other, at a stride.
    fn regular(&mut self, m: &InTensor, shape: Cooperative, kind: Sk) -> Option<InMemory> {
        let t = &m.layout;
        if t.span.len() != 2 || t.clamp != Clamp::Undefined || t.block.iter().any(|b| b.known() != Some(1)) {
            return None;
        }
        // The dimension that rows count in, and columns.
        let (down, along) = match &m.view {
            None => (0, 1),
            Some(v) => {
                if v.has_dimensions || !v.is_whole() {
                    return None;
                }
                (v.permutation[0], v.permutation[1])
            }
        };
        let fits = t.span[along].known() == Some(shape.columns)
            && t.span[down].known().is_some_and(|s| s >= shape.rows);
        let by_column = match (t.stride[along].known(), t.stride[down].known()) {
            (Some(1), _) => false,
            (_, Some(1)) => true,
            _ => return None,
        };
        if !fits {
            return None;
        }
        let mut first = Sum::of(0);
        for d in 0..2 {
            let part = self.sum_times(t.offset[d], t.stride[d]);
            first = self.sum_add(first, part);
        }
        let pointer = self.element_pointer(&m.pointer, kind.mem().bytes(), first);
        let stride =
            self.sum_times(t.stride[if by_column { along } else { down }], Sum::of(kind.mem().bytes()));
        let stride = self.sum_value(stride);
        Some(InMemory { pointer, element: kind, shape, by_column, stride })
    }

    /// `pointer` and `index` elements of so many bytes.
    fn element_pointer(&mut self, pointer: &Pointer, bytes: u32, index: Sum) -> Pointer {
        let mut p = *pointer;
        let own = if p.base == Base::Global {
            let (index, size) = (self.sum_value(index), self.e.u64(bytes.into()));
            let index = self.e.un(Un::U32ToU64, index);
            self.e.bin(Bin::IMul, index, size)
        } else {
            let own = self.sum_times(index, Sum::of(bytes));
            self.sum_value(own)
        };
        p.addr = Some(match p.addr {
            Some(a) => self.e.add(a, own),
            None => own,
        });
        let whole = self.whole_addr(&p);
        (p.addr, p.offset) = (Some(whole), 0);
        p
    }

    fn load_element(&mut self, pointer: &Pointer, kind: Sk, index: Sum) -> Value {
        let p = self.element_pointer(pointer, kind.mem().bytes(), index);
        let place = self.place(&p);
        let v = self.e.load(place, 0, kind.mem(), 1, p.flags);
        if kind.is_small() { self.e.of_small_bits(kind, v) } else { v }
    }

    fn store_element(&mut self, pointer: &Pointer, kind: Sk, index: Sum, v: Value) {
        let p = self.element_pointer(pointer, kind.mem().bytes(), index);
        let place = self.place(&p);
        let v = self.in_memory(kind, v);
        let inst = Inst::Store { place, offset: 0, mem: kind.mem(), values: vec![v].into(), flags: p.flags };
        self.e.push(inst, Ty::Void);
    }

    /// The layout's clamp value as an element: its low bits are the element's.
    fn clamp_value(&mut self, kind: Sk, bits: Value) -> Value {
        let v = match kind.bits() {
            32 => bits,
            n => {
                let mask = self.e.u32((1 << n) - 1);
                self.e.bin(Bin::And, bits, mask)
            }
        };
        self.e.of_bits(kind, v)
    }

    /// The function that decodes the elements of `m`, with a parameter for a pointer and two for coordinates.
    fn decode(&mut self, i: &Code, m: &InTensor, kind: Sk) -> Result<Decode> {
        let f = self.called(i, kind)?;
        let dims = m.layout.span.len() as u32;
        let is_coordinates = |ty: u32| match self.types.kind(ty) {
            TypeClass::Array(e, n) => n == dims && self.types.numeric(e) == Some((Sk::I32, 1)),
            _ => false,
        };
        let pointee = match (self.types.kind(*f.params.first().unwrap_or(&0)), f.params.len()) {
            (TypeClass::Pointer(StorageClass::PhysicalStorageBuffer, pointee), 3)
                if f.params[1..].iter().all(|&ty| is_coordinates(ty)) =>
            {
                pointee
            }
            _ => return Err(i.bad("the function's parameters are not a pointer and coordinates")),
        };
        let bytes = match pointee {
            0 => return Err(i.bad("the function's pointer leads to nothing")),
            id => {
                let t = *self.types.get(self.types.of(id, i.at)?);
                // What has no size, as an array without an end, is at the tensor's beginning.
                let bytes = t.explicit.checked_next_multiple_of(t.align.max(1));
                bytes.filter(|b| *b != u32::MAX).unwrap_or(0)
            }
        };
        let offset = self.whole_addr(&m.pointer);
        let base = match m.pointer.base {
            Base::Global => offset,
            Base::Buffer(desc) => {
                let first = self.e.pure(Inst::BufferAddress { desc }, Ty::B64);
                let offset = self.e.un(Un::U32ToU64, offset);
                self.e.add(first, offset)
            }
            _ => return Err(i.bad("a function that decodes what is in no buffer")),
        };
        Ok(Decode { f, bytes, base })
    }

    fn decoded(&mut self, i: &Code, d: &Decode, spot: &Spot) -> Made {
        let (index, size) = (self.sum_value(spot.index), self.e.u64(d.bytes.into()));
        let index = self.e.un(Un::U32ToU64, index);
        let offset = self.e.bin(Bin::IMul, index, size);
        let address = self.e.add(d.base, offset);
        let mut args = vec![self.placed(d.f.params[0], &[address])];
        for (k, list) in [&spot.block, &spot.within].into_iter().enumerate() {
            let numbers: Vec<Value> = list.iter().map(|c| self.sum_value(*c)).collect();
            args.push(self.placed(d.f.params[k + 1], &numbers));
        }
        self.element_of(i, &d.f, &args)
    }
}

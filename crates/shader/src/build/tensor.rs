//! Tensors (SPV_ARM_tensors).
//!
//! A tensor is two descriptors, one after the other in its binding: a buffer of its elements, and a buffer of its shape's words
//! ([`crate::options::tensor`]). So an element is a load or a store of a buffer, by an offset that is computed from the shape.

use super::Builder;
use super::access::Pointer;
use super::heap::Resource;
use super::types::{Sk, Type, TypeClass};
use crate::ir::*;
use crate::options::{DESCRIPTOR_BYTES, Heap, Result, tensor};
use crate::spirv::*;

// Bits of tensor operands.
const OUT_OF_BOUNDS_VALUE: u32 = 2;

/// A tensor as an instruction names it.
struct Tensor {
    elements: Value,
    shape: Value,
    kind: Sk,
    rank: u32,
}

/// Where elements are, and whether they are there.
struct Element {
    offset: Value,
    inside: Value,
}

impl<'m> Builder<'m> {
    pub(super) fn tensor_type(&mut self, i: &Code, t: &mut Type) -> Result<()> {
        let element = self.types.of(i.word(2)?, i.at)?;
        if !matches!(self.types.kind(element), TypeClass::Scalar(..)) {
            return Err(i.bad("not a tensor's element type"));
        }
        let Some(rank) = i.get(3) else { return Err(unsupported("a tensor without a rank")) };
        let rank = self.const_u32(rank, i.at)?;
        if rank == 0 || rank > tensor::MAX_RANK {
            return Err(unsupported(format!("a tensor of {rank} dimensions")));
        }
        t.kind = TypeClass::Tensor(element, rank);
        t.scalars = 2;
        t.words = 4;
        // In a heap.
        t.size = 2 * DESCRIPTOR_BYTES;
        t.align = DESCRIPTOR_BYTES;
        Ok(())
    }

    /// Both descriptors of the tensor that a pointer leads to.
    pub(super) fn tensor_descriptors(&mut self, r: Resource, p: &Pointer, at: usize) -> Result<[Value; 2]> {
        let Resource { set, binding, .. } = r;
        if let Some(offset) = self.mapped_tensor(r, p, at)? {
            return Ok(self.heap_tensor(offset));
        }
        self.bound_to(r, at)?;
        let index = self.whole_addr(p);
        let one = self.e.u32(1);
        let first = self.nth_of(index, 2);
        let second = self.e.bin(Bin::IAdd, first, one);
        let source = DescriptorSource::Binding { set, binding };
        Ok([first, second].map(|index| self.e.descriptor(source, index, false)))
    }

    /// Both descriptors of a tensor at a byte offset of the resource heap.
    pub(super) fn heap_tensor(&mut self, offset: Value) -> [Value; 2] {
        // The second of a wrong offset is beyond the heap too, and not at its beginning.
        let most = self.e.u32(u32::MAX - DESCRIPTOR_BYTES);
        let first = self.e.bin(Bin::UMin, offset, most);
        let behind = self.e.u32(DESCRIPTOR_BYTES);
        let second = self.e.bin(Bin::IAdd, first, behind);
        [first, second].map(|at| self.e.descriptor(DescriptorSource::Heap(Heap::Resources), at, false))
    }

    pub(crate) fn tensor_op(&mut self, i: &Code) -> Result<bool> {
        match i.op {
            Op::TensorReadARM => self.tensor_read(i)?,
            Op::TensorWriteARM => self.tensor_write(i)?,
            Op::TensorQuerySizeARM => self.tensor_size(i)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn tensor(&mut self, i: &Code, w: usize) -> Result<Tensor> {
        let (ty, start, len) = self.value(i.word(w)?, i.at)?;
        match self.types.kind(ty) {
            TypeClass::Tensor(element, rank) if len == 2 => match self.types.kind(element) {
                TypeClass::Scalar(kind, _) => {
                    let [elements, shape] = [self.pool[start], self.pool[start + 1]];
                    Ok(Tensor { elements, shape, kind, rank })
                }
                _ => Err(i.bad("no elements")),
            },
            _ => Err(i.bad("not a tensor")),
        }
    }

    /// A word of the tensor's shape: 0 of the null descriptor.
    fn shape_word(&mut self, t: &Tensor, word: u32) -> Value {
        let addr = self.e.u32(0);
        let flags = MemFlags { read_only: true, volatile: false };
        self.e.load(Place::Buffer { desc: t.shape, addr }, 4 * word, Mem::B32, 1, flags)
    }

    /// The `count` elements from operand `w`'s coordinates on, along the last dimension.
    fn tensor_elements(&mut self, i: &Code, t: &Tensor, w: usize, count: u32) -> Result<Vec<Element>> {
        let (ty, start, len) = self.value(i.word(w)?, i.at)?;
        let index = match self.types.kind(ty) {
            TypeClass::Array(e, _) => self.types.kind(e),
            kind => kind,
        };
        if len != t.rank as usize || !matches!(index, TypeClass::Scalar(Sk::I32, _)) {
            return Err(
                i.bad("coordinates that are not as many 32-bit integers as the tensor has dimensions")
            );
        }
        let at = self.pool[start..start + len].to_vec();
        let last = t.rank - 1;
        let mut inside = self.e.bool(true);
        let mut before = self.e.u32(0);
        for d in 0..last {
            let (size, stride) = (self.shape_word(t, d), self.shape_word(t, tensor::STRIDES + d));
            let within = self.e.bin(Bin::ULt, at[d as usize], size);
            inside = self.e.bin(Bin::BAnd, inside, within);
            let step = self.e.bin(Bin::IMul, at[d as usize], stride);
            before = self.e.bin(Bin::IAdd, before, step);
        }
        let size = self.shape_word(t, last);
        let bytes = self.e.u32(element_mem(t.kind).bytes());
        let mut all = Vec::with_capacity(count as usize);
        for k in 0..count {
            let k = self.e.u32(k);
            let own = self.e.bin(Bin::IAdd, at[last as usize], k);
            let within = self.e.bin(Bin::ULt, own, size);
            // An index that wraps around is none.
            let more = self.e.bin(Bin::ULe, at[last as usize], own);
            let within = self.e.bin(Bin::BAnd, within, more);
            let step = self.e.bin(Bin::IMul, own, bytes);
            let offset = self.e.bin(Bin::IAdd, before, step);
            all.push(Element { offset, inside: self.e.bin(Bin::BAnd, inside, within) });
        }
        Ok(all)
    }

    fn tensor_read(&mut self, i: &Code) -> Result<()> {
        let (ty, _) = self.result(i)?;
        let t = self.tensor(i, 3)?;
        let count = self.accessed_elements(i, ty, &t)?;
        let instead = match i.get(5).unwrap_or(0) & OUT_OF_BOUNDS_VALUE {
            0 => None,
            _ => {
                let (own, start, len) = self.value(i.word(6)?, i.at)?;
                if len != 1 || !matches!(self.types.kind(own), TypeClass::Scalar(s, _) if s == t.kind) {
                    return Err(i.bad("a value for what is out of bounds of another type than elements"));
                }
                Some(self.pool[start])
            }
        };
        let mut list = Vec::with_capacity(count as usize);
        for e in self.tensor_elements(i, &t, 4, count)? {
            // Without a value of its own, what is out of bounds reads as the buffer does there: 0.
            let other = self.e.u32(if instead.is_some() { 0 } else { tensor::NOWHERE });
            let addr = self.e.select(e.inside, e.offset, other);
            let place = Place::Buffer { desc: t.elements, addr };
            let x = self.e.load(place, 0, element_mem(t.kind), 1, MemFlags::default());
            let x = match t.kind {
                Sk::Bool => self.int_to_bool(x),
                s if s.is_small() => self.e.of_small_bits(s, x),
                _ => x,
            };
            list.push(match instead {
                Some(instead) => self.e.select(e.inside, x, instead),
                None => x,
            });
        }
        self.define_list(i, &list)
    }

    fn tensor_write(&mut self, i: &Code) -> Result<()> {
        let t = self.tensor(i, 1)?;
        let (ty, start, len) = self.value(i.word(3)?, i.at)?;
        let count = self.accessed_elements(i, ty, &t)?;
        if len != count as usize {
            return Err(i.bad("not as many values as elements"));
        }
        let values = self.pool[start..start + len].to_vec();
        for (e, v) in self.tensor_elements(i, &t, 2, count)?.into_iter().zip(values) {
            let nowhere = self.e.u32(tensor::NOWHERE);
            let addr = self.e.select(e.inside, e.offset, nowhere);
            let v = match t.kind {
                Sk::Bool => {
                    let [no, yes] = [0, 1].map(|bit| self.e.u32(bit));
                    self.e.select(v, yes, no)
                }
                s if s.is_small() => self.e.small_bits(s, v),
                _ => v,
            };
            let v = if t.kind == Sk::Bool { v } else { self.e.observed(t.kind, v) };
            let place = Place::Buffer { desc: t.elements, addr };
            let values = vec![v].into();
            let (mem, flags) = (element_mem(t.kind), MemFlags::default());
            self.e.push(Inst::Store { place, offset: 0, mem, values, flags }, Ty::Void);
        }
        Ok(())
    }

    fn tensor_size(&mut self, i: &Code) -> Result<()> {
        let t = self.tensor(i, 3)?;
        let dimension = self.const_u32(i.word(4)?, i.at)?;
        if dimension >= t.rank {
            return Err(i.bad("a dimension that the tensor does not have"));
        }
        let (ty, _) = self.result(i)?;
        let size = self.shape_word(&t, dimension);
        let size = match self.types.numeric(ty) {
            Some((s, 1)) if !s.is_float() && s.ty() == Ty::B32 && s.bits() == 32 => size,
            Some((Sk::I64, 1)) => self.e.un(Un::U32ToU64, size),
            _ => return Err(i.bad("not an integer of 32 or 64 bits")),
        };
        self.define_list(i, &[size])
    }

    /// How many elements a value of type `ty` is: one, or an array of them.
    fn accessed_elements(&self, i: &Code, ty: u32, t: &Tensor) -> Result<u32> {
        let (one, n) = match self.types.kind(ty) {
            TypeClass::Array(e, n) => (e, n),
            _ => (ty, 1),
        };
        match self.types.kind(one) {
            TypeClass::Scalar(s, _) if s == t.kind && n <= tensor::MAX_ACCESS => Ok(n),
            TypeClass::Scalar(s, _) if s == t.kind => {
                Err(unsupported(format!("an access of {n} elements of a tensor")))
            }
            _ => Err(i.bad("elements of another type than the tensor's")),
        }
    }
}

/// An element in memory: a truth is a byte (VK_FORMAT_R8_BOOL_ARM).
fn element_mem(s: Sk) -> Mem {
    if s == Sk::Bool { Mem::U8 } else { s.mem() }
}

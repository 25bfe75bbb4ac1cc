//! Descriptor heaps (SPV_EXT_descriptor_heap): the built-in pointers to them, and sets and bindings that are mapped to places in
//! them ([`Mapping`]). A descriptor there is read by a byte offset; everything else that lies there is a buffer's bytes.

use super::Builder;
use super::access::{Base, Pointer};
use super::atomics::dim_of;
use super::types::TypeClass;
use crate::ir::*;
use crate::options::{Heap, HeapIndex, HeapPlace, Mapping, Result, resource};
use crate::spirv::*;

/// What a variable with a set and a binding is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Resource {
    pub set: u32,
    pub binding: u32,
    /// A bit of [`resource`].
    pub kind: u32,
}

/// Bits of the two indices in one word.
const IMAGE_BITS: u32 = 20;

const READ: MemFlags = MemFlags { read_only: true, volatile: false };

impl<'m> Builder<'m> {
    /// The heap that a built-in variable is.
    pub(crate) fn heap_variable(&self, id: u32) -> Option<Heap> {
        match BuiltIn::from_u32(self.m.decoration(id, Decoration::BuiltIn)?)? {
            BuiltIn::SamplerHeapEXT => Some(Heap::Samplers),
            BuiltIn::ResourceHeapEXT => Some(Heap::Resources),
            _ => None,
        }
    }

    /// The bit of [`resource`] of a variable of the type `ty`.
    pub(crate) fn resource_kind(&self, id: u32, class: StorageClass, ty: u32, read_only: bool) -> u32 {
        let mut ty = ty;
        while let TypeClass::Array(e, _) | TypeClass::Runtime(e) = self.types.kind(ty) {
            ty = e;
        }
        let read_only = read_only || self.m.has(id, Decoration::NonWritable);
        match self.types.kind(ty) {
            TypeClass::Sampler => resource::SAMPLER,
            TypeClass::AccelerationStructure => resource::ACCELERATION_STRUCTURE,
            TypeClass::SampledImage(_) => resource::COMBINED,
            TypeClass::Tensor(..) => resource::TENSOR,
            TypeClass::Image(i) if i.sampled != 2 => resource::SAMPLED_IMAGE,
            TypeClass::Image(_) if read_only => resource::READ_ONLY_IMAGE,
            TypeClass::Image(_) => resource::READ_WRITE_IMAGE,
            _ if class == StorageClass::Uniform
                && !self.m.has(self.types.get(ty).id, Decoration::BufferBlock) =>
            {
                resource::UNIFORM_BUFFER
            }
            _ if read_only => resource::READ_ONLY_BUFFER,
            _ => resource::READ_WRITE_BUFFER,
        }
    }

    fn mapping(&self, r: Resource, at: usize) -> Result<Option<(u32, Mapping)>> {
        let Some(find) = self.opt.mapping else { return Ok(None) };
        match find(r.set, r.binding, r.kind) {
            Some(found) => Ok(Some(found)),
            None => Err(invalid(at, format!("set {} binding {} is not mapped to a heap", r.set, r.binding))),
        }
    }

    /// The descriptor of a mapped binding, if bindings are mapped; `of_sampler`: of a combined image sampler's sampler.
    pub(crate) fn mapped_descriptor(
        &mut self,
        r: Resource,
        p: &Pointer,
        of_sampler: bool,
        texels: bool,
        at: usize,
    ) -> Result<Option<Value>> {
        let Some((first, mapping)) = self.mapping(r, at)? else { return Ok(None) };
        let buffer = r.kind
            & (resource::UNIFORM_BUFFER | resource::READ_ONLY_BUFFER | resource::READ_WRITE_BUFFER)
            != 0;
        // A structure is the address, not what lies there.
        let by_address = r.kind == resource::ACCELERATION_STRUCTURE
            && matches!(mapping, Mapping::PushAddress(_) | Mapping::IndirectAddress { .. });
        if !buffer && !by_address && !matches!(mapping, Mapping::Descriptor { .. }) {
            return Err(invalid(at, "what is no buffer is mapped to bytes"));
        }
        Ok(Some(match mapping {
            Mapping::Descriptor { at: own, sampler, embedded, packed } => {
                let is_sampler = of_sampler || r.kind == resource::SAMPLER;
                if let Some(words) = embedded.filter(|_| is_sampler) {
                    return Ok(Some(self.given_descriptor(words)));
                }
                let packed = packed && r.kind == resource::COMBINED;
                let place = match of_sampler {
                    true if packed => HeapPlace { index: own.index, ..sampler },
                    true => sampler,
                    false => own,
                };
                let element = self.mapped_element(r, p, first);
                let offset = self.heap_offset(&place, element, packed.then_some(of_sampler));
                let heap = if is_sampler { Heap::Samplers } else { Heap::Resources };
                self.e.descriptor(DescriptorSource::Heap(heap), offset, texels)
            }
            Mapping::HeapBytes { offset, push } => {
                let own = self.push_data(push, Mem::B32);
                let k = self.e.u32(offset);
                let offset = self.e.add(own, k);
                self.e.descriptor(DescriptorSource::HeapBytes(Heap::Resources), offset, false)
            }
            Mapping::PushAddress(push) => {
                let address = self.push_data(push, Mem::B64);
                self.e.descriptor(DescriptorSource::Address, address, false)
            }
            Mapping::IndirectAddress { push, offset } => {
                let addr = self.push_data(push, Mem::B64);
                let address = self.e.load(Place::Global { addr }, offset, Mem::B64, 1, MemFlags::default());
                self.e.descriptor(DescriptorSource::Address, address, false)
            }
            // A pointer to it is not made through a descriptor.
            Mapping::PushData(_) => return Err(invalid(at, "a descriptor of push data")),
        }))
    }

    /// The byte offset in the resource heap of a tensor's mapped binding, if bindings are mapped.
    pub(crate) fn mapped_tensor(&mut self, r: Resource, p: &Pointer, at: usize) -> Result<Option<Value>> {
        match self.mapping(r, at)? {
            None => Ok(None),
            Some((first, Mapping::Descriptor { at: place, .. })) => {
                let element = self.mapped_element(r, p, first);
                Ok(Some(self.heap_offset(&place, element, None)))
            }
            Some(_) => Err(invalid(at, "a tensor is mapped to bytes")),
        }
    }

    /// A descriptor's number, counted from the first binding of the mapping.
    fn mapped_element(&mut self, r: Resource, p: &Pointer, first: u32) -> Value {
        let element = self.whole_addr(p);
        let k = self.e.u32(r.binding.wrapping_sub(first));
        self.e.add(element, k)
    }

    fn given_descriptor(&mut self, words: [u64; 4]) -> Value {
        let known = self.embedded.iter().position(|g| *g == words);
        let at = known.unwrap_or_else(|| {
            self.embedded.push(words);
            self.embedded.len() - 1
        });
        let zero = self.e.u32(0);
        self.e.descriptor(DescriptorSource::Embedded(at as u32), zero, false)
    }

    /// Push data at byte `offset`.
    fn push_data(&mut self, offset: u32, mem: Mem) -> Value {
        let addr = self.e.u32(0);
        self.e.load(Place::Push { addr }, offset, mem, 1, READ)
    }

    /// The byte offset of a place's `element`. `packed`: whether the sampler's half of the index is meant.
    fn heap_offset(&mut self, place: &HeapPlace, element: Value, packed: Option<bool>) -> Value {
        let stride = self.e.u32(place.stride);
        let behind = self.e.bin(Bin::IMul, element, stride);
        let k = self.e.u32(place.offset);
        let offset = self.e.add(behind, k);
        let index = match place.index {
            HeapIndex::None => return offset,
            HeapIndex::Push(push) => self.push_data(push, Mem::B32),
            HeapIndex::Indirect { push, offset } => {
                let addr = self.push_data(push, Mem::B64);
                self.e.load(Place::Global { addr }, offset, Mem::B32, 1, MemFlags::default())
            }
            HeapIndex::IndirectArray { push, offset } => {
                let addr = self.push_data(push, Mem::B64);
                let wide = self.e.un(Un::U32ToU64, element);
                let four = self.e.u64(4);
                let behind = self.e.bin(Bin::IMul, wide, four);
                let addr = self.e.add(addr, behind);
                self.e.load(Place::Global { addr }, offset, Mem::B32, 1, MemFlags::default())
            }
        };
        let index = match packed {
            None => index,
            Some(true) => {
                let k = self.e.u32(IMAGE_BITS);
                self.e.bin(Bin::LShr, index, k)
            }
            Some(false) => {
                let k = self.e.u32((1 << IMAGE_BITS) - 1);
                self.e.bin(Bin::And, index, k)
            }
        };
        let k = self.e.u32(place.index_stride);
        let far = self.e.bin(Bin::IMul, index, k);
        self.e.add(offset, far)
    }

    /// The buffer that a binding leads to, as a pointer to its first byte.
    pub(crate) fn bound_buffer(&mut self, r: Resource, p: &Pointer, at: usize) -> Result<Pointer> {
        let to = |base, offset| Pointer { base, addr: None, offset, ..*p };
        if let Some((_, Mapping::PushData(offset))) = self.mapping(r, at)? {
            if r.kind != resource::UNIFORM_BUFFER {
                return Err(invalid(at, "what is no uniform buffer is mapped to push data"));
            }
            return Ok(to(Base::Push, offset));
        }
        let desc = self.descriptor(r, p, at)?;
        Ok(to(Base::Buffer(desc), 0))
    }

    /// The heap's bytes as a buffer, for what lies there that is no descriptor.
    pub(crate) fn heap_bytes(&mut self, heap: Heap, p: &Pointer) -> Pointer {
        let zero = self.e.u32(0);
        let desc = self.e.descriptor(DescriptorSource::HeapBytes(heap), zero, false);
        Pointer { base: Base::Buffer(desc), ..*p }
    }

    /// The descriptor that `p` leads to in a heap. Error: one that does not lie in this one.
    pub(crate) fn heap_descriptor(&mut self, heap: Heap, p: &Pointer, at: usize) -> Result<Value> {
        let texels = match (self.types.kind(p.ty), heap) {
            (TypeClass::Sampler, Heap::Samplers)
            | (TypeClass::Buffer | TypeClass::AccelerationStructure, Heap::Resources) => false,
            (TypeClass::Image(i), Heap::Resources) => matches!(dim_of(i.dim), Ok(Dim::Buffer)),
            _ => return Err(invalid(at, "such a descriptor does not lie in this heap")),
        };
        let offset = self.whole_addr(p);
        Ok(self.e.descriptor(DescriptorSource::Heap(heap), offset, texels))
    }

    /// OpBufferPointerEXT
    pub(crate) fn buffer_pointer(&mut self, i: &Code<'m>) -> Result<()> {
        let (ty, id) = self.result(i)?;
        let TypeClass::Pointer(class @ (StorageClass::Uniform | StorageClass::StorageBuffer), pointee) =
            self.types.kind(ty)
        else {
            return Err(i.bad("the result type is no pointer to a buffer"));
        };
        let mut p = self.pointer(i.word(3)?, i.at)?;
        let Base::Heap(heap @ Heap::Resources) = p.base else {
            return Err(i.bad("not a pointer into the resource heap"));
        };
        if p.ty != 0 && self.types.kind(p.ty) != TypeClass::Buffer {
            return Err(i.bad("not a pointer to a buffer's descriptor"));
        }
        let offset = self.whole_addr(&p);
        let desc = self.e.descriptor(DescriptorSource::Heap(heap), offset, false);
        let pointee = if pointee == 0 { 0 } else { self.types.of(pointee, i.at)? };
        p = Pointer::new(Base::Buffer(desc), class, pointee);
        p.flags.read_only = class == StorageClass::Uniform;
        self.define_pointer(id, ty, p);
        self.keep_phi_pointer(id, i.at)
    }
}

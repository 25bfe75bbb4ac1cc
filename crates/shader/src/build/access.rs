//! Pointers at translation time, and access chains over them.

use super::atomics::dim_of;
use super::heap::Resource;
use super::types::{TypeClass, pointer_scalars};
use super::unroll::Again;
use super::{Builder, PTR, Slot};
use crate::ir::*;
use crate::options::{Binding, Heap, Result};
use crate::spirv::*;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Base {
    /// SSA scalars from this one.
    Slots(u32),
    /// Constant values: the pool from this index (input variables).
    Values(u32),
    Scratch,
    /// A patch's memory, in which scalars lie as in scratch.
    Stage,
    /// A constant array, in which they lie so too: its descriptor.
    Data(Value),
    /// Descriptor's address.
    Buffer(Value),
    Global,
    Shared,
    Push,
    /// A descriptor, or an array of them.
    Resource(Resource),
    /// The memory of a heap of descriptors.
    Heap(Heap),
    /// Ray queries, by number.
    Query,
    /// A texel: index into [`super::Builder::texels`].
    Texel(u32),
}

/// `ty` at `base` + `addr` + `offset`. The unit is the scalar for SSA scalars, the word for scratch, constant arrays and the patch's memory,
/// the array element for descriptors and ray queries, else the byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointer {
    pub base: Base,
    pub class: StorageClass,
    /// 0: untyped, what it leads to is for each access to say.
    pub ty: u32,
    pub offset: u32,
    /// B64 (and always there) for `Global`, else B32.
    pub addr: Option<Value>,
    /// For SSA scalars: (count, stride) of each dynamic index within `addr`.
    pub steps: [(u32, u32); 4],
    pub n_steps: u8,
    /// Offset and stride decorations hold.
    pub explicit: bool,
    pub mat_stride: u32,
    pub row_major: bool,
    /// Bytes between the components of a vector that is a column of a row-major matrix; else 0.
    pub vec_stride: u32,
    pub flags: MemFlags,
}

impl Pointer {
    pub fn new(base: Base, class: StorageClass, ty: u32) -> Pointer {
        Pointer {
            base,
            class,
            ty,
            offset: 0,
            addr: None,
            steps: [(0, 0); 4],
            n_steps: 0,
            explicit: true,
            mat_stride: 0,
            row_major: false,
            vec_stride: 0,
            flags: MemFlags::default(),
        }
    }
}

/// What an access chain's operands are.
pub(crate) struct Chain {
    /// The word that names the pointer.
    pub base: usize,
    /// An element comes first.
    pub element: bool,
    /// The word before the pointer is the type that it is seen as.
    pub untyped: bool,
}

impl Chain {
    pub fn of(op: Op) -> Option<Chain> {
        let (element, untyped) = match op {
            Op::AccessChain | Op::InBoundsAccessChain => (false, false),
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => (true, false),
            Op::UntypedAccessChainKHR | Op::UntypedInBoundsAccessChainKHR => (false, true),
            Op::UntypedPtrAccessChainKHR | Op::UntypedInBoundsPtrAccessChainKHR => (true, true),
            _ => return None,
        };
        Some(Chain { base: 3 + untyped as usize, element, untyped })
    }
}

impl<'m> Builder<'m> {
    /// The pointer that an id is.
    pub(crate) fn pointer(&mut self, id: u32, at: usize) -> Result<Pointer> {
        let s = self.slot(id, at)?;
        if s.len == PTR {
            return Ok(self.ptrs[s.start as usize]);
        }
        self.pointer_of_slot(s, at)
    }

    /// A pointer that was a value: loaded, selected, returned.
    fn pointer_of_slot(&mut self, s: Slot, at: usize) -> Result<Pointer> {
        let TypeClass::Pointer(class, pointee) = self.types.kind(s.ty) else {
            return Err(invalid(at, "not a pointer"));
        };
        let ty = if pointee == 0 { 0 } else { self.types.of(pointee, at)? };
        let v = s.start as usize;
        if s.len as usize != pointer_scalars(class).len() || s.len == 0 {
            return Err(unsupported(format!("pointers to {class:?} as values")));
        }
        let (base, addr) = match class {
            StorageClass::StorageBuffer | StorageClass::Uniform => {
                (Base::Buffer(self.pool[v]), self.pool[v + 1])
            }
            StorageClass::Workgroup => (Base::Shared, self.pool[v]),
            StorageClass::PushConstant => (Base::Push, self.pool[v]),
            _ => (Base::Global, self.pool[v]),
        };
        let mut p = Pointer::new(base, class, ty);
        p.addr = Some(addr);
        p.explicit = class != StorageClass::Workgroup || self.explicit_shared;
        Ok(p)
    }

    /// A pointer as a value: pool index and length.
    pub(crate) fn pointer_value(&mut self, ptr: usize, at: usize) -> Result<(usize, usize)> {
        let p = self.ptrs[ptr];
        let start = self.pool.len();
        match p.base {
            Base::Buffer(desc) => {
                let a = self.whole_addr(&p);
                self.pool.extend([desc, a]);
            }
            Base::Shared | Base::Push | Base::Global => {
                let a = self.whole_addr(&p);
                self.pool.push(a);
            }
            _ => return Err(invalid(at, format!("a pointer to {:?} is used as a value", p.class))),
        }
        Ok((start, self.pool.len() - start))
    }

    /// `addr` + `offset`.
    pub(crate) fn whole_addr(&mut self, p: &Pointer) -> Value {
        match p.addr {
            None => self.e.u32(p.offset),
            Some(a) => {
                let ty = self.e.ty(a);
                let k = self.e.constant(ty, p.offset as u64);
                self.e.add(a, k)
            }
        }
    }

    /// Names a translation-time pointer.
    pub(crate) fn define_pointer(&mut self, id: u32, ty: u32, p: Pointer) {
        let block = if self.e.to_prelude { 0 } else { self.e.cur };
        self.ids[id as usize] = Slot { ty, start: self.ptrs.len() as u32, len: PTR, block };
        self.ptrs.push(p);
    }

    /// Bytes of one element of an array (or distance of consecutive `ty`s).
    pub(crate) fn element_stride(&self, array_stride: u32, elem: u32, explicit: bool) -> u32 {
        if explicit && array_stride != 0 {
            return array_stride;
        }
        let e = self.types.get(elem);
        e.size.saturating_add(e.align - 1) & !(e.align - 1)
    }
    pub(crate) fn array_stride(&self, array: u32, elem: u32, explicit: bool) -> u32 {
        self.element_stride(self.types.get(array).stride, elem, explicit)
    }
    /// Bytes between a matrix's columns, and between the components of one.
    pub(crate) fn matrix_strides(&self, p: &Pointer, column: u32) -> (u32, u32) {
        let scalar = match self.types.kind(column) {
            TypeClass::Vector(e, _) => self.types.get(e).size,
            _ => 4,
        };
        let size = self.types.get(column).size;
        match (p.row_major, p.mat_stride) {
            (true, s) => (scalar, if s == 0 { scalar } else { s }),
            (false, 0) => (size, scalar),
            (false, s) => (s, scalar),
        }
    }

    pub(crate) fn access_chain(&mut self, i: Code<'m>) -> Result<()> {
        let (ty, id) = self.result(&i)?;
        let chain = Chain::of(i.op).ok_or_else(|| i.bad("no access chain"))?;
        let mut p = self.pointer(i.word(chain.base)?, i.at)?;
        if chain.untyped {
            let as_type = self.types.of(i.word(3)?, i.at)?;
            self.see_as(&mut p, as_type, i.at)?;
        }
        let mut first = chain.base + 1;
        if chain.element {
            first += 1;
            let base_ty = self.ids[i.word(chain.base)? as usize].ty;
            let stride = match p.base {
                Base::Resource(_) | Base::Query => 1,
                Base::Slots(_) | Base::Values(_) | Base::Texel(_) => 0,
                Base::Scratch | Base::Stage | Base::Data(_) => self.types.get(p.ty).words,
                // Workgroup memory without explicit layout has the pointer type's ArrayStride ignored.
                _ => {
                    let explicit = p.class != StorageClass::Workgroup || self.explicit_shared;
                    self.element_stride(self.types.get(base_ty).stride, p.ty, explicit)
                }
            };
            self.add_index(&mut p, i.word(chain.base + 1)?, stride, u32::MAX, i.at)?;
        }
        for &index in i.rest(first) {
            self.step(&mut p, index, &i)?;
        }
        match self.types.kind(ty) {
            TypeClass::Pointer(_, 0) if chain.untyped => p.ty = 0,
            TypeClass::Pointer(_, pointee) if !chain.untyped => {
                let want = self.types.of(pointee, i.at)?;
                if want != p.ty && !self.types.same_shape(want, p.ty) {
                    return Err(i.bad("the result type is not what the indices lead to"));
                }
                p.ty = want;
            }
            _ => return Err(i.bad("the result type is no such pointer")),
        }
        self.define_pointer(id, ty, p);
        self.keep_phi_pointer(id, i.at)
    }

    fn step(&mut self, p: &mut Pointer, index: u32, i: &Code) -> Result<()> {
        let at = i.at;
        let scalars = matches!(p.base, Base::Slots(_) | Base::Values(_));
        let scratch = matches!(p.base, Base::Scratch | Base::Stage | Base::Data(_));
        match self.types.kind(p.ty) {
            TypeClass::Struct(..) => {
                let k = self.const_u32(index, at)?;
                let m = self.types.member(p.ty, k).ok_or_else(|| i.bad("no such member"))?;
                if scalars {
                    p.offset += m.scalar;
                } else if scratch {
                    p.offset += m.word;
                } else {
                    let offset = if p.explicit { m.offset.unwrap_or(m.own_offset) } else { m.own_offset };
                    self.add_bytes(p, offset as i64);
                    p.mat_stride = if p.explicit { m.mat_stride } else { 0 };
                    p.row_major = p.explicit && m.row_major;
                    p.flags.volatile |= m.volatile;
                }
                p.ty = m.ty;
                p.vec_stride = 0;
            }
            TypeClass::Array(e, n) => {
                let stride = if scalars {
                    self.types.get(e).scalars
                } else if scratch {
                    self.types.get(e).words
                } else if matches!(p.base, Base::Resource(_) | Base::Query) {
                    self.descriptors(e)
                } else {
                    self.array_stride(p.ty, e, p.explicit)
                };
                self.add_index(p, index, stride, n, at)?;
                p.ty = e;
                self.resolve_buffer(p, at)?;
            }
            TypeClass::Runtime(e) => {
                let stride = if matches!(p.base, Base::Resource(_)) {
                    self.descriptors(e)
                } else {
                    self.array_stride(p.ty, e, p.explicit)
                };
                self.add_index(p, index, stride, u32::MAX, at)?;
                p.ty = e;
                self.resolve_buffer(p, at)?;
            }
            TypeClass::Matrix(column, n) => {
                let stride = if scalars {
                    self.types.get(column).scalars
                } else if scratch {
                    self.types.get(column).words
                } else {
                    let (stride, comp) = self.matrix_strides(p, column);
                    p.vec_stride = comp;
                    stride
                };
                self.add_index(p, index, stride, n, at)?;
                p.ty = column;
            }
            TypeClass::Vector(e, n) => {
                let stride = if scalars {
                    1
                } else if scratch {
                    self.types.get(e).words
                } else if p.vec_stride != 0 {
                    p.vec_stride
                } else {
                    self.types.get(e).size
                };
                self.add_index(p, index, stride, n, at)?;
                p.ty = e;
                p.vec_stride = 0;
            }
            TypeClass::Cooperative(e, _) if scalars || scratch => {
                let n = self.types.get(p.ty).scalars;
                self.add_index(p, index, if scratch { self.types.get(e).words } else { 1 }, n, at)?;
                p.ty = e;
            }
            _ => return Err(i.bad("an index into something that has no parts")),
        }
        Ok(())
    }

    /// Descriptors that one element of a descriptor array takes.
    fn descriptors(&self, ty: u32) -> u32 {
        match self.types.kind(ty) {
            TypeClass::Array(e, n) => self.descriptors(e).saturating_mul(n),
            _ => 1,
        }
    }

    /// A descriptor array indexed down to one buffer becomes that buffer.
    pub(crate) fn resolve_buffer(&mut self, p: &mut Pointer, at: usize) -> Result<()> {
        if let Base::Resource(r) = p.base
            && matches!(self.types.kind(p.ty), TypeClass::Struct(..))
        {
            *p = self.bound_buffer(r, p, at)?;
        }
        Ok(())
    }

    /// Where the layout has a resource.
    pub(crate) fn bound_to(&self, r: Resource, at: usize) -> Result<Binding> {
        let Resource { set, binding, .. } = r;
        (self.opt.binding)(set, binding)
            .ok_or_else(|| invalid(at, format!("set {set} binding {binding} is not in the pipeline layout")))
    }

    /// The number of the first descriptor of an element that consists of a few.
    pub(crate) fn nth_of(&mut self, index: Value, each: u32) -> Value {
        // A wrong index is beyond all descriptors of the binding, multiplied or not.
        let (most, each) = (self.e.u32(u32::MAX / 4), self.e.u32(each));
        let index = self.e.bin(Bin::UMin, index, most);
        self.e.bin(Bin::IMul, index, each)
    }

    pub(crate) fn descriptor(&mut self, r: Resource, p: &Pointer, at: usize) -> Result<Value> {
        let image = match self.types.kind(p.ty) {
            TypeClass::SampledImage(image) => self.types.kind(image),
            kind => kind,
        };
        let texels = matches!(image, TypeClass::Image(i) if matches!(dim_of(i.dim), Ok(Dim::Buffer)));
        if let Some(mapped) = self.mapped_descriptor(r, p, false, texels, at)? {
            return Ok(mapped);
        }
        let Resource { set, binding, .. } = r;
        let each = self.bound_to(r, at)?.each;
        let index = self.whole_addr(p);
        let index = if each == 1 { index } else { self.nth_of(index, each) };
        Ok(self.e.descriptor(DescriptorSource::Binding { set, binding }, index, texels))
    }

    /// Adds bytes known now.
    fn add_bytes(&mut self, p: &mut Pointer, bytes: i64) {
        if p.base != Base::Global {
            p.offset = p.offset.wrapping_add(bytes as u32);
            return;
        }
        match u32::try_from(p.offset as i64 + bytes) {
            Ok(o) => p.offset = o,
            Err(_) => {
                let k = self.e.u64(bytes as u64);
                p.addr = p.addr.map(|a| self.e.add(a, k));
            }
        }
    }

    /// Adds `index` · `stride`; `count`: elements there are.
    fn add_index(&mut self, p: &mut Pointer, index: u32, stride: u32, count: u32, at: usize) -> Result<()> {
        let scalars = matches!(p.base, Base::Slots(_) | Base::Values(_));
        if let Some(c) = self.try_const(index) {
            // Undefined beyond the end: the last element then.
            let c = if scalars || matches!(p.base, Base::Scratch | Base::Stage | Base::Data(_)) {
                c.min(count as u64 - 1)
            } else {
                c
            };
            self.add_bytes(p, (c as i64).wrapping_mul(stride as i64));
            return Ok(());
        }
        if p.base == Base::Global {
            let (ty, start, len) = self.value(index, at)?;
            let v = self.pool[start];
            let v = match self.e.ty(v) {
                Ty::B64 if len == 1 => v,
                _ => {
                    let signed = self.types.signed(ty);
                    let v = self.int32(index, at)?;
                    self.e.un(if signed { Un::S32ToS64 } else { Un::U32ToU64 }, v)
                }
            };
            let k = self.e.u64(stride as u64);
            let v = self.e.bin(Bin::IMul, v, k);
            p.addr = Some(match p.addr {
                Some(a) => self.e.add(a, v),
                None => v,
            });
            return Ok(());
        }
        if let Base::Slots(first) = p.base
            && !matches!(self.types.kind(p.ty), TypeClass::Vector(..) | TypeClass::Cooperative(..))
            && let var = self.scalar_variable(first)
            && self.uses.settled.contains(&var)
        {
            return Err(self.again(Again::Variable(var)));
        }
        let v = self.int32(index, at)?;
        let k = self.e.u32(stride);
        let v = self.e.bin(Bin::IMul, v, k);
        p.addr = Some(match p.addr {
            Some(a) => self.e.add(a, v),
            None => v,
        });
        if scalars {
            if p.n_steps as usize == p.steps.len() {
                return Err(unsupported("dynamic indices nested too deeply"));
            }
            p.steps[p.n_steps as usize] = (count, stride);
            p.n_steps += 1;
        }
        Ok(())
    }
}

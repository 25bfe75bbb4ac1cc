//! Variables: where each lives.

use super::Builder;
use super::access::{Base, Pointer};
use super::analysis::{CHANGED, DYNAMIC, SETTLES, USED, WRITTEN};
use super::heap::Resource;
use super::types::{Type, TypeClass};
use crate::ir::{DescriptorSource, Input, Value, undefined_bits};
use crate::options::{Error, Result};
use crate::spirv::*;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Scalars up to which a dynamically indexed variable becomes selects rather than scratch memory.
const SELECT_SCALARS: u32 = 16;
/// Scalars up to which a variable becomes values for its indices are constants once loops are unrolled.
const SETTLED_SCALARS: u32 = 256;
/// Scalars up to which a variable is kept in SSA form at all.
const SSA_SCALARS: u32 = 2048;
const MAX_SCRATCH_WORDS: u32 = 1 << 16;
/// Words of all constant arrays of a shader that are read in place.
const MAX_DATA_WORDS: usize = 1 << 16;
const MAX_SHARED_BYTES: u32 = 1 << 20;

fn is_variable(op: Op) -> bool {
    matches!(op, Op::Variable | Op::UntypedVariableKHR)
}

impl<'m> Builder<'m> {
    /// Type, storage class and pointee's type (or type of the data) of an OpVariable or OpUntypedVariableKHR.
    fn variable_type(&self, i: &Code) -> Result<(u32, StorageClass, u32)> {
        let ty = self.types.of(i.word(1)?, i.at)?;
        match self.types.kind(ty) {
            TypeClass::Pointer(class, 0) if i.op == Op::UntypedVariableKHR => {
                match i.get(4) {
                    // A heap.
                    None if class == StorageClass::UniformConstant => Ok((ty, class, 0)),
                    None => Err(i.bad("no type of its data")),
                    Some(data) => Ok((ty, class, self.types.of(data, i.at)?)),
                }
            }
            TypeClass::Pointer(class, pointee) => Ok((ty, class, self.types.of(pointee, i.at)?)),
            _ => Err(i.bad("the type of a variable is no pointer")),
        }
    }

    fn is_block(&self, ty: u32, deco: Decoration) -> bool {
        let mut ty = ty;
        while let TypeClass::Array(e, _) | TypeClass::Runtime(e) = self.types.kind(ty) {
            ty = e;
        }
        self.m.has(self.types.get(ty).id, deco)
    }
    /// Whether workgroup memory of this type has explicit offsets.
    pub(crate) fn explicit_workgroup(&self, ty: u32) -> bool {
        self.is_block(ty, Decoration::Block)
    }

    /// Gives workgroup variables their places and private ones their first values.
    pub(crate) fn place_globals(&mut self) -> Result<()> {
        // Blocks with explicit layout share the first bytes when they alias.
        let mut aliased = 0u32;
        let mut own = Vec::new();
        for k in 0..self.m.globals.len() {
            let i = self.m.inst(self.m.globals[k]);
            if !is_variable(i.op) {
                continue;
            }
            let (_, class, ty) = match self.variable_type(&i) {
                Ok(t) => t,
                Err(_) => continue,
            };
            let id = i.word(2)?;
            // All workgroup variables of a module have explicit layout or none.
            self.explicit_shared |= class == StorageClass::Workgroup && self.explicit_workgroup(ty);
            // Workgroup memory begins as 0, whether or not the module asks for it; a block that is not used may alias one that is.
            self.shared_is_initialized |= class == StorageClass::Workgroup && i.len() > 4;
            let initialised = class == StorageClass::Output && i.len() > 4 && self.in_interface(id);
            if !self.uses.has(id, USED) && !initialised {
                continue;
            }
            match class {
                StorageClass::Workgroup => {
                    if self.explicit_workgroup(ty) && self.m.has(id, Decoration::Aliased) {
                        aliased = aliased.max(self.types.get(ty).explicit);
                    } else {
                        own.push(id);
                    }
                }
                StorageClass::Private | StorageClass::Output => self.global_variable(id, i.at)?,
                _ => {}
            }
        }
        // Nothing follows the last one: where it ends, accesses are out of bounds.
        let mut at = self.stage_words * 4 + aliased;
        for id in own {
            let i = self.m.def(id, 0)?;
            let (pty, class, ty) = self.variable_type(&i)?;
            let explicit = self.explicit_workgroup(ty);
            let size = if explicit { self.types.get(ty).explicit } else { self.types.get(ty).size };
            let mut p = Pointer::new(Base::Shared, class, ty);
            p.explicit = explicit;
            if i.op == Op::UntypedVariableKHR {
                p.ty = 0;
            }
            p.offset = at.saturating_add(15) & !15;
            at = p.offset.saturating_add(size);
            self.define_global(id, pty, p);
        }
        if at > MAX_SHARED_BYTES {
            return Err(Error::TooLarge(format!("{at} bytes of workgroup memory")));
        }
        self.shared_bytes = at;
        Ok(())
    }

    /// Errors when there is too much workgroup memory.
    pub(super) fn check_shared(&self) -> Result<()> {
        if self.shared_bytes > MAX_SHARED_BYTES {
            return Err(Error::TooLarge(format!("{} bytes of workgroup memory", self.shared_bytes)));
        }
        Ok(())
    }

    /// Bytes of a new type by its Offset and ArrayStride decorations.
    pub(crate) fn explicit_size(&self, t: &Type) -> u32 {
        match t.kind {
            TypeClass::Struct(first, n) => {
                let each = (first..first + n).map(|k| {
                    let m = self.types.members[k as usize];
                    let size = match self.types.kind(m.ty) {
                        TypeClass::Matrix(column, n) if m.mat_stride != 0 => {
                            let rows = self.types.get(column).scalars;
                            m.mat_stride.saturating_mul(if m.row_major { rows } else { n })
                        }
                        _ => self.types.get(m.ty).explicit,
                    };
                    m.offset.unwrap_or(m.own_offset).saturating_add(size)
                });
                each.max().unwrap_or(0)
            }
            TypeClass::Array(e, n) => {
                let stride = self.element_stride(t.stride, e, true);
                stride.max(self.types.get(e).explicit).saturating_mul(n)
            }
            _ => t.size,
        }
    }

    fn define_global(&mut self, id: u32, ty: u32, p: Pointer) {
        self.define_pointer(id, ty, p);
        self.ids[id as usize].block = 0;
    }

    /// Makes the pointer of a global variable at its first use.
    pub(crate) fn global_variable(&mut self, id: u32, at: usize) -> Result<()> {
        let i = self.m.def(id, at)?;
        if !is_variable(i.op) || self.m.globals.binary_search(&(i.at as u32)).is_err() {
            return Err(invalid(at, format!("id {id} has no value here")));
        }
        let (pty, class, ty) = self.variable_type(&i)?;
        let of_stage = matches!(
            class,
            StorageClass::Input | StorageClass::Output | StorageClass::TaskPayloadWorkgroupEXT
        );
        let untyped = i.op == Op::UntypedVariableKHR;
        if class == StorageClass::UniformConstant
            && let Some(heap) = self.heap_variable(id)
        {
            let mut p = Pointer::new(Base::Heap(heap), class, if untyped { 0 } else { ty });
            p.flags.volatile = self.m.has(id, Decoration::Volatile);
            self.define_global(id, pty, p);
            return Ok(());
        }
        if untyped
            && !matches!(
                class,
                StorageClass::StorageBuffer
                    | StorageClass::Uniform
                    | StorageClass::PushConstant
                    | StorageClass::Workgroup
            )
        {
            return Err(unsupported(format!("untyped variables of storage class {class:?}")));
        }
        if of_stage && let Some(p) = self.stage_variable(id, class, ty)? {
            self.define_global(id, pty, p);
            return Ok(());
        }
        let mut p = match class {
            StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::UniformConstant => {
                let need = |d: Decoration| {
                    self.m
                        .decoration(id, d)
                        .ok_or_else(|| invalid(i.at, format!("variable {id} lacks the decoration {d:?}")))
                };
                let (set, binding) = (need(Decoration::DescriptorSet)?, need(Decoration::Binding)?);
                let ubo = class == StorageClass::Uniform && !self.is_block(ty, Decoration::BufferBlock);
                let kind = match self.opt.mapping {
                    Some(_) => self.resource_kind(id, class, ty, self.members_are_read_only(ty)),
                    None => 0,
                };
                let mut p = Pointer::new(Base::Resource(Resource { set, binding, kind }), class, ty);
                p.flags.volatile = self.m.has(id, Decoration::Volatile);
                p.flags.read_only = ubo || !self.may_be_written(id, ty, set, binding);
                p
            }
            StorageClass::PushConstant => {
                let mut p = Pointer::new(Base::Push, class, ty);
                p.flags.read_only = true;
                p
            }
            StorageClass::Workgroup if !self.opt.stage.has_workgroups() => {
                return Err(i.bad("workgroup memory in a graphics stage"));
            }
            StorageClass::Workgroup => {
                // Not met by the look ahead, or an aliased block: at the start.
                let mut p = Pointer::new(Base::Shared, class, ty);
                p.offset = self.stage_words * 4;
                p.explicit = self.explicit_workgroup(ty);
                let size = if p.explicit { self.types.get(ty).explicit } else { self.types.get(ty).size };
                if !self.m.has(id, Decoration::Aliased) || !p.explicit {
                    p.offset = self.shared_bytes.saturating_add(15) & !15;
                    self.shared_bytes = p.offset.saturating_add(size);
                    self.check_shared()?;
                }
                p
            }
            StorageClass::Private => {
                let (base, offset) = self.new_variable(id, ty, true, &i)?;
                Pointer { offset, ..Pointer::new(base, class, ty) }
            }
            StorageClass::Input => {
                let first = self.input_values(id, ty, &i)?;
                let mut p = Pointer::new(Base::Values(first), class, ty);
                p.flags.volatile = self.m.has(id, Decoration::Volatile);
                p
            }
            StorageClass::ShaderRecordBufferKHR if self.opt.stage.is_ray_tracing() => self.shader_record(ty),
            StorageClass::TileImageEXT => Pointer::new(Base::Values(self.tile_images(id, ty)?), class, ty),
            StorageClass::Output => {
                let base = self.output_variable(id, ty, &i)?;
                Pointer::new(base, class, ty)
            }
            _ => return Err(unsupported(format!("variables of storage class {class:?}"))),
        };
        self.resolve_buffer(&mut p, at)?;
        if untyped {
            p.ty = 0;
        }
        self.define_global(id, pty, p);
        Ok(())
    }

    /// False when nothing of this shader writes the buffer behind a storage-buffer variable.
    fn may_be_written(&mut self, id: u32, ty: u32, set: u32, binding: u32) -> bool {
        if self.m.has(id, Decoration::Aliased) || self.m.has(id, Decoration::Volatile) {
            return true;
        }
        let read_only = self.members_are_read_only(ty) || self.m.has(id, Decoration::NonWritable);
        if self.uses.all_written && !read_only {
            return true;
        }
        // Variables without Aliased may be taken not to overlap, other than those of one binding.
        let written = self.written_bindings();
        written.get(&(set, binding)).is_some_and(|ids| ids.iter().any(|x| *x != id || !read_only))
    }

    /// Whether all members of a block, or of an array's, are decorated NonWritable, and none Volatile.
    fn members_are_read_only(&self, ty: u32) -> bool {
        let mut block = ty;
        while let TypeClass::Array(e, _) | TypeClass::Runtime(e) = self.types.kind(block) {
            block = e;
        }
        let TypeClass::Struct(first, n) = self.types.kind(block) else { return false };
        let members = &self.types.members[first as usize..(first + n) as usize];
        members.iter().all(|m| m.non_writable && !m.volatile)
    }

    /// The first two variables that are written of each set and binding.
    fn written_bindings(&mut self) -> Rc<FxHashMap<(u32, u32), Vec<u32>>> {
        if let Some(all) = &self.written {
            return all.clone();
        }
        let mut all: FxHashMap<(u32, u32), Vec<u32>> = FxHashMap::default();
        for k in 0..self.m.globals.len() {
            let i = self.m.inst(self.m.globals[k]);
            if is_variable(i.op)
                && let Some(binding) = self.m.decoration(i.w[2], Decoration::Binding)
                && let Some(set) = self.m.decoration(i.w[2], Decoration::DescriptorSet)
                && self.uses.has(i.w[2], WRITTEN)
            {
                let list = all.entry((set, binding)).or_default();
                if list.len() < 2 {
                    list.push(i.w[2]);
                }
            }
        }
        self.written.insert(Rc::new(all)).clone()
    }

    /// Private words: the first.
    pub(super) fn take_scratch(&mut self, words: u32) -> Result<u32> {
        let first = self.scratch_words;
        self.scratch_words = first.saturating_add(words);
        if self.scratch_words > MAX_SCRATCH_WORDS {
            return Err(Error::TooLarge(format!("{} private words", self.scratch_words)));
        }
        Ok(first)
    }

    /// Storage for a function or private variable, with its first value.
    pub(crate) fn new_variable(&mut self, id: u32, ty: u32, global: bool, i: &Code) -> Result<(Base, u32)> {
        if let Some(n) = self.queries_of(ty) {
            return Ok((Base::Query, self.place_queries(id, n)?));
        }
        let t = *self.types.get(ty);
        if t.scalars == u32::MAX {
            return Err(i.bad("a variable without a size"));
        }
        let large = t.scalars > SELECT_SCALARS;
        let settles = self.uses.has(id, SETTLES);
        let dynamic = self.uses.has(id, DYNAMIC) || (settles && t.scalars > SETTLED_SCALARS);
        if settles && !dynamic && large {
            let rep = self.uses.find(id);
            self.uses.settled.insert(rep);
        }
        // Outputs are told scalar by scalar which are written: they stay in SSA form (and are few).
        let output = matches!(self.variable_type(i)?.1, StorageClass::Output);
        // Descriptors' addresses are never in memory: what comes from there is a number.
        let handles = self.types.get(ty).handles;
        if handles && t.scalars > SSA_SCALARS {
            return Err(Error::TooLarge(format!("a variable of {} pointers or images", t.scalars)));
        }
        let scratch = !output && !handles && ((dynamic && large) || t.scalars > SSA_SCALARS);
        let constant = self.uses.fills.get(&id).copied().or(i.get(4));
        let unchanged = scratch && !self.uses.has(id, CHANGED) && !self.uses.all_written;
        if let Some(c) = constant.filter(|_| unchanged)
            && let Some(desc) = self.read_in_place(c, &t, i.at)?
        {
            return Ok((Base::Data(desc), 0));
        }
        let init = match i.get(4) {
            None => None,
            Some(c) => {
                let (ty, start, len) = self.value(c, i.at)?;
                if len != t.scalars as usize || self.types.get(ty).scalars != t.scalars {
                    return Err(i.bad("the initialiser has another type"));
                }
                Some(start)
            }
        };
        if scratch {
            let base = match self.scratch_of.get(&id) {
                Some(&b) => b,
                None => {
                    let b = self.take_scratch(t.words)?;
                    self.scratch_of.insert(id, b);
                    if init.is_none() {
                        let [from, to] = self.zeroed;
                        let from = if from == to { b } else { from };
                        self.zeroed = [from, self.scratch_words];
                    }
                    b
                }
            };
            let mut p = Pointer::new(Base::Scratch, StorageClass::Function, ty);
            p.offset = base;
            if let Some(start) = init {
                self.store(&p, start, t.scalars as usize, i.at)?;
            }
            return Ok((Base::Scratch, base));
        }
        let rep = self.uses.find(id);
        let mut kinds = Vec::with_capacity(t.scalars as usize);
        self.types.flatten(ty, &mut kinds)?;
        if kinds.len() != t.scalars as usize {
            return Err(unsupported("a variable of opaque type"));
        }
        let mut first = 0;
        for (k, s) in kinds.iter().enumerate() {
            let n = self.new_scalar(s.ty(), rep);
            if k == 0 {
                first = n;
            }
            let v = match init {
                Some(start) => self.pool[start + k],
                None if self.opt.sanitize => self.e.input(Input::Undefined, s.ty()),
                // A component of an output that nothing writes is often one that nobody reads, such as a built-in one.
                None if output || handles => self.e.constant(s.ty(), 0),
                None => self.e.constant(s.ty(), undefined_bits(s.ty(), self.opt.undefined)),
            };
            if self.e.ty(v) != s.ty() {
                return Err(i.bad("the initialiser has another type"));
            }
            if global {
                self.init_scalar(n, v);
            } else {
                self.write_scalar(n, v);
            }
        }
        Ok((Base::Slots(first), 0))
    }

    /// The descriptor of a constant array's words, if there is room for them and all are known.
    fn read_in_place(&mut self, c: u32, t: &Type, at: usize) -> Result<Option<Value>> {
        let (ty, start, len) = self.value(c, at)?;
        let used: usize = self.data.iter().map(Vec::len).sum();
        if len != t.scalars as usize
            || self.types.get(ty).scalars != t.scalars
            || t.words as usize > MAX_DATA_WORDS - used
        {
            return Ok(None);
        }
        let mut kinds = Vec::with_capacity(len);
        self.types.flatten(ty, &mut kinds)?;
        if kinds.len() != len {
            return Ok(None);
        }
        let mut words = Vec::with_capacity(t.words as usize);
        for (k, s) in kinds.iter().enumerate() {
            let v = self.e.res(self.pool[start + k]);
            let Some(bits) = self.e.as_const(v).filter(|_| self.e.ty(v) == s.ty()) else { return Ok(None) };
            words.push(bits as u32);
            if s.words() == 2 {
                words.push((bits >> 32) as u32);
            }
        }
        let known = self.data.iter().position(|d| *d == words);
        let k = known.unwrap_or_else(|| {
            self.data.push(words);
            self.data.len() - 1
        });
        let zero = self.e.u32(0);
        Ok(Some(self.e.descriptor(DescriptorSource::Data(k as u32), zero, false)))
    }

    /// OpVariable in a function.
    pub(crate) fn local_variable(&mut self, i: Code<'m>) -> Result<()> {
        let (pty, class, ty) = self.variable_type(&i)?;
        if class != StorageClass::Function {
            return Err(i.bad("a local variable of another storage class"));
        }
        let id = i.word(2)?;
        let (base, offset) = self.new_variable(id, ty, false, &i)?;
        self.define_pointer(id, pty, Pointer { offset, ..Pointer::new(base, class, ty) });
        Ok(())
    }
}

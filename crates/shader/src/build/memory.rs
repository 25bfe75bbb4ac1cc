//! Loads and stores: composites split into runs of consecutive scalars.

use super::Builder;
use super::access::{Base, Pointer};
use super::types::{MAX_SCALARS, Sk, TypeClass};
use crate::ir::*;
use crate::options::{Error, Heap, Result};
use crate::spirv::*;

impl<'m> Builder<'m> {
    pub(crate) fn op_load(&mut self, i: Code<'m>) -> Result<()> {
        let (ty, id) = self.result(&i)?;
        let mut p = self.pointer(i.word(3)?, i.at)?;
        self.accessed(&mut p, ty, i.at)?;
        p.ty = ty;
        p.flags.volatile |= self.is_volatile(i.get(4));
        let start = self.load(&p, i.at)?;
        self.define(id, ty, start);
        Ok(())
    }

    pub(crate) fn op_store(&mut self, i: Code<'m>) -> Result<()> {
        if self.uses.endless.contains(&i.word(1)?) {
            return Ok(());
        }
        let mut p = self.pointer(i.word(1)?, i.at)?;
        let (ty, start, len) = self.value(i.word(2)?, i.at)?;
        self.accessed(&mut p, ty, i.at)?;
        p.flags.volatile |= self.is_volatile(i.get(3));
        self.store(&p, start, len, i.at)
    }

    pub(crate) fn op_copy_memory(&mut self, i: Code<'m>) -> Result<()> {
        let mut to = self.pointer(i.word(1)?, i.at)?;
        let mut from = self.pointer(i.word(2)?, i.at)?;
        match (to.ty, from.ty) {
            (0, 0) => return Err(i.bad("of no type")),
            (0, ty) => self.accessed(&mut to, ty, i.at)?,
            (ty, 0) => self.accessed(&mut from, ty, i.at)?,
            (_, ty) => self.accessed(&mut to, ty, i.at)?,
        }
        let start = self.load(&from, i.at)?;
        self.store(&to, start, self.pool.len() - start, i.at)
    }

    fn is_volatile(&self, operands: Option<u32>) -> bool {
        operands.is_some_and(|m| m & MemoryAccess::VOLATILE.bits() != 0)
    }

    /// Byte offset and kind of each scalar of `p.ty`, appended to `out`.
    fn layout(&self, p: &Pointer, ty: u32, offset: u32, out: &mut Vec<(u32, Sk)>) -> Result<()> {
        let t = self.types.get(ty);
        match t.kind {
            _ if t.scalars == 0 && t.is_composite() => {}
            TypeClass::Scalar(s, _) => out.push((offset, s)),
            TypeClass::Vector(e, n) => {
                let TypeClass::Scalar(s, _) = self.types.kind(e) else { return Ok(()) };
                let stride = if p.vec_stride != 0 { p.vec_stride } else { s.mem().bytes() };
                out.extend((0..n).map(|k| (offset.wrapping_add(k.wrapping_mul(stride)), s)));
            }
            TypeClass::Matrix(column, n) => {
                let (stride, comp) = self.matrix_strides(p, column);
                let p = Pointer { vec_stride: comp, ..*p };
                for k in 0..n {
                    self.layout(&p, column, offset.wrapping_add(k.wrapping_mul(stride)), out)?;
                }
            }
            TypeClass::Array(e, n) => {
                let stride = self.array_stride(ty, e, p.explicit);
                for k in 0..n {
                    self.layout(p, e, offset.wrapping_add(k.wrapping_mul(stride)), out)?;
                }
            }
            TypeClass::Struct(first, n) => {
                for k in first..first + n {
                    let m = self.types.members[k as usize];
                    let o = if p.explicit { m.offset.unwrap_or(m.own_offset) } else { m.own_offset };
                    let (mat_stride, row_major) =
                        if p.explicit { (m.mat_stride, m.row_major) } else { (0, false) };
                    let p = Pointer { mat_stride, row_major, vec_stride: 0, ..*p };
                    self.layout(&p, m.ty, offset.wrapping_add(o), out)?;
                }
            }
            TypeClass::Pointer(class, _) => {
                let mut o = offset;
                for &s in super::types::pointer_scalars(class) {
                    out.push((o, s));
                    o = o.wrapping_add(s.mem().bytes());
                }
            }
            _ => return Err(unsupported("a load or store of an opaque type")),
        }
        Ok(())
    }

    pub(crate) fn scalars_of(&self, p: &Pointer, at: usize) -> Result<u32> {
        let n = self.types.get(p.ty).scalars;
        if n > MAX_SCALARS {
            return Err(Error::TooLarge(format!("at word {at}: a value of {n} scalars")));
        }
        self.work.spend(self.types.get(p.ty).nodes as usize)?;
        Ok(n)
    }

    pub(crate) fn place(&mut self, p: &Pointer) -> Place {
        let addr = match p.addr {
            Some(a) => a,
            None if p.base == Base::Global => self.e.u64(0),
            None => self.e.u32(0),
        };
        match p.base {
            Base::Buffer(desc) => Place::Buffer { desc, addr },
            Base::Data(desc) => {
                let k = self.e.u32(4);
                Place::Buffer { desc, addr: self.e.bin(Bin::IMul, addr, k) }
            }
            Base::Global => Place::Global { addr },
            Base::Shared => Place::Shared { addr },
            Base::Push => Place::Push { addr },
            Base::Stage => {
                // Words of this patch.
                let k = self.e.u32(4);
                let bytes = self.e.bin(Bin::IMul, addr, k);
                if self.opt.stage == Stage::Mesh {
                    return Place::Shared { addr: bytes };
                }
                let base = self.e.input(Input::PatchBase, Ty::B32);
                Place::Shared { addr: self.e.add(base, bytes) }
            }
            _ => Place::Scratch { addr },
        }
    }

    /// Loads `p.ty`; the values are the pool from the index returned.
    pub(crate) fn load(&mut self, p: &Pointer, at: usize) -> Result<usize> {
        let n = self.scalars_of(p, at)?;
        match p.base {
            Base::Slots(first) => {
                if p.n_steps != 0 {
                    return self.load_select(p, n, |b, k| b.read_scalar(first + k));
                }
                let start = self.pool.len();
                for k in 0..n {
                    let v = self.read_scalar(first + p.offset + k)?;
                    self.pool.push(v);
                }
                Ok(start)
            }
            Base::Values(first) => {
                self.note_varying_load(first, p.offset, if p.n_steps == 0 { n } else { u32::MAX });
                if p.n_steps != 0 {
                    return self.load_select(p, n, |b, k| Ok(b.pool[(first + k) as usize]));
                }
                if self.t_max == Some(first) {
                    let v = self.t_max_now();
                    self.pool.push(v);
                    return Ok(self.pool.len() - 1);
                }
                if p.flags.volatile && self.helper == Some(first) {
                    let v = self.e.push(Inst::IsHelper, Ty::Bool);
                    self.pool.push(v);
                    return Ok(self.pool.len() - 1);
                }
                let start = self.pool.len();
                let from = (first + p.offset) as usize;
                self.pool.extend_from_within(from..from + n as usize);
                Ok(start)
            }
            Base::Resource(r) => {
                let start = self.pool.len();
                let combined = match self.types.kind(p.ty) {
                    TypeClass::Image(_) | TypeClass::Sampler => false,
                    TypeClass::SampledImage(_) => true,
                    TypeClass::Tensor(..) => {
                        let both = self.tensor_descriptors(r, p, at)?;
                        self.pool.extend(both);
                        return Ok(self.pool.len() - 2);
                    }
                    TypeClass::AccelerationStructure => {
                        let d = self.descriptor(r, p, at)?;
                        let address = self.structure(d);
                        self.pool.push(address);
                        return Ok(start);
                    }
                    _ => return Err(unsupported(format!("at word {at}: a load of this kind of resource"))),
                };
                let d = self.descriptor(r, p, at)?;
                let sampler = match combined {
                    true => Some(self.mapped_descriptor(r, p, true, false, at)?.unwrap_or(d)),
                    false => None,
                };
                self.pool.push(d);
                self.pool.extend(sampler);
                Ok(start)
            }
            Base::Heap(heap) if self.types.kind(p.ty) == TypeClass::AccelerationStructure => {
                let d = self.heap_descriptor(heap, p, at)?;
                let address = self.structure(d);
                self.pool.push(address);
                Ok(self.pool.len() - 1)
            }
            Base::Heap(heap) if !self.types.get(p.ty).handles => {
                let p = self.heap_bytes(heap, p);
                self.load_memory(&p)
            }
            Base::Heap(Heap::Resources) if matches!(self.types.kind(p.ty), TypeClass::Tensor(..)) => {
                let offset = self.whole_addr(p);
                let both = self.heap_tensor(offset);
                self.pool.extend(both);
                Ok(self.pool.len() - 2)
            }
            Base::Heap(heap) => {
                let d = self.heap_descriptor(heap, p, at)?;
                self.pool.push(d);
                Ok(self.pool.len() - 1)
            }
            Base::Texel(_) => Err(invalid(at, "a load through a texel pointer")),
            Base::Query => Err(invalid(at, "a load of a ray query")),
            Base::Scratch | Base::Stage | Base::Data(_) => self.load_scratch(p),
            _ => self.load_memory(p),
        }
    }

    fn load_memory(&mut self, p: &Pointer) -> Result<usize> {
        let mut list = std::mem::take(&mut self.tmp);
        list.clear();
        self.layout(p, p.ty, p.offset, &mut list)?;
        let start = self.load_runs(p, &list);
        self.tmp = list;
        Ok(start)
    }

    /// Loads the scalars of `list` (byte offsets and kinds); the values are the pool from the index returned.
    pub(crate) fn load_runs(&mut self, p: &Pointer, list: &[(u32, Sk)]) -> usize {
        let place = self.place(p);
        let start = self.pool.len();
        for run in runs(list) {
            let (offset, s) = run[0];
            let n = run.len() as u8;
            let v = self.e.load(place, offset, s.mem(), n, p.flags);
            for (k, &(_, s)) in run.iter().enumerate() {
                let x = if n == 1 { v } else { self.e.part(v, k as u32, s.mem().ty()) };
                let x = match s {
                    Sk::Bool => self.int_to_bool(x),
                    _ if s.is_small() => self.e.of_small_bits(s, x),
                    _ => x,
                };
                self.pool.push(x);
            }
        }
        start
    }

    pub(crate) fn int_to_bool(&mut self, x: Value) -> Value {
        let zero = self.e.u32(0);
        self.e.bin(Bin::INe, x, zero)
    }

    /// Word index and kind of each scalar in scratch memory; kinds reduced to their width.
    fn scratch_layout(&self, p: &Pointer, list: &mut Vec<(u32, Sk)>) -> Result<Vec<Sk>> {
        let mut kinds = Vec::new();
        self.types.flatten(p.ty, &mut kinds)?;
        let mut word = p.offset;
        for s in &kinds {
            list.push((word, if s.ty() == Ty::B64 { Sk::I64 } else { Sk::I32 }));
            word += s.words();
        }
        Ok(kinds)
    }

    fn load_scratch(&mut self, p: &Pointer) -> Result<usize> {
        let mut list = Vec::new();
        let kinds = self.scratch_layout(p, &mut list)?;
        let place = self.place(p);
        let flags = MemFlags { read_only: matches!(p.base, Base::Data(_)), volatile: false };
        let start = self.pool.len();
        let mut k = 0;
        for run in scratch_runs(&list) {
            let (offset, s) = run[0];
            let n = run.len() as u8;
            let v = self.e.load(place, offset.wrapping_mul(unit(p)), s.mem(), n, flags);
            for part in 0..n as u32 {
                let x = if n == 1 { v } else { self.e.part(v, part, s.ty()) };
                let x = if kinds[k] == Sk::Bool { self.int_to_bool(x) } else { x };
                self.pool.push(x);
                k += 1;
            }
        }
        Ok(start)
    }

    /// All scalar offsets that dynamic indices may lead to.
    fn candidates(&self, p: &Pointer) -> Result<Vec<u32>> {
        let mut out = vec![0u32];
        for &(count, stride) in &p.steps[..p.n_steps as usize] {
            let old = out.len();
            if old.saturating_mul(count as usize) > 4096 {
                return Err(Error::TooLarge("a dynamic index over too many scalars".into()));
            }
            for k in 1..count {
                for x in 0..old {
                    out.push(out[x] + k * stride);
                }
            }
        }
        Ok(out)
    }

    pub(crate) fn load_select(
        &mut self,
        p: &Pointer,
        n: u32,
        mut read: impl FnMut(&mut Self, u32) -> Result<Value>,
    ) -> Result<usize> {
        let list = self.candidates(p)?;
        let index = p.addr.expect("a dynamic step has an index");
        let mut got = Vec::with_capacity(n as usize);
        for k in 0..n {
            let mut r = read(self, p.offset + list[0] + k)?;
            self.check_size()?;
            for &c in &list[1..] {
                let v = read(self, p.offset + c + k)?;
                let c = self.e.u32(c);
                let hit = self.e.bin(Bin::IEq, index, c);
                r = self.e.select(hit, v, r);
            }
            got.push(r);
        }
        let start = self.pool.len();
        self.pool.extend(got);
        Ok(start)
    }

    /// Stores `len` values of the pool.
    pub(crate) fn store(&mut self, p: &Pointer, start: usize, len: usize, at: usize) -> Result<()> {
        let n = self.scalars_of(p, at)?;
        if n as usize != len {
            return Err(invalid(at, "a store of another type"));
        }
        if p.class == StorageClass::UniformConstant {
            return Err(invalid(at, "a store to read-only storage"));
        }
        match p.base {
            Base::Slots(first) => {
                for k in 0..n {
                    let v = self.e.res(self.pool[start + k as usize]);
                    let s = first + p.offset + k;
                    if self.e.ty(v) != self.scalar_ty(s) {
                        return Err(invalid(at, "a store of another type"));
                    }
                    if p.n_steps == 0 {
                        self.write_scalar(s, v);
                        continue;
                    }
                    self.check_size()?;
                    let index = p.addr.expect("a dynamic step has an index");
                    for c in self.candidates(p)? {
                        let old = self.read_scalar(s + c)?;
                        let c_v = self.e.u32(c);
                        let hit = self.e.bin(Bin::IEq, index, c_v);
                        let v = self.e.select(hit, v, old);
                        self.write_scalar(s + c, v);
                    }
                }
                Ok(())
            }
            Base::Values(_) | Base::Resource(_) | Base::Heap(_) | Base::Texel(_) | Base::Query => {
                Err(invalid(at, "a store to read-only storage"))
            }
            // All that is stored is what is there.
            Base::Data(_) => Ok(()),
            Base::Scratch | Base::Stage => {
                let mut list = Vec::new();
                let kinds = self.scratch_layout(p, &mut list)?;
                // Loads from here may be of another type.
                let seen = self.pool.len();
                for (k, s) in kinds.into_iter().enumerate() {
                    let v = self.e.observed(s, self.pool[start + k]);
                    self.pool.push(v);
                }
                self.store_runs(p, &list, seen, true, at)
            }
            _ => {
                let mut list = std::mem::take(&mut self.tmp);
                list.clear();
                self.layout(p, p.ty, p.offset, &mut list)?;
                let r = self.store_runs(p, &list, start, false, at);
                self.tmp = list;
                r
            }
        }
    }

    pub(crate) fn store_runs(
        &mut self,
        p: &Pointer,
        list: &[(u32, Sk)],
        start: usize,
        scratch: bool,
        at: usize,
    ) -> Result<()> {
        let place = self.place(p);
        let flags = MemFlags { read_only: false, ..p.flags };
        let mut k = start;
        let mut rest = list;
        while !rest.is_empty() {
            let n = if scratch { scratch_run(rest) } else { run(rest) };
            let (offset, s) = rest[0];
            let mut values = Vec::with_capacity(n);
            for _ in 0..n {
                let v = self.e.res(self.pool[k]);
                let v = if self.e.ty(v) == Ty::Bool { self.e.un(Un::BoolToInt, v) } else { v };
                let kind = list[k - start].1;
                let v = if kind.is_small() { self.e.small_bits(kind, v) } else { self.e.observed(kind, v) };
                if self.e.ty(v) != s.mem().ty() {
                    return Err(invalid(at, "a store of another type"));
                }
                values.push(v);
                k += 1;
            }
            let offset = if scratch { offset.wrapping_mul(unit(p)) } else { offset };
            let values = values.into();
            self.e.push(Inst::Store { place, offset, mem: s.mem(), values, flags }, Ty::Void);
            rest = &rest[n..];
        }
        Ok(())
    }
}

/// What a place counts for each word of memory that scalars lie in as in scratch.
fn unit(p: &Pointer) -> u32 {
    if p.base == Base::Scratch { 1 } else { 4 }
}

/// Scalars at the front of `list` that one instruction can take.
fn run(list: &[(u32, Sk)]) -> usize {
    let (first, s) = list[0];
    let mem = s.mem();
    let mut n = 1;
    while n < 16
        && let Some(&(o, t)) = list.get(n)
        && t.mem() == mem
        && o == first.wrapping_add(n as u32 * mem.bytes())
    {
        n += 1;
    }
    n
}
/// The same with offsets in words.
fn scratch_run(list: &[(u32, Sk)]) -> usize {
    let (first, s) = list[0];
    let mut n = 1;
    while n < 16
        && let Some(&(o, t)) = list.get(n)
        && t == s
        && o == first + n as u32 * s.words()
    {
        n += 1;
    }
    n
}
fn runs(mut list: &[(u32, Sk)]) -> impl Iterator<Item = &[(u32, Sk)]> {
    std::iter::from_fn(move || {
        if list.is_empty() {
            return None;
        }
        let (a, b) = list.split_at(run(list));
        list = b;
        Some(a)
    })
}
fn scratch_runs(mut list: &[(u32, Sk)]) -> impl Iterator<Item = &[(u32, Sk)]> {
    std::iter::from_fn(move || {
        if list.is_empty() {
            return None;
        }
        let (a, b) = list.split_at(scratch_run(list));
        list = b;
        Some(a)
    })
}

//! Building composites and taking them apart.

use super::Builder;
use super::types::TypeClass;
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

impl<'m> Builder<'m> {
    pub(crate) fn composite(&mut self, i: &Code) -> Result<bool> {
        match i.op {
            Op::CompositeConstruct => self.construct(i)?,
            Op::CompositeConstructReplicateEXT => {
                let (ty, _) = self.result(i)?;
                let n = self.parts_of(ty).ok_or_else(|| i.bad("the type is no composite"))?;
                let (_, from, len) = self.value(i.word(3)?, i.at)?;
                if len as u64 * n as u64 != self.types.get(ty).scalars as u64 {
                    return Err(i.bad("the constituent has another type"));
                }
                let start = self.pool.len();
                for _ in 0..if len == 0 { 0 } else { n } {
                    self.pool.extend_from_within(from..from + len);
                }
                self.define_checked(i, start)?;
            }
            Op::CompositeExtract => {
                let (ty, id) = self.result(i)?;
                let (base, from, len) = self.value(i.word(3)?, i.at)?;
                let (part, first) = self.walk(i, base, i.rest(4))?;
                let n = self.types.get(part).scalars as usize;
                if !self.types.same_shape(part, ty) || first as usize + n > len {
                    return Err(i.bad("the result type is not the part's"));
                }
                let start = self.pool.len();
                let at = from + first as usize;
                self.pool.extend_from_within(at..at + n);
                if part == ty {
                    self.define(id, ty, start);
                } else {
                    self.define_checked(i, start)?;
                }
            }
            Op::CompositeInsert => {
                let (ty, id) = self.result(i)?;
                let (object, from, n) = self.value(i.word(3)?, i.at)?;
                let (base, whole, len) = self.value(i.word(4)?, i.at)?;
                let (part, first) = self.walk(i, base, i.rest(5))?;
                if !self.types.same_shape(part, object)
                    || self.types.get(part).scalars as usize != n
                    || !self.types.same_shape(base, ty)
                    || first as usize + n > len
                {
                    return Err(i.bad("the object is not of the part's type"));
                }
                let start = self.pool.len();
                self.pool.extend_from_within(whole..whole + len);
                for k in 0..n {
                    let v = self.pool[from + k];
                    let slot = start + first as usize + k;
                    if self.e.ty(v) != self.e.ty(self.pool[slot]) {
                        return Err(i.bad("the object is not of the part's type"));
                    }
                    self.pool[slot] = v;
                }
                self.define(id, ty, start);
            }
            Op::VectorShuffle => {
                let (_, a, na) = self.value(i.word(3)?, i.at)?;
                let (_, b, nb) = self.value(i.word(4)?, i.at)?;
                let start = self.pool.len();
                for &c in i.rest(5) {
                    let c = c as usize;
                    let v = if c < na {
                        self.pool[a + c]
                    } else if c < na + nb {
                        self.pool[b + c - na]
                    } else if c == 0xFFFF_FFFF {
                        let ty = if na > 0 { self.e.ty(self.pool[a]) } else { Ty::B32 };
                        self.e.constant(ty, 0)
                    } else {
                        return Err(i.bad("a component out of range"));
                    };
                    self.pool.push(v);
                }
                self.define_checked(i, start)?;
            }
            Op::VectorExtractDynamic => {
                let (base, from, len) = self.value(i.word(3)?, i.at)?;
                if !matches!(self.types.kind(base), TypeClass::Vector(..)) || len == 0 {
                    return Err(i.bad("not a vector"));
                }
                let index = self.int32(i.word(4)?, i.at)?;
                let mut v = self.pool[from];
                for k in 1..len {
                    let c = self.e.u32(k as u32);
                    let hit = self.e.bin(Bin::IEq, index, c);
                    v = self.e.select(hit, self.pool[from + k], v);
                }
                let start = self.pool.len();
                self.pool.push(v);
                self.define_checked(i, start)?;
            }
            Op::VectorInsertDynamic => {
                let (base, from, len) = self.value(i.word(3)?, i.at)?;
                if !matches!(self.types.kind(base), TypeClass::Vector(..)) {
                    return Err(i.bad("not a vector"));
                }
                let x = self.one(i.word(4)?, i.at)?;
                let index = self.int32(i.word(5)?, i.at)?;
                let start = self.pool.len();
                for k in 0..len {
                    let old = self.pool[from + k];
                    if self.e.ty(old) != self.e.ty(x) {
                        return Err(i.bad("the component has another type"));
                    }
                    let c = self.e.u32(k as u32);
                    let hit = self.e.bin(Bin::IEq, index, c);
                    let v = self.e.select(hit, x, old);
                    self.pool.push(v);
                }
                self.define_checked(i, start)?;
            }
            Op::CopyObject | Op::CopyLogical | Op::ExpectKHR => {
                let (ty, id) = self.result(i)?;
                let s = self.slot(i.word(3)?, i.at)?;
                if !self.types.same_shape(s.ty, ty) {
                    return Err(i.bad("the types differ"));
                }
                if matches!(self.types.kind(ty), TypeClass::Pointer(..))
                    != matches!(self.types.kind(s.ty), TypeClass::Pointer(..))
                {
                    return Err(i.bad("the types differ"));
                }
                self.ids[id as usize] = super::Slot { ty: if s.len == super::PTR { s.ty } else { ty }, ..s };
                if s.len == super::PTR {
                    self.keep_phi_pointer(id, i.at)?;
                } else {
                    let (start, len) = (s.start as usize, s.len as usize);
                    let new = self.pool.len();
                    self.pool.extend_from_within(start..start + len);
                    self.define_checked(i, new)?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Follows literal indices into a type: the part's type and first scalar.
    pub(crate) fn walk(&self, i: &Code, ty: u32, path: &[u32]) -> Result<(u32, u32)> {
        let (mut ty, mut at) = (ty, 0u32);
        for &k in path {
            let (part, first) = self.types.component(ty, k).ok_or_else(|| i.bad(format!("no part {k}")))?;
            ty = part;
            at = at.saturating_add(first);
        }
        Ok((ty, at))
    }

    fn construct(&mut self, i: &Code) -> Result<()> {
        let (ty, _) = self.result(i)?;
        let start = self.pool.len();
        let parts = i.rest(3);
        if self.is_filled(ty) {
            let (_, from, len) = self.value(i.word(3)?, i.at)?;
            if parts.len() != 1 || len != 1 {
                return Err(i.bad("a cooperative matrix is made of one element"));
            }
            for _ in 0..self.types.get(ty).scalars {
                self.pool.extend_from_within(from..from + 1);
            }
            return self.define_checked(i, start);
        }
        for (k, &c) in parts.iter().enumerate() {
            let (have, from, len) = self.value(c, i.at)?;
            // Vectors may be made from smaller vectors; everything else part by part.
            if !matches!(self.types.kind(ty), TypeClass::Vector(..)) {
                let (want, _) =
                    self.types.component(ty, k as u32).ok_or_else(|| i.bad("too many constituents"))?;
                if !self.types.same_shape(want, have) {
                    return Err(i.bad("a constituent of the wrong type"));
                }
            }
            self.pool.extend_from_within(from..from + len);
            self.check_size()?;
        }
        self.define_checked(i, start)
    }
}

//! Untyped pointers (SPV_KHR_untyped_pointers): addresses, of which each access says what is there.

use super::Builder;
use super::access::{Base, Pointer};
use super::types::{MAX_SCALARS, Sk, TypeClass};
use crate::options::{Error, Result};
use crate::spirv::*;

impl<'m> Builder<'m> {
    /// `p` as a pointer to `ty`. Error: it leads to no memory that has addresses.
    pub(crate) fn see_as(&mut self, p: &mut Pointer, ty: u32, at: usize) -> Result<()> {
        match p.base {
            Base::Buffer(_) | Base::Global | Base::Shared | Base::Push | Base::Heap(_) => {}
            Base::Resource(_) if !matches!(p.class, StorageClass::UniformConstant) => {}
            // Whatever a descriptor is taken for, what it is not it has none of.
            Base::Resource(_) if self.types.get(ty).handles => {}
            _ => return Err(invalid(at, format!("a pointer to {:?} is used without its type", p.class))),
        }
        p.ty = ty;
        (p.mat_stride, p.row_major, p.vec_stride) = (0, false, 0);
        self.resolve_buffer(p, at)
    }

    /// `p` where `ty` is accessed through it. Error: it leads to another type.
    pub(crate) fn accessed(&mut self, p: &mut Pointer, ty: u32, at: usize) -> Result<()> {
        if p.ty == 0 {
            // What an access chain ended in may have strides.
            let (mat_stride, row_major, vec_stride) = (p.mat_stride, p.row_major, p.vec_stride);
            self.see_as(p, ty, at)?;
            self.settle_buffer(p, at)?;
            match self.types.kind(ty) {
                TypeClass::Matrix(..) => (p.mat_stride, p.row_major) = (mat_stride, row_major),
                TypeClass::Vector(..) => p.vec_stride = vec_stride,
                _ => {}
            }
            return Ok(());
        }
        if !self.types.same_shape(p.ty, ty) {
            return Err(invalid(at, "the type is not the pointee's"));
        }
        Ok(())
    }

    /// A descriptor that was not indexed down to a block becomes its buffer, and what is no descriptor in a heap part of one.
    pub(super) fn settle_buffer(&mut self, p: &mut Pointer, at: usize) -> Result<()> {
        match p.base {
            Base::Resource(r) if !self.types.get(p.ty).handles => {
                let to = self.bound_buffer(r, p, at)?;
                *p = Pointer { flags: p.flags, offset: to.offset, ..Pointer::new(to.base, p.class, p.ty) };
            }
            Base::Heap(heap) if !self.types.get(p.ty).handles => *p = self.heap_bytes(heap, p),
            _ => {}
        }
        Ok(())
    }

    /// OpCopyMemorySized of a constant size.
    pub(crate) fn op_copy_memory_sized(&mut self, i: Code<'m>) -> Result<()> {
        let mut to = self.pointer(i.word(1)?, i.at)?;
        let mut from = self.pointer(i.word(2)?, i.at)?;
        let bytes = match self.try_const(i.word(3)?) {
            Some(n) if n <= 4 * MAX_SCALARS as u64 => n as u32,
            Some(n) => return Err(Error::TooLarge(format!("a copy of {n} bytes"))),
            None => return Err(unsupported("OpCopyMemorySized of a size that is no constant")),
        };
        // The greatest scalar that both addresses and the size are multiples of, as far as the operands tell.
        let aligned = |word: Option<u32>| {
            let mask = word? & MemoryAccess::ALIGNED.bits();
            (mask != 0).then(|| i.get(5)).flatten()
        };
        let align = aligned(i.get(4)).unwrap_or(bytes);
        let unit = if (bytes | align) % 4 == 0 {
            Sk::I32
        } else if (bytes | align) % 2 == 0 {
            Sk::I16
        } else {
            Sk::I8
        };
        for p in [&mut from, &mut to] {
            self.see_as(p, 0, i.at)?;
            self.settle_buffer(p, i.at)?;
        }
        if to.class == StorageClass::UniformConstant {
            return Err(i.bad("a store to read-only storage"));
        }
        self.work.spend((bytes / unit.mem().bytes()) as usize)?;
        let step = unit.mem().bytes();
        let at = |p: &Pointer| -> Vec<(u32, Sk)> {
            (0..bytes / step).map(|k| (p.offset.wrapping_add(k * step), unit)).collect()
        };
        let start = self.load_runs(&from, &at(&from));
        self.store_runs(&to, &at(&to), start, false, i.at)
    }
}

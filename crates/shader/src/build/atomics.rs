//! Atomic operations on memory and on texels.

use super::Builder;
use super::access::{Base, Pointer};
use super::types::{ImageType, Sk, TypeClass};
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

/// Memory semantics.
const ACQUIRE: u64 = 2;
const RELEASE: u64 = 4;
const ACQUIRE_RELEASE: u64 = 8;
const SEQUENTIALLY_CONSISTENT: u64 = 0x10;
const MAKE_AVAILABLE: u64 = 0x2000;
const MAKE_VISIBLE: u64 = 0x4000;
const SCOPE_QUEUE_FAMILY: u64 = 5;

/// A texel that OpImageTexelPointer points to.
pub(crate) struct Texel {
    pub desc: Value,
    pub image: ImageType,
    pub coords: Vec<Value>,
    pub sample: Option<Value>,
}

pub(crate) fn is_atomic(op: Op) -> bool {
    atomic_op(op).is_some() && op != Op::AtomicStore
}

fn atomic_op(op: Op) -> Option<AtomicOp> {
    Some(match op {
        Op::AtomicLoad => AtomicOp::Load,
        Op::AtomicStore => AtomicOp::Store,
        Op::AtomicExchange => AtomicOp::Exchange,
        Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => AtomicOp::CompareExchange,
        Op::AtomicIIncrement | Op::AtomicIAdd => AtomicOp::IAdd,
        Op::AtomicIDecrement | Op::AtomicISub => AtomicOp::ISub,
        Op::AtomicSMin => AtomicOp::SMin,
        Op::AtomicUMin => AtomicOp::UMin,
        Op::AtomicSMax => AtomicOp::SMax,
        Op::AtomicUMax => AtomicOp::UMax,
        Op::AtomicAnd => AtomicOp::And,
        Op::AtomicOr => AtomicOp::Or,
        Op::AtomicXor => AtomicOp::Xor,
        Op::AtomicFAddEXT => AtomicOp::FAdd,
        Op::AtomicFMinEXT => AtomicOp::FMin,
        Op::AtomicFMaxEXT => AtomicOp::FMax,
        _ => return None,
    })
}

impl<'m> Builder<'m> {
    pub(crate) fn atomic(&mut self, i: &Code) -> Result<bool> {
        if matches!(i.op, Op::ImageTexelPointer | Op::UntypedImageTexelPointerEXT) {
            self.texel_pointer(i)?;
            return Ok(true);
        }
        let Some(op) = atomic_op(i.op) else { return Ok(false) };
        let store = op == AtomicOp::Store;
        let mut p = self.pointer(i.word(if store { 1 } else { 3 })?, i.at)?;
        if p.ty == 0 {
            let ty = if store { self.value(i.word(4)?, i.at)?.0 } else { self.result(i)?.0 };
            match p.base {
                Base::Texel(k)
                    if Some(self.texels[k as usize].image.texel) == self.types.numeric(ty).map(|n| n.0) =>
                {
                    p.ty = ty;
                }
                _ => self.accessed(&mut p, ty, i.at)?,
            }
        }
        if p.class == StorageClass::UniformConstant {
            return Err(i.bad("an atomic on read-only storage"));
        }
        let Some((s, 1)) = self.types.numeric(p.ty) else { return Err(i.bad("the pointee is no scalar")) };
        let float = matches!(op, AtomicOp::FAdd | AtomicOp::FMin | AtomicOp::FMax);
        let plain = matches!(op, AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange);
        match s {
            _ if s.is_small() => return Err(unsupported(format!("{:?} on this type", i.op))),
            Sk::Bool | Sk::I8 | Sk::I16 => return Err(unsupported(format!("{:?} on this type", i.op))),
            _ if !plain && s.is_float() != float => return Err(i.bad("the pointee has the wrong type")),
            _ => {}
        }
        let ty = s.ty();
        let a = match i.op {
            Op::AtomicLoad => self.e.constant(ty, 0),
            Op::AtomicIIncrement | Op::AtomicIDecrement => self.e.constant(ty, 1),
            Op::AtomicStore => self.one_of(i.word(4)?, ty, i.at)?,
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => self.one_of(i.word(7)?, ty, i.at)?,
            _ => self.one_of(i.word(6)?, ty, i.at)?,
        };
        let b = match op {
            AtomicOp::CompareExchange => Some(self.one_of(i.word(8)?, ty, i.at)?),
            _ => None,
        };
        // What float arithmetic leaves in memory is for the atomic itself to see to.
        let a = if float { a } else { self.e.observed(s, a) };
        let result = if store { Ty::Void } else { ty };
        let order = self.order(i.word(if store { 2 } else { 4 })?, i.word(if store { 3 } else { 5 })?);
        let v = match p.base {
            Base::Texel(k) => {
                let t = &self.texels[k as usize];
                let texel = texel_type(&t.image, None);
                let mut data = vec![a];
                data.extend(b);
                let inst = ImageInst {
                    op: ImageOp::Atomic(op),
                    dim: dim_of(t.image.dim)?,
                    arrayed: t.image.arrayed,
                    multisampled: t.image.ms,
                    texel,
                    format: t.image.format,
                    image: t.desc,
                    sampler: None,
                    coords: t.coords.clone(),
                    dref: None,
                    lod: None,
                    bias: None,
                    grad: Vec::new(),
                    offsets: Vec::new(),
                    sample: t.sample,
                    min_lod: None,
                    component: 0,
                    half: false,
                    data,
                    sparse: false,
                };
                self.e.push_order(Inst::Image(Box::new(inst)), result, order)
            }
            Base::Buffer(_) | Base::Global | Base::Shared => {
                let place = self.place(&p);
                let inst = Inst::Atomic { place, offset: p.offset, mem: s.mem(), op, a, b };
                self.e.push_order(inst, result, order)
            }
            _ => return Err(i.bad(format!("an atomic on {:?}", p.class))),
        };
        if !store {
            self.define_list(i, &[v])?;
        }
        Ok(true)
    }

    /// What is ordered, by the ids of scope and memory semantics; unknown ones order all.
    pub(crate) fn order(&mut self, scope: u32, semantics: u32) -> Order {
        let all = ACQUIRE_RELEASE | MAKE_AVAILABLE | MAKE_VISIBLE;
        let semantics = self.try_const(semantics).unwrap_or(all);
        let both = semantics & (ACQUIRE_RELEASE | SEQUENTIALLY_CONSISTENT) != 0;
        let wide = self.is_wide(scope);
        Order {
            acquires: both || semantics & ACQUIRE != 0,
            releases: both || semantics & RELEASE != 0,
            wide,
            available: semantics & MAKE_AVAILABLE != 0,
            visible: semantics & MAKE_VISIBLE != 0,
        }
    }

    /// Whether a scope is the device or the queue family, or may be.
    fn is_wide(&mut self, scope: u32) -> bool {
        matches!(self.try_const(scope), None | Some(0 | 1 | SCOPE_QUEUE_FAMILY))
    }

    /// Notes at the accesses of an instruction, which begin with `first`, what its operands make available or visible to the device.
    pub(crate) fn shares(&mut self, i: &Code, first: usize) {
        // Where the mask is, how many words of it come before those scopes, and their bits.
        let texels = |at: usize| (at, 0xFF, ImageOperands::MAKE_TEXEL_AVAILABLE.bits());
        let words =
            |at: usize| (at, MemoryAccess::ALIGNED.bits(), MemoryAccess::MAKE_POINTER_AVAILABLE.bits());
        let (at, before, available) = match i.op {
            Op::Load => words(4),
            Op::Store | Op::CopyMemory => words(3),
            Op::CooperativeVectorLoadNV => words(5),
            Op::CooperativeVectorStoreNV => words(4),
            Op::ImageRead | Op::ImageSparseRead => texels(5),
            Op::ImageWrite => texels(4),
            _ => return,
        };
        let Some(mask) = i.get(at).filter(|m| m & (available | available << 1) != 0) else { return };
        // Gradients are two words, and of no access to a storage image.
        let mut next = at + 1 + (mask & before).count_ones() as usize;
        let mut order = Order { wide: true, ..Order::default() };
        for (bit, visible) in [(available, false), (available << 1, true)] {
            if mask & bit != 0 {
                let wide = i.get(next).is_some_and(|scope| self.is_wide(scope));
                *(if visible { &mut order.visible } else { &mut order.available }) = wide;
                next += 1;
            }
        }
        for v in &mut self.e.values[first..] {
            if matches!(v.inst, Inst::Load { .. } | Inst::Store { .. } | Inst::Image(_)) {
                v.flags.order = order;
            }
        }
    }

    fn texel_pointer(&mut self, i: &Code) -> Result<()> {
        let (ty, id) = self.result(i)?;
        let TypeClass::Pointer(class, pointee) = self.types.kind(ty) else {
            return Err(i.bad("the result type is no pointer"));
        };
        // Without types, the image's stands before the pointer to it, and the texel's is for the atomic to say.
        let untyped = i.op == Op::UntypedImageTexelPointerEXT;
        let at = 3 + untyped as usize;
        let pointee = if untyped { 0 } else { self.types.of(pointee, i.at)? };
        let mut p = self.pointer(i.word(at)?, i.at)?;
        if untyped {
            let as_type = self.types.of(i.word(3)?, i.at)?;
            self.accessed(&mut p, as_type, i.at)?;
        }
        let TypeClass::Image(image) = self.types.kind(p.ty) else {
            return Err(i.bad("not a pointer to an image"));
        };
        let start = self.load(&p, i.at)?;
        let desc = self.pool[start];
        let coords = self.coordinates(i, at + 1, storage_coords(&image))?;
        let sample = if image.ms { Some(self.int32(i.word(at + 2)?, i.at)?) } else { None };
        self.texels.push(Texel { desc, image, coords, sample });
        let k = self.texels.len() as u32 - 1;
        self.define_pointer(id, ty, Pointer::new(Base::Texel(k), class, pointee));
        Ok(())
    }
}

/// Dimensionality TileImageDataEXT.
const TILE_IMAGE: u32 = 4173;

pub(crate) fn dim_of(dim: u32) -> Result<crate::ir::Dim> {
    use crate::ir::Dim as D;
    Ok(match dim {
        0 => D::D1,
        1 | 4 => D::D2,
        2 => D::D3,
        3 => D::Cube,
        5 => D::Buffer,
        6 | TILE_IMAGE => D::SubpassData,
        _ => return Err(unsupported(format!("images of dimensionality {dim}"))),
    })
}

/// Integer coordinates of a texel: cubes have (x, y, face + 6 · layer).
pub(crate) fn storage_coords(t: &ImageType) -> u32 {
    match t.dim {
        0 => 1 + t.arrayed as u32,
        5 => 1,
        1 | 4 => 2 + t.arrayed as u32,
        6 => 2,
        _ => 3,
    }
}

/// Register form of texels; `extend`: Some(signed) where the image operands say.
pub(crate) fn texel_type(t: &ImageType, extend: Option<bool>) -> TexelType {
    match (t.texel, extend.unwrap_or(t.signed)) {
        (Sk::I64, true) => TexelType::S64,
        (Sk::I64, false) => TexelType::U64,
        (s, _) if s.is_float() => TexelType::F32,
        (_, true) => TexelType::S32,
        (_, false) => TexelType::U32,
    }
}

//! Types: what each scalarises to, and how it lies in memory.

use super::Builder;
use super::cooperative::Cooperative;
use super::tensor_layout::Addressing;
use crate::ir::{Mem, Ty};
use crate::options::{DESCRIPTOR_BYTES, Error, Result};
use crate::spirv::*;
use crate::vectors::MAX_COMPONENTS;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// A scalar as the front end sees it; registers know only widths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sk {
    Bool,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
    /// The formats of `small`: f32 in a register.
    Bf16,
    E5m2,
    E4m3,
}

impl Sk {
    pub fn ty(self) -> Ty {
        match self {
            Sk::Bool => Ty::Bool,
            Sk::I64 | Sk::F64 => Ty::B64,
            _ => Ty::B32,
        }
    }
    pub fn mem(self) -> Mem {
        match self {
            Sk::I8 | Sk::E5m2 | Sk::E4m3 => Mem::U8,
            Sk::I16 | Sk::Bf16 => Mem::U16,
            Sk::F16 => Mem::F16,
            Sk::I64 | Sk::F64 => Mem::B64,
            _ => Mem::B32,
        }
    }
    pub fn bits(self) -> u32 {
        self.mem().bytes() * 8
    }
    pub fn is_float(self) -> bool {
        matches!(self, Sk::F16 | Sk::F32 | Sk::F64) || self.is_small()
    }
    /// A float that memory has in another form than registers, and that has no arithmetic.
    pub fn is_small(self) -> bool {
        matches!(self, Sk::Bf16 | Sk::E5m2 | Sk::E4m3)
    }
    /// 32-bit words in scratch memory.
    pub fn words(self) -> u32 {
        if self.ty() == Ty::B64 { 2 } else { 1 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ImageType {
    pub texel: Sk,
    pub signed: bool,
    pub dim: u32,
    pub arrayed: bool,
    pub ms: bool,
    pub format: u32,
    /// Sampled of OpTypeImage: 1 with samplers, 2 without.
    pub sampled: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TypeClass {
    Void,
    Scalar(Sk, bool),
    Vector(u32, u32),
    Matrix(u32, u32),
    /// Of a subgroup's invocations, each of which has so many elements ([`super::cooperative`]); index of its shape.
    Cooperative(u32, u32),
    /// A tensor layout or view ([`super::tensor_layout`]).
    Addressing(Addressing),
    Array(u32, u32),
    Runtime(u32),
    /// First member and count within [`Types::members`].
    Struct(u32, u32),
    /// Class and id of the pointee's type (which may come later); 0: of an untyped pointer.
    Pointer(StorageClass, u32),
    Image(ImageType),
    Sampler,
    /// A buffer's descriptor in a heap.
    Buffer,
    SampledImage(u32),
    /// Its elements' type and dimensions.
    Tensor(u32, u32),
    AccelerationStructure,
    RayQuery,
    HitObject,
    Function,
    Other,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Type {
    pub kind: TypeClass,
    pub id: u32,
    /// Scalars when flattened; `u32::MAX` when unbounded.
    pub scalars: u32,
    /// Words in scratch memory, likewise.
    pub words: u32,
    depth: u8,
    /// Types that a walk over all parts meets, parts without scalars not gone into.
    pub nodes: u32,
    /// Bytes by Offset and ArrayStride decorations.
    pub explicit: u32,
    /// Bytes and alignment in our own layout (workgroup memory).
    pub size: u32,
    pub align: u32,
    /// ArrayStride, 0 when absent.
    pub stride: u32,
    /// There are addresses of descriptors in it.
    pub handles: bool,
}

impl Type {
    fn new(kind: TypeClass, id: u32) -> Type {
        Type {
            kind,
            id,
            scalars: 0,
            words: 0,
            depth: 0,
            nodes: 1,
            explicit: 0,
            size: 0,
            align: 1,
            stride: 0,
            handles: false,
        }
    }
    pub fn is_composite(&self) -> bool {
        matches!(self.kind, TypeClass::Array(..) | TypeClass::Struct(..))
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub ty: u32,
    pub scalar: u32,
    pub word: u32,
    pub own_offset: u32,
    /// Offset decoration.
    pub offset: Option<u32>,
    pub mat_stride: u32,
    pub row_major: bool,
    pub volatile: bool,
    pub non_writable: bool,
}

#[derive(Default)]
pub(crate) struct Types {
    /// Index 0 is nobody's.
    pub list: Vec<Type>,
    pub members: Vec<Member>,
    pub(super) cooperative: Vec<Cooperative>,
    /// Subgroups of a workgroup, once a type has asked.
    pub(super) subgroups: Option<u32>,
    by_id: Vec<u32>,
    /// Of pairs of types that were compared: whether they flatten to the same registers.
    alike: RefCell<FxHashMap<(u32, u32), bool>>,
}

const BFLOAT16: u32 = FPEncoding::BFloat16KHR as u32;
const FLOAT8_E4M3: u32 = FPEncoding::Float8E4M3EXT as u32;
const FLOAT8_E5M2: u32 = FPEncoding::Float8E5M2EXT as u32;

/// Nesting of composites.
const MAX_DEPTH: u8 = 100;
/// Scalars of one value.
pub(crate) const MAX_SCALARS: u32 = 1 << 16;
/// Parts of one value, those without scalars and what is around others counted too.
const MAX_NODES: u32 = 1 << 20;

fn up(x: u32, align: u32) -> u32 {
    x.saturating_add(align - 1) & !(align - 1)
}

impl Types {
    pub fn new(ids: usize) -> Types {
        let void = Type::new(TypeClass::Other, 0);
        Types {
            list: vec![void],
            members: Vec::new(),
            cooperative: Vec::new(),
            subgroups: None,
            by_id: vec![0; ids],
            alike: Default::default(),
        }
    }
    #[inline]
    pub fn get(&self, ix: u32) -> &Type {
        &self.list[ix as usize]
    }
    #[inline]
    pub fn kind(&self, ix: u32) -> TypeClass {
        self.list[ix as usize].kind
    }
    /// Index of the type with this id.
    #[inline]
    pub fn of(&self, id: u32, at: usize) -> Result<u32> {
        match self.by_id.get(id as usize) {
            Some(&ix) if ix != 0 => Ok(ix),
            _ => Err(invalid(at, format!("id {id} is not a type"))),
        }
    }
    /// Scalar kind and component count of a scalar or vector.
    #[inline]
    pub fn numeric(&self, ix: u32) -> Option<(Sk, u32)> {
        match self.kind(ix) {
            TypeClass::Scalar(s, _) => Some((s, 1)),
            TypeClass::Vector(e, n) => match self.kind(e) {
                TypeClass::Scalar(s, _) => Some((s, n)),
                _ => None,
            },
            TypeClass::Cooperative(e, _) => match self.kind(e) {
                TypeClass::Scalar(s, _) => Some((s, self.get(ix).scalars)),
                _ => None,
            },
            _ => None,
        }
    }
    pub fn signed(&self, ix: u32) -> bool {
        match self.kind(ix) {
            TypeClass::Scalar(_, s) => s,
            TypeClass::Vector(e, _) | TypeClass::Cooperative(e, _) => self.signed(e),
            _ => false,
        }
    }
    /// Whether the two flatten to the same registers.
    pub fn same_shape(&self, a: u32, b: u32) -> bool {
        if a == b {
            return true;
        }
        let n = self.get(a).scalars;
        if n != self.get(b).scalars || n > MAX_SCALARS {
            return n == self.get(b).scalars && self.kind(a) == self.kind(b);
        }
        *self.alike.borrow_mut().entry((a, b)).or_insert_with(|| {
            let (mut x, mut y) = (Vec::new(), Vec::new());
            self.flatten(a, &mut x).is_ok() && self.flatten(b, &mut y).is_ok() && x == y
        })
    }
    pub fn member(&self, ix: u32, i: u32) -> Option<Member> {
        match self.kind(ix) {
            TypeClass::Struct(first, n) if i < n => Some(self.members[(first + i) as usize]),
            _ => None,
        }
    }
    /// The shape of a cooperative matrix, and the type of its elements.
    pub fn cooperative(&self, ix: u32) -> Option<(Cooperative, u32)> {
        match self.kind(ix) {
            TypeClass::Cooperative(e, shape) => Some((self.cooperative[shape as usize], e)),
            _ => None,
        }
    }
    /// Type of component `i` (checked), and its first scalar.
    pub fn component(&self, ix: u32, i: u32) -> Option<(u32, u32)> {
        match self.kind(ix) {
            TypeClass::Vector(e, n) | TypeClass::Matrix(e, n) | TypeClass::Array(e, n) if i < n => {
                Some((e, i.saturating_mul(self.get(e).scalars)))
            }
            TypeClass::Cooperative(e, _) if i < self.get(ix).scalars => Some((e, i)),
            TypeClass::Struct(..) => self.member(ix, i).map(|m| (m.ty, m.scalar)),
            _ => None,
        }
    }
    /// Of a type whose parts have been entered: whether there are addresses of descriptors in it.
    fn handles(&self, t: &Type) -> bool {
        let has = |ix: u32| self.get(ix).handles;
        match t.kind {
            TypeClass::Array(e, _) | TypeClass::Runtime(e) => has(e),
            TypeClass::Struct(first, n) => (first..first + n).any(|k| has(self.members[k as usize].ty)),
            TypeClass::Pointer(class, _) => {
                matches!(class, StorageClass::StorageBuffer | StorageClass::Uniform)
            }
            TypeClass::Image(_) | TypeClass::Sampler | TypeClass::SampledImage(_) | TypeClass::Tensor(..) => {
                true
            }
            _ => false,
        }
    }
    /// A descriptor's type, which has a size and a place in a heap.
    pub fn in_heaps(&self, ix: u32) -> bool {
        matches!(
            self.kind(ix),
            TypeClass::Image(_)
                | TypeClass::Sampler
                | TypeClass::Buffer
                | TypeClass::AccelerationStructure
                | TypeClass::Tensor(..)
        )
    }
    /// Appends the kinds of all scalars.
    pub fn flatten(&self, ix: u32, out: &mut Vec<Sk>) -> Result<()> {
        let t = self.get(ix);
        if t.scalars > MAX_SCALARS {
            return Err(Error::TooLarge(format!("a value of type id {} has {} scalars", t.id, t.scalars)));
        }
        if t.nodes > MAX_NODES {
            return Err(Error::TooLarge(format!("a value of type id {} has {} parts", t.id, t.nodes)));
        }
        match t.kind {
            _ if t.scalars == 0 && t.is_composite() => {}
            TypeClass::Scalar(s, _) => out.push(s),
            TypeClass::Vector(e, n) | TypeClass::Matrix(e, n) | TypeClass::Array(e, n) => {
                let at = out.len();
                if n > 0 {
                    self.flatten(e, out)?;
                }
                let one = out.len() - at;
                for _ in 1..n {
                    out.extend_from_within(at..at + one);
                }
            }
            TypeClass::Cooperative(e, _) => {
                if let TypeClass::Scalar(s, _) = self.kind(e) {
                    out.extend((0..t.scalars).map(|_| s));
                }
            }
            TypeClass::Addressing(_) => out.extend((0..t.scalars).map(|_| Sk::I32)),
            TypeClass::Struct(first, n) => {
                for k in first..first + n {
                    self.flatten(self.members[k as usize].ty, out)?;
                }
            }
            TypeClass::Pointer(class, _) => out.extend_from_slice(pointer_scalars(class)),
            TypeClass::Image(_) | TypeClass::Sampler | TypeClass::AccelerationStructure => out.push(Sk::I64),
            TypeClass::SampledImage(_) | TypeClass::Tensor(..) => out.extend([Sk::I64, Sk::I64]),
            _ => {}
        }
        Ok(())
    }
}

/// What a pointer is when it is a value; empty: it cannot be one.
pub(crate) fn pointer_scalars(class: StorageClass) -> &'static [Sk] {
    match class {
        StorageClass::StorageBuffer | StorageClass::Uniform => &[Sk::I64, Sk::I32],
        StorageClass::Workgroup | StorageClass::PushConstant => &[Sk::I32],
        StorageClass::PhysicalStorageBuffer => &[Sk::I64],
        _ => &[],
    }
}

impl Builder<'_> {
    /// Index of the type with this id, which may be a pointer that is only declared later (OpTypeForwardPointer).
    fn type_ahead(&mut self, id: u32, at: usize) -> Result<u32> {
        if self.types.by_id.get(id as usize) == Some(&0)
            && let Some(place) = self.m.def_at(id)
        {
            let pointer = self.m.inst(place);
            if pointer.op == Op::TypePointer {
                self.declare_type(pointer)?;
            }
        }
        self.types.of(id, at)
    }

    /// Enters the type that `i` declares.
    pub(crate) fn declare_type(&mut self, i: Code) -> Result<()> {
        let id = i.word(1)?;
        let at = i.at;
        if i.op == Op::TypePointer && self.types.by_id.get(id as usize).is_some_and(|&ix| ix != 0) {
            return Ok(()); // a type before needed it
        }
        let mut t = Type::new(TypeClass::Other, id);
        match i.op {
            Op::TypeVoid => t.kind = TypeClass::Void,
            Op::TypeBool => scalar(&mut t, Sk::Bool, false),
            Op::TypeInt => {
                let s = match i.word(2)? {
                    8 => Sk::I8,
                    16 => Sk::I16,
                    32 => Sk::I32,
                    64 => Sk::I64,
                    w => return Err(unsupported(format!("{w}-bit integers"))),
                };
                scalar(&mut t, s, i.word(3)? != 0);
            }
            Op::TypeFloat => {
                let s = match (i.word(2)?, i.get(3)) {
                    (16, None) => Sk::F16,
                    (32, None) => Sk::F32,
                    (64, None) => Sk::F64,
                    (16, Some(BFLOAT16)) => Sk::Bf16,
                    (8, Some(FLOAT8_E4M3)) => Sk::E4m3,
                    (8, Some(FLOAT8_E5M2)) => Sk::E5m2,
                    (w, None) => return Err(unsupported(format!("{w}-bit floats"))),
                    (w, Some(e)) => return Err(unsupported(format!("{w}-bit floats of encoding {e}"))),
                };
                // Denormals of small formats are made by way of the CPU's.
                self.keeps_denormals |= s.is_small();
                scalar(&mut t, s, true);
            }
            Op::TypeVector => {
                let (e, n) = (self.types.of(i.word(2)?, at)?, i.word(3)?);
                let long = self.m.capabilities.contains(&(Capability::LongVectorEXT as u32));
                let counts = if long { 1..=MAX_COMPONENTS } else { 2..=16 };
                if !matches!(self.types.kind(e), TypeClass::Scalar(..)) || !counts.contains(&n) {
                    return Err(i.bad("bad component type or count"));
                }
                t.kind = TypeClass::Vector(e, n);
                self.repeat(&mut t, e, n)?;
            }
            Op::TypeMatrix => {
                let (e, n) = (self.types.of(i.word(2)?, at)?, i.word(3)?);
                match self.types.numeric(e) {
                    Some((s, k))
                        if s.is_float() && !s.is_small() && (2..=4).contains(&k) && (2..=4).contains(&n) => {}
                    _ => return Err(i.bad("bad column type or count")),
                }
                t.kind = TypeClass::Matrix(e, n);
                self.repeat(&mut t, e, n)?;
            }
            Op::TypeTensorLayoutNV | Op::TypeTensorViewNV => self.addressing_type(&i, &mut t)?,
            Op::TypeCooperativeMatrixKHR => self.cooperative_type(&i, &mut t)?,
            Op::TypeVectorIdEXT => self.cooperative_vector_type(&i, &mut t)?,
            Op::TypeTensorARM => self.tensor_type(&i, &mut t)?,
            Op::TypeArray => {
                let e = self.type_ahead(i.word(2)?, at)?;
                let n = self.const_u32(i.word(3)?, at)?;
                if n == 0 {
                    return Err(i.bad("an array of no elements"));
                }
                t.kind = TypeClass::Array(e, n);
                t.stride = self.stride_of(id, at)?;
                self.repeat(&mut t, e, n)?;
            }
            Op::TypeRuntimeArray => {
                let e = self.type_ahead(i.word(2)?, at)?;
                t.kind = TypeClass::Runtime(e);
                t.stride = self.stride_of(id, at)?;
                self.repeat(&mut t, e, u32::MAX)?;
                t.scalars = u32::MAX;
                t.words = u32::MAX;
            }
            Op::TypeStruct => self.declare_struct(i, &mut t)?,
            Op::TypePointer => {
                let class = StorageClass::from_u32(i.word(2)?).ok_or_else(|| i.bad("bad storage class"))?;
                self.pointer_type(&mut t, class, i.word(3)?);
            }
            Op::TypeUntypedPointerKHR => {
                let class = StorageClass::from_u32(i.word(2)?).ok_or_else(|| i.bad("bad storage class"))?;
                self.pointer_type(&mut t, class, 0);
            }
            Op::TypeImage => {
                let texel = self.types.of(i.word(2)?, at)?;
                let (s, signed) = match self.types.kind(texel) {
                    TypeClass::Scalar(s, signed) => (s, signed),
                    TypeClass::Void => (Sk::F32, false),
                    _ => return Err(i.bad("bad sampled type")),
                };
                t.kind = TypeClass::Image(ImageType {
                    texel: s,
                    signed,
                    dim: i.word(3)?,
                    arrayed: i.word(5)? == 1,
                    ms: i.word(6)? == 1,
                    format: i.word(8)?,
                    sampled: i.word(7)?,
                });
                t.scalars = 1;
                t.words = 2;
                descriptor(&mut t);
            }
            Op::TypeSampler => {
                t.kind = TypeClass::Sampler;
                t.scalars = 1;
                t.words = 2;
                descriptor(&mut t);
            }
            Op::TypeSampledImage => {
                let image = self.types.of(i.word(2)?, at)?;
                if !matches!(self.types.kind(image), TypeClass::Image(_)) {
                    return Err(i.bad("not an image type"));
                }
                t.kind = TypeClass::SampledImage(image);
                t.scalars = 2;
                t.words = 4;
            }
            Op::TypeBufferEXT => {
                t.kind = TypeClass::Buffer;
                descriptor(&mut t);
            }
            Op::TypeAccelerationStructureKHR => {
                scalar(&mut t, Sk::I64, false);
                t.kind = TypeClass::AccelerationStructure;
                descriptor(&mut t);
            }
            Op::TypeRayQueryKHR => t.kind = TypeClass::RayQuery,
            Op::TypeHitObjectEXT => t.kind = TypeClass::HitObject,
            Op::TypeFunction => t.kind = TypeClass::Function,
            _ => {}
        }
        t.explicit = self.explicit_size(&t);
        t.handles = self.types.handles(&t);
        self.types.by_id[id as usize] = self.types.list.len() as u32;
        self.types.list.push(t);
        Ok(())
    }

    /// The stride that decorates an array; 0: none does.
    fn stride_of(&mut self, id: u32, at: usize) -> Result<u32> {
        match self.m.decoration(id, Decoration::ArrayStrideIdEXT) {
            Some(constant) => self.constant_ahead(constant, at),
            None => Ok(self.m.decoration(id, Decoration::ArrayStride).unwrap_or(0)),
        }
    }

    fn pointer_type(&self, t: &mut Type, class: StorageClass, pointee: u32) {
        t.kind = TypeClass::Pointer(class, pointee);
        t.stride = self.m.decoration(t.id, Decoration::ArrayStride).unwrap_or(0);
        let s = pointer_scalars(class);
        t.scalars = s.len() as u32;
        t.words = s.iter().map(|s| s.words()).sum();
        t.size = 8;
        t.align = 8;
    }

    pub(super) fn repeat(&mut self, t: &mut Type, elem: u32, n: u32) -> Result<()> {
        let e = *self.types.get(elem);
        if matches!(e.kind, TypeClass::Void | TypeClass::Function) {
            return Err(invalid(0, format!("type id {} has elements without a size", t.id)));
        }
        t.scalars = e.scalars.saturating_mul(n);
        t.words = e.words.saturating_mul(n);
        t.align = e.align;
        t.size = up(e.size, e.align).saturating_mul(n);
        if t.scalars != 0 {
            t.nodes = e.nodes.saturating_mul(n).saturating_add(1);
        }
        t.depth = e.depth + 1;
        if t.depth > MAX_DEPTH {
            return Err(Error::TooLarge("types nested too deeply".into()));
        }
        Ok(())
    }

    fn declare_struct(&mut self, i: Code, t: &mut Type) -> Result<()> {
        let first = self.types.members.len() as u32;
        let ids = i.rest(2);
        let decos = self.m.decorations(t.id);
        let mut next_deco = 0;
        for (k, &id) in ids.iter().enumerate() {
            let ty = self.type_ahead(id, i.at)?;
            let e = *self.types.get(ty);
            if matches!(e.kind, TypeClass::Void | TypeClass::Function) {
                return Err(i.bad("a member without a size"));
            }
            let own_offset = up(t.size, e.align);
            let mut m = Member {
                ty,
                scalar: t.scalars,
                word: t.words,
                own_offset,
                offset: None,
                mat_stride: 0,
                row_major: false,
                volatile: false,
                non_writable: false,
            };
            // Decorations come sorted by member.
            while decos.get(next_deco).is_some_and(|d| d.member < k as u32) {
                next_deco += 1;
            }
            while let Some(d) = decos.get(next_deco).filter(|d| d.member == k as u32) {
                match Decoration::from_u32(d.kind) {
                    Some(Decoration::Offset) => m.offset = Some(d.value),
                    Some(Decoration::OffsetIdEXT) => m.offset = Some(self.constant_ahead(d.value, i.at)?),
                    Some(Decoration::MatrixStride) => m.mat_stride = d.value,
                    Some(Decoration::RowMajor) => m.row_major = true,
                    Some(Decoration::Volatile) => m.volatile = true,
                    Some(Decoration::NonWritable) => m.non_writable = true,
                    _ => {}
                }
                next_deco += 1;
            }
            self.types.members.push(m);
            t.scalars = t.scalars.saturating_add(e.scalars);
            t.words = t.words.saturating_add(e.words);
            t.size = own_offset.saturating_add(e.size);
            t.align = t.align.max(e.align);
            t.depth = t.depth.max(e.depth + 1);
            t.nodes = t.nodes.saturating_add(e.nodes);
        }
        if t.scalars == 0 {
            t.nodes = 1;
        }
        if t.depth > MAX_DEPTH {
            return Err(Error::TooLarge("types nested too deeply".into()));
        }
        t.size = up(t.size, t.align);
        t.kind = TypeClass::Struct(first, ids.len() as u32);
        Ok(())
    }
}

/// What a descriptor takes in a heap.
fn descriptor(t: &mut Type) {
    t.size = DESCRIPTOR_BYTES;
    t.align = DESCRIPTOR_BYTES;
}

fn scalar(t: &mut Type, s: Sk, signed: bool) {
    t.kind = TypeClass::Scalar(s, signed);
    t.scalars = 1;
    t.words = s.words();
    t.size = s.mem().bytes();
    t.align = t.size;
}

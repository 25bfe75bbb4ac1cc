//! Instructions on images: sampling, texels, queries.

use super::{AtomicOp, Ty, Value};

/// SPIR-V's Dim, as far as Vulkan has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Dim {
    D1,
    D2,
    D3,
    Cube,
    Buffer,
    SubpassData,
}

/// What is done to an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum ImageOp {
    /// Filtered sample; lod by `lod` (explicit), `grad`, or implicit (+ `bias`) from quad derivatives.
    Sample,
    /// Four texels of one component.
    Gather,
    /// Unfiltered texel read from a sampled image (texelFetch) with `lod` or `sample`.
    Fetch,
    /// Storage image (or subpass input) read and write.
    Read,
    Write,
    /// Atomic on a texel.
    Atomic(AtomicOp),
    /// Results: width, height, depth or layers (as the dimensionality has them).
    QuerySize,
    QueryLevels,
    QuerySamples,
    /// Results: (mip level accessed, computed lod).
    QueryLod,
    /// Sanitised shaders: tells the machine what an operation with these operands is about to do. Its data: the numbers of the workgroup and of
    /// the invocation as probes have them ([`super::ProbeOp`]), and the texel or a hash of it. Result: not 0 where nothing has written
    /// the texels.
    Check(Checked),
}

/// What a [`ImageOp::Check`] is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Checked {
    Sample,
    Gather,
    Fetch,
    Read,
    Write,
    Atomic,
}

impl Checked {
    pub const ALL: [Checked; 6] =
        [Checked::Sample, Checked::Gather, Checked::Fetch, Checked::Read, Checked::Write, Checked::Atomic];

    /// What an operation is checked as, if it touches texels.
    pub fn of(op: ImageOp) -> Option<Checked> {
        match op {
            ImageOp::Sample => Some(Checked::Sample),
            ImageOp::Gather => Some(Checked::Gather),
            ImageOp::Fetch => Some(Checked::Fetch),
            ImageOp::Read => Some(Checked::Read),
            ImageOp::Write => Some(Checked::Write),
            ImageOp::Atomic(_) => Some(Checked::Atomic),
            _ => None,
        }
    }
}

/// What numbers a texel gives or takes in registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum TexelType {
    F32,
    S32,
    U32,
    /// Registers are B64.
    S64,
    U64,
}

impl TexelType {
    /// Type of the register that holds a component.
    pub fn ty(self) -> Ty {
        if matches!(self, TexelType::S64 | TexelType::U64) { Ty::B64 } else { Ty::B32 }
    }
}

/// An [`super::Inst::Image`] with its operands; those the op does not have are `None` or empty.
#[derive(Clone, PartialEq, Hash, Debug)]
pub struct ImageInst {
    pub op: ImageOp,
    pub dim: Dim,
    pub arrayed: bool,
    pub multisampled: bool,
    pub texel: TexelType,
    /// SPIR-V ImageFormat operand (0 = Unknown) of a storage image.
    pub format: u32,
    /// Descriptor address of the image (B64) and of the sampler.
    pub image: Value,
    pub sampler: Option<Value>,
    /// Coordinates, layer last when arrayed: f32 for Sample/Gather/QueryLod, i32 else. Projection is done.
    pub coords: Vec<Value>,
    pub dref: Option<Value>,
    pub lod: Option<Value>,
    pub bias: Option<Value>,
    /// d/dx then d/dy, one value per dimension each.
    pub grad: Vec<Value>,
    /// Texel offsets, one per dimension; for Gather with four offsets: x0 y0 x1 y1 …
    pub offsets: Vec<Value>,
    pub sample: Option<Value>,
    pub min_lod: Option<Value>,
    /// Gather's component; a check's site.
    pub component: u32,
    /// Texel to write (4), or the atomic's value (and comparator second).
    pub data: Vec<Value>,
    /// A residency code is the result after the texel (always 0, resident: for Sparse opcodes).
    pub sparse: bool,
    /// Nobody needs more than 16 bits of the result: the texture unit answers with half of the beats.
    pub half: bool,
}

impl ImageInst {
    /// Results, the residency code not counted.
    pub fn results(&self) -> u32 {
        match self.op {
            ImageOp::Write => 0,
            ImageOp::Atomic(_) | ImageOp::QueryLevels | ImageOp::QuerySamples | ImageOp::Check(_) => 1,
            ImageOp::Sample if self.dref.is_some() => 1,
            ImageOp::Sample | ImageOp::Gather | ImageOp::Fetch | ImageOp::Read => 4,
            ImageOp::QueryLod => 2,
            ImageOp::QuerySize => {
                let size = match self.dim {
                    Dim::D1 | Dim::Buffer => 1,
                    Dim::D2 | Dim::Cube | Dim::SubpassData => 2,
                    Dim::D3 => 3,
                };
                size + self.arrayed as u32
            }
        }
    }
    /// The results are no tuple: there is none, or one value, of an atomic one of the texel's width.
    pub fn is_single(&self) -> bool {
        matches!(self.op, ImageOp::Write | ImageOp::Atomic(_) | ImageOp::Check(_))
    }
    /// Parts of the result tuple, the residency code counted; 0 where it is none.
    pub fn parts(&self) -> u32 {
        if self.is_single() { 0 } else { self.results() + self.sparse as u32 }
    }
    /// Type of result `k` of a tuple.
    pub fn part_ty(&self, k: u32) -> Ty {
        let texels = matches!(self.op, ImageOp::Sample | ImageOp::Gather | ImageOp::Fetch | ImageOp::Read);
        if texels && k < self.results() { self.texel.ty() } else { Ty::B32 }
    }
}

//! The IR: scalar SSA over a structured control-flow graph, one function a shader (calls are inlined).
//!
//! Types are widths only. How SPIR-V types map on them:
//! - `bool` → [`Ty::Bool`] (one bit a lane).
//! - 32-bit int and float → [`Ty::B32`]; 64-bit → [`Ty::B64`].
//! - 8- and 16-bit ints → [`Ty::B32`], always kept **zero-extended**; signed operations extend first
//!   ([`Un::SExt8`], [`Un::SExt16`]) and results are cut back ([`Un::ZExt8`], [`Un::ZExt16`]).
//! - 16-bit floats → [`Ty::B32`] holding the *f32 of the same value*; each arithmetic result is rounded with
//!   [`Un::F16Round`]. Memory and bit casts convert ([`Un::F16ToBits`], [`Un::BitsToF16`]).
//! - Pointers: Buffer = (descriptor address `B64`, byte offset `B32`); Global = address `B64`; Shared = byte offset
//!   `B32`; Scratch = word index `B32` (one 32-bit word per scalar of 32 bits or less, two for 64).
//! - Samplers, images → the descriptor's address (`B64`).
//!
//! Block order is significant: forward edges go to later blocks; a loop's blocks are contiguous from its header to
//! the block with the back edge; a construct's merge block follows all of the construct. There is one back edge a
//! loop. Divergent code reconverges at merge blocks by that order alone.
//! The translation ends every loop with a block that only jumps to the header, and keeps a live loop's merge block
//! even when nothing branches to it.

use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block(pub u32);

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}
impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ty {
    /// No result.
    Void,
    Bool,
    B32,
    B64,
    /// Several results; taken apart with [`Inst::Part`].
    Tuple,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    Vertex,
    Fragment,
    Compute,
}

/// An enum of ops, and the list of them in order.
macro_rules! ops {
    ($(#[$meta:meta])* $name:ident { $($(#[$note:meta])* $op:ident,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name {
            $($(#[$note])* $op,)*
        }
        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$op,)*];
            /// The op of a number, as in `op as u16`.
            pub fn from_number(n: u16) -> Option<$name> {
                Self::ALL.get(n as usize).copied()
            }
        }
    };
}

ops! {
    /// One operand. The operand's `Ty` picks the 32- or 64-bit form; floats of 64 bits are f64.
    #[repr(u16)]
    Un {
        Mov,
        FNeg,
        FAbs,
        FSqrt,
        FRsqrt,
        FRcp,
        FFloor,
        FCeil,
        FTrunc,
        FRoundEven,
        FFract,
        /// Zeros stay; NaN → +0.
        FSign,
        FSaturate,
        // GLSL.std.450, f32 only
        FExp2,
        FLog2,
        FExp,
        FLog,
        FSin,
        FCos,
        FTan,
        FAsin,
        FAcos,
        FAtan,
        FSinh,
        FCosh,
        FTanh,
        FAsinh,
        FAcosh,
        FAtanh,
        /// f32 → f32 of the nearest f16 value (round to nearest even, overflow to infinity, denormals kept).
        F16Round,
        /// As [`Un::F16Round`], rounding toward zero.
        F16RoundRtz,
        /// OpQuantizeToF16: as [`Un::F16Round`], results that are f16 denormals become zero of the same sign.
        F16Quantize,
        /// f32 that is an f16 value → its 16 bits, zero-extended; and back.
        F16ToBits,
        BitsToF16,
        /// Denormal f32 or f64 → zero of the same sign.
        FlushDenorm,
        /// Any NaN → the quiet NaN of sign 0 without payload; all else stays. Where floats become bits (see `pass::nan`).
        FCanon,
        /// FClass tests, result Bool.
        FIsNan,
        FIsInf,
        /// frexp: significand (float) and exponent (i32, result B32 for either width).
        FrexpSig,
        FrexpExp,
        INeg,
        IAbs,
        ISign,
        Not,
        BitReverse,
        BitCount,
        /// Index of the lowest set bit / highest bit (unsigned) / highest bit that differs from the sign; −1 for none.
        FindLsb,
        FindUMsb,
        FindSMsb,
        SExt8,
        SExt16,
        ZExt8,
        ZExt16,
        // conversions; names say from and to. Float to int: truncation, saturating, NaN → 0.
        F32ToS32,
        F32ToU32,
        S32ToF32,
        U32ToF32,
        F32ToF64,
        F64ToF32,
        F64ToS32,
        F64ToU32,
        S32ToF64,
        U32ToF64,
        F32ToS64,
        F32ToU64,
        S64ToF32,
        U64ToF32,
        F64ToS64,
        F64ToU64,
        S64ToF64,
        U64ToF64,
        /// f64 → the f32 of the nearest f16 value, rounded once.
        F64ToF16,
        S32ToS64,
        U32ToU64,
        /// B64 → its low / high word.
        Lo32,
        Hi32,
        // packing, GLSL.std.450 (one component each is enough; translation combines them)
        /// f32 → 8/16 bit norm code in the low bits.
        PackUnorm8,
        PackSnorm8,
        PackUnorm16,
        PackSnorm16,
        UnpackUnorm8,
        UnpackSnorm8,
        UnpackUnorm16,
        UnpackSnorm16,
        /// Bool → 0 or 1 (B32).
        BoolToInt,
        /// B32 → Bool, true if not zero.
        IntToBool,
        BNot,
    }
}

ops! {
    #[repr(u16)]
    Bin {
        FAdd,
        FSub,
        FMul,
        /// The three with a NaN result as [`Un::FCanon`] leaves it; 32 bits only.
        FAddCanon,
        FSubCanon,
        FMulCanon,
        /// a·a + b·b and a·a − b·b, each product rounded; 32 bits only. [`crate::pass::squares`] makes them.
        FSumSquares,
        FDiffSquares,
        FDiv,
        /// GLSL.std.450 FMin/FMax are the N forms: a NaN operand gives the other one; −0 < +0.
        FMin,
        FMax,
        FRem,
        FMod,
        FPow,
        FAtan2,
        FStep,
        /// ldexp(float, i32 exponent as B32).
        FLdexp,
        // comparisons, result Bool; ordered (NaN → false) except FNe (NaN → true)
        FEq,
        FNe,
        FLt,
        FLe,
        IAdd,
        ISub,
        IMul,
        UMulHi,
        SMulHi,
        /// Division by zero gives 0 (quotient) or the dividend (remainder): never a trap. MIN / −1 = MIN, rem 0.
        UDiv,
        URem,
        SDiv,
        SRem,
        SMod,
        And,
        Or,
        Xor,
        /// Shift counts (B32 for either width) are taken modulo the width.
        Shl,
        LShr,
        AShr,
        SMin,
        SMax,
        UMin,
        UMax,
        IEq,
        INe,
        SLt,
        SLe,
        ULt,
        ULe,
        /// Bit-field mask: ((count ≥ 32 ? ~0 : (1 << count) − 1) << (offset & 31)); operands (count, offset).
        BitMask,
        /// (low, high) words → B64.
        Pack64,
        BAnd,
        BOr,
        BXor,
    }
}

ops! {
    #[repr(u16)]
    Tri {
        /// Fused: one rounding.
        Fma,
        /// With a NaN result as [`Un::FCanon`] leaves it; 32 bits only.
        FmaCanon,
        /// (cond: Bool, a, b); also on Bool operands.
        Select,
        /// (m & a) | (!m & b)
        BitSelect,
        /// Bit field extract: (value, offset, count); count 0 → 0.
        UBfe,
        SBfe,
        /// GLSL mix: x·(1−a)+y·a evaluated as fma(a, y, fma(−a, x, x)); (x, y, a)
        FMix,
        /// min(max(x, lo), hi) with the N forms; (x, lo, hi)
        FClamp,
    }
}

/// Values the engine supplies per invocation. Vectors by component.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Input {
    LocalId(u8),
    WorkgroupId(u8),
    NumWorkgroups(u8),
    /// Lane within the warp of 16 (SubgroupLocalInvocationId).
    SubgroupLane,
    /// Warp within the workgroup (SubgroupId), and the workgroup's warps.
    SubgroupId,
    NumSubgroups,
    /// Bytes to add to shared offsets: the lane's workgroup when several share a wave.
    SharedBase,
    /// Index within the local workgroup (LocalInvocationIndex).
    LocalIndex,
    DeviceIndex,
    // graphics, later: kept here so that nothing else has to change shape
    VertexIndex,
    InstanceIndex,
    BaseVertex,
    BaseInstance,
    DrawIndex,
    ViewIndex,
    /// Interface variable component: a slot of [`crate::interface`].
    Varying(u16),
    FragCoord(u8),
    FrontFacing,
    PointCoord(u8),
    SampleId,
    SampleMask,
    HelperInvocation,
    PrimitiveId,
    Layer,
    ViewportIndex,
    /// Where in the pixel this sample lies, 0 to 1 (x, y).
    SamplePosition(u8),
    /// For interpolateAt…: a varying's plane by slot: the value at the pixel's centre (divided by w where the varying
    /// is perspective), and its change from one pixel to the next in x and in y.
    PlaneAt(u16),
    PlaneDx(u16),
    PlaneDy(u16),
    /// 1/w at the pixel's centre (0), its change a pixel in x (1) and y (2).
    InvW(u8),
    /// From the pixel's centre to where centroid inputs are evaluated (x, y).
    CentroidOffset(u8),
    /// From the pixel's centre to sample i: 2 · i + axis. Uniform.
    SampleOffset(u8),
}

/// The width and meaning of a scalar in memory. `F16` converts between the 16 bits and the f32 in the register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Mem {
    U8,
    U16,
    F16,
    B32,
    B64,
}

impl Mem {
    /// Bytes in memory.
    #[inline(always)]
    pub fn bytes(self) -> u32 {
        match self {
            Mem::U8 => 1,
            Mem::U16 | Mem::F16 => 2,
            Mem::B32 => 4,
            Mem::B64 => 8,
        }
    }
    pub fn ty(self) -> Ty {
        if self == Mem::B64 { Ty::B64 } else { Ty::B32 }
    }
}

/// Where a load, store or atomic goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// `desc`: descriptor address (B64); `addr`: byte offset (B32). Out of bounds: loads 0, stores nothing (§
    /// robustBufferAccess2).
    Buffer { desc: Value, addr: Value },
    /// `addr`: byte address (B64). Outside device memory: a device fault.
    Global { addr: Value },
    /// `addr`: byte offset (B32), without [`Input::SharedBase`] (lowering adds it).
    Shared { addr: Value },
    /// `addr`: word index (B32) into the invocation's private words.
    Scratch { addr: Value },
    /// `addr`: byte offset (B32) in the push constant block.
    Push { addr: Value },
}

ops! {
    #[repr(u8)]
    AtomicOp {
        Load,
        Store,
        Exchange,
        CompareExchange,
        IAdd,
        ISub,
        SMin,
        UMin,
        SMax,
        UMax,
        And,
        Or,
        Xor,
        FAdd,
        FMin,
        FMax,
    }
}

ops! {
    #[repr(u8)]
    ReduceOp {
        IAdd,
        IMul,
        SMin,
        UMin,
        SMax,
        UMax,
        And,
        Or,
        Xor,
        FAdd,
        FMul,
        FMin,
        FMax,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Scan {
    Reduce,
    Inclusive,
    Exclusive,
}

ops! {
    /// Lane patterns within a quad of four consecutive lanes.
    #[repr(u8)]
    Quad {
        Broadcast0,
        Broadcast1,
        Broadcast2,
        Broadcast3,
        /// lane ^ 1, lane ^ 2, lane ^ 3
        SwapX,
        SwapY,
        SwapDiagonal,
        /// Lane & 2 (left of the row), lane | 1 (right), lane & 1 (top), lane | 2 (bottom): for fine derivatives.
        Left,
        Right,
        Top,
        Bottom,
    }
}

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

#[derive(Clone, PartialEq, Debug)]
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
    /// Gather's component.
    pub component: u32,
    /// Texel to write (4), or the atomic's value (and comparator second).
    pub data: Vec<Value>,
    /// A residency code is the result after the texel (always 0, resident: for Sparse opcodes).
    pub sparse: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemFlags {
    /// Nothing in this dispatch writes it (UBO, push constants, NonWritable without aliases): may be moved.
    pub read_only: bool,
    pub volatile: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Inst {
    /// Bits; Bool is 0 or 1. `ty` says the width.
    Const(u64),
    Input(Input),
    Un(Un, Value),
    Bin(Bin, Value, Value),
    Tri(Tri, Value, Value, Value),
    /// One entry a predecessor. First in the block.
    Phi(Vec<(Block, Value)>),
    /// Result `i` of a tuple.
    Part(Value, u32),
    /// Address of a descriptor (B64). `index`: array element (B32), checked at run time against the table's size.
    /// `texels`: of a texel buffer.
    Descriptor {
        set: u32,
        binding: u32,
        index: Value,
        texels: bool,
    },
    /// `n` consecutive scalars (1 to 16) of type `mem`. Result: `mem.ty()` when n is 1, else Tuple.
    Load {
        place: Place,
        offset: u32,
        mem: Mem,
        n: u8,
        flags: MemFlags,
    },
    Store {
        place: Place,
        offset: u32,
        mem: Mem,
        values: Vec<Value>,
        flags: MemFlags,
    },
    /// Old value. `b` is the comparator of CompareExchange. Float forms by `mem` (F16, B32, B64).
    Atomic {
        place: Place,
        offset: u32,
        mem: Mem,
        op: AtomicOp,
        a: Value,
        b: Option<Value>,
    },
    /// Bytes in the buffer (OpArrayLength): its descriptor's size (B32).
    BufferSize {
        desc: Value,
    },
    /// Reading operations and queries give a Tuple (its parts: [`ImageInst::parts`], the residency code last); an
    /// atomic one value of the texel's width; writes nothing. Coordinates of storage cubes are (x, y, face + 6 · layer).
    Image(Box<ImageInst>),
    // subgroup; all see only the active lanes
    /// Mask of active lanes whose Bool is true (B32, 16 bits).
    Ballot(Value),
    /// Value of the lowest active lane.
    First(Value),
    /// Value of lane `b` (taken modulo 16) of the warp; undefined if inactive.
    Shuffle(Value, Value),
    Reduce {
        op: ReduceOp,
        scan: Scan,
        cluster: u32,
        value: Value,
    },
    Quad(Quad, Value),
    /// Control barrier among the workgroup's invocations.
    Barrier,
    /// Orders memory within the workgroup or device; the engine runs lanes in order, so only caches would care.
    MemoryBarrier,
    /// OpReadClockKHR, B64.
    Clock,
    /// Fragment: the lane becomes a helper.
    Demote,
    /// Fragment: the lane is a helper now (Bool).
    IsHelper,
    /// Instrumented modules: a basic block of the application's begins here; its index. Counts what passes.
    Mark(u32),
    /// Interface output component: a slot of [`crate::interface`]. Only in the one block that ends the entry point.
    Output {
        slot: u16,
        value: Value,
    },
}

/// Flags of one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ValueFlags {
    /// NoContraction, or float controls that forbid rewriting.
    pub exact: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ValueData {
    pub inst: Inst,
    pub ty: Ty,
    pub flags: ValueFlags,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Term {
    Jump(Block),
    Branch {
        cond: Value,
        yes: Block,
        no: Block,
    },
    /// The invocation ends.
    Return,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Merge {
    #[default]
    None,
    /// This block heads a selection that reconverges at the block.
    Selection(Block),
    /// This block heads a loop; all iterations reconverge at `cont`, all exits at `merge`.
    Loop { merge: Block, cont: Block },
}

/// Where a block comes from in the application's SPIR-V, for counters per basic block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// Result ids of the OpFunction and of the OpLabel.
    pub function: u32,
    pub label: u32,
    /// Index into [`Shader::files`] and the line; 0 where no OpLine or DebugLine says.
    pub file: u32,
    pub line: u32,
}

#[derive(Clone, PartialEq, Debug)]
pub struct BlockData {
    pub insts: Vec<Value>,
    pub term: Term,
    pub merge: Merge,
    pub origin: Origin,
}

/// One entry point, inlined.
#[derive(Clone, PartialEq, Debug)]
pub struct Shader {
    pub stage: Stage,
    /// Vertex and fragment: what the declarations say. [`crate::lower`] keeps the varyings that are read and adds
    /// what the code does.
    pub interface: crate::interface::Interface,
    /// Compute: invocations per dimension after specialisation.
    pub workgroup: [u32; 3],
    /// Bytes of workgroup memory, and whether it must start as zero.
    pub shared_bytes: u32,
    pub zero_shared: bool,
    /// Private words (32 bits) an invocation.
    pub scratch_words: u32,
    pub values: Vec<ValueData>,
    /// `blocks[0]` is the entry; see the module's text on order.
    pub blocks: Vec<BlockData>,
    /// Names of source files for [`Origin::file`]; entry 0 is empty.
    pub files: Vec<String>,
    /// f32/f64/f16 operations may not be fused or reassociated anywhere (SignedZeroInfNanPreserve keeps signs).
    pub signed_zero_inf_nan: bool,
    /// Uses barriers, subgroup operations or quads: packing and lane order matter.
    pub uses_barrier: bool,
    pub uses_subgroups: bool,
    /// DerivativeGroupQuadsKHR: lanes are laid out in 2×2 quads of the workgroup.
    pub quad_derivatives: bool,
    /// Local size must be a multiple…: RequireFullSubgroups semantics are always met; kept for queries.
    pub bindings_used: Vec<(u32, u32)>,
    /// Fragment: slots of inputs, and function and label of the block that loads each first.
    pub varying_loads: Vec<(u16, (u32, u32))>,
}

impl Shader {
    pub fn data(&self, v: Value) -> &ValueData {
        &self.values[v.0 as usize]
    }
    pub fn ty(&self, v: Value) -> Ty {
        self.values[v.0 as usize].ty
    }
    pub fn block(&self, b: Block) -> &BlockData {
        &self.blocks[b.0 as usize]
    }
    /// The constant's bits, if `v` is one.
    pub fn as_const(&self, v: Value) -> Option<u64> {
        match self.data(v).inst {
            Inst::Const(c) => Some(c),
            _ => None,
        }
    }
}

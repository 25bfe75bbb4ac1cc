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

mod descriptor;
mod image;
mod input;
mod place;
mod probe;
mod ray;
mod readers;
mod stored;

use crate::notes::Notes;
use crate::work::Work;
use std::fmt;

pub use crate::isa::{AtomicOp, Bin, Product, Quad, ReduceOp, Scan, Tri, Un};
pub use descriptor::DescriptorSource;
pub use image::{Checked, Dim, ImageInst, ImageOp, TexelType};
pub use input::Input;
pub use place::{Mem, MemFlags, Place};
pub use probe::{Decides, Order, ProbeOp, Region, Site, Undefined, undefined_bits};
pub use ray::{Intersection, RayAttribute, RayOp, TraceOp, ray_input};
pub use readers::Readers;
pub use stored::Stored;

/// An instruction's result: an index into [`Shader::values`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);
/// An index into [`Shader::blocks`].
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

/// The width of a value; what it means is up to the op that reads it.
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

/// The stage that an entry point is of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Stage {
    Vertex,
    TessControl,
    TessEval,
    Geometry,
    Task,
    Mesh,
    Fragment,
    Compute,
    RayGen,
    Intersection,
    AnyHit,
    ClosestHit,
    Miss,
    Callable,
}

impl Stage {
    pub const ALL: [Stage; 14] = [
        Stage::Vertex,
        Stage::TessControl,
        Stage::TessEval,
        Stage::Geometry,
        Stage::Task,
        Stage::Mesh,
        Stage::Fragment,
        Stage::Compute,
        Stage::RayGen,
        Stage::Intersection,
        Stage::AnyHit,
        Stage::ClosestHit,
        Stage::Miss,
        Stage::Callable,
    ];
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Vertex => "vertex",
            Stage::TessControl => "tessellation control",
            Stage::TessEval => "tessellation evaluation",
            Stage::Geometry => "geometry",
            Stage::Task => "task",
            Stage::Mesh => "mesh",
            Stage::Fragment => "fragment",
            Stage::Compute => "compute",
            Stage::RayGen => "ray generation",
            Stage::Intersection => "intersection",
            Stage::AnyHit => "any-hit",
            Stage::ClosestHit => "closest-hit",
            Stage::Miss => "miss",
            Stage::Callable => "callable",
        }
    }
    /// What SPIR-V calls it.
    pub fn model(self) -> ::spirv::ExecutionModel {
        use ::spirv::ExecutionModel as Model;
        match self {
            Stage::Vertex => Model::Vertex,
            Stage::TessControl => Model::TessellationControl,
            Stage::TessEval => Model::TessellationEvaluation,
            Stage::Geometry => Model::Geometry,
            Stage::Task => Model::TaskEXT,
            Stage::Mesh => Model::MeshEXT,
            Stage::Fragment => Model::Fragment,
            Stage::Compute => Model::GLCompute,
            Stage::RayGen => Model::RayGenerationKHR,
            Stage::Intersection => Model::IntersectionKHR,
            Stage::AnyHit => Model::AnyHitKHR,
            Stage::ClosestHit => Model::ClosestHitKHR,
            Stage::Miss => Model::MissKHR,
            Stage::Callable => Model::CallableKHR,
        }
    }
    /// Its outputs are plain ones of a vertex.
    pub fn makes_vertices(self) -> bool {
        matches!(self, Stage::Vertex | Stage::TessEval | Stage::Geometry)
    }
    /// Its invocations come in workgroups.
    pub fn has_workgroups(self) -> bool {
        matches!(self, Stage::Compute | Stage::Task | Stage::Mesh)
    }
    /// Of a ray tracing pipeline.
    pub fn is_ray_tracing(self) -> bool {
        use Stage::*;
        matches!(self, RayGen | Intersection | AnyHit | ClosestHit | Miss | Callable)
    }
    pub fn is_tessellation(self) -> bool {
        matches!(self, Stage::TessControl | Stage::TessEval)
    }
}

/// One instruction. Its operands dominate it; phis' operands the ends of their predecessors.
#[derive(Clone, PartialEq, Hash, Debug)]
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
    /// Address of a descriptor (B64). The source says what `index` means; it is a B32, except for [`DescriptorSource::Address`].
    /// `texels`: of a texel buffer.
    Descriptor {
        source: DescriptorSource,
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
        values: Stored,
        flags: MemFlags,
    },
    /// Sixteen scalars, each `stride` bytes (B32) after the last: rows of a matrix of the warp. Result: a Tuple. It costs what as many
    /// loads cost.
    LoadRows {
        place: Place,
        offset: u32,
        mem: Mem,
        stride: Value,
        flags: MemFlags,
    },
    StoreRows {
        place: Place,
        offset: u32,
        mem: Mem,
        stride: Value,
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
    /// Where the buffer begins: its descriptor's address (B64).
    BufferAddress {
        desc: Value,
    },
    /// Reading operations and queries give a Tuple (its parts: [`ImageInst::parts`], the residency code last); an
    /// atomic one value of the texel's width; writes nothing. Coordinates of storage cubes are (x, y, face + 6 · layer).
    Image(Box<ImageInst>),
    /// The address of the acceleration structure that a descriptor names (B64).
    Structure {
        desc: Value,
    },
    /// Works on the ray query of number `query` (B32). Results are a Tuple where there are several.
    Ray {
        op: RayOp,
        query: Value,
        args: Vec<Value>,
    },
    /// Asks the ray tracing pipeline that runs the shader. The last two operands are constants: the first private word of the data that
    /// goes with it, and how many there are.
    Trace {
        op: TraceOp,
        args: Vec<Value>,
    },
    /// Sanitised shaders: tells the machine what the lanes do at a site, an index into [`Shader::sites`]. Operands: those of
    /// [`ProbeOp::operands`]; before them that of the site's [`Region`] which is a B64, if it has one.
    Probe {
        op: ProbeOp,
        site: u32,
        args: Vec<Value>,
    },
    /// Debugged shaders: tells the machine what an instruction has done, an index into [`Shader::notes`]. Operands: the scalars of its
    /// result; when the shader is lowered, words, after one that is not 0 in warps of which it is to be told.
    Note {
        note: u32,
        args: Vec<Value>,
    },
    // subgroup; all see only the active lanes
    /// Mask of active lanes whose Bool is true (B32, 16 bits).
    Ballot(Value),
    /// Value of the lowest active lane.
    First(Value),
    /// Value of lane `b` (taken modulo 16) of the warp; 0 if inactive, unless all lanes of the wave have the same.
    Shuffle(Value, Value),
    Reduce {
        op: ReduceOp,
        scan: Scan,
        cluster: u32,
        value: Value,
    },
    /// The product of two matrices of the warp, added to a third. Each is 16 × 16; its row r is in value r, column c in lane c. First the
    /// rows of the left one, then the right one's, then the third's. Result: a Tuple of 16 rows.
    Product {
        kind: Product,
        rows: Vec<Value>,
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
    /// Instrumented modules: that block goes on, after a call in it that was inlined.
    Resume(u32),
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
    /// RelaxedPrecision: the modelled GPU computes it with 16 bits. Its value is that of 32 bits.
    pub relaxed: bool,
    /// Of atomics and memory barriers.
    pub order: Order,
}

/// An instruction with the type of its result.
#[derive(Clone, PartialEq, Debug)]
pub struct ValueData {
    pub inst: Inst,
    pub ty: Ty,
    pub flags: ValueFlags,
}

/// How a block ends.
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

impl Term {
    pub fn each_successor(&self, mut f: impl FnMut(Block)) {
        match *self {
            Term::Jump(b) => f(b),
            Term::Branch { yes, no, .. } => {
                f(yes);
                f(no);
            }
            Term::Return => {}
        }
    }
}

/// What construct a block heads (OpSelectionMerge, OpLoopMerge).
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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Origin {
    /// Result ids of the OpFunction and of the OpLabel.
    pub function: u32,
    pub label: u32,
    /// Index into [`Shader::files`] and the line; 0 where no OpLine or DebugLine says.
    pub file: u32,
    pub line: u32,
}

/// A basic block: phis first, then the rest in order.
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
    /// Bytes of workgroup memory, which starts as zero.
    pub shared_bytes: u32,
    /// Something initialises variables of workgroup memory, which is 0 anyway.
    pub shared_is_initialized: bool,
    /// Private words (32 bits) an invocation.
    pub scratch_words: u32,
    /// Of these, those from here to there are variables that nothing initialises: they are 0 when an invocation begins.
    pub zeroed: [u32; 2],
    /// Ray queries of an invocation.
    pub queries: u32,
    pub values: Vec<ValueData>,
    /// `blocks[0]` is the entry; see the module's text on order.
    pub blocks: Vec<BlockData>,
    /// Names of source files for [`Origin::file`]; entry 0 is empty.
    pub files: Vec<String>,
    /// f32/f64/f16 operations may not be fused or reassociated anywhere (SignedZeroInfNanPreserve keeps signs).
    pub signed_zero_inf_nan: bool,
    /// Float controls say what becomes of denormals, or how results are rounded, or an operation is made of some that need
    /// them: the CPU is to keep them.
    pub keeps_denormals: bool,
    /// DerivativeGroupQuadsKHR: lanes are laid out in 2×2 quads of the workgroup.
    pub quad_derivatives: bool,
    /// Fragment: slots of inputs, and function and label of the block that loads each first.
    pub varying_loads: Vec<(u16, (u32, u32))>,
    /// Where values come from, by the first value of each stretch, ascending: blocks hold code of several of the application's after
    /// calls, and of several lines. Nowhere ([`Origin`]'s default): where their block does.
    pub origins: Vec<(u32, Origin)>,
    /// Descriptors that are part of the pipeline, in the host's form for those in memory (embedded samplers).
    pub embedded: Vec<[u64; 4]>,
    /// Of a sanitised shader.
    pub sites: Vec<Site>,
    /// Of a debugged shader.
    pub notes: Notes,
    /// Words that are only read, as buffers ([`DescriptorSource::Data`]).
    pub data: Vec<Vec<u32>>,
    /// What compiling it has taken so far.
    pub work: Work,
}

impl Shader {
    /// A compute shader of one invocation, to which blocks are to be added.
    pub fn empty() -> Shader {
        Shader {
            stage: Stage::Compute,
            interface: Default::default(),
            workgroup: [1; 3],
            shared_bytes: 0,
            shared_is_initialized: false,
            scratch_words: 0,
            zeroed: [0; 2],
            queries: 0,
            values: vec![],
            blocks: vec![],
            files: vec![String::new()],
            signed_zero_inf_nan: false,
            keeps_denormals: false,
            quad_derivatives: false,
            varying_loads: vec![],
            origins: vec![],
            embedded: vec![],
            sites: vec![],
            notes: Notes::default(),
            data: vec![],
            work: Work::default(),
        }
    }
    /// What [`Shader::origins`] say of a value. `stretch` is where the last one was that was asked for: values mostly come in their order.
    pub fn origin(&self, v: Value, stretch: &mut usize) -> Origin {
        let all = &self.origins;
        let holds = |k: usize| {
            all.get(k).is_some_and(|o| o.0 <= v.0) && all.get(k + 1).is_none_or(|next| v.0 < next.0)
        };
        if !holds(*stretch) {
            *stretch = all.partition_point(|o| o.0 <= v.0).wrapping_sub(1);
        }
        all.get(*stretch).map_or(Origin::default(), |o| o.1)
    }
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

//! What the stages between vertices and rasterisation hand to each other beside plain outputs: memory that holds several
//! vertices' scalars, primitives that a shader emits, and outputs that transform feedback captures.
//!
//! A *cell* is a 32-bit word of an invocation's private words (geometry) or of its patch's memory (tessellation); scalars lie
//! in it as they do in registers of the IR, those of 64 bits in two, low word first.

/// Where one scalar of an input or output variable lies, of each vertex of the primitive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cell {
    /// [`crate::interface`]'s; of 64-bit scalars each half has a cell of its own.
    pub slot: u16,
    /// 8, 16 or 32: how many bits of the word an integer has; the rest is zero.
    pub bits: u8,
    /// Of vertex 0, and from one vertex to the next.
    pub word: u32,
    pub stride: u32,
    /// Vertices; 1 for what belongs to the patch.
    pub count: u32,
}

impl Cell {
    /// One past the last word.
    pub fn end(&self) -> u32 {
        self.word.saturating_add(self.stride.saturating_mul(self.count.max(1) - 1)).saturating_add(1)
    }
    /// A word of the slot as the cell holds it.
    #[inline(always)]
    pub fn fit(&self, word: u32) -> u32 {
        if self.bits >= 32 { word } else { word & ((1 << self.bits) - 1) }
    }
}

/// An output scalar that transform feedback writes (§ Transform Feedback).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Capture {
    pub slot: u16,
    pub buffer: u8,
    pub stream: u8,
    /// Bytes from the vertex's begin in the buffer.
    pub offset: u32,
    /// Bytes: 1, 2 or 4; a 64-bit scalar is two captures.
    pub bytes: u8,
    /// A float of 16 bits, which its slot holds as one of 32.
    pub half: bool,
}

/// Transform feedback of a program that is the last before rasterisation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Feedback {
    pub captures: Vec<Capture>,
    /// Bytes of a vertex by buffer; 0: nothing is captured to it.
    pub strides: [u32; 4],
    /// Stream of each buffer.
    pub streams: [u8; 4],
}

/// Buffers of transform feedback, and vertex streams.
pub const FEEDBACK_BUFFERS: usize = 4;

/// Vertices of an arrayed input, and of a patch: maxTessellationPatchSize.
pub const MAX_PATCH_VERTICES: u32 = 64;

/// What a geometry shader emits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Emitted {
    #[default]
    Points,
    LineStrip,
    TriangleStrip,
}

/// One output scalar of a vertex that a geometry shader emits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EmittedScalar {
    pub slot: u16,
    pub stream: u8,
}

/// A geometry shader's primitives. It leaves the number of vertices that it emitted in the output [`crate::interface::EMITTED`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Geometry {
    /// Vertices of an input primitive: 1, 2, 3, 4 (lines with adjacency) or 6.
    pub vertices: u32,
    pub emitted: Emitted,
    pub invocations: u32,
    /// Vertices an invocation may emit.
    pub max_vertices: u32,
    /// Scalars of an emitted vertex, a word each; after them is the word of [`STARTS`] and the stream.
    pub outputs: Vec<EmittedScalar>,
    /// First word of the first emitted vertex.
    pub ring: u32,
    /// Bit i: vertices are emitted to stream i.
    pub streams: u8,
}

/// Bit of an emitted vertex's last word: a strip begins with it. The stream stands from bit 1 on.
pub const STARTS: u32 = 1;

impl Geometry {
    /// Words of an emitted vertex.
    pub fn entry(&self) -> u32 {
        self.outputs.len() as u32 + 1
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Domain {
    Triangles,
    Quads,
    Isolines,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Spacing {
    Equal,
    FractionalEven,
    FractionalOdd,
}

/// A tessellation stage. Modes may stand in either of the two stages (§ Tessellation).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tessellation {
    pub domain: Option<Domain>,
    pub spacing: Option<Spacing>,
    pub clockwise: Option<bool>,
    pub point_mode: bool,
    /// Control points that the control stage makes; 0 in the evaluation stage, unless it says so.
    pub vertices: u32,
    /// Control stage: what it leaves for the evaluation stage.
    pub outputs: Vec<Cell>,
    /// Words of a patch's memory.
    pub words: u32,
}

/// A mesh or task shader's memory, at the begin of the workgroup's: three words, a payload from [`PAYLOAD`] on, then cells.
/// A task shader leaves in the words how many mesh workgroups it asks for, a mesh shader how many vertices and primitives it has.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Mesh {
    /// What primitives are; strips are none.
    pub emitted: Emitted,
    pub max_vertices: u32,
    pub max_primitives: u32,
    /// Outputs of a vertex, and of a primitive.
    pub vertices: Vec<Cell>,
    pub primitives: Vec<Cell>,
    /// Bytes of the payload.
    pub payload: u32,
}

impl Mesh {
    /// All cells, and whether each is a primitive's.
    pub fn cells(&self) -> impl Iterator<Item = (Cell, bool)> {
        self.vertices.iter().map(|c| (*c, false)).chain(self.primitives.iter().map(|c| (*c, true)))
    }
}

/// Bytes before the payload.
pub const PAYLOAD: u32 = 16;

/// Of a shader of a ray tracing pipeline: its first private words, which what runs the pipeline fills and reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RayIo {
    /// All of them: those that are not filled are zero when an invocation begins.
    pub words: u32,
    /// First word and number of words: of the incoming payload or callable data, and of the hit attribute.
    pub incoming: [u32; 2],
    pub attribute: [u32; 2],
}

/// Of the stages between vertices and rasterisation; nothing of any for others.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StageIo {
    /// What is in memory before it runs.
    pub inputs: Vec<Cell>,
    pub geometry: Option<Geometry>,
    pub tessellation: Option<Tessellation>,
    pub mesh: Option<Mesh>,
    pub ray: Option<RayIo>,
    pub feedback: Feedback,
}

//! What a pipeline tells the compiler, and what can go wrong.

use crate::ir::Stage;

/// Where the descriptor of a (set, binding) lives at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Index into the table of descriptor tables of a dispatch: 0..32 are the bound sets, [`DYNAMIC_TABLE`] holds
    /// the buffer descriptors with dynamic offsets already added.
    pub table: u32,
    /// Byte offset of array element 0 in that table; `stride` bytes an element.
    pub offset: u32,
    pub stride: u32,
    /// Array elements the layout declares (the upper bound for variable counts).
    pub count: u32,
    /// Set for an inline uniform block: the table's bytes at `offset` are the data itself (`count` bytes).
    pub inline_data: bool,
    /// The table lies in memory that the application writes (a descriptor buffer): descriptors have a form of the
    /// host's, which is asked what each one means when it is used.
    pub in_memory: bool,
}

impl Binding {
    /// `count` descriptors from byte `offset` on of a table of the host's.
    pub fn new(table: u32, offset: u32, count: u32) -> Binding {
        Binding { table, offset, stride: DESCRIPTOR_BYTES, count, inline_data: false, in_memory: false }
    }
}

pub const DYNAMIC_TABLE: u32 = 32;
/// Bytes of one descriptor: four 64-bit words.
/// Buffers: `[0]` host address, `[1]` size in bytes. Images: `[2]` address of the host's view object, `[3]` of its
/// sampler. Texel buffers: `[2]` that of the host's buffer view object, and [`TEXELS`]. All zero: the null descriptor.
pub const DESCRIPTOR_BYTES: u32 = 32;
/// The bit of a descriptor's word 2 that says whether it is a texel buffer's.
pub const TEXELS: u64 = 1;

/// Everything besides the module that decides what is compiled.
pub struct Options<'a> {
    pub stage: Stage,
    pub entry: &'a str,
    /// Specialisation: (SpecId, little-endian bytes zero-extended to 64 bits).
    pub spec: &'a [(u32, u64)],
    /// `None` for a binding that the pipeline layout lacks: an error when the shader uses it.
    pub binding: &'a dyn Fn(u32, u32) -> Option<Binding>,
    /// Bytes of push constants that may be read.
    pub push_bytes: u32,
    /// Forces the wave's lanes (64, 128 or 256); `None` chooses by register need.
    pub lanes: Option<u32>,
    /// What the machine says of itself to VK_ARM_shader_core_builtins.
    pub machine: Machine,
    /// A switch to look at the code as translated (for tests and for blame).
    pub optimise: bool,
}

/// Shader cores of the modelled GPU, and warps that one holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Machine {
    pub cores: u32,
    pub warps: u32,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine { cores: 1, warps: 1 }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The module breaks the SPIR-V specification (or uses ids, types or operands inconsistently).
    #[error("invalid SPIR-V at word {word}: {what}")]
    Invalid { word: usize, what: String },
    /// The module is valid as far as we looked, but needs something the device does not report.
    #[error("unsupported SPIR-V: {0}")]
    Unsupported(String),
    /// A bound of the engine: too many instructions after inlining, registers, nesting.
    #[error("shader too large: {0}")]
    TooLarge(String),
}

pub type Result<T> = std::result::Result<T, Error>;

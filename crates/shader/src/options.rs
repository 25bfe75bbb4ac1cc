//! What a pipeline tells the compiler, and what can go wrong.

use crate::ir::{Origin, Stage};
use crate::notes::Target;

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
    /// Elements of the layout's that consist of several descriptors (tensors do): how many. `count` has them all. (Programs name places
    /// of descriptors, where this is 1.)
    pub each: u32,
}

impl Binding {
    /// `count` descriptors from byte `offset` on of a table of the host's.
    pub fn new(table: u32, offset: u32, count: u32) -> Binding {
        Binding {
            table,
            offset,
            stride: DESCRIPTOR_BYTES,
            count,
            inline_data: false,
            in_memory: false,
            each: 1,
        }
    }
}

/// How a tensor's descriptors tell its shape: 32-bit words, elements of each dimension first, outermost first; then, from word
/// [`tensor::STRIDES`] on, bytes from one index of each dimension to the next.
pub mod tensor {
    /// Dimensions that a tensor may have.
    pub const MAX_RANK: u32 = 6;
    pub const STRIDES: u32 = MAX_RANK;
    pub const WORDS: usize = 2 * MAX_RANK as usize;
    /// Elements that one instruction may read or write.
    pub const MAX_ACCESS: u32 = 16;
    /// An offset that lies in no tensor: they have at most 2^31 bytes.
    pub const NOWHERE: u32 = 0xFFFF_FFF0;
}

pub const DYNAMIC_TABLE: u32 = 32;

/// The heaps of descriptors that a dispatch may have (SPV_EXT_descriptor_heap), whose bytes the application writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Heap {
    Samplers,
    Resources,
}

impl Heap {
    /// The tables that are the heaps' memory, in their order: after those of sets.
    pub const FIRST_TABLE: u32 = DYNAMIC_TABLE + 1;
}

/// Tables of a dispatch: of 32 sets, of dynamic buffers, of the two heaps.
pub const TABLES: usize = Heap::FIRST_TABLE as usize + 2;

/// What a variable with a set and a binding is, as mappings to heaps choose by it: the bits of VkSpirvResourceTypeFlagBitsEXT.
pub mod resource {
    pub const SAMPLER: u32 = 1;
    pub const SAMPLED_IMAGE: u32 = 2;
    pub const READ_ONLY_IMAGE: u32 = 4;
    pub const READ_WRITE_IMAGE: u32 = 8;
    pub const COMBINED: u32 = 16;
    pub const UNIFORM_BUFFER: u32 = 32;
    pub const READ_ONLY_BUFFER: u32 = 64;
    pub const READ_WRITE_BUFFER: u32 = 128;
    pub const ACCELERATION_STRUCTURE: u32 = 256;
    pub const TENSOR: u32 = 512;
}

/// Where a shader's binding lies when descriptors are in heaps (VkDescriptorSetAndBindingMappingEXT). Offsets and strides are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mapping {
    Descriptor {
        /// Of the resource; of a sampler that is alone, its own.
        at: HeapPlace,
        /// Of a combined image sampler's sampler.
        sampler: HeapPlace,
        /// The sampler instead, in the host's form for descriptors in memory.
        embedded: Option<[u64; 4]>,
        /// A combined image sampler's two indices are 20 and 12 bits of one.
        packed: bool,
    },
    /// Bytes of the resource heap, from `offset` + the push data's word at `push` on.
    HeapBytes { offset: u32, push: u32 },
    /// Push data from here on.
    PushData(u32),
    /// The address in push data at this offset.
    PushAddress(u32),
    /// The address that lies `offset` bytes after the one in push data at `push`.
    IndirectAddress { push: u32, offset: u32 },
}

/// A descriptor's place in its heap: `offset` + index · `index_stride` + element · `stride`, where the element counts from the first
/// binding of the mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct HeapPlace {
    pub offset: u32,
    pub stride: u32,
    pub index_stride: u32,
    pub index: HeapIndex,
}

/// The index of a [`HeapPlace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum HeapIndex {
    #[default]
    None,
    /// The word of push data at this offset.
    Push(u32),
    /// The word `offset` bytes after the address in push data at `push`.
    Indirect { push: u32, offset: u32 },
    /// As many words further on as the element says.
    IndirectArray { push: u32, offset: u32 },
}

/// Finds the mapping of a set and binding for a [`resource`], and the binding that it begins with.
pub type FindMapping<'a> = dyn Fn(u32, u32, u32) -> Option<(u32, Mapping)> + 'a;
/// Bytes of one descriptor: four 64-bit words.
/// Buffers: `[0]` host address, `[1]` size in bytes. Images: `[2]` address of the host's view object, `[3]` of its
/// sampler. Texel buffers: `[2]` that of the host's buffer view object, and [`TEXELS`]. All zero: the null descriptor.
pub const DESCRIPTOR_BYTES: u32 = 32;
/// The bit of a descriptor's word 2 that says whether it is a texel buffer's.
pub const TEXELS: u64 = 1;

/// Rows or columns that a cooperative matrix may have.
pub const MAX_MATRIX_SIDE: u32 = 512;
/// Invocations of a workgroup that may share one.
pub const MAX_MATRIX_WORKGROUP: u32 = 256;
/// Bytes of workgroup memory that such matrices may take: 1024 for each subgroup.
pub const MATRIX_SHARED_BYTES: u32 = MAX_MATRIX_WORKGROUP / 16 * 1024;

/// Everything besides the module that decides what is compiled.
pub struct Options<'a> {
    pub stage: Stage,
    pub entry: &'a str,
    /// Specialisation: (SpecId, little-endian bytes zero-extended to 64 bits).
    pub spec: &'a [(u32, u64)],
    /// `None` for a binding that the pipeline layout lacks: an error when the shader uses it.
    pub binding: &'a dyn Fn(u32, u32) -> Option<Binding>,
    /// Descriptors are in heaps: this is asked instead of `binding`.
    pub mapping: Option<&'a FindMapping<'a>>,
    /// Bytes of push constants that may be read.
    pub push_bytes: u32,
    /// How many lanes a wave has.
    pub width: WaveWidth,
    /// The modelled GPU as VK_ARM_shader_core_builtins describes it to shaders.
    pub cores: ShaderCores,
    /// Probes are added, which tell the machine of every access ([`crate::pass::probe`]).
    pub sanitize: bool,
    /// Notes are added, which tell what each instruction of the application's does in the warp of this invocation ([`crate::notes`]).
    pub notes: Option<Target>,
    /// The word that undefined contents consist of, if they are to show.
    pub undefined: Option<u32>,
    /// A switch to look at the code as translated (for tests and for blame).
    pub optimise: bool,
    /// Asked for each loop, with its header and its number of iterations if that follows from constants. The longest path
    /// ([`crate::cost::Ways`]) takes the answer.
    pub iterations: Option<&'a Iterations<'a>>,
}

/// See [`Options::iterations`].
pub type Iterations<'a> = dyn Fn(Origin, Option<u32>) -> Option<u32> + 'a;

impl<'a> Options<'a> {
    /// Nothing specialised, descriptors in sets, 256 bytes of push constants, the best width, and all optimisations.
    pub fn new(
        stage: Stage,
        entry: &'a str,
        binding: &'a dyn Fn(u32, u32) -> Option<Binding>,
    ) -> Options<'a> {
        Options {
            stage,
            entry,
            spec: &[],
            binding,
            mapping: None,
            push_bytes: 256,
            width: WaveWidth::BEST,
            cores: ShaderCores::default(),
            sanitize: false,
            notes: None,
            undefined: None,
            optimise: true,
            iterations: None,
        }
    }
}

/// How many lanes a wave has. Which quads share a warp and in which order modelled caches are asked depend on it, so counts do
/// too: it must follow from the shader alone, on every host and with every setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaveWidth {
    /// This many: 64, 128 or 256.
    Lanes(u32),
    /// The widest wave whose varying registers stay within a budget.
    ByRegisters(Budget),
}

/// Bytes of varying registers that a wave should stay within.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Where the next narrower wave runs the same ops.
    pub bytes: u32,
    /// Where the next narrower wave packs its workgroups otherwise and has to be lowered once more.
    pub relowered: u32,
}

impl Budget {
    /// Of shaders that multiply matrices: a product reads and writes 64 registers at once, which should be in L1.
    pub const MATRICES: Budget = Budget { bytes: 24 << 10, relowered: 24 << 10 };
}

impl WaveWidth {
    /// Few registers are in use at a time, so a wide wave's cost less as they spill into L2 than a narrow wave's ops cost in
    /// dispatch, if they are interpreted (`large`, 105 slots: 6 % misses at 256 lanes). Compiled code dispatches less: there the cache
    /// counts for more (`med`, 92 slots: 128 lanes take four fifths of the time of 256). Most code that matters is compiled.
    pub const BEST: WaveWidth = WaveWidth::ByRegisters(Budget { bytes: 80 << 10, relowered: 192 << 10 });

    /// The most lanes that it may come to.
    pub fn widest(self) -> u32 {
        match self {
            WaveWidth::Lanes(lanes) => lanes,
            WaveWidth::ByRegisters(_) => 256,
        }
    }
}

/// Shader cores of the modelled GPU, and warps that one holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShaderCores {
    pub cores: u32,
    pub warps: u32,
}

impl Default for ShaderCores {
    fn default() -> ShaderCores {
        ShaderCores { cores: 1, warps: 1 }
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

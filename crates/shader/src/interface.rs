//! What the stages of a graphics pipeline hand to each other: slots, and facts about a program that its stage needs.
//!
//! A *slot* names one 32-bit scalar of an interface. User variables have slot `location · 4 + component`; a 64-bit
//! scalar takes two slots (low word, high word). 16-bit floats are held as the f32 of the same value, 16-bit integers
//! as 32-bit ones, as in the IR.

use crate::stage_io::StageIo;

/// Slots of user variables are below this.
pub const USER_SLOTS: u16 = 0x400;
/// Added to the slot of a fragment output with `Index 1` (dual-source blending).
pub const SECOND_SOURCE: u16 = 0x400;
/// Added to the slot of a user variable that belongs to a patch.
pub const PATCH: u16 = 0x800;

pub const POSITION: u16 = 0x1000;
pub const POINT_SIZE: u16 = 0x1010;
/// Eight distances each. They are also slots of fragment inputs.
pub const CLIP_DISTANCE: u16 = 0x1020;
pub const CULL_DISTANCE: u16 = 0x1030;
/// Written by the vertex stage.
pub const LAYER: u16 = 0x1040;
pub const VIEWPORT_INDEX: u16 = 0x1041;
/// Written by the geometry stage; vertices that it emitted, at its end.
pub const PRIMITIVE_ID: u16 = 0x1042;
pub const EMITTED: u16 = 0x1043;
/// Written by the mesh stage, of each primitive: its vertices, and whether it is culled.
pub const INDICES: u16 = 0x1044;
pub const CULL_PRIMITIVE: u16 = 0x1048;
/// Written by the last stage before rasterization: the rate at which the primitive is shaded (PrimitiveShadingRateKHR).
pub const SHADING_RATE: u16 = 0x1049;
/// Four and two levels of a patch.
pub const TESS_OUTER: u16 = 0x1060;
pub const TESS_INNER: u16 = 0x1068;
/// Written by the fragment stage.
pub const FRAG_DEPTH: u16 = 0x1050;
pub const STENCIL_REF: u16 = 0x1051;
/// One 32-bit word of sample mask.
pub const SAMPLE_MASK: u16 = 0x1052;
/// Inputs of the fragment stage that are weights of the primitive's vertices, three each: with perspective, and linear in
/// framebuffer space (BaryCoordKHR, BaryCoordNoPerspKHR).
pub const WEIGHTS: u16 = 0x1070;
pub const LINEAR_WEIGHTS: u16 = 0x1074;
/// Added to the slot of a fragment input, `v + 1` times, that is vertex `v`'s own value (PerVertexKHR).
pub const PER_VERTEX: u16 = 0x2000;

/// What a read of an input attachment asks for ([`crate::ir::ImageInst::component`]) where it is of no descriptor, but of the
/// pass's own attachments: the colour attachment less one, depth, or stencil (SPV_EXT_shader_tile_image).
pub const TILE_DEPTH: u32 = 0x100;
pub const TILE_STENCIL: u32 = 0x101;

/// What a fragment input's slot is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// A slot that the stage before writes.
    Slot(u16),
    /// The same of one of the primitive's vertices.
    Vertex(u16, u8),
    /// The weight of one of them.
    Weight(u8),
}

impl Source {
    pub fn of(slot: u16) -> Source {
        match slot {
            WEIGHTS..=0x1072 => Source::Weight((slot - WEIGHTS) as u8),
            LINEAR_WEIGHTS..=0x1076 => Source::Weight((slot - LINEAR_WEIGHTS) as u8),
            PER_VERTEX.. => Source::Vertex(slot % PER_VERTEX, (slot / PER_VERTEX - 1).min(2) as u8),
            _ => Source::Slot(slot),
        }
    }
}

/// Where within a fragment an input is evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum At {
    #[default]
    Center,
    Centroid,
    Sample,
}

/// A scalar input of the fragment stage and how it comes from the vertices (§ Interpolation).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Varying {
    pub slot: u16,
    /// Taken from the provoking vertex.
    pub flat: bool,
    /// Linear in framebuffer space.
    pub no_perspective: bool,
    pub at: At,
    /// Interpolated at half precision by the modelled GPU: a float of 16 bits, or one with RelaxedPrecision. Its value is
    /// that of full precision.
    pub half: bool,
}

impl Varying {
    /// What the vertex stage leaves of it for tiles.
    pub fn bytes(&self) -> u64 {
        if self.half { 2 } else { 4 }
    }
}

/// Of inputs in order of slots, those that begin an interpolation slot of a quad: each of 32 bits, and of a location's of
/// 16 bits every other one.
pub fn interpolated<'a>(inputs: impl Iterator<Item = &'a Varying>) -> impl Iterator<Item = &'a Varying> {
    let mut room = None;
    inputs.filter(move |v| {
        if v.flat || !v.half {
            return !v.flat;
        }
        let location = Some(v.slot / 4);
        let shares = room == location;
        room = if shares { None } else { location };
        !shares
    })
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DepthMode {
    /// The shader writes no depth.
    #[default]
    Unwritten,
    Any,
    Greater,
    Less,
    Unchanged,
}

/// Facts about a program of a graphics stage.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Interface {
    /// Fragment: one entry per scalar input that the program reads, by slot. (Vertex inputs are
    /// [`crate::ir::Input::Varying`]s of [`crate::bytecode::Program::inputs`] alone.)
    pub varyings: Vec<Varying>,
    /// Stores, atomics or image writes: must run even where nothing is drawn.
    pub writes_memory: bool,
    /// Fragment: EarlyFragmentTests.
    pub early_tests: bool,
    pub depth: DepthMode,
    pub writes_stencil: bool,
    pub writes_sample_mask: bool,
    /// May discard or demote.
    pub discards: bool,
    /// Runs once a sample: reads SampleId or SamplePosition, or has a `Sample` input.
    pub per_sample: bool,
    /// Reads input attachments.
    pub reads_tile: bool,
    /// Reads what depth or stencil is in the tile.
    pub reads_depth: bool,
    pub post_depth_coverage: bool,
    /// Has critical sections for fragments of one sample, or of one pixel (SPV_EXT_fragment_shader_interlock).
    pub sample_interlock: bool,
    pub pixel_interlock: bool,
    /// Uses derivatives, implicit-lod sampling or quad operations: helper lanes must run.
    pub needs_quads: bool,
    pub io: StageIo,
}

//! Stages and accesses: which ones a mask of a barrier stands for, and what they are called.
//!
//! The numbers are those of VkPipelineStageFlagBits2 and VkAccessFlagBits2.

/// Stages that execute commands. Masks that stand for several are not among them.
pub mod stage {
    pub const TOP: u64 = 1;
    pub const INDIRECT: u64 = 2;
    pub const VERTEX_INPUT: u64 = 4;
    pub const VERTEX: u64 = 8;
    pub const CONTROL: u64 = 0x10;
    pub const EVALUATION: u64 = 0x20;
    pub const GEOMETRY: u64 = 0x40;
    pub const FRAGMENT: u64 = 0x80;
    pub const EARLY: u64 = 0x100;
    pub const LATE: u64 = 0x200;
    pub const COLOR: u64 = 0x400;
    pub const COMPUTE: u64 = 0x800;
    pub const ALL_TRANSFER: u64 = 0x1000;
    pub const BOTTOM: u64 = 0x2000;
    pub const HOST: u64 = 0x4000;
    pub const ALL_GRAPHICS: u64 = 0x8000;
    pub const ALL_COMMANDS: u64 = 0x1_0000;
    pub const CONDITIONAL: u64 = 0x4_0000;
    pub const TASK: u64 = 0x8_0000;
    pub const MESH: u64 = 0x10_0000;
    pub const RAYS: u64 = 0x20_0000;
    pub const SHADING_RATE: u64 = 0x40_0000;
    pub const DENSITY: u64 = 0x80_0000;
    pub const FEEDBACK: u64 = 0x100_0000;
    pub const BUILD: u64 = 0x200_0000;
    pub const BUILD_COPY: u64 = 0x1000_0000;
    pub const COPY: u64 = 1 << 32;
    pub const RESOLVE: u64 = 1 << 33;
    pub const BLIT: u64 = 1 << 34;
    pub const CLEAR: u64 = 1 << 35;
    pub const INDEX_INPUT: u64 = 1 << 36;
    pub const ATTRIBUTE_INPUT: u64 = 1 << 37;
    pub const PRE_RASTERIZATION: u64 = 1 << 38;
    pub const DATA_GRAPH: u64 = 1 << 42;
    pub const CONVERT_MATRIX: u64 = 1 << 44;
    /// No stages of Vulkan's: what shows images, and what changes their layouts.
    pub const PRESENTATION: u64 = 1 << 61;
    pub const TRANSITION: u64 = 1 << 62;
    pub const ALL: u64 = u64::MAX;
}

pub mod access {
    pub const INDIRECT: u64 = 1;
    pub const INDEX: u64 = 2;
    pub const ATTRIBUTE: u64 = 4;
    pub const UNIFORM: u64 = 8;
    pub const INPUT_ATTACHMENT: u64 = 0x10;
    pub const SHADER_READ: u64 = 0x20;
    pub const SHADER_WRITE: u64 = 0x40;
    pub const COLOR_READ: u64 = 0x80;
    pub const COLOR_WRITE: u64 = 0x100;
    pub const DEPTH_READ: u64 = 0x200;
    pub const DEPTH_WRITE: u64 = 0x400;
    pub const TRANSFER_READ: u64 = 0x800;
    pub const TRANSFER_WRITE: u64 = 0x1000;
    pub const HOST_READ: u64 = 0x2000;
    pub const HOST_WRITE: u64 = 0x4000;
    pub const MEMORY_READ: u64 = 0x8000;
    pub const MEMORY_WRITE: u64 = 0x1_0000;
    pub const NONCOHERENT: u64 = 0x8_0000;
    pub const CONDITIONAL: u64 = 0x10_0000;
    pub const STRUCTURE_READ: u64 = 0x20_0000;
    pub const STRUCTURE_WRITE: u64 = 0x40_0000;
    pub const FEEDBACK_WRITE: u64 = 0x200_0000;
    pub const COUNTER_READ: u64 = 0x400_0000;
    pub const COUNTER_WRITE: u64 = 0x800_0000;
    pub const SAMPLED: u64 = 1 << 32;
    pub const STORAGE_READ: u64 = 1 << 33;
    pub const STORAGE_WRITE: u64 = 1 << 34;
    pub const BINDING_TABLE: u64 = 1 << 40;
    pub const DATA_GRAPH_READ: u64 = 1 << 47;
    pub const DATA_GRAPH_WRITE: u64 = 1 << 48;
    /// Not those of Vulkan's: of what shows images, and of what changes their layouts.
    pub const PRESENTATION: u64 = 1 << 61;
    pub const TRANSITION: u64 = 1 << 62;
    pub const ALL: u64 = u64::MAX;

    const WRITES: u64 = SHADER_WRITE
        | STORAGE_WRITE
        | COLOR_WRITE
        | DEPTH_WRITE
        | TRANSFER_WRITE
        | HOST_WRITE
        | STRUCTURE_WRITE
        | FEEDBACK_WRITE
        | COUNTER_WRITE
        | DATA_GRAPH_WRITE
        | 0x4_0000;

    /// What a mask of a barrier stands for.
    pub fn expand(mask: u64) -> u64 {
        let mut all = mask;
        let mut add = |of: u64, what: u64| all |= if mask & of != 0 { what } else { 0 };
        add(SHADER_READ, SAMPLED | STORAGE_READ | BINDING_TABLE | UNIFORM);
        add(SHADER_WRITE, STORAGE_WRITE);
        add(MEMORY_READ, !WRITES & !TRANSITION & !MEMORY_WRITE);
        add(MEMORY_WRITE, WRITES);
        all
    }
}

/// The stages of graphics in their logical order; those of one row do not come one after the other.
const GRAPHICS: [u64; 11] = [
    stage::INDIRECT | stage::CONDITIONAL,
    stage::INDEX_INPUT,
    stage::ATTRIBUTE_INPUT,
    stage::VERTEX | stage::TASK,
    stage::CONTROL | stage::MESH,
    stage::EVALUATION,
    stage::GEOMETRY,
    stage::FEEDBACK | stage::SHADING_RATE | stage::DENSITY,
    stage::EARLY,
    stage::FRAGMENT,
    stage::LATE,
];
const TRANSFER: u64 = stage::COPY | stage::RESOLVE | stage::BLIT | stage::CLEAR;
const PRE_RASTERIZATION: u64 =
    stage::VERTEX | stage::CONTROL | stage::EVALUATION | stage::GEOMETRY | stage::TASK | stage::MESH;

fn graphics() -> u64 {
    GRAPHICS.iter().fold(stage::COLOR, |a, s| a | s)
}

/// Stages that a mask stands for, without those before or after them.
fn named(mask: u64) -> u64 {
    let mut all = mask & !(stage::TOP | stage::BOTTOM);
    let mut add = |of: u64, what: u64| all |= if mask & of != 0 { what } else { 0 };
    add(stage::ALL_COMMANDS, stage::ALL);
    add(stage::ALL_GRAPHICS, graphics());
    add(stage::ALL_TRANSFER, TRANSFER);
    add(stage::VERTEX_INPUT, stage::INDEX_INPUT | stage::ATTRIBUTE_INPUT);
    add(stage::PRE_RASTERIZATION, PRE_RASTERIZATION);
    add(stage::BUILD, stage::BUILD_COPY);
    all
}

/// One side of a dependency.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Scope {
    /// Stages whose execution it orders.
    pub execution: u64,
    /// Stages whose accesses it has, and which accesses.
    pub memory: u64,
    pub accesses: u64,
}

impl Scope {
    pub const ALL: Scope = Scope { execution: stage::ALL, memory: stage::ALL, accesses: access::ALL };

    /// The first one: stages that come before a named one are in it.
    pub fn first(stages: u64, accesses: u64) -> Scope {
        // At the beginning of a dependency BOTTOM_OF_PIPE is all commands, and at its end TOP_OF_PIPE is.
        let memory = if stages & stage::BOTTOM != 0 { stage::ALL } else { named(stages) };
        let mut execution = memory;
        let last = GRAPHICS.iter().rposition(|s| memory & s != 0);
        let last = if memory & stage::COLOR != 0 { Some(GRAPHICS.len() - 1) } else { last };
        if let Some(last) = last {
            GRAPHICS[..last].iter().for_each(|s| execution |= s);
        }
        if memory & (stage::COMPUTE | stage::RAYS) != 0 {
            execution |= stage::INDIRECT | stage::CONDITIONAL;
        }
        Scope { execution, memory, accesses: access::expand(accesses) }
    }

    /// The second one: stages that come after a named one are in it.
    pub fn second(stages: u64, accesses: u64) -> Scope {
        let memory = if stages & stage::TOP != 0 { stage::ALL } else { named(stages) };
        let mut execution = memory;
        if let Some(first) = GRAPHICS.iter().position(|s| memory & s != 0) {
            GRAPHICS[first + 1..].iter().for_each(|s| execution |= s);
            execution |= stage::COLOR;
        }
        if memory & stage::INDIRECT != 0 {
            execution |= stage::COMPUTE | stage::RAYS;
        }
        Scope { execution, memory, accesses: access::expand(accesses) }
    }

    /// Both together.
    pub fn and(self, o: Scope) -> Scope {
        Scope {
            execution: self.execution | o.execution,
            memory: self.memory | o.memory,
            accesses: self.accesses | o.accesses,
        }
    }
}

/// As the specification spells a stage, without what all of them begin with.
pub fn stage_name(stage: u64) -> &'static str {
    use stage::*;
    match stage {
        INDIRECT => "DRAW_INDIRECT",
        VERTEX => "VERTEX_SHADER",
        CONTROL => "TESSELLATION_CONTROL_SHADER",
        EVALUATION => "TESSELLATION_EVALUATION_SHADER",
        GEOMETRY => "GEOMETRY_SHADER",
        FRAGMENT => "FRAGMENT_SHADER",
        EARLY => "EARLY_FRAGMENT_TESTS",
        LATE => "LATE_FRAGMENT_TESTS",
        COLOR => "COLOR_ATTACHMENT_OUTPUT",
        COMPUTE => "COMPUTE_SHADER",
        HOST => "HOST",
        CONDITIONAL => "CONDITIONAL_RENDERING",
        TASK => "TASK_SHADER",
        MESH => "MESH_SHADER",
        RAYS => "RAY_TRACING_SHADER",
        FEEDBACK => "TRANSFORM_FEEDBACK",
        BUILD => "ACCELERATION_STRUCTURE_BUILD",
        BUILD_COPY => "ACCELERATION_STRUCTURE_COPY",
        COPY => "COPY",
        RESOLVE => "RESOLVE",
        BLIT => "BLIT",
        CLEAR => "CLEAR",
        INDEX_INPUT => "INDEX_INPUT",
        ATTRIBUTE_INPUT => "VERTEX_ATTRIBUTE_INPUT",
        DATA_GRAPH => "DATA_GRAPH",
        CONVERT_MATRIX => "CONVERT_COOPERATIVE_VECTOR_MATRIX",
        PRESENTATION => "presentation",
        TRANSITION => "layout transition",
        _ => "other",
    }
}

/// As [`stage_name`], of an access.
pub fn access_name(access: u64) -> &'static str {
    use access::*;
    match access {
        INDIRECT => "INDIRECT_COMMAND_READ",
        INDEX => "INDEX_READ",
        ATTRIBUTE => "VERTEX_ATTRIBUTE_READ",
        UNIFORM => "UNIFORM_READ",
        INPUT_ATTACHMENT => "INPUT_ATTACHMENT_READ",
        COLOR_READ => "COLOR_ATTACHMENT_READ",
        COLOR_WRITE => "COLOR_ATTACHMENT_WRITE",
        DEPTH_READ => "DEPTH_STENCIL_ATTACHMENT_READ",
        DEPTH_WRITE => "DEPTH_STENCIL_ATTACHMENT_WRITE",
        TRANSFER_READ => "TRANSFER_READ",
        TRANSFER_WRITE => "TRANSFER_WRITE",
        HOST_READ => "HOST_READ",
        HOST_WRITE => "HOST_WRITE",
        CONDITIONAL => "CONDITIONAL_RENDERING_READ",
        FEEDBACK_WRITE => "TRANSFORM_FEEDBACK_WRITE",
        COUNTER_READ => "TRANSFORM_FEEDBACK_COUNTER_READ",
        COUNTER_WRITE => "TRANSFORM_FEEDBACK_COUNTER_WRITE",
        SAMPLED => "SHADER_SAMPLED_READ",
        STRUCTURE_READ => "ACCELERATION_STRUCTURE_READ",
        STRUCTURE_WRITE => "ACCELERATION_STRUCTURE_WRITE",
        STORAGE_READ => "SHADER_STORAGE_READ",
        STORAGE_WRITE => "SHADER_STORAGE_WRITE",
        DATA_GRAPH_READ => "DATA_GRAPH_READ",
        DATA_GRAPH_WRITE => "DATA_GRAPH_WRITE",
        PRESENTATION => "presentation",
        TRANSITION => "layout transition",
        _ if access == STORAGE_READ | STORAGE_WRITE => "SHADER_STORAGE_READ and SHADER_STORAGE_WRITE",
        // Which of them a shader's access is need not be known.
        _ if access & !(SHADER_READ | UNIFORM | STORAGE_READ | SAMPLED) == 0 => "SHADER_READ",
        _ => "other",
    }
}

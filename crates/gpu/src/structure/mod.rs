//! Acceleration structures: what commands on them hold, and how they run (Vulkan specification, "Acceleration Structures").
//!
//! A structure is bytes in a buffer, which crate `bvh` writes and reads. Of the application's inputs nothing is kept: they are read
//! while the command runs.

mod input;
mod micromap;
mod run;

use crate::query::{QueryPool, StructureProperty};
use ash::vk;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use texel::buffer::Buffer;

pub use input::is_vertex_format;
pub use micromap::{Attached, BuildMicromap, micromap_size};
pub use run::{DRIVER_UUID, Failure, Memory, Moved, is_compatible, property, run};

/// VkAccelerationStructureKHR or VkMicromapEXT: a part of a buffer.
pub struct AccelerationStructure {
    pub buffer: Arc<Buffer>,
    pub offset: u64,
    pub size: u64,
    pub identity: Arc<Identity>,
}

/// What tells a structure from others at the same address, before or after it.
pub struct Identity {
    pub number: u64,
    /// What the application calls it; empty if it does not.
    pub name: Mutex<String>,
}

impl AccelerationStructure {
    pub fn new(buffer: Arc<Buffer>, offset: u64, size: u64) -> AccelerationStructure {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let identity = Identity { number: NEXT.fetch_add(1, Relaxed), name: Mutex::default() };
        AccelerationStructure { buffer, offset, size, identity: Arc::new(identity) }
    }
    /// Where its bytes are: address, and how many there are. 0 while the buffer has no memory.
    pub fn range(&self) -> (*mut u8, u64) {
        self.buffer.range(self.offset, self.size)
    }
    /// Its device address.
    pub fn address(&self) -> u64 {
        self.range().0 as u64
    }
}

/// What primitives one geometry of a build has.
#[derive(Clone)]
pub enum Geometry {
    Triangles {
        format: vk::Format,
        vertices: u64,
        stride: u64,
        /// The highest index that vertices have.
        max_vertex: u32,
        indices: Indices,
        /// Address of a VkTransformMatrixKHR, or 0.
        transform: u64,
        flags: vk::GeometryFlagsKHR,
        micromap: Option<Attached>,
    },
    /// VkAabbPositionsKHR.
    Boxes { data: u64, stride: u64, flags: vk::GeometryFlagsKHR },
    /// VkAccelerationStructureInstanceKHR, or pointers to them.
    Instances { data: u64, pointers: bool },
}

/// Where a geometry's indices are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Indices {
    None,
    At(u64, vk::IndexType),
}

/// VkAccelerationStructureBuildRangeInfoKHR.
#[derive(Clone, Copy, Default, Debug)]
#[repr(C)]
pub struct Range {
    pub count: u32,
    pub offset: u32,
    pub first_vertex: u32,
    pub transform_offset: u32,
}

/// How many primitives each geometry has.
#[derive(Clone, Debug)]
pub enum Ranges {
    Direct(SmallVec<[Range; 1]>),
    /// A [`Range`] for each geometry at this address and stride, of at most so many primitives.
    Indirect {
        address: u64,
        stride: u32,
        most: SmallVec<[u32; 1]>,
    },
}

/// One build or update.
#[derive(Clone)]
pub struct Build {
    pub kind: vk::AccelerationStructureTypeKHR,
    pub flags: vk::BuildAccelerationStructureFlagsKHR,
    /// What is updated; `None`: all is built anew.
    pub from: Option<Arc<AccelerationStructure>>,
    pub to: Arc<AccelerationStructure>,
    pub geometries: SmallVec<[Geometry; 1]>,
    pub ranges: Ranges,
}

/// A command on acceleration structures.
#[derive(Clone)]
pub enum Command {
    Build(Vec<Build>),
    BuildMicromaps(Vec<BuildMicromap>),
    Copy {
        from: Arc<AccelerationStructure>,
        to: Arc<AccelerationStructure>,
        compact: bool,
    },
    Serialize {
        from: Arc<AccelerationStructure>,
        to: u64,
    },
    Deserialize {
        from: u64,
        to: Arc<AccelerationStructure>,
    },
    /// A query's value is a number of each structure.
    WriteProperties {
        of: Vec<Arc<AccelerationStructure>>,
        property: StructureProperty,
        pool: Arc<QueryPool>,
        first: u32,
    },
}

impl Command {
    /// The call that recorded it.
    pub fn call(&self) -> &'static str {
        match self {
            Command::Build(_) => "vkCmdBuildAccelerationStructuresKHR",
            Command::BuildMicromaps(_) => "vkCmdBuildMicromapsEXT",
            Command::Copy { .. } => "vkCmdCopyAccelerationStructureKHR",
            Command::Serialize { .. } => "vkCmdCopyAccelerationStructureToMemoryKHR",
            Command::Deserialize { .. } => "vkCmdCopyMemoryToAccelerationStructureKHR",
            Command::WriteProperties { .. } => "vkCmdWriteAccelerationStructuresPropertiesKHR",
        }
    }
}

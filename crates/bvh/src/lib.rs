//! Acceleration structures: how they are built, refitted, copied and traversed.
//!
//! # A structure
//! A structure is bytes in the application's memory. It contains no pointers and no offsets from outside, so a copy of it is a
//! `memcpy`. A *bottom* structure has triangles or boxes; a *top* structure has instances of bottom structures.
//!
//! | part | bytes | content |
//! |---|---|---|
//! | header | 256 | [`layout::Header`]: magic, kind, counts, bounds |
//! | geometries | 16 each, to a multiple of 128 | flags, number of primitives, address of a micromap |
//! | nodes | 128 each | eight children and their quantised boxes |
//! | leaves | 192 or 128 each | blocks of at most four triangles or boxes; in a top structure, instances |
//!
//! **Nodes.** Node 0 is the root, and a node's children have higher indices than the node, so a refit is one pass backwards.
//!
//! | at | what |
//! |---|---|
//! | 0 | origin of the grid, three floats |
//! | 12 | exponents of the grid's step along x, y and z, as in a float; number of children |
//! | 16 | eight children: two bits of kind (1 a node, 2 a leaf), 30 bits of index |
//! | 48 | for each axis the lower bounds of eight children, the upper ones, and again the lower ones, one byte each |
//!
//! A ray reads sixteen bytes for an axis: its near planes and then its far planes. The lower bounds stand there twice so that
//! both signs of a direction read them in that order. A bound is `origin + byte * step`, rounded outward.
//!
//! **Blocks** have three rows of sixteen words, one row an axis: the first vertices of four triangles, the second, the third, and
//! four more words: primitives in the first row, geometries with their flags (`<< 24`) in the second, and in the third what
//! [`micromap`] says. Unused triangles are NaN.
//! For boxes, the first vertices are lower bounds and the second are upper bounds.
//!
//! **Instances**: object to world and world to object (twelve floats each), the structure's address, custom index and mask,
//! offset of shader records and flags, index of the instance.
//!
//! # What holds
//! - The application may change the bytes at any time. Every number that is read from them is checked where it is used, and the number
//!   of visits is bounded, so damaged bytes give wrong hits and nothing worse. See [`layout::View`].
//! - A tree has the same bytes for every number of threads and every SIMD level. Hits and visits are the same on every level.
//! - A hit does not depend on the order of the traversal: of hits with equal t, the one with the lowest instance, geometry and primitive
//!   is the closest.
//! - Triangles that share an edge leave no gap and are not both hit there: [`trace::triangle`].
//! - Boxes are conservative, including the rounding of their tests: [`trace::node`].
//! - Rays of a warp that traverse together have the hits that each has alone. Where a shader can see the order (candidates, first hits), the
//!   order is that of the ray alone.

// Loops over three axes and eight children index several arrays at once.
#![allow(clippy::needless_range_loop)]

mod build;
mod copy;
#[cfg(test)]
mod kernel_tests;
pub mod layout;
pub mod micromap;
mod statistics;
pub mod trace;
mod visits;

pub use build::{Built, build, sizes, update};
pub use copy::{
    Serialized, bounds, clone, compact, compacted_size, deserialize, handles, header, serialize,
    serialized_header, serialized_size,
};
pub use statistics::{Statistics, bottoms, statistics};
pub use trace::{
    Hit, HitKind, NoVisits, Ray, Rays, Scene, Step, Traversal, positions, ray_flags, trace, trace_counted,
    transforms,
};
pub use visits::{Histogram, Visits, WarpVisits};

/// Memory of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes {
    pointer: *mut u8,
    len: usize,
}

// SAFETY: by the contract of `Bytes::new` the memory may be used from any thread.
unsafe impl Send for Bytes {}
// SAFETY: as above.
unsafe impl Sync for Bytes {}

impl Bytes {
    /// # Safety
    /// While this or a copy of it is in use, the memory may be read and, by the functions that write a structure, written. Others may
    /// write it at the same time: all accesses are through raw pointers. The address is a multiple of 256.
    pub const unsafe fn new(pointer: *mut u8, len: usize) -> Bytes {
        Bytes { pointer, len }
    }
    pub const fn pointer(self) -> *mut u8 {
        self.pointer
    }
    pub const fn len(self) -> usize {
        self.len
    }
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// Why a call did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// More primitives, instances or geometries than a structure can have.
    TooMany,
    /// The memory is smaller than `sizes` says.
    TooSmall,
    /// Geometries of different kinds, or flags that exclude each other.
    Mixed,
    /// The bytes are no structure of this version, or a damaged one.
    NotAStructure,
    /// An update with other counts, or of a structure without [`Flags::ALLOW_UPDATE`].
    Different,
    /// No memory for the builder's work.
    OutOfMemory,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Error::TooMany => "too many primitives",
            Error::TooSmall => "the memory is too small",
            Error::Mixed => "geometries of different kinds",
            Error::NotAStructure => "not an acceleration structure",
            Error::Different => "not an update of this acceleration structure",
            Error::OutOfMemory => "out of memory",
        })
    }
}

impl std::error::Error for Error {}

/// Build flags; the bits are Vulkan's (VkBuildAccelerationStructureFlagBitsKHR).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u32);

impl Flags {
    pub const ALLOW_UPDATE: Flags = Flags(0x1);
    pub const ALLOW_COMPACTION: Flags = Flags(0x2);
    pub const PREFER_FAST_TRACE: Flags = Flags(0x4);
    pub const PREFER_FAST_BUILD: Flags = Flags(0x8);
    pub const LOW_MEMORY: Flags = Flags(0x10);
    /// Positions can be read by a hit. They always can: [`positions`].
    pub const ALLOW_DATA_ACCESS: Flags = Flags(0x800);

    pub const fn has(self, of: Flags) -> bool {
        self.0 & of.0 == of.0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;
    fn bitor(self, of: Flags) -> Flags {
        Flags(self.0 | of.0)
    }
}

/// Geometry flags; the bits are Vulkan's (VkGeometryFlagBitsKHR).
pub mod geometry_flags {
    pub const OPAQUE: u32 = 1;
    pub const NO_DUPLICATE_ANY_HIT: u32 = 2;
}

/// Instance flags; the bits are Vulkan's (VkGeometryInstanceFlagBitsKHR).
pub mod instance_flags {
    pub const FACING_CULL_DISABLE: u8 = 1;
    pub const FLIP_FACING: u8 = 2;
    pub const FORCE_OPAQUE: u8 = 4;
    pub const FORCE_NO_OPAQUE: u8 = 8;
    pub const FORCE_MICROMAP_2_STATE: u8 = 0x10;
    pub const DISABLE_MICROMAPS: u8 = 0x20;
}

/// What a structure is to hold.
#[derive(Clone, Copy, Debug)]
pub enum Counts<'a> {
    /// Triangles of each geometry.
    Triangles(&'a [u64]),
    /// Boxes of each geometry.
    Boxes(&'a [u64]),
    Instances(u64),
}

/// Bytes that a build needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub structure: u64,
    pub build_scratch: u64,
    pub update_scratch: u64,
}

/// What a bottom structure is built from. All geometries of a structure are of one kind.
#[derive(Clone, Copy, Debug)]
pub enum Geometry<'a> {
    /// Three positions a triangle, in the structure's space. A triangle with a NaN as x of a vertex is inactive.
    Triangles { positions: &'a [[f32; 3]], flags: u32 },
    /// Minimum x, y, z and maximum x, y, z. A box with a NaN as minimum x is inactive.
    Boxes { bounds: &'a [[f32; 6]], flags: u32 },
}

impl Geometry<'_> {
    /// Number of primitives.
    pub fn primitives(&self) -> usize {
        match self {
            Geometry::Triangles { positions, .. } => positions.len() / 3,
            Geometry::Boxes { bounds, .. } => bounds.len(),
        }
    }
    pub fn flags(&self) -> u32 {
        match self {
            Geometry::Triangles { flags, .. } | Geometry::Boxes { flags, .. } => *flags,
        }
    }
}

/// What a top structure is built from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    /// Object to world, three rows of four.
    pub transform: [f32; 12],
    /// 24 bits.
    pub custom_index: u32,
    pub mask: u8,
    /// 24 bits.
    pub sbt_offset: u32,
    pub flags: u8,
    /// Address of the bottom structure; 0 makes the instance inactive.
    pub structure: u64,
    /// Of that structure, in its space: [`bounds`].
    pub bounds: [f32; 6],
    /// What that structure says of all its primitives: [`layout::Header::all`].
    pub all: u32,
}

/// What a structure is built from.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    Geometries(&'a [Geometry<'a>]),
    Instances(&'a [Instance]),
}

/// Threads that a build may use.
pub trait Pool {
    /// Calls `f(0)` to `f(tasks - 1)`, in any order and at the same time, and returns when all have returned.
    fn run(&self, tasks: usize, f: &(dyn Fn(usize) + Sync));
    fn threads(&self) -> usize;
}

/// The calling thread only.
pub struct Alone;

impl Pool for Alone {
    fn run(&self, tasks: usize, f: &(dyn Fn(usize) + Sync)) {
        (0..tasks).for_each(f);
    }
    fn threads(&self) -> usize {
        1
    }
}

//! Ray tracing pipelines, and how a vkCmdTraceRaysKHR runs (Vulkan specification, "Ray Tracing").
//!
//! Ray generation shaders run on waves, as dispatches do. Where a wave traces rays ([`host`]), all its rays go through the structure
//! together; candidates that shaders must judge are collected, and each shader runs once for all lanes that need it, on a wave of its own
//! ([`stage`]). Then closest-hit and miss shaders run, regrouped by shader. The wave goes on when all of them have ended.
//!
//! - [`launch`]: a command: its waves and threads
//! - [`host`]: what a wave of the pipeline finds around it
//! - [`shot`]: the rays of one call of a wave
//! - [`way`]: one ray
//! - [`object`]: hit objects, and what runs at a ray's end
//! - [`stage`]: a shader for a list of lanes
//! - [`table`]: shader binding tables

mod host;
mod launch;
mod object;
mod shot;
mod stage;
mod table;
mod way;

use machine::bindings::Bindings;
use machine::instrumentation::Active;
use machine::lost::Title;
use shader::bytecode::Program;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub use launch::{Launched, Refused, launch};
pub use table::Region;

/// Bytes of a shader group's handle.
pub const HANDLE: usize = 32;
/// The deepest recursion that a pipeline may ask for.
pub const MAX_RECURSION: u32 = 31;
/// Most rays of a launch.
pub const MAX_RAYS: u32 = 1 << 30;
/// Bytes of hit attributes.
pub const MAX_ATTRIBUTES: usize = 32;

/// One of a pipeline's shaders.
pub struct Shader {
    pub program: Arc<Program>,
    /// Its entry point.
    pub name: String,
}

/// A shader group: its shaders by their places in the pipeline.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Group {
    /// What its handle says, the same in all pipelines that it becomes a part of.
    pub id: u64,
    /// Ray generation, miss or callable.
    pub general: Option<usize>,
    pub closest_hit: Option<usize>,
    pub any_hit: Option<usize>,
    pub intersection: Option<usize>,
}

/// The next name of a group.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Group {
    /// A name for a new group.
    pub fn new_id() -> u64 {
        NEXT.fetch_add(1, Relaxed)
    }

    /// A group gets this name, which one of another process had: no new group of this process takes it from here on.
    pub fn replays(id: u64) {
        NEXT.fetch_max(id.saturating_add(1), Relaxed);
    }

    /// Whether this is one of its shaders.
    pub fn has(&self, shader: usize) -> bool {
        [self.general, self.closest_hit, self.any_hit, self.intersection].contains(&Some(shader))
    }

    /// The same group where the pipeline's shaders begin `by` places later.
    pub fn moved(self, by: usize) -> Group {
        let add = |s: Option<usize>| s.map(|s| s + by);
        Group {
            id: self.id,
            general: add(self.general),
            closest_hit: add(self.closest_hit),
            any_hit: add(self.any_hit),
            intersection: add(self.intersection),
        }
    }

    pub fn handle(&self) -> [u8; HANDLE] {
        let mut out = [0; HANDLE];
        out[..8].copy_from_slice(b"tuffgrup");
        out[8..16].copy_from_slice(&self.id.to_le_bytes());
        out
    }

    /// The name that a handle has.
    pub fn id_of(handle: &[u8]) -> Option<u64> {
        let id = handle.strip_prefix(b"tuffgrup")?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*id))
    }
}

pub struct RayPipeline {
    pub shaders: Vec<Arc<Shader>>,
    pub groups: Vec<Group>,
    by_id: HashMap<u64, usize>,
    /// maxPipelineRayRecursionDepth
    pub recursion: u32,
    /// Ray flags that all its rays have (skip triangles, skip AABBs).
    pub ray_flags: u32,
    pub title: Arc<Title>,
}

impl RayPipeline {
    pub fn new(
        shaders: Vec<Arc<Shader>>,
        groups: Vec<Group>,
        recursion: u32,
        ray_flags: u32,
        title: Arc<Title>,
    ) -> RayPipeline {
        let by_id = groups.iter().enumerate().map(|(i, g)| (g.id, i)).collect();
        RayPipeline { shaders, groups, by_id, recursion, ray_flags, title }
    }

    /// The group that a handle names, if it is one of this pipeline's.
    pub fn find(&self, handle: &[u8; HANDLE]) -> Option<&Group> {
        self.groups.get(*self.by_id.get(&Group::id_of(handle)?)?)
    }
}

/// Where a trace's size comes from.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    Direct([u32; 3]),
    /// VkTraceRaysIndirectCommandKHR at this address.
    At(u64),
    /// VkTraceRaysIndirectCommand2KHR, which has the tables too.
    WithTables(u64),
}

/// A recorded vkCmdTraceRaysKHR.
#[derive(Clone)]
pub struct Trace {
    pub pipeline: Arc<RayPipeline>,
    pub bindings: Bindings,
    /// Ray generation, miss, hit and callable.
    pub tables: [Region; 4],
    pub size: Size,
    pub instrumentation: Option<Active>,
    pub call: &'static str,
}

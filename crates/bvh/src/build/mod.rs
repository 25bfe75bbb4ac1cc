//! Building and refitting.
//!
//! A good tree is built in three steps:
//! 1. [`gather`]: a [`Prim`], box and number, of each active primitive.
//! 2. [`sah`]: a binary tree over them, by surface area.
//! 3. [`wide`]: nodes of eight children and leaves, into the structure.
//!
//! [`quick`] builds a tree along a Morton curve. Both keep these rules: a leaf has at most [`Kind::leaf_most`] primitives, both sides of a split
//! have at least [`Kind::leaf_least`], and no path has more than [`BINARY_DEPTH`] splits.
//!
//! Work is divided into tasks by size only, and tasks write separate places, so the result does not depend on threads.

mod gather;
mod quick;
mod refit;
mod sah;
mod shapes;
mod wide;

pub use refit::update;

use crate::layout::{self, HEADER, Header, Kind, parts};
use crate::{
    Bytes, Counts, Error, Flags, Geometry, Input, Instance, Pool, Sizes, geometry_flags, instance_flags,
};
use simd::Level;

/// What a build made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Built {
    /// Bytes in use: the size of a compacted copy.
    pub size: u64,
    pub bounds: [f32; 6],
    pub nodes: u32,
    pub leaves: u32,
}

/// Most splits above a leaf. A node descends at least two of them, so there are at most [`layout::DEPTH`] levels of nodes.
pub const BINARY_DEPTH: u32 = 2 * layout::DEPTH as u32 - 2;

/// Primitives of a task.
pub const TASK: usize = 1 << 15;

/// Coordinates beyond this are clamped where boxes are built, so that sums and differences stay finite.
pub const LARGE: f32 = 1e37;

/// A primitive as the builders see it. One minimum joins two of them: upper bounds are negated.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub struct Prim {
    pub low: [f32; 3],
    pub geometry: u32,
    pub minus_high: [f32; 3],
    pub primitive: u32,
}

/// Lower bounds and negated upper bounds.
pub type Bounds = [f32; 6];

pub const NOTHING: Bounds = [f32::INFINITY; 6];

impl Prim {
    #[inline(always)]
    pub fn bounds(&self) -> Bounds {
        let ([a, b, c], [d, e, f]) = (self.low, self.minus_high);
        [a, b, c, d, e, f]
    }
    /// Twice the centre.
    #[inline(always)]
    pub fn centre(&self, axis: usize) -> f32 {
        self.low[axis] - self.minus_high[axis]
    }
    /// Orders primitives along an axis; no two are equal.
    pub fn key(&self, axis: usize) -> (f32, u32, u32) {
        (self.centre(axis), self.geometry, self.primitive)
    }
}

#[inline(always)]
pub fn join(a: &mut Bounds, b: &Bounds) {
    for i in 0..6 {
        a[i] = if b[i] < a[i] { b[i] } else { a[i] };
    }
}

/// Half the surface; 0 of nothing.
#[inline(always)]
pub fn area(b: &Bounds) -> f32 {
    let [x, y, z] = [-(b[0] + b[3]), -(b[1] + b[4]), -(b[2] + b[5])];
    if x < 0.0 { 0.0 } else { x * y + y * z + z * x }
}

/// A split of the binary tree.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Split {
    pub bounds: [Bounds; 2],
    /// Where the children are split, or 0 for a leaf.
    pub child: [u32; 2],
}

/// The binary tree: a split between primitives `m - 1` and `m` has slot `m / leaf_least`, which no other split has.
pub struct Binary {
    pub splits: Vec<Split>,
    pub kind: Kind,
    /// Where the root is split, or 0 if it is a leaf.
    pub root: u32,
    pub bounds: Bounds,
}

impl Binary {
    fn new(kind: Kind, count: usize) -> Result<Binary, Error> {
        let slots = count / kind.leaf_least() + 1;
        let mut splits = room(slots)?;
        // SAFETY: slots are written before they are read: a slot's number is known only from where the split was written.
        #[allow(clippy::uninit_vec)]
        unsafe {
            splits.set_len(slots);
        }
        Ok(Binary { splits, kind, root: 0, bounds: NOTHING })
    }

    #[inline(always)]
    pub fn slot(&self, at: u32) -> usize {
        at as usize / self.kind.leaf_least()
    }
}

/// A pointer that several tasks use, each for places of its own.
pub struct Places<T>(pub *mut T);

impl<T> Clone for Places<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Places<T> {}
// SAFETY: tasks write separate places; who uses the pointer says why.
unsafe impl<T: Send> Send for Places<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Places<T> {}

impl<T> Places<T> {
    /// The pointer; a method, so that closures take all of `self`.
    #[inline(always)]
    pub fn get(self) -> *mut T {
        self.0
    }
}

/// A part of the tree that one task builds.
#[derive(Clone, Copy)]
pub struct Task {
    pub begin: usize,
    pub end: usize,
    pub depth: u32,
    /// Where the parent is split, and which child this is; none of the root.
    pub parent: Option<(u32, usize)>,
}

/// Whether the levels that are left only suffice for halves.
#[inline(always)]
pub fn must_halve(depth: u32, count: usize) -> bool {
    depth + usize::BITS - (count - 1).leading_zeros() >= BINARY_DEPTH
}

/// Memory for `n` values that are written before they are read.
pub fn room<T: Copy>(n: usize) -> Result<Vec<T>, Error> {
    let mut out = Vec::new();
    out.try_reserve_exact(n).map_err(|_| Error::OutOfMemory)?;
    Ok(out)
}

/// Bytes that a structure needs, whatever is in it, and scratch memory. The builder's memory is its own, so scratch is a token.
pub fn sizes(counts: &Counts, flags: Flags) -> Result<Sizes, Error> {
    let _ = flags;
    let (kind, geometries, primitives) = layout::kind_and_counts(counts)?;
    let (leaves, nodes) = layout::most(kind, primitives);
    let size = parts(kind, geometries, nodes, leaves).ok_or(Error::TooMany)?.size;
    Ok(Sizes { structure: size, build_scratch: 256, update_scratch: 256 })
}

/// The kind and the counts of an input.
pub fn counts_of(input: &Input) -> Result<(Kind, u64, u64), Error> {
    match input {
        Input::Instances(all) => layout::kind_and_counts(&Counts::Instances(all.len() as u64)),
        Input::Geometries(all) => {
            let boxes = matches!(all.first(), Some(Geometry::Boxes { .. }));
            if all.iter().any(|g| matches!(g, Geometry::Boxes { .. }) != boxes) {
                return Err(Error::Mixed);
            }
            let mut counts = room::<u64>(all.len())?;
            counts.extend(all.iter().map(|g| g.primitives() as u64));
            layout::kind_and_counts(&if boxes { Counts::Boxes(&counts) } else { Counts::Triangles(&counts) })
        }
    }
}

/// What is known of all primitives of an input, without micromaps.
pub fn all_of(input: &Input) -> u32 {
    let geometry = |g: &Geometry| {
        let triangles = if matches!(g, Geometry::Triangles { .. }) { layout::TRIANGLES } else { 0 };
        triangles | if g.flags() & geometry_flags::OPAQUE != 0 { layout::OPAQUE } else { 0 }
    };
    let instance = |i: &Instance| match i.flags {
        f if f & instance_flags::FORCE_OPAQUE != 0 => i.all | layout::OPAQUE,
        f if f & instance_flags::FORCE_NO_OPAQUE != 0 => i.all & !layout::OPAQUE,
        _ => i.all,
    };
    let every = layout::TRIANGLES | layout::OPAQUE;
    match input {
        Input::Geometries(all) => all.iter().fold(every, |of, g| of & geometry(g)),
        Input::Instances(all) => {
            all.iter().filter(|i| i.structure != 0).fold(every, |of, i| of & instance(i))
        }
    }
}

/// Builds a structure. `level` changes nothing but speed.
pub fn build(
    level: Level,
    bytes: Bytes,
    input: &Input,
    flags: Flags,
    pool: &dyn Pool,
) -> Result<Built, Error> {
    let (kind, geometries, primitives) = counts_of(input)?;
    if (bytes.len() as u64) < HEADER {
        return Err(Error::TooSmall);
    }
    let room = |nodes: u32, leaves: u32| {
        let parts = parts(kind, geometries, nodes as u64, leaves as u64).ok_or(Error::TooMany)?;
        if parts.size > bytes.len() as u64 { Err(Error::TooSmall) } else { Ok(parts) }
    };
    let base = bytes.pointer();
    let (nodes, leaves, size, b);
    if flags.has(Flags::PREFER_FAST_BUILD) && !flags.has(Flags::PREFER_FAST_TRACE) {
        let made = quick::plan(level, kind, input, pool)?;
        (nodes, leaves) = (made.plan.nodes, made.plan.leaves);
        let parts = room(nodes, leaves)?;
        size = parts.size;
        // SAFETY: the parts lie in the memory, by the check above.
        b = unsafe { quick::write(level, &made, base, &parts, pool)? };
    } else {
        let mut prims = gather::gather(level, input, pool)?;
        let binary = sah::build(level, kind, &mut prims, pool)?;
        let (tree, plan) = wide::plan(&binary, prims.len(), pool)?;
        (nodes, leaves, b) = (plan.nodes, plan.leaves, binary.bounds);
        let parts = room(nodes, leaves)?;
        size = parts.size;
        // SAFETY: as above.
        unsafe { wide::write(&tree, &plan, &prims, input, base, &parts, pool) };
    }
    let bounds = [b[0], b[1], b[2], -b[3], -b[4], -b[5]];
    let header = Header {
        kind,
        flags: flags.0,
        geometries: geometries as u32,
        primitives,
        nodes,
        leaves,
        bounds,
        all: all_of(input),
    };
    // SAFETY: as above.
    unsafe {
        header.write(bytes);
        if let Input::Geometries(all) = input {
            for (i, g) in all.iter().enumerate() {
                let at = base.add(HEADER as usize + i * layout::GEOMETRY as usize);
                at.cast::<[u32; 4]>().write([g.flags(), g.primitives() as u32, 0, 0]);
            }
        }
    }
    Ok(Built { size, bounds, nodes, leaves })
}

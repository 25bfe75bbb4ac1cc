//! Where things are in a structure, and the only functions that read or write them there.

use crate::{Bytes, Counts, Error, Instance};

pub const MAGIC: u64 = u64::from_le_bytes(*b"tuffBVH\x01");
pub const HEADER: u64 = 256;
pub const GEOMETRY: u64 = 16;
pub const NODE: u64 = 128;
pub const BLOCK: u64 = 192;
pub const INSTANCE: u64 = 128;
/// Bytes of a node before the bounds, and of the bounds of an axis.
pub const BOUNDS: usize = 48;
pub const AXIS: usize = 24;
/// Primitives of a block.
pub const LANES: usize = 4;
/// Levels of nodes that a structure may have: a traversal's stack has room for these.
pub const DEPTH: usize = 32;

pub const MAX_PRIMITIVES: u64 = 1 << 29;
pub const MAX_INSTANCES: u64 = 1 << 24;
pub const MAX_GEOMETRIES: u64 = 1 << 24;

/// What a structure's leaves are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Triangles,
    Boxes,
    Instances,
}

impl Kind {
    pub fn leaf_bytes(self) -> u64 {
        if self == Kind::Instances { INSTANCE } else { BLOCK }
    }
    /// Most primitives of a leaf.
    pub fn leaf_most(self) -> usize {
        if self == Kind::Instances { 1 } else { LANES }
    }
    /// Fewest primitives of a leaf, if the structure has more than [`Self::leaf_most`].
    pub fn leaf_least(self) -> usize {
        if self == Kind::Instances { 1 } else { 2 }
    }
}

/// A child of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    None,
    Node(u32),
    Leaf(u32),
}

pub const NODE_BIT: u32 = 1 << 30;
pub const LEAF_BIT: u32 = 2 << 30;
pub const INDEX: u32 = (1 << 30) - 1;

impl Child {
    pub fn of(word: u32) -> Child {
        match word >> 30 {
            1 => Child::Node(word & INDEX),
            2 => Child::Leaf(word & INDEX),
            _ => Child::None,
        }
    }
    pub fn word(self) -> u32 {
        match self {
            Child::None => 0,
            Child::Node(at) => NODE_BIT | at,
            Child::Leaf(at) => LEAF_BIT | at,
        }
    }
}

/// The first bytes of a structure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Header {
    pub kind: Kind,
    /// Build flags.
    pub flags: u32,
    pub geometries: u32,
    /// Primitives or instances, inactive ones included.
    pub primitives: u64,
    pub nodes: u32,
    pub leaves: u32,
    /// Of all that is active; lower bounds above upper ones if nothing is.
    pub bounds: [f32; 6],
    /// What is known of all primitives, also of those in instances: [`TRIANGLES`] and [`OPAQUE`].
    pub all: u32,
}

/// All primitives are triangles.
pub const TRIANGLES: u32 = 1;
/// All primitives are opaque unless the ray says otherwise.
pub const OPAQUE: u32 = 2;

/// Where the parts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    pub nodes: u64,
    pub leaves: u64,
    pub size: u64,
}

pub fn parts(kind: Kind, geometries: u64, nodes: u64, leaves: u64) -> Option<Parts> {
    let at = HEADER.checked_add(geometries.checked_mul(GEOMETRY)?)?.checked_next_multiple_of(128)?;
    let then = at.checked_add(nodes.checked_mul(NODE)?)?;
    let size = then.checked_add(leaves.checked_mul(kind.leaf_bytes())?)?;
    Some(Parts { nodes: at, leaves: then, size })
}

/// Most leaves and nodes of a structure with that many primitives: see [`crate::build`]'s rules.
pub fn most(kind: Kind, primitives: u64) -> (u64, u64) {
    let leaves = match kind {
        Kind::Instances => primitives,
        _ if primitives <= LANES as u64 => primitives.min(1),
        _ => primitives / 2,
    };
    // A node has eight children, or children that are all leaves (at least two, but for a root): F full ones have at most 7 F + 1 others
    // below them, so with B leaves there are at most (4 B + 3) / 7 nodes.
    (leaves, (leaves * 4 / 7 + 1).max(1))
}

pub fn kind_and_counts(counts: &Counts) -> Result<(Kind, u64, u64), Error> {
    let sum = |all: &[u64]| {
        all.iter()
            .try_fold(0u64, |a, b| a.checked_add(*b))
            .filter(|n| *n <= MAX_PRIMITIVES)
            .ok_or(Error::TooMany)
    };
    let of = |kind, all: &[u64]| {
        if all.len() as u64 > MAX_GEOMETRIES {
            return Err(Error::TooMany);
        }
        Ok((kind, all.len() as u64, sum(all)?))
    };
    match counts {
        Counts::Triangles(all) => of(Kind::Triangles, all),
        Counts::Boxes(all) => of(Kind::Boxes, all),
        Counts::Instances(n) if *n <= MAX_INSTANCES => Ok((Kind::Instances, 0, *n)),
        Counts::Instances(_) => Err(Error::TooMany),
    }
}

impl Header {
    /// None if the bytes are no structure that lies in them.
    pub fn read(bytes: Bytes) -> Option<Header> {
        if (bytes.len() as u64) < HEADER || bytes.pointer().is_null() {
            return None;
        }
        // SAFETY: 64 bytes of a header, which the memory has. Read once: others may change them later.
        let w: [u32; 16] = unsafe { bytes.pointer().cast::<[u32; 16]>().read_volatile() };
        if (w[0] as u64 | (w[1] as u64) << 32) != MAGIC {
            return None;
        }
        let kind = match w[2] {
            1 => Kind::Triangles,
            2 => Kind::Boxes,
            3 => Kind::Instances,
            _ => return None,
        };
        let header = Header {
            kind,
            flags: w[3],
            geometries: w[4],
            nodes: w[5],
            leaves: w[6],
            primitives: w[7] as u64,
            bounds: std::array::from_fn(|i| f32::from_bits(w[8 + i])),
            all: w[14],
        };
        (header.nodes <= INDEX && header.leaves <= INDEX).then_some(())?;
        (header.parts()?.size <= bytes.len() as u64).then_some(header)
    }

    pub fn parts(&self) -> Option<Parts> {
        parts(self.kind, self.geometries as u64, self.nodes as u64, self.leaves as u64)
    }

    /// # Safety
    /// The memory has the bytes of a header.
    pub unsafe fn write(&self, bytes: Bytes) {
        let mut w = [0u32; 64];
        (w[0], w[1]) = (MAGIC as u32, (MAGIC >> 32) as u32);
        w[2] = match self.kind {
            Kind::Triangles => 1,
            Kind::Boxes => 2,
            Kind::Instances => 3,
        };
        (w[3], w[4], w[5], w[6], w[7]) =
            (self.flags, self.geometries, self.nodes, self.leaves, self.primitives as u32);
        for i in 0..6 {
            w[8 + i] = self.bounds[i].to_bits();
        }
        w[14] = self.all;
        // SAFETY: the caller's.
        unsafe { bytes.pointer().cast::<[u32; 64]>().write_unaligned(w) };
    }
}

/// A structure whose counts were read and checked once: what the application writes into the header later changes nothing here. An index
/// below a count leads to bytes of the structure.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub nodes: *mut u8,
    pub leaves: *mut u8,
    pub node_count: u32,
    pub leaf_count: u32,
    pub kind: Kind,
}

// SAFETY: the pointers are to memory that `Bytes::new` allows any thread to use.
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}

impl View {
    pub fn of(bytes: Bytes) -> Option<(View, Header)> {
        let header = Header::read(bytes)?;
        let parts = header.parts()?;
        // SAFETY: `Header::read` made sure that the parts lie in the memory.
        let (nodes, leaves) = unsafe {
            (bytes.pointer().add(parts.nodes as usize), bytes.pointer().add(parts.leaves as usize))
        };
        Some((
            View { nodes, leaves, node_count: header.nodes, leaf_count: header.leaves, kind: header.kind },
            header,
        ))
    }

    /// The bytes of a node, of which there are [`NODE`].
    #[inline(always)]
    pub fn node(&self, at: u32) -> Option<*mut u8> {
        // SAFETY: below the count, so in the structure.
        (at < self.node_count).then(|| unsafe { self.nodes.add(at as usize * NODE as usize) })
    }

    /// The bytes of a leaf.
    #[inline(always)]
    pub fn leaf(&self, at: u32) -> Option<*mut u8> {
        // SAFETY: as above.
        (at < self.leaf_count)
            .then(|| unsafe { self.leaves.add(at as usize * self.kind.leaf_bytes() as usize) })
    }

    pub(crate) fn child_count(&self, node: *mut u8) -> usize {
        // SAFETY: `node` is one of this structure's.
        let n = unsafe { node.add(15).read_volatile() };
        n.min(8) as usize
    }

    pub(crate) fn child(&self, node: *mut u8, k: usize) -> Child {
        // SAFETY: as above; `k` is below 8.
        Child::of(unsafe { node.add(16).cast::<u32>().add(k & 7).read_volatile() })
    }

    /// The box of a child, as its node has it.
    pub(crate) fn child_bounds(&self, node: *mut u8, k: usize) -> [f32; 6] {
        // SAFETY: as above.
        unsafe {
            let mut out = [0.0; 6];
            for axis in 0..3 {
                let origin = node.cast::<f32>().add(axis).read();
                let step = f32::from_bits((node.add(12 + axis).read() as u32) << 23);
                let at = node.add(BOUNDS + AXIS * axis + (k & 7));
                out[axis] = origin + at.read() as f32 * step;
                out[axis + 3] = origin + at.add(8).read() as f32 * step;
            }
            out
        }
    }

    /// Word `row`, `lane` of a block.
    #[inline(always)]
    pub(crate) fn word(&self, block: *mut u8, row: usize, lane: usize) -> u32 {
        // SAFETY: a block of this structure has three rows of sixteen words.
        unsafe { block.cast::<u32>().add((row % 3) * 16 + (lane & 15)).read_volatile() }
    }

    pub(crate) fn float(&self, block: *mut u8, row: usize, lane: usize) -> f32 {
        f32::from_bits(self.word(block, row, lane))
    }
}

/// An instance as it stands in a top structure: these are the bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(16))]
pub struct Record {
    pub object_to_world: [f32; 12],
    pub world_to_object: [f32; 12],
    pub structure: u64,
    custom_and_mask: u32,
    sbt_and_flags: u32,
    pub index: u32,
    room: [u32; 3],
}

const _: () = assert!(std::mem::size_of::<Record>() == INSTANCE as usize);

impl Record {
    pub const NONE: Record = Record {
        object_to_world: [0.0; 12],
        world_to_object: [0.0; 12],
        structure: 0,
        custom_and_mask: 0,
        sbt_and_flags: 0,
        index: 0,
        room: [0; 3],
    };

    pub fn new(instance: &Instance, world_to_object: [f32; 12], index: u32) -> Record {
        Record {
            object_to_world: instance.transform,
            world_to_object,
            structure: instance.structure,
            custom_and_mask: instance.custom_index & 0xFF_FFFF | (instance.mask as u32) << 24,
            sbt_and_flags: instance.sbt_offset & 0xFF_FFFF | (instance.flags as u32) << 24,
            index,
            room: [0; 3],
        }
    }
    pub fn custom_index(&self) -> u32 {
        self.custom_and_mask & 0xFF_FFFF
    }
    pub fn mask(&self) -> u32 {
        self.custom_and_mask >> 24
    }
    pub fn sbt_offset(&self) -> u32 {
        self.sbt_and_flags & 0xFF_FFFF
    }
    pub fn flags(&self) -> u8 {
        (self.sbt_and_flags >> 24) as u8
    }

    /// # Safety
    /// `at` is a leaf of a top structure.
    #[inline(always)]
    pub unsafe fn read(at: *const u8) -> Record {
        // SAFETY: the caller's; any bits are a record.
        unsafe { at.cast::<Record>().read() }
    }

    /// # Safety
    /// As [`Self::read`].
    pub unsafe fn write(&self, at: *mut u8) {
        // SAFETY: the caller's.
        unsafe { at.cast::<Record>().write(*self) };
    }
}

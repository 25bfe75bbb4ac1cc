//! The accesses of builds and copies of acceleration structures, and of traces of rays.
//!
//! Of what a build reads, these are the vertices that its indices name, not all that a buffer has. A trace reads the structure that its rays
//! begin in; that they enter others, and what builds keep in their scratch memory, is not followed.

use super::{Tracker, Use, fences, in_order};
use crate::structure::{AccelerationStructure, Build, Command, Geometry, Indices, Range as Count, Ranges};
use crate::trace::Trace;
use ash::vk;
use machine::footprint::{self, Bytes};
use machine::lost::Place;
use machine::rays::Structures;
use sanitize::hazards::{Fences, access, stage};
use small_sort::SmallSort;
use std::ops::Range;

/// Vertices, boxes or instances of a build beyond which nothing is followed.
const MOST: u64 = 1 << 24;
/// Size of a VkAccelerationStructureInstanceKHR in bytes, and the offset of its structure's address.
const INSTANCE: u64 = 64;
const REFERENCE: u64 = 56;

const INPUT: Use =
    Use::read(stage::BUILD, access::SHADER_READ | access::STORAGE_READ | access::SAMPLED | access::UNIFORM);
const fn read(stage: u64) -> Use {
    Use::read(stage, access::STRUCTURE_READ)
}
const fn write(stage: u64) -> Use {
    Use::write(stage, access::STRUCTURE_WRITE)
}

/// What a build reads.
#[derive(Default)]
struct Inputs {
    geometry: Bytes,
    /// Structures of instances.
    structures: Bytes,
    /// Elements that may yet be followed.
    left: u64,
}

fn whole(s: &AccelerationStructure) -> Vec<Range<u64>> {
    let (p, n) = s.range();
    if p.is_null() { vec![] } else { std::iter::once(p as u64..p as u64 + n).collect() }
}

impl Tracker {
    /// A command on structures is about to be executed.
    pub(super) fn structure(&mut self, c: &Command, place: &Place) {
        use stage::{BUILD, BUILD_COPY, COPY};
        let mut all: Vec<(Use, Vec<Range<u64>>)> = vec![];
        match c {
            Command::Build(builds) => {
                let mut inputs = Inputs { left: MOST, ..Inputs::default() };
                let mut own = vec![];
                for b in builds {
                    self.inputs(b, &mut inputs);
                    own.extend(b.from.as_deref().map(whole).unwrap_or_default());
                }
                all.push((INPUT, inputs.geometry.ranges()));
                all.push((read(BUILD), inputs.structures.ranges()));
                all.push((read(BUILD), own));
                all.push((write(BUILD), builds.iter().flat_map(|b| whole(&b.to)).collect()));
            }
            Command::Copy { from, to, .. } => {
                all.push((read(BUILD_COPY), whole(from)));
                all.push((write(BUILD_COPY), whole(to)));
            }
            Command::Serialize { from, to } => {
                let n = from.bytes().and_then(bvh::serialized_size).unwrap_or(0);
                all.push((read(BUILD_COPY), whole(from)));
                let bytes = std::iter::once(*to..to.saturating_add(n));
                all.push((Use::write(COPY, access::TRANSFER_WRITE), bytes.collect()));
            }
            Command::Deserialize { to, .. } => all.push((write(BUILD_COPY), whole(to))),
            Command::WriteProperties { of, .. } => {
                all.push((read(BUILD_COPY), of.iter().flat_map(|s| whole(s)).collect()));
            }
            Command::BuildMicromaps(_) => {}
        }
        let who = self.who(place, String::new());
        for (of, mut bytes) in all {
            bytes.retain(|r| !r.is_empty());
            bytes.small_sort_by_key(|r| r.start);
            self.accessed(&who, of, &bytes);
        }
    }

    /// A trace of rays has run.
    pub fn traced(&mut self, t: &Trace, place: &Place) {
        let who = self.who(place, format!("pipeline {}", t.pipeline.title.steady()));
        // Of all its shaders together: which one touched what is not kept.
        let fences =
            t.pipeline.shaders.iter().map(|s| fences(&s.program)).fold(Fences::default(), Fences::or);
        for t in in_order(footprint::take()) {
            let of = Use::of(stage::RAYS, t.access, t.what, fences);
            self.accessed(&who, of, &t.bytes);
        }
    }

    /// Whether so many bytes are the device's.
    fn has(&self, at: u64, bytes: u64) -> bool {
        self.shared.memory.from(at).is_some_and(|n| n >= bytes)
    }

    fn word(&self, at: u64) -> u32 {
        if !self.has(at, 4) {
            return 0;
        }
        // SAFETY: four bytes of the device's memory.
        unsafe { (at as *const u32).read_unaligned() }
    }

    fn inputs(&self, b: &Build, to: &mut Inputs) {
        let counts: Vec<Count> = match &b.ranges {
            Ranges::Direct(list) => list.to_vec(),
            Ranges::Indirect { address, stride, most } => {
                let one = |(i, most): (usize, &u32)| {
                    let at = address.wrapping_add(i as u64 * *stride as u64);
                    let [count, offset, first_vertex, transform_offset] =
                        [0, 4, 8, 12].map(|k| self.word(at.wrapping_add(k)));
                    Count { count: count.min(*most), offset, first_vertex, transform_offset }
                };
                most.iter().enumerate().map(one).collect()
            }
        };
        for (g, r) in b.geometries.iter().zip(&counts) {
            let elements = r.count as u64 * if matches!(g, Geometry::Triangles { .. }) { 3 } else { 1 };
            let Some(left) = to.left.checked_sub(elements) else { return };
            to.left = left;
            match g {
                Geometry::Triangles { .. } => self.triangles(g, r, to),
                Geometry::Boxes { data, stride, .. } => {
                    for i in 0..elements {
                        let at = data.wrapping_add(i.wrapping_mul(*stride)).wrapping_add(r.offset as u64);
                        self.add(at, 24, &mut to.geometry);
                    }
                }
                Geometry::Instances { data, pointers } => {
                    let first = data.wrapping_add(r.offset as u64);
                    for i in 0..elements {
                        let mut at = first.wrapping_add(i * if *pointers { 8 } else { INSTANCE });
                        if *pointers {
                            self.add(at, 8, &mut to.geometry);
                            at = self.address(at);
                        }
                        self.add(at, INSTANCE, &mut to.geometry);
                        let structure = self.address(at.wrapping_add(REFERENCE));
                        if let Some(n) =
                            Structures(&self.shared.memory).at(structure).and_then(bvh::compacted_size)
                        {
                            self.add(structure, n, &mut to.structures);
                        }
                    }
                }
            }
        }
    }

    fn address(&self, at: u64) -> u64 {
        self.word(at) as u64 | (self.word(at.wrapping_add(4)) as u64) << 32
    }

    fn add(&self, at: u64, bytes: u64, to: &mut Bytes) {
        if self.has(at, bytes) {
            to.add(at..at + bytes);
        }
    }

    fn triangles(&self, g: &Geometry, r: &Count, to: &mut Inputs) {
        let Geometry::Triangles { format, vertices, stride, indices, transform, .. } = g else { return };
        let Some(format) = texel::format::info(*format) else { return };
        let bytes = format.block_bytes as u64;
        let mut vertex = |from: u64, n: u64| {
            let at = from.wrapping_add((r.first_vertex as u64 + n).wrapping_mul(*stride));
            self.add(at, bytes, &mut to.geometry);
        };
        let corners = 3 * r.count as u64;
        match *indices {
            Indices::None => {
                let from = vertices.wrapping_add(r.offset as u64);
                (0..corners).for_each(|n| vertex(from, n));
            }
            Indices::At(at, ty) => {
                let size = match ty {
                    vk::IndexType::UINT8_EXT => 1,
                    vk::IndexType::UINT16 => 2,
                    _ => 4,
                };
                let at = at.wrapping_add(r.offset as u64);
                if at.checked_add(corners * size).is_none() || !self.has(at, corners * size) {
                    return;
                }
                for n in 0..corners {
                    let p = (at + n * size) as *const u8;
                    // SAFETY: within the indices, which are the device's memory.
                    let index = unsafe {
                        match size {
                            1 => p.read() as u32,
                            2 => p.cast::<u16>().read_unaligned() as u32,
                            _ => p.cast::<u32>().read_unaligned(),
                        }
                    };
                    vertex(*vertices, index as u64);
                }
                to.geometry.add(at..at + corners * size);
            }
        }
        if *transform != 0 {
            self.add(transform.wrapping_add(r.transform_offset as u64), 48, &mut to.geometry);
        }
    }
}

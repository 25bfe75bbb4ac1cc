//! Input assembly: which vertices a chunk of primitives shades, and which of them make each primitive
//! (Vulkan specification, chapter "Drawing", "Primitive Topologies").

use super::stream::{Indices, Restarts, Segment, Sums, Unnoted};
use crate::draw::{Call, Draw};
use ash::vk;
use counters::Event;
use machine::sync::Hub;
use std::ops::Range;

/// What primitives of a draw are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TopologyClass {
    Point,
    Line,
    Triangle,
}

impl TopologyClass {
    /// Those that come in count as this.
    pub fn event(self) -> Event {
        match self {
            TopologyClass::Point => Event::Points,
            TopologyClass::Line => Event::Lines,
            TopologyClass::Triangle => Event::Triangles,
        }
    }
}

/// Entries of [`Cache`]; vertices of a chunk stay below half of it.
const CACHE: usize = 8192;
const SLOT_BITS: u32 = 12;

/// Index → vertex of the chunk, by open hashing. An entry is generation, index and slot.
struct Cache {
    entries: Box<[u64]>,
    generation: u64,
}

impl Cache {
    /// Forgets everything.
    fn clear(&mut self) {
        self.generation += 1;
        if self.generation >= 1 << (32 - SLOT_BITS) {
            self.entries.fill(0);
            self.generation = 1;
        }
    }
    /// The slot of an index, or `Err` with the place to enter it.
    #[inline(always)]
    fn find(&self, index: u32) -> Result<u32, usize> {
        let tag = self.generation << 32 | index as u64;
        let mut at = (index.wrapping_mul(0x9E37_79B1) >> (32 - CACHE.trailing_zeros())) as usize;
        loop {
            let e = self.entries[at & (CACHE - 1)];
            if e >> SLOT_BITS == tag {
                return Ok(e as u32 & ((1 << SLOT_BITS) - 1));
            }
            if e >> (SLOT_BITS + 32) != self.generation {
                return Err(at & (CACHE - 1));
            }
            at += 1;
        }
    }
    fn enter(&mut self, at: usize, index: u32, slot: u32) {
        self.entries[at] = (self.generation << 32 | index as u64) << SLOT_BITS | slot as u64;
    }
}

/// A chunk of primitives: the vertices to shade, and the primitives by numbers of these vertices.
pub struct Assembled {
    /// VertexIndex and InstanceIndex of each vertex.
    pub index: Vec<u32>,
    pub instance: Vec<u32>,
    /// First, second and third vertex of each primitive (points and lines use fewer).
    pub v: [Vec<u32>; 3],
    /// PrimitiveId of each primitive.
    pub ids: Vec<u32>,
    /// Line strips: primitives with which a strip starts.
    pub starts: Vec<bool>,
    /// All vertices of each primitive, adjacent ones and a patch's too, where a stage wants them: [`Assembly::each`] of each.
    pub all: Vec<u32>,
    read: Vec<u32>,
    /// A part of the stream that is looked through for restarts.
    block: Vec<u32>,
    locals: Vec<u32>,
    cache: Cache,
}

impl Default for Assembled {
    fn default() -> Assembled {
        Assembled {
            index: Vec::new(),
            instance: Vec::new(),
            v: Default::default(),
            ids: Vec::new(),
            starts: Vec::new(),
            all: Vec::new(),
            read: Vec::new(),
            block: Vec::new(),
            locals: Vec::new(),
            cache: Cache { entries: vec![0; CACHE].into(), generation: 0 },
        }
    }
}

/// How a draw's vertices become primitives.
pub struct Assembly {
    pub kind: TopologyClass,
    topology: vk::PrimitiveTopology,
    indices: Option<Indices>,
    first: u32,
    vertex_offset: u32,
    first_instance: u32,
    last: bool,
    /// Where primitives restart, if they may.
    restarts: Option<Restarts>,
    /// Primitives of one instance, and of the draw.
    pub per_instance: u32,
    pub total: u64,
    /// Vertices of one instance that belong to primitives' segments.
    pub vertices: u64,
    /// Primitives of a chunk.
    pub chunk: u32,
    /// Vertices of a primitive, all that a stage before rasterisation sees of it; 0: there is none, and nobody asks.
    pub each: u32,
    /// Control points of a patch.
    patch: u32,
}

// SAFETY: the index pointer is read only; the draw keeps its buffer.
unsafe impl Sync for Assembly {}

/// Complete primitives of `n` vertices; `patch`: control points of a patch.
fn primitives(topology: vk::PrimitiveTopology, n: u32, patch: u32) -> u32 {
    match topology {
        vk::PrimitiveTopology::POINT_LIST => n,
        vk::PrimitiveTopology::LINE_LIST => n / 2,
        vk::PrimitiveTopology::LINE_STRIP => n.saturating_sub(1),
        vk::PrimitiveTopology::TRIANGLE_LIST => n / 3,
        vk::PrimitiveTopology::TRIANGLE_STRIP | vk::PrimitiveTopology::TRIANGLE_FAN => n.saturating_sub(2),
        vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY => n / 4,
        vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY => n.saturating_sub(3),
        vk::PrimitiveTopology::TRIANGLE_LIST_WITH_ADJACENCY => n / 6,
        vk::PrimitiveTopology::TRIANGLE_STRIP_WITH_ADJACENCY => n.saturating_sub(4) / 2,
        vk::PrimitiveTopology::PATCH_LIST => n / patch.max(1),
        _ => 0,
    }
}

impl Assembly {
    /// Bytes of the indices of one instance.
    pub fn index_bytes(&self) -> u64 {
        self.indices.as_ref().map_or(0, |i| self.vertices * i.width())
    }

    /// # Errors
    /// If the stream of indices has not been looked through.
    pub fn new(hub: &Hub, draw: &Draw, call: &Call) -> Result<Assembly, Unnoted> {
        let state = &draw.state;
        let topology = state.topology;
        let (kind, chunk) = match topology {
            vk::PrimitiveTopology::POINT_LIST => (TopologyClass::Point, 1024),
            vk::PrimitiveTopology::LINE_LIST => (TopologyClass::Line, 1024),
            vk::PrimitiveTopology::LINE_STRIP => (TopologyClass::Line, 1023),
            // Vertices fill whole waves; indexed ones are fewer than primitives as a rule.
            vk::PrimitiveTopology::TRIANGLE_LIST => {
                (TopologyClass::Triangle, if call.indexed { 1280 } else { 768 })
            }
            vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY => (TopologyClass::Line, 768),
            vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY => (TopologyClass::Line, 1021),
            vk::PrimitiveTopology::TRIANGLE_LIST_WITH_ADJACENCY => (TopologyClass::Triangle, 512),
            // A chunk has no more than 4096 vertices.
            vk::PrimitiveTopology::PATCH_LIST => {
                (TopologyClass::Triangle, (2048 / state.patch_vertices.max(1)).clamp(1, 256))
            }
            _ => (TopologyClass::Triangle, 1022),
        };
        let each = match topology {
            _ if !draw.pipeline.is_staged() => 0,
            vk::PrimitiveTopology::LINE_LIST_WITH_ADJACENCY
            | vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY => 4,
            vk::PrimitiveTopology::TRIANGLE_LIST_WITH_ADJACENCY
            | vk::PrimitiveTopology::TRIANGLE_STRIP_WITH_ADJACENCY => 6,
            vk::PrimitiveTopology::PATCH_LIST => state.patch_vertices.max(1),
            _ => match kind {
                TopologyClass::Point => 1,
                TopologyClass::Line => 2,
                TopologyClass::Triangle => 3,
            },
        };
        let mut a = Assembly {
            kind,
            topology,
            indices: call.indexed.then(|| Indices::new(draw)),
            first: call.first,
            vertex_offset: call.vertex_offset as u32,
            first_instance: call.first_instance,
            last: state.raster.provoking_last,
            restarts: None,
            per_instance: 0,
            total: 0,
            vertices: 0,
            chunk,
            each,
            patch: state.patch_vertices.max(1),
        };
        let prims = |n| primitives(topology, n, a.patch);
        let sums = match a.indices {
            Some(i) if state.primitive_restart => {
                let stop = draw.index_buffer.as_ref().map_or(u32::MAX, |b| b.restart);
                let (restarts, sums) = Restarts::new(hub, i, (call.first, call.count), stop, prims)?;
                a.restarts = Some(restarts);
                sums
            }
            _ => Sums { vertices: call.count as u64, prims: prims(call.count) },
        };
        a.vertices = sums.vertices;
        a.per_instance = sums.prims;
        a.total = a.per_instance as u64 * call.instances as u64;
        Ok(a)
    }

    pub fn chunks(&self) -> u64 {
        self.total.div_ceil(self.chunk as u64)
    }

    /// Primitives of chunks, if each comes out of assembly as it is (patches do not).
    pub fn primitives_of(&self, chunks: Range<u64>) -> Option<u64> {
        let first = |c: u64| (c * self.chunk as u64).min(self.total);
        let whole = self.topology != vk::PrimitiveTopology::PATCH_LIST;
        whole.then(|| first(chunks.end) - first(chunks.start))
    }

    /// Vertex of a primitive that flat inputs come from.
    pub fn provoking_of(&self, kind: TopologyClass) -> usize {
        match (self.last, kind) {
            (true, TopologyClass::Line) => 1,
            (true, TopologyClass::Triangle) => 2,
            _ => 0,
        }
    }

    /// Assembles chunk `c`, or a part of it when work is to stop.
    pub fn assemble(&self, hub: &Hub, c: u64, out: &mut Assembled) {
        out.index.clear();
        out.instance.clear();
        out.v.iter_mut().for_each(Vec::clear);
        out.ids.clear();
        out.starts.clear();
        out.all.clear();
        let mut p = c * self.chunk as u64;
        let end = (p + self.chunk as u64).min(self.total);
        let prims = |n| primitives(self.topology, n, self.patch);
        let whole = Segment { start: 0, prims: self.per_instance, before: 0 };
        let mut block = std::mem::take(&mut out.block);
        let mut walk = None;
        let mut instance = u64::MAX;
        while p < end {
            let i = p / self.per_instance as u64;
            let q = (p % self.per_instance as u64) as u32;
            if i != instance {
                instance = i;
                out.cache.clear();
                walk = self.restarts.as_ref().map(|r| r.walk(q, &mut block));
            }
            let s = match &mut walk {
                None => whole,
                Some(walk) => match walk.to(hub, q, end - p, prims) {
                    Some(s) => s,
                    None => break,
                },
            };
            let skip = q - s.before;
            let n = ((s.prims - skip) as u64).min(end - p) as u32;
            self.part(self.first_instance.wrapping_add(i as u32), s, skip, n, out);
            out.ids.extend(q..q + n);
            let strips =
                [vk::PrimitiveTopology::LINE_STRIP, vk::PrimitiveTopology::LINE_STRIP_WITH_ADJACENCY];
            if strips.contains(&self.topology) {
                out.starts.extend((0..n).map(|i| skip + i == 0));
            }
            p += n as u64;
        }
        out.block = block;
    }

    /// Primitives `skip .. skip + n` of a segment.
    fn part(&self, instance: u32, s: Segment, skip: u32, n: u32, out: &mut Assembled) {
        use vk::PrimitiveTopology as T;
        out.locals.clear();
        // Vertices: positions in the stream, then their numbers in the chunk in `locals`.
        let (from, count) = match self.topology {
            T::POINT_LIST => (skip, n),
            T::LINE_LIST => (skip * 2, n * 2),
            T::LINE_STRIP => (skip, n + 1),
            T::TRIANGLE_LIST => (skip * 3, n * 3),
            T::TRIANGLE_STRIP => (skip, n + 2),
            T::LINE_LIST_WITH_ADJACENCY => (skip * 4, n * 4),
            T::LINE_STRIP_WITH_ADJACENCY => (skip, n + 3),
            T::TRIANGLE_LIST_WITH_ADJACENCY => (skip * 6, n * 6),
            T::TRIANGLE_STRIP_WITH_ADJACENCY => {
                let from = (skip * 2).saturating_sub(2);
                (from, (skip * 2 + n * 2 + 5).min(s.prims * 2 + 4) - from)
            }
            T::PATCH_LIST => (skip * self.patch, n * self.patch),
            _ => (skip + 1, n + 1),
        };
        if self.topology == T::TRIANGLE_FAN {
            self.vertices(s.start, 1, out);
        }
        self.vertices(s.start + from, count, out);
        out.instance.resize(out.index.len(), instance);

        let Assembled { v: [v0, v1, v2], locals: l, all, .. } = out;
        match self.topology {
            T::LINE_LIST_WITH_ADJACENCY | T::LINE_STRIP_WITH_ADJACENCY => {
                let step = if self.topology == T::LINE_LIST_WITH_ADJACENCY { 4 } else { 1 };
                for w in l.windows(4).step_by(step) {
                    v0.push(w[1]);
                    v1.push(w[2]);
                    if self.each > 0 {
                        all.extend_from_slice(w);
                    }
                }
                return;
            }
            T::TRIANGLE_LIST_WITH_ADJACENCY => {
                for w in l.chunks_exact(6) {
                    v0.push(w[0]);
                    v1.push(w[2]);
                    v2.push(w[4]);
                }
                if self.each > 0 {
                    all.extend_from_slice(l);
                }
                return;
            }
            T::TRIANGLE_STRIP_WITH_ADJACENCY => {
                for i in skip..skip + n {
                    let w = self.adjacent(i, s.prims).map(|p| l[(p - from) as usize]);
                    v0.push(w[0]);
                    v1.push(w[2]);
                    v2.push(w[4]);
                    if self.each > 0 {
                        all.extend_from_slice(&w);
                    }
                }
                return;
            }
            T::PATCH_LIST => {
                all.extend_from_slice(l);
                return;
            }
            _ => {}
        }
        let first = v0.len();
        match self.topology {
            T::POINT_LIST => v0.extend_from_slice(l),
            T::LINE_LIST => {
                v0.extend(l.chunks_exact(2).map(|c| c[0]));
                v1.extend(l.chunks_exact(2).map(|c| c[1]));
            }
            T::LINE_STRIP => {
                v0.extend_from_slice(&l[..n as usize]);
                v1.extend_from_slice(&l[1..]);
            }
            T::TRIANGLE_LIST => {
                v0.extend(l.chunks_exact(3).map(|c| c[0]));
                v1.extend(l.chunks_exact(3).map(|c| c[1]));
                v2.extend(l.chunks_exact(3).map(|c| c[2]));
            }
            T::TRIANGLE_STRIP => {
                for (i, w) in l.windows(3).enumerate() {
                    // Odd triangles swap two vertices to keep their winding; the provoking one stays in its place.
                    let (a, b, c) = match ((skip + i as u32) & 1, self.last) {
                        (0, _) => (0, 1, 2),
                        (_, false) => (0, 2, 1),
                        (_, true) => (1, 0, 2),
                    };
                    v0.push(w[a]);
                    v1.push(w[b]);
                    v2.push(w[c]);
                }
            }
            _ => {
                let hub = l[0];
                for w in l[1..].windows(2) {
                    let t = if self.last { [hub, w[0], w[1]] } else { [w[0], w[1], hub] };
                    v0.push(t[0]);
                    v1.push(t[1]);
                    v2.push(t[2]);
                }
            }
        }
        if self.each > 0 {
            for i in first..v0.len() {
                all.push(v0[i]);
                if self.each > 1 {
                    all.push(v1[i]);
                }
                if self.each > 2 {
                    all.push(v2[i]);
                }
            }
        }
    }

    /// Triangle `i` of `n` of a strip with adjacency: positions in the strip (§ Triangle Strips With Adjacency).
    fn adjacent(&self, i: u32, n: u32) -> [u32; 6] {
        let [a, b, c] = [2 * i, 2 * i + 2, 2 * i + 4];
        // Beyond the edges from a to b, from b to c and from c to a.
        let ab = if i == 0 { 1 } else { 2 * i - 2 };
        let bc = if i + 1 == n { 2 * i + 5 } else { 2 * i + 6 };
        let ca = 2 * i + 3;
        match (i & 1, self.last) {
            (0, _) => [a, ab, b, bc, c, ca],
            (_, false) => [a, ca, c, bc, b, ab],
            (_, true) => [b, ab, a, ca, c, bc],
        }
    }

    /// Adds `n` vertices of the stream from `position` to the chunk, and their numbers to `locals`.
    fn vertices(&self, position: u32, n: u32, out: &mut Assembled) {
        let Some(indices) = self.indices else {
            let (base, first) = (out.index.len() as u32, self.first.wrapping_add(position));
            out.index.extend((0..n).map(|i| first.wrapping_add(i)));
            out.locals.extend(base..base + n);
            return;
        };
        out.read.clear();
        indices.read(self.first as u64 + position as u64, n, &mut out.read);
        let Assembled { index, locals, read, cache, .. } = out;
        for &i in read.iter() {
            let i = i.wrapping_add(self.vertex_offset);
            let slot = match cache.find(i) {
                Ok(slot) => slot,
                Err(at) => {
                    let slot = index.len() as u32;
                    cache.enter(at, i, slot);
                    index.push(i);
                    slot
                }
            };
            locals.push(slot);
        }
    }
}

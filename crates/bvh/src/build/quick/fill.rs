//! Nodes and leaves, as bytes.

use super::super::shapes::{Pair, corners, of_instance};
use super::super::wide::{encode, record};
use super::super::{Bounds, NOTHING, room};
use super::cut::{Entry, Job};
use super::{Made, Source};
use crate::layout::{BLOCK, Child, INSTANCE, LANES, NODE, Parts};
use crate::micromap::PLAIN;
use crate::{Error, Geometry, Input, Pool};
use simd::{Level, Quad, prefetch};

/// Structures with as many bytes are written past the caches.
const LARGE: u64 = 8 << 20;
/// Nodes whose leaves are asked for ahead of the one that is written.
const AHEAD: usize = 3;

/// What all tasks share.
struct Filler<'a> {
    made: &'a Made<'a>,
    nodes: *mut u8,
    leaves: *mut u8,
    /// By node.
    bounds: *mut Pair,
    past_caches: bool,
}

// SAFETY: tasks write separate places.
unsafe impl Sync for Filler<'_> {}

/// Writes all; the bounds of all.
///
/// # Safety
/// `parts` lie in the memory from `base` on, and have room for what the plan has.
pub unsafe fn write(
    level: Level,
    made: &Made,
    base: *mut u8,
    parts: &Parts,
    pool: &dyn Pool,
) -> Result<Bounds, Error> {
    let plan = &made.plan;
    let mut bounds = room::<Pair>(plan.nodes as usize)?;
    // SAFETY: the caller's.
    let (nodes, leaves) = unsafe { (base.add(parts.nodes as usize), base.add(parts.leaves as usize)) };
    let past_caches = parts.size >= LARGE;
    let filler = Filler { made, nodes, leaves, bounds: bounds.as_mut_ptr(), past_caches };
    // SAFETY: jobs have separate places; those above read bounds that were written before.
    unsafe {
        pool.run(plan.jobs.len(), &|n| {
            fill(level, &filler, &plan.jobs[n]);
            simd::streamed();
        });
        for job in plan.above.iter().rev() {
            fill(level, &filler, job);
        }
        simd::streamed();
        if plan.nodes == 0 { Ok(NOTHING) } else { Ok(bounds.as_ptr().read().bounds()) }
    }
}

/// Writes the nodes and leaves of a job.
///
/// # Safety
/// The bounds of nodes that other jobs write are there; no other task uses the places.
#[inline(always)]
unsafe fn fill_body(filler: &Filler, job: &Job) {
    let plan = &filler.made.plan;
    let entries = plan.of(job);
    for entry in entries.iter().rev().take(AHEAD) {
        filler.ask(entry);
    }
    for at in (0..entries.len()).rev() {
        if at >= AHEAD {
            filler.ask(&entries[at - AHEAD]);
        }
        let entry = &entries[at];
        let node = if at == 0 { job.node } else { job.nodes + at as u32 - 1 };
        let (mut below, mut leaf) = (job.nodes + entry.nodes, job.leaves + entry.leaves);
        let mut child = [Child::None; 8];
        let mut boxes = [NOTHING; 8];
        let mut all = Pair::nothing();
        let count = entry.children as usize & 15;
        for k in 0..count.min(8) {
            let pair;
            // SAFETY: the job's places, and nodes after this one.
            unsafe {
                if entry.leaf[k] == 0 {
                    child[k] = Child::Node(below);
                    pair = filler.bounds.add(below as usize).read();
                    below += 1;
                } else {
                    child[k] = Child::Leaf(leaf);
                    pair = filler.leaf(entry.begin[k] as usize, entry.leaf[k] as usize, leaf);
                    leaf += 1;
                }
            }
            all.join(&pair);
            boxes[k] = pair.bounds();
        }
        // SAFETY: as above.
        unsafe {
            encode(filler.nodes.add(node as usize * NODE as usize), &boxes[..count.min(8)], &child);
            filler.bounds.add(node as usize).write(all);
        }
    }
}

simd::by_level!(unsafe fn fill = plain fill_body, (filler: &Filler, job: &Job));

/// An unused lane.
static NO_TRIANGLE: [f32; 9] = [f32::NAN; 9];

impl Source<'_> {
    /// The floats of a primitive.
    #[inline(always)]
    fn floats(&self, geometry: &Geometry, primitive: usize) -> *const f32 {
        match geometry {
            Geometry::Triangles { positions, .. } => {
                positions[primitive * 3..primitive * 3 + 3].as_ptr().cast()
            }
            Geometry::Boxes { bounds, .. } => bounds[primitive].as_ptr(),
        }
    }
}

impl Filler<'_> {
    /// Asks for the primitives of a node's leaves.
    #[inline(always)]
    fn ask(&self, entry: &Entry) {
        let (source, keys) = (&self.made.source, &self.made.keys);
        for k in 0..entry.children as usize & 15 {
            for at in 0..entry.leaf[k & 7] as usize {
                let (geometry, primitive) = source.find(keys.number(entry.begin[k & 7] as usize + at));
                match source.input {
                    Input::Instances(all) => {
                        let at = std::ptr::from_ref(&all[primitive]).cast::<u8>();
                        prefetch(at);
                        prefetch(at.wrapping_add(64));
                    }
                    Input::Geometries(all) => {
                        let at = source.floats(&all[geometry], primitive).cast::<u8>();
                        prefetch(at);
                        prefetch(at.wrapping_add(35));
                    }
                }
            }
        }
    }

    /// Writes a leaf of the primitives from `begin` on; its box.
    ///
    /// # Safety
    /// The place is the caller's; there are at most four primitives.
    #[inline(always)]
    unsafe fn leaf(&self, begin: usize, count: usize, at: u32) -> Pair {
        let (source, keys) = (&self.made.source, &self.made.keys);
        match source.input {
            Input::Instances(all) => {
                let index = keys.number(begin);
                let instance = &all[index];
                // SAFETY: the leaf's place.
                unsafe {
                    let to = self.leaves.add(at as usize * INSTANCE as usize);
                    record(instance, index as u32).write(to);
                }
                of_instance(instance)
            }
            Input::Geometries(all) => {
                let mut from = [NO_TRIANGLE.as_ptr(); LANES];
                let mut words = [[0u32; LANES]; 3];
                for lane in 0..count.min(LANES) {
                    let (geometry, primitive) = source.find(keys.number(begin + lane));
                    let of = &all[geometry];
                    from[lane] = source.floats(of, primitive);
                    words[0][lane] = primitive as u32;
                    words[1][lane] = geometry as u32 & 0xFF_FFFF | of.flags() << 24;
                    words[2][lane] = PLAIN;
                }
                // SAFETY: the leaf's place; so many floats are there of each.
                unsafe {
                    let to = self.leaves.add(at as usize * BLOCK as usize).cast::<f32>();
                    match all[0] {
                        Geometry::Triangles { .. } => self.triangles(&from, count, &words, to),
                        Geometry::Boxes { .. } => self.boxes(&from, count, &words, to),
                    }
                }
            }
        }
    }

    /// Three rows of a block.
    #[inline(always)]
    unsafe fn rows(&self, to: *mut f32, rows: [[Quad; 3]; 3], words: &[[u32; LANES]; 3]) {
        for (row, of) in rows.iter().enumerate() {
            let last = Quad::new(words[row].map(f32::from_bits));
            for (k, quad) in of.iter().chain([&last]).enumerate() {
                // SAFETY: the caller's; blocks are aligned to lines.
                unsafe {
                    let to = to.add(row * 16 + k * 4);
                    if self.past_caches { quad.stream(to) } else { quad.store(to) }
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn triangles(
        &self,
        from: &[*const f32; LANES],
        count: usize,
        words: &[[u32; LANES]; 3],
        to: *mut f32,
    ) -> Pair {
        // SAFETY: the caller's: nine floats of each.
        unsafe {
            let mut all = Pair::nothing();
            for p in &from[..count.min(LANES)] {
                all.join(&Pair::of_triangle(*p));
            }
            let of = [corners(from[0]), corners(from[1]), corners(from[2]), corners(from[3])];
            let column = |v: usize| Quad::transpose([of[0][v], of[1][v], of[2][v], of[3][v]]);
            let (a, b, c) = (column(0), column(1), column(2));
            let row = |axis: usize| [a[axis], b[axis], c[axis]];
            self.rows(to, [row(0), row(1), row(2)], words);
            all
        }
    }

    #[inline(always)]
    unsafe fn boxes(
        &self,
        from: &[*const f32; LANES],
        count: usize,
        words: &[[u32; LANES]; 3],
        to: *mut f32,
    ) -> Pair {
        // SAFETY: the caller's: six floats of each.
        unsafe {
            let mut all = Pair::nothing();
            for p in &from[..count.min(LANES)] {
                all.join(&Pair::of_box(&*p.cast::<[f32; 6]>()));
            }
            let low = Quad::transpose(from.map(|p| Quad::load(p)));
            let high = Quad::transpose(from.map(|p| Quad::load(p.add(2)).upper3()));
            let lane = |lane: usize| if lane < count { 0.0 } else { f32::NAN };
            let none = Quad::new([lane(0), lane(1), lane(2), lane(3)]);
            let row = |axis: usize| [low[axis], high[axis], none];
            self.rows(to, [row(0), row(1), row(2)], words);
            all
        }
    }
}

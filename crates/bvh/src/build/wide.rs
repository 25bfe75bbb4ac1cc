//! From the binary tree to nodes of eight children, leaves, and their bytes.

use super::{Binary, Bounds, Places, Prim, TASK, area, room};
use crate::layout::{AXIS, BLOCK, BOUNDS, Child, INSTANCE, LANES, NODE, Parts, Record};
use crate::{Error, Geometry, Input, Instance, Pool};

/// A part of the binary tree.
#[derive(Clone, Copy)]
struct Part {
    bounds: Bounds,
    area: f32,
    /// Where it is split, or 0 for a leaf.
    at: u32,
    begin: u32,
    end: u32,
}

const NO_PART: Part = Part { bounds: super::NOTHING, area: 0.0, at: 0, begin: 0, end: 0 };

impl Binary {
    fn open(&self, part: &Part) -> [Part; 2] {
        let split = &self.splits[self.slot(part.at)];
        let of = |side: usize, begin: u32, end: u32| {
            let bounds = split.bounds[side];
            Part { bounds, area: area(&bounds), at: split.child[side], begin, end }
        };
        [of(0, part.begin, part.at), of(1, part.at, part.end)]
    }

    /// The children of the node that a part becomes: both of its sides opened, and then the largest, until there are eight.
    fn children(&self, part: &Part, out: &mut [Part; 8]) -> usize {
        if part.at == 0 {
            out[0] = *part;
            return 1;
        }
        let sides = self.open(part);
        let mut count = 0;
        // Both are opened in any case: the depth of the tree depends on it.
        for side in sides {
            if side.at != 0 {
                let [a, b] = self.open(&side);
                (out[count], out[count + 1]) = (a, b);
                count += 2;
            } else {
                out[count] = side;
                count += 1;
            }
        }
        while count < 8 {
            let mut best: Option<usize> = None;
            for k in 0..count {
                if out[k].at != 0 && best.is_none_or(|b| out[k].area > out[b].area) {
                    best = Some(k);
                }
            }
            let Some(k) = best else { break };
            let [a, b] = self.open(&out[k]);
            (out[k], out[count]) = (a, b);
            count += 1;
        }
        count
    }

    fn root(&self, prims: usize) -> Part {
        Part { bounds: self.bounds, area: area(&self.bounds), at: self.root, begin: 0, end: prims as u32 }
    }

    /// Nodes below a node's own, and leaves.
    fn count(&self, part: &Part) -> (u32, u32) {
        let mut kids = [NO_PART; 8];
        let n = self.children(part, &mut kids);
        let (mut nodes, mut leaves) = (0, 0);
        for kid in &kids[..n] {
            if kid.at == 0 {
                leaves += 1;
            } else {
                let (below, more) = self.count(kid);
                nodes += 1 + below;
                leaves += more;
            }
        }
        (nodes, leaves)
    }
}

/// A node that is written at a place, with the places of its children.
#[derive(Clone, Copy)]
struct Job {
    part: Part,
    node: u32,
    /// Of its children and what is below them.
    nodes: u32,
    leaves: u32,
    /// Only the node itself and its leaves, or all below it.
    whole: bool,
}

pub struct Plan {
    pub nodes: u32,
    pub leaves: u32,
    jobs: Vec<Job>,
}

/// Where all goes. Nodes of large parts come first, then each task's.
pub fn plan(tree: &Binary, prims: usize, pool: &dyn Pool) -> Result<Plan, Error> {
    let mut plan = Plan { nodes: 0, leaves: 0, jobs: Vec::new() };
    if prims == 0 {
        return Ok(plan);
    }
    let mut todo = vec![(tree.root(prims), 0)];
    plan.nodes = 1;
    let mut at = 0;
    while at < todo.len() {
        let (part, node) = todo[at];
        at += 1;
        let whole = (part.end - part.begin) as usize <= TASK;
        let mut job = Job { part, node, nodes: plan.nodes, leaves: plan.leaves, whole };
        if !whole {
            let mut kids = [NO_PART; 8];
            let n = tree.children(&part, &mut kids);
            todo.try_reserve(n).map_err(|_| Error::OutOfMemory)?;
            for kid in &kids[..n] {
                if kid.at == 0 {
                    plan.leaves += 1;
                } else {
                    todo.push((*kid, plan.nodes));
                    plan.nodes += 1;
                }
            }
        } else {
            job.nodes = 0;
        }
        plan.jobs.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
        plan.jobs.push(job);
    }
    let mut counts = room::<(u32, u32)>(plan.jobs.len())?;
    let places = Places(counts.as_mut_ptr());
    let jobs = &plan.jobs;
    pool.run(jobs.len(), &|n| {
        let count = if jobs[n].whole { tree.count(&jobs[n].part) } else { (0, 0) };
        // SAFETY: one place a task.
        unsafe { places.get().add(n).write(count) };
    });
    // SAFETY: written by the tasks.
    unsafe { counts.set_len(jobs.len()) };
    for (job, (nodes, leaves)) in plan.jobs.iter_mut().zip(&counts) {
        if job.whole {
            (job.nodes, job.leaves) = (plan.nodes, plan.leaves);
            plan.nodes += nodes;
            plan.leaves += leaves;
        }
    }
    Ok(plan)
}

struct Writer<'a> {
    tree: &'a Binary,
    prims: &'a [Prim],
    input: &'a Input<'a>,
    nodes: Places<u8>,
    leaves: Places<u8>,
}

/// Writes nodes and leaves.
///
/// # Safety
/// `parts` lie in the memory from `base` on, and have room for what `plan` has.
pub unsafe fn write(
    tree: &Binary,
    plan: &Plan,
    prims: &[Prim],
    input: &Input,
    base: *mut u8,
    parts: &Parts,
    pool: &dyn Pool,
) {
    // SAFETY: the caller's.
    let (nodes, leaves) = unsafe { (base.add(parts.nodes as usize), base.add(parts.leaves as usize)) };
    let writer = Writer { tree, prims, input, nodes: Places(nodes), leaves: Places(leaves) };
    pool.run(plan.jobs.len(), &|n| {
        let job = plan.jobs[n];
        let (mut nodes, mut leaves) = (job.nodes, job.leaves);
        // SAFETY: jobs have separate places.
        unsafe { writer.node(&job.part, job.node, &mut nodes, &mut leaves, job.whole) };
    });
}

impl Writer<'_> {
    /// Writes a node and its leaves, and with `below` everything below them.
    unsafe fn node(&self, part: &Part, node: u32, nodes: &mut u32, leaves: &mut u32, below: bool) {
        let mut kids = [NO_PART; 8];
        let n = self.tree.children(part, &mut kids);
        let mut bounds = [super::NOTHING; 8];
        let mut child = [Child::None; 8];
        for k in 0..n {
            bounds[k] = kids[k].bounds;
            if kids[k].at == 0 {
                child[k] = Child::Leaf(*leaves);
                // SAFETY: the place is this job's.
                unsafe { self.leaf(&kids[k], *leaves) };
                *leaves += 1;
            } else {
                child[k] = Child::Node(*nodes);
                *nodes += 1;
            }
        }
        // SAFETY: as above.
        unsafe { encode(self.nodes.get().add(node as usize * NODE as usize), &bounds[..n], &child) };
        if below {
            for k in 0..n {
                if let Child::Node(at) = child[k] {
                    // SAFETY: as above.
                    unsafe { self.node(&kids[k], at, nodes, leaves, true) };
                }
            }
        }
    }

    unsafe fn leaf(&self, part: &Part, at: u32) {
        let prims = &self.prims[part.begin as usize..part.end as usize];
        match self.input {
            Input::Instances(all) => {
                // SAFETY: the leaf's place.
                let to = unsafe { self.leaves.get().add(at as usize * INSTANCE as usize) };
                let index = prims[0].primitive;
                // SAFETY: as above.
                unsafe { record(&all[index as usize], index).write(to) };
            }
            Input::Geometries(all) => {
                // SAFETY: as above.
                let to = unsafe { self.leaves.get().add(at as usize * BLOCK as usize) };
                let mut words = [[0u32; 16]; 3];
                for lane in 0..LANES {
                    let Some(p) = prims.get(lane) else {
                        unused(&mut words, lane);
                        continue;
                    };
                    block_lane(&mut words, lane, &all[p.geometry as usize], p.primitive as usize);
                    words[0][12 + lane] = p.primitive;
                    words[1][12 + lane] = p.geometry & 0xFF_FFFF | all[p.geometry as usize].flags() << 24;
                    words[2][12 + lane] = 1;
                }
                // SAFETY: as above.
                unsafe { to.cast::<[[u32; 16]; 3]>().write(words) };
            }
        }
    }
}

fn unused(words: &mut [[u32; 16]; 3], lane: usize) {
    for row in words {
        for v in 0..3 {
            row[v * LANES + lane] = f32::NAN.to_bits();
        }
    }
}

/// Positions of a primitive, in its lane of a block.
#[inline(always)]
pub fn block_lane(words: &mut [[u32; 16]; 3], lane: usize, geometry: &Geometry, primitive: usize) {
    match geometry {
        Geometry::Triangles { positions, .. } => {
            let p = &positions[primitive * 3..primitive * 3 + 3];
            for axis in 0..3 {
                for v in 0..3 {
                    words[axis][v * LANES + lane] = p[v][axis].to_bits();
                }
            }
        }
        Geometry::Boxes { bounds, .. } => {
            let b = &bounds[primitive];
            for axis in 0..3 {
                words[axis][lane] = b[axis].to_bits();
                words[axis][LANES + lane] = b[axis + 3].to_bits();
            }
        }
    }
}

/// An instance as a leaf has it.
pub fn record(instance: &Instance, index: u32) -> Record {
    Record {
        object_to_world: instance.transform,
        world_to_object: inverse(&instance.transform),
        structure: instance.structure,
        custom_index: instance.custom_index,
        mask: instance.mask,
        sbt_offset: instance.sbt_offset,
        flags: instance.flags,
        index,
    }
}

/// The inverse of three rows of four; not finite if there is none.
fn inverse(m: &[f32; 12]) -> [f32; 12] {
    let m = m.map(f64::from);
    let at = |r: usize, c: usize| m[r * 4 + c];
    let cofactor = |r: usize, c: usize| {
        let (r1, r2, c1, c2) = ((r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3);
        at(r1, c1) * at(r2, c2) - at(r1, c2) * at(r2, c1)
    };
    let determinant = (0..3).map(|c| at(0, c) * cofactor(0, c)).sum::<f64>();
    let mut out = [0.0; 12];
    for r in 0..3 {
        let row: [f64; 3] = std::array::from_fn(|c| cofactor(c, r) / determinant);
        let shift = -(0..3).map(|c| row[c] * at(c, 3)).sum::<f64>();
        for c in 0..3 {
            out[r * 4 + c] = row[c] as f32;
        }
        out[r * 4 + 3] = shift as f32;
    }
    out
}

/// Writes a node: see the crate's page for its layout.
///
/// # Safety
/// `to` is a node's place; there are at most eight boxes.
#[inline(always)]
pub unsafe fn encode(to: *mut u8, boxes: &[Bounds], child: &[Child; 8]) {
    let mut all = super::NOTHING;
    for b in boxes {
        super::join(&mut all, b);
    }
    let mut bytes = [0u8; NODE as usize];
    for axis in 0..3 {
        let origin = all[axis];
        let extent = -all[axis + 3] - origin;
        // The next power of two above a 255th; not so small that its reciprocal is not finite.
        let exponent = (((extent * (1.0 / 254.5)).to_bits() >> 23) + 1).clamp(127 - 60, 127 + 126);
        let by = f32::from_bits((254 - exponent) << 23);
        bytes[axis * 4..axis * 4 + 4].copy_from_slice(&origin.to_bits().to_le_bytes());
        bytes[12 + axis] = exponent as u8;
        let at = BOUNDS + AXIS * axis;
        for (k, b) in boxes.iter().enumerate().take(8) {
            // (As integers of positive numbers: the lower one is cut, the upper one cut and rounded up.)
            let (low, high) = ((b[axis] - origin) * by, (-b[axis + 3] - origin) * by);
            let up = high as i32;
            let up = up + (high > up as f32) as i32;
            bytes[at + k] = (low as i32).clamp(0, 255) as u8;
            bytes[at + 16 + k] = bytes[at + k];
            bytes[at + 8 + k] = up.clamp(0, 255) as u8;
        }
    }
    bytes[15] = boxes.len().min(8) as u8;
    for k in 0..8 {
        bytes[16 + k * 4..20 + k * 4].copy_from_slice(&child[k].word().to_le_bytes());
    }
    // SAFETY: the caller's.
    unsafe { to.cast::<[u8; NODE as usize]>().write(bytes) };
}

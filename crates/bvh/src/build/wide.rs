//! From the binary tree to nodes of eight children, leaves, and their bytes.

use super::{Binary, Bounds, Places, Prim, TASK, area, room};
use crate::layout::{AXIS, BLOCK, BOUNDS, Child, DEPTH, INSTANCE, LANES, NODE, Parts, Record, most};
use crate::micromap::PLAIN;
use crate::trace::node::MARGIN;
use crate::{Error, Geometry, Input, Instance, Pool};
use simd::prefetch;

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

/// Cost of the nodes that a part becomes, for at most 1 to 7 roots: the sum of their surfaces.
type Costs = [f32; 7];

/// How nodes are made of a binary tree.
pub enum Collapse {
    /// With the least sum of surfaces (Ylitie et al., "Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide BVHs", 2017):
    /// costs of each split.
    Least(Vec<Costs>),
    /// Both sides opened, and then the largest part, until there are eight. So nodes have eight children or only leaves, and descend at
    /// least two splits.
    Largest,
}

/// A binary tree, and how nodes are made of it.
pub struct Tree<'a> {
    binary: &'a Binary,
    collapse: Collapse,
}

/// Cost of two parts with at most `roots` (2 to 8) together, and how many of them are the first one's.
#[inline(always)]
fn together(a: &Costs, b: &Costs, roots: usize) -> (f32, usize) {
    let mut best = (f32::INFINITY, 1);
    for k in 1..roots {
        let cost = a[k - 1] + b[roots - k - 1];
        if k < 8 && cost < best.0 {
            best = (cost, k);
        }
    }
    best
}

impl Tree<'_> {
    fn open(&self, part: &Part) -> [Part; 2] {
        let split = &self.binary.splits[self.binary.slot(part.at)];
        for at in split.child {
            if at != 0 {
                prefetch(std::ptr::from_ref(&self.binary.splits[self.binary.slot(at)]).cast());
            }
        }
        let of = |side: usize, begin: u32, end: u32| {
            let bounds = split.bounds[side];
            Part { bounds, area: area(&bounds), at: split.child[side], begin, end }
        };
        [of(0, part.begin, part.at), of(1, part.at, part.end)]
    }

    /// The children of the node that a part becomes.
    fn children(&self, part: &Part, out: &mut [Part; 8]) -> usize {
        if part.at == 0 {
            out[0] = *part;
            return 1;
        }
        match &self.collapse {
            Collapse::Largest => self.largest(part, out),
            Collapse::Least(costs) => {
                let mut count = 0;
                self.spread(costs, part, 8, out, &mut count);
                count
            }
        }
    }

    /// The best up to `roots` parts of a part.
    fn spread(&self, costs: &[Costs], part: &Part, roots: usize, out: &mut [Part; 8], count: &mut usize) {
        let sides = self.open(part);
        let cost = |of: &Part| if of.at == 0 { [0.0; 7] } else { costs[self.binary.slot(of.at)] };
        let of = [cost(&sides[0]), cost(&sides[1])];
        let (_, first) = together(&of[0], &of[1], roots);
        for (k, roots) in [(0, first), (1, roots - first)] {
            let side = &sides[k];
            // Costs are those of one root as long as more do not help.
            if side.at == 0 || roots == 1 || of[k][roots - 1] == of[k][0] {
                out[*count] = *side;
                *count += 1;
            } else {
                self.spread(costs, side, roots, out, count);
            }
        }
    }

    fn largest(&self, part: &Part, out: &mut [Part; 8]) -> usize {
        let sides = self.open(part);
        let mut count = 0;
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

    /// Nodes below a node's own, leaves, and levels.
    fn count(&self, part: &Part) -> (u32, u32, u32) {
        let mut kids = [NO_PART; 8];
        let n = self.children(part, &mut kids);
        let (mut nodes, mut leaves, mut depth) = (0, 0, 0);
        for kid in &kids[..n] {
            if kid.at == 0 {
                leaves += 1;
            } else {
                let (below, more, levels) = self.count(kid);
                nodes += 1 + below;
                leaves += more;
                depth = depth.max(levels);
            }
        }
        (nodes, leaves, depth + 1)
    }
}

impl Binary {
    fn whole(&self, prims: usize) -> Part {
        Part { bounds: self.bounds, area: area(&self.bounds), at: self.root, begin: 0, end: prims as u32 }
    }

    /// # Safety
    /// No other task uses the part's slots of `out`.
    unsafe fn costs_below(&self, at: u32, out: Places<Costs>) -> Costs {
        if at == 0 {
            return [0.0; 7];
        }
        let split = &self.splits[self.slot(at)];
        // SAFETY: parts of this one.
        unsafe {
            let (a, b) = (self.costs_below(split.child[0], out), self.costs_below(split.child[1], out));
            self.costs_of(at, &a, &b, out)
        }
    }

    /// # Safety
    /// As above.
    unsafe fn costs_of(&self, at: u32, a: &Costs, b: &Costs, out: Places<Costs>) -> Costs {
        let split = &self.splits[self.slot(at)];
        let mut both = split.bounds[0];
        super::join(&mut both, &split.bounds[1]);
        let mut costs = [0.0; 7];
        costs[0] = area(&both) + together(a, b, 8).0;
        for roots in 2..8 {
            costs[roots - 1] = together(a, b, roots).0.min(costs[0]);
        }
        // SAFETY: the slot is this split's.
        unsafe { out.get().add(self.slot(at)).write(costs) };
        costs
    }

    /// Costs of all splits.
    fn costs(&self, prims: usize, pool: &dyn Pool) -> Result<Vec<Costs>, Error> {
        let mut out = room::<Costs>(self.splits.len())?;
        let places = Places(out.as_mut_ptr());
        // Large parts, parents first, and those of tasks.
        let (mut large, mut tasks) = (Vec::new(), Vec::new());
        let mut todo = vec![(self.root, 0, prims as u32)];
        while let Some((at, begin, end)) = todo.pop() {
            let list = if (end - begin) as usize <= TASK || at == 0 { &mut tasks } else { &mut large };
            list.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
            list.push(at);
            if (end - begin) as usize > TASK && at != 0 {
                let child = self.splits[self.slot(at)].child;
                todo.try_reserve(2).map_err(|_| Error::OutOfMemory)?;
                todo.push((child[0], begin, at));
                todo.push((child[1], at, end));
            }
        }
        // SAFETY: tasks have separate parts.
        pool.run(tasks.len(), &|n| unsafe {
            self.costs_below(tasks[n], places);
        });
        for at in large.iter().rev() {
            let child = self.splits[self.slot(*at)].child;
            // SAFETY: what is below was written.
            unsafe {
                let of = |at: u32| if at == 0 { [0.0; 7] } else { places.get().add(self.slot(at)).read() };
                self.costs_of(*at, &of(child[0]), &of(child[1]), places);
            }
        }
        // SAFETY: the slots of all splits were written, and no others are read.
        unsafe { out.set_len(self.splits.len()) };
        Ok(out)
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

/// Where all goes, and how nodes are made.
pub fn plan<'a>(binary: &'a Binary, prims: usize, pool: &dyn Pool) -> Result<(Tree<'a>, Plan), Error> {
    if prims > 0 {
        let tree = Tree { binary, collapse: Collapse::Least(binary.costs(prims, pool)?) };
        let (plan, depth) = lay(&tree, prims, pool)?;
        // Nothing bounds these but the other way.
        if depth <= DEPTH as u32 && plan.nodes as u64 <= most(binary.kind, prims as u64).1 {
            return Ok((tree, plan));
        }
    }
    let tree = Tree { binary, collapse: Collapse::Largest };
    let (plan, _) = lay(&tree, prims, pool)?;
    Ok((tree, plan))
}

/// The nodes of large parts come first, then each task's. And the number of levels.
fn lay(tree: &Tree, prims: usize, pool: &dyn Pool) -> Result<(Plan, u32), Error> {
    let mut plan = Plan { nodes: 0, leaves: 0, jobs: Vec::new() };
    if prims == 0 {
        return Ok((plan, 0));
    }
    let mut todo = vec![(tree.binary.whole(prims), 0, 1)];
    plan.nodes = 1;
    let mut above = Vec::new();
    let mut at = 0;
    while at < todo.len() {
        let (part, node, level) = todo[at];
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
                    todo.push((*kid, plan.nodes, level + 1));
                    plan.nodes += 1;
                }
            }
        } else {
            job.nodes = 0;
        }
        plan.jobs.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
        plan.jobs.push(job);
        above.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
        above.push(level);
    }
    let mut counts = room::<(u32, u32, u32)>(plan.jobs.len())?;
    let places = Places(counts.as_mut_ptr());
    let jobs = &plan.jobs;
    pool.run(jobs.len(), &|n| {
        let count = if jobs[n].whole { tree.count(&jobs[n].part) } else { (0, 0, 1) };
        // SAFETY: one place a task.
        unsafe { places.get().add(n).write(count) };
    });
    // SAFETY: written by the tasks.
    unsafe { counts.set_len(jobs.len()) };
    let mut depth = 0;
    for (n, (nodes, leaves, levels)) in counts.iter().enumerate() {
        let job = &mut plan.jobs[n];
        if job.whole {
            (job.nodes, job.leaves) = (plan.nodes, plan.leaves);
            plan.nodes += nodes;
            plan.leaves += leaves;
        }
        depth = depth.max(above[n] + levels - 1);
    }
    Ok((plan, depth))
}

struct Writer<'a> {
    tree: &'a Tree<'a>,
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
    tree: &Tree,
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
        // Positions lie anywhere: all are asked for before the first is read.
        for kid in kids[..n].iter().filter(|kid| kid.at == 0) {
            self.ask(kid);
        }
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

    fn ask(&self, leaf: &Part) {
        let Input::Geometries(all) = self.input else { return };
        for p in &self.prims[leaf.begin as usize..leaf.end as usize] {
            match &all[p.geometry as usize] {
                Geometry::Triangles { positions, .. } => {
                    let at = std::ptr::from_ref(&positions[p.primitive as usize * 3]).cast::<u8>();
                    prefetch(at);
                    prefetch(at.wrapping_add(35));
                }
                Geometry::Boxes { bounds, .. } => {
                    prefetch(std::ptr::from_ref(&bounds[p.primitive as usize]).cast())
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
                    words[2][12 + lane] = PLAIN;
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
    Record::new(instance, inverse(&instance.transform), index)
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
#[allow(clippy::manual_clamp, reason = "clamp keeps NaN, for which there are more instructions")]
#[inline(always)]
pub unsafe fn encode(to: *mut u8, boxes: &[Bounds], child: &[Child; 8]) {
    let mut all = super::NOTHING;
    for b in boxes {
        super::join(&mut all, b);
    }
    // Bounds of no child: nothing lies in them.
    let mut of = [[f32::INFINITY; 8]; 6];
    for (k, b) in boxes.iter().enumerate().take(8) {
        for i in 0..6 {
            of[i][k] = b[i];
        }
    }
    let mut bytes = [0u8; NODE as usize];
    for axis in 0..3 {
        // The lowest plane is a little below what it bounds, as the others are.
        let low = all[axis];
        let origin = (low - (-all[axis + 3] - low) * (1.0 / (1 << 18) as f32)).min(low.next_down());
        let extent = -all[axis + 3] - origin;
        // The next power of two above a 254th; not so small that a ray along a plane misses what lies in it.
        let exponent = (((extent * (1.0 / 254.0)).to_bits() >> 23) + 1).clamp(127 - 40, 127 + 126);
        let by = f32::from_bits((254 - exponent) << 23);
        bytes[axis * 4..axis * 4 + 4].copy_from_slice(&origin.to_bits().to_le_bytes());
        bytes[12 + axis] = exponent as u8;
        // (Cut: they are positive, or below 0 and then 0. Of upper ones the next one.)
        let (mut low, mut high) = ([0u8; 8], [0u8; 8]);
        for k in 0..8 {
            let (a, b) = (of[axis][k], -of[axis + 3][k]);
            low[k] = ((a - origin) * by - MARGIN).max(0.0).min(255.0) as i32 as u8;
            high[k] = (((b - origin) * by + MARGIN).max(-1.0).min(254.0) as i32 + 1) as u8;
        }
        let at = BOUNDS + AXIS * axis;
        bytes[at..at + 8].copy_from_slice(&low);
        bytes[at + 8..at + 16].copy_from_slice(&high);
        bytes[at + 16..at + 24].copy_from_slice(&low);
    }
    bytes[15] = boxes.len().min(8) as u8;
    for k in 0..8 {
        bytes[16 + k * 4..20 + k * 4].copy_from_slice(&child[k].word().to_le_bytes());
    }
    // SAFETY: the caller's.
    unsafe { to.cast::<[u8; NODE as usize]>().write(bytes) };
}

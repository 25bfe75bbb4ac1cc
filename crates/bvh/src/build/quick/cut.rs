//! Which nodes there are, and what their children are.

use super::super::{Places, TASK, must_halve, room};
use super::keys::Keys;
use crate::layout::{Kind, most};
use crate::{Error, Pool};

/// A node without its boxes.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Where the primitives of each child begin.
    pub begin: [u32; 8],
    /// Primitives of each child that is a leaf; 0 of nodes.
    pub leaf: [u8; 8],
    pub children: u32,
    /// Of its children the first that is a node and the first that is a leaf; the others follow.
    pub nodes: u32,
    pub leaves: u32,
}

/// Nodes that one task makes: a root and all that is below it, or only a root with more than [`TASK`] primitives.
#[derive(Clone, Copy)]
pub struct Job {
    part: Part,
    /// Its entries' place, and how many there are.
    pub entries: usize,
    pub count: usize,
    /// The root's index, and where its entries' `nodes` and `leaves` count from.
    pub node: u32,
    pub nodes: u32,
    pub leaves: u32,
}

pub struct Plan {
    pub nodes: u32,
    pub leaves: u32,
    pub entries: Vec<Entry>,
    /// Of roots only, parents first; then those with all below.
    pub above: Vec<Job>,
    pub jobs: Vec<Job>,
}

/// A range of the curve.
#[derive(Clone, Copy)]
struct Part {
    begin: u32,
    end: u32,
    /// Splits above it.
    depth: u32,
    /// Parts with more are split first: the highest bit in which its ends differ, then its size. 0 of a leaf.
    weight: u64,
}

const NO_PART: Part = Part { begin: 0, end: 0, depth: 0, weight: 0 };

struct Curve<'a> {
    keys: &'a Keys,
    kind: Kind,
}

impl Curve<'_> {
    /// The highest bit in which the places of a range's ends differ, from 1; 0 if there is none.
    #[inline(always)]
    fn bit(&self, begin: u32, end: u32) -> u32 {
        let keys = &self.keys.all;
        let differ = (keys[begin as usize] ^ keys[end as usize - 1]) >> self.keys.index_bits;
        64 - differ.leading_zeros()
    }

    #[inline(always)]
    fn part(&self, begin: u32, end: u32, depth: u32) -> Part {
        let count = end - begin;
        let weight = if count as usize <= self.kind.leaf_most() {
            0
        } else {
            (self.bit(begin, end) as u64) << 32 | count as u64
        };
        Part { begin, end, depth, weight }
    }

    /// Both sides of a part that is no leaf.
    #[inline(always)]
    fn open(&self, part: &Part) -> [Part; 2] {
        let (begin, end) = (part.begin as usize, part.end as usize);
        let bit = (part.weight >> 32) as u32;
        let middle = if bit == 0 || must_halve(part.depth, end - begin) {
            (begin + end) / 2
        } else {
            let bit = bit - 1 + self.keys.index_bits;
            let inner = &self.keys.all[begin + 1..end - 1];
            let at = begin + 1 + inner.partition_point(|key| key >> bit & 1 == 0);
            let least = self.kind.leaf_least();
            at.clamp(begin + least, end - least)
        } as u32;
        let depth = part.depth + 1;
        [self.part(part.begin, middle, depth), self.part(middle, part.end, depth)]
    }

    /// The children of the node that a part becomes: both sides opened, and then one after the other, until there are eight. So nodes have
    /// eight children or only leaves, and descend at least two splits. `out` is full of [`NO_PART`].
    #[inline(always)]
    fn children(&self, part: &Part, out: &mut [Part; 8]) -> usize {
        if part.weight == 0 {
            out[0] = *part;
            return 1;
        }
        let mut count = 0;
        for side in self.open(part) {
            if side.weight == 0 {
                out[count] = side;
                count += 1;
            } else {
                [out[count], out[count + 1]] = self.open(&side);
                count += 2;
            }
        }
        while count < 8 {
            // (Without branches, which are hard to foresee; those that are not there have no weight.)
            let (mut best, mut weight) = (0, out[0].weight);
            for k in 1..7 {
                (best, weight) = if out[k].weight > weight { (k, out[k].weight) } else { (best, weight) };
            }
            if weight == 0 {
                break;
            }
            [out[best], out[count]] = self.open(&out[best]);
            count += 1;
        }
        count
    }
}

#[inline(always)]
fn entry(kids: &[Part], nodes: &mut u32, leaves: &mut u32) -> Entry {
    let mut out =
        Entry { begin: [0; 8], leaf: [0; 8], children: kids.len() as u32, nodes: *nodes, leaves: *leaves };
    for (k, kid) in kids.iter().enumerate() {
        out.begin[k] = kid.begin;
        if kid.weight == 0 {
            out.leaf[k] = (kid.end - kid.begin) as u8;
            *leaves += 1;
        } else {
            *nodes += 1;
        }
    }
    out
}

/// The nodes of a task: nodes below its root, and leaves.
struct Cut<'a> {
    curve: &'a Curve<'a>,
    entries: *mut Entry,
    nodes: u32,
    leaves: u32,
}

impl Cut<'_> {
    /// # Safety
    /// There is room for the entries of all nodes of the part.
    unsafe fn node(&mut self, part: &Part, at: u32) {
        let mut kids = [NO_PART; 8];
        let count = self.curve.children(part, &mut kids);
        let mut below = self.nodes;
        let entry = entry(&kids[..count], &mut self.nodes, &mut self.leaves);
        // SAFETY: the caller's.
        unsafe { self.entries.add(at as usize).write(entry) };
        for kid in &kids[..count] {
            if kid.weight != 0 {
                below += 1;
                // SAFETY: as above.
                unsafe { self.node(kid, below) };
            }
        }
    }
}

/// Most nodes of a part.
fn room_of(kind: Kind, part: &Part) -> usize {
    most(kind, (part.end - part.begin) as u64).1 as usize
}

pub fn plan(kind: Kind, keys: &Keys, pool: &dyn Pool) -> Result<Plan, Error> {
    let mut plan = Plan { nodes: 0, leaves: 0, entries: vec![], above: vec![], jobs: vec![] };
    let total = keys.all.len();
    if total == 0 {
        return Ok(plan);
    }
    let curve = Curve { keys, kind };
    plan.nodes = 1;
    let mut todo = vec![(curve.part(0, total as u32, 0), 0)];
    let (mut top, mut room_for) = (vec![], 0);
    let mut at = 0;
    while let Some(&(part, node)) = todo.get(at) {
        at += 1;
        let mut job = Job { part, entries: 0, count: 1, node, nodes: 0, leaves: 0 };
        let list = if (part.end - part.begin) as usize > TASK {
            let mut kids = [NO_PART; 8];
            let n = curve.children(&part, &mut kids);
            todo.try_reserve(n).map_err(|_| Error::OutOfMemory)?;
            let nodes = kids[..n].iter().filter(|kid| kid.weight != 0);
            todo.extend(nodes.zip(plan.nodes..).map(|(kid, node)| (*kid, node)));
            top.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
            job.entries = top.len();
            top.push(entry(&kids[..n], &mut plan.nodes, &mut plan.leaves));
            &mut plan.above
        } else {
            job.entries = room_for;
            room_for += room_of(kind, &part);
            &mut plan.jobs
        };
        list.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
        list.push(job);
    }
    let mut entries = room::<Entry>(top.len() + room_for)?;
    entries.extend_from_slice(&top);
    let mut counts = room::<[u32; 2]>(plan.jobs.len())?;
    let (to, places) = (Places(entries.as_mut_ptr()), Places(counts.as_mut_ptr()));
    let jobs = &plan.jobs;
    pool.run(jobs.len(), &|n| {
        // SAFETY: jobs have separate places, with room for as many entries as there can be.
        unsafe {
            let entries = to.get().add(top.len() + jobs[n].entries);
            let mut cut = Cut { curve: &curve, entries, nodes: 0, leaves: 0 };
            cut.node(&jobs[n].part, 0);
            places.get().add(n).write([cut.nodes, cut.leaves]);
        }
    });
    // SAFETY: written by the tasks.
    unsafe { counts.set_len(jobs.len()) };
    for (job, [nodes, leaves]) in plan.jobs.iter_mut().zip(counts) {
        job.entries += top.len();
        job.count = nodes as usize + 1;
        (job.nodes, job.leaves) = (plan.nodes, plan.leaves);
        plan.nodes += nodes;
        plan.leaves += leaves;
    }
    plan.entries = entries;
    Ok(plan)
}

impl Plan {
    /// The entries of a job.
    pub fn of(&self, job: &Job) -> &[Entry] {
        // SAFETY: the job has written them; only those lie below the vector's capacity that the jobs have room in.
        unsafe { std::slice::from_raw_parts(self.entries.as_ptr().add(job.entries), job.count) }
    }
}

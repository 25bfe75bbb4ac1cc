//! A binary tree along a Morton curve (Lauterbach et al., "Fast BVH Construction on GPUs", 2009): quickly built.

use super::{Binary, Bounds, NOTHING, Places, Prim, Split, TASK, Task, join, must_halve, room, sah};
use crate::layout::Kind;
use crate::{Error, Pool};
use simd::{Level, prefetch};

/// Primitives of a task.
const CHUNK: usize = 1 << 14;
/// Bits of a pass of the sort.
const DIGIT: u32 = 11;
const DIGITS: usize = 1 << DIGIT;

/// Every third bit.
#[inline(always)]
fn spread(x: u64) -> u64 {
    let x = x & 0x1F_FFFF;
    let x = (x | x << 32) & 0x001F_0000_0000_FFFF;
    let x = (x | x << 16) & 0x001F_0000_FF00_00FF;
    let x = (x | x << 8) & 0x100F_00F0_0F00_F00F;
    let x = (x | x << 4) & 0x10C3_0C30_C30C_30C3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

/// Keys: the code above `index_bits` bits of index.
#[inline(always)]
fn keys_body(
    prims: &[Prim],
    from: usize,
    low: &[f32; 3],
    scale: &[f32; 3],
    most: f32,
    index_bits: u32,
    out: *mut u64,
) {
    for (i, p) in prims.iter().enumerate() {
        let cell =
            |axis: usize| ((p.centre(axis) - low[axis]) * scale[axis]).max(0.0).min(most) as i32 as u64;
        let code = spread(cell(0)) | spread(cell(1)) << 1 | spread(cell(2)) << 2;
        // SAFETY: the caller has room for a key of each.
        unsafe { out.add(i).write(code << index_bits | (from + i) as u64) };
    }
}

simd::by_level!(fn keys_of = plain keys_body, (prims: &[Prim], from: usize, low: &[f32; 3], scale: &[f32; 3], most: f32, index_bits: u32, out: *mut u64));

/// Sorts by the bits from `shift` on, of which there are `bits`.
fn sort(keys: &mut Vec<u64>, shift: u32, bits: u32, pool: &dyn Pool) -> Result<(), Error> {
    let count = keys.len();
    let mut other = room::<u64>(count)?;
    // SAFETY: a pass writes each place before one is read.
    #[allow(clippy::uninit_vec)]
    unsafe {
        other.set_len(count);
    }
    // Enough for the threads, and few, as each has a histogram. (The result is the same for any number.)
    let chunks = count.div_ceil(CHUNK).min(pool.threads().max(1) * 4).max(1);
    let size = count.div_ceil(chunks).max(1);
    let mut starts = room::<[u32; DIGITS]>(chunks)?;
    for pass in 0..bits.div_ceil(DIGIT) {
        let shift = shift + pass * DIGIT;
        let mask = (1u64 << DIGIT.min(bits - pass * DIGIT)) - 1;
        let range = |task: usize| task * size..((task + 1) * size).min(count).max(task * size);
        starts.clear();
        let places = Places(starts.as_mut_ptr());
        pool.run(chunks, &|task| {
            // SAFETY: one place a task.
            let histogram = unsafe {
                places.get().add(task).write([0; DIGITS]);
                &mut *places.get().add(task)
            };
            for key in keys.get(range(task)).unwrap_or_default() {
                histogram[(key >> shift & mask) as usize % DIGITS] += 1;
            }
        });
        // SAFETY: written by the tasks.
        unsafe { starts.set_len(chunks) };
        let mut at = 0;
        for digit in 0..DIGITS {
            for of in starts.iter_mut() {
                at += std::mem::replace(&mut of[digit], at);
            }
        }
        let (histograms, to) = (Places(starts.as_mut_ptr()), Places(other.as_mut_ptr()));
        pool.run(chunks, &|task| {
            // SAFETY: one histogram a task; by the counts, the places of a task's keys are its own.
            unsafe {
                let starts = &mut *histograms.get().add(task);
                for key in keys.get(range(task)).unwrap_or_default() {
                    let at = &mut starts[(key >> shift & mask) as usize % DIGITS];
                    to.get().add(*at as usize).write(*key);
                    *at += 1;
                }
            }
        });
        std::mem::swap(keys, &mut other);
    }
    Ok(())
}

struct Shared<'a> {
    kind: Kind,
    prims: &'a [Prim],
    keys: &'a [u64],
    index_bits: u32,
    splits: Places<Split>,
}

impl Shared<'_> {
    unsafe fn split(&self, at: u32) -> *mut Split {
        // SAFETY: the caller's.
        unsafe { self.splits.get().add(at as usize / self.kind.leaf_least()) }
    }

    /// Where a range of more than a leaf's primitives is split.
    fn middle(&self, begin: usize, end: usize, depth: u32) -> usize {
        let code = |at: usize| self.keys[at] >> self.index_bits;
        let differ = code(begin) ^ code(end - 1);
        if differ == 0 || must_halve(depth, end - begin) {
            return (begin + end) / 2;
        }
        let bit = 63 - differ.leading_zeros();
        let (mut low, mut high) = (begin + 1, end - 1);
        while low < high {
            let at = (low + high) / 2;
            if code(at) >> bit & 1 != 0 { high = at } else { low = at + 1 }
        }
        let least = self.kind.leaf_least();
        low.clamp(begin + least, end - least)
    }

    /// # Safety
    /// No other task uses the range's splits.
    unsafe fn subtree(&self, begin: usize, end: usize, depth: u32) -> (u32, Bounds) {
        if end - begin <= self.kind.leaf_most() {
            return (0, sah::bounds_of(&self.prims[begin..end]));
        }
        let middle = self.middle(begin, end, depth);
        // SAFETY: parts of this range; the split is this one's.
        unsafe {
            let (a, mut both) = self.subtree(begin, middle, depth + 1);
            let (b, other) = self.subtree(middle, end, depth + 1);
            self.split(middle as u32).write(Split { bounds: [both, other], child: [a, b] });
            join(&mut both, &other);
            (middle as u32, both)
        }
    }
}

pub fn build(level: Level, kind: Kind, prims: &mut Vec<Prim>, pool: &dyn Pool) -> Result<Binary, Error> {
    let count = prims.len();
    let mut tree = Binary::new(kind, count)?;
    if count == 0 {
        return Ok(tree);
    }
    let chunks = count.div_ceil(CHUNK);
    let range = |task: usize| task * CHUNK..((task + 1) * CHUNK).min(count);
    let mut centre_of = room::<Bounds>(chunks)?;
    let places = Places(centre_of.as_mut_ptr());
    // SAFETY: one place a task.
    pool.run(chunks, &|task| unsafe {
        places.get().add(task).write(sah::centres(level, &prims[range(task)]))
    });
    // SAFETY: written by the tasks.
    unsafe { centre_of.set_len(chunks) };
    let inner = centre_of.iter().fold(NOTHING, |mut all, b| {
        join(&mut all, b);
        all
    });
    let index_bits = usize::BITS - (count - 1).leading_zeros();
    // More than enough cells to tell primitives apart, in as few passes as that takes.
    let axis_bits = ((index_bits + 22) / 3).clamp(7, (64 - index_bits) / 3).min(20);
    let cells = (1u64 << axis_bits) as f32;
    let scale = std::array::from_fn(|axis| {
        let extent = -(inner[axis] + inner[axis + 3]);
        if extent > 1e-30 { cells / extent } else { 0.0 }
    });
    let mut keys = room::<u64>(count)?;
    let places = Places(keys.as_mut_ptr());
    pool.run(chunks, &|task| {
        let of = range(task);
        // SAFETY: each chunk has its own places.
        let out = unsafe { places.get().add(of.start) };
        keys_of(
            level,
            &prims[of.clone()],
            of.start,
            &[inner[0], inner[1], inner[2]],
            &scale,
            cells - 1.0,
            index_bits,
            out,
        );
    });
    // SAFETY: written by the tasks.
    unsafe { keys.set_len(count) };
    sort(&mut keys, index_bits, axis_bits * 3, pool)?;
    let mut sorted = room::<Prim>(count)?;
    let places = Places(sorted.as_mut_ptr());
    pool.run(chunks, &|task| {
        for at in range(task) {
            let index = |at: usize| (keys[at] & ((1 << index_bits) - 1)) as usize;
            prefetch(std::ptr::from_ref(&prims[index((at + 16).min(count - 1))]).cast());
            let from = index(at);
            // SAFETY: each chunk has its own places.
            unsafe { places.get().add(at).write(prims[from]) };
        }
    });
    // SAFETY: written by the tasks.
    unsafe { sorted.set_len(count) };
    *prims = sorted;

    let shared = Shared { kind, prims, keys: &keys, index_bits, splits: Places(tree.splits.as_mut_ptr()) };
    let mut tasks: Vec<Task> = Vec::new();
    let mut above: Vec<(u32, Option<(u32, usize)>)> = Vec::new();
    let mut todo = vec![Task { begin: 0, end: count, depth: 0, parent: None }];
    while let Some(task) = todo.pop() {
        tasks.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
        if task.end - task.begin <= TASK {
            tasks.push(task);
            continue;
        }
        let middle = shared.middle(task.begin, task.end, task.depth);
        // SAFETY: a split of this thread.
        unsafe { shared.split(middle as u32).write(Split { bounds: [NOTHING; 2], child: [0; 2] }) };
        above.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
        above.push((middle as u32, task.parent));
        todo.try_reserve(2).map_err(|_| Error::OutOfMemory)?;
        let depth = task.depth + 1;
        todo.push(Task { begin: middle, end: task.end, depth, parent: Some((middle as u32, 1)) });
        todo.push(Task { begin: task.begin, end: middle, depth, parent: Some((middle as u32, 0)) });
    }
    let mut root = (0, NOTHING);
    let only = Places(&mut root as *mut (u32, Bounds));
    let put = |parent: Option<(u32, usize)>, at: u32, bounds: Bounds| {
        // SAFETY: each range writes its own fields of its parent's split.
        unsafe {
            match parent {
                Some((parent, side)) => {
                    let split = shared.split(parent);
                    std::ptr::addr_of_mut!((*split).child[side]).write(at);
                    std::ptr::addr_of_mut!((*split).bounds[side]).write(bounds);
                }
                None => only.get().write((at, bounds)),
            }
        }
    };
    pool.run(tasks.len(), &|n| {
        let task = tasks[n];
        // SAFETY: tasks have separate ranges.
        let (at, bounds) = unsafe { shared.subtree(task.begin, task.end, task.depth) };
        put(task.parent, at, bounds);
    });
    // Children are after their parents here.
    for (at, parent) in above.iter().rev() {
        // SAFETY: all below it are written.
        let [mut both, other] = unsafe { (*shared.split(*at)).bounds };
        join(&mut both, &other);
        put(*parent, *at, both);
    }
    (tree.root, tree.bounds) = root;
    Ok(tree)
}

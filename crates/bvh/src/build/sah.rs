//! A binary tree by the surface area heuristic, with bins (Wald, "On fast Construction of SAH-based Bounding Volume Hierarchies", 2007).

use super::{Binary, Bounds, NOTHING, Places, Prim, Split, TASK, Task, join, must_halve, room};
use crate::layout::{Kind, LANES};
use crate::{Error, Pool};
use simd::Level;

const BINS: usize = 16;
/// Primitives of a task that works on a part of a large range.
const CHUNK: usize = 1 << 13;

/// Bounds with a word to spare after each half, as a [`Prim`] has them.
type Wide = [f32; 8];
const NO_WIDE: Wide = [f32::INFINITY; 8];

#[derive(Clone, Copy)]
struct Bins {
    bounds: [[Wide; BINS]; 3],
    count: [[u32; BINS]; 3],
}

const EMPTY: Bins = Bins { bounds: [[NO_WIDE; BINS]; 3], count: [[0; BINS]; 3] };

/// How centres become bins.
#[derive(Clone, Copy)]
struct Grid {
    from: [f32; 3],
    scale: [f32; 3],
    bins: usize,
}

impl Grid {
    fn new(centres: &Bounds, count: usize) -> Grid {
        let bins = if count < 64 { BINS / 2 } else { BINS };
        let scale = |axis: usize| {
            let extent = -(centres[axis] + centres[axis + 3]);
            if extent > 1e-30 { bins as f32 * 0.999_99 / extent } else { 0.0 }
        };
        Grid { from: [centres[0], centres[1], centres[2]], scale: [scale(0), scale(1), scale(2)], bins }
    }

    #[inline(always)]
    fn bin(&self, prim: &Prim, axis: usize) -> usize {
        let at = ((prim.centre(axis) - self.from[axis]) * self.scale[axis]) as i32;
        (at.max(0) as usize).min(self.bins - 1)
    }
}

#[inline(always)]
fn wide(p: &Prim) -> Wide {
    // SAFETY: a `Prim` is eight words.
    unsafe { std::mem::transmute(*p) }
}

#[inline(always)]
fn join_wide(a: &mut Wide, b: &Wide) {
    for i in 0..8 {
        a[i] = if b[i] < a[i] { b[i] } else { a[i] };
    }
}

fn narrow(w: &Wide) -> Bounds {
    [w[0], w[1], w[2], w[4], w[5], w[6]]
}

/// Bounds of the centres.
#[inline(always)]
fn centres_body(prims: &[Prim]) -> Bounds {
    let mut all = NOTHING;
    for p in prims {
        let c: [f32; 3] = std::array::from_fn(|i| p.centre(i));
        join(&mut all, &[c[0], c[1], c[2], -c[0], -c[1], -c[2]]);
    }
    all
}

simd::by_level!(pub fn centres = plain centres_body, (prims: &[Prim]) -> Bounds);

#[inline(always)]
fn fill_body(prims: &[Prim], grid: &Grid, bins: &mut Bins) {
    for p in prims {
        let w = wide(p);
        let at: [usize; 3] = std::array::from_fn(|axis| grid.bin(p, axis));
        for axis in 0..3 {
            join_wide(&mut bins.bounds[axis][at[axis] % BINS], &w);
            bins.count[axis][at[axis] % BINS] += 1;
        }
    }
}

simd::by_level!(fn fill = plain fill_body, (prims: &[Prim], grid: &Grid, bins: &mut Bins));

/// A split: along an axis, before a bin.
#[derive(Clone, Copy)]
struct Choice {
    axis: usize,
    bin: usize,
    count: usize,
    bounds: [Bounds; 2],
}

#[inline(always)]
fn half(w: &Wide) -> f32 {
    let [x, y, z] = [-(w[0] + w[4]), -(w[1] + w[5]), -(w[2] + w[6])];
    x * y + y * z + z * x
}

/// The cheapest split whose sides have at least `least` primitives.
#[inline(always)]
fn choose_body(bins: &Bins, grid: &Grid, total: usize, least: usize, block: usize) -> Option<Choice> {
    let mut best = (f32::INFINITY, 0, 0, 0usize);
    let blocks = |n: usize| n.div_ceil(block) as f32;
    for axis in 0..3 {
        if grid.scale[axis] == 0.0 {
            continue;
        }
        let mut right = [0.0f32; BINS + 1];
        let mut bounds = NO_WIDE;
        let mut n = 0;
        for k in (1..grid.bins).rev() {
            join_wide(&mut bounds, &bins.bounds[axis][k]);
            n += bins.count[axis][k] as usize;
            right[k] = if n == 0 { f32::INFINITY } else { half(&bounds) * blocks(n) };
        }
        bounds = NO_WIDE;
        n = 0;
        for k in 1..grid.bins {
            join_wide(&mut bounds, &bins.bounds[axis][k - 1]);
            n += bins.count[axis][k - 1] as usize;
            if n < least || total - n < least {
                continue;
            }
            let cost = half(&bounds) * blocks(n) + right[k];
            if cost < best.0 {
                best = (cost, axis, k, n);
            }
        }
    }
    let (cost, axis, bin, count) = best;
    if cost == f32::INFINITY {
        return None;
    }
    let mut sides = [NO_WIDE; 2];
    for k in 0..grid.bins {
        join_wide(&mut sides[(k >= bin) as usize], &bins.bounds[axis][k]);
    }
    Some(Choice { axis, bin, count, bounds: [narrow(&sides[0]), narrow(&sides[1])] })
}

simd::by_level!(fn choose = plain choose_body, (bins: &Bins, grid: &Grid, total: usize, least: usize, block: usize) -> Option<Choice>);

/// Moves what is left of the split to the front, in order; the rest goes to `rest`, in order. How many are left.
#[inline(always)]
fn part_body(prims: &mut [Prim], rest: *mut Prim, grid: &Grid, axis: usize, bin: usize) -> usize {
    let (mut left, mut right) = (0, 0);
    for i in 0..prims.len() {
        let p = prims[i];
        let is_left = grid.bin(&p, axis) < bin;
        // SAFETY: `left` and `right` are at most i, and `rest` has as many places as there are primitives.
        unsafe {
            *prims.get_unchecked_mut(left) = p;
            rest.add(right).write(p);
        }
        left += is_left as usize;
        right += !is_left as usize;
    }
    // SAFETY: `right` places of `rest` were written.
    unsafe { std::ptr::copy_nonoverlapping(rest, prims.as_mut_ptr().add(left), right) };
    left
}

simd::by_level!(fn part = plain part_body, (prims: &mut [Prim], rest: *mut Prim, grid: &Grid, axis: usize, bin: usize) -> usize);

/// A split in two halves along the longest axis of the centres. For ranges that bins do not divide.
fn halve(prims: &mut [Prim], centres: &Bounds) -> (usize, [Bounds; 2]) {
    let extent = |axis: usize| -(centres[axis] + centres[axis + 3]);
    let axis = (1..3).fold(0, |best, axis| if extent(axis) > extent(best) { axis } else { best });
    let middle = prims.len() / 2;
    if extent(axis) > 0.0 {
        prims.select_nth_unstable_by(middle, |a, b| {
            a.key(axis).partial_cmp(&b.key(axis)).unwrap_or(std::cmp::Ordering::Equal)
        });
    }
    let (a, b) = prims.split_at(middle);
    (middle, [bounds_of(a), bounds_of(b)])
}

pub fn bounds_of(prims: &[Prim]) -> Bounds {
    prims.iter().fold(NOTHING, |mut all, p| {
        join(&mut all, &p.bounds());
        all
    })
}

/// What the parts of a build share.
struct Shared {
    level: Level,
    kind: Kind,
    prims: Places<Prim>,
    /// As many places as there are primitives.
    rest: Places<Prim>,
    splits: Places<Split>,
}

impl Shared {
    fn least(&self) -> usize {
        self.kind.leaf_least()
    }
    fn block(&self) -> usize {
        if self.kind == Kind::Instances { 1 } else { LANES }
    }
    /// # Safety
    /// `at` is a split that no other task writes.
    unsafe fn split(&self, at: u32) -> *mut Split {
        // SAFETY: the caller's.
        unsafe { self.splits.get().add(at as usize / self.least()) }
    }

    /// The tree of a range: where its root is split.
    ///
    /// # Safety
    /// No other task uses the range.
    unsafe fn subtree(&self, begin: usize, end: usize, depth: u32) -> u32 {
        let count = end - begin;
        if count <= self.kind.leaf_most() {
            return 0;
        }
        // SAFETY: the caller's.
        let prims = unsafe { std::slice::from_raw_parts_mut(self.prims.get().add(begin), count) };
        let inner = centres(self.level, prims);
        let choice = if must_halve(depth, count) {
            None
        } else {
            let grid = Grid::new(&inner, count);
            let mut bins = EMPTY;
            fill(self.level, prims, &grid, &mut bins);
            choose(self.level, &bins, &grid, count, self.least(), self.block()).map(|c| (grid, c))
        };
        let (left, bounds) = match choice {
            Some((grid, choice)) => {
                // SAFETY: the range's own part of `rest`.
                let rest = unsafe { self.rest.get().add(begin) };
                let left = part(self.level, prims, rest, &grid, choice.axis, choice.bin);
                debug_assert_eq!(left, choice.count);
                (left, choice.bounds)
            }
            None => halve(prims, &inner),
        };
        let middle = begin + left;
        // SAFETY: both are parts of this range.
        let child = unsafe { [self.subtree(begin, middle, depth + 1), self.subtree(middle, end, depth + 1)] };
        // SAFETY: the split between these primitives is this one.
        unsafe { self.split(middle as u32).write(Split { bounds, child }) };
        middle as u32
    }

    /// The split of a range by many tasks: as [`Self::subtree`] does it.
    fn large(
        &self,
        begin: usize,
        end: usize,
        depth: u32,
        pool: &dyn Pool,
    ) -> Result<(usize, [Bounds; 2]), Error> {
        let count = end - begin;
        let chunks = count.div_ceil(CHUNK);
        let chunk = |task: usize| {
            let from = begin + task * CHUNK;
            // SAFETY: chunks of the range, which only this call uses.
            unsafe { std::slice::from_raw_parts_mut(self.prims.get().add(from), CHUNK.min(end - from)) }
        };
        let mut centre_of = room::<Bounds>(chunks)?;
        let places = Places(centre_of.as_mut_ptr());
        // SAFETY: one place a task.
        pool.run(chunks, &|task| unsafe { places.get().add(task).write(centres(self.level, chunk(task))) });
        // SAFETY: written by the tasks.
        unsafe { centre_of.set_len(chunks) };
        let inner = centre_of.iter().fold(NOTHING, |mut all, b| {
            join(&mut all, b);
            all
        });
        // SAFETY: the range is this call's.
        let whole = unsafe { std::slice::from_raw_parts_mut(self.prims.get().add(begin), count) };
        if must_halve(depth, count) {
            return Ok(halve(whole, &inner));
        }
        let grid = Grid::new(&inner, count);
        let mut bins_of = room::<Bins>(chunks)?;
        let places = Places(bins_of.as_mut_ptr());
        pool.run(chunks, &|task| {
            let mut bins = EMPTY;
            fill(self.level, chunk(task), &grid, &mut bins);
            // SAFETY: one place a task.
            unsafe { places.get().add(task).write(bins) };
        });
        // SAFETY: written by the tasks.
        unsafe { bins_of.set_len(chunks) };
        let mut bins = EMPTY;
        for of in &bins_of {
            for axis in 0..3 {
                for k in 0..BINS {
                    join_wide(&mut bins.bounds[axis][k], &of.bounds[axis][k]);
                    bins.count[axis][k] += of.count[axis][k];
                }
            }
        }
        let Some(choice) = choose(self.level, &bins, &grid, count, self.least(), self.block()) else {
            return Ok(halve(whole, &inner));
        };
        // Each chunk is parted for itself, then its parts go where they belong.
        let left_of = |task: usize| {
            (0..choice.bin).map(|k| bins_of[task].count[choice.axis][k] as usize).sum::<usize>()
        };
        let mut starts = room::<(usize, usize)>(chunks)?;
        let (mut left, mut right) = (0, choice.count);
        for task in 0..chunks {
            starts.push((left, right));
            let n = left_of(task);
            left += n;
            right += chunk(task).len() - n;
        }
        pool.run(chunks, &|task| {
            let prims = chunk(task);
            let (mut at_left, mut at_right) = starts[task];
            for p in prims.iter() {
                let at = if grid.bin(p, choice.axis) < choice.bin { &mut at_left } else { &mut at_right };
                // SAFETY: by the counts, a place of the range's part of `rest` that no other primitive has.
                unsafe { self.rest.get().add(begin + *at).write(*p) };
                *at += 1;
            }
        });
        pool.run(chunks, &|task| {
            let to = chunk(task);
            // SAFETY: the parts were written by the tasks above.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    self.rest.get().add(begin + task * CHUNK),
                    to.as_mut_ptr(),
                    to.len(),
                )
            };
        });
        Ok((choice.count, choice.bounds))
    }
}

pub fn build(level: Level, kind: Kind, prims: &mut [Prim], pool: &dyn Pool) -> Result<Binary, Error> {
    let count = prims.len();
    let mut tree = Binary::new(kind, count)?;
    let mut rest = room::<Prim>(count)?;
    let shared = Shared {
        level,
        kind,
        prims: Places(prims.as_mut_ptr()),
        rest: Places(rest.as_mut_ptr()),
        splits: Places(tree.splits.as_mut_ptr()),
    };
    tree.bounds = bounds_of(prims);
    let mut tasks: Vec<Task> = Vec::new();
    let mut todo = vec![Task { begin: 0, end: count, depth: 0, parent: None }];
    let mut root = 0;
    while let Some(task) = todo.pop() {
        if task.end - task.begin <= TASK {
            tasks.try_reserve(1).map_err(|_| Error::OutOfMemory)?;
            tasks.push(task);
            continue;
        }
        let (left, bounds) = shared.large(task.begin, task.end, task.depth, pool)?;
        let middle = task.begin + left;
        // SAFETY: splits of this thread; tasks have not begun.
        unsafe {
            shared.split(middle as u32).write(Split { bounds, child: [0; 2] });
            match task.parent {
                Some((at, side)) => (*shared.split(at)).child[side] = middle as u32,
                None => root = middle as u32,
            }
        }
        todo.try_reserve(2).map_err(|_| Error::OutOfMemory)?;
        let depth = task.depth + 1;
        todo.push(Task { begin: middle, end: task.end, depth, parent: Some((middle as u32, 1)) });
        todo.push(Task { begin: task.begin, end: middle, depth, parent: Some((middle as u32, 0)) });
    }
    let only = Places(&mut root as *mut u32);
    pool.run(tasks.len(), &|n| {
        let task = tasks[n];
        // SAFETY: tasks have separate ranges, and each writes its own field of its parent's split.
        unsafe {
            let at = shared.subtree(task.begin, task.end, task.depth);
            match task.parent {
                Some((parent, side)) => std::ptr::addr_of_mut!((*shared.split(parent)).child[side]).write(at),
                None => only.get().write(at),
            }
        }
    });
    tree.root = root;
    Ok(tree)
}

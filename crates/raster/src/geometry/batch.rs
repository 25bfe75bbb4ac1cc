//! Where geometry puts its primitives.

use super::GeometryCounts;
use super::assembly::Assembled;
use super::setup::LANES;
use crate::layout::{Grid, TILE};
use crate::prim::{DEFERRED, Edge, Plane, Prim};
use crate::state::Rect;
use parking_lot::Mutex;

/// Primitives of one or more draws, in order.
#[derive(Default)]
pub struct Batch {
    pub prims: Vec<Prim>,
    /// [`Prim::planes`] points here.
    pub planes: Vec<Plane>,
    /// [`Prim::listed`] points here.
    pub pixels: Vec<[i32; 2]>,
    /// Edges of primitives that are no triangles ([`Prim::edges`]).
    pub edges: Vec<Edge>,
    pub counts: GeometryCounts,
    /// Primitives of draws before the one that is being made.
    pub before: usize,
    /// Of the chunk that is being made.
    pub used: Used,
    /// There are, or will be, more than caches hold until tiles read them: they are better written past these.
    pub streams: bool,
    /// All is moved elsewhere while caches have it.
    pub passes: bool,
    /// There was no memory for all of it.
    pub short: bool,
}

const REGION: u32 = TILE.trailing_zeros();

/// Vertices of a chunk that visible primitives use: what the position cache is to positions, this is to the other outputs.
#[derive(Default)]
pub struct Used {
    seen: Set,
    references: u64,
    /// Primitives in so many regions at most are shaded where they are drawn; 0: none is.
    regions: u64,
    grid: Grid,
    deferred: Deferred,
    /// Index and instance of each.
    vertices: [Vec<u32>; 2],
}

/// A set of vertices, a byte each, 1 where it is one of them: a bit would wait for the one that was set before it. Whole words.
#[derive(Default)]
struct Set(Vec<u8>);

impl Set {
    /// None of so many.
    fn begin(&mut self, vertices: usize) {
        self.0.clear();
        self.0.resize(vertices.next_multiple_of(64), 0);
    }
    fn len(&self) -> u64 {
        self.words().map(|w| w.count_ones() as u64).sum()
    }
    /// A bit each.
    fn words(&self) -> impl Iterator<Item = u64> {
        self.0.as_chunks::<64>().0.iter().map(|bytes| {
            // Eight bytes' lowest bits to the top byte.
            let bits = |b: &[u8; 8]| u64::from_le_bytes(*b).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            bytes.as_chunks().0.iter().rev().fold(0, |word, b| word << 8 | bits(b))
        })
    }
}

/// What primitives use that are shaded where they are drawn.
#[derive(Default)]
struct Deferred {
    primitives: u64,
    seen: Set,
    /// By vertex, the region in which it was used last, if it was.
    last: Vec<u32>,
}

/// Vertices of a chunk that such primitives use.
#[derive(Clone, Copy, Default)]
pub struct Postponed {
    pub primitives: u64,
    pub vertices: u64,
    /// Of these, those that no other visible primitive uses.
    pub only: u64,
}

/// How many regions bounds touch, and the first one's number among those of all layers.
#[inline(always)]
fn regions(bounds: Rect, grid: Grid, layer: u32) -> (u32, u32) {
    let (x0, y0) = ((bounds.x0 - grid.x) >> REGION, (bounds.y0 - grid.y) >> REGION);
    let (x1, y1) = ((bounds.x1 - 1 - grid.x) >> REGION, (bounds.y1 - 1 - grid.y) >> REGION);
    let number = (x1 - x0 + 1).wrapping_mul(y1 - y0 + 1) as u32;
    // Framebuffers end before 2^15 pixels.
    (number, layer << 18 | (y0 as u32 & 0x1FF) << 9 | (x0 as u32 & 0x1FF))
}

impl Used {
    /// A chunk of so many vertices begins.
    pub fn begin(&mut self, vertices: usize, regions: u64, grid: Grid) {
        self.seen.begin(vertices);
        self.references = 0;
        (self.regions, self.grid) = (regions, grid);
        if regions > 0 {
            let d = &mut self.deferred;
            d.primitives = 0;
            d.seen.begin(vertices);
            d.last.clear();
            d.last.resize(vertices, u32::MAX);
        }
    }
    /// A visible primitive uses a vertex.
    #[inline(always)]
    pub fn mark(&mut self, vertex: usize) {
        if let Some(seen) = self.seen.0.get_mut(vertex) {
            *seen = 1;
            self.references += 1;
        }
    }
    /// As [`Self::visible`], of triangles, the `n` first, within these bounds (corners by axis); `kinds`, of [`crate::prim::word::KIND`],
    /// get what is deferred.
    #[inline(always)]
    pub fn triangles(
        &mut self,
        vertices: &[[u32; LANES]; 3],
        n: usize,
        [from, to]: [&[[i32; LANES]; 2]; 2],
        layers: &[u32; LANES],
        kinds: &mut [u32; LANES],
    ) {
        let (seen, n) = (&mut self.seen.0[..], n.min(LANES));
        let mut furthest = 0;
        for own in vertices {
            for &vertex in own {
                furthest = vertex.max(furthest);
            }
        }
        if furthest as usize >= seen.len() {
            // Nobody asks.
            return;
        }
        if self.regions == 0 {
            for i in 0..n {
                for own in vertices {
                    // SAFETY: none lies further than the furthest.
                    unsafe { *seen.get_unchecked_mut(own[i] as usize) = 1 };
                }
            }
            self.references += 3 * n as u64;
            return;
        }
        let d = &mut self.deferred;
        if furthest as usize >= d.seen.0.len().min(d.last.len()) {
            return;
        }
        let (most, grid) = (self.regions.min(i32::MAX as u64) as u32, self.grid);
        let (mut region, mut fits) = ([0u32; LANES], [0u32; LANES]);
        for i in 0..LANES {
            let bounds = Rect { x0: from[0][i], y0: from[1][i], x1: to[0][i], y1: to[1][i] };
            let (regions, first) = regions(bounds, grid, layers[i] & 0xFFFF);
            fits[i] = (regions.wrapping_sub(1) < most) as u32;
            region[i] = first;
        }
        for i in 0..n {
            if fits[i] == 0 {
                for own in vertices {
                    seen[own[i] as usize] = 1;
                }
                self.references += 3;
                continue;
            }
            d.primitives += 1;
            let mut deferred = 1;
            for own in vertices {
                let v = own[i] as usize;
                // SAFETY: none lies further than the furthest (here and below).
                unsafe { *d.seen.0.get_unchecked_mut(v) = 1 };
                let last = unsafe { d.last.get_unchecked_mut(v) };
                deferred += (std::mem::replace(last, region[i]) != region[i]) as u32;
            }
            kinds[i] |= deferred << DEFERRED;
        }
    }
    /// A visible primitive within `bounds` uses these vertices; its [`Form::deferred`](crate::prim::Form::deferred).
    #[inline(always)]
    pub fn visible<const N: usize>(&mut self, vertices: [usize; N], bounds: Rect, layer: u16) -> u8 {
        // Loops and maps over arrays would be calls, where this is compiled for vectors.
        let (regions, region) = regions(bounds, self.grid, layer as u32);
        if (regions as u64).wrapping_sub(1) >= self.regions {
            for v in &vertices {
                self.mark(*v);
            }
            return 0;
        }
        let d = &mut self.deferred;
        d.primitives += 1;
        let mut new = 0;
        for &v in &vertices {
            if let (Some(seen), Some(last)) = (d.seen.0.get_mut(v), d.last.get_mut(v)) {
                *seen = 1;
                new += (std::mem::replace(last, region) != region) as u8;
            }
        }
        1 + new
    }
    /// What is shaded later.
    pub fn postponed(&self) -> Postponed {
        let d = &self.deferred;
        if self.regions == 0 || d.primitives == 0 {
            return Postponed::default();
        }
        Postponed {
            primitives: d.primitives,
            vertices: d.seen.len(),
            only: d.seen.words().zip(self.seen.words()).map(|(d, b)| (d & !b).count_ones() as u64).sum(),
        }
    }
    /// Vertices that are used, and uses of them beyond the first.
    pub fn counts(&self) -> [u64; 2] {
        let used = self.seen.len();
        [used, self.references - used]
    }
    /// Index and instance of those that are used by primitives which are shaded now (`false`) or later.
    pub fn of<'a>(&'a mut self, later: bool, chunk: &'a Assembled) -> [&'a [u32]; 2] {
        let all = [&chunk.index[..], &chunk.instance[..]];
        let seen = if later { &self.deferred.seen } else { &self.seen };
        if seen.len() == chunk.index.len() as u64 {
            return all;
        }
        let [index, instance] = &mut self.vertices;
        index.clear();
        instance.clear();
        for (word, first) in seen.words().zip((0..).step_by(64)) {
            let mut left = word;
            while left != 0 {
                // Neighbours at once.
                let from = left.trailing_zeros() as usize;
                let n = (left >> from).trailing_ones() as usize;
                left &= u64::MAX.checked_shl((from + n) as u32).unwrap_or(0);
                let range = first + from..first + from + n;
                index.extend_from_slice(&all[0][range.clone()]);
                instance.extend_from_slice(&all[1][range]);
            }
        }
        [&self.vertices[0], &self.vertices[1]]
    }
}

/// Batches that have been dropped, whose memory is warm: fresh pages cost as much as the primitives on them.
static POOL: Mutex<Vec<Batch>> = Mutex::new(Vec::new());
/// Bytes that the pool keeps at most, and of a batch that is worth keeping.
const KEPT: usize = 192 << 20;
const WORTH: usize = 64 << 10;

impl Batch {
    /// An empty batch, with memory of an earlier one if there is any.
    pub fn recycled() -> Box<Batch> {
        Box::new(POOL.lock().pop().unwrap_or_default())
    }

    /// Another draw begins.
    pub fn begin(&mut self) {
        self.before = self.prims.len();
        self.streams = false;
    }

    /// Empty again; the memory is kept.
    pub fn clear(&mut self) {
        self.prims.clear();
        self.planes.clear();
        self.pixels.clear();
        self.edges.clear();
        self.counts = GeometryCounts::default();
        self.before = 0;
        self.streams = false;
        self.short = false;
    }

    /// The primitives from `before` on are one of the application's, which is visible and uses these vertices.
    pub fn visible(&mut self, before: usize, vertices: &[u32]) {
        let Some((first, more)) = self.prims[before..].split_first() else { return };
        let mut bounds = first.bounds.rect();
        for p in more {
            let r = p.bounds.rect();
            bounds.x0 = bounds.x0.min(r.x0);
            bounds.y0 = bounds.y0.min(r.y0);
            bounds.x1 = bounds.x1.max(r.x1);
            bounds.y1 = bounds.y1.max(r.y1);
        }
        let at = |k: usize| vertices[k.min(vertices.len() - 1)] as usize;
        let layer = first.layer;
        let deferred = match vertices.len() {
            1 => self.used.visible([at(0)], bounds, layer),
            2 => self.used.visible([at(0), at(1)], bounds, layer),
            _ => self.used.visible([at(0), at(1), at(2)], bounds, layer),
        };
        if deferred > 0 {
            // The first one has the vertices.
            self.prims[before..].iter_mut().for_each(|p| p.form.set_deferred(1));
            self.prims[before].form.set_deferred(deferred);
        }
    }

    /// Appends a primitive that is no triangle, of these edges.
    pub fn push(&mut self, mut prim: Prim, edges: &[Edge]) {
        if !self.fits(1, 0, 0, edges.len()) {
            return;
        }
        prim.set_listed([self.edges.len() as u32, 0]);
        self.edges.extend_from_slice(edges);
        self.prims.push(prim);
    }

    /// Makes room for so many more of each. False, and [`Batch::short`] from then on, without memory for them.
    #[inline(always)]
    pub fn fits(&mut self, prims: usize, planes: usize, pixels: usize, edges: usize) -> bool {
        let all = has(&mut self.prims, prims)
            && has(&mut self.planes, planes)
            && has(&mut self.pixels, pixels)
            && has(&mut self.edges, edges);
        self.short |= !all;
        all
    }

    /// So many primitives, planes, pixels and edges have been written to its room.
    ///
    /// # Safety
    /// They have.
    pub(super) unsafe fn have(&mut self, [prims, planes, pixels, edges]: [usize; 4]) {
        // SAFETY: the caller's.
        unsafe {
            self.prims.set_len(prims);
            self.planes.set_len(planes);
            self.pixels.set_len(pixels);
            self.edges.set_len(edges);
        }
    }

    /// So many more primitives will come, of so many planes and edges in the list each.
    pub fn expect(&mut self, prims: usize, lists: [usize; 2]) {
        self.make_room(prims, lists);
        let own = (self.prims.len() - self.before).saturating_add(prims);
        self.streams |= !self.passes && own >= STREAMS;
    }

    /// Makes room for so many more primitives. Without memory for that, nothing happens.
    pub fn make_room(&mut self, prims: usize, [planes, edges]: [usize; 2]) {
        // Set-up makes planes of a whole group.
        let groups = prims.saturating_add(LANES);
        room(&mut self.prims, prims);
        room(&mut self.planes, groups.saturating_mul(planes));
        room(&mut self.edges, prims.saturating_mul(edges));
    }

    /// Bytes of memory held.
    fn bytes(&self) -> usize {
        self.prims.capacity() * size_of::<Prim>()
            + self.planes.capacity() * size_of::<Plane>()
            + self.pixels.capacity() * size_of::<[i32; 2]>()
            + self.edges.capacity() * size_of::<Edge>()
    }
}

/// Copies `n` things into a batch's room, past the caches if it [streams](Batch::streams).
///
/// # Safety
/// As `copy_nonoverlapping`.
#[inline(always)]
pub(super) unsafe fn put<T>(streams: bool, from: *const T, to: *mut T, n: usize) {
    // SAFETY: the caller's.
    unsafe {
        match streams {
            true => simd::stream(from.cast(), to.cast(), n * size_of::<T>()),
            false => to.copy_from_nonoverlapping(from, n),
        }
    }
}

/// Primitives that are too many for the caches: 4 MB with two planes each.
const STREAMS: usize = 1 << 15;

/// Whether there is room for so many more.
#[inline(always)]
fn has<T>(v: &mut Vec<T>, more: usize) -> bool {
    #[cold]
    #[inline(never)]
    fn grow<T>(v: &mut Vec<T>, more: usize) -> bool {
        v.try_reserve(more).is_ok()
    }
    v.capacity() - v.len() >= more || grow(v, more)
}

/// Makes room for so many more, in large pages where there are any: tiles read primitives from all over it. Without memory for that,
/// nothing happens.
fn room<T>(v: &mut Vec<T>, more: usize) {
    if v.capacity() - v.len() >= more {
        return;
    }
    let wanted = v.len().saturating_add(more).max(v.capacity().saturating_mul(2));
    // Up to the end of the last large page.
    let spare = if wanted.saturating_mul(size_of::<T>()) >= 2 * simd::LARGE_PAGE {
        simd::LARGE_PAGE / size_of::<T>().max(1)
    } else {
        0
    };
    // Not the old pages, which are small ones if they were touched too early.
    let mut new = Vec::<T>::new();
    if new.try_reserve_exact(wanted.saturating_add(spare)).is_ok() {
        simd::large_pages(new.as_ptr().cast(), new.capacity() * size_of::<T>());
        new.append(v);
        *v = new;
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let bytes = self.bytes();
        if !(WORTH..=KEPT).contains(&bytes) {
            return;
        }
        let mut pool = POOL.lock();
        if pool.iter().map(Batch::bytes).sum::<usize>() + bytes <= KEPT {
            let mut kept = std::mem::take(self);
            kept.clear();
            kept.passes = false;
            // The largest is taken first.
            let at = pool.partition_point(|b| b.bytes() <= bytes);
            pool.insert(at, kept);
        }
    }
}

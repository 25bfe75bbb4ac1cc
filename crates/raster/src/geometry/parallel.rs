//! A draw's chunks on several threads, their results in order.
//!
//! A thread keeps what its chunks made until all chunks before them are known; then their place in the batch is, and
//! it moves them there while they are still in its cache.

use super::Batch;
use super::batch::put;
use super::feedback::Feedback;
use super::line::Stipple;
use super::pieces::{Pieces, with_scratch, with_worker};
use crate::prim::{Edge, Plane, Prim, Shape};
use machine::count;
use machine::shared::Shared;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use wave::Stop;

/// Primitives that a thread has room for beforehand.
const WAITING: usize = 1 << 16;

/// Primitives that one thread moves sooner than several have begun.
const FEW: usize = 2048;

/// Numbers of primitives, planes, pixels and edges.
type Counts = [usize; 4];

fn add(a: Counts, b: Counts) -> Counts {
    std::array::from_fn(|i| a[i] + b[i])
}

/// What threads have not moved to its place yet.
type Left = Vec<(Box<Batch>, Vec<Piece>)>;

/// A chunk's results in the batch of a thread.
struct Piece {
    chunk: u64,
    prims: Range<usize>,
    planes: Range<usize>,
    pixels: Range<usize>,
    edges: Range<usize>,
}

impl Piece {
    fn counts(&self) -> Counts {
        [self.prims.len(), self.planes.len(), self.pixels.len(), self.edges.len()]
    }

    /// Its primitives' planes, pixels and edges are to begin elsewhere.
    fn moves(&self, batch: &mut Batch, at: Counts) {
        let by = |k: usize, from: &Range<usize>| (at[k] as u32).wrapping_sub(from.start as u32);
        let (planes, pixels, edges) = (by(1, &self.planes), by(2, &self.pixels), by(3, &self.edges));
        for prim in &mut batch.prims[self.prims.clone()] {
            prim.planes = prim.planes.wrapping_add(planes);
            if !prim.is_triangle() {
                let by = if prim.form.shape() == Shape::Pixels { pixels } else { edges };
                let [first, count] = prim.listed();
                prim.set_listed([first.wrapping_add(by), count]);
            }
        }
    }
}

/// Which chunks are known.
struct Order {
    /// Of chunks that are done, by number.
    done: Vec<Option<Counts>>,
    /// Where chunks begin: of all that are done without a gap, and of the next one.
    starts: Vec<Counts>,
}

/// The batch's room, written by all threads.
struct Room {
    prims: *mut Prim,
    planes: *mut Plane,
    pixels: *mut [i32; 2],
    edges: *mut Edge,
    size: Counts,
    /// [`Batch::streams`].
    streams: bool,
}

// SAFETY: threads write to ranges of their own.
unsafe impl Sync for Room {}

impl Room {
    fn new(out: &mut Batch) -> Room {
        Room {
            prims: out.prims.as_mut_ptr(),
            planes: out.planes.as_mut_ptr(),
            pixels: out.pixels.as_mut_ptr(),
            edges: out.edges.as_mut_ptr(),
            size: [out.prims.capacity(), out.planes.capacity(), out.pixels.capacity(), out.edges.capacity()],
            streams: out.streams,
        }
    }

    fn has(&self, end: Counts) -> bool {
        (0..4).all(|i| end[i] <= self.size[i])
    }

    /// Copies a piece to its place.
    ///
    /// # Safety
    /// The place lies in the room and is nobody else's.
    unsafe fn put(&self, p: &Piece, from: &mut Batch, at: Counts) {
        p.moves(from, at);
        let (prims, planes) = (&from.prims[p.prims.clone()], &from.planes[p.planes.clone()]);
        let (pixels, edges) = (&from.pixels[p.pixels.clone()], &from.edges[p.edges.clone()]);
        // SAFETY: in the room, and nobody else's, says the caller; a thread's batch has room of its own.
        unsafe {
            put(self.streams, prims.as_ptr(), self.prims.add(at[0]), prims.len());
            put(self.streams, planes.as_ptr(), self.planes.add(at[1]), planes.len());
            std::ptr::copy_nonoverlapping(pixels.as_ptr(), self.pixels.add(at[2]), pixels.len());
            std::ptr::copy_nonoverlapping(edges.as_ptr(), self.edges.add(at[3]), edges.len());
        }
        if self.streams {
            simd::streamed();
        }
    }
}

/// Runs chunks and appends what they make. `feedback`: as it is before the first, where each chunk's is known beforehand.
pub fn run(
    shared: &Shared,
    threads: usize,
    work: &dyn Pieces,
    range: Range<u64>,
    feedback: Option<&Feedback>,
    out: &mut Batch,
) -> Result<(), Stop> {
    // Here they are numbered from 0 on.
    let (before, chunks, all) = (range.start, range.end - range.start, work.count());
    let first: Counts = [out.prims.len(), out.planes.len(), out.pixels.len(), out.edges.len()];
    let expected = work.expected();
    // Without room, everything is appended in the end.
    out.expect(expected, work.lists());
    let room = Room::new(out);
    let order = Mutex::new(Order { done: vec![None; chunks as usize], starts: vec![first] });
    let next = AtomicU64::new(0);
    let fault: Mutex<Option<Stop>> = Mutex::new(None);
    let left: Mutex<Left> = Mutex::default();

    let thread = || {
        if next.load(Relaxed) >= chunks {
            return;
        }
        let mut batch = Batch::recycled();
        // Chunks wait here for those before them: to grow then would be to copy.
        let waiting = expected.min(WAITING);
        batch.passes = true;
        batch.make_room(waiting, work.lists());
        let mut pieces: Vec<Piece> = Vec::new();
        let mut starts = Vec::new();
        let result = with_worker(shared, |worker| {
            with_scratch(|scratch| {
                loop {
                    let chunk = next.fetch_add(1, Relaxed);
                    if chunk >= chunks || shared.hub.stops() {
                        work.take(worker, &mut batch);
                        return Ok(());
                    }
                    worker.tally.trace(shared.traced(before + chunk, all, count::TRACED));
                    let from = [batch.prims.len(), batch.planes.len(), batch.pixels.len(), batch.edges.len()];
                    let mut own = feedback.and_then(|f| work.advanced(f, before..before + chunk));
                    let mut stipple = Stipple::default();
                    work.run(worker, before + chunk, scratch, &mut stipple, own.as_mut(), &mut batch)?;
                    if batch.short {
                        next.store(chunks, Relaxed);
                    }
                    let piece = Piece {
                        chunk,
                        prims: from[0]..batch.prims.len(),
                        planes: from[1]..batch.planes.len(),
                        pixels: from[2]..batch.pixels.len(),
                        edges: from[3]..batch.edges.len(),
                    };
                    let counts = piece.counts();
                    pieces.push(piece);
                    starts.clear();
                    {
                        let mut o = order.lock();
                        o.done[chunk as usize] = Some(counts);
                        o.advance(&room);
                        let known = o.starts.len() as u64 - 1;
                        starts.extend(
                            pieces.iter().take_while(|p| p.chunk < known).map(|p| o.starts[p.chunk as usize]),
                        );
                    }
                    for (p, at) in pieces.drain(..starts.len()).zip(&starts) {
                        // SAFETY: `advance` gave out a range of the room.
                        unsafe { room.put(&p, &mut batch, *at) };
                    }
                    if pieces.is_empty() {
                        let counts = std::mem::take(&mut batch.counts);
                        batch.clear();
                        batch.counts = counts;
                    }
                }
            })
        });
        if let Err(f) = result {
            fault.lock().get_or_insert(f);
            next.store(chunks, Relaxed);
        }
        left.lock().push((batch, pieces));
    };
    shared.pool.run(threads as u64, &thread);
    let mut left = left.into_inner();
    for (batch, _) in &left {
        out.counts.add(&batch.counts);
    }
    if let Some(f) = fault.into_inner() {
        return Err(f);
    }
    out.short = left.iter().any(|(batch, _)| batch.short);
    if out.short {
        return Ok(());
    }

    // What was done last is still with the threads.
    let mut order = order.into_inner();
    let place = |room: &Room, starts: &[Counts], left: &mut Left| {
        let known = starts.len() as u64 - 1;
        let mut put = |(batch, pieces): &mut (Box<Batch>, Vec<Piece>)| {
            let own = pieces.partition_point(|p| p.chunk < known);
            for p in pieces.drain(..own) {
                // SAFETY: `advance` gave out a range of the room.
                unsafe { room.put(&p, batch, starts[p.chunk as usize]) };
            }
        };
        let primitives = |(_, p): &(_, Vec<Piece>)| p.iter().map(|p| p.prims.len()).sum::<usize>();
        match left.iter().map(primitives).sum::<usize>() < FEW {
            true => left.iter_mut().for_each(&mut put),
            false => shared.pool.each(left, |_, one| put(one)),
        }
        starts[known as usize]
    };
    let end = place(&room, &order.starts, &mut left);
    // SAFETY: everything up to `end` has been written, within the capacities.
    unsafe { out.have(end) };
    if left.iter().all(|(_, pieces)| pieces.is_empty()) {
        return Ok(());
    }
    // More than expected: clipping makes triangles out of one, stages out of a patch.
    let all = order.done.iter().flatten().fold(first, |all, c| add(all, *c));
    let [prims, planes, pixels, edges] = std::array::from_fn(|i| all[i] - end[i]);
    if out.fits(prims, planes, pixels, edges) {
        let room = Room::new(out);
        order.advance(&room);
        let end = place(&room, &order.starts, &mut left);
        // SAFETY: as above.
        unsafe { out.have(end) };
    }
    Ok(())
}

impl Order {
    /// Gives places to chunks all of whose predecessors are done, as far as the room goes.
    fn advance(&mut self, room: &Room) {
        while let Some(Some(counts)) = self.done.get(self.starts.len() - 1) {
            let at = self.starts[self.starts.len() - 1];
            let end = add(at, *counts);
            if !room.has(end) {
                return;
            }
            self.starts.push(end);
        }
    }
}

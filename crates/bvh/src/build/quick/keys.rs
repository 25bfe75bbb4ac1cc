//! Places on the curve.

use super::super::shapes::{List, Shapes};
use super::super::{Places, room};
use super::{Source, sort};
use crate::{Error, Pool};
use simd::{Level, Quad};

/// The place on the curve above `index_bits` bits of number.
pub struct Keys {
    pub all: Vec<u64>,
    pub index_bits: u32,
}

impl Keys {
    #[inline(always)]
    pub fn number(&self, at: usize) -> usize {
        (self.all[at] & ((1 << self.index_bits) - 1)) as usize
    }
}

/// Bounds of centres (upper ones negated), and how many primitives are active.
#[derive(Clone, Copy)]
struct Centres {
    bounds: [[f32; 4]; 2],
    active: usize,
}

#[inline(always)]
fn centres_body(list: List, from: usize, count: usize) -> Centres {
    match list {
        List::Triangles(all) => centres_of(all, from, count),
        List::Boxes(all) => centres_of(all, from, count),
        List::Instances(all) => centres_of(all, from, count),
    }
}

#[inline(always)]
fn centres_of<T: Shapes>(all: T, from: usize, count: usize) -> Centres {
    let mut low = Quad::splat(f32::INFINITY);
    let mut minus_high = low;
    let mut active = 0;
    for at in from..from + count {
        if let Some(pair) = all.pair(at) {
            let c = pair.centre();
            low = c.min(low);
            minus_high = (-c).min(minus_high);
            active += 1;
        }
    }
    Centres { bounds: [low.get(), minus_high.get()], active }
}

simd::by_level!(fn centres = plain centres_body, (list: List, from: usize, count: usize) -> Centres);

/// How centres become cells.
#[derive(Clone, Copy)]
struct Grid {
    low: [f32; 4],
    scale: [f32; 4],
    most: f32,
    index_bits: u32,
}

/// Three numbers of at most 20 bits, a bit of each in turn.
#[inline(always)]
fn interleave(cells: [i32; 4]) -> u64 {
    let mut of = cells.map(|c| c as u32 as u64);
    for (by, mask) in [
        (32, 0x001F_0000_0000_FFFF),
        (16, 0x001F_0000_FF00_00FF),
        (8, 0x100F_00F0_0F00_F00F),
        (4, 0x10C3_0C30_C30C_30C3),
        (2, 0x1249_2492_4924_9249),
    ] {
        for x in &mut of {
            *x = (*x | *x << by) & mask;
        }
    }
    of[0] | of[1] << 1 | of[2] << 2
}

#[inline(always)]
unsafe fn keys_body(list: List, from: usize, count: usize, place: usize, grid: &Grid, out: *mut u64) {
    // SAFETY: the caller's.
    unsafe {
        match list {
            List::Triangles(all) => keys_of(all, from, count, place, grid, out),
            List::Boxes(all) => keys_of(all, from, count, place, grid, out),
            List::Instances(all) => keys_of(all, from, count, place, grid, out),
        }
    }
}

/// # Safety
/// `out` has room for the keys of all that are active.
#[inline(always)]
unsafe fn keys_of<T: Shapes>(
    all: T,
    from: usize,
    count: usize,
    place: usize,
    grid: &Grid,
    mut out: *mut u64,
) {
    let (low, scale) = (Quad::new(grid.low), Quad::new(grid.scale));
    let (zero, most) = (Quad::splat(0.0), Quad::splat(grid.most));
    for i in 0..count {
        if let Some(pair) = all.pair(from + i) {
            let cells = ((pair.centre() - low) * scale).max(zero).min(most).to_ints();
            // SAFETY: the caller's.
            unsafe {
                out.write(interleave(cells) << grid.index_bits | (place + i) as u64);
                out = out.add(1);
            }
        }
    }
}

simd::by_level!(unsafe fn keys = plain keys_body, (list: List, from: usize, count: usize, place: usize, grid: &Grid, out: *mut u64));

/// The keys of all active primitives.
pub fn sorted(level: Level, source: &Source, pool: &dyn Pool) -> Result<Keys, Error> {
    let chunks = &source.chunks;
    let list = |task: usize| List::of(source.input, chunks[task].geometry);
    let mut of = room::<Centres>(chunks.len())?;
    let places = Places(of.as_mut_ptr());
    pool.run(chunks.len(), &|task| {
        let c = chunks[task];
        // SAFETY: one place a task.
        unsafe { places.get().add(task).write(centres(level, list(task), c.first, c.count)) };
    });
    // SAFETY: written by the tasks.
    unsafe { of.set_len(chunks.len()) };
    let mut bounds = [[f32::INFINITY; 4]; 2];
    let mut starts = room::<usize>(chunks.len())?;
    let mut count = 0;
    for c in &of {
        starts.push(count);
        count += c.active;
        for (all, of) in bounds.iter_mut().flatten().zip(c.bounds.as_flattened()) {
            *all = if of < all { *of } else { *all };
        }
    }
    let index_bits = usize::BITS - source.total.saturating_sub(1).leading_zeros();
    // More than enough cells to tell primitives apart, in as few passes of the sort as that takes.
    let axis_bits = ((index_bits + 22) / 3).clamp(7, (64 - index_bits) / 3).min(20);
    let cells = (1u64 << axis_bits) as f32;
    // Cells are cubes.
    let extent = (0..3).map(|axis| -(bounds[0][axis] + bounds[1][axis])).fold(0.0, f32::max);
    let scale = [if extent > 1e-30 { cells / extent } else { 0.0 }; 4];
    let grid = Grid { low: bounds[0], scale, most: cells - 1.0, index_bits };
    let mut all = room::<u64>(count)?;
    let places = Places(all.as_mut_ptr());
    pool.run(chunks.len(), &|task| {
        let c = chunks[task];
        // SAFETY: each chunk has places for its active primitives.
        unsafe { keys(level, list(task), c.first, c.count, c.place, &grid, places.get().add(starts[task])) };
    });
    // SAFETY: written by the tasks.
    unsafe { all.set_len(count) };
    sort::sort(&mut all, index_bits, axis_bits * 3, pool)?;
    Ok(Keys { all, index_bits })
}

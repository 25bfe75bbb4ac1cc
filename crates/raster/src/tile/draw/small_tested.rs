//! Small triangles with one sample a pixel or four, where only depth is tested, before shading. The coverage of many triangles comes first,
//! then the tests of all their blocks. In neither half does a step wait for the one before, and there is hardly a branch that the CPU cannot
//! predict. Bounds of depth, which spare large polygons' blocks their tests, would take as long to compute as the tests themselves.

// Loops over samples and edges index several arrays alike.
#![allow(clippy::needless_range_loop)]

use crate::geometry::bin::index;
use crate::layout::{BLOCKS, LANE_X, LANE_Y, LANES, SIDE};
use crate::prim::{Prim, prefetch, word};
use crate::tile::counts::{self, Tested};
use crate::tile::cover::group::SHORT;
use crate::tile::cover::small::{self, Window};
use crate::tile::item::{Item, events};
use crate::tile::memory::plane::sample_of;
use crate::tile::task::{AHEAD, Of, POLL, Task};
use simd::{Level, Simd, ops};
use std::mem::MaybeUninit;
use texel::vector;
use wave::Stop;

/// A block's sixteen lanes of each of four samples.
const ONCE: u64 = 0x0001_0001_0001_0001;
const EDGES: usize = 3;
/// Blocks that wait for their tests, at most.
const ROOM: usize = 512;

/// Pixels along either side of a triangle that is small: with one sample a block's coverage is so quick that the blocks which a larger
/// one does not touch cost less than to find out which it does. ([`SHORT`] edges allow for no more.)
const fn most(samples: usize) -> i32 {
    if samples == 1 { 28 } else { small::MOST }
}
/// Blocks that it touches, at most.
const fn most_blocks(samples: usize) -> usize {
    let side = most(samples) as usize / 4 + 1;
    side * side
}
const _: () = assert!(most_blocks(1) < ROOM && most_blocks(4) < ROOM);

/// A covered block of a triangle.
#[derive(Clone, Copy)]
struct Block {
    /// Sixteen lanes of each sample.
    covered: u64,
    prim: u32,
    block: u8,
}

/// Covered blocks, in their triangles' order.
struct Found {
    len: usize,
    blocks: [MaybeUninit<Block>; ROOM],
}

/// What all triangles of a draw have in common: of each sample, by edge, where it lies in its pixel, in 256ths.
struct Places([[u32; 16]; 2]);

impl Places {
    #[inline(always)]
    fn new<const SAMPLES: usize>(item: &Item) -> Places {
        let mut all = [[0; 16]; 2];
        for (lane, k) in (0..4 * SAMPLES).flat_map(|lane| [(lane, 0), (lane, 1)]) {
            all[k][lane] = item.plan.places[lane / 4][k] as u32 * 16;
        }
        Places(all)
    }
}

/// The `k`th edge's lane of each sample's.
#[inline(always)]
fn edge<S: Simd>(s: S, of: S::I, k: usize) -> S::I {
    let of = s.from_bits(of);
    s.bits(match k {
        0 => s.fquad::<0>(of),
        1 => s.fquad::<1>(of),
        _ => s.fquad::<2>(of),
    })
}

impl Found {
    /// Finds a triangle's covered blocks, for which there is room. False if it is none, or not small (nothing is found then).
    #[inline(always)]
    fn find<S: Simd, const SAMPLES: usize>(
        &mut self,
        s: S,
        prim: &Prim,
        number: u32,
        origin: [i32; 2],
        places: &Places,
    ) -> bool {
        if !prim.is_triangle() {
            return false;
        }
        let Some(b) = small::bounds(prim, origin, most(SAMPLES)) else { return false };
        let first = std::ptr::from_ref(prim).cast::<u32>().wrapping_add(word::CORNERS).cast_mut();
        // SAFETY: words of the primitive, four from a corner on.
        let (ab, c) = unsafe { (s.iload4([first.cast(); 4]), s.iload4([first.wrapping_add(4).cast(); 4])) };
        let (ab, c) = (s.from_bits(ab), s.from_bits(c));
        // Of each sample, by edge: where it begins, and where it ends. (The fourth is the third again.)
        let (x, y) = (s.fpick::<0b00_00_10_00>(ab, c), s.fpick::<0b01_01_11_01>(ab, c));
        let (to_x, to_y) = (s.fpick::<0b00_00_10_01>(x, x), s.fpick::<0b00_00_10_01>(y, y));
        let (from_x, from_y) = (small::fixed(s, x), small::fixed(s, y));
        let (to_x, to_y) = (small::fixed(s, to_x), small::fixed(s, to_y));
        let (dx, dy) = (s.isub(from_y, to_y), s.isub(to_x, from_x));
        let long = s.ior(s.ixor(dx, ops::sar(s, dx, 31)), s.ixor(dy, ops::sar(s, dy, 31)));
        if s.many(s.ugt(long, s.isplat(SHORT - 1))) {
            return false;
        }
        if b.is_empty() {
            return true;
        }
        let (left, top) = (b.x0 >> 2, b.y0 >> 2);
        let (right, bottom) = ((b.x1 + 3) >> 2, (b.y1 + 3) >> 2);
        let window = Window::new(&b, left, top);
        // Values in whole pixels' steps, as in `cover`: the fraction can go.
        let corner = |k: usize, at: i32| s.isplat(((origin[k] + at * 4) * 256) as u32);
        let x = s.isub(s.iadd(corner(0, left), vector::load(s, &places.0[0])), from_x);
        let y = s.isub(s.iadd(corner(1, top), vector::load(s, &places.0[1])), from_y);
        let value = s.iadd(s.iadd(s.imul(dx, x), s.imul(dy, y)), small::not_top_left(s, dx, dy));
        let mut row = ops::sar(s, value, 8);
        let (across, down) = (ops::shl(s, dx, 2), ops::shl(s, dy, 2));
        let mut offsets = [s.isplat(0); EDGES];
        for k in 0..EDGES {
            let x = s.imul(edge(s, dx, k), vector::load(s, &LANES[0]));
            let y = s.imul(edge(s, dy, k), vector::load(s, &LANES[1]));
            offsets[k] = s.iadd(x, y);
        }
        for by in 0..bottom - top {
            let mut here = row;
            row = s.iadd(row, down);
            for bx in 0..right - left {
                let mut value = [0u32; 16];
                vector::store(s, &mut value, here);
                here = s.iadd(here, across);
                let mut outside = [s.mask(0); 4];
                for i in 0..SAMPLES {
                    // The sign says whether any of the values is negative.
                    let mut least = s.isplat(0);
                    for k in 0..EDGES {
                        least = s.ior(least, s.iadd(offsets[k], s.isplat(value[4 * i + k])));
                    }
                    outside[i] = s.sgt(s.isplat(0), least);
                }
                let seen = window.lanes(bx, by) as u64;
                let covered = if SAMPLES == 1 {
                    seen & !s.mbits(outside[0]) as u64
                } else {
                    (seen * ONCE) & !s.mbits4(outside)
                };
                let block = ((top + by) as usize * SIDE + (left + bx) as usize) as u8;
                // Another comes in the place of one of which nothing is covered.
                self.blocks[self.len % ROOM].write(Block { covered, prim: number, block });
                self.len += (covered != 0) as usize;
            }
        }
        true
    }
}

impl Task<'_> {
    /// Covers and tests the triangles of a list from `next` on, until one is not small: its number. Of items of
    /// [`crate::tile::item::Plan::small`], with so many samples.
    #[inline(always)]
    fn small_tested<S: Simd, const SAMPLES: usize>(
        &mut self,
        s: S,
        item: &Item,
        entries: &[u32],
        mut next: usize,
    ) -> Result<usize, Stop> {
        const { assert!(SAMPLES == 1 || SAMPLES == 4) };
        let places = Places::new::<SAMPLES>(item);
        let mut found = Found { len: 0, blocks: [const { MaybeUninit::uninit() }; ROOM] };
        let prims = &item.batch.prims[..];
        let mut n = Tested::default();
        while let Some(&entry) = entries.get(next) {
            let number = index(entry);
            let prim = &prims[number as usize];
            if let Some(ahead) = entries.get(next + AHEAD) {
                prefetch(prims.as_ptr().wrapping_add(index(*ahead) as usize));
            }
            if found.len + most_blocks(SAMPLES) > ROOM {
                self.test_found::<S, SAMPLES>(s, item, &mut found, &mut n)?;
            }
            if next.is_multiple_of(POLL) && self.host.expired()
                || !found.find::<S, SAMPLES>(s, prim, number, self.origin, &places)
            {
                break;
            }
            events::entered(&mut self.counts, item, prim, entry, self.origin);
            next += 1;
        }
        self.test_found::<S, SAMPLES>(s, item, &mut found, &mut n)?;
        n.add_to(&mut self.counts);
        Ok(next)
    }

    #[inline(always)]
    fn test_found<S: Simd, const SAMPLES: usize>(
        &mut self,
        s: S,
        item: &Item,
        found: &mut Found,
        n: &mut Tested,
    ) -> Result<(), Stop> {
        let plan = &*item.plan;
        let len = std::mem::take(&mut found.len).min(ROOM);
        let Some(samples) = self.samples::<SAMPLES>(item) else { return Ok(()) };
        if plan.deferred {
            self.wait_no_longer()?;
        }
        // SAFETY: so many have been written.
        let all = unsafe { found.blocks[..len].assume_init_ref() };
        for &Block { covered, prim: index, block } in all {
            let prim = &item.batch.prims[index as usize];
            let of = Of { item, prim, number: index };
            let block = block as usize % BLOCKS;
            if plan.deferred && SAMPLES == 1 {
                self.depths_now(s, block);
            }
            let bits = samples.test(s, item, prim, self.origin, block, covered);
            let [any, every] = folded::<SAMPLES>(bits);
            if plan.observed {
                let [asked, all] = folded::<SAMPLES>(covered);
                let (asked, shown) = (counts::quads(asked), counts::quads(any));
                n.quads += asked;
                n.whole += counts::whole_quads(all);
                n.killed += asked - shown;
                n.updated += if plan.tests.write { shown } else { 0 };
            }
            if any == 0 {
                continue;
            }
            if plan.tests.write {
                if every == 0xFFFF {
                    let corner = [(block % SIDE) as i32 * 4, (block / SIDE) as i32 * 4];
                    let z = item.depths(prim, [0, 1].map(|k| self.origin[k] + corner[k]), 4);
                    self.hiz.wrote(block, z, true);
                } else {
                    self.hiz.wrote_somehow(&plan.tests, block);
                }
            }
            if SAMPLES == 1 {
                self.tested_one(&of, block, any, n)?;
            } else {
                n.passed += if plan.deferred { bits.count_ones() as u64 } else { 0 };
                self.tested_four(&of, block, any, bits)?;
            }
        }
        Ok(())
    }
}

/// A tile's depths by sample, and where the samples are, in pixels.
pub(in crate::tile) struct Samples<const SAMPLES: usize> {
    planes: [*mut f32; SAMPLES],
    places: [[f32; 2]; SAMPLES],
}

impl Task<'_> {
    /// Those of an item that has so many samples, if it has a depth attachment.
    #[inline(always)]
    pub(in crate::tile) fn samples<const SAMPLES: usize>(&self, item: &Item) -> Option<Samples<SAMPLES>> {
        let plane = self.plane(item.plan.depth, |t| &t.depth)?;
        let mut all = Samples { planes: [std::ptr::null_mut(); SAMPLES], places: [[0.0; 2]; SAMPLES] };
        for k in 0..SAMPLES {
            // SAFETY: the task's tile has the plane.
            all.planes[k] = unsafe { plane.sample(self.tile, sample_of(plane, k)) }.cast();
            let [x, y] = item.plan.places[k];
            all.places[k] = [x as f32 / 16.0, y as f32 / 16.0];
        }
        Some(all)
    }
}

impl<const SAMPLES: usize> Samples<SAMPLES> {
    /// Tests a block's covered lanes, sixteen of each sample, and puts the depths of those that pass there, if they are written; these.
    #[inline(always)]
    pub(in crate::tile) fn test<S: Simd>(
        &self,
        s: S,
        item: &Item,
        prim: &Prim,
        origin: [i32; 2],
        block: usize,
        covered: u64,
    ) -> u64 {
        let tests = &item.plan.tests;
        let range = item.depth_range(prim);
        let left = s.fsplat((origin[0] + (block % SIDE) as i32 * 4) as f32);
        let top = s.fsplat((origin[1] + (block / SIDE) as i32 * 4) as f32);
        let left = s.fadd(left, vector::floats(s, &LANE_X));
        let top = s.fadd(top, vector::floats(s, &LANE_Y));
        let mut passed = [s.mask(0); 4];
        for i in 0..SAMPLES {
            let [sx, sy] = [s.fsplat(self.places[i][0]), s.fsplat(self.places[i][1])];
            // In the order of `fill::Warp::places`, so that early and late tests see the same depth.
            let x = s.fsub(s.fadd(left, sx), s.fsplat(prim.origin()[0]));
            let y = s.fsub(s.fadd(top, sy), s.fsplat(prim.origin()[1]));
            let slope = s.fadd(s.fmul(s.fsplat(prim.z.dx), x), s.fmul(s.fsplat(prim.z.dy), y));
            let z = tests.value(s, s.fadd(s.fsplat(prim.z.at), slope), range);
            // SAFETY: a block of the plane, which the task's tile has.
            let stored = unsafe { &mut *self.planes[i].add(block % BLOCKS * 16).cast::<[f32; 16]>() };
            let old = vector::floats(s, stored);
            let mask = s.mask((covered >> (16 * i)) as u16);
            passed[i] = s.mand(mask, tests.passing(s, z, old));
            if tests.write {
                vector::store_floats(s, stored, s.fsel(passed[i], z, old));
            }
        }
        if SAMPLES == 1 { s.mbits(passed[0]) as u64 } else { s.mbits4(passed) }
    }
}

/// Lanes of any sample, and of every one.
#[inline(always)]
pub(in crate::tile) fn folded<const SAMPLES: usize>(bits: u64) -> [u16; 2] {
    if SAMPLES == 1 {
        return [bits as u16; 2];
    }
    let (any, every) = (bits | bits >> 32, bits & bits >> 32);
    [(any | any >> 16) as u16, (every & every >> 16) as u16]
}

#[inline(always)]
fn body<S: Simd, const SAMPLES: usize>(
    s: S,
    task: &mut Task,
    item: &Item,
    entries: &[u32],
    next: usize,
) -> Result<usize, Stop> {
    task.small_tested::<S, SAMPLES>(s, item, entries, next)
}

/// [`Task::small_tested`] for a machine, with one sample or four, if there is one: an x86-64 CPU without AVX2 is rare, and what is not
/// small has code that does for all.
pub(in crate::tile) type Run = unsafe fn(&mut Task, &Item, &[u32], usize) -> Result<usize, Stop>;

/// See [`Run`].
pub(in crate::tile) fn run(level: Level, single: bool) -> Option<Run> {
    if single { of::<1>(level) } else { of::<4>(level) }
}

fn of<const SAMPLES: usize>(level: Level) -> Option<Run> {
    simd::form!(
        level,
        <const SAMPLES: usize> fn(task: &mut Task, item: &Item, entries: &[u32], next: usize) -> Result<usize, Stop>
            = body::<_, SAMPLES>;
        portable if Level::COUNT == 1
    )
}

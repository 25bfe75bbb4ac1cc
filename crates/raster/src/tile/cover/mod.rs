//! Coverage: which pixels and samples of a tile's blocks lie inside a primitive (§ Polygon Rasterization).

pub mod group;
pub mod small;

use crate::layout::{BLOCKS, Blocks, LANE_X, LANE_Y, SIDE, TILE};
use crate::prim::{Edge, Prim};
use crate::state::Rect;
use crate::tile::cover::small::{COLUMNS as LANES_OF, ROWS};
use simd::Simd;
use texel::vector;

/// The most samples a pixel has.
pub const MAX_SAMPLES: usize = 16;
/// Masks of a warp: by sample what is left of each, then, where the program asks, what was covered.
pub const MAX_MASKS: usize = 2 * MAX_SAMPLES;

/// One edge: `e + dx · x + dy · y >= 0` inside, x and y in pixels from the tile's origin.
#[derive(Clone, Copy, Default)]
struct Line {
    e: i32,
    dx: i32,
    dy: i32,
    /// Greatest and least change within a block, to any sample.
    up: i32,
    down: i32,
}

/// First pixels of a row's blocks.
#[repr(C, align(64))]
pub(in crate::tile) struct Columns(pub [u32; SIDE]);
pub(in crate::tile) static COLUMNS: Columns =
    Columns([0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60]);

/// A primitive's edges within one tile.
pub struct Cover {
    /// Edges that cross the tile (others are dropped), at its first pixel's first sample.
    lines: [Line; 4],
    /// What is added for each sample.
    steps: [[i32; 4]; MAX_SAMPLES],
    offsets: [[i32; 16]; 4],
    count: usize,
    samples: usize,
    /// Bounds in tile coordinates.
    bounds: Rect,
}

impl Cover {
    pub fn empty() -> Cover {
        Cover {
            lines: [Line::default(); 4],
            steps: [[0; 4]; MAX_SAMPLES],
            offsets: [[0; 16]; 4],
            count: 0,
            samples: 1,
            bounds: Rect::default(),
        }
    }

    /// Takes a primitive. False if it misses the tile at `origin` (pixels). `inside`: all of the tile is known to lie inside
    /// the edges. `locations`: sample positions in 1/16 pixels.
    pub fn set(
        &mut self,
        p: &Prim,
        list: &[Edge],
        origin: [i32; 2],
        inside: bool,
        locations: &[[u8; 2]],
        single: bool,
    ) -> bool {
        let c = self;
        let b = &p.bounds.rect();
        c.bounds = Rect {
            x0: (b.x0 - origin[0]).max(0),
            y0: (b.y0 - origin[1]).max(0),
            x1: (b.x1 - origin[0]).min(TILE),
            y1: (b.y1 - origin[1]).min(TILE),
        };
        c.count = 0;
        if c.bounds.is_empty() {
            return false;
        }
        let samples = if single { 1 } else { locations.len() };
        c.samples = samples;
        if inside {
            return true;
        }
        for e in &p.edges(list)[..p.form.edges()] {
            let (a, b) = (e.a as i64, e.b as i64);
            let far = TILE as i64 - 1;
            let (rise, fall) = (far * (a.max(0) + b.max(0)), far * (a.min(0) + b.min(0)));
            // The value at each sample of the tile's first pixel, in whole pixels' steps: a · dx + b · dy changes by
            // whole numbers from pixel to pixel, so that the fraction can go (rounding down keeps the sign).
            let mut values = [0i64; MAX_SAMPLES];
            let (mut least, mut most) = (i64::MAX, i64::MIN);
            for s in 0..samples {
                let [sx, sy] = if single { [8, 8] } else { locations[s] };
                let (x, y) =
                    (origin[0] as i64 * 256 + sx as i64 * 16, origin[1] as i64 * 256 + sy as i64 * 16);
                let v = (a * x + b * y + e.c) >> 8;
                values[s] = v;
                (least, most) = (least.min(v), most.max(v));
            }
            if most + rise < 0 {
                return false;
            }
            if least + fall >= 0 {
                continue;
            }
            // The edge crosses the tile, so every value in it fits 32 bits.
            let n = c.count;
            let (dx, dy) = (e.a, e.b);
            for (s, v) in values[..samples].iter().enumerate() {
                c.steps[s][n] = (*v - values[0]) as i32;
            }
            c.lines[n] = Line {
                e: values[0] as i32,
                dx,
                dy,
                up: 3 * (dx.max(0) + dy.max(0)) + (most - values[0]) as i32,
                down: 3 * (dx.min(0) + dy.min(0)) + (least - values[0]) as i32,
            };
            for l in 0..16 {
                c.offsets[n][l] = e.a * LANE_X[l] as i32 + e.b * LANE_Y[l] as i32;
            }
            c.count += 1;
        }
        true
    }

    /// What is covered, if no edge crosses it: all pixels of a rectangle, in tile coordinates.
    pub fn rect(&self) -> Option<Rect> {
        (self.count == 0).then_some(self.bounds)
    }

    /// Lists the blocks with a covered sample.
    #[inline(always)]
    pub fn list<S: Simd>(&self, s: S, out: &mut Covered) {
        if self.samples == 1 { self.list_of::<S, true>(s, out) } else { self.list_of::<S, false>(s, out) }
    }

    /// Blocks that an edge cuts are tested against all edges without branches, because the CPU could not predict them.
    #[inline(always)]
    fn list_of<S: Simd, const SINGLE: bool>(&self, s: S, out: &mut Covered) {
        let samples = if SINGLE { 1 } else { self.samples.min(MAX_SAMPLES) };
        let b = &self.bounds;
        let (bx0, bx1) = (b.x0 >> 2, (b.x1 + 3) >> 2);
        let asked = ((1u32 << bx1) - (1 << bx0)) as u16;
        // Pixels of each column of blocks, and of each row, that lie within the bounds.
        let bits = |from: i32, to: i32| (!0u64 >> (TILE - (to - from).clamp(1, TILE))) << from;
        let (columns_seen, rows_seen) = (bits(b.x0, b.x1), bits(b.y0, b.y1));
        let zero = s.isplat(0);
        // SAFETY: sixteen words, aligned.
        let columns = unsafe { s.iload(COLUMNS.0.as_ptr().cast()) };
        let edges = &self.lines[..self.count.min(4)];
        // What each edge is at the first pixels of a row's blocks.
        let mut row = [Columns([0; SIDE]), Columns([0; SIDE]), Columns([0; SIDE]), Columns([0; SIDE])];
        let mut count = 0;
        for by in b.y0 >> 2..(b.y1 + 3) >> 2 {
            let y = by * 4;
            let (mut out_of, mut cut) = (zero, zero);
            for (l, row) in edges.iter().zip(&mut row) {
                let first = s.isplat(l.e.wrapping_add(l.dy.wrapping_mul(y)) as u32);
                let e = s.iadd(first, s.imul(columns, s.isplat(l.dx as u32)));
                vector::store(s, &mut row.0, e);
                // The sign says.
                out_of = s.ior(out_of, s.iadd(e, s.isplat(l.up as u32)));
                cut = s.ior(cut, s.iadd(e, s.isplat(l.down as u32)));
            }
            let mut live = asked & !s.mbits(s.sgt(zero, out_of));
            let cut = s.mbits(s.sgt(zero, cut));
            let rows = ROWS[(rows_seen >> y & 0xF) as usize] as u16;
            while live != 0 {
                let bx = live.trailing_zeros() as usize;
                live &= live - 1;
                let seen = rows & LANES_OF[(columns_seen >> (4 * bx) & 0xF) as usize] as u16;
                let at = count.min(BLOCKS);
                let masks = &mut out.masks[at];
                let mut any = seen;
                if cut >> bx & 1 != 0 {
                    any = 0;
                    for (mask, steps) in masks[..samples].iter_mut().zip(&self.steps) {
                        let mut least = zero;
                        for (n, row) in row[..edges.len()].iter().enumerate() {
                            // SAFETY: sixteen words.
                            let at = unsafe { s.iloadu(self.offsets[n].as_ptr().cast()) };
                            let step = if SINGLE { 0 } else { steps[n] as u32 };
                            least = s.ior(least, s.iadd(at, s.isplat(row.0[bx % SIDE].wrapping_add(step))));
                        }
                        *mask = seen & !s.mbits(s.sgt(zero, least));
                        any |= *mask;
                    }
                } else {
                    masks[..samples].fill(seen);
                }
                out.blocks[at] = (by * 16) as u8 + bx as u8;
                count += (any != 0) as usize;
            }
        }
        out.count = count;
    }

    /// No edge crosses the tile, and no bound.
    pub fn whole(&self) -> bool {
        let b = &self.bounds;
        self.count == 0 && (b.x0, b.y0, b.x1, b.y1) == (0, 0, TILE, TILE)
    }
}

/// Covered blocks of a tile: lane masks by sample.
pub struct Covered {
    pub count: usize,
    pub blocks: [u8; BLOCKS + 1],
    pub masks: [[u16; MAX_SAMPLES]; BLOCKS + 1],
}

impl Covered {
    pub fn new() -> Box<Covered> {
        Box::new(Covered { count: 0, blocks: [0; BLOCKS + 1], masks: [[0; MAX_SAMPLES]; BLOCKS + 1] })
    }

    /// Puts blocks of the same 8 × 8 pixels next to each other.
    #[cold]
    pub fn by_area(&mut self) {
        let n = self.count.min(BLOCKS);
        let mut all: Vec<(u8, [u16; MAX_SAMPLES])> =
            self.blocks[..n].iter().copied().zip(self.masks[..n].iter().copied()).collect();
        all.sort_unstable_by_key(|(b, _)| (b >> 5, b >> 1 & 7, *b));
        for (i, (block, masks)) in all.into_iter().enumerate() {
            (self.blocks[i], self.masks[i]) = (block, masks);
        }
    }
}

impl Cover {
    /// Adds the blocks all of whose pixels are covered (one sample).
    pub fn full_blocks(&self, level: simd::Level, room: &mut Covered, out: &mut Blocks) {
        if self.whole() {
            return out.fill(!0);
        }
        list(level, self, room);
        for (b, m) in room.blocks.iter().zip(&room.masks).take(room.count) {
            out[*b as usize / 64] |= ((m[0] == 0xFFFF) as u64) << (b % 64);
        }
    }
}

#[inline(always)]
fn list_body<S: Simd>(s: S, c: &Cover, out: &mut Covered) {
    c.list(s, out);
}
simd::by_level!(pub fn list = list_body, (c: &Cover, out: &mut Covered));

#[cfg(test)]
pub(crate) use tests::edges_against_each_sample;
#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{lane_x, lane_y, sample_locations};
    use crate::prim::Edge;

    /// x ≥ 10.25 and x + y < 30, against a test of each sample with exact numbers.
    pub(crate) fn edges_against_each_sample(level: simd::Level) {
        let edges = [
            Edge { a: 256, b: 0, c: -256 * (10 * 256 + 64) },
            Edge { a: -256, b: -256, c: 256 * 30 * 256 - 1 },
            Edge { a: 0, b: 1 << 22, c: -(3 << 30) },
            Edge::default(),
        ];
        let prim = crate::prim::tests::polygon(4, Rect { x0: 0, y0: 1, x1: 61, y1: 64 });
        for (origin, samples) in [([0, 0], 1), ([0, 0], 4), ([0, 0], 8), ([64, 0], 4), ([0, -64], 2)] {
            let locations = sample_locations(samples);
            let mut got = vec![[false; 16]; 4096];
            let mut c = Cover::empty();
            if c.set(&prim, &edges, origin, false, locations, samples == 1) {
                let mut room = Covered::new();
                list(level, &c, &mut room);
                for (b, masks) in room.blocks.iter().map(|b| *b as usize).zip(&room.masks).take(room.count) {
                    for s in 0..samples as usize {
                        for l in 0..16 {
                            let (x, y) = (b % 16 * 4 + lane_x(l), b / 16 * 4 + lane_y(l));
                            got[y * 64 + x][s] |= masks[s] >> l & 1 != 0;
                        }
                    }
                }
            }
            for y in 0..64i64 {
                for x in 0..64i64 {
                    for (s, [sx, sy]) in locations.iter().enumerate() {
                        let (px, py) = (x + origin[0] as i64, y + origin[1] as i64);
                        let (fx, fy) = (px * 256 + *sx as i64 * 16, py * 256 + *sy as i64 * 16);
                        let want = edges.iter().all(|e| e.a as i64 * fx + e.b as i64 * fy + e.c >= 0)
                            && (0..61).contains(&px)
                            && (1..64).contains(&py);
                        assert_eq!(got[(y * 64 + x) as usize][s], want, "{px} {py} sample {s} of {samples}");
                    }
                }
            }
        }
    }
}

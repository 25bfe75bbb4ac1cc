//! Binning: primitives into lists, one a tile of 64×64 pixels, in order.

use super::Batch;
use crate::layout::{Grid, TILE};
use crate::prim::{Edge, Prim, Shape};
use crate::state::Rect;
use machine::shared::Shared;
use parking_lot::Mutex;
use std::ops::Range;

const SHIFT: u32 = TILE.trailing_zeros();
/// In an entry: all of the tile that lies in the render area is inside the primitive (its edges and bounds).
pub const COVERS: u32 = 1 << 31;
/// In an entry: the primitive's bounds are large enough to hide others ([`LARGE_SIDE`] each way).
pub const LARGE: u32 = 1 << 30;
/// Pixels.
const LARGE_SIDE: i32 = 16;

/// The primitive of an entry.
#[inline(always)]
pub fn index(entry: u32) -> u32 {
    entry & !(COVERS | LARGE)
}

/// Which primitives each tile may see.
#[derive(Default, Debug)]
pub struct Bins {
    /// Tile coordinates of the first tile, and how many there are.
    pub x0: u32,
    pub y0: u32,
    pub width: u32,
    pub height: u32,
    pub layers: u32,
    /// By tile: where its list starts in `entries`; one more at the end.
    starts: Vec<u32>,
    entries: Vec<u32>,
}

/// Why primitives could not be sorted into lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Full {
    /// There would be more than [`MOST_ENTRIES`]: fewer primitives at once are to be tried.
    Entries,
    /// There is no memory.
    Memory,
}

/// Entries of all lists; more only for a single primitive.
pub const MOST_ENTRIES: usize = 1 << 24;
/// Tiles' counts that threads keep, all together.
const MOST_COUNTS: usize = 1 << 26;

/// A chunk's entries as they come: tile and entry.
type Pairs = Vec<(u32, u32)>;

impl Bins {
    /// Entries of a tile in order: the primitive's index in its batch, with [`COVERS`] and
    /// [`LARGE`]. `x`, `y`: tile coordinates.
    pub fn list(&self, layer: u32, x: u32, y: u32) -> &[u32] {
        // Subpasses may have fewer views than the pass.
        if layer >= self.layers {
            return &[];
        }
        let t = ((layer * self.height + y - self.y0) * self.width + x - self.x0) as usize;
        &self.entries[self.starts[t] as usize..self.starts[t + 1] as usize]
    }

    /// Entries of all tiles.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Tiles of all layers.
    pub fn tiles(&self) -> usize {
        self.width as usize * self.height as usize * self.layers as usize
    }

    /// Words of memory.
    pub fn words(&self) -> usize {
        self.starts.len() + self.entries.len()
    }

    /// Sorts the primitives `range` of a batch into the tiles of a render area.
    pub fn new(
        shared: &Shared,
        batch: &Batch,
        range: Range<usize>,
        area: Rect,
        grid: Grid,
        layers: u32,
    ) -> Result<Bins, Full> {
        let mut bins = Bins::default();
        bins.fill(shared, batch, range, area, grid, layers)?;
        Ok(bins)
    }

    /// As [`Bins::new`]; keeps the memory.
    pub fn fill(
        &mut self,
        shared: &Shared,
        batch: &Batch,
        range: Range<usize>,
        area: Rect,
        grid: Grid,
        layers: u32,
    ) -> Result<(), Full> {
        let bins = self;
        let (before, prims) = (range.start, &batch.prims[range]);
        let tiles = Tiles::new(area, grid, layers);
        let Tiles { x0, y0, width, height, .. } = tiles;
        (bins.x0, bins.y0, bins.width, bins.height) = (x0, y0, width, height);
        bins.layers = layers;
        let grid = tiles;
        let tiles = tiles.count();
        let threads = shared.pool.threads();
        // Results don't depend on how primitives are shared out.
        let chunk = prims.len().div_ceil((threads * 2).min(MOST_COUNTS / tiles.max(1)).max(1)).max(8192);
        let mut parts: Vec<(Pairs, Vec<u32>)> = Vec::new();
        parts.resize_with(prims.len().div_ceil(chunk), Default::default);
        let full = Mutex::new(None);
        let collect = |i: usize, part: &mut (Pairs, Vec<u32>)| {
            let first = i * chunk;
            let own = &prims[first..(first + chunk).min(prims.len())];
            let room =
                part.1.try_reserve_exact(tiles).and_then(|()| part.0.try_reserve(own.len() + own.len() / 4));
            if room.is_err() {
                *full.lock() = Some(Full::Memory);
                return;
            }
            part.1.resize(tiles, 0);
            let (pairs, counts) = (&mut part.0, &mut part.1[..]);
            let mut fits = true;
            for (k, p) in own.iter().enumerate() {
                grid.touch(p, (before + first + k) as u32, batch, area, |tile, entry| {
                    if pairs.len() == pairs.capacity() {
                        fits &= pairs.try_reserve(pairs.len().max(1024)).is_ok();
                        if !fits {
                            return;
                        }
                    }
                    counts[tile as usize] += 1;
                    pairs.push((tile, entry));
                });
                if !fits || pairs.len() > MOST_ENTRIES {
                    full.lock().get_or_insert(if fits { Full::Entries } else { Full::Memory });
                    return;
                }
            }
        };
        shared.pool.each(&mut parts, collect);

        if let Some(full) = full.into_inner() {
            return Err(full);
        }
        let entries: usize = parts.iter().map(|p| p.0.len()).sum();
        if entries > MOST_ENTRIES && prims.len() > 1 {
            return Err(Full::Entries);
        }
        // Counts become places: by tile, within it by part.
        bins.starts.clear();
        bins.entries.clear();
        let room =
            bins.starts.try_reserve_exact(tiles + 1).and_then(|()| bins.entries.try_reserve_exact(entries));
        room.map_err(|_| Full::Memory)?;
        let mut at = 0u32;
        for tile in 0..tiles {
            bins.starts.push(at);
            for (_, counts) in &mut parts {
                at += std::mem::replace(&mut counts[tile], at);
            }
        }
        bins.starts.push(at);
        bins.entries.resize(at as usize, 0);

        struct Raw(*mut u32);
        // SAFETY: parts write to places of their own.
        unsafe impl Sync for Raw {}
        let raw = Raw(bins.entries.as_mut_ptr());
        let raw = &raw;
        let scatter = |_, (pairs, places): &mut (Pairs, Vec<u32>)| {
            for &mut (tile, entry) in pairs {
                let place = &mut places[tile as usize];
                // SAFETY: places were counted above, no two alike.
                unsafe { *raw.0.add(*place as usize) = entry };
                *place += 1;
            }
        };
        shared.pool.each(&mut parts, scatter);
        Ok(())
    }
}

/// Where tiles are, as [`Bins`] has it.
#[derive(Clone, Copy)]
pub struct Tiles {
    grid: Grid,
    x0: u32,
    y0: u32,
    width: u32,
    height: u32,
    layers: u32,
}

impl Tiles {
    /// Those of a render area.
    pub fn new(area: Rect, grid: Grid, layers: u32) -> Tiles {
        let [x0, y0] = grid.tile([area.x0.max(0), area.y0.max(0)]).map(|t| t.max(0) as u32);
        let end = grid.tile([area.x1.max(0) + TILE - 1, area.y1.max(0) + TILE - 1]);
        let side = |end: i32, first: u32| (end - first as i32).max(0) as u32;
        Tiles { grid, x0, y0, width: side(end[0], x0), height: side(end[1], y0), layers }
    }

    /// Of so many layers.
    pub fn of_layers(self, layers: u32) -> Tiles {
        Tiles { layers, ..self }
    }

    /// Tiles of all layers.
    pub fn count(self) -> usize {
        self.width as usize * self.height as usize * self.layers as usize
    }

    /// The number of a tile; `x`, `y`: tile coordinates.
    pub fn number(self, layer: u32, x: u32, y: u32) -> usize {
        ((layer * self.height + y - self.y0) * self.width + x - self.x0) as usize
    }

    /// Calls `f(tile, entry)` for each tile that a primitive may touch.
    #[inline(always)]
    pub fn touch(self, p: &Prim, index: u32, batch: &Batch, area: Rect, mut f: impl FnMut(u32, u32)) {
        let b = p.bounds.rect().intersect(&area);
        if b.is_empty() || p.layer as u32 >= self.layers {
            return;
        }
        let base = p.layer as u32 * self.height;
        let tile = |x: i32, y: i32| (base + y as u32 - self.y0) * self.width + x as u32 - self.x0;
        let Grid { x: gx, y: gy } = self.grid;
        let (x0, x1) = ((b.x0 - gx) >> SHIFT, (b.x1 - 1 - gx) >> SHIFT);
        let (y0, y1) = ((b.y0 - gy) >> SHIFT, (b.y1 - 1 - gy) >> SHIFT);
        let large = b.x1 - b.x0 >= LARGE_SIDE && b.y1 - b.y0 >= LARGE_SIDE;
        let index = index | if large { LARGE } else { 0 };
        // Small ones: one tile, that they hardly ever cover.
        if x0 == x1 && y0 == y1 && (b.x1 - b.x0) * (b.y1 - b.y0) < TILE * TILE / 2 {
            return f(tile(x0, y0), index);
        }
        if p.form.shape() == Shape::Pixels {
            let [first, count] = p.listed();
            let own = &batch.pixels[first as usize..(first + count) as usize];
            let mut seen: Vec<u32> = own
                .iter()
                .filter(|[x, y]| inside(&b, *x, *y))
                .map(|[x, y]| tile((x - gx) >> SHIFT, (y - gy) >> SHIFT))
                .collect();
            seen.sort_unstable();
            seen.dedup();
            seen.iter().for_each(|&t| f(t, index));
            return;
        }
        let edges = &p.edges(&batch.edges)[..p.form.edges()];
        for y in y0..=y1 {
            let (ty0, ty1) = ((y * TILE + gy).max(area.y0), (y * TILE + gy + TILE).min(area.y1));
            let (py0, py1) = (ty0.max(b.y0), ty1.min(b.y1));
            for x in x0..=x1 {
                let (tx0, tx1) = ((x * TILE + gx).max(area.x0), (x * TILE + gx + TILE).min(area.x1));
                let (px0, px1) = (tx0.max(b.x0), tx1.min(b.x1));
                let part = Rect { x0: px0, y0: py0, x1: px1, y1: py1 };
                let mut covers =
                    p.form.shape() == Shape::Polygon && part == (Rect { x0: tx0, y0: ty0, x1: tx1, y1: ty1 });
                let mut out = false;
                for e in edges {
                    let (least, most) = extremes(e, &part);
                    out |= most < 0;
                    covers &= least >= 0;
                }
                if !out {
                    f(tile(x, y), index | if covers { COVERS } else { 0 });
                }
            }
        }
    }
}

fn inside(r: &Rect, x: i32, y: i32) -> bool {
    x >= r.x0 && x < r.x1 && y >= r.y0 && y < r.y1
}

/// The least and the greatest value of an edge's function over all samples of some pixels.
#[inline(always)]
fn extremes(e: &Edge, r: &Rect) -> (i64, i64) {
    let range = |k: i32, from: i32, to: i32| {
        let (p, q) = (k as i64 * (from as i64 * 256), k as i64 * (to as i64 * 256 - 1));
        (p.min(q), p.max(q))
    };
    let (x, y) = (range(e.a, r.x0, r.x1), range(e.b, r.y0, r.y1));
    (x.0 + y.0 + e.c, x.1 + y.1 + e.c)
}

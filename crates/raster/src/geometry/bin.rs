//! Binning: primitives into lists, one a tile of 64×64 pixels, in order.

use super::Batch;
use super::within::Within;
use crate::layout::{Grid, TILE};
use crate::prim::{Edge, Prim, Shape};
use crate::state::Rect;
use machine::shared::Shared;
use parking_lot::Mutex;
use std::cell::RefCell;
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
    /// Those of consecutive primitives, as threads made them: a thread that wrote to lists of all would wait for the others' cache lines.
    parts: Vec<Part>,
}

/// References to primitives.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Entries {
    /// In the lists of regions that there are.
    pub kept: usize,
    /// In the lists of tiles that the modelled GPU would have, where somebody looks.
    pub told: u64,
}

/// Lists of consecutive primitives.
#[derive(Default, Debug)]
struct Part {
    /// By tile: where its list starts in `entries`; one more at the end.
    starts: Vec<u32>,
    entries: Vec<u32>,
    told: u64,
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
/// Primitives of a part at least, where threads share.
const LEAST: usize = 1024;

/// A part's entries as they come: tile and entry.
type Pairs = Vec<(u32, u32)>;
/// Pairs that a thread keeps room for.
const KEPT: usize = 1 << 20;

thread_local! {
    static PAIRS: RefCell<Pairs> = RefCell::default();
}

impl Bins {
    /// Entries of a tile in order, list by list: the primitive's index in its batch, with [`COVERS`] and [`LARGE`]. `x`, `y`: tile
    /// coordinates.
    pub fn lists(&self, layer: u32, x: u32, y: u32) -> impl Iterator<Item = &[u32]> {
        // Subpasses may have fewer views than the pass.
        let parts = if layer < self.layers { &self.parts[..] } else { &[] };
        let t = ((layer * self.height + y - self.y0) * self.width + x - self.x0) as usize;
        let list = move |p: &Part| p.starts[t] as usize..p.starts[t + 1] as usize;
        parts.iter().map(move |p| &p.entries[list(p)]).filter(|l| !l.is_empty())
    }

    /// Entries of all tiles.
    pub fn entries(&self) -> Entries {
        let kept = self.parts.iter().map(|p| p.entries.len()).sum();
        Entries { kept, told: self.parts.iter().map(|p| p.told).sum() }
    }

    /// Sorts the primitives `range` of a batch into the tiles of a render area.
    pub fn new(
        shared: &Shared,
        batch: &Batch,
        range: Range<usize>,
        area: Rect,
        tiles: Tiles,
    ) -> Result<Bins, Full> {
        let layers = tiles.layers;
        let Tiles { x0, y0, width, height, .. } = tiles;
        let (first, prims) = (range.start, &batch.prims[range]);
        let threads = shared.pool.threads();
        // Results don't depend on how primitives are shared out.
        let shares = if threads > 1 { threads * 2 } else { 1 };
        let size = prims.len().div_ceil(shares).max(LEAST).max(tiles.count() / 4);
        let mut parts: Vec<Part> = Vec::new();
        parts.resize_with(prims.len().div_ceil(size), Default::default);
        let full = Mutex::new(None);
        shared.pool.each(&mut parts, |i, part| {
            let own = &prims[i * size..(i * size + size).min(prims.len())];
            PAIRS.with_borrow_mut(|pairs| {
                if let Err(why) = part.fill(pairs, own, first + i * size, batch, area, tiles) {
                    full.lock().get_or_insert(why);
                }
                pairs.clear();
                pairs.shrink_to(KEPT);
            })
        });
        if let Some(full) = full.into_inner() {
            return Err(full);
        }
        let bins = Bins { x0, y0, width, height, layers, parts };
        if bins.entries().kept > MOST_ENTRIES && prims.len() > 1 {
            return Err(Full::Entries);
        }
        Ok(bins)
    }
}

impl Part {
    /// Those of `prims`, whose first one has this number in the batch; `pairs` is room.
    fn fill(
        &mut self,
        pairs: &mut Pairs,
        prims: &[Prim],
        first: usize,
        batch: &Batch,
        area: Rect,
        tiles: Tiles,
    ) -> Result<(), Full> {
        let room = self.starts.try_reserve_exact(tiles.count() + 1);
        room.and_then(|()| pairs.try_reserve(prims.len() + prims.len() / 4)).map_err(|_| Full::Memory)?;
        self.starts.resize(tiles.count() + 1, 0);
        let counts = &mut self.starts[..];
        let (mut fits, mut told) = (true, 0);
        for (k, p) in prims.iter().enumerate() {
            tiles.touch(p, (first + k) as u32, batch, area, |tile, entry, n| {
                told += n;
                if pairs.len() == pairs.capacity() {
                    fits &= pairs.try_reserve(pairs.len().max(1024)).is_ok();
                    if !fits {
                        return;
                    }
                }
                counts[tile as usize] += 1;
                pairs.push((tile, entry));
            });
            if !fits {
                return Err(Full::Memory);
            }
            if pairs.len() > MOST_ENTRIES {
                return Err(Full::Entries);
            }
        }
        self.told = told;
        self.entries.try_reserve_exact(pairs.len()).map_err(|_| Full::Memory)?;
        self.entries.resize(pairs.len(), 0);
        // Counts become ends; written from the last entry on, these become beginnings.
        let mut end = 0;
        for count in counts.iter_mut() {
            end += *count;
            *count = end;
        }
        for &(tile, entry) in pairs.iter().rev() {
            let place = &mut counts[tile as usize];
            *place -= 1;
            self.entries[*place as usize] = entry;
        }
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
    /// Somebody wants to know what the modelled GPU's tiles within these see.
    within: Option<Within>,
}

impl Tiles {
    /// Those of a render area; `within`: as large as the modelled GPU's are, where somebody looks.
    pub fn new(area: Rect, grid: Grid, layers: u32, within: Option<Within>) -> Tiles {
        let [x0, y0] = grid.tile([area.x0.max(0), area.y0.max(0)]).map(|t| t.max(0) as u32);
        let end = grid.tile([area.x1.max(0) + TILE - 1, area.y1.max(0) + TILE - 1]);
        let side = |end: i32, first: u32| (end - first as i32).max(0) as u32;
        Tiles { grid, x0, y0, width: side(end[0], x0), height: side(end[1], y0), layers, within }
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

    /// Calls `f(tile, entry, within)` for each tile that a primitive may touch; `within`: of the modelled GPU's tiles in it, those that
    /// it may touch.
    #[inline(always)]
    pub fn touch(self, p: &Prim, index: u32, batch: &Batch, area: Rect, mut f: impl FnMut(u32, u32, u64)) {
        let b = p.bounds.rect().intersect(&area);
        if b.is_empty() || p.layer as u32 >= self.layers {
            return;
        }
        let base = p.layer as u32 * self.height;
        let tile = |x: i32, y: i32| (base + y as u32 - self.y0) * self.width + x as u32 - self.x0;
        let Grid { x: gx, y: gy } = self.grid;
        let (x0, x1) = ((b.x0 - gx) >> SHIFT, (b.x1 - 1 - gx) >> SHIFT);
        let (y0, y1) = ((b.y0 - gy) >> SHIFT, (b.y1 - 1 - gy) >> SHIFT);
        let within = |x: i32, y: i32, covers| {
            let origin = [x * TILE + gx, y * TILE + gy];
            self.within.map_or(0, |w| w.touched(p, &batch.edges, &batch.pixels, origin, covers))
        };
        let large = b.x1 - b.x0 >= LARGE_SIDE && b.y1 - b.y0 >= LARGE_SIDE;
        let index = index | if large { LARGE } else { 0 };
        // Small ones: one tile, that they hardly ever cover.
        if x0 == x1 && y0 == y1 && (b.x1 - b.x0) * (b.y1 - b.y0) < TILE * TILE / 2 {
            return f(tile(x0, y0), index, within(x0, y0, false));
        }
        if p.form.shape() == Shape::Pixels {
            let [first, count] = p.listed();
            let own = &batch.pixels[first as usize..(first + count) as usize];
            let mut seen: Vec<[i32; 2]> = own
                .iter()
                .filter(|[x, y]| inside(&b, *x, *y))
                .map(|[x, y]| [(y - gy) >> SHIFT, (x - gx) >> SHIFT])
                .collect();
            seen.sort_unstable();
            seen.dedup();
            seen.iter().for_each(|&[y, x]| f(tile(x, y), index, within(x, y, false)));
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
                    f(tile(x, y), index | if covers { COVERS } else { 0 }, within(x, y, covers));
                }
            }
        }
    }
}

pub(super) fn inside(r: &Rect, x: i32, y: i32) -> bool {
    x >= r.x0 && x < r.x1 && y >= r.y0 && y < r.y1
}

/// The least and the greatest value of an edge's function over all samples of some pixels.
#[inline(always)]
pub(super) fn extremes(e: &Edge, r: &Rect) -> (i64, i64) {
    let range = |k: i32, from: i32, to: i32| {
        let (p, q) = (k as i64 * (from as i64 * 256), k as i64 * (to as i64 * 256 - 1));
        (p.min(q), p.max(q))
    };
    let (x, y) = (range(e.a, r.x0, r.x1), range(e.b, r.y0, r.y1));
    (x.0 + y.0 + e.c, x.1 + y.1 + e.c)
}

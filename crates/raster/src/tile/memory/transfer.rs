//! Tiles are loaded from memory and stored there: the parts of attachments that lie in the render area.

use super::Here;
use crate::layout::{TILE, pixel};
use crate::prim::{Line, prefetch};
use crate::state::Rect;
use crate::tile::memory::compressed::{HEADER, Pixels, superblocks};
use crate::tile::memory::plane::{Plane, PlaneKind};
use crate::tile::memory::strip::{Bytes, Depth, Strip, across, place};
use crate::tile::memory::traffic::{Traffic, Way, Writes};
use simd::{Level, Simd};
use texel::image::{Packed, Split};
use texel::memory::sparse;

/// One sample of a tile and its place in memory.
struct Place {
    tile: *mut u8,
    /// The tile's first pixel.
    memory: *mut u8,
    pitch: usize,
    /// Pixels of the tile.
    x0: usize,
    x1: usize,
    y0: usize,
    y1: usize,
}

impl Place {
    /// # Safety
    /// Memory has the row.
    unsafe fn row(&self, y: usize) -> *mut u8 {
        // SAFETY: the caller knows that memory has the row.
        unsafe { self.memory.add(y * self.pitch) }
    }
    /// Prefetches a row of pixels of so many bytes: rows are too far apart for the CPU's own prefetching.
    ///
    /// # Safety
    /// Memory has the row.
    #[inline(always)]
    unsafe fn soon(&self, y: usize, [x0, x1]: [usize; 2], bytes: usize) {
        // SAFETY: the caller's.
        let first = unsafe { self.row(y) }.wrapping_add(x0 * bytes).cast::<Line>();
        for line in 0..((x1 - x0) * bytes).div_ceil(size_of::<Line>()) {
            prefetch(first.wrapping_add(line));
        }
    }
    /// Prefetches what the stores of a row will read, according to `writes`, if these quarters are known to differ.
    ///
    /// # Safety
    /// Memory has the row.
    #[inline(always)]
    unsafe fn soon_stored(&self, y: usize, bytes: usize, writes: Writes, differs: u8) {
        let both = 3 << (2 * (y / HALF));
        if writes.past && differs & both == both {
            return;
        }
        for [x0, x1] in self.halves() {
            let end = match (writes.past, writes.asks(Self::quarter(x0, y), differs), y % HALF) {
                // Stores that go through the caches read the line too.
                (false, ..) => x1,
                (true, false, _) => x0,
                // Most often a quarter's first pixel tells that nothing else is read.
                (true, true, 0) => x1.min(x0 + 1),
                (true, true, 1..4) => x0,
                (true, true, _) => x1,
            };
            // SAFETY: the caller's.
            unsafe { self.soon(y, [x0, end], bytes) };
        }
    }
    /// The pixels of a row in each half of the tile.
    #[inline(always)]
    fn halves(&self) -> [[usize; 2]; 2] {
        [[self.x0.min(HALF), self.x1.min(HALF)], [self.x0.max(HALF), self.x1.max(HALF)]]
    }
    /// The bit of the quarter that holds a pixel.
    #[inline(always)]
    fn quarter(x: usize, y: usize) -> u8 {
        1 << ((x >> 5) | (y >> 5) << 1)
    }
    /// Pixels of some quarters.
    fn pixels(&self, quarters: u8) -> u64 {
        let within = |from: usize, to: usize, half: usize| {
            to.min(32 * half + 32).saturating_sub(from.max(32 * half)) as u64
        };
        let of = |q: usize| within(self.x0, self.x1, q & 1) * within(self.y0, self.y1, q >> 1);
        (0..4).filter(|q| quarters >> q & 1 != 0).map(of).sum()
    }
    /// Quarters with a pixel.
    fn quarters(&self) -> u8 {
        let side = |from: usize, to: usize| (from < 32) as u8 | ((to > 32) as u8) << 1;
        let (x, y) = (side(self.x0, self.x1), side(self.y0, self.y1));
        let below = if y & 2 != 0 { x << 2 } else { 0 };
        if y & 1 != 0 { x | below } else { below }
    }
}

impl Place {
    /// What moves of a compressed image's tile; `written`: its quarters that change.
    ///
    /// # Safety
    /// Memory has the pixels.
    unsafe fn compress(&self, packed: &Packed, bytes: usize, written: u8, way: Way, traffic: &mut Traffic) {
        let sides = |q: usize| {
            let side = |from: usize, to: usize, half: usize| [from.max(32 * half), to.min(32 * half + 32)];
            [side(self.x0, self.x1, q & 1), side(self.y0, self.y1, q >> 1)]
        };
        let quarters = |of: u8| (0..4).filter(move |q| of >> q & 1 != 0).map(sides);
        let taken = |of: u8| -> u64 {
            let pixels = Pixels { first: self.memory, pitch: self.pitch, bytes };
            match way {
                Way::Clear => quarters(of).map(|[x, y]| superblocks(x, y) * HEADER).sum(),
                // SAFETY: the caller's.
                _ => quarters(of).map(|[x, y]| unsafe { pixels.taken(x, y) }).sum(),
            }
        };
        match way {
            Way::Load | Way::Skip => traffic.bytes = packed.size(traffic.bytes),
            Way::Keep => {}
            Way::Store => traffic.unseen += traffic.bytes,
            Way::Clear | Way::Look => {
                let all = self.quarters();
                let [changed, kept] = [written, all & !written].map(taken);
                if way == Way::Look {
                    packed.looked(self.pixels(all) * bytes as u64, changed + kept);
                }
                (traffic.bytes, traffic.kept) = (changed, kept);
            }
        }
    }
}

impl Plane {
    /// Moves the tile's part of the area.
    ///
    /// # Safety
    /// As [`crate::tile::memory::target::Targets::load`].
    pub(in crate::tile) unsafe fn transfer(
        &self,
        &Here { level, tile, layer, origin }: &Here,
        area: &Rect,
        way: Way,
    ) -> Traffic {
        let mut traffic = Traffic::default();
        // SAFETY: null, or of the image, which the pass keeps.
        let packed = unsafe { self.packed.as_ref() };
        let edge = Rect { x0: 0, y0: 0, x1: self.width, y1: self.height };
        let here = Rect { x0: origin[0], y0: origin[1], x1: origin[0] + TILE, y1: origin[1] + TILE };
        let r = area.intersect(&here).intersect(&edge);
        if r.is_empty() {
            return traffic;
        }
        let stored = self.format.block_bytes as usize;
        traffic.pixels = (r.x1 - r.x0) as u64 * (r.y1 - r.y0) as u64 * self.samples as u64;
        traffic.bytes = traffic.pixels * stored as u64;
        let first = origin[1] as usize * self.row_pitch as usize + origin[0] as usize * stored;
        let stores = matches!(way, Way::Store | Way::Look | Way::Clear);
        // What is looked at is read again.
        let writes = Writes { past: self.writes.past && way != Way::Look, ..self.writes };
        let parts = Parts { split: self.split, area: r, x0: r.x0 };
        // SAFETY: the caller's tile.
        let apart = match way {
            Way::Store | Way::Look => unsafe { self.stored_samples(tile) },
            _ => self.samples,
        };
        for (s, part) in (0..self.samples).flat_map(|s| parts.clone().map(move |p| (s, p))) {
            let at = layer as u64 * self.layer_pitch
                + s as u64 * self.sample_pitch
                + self.split.offset(part.x0 as u32, part.y0 as u32);
            let p = Place {
                // SAFETY: the caller's tile.
                tile: unsafe { self.sample(tile, s.min(apart - 1)) },
                memory: self.base.wrapping_add(at as usize + first),
                pitch: self.row_pitch as usize,
                x0: (part.x0 - origin[0]) as usize,
                x1: (part.x1 - origin[0]) as usize,
                y0: (part.y0 - origin[1]) as usize,
                y1: (part.y1 - origin[1]) as usize,
            };
            let differs = match way {
                Way::Keep | Way::Skip => 0,
                // SAFETY: as below.
                _ if stores && sparse::may_have_holes(p.memory) => unsafe {
                    self.store_in_parts(level, &p, way)
                },
                // SAFETY: the place was cut to what memory has of the plane (here and below).
                Way::Clear => unsafe { self.clear_tile(&p, origin) },
                Way::Load => unsafe { moved(level, self, &p, writes, true) },
                Way::Store | Way::Look => {
                    // SAFETY: null, or of the image, which the pass keeps.
                    if let Some(b) = unsafe { self.blank.as_ref() } {
                        b.becomes(origin, None);
                    }
                    unsafe { moved(level, self, &p, writes, false) }
                }
            };
            if !matches!(way, Way::Load | Way::Skip) && self.kind == PlaneKind::Color {
                let quarters = p.quarters();
                traffic.seen |= quarters;
                traffic.changed |= differs & quarters;
                let kept = p.pixels(quarters & !differs) * stored as u64;
                traffic.bytes -= kept;
                traffic.kept += kept;
            }
            if let Some(packed) = packed.filter(|_| self.counted) {
                let written =
                    if self.kind == PlaneKind::Color { differs & p.quarters() } else { p.quarters() };
                // SAFETY: the place's pixels.
                unsafe { p.compress(packed, stored, written, way, &mut traffic) };
            }
        }
        traffic
    }

    /// Stores or clears where there is memory; quarters that differed.
    ///
    /// # Safety
    /// The place is of this plane.
    unsafe fn store_in_parts(&self, level: Level, p: &Place, way: Way) -> u8 {
        let bytes = self.format.block_bytes as usize;
        // SAFETY: parts of the place (all below).
        let put = |part: &Place| unsafe {
            match way {
                Way::Clear => self.clear_memory(part),
                _ => moved(level, self, part, self.writes, false),
            }
        };
        // SAFETY: a pixel of the place.
        let at = |x: usize, y: usize| unsafe { p.row(y).add(x * bytes) };
        if !self.split.is_none() {
            // A sparse image block is there or not.
            return if sparse::resident(at(p.x0, p.y0)) { put(p) } else { 0 };
        }
        // In the mip tail: row by row, as far as one block of memory goes.
        let mut differs = 0;
        for y in p.y0..p.y1 {
            let mut x = p.x0;
            while x < p.x1 {
                let room = (sparse::BLOCK - at(x, y) as u64 % sparse::BLOCK) as usize / bytes;
                let end = p.x1.min(x + room.max(1));
                if sparse::resident(at(x, y)) {
                    differs |= put(&Place { x0: x, x1: end, y0: y, y1: y + 1, ..*p });
                }
                x = end;
            }
        }
        differs
    }

    /// As [`Self::clear_memory`], but a tile that holds nothing else is not looked at.
    ///
    /// # Safety
    /// The place is of this plane.
    unsafe fn clear_tile(&self, p: &Place, origin: [i32; 2]) -> u8 {
        // SAFETY: null, or of the image, which the pass keeps.
        let blank = unsafe { self.blank.as_ref() };
        // SAFETY: the caller's place.
        let Some(blank) = blank else { return unsafe { self.clear_memory(p) } };
        let texel = u32::from_le_bytes([self.clear[0], self.clear[1], self.clear[2], self.clear[3]]);
        if blank.holds(origin, texel) {
            return 0;
        }
        let ends = [(p.x1, self.width - origin[0]), (p.y1, self.height - origin[1])];
        let whole = p.x0 == 0 && p.y0 == 0 && ends.iter().all(|&(end, edge)| end as i32 == edge.min(TILE));
        // SAFETY: the caller's place.
        let differs = unsafe { self.clear_memory(p) };
        blank.becomes(origin, whole.then_some(texel));
        differs
    }

    /// Writes the clear value to memory; quarters that differed.
    ///
    /// # Safety
    /// The place is of this plane.
    unsafe fn clear_memory(&self, p: &Place) -> u8 {
        let mut texel = self.clear;
        let z = f32::from_le_bytes([texel[0], texel[1], texel[2], texel[3]]);
        match self.kind {
            PlaneKind::Depth16 => texel[..2].copy_from_slice(&(z as u16).to_le_bytes()),
            PlaneKind::Depth24 => texel[..4].copy_from_slice(&(z as u32).to_le_bytes()),
            PlaneKind::Color | PlaneKind::Depth32 | PlaneKind::Stencil => {}
        }
        let bytes = self.format.block_bytes as usize;
        let mut row = [0u8; TILE as usize * 16];
        row[..TILE as usize * bytes].chunks_exact_mut(bytes).for_each(|t| t.copy_from_slice(&texel[..bytes]));
        let mut differs = 0;
        let reads = self.writes.reads();
        for y in p.y0..p.y1 {
            if reads && y + AHEAD < p.y1 && (y > p.y0 || !self.writes.past) {
                // SAFETY: memory has the row.
                unsafe { p.soon_stored(y + AHEAD, bytes, self.writes, differs) };
            }
            for [x0, x1] in p.halves() {
                let n = (x1 - x0) * bytes;
                // SAFETY: pixels of the place.
                let memory = unsafe { std::slice::from_raw_parts_mut(p.row(y).add(x0 * bytes), n) };
                if n == 0 || (self.writes.asks(Place::quarter(x0, y), differs) && *memory == row[..n]) {
                    continue;
                }
                differs |= Place::quarter(x0, y);
                match self.writes.past {
                    // SAFETY: as many bytes as the row of clear values has.
                    true => unsafe { simd::stream(row.as_ptr(), memory.as_mut_ptr(), n) },
                    false => memory.copy_from_slice(&row[..n]),
                }
            }
        }
        differs
    }
}

/// Cuts an area into what lies in one sparse image block; all of it, where the plane has none.
#[derive(Clone)]
struct Parts {
    split: Split,
    /// What is left: this row of blocks from `x0` on, and all below.
    area: Rect,
    x0: i32,
}

impl Iterator for Parts {
    type Item = Rect;
    fn next(&mut self) -> Option<Rect> {
        let Rect { y0, x1, y1, .. } = self.area;
        if y0 >= y1 || self.x0 >= x1 {
            return None;
        }
        let run = |axis, from: i32, to: i32| self.split.run(axis, from as u32, (to - from) as u32) as i32;
        let (w, h) = (run(0, self.x0, x1), run(1, y0, y1));
        let part = Rect { x0: self.x0, y0, x1: self.x0 + w, y1: y0 + h };
        self.x0 += w;
        if self.x0 == x1 {
            (self.x0, self.area.y0) = (self.area.x0, y0 + h);
        }
        Some(part)
    }
}

/// Loads or stores; quarters that differed.
///
/// # Safety
/// The place is of the plane.
#[inline(always)]
unsafe fn moved_body<S: Simd>(s: S, plane: &Plane, p: &Place, writes: Writes, load: bool) -> u8 {
    match (plane.kind, plane.bytes) {
        // SAFETY: the caller's place; pixels of this kind and size (here and below).
        (PlaneKind::Depth16, _) => unsafe { strips::<S, Depth<u16>>(s, p, load, writes) },
        (PlaneKind::Depth24, _) => unsafe { strips::<S, Depth<u32>>(s, p, load, writes) },
        (_, 1) => unsafe { strips::<S, Bytes<1>>(s, p, load, writes) },
        (_, 2) => unsafe { strips::<S, Bytes<2>>(s, p, load, writes) },
        (_, 4) => unsafe { strips::<S, Bytes<4>>(s, p, load, writes) },
        (_, 8) => unsafe { strips::<S, Bytes<8>>(s, p, load, writes) },
        (_, 16) => unsafe { strips::<S, Bytes<16>>(s, p, load, writes) },
        (_, b) => {
            for y in p.y0..p.y1 {
                for x in p.x0..p.x1 {
                    // SAFETY: a pixel of the place.
                    unsafe {
                        let (t, m) = (p.tile.add(pixel(x, y) * b), p.row(y).add(x * b));
                        if load { t.copy_from(m, b) } else { m.copy_from(t, b) }
                    }
                }
            }
            0xF
        }
    }
}
simd::by_level!(unsafe fn moved = moved_body, (plane: &Plane, p: &Place, writes: Writes, load: bool) -> u8);

/// # Safety
/// The place is of a plane of this kind.
#[inline(always)]
unsafe fn strips<S: Simd, T: Strip>(s: S, p: &Place, load: bool, writes: Writes) -> u8 {
    let width = 4 * T::BLOCKS;
    let (from, to) = (p.x0.div_ceil(width) * width, p.x1 / width * width);
    let mut differs = 0;
    let mut y = p.y0;
    while y < p.y1 {
        if y.is_multiple_of(4) && y + 4 <= p.y1 && from < to {
            // Of what is stored past the caches the first rows tell whether the others are read at all.
            if load || (writes.reads() && (y > p.y0 || !writes.past)) {
                for next in y + 4..p.y1.min(y + 8) {
                    match load {
                        // SAFETY: memory has the row (here and below).
                        true => unsafe { p.soon(next, [p.x0, p.x1], T::MEMORY_BYTES) },
                        false => unsafe { p.soon_stored(next, T::MEMORY_BYTES, writes, differs) },
                    }
                }
            }
            if load {
                // SAFETY: steps of four rows of the place.
                unsafe { load4::<S, T>(s, p, from, to, y) };
            } else {
                // SAFETY: as above.
                differs = unsafe { store4::<S, T>(s, p, from, to, y, writes, differs) };
            }
            for y in y..y + 4 {
                // SAFETY: pixels of the place.
                differs |= unsafe { pixels::<T>(p, p.x0, from, y, load) | pixels::<T>(p, to, p.x1, y, load) };
            }
            y += 4;
        } else {
            // SAFETY: pixels of the place.
            differs |= unsafe { pixels::<T>(p, p.x0, p.x1, y, load) };
            y += 1;
        }
    }
    differs
}

/// Pixels along a quarter's side.
const HALF: usize = TILE as usize / 2;

/// Rows between the one that is compared and the one that is asked for.
const AHEAD: usize = 8;

/// Bytes of a line of cache.
const LINE: usize = size_of::<Line>();

/// Pixels that are a vector of four bytes each, side by side.
const SIDE_BY_SIDE: usize = 16;

/// Whether four steps from pixel `x` on make whole vectors of rows, which are one quarter's of the tile.
#[inline(always)]
fn is_wide<T: Strip>(x: usize, to: usize) -> bool {
    T::BLOCKS == 1 && T::VECTORS == 1 && x.is_multiple_of(SIDE_BY_SIDE) && x + SIDE_BY_SIDE <= to
}

/// Where the quarters of vector `v` of the step from pixel `x` on are in memory.
///
/// # Safety
/// The place has a step from there on.
#[inline(always)]
unsafe fn quarters<T: Strip>(p: &Place, v: usize, x: usize, y: usize) -> [*mut u8; 4] {
    let mut at = [p.memory; 4];
    for (q, at) in at.iter_mut().enumerate() {
        let (row, bytes) = place(T::VECTORS, v, q);
        // SAFETY: a quarter of the step.
        *at = unsafe { p.row(y + row).add(x * T::MEMORY_BYTES + bytes) };
    }
    at
}

/// # Safety
/// The place has the steps of these four rows.
#[inline(always)]
unsafe fn load4<S: Simd, T: Strip>(s: S, p: &Place, from: usize, to: usize, y: usize) {
    let mut x = from;
    while x < to {
        let mut v = [s.isplat(0); 4];
        if is_wide::<T>(x, to) {
            for (row, v) in v.iter_mut().enumerate() {
                // SAFETY: sixteen pixels of the place (here and below).
                *v = unsafe { s.iloadu(p.row(y + row).add(x * T::MEMORY_BYTES)) };
            }
            for (n, v) in across(s, &v).iter().enumerate() {
                let tile = p.tile.wrapping_add(pixel(x + 4 * n, y) * T::TILE_BYTES);
                unsafe { T::to_tile(s, tile, &[*v; 4]) };
            }
            x += SIDE_BY_SIDE;
            continue;
        }
        for (n, v) in v.iter_mut().enumerate().take(T::VECTORS) {
            // SAFETY: a step of the place.
            *v = unsafe { s.iload4(quarters::<T>(p, n, x, y)) };
        }
        // SAFETY: the step in the tile.
        unsafe { T::to_tile(s, p.tile.add(pixel(x, y) * T::TILE_BYTES), &v) };
        x += 4 * T::BLOCKS;
    }
}

/// `differs`: the quarters that are known to; and then.
///
/// # Safety
/// The place has the steps of these four rows.
#[inline(always)]
unsafe fn store4<S: Simd, T: Strip>(
    s: S,
    p: &Place,
    from: usize,
    to: usize,
    y: usize,
    writes: Writes,
    mut differs: u8,
) -> u8 {
    let mut x = from;
    while x < to {
        let quarter = Place::quarter(x, y);
        let mut v = [s.isplat(0); 4];
        if is_wide::<T>(x, to) {
            for (n, v) in v.iter_mut().enumerate() {
                let mut step = [*v; 4];
                let tile = p.tile.wrapping_add(pixel(x + 4 * n, y) * T::TILE_BYTES);
                // SAFETY: a step in the tile.
                unsafe { T::from_tile(s, tile, &mut step) };
                *v = step[0];
            }
            for (row, v) in across(s, &v).iter().enumerate() {
                // SAFETY: sixteen pixels of the place (here and below).
                let at = unsafe { p.row(y + row).add(x * T::MEMORY_BYTES) };
                let asks = writes.asks(quarter, differs);
                if asks && s.mbits(s.ieq(*v, unsafe { s.iloadu(at) })) == 0xFFFF {
                    continue;
                }
                differs |= quarter;
                if writes.past && at.addr().is_multiple_of(LINE) {
                    unsafe { s.istream(at, *v) };
                } else {
                    unsafe { s.istoreu(at, *v) };
                }
            }
            x += SIDE_BY_SIDE;
            continue;
        }
        // SAFETY: a step in the tile.
        unsafe { T::from_tile(s, p.tile.add(pixel(x, y) * T::TILE_BYTES), &mut v) };
        for (n, v) in v.iter().enumerate().take(T::VECTORS) {
            // SAFETY: the step in memory (here and below).
            let at = unsafe { quarters::<T>(p, n, x, y) };
            if !writes.asks(quarter, differs) || s.mbits(s.ieq(*v, unsafe { s.iload4(at) })) != 0xFFFF {
                unsafe { s.istore4(at, *v) };
                differs |= quarter;
            }
        }
        x += 4 * T::BLOCKS;
    }
    differs
}

/// Pixels of one row, where an edge cuts blocks.
///
/// # Safety
/// They are of the place, of a plane of this kind.
#[inline(always)]
unsafe fn pixels<T: Strip>(p: &Place, x0: usize, x1: usize, y: usize, load: bool) -> u8 {
    let mut differs = 0;
    for x in x0..x1 {
        // SAFETY: a pixel of the place (here and below).
        let (t, m) = unsafe { (p.tile.add(pixel(x, y) * T::TILE_BYTES), p.row(y).add(x * T::MEMORY_BYTES)) };
        if load {
            unsafe { T::load(t, m) };
        } else if unsafe { T::store(t, m) } {
            differs |= Place::quarter(x, y);
        }
    }
    differs
}

#[cfg(test)]
#[path = "transfer_tests.rs"]
mod tests;
#[cfg(test)]
pub(crate) use tests::moves_are_those_of_pixels;

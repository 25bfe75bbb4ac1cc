//! Tiles: rectangles of compressed images, decoded, from which kernels of plain texels sample as from an image of such. A tile is made for some
//! warps of one sample and then forgotten: what stays is the thread's decoded blocks, which tiles are put together of.

use super::Fast;
use super::blocks::Blocks;
use super::corners::Corners;
use super::unit::Unit;
use super::waves::TOGETHER;
use super::{LEVELS, NO_LAST};
use crate::format::block::{Cached, cached};
use crate::vector::load;
use simd::Simd;
use std::cell::UnsafeCell;

/// Bytes of the tiles that there are at once.
const ROOM: usize = 48 << 10;
/// Kernels load vectors that begin before a tile, or end beyond it, and look at none of that.
const MARGIN: usize = 4 << 10;
/// Blocks of a tile.
const MOST: usize = 256;
/// Of tiles of more blocks than this it is asked which of them are read: where texels are read here and there, few are.
/// (To ask takes as long as five blocks that are kept.)
const SOME: usize = 30;
/// Of more blocks a warp than this no tile is made where lanes can make texels of their own blocks: it takes longer.
const LOOSE: usize = 5;
/// What offsets in tiles begin with: tiles' columns and rows are those of the level, so that their first texels lie before the room.
const BIAS: usize = 1 << 31;

thread_local! {
    static TILES: UnsafeCell<Vec<[u128; 4]>> = const { UnsafeCell::new(Vec::new()) };
}

/// Where a level's first texel would lie, and how far rows lie apart.
#[derive(Clone, Copy, Default)]
pub struct Place {
    start: u32,
    pitch: u32,
    /// Of a tile that is a sparse image block: where one of its texels lies, from the view's first.
    home: Option<u32>,
}

/// A view's tiles, and the view as if it lay in them. Of plain texels in sparse image blocks the block that warps read is their tile, where
/// it lies.
pub struct Tiles<'a> {
    blocks: Option<&'a Blocks>,
    cache: *mut Cached,
    room: *mut u8,
    used: usize,
    pub view: Fast,
}

impl<'a> Tiles<'a> {
    /// Of a view of compressed blocks, or of one with levels in sparse image blocks.
    #[inline]
    pub fn of(f: &'a Fast) -> Option<Tiles<'a>> {
        let blocks = f.blocks.as_ref();
        if blocks.is_none() && f.split.is_none() {
            return None;
        }
        let (mut cache, mut room) = (std::ptr::null_mut(), std::ptr::null_mut());
        let mut view = f.clone();
        view.split = None;
        if let Some(blocks) = blocks {
            cache = cached();
            let tiles = TILES.with(|t| t.get());
            // SAFETY: the thread's own; nobody else of it is at it while it samples.
            room = unsafe {
                let tiles = &mut *tiles;
                if tiles.is_empty() {
                    *tiles = vec![[0; 4]; (ROOM + 2 * MARGIN) / 64];
                }
                tiles.as_mut_ptr().cast::<u8>()
            };
            view.base = room.wrapping_sub(BIAS);
            view.reads = Unit::Shift(blocks.texel);
            view.bytes = 1 << blocks.texel;
            view.last = [0; 16];
            debug_assert_ne!(view.last[0], NO_LAST);
        } else {
            view.reads = Unit::Shift(f.bytes.trailing_zeros());
        }
        Some(Tiles { blocks, cache, room, used: 0, view })
    }

    /// Tiles that have been made are of no use any more.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// An address in the sparse image block that a tile is, if it is one.
    #[inline(always)]
    pub fn home(&self, place: Place) -> Option<*const u8> {
        Some(self.view.base.wrapping_add(place.home? as usize))
    }

    /// Puts the view's level there.
    #[inline(always)]
    pub fn put(&mut self, level: usize, place: Place) {
        self.view.start[level % LEVELS] = place.start;
        self.view.row_pitch[level % LEVELS] = place.pitch;
    }

    /// A tile with what warps read of a level, if it is not too large.
    ///
    /// # Safety
    /// `f` is the view that the tiles are of; the corners are on its level.
    #[inline]
    pub unsafe fn cover(&mut self, f: &Fast, level: usize, warps: &[*const Corners]) -> Option<Place> {
        // SAFETY: the caller's; picked for this machine.
        unsafe { (f.any.cover)(self, f, level, warps) }
    }

    /// A tile for all of some warps, or one for each. Those that there is none for, a bit each.
    ///
    /// # Safety
    /// As [`Self::cover`].
    #[inline]
    pub unsafe fn lay(
        &mut self,
        f: &Fast,
        level: usize,
        warps: &[*const Corners],
        places: &mut [Place; TOGETHER],
    ) -> u32 {
        self.clear();
        // SAFETY: the caller's (both).
        if let Some(place) = unsafe { self.cover(f, level, warps) } {
            *places = [place; TOGETHER];
            return 0;
        }
        if self.blocks.is_some_and(|b| b.lanes.is_some()) {
            return (1 << warps.len()) - 1;
        }
        let mut apart = 0;
        for (i, to) in places.iter_mut().enumerate().take(warps.len()) {
            match unsafe { self.cover(f, level, &warps[i..=i]) } {
                Some(place) => *to = place,
                None => apart |= 1 << i,
            }
        }
        apart
    }

    /// # Safety
    /// As [`Self::cover`].
    #[inline(always)]
    unsafe fn made<S: Simd>(
        &mut self,
        s: S,
        f: &Fast,
        level: usize,
        warps: &[*const Corners],
    ) -> Option<Place> {
        let level = level % LEVELS;
        let (mut first, mut last) = ([0; 2], [0; 2]);
        for k in 0..2 {
            let (mut low, mut high) = (s.isplat(u32::MAX), s.isplat(0));
            for w in warps {
                // SAFETY: the caller's corners.
                let i = unsafe { &(**w).i[k] };
                let (a, b) = (load(s, &i[0]), load(s, &i[1]));
                low = s.umin(low, s.umin(a, b));
                high = s.umax(high, s.umax(a, b));
            }
            let (mut least, mut most) = (u32::MAX, 0);
            for v in simd::ops::i_lanes(s, low) {
                least = if v < least { v } else { least };
            }
            for v in simd::ops::i_lanes(s, high) {
                most = if v > most { v } else { most };
            }
            (first[k], last[k]) = (least, most);
        }
        let Some(b) = self.blocks else {
            let (start, pitch) = (f.start[level], f.row_pitch[level]);
            let split = f.split.as_ref()?;
            let [from, to] = [split.block(level, first), split.block(level, last)];
            let start = start.wrapping_add(split.beyond(level, from));
            let home =
                start.wrapping_add(first[1].wrapping_mul(pitch)).wrapping_add(first[0].wrapping_mul(f.bytes));
            return if from == to { Some(Place { start, pitch, home: Some(home) }) } else { None };
        };
        for k in 0..2 {
            (first[k], last[k]) = (first[k] / b.shape.extent[k], last[k] / b.shape.extent[k]);
        }
        let [w, h] = [last[0] - first[0] + 1, last[1] - first[1] + 1];
        let texel = 1 << b.texel;
        let pitch = (w as usize * b.shape.extent[0] as usize * texel).next_multiple_of(64);
        let bytes = pitch * (h * b.shape.extent[1]) as usize;
        let blocks = w.saturating_mul(h) as usize;
        let loose = b.lanes.is_some() && blocks > LOOSE * warps.len();
        if blocks > MOST || loose || self.used + bytes > ROOM {
            return None;
        }
        // Of a rectangle of a few blocks most are read.
        let all = blocks <= SOME;
        let mut few = u64::MAX;
        if !all && blocks <= 64 {
            // (No closures: they would be compiled without the level's features.)
            let (mut low, mut high) = (s.isplat(0), s.isplat(0));
            let one = s.isplat(1);
            for warp in warps {
                // SAFETY: the caller's corners.
                let of = b.corners(s, unsafe { &(**warp).i }, first);
                for y in 0..2 {
                    let row = s.imul(of[1][y], s.isplat(w));
                    for x in 0..2 {
                        // Shifts by 32 and more, or by less than 0, leave nothing.
                        let n = s.iadd(row, of[0][x]);
                        low = s.ior(low, s.ishl(one, n));
                        high = s.ior(high, s.ishl(one, s.isub(n, s.isplat(32))));
                    }
                }
            }
            few = any(s, low) as u64 | (any(s, high) as u64) << 32;
        }
        let mut read = [blocks <= 64; MOST];
        if blocks > 64 {
            for warp in warps {
                // SAFETY: the caller's corners.
                let of = b.corners(s, unsafe { &(**warp).i }, first);
                for y in 0..2 {
                    let row = s.imul(of[1][y], s.isplat(w));
                    for x in 0..2 {
                        for n in simd::ops::i_lanes(s, s.iadd(row, of[0][x])) {
                            read[n as usize % MOST] = true;
                        }
                    }
                }
            }
        }
        let at = MARGIN + self.used;
        // SAFETY: blocks of the level, in which all corners are; the tile is within the room, but for up to sixteen bytes.
        unsafe {
            let blocks = f.level(level).add((first[0] as usize) << b.shift);
            let splits = f.split.as_ref();
            for y in 0..h {
                let row = blocks.add((first[1] + y) as usize * f.row_pitch[level] as usize);
                let to = self.room.add(at + pitch * (y * b.shape.extent[1]) as usize);
                for x in 0..w as usize {
                    let n = (y * w) as usize + x;
                    if !all && (!read[n] || few >> (n % 64) & 1 == 0) {
                        continue;
                    }
                    let mut from = row.add(x << b.shift);
                    if let Some(split) = splits {
                        let block = split.block(level, [first[0] + x as u32, first[1] + y]);
                        from = from.add(split.beyond(level, block) as usize);
                    }
                    let from = b.decoded(self.cache, from);
                    put(s, b, from, to.add(x * b.shape.extent[0] as usize * texel), pitch);
                }
            }
        }
        self.used += bytes;
        let before = first[0] as usize * b.shape.extent[0] as usize * texel
            + (first[1] * b.shape.extent[1]) as usize * pitch;
        Some(Place { start: (BIAS + at - before) as u32, pitch: pitch as u32, home: None })
    }
}

/// Bits of any lane.
#[inline(always)]
fn any<S: Simd>(s: S, v: S::I) -> u32 {
    let mut all = 0;
    for x in simd::ops::i_lanes(s, v) {
        all |= x;
    }
    all
}

/// [`Tiles::cover`].
///
/// # Safety
/// As there.
#[inline(always)]
pub unsafe fn cover<S: Simd>(
    s: S,
    tiles: &mut Tiles,
    f: &Fast,
    level: usize,
    warps: &[*const Corners],
) -> Option<Place> {
    // SAFETY: the caller's.
    unsafe { tiles.made(s, f, level, warps) }
}

/// A block's texels to their rows.
///
/// # Safety
/// A block that has been decoded, and room for its rows; of blocks that are not of four by four texels, and for sixteen bytes beyond each.
#[inline(always)]
unsafe fn put<S: Simd>(s: S, b: &Blocks, from: *const u8, to: *mut u8, pitch: usize) {
    // SAFETY: the caller's.
    unsafe {
        match (b.shape.extent, b.texel) {
            ([4, 4], 2) => {
                s.istore4([to, to.add(pitch), to.add(2 * pitch), to.add(3 * pitch)], s.iload(from));
            }
            ([4, 4], _) => {
                for y in 0..4 {
                    to.add(y * pitch)
                        .cast::<[u128; 2]>()
                        .write_unaligned(from.add(32 * y).cast::<[u128; 2]>().read_unaligned());
                }
            }
            ([w, h], texel) => {
                let bytes = (w << texel) as usize;
                for y in 0..h as usize {
                    let (from, to) = (from.add(y * bytes), to.add(y * pitch));
                    for part in (0..bytes).step_by(16) {
                        to.add(part)
                            .cast::<u128>()
                            .write_unaligned(from.add(part).cast::<u128>().read_unaligned());
                    }
                }
            }
        }
    }
}

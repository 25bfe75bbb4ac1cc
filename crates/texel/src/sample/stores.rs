//! Writes of whole waves to storage images and texel buffers: channels become texels of up to sixteen warps at once, and where a warp's lanes
//! fill a rectangle, its texels go to memory row by row. The bits are those of [`super::store_warp`], which the tests compare.

use super::args::lanes;
use super::texel::Grid;
use crate::format::FormatInfo;
use crate::format::kernels::packs;
use crate::format::wave::{Four, Plan, WARPS, encode, store};
use crate::row::Row;
use crate::vector::load;
use simd::rows::ImageRows;
use simd::{Level, Simd};
use std::mem::MaybeUninit;

/// Bytes of a warp's texels, of the largest.
const BYTES: usize = 16 * 16;

#[repr(C, align(64))]
struct Room([[MaybeUninit<u8>; BYTES]; WARPS]);

/// How the lanes of a warp fill a rectangle of sixteen texels.
#[repr(C, align(64))]
struct Rectangle {
    /// Columns and rows from the first lane's to each lane's.
    from_first: [[u32; 16]; 2],
    /// The lane of each texel, row by row.
    lanes: [u32; 16],
    /// Where the first lane's texel is in it.
    first: [u32; 2],
    /// 4, 8 or 16; 0: there is none.
    columns: u32,
    rows: u32,
}

impl Rectangle {
    const NONE: Rectangle =
        Rectangle { from_first: [[0; 16]; 2], lanes: [0; 16], first: [0; 2], columns: 0, rows: 0 };

    /// The one that lanes at these columns and rows fill, if they fill one.
    #[inline(always)]
    fn of(at: [&[u32; 16]; 2]) -> Rectangle {
        let mut to = Rectangle::NONE;
        let (mut least, mut most) = ([0i32; 2], [0i32; 2]);
        for k in 0..2 {
            for lane in 0..16 {
                let d = at[k][lane].wrapping_sub(at[k][0]);
                to.from_first[k][lane] = d;
                let d = d as i32;
                least[k] = if d < least[k] { d } else { least[k] };
                most[k] = if d > most[k] { d } else { most[k] };
            }
            to.first[k] = least[k].unsigned_abs();
        }
        let columns = (most[0].wrapping_sub(least[0]) as u32).wrapping_add(1);
        if !matches!(columns, 4 | 8 | 16) {
            return to;
        }
        let mut filled = 0u16;
        for lane in 0..16 {
            let x = to.from_first[0][lane].wrapping_add(to.first[0]);
            let y = to.from_first[1][lane].wrapping_add(to.first[1]);
            let n = y.wrapping_mul(columns).wrapping_add(x);
            if y < 16 / columns {
                filled |= 1 << (n & 15);
                to.lanes[n as usize & 15] = lane as u32;
            }
        }
        if filled == 0xFFFF {
            (to.columns, to.rows) = (columns, 16 / columns);
        }
        to
    }

    /// Lanes fill it that are at these columns and rows.
    #[inline(always)]
    fn fits<S: Simd>(&self, s: S, at: [&[u32; 16]; 2]) -> bool {
        let mut other = s.isplat(0);
        for k in 0..2 {
            let d = s.isub(load(s, at[k]), s.isplat(at[k][0]));
            other = s.ior(other, s.ixor(d, load(s, &self.from_first[k])));
        }
        self.columns != 0 && s.mbits(s.ieq(other, s.isplat(0))) == 0xFFFF
    }
}

/// Writes a wave's texels; false for formats that have no kernel.
///
/// # Safety
/// The grid is that of texels of the format from `base` on, all of which have memory; the rows are those of a wave.
pub unsafe fn store_wave(
    level: Level,
    grid: &Grid,
    base: *mut u8,
    format: &'static FormatInfo,
    wave: &ImageRows,
) -> bool {
    // SAFETY: the caller's.
    packs(format) && grid.in_rows() && {
        unsafe { run(level, grid, base, format, wave) };
        true
    }
}

simd::by_level!(unsafe fn run = body, (grid: &Grid, base: *mut u8, format: &'static FormatInfo, wave: &ImageRows));

/// # Safety
/// As [`store_wave`], of a format that is packed.
#[inline(always)]
unsafe fn body<S: Simd>(s: S, grid: &Grid, base: *mut u8, format: &'static FormatInfo, wave: &ImageRows) {
    let plan = Plan::new(format);
    let bytes = plan.bytes;
    let mut channels = [Row::zero(); 4];
    for (to, from) in channels.iter_mut().zip(&wave.data) {
        if !from.at.is_null() {
            *to = Row::of(from);
        }
    }
    let mut words = Four::new();
    let mut room = MaybeUninit::<Room>::uninit();
    let room = room.as_mut_ptr().cast::<u8>();
    let mut rectangle = Rectangle::NONE;
    // Warps that fill none are not asked about it again.
    let mut asks = true;
    for first in [0, WARPS] {
        let live = wave.live >> first & 0xFFFF;
        if live == 0 {
            continue;
        }
        let n = 32 - live.leading_zeros() as usize;
        // SAFETY: the wave has rows up to its last warp.
        unsafe { encode(s.level(), &plan, &channels, first, n, &mut words) };
        let mut to = [room; WARPS];
        // Where the first texel of a warp's rectangle is, and the columns.
        let mut found = [(std::ptr::null_mut::<u8>(), 0); WARPS];
        for w in 0..n {
            to[w] = room.wrapping_add(w * BYTES);
            if !asks || live >> w & 1 == 0 || wave.exec[(first + w) & 31] != 0xFFFF {
                continue;
            }
            // SAFETY: the caller's wave has the warp.
            let Some((slice, at)) = (unsafe { grid.slice(s, wave, first + w) }) else {
                asks = false;
                continue;
            };
            if !rectangle.fits(s, at) {
                rectangle = Rectangle::of(at);
            }
            let columns = rectangle.columns;
            asks = columns != 0;
            let [x, y] = rectangle.first;
            let corner = [at[0][0].wrapping_sub(x), at[1][0].wrapping_sub(y)];
            if !asks || !grid.holds(corner, [columns, rectangle.rows]) {
                continue;
            }
            found[w] = (base.wrapping_add(slice.wrapping_add(grid.within(corner)) as usize), columns);
            for k in 0..bytes.div_ceil(4).min(4) {
                // SAFETY: `encode` wrote as many words as texels have.
                let v = unsafe { words.get(s, k, w) };
                words.put(s, k, w, s.ishuffle(v, load(s, &rectangle.lanes)));
            }
        }
        // SAFETY: the words are there, and room for sixteen texels of each warp.
        unsafe { store(s.level(), bytes, &words, &to[..n]) };
        for w in 0..n {
            let mask = wave.exec[(first + w) & 31];
            if live >> w & 1 == 0 || mask == 0 {
                continue;
            }
            // SAFETY: sixteen texels lie at `to`; the rectangle is inside the level, and so are the lanes' texels.
            unsafe {
                match found[w] {
                    (begin, columns @ 1..) => by_rows(to[w], begin, grid.pitch(), columns, bytes),
                    _ => apart(grid, base, bytes, wave, first + w, mask, to[w]),
                }
            }
        }
    }
}

/// Sixteen texels to rows of so many columns.
///
/// # Safety
/// They lie at `from`; the rows are writable.
#[inline(always)]
unsafe fn by_rows(from: *const u8, to: *mut u8, pitch: usize, columns: u32, bytes: usize) {
    let rows = 16 >> columns.trailing_zeros();
    macro_rules! copy {
        ($($bytes:literal)*) => {
            match columns as usize * bytes {
                $($bytes => for y in 0..rows {
                    // SAFETY: as below.
                    let row = unsafe { from.add(y * $bytes).cast::<[u8; $bytes]>().read_unaligned() };
                    // SAFETY: as below.
                    unsafe { to.wrapping_add(y * pitch).cast::<[u8; $bytes]>().write_unaligned(row) };
                })*
                n => for y in 0..rows {
                    // SAFETY: the caller's texels and rows.
                    unsafe { to.wrapping_add(y * pitch).copy_from_nonoverlapping(from.add(y * n), n) };
                }
            }
        };
    }
    copy!(4 8 16 32 64);
}

/// Those of sixteen texels of which the lanes' mask has a bit and that exist, to where each belongs.
///
/// # Safety
/// As [`body`]; the texels lie at `from`.
#[inline(always)]
unsafe fn apart(
    grid: &Grid,
    base: *mut u8,
    bytes: usize,
    wave: &ImageRows,
    w: usize,
    mask: u16,
    from: *const u8,
) {
    let mut coords = [None; 5];
    for (to, c) in coords.iter_mut().zip(&wave.coords) {
        // SAFETY: the wave has rows of sixteen lanes for each warp, or null.
        *to = unsafe { c.warp(w).cast::<[u32; 16]>().as_ref() };
    }
    let (at, inside) = grid.offsets(coords);
    macro_rules! spread {
        ($($bytes:literal)*) => {
            match bytes {
                $($bytes => for lane in lanes(mask & inside) {
                    // SAFETY: as below.
                    let texel = unsafe { from.add(lane * $bytes).cast::<[u8; $bytes]>().read_unaligned() };
                    let to = base.wrapping_add(at[lane] as usize).cast::<[u8; $bytes]>();
                    // SAFETY: as below.
                    unsafe { to.write_unaligned(texel) };
                })*
                n => for lane in lanes(mask & inside) {
                    // SAFETY: the caller's texels; a texel that exists.
                    unsafe { base.add(at[lane] as usize).copy_from_nonoverlapping(from.add(lane * n), n) };
                }
            }
        };
    }
    spread!(1 2 4 8 16);
}

//! Unfiltered access by integer coordinates: fetches, storage image loads and stores, texel buffers, atomics' addresses.

use super::args::{Warp4, few, lanes};
use super::view::{BufferView, ImageView, Level, outside};
use crate::format::FormatInfo;
use crate::format::codec::{load64, store64};
use crate::format::kernels::ScatterFn;
use crate::image::Split;
use crate::memory::sparse;
use crate::vector::load;
use ash::vk;
use simd::Simd;
use simd::rows::ImageRows;

/// Texels of a warp: low words (or all, for components of 32 bits), and high words of 64-bit components.
pub struct TexelData<'a> {
    pub lo: &'a mut Warp4,
    pub hi: &'a mut Warp4,
}

/// Place of a texel of a lane, if it exists. Cubes are addressed as arrays of faces.
#[inline]
fn place(view: &ImageView, l: &Level, coords: &[[u32; 16]], lane: usize) -> Option<[u32; 4]> {
    let c = |k: usize| coords.get(k).map_or(0, |c| c[lane]);
    let mut p = [c(0), 0, 0, 0];
    if view.dims > 1 {
        p[1] = c(1);
    }
    if view.dims > 2 {
        p[2] = c(2);
    }
    if view.arrayed || view.is_cube {
        p[3] = c(view.dims);
    }
    // Negative coordinates are huge as unsigned ones.
    let inside = p[0] < l.size[0] && p[1] < l.size[1] && p[2] < l.size[2] && p[3] < view.layers;
    inside.then_some(p)
}

/// Level, place and sample of a lane's texel, if it exists; `lod` is relative to the view.
#[inline]
pub(super) fn found<'a>(
    view: &'a ImageView,
    coords: &[[u32; 16]],
    lod: Option<&[u32; 16]>,
    sample: Option<&[u32; 16]>,
    lane: usize,
) -> Option<(&'a Level, [u32; 4], u32)> {
    let level = lod.map_or(0, |l| l[lane]) as usize;
    let n = sample.map_or(0, |s| s[lane]);
    let l = view.levels.get(level)?;
    let exists = n < view.samples && level as f32 + 1.0 > view.min_lod;
    Some((l, place(view, l, coords, lane).filter(|_| exists)?, n))
}

/// Addresses of texels, or of the blocks that hold them; null where there is none. `lod` is relative to the view.
pub fn texel_addresses(
    view: &ImageView,
    coords: &[[u32; 16]],
    lod: Option<&[u32; 16]>,
    sample: Option<&[u32; 16]>,
    mask: u16,
) -> [*mut u8; 16] {
    let mut out = [std::ptr::null_mut(); 16];
    for lane in lanes(mask) {
        if let Some((l, [x, y, z, layer], n)) = found(view, coords, lod, sample, lane) {
            // SAFETY: it was found.
            out[lane] = unsafe { view.block(l, x, y, z, layer, n) };
        }
    }
    out
}

/// Lanes of the mask whose texels have no memory; texels that do not exist need none.
pub fn missing_texels(
    view: &ImageView,
    coords: &[[u32; 16]],
    lod: Option<&[u32; 16]>,
    sample: Option<&[u32; 16]>,
    mask: u16,
) -> u16 {
    let without = |&lane: &usize| {
        found(view, coords, lod, sample, lane).is_some_and(|(l, [x, y, z, layer], n)| {
            // SAFETY: it was found.
            !sparse::resident(unsafe { view.block(l, x, y, z, layer, n) })
        })
    };
    lanes(mask).filter(without).fold(0, |m, lane| m | 1 << lane)
}

fn put(d: &mut TexelData, lane: usize, t: [u32; 4]) {
    (0..4).for_each(|k| d.lo[k][lane] = t[k]);
}

/// Both halves of 64-bit texels; alpha of a format without one is 1.
///
/// # Safety
/// `p` is readable for the format's block.
unsafe fn put64(d: &mut TexelData, lane: usize, info: &FormatInfo, p: Option<*const u8>) {
    // SAFETY: the caller has the texel readable.
    let mut t = p.map_or([0; 4], |p| unsafe { load64(info, p) });
    if !info.has_component(b'a') {
        t[3] = 1;
    }
    for (k, v) in t.into_iter().enumerate() {
        d.lo[k][lane] = v as u32;
        d.hi[k][lane] = (v >> 32) as u32;
    }
}

/// `OpImageFetch`: texel by coordinates (`i32`; the layer last), level (`lod`, relative to the view) and sample.
/// What does not exist reads as zeros (and alpha one where the format has none).
pub fn fetch_warp(
    view: &ImageView,
    coords: &[[u32; 16]],
    lod: Option<&[u32; 16]>,
    sample: Option<&[u32; 16]>,
    mask: u16,
    out: &mut TexelData,
) {
    if let Some(y) = &view.ycbcr {
        return y.fetch(view, coords, lod, mask, out);
    }
    if let Some(l) = one_level(view, lod, mask) {
        let (at, inside) = offsets(view, l, coords, sample);
        let mut t = [[0; 16]; 4];
        // SAFETY: every offset is that of a texel of the level, the first one where there is none.
        unsafe { (view.gather)(view.format, l.base, &at, &mut t) };
        if mask & !inside != 0 {
            let none = view.outside();
            for lane in lanes(mask & !inside) {
                (0..4).for_each(|k| t[k][lane] = none[k]);
            }
        }
        for k in 0..4 {
            let v = view.swizzled_warp(&t, k);
            for lane in 0..16 {
                out.lo[k][lane] = if mask >> lane & 1 == 1 { v[lane] } else { out.lo[k][lane] };
            }
        }
        return;
    }
    for lane in lanes(mask) {
        let found = found(view, coords, lod, sample, lane);
        // SAFETY: the place was checked against the view.
        unsafe {
            if view.format.is_64bit() {
                let p = found.map(|(l, [x, y, z, a], n)| view.address(l, x, y, z, a, n).cast_const());
                put64(out, lane, view.format, p);
            } else {
                let t =
                    found.map_or_else(|| view.outside(), |(l, [x, y, z, a], n)| view.read(l, x, y, z, a, n));
                put(out, lane, view.swizzled(t));
            }
        }
    }
}

/// The level that all lanes of the mask read, where the format's texels can be loaded by warps.
#[inline]
fn one_level<'a>(view: &'a ImageView, lod: Option<&[u32; 16]>, mask: u16) -> Option<&'a Level> {
    if view.format.is_64bit() || few(mask) {
        return None;
    }
    let level = lod.map_or(0, |l| l[mask.trailing_zeros() as usize]);
    let mut same = true;
    if let Some(l) = lod {
        for lane in 0..16 {
            same &= l[lane] == level || mask >> lane & 1 == 0;
        }
    }
    let exists = level as f32 + 1.0 > view.min_lod;
    view.levels.get(level as usize).filter(|_| same && exists)
}

/// Where a level's texels lie, axis by axis: x, y, z, layer, sample, as far as there are.
pub struct Grid {
    axes: [Axis; 5],
    len: usize,
    /// Along x and y (the first two axes), beyond the pitch.
    split: Split,
}

#[derive(Clone, Copy)]
struct Axis {
    /// Which coordinate it is; the sample is [`SAMPLE`].
    coord: usize,
    limit: u32,
    /// Bytes.
    pitch: u64,
}

/// The coordinate after those of the address.
const SAMPLE: usize = 4;

impl Grid {
    /// `samples`: a coordinate chooses one.
    #[inline(always)]
    pub fn new(view: &ImageView, l: &Level, samples: bool) -> Grid {
        let none = Axis { coord: 0, limit: 0, pitch: 0 };
        let mut grid = Grid { axes: [none; 5], len: 0, split: l.split };
        grid.add(0, l.size[0], view.format.block_bytes as u64);
        if view.dims > 1 {
            grid.add(1, l.size[1], l.row_pitch);
        }
        if view.dims > 2 {
            grid.add(2, l.size[2], l.slice_pitch);
        }
        if view.arrayed || view.is_cube {
            grid.add(view.dims, view.layers, l.layer_pitch);
        }
        if samples {
            grid.add(SAMPLE, view.samples, l.sample_pitch);
        }
        grid
    }

    /// The texels of a buffer.
    #[inline(always)]
    pub fn buffer(view: &BufferView) -> Grid {
        let x = Axis { coord: 0, limit: view.len, pitch: view.format.block_bytes as u64 };
        Grid { axes: [x; 5], len: 1, split: Split::NONE }
    }

    #[inline(always)]
    fn add(&mut self, coord: usize, limit: u32, pitch: u64) {
        self.axes[self.len] = Axis { coord, limit, pitch };
        self.len += 1;
    }

    /// Whether every texel lies at a multiple of `bytes`, a power of two.
    pub fn aligned(&self, base: *const u8, bytes: u64) -> bool {
        let first = base as u64 | self.split.bits();
        let all = self.axes[..self.len].iter().fold(first, |all, a| all | a.pitch);
        all & (bytes - 1) == 0
    }

    /// Texels lie in rows, not in blocks of an image that is bound in parts; there is one sample of each.
    pub(super) fn in_rows(&self) -> bool {
        self.split.is_none() && self.axes[..self.len].iter().all(|a| a.coord != SAMPLE)
    }

    /// A warp's columns and rows (of the first two axes), and the bytes to the slice, if it is the same of all lanes and exists.
    ///
    /// # Safety
    /// The rows are those of a wave that has warp `w`; a texel lies where its columns, rows and slice say ([`Self::in_rows`]).
    #[inline(always)]
    pub(super) unsafe fn slice<'a, S: Simd>(
        &self,
        s: S,
        wave: &ImageRows<'a>,
        w: usize,
    ) -> Option<(u64, [&'a [u32; 16]; 2])> {
        let (mut at, mut bytes) = ([&[0; 16]; 2], 0u64);
        for (k, axis) in self.axes[..self.len].iter().enumerate() {
            // SAFETY: the wave has rows of sixteen lanes for each warp, or null.
            let c = unsafe { wave.coords[axis.coord & 3].warp(w).cast::<[u32; 16]>().as_ref() };
            let c = c.unwrap_or(&[0; 16]);
            if k < 2 {
                at[k] = c;
                continue;
            }
            let other = s.mbits(s.ieq(load(s, c), s.isplat(c[0]))) != 0xFFFF;
            if other || c[0] >= axis.limit {
                return None;
            }
            bytes = bytes.wrapping_add(c[0] as u64 * axis.pitch);
        }
        Some((bytes, at))
    }

    /// Whether there are all of so many columns and rows from `first` on.
    #[inline(always)]
    pub(super) fn holds(&self, first: [u32; 2], count: [u32; 2]) -> bool {
        let of = |k: usize| if k < self.len { self.axes[k].limit } else { 1 };
        (0..2).all(|k| of(k).checked_sub(count[k]).is_some_and(|last| first[k] <= last))
    }

    /// Bytes from a slice's first texel to one of its others.
    #[inline(always)]
    pub(super) fn within(&self, [x, y]: [u32; 2]) -> u64 {
        x as u64 * self.axes[0].pitch + y as u64 * self.pitch() as u64
    }

    /// Bytes from one row to the next.
    #[inline(always)]
    pub(super) fn pitch(&self) -> usize {
        self.axes[1].pitch as usize
    }

    /// Offsets of the texels of a warp, and the lanes whose texel exists; 0 for the others. A coordinate that is not given
    /// is 0.
    #[inline(always)]
    pub fn offsets(&self, coords: [Option<&[u32; 16]>; 5]) -> ([u64; 16], u16) {
        let (mut at, mut inside) = ([0u64; 16], [u32::MAX; 16]);
        for axis in &self.axes[..self.len] {
            let Some(c) = coords[axis.coord] else { continue };
            for lane in 0..16 {
                // Negative coordinates are huge as unsigned ones.
                inside[lane] &= if c[lane] < axis.limit { u32::MAX } else { 0 };
                at[lane] = at[lane].wrapping_add(c[lane] as u64 * axis.pitch);
            }
        }
        if !self.split.is_none() {
            // Flat or solid: there are no sparse images of one dimension.
            for (axis, c) in coords.iter().take(2).enumerate() {
                let Some(c) = c else { continue };
                for lane in 0..16 {
                    at[lane] = at[lane].wrapping_add(self.split.along(axis, c[lane]));
                }
            }
        }
        let mut mask = 0;
        for lane in 0..16 {
            mask |= ((inside[lane] & 1) as u16) << lane;
        }
        for lane in 0..16 {
            at[lane] &= inside[lane] as i32 as i64 as u64;
        }
        (at, mask)
    }
}

/// As [`Grid::offsets`], of coordinates side by side.
#[inline(always)]
fn offsets(
    view: &ImageView,
    l: &Level,
    coords: &[[u32; 16]],
    sample: Option<&[u32; 16]>,
) -> ([u64; 16], u16) {
    if view.shape.is_some() {
        return in_blocks(view, l, coords);
    }
    let c = |k: usize| coords.get(k);
    Grid::new(view, l, sample.is_some()).offsets([c(0), c(1), c(2), c(3), sample])
}

/// As [`offsets`], of a compressed view, which has one sample.
#[inline(always)]
fn in_blocks(view: &ImageView, l: &Level, coords: &[[u32; 16]]) -> ([u64; 16], u16) {
    let pitches = [view.format.block_bytes as u64, l.row_pitch, l.slice_pitch];
    let (mut at, mut inside) = ([0u64; 16], 0xFFFFu16);
    for (k, c) in coords.iter().enumerate() {
        let (axis, limit, pitch) = match k {
            k if k < view.dims => (k, l.size[k], pitches[k]),
            k if k == view.dims && (view.arrayed || view.is_cube) => (3, view.layers, l.layer_pitch),
            _ => break,
        };
        for lane in 0..16 {
            // Negative coordinates are huge as unsigned ones.
            let here = c[lane] < limit;
            inside &= !((!here as u16) << lane);
            at[lane] += view.along(l, axis, if here { c[lane] } else { 0 }, pitch);
        }
    }
    (at, inside)
}

/// `OpImageRead` of a storage image (or subpass input), without swizzle. What does not exist reads as zeros (and alpha
/// one where the format has none).
pub fn load_warp(
    view: &ImageView,
    coords: &[[u32; 16]],
    sample: Option<&[u32; 16]>,
    mask: u16,
    out: &mut TexelData,
) {
    let Some(l) = view.levels.first().filter(|_| !view.format.compressed() && !view.format.is_64bit()) else {
        return fetch_warp(view, coords, None, sample, mask, out);
    };
    if few(mask) {
        for lane in lanes(mask) {
            let n = sample.map_or(0, |s| s[lane]);
            let found = place(view, l, coords, lane).filter(|_| n < view.samples);
            // SAFETY: the place was checked against the view.
            let t = found.map(|[x, y, z, a]| unsafe { view.read(l, x, y, z, a, n) });
            put(out, lane, t.unwrap_or_else(|| view.outside()));
        }
        return;
    }
    let (at, inside) = offsets(view, l, coords, sample);
    if mask == 0xffff && inside == 0xffff {
        // SAFETY: every texel was checked against the view.
        return unsafe { (view.gather)(view.format, l.base, &at, out.lo) };
    }
    let mut t = [[0; 16]; 4];
    // SAFETY: every offset is that of a texel of the view, the first one where there is none.
    unsafe { (view.gather)(view.format, l.base, &at, &mut t) };
    let none = view.outside();
    for lane in lanes(mask) {
        for k in 0..4 {
            out.lo[k][lane] = if inside >> lane & 1 == 1 { t[k][lane] } else { none[k] };
        }
    }
}

/// `OpImageWrite` of a storage image: texels that do not exist are dropped.
pub fn store_warp(
    view: &ImageView,
    coords: &[[u32; 16]],
    sample: Option<&[u32; 16]>,
    mask: u16,
    lo: &Warp4,
    hi: &Warp4,
) {
    let Some(l) = view.levels.first().filter(|_| !view.format.compressed()) else { return };
    let (at, inside) = offsets(view, l, coords, sample);
    let inside = sparse::resident_lanes(l.base, &at, inside);
    // SAFETY: the texels of `inside` were checked against the view.
    unsafe { store_at(view.format, view.scatter, l.base, &at, mask & inside, lo, hi) }
}

/// Stores texels of any uncompressed format.
///
/// # Safety
/// `base + at` are texels of the lanes of `mask`, in memory of the format that `scatter` is of.
unsafe fn store_at(
    format: &'static FormatInfo,
    scatter: ScatterFn,
    base: *mut u8,
    at: &[u64; 16],
    mask: u16,
    lo: &Warp4,
    hi: &Warp4,
) {
    if !format.is_64bit() {
        // SAFETY: the caller's texels, of the format that this is of.
        return unsafe { scatter(format, base, at, mask, lo) };
    }
    for lane in lanes(mask) {
        let v = std::array::from_fn(|k| lo[k][lane] as u64 | (hi[k][lane] as u64) << 32);
        // SAFETY: the caller's texel.
        unsafe { store64(format, base.add(at[lane] as usize), v) }
    }
}

/// Addresses of the texels that an atomic works on; null where there is none or no memory, and for formats without atomics.
pub fn texel_pointers(
    view: &ImageView,
    coords: &[[u32; 16]],
    sample: Option<&[u32; 16]>,
    mask: u16,
) -> [*mut u8; 16] {
    let mut out = [std::ptr::null_mut(); 16];
    let Some(l) = view.levels.first().filter(|_| has_atomics(view.format)) else { return out };
    let (at, inside) = offsets(view, l, coords, sample);
    for lane in lanes(sparse::resident_lanes(l.base, &at, mask & inside)) {
        out[lane] = aligned(l.base.wrapping_add(at[lane] as usize), view.format);
    }
    out
}

/// Formats whose texel is one whole number of 32 or 64 bits.
pub fn has_atomics(f: &FormatInfo) -> bool {
    matches!(
        f.format,
        vk::Format::R32_UINT
            | vk::Format::R32_SINT
            | vk::Format::R32_SFLOAT
            | vk::Format::R64_UINT
            | vk::Format::R64_SINT
    )
}

/// Atomics need their natural alignment, which a view at an invalid offset may lack.
fn aligned(p: *mut u8, f: &FormatInfo) -> *mut u8 {
    // Sizes of such texels are powers of two, which the compiler can't know: no division.
    if p as usize & (f.block_bytes as usize - 1) == 0 { p } else { std::ptr::null_mut() }
}

/// Fetch or load from a texel buffer.
pub fn buffer_load_warp(view: &BufferView, index: &[u32; 16], mask: u16, out: &mut TexelData) {
    if view.format.is_64bit() {
        for lane in lanes(mask) {
            let p = view.address(index[lane]);
            // SAFETY: the address is that of a whole texel.
            unsafe { put64(out, lane, view.format, p.map(|p| p.cast_const())) }
        }
        return;
    }
    if few(mask) {
        for lane in lanes(mask) {
            // SAFETY: as above.
            let t = view.address(index[lane]).map(|p| unsafe { (view.load)(view.format, p) });
            put(out, lane, t.unwrap_or_else(|| outside(view.format)));
        }
        return;
    }
    let first = index[mask.trailing_zeros() as usize & 15];
    let mut others = 0;
    for lane in 0..16 {
        others |= if mask >> lane & 1 == 1 { index[lane] ^ first } else { 0 };
    }
    if others == 0 {
        // SAFETY: as above.
        let t = view.address(first).map(|p| unsafe { (view.load)(view.format, p) });
        let t = t.unwrap_or_else(|| outside(view.format));
        lanes(mask).for_each(|lane| put(out, lane, t));
        return;
    }
    let (at, inside) = Grid::buffer(view).offsets([Some(index), None, None, None, None]);
    let mut t = [[0; 16]; 4];
    if mask & inside != 0 {
        // SAFETY: every offset is that of a whole texel, the first one where there is none; there is one.
        unsafe { (view.gather)(view.format, view.base, &at, &mut t) };
    }
    let none = outside(view.format);
    for k in 0..4 {
        for lane in 0..16 {
            let v = if inside >> lane & 1 == 1 { t[k][lane] } else { none[k] };
            out.lo[k][lane] = if mask >> lane & 1 == 1 { v } else { out.lo[k][lane] };
        }
    }
}

/// Store to a texel buffer; texels outside are dropped.
pub fn buffer_store_warp(view: &BufferView, index: &[u32; 16], mask: u16, lo: &Warp4, hi: &Warp4) {
    let (at, inside) = Grid::buffer(view).offsets([Some(index), None, None, None, None]);
    let inside = sparse::resident_lanes(view.base, &at, inside);
    // SAFETY: the offsets of `inside` are those of whole texels.
    unsafe { store_at(view.format, view.scatter, view.base, &at, mask & inside, lo, hi) }
}

impl BufferView {
    /// Addresses of the texels that an atomic works on; null outside.
    pub fn texel_pointers(&self, index: &[u32; 16], mask: u16) -> [*mut u8; 16] {
        let mut out = [std::ptr::null_mut(); 16];
        if has_atomics(self.format) {
            for lane in lanes(mask) {
                let there = self.address(index[lane]).filter(|p| sparse::resident(*p));
                out[lane] = there.map_or(std::ptr::null_mut(), |p| aligned(p, self.format));
            }
        }
        out
    }
}

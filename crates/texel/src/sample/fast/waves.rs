//! Samples of a wave: its warps one after the other, by the shortest way that view and sampler allow.

use super::corners::{ANY, Corners, EDGE, REPEAT, corners};
use super::found::{self, Found};
use super::nearest;
use super::place::{self, bordered};
use super::square::{Square, Squares, filtered};
use super::texels::Texels;
use super::tile::{Place, Tiles};
use super::warp::{edge_color, filters_inside, filters_plainly, layer_of, ordered, plain, swizzled};
use super::window::Close;
use super::{Fast, apart, compare, levels, touch};
use crate::memory::sparse::resident;
use crate::sample::args::SampleArgs;
use crate::sample::sampler::{Sampler, Wrap};
use crate::sample::view::ImageView;
use crate::vector;
use simd::rows::{ImageRows, LevelRows, Rows};
use simd::{Simd, ops};
use std::mem::MaybeUninit;
use std::ops::Deref;

/// Warps of which the texels are found before they are filtered.
pub const TOGETHER: usize = 8;

/// The warps of a wave with an active lane, and those.
pub struct Warps<'a> {
    live: u32,
    exec: &'a [u16; 32],
}

impl<'a> Warps<'a> {
    #[inline(always)]
    pub fn of(wave: &ImageRows<'a>) -> Warps<'a> {
        Warps { live: wave.live, exec: wave.exec }
    }
    /// The next ones: a warp's steps wait for each other, so that each is done for several warps before the next.
    #[inline(always)]
    pub fn several(&mut self) -> Several {
        let mut several = Several { n: 0, warps: [(0, 0); TOGETHER] };
        while several.n < TOGETHER
            && let Some(next) = self.next()
        {
            several.warps[several.n] = next;
            several.n += 1;
        }
        several
    }
}

/// Some warps, and their active lanes.
pub struct Several {
    n: usize,
    warps: [(usize, u16); TOGETHER],
}

impl Several {
    /// Puts a warp in the place of another.
    #[inline(always)]
    pub fn put(&mut self, at: usize, warp: (usize, u16)) {
        self.warps[at % TOGETHER] = warp;
    }
    /// Only the first `n`.
    #[inline(always)]
    pub fn keep(&mut self, n: usize) {
        self.n = if n < self.n { n } else { self.n };
    }
}

impl Deref for Several {
    type Target = [(usize, u16)];
    #[inline(always)]
    fn deref(&self) -> &[(usize, u16)] {
        &self.warps[..self.n]
    }
}

impl Iterator for Warps<'_> {
    type Item = (usize, u16);
    #[inline(always)]
    fn next(&mut self) -> Option<(usize, u16)> {
        while self.live != 0 {
            let w = self.live.trailing_zeros() as usize;
            self.live &= self.live - 1;
            let mask = self.exec[w & 31];
            if mask != 0 {
                return Some((w, mask));
            }
        }
        None
    }
}

/// Coordinates that a kernel takes: those of 1D images come as of 2D ones.
#[inline(always)]
pub fn dims(f: &Fast) -> usize {
    if f.cube { 3 } else { 2 }
}

/// One warp's operands of a wave's.
pub struct Operands {
    coords: [[u32; 16]; 4],
    lod: [u32; 16],
    dref: [u32; 16],
    bias: [u32; 16],
    min_lod: [u32; 16],
    grad: [[u32; 16]; 6],
}

impl Operands {
    /// # Safety
    /// The rows are those of a wave that has warp `w`.
    #[inline(always)]
    pub unsafe fn of<S: Simd>(s: S, f: &Fast, arrayed: bool, wave: &ImageRows, w: usize) -> Operands {
        let none = [0; 16];
        let mut own =
            Operands { coords: [none; 4], lod: none, dref: none, bias: none, min_lod: none, grad: [none; 6] };
        for k in 0..dims(f) + arrayed as usize {
            // SAFETY: the wave has rows of sixteen lanes for each warp.
            vector::store(s, &mut own.coords[k], unsafe { s.iloadu(wave.coords[k].warp(w)) });
        }
        if let Some(l) = wave.lod {
            // SAFETY: as above.
            vector::store(s, &mut own.lod, unsafe { s.iloadu(l.warp(w)) });
        }
        if let Some(d) = wave.dref {
            // SAFETY: as above.
            vector::store(s, &mut own.dref, unsafe { s.iloadu(d.warp(w)) });
        }
        if wave.levels.any() {
            // SAFETY: as above.
            unsafe { own.levels(s, wave, w) };
        }
        own
    }
    /// Takes what the levels depend on.
    ///
    /// # Safety
    /// As [`Self::of`].
    #[inline(always)]
    unsafe fn levels<S: Simd>(&mut self, s: S, wave: &ImageRows, w: usize) {
        let LevelRows { bias, min_lod, grad } = wave.levels;
        // SAFETY: the wave has rows of sixteen lanes for each warp.
        let words = |r: Rows| unsafe { s.iloadu(r.warp(w)) };
        if let Some(bias) = bias {
            vector::store(s, &mut self.bias, words(bias));
        }
        if let Some(least) = min_lod {
            vector::store(s, &mut self.min_lod, words(least));
        }
        if let Some(grad) = grad {
            for (to, r) in self.grad.iter_mut().zip(grad) {
                vector::store(s, to, words(r));
            }
        }
    }
    #[inline(always)]
    pub fn args(&self, f: &Fast, arrayed: bool, wave: &ImageRows) -> SampleArgs<'_> {
        SampleArgs {
            dims: dims(f),
            arrayed,
            coords: &self.coords[..dims(f) + arrayed as usize],
            lod: if wave.lod.is_some() { Some(&self.lod) } else { None },
            dref: if wave.dref.is_some() { Some(&self.dref) } else { None },
            bias: if wave.levels.bias.is_some() { Some(&self.bias) } else { None },
            min_lod: if wave.levels.min_lod.is_some() { Some(&self.min_lod) } else { None },
            grad: if wave.levels.grad.is_some() { Some(&self.grad) } else { None },
            ..SampleArgs::default()
        }
    }
}

/// The layer of a view that is not of cubes, if all active lanes ask for the same one.
#[inline(always)]
fn one_layer<S: Simd>(s: S, f: &Fast, view: &ImageView, wave: &ImageRows) -> Option<u32> {
    if f.cube {
        return None;
    }
    let mut layer = None;
    for (w, mask) in Warps::of(wave) {
        // SAFETY: the wave has rows of sixteen lanes for each warp.
        let asked = unsafe { s.from_bits(s.iloadu(wave.coords[2].warp(w))) };
        let all = layer_of(s, asked, view.layers);
        let first = match layer {
            Some(first) => first,
            None => ops::i_lanes(s, all)[mask.trailing_zeros() as usize & 15],
        };
        layer = Some(first);
        if s.mbits(s.ieq(all, s.isplat(first))) & mask != mask {
            return None;
        }
    }
    layer
}

/// Warps of a wave one after the other.
///
/// # Safety
/// Rows and results are those of a wave.
#[inline(always)]
pub unsafe fn warps<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    arrayed: bool,
    wave: &ImageRows,
) {
    // Portable code of these is large, and for where nothing else runs.
    let alone = S::VECTORS && (wave.dref.is_none() || sampler.compare.is_none());
    let layer = if arrayed && S::VECTORS { one_layer(s, f, view, wave) } else { None };
    let own = layer.map(|layer| f.of_layer(layer));
    let (f, arrayed) = match &own {
        Some(own) => (own, false),
        None => (f, arrayed),
    };
    if alone && f.planned && plain(f, sampler) && !sampler.mag_linear {
        // SAFETY: the caller's wave; picked for this machine.
        return unsafe {
            if !T::ANY && !arrayed && !f.cube && !bordered(f, sampler) {
                nearest_warps::<S, T>(s, f, view, sampler, wave)
            } else {
                let run = match nearest::way(f, sampler, arrayed) {
                    nearest::FLAT => f.any.nearest_flat,
                    nearest::BLOCKS => f.any.nearest_blocks,
                    _ => f.any.nearest_other,
                };
                run(f, view, sampler, arrayed, wave)
            }
        };
    }
    let mut live = wave.live;
    if f.cube && S::VECTORS {
        // SAFETY: the caller's wave; picked for this machine.
        live = unsafe { (f.any.faces)(f, view, sampler, arrayed, wave) };
    }
    let compared = wave.dref.zip(sampler.compare);
    if let Some(with) = compared
        && S::VECTORS
        && compare::suits::<T>(f, sampler, arrayed)
    {
        // SAFETY: the caller's wave.
        live = unsafe { compare::warps::<S, T>(s, f, view, sampler, wave, with) };
    }
    if alone && filters_plainly(f, sampler, arrayed) {
        // SAFETY: the caller's wave.
        return unsafe {
            match (sampler.wrap[0], sampler.wrap[1]) {
                _ if T::ANY => simple_warps::<S, T, ANY>(s, f, view, sampler, wave),
                (Wrap::Edge, Wrap::Edge) if T::WORD => simple_warps::<S, T, EDGE>(s, f, view, sampler, wave),
                _ if !T::WORD => simple_warps::<S, T, ANY>(s, f, view, sampler, wave),
                (Wrap::Repeat, Wrap::Repeat) if f.pow2 == [true; 2] => {
                    simple_warps::<S, T, REPEAT>(s, f, view, sampler, wave)
                }
                _ => simple_warps::<S, T, ANY>(s, f, view, sampler, wave),
            }
        };
    }
    if alone && (T::WORD || f.planned) && filters_inside(f, sampler, arrayed) {
        // SAFETY: the caller's wave; picked for this machine.
        live = unsafe {
            if T::WORD {
                levels::warps::<S, T>(s, f, view, sampler, wave)
            } else {
                // One function for all others.
                (f.any.levels)(f, view, sampler, wave)
            }
        };
    }
    for (w, mask) in (Warps { live, exec: wave.exec }) {
        // SAFETY: the caller's wave.
        unsafe {
            count(s, f, view, sampler, arrayed, wave, (w, mask), T::ANY);
            one_warp(s, f, view, sampler, arrayed, wave, (w, mask));
        }
    }
}

/// Says which lanes' texels of a warp have no memory, if that is asked and not known yet.
///
/// # Safety
/// As [`count`].
#[inline(always)]
pub unsafe fn holes<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    arrayed: bool,
    wave: &ImageRows,
    (w, mask): (usize, u16),
) {
    if let Some(holes) = wave.holes
        && !holes.knows(w)
    {
        // SAFETY: the caller's wave; it is asked of views alone of which this is known.
        let lanes = unsafe {
            let own = Operands::of(s, f, arrayed, wave, w);
            f.missing(view, sampler, &own.args(f, arrayed, wave), mask)
        };
        holes.put(w, lanes);
    }
}

/// Counts the lines of a warp, if they are to be counted, and says which lanes' texels have no memory, if that may be `asked`: of kernels
/// by plans, which views in sparse image blocks have.
///
/// # Safety
/// As [`warps`], of a wave that has the warp.
#[inline(always)]
pub unsafe fn count<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    arrayed: bool,
    wave: &ImageRows,
    (w, mask): (usize, u16),
    asked: bool,
) {
    if asked {
        // SAFETY: the caller's.
        unsafe { holes(s, f, view, sampler, arrayed, wave, (w, mask)) };
    }
    if let Some(lines) = wave.lines {
        // SAFETY: the caller's wave; picked for this machine.
        let n = unsafe {
            let own = Operands::of(s, f, arrayed, wave, w);
            (f.runs.lines)(f, view, sampler, &own.args(f, arrayed, wave), mask)
        };
        lines.set(lines.get() + n as u64);
    }
}

/// A warp by the kernel for one. Not inlined a second time: these are the largest functions of the library.
///
/// # Safety
/// As [`count`].
#[inline(always)]
pub unsafe fn one_warp<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    arrayed: bool,
    wave: &ImageRows,
    (w, mask): (usize, u16),
) {
    let mut out = [[0u32; 16]; 4];
    // SAFETY: the caller's wave; picked for this machine; no shifts.
    unsafe {
        let own = Operands::of(s, f, arrayed, wave, w);
        (f.runs.warp)(f, view, sampler, &own.args(f, arrayed, wave), mask, &mut out);
        for k in 0..4 {
            store(s, wave.out[k], w, vector::load(s, &out[k]), mask);
        }
    }
}

/// Stores the active lanes of a warp's result, if it is wanted.
///
/// # Safety
/// `out` is null or has the results of warp `w`.
#[inline(always)]
pub unsafe fn store<S: Simd>(s: S, out: *mut u8, w: usize, v: S::I, mask: u16) {
    if out.is_null() {
        return;
    }
    // SAFETY: the warp\'s sixteen lanes.
    unsafe {
        let p = out.add(w * 64);
        s.istoreu(p, if mask == 0xffff { v } else { s.isel(s.mask(mask), v, s.iloadu(p)) });
    }
}

/// Where a warp's lanes sample a view without layers.
///
/// # Safety
/// As [`warps`], of a wave that has warp `w`.
#[inline(always)]
pub unsafe fn coordinates<S: Simd>(s: S, wave: &ImageRows, w: usize) -> [S::F; 2] {
    // SAFETY: the wave has rows of sixteen lanes for each warp.
    unsafe { [s.from_bits(s.iloadu(wave.coords[0].warp(w))), s.from_bits(s.iloadu(wave.coords[1].warp(w)))] }
}

/// The format's channels that somebody wants of a wave's samples, a bit each.
#[inline(always)]
pub fn wanted(view: &ImageView, wave: &ImageRows) -> u8 {
    let mut all = 0;
    for (k, out) in wave.out.iter().enumerate() {
        let of = view.channel(k).filter(|_| !out.is_null());
        all |= of.map_or(0, |c| 1 << (c % 4));
    }
    all
}

/// Swizzles a warp's result and stores it.
///
/// # Safety
/// As [`warps`], of a wave that has warp `w`.
#[inline(always)]
pub unsafe fn give<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    view: &ImageView,
    wave: &ImageRows,
    w: usize,
    mask: u16,
    color: &[S::F; 4],
) {
    let color = ordered::<S, T>(f, color);
    if view.identity && T::has_all(f) {
        for k in 0..4 {
            // SAFETY: the caller's wave.
            unsafe { store(s, wave.out[k], w, s.bits(color[k]), mask) };
        }
        return;
    }
    // A copy: what is asked for by a number has to lie in memory, and the others need not.
    let copy = color;
    for k in 0..4 {
        // SAFETY: the caller's wave.
        unsafe { store(s, wave.out[k], w, swizzled::<S, T>(s, f, view, &copy, k), mask) };
    }
}

/// # Safety
/// As [`warps`]; view and sampler are such that [`filters_plainly`].
#[inline(always)]
unsafe fn simple_warps<S: Simd, T: Texels, const MODE: u8>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    wave: &ImageRows,
) {
    let mut near = Close::first(f, 0);
    let wanted = wanted(view, wave);
    let border = edge_color::<T>(f, view, sampler);
    let mut tiles = if T::ANY { Tiles::of(f) } else { None };
    let decodes = f.decodes();
    let mut all = Warps::of(wave);
    let mut at = [const { MaybeUninit::<Corners>::uninit() }; TOGETHER];
    let mut found = [const { MaybeUninit::<Found>::uninit() }; TOGETHER];
    let mut squares = [const { Square::NONE }; TOGETHER];
    loop {
        let several = all.several();
        if several.is_empty() {
            return;
        }
        for (&(w, _), at) in several.iter().zip(&mut at) {
            // SAFETY: the caller's wave.
            let st = unsafe { coordinates(s, wave, w) };
            let at = corners::<S, MODE>(s, f, sampler, 0, &st, at);
            if T::floats(f) {
                at.settle(s);
            }
        }
        // Warps that there is no tile for.
        let mut apart = 0u32;
        // Those of them whose lanes make texels of their own blocks.
        let mut loose = 0u32;
        let mut places = [Place::default(); TOGETHER];
        if let Some(tiles) = &mut tiles {
            let mut list = [std::ptr::null::<Corners>(); TOGETHER];
            for (i, &(_, mask)) in several.iter().enumerate() {
                // SAFETY: those of so many warps have been written.
                let at = unsafe { at[i].assume_init_mut() };
                if mask != 0xFFFF {
                    at.keep_to(s, mask);
                }
                list[i] = at;
            }
            // SAFETY: corners of the view's only level, all of which have been written.
            apart = unsafe { tiles.lay(f, 0, &list[..several.len()], &mut places) };
            if decodes {
                (loose, apart) = (apart, 0);
            }
        }
        for (i, &(w, mask)) in several.iter().enumerate() {
            if T::ANY && apart >> i & 1 != 0 {
                continue;
            }
            // SAFETY: those of so many warps have been written.
            let at = unsafe { at[i].assume_init_ref() };
            if T::ANY {
                let mut from = f;
                if let Some(tiles) = &mut tiles {
                    tiles.put(0, places[i]);
                    from = &tiles.view;
                }
                // SAFETY: these are corners of the view, or of a tile.
                unsafe {
                    if loose >> i & 1 != 0 {
                        squares[i].decode(s, f, at);
                    } else {
                        squares[i].read(s, from, 0, at, &mut near);
                    }
                }
            } else if T::WORD {
                // SAFETY: these are corners of the view.
                unsafe { found::find::<S, T>(s, f, 0, at, &mut near, &mut found[i]) };
            }
            if T::ANY {
                if let Some(holes) = wave.holes
                    && let Some(tiles) = &tiles
                    && let Some(home) = tiles.home(places[i])
                    && !at.edged
                {
                    holes.put(w, if resident(home) { 0 } else { mask });
                }
                // SAFETY: the caller's wave.
                unsafe { holes(s, f, view, sampler, false, wave, (w, mask)) };
            }
            if let Some(lines) = wave.lines {
                // One function for all formats, but for those whose code is short.
                let near = if at.edged {
                    None
                } else if T::WORD {
                    touch::near_corners(s, f, &at.texels(s), mask)
                } else {
                    // SAFETY: picked for this machine.
                    unsafe { (f.runs.near)(f, &at.i, mask) }
                };
                let n = match near {
                    Some(n) => n,
                    None => {
                        // SAFETY: the caller's wave; picked for this machine.
                        unsafe {
                            let own = Operands::of(s, f, false, wave, w);
                            (f.runs.lines)(f, view, sampler, &own.args(f, false, wave), mask)
                        }
                    }
                };
                lines.set(lines.get() + n as u64);
            }
        }
        for (i, &(w, mask)) in several.iter().enumerate() {
            if T::ANY {
                if apart >> i & 1 != 0 {
                    // SAFETY: the caller's wave.
                    unsafe {
                        count(s, f, view, sampler, false, wave, (w, mask), T::ANY);
                        one_warp(s, f, view, sampler, false, wave, (w, mask));
                    }
                }
                continue;
            }
            let mut color = [s.fsplat(0.0); 4];
            // SAFETY: as above; these are corners of the view; the caller's wave.
            unsafe {
                let at = at[i].assume_init_ref();
                if T::WORD {
                    let found = found[i].assume_init_ref();
                    found::filter::<S, T>(s, f, found, at, MODE == ANY, &border, &mut color);
                } else {
                    apart::apart::<S, T>(s, f, 0, at, &mut near, wanted, &border, &mut color);
                }
                give::<S, T>(s, f, view, wave, w, mask, &color);
            }
        }
        if T::ANY {
            // SAFETY: what is not apart has been read; the caller's wave.
            unsafe {
                let of = Squares { warps: &several, apart, squares: &squares, at: &at, depth: None };
                filtered::<S, false>(s, f, view, wave, &of, &border)
            };
        }
    }
}

/// The nearest texels of the only level.
///
/// # Safety
/// As [`warps`].
#[inline(always)]
unsafe fn nearest_warps<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    wave: &ImageRows,
) {
    for (w, mask) in Warps::of(wave) {
        // SAFETY: the caller's wave.
        let st = unsafe {
            count(s, f, view, sampler, false, wave, (w, mask), T::ANY);
            coordinates(s, wave, w)
        };
        let [x, y] = place::nearest_texels(s, f, sampler, &st, &mut s.mask(0));
        let row = s.iadd(s.imul(y, s.isplat(f.row_pitch[0])), s.isplat(f.start[0]));
        let at = s.iadd(T::unit(f).after(s, x), row);
        let mut color = [st[0]; 4];
        // SAFETY: texels of the level; the caller's wave.
        unsafe {
            T::load(s, f, f.base, at, &mut color);
            T::finish(s, f, &mut color);
            give::<S, T>(s, f, view, wave, w, mask, &color);
        }
    }
}

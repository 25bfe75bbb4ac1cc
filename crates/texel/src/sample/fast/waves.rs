//! Samples of a wave: its warps one after the other, by the shortest way that view and sampler allow.

use super::corners::{ANY, Corners, EDGE, REPEAT, corners};
use super::found::{self, Found};
use super::place::{self, bordered};
use super::texels::Texels;
use super::window::Close;
use super::{
    Fast, apart, compare, filters_levels, filters_plainly, layer_of, lod, mix, ordered, plain, swizzled,
    touch,
};
use crate::sample::args::SampleArgs;
use crate::sample::sampler::{Sampler, Wrap};
use crate::sample::view::ImageView;
use crate::vector;
use simd::rows::ImageRows;
use simd::{Level as Machine, Simd, ops};
use std::mem::MaybeUninit;

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
fn dims(f: &Fast) -> usize {
    if f.cube { 3 } else { 2 }
}

/// One warp's operands of a wave's.
struct Operands {
    coords: [[u32; 16]; 4],
    lod: [u32; 16],
    dref: [u32; 16],
}

impl Operands {
    /// # Safety
    /// The rows are those of a wave that has warp `w`.
    #[inline(always)]
    unsafe fn of<S: Simd>(s: S, f: &Fast, arrayed: bool, wave: &ImageRows, w: usize) -> Operands {
        let mut own = Operands { coords: [[0; 16]; 4], lod: [0; 16], dref: [0; 16] };
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
        own
    }
    #[inline(always)]
    fn args(&self, f: &Fast, arrayed: bool, wave: &ImageRows) -> SampleArgs<'_> {
        SampleArgs {
            dims: dims(f),
            arrayed,
            coords: &self.coords[..dims(f) + arrayed as usize],
            lod: if wave.lod.is_some() { Some(&self.lod) } else { None },
            dref: if wave.dref.is_some() { Some(&self.dref) } else { None },
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
    let layer = if arrayed && s.level() != Machine::Portable { one_layer(s, f, view, wave) } else { None };
    let own = layer.map(|layer| f.of_layer(layer));
    let (f, arrayed) = match &own {
        Some(own) => (own, false),
        None => (f, arrayed),
    };
    let mut live = wave.live;
    let compared = wave.dref.zip(sampler.compare);
    if let Some(with) = compared
        && s.level() != Machine::Portable
        && compare::suits::<T>(f, sampler, arrayed)
    {
        // SAFETY: the caller's wave.
        live = unsafe { compare::warps::<S, T>(s, f, view, sampler, wave, with) };
    }
    // Portable code of these is large, and for where nothing else runs.
    let alone = s.level() != Machine::Portable && compared.is_none();
    if alone && filters_plainly(f, sampler, arrayed) {
        // SAFETY: the caller's wave.
        return unsafe {
            match (sampler.wrap[0], sampler.wrap[1]) {
                (Wrap::Edge, Wrap::Edge) if T::WORD => simple_warps::<S, T, EDGE>(s, f, view, sampler, wave),
                _ if !T::WORD => simple_warps::<S, T, ANY>(s, f, view, sampler, wave),
                (Wrap::Repeat, Wrap::Repeat) if f.pow2 == [true; 2] => {
                    simple_warps::<S, T, REPEAT>(s, f, view, sampler, wave)
                }
                _ => simple_warps::<S, T, ANY>(s, f, view, sampler, wave),
            }
        };
    }
    if alone && T::WORD && filters_levels(f, sampler, arrayed) {
        // SAFETY: the caller's wave.
        live = unsafe { level_warps::<S, T>(s, f, view, sampler, wave) };
    }
    if alone && plain(f, sampler) && !sampler.mag_linear && !arrayed && !f.cube && !bordered(f, sampler) {
        // SAFETY: the caller's wave.
        return unsafe { nearest_warps::<S, T>(s, f, view, sampler, wave) };
    }
    for (w, mask) in (Warps { live, exec: wave.exec }) {
        // SAFETY: the caller's wave.
        unsafe {
            count(s, f, view, sampler, arrayed, wave, (w, mask));
            one_warp(s, f, view, sampler, arrayed, wave, (w, mask));
        }
    }
}

/// Counts the lines of a warp, if they are to be counted.
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
) {
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
unsafe fn one_warp<S: Simd>(
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
unsafe fn store<S: Simd>(s: S, out: *mut u8, w: usize, v: S::I, mask: u16) {
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
fn wanted(view: &ImageView, wave: &ImageRows) -> u8 {
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
    if view.identity && T::N == 4 {
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
        unsafe { store(s, wave.out[k], w, swizzled::<S, T>(s, view, &copy, k), mask) };
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
    let mut all = Warps::of(wave);
    let mut several = [(0, 0); TOGETHER];
    let mut at = [const { MaybeUninit::<Corners>::uninit() }; TOGETHER];
    let mut found = [const { MaybeUninit::<Found>::uninit() }; TOGETHER];
    loop {
        // A warp's steps wait for each other: the first ones are done for several warps, one after the other.
        let mut n = 0;
        while n < TOGETHER
            && let Some((w, mask)) = all.next()
        {
            // SAFETY: the caller's wave.
            let st = unsafe { coordinates(s, wave, w) };
            corners::<S, MODE>(s, f, sampler, 0, &st, &mut at[n]);
            several[n] = (w, mask);
            n += 1;
        }
        if n == 0 {
            return;
        }
        for (i, &(w, mask)) in several[..n].iter().enumerate() {
            // SAFETY: the first n have been written.
            let at = unsafe { at[i].assume_init_ref() };
            if T::WORD {
                // SAFETY: these are corners of the view.
                unsafe { found::find::<S, T>(s, f, 0, at, &mut near, &mut found[i]) };
            }
            if let Some(lines) = wave.lines {
                // One function for all formats, but for those whose code is short.
                let near = if T::WORD {
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
        for (i, &(w, mask)) in several[..n].iter().enumerate() {
            let mut color = [s.fsplat(0.0); 4];
            // SAFETY: the first n have been written; these are corners of the view; the caller's wave.
            unsafe {
                let at = at[i].assume_init_ref();
                if T::WORD {
                    found::filter::<S, T>(s, found[i].assume_init_ref(), at, &mut color);
                } else {
                    apart::apart::<S, T>(s, f, at, &mut near, wanted, &mut color);
                }
                give::<S, T>(s, f, view, wave, w, mask, &color);
            }
        }
    }
}

/// A warp of [`level_warps`]: the first of its levels, and how many there are.
#[derive(Clone, Copy)]
struct Levels {
    w: usize,
    mask: u16,
    /// Lanes of the first level, where others have the next one.
    same: u16,
    apart: bool,
    fine: usize,
    levels: usize,
}

/// Levels of warps' lanes.
struct Details {
    fine: [[u32; 16]; TOGETHER],
    weight: [[u32; 16]; TOGETHER],
    blended: [u16; TOGETHER],
}

/// Lane `k` of each quad.
#[inline(always)]
fn of_quads<S: Simd>(s: S, v: S::F, k: usize) -> S::F {
    match k {
        0 => s.fquad::<0>(v),
        1 => s.fquad::<1>(v),
        2 => s.fquad::<2>(v),
        _ => s.fquad::<3>(v),
    }
}

impl Details {
    /// Finds those of some warps of a wave.
    ///
    /// # Safety
    /// As [`warps`], of a wave that has the warps.
    #[inline(always)]
    unsafe fn find<S: Simd>(
        &mut self,
        s: S,
        f: &Fast,
        view: &ImageView,
        sampler: &Sampler,
        wave: &ImageRows,
        several: &[(usize, u16)],
    ) {
        let none = s.fsplat(0.0);
        if let Some(lod) = wave.lod {
            for (i, &(w, _)) in several.iter().enumerate() {
                // SAFETY: the caller's wave.
                let lod = unsafe { s.from_bits(s.iloadu(lod.warp(w))) };
                let l = lod::plain(s, f, view, sampler, lod);
                vector::store(s, &mut self.fine[i], l.fine);
                vector::store(s, &mut self.weight[i], s.bits(l.weight));
                self.blended[i] = s.mbits(l.blended);
            }
            return;
        }
        // A quad's lanes have one level: four warps' are found together, a lane of each quad for each.
        for (first, some) in several.chunks(4).enumerate() {
            let mut longer = none;
            for (k, &(w, _)) in some.iter().enumerate() {
                // SAFETY: the caller's wave.
                let st = unsafe { coordinates(s, wave, w) };
                longer = s.fsel(s.mask(0x1111 << k), lod::plain_longer(s, f, &st), longer);
            }
            let l = lod::plain(s, f, view, sampler, lod::round(s, longer));
            let (fine, blended) = (s.from_bits(l.fine), s.mbits(l.blended));
            for k in 0..some.len() {
                let i = (4 * first + k) % TOGETHER;
                vector::store(s, &mut self.fine[i], s.bits(of_quads(s, fine, k)));
                vector::store(s, &mut self.weight[i], s.bits(of_quads(s, l.weight, k)));
                self.blended[i] = (blended >> k & 0x1111) * 0xF;
            }
        }
    }
}

/// Where all lanes of a warp have the same levels, or the next finer ones, as most warps do, these are filtered as if there were no others.
/// Warps that are left (a bit each).
///
/// # Safety
/// As [`warps`]; view and sampler are such that [`filters_levels`].
#[inline(always)]
unsafe fn level_warps<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    wave: &ImageRows,
) -> u32 {
    let mut left = 0;
    let mut near = [None; 3];
    let mut all = Warps::of(wave);
    let none = s.fsplat(0.0);
    let mut several = [(0, 0); TOGETHER];
    let mut details = Details { fine: [[0; 16]; _], weight: [[0; 16]; _], blended: [0; _] };
    let mut of = [const { MaybeUninit::<Levels>::uninit() }; TOGETHER];
    let mut at = [const { [const { MaybeUninit::<Corners>::uninit() }; 3] }; TOGETHER];
    let mut found = [const { [const { MaybeUninit::<Found>::uninit() }; 3] }; TOGETHER];
    loop {
        // As in [`simple_warps`]: levels of detail are a long chain of steps, and so is where texels lie.
        let mut asked = 0;
        while asked < TOGETHER
            && let Some(next) = all.next()
        {
            several[asked] = next;
            asked += 1;
        }
        if asked == 0 {
            return left;
        }
        // SAFETY: the caller's wave.
        unsafe { details.find(s, f, view, sampler, wave, &several[..asked]) };
        let mut n = 0;
        for (i, &(w, mask)) in several[..asked].iter().enumerate() {
            let all_fine = vector::load(s, &details.fine[i]);
            let mut fine = details.fine[i][mask.trailing_zeros() as usize & 15];
            let mut same = s.mbits(s.ieq(all_fine, s.isplat(fine)));
            let apart = same & mask != mask;
            if apart {
                // The finer ones' is the first.
                let finer = s.mbits(s.ieq(all_fine, s.isplat(fine.wrapping_sub(1))));
                let coarser = s.mbits(s.ieq(all_fine, s.isplat(fine + 1)));
                let first = if finer & mask != 0 { finer } else { same };
                let next = if finer & mask != 0 { same } else { coarser };
                if (first | next) & mask != mask {
                    left |= 1 << w;
                    continue;
                }
                fine -= (finer & mask != 0) as u32;
                same = first;
            }
            // What lanes that are not active ask for is no work, and may lie beyond the last level.
            let blended = details.blended[i] & mask;
            let weight = s.from_bits(vector::load(s, &details.weight[i]));
            // (No later one's: n is i at most.)
            vector::store(s, &mut details.weight[n], s.bits(s.fsel(s.mask(blended), weight, none)));
            let last = if apart { blended & !same } else { blended };
            let levels = 1 + apart as usize + (last != 0) as usize;
            of[n].write(Levels { w, mask, same, apart, fine: fine as usize, levels });
            n += 1;
        }
        for (of, at) in of[..n].iter().zip(&mut at) {
            // SAFETY: the first n have been written; the caller's wave.
            let (of, st) = unsafe { (of.assume_init_ref(), coordinates(s, wave, of.assume_init_ref().w)) };
            for k in 0..of.levels {
                corners::<S, ANY>(s, f, sampler, of.fine + k, &st, &mut at[k % 3]);
            }
        }
        for i in 0..n {
            // SAFETY: the first n have been written.
            let of = unsafe { of[i].assume_init_ref() };
            for k in 0..of.levels {
                let level = of.fine + k;
                // (Of levels with few columns nothing is learnt.)
                let first = Close::first(f, level);
                let mut asked = if first == Close::No { first } else { near[k].unwrap_or(first) };
                // SAFETY: these are corners of the level, and have been written.
                unsafe {
                    let at = at[i][k % 3].assume_init_ref();
                    found::find::<S, T>(s, f, level, at, &mut asked, &mut found[i][k % 3]);
                }
                near[k] = if first == Close::No { near[k] } else { Some(asked) };
            }
        }
        for i in 0..n {
            // SAFETY: the first n have been written.
            let &Levels { w, mask, same, apart, levels, .. } = unsafe { of[i].assume_init_ref() };
            // SAFETY: the caller's wave.
            unsafe { count(s, f, view, sampler, false, wave, (w, mask)) };
            let weight = s.from_bits(vector::load(s, &details.weight[i]));
            let same = s.mask(same);
            let mut color = [none; 4];
            for k in 0..levels {
                let mut t = [none; 4];
                // SAFETY: so many levels' have been found.
                let (at, found) =
                    unsafe { (at[i][k % 3].assume_init_ref(), found[i][k % 3].assume_init_ref()) };
                found::filter::<S, T>(s, found, at, &mut t);
                // Of lanes apart the finer ones' second level is the others' first one.
                let weight = match k {
                    1 if apart => s.fsel(same, weight, none),
                    2 => s.fsel(same, none, weight),
                    _ => weight,
                };
                for c in 0..T::N {
                    // All are finite, and a weight of 0 leaves what there is.
                    let mixed = if k == 0 { t[c] } else { mix(s, color[c], t[c], weight) };
                    color[c] = if k == 1 && apart { s.fsel(same, mixed, t[c]) } else { mixed };
                }
            }
            // SAFETY: the caller's wave.
            unsafe { give::<S, T>(s, f, view, wave, w, mask, &color) };
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
            count(s, f, view, sampler, false, wave, (w, mask));
            coordinates(s, wave, w)
        };
        let at = place::nearest_offsets(s, f, sampler, &st, T::SHIFT);
        let mut color = [st[0]; 4];
        // SAFETY: texels of the level; the caller's wave.
        unsafe {
            T::load(s, f.base, at, &mut color);
            T::finish(s, &mut color);
            give::<S, T>(s, f, view, wave, w, mask, &color);
        }
    }
}

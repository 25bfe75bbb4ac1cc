//! Mipmapped samples of a wave: the levels of several warps first, then where texels lie on them, what these are, and the filter.

use super::corners::{ANY, Corners, corners};
use super::found::{self, Found};
use super::texels::Texels;
use super::tile::{Place, Tiles};
use super::warp::{edge_color, mix, tapped};
use super::waves::{Operands, TOGETHER, Warps, coordinates, count, give, wanted};
use super::window::Close;
use super::{Fast, apart, lod};
use crate::memory::sparse::resident;
use crate::sample::sampler::Sampler;
use crate::sample::view::ImageView;
use crate::vector;
use simd::rows::ImageRows;
use simd::{Simd, ops};
use std::mem::MaybeUninit;

/// A warp: the first of its levels, and how many there are.
#[derive(Clone, Copy, Default)]
struct Levels {
    w: usize,
    mask: u16,
    /// Lanes of the first level, where others have the next one.
    same: u16,
    apart: bool,
    fine: usize,
    levels: usize,
    /// Which of [`Details`] is its own.
    of: usize,
    /// There is no tile for one of its levels.
    left: bool,
    /// Lanes that two levels are blended for.
    blended: u16,
}

/// Levels of warps' lanes, and their taps along an axis of anisotropy.
struct Details {
    fine: [[u32; 16]; TOGETHER],
    weight: [[u32; 16]; TOGETHER],
    blended: [u16; TOGETHER],
    taps: [[u32; 16]; TOGETHER],
    axis: [[[u32; 16]; 2]; TOGETHER],
    most: [u32; TOGETHER],
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

/// The derivatives of up to four warps of a wave, by side and coordinate: a quad's lanes have the same, so that each has one for each
/// warp.
///
/// # Safety
/// As [`super::waves::warps`], of a wave that has the warps.
#[inline(always)]
unsafe fn together<S: Simd>(s: S, wave: &ImageRows, some: &[(usize, u16)]) -> [[S::F; 2]; 2] {
    let mut d = [[s.fsplat(0.0); 2]; 2];
    for (k, &(w, _)) in some.iter().enumerate() {
        // SAFETY: the caller's wave.
        let st = unsafe { coordinates(s, wave, w) };
        let own = s.mask(0x1111 << k);
        for axis in 0..2 {
            let of = lod::derivatives(s, st[axis]);
            d[0][axis] = s.fsel(own, of[0], d[0][axis]);
            d[1][axis] = s.fsel(own, of[1], d[1][axis]);
        }
    }
    d
}

/// The taps of each warp's lanes beyond one a lane, of samples by coordinates alone: as [`lod::extra`].
///
/// # Safety
/// As [`super::waves::warps`].
#[inline(always)]
pub unsafe fn extra<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    wave: &ImageRows,
    out: &mut [u32; 32],
) {
    let mut all = Warps::of(wave);
    loop {
        let several = all.several();
        if several.is_empty() {
            return;
        }
        for some in several.chunks(4) {
            // SAFETY: the caller's wave.
            let d = unsafe { together(s, wave, some) };
            let taps = ops::f_lanes(s, lod::long(s, f, view, sampler, &d).taps);
            for (k, &(w, mask)) in some.iter().enumerate() {
                let mut n = 0;
                for quad in 0..4 {
                    let lanes = (mask >> (4 * quad) & 15).count_ones();
                    n += lanes * (taps[(4 * quad + k) & 15] as u32 - 1);
                }
                out[w % 32] = n;
            }
        }
    }
}

impl Details {
    /// Keeps those of a warp of their own.
    #[inline(always)]
    fn put<S: Simd>(&mut self, s: S, i: usize, l: &lod::Lods<S>) {
        vector::store(s, &mut self.fine[i], l.fine);
        vector::store(s, &mut self.weight[i], s.bits(l.weight));
        self.blended[i] = s.mbits(l.blended);
        self.most[i] = l.most;
        if l.most > 1 {
            vector::store(s, &mut self.taps[i], s.bits(l.taps));
            for axis in 0..2 {
                vector::store(s, &mut self.axis[i][axis], s.bits(l.axis[axis]));
            }
        }
    }
    /// Finds those of some warps of a wave.
    ///
    /// # Safety
    /// As [`super::waves::warps`], of a wave that has the warps.
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
        if wave.levels.any() {
            for (i, &(w, _)) in several.iter().enumerate() {
                // SAFETY: the caller's wave.
                let own = unsafe { Operands::of(s, f, false, wave, w) };
                let l = lod::lods(s, f, view, sampler, &own.args(f, false, wave));
                self.put(s, i, &l);
            }
            return;
        }
        if let Some(lod) = wave.lod {
            for (i, &(w, _)) in several.iter().enumerate() {
                // SAFETY: the caller's wave.
                let lod = unsafe { s.from_bits(s.iloadu(lod.warp(w))) };
                self.put(s, i, &lod::plain(s, f, view, sampler, lod));
            }
            return;
        }
        let long = sampler.anisotropy > 1.0;
        for (first, some) in several.chunks(4).enumerate() {
            let mut longer = none;
            let mut d = [[none; 2]; 2];
            if long {
                // SAFETY: the caller's wave.
                d = unsafe { together(s, wave, some) };
            } else {
                for (k, &(w, _)) in some.iter().enumerate() {
                    // SAFETY: the caller's wave.
                    let st = unsafe { coordinates(s, wave, w) };
                    longer = s.fsel(s.mask(0x1111 << k), lod::plain_longer(s, f, &st), longer);
                }
            }
            let l = if long {
                lod::long(s, f, view, sampler, &d)
            } else {
                lod::plain(s, f, view, sampler, lod::round(s, longer))
            };
            let (fine, blended) = (s.from_bits(l.fine), s.mbits(l.blended));
            for k in 0..some.len() {
                let i = (4 * first + k) % TOGETHER;
                vector::store(s, &mut self.fine[i], s.bits(of_quads(s, fine, k)));
                vector::store(s, &mut self.weight[i], s.bits(of_quads(s, l.weight, k)));
                self.blended[i] = (blended >> k & 0x1111) * 0xF;
                if long {
                    let taps = of_quads(s, l.taps, k);
                    self.most[i] = if l.most > 1 { lod::most(s, taps) } else { 1 };
                    vector::store(s, &mut self.taps[i], s.bits(taps));
                    for axis in 0..2 {
                        vector::store(s, &mut self.axis[i][axis], s.bits(of_quads(s, l.axis[axis], k)));
                    }
                }
            }
        }
    }
}

/// Tiles for the warps' levels: one for all that read a level, if that is not too large. The warps that there are none for, a bit each.
///
/// # Safety
/// All corners have been written, and are of the view that the tiles are of.
#[inline(always)]
unsafe fn lay<S: Simd>(
    s: S,
    f: &Fast,
    tiles: &mut Tiles,
    of: &[Levels],
    at: &mut [[MaybeUninit<Corners>; 3]; TOGETHER],
    places: &mut [[Place; 3]; TOGETHER],
) -> u32 {
    tiles.clear();
    let (mut apart, mut done) = (0, [[false; 3]; TOGETHER]);
    for (of, at) in of.iter().zip(&mut *at) {
        for at in at.iter_mut().take(if of.mask == 0xFFFF { 0 } else { of.levels }) {
            // SAFETY: the caller's.
            unsafe { at.assume_init_mut() }.keep_to(s, of.mask);
        }
    }
    for i in 0..of.len() {
        for k in 0..of[i].levels.min(3) {
            if done[i][k] {
                continue;
            }
            let level = of[i].fine + k;
            let mut list = [std::ptr::null(); TOGETHER];
            let mut n = 0;
            for (j, other) in of.iter().enumerate() {
                let same = level.wrapping_sub(other.fine);
                if same < other.levels {
                    list[n] = at[j][same % 3].as_ptr();
                    done[j][same % 3] = true;
                    n += 1;
                }
            }
            // SAFETY: the caller's corners.
            let all = unsafe { tiles.cover(f, level, &list[..n]) };
            for (j, other) in of.iter().enumerate() {
                let same = level.wrapping_sub(other.fine);
                if same < other.levels {
                    let mut own = all;
                    if own.is_none() {
                        // SAFETY: as above.
                        own = unsafe { tiles.cover(f, level, &[at[j][same % 3].as_ptr()]) };
                    }
                    match own {
                        Some(place) => places[j][same % 3] = place,
                        None => apart |= 1 << j,
                    }
                }
            }
        }
    }
    apart
}

/// Where all lanes of a warp have the same levels, or the next finer ones, as most warps do, these are filtered as if there were no others.
/// Warps that are left (a bit each).
///
/// # Safety
/// As [`super::waves::warps`]; view and sampler are such that [`super::filters_inside`].
#[inline(always)]
pub unsafe fn warps<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    wave: &ImageRows,
) -> u32 {
    let mut left = 0;
    let mut near = [None; 3];
    let mut close = [Close::Eight; 3];
    let wanted = wanted(view, wave);
    let border = edge_color::<T>(f, view, sampler);
    let mut tiles = if T::ANY { Tiles::of(f) } else { None };
    let mut all = Warps::of(wave);
    let none = s.fsplat(0.0);
    let mut details = Details {
        fine: [[0; 16]; _],
        weight: [[0; 16]; _],
        blended: [0; _],
        taps: [[0; 16]; _],
        axis: [[[0; 16]; _]; _],
        most: [1; _],
    };
    let mut of = [Levels::default(); TOGETHER];
    let mut at = [const { [const { MaybeUninit::<Corners>::uninit() }; 3] }; TOGETHER];
    let mut found = [const { [const { MaybeUninit::<Found>::uninit() }; 3] }; TOGETHER];
    let mut sums = [[[0u32; 16]; 4]; TOGETHER];
    loop {
        let several = all.several();
        if several.is_empty() {
            return left;
        }
        // SAFETY: the caller's wave.
        unsafe { details.find(s, f, view, sampler, wave, &several) };
        let mut n = 0;
        let mut most = 1;
        for (i, &(w, mask)) in several.iter().enumerate() {
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
            vector::store(s, &mut details.weight[i], s.bits(s.fsel(s.mask(blended), weight, none)));
            let last = if apart { blended & !same } else { blended };
            let levels = 1 + apart as usize + (last != 0) as usize;
            of[n] = Levels { w, mask, same, apart, fine: fine as usize, levels, of: i, left: false, blended };
            most = if details.most[i] > most { details.most[i] } else { most };
            n += 1;
        }
        // Of each warp: whether there is no knowing by tiles which lanes' texels have no memory, and else those.
        let mut unknown = [(false, 0); TOGETHER];
        for tap in 0..most {
            // Those that take as many; without a tile for one tap, a warp is left as a whole.
            let mut kept = 0;
            for i in 0..n {
                if !of[i].left && details.most[of[i].of % TOGETHER] > tap {
                    of[kept] = of[i];
                    kept += 1;
                }
            }
            n = kept;
            for (of, at) in of[..n].iter().zip(&mut at) {
                // SAFETY: the caller's wave.
                let mut st = unsafe { coordinates(s, wave, of.w) };
                let own = of.of % TOGETHER;
                if details.most[own] > 1 {
                    let taps = s.from_bits(vector::load(s, &details.taps[own]));
                    let axis = &details.axis[own];
                    let axis =
                        [s.from_bits(vector::load(s, &axis[0])), s.from_bits(vector::load(s, &axis[1]))];
                    st = tapped(s, &st, &axis, taps, tap);
                }
                for k in 0..of.levels {
                    let at = corners::<S, ANY>(s, f, sampler, of.fine + k, &st, &mut at[k % 3]);
                    if T::floats(f) {
                        at.settle(s);
                    }
                }
            }
            let mut places = [[Place::default(); 3]; TOGETHER];
            let mut apart = 0;
            if let Some(tiles) = &mut tiles {
                // SAFETY: corners of the levels, and have been written.
                apart = unsafe { lay(s, f, tiles, &of[..n], &mut at, &mut places) };
            }
            for i in 0..n {
                if T::ANY && apart >> i & 1 != 0 {
                    of[i].left = true;
                    left |= 1 << of[i].w;
                    continue;
                }
                for k in 0..if T::WORD { of[i].levels } else { 0 } {
                    let level = of[i].fine + k;
                    // (Of levels with few columns nothing is learnt.)
                    let first = Close::first(f, level);
                    let mut asked = if first == Close::No { first } else { near[k].unwrap_or(first) };
                    let mut from = f;
                    if let Some(tiles) = &mut tiles {
                        tiles.put(level, places[i][k % 3]);
                        from = &tiles.view;
                    }
                    // SAFETY: these are corners of the level, and have been written.
                    unsafe {
                        let at = at[i][k % 3].assume_init_ref();
                        found::find::<S, T>(s, from, level, at, &mut asked, &mut found[i][k % 3]);
                    }
                    near[k] = if first == Close::No { near[k] } else { Some(asked) };
                }
            }
            for (i, &Levels { w, mask, same, apart, fine, levels, of: own, left, blended }) in
                of[..n].iter().enumerate()
            {
                if T::ANY && left {
                    continue;
                }
                let own = own % TOGETHER;
                let weight = s.from_bits(vector::load(s, &details.weight[own]));
                let first = same;
                let same = s.mask(same);
                if T::ANY
                    && let (Some(holes), Some(tiles)) = (wave.holes, &tiles)
                {
                    // Lanes that read each of the levels, at this tap.
                    let on = if apart { first & mask } else { mask };
                    let mut lanes = mask;
                    if details.most[own] > 1 {
                        let taps = s.from_bits(vector::load(s, &details.taps[own]));
                        lanes &= s.mbits(s.flt(s.fsplat(tap as f32), taps));
                    }
                    let read = [on, mask & !on | blended & on, blended & !on];
                    for k in 0..levels {
                        // SAFETY: corners of so many levels have been written.
                        let edged = unsafe { at[i][k % 3].assume_init_ref().edged };
                        match tiles.home(places[i][k % 3]) {
                            Some(home) if !edged => {
                                let missing = if resident(home) { 0 } else { read[k % 3] & lanes };
                                unknown[own].1 |= missing;
                            }
                            _ => unknown[own].0 = true,
                        }
                    }
                    if tap + 1 == details.most[own] && !unknown[own].0 {
                        holes.put(w, unknown[own].1);
                    }
                }
                let mut color = [none; 4];
                for k in 0..levels {
                    let mut t = [none; 4];
                    // SAFETY: so many levels' have been found; these are their corners.
                    unsafe {
                        let at = at[i][k % 3].assume_init_ref();
                        if T::WORD {
                            found::filter::<S, T>(
                                s,
                                f,
                                found[i][k % 3].assume_init_ref(),
                                at,
                                true,
                                &border,
                                &mut t,
                            );
                        } else {
                            let near = &mut close[k % 3];
                            let mut from = f;
                            if let Some(tiles) = &mut tiles {
                                tiles.put(fine + k, places[i][k % 3]);
                                from = &tiles.view;
                            }
                            apart::apart::<S, T>(s, from, fine + k, at, near, wanted, &border, &mut t);
                        }
                    }
                    // Of lanes apart the finer ones' second level is the others' first one.
                    let weight = match k {
                        1 if apart => s.fsel(same, weight, none),
                        2 => s.fsel(same, none, weight),
                        _ => weight,
                    };
                    for c in 0..T::N {
                        // Of finite ones a weight of 0 leaves what there is.
                        let mut mixed = t[c];
                        if k != 0 {
                            mixed = mix(s, color[c], t[c], weight);
                            if T::floats(f) {
                                mixed = s.fsel(s.feq(weight, none), color[c], mixed);
                            }
                        }
                        color[c] = if k == 1 && apart { s.fsel(same, mixed, t[c]) } else { mixed };
                    }
                }
                if details.most[own] > 1 {
                    // As many of the lanes' taps count as they have; sums begin with zeros.
                    let taps = s.from_bits(vector::load(s, &details.taps[own]));
                    let counts = s.flt(s.fsplat(tap as f32), taps);
                    for c in 0..T::N {
                        let sum = if tap == 0 { none } else { s.from_bits(vector::load(s, &sums[own][c])) };
                        let sum = s.fsel(counts, s.fadd(sum, color[c]), sum);
                        vector::store(s, &mut sums[own][c], s.bits(sum));
                        color[c] = s.fdiv(sum, taps);
                    }
                    if tap + 1 < details.most[own] {
                        continue;
                    }
                }
                // SAFETY: the caller's wave.
                unsafe {
                    count(s, f, view, sampler, false, wave, (w, mask), T::ANY);
                    give::<S, T>(s, f, view, wave, w, mask, &color);
                }
            }
        }
    }
}

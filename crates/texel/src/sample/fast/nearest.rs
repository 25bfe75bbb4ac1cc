//! Nearest texels of waves, of any format and any view but 3D ones (those are [`super::solid`]'s): of a view's only level.

use super::Fast;
use super::corners::Corners;
use super::place::{self, bordered, levels, nearest_at, scaled};
use super::points::{Points, Source, Words};
use super::tile::{Place, Tiles};
use super::warp::placed;
use super::waves::{Operands, Several, TOGETHER, Warps, coordinates, count, one_warp, store};
use crate::sample::blend::border;
use crate::sample::sampler::Sampler;
use crate::sample::view::ImageView;
use crate::vector;
use simd::Simd;
use simd::rows::ImageRows;

/// Views that are flat, without layers; those among them, without a border, of compressed blocks that are decoded whole; others.
pub const FLAT: u8 = 0;
pub const BLOCKS: u8 = 1;
pub const OTHER: u8 = 2;

/// Which of these.
#[inline(always)]
pub fn way(f: &Fast, sampler: &Sampler, arrayed: bool) -> u8 {
    match f.blocks {
        _ if arrayed || f.cube => OTHER,
        None => FLAT,
        Some(_) if f.decodes() => FLAT,
        Some(_) if bordered(f, sampler) => OTHER,
        Some(_) => BLOCKS,
    }
}

/// # Safety
/// Rows and results are those of a wave; view and sampler have one level and one filter, and go that way; the view has a plan.
#[inline(always)]
pub unsafe fn warps<S: Simd, const WAY: u8>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    arrayed: bool,
    wave: &ImageRows,
) {
    let bordered = bordered(f, sampler);
    let flat = WAY == FLAT;
    let mut tiles = if WAY == BLOCKS { Tiles::of(f) } else { None };
    let mut first = levels(s, f, s.isplat(0), s.isplat(0));
    first.count(s, f);
    let edge = if bordered { edges(f, view, &border(view, sampler)) } else { [0; 4] };
    let mut points = [Points::NONE; 2];
    let mut all = Warps::of(wave);
    loop {
        let mut several = all.several();
        if several.is_empty() {
            return;
        }
        if wave.lines.is_some() || wave.holes.is_some() {
            for &one in several.iter() {
                // SAFETY: the caller's wave.
                unsafe { count(s, f, view, sampler, arrayed, wave, one, true) };
            }
        }
        for of in &mut points {
            of.outside = [0; 4];
        }
        if let Some(tiles) = &mut tiles {
            // SAFETY: the caller's wave.
            unsafe { tiled(s, f, view, sampler, wave, tiles, &mut several, &mut points) };
        } else {
            for (i, &(w, _)) in several.iter().enumerate() {
                let to = &mut points[i / 4 % 2];
                if flat {
                    // SAFETY: the caller's wave.
                    let st = unsafe { coordinates(s, wave, w) };
                    let mut outside = s.mask(0);
                    let xy = place::nearest_texels(s, f, sampler, &st, &mut outside);
                    to.outside[i % 4] = if bordered { s.mbits(outside) } else { 0 };
                    let at = s.iadd(f.reads.column(s, f, &first, xy[0]), f.reads.row(s, f, &first, xy[1]));
                    vector::store(s, &mut to.at[i % 4], at);
                    continue;
                }
                // SAFETY: the caller's wave.
                let own = unsafe { Operands::of(s, f, arrayed, wave, w) };
                let p = placed(s, f, view, sampler, &own.args(f, arrayed, wave));
                let mut l = levels(s, f, s.isplat(0), p.layer);
                l.count(s, f);
                let mut outside = s.mask(0);
                let u = scaled(s, sampler, &p, &l);
                let [x, y] = nearest_at(s, f, sampler, &l, &u, f.reads, &mut outside);
                vector::store(s, &mut to.at[i % 4], s.iadd(x, y));
                to.outside[i % 4] = if bordered { s.mbits(outside) } else { 0 };
            }
        }
        let from = tiles.as_ref().map_or(f, |t| &t.view);
        // SAFETY: texels of the level, or of tiles with all that the warps read; the caller's wave.
        unsafe { (f.any.points)(from, view, wave, &several, &points, &edge) };
    }
}

/// The results of a border's texel.
#[inline(always)]
pub fn edges(f: &Fast, view: &ImageView, border: &[u32; 4]) -> [u32; 4] {
    let mut to = [0; 4];
    for k in 0..4 {
        to[k] = match Source::of(f, view, k) {
            Source::Channel(c) => border[c],
            Source::Same(v) => v,
        };
    }
    to
}

/// Reads texels, one of each lane of some warps, four warps at a time, and stores what results they are. `edge`: the results of lanes
/// outside. A function of its own ([`super::any::Functions::points`]): it is called for eight warps at once.
///
/// # Safety
/// As [`Points::read`]; `several` are warps of the wave.
#[inline(always)]
pub unsafe fn give<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    wave: &ImageRows,
    several: &[(usize, u16)],
    points: &[Points; 2],
    edge: &[u32; 4],
) {
    for half in 0..several.len().div_ceil(4).min(2) {
        let (of, points) = (&several[4 * half..], &points[half]);
        let mut words = Words::NONE;
        // SAFETY: the caller's.
        unsafe { points.read(s, f, of.len(), &mut words) };
        for k in 0..4 {
            if wave.out[k].is_null() {
                continue;
            }
            let v = match Source::of(f, view, k) {
                // SAFETY: they have been read.
                Source::Channel(c) => unsafe { points.channel(s, f, &words, c, edge[k]) },
                Source::Same(of) => {
                    let mut v = [s.isplat(of); 4];
                    if of != edge[k] && points.outside != [0; 4] {
                        points.mark(s, edge[k], &mut v);
                    }
                    v
                }
            };
            for n in 0..4 {
                if n < of.len() {
                    // SAFETY: the caller's wave.
                    unsafe { store(s, wave.out[k], of[n].0, v[n], of[n].1) };
                }
            }
        }
    }
}

/// Puts the warps' texels into tiles, and says where they are; warps without room for that are done, and out of the list.
///
/// # Safety
/// As [`warps`]; the tiles are the view's.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
unsafe fn tiled<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    wave: &ImageRows,
    tiles: &mut Tiles,
    several: &mut Several,
    points: &mut [Points; 2],
) {
    let mut at = [Corners::NONE; TOGETHER];
    let mut list = [std::ptr::null::<Corners>(); TOGETHER];
    for (i, &(w, mask)) in several.iter().enumerate() {
        // SAFETY: the caller's wave.
        let st = unsafe { coordinates(s, wave, w) };
        let texel = place::nearest_texels(s, f, sampler, &st, &mut s.mask(0));
        let at = &mut at[i % TOGETHER];
        for k in 0..2 {
            vector::store(s, &mut at.i[k][0], texel[k]);
            vector::store(s, &mut at.i[k][1], texel[k]);
        }
        if mask != 0xFFFF {
            at.keep_to(s, mask);
        }
        list[i % TOGETHER] = at;
    }
    let (n, mut kept) = (several.len(), 0);
    let mut places = [Place::default(); TOGETHER];
    // SAFETY: texels of the view's only level.
    let apart = unsafe { tiles.lay(f, 0, &list[..n], &mut places) };
    for i in 0..n {
        let (w, mask) = several[i];
        if apart >> i & 1 != 0 {
            // SAFETY: the caller's wave.
            unsafe { one_warp(s, f, view, sampler, false, wave, (w, mask)) };
            continue;
        }
        tiles.put(0, places[i % TOGETHER]);
        let v = &tiles.view;
        let row = s.imul(vector::load(s, &at[i].i[1][0]), s.isplat(v.row_pitch[0]));
        let row = s.iadd(row, s.isplat(v.start[0]));
        let from = s.iadd(v.reads.after(s, vector::load(s, &at[i].i[0][0])), row);
        vector::store(s, &mut points[kept / 4 % 2].at[kept % 4], from);
        several.put(kept, (w, mask));
        kept += 1;
    }
    several.keep(kept);
}

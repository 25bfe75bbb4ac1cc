//! Gathers: one component of the four texels around each place, not filtered. Of waves, and of a warp.

use super::any::Any;
use super::corners::{ANY, Corners, corners};
use super::place::{Levels, bordered, compared, levels, scaled, square, wrapped};
use super::points::Source;
use super::square::Square;
use super::texels::{HIGH, LOW, Texels};
use super::tile::{Place, Tiles};
use super::warp::placed;
use super::waves::{TOGETHER, Warps, coordinates, store as give};
use super::window::Close;
use super::{Fast, cube};
use crate::format::NumClass;
use crate::sample::args::{SampleArgs, Warp4};
use crate::sample::blend::border;
use crate::sample::sampler::Sampler;
use crate::sample::view::ImageView;
use crate::vector::{load, store};
use simd::Simd;
use simd::rows::ImageRows;
use std::mem::MaybeUninit;

/// Where a gather's results lie in a square, row by row.
const ORDER: [usize; 4] = [2, 3, 1, 0];

/// Gathers of a wave from the first level of a view without layers, nor faces; warps that are left.
///
/// # Safety
/// Rows and results are those of a wave; the view is a 2D one with a plan; coordinates are normalised.
#[inline(always)]
pub unsafe fn warps<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    component: u32,
    wave: &ImageRows,
) -> u32 {
    let mut left = 0;
    let edge = if bordered(f, sampler) { border(view, sampler) } else { [0; 4] };
    let compares = wave.dref.zip(sampler.compare);
    let source =
        if wave.dref.is_some() { Source::Channel(0) } else { Source::of(f, view, component as usize & 3) };
    let clamps = view.format.class == NumClass::Unorm;
    let mut tiles = Tiles::of(f);
    let decodes = tiles.is_some() && f.decodes();
    let (mut near, mut texels) = (Close::first(f, 0), Square::NONE);
    let mut all = Warps::of(wave);
    let c = match source {
        Source::Channel(c) => c,
        Source::Same(v) => {
            for (w, mask) in all {
                for to in wave.out {
                    // SAFETY: the caller's wave.
                    unsafe { give(s, to, w, s.isplat(v), mask) };
                }
            }
            return 0;
        }
    };
    let mut at = [const { MaybeUninit::<Corners>::uninit() }; TOGETHER];
    loop {
        let several = all.several();
        if several.is_empty() {
            return left;
        }
        let mut list = [std::ptr::null::<Corners>(); TOGETHER];
        for (i, &(w, mask)) in several.iter().enumerate() {
            // SAFETY: the caller's wave.
            let st = unsafe { coordinates(s, wave, w) };
            let at = corners::<S, ANY>(s, f, sampler, 0, &st, &mut at[i % TOGETHER]);
            if tiles.is_some() && mask != 0xFFFF {
                at.keep_to(s, mask);
            }
            list[i % TOGETHER] = at;
        }
        let (mut apart, mut places) = (0, [Place::default(); TOGETHER]);
        if let Some(tiles) = &mut tiles {
            // SAFETY: corners of the view's first level.
            apart = unsafe { tiles.lay(f, 0, &list[..several.len()], &mut places) };
        }
        for (i, &(w, mask)) in several.iter().enumerate() {
            let loose = apart >> i & 1 != 0;
            if loose && !decodes {
                left |= 1 << w;
                continue;
            }
            // SAFETY: written above.
            let at = unsafe { at[i % TOGETHER].assume_init_ref() };
            let mut from = f;
            if let Some(tiles) = &mut tiles {
                tiles.put(0, places[i % TOGETHER]);
                from = &tiles.view;
            }
            // SAFETY: corners of the level, or of a tile with all that is read of it.
            unsafe {
                if loose {
                    texels.decode(s, f, at);
                } else {
                    texels.read(s, from, 0, at, &mut near);
                }
            }
            let mut outside = [0; 4];
            if at.edged {
                for n in 0..4 {
                    outside[n] = s.mbits(at.of_border(s, n & 1, n >> 1));
                }
            }
            // SAFETY: they have been read.
            let t = unsafe { texels.channel(s, &f.exact, c) };
            let mut v = [s.bits(t[0]), s.bits(t[1]), s.bits(t[2]), s.bits(t[3])];
            for n in 0..if at.edged { 4 } else { 0 } {
                v[n] = s.isel(s.mask(outside[n]), s.isplat(edge[c]), v[n]);
            }
            if let Some((d, op)) = compares {
                // SAFETY: the caller's wave.
                let mut d = s.from_bits(unsafe { s.iloadu(d.warp(w)) });
                if clamps {
                    d = s.fmin_raw(s.fmax_raw(d, s.fsplat(0.0)), s.fsplat(1.0));
                }
                for n in 0..4 {
                    v[n] = s.bits(compared(s, op, d, s.from_bits(v[n])));
                }
            }
            for (to, n) in wave.out.into_iter().zip(ORDER) {
                // SAFETY: the caller's wave.
                unsafe { give(s, to, w, v[n], mask) };
            }
        }
    }
}

/// The four texels of each lane in their order, of the view's first level; false where lanes are at a cube's corners.
///
/// # Safety
/// The operands are those of a view of this kind.
#[inline(always)]
pub unsafe fn gather<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
    out: &mut Warp4,
) -> bool {
    let four = args.offsets.filter(|o| o.len() >= 8);
    let p = placed(
        s,
        f,
        view,
        sampler,
        &SampleArgs { offsets: args.offsets.filter(|_| four.is_none()), ..*args },
    );
    let zero = s.isplat(0);
    let mut l = levels(s, f, zero, p.layer);
    l.count(s, f);
    let u = scaled(s, sampler, &p, &l);
    let mut at = [l.start; 4];
    let mut outside = [s.mask(0); 4];
    if cube::seamless(f, sampler) {
        let c = cube::corners(s, &l, &u);
        for n in 0..4 {
            let t = c.texel(s, &p, &l, n as u32);
            if s.many(s.mand(s.mask(mask), t.none)) {
                return false;
            }
            let row = f.reads.row(s, f, &Levels { start: t.start, ..l }, t.row);
            at[n] = s.iadd(f.reads.column(s, f, &l, t.column), row);
        }
    } else if let Some(o) = four {
        for n in 0..4 {
            let mut steps = [zero; 2];
            for k in 0..2 {
                let base = s.f_to_s_raw(s.ffloor(s.fsub(u[k], s.fsplat(0.5))));
                let i = s.iadd(base, load(s, &o[2 * n + k]));
                steps[k] = wrapped(s, sampler.wrap[k], i, l.texels[k], f.pow2[k], &mut outside[n]);
            }
            at[n] = s.iadd(f.reads.column(s, f, &l, steps[0]), f.reads.row(s, f, &l, steps[1]));
        }
    } else {
        let q = square(s, f, sampler, &l, &u, f.reads);
        for n in 0..4 {
            let [x, y] = [n & 1, n >> 1];
            at[n] = s.iadd(q.steps[0][x], q.steps[1][y]);
            outside[n] = s.mor(q.outside[0][x], q.outside[1][y]);
        }
    }
    let mut t = [[s.fsplat(0.0); 4]; 4];
    // SAFETY: columns and rows have been brought inside the level.
    unsafe { Any::<false>::load4(s, f, f.base, &at, &mut t) };
    let edge = if bordered(f, sampler) { border(view, sampler) } else { [0; 4] };
    let channel = if args.dref.is_some() { Some(0) } else { view.channel(args.component as usize & 3) };
    for n in 0..4 {
        // With offsets of their own texels are in the order that the results have.
        let from = if four.is_some() { n } else { ORDER[n] };
        let v = match channel {
            Some(c) if f.plan.has >> c & 1 != 0 => {
                let v = t[from][c];
                let v =
                    if f.plan.filters_bytes { s.fma(v, s.fsplat(HIGH), s.fmul(v, s.fsplat(LOW))) } else { v };
                let v = s.isel(outside[from], s.isplat(edge[c]), s.bits(v));
                match p.op {
                    Some(op) => s.bits(compared(s, op, p.dref, s.from_bits(v))),
                    None => v,
                }
            }
            Some(c) => s.isplat(if c == 3 { view.channels.one() } else { 0 }),
            None => s.isplat(view.constant(args.component as usize & 3)),
        };
        let v = if mask == 0xFFFF { v } else { s.isel(s.mask(mask), v, load(s, &out[n])) };
        store(s, &mut out[n], v);
    }
    true
}

//! Samples of 3D images of one level, whose slices are layers to kernels: of waves, and of a warp.

use super::Fast;
use super::any::Any;
use super::corners::{ANY, Corners, corners};
use super::nearest;
use super::place::{kept, levels, weighted, wrapped};
use super::points::Points;
use super::square::{Depth, Square, Squares, filtered};
use super::texels::Texels;
use super::tile::Tiles;
use super::warp::{floats, mix, swizzled};
use super::waves::{TOGETHER, Warps};
use super::window::Close;
use crate::sample::args::{SampleArgs, Warp4};
use crate::sample::blend::border;
use crate::sample::coords::LIMIT;
use crate::sample::sampler::{Sampler, Wrap};
use crate::sample::view::ImageView;
use crate::vector::{load, store};
use simd::rows::ImageRows;
use simd::{Simd, ops};
use std::mem::MaybeUninit;

/// An axis: texels, lanes of the border, weights, and what is kept of differences.
struct Axis<S: Simd> {
    i: [S::I; 2],
    outside: [S::M; 2],
    weight: S::F,
    kept: S::I,
}

/// Where lanes sample along axis `k`, which has `size` texels; `place`: coordinates, and offsets if there are some.
#[inline(always)]
fn along<S: Simd>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    k: usize,
    size: u32,
    (place, offset): (S::F, Option<S::F>),
) -> Axis<S> {
    let (zero, half) = (s.fsplat(0.0), s.fsplat(0.5));
    let linear = sampler.mag_linear && !f.integers;
    let mut u = if sampler.unnormalized { place } else { s.fmul(place, s.fsplat(size as f32)) };
    if let Some(o) = offset {
        u = s.fadd(u, o);
    }
    // NaN gives the lower end.
    let u = s.fmin_raw(s.fmax_raw(u, s.fsplat(-LIMIT)), s.fsplat(LIMIT));
    let base = if linear { s.ffloor(s.fsub(u, half)) } else { s.ffloor(u) };
    let first = s.f_to_s_raw(base);
    let mut i = [first, s.iadd(first, s.isplat(1))];
    let mut of = Axis { i, outside: [s.mask(0); 2], weight: zero, kept: s.isplat(!0) };
    if linear {
        of.weight = s.fsub(s.fsub(u, half), base);
        if f.floats {
            // As `filter::settle`.
            let all = s.feq(of.weight, s.fsplat(1.0));
            i[0] = s.isel(all, i[1], i[0]);
            of.weight = s.fsel(all, zero, of.weight);
            of.kept = kept(s, of.weight);
        }
    }
    for side in 0..if linear { 2 } else { 1 } {
        let (mode, n) = (sampler.wrap[k], s.isplat(size));
        of.i[side] = wrapped(s, mode, i[side], n, size.is_power_of_two(), &mut of.outside[side]);
    }
    of
}

/// Samples of a wave; warps that are left (a bit each): those whose lanes lie between different slices, or beyond the first or last one
/// with a border.
///
/// # Safety
/// Rows and results are those of a wave; `f` is the 3D view's; coordinates are normalised.
#[inline(always)]
pub unsafe fn warps<S: Simd>(s: S, f: &Fast, view: &ImageView, sampler: &Sampler, wave: &ImageRows) -> u32 {
    let size = view.levels[0].size;
    macro_rules! place {
        ($w:expr, $k:expr) => {
            // SAFETY: the wave has rows of sixteen lanes for each warp.
            s.from_bits(unsafe { s.iloadu(wave.coords[$k].warp($w)) })
        };
    }
    let mut all = Warps::of(wave);
    if !sampler.mag_linear || f.integers {
        let bordered = sampler.wrap.iter().any(|w| matches!(w, Wrap::Border));
        let edge = if bordered { nearest::edges(f, view, &border(view, sampler)) } else { [0; 4] };
        let mut l = levels(s, f, s.isplat(0), s.isplat(0));
        l.count(s, f);
        let mut points = [Points::NONE; 2];
        loop {
            let several = all.several();
            if several.is_empty() {
                return 0;
            }
            for of in &mut points {
                of.outside = [0; 4];
            }
            for (n, &(w, _)) in several.iter().enumerate() {
                let x = along(s, f, sampler, 0, size[0], (place!(w, 0), None));
                let y = along(s, f, sampler, 1, size[1], (place!(w, 1), None));
                let z = along(s, f, sampler, 2, size[2], (place!(w, 2), None));
                let to = &mut points[n / 4 % 2];
                let outside = s.mor(s.mor(x.outside[0], y.outside[0]), z.outside[0]);
                to.outside[n % 4] = if bordered { s.mbits(outside) } else { 0 };
                let at = s.iadd(f.reads.column(s, f, &l, x.i[0]), f.reads.row(s, f, &l, y.i[0]));
                store(s, &mut to.at[n % 4], s.iadd(at, s.imul(z.i[0], l.layer_pitch)));
            }
            // SAFETY: all have been brought inside the level; the caller's wave.
            unsafe { (f.any.points)(f, view, wave, &several, &points, &edge) };
        }
    }
    let mut left = 0;
    let edge = border(view, sampler);
    let edge = [0, 1, 2, 3].map(|k| f32::from_bits(edge[k]));
    let mut slice = f.clone();
    let mut tiles = Tiles::of(f);
    let mut near = Close::first(f, 0);
    let mut squares = [const { Square::NONE }; TOGETHER];
    let mut at = [const { MaybeUninit::<Corners>::uninit() }; TOGETHER];
    let mut depth = [Depth::NONE; TOGETHER];
    loop {
        let several = all.several();
        if several.is_empty() {
            return left;
        }
        for warps in several.chunks(TOGETHER / 2) {
            let mut apart = 0;
            for (n, &(w, mask)) in warps.iter().enumerate() {
                let z = along(s, f, sampler, 2, size[2], (place!(w, 2), None));
                let lane = mask.trailing_zeros() as usize & 15;
                let (above, below) = (ops::i_lanes(s, z.i[0])[lane], ops::i_lanes(s, z.i[1])[lane]);
                let same = s.mand(s.ieq(z.i[0], s.isplat(above)), s.ieq(z.i[1], s.isplat(below)));
                let beyond = s.mor(z.outside[0], z.outside[1]);
                if s.mbits(s.mand(same, s.mnot(beyond))) & mask != mask {
                    apart |= 1 << n;
                    continue;
                }
                store(s, &mut depth[n].weight, s.bits(z.weight));
                store(s, &mut depth[n].kept, z.kept);
                let st = [place!(w, 0), place!(w, 1)];
                let at = corners::<S, ANY>(s, f, sampler, 0, &st, &mut at[n]);
                if f.floats {
                    at.settle(s);
                }
                if let Some(tiles) = &mut tiles {
                    tiles.clear();
                    if mask != 0xFFFF {
                        at.keep_to(s, mask);
                    }
                }
                for (side, of) in [above, below].into_iter().enumerate() {
                    slice.base = f.base.wrapping_add(of as usize * f.layer_pitch[0] as usize);
                    let mut from = &slice;
                    if let Some(tiles) = &mut tiles {
                        // SAFETY: corners of the slice.
                        let Some(place) = (unsafe { tiles.cover(&slice, 0, &[at as *const Corners]) }) else {
                            apart |= 1 << n;
                            break;
                        };
                        tiles.put(0, place);
                        from = &tiles.view;
                    }
                    // SAFETY: corners of the slice, or of a tile with all that is read of it.
                    unsafe { squares[2 * n + side].read(s, from, 0, at, &mut near) };
                }
            }
            for (n, &(w, _)) in warps.iter().enumerate() {
                left |= (apart >> n & 1) << w;
            }
            // SAFETY: what is not apart has been read; the caller's wave.
            unsafe {
                let of = Squares { warps, apart, squares: &squares, at: &at, depth: Some(&depth) };
                filtered::<S, true>(s, f, view, wave, &of, &edge);
            }
        }
    }
}

/// A warp, as `wide.rs` has it.
///
/// # Safety
/// The operands are those of the 3D view that `f` is of.
#[inline(always)]
pub unsafe fn sample<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
    out: &mut Warp4,
) {
    let zero = s.fsplat(0.0);
    let linear = sampler.mag_linear && !f.integers;
    let size = view.levels[0].size;
    let mut l = levels(s, f, s.isplat(0), s.isplat(0));
    l.count(s, f);
    // Offsets along each axis, lanes of the border, weights and what is kept of differences.
    let mut steps = [[l.start; 2]; 3];
    let mut outside = [[s.mask(0); 2]; 3];
    let mut weight = [zero; 3];
    let mut keep = [s.isplat(!0); 3];
    for k in 0..3 {
        let mut offset = None;
        if let Some(o) = args.offsets {
            offset = Some(s.s_to_f(load(s, &o[k])));
        }
        let of = along(s, f, sampler, k, size[k], (floats(s, &args.coords[k]), offset));
        (outside[k], weight[k], keep[k]) = (of.outside, of.weight, of.kept);
        for side in 0..if linear { 2 } else { 1 } {
            steps[k][side] = match k {
                0 => f.reads.column(s, f, &l, of.i[side]),
                1 => f.reads.row(s, f, &l, of.i[side]),
                _ => s.imul(of.i[side], l.layer_pitch),
            };
        }
    }
    let bordered = sampler.wrap.iter().any(|w| matches!(w, Wrap::Border));
    let edge = if bordered { border(view, sampler) } else { [0; 4] };
    let mut color = [zero; 4];
    for z in 0..if linear { 2 } else { 1 } {
        let mut at = [l.start; 4];
        for n in 0..4 {
            at[n] = s.iadd(s.iadd(steps[0][n & 1], steps[1][n >> 1]), steps[2][z]);
        }
        let mut t = [[zero; 4]; 4];
        // SAFETY: all have been brought inside the level.
        unsafe {
            if linear {
                Any::<false>::load4(s, f, f.base, &at, &mut t);
            } else {
                Any::<false>::load(s, f, f.base, at[0], &mut t[0]);
            }
        }
        for c in 0..4 {
            if f.plan.has >> c & 1 == 0 {
                continue;
            }
            let mut of = [t[0][c], t[1][c], t[2][c], t[3][c]];
            if bordered {
                for n in 0..if linear { 4 } else { 1 } {
                    let out = s.mor(s.mor(outside[0][n & 1], outside[1][n >> 1]), outside[2][z]);
                    of[n] = s.from_bits(s.isel(out, s.isplat(edge[c]), s.bits(of[n])));
                }
            }
            if !linear {
                color[c] = of[0];
                continue;
            }
            macro_rules! between {
                ($k:expr, $a:expr, $b:expr) => {
                    if f.floats {
                        weighted::<S, Any<false>>(s, $a, $b, weight[$k], keep[$k])
                    } else {
                        mix(s, $a, $b, weight[$k])
                    }
                };
            }
            let plane = between!(1, between!(0, of[0], of[1]), between!(0, of[2], of[3]));
            color[c] = if z == 0 { plane } else { between!(2, color[c], plane) };
        }
    }
    for k in 0..4 {
        let v = swizzled::<S, Any<false>>(s, f, view, &color, k);
        let v = if mask == 0xFFFF { v } else { s.isel(s.mask(mask), v, load(s, &out[k])) };
        store(s, &mut out[k], v);
    }
}

//! A sample of one warp, from its place to its results, and the steps that other kernels share with it.

use super::super::args::{SampleArgs, Warp4};
use super::super::blend::border;
use super::super::sampler::Sampler;
use super::super::view::ImageView;
use super::Fast;
use super::corners::{ANY, corners};
use super::cube::Direction;
use super::found;
use super::lod::{Lods, lods};
use super::place::{Place, at_level, bordered};
use super::texels::Texels;
use super::window::Close;
use crate::format::NumClass;
use crate::vector::{load, store};
use simd::Simd;
use std::mem::MaybeUninit;

/// `f32` bits of a warp's operand.
#[inline(always)]
pub(super) fn floats<S: Simd>(s: S, a: &[u32; 16]) -> S::F {
    s.from_bits(load(s, a))
}

/// One level and one filter.
#[inline(always)]
pub(super) fn plain(f: &Fast, sampler: &Sampler) -> bool {
    f.count == 1 && sampler.mag_linear == sampler.min_linear && sampler.anisotropy <= 1.0
}

/// [`plain`], and what [`corners`] takes but for offsets.
#[inline(always)]
pub(super) fn filters_plainly(f: &Fast, sampler: &Sampler, arrayed: bool) -> bool {
    f.count == 1 && sampler.anisotropy <= 1.0 && filters_inside(f, sampler, arrayed)
}

/// As [`filters_plainly`], of any level.
#[inline(always)]
pub(super) fn filters_inside(f: &Fast, sampler: &Sampler, arrayed: bool) -> bool {
    sampler.mag_linear
        && sampler.min_linear
        && !arrayed
        && !sampler.unnormalized
        && (f.planned || !bordered(f, sampler))
        && !f.cube
}

/// The layers of so many that coordinates name; NaN gives the first.
#[inline(always)]
pub(super) fn layer_of<S: Simd>(s: S, a: S::F, layers: u32) -> S::I {
    let a = s.fmax_raw(s.fround_even(a), s.fsplat(0.0));
    s.f_to_s_raw(s.fmin_raw(a, s.fsplat((layers - 1) as f32)))
}

/// Where a warp's lanes sample.
#[inline(always)]
pub(super) fn placed<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
) -> Place<S> {
    let zero = s.fsplat(0.0);
    let mut place = Place::<S> {
        st: [floats(s, &args.coords[0]), floats(s, &args.coords[1])],
        offset: [zero; 2],
        layer: s.isplat(0),
        first: s.isplat(0),
        face: s.isplat(0),
        last: s.isplat(view.layers - 1),
        shift: s.isplat(0),
        dref: zero,
        border: if bordered(f, sampler) { border(view, sampler) } else { [0; 4] },
        op: None,
    };
    if f.swapped {
        place.border.swap(0, 2);
    }
    if let Some(o) = args.offsets {
        for k in 0..2 {
            place.offset[k] = s.s_to_f(load(s, &o[k]));
        }
    }
    if args.arrayed {
        let (at, layers) = if f.cube { (3, (view.layers / 6).max(1)) } else { (2, view.layers) };
        place.layer = layer_of(s, floats(s, &args.coords[at]), layers);
    }
    if f.cube {
        let d = Direction::new(s, args);
        place.st = d.project(s);
        place.face = d.face;
        place.first = s.imul(place.layer, s.isplat(6));
        place.layer = s.umin(s.iadd(place.first, d.face), place.last);
    }
    if let Some(shift) = args.shift {
        place.shift = load(s, shift.0);
    }
    if let (Some(d), Some(op)) = (args.dref, sampler.compare) {
        place.op = Some(op);
        place.dref = floats(s, d);
        if view.format.class == NumClass::Unorm {
            place.dref = s.fmin_raw(s.fmax_raw(place.dref, zero), s.fsplat(1.0));
        }
    }
    place
}

/// The border's channels as texels are filtered.
#[inline(always)]
pub(super) fn edge_color<T: Texels>(f: &Fast, view: &ImageView, sampler: &Sampler) -> [f32; 4] {
    let mut to = [0.0; 4];
    if bordered(f, sampler) {
        let mut of = border(view, sampler);
        if f.swapped {
            of.swap(0, 2);
        }
        for k in 0..4 {
            let v = f32::from_bits(of[k]);
            to[k] = if T::BYTES || f.plan.filters_bytes { v * 255.0 } else { v };
        }
    }
    to
}

/// # Safety
/// Shifts are those of an [`super::super::Alike`], and have 32 bits with the view's own bytes.
#[inline(always)]
pub(super) unsafe fn body<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
    out: &mut Warp4,
) {
    let zero = s.fsplat(0.0);
    let st = [floats(s, &args.coords[0]), floats(s, &args.coords[1])];
    let mut color = [zero; 4];
    let plain = plain(f, sampler);
    let unmoved = args.offsets.is_none() && args.shift.is_none();
    if T::WORD && unmoved && filters_plainly(f, sampler, args.arrayed) {
        let (mut at, mut found) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        let at = corners::<S, ANY>(s, f, sampler, 0, &st, &mut at);
        if T::floats(f) {
            at.settle(s);
        }
        let border = edge_color::<T>(f, view, sampler);
        // SAFETY: these are corners of the view.
        let found = unsafe { found::find::<S, T>(s, f, 0, at, &mut Close::No, &mut found) };
        found::filter::<S, T>(s, f, found, at, true, &border, &mut color);
        return finish::<S, T>(s, f, view, &color, mask, out);
    }
    let mut place = placed(s, f, view, sampler, args);
    if plain {
        // SAFETY: the caller has the shifts right; there are no others than of views alike.
        unsafe {
            at_level::<S, T>(
                s,
                f,
                sampler,
                &place,
                s.isplat(0),
                sampler.mag_linear,
                !sampler.mag_linear,
                s.mask(0),
                &mut color,
            )
        };
    } else {
        let l = lods(s, f, view, sampler, args);
        // SAFETY: as above.
        unsafe { several::<S, T>(s, f, sampler, &mut place, &l, &mut color) };
    }
    finish::<S, T>(s, f, view, &color, mask, out);
}

/// Result `k`.
#[inline(always)]
pub(super) fn swizzled<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    view: &ImageView,
    color: &[S::F; 4],
    k: usize,
) -> S::I {
    match view.channel(k) {
        Some(c) => {
            if T::has(f, c) {
                s.bits(color[c])
            } else {
                s.isplat(if c == 3 { view.channels.one() } else { 0 })
            }
        }
        None => s.isplat(view.constant(k)),
    }
}

/// Channels in the format's order.
#[inline(always)]
pub(super) fn ordered<S: Simd, T: Texels>(f: &Fast, color: &[S::F; 4]) -> [S::F; 4] {
    let [a, b, c, d] = *color;
    if T::N == 4 && f.swapped { [c, b, a, d] } else { [a, b, c, d] }
}

/// Swizzles, and stores the active lanes.
#[inline(always)]
pub(super) fn finish<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    view: &ImageView,
    color: &[S::F; 4],
    mask: u16,
    out: &mut Warp4,
) {
    let color = &ordered::<S, T>(f, color);
    if view.identity && T::has_all(f) && mask == 0xffff {
        for k in 0..4 {
            store(s, &mut out[k], s.bits(color[k]));
        }
        return;
    }
    let m = s.mask(mask);
    for k in 0..4 {
        let v = swizzled::<S, T>(s, f, view, color, k);
        let v = if mask == 0xffff { v } else { s.isel(m, v, load(s, &out[k])) };
        store(s, &mut out[k], v);
    }
}

/// Whether some lanes filter linearly, whether some take the nearest texel, and those.
#[inline(always)]
pub(super) fn filters<S: Simd>(s: S, sampler: &Sampler, l: &Lods<S>) -> (bool, bool, S::M) {
    let nearest = if sampler.mag_linear { s.mnot(l.magnified) } else { l.magnified };
    if sampler.mag_linear == sampler.min_linear {
        return (sampler.mag_linear, !sampler.mag_linear, nearest);
    }
    let magnified = s.mbits(l.magnified);
    let linear = if sampler.mag_linear { magnified } else { !magnified };
    (linear != 0, linear != 0xffff, nearest)
}

/// The place of tap `tap` of several. The taps of a lane that has fewer lie somewhere; they do not count.
#[inline(always)]
pub(super) fn tapped<S: Simd>(s: S, st: &[S::F; 2], axis: &[S::F; 2], taps: S::F, tap: u32) -> [S::F; 2] {
    let t = s.fdiv(s.fsplat((tap + 1) as f32), s.fadd(taps, s.fsplat(1.0)));
    let t = s.fsub(t, s.fsplat(0.5));
    [s.fadd(st[0], s.fmul(axis[0], t)), s.fadd(st[1], s.fmul(axis[1], t))]
}

/// All taps and both levels of each.
///
/// # Safety
/// As [`at_level`].
#[inline(always)]
pub(super) unsafe fn several<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    sampler: &Sampler,
    place: &mut Place<S>,
    l: &Lods<S>,
    color: &mut [S::F; 4],
) {
    let zero = s.fsplat(0.0);
    let (any_linear, any_nearest, nearest) = filters(s, sampler, l);
    let passes = if s.many(l.blended) { 2 } else { 1 };
    let st = place.st;
    for tap in 0..l.most {
        if l.most > 1 {
            place.st = tapped(s, &st, &l.axis, l.taps, tap);
        }
        let mut r = [zero; 4];
        for pass in 0..passes {
            let level = if pass == 0 { l.fine } else { l.coarse };
            let mut t = [zero; 4];
            // SAFETY: as the caller says of the shifts.
            unsafe {
                at_level::<S, T>(s, f, sampler, place, level, any_linear, any_nearest, nearest, &mut t)
            };
            for k in 0..T::N {
                r[k] = if pass == 0 { t[k] } else { s.fsel(l.blended, mix(s, r[k], t[k], l.weight), r[k]) };
            }
        }
        if l.most == 1 {
            *color = r;
            return;
        }
        let counts = s.flt(s.fsplat(tap as f32), l.taps);
        for k in 0..T::N {
            color[k] = s.fsel(counts, s.fadd(color[k], r[k]), color[k]);
        }
    }
    for c in color.iter_mut().take(T::N) {
        *c = s.fdiv(*c, l.taps);
    }
}

/// As the general path's of finite numbers, or of weights other than 0: a product and a sum, each rounded.
#[inline(always)]
pub(super) fn mix<S: Simd>(s: S, a: S::F, b: S::F, w: S::F) -> S::F {
    s.fadd(a, s.fmul(s.fsub(b, a), w))
}

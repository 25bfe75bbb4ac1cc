//! Filtered samples and gathers, any format and view type, one lane after another.

use super::args::{SampleArgs, Warp4, few, lanes};
use super::blend::{border, mix};
use super::coords::{cube_edge, face, floor, layer, limit, wrap};
use super::fast::{self, scale};
use super::lines::Touched;
use super::lod;
use super::sampler::{Reduction, Sampler, compare};
use super::view::{ImageView, Level};
use crate::format::{ChannelClass, NumClass};

fn f(v: u32) -> f32 {
    f32::from_bits(v)
}

/// What stays the same for all texels of one lane.
pub(super) struct Lane<'a> {
    view: &'a ImageView,
    sampler: &'a Sampler,
    /// Reference of the comparison.
    dref: Option<f32>,
    /// Layer, without the face of a cube.
    layer: u32,
    border: [u32; 4],
    /// Texel offset.
    offset: [i32; 3],
    /// Where texels are reported that are read.
    touched: Option<&'a Touched>,
}

/// Coordinates within a layer: normalised (or not, as the sampler says); the face of a cube.
#[derive(Clone, Copy)]
pub(super) struct Place {
    st: [f32; 3],
    face: u32,
}

impl<'a> Lane<'a> {
    pub(super) fn new(
        view: &'a ImageView,
        sampler: &'a Sampler,
        args: &SampleArgs,
        border: [u32; 4],
        lane: usize,
        touched: Option<&'a Touched>,
    ) -> (Lane<'a>, Place) {
        let c = |k: usize| args.coords.get(k).map_or(0.0, |c| f(c[lane]));
        let a = if args.arrayed { c(args.dims) } else { 0.0 };
        let mut place = Place { st: [c(0), 0.0, 0.0], face: 0 };
        for k in 1..args.dims.min(3) {
            place.st[k] = c(k);
        }
        let mut count = view.layers;
        if view.is_cube {
            let face = face(place.st);
            let [s, t] = face.project(place.st);
            place = Place { st: [s, t, 0.0], face: face.index };
            count = (view.layers / 6).max(1);
        }
        let layer = layer(a, count);
        let mut offset = [0; 3];
        if let Some(o) = args.offsets.filter(|o| o.len() <= 4) {
            for (k, v) in o.iter().take(view.dims).enumerate() {
                offset[k] = v[lane] as i32;
            }
        }
        let dref = args.dref.map(|d| f(d[lane])).map(|d| match view.format.class {
            NumClass::Unorm => d.clamp(0.0, 1.0),
            _ => d,
        });
        (Lane { view, sampler, dref, layer, border, offset, touched }, place)
    }

    /// Compares the texel's depth with the reference, if there is one.
    #[inline]
    fn compared(&self, t: [u32; 4]) -> [u32; 4] {
        match (self.dref, self.sampler.compare) {
            (Some(d), Some(op)) => [(compare(op, d, f(t[0])) as u32 as f32).to_bits(), t[1], t[2], t[3]],
            _ => t,
        }
    }

    /// # Safety
    /// The texel exists.
    unsafe fn read(&self, l: &Level, at: [u32; 4]) -> [u32; 4] {
        if let Some(t) = self.touched {
            // Nobody wants the value then.
            // SAFETY: the caller knows that the texel exists.
            unsafe { t.texel(self.view, l, at, 0) };
            return [0; 4];
        }
        let [x, y, z, layer] = at;
        // SAFETY: the caller knows that the texel exists.
        unsafe { self.view.read(l, x, y, z, layer, 0) }
    }

    /// A texel by integer coordinates, wrapped; `None` for the corner of a cube, which three faces share.
    fn texel(&self, l: &Level, i: [i32; 3], face: u32) -> Option<[u32; 4]> {
        let v = self.view;
        let t = if v.is_cube && self.sampler.seamless {
            let (g, x, y) = cube_edge(face, i[0], i[1], l.size[0])?;
            let layer = (self.layer * 6 + g).min(v.layers - 1);
            // SAFETY: wrapped into the level; the layer was clamped.
            unsafe { self.read(l, [x.min(l.size[0] - 1), y.min(l.size[1] - 1), 0, layer]) }
        } else {
            let w = &self.sampler.wrap;
            let y = if v.dims > 1 { wrap(w[1], i[1], l.size[1]) } else { Some(0) };
            let z = if v.dims > 2 { wrap(w[2], i[2], l.size[2]) } else { Some(0) };
            let layer = if v.is_cube { (self.layer * 6 + face).min(v.layers - 1) } else { self.layer };
            match (wrap(w[0], i[0], l.size[0]), y, z) {
                // SAFETY: wrapped into the level; the layer was clamped.
                (Some(x), Some(y), Some(z)) => unsafe { self.read(l, [x, y, z, layer]) },
                _ => self.border,
            }
        };
        Some(self.compared(t))
    }

    /// Unnormalised coordinates on a level.
    #[inline]
    fn scaled(&self, l: &Level, p: Place) -> [f32; 3] {
        if self.sampler.unnormalized {
            return [0, 1, 2].map(|k| limit(p.st[k] + self.offset[k] as f32));
        }
        [0, 1, 2].map(|k| limit(p.st[k] * l.size[k] as f32 + self.offset[k] as f32))
    }

    /// The 2×2 texels around a place: (i0 j0), (i1 j0), (i0 j1), (i1 j1). A cube's corner becomes the mean of the
    /// three others ("Cube Map Edge Handling").
    fn square(&self, l: &Level, i: [i32; 3], face: u32) -> [[u32; 4]; 4] {
        let rows = if self.view.dims > 1 { 1 } else { 0 };
        // A place on a seamless face never lies more than one texel outside; offsets are not allowed on cubes.
        let i = if self.view.is_cube && self.sampler.seamless {
            let n = l.size[0] as i32;
            [i[0].clamp(-1, n - 1), i[1].clamp(-1, n - 1), 0]
        } else {
            i
        };
        let at =
            |dx: i32, dy: i32| self.texel(l, [i[0].saturating_add(dx), i[1].saturating_add(dy), i[2]], face);
        let t = [at(0, 0), at(1, 0), at(0, rows), at(1, rows)];
        let Some(corner) = t.iter().position(Option::is_none) else {
            return t.map(|t| t.unwrap_or_default());
        };
        let mut others = t.iter().flatten();
        let first = others.next().copied().unwrap_or_default();
        let mut sum = first;
        if self.view.channels == ChannelClass::Float {
            let mut n = 1.0;
            let mut acc = first.map(f);
            for o in others {
                n += 1.0;
                acc.iter_mut().zip(o).for_each(|(a, v)| *a += f(*v));
            }
            sum = acc.map(|v| (v / n).to_bits());
        }
        let mut t = t.map(|t| t.unwrap_or_default());
        t[corner] = sum;
        t
    }

    /// One level, filtered.
    fn level(&self, l: &Level, p: Place, linear: bool) -> [u32; 4] {
        let uvw = self.scaled(l, p);
        if !linear || self.view.channels != ChannelClass::Float {
            let mut i = uvw.map(floor);
            if self.view.is_cube && self.sampler.seamless {
                i = [0, 1, 2].map(|k| i[k].clamp(0, l.size[k] as i32 - 1));
            }
            return self.texel(l, i, p.face).unwrap_or_default();
        }
        let base = uvw.map(|u| (u - 0.5).floor());
        let mut w = [0, 1, 2].map(|k| uvw[k] - 0.5 - base[k]);
        let i = base.map(|b| b as i32);
        let mut texels = [[0u32; 4]; 8];
        texels[..4].copy_from_slice(&self.square(l, i, p.face));
        let deep = self.view.dims > 2;
        if deep {
            texels[4..].copy_from_slice(&self.square(l, [i[0], i[1], i[2].saturating_add(1)], p.face));
        }
        if self.view.floats || self.sampler.reduction != Reduction::Average {
            settle(&mut texels, &mut w);
        }
        let alpha = w[0];
        let beta = if self.view.dims > 1 { w[1] } else { 0.0 };
        let gamma = if deep { w[2] } else { 0.0 };
        let bytes = self.view.bytes;
        match self.sampler.reduction {
            Reduction::Average => {
                let channel = |k: usize| {
                    let v = |n: usize| if bytes { f(texels[n][k]) * 255.0 } else { f(texels[n][k]) };
                    let plane = |n: usize| {
                        let top = mix(v(n), v(n + 1), alpha);
                        if self.view.dims > 1 { mix(top, mix(v(n + 2), v(n + 3), alpha), beta) } else { top }
                    };
                    if deep { mix(plane(0), plane(4), gamma) } else { plane(0) }
                };
                std::array::from_fn(|k| if bytes { scale(channel(k)) } else { channel(k) }.to_bits())
            }
            reduction => {
                let used = (0..if deep { 8 } else { 4 }).filter(|n| {
                    (n & 1 == 0 || alpha > 0.0) && (n & 2 == 0 || beta > 0.0) && (n & 4 == 0 || gamma > 0.0)
                });
                used.map(|n| texels[n]).reduce(|a, b| reduce(reduction, a, b)).unwrap_or_default()
            }
        }
    }

    /// All levels λ names, filtered.
    fn sample(&self, lambda: f32, p: Place) -> [u32; 4] {
        let linear = if lambda <= 0.0 { self.sampler.mag_linear } else { self.sampler.min_linear };
        let (fine, coarse, weight) = lod::levels(self.view, self.sampler, lambda);
        let a = self.level(&self.view.levels[fine], p, linear);
        if weight == 0.0 || fine == coarse || self.view.channels != ChannelClass::Float {
            return a;
        }
        let b = self.level(&self.view.levels[coarse], p, linear);
        match self.sampler.reduction {
            Reduction::Average => std::array::from_fn(|k| mix(f(a[k]), f(b[k]), weight).to_bits()),
            r => reduce(r, a, b),
        }
    }

    /// The four texels of a gather, in its order.
    pub(super) fn gather(
        &self,
        l: &Level,
        place: Place,
        offsets: Option<&[[u32; 16]]>,
        lane: usize,
    ) -> [[u32; 4]; 4] {
        let i = self.scaled(l, place).map(|u| floor(u - 0.5));
        match offsets.filter(|o| o.len() >= 8) {
            Some(o) => std::array::from_fn(|n| {
                let at = |k: usize| i[k].saturating_add(o[2 * n + k][lane] as i32);
                self.texel(l, [at(0), at(1), i[2]], place.face).unwrap_or_default()
            }),
            None => {
                let [t00, t10, t01, t11] = self.square(l, i, place.face);
                [t01, t11, t10, t00]
            }
        }
    }

    /// Several isotropic samples along the footprint's major axis.
    fn anisotropic(&self, lambda: f32, taps: u32, axis: [f32; 3], p: Place) -> [u32; 4] {
        if taps <= 1 || self.view.channels != ChannelClass::Float {
            return self.sample(lambda, p);
        }
        let n = taps as f32;
        let at = |i: u32| {
            let t = (i + 1) as f32 / (n + 1.0) - 0.5;
            Place { st: [0, 1, 2].map(|k| p.st[k] + axis[k] * t), face: p.face }
        };
        let samples = (0..taps).map(|i| self.sample(lambda, at(i)));
        match self.sampler.reduction {
            Reduction::Average => {
                let mut acc = [0.0; 4];
                for s in samples {
                    acc.iter_mut().zip(s).for_each(|(a, v)| *a += f(v));
                }
                acc.map(|v| (v / n).to_bits())
            }
            r => samples.reduce(|a, b| reduce(r, a, b)).unwrap_or_default(),
        }
    }
}

/// Just below the centre of the first texel a weight rounds to 1: then the texels before it have none, and add nothing.
fn settle(texels: &mut [[u32; 4]; 8], w: &mut [f32; 3]) {
    for (k, w) in w.iter_mut().enumerate().filter(|(_, w)| **w == 1.0) {
        let next = 1 << k;
        for n in (0..8).filter(|n| n & next == 0) {
            texels[n] = texels[n | next];
        }
        *w = 0.0;
    }
}

fn reduce(r: Reduction, a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
    let one = |x: f32, y: f32| if r == Reduction::Min { x.min(y) } else { x.max(y) };
    std::array::from_fn(|k| one(f(a[k]), f(b[k])).to_bits())
}

/// Samples a view for the lanes of `mask`: implicit, explicit or gradient level of detail, with or without comparison.
/// Views without memory give zeros.
pub fn sample_warp(view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16, out: &mut Warp4) {
    if view.levels.is_empty() {
        return zero(mask, out);
    }
    if !(few(mask) && is_plain(view, sampler))
        && (fast::sample(view, sampler, args, mask, out)
            || fast::sample_solid(view, sampler, args, mask, out)
            || super::wide::sample(view, sampler, args, mask, out))
    {
        return;
    }
    if let Some(y) = &view.ycbcr {
        return y.sample(view, sampler, args, mask, out);
    }
    lanes_sampled(view, sampler, args, mask, None, |lane, t| (0..4).for_each(|k| out[k][lane] = t[k]));
}

/// One level and one filter: λ decides nothing.
fn is_plain(view: &ImageView, sampler: &Sampler) -> bool {
    view.levels.len() == 1 && sampler.mag_linear == sampler.min_linear && sampler.anisotropy <= 1.0
}

/// The same lane by lane, for any format and view type; the view has a level.
pub(super) fn lanes_sampled(
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
    touched: Option<&Touched>,
    mut each: impl FnMut(usize, [u32; 4]),
) {
    let lods = (!is_plain(view, sampler)).then(|| lod::lods(view, sampler, args));
    let border = border(view, sampler);
    for lane in lanes(mask) {
        let (ctx, place) = Lane::new(view, sampler, args, border, lane, touched);
        let t = match &lods {
            None => ctx.level(&view.levels[0], place, sampler.mag_linear),
            Some(l) => ctx.anisotropic(l.lambda[lane], l.taps[lane], l.axis[lane], place),
        };
        each(lane, view.swizzled(t));
    }
}

/// "Texel Gathering": one component of the four texels linear filtering would take at the base level (or of the texels
/// at four offsets), in the order (i0 j1), (i1 j1), (i1 j0), (i0 j0).
pub fn gather_warp(view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16, out: &mut Warp4) {
    let Some(l) = view.levels.first().filter(|_| view.min_lod < 1.0) else { return zero(mask, out) };
    if !few(mask) && fast::gather(view, sampler, args, mask, out) {
        return;
    }
    let border = border(view, sampler);
    for lane in lanes(mask) {
        let (ctx, place) = Lane::new(view, sampler, args, border, lane, None);
        let texels = ctx.gather(l, place, args.offsets, lane);
        for (k, t) in texels.into_iter().enumerate() {
            let compares = args.dref.is_some();
            out[k][lane] = if compares { t[0] } else { view.swizzled_channel(t, args.component) };
        }
    }
}

fn zero(mask: u16, out: &mut Warp4) {
    for lane in lanes(mask) {
        out.iter_mut().for_each(|o| o[lane] = 0);
    }
}

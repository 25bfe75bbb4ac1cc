//! Whole-warp kernels for what `fast` does not have: 1D, 2D and 3D images of any format, nearest, linear and trilinear,
//! any wrap mode, without comparison, reduction or anisotropy. All sixteen lanes go through each step together; the
//! texels come from the format's warp loader. The bits are those of the general path (`filter.rs`), which the tests compare.
//!
//! Everything here is `inline(always)` and plain loops: closures that are not inlined would be compiled without the
//! features of the function around them.

use super::args::{SampleArgs, Warp4, lanes};
use super::blend::{border, mix};
use super::coords::{layer, limit, wrap};
use super::fast::{PORTABLE, scale};
use super::lod;
use super::sampler::{Reduction, Sampler, Wrap};
use super::view::{ImageView, Level};
use crate::format::ChannelClass;

/// Samples if view, sampler and operands are of a class that has a kernel; false if not.
#[inline]
pub(super) fn sample(view: &ImageView, s: &Sampler, args: &SampleArgs, mask: u16, out: &mut Warp4) -> bool {
    sample_on(settings::level(), view, s, args, mask, out)
}

pub(super) fn sample_on(
    level: simd::Level,
    view: &ImageView,
    s: &Sampler,
    args: &SampleArgs,
    mask: u16,
    out: &mut Warp4,
) -> bool {
    let eligible = view.wide
        && view.fast.is_none()
        && args.dims == view.dims
        && args.coords.len() >= args.dims + args.arrayed as usize
        && args.dref.is_none()
        && s.reduction == Reduction::Average
        && (s.anisotropy <= 1.0 || args.lod.is_some());
    if !eligible {
        return false;
    }
    let run = simd::form!(
        level,
        fn(view: &ImageView, s: &Sampler, args: &SampleArgs, mask: u16, out: &mut Warp4) = body;
        portable if PORTABLE
    );
    let Some(run) = run else {
        return false;
    };
    // SAFETY: the level is one of this CPU's, and the body asks for nothing.
    unsafe { run(view, s, args, mask, out) };
    true
}

/// The axis of layers.
const LAYER: usize = 3;

/// Operands of a warp, decoded.
struct Warp {
    st: [[f32; 16]; 3],
    offset: Option<[[f32; 16]; 3]>,
    /// Bytes from the view's first layer.
    layer: [u64; 16],
    border: [u32; 4],
}

#[inline(always)]
fn body<S: simd::Simd>(_: S, view: &ImageView, s: &Sampler, args: &SampleArgs, mask: u16, out: &mut Warp4) {
    let mut w = Warp { st: [[0.0; 16]; 3], offset: None, layer: [0; 16], border: border(view, s) };
    for k in 0..view.dims {
        for lane in 0..16 {
            w.st[k][lane] = f32::from_bits(args.coords[k][lane]);
        }
    }
    if let Some(o) = args.offsets {
        let mut offset = [[0.0; 16]; 3];
        for (f, o) in offset.iter_mut().zip(o).take(view.dims) {
            for lane in 0..16 {
                f[lane] = o[lane] as i32 as f32;
            }
        }
        w.offset = Some(offset);
    }
    if args.arrayed {
        let pitch = view.levels[0].layer_pitch;
        for lane in 0..16 {
            let layer = layer(f32::from_bits(args.coords[args.dims][lane]), view.layers);
            w.layer[lane] = view.along(&view.levels[0], LAYER, layer, pitch);
        }
    }
    let mut t = [[0u32; 16]; 4];
    if view.levels.len() == 1 && s.mag_linear == s.min_linear {
        one_level(view, s, &view.levels[0], &w, s.mag_linear, mask, &mut t);
    } else {
        several_levels(view, s, args, &w, mask, &mut t);
    }
    for (k, out) in out.iter_mut().enumerate() {
        let v = view.swizzled_warp(&t, k);
        for lane in 0..16 {
            out[lane] = if mask >> lane & 1 == 1 { v[lane] } else { out[lane] };
        }
    }
}

/// Lanes with the same level and filter go together, most often all of them.
#[inline(always)]
fn several_levels(view: &ImageView, s: &Sampler, args: &SampleArgs, w: &Warp, mask: u16, out: &mut Warp4) {
    let lambda = lod::lods(view, s, args).lambda;
    let (mut fine, mut coarse, mut weight, mut linear) = ([0; 16], [0; 16], [0.0; 16], [false; 16]);
    for lane in 0..16 {
        (fine[lane], coarse[lane], weight[lane]) = lod::levels(view, s, lambda[lane]);
        linear[lane] = if lambda[lane] <= 0.0 { s.mag_linear } else { s.min_linear };
    }
    by_level(view, s, w, &fine, &linear, mask, out);
    let mut blended = 0u16;
    for lane in 0..16 {
        blended |= ((weight[lane] != 0.0 && fine[lane] != coarse[lane]) as u16) << lane;
    }
    blended &= mask;
    if blended == 0 || view.channels != ChannelClass::Float {
        return;
    }
    let mut b = [[0u32; 16]; 4];
    by_level(view, s, w, &coarse, &linear, blended, &mut b);
    for k in 0..4 {
        for lane in 0..16 {
            let v = mix(f32::from_bits(out[k][lane]), f32::from_bits(b[k][lane]), weight[lane]).to_bits();
            out[k][lane] = if blended >> lane & 1 == 1 { v } else { out[k][lane] };
        }
    }
}

/// Every lane of the mask on its level, lanes of the same level and filter together.
#[inline(always)]
fn by_level(
    view: &ImageView,
    s: &Sampler,
    w: &Warp,
    level: &[usize; 16],
    linear: &[bool; 16],
    mut left: u16,
    out: &mut Warp4,
) {
    while left != 0 {
        let first = left.trailing_zeros() as usize;
        let mut group = 0u16;
        for lane in 0..16 {
            group |= ((level[lane] == level[first] && linear[lane] == linear[first]) as u16) << lane;
        }
        group &= left;
        left &= !group;
        let l = &view.levels[level[first]];
        if group == 0xffff {
            return one_level(view, s, l, w, linear[first], group, out);
        }
        let mut t = [[0u32; 16]; 4];
        one_level(view, s, l, w, linear[first], group, &mut t);
        for k in 0..4 {
            for lane in 0..16 {
                out[k][lane] = if group >> lane & 1 == 1 { t[k][lane] } else { out[k][lane] };
            }
        }
    }
}

/// Wraps a warp's coordinates along one axis; -1 is the border.
#[inline(always)]
fn wrap_warp(mode: Wrap, i: &[i32; 16], n: u32) -> [i32; 16] {
    let last = n as i32 - 1;
    let mut out = *i;
    match mode {
        Wrap::Edge => {
            for v in &mut out {
                *v = (*v).clamp(0, last);
            }
        }
        Wrap::Repeat if n.is_power_of_two() => {
            for v in &mut out {
                *v &= last;
            }
        }
        Wrap::MirrorEdge => {
            for v in &mut out {
                *v = (if *v >= 0 { *v } else { !*v }).min(last);
            }
        }
        Wrap::Border => {
            for v in &mut out {
                *v = if (*v as u32) < n { *v } else { -1 };
            }
        }
        _ => {
            for v in &mut out {
                if *v as u32 >= n {
                    *v = wrap(mode, *v, n).map_or(-1, |v| v as i32);
                }
            }
        }
    }
    out
}

/// Byte offsets along axis `k` of a level, and the lanes that hit the border (offset 0).
#[inline(always)]
fn steps(view: &ImageView, l: &Level, k: usize, i: &[i32; 16], pitch: u64) -> ([u64; 16], u16) {
    let mut at = [0u64; 16];
    let mut out = 0u16;
    if view.shape.is_some() || k < 2 && !l.split.is_none() {
        for lane in 0..16 {
            at[lane] = view.along(l, k, i[lane].max(0) as u32, pitch);
        }
    } else {
        for lane in 0..16 {
            at[lane] = i[lane].max(0) as u64 * pitch;
        }
    }
    for lane in 0..16 {
        out |= ((i[lane] < 0) as u16) << lane;
    }
    (at, out)
}

/// One texel a lane: at the sum of the offsets, or the border's colour.
#[inline(always)]
fn texels(view: &ImageView, l: &Level, w: &Warp, axes: [&([u64; 16], u16); 3], mask: u16, out: &mut Warp4) {
    let mut at = [0u64; 16];
    for lane in 0..16 {
        at[lane] = w.layer[lane] + axes[0].0[lane] + axes[1].0[lane] + axes[2].0[lane];
    }
    // SAFETY: wrapped into the level, the layer was clamped: every offset is that of a texel, of inactive lanes too.
    unsafe { (view.gather)(view.format, l.base, &at, out) };
    let outside = (axes[0].1 | axes[1].1 | axes[2].1) & mask;
    for lane in lanes(outside) {
        (0..4).for_each(|k| out[k][lane] = w.border[k]);
    }
}

#[inline(always)]
fn one_level(view: &ImageView, s: &Sampler, l: &Level, w: &Warp, linear: bool, mask: u16, out: &mut Warp4) {
    let pitch = [view.format.block_bytes as u64, l.row_pitch, l.slice_pitch];
    let none = ([0u64; 16], 0u16);
    let mut u = [[0.0f32; 16]; 3];
    for k in 0..view.dims {
        let size = l.size[k] as f32;
        for lane in 0..16 {
            u[k][lane] = if s.unnormalized { w.st[k][lane] } else { w.st[k][lane] * size };
        }
        if let Some(o) = &w.offset {
            for lane in 0..16 {
                u[k][lane] += o[k][lane];
            }
        }
        for u in &mut u[k] {
            *u = limit(*u);
        }
    }
    if !linear || view.channels != ChannelClass::Float {
        let mut axis = [none; 3];
        for k in 0..view.dims {
            let mut i = [0; 16];
            for lane in 0..16 {
                i[lane] = u[k][lane].floor() as i32;
            }
            axis[k] = steps(view, l, k, &wrap_warp(s.wrap[k], &i, l.size[k]), pitch[k]);
        }
        return texels(view, l, w, [&axis[0], &axis[1], &axis[2]], mask, out);
    }
    let mut weight = [[0.0f32; 16]; 3];
    // Of the bits of texels' differences: all, or the sign where the weight is 0, as `filter::mix` does it.
    let mut kept = [[!0u32; 16]; 3];
    let mut axes = [[none; 2]; 3];
    for k in 0..view.dims {
        let (mut i, mut j) = ([0; 16], [0; 16]);
        for lane in 0..16 {
            let base = (u[k][lane] - 0.5).floor();
            weight[k][lane] = u[k][lane] - 0.5 - base;
            i[lane] = base as i32;
            j[lane] = i[lane].saturating_add(1);
        }
        if view.floats {
            // As `filter::settle`: a weight that has rounded to 1 leaves none to the texels before.
            for lane in 0..16 {
                let all = weight[k][lane] == 1.0;
                i[lane] = if all { j[lane] } else { i[lane] };
                weight[k][lane] = if all { 0.0 } else { weight[k][lane] };
                kept[k][lane] = if weight[k][lane] == 0.0 { 1 << 31 } else { !0 };
            }
        }
        axes[k][0] = steps(view, l, k, &wrap_warp(s.wrap[k], &i, l.size[k]), pitch[k]);
        axes[k][1] = steps(view, l, k, &wrap_warp(s.wrap[k], &j, l.size[k]), pitch[k]);
    }
    // Rows, then planes, then the volume; each step blends what the one before gave.
    let planes = if view.dims > 2 { 2 } else { 1 };
    let rows = if view.dims > 1 { 2 } else { 1 };
    for z in 0..planes {
        let mut plane = [[0u32; 16]; 4];
        for y in 0..rows {
            let (mut a, mut b) = ([[0u32; 16]; 4], [[0u32; 16]; 4]);
            texels(view, l, w, [&axes[0][0], &axes[1][y], &axes[2][z]], mask, &mut a);
            texels(view, l, w, [&axes[0][1], &axes[1][y], &axes[2][z]], mask, &mut b);
            if view.bytes {
                to_bytes(&mut a);
                to_bytes(&mut b);
            }
            blend(&mut a, &b, (&weight[0], &kept[0]));
            if y == 0 { plane = a } else { blend(&mut plane, &a, (&weight[1], &kept[1])) }
        }
        if z == 0 { *out = plane } else { blend(out, &plane, (&weight[2], &kept[2])) }
    }
    if view.bytes {
        for k in 0..4 {
            for lane in 0..16 {
                out[k][lane] = scale(f32::from_bits(out[k][lane])).to_bits();
            }
        }
    }
}

#[inline(always)]
fn to_bytes(t: &mut Warp4) {
    for k in 0..4 {
        for lane in 0..16 {
            t[k][lane] = (f32::from_bits(t[k][lane]) * 255.0).to_bits();
        }
    }
}

#[inline(always)]
fn blend(a: &mut Warp4, b: &Warp4, (w, kept): (&[f32; 16], &[u32; 16])) {
    for k in 0..4 {
        for lane in 0..16 {
            let (x, y) = (f32::from_bits(a[k][lane]), f32::from_bits(b[k][lane]));
            let d = f32::from_bits((y - x).to_bits() & kept[lane]);
            a[k][lane] = (x + d * w[lane]).to_bits();
        }
    }
}

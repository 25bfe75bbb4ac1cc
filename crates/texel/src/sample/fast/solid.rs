//! Samples of 3D images of one level, whose slices are layers to kernels: a warp at a time.

use super::any::Any;
use super::place::{kept, levels, weighted, wrapped};
use super::texels::Texels;
use super::{Fast, floats, mix};
use crate::sample::args::{SampleArgs, Warp4};
use crate::sample::blend::border;
use crate::sample::coords::LIMIT;
use crate::sample::sampler::{Sampler, Wrap};
use crate::sample::view::ImageView;
use crate::vector::{load, store};
use simd::Simd;

/// As `wide.rs` has it.
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
    let (zero, half) = (s.fsplat(0.0), s.fsplat(0.5));
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
        let place = floats(s, &args.coords[k]);
        let mut u = if sampler.unnormalized { place } else { s.fmul(place, s.fsplat(size[k] as f32)) };
        if let Some(o) = args.offsets {
            u = s.fadd(u, s.s_to_f(load(s, &o[k])));
        }
        // NaN gives the lower end.
        let u = s.fmin_raw(s.fmax_raw(u, s.fsplat(-LIMIT)), s.fsplat(LIMIT));
        let (mode, n) = (sampler.wrap[k], s.isplat(size[k]));
        let base = if linear { s.ffloor(s.fsub(u, half)) } else { s.ffloor(u) };
        let first = s.f_to_s_raw(base);
        let mut i = [first, s.iadd(first, s.isplat(1))];
        if linear {
            weight[k] = s.fsub(s.fsub(u, half), base);
            if f.floats {
                // As `filter::settle`.
                let all = s.feq(weight[k], s.fsplat(1.0));
                i[0] = s.isel(all, i[1], i[0]);
                weight[k] = s.fsel(all, zero, weight[k]);
                keep[k] = kept(s, weight[k]);
            }
        }
        for side in 0..if linear { 2 } else { 1 } {
            let at = wrapped(s, mode, i[side], n, size[k].is_power_of_two(), &mut outside[k][side]);
            steps[k][side] = match k {
                0 => f.reads.column(s, f, at),
                1 => f.reads.row(s, f, &l, at),
                _ => s.imul(at, l.layer_pitch),
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
        let v = super::swizzled::<S, Any<false>>(s, f, view, &color, k);
        let v = if mask == 0xFFFF { v } else { s.isel(s.mask(mask), v, load(s, &out[k])) };
        store(s, &mut out[k], v);
    }
}

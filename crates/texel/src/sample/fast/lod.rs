//! Levels of detail of a warp: what `../lod.rs` computes for the general path, step by step the same.

use super::super::args::SampleArgs;
use super::super::sampler::{MAX_LOD_BIAS, Sampler};
use super::super::view::ImageView;
use super::{Fast, floats};
use simd::Simd;
use simd::ops;

/// Which levels, how many taps.
pub struct Lods<S: Simd> {
    /// λ ≤ 0.
    pub magnified: S::M,
    pub fine: S::I,
    pub coarse: S::I,
    /// Of the coarse level, where `blended`.
    pub weight: S::F,
    pub blended: S::M,
    /// Samples along the major axis, and its derivative; 1 and 0 where isotropic.
    pub taps: S::F,
    pub axis: [S::F; 2],
    /// The largest number of taps.
    pub most: u32,
}

#[inline(always)]
unsafe fn log2<S: Simd>(x: S::F) -> S::F {
    let bits = S::bits(x);
    let mantissa = S::iand(bits, S::isplat(0x7f_ffff));
    // 1 where the mantissa exceeds √2's.
    let shift = S::isel(S::sgt(mantissa, S::isplat(0x35_04f3)), S::isplat(1), S::isplat(0));
    let m = S::ior(mantissa, S::isub(S::isplat(0x3f80_0000), ops::shl::<S>(shift, 23)));
    let m = S::from_bits(m);
    let e = S::iadd(S::isub(ops::shr::<S>(bits, 23), S::isplat(127)), shift);
    let one = S::fsplat(1.0);
    let t = S::fdiv(S::fsub(m, one), S::fadd(m, one));
    let t2 = S::fmul(t, t);
    let series = S::fadd(S::fsplat(1.0 / 7.0), S::fmul(t2, S::fsplat(1.0 / 9.0)));
    let series = S::fadd(S::fsplat(1.0 / 5.0), S::fmul(t2, series));
    let series = S::fadd(S::fsplat(1.0 / 3.0), S::fmul(t2, series));
    let series = S::fadd(one, S::fmul(t2, series));
    let scaled = S::fmul(S::fmul(S::fmul(t, series), S::fsplat(std::f32::consts::LOG2_E)), S::fsplat(2.0));
    S::fadd(S::s_to_f(e), scaled)
}

#[repr(C, align(64))]
struct Quads([[u32; 16]; 3]);

/// Lanes of each quad's first pixel, its right and its lower neighbour.
static QUADS: Quads = Quads([
    [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12],
    [1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13],
    [2, 2, 2, 2, 6, 6, 6, 6, 10, 10, 10, 10, 14, 14, 14, 14],
]);

#[inline(always)]
unsafe fn spread<S: Simd>(c: S::I, which: usize) -> S::F {
    S::from_bits(S::ishuffle(c, S::iload(QUADS.0[which].as_ptr().cast())))
}

#[inline(always)]
pub unsafe fn lods<S: Simd>(f: &Fast, view: &ImageView, s: &Sampler, args: &SampleArgs) -> Lods<S> {
    let zero = S::fsplat(0.0);
    let one = S::fsplat(1.0);
    let mut out = Lods::<S> {
        magnified: S::mask(0),
        fine: S::isplat(0),
        coarse: S::isplat(0),
        weight: zero,
        blended: S::mask(0),
        taps: one,
        axis: [zero; 2],
        most: 1,
    };
    let mut lambda = zero;
    if !s.unnormalized {
        let mut base;
        if let Some(lod) = args.lod {
            base = floats::<S>(lod);
        } else {
            // Derivatives in x and y of both coordinates.
            let mut d = [[zero; 2]; 2];
            for k in 0..2 {
                match args.grad {
                    Some(g) => {
                        d[0][k] = floats::<S>(&g[k]);
                        d[1][k] = floats::<S>(&g[3 + k]);
                    }
                    None => {
                        let c = S::iloadu(args.coords[k].as_ptr().cast());
                        let first = spread::<S>(c, 0);
                        d[0][k] = S::fsub(spread::<S>(c, 1), first);
                        d[1][k] = S::fsub(spread::<S>(c, 2), first);
                    }
                }
            }
            let mut rho2 = [zero; 2];
            for axis in 0..2 {
                for k in 0..2 {
                    let m = S::fmul(d[axis][k], S::fsplat(f.size[k][0]));
                    rho2[axis] = S::fadd(rho2[axis], S::fmul(m, m));
                }
            }
            let y = S::flt(rho2[0], rho2[1]);
            let max = S::fsel(y, rho2[1], rho2[0]);
            base = S::fmul(S::fsplat(0.5), log2::<S>(max));
            if s.anisotropy > 1.0 {
                let min = S::fsel(y, rho2[0], rho2[1]);
                let limit = S::fsplat(s.anisotropy);
                let ratio = S::fmin_raw(S::fsqrt(S::fdiv(max, min)), limit);
                let eta = S::fsel(S::flt(zero, min), ratio, limit);
                let long = S::mand(S::flt(zero, max), S::flt(one, eta));
                if S::many(long) {
                    base = S::fsel(long, S::fsub(base, log2::<S>(eta)), base);
                    out.taps = S::fsel(long, S::fceil(eta), one);
                    for k in 0..2 {
                        out.axis[k] = S::fsel(long, S::fsel(y, d[1][k], d[0][k]), zero);
                    }
                    let taps = ops::f_lanes::<S>(out.taps);
                    let mut most = 1.0f32;
                    for t in taps {
                        most = if t > most { t } else { most };
                    }
                    out.most = most as u32;
                }
            }
        }
        let mut bias = S::fsplat(s.bias.clamp(-MAX_LOD_BIAS, MAX_LOD_BIAS));
        if let Some(b) = args.bias {
            // A bias that is no number stays none: operands in this order keep it.
            let b = S::fadd(S::fsplat(s.bias), floats::<S>(b));
            bias = S::fmin_raw(S::fsplat(MAX_LOD_BIAS), S::fmax_raw(S::fsplat(-MAX_LOD_BIAS), b));
        }
        let mut least = S::fsplat(s.min_lod);
        if let Some(m) = args.min_lod {
            // f32::max drops NaN.
            least = S::fmax_raw(floats::<S>(m), least);
        }
        let raw = S::fadd(base, bias);
        lambda = S::fmin_raw(S::fmax_raw(raw, least), S::fsplat(s.max_lod));
    }
    out.magnified = S::fle(lambda, zero);

    // "Image Level(s) Selection".
    let q = (f.count - 1) as f32;
    let d = S::fmin_raw(S::fmax_raw(lambda, zero), S::fsplat(q));
    let d = S::fmax_raw(d, S::fsplat(view.min_lod.min(q)));
    let last = S::isplat(f.count as u32 - 1);
    if !s.mip_linear {
        let n = S::fsub(S::fceil(S::fadd(d, S::fsplat(0.5))), one);
        out.fine = S::smin(S::f_to_s_raw(S::fmax_raw(n, zero)), last);
        return out;
    }
    let hi = S::ffloor(d);
    out.fine = S::smin(S::f_to_s_raw(hi), last);
    out.coarse = S::smin(S::iadd(out.fine, S::isplat(1)), last);
    out.weight = S::fsub(d, hi);
    out.blended = S::mand(S::fne(out.weight, zero), S::mnot(S::ieq(out.fine, out.coarse)));
    out
}

//! Levels of detail of a warp: what `../lod.rs` computes for the general path, step by step the same.

use super::super::args::SampleArgs;
use super::super::sampler::{MAX_LOD_BIAS, Sampler};
use super::super::view::ImageView;
use super::Fast;
use super::cube::Direction;
use super::warp::floats;
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
fn log2<S: Simd>(s: S, x: S::F) -> S::F {
    let bits = s.bits(x);
    let mantissa = s.iand(bits, s.isplat(0x7f_ffff));
    // 1 where the mantissa exceeds √2's.
    let shift = s.isel(s.sgt(mantissa, s.isplat(0x35_04f3)), s.isplat(1), s.isplat(0));
    let m = s.ior(mantissa, s.isub(s.isplat(0x3f80_0000), ops::shl(s, shift, 23)));
    let m = s.from_bits(m);
    let e = s.iadd(s.isub(ops::shr(s, bits, 23), s.isplat(127)), shift);
    let one = s.fsplat(1.0);
    let t = s.fdiv(s.fsub(m, one), s.fadd(m, one));
    let t2 = s.fmul(t, t);
    let series = s.fadd(s.fsplat(1.0 / 7.0), s.fmul(t2, s.fsplat(1.0 / 9.0)));
    let series = s.fadd(s.fsplat(1.0 / 5.0), s.fmul(t2, series));
    let series = s.fadd(s.fsplat(1.0 / 3.0), s.fmul(t2, series));
    let series = s.fadd(one, s.fmul(t2, series));
    let scaled = s.fmul(s.fmul(s.fmul(t, series), s.fsplat(std::f32::consts::LOG2_E)), s.fsplat(2.0));
    s.fadd(s.s_to_f(e), scaled)
}

/// A coordinate's derivatives in x and y.
#[inline(always)]
pub fn derivatives<S: Simd>(s: S, c: S::F) -> [S::F; 2] {
    let first = s.fquad::<0>(c);
    [s.fsub(s.fquad::<1>(c), first), s.fsub(s.fquad::<2>(c), first)]
}

/// Squared lengths of the footprint's sides, in texels of the base level, and what their product is; `d`: by side and coordinate.
#[inline(always)]
fn footprint<S: Simd>(s: S, f: &Fast, d: &[[S::F; 2]; 2]) -> ([S::F; 2], S::F) {
    let (mut rho2, mut dot) = ([s.fsplat(0.0); 2], s.fsplat(0.0));
    for k in 0..2 {
        let size = s.fsplat(f.size[k][0]);
        let (x, y) = (s.fmul(d[0][k], size), s.fmul(d[1][k], size));
        rho2 = [s.fadd(rho2[0], s.fmul(x, x)), s.fadd(rho2[1], s.fmul(y, y))];
        dot = s.fadd(dot, s.fmul(x, y));
    }
    (rho2, dot)
}

/// The longer side of a footprint, squared.
#[inline(always)]
fn longer<S: Simd>(s: S, rho2: &[S::F; 2]) -> S::F {
    s.fsel(s.flt(rho2[0], rho2[1]), rho2[1], rho2[0])
}

/// The level of a footprint that is as wide as it is long.
#[inline(always)]
pub fn round<S: Simd>(s: S, longer: S::F) -> S::F {
    s.fmul(s.fsplat(0.5), log2(s, longer))
}

/// As `../lod.rs` has it, of all lanes.
struct Ellipse<S: Simd> {
    max: S::F,
    min: S::F,
    along: [S::F; 2],
}

#[inline(always)]
fn ellipse<S: Simd>(s: S, [x, y]: [S::F; 2], dot: S::F) -> Ellipse<S> {
    let (zero, one, half) = (s.fsplat(0.0), s.fsplat(1.0), s.fsplat(0.5));
    let tall = s.flt(x, y);
    let [max, min] = [s.fsel(tall, y, x), s.fsel(tall, x, y)];
    let along = [s.fsel(tall, zero, one), s.fsel(tall, one, zero)];
    let skew = s.fne(dot, zero);
    if !s.many(skew) {
        return Ellipse { max, min, along };
    }
    let dot2 = s.fmul(dot, dot);
    let h = s.fmul(s.fsub(x, y), half);
    let r = s.fsqrt(s.fadd(s.fmul(h, h), dot2));
    let longest = s.fadd(s.fmul(s.fadd(x, y), half), r);
    let shortest = s.fdiv(s.fsub(s.fmul(x, y), dot2), longest);
    let cos = s.fdiv(h, r);
    let a = s.fsqrt(s.fmul(s.fadd(one, cos), half));
    let b = s.fsqrt(s.fmul(s.fsub(one, cos), half));
    let b = s.fsel(s.flt(dot, zero), ops::fneg(s, b), b);
    Ellipse {
        max: s.fsel(skew, longest, max),
        min: s.fsel(skew, shortest, min),
        along: [s.fsel(skew, a, along[0]), s.fsel(skew, b, along[1])],
    }
}

/// The largest of the lanes' numbers of taps.
#[inline(always)]
pub fn most<S: Simd>(s: S, taps: S::F) -> u32 {
    let mut most = 1.0f32;
    for t in ops::f_lanes(s, taps) {
        most = if t > most { t } else { most };
    }
    most as u32
}

/// The taps of a warp's lanes, of samples without operands but for those of levels, beyond one a lane.
#[inline(always)]
pub fn extra<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
) -> u32 {
    let taps = ops::f_lanes(s, lods(s, f, view, sampler, args).taps);
    let mut n = 0;
    for lane in 0..16 {
        n += if mask >> lane & 1 != 0 { taps[lane] as u32 - 1 } else { 0 };
    }
    n
}

/// What [`lods`] has of derivatives, by side and coordinate, with no other operand.
#[inline(always)]
pub fn long<S: Simd>(s: S, f: &Fast, view: &ImageView, sampler: &Sampler, d: &[[S::F; 2]; 2]) -> Lods<S> {
    let mut out = Lods::none(s);
    let base = out.footprint(s, f, sampler, d);
    out.select(s, f, view, sampler, lambda(s, sampler, base, &SampleArgs::default()));
    out
}

/// Of an isotropic sample of the coordinates `st`, without operands: [`longer`] of its footprint, which a quad's lanes have in common.
#[inline(always)]
pub fn plain_longer<S: Simd>(s: S, f: &Fast, st: &[S::F; 2]) -> S::F {
    let [x, y] = [derivatives(s, st[0]), derivatives(s, st[1])];
    longer(s, &footprint(s, f, &[[x[0], y[0]], [x[1], y[1]]]).0)
}

/// The level of a cube's sample, of no operands but coordinates.
#[inline(always)]
pub fn of_cube<S: Simd>(s: S, f: &Fast, sampler: &Sampler, args: &SampleArgs) -> S::F {
    Lods::none(s).implicit(s, f, sampler, args)
}

/// What [`lods`] has of an isotropic sample of that level, or of a footprint's ([`round`]), with no other operand.
#[inline(always)]
pub fn plain<S: Simd>(s: S, f: &Fast, view: &ImageView, sampler: &Sampler, base: S::F) -> Lods<S> {
    based(s, f, view, sampler, base, &SampleArgs::default())
}

/// As [`plain`], with the operands that come to the level besides.
#[inline(always)]
pub fn based<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    base: S::F,
    args: &SampleArgs,
) -> Lods<S> {
    let mut out = Lods::none(s);
    out.select(s, f, view, sampler, lambda(s, sampler, base, args));
    out
}

/// λ, of a base level and the operands that come to it.
#[inline(always)]
fn lambda<S: Simd>(s: S, sampler: &Sampler, base: S::F, args: &SampleArgs) -> S::F {
    let mut bias = s.fsplat(sampler.bias.clamp(-MAX_LOD_BIAS, MAX_LOD_BIAS));
    if let Some(b) = args.bias {
        // A bias that is no number stays none: operands in this order keep it.
        let b = s.fadd(s.fsplat(sampler.bias), floats(s, b));
        bias = s.fmin_raw(s.fsplat(MAX_LOD_BIAS), s.fmax_raw(s.fsplat(-MAX_LOD_BIAS), b));
    }
    let mut least = s.fsplat(sampler.min_lod);
    if let Some(m) = args.min_lod {
        // f32::max drops NaN.
        least = s.fmax_raw(floats(s, m), least);
    }
    s.fmin_raw(s.fmax_raw(s.fadd(base, bias), least), s.fsplat(sampler.max_lod))
}

impl<S: Simd> Lods<S> {
    /// The base level of all lanes.
    #[inline(always)]
    fn none(s: S) -> Lods<S> {
        let zero = s.fsplat(0.0);
        Lods {
            magnified: s.mask(0),
            fine: s.isplat(0),
            coarse: s.isplat(0),
            weight: zero,
            blended: s.mask(0),
            taps: s.fsplat(1.0),
            axis: [zero; 2],
            most: 1,
        }
    }

    /// Of derivatives, by side and coordinate: the level, and along a footprint that is longer than wide the taps.
    #[inline(always)]
    fn footprint(&mut self, s: S, f: &Fast, sampler: &Sampler, d: &[[S::F; 2]; 2]) -> S::F {
        let (zero, one) = (s.fsplat(0.0), s.fsplat(1.0));
        let (rho2, dot) = footprint(s, f, d);
        let base = round(s, longer(s, &rho2));
        if sampler.anisotropy <= 1.0 || f.cube {
            return base;
        }
        let Ellipse { max, min, along } = ellipse(s, rho2, dot);
        let limit = s.fsplat(sampler.anisotropy);
        let ratio = s.fmin_raw(s.fsqrt(s.fdiv(max, min)), limit);
        let eta = s.fsel(s.flt(zero, min), ratio, limit);
        let long = s.mand(s.flt(zero, max), s.flt(one, eta));
        if !s.many(long) {
            return base;
        }
        let level = s.fsub(s.fmul(s.fsplat(0.5), log2(s, max)), log2(s, eta));
        // (Integers are not filtered: one tap, at that level.)
        if !f.integers {
            self.taps = s.fsel(long, s.fceil(eta), one);
            for k in 0..2 {
                let axis = s.fadd(s.fmul(d[0][k], along[0]), s.fmul(d[1][k], along[1]));
                self.axis[k] = s.fsel(long, axis, zero);
            }
            self.most = most(s, self.taps);
        }
        s.fsel(long, level, base)
    }

    /// The level of a sample's own footprint, or of its gradients'.
    #[inline(always)]
    fn implicit(&mut self, s: S, f: &Fast, sampler: &Sampler, args: &SampleArgs) -> S::F {
        let zero = s.fsplat(0.0);
        // Derivatives in x and y of all coordinates.
        let mut d = [[zero; 3]; 2];
        for k in 0..if f.cube { 3 } else { 2 } {
            match args.grad {
                Some(g) => {
                    d[0][k] = floats(s, &g[k]);
                    d[1][k] = floats(s, &g[3 + k]);
                }
                None => {
                    [d[0][k], d[1][k]] = derivatives(s, floats(s, &args.coords[k]));
                }
            }
        }
        if f.cube {
            let direction = Direction::new(s, args);
            for d in &mut d {
                [d[0], d[1]] = direction.project_derivative(s, d);
            }
        }
        self.footprint(s, f, sampler, &[[d[0][0], d[0][1]], [d[1][0], d[1][1]]])
    }

    /// "Image Level(s) Selection".
    #[inline(always)]
    fn select(&mut self, s: S, f: &Fast, view: &ImageView, sampler: &Sampler, lambda: S::F) {
        let (zero, one) = (s.fsplat(0.0), s.fsplat(1.0));
        self.magnified = s.fle(lambda, zero);
        let q = (f.count - 1) as f32;
        let d = s.fmin_raw(s.fmax_raw(lambda, zero), s.fsplat(q));
        let d = s.fmax_raw(d, s.fsplat(view.min_lod.min(q)));
        let last = s.isplat(f.count as u32 - 1);
        if !sampler.mip_linear {
            let n = s.fsub(s.fceil(s.fadd(d, s.fsplat(0.5))), one);
            self.fine = s.smin(s.f_to_s_raw(s.fmax_raw(n, zero)), last);
            return;
        }
        let hi = s.ffloor(d);
        self.fine = s.smin(s.f_to_s_raw(hi), last);
        self.coarse = s.smin(s.iadd(self.fine, s.isplat(1)), last);
        self.weight = s.fsub(d, hi);
        if !f.integers {
            self.blended = s.mand(s.fne(self.weight, zero), s.mnot(s.ieq(self.fine, self.coarse)));
        }
    }
}

#[inline(always)]
pub fn lods<S: Simd>(s: S, f: &Fast, view: &ImageView, sampler: &Sampler, args: &SampleArgs) -> Lods<S> {
    let zero = s.fsplat(0.0);
    let mut out = Lods::none(s);
    let mut of = zero;
    if !sampler.unnormalized {
        let base;
        if let Some(lod) = args.lod {
            base = floats(s, lod);
        } else {
            base = out.implicit(s, f, sampler, args);
        }
        of = lambda(s, sampler, base, args);
    }
    out.select(s, f, view, sampler, of);
    out
}

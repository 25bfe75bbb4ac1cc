//! Level of detail: derivatives, scale factors, λ, and the levels it selects.

use super::args::{SampleArgs, Warp4, lanes};
use super::coords::face;
use super::fast;
use super::sampler::{MAX_LOD_BIAS, Sampler};
use super::view::ImageView;

/// λ of a warp and its footprints' shapes.
pub struct Lods {
    /// Before clamping to the sampler's range (λ′).
    pub raw: [f32; 16],
    pub lambda: [f32; 16],
    /// Samples along the major axis; 1 is isotropic.
    pub taps: [u32; 16],
    /// The derivatives along which they lie, in normalised coordinates.
    pub axis: [[f32; 3]; 16],
}

/// Base-2 logarithm within 2⁻²⁰, the same bits everywhere; 0 and denormals give about -126.
#[inline(always)]
pub fn log2(x: f32) -> f32 {
    let bits = x.to_bits();
    let shift = ((bits & 0x7f_ffff) > 0x35_04f3) as i32;
    let m = f32::from_bits(bits & 0x7f_ffff | (0x3f80_0000 - ((shift as u32) << 23)));
    let e = (bits >> 23) as i32 - 127 + shift;
    // m in [√½, √2): log2 m = 2/ln 2 · artanh((m - 1) / (m + 1)).
    let t = (m - 1.0) / (m + 1.0);
    let t2 = t * t;
    let series = 1.0 + t2 * (1.0 / 3.0 + t2 * (1.0 / 5.0 + t2 * (1.0 / 7.0 + t2 * (1.0 / 9.0))));
    e as f32 + t * series * std::f32::consts::LOG2_E * 2.0
}

#[inline(always)]
fn f(v: u32) -> f32 {
    f32::from_bits(v)
}

/// Derivatives of all coordinates in x and y for a warp.
type Derivatives = [[[f32; 16]; 3]; 2];

/// Given, or the differences within each quad.
#[inline(always)]
fn derivatives(args: &SampleArgs) -> Derivatives {
    let mut d = [[[0.0; 16]; 3]; 2];
    for k in 0..args.dims.min(3) {
        match args.grad {
            Some(g) => {
                for lane in 0..16 {
                    d[0][k][lane] = f(g[k][lane]);
                    d[1][k][lane] = f(g[3 + k][lane]);
                }
            }
            None => {
                let c = &args.coords[k];
                for lane in 0..16 {
                    let quad = lane & !3;
                    d[0][k][lane] = f(c[quad + 1]) - f(c[quad]);
                    d[1][k][lane] = f(c[quad + 2]) - f(c[quad]);
                }
            }
        }
    }
    d
}

/// A footprint's ellipse ("Scale Factor Operation": ρmin and ρmax should be its axes). Those are the derivatives only where
/// they are at right angles: along the diagonal of a screen, two of the same length make a footprint as long as both.
struct Ellipse {
    /// The squares of its axes, in texels.
    max: f32,
    min: f32,
    /// How much of the derivative in x, and of that in y, the long axis is.
    along: [f32; 2],
}

impl Ellipse {
    /// Of the derivatives' squares and their product. `fast/lod.rs` does the same, step by step.
    #[inline(always)]
    fn of(x: f32, y: f32, dot: f32) -> Ellipse {
        if dot == 0.0 {
            return match y > x {
                true => Ellipse { max: y, min: x, along: [0.0, 1.0] },
                false => Ellipse { max: x, min: y, along: [1.0, 0.0] },
            };
        }
        // The singular values of the two derivatives as a matrix, and its first right singular vector.
        let half = (x - y) * 0.5;
        let r = (half * half + dot * dot).sqrt();
        let max = (x + y) * 0.5 + r;
        let cos = half / r;
        let [a, b] = [1.0 + cos, 1.0 - cos].map(|v| (v * 0.5).sqrt());
        Ellipse { max, min: (x * y - dot * dot) / max, along: [a, if dot < 0.0 { -b } else { b }] }
    }
}

/// λ of all lanes (those that are not active too: they only help).
#[inline(always)]
pub fn lods(view: &ImageView, sampler: &Sampler, args: &SampleArgs) -> Lods {
    let mut out = Lods { raw: [0.0; 16], lambda: [0.0; 16], taps: [1; 16], axis: [[0.0; 3]; 16] };
    if sampler.unnormalized {
        return out;
    }
    let mut base = [0.0; 16];
    if let Some(lod) = args.lod {
        for lane in 0..16 {
            base[lane] = f(lod[lane]);
        }
    } else if let Some(l) = view.levels.first() {
        let mut d = derivatives(args);
        if view.is_cube && args.dims == 3 {
            for lane in 0..16 {
                let dir = [0, 1, 2].map(|k| f(args.coords[k][lane]));
                let face = face(dir);
                for d in &mut d {
                    let [s, t] = face.project_derivative(dir, [d[0][lane], d[1][lane], d[2][lane]]);
                    (d[0][lane], d[1][lane], d[2][lane]) = (s, t, 0.0);
                }
            }
        }
        // ρ² of both axes: the exact lengths; and the product of the two.
        let (mut rho2, mut dot) = ([[0.0; 16]; 2], [0.0; 16]);
        for (k, &size) in l.size.iter().enumerate() {
            for lane in 0..16 {
                let [x, y] = [0, 1].map(|axis: usize| d[axis][k][lane] * size as f32);
                rho2[0][lane] += x * x;
                rho2[1][lane] += y * y;
                dot[lane] += x * y;
            }
        }
        for lane in 0..16 {
            let (x, y) = (rho2[0][lane], rho2[1][lane]);
            base[lane] = 0.5 * log2(if y > x { y } else { x });
        }
        if sampler.anisotropy > 1.0 && !view.is_cube {
            for lane in 0..16 {
                let Ellipse { max, min, along } = Ellipse::of(rho2[0][lane], rho2[1][lane], dot[lane]);
                let eta =
                    if min > 0.0 { (max / min).sqrt().min(sampler.anisotropy) } else { sampler.anisotropy };
                if max > 0.0 && eta > 1.0 {
                    base[lane] = 0.5 * log2(max) - log2(eta);
                    out.taps[lane] = eta.ceil() as u32;
                    out.axis[lane] = [0, 1, 2].map(|k| d[0][k][lane] * along[0] + d[1][k][lane] * along[1]);
                }
            }
        }
    }
    for lane in 0..16 {
        let bias = if let Some(b) = args.bias { f(b[lane]) } else { 0.0 };
        let least =
            if let Some(m) = args.min_lod { sampler.min_lod.max(f(m[lane])) } else { sampler.min_lod };
        out.raw[lane] = base[lane] + (sampler.bias + bias).clamp(-MAX_LOD_BIAS, MAX_LOD_BIAS);
        // max and min drop NaN.
        out.lambda[lane] = out.raw[lane].max(least).min(sampler.max_lod);
    }
    out
}

/// The levels λ selects, counted from the view's base: (fine, coarse, weight of the coarse one).
/// "Image Level(s) Selection".
#[inline(always)]
pub fn levels(view: &ImageView, sampler: &Sampler, lambda: f32) -> (usize, usize, f32) {
    let d = level(view, lambda);
    let last = view.levels.len().saturating_sub(1);
    if !sampler.mip_linear {
        let n = nearest(d) as usize;
        return (n.min(last), n.min(last), 0.0);
    }
    let hi = d.floor();
    let fine = (hi as usize).min(last);
    (fine, (fine + 1).min(last), d - hi)
}

/// d′ relative to the base level.
#[inline(always)]
fn level(view: &ImageView, lambda: f32) -> f32 {
    let q = view.levels.len().saturating_sub(1) as f32;
    lambda.max(0.0).min(q).max(view.min_lod.min(q))
}

#[inline(always)]
fn nearest(d: f32) -> f32 {
    ((d + 0.5).ceil() - 1.0).max(0.0)
}

/// Taps of the lanes in `mask` along their axes of anisotropy, beyond one a lane.
pub fn extra_taps(view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16) -> u32 {
    if let Some(n) = fast::extra_taps(view, sampler, args, mask) {
        return n;
    }
    let taps = lods(view, sampler, args).taps;
    lanes(mask).map(|l| taps[l].saturating_sub(1)).sum()
}

/// `OpImageQueryLod`: the level that would be read (relative to the base level) and λ′. That is SPIR-V's order and
/// GLSL's (`textureQueryLod`), which the conformance tests want; Vulkan's page on textures names them the other way round.
pub fn query_lod_warp(view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16, out: &mut Warp4) {
    let l = lods(view, sampler, args);
    for lane in lanes(mask) {
        let d = level(view, l.lambda[lane]);
        let d = if sampler.mip_linear { d } else { nearest(d) };
        out[0][lane] = d.to_bits();
        out[1][lane] = l.raw[lane].to_bits();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm() {
        let mut worst = 0f64;
        for i in 1..100_000u32 {
            let x = i as f32 * 0.37e-2;
            worst = worst.max((log2(x) as f64 - (x as f64).log2()).abs());
        }
        assert!(worst < 1.0 / (1 << 20) as f64, "{worst}");
        assert_eq!(log2(1.0), 0.0);
        assert_eq!(log2(8.0), 3.0);
        assert!(log2(0.0) < -120.0);
    }

    #[test]
    fn nearest_level_rounds_halves_down() {
        assert_eq!([0.0, 0.5, 0.51, 1.5, 1.6].map(nearest), [0.0, 0.0, 1.0, 1.0, 2.0]);
    }
}

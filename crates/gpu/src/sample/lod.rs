//! Level of detail: derivatives, scale factors, λ, and the levels it selects.

use super::coords::face;
use super::sampler::{MAX_LOD_BIAS, Sampler};
use super::view::ImageView;
use super::{SampleArgs, Warp4, lanes};

/// λ of one lane and the footprint's shape.
#[derive(Clone, Copy, Debug)]
pub struct Lod {
    /// Before clamping to the sampler's range (λ′).
    pub raw: f32,
    pub lambda: f32,
    /// Samples along the major axis; 1 is isotropic.
    pub taps: u32,
    /// The derivative along which they lie, in normalised coordinates.
    pub axis: [f32; 3],
}

/// Base-2 logarithm within 2⁻²⁰, the same bits everywhere; 0 and denormals give about -126.
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

fn f(v: u32) -> f32 {
    f32::from_bits(v)
}

/// Both derivatives of the coordinates at a lane: given, or the differences within its quad.
fn derivatives(args: &SampleArgs, lane: usize) -> [[f32; 3]; 2] {
    let mut d = [[0.0; 3]; 2];
    for k in 0..args.dims.min(3) {
        match args.grad {
            Some(g) => {
                d[0][k] = f(g[k][lane]);
                d[1][k] = f(g[3 + k][lane]);
            }
            None => {
                let quad = lane & !3;
                let c = &args.coords[k];
                d[0][k] = f(c[quad + 1]) - f(c[quad]);
                d[1][k] = f(c[quad + 2]) - f(c[quad]);
            }
        }
    }
    d
}

/// λ of a lane.
pub fn lod(view: &ImageView, sampler: &Sampler, args: &SampleArgs, lane: usize) -> Lod {
    let mut out = Lod { raw: 0.0, lambda: 0.0, taps: 1, axis: [0.0; 3] };
    let mut base = 0.0;
    if sampler.unnormalized {
        return out;
    }
    if let Some(lod) = args.lod {
        base = f(lod[lane]);
    } else if let Some(l) = view.levels.first() {
        let mut d = derivatives(args, lane);
        if view.is_cube && args.dims == 3 {
            let dir = [0, 1, 2].map(|k| f(args.coords[k][lane]));
            let face = face(dir);
            d = d.map(|d| {
                let [s, t] = face.project_derivative(dir, d);
                [s, t, 0.0]
            });
        }
        let size = l.size.map(|s| s as f32);
        // ρ² of both axes: the exact lengths.
        let rho2 = d.map(|d| {
            let m = [d[0] * size[0], d[1] * size[1], d[2] * size[2]];
            m[0] * m[0] + m[1] * m[1] + m[2] * m[2]
        });
        let major = (rho2[1] > rho2[0]) as usize;
        let (max, min) = (rho2[major], rho2[1 - major]);
        base = 0.5 * log2(max);
        if sampler.anisotropy > 1.0 && !view.is_cube && max > 0.0 {
            let eta = if min > 0.0 { (max / min).sqrt().min(sampler.anisotropy) } else { sampler.anisotropy };
            if eta > 1.0 {
                base -= log2(eta);
                out.taps = eta.ceil() as u32;
                out.axis = d[major];
            }
        }
    }
    let bias = args.bias.map_or(0.0, |b| f(b[lane]));
    out.raw = base + (sampler.bias + bias).clamp(-MAX_LOD_BIAS, MAX_LOD_BIAS);
    let least = args.min_lod.map_or(sampler.min_lod, |m| sampler.min_lod.max(f(m[lane])));
    // max and min drop NaN.
    out.lambda = out.raw.max(least).min(sampler.max_lod);
    out
}

/// The levels λ selects, counted from the view's base: (fine, coarse, weight of the coarse one).
/// "Image Level(s) Selection".
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
fn level(view: &ImageView, lambda: f32) -> f32 {
    let q = view.levels.len().saturating_sub(1) as f32;
    lambda.max(0.0).min(q).max(view.min_lod.min(q))
}

fn nearest(d: f32) -> f32 {
    ((d + 0.5).ceil() - 1.0).max(0.0)
}

/// `OpImageQueryLod`: the level that would be read (relative to the base level) and λ′.
pub fn query_lod_warp(view: &ImageView, sampler: &Sampler, args: &SampleArgs, mask: u16, out: &mut Warp4) {
    for lane in lanes(mask) {
        let l = lod(view, sampler, args, lane);
        let d = level(view, l.lambda);
        let d = if sampler.mip_linear { d } else { nearest(d) };
        out[0][lane] = d.to_bits();
        out[1][lane] = l.raw.to_bits();
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

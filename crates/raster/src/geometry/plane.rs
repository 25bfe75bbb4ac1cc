//! Planes of interpolated values, and depth bias, for one primitive at a time.
//!
//! All in f64 from exact differences, so that a value that is the same at all vertices has no slope at all.

use super::raster::Source;
use super::vertex::{Outputs, Vertices};
use crate::prim::{FURTHEST, Plane};
use crate::state::DepthBias;
use ash::vk;
use texel::format::{FormatInfo, NumClass};

/// A vertex of what is rasterised: one of the primitive's own, or one that clipping made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Placed {
    /// Sub-pixels.
    pub x: i32,
    pub y: i32,
    pub window: [f32; 3],
    /// 1/w.
    pub w: f64,
    /// Weights of the primitive's vertices, in clip space and in the framebuffer.
    pub weights: [f64; 3],
    pub linear: [f64; 3],
}

/// How values at two or three points become planes.
#[derive(Clone, Copy, Debug)]
pub struct Gradients {
    /// The first point, in sub-pixels.
    pub first: [i32; 2],
    /// From the first point to the origin, in pixels.
    shift: [f64; 2],
    /// d/dx = d1 · x1 − d2 · x2 and d/dy = d2 · y1 − d1 · y2, with the differences d1 and d2 to the first point.
    x1: f64,
    x2: f64,
    y1: f64,
    y2: f64,
}

/// A point, and how far off planes start: it is moved into the framebuffer ([`Prim::origin`](crate::prim::Prim::origin)).
#[inline(always)]
fn start(p: &Placed) -> ([i32; 2], [f64; 2]) {
    let first = [p.x, p.y];
    let off = |c: i32| (c as f64 / 256.0).clamp(0.0, FURTHEST) - c as f64 / 256.0;
    (first, first.map(off))
}

impl Gradients {
    /// The value is everywhere that of the point.
    pub fn point(p: &Placed) -> Gradients {
        let (first, shift) = start(p);
        Gradients { first, shift, x1: 0.0, x2: 0.0, y1: 0.0, y2: 0.0 }
    }

    /// Along a line, the same across it. The points differ.
    pub fn line(a: &Placed, b: &Placed) -> Gradients {
        let (first, shift) = start(a);
        let (dx, dy) = ((b.x - a.x) as f64, (b.y - a.y) as f64);
        let s = 256.0 / (dx * dx + dy * dy);
        Gradients { first, shift, x1: dx * s, x2: 0.0, y1: 0.0, y2: -(dy * s) }
    }

    /// Over a triangle with an area.
    pub fn triangle(t: [&Placed; 3]) -> Gradients {
        let (first, shift) = start(t[0]);
        let d = |i: usize| ((t[i].x - t[0].x) as f64, (t[i].y - t[0].y) as f64);
        let ((dx1, dy1), (dx2, dy2)) = (d(1), d(2));
        let s = 256.0 / (dx1 * dy2 - dx2 * dy1);
        Gradients { first, shift, x1: dy2 * s, x2: dy1 * s, y1: dx1 * s, y2: dx2 * s }
    }

    /// (d/dx, d/dy) a pixel.
    #[inline(always)]
    pub fn slope(&self, f: [f64; 3]) -> [f64; 2] {
        let (d1, d2) = (f[1] - f[0], f[2] - f[0]);
        [d1 * self.x1 - d2 * self.x2, d2 * self.y1 - d1 * self.y2]
    }

    #[inline(always)]
    pub fn plane(&self, f: [f64; 3]) -> Plane {
        let [dx, dy] = self.slope(f);
        let at = f[0] + dx * self.shift[0] + dy * self.shift[1];
        Plane { at: at as f32, dx: dx as f32, dy: dy as f32 }
    }
}

/// Appends the planes of the fragment program's varyings for points `at` of a primitive, and its id before them if that is read.
pub fn varyings(
    o: &Outputs,
    v: &Vertices,
    source: &Source,
    at: [&Placed; 3],
    g: &Gradients,
    out: &mut Vec<Plane>,
) {
    let &Source { vertices, provoking, id, .. } = source;
    out.extend(o.ids.then(|| Plane { at: f32::from_bits(id), dx: 0.0, dy: 0.0 }));
    for k in &o.varyings {
        if k.flat {
            let vertex = k.vertex.map_or(provoking, |k| vertices[k as usize % 3]);
            let bits = v.column(k.column)[vertex as usize];
            out.push(Plane { at: f32::from_bits(bits), dx: 0.0, dy: 0.0 });
            continue;
        }
        let own = match k.weight {
            Some(w) => [0, 1, 2].map(|i| (i == w) as u8 as f64),
            None => vertices.map(|i| v.float(k.column, i as usize) as f64),
        };
        let value = |p: &Placed| {
            let w = if k.no_perspective { p.linear } else { p.weights };
            let f = own[0] + w[1] * (own[1] - own[0]) + w[2] * (own[2] - own[0]);
            if k.no_perspective { f } else { f * p.w }
        };
        out.push(g.plane(at.map(value)));
    }
}

/// The depth bias of a draw (Vulkan specification, "Depth Bias").
#[derive(Clone, Copy, Debug)]
pub struct Bias {
    constant: f64,
    slope: f64,
    clamp: f64,
    /// The minimum resolvable difference; `None`: it depends on the primitive's depth.
    unit: Option<f64>,
}

impl Bias {
    /// `depth`: the depth attachment's format.
    pub fn new(b: &DepthBias, depth: Option<&FormatInfo>) -> Bias {
        use vk::DepthBiasRepresentationEXT as R;
        let component =
            depth.and_then(|f| f.components().iter().find(|c| c.name == b'd').map(|c| (f, c.bits)));
        let unit = match (b.representation, component) {
            (R::FLOAT, _) => Some(1.0),
            (_, None) => Some(0.0),
            (representation, Some((f, bits))) if f.class == NumClass::Sfloat || bits == 32 => {
                // 23 bits of mantissa, and one that is not stored.
                (representation == R::LEAST_REPRESENTABLE_VALUE_FORCE_UNORM).then_some(1.0 / (1 << 24) as f64)
            }
            // Codes are multiples of 1 / (2ⁿ − 1), which is more than 2⁻ⁿ: depths 2⁻ⁿ apart can have the same one. The next that
            // is allowed is the most that is, and what GPUs have.
            (_, Some((_, bits))) => Some(if b.exact { 1.0 } else { 2.0 } / (1u64 << bits) as f64),
        };
        Bias { constant: b.constant as f64, slope: b.slope as f64, clamp: b.clamp as f64, unit }
    }

    /// What is added to depth: for a primitive's slope a pixel in x and y, and its largest |depth|.
    #[inline(always)]
    pub fn offset(&self, slope: [f64; 2], z: f32) -> f64 {
        let unit = self.unit.unwrap_or_else(|| {
            let e = (z.to_bits() >> 23 & 0xFF).max(1) as i64;
            // 2^(e − 127 − 23)
            f64::from_bits(((e - 150 + 1023) as u64) << 52)
        });
        let o = slope[0].abs().max(slope[1].abs()) * self.slope + unit * self.constant;
        if self.clamp > 0.0 {
            o.min(self.clamp)
        } else if self.clamp < 0.0 {
            o.max(self.clamp)
        } else {
            o
        }
    }
}

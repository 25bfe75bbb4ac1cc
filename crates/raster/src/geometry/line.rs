//! Lines as rectangles, and points as squares (Vulkan specification, "Line Segments", "Points").
//!
//! Tuff reports strictLines: the default mode is the rectangular one.

use super::Batch;
use super::plane::{Gradients, Placed, varyings};
use super::raster::{Rasterizer, Source, pixels};
use super::vertex::Vertices;
use crate::prim::{Bounds, Edge, Form, Plane, Prim, Shape, Side, top_left};
use crate::state::Rect;
use ash::vk;

/// Sizes of points and widths of lines that are drawn; what is asked beyond is cut to them.
pub const POINT_SIZES: [f32; 2] = [1.0, 1024.0];
pub const LINE_WIDTHS: [f32; 2] = [1.0, 64.0];

/// PointCoord's planes of a point: from 0 to 1 over its square.
#[inline(always)]
pub fn coordinates(origin: [f64; 2], window: [f32; 3], size: f32) -> [Plane; 2] {
    [0, 1].map(|k| {
        let slope = 1.0 / size;
        let at = 0.5 + (origin[k] as f32 as f64 - window[k] as f64) / size as f64;
        let (dx, dy) = if k == 0 { (slope, 0.0) } else { (0.0, slope) };
        Plane { at: at as f32, dx, dy }
    })
}

/// How far along its strip a stippled line is.
#[derive(Clone, Copy, Default, Debug)]
pub struct Stipple {
    /// Pixels drawn (Bresenham), or length.
    pub pixels: u64,
    pub length: f64,
}

impl Stipple {
    pub fn reset(&mut self) {
        *self = Stipple::default();
    }
}

/// Whether unit `s` of a stippled line is drawn.
pub fn drawn((factor, pattern): (u32, u16), s: u64) -> bool {
    pattern >> (s / factor.max(1) as u64 % 16) & 1 != 0
}

/// `dx · (x − p) + dy · (y − p) + add ≥ 0`, `add` in sub-pixels of distance times the direction's length.
fn half_plane(dx: i32, dy: i32, p: [i32; 2], add: f64) -> Edge {
    let c = -(dx as i64 * p[0] as i64 + dy as i64 * p[1] as i64) + add.round_ties_even() as i64;
    Edge { a: dx, b: dy, c: c - !top_left(dx, dy) as i64 }
}

/// A line segment: its ends, which side of its primitive shows, and how much is added to its depth.
pub struct Segment<'p> {
    pub ends: [&'p Placed; 2],
    pub front: bool,
    pub bias: f64,
}

impl Rasterizer<'_> {
    /// A line segment between two points of a primitive.
    pub fn segment(
        &self,
        v: &Vertices,
        source: &Source,
        Segment { ends, front, bias }: Segment,
        stipple: &mut Stipple,
        out: &mut Batch,
    ) {
        let [a, b] = ends;
        if (a.x, a.y) == (b.x, b.y) {
            return;
        }
        let within = self.maps[source.viewport as usize].inside;
        let g = Gradients::line(a, b);
        let at = [a, b, b];
        let mut z = g.plane(at.map(|p| p.window[2] as f64));
        z.at = (z.at as f64 + bias) as f32;
        let mode = self.state.raster.line_mode;
        let conservative = self.state.raster.conservative.is_some();
        let bresenham = mode == vk::LineRasterizationModeEXT::BRESENHAM && !conservative;
        let blank = Prim {
            z,
            w: g.plane(at.map(|p| p.w)),
            planes: self.outputs.first(&out.planes),
            ..self.blank(source, front, &g)
        };
        let before = out.prims.len();
        if bresenham {
            self.pixels(ends, within, blank, stipple, out);
        } else {
            let smooth = mode == vk::LineRasterizationModeEXT::RECTANGULAR_SMOOTH && !conservative;
            self.rectangle(ends, within, blank, smooth, stipple, out);
        }
        if out.prims.len() > before {
            varyings(self.outputs, v, source, at, &g, &mut out.planes);
        }
    }

    /// The rectangle around a line, smooth ones' too (§ Smooth Lines); stippled, those parts of it that the pattern leaves.
    fn rectangle(
        &self,
        [a, b]: [&Placed; 2],
        within: Rect,
        blank: Prim,
        smooth: bool,
        stipple: &mut Stipple,
        out: &mut Batch,
    ) {
        let (dx, dy) = (b.x - a.x, b.y - a.y);
        let length = ((dx as f64).powi(2) + (dy as f64).powi(2)).sqrt();
        let width = self.state.raster.line_width;
        let width = if width.is_nan() { 1.0 } else { width.clamp(LINE_WIDTHS[0], LINE_WIDTHS[1]) };
        let half = width as f64 * 128.0;
        let p = [a.x, a.y];
        let sides = [half_plane(-dy, dx, p, half * length), half_plane(dy, -dx, p, half * length)];
        // Sub-pixels along the line.
        let mut part = |from: f64, to: f64| {
            let start = half_plane(dx, dy, p, -from * length);
            let end = half_plane(-dx, -dy, p, to * length);
            // Corners, for the bounds.
            let (ux, uy) = (dx as f64 / length, dy as f64 / length);
            let reach = [half * uy.abs(), half * ux.abs()].map(|r| r + 1.0);
            let at = |t: f64| [a.x as f64 + t * ux, a.y as f64 + t * uy];
            let (s, e) = (at(from), at(to));
            let low = [0, 1].map(|k| (s[k].min(e[k]) - reach[k]).floor() as i32);
            let high = [0, 1].map(|k| (s[k].max(e[k]) + reach[k]).ceil() as i32);
            let edges = [sides[0], start, sides[1], end];
            if let Some(grow) = self.grow() {
                grow.primitive(blank.clone(), &edges, low, high, &within, out);
                return;
            }
            let bounds = pixels(low, high, self.single && !smooth).intersect(&within);
            if !bounds.is_empty() {
                let shape = if smooth { Shape::Smooth } else { Shape::Polygon };
                out.push(
                    Prim { form: Form::new(shape, 4), bounds: Bounds::new(bounds), ..blank.clone() },
                    &edges,
                );
            }
        };
        let Some(pattern) = self.state.raster.stipple else {
            part(0.0, length);
            return;
        };
        // Units are pixels long and go on through the strip.
        let (begin, end) = (stipple.length, stipple.length + length / 256.0);
        stipple.length = end;
        let mut s = begin.floor() as u64;
        let last = end.ceil() as u64;
        while s < last {
            let mut run = s;
            while run < last && drawn(pattern, run) == drawn(pattern, s) {
                run += 1;
            }
            if drawn(pattern, s) {
                let from = (s as f64 - begin).max(0.0) * 256.0;
                let to = ((run as f64 - begin) * 256.0).min(length);
                if from < to {
                    part(from, to);
                }
            }
            s = run;
        }
    }

    /// A point.
    pub fn square(&self, v: &Vertices, source: &Source, p: &Placed, front: bool, bias: f64, out: &mut Batch) {
        let map = &self.maps[source.viewport as usize];
        let size = match self.outputs.point_size {
            0 => 1.0,
            c => v.float(c, source.vertices[self.nearest(p)] as usize),
        };
        let size = if size.is_nan() { 1.0 } else { size.clamp(POINT_SIZES[0], POINT_SIZES[1]) };
        // Corners from the centre as it was before snapping: their distance is the size, rounded once.
        let side = (size * 256.0).round_ties_even() as i32;
        let low = [0, 1].map(|k| (p.window[k] as f64 * 256.0 - side as f64 * 0.5).round_ties_even() as i32);
        let high = low.map(|c| c + side);
        let grow = self.grow();
        let bounds = pixels(low, high, self.single).intersect(&map.scissor);
        if bounds.is_empty() && grow.is_none() {
            return;
        }
        let g = Gradients::point(p);
        // Pixels whose centres lie in the square are the bounds; of other samples the edges tell.
        let mut edges = [Edge::default(); 4];
        if !self.single || grow.is_some() {
            let ([x0, y0], [x1, y1]) = (low, high);
            let corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
            edges = std::array::from_fn(|i| Edge::between(corners[i], corners[(i + 1) % 4]));
        }
        let prim = Prim {
            form: Form::new(Shape::Polygon, if self.single && grow.is_none() { 0 } else { 4 }),
            side: Side::new(source.viewport, self.outputs.point_coord, front),
            bounds: Bounds::new(bounds),
            z: g.plane([p.window[2] as f64 + bias; 3]),
            w: g.plane([p.w; 3]),
            planes: self.outputs.first(&out.planes),
            ..self.blank(source, front, &g)
        };
        let origin = prim.origin();
        if !out.fits(1, self.outputs.planes(), 0, 4) {
            return;
        }
        match grow {
            Some(grow) => {
                if !grow.primitive(prim, &edges, low, high, &map.scissor, out) {
                    return;
                }
            }
            None if self.single => out.prims.push(prim),
            None => out.push(prim, &edges),
        }
        varyings(self.outputs, v, source, [p; 3], &g, &mut out.planes);
        if self.outputs.point_coord {
            out.planes.extend(coordinates(origin.map(|c| c as f64), p.window, size));
        }
    }

    /// The primitive's own vertex that a corner is.
    fn nearest(&self, p: &Placed) -> usize {
        (0..3).max_by(|&i, &j| p.weights[i].total_cmp(&p.weights[j])).unwrap_or(0)
    }
}

//! Bresenham lines: the pixels whose diamonds a line leaves (Vulkan specification, "Bresenham Line Segment
//! Rasterization").
//!
//! The specification moves both ends by (−ε, −ε²), so that nothing lies on a diamond's boundary. Here the ends stay
//! where they are, in integers, and each comparison decides ties as the move would.

use super::Batch;
use super::line::{LINE_WIDTHS, Stipple, drawn};
use super::plane::Placed;
use super::raster::Rasterizer;
use crate::prim::{Bounds, Form, Prim, Shape};
use crate::state::Rect;

/// The pixel in whose diamond a point lies.
fn diamond(p: [i32; 2]) -> Option<[i32; 2]> {
    let cell = p.map(|c| (c - 1) >> 8);
    let off = [0, 1].map(|k| p[k] - (cell[k] * 256 + 128));
    let distance = off[0].abs() + off[1].abs();
    (distance < 128 || distance == 128 && off[0] > 0).then_some(cell)
}

/// Calls `f` with each pixel of a line of width 1, in order from `a` to `b`.
pub fn walk(a: [i32; 2], b: [i32; 2], mut f: impl FnMut([i32; 2])) {
    let d = [b[0] - a[0], b[1] - a[1]];
    let major = if d[0].abs() >= d[1].abs() { 0 } else { 1 };
    let minor = 1 - major;
    if d[major] == 0 {
        return;
    }
    let forward = d[major] > 0;
    let (start, end) = (diamond(a), diamond(b));
    // Pixels along the major axis whose centres the line passes: low ≤ centre < high.
    let (low, high) = if forward { (a[major], b[major]) } else { (b[major], a[major]) };
    let first = (low - 128 + 255) >> 8;
    let past = (high - 128 + 255) >> 8;
    let length = d[major].unsigned_abs() as i64;
    let slope = if forward { d[minor] as i64 } else { -d[minor] as i64 };
    let at = |i: i32| {
        // Minor coordinate at the centre, times `length`.
        let n = a[minor] as i64 * length + (i as i64 * 256 + 128 - a[major] as i64) * slope;
        let cell = n.div_euclid(256 * length);
        // On the boundary between two pixels: x is moved down always; y moves with x, down if the line is level.
        let tie = n.rem_euclid(256 * length) == 0 && (major == 1 || slope <= 0);
        let mut p = [0; 2];
        (p[major], p[minor]) = (i, (cell - tie as i64) as i32);
        p
    };
    // A diamond that the line starts in beyond its centre.
    if let Some(s) = start
        && !(first..past).contains(&s[major])
        && end != start
    {
        f(s);
    }
    let mut visit = |i: i32| {
        let p = at(i);
        // Not the one that the line ends in.
        if Some(p) != end {
            f(p);
        }
    };
    if forward { (first..past).for_each(&mut visit) } else { (first..past).rev().for_each(&mut visit) }
}

impl Rasterizer<'_> {
    /// A line as a list of pixels.
    pub fn pixels(
        &self,
        [a, b]: [&Placed; 2],
        within: Rect,
        blank: Prim,
        stipple: &mut Stipple,
        out: &mut Batch,
    ) {
        let width = self.state.raster.line_width;
        let width = if width.is_nan() { 1.0 } else { width.clamp(LINE_WIDTHS[0], LINE_WIDTHS[1]) };
        let width = (width.round() as i32).max(1);
        let mut ends = [[a.x, a.y], [b.x, b.y]];
        let minor = ((b.x - a.x).abs() >= (b.y - a.y).abs()) as usize;
        ends.iter_mut().for_each(|e| e[minor] -= 128 * (width - 1));
        let first = out.pixels.len();
        let pattern = self.state.raster.stipple;
        let mut bounds = Rect { x0: i32::MAX, y0: i32::MAX, x1: i32::MIN, y1: i32::MIN };
        walk(ends[0], ends[1], |p| {
            let s = stipple.pixels;
            stipple.pixels += 1;
            if pattern.is_some_and(|pattern| !drawn(pattern, s)) {
                return;
            }
            for i in 0..width {
                let mut p = p;
                p[minor] += i;
                let [x, y] = p;
                if x >= within.x0 && x < within.x1 && y >= within.y0 && y < within.y1 && out.fits(0, 0, 1, 0)
                {
                    out.pixels.push(p);
                    bounds = Rect {
                        x0: bounds.x0.min(x),
                        y0: bounds.y0.min(y),
                        x1: bounds.x1.max(x + 1),
                        y1: bounds.y1.max(y + 1),
                    };
                }
            }
        });
        let count = out.pixels.len() - first;
        if count > 0 && out.fits(1, 0, 0, 0) {
            let mut prim = Prim { form: Form::new(Shape::Pixels, 0), bounds: Bounds::new(bounds), ..blank };
            prim.set_listed([first as u32, count as u32]);
            out.prims.push(prim);
        }
    }
}

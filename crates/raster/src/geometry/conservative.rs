//! Conservative rasterization (§ Conservative Rasterization): pixels that a primitive touches, or that lie in it wholly.
//!
//! A pixel's square, made larger by what primitives are to grow, meets a convex polygon unless an edge of the polygon or a
//! side of its bounds lies between them. So edges are moved by half the square's extent, and tested at the pixel's centre;
//! touching counts. In the same way a square lies inside if its centre is inside all edges when they are moved inward. All
//! samples of a pixel are covered, or none.
//!
//! A primitive has room for four edges. Polygons that clipping gave more are cut into rows: of a row of pixels, only edges
//! that reach it can tell.

use super::Batch;
use super::raster::Rasterizer;
use crate::prim::{Bounds, Edge, Form, Prim, Shape, top_left};
use crate::state::Rect;

/// How far edges move, and what becomes of pixels that only touch one.
#[derive(Clone, Copy)]
pub(super) struct Grow {
    /// [`crate::state::Conservative::outward`].
    by: i64,
}

impl Rasterizer<'_> {
    /// What is asked of primitives.
    pub(super) fn grow(&self) -> Option<Grow> {
        self.state.raster.conservative.map(|c| Grow { by: c.outward() })
    }
}

impl Grow {
    /// An edge with the top-left rule in it, moved. Pixels that touch one from outside are touched by the primitive; pixels
    /// that touch one from inside do not lie in it.
    fn edge(self, e: &Edge) -> Edge {
        let by = self.by * (e.a.unsigned_abs() as i64 + e.b.unsigned_abs() as i64);
        Edge { c: e.c + !top_left(e.a, e.b) as i64 + by - (self.by < 0) as i64, ..*e }
    }

    /// Pixels between two corners (sub-pixels).
    fn pixels(self, low: [i64; 2], high: [i64; 2]) -> Rect {
        let first = |v: i64| (v - self.by + 127) >> 8;
        let past = |v: i64| ((v + self.by - 128) >> 8) + 1;
        let cut = |v: i64| v.clamp(i32::MIN as i64, i32::MAX as i64) as i32;
        Rect {
            x0: cut(first(low[0])),
            y0: cut(first(low[1])),
            x1: cut(past(high[0])),
            y1: cut(past(high[1])),
        }
    }

    /// Appends a primitive of edges, as they are, with its corners' extent: as it covers pixels. False if it covers none.
    pub fn primitive(
        self,
        p: Prim,
        edges: &[Edge; 4],
        low: [i32; 2],
        high: [i32; 2],
        within: &Rect,
        out: &mut Batch,
    ) -> bool {
        let bounds = self.pixels(low.map(i64::from), high.map(i64::from)).intersect(within);
        if bounds.is_empty() {
            return false;
        }
        let (form, bounds) = (Form::new(Shape::Centers, 4), Bounds::new(bounds));
        out.push(Prim { form, bounds, ..p }, &edges.map(|e| self.edge(&e)));
        true
    }

    /// The primitives of a convex polygon with an area (corners in sub-pixels, either way round).
    pub fn polygon(self, corners: &[[i32; 2]], blank: &Prim, within: &Rect, out: &mut Batch) {
        let mut p: Vec<[i64; 2]> = Vec::with_capacity(corners.len());
        for c in corners.iter().map(|c| c.map(i64::from)) {
            if p.last() != Some(&c) {
                p.push(c);
            }
        }
        if p.len() > 1 && p.first() == p.last() {
            p.pop();
        }
        let n = p.len();
        let next = |i: usize| (i + 1) % n;
        let area: i64 = (0..n).map(|i| p[i][0] * p[next(i)][1] - p[next(i)][0] * p[i][1]).sum();
        if n < 3 || area == 0 {
            return;
        }
        if area < 0 {
            p.reverse();
        }
        let edges: Vec<Edge> = (0..n)
            .map(|i| {
                let (from, to) = (p[i].map(|c| c as i32), p[next(i)].map(|c| c as i32));
                self.edge(&Edge::between(from, to))
            })
            .collect();
        let extent = |k: usize| p.iter().fold([i64::MAX, i64::MIN], |e, c| [e[0].min(c[k]), e[1].max(c[k])]);
        let ([x0, x1], [y0, y1]) = (extent(0), extent(1));
        let all = self.pixels([x0, y0], [x1, y1]).intersect(within);
        if n <= 4 {
            push(blank, &edges, all, out);
            return;
        }
        // What a row's pixels reach, up and down from their centres.
        let reach = self.by.max(128);
        let mut rows: Vec<i64> =
            p.iter().flat_map(|c| ((c[1] - reach + 127) >> 8)..=((c[1] + reach - 128) >> 8)).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut y = all.y0;
        while y < all.y1 {
            // A row with a corner, or those up to the next such.
            let here = rows.partition_point(|r| *r < y as i64);
            let end = match rows.get(here) {
                Some(r) if *r == y as i64 => y + 1,
                Some(r) => (*r).min(all.y1 as i64) as i32,
                None => all.y1,
            };
            let (top, bottom) = (y as i64 * 256 + 128 - reach, (end as i64 - 1) * 256 + 128 + reach);
            let mut own = Vec::with_capacity(4);
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            for i in 0..n {
                let (a, b) = (p[i], p[next(i)]);
                if a[1].min(b[1]) > bottom || a[1].max(b[1]) < top {
                    continue;
                }
                own.push(edges[i]);
                // Where it is between the two.
                let at = |y: i64| match b[1] - a[1] {
                    0 => [a[0].min(b[0]) as f64, a[0].max(b[0]) as f64],
                    d => [a[0] as f64 + (b[0] - a[0]) as f64 * ((y - a[1]) as f64 / d as f64); 2],
                };
                for y in [a[1].clamp(top, bottom), b[1].clamp(top, bottom)] {
                    let [l, r] = at(y);
                    (least, most) = (least.min(l), most.max(r));
                }
            }
            if !own.is_empty() {
                let x = self.pixels([least.floor() as i64, 0], [most.ceil() as i64, 0]);
                let part = Rect { x0: x.x0, y0: y, x1: x.x1, y1: end }.intersect(&all);
                push(blank, &own, part, out);
            }
            y = end;
        }
    }
}

/// A primitive of these edges; of more than there is room for, the pixels they leave, one by one.
fn push(base: &Prim, edges: &[Edge], bounds: Rect, out: &mut Batch) {
    if bounds.is_empty() {
        return;
    }
    let of =
        |shape, edges| Prim { form: Form::new(shape, edges), bounds: Bounds::new(bounds), ..base.clone() };
    if edges.len() <= 4 {
        out.push(of(Shape::Centers, edges.len() as u8), edges);
        return;
    }
    let first = out.pixels.len();
    for y in bounds.y0..bounds.y1 {
        for x in bounds.x0..bounds.x1 {
            let (cx, cy) = (x as i64 * 256 + 128, y as i64 * 256 + 128);
            if edges.iter().all(|e| e.a as i64 * cx + e.b as i64 * cy + e.c >= 0) && out.fits(0, 0, 1, 0) {
                out.pixels.push([x, y]);
            }
        }
    }
    if out.pixels.len() > first && out.fits(1, 0, 0, 0) {
        let mut p = of(Shape::Pixels, 0);
        p.set_listed([first as u32, (out.pixels.len() - first) as u32]);
        out.prims.push(p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Random;

    /// Whether a convex polygon (right-handed) and a closed square meet, by clipping one with the other.
    fn meets(p: &[[f64; 2]], [x0, y0, x1, y1]: [f64; 4]) -> bool {
        let mut p = p.to_vec();
        for (k, at, sign) in [(0, x0, 1.0), (0, x1, -1.0), (1, y0, 1.0), (1, y1, -1.0)] {
            let mut out = Vec::new();
            for i in 0..p.len() {
                let (a, b): ([f64; 2], [f64; 2]) = (p[i], p[(i + 1) % p.len()]);
                let (da, db) = (sign * (a[k] - at), sign * (b[k] - at));
                if da >= 0.0 {
                    out.push(a);
                }
                if (da > 0.0 && db < 0.0) || (da < 0.0 && db > 0.0) {
                    let t = da / (da - db);
                    out.push([a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]);
                }
            }
            p = out;
        }
        !p.is_empty()
    }

    fn covered(grow: Grow, corners: &[[i32; 2]], side: i32) -> Vec<u32> {
        let mut out = Batch::default();
        let blank = crate::prim::tests::polygon(0, Rect::default());
        let within = Rect { x0: 0, y0: 0, x1: side, y1: side };
        grow.polygon(corners, &blank, &within, &mut out);
        let mut n = vec![0; (side * side) as usize];
        for p in &out.prims {
            let b = p.bounds.rect();
            if p.form.shape() == Shape::Pixels {
                let [first, count] = p.listed();
                for [x, y] in &out.pixels[first as usize..(first + count) as usize] {
                    n[(y * side + x) as usize] += 1;
                }
                continue;
            }
            for y in b.y0..b.y1 {
                for x in b.x0..b.x1 {
                    let (cx, cy) = (x as i64 * 256 + 128, y as i64 * 256 + 128);
                    let inside = |e: &Edge| e.a as i64 * cx + e.b as i64 * cy + e.c >= 0;
                    let edges = &p.edges(&out.edges)[..p.form.edges()];
                    n[(y * side + x) as usize] += edges.iter().all(inside) as u32;
                }
            }
        }
        n
    }

    /// Each pixel that a polygon touches once, and no other; the same of those inside it. Polygons of three to nine corners.
    #[test]
    fn pixels_are_covered_once_and_exactly() {
        let mut r = Random::new(1);
        let mut next = |of: i32| r.below(of as u32) as i32;
        let side = 24;
        for round in 0..300 {
            let n = 3 + round % 7;
            // Corners on an ellipse, in order; on whole pixels now and then.
            let (cx, cy) = (12 * 256 + next(512), 12 * 256 + next(512));
            let (rx, ry) = (300.0 + next(2200) as f64, 300.0 + next(2200) as f64);
            let turn = next(1000) as f64 / 1000.0;
            let whole = if round % 3 == 0 { !255 } else { !0 };
            let mut p: Vec<[i32; 2]> = (0..n)
                .map(|i| {
                    let t = (i as f64 + turn) / n as f64 * std::f64::consts::TAU;
                    [(cx + (rx * t.cos()) as i32) & whole, (cy + (ry * t.sin()) as i32) & whole]
                })
                .collect();
            // Rounding may have bent it inward.
            let cross = |i: usize| {
                let k = p.len();
                let (a, b, c) = (p[i], p[(i + 1) % k], p[(i + 2) % k]);
                (b[0] - a[0]) as i64 * (c[1] - b[1]) as i64 - (b[1] - a[1]) as i64 * (c[0] - b[0]) as i64
            };
            if (0..p.len()).any(|i| cross(i) <= 0) {
                continue;
            }
            let float: Vec<[f64; 2]> = p.iter().map(|c| c.map(f64::from)).collect();
            if round % 2 == 0 {
                p.reverse();
            }
            for extra in [0, 64, 192] {
                let got = covered(Grow { by: 128 + extra }, &p, side);
                for y in 0..side {
                    for x in 0..side {
                        let (x0, y0, e) = (x as f64 * 256.0, y as f64 * 256.0, extra as f64);
                        let want = meets(&float, [x0 - e, y0 - e, x0 + 256.0 + e, y0 + 256.0 + e]);
                        assert_eq!(
                            got[(y * side + x) as usize],
                            want as u32,
                            "{x} {y} of {p:?}, {extra} more"
                        );
                    }
                }
            }
            {
                let got = covered(Grow { by: -128 }, &p, side);
                for y in 0..side {
                    for x in 0..side {
                        let inside = (0..4).all(|c| {
                            let at = [(x + c % 2) * 256, (y + c / 2) * 256].map(|v| v as f64);
                            (0..float.len()).all(|i| {
                                let (a, b) = (float[i], float[(i + 1) % float.len()]);
                                let d = (b[0] - a[0]) * (at[1] - a[1]) - (b[1] - a[1]) * (at[0] - a[0]);
                                d > 0.0
                            })
                        });
                        assert_eq!(got[(y * side + x) as usize], inside as u32, "{x} {y} in {p:?}");
                    }
                }
            }
        }
    }
}

//! The tessellator: from levels to points of the domain and the primitives between them (§ Tessellation).
//!
//! Coordinates along an edge are multiples of 2⁻¹⁶, so that a point and its mirror image (1 − t) are exact: patches that share
//! an edge place the same points on it from either side.

use crate::geometry::assembly::Assembled;
use shader::stage_io::{Domain, Spacing};

/// Greatest level: maxTessellationGenerationLevel.
pub const MAX_LEVEL: f32 = 64.0;

pub struct Tessellator {
    pub domain: Domain,
    pub spacing: Spacing,
    /// Triangles are to be clockwise.
    pub turned: bool,
    /// Each point is a primitive.
    pub points: bool,
}

/// What a patch is cut into; vertices are numbers of points.
pub struct Figure<'f> {
    pub points: &'f mut Vec<[f32; 2]>,
    pub flow: &'f mut Assembled,
}

/// A point of the domain before it is one of the figure.
type At = [f32; 2];

/// A run of points along one side of a ring, with the place of each on the side.
struct Side {
    points: Vec<u32>,
    places: Vec<f32>,
}

/// What lies between a side and the one inside it, and where triangles have come to on each.
struct Seam<'s> {
    outside: &'s Side,
    inside: &'s Side,
    o: usize,
    i: usize,
}

impl Seam<'_> {
    /// The next triangle: on the outer side's next segment, or on the inner one's.
    fn go(&mut self, outer: bool) -> [u32; 3] {
        let (o, i) = (self.o, self.i);
        if outer {
            self.o += 1;
            [self.outside.points[o], self.outside.points[o + 1], self.inside.points[i]]
        } else {
            self.i += 1;
            [self.outside.points[o], self.inside.points[i + 1], self.inside.points[i]]
        }
    }
}

/// The last point of half a side of `n` segments that was there with two segments fewer.
fn split(n: u32) -> u32 {
    // Of half a side; an odd number's middle segment is none of it.
    let fewer = if n.is_multiple_of(2) { n / 2 - 1 } else { (n - 1) / 2 - 1 };
    match fewer.checked_ilog2() {
        Some(top) => (fewer & !(1 << top)) << 1 | 1,
        None => 0,
    }
}

/// After how many others a segment of half a side is there, by its place among 33 from the corner on: points are inserted by halving
/// the longest segment.
fn rank(segment: u32) -> u32 {
    match segment {
        0 => 0,
        1 => 32,
        _ => {
            let halvings = (segment - 1).trailing_zeros();
            (16 >> halvings) + ((segment - 1) >> (halvings + 1))
        }
    }
}

impl Tessellator {
    /// Appends a patch.
    pub fn patch(&self, outer: [f32; 4], inner: [f32; 2], to: &mut Figure) {
        let used = match self.domain {
            Domain::Triangles => 3,
            Domain::Quads => 4,
            Domain::Isolines => 2,
        };
        // Not a number counts as no level, too.
        if outer[..used].iter().any(|l| l.is_nan() || *l <= 0.0) {
            return;
        }
        let first = to.points.len();
        match self.domain {
            Domain::Isolines => self.lines(outer, to),
            Domain::Triangles => self.triangle(outer, inner[0], to),
            Domain::Quads => self.quad(outer, inner, to),
        }
        if self.points {
            let [v0, v1, v2] = &mut to.flow.v;
            v0.extend(first as u32..to.points.len() as u32);
            v1.clear();
            v2.clear();
        }
    }

    /// Segments of a side, and the level that its points are placed by.
    fn segments(&self, level: f32, spacing: Spacing) -> (u32, f32) {
        let level = if level.is_nan() { 1.0 } else { level };
        match spacing {
            Spacing::Equal => {
                let n = level.clamp(1.0, MAX_LEVEL).ceil();
                (n as u32, n)
            }
            Spacing::FractionalEven => {
                let f = level.clamp(2.0, MAX_LEVEL);
                ((f.ceil() as u32).next_multiple_of(2), f)
            }
            Spacing::FractionalOdd => {
                let f = level.clamp(1.0, MAX_LEVEL - 1.0);
                (f.ceil() as u32 | 1, f)
            }
        }
    }

    /// As [`Self::segments`], for an inner level of a patch that has a side with more than one segment.
    fn inner_segments(&self, level: f32, alone: bool) -> (u32, f32) {
        match self.segments(level, self.spacing) {
            (1, _) if !alone => self.segments(1.0 + f32::EPSILON, self.spacing),
            other => other,
        }
    }

    /// Where points 0 to n of a side lie.
    fn places(&self, (n, level): (u32, f32)) -> Vec<f32> {
        let mut t = vec![0.0; n as usize + 1];
        for i in 0..=n / 2 {
            // A segment of each half is shorter, as far as the level is no whole one.
            let at = match self.spacing {
                Spacing::Equal => i as f32 / n as f32,
                _ if i == 0 => 0.0,
                _ if n == 2 => 0.5,
                _ => {
                    // Between n − 2 equal segments and n of them, as far as the level is. Which of half a side's segments
                    // is the short one is free; other GPUs have it where a point is inserted by halving the longest
                    // (Direct3D's tessellator), and pictures show it.
                    let before = if i > split(n) { i - 1 } else { i };
                    let (f, n) = ((level - (n as f32 - 2.0)) * 0.5, n as f32);
                    f * i as f32 / n + (1.0 - f) * before as f32 / (n - 2.0)
                }
            };
            // No two points are one, however short a segment is; but where a level counts as a hair above 1.
            let hair = level < 1.00001;
            let least = if i == 0 || hair { 0.0 } else { t[i as usize - 1] + 1.0 / 65536.0 };
            let at = ((at.clamp(0.0, 0.5) * 65536.0).round() / 65536.0).max(least);
            let at = if 2 * i == n { 0.5 } else { at };
            t[i as usize] = at;
            t[(n - i) as usize] = 1.0 - at;
        }
        t
    }

    fn push(to: &mut Figure, at: At) -> u32 {
        to.points.push(at);
        to.points.len() as u32 - 1
    }

    fn face(&self, to: &mut Figure, t: [u32; 3]) {
        if self.points {
            return;
        }
        let [a, b, c] = if self.turned { [t[0], t[2], t[1]] } else { t };
        to.flow.v[0].push(a);
        to.flow.v[1].push(b);
        to.flow.v[2].push(c);
    }

    /// The diagonal is free; other GPUs have this one, and pictures of lines show it.
    fn square(&self, to: &mut Figure, c: [u32; 4]) {
        self.face(to, [c[0], c[1], c[3]]);
        self.face(to, [c[1], c[2], c[3]]);
    }

    /// outer[0] lines, each of outer[1].
    fn lines(&self, outer: [f32; 4], to: &mut Figure) {
        let rows = self.segments(outer[0], Spacing::Equal).0;
        let at = Tessellator { spacing: Spacing::Equal, ..*self }.places((rows, rows as f32));
        let places = self.places(self.segments(outer[1], self.spacing));
        for row in 0..rows {
            let v = at[row as usize];
            let mut last = None;
            for &u in &places {
                let p = Self::push(to, [u, v]);
                if let Some(l) = last.filter(|_| !self.points) {
                    to.flow.v[0].push(l);
                    to.flow.v[1].push(p);
                    to.flow.v[2].push(p);
                }
                last = Some(p);
            }
        }
    }

    /// A ring's sides, from corner to corner; `at(side, t)`: the point at `t` of a side. Corners are shared.
    fn ring(to: &mut Figure, places: &[Vec<f32>], at: impl Fn(usize, f32) -> At) -> Vec<Side> {
        let sides = places.len();
        let corners: Vec<u32> = (0..sides).map(|k| Self::push(to, at(k, places[k][0]))).collect();
        let mut out = Vec::with_capacity(sides);
        for (k, t) in places.iter().enumerate() {
            let mut points = vec![corners[k]];
            for &t in &t[1..t.len() - 1] {
                points.push(Self::push(to, at(k, t)));
            }
            points.push(corners[(k + 1) % sides]);
            out.push(Side { points, places: t.clone() });
        }
        out
    }

    /// The triangles between a side and the one inside it, which is ring `k`'s (from 1); `n`: segments of the inner level.
    fn stitch(&self, to: &mut Figure, k: usize, outside: &Side, inside: &Side, n: u32) {
        match k {
            1 => self.stitch_outer(to, outside, inside, n),
            _ => self.stitch_rings(to, outside, inside),
        }
    }

    fn stitch_rings(&self, to: &mut Figure, outside: &Side, inside: &Side) {
        let mut seam = Seam { outside, inside, o: 0, i: 0 };
        while seam.o + 1 < outside.points.len() || seam.i + 1 < inside.points.len() {
            // Whoever's next segment has the nearer middle goes on.
            let middle = |s: &Side, k: usize| s.places.get(k + 1).map(|n| s.places[k] + n);
            let outer = match (middle(outside, seam.o), middle(inside, seam.i)) {
                // Of two that are level the outer one; in the middle, and on the way back to the other corner, the inner one.
                (Some(a), Some(b)) => a < b || a == b && a < 1.0,
                (a, _) => a.is_some(),
            };
            self.face(to, seam.go(outer));
        }
    }

    /// Between the patch's own side and the first ring inside. Which triangles stand between sides of different numbers is free; other GPUs have these (as Direct3D's tessellator has), and
    /// pictures of surfaces that are moved show it.
    fn stitch_outer(&self, to: &mut Figure, outside: &Side, inside: &Side, n: u32) {
        let mut seam = Seam { outside, inside, o: 0, i: 0 };
        let mut go = |outer: bool| self.face(to, seam.go(outer));
        let segments = outside.points.len() as u32 - 1;
        let has = |segment: u32, of: u32| rank(segment) < of / 2;
        for segment in 0..=32 {
            if segment > 0 && has(segment, n) {
                go(false);
            }
            if has(segment, segments) {
                go(true);
            }
        }
        if !n.is_multiple_of(2) {
            go(false);
        }
        if !segments.is_multiple_of(2) {
            go(true);
        }
        for segment in (0..=32).rev() {
            if has(segment, segments) {
                go(true);
            }
            if segment > 0 && has(segment, n) {
                go(false);
            }
        }
    }

    /// Corners (u, v, w) are (1, 0, 0), (0, 1, 0) and (0, 0, 1); outer[k] is the side where coordinate k is 0.
    fn triangle(&self, outer: [f32; 4], inner: f32, to: &mut Figure) {
        let outer = [0, 1, 2].map(|k| self.segments(outer[k], self.spacing));
        let alone = outer.iter().all(|o| o.0 == 1);
        let (n, level) = self.inner_segments(inner, alone);
        // Side k begins at corner k + 1 (where coordinate k + 1 is 1) and ends at corner k + 2.
        let on = |k: usize, depth: f32, t: f32| -> At {
            // `depth`: how far from the side; the rest is the other two coordinates'.
            let mut c = [0.0; 3];
            let far = t - depth * 0.5;
            c[k] = depth;
            c[(k + 2) % 3] = far;
            c[(k + 1) % 3] = if depth == 0.0 { 1.0 - far } else { 1.0 - depth - far };
            [c[0], c[1]]
        };
        let outside: Vec<Vec<f32>> = outer.iter().map(|o| self.places(*o)).collect();
        let mut ring = Self::ring(to, &outside, |k, t| on(k, 0.0, t));
        if n == 1 {
            self.face(to, [ring[0].points[0], ring[1].points[0], ring[2].points[0]]);
            return;
        }
        let t = self.places((n, level));
        let mut k = 1;
        loop {
            let left = n as i32 - 2 * k as i32;
            let depth = t[k] * (2.0 / 3.0);
            if left <= 0 {
                let centre = Self::push(to, [1.0 / 3.0, 1.0 / 3.0]);
                let inside = Side { points: vec![centre], places: vec![0.5] };
                for side in &ring {
                    self.stitch(to, k, side, &inside, n);
                }
                return;
            }
            let places = vec![t[k..=n as usize - k].to_vec(); 3];
            let inside = Self::ring(to, &places, |side, t| on(side, depth, t));
            for (outer, inner) in ring.iter().zip(&inside) {
                self.stitch(to, k, outer, inner, n);
            }
            ring = inside;
            if left == 1 {
                self.face(to, [ring[0].points[0], ring[1].points[0], ring[2].points[0]]);
                return;
            }
            k += 1;
        }
    }

    /// outer: the sides u = 0, v = 0, u = 1, v = 1; inner: along u and along v.
    fn quad(&self, outer: [f32; 4], inner: [f32; 2], to: &mut Figure) {
        let outer = outer.map(|o| self.segments(o, self.spacing));
        let plain = inner.map(|i| self.segments(i, self.spacing));
        let alone = outer.iter().chain(&plain).all(|s| s.0 == 1);
        let outside: Vec<Vec<f32>> = [1, 2, 3, 0].iter().map(|&k| self.places(outer[k])).collect();
        // Round the square: v = 0 from u = 0, u = 1 from v = 0, v = 1 from u = 1, u = 0 from v = 1.
        let on = |k: usize, t: f32| -> At {
            match k {
                0 => [t, 0.0],
                1 => [1.0, t],
                2 => [1.0 - t, 1.0],
                _ => [0.0, 1.0 - t],
            }
        };
        let ring = Self::ring(to, &outside, on);
        if alone {
            let c = [0, 1, 2, 3].map(|k| ring[k].points[0]);
            self.square(to, c);
            return;
        }
        let [tu, tv] = inner.map(|i| self.places(self.inner_segments(i, false)));
        let (nu, nv) = (tu.len() - 1, tv.len() - 1);
        // The inner points are a grid, whose rings are stitched; of a level of 2 it is a line, or a point.
        let mut grid = vec![vec![0; nv]; nu];
        for (i, column) in grid.iter_mut().enumerate().skip(1) {
            for (j, p) in column.iter_mut().enumerate().skip(1) {
                *p = Self::push(to, [tu[i], tv[j]]);
            }
        }
        let mut ring = ring;
        let mut k = 1;
        loop {
            let side = |points: Vec<u32>, places: &[f32]| Side { points, places: places.to_vec() };
            let inside = vec![
                side((k..=nu - k).map(|i| grid[i][k]).collect(), &tu[k..=nu - k]),
                side((k..=nv - k).map(|j| grid[nu - k][j]).collect(), &tv[k..=nv - k]),
                side((k..=nu - k).rev().map(|i| grid[i][nv - k]).collect(), &tu[k..=nu - k]),
                side((k..=nv - k).rev().map(|j| grid[k][j]).collect(), &tv[k..=nv - k]),
            ];
            for ((outer, inner), n) in ring.iter().zip(&inside).zip([nu, nv, nu, nv]) {
                self.stitch(to, k, outer, inner, n as u32);
            }
            let (mu, mv) = (nu - 2 * k, nv - 2 * k);
            if mu == 0 || mv == 0 {
                return;
            }
            if mu == 1 || mv == 1 {
                for i in k..nu - k {
                    for j in k..nv - k {
                        let c = [grid[i][j], grid[i + 1][j], grid[i + 1][j + 1], grid[i][j + 1]];
                        self.square(to, c);
                    }
                }
                return;
            }
            ring = inside;
            k += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(domain: Domain, spacing: Spacing, outer: [f32; 4], inner: [f32; 2]) -> (Vec<At>, Vec<[u32; 3]>) {
        let (mut points, mut flow) = (vec![], Assembled::default());
        let t = Tessellator { domain, spacing, turned: false, points: false };
        t.patch(outer, inner, &mut Figure { points: &mut points, flow: &mut flow });
        let faces = (0..flow.v[0].len()).map(|i| [flow.v[0][i], flow.v[1][i], flow.v[2][i]]).collect();
        (points, faces)
    }

    fn area(p: &[At], f: &[u32; 3]) -> f64 {
        let [a, b, c] = f.map(|i| p[i as usize].map(f64::from));
        ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])) / 2.0
    }

    /// Faces fill the domain once, all turn the same way, and no point stands twice.
    #[test]
    fn faces_cover_the_domain_once() {
        let levels = [0.5, 1.0, 1.5, 2.0, 2.3, 3.0, 4.7, 7.0, 64.0, 100.0];
        let mut n = 0;
        for (domain, whole) in [(Domain::Triangles, 0.5), (Domain::Quads, 1.0)] {
            for spacing in [Spacing::Equal, Spacing::FractionalEven, Spacing::FractionalOdd] {
                for (i, &a) in levels.iter().enumerate() {
                    for (j, &b) in levels.iter().enumerate() {
                        let outer = [a, levels[(i + j) % 10], b, levels[(i * 3 + 1) % 10]];
                        let inner = [b, levels[(j * 7 + i) % 10]];
                        let (p, f) = cut(domain, spacing, outer, inner);
                        let sum: f64 = f.iter().map(|f| area(&p, f)).sum();
                        let what = format!("{domain:?} {spacing:?} {outer:?} {inner:?}");
                        assert!((sum.abs() - whole).abs() < 1e-4, "{what}: {sum}");
                        assert!(f.iter().all(|f| area(&p, f) * sum > -1e-9), "{what}: a face is turned");
                        let mut bits: Vec<_> = p.iter().map(|p| p.map(f32::to_bits)).collect();
                        bits.sort_unstable();
                        bits.dedup();
                        let hair = spacing == Spacing::FractionalOdd && inner.iter().any(|i| *i <= 1.0);
                        assert!(bits.len() == p.len() || hair, "{what}: a point twice");
                        n += 1;
                    }
                }
            }
        }
        assert_eq!(n, 600);
    }

    #[test]
    fn hand_counted_figures() {
        use Spacing::Equal;
        let count = |d, outer, inner| {
            let (p, f) = cut(d, Equal, outer, inner);
            (p.len(), f.len())
        };
        // One triangle; inner 2: a fan around the centre; inner 3: a ring and a triangle.
        assert_eq!(count(Domain::Triangles, [1.0; 4], [1.0; 2]), (3, 1));
        assert_eq!(count(Domain::Triangles, [1.0; 4], [2.0; 2]), (4, 3));
        assert_eq!(count(Domain::Triangles, [3.0; 4], [3.0; 2]), (12, 13));
        assert_eq!(count(Domain::Quads, [1.0; 4], [1.0; 2]), (4, 2));
        // 4 × 4 fields.
        assert_eq!(count(Domain::Quads, [4.0; 4], [4.0; 2]), (25, 32));
        assert_eq!(count(Domain::Isolines, [3.0, 5.0, 0.0, 0.0], [0.0; 2]), (18, 15));
        // No level, no patch.
        assert_eq!(count(Domain::Quads, [1.0, 0.0, 1.0, 1.0], [4.0; 2]), (0, 0));
        assert_eq!(count(Domain::Triangles, [1.0, f32::NAN, 1.0, 0.0], [4.0; 2]), (0, 0));
    }

    /// What lies at t on an edge lies at 1 − t of the other patch's, to the bit.
    #[test]
    fn edges_are_symmetrical() {
        for spacing in [Spacing::Equal, Spacing::FractionalEven, Spacing::FractionalOdd] {
            for k in 1..640 {
                let t = Tessellator { domain: Domain::Quads, spacing, turned: false, points: false };
                let p = t.places(t.segments(k as f32 / 10.0, spacing));
                assert!(p.iter().zip(p.iter().rev()).all(|(a, b)| *a == 1.0 - *b && *b == 1.0 - *a));
                assert!(p.windows(2).all(|w| w[0] < w[1]), "{spacing:?} {k}: {p:?}");
            }
        }
    }
}

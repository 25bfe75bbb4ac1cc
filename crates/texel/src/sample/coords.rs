//! Coordinates: wrapping, cube faces and their edges.

use super::sampler::Wrap;

/// "Wrapping Operation": the texel `i` stands for, `None` for the border.
#[inline]
pub fn wrap(mode: Wrap, i: i32, size: u32) -> Option<u32> {
    let n = size as i32;
    if (0..n).contains(&i) {
        return Some(i as u32);
    }
    Some(match mode {
        Wrap::Repeat => i.rem_euclid(n) as u32,
        Wrap::Mirror => {
            // size - 1 - mirror((i mod 2·size) - size), mirror(n) = n or -(1 + n).
            let m = (i as i64).rem_euclid(2 * n as i64) - n as i64;
            (n as i64 - 1 - if m >= 0 { m } else { -(1 + m) }) as u32
        }
        Wrap::Edge => i.clamp(0, n - 1) as u32,
        Wrap::Border => return None,
        Wrap::MirrorEdge => (if i >= 0 { i } else { !i }).min(n - 1) as u32,
    })
}

/// Texel coordinates are cut to ± this: farther out they have no fraction, and the steps to integers and around the
/// image stay exact.
pub const LIMIT: f32 = 16777216.0;

/// A texel coordinate within ± [`LIMIT`]; NaN gives the lower end.
// `clamp` would keep NaN.
#[allow(clippy::manual_clamp)]
#[inline(always)]
pub fn limit(u: f32) -> f32 {
    u.max(-LIMIT).min(LIMIT)
}

/// `f32` to the integer below, saturating; NaN gives 0.
#[inline]
pub fn floor(x: f32) -> i32 {
    x.floor() as i32
}

/// Array layer: round to nearest even, clamped.
#[inline(always)]
pub fn layer(a: f32, count: u32) -> u32 {
    (a.round_ties_even().max(0.0) as u32).min(count - 1)
}

/// Axes of a cube face: which component of the direction gives s, t and the major axis, and its sign.
/// Table "Cube Map Face and Coordinate Selection".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Face {
    pub index: u32,
    s: (usize, f32),
    t: (usize, f32),
    r: (usize, f32),
}

pub(super) const FACES: [Face; 6] = [
    Face { index: 0, s: (2, -1.0), t: (1, -1.0), r: (0, 1.0) },
    Face { index: 1, s: (2, 1.0), t: (1, -1.0), r: (0, -1.0) },
    Face { index: 2, s: (0, 1.0), t: (2, 1.0), r: (1, 1.0) },
    Face { index: 3, s: (0, 1.0), t: (2, -1.0), r: (1, -1.0) },
    Face { index: 4, s: (0, 1.0), t: (1, -1.0), r: (2, 1.0) },
    Face { index: 5, s: (0, -1.0), t: (1, -1.0), r: (2, -1.0) },
];

/// "Cube Map Face Selection": z wins over y and x, y wins over x.
#[inline]
pub fn face(d: [f32; 3]) -> &'static Face {
    let a = d.map(f32::abs);
    let axis = if a[2] >= a[0] && a[2] >= a[1] {
        2
    } else if a[1] >= a[0] {
        1
    } else {
        0
    };
    &FACES[axis * 2 + (d[axis] < 0.0) as usize]
}

impl Face {
    /// Signs of the components that are s, t and the major axis.
    pub fn signs(&self) -> [f32; 3] {
        [self.s.1, self.t.1, self.r.1]
    }

    /// Direction to (s, t) on the face, 0..1.
    #[inline]
    pub fn project(&self, d: [f32; 3]) -> [f32; 2] {
        let r = d[self.r.0].abs();
        // A null direction has no face; any texel will do.
        let inv = if r > 0.0 { 0.5 / r } else { 0.0 };
        [d[self.s.0] * self.s.1 * inv + 0.5, d[self.t.0] * self.t.1 * inv + 0.5]
    }

    /// "Cube Map Derivative Transformation" of one derivative of the direction.
    pub fn project_derivative(&self, d: [f32; 3], dd: [f32; 3]) -> [f32; 2] {
        let r = d[self.r.0].abs();
        let dr = dd[self.r.0] * self.r.1;
        let one = |(axis, sign): (usize, f32)| 0.5 * (r * dd[axis] * sign - d[axis] * sign * dr) / (r * r);
        [one(self.s), one(self.t)]
    }
}

/// A texel beyond one edge of a face of `n`×`n` texels, by at most one: its face and place. `None` beyond two edges.
///
/// Integer directions make this exact: texel centres are at odd or even multiples of 1 from -(n-1) to n-1 on a cube
/// whose faces are at ±n; the neighbour's edge texel lies at n-1 along the old face's axis.
pub fn cube_edge(face: u32, x: i32, y: i32, n: u32) -> Option<(u32, u32, u32)> {
    let n = n as i32;
    let (in_x, in_y) = ((0..n).contains(&x), (0..n).contains(&y));
    if in_x && in_y {
        return Some((face, x as u32, y as u32));
    }
    if !in_x && !in_y {
        return None;
    }
    let f = &FACES[face as usize % 6];
    let mut d = [0i32; 3];
    let sign = |v: (usize, f32)| v.1 as i32;
    // Along the edge: as it is. Across: the new major axis. The old major axis: the neighbour's outermost texel.
    let (across, along, c, a) = if in_y { (f.s, f.t, x, y) } else { (f.t, f.s, y, x) };
    d[along.0] = (2 * a + 1 - n) * sign(along);
    d[across.0] = if c < 0 { -n } else { n } * sign(across);
    d[f.r.0] = (n - 1) * sign(f.r);
    let g = &FACES[across.0 * 2 + (d[across.0] < 0) as usize];
    let place = |v: (usize, f32)| ((d[v.0] * sign(v) + n - 1) / 2).clamp(0, n - 1) as u32;
    Some((g.index, place(g.s), place(g.t)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping() {
        let row = |m| (-5..=8).map(|i| wrap(m, i, 4).map_or(-1, |v| v as i32)).collect::<Vec<_>>();
        assert_eq!(row(Wrap::Repeat), [3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]);
        assert_eq!(row(Wrap::Mirror), [3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 2, 1, 0, 0]);
        assert_eq!(row(Wrap::Edge), [0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]);
        assert_eq!(row(Wrap::Border), [-1, -1, -1, -1, -1, 0, 1, 2, 3, -1, -1, -1, -1, -1]);
        assert_eq!(row(Wrap::MirrorEdge), [3, 3, 2, 1, 0, 0, 1, 2, 3, 3, 3, 3, 3, 3]);
        for m in [Wrap::Repeat, Wrap::Mirror, Wrap::Edge, Wrap::MirrorEdge] {
            for i in [i32::MIN, i32::MAX] {
                assert!(wrap(m, i, 7).unwrap() < 7);
            }
        }
    }

    #[test]
    fn face_table() {
        let st = |d| (face(d).index, face(d).project(d));
        assert_eq!(st([2.0, 1.0, -1.0]), (0, [0.75, 0.25]));
        assert_eq!(st([-2.0, 1.0, -1.0]), (1, [0.25, 0.25]));
        assert_eq!(st([1.0, 2.0, -1.0]), (2, [0.75, 0.25]));
        assert_eq!(st([1.0, -2.0, -1.0]), (3, [0.75, 0.75]));
        assert_eq!(st([1.0, -1.0, 2.0]), (4, [0.75, 0.75]));
        assert_eq!(st([1.0, -1.0, -2.0]), (5, [0.25, 0.75]));
        // Ties: z over y over x.
        assert_eq!(face([1.0, 1.0, 1.0]).index, 4);
        assert_eq!(face([1.0, -1.0, 0.5]).index, 3);
    }

    #[test]
    fn edges_meet() {
        // Beyond the right edge of +Z (4) lies the left column of +X (0), same row.
        assert_eq!(cube_edge(4, 4, 1, 4), Some((0, 0, 1)));
        // Beyond the left edge of +Z lies the right column of -X (1).
        assert_eq!(cube_edge(4, -1, 1, 4), Some((1, 3, 1)));
        // Beyond the top of +Z lies the bottom row of +Y (2).
        assert_eq!(cube_edge(4, 1, -1, 4), Some((2, 1, 3)));
        // Beyond the top of +X lies the right column of +Y, reversed.
        assert_eq!(cube_edge(0, 0, -1, 4), Some((2, 3, 3)));
        assert_eq!(cube_edge(0, -1, -1, 4), None);
        // Crossing an edge and coming back gives the texel one started at.
        for f in 0..6 {
            for i in 0..5 {
                for (x, y) in [(-1, i), (5, i), (i, -1), (i, 5)] {
                    let (g, gx, gy) = cube_edge(f, x, y, 5).unwrap();
                    assert_ne!(g, f);
                    let (inner_x, inner_y) = (x.clamp(0, 4) as u32, y.clamp(0, 4) as u32);
                    let back = [(-1, 0), (1, 0), (0, -1), (0, 1)].iter().any(|&(dx, dy)| {
                        cube_edge(g, gx as i32 + dx, gy as i32 + dy, 5) == Some((f, inner_x, inner_y))
                    });
                    assert!(back, "{f} {x} {y}");
                }
            }
        }
    }
}

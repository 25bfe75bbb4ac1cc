//! Clipping of triangles and lines in clip space (Vulkan specification, "Primitive Clipping", "Clipping Shader
//! Outputs").
//!
//! Vertices are kept as weights of the primitive's own vertices. A new vertex is always computed from the inner to the
//! outer end of its edge, so that primitives sharing the edge get the same one.

use super::vertex::{ClipZ, Outputs, Vertices, code};
use super::viewport::{GUARD, MARGIN, Map};
use std::mem::MaybeUninit;

/// Positive, and small enough to be nobody's w; 1/w is still far from infinity.
pub const LEAST_W: f64 = 1e-15;

/// A vertex of a primitive being clipped.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    pub position: [f64; 4],
    /// Weights of the primitive's vertices, in clip space.
    pub weights: [f64; 3],
    /// Clip distances.
    distances: [f64; 8],
    /// The primitive's own vertex, if it is one.
    pub own: Option<u8>,
    /// The edge to the next vertex is (a part of) an edge of the primitive.
    pub edge: bool,
}

impl Corner {
    fn between(inner: &Corner, outer: &Corner, t: f64, edge: bool) -> Corner {
        let mix = |a: f64, b: f64| a + t * (b - a);
        Corner {
            position: std::array::from_fn(|i| mix(inner.position[i], outer.position[i])),
            weights: std::array::from_fn(|i| mix(inner.weights[i], outer.weights[i])),
            distances: std::array::from_fn(|i| mix(inner.distances[i], outer.distances[i])),
            own: None,
            edge,
        }
    }

    /// Clip space as it goes to the viewport.
    pub fn clip(&self) -> [f32; 4] {
        self.position.map(|c| c as f32)
    }
}

/// A half-space.
#[derive(Clone, Copy)]
enum Plane {
    W,
    /// `(p · position)` ≥ 0.
    Linear([f64; 4]),
    Distance(usize),
}

impl Plane {
    fn of(self, c: &Corner) -> f64 {
        let [x, y, z, w] = c.position;
        match self {
            Plane::W => w - LEAST_W,
            Plane::Linear([a, b, d, e]) => a * x + b * y + d * z + e * w,
            Plane::Distance(i) => c.distances[i],
        }
    }
}

/// Corners of a clipped triangle: three and one more a plane.
const MOST_CORNERS: usize = 24;

/// A convex polygon, or the two ends of a line.
pub struct Polygon {
    /// The first `len` are there; to write all of them would cost more than clipping does.
    corners: [MaybeUninit<Corner>; MOST_CORNERS],
    len: usize,
}

impl Polygon {
    /// The primitive of these vertices, three or two.
    pub fn new(v: &Vertices, o: &Outputs, vertices: &[u32]) -> Polygon {
        let mut p = Polygon::empty();
        for (i, &n) in vertices.iter().enumerate() {
            let mut c = Corner {
                position: v.position(o, n as usize).map(|c| c as f64),
                weights: [0.0; 3],
                distances: [0.0; 8],
                own: Some(i as u8),
                edge: true,
            };
            c.weights[i] = 1.0;
            for (d, &k) in c.distances.iter_mut().zip(&o.clip) {
                *d = v.float(k, n as usize) as f64;
            }
            p.push(c);
        }
        p
    }

    fn empty() -> Polygon {
        Polygon { corners: [MaybeUninit::uninit(); MOST_CORNERS], len: 0 }
    }

    pub fn corners(&self) -> &[Corner] {
        // SAFETY: `push` has written them.
        unsafe { self.corners[..self.len].assume_init_ref() }
    }

    /// Cuts the polygon to everything that `codes`, all vertices' bits together, says it may lie outside of.
    pub fn clip(&mut self, codes: u32, clip_z: ClipZ, map: &Map) {
        let mut planes = [Plane::W; 20];
        let mut n = 0;
        let mut add = |p: Plane| {
            planes[n] = p;
            n += 1;
        };
        if codes & (code::GUARD | code::XY | code::NEAR | code::FAR) != 0 {
            add(Plane::W);
        }
        if clip_z != ClipZ::None && codes & (code::NEAR | code::FAR) != 0 {
            add(Plane::Linear([0.0, 0.0, 1.0, if clip_z == ClipZ::Minus { 1.0 } else { 0.0 }]));
            add(Plane::Linear([0.0, 0.0, -1.0, 1.0]));
        }
        for i in 0..8 {
            if codes >> (code::CLIP + i) & 1 != 0 {
                add(Plane::Distance(i as usize));
            }
        }
        if map.clip_xy && codes & code::XY != 0 {
            add(Plane::Linear([1.0, 0.0, 0.0, 1.0]));
            add(Plane::Linear([-1.0, 0.0, 0.0, 1.0]));
            add(Plane::Linear([0.0, 1.0, 0.0, 1.0]));
            add(Plane::Linear([0.0, -1.0, 0.0, 1.0]));
        }
        // A vertex that is inside before the near plane cuts may be far out after it.
        if codes & (code::GUARD | code::XY | code::NEAR | code::FAR) != 0 {
            let (low, high) = ((GUARD[0] + MARGIN) as f64, (GUARD[1] - MARGIN) as f64);
            for axis in 0..2 {
                let (s, o) = (map.scale[axis] as f64, map.offset[axis] as f64);
                let mut a = [0.0; 4];
                (a[axis], a[3]) = (s, o - low);
                add(Plane::Linear(a));
                (a[axis], a[3]) = (-s, high - o);
                add(Plane::Linear(a));
            }
        }
        for p in &planes[..n] {
            if self.len == 2 {
                self.cut_line(*p)
            } else {
                self.cut(*p)
            }
            if self.len == 0 {
                return;
            }
        }
    }

    /// Sutherland and Hodgman's step for one plane.
    fn cut(&mut self, plane: Plane) {
        let mut at = [0.0; MOST_CORNERS];
        let mut outside = false;
        for (d, c) in at.iter_mut().zip(self.corners()) {
            *d = plane.of(c);
            // Not a number is outside.
            outside |= *d < 0.0 || d.is_nan();
        }
        if !outside {
            return;
        }
        let mut new = Polygon::empty();
        let old = self.corners();
        for i in 0..old.len() {
            let j = (i + 1) % old.len();
            let (a, b) = (&old[i], &old[j]);
            let (da, db) = (at[i], at[j]);
            if da >= 0.0 {
                new.push(*a);
                if db < 0.0 || db.is_nan() {
                    new.push(Corner::between(a, b, da / (da - db), false));
                }
            } else if db >= 0.0 {
                new.push(Corner::between(b, a, db / (db - da), a.edge));
            }
        }
        *self = new;
        if self.len < 3 {
            self.len = 0;
        }
    }

    fn cut_line(&mut self, plane: Plane) {
        let &[a, b] = self.corners() else { return };
        let (da, db) = (plane.of(&a), plane.of(&b));
        match (da >= 0.0, db >= 0.0) {
            (true, true) => {}
            (true, false) => {
                self.corners[1] = MaybeUninit::new(Corner::between(&a, &b, da / (da - db), true))
            }
            (false, true) => {
                self.corners[0] = MaybeUninit::new(Corner::between(&b, &a, db / (db - da), true))
            }
            (false, false) => self.len = 0,
        }
    }

    fn push(&mut self, c: Corner) {
        if self.len < MOST_CORNERS {
            self.corners[self.len] = MaybeUninit::new(c);
            self.len += 1;
        }
    }
}

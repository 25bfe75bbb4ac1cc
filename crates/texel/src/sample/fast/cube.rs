//! Cube maps: a direction's face and place on it, and texels beyond a face's edges, where the sampler crosses them.

use super::super::args::SampleArgs;
use super::super::coords::{FACES, cube_edge};
use super::super::sampler::Sampler;
use super::Fast;
use super::place::{Levels, Place};
use super::warp::floats;
use crate::vector::load;
use simd::Simd;
use simd::ops;
use std::sync::LazyLock;

/// What is known by face, a lane each.
struct Tables {
    /// Sign bits of the components that are s, t and the major axis.
    signs: [[u32; 16]; 3],
    /// Beyond the left, right, upper and lower edge: the face that lies there, and how a place along the edge becomes one
    /// on it.
    beyond: [[u32; 16]; 4],
}

/// Of an entry of [`Tables::beyond`], for x, and three bits on for y: the coordinate is 0, not that along the edge; it is counted from the
/// other side.
const ZERO: u32 = 3;
const BACK: u32 = 4;
const Y: u32 = 2;

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let mut t = Tables { signs: [[0; 16]; 3], beyond: [[0; 16]; 4] };
    for (f, face) in FACES.iter().enumerate() {
        for (signs, sign) in t.signs.iter_mut().zip(face.signs()) {
            signs[f] = sign.to_bits() & 1 << 31;
        }
        // Of four texels the second along an edge is one that no other rule gives.
        for (beyond, [x, y]) in t.beyond.iter_mut().zip([[-1, 1], [4, 1], [1, -1], [1, 4]]) {
            let Some((g, x, y)) = cube_edge(f as u32, x, y, 4) else { continue };
            let rule = |v: u32| ((v == 0 || v == 3) as u32) | ((v >= 2) as u32) << (BACK - ZERO);
            beyond[f] = g | rule(x) << ZERO | rule(y) << (ZERO + Y);
        }
    }
    t
});

#[inline(always)]
fn by_face<S: Simd>(s: S, table: &[u32; 16], face: S::I) -> S::I {
    s.ishuffle(load(s, table), face)
}

/// Directions' faces, and their components along each's axes: s, t, and the major axis, towards the face.
pub struct Direction<S: Simd> {
    pub face: S::I,
    /// The major axis is z; it is y.
    z: S::M,
    y: S::M,
    components: [S::F; 3],
    tables: &'static Tables,
}

impl<S: Simd> Direction<S> {
    /// As [`super::super::coords::face`].
    #[inline(always)]
    pub fn new(s: S, args: &SampleArgs) -> Direction<S> {
        Self::of(s, [floats(s, &args.coords[0]), floats(s, &args.coords[1]), floats(s, &args.coords[2])])
    }

    #[inline(always)]
    pub fn of(s: S, d: [S::F; 3]) -> Direction<S> {
        let [ax, ay, az] = [ops::fabs(s, d[0]), ops::fabs(s, d[1]), ops::fabs(s, d[2])];
        let z = s.mand(s.fle(ax, az), s.fle(ay, az));
        let y = s.mand(s.mnot(z), s.fle(ax, ay));
        let major = s.fsel(z, d[2], s.fsel(y, d[1], d[0]));
        let axis = s.isel(z, s.isplat(4), s.isel(y, s.isplat(2), s.isplat(0)));
        let negative = s.isel(s.flt(major, s.fsplat(0.0)), s.isplat(1), s.isplat(0));
        let mut of = Direction { face: s.ior(axis, negative), z, y, components: d, tables: &TABLES };
        of.components = of.along(s, &d);
        of
    }

    /// Components of any vector along the axes of the directions' faces.
    #[inline(always)]
    fn along(&self, s: S, v: &[S::F; 3]) -> [S::F; 3] {
        let x = s.mnot(s.mor(self.y, self.z));
        let mut out = [
            s.fsel(x, v[2], v[0]),
            s.fsel(self.y, v[2], v[1]),
            s.fsel(self.z, v[2], s.fsel(self.y, v[1], v[0])),
        ];
        for k in 0..3 {
            let sign = by_face(s, &self.tables.signs[k], self.face);
            out[k] = s.from_bits(s.ixor(s.bits(out[k]), sign));
        }
        out
    }

    /// As [`super::super::coords::Face::project`].
    #[inline(always)]
    pub fn project(&self, s: S) -> [S::F; 2] {
        let zero = s.fsplat(0.0);
        let half = s.fsplat(0.5);
        let r = ops::fabs(s, self.components[2]);
        let inv = s.fsel(s.flt(zero, r), s.fdiv(half, r), zero);
        [s.fadd(s.fmul(self.components[0], inv), half), s.fadd(s.fmul(self.components[1], inv), half)]
    }

    /// As [`super::super::coords::Face::project_derivative`].
    #[inline(always)]
    pub fn project_derivative(&self, s: S, v: &[S::F; 3]) -> [S::F; 2] {
        let dd = self.along(s, v);
        let r = ops::fabs(s, self.components[2]);
        let mut out = [r; 2];
        for k in 0..2 {
            let d = s.fsub(s.fmul(r, dd[k]), s.fmul(self.components[k], dd[2]));
            out[k] = s.fdiv(s.fmul(s.fsplat(0.5), d), s.fmul(r, r));
        }
        out
    }
}

/// Whether texels beyond a face's edge are those of the next one.
#[inline(always)]
pub fn seamless(f: &Fast, sampler: &Sampler) -> bool {
    f.cube && sampler.seamless
}

/// The 2×2 texels around places of which some lie beyond an edge of a face.
pub struct Corners<S: Simd> {
    pub weight: [S::F; 2],
    /// First columns and rows, from -1 on.
    first: [S::I; 2],
    /// Lanes with a texel outside their face.
    pub across: S::M,
}

#[inline(always)]
pub fn corners<S: Simd>(s: S, l: &Levels<S>, u: &[S::F; 2]) -> Corners<S> {
    let mut c = Corners { weight: *u, first: l.texels, across: s.mask(0) };
    let (one, minus) = (s.isplat(1), s.isplat(!0));
    for k in 0..2 {
        let v = s.fsub(u[k], s.fsplat(0.5));
        let base = s.ffloor(v);
        c.weight[k] = s.fsub(v, base);
        let last = s.isub(l.texels[k], one);
        let i = s.smin(s.smax(s.f_to_s_raw(base), minus), last);
        c.first[k] = i;
        c.across = s.mor(c.across, s.mor(s.ieq(i, minus), s.ieq(i, last)));
    }
    c
}

/// A texel of each lane: column, row, where its layer begins; lanes that have none, beyond two edges.
pub struct Texel<S: Simd> {
    pub column: S::I,
    pub row: S::I,
    pub start: S::I,
    pub none: S::M,
}

#[inline(always)]
fn inside<S: Simd>(s: S, i: S::I, last: S::I) -> S::I {
    s.smin(s.smax(i, s.isplat(0)), last)
}

/// A coordinate by the bits of [`Tables::beyond`] from `bit` on.
#[inline(always)]
fn placed<S: Simd>(s: S, rule: S::I, bit: u32, along: S::I, last: S::I) -> S::I {
    let zero = s.isplat(0);
    let is_along = s.ieq(s.iand(rule, s.isplat(1 << bit)), zero);
    let v = s.isel(is_along, inside(s, along, last), zero);
    let forth = s.ieq(s.iand(rule, s.isplat(1 << (bit + BACK - ZERO))), zero);
    s.isel(forth, v, s.isub(last, v))
}

impl<S: Simd> Corners<S> {
    /// Texel `n` of a square, row by row. As [`cube_edge`].
    #[inline(always)]
    pub fn texel(&self, s: S, p: &Place<S>, l: &Levels<S>, n: u32) -> Texel<S> {
        let (zero, one) = (s.isplat(0), s.isplat(1));
        let [x, y] = [s.iadd(self.first[0], s.isplat(n & 1)), s.iadd(self.first[1], s.isplat(n >> 1))];
        let last = s.isub(l.texels[0], one);
        let (left, right) = (s.sgt(zero, x), s.sgt(x, last));
        let (above, below) = (s.sgt(zero, y), s.sgt(y, last));
        let (beside, over) = (s.mor(left, right), s.mor(above, below));
        let [to_left, to_right, up, down] = &TABLES.beyond;
        let rule = s.isel(above, by_face(s, up, p.face), by_face(s, down, p.face));
        let rule = s.isel(right, by_face(s, to_right, p.face), rule);
        let rule = s.isel(left, by_face(s, to_left, p.face), rule);
        let out = s.mor(beside, over);
        let along = s.isel(beside, y, x);
        // Beyond two edges: anywhere.
        let (own_x, own_y) = (inside(s, x, last), inside(s, y, last));
        let column = s.isel(out, placed(s, rule, ZERO, along, last), own_x);
        let row = s.isel(out, placed(s, rule, ZERO + Y, along, last), own_y);
        let face = s.isel(out, s.iand(rule, s.isplat(7)), p.face);
        let layer = s.umin(s.iadd(p.first, face), p.last);
        let start = s.iadd(l.start, s.imul(s.isub(layer, p.layer), l.layer_pitch));
        Texel { column, row, start, none: s.mand(beside, over) }
    }
}

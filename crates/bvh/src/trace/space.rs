//! A ray as the kernels want it, in one space.

use super::node::SLACK;
use simd::Simd;

/// Rows of sixteen floats are [x, y, z, anything] four times: quads 0 and 1 are for near planes, quads 2 and 3 for far ones.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Space {
    pub origin16: [f32; 16],
    /// 1 / direction; negative in the quads for far planes.
    pub inverse16: [f32; 16],
    /// The same, changed by [`SLACK`] both ways.
    pub shorter16: [f32; 16],
    pub longer16: [f32; 16],
    pub origin: [f32; 3],
    pub direction: [f32; 3],
    /// The axes in the order of the shear: that of the largest component of the direction is the last.
    pub axes: [u8; 3],
    /// Where the near planes of an axis begin: 0, or 8 for a negative direction.
    pub near: [u8; 3],
    pub shear: [f32; 3],
}

/// In place of the reciprocal of a direction that is 0 or below the reciprocal of this. Products with distances up to 2^43 are finite, and
/// those with the least margin of a plane (2^-40 times [`super::node::MARGIN`]) are above 2^32.
const LARGE: f32 = f32::from_bits((127 + 84) << 23);

impl Space {
    pub const EMPTY: Space = Space {
        origin16: [0.0; 16],
        inverse16: [0.0; 16],
        shorter16: [0.0; 16],
        longer16: [0.0; 16],
        origin: [0.0; 3],
        direction: [0.0; 3],
        axes: [0, 1, 2],
        near: [0; 3],
        shear: [0.0; 3],
    };

    /// For triangles, and for boxes after [`Self::set_rows`]: see [`Self::set_boxes`].
    #[inline(always)]
    pub fn set_triangles(&mut self, origin: [f32; 3], direction: [f32; 3]) -> bool {
        if !self.aim(origin, direction) {
            return false;
        }
        let [x, y, z] = direction;
        let abs = [x.abs(), y.abs(), z.abs()];
        let kz = if abs[0] > abs[1] && abs[0] > abs[2] {
            0
        } else if abs[1] > abs[2] {
            1
        } else {
            2
        };
        let (mut kx, mut ky) = ([1, 2, 0][kz], [2, 0, 1][kz]);
        // So that the order of vertices, seen along the ray, stays.
        if direction[kz] < 0.0 {
            (kx, ky) = (ky, kx);
        }
        self.axes = [kx as u8, ky as u8, kz as u8];
        self.shear = [direction[kx] / direction[kz], direction[ky] / direction[kz], 1.0 / direction[kz]];
        true
    }

    /// False if the ray has a component that is not finite, or no direction: it hits nothing.
    #[inline(always)]
    pub fn set_boxes<S: Simd>(&mut self, s: S, origin: [f32; 3], direction: [f32; 3]) -> bool {
        self.aim(origin, direction) && {
            self.set_rows(s);
            true
        }
    }

    /// [`Self::set_boxes`] without the rows.
    #[inline(always)]
    pub fn aim(&mut self, origin: [f32; 3], direction: [f32; 3]) -> bool {
        // (A product with 0 is 0 unless something is not finite.)
        let [x, y, z] = direction;
        let sum = (origin[0] * 0.0 + x * 0.0) + (origin[1] * 0.0 + y * 0.0) + (origin[2] * 0.0 + z * 0.0);
        if sum != 0.0 || (x == 0.0 && y == 0.0 && z == 0.0) {
            return false;
        }
        self.origin = origin;
        self.direction = direction;
        self.near = [
            ((x.to_bits() >> 31) * 8) as u8,
            ((y.to_bits() >> 31) * 8) as u8,
            ((z.to_bits() >> 31) * 8) as u8,
        ];
        true
    }

    /// The rows of a ray that [`Self::aim`] was given.
    #[inline(always)]
    pub fn set_rows<S: Simd>(&mut self, s: S) {
        // Rows are made of vectors: what is stored in parts is slow to load as a whole.
        let inverse = inverse(s, row(s, self.direction));
        let inverse =
            s.fsel(s.mask(0xFF), inverse, s.from_bits(s.ixor(s.bits(inverse), s.isplat(0x8000_0000))));
        // SAFETY: rows of sixteen floats, aligned.
        unsafe {
            s.fstore(self.origin16.as_mut_ptr().cast(), row(s, self.origin));
            s.fstore(self.inverse16.as_mut_ptr().cast(), inverse);
            s.fstore(self.shorter16.as_mut_ptr().cast(), s.fmul(inverse, s.fsplat(1.0 - SLACK)));
            s.fstore(self.longer16.as_mut_ptr().cast(), s.fmul(inverse, s.fsplat(1.0 + SLACK)));
        }
    }
}

/// 1 / direction, but not above [`LARGE`].
#[inline(always)]
pub fn inverse<S: Simd>(s: S, d: S::F) -> S::F {
    let signs = s.iand(s.bits(d), s.isplat(0x8000_0000));
    let tiny = s.flt(s.from_bits(s.ixor(s.bits(d), signs)), s.fsplat(1.0 / LARGE));
    let large = s.from_bits(s.ior(s.isplat(LARGE.to_bits()), signs));
    s.fsel(tiny, large, s.fdiv(s.fsplat(1.0), d))
}

/// [x, y, z, z] in each quad.
#[inline(always)]
fn row<S: Simd>(s: S, v: [f32; 3]) -> S::F {
    s.fsel(s.mask(0x1111), s.fsplat(v[0]), s.fsel(s.mask(0x2222), s.fsplat(v[1]), s.fsplat(v[2])))
}

/// Three rows of four.
#[inline(always)]
pub fn point(m: &[f32; 12], p: [f32; 3]) -> [f32; 3] {
    let mut out = [0.0; 3];
    for r in 0..3 {
        out[r] = m[r * 4] * p[0] + m[r * 4 + 1] * p[1] + m[r * 4 + 2] * p[2] + m[r * 4 + 3];
    }
    out
}

#[inline(always)]
pub fn vector(m: &[f32; 12], p: [f32; 3]) -> [f32; 3] {
    let mut out = [0.0; 3];
    for r in 0..3 {
        out[r] = m[r * 4] * p[0] + m[r * 4 + 1] * p[1] + m[r * 4 + 2] * p[2];
    }
    out
}

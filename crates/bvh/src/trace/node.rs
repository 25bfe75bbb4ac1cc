//! A ray against the eight boxes of a node.

use super::space::{Space, inverse};
use crate::layout::{AXIS, BOUNDS};
use simd::Simd;

/// Sixteen floats in memory.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct Row(pub [f32; 16]);

#[repr(C, align(64))]
struct Words([u32; 16]);

/// Left shifts that bring the exponents of word 3 to where a float has its own.
static SHIFTS: Words = Words([23, 15, 7, 0, 23, 15, 7, 0, 23, 15, 7, 0, 23, 15, 7, 0]);

/// The planes of a box are computed as `byte * (step / d) + (grid - origin) / d`. The second term has a relative error of less than four
/// half units in the last place, and the triangle's own test adds as much: it is widened by this. The error of the first term, less than
/// 2^-14 steps, is in the margin that the builder leaves ([`MARGIN`]).
pub const SLACK: f32 = 1.0 / (1 << 21) as f32;

/// Least distance of a plane from what it bounds, in steps.
pub const MARGIN: f32 = 1.0 / (1 << 12) as f32;

/// Which of the eight boxes the ray meets between `t_min` and `t_max`, and where (the first eight of `near`).
///
/// Upper lanes have negated far planes, so one maximum serves both. A NaN (an infinite plane of an infinite box) constrains nothing.
/// Places without a child have an empty box, and may be met all the same.
///
/// # Safety
/// `node` is a node.
#[inline(always)]
pub unsafe fn boxes<S: Simd>(s: S, node: *const u8, space: &Space, limits: S::F, near: &mut Row) -> u32 {
    // SAFETY: all that is read lies in the node's 128 bytes.
    unsafe {
        let grid = s.from_bits(s.iload4([node.cast_mut(); 4]));
        let origin = s.fload(space.origin16.as_ptr().cast());
        let exponents = s.bits(s.fquad::<3>(grid));
        let step = s.iand(s.ishl(exponents, s.iload(SHIFTS.0.as_ptr().cast())), s.isplat(0x7F80_0000));
        let a = s.fmul(s.from_bits(step), s.fload(space.inverse16.as_ptr().cast()));
        // The lower one, whatever the signs.
        let d = s.fsub(grid, origin);
        // (Finite above: an infinite far plane would hide a box that is large.)
        let b = s.fmin_raw(s.fmul(d, s.fload(space.shorter16.as_ptr().cast())), s.fsplat(f32::MAX));
        let b = s.fmin_raw(s.fmul(d, s.fload(space.longer16.as_ptr().cast())), b);
        let mut t = limits;
        t = s.fmax_raw(s.fma(plane(s, node, &space.near, 0), s.fquad::<0>(a), s.fquad::<0>(b)), t);
        t = s.fmax_raw(s.fma(plane(s, node, &space.near, 1), s.fquad::<1>(a), s.fquad::<1>(b)), t);
        t = s.fmax_raw(s.fma(plane(s, node, &space.near, 2), s.fquad::<2>(a), s.fquad::<2>(b)), t);
        let far = s.from_bits(s.ixor(s.bits(s.fother_half(t)), s.isplat(0x8000_0000)));
        s.fstore(near.0.as_mut_ptr().cast(), t);
        s.mbits(s.fle(t, far)) as u32 & 0xFF
    }
}

/// Near and far planes of an axis, in steps.
///
/// # Safety
/// `node` is a node; `axis` is below 3.
#[inline(always)]
unsafe fn plane<S: Simd>(s: S, node: *const u8, near: &[u8; 3], axis: usize) -> S::F {
    // SAFETY: the caller's.
    unsafe { s.s_to_f(s.iwiden8(node.add(BOUNDS + AXIS * axis + near[axis] as usize))) }
}

/// Sixteen rays, a row a component, whose directions have the same signs.
#[derive(Clone, Copy)]
pub struct Warp {
    pub t_min: Row,
    pub t_max: Row,
    /// As a [`Space`] has them, of near planes.
    pub origin: [Row; 3],
    pub inverse: [Row; 3],
    pub shorter: [Row; 3],
    pub longer: [Row; 3],
    pub near: [u8; 3],
}

impl Warp {
    pub const EMPTY: Warp = Warp {
        t_min: NO_ROW,
        t_max: NO_ROW,
        origin: [NO_ROW; 3],
        inverse: [NO_ROW; 3],
        shorter: [NO_ROW; 3],
        longer: [NO_ROW; 3],
        near: [0; 3],
    };

    /// The ray of a lane from now on, until [`Self::ready`].
    #[inline(always)]
    pub fn set(&mut self, lane: usize, space: &Space) {
        for axis in 0..3 {
            self.origin[axis].0[lane & 15] = space.origin[axis];
            self.inverse[axis].0[lane & 15] = space.direction[axis];
        }
    }

    /// After all rays are set.
    #[inline(always)]
    pub fn ready<S: Simd>(&mut self, s: S) {
        for axis in 0..3 {
            // SAFETY: rows of sixteen floats, aligned.
            unsafe {
                let inverse = inverse(s, s.fload(self.inverse[axis].0.as_ptr().cast()));
                s.fstore(self.inverse[axis].0.as_mut_ptr().cast(), inverse);
                s.fstore(self.shorter[axis].0.as_mut_ptr().cast(), s.fmul(inverse, s.fsplat(1.0 - SLACK)));
                s.fstore(self.longer[axis].0.as_mut_ptr().cast(), s.fmul(inverse, s.fsplat(1.0 + SLACK)));
            }
        }
    }

    /// [`boxes`] of each ray, with the same bits: by child, which rays meet it, and where (in `near`).
    ///
    /// Rows of `near` are written of children that are there.
    ///
    /// # Safety
    /// `node` is a node, and `near` is good for eight rows.
    #[inline(always)]
    pub unsafe fn boxes<S: Simd>(&self, s: S, node: *const u8, near: *mut Row) -> [u16; 8] {
        // SAFETY: all that is read lies in the node's 128 bytes; rows are sixteen floats.
        unsafe {
            let load = |row: &Row| s.fload(row.0.as_ptr().cast());
            let mut planes = [NO_ROW; 3];
            let (mut a, mut b, mut c) = ([s.fsplat(0.0); 3], [s.fsplat(0.0); 3], [s.fsplat(0.0); 3]);
            for axis in 0..3 {
                s.fstore(planes[axis].0.as_mut_ptr().cast(), plane(s, node, &self.near, axis));
                let step = f32::from_bits((node.add(12 + axis).read_volatile() as u32) << 23);
                let grid = s.fsplat(node.cast::<f32>().add(axis).read_volatile());
                a[axis] = s.fmul(s.fsplat(step), load(&self.inverse[axis]));
                let d = s.fsub(grid, load(&self.origin[axis]));
                let (x, y) = (s.fmul(d, load(&self.shorter[axis])), s.fmul(d, load(&self.longer[axis])));
                // Of near planes the lower one, of far ones the upper one.
                b[axis] = s.fmin_raw(y, s.fmin_raw(x, s.fsplat(f32::MAX)));
                c[axis] = s.fmax_raw(y, s.fmax_raw(x, s.fsplat(f32::MIN)));
            }
            let (from, to) = (load(&self.t_min), load(&self.t_max));
            let mut out = [0; 8];
            for k in 0..8 {
                if node.cast::<u32>().add(4 + k).read_volatile() == 0 {
                    continue;
                }
                let (mut t, mut far) = (from, to);
                for axis in 0..3 {
                    t = s.fmax_raw(s.fma(s.fsplat(planes[axis].0[k]), a[axis], b[axis]), t);
                    far = s.fmin_raw(s.fma(s.fsplat(planes[axis].0[8 + k]), a[axis], c[axis]), far);
                }
                s.fstore(near.add(k).cast(), t);
                out[k] = s.mbits(s.fle(t, far));
            }
            out
        }
    }
}

const NO_ROW: Row = Row([0.0; 16]);

/// What [`boxes`] wants for an interval.
#[inline(always)]
pub fn limits<S: Simd>(s: S, t_min: f32, t_max: f32) -> S::F {
    s.fsel(s.mask(0xFF), s.fsplat(t_min), s.fsplat(-t_max))
}

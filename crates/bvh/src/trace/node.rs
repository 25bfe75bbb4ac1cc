//! A ray against the eight boxes of a node.

use super::space::Space;
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
        t = s.fmax_raw(s.fma(plane(s, node, space, 0), s.fquad::<0>(a), s.fquad::<0>(b)), t);
        t = s.fmax_raw(s.fma(plane(s, node, space, 1), s.fquad::<1>(a), s.fquad::<1>(b)), t);
        t = s.fmax_raw(s.fma(plane(s, node, space, 2), s.fquad::<2>(a), s.fquad::<2>(b)), t);
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
unsafe fn plane<S: Simd>(s: S, node: *const u8, space: &Space, axis: usize) -> S::F {
    // SAFETY: the caller's.
    unsafe { s.s_to_f(s.iwiden8(node.add(BOUNDS + AXIS * axis + space.near[axis] as usize))) }
}

/// What [`boxes`] wants for an interval.
#[inline(always)]
pub fn limits<S: Simd>(s: S, t_min: f32, t_max: f32) -> S::F {
    s.fsel(s.mask(0xFF), s.fsplat(t_min), s.fsplat(-t_max))
}

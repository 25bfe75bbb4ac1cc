//! A ray against a block of four triangles.
//!
//! The method is Woop, Benthin and Wald's, "Watertight Ray/Triangle Intersection" (2013). The ray's largest axis becomes z, and a shear
//! makes the ray that axis. Then three signs of 2D edge functions say if the ray goes through the triangle. A vertex becomes the same
//! 2D point in each triangle, and the products of an edge function are rounded monotonically, so two triangles see
//! opposite signs for the edge they share, or both see 0. For 0 the functions are computed again in f64, where they are exact. If
//! one still is 0, the ray goes through the edge itself, and the edge's direction decides: of two triangles on different sides of it
//! one is hit; of two on the same side (a silhouette) both or none.

use super::node::Row;
use super::space::Space;
use simd::Simd;

/// Edge functions (of the edges after each vertex), and the sheared points.
pub struct Edges {
    pub edge: Row,
    pub x: Row,
    pub y: Row,
    pub z: Row,
}

impl Edges {
    pub const EMPTY: Edges =
        Edges { edge: Row([0.0; 16]), x: Row([0.0; 16]), y: Row([0.0; 16]), z: Row([0.0; 16]) };
}

/// Coordinates along an axis, from the ray's origin.
///
/// # Safety
/// `block` is a block; `k` is below 3.
#[inline(always)]
unsafe fn row<S: Simd>(s: S, block: *const u8, space: &Space, k: usize) -> S::F {
    // SAFETY: the caller's.
    unsafe { s.fsub(s.fload(block.add(64 * k)), s.fsplat(*space.origin.get_unchecked(k))) }
}

/// The triangles that the ray's line goes through: bits of those whose front it sees, and of those whose back. `edges` is written if
/// there are any.
///
/// # Safety
/// `block` is a block.
#[inline(always)]
pub unsafe fn triangles<S: Simd>(s: S, block: *const u8, space: &Space, edges: &mut Edges) -> (u32, u32) {
    let [kx, ky, kz] = space.axes.map(usize::from);
    // SAFETY: rows of the block; the axes are 0 to 2.
    let [x, y, z] = unsafe { [row(s, block, space, kx), row(s, block, space, ky), row(s, block, space, kz)] };
    let x = s.fnma(s.fsplat(space.shear[0]), z, x);
    let y = s.fnma(s.fsplat(space.shear[1]), z, y);
    // No fused operations here: both products must be rounded alike.
    let edge = s.fsub(s.fmul(s.fnext_quad(x), y), s.fmul(s.fnext_quad(y), x));
    let zero = s.fsplat(0.0);
    let positive = s.mbits(s.flt(zero, edge)) as u32;
    let negative = s.mbits(s.flt(edge, zero)) as u32;
    let none = s.mbits(s.feq(edge, zero)) as u32;
    let all = |m: u32| m & m >> 4 & m >> 8 & 0xF;
    let any = |m: u32| (m | m >> 4 | m >> 8) & 0xF;
    let (mut front, mut back) = (all(positive), all(negative));
    let unsure = any(none & 0xFFF) & !(any(positive) & any(negative));
    if front | back | unsure == 0 {
        return (0, 0);
    }
    // SAFETY: sixteen floats each, aligned.
    unsafe {
        s.fstore(edges.edge.0.as_mut_ptr().cast(), edge);
        s.fstore(edges.x.0.as_mut_ptr().cast(), x);
        s.fstore(edges.y.0.as_mut_ptr().cast(), y);
        s.fstore(edges.z.0.as_mut_ptr().cast(), z);
    }
    if unsure != 0 {
        let (f, b) = exact(edges, unsure);
        (front, back) = (front | f, back | b);
    }
    (front, back)
}

/// [`triangles`] for those of `lanes`, in f64.
#[cold]
#[inline(never)]
fn exact(edges: &mut Edges, lanes: u32) -> (u32, u32) {
    let (mut front, mut back) = (0, 0);
    for lane in (0..4).filter(|l| lanes >> l & 1 != 0) {
        let at = |k: usize| (edges.x.0[k % 3 * 4 + lane], edges.y.0[k % 3 * 4 + lane]);
        let mut sign = [0i32; 3];
        let mut value = [0f64; 3];
        let mut after = [0i32; 3];
        for k in 0..3 {
            let ((x, y), (next_x, next_y)) = (at(k), at(k + 1));
            value[k] = next_x as f64 * y as f64 - next_y as f64 * x as f64;
            sign[k] = (value[k] > 0.0) as i32 - (value[k] < 0.0) as i32;
            let rises = next_y > y || next_y == y && next_x > x;
            let falls = next_y < y || next_y == y && next_x < x;
            after[k] = rises as i32 - falls as i32;
        }
        if value.iter().any(|v| v.is_nan()) {
            continue;
        }
        for (bits, of) in [(&mut front, 1), (&mut back, -1)] {
            let some = sign.contains(&of);
            if some && (0..3).all(|k| sign[k] == of || sign[k] == 0 && after[k] == of) {
                *bits |= 1 << lane;
                for k in 0..3 {
                    edges.edge.0[k * 4 + lane] = value[k] as f32;
                }
            }
        }
    }
    (front, back)
}

/// t and the barycentrics of the second and third vertex, for a triangle that [`triangles`] gave.
#[inline(always)]
pub fn hit(edges: &Edges, lane: usize, space: &Space) -> [f32; 3] {
    let e = |k: usize| edges.edge.0[k * 4 + lane];
    let z = |k: usize| edges.z.0[k * 4 + lane];
    let sum = e(0) + e(1) + e(2);
    let inverse = 1.0 / sum;
    let t = (e(1) * z(0) + e(2) * z(1) + e(0) * z(2)) * space.shear[2];
    [t * inverse, e(2) * inverse, e(0) * inverse]
}

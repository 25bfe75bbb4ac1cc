//! Inputs of warps whose quads belong to several primitives, with one sample a pixel, where all inputs come from planes and places. Each input is
//! filled for all warps at once, as [`super::full`] does for whole blocks: the same operations as `warp::value`, in the same order.

use crate::layout::{QUAD_X, QUAD_Y, WARPS};
use crate::prim::{FURTHEST, Plane, prefetch, word};
use crate::tile::item::Item;
use crate::tile::item::fill::Fill;
use crate::tile::pack::packer::{Packer, Slot};
use crate::tile::pack::places::Places;
use simd::Simd;
use texel::vector;
use wave::graphics::Lanes;

/// The warps' quads.
struct Quads {
    /// First plane of each quad's primitive.
    planes: [[u32; 4]; WARPS],
    /// The warps (a bit each), those of one primitive, and those whose w is one.
    which: u32,
    same: u32,
    one: u32,
}

simd::by_level! {
    /// Fills the inputs of warps `which` of the packer's (a bit each). A separate function, because shading with all of this inlined
    /// takes much stack.
    #[inline(never)]
    pub fn fill = fill_body, (item: &Item, packer: &mut Packer, origin: [i32; 2], lanes: &mut Lanes, which: u32)
}

#[inline(always)]
fn fill_body<S: Simd>(
    s: S,
    item: &Item,
    packer: &mut Packer,
    origin: [i32; 2],
    lanes: &mut Lanes,
    which: u32,
) {
    let plan = &*item.plan;
    let Packer { warps, places, .. } = packer;
    let mut quads = Quads { planes: [[0; 4]; WARPS], which, same: 0, one: 0 };
    let mut left = which;
    while left != 0 {
        let w = left.trailing_zeros() as usize % WARPS;
        left &= left - 1;
        quads.planes[w] = warps[w].prims.map(|n| item.batch.prims[n as usize].planes);
        // They were prefetched before, but may have left the first cache or not have arrived: requests together wait less than reads one by one.
        for first in quads.planes[w] {
            prefetch(item.batch.planes.as_ptr().wrapping_add(first as usize));
        }
    }
    let mut left = which;
    while left != 0 {
        let w = left.trailing_zeros() as usize % WARPS;
        left &= left - 1;
        place(s, item, &warps[w], origin, places, &mut quads, w);
    }
    let packer = &*packer;
    let places = &packer.places;
    let mut i = 0;
    while i < plan.fills.len() {
        let n = match four(&plan.fills[i..]) {
            Some((plane, perspective)) => {
                let Some(rows) = rows::<4>(lanes, i) else { return };
                each::<S, 4>(s, item, places, &quads, plane, perspective, rows);
                4
            }
            None => {
                let Some(rows) = rows::<1>(lanes, i) else { return };
                match plan.fills[i] {
                    Fill::Varying { plane, perspective, .. } => {
                        each::<S, 1>(s, item, places, &quads, plane, perspective, rows);
                    }
                    Fill::Flat(plane) => flat(s, item, &quads, plane, rows[0]),
                    Fill::FragCoord(c) => coordinate(s, item, packer, origin, which, c, rows[0]),
                    _ => {}
                }
                1
            }
        };
        i += n;
    }
}

/// The first plane of four inputs that lie one after the other, and whether they are interpolated with perspective.
#[inline(always)]
fn four(fills: &[Fill]) -> Option<(u32, bool)> {
    let Fill::Varying { plane, perspective, .. } = *fills.first()? else { return None };
    for (k, f) in fills.get(..4)?.iter().enumerate() {
        match *f {
            Fill::Varying { plane: p, perspective: q, .. } if p == plane + k as u32 && q == perspective => {}
            _ => return None,
        }
    }
    Some((plane, perspective))
}

/// Rows of inputs from `i` on, each its own register of a row a warp.
#[inline(always)]
fn rows<const N: usize>(lanes: &mut Lanes, i: usize) -> Option<[*mut [u32; 16]; N]> {
    let warps = lanes.count() / 16;
    let mut rows = [std::ptr::null_mut(); N];
    for (k, row) in rows.iter_mut().enumerate() {
        let all = lanes.input(i + k);
        if all.len() < warps {
            return None;
        }
        *row = all.as_mut_ptr();
    }
    Some(rows)
}

/// Pixels' centres.
#[inline(always)]
fn centers<S: Simd>(s: S, slot: &Slot, origin: [i32; 2]) -> [S::F; 2] {
    // A quad's first pixel: block row, block column, and its place in the block, from the top.
    let number = |q: usize| f32::from_bits(slot.pixels[q] as u32);
    let first = s.bits(s.fquads([number(0), number(1), number(2), number(3)]));
    let bits = |shift: u32, mask: u32| s.iand(s.ishr(first, s.isplat(shift)), s.isplat(mask));
    let x = s.iadd(s.iadd(bits(2, 0x3C), bits(1, 2)), s.isplat(origin[0] as u32));
    let y = s.iadd(s.iadd(bits(6, 0x3C), bits(2, 2)), s.isplat(origin[1] as u32));
    let half = s.fsplat(0.5);
    [
        s.fadd(s.fadd(s.s_to_f(x), vector::floats(s, &QUAD_X)), half),
        s.fadd(s.fadd(s.s_to_f(y), vector::floats(s, &QUAD_Y)), half),
    ]
}

/// Where a warp's quads lie relative to their primitives' origins, and w.
#[inline(always)]
fn place<S: Simd>(
    s: S,
    item: &Item,
    slot: &Slot,
    origin: [i32; 2],
    places: &mut Places,
    quads: &mut Quads,
    w: usize,
) {
    let of = |q: usize| &item.batch.prims[slot.prims[q] as usize];
    let prims = [of(0), of(1), of(2), of(3)];
    let [a, b, c, d] = slot.prims;
    let same = a == b && a == c && a == d;
    quads.same |= (same as u32) << w;
    let [x, y] = centers(s, slot, origin);
    // Four words of each. Often all quads belong to one primitive, but the CPU could not predict a branch for that, and it saves nothing.
    let at = |q: usize, first: usize| std::ptr::from_ref(prims[q]).cast::<f32>().wrapping_add(first);
    let of = |first: usize| [at(0, first), at(1, first), at(2, first), at(3, first)];
    // SAFETY: words of primitives.
    let [ox, oy, ..] = unsafe { s.fquads4(of(word::CORNERS)) };
    // As `Prim::origin`.
    let start =
        |o: S::F, at: S::F| s.fsub(at, s.fmin_raw(s.fmax_raw(o, s.fsplat(0.0)), s.fsplat(FURTHEST as f32)));
    let (x, y) = (start(ox, x), start(oy, y));
    vector::store_floats(s, &mut places.x[w], x);
    vector::store_floats(s, &mut places.y[w], y);
    if item.plan.perspective {
        // SAFETY: a plane is its three numbers in order; these are a primitive's last.
        let [_, at, dx, dy] = unsafe { s.fquads4(of(word::W - 1)) };
        let v = linear(s, [at, dx, dy], x, y);
        let one = s.fsplat(1.0);
        if s.many(s.fne(v, one)) {
            vector::store_floats(s, &mut places.w[w], s.fdiv(one, v));
        } else {
            quads.one |= 1 << w;
        }
    }
}

/// As `warp::Warp::eval`.
#[inline(always)]
fn linear<S: Simd>(s: S, [at, dx, dy]: [S::F; 3], x: S::F, y: S::F) -> S::F {
    s.fadd(at, s.fadd(s.fmul(dx, x), s.fmul(dy, y)))
}

/// `N` inputs of planes `plane` and on: four, or one.
#[inline(always)]
fn each<S: Simd, const N: usize>(
    s: S,
    item: &Item,
    places: &Places,
    quads: &Quads,
    plane: u32,
    perspective: bool,
    rows: [*mut [u32; 16]; N],
) {
    let mut left = quads.which;
    while left != 0 {
        let w = left.trailing_zeros() as usize % WARPS;
        left &= left - 1;
        let planes = |q: usize| -> &[Plane] {
            let first = quads.planes[w][q].wrapping_add(plane) as usize;
            &item.batch.planes[first..first + N]
        };
        let mut values = [[s.fsplat(0.0); 3]; N];
        if N == 1 && quads.same >> w & 1 != 0 {
            let planes = planes(0);
            for k in 0..N {
                values[k] = [s.fsplat(planes[k].at), s.fsplat(planes[k].dx), s.fsplat(planes[k].dy)];
            }
        } else {
            let p = [planes(0), planes(1), planes(2), planes(3)];
            let p = [p[0].as_ptr(), p[1].as_ptr(), p[2].as_ptr(), p[3].as_ptr()];
            let p: [*const f32; 4] = [p[0].cast(), p[1].cast(), p[2].cast(), p[3].cast()];
            if N == 4 {
                let from = |k: usize| {
                    [p[0].wrapping_add(k), p[1].wrapping_add(k), p[2].wrapping_add(k), p[3].wrapping_add(k)]
                };
                // SAFETY: four planes are twelve numbers in order.
                let [a, b, c] = unsafe { [s.fquads4(p), s.fquads4(from(4)), s.fquads4(from(8))] };
                let all = [[a[0], a[1], a[2]], [a[3], b[0], b[1]], [b[2], b[3], c[0]], [c[1], c[2], c[3]]];
                values[..N].copy_from_slice(&all[..N]);
            } else {
                // SAFETY: a plane is its three numbers in order.
                values[0] = unsafe { s.fquads3(p) };
            }
        }
        let (x, y) = (vector::floats(s, &places.x[w]), vector::floats(s, &places.y[w]));
        let by_w = perspective && quads.one >> w & 1 == 0;
        let own = vector::floats(s, &places.w[w]);
        for k in 0..N {
            let v = linear(s, values[k], x, y);
            let v = if by_w { s.fmul(v, own) } else { v };
            // SAFETY: a row a warp, of no other input.
            vector::store(s, unsafe { &mut *rows[k].add(w) }, s.bits(v));
        }
    }
}

/// A flat input.
#[inline(always)]
fn flat<S: Simd>(s: S, item: &Item, quads: &Quads, plane: u32, row: *mut [u32; 16]) {
    let mut left = quads.which;
    while left != 0 {
        let w = left.trailing_zeros() as usize % WARPS;
        left &= left - 1;
        let of = |q: usize| item.batch.planes[quads.planes[w][q].wrapping_add(plane) as usize].at;
        let v = s.fquads([of(0), of(1), of(2), of(3)]);
        // SAFETY: a row a warp, of no other input.
        vector::store(s, unsafe { &mut *row.add(w) }, s.bits(v));
    }
}

/// Component `c` of FragCoord.
#[inline(always)]
fn coordinate<S: Simd>(
    s: S,
    item: &Item,
    packer: &Packer,
    origin: [i32; 2],
    which: u32,
    c: u8,
    row: *mut [u32; 16],
) {
    let Packer { warps, places, .. } = packer;
    let mut left = which;
    while left != 0 {
        let w = left.trailing_zeros() as usize % WARPS;
        left &= left - 1;
        let slot = &warps[w];
        let v = if c < 2 {
            centers(s, slot, origin)[c as usize]
        } else {
            let of = |q: usize| {
                let p = &item.batch.prims[slot.prims[q] as usize];
                std::ptr::from_ref(if c == 2 { &p.z } else { &p.w }).cast()
            };
            // SAFETY: a plane is its three numbers in order.
            let k = unsafe { s.fquads3([of(0), of(1), of(2), of(3)]) };
            linear(s, k, vector::floats(s, &places.x[w]), vector::floats(s, &places.y[w]))
        };
        // SAFETY: a row a warp, of no other input.
        vector::store(s, unsafe { &mut *row.add(w) }, s.bits(v));
    }
}

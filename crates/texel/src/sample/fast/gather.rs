//! Gathers of a warp: one component of the four texels around each place, not filtered.

use super::any::Any;
use super::place::{Levels, bordered, compared, levels, scaled, square, wrapped};
use super::texels::{HIGH, LOW, Texels};
use super::{Fast, cube, placed};
use crate::sample::args::{SampleArgs, Warp4};
use crate::sample::blend::border;
use crate::sample::sampler::Sampler;
use crate::sample::view::ImageView;
use crate::vector::{load, store};
use simd::Simd;

/// The four texels of each lane in their order, of the view's first level; false where lanes are at a cube's corners.
///
/// # Safety
/// The operands are those of a view of this kind.
#[inline(always)]
pub unsafe fn gather<S: Simd>(
    s: S,
    f: &Fast,
    view: &ImageView,
    sampler: &Sampler,
    args: &SampleArgs,
    mask: u16,
    out: &mut Warp4,
) -> bool {
    let four = args.offsets.filter(|o| o.len() >= 8);
    let p = placed(
        s,
        f,
        view,
        sampler,
        &SampleArgs { offsets: args.offsets.filter(|_| four.is_none()), ..*args },
    );
    let zero = s.isplat(0);
    let mut l = levels(s, f, zero, p.layer);
    l.count(s, f);
    let u = scaled(s, sampler, &p, &l);
    let mut at = [l.start; 4];
    let mut outside = [s.mask(0); 4];
    if cube::seamless(f, sampler) {
        let c = cube::corners(s, &l, &u);
        for n in 0..4 {
            let t = c.texel(s, &p, &l, n as u32);
            if s.many(s.mand(s.mask(mask), t.none)) {
                return false;
            }
            let row = f.reads.row(s, f, &Levels { start: t.start, ..l }, t.row);
            at[n] = s.iadd(f.reads.column(s, f, t.column), row);
        }
    } else if let Some(o) = four {
        for n in 0..4 {
            let mut steps = [zero; 2];
            for k in 0..2 {
                let base = s.f_to_s_raw(s.ffloor(s.fsub(u[k], s.fsplat(0.5))));
                let i = s.iadd(base, load(s, &o[2 * n + k]));
                steps[k] = wrapped(s, sampler.wrap[k], i, l.texels[k], f.pow2[k], &mut outside[n]);
            }
            at[n] = s.iadd(f.reads.column(s, f, steps[0]), f.reads.row(s, f, &l, steps[1]));
        }
    } else {
        let q = square(s, f, sampler, &l, &u, f.reads);
        for n in 0..4 {
            let [x, y] = [n & 1, n >> 1];
            at[n] = s.iadd(q.steps[0][x], q.steps[1][y]);
            outside[n] = s.mor(q.outside[0][x], q.outside[1][y]);
        }
    }
    let mut t = [[s.fsplat(0.0); 4]; 4];
    // SAFETY: columns and rows have been brought inside the level.
    unsafe { Any::<false>::load4(s, f, f.base, &at, &mut t) };
    let edge = if bordered(f, sampler) { border(view, sampler) } else { [0; 4] };
    let channel = if args.dref.is_some() { Some(0) } else { view.channel(args.component as usize & 3) };
    for n in 0..4 {
        // With offsets of their own texels are in the order that the results have.
        let from = if four.is_some() { n } else { [2, 3, 1, 0][n] };
        let v = match channel {
            Some(c) if f.plan.has >> c & 1 != 0 => {
                let v = t[from][c];
                let v =
                    if f.plan.filters_bytes { s.fma(v, s.fsplat(HIGH), s.fmul(v, s.fsplat(LOW))) } else { v };
                let v = s.isel(outside[from], s.isplat(edge[c]), s.bits(v));
                match p.op {
                    Some(op) => s.bits(compared(s, op, p.dref, s.from_bits(v))),
                    None => v,
                }
            }
            Some(c) => s.isplat(if c == 3 { view.channels.one() } else { 0 }),
            None => s.isplat(view.constant(args.component as usize & 3)),
        };
        let v = if mask == 0xFFFF { v } else { s.isel(s.mask(mask), v, load(s, &out[n])) };
        store(s, &mut out[n], v);
    }
    true
}

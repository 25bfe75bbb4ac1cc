//! Texels that lie close together, as where textures are magnified: a few loads of whole rows in the place of a gather.

use super::Fast;
use crate::vector::store;
use simd::Simd;
use simd::ops;

/// Words of four columns and four rows, if all lanes' texels are among them. `at`: which of them are the lanes', by row and column
/// of the 2×2.
///
/// # Safety
/// `i` are [`super::place::corners`] on a level whose texels have a word each: all have their neighbours right of them, and the
/// level has four columns at least.
#[inline(always)]
pub unsafe fn window<S: Simd>(
    s: S,
    f: &Fast,
    level: usize,
    i: &[[S::I; 2]; 2],
    at: &mut [[S::I; 2]; 2],
) -> Option<S::I> {
    let [columns, rows] = [f.texels[0][level], f.texels[1][level]];
    let left = s.umin(least(s, i[0][0]), s.isplat(columns - 4));
    let top = least(s, i[1][0]);
    let x = s.isub(i[0][0], left);
    let right = s.iadd(x, s.isplat(1));
    let y = [s.isub(i[1][0], top), s.isub(i[1][1], top)];
    let any = s.ior(s.ior(x, right), s.ior(y[0], y[1]));
    if s.many(s.ugt(any, s.isplat(3))) {
        return None;
    }
    let (left, top) = (first(s, left) as usize * 4, first(s, top));
    let mut from = [f.level(level).cast_mut(); 4];
    for k in 0..4 {
        let row = (top + k as u32).min(rows - 1);
        from[k] = from[k].wrapping_add(row as usize * f.row_pitch[level] as usize + left);
    }
    for k in 0..2 {
        let row = ops::shl(s, y[k], 2);
        at[k] = [s.iadd(row, x), s.iadd(row, right)];
    }
    // SAFETY: four texels of each row, all of the level.
    Some(unsafe { s.iload4(from) })
}

/// What is the least of all lanes, if it grows or falls along a warp's rows or columns.
#[inline(always)]
fn least<S: Simd>(s: S, v: S::I) -> S::I {
    s.umin(s.ishuffle(v, s.isplat(0)), s.ishuffle(v, s.isplat(15)))
}

/// The first lane.
#[inline(always)]
fn first<S: Simd>(s: S, v: S::I) -> u32 {
    let mut lanes = [0; 16];
    store(s, &mut lanes, v);
    lanes[0]
}

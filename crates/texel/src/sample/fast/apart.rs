//! Texels of other sizes than a word, by the short way: those of several lanes are read together.

use super::corners::Corners;
use super::place::{self, weighted};
use super::texels::Texels;
use super::window::{self, Close};
use super::{Fast, LEVELS, NO_LAST, any};
use crate::vector::store;
use simd::Simd;

/// The samples of a level of a view, without layers, offsets and comparison, whose [`super::corners`] these are. `near`: how close
/// together the lanes' texels may lie, and then did. `wanted`: the format's channels that results are made of, a bit each: arithmetic
/// on others is left out. (It is much time where nobody has written them: products of what happens to be denormal take a hundred cycles.)
///
/// # Safety
/// They are of texels of the level.
#[inline(always)]
pub unsafe fn apart<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    level: usize,
    corners: &Corners,
    near: &mut Close,
    wanted: u8,
    border: &[f32; 4],
    out: &mut [S::F; 4],
) {
    if T::ANY || corners.edged {
        let (own, mut to) = (!T::ANY, [[0; 16]; 4]);
        // SAFETY: the caller's corners; picked for this machine.
        unsafe { (f.any.apart)(f, level, corners, &any::ordered(f, own, border), &mut to) };
        return any::vectors(s, f, own, &to, out);
    }
    let half = s.fsplat(0.5);
    let (i, weight) = (corners.texels(s), corners.weights(s));
    let mut kept = [s.isplat(!0); 2];
    if T::floats(f) {
        kept = [place::kept(s, weight[0]), place::kept(s, weight[1])];
    }
    let level = level % LEVELS;
    let base = f.level(level);
    let unit = T::unit(f);
    let x = [unit.after(s, i[0][0]), unit.after(s, i[0][1])];
    let right = s.ieq(s.iadd(i[0][0], s.isplat(1)), i[0][1]);
    let pairs = T::PAIRS && f.last[level] != NO_LAST && s.mbits(right) == 0xffff;
    let last = s.isplat(f.last[level]);
    // (Elsewhere it is no fewer instructions.)
    let by_rows = T::HALVES && S::ONE_VECTOR || T::BYTES && T::N == 1;
    if by_rows && pairs && *near != Close::No && !f.line {
        let close = window::rows(s, f, T::SHIFT, level, corners);
        *near = if close.is_some() { Close::Eight } else { Close::No };
        if let Some(close) = close {
            for y in 0..2 {
                let (mut a, mut b) = ([half; 4], [half; 4]);
                // SAFETY: eight texels of rows of the caller's view.
                unsafe {
                    if T::HALVES {
                        [a, b] = s.fhalves(close.load(s, y), close.at[y]);
                    } else {
                        let [left, right] = s.iload_bytes(close.rows[y], close.at[y]);
                        (a[0], b[0]) = (s.s_to_f(left), s.s_to_f(right));
                    }
                }
                for k in 0..T::N {
                    let row = weighted::<S, T>(s, a[k], b[k], weight[0], kept[0]);
                    out[k] = if y == 0 { row } else { weighted::<S, T>(s, out[k], row, weight[1], kept[1]) };
                }
            }
            return T::finish(s, f, out);
        }
    }
    // (A channel that nobody wants may be slow, see above; of one of four that is seldom so.)
    if T::HALVES && S::VECTORS && pairs && wanted.count_ones() >= 3 {
        // SAFETY: the caller's texels, which have right neighbours.
        return unsafe { by_quads::<S, T>(s, f, level, [x[0], i[1][0], i[1][1]], &weight, &kept, out) };
    }
    for y in 0..2 {
        if y == 1 && f.line {
            break;
        }
        let row = s.imul(i[1][y], s.isplat(f.row_pitch[level]));
        let (mut a, mut b) = ([half; 4], [half; 4]);
        // SAFETY: the caller's texels; with `pairs`, both of each pair, of the level that `last` is of.
        unsafe {
            if pairs {
                T::pair(s, f, base, s.iadd(row, x[0]), last, wanted, &mut a, &mut b);
            } else {
                T::load(s, f, base, s.iadd(row, x[0]), &mut a);
                T::load(s, f, base, s.iadd(row, x[1]), &mut b);
            }
        }
        for k in 0..T::N {
            if T::N > 1 && (wanted >> k & 1 == 0 || !T::has(f, k)) {
                continue;
            }
            let t = [a[k], b[k]];
            let row = weighted::<S, T>(s, t[0], t[1], weight[0], kept[0]);
            out[k] = if y == 0 { row } else { weighted::<S, T>(s, out[k], row, weight[1], kept[1]) };
        }
    }
    T::finish(s, f, out);
}

/// [`apart`] of texels of four 16-bit floats, most of whose channels are wanted: a lane's two of a row are sixteen bytes, and channels
/// of four lanes are filtered side by side. `at`: bytes of the left ones in their rows, the upper rows and the lower.
///
/// # Safety
/// These are texels of the view's first level; each has a right neighbour.
#[inline(always)]
unsafe fn by_quads<S: Simd, T: Texels>(
    s: S,
    f: &Fast,
    level: usize,
    [x, upper, lower]: [S::I; 3],
    weight: &[S::F; 2],
    kept: &[S::I; 2],
    out: &mut [S::F; 4],
) {
    let (base, pitch) = (f.level(level), s.isplat(f.row_pitch[level]));
    let mut at = [[0u32; 16]; 2];
    store(s, &mut at[0], s.iadd(s.imul(upper, pitch), x));
    store(s, &mut at[1], s.iadd(s.imul(lower, pitch), x));
    macro_rules! lane {
        ($k:literal) => {{
            let w = [s.fquad::<$k>(weight[0]), s.fquad::<$k>(weight[1])];
            let kept = [s.fquad::<$k>(s.from_bits(kept[0])), s.fquad::<$k>(s.from_bits(kept[1]))];
            let mut row = w[0];
            for y in 0..if f.line { 1 } else { 2 } {
                let mut from = [base; 4];
                for n in 0..4 {
                    from[n] = base.wrapping_add(at[y][$k + 4 * n] as usize);
                }
                // SAFETY: two texels of eight bytes.
                let [a, b] = unsafe { s.fload_halves(from) };
                let here = weighted::<S, T>(s, a, b, w[0], s.bits(kept[0]));
                row = if y == 0 { here } else { weighted::<S, T>(s, row, here, w[1], s.bits(kept[1])) };
            }
            s.bits(row)
        }};
    }
    // Lanes 0, 4, 8 and 12, and so on.
    let channels = s.itranspose4([lane!(0), lane!(1), lane!(2), lane!(3)]);
    for k in 0..4 {
        out[k] = s.from_bits(channels[k]);
    }
}

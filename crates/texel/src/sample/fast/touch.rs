//! How many cache lines samples touch: where the kernels read texels, without the texels. Every row of every level
//! begins with a line, so that a texel's line is its row's and its column's added.

use super::lod::{Lods, lods};
use super::place::{ANY, Levels, Place, bordered, corners, levels, nearest_at, scaled, square};
use super::{Fast, Row, filters, filters_plainly, flat, floats, placed, plain, tapped};
use crate::sample::args::SampleArgs;
use crate::sample::sampler::{MAX_ANISOTROPY, Sampler};
use crate::sample::view::ImageView;
use simd::Simd;
use simd::ops;
use std::mem::MaybeUninit;

/// Vectors of lines that a warp has at most: taps, two levels, four texels filtered and one that is the nearest.
const MOST: usize = MAX_ANISOTROPY as usize * 2 * 5;
/// No line: more than any (images here have less than 4 GiB).
const NONE: u32 = i32::MAX as u32;

/// Lines that lanes touch, by blocks of sixteen rows of four: the line with which its block begins, and which of the
/// block's 64 it is.
#[repr(C, align(64))]
struct Lines {
    n: usize,
    blocks: [MaybeUninit<[u32; 16]>; MOST],
    bits: [MaybeUninit<[u32; 16]>; MOST],
}

impl Default for Lines {
    #[inline(always)]
    fn default() -> Lines {
        Lines { n: 0, blocks: [MaybeUninit::uninit(); MOST], bits: [MaybeUninit::uninit(); MOST] }
    }
}

impl Lines {
    #[inline(always)]
    unsafe fn add<S: Simd>(&mut self, column: [S::I; 2], row: [S::I; 2], lanes: S::M) {
        let block = S::isel(lanes, S::iadd(column[0], row[0]), S::isplat(NONE));
        S::istoreu(self.blocks[self.n].as_mut_ptr().cast(), block);
        S::istoreu(self.bits[self.n].as_mut_ptr().cast(), S::iadd(column[1], row[1]));
        self.n += 1;
    }

    /// How many different lines there are, block by block.
    #[inline(always)]
    unsafe fn distinct<S: Simd>(&mut self) -> u32 {
        let (zero, one, none) = (S::isplat(0), S::isplat(1), S::isplat(NONE));
        let mut lowest = none;
        for v in &self.blocks[..self.n] {
            lowest = S::smin(lowest, S::iloadu(v.as_ptr().cast()));
        }
        let mut count = 0;
        loop {
            let first = least::<S>(lowest);
            if first == NONE {
                return count;
            }
            let first = S::isplat(first);
            let (mut low, mut high) = (zero, zero);
            lowest = none;
            for i in 0..self.n {
                let p = self.blocks[i].as_mut_ptr().cast::<u8>();
                let block = S::iloadu(p);
                let here = S::ieq(block, first);
                let bit = S::iloadu(self.bits[i].as_ptr().cast());
                // Shifts by 32 and more, or by less than 0, leave nothing.
                low = S::ior(low, S::isel(here, S::ishl(one, bit), zero));
                high = S::ior(high, S::isel(here, S::ishl(one, S::isub(bit, S::isplat(32))), zero));
                let left = S::isel(here, none, block);
                S::istoreu(p, left);
                lowest = S::smin(lowest, left);
            }
            count += any::<S>(low).count_ones() + any::<S>(high).count_ones();
        }
    }
}

/// A column's share of its line's block and bit. `at`: bytes.
#[inline(always)]
unsafe fn column<S: Simd>(at: S::I) -> [S::I; 2] {
    let line = ops::shr::<S>(at, 6);
    let bit = S::iand(line, S::isplat(3));
    [S::isub(line, bit), bit]
}

/// A row's share, by its number. `l`: of its level.
#[inline(always)]
unsafe fn row<S: Simd>(l: &Levels<S>, row: S::I) -> [S::I; 2] {
    let bit = S::iand(row, S::isplat(15));
    let first = S::imul(S::isub(row, bit), ops::shr::<S>(l.row_pitch, 6));
    [S::iadd(first, ops::shr::<S>(l.start, 6)), ops::shl::<S>(bit, 2)]
}

#[inline(always)]
unsafe fn least<S: Simd>(v: S::I) -> u32 {
    let v = ops::i_lanes::<S>(v);
    let mut low = v[0];
    for x in v {
        low = if x < low { x } else { low };
    }
    low
}

/// Bits of any lane.
#[inline(always)]
unsafe fn any<S: Simd>(v: S::I) -> u32 {
    let mut all = 0;
    for x in ops::i_lanes::<S>(v) {
        all |= x;
    }
    all
}

/// Lines of the lanes' places on their levels, as [`super::place::at_level`] reads them.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
unsafe fn at_level<S: Simd>(
    f: &Fast,
    s: &Sampler,
    p: &Place<S>,
    level: S::I,
    any_linear: bool,
    any_nearest: bool,
    nearest: S::M,
    lanes: S::M,
    out: &mut Lines,
) {
    let l = levels::<S>(f, level, p.layer);
    let numbers = numbered(&l);
    let u = scaled::<S>(s, p, &l);
    if any_linear {
        let lanes = if any_nearest { S::mand(lanes, S::mnot(nearest)) } else { lanes };
        let q = square::<S>(f, s, &numbers, &u, f.shift);
        for y in 0..2 {
            let row = row::<S>(&l, q.steps[1][y]);
            for x in 0..2 {
                let inside = S::mnot(S::mor(q.outside[0][x], q.outside[1][y]));
                out.add::<S>(column::<S>(q.steps[0][x]), row, S::mand(lanes, inside));
            }
        }
    }
    if any_nearest {
        let lanes = if any_linear { S::mand(lanes, nearest) } else { lanes };
        let mut outside = S::mask(0);
        let [x, y] = nearest_at::<S>(f, s, &numbers, &u, f.shift, &mut outside);
        out.add::<S>(column::<S>(x), row::<S>(&l, y), S::mand(lanes, S::mnot(outside)));
    }
}

/// As if rows lay one byte apart: their offsets are their numbers.
#[inline(always)]
unsafe fn numbered<S: Simd>(l: &Levels<S>) -> Levels<S> {
    Levels { start: S::isplat(0), row_pitch: S::isplat(1), ..*l }
}

/// The number of different lines among those of two columns and two rows a lane, if all lie around the first lane's: a
/// bit each of four columns and of eight rows, or sixteen if `WIDE`.
#[inline(always)]
unsafe fn window<S: Simd, const WIDE: bool>(columns: [S::I; 2], rows: [S::I; 2], mask: u16) -> Option<u32> {
    // So many before the first lane's: a warp is four pixels high.
    let (before, last) = if WIDE { (8, 15) } else { (3, 7) };
    let (zero, one, lanes) = (S::isplat(0), S::isplat(1), S::mask(mask));
    let from = S::isub(shared::<S>(columns[0], mask), one);
    let (a, b) = (S::isub(columns[0], from), S::isub(columns[1], from));
    let from = S::isub(shared::<S>(rows[0], mask), S::isplat(before));
    let (c, d) = (S::isub(rows[0], from), S::isub(rows[1], from));
    // Numbers of windows' sizes, which are powers of two, stay below them.
    let far = S::mor(S::ugt(S::ior(a, b), S::isplat(3)), S::ugt(S::ior(c, d), S::isplat(last)));
    let is_full = mask == 0xffff;
    if S::many(if is_full { far } else { S::mand(lanes, far) }) {
        return None;
    }
    let bits = S::ior(S::ishl(one, a), S::ishl(one, b));
    let bits = if is_full { bits } else { S::isel(lanes, bits, zero) };
    let (c, d) = (ops::shl::<S>(c, 2), ops::shl::<S>(d, 2));
    let mut n = any::<S>(S::ior(S::ishl(bits, c), S::ishl(bits, d))).count_ones();
    if WIDE {
        let half = S::isplat(32);
        let high = S::ior(S::ishl(bits, S::isub(c, half)), S::ishl(bits, S::isub(d, half)));
        n += any::<S>(high).count_ones();
    }
    Some(n)
}

/// The number of lines of filtered reads of one level of one layer, if [`window`] tells it.
#[inline(always)]
unsafe fn near<S: Simd>(f: &Fast, s: &Sampler, p: &Place<S>, level: S::I, mask: u16) -> Option<u32> {
    let l = numbered(&levels::<S>(f, level, p.layer));
    let q = square::<S>(f, s, &l, &scaled::<S>(s, p, &l), f.shift);
    if bordered(s) {
        let [[a, b], [c, d]] = q.outside;
        let outside = S::mor(S::mor(a, b), S::mor(c, d));
        if S::many(S::mand(S::mask(mask), outside)) {
            return None;
        }
    }
    let [columns, rows] = q.steps;
    window::<S, true>([ops::shr::<S>(columns[0], 6), ops::shr::<S>(columns[1], 6)], rows, mask)
}

/// The same of the columns and rows of the only level ([`super::place::corners`]).
#[inline(always)]
pub unsafe fn near_corners<S: Simd>(f: &Fast, [columns, rows]: &[[S::I; 2]; 2], mask: u16) -> Option<u32> {
    let texels = 6 - f.shift;
    let columns = [ops::shr::<S>(columns[0], texels), ops::shr::<S>(columns[1], texels)];
    match window::<S, false>(columns, *rows, mask) {
        None => window::<S, true>(columns, *rows, mask),
        n => n,
    }
}

/// Offsets from the base of the 2×2 texels of each lane, row by row, where they are all that a sample reads: one level,
/// filtered, without border; of 2D views.
pub fn corner_offsets(
    view: &ImageView,
    s: &Sampler,
    args: &SampleArgs,
) -> Option<(*const u8, [[u32; 16]; 4])> {
    let f = view.fast.as_ref().filter(|f| !f.line && args.offsets.is_none())?;
    #[cfg(test)]
    if f.off {
        return None;
    }
    let mut row = Row::default();
    let args = &flat(f, args, &mut row)?;
    if !filters_plainly(f, s, args.arrayed) {
        return None;
    }
    let mut out = [[0; 16]; 4];
    // SAFETY: the kernel was picked for this machine.
    unsafe { (f.runs.corners)(f, s, args, &mut out) };
    Some((f.base, out))
}

/// [`corner_offsets`] as the machine finds them.
#[inline(always)]
pub unsafe fn offsets<S: Simd>(f: &Fast, s: &Sampler, args: &SampleArgs, out: &mut [[u32; 16]; 4]) {
    let st = [floats::<S>(&args.coords[0]), floats::<S>(&args.coords[1])];
    let (i, _) = corners::<S, ANY>(f, s, &st);
    for n in 0..4 {
        let row = S::imul(i[1][n >> 1], S::isplat(f.row_pitch[0]));
        let at = S::iadd(row, ops::shl::<S>(i[0][n & 1], f.shift));
        S::istoreu(out[n].as_mut_ptr().cast(), at);
    }
}

/// [`near_corners`] of columns and rows in memory.
#[inline(always)]
pub unsafe fn near_stored<S: Simd>(f: &Fast, i: &[[[u32; 16]; 2]; 2], mask: u16) -> Option<u32> {
    let mut at = [[S::isplat(0); 2]; 2];
    for k in 0..2 {
        for side in 0..2 {
            at[k][side] = S::iloadu(i[k][side].as_ptr().cast());
        }
    }
    near_corners::<S>(f, &at, mask)
}

/// [`near`] of each of the lanes' levels: no two of them share a line.
#[inline(always)]
unsafe fn near_levels<S: Simd>(f: &Fast, s: &Sampler, p: &Place<S>, l: &Lods<S>, mask: u16) -> Option<u32> {
    let (_, any_nearest, _) = filters::<S>(s, l);
    if any_nearest || l.most > 1 {
        return None;
    }
    // A lane reads a level once.
    let (mut fine, mut coarse) = (mask, mask & S::mbits(l.blended));
    let mut n = 0;
    while fine | coarse != 0 {
        let level = if fine != 0 { shared::<S>(l.fine, fine) } else { shared::<S>(l.coarse, coarse) };
        let a = S::mbits(S::ieq(l.fine, level)) & fine;
        let b = S::mbits(S::ieq(l.coarse, level)) & coarse;
        n += near::<S>(f, s, p, level, a | b)?;
        fine &= !a;
        coarse &= !b;
    }
    Some(n)
}

/// The first lane's number, in all lanes.
#[inline(always)]
unsafe fn shared<S: Simd>(v: S::I, mask: u16) -> S::I {
    S::ishuffle(v, S::isplat(mask.trailing_zeros() & 15))
}

/// As [`super::several`] goes through levels and taps.
#[inline(always)]
unsafe fn several<S: Simd>(
    f: &Fast,
    s: &Sampler,
    place: &mut Place<S>,
    l: &Lods<S>,
    lanes: S::M,
    out: &mut Lines,
) {
    let (any_linear, any_nearest, nearest) = filters::<S>(s, l);
    let st = place.st;
    for tap in 0..l.most {
        let mut lanes = lanes;
        if l.most > 1 {
            place.st = tapped::<S>(&st, l, tap);
            lanes = S::mand(lanes, S::flt(S::fsplat(tap as f32), l.taps));
        }
        at_level::<S>(f, s, place, l.fine, any_linear, any_nearest, nearest, lanes, out);
        if S::many(l.blended) {
            let lanes = S::mand(lanes, l.blended);
            at_level::<S>(f, s, place, l.coarse, any_linear, any_nearest, nearest, lanes, out);
        }
    }
}

/// The number of lines that a warp's lanes `mask` touch.
#[inline(always)]
pub unsafe fn lines<S: Simd>(f: &Fast, view: &ImageView, s: &Sampler, args: &SampleArgs, mask: u16) -> u32 {
    let mut place = placed::<S>(view, s, args);
    let lanes = S::mask(mask);
    let one_layer = S::mbits(S::ieq(place.layer, shared::<S>(place.layer, mask))) & mask == mask;
    if plain(f, s) {
        let (level, linear, none) = (S::isplat(0), s.mag_linear, S::mask(0));
        if one_layer
            && linear
            && let Some(n) = near::<S>(f, s, &place, level, mask)
        {
            return n;
        }
        let mut out = Lines::default();
        at_level::<S>(f, s, &place, level, linear, !linear, none, lanes, &mut out);
        return out.distinct::<S>();
    }
    let l = lods::<S>(f, view, s, args);
    if one_layer && let Some(n) = near_levels::<S>(f, s, &place, &l, mask) {
        return n;
    }
    let mut out = Lines::default();
    several::<S>(f, s, &mut place, &l, lanes, &mut out);
    out.distinct::<S>()
}

//! Texels that lie close together, as where textures are magnified: a few loads of whole rows in the place of a gather.

use super::Fast;
use super::corners::{Corners, least};
use simd::Simd;
use simd::ops;

/// How close together the texels of the last warp were: the next one's are likely to be so too.
#[derive(Clone, Copy, PartialEq)]
pub enum Close {
    /// In four columns and rows ([`window`]).
    Four,
    /// In eight ([`eight`], [`rows`]).
    Eight,
    No,
}

impl Close {
    /// What is tried first on a level.
    #[inline(always)]
    pub fn first(f: &Fast, level: usize) -> Close {
        if f.texels[0][level % super::LEVELS] >= 4 { Close::Four } else { Close::No }
    }
}

/// Words of four columns and four rows, if all lanes' texels are among them. `at`: which of them are the lanes', by row and column
/// of the 2×2.
///
/// # Safety
/// `corners` are on a level whose texels have a word each: all have their neighbours right of them, and the
/// level has four columns at least.
#[inline(always)]
pub unsafe fn window<S: Simd>(
    s: S,
    f: &Fast,
    level: usize,
    corners: &Corners,
    at: &mut [[S::I; 2]; 2],
) -> Option<S::I> {
    let [columns, rows] = [f.texels[0][level], f.texels[1][level]];
    let (left, top) = (corners.least(0).min(columns - 4), corners.least(1));
    let i = corners.texels(s);
    let x = s.isub(i[0][0], s.isplat(left));
    let right = s.iadd(x, s.isplat(1));
    let y = [s.isub(i[1][0], s.isplat(top)), s.isub(i[1][1], s.isplat(top))];
    let any = s.ior(s.ior(x, right), s.ior(y[0], y[1]));
    if s.many(s.ugt(any, s.isplat(3))) {
        return None;
    }
    let left = left as usize * 4;
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

/// The 2×2 words of each lane, if all are in eight columns, the upper ones and the lower ones in four rows each: as where textures are
/// shown about as large as they are. With AVX-512 no more instructions than a gather's for one of the four.
///
/// # Safety
/// `corners` are on a level whose texels have a word each: all have their neighbours right of them.
#[inline(always)]
pub unsafe fn eight<S: Simd>(
    s: S,
    f: &Fast,
    level: usize,
    corners: &Corners,
    words: &mut [[S::I; 2]; 2],
) -> bool {
    let [columns, rows] = [f.texels[0][level], f.texels[1][level]];
    if columns < 8 {
        return false;
    }
    let left = corners.least(0).min(columns - 8);
    let i = corners.texels(s);
    let x = s.isub(i[0][0], s.isplat(left));
    let top = [least(&corners.i[1][0]), least(&corners.i[1][1])];
    let y = [s.isub(i[1][0], s.isplat(top[0])), s.isub(i[1][1], s.isplat(top[1]))];
    if s.many(s.mor(s.ugt(x, s.isplat(6)), s.ugt(s.ior(y[0], y[1]), s.isplat(3)))) {
        return false;
    }
    let pitch = f.row_pitch[level] as usize;
    for k in 0..2 {
        let mut row = f.level(level).wrapping_add(left as usize * 4 + top[k] as usize * pitch);
        let mut from = [row; 4];
        for n in 1..4 {
            row = if top[k] + (n as u32) < rows { row.wrapping_add(pitch) } else { row };
            from[n] = row;
        }
        // SAFETY: eight texels of each row, all of the level.
        let (a, b) = unsafe { (s.iload2([from[0], from[1]]), s.iload2([from[2], from[3]])) };
        let at = s.iadd(ops::shl(s, y[k], 3), x);
        words[k] = [s.ishuffle2(a, b, at), s.ishuffle2(a, b, s.iadd(at, s.isplat(1)))];
    }
    true
}

/// Rows of eight texels that all lanes' texels are among.
pub struct Rows<S: Simd> {
    /// Of the upper and of the lower texels: the first of two rows for each half of the lanes, and the one that is below it.
    pub rows: [[[*const u8; 2]; 2]; 2],
    /// Which of a half's sixteen texels is the left one of a lane.
    pub at: [S::I; 2],
}

impl<S: Simd> Rows<S> {
    /// Of the upper (0) or the lower texels, of eight bytes each.
    ///
    /// # Safety
    /// The rows are those of a view that is there, and of such texels.
    #[inline(always)]
    pub unsafe fn load(&self, s: S, y: usize) -> [[S::I; 2]; 2] {
        let [[a, b], [c, d]] = self.rows[y % 2];
        // SAFETY: eight texels of each row, of which there are as many.
        unsafe { [[s.iloadu(a), s.iloadu(b)], [s.iloadu(c), s.iloadu(d)]] }
    }
}

/// Those of a level, as where textures are shown about as large as they are: a warp is four by four pixels.
///
/// `corners` are on a level of texels of 1 << `shift` bytes: all have their neighbours right of them.
#[inline(always)]
pub fn rows<S: Simd>(s: S, f: &Fast, shift: u32, level: usize, corners: &Corners) -> Option<Rows<S>> {
    let [columns, rows] = [f.texels[0][level], f.texels[1][level]];
    let left = corners.least(0).min(columns.checked_sub(8)?);
    let i = corners.texels(s);
    let x = s.isub(i[0][0], s.isplat(left));
    let mut far = s.ugt(x, s.isplat(6));
    let upper_lanes = s.mask(0xFF);
    let pitch = f.row_pitch[level] as usize;
    let base = f.level(level).wrapping_add((left as usize) << shift);
    let mut found = Rows { rows: [[[base; 2]; 2]; 2], at: [x; 2] };
    for y in 0..2 {
        let of = &corners.i[1][y];
        let top = [of[0].min(of[7]), of[8].min(of[15])];
        let below = s.isub(i[1][y], s.isel(upper_lanes, s.isplat(top[0]), s.isplat(top[1])));
        far = s.mor(far, s.ugt(below, s.isplat(1)));
        found.at[y] = s.iadd(x, ops::shl(s, below, 3));
        for h in 0..2 {
            let row = base.wrapping_add(top[h] as usize * pitch);
            let next = if top[h] + 1 < rows { row.wrapping_add(pitch) } else { row };
            found.rows[y][h] = [row, next];
        }
    }
    if s.many(far) { None } else { Some(found) }
}

/// Columns that [`narrow`] takes of texels of so many bytes; none of those it has no way for.
#[inline(always)]
fn columns(bytes: u32) -> Option<u32> {
    match bytes {
        1 | 2 => Some(16 / bytes),
        _ => None,
    }
}

/// The 2×2 texels of one or two bytes of each lane, if all are in few columns ([`columns`]), the upper ones and the lower ones in four rows
/// each: words whose lowest bits they are, row by row.
///
/// # Safety
/// `corners` are on a level of such texels; `to` has room.
#[inline(always)]
pub unsafe fn narrow<S: Simd>(
    s: S,
    f: &Fast,
    level: usize,
    corners: &Corners,
    to: *mut [[u32; 16]; 4],
) -> bool {
    let level = level % super::LEVELS;
    let (bytes, [width, height]) = (f.plan.bytes, [f.texels[0][level], f.texels[1][level]]);
    let Some(across) = columns(bytes) else { return false };
    if across > width {
        return false;
    }
    let left = corners.least(0).min(width - across);
    let i = corners.texels(s);
    let x = [s.isub(i[0][0], s.isplat(left)), s.isub(i[0][1], s.isplat(left))];
    let top = [least(&corners.i[1][0]), least(&corners.i[1][1])];
    let y = [s.isub(i[1][0], s.isplat(top[0])), s.isub(i[1][1], s.isplat(top[1]))];
    // Negative numbers are large as unsigned ones.
    let far = s.mor(s.ugt(s.umax(x[0], x[1]), s.isplat(across - 1)), s.ugt(s.umax(y[0], y[1]), s.isplat(3)));
    if s.many(far) {
        return false;
    }
    let pitch = f.row_pitch[level] as usize;
    let base = f.level(level).wrapping_add((left * bytes) as usize);
    for k in 0..2 {
        let mut row = base.wrapping_add(top[k] as usize * pitch);
        let mut from = [row.cast_mut(); 4];
        for n in 1..4 {
            row = if top[k] + (n as u32) < height { row.wrapping_add(pitch) } else { row };
            from[n] = row.cast_mut();
        }
        // SAFETY: sixteen bytes of each row, all of the level.
        let all = unsafe { s.iload4(from) };
        let first = ops::shl(s, y[k], 2);
        for side in 0..2 {
            let byte = if bytes == 2 { ops::shl(s, x[side], 1) } else { x[side] };
            let word = s.ishuffle(all, s.iadd(first, ops::shr(s, byte, 2)));
            let word = s.ishr(word, ops::shl(s, s.iand(byte, s.isplat(3)), 3));
            // SAFETY: the caller has room.
            unsafe { s.istoreu((&raw mut (*to)[2 * k + side]).cast(), word) };
        }
    }
    true
}

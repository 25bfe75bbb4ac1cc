//! Texels of BC1 to BC5 by vectors of lanes, each of a block of its own: where lanes are far apart, or want a texel of a block, no block is decoded
//! whole. The words are those of [`super::packed`].

use super::BlockKind;
use super::packed::{PARTS, RAMP};
use simd::{Simd, Table, ops};

/// The format's texels are quicker made one by one than block by block, unless most of a block's are wanted.
pub fn suits(kind: BlockKind) -> bool {
    use BlockKind::*;
    matches!(kind, Bc1 { .. } | Bc2 | Bc3 | Bc4 { .. } | Bc5 { .. })
}

/// Words of texel `n` of each lane's block, which begins at `base + at`; of formats that [`suits`] says.
///
/// # Safety
/// There is a block at each.
#[inline(always)]
pub unsafe fn texels<S: Simd>(s: S, kind: BlockKind, base: *const u8, at: S::I, n: S::I) -> [S::I; 2] {
    let zero = s.isplat(0);
    // SAFETY: the caller's blocks, of eight bytes or of sixteen.
    unsafe {
        match kind {
            BlockKind::Bc1 { alpha } => {
                let block = s.igather2(base, at);
                [colors(s, block, n, Some(alpha)), zero]
            }
            BlockKind::Bc2 => {
                let (low, high) = (s.igather2(base, at), s.igather2(base.wrapping_add(8), at));
                let of = s.isel(s.ugt(n, s.isplat(7)), low[1], low[0]);
                let nibble = s.iand(s.ishr(of, ops::shl(s, s.iand(n, s.isplat(7)), 2)), s.isplat(15));
                let color = colors(s, high, n, None);
                let alpha = ops::shl(s, s.imul(nibble, s.isplat(17)), 24);
                [s.ior(s.iand(color, s.isplat(0xFF_FFFF)), alpha), zero]
            }
            BlockKind::Bc3 => {
                let (low, high) = (s.igather2(base, at), s.igather2(base.wrapping_add(8), at));
                let color = colors(s, high, n, None);
                let red_green =
                    s.ior(s.iand(color, s.isplat(0xFF)), ops::shl(s, s.iand(color, s.isplat(0xFF00)), 8));
                let blue = s.iand(ops::shr(s, color, 16), s.isplat(0xFF));
                [red_green, s.ior(blue, ops::shl(s, ramp(s, low, n, false), 16))]
            }
            BlockKind::Bc4 { signed } => {
                let block = s.igather2(base, at);
                [s.iand(ramp(s, block, n, signed), s.isplat(0xFFFF)), zero]
            }
            BlockKind::Bc5 { signed } => {
                let (low, high) = (s.igather2(base, at), s.igather2(base.wrapping_add(8), at));
                let red = s.iand(ramp(s, low, n, signed), s.isplat(0xFFFF));
                [s.ior(red, ops::shl(s, ramp(s, high, n, signed), 16)), zero]
            }
            _ => [zero; 2],
        }
    }
}

/// Thirds of the second colour by a texel's index.
static THIRDS: Table<16> = Table([0, 3, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);

/// Four bytes of colour; `punch`: blocks may have three colours and black, and whether that is clear.
#[inline(always)]
fn colors<S: Simd>(s: S, [ends, indices]: [S::I; 2], n: S::I, punch: Option<bool>) -> S::I {
    let index = s.iand(s.ishr(indices, ops::shl(s, n, 1)), s.isplat(3));
    let (first, second) = (s.iand(ends, s.isplat(0xFFFF)), ops::shr(s, ends, 16));
    let thirds = s.ilook16(&THIRDS, index);
    let black = match punch {
        Some(_) => s.mnot(s.ugt(first, second)),
        None => s.mask(0),
    };
    let half = s.mand(black, s.ieq(index, s.isplat(2)));
    let mut all = s.isplat(0xFF << 24);
    for (k, [shift, bits]) in [[11, 5], [5, 6], [0, 5]].into_iter().enumerate() {
        let most = s.isplat((1 << bits) - 1);
        let mut end = [first, second];
        for v in &mut end {
            let c = s.iand(ops::shr(s, *v, shift), most);
            *v = s.ior(ops::shl(s, c, 8 - bits), ops::shr(s, c, 2 * bits - 8));
        }
        let [a, b] = end;
        // A third, rounded: of numbers below 767.
        let sum = s.iadd(s.imul(a, s.isplat(3)), s.imul(s.isub(b, a), thirds));
        let third = ops::shr(s, s.imul(s.iadd(sum, s.isplat(1)), s.isplat(683)), 11);
        let mean = ops::shr(s, s.iadd(s.iadd(a, b), s.isplat(1)), 1);
        all = s.ior(all, ops::shl(s, s.isel(half, mean, third), 8 * k as u32));
    }
    let Some(clear) = punch else { return all };
    let none = s.isplat(if clear { 0 } else { 0xFF << 24 });
    s.isel(s.mand(black, s.ieq(index, s.isplat(3))), none, all)
}

/// Weights of the two ends of a ramp, in parts: of six numbers, and then of eight.
static FIRST: Table<16> = Table([35, 0, 28, 21, 14, 7, 0, 0, 35, 0, 30, 25, 20, 15, 10, 5]);
static SECOND: Table<16> = Table([0, 35, 7, 14, 21, 28, 0, 0, 0, 35, 5, 10, 15, 20, 25, 30]);

/// The number of an RGTC block, in parts.
#[inline(always)]
fn ramp<S: Simd>(s: S, [low, high]: [S::I; 2], n: S::I, signed: bool) -> S::I {
    let upper = s.ior(ops::shr(s, low, 16), ops::shl(s, high, 16));
    let of = s.isel(s.ugt(n, s.isplat(7)), ops::shr(s, high, 8), upper);
    let within = s.iand(n, s.isplat(7));
    let index = s.iand(s.ishr(of, s.iadd(within, ops::shl(s, within, 1))), s.isplat(7));
    let (a, b, eight);
    if signed {
        // -128 stands for -127; the order is decided on the codes as they are stored.
        let codes = [ops::sar(s, ops::shl(s, low, 24), 24), ops::sar(s, ops::shl(s, low, 16), 24)];
        let least = s.isplat(-127i32 as u32);
        (a, b) = (s.smax(codes[0], least), s.smax(codes[1], least));
        eight = s.sgt(codes[0], codes[1]);
    } else {
        (a, b) = (s.iand(low, s.isplat(255)), s.iand(ops::shr(s, low, 8), s.isplat(255)));
        eight = s.ugt(a, b);
    }
    let entry = s.iadd(index, s.isel(eight, s.isplat(8), s.isplat(0)));
    let v = s.iadd(s.imul(a, s.ilook16(&FIRST, entry)), s.imul(b, s.ilook16(&SECOND, entry)));
    let most = if signed { 127 * PARTS } else { RAMP };
    let least = if signed { most.wrapping_neg() } else { 0 };
    let v = s.isel(s.ieq(entry, s.isplat(6)), s.isplat(least), v);
    s.isel(s.ieq(entry, s.isplat(7)), s.isplat(most), v)
}

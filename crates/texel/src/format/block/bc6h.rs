//! BC6H blocks decoded by vectors, a channel of all texels at once. What they stand for is what [`super::bptc`] gives, a texel after the other.

// Loops over channels index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::bc7::{ANCHORS, SUBSETS, weights};
use super::bptc;
use super::packed::TWOS;
use simd::{Simd, ops};

/// Texels as four halves: red and green, blue and alpha. Reserved modes give black.
#[inline(always)]
pub fn bc6h<S: Simd>(s: S, block: u128, signed: bool) -> [S::I; 2] {
    let Some(head) = bptc::bc6h_head(block, signed) else { return [s.isplat(0), s.isplat(0x3C00_0000)] };
    let (two, partition) = (head.two as usize, head.partition % 64);
    let bits = if head.two { 3 } else { 4 };
    let weight = weights(s, (block >> head.at) as u64, bits, ANCHORS[two][partition]);
    let own = s.ishr(s.isplat(SUBSETS[two][partition]), s.iline(&TWOS));
    let first = s.ieq(s.iand(own, s.isplat(3)), s.isplat(0));
    let rest = s.isub(s.isplat(64), weight);
    let mut halves = [weight; 3];
    for k in 0..3 {
        let [a, b, c, d] = head.ends[k];
        let from = s.isel(first, s.isplat(a as u32), s.isplat(c as u32));
        let to = s.isel(first, s.isplat(b as u32), s.isplat(d as u32));
        let v = s.iadd(s.iadd(s.imul(from, rest), s.imul(to, weight)), s.isplat(32));
        let v = ops::sar(s, v, 6);
        halves[k] = if signed {
            let sign = ops::sar(s, v, 31);
            let most = s.isub(s.ixor(v, sign), sign);
            let half = ops::shr(s, s.imul(most, s.isplat(31)), 5);
            s.ior(half, s.iand(sign, s.isplat(0x8000)))
        } else {
            ops::shr(s, s.imul(v, s.isplat(31)), 6)
        };
    }
    let [red, green, blue] = halves;
    [s.ior(red, ops::shl(s, green, 16)), s.ior(blue, s.isplat(0x3C00_0000))]
}

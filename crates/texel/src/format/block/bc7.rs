//! BC7 blocks decoded by vectors: all endpoints of a block are taken from its bits at once, by tables of where a mode has them. What they stand for
//! is what [`super::bptc`] gives, a texel after the other.

use super::bptc::BC7_MODES;
use super::bptc_tables::{ANCHOR2, ANCHOR3_SECOND, ANCHOR3_THIRD, PARTITIONS2, PARTITIONS3};
use super::packed::{FOURS, HALF_TWOS, THREES, TWOS};
use simd::{Simd, Table, ops};

/// Where a mode has its endpoints. A lane is an endpoint: of the first eight red and blue, of the others green and alpha.
struct Ends {
    /// The first bit of red, or of green; of blue, or of alpha; of what both have below their bits.
    first: Table<16>,
    second: Table<16>,
    shared: Table<16>,
    /// What comes before the endpoints: where the partition is, the rotation, the selector.
    partition: u32,
    rotation: u32,
    selector: u32,
    /// The first bit of the indices.
    indices: u32,
}

const fn ends(number: usize) -> Ends {
    let m = &BC7_MODES[number];
    let n = m.subsets * 2;
    let partition = number as u32 + 1;
    let rotation = partition + m.partition_bits;
    let selector = rotation + m.rotation_bits;
    let start = selector + m.selector_bits;
    let alpha = start + 3 * n * m.color_bits;
    let shared_at = alpha + n * m.alpha_bits;
    let (mut first, mut second, mut shared) = ([0; 16], [0; 16], [0; 16]);
    let mut i = 0;
    while i < n {
        let (red, green) = (i as usize, i as usize + 8);
        first[red] = start + i * m.color_bits;
        first[green] = start + (n + i) * m.color_bits;
        second[red] = start + (2 * n + i) * m.color_bits;
        second[green] = alpha + i * m.alpha_bits;
        shared[red] = shared_at + if m.endpoint_p { i } else { i / 2 };
        shared[green] = shared[red];
        i += 1;
    }
    let bits = if m.endpoint_p { n } else { m.shared_p as u32 * m.subsets };
    Ends {
        first: Table(first),
        second: Table(second),
        shared: Table(shared),
        partition,
        rotation,
        selector,
        indices: shared_at + bits,
    }
}

static ENDS: [Ends; 8] = [ends(0), ends(1), ends(2), ends(3), ends(4), ends(5), ends(6), ends(7)];

/// The subset of each texel, two bits each, of blocks of one, two and three subsets.
pub static SUBSETS: [[u32; 64]; 3] = {
    let mut all = [[0; 64]; 3];
    let mut p = 0;
    while p < 64 {
        let mut t = 0;
        while t < 16 {
            all[1][p] |= (PARTITIONS2[p] as u32 >> t & 1) << (2 * t);
            t += 1;
        }
        all[2][p] = PARTITIONS3[p];
        p += 1;
    }
    all
};

/// No texel.
const NONE: u8 = 64;

/// Texels beside the first one whose indices lack their highest bit, the lower one first.
pub static ANCHORS: [[[u8; 2]; 64]; 3] = {
    let mut all = [[[NONE; 2]; 64]; 3];
    let mut p = 0;
    while p < 64 {
        all[1][p][0] = ANCHOR2[p];
        let (a, b) = (ANCHOR3_SECOND[p], ANCHOR3_THIRD[p]);
        all[2][p] = if a < b { [a, b] } else { [b, a] };
        p += 1;
    }
    all
};

/// BPTC's weights of indices of two, three and four bits.
static WEIGHTS: [Table<16>; 3] = [
    Table([0, 21, 43, 64, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    Table([0, 9, 18, 27, 37, 46, 55, 64, 0, 0, 0, 0, 0, 0, 0, 0]),
    Table([0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64]),
];

/// Weights by the indices of `bits` bits that begin with `all`, of which those of the first texel and of `anchors` lack their highest bit.
#[inline(always)]
pub fn weights<S: Simd>(s: S, all: u64, bits: u32, anchors: [u8; 2]) -> S::I {
    let mut all = all;
    // The lowest first: the bits of those after it have not been put in yet.
    for t in [0, anchors[0] as u32, anchors[1] as u32] {
        // A bit of 0 where the highest would be.
        let below = u64::checked_shl(1, t * bits + bits - 1).unwrap_or(0).wrapping_sub(1);
        let low = all & below;
        all = low | (all ^ low) << 1;
    }
    let of = s.isel(s.mask(0xFF), s.isplat(all as u32), s.isplat((all >> (8 * bits)) as u32));
    let [starts, table] = match bits {
        2 => [&HALF_TWOS, &WEIGHTS[0]],
        3 => [&THREES, &WEIGHTS[1]],
        _ => [&FOURS, &WEIGHTS[2]],
    };
    // SAFETY: sixteen words, aligned.
    let index = s.ishr(of, s.iline(starts));
    s.ilook16(table, s.iand(index, s.isplat((1 << bits) - 1)))
}

/// Texels as words. A block without a mode is transparent black.
#[inline(always)]
pub fn bc7<S: Simd>(s: S, block: u128) -> S::I {
    let number = (block as u8).trailing_zeros() as usize;
    if number > 7 {
        return s.isplat(0);
    }
    let (m, at) = (&BC7_MODES[number], &ENDS[number]);
    // (All of these lie in the first 64 bits.)
    let low = block as u64;
    macro_rules! take {
        ($at:expr, $bits:expr) => {
            (low >> $at) as u32 & ((1 << $bits) - 1)
        };
    }
    let partition = take!(at.partition, m.partition_bits) as usize % 64;
    let subsets = m.subsets as usize - 1;

    // Words, again and again: what lies across two of them is of the next one too.
    let high = (block >> 64) as u64;
    let lower = s.isel(s.mask(0x1111), s.isplat(low as u32), s.isplat((low >> 32) as u32));
    let upper = s.isel(s.mask(0x4444), s.isplat(high as u32), s.isplat((high >> 32) as u32));
    let words = s.isel(s.mask(0x3333), lower, upper);
    let thirty_two = s.isplat(32);
    macro_rules! from {
        ($at:expr) => {{
            let at = s.iline($at);
            let n = ops::shr(s, at, 5);
            let within = s.iand(at, s.isplat(31));
            let next = s.ishl(s.ishuffle(words, s.iadd(n, s.isplat(1))), s.isub(thirty_two, within));
            s.ior(s.ishr(s.ishuffle(words, n), within), next)
        }};
    }
    let p = (m.endpoint_p || m.shared_p) as u32;
    let below = s.iand(from!(&at.shared), s.isplat(p));
    // Bits of a channel with what is below them, to the top of a byte, and the highest ones again after them.
    macro_rules! channel {
        ($at:expr, $stored:expr) => {{
            let stored = $stored;
            let full = s.iand(from!($at), s.isub(s.ishl(s.isplat(1), stored), s.isplat(1)));
            let full = s.ior(s.ishl(full, s.isplat(p)), below);
            let bits = s.iadd(stored, s.isplat(p));
            let top = s.ishl(full, s.isub(s.isplat(8), bits));
            s.ior(top, s.ishr(top, bits))
        }};
    }
    let color = s.isplat(m.color_bits);
    let colors = s.mask(0xFF);
    let first = channel!(&at.first, color);
    let second = channel!(&at.second, s.isel(colors, color, s.isplat(m.alpha_bits)));
    let opaque = if m.alpha_bits == 0 { 255 } else { 0 };
    let second = s.isel(colors, second, s.ior(second, s.isplat(opaque)));
    let ends = s.ior(first, ops::shl(s, second, 16));

    // SAFETY: sixteen words, aligned.
    let own = s.ishr(s.isplat(SUBSETS[subsets][partition]), s.iline(&TWOS));
    let own = ops::shl(s, s.iand(own, s.isplat(3)), 1);
    macro_rules! end {
        ($n:expr) => {
            s.ishuffle(ends, s.iadd(own, s.isplat($n)))
        };
    }

    let indices = (block >> at.indices) as u64;
    let weight = weights(s, indices, m.index_bits, ANCHORS[subsets][partition]);
    let (half, bytes) = (s.isplat(0x20_0020), s.isplat(0xFF_00FF));
    // Two channels to a word, which no product leaves.
    macro_rules! between {
        ($a:expr, $b:expr, $w:expr) => {{
            let v = s.iadd(s.imul($a, s.isub(s.isplat(64), $w)), s.imul($b, $w));
            s.iand(ops::shr(s, s.iadd(v, half), 6), bytes)
        }};
    }
    if m.second_bits == 0 {
        let red_blue = between!(end!(0), end!(1), weight);
        let green_alpha = between!(end!(8), end!(9), weight);
        return s.ior(red_blue, ops::shl(s, green_alpha, 8));
    }
    let of = (block >> (at.indices + 16 * m.index_bits - 1)) as u64;
    let other = weights(s, of, m.second_bits, [NONE; 2]);
    // With two sets of indices, the selector exchanges those of colour and alpha.
    let (color, alpha) =
        if take!(at.selector, m.selector_bits) != 0 { (other, weight) } else { (weight, other) };
    let red_blue = between!(end!(0), end!(1), color);
    let green = s.iand(between!(end!(8), end!(9), color), s.isplat(0xFF));
    let alpha = s.iand(between!(end!(8), end!(9), alpha), s.isplat(0xFF_0000));
    let v = s.ior(red_blue, ops::shl(s, s.ior(green, alpha), 8));
    // The channel that alpha is exchanged with, from 1 on; 0: none.
    let rotation = take!(at.rotation, m.rotation_bits);
    if rotation == 0 {
        return v;
    }
    let by = 8 * (rotation - 1);
    let differs = s.iand(s.ixor(ops::shr(s, v, 24), ops::shr(s, v, by)), s.isplat(0xFF));
    s.ixor(v, s.ior(ops::shl(s, differs, 24), ops::shl(s, differs, by)))
}

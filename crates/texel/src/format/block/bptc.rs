//! BC6H and BC7 (BPTC).

use super::bptc_tables::{
    ANCHOR2, ANCHOR3_SECOND, ANCHOR3_THIRD, BC6H_MODES, PARTITIONS2, PARTITIONS3, WEIGHTS,
};
use super::{BlockTexels, Color8, Paint};
use crate::format::num;
use std::sync::LazyLock;

/// Reads bits from the low end upwards.
struct Bits {
    block: u128,
    at: u32,
}

impl Bits {
    fn take(&mut self, n: u32) -> u32 {
        if n == 0 {
            return 0;
        }
        let v = (self.block >> self.at) as u32 & (u32::MAX >> (32 - n));
        self.at += n;
        v
    }
}

/// Subset of each texel and the anchor texels of the subsets.
fn subset(count: u32, partition: usize, texel: usize) -> usize {
    match count {
        2 => (PARTITIONS2[partition] >> texel & 1) as usize,
        3 => (PARTITIONS3[partition] >> (2 * texel) & 3) as usize,
        _ => 0,
    }
}

fn is_anchor(count: u32, partition: usize, texel: usize) -> bool {
    texel == 0
        || match count {
            2 => ANCHOR2[partition] as usize == texel,
            3 => ANCHOR3_SECOND[partition] as usize == texel || ANCHOR3_THIRD[partition] as usize == texel,
            _ => false,
        }
}

/// How a mode's blocks are made up: bits of each part, in the order that they come in.
pub struct Bc7Mode {
    pub subsets: u32,
    pub partition_bits: u32,
    pub rotation_bits: u32,
    pub selector_bits: u32,
    pub color_bits: u32,
    pub alpha_bits: u32,
    /// P-bits: one an endpoint, or one a subset.
    pub endpoint_p: bool,
    pub shared_p: bool,
    pub index_bits: u32,
    pub second_bits: u32,
}

const fn mode(
    [subsets, partition_bits, rotation_bits, selector_bits, color_bits, alpha_bits]: [u32; 6],
    endpoint_p: bool,
    shared_p: bool,
    index_bits: u32,
    second_bits: u32,
) -> Bc7Mode {
    Bc7Mode {
        subsets,
        partition_bits,
        rotation_bits,
        selector_bits,
        color_bits,
        alpha_bits,
        endpoint_p,
        shared_p,
        index_bits,
        second_bits,
    }
}

pub const BC7_MODES: [Bc7Mode; 8] = [
    mode([3, 4, 0, 0, 4, 0], true, false, 3, 0),
    mode([2, 6, 0, 0, 6, 0], false, true, 3, 0),
    mode([3, 6, 0, 0, 5, 0], false, false, 2, 0),
    mode([2, 6, 0, 0, 7, 0], true, false, 2, 0),
    mode([1, 0, 2, 1, 5, 6], false, false, 2, 3),
    mode([1, 0, 2, 0, 7, 8], false, false, 2, 2),
    mode([1, 0, 0, 0, 7, 7], true, false, 4, 0),
    mode([2, 6, 0, 0, 5, 5], true, false, 2, 0),
];

/// What a BC7 block says before its indices.
struct Bc7 {
    subsets: u32,
    partition: usize,
    /// The channel that alpha is exchanged with, from 1 on; 0: none.
    rotation: u32,
    /// The second set of indices is that of colours, not of alpha.
    exchanged: bool,
    /// Two endpoints a subset.
    ends: [[u32; 4]; 6],
    /// Bits of indices: of the first set, and of the second if there is one.
    bits: [u32; 2],
    /// The first bit of the indices.
    at: u32,
}

/// `None` for a block without a mode.
fn bc7_head(block: u128) -> Option<Bc7> {
    let number = (block as u8).trailing_zeros() as usize;
    let m = BC7_MODES.get(number)?;
    let mut bits = Bits { block, at: number as u32 + 1 };
    let partition = bits.take(m.partition_bits) as usize;
    let rotation = bits.take(m.rotation_bits);
    let selector = bits.take(m.selector_bits);
    let ends = m.subsets as usize * 2;
    let mut e = [[0u32; 4]; 6];
    for channel in 0..4 {
        let n = if channel == 3 { m.alpha_bits } else { m.color_bits };
        for end in e.iter_mut().take(ends) {
            end[channel] = bits.take(n);
        }
    }
    let p = m.endpoint_p || m.shared_p;
    let mut shared = 0;
    for (i, end) in e.iter_mut().enumerate().take(ends) {
        if m.endpoint_p || (m.shared_p && i % 2 == 0) {
            shared = bits.take(1);
        }
        for (channel, v) in end.iter_mut().enumerate() {
            let stored = if channel == 3 { m.alpha_bits } else { m.color_bits };
            if stored == 0 {
                *v = 255;
                continue;
            }
            let n = stored + p as u32;
            let full = if p { *v << 1 | shared } else { *v };
            let top = full << (8 - n);
            *v = top | top >> n;
        }
    }
    Some(Bc7 {
        subsets: m.subsets,
        partition,
        rotation,
        exchanged: selector != 0,
        ends: e,
        bits: [m.index_bits, m.second_bits],
        at: bits.at,
    })
}

/// BC7. A block without a mode is transparent black.
pub fn bc7(block: u128, color: Color8, out: &mut BlockTexels) {
    let Some(Bc7 { subsets, partition, rotation, exchanged, ends: e, bits: [first, second], at }) =
        bc7_head(block)
    else {
        out[..16].fill([0; 4]);
        return;
    };
    let mut bits = Bits { block, at };
    let mut indices = [[0u32; 16]; 2];
    for (t, i) in indices[0].iter_mut().enumerate() {
        *i = bits.take(first - is_anchor(subsets, partition, t) as u32);
    }
    if second > 0 {
        for (t, i) in indices[1].iter_mut().enumerate() {
            *i = bits.take(second - (t == 0) as u32);
        }
    }
    let weight = |set: usize, t: usize| {
        let n = if set == 0 { first } else { second };
        WEIGHTS[n as usize - 2][indices[set][t] as usize] as u32
    };
    for (t, o) in out.iter_mut().enumerate().take(16) {
        let s = subset(subsets, partition, t) * 2;
        // With two sets of indices, the selector exchanges those of colour and alpha.
        let (ci, ai) = match (second > 0, exchanged) {
            (false, _) => (0, 0),
            (true, false) => (0, 1),
            (true, true) => (1, 0),
        };
        let (wc, wa) = (weight(ci, t), weight(ai, t));
        let mut c: [u8; 4] = std::array::from_fn(|k| {
            let w = if k == 3 { wa } else { wc };
            ((e[s][k] * (64 - w) + e[s + 1][k] * w + 32) >> 6) as u8
        });
        if rotation > 0 {
            c.swap(3, rotation as usize - 1);
        }
        *o = color.of(c);
    }
}

/// For every mode: for the bits of the block after the mode field, the endpoint value (channel · 4 + endpoint), the first bit of it that they fill,
/// and how many follow one another.
static BC6H_BITS: LazyLock<[Vec<(u8, u8, u8)>; 14]> = LazyLock::new(|| {
    std::array::from_fn(|m| {
        let mut runs = Vec::<(u8, u8, u8)>::new();
        for field in BC6H_MODES[m].fields.split(' ') {
            let (name, range) = field.trim_end_matches(']').split_once('[').unwrap_or((field, "0"));
            let name = name.as_bytes();
            let slot = b"rgb".iter().position(|&c| c == name[0]).unwrap_or(0) as u8 * 4 + (name[1] - b'0');
            let (last, first) = range.split_once(':').unwrap_or((range, range));
            let (last, first): (u8, u8) = (last.parse().unwrap_or(0), first.parse().unwrap_or(0));
            let n = last.abs_diff(first);
            match last >= first {
                true => runs.push((slot, first, n + 1)),
                // From the highest bit down.
                false => runs.extend((0..=n).map(|i| (slot, first - i, 1))),
            }
        }
        runs
    })
});

fn unquantize(v: i32, bits: u32, signed: bool) -> i32 {
    if signed {
        if bits >= 16 || v == 0 {
            return v;
        }
        let a = v.abs();
        let u = if a >= (1 << (bits - 1)) - 1 { 0x7fff } else { ((a << 15) + 0x4000) >> (bits - 1) };
        if v < 0 { -u } else { u }
    } else if bits >= 15 || v == 0 {
        v
    } else if v == (1 << bits) - 1 {
        0xffff
    } else {
        ((v << 15) + 0x4000) >> (bits - 1)
    }
}

/// What a BC6H block says before its indices.
pub struct Bc6h {
    /// There are two regions.
    pub two: bool,
    pub partition: usize,
    /// By channel.
    pub ends: [[i32; 4]; 3],
    /// The first bit of the indices.
    pub at: u32,
}

/// `None` for a block of a reserved mode.
#[inline]
pub fn bc6h_head(block: u128, signed: bool) -> Option<Bc6h> {
    let field = block as u32 & 31;
    let number = match field & 3 {
        0 | 1 => (field & 3) as usize,
        2 => 2 + (field >> 2) as usize,
        _ => 10 + (field >> 2) as usize,
    };
    let mode = BC6H_MODES.get(number)?;
    let two = number < 10;
    let mut bits = Bits { block, at: if number < 2 { 2 } else { 5 } };
    let mut e = [[0i32; 4]; 3];
    for &(slot, bit, n) in &BC6H_BITS[number] {
        e[slot as usize / 4 % 3][slot as usize % 4] |= (bits.take(n as u32) << bit) as i32;
    }
    let partition = if two { bits.take(5) as usize } else { 0 };
    let n = mode.endpoint_bits;
    let sext = |v: i32, bits: u32| num::sext(v as u32, bits);
    // Modes 9 and 10 (numbered from 0) store endpoints as they are, the others as differences from the first.
    let delta = number != 9 && number != 10;
    for (k, c) in e.iter_mut().enumerate() {
        if signed {
            c[0] = sext(c[0], n);
        }
        for i in 1..if two { 4 } else { 2 } {
            if delta {
                c[i] = (c[0] + sext(c[i], mode.delta_bits[k])) & ((1i64 << n) - 1) as i32;
            }
            if signed {
                c[i] = sext(c[i], n);
            }
        }
    }
    let ends = e.map(|c| c.map(|v| unquantize(v, n, signed)));
    Some(Bc6h { two, partition, ends, at: bits.at })
}

/// BC6H: `put` is given each texel's place, and its channels as halves. Reserved modes give black.
pub fn bc6h(block: u128, signed: bool, mut put: impl FnMut(usize, [u16; 3])) {
    let Some(Bc6h { two, partition, ends: e, at }) = bc6h_head(block, signed) else {
        return (0..16).for_each(|t| put(t, [0; 3]));
    };
    let mut bits = Bits { block, at };
    let index_bits = if two { 3 } else { 4 };
    let regions = if two { 2 } else { 1 };
    for t in 0..16 {
        let index = bits.take(index_bits - is_anchor(regions, partition, t) as u32);
        let w = WEIGHTS[index_bits as usize - 2][index as usize] as i32;
        let s = subset(regions, partition, t) * 2;
        let channel = |c: &[i32; 4]| {
            let v = (c[s] * (64 - w) + c[s + 1] * w + 32) >> 6;
            let half = if signed {
                let m = (v.abs() * 31) >> 5;
                if v < 0 { m | 0x8000 } else { m }
            } else {
                (v * 31) >> 6
            };
            half as u16
        };
        put(t, [channel(&e[0]), channel(&e[1]), channel(&e[2])]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::EMPTY;
    use super::*;

    #[test]
    fn bc7_mode_6_by_hand() {
        // Mode 6: bit 6 set. Endpoint 0 = 0 with P-bit 0, endpoint 1 = 127 with P-bit 1 (255), all four channels.
        let mut block = 1u128 << 6;
        for channel in 0..4 {
            block |= 127u128 << (7 + channel * 14 + 7);
        }
        block |= 1 << 64;
        // Indices: texel 0 has three bits (anchor), 0; texel 1 has 15.
        block |= 15u128 << (65 + 3);
        let mut out = EMPTY;
        bc7(block, Color8 { srgb: false }, &mut out);
        assert_eq!(out[0].map(f32::from_bits), [0.0; 4]);
        assert_eq!(out[1].map(f32::from_bits), [1.0; 4]);
        bc7(0, Color8 { srgb: false }, &mut out);
        assert_eq!(out[5], [0; 4]);
    }

    #[test]
    fn bc6h_mode_11_by_hand() {
        // Mode field 00011: one region, endpoints of ten bits. Red from 0 to 1023, index 15 at texel 1.
        let block = 3u128 | 1023 << 35 | 15 << (65 + 3);
        let mut out = EMPTY;
        let half = |v| num::f16_to_f32(v).to_bits();
        let mut decode = |block| {
            bc6h(block, false, |t, c: [u16; 3]| {
                out[t] = [half(c[0]), half(c[1]), half(c[2]), 1f32.to_bits()]
            });
            out
        };
        let out = decode(block);
        assert_eq!(out[0].map(f32::from_bits), [0.0, 0.0, 0.0, 1.0]);
        // 0xffff · 31 / 64 = 0x7bff, the largest finite half.
        assert_eq!(out[1].map(f32::from_bits), [65504.0, 0.0, 0.0, 1.0]);
        let out = decode(0x13);
        assert_eq!(out[1].map(f32::from_bits), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn field_lists_fill_every_mode() {
        for (m, bits) in BC6H_BITS.iter().enumerate() {
            let each = bits.iter().flat_map(|(slot, first, n)| (0..*n).map(move |i| (*slot, first + i)));
            let used = each.clone().count() + if m < 2 { 2 } else { 5 };
            assert_eq!(used, if m < 10 { 77 } else { 65 }, "mode {m}");
            let mut seen = std::collections::HashSet::new();
            assert!(each.clone().all(|b| seen.insert(b)), "mode {m} fills a bit twice");
        }
    }

    #[test]
    fn anchors_belong_to_their_subsets() {
        for p in 0..64 {
            assert_eq!(subset(2, p, ANCHOR2[p] as usize), 1);
            assert_eq!(subset(3, p, ANCHOR3_SECOND[p] as usize), 1);
            assert_eq!(subset(3, p, ANCHOR3_THIRD[p] as usize), 2);
            assert_eq!((subset(2, p, 0), subset(3, p, 0)), (0, 0));
        }
    }
}

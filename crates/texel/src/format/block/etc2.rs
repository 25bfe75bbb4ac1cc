//! ETC2 and EAC. Blocks are big-endian numbers: bit 63 is the first bit of the first byte. Texels are numbered down the
//! columns.

use super::{Paint, Texels};

/// Intensity modifiers of a sub-block: small and large.
const MODIFIERS: [[i32; 2]; 8] =
    [[2, 8], [5, 17], [9, 29], [13, 42], [18, 60], [24, 80], [33, 106], [47, 183]];
/// Distances of the T and H modes.
const DISTANCES: [i32; 8] = [3, 6, 11, 16, 23, 32, 41, 64];
/// Modifiers of EAC by table and index.
#[rustfmt::skip]
pub const EAC: [[i32; 8]; 16] = [
    [-3, -6, -9, -15, 2, 5, 8, 14], [-3, -7, -10, -13, 2, 6, 9, 12],
    [-2, -5, -8, -13, 1, 4, 7, 12], [-2, -4, -6, -13, 1, 3, 5, 12],
    [-3, -6, -8, -12, 2, 5, 7, 11], [-3, -7, -9, -11, 2, 6, 8, 10],
    [-4, -7, -8, -11, 3, 6, 7, 10], [-3, -5, -8, -11, 2, 4, 7, 10],
    [-2, -6, -8, -10, 1, 5, 7, 9],  [-2, -5, -8, -10, 1, 4, 7, 9],
    [-2, -4, -8, -10, 1, 3, 7, 9],  [-2, -5, -7, -10, 1, 4, 6, 9],
    [-3, -4, -7, -10, 2, 3, 6, 9],  [-1, -2, -3, -10, 0, 1, 2, 9],
    [-4, -6, -8, -9, 3, 5, 7, 8],   [-3, -5, -7, -9, 2, 4, 6, 8],
];

/// Bits `low .. low + n` of a block.
fn bits(block: u64, low: u32, n: u32) -> i32 {
    (block >> low & ((1 << n) - 1)) as i32
}

fn add(c: [i32; 3], d: i32) -> [u8; 4] {
    let v = |k: usize| (c[k] + d).clamp(0, 255) as u8;
    [v(0), v(1), v(2), 255]
}

const CLEAR: [u8; 4] = [0; 4];

/// What a block says of its texels' colours; texels choose by an index of two bits.
pub enum Colors {
    /// One base a half (the right one or, of those that are flipped, the lower one is the second), to which the index' step is added: its
    /// table's small or large one, either way. Where texels may be transparent those of index 2 are, and index 0 adds nothing.
    Halves { bases: [[i32; 3]; 2], steps: [[i32; 2]; 2], flip: bool, transparent: bool },
    /// By index.
    Four([[u8; 4]; 4]),
    /// A plane: at the origin, and one block to the right of it and below it.
    Plane([[i32; 3]; 3]),
}

/// Of ETC2 RGB; with `punch` of the format with one bit of alpha, whose differential bit tells opaque blocks.
#[inline]
pub fn colors(block: u64, punch: bool) -> Colors {
    let flag = bits(block, 33, 1) == 1;
    let transparent = punch && !flag;
    let five = |v: i32| v << 3 | v >> 2;
    let four = |v: i32| v << 4 | v;
    let bases = if flag || punch {
        let base = [bits(block, 59, 5), bits(block, 51, 5), bits(block, 43, 5)];
        let diff = [bits(block, 56, 3), bits(block, 48, 3), bits(block, 40, 3)].map(|d| (d ^ 4) - 4);
        let second: [i32; 3] = std::array::from_fn(|k| base[k] + diff[k]);
        // A component that leaves the range of five bits tells the mode.
        let over = second.map(|v| !(0..32).contains(&v));
        if over[0] {
            return t_mode(block, transparent);
        }
        if over[1] {
            return h_mode(block, transparent);
        }
        if over[2] {
            return planar(block);
        }
        [base.map(five), second.map(five)]
    } else {
        [
            [bits(block, 60, 4), bits(block, 52, 4), bits(block, 44, 4)].map(four),
            [bits(block, 56, 4), bits(block, 48, 4), bits(block, 40, 4)].map(four),
        ]
    };
    let steps = [bits(block, 37, 3), bits(block, 34, 3)].map(|t| MODIFIERS[t as usize]);
    Colors::Halves { bases, steps, flip: bits(block, 32, 1) == 1, transparent }
}

/// Sixteen texels from their colours.
pub fn rgb<C: Paint>(block: u64, punch: bool, color: C, out: &mut Texels<C>) {
    let colors = colors(block, punch);
    for (x, y) in (0..4).flat_map(|x| (0..4).map(move |y| (x, y))) {
        let i = x * 4 + y;
        let index = bits(block, 16 + i, 1) << 1 | bits(block, i, 1);
        let c = match &colors {
            Colors::Halves { bases, steps, flip, transparent } => {
                let half = (if *flip { y } else { x } / 2) as usize;
                let [small, large] = steps[half];
                match index {
                    2 if *transparent => CLEAR,
                    0 if *transparent => add(bases[half], 0),
                    0 => add(bases[half], small),
                    1 => add(bases[half], large),
                    2 => add(bases[half], -small),
                    _ => add(bases[half], -large),
                }
            }
            Colors::Four(of) => of[index as usize],
            Colors::Plane([o, h, v]) => {
                let at = |k: usize| (x as i32 * (h[k] - o[k]) + y as i32 * (v[k] - o[k]) + 4 * o[k] + 2) >> 2;
                add([at(0), at(1), at(2)], 0)
            }
        };
        out[(y * 4 + x) as usize] = color.of(c);
    }
}

fn t_mode(block: u64, transparent: bool) -> Colors {
    let four = |v: i32| v << 4 | v;
    let a = [bits(block, 59, 2) << 2 | bits(block, 56, 2), bits(block, 52, 4), bits(block, 48, 4)].map(four);
    let b = [bits(block, 44, 4), bits(block, 40, 4), bits(block, 36, 4)].map(four);
    let d = DISTANCES[(bits(block, 34, 2) << 1 | bits(block, 32, 1)) as usize];
    Colors::Four([add(a, 0), add(b, d), if transparent { CLEAR } else { add(b, 0) }, add(b, -d)])
}

fn h_mode(block: u64, transparent: bool) -> Colors {
    let four = |v: i32| v << 4 | v;
    let a = [
        bits(block, 59, 4),
        bits(block, 56, 3) << 1 | bits(block, 52, 1),
        bits(block, 51, 1) << 3 | bits(block, 47, 3),
    ];
    let b = [bits(block, 43, 4), bits(block, 39, 4), bits(block, 35, 4)];
    // The lowest bit of the distance is the order of the two colours.
    let order = (a >= b) as i32;
    let d = DISTANCES[(bits(block, 34, 1) << 2 | bits(block, 32, 1) << 1 | order) as usize];
    let (a, b) = (a.map(four), b.map(four));
    Colors::Four([add(a, d), add(a, -d), if transparent { CLEAR } else { add(b, d) }, add(b, -d)])
}

fn planar(block: u64) -> Colors {
    let six = |v: i32| v << 2 | v >> 4;
    let seven = |v: i32| v << 1 | v >> 6;
    let o = [
        six(bits(block, 57, 6)),
        seven(bits(block, 56, 1) << 6 | bits(block, 49, 6)),
        six(bits(block, 48, 1) << 5 | bits(block, 43, 2) << 3 | bits(block, 39, 3)),
    ];
    let h = [
        six(bits(block, 34, 5) << 1 | bits(block, 32, 1)),
        seven(bits(block, 25, 7)),
        six(bits(block, 19, 6)),
    ];
    let v = [six(bits(block, 13, 6)), seven(bits(block, 6, 7)), six(bits(block, 0, 6))];
    Colors::Plane([o, h, v])
}

/// Index (three bits) of texel (x, y) in an EAC block.
fn eac_index(block: u64, x: u32, y: u32) -> usize {
    bits(block, 45 - 3 * (x * 4 + y), 3) as usize
}

/// ETC2 RGB with an EAC alpha of eight bits.
pub fn rgba8<C: Paint>(alpha: u64, block: u64, color: C, out: &mut Texels<C>) {
    rgb(block, false, color, out);
    let (base, multiplier) = (bits(alpha, 56, 8), bits(alpha, 52, 4));
    let table = EAC[bits(alpha, 48, 4) as usize];
    for y in 0..4 {
        for x in 0..4 {
            let a = (base + table[eac_index(alpha, x, y)] * multiplier).clamp(0, 255);
            color.alpha(&mut out[(y * 4 + x) as usize], a as u8);
        }
    }
}

/// The numbers that [`r11`]'s largest stand for, unsigned and signed.
pub const MOST: [i32; 2] = [2047, 1023];

fn eac11(block: u64, signed: bool, x: u32, y: u32) -> i32 {
    let multiplier = bits(block, 52, 4);
    let modifier = EAC[bits(block, 48, 4) as usize][eac_index(block, x, y)];
    let step = if multiplier == 0 { modifier } else { modifier * multiplier * 8 };
    let most = MOST[signed as usize];
    if signed {
        let base = ((block >> 56) as i8).max(-127) as i32;
        (base * 8 + step).clamp(-most, most)
    } else {
        (bits(block, 56, 8) * 8 + 4 + step).clamp(0, most)
    }
}

/// EAC R11, or RG11 if there is a second block: `put` is given each texel's place, and its numbers.
pub fn r11(red: u64, green: Option<u64>, signed: bool, mut put: impl FnMut(usize, [i32; 2])) {
    for y in 0..4 {
        for x in 0..4 {
            let g = green.map_or(0, |g| eac11(g, signed, x, y));
            put((y * 4 + x) as usize, [eac11(red, signed, x, y), g]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Color8, EMPTY};
    use super::*;

    const LINEAR: Color8 = Color8 { srgb: false };

    fn rgb8(t: [u32; 4]) -> [u32; 4] {
        t.map(|v| (f32::from_bits(v) * 255.0).round() as u32)
    }

    #[test]
    fn individual_mode_by_hand() {
        // Left colour 0x8, 0, 0 (136), right 0, 0xf, 0; tables 0 and 7; texel (0, 0) index 1 (+8), (3, 3) index 2 (-47).
        let block = 0x8u64 << 60 | 0xf << 48 | 7 << 34 | 1 | 1 << (16 + 15);
        let mut out = EMPTY;
        rgb(block, false, LINEAR, &mut out);
        assert_eq!(rgb8(out[0]), [144, 8, 8, 255]);
        assert_eq!(rgb8(out[1]), [138, 2, 2, 255]);
        assert_eq!(rgb8(out[15]), [0, 208, 0, 255]);
        assert_eq!(rgb8(out[2]), [47, 255, 47, 255]);
    }

    #[test]
    fn planar_by_hand() {
        // Blue overflows: base 31, difference +1. Origin red 63 (255), horizontal and vertical red 0.
        let block = 63u64 << 57 | 1 << 33 | 0b11111 << 43 | 1 << 40;
        let mut out = EMPTY;
        rgb(block, false, LINEAR, &mut out);
        assert_eq!(rgb8(out[0])[0], 255);
        assert_eq!(rgb8(out[1])[0], 191); // (-255 + 4·255 + 2) >> 2
        assert_eq!(rgb8(out[4])[0], 191);
        assert_eq!(rgb8(out[5])[0], 128); // (-510 + 1022) >> 2
    }

    #[test]
    fn punch_through() {
        // Opaque bit clear: index 2 is transparent, index 0 is the base colour.
        let block = 0b10000u64 << 59 | 1 << (16 + 1);
        let mut out = EMPTY;
        rgb(block, true, LINEAR, &mut out);
        assert_eq!(rgb8(out[0]), [132, 0, 0, 255]);
        assert_eq!(rgb8(out[4]), [0, 0, 0, 0]);
    }

    #[test]
    fn eac_by_hand() {
        // Base 100, multiplier 2, table 0: index 0 of all texels is -3: unsigned 100·8 + 4 - 48.
        let block = 100u64 << 56 | 2 << 52;
        let mut out = [[0; 2]; 16];
        r11(block, Some(0x80u64 << 56), false, |t, c| out[t] = c);
        // 128 · 8 + 4 - 3 where the multiplier is 0: the modifier alone.
        assert_eq!(out[7], [756, 1025]);
        r11(0x80u64 << 56 | 1 << 52, None, true, |t, c| out[t] = c);
        assert_eq!(out[0][0], -1023);
    }
}

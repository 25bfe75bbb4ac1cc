//! BC1 to BC5 (S3TC and RGTC).

// Loops over channels index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::{BlockTexels, Color8, Paint};

/// Whether a BC1 block has three colours and black, if its format has such blocks.
#[inline(always)]
pub fn has_black(block: u64) -> bool {
    block as u16 <= (block >> 16) as u16
}

/// The four colours of a BC1 block, 8 bits, from two 5:6:5 colours by bit replication; with `punch` the last one is 0 of blocks that
/// [have black](has_black). (Loops: closures are not inlined where this is compiled for vectors.)
#[inline(always)]
pub fn colors(block: u64, punch: bool) -> [[u32; 3]; 4] {
    let mut out = [[0; 3]; 4];
    for (end, c) in out.iter_mut().zip([block as u32 & 0xFFFF, (block >> 16) as u32 & 0xFFFF]) {
        let (r, g, b) = (c >> 11, c >> 5 & 63, c & 31);
        *end = [r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2];
    }
    for k in 0..3 {
        let (a, b) = (out[0][k], out[1][k]);
        if punch && has_black(block) {
            out[2][k] = (a + b).div_ceil(2);
        } else {
            (out[2][k], out[3][k]) = ((2 * a + b + 1) / 3, (a + 2 * b + 1) / 3);
        }
    }
    out
}

/// [`colors`] with alpha; that of black is `black_alpha`.
fn palette(block: u64, punch: bool, black_alpha: u8) -> [[u8; 4]; 4] {
    let mut palette = colors(block, punch).map(|[r, g, b]| [r as u8, g as u8, b as u8, 255]);
    if punch && has_black(block) {
        palette[3][3] = black_alpha;
    }
    palette
}

fn paint(block: u64, palette: [[u8; 4]; 4], color: Color8, out: &mut BlockTexels) {
    let palette = palette.map(|c| color.of(c));
    for (i, t) in out.iter_mut().enumerate().take(16) {
        *t = palette[(block >> (32 + 2 * i) & 3) as usize];
    }
}

/// BC1; without `alpha` the fourth colour is opaque black.
pub fn bc1(block: u64, alpha: bool, color: Color8, out: &mut BlockTexels) {
    paint(block, palette(block, true, if alpha { 0 } else { 255 }), color, out)
}

/// BC2: four bits of alpha a texel, then colours that never punch through.
pub fn bc2(alpha: u64, block: u64, color: Color8, out: &mut BlockTexels) {
    paint(block, palette(block, false, 255), color, out);
    for (i, t) in out.iter_mut().enumerate().take(16) {
        t[3] = ((alpha >> (4 * i) & 15) as f32 / 15.0).to_bits();
    }
}

/// The eight values of an RGTC block, normalised.
fn ramp(block: u64, signed: bool) -> [u32; 8] {
    let (a, b) = if signed {
        // -128 stands for -127.
        ((block as i8).max(-127) as i32, ((block >> 8) as i8).max(-127) as i32)
    } else {
        (block as u8 as i32, (block >> 8) as u8 as i32)
    };
    // The order is decided on the codes as they are stored.
    let eight =
        if signed { (block as i8) > ((block >> 8) as i8) } else { (block as u8) > ((block >> 8) as u8) };
    let max = if signed { 127.0 } else { 255.0 };
    let mix = |wa: i32, wb: i32| ((a * wa + b * wb) as f32 / ((wa + wb) as f32 * max)).to_bits();
    let mut r = [0; 8];
    r[0] = mix(1, 0);
    r[1] = mix(0, 1);
    let steps = if eight { 7 } else { 5 };
    for i in 1..steps {
        r[1 + i as usize] = mix(steps - i, i);
    }
    if !eight {
        r[6] = if signed { -1f32 } else { 0.0 }.to_bits();
        r[7] = 1f32.to_bits();
    }
    r
}

/// BC3: an RGTC alpha, then colours that never punch through.
pub fn bc3(alpha: u64, block: u64, color: Color8, out: &mut BlockTexels) {
    paint(block, palette(block, false, 255), color, out);
    let ramp = ramp(alpha, false);
    for (i, t) in out.iter_mut().enumerate().take(16) {
        t[3] = ramp[(alpha >> (16 + 3 * i) & 7) as usize];
    }
}

/// BC4, or BC5 if there is a second channel.
pub fn bc4(red: u64, green: Option<u64>, signed: bool, out: &mut BlockTexels) {
    let r = ramp(red, signed);
    let g = green.map(|g| (g, ramp(g, signed)));
    for (i, t) in out.iter_mut().enumerate().take(16) {
        let pick = |block: u64, ramp: &[u32; 8]| ramp[(block >> (16 + 3 * i) & 7) as usize];
        *t = [pick(red, &r), g.map_or(0, |(b, ramp)| pick(b, &ramp)), 0, 1f32.to_bits()];
    }
}

#[cfg(test)]
mod tests {
    use super::super::EMPTY;
    use super::*;

    fn f(t: [u32; 4]) -> [f32; 4] {
        t.map(f32::from_bits)
    }

    #[test]
    fn bc1_by_hand() {
        // Red and blue; indices 0, 1, 2, 3 in the first row, 0 elsewhere.
        let block = 0xf800u64 | 0x001f << 16 | 0b11_10_01_00u64 << 32;
        let mut out = EMPTY;
        bc1(block, true, Color8 { srgb: false }, &mut out);
        assert_eq!(f(out[0]), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(f(out[1]), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(f(out[2]), [170.0 / 255.0, 0.0, 85.0 / 255.0, 1.0]);
        assert_eq!(f(out[3]), [85.0 / 255.0, 0.0, 170.0 / 255.0, 1.0]);
        assert_eq!(f(out[15]), [1.0, 0.0, 0.0, 1.0]);
        // Exchanged: three colours and transparent black.
        let block = 0x001fu64 | 0xf800 << 16 | 0b11_10_01_00u64 << 32;
        bc1(block, true, Color8 { srgb: false }, &mut out);
        assert_eq!(f(out[2]), [128.0 / 255.0, 0.0, 128.0 / 255.0, 1.0]);
        assert_eq!(f(out[3]), [0.0; 4]);
        bc1(block, false, Color8 { srgb: false }, &mut out);
        assert_eq!(f(out[3]), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn bc4_by_hand() {
        // 200 and 60: index 2 is (6·200 + 60) / 7 = 180.
        let mut out = EMPTY;
        bc4(200 | 60 << 8 | 2 << 16 | 7 << 19, None, false, &mut out);
        assert_eq!(f(out[0]), [180.0 / 255.0, 0.0, 0.0, 1.0]);
        assert_eq!(f(out[1])[0], 80.0 / 255.0);
        // 60 and 200: six values, then 0 and 1.
        bc4(60 | 200 << 8 | 6 << 16 | 7 << 19, None, false, &mut out);
        assert_eq!((f(out[0])[0], f(out[1])[0]), (0.0, 1.0));
        // Signed: -128 is -1.
        bc4(0x80 | 6 << 19, Some(0x7f), true, &mut out);
        assert_eq!((f(out[0])[0], f(out[0])[1]), (-1.0, 1.0));
        assert_eq!(f(out[1])[0], -1.0);
    }
}

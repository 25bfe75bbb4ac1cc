//! How a tile's pixels lie: 16 × 16 blocks of 4 × 4 pixels, row by row; within a block four quads of 2 × 2, so that a
//! block's sixteen pixels are the sixteen lanes of a warp and four consecutive lanes are a quad.

use simd::{Simd, ops};

/// Pixels along a tile's side.
pub const TILE: i32 = 64;
/// Where tiles begin: pixels of the framebuffer before the first of them, less than a tile and a multiple of a block's side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    pub x: i32,
    pub y: i32,
}

impl Grid {
    /// Its first tile begins at this pixel, or up to a block's side before.
    pub fn from(pixel: [i32; 2]) -> Grid {
        let [x, y] = pixel.map(|p| p.rem_euclid(TILE) / 4 * 4);
        Grid { x, y }
    }
    /// The tile that a pixel lies in.
    pub fn tile(self, pixel: [i32; 2]) -> [i32; 2] {
        [(pixel[0] - self.x).div_euclid(TILE), (pixel[1] - self.y).div_euclid(TILE)]
    }
    /// A tile's first pixel.
    pub fn origin(self, [x, y]: [i32; 2]) -> [i32; 2] {
        [x * TILE + self.x, y * TILE + self.y]
    }
}

/// Blocks along a tile's side.
pub const SIDE: usize = 16;
pub const BLOCKS: usize = SIDE * SIDE;
pub const PIXELS: usize = 4096;
/// Quads of a tile.
pub const QUADS: usize = PIXELS / 4;
/// A set of a tile's blocks, a bit each.
pub type Blocks = [u64; BLOCKS / 64];
/// The most warps of a wave.
pub const WARPS: usize = 16;

/// Quads of a block with a lane in `m`, a bit each.
#[inline(always)]
pub fn quads(m: u16) -> u8 {
    let m = m | m >> 1;
    let m = (m | m >> 2) & 0x1111;
    // Every fourth bit to bits 12 to 15: no two sums meet.
    ((m as u32 * 0x1248) >> 12 & 0xF) as u8
}

/// Column of a lane within its block.
pub const fn lane_x(lane: usize) -> usize {
    ((lane >> 2) & 1) * 2 + (lane & 1)
}
/// Row of a lane within its block.
pub const fn lane_y(lane: usize) -> usize {
    (lane >> 3) * 2 + ((lane >> 1) & 1)
}

const fn table(y: bool) -> [f32; 16] {
    let mut t = [0.0; 16];
    let mut l = 0;
    while l < 16 {
        t[l] = if y { lane_y(l) } else { lane_x(l) } as f32;
        l += 1;
    }
    t
}
pub const LANE_X: [f32; 16] = table(false);
pub const LANE_Y: [f32; 16] = table(true);
/// Columns and rows of lanes within their quad.
pub const QUAD_X: [f32; 16] =
    [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0];
pub const QUAD_Y: [f32; 16] =
    [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0];
/// Columns and rows of lanes.
pub const LANES: [[u32; 16]; 2] = {
    let mut t = [[0; 16]; 2];
    let mut l = 0;
    while l < 16 {
        t[0][l] = lane_x(l) as u32;
        t[1][l] = lane_y(l) as u32;
        l += 1;
    }
    t
};

/// Index of a pixel of the tile.
#[inline(always)]
pub const fn pixel(x: usize, y: usize) -> usize {
    let block = (y / 4) * SIDE + x / 4;
    block * 16 + ((y >> 1 & 1) * 2 + (x >> 1 & 1)) * 4 + (y & 1) * 2 + (x & 1)
}

/// Bit `from` of each lane, as bit `to`.
#[inline(always)]
fn bit<S: Simd>(s: S, v: S::I, from: u32, to: u32) -> S::I {
    ops::shl(s, s.iand(ops::shr(s, v, from), s.isplat(1)), to)
}

/// [`pixel`] of sixteen lanes.
#[inline(always)]
pub fn pixels<S: Simd>(s: S, x: S::I, y: S::I) -> S::I {
    let block = s.iadd(s.imul(ops::shr(s, y, 2), s.isplat(SIDE as u32)), ops::shr(s, x, 2));
    let quad = s.ior(bit(s, y, 1, 3), bit(s, x, 1, 2));
    let lane = s.ior(bit(s, y, 0, 1), bit(s, x, 0, 0));
    s.iadd(ops::shl(s, block, 4), s.ior(quad, lane))
}

/// Lanes of a block whose column is in `x0..x1` and whose row is in `y0..y1` (clamped to 0..4).
pub fn window(x0: i32, y0: i32, x1: i32, y1: i32) -> u16 {
    /// Lanes in columns, rows below the index.
    const COLUMNS: [u16; 5] = below(false);
    const ROWS: [u16; 5] = below(true);
    const fn below(y: bool) -> [u16; 5] {
        let mut t = [0; 5];
        let mut n = 0;
        while n < 5 {
            let mut l = 0;
            while l < 16 {
                if (if y { lane_y(l) } else { lane_x(l) }) < n {
                    t[n] |= 1 << l;
                }
                l += 1;
            }
            n += 1;
        }
        t
    }
    let c = |v: i32| v.clamp(0, 4) as usize;
    COLUMNS[c(x1)] & !COLUMNS[c(x0)] & ROWS[c(y1)] & !ROWS[c(y0)]
}

/// The standard sample locations in 1/16 pixels (§ Multisampling, table "Standard sample locations").
pub fn sample_locations(samples: u32) -> &'static [[u8; 2]] {
    match samples {
        2 => &[[12, 12], [4, 4]],
        4 => &[[6, 2], [14, 6], [2, 10], [10, 14]],
        8 => &[[9, 5], [7, 11], [13, 9], [5, 3], [3, 13], [1, 7], [11, 15], [15, 1]],
        16 => &[
            [9, 9],
            [7, 5],
            [5, 10],
            [12, 7],
            [3, 6],
            [10, 13],
            [13, 11],
            [11, 3],
            [6, 14],
            [8, 1],
            [4, 2],
            [2, 12],
            [0, 8],
            [15, 4],
            [14, 15],
            [1, 0],
        ],
        _ => &[[8, 8]],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_of_lanes_are_those_of_each() {
        let s = simd::Portable;
        for y in 0..TILE as u32 {
            for x in (0..TILE as u32).step_by(16) {
                let columns: [u32; 16] = std::array::from_fn(|l| x + l as u32);
                let got = ops::i_lanes(s, pixels(s, ops::i_from(s, columns), s.isplat(y)));
                assert_eq!(got, columns.map(|x| pixel(x as usize, y as usize) as u32));
            }
        }
    }

    #[test]
    fn pixels_and_lanes_agree() {
        let mut seen = vec![false; PIXELS];
        for y in 0..64 {
            for x in 0..64 {
                let p = pixel(x, y);
                assert_eq!((p / 16 % SIDE * 4 + lane_x(p % 16), p / 256 * 4 + lane_y(p % 16)), (x, y));
                assert!(!std::mem::replace(&mut seen[p], true));
            }
        }
        // Lanes of the pixels (1..3, 0..1): right one of quad 0's upper row, left one of quad 1's.
        assert_eq!(window(1, 0, 3, 1), 1 << 1 | 1 << 4);
        assert_eq!(window(-9, -9, 9, 9), 0xFFFF);
        assert_eq!(window(2, 2, 2, 4), 0);
    }
}

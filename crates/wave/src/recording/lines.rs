//! Tables of lanes for steps across a warp, which recordings know by their addresses.

use simd::Table;

pub const fn line(step: u32, kind: u32) -> Table<16> {
    let mut r = [0; 16];
    let mut i = 0;
    while i < 16 {
        r[i as usize] = match kind {
            0 => i ^ step,
            _ => i.wrapping_sub(step) & 15,
        };
        i += 1;
    }
    Table(r)
}

/// For steps of 1, 2, 4 and 8: the partner in a fold, and the lane before.
pub static PARTNER: [Table<16>; 4] = [line(1, 0), line(2, 0), line(4, 0), line(8, 0)];
pub static BEFORE: [Table<16>; 4] = [line(1, 1), line(2, 1), line(4, 1), line(8, 1)];

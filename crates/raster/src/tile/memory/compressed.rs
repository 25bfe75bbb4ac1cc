//! How many bytes a tile takes in memory where the modelled GPU keeps an image compressed (AFBC, Arm's frame buffer compression). An image
//! consists of superblocks of 16 × 16 pixels. Each has a header of 16 bytes, followed by its sixteen blocks of 4 × 4, or by none if it has one
//! colour.
//!
//! Arm has not published the whole coding of a block. Here a block takes one pixel, and for each byte of the other fifteen pixels as many bits as the
//! greatest difference from the block's least value needs, but no more than the uncompressed block.

/// Pixels along a superblock's side, and a block's.
const SUPER: usize = 16;
const BLOCK: usize = 4;
/// Bytes of a superblock's header.
pub const HEADER: u64 = 16;

/// Rows of pixels, one to four bytes each, `pitch` bytes from row to row.
#[derive(Clone, Copy)]
pub struct Pixels {
    pub first: *const u8,
    pub pitch: usize,
    pub bytes: usize,
}

impl Pixels {
    /// Bytes of all of a rectangle of them.
    ///
    /// # Safety
    /// They are there.
    pub unsafe fn taken(&self, x: [usize; 2], y: [usize; 2]) -> u64 {
        // SAFETY: the caller's.
        unsafe {
            match self.bytes {
                4 => self.taken_of::<4>(x, y),
                2 => self.taken_of::<2>(x, y),
                1 => self.taken_of::<1>(x, y),
                _ => self.taken_of::<3>(x, y),
            }
        }
    }

    /// As [`Self::taken`], of pixels of so many bytes.
    ///
    /// # Safety
    /// They are there (here and below).
    unsafe fn taken_of<const B: usize>(&self, x: [usize; 2], y: [usize; 2]) -> u64 {
        let parts = |[from, to]: [usize; 2], side: usize| {
            (from / side..to.div_ceil(side)).map(move |i| [from.max(i * side), to.min((i + 1) * side)])
        };
        let mut sum = 0;
        for y in parts(y, SUPER) {
            for x in parts(x, SUPER) {
                sum += HEADER;
                // SAFETY: the caller's (here and below).
                if unsafe { self.is_one_colour::<B>(x, y) } {
                    continue;
                }
                for y in parts(y, BLOCK) {
                    for x in parts(x, BLOCK) {
                        sum += unsafe { self.block::<B>(x, y) };
                    }
                }
            }
        }
        sum
    }

    unsafe fn row(&self, x: usize, y: usize) -> *const u8 {
        // SAFETY: the caller's pixel.
        unsafe { self.first.add(y * self.pitch + x * self.bytes) }
    }

    #[inline(always)]
    unsafe fn at<const B: usize>(&self, x: usize, y: usize) -> u32 {
        // SAFETY: the caller's pixel: one to four bytes.
        unsafe {
            let p = self.row(x, y);
            match B {
                4 => (p as *const u32).read_unaligned(),
                2 => (p as *const u16).read_unaligned() as u32,
                _ => *p as u32,
            }
        }
    }

    /// Bytes of the block of these pixels.
    #[inline(always)]
    unsafe fn block<const B: usize>(&self, [x0, x1]: [usize; 2], [y0, y1]: [usize; 2]) -> u64 {
        // By byte of a row's four pixels.
        let (mut least, mut most) = ([u8::MAX; 4 * BLOCK], [0; 4 * BLOCK]);
        let pixels = ((x1 - x0) * (y1 - y0)) as u64;
        if B != 3 && pixels == (BLOCK * BLOCK) as u64 {
            for y in y0..y0 + BLOCK {
                let mut row = [0; 4 * BLOCK];
                // SAFETY: four of the caller's pixels.
                unsafe { row.as_mut_ptr().copy_from_nonoverlapping(self.row(x0, y), B * BLOCK) };
                for i in 0..B * BLOCK {
                    least[i] = least[i].min(row[i]);
                    most[i] = most[i].max(row[i]);
                }
            }
        } else {
            for y in y0..y1 {
                for x in x0..x1 {
                    // SAFETY: the caller's.
                    let p = unsafe { self.at::<B>(x, y) }.to_le_bytes();
                    for k in 0..B {
                        least[k] = least[k].min(p[k]);
                        most[k] = most[k].max(p[k]);
                    }
                }
            }
        }
        let mut bits = 0;
        for k in 0..B {
            let (mut low, mut high) = (least[k], most[k]);
            for i in (k + B..B * BLOCK).step_by(B) {
                low = low.min(least[i]);
                high = high.max(most[i]);
            }
            bits += (8 - (high - low).leading_zeros()) as u64;
        }
        let own = B as u64;
        (own + (bits * (pixels - 1)).div_ceil(8)).min(own * pixels)
    }

    #[inline(always)]
    unsafe fn is_one_colour<const B: usize>(&self, [x0, x1]: [usize; 2], [y0, y1]: [usize; 2]) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let first = self.at::<B>(x0, y0);
            (y0..y1).all(|y| (x0..x1).fold(0, |other, x| other | (self.at::<B>(x, y) ^ first)) == 0)
        }
    }
}

/// Superblocks that a rectangle touches.
pub fn superblocks(x: [usize; 2], y: [usize; 2]) -> u64 {
    [x, y].map(|[from, to]| (to.div_ceil(SUPER) - from / SUPER) as u64).iter().product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(bytes: usize, pixel: impl Fn(usize, usize) -> u32) -> u64 {
        let mut memory = vec![0u8; 32 * 32 * bytes];
        for y in 0..32 {
            for x in 0..32 {
                let at = (y * 32 + x) * bytes;
                memory[at..at + bytes].copy_from_slice(&pixel(x, y).to_le_bytes()[..bytes]);
            }
        }
        let pixels = Pixels { first: memory.as_ptr(), pitch: 32 * bytes, bytes };
        // SAFETY: all of them are there.
        unsafe { pixels.taken([0, 32], [0, 32]) }
    }

    #[test]
    fn by_hand() {
        // Four superblocks of a colour each.
        assert_eq!(taken(4, |x, y| ((x / 16) * 3 + y / 16) as u32), 4 * 16);
        // One pixel is another: of its superblock fifteen blocks are of one colour, 4 bytes each; in the last its lowest byte differs by 5, three
        // bits: 4 + 45 / 8.
        assert_eq!(taken(4, |x, y| if (x, y) == (1, 1) { 5 } else { 0 }), 4 * 16 + 15 * 4 + 10);
        // A step of one a pixel along x: two bits in each block.
        assert_eq!(taken(1, |x, _| x as u32), 4 * 16 + 64 * (1 + 4));
        // Noise is stored as it is.
        let noise = |x: usize, y: usize| ((x * 32 + y) as u32).wrapping_mul(0x9E37_79B9);
        assert_eq!(taken(4, noise), 4 * 16 + 4096);
        // A block that an edge cuts: of two pixels that differ by 3, the second one takes two bits of each of two bytes.
        let memory = [0u8, 0, 3, 3, 9, 9];
        let pixels = Pixels { first: memory.as_ptr(), pitch: 6, bytes: 2 };
        // SAFETY: two pixels are there.
        assert_eq!(unsafe { pixels.taken([0, 2], [0, 1]) }, 16 + 2 + 1);
        // The second byte, of each fourth column from the second on: in every block 1 bit; two bytes and 15 bits.
        assert_eq!(taken(2, |x, _| if x % 4 == 1 { 256 } else { 0 }), 4 * 16 + 64 * (2 + 2));
        assert_eq!(superblocks([0, 64], [0, 17]), 8);
    }
}

//! Which block of a compressed image a texel is in.

use super::FormatInfo;

/// The sides of a format's blocks.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Texels.
    pub extent: [u32; 2],
    /// `n · by >> 18` is n by the block's width or height, of texels up to [`Shape::MOST`].
    pub by: [u32; 2],
    /// A block's bytes.
    pub bytes: u32,
}

impl Shape {
    /// The largest images: larger numbers are not divided exactly.
    pub const MOST: u32 = 1 << 14;

    pub fn of(format: &FormatInfo) -> Shape {
        let [w, h, _] = format.block_extent;
        Shape { extent: [w, h], by: [w, h].map(|n| (1u32 << 18).div_ceil(n)), bytes: format.block_bytes }
    }

    /// The block of a column (`axis` 0) or row, and which of its columns or rows.
    #[inline(always)]
    pub fn split(&self, axis: usize, at: u32) -> (u32, u32) {
        let block = at.wrapping_mul(self.by[axis]) >> 18;
        (block, at.wrapping_sub(block.wrapping_mul(self.extent[axis])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_have_the_block_of_their_quotient() {
        for info in crate::format::all().iter().filter(|f| f.compressed()) {
            let shape = Shape::of(info);
            for (axis, i) in [0, 1].into_iter().flat_map(|axis| (0..Shape::MOST).map(move |i| (axis, i))) {
                let n = info.block_extent[axis];
                assert_eq!(shape.split(axis, i), (i / n, i % n), "{}", info.name);
            }
        }
    }
}

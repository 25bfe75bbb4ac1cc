//! Writing of warps that are blocks of the tile: stretches of one wave's.

use crate::layout::WARPS;
use crate::tile::blend::wave::write_warps;
use crate::tile::blend::{BlendPath, Writer, by_alpha};
use simd::Simd;
use texel::row::Row;

simd::by_level! {
    /// Writes the warps `first..first + blocks.len()` of a wave to blocks of sixteen pixels; `masks`: lanes of each.
    ///
    /// # Safety
    /// `base` points to the tile's pixels of the format, the rows hold these warps.
    #[inline(never)]
    pub(in crate::tile) unsafe fn write_blocks = body,
        (w: &Writer, base: *mut u8, blocks: &[u8], first: usize, src: &[Row; 4], src1: Option<&[Row; 4]>, masks: &[u16])
}

/// # Safety
/// As [`write_blocks`].
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn body<S: Simd>(
    s: S,
    writer: &Writer,
    base: *mut u8,
    blocks: &[u8],
    first: usize,
    src: &[Row; 4],
    src1: Option<&[Row; 4]>,
    masks: &[u16],
) {
    if let BlendPath::ByAlpha { swap, factors } = &writer.kind {
        // SAFETY: the caller's warps and blocks; pixels have four bytes.
        return unsafe { by_alpha::run(s, factors, *swap, base, blocks, first, src, masks) };
    }
    if !matches!(writer.kind, BlendPath::Bytes { swap: false, blend: false }) {
        // SAFETY: the caller's warps and blocks.
        return unsafe { others(s.level(), writer, base, blocks, first, src, src1, masks) };
    }
    for (i, b) in blocks.iter().enumerate() {
        // SAFETY: a block of the tile.
        let px = unsafe { base.add(*b as usize * 16 * writer.bytes) };
        let w = first + i;
        // SAFETY: the rows hold the warp.
        let colors =
            unsafe { [src[0].words(s, w), src[1].words(s, w), src[2].words(s, w), src[3].words(s, w)] };
        // SAFETY: the block's pixels, of four bytes.
        unsafe { writer.bytes4(s, px, &colors, None, masks[i], false, false) }
    }
}

simd::by_level! {
    /// [`write_blocks`] in the less usual ways: apart, for a function with all of them would hold up the others.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn others = others_body,
        (w: &Writer, base: *mut u8, blocks: &[u8], first: usize, src: &[Row; 4], src1: Option<&[Row; 4]>, masks: &[u16])
}

/// # Safety
/// As [`write_blocks`].
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn others_body<S: Simd>(
    s: S,
    writer: &Writer,
    base: *mut u8,
    blocks: &[u8],
    first: usize,
    src: &[Row; 4],
    src1: Option<&[Row; 4]>,
    masks: &[u16],
) {
    if writer.kind == BlendPath::Generic {
        let mut at = [base; WARPS];
        for (at, b) in at.iter_mut().zip(blocks) {
            *at = base.wrapping_add(*b as usize * 16 * writer.bytes);
        }
        // Several may be of one block: those of a stretch of them in order are not.
        let mut done = 0;
        while done < blocks.len() {
            let rest = &blocks[done..];
            let end = done + rest.windows(2).position(|w| w[1] <= w[0]).map_or(rest.len(), |n| n + 1);
            // SAFETY: the caller's warps and blocks.
            unsafe {
                write_warps(s.level(), writer, &at[done..end], first + done, src, src1, &masks[done..end])
            };
            done = end;
        }
        return;
    }
    for (i, b) in blocks.iter().enumerate() {
        // SAFETY: a block of the tile.
        let px = unsafe { base.add(*b as usize * 16 * writer.bytes) };
        let w = first + i;
        // SAFETY: the rows hold the warp.
        let colors =
            unsafe { [src[0].words(s, w), src[1].words(s, w), src[2].words(s, w), src[3].words(s, w)] };
        let mut second = colors;
        if let Some(src1) = src1 {
            for c in 0..4 {
                // SAFETY: the rows hold the warp.
                second[c] = unsafe { src1[c].words(s, w) };
            }
        }
        // SAFETY: the block's pixels.
        unsafe { writer.write(s, px, &colors, src1.map(|_| &second), masks[i]) }
    }
}

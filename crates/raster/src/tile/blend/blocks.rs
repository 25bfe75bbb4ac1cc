//! Writes of warps that are blocks of the tile, several warps of a wave at once.

use crate::layout::WARPS;
use crate::tile::blend::wave::write_warps;
use crate::tile::blend::{BlendPath, Warps, Writer, by_alpha};
use simd::Simd;

simd::by_level! {
    /// Writes warps of a wave to blocks of sixteen pixels.
    ///
    /// # Safety
    /// `base` points to the tile's pixels of the format, the rows hold these warps.
    #[inline(never)]
    pub(in crate::tile) unsafe fn write_blocks = body,
        (w: &Writer, base: *mut u8, blocks: &[u8], warps: &Warps)
}

/// # Safety
/// As [`write_blocks`].
#[inline(always)]
unsafe fn body<S: Simd>(s: S, writer: &Writer, base: *mut u8, blocks: &[u8], warps: &Warps) {
    if let BlendPath::ByAlpha { swap, factors } = &writer.kind {
        // SAFETY: the caller's warps and blocks; pixels have four bytes.
        return unsafe { by_alpha::run(s, factors, *swap, base, blocks, warps) };
    }
    if !matches!(writer.kind, BlendPath::Bytes { swap: false, blend: false }) {
        // SAFETY: the caller's warps and blocks.
        return unsafe { others(s.level(), writer, base, blocks, warps) };
    }
    let &Warps { src, first, masks, .. } = warps;
    for (i, b) in blocks.iter().enumerate() {
        // SAFETY: a block of the tile.
        let px = unsafe { base.add(*b as usize * 16 * writer.bytes) };
        let w = first + i;
        // SAFETY: the rows hold the warp.
        let colors =
            unsafe { [src[0].words(s, w), src[1].words(s, w), src[2].words(s, w), src[3].words(s, w)] };
        // SAFETY: the block's pixels, of four bytes.
        unsafe { writer.replace4(s, px, &colors, masks[i], false) }
    }
}

simd::by_level! {
    /// [`write_blocks`] by the less usual paths: a separate function, because one with all of them would slow down the others.
    ///
    /// # Safety
    /// As there.
    #[inline(never)]
    unsafe fn others = others_body,
        (w: &Writer, base: *mut u8, blocks: &[u8], warps: &Warps)
}

/// # Safety
/// As [`write_blocks`].
#[inline(always)]
unsafe fn others_body<S: Simd>(s: S, writer: &Writer, base: *mut u8, blocks: &[u8], warps: &Warps) {
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
            unsafe { write_warps(s.level(), writer, &at[done..end], &warps.part(done..end)) };
            done = end;
        }
        return;
    }
    let &Warps { src, src1, first, masks } = warps;
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

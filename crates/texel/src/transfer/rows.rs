//! Rows of texels as raw texels, whatever the format.

use crate::format::block::{self, BlockTexels};
use crate::format::kernels;
use crate::image::Surface;

/// Reads rows of a surface; remembers nothing between rows.
pub struct RowReader {
    surface: Surface,
    texels: Box<BlockTexels>,
}

impl RowReader {
    pub fn new(surface: Surface) -> RowReader {
        RowReader { surface, texels: Box::new(block::EMPTY) }
    }

    /// Decodes `out.len()` texels of row `y` from column `x`; the part outside the surface is left as it is.
    pub fn read(&mut self, x: u32, y: u32, z: u32, sample: u32, layer: u32, out: &mut [[u32; 4]]) {
        let s = &self.surface;
        if x >= s.extent[0] {
            return;
        }
        let n = out.len().min((s.extent[0] - x) as usize);
        let out = &mut out[..n];
        if s.format.paired() {
            return;
        }
        if !s.format.compressed() {
            if let Some(p) = s.try_block(x, y, z, sample, layer) {
                // SAFETY: `n` texels from `x` are inside the row.
                unsafe { kernels::decode_row(s.format, p, out) }
            }
            return;
        }
        let [bw, bh, _] = s.format.block_extent;
        let mut i = 0;
        while i < n {
            let (bx, tx) = ((x + i as u32) / bw, (x + i as u32) % bw);
            let run = ((bw - tx) as usize).min(n - i);
            let Some(p) = s.try_block(bx, y / bh, z, sample, layer) else { return };
            // SAFETY: the block exists.
            let bytes = unsafe { std::slice::from_raw_parts(p, s.format.block_bytes as usize) };
            block::decode(s.format, bytes, &mut self.texels);
            let row = ((y % bh) * bw + tx) as usize;
            out[i..i + run].copy_from_slice(&self.texels[row..row + run]);
            i += run;
        }
    }
}

/// Encodes raw texels into row `y` from column `x`; the part outside the surface is dropped. Compressed surfaces
/// cannot be written.
pub fn write_row(s: &Surface, x: u32, y: u32, z: u32, sample: u32, layer: u32, texels: &[[u32; 4]]) {
    if s.format.compressed() || s.format.paired() || x >= s.extent[0] {
        return;
    }
    let n = texels.len().min((s.extent[0] - x) as usize);
    if let Some(p) = s.try_block(x, y, z, sample, layer) {
        // SAFETY: `n` texels from `x` are inside the row.
        unsafe { kernels::encode_row(s.format, &texels[..n], p) }
    }
}

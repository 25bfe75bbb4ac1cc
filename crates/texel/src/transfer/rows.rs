//! Rows of texels as raw texels, whatever the format.

use crate::format::block::{self, BlockTexels};
use crate::format::kernels;
use crate::image::Surface;
use crate::memory::sparse;

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
            if s.try_block(x, y, z, sample, layer).is_some() {
                // SAFETY: `n` texels from `x` are inside the row.
                unsafe {
                    s.stretches([x, y, z], sample, layer, n as u32, |p, first, n| {
                        kernels::decode_row(s.format, p, &mut out[first as usize..][..n as usize])
                    })
                }
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
    if s.try_block(x, y, z, sample, layer).is_none() {
        return;
    }
    let bytes = s.format.block_bytes as usize;
    // SAFETY: `n` texels from `x` are inside the row.
    unsafe {
        s.stretches([x, y, z], sample, layer, n as u32, |p, first, n| {
            let texels = &texels[first as usize..][..n as usize];
            // Rows of sparse images are whole texels in each block of memory.
            sparse::stretches(p, texels.len() * bytes, |at, n| {
                kernels::encode_row(s.format, &texels[at / bytes..][..n / bytes], p.add(at))
            })
        })
    }
}

/// A place in a surface: block, sample and layer.
pub(super) type At<'a> = (&'a Surface, [u32; 3], u32, u32);

/// Copies `n` blocks of a row, which may lie apart on either side and may share memory.
///
/// # Safety
/// Both surfaces have the blocks.
pub(super) unsafe fn copy_row((s, from, from_sample, from_layer): At, (d, to, sample, layer): At, n: u32) {
    let bytes = s.format.block_bytes as usize;
    // SAFETY: the caller's blocks.
    unsafe {
        d.stretches(to, sample, layer, n, |to, first, n| {
            let from = [from[0] + first, from[1], from[2]];
            s.stretches(from, from_sample, from_layer, n, |from, first, n| {
                sparse::copy(from, to.add(first as usize * bytes), n as usize * bytes)
            })
        })
    }
}

//! Rows of texels as raw texels, whatever the format.

use crate::format::block::{self, BlockTexels};
use crate::format::kernels;
use crate::image::Surface;
use crate::memory::sparse;

/// Reads rows of a surface; of blocks, it keeps those of the row of blocks that it read last.
pub struct RowReader {
    surface: Surface,
    texels: Box<BlockTexels>,
    /// Columns of texels, row of blocks, slice, sample and layer of what is kept.
    kept: Option<([u32; 2], [u32; 4])>,
    /// The texels, row by row.
    rows: Vec<[u32; 4]>,
}

impl RowReader {
    pub fn new(surface: Surface) -> RowReader {
        RowReader { surface, texels: Box::new(block::EMPTY), kept: None, rows: Vec::new() }
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
        let bh = s.format.block_extent[1];
        let wanted = ([x, n as u32], [y / bh, z, sample, layer]);
        if self.kept != Some(wanted) {
            self.kept = self.decode(wanted).then_some(wanted);
        }
        if self.kept.is_some() {
            out.copy_from_slice(&self.rows[(y % bh) as usize * n..][..n]);
        }
    }

    /// Decodes a row of blocks. False: there is none.
    fn decode(&mut self, ([x, n], [by, z, sample, layer]): ([u32; 2], [u32; 4])) -> bool {
        let s = &self.surface;
        let [bw, bh, _] = s.format.block_extent;
        self.rows.resize(n as usize * bh as usize, [0; 4]);
        let mut i = 0;
        while i < n {
            let (bx, tx) = ((x + i) / bw, (x + i) % bw);
            let run = (bw - tx).min(n - i);
            let Some(p) = s.try_block(bx, by, z, sample, layer) else { return false };
            // SAFETY: the block exists.
            let bytes = unsafe { std::slice::from_raw_parts(p, s.format.block_bytes as usize) };
            block::decode(s.format, bytes, &mut self.texels);
            for y in 0..bh {
                let from = &self.texels[(y * bw + tx) as usize..][..run as usize];
                self.rows[(y * n + i) as usize..][..run as usize].copy_from_slice(from);
            }
            i += run;
        }
        true
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

/// Whether rows of texels are read and written as a whole: where some of the memory may be absent, they go in parts.
pub(super) fn rows_are_whole(s: &Surface, d: &Surface) -> bool {
    !s.format.compressed() && s.split.is_none() && d.split.is_none() && !sparse::may_have_holes(d.base)
}

/// Whether rows of so many bytes lie one after the other, without a gap.
pub(super) fn lie_together(s: &Surface, bytes: u64) -> bool {
    s.split.is_none() && s.row_pitch == bytes
}

/// [`copy_row`] of `h` rows.
///
/// # Safety
/// As there.
pub(super) unsafe fn copy_rows((s, from, ss, sl): At, (d, to, ds, dl): At, [w, h]: [u32; 2]) {
    let bytes = w as u64 * s.format.block_bytes as u64;
    // SAFETY: the caller's blocks.
    unsafe {
        if h > 0 && lie_together(s, bytes) && lie_together(d, bytes) {
            let (p, q) = (s.block(from[0], from[1], from[2], ss, sl), d.block(to[0], to[1], to[2], ds, dl));
            return sparse::copy(p, q, (bytes * h as u64) as usize);
        }
        for y in 0..h {
            copy_row((s, [from[0], from[1] + y, from[2]], ss, sl), (d, [to[0], to[1] + y, to[2]], ds, dl), w);
        }
    }
}

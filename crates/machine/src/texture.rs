//! What the modelled texture unit does for an operation: filter operations by sampler and view.
//!
//! The kind of filtering is told by sampler and view, not by each lane's level of detail: between levels where the
//! sampler asks for it and the view has several, along an axis with as many taps as the sampler allows. A bilinear
//! operation of texels up to 32 bits is one; trilinear and 3D filtering double it, 64 and 128 bits too.
//! The cache lines that texels lie in follow each lane's own levels and taps ([`texel::sample::Touched`]).

use shader::bytecode::ImageCode;
use shader::ir::ImageOp;
use texel::sample::{ImageView, Sampler};
use wave::{Filter, Filtering};

/// # Safety
/// `view` and `sampler` are null or a descriptor's.
pub unsafe fn filtering(code: &ImageCode, view: u64, sampler: u64) -> Filtering {
    match code.op {
        ImageOp::Sample | ImageOp::Gather => {}
        ImageOp::Fetch | ImageOp::Read => return Filtering { filter: Filter::Nearest, operations: 1 },
        _ => return Filtering::default(),
    }
    let nearest = Filtering { filter: Filter::Nearest, operations: 1 };
    if view == 0 || sampler == 0 {
        return nearest;
    }
    // SAFETY: neither is null, so they are a descriptor's.
    let (v, s) = unsafe { (&*(view as *const ImageView), &*(sampler as *const Sampler)) };
    let wide = (v.format.block_bytes / if v.format.compressed() { 8 } else { 4 }).max(1);
    if code.op == ImageOp::Gather || !(s.mag_linear || s.min_linear) {
        return Filtering { operations: wide, ..nearest };
    }
    let levels = s.mip_linear && v.levels.len() > 1;
    let taps = if v.levels.len() > 1 { s.anisotropy.max(1.0).ceil() as u32 } else { 1 };
    let volume = v.dims == 3;
    let filter = match () {
        _ if taps > 1 => Filter::Aniso,
        _ if volume => Filter::Volume,
        _ if levels => Filter::Trilinear,
        _ => Filter::Bilinear,
    };
    Filtering { filter, operations: wide * (1 + levels as u32) * (1 + volume as u32) * taps }
}

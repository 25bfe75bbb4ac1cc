//! What the modelled texture unit does for an operation: filter operations by sampler and view.
//!
//! The kind of filtering is told by sampler and view, not by each lane's level of detail: between levels where the
//! sampler asks for it and the view has several. Along an axis of anisotropy each lane takes the taps that it takes. A bilinear
//! operation of texels up to 32 bits is one; trilinear and 3D filtering double it, 64 and 128 bits too. What counts is what a
//! texel is when it has been decoded: of compressed blocks 32 bits, but 64 of BC6H, whose texels are half floats. Each plane of an image that is
//! sampled through a Y′CbCr conversion is an operation of its own.
//! The cache lines that texels lie in follow each lane's own levels and taps ([`texel::sample::Touched`]).

use ash::vk;
use shader::bytecode::ImageCode;
use shader::ir::ImageOp;
use texel::format::FormatInfo;
use texel::sample::{ImageView, Sampler};
use wave::{Filter, Filtering};

/// Bilinear operations for one tap.
fn wide(format: &FormatInfo) -> u32 {
    use vk::Format as F;
    match format.format {
        F::BC6H_UFLOAT_BLOCK | F::BC6H_SFLOAT_BLOCK => 2,
        _ if format.compressed() => 1,
        _ => (format.block_bytes / 4).max(1),
    }
}

/// Beats of a message, which has two operands of 32 bits for each of its threads.
#[inline]
fn beats(code: &ImageCode) -> u32 {
    let one = [code.dref, code.lod, code.bias, code.sample, code.min_lod];
    let optional: usize = one.into_iter().map(|r| !r.is_none() as usize).sum();
    // Offsets of all axes go together.
    let operands = code.coords.len() + optional + code.grad.len() + !code.offsets.is_empty() as usize;
    operands.div_ceil(2).max(1) as u32
}

/// # Safety
/// `view` and `sampler` are null or a descriptor's.
pub unsafe fn filtering(code: &ImageCode, view: u64, sampler: u64) -> Filtering {
    let nearest = || Filtering {
        operations: 1,
        footprints: 1,
        beats: beats(code),
        half: code.half,
        ..Filtering::default()
    };
    match code.op {
        ImageOp::Sample | ImageOp::Gather => {}
        ImageOp::Fetch | ImageOp::Read => return nearest(),
        _ => return Filtering::default(),
    }
    let nearest = nearest();
    if view == 0 || sampler == 0 {
        return nearest;
    }
    // SAFETY: neither is null, so they are a descriptor's.
    let (v, s) = unsafe { (&*(view as *const ImageView), &*(sampler as *const Sampler)) };
    // Each plane of a Y′CbCr image is filtered for itself.
    let wide = wide(v.format) * v.ycbcr().map_or(1, |y| y.operations());
    let (wide, nearest) = (wide, Filtering { complex: v.format.compressed(), ..nearest });
    if code.op == ImageOp::Gather || !(s.mag_linear || s.min_linear) {
        return Filtering { operations: wide, ..nearest };
    }
    let levels = s.mip_linear && v.levels.len() > 1;
    // With a level of detail of its own there is no footprint to be long.
    let long = s.anisotropy > 1.0 && code.lod.is_none() && !v.is_cube;
    let volume = v.dims == 3;
    let filter = match () {
        _ if long => Filter::Aniso,
        _ if volume => Filter::Volume,
        _ if levels => Filter::Trilinear,
        _ => Filter::Bilinear,
    };
    let footprints = (1 + levels as u32) * (1 + volume as u32);
    Filtering { filter, operations: wide * footprints, footprints, ..nearest }
}

#[cfg(test)]
mod tests {
    use super::wide;
    use ash::vk::Format as F;

    #[test]
    fn a_texel_costs_what_it_is_when_decoded() {
        let list = [
            (F::R8_UNORM, 1),
            (F::R8G8B8A8_UNORM, 1),
            (F::B10G11R11_UFLOAT_PACK32, 1),
            (F::R16G16B16A16_SFLOAT, 2),
            (F::R32G32B32A32_SFLOAT, 4),
            (F::ETC2_R8G8B8_UNORM_BLOCK, 1),
            (F::ETC2_R8G8B8A8_UNORM_BLOCK, 1),
            (F::EAC_R11G11_UNORM_BLOCK, 1),
            (F::ASTC_4X4_UNORM_BLOCK, 1),
            (F::ASTC_12X12_SRGB_BLOCK, 1),
            (F::BC1_RGBA_UNORM_BLOCK, 1),
            (F::BC7_UNORM_BLOCK, 1),
            (F::BC6H_UFLOAT_BLOCK, 2),
        ];
        for (format, operations) in list {
            let info = texel::format::info(format).expect("a format of Vulkan's");
            assert_eq!(wide(info), operations, "{format:?}");
        }
    }
}

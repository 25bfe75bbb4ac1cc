//! Clears outside a render pass.

use super::slices::aspects;
use crate::format::{codec, kernels};
use crate::image::{Image, Surface};
use crate::memory::sparse;
use ash::vk;

/// Fills one level's layers with a texel.
fn fill(s: &Surface, layers: std::ops::Range<u32>, texel: &[u8]) {
    let n = s.blocks[0] as usize;
    // One row, copied to all the others; a row of equal bytes is plain memory.
    let row = texel.repeat(n);
    for layer in layers {
        for sample in 0..s.samples {
            for z in 0..s.blocks[2] {
                for y in 0..s.blocks[1] {
                    // SAFETY: a whole row of the surface.
                    unsafe {
                        s.stretches([0, y, z], sample, layer, n as u32, |to, _, blocks| {
                            sparse::copy(row.as_ptr(), to, blocks as usize * texel.len())
                        })
                    }
                }
            }
        }
    }
}

fn clear(image: &Image, aspect: vk::ImageAspectFlags, texel: [u32; 4], range: &vk::ImageSubresourceRange) {
    image.written();
    let (levels, layers) = image.resolve_range(range);
    for mip in levels {
        let Some(s) = image.surface(aspect, mip).filter(|s| !s.format.compressed() && !s.format.paired())
        else {
            continue;
        };
        let mut bytes = [0u8; 32];
        if s.format.components().iter().any(|c| c.bits == 64) {
            // Two elements are one of R's 64 bits, the others one of G's ("Clear Values").
            let wide = |low: usize| texel[low] as u64 | (texel[low + 1] as u64) << 32;
            // SAFETY: no texel is larger than 32 bytes.
            unsafe { codec::store64(s.format, bytes.as_mut_ptr(), [wide(0), wide(2), 0, 0]) };
        } else {
            // SAFETY: as above.
            unsafe { kernels::encode_row(s.format, &[texel], bytes.as_mut_ptr()) };
        }
        fill(&s, layers.clone(), &bytes[..s.format.block_bytes as usize]);
    }
}

/// `vkCmdClearColorImage`, one range. The value is read by the numeric class of the format.
pub fn clear_color_image(image: &Image, value: &vk::ClearColorValue, range: &vk::ImageSubresourceRange) {
    // SAFETY: all members of the union are four plain 32-bit words.
    let texel = unsafe { value.uint32 };
    clear(image, vk::ImageAspectFlags::COLOR, texel, range)
}

/// `vkCmdClearDepthStencilImage`, one range.
pub fn clear_depth_stencil_image(
    image: &Image,
    value: vk::ClearDepthStencilValue,
    range: &vk::ImageSubresourceRange,
) {
    for aspect in aspects(range.aspect_mask) {
        let v = if aspect == vk::ImageAspectFlags::STENCIL {
            value.stencil & 0xff
        } else {
            value.depth.to_bits()
        };
        clear(image, aspect, [v, 0, 0, 0], range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{bound_image, info_2d};

    #[test]
    fn ranges_and_aspects() {
        let image = bound_image(&info_2d(vk::Format::R8G8B8A8_SRGB, 3, 3).array_layers(2).mip_levels(2));
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            base_mip_level: 1,
            level_count: vk::REMAINING_MIP_LEVELS,
            base_array_layer: 1,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
        };
        clear_color_image(&image, &vk::ClearColorValue { float32: [0.5, 0.0, 1.0, 0.5] }, &range);
        let s = image.surface(vk::ImageAspectFlags::COLOR, 1).unwrap();
        // SAFETY: within what the test has made.
        let read = |s: &Surface, l| unsafe { s.block(0, 0, 0, 0, l).cast::<[u8; 4]>().read() };
        assert_eq!(read(&s, 1), [188, 0, 255, 128]);
        assert_eq!(read(&s, 0), [0; 4]);
        assert_eq!(read(&image.surface(vk::ImageAspectFlags::COLOR, 0).unwrap(), 1), [0; 4]);

        let whole = vk::ImageSubresourceRange { base_mip_level: 0, base_array_layer: 0, ..range };
        let wide = bound_image(&info_2d(vk::Format::R64_SINT, 2, 2));
        clear_color_image(&wide, &vk::ClearColorValue { int32: [0x7fff_fff0, -2, 5, 6] }, &whole);
        let s = wide.surface(vk::ImageAspectFlags::COLOR, 0).unwrap();
        // SAFETY: within what the test has made.
        assert_eq!(unsafe { s.block(1, 1, 0, 0, 0).cast::<i64>().read() }, -0x1_8000_0010);

        let ds =
            bound_image(&info_2d(vk::Format::D24_UNORM_S8_UINT, 5, 2).samples(vk::SampleCountFlags::TYPE_4));
        let (d, st) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
        let all = vk::ImageSubresourceRange {
            aspect_mask: d | st,
            base_mip_level: 0,
            level_count: 1,
            base_array_layer: 0,
            layer_count: 1,
        };
        clear_depth_stencil_image(&ds, vk::ClearDepthStencilValue { depth: 1.0, stencil: 0x177 }, &all);
        assert_eq!(read(&ds.surface(d, 0).unwrap(), 0), [255, 255, 255, 0]);
        // SAFETY: within what the test has made.
        assert_eq!(unsafe { *ds.surface(st, 0).unwrap().block(4, 1, 0, 3, 0) }, 0x77);
    }
}

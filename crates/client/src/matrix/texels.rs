//! Images of the matrix: made where the driver has them, filled with noise.

use super::formats::Format;
use super::missing;
use crate::graphics::{Image, ImageInfo, barrier};
use crate::{Buffer, Context, Result};
use ash::vk;
use random::Random;
use std::rc::Rc;

/// The driver has these features of optimal images of a format.
pub fn features(context: &Context, f: &Format) -> vk::FormatFeatureFlags {
    // SAFETY: a plain Vulkan call.
    unsafe { context.instance.get_physical_device_format_properties(context.physical, f.format) }
        .optimal_tiling_features
}

/// # Errors
/// The driver lacks one of them.
pub fn needs(context: &Context, f: &Format, wanted: vk::FormatFeatureFlags) -> Result<()> {
    match features(context, f).contains(wanted) {
        true => Ok(()),
        false => Err(missing(format!("{wanted:?} of {}", f.name))),
    }
}

/// An image of this format, without contents.
///
/// # Errors
/// The driver has none such.
pub fn image(context: &Rc<Context>, f: &Format, info: ImageInfo) -> Result<Image> {
    let flags = if info.cube { vk::ImageCreateFlags::CUBE_COMPATIBLE } else { Default::default() };
    let ty = if info.depth > 0 { vk::ImageType::TYPE_3D } else { vk::ImageType::TYPE_2D };
    // SAFETY: a plain Vulkan call.
    let limits = unsafe {
        context.instance.get_physical_device_image_format_properties(
            context.physical,
            f.format,
            ty,
            vk::ImageTiling::OPTIMAL,
            info.usage,
            flags,
        )
    };
    let there = limits.is_ok_and(|l| l.sample_counts.contains(vk::SampleCountFlags::from_raw(info.samples)));
    if !there {
        return Err(missing(format!("such images of {}", f.name)));
    }
    Image::new(context, info)
}

/// As [`image`], with noise in every level and layer.
pub fn noise(context: &Rc<Context>, f: &Format, info: ImageInfo) -> Result<Image> {
    let usage = info.usage | vk::ImageUsageFlags::TRANSFER_DST;
    let image = image(context, f, ImageInfo { usage, ..info })?;
    let blocks = |mip: u32| {
        info.level(mip).iter().zip(f.block).map(|(s, b)| s.div_ceil(b) as usize).product::<usize>()
    };
    let bytes = blocks(0) * f.bytes as usize * info.layers.max(info.depth) as usize;
    let mut buffer = Buffer::new(context, bytes.next_multiple_of(16))?;
    let mut random = Random::default();
    for chunk in buffer.bytes_mut().chunks_mut(8) {
        let noise = random.u64();
        // Floats stay between 2^-63 and 1, or thereabouts: no infinity and no NaN, whatever their width.
        let word = if f.float && f.block == [1, 1] {
            noise & 0x1F1F_1F1F_1F1F_1F1F | 0x2020_2020_2020_2020
        } else {
            noise
        };
        chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
    }
    context.run(|device, commands| {
        for aspect in
            [vk::ImageAspectFlags::COLOR, vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL]
        {
            for mip in (0..info.mips).filter(|_| f.aspects.contains(aspect)) {
                let [width, height] = info.level(mip);
                let region = vk::BufferImageCopy::default()
                    .image_subresource(layers(aspect, mip, info.layers))
                    .image_extent(vk::Extent3D { width, height, depth: info.depth.max(1) });
                let layout = vk::ImageLayout::GENERAL;
                // SAFETY: recording into a command buffer that has begun; the buffer holds the largest level.
                unsafe {
                    device.cmd_copy_buffer_to_image(commands, buffer.handle, image.handle, layout, &[region])
                }
            }
        }
        barrier(device, commands);
    })?;
    Ok(image)
}

pub fn layers(
    aspect_mask: vk::ImageAspectFlags,
    mip_level: u32,
    layer_count: u32,
) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask, mip_level, base_array_layer: 0, layer_count }
}

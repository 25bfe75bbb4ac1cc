//! Runs transfer commands, and tells how many bytes each moved.

use crate::command::Command;
use ash::vk;
use machine::count::Moved;
use texel::image::Image;
use texel::transfer::{Slices, aspects};

/// Bytes of a box of texels in some aspects and layers of an image, all samples.
fn bytes(
    image: &Image,
    layers: &vk::ImageSubresourceLayers,
    at: vk::Offset3D,
    [w, h, depth]: [u32; 3],
) -> u64 {
    aspects(layers.aspect_mask)
        .filter_map(|aspect| Slices::new(image, aspect, layers, at.z, depth))
        .map(|s| {
            let f = s.surface.format;
            let along = |k: usize, at: i32, texels: u32| {
                let first = u32::try_from(at).unwrap_or(0) / f.block_extent[k];
                f.blocks(texels, k).min(s.surface.blocks[k].saturating_sub(first)) as u64
            };
            let texels = along(0, at.x, w) * along(1, at.y, h) * s.surface.samples as u64;
            texels * s.count() as u64 * f.block_bytes as u64
        })
        .sum()
}

fn size(e: vk::Extent3D) -> [u32; 3] {
    [e.width, e.height, e.depth]
}

/// The same for the box between two corners, in any order.
fn bytes_between(image: &Image, layers: &vk::ImageSubresourceLayers, [a, b]: [vk::Offset3D; 2]) -> u64 {
    let first = vk::Offset3D { x: a.x.min(b.x), y: a.y.min(b.y), z: a.z.min(b.z) };
    bytes(image, layers, first, [a.x.abs_diff(b.x), a.y.abs_diff(b.y), a.z.abs_diff(b.z)])
}

/// Bytes of whole levels and layers.
fn range_bytes(image: &Image, range: &vk::ImageSubresourceRange) -> u64 {
    let (levels, layers) = image.resolve_range(range);
    let level = |mip| {
        aspects(range.aspect_mask).filter_map(move |a| image.surface(a, mip)).map(|s| {
            let blocks = s.blocks.iter().map(|&n| n as u64).product::<u64>();
            blocks * s.samples as u64 * s.format.block_bytes as u64
        })
    };
    levels.flat_map(level).sum::<u64>() * layers.len() as u64
}

/// Runs a transfer command. Its name and what it moved; `None` if it is of another kind.
pub fn run(c: &Command) -> Option<(&'static str, Moved)> {
    let mut moved = Moved::default();
    let m = &mut moved;
    let name = match c {
        Command::CopyBuffer { src, dst, regions } => {
            for r in regions {
                let (s, sn) = src.range(r.src_offset, r.size);
                let (d, dn) = dst.range(r.dst_offset, r.size);
                let n = sn.min(dn);
                // SAFETY: both ranges have as many bytes.
                unsafe { std::ptr::copy(s, d, n as usize) }
                m.add(n, n);
            }
            "copy buffer"
        }
        Command::UpdateBuffer { dst, offset, data } => {
            let (d, n) = dst.range(*offset, data.len() as u64);
            // SAFETY: no more than the range has, nor the data; the data is the command's own.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), d, n as usize) }
            m.add(n, n);
            "update buffer"
        }
        Command::FillBuffer { dst, offset, size, value } => {
            let (d, n) = dst.range(*offset, *size);
            for i in 0..n as usize / 4 {
                // SAFETY: a whole word of the range.
                unsafe { d.cast::<u32>().add(i).write_unaligned(*value) }
            }
            m.add(0, n & !3);
            "fill buffer"
        }
        Command::CopyImage { src, dst, regions } => {
            for r in regions {
                texel::transfer::copy_image(src, dst, r);
                // As many blocks are written as are read; where one side is compressed, its blocks are the other's texels.
                let n = bytes(src, &r.src_subresource, r.src_offset, size(r.extent));
                m.add(n, n);
            }
            "copy image"
        }
        Command::CopyBufferToImage { src, dst, regions } => {
            let (p, n) = src.range(0, vk::WHOLE_SIZE);
            for r in regions {
                // SAFETY: the buffer has `n` bytes there; regions are cut to them.
                unsafe { texel::transfer::copy_buffer_to_image(p, n, dst, r) }
                let n = bytes(dst, &r.image_subresource, r.image_offset, size(r.image_extent));
                m.add(n, n);
            }
            "copy buffer to image"
        }
        Command::CopyImageToBuffer { src, dst, regions } => {
            let (p, n) = dst.range(0, vk::WHOLE_SIZE);
            for r in regions {
                // SAFETY: as above.
                unsafe { texel::transfer::copy_image_to_buffer(src, p, n, r) }
                let n = bytes(src, &r.image_subresource, r.image_offset, size(r.image_extent));
                m.add(n, n);
            }
            "copy image to buffer"
        }
        Command::BlitImage { src, dst, regions, filter } => {
            for r in regions {
                texel::transfer::blit_image(src, dst, r, *filter);
                m.add(
                    bytes_between(src, &r.src_subresource, r.src_offsets),
                    bytes_between(dst, &r.dst_subresource, r.dst_offsets),
                );
            }
            "blit image"
        }
        Command::ResolveImage { src, dst, regions } => {
            for r in regions {
                texel::transfer::resolve_image(src, dst, r);
                m.add(
                    bytes(src, &r.src_subresource, r.src_offset, size(r.extent)),
                    bytes(dst, &r.dst_subresource, r.dst_offset, size(r.extent)),
                );
            }
            "resolve image"
        }
        Command::ClearColorImage { dst, value, ranges } => {
            for r in ranges {
                texel::transfer::clear_color_image(dst, value, r);
                m.add(0, range_bytes(dst, r));
            }
            "clear image"
        }
        Command::ClearDepthStencilImage { dst, value, ranges } => {
            for r in ranges {
                texel::transfer::clear_depth_stencil_image(dst, *value, r);
                m.add(0, range_bytes(dst, r));
            }
            "clear image"
        }
        _ => return None,
    };
    Some((name, moved))
}

#[cfg(test)]
mod tests {
    use super::*;
    use texel::for_tests::{bound_image, image_2d, info_2d};

    fn layers(aspect: vk::ImageAspectFlags, base: u32, count: u32) -> vk::ImageSubresourceLayers {
        vk::ImageSubresourceLayers {
            aspect_mask: aspect,
            mip_level: 0,
            base_array_layer: base,
            layer_count: count,
        }
    }

    #[test]
    fn bytes_by_hand() {
        let color = vk::ImageAspectFlags::COLOR;
        let image = bound_image(&info_2d(vk::Format::R8G8B8A8_UNORM, 100, 20).array_layers(3).mip_levels(2));
        let at = |x, y| vk::Offset3D { x, y, z: 0 };
        // 10 × 5 texels of 4 bytes in two layers; what lies outside is not there.
        assert_eq!(bytes(&image, &layers(color, 0, 2), at(0, 0), [10, 5, 1]), 400);
        assert_eq!(bytes(&image, &layers(color, 2, 2), at(90, 18), [20, 5, 1]), 10 * 2 * 4);
        assert_eq!(bytes_between(&image, &layers(color, 0, 1), [at(50, 20), at(40, 0)]), 10 * 20 * 4);
        let all = vk::ImageSubresourceRange {
            aspect_mask: color,
            base_mip_level: 0,
            level_count: vk::REMAINING_MIP_LEVELS,
            base_array_layer: 1,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
        };
        assert_eq!(range_bytes(&image, &all), (100 * 20 + 50 * 10) * 4 * 2);

        // BC1 has 8 bytes for 4 × 4 texels: 3 × 2 blocks hold 9 × 5.
        let blocks = image_2d(vk::Format::BC1_RGB_UNORM_BLOCK, 64, 64);
        assert_eq!(bytes(&blocks, &layers(color, 0, 1), at(4, 4), [9, 5, 1]), 6 * 8);

        // A resolve reads four samples and writes one.
        let src =
            bound_image(&info_2d(vk::Format::R8G8B8A8_UNORM, 8, 8).samples(vk::SampleCountFlags::TYPE_4));
        let dst = image_2d(vk::Format::R8G8B8A8_UNORM, 8, 8);
        let region = vk::ImageResolve2::default()
            .src_subresource(layers(color, 0, 1))
            .dst_subresource(layers(color, 0, 1))
            .extent(vk::Extent3D { width: 8, height: 8, depth: 1 });
        let c = Command::ResolveImage { src, dst, regions: vec![region] };
        assert_eq!(run(&c), Some(("resolve image", Moved { read: 1024, written: 256 })));
        assert_eq!(run(&Command::NextSubpass), None);
    }
}

//! The accesses of copies, blits, resolves, fills, clears and copies of query results.

use super::{Tracker, Use, ranges};
use crate::command::Command;
use ash::vk;
use machine::lost::Place;
use sanitize::hazards::{Contents, What, access, stage};
use small_sort::SmallSort;
use std::ops::Range;

const fn read(stage: u64) -> Use {
    Use::read(stage, access::TRANSFER_READ)
}
const fn write(stage: u64) -> Use {
    Use::write(stage, access::TRANSFER_WRITE)
}

impl Tracker {
    pub fn transfer(&mut self, c: &Command, place: &Place) {
        use stage::{BLIT, CLEAR, CONVERT_MATRIX, COPY, RESOLVE};
        let mut all: Vec<(Use, Vec<Range<u64>>)> = vec![];
        let mut add = |of: Use, bytes: Vec<Range<u64>>| match all.iter_mut().find(|(u, _)| u.what == of.what)
        {
            // Regions of one command are one access.
            Some((_, b)) => b.extend(bytes),
            None => all.push((of, bytes)),
        };
        match c {
            Command::CopyBuffer { src, dst, regions, .. } => {
                for r in regions {
                    add(read(COPY), ranges::buffer(src, r.src_offset, r.size));
                    add(write(COPY), ranges::buffer(dst, r.dst_offset, r.size));
                }
            }
            Command::ConvertMatrix { src, dst, conversion: c } => {
                add(read(CONVERT_MATRIX), ranges::buffer(src, 0, c.reads));
                add(write(CONVERT_MATRIX), ranges::buffer(dst, 0, c.writes));
            }
            Command::UpdateBuffer { dst, offset, data } => {
                add(write(COPY), ranges::buffer(dst, *offset, data.len() as u64))
            }
            Command::FillBuffer { dst, offset, size, .. } => {
                let bytes = ranges::buffer(dst, *offset, *size);
                // Whole words.
                add(
                    write(CLEAR),
                    bytes.into_iter().map(|r| r.start..r.end - (r.end - r.start) % 4).collect(),
                );
            }
            Command::CopyImage { src, dst, regions } => {
                for r in regions {
                    add(read(COPY), ranges::part(src, &r.src_subresource, r.src_offset, r.extent));
                    let extent = copied_extent(src, dst, r.extent);
                    let (from, to) = (&r.src_subresource, &r.dst_subresource);
                    let extent = across(src, dst, [from, to], extent);
                    add(write(COPY), ranges::part(dst, to, r.dst_offset, extent));
                }
            }
            Command::CopyBufferToImage { src, dst, regions } => {
                for r in regions {
                    add(read(COPY), ranges::buffer_of_image(src, dst, r));
                    add(write(COPY), ranges::part(dst, &r.image_subresource, r.image_offset, r.image_extent));
                }
            }
            Command::CopyImageToBuffer { src, dst, regions } => {
                for r in regions {
                    add(read(COPY), ranges::part(src, &r.image_subresource, r.image_offset, r.image_extent));
                    add(write(COPY), ranges::buffer_of_image(dst, src, r));
                }
            }
            Command::BlitImage { src, dst, regions, .. } => {
                for r in regions {
                    add(read(BLIT), ranges::between(src, &r.src_subresource, r.src_offsets));
                    add(write(BLIT), ranges::between(dst, &r.dst_subresource, r.dst_offsets));
                }
            }
            Command::ResolveImage { src, dst, regions, .. } => {
                for r in regions {
                    add(read(RESOLVE), ranges::part(src, &r.src_subresource, r.src_offset, r.extent));
                    add(write(RESOLVE), ranges::part(dst, &r.dst_subresource, r.dst_offset, r.extent));
                }
            }
            Command::ClearColorImage { dst, ranges: all, .. }
            | Command::ClearDepthStencilImage { dst, ranges: all, .. } => {
                all.iter().for_each(|r| add(write(CLEAR), ranges::subresources(dst, r)))
            }
            // Which texels they write, memory says: all of them count as written.
            Command::CopyMemoryToImageIndirect { dst, layers, .. } => {
                let mut memory = self.hazards().memory.lock();
                for l in layers {
                    let whole = vk::ImageSubresourceRange {
                        aspect_mask: l.aspect_mask,
                        base_mip_level: l.mip_level,
                        level_count: 1,
                        base_array_layer: 0,
                        layer_count: vk::REMAINING_ARRAY_LAYERS,
                    };
                    for r in ranges::subresources(dst, &whole) {
                        memory.forget(r);
                    }
                }
                return;
            }
            Command::CopyQueryResults { pool, count, dst, offset, stride, flags, .. } => {
                for i in 0..*count as u64 {
                    let at = i.saturating_mul(*stride).saturating_add(*offset);
                    add(write(COPY), ranges::buffer(dst, at, pool.result_size(*flags)));
                }
            }
            _ => return,
        }
        let who = self.who(place, String::new());
        all.small_sort_by_key(|(u, _)| u.what != What::Read);
        for (of, mut bytes) in all {
            bytes.small_sort_by_key(|r| r.start);
            self.accessed(&who, Use { contents: Contents::Values, ..of }, &bytes);
        }
    }
}

/// The extent in texels of the destination: of compressed formats a block is one texel of others.
fn copied_extent(src: &texel::image::Image, dst: &texel::image::Image, e: vk::Extent3D) -> vk::Extent3D {
    let along = |n: u32, k: usize| {
        let blocks = n.div_ceil(src.format.block_extent[k]);
        blocks.saturating_mul(dst.format.block_extent[k])
    };
    vk::Extent3D { width: along(e.width, 0), height: along(e.height, 1), depth: e.depth }
}

/// Layers of one may be slices of the other.
fn across(
    src: &texel::image::Image,
    dst: &texel::image::Image,
    [from, to]: [&vk::ImageSubresourceLayers; 2],
    e: vk::Extent3D,
) -> vk::Extent3D {
    let is_3d = |i: &texel::image::Image| i.image_type == vk::ImageType::TYPE_3D;
    let _ = to;
    match is_3d(dst) && !is_3d(src) {
        true => vk::Extent3D { depth: e.depth.max(from.layer_count.min(src.layers)), ..e },
        false => e,
    }
}

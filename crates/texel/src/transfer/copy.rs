//! Copies: raw blocks, row by row.

use super::rows::{copy_rows, lie_together};
use super::slices::{Slices, aspects};
use crate::format::FormatInfo;
use crate::image::{Image, Surface};
use crate::memory::sparse;
use ash::vk;

/// Offset in blocks; negative offsets do not exist.
fn block_offset(o: vk::Offset3D, f: &FormatInfo) -> Option<[u32; 2]> {
    Some([u32::try_from(o.x).ok()? / f.block_extent[0], u32::try_from(o.y).ok()? / f.block_extent[1]])
}

/// `vkCmdCopyImage2`, one region: blocks of equal size are copied as they are, all samples.
pub fn copy_image(src: &Image, dst: &Image, r: &vk::ImageCopy2) {
    dst.written();
    // Aspects pair up in order: they are equal except where one side is colour (maintenance8).
    let pairs = aspects(r.src_subresource.aspect_mask).zip(aspects(r.dst_subresource.aspect_mask));
    for (sa, da) in pairs {
        let depth = r.extent.depth;
        let (Some(s), Some(d)) = (
            Slices::new(src, sa, &r.src_subresource, r.src_offset.z, depth),
            Slices::new(dst, da, &r.dst_subresource, r.dst_offset.z, depth),
        ) else {
            continue;
        };
        let (sf, df) = (s.surface.format, d.surface.format);
        let (Some(so), Some(to)) = (block_offset(r.src_offset, sf), block_offset(r.dst_offset, df)) else {
            continue;
        };
        if sf.block_bytes != df.block_bytes {
            continue;
        }
        let room = |k: usize, texels: u32| {
            sf.blocks(texels, k)
                .min(s.surface.blocks[k].saturating_sub(so[k]))
                .min(d.surface.blocks[k].saturating_sub(to[k]))
        };
        let (w, h) = (room(0, r.extent.width), room(1, r.extent.height));
        if w == 0 || h == 0 {
            continue;
        }
        for i in 0..s.count().min(d.count()) {
            let ((sz, sl), (dz, dl)) = (s.at(i), d.at(i));
            for sample in 0..s.surface.samples.min(d.surface.samples) {
                // SAFETY: the rectangle was cut to both surfaces. Source and destination may share memory.
                unsafe {
                    let from = (&s.surface, [so[0], so[1], sz], sample, sl);
                    let to = (&d.surface, [to[0], to[1], dz], sample, dl);
                    copy_rows(from, to, [w, h]);
                }
            }
        }
    }
}

/// The linear side of a copy between an image and plain memory.
struct Linear {
    /// Bytes from the start to the first block.
    offset: u64,
    /// Blocks of a row and rows of a slice.
    row_blocks: u64,
    slice_rows: u64,
    size: u64,
}

/// Bytes that are copied at once between images and plain memory where all lie together: the C library takes another way with more, by
/// which four copies of 4 MiB to one image took 1.4 times as long.
const PIECE: usize = 4096;

/// Calls `each(image pointer, offset in linear memory, bytes)` for every row of a region that both sides have, for the parts of one
/// that the image has apart, and for pieces of rows that lie one after the other on both sides.
fn rows(
    image: &Image,
    layers: &vk::ImageSubresourceLayers,
    at: vk::Offset3D,
    extent: vk::Extent3D,
    linear: impl Fn(&Surface) -> Linear,
    mut each: impl FnMut(*mut u8, u64, usize),
) {
    let Some(aspect) = aspects(layers.aspect_mask).next() else { return };
    let Some(slices) = Slices::new(image, aspect, layers, at.z, extent.depth) else { return };
    let s = slices.surface;
    let Some([x, y]) = block_offset(at, s.format) else { return };
    let w = s.format.blocks(extent.width, 0).min(s.blocks[0].saturating_sub(x));
    let h = s.format.blocks(extent.height, 1).min(s.blocks[1].saturating_sub(y));
    let l = linear(&s);
    let bb = s.format.block_bytes as u64;
    let bytes = w as u64 * bb;
    let together = bytes > 0 && h > 0 && lie_together(&s, bytes) && l.row_blocks * bb == bytes;
    for i in 0..slices.count() {
        let (z, layer) = slices.at(i);
        let first = (i as u64 * l.slice_rows).checked_mul(bytes).and_then(|o| o.checked_add(l.offset));
        let end = first.and_then(|o| o.checked_add(bytes * h as u64)).filter(|&end| end <= l.size);
        if let (true, Some(first), Some(_)) = (together, first, end) {
            // SAFETY: the rectangle was cut to the surface.
            let p = unsafe { s.block(x, y, z, 0, layer) };
            let all = (bytes * h as u64) as usize;
            for at in (0..all).step_by(PIECE) {
                each(p.wrapping_add(at), first + at as u64, PIECE.min(all - at));
            }
            continue;
        }
        for row in 0..h {
            let line = i as u64 * l.slice_rows + row as u64;
            let offset = line.checked_mul(l.row_blocks * bb).and_then(|o| o.checked_add(l.offset));
            let Some(offset) = offset.filter(|&o| o.checked_add(bytes).is_some_and(|end| end <= l.size))
            else {
                return;
            };
            if bytes > 0 {
                // SAFETY: the rectangle was cut to the surface.
                unsafe {
                    s.stretches([x, y + row, z], 0, layer, w, |p, first, blocks| {
                        each(p, offset + first as u64 * bb, blocks as usize * bb as usize)
                    })
                };
            }
        }
    }
}

fn linear(
    s: &Surface,
    offset: u64,
    size: u64,
    row_length: u32,
    image_height: u32,
    extent: vk::Extent3D,
) -> Linear {
    let or = |v: u32, d: u32| if v == 0 { d } else { v };
    Linear {
        offset,
        size,
        row_blocks: s.format.blocks(or(row_length, extent.width), 0) as u64,
        slice_rows: s.format.blocks(or(image_height, extent.height), 1) as u64,
    }
}

/// `vkCmdCopyBufferToImage2`, one region, from a buffer of `size` bytes.
///
/// # Safety
/// `src` must be readable for `size` bytes (it may be null if `size` is 0).
pub unsafe fn copy_buffer_to_image(src: *const u8, size: u64, dst: &Image, r: &vk::BufferImageCopy2) {
    dst.written();
    rows(
        dst,
        &r.image_subresource,
        r.image_offset,
        r.image_extent,
        |s| linear(s, r.buffer_offset, size, r.buffer_row_length, r.buffer_image_height, r.image_extent),
        // SAFETY: bytes of the image, and of those that the caller has readable.
        |p, o, n| unsafe { sparse::copy(src.add(o as usize), p, n) },
    )
}

/// `vkCmdCopyImageToBuffer2`, one region, to a buffer of `size` bytes.
///
/// # Safety
/// `dst` must be writable for `size` bytes (it may be null if `size` is 0).
pub unsafe fn copy_image_to_buffer(src: &Image, dst: *mut u8, size: u64, r: &vk::BufferImageCopy2) {
    rows(
        src,
        &r.image_subresource,
        r.image_offset,
        r.image_extent,
        |s| linear(s, r.buffer_offset, size, r.buffer_row_length, r.buffer_image_height, r.image_extent),
        // SAFETY: bytes of the image, and of those that the caller has writable.
        |p, o, n| unsafe { sparse::copy(p, dst.add(o as usize), n) },
    )
}

/// Region of a host copy, rows packed where `MEMCPY` is asked for: an opaque order that only has to come back alike.
fn host_shape(flags: vk::HostImageCopyFlagsEXT, row_length: u32, image_height: u32) -> (u32, u32) {
    if flags.contains(vk::HostImageCopyFlagsEXT::MEMCPY) { (0, 0) } else { (row_length, image_height) }
}

/// `vkCopyMemoryToImageEXT`, one region.
///
/// # Safety
/// `r.p_host_pointer` must be readable as the region says.
pub unsafe fn copy_memory_to_image(
    dst: &Image,
    r: &vk::MemoryToImageCopyEXT,
    flags: vk::HostImageCopyFlagsEXT,
) {
    let (row, height) = host_shape(flags, r.memory_row_length, r.memory_image_height);
    let src = r.p_host_pointer.cast::<u8>();
    dst.written();
    rows(
        dst,
        &r.image_subresource,
        r.image_offset,
        r.image_extent,
        |s| linear(s, 0, u64::MAX, row, height, r.image_extent),
        // SAFETY: bytes of the image, and of those that the caller has readable.
        |p, o, n| unsafe { sparse::copy(src.add(o as usize), p, n) },
    )
}

/// `vkCopyImageToMemoryEXT`, one region.
///
/// # Safety
/// `r.p_host_pointer` must be writable as the region says.
pub unsafe fn copy_image_to_memory(
    src: &Image,
    r: &vk::ImageToMemoryCopyEXT,
    flags: vk::HostImageCopyFlagsEXT,
) {
    let (row, height) = host_shape(flags, r.memory_row_length, r.memory_image_height);
    let dst = r.p_host_pointer.cast::<u8>();
    rows(
        src,
        &r.image_subresource,
        r.image_offset,
        r.image_extent,
        |s| linear(s, 0, u64::MAX, row, height, r.image_extent),
        // SAFETY: bytes of the image, and of those that the caller has writable.
        |p, o, n| unsafe { sparse::copy(p, dst.add(o as usize), n) },
    )
}

/// Bytes one layer of a level takes in a host copy with `MEMCPY` (`VkSubresourceHostMemcpySizeEXT`).
pub fn host_memcpy_size(image: &Image, aspect: vk::ImageAspectFlags, mip: u32) -> u64 {
    let Some(plane) = image.layout.plane(aspect) else { return 0 };
    let Some(m) = plane.mips.get(mip as usize) else { return 0 };
    m.blocks.iter().map(|&b| b as u64).product::<u64>() * plane.format.block_bytes as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::{bound_image, image_2d, info_2d};

    const COLOR: vk::ImageSubresourceLayers = layers(vk::ImageAspectFlags::COLOR, 0, 0, 1);

    const fn layers(
        aspect: vk::ImageAspectFlags,
        mip: u32,
        base: u32,
        count: u32,
    ) -> vk::ImageSubresourceLayers {
        vk::ImageSubresourceLayers {
            aspect_mask: aspect,
            mip_level: mip,
            base_array_layer: base,
            layer_count: count,
        }
    }

    fn region(
        sub: vk::ImageSubresourceLayers,
        at: [i32; 3],
        size: [u32; 3],
    ) -> vk::BufferImageCopy2<'static> {
        vk::BufferImageCopy2::default()
            .image_subresource(sub)
            .image_offset(vk::Offset3D { x: at[0], y: at[1], z: at[2] })
            .image_extent(vk::Extent3D { width: size[0], height: size[1], depth: size[2] })
    }

    fn upload(image: &Image, data: &[u8], r: &vk::BufferImageCopy2) {
        // SAFETY: within what the test has made.
        unsafe { copy_buffer_to_image(data.as_ptr(), data.len() as u64, image, r) }
    }

    fn download(image: &Image, n: usize, r: &vk::BufferImageCopy2) -> Vec<u8> {
        let mut out = vec![0xee; n];
        // SAFETY: within what the test has made.
        unsafe { copy_image_to_buffer(image, out.as_mut_ptr(), n as u64, r) };
        out
    }

    #[test]
    fn buffer_pitches_and_offsets() {
        let image = image_2d(vk::Format::R8_UNORM, 4, 4);
        let data: Vec<u8> = (0..64).collect();
        // 2×2 texels to (1, 2), rows 5 apart, from byte 3.
        let r = region(COLOR, [1, 2, 0], [2, 2, 1]).buffer_offset(3).buffer_row_length(5);
        upload(&image, &data, &r);
        let all = download(&image, 16, &region(COLOR, [0, 0, 0], [4, 4, 1]));
        assert_eq!(all, [0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 4, 0, 0, 8, 9, 0]);
        // A buffer too small, a rectangle too large: nothing outside is touched.
        upload(&image, &data[..9], &region(COLOR, [2, 0, 0], [400, 400, 7]).buffer_row_length(4));
        let all = download(&image, 20, &region(COLOR, [0, 0, 0], [4, 4, 1]));
        assert_eq!(all[..8], [0, 0, 0, 1, 0, 0, 4, 5]);
        assert_eq!(all[16..], [0xee; 4]);
    }

    #[test]
    fn layers_become_slices_and_back() {
        let flat = bound_image(&info_2d(vk::Format::R8_UINT, 2, 1).array_layers(3));
        let solid = bound_image(&vk::ImageCreateInfo {
            image_type: vk::ImageType::TYPE_3D,
            extent: vk::Extent3D { width: 2, height: 1, depth: 4 },
            ..info_2d(vk::Format::R8_UINT, 2, 1)
        });
        upload(
            &flat,
            &[1, 2, 3, 4, 5, 6],
            &region(layers(vk::ImageAspectFlags::COLOR, 0, 0, 3), [0; 3], [2, 1, 1]),
        );
        let r = vk::ImageCopy2::default()
            .src_subresource(layers(vk::ImageAspectFlags::COLOR, 0, 1, 2))
            .dst_subresource(COLOR)
            .dst_offset(vk::Offset3D { x: 0, y: 0, z: 1 })
            .extent(vk::Extent3D { width: 2, height: 1, depth: 2 });
        copy_image(&flat, &solid, &r);
        assert_eq!(download(&solid, 8, &region(COLOR, [0; 3], [2, 1, 4])), [0, 0, 3, 4, 5, 6, 0, 0]);
    }

    #[test]
    fn blocks_to_texels() {
        let bc = image_2d(vk::Format::BC1_RGBA_UNORM_BLOCK, 6, 4);
        let data: Vec<u8> = (0..16).collect();
        upload(&bc, &data, &region(COLOR, [0; 3], [6, 4, 1]));
        let raw = image_2d(vk::Format::R32G32_UINT, 2, 1);
        let r = vk::ImageCopy2::default()
            .src_subresource(COLOR)
            .dst_subresource(COLOR)
            .extent(vk::Extent3D { width: 6, height: 4, depth: 1 });
        copy_image(&bc, &raw, &r);
        assert_eq!(download(&raw, 16, &region(COLOR, [0; 3], [2, 1, 1])), data);
    }

    #[test]
    fn depth_and_stencil_aspects() {
        let ds = image_2d(vk::Format::D32_SFLOAT_S8_UINT, 2, 1);
        let (d, s) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
        upload(&ds, &[1, 2, 3, 4, 5, 6, 7, 8], &region(layers(d, 0, 0, 1), [0; 3], [2, 1, 1]));
        upload(&ds, &[9, 10], &region(layers(s, 0, 0, 1), [0; 3], [2, 1, 1]));
        let copy = image_2d(vk::Format::D32_SFLOAT_S8_UINT, 2, 1);
        let r = vk::ImageCopy2::default()
            .src_subresource(layers(d | s, 0, 0, 1))
            .dst_subresource(layers(d | s, 0, 0, 1))
            .extent(vk::Extent3D { width: 2, height: 1, depth: 1 });
        copy_image(&ds, &copy, &r);
        assert_eq!(
            download(&copy, 8, &region(layers(d, 0, 0, 1), [0; 3], [2, 1, 1])),
            [1, 2, 3, 4, 5, 6, 7, 8]
        );
        assert_eq!(download(&copy, 2, &region(layers(s, 0, 0, 1), [0; 3], [2, 1, 1])), [9, 10]);
    }
}

//! Which bytes of memory a part of an image is, and what part a byte is of.

use ash::vk;
use small_sort::SmallSort;
use std::ops::Range;
use texel::buffer::Buffer;
use texel::image::{Image, Surface};
use texel::transfer::aspects;

/// Bytes of a part of a level: texels along x and y, slices, layers.
fn texels(
    s: &Surface,
    [x, y]: [Range<u32>; 2],
    z: Range<u32>,
    layers: Range<u32>,
    all: &mut Vec<Range<u64>>,
) {
    let blocks = |r: Range<u32>, k: usize| {
        let end = r.end.div_ceil(s.format.block_extent[k]).min(s.blocks[k]);
        (r.start / s.format.block_extent[k]).min(end)..end
    };
    let (x, y) = (blocks(x, 0), blocks(y, 1));
    // Texels of images in parts do not lie in rows.
    if !s.split.is_none() || x.is_empty() || y.is_empty() {
        return;
    }
    let bytes = s.format.block_bytes as u64;
    let whole = x.start == 0 && x.end == s.blocks[0];
    for layer in layers.start.min(s.layers)..layers.end.min(s.layers) {
        for sample in 0..s.samples {
            for z in z.start.min(s.blocks[2])..z.end.min(s.blocks[2]) {
                let row = |y: u32| {
                    s.base as u64
                        + layer as u64 * s.layer_pitch
                        + sample as u64 * s.sample_pitch
                        + z as u64 * s.slice_pitch
                        + y as u64 * s.row_pitch
                };
                if whole {
                    push(all, row(y.start)..row(y.end));
                    continue;
                }
                for y in y.clone() {
                    push(all, row(y) + x.start as u64 * bytes..row(y) + x.end as u64 * bytes);
                }
            }
        }
    }
}

fn push(all: &mut Vec<Range<u64>>, r: Range<u64>) {
    match all.last_mut() {
        Some(last) if last.end == r.start => last.end = r.end,
        _ => all.push(r),
    }
}

fn sorted(mut all: Vec<Range<u64>>) -> Vec<Range<u64>> {
    all.small_sort_by_key(|r| r.start);
    let mut out: Vec<Range<u64>> = vec![];
    for r in all {
        match out.last_mut() {
            Some(last) if last.end >= r.start => last.end = last.end.max(r.end),
            _ => out.push(r),
        }
    }
    out
}

/// Levels and layers of an image.
pub fn subresources(image: &Image, range: &vk::ImageSubresourceRange) -> Vec<Range<u64>> {
    let (levels, layers) = image.resolve_range(range);
    let mut all = vec![];
    for level in levels {
        for aspect in aspects(stored(image, range.aspect_mask)) {
            match image.surface(aspect, level) {
                Some(s) if !s.split.is_none() => in_parts(&s, layers.clone(), &mut all),
                Some(s) => {
                    texels(&s, [0..s.extent[0], 0..s.extent[1]], 0..s.extent[2], layers.clone(), &mut all)
                }
                None => {}
            }
        }
    }
    sorted(all)
}

/// All bytes of a level that lies in parts: columns of sparse image blocks follow one another.
fn in_parts(s: &Surface, layers: Range<u32>, all: &mut Vec<Range<u64>>) {
    let columns = s.blocks[0].div_ceil(1 << s.split.shift(0)) as u64;
    let bytes = (s.split.extra(0) + s.row_pitch) * columns;
    for layer in layers.start.min(s.layers)..layers.end.min(s.layers) {
        let first = s.base as u64 + layer as u64 * s.layer_pitch;
        push(all, first..first + bytes);
    }
}

/// COLOR stands for all planes of an image that has some.
fn stored(image: &Image, mask: vk::ImageAspectFlags) -> vk::ImageAspectFlags {
    let planes = image.layout.planes.iter().fold(vk::ImageAspectFlags::empty(), |a, p| a | p.aspect);
    match mask.contains(vk::ImageAspectFlags::COLOR) {
        true => planes | mask,
        false => mask,
    }
}

fn cut(at: i32, n: u32) -> Range<u32> {
    let first = at.max(0) as u32;
    first..at.saturating_add_unsigned(n).max(0) as u32
}

/// A box of texels in some layers.
pub fn part(
    image: &Image,
    sub: &vk::ImageSubresourceLayers,
    at: vk::Offset3D,
    e: vk::Extent3D,
) -> Vec<Range<u64>> {
    let mut all = vec![];
    let is_3d = image.image_type == vk::ImageType::TYPE_3D;
    let z = if is_3d { cut(at.z, e.depth) } else { 0..1 };
    let layers =
        if is_3d { 0..1 } else { sub.base_array_layer..sub.base_array_layer.saturating_add(sub.layer_count) };
    for aspect in aspects(stored(image, sub.aspect_mask)) {
        if let Some(s) = image.surface(aspect, sub.mip_level) {
            texels(&s, [cut(at.x, e.width), cut(at.y, e.height)], z.clone(), layers.clone(), &mut all);
        }
    }
    sorted(all)
}

/// A box between two corners.
pub fn between(
    image: &Image,
    sub: &vk::ImageSubresourceLayers,
    [a, b]: [vk::Offset3D; 2],
) -> Vec<Range<u64>> {
    let at = vk::Offset3D { x: a.x.min(b.x), y: a.y.min(b.y), z: a.z.min(b.z) };
    let extent =
        vk::Extent3D { width: a.x.abs_diff(b.x), height: a.y.abs_diff(b.y), depth: a.z.abs_diff(b.z) };
    part(image, sub, at, extent)
}

/// Texels of one aspect that a render pass has: an area of layers, or of slices of a 3D image.
pub fn attachment(
    image: &Image,
    aspect: vk::ImageAspectFlags,
    level: u32,
    layers: Range<u32>,
    area: [Range<u32>; 2],
) -> Vec<Range<u64>> {
    let is_3d = image.image_type == vk::ImageType::TYPE_3D;
    let (z, layers) = if is_3d { (layers, 0..1) } else { (0..1, layers) };
    let mut all = vec![];
    if let Some(s) = image.surface(aspect, level) {
        texels(&s, area, z, layers, &mut all);
    }
    sorted(all)
}

/// What a copy between a buffer and an image touches of the buffer.
pub fn buffer_of_image(buffer: &Buffer, image: &Image, r: &vk::BufferImageCopy2) -> Vec<Range<u64>> {
    let Some(s) = image.surface(r.image_subresource.aspect_mask, r.image_subresource.mip_level) else {
        return vec![];
    };
    let f = s.format;
    let along = |given: u32, size: u32, k: usize| f.blocks(if given == 0 { size } else { given }, k) as u64;
    let row = along(r.buffer_row_length, r.image_extent.width, 0) * f.block_bytes as u64;
    let rows = along(r.buffer_image_height, r.image_extent.height, 1);
    let [w, h] = [f.blocks(r.image_extent.width, 0) as u64, f.blocks(r.image_extent.height, 1) as u64];
    let is_3d = image.image_type == vk::ImageType::TYPE_3D;
    let sub = &r.image_subresource;
    let layers = sub.layer_count.min(image.layers.saturating_sub(sub.base_array_layer)) as u64;
    let slices = if is_3d { r.image_extent.depth as u64 } else { layers };
    let mut all = vec![];
    for z in 0..slices {
        for y in 0..h {
            let at = r.buffer_offset + (z * rows + y) * row;
            let (p, n) = buffer.range(at, w * f.block_bytes as u64);
            if n > 0 {
                push(&mut all, p as u64..p as u64 + n);
            }
        }
    }
    sorted(all)
}

pub fn buffer(b: &Buffer, offset: u64, size: u64) -> Vec<Range<u64>> {
    let (p, n) = b.range(offset, size);
    (n > 0).then(|| p as u64..p as u64 + n).into_iter().collect()
}

pub fn count(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|r| r.end - r.start).sum()
}

/// In words: aspect, level, layer and texel at a byte of an image.
pub fn place(image: &Image, address: u64) -> String {
    for plane in &image.layout.planes {
        let Some(base) = image.base_of(plane.aspect) else { continue };
        let Some(at) = address.checked_sub(base as u64 + plane.offset) else { continue };
        let (layer, within) = (at / plane.layer_pitch.max(1), at % plane.layer_pitch.max(1));
        if layer >= image.layers as u64 {
            continue;
        }
        let Some(level) = plane.mips.iter().rposition(|m| m.offset <= within) else { continue };
        let m = &plane.mips[level];
        let within = (within - m.offset) % m.sample_pitch.max(1);
        let (z, within) = (within / m.slice_pitch.max(1), within % m.slice_pitch.max(1));
        let (y, x) =
            (within / m.row_pitch.max(1), within % m.row_pitch.max(1) / plane.format.block_bytes as u64);
        let [bx, by] = [0, 1].map(|k: usize| plane.format.block_extent[k] as u64);
        let slice = if m.extent[2] > 1 { format!(", slice {z}") } else { String::new() };
        let aspect = match plane.aspect {
            vk::ImageAspectFlags::DEPTH => "depth, ",
            vk::ImageAspectFlags::STENCIL => "stencil, ",
            _ => "",
        };
        return format!("{aspect}level {level}, layer {layer}{slice}, texel ({}, {})", x * bx, y * by);
    }
    String::new()
}

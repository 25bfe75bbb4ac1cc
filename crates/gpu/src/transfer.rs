//! Runs transfer commands, and tells how many bytes each moved.

use crate::command::Command;
use ash::vk;
use machine::count::{Covered, Moved};
use machine::sync::Hub;
use machine::time::Transfer;
use std::ops::Range;
use texel::buffer::Buffer;
use texel::image::Image;
use texel::memory::{AddressSpace, sparse};
use texel::transfer::{Slices, aspects};

/// A part of one aspect and level of an image, as far as the image has it; in blocks of its format, which may be texels.
#[derive(Clone, Copy)]
struct Part {
    at: [u64; 2],
    size: [u64; 2],
    slices: u64,
    samples: u64,
    block_bytes: u64,
}

impl Part {
    /// Blocks, all samples.
    fn blocks(&self) -> u64 {
        self.size[0] * self.size[1] * self.slices * self.samples
    }
}

/// A box of texels in some aspects and layers of an image: the part of each aspect.
fn parts(
    image: &Image,
    layers: &vk::ImageSubresourceLayers,
    at: vk::Offset3D,
    [w, h, depth]: [u32; 3],
) -> Vec<Part> {
    aspects(layers.aspect_mask)
        .filter_map(|aspect| Slices::new(image, aspect, layers, at.z, depth))
        .map(|s| {
            let f = s.surface.format;
            let first = [at.x, at.y].map(|at| u32::try_from(at).unwrap_or(0));
            let first = [0, 1].map(|k: usize| first[k] / f.block_extent[k]);
            let along = |k: usize, texels: u32| {
                f.blocks(texels, k).min(s.surface.blocks[k].saturating_sub(first[k])) as u64
            };
            Part {
                at: first.map(u64::from),
                size: [along(0, w), along(1, h)],
                slices: s.count() as u64,
                samples: s.surface.samples as u64,
                block_bytes: f.block_bytes as u64,
            }
        })
        .collect()
}

fn size(e: vk::Extent3D) -> [u32; 3] {
    [e.width, e.height, e.depth]
}

/// The same of the box between two corners, in any order.
fn parts_between(image: &Image, layers: &vk::ImageSubresourceLayers, [a, b]: [vk::Offset3D; 2]) -> Vec<Part> {
    let first = vk::Offset3D { x: a.x.min(b.x), y: a.y.min(b.y), z: a.z.min(b.z) };
    parts(image, layers, first, [a.x.abs_diff(b.x), a.y.abs_diff(b.y), a.z.abs_diff(b.z)])
}

/// Whole levels and layers: the parts of each level.
fn levels(image: &Image, range: &vk::ImageSubresourceRange) -> Vec<Vec<Part>> {
    let (levels, layers) = image.resolve_range(range);
    let slices = layers.len() as u64;
    let part = |s: texel::image::Surface| Part {
        at: [0; 2],
        size: [s.blocks[0] as u64, s.blocks[1] as u64],
        slices: slices * s.blocks[2] as u64,
        samples: s.samples as u64,
        block_bytes: s.format.block_bytes as u64,
    };
    levels
        .map(|mip| aspects(range.aspect_mask).filter_map(|a| image.surface(a, mip)).map(part).collect())
        .collect()
}

fn bytes(parts: &[Part]) -> u64 {
    parts.iter().map(|p| p.blocks() * p.block_bytes).sum()
}

/// Regions that are told apart.
const TOLD: usize = 1 << 16;

/// What a render pass covers that writes these parts: aspects of the same texels.
fn cover(c: &mut Covered, parts: &[Part]) {
    let Some(first) = parts.first().filter(|p| p.blocks() > 0) else { return };
    // Squares of so many pixels along a side that the part touches.
    let squares = |side: u64, k: usize| first.at[k] / side..(first.at[k] + first.size[k]).div_ceil(side);
    let touched = |sides: [u64; 2]| {
        [0, 1].map(|k| squares(sides[k], k)).map(|r| r.end - r.start).iter().product::<u64>() * first.slices
    };
    let bits = parts.iter().map(|p| 8 * p.block_bytes.next_power_of_two() * p.samples).sum();
    c.regions += touched([64; 2]);
    c.tiles += touched(counters::model::current().tile(bits));
    c.pixels += parts.iter().map(Part::blocks).sum::<u64>();
    if c.regions > TOLD as u64 {
        return c.weights.clear();
    }
    let within =
        |at: u64, k: usize| (at * 64 + 64).min(first.at[k] + first.size[k]) - (at * 64).max(first.at[k]);
    let samples: u64 = parts.iter().map(|p| p.samples).sum();
    for _ in 0..first.slices {
        for y in squares(64, 1) {
            c.weights.extend(squares(64, 0).map(|x| within(x, 0) * within(y, 1) * samples));
        }
    }
}

/// What a transfer command did.
#[derive(Debug, PartialEq)]
pub struct Transferred {
    pub name: &'static str,
    pub kind: Transfer,
    pub moved: Moved,
    /// Addresses of device memory, where they are known: of buffers that are read, and written.
    pub spans: [Vec<Range<u64>>; 2],
    /// Of one that tiles do: the main queue's.
    pub covered: Option<Covered>,
    /// An address that it was to access, and that is not device memory's.
    pub fault: Option<u64>,
}

/// Element `i` of an array of structures of `N` words; `None` where the buffer ends before it does.
fn element<const N: usize>(list: &Buffer, i: u64, stride: u64) -> Option<[u32; N]> {
    let (p, n) = list.range(i.checked_mul(stride)?, N as u64 * 4);
    // SAFETY: so many bytes of the buffer.
    (n == N as u64 * 4).then(|| unsafe { p.cast::<[u32; N]>().read_unaligned() })
}

fn address(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// Runs a transfer command; `None` if it is of another kind. `told`: its addresses are asked for.
///
/// What a render pass can do goes the way of the tiles, as in Mesa's driver for Mali (panvk): clears of images as a pass that clears,
/// blits, resolves and copies between images as one that covers what it writes. Buffers, which tiles do not write, and what is copied out
/// of images or into them from buffers, are done by compute.
pub fn run(c: &Command, memory: &AddressSpace, hub: &Hub, told: bool) -> Option<Transferred> {
    let mut moved = Moved::default();
    let mut covered = Covered::default();
    let mut spans = [const { Vec::new() }; 2];
    let m = &mut moved;
    let mut span = |way: usize, p: *const u8, n: u64| {
        // Without memory for it, what the L2 has of it is not looked for.
        if told && n > 0 && spans[way].try_reserve(1).is_ok() {
            spans[way].push(p as u64..p as u64 + n)
        }
    };
    let goes_on = || !hub.stops();
    let mut fault = None;
    let (name, kind, tiles) = match c {
        Command::CopyMemoryIndirect { copies, stride, count } => {
            for i in (0..*count as u64).take_while(|_| goes_on()) {
                let Some([s0, s1, d0, d1, n0, n1]) = element::<6>(copies, i, *stride) else { break };
                let (from, to, n) = (address(s0, s1), address(d0, d1), address(n0, n1));
                span(0, copies.range(i * stride, 24).0, 24);
                m.add(24, 0);
                let bad = [from, to].into_iter().find(|&a| n > 0 && !memory.holds(a, n));
                if bad.is_some() {
                    fault = bad;
                    break;
                }
                let (s, d) = (from as *const u8, to as *mut u8);
                // SAFETY: live device memory, both.
                unsafe { sparse::copy(s, d, n as usize) }
                m.add(n, n);
                span(0, s, n);
                span(1, d, n);
            }
            ("copy memory", Transfer::Copy, false)
        }
        Command::CopyMemoryToImageIndirect { copies, stride, dst, layers } => {
            for (i, l) in layers.iter().enumerate().take_while(|_| goes_on()) {
                let Some(e) = element::<14>(copies, i as u64, *stride) else { break };
                let from = address(e[0], e[1]);
                m.add(56, 0);
                let Some(src) = Buffer::from(memory, from) else {
                    fault = Some(from);
                    break;
                };
                // Of a 3D image the layers are slices (§ vkCmdCopyMemoryToImageIndirectKHR).
                let is_3d = dst.image_type == vk::ImageType::TYPE_3D;
                let (sub, z, depth) = match is_3d {
                    true => (
                        vk::ImageSubresourceLayers { base_array_layer: 0, layer_count: 1, ..*l },
                        l.base_array_layer,
                        l.layer_count.min(dst.extent[2]),
                    ),
                    false => (*l, e[10], e[13]),
                };
                let r = vk::BufferImageCopy2::default()
                    .buffer_row_length(e[2])
                    .buffer_image_height(e[3])
                    .image_subresource(sub)
                    .image_offset(vk::Offset3D { x: e[8] as i32, y: e[9] as i32, z: z as i32 })
                    .image_extent(vk::Extent3D { width: e[11], height: e[12], depth });
                let (p, n) = src.range(0, vk::WHOLE_SIZE);
                // SAFETY: the memory has `n` bytes there; regions are cut to them.
                unsafe { texel::transfer::copy_buffer_to_image(p, n, dst, &r) }
                let n = bytes(&parts(dst, &r.image_subresource, r.image_offset, size(r.image_extent)));
                m.add(n, n);
            }
            ("copy memory to image", Transfer::Copy, false)
        }
        Command::CopyBuffer { src, dst, regions, .. } => {
            for r in regions.iter().take_while(|_| goes_on()) {
                let (s, sn) = src.range(r.src_offset, r.size);
                let (d, dn) = dst.range(r.dst_offset, r.size);
                let n = sn.min(dn);
                // SAFETY: both ranges have as many bytes.
                unsafe { sparse::copy(s, d, n as usize) }
                m.add(n, n);
                span(0, s, n);
                span(1, d, n);
            }
            ("copy buffer", Transfer::Copy, false)
        }
        Command::ConvertMatrix { src, dst, conversion: c } => {
            let ((s, from), (d, to)) = (src.range(0, c.reads), dst.range(0, c.writes));
            if (from, to) == (c.reads, c.writes) {
                // SAFETY: both ranges are as long as the conversion says; they were apart when it was recorded.
                unsafe { c.run(s, d) }
                m.add(from, to);
                span(0, s, from);
                span(1, d, to);
            }
            ("convert matrix", Transfer::Copy, false)
        }
        Command::UpdateBuffer { dst, offset, data } => {
            let (d, n) = dst.range(*offset, data.len() as u64);
            // SAFETY: no more than the range has, nor the data; the data is the command's own.
            unsafe { sparse::copy(data.as_ptr(), d, n as usize) }
            m.add(n, n);
            span(1, d, n);
            ("update buffer", Transfer::Clear, false)
        }
        Command::FillBuffer { dst, offset, size, value } => {
            let (d, n) = dst.range(*offset, *size);
            // A block of memory is a multiple of a word, as the offset is.
            sparse::stretches(d, n as usize & !3, |at, bytes| {
                // SAFETY: whole words of the range.
                unsafe { fill(d.add(at), bytes, *value) }
            });
            m.add(0, n & !3);
            span(1, d, n & !3);
            ("fill buffer", Transfer::Clear, false)
        }
        Command::CopyImage { src, dst, regions } => {
            for r in regions.iter().take_while(|_| goes_on()) {
                texel::transfer::copy_image(src, dst, r);
                // As many blocks are written as are read; where one side is compressed, its blocks are the other's texels.
                let from = parts(src, &r.src_subresource, r.src_offset, size(r.extent));
                let n = bytes(&from);
                m.add(n, n);
                let at = parts(dst, &r.dst_subresource, r.dst_offset, size(r.extent));
                let to = from.iter().zip(&at).map(|(f, t)| Part { at: t.at, ..*f });
                cover(&mut covered, &to.collect::<Vec<_>>());
            }
            ("copy image", Transfer::Copy, true)
        }
        Command::CopyBufferToImage { src, dst, regions } => {
            let (p, n) = src.range(0, vk::WHOLE_SIZE);
            for r in regions.iter().take_while(|_| goes_on()) {
                // SAFETY: the buffer has `n` bytes there; regions are cut to them.
                unsafe { texel::transfer::copy_buffer_to_image(p, n, dst, r) }
                let n = bytes(&parts(dst, &r.image_subresource, r.image_offset, size(r.image_extent)));
                m.add(n, n);
            }
            ("copy buffer to image", Transfer::Copy, false)
        }
        Command::CopyImageToBuffer { src, dst, regions } => {
            let (p, n) = dst.range(0, vk::WHOLE_SIZE);
            for r in regions.iter().take_while(|_| goes_on()) {
                // SAFETY: as above.
                unsafe { texel::transfer::copy_image_to_buffer(src, p, n, r) }
                let n = bytes(&parts(src, &r.image_subresource, r.image_offset, size(r.image_extent)));
                m.add(n, n);
            }
            ("copy image to buffer", Transfer::Copy, false)
        }
        Command::BlitImage { src, dst, regions, filter } => {
            for r in regions.iter().take_while(|_| goes_on()) {
                texel::transfer::blit_image(src, dst, r, *filter);
                let to = parts_between(dst, &r.dst_subresource, r.dst_offsets);
                m.add(bytes(&parts_between(src, &r.src_subresource, r.src_offsets)), bytes(&to));
                cover(&mut covered, &to);
            }
            ("blit image", Transfer::Blit, true)
        }
        Command::ResolveImage { src, dst, regions, modes } => {
            for r in regions.iter().take_while(|_| goes_on()) {
                texel::transfer::resolve_image(src, dst, r, *modes);
                let to = parts(dst, &r.dst_subresource, r.dst_offset, size(r.extent));
                m.add(bytes(&parts(src, &r.src_subresource, r.src_offset, size(r.extent))), bytes(&to));
                cover(&mut covered, &to);
            }
            ("resolve image", Transfer::Resolve, true)
        }
        Command::ClearColorImage { dst, value, ranges } => {
            for r in ranges.iter().take_while(|_| goes_on()) {
                texel::transfer::clear_color_image(dst, value, r);
                clear(m, &mut covered, dst, r);
            }
            ("clear image", Transfer::Clear, true)
        }
        Command::ClearDepthStencilImage { dst, value, ranges } => {
            for r in ranges.iter().take_while(|_| goes_on()) {
                texel::transfer::clear_depth_stencil_image(dst, *value, r);
                clear(m, &mut covered, dst, r);
            }
            ("clear image", Transfer::Clear, true)
        }
        _ => return None,
    };
    Some(Transferred { name, kind, moved, spans, covered: tiles.then_some(covered), fault })
}

/// Fills whole words.
///
/// # Safety
/// So many bytes are writable at `to`.
unsafe fn fill(to: *mut u8, bytes: usize, word: u32) {
    // What the C library's functions do with these is quicker than a loop compiled for any CPU.
    const PART: usize = 1024;
    let all = word.to_le_bytes();
    if all == [all[0]; 4] {
        // SAFETY: the caller's.
        return unsafe { to.write_bytes(all[0], bytes) };
    }
    let part = [word.to_le(); PART / 4];
    for at in (0..bytes).step_by(PART) {
        // SAFETY: parts of the caller's bytes.
        unsafe { to.add(at).copy_from_nonoverlapping(part.as_ptr().cast(), PART.min(bytes - at)) };
    }
}

fn clear(m: &mut Moved, covered: &mut Covered, dst: &Image, range: &vk::ImageSubresourceRange) {
    for level in levels(dst, range) {
        m.add(0, bytes(&level));
        cover(covered, &level);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use texel::for_tests::{bound_image, image_2d, info_2d};

    #[test]
    fn fills_are_their_words() {
        for value in [0u32, 0x7777_7777, 0x1234_5678, 9] {
            for words in [0usize, 1, 255, 256, 257, 1000] {
                let mut got = vec![0xEEu8; words * 4 + 2];
                // SAFETY: so many words, off their alignment.
                unsafe { fill(got.as_mut_ptr().add(1), words * 4, value) };
                let want = value.to_le_bytes().repeat(words);
                assert_eq!((got[0], &got[1..got.len() - 1], got[got.len() - 1]), (0xEE, &want[..], 0xEE));
            }
        }
    }

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
        assert_eq!(bytes(&parts(&image, &layers(color, 0, 2), at(0, 0), [10, 5, 1])), 400);
        assert_eq!(bytes(&parts(&image, &layers(color, 2, 2), at(90, 18), [20, 5, 1])), 10 * 2 * 4);
        assert_eq!(bytes(&parts_between(&image, &layers(color, 0, 1), [at(50, 20), at(40, 0)])), 10 * 20 * 4);
        let all = vk::ImageSubresourceRange {
            aspect_mask: color,
            base_mip_level: 0,
            level_count: vk::REMAINING_MIP_LEVELS,
            base_array_layer: 1,
            layer_count: vk::REMAINING_ARRAY_LAYERS,
        };
        let of_levels = |i| levels(i, &all).iter().map(|l| bytes(l)).collect::<Vec<_>>();
        assert_eq!(of_levels(&image), [100 * 20 * 4 * 2, 50 * 10 * 4 * 2]);

        // BC1 has 8 bytes for 4 × 4 texels: 3 × 2 blocks hold 9 × 5.
        let blocks = image_2d(vk::Format::BC1_RGB_UNORM_BLOCK, 64, 64);
        assert_eq!(bytes(&parts(&blocks, &layers(color, 0, 1), at(4, 4), [9, 5, 1])), 6 * 8);

        // A resolve reads four samples and writes one.
        let src =
            bound_image(&info_2d(vk::Format::R8G8B8A8_UNORM, 8, 8).samples(vk::SampleCountFlags::TYPE_4));
        let dst = image_2d(vk::Format::R8G8B8A8_UNORM, 8, 8);
        let region = vk::ImageResolve2::default()
            .src_subresource(layers(color, 0, 1))
            .dst_subresource(layers(color, 0, 1))
            .extent(vk::Extent3D { width: 8, height: 8, depth: 1 });
        let c = Command::ResolveImage { src, dst, regions: vec![region], modes: None };
        let covered = Covered { regions: 1, tiles: 1, pixels: 64, weights: vec![64] };
        let moved = Moved { read: 1024, written: 256 };
        let resolved = Transferred {
            name: "resolve image",
            kind: Transfer::Resolve,
            moved,
            spans: Default::default(),
            covered: Some(covered),
            fault: None,
        };
        assert_eq!(run(&c, texel::for_tests::space(), &Hub::default(), true), Some(resolved));
        assert_eq!(run(&Command::NextSubpass, texel::for_tests::space(), &Hub::default(), true), None);
    }

    #[test]
    fn regions_by_hand() {
        // From (60, 32) 70 × 32 pixels: regions from 0, 64 and 128 on, with 4, 64 and 2 columns; tiles from 32, 64, 96 and 128 on, in a row.
        let color = vk::ImageAspectFlags::COLOR;
        let image = bound_image(&info_2d(vk::Format::R8G8B8A8_UNORM, 200, 100).array_layers(2));
        let mut c = Covered::default();
        let at = vk::Offset3D { x: 60, y: 32, z: 0 };
        cover(&mut c, &parts(&image, &layers(color, 0, 2), at, [70, 32, 1]));
        let weights = [4, 64, 2, 4, 64, 2].map(|w| w * 32).to_vec();
        assert_eq!(c, Covered { regions: 6, tiles: 8, pixels: 2 * 70 * 32, weights });
        // Depth and stencil are two attachments of one pass.
        let both = vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL;
        let image = image_2d(vk::Format::D32_SFLOAT_S8_UINT, 64, 64);
        let mut c = Covered::default();
        cover(&mut c, &parts(&image, &layers(both, 0, 1), vk::Offset3D::default(), [64, 64, 1]));
        assert_eq!(c, Covered { regions: 1, tiles: 4, pixels: 8192, weights: vec![8192] });
        cover(&mut c, &[]);
        assert_eq!(c.regions, 1);
    }
}

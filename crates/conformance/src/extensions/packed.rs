//! VK_ARM_format_pack and VK_EXT_rgba10x6_formats: numbers of 10, 12 and 14 bits in the upper bits of 16. The bits below are 0.

use super::rig::{Rig, cleared, whole_of};
use super::{Check, Found, found, text};
use client::graphics::ImageInfo;

pub fn checks() -> Vec<Check> {
    vec![
        Check { name: "packed_formats_are_cleared_and_copied", of: c"VK_ARM_format_pack", run: packed },
        Check { name: "ten_bits_are_drawn", of: c"VK_EXT_rgba10x6_formats", run: drawn },
    ]
}

/// VK_FORMAT_R10X6_UINT_PACK16_ARM: the first of nine formats of integers, of 10, 12 and 14 bits, and one, two and four channels each.
/// Three of normalised numbers of 14 bits follow.
const FIRST: i32 = 1_000_609_000;

fn packed(rig: &Rig) -> Found {
    let context = &rig.context;
    let mut all = vec![];
    for n in 0..12usize {
        let format = vk::Format::from_raw(FIRST + n as i32);
        let (bits, channels) = ([10, 12, 14, 14][n / 3], 1 << (n % 3));
        let is_unorm = n >= 9;
        let most = (1u32 << bits) - 1;
        // SAFETY: a live physical device.
        let told =
            unsafe { context.instance.get_physical_device_format_properties(context.physical, format) };
        let needed = vk::FormatFeatureFlags::SAMPLED_IMAGE
            | vk::FormatFeatureFlags::TRANSFER_SRC
            | vk::FormatFeatureFlags::TRANSFER_DST;
        if !told.optimal_tiling_features.contains(needed) {
            return Err(format!("{format:?}: {:?}", told.optimal_tiling_features));
        }
        // A quarter of 16 383 is 4 095.75.
        let (codes, colour) = match is_unorm {
            true => ([most, 0, 4096, most], vk::ClearColorValue { float32: [1.0, 0.0, 0.25, 2.0] }),
            false => ([5, most, 1, 77], vk::ClearColorValue { uint32: [5, most, 1, 77] }),
        };
        let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::SAMPLED;
        let info = ImageInfo::texture(format, [5, 3]);
        let image = rig.image(ImageInfo { usage: info.usage | usage, ..info })?;
        let range = vk::ImageSubresourceRange {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            level_count: 1,
            layer_count: 1,
            ..Default::default()
        };
        rig.run(|d, c| {
            // SAFETY: recording into a command buffer that has begun, with live handles.
            unsafe {
                d.cmd_clear_color_image(c, image.handle, vk::ImageLayout::GENERAL, &colour, &[range]);
            }
            client::graphics::barrier(d, c);
        })?;
        let got = image.read(vk::ImageAspectFlags::COLOR, 2 * channels).map_err(text)?;
        let texel = codes[..channels].iter().flat_map(|n| ((n << (16 - bits)) as u16).to_le_bytes());
        let want = texel.collect::<Vec<u8>>().repeat(15);
        if got != want {
            return Err(format!("{format:?}: {got:02x?}, not {want:02x?}"));
        }
        all.extend(got);
    }
    found(&all)
}

/// An attachment is cleared to 51/255, which is a fifth of 1 023: 204.6.
fn drawn(rig: &Rig) -> Found {
    let format = vk::Format::R10X6G10X6B10X6A10X6_UNORM_4PACK16;
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let info = ImageInfo::texture(format, [8, 8]);
    let image = rig.image(ImageInfo { usage: info.usage | usage, ..info })?;
    rig.run(|d, c| {
        let attachment = [vk::RenderingAttachmentInfo::default()
            .image_view(image.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)
            .clear_value(cleared(51))];
        let area = vk::Rect2D { extent: vk::Extent2D { width: 8, height: 8 }, ..Default::default() };
        let rendering =
            vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&attachment);
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe { d.cmd_begin_rendering(c, &rendering) };
        whole_of(d, c, [8, 8]);
        // SAFETY: as above.
        unsafe { d.cmd_end_rendering(c) };
        client::graphics::barrier(d, c);
    })?;
    let got = image.read(vk::ImageAspectFlags::COLOR, 8).map_err(text)?;
    let want = (205u16 << 6).to_le_bytes().repeat(4 * 64);
    if got != want {
        return Err(format!("{:02x?}, not {:02x?}", &got[..8], &want[..8]));
    }
    found(&got)
}

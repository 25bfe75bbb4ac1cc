//! Images whose layout in memory has a number that others know too (VK_EXT_image_drm_format_modifier): linear ones.

use crate::base::answer::{Answer, invalid};
use crate::base::given::{Call, Fill, In};
use crate::device::Device;
use crate::memory::image::Image;
use texel::format::FormatInfo;
use vk::ImageTiling as Tiling;

/// DRM_FORMAT_MOD_LINEAR (drm_fourcc.h): rows one after the other.
const LINEAR: u64 = 0;

/// Whether there are linear images of a format.
fn has(format: Option<&FormatInfo>) -> bool {
    format.is_some_and(|f| !crate::memory::formats::linear(f).is_empty())
}

/// Memory planes of a linear image: the format's own.
fn planes(format: vk::Format) -> u32 {
    texel::format::planar(format).map_or(1, |p| p.planes.len() as u32)
}

/// The lists of a format's modifiers, where they are asked for.
pub(crate) fn tell(format: Option<&FormatInfo>, out: &mut Fill<vk::FormatProperties2>) {
    let count_of_planes = format.map_or(0, |f| planes(f.format));
    let features = format.map(crate::memory::formats::linear).unwrap_or_default();
    let n = has(format) as usize;
    if let Some(mut l) = out.find::<vk::DrmFormatModifierPropertiesListEXT>() {
        let all = vec![
            vk::DrmFormatModifierPropertiesEXT {
                drm_format_modifier: LINEAR,
                drm_format_modifier_plane_count: count_of_planes,
                drm_format_modifier_tiling_features: crate::memory::formats::low(features),
            };
            n
        ];
        let _ = l.drm_format_modifier_properties().fill(&all);
    }
    if let Some(mut l) = out.find::<vk::DrmFormatModifierPropertiesList2EXT>() {
        let all = vec![
            vk::DrmFormatModifierProperties2EXT {
                drm_format_modifier: LINEAR,
                drm_format_modifier_plane_count: count_of_planes,
                drm_format_modifier_tiling_features: features,
            };
            n
        ];
        let _ = l.drm_format_modifier_properties().fill(&all);
    }
}

/// The tiling that an image is asked about with; `None` for a modifier that there is not.
pub(crate) fn asked(info: In<vk::PhysicalDeviceImageFormatInfo2>) -> Option<Tiling> {
    if info.tiling != Tiling::DRM_FORMAT_MODIFIER_EXT {
        return Some(info.tiling);
    }
    let m = info.find::<vk::PhysicalDeviceImageDrmFormatModifierInfoEXT>()?;
    (m.drm_format_modifier == LINEAR).then_some(Tiling::LINEAR)
}

/// The tiling that an image is to be created with.
pub(crate) fn tiling(info: In<vk::ImageCreateInfo>) -> Answer<Tiling> {
    if info.tiling != Tiling::DRM_FORMAT_MODIFIER_EXT {
        return Ok(info.tiling);
    }
    let given = {
        let list = info.find::<vk::ImageDrmFormatModifierListCreateInfoEXT>();
        let exact = info.find::<vk::ImageDrmFormatModifierExplicitCreateInfoEXT>();
        list.is_some_and(|l| l.drm_format_modifiers().contains(&LINEAR))
            || exact.is_some_and(|e| e.drm_format_modifier == LINEAR)
    };
    if given { Ok(Tiling::LINEAR) } else { Err(invalid("vkCreateImage: no format modifier but linear (0)")) }
}

/// Whether a layout that is given is that of the image that was made: the only one that it can have.
pub(crate) fn check(info: In<vk::ImageCreateInfo>, image: &texel::image::Image) -> Answer {
    let given = {
        let Some(e) = info
            .find::<vk::ImageDrmFormatModifierExplicitCreateInfoEXT>()
            .filter(|_| info.tiling == Tiling::DRM_FORMAT_MODIFIER_EXT)
        else {
            return Ok(());
        };
        e.plane_layouts()
    };
    const BAD: vk::Result = vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT;
    if given.len() != planes(info.format) as usize {
        return Err(BAD);
    }
    for (given, aspect_mask) in given.iter().zip(texel::format::MEMORY_PLANES) {
        let own = image.subresource_layout(&vk::ImageSubresource { aspect_mask, ..Default::default() });
        let fits = given.offset == own.offset
            && given.row_pitch == own.row_pitch
            && (image.layers == 1 || given.array_pitch == own.array_pitch)
            && (image.extent[2] == 1 || given.depth_pitch == own.depth_pitch);
        if !fits {
            let _ = invalid(&format!(
                "vkCreateImage: a plane at {} of rows of {} bytes; it would lie at {}, of rows of {}",
                given.offset, given.row_pitch, own.offset, own.row_pitch
            ));
            return Err(BAD);
        }
    }
    Ok(())
}

pub(crate) fn get_image_drm_format_modifier_properties_ext(
    device: &Device,
    image: vk::Image,
    mut out: Fill<vk::ImageDrmFormatModifierPropertiesEXT>,
) -> vk::Result {
    if device.object::<Image>(image).is_none() {
        return vk::Result::ERROR_VALIDATION_FAILED_EXT;
    }
    out.drm_format_modifier = LINEAR;
    vk::Result::SUCCESS
}

//! Images whose layout in memory has a number that others know too (VK_EXT_image_drm_format_modifier): linear ones.

use crate::base::answer::{Answer, invalid};
use crate::base::chain;
use crate::base::object;
use crate::device::Device;
use crate::memory::image::Image;
use std::ffi::c_void;
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
pub(crate) unsafe fn tell(format: Option<&FormatInfo>, p_next: *mut c_void) {
    let count_of_planes = format.map_or(0, |f| planes(f.format));
    let (n, features) =
        (has(format) as usize, format.map(crate::memory::formats::linear).unwrap_or_default());
    // SAFETY: valid usage: the chain leads to what it is said to, and arrays have room for their counts.
    unsafe {
        if let Some(l) = chain::find_mut::<vk::DrmFormatModifierPropertiesListEXT>(p_next) {
            let (count, out) = (&mut l.drm_format_modifier_count, l.p_drm_format_modifier_properties);
            let _ = chain::fill_with(n, count, out, |p, _| {
                p.drm_format_modifier = LINEAR;
                p.drm_format_modifier_plane_count = count_of_planes;
                p.drm_format_modifier_tiling_features = crate::memory::formats::low(features);
            });
        }
        if let Some(l) = chain::find_mut::<vk::DrmFormatModifierPropertiesList2EXT>(p_next) {
            let (count, out) = (&mut l.drm_format_modifier_count, l.p_drm_format_modifier_properties);
            let _ = chain::fill_with(n, count, out, |p, _| {
                p.drm_format_modifier = LINEAR;
                p.drm_format_modifier_plane_count = count_of_planes;
                p.drm_format_modifier_tiling_features = features;
            });
        }
    }
}

/// The tiling that an image is asked about with; `None` for a modifier that there is not.
pub(crate) unsafe fn asked(info: &vk::PhysicalDeviceImageFormatInfo2) -> Option<Tiling> {
    if info.tiling != Tiling::DRM_FORMAT_MODIFIER_EXT {
        return Some(info.tiling);
    }
    // SAFETY: valid usage: the chain leads to what it is said to.
    let m = unsafe { chain::find::<vk::PhysicalDeviceImageDrmFormatModifierInfoEXT>(info.p_next) }?;
    (m.drm_format_modifier == LINEAR).then_some(Tiling::LINEAR)
}

/// The tiling that an image is to be created with.
pub(crate) unsafe fn tiling(info: &vk::ImageCreateInfo) -> Answer<Tiling> {
    if info.tiling != Tiling::DRM_FORMAT_MODIFIER_EXT {
        return Ok(info.tiling);
    }
    // SAFETY: valid usage: the chain leads to what it is said to.
    let given = unsafe {
        let list = chain::find::<vk::ImageDrmFormatModifierListCreateInfoEXT>(info.p_next);
        let exact = chain::find::<vk::ImageDrmFormatModifierExplicitCreateInfoEXT>(info.p_next);
        list.is_some_and(|l| {
            chain::slice(l.p_drm_format_modifiers, l.drm_format_modifier_count).contains(&LINEAR)
        }) || exact.is_some_and(|e| e.drm_format_modifier == LINEAR)
    };
    if given { Ok(Tiling::LINEAR) } else { Err(invalid("vkCreateImage: no format modifier but linear (0)")) }
}

/// Whether a layout that is given is that of the image that was made: the only one that it can have.
pub(crate) unsafe fn check(info: &vk::ImageCreateInfo, image: &texel::image::Image) -> Answer {
    // SAFETY: valid usage: the chain leads to what it is said to.
    let given = unsafe {
        let Some(e) = chain::find::<vk::ImageDrmFormatModifierExplicitCreateInfoEXT>(info.p_next)
            .filter(|_| info.tiling == Tiling::DRM_FORMAT_MODIFIER_EXT)
        else {
            return Ok(());
        };
        chain::slice(e.p_plane_layouts, e.drm_format_modifier_plane_count)
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

pub(crate) unsafe fn get_image_drm_format_modifier_properties_ext(
    _: &Device,
    image: vk::Image,
    out: *mut vk::ImageDrmFormatModifierPropertiesEXT,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if object::get::<Image>(image).is_none() {
            return vk::Result::ERROR_VALIDATION_FAILED_EXT;
        }
        (*out).drm_format_modifier = LINEAR;
    }
    vk::Result::SUCCESS
}

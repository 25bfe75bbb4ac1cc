//! Y′CbCr formats: which planes there are, and how the texels of one plane are half those of the first.
//!
//! Source: Vulkan specification, "Compatible Formats of Planes of Multi-Planar Formats", "Formats Requiring Sampler Y′CBCR
//! Conversion for VK_IMAGE_ASPECT_COLOR_BIT Image Views".

use super::pack::Pack as _;
use super::{FormatInfo, NumClass, info};
use ash::vk;

/// Aspects of planes, in order.
pub const PLANE_ASPECTS: [vk::ImageAspectFlags; 3] =
    [vk::ImageAspectFlags::PLANE_0, vk::ImageAspectFlags::PLANE_1, vk::ImageAspectFlags::PLANE_2];

/// The same of an image by its DRM format modifier.
pub const MEMORY_PLANES: [vk::ImageAspectFlags; 3] = [
    vk::ImageAspectFlags::MEMORY_PLANE_0_EXT,
    vk::ImageAspectFlags::MEMORY_PLANE_1_EXT,
    vk::ImageAspectFlags::MEMORY_PLANE_2_EXT,
];

/// A format of several planes: green (luma) in the first, blue and red in the second, or one each in the second and third.
#[derive(Debug)]
pub struct Planar {
    pub format: vk::Format,
    /// What each plane is compatible with.
    pub planes: &'static [vk::Format],
    /// log2 of how many texels of the first plane are beside and below each other for one of the others.
    pub shift: [u32; 2],
}

/// A format of one plane whose blocks are two texels beside each other that share blue and red (4:2:2).
#[derive(Debug)]
pub struct Packed422 {
    pub format: vk::Format,
    /// Half a block: green and one of the others (blue of the even texel, red of the odd one), in the order of `luma`.
    pub half: vk::Format,
    /// Which component of a half is green.
    pub luma: usize,
}

macro_rules! planar {
    ($($name:ident: [$($plane:ident),*], $shift:expr;)*) => {
        &[$(Planar { format: vk::Format::$name, planes: &[$(vk::Format::$plane),*], shift: $shift }),*]
    };
}
macro_rules! packed {
    ($($name:ident: $half:ident, $luma:literal;)*) => {
        &[$(Packed422 { format: vk::Format::$name, half: vk::Format::$half, luma: $luma }),*]
    };
}

#[rustfmt::skip]
static PLANAR: &[Planar] = planar! {
    G8_B8_R8_3PLANE_420_UNORM: [R8_UNORM, R8_UNORM, R8_UNORM], [1, 1];
    G8_B8R8_2PLANE_420_UNORM: [R8_UNORM, R8G8_UNORM], [1, 1];
    G8_B8_R8_3PLANE_422_UNORM: [R8_UNORM, R8_UNORM, R8_UNORM], [1, 0];
    G8_B8R8_2PLANE_422_UNORM: [R8_UNORM, R8G8_UNORM], [1, 0];
    G8_B8_R8_3PLANE_444_UNORM: [R8_UNORM, R8_UNORM, R8_UNORM], [0, 0];
    G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16: [R10X6_UNORM_PACK16, R10X6_UNORM_PACK16, R10X6_UNORM_PACK16], [1, 1];
    G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16: [R10X6_UNORM_PACK16, R10X6G10X6_UNORM_2PACK16], [1, 1];
    G10X6_B10X6_R10X6_3PLANE_422_UNORM_3PACK16: [R10X6_UNORM_PACK16, R10X6_UNORM_PACK16, R10X6_UNORM_PACK16], [1, 0];
    G10X6_B10X6R10X6_2PLANE_422_UNORM_3PACK16: [R10X6_UNORM_PACK16, R10X6G10X6_UNORM_2PACK16], [1, 0];
    G10X6_B10X6_R10X6_3PLANE_444_UNORM_3PACK16: [R10X6_UNORM_PACK16, R10X6_UNORM_PACK16, R10X6_UNORM_PACK16], [0, 0];
    G12X4_B12X4_R12X4_3PLANE_420_UNORM_3PACK16: [R12X4_UNORM_PACK16, R12X4_UNORM_PACK16, R12X4_UNORM_PACK16], [1, 1];
    G12X4_B12X4R12X4_2PLANE_420_UNORM_3PACK16: [R12X4_UNORM_PACK16, R12X4G12X4_UNORM_2PACK16], [1, 1];
    G12X4_B12X4_R12X4_3PLANE_422_UNORM_3PACK16: [R12X4_UNORM_PACK16, R12X4_UNORM_PACK16, R12X4_UNORM_PACK16], [1, 0];
    G12X4_B12X4R12X4_2PLANE_422_UNORM_3PACK16: [R12X4_UNORM_PACK16, R12X4G12X4_UNORM_2PACK16], [1, 0];
    G12X4_B12X4_R12X4_3PLANE_444_UNORM_3PACK16: [R12X4_UNORM_PACK16, R12X4_UNORM_PACK16, R12X4_UNORM_PACK16], [0, 0];
    G16_B16_R16_3PLANE_420_UNORM: [R16_UNORM, R16_UNORM, R16_UNORM], [1, 1];
    G16_B16R16_2PLANE_420_UNORM: [R16_UNORM, R16G16_UNORM], [1, 1];
    G16_B16_R16_3PLANE_422_UNORM: [R16_UNORM, R16_UNORM, R16_UNORM], [1, 0];
    G16_B16R16_2PLANE_422_UNORM: [R16_UNORM, R16G16_UNORM], [1, 0];
    G16_B16_R16_3PLANE_444_UNORM: [R16_UNORM, R16_UNORM, R16_UNORM], [0, 0];
    G8_B8R8_2PLANE_444_UNORM: [R8_UNORM, R8G8_UNORM], [0, 0];
    G10X6_B10X6R10X6_2PLANE_444_UNORM_3PACK16: [R10X6_UNORM_PACK16, R10X6G10X6_UNORM_2PACK16], [0, 0];
    G12X4_B12X4R12X4_2PLANE_444_UNORM_3PACK16: [R12X4_UNORM_PACK16, R12X4G12X4_UNORM_2PACK16], [0, 0];
    G16_B16R16_2PLANE_444_UNORM: [R16_UNORM, R16G16_UNORM], [0, 0];
    G14X2_B14X2R14X2_2PLANE_420_UNORM_3PACK16_ARM: [R14X2_UNORM_PACK16_ARM, R14X2G14X2_UNORM_2PACK16_ARM], [1, 1];
    G14X2_B14X2R14X2_2PLANE_422_UNORM_3PACK16_ARM: [R14X2_UNORM_PACK16_ARM, R14X2G14X2_UNORM_2PACK16_ARM], [1, 0];
};

#[rustfmt::skip]
static PACKED: &[Packed422] = packed! {
    G8B8G8R8_422_UNORM: R8G8_UNORM, 0;
    B8G8R8G8_422_UNORM: R8G8_UNORM, 1;
    G10X6B10X6G10X6R10X6_422_UNORM_4PACK16: R10X6G10X6_UNORM_2PACK16, 0;
    B10X6G10X6R10X6G10X6_422_UNORM_4PACK16: R10X6G10X6_UNORM_2PACK16, 1;
    G12X4B12X4G12X4R12X4_422_UNORM_4PACK16: R12X4G12X4_UNORM_2PACK16, 0;
    B12X4G12X4R12X4G12X4_422_UNORM_4PACK16: R12X4G12X4_UNORM_2PACK16, 1;
    G16B16G16R16_422_UNORM: R16G16_UNORM, 0;
    B16G16R16G16_422_UNORM: R16G16_UNORM, 1;
};

/// Where the extensions' formats begin.
const FIRST: i32 = vk::Format::G8B8G8R8_422_UNORM.as_raw();

/// The planes of a format that has several.
pub fn planar(format: vk::Format) -> Option<&'static Planar> {
    if format.as_raw() < FIRST {
        return None;
    }
    PLANAR.iter().find(|p| p.format == format)
}

/// What a 4:2:2 format of one plane is made of.
pub fn packed422(format: vk::Format) -> Option<&'static Packed422> {
    if format.as_raw() < FIRST {
        return None;
    }
    PACKED.iter().find(|p| p.format == format)
}

impl Planar {
    /// How many texels (of the first plane) along x and y a texel of plane `index` stands for, as log2.
    pub fn shift_of(&self, index: usize) -> [u32; 2] {
        if index == 0 { [0; 2] } else { self.shift }
    }
}

impl FormatInfo {
    /// Whether colour aspects of images of the format can only be seen through a sampler's Y′CbCr conversion. Such images are flat, of one
    /// level and one sample.
    pub fn requires_conversion(&self) -> bool {
        // (R10X6G10X6B10X6A10X6 does not: VK_EXT_rgba10x6_formats.)
        self.format == vk::Format::R12X4G12X4B12X4A12X4_UNORM_4PACK16
            || self.subsamples()
            || planar(self.format).is_some()
    }

    /// Whether samplers with a Y′CbCr conversion take the format: unsigned normalised colours, which are not compressed.
    pub fn convertible(&self) -> bool {
        self.requires_conversion()
            || self.class == NumClass::Unorm
                && self.sampled()
                && self.filterable()
                && !self.compressed()
                && !self.is_depth_stencil()
    }

    fn subsamples(&self) -> bool {
        packed422(self.format).is_some()
    }

    /// What extents of images must be multiples of ("VUID-VkImageCreateInfo-format-04712", "-04713").
    pub fn extent_multiple(&self) -> [u32; 2] {
        match planar(self.format) {
            Some(p) => p.shift.map(|s| 1 << s),
            None if self.subsamples() => [2, 1],
            None => [1, 1],
        }
    }

    /// The format of plane `index`, of a format of several.
    pub fn plane_format(&self, index: usize) -> Option<&'static FormatInfo> {
        info(*planar(self.format)?.planes.get(index)?)
    }
}

/// Which plane an aspect is.
pub fn plane_index(aspect: vk::ImageAspectFlags) -> Option<usize> {
    let at = |all: &[vk::ImageAspectFlags; 3]| all.iter().position(|&p| p == aspect);
    at(&PLANE_ASPECTS).or_else(|| at(&MEMORY_PLANES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::all;

    #[test]
    fn every_row_without_capabilities_of_its_own_has_planes_or_halves() {
        let names = |f: &&FormatInfo| f.name.contains("PLANE") || f.name.contains("_422_");
        assert_eq!(all().iter().filter(names).count(), PLANAR.len() + PACKED.len());
        for f in all().iter().filter(names) {
            assert!(f.image() && f.requires_conversion() && f.convertible(), "{}", f.name);
            if let Some(p) = planar(f.format) {
                let named = if f.name.contains("2PLANE") { 2 } else { 3 };
                assert_eq!(p.planes.len(), named, "{}", f.name);
                let bits: u32 = f.plane_format(0).unwrap().components()[0].bits as u32;
                assert!(f.name.starts_with(&format!("G{bits}")), "{}", f.name);
                let shift = match () {
                    _ if f.name.contains("_420_") => [1, 1],
                    _ if f.name.contains("_422_") => [1, 0],
                    _ => [0, 0],
                };
                assert_eq!(p.shift, shift, "{}", f.name);
                assert_eq!(f.plane_format(0).unwrap().block_bytes, f.block_bytes);
                for i in 0..p.planes.len() {
                    let plane = f.plane_format(i).unwrap();
                    assert!(
                        plane.storage()
                            && plane.color_attachment()
                            && plane.components()[0].bits as u32 == bits
                    );
                }
            } else {
                let p = packed422(f.format).unwrap();
                assert_eq!(info(p.half).unwrap().block_bytes * 2, f.block_bytes);
                assert_eq!(f.components()[p.luma].name, b'g');
            }
        }
        assert!(!info(vk::Format::R8_UNORM).unwrap().requires_conversion());
        assert!(!info(vk::Format::R10X6_UNORM_PACK16).unwrap().requires_conversion());
        assert!(info(vk::Format::R8G8B8A8_UNORM).unwrap().convertible());
        assert!(!info(vk::Format::R8G8B8A8_SRGB).unwrap().convertible());
    }
}

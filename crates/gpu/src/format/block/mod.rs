//! Compressed blocks: decoded on read.

use ash::vk;

/// Which decoder a compressed format needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    Bc1 { alpha: bool },
    Bc2,
    Bc3,
    Bc4 { signed: bool },
    Bc5 { signed: bool },
    Bc6h { signed: bool },
    Bc7,
    Etc2Rgb,
    Etc2Rgba1,
    Etc2Rgba8,
    EacR11 { signed: bool },
    EacRg11 { signed: bool },
    Astc,
}

impl BlockKind {
    pub(super) const fn of(format: vk::Format) -> Option<Self> {
        use vk::Format as F;
        Some(match format {
            F::BC1_RGB_UNORM_BLOCK | F::BC1_RGB_SRGB_BLOCK => BlockKind::Bc1 { alpha: false },
            F::BC1_RGBA_UNORM_BLOCK | F::BC1_RGBA_SRGB_BLOCK => BlockKind::Bc1 { alpha: true },
            F::BC2_UNORM_BLOCK | F::BC2_SRGB_BLOCK => BlockKind::Bc2,
            F::BC3_UNORM_BLOCK | F::BC3_SRGB_BLOCK => BlockKind::Bc3,
            F::BC4_UNORM_BLOCK => BlockKind::Bc4 { signed: false },
            F::BC4_SNORM_BLOCK => BlockKind::Bc4 { signed: true },
            F::BC5_UNORM_BLOCK => BlockKind::Bc5 { signed: false },
            F::BC5_SNORM_BLOCK => BlockKind::Bc5 { signed: true },
            F::BC6H_UFLOAT_BLOCK => BlockKind::Bc6h { signed: false },
            F::BC6H_SFLOAT_BLOCK => BlockKind::Bc6h { signed: true },
            F::BC7_UNORM_BLOCK | F::BC7_SRGB_BLOCK => BlockKind::Bc7,
            F::ETC2_R8G8B8_UNORM_BLOCK | F::ETC2_R8G8B8_SRGB_BLOCK => BlockKind::Etc2Rgb,
            F::ETC2_R8G8B8A1_UNORM_BLOCK | F::ETC2_R8G8B8A1_SRGB_BLOCK => BlockKind::Etc2Rgba1,
            F::ETC2_R8G8B8A8_UNORM_BLOCK | F::ETC2_R8G8B8A8_SRGB_BLOCK => BlockKind::Etc2Rgba8,
            F::EAC_R11_UNORM_BLOCK => BlockKind::EacR11 { signed: false },
            F::EAC_R11_SNORM_BLOCK => BlockKind::EacR11 { signed: true },
            F::EAC_R11G11_UNORM_BLOCK => BlockKind::EacRg11 { signed: false },
            F::EAC_R11G11_SNORM_BLOCK => BlockKind::EacRg11 { signed: true },
            f if f.as_raw() >= F::ASTC_4X4_UNORM_BLOCK.as_raw()
                && f.as_raw() <= F::ASTC_12X12_SRGB_BLOCK.as_raw() =>
            {
                BlockKind::Astc
            }
            _ => return None,
        })
    }
}

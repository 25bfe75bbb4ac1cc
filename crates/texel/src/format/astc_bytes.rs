//! ASTC formats as views of decode mode unorm8 have them (VK_EXT_astc_decode_mode): rows of their own, by the negative values of their formats,
//! which Vulkan does not have.

use super::block::{AstcTo, BlockKind, is_astc_hdr};
use super::{FormatInfo, TexelKind};
use ash::vk;

const FIRST: i32 = vk::Format::ASTC_4X4_UNORM_BLOCK.as_raw();
/// Sizes of blocks.
pub(super) const COUNT: usize = 14;

/// Of size `i`, from the row of the format.
pub(super) const fn row(i: usize, rows: &[FormatInfo]) -> FormatInfo {
    let raw = FIRST + 2 * i as i32;
    let mut row = rows[raw as usize - 1];
    row.format = vk::Format::from_raw(-raw);
    row.kind = TexelKind::Block(BlockKind::Astc(AstcTo::Bytes));
    row
}

/// What a view of decode mode unorm8 has for a format; other formats, and those of sRGB, are as they are.
pub fn decoded_to_bytes(format: vk::Format) -> vk::Format {
    let raw = format.as_raw();
    let last = vk::Format::ASTC_12X12_SRGB_BLOCK.as_raw();
    match raw {
        _ if (FIRST..=last).contains(&raw) && (raw - FIRST) % 2 == 0 => vk::Format::from_raw(-raw),
        _ if is_astc_hdr(format) => {
            vk::Format::from_raw(-(FIRST + 2 * (raw - vk::Format::ASTC_4X4_SFLOAT_BLOCK.as_raw())))
        }
        _ => format,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::info;

    #[test]
    fn rows_are_those_of_the_formats() {
        let pairs = [
            (vk::Format::ASTC_4X4_UNORM_BLOCK, [4, 4, 1]),
            (vk::Format::ASTC_10X5_UNORM_BLOCK, [10, 5, 1]),
            (vk::Format::ASTC_12X12_SFLOAT_BLOCK, [12, 12, 1]),
        ];
        for (format, extent) in pairs {
            let row = info(decoded_to_bytes(format)).unwrap();
            assert_eq!((row.block_extent, row.block_bytes, row.is_srgb()), (extent, 16, false), "{format:?}");
            assert_eq!(row.kind, TexelKind::Block(BlockKind::Astc(AstcTo::Bytes)), "{format:?}");
        }
        let srgb = vk::Format::ASTC_4X4_SRGB_BLOCK;
        assert_eq!(decoded_to_bytes(srgb), srgb);
        assert!(info(vk::Format::from_raw(-1)).is_none());
    }
}

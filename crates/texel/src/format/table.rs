//! The format table: one row a format.
//!
//! Columns: name, bytes per texel block, block width, block height, numeric class, layout, capabilities.
//! Layout lists the components from the least significant bit of the little-endian block upwards, `x` being
//! padding (`"b5g6r5"`); for compressed formats it only names the components. Depth/stencil rows give the size of the
//! block as `VkImageCreateInfo` users see it; the aspects are stored apart (see `image::layout`).
//! Capabilities, one letter each (`Caps`): S sampled, L linear filter, R blit source, W blit destination,
//! C colour attachment, B blendable, D depth/stencil attachment, I storage image, A storage atomics,
//! U uniform texel buffer, T storage texel buffer, V vertex buffer. Y′CbCr formats have none: what they can do follows from `planar`, and
//! rows of several planes give the first.
//! Sources: Vulkan specification, chapter "Formats" (definition and mandatory features), registry `<formats>`.

use super::pack::Pack as _;
use super::{Caps, FormatInfo, NumClass, TexelKind, astc_bytes};
use ash::vk;

macro_rules! rows {
    ($($name:ident, $bytes:literal, $w:literal, $h:literal, $class:ident, $layout:literal, $caps:literal;)*) => {
        [$(FormatInfo::row(
            vk::Format::$name, stringify!($name), $bytes, [$w, $h, 1], NumClass::$class, $layout,
            Caps::parse($caps), TexelKind::of(vk::Format::$name),
        )),*]
    };
}

/// All rows, and after them those of `astc_bytes`.
pub(super) static TABLE: [FormatInfo; ROWS.len() + astc_bytes::COUNT] = {
    let mut all = [ROWS[0]; ROWS.len() + astc_bytes::COUNT];
    let (mut i, rows) = (0, ROWS);
    while i < all.len() {
        all[i] = if i < rows.len() { rows[i] } else { astc_bytes::row(i - rows.len(), &rows) };
        i += 1;
    }
    all
};

/// Core formats 1..=184 in order of value, then those of extensions and later versions, ascending too.
#[rustfmt::skip]
pub(super) const ROWS: [FormatInfo; 254] = rows! {
    R4G4_UNORM_PACK8,                   1,  1,1,   Unorm,   "g4r4",              "SLRWCB";
    R4G4B4A4_UNORM_PACK16,              2,  1,1,   Unorm,   "a4b4g4r4",          "SLRWCB";
    B4G4R4A4_UNORM_PACK16,              2,  1,1,   Unorm,   "a4r4g4b4",          "SLRWCBUV";
    R5G6B5_UNORM_PACK16,                2,  1,1,   Unorm,   "b5g6r5",            "SLRWCBUV";
    B5G6R5_UNORM_PACK16,                2,  1,1,   Unorm,   "r5g6b5",            "SLRWCBUV";
    R5G5B5A1_UNORM_PACK16,              2,  1,1,   Unorm,   "a1b5g5r5",          "SLRWCBUV";
    B5G5R5A1_UNORM_PACK16,              2,  1,1,   Unorm,   "a1r5g5b5",          "SLRWCBUV";
    A1R5G5B5_UNORM_PACK16,              2,  1,1,   Unorm,   "b5g5r5a1",          "SLRWCBUV";
    R8_UNORM,                           1,  1,1,   Unorm,   "r8",                "SLRWCBIUTV";
    R8_SNORM,                           1,  1,1,   Snorm,   "r8",                "SLRWCIUTV";
    R8_USCALED,                         1,  1,1,   Uscaled, "r8",                "V";
    R8_SSCALED,                         1,  1,1,   Sscaled, "r8",                "V";
    R8_UINT,                            1,  1,1,   Uint,    "r8",                "SRWCIUTV";
    R8_SINT,                            1,  1,1,   Sint,    "r8",                "SRWCIUTV";
    R8_SRGB,                            1,  1,1,   Srgb,    "r8",                "SLRWCB";
    R8G8_UNORM,                         2,  1,1,   Unorm,   "r8g8",              "SLRWCBIUTV";
    R8G8_SNORM,                         2,  1,1,   Snorm,   "r8g8",              "SLRWCIUTV";
    R8G8_USCALED,                       2,  1,1,   Uscaled, "r8g8",              "V";
    R8G8_SSCALED,                       2,  1,1,   Sscaled, "r8g8",              "V";
    R8G8_UINT,                          2,  1,1,   Uint,    "r8g8",              "SRWCIUTV";
    R8G8_SINT,                          2,  1,1,   Sint,    "r8g8",              "SRWCIUTV";
    R8G8_SRGB,                          2,  1,1,   Srgb,    "r8g8",              "SLRWCB";
    R8G8B8_UNORM,                       3,  1,1,   Unorm,   "r8g8b8",            "UV";
    R8G8B8_SNORM,                       3,  1,1,   Snorm,   "r8g8b8",            "UV";
    R8G8B8_USCALED,                     3,  1,1,   Uscaled, "r8g8b8",            "V";
    R8G8B8_SSCALED,                     3,  1,1,   Sscaled, "r8g8b8",            "V";
    R8G8B8_UINT,                        3,  1,1,   Uint,    "r8g8b8",            "UV";
    R8G8B8_SINT,                        3,  1,1,   Sint,    "r8g8b8",            "UV";
    R8G8B8_SRGB,                        3,  1,1,   Srgb,    "r8g8b8",            "";
    B8G8R8_UNORM,                       3,  1,1,   Unorm,   "b8g8r8",            "UV";
    B8G8R8_SNORM,                       3,  1,1,   Snorm,   "b8g8r8",            "UV";
    B8G8R8_USCALED,                     3,  1,1,   Uscaled, "b8g8r8",            "V";
    B8G8R8_SSCALED,                     3,  1,1,   Sscaled, "b8g8r8",            "V";
    B8G8R8_UINT,                        3,  1,1,   Uint,    "b8g8r8",            "UV";
    B8G8R8_SINT,                        3,  1,1,   Sint,    "b8g8r8",            "UV";
    B8G8R8_SRGB,                        3,  1,1,   Srgb,    "b8g8r8",            "";
    R8G8B8A8_UNORM,                     4,  1,1,   Unorm,   "r8g8b8a8",          "SLRWCBIUTV";
    R8G8B8A8_SNORM,                     4,  1,1,   Snorm,   "r8g8b8a8",          "SLRWCIUTV";
    R8G8B8A8_USCALED,                   4,  1,1,   Uscaled, "r8g8b8a8",          "V";
    R8G8B8A8_SSCALED,                   4,  1,1,   Sscaled, "r8g8b8a8",          "V";
    R8G8B8A8_UINT,                      4,  1,1,   Uint,    "r8g8b8a8",          "SRWCIUTV";
    R8G8B8A8_SINT,                      4,  1,1,   Sint,    "r8g8b8a8",          "SRWCIUTV";
    R8G8B8A8_SRGB,                      4,  1,1,   Srgb,    "r8g8b8a8",          "SLRWCBU";
    B8G8R8A8_UNORM,                     4,  1,1,   Unorm,   "b8g8r8a8",          "SLRWCBIUTV";
    B8G8R8A8_SNORM,                     4,  1,1,   Snorm,   "b8g8r8a8",          "SLRWCUV";
    B8G8R8A8_USCALED,                   4,  1,1,   Uscaled, "b8g8r8a8",          "V";
    B8G8R8A8_SSCALED,                   4,  1,1,   Sscaled, "b8g8r8a8",          "V";
    B8G8R8A8_UINT,                      4,  1,1,   Uint,    "b8g8r8a8",          "SRWCUV";
    B8G8R8A8_SINT,                      4,  1,1,   Sint,    "b8g8r8a8",          "SRWCUV";
    B8G8R8A8_SRGB,                      4,  1,1,   Srgb,    "b8g8r8a8",          "SLRWCBU";
    A8B8G8R8_UNORM_PACK32,              4,  1,1,   Unorm,   "r8g8b8a8",          "SLRWCBIUTV";
    A8B8G8R8_SNORM_PACK32,              4,  1,1,   Snorm,   "r8g8b8a8",          "SLRWCIUTV";
    A8B8G8R8_USCALED_PACK32,            4,  1,1,   Uscaled, "r8g8b8a8",          "V";
    A8B8G8R8_SSCALED_PACK32,            4,  1,1,   Sscaled, "r8g8b8a8",          "V";
    A8B8G8R8_UINT_PACK32,               4,  1,1,   Uint,    "r8g8b8a8",          "SRWCIUTV";
    A8B8G8R8_SINT_PACK32,               4,  1,1,   Sint,    "r8g8b8a8",          "SRWCIUTV";
    A8B8G8R8_SRGB_PACK32,               4,  1,1,   Srgb,    "r8g8b8a8",          "SLRWCBU";
    A2R10G10B10_UNORM_PACK32,           4,  1,1,   Unorm,   "b10g10r10a2",       "SLRWCBUV";
    A2R10G10B10_SNORM_PACK32,           4,  1,1,   Snorm,   "b10g10r10a2",       "SLRWCUV";
    A2R10G10B10_USCALED_PACK32,         4,  1,1,   Uscaled, "b10g10r10a2",       "V";
    A2R10G10B10_SSCALED_PACK32,         4,  1,1,   Sscaled, "b10g10r10a2",       "V";
    A2R10G10B10_UINT_PACK32,            4,  1,1,   Uint,    "b10g10r10a2",       "SRWCUV";
    A2R10G10B10_SINT_PACK32,            4,  1,1,   Sint,    "b10g10r10a2",       "";
    A2B10G10R10_UNORM_PACK32,           4,  1,1,   Unorm,   "r10g10b10a2",       "SLRWCBIUTV";
    A2B10G10R10_SNORM_PACK32,           4,  1,1,   Snorm,   "r10g10b10a2",       "SLRWCUV";
    A2B10G10R10_USCALED_PACK32,         4,  1,1,   Uscaled, "r10g10b10a2",       "V";
    A2B10G10R10_SSCALED_PACK32,         4,  1,1,   Sscaled, "r10g10b10a2",       "V";
    A2B10G10R10_UINT_PACK32,            4,  1,1,   Uint,    "r10g10b10a2",       "SRWCIUTV";
    A2B10G10R10_SINT_PACK32,            4,  1,1,   Sint,    "r10g10b10a2",       "";
    R16_UNORM,                          2,  1,1,   Unorm,   "r16",               "SLRWCBIUTV";
    R16_SNORM,                          2,  1,1,   Snorm,   "r16",               "SLRWCIUTV";
    R16_USCALED,                        2,  1,1,   Uscaled, "r16",               "V";
    R16_SSCALED,                        2,  1,1,   Sscaled, "r16",               "V";
    R16_UINT,                           2,  1,1,   Uint,    "r16",               "SRWCIUTV";
    R16_SINT,                           2,  1,1,   Sint,    "r16",               "SRWCIUTV";
    R16_SFLOAT,                         2,  1,1,   Sfloat,  "r16",               "SLRWCBIUTV";
    R16G16_UNORM,                       4,  1,1,   Unorm,   "r16g16",            "SLRWCBIUTV";
    R16G16_SNORM,                       4,  1,1,   Snorm,   "r16g16",            "SLRWCIUTV";
    R16G16_USCALED,                     4,  1,1,   Uscaled, "r16g16",            "V";
    R16G16_SSCALED,                     4,  1,1,   Sscaled, "r16g16",            "V";
    R16G16_UINT,                        4,  1,1,   Uint,    "r16g16",            "SRWCIUTV";
    R16G16_SINT,                        4,  1,1,   Sint,    "r16g16",            "SRWCIUTV";
    R16G16_SFLOAT,                      4,  1,1,   Sfloat,  "r16g16",            "SLRWCBIUTV";
    R16G16B16_UNORM,                    6,  1,1,   Unorm,   "r16g16b16",         "UV";
    R16G16B16_SNORM,                    6,  1,1,   Snorm,   "r16g16b16",         "UV";
    R16G16B16_USCALED,                  6,  1,1,   Uscaled, "r16g16b16",         "V";
    R16G16B16_SSCALED,                  6,  1,1,   Sscaled, "r16g16b16",         "V";
    R16G16B16_UINT,                     6,  1,1,   Uint,    "r16g16b16",         "UV";
    R16G16B16_SINT,                     6,  1,1,   Sint,    "r16g16b16",         "UV";
    R16G16B16_SFLOAT,                   6,  1,1,   Sfloat,  "r16g16b16",         "UV";
    R16G16B16A16_UNORM,                 8,  1,1,   Unorm,   "r16g16b16a16",      "SLRWCBIUTV";
    R16G16B16A16_SNORM,                 8,  1,1,   Snorm,   "r16g16b16a16",      "SLRWCIUTV";
    R16G16B16A16_USCALED,               8,  1,1,   Uscaled, "r16g16b16a16",      "V";
    R16G16B16A16_SSCALED,               8,  1,1,   Sscaled, "r16g16b16a16",      "V";
    R16G16B16A16_UINT,                  8,  1,1,   Uint,    "r16g16b16a16",      "SRWCIUTV";
    R16G16B16A16_SINT,                  8,  1,1,   Sint,    "r16g16b16a16",      "SRWCIUTV";
    R16G16B16A16_SFLOAT,                8,  1,1,   Sfloat,  "r16g16b16a16",      "SLRWCBIUTV";
    R32_UINT,                           4,  1,1,   Uint,    "r32",               "SRWCIAUTV";
    R32_SINT,                           4,  1,1,   Sint,    "r32",               "SRWCIAUTV";
    R32_SFLOAT,                         4,  1,1,   Sfloat,  "r32",               "SLRWCBIAUTV";
    R32G32_UINT,                        8,  1,1,   Uint,    "r32g32",            "SRWCIUTV";
    R32G32_SINT,                        8,  1,1,   Sint,    "r32g32",            "SRWCIUTV";
    R32G32_SFLOAT,                      8,  1,1,   Sfloat,  "r32g32",            "SLRWCBIUTV";
    R32G32B32_UINT,                     12, 1,1,   Uint,    "r32g32b32",         "SRWCUV";
    R32G32B32_SINT,                     12, 1,1,   Sint,    "r32g32b32",         "SRWCUV";
    R32G32B32_SFLOAT,                   12, 1,1,   Sfloat,  "r32g32b32",         "SLRWCBUV";
    R32G32B32A32_UINT,                  16, 1,1,   Uint,    "r32g32b32a32",      "SRWCIUTV";
    R32G32B32A32_SINT,                  16, 1,1,   Sint,    "r32g32b32a32",      "SRWCIUTV";
    R32G32B32A32_SFLOAT,                16, 1,1,   Sfloat,  "r32g32b32a32",      "SLRWCBIUTV";
    R64_UINT,                           8,  1,1,   Uint,    "r64",               "IAUTV";
    R64_SINT,                           8,  1,1,   Sint,    "r64",               "IAUTV";
    R64_SFLOAT,                         8,  1,1,   Sfloat,  "r64",               "V";
    R64G64_UINT,                        16, 1,1,   Uint,    "r64g64",            "V";
    R64G64_SINT,                        16, 1,1,   Sint,    "r64g64",            "V";
    R64G64_SFLOAT,                      16, 1,1,   Sfloat,  "r64g64",            "V";
    R64G64B64_UINT,                     24, 1,1,   Uint,    "r64g64b64",         "V";
    R64G64B64_SINT,                     24, 1,1,   Sint,    "r64g64b64",         "V";
    R64G64B64_SFLOAT,                   24, 1,1,   Sfloat,  "r64g64b64",         "V";
    R64G64B64A64_UINT,                  32, 1,1,   Uint,    "r64g64b64a64",      "V";
    R64G64B64A64_SINT,                  32, 1,1,   Sint,    "r64g64b64a64",      "V";
    R64G64B64A64_SFLOAT,                32, 1,1,   Sfloat,  "r64g64b64a64",      "V";
    B10G11R11_UFLOAT_PACK32,            4,  1,1,   Ufloat,  "r11g11b10",         "SLRWCBIUTV";
    E5B9G9R9_UFLOAT_PACK32,             4,  1,1,   Ufloat,  "r9g9b9e5",          "SLRUV";
    D16_UNORM,                          2,  1,1,   Unorm,   "d16",               "SLRWD";
    X8_D24_UNORM_PACK32,                4,  1,1,   Unorm,   "d24x8",             "SLRWD";
    D32_SFLOAT,                         4,  1,1,   Sfloat,  "d32",               "SLRWD";
    S8_UINT,                            1,  1,1,   Uint,    "s8",                "SRWD";
    D16_UNORM_S8_UINT,                  3,  1,1,   Unorm,   "d16s8",             "SLRWD";
    D24_UNORM_S8_UINT,                  4,  1,1,   Unorm,   "d24s8",             "SLRWD";
    D32_SFLOAT_S8_UINT,                 5,  1,1,   Sfloat,  "d32s8",             "SLRWD";
    BC1_RGB_UNORM_BLOCK,                8,  4,4,   Unorm,   "rgb",               "SLR";
    BC1_RGB_SRGB_BLOCK,                 8,  4,4,   Srgb,    "rgb",               "SLR";
    BC1_RGBA_UNORM_BLOCK,               8,  4,4,   Unorm,   "rgba",              "SLR";
    BC1_RGBA_SRGB_BLOCK,                8,  4,4,   Srgb,    "rgba",              "SLR";
    BC2_UNORM_BLOCK,                    16, 4,4,   Unorm,   "rgba",              "SLR";
    BC2_SRGB_BLOCK,                     16, 4,4,   Srgb,    "rgba",              "SLR";
    BC3_UNORM_BLOCK,                    16, 4,4,   Unorm,   "rgba",              "SLR";
    BC3_SRGB_BLOCK,                     16, 4,4,   Srgb,    "rgba",              "SLR";
    BC4_UNORM_BLOCK,                    8,  4,4,   Unorm,   "r",                 "SLR";
    BC4_SNORM_BLOCK,                    8,  4,4,   Snorm,   "r",                 "SLR";
    BC5_UNORM_BLOCK,                    16, 4,4,   Unorm,   "rg",                "SLR";
    BC5_SNORM_BLOCK,                    16, 4,4,   Snorm,   "rg",                "SLR";
    BC6H_UFLOAT_BLOCK,                  16, 4,4,   Ufloat,  "rgb",               "SLR";
    BC6H_SFLOAT_BLOCK,                  16, 4,4,   Sfloat,  "rgb",               "SLR";
    BC7_UNORM_BLOCK,                    16, 4,4,   Unorm,   "rgba",              "SLR";
    BC7_SRGB_BLOCK,                     16, 4,4,   Srgb,    "rgba",              "SLR";
    ETC2_R8G8B8_UNORM_BLOCK,            8,  4,4,   Unorm,   "rgb",               "SLR";
    ETC2_R8G8B8_SRGB_BLOCK,             8,  4,4,   Srgb,    "rgb",               "SLR";
    ETC2_R8G8B8A1_UNORM_BLOCK,          8,  4,4,   Unorm,   "rgba",              "SLR";
    ETC2_R8G8B8A1_SRGB_BLOCK,           8,  4,4,   Srgb,    "rgba",              "SLR";
    ETC2_R8G8B8A8_UNORM_BLOCK,          16, 4,4,   Unorm,   "rgba",              "SLR";
    ETC2_R8G8B8A8_SRGB_BLOCK,           16, 4,4,   Srgb,    "rgba",              "SLR";
    EAC_R11_UNORM_BLOCK,                8,  4,4,   Unorm,   "r",                 "SLR";
    EAC_R11_SNORM_BLOCK,                8,  4,4,   Snorm,   "r",                 "SLR";
    EAC_R11G11_UNORM_BLOCK,             16, 4,4,   Unorm,   "rg",                "SLR";
    EAC_R11G11_SNORM_BLOCK,             16, 4,4,   Snorm,   "rg",                "SLR";
    ASTC_4X4_UNORM_BLOCK,               16, 4,4,   Unorm,   "rgba",              "SLR";
    ASTC_4X4_SRGB_BLOCK,                16, 4,4,   Srgb,    "rgba",              "SLR";
    ASTC_5X4_UNORM_BLOCK,               16, 5,4,   Unorm,   "rgba",              "SLR";
    ASTC_5X4_SRGB_BLOCK,                16, 5,4,   Srgb,    "rgba",              "SLR";
    ASTC_5X5_UNORM_BLOCK,               16, 5,5,   Unorm,   "rgba",              "SLR";
    ASTC_5X5_SRGB_BLOCK,                16, 5,5,   Srgb,    "rgba",              "SLR";
    ASTC_6X5_UNORM_BLOCK,               16, 6,5,   Unorm,   "rgba",              "SLR";
    ASTC_6X5_SRGB_BLOCK,                16, 6,5,   Srgb,    "rgba",              "SLR";
    ASTC_6X6_UNORM_BLOCK,               16, 6,6,   Unorm,   "rgba",              "SLR";
    ASTC_6X6_SRGB_BLOCK,                16, 6,6,   Srgb,    "rgba",              "SLR";
    ASTC_8X5_UNORM_BLOCK,               16, 8,5,   Unorm,   "rgba",              "SLR";
    ASTC_8X5_SRGB_BLOCK,                16, 8,5,   Srgb,    "rgba",              "SLR";
    ASTC_8X6_UNORM_BLOCK,               16, 8,6,   Unorm,   "rgba",              "SLR";
    ASTC_8X6_SRGB_BLOCK,                16, 8,6,   Srgb,    "rgba",              "SLR";
    ASTC_8X8_UNORM_BLOCK,               16, 8,8,   Unorm,   "rgba",              "SLR";
    ASTC_8X8_SRGB_BLOCK,                16, 8,8,   Srgb,    "rgba",              "SLR";
    ASTC_10X5_UNORM_BLOCK,              16, 10,5,  Unorm,   "rgba",              "SLR";
    ASTC_10X5_SRGB_BLOCK,               16, 10,5,  Srgb,    "rgba",              "SLR";
    ASTC_10X6_UNORM_BLOCK,              16, 10,6,  Unorm,   "rgba",              "SLR";
    ASTC_10X6_SRGB_BLOCK,               16, 10,6,  Srgb,    "rgba",              "SLR";
    ASTC_10X8_UNORM_BLOCK,              16, 10,8,  Unorm,   "rgba",              "SLR";
    ASTC_10X8_SRGB_BLOCK,               16, 10,8,  Srgb,    "rgba",              "SLR";
    ASTC_10X10_UNORM_BLOCK,             16, 10,10, Unorm,   "rgba",              "SLR";
    ASTC_10X10_SRGB_BLOCK,              16, 10,10, Srgb,    "rgba",              "SLR";
    ASTC_12X10_UNORM_BLOCK,             16, 12,10, Unorm,   "rgba",              "SLR";
    ASTC_12X10_SRGB_BLOCK,              16, 12,10, Srgb,    "rgba",              "SLR";
    ASTC_12X12_UNORM_BLOCK,             16, 12,12, Unorm,   "rgba",              "SLR";
    ASTC_12X12_SRGB_BLOCK,              16, 12,12, Srgb,    "rgba",              "SLR";
    ASTC_4X4_SFLOAT_BLOCK,              16, 4,4,   Sfloat,  "rgba",              "SLR";
    ASTC_5X4_SFLOAT_BLOCK,              16, 5,4,   Sfloat,  "rgba",              "SLR";
    ASTC_5X5_SFLOAT_BLOCK,              16, 5,5,   Sfloat,  "rgba",              "SLR";
    ASTC_6X5_SFLOAT_BLOCK,              16, 6,5,   Sfloat,  "rgba",              "SLR";
    ASTC_6X6_SFLOAT_BLOCK,              16, 6,6,   Sfloat,  "rgba",              "SLR";
    ASTC_8X5_SFLOAT_BLOCK,              16, 8,5,   Sfloat,  "rgba",              "SLR";
    ASTC_8X6_SFLOAT_BLOCK,              16, 8,6,   Sfloat,  "rgba",              "SLR";
    ASTC_8X8_SFLOAT_BLOCK,              16, 8,8,   Sfloat,  "rgba",              "SLR";
    ASTC_10X5_SFLOAT_BLOCK,             16, 10,5,  Sfloat,  "rgba",              "SLR";
    ASTC_10X6_SFLOAT_BLOCK,             16, 10,6,  Sfloat,  "rgba",              "SLR";
    ASTC_10X8_SFLOAT_BLOCK,             16, 10,8,  Sfloat,  "rgba",              "SLR";
    ASTC_10X10_SFLOAT_BLOCK,            16, 10,10, Sfloat,  "rgba",              "SLR";
    ASTC_12X10_SFLOAT_BLOCK,            16, 12,10, Sfloat,  "rgba",              "SLR";
    ASTC_12X12_SFLOAT_BLOCK,            16, 12,12, Sfloat,  "rgba",              "SLR";
    G8B8G8R8_422_UNORM,                         4,  2,1,   Unorm,   "g8b8g8r8", "";
    B8G8R8G8_422_UNORM,                         4,  2,1,   Unorm,   "b8g8r8g8", "";
    G8_B8_R8_3PLANE_420_UNORM,                  1,  1,1,   Unorm,   "g8", "";
    G8_B8R8_2PLANE_420_UNORM,                   1,  1,1,   Unorm,   "g8", "";
    G8_B8_R8_3PLANE_422_UNORM,                  1,  1,1,   Unorm,   "g8", "";
    G8_B8R8_2PLANE_422_UNORM,                   1,  1,1,   Unorm,   "g8", "";
    G8_B8_R8_3PLANE_444_UNORM,                  1,  1,1,   Unorm,   "g8", "";
    R10X6_UNORM_PACK16,                 2,  1,1,   Unorm,   "x6r10",             "SLRWCBIUT";
    R10X6G10X6_UNORM_2PACK16,           4,  1,1,   Unorm,   "x6r10x6g10",        "SLRWCBIUT";
    R10X6G10X6B10X6A10X6_UNORM_4PACK16, 8,  1,1,   Unorm,   "x6r10x6g10x6b10x6a10", "SLRWCBIUT";
    G10X6B10X6G10X6R10X6_422_UNORM_4PACK16,     8,  2,1,   Unorm,   "x6g10x6b10x6g10x6r10", "";
    B10X6G10X6R10X6G10X6_422_UNORM_4PACK16,     8,  2,1,   Unorm,   "x6b10x6g10x6r10x6g10", "";
    G10X6_B10X6_R10X6_3PLANE_420_UNORM_3PACK16, 2,  1,1,   Unorm,   "x6g10", "";
    G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16,  2,  1,1,   Unorm,   "x6g10", "";
    G10X6_B10X6_R10X6_3PLANE_422_UNORM_3PACK16, 2,  1,1,   Unorm,   "x6g10", "";
    G10X6_B10X6R10X6_2PLANE_422_UNORM_3PACK16,  2,  1,1,   Unorm,   "x6g10", "";
    G10X6_B10X6_R10X6_3PLANE_444_UNORM_3PACK16, 2,  1,1,   Unorm,   "x6g10", "";
    R12X4_UNORM_PACK16,                 2,  1,1,   Unorm,   "x4r12",             "SLRWCBIUT";
    R12X4G12X4_UNORM_2PACK16,           4,  1,1,   Unorm,   "x4r12x4g12",        "SLRWCBIUT";
    R12X4G12X4B12X4A12X4_UNORM_4PACK16, 8,  1,1,   Unorm,   "x4r12x4g12x4b12x4a12", "SL";
    G12X4B12X4G12X4R12X4_422_UNORM_4PACK16,     8,  2,1,   Unorm,   "x4g12x4b12x4g12x4r12", "";
    B12X4G12X4R12X4G12X4_422_UNORM_4PACK16,     8,  2,1,   Unorm,   "x4b12x4g12x4r12x4g12", "";
    G12X4_B12X4_R12X4_3PLANE_420_UNORM_3PACK16, 2,  1,1,   Unorm,   "x4g12", "";
    G12X4_B12X4R12X4_2PLANE_420_UNORM_3PACK16,  2,  1,1,   Unorm,   "x4g12", "";
    G12X4_B12X4_R12X4_3PLANE_422_UNORM_3PACK16, 2,  1,1,   Unorm,   "x4g12", "";
    G12X4_B12X4R12X4_2PLANE_422_UNORM_3PACK16,  2,  1,1,   Unorm,   "x4g12", "";
    G12X4_B12X4_R12X4_3PLANE_444_UNORM_3PACK16, 2,  1,1,   Unorm,   "x4g12", "";
    G16B16G16R16_422_UNORM,                     8,  2,1,   Unorm,   "g16b16g16r16", "";
    B16G16R16G16_422_UNORM,                     8,  2,1,   Unorm,   "b16g16r16g16", "";
    G16_B16_R16_3PLANE_420_UNORM,               2,  1,1,   Unorm,   "g16", "";
    G16_B16R16_2PLANE_420_UNORM,                2,  1,1,   Unorm,   "g16", "";
    G16_B16_R16_3PLANE_422_UNORM,               2,  1,1,   Unorm,   "g16", "";
    G16_B16R16_2PLANE_422_UNORM,                2,  1,1,   Unorm,   "g16", "";
    G16_B16_R16_3PLANE_444_UNORM,               2,  1,1,   Unorm,   "g16", "";
    G8_B8R8_2PLANE_444_UNORM,                   1,  1,1,   Unorm,   "g8", "";
    G10X6_B10X6R10X6_2PLANE_444_UNORM_3PACK16,  2,  1,1,   Unorm,   "x6g10", "";
    G12X4_B12X4R12X4_2PLANE_444_UNORM_3PACK16,  2,  1,1,   Unorm,   "x4g12", "";
    G16_B16R16_2PLANE_444_UNORM,                2,  1,1,   Unorm,   "g16", "";
    A4R4G4B4_UNORM_PACK16,              2,  1,1,   Unorm,   "b4g4r4a4",          "SLRWCB";
    A4B4G4R4_UNORM_PACK16,              2,  1,1,   Unorm,   "r4g4b4a4",          "SLRWCB";
    A1B5G5R5_UNORM_PACK16_KHR,          2,  1,1,   Unorm,   "r5g5b5a1",          "SLRWCB";
    A8_UNORM_KHR,                       1,  1,1,   Unorm,   "a8",                "SLRWCBIUTV";
    R10X6_UINT_PACK16_ARM,              2,  1,1,   Uint,    "x6r10",             "SRWCIUT";
    R10X6G10X6_UINT_2PACK16_ARM,        4,  1,1,   Uint,    "x6r10x6g10",        "SRWCIUT";
    R10X6G10X6B10X6A10X6_UINT_4PACK16_ARM, 8, 1,1, Uint,    "x6r10x6g10x6b10x6a10", "SRWCIUT";
    R12X4_UINT_PACK16_ARM,              2,  1,1,   Uint,    "x4r12",             "SRWCIUT";
    R12X4G12X4_UINT_2PACK16_ARM,        4,  1,1,   Uint,    "x4r12x4g12",        "SRWCIUT";
    R12X4G12X4B12X4A12X4_UINT_4PACK16_ARM, 8, 1,1, Uint,    "x4r12x4g12x4b12x4a12", "SRWCIUT";
    R14X2_UINT_PACK16_ARM,              2,  1,1,   Uint,    "x2r14",             "SRWCIUT";
    R14X2G14X2_UINT_2PACK16_ARM,        4,  1,1,   Uint,    "x2r14x2g14",        "SRWCIUT";
    R14X2G14X2B14X2A14X2_UINT_4PACK16_ARM, 8, 1,1, Uint,    "x2r14x2g14x2b14x2a14", "SRWCIUT";
    R14X2_UNORM_PACK16_ARM,             2,  1,1,   Unorm,   "x2r14",             "SLRWCBIUT";
    R14X2G14X2_UNORM_2PACK16_ARM,       4,  1,1,   Unorm,   "x2r14x2g14",        "SLRWCBIUT";
    R14X2G14X2B14X2A14X2_UNORM_4PACK16_ARM, 8, 1,1, Unorm,  "x2r14x2g14x2b14x2a14", "SLRWCBIUT";
    G14X2_B14X2R14X2_2PLANE_420_UNORM_3PACK16_ARM, 2, 1,1, Unorm, "x2g14", "";
    G14X2_B14X2R14X2_2PLANE_422_UNORM_3PACK16_ARM, 2, 1,1, Unorm, "x2g14", "";
};

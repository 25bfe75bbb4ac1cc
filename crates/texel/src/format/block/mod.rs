//! Compressed blocks: decoded on read.
//!
//! A block decodes to raw texels, row by row from the top left; sRGB is linear by then. Sources: Khronos Data Format
//! Specification, chapters on S3TC, RGTC, BPTC, ETC2/EAC and ASTC.

mod astc;
mod astc_hdr;
mod astc_sequence;
mod bc;
mod bc6h;
mod bc7;
mod bptc;
mod bptc_tables;
mod cache;
mod etc2;
mod gather;
pub mod lanes;
mod packed;
mod shape;

pub use cache::{Cached, cached};
#[cfg(test)]
pub(crate) use gather::texels_of_blocks_anywhere;
pub use gather::{Known, WITHIN, gather, known};
#[cfg(test)]
pub(crate) use packed::packed_texels_are_the_decoded_ones;
pub use packed::{Decode, Packing, RAMP, decoder, packing};
pub use shape::Shape;

use super::{FormatInfo, num};
use ash::vk;
use std::cell::RefCell;

/// Texels of the largest block, 12×12.
pub const MAX_TEXELS: usize = 144;
/// A decoded block; texel (x, y) is at `y * block_width + x`.
pub type BlockTexels = [[u32; 4]; MAX_TEXELS];
pub const EMPTY: BlockTexels = [[0; 4]; MAX_TEXELS];

/// Formats of ASTC's HDR profile.
pub const fn is_astc_hdr(format: vk::Format) -> bool {
    format.as_raw() >= vk::Format::ASTC_4X4_SFLOAT_BLOCK.as_raw()
        && format.as_raw() <= vk::Format::ASTC_12X12_SFLOAT_BLOCK.as_raw()
}

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
    Astc(AstcTo),
}

/// What ASTC blocks become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AstcTo {
    Halves,
    /// Halves, of blocks that may be of the HDR profile.
    Hdr,
    Bytes,
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
                // Each format of normalised numbers is followed by its sRGB one.
                let srgb = (f.as_raw() - F::ASTC_4X4_UNORM_BLOCK.as_raw()) % 2 == 1;
                BlockKind::Astc(if srgb { AstcTo::Bytes } else { AstcTo::Halves })
            }
            f if is_astc_hdr(f) => BlockKind::Astc(AstcTo::Hdr),
            _ => return None,
        })
    }
}

/// What eight-bit colours become.
trait Paint: Copy {
    type Texel: Copy;
    fn of(self, c: [u8; 4]) -> Self::Texel;
    /// Replaces a texel's alpha.
    fn alpha(self, t: &mut Self::Texel, a: u8);
}

type Texels<C> = [<C as Paint>::Texel; MAX_TEXELS];

/// Raw texels, through the sRGB curve if `srgb`; alpha is always linear.
#[derive(Clone, Copy)]
struct Color8 {
    srgb: bool,
}

impl Paint for Color8 {
    type Texel = [u32; 4];
    fn of(self, c: [u8; 4]) -> [u32; 4] {
        let f = |v: u8| if self.srgb { num::srgb8_to_f32(v) } else { v as f32 / 255.0 };
        [f(c[0]), f(c[1]), f(c[2]), c[3] as f32 / 255.0].map(f32::to_bits)
    }
    fn alpha(self, t: &mut [u32; 4], a: u8) {
        t[3] = (a as f32 / 255.0).to_bits();
    }
}

/// Decodes one block of a compressed format. `bytes` is the block; other formats and short slices give zeros.
pub fn decode(info: &FormatInfo, bytes: &[u8], out: &mut BlockTexels) {
    let super::TexelKind::Block(kind) = info.kind else { return };
    let Some(bytes) = bytes.get(..info.block_bytes as usize) else { return };
    let mut wide = [0u8; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let block = u128::from_le_bytes(wide);
    let (lo, hi) = (block as u64, (block >> 64) as u64);
    let color = Color8 { srgb: info.is_srgb() };
    match kind {
        BlockKind::Bc1 { alpha } => bc::bc1(lo, alpha, color, out),
        BlockKind::Bc2 => bc::bc2(lo, hi, color, out),
        BlockKind::Bc3 => bc::bc3(lo, hi, color, out),
        BlockKind::Bc4 { signed } => bc::bc4(lo, None, signed, out),
        BlockKind::Bc5 { signed } => bc::bc4(lo, Some(hi), signed, out),
        BlockKind::Bc6h { signed } => bptc::bc6h(block, signed, |t, c| {
            let [r, g, b] = c.map(|v| num::f16_to_f32(v).to_bits());
            out[t] = [r, g, b, 1f32.to_bits()];
        }),
        BlockKind::Bc7 => bptc::bc7(block, color, out),
        BlockKind::Etc2Rgb => etc2::rgb(lo.swap_bytes(), false, color, out),
        BlockKind::Etc2Rgba1 => etc2::rgb(lo.swap_bytes(), true, color, out),
        BlockKind::Etc2Rgba8 => etc2::rgba8(lo.swap_bytes(), hi.swap_bytes(), color, out),
        BlockKind::EacR11 { signed } | BlockKind::EacRg11 { signed } => {
            let green = matches!(kind, BlockKind::EacRg11 { .. }).then(|| hi.swap_bytes());
            let most = etc2::MOST[signed as usize] as f32;
            etc2::r11(lo.swap_bytes(), green, signed, |t, c| {
                let [r, g] = c.map(|v| (v as f32 / most).to_bits());
                out[t] = [r, g, 0, 1f32.to_bits()];
            });
        }
        BlockKind::Astc(to) => {
            astc::decode(block, info.block_extent, astc::Raw { to, srgb: color.srgb }, out);
        }
    }
}

/// Blocks remembered by each thread.
const CACHE: usize = 64;

struct Cache {
    keys: [Option<(i32, [u8; 16])>; CACHE],
    blocks: Box<[BlockTexels; CACHE]>,
}

thread_local! {
    static BLOCKS: RefCell<Option<Box<Cache>>> = const { RefCell::new(None) };
}

/// One texel of a block, through a small cache a thread keeps. The key is the block's content, so nothing ever has to
/// be thrown away when memory changes.
pub fn texel(info: &FormatInfo, bytes: &[u8], x: u32, y: u32) -> [u32; 4] {
    let mut key = [0u8; 16];
    let n = bytes.len().min(16);
    key[..n].copy_from_slice(&bytes[..n]);
    let word = u128::from_le_bytes(key);
    let hash =
        ((word as u64 ^ (word >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize % CACHE;
    let at = ((y * info.block_extent[0] + x) as usize).min(MAX_TEXELS - 1);
    let tag = Some((info.format.as_raw(), key));
    BLOCKS.with_borrow_mut(|cache| {
        let cache = cache.get_or_insert_with(|| {
            let blocks =
                vec![EMPTY; CACHE].into_boxed_slice().try_into().unwrap_or_else(|_| Box::new([EMPTY; CACHE]));
            Box::new(Cache { keys: [None; CACHE], blocks })
        });
        if cache.keys[hash] != tag {
            decode(info, bytes, &mut cache.blocks[hash]);
            cache.keys[hash] = tag;
        }
        cache.blocks[hash][at]
    })
}

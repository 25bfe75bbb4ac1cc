//! Which images the modelled GPU keeps compressed as attachments (AFBC), and how much that saves: memory itself holds them as they are.

use crate::format::{FormatInfo, NumClass};
use ash::vk;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// All of a ratio.
const WHOLE: u64 = 1 << 16;

/// How much a compressed image takes, of what it holds uncompressed.
#[derive(Debug, Default)]
pub struct Packed {
    /// What has not been saved of [`WHOLE`], less that: 0 for an image that nobody has stored to.
    saved: AtomicU64,
    /// Of the pass under way: bytes of tiles that were looked at, what they take, and bytes of those that were not.
    looked: AtomicU64,
    taken: AtomicU64,
    others: AtomicU64,
}

impl Packed {
    /// What so many bytes of it take.
    pub fn size(&self, bytes: u64) -> u64 {
        let left = WHOLE - self.saved.load(Relaxed).min(WHOLE);
        ((bytes as u128 * left as u128).div_ceil(WHOLE as u128)) as u64
    }

    /// A tile of so many bytes takes so many.
    pub fn looked(&self, bytes: u64, taken: u64) {
        self.looked.fetch_add(bytes, Relaxed);
        self.taken.fetch_add(taken, Relaxed);
    }

    /// A tile of so many bytes was not looked at.
    pub fn not_looked(&self, bytes: u64) {
        self.others.fetch_add(bytes, Relaxed);
    }

    /// A pass has ended: the bytes that tiles which nobody looked at take less than they hold, for they are like those that were.
    pub fn settle(&self) -> u64 {
        let [looked, taken, others] = [&self.looked, &self.taken, &self.others].map(|n| n.swap(0, Relaxed));
        let part = |n: u64, all: u64| (n as u128 * taken as u128).div_ceil(all as u128) as u64;
        if looked == 0 {
            return 0;
        }
        self.saved.store(WHOLE - part(WHOLE, looked).min(WHOLE), Relaxed);
        others - part(others, looked).min(others)
    }

    /// A pass has ended in vain.
    pub fn forget(&self) {
        [&self.looked, &self.taken, &self.others].into_iter().for_each(|n| n.store(0, Relaxed));
    }
}

/// Formats that AFBC has, of those that Mali's drivers use it for: up to 32 bits of fixed-point channels, and depth and stencil like them.
fn has_format(f: &FormatInfo) -> bool {
    match f.format {
        vk::Format::D16_UNORM
        | vk::Format::X8_D24_UNORM_PACK32
        | vk::Format::D24_UNORM_S8_UINT
        | vk::Format::S8_UINT => true,
        _ => {
            matches!(f.class, NumClass::Unorm | NumClass::Srgb)
                && !f.compressed()
                && f.block_bytes <= 4
                && f.components().iter().all(|c| c.bits <= 10)
        }
    }
}

/// Whether the modelled driver keeps an image compressed: a flat one of one sample that render passes write, in tiling of its own, and that neither
/// shaders nor the host store to, and that no view sees as another format.
pub fn allowed(info: &vk::ImageCreateInfo, format: &FormatInfo) -> bool {
    use vk::ImageUsageFlags as Usage;
    let attachment = Usage::COLOR_ATTACHMENT | Usage::DEPTH_STENCIL_ATTACHMENT;
    let plain = vk::ImageCreateFlags::MUTABLE_FORMAT
        | vk::ImageCreateFlags::ALIAS
        | vk::ImageCreateFlags::EXTENDED_USAGE
        | vk::ImageCreateFlags::BLOCK_TEXEL_VIEW_COMPATIBLE;
    info.image_type == vk::ImageType::TYPE_2D
        && info.samples == vk::SampleCountFlags::TYPE_1
        && info.tiling == vk::ImageTiling::OPTIMAL
        && info.usage.intersects(attachment)
        && !info.usage.intersects(Usage::STORAGE | Usage::HOST_TRANSFER_EXT | super::TENSOR_ALIASING)
        && !info.flags.intersects(plain)
        && has_format(format)
}

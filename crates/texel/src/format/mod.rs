//! Formats: what each is, what it can do, and how its texels are read and written.
//!
//! - [`info`] answers from one declarative table (`table.rs`).
//! - [`Codec`] turns a texel's bytes into four raw 32-bit channels and back; loops over texels are monomorphised for
//!   the common formats with `with_codec!`, the rest take [`codec::Generic`].
//! - `warp` packs and unpacks sixteen texels at once, of any format; [`kernels`] chooses its form for the machine. [`wave`] does
//!   several warps, of texels that lie side by side.
//! - `block` decodes compressed blocks, and keeps decoded ones.
//! - [`plan`] says how the channels of any other format's texels are made, sixteen texels at a time.
//!
//! A *raw texel* is `[u32; 4]` in RGBA order. What the bits mean follows from [`FormatInfo::channel_class`]: `f32` bits
//! for every normalised, scaled and floating format, `u32` for UINT, `i32` for SINT. Missing channels read as 0, 0, 0
//! and one.

mod astc_bytes;
pub mod block;
pub mod codec;
pub mod kernels;
pub mod num;
mod pack;
pub mod pixels;
pub mod plan;
mod planar;
mod table;
mod warp;
pub mod wave;

pub use astc_bytes::decoded_to_bytes;
pub use codec::{Codec, TexelKind};
pub use planar::{MEMORY_PLANES, PLANE_ASPECTS, Packed422, Planar, packed422, planar, plane_index};

use ash::vk;

/// Numeric class of a format's (colour or depth) components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumClass {
    Unorm,
    Snorm,
    Uscaled,
    Sscaled,
    Uint,
    Sint,
    Sfloat,
    Ufloat,
    Srgb,
}

/// What the four 32-bit channels of a raw texel hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelClass {
    Float,
    Uint,
    Sint,
}

impl ChannelClass {
    /// The bits of the number one in this class.
    pub const fn one(self) -> u32 {
        match self {
            ChannelClass::Float => 0x3f80_0000,
            ChannelClass::Uint | ChannelClass::Sint => 1,
        }
    }
}

/// Capabilities of a format, a set of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps(u16);

impl Caps {
    pub const SAMPLED: Caps = Caps(1);
    pub const LINEAR: Caps = Caps(1 << 1);
    pub const BLIT_SRC: Caps = Caps(1 << 2);
    pub const BLIT_DST: Caps = Caps(1 << 3);
    pub const COLOR: Caps = Caps(1 << 4);
    pub const BLEND: Caps = Caps(1 << 5);
    pub const DEPTH_STENCIL: Caps = Caps(1 << 6);
    pub const STORAGE: Caps = Caps(1 << 7);
    pub const ATOMIC: Caps = Caps(1 << 8);
    pub const UNIFORM_TEXEL: Caps = Caps(1 << 9);
    pub const STORAGE_TEXEL: Caps = Caps(1 << 10);
    pub const VERTEX: Caps = Caps(1 << 11);

    pub const fn has(self, other: Caps) -> bool {
        self.0 & other.0 == other.0
    }

    const fn parse(letters: &str) -> Caps {
        const LETTERS: &[u8; 12] = b"SLRWCBDIAUTV";
        let s = letters.as_bytes();
        let (mut bits, mut i) = (0, 0);
        while i < s.len() {
            let mut k = 0;
            while LETTERS[k] != s[i] {
                k += 1;
            }
            bits |= 1 << k;
            i += 1;
        }
        Caps(bits)
    }
}

/// Where a component sits in a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component {
    /// 0 red, 1 green, 2 blue, 3 alpha; depth and the shared exponent have letters of their own.
    pub name: u8,
    /// First bit in the little-endian texel. 0 in compressed formats.
    pub offset: u8,
    /// Width in bits. 0 in compressed formats.
    pub bits: u8,
}

impl Component {
    /// Channel of a raw texel the component goes to; depth and stencil go to the first.
    pub const fn channel(self) -> usize {
        match self.name {
            b'g' => 1,
            b'b' => 2,
            b'a' => 3,
            _ => 0,
        }
    }
}

/// One row of the format table.
#[derive(Clone, Copy, Debug)]
pub struct FormatInfo {
    pub format: vk::Format,
    /// Name without the `VK_FORMAT_` prefix.
    pub name: &'static str,
    /// Bytes of a texel block, as buffers hold it (packed depth/stencil: as the format's name says).
    pub block_bytes: u32,
    /// Texels of a block, width, height, depth.
    pub block_extent: [u32; 3],
    pub class: NumClass,
    components: [Component; 5],
    component_count: u8,
    caps: Caps,
    pub kind: TexelKind,
}

impl FormatInfo {
    const fn row(
        format: vk::Format,
        name: &'static str,
        block_bytes: u32,
        block_extent: [u32; 3],
        class: NumClass,
        layout: &str,
        caps: Caps,
        kind: TexelKind,
    ) -> Self {
        let mut components = [Component { name: 0, offset: 0, bits: 0 }; 5];
        let s = layout.as_bytes();
        let (mut i, mut n, mut offset) = (0, 0, 0u8);
        while i < s.len() {
            let name = s[i];
            i += 1;
            let mut bits = 0;
            while i < s.len() && s[i].is_ascii_digit() {
                bits = bits * 10 + (s[i] - b'0');
                i += 1;
            }
            if name != b'x' {
                components[n] = Component { name, offset, bits };
                n += 1;
            }
            offset = offset.wrapping_add(bits);
        }
        FormatInfo {
            format,
            name,
            block_bytes,
            block_extent,
            class,
            components,
            component_count: n as u8,
            caps,
            kind,
        }
    }

    /// Components from the least significant bit upwards.
    pub fn components(&self) -> &[Component] {
        &self.components[..self.component_count as usize]
    }

    pub const fn has(&self, caps: Caps) -> bool {
        self.caps.has(caps)
    }
    pub const fn sampled(&self) -> bool {
        self.has(Caps::SAMPLED)
    }
    /// Linear filtering.
    pub const fn filterable(&self) -> bool {
        self.has(Caps::LINEAR)
    }
    /// Minimum and maximum reduction: every filterable format.
    pub const fn minmax(&self) -> bool {
        self.has(Caps::LINEAR)
    }
    pub const fn blit_src(&self) -> bool {
        self.has(Caps::BLIT_SRC)
    }
    pub const fn blit_dst(&self) -> bool {
        self.has(Caps::BLIT_DST)
    }
    pub const fn color_attachment(&self) -> bool {
        self.has(Caps::COLOR)
    }
    pub const fn blendable(&self) -> bool {
        self.has(Caps::BLEND)
    }
    pub const fn depth_stencil(&self) -> bool {
        self.has(Caps::DEPTH_STENCIL)
    }
    pub const fn storage(&self) -> bool {
        self.has(Caps::STORAGE)
    }
    pub const fn storage_atomic(&self) -> bool {
        self.has(Caps::ATOMIC)
    }
    pub const fn uniform_texel_buffer(&self) -> bool {
        self.has(Caps::UNIFORM_TEXEL)
    }
    pub const fn storage_texel_buffer(&self) -> bool {
        self.has(Caps::STORAGE_TEXEL)
    }
    pub const fn vertex(&self) -> bool {
        self.has(Caps::VERTEX)
    }
    /// True where images of the format exist at all (transfers are then allowed too).
    pub const fn image(&self) -> bool {
        self.sampled()
            || self.color_attachment()
            || self.depth_stencil()
            || self.storage()
            || self.in_planes()
    }
    /// A Y′CbCr format without capabilities of its own (`planar`).
    const fn in_planes(&self) -> bool {
        let raw = self.format.as_raw();
        self.caps.0 == 0
            && (raw >= vk::Format::G8B8G8R8_422_UNORM.as_raw()
                && raw <= vk::Format::G16_B16_R16_3PLANE_444_UNORM.as_raw()
                || raw >= vk::Format::G8_B8R8_2PLANE_444_UNORM.as_raw()
                    && raw <= vk::Format::G16_B16R16_2PLANE_444_UNORM.as_raw()
                || raw >= <vk::Format as pack::Pack>::G14X2_B14X2R14X2_2PLANE_420_UNORM_3PACK16_ARM.as_raw())
    }

    /// A block is two texels that share something (4:2:2), which cannot be written or read one by one.
    pub const fn paired(&self) -> bool {
        self.block_extent[0] == 2 && !self.compressed()
    }
    pub const fn compressed(&self) -> bool {
        matches!(self.kind, TexelKind::Block(_))
    }
    pub fn has_depth(&self) -> bool {
        self.components().iter().any(|c| c.name == b'd')
    }
    pub fn has_stencil(&self) -> bool {
        self.components().iter().any(|c| c.name == b's')
    }
    pub fn is_depth_stencil(&self) -> bool {
        self.has_depth() || self.has_stencil()
    }
    /// Whether the format has component `name` (`b'r'`, `b'g'`, `b'b'`, `b'a'`).
    pub fn has_component(&self, name: u8) -> bool {
        self.components().iter().any(|c| c.name == name)
    }

    /// Aspects of an image of the format.
    pub fn aspects(&self) -> vk::ImageAspectFlags {
        let mut a = vk::ImageAspectFlags::empty();
        if let Some(p) = planar(self.format) {
            return PLANE_ASPECTS[..p.planes.len()].iter().fold(a, |a, &p| a | p);
        }
        if self.has_depth() {
            a |= vk::ImageAspectFlags::DEPTH;
        }
        if self.has_stencil() {
            a |= vk::ImageAspectFlags::STENCIL;
        }
        if a.is_empty() { vk::ImageAspectFlags::COLOR } else { a }
    }

    /// What the channels of a raw texel of the (colour or depth) aspect hold.
    pub const fn channel_class(&self) -> ChannelClass {
        match self.class {
            NumClass::Uint => ChannelClass::Uint,
            NumClass::Sint => ChannelClass::Sint,
            _ => ChannelClass::Float,
        }
    }

    pub const fn is_integer(&self) -> bool {
        matches!(self.class, NumClass::Uint | NumClass::Sint)
    }
    pub const fn is_srgb(&self) -> bool {
        matches!(self.class, NumClass::Srgb)
    }
    /// Components of 64 bits, which a raw texel cannot hold: see [`codec::load64`].
    pub fn is_64bit(&self) -> bool {
        self.components().iter().any(|c| c.bits == 64)
    }

    /// Whether a texel is nothing but one to four numbers of 8, 16, 32 or 64 bits, one after the other, so that it can be a tensor's
    /// innermost dimension.
    pub fn is_of_elements(&self) -> bool {
        let all = self.components();
        let bits = all.first().map_or(0, |c| c.bits);
        matches!(bits, 8 | 16 | 32 | 64)
            && self.block_extent == [1; 3]
            && all.len() * bits as usize == 8 * self.block_bytes as usize
            && all.iter().enumerate().all(|(i, c)| (c.bits, c.offset as usize) == (bits, i * bits as usize))
            && !matches!(self.class, NumClass::Srgb | NumClass::Uscaled | NumClass::Sscaled)
    }

    /// The format one aspect is stored as, which is also the format of that aspect in buffers (Vulkan specification,
    /// "Buffer and Image Addressing": D24 is 4 bytes, stencil 1). Colour aspects give the format itself.
    pub fn aspect_format(&'static self, aspect: vk::ImageAspectFlags) -> &'static FormatInfo {
        let of = |f| info(f).unwrap_or(self);
        if aspect.contains(vk::ImageAspectFlags::STENCIL) && self.has_stencil() {
            return of(vk::Format::S8_UINT);
        }
        if let Some(plane) = plane_index(aspect).and_then(|i| self.plane_format(i)) {
            return plane;
        }
        match self.format {
            vk::Format::D16_UNORM_S8_UINT => of(vk::Format::D16_UNORM),
            vk::Format::D24_UNORM_S8_UINT => of(vk::Format::X8_D24_UNORM_PACK32),
            vk::Format::D32_SFLOAT_S8_UINT => of(vk::Format::D32_SFLOAT),
            _ => self,
        }
    }

    /// Blocks needed for `texels` along dimension `axis`.
    pub const fn blocks(&self, texels: u32, axis: usize) -> u32 {
        texels.div_ceil(self.block_extent[axis])
    }
}

/// The row of `format`, `None` for formats this GPU does not know.
pub fn info(format: vk::Format) -> Option<&'static FormatInfo> {
    let raw = format.as_raw();
    match raw {
        1..=184 => Some(&table::TABLE[raw as usize - 1]),
        _ => table::TABLE[184..].iter().find(|f| f.format == format),
    }
}

/// Every format of the table.
pub fn all() -> &'static [FormatInfo] {
    &table::TABLE[..table::ROWS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_sizes_agree_with_layouts() {
        for (i, f) in all().iter().enumerate() {
            if i < 184 {
                assert_eq!(f.format.as_raw(), i as i32 + 1, "{}", f.name);
            }
            assert!(std::ptr::eq(info(f.format).unwrap(), f));
            if !f.compressed() {
                // Of several planes, the first.
                let top = f.components().iter().map(|c| c.offset as u32 + c.bits as u32).max().unwrap();
                assert_eq!(
                    top.div_ceil(8),
                    f.block_bytes - (f.name == "X8_D24_UNORM_PACK32") as u32,
                    "{}",
                    f.name
                );
            }
        }
        assert!(info(vk::Format::UNDEFINED).is_none());
    }

    #[test]
    fn mandatory_features_spot_checks() {
        let f = |f| info(f).unwrap();
        assert!(f(vk::Format::R8G8B8A8_UNORM).storage() && f(vk::Format::R8G8B8A8_UNORM).blendable());
        assert!(f(vk::Format::R32_UINT).storage_atomic() && !f(vk::Format::R32_UINT).filterable());
        assert!(f(vk::Format::E5B9G9R9_UFLOAT_PACK32).filterable());
        assert!(!f(vk::Format::R8G8B8_UNORM).image());
        assert_eq!(
            f(vk::Format::D24_UNORM_S8_UINT).aspects(),
            vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL
        );
        assert_eq!(
            f(vk::Format::B5G6R5_UNORM_PACK16).components()[0],
            Component { name: b'r', offset: 0, bits: 5 }
        );
    }
}

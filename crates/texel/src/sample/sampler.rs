//! Samplers.

use ash::vk;

/// `maxSamplerLodBias` of this GPU.
pub const MAX_LOD_BIAS: f32 = 16.0;
/// `maxSamplerAnisotropy` of this GPU.
pub const MAX_ANISOTROPY: f32 = 16.0;

/// How a coordinate outside the image is brought inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    Repeat,
    Mirror,
    Edge,
    Border,
    MirrorEdge,
}

/// How several texels become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    Average,
    Min,
    Max,
}

/// A sampler.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    pub mag_linear: bool,
    pub min_linear: bool,
    pub mip_linear: bool,
    pub wrap: [Wrap; 3],
    pub bias: f32,
    /// 1 without anisotropic filtering.
    pub anisotropy: f32,
    pub compare: Option<vk::CompareOp>,
    pub min_lod: f32,
    pub max_lod: f32,
    /// Raw bits; `f32` or integers, as the colour says.
    pub border: [u32; 4],
    pub unnormalized: bool,
    pub reduction: Reduction,
    pub seamless: bool,
}

impl Sampler {
    /// Makes a sampler. `custom_border` is the colour of `VkSamplerCustomBorderColorCreateInfoEXT` (raw bits),
    /// `reduction` the mode of `VkSamplerReductionModeCreateInfo`.
    pub fn new(
        info: &vk::SamplerCreateInfo,
        custom_border: Option<[u32; 4]>,
        reduction: vk::SamplerReductionMode,
    ) -> Sampler {
        let wrap = |m: vk::SamplerAddressMode| match m {
            vk::SamplerAddressMode::REPEAT => Wrap::Repeat,
            vk::SamplerAddressMode::MIRRORED_REPEAT => Wrap::Mirror,
            vk::SamplerAddressMode::CLAMP_TO_BORDER => Wrap::Border,
            vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE => Wrap::MirrorEdge,
            _ => Wrap::Edge,
        };
        let one = 1f32.to_bits();
        let border = match info.border_color {
            vk::BorderColor::FLOAT_OPAQUE_BLACK => [0, 0, 0, one],
            vk::BorderColor::FLOAT_OPAQUE_WHITE => [one; 4],
            vk::BorderColor::INT_OPAQUE_BLACK => [0, 0, 0, 1],
            vk::BorderColor::INT_OPAQUE_WHITE => [1; 4],
            vk::BorderColor::FLOAT_CUSTOM_EXT | vk::BorderColor::INT_CUSTOM_EXT => {
                custom_border.unwrap_or([0; 4])
            }
            _ => [0; 4],
        };
        Sampler {
            mag_linear: info.mag_filter != vk::Filter::NEAREST,
            min_linear: info.min_filter != vk::Filter::NEAREST,
            mip_linear: info.mipmap_mode == vk::SamplerMipmapMode::LINEAR,
            wrap: [wrap(info.address_mode_u), wrap(info.address_mode_v), wrap(info.address_mode_w)],
            bias: info.mip_lod_bias,
            anisotropy: if info.anisotropy_enable != 0 {
                info.max_anisotropy.clamp(1.0, MAX_ANISOTROPY)
            } else {
                1.0
            },
            compare: (info.compare_enable != 0).then_some(info.compare_op),
            min_lod: info.min_lod,
            max_lod: info.max_lod,
            border,
            unnormalized: info.unnormalized_coordinates != 0,
            reduction: match reduction {
                vk::SamplerReductionMode::MIN => Reduction::Min,
                vk::SamplerReductionMode::MAX => Reduction::Max,
                _ => Reduction::Average,
            },
            seamless: !info.flags.contains(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT),
        }
    }
}

impl Sampler {
    /// As of texels that are not filtered.
    pub(super) fn nearest(&self) -> Sampler {
        Sampler { mag_linear: false, min_linear: false, ..self.clone() }
    }
}

/// Depth comparison, "Depth Compare Operation": the reference against the texel.
pub fn compare(op: vk::CompareOp, reference: f32, texel: f32) -> bool {
    match op {
        vk::CompareOp::LESS => reference < texel,
        vk::CompareOp::EQUAL => reference == texel,
        vk::CompareOp::LESS_OR_EQUAL => reference <= texel,
        vk::CompareOp::GREATER => reference > texel,
        vk::CompareOp::NOT_EQUAL => reference != texel,
        vk::CompareOp::GREATER_OR_EQUAL => reference >= texel,
        vk::CompareOp::ALWAYS => true,
        _ => false,
    }
}

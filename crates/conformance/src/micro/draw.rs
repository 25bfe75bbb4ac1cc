//! Draws over a target of 256 × 256 pixels that sample one image, and passes that clear an attachment.

use super::Rig;
use crate::check::text;
use ash::vk;
use client::graphics::{
    Attachment, Bindings, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, Resource, Sampler,
};
use vk::Format as F;

pub const SIDE: u32 = 256;

/// How a texture is filtered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filter {
    Nearest,
    Bilinear,
    Trilinear,
    /// Of three dimensions.
    Volume,
    /// Sixteen-fold anisotropy allowed, and a footprint so many times as long as wide.
    Aniso(u32),
}

pub const TEXTURES: [F; 16] = [
    F::R8_UNORM,
    F::R8G8_UNORM,
    F::R8G8B8A8_UNORM,
    F::A2B10G10R10_UNORM_PACK32,
    F::B10G11R11_UFLOAT_PACK32,
    F::R16_SFLOAT,
    F::R16G16_SFLOAT,
    F::R16G16B16A16_SFLOAT,
    F::R32_SFLOAT,
    F::R32G32_SFLOAT,
    F::R32G32B32A32_SFLOAT,
    F::BC1_RGB_UNORM_BLOCK,
    F::BC7_UNORM_BLOCK,
    F::ETC2_R8G8B8A8_UNORM_BLOCK,
    F::ASTC_4X4_UNORM_BLOCK,
    F::ASTC_8X8_UNORM_BLOCK,
];
pub const VOLUMES: [F; 3] = [F::R8G8B8A8_UNORM, F::R16G16B16A16_SFLOAT, F::R32G32B32A32_SFLOAT];
pub const STRETCHED: [u32; 5] = [1, 2, 4, 8, 32];
pub const TARGETS: [F; 9] = [
    F::R8_UNORM,
    F::R8G8_UNORM,
    F::R8G8B8A8_UNORM,
    F::A2B10G10R10_UNORM_PACK32,
    F::R16G16B16A16_SFLOAT,
    F::R32G32B32A32_SFLOAT,
    F::D16_UNORM,
    F::D32_SFLOAT,
    F::S8_UINT,
];

impl Rig {
    /// A counter of a draw that samples an image once a pixel, in a square of so many to a side.
    pub(super) fn sampled(&self, counter: &str, format: F, filter: Filter, side: u32) -> Result<f64, String> {
        let c = &self.context;
        let mut info = match filter {
            Filter::Volume => ImageInfo::volume(format, [16; 3]),
            _ => ImageInfo::texture(format, [SIDE; 2]),
        };
        if filter == Filter::Trilinear {
            info.mips = 9;
        }
        let image = Image::new(c, info).map_err(text)?;
        let linear = if filter == Filter::Nearest { vk::Filter::NEAREST } else { vk::Filter::LINEAR };
        let mut sampler = vk::SamplerCreateInfo::default()
            .mag_filter(linear)
            .min_filter(linear)
            .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
            .max_lod(vk::LOD_CLAMP_NONE);
        let mut scale = [1.0 / SIDE as f32; 2];
        if let Filter::Aniso(times) = filter {
            sampler = sampler.anisotropy_enable(true).max_anisotropy(16.0);
            scale[0] *= times as f32;
        }
        let sampler = Sampler::new(c, &sampler).map_err(text)?;
        let bindings = Bindings::new(c, &[Resource::Texture(&image, &sampler)]).map_err(text)?;
        let vertex = include_bytes!("../../../icd/tests/shaders/heavy.vert.spv");
        let fragment: &[u8] = match filter {
            Filter::Volume => include_bytes!("../../shaders/micro/volume.frag.spv"),
            _ => include_bytes!("../../shaders/micro/flat.frag.spv"),
        };
        let info = PipelineInfo { push_size: 8, ..PipelineInfo::new(vertex, fragment, F::R8G8B8A8_UNORM) };
        let pipeline = Pipeline::new(c, &info, Some(&bindings)).map_err(text)?;
        let target = Image::new(c, ImageInfo::colour(F::R8G8B8A8_UNORM, [SIDE; 2])).map_err(text)?;
        let colours = vec![Attachment::new(&target, Load::colour([0.0; 4]))];
        let pass = Pass { colours, size: [SIDE; 2], ..Pass::default() };
        let push: Vec<u8> = scale.iter().flat_map(|s| s.to_le_bytes()).collect();
        self.counted(counter, || {
            c.run(|device, commands| {
                pass.record(device, commands, |device, commands| {
                    let extent = vk::Extent2D { width: side, height: side };
                    pipeline.bind(commands, Some(&bindings), &push);
                    // SAFETY: recording into a command buffer that has begun, with live handles.
                    unsafe {
                        device.cmd_set_scissor(commands, 0, &[vk::Rect2D { extent, ..Default::default() }]);
                        device.cmd_draw(commands, 3, 1, 0, 0);
                    }
                });
            })
        })
    }

    /// A counter of a pass that clears an attachment to what its memory does not hold.
    pub(super) fn cleared(&self, counter: &str, format: F) -> Result<f64, String> {
        let c = &self.context;
        let size = [SIDE; 2];
        let is_depth = matches!(format, F::D16_UNORM | F::D32_SFLOAT);
        let is_stencil = format == F::S8_UINT;
        let info = match is_depth || is_stencil {
            true => ImageInfo::depth(format, size),
            false => ImageInfo::colour(format, size),
        };
        let image = Image::new(c, info).map_err(text)?;
        let mut pass = Pass { size, ..Pass::default() };
        if is_depth {
            pass.depth = Some(Attachment::new(&image, Load::depth(0.5, 0)));
        } else if is_stencil {
            pass.stencil = Some(Attachment::new(&image, Load::depth(0.0, 3)));
        } else {
            pass.colours = vec![Attachment::new(&image, Load::colour([0.5; 4]))];
        }
        self.counted(counter, || c.run(|device, commands| pass.record(device, commands, |_, _| ())))
    }
}

//! Draws of plain triangles over a target of 256 × 256 pixels: what the fixed units of the main phase and the tiler take.

use super::Rig;
use super::draw::SIDE;
use crate::check::text;
use ash::vk;
use client::graphics::{Attachment, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo};

pub use vk::Format as F;

pub const FILLED: [F; 5] =
    [F::R8_UNORM, F::R8G8_UNORM, F::R8G8B8A8_UNORM, F::R16G16B16A16_SFLOAT, F::R32G32B32A32_SFLOAT];
/// With so many samples.
pub const BLENDED: [(F, u32); 6] = [
    (F::R8_UNORM, 1),
    (F::R8G8B8A8_UNORM, 1),
    (F::R16G16B16A16_SFLOAT, 1),
    (F::R8_UNORM, 4),
    (F::R8G8B8A8_UNORM, 4),
    (F::R16G16B16A16_SFLOAT, 4),
];

/// Triangles over all of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers {
    pub format: F,
    pub samples: u32,
    pub blend: bool,
    pub count: u32,
    pub interpolated: Interpolated,
}

/// What their fragments interpolate: nothing, or eight components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolated {
    Nothing,
    Full,
    Half,
}

impl Rig {
    /// A counter of a pass that draws them.
    pub(super) fn layers(&self, counter: &str, l: Layers) -> Result<f64, String> {
        let c = &self.context;
        let eight: &[u8] = include_bytes!("../../shaders/micro/varying.vert.spv");
        let (vertex, fragment): (&[u8], &[u8]) = match l.interpolated {
            Interpolated::Nothing => (
                include_bytes!("../../../icd/tests/shaders/heavy.vert.spv"),
                include_bytes!("../../../icd/tests/shaders/heavy.frag.spv"),
            ),
            Interpolated::Full => (eight, include_bytes!("../../shaders/micro/varying.frag.spv")),
            Interpolated::Half => (eight, include_bytes!("../../shaders/micro/varying_half.frag.spv")),
        };
        let mut info = PipelineInfo { push_size: 4, ..PipelineInfo::new(vertex, fragment, l.format) };
        info.samples = l.samples;
        info.blend = info
            .blend
            .blend_enable(l.blend)
            .src_color_blend_factor(vk::BlendFactor::ONE)
            .dst_color_blend_factor(vk::BlendFactor::ONE)
            .src_alpha_blend_factor(vk::BlendFactor::ONE)
            .dst_alpha_blend_factor(vk::BlendFactor::ONE);
        let pipeline = Pipeline::new(c, &info, None).map_err(text)?;
        let target = ImageInfo { samples: l.samples, ..ImageInfo::colour(l.format, [SIDE; 2]) };
        let target = Image::new(c, target).map_err(text)?;
        let colours = vec![Attachment::new(&target, Load::colour([0.0; 4]))];
        let pass = Pass { colours, size: [SIDE; 2], ..Pass::default() };
        self.counted(counter, || {
            c.run(|device, commands| {
                pass.record(device, commands, |device, commands| {
                    pipeline.bind(commands, None, &0u32.to_le_bytes());
                    // SAFETY: recording into a command buffer that has begun, with live handles.
                    unsafe { device.cmd_draw(commands, 3, l.count, 0, 0) };
                });
            })
        })
    }
}

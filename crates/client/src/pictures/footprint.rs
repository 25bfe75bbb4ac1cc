//! The memory that a large multisampled pass takes at its peak.

use super::{FORMAT, Load, spirv, vertices};
use crate::graphics::{Attachment, Image, ImageInfo, Pass, Pipeline, PipelineInfo};
use crate::measure::status;
use crate::{Buffer, Context, Error, Result};
use ash::vk;
use std::rc::Rc;

const SIDE: u32 = 4096;
const SAMPLES: u32 = 4;
/// Small triangles over the layers, so that edges have partly covered pixels.
const TRIANGLES: u32 = 10_000;

/// Resident bytes of the process.
#[derive(Clone, Copy, Debug)]
pub struct Footprint {
    /// Before anything was made.
    pub before: u64,
    /// At the peak.
    pub peak: u64,
    /// Of that, the resolved image.
    pub image: u64,
}

/// Draws 16 layers with depth and some small triangles into transient 4× attachments of 4096², resolves them, and
/// looks how far the process grew. Meaningful once per process.
pub fn footprint(context: &Rc<Context>) -> Result<Footprint> {
    let before = status("VmHWM")?;
    let size = [SIDE, SIDE];
    let mut colour = ImageInfo::colour(FORMAT, size).transient();
    let mut depth = ImageInfo::depth(vk::Format::D32_SFLOAT, size).transient();
    (colour.samples, depth.samples) = (SAMPLES, SAMPLES);
    let (colour, depth) = (Image::new(context, colour)?, Image::new(context, depth)?);
    let resolved = Image::new(context, ImageInfo::colour(FORMAT, size))?;
    let mut info = PipelineInfo::new(spirv!("quadb.vert"), spirv!("flat.frag"), FORMAT);
    info.samples = SAMPLES;
    info.depth_format = vk::Format::D32_SFLOAT;
    info.depth = Some((vk::CompareOp::LESS, true));
    let layers = Pipeline::new(context, &info, None)?;
    info.vertex = spirv!("tri.vert");
    info.fragment = Some(spirv!("tri.frag"));
    info.depth = Some((vk::CompareOp::ALWAYS, true));
    let vec4 = (vk::Format::R32G32B32A32_SFLOAT, 16);
    let triangles = Pipeline::new(context, &info.interleaved(&[vec4, vec4]), None)?;
    let buffer = Buffer::with(context, &vertices(super::Triangles::Plain.given()))?;
    let transient = |image, load| Attachment { image, resolve: None, load, store: false };
    let pass = Pass {
        colours: vec![Attachment {
            resolve: Some(&resolved),
            ..transient(&colour, Load::colour([0.0, 0.0, 0.0, 1.0]))
        }],
        depth: Some(transient(&depth, Load::depth(1.0, 0))),
        size,
        ..Default::default()
    };
    context.run(|device, commands| {
        pass.record(device, commands, |device, commands| {
            // SAFETY: recording inside a pass, with live handles.
            unsafe {
                layers.bind(commands, None, &[]);
                device.cmd_draw(commands, 3, super::LAYERS, 0, 0);
                triangles.bind(commands, None, &[]);
                device.cmd_bind_vertex_buffers(commands, 0, &[buffer.handle], &[0]);
                device.cmd_draw(commands, TRIANGLES * 3, 1, 0, 0);
            }
        });
    })?;
    // Drawn indeed: blue is ½ everywhere but under triangles, and some of those lie in this corner.
    let part = resolved.read_part([0, 0], [256, 256])?;
    let layer = part.chunks_exact(4).filter(|p| p[2].abs_diff(128) <= 1 && p[3].abs_diff(128) <= 1).count();
    let all = part.len() / 4;
    if layer == all || layer * 2 < all {
        return Err(Error(format!("{layer} of {all} pixels show the layers")));
    }
    Ok(Footprint { before, peak: status("VmHWM")?, image: u64::from(SIDE) * u64::from(SIDE) * 4 })
}

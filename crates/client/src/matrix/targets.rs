//! Targets: eight layers over 512² pixels, in every format that can be drawn to.

use super::formats::{Format, Kind};
use super::texels::{image, needs};
use super::{Made, missing, modules};
use crate::graphics::{Attachment, ImageInfo, Load, Pass, Pipeline, PipelineInfo, over};
use crate::{Context, Result};
use ash::vk;
use std::rc::Rc;

const COLOUR: [&str; 3] = ["plain", "blended", "logic op"];
const DEPTH: [&str; 3] = ["depth written", "depth rejected", "stencil counted"];
const SAMPLES: [u32; 3] = [1, 4, 8];
const SIZE: u32 = 512;
const LAYERS: u32 = 8;

pub fn rows() -> Vec<String> {
    let formats = Format::all().filter(|f| f.block == [1, 1] && !f.name.contains("SCALED"));
    let has = |f: &Format, way: &str| match way {
        "blended" => f.kind == Kind::Float,
        "logic op" => f.kind != Kind::Float || f.name.contains("NORM"),
        "depth written" | "depth rejected" => f.is_depth(),
        "stencil counted" => f.aspects.contains(vk::ImageAspectFlags::STENCIL),
        _ => true,
    };
    let mut all = vec![];
    for f in formats {
        let ways = if f.is_colour() { COLOUR } else { DEPTH };
        for way in ways.into_iter().filter(|w| has(&f, w)) {
            all.extend(SAMPLES.map(|s| format!("{way}, {s}: {}", f.name)));
        }
    }
    all
}

pub fn make(context: &Rc<Context>, way: &str, of: &str) -> Result<Option<Made>> {
    use vk::FormatFeatureFlags as F;
    let Some((way, samples)) = way.split_once(", ") else { return Ok(None) };
    let (Some(f), Ok(samples)) = (Format::find(of), samples.parse()) else { return Ok(None) };
    let Some(fragment) = modules::find(&format!("target.{}", f.kind.letter())) else { return Ok(None) };
    let mut info = match f.is_colour() {
        true => ImageInfo::colour(f.format, [SIZE, SIZE]),
        false => ImageInfo::depth(f.format, [SIZE, SIZE]),
    };
    info.samples = samples;
    info.usage &= vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT;
    let mut state = PipelineInfo::new(modules::FULL, fragment, f.format);
    state.samples = samples;
    state.push_size = 8;
    let mut pass = Pass { size: [SIZE, SIZE], ..Default::default() };
    let target;
    if f.is_colour() {
        match way {
            "blended" => {
                needs(context, &f, F::COLOR_ATTACHMENT_BLEND)?;
                state.blend = over();
            }
            "logic op" => state.logic_op = Some(vk::LogicOp::XOR),
            _ => {}
        }
        needs(context, &f, F::COLOR_ATTACHMENT)?;
        // Logic operations are nothing for sRGB.
        if way == "logic op" && f.name.contains("SRGB") {
            return Err(missing("logic operations on sRGB"));
        }
        target = image(context, &f, info)?;
        pass.colours = vec![Attachment::new(&target, Load::colour([0.2, 0.4, 0.6, 0.8]))];
    } else {
        needs(context, &f, F::DEPTH_STENCIL_ATTACHMENT)?;
        state.colours.clear();
        state.fragment = None;
        target = image(context, &f, info)?;
        let attachment =
            Attachment::new(&target, Load::depth(if way == "depth rejected" { 0.0 } else { 1.0 }, 0));
        if f.is_depth() {
            state.depth_format = f.format;
            pass.depth = Some(attachment);
        }
        if f.aspects.contains(vk::ImageAspectFlags::STENCIL) {
            state.stencil_format = f.format;
            pass.stencil = Some(attachment);
        }
        if way == "stencil counted" {
            let op = vk::StencilOpState {
                pass_op: vk::StencilOp::INCREMENT_AND_WRAP,
                compare_op: vk::CompareOp::ALWAYS,
                compare_mask: 0xFF,
                write_mask: 0xFF,
                ..Default::default()
            };
            state.stencil = Some([op; 2]);
        } else {
            state.depth = Some((vk::CompareOp::LESS, true));
        }
    }
    let pipeline = Pipeline::new(context, &state, None)?;
    let commands = context.record(|device, commands| {
        pass.record(device, commands, |device, commands| {
            for layer in 0..LAYERS {
                // Each lies before the last.
                let depth = 0.9 - 0.1 * layer as f32;
                pipeline.bind(commands, None, &[1.0f32.to_le_bytes(), depth.to_le_bytes()].concat());
                // SAFETY: recording into a command buffer that has begun.
                unsafe { device.cmd_draw(commands, 3, 1, 0, 0) }
            }
        });
    })?;
    drop(pass);
    Ok(Some((commands, vec![Box::new(pipeline), Box::new(target)])))
}

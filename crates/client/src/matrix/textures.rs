//! Textures: two accesses for each pixel of a target of 512², in every way that a format has.

use super::formats::{Format, Kind};
use super::texels::{features, needs, noise};
use super::{Made, missing, modules};
use crate::graphics::{
    Attachment, Bindings, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, Resource, Sampler,
};
use crate::{Context, Result};
use ash::vk;
use std::rc::Rc;

/// How a texture is read or written: the name, and the shader that does it.
const WAYS: [(&str, &str); 14] = [
    ("nearest", "sample"),
    ("linear", "sample"),
    ("trilinear", "sample"),
    ("anisotropic", "sample"),
    ("mirrored", "sample"),
    ("border", "sample"),
    ("array", "array"),
    ("cube", "cube"),
    ("volume", "volume"),
    ("gather", "gather"),
    ("fetch", "fetch"),
    ("load", "load"),
    ("store", "store"),
    ("shadow", "shadow"),
];

/// Ways that are nothing without a filter.
const FILTERED: [&str; 3] = ["linear", "trilinear", "anisotropic"];

const SIZE: u32 = 512;

pub fn rows() -> Vec<String> {
    let formats = Format::all().filter(|f| !f.name.contains("SCALED"));
    let has = |f: &Format, way: &str| {
        let filtered = f.kind == Kind::Float;
        match way {
            "shadow" => f.is_depth(),
            "load" | "store" => f.is_colour() && f.block == [1, 1],
            w => filtered || !FILTERED.contains(&w),
        }
    };
    formats
        .flat_map(|f| WAYS.iter().filter(move |w| has(&f, w.0)).map(move |w| format!("{}: {}", w.0, f.name)))
        .collect()
}

/// The sampler of a way.
fn sampler(way: &str, linear: bool) -> vk::SamplerCreateInfo<'static> {
    let filter = if linear && way != "nearest" { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
    let info = vk::SamplerCreateInfo::default().mag_filter(filter).min_filter(filter);
    let address = |mode| info.address_mode_u(mode).address_mode_v(mode);
    match way {
        "trilinear" => info.mipmap_mode(vk::SamplerMipmapMode::LINEAR).max_lod(vk::LOD_CLAMP_NONE),
        "anisotropic" => info
            .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
            .max_lod(vk::LOD_CLAMP_NONE)
            .anisotropy_enable(true)
            .max_anisotropy(16.0),
        "mirrored" => address(vk::SamplerAddressMode::MIRRORED_REPEAT),
        "border" => address(vk::SamplerAddressMode::CLAMP_TO_BORDER),
        "shadow" => info.compare_enable(true).compare_op(vk::CompareOp::LESS),
        _ => info,
    }
}

pub fn make(context: &Rc<Context>, way: &str, of: &str) -> Result<Option<Made>> {
    use vk::{FormatFeatureFlags as F, ImageUsageFlags as U};
    let (Some(f), Some((_, shader))) = (Format::find(of), WAYS.iter().find(|w| w.0 == way)) else {
        return Ok(None);
    };
    let Some(fragment) = modules::find(&format!("{shader}.{}", f.kind.letter())) else { return Ok(None) };
    let stored = ["load", "store"].contains(&way);
    let linear = features(context, &f).contains(F::SAMPLED_IMAGE_FILTER_LINEAR);
    needs(context, &f, if stored { F::STORAGE_IMAGE } else { F::SAMPLED_IMAGE } | F::TRANSFER_DST)?;
    if FILTERED.contains(&way) {
        needs(context, &f, F::SAMPLED_IMAGE_FILTER_LINEAR)?;
    }
    let mut info = ImageInfo::texture(f.format, [SIZE, SIZE]);
    info.usage = if stored { U::STORAGE } else { U::SAMPLED } | U::TRANSFER_DST;
    if f.is_depth() {
        info.view = vk::ImageAspectFlags::DEPTH;
    }
    match way {
        "trilinear" | "anisotropic" => info.mips = 10,
        "array" => info.layers = 4,
        "cube" => (info.layers, info.cube) = (6, true),
        "volume" => (info.size, info.depth) = ([128, 128], 16),
        _ => {}
    }
    if way == "volume" && !f.is_colour() {
        return Err(missing("volumes of depth"));
    }
    let image = noise(context, &f, info)?;
    let sampler = Sampler::new(context, &sampler(way, linear))?;
    let bindings = match stored {
        true => Bindings::new(context, &[Resource::Stored(&image)])?,
        false => Bindings::new(context, &[Resource::Texture(&image, &sampler)])?,
    };
    let colour = vk::Format::R8G8B8A8_UNORM;
    let target = Image::new(context, ImageInfo::colour(colour, [SIZE, SIZE]))?;
    let pipeline = Pipeline::new(
        context,
        &PipelineInfo { push_size: 8, ..PipelineInfo::new(modules::FULL, fragment, colour) },
        Some(&bindings),
    )?;
    // Anisotropic footprints come from a scale that differs between the axes no more than by rotation: levels are chosen.
    let scale: f32 = match way {
        "trilinear" | "anisotropic" | "border" => 1.5,
        "mirrored" => 3.0,
        _ => 1.0,
    };
    let push = [scale.to_le_bytes(), 0.5f32.to_le_bytes()].concat();
    let pass = Pass {
        colours: vec![Attachment::new(&target, Load::DontCare)],
        size: [SIZE, SIZE],
        ..Default::default()
    };
    let commands = context.record(|device, commands| {
        pass.record(device, commands, |device, commands| {
            pipeline.bind(commands, Some(&bindings), &push);
            // SAFETY: recording into a command buffer that has begun.
            unsafe { device.cmd_draw(commands, 3, 1, 0, 0) }
        });
    })?;
    drop(pass);
    Ok(Some((
        commands,
        vec![Box::new(pipeline), Box::new(bindings), Box::new(sampler), Box::new(image), Box::new(target)],
    )))
}

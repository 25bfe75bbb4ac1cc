//! Runs a shader for the tests of `tuff debug`, and prints the words of its buffer that are not 0.
//!
//! `debugged FILE.spv [GROUPS]` dispatches workgroups; binding 0 has 256 words of zeros, word k of binding 1 is the float k, of binding
//! 2 a quarter of it. `debugged VERTEX.spv FRAGMENT.spv [GEOMETRY.spv] [DRAWS]` draws three vertices to 16 × 16 pixels; binding 0 is the same, 1 a texture of
//! 4 × 4 texels, texel (x, y) is (x, y, 4, 15) · 17, and 2 a uniform buffer of the floats 0 to 63.

use ash::vk;
use client::compute::{Buffer, Kernel, KernelInfo};
use client::context::Context;
use client::graphics::{
    Attachment, Bindings, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, Resource, Sampler,
};
use client::{Error, Result};
use std::rc::Rc;

const WORDS: usize = 256;
const SIDE: u32 = 16;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (files, count): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|a| a.ends_with(".spv"));
    let count = count.first().map_or(Ok(1), |n| n.parse().map_err(|_| Error(format!("{n} is no number"))))?;
    let read = |file: &str| std::fs::read(file).map_err(|e| Error::file(file.as_ref(), e));
    let context = Context::open()?;
    let out = Buffer::with(&context, &[0; WORDS * 4])?;
    match files[..] {
        [compute] => dispatch(&context, &out, &read(compute)?, count)?,
        [vertex, fragment] => draw(&context, &out, &read(vertex)?, &read(fragment)?, None, count)?,
        [vertex, fragment, geometry] => {
            draw(&context, &out, &read(vertex)?, &read(fragment)?, Some(&read(geometry)?), count)?
        }
        _ => {
            return Err(Error(
                "debugged FILE.spv [GROUPS], or VERTEX.spv FRAGMENT.spv [GEOMETRY.spv] [DRAWS]".into(),
            ));
        }
    }
    for (k, word) in out.words().iter().enumerate().filter(|w| *w.1 != 0) {
        println!("{k}: {word}");
    }
    Ok(())
}

fn floats(context: &Rc<Context>, each: f32) -> Result<Buffer> {
    let contents: Vec<u8> = (0..64).flat_map(|k| (k as f32 * each).to_le_bytes()).collect();
    Buffer::with(context, &contents)
}

fn dispatch(context: &Rc<Context>, out: &Buffer, spirv: &[u8], groups: u32) -> Result<()> {
    let others = [floats(context, 1.0)?, floats(context, 0.25)?];
    let kernel = Kernel::new(context, &KernelInfo { spirv, bindings: 3, push_size: 0 })?;
    kernel.run(&[out, &others[0], &others[1]], &[], [groups, 1, 1])
}

fn draw(
    context: &Rc<Context>,
    out: &Buffer,
    vertex: &[u8],
    fragment: &[u8],
    geometry: Option<&[u8]>,
    draws: u32,
) -> Result<()> {
    let texels: Vec<u8> = (0..16).flat_map(|k| [k % 4 * 17, k / 4 * 17, 4 * 17, 255]).collect();
    let texture = ImageInfo::texture(vk::Format::R8G8B8A8_UNORM, [4, 4]);
    let texture = Image::with_texels(context, texture, &texels)?;
    let sampler = Sampler::linear(context)?;
    let uniform = floats(context, 1.0)?;
    let all = [Resource::Storage(out), Resource::Texture(&texture, &sampler), Resource::Uniform(&uniform)];
    let bindings = Bindings::new(context, &all)?;
    let info = PipelineInfo::new(vertex, fragment, vk::Format::R8G8B8A8_UNORM);
    let stages = geometry.map(|g| (vk::ShaderStageFlags::GEOMETRY, g)).into_iter().collect();
    let info = PipelineInfo { stages, ..info };
    let pipeline = Pipeline::new(context, &info, Some(&bindings))?;
    let target = Image::new(context, ImageInfo::colour(vk::Format::R8G8B8A8_UNORM, [SIDE; 2]))?;
    let colours = vec![Attachment::new(&target, Load::colour([0.0; 4]))];
    let pass = Pass { colours, size: [SIDE; 2], ..Pass::default() };
    context.run(|device, commands| {
        pass.record(device, commands, |device, commands| {
            pipeline.bind(commands, Some(&bindings), &[]);
            for _ in 0..draws {
                // SAFETY: recording into a command buffer that has begun, in a pass.
                unsafe { device.cmd_draw(commands, 3, 1, 0, 0) };
            }
        });
    })
}

//! What was measured on hardware, on the modelled GPU: the same work, run by the driver.

use super::Rig;
use crate::check::text;
use ash::vk;
use client::Kernel;
use client::compute::KernelInfo;
use client::graphics::{
    Attachment, Bindings, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, Resource, Sampler,
};
use client::pictures::{PICTURES, Ready};
use vk::Format as F;

/// Pixels of a target's side.
const SIDE: u32 = 1024;
/// Rounds of 64 operations, and invocations.
const ROUNDS: u32 = 64;
const GROUPS: u32 = 1024;
/// Bytes of a copy.
const COPIED: u32 = 4 << 20;
/// Layers of a draw, one upon the other.
const LAYERS: u32 = 4;

/// Something that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Operations a cycle: fused multiply-adds of one scalar a thread, one after the other, or of a vector of four.
    Scalar,
    Vector,
    /// Cycles of a copy of so many bytes a thread.
    Copy(u32),
    /// Bytes of a target of noise of so many pixels a side, over those that are written; 0: of a gradient.
    Noise(u32),
    /// Cycles of four layers that hide each other, that may discard, that blend.
    Opaque,
    Discard,
    Blend,
    /// Bytes a cycle of random texels of a texture of so many KiB: from the L2, from external memory.
    RandomL2(u32),
    RandomMemory(u32),
    /// Bytes of external memory of a pass of 200 000 small triangles.
    Triangles,
}

/// All of them, in the order in which [`run`] prints them.
pub fn fits() -> Vec<Fit> {
    let mut all = vec![Fit::Scalar, Fit::Vector];
    all.extend([16, 32, 64].map(Fit::Copy));
    all.extend([1, 2, 4, 8, 16, 0].map(Fit::Noise));
    all.extend([Fit::Opaque, Fit::Discard, Fit::Blend]);
    all.extend([16, 32, 64, 256, 512, 1024].map(Fit::RandomL2));
    all.extend([256, 512, 1024].map(Fit::RandomMemory));
    all.push(Fit::Triangles);
    all
}

/// Prints each, a line.
pub fn run() -> Result<(), String> {
    let rig = Rig::new(2 * COPIED as usize)?;
    for (i, fit) in fits().into_iter().enumerate() {
        println!("{i};{}", rig.fit(fit)?);
    }
    Ok(())
}

impl Rig {
    fn fit(&self, fit: Fit) -> Result<f64, String> {
        match fit {
            Fit::Scalar => Ok(self.rate(0)?),
            Fit::Vector => Ok(4.0 * self.rate(1)?),
            Fit::Copy(bytes) => {
                let [what, groups] = [1 + bytes.trailing_zeros() - 3, COPIED / bytes / 64];
                self.kernel(what, 0, groups)
            }
            Fit::Noise(side) => {
                let what = if side == 0 { 1 } else { 0 };
                let written = self.pixels(super::WRITTEN, Shader::Colours([what, side]), false, 1, 64)?;
                Ok((SIDE * SIDE * 4) as f64 / written)
            }
            Fit::Opaque => self.pixels(super::DRAWING, Shader::Colours([3, 0]), false, LAYERS, 64),
            Fit::Discard => self.pixels(super::DRAWING, Shader::Discards, false, LAYERS, 64),
            Fit::Blend => self.pixels(super::DRAWING, Shader::Colours([3, 0]), true, LAYERS, 64),
            Fit::RandomL2(kib) => self.random("Texture unit read bytes from L2 cache", kib),
            Fit::Triangles => {
                let spec = PICTURES.iter().find(|p| p.name == "tri").ok_or("no such picture")?;
                let bytes = |counter| {
                    let ready = Ready::new(&self.context, spec).map_err(text)?;
                    self.counted(counter, || ready.pass())
                };
                Ok(bytes(super::READ)? + bytes(super::WRITTEN)?)
            }
            Fit::RandomMemory(kib) => self.random("Texture unit read bytes from external memory", kib),
        }
    }

    /// A counter's part of the time of a pass that samples at random.
    fn random(&self, counter: &str, kib: u32) -> Result<f64, String> {
        let of = |counter| self.pixels(counter, Shader::Colours([2, 0]), false, 1, kib);
        Ok(of(counter)? / of(super::ACTIVE)?)
    }

    /// Cycles of a dispatch.
    fn kernel(&self, what: u32, n: u32, groups: u32) -> Result<f64, String> {
        let spirv = include_bytes!("../../shaders/micro/fit.comp.spv");
        let info = KernelInfo { spirv, bindings: 2, push_size: 8 };
        let kernel = Kernel::new(&self.context, &info).map_err(text)?;
        let [a, b] = &self.buffers;
        let push = [what.to_le_bytes(), n.to_le_bytes()].concat();
        self.counted(super::CYCLES, || kernel.run(&[a, b], &push, [groups, 1, 1]))
    }

    /// Multiplications and additions a cycle of an operation.
    fn rate(&self, what: u32) -> Result<f64, String> {
        let [some, more] = [ROUNDS, 2 * ROUNDS].map(|n| self.kernel(what, n, GROUPS));
        let operations = 2.0 * (64 * ROUNDS) as f64 * (64 * GROUPS) as f64;
        Ok(operations / (more? - some?))
    }

    /// A counter of a pass of so many layers over a target; with a texture of so many KiB.
    fn pixels(
        &self,
        counter: &str,
        shader: Shader,
        blend: bool,
        layers: u32,
        kib: u32,
    ) -> Result<f64, String> {
        let c = &self.context;
        // Of texels of four bytes: squares, or twice as wide.
        let texels = kib * 256;
        let across = 1 << texels.ilog2().div_ceil(2);
        let image = ImageInfo::texture(F::R8G8B8A8_UNORM, [across, texels / across]);
        let image = Image::new(c, image).map_err(text)?;
        let sampler = Sampler::new(c, &vk::SamplerCreateInfo::default()).map_err(text)?;
        let bindings = Bindings::new(c, &[Resource::Texture(&image, &sampler)]).map_err(text)?;
        let (fragment, push): (&[u8], _) = match shader {
            Shader::Colours(push) => (include_bytes!("../../shaders/micro/fit.frag.spv"), push),
            Shader::Discards => (include_bytes!("../../shaders/micro/fit_discard.frag.spv"), [0; 2]),
        };
        let vertex = include_bytes!("../../../icd/tests/shaders/heavy.vert.spv");
        let mut info =
            PipelineInfo { push_size: 8, ..PipelineInfo::new(vertex, fragment, F::R8G8B8A8_UNORM) };
        info.blend = (info.blend)
            .blend_enable(blend)
            .src_color_blend_factor(vk::BlendFactor::ONE)
            .dst_color_blend_factor(vk::BlendFactor::ONE);
        let pipeline = Pipeline::new(c, &info, Some(&bindings)).map_err(text)?;
        let target = Image::new(c, ImageInfo::colour(F::R8G8B8A8_UNORM, [SIDE; 2])).map_err(text)?;
        let colours = vec![Attachment::new(&target, Load::colour([0.0; 4]))];
        let pass = Pass { colours, size: [SIDE; 2], ..Pass::default() };
        let push: Vec<u8> = push.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.counted(counter, || {
            c.run(|device, commands| {
                pass.record(device, commands, |device, commands| {
                    pipeline.bind(commands, Some(&bindings), &push);
                    // SAFETY: recording into a command buffer that has begun, with live handles.
                    (0..layers).for_each(|_| unsafe { device.cmd_draw(commands, 3, 1, 0, 0) });
                });
            })
        })
    }
}

/// What colours fragments.
#[derive(Clone, Copy)]
enum Shader {
    Colours([u32; 2]),
    Discards,
}

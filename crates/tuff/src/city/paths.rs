//! The city, path traced: each bounce of all paths is a trace of rays of its own, with a label.

use super::{frame, mesh};
use ash::vk;
use client::measure::{Moment, Span};
use client::rays::{INPUT, Pipeline, Structure, Structures, indexed, instance};
use client::{Buffer, Context, Result};
use std::ffi::CStr;
use std::rc::Rc;

/// Width and height of the picture in pixels.
pub const SIZE: [u32; 2] = [640, 360];
/// Paths of a pixel.
pub const SAMPLES: u32 = 2;
/// The labels of the traces, which the counters of the workloads have too.
pub const BOUNCES: [&CStr; 4] = [c"from the camera", c"bounce 1", c"bounce 2", c"bounce 3"];
/// The label of the trace that makes pixels of paths, without a ray.
pub const RESOLVE: &CStr = c"pixels";

/// Bytes of a path (path.glsl's `Path`) and of a vertex of the mesh.
const PATH: usize = 112;
const VERTEX: u64 = 40;
/// Bytes of the push constants: seven addresses, the size, samples and bounce.
const PUSH: u32 = 72;

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!("../../shaders/rays/", $name, ".spv"))
    };
}

const STAGES: [(&[u8], vk::ShaderStageFlags); 4] = [
    (spirv!("city.rgen"), vk::ShaderStageFlags::RAYGEN_KHR),
    (spirv!("resolve.rgen"), vk::ShaderStageFlags::RAYGEN_KHR),
    (spirv!("city.rmiss"), vk::ShaderStageFlags::MISS_KHR),
    (spirv!("city.rchit"), vk::ShaderStageFlags::CLOSEST_HIT_KHR),
];

/// The picture, and what it took.
pub struct Traced {
    /// RGBA8, rows from the top.
    pub rgba: Vec<u8>,
    /// By bounce: rays of paths, and rays to the sun.
    pub rays: Vec<[u32; 2]>,
    /// The build of both structures.
    pub build: Span,
    /// The pipeline's creation and the picture.
    pub picture: Span,
}

fn input(context: &Rc<Context>, bytes: &[u8]) -> Result<Buffer> {
    let mut buffer = Buffer::addressed(context, bytes.len(), INPUT)?;
    buffer.bytes_mut().copy_from_slice(bytes);
    Ok(buffer)
}

/// What the traces read and write.
struct Scene {
    top: Structure,
    _bottom: Structure,
    buffers: [Buffer; 3],
    paths: Buffer,
    counts: Buffer,
    pixels: Buffer,
    size: [u32; 2],
}

impl Scene {
    fn new(context: &Rc<Context>, size: [u32; 2]) -> Result<(Scene, Span)> {
        let structures = Structures::new(context)?;
        let mesh = mesh::build();
        let indices: Vec<u8> = mesh.indices.iter().flat_map(|i| i.to_le_bytes()).collect();
        let buffers = [&frame()[..], &mesh.vertices, &indices].map(|bytes| input(context, bytes));
        let [frame, vertices, indices] = buffers;
        let buffers = [frame?, vertices?, indices?];
        let flags = vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_TRACE;
        let geometry = indexed(&buffers[1], VERTEX, &buffers[2]);
        let start = Moment::now();
        let bottom = structures.build(flags, &geometry, mesh.indices.len() as u32 / 3)?;
        let top = structures.top(&[instance(bottom.address, [0.0; 3])])?;
        let span = start.elapsed();
        let pixels = (size[0] * size[1]) as usize;
        let addressed = |bytes| Buffer::addressed(context, bytes, vk::BufferUsageFlags::empty());
        let scene = Scene {
            top,
            _bottom: bottom,
            buffers,
            paths: addressed(pixels * SAMPLES as usize * PATH)?,
            counts: addressed(BOUNCES.len() * 8)?,
            pixels: addressed(pixels * 4)?,
            size,
        };
        Ok((scene, span))
    }

    fn push(&self, bounce: usize) -> Vec<u8> {
        let [frame, vertices, indices] = &self.buffers;
        let buffers = [frame, vertices, indices, &self.paths, &self.counts, &self.pixels];
        let addresses = std::iter::once(self.top.address).chain(buffers.map(Buffer::address));
        let words = [self.size[0], self.size[1], SAMPLES, bounce as u32];
        addresses.flat_map(u64::to_le_bytes).chain(words.into_iter().flat_map(u32::to_le_bytes)).collect()
    }

    fn record(&self, context: &Context, pipeline: &Pipeline) -> Result<vk::CommandBuffer> {
        let labels = ash::ext::debug_utils::Device::new(&context.instance, &context.device);
        let trace = |commands, label: &CStr, stage, bounce, size| {
            let name = vk::DebugUtilsLabelEXT::default().label_name(label);
            // SAFETY: the command buffer records; the instance has the labels' extension.
            unsafe { labels.cmd_begin_debug_utils_label(commands, &name) };
            pipeline.record(commands, stage, &self.push(bounce), size);
            // SAFETY: a label has begun.
            unsafe { labels.cmd_end_debug_utils_label(commands) };
        };
        let [width, height] = self.size;
        context.record(|_, commands| {
            for (bounce, label) in BOUNCES.iter().enumerate() {
                trace(commands, label, 0, bounce, [width * SAMPLES, height]);
            }
            trace(commands, RESOLVE, 1, BOUNCES.len(), self.size);
        })
    }
}

/// Traces the picture, on a device of its own ([`Context::labelled`]).
pub fn trace(size: [u32; 2]) -> Result<Traced> {
    let context = Context::labelled()?;
    let (mut scene, build) = Scene::new(&context, size)?;
    let start = Moment::now();
    let pipeline = Pipeline::new(&context, &STAGES, PUSH)?;
    let commands = scene.record(&context, &pipeline)?;
    scene.counts.words_mut().fill(0);
    context.submit_and_wait(commands)?;
    let picture = start.elapsed();
    let rays = scene.counts.words().chunks_exact(2).map(|c| [c[0], c[1]]).collect();
    Ok(Traced { rgba: scene.pixels.bytes().to_vec(), rays, build, picture })
}

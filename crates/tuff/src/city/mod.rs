//! A city by the sea, made of triangles: a shadow pass, then a pass with 4 samples a pixel, lit, textured and shadowed,
//! through the public Vulkan API.

mod child;
mod math;
mod mesh;
pub mod paths;
mod regions;
mod texels;

pub use child::{Answer, Ask, Memory};
pub use regions::COUNTER;

use client::graphics::{
    Attachment, Bindings, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, Resource, Sampler, barrier,
};
use client::{Buffer, Context, Result};
use glam::Vec3;
use regions::Regions;
use std::rc::Rc;

/// Width and height of the picture in pixels.
pub const SIZE: [u32; 2] = [1280, 720];
/// Side of a cell of the heat map in pixels.
pub const CELL: u32 = 64;
const SHADOW: u32 = 2048;
const SAMPLES: u32 = 4;
const COLOUR: vk::Format = vk::Format::R8G8B8A8_UNORM;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT;

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!("../../shaders/", $name, ".spv"))
    };
}

/// Tiles of the heat map, across and down.
pub fn tiles() -> [u32; 2] {
    SIZE.map(|s| s.div_ceil(CELL))
}

/// What stays from frame to frame.
pub struct City {
    context: Rc<Context>,
    vertices: Buffer,
    indices: Buffer,
    count: u32,
    shadow: Image,
    colour: Image,
    depth: Image,
    picture: Image,
    bindings: Bindings,
    // Named by the bindings.
    _frame: Buffer,
    _detail: (Image, Sampler),
    _compare: Sampler,
}

/// The pipelines of a frame.
pub struct Pipelines {
    shadow: Pipeline,
    city: Pipeline,
    sky: Pipeline,
}

/// Matrices, eye, sun, and the rays of the picture's corners, as the shaders' uniform block has them.
fn frame() -> Vec<u8> {
    let (eye, target) = (Vec3::new(-13.5, 6.2, 27.0), Vec3::new(2.0, 1.6, -4.0));
    let sun = math::normalized(Vec3::new(-0.62, 0.5, 0.42));
    let half = 0.46;
    let aspect = SIZE[0] as f32 / SIZE[1] as f32;
    let view = math::perspective(half, aspect, 0.5, 260.0) * math::looking(eye, target);
    let light = math::parallel(44.0, 140.0) * math::looking(sun * 70.0, Vec3::ZERO);
    let [right, down, forward] = math::axes(eye, target);
    let rays = [right * (half * aspect), down * half, forward, Vec3::ZERO].map(|r| r.extend(0.0));
    let matrices = [view, light].into_iter().flat_map(|m| m.to_cols_array());
    let vectors = [eye.extend(1.0), sun.extend(0.0)].into_iter().chain(rays).flat_map(|v| v.to_array());
    matrices.chain(vectors).flat_map(f32::to_le_bytes).collect()
}

impl City {
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        let mesh = mesh::build();
        let indices: Vec<u8> = mesh.indices.iter().flat_map(|i| i.to_le_bytes()).collect();
        let mut info = ImageInfo::texture(COLOUR, [texels::SIDE; 2]);
        (info.layers, info.mips) = (texels::LAYERS, texels::MIPS);
        let detail = Image::with_texels(context, info, &texels::build())?;
        let linear = Sampler::new(
            context,
            &vk::SamplerCreateInfo::default()
                .mag_filter(vk::Filter::LINEAR)
                .min_filter(vk::Filter::LINEAR)
                .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
                .max_lod(vk::LOD_CLAMP_NONE),
        )?;
        let compare = Sampler::new(
            context,
            &vk::SamplerCreateInfo::default()
                .mag_filter(vk::Filter::LINEAR)
                .min_filter(vk::Filter::LINEAR)
                .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_BORDER)
                .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_BORDER)
                .border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE)
                .compare_enable(true)
                .compare_op(vk::CompareOp::LESS_OR_EQUAL),
        )?;
        let shadow = Image::new(context, ImageInfo::depth(DEPTH, [SHADOW; 2]))?;
        let many = |mut info: ImageInfo| {
            info.samples = SAMPLES;
            Image::new(context, info.transient())
        };
        let frame = Buffer::with(context, &frame())?;
        let bindings = Bindings::new(
            context,
            &[
                Resource::Uniform(&frame),
                Resource::Texture(&detail, &linear),
                Resource::Texture(&shadow, &compare),
            ],
        )?;
        Ok(Self {
            context: context.clone(),
            vertices: Buffer::with(context, &mesh.vertices)?,
            indices: Buffer::with(context, &indices)?,
            count: mesh.indices.len() as u32,
            shadow,
            colour: many(ImageInfo::colour(COLOUR, SIZE))?,
            depth: many(ImageInfo::depth(DEPTH, SIZE))?,
            picture: Image::new(context, ImageInfo::colour(COLOUR, SIZE))?,
            bindings,
            _frame: frame,
            _detail: (detail, linear),
            _compare: compare,
        })
    }

    /// The heat of a city of its own, on a device that counts by region; nothing if the driver has none.
    pub fn heat_map() -> Result<Vec<u32>> {
        match regions::context()? {
            Some(context) => City::new(&context)?.heat(),
            None => Ok(vec![]),
        }
    }

    pub fn triangles(&self) -> u32 {
        self.count / 3
    }

    fn info(&self, vertex: &'static [u8], fragment: &'static [u8]) -> PipelineInfo<'static> {
        let mut info = PipelineInfo::new(vertex, fragment, COLOUR);
        info.samples = SAMPLES;
        info.depth_format = DEPTH;
        info.depth = Some((vk::CompareOp::LESS_OR_EQUAL, true));
        info
    }

    fn with_vertices(info: PipelineInfo<'static>) -> PipelineInfo<'static> {
        let vec3 = (vk::Format::R32G32B32_SFLOAT, 12);
        info.interleaved(&[vec3, vec3, vec3, (vk::Format::R8G8B8A8_UNORM, 4)])
    }

    pub fn pipelines(&self) -> Result<Pipelines> {
        let make = |info: &PipelineInfo| Pipeline::new(&self.context, info, Some(&self.bindings));
        let city = Self::with_vertices(self.info(spirv!("city.vert"), spirv!("city.frag")));
        let mut shadow = city.clone();
        shadow.vertex = spirv!("shadow.vert");
        shadow.fragment = None;
        shadow.colours.clear();
        shadow.samples = 1;
        shadow.depth_bias = Some([1.5, 0.0, 2.0]);
        shadow.attributes.truncate(1);
        let sky = self.info(spirv!("sky.vert"), spirv!("sky.frag"));
        Ok(Pipelines { shadow: make(&shadow)?, city: make(&city)?, sky: make(&sky)? })
    }

    fn draw(&self, device: &ash::Device, commands: vk::CommandBuffer, pipeline: &Pipeline, push: &[u8]) {
        pipeline.bind(commands, Some(&self.bindings), push);
        // SAFETY: recording inside a pass, with live handles.
        unsafe {
            device.cmd_bind_vertex_buffers(commands, 0, &[self.vertices.handle], &[0]);
            device.cmd_bind_index_buffer(commands, self.indices.handle, 0, vk::IndexType::UINT32);
            device.cmd_draw_indexed(commands, self.count, 1, 0, 0, 0);
        }
    }

    /// The main pass: into the samples, which only the picture survives.
    fn main_pass(&self) -> Pass<'_> {
        let transient = |image, load| Attachment { image, resolve: None, load, store: false };
        let colour = transient(&self.colour, Load::colour([0.0, 0.0, 0.0, 1.0]));
        Pass {
            colours: vec![Attachment { resolve: Some(&self.picture), ..colour }],
            depth: Some(transient(&self.depth, Load::depth(1.0, 0))),
            size: SIZE,
            ..Default::default()
        }
    }

    fn shadows(&self, device: &ash::Device, commands: vk::CommandBuffer, pipelines: &Pipelines) {
        let shadows = Pass {
            depth: Some(Attachment::new(&self.shadow, Load::depth(1.0, 0))),
            size: [SHADOW; 2],
            ..Default::default()
        };
        shadows
            .record(device, commands, |device, commands| self.draw(device, commands, &pipelines.shadow, &[]));
        barrier(device, commands);
    }

    fn picture_pass(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        pipelines: &Pipelines,
        pass: &Pass,
    ) {
        pass.record(device, commands, |device, commands| {
            self.draw(device, commands, &pipelines.city, &[]);
            pipelines.sky.bind(commands, Some(&self.bindings), &[]);
            // SAFETY: recording inside a pass.
            unsafe { device.cmd_draw(commands, 3, 1, 0, 0) };
        });
        barrier(device, commands);
    }

    /// Records a frame: shadows, then the picture.
    pub fn record(&self, pipelines: &Pipelines) -> Result<vk::CommandBuffer> {
        self.context.record(|device, commands| {
            self.shadows(device, commands, pipelines);
            self.picture_pass(device, commands, pipelines, &self.main_pass());
        })
    }

    /// RGBA8, rows from the top.
    pub fn picture(&self) -> Result<Vec<u8>> {
        self.picture.read(vk::ImageAspectFlags::COLOR, 4)
    }

    /// Cores' cycles of each region of the main pass, row by row, as the driver counts them; of a context that
    /// [`regions::context`] has made.
    fn heat(&self) -> Result<Vec<u32>> {
        let pipelines = self.pipelines()?;
        let mut regions = Regions::new(&self.context, SIZE, CELL)?;
        let asked = regions.asked();
        let pass = Pass { chain: (&raw const asked).cast(), ..self.main_pass() };
        self.context.run(|device, commands| {
            self.shadows(device, commands, &pipelines);
            self.picture_pass(device, commands, &pipelines, &pass);
        })?;
        Ok(regions.counts())
    }
}

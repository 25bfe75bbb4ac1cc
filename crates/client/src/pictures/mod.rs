//! The benchmark pictures: shaders, state and timing. What they are: `benches/pictures/README.md`.

mod expect;
mod first;
mod footprint;

pub use first::{FIRST_FRAMES, First, first_frame};
pub use footprint::{Footprint, footprint};

use crate::graphics::{
    Attachment, Bindings, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, Resource, Sampler, barrier,
    over,
};
use crate::measure::{Moment, Span};
use crate::{Buffer, Context, Error, Result};
use ash::vk;
use random::Random;
use std::rc::Rc;

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!("../../../../benches/pictures/", $name, ".spv"))
    };
}
use spirv;

/// Width and height in pixels.
pub const SIZE: [u32; 2] = [1920, 1080];
/// Full-screen layers of a picture that has them.
pub const LAYERS: u32 = 16;
/// Triangles of the picture that has them.
pub const TRIANGLES: u32 = 200_000;
/// Side of the texture in texels.
const TEXTURE: u32 = 256;
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// A picture.
#[derive(Clone, Copy)]
pub struct Spec {
    pub name: &'static str,
    vertex: &'static [u8],
    fragment: &'static [u8],
    blend: bool,
    texture: bool,
    depth: bool,
    /// Depth of the nearest layer: of the first one by quad.vert, of the last one by quadb.vert.
    nearest: f32,
    /// Without a depth attachment.
    bare: bool,
    /// Small triangles from a vertex buffer instead of layers, that other stages may make.
    triangles: Option<Triangles>,
}

/// Triangles of about 10 px, and how they come about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Triangles {
    /// From vertices as they are.
    Plain,
    /// Four of each that a geometry shader is given.
    Geometry,
    /// 24 of each patch.
    Tessellated,
    /// Of a mesh shader, 40 a workgroup.
    Mesh,
    /// None are drawn: vertices are captured by transform feedback.
    Captured,
}

impl Triangles {
    /// How many are given, and of how many pixels each.
    fn given(self) -> (u32, f64) {
        match self {
            Triangles::Plain | Triangles::Mesh => (TRIANGLES, 10.0),
            Triangles::Geometry => (TRIANGLES / 8, 40.0),
            Triangles::Tessellated => (TRIANGLES / 24, 240.0),
            Triangles::Captured => (CAPTURED / 3, 10.0),
        }
    }
    /// How many are drawn of each.
    fn parts(self) -> u32 {
        match self {
            Triangles::Geometry => 4,
            Triangles::Tessellated => 24,
            _ => 1,
        }
    }
    /// Stages between the vertices and the rasteriser.
    fn stages(self) -> &'static [(vk::ShaderStageFlags, &'static [u8])] {
        use vk::ShaderStageFlags as Stage;
        match self {
            Triangles::Geometry => &[(Stage::GEOMETRY, spirv!("split.geom"))],
            Triangles::Tessellated => &[
                (Stage::TESSELLATION_CONTROL, spirv!("four.tesc")),
                (Stage::TESSELLATION_EVALUATION, spirv!("four.tese")),
            ],
            Triangles::Mesh => &[(Stage::MESH_EXT, spirv!("tris.mesh"))],
            Triangles::Plain | Triangles::Captured => &[],
        }
    }
    /// A pipeline that takes such vertices: without a vertex shader where none reads them.
    fn assembled(self, mut info: PipelineInfo) -> PipelineInfo {
        if self == Triangles::Mesh {
            info.vertex = &[];
            return info;
        }
        let vec4 = (vk::Format::R32G32B32A32_SFLOAT, 16);
        info = info.interleaved(&[vec4, vec4]);
        match self {
            Triangles::Tessellated => {
                info.topology = vk::PrimitiveTopology::PATCH_LIST;
                info.patch = 3;
            }
            Triangles::Captured => {
                info.topology = vk::PrimitiveTopology::POINT_LIST;
                info.discard = true;
                info.fragment = None;
            }
            Triangles::Plain | Triangles::Geometry | Triangles::Mesh => {}
        }
        info
    }
}

/// What draws a mesh shader's triangles of these vertices.
fn meshes(context: &Rc<Context>, vertices: &Buffer) -> Result<(ash::ext::mesh_shader::Device, Bindings)> {
    context.needs(vk::EXT_MESH_SHADER_NAME)?;
    Ok((
        ash::ext::mesh_shader::Device::new(&context.instance, &context.device),
        Bindings::new(context, &[Resource::Storage(vertices)])?,
    ))
}

/// Vertices that transform feedback captures, and what one takes there.
const CAPTURED: u32 = 999_999;
const STRIDE: usize = 32;
/// How an error begins of what a driver does not have.
pub const MISSING: &str = "not there: ";

const FLAT: Spec = Spec {
    name: "flat",
    vertex: spirv!("quad.vert"),
    fragment: spirv!("flat.frag"),
    blend: false,
    texture: false,
    depth: false,
    nearest: 1.0 / 32.0,
    bare: false,
    triangles: None,
};
const TEX: Spec = Spec { name: "tex", fragment: spirv!("tex.frag"), texture: true, ..FLAT };

const TRI: Spec = Spec {
    name: "tri",
    vertex: spirv!("tri.vert"),
    fragment: spirv!("tri.frag"),
    triangles: Some(Triangles::Plain),
    ..FLAT
};

/// All of them, in the order of the tables.
pub const PICTURES: [Spec; 13] = [
    FLAT,
    Spec { name: "blend", blend: true, ..FLAT },
    TEX,
    Spec { name: "tex+blend", blend: true, ..TEX },
    Spec { name: "front", depth: true, ..FLAT },
    Spec { name: "back", depth: true, nearest: 16.0 / 32.0, vertex: spirv!("quadb.vert"), ..FLAT },
    Spec { name: "flat-bare", bare: true, ..FLAT },
    Spec { name: "tex-bare", bare: true, ..TEX },
    TRI,
    Spec { name: "geom", triangles: Some(Triangles::Geometry), ..TRI },
    Spec { name: "tess", triangles: Some(Triangles::Tessellated), ..TRI },
    Spec { name: "mesh", triangles: Some(Triangles::Mesh), ..TRI },
    Spec { name: "xfb", vertex: spirv!("captured.vert"), triangles: Some(Triangles::Captured), ..TRI },
];

/// The picture called `name`.
pub fn find(name: &str) -> Result<&'static Spec> {
    PICTURES.iter().find(|p| p.name == name).ok_or_else(|| Error(format!("no picture is called {name}")))
}

impl Spec {
    /// What a net second is divided into, and its unit: pixels of all layers, or triangles, in millions.
    pub fn work(&self) -> (f64, &'static str) {
        match self.triangles {
            Some(Triangles::Captured) => (f64::from(CAPTURED) * 1e-6, "Mvert/s"),
            Some(t) => (f64::from(t.given().0 * t.parts()) * 1e-6, "Mtri/s"),
            None => (f64::from(SIZE[0]) * f64::from(SIZE[1]) * f64::from(LAYERS) * 1e-6, "Mpix/s"),
        }
    }
}

/// The texture: pseudo-random texels, at least half opaque, so that rounding does not pile up over the layers.
fn texels() -> Vec<u8> {
    let mut random = Random::default();
    (0..TEXTURE * TEXTURE).flat_map(|_| (random.u32() | 0x8000_0000).to_le_bytes()).collect()
}

/// The triangles' corners: position in pixels on the 1/256 grid, and colour. Equilateral, `area` px large, turned and
/// placed at random.
fn corners((count, area): (u32, f64)) -> Vec<([f64; 2], [f32; 4])> {
    let radius = (4.0 * area).sqrt() / 27.0f64.powf(0.25);
    // Space around them.
    let edge = radius.max(4.0).ceil();
    let mut random = Random::default();
    let mut list = Vec::new();
    for _ in 0..count {
        let centre = SIZE.map(|s| edge + f64::from(random.unit()) * (f64::from(s) - 2.0 * edge));
        let turn = f64::from(random.unit());
        for k in 0..3 {
            let angle = (turn + f64::from(k) / 3.0) * std::f64::consts::TAU;
            let at = [centre[0] + radius * angle.cos(), centre[1] + radius * angle.sin()];
            let grid = at.map(|v| (v * 256.0).round() / 256.0);
            list.push((grid, [random.unit(), random.unit(), random.unit(), 1.0]));
        }
    }
    list
}

fn vertices(given: (u32, f64)) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (at, colour) in corners(given) {
        let ndc = [0, 1].map(|i| (at[i] * 2.0 / f64::from(SIZE[i]) - 1.0) as f32);
        let floats = [ndc[0], ndc[1], 0.5, 1.0].into_iter().chain(colour);
        bytes.extend(floats.flat_map(f32::to_le_bytes));
    }
    bytes
}

/// A picture that is set up on a driver.
pub struct Ready {
    context: Rc<Context>,
    pub spec: &'static Spec,
    colour: Image,
    depth: Image,
    /// Clears and stores.
    clear: vk::CommandBuffer,
    /// Clears, draws and stores.
    full: vk::CommandBuffer,
    // Named by the command buffers.
    _pipeline: Pipeline,
    _bindings: Option<Bindings>,
    _texture: Option<(Image, Sampler)>,
    _vertices: Option<Buffer>,
    captured: Option<Buffer>,
}

impl Ready {
    pub fn new(context: &Rc<Context>, spec: &'static Spec) -> Result<Self> {
        let colour = Image::new(context, ImageInfo::colour(FORMAT, SIZE))?;
        let format = vk::Format::D32_SFLOAT;
        let depth = Image::new(context, ImageInfo::depth(format, SIZE))?;
        let texture = match spec.texture {
            true => {
                let info = ImageInfo::texture(FORMAT, [TEXTURE, TEXTURE]);
                Some((Image::with_texels(context, info, &texels())?, Sampler::linear(context)?))
            }
            false => None,
        };
        let bindings = match &texture {
            Some((image, sampler)) => Some(Bindings::new(context, &[Resource::Texture(image, sampler)])?),
            None => None,
        };
        let vertices = match spec.triangles {
            Some(t) => Some(Buffer::with(context, &vertices(t.given()))?),
            None => None,
        };
        let mesh = match (spec.triangles, &vertices) {
            (Some(Triangles::Mesh), Some(v)) => Some(meshes(context, v)?),
            _ => None,
        };
        let captured = match spec.triangles {
            Some(Triangles::Captured) => {
                context.needs(vk::EXT_TRANSFORM_FEEDBACK_NAME)?;
                let usage = vk::BufferUsageFlags::TRANSFORM_FEEDBACK_BUFFER_EXT;
                Some(Buffer::of(context, CAPTURED as usize * STRIDE, usage)?)
            }
            _ => None,
        };
        let feedback = captured.as_ref().map(|buffer| {
            (ash::ext::transform_feedback::Device::new(&context.instance, &context.device), buffer)
        });
        let (mesh, bindings) = match mesh {
            Some((m, b)) => (Some(m), Some(b)),
            None => (None, bindings),
        };
        let mut info = PipelineInfo::new(spec.vertex, spec.fragment, FORMAT);
        if spec.blend {
            info.blend = over();
        }
        info.depth_format = if spec.bare { vk::Format::UNDEFINED } else { format };
        if spec.depth {
            info.depth = Some((vk::CompareOp::LESS, true));
        }
        if let Some(triangles) = spec.triangles {
            info.stages = triangles.stages().to_vec();
            info = triangles.assembled(info);
        }
        let pipeline = Pipeline::new(context, &info, bindings.as_ref())?;
        let pass = Pass {
            colours: vec![Attachment::new(&colour, Load::colour([0.0; 4]))],
            depth: (!spec.bare)
                .then(|| Attachment { store: spec.depth, ..Attachment::new(&depth, Load::depth(1.0, 0)) }),
            size: SIZE,
            ..Default::default()
        };
        let clear = context.record(|device, commands| {
            pass.record(device, commands, |_, _| {});
            barrier(device, commands);
        })?;
        let full = context.record(|device, commands| {
            pass.record(device, commands, |device, commands| {
                pipeline.bind(commands, bindings.as_ref(), &[]);
                // SAFETY: recording inside a pass, with live handles.
                unsafe {
                    if let Some((f, to)) = &feedback {
                        let bind = f.fp().cmd_bind_transform_feedback_buffers_ext;
                        bind(commands, 0, 1, &to.handle, &0, &vk::WHOLE_SIZE);
                        let begin = f.fp().cmd_begin_transform_feedback_ext;
                        begin(commands, 0, 0, std::ptr::null(), std::ptr::null());
                    }
                    match (&vertices, &mesh, spec.triangles) {
                        (_, Some(m), _) => m.cmd_draw_mesh_tasks(commands, TRIANGLES / 40, 1, 1),
                        (Some(b), _, Some(triangles)) => {
                            device.cmd_bind_vertex_buffers(commands, 0, &[b.handle], &[0]);
                            device.cmd_draw(commands, triangles.given().0 * 3, 1, 0, 0);
                        }
                        _ => device.cmd_draw(commands, 3, LAYERS, 0, 0),
                    }
                    if let Some((f, _)) = &feedback {
                        let end = f.fp().cmd_end_transform_feedback_ext;
                        end(commands, 0, 0, std::ptr::null(), std::ptr::null());
                    }
                }
            });
            barrier(device, commands);
        })?;
        drop(pass);
        Ok(Self {
            context: context.clone(),
            spec,
            colour,
            depth,
            clear,
            full,
            _pipeline: pipeline,
            _bindings: bindings,
            _texture: texture,
            _vertices: vertices,
            captured,
        })
    }

    /// Seconds a pass takes, or if not `whole`, beyond one that only clears: means over about `budget_ms` of both in turn.
    pub fn time(&self, budget_ms: u64, whole: bool) -> Result<Span> {
        let start = Moment::now();
        let mut net = Span { wall: 0.0, cpu: 0.0 };
        let mut times = 0.0;
        while times == 0.0 || start.elapsed().wall * 1e3 < budget_ms as f64 {
            for (commands, sign) in [(self.clear, if whole { 0.0 } else { -1.0 }), (self.full, 1.0)] {
                let from = Moment::now();
                self.context.submit_and_wait(commands)?;
                let span = from.elapsed();
                net.wall += sign * span.wall;
                net.cpu += sign * span.cpu;
            }
            times += 1.0;
        }
        Ok(Span { wall: net.wall / times, cpu: net.cpu / times })
    }

    /// Draws once.
    pub fn pass(&self) -> Result<()> {
        self.context.submit_and_wait(self.full)
    }

    /// Draws once: colour and depth.
    pub fn draw(&self) -> Result<(Vec<u8>, Option<Vec<u8>>)> {
        self.pass()?;
        let colour = self.colour.read(vk::ImageAspectFlags::COLOR, 4)?;
        let depth = match self.spec.depth {
            true => Some(self.depth.read(vk::ImageAspectFlags::DEPTH, 4)?),
            false => None,
        };
        Ok((colour, depth))
    }

    /// Draws once and compares the pixels with what the picture's formula gives.
    pub fn check(&self) -> Result<()> {
        if let Some(buffer) = &self.captured {
            self.pass()?;
            return expect::captured(buffer.bytes()).map_err(Error);
        }
        let (colour, depth) = self.draw()?;
        let bits = self.context.properties.limits.sub_pixel_precision_bits;
        expect::check(self.spec, &colour, depth.as_deref(), bits).map_err(Error)
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        self.context.free(self.clear);
        self.context.free(self.full);
    }
}

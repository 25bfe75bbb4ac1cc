//! Scenes through the Vulkan API: one pass with colour, depth and stencil, resolved where it has samples.

use super::{Output, Program, Scene, Texture, VIEW_SHIFT};
use ash::vk;
use client::graphics::{
    Attachment, Bindings, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, Resource, Sampler,
};
use client::{Buffer, Context, Error, Result};
use std::rc::Rc;

const COLOUR: vk::Format = vk::Format::R8G8B8A8_UNORM;
const DEPTH: vk::Format = vk::Format::D32_SFLOAT_S8_UINT;

pub const VEC4: (vk::Format, u32) = (vk::Format::R32G32B32A32_SFLOAT, 16);

/// Vertices as a buffer of two vec4 each.
pub fn bytes(vertices: &[super::Vertex]) -> Vec<u8> {
    let floats = vertices.iter().flat_map(|v| v.at.into_iter().chain(v.colour));
    floats.flat_map(f32::to_le_bytes).collect()
}

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!("../../shaders/scenes/", $name, ".spv"))
    };
}

fn fragment(program: Program) -> &'static [u8] {
    match program {
        Program::Colour => include_bytes!("../../../../benches/pictures/tri.frag.spv"),
        Program::Discard => spirv!("discard.frag"),
        Program::Views => spirv!("views.frag"),
        Program::Texture => spirv!("texture.frag"),
        Program::Cube => spirv!("cube.frag"),
        Program::Secrets => spirv!("secrets.frag"),
        Program::Leftovers => spirv!("leftovers.frag"),
        Program::Large => include_bytes!("../../../../benches/pictures/large.frag.spv"),
    }
}

/// A draw with all that it needs.
struct Ready {
    via: Option<super::via::Ready>,
    pipeline: Pipeline,
    vertices: Buffer,
    indices: Option<Buffer>,
    count: u32,
    instances: u32,
    push: Vec<u8>,
}

impl Scene {
    /// Draws the scene on the context's device.
    pub fn run(&self, context: &Rc<Context>) -> Result<Output> {
        let texture = self.texture.as_ref().map(|t| make_texture(context, t)).transpose()?;
        let bindings = match &texture {
            Some((image, sampler)) => Some(Bindings::new(context, &[Resource::Texture(image, sampler)])?),
            None => None,
        };
        let draws = self.prepare(context, bindings.as_ref())?;
        let target = |mut info: ImageInfo, samples| {
            info.layers = self.views;
            info.samples = samples;
            Image::new(context, info)
        };
        let colour = target(ImageInfo::colour(COLOUR, self.size), self.samples)?;
        let depth = target(ImageInfo::depth(DEPTH, self.size), self.samples)?;
        let resolved = match self.samples {
            1 => None,
            _ => Some(target(ImageInfo::colour(COLOUR, self.size), 1)?),
        };
        let depth_attachment = Attachment::new(&depth, Load::depth(1.0, 0));
        let pass = Pass {
            colours: vec![Attachment {
                resolve: resolved.as_ref(),
                ..Attachment::new(&colour, Load::colour(self.clear))
            }],
            depth: Some(depth_attachment),
            stencil: Some(depth_attachment),
            size: self.size,
            view_mask: if self.views > 1 { (1 << self.views) - 1 } else { 0 },
            ..Default::default()
        };
        let queries = draws.len() as u32 * self.views;
        let info =
            vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(queries);
        // SAFETY: a plain Vulkan call.
        let pool = unsafe { context.device.create_query_pool(&info, None) }
            .map_err(Error::vk("vkCreateQueryPool"))?;
        let drawn = context.run(|device, commands| {
            draws.iter().filter_map(|d| d.via.as_ref()).for_each(|v| v.before(device, commands, self.size));
            // SAFETY: recording into a command buffer that has begun, with live handles.
            unsafe { device.cmd_reset_query_pool(commands, pool, 0, queries) };
            pass.record(device, commands, |device, commands| {
                for (i, draw) in (0..).zip(&draws) {
                    draw.record(device, commands, bindings.as_ref(), pool, i * self.views);
                }
            });
        });
        let mut passed = vec![0u64; queries as usize];
        // SAFETY: all queries have ended, for the submission was waited for; the pool is used no more.
        let counted = unsafe {
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            let counted = drawn.and_then(|()| {
                let get = context.device.get_query_pool_results(pool, 0, &mut passed, flags);
                get.map_err(Error::vk("vkGetQueryPoolResults"))
            });
            context.device.destroy_query_pool(pool, None);
            counted
        };
        counted?;
        let bytes = resolved.as_ref().unwrap_or(&colour).read(vk::ImageAspectFlags::COLOR, 4)?;
        let pixels = bytes.chunks_exact(4).map(|p| [p[0], p[1], p[2], p[3]]).collect();
        // A multiview query's count is the sum over its views' queries, however the driver spreads it.
        let passed = passed.chunks_exact(self.views as usize).map(|q| q.iter().sum()).collect();
        Ok(Output { pixels, passed })
    }

    fn prepare(&self, context: &Rc<Context>, bindings: Option<&Bindings>) -> Result<Vec<Ready>> {
        let mut list = Vec::new();
        for draw in &self.draws {
            let state = &draw.state;
            let mut info = PipelineInfo::new(spirv!("colour.vert"), fragment(draw.program), COLOUR)
                .interleaved(&[VEC4, VEC4]);
            info.topology = draw.topology;
            info.restart = draw.indices.contains(&u32::MAX);
            info.samples = self.samples;
            info.depth_format = DEPTH;
            info.stencil_format = DEPTH;
            info.depth = state.depth;
            info.stencil = state.stencil;
            info.blend = state.blend;
            info.blend_constants = state.blend_constants;
            info.cull = state.cull;
            info.front_face = state.front_face;
            info.view_mask = if self.views > 1 { (1 << self.views) - 1 } else { 0 };
            info.push_size = 8;
            let mut push = vec![state.point_size, VIEW_SHIFT];
            let via = match &draw.via {
                Some(via) => Some(via.prepare(context, &mut info, &mut push)?),
                None => None,
            };
            let bindings = via.as_ref().and_then(|v| v.bindings.as_ref()).or(bindings);
            let bytes = bytes(&draw.vertices);
            let indices: Vec<u8> = draw.indices.iter().flat_map(|i| i.to_le_bytes()).collect();
            list.push(Ready {
                pipeline: Pipeline::new(context, &info, bindings)?,
                via,
                vertices: Buffer::with(context, &bytes)?,
                indices: match indices.is_empty() {
                    true => None,
                    false => Some(Buffer::with(context, &indices)?),
                },
                count: if indices.is_empty() { draw.vertices.len() } else { draw.indices.len() } as u32,
                instances: draw.instances,
                push: push.iter().flat_map(|f| f.to_le_bytes()).collect(),
            });
        }
        Ok(list)
    }
}

impl Ready {
    fn record(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        bindings: Option<&Bindings>,
        pool: vk::QueryPool,
        query: u32,
    ) {
        let own = self.via.as_ref().and_then(|v| v.bindings.as_ref());
        self.pipeline.bind(commands, own.or(bindings), &self.push);
        // SAFETY: recording inside a pass, with live handles.
        unsafe {
            device.cmd_begin_query(commands, pool, query, vk::QueryControlFlags::PRECISE);
            device.cmd_bind_vertex_buffers(commands, 0, &[self.vertices.handle], &[0]);
            match &self.indices {
                _ if self.via.is_some() => self.via.iter().for_each(|v| v.draw(device, commands)),
                Some(b) => {
                    device.cmd_bind_index_buffer(commands, b.handle, 0, vk::IndexType::UINT32);
                    device.cmd_draw_indexed(commands, self.count, self.instances, 0, 0, 0);
                }
                None => device.cmd_draw(commands, self.count, self.instances, 0, 0),
            }
            device.cmd_end_query(commands, pool, query);
        }
    }
}

fn make_texture(context: &Rc<Context>, texture: &Texture) -> Result<(Image, Sampler)> {
    let mut info = ImageInfo::texture(COLOUR, [texture.side, texture.side]);
    info.mips = texture.mips;
    info.cube = texture.cube;
    info.layers = if texture.cube { 6 } else { 1 };
    let sampler = vk::SamplerCreateInfo::default()
        .mag_filter(texture.filter)
        .min_filter(texture.filter)
        .mipmap_mode(texture.mip_filter)
        .anisotropy_enable(texture.anisotropy > 1.0)
        .max_anisotropy(texture.anisotropy)
        .max_lod(vk::LOD_CLAMP_NONE);
    Ok((Image::with_texels(context, info, &texture.texels)?, Sampler::new(context, &sampler)?))
}

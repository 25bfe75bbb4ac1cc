//! What the scenes are made with: named images, meshes, labelled draws.

use ash::vk;
use client::graphics::{
    Attachment, Bindings, Image, ImageInfo, Pass, Pipeline, PipelineInfo, Resource, Sampler,
};
use client::{Buffer, Context, Error, Library, Result};
use std::ffi::CString;
use std::rc::Rc;

/// Pixels of a target's side.
pub const SIDE: u32 = 512;

pub struct Stage {
    pub context: Rc<Context>,
    debug: ash::ext::debug_utils::Device,
}

/// A draw of a pass.
pub struct Draw<'a> {
    pub label: &'a str,
    pub pipeline: &'a Pipeline,
    pub bindings: Option<&'a Bindings>,
    pub push: f32,
    /// `None`: three vertices without buffers.
    pub mesh: Option<&'a Mesh>,
}

/// Positions and coordinates, interleaved, `stride` bytes each; and indices.
pub struct Mesh {
    vertices: Buffer,
    indices: Buffer,
    pub count: u32,
    pub stride: u32,
}

/// A vertex: position and coordinates.
pub type Vertex = [f32; 5];

impl Stage {
    pub fn new() -> Result<Stage> {
        let context =
            Context::of_instance(Library::any()?, &[ash::ext::debug_utils::NAME], &[], std::ptr::null_mut())?;
        let debug = ash::ext::debug_utils::Device::new(&context.instance, &context.device);
        Ok(Stage { context, debug })
    }

    fn name(&self, image: &Image, name: &str) {
        let name = CString::new(name).unwrap_or_default();
        let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(image.handle).object_name(&name);
        // SAFETY: a live image. A name that is not taken is no harm.
        let _ = unsafe { self.debug.set_debug_utils_object_name(&info) };
    }

    pub fn image(&self, name: &str, info: ImageInfo) -> Result<Image> {
        let image = Image::new(&self.context, info)?;
        self.name(&image, name);
        Ok(image)
    }

    /// A colour target of four bytes a pixel.
    pub fn target(&self, name: &str) -> Result<Image> {
        self.image(name, ImageInfo::colour(vk::Format::R8G8B8A8_UNORM, [SIDE; 2]))
    }

    pub fn depth(&self, name: &str) -> Result<Image> {
        self.image(name, ImageInfo::depth(vk::Format::D32_SFLOAT, [SIDE; 2]))
    }

    /// A texture of bytes that look random.
    pub fn texture(&self, name: &str, format: vk::Format, side: u32, mips: u32) -> Result<Image> {
        let info = ImageInfo { mips, ..ImageInfo::texture(format, [side; 2]) };
        let texels: u64 =
            (0..mips).map(|m| info.level(m).iter().map(|s| u64::from(*s)).product::<u64>()).sum();
        let mut seed = 1u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        let bytes: Vec<u8> = (0..texels * texel_bytes(format)).map(|_| random()).collect();
        let image = match format {
            // Blocks: of one level, whole ones.
            vk::Format::ASTC_4X4_UNORM_BLOCK => self.blocks(info, &bytes)?,
            _ => Image::with_texels(&self.context, info, &bytes)?,
        };
        self.name(&image, name);
        Ok(image)
    }

    fn blocks(&self, info: ImageInfo, bytes: &[u8]) -> Result<Image> {
        let image = Image::new(&self.context, info)?;
        let staging = Buffer::with(&self.context, bytes)?;
        let [width, height] = info.size;
        let region = vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            })
            .image_extent(vk::Extent3D { width, height, depth: 1 });
        self.context.run(|device, commands| {
            // SAFETY: recording into a command buffer that has begun; the buffer holds the region.
            unsafe {
                device.cmd_copy_buffer_to_image(
                    commands,
                    staging.handle,
                    image.handle,
                    vk::ImageLayout::GENERAL,
                    &[region],
                );
            }
            client::graphics::barrier(device, commands);
        })?;
        Ok(image)
    }

    pub fn bindings(&self, textures: &[&Image], sampler: &Sampler) -> Result<Bindings> {
        let all: Vec<Resource> = textures.iter().map(|t| Resource::Texture(t, sampler)).collect();
        Bindings::new(&self.context, &all)
    }

    /// With depth if there is a comparison.
    pub fn info<'a>(vertex: &'a [u8], fragment: &'a [u8]) -> PipelineInfo<'a> {
        let mut info = PipelineInfo::new(vertex, fragment, vk::Format::R8G8B8A8_UNORM);
        info.push_size = 4;
        info
    }

    /// Of meshes with this stride.
    pub fn of_mesh(mut info: PipelineInfo, stride: u32) -> PipelineInfo {
        info = info.interleaved(&[(vk::Format::R32G32B32_SFLOAT, 12), (vk::Format::R32G32_SFLOAT, 8)]);
        info.buffers[0].stride = stride;
        info
    }

    pub fn pipeline(&self, info: &PipelineInfo, bindings: Option<&Bindings>) -> Result<Pipeline> {
        Pipeline::new(&self.context, info, bindings)
    }

    pub fn mesh(&self, vertices: &[Vertex], stride: u32, indices: &[u32]) -> Result<Mesh> {
        let mut bytes = vec![0; vertices.len() * stride as usize];
        for (to, v) in bytes.chunks_mut(stride as usize).zip(vertices) {
            to.iter_mut().zip(v.iter().flat_map(|f| f.to_le_bytes())).for_each(|(t, b)| *t = b);
        }
        let list: Vec<u8> = indices.iter().flat_map(|i| i.to_le_bytes()).collect();
        Ok(Mesh {
            vertices: Buffer::with(&self.context, &bytes)?,
            indices: Buffer::with(&self.context, &list)?,
            count: indices.len() as u32,
            stride,
        })
    }

    /// A rectangle in a corner, which nothing is wrong with.
    pub fn corner(&self) -> Result<Mesh> {
        let vertices: Vec<Vertex> = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
            .map(|[x, y]| [x * 0.4 - 1.0, y * 0.4 - 1.0, 0.5, x, y])
            .to_vec();
        self.mesh(&vertices, 20, &[0, 1, 2, 2, 1, 3])
    }

    /// Records draws, each under its label.
    pub fn draws(&self, device: &ash::Device, commands: vk::CommandBuffer, draws: &[Draw]) {
        for d in draws {
            self.labelled(commands, d.label, || {
                // SAFETY: recording into a command buffer that has begun, in a pass, with live handles.
                unsafe {
                    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, d.pipeline.handle);
                    device.cmd_push_constants(
                        commands,
                        d.pipeline.layout,
                        vk::ShaderStageFlags::ALL_GRAPHICS,
                        0,
                        &d.push.to_le_bytes(),
                    );
                    if let Some(b) = d.bindings {
                        let point = vk::PipelineBindPoint::GRAPHICS;
                        device.cmd_bind_descriptor_sets(commands, point, d.pipeline.layout, 0, &[b.set], &[]);
                    }
                    match d.mesh {
                        Some(m) => {
                            device.cmd_bind_vertex_buffers(commands, 0, &[m.vertices.handle], &[0]);
                            device.cmd_bind_index_buffer(
                                commands,
                                m.indices.handle,
                                0,
                                vk::IndexType::UINT32,
                            );
                            device.cmd_draw_indexed(commands, m.count, 1, 0, 0, 0);
                        }
                        None => device.cmd_draw(commands, 3, 1, 0, 0),
                    }
                }
            });
        }
    }

    pub fn labelled(&self, commands: vk::CommandBuffer, label: &str, f: impl FnOnce()) {
        let name = CString::new(label).unwrap_or_default();
        let info = vk::DebugUtilsLabelEXT::default().label_name(&name);
        // SAFETY: recording into a command buffer that has begun.
        unsafe {
            self.debug.cmd_begin_debug_utils_label(commands, &info);
            f();
            self.debug.cmd_end_debug_utils_label(commands);
        }
    }

    /// Records a pass over whole images.
    pub fn pass(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        colour: Attachment,
        depth: Option<Attachment>,
        draws: &[Draw],
    ) {
        let pass = Pass { colours: vec![colour], depth, size: colour.image.info.size, ..Pass::default() };
        pass.record(device, commands, |device, commands| self.draws(device, commands, draws));
    }

    /// Submits each on its own, and waits for the last.
    pub fn queued(&self, all: &[vk::CommandBuffer]) -> Result<()> {
        let c = &self.context;
        for commands in all {
            let one = [*commands];
            let submit = vk::SubmitInfo::default().command_buffers(&one);
            // SAFETY: recorded, and not pending.
            unsafe { c.device.queue_submit(c.queue, &[submit], vk::Fence::null()) }
                .map_err(Error::vk("vkQueueSubmit"))?;
        }
        // SAFETY: a plain Vulkan call.
        unsafe { c.device.queue_wait_idle(c.queue) }.map_err(Error::vk("vkQueueWaitIdle"))?;
        all.iter().for_each(|commands| c.free(*commands));
        Ok(())
    }

    /// The program reads its picture.
    pub fn show(&self, image: &Image) -> Result<()> {
        image.read_part([0, 0], [1, 1]).map(drop)
    }
}

/// Bytes of a texel; of ASTC's blocks of sixteen, each.
fn texel_bytes(format: vk::Format) -> u64 {
    match format {
        vk::Format::ASTC_4X4_UNORM_BLOCK => 1,
        _ => 4,
    }
}

/// Work of these stages is waited for by that of those.
pub fn wait(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    from: vk::PipelineStageFlags,
    to: vk::PipelineStageFlags,
) {
    let memory = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
        .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
    // SAFETY: recording into a command buffer that has begun.
    unsafe {
        device.cmd_pipeline_barrier(commands, from, to, vk::DependencyFlags::empty(), &memory, &[], &[]);
    }
}

//! A device with a few pipelines, and short words for commands.

use ash::vk;
use client::graphics::{Image, ImageInfo};
use client::{Buffer, Context, Error, Result};
use std::cell::RefCell;
use std::rc::Rc;
use vk::{AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};

pub type Masks = (S, A);
pub const NONE: Masks = (S::NONE, A::NONE);
pub const COPY_READ: Masks = (S::COPY, A::TRANSFER_READ);
pub const COPY_WRITE: Masks = (S::COPY, A::TRANSFER_WRITE);
pub const CLEAR: Masks = (S::CLEAR, A::TRANSFER_WRITE);
pub const SHADER_READ: Masks = (S::COMPUTE_SHADER, A::SHADER_READ);
pub const SHADER_WRITE: Masks = (S::COMPUTE_SHADER, A::SHADER_WRITE);
pub const FRAGMENT_READ: Masks = (S::FRAGMENT_SHADER, A::SHADER_READ);
pub const COLOR: Masks = (
    S::COLOR_ATTACHMENT_OUTPUT,
    A::from_raw(A::COLOR_ATTACHMENT_READ.as_raw() | A::COLOR_ATTACHMENT_WRITE.as_raw()),
);
pub const EVERYTHING: Masks =
    (S::ALL_COMMANDS, A::from_raw(A::MEMORY_READ.as_raw() | A::MEMORY_WRITE.as_raw()));

pub const SIZE: u32 = 64;
/// Bytes of a buffer.
pub const BYTES: u64 = 65536;

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!("../../tests/hazards/", $name, ".spv"))
    };
}

pub struct World {
    pub context: Rc<Context>,
    pub device: ash::Device,
    pub buffers: [Buffer; 3],
    set_layout: vk::DescriptorSetLayout,
    pub layout: vk::PipelineLayout,
    pool: vk::DescriptorPool,
    sampler: vk::Sampler,
    commands: vk::CommandPool,
    /// They live until all work is done.
    images: RefCell<Vec<Rc<Image>>>,
}

/// What a descriptor set has.
#[derive(Default, Clone, Copy)]
pub struct Bound<'a> {
    pub buffers: [Option<&'a Buffer>; 2],
    pub stored: Option<&'a Image>,
    pub sampled: Option<(&'a Image, L)>,
    pub input: Option<(&'a Image, L)>,
}

fn vk_error<T>(what: &'static str, r: std::result::Result<T, vk::Result>) -> Result<T> {
    r.map_err(Error::vk(what))
}

impl World {
    pub fn open() -> Result<World> {
        let context = Context::presenting()?;
        let device = context.device.clone();
        let buffers = [(); 3].map(|()| Buffer::new(&context, BYTES as usize));
        let [a, b, c] = buffers;
        let (mut a, mut b, mut c) = (a?, b?, c?);
        [&mut a, &mut b, &mut c].into_iter().for_each(|b| b.bytes_mut().fill(0));
        let all =
            vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::VERTEX | vk::ShaderStageFlags::FRAGMENT;
        let kinds = [
            (vk::DescriptorType::STORAGE_BUFFER, all),
            (vk::DescriptorType::STORAGE_BUFFER, all),
            (vk::DescriptorType::STORAGE_IMAGE, all),
            (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, all),
            (vk::DescriptorType::INPUT_ATTACHMENT, vk::ShaderStageFlags::FRAGMENT),
        ];
        let bindings: Vec<_> = kinds
            .iter()
            .enumerate()
            .map(|(i, (kind, stages))| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(i as u32)
                    .descriptor_type(*kind)
                    .descriptor_count(1)
                    .stage_flags(*stages)
            })
            .collect();
        let sizes: Vec<_> =
            kinds.iter().map(|(k, _)| vk::DescriptorPoolSize { ty: *k, descriptor_count: 32 }).collect();
        let push = [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size: 8 }];
        let family = 0;
        // SAFETY: plain creation with structures of this function.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout =
                vk_error("vkCreateDescriptorSetLayout", device.create_descriptor_set_layout(&info, None))?;
            let sets = [set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
            let layout = vk_error("vkCreatePipelineLayout", device.create_pipeline_layout(&info, None))?;
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(32).pool_sizes(&sizes);
            let pool = vk_error("vkCreateDescriptorPool", device.create_descriptor_pool(&info, None))?;
            let info = vk::SamplerCreateInfo::default();
            let sampler = vk_error("vkCreateSampler", device.create_sampler(&info, None))?;
            let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
            let commands = vk_error("vkCreateCommandPool", device.create_command_pool(&info, None))?;
            let buffers = [a, b, c];
            Ok(World {
                context,
                device,
                buffers,
                set_layout,
                layout,
                pool,
                sampler,
                commands,
                images: RefCell::default(),
            })
        }
    }

    /// Waits for everything. What was made stays until the process ends.
    pub fn end(self) -> Result<()> {
        // SAFETY: the device is alive; afterwards nothing uses it.
        unsafe {
            vk_error("vkDeviceWaitIdle", self.device.device_wait_idle())?;
            self.device.destroy_descriptor_pool(self.pool, None);
            self.device.destroy_command_pool(self.commands, None);
            self.device.destroy_sampler(self.sampler, None);
            self.device.destroy_pipeline_layout(self.layout, None);
            self.device.destroy_descriptor_set_layout(self.set_layout, None);
        }
        Ok(())
    }

    pub fn image(&self, info: ImageInfo) -> Result<Rc<Image>> {
        let image = Rc::new(Image::new(&self.context, info)?);
        self.images.borrow_mut().push(image.clone());
        Ok(image)
    }

    /// A colour attachment that can do everything else too.
    pub fn target(&self) -> Result<Rc<Image>> {
        use vk::ImageUsageFlags as U;
        let all = U::COLOR_ATTACHMENT | U::INPUT_ATTACHMENT | U::SAMPLED | U::STORAGE;
        let info = ImageInfo::colour(vk::Format::R8G8B8A8_UNORM, [SIZE; 2]);
        self.image(ImageInfo { usage: all | U::TRANSFER_SRC | U::TRANSFER_DST, ..info })
    }

    pub fn depth(&self) -> Result<Rc<Image>> {
        let info = ImageInfo::depth(vk::Format::D32_SFLOAT, [SIZE; 2]);
        let usage = info.usage | vk::ImageUsageFlags::TRANSFER_DST;
        self.image(ImageInfo { usage, ..info })
    }

    pub fn set(&self, bound: Bound) -> Result<vk::DescriptorSet> {
        let layouts = [self.set_layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.pool).set_layouts(&layouts);
        // SAFETY: plain calls; infos live until the update.
        unsafe {
            let set = vk_error("vkAllocateDescriptorSets", self.device.allocate_descriptor_sets(&info))?[0];
            for (i, b) in bound.buffers.iter().enumerate() {
                let Some(b) = b else { continue };
                let info = [vk::DescriptorBufferInfo { buffer: b.handle, offset: 0, range: vk::WHOLE_SIZE }];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(i as u32)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&info);
                self.device.update_descriptor_sets(&[write], &[]);
            }
            let images = [
                (2, vk::DescriptorType::STORAGE_IMAGE, bound.stored.map(|i| (i, L::GENERAL))),
                (3, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, bound.sampled),
                (4, vk::DescriptorType::INPUT_ATTACHMENT, bound.input),
            ];
            for (binding, kind, image) in images {
                let Some((image, layout)) = image else { continue };
                let info = [vk::DescriptorImageInfo {
                    sampler: self.sampler,
                    image_view: image.view,
                    image_layout: layout,
                }];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding)
                    .descriptor_type(kind)
                    .image_info(&info);
                self.device.update_descriptor_sets(&[write], &[]);
            }
            Ok(set)
        }
    }

    fn module(&self, spirv: &[u8]) -> Result<vk::ShaderModule> {
        let words = client::words(spirv);
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: whole words of a module.
        vk_error("vkCreateShaderModule", unsafe { self.device.create_shader_module(&info, None) })
    }

    pub fn compute(&self, name: &str) -> Result<vk::Pipeline> {
        let spirv: &[u8] = match name {
            "copy" => spirv!("copy.comp"),
            "fences" => spirv!("fences.comp"),
            "count" => spirv!("count.comp"),
            "store" => spirv!("store.comp"),
            _ => spirv!("fetch.comp"),
        };
        let module = self.module(spirv)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(self.layout)];
        // SAFETY: structures of this function.
        unsafe {
            let made = self.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            Ok(made.map_err(|(_, e)| Error::vk("vkCreateComputePipelines")(e))?[0])
        }
    }

    /// A pipeline that draws to one colour target; with attributes from a vertex buffer or without. `pass`: a render pass and the subpass;
    /// none: dynamic rendering.
    pub fn graphics(
        &self,
        attribute: bool,
        fragment: &str,
        pass: Option<(vk::RenderPass, u32)>,
    ) -> Result<vk::Pipeline> {
        let vertex: &[u8] = if attribute { spirv!("attribute.vert") } else { spirv!("corners.vert") };
        let fragment: &[u8] = match fragment {
            "sampled" => spirv!("sampled.frag"),
            "words" => spirv!("words.frag"),
            "input" => spirv!("input.frag"),
            _ => spirv!("plain.frag"),
        };
        let stage = |stage, module| {
            vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main")
        };
        let stages = [
            stage(vk::ShaderStageFlags::VERTEX, self.module(vertex)?),
            stage(vk::ShaderStageFlags::FRAGMENT, self.module(fragment)?),
        ];
        let bindings = [vk::VertexInputBindingDescription { binding: 0, stride: 8, ..Default::default() }];
        let attributes =
            [vk::VertexInputAttributeDescription { format: vk::Format::R32G32_SFLOAT, ..Default::default() }];
        let mut input = vk::PipelineVertexInputStateCreateInfo::default();
        if attribute {
            input = input.vertex_binding_descriptions(&bindings).vertex_attribute_descriptions(&attributes);
        }
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let area = vk::Rect2D { extent: vk::Extent2D { width: SIZE, height: SIZE }, ..Default::default() };
        let (viewports, scissors) = (
            [vk::Viewport { width: SIZE as f32, height: SIZE as f32, max_depth: 1.0, ..Default::default() }],
            [area],
        );
        let viewport =
            vk::PipelineViewportStateCreateInfo::default().viewports(&viewports).scissors(&scissors);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let depth = vk::PipelineDepthStencilStateCreateInfo::default();
        let blends =
            [vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let formats = [vk::Format::R8G8B8A8_UNORM];
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .layout(self.layout);
        info = match pass {
            Some((pass, subpass)) => info.render_pass(pass).subpass(subpass),
            None => info.push_next(&mut rendering),
        };
        // SAFETY: structures of this function.
        unsafe {
            let made = self.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None);
            Ok(made.map_err(|(_, e)| Error::vk("vkCreateGraphicsPipelines")(e))?[0])
        }
    }

    pub fn record(&self, what: impl FnOnce(&Recorder)) -> Result<vk::CommandBuffer> {
        let info =
            vk::CommandBufferAllocateInfo::default().command_pool(self.commands).command_buffer_count(1);
        // SAFETY: a fresh command buffer.
        unsafe {
            let buffer =
                vk_error("vkAllocateCommandBuffers", self.device.allocate_command_buffers(&info))?[0];
            let info = vk::CommandBufferBeginInfo::default();
            vk_error("vkBeginCommandBuffer", self.device.begin_command_buffer(buffer, &info))?;
            what(&Recorder { world: self, buffer });
            vk_error("vkEndCommandBuffer", self.device.end_command_buffer(buffer))?;
            Ok(buffer)
        }
    }

    /// Submits, with semaphores of stages to wait for and to signal.
    pub fn submit(
        &self,
        queue: vk::Queue,
        commands: vk::CommandBuffer,
        wait: Option<(vk::Semaphore, u64, S)>,
        signal: Option<(vk::Semaphore, u64, S)>,
        fence: vk::Fence,
    ) -> Result<()> {
        let infos = |s: Option<(vk::Semaphore, u64, S)>| {
            let one = |(semaphore, value, stage)| {
                vk::SemaphoreSubmitInfo::default().semaphore(semaphore).value(value).stage_mask(stage)
            };
            s.map(one).into_iter().collect::<Vec<_>>()
        };
        let (waits, signals) = (infos(wait), infos(signal));
        let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
        let info = vk::SubmitInfo2::default()
            .wait_semaphore_infos(&waits)
            .command_buffer_infos(&buffers)
            .signal_semaphore_infos(&signals);
        // SAFETY: live handles.
        vk_error("vkQueueSubmit2", unsafe { self.device.queue_submit2(queue, &[info], fence) })
    }

    /// Records and submits to the first queue.
    pub fn run(&self, what: impl FnOnce(&Recorder)) -> Result<()> {
        let commands = self.record(what)?;
        self.submit(self.context.queue, commands, None, None, vk::Fence::null())
    }

    pub fn wait(&self) -> Result<()> {
        // SAFETY: the device is alive.
        vk_error("vkDeviceWaitIdle", unsafe { self.device.device_wait_idle() })
    }

    /// Images come into this layout before anything else happens.
    pub fn prepare(&self, images: &[(&Image, L)]) -> Result<()> {
        self.run(|r| {
            for (image, layout) in images {
                r.change(image, [L::UNDEFINED, L::TRANSFER_DST_OPTIMAL], NONE, EVERYTHING);
                r.clear(image, L::TRANSFER_DST_OPTIMAL);
                r.change(image, [L::TRANSFER_DST_OPTIMAL, *layout], EVERYTHING, EVERYTHING);
            }
        })?;
        self.wait()
    }
}

/// A command buffer that is being recorded.
pub struct Recorder<'a> {
    pub world: &'a World,
    pub buffer: vk::CommandBuffer,
}

// SAFETY of all: the command buffer records; handles are alive.
impl Recorder<'_> {
    fn device(&self) -> &ash::Device {
        &self.world.device
    }

    /// Bytes of one of the buffers to another.
    pub fn copy(&self, from: (usize, u64), to: (usize, u64), size: u64) {
        let regions = [vk::BufferCopy { src_offset: from.1, dst_offset: to.1, size }];
        let of = |i: usize| self.world.buffers[i].handle;
        // SAFETY: see above.
        unsafe { self.device().cmd_copy_buffer(self.buffer, of(from.0), of(to.0), &regions) }
    }

    pub fn fill(&self, buffer: usize, offset: u64, size: u64) {
        // SAFETY: see above.
        unsafe {
            self.device().cmd_fill_buffer(self.buffer, self.world.buffers[buffer].handle, offset, size, 0)
        }
    }

    pub fn barrier(&self, src: Masks, dst: Masks) {
        let barriers = [memory(src, dst)];
        let info = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: see above.
        unsafe { self.device().cmd_pipeline_barrier2(self.buffer, &info) }
    }

    pub fn buffer_barrier(&self, buffer: usize, offset: u64, size: u64, src: Masks, dst: Masks) {
        let barriers = [vk::BufferMemoryBarrier2::default()
            .src_stage_mask(src.0)
            .src_access_mask(src.1)
            .dst_stage_mask(dst.0)
            .dst_access_mask(dst.1)
            .buffer(self.world.buffers[buffer].handle)
            .offset(offset)
            .size(size)];
        let info = vk::DependencyInfo::default().buffer_memory_barriers(&barriers);
        // SAFETY: see above.
        unsafe { self.device().cmd_pipeline_barrier2(self.buffer, &info) }
    }

    /// A barrier that changes an image's layout.
    pub fn change(&self, image: &Image, layouts: [L; 2], src: Masks, dst: Masks) {
        let barriers = [image_barrier(image, layouts, src, dst)];
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        // SAFETY: see above.
        unsafe { self.device().cmd_pipeline_barrier2(self.buffer, &info) }
    }

    pub fn clear(&self, image: &Image, layout: L) {
        // SAFETY: see above.
        unsafe {
            if image.info.format == vk::Format::D32_SFLOAT {
                let value = vk::ClearDepthStencilValue { depth: 1.0, stencil: 0 };
                let ranges = [whole(image)];
                self.device().cmd_clear_depth_stencil_image(
                    self.buffer,
                    image.handle,
                    layout,
                    &value,
                    &ranges,
                )
            } else {
                let value = vk::ClearColorValue { float32: [0.0; 4] };
                let ranges = [whole(image)];
                self.device().cmd_clear_color_image(self.buffer, image.handle, layout, &value, &ranges)
            }
        }
    }

    /// Some rows of an image to a buffer.
    pub fn read_rows(&self, image: &Image, layout: L, first: i32, rows: u32, to: (usize, u64)) {
        let region = [region(image, first, rows, to.1)];
        let buffer = self.world.buffers[to.0].handle;
        // SAFETY: see above.
        unsafe { self.device().cmd_copy_image_to_buffer(self.buffer, image.handle, layout, buffer, &region) }
    }

    pub fn write_rows(&self, image: &Image, layout: L, first: i32, rows: u32, from: (usize, u64)) {
        let region = [region(image, first, rows, from.1)];
        let buffer = self.world.buffers[from.0].handle;
        // SAFETY: see above.
        unsafe { self.device().cmd_copy_buffer_to_image(self.buffer, buffer, image.handle, layout, &region) }
    }

    pub fn dispatch(&self, pipeline: vk::Pipeline, set: vk::DescriptorSet, push: [u32; 2], groups: [u32; 2]) {
        self.bind(vk::PipelineBindPoint::COMPUTE, pipeline, set);
        let bytes: Vec<u8> = push.into_iter().flat_map(u32::to_le_bytes).collect();
        // SAFETY: see above.
        unsafe {
            let stage = vk::ShaderStageFlags::COMPUTE;
            self.device().cmd_push_constants(self.buffer, self.world.layout, stage, 0, &bytes);
            self.device().cmd_dispatch(self.buffer, groups[0], groups[1], 1);
        }
    }

    pub fn bind(&self, point: vk::PipelineBindPoint, pipeline: vk::Pipeline, set: vk::DescriptorSet) {
        // SAFETY: see above.
        unsafe {
            self.device().cmd_bind_pipeline(self.buffer, point, pipeline);
            self.device().cmd_bind_descriptor_sets(self.buffer, point, self.world.layout, 0, &[set], &[]);
        }
    }

    pub fn draw(&self, pipeline: vk::Pipeline, set: vk::DescriptorSet) {
        self.bind(vk::PipelineBindPoint::GRAPHICS, pipeline, set);
        // SAFETY: see above.
        unsafe { self.device().cmd_draw(self.buffer, 3, 1, 0, 0) }
    }

    /// A pass of dynamic rendering to a colour target, and to a depth target if there is one.
    pub fn render(
        &self,
        color: (&Image, L, vk::AttachmentLoadOp, vk::AttachmentStoreOp),
        depth: Option<(&Image, L, vk::AttachmentLoadOp, vk::AttachmentStoreOp)>,
        draws: impl FnOnce(),
    ) {
        fn one<'a>(
            a: (&Image, L, vk::AttachmentLoadOp, vk::AttachmentStoreOp),
        ) -> vk::RenderingAttachmentInfo<'a> {
            vk::RenderingAttachmentInfo::default()
                .image_view(a.0.view)
                .image_layout(a.1)
                .load_op(a.2)
                .store_op(a.3)
        }
        let colors = [one(color)];
        let depth = depth.map(one);
        let area = vk::Rect2D { extent: vk::Extent2D { width: SIZE, height: SIZE }, ..Default::default() };
        let mut info =
            vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&colors);
        if let Some(d) = &depth {
            info = info.depth_attachment(d);
        }
        // SAFETY: see above.
        unsafe {
            self.device().cmd_begin_rendering(self.buffer, &info);
            draws();
            self.device().cmd_end_rendering(self.buffer);
        }
    }
}

pub fn memory<'a>(src: Masks, dst: Masks) -> vk::MemoryBarrier2<'a> {
    vk::MemoryBarrier2::default()
        .src_stage_mask(src.0)
        .src_access_mask(src.1)
        .dst_stage_mask(dst.0)
        .dst_access_mask(dst.1)
}

pub fn image_barrier<'a>(
    image: &Image,
    [old, new]: [L; 2],
    src: Masks,
    dst: Masks,
) -> vk::ImageMemoryBarrier2<'a> {
    vk::ImageMemoryBarrier2::default()
        .src_stage_mask(src.0)
        .src_access_mask(src.1)
        .dst_stage_mask(dst.0)
        .dst_access_mask(dst.1)
        .old_layout(old)
        .new_layout(new)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image.handle)
        .subresource_range(whole(image))
}

pub fn whole(image: &Image) -> vk::ImageSubresourceRange {
    let aspect_mask = match image.info.format {
        vk::Format::D32_SFLOAT => vk::ImageAspectFlags::DEPTH,
        _ => vk::ImageAspectFlags::COLOR,
    };
    vk::ImageSubresourceRange { aspect_mask, level_count: 1, layer_count: 1, ..Default::default() }
}

fn region(image: &Image, first: i32, rows: u32, offset: u64) -> vk::BufferImageCopy {
    let sub = vk::ImageSubresourceLayers {
        aspect_mask: whole(image).aspect_mask,
        layer_count: 1,
        ..Default::default()
    };
    vk::BufferImageCopy {
        buffer_offset: offset,
        image_subresource: sub,
        image_offset: vk::Offset3D { x: 0, y: first, z: 0 },
        image_extent: vk::Extent3D { width: SIZE, height: rows, depth: 1 },
        ..Default::default()
    }
}

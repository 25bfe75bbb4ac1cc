//! What a program asks of a driver in small pieces, thousands of them: draws, copies, passes, submissions, dispatches, updates,
//! pipelines. Recording counts, as it does for a program, and so does the wait for the end.

use crate::graphics::{
    Attachment, Bindings, Image, ImageInfo, Load, Pass, Pipeline, PipelineInfo, Resource, over,
};
use crate::measure::{Moment, Span};
use crate::{Buffer, Context, Error, Kernel, Result};
use ash::vk;
use std::rc::Rc;

/// What is done in one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Draws of two small triangles, with pipeline, set and push constants changed each.
    Draws,
    /// Copies of 256 bytes between buffers.
    Copies,
    /// Render passes of 128² that load and store, with one draw over all of it and a barrier.
    Passes,
    /// Recordings of a dispatch, each submitted and waited for.
    Submits,
    /// Dispatches of one workgroup, with a barrier after each.
    Dispatches,
    /// vkUpdateDescriptorSets of one buffer each, in turn to many sets.
    Sets,
    /// 4 KiB written to a staging buffer and copied to another.
    Uploads,
    /// Textures of 64², RGBA8, copied from a staging buffer.
    Textures,
    /// Graphics pipelines, no two alike, created and destroyed.
    Variants,
    /// The same, from a pipeline cache that has them.
    Cached,
}

/// A row.
pub struct Spec {
    pub name: &'static str,
    /// Things in a frame.
    pub count: u32,
    what: What,
}

const fn row(name: &'static str, count: u32, what: What) -> Spec {
    Spec { name, count, what }
}

pub static ROWS: [Spec; 11] = [
    row("draws", 10_000, What::Draws),
    row("draws-50k", 50_000, What::Draws),
    row("copies", 10_000, What::Copies),
    row("passes", 1_000, What::Passes),
    row("submits", 1_000, What::Submits),
    row("dispatches", 10_000, What::Dispatches),
    row("updates-sets", 10_000, What::Sets),
    row("updates-buffers", 1_000, What::Uploads),
    row("updates-textures", 1_000, What::Textures),
    row("variants", 1_000, What::Variants),
    row("variants-cached", 1_000, What::Cached),
];

pub fn find(name: &str) -> Option<&'static Spec> {
    ROWS.iter().find(|r| r.name == name)
}

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!("../../../benches/launch/", $name, ".spv"))
    };
}

const SIDE: u32 = 512;
const PASS_SIDE: u32 = 128;
const COPY: u64 = 256;
const COPIES_APART: u64 = 100;
const UPLOAD: u64 = 4096;
const UPLOADS_APART: u64 = 16;
const TEXTURE: [u32; 2] = [64, 64];
const SETS: usize = 64;
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// Everything that a row's frames need, kept from frame to frame.
pub struct Ready {
    pub spec: &'static Spec,
    context: Rc<Context>,
    commands: vk::CommandBuffer,
    /// Colours of the two sets: red and green, both opaque.
    sets: Vec<Bindings>,
    pipelines: Vec<Pipeline>,
    target: Option<Image>,
    texture: Option<Image>,
    kernel: Option<Kernel>,
    buffers: Vec<Buffer>,
    cache: vk::PipelineCache,
    /// Counts frames: variants are new in each.
    frames: u32,
}

impl Ready {
    pub fn new(context: &Rc<Context>, spec: &'static Spec) -> Result<Self> {
        let commands = context.record(|_, _| ())?;
        let mut r = Ready {
            spec,
            context: context.clone(),
            commands,
            sets: vec![],
            pipelines: vec![],
            target: None,
            texture: None,
            kernel: None,
            buffers: vec![],
            cache: vk::PipelineCache::null(),
            frames: 0,
        };
        match spec.what {
            What::Draws | What::Passes => {
                let side = if spec.what == What::Draws { SIDE } else { PASS_SIDE };
                r.target = Some(Image::new(context, ImageInfo::colour(FORMAT, [side; 2]))?);
                for colour in [[1f32, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]] {
                    let bytes: Vec<u8> = colour.iter().flat_map(|c| c.to_le_bytes()).collect();
                    r.buffers.push(Buffer::with(context, &bytes)?);
                }
                for b in &r.buffers {
                    r.sets.push(Bindings::new(context, &[Resource::Uniform(b)])?);
                }
                let mut info = PipelineInfo::new(shader!("rect.vert"), shader!("set.frag"), FORMAT);
                info.push_size = 16;
                r.pipelines.push(Pipeline::new(context, &info, r.sets.first())?);
                info.blend = over();
                r.pipelines.push(Pipeline::new(context, &info, r.sets.first())?);
            }
            What::Submits | What::Dispatches => {
                r.buffers.push(Buffer::with(context, &[0; 256])?);
                let info = crate::compute::KernelInfo { spirv: shader!("count"), bindings: 1, push_size: 0 };
                let kernel = Kernel::new(context, &info)?;
                kernel.set(&r.buffers.iter().collect::<Vec<_>>());
                r.kernel = Some(kernel);
            }
            What::Copies => r.two_buffers(COPY * COPIES_APART)?,
            What::Uploads => r.two_buffers(UPLOAD * UPLOADS_APART)?,
            What::Textures => {
                r.two_buffers(4 * u64::from(TEXTURE[0] * TEXTURE[1]))?;
                r.texture = Some(Image::new(context, ImageInfo::texture(FORMAT, TEXTURE))?);
            }
            What::Sets => {
                r.two_buffers(256)?;
                for _ in 0..SETS {
                    r.sets.push(Bindings::new(context, &[Resource::Storage(&r.buffers[0])])?);
                }
            }
            What::Variants => {}
            What::Cached => {
                let info = vk::PipelineCacheCreateInfo::default();
                // SAFETY: a plain Vulkan call.
                r.cache = unsafe { context.device.create_pipeline_cache(&info, None) }
                    .map_err(Error::vk("vkCreatePipelineCache"))?;
            }
        }
        r.frame()?;
        r.check()?;
        Ok(r)
    }

    fn two_buffers(&mut self, bytes: u64) -> Result<()> {
        for k in 0..2u8 {
            let mut b = Buffer::new(&self.context, bytes as usize)?;
            let fill = |(i, to): (usize, &mut u8)| *to = if k == 0 { (i * 7 + i / 256) as u8 } else { 0 };
            b.bytes_mut().iter_mut().enumerate().for_each(fill);
            self.buffers.push(b);
        }
        Ok(())
    }

    /// Seconds for each of the things, of as many frames as take about so long; of one at least.
    pub fn time(&mut self, budget_ms: u64) -> Result<Span> {
        let start = Moment::now();
        let mut things = 0.0;
        loop {
            self.frame()?;
            things += f64::from(self.spec.count);
            let span = start.elapsed();
            if span.wall * 1e3 >= budget_ms as f64 {
                return Ok(Span { wall: span.wall / things, cpu: span.cpu / things });
            }
        }
    }

    /// Records anew, submits and waits.
    fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<()> {
        let (device, commands) = (&self.context.device, self.commands);
        // SAFETY: it is not pending: every submission is waited for.
        unsafe {
            device
                .reset_command_buffer(commands, vk::CommandBufferResetFlags::empty())
                .map_err(Error::vk("vkResetCommandBuffer"))?;
            device
                .begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())
                .map_err(Error::vk("vkBeginCommandBuffer"))?;
            record(device, commands);
            device.end_command_buffer(commands).map_err(Error::vk("vkEndCommandBuffer"))?;
        }
        self.context.submit_and_wait(commands)
    }

    fn frame(&mut self) -> Result<()> {
        self.frames += 1;
        let count = self.spec.count;
        match self.spec.what {
            What::Draws => self.run(|device, commands| {
                self.pass().record(device, commands, |_, commands| {
                    for i in 0..count {
                        // A hundred by a hundred, over and over.
                        let [x, y] = [i % 100, i / 100 % 100].map(|k| k as f32 * 0.02 - 1.0);
                        self.draw(commands, i as usize % 2, [x, y, x + 0.02, y + 0.02]);
                    }
                });
            }),
            What::Passes => self.run(|device, commands| {
                for i in 0..count {
                    self.pass().record(device, commands, |_, commands| {
                        self.draw(commands, i as usize % 2, [-1.0, -1.0, 1.0, 1.0]);
                    });
                    let stage = vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT;
                    barrier(device, commands, stage, vk::AccessFlags::COLOR_ATTACHMENT_WRITE);
                }
            }),
            What::Submits => (0..count).try_for_each(|_| self.run(|_, commands| self.dispatch(commands, 1))),
            What::Dispatches => self.run(|_, commands| self.dispatch(commands, count)),
            What::Copies => self.run(|device, commands| {
                for i in 0..u64::from(count) {
                    let at = i % COPIES_APART * COPY;
                    self.copy(device, commands, at, COPY);
                }
            }),
            What::Uploads => {
                for i in 0..u64::from(count) {
                    let at = i % UPLOADS_APART * UPLOAD;
                    let value = (i + u64::from(self.frames)) as u8;
                    self.buffers[0].bytes_mut()[at as usize..][..UPLOAD as usize].fill(value);
                    self.run(|device, commands| self.copy(device, commands, at, UPLOAD))?;
                }
                Ok(())
            }
            What::Textures => self.run(|device, commands| {
                let Some(texture) = &self.texture else { return };
                let region = vk::BufferImageCopy::default()
                    .image_subresource(vk::ImageSubresourceLayers {
                        aspect_mask: vk::ImageAspectFlags::COLOR,
                        layer_count: 1,
                        ..Default::default()
                    })
                    .image_extent(vk::Extent3D { width: TEXTURE[0], height: TEXTURE[1], depth: 1 });
                for _ in 0..count {
                    // SAFETY: recording into a command buffer that has begun, with live handles; the buffer has as many texels.
                    unsafe {
                        device.cmd_copy_buffer_to_image(
                            commands,
                            self.buffers[0].handle,
                            texture.handle,
                            vk::ImageLayout::GENERAL,
                            &[region],
                        );
                    }
                    barrier(
                        device,
                        commands,
                        vk::PipelineStageFlags::TRANSFER,
                        vk::AccessFlags::TRANSFER_WRITE,
                    );
                }
            }),
            What::Sets => {
                for i in 0..count as usize {
                    let info = [vk::DescriptorBufferInfo {
                        buffer: self.buffers[i / SETS % 2].handle,
                        offset: 0,
                        range: vk::WHOLE_SIZE,
                    }];
                    let write = vk::WriteDescriptorSet::default()
                        .dst_set(self.sets[i % SETS].set)
                        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                        .buffer_info(&info);
                    // SAFETY: live handles; no set is in use.
                    unsafe { self.context.device.update_descriptor_sets(&[write], &[]) };
                }
                Ok(())
            }
            What::Variants => self.variants(self.frames * count),
            What::Cached => self.variants(0),
        }
    }

    /// As many pipelines as there are in a frame, of which each has another constant from `first` on.
    fn variants(&self, first: u32) -> Result<()> {
        let device = &self.context.device;
        let module = |spirv: &[u8]| {
            let words = crate::words(spirv);
            // SAFETY: a plain Vulkan call.
            unsafe { device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None) }
                .map_err(Error::vk("vkCreateShaderModule"))
        };
        let modules = [module(shader!("rect.vert"))?, module(shader!("variant.frag"))?];
        let range =
            [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::ALL_GRAPHICS).size(16)];
        let layout = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&range);
        // SAFETY: plain Vulkan calls with structures that outlive them; what is destroyed nobody uses.
        unsafe {
            let layout =
                device.create_pipeline_layout(&layout, None).map_err(Error::vk("vkCreatePipelineLayout"))?;
            let mut made = Vec::with_capacity(self.spec.count as usize);
            let mut result = Ok(());
            for i in 0..self.spec.count {
                match variant(device, self.cache, modules, layout, (first + i) as f32 / 16384.0) {
                    Ok(p) => made.push(p),
                    Err(e) => result = Err(e),
                }
            }
            for p in made {
                device.destroy_pipeline(p, None);
            }
            device.destroy_pipeline_layout(layout, None);
            modules.into_iter().for_each(|m| device.destroy_shader_module(m, None));
            result
        }
    }

    fn pass(&self) -> Pass<'_> {
        let Some(target) = &self.target else { return Pass::default() };
        let size = target.info.size;
        Pass { colours: vec![Attachment::new(target, Load::Load)], size, ..Pass::default() }
    }

    fn draw(&self, commands: vk::CommandBuffer, which: usize, corners: [f32; 4]) {
        let mut push = [0; 16];
        push.as_chunks_mut::<4>().0.iter_mut().zip(corners).for_each(|(b, c)| *b = c.to_le_bytes());
        self.pipelines[which].bind(commands, Some(&self.sets[which]), &push);
        // SAFETY: recording into a command buffer that has begun, in a pass.
        unsafe { self.context.device.cmd_draw(commands, 6, 1, 0, 0) };
    }

    fn dispatch(&self, commands: vk::CommandBuffer, times: u32) {
        let (Some(kernel), device) = (&self.kernel, &self.context.device) else { return };
        kernel.bind(commands, &[]);
        for _ in 0..times {
            // SAFETY: recording into a command buffer that has begun, with everything bound.
            unsafe { device.cmd_dispatch(commands, 1, 1, 1) };
            let access = vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::SHADER_READ;
            barrier(device, commands, vk::PipelineStageFlags::COMPUTE_SHADER, access);
        }
    }

    fn copy(&self, device: &ash::Device, commands: vk::CommandBuffer, at: u64, size: u64) {
        let region = [vk::BufferCopy { src_offset: at, dst_offset: at, size }];
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe {
            device.cmd_copy_buffer(commands, self.buffers[0].handle, self.buffers[1].handle, &region);
        }
    }

    /// Whether a frame did what it should, by what can be worked out without a driver: one that does nothing wins nothing.
    fn check(&self) -> Result<()> {
        let wrong = |what: String| Err(Error(format!("{}: {what}", self.spec.name)));
        match self.spec.what {
            What::Draws | What::Passes => {
                let Some(target) = &self.target else { return Ok(()) };
                let bytes = target.read(vk::ImageAspectFlags::COLOR, 4)?;
                let side = target.info.size[0] as usize;
                // Both are opaque, so the last one shows: draw 100 y + x, of which odd ones are green; or the last pass.
                let odd = |x: usize, y: usize| match self.spec.what {
                    What::Passes => self.spec.count.is_multiple_of(2),
                    _ => ((y as f64 / 5.12) as usize * 100 + (x as f64 / 5.12) as usize) % 2 == 1,
                };
                for (x, y) in [(3, 3), (8, 3), (side / 2 + 3, side / 2 + 3), (side - 3, side - 3)] {
                    let want = if odd(x, y) { [0, 255, 0, 255] } else { [255, 0, 0, 255] };
                    let got = &bytes[(y * side + x) * 4..][..4];
                    if *got != want {
                        return wrong(format!("pixel {x}, {y} is {got:?}, not {want:?}"));
                    }
                }
                Ok(())
            }
            What::Submits | What::Dispatches => match self.buffers[0].words() {
                words if words.iter().all(|w| *w == self.spec.count) => Ok(()),
                words => wrong(format!("counters are at {:?}, not at {}", &words[..2], self.spec.count)),
            },
            What::Copies | What::Uploads => match self.buffers[0].bytes() == self.buffers[1].bytes() {
                true => Ok(()),
                false => wrong("the copy differs".into()),
            },
            What::Textures => {
                let Some(texture) = &self.texture else { return Ok(()) };
                match texture.read(vk::ImageAspectFlags::COLOR, 4)? == self.buffers[0].bytes() {
                    true => Ok(()),
                    false => wrong("the texture differs".into()),
                }
            }
            What::Sets | What::Variants | What::Cached => Ok(()),
        }
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        self.context.free(self.commands);
        // SAFETY: nobody uses it.
        unsafe { self.context.device.destroy_pipeline_cache(self.cache, None) };
    }
}

/// A pipeline for one colour attachment with this constant.
///
/// # Safety
/// All handles are live.
unsafe fn variant(
    device: &ash::Device,
    cache: vk::PipelineCache,
    modules: [vk::ShaderModule; 2],
    layout: vk::PipelineLayout,
    constant: f32,
) -> Result<vk::Pipeline> {
    let entry = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: 4 }];
    let data = constant.to_le_bytes();
    let special = vk::SpecializationInfo::default().map_entries(&entry).data(&data);
    let stage = |stage, module| {
        vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main")
    };
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX, modules[0]),
        stage(vk::ShaderStageFlags::FRAGMENT, modules[1]).specialization_info(&special),
    ];
    let input = vk::PipelineVertexInputStateCreateInfo::default();
    let assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let attachments = [crate::graphics::opaque()];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&attachments);
    let dynamic = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
    let formats = [FORMAT];
    let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
    let info = [vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout)
        .push_next(&mut rendering)];
    // SAFETY: the structures outlive the call, and the handles live, says the caller.
    let made = unsafe { device.create_graphics_pipelines(cache, &info, None) };
    made.map(|p| p[0]).map_err(|(_, r)| Error(format!("vkCreateGraphicsPipelines: {r:?}")))
}

/// What wrote before is there for what comes.
fn barrier(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    stage: vk::PipelineStageFlags,
    access: vk::AccessFlags,
) {
    let memory = [vk::MemoryBarrier::default().src_access_mask(access).dst_access_mask(access)];
    let none = vk::DependencyFlags::empty();
    // SAFETY: recording into a command buffer that has begun.
    unsafe { device.cmd_pipeline_barrier(commands, stage, stage, none, &memory, &[], &[]) };
}

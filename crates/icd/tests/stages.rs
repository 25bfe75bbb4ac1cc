//! Geometry, tessellation, task and mesh shaders and transform feedback through the loader: what comes out of them, by hand.

#[path = "stages/cracks.rs"]
mod cracks;
#[path = "stages/feedback.rs"]
mod feedback;
#[path = "stages/hostile.rs"]
mod hostile;
#[path = "stages/queries.rs"]
mod queries;
#[path = "stages/traffic.rs"]
mod traffic;

use crate::gpu::{Gpu, Mapped, Viewed};
use ash::vk;
pub use vk::PrimitiveTopology as T;
pub use vk::ShaderStageFlags as S;

pub const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
pub const SIDE: u32 = 64;

macro_rules! spirv {
    ($name:literal) => {
        include_bytes!(concat!("../shaders/stages_", $name, ".spv")).as_slice()
    };
}
pub(crate) use spirv;

/// A device with all of these stages, and a target.
pub struct Rig {
    pub g: Gpu,
    pub feedback: ash::ext::transform_feedback::Device,
    pub mesh: ash::ext::mesh_shader::Device,
    target: Viewed,
    layout: vk::PipelineLayout,
}

/// What a pipeline is made of.
#[derive(Clone, Copy)]
pub struct Make<'a> {
    pub stages: &'a [(S, &'a [u8])],
    pub topology: T,
    /// Nothing is rasterised.
    pub discard: bool,
    /// The stream that is.
    pub stream: u32,
}

/// A device on which all of them are enabled.
pub fn device() -> Gpu {
    let extensions = [
        vk::EXT_TRANSFORM_FEEDBACK_NAME,
        vk::EXT_MESH_SHADER_NAME,
        vk::EXT_PRIMITIVES_GENERATED_QUERY_NAME,
        vk::KHR_PERFORMANCE_QUERY_NAME,
    ];
    let mut feedback = vk::PhysicalDeviceTransformFeedbackFeaturesEXT::default()
        .transform_feedback(true)
        .geometry_streams(true);
    let mut mesh = vk::PhysicalDeviceMeshShaderFeaturesEXT::default()
        .task_shader(true)
        .mesh_shader(true)
        .mesh_shader_queries(true);
    let mut generated = vk::PhysicalDevicePrimitivesGeneratedQueryFeaturesEXT::default()
        .primitives_generated_query(true)
        .primitives_generated_query_with_rasterizer_discard(true)
        .primitives_generated_query_with_non_zero_streams(true);
    let mut counters =
        vk::PhysicalDevicePerformanceQueryFeaturesKHR::default().performance_counter_query_pools(true);
    let core = vk::PhysicalDeviceFeatures::default()
        .geometry_shader(true)
        .tessellation_shader(true)
        .pipeline_statistics_query(true)
        .shader_tessellation_and_geometry_point_size(true);
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .features(core)
        .push_next(&mut feedback)
        .push_next(&mut mesh)
        .push_next(&mut generated)
        .push_next(&mut counters);
    Gpu::with(&extensions, &mut features)
}

/// A pipeline of these stages for a target of one colour, which each fragment adds to; viewport and scissor are dynamic.
pub fn pipeline(g: &Gpu, layout: vk::PipelineLayout, make: Make) -> vk::Pipeline {
    let d = &g.device;
    // SAFETY (here and below): handles are alive, structures outlive the calls.
    unsafe {
        let module = |code: &[u8]| {
            let code = shader::words(code);
            d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None).unwrap()
        };
        let stages: Vec<_> = make
            .stages
            .iter()
            .map(|(s, code)| {
                let info = vk::PipelineShaderStageCreateInfo::default().stage(*s);
                info.module(module(code)).name(c"main")
            })
            .collect();
        let input = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(make.topology);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let mut stream =
            vk::PipelineRasterizationStateStreamCreateInfoEXT::default().rasterization_stream(make.stream);
        let raster = vk::PipelineRasterizationStateCreateInfo::default()
            .line_width(1.0)
            .rasterizer_discard_enable(make.discard)
            .push_next(&mut stream);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let (one, add) = (vk::BlendFactor::ONE, vk::BlendOp::ADD);
        let sum = [vk::PipelineColorBlendAttachmentState {
            blend_enable: vk::TRUE,
            src_color_blend_factor: one,
            dst_color_blend_factor: one,
            color_blend_op: add,
            src_alpha_blend_factor: one,
            dst_alpha_blend_factor: one,
            alpha_blend_op: add,
            color_write_mask: vk::ColorComponentFlags::RGBA,
        }];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&sum);
        let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
        let patch = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(3);
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
            .tessellation_state(&patch)
            .dynamic_state(&dynamic)
            .layout(layout)
            .push_next(&mut rendering)];
        let made = d.create_graphics_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
        stages.iter().for_each(|s| d.destroy_shader_module(s.module, None));
        made
    }
}

/// With push constants of 32 bytes for all stages, and nothing else.
pub fn layout(g: &Gpu) -> vk::PipelineLayout {
    let push = [vk::PushConstantRange { stage_flags: S::ALL, offset: 0, size: 32 }];
    let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
    unsafe { g.device.create_pipeline_layout(&info, None) }.unwrap()
}

impl Rig {
    pub fn new() -> Rig {
        let g = device();
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        Rig {
            feedback: ash::ext::transform_feedback::Device::new(&g.instance, &g.device),
            mesh: ash::ext::mesh_shader::Device::new(&g.instance, &g.device),
            target: g.image([SIDE; 2], usage),
            layout: layout(&g),
            g,
        }
    }

    pub fn pipeline(&self, make: Make) -> vk::Pipeline {
        pipeline(&self.g, self.layout, make)
    }

    /// Pushes words to all stages.
    pub fn push(&self, c: vk::CommandBuffer, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        unsafe { self.g.device.cmd_push_constants(c, self.layout, S::ALL, 0, &bytes) };
    }

    /// A pass over the cleared target with a pipeline.
    pub fn pass(&self, c: vk::CommandBuffer, pipeline: vk::Pipeline, draw: impl FnOnce(&ash::Device)) {
        let d = &self.g.device;
        let colour = [vk::RenderingAttachmentInfo::default()
            .image_view(self.target.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let area = vk::Rect2D { extent: vk::Extent2D { width: SIDE, height: SIDE }, ..Default::default() };
        let info = vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&colour);
        let side = SIDE as f32;
        let view = vk::Viewport { width: side, height: side, max_depth: 1.0, ..Default::default() };
        unsafe {
            d.cmd_begin_rendering(c, &info);
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::GRAPHICS, pipeline);
            d.cmd_set_viewport(c, 0, &[view]);
            d.cmd_set_scissor(c, 0, &[area]);
            draw(d);
            d.cmd_end_rendering(c);
        }
    }

    /// The target's pixels.
    pub fn pixels(&self) -> Vec<u32> {
        let out = self.g.buffer((SIDE * SIDE) as usize);
        self.g.run(|d, c| unsafe {
            let region = [vk::BufferImageCopy::default()
                .image_subresource(vk::ImageSubresourceLayers {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    layer_count: 1,
                    ..Default::default()
                })
                .image_extent(vk::Extent3D { width: SIDE, height: SIDE, depth: 1 })];
            let general = vk::ImageLayout::GENERAL;
            d.cmd_copy_image_to_buffer(c, self.target.image, general, out.buffer, &region);
        });
        let pixels = out.words.to_vec();
        self.g.free(out);
        pixels
    }

    /// Binds buffers for transform feedback: each with offset and size.
    pub fn bind(&self, c: vk::CommandBuffer, to: &[(&Mapped, u64, u64)]) {
        let buffers: Vec<_> = to.iter().map(|t| t.0.buffer).collect();
        let offsets: Vec<_> = to.iter().map(|t| t.1).collect();
        let sizes: Vec<_> = to.iter().map(|t| t.2).collect();
        let bind = self.feedback.fp().cmd_bind_transform_feedback_buffers_ext;
        unsafe { bind(c, 0, to.len() as u32, buffers.as_ptr(), offsets.as_ptr(), sizes.as_ptr()) };
    }

    pub fn begin(&self, c: vk::CommandBuffer, counters: &[(&Mapped, u64)]) {
        let (buffers, offsets) = places(counters);
        let begin = self.feedback.fp().cmd_begin_transform_feedback_ext;
        unsafe { begin(c, 0, counters.len() as u32, buffers.as_ptr(), offsets.as_ptr()) };
    }

    pub fn end(&self, c: vk::CommandBuffer, counters: &[(&Mapped, u64)]) {
        let (buffers, offsets) = places(counters);
        let end = self.feedback.fp().cmd_end_transform_feedback_ext;
        unsafe { end(c, 0, counters.len() as u32, buffers.as_ptr(), offsets.as_ptr()) };
    }

    /// Values of queries of a kind, one after the other around what is recorded.
    pub fn queries(
        &self,
        info: &vk::QueryPoolCreateInfo,
        values: usize,
        record: impl FnOnce(&ash::Device, vk::CommandBuffer, vk::QueryPool),
    ) -> Vec<Vec<u64>> {
        unsafe {
            let pool = self.g.device.create_query_pool(info, None).unwrap();
            self.g.run(|d, c| {
                d.cmd_reset_query_pool(c, pool, 0, info.query_count);
                record(d, c, pool);
            });
            let mut all = vec![0u64; values * info.query_count as usize];
            let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
            let get = self.g.device.fp_v1_0().get_query_pool_results;
            let size = size_of_val(&all[..]);
            let (device, to) = (self.g.device.handle(), all.as_mut_ptr().cast());
            let r = get(device, pool, 0, info.query_count, size, to, values as u64 * 8, flags);
            assert_eq!(r, vk::Result::SUCCESS);
            self.g.device.destroy_query_pool(pool, None);
            all.chunks(values).map(<[u64]>::to_vec).collect()
        }
    }

    pub fn destroy(&self, pipelines: &[vk::Pipeline]) {
        pipelines.iter().for_each(|p| unsafe { self.g.device.destroy_pipeline(*p, None) });
    }
}

fn places(counters: &[(&Mapped, u64)]) -> (Vec<vk::Buffer>, Vec<u64>) {
    counters.iter().map(|(m, at)| (m.buffer, *at)).unzip()
}

impl Drop for Rig {
    fn drop(&mut self) {
        unsafe { self.g.device.destroy_pipeline_layout(self.layout, None) };
        self.g.free_image(self.target);
    }
}

//! Graphics pipelines for dynamic rendering, with dynamic viewport and scissor.

use super::Bindings;
use crate::{Context, Error, Result};
use ash::vk;
use std::rc::Rc;

/// What a pipeline is made of. The default draws a triangle list, opaque, without depth, one sample a pixel.
#[derive(Clone)]
pub struct PipelineInfo<'a> {
    /// SPIR-V, little-endian words; the entry points are `main`. Empty: none, for mesh shading.
    pub vertex: &'a [u8],
    pub fragment: Option<&'a [u8]>,
    /// Further stages.
    pub stages: Vec<(vk::ShaderStageFlags, &'a [u8])>,
    /// Vertices of a patch; 0: nothing is tessellated.
    pub patch: u32,
    /// Nothing is rasterised.
    pub discard: bool,
    pub buffers: Vec<vk::VertexInputBindingDescription>,
    pub attributes: Vec<vk::VertexInputAttributeDescription>,
    pub topology: vk::PrimitiveTopology,
    pub restart: bool,
    pub polygon_mode: vk::PolygonMode,
    pub cull: vk::CullModeFlags,
    pub front_face: vk::FrontFace,
    pub samples: u32,
    pub sample_shading: bool,
    pub alpha_to_coverage: bool,
    pub colours: Vec<vk::Format>,
    /// One state for every colour attachment.
    pub blend: vk::PipelineColorBlendAttachmentState,
    pub logic_op: Option<vk::LogicOp>,
    pub blend_constants: [f32; 4],
    /// `UNDEFINED` for none.
    pub depth_format: vk::Format,
    pub stencil_format: vk::Format,
    /// The comparison, and whether depth is written.
    pub depth: Option<(vk::CompareOp, bool)>,
    /// The least and the greatest stored depth that passes.
    pub depth_bounds: Option<[f32; 2]>,
    /// Front and back.
    pub stencil: Option<[vk::StencilOpState; 2]>,
    /// Constant factor, clamp, slope factor.
    pub depth_bias: Option<[f32; 3]>,
    pub view_mask: u32,
    /// Bytes of push constants, for all graphics stages.
    pub push_size: u32,
    pub flags: vk::PipelineCreateFlags,
    /// States that are dynamic besides viewport and scissor.
    pub dynamic: Vec<vk::DynamicState>,
    /// Flags that only VK_KHR_maintenance5 can say.
    pub flags2: vk::PipelineCreateFlags2KHR,
    /// A render pass and its subpass, rather than dynamic rendering to the formats above.
    pub render_pass: Option<(vk::RenderPass, u32)>,
    /// A library of these parts alone (VK_EXT_graphics_pipeline_library); none: a pipeline.
    pub parts: vk::GraphicsPipelineLibraryFlagsEXT,
    /// What it is linked of.
    pub libraries: Vec<vk::Pipeline>,
}

/// No blending, all channels.
pub fn opaque() -> vk::PipelineColorBlendAttachmentState {
    vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)
}

/// Source over destination by source alpha, for all four channels.
pub fn over() -> vk::PipelineColorBlendAttachmentState {
    opaque()
        .blend_enable(true)
        .src_color_blend_factor(vk::BlendFactor::SRC_ALPHA)
        .dst_color_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
        .src_alpha_blend_factor(vk::BlendFactor::SRC_ALPHA)
        .dst_alpha_blend_factor(vk::BlendFactor::ONE_MINUS_SRC_ALPHA)
}

impl<'a> PipelineInfo<'a> {
    pub fn new(vertex: &'a [u8], fragment: &'a [u8], colour: vk::Format) -> Self {
        Self {
            vertex,
            fragment: Some(fragment),
            stages: vec![],
            patch: 0,
            discard: false,
            buffers: vec![],
            attributes: vec![],
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            restart: false,
            polygon_mode: vk::PolygonMode::FILL,
            cull: vk::CullModeFlags::NONE,
            front_face: vk::FrontFace::COUNTER_CLOCKWISE,
            samples: 1,
            sample_shading: false,
            alpha_to_coverage: false,
            colours: vec![colour],
            blend: opaque(),
            logic_op: None,
            blend_constants: [0.0; 4],
            depth_format: vk::Format::UNDEFINED,
            stencil_format: vk::Format::UNDEFINED,
            depth: None,
            depth_bounds: None,
            stencil: None,
            depth_bias: None,
            view_mask: 0,
            push_size: 0,
            flags: vk::PipelineCreateFlags::empty(),
            dynamic: vec![],
            flags2: vk::PipelineCreateFlags2KHR::empty(),
            render_pass: None,
            parts: vk::GraphicsPipelineLibraryFlagsEXT::empty(),
            libraries: vec![],
        }
    }

    /// One interleaved vertex buffer at binding 0: attributes at locations 0, 1, … of these formats and sizes in bytes.
    pub fn interleaved(mut self, attributes: &[(vk::Format, u32)]) -> Self {
        let mut offset = 0;
        for (location, (format, size)) in (0..).zip(attributes) {
            let format = *format;
            self.attributes.push(vk::VertexInputAttributeDescription {
                location,
                binding: 0,
                format,
                offset,
            });
            offset += size;
        }
        self.buffers.push(vk::VertexInputBindingDescription {
            binding: 0,
            stride: offset,
            input_rate: vk::VertexInputRate::VERTEX,
        });
        self
    }
}

impl PipelineInfo<'_> {
    /// The stage is of what is made.
    fn has(&self, stage: vk::ShaderStageFlags) -> bool {
        use vk::GraphicsPipelineLibraryFlagsEXT as P;
        let part = match stage {
            vk::ShaderStageFlags::FRAGMENT => P::FRAGMENT_SHADER,
            _ => P::PRE_RASTERIZATION_SHADERS,
        };
        self.libraries.is_empty() && (self.parts.is_empty() || self.parts.contains(part))
    }
}

/// A graphics pipeline with its layout.
pub struct Pipeline {
    context: Rc<Context>,
    pub handle: vk::Pipeline,
    pub layout: vk::PipelineLayout,
}

impl Pipeline {
    /// `bindings` gives the layout of set 0; sets of the same kinds of resources can be bound too.
    pub fn new(context: &Rc<Context>, info: &PipelineInfo, bindings: Option<&Bindings>) -> Result<Self> {
        let device = &context.device;
        let sets: Vec<_> = bindings.iter().map(|b| b.layout).collect();
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::ALL_GRAPHICS)
            .size(info.push_size)];
        let mut layout_info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        if info.push_size > 0 {
            layout_info = layout_info.push_constant_ranges(&ranges);
        }
        // SAFETY: a plain Vulkan call.
        let layout = unsafe { device.create_pipeline_layout(&layout_info, None) }
            .map_err(Error::vk("vkCreatePipelineLayout"))?;
        let mut modules = Vec::new();
        let mut stages = Vec::new();
        let vertex = (vk::ShaderStageFlags::VERTEX, info.vertex);
        let fragment = info.fragment.map(|f| (vk::ShaderStageFlags::FRAGMENT, f));
        for (stage, spirv) in [vertex].into_iter().chain(info.stages.iter().copied()).chain(fragment) {
            if spirv.is_empty() || !info.has(stage) {
                continue;
            }
            let words = crate::words(spirv);
            // SAFETY: a plain Vulkan call.
            let module = unsafe {
                device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)
            }
            .map_err(Error::vk("vkCreateShaderModule"))?;
            modules.push(module);
            let stage = vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module);
            stages.push(stage.name(c"main"));
        }
        let handle = create(context, info, layout, &stages);
        for module in modules {
            // SAFETY: a pipeline does not need its modules once it is made.
            unsafe { device.destroy_shader_module(module, None) }
        }
        Ok(Self { context: context.clone(), handle: handle?, layout })
    }

    /// Binds the pipeline, its set and push constants.
    pub fn bind(&self, commands: vk::CommandBuffer, bindings: Option<&Bindings>, push: &[u8]) {
        let device = &self.context.device;
        let point = vk::PipelineBindPoint::GRAPHICS;
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe {
            device.cmd_bind_pipeline(commands, point, self.handle);
            if let Some(b) = bindings {
                device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[b.set], &[]);
            }
            if !push.is_empty() {
                let stages = vk::ShaderStageFlags::ALL_GRAPHICS;
                device.cmd_push_constants(commands, self.layout, stages, 0, push);
            }
        }
    }
}

fn create(
    context: &Rc<Context>,
    info: &PipelineInfo,
    layout: vk::PipelineLayout,
    stages: &[vk::PipelineShaderStageCreateInfo],
) -> Result<vk::Pipeline> {
    let input = vk::PipelineVertexInputStateCreateInfo::default()
        .vertex_binding_descriptions(&info.buffers)
        .vertex_attribute_descriptions(&info.attributes);
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(info.topology)
        .primitive_restart_enable(info.restart);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let bias = info.depth_bias.unwrap_or_default();
    let raster = vk::PipelineRasterizationStateCreateInfo::default()
        .polygon_mode(info.polygon_mode)
        .cull_mode(info.cull)
        .front_face(info.front_face)
        .depth_bias_enable(info.depth_bias.is_some())
        .depth_bias_constant_factor(bias[0])
        .depth_bias_clamp(bias[1])
        .depth_bias_slope_factor(bias[2])
        .rasterizer_discard_enable(info.discard)
        .line_width(1.0);
    let samples = vk::PipelineMultisampleStateCreateInfo::default()
        .rasterization_samples(vk::SampleCountFlags::from_raw(info.samples))
        .sample_shading_enable(info.sample_shading)
        .min_sample_shading(1.0)
        .alpha_to_coverage_enable(info.alpha_to_coverage);
    let mut depth = vk::PipelineDepthStencilStateCreateInfo::default();
    if let Some((op, write)) = info.depth {
        depth = depth.depth_test_enable(true).depth_compare_op(op).depth_write_enable(write);
    }
    if let Some([least, most]) = info.depth_bounds {
        depth = depth.depth_bounds_test_enable(true).min_depth_bounds(least).max_depth_bounds(most);
    }
    if let Some([front, back]) = info.stencil {
        depth = depth.stencil_test_enable(true).front(front).back(back);
    }
    let attachments = vec![info.blend; info.colours.len()];
    let mut blend = vk::PipelineColorBlendStateCreateInfo::default()
        .attachments(&attachments)
        .blend_constants(info.blend_constants);
    if let Some(op) = info.logic_op {
        blend = blend.logic_op_enable(true).logic_op(op);
    }
    let mut dynamic = vec![vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
    dynamic.extend(&info.dynamic);
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic);
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .view_mask(info.view_mask)
        .color_attachment_formats(&info.colours)
        .depth_attachment_format(info.depth_format)
        .stencil_attachment_format(info.stencil_format);
    let patch = vk::PipelineTessellationStateCreateInfo::default().patch_control_points(info.patch);
    let mut flags2 = vk::PipelineCreateFlags2CreateInfoKHR::default().flags(info.flags2);
    let mut create = vk::GraphicsPipelineCreateInfo::default()
        .flags(info.flags)
        .stages(stages)
        .vertex_input_state(&input)
        .input_assembly_state(&assembly)
        .viewport_state(&viewport)
        .rasterization_state(&raster)
        .multisample_state(&samples)
        .depth_stencil_state(&depth)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .layout(layout);
    create = match info.render_pass {
        Some((pass, subpass)) => create.render_pass(pass).subpass(subpass),
        None => create.push_next(&mut rendering),
    };
    if info.patch > 0 {
        create = create.tessellation_state(&patch);
    }
    if !info.flags2.is_empty() {
        create = create.push_next(&mut flags2);
    }
    let mut part = vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(info.parts);
    let mut libraries = vk::PipelineLibraryCreateInfoKHR::default().libraries(&info.libraries);
    if !info.parts.is_empty() {
        create = create.push_next(&mut part);
    }
    if !info.libraries.is_empty() {
        create = create.push_next(&mut libraries);
    }
    let create = [create];
    // SAFETY: a plain Vulkan call with structs that outlive it.
    let made = unsafe { context.device.create_graphics_pipelines(vk::PipelineCache::null(), &create, None) };
    made.map(|list| list[0]).map_err(|(_, r)| Error(format!("vkCreateGraphicsPipelines: {r:?}")))
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: nothing that uses them is pending.
        unsafe {
            self.context.device.destroy_pipeline(self.handle, None);
            self.context.device.destroy_pipeline_layout(self.layout, None);
        }
    }
}

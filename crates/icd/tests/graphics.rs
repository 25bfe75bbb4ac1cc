//! Graphics pipelines through the real loader: whole, from libraries, from caches; and draws of a quad.

use crate::gpu::Gpu;
use ash::vk;

const GRAPHICS: vk::PipelineBindPoint = vk::PipelineBindPoint::GRAPHICS;
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// Shaders and layout: vertices of vec2 and vec4; colour · push constant + uniform buffer.
pub struct Flat {
    vert: vk::ShaderModule,
    frag: vk::ShaderModule,
    pub set: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
}

/// Which part of a pipeline to make, and from what.
#[derive(Clone, Copy, Default)]
pub struct Make<'a> {
    pub parts: Option<vk::GraphicsPipelineLibraryFlagsEXT>,
    pub libraries: &'a [vk::Pipeline],
    pub cache: vk::PipelineCache,
    pub flags: vk::PipelineCreateFlags,
    pub topology: vk::PrimitiveTopology,
    /// A specialisation that no shader reads, but that makes programs of their own.
    pub spec: u32,
}

impl Flat {
    pub fn new(g: &Gpu) -> Flat {
        Flat::of(g, include_bytes!("shaders/flat.vert.spv"), include_bytes!("shaders/flat.frag.spv"))
    }

    /// With other programs of these attributes.
    pub fn of(g: &Gpu, vert: &[u8], frag: &[u8]) -> Flat {
        let d = &g.device;
        // SAFETY (here and below): handles are alive, structures outlive the calls.
        unsafe {
            let module = |bytes| {
                let code = shader::words(bytes);
                d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None).unwrap()
            };
            let binding = [vk::DescriptorSetLayoutBinding::default()
                .binding(1)
                .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding);
            let set = d.create_descriptor_set_layout(&info, None).unwrap();
            let sets = [set];
            let push =
                [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::FRAGMENT, offset: 0, size: 16 }];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
            Flat {
                vert: module(vert),
                frag: module(frag),
                set,
                layout: d.create_pipeline_layout(&info, None).unwrap(),
            }
        }
    }

    /// A pipeline for dynamic rendering to one RGBA8 attachment, viewport and scissor dynamic; whether all its stages
    /// came from the cache.
    pub fn pipeline(&self, g: &Gpu, make: Make) -> Result<(vk::Pipeline, bool), vk::Result> {
        use vk::GraphicsPipelineLibraryFlagsEXT as P;
        let own = |p| make.parts.is_none_or(|all| all.contains(p));
        let mut stages = Vec::new();
        let entries = [vk::SpecializationMapEntry { constant_id: 99, offset: 0, size: 4 }];
        let value = make.spec.to_le_bytes();
        let spec = vk::SpecializationInfo::default().map_entries(&entries).data(&value);
        let stage = |stage, module| {
            vk::PipelineShaderStageCreateInfo::default()
                .stage(stage)
                .module(module)
                .name(c"main")
                .specialization_info(&spec)
        };
        if own(P::PRE_RASTERIZATION_SHADERS) {
            stages.push(stage(vk::ShaderStageFlags::VERTEX, self.vert));
        }
        if own(P::FRAGMENT_SHADER) {
            stages.push(stage(vk::ShaderStageFlags::FRAGMENT, self.frag));
        }
        let bindings = [vk::VertexInputBindingDescription { binding: 0, stride: 24, ..Default::default() }];
        let attribute = |location, format, offset| vk::VertexInputAttributeDescription {
            location,
            binding: 0,
            format,
            offset,
        };
        let attributes =
            [attribute(0, vk::Format::R32G32_SFLOAT, 0), attribute(1, vk::Format::R32G32B32A32_SFLOAT, 8)];
        let input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&bindings)
            .vertex_attribute_descriptions(&attributes);
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(make.topology);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let write =
            [vk::PipelineColorBlendAttachmentState::default()
                .color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&write);
        let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
        let formats = [FORMAT];
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        let mut told = vk::PipelineCreationFeedback::default();
        let mut feedback =
            vk::PipelineCreationFeedbackCreateInfo::default().pipeline_creation_feedback(&mut told);
        let mut part =
            vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(make.parts.unwrap_or_default());
        let mut libraries = vk::PipelineLibraryCreateInfoKHR::default().libraries(make.libraries);
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(self.layout)
            .flags(make.flags)
            .push_next(&mut rendering)
            .push_next(&mut feedback);
        if make.parts.is_some() {
            info = info.push_next(&mut part);
        }
        if !make.libraries.is_empty() {
            info = info.push_next(&mut libraries);
        }
        let made = unsafe { g.device.create_graphics_pipelines(make.cache, &[info], None) };
        let hit = told.flags.contains(vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT);
        match made {
            Ok(p) => Ok((p[0], hit)),
            Err((p, e)) => {
                assert_eq!(p, [vk::Pipeline::null()]);
                Err(e)
            }
        }
    }

    pub fn whole(&self, g: &Gpu) -> vk::Pipeline {
        let topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
        self.pipeline(g, Make { topology, ..Default::default() }).expect("a pipeline is made").0
    }

    pub fn layout(&self) -> vk::PipelineLayout {
        self.layout
    }

    pub fn free(self, g: &Gpu) {
        unsafe {
            g.device.destroy_shader_module(self.vert, None);
            g.device.destroy_shader_module(self.frag, None);
            g.device.destroy_pipeline_layout(self.layout, None);
            g.device.destroy_descriptor_set_layout(self.set, None);
        }
    }
}

#[test]
fn both_programs_go_through_a_cache_and_its_blob() {
    let g = Gpu::new();
    let f = Flat::new(&g);
    unsafe {
        let cache = g.device.create_pipeline_cache(&Default::default(), None).unwrap();
        let topology = vk::PrimitiveTopology::TRIANGLE_LIST;
        let make = Make { cache, topology, spec: 7, ..Default::default() };
        let (first, hit) = f.pipeline(&g, make).unwrap();
        assert!(!hit);
        let (second, hit) = f.pipeline(&g, make).unwrap();
        assert!(hit);
        let blob = g.device.get_pipeline_cache_data(cache).unwrap();
        for p in [first, second] {
            g.device.destroy_pipeline(p, None);
        }
        g.device.destroy_pipeline_cache(cache, None);
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&blob);
        let cache = g.device.create_pipeline_cache(&info, None).unwrap();
        let flags = vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED;
        let (third, hit) = f.pipeline(&g, Make { cache, flags, ..make }).unwrap();
        assert!(hit);
        g.device.destroy_pipeline(third, None);
        g.device.destroy_pipeline_cache(cache, None);
        // Nobody has the programs any more.
        let none = Make { cache: vk::PipelineCache::null(), flags, ..make };
        assert_eq!(f.pipeline(&g, none).err(), Some(vk::Result::PIPELINE_COMPILE_REQUIRED));
    }
    f.free(&g);
}

#[test]
fn shaders_for_stages_that_there_are_not_are_refused() {
    let g = Gpu::new();
    let f = Flat::new(&g);
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::GEOMETRY)
        .module(f.vert)
        .name(c"main");
    let stages = [stage];
    let raster = vk::PipelineRasterizationStateCreateInfo::default().rasterizer_discard_enable(true);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .rasterization_state(&raster)
        .layout(f.layout);
    let made = unsafe { g.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    assert!(made.is_err());
    // Without any stage.
    let info = vk::GraphicsPipelineCreateInfo::default().rasterization_state(&raster).layout(f.layout);
    let made = unsafe { g.device.create_graphics_pipelines(vk::PipelineCache::null(), &[info], None) };
    assert!(made.is_err());
    f.free(&g);
}

#[test]
fn references_to_attachments_that_there_are_not_are_refused() {
    let g = Gpu::new();
    let color = [vk::AttachmentReference { attachment: 3, layout: vk::ImageLayout::GENERAL }];
    let subpass = [vk::SubpassDescription::default().color_attachments(&color)];
    let info = vk::RenderPassCreateInfo::default().subpasses(&subpass);
    assert!(unsafe { g.device.create_render_pass(&info, None) }.is_err());
}

#[test]
fn draws_out_of_place_do_no_harm() {
    let g = Gpu::new();
    let f = Flat::new(&g);
    let pipeline = f.whole(&g);
    g.run(|d, c| unsafe {
        d.cmd_draw(c, 3, 1, 0, 0); // no pipeline
        d.cmd_bind_pipeline(c, GRAPHICS, pipeline);
        d.cmd_draw(c, 3, 1, 0, 0); // no render pass, no vertices
        d.cmd_draw_indexed(c, 3, 1, 0, 0, 0); // no indices
        d.cmd_next_subpass(c, vk::SubpassContents::INLINE);
        d.cmd_end_rendering(c);
        d.cmd_set_viewport(c, 40, &[vk::Viewport::default(); 3]);
        d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, pipeline);
        d.cmd_dispatch(c, 1, 1, 1); // a graphics pipeline
    });
    unsafe { g.device.destroy_pipeline(pipeline, None) };
    f.free(&g);
}

#[test]
fn four_libraries_make_a_pipeline() {
    use vk::GraphicsPipelineLibraryFlagsEXT as P;
    let g = Gpu::new();
    let f = Flat::new(&g);
    let parts = [
        P::VERTEX_INPUT_INTERFACE,
        P::PRE_RASTERIZATION_SHADERS,
        P::FRAGMENT_SHADER,
        P::FRAGMENT_OUTPUT_INTERFACE,
    ];
    let make = Make { topology: vk::PrimitiveTopology::TRIANGLE_STRIP, ..Default::default() };
    let libraries = parts.map(|p| {
        let flags = vk::PipelineCreateFlags::LIBRARY_KHR;
        f.pipeline(&g, Make { parts: Some(p), flags, ..make }).expect("a library is made").0
    });
    let nothing = Some(vk::GraphicsPipelineLibraryFlagsEXT::empty());
    let linked = f.pipeline(&g, Make { parts: nothing, libraries: &libraries, ..make }).unwrap().0;
    assert_eq!(picture(&g, &f, linked), expected());
    let incomplete = f.pipeline(&g, Make { parts: nothing, libraries: &libraries[..1], ..make });
    assert!(incomplete.is_err(), "no vertex shader");
    unsafe {
        g.device.destroy_pipeline(linked, None);
        libraries.iter().for_each(|&l| g.device.destroy_pipeline(l, None));
    }
    f.free(&g);
}

#[test]
fn a_quad_is_drawn() {
    let g = Gpu::new();
    let f = Flat::new(&g);
    let pipeline = f.whole(&g);
    assert_eq!(picture(&g, &f, pipeline), expected());
    unsafe { g.device.destroy_pipeline(pipeline, None) };
    f.free(&g);
}

pub const SIZE: u32 = 8;

/// Cleared to blue; the quad's left half is in the viewport: 0.4 · (1, 0.8, 0, 1) + (0, 0, 0.2, 0.6).
pub fn expected() -> Vec<u32> {
    expected_of([102, 82, 51, 255])
}

/// With another colour inside.
pub fn expected_of(inside: [u8; 4]) -> Vec<u32> {
    let inside = u32::from_le_bytes(inside);
    let outside = u32::from_le_bytes([0, 0, 255, 255]);
    (0..SIZE * SIZE).map(|i| if i % SIZE < 4 && i / SIZE >= 2 { inside } else { outside }).collect()
}

fn picture(g: &Gpu, f: &Flat, pipeline: vk::Pipeline) -> Vec<u32> {
    picture_with(g, f, |d, c| unsafe { d.cmd_bind_pipeline(c, GRAPHICS, pipeline) })
}

/// A quad over the left half, scissor without the two upper rows; with what `bind` binds.
pub fn picture_with(g: &Gpu, f: &Flat, bind: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Vec<u32> {
    let d = &g.device;
    let data = g.buffer(64);
    let corners = [[-1.0f32, -1.0], [0.0, -1.0], [-1.0, 1.0], [0.0, 1.0]];
    for (v, at) in data.words.chunks_mut(6).zip(corners) {
        let vertex = [at[0], at[1], 1.0, 0.8, 0.0, 1.0];
        v.iter_mut().zip(vertex).for_each(|(w, x)| *w = x.to_bits());
    }
    [0.0f32, 0.0, 0.2, 0.6].iter().enumerate().for_each(|(i, x)| data.words[32 + i] = x.to_bits());
    let out = g.buffer((SIZE * SIZE) as usize);
    let area = vk::Rect2D { extent: vk::Extent2D { width: SIZE, height: SIZE }, ..Default::default() };
    unsafe {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let target = g.image([SIZE; 2], usage);
        let (image, view) = (target.image, target.view);
        let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::UNIFORM_BUFFER, descriptor_count: 1 }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = d.create_descriptor_pool(&info, None).unwrap();
        let layouts = [f.set];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let set = d.allocate_descriptor_sets(&info).unwrap()[0];
        let info = [vk::DescriptorBufferInfo { buffer: data.buffer, offset: 128, range: 16 }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(1)
            .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
            .buffer_info(&info);
        d.update_descriptor_sets(&[write], &[]);
        g.run(|d, c| {
            let blue = vk::ClearValue { color: vk::ClearColorValue { float32: [0.0, 0.0, 1.0, 1.0] } };
            let color = [vk::RenderingAttachmentInfo::default()
                .image_view(view)
                .image_layout(vk::ImageLayout::GENERAL)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(vk::AttachmentStoreOp::STORE)
                .clear_value(blue)];
            let info =
                vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&color);
            d.cmd_begin_rendering(c, &info);
            bind(d, c);
            d.cmd_bind_descriptor_sets(c, GRAPHICS, f.layout, 0, &[set], &[]);
            let scale: Vec<u8> = [0.4f32; 4].iter().flat_map(|x| x.to_le_bytes()).collect();
            d.cmd_push_constants(c, f.layout, vk::ShaderStageFlags::FRAGMENT, 0, &scale);
            d.cmd_bind_vertex_buffers(c, 0, &[data.buffer], &[0]);
            let full = vk::Viewport {
                width: SIZE as f32,
                height: SIZE as f32,
                max_depth: 1.0,
                ..Default::default()
            };
            d.cmd_set_viewport(c, 0, &[full]);
            let lower = vk::Rect2D { offset: vk::Offset2D { x: 0, y: 2 }, extent: area.extent };
            d.cmd_set_scissor(c, 0, &[lower]);
            d.cmd_draw(c, 4, 1, 0, 0);
            d.cmd_end_rendering(c);
            let region = [vk::BufferImageCopy::default()
                .image_subresource(vk::ImageSubresourceLayers {
                    aspect_mask: vk::ImageAspectFlags::COLOR,
                    layer_count: 1,
                    ..Default::default()
                })
                .image_extent(vk::Extent3D { width: SIZE, height: SIZE, depth: 1 })];
            d.cmd_copy_image_to_buffer(c, image, vk::ImageLayout::GENERAL, out.buffer, &region);
        });
        let pixels = out.words.to_vec();
        d.destroy_descriptor_pool(pool, None);
        g.free_image(target);
        g.free(data);
        g.free(out);
        pixels
    }
}

//! Runs one shader, or a pair of them, with all kinds of resources, for `tuff sanitize` and its tests:
//! `scene FILE.comp.spv WORD…` dispatches, `scene FILE.vert.spv FILE.frag.spv WORD…` draws.
//!
//! Set 0: storage buffers at bindings 0 to 2 (1024 words, word i is i), a storage image at 3 (r32ui, 16 × 16, texel i is i), a texture at 4
//! (rgba8, 16 × 16), a storage texel buffer at 5 (r32ui, 64 texels of the buffer at 2). A draw is of one triangle that covers the target of 16 × 16
//! pixels. Words:
//! - `groups=N`, `instances=N`: how many (1);
//! - `fresh=K`: nothing writes what binding K is of; `unset=K`: nor the descriptor;
//! - `copy=A:B`: before that, buffer A is copied to B;
//! - `push`: 16 bytes are pushed, of which words are 1;
//! - `pass=keep|drop|any`: before that, a pass draws nothing to the texture: it clears and stores it, clears and does not store it, or does not care
//!   what was there before and stores it;
//! - `print`: the first word of the buffer at 1 is printed at the end;
//! - `vertices`, `vertices=fresh`: a buffer of three places on the screen (vec4), or one that nothing has written.

use ash::vk;
use client::compute::Buffer;
use client::context::Context;
use client::graphics::{Attachment, Image, ImageInfo, Load, Pass, Sampler};
use client::library::Library;
use client::{Error, Result};
use std::collections::HashSet;
use std::rc::Rc;

const WORDS: usize = 1024;
const SIZE: [u32; 2] = [16; 2];
const TARGET: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// What the words say.
#[derive(Default)]
struct Wanted {
    files: Vec<String>,
    groups: u32,
    instances: u32,
    fresh: HashSet<u32>,
    unset: HashSet<u32>,
    copies: Vec<(usize, usize)>,
    push: bool,
    print: bool,
    pass: Option<String>,
    vertices: Option<bool>,
}

impl Wanted {
    fn read(words: impl Iterator<Item = String>) -> Result<Wanted> {
        let mut all = Wanted { groups: 1, instances: 1, ..Wanted::default() };
        for word in words {
            let bad = || Error(format!("what is {word}?"));
            let number = |text: &str| text.parse::<u32>().map_err(|_| bad());
            match word.split_once('=') {
                None if word == "push" => all.push = true,
                None if word == "print" => all.print = true,
                None if word == "vertices" => all.vertices = Some(true),
                None => all.files.push(word),
                Some(("groups", n)) => all.groups = number(n)?,
                Some(("instances", n)) => all.instances = number(n)?,
                Some(("fresh", n)) => drop(all.fresh.insert(number(n)?)),
                Some(("unset", n)) => drop(all.unset.insert(number(n)?)),
                Some(("copy", both)) => {
                    let (a, b) = both.split_once(':').ok_or_else(bad)?;
                    all.copies.push((number(a)? as usize, number(b)? as usize));
                }
                Some(("pass", how)) => all.pass = Some(how.into()),
                Some(("vertices", "fresh")) => all.vertices = Some(false),
                Some(_) => return Err(bad()),
            }
        }
        Ok(all)
    }
}

/// What the bindings are of.
struct Resources {
    buffers: Vec<Buffer>,
    stored: Image,
    texture: Image,
    sampler: Sampler,
    texels: vk::BufferView,
}

impl Resources {
    fn new(context: &Rc<Context>, wanted: &Wanted) -> Result<Resources> {
        let contents: Vec<u8> = (0..WORDS as u32).flat_map(u32::to_le_bytes).collect();
        let more = vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER;
        let buffer = |k: u32| -> Result<Buffer> {
            let mut buffer = Buffer::of(context, contents.len(), more)?;
            if !wanted.fresh.contains(&k) {
                buffer.bytes_mut().copy_from_slice(&contents);
            }
            Ok(buffer)
        };
        let buffers = (0..3).map(buffer).collect::<Result<Vec<_>>>()?;
        let count = (SIZE[0] * SIZE[1]) as usize;
        let usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_DST;
        let info = ImageInfo { usage, ..ImageInfo::texture(vk::Format::R32_UINT, SIZE) };
        let image = |k: u32, info, texels: &[u8]| match wanted.fresh.contains(&k) {
            true => Image::new(context, info),
            false => Image::with_texels(context, info, texels),
        };
        let stored = image(3, info, &contents[..4 * count])?;
        let info = ImageInfo::texture(TARGET, SIZE);
        let info = ImageInfo { usage: info.usage | vk::ImageUsageFlags::COLOR_ATTACHMENT, ..info };
        let texture = image(4, info, &vec![200; 4 * count])?;
        let info = vk::BufferViewCreateInfo::default()
            .buffer(buffers[2].handle)
            .format(vk::Format::R32_UINT)
            .range(4 * 64);
        // SAFETY: a plain Vulkan call.
        let texels = unsafe { context.device.create_buffer_view(&info, None) }
            .map_err(Error::vk("vkCreateBufferView"))?;
        Ok(Resources { buffers, stored, texture, sampler: Sampler::linear(context)?, texels })
    }
}

/// Layout of set 0, the set, and the pipeline's layout.
struct Bound {
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
}

fn bind(context: &Rc<Context>, all: &Resources, wanted: &Wanted) -> Result<Bound> {
    use vk::DescriptorType as T;
    let kinds = [
        T::STORAGE_BUFFER,
        T::STORAGE_BUFFER,
        T::STORAGE_BUFFER,
        T::STORAGE_IMAGE,
        T::COMBINED_IMAGE_SAMPLER,
        T::STORAGE_TEXEL_BUFFER,
    ];
    let device = &context.device;
    let bindings: Vec<_> = (0..)
        .zip(kinds)
        .map(|(binding, kind)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::ALL)
        })
        .collect();
    let sizes = kinds.map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: 1 });
    // SAFETY: plain Vulkan calls with structs that outlive them; the set is not in use. All ends with the process.
    unsafe {
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let sets = [device
            .create_descriptor_set_layout(&info, None)
            .map_err(Error::vk("vkCreateDescriptorSetLayout"))?];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = device.create_descriptor_pool(&info, None).map_err(Error::vk("vkCreateDescriptorPool"))?;
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&sets);
        let set = device.allocate_descriptor_sets(&info).map_err(Error::vk("vkAllocateDescriptorSets"))?[0];
        let ranges = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::ALL).size(16)];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&ranges);
        let layout =
            device.create_pipeline_layout(&info, None).map_err(Error::vk("vkCreatePipelineLayout"))?;
        for (k, kind) in (0..).zip(kinds).filter(|(k, _)| !wanted.unset.contains(k)) {
            let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(k).descriptor_type(kind);
            let buffer = all.buffers.get(k as usize).map_or(vk::Buffer::null(), |b| b.handle);
            let buffers = [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }];
            let image_view = if k == 3 { all.stored.view } else { all.texture.view };
            let (sampler, image_layout) = (all.sampler.handle, vk::ImageLayout::GENERAL);
            let images = [vk::DescriptorImageInfo { sampler, image_view, image_layout }];
            let views = [all.texels];
            let write = match k {
                0..3 => write.buffer_info(&buffers),
                5 => write.texel_buffer_view(&views),
                _ => write.image_info(&images),
            };
            device.update_descriptor_sets(&[write], &[]);
        }
        Ok(Bound { layout, set })
    }
}

fn module(context: &Context, file: &str) -> Result<vk::ShaderModule> {
    let bytes = std::fs::read(file).map_err(|e| Error::file(file.as_ref(), e))?;
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    // SAFETY: a plain Vulkan call.
    unsafe { context.device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None) }
        .map_err(Error::vk("vkCreateShaderModule"))
}

fn compute(context: &Rc<Context>, wanted: &Wanted, bound: &Bound) -> Result<vk::Pipeline> {
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module(context, &wanted.files[0])?)
        .name(c"main");
    let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(bound.layout)];
    // SAFETY: a plain Vulkan call.
    let made = unsafe { context.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None) };
    Ok(made.map_err(|(_, r)| Error(format!("vkCreateComputePipelines: {r:?}")))?[0])
}

fn graphics(context: &Rc<Context>, wanted: &Wanted, bound: &Bound) -> Result<vk::Pipeline> {
    let stage = |flags, file: &str| -> Result<_> {
        let module = module(context, file)?;
        Ok(vk::PipelineShaderStageCreateInfo::default().stage(flags).module(module).name(c"main"))
    };
    let stages = [
        stage(vk::ShaderStageFlags::VERTEX, &wanted.files[0])?,
        stage(vk::ShaderStageFlags::FRAGMENT, &wanted.files[1])?,
    ];
    let buffers = [vk::VertexInputBindingDescription {
        binding: 0,
        stride: 16,
        input_rate: vk::VertexInputRate::VERTEX,
    }];
    let format = vk::Format::R32G32B32A32_SFLOAT;
    let attributes = [vk::VertexInputAttributeDescription { location: 0, binding: 0, format, offset: 0 }];
    let mut input = vk::PipelineVertexInputStateCreateInfo::default();
    if wanted.vertices.is_some() {
        input = input.vertex_binding_descriptions(&buffers).vertex_attribute_descriptions(&attributes);
    }
    let assembly =
        vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
    let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let samples =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
    let blends =
        [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
    let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
    let states = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
    let formats = [TARGET];
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
        .layout(bound.layout)
        .push_next(&mut rendering)];
    // SAFETY: a plain Vulkan call.
    let made = unsafe { context.device.create_graphics_pipelines(vk::PipelineCache::null(), &info, None) };
    Ok(made.map_err(|(_, r)| Error(format!("vkCreateGraphicsPipelines: {r:?}")))?[0])
}

fn main() -> Result<()> {
    let wanted = Wanted::read(std::env::args().skip(1))?;
    if !(1..=2).contains(&wanted.files.len()) {
        return Err(Error("scene FILE.spv [FILE.spv] WORD…".into()));
    }
    let mut interlock =
        vk::PhysicalDeviceFragmentShaderInterlockFeaturesEXT::default().fragment_shader_pixel_interlock(true);
    let context = Context::extended(
        Library::any()?,
        &[ash::ext::fragment_shader_interlock::NAME],
        (&raw mut interlock).cast(),
    )?;
    let all = Resources::new(&context, &wanted)?;
    let bound = bind(&context, &all, &wanted)?;
    let drawn = wanted.files.len() == 2;
    let pipeline = match drawn {
        true => graphics(&context, &wanted, &bound)?,
        false => compute(&context, &wanted, &bound)?,
    };
    let target = Image::new(&context, ImageInfo::colour(TARGET, SIZE))?;
    let mut vertices = Buffer::new(&context, 48)?;
    if wanted.vertices == Some(true) {
        let places = [[-1.0f32, -1.0, 0.0, 1.0], [3.0, -1.0, 0.0, 1.0], [-1.0, 3.0, 0.0, 1.0]];
        let bytes: Vec<u8> = places.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        vertices.bytes_mut().copy_from_slice(&bytes);
    }
    let (device, point) = match drawn {
        true => (&context.device, vk::PipelineBindPoint::GRAPHICS),
        false => (&context.device, vk::PipelineBindPoint::COMPUTE),
    };
    context.run(|_, commands| {
        for &(a, b) in &wanted.copies {
            let region = [vk::BufferCopy { size: 4 * WORDS as u64, ..Default::default() }];
            // SAFETY: recording into a command buffer that has begun, with live handles.
            unsafe {
                device.cmd_copy_buffer(commands, all.buffers[a].handle, all.buffers[b].handle, &region);
            }
            client::graphics::barrier(device, commands);
        }
        if let Some(how) = &wanted.pass {
            let load = if how == "any" { Load::DontCare } else { Load::colour([1.0; 4]) };
            let colour = Attachment { store: how != "drop", ..Attachment::new(&all.texture, load) };
            let pass = Pass { colours: vec![colour], size: SIZE, ..Pass::default() };
            pass.record(device, commands, |_, _| {});
            client::graphics::barrier(device, commands);
        }
        // SAFETY: as above.
        let ready = || unsafe {
            device.cmd_bind_pipeline(commands, point, pipeline);
            device.cmd_bind_descriptor_sets(commands, point, bound.layout, 0, &[bound.set], &[]);
            if wanted.push {
                let words: Vec<u8> = [1u32; 4].into_iter().flat_map(u32::to_le_bytes).collect();
                device.cmd_push_constants(commands, bound.layout, vk::ShaderStageFlags::ALL, 0, &words);
            }
        };
        if drawn {
            let colour = Attachment::new(&target, Load::colour([0.0; 4]));
            let pass = Pass { colours: vec![colour], size: SIZE, ..Pass::default() };
            pass.record(device, commands, |_, _| {
                ready();
                // SAFETY: as above.
                unsafe {
                    device.cmd_bind_vertex_buffers(commands, 0, &[vertices.handle], &[0]);
                    device.cmd_draw(commands, 3, wanted.instances, 0, 0);
                }
            });
        } else {
            ready();
            // SAFETY: as above.
            unsafe { device.cmd_dispatch(commands, wanted.groups, 1, 1) }
        }
        client::graphics::barrier(device, commands);
    })?;
    if wanted.print {
        println!("{:#010x}", all.buffers[1].words()[0]);
    }
    Ok(())
}

//! Views of another shape or format than the shader's image: none is written that the shader could not be given rightly,
//! nothing beside the image is touched, and the device goes on. All of it breaks Vulkan's valid usage.

use crate::gpu::{Gpu, Mapped};
use ash::vk;
use vk::{Format as F, ImageType as I, ImageViewType as V};

const SAMPLED: &[u8] = include_bytes!("shaders/shapes_sampled.comp.spv");
const STORAGE: &[u8] = include_bytes!("shaders/shapes_storage.comp.spv");
/// Bindings of images in both shaders; the buffer comes after them.
const IMAGES: u32 = 14;
const GROUPS: u32 = 8;

/// A view's type, its image's, extent, layers, samples.
type Shape = (V, I, [u32; 3], u32, vk::SampleCountFlags);
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const SHAPES: [Shape; 9] = [
    (V::TYPE_1D, I::TYPE_1D, [37, 1, 1], 1, ONE),
    (V::TYPE_1D_ARRAY, I::TYPE_1D, [37, 1, 1], 5, ONE),
    (V::TYPE_2D, I::TYPE_2D, [32, 32, 1], 1, ONE),
    (V::TYPE_2D, I::TYPE_2D, [1, 1, 1], 1, ONE),
    (V::TYPE_2D_ARRAY, I::TYPE_2D, [20, 9, 1], 3, ONE),
    (V::TYPE_3D, I::TYPE_3D, [9, 10, 11], 1, ONE),
    (V::CUBE, I::TYPE_2D, [16, 16, 1], 6, ONE),
    (V::CUBE_ARRAY, I::TYPE_2D, [16, 16, 1], 12, ONE),
    (V::TYPE_2D, I::TYPE_2D, [16, 16, 1], 1, vk::SampleCountFlags::TYPE_4),
];
const FORMATS: [F; 14] = [
    F::R8G8B8A8_UNORM,
    F::R32_SFLOAT,
    F::R32_UINT,
    F::R32_SINT,
    F::R32G32B32A32_SFLOAT,
    F::R16G16B16A16_SFLOAT,
    F::R32G32B32A32_SINT,
    F::R8_UNORM,
    F::D32_SFLOAT,
    F::D16_UNORM,
    F::S8_UINT,
    F::R64_UINT,
    F::BC1_RGBA_UNORM_BLOCK,
    F::E5B9G9R9_UFLOAT_PACK32,
];

/// Memory whose bytes nobody may change.
struct Fence(Mapped);

impl Fence {
    const WORDS: usize = 4096;
    fn new(g: &Gpu) -> Fence {
        let m = g.buffer(Fence::WORDS);
        m.words.fill(0xA5A5_5A5A);
        Fence(m)
    }
    fn end(self, g: &Gpu, what: &str) {
        assert!(self.0.words.iter().all(|w| *w == 0xA5A5_5A5A), "{what}");
        g.free(self.0);
    }
}

struct Image {
    image: vk::Image,
    memory: vk::DeviceMemory,
    view: vk::ImageView,
}

// SAFETY (all blocks): handles are alive, structures outlive the calls.
fn image(g: &Gpu, shape: Shape, format: F, usage: vk::ImageUsageFlags) -> Option<Image> {
    let (view_type, ty, [width, height, depth], layers, samples) = shape;
    let d = &g.device;
    let cube = matches!(view_type, V::CUBE | V::CUBE_ARRAY);
    let flags = if cube { vk::ImageCreateFlags::CUBE_COMPATIBLE } else { Default::default() };
    unsafe {
        let physical = crate::common::physical_device(&g.instance);
        let tiling = vk::ImageTiling::OPTIMAL;
        let limits = g
            .instance
            .get_physical_device_image_format_properties(physical, format, ty, tiling, usage, flags);
        let limits = limits.ok().filter(|l| l.sample_counts.contains(samples))?;
        let info = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(ty)
            .format(format)
            .extent(vk::Extent3D { width, height, depth })
            .mip_levels(if samples == ONE {
                3.min(limits.max_mip_levels).min(32 - width.leading_zeros())
            } else {
                1
            })
            .array_layers(layers)
            .samples(samples)
            .usage(usage);
        let image = d.create_image(&info, None).unwrap();
        let need = d.get_image_memory_requirements(image);
        let kind = need.memory_type_bits.trailing_zeros();
        let info = vk::MemoryAllocateInfo::default().allocation_size(need.size).memory_type_index(kind);
        let memory = d.allocate_memory(&info, None).unwrap();
        d.bind_image_memory(image, memory, 0).unwrap();
        let aspect_mask = match format {
            F::D32_SFLOAT | F::D16_UNORM => vk::ImageAspectFlags::DEPTH,
            F::S8_UINT => vk::ImageAspectFlags::STENCIL,
            _ => vk::ImageAspectFlags::COLOR,
        };
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(view_type)
            .format(format)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask,
                level_count: vk::REMAINING_MIP_LEVELS,
                layer_count: vk::REMAINING_ARRAY_LAYERS,
                ..Default::default()
            });
        let view = d.create_image_view(&info, None).unwrap();
        Some(Image { image, memory, view })
    }
}

/// Gives every binding of the shader each view in turn. How many views there were.
fn all(spirv: &[u8], ty: vk::DescriptorType, usage: vk::ImageUsageFlags) -> usize {
    let mut features = vk::PhysicalDeviceFeatures2::default().features(vk::PhysicalDeviceFeatures {
        image_cube_array: 1,
        shader_image_gather_extended: 1,
        shader_storage_image_multisample: 1,
        ..Default::default()
    });
    let g = Gpu::with(&[], &mut features);
    let d = &g.device;
    let out = g.buffer(4 * 64 * GROUPS as usize);
    let words = shader::words(spirv);
    let mut views = 0;
    unsafe {
        let mut bindings: Vec<_> = (0..=IMAGES)
            .map(|i| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(i)
                    .descriptor_type(ty)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        bindings[IMAGES as usize].descriptor_type = vk::DescriptorType::STORAGE_BUFFER;
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let layouts = [d.create_descriptor_set_layout(&info, None).unwrap()];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
        let layout = d.create_pipeline_layout(&info, None).unwrap();
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        let module = d.create_shader_module(&info, None).unwrap();
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let pipeline = d.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
        let sizes = [ty, vk::DescriptorType::STORAGE_BUFFER]
            .map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: IMAGES });
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        let pool = d.create_descriptor_pool(&info, None).unwrap();
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let set = d.allocate_descriptor_sets(&info).unwrap()[0];
        let infos = [vk::DescriptorBufferInfo { buffer: out.buffer, offset: 0, range: vk::WHOLE_SIZE }];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(IMAGES)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&infos);
        d.update_descriptor_sets(&[write], &[]);
        let samplers = [
            vk::SamplerCreateInfo::default()
                .mag_filter(vk::Filter::LINEAR)
                .min_filter(vk::Filter::LINEAR)
                .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
                .max_lod(vk::LOD_CLAMP_NONE),
            vk::SamplerCreateInfo::default().compare_enable(true).compare_op(vk::CompareOp::LESS),
            vk::SamplerCreateInfo::default()
                .unnormalized_coordinates(true)
                .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_BORDER)
                .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_BORDER),
        ]
        .map(|info| d.create_sampler(&info, None).unwrap());
        for shape in SHAPES {
            for format in FORMATS {
                let before = Fence::new(&g);
                let Some(i) = image(&g, shape, format, usage) else {
                    before.end(&g, "nothing ran");
                    continue;
                };
                let after = Fence::new(&g);
                views += 1;
                for sampler in samplers {
                    let info = [vk::DescriptorImageInfo {
                        sampler,
                        image_view: i.view,
                        image_layout: vk::ImageLayout::GENERAL,
                    }];
                    let writes: Vec<_> = (0..IMAGES)
                        .map(|n| {
                            vk::WriteDescriptorSet::default()
                                .dst_set(set)
                                .dst_binding(n)
                                .descriptor_type(ty)
                                .image_info(&info)
                        })
                        .collect();
                    d.update_descriptor_sets(&writes, &[]);
                    let point = vk::PipelineBindPoint::COMPUTE;
                    g.run(|d, c| {
                        d.cmd_bind_pipeline(c, point, pipeline);
                        d.cmd_bind_descriptor_sets(c, point, layout, 0, &[set], &[]);
                        d.cmd_dispatch(c, GROUPS, 1, 1);
                    });
                }
                d.destroy_image_view(i.view, None);
                d.destroy_image(i.image, None);
                d.free_memory(i.memory, None);
                let what = format!("{shape:?} {format:?}");
                before.end(&g, &what);
                after.end(&g, &what);
            }
        }
        samplers.iter().for_each(|s| d.destroy_sampler(*s, None));
        d.destroy_descriptor_pool(pool, None);
        d.destroy_pipeline(pipeline, None);
        d.destroy_shader_module(module, None);
        d.destroy_pipeline_layout(layout, None);
        layouts.iter().for_each(|l| d.destroy_descriptor_set_layout(*l, None));
    }
    g.free(out);
    views
}

#[test]
fn sampled_images_of_other_shapes() {
    let views = all(SAMPLED, vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ImageUsageFlags::SAMPLED);
    assert!(views > 80, "{views}");
}

#[test]
fn storage_images_of_other_shapes() {
    let views = all(STORAGE, vk::DescriptorType::STORAGE_IMAGE, vk::ImageUsageFlags::STORAGE);
    assert!(views > 60, "{views}");
}

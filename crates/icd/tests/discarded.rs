//! Reads of what a render pass did not store (VK_ATTACHMENT_STORE_OP_DONT_CARE; § Render Pass Store Operations) are told once per image.

use crate::gpu::{Gpu, Mapped};
use crate::listen::{Heard, listening_to};
use ash::vk;
use vk::AttachmentLoadOp as Load;
use vk::AttachmentStoreOp as Store;
use vk::ImageAspectFlags as Aspect;

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

const SHADER: &[u8] = include_bytes!("shaders/discarded.comp.spv");
const SIZE: u32 = 64;
const HALF: u32 = SIZE / 2;

/// An image of two layers, and a view of each.
struct Target {
    image: vk::Image,
    memory: vk::DeviceMemory,
    views: [vk::ImageView; 2],
}

struct Test {
    gpu: Gpu,
    out: Mapped,
    layout: vk::PipelineLayout,
    set: vk::DescriptorSet,
    pipeline: vk::Pipeline,
    sampler: vk::Sampler,
    debug: ash::ext::debug_utils::Device,
    host: ash::ext::host_image_copy::Device,
}

fn extent(width: u32) -> vk::Extent3D {
    vk::Extent3D { width, height: SIZE, depth: 1 }
}

fn layers(aspect_mask: Aspect, base_array_layer: u32) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers { aspect_mask, mip_level: 0, base_array_layer, layer_count: 1 }
}

// SAFETY (all blocks): handles are alive, structures outlive the calls.
impl Test {
    fn new(instance: ash::Instance) -> Test {
        let mut host = vk::PhysicalDeviceHostImageCopyFeaturesEXT::default().host_image_copy(true);
        let gpu = Gpu::of(instance, &[ash::ext::host_image_copy::NAME], &mut host);
        let d = &gpu.device;
        let types = [
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            vk::DescriptorType::STORAGE_IMAGE,
            vk::DescriptorType::STORAGE_BUFFER,
        ];
        let bindings: Vec<_> = (0..3)
            .map(|i| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(i)
                    .descriptor_type(types[i as usize])
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let sets = [d.create_descriptor_set_layout(&info, None).expect("a layout")];
            let push =
                [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size: 4 }];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
            let layout = d.create_pipeline_layout(&info, None).expect("a layout");
            let sizes = types.map(|ty| vk::DescriptorPoolSize { ty, descriptor_count: 1 });
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
            let pool = d.create_descriptor_pool(&info, None).expect("a pool");
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&sets);
            let set = d.allocate_descriptor_sets(&info).expect("a set")[0];
            let words = ash::util::read_spv(&mut std::io::Cursor::new(SHADER)).expect("SPIR-V");
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            let module = d.create_shader_module(&info, None).expect("a module");
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let pipeline =
                d.create_compute_pipelines(Default::default(), &info, None).expect("a pipeline")[0];
            let sampler = d.create_sampler(&Default::default(), None).expect("a sampler");
            let out = gpu.buffer((SIZE * SIZE) as usize);
            let debug = ash::ext::debug_utils::Device::new(&gpu.instance, d);
            let host = ash::ext::host_image_copy::Device::new(&gpu.instance, d);
            Test { gpu, out, layout, set, pipeline, sampler, debug, host }
        }
    }

    fn target(&self, format: vk::Format, name: &std::ffi::CStr) -> Target {
        let d = &self.gpu.device;
        let (usage, aspect_mask) = match format {
            vk::Format::R8G8B8A8_UNORM => {
                (vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::STORAGE, Aspect::COLOR)
            }
            _ => (vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT, Aspect::DEPTH | Aspect::STENCIL),
        };
        let more = vk::ImageUsageFlags::SAMPLED
            | vk::ImageUsageFlags::TRANSFER_SRC
            | vk::ImageUsageFlags::TRANSFER_DST
            | vk::ImageUsageFlags::HOST_TRANSFER_EXT;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(extent(SIZE))
            .mip_levels(1)
            .array_layers(2)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage | more);
        unsafe {
            let image = d.create_image(&info, None).expect("an image");
            let need = d.get_image_memory_requirements(image);
            let info = vk::MemoryAllocateInfo::default().allocation_size(need.size);
            let memory = d.allocate_memory(&info, None).expect("memory");
            d.bind_image_memory(image, memory, 0).expect("it is bound");
            let named = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(image).object_name(name);
            self.debug.set_debug_utils_object_name(&named).expect("a name");
            let views = [0, 1].map(|base_array_layer| {
                let range = vk::ImageSubresourceRange {
                    aspect_mask,
                    level_count: 1,
                    base_array_layer,
                    layer_count: 1,
                    ..Default::default()
                };
                let info = vk::ImageViewCreateInfo::default()
                    .image(image)
                    .view_type(vk::ImageViewType::TYPE_2D)
                    .format(format)
                    .subresource_range(range);
                d.create_image_view(&info, None).expect("a view")
            });
            Target { image, memory, views }
        }
    }

    /// A pass over `width` columns of layer 0. `ops`: of colour, or of depth and of stencil.
    fn pass(&self, t: &Target, width: u32, ops: &[(Load, Store)]) {
        let attachment = |(load, store): (Load, Store)| {
            vk::RenderingAttachmentInfo::default()
                .image_view(t.views[0])
                .image_layout(GENERAL)
                .load_op(load)
                .store_op(store)
        };
        let all: Vec<_> = ops.iter().copied().map(attachment).collect();
        let area = vk::Rect2D { extent: vk::Extent2D { width, height: SIZE }, ..Default::default() };
        let info = vk::RenderingInfo::default().render_area(area).layer_count(1);
        let info = match &all[..] {
            [depth, stencil] => info.depth_attachment(depth).stencil_attachment(stencil),
            color => info.color_attachments(color),
        };
        self.gpu.run(|d, c| unsafe {
            let label = vk::DebugUtilsLabelEXT::default().label_name(c"shadows");
            self.debug.cmd_begin_debug_utils_label(c, &label);
            d.cmd_begin_rendering(c, &info);
            d.cmd_end_rendering(c);
            self.debug.cmd_end_debug_utils_label(c);
        });
    }

    fn copy(&self, t: &Target, aspect: Aspect, layer: u32, x: u32, width: u32) {
        let region = vk::BufferImageCopy::default()
            .image_subresource(layers(aspect, layer))
            .image_offset(vk::Offset3D { x: x as i32, ..Default::default() })
            .image_extent(extent(width));
        self.gpu.run(|d, c| unsafe {
            d.cmd_copy_image_to_buffer(c, t.image, GENERAL, self.out.buffer, &[region])
        });
    }

    fn fill(&self, t: &Target) {
        let region = vk::BufferImageCopy::default()
            .image_subresource(layers(Aspect::COLOR, 0))
            .image_extent(extent(SIZE));
        self.gpu.run(|d, c| unsafe {
            d.cmd_copy_buffer_to_image(c, self.out.buffer, t.image, GENERAL, &[region])
        });
    }

    fn blit(&self, from: &Target, to: &Target) {
        let corners = [vk::Offset3D::default(), vk::Offset3D { x: SIZE as i32, y: SIZE as i32, z: 1 }];
        let region = vk::ImageBlit {
            src_subresource: layers(Aspect::COLOR, 0),
            src_offsets: corners,
            dst_subresource: layers(Aspect::COLOR, 1),
            dst_offsets: corners,
        };
        self.gpu.run(|d, c| unsafe {
            d.cmd_blit_image(c, from.image, GENERAL, to.image, GENERAL, &[region], vk::Filter::NEAREST)
        });
    }

    /// 0: samples, 1: loads, 2: stores.
    fn dispatch(&self, t: &Target, layer: usize, what: u32) {
        let d = &self.gpu.device;
        let image = [vk::DescriptorImageInfo {
            sampler: self.sampler,
            image_view: t.views[layer],
            image_layout: GENERAL,
        }];
        let buffer = [vk::DescriptorBufferInfo { buffer: self.out.buffer, offset: 0, range: vk::WHOLE_SIZE }];
        let write = |binding, ty| {
            vk::WriteDescriptorSet::default().dst_set(self.set).dst_binding(binding).descriptor_type(ty)
        };
        let writes = [
            write(0, vk::DescriptorType::COMBINED_IMAGE_SAMPLER).image_info(&image),
            write(1, vk::DescriptorType::STORAGE_IMAGE).image_info(&image),
            write(2, vk::DescriptorType::STORAGE_BUFFER).buffer_info(&buffer),
        ];
        unsafe { d.update_descriptor_sets(&writes, &[]) };
        self.gpu.run(|d, c| unsafe {
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, self.pipeline);
            d.cmd_bind_descriptor_sets(c, vk::PipelineBindPoint::COMPUTE, self.layout, 0, &[self.set], &[]);
            d.cmd_push_constants(c, self.layout, vk::ShaderStageFlags::COMPUTE, 0, &what.to_le_bytes());
            d.cmd_dispatch(c, 1, 1, 1);
        });
    }

    fn host_copy(&self, t: &Target) {
        let region = [vk::ImageToMemoryCopyEXT::default()
            .host_pointer(self.out.words.as_ptr() as *mut _)
            .image_subresource(layers(Aspect::COLOR, 0))
            .image_extent(extent(SIZE))];
        let info = vk::CopyImageToMemoryInfoEXT::default()
            .src_image(t.image)
            .src_image_layout(GENERAL)
            .regions(&region);
        unsafe { self.host.copy_image_to_memory(&info) }.expect("a copy");
    }

    fn free(&self, t: Target) {
        unsafe {
            t.views.iter().for_each(|v| self.gpu.device.destroy_image_view(*v, None));
            self.gpu.device.destroy_image(t.image, None);
            self.gpu.device.free_memory(t.memory, None);
        }
    }
}

const DISCARD: (Load, Store) = (Load::CLEAR, Store::DONT_CARE);
const STORE: (Load, Store) = (Load::CLEAR, Store::STORE);

/// What happens to an image whose first layer a pass has discarded (all of it), and what the message begins with, if there is one.
type Case = (&'static str, fn(&Test, &Target), Option<&'static str>);

const CASES: &[Case] = &[
    ("copy", |t, i| t.copy(i, Aspect::COLOR, 0, 0, SIZE), Some("vkCmdCopyImageToBuffer2 (command 0 of")),
    ("copy of a column", |t, i| t.copy(i, Aspect::COLOR, 0, 9, 1), Some("vkCmdCopyImageToBuffer2")),
    ("blit", |t, i| t.blit(i, i), Some("vkCmdBlitImage2")),
    ("copy by the host", Test::host_copy, Some("vkCopyImageToMemory")),
    ("load", |t, i| t.pass(i, SIZE, &[(Load::LOAD, Store::STORE)]), Some("vkCmdBeginRendering")),
    ("sample", |t, i| t.dispatch(i, 0, 0), Some("a shader")),
    ("load by a shader", |t, i| t.dispatch(i, 0, 1), Some("a shader")),
    (
        "discarded again",
        |t, i| {
            t.pass(i, SIZE, &[STORE]);
            t.pass(i, SIZE, &[DISCARD]);
            t.copy(i, Aspect::COLOR, 0, 0, SIZE);
        },
        Some("vkCmdCopyImageToBuffer2"),
    ),
    ("not read", |_, _| (), None),
    ("another layer", |t, i| t.copy(i, Aspect::COLOR, 1, 0, SIZE), None),
    ("another layer sampled", |t, i| t.dispatch(i, 1, 0), None),
    (
        "stored by a pass",
        |t, i| {
            t.pass(i, SIZE, &[STORE]);
            t.copy(i, Aspect::COLOR, 0, 0, SIZE);
        },
        None,
    ),
    (
        "written by a copy",
        |t, i| {
            t.fill(i);
            t.copy(i, Aspect::COLOR, 0, 0, SIZE);
        },
        None,
    ),
    (
        "written by a shader",
        |t, i| {
            t.dispatch(i, 0, 2);
            t.copy(i, Aspect::COLOR, 0, 0, SIZE);
        },
        None,
    ),
    ("cleared", |t, i| t.pass(i, SIZE, &[STORE]), None),
    (
        "outside the render area",
        |t, i| {
            t.pass(i, SIZE, &[STORE]);
            t.pass(i, HALF, &[DISCARD]);
            t.copy(i, Aspect::COLOR, 0, HALF, HALF);
            // A part of it is defined, and nobody knows which texels the shader reads.
            t.dispatch(i, 0, 0);
        },
        None,
    ),
];

/// The same of an image of depth and stencil; the pass before discards the depth alone.
const DEPTH_CASES: &[Case] = &[
    ("depth", |t, i| t.copy(i, Aspect::DEPTH, 0, 0, SIZE), Some("vkCmdCopyImageToBuffer2")),
    ("stencil", |t, i| t.copy(i, Aspect::STENCIL, 0, 0, SIZE), None),
    ("both loaded", |t, i| t.pass(i, SIZE, &[(Load::LOAD, Store::STORE); 2]), Some("vkCmdBeginRendering")),
    ("stencil loaded", |t, i| t.pass(i, SIZE, &[STORE, (Load::LOAD, Store::STORE)]), None),
];

#[test]
fn a_read_of_what_a_pass_discarded_is_told_once() {
    let heard = Heard::default();
    let (instance, debug, messenger) = listening_to(&heard, vk::DebugUtilsMessageSeverityFlagsEXT::WARNING);
    let t = Test::new(instance);
    let color = CASES.iter().map(|c| (vk::Format::R8G8B8A8_UNORM, &[DISCARD][..], c));
    let depth = DEPTH_CASES.iter().map(|c| (vk::Format::D32_SFLOAT_S8_UINT, &[DISCARD, STORE][..], c));
    for (format, ops, (what, run, expected)) in color.chain(depth) {
        let image = t.target(format, c"the target");
        t.pass(&image, SIZE, ops);
        run(&t, &image);
        let told = std::mem::take(&mut *heard.lock().expect("no panic"));
        match (&told[..], expected) {
            ([], None) => {}
            ([one], Some(begin)) => {
                assert!(one.starts_with(begin), "{what}: {one}");
                assert!(one.contains("reads image 'the target'"), "{what}: {one}");
                assert!(one.contains("64x64x1 of") && one.contains("in 'shadows'"), "{what}: {one}");
            }
            _ => panic!("{what}: {told:?}, expected {expected:?}"),
        }
        // Once per image.
        if expected.is_some() {
            t.pass(&image, SIZE, ops);
            run(&t, &image);
            assert_eq!(*heard.lock().expect("no panic"), [""; 0], "{what}");
        }
        t.free(image);
    }
    let d = &t.gpu.device;
    unsafe {
        d.destroy_sampler(t.sampler, None);
        d.destroy_pipeline(t.pipeline, None);
        debug.destroy_debug_utils_messenger(messenger, None);
    }
}

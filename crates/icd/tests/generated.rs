//! VK_EXT_device_generated_commands: dispatches and draws that memory describes, and memory that describes nonsense.

use crate::gpu::{Gpu, Mapped};
use crate::graphics::Flat;
use ::vk as new;
use ash::vk;
use ash::vk::Handle;
use std::ffi::CStr;

/// The extension's commands.
struct Commands {
    layout: new::IndirectCommandsLayoutEXT,
    set: new::IndirectExecutionSetEXT,
    g: Gpu,
}

type CreateLayout = unsafe extern "system" fn(
    vk::Device,
    *const new::IndirectCommandsLayoutCreateInfoEXT,
    *const vk::AllocationCallbacks,
    *mut new::IndirectCommandsLayoutEXT,
) -> vk::Result;
type CreateSet = unsafe extern "system" fn(
    vk::Device,
    *const new::IndirectExecutionSetCreateInfoEXT,
    *const vk::AllocationCallbacks,
    *mut new::IndirectExecutionSetEXT,
) -> vk::Result;
type UpdateSet = unsafe extern "system" fn(
    vk::Device,
    new::IndirectExecutionSetEXT,
    u32,
    *const new::WriteIndirectExecutionSetPipelineEXT,
);
type Execute = unsafe extern "system" fn(vk::CommandBuffer, vk::Bool32, *const new::GeneratedCommandsInfoEXT);
type DestroyLayout =
    unsafe extern "system" fn(vk::Device, new::IndirectCommandsLayoutEXT, *const vk::AllocationCallbacks);
type DestroySet =
    unsafe extern "system" fn(vk::Device, new::IndirectExecutionSetEXT, *const vk::AllocationCallbacks);

fn gpu() -> Gpu {
    let extensions = [c"VK_EXT_device_generated_commands", c"VK_KHR_push_descriptor"];
    Gpu::with(&extensions, &mut vk::PhysicalDeviceVulkan11Features::default())
}

/// A device command of this type.
pub unsafe fn command<T: Copy>(g: &Gpu, name: &CStr) -> T {
    // SAFETY: the caller names the type of the command; handles are alive.
    unsafe {
        let f = g.instance.get_device_proc_addr(g.device.handle(), name.as_ptr()).expect("it is there");
        std::mem::transmute_copy(&f)
    }
}

/// (type, offset, data) of tokens.
fn layout(
    g: &Gpu,
    stages: vk::ShaderStageFlags,
    stride: u32,
    tokens: &[(i32, u32, new::IndirectCommandsTokenDataEXT)],
) -> Result<new::IndirectCommandsLayoutEXT, vk::Result> {
    let tokens: Vec<_> = tokens
        .iter()
        .map(|&(ty, offset, data)| new::IndirectCommandsLayoutTokenEXT {
            ty: new::IndirectCommandsTokenTypeEXT::from_raw(ty),
            data,
            offset,
            ..Default::default()
        })
        .collect();
    let info = new::IndirectCommandsLayoutCreateInfoEXT {
        shader_stages: stages,
        indirect_stride: stride,
        token_count: tokens.len() as u32,
        p_tokens: tokens.as_ptr(),
        ..Default::default()
    };
    let mut made = new::IndirectCommandsLayoutEXT::null();
    // SAFETY: structures outlive the call.
    let r = unsafe {
        let create: CreateLayout = command(g, c"vkCreateIndirectCommandsLayoutEXT");
        create(g.device.handle(), &info, std::ptr::null(), &mut made)
    };
    if r == vk::Result::SUCCESS { Ok(made) } else { Err(r) }
}

fn push(offset: u32, size: u32) -> new::IndirectCommandsPushConstantTokenEXT {
    let update_range = vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::ALL, offset, size };
    new::IndirectCommandsPushConstantTokenEXT { update_range }
}

pub fn address(g: &Gpu, m: &Mapped) -> u64 {
    let info = vk::BufferDeviceAddressInfo::default().buffer(m.buffer);
    // SAFETY: the buffer is alive.
    unsafe { g.device.get_buffer_device_address(&info) }
}

impl Commands {
    /// With a most of draws for tokens that count.
    fn execute_draws(
        &self,
        c: vk::CommandBuffer,
        stages: vk::ShaderStageFlags,
        sequences: (u64, u64, u32),
        most: u32,
    ) {
        let info = new::GeneratedCommandsInfoEXT {
            shader_stages: stages,
            indirect_commands_layout: self.layout,
            indirect_address: sequences.0,
            indirect_address_size: sequences.1,
            max_sequence_count: sequences.2,
            max_draw_count: most,
            ..Default::default()
        };
        // SAFETY: structures outlive the call.
        unsafe {
            let execute: Execute = command(&self.g, c"vkCmdExecuteGeneratedCommandsEXT");
            execute(c, 0, &info);
        }
    }

    fn execute(
        &self,
        c: vk::CommandBuffer,
        stages: vk::ShaderStageFlags,
        sequences: (u64, u64, u32),
        count: u64,
    ) {
        let info = new::GeneratedCommandsInfoEXT {
            shader_stages: stages,
            indirect_execution_set: self.set,
            indirect_commands_layout: self.layout,
            indirect_address: sequences.0,
            indirect_address_size: sequences.1,
            max_sequence_count: sequences.2,
            sequence_count_address: count,
            ..Default::default()
        };
        // SAFETY: structures outlive the call.
        unsafe {
            let execute: Execute = command(&self.g, c"vkCmdExecuteGeneratedCommandsEXT");
            execute(c, 0, &info);
        }
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        // SAFETY: nobody uses them any more.
        unsafe {
            let destroy: DestroyLayout = command(&self.g, c"vkDestroyIndirectCommandsLayoutEXT");
            destroy(self.g.device.handle(), self.layout, std::ptr::null());
            let destroy: DestroySet = command(&self.g, c"vkDestroyIndirectExecutionSetEXT");
            destroy(self.g.device.handle(), self.set, std::ptr::null());
        }
    }
}

const COMPUTE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;

/// Three sequences choose between two pipelines, push constants and their number, and dispatch; a count cuts them to two; an
/// address that is no device memory loses the device.
#[test]
fn dispatches_are_read_from_memory() {
    let g = gpu();
    let d = &g.device;
    // SAFETY (here and below): handles are alive, structures outlive the calls.
    unsafe {
        let code = shader::words(include_bytes!("shaders/generated.comp.spv"));
        let module =
            d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None).unwrap();
        let binding = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(COMPUTE)];
        let info = vk::DescriptorSetLayoutCreateInfo::default()
            .bindings(&binding)
            .flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR);
        let sets = [d.create_descriptor_set_layout(&info, None).unwrap()];
        let range = [vk::PushConstantRange { stage_flags: COMPUTE, offset: 0, size: 12 }];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&range);
        let pipeline_layout = d.create_pipeline_layout(&info, None).unwrap();
        let pipelines = [1u32, 2].map(|times| {
            let entries = [vk::SpecializationMapEntry { constant_id: 0, offset: 0, size: 4 }];
            let value = times.to_le_bytes();
            let spec = vk::SpecializationInfo::default().map_entries(&entries).data(&value);
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(COMPUTE)
                .module(module)
                .name(c"main")
                .specialization_info(&spec);
            let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(pipeline_layout)];
            d.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0]
        });
        let of_set =
            new::IndirectCommandsExecutionSetTokenEXT { shader_stages: COMPUTE, ..Default::default() };
        let (values, number) = (push(0, 8), push(8, 4));
        let tokens = [
            (0, 0, new::IndirectCommandsTokenDataEXT { p_execution_set: &of_set }),
            (1, 4, new::IndirectCommandsTokenDataEXT { p_push_constant: &values }),
            (2, 0, new::IndirectCommandsTokenDataEXT { p_push_constant: &number }),
            (9, 12, new::IndirectCommandsTokenDataEXT { p_push_constant: std::ptr::null() }),
        ];
        // Tokens beyond the stride, without an action, with two, of constants that there are not.
        assert!(layout(&g, COMPUTE, 20, &tokens).is_err());
        assert!(layout(&g, COMPUTE, 24, &tokens[..3]).is_err());
        assert!(layout(&g, COMPUTE, 64, &[tokens[3], tokens[3]]).is_err());
        let beyond = push(250, 8);
        let token = (1, 4, new::IndirectCommandsTokenDataEXT { p_push_constant: &beyond });
        assert!(layout(&g, COMPUTE, 24, &[token, tokens[3]]).is_err());
        let made = layout(&g, COMPUTE, 24, &tokens).unwrap();
        let first = new::IndirectExecutionSetPipelineInfoEXT {
            initial_pipeline: pipelines[0],
            max_pipeline_count: 2,
            ..Default::default()
        };
        let info = new::IndirectExecutionSetCreateInfoEXT {
            info: new::IndirectExecutionSetInfoEXT { p_pipeline_info: &first },
            ..Default::default()
        };
        let mut set = new::IndirectExecutionSetEXT::null();
        let create: CreateSet = command(&g, c"vkCreateIndirectExecutionSetEXT");
        assert_eq!(create(d.handle(), &info, std::ptr::null(), &mut set), vk::Result::SUCCESS);
        let write = [
            new::WriteIndirectExecutionSetPipelineEXT {
                index: 1,
                pipeline: pipelines[1],
                ..Default::default()
            },
            // There is no third.
            new::WriteIndirectExecutionSetPipelineEXT {
                index: 2,
                pipeline: pipelines[1],
                ..Default::default()
            },
        ];
        let update: UpdateSet = command(&g, c"vkUpdateIndirectExecutionSetPipelineEXT");
        update(d.handle(), set, 2, write.as_ptr());
        let (sequences, words) = (g.buffer(32), g.buffer(8));
        // Member of the set, at, value, workgroups.
        let each = [[0, 0, 5, 2, 1, 1], [1, 1, 7, 1, 1, 3], [0, 2, 1, 1, 1, 1]];
        sequences.words[..18].copy_from_slice(each.as_flattened());
        sequences.words[20] = 2;
        let at = address(&g, &sequences);
        let commands = Commands { layout: made, set, g };
        let (g, d) = (&commands.g, &commands.g.device);
        let push_descriptor = ash::khr::push_descriptor::Device::new(&g.instance, d);
        let run = |sequences: (u64, u64, u32), count| {
            words.words.as_ptr().cast_mut().write_bytes(0, 8);
            let c = g.record(|d, c| {
                d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, pipelines[0]);
                let b = [vk::DescriptorBufferInfo::default().buffer(words.buffer).range(vk::WHOLE_SIZE)];
                let write = vk::WriteDescriptorSet::default()
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&b);
                let compute = vk::PipelineBindPoint::COMPUTE;
                push_descriptor.cmd_push_descriptor_set(c, compute, pipeline_layout, 0, &[write]);
                commands.execute(c, COMPUTE, sequences, count);
            });
            g.submit(c, vk::Fence::null());
            (d.queue_wait_idle(g.queue), [0, 1, 2].map(|k| words.words.as_ptr().add(k).read_volatile()))
        };
        let one = 1 << 16;
        assert_eq!(run((at, 72, 3), 0), (Ok(()), [2 * 5, 3 * (2 * 7 + one), 1 + 2 * one]));
        assert_eq!(run((at, 72, 3), at + 80), (Ok(()), [10, 3 * (14 + one), 0]));
        // A member that the set has not draws nothing.
        sequences.words[0] = 9;
        assert_eq!(run((at, 72, 2), 0), (Ok(()), [0, 3 * (14 + one), 0]));
        assert_eq!(run((0xdead_0000, 72, 3), 0).0, Err(vk::Result::ERROR_DEVICE_LOST));
        pipelines.iter().for_each(|&p| d.destroy_pipeline(p, None));
        d.destroy_pipeline_layout(pipeline_layout, None);
        d.destroy_descriptor_set_layout(sets[0], None);
        d.destroy_shader_module(module, None);
        g.free(sequences);
        g.free(words);
        drop(commands);
    }
}

/// Corners of the left half and the right one of the image, white, of 24 bytes each.
fn quads(to: &Mapped) {
    // SAFETY: 48 words of a mapped buffer that nobody reads yet.
    let words = unsafe { std::slice::from_raw_parts_mut(to.words.as_ptr().cast_mut(), 48) };
    for (k, (left, right)) in [(-1f32, 0f32), (0., 1.)].into_iter().enumerate() {
        let corners = [(left, -1f32), (right, -1.), (left, 1.), (right, 1.)];
        for (n, (x, y)) in corners.into_iter().enumerate() {
            let at = 24 * k + 6 * n;
            let v = [x, y, 1., 1., 1., 1.];
            words[at..at + 6].copy_from_slice(&v.map(f32::to_bits));
        }
    }
}

/// What is recorded into a pass over an image of 4 × 2 pixels.
fn picture(g: &Gpu, record: impl Fn(&ash::Device, vk::CommandBuffer)) -> Vec<u32> {
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
    let (image, pixels) = (g.image([4, 2], usage), g.buffer(8));
    // SAFETY: handles are alive, structures outlive the calls.
    g.run(|d, c| unsafe {
        let attachment = [vk::RenderingAttachmentInfo::default()
            .image_view(image.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let area = vk::Rect2D { extent: vk::Extent2D { width: 4, height: 2 }, ..Default::default() };
        let info =
            vk::RenderingInfo::default().render_area(area).layer_count(1).color_attachments(&attachment);
        d.cmd_begin_rendering(c, &info);
        let whole = vk::Viewport { width: 4., height: 2., max_depth: 1., ..Default::default() };
        d.cmd_set_viewport(c, 0, &[whole]);
        d.cmd_set_scissor(c, 0, &[area]);
        record(d, c);
        d.cmd_end_rendering(c);
        let region = [vk::BufferImageCopy::default()
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                layer_count: 1,
                ..Default::default()
            })
            .image_extent(vk::Extent3D { width: 4, height: 2, depth: 1 })];
        d.cmd_copy_image_to_buffer(c, image.image, vk::ImageLayout::GENERAL, pixels.buffer, &region);
    });
    let words = pixels.words.to_vec();
    g.free_image(image);
    g.free(pixels);
    words
}

/// Two sequences bind vertices of their own, push a colour and draw: halves of the image.
#[test]
fn draws_are_read_from_memory() {
    const GRAPHICS: vk::ShaderStageFlags = vk::ShaderStageFlags::ALL_GRAPHICS;
    let g = gpu();
    let f = Flat::new(&g);
    let pipeline = f.whole(&g);
    let vertex = new::IndirectCommandsVertexBufferTokenEXT { vertex_binding_unit: 0 };
    let colour = push(0, 16);
    let tokens = [
        (4, 0, new::IndirectCommandsTokenDataEXT { p_vertex_buffer: &vertex }),
        (1, 16, new::IndirectCommandsTokenDataEXT { p_push_constant: &colour }),
        (6, 32, new::IndirectCommandsTokenDataEXT { p_push_constant: std::ptr::null() }),
    ];
    let made = layout(&g, GRAPHICS, 48, &tokens).unwrap();
    let (vertices, sequences) = (g.buffer(64), g.buffer(32));
    quads(&vertices);
    for k in 0..2 {
        let from = address(&g, &vertices) + 96 * k as u64;
        let color = if k == 0 { [1f32, 0., 0., 1.] } else { [0., 1., 0., 1.] };
        let s = &mut sequences.words[12 * k..12 * (k + 1)];
        s[..4].copy_from_slice(&[from as u32, (from >> 32) as u32, 96, 24]);
        s[4..8].copy_from_slice(&color.map(f32::to_bits));
        s[8..].copy_from_slice(&[4, 1, 0, 0]);
    }
    let at = address(&g, &sequences);
    let commands = Commands { layout: made, set: new::IndirectExecutionSetEXT::from_raw(0), g };
    let g = &commands.g;
    let drawn = picture(g, |_, c| {
        // SAFETY: the pipeline is alive.
        unsafe { g.device.cmd_bind_pipeline(c, vk::PipelineBindPoint::GRAPHICS, pipeline) };
        commands.execute(c, GRAPHICS, (at, 96, 2), 0);
    });
    let (red, green) = (0xFF00_00FF, 0xFF00_FF00);
    assert_eq!(drawn, [red, red, green, green, red, red, green, green]);
    unsafe { g.device.destroy_pipeline(pipeline, None) };
    f.free(g);
    for m in [vertices, sequences] {
        g.free(m);
    }
}

/// Indices of a DXGI format, and draws of which memory says how many there are, and the command how many there may be.
#[test]
fn draws_have_indices_and_counts_in_memory() {
    const GRAPHICS: vk::ShaderStageFlags = vk::ShaderStageFlags::ALL_GRAPHICS;
    let g = gpu();
    let f = Flat::new(&g);
    let pipeline = f.whole(&g);
    let indices = new::IndirectCommandsIndexBufferTokenEXT {
        mode: new::IndirectCommandsInputModeFlagsEXT::from_raw(0b10),
    };
    let tokens = [
        (3, 0, new::IndirectCommandsTokenDataEXT { p_index_buffer: &indices }),
        (7, 16, new::IndirectCommandsTokenDataEXT { p_index_buffer: std::ptr::null() }),
    ];
    let made = layout(&g, GRAPHICS, 32, &tokens).unwrap();
    let (vertices, memory) = (g.buffer(64), g.buffer(64));
    quads(&vertices);
    // 16-bit indices of both halves, two draws, and the sequence.
    memory.words[..4].copy_from_slice(&[1 << 16, 3 << 16 | 2, 5 << 16 | 4, 7 << 16 | 6]);
    memory.words[8..13].copy_from_slice(&[4, 1, 0, 0, 0]);
    memory.words[16..21].copy_from_slice(&[4, 1, 4, 0, 0]);
    let at = address(&g, &memory);
    let low = |a: u64| [a as u32, (a >> 32) as u32];
    memory.words[32..36].copy_from_slice(&[&low(at)[..], &[16, 57]].concat());
    memory.words[36..40].copy_from_slice(&[&low(at + 32)[..], &[32, 2]].concat());
    let commands = Commands { layout: made, set: new::IndirectExecutionSetEXT::from_raw(0), g };
    let g = &commands.g;
    let white = [1f32; 4].map(f32::to_le_bytes);
    let draw = |most| {
        picture(g, |d, c| unsafe {
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::GRAPHICS, pipeline);
            d.cmd_push_constants(c, f.layout(), vk::ShaderStageFlags::FRAGMENT, 0, white.as_flattened());
            d.cmd_bind_vertex_buffers(c, 0, &[vertices.buffer], &[0]);
            commands.execute_draws(c, GRAPHICS, (at + 128, 32, 1), most);
        })
    };
    let (white, none) = (!0, 0);
    assert_eq!(draw(8), [white; 8]);
    assert_eq!(draw(1), [white, white, none, none, white, white, none, none]);
    unsafe { g.device.destroy_pipeline(pipeline, None) };
    f.free(g);
    for m in [vertices, memory] {
        g.free(m);
    }
}

//! Push descriptors and embedded samplers in a pipeline with a descriptor buffer, by the commands of both ages.

use super::Check;
use super::rig::{Rig, binding, pipeline, texel};
use ash::vk;
use client::graphics::barrier;
use client::{Buffer, Error, Result};
use vk::DescriptorType as T;

const POINT: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
const STAGE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;
/// Where the set lies in its descriptor buffer.
const AT: u64 = 256;

struct Mixed {
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    heap: Buffer,
    out: Buffer,
    uniform: Buffer,
}

impl Mixed {
    fn new(rig: &Rig) -> Result<Mixed> {
        use vk::DescriptorSetLayoutCreateFlags as F;
        let context = rig.context();
        let device = &context.device;
        let border = vk::SamplerCreateInfo::default()
            .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_BORDER)
            .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_BORDER)
            .border_color(vk::BorderColor::FLOAT_OPAQUE_WHITE);
        let pushed = [binding(0, T::STORAGE_BUFFER, 1), binding(1, T::UNIFORM_BUFFER, 1)];
        let textures = [binding(3, T::SAMPLED_IMAGE, 1)];
        // SAFETY: plain Vulkan calls with structs that outlive them.
        let sets = unsafe {
            let samplers = [device.create_sampler(&border, None).map_err(Error::vk("vkCreateSampler"))?];
            let embedded = [binding(0, T::SAMPLER, 1).immutable_samplers(&samplers)];
            let made = |more: F, bindings: &[vk::DescriptorSetLayoutBinding]| {
                let info = vk::DescriptorSetLayoutCreateInfo::default()
                    .flags(F::DESCRIPTOR_BUFFER_EXT | more)
                    .bindings(bindings);
                device
                    .create_descriptor_set_layout(&info, None)
                    .map_err(Error::vk("vkCreateDescriptorSetLayout"))
            };
            [
                made(F::PUSH_DESCRIPTOR_KHR, &pushed)?,
                made(F::EMBEDDED_IMMUTABLE_SAMPLERS_EXT, &embedded)?,
                made(F::empty(), &textures)?,
            ]
        };
        let spirv = include_bytes!("../../shaders/descriptor_buffer_push.spv");
        let (layout, pipeline) = pipeline(context, spirv, &sets, 0)?;
        // SAFETY: a live layout.
        let size = unsafe { rig.api.get_descriptor_set_layout_size(sets[2]) };
        // SAFETY: as above.
        let offset = unsafe { rig.api.get_descriptor_set_layout_binding_offset(sets[2], 3) };
        let usages = vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT;
        let mut heap = Buffer::addressed(context, (AT + size) as usize, usages)?;
        let bytes = rig.sampled(1);
        let at = (AT + offset) as usize;
        heap.bytes_mut()[at..at + bytes.len()].copy_from_slice(&bytes);
        Ok(Mixed {
            layout,
            pipeline,
            heap,
            out: Buffer::new(context, 256)?,
            uniform: Buffer::new(context, 16)?,
        })
    }

    fn dispatch(&self, rig: &Rig, two: bool) -> Result<()> {
        let context = rig.context();
        let push = ash::khr::push_descriptor::Device::new(&context.instance, &context.device);
        let six = ash::khr::maintenance6::Device::new(&context.instance, &context.device);
        let whole =
            |b: &Buffer| [vk::DescriptorBufferInfo { buffer: b.handle, offset: 0, range: vk::WHOLE_SIZE }];
        let (out, uniform) = (whole(&self.out), whole(&self.uniform));
        let writes = [
            vk::WriteDescriptorSet::default().descriptor_type(T::STORAGE_BUFFER).buffer_info(&out),
            vk::WriteDescriptorSet::default()
                .dst_binding(1)
                .descriptor_type(T::UNIFORM_BUFFER)
                .buffer_info(&uniform),
        ];
        let usage = vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT;
        let bound = [vk::DescriptorBufferBindingInfoEXT::default().address(self.heap.address()).usage(usage)];
        context.run(|device, c| {
            // SAFETY: recording into a command buffer that has begun, with live handles.
            unsafe {
                device.cmd_bind_pipeline(c, POINT, self.pipeline);
                rig.api.cmd_bind_descriptor_buffers(c, &bound);
                if two {
                    let info = vk::PushDescriptorSetInfoKHR::default()
                        .stage_flags(STAGE)
                        .layout(self.layout)
                        .descriptor_writes(&writes);
                    six.cmd_push_descriptor_set2(c, &info);
                    let info = vk::BindDescriptorBufferEmbeddedSamplersInfoEXT::default()
                        .stage_flags(STAGE)
                        .layout(self.layout)
                        .set(1);
                    six.cmd_bind_descriptor_buffer_embedded_samplers2(c, &info);
                    let info = vk::SetDescriptorBufferOffsetsInfoEXT::default()
                        .stage_flags(STAGE)
                        .layout(self.layout)
                        .first_set(2)
                        .buffer_indices(&[0])
                        .offsets(&[AT]);
                    six.cmd_set_descriptor_buffer_offsets2(c, &info);
                } else {
                    push.cmd_push_descriptor_set(c, POINT, self.layout, 0, &writes);
                    rig.api.cmd_bind_descriptor_buffer_embedded_samplers(c, POINT, self.layout, 1);
                    rig.api.cmd_set_descriptor_buffer_offsets(c, POINT, self.layout, 2, &[0], &[AT]);
                }
                device.cmd_dispatch(c, 1, 1, 1);
            }
            barrier(device, c);
        })
    }
}

pub fn push_and_embedded(rig: &mut Rig) -> Result<Check> {
    let mut mixed = Mixed::new(rig)?;
    for (two, base) in [(false, 5u32), (true, 70_000)] {
        mixed.out.words_mut().fill(0);
        mixed.uniform.words_mut().fill(base);
        mixed.dispatch(rig, two)?;
        for (i, &got) in mixed.out.words().iter().enumerate() {
            let read = if i % 2 == 1 { 1 } else { texel(1, i, 0) as u32 };
            if got != read + base {
                return Ok(Err(format!("commands2 {two}, invocation {i}: {got}, not {}", read + base)));
            }
        }
    }
    Ok(Ok(()))
}

//! Ray tracing pipelines: a group and a record of the shader binding table for each stage.

use crate::{Buffer, Context, Error, Result};
use ash::vk;
use std::rc::Rc;

/// A ray tracing pipeline's commands and tables.
pub(super) struct Tables {
    commands: ash::khr::ray_tracing_pipeline::Device,
    /// Of each stage.
    regions: Vec<vk::StridedDeviceAddressRegionKHR>,
    miss: usize,
    hit: usize,
    _records: Buffer,
}

impl Tables {
    /// Records a trace by the ray generation shader that is the stage `generation`.
    ///
    /// # Safety
    /// The command buffer records, the pipeline is bound and the tables outlive the execution.
    pub unsafe fn trace(&self, commands: vk::CommandBuffer, generation: usize, [width, height]: [u32; 2]) {
        let (r, callable) = (&self.regions, Default::default());
        // SAFETY: the caller's.
        unsafe {
            self.commands.cmd_trace_rays(
                commands,
                &r[generation],
                &r[self.miss],
                &r[self.hit],
                &callable,
                width,
                height,
                1,
            );
        }
    }
}

/// A pipeline of these stages, one of them a miss shader and one a closest-hit shader for triangles.
///
/// # Safety
/// The handles are alive.
pub(super) unsafe fn traced(
    context: &Rc<Context>,
    layout: vk::PipelineLayout,
    stages: &[vk::PipelineShaderStageCreateInfo],
) -> Result<(vk::Pipeline, Tables)> {
    let commands = ash::khr::ray_tracing_pipeline::Device::new(&context.instance, &context.device);
    let mut limits = vk::PhysicalDeviceRayTracingPipelinePropertiesKHR::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut limits);
    let unused = vk::SHADER_UNUSED_KHR;
    let closest = vk::ShaderStageFlags::CLOSEST_HIT_KHR;
    let group = |(k, stage): (usize, &vk::PipelineShaderStageCreateInfo)| {
        let info = vk::RayTracingShaderGroupCreateInfoKHR::default()
            .general_shader(unused)
            .closest_hit_shader(unused)
            .any_hit_shader(unused)
            .intersection_shader(unused);
        match stage.stage == closest {
            true => {
                info.ty(vk::RayTracingShaderGroupTypeKHR::TRIANGLES_HIT_GROUP).closest_hit_shader(k as u32)
            }
            false => info.ty(vk::RayTracingShaderGroupTypeKHR::GENERAL).general_shader(k as u32),
        }
    };
    let groups: Vec<_> = stages.iter().enumerate().map(group).collect();
    let of = |stage| {
        let at = stages.iter().position(|s| s.stage == stage);
        at.ok_or_else(|| Error(format!("no stage {stage:?}")))
    };
    let (miss, hit) = (of(vk::ShaderStageFlags::MISS_KHR)?, of(closest)?);
    let info = vk::RayTracingPipelineCreateInfoKHR::default()
        .stages(stages)
        .groups(&groups)
        .max_pipeline_ray_recursion_depth(1)
        .layout(layout);
    // SAFETY: plain Vulkan calls with structs that outlive them.
    unsafe {
        context.instance.get_physical_device_properties2(context.physical, &mut properties);
        let (none, cache) = (vk::DeferredOperationKHR::null(), vk::PipelineCache::null());
        let pipeline = commands
            .create_ray_tracing_pipelines(none, cache, &[info], None)
            .map_err(|(_, r)| Error(format!("vkCreateRayTracingPipelinesKHR: {r:?}")))?[0];
        let size = limits.shader_group_handle_size as usize;
        let handles = commands
            .get_ray_tracing_shader_group_handles(pipeline, 0, groups.len() as u32, groups.len() * size)
            .map_err(Error::vk("vkGetRayTracingShaderGroupHandlesKHR"))?;
        let step = (size as u64).next_multiple_of(u64::from(
            limits.shader_group_base_alignment.max(limits.shader_group_handle_alignment).max(1),
        ));
        let usage = vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR;
        let mut records = Buffer::addressed(context, (groups.len() + 1) * step as usize, usage)?;
        let first = records.address().next_multiple_of(step) - records.address();
        let to = &mut records.bytes_mut()[first as usize..];
        for (record, handle) in to.chunks_exact_mut(step as usize).zip(handles.chunks_exact(size)) {
            record[..size].copy_from_slice(handle);
        }
        let region = |k: u64| vk::StridedDeviceAddressRegionKHR {
            device_address: records.address() + first + k * step,
            stride: step,
            size: step,
        };
        let regions = (0..groups.len() as u64).map(region).collect();
        Ok((pipeline, Tables { commands, regions, miss, hit, _records: records }))
    }
}

/// A pipeline whose ray generation shaders get push constants and find everything else by its address.
pub struct Pipeline {
    context: Rc<Context>,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    tables: Tables,
}

impl Pipeline {
    /// `stages`: SPIR-V, one of them a miss shader and one a closest-hit shader; `push`: bytes of the push constants.
    ///
    /// # Errors
    /// Those that begin with [`crate::pictures::MISSING`] say that the driver has no ray tracing pipelines.
    pub fn new(
        context: &Rc<Context>,
        stages: &[(&[u8], vk::ShaderStageFlags)],
        push: u32,
    ) -> Result<Pipeline> {
        context.needs(ash::khr::ray_tracing_pipeline::NAME)?;
        let device = &context.device;
        let push =
            [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::RAYGEN_KHR).size(push)];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        // SAFETY: plain Vulkan calls with structs that outlive them. On an error what was made before is left to the device's end.
        unsafe {
            let layout =
                device.create_pipeline_layout(&info, None).map_err(Error::vk("vkCreatePipelineLayout"))?;
            let mut infos = Vec::new();
            for (code, stage) in stages {
                let code = crate::words(code);
                let module = device
                    .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None)
                    .map_err(Error::vk("vkCreateShaderModule"))?;
                let info = vk::PipelineShaderStageCreateInfo::default();
                infos.push(info.stage(*stage).module(module).name(c"main"));
            }
            let made = traced(context, layout, &infos);
            infos.iter().for_each(|i| device.destroy_shader_module(i.module, None));
            let (pipeline, tables) = made?;
            Ok(Pipeline { context: context.clone(), layout, pipeline, tables })
        }
    }

    /// Records a trace by the stage `generation`, and a barrier that makes what it writes visible to later traces and to
    /// the host.
    pub fn record(&self, commands: vk::CommandBuffer, generation: usize, push: &[u8], size: [u32; 2]) {
        let device = &self.context.device;
        let (point, stage) = (vk::PipelineBindPoint::RAY_TRACING_KHR, vk::ShaderStageFlags::RAYGEN_KHR);
        let traces = vk::PipelineStageFlags::RAY_TRACING_SHADER_KHR;
        let barrier =
            [vk::MemoryBarrier::default().src_access_mask(vk::AccessFlags::SHADER_WRITE).dst_access_mask(
                vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::HOST_READ,
            )];
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe {
            device.cmd_bind_pipeline(commands, point, self.pipeline);
            device.cmd_push_constants(commands, self.layout, stage, 0, push);
            self.tables.trace(commands, generation, size);
            let to = traces | vk::PipelineStageFlags::HOST;
            let none = vk::DependencyFlags::empty();
            device.cmd_pipeline_barrier(commands, traces, to, none, &barrier, &[], &[]);
        }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: nothing that uses them is pending.
        unsafe {
            self.context.device.destroy_pipeline(self.pipeline, None);
            self.context.device.destroy_pipeline_layout(self.layout, None);
        }
    }
}

//! Pipelines that trace rays from one buffer and write their hits to another.

use super::By;
use super::pipeline::{Tables, traced};
use super::structure::Structure;
use crate::{Buffer, Context, Error, Result};
use ash::vk;
use std::rc::Rc;

macro_rules! shader {
    ($name:literal) => {
        include_bytes!(concat!("../../../../benches/rays/", $name, ".spv"))
    };
}

const STAGES: [(&[u8], vk::ShaderStageFlags); 3] = [
    (shader!("trace.rgen"), vk::ShaderStageFlags::RAYGEN_KHR),
    (shader!("trace.rmiss"), vk::ShaderStageFlags::MISS_KHR),
    (shader!("trace.rchit"), vk::ShaderStageFlags::CLOSEST_HIT_KHR),
];

/// Bytes of the push constants: three addresses and a count.
const PUSH: u32 = 28;
/// Rays of a workgroup of the compute shader.
const GROUP: u32 = 64;
/// Rays in a row of a launch.
const WIDTH: u32 = 1024;

pub struct Tracer {
    context: Rc<Context>,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    tables: Option<Tables>,
}

impl Tracer {
    /// `flags`: the rays'; `seed`: a constant that is added to their ends.
    pub fn new(context: &Rc<Context>, by: By, flags: u32, seed: f32) -> Result<Tracer> {
        let device = &context.device;
        let stages: &[_] = match by {
            By::Query => &[(&shader!("query.comp")[..], vk::ShaderStageFlags::COMPUTE)],
            By::Pipeline => &STAGES,
        };
        if by == By::Pipeline {
            context.needs(ash::khr::ray_tracing_pipeline::NAME)?;
        }
        let constants: Vec<u8> = [flags.to_le_bytes(), seed.to_le_bytes()].concat();
        let entries =
            [0, 1].map(|k| vk::SpecializationMapEntry::default().constant_id(k).offset(k * 4).size(4));
        let constants = vk::SpecializationInfo::default().map_entries(&entries).data(&constants);
        // SAFETY: plain Vulkan calls with structs that outlive them. On an error what was made before is left to the device's end.
        unsafe {
            let push = [vk::PushConstantRange::default().stage_flags(stages[0].1).size(PUSH)];
            let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
            let layout =
                device.create_pipeline_layout(&info, None).map_err(Error::vk("vkCreatePipelineLayout"))?;
            let mut modules = Vec::new();
            for (code, _) in stages {
                let code = crate::words(code);
                let info = vk::ShaderModuleCreateInfo::default().code(&code);
                modules.push(
                    device.create_shader_module(&info, None).map_err(Error::vk("vkCreateShaderModule"))?,
                );
            }
            let infos: Vec<_> = stages
                .iter()
                .zip(&modules)
                .enumerate()
                .map(|(k, ((_, stage), module))| {
                    let info = vk::PipelineShaderStageCreateInfo::default()
                        .stage(*stage)
                        .module(*module)
                        .name(c"main");
                    if k == 0 { info.specialization_info(&constants) } else { info }
                })
                .collect();
            let made = match by {
                By::Query => {
                    let create = [vk::ComputePipelineCreateInfo::default().stage(infos[0]).layout(layout)];
                    device
                        .create_compute_pipelines(vk::PipelineCache::null(), &create, None)
                        .map(|p| (p[0], None))
                        .map_err(|(_, r)| Error(format!("vkCreateComputePipelines: {r:?}")))
                }
                By::Pipeline => traced(context, layout, &infos).map(|(p, t)| (p, Some(t))),
            };
            modules.into_iter().for_each(|m| device.destroy_shader_module(m, None));
            let (pipeline, tables) = made?;
            Ok(Tracer { context: context.clone(), layout, pipeline, tables })
        }
    }

    /// Records a trace of `count` rays, with a barrier that makes the hits visible to the host.
    pub fn record(
        &self,
        commands: vk::CommandBuffer,
        scene: &Structure,
        rays: &Buffer,
        hits: &Buffer,
        count: u32,
    ) {
        let device = &self.context.device;
        let (point, stage, at) = match self.tables {
            None => (
                vk::PipelineBindPoint::COMPUTE,
                vk::ShaderStageFlags::COMPUTE,
                vk::PipelineStageFlags::COMPUTE_SHADER,
            ),
            Some(_) => (
                vk::PipelineBindPoint::RAY_TRACING_KHR,
                vk::ShaderStageFlags::RAYGEN_KHR,
                vk::PipelineStageFlags::RAY_TRACING_SHADER_KHR,
            ),
        };
        let addresses = [scene.address, rays.address(), hits.address()];
        let mut push: Vec<u8> = addresses.into_iter().flat_map(u64::to_le_bytes).collect();
        push.extend(count.to_le_bytes());
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        // SAFETY: recording into a command buffer that has begun, with live handles.
        unsafe {
            device.cmd_bind_pipeline(commands, point, self.pipeline);
            device.cmd_push_constants(commands, self.layout, stage, 0, &push);
            match &self.tables {
                None => device.cmd_dispatch(commands, count.div_ceil(GROUP), 1, 1),
                Some(t) => t.trace(commands, 0, [count.min(WIDTH), count.div_ceil(WIDTH)]),
            }
            device.cmd_pipeline_barrier(
                commands,
                at,
                vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &barrier,
                &[],
                &[],
            );
        }
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // SAFETY: nothing that uses them is pending.
        unsafe {
            self.context.device.destroy_pipeline(self.pipeline, None);
            self.context.device.destroy_pipeline_layout(self.layout, None);
        }
    }
}

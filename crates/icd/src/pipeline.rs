//! VkPipeline: compute pipelines. Graphics pipelines come with the graphics stages.

use crate::answer::{Answer, invalid};
use crate::chain;
use crate::device::Device;
use crate::hash::Hasher128;
use crate::limits::SUBGROUP_SIZE;
use crate::object::{self, Object};
use crate::pipeline_cache::{self, PipelineCache};
use crate::pipeline_layout::{self, Layout};
use crate::shader_module::{self, Code};
use gpu::pipeline::ComputePipeline;
use shader::bytecode::Program;
use shader::ir::Stage;
use shader::options::Options;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use vk::PipelineCreateFlags as Flags;

pub struct Pipeline {
    shared: Arc<Shared>,
}

/// What command buffers hold of a pipeline.
pub(crate) struct Shared {
    pub layout: Arc<Layout>,
    pub compute: Arc<ComputePipeline>,
    /// Key of the compiled program, for messages and statistics.
    pub key: u128,
}

impl Object for Pipeline {
    type Handle = vk::Pipeline;
}

impl Pipeline {
    pub(crate) fn share(&self) -> Arc<Shared> {
        self.shared.clone()
    }
    pub(crate) fn program(&self) -> &Program {
        &self.shared.compute.program
    }
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }
}

/// Specialisation constants: (id, little-endian value zero-extended to 64 bits).
unsafe fn specialisation(stage: &vk::PipelineShaderStageCreateInfo) -> Vec<(u32, u64)> {
    let Some(info) = stage.p_specialization_info.as_ref() else { return Vec::new() };
    let data = chain::slice(info.p_data.cast::<u8>(), info.data_size.min(u32::MAX as usize) as u32);
    chain::slice(info.p_map_entries, info.map_entry_count)
        .iter()
        .filter_map(|e| {
            let start = e.offset as usize;
            let bytes = data.get(start..start.checked_add(e.size.min(8))?)?;
            let mut value = [0; 8];
            value[..bytes.len()].copy_from_slice(bytes);
            Some((e.constant_id, u64::from_le_bytes(value)))
        })
        .collect()
}

/// Everything a compilation depends on.
fn key(code: &Code, entry: &str, spec: &[(u32, u64)], layout: &Layout) -> u128 {
    let mut h = Hasher128::default();
    (code.hash, entry, spec).hash(&mut h);
    layout.hash(&mut h);
    h.word(env!("CARGO_PKG_VERSION").len() as u64);
    h.write(env!("CARGO_PKG_VERSION").as_bytes());
    h.done()
}

fn flags(info: &vk::ComputePipelineCreateInfo) -> vk::PipelineCreateFlags2 {
    // SAFETY: the application's chain.
    match unsafe { chain::find::<vk::PipelineCreateFlags2CreateInfoKHR>(info.p_next) } {
        Some(f) => f.flags,
        None => vk::PipelineCreateFlags2::from_raw(info.flags.as_raw() as u64),
    }
}

/// Set in a feedback when the program came from the application's cache.
const HIT: vk::PipelineCreationFeedbackFlags =
    vk::PipelineCreationFeedbackFlags::APPLICATION_PIPELINE_CACHE_HIT;

unsafe fn feedback(info: &vk::ComputePipelineCreateInfo, began: Instant, hit: bool) {
    let Some(f) = chain::find::<vk::PipelineCreationFeedbackCreateInfo>(info.p_next) else { return };
    let mut told = vk::PipelineCreationFeedback {
        flags: vk::PipelineCreationFeedbackFlags::VALID,
        duration: began.elapsed().as_nanos() as u64,
    };
    if hit {
        told.flags |= HIT;
    }
    if !f.p_pipeline_creation_feedback.is_null() {
        *f.p_pipeline_creation_feedback = told;
    }
    if !f.p_pipeline_stage_creation_feedbacks.is_null() {
        let n = f.pipeline_stage_creation_feedback_count;
        chain::slice_mut(f.p_pipeline_stage_creation_feedbacks, n).fill(told);
    }
}

unsafe fn compute(cache: Option<&PipelineCache>, info: &vk::ComputePipelineCreateInfo) -> Answer<Pipeline> {
    let began = Instant::now();
    let stage = &info.stage;
    if let Some(size) = chain::find::<vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo>(stage.p_next)
        && size.required_subgroup_size != SUBGROUP_SIZE
    {
        return Err(invalid(&format!(
            "vkCreateComputePipelines: subgroups of {}; they are always {SUBGROUP_SIZE}",
            size.required_subgroup_size
        )));
    }
    let code = shader_module::of_stage(stage)?;
    let layout = pipeline_layout::get(info.layout).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let entry = chain::str(stage.p_name).to_string_lossy();
    let spec = specialisation(stage);
    let key = key(&code, &entry, &spec, &layout);

    let cached = cache.and_then(|c| c.get(key));
    let hit = cached.is_some();
    let compute = match cached {
        Some(p) => p,
        None => {
            // A program that another pipeline already has is not compiled again, but it is no cache hit.
            let compiled = pipeline_cache::of_process(key);
            let must = flags(info).contains(vk::PipelineCreateFlags2::from_raw(
                Flags::FAIL_ON_PIPELINE_COMPILE_REQUIRED.as_raw() as u64,
            ));
            if must && compiled.is_none() {
                return Err(vk::Result::PIPELINE_COMPILE_REQUIRED);
            }
            let made = match compiled {
                Some(p) => p,
                None => compile(&code, &entry, &spec, &layout, key)?,
            };
            if let Some(c) = cache {
                c.put(key, made.clone());
            }
            made
        }
    };
    feedback(info, began, hit);
    Ok(Pipeline { shared: Arc::new(Shared { layout, compute, key }) })
}

fn compile(
    code: &Code,
    entry: &str,
    spec: &[(u32, u64)],
    layout: &Layout,
    key: u128,
) -> Answer<Arc<ComputePipeline>> {
    let options = Options {
        stage: Stage::Compute,
        entry,
        spec,
        binding: &|set, binding| layout.binding(set, binding),
        push_bytes: layout.push_bytes,
        lanes: None,
        optimise: true,
    };
    let program = shader::compile(&code.module, &options)
        .map_err(|e| shader_module::failed(&format!("compute shader '{entry}'"), &e))?;
    Ok(pipeline_cache::remember(key, finished(program, entry)))
}

/// A pipeline from its program.
pub(crate) fn finished(program: Program, entry: &str) -> Arc<ComputePipeline> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Arc::new(ComputePipeline { program, id: NEXT.fetch_add(1, Relaxed), name: entry.to_string() })
}

pub(crate) unsafe fn create_compute_pipelines(
    device: &Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::Pipeline,
) -> vk::Result {
    if device.hub().is_lost() {
        return vk::Result::ERROR_DEVICE_LOST;
    }
    let out = chain::slice_mut(out, count);
    out.fill(vk::Pipeline::null());
    let cache = if cache == vk::PipelineCache::null() { None } else { object::get::<PipelineCache>(cache) };
    let mut result = vk::Result::SUCCESS;
    for (slot, info) in out.iter_mut().zip(chain::slice(infos, count)) {
        match compute(cache, info) {
            Ok(p) => *slot = object::create(p),
            Err(e) => {
                // An error outranks PIPELINE_COMPILE_REQUIRED, which is none.
                if result.as_raw() >= 0 {
                    result = e;
                }
                let early =
                    vk::PipelineCreateFlags2::from_raw(Flags::EARLY_RETURN_ON_FAILURE.as_raw() as u64);
                if flags(info).contains(early) {
                    break;
                }
            }
        }
    }
    result
}

/// The graphics stages do not exist yet.
pub(crate) unsafe fn create_graphics_pipelines(
    _: &Device,
    _: vk::PipelineCache,
    count: u32,
    _: *const vk::GraphicsPipelineCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::Pipeline,
) -> vk::Result {
    chain::slice_mut(out, count).fill(vk::Pipeline::null());
    crate::debug::log_error(
        "vkCreateGraphicsPipelines: this driver does not draw yet; compute and transfer only",
    );
    vk::Result::ERROR_FEATURE_NOT_PRESENT
}

pub(crate) unsafe fn destroy_pipeline(_: &Device, pipeline: vk::Pipeline, _: *const vk::AllocationCallbacks) {
    object::destroy::<Pipeline>(pipeline);
}

//! Compute pipelines.

use crate::base::answer::Answer;
use crate::base::chain;
use crate::device::Device;
use crate::pipeline::pipeline_cache::PipelineCache;
use crate::pipeline::pipeline_layout;
use crate::pipeline::{self, Executable, Pipeline, PipelineKind};
use gpu::pipeline::ComputePipeline;
use machine::lost::Title;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

fn flags(info: &vk::ComputePipelineCreateInfo) -> vk::PipelineCreateFlags2 {
    // SAFETY: the application's chain.
    unsafe { pipeline::flags(info.p_next, info.flags) }
}

unsafe fn compute(cache: Option<&PipelineCache>, info: &vk::ComputePipelineCreateInfo) -> Answer<Pipeline> {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        let began = Instant::now();
        let source = pipeline::source(info.p_next, &info.stage, flags(info))?;
        let layout =
            pipeline_layout::of_pipeline(info.layout, flags(info)).ok_or(vk::Result::ERROR_UNKNOWN)?;
        let must =
            flags(info).contains(pipeline::wide(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED));
        let (made, hit) = source.compile(cache, &layout, must)?;
        pipeline::feedback(info.p_next, began, &[hit]);
        Ok(Pipeline::new(layout, flags(info), kind(&made), vec![made]).capturing([source]))
    }
}

/// What a creation's program depends on.
///
/// # Safety
/// The structure is valid with its chain.
pub(crate) unsafe fn key(info: &vk::ComputePipelineCreateInfo) -> Answer<u128> {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        let layout =
            pipeline_layout::of_pipeline(info.layout, flags(info)).ok_or(vk::Result::ERROR_UNKNOWN)?;
        Ok(pipeline::source(info.p_next, &info.stage, flags(info))?.key(&layout))
    }
}

/// A compiled stage, ready to be dispatched.
pub(crate) fn kind(made: &Executable) -> PipelineKind {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    PipelineKind::Compute(Arc::new(ComputePipeline {
        program: made.compiled.program.clone(),
        id: NEXT.fetch_add(1, Relaxed),
        title: Title::new(made.compiled.name.clone(), made.content),
    }))
}

pub(crate) unsafe fn create_compute_pipelines(
    device: &Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::ComputePipelineCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::Pipeline,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        pipeline::create_all(device, cache, chain::slice(infos, count), out, flags, |c, i| compute(c, i))
    }
}

//! Compute pipelines.

use crate::base::answer::Answer;
use crate::base::given::{In, OutSlice};
use crate::device::Device;
use crate::pipeline::pipeline_cache::PipelineCache;
use crate::pipeline::pipeline_layout;
use crate::pipeline::{self, Executable, Pipeline, PipelineKind};
use gpu::pipeline::ComputePipeline;
use machine::lost::Title;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

fn flags(info: In<vk::ComputePipelineCreateInfo>) -> vk::PipelineCreateFlags2 {
    pipeline::flags(info.find(), info.flags)
}

fn compute(cache: Option<&PipelineCache>, info: In<vk::ComputePipelineCreateInfo>) -> Answer<Pipeline> {
    let began = Instant::now();
    let source = pipeline::source(info.find(), info.stage(), flags(info), 0)?;
    let layout =
        pipeline_layout::of_pipeline(info, info.layout, flags(info)).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let must =
        flags(info).contains(pipeline::wide(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED));
    let (made, hit) = source.compile(cache, &layout, must)?;
    pipeline::feedback(info.find(), began, &[hit]);
    Ok(Pipeline::new(layout, flags(info), kind(&made), vec![made]).capturing([source]))
}

/// What a creation's program depends on.
pub(crate) fn key(info: In<vk::ComputePipelineCreateInfo>) -> Answer<u128> {
    let layout =
        pipeline_layout::of_pipeline(info, info.layout, flags(info)).ok_or(vk::Result::ERROR_UNKNOWN)?;
    Ok(pipeline::source(info.find(), info.stage(), flags(info), 0)?.key(&layout))
}

/// A compiled stage, ready to be dispatched.
pub(crate) fn kind(made: &Executable) -> PipelineKind {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    PipelineKind::Compute(Arc::new(ComputePipeline {
        program: made.compiled.program.clone(),
        id: NEXT.fetch_add(1, Relaxed),
        title: Title::new(made.compiled.name.clone(), made.content, pipeline::made([made])),
    }))
}

pub(crate) fn create_compute_pipelines(
    device: &Device,
    cache: vk::PipelineCache,
    infos: In<[vk::ComputePipelineCreateInfo]>,
    out: OutSlice<vk::Pipeline>,
) -> vk::Result {
    pipeline::create_all(device, cache, infos, out, flags, compute)
}

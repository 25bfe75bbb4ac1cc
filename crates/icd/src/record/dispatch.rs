//! Compute dispatches.

use crate::base::debug;
use crate::base::given::In;
use crate::instance::limits::MAX_BATCH;
use crate::pipeline::PipelineKind;
use crate::record::command_buffer::{CommandBuffer, Recorder};
use counters::cost::Dealing;
use gpu::command::{Command, Dispatch};

/// The bound compute pipeline with everything bound to it.
pub(super) fn prepare(r: &mut Recorder, base: [u32; 3]) -> Option<Box<Dispatch>> {
    let instrumentation = r.instrumented();
    let Some(pipeline) = r.compute.pipeline.clone() else {
        debug::log_error("vkCmdDispatch without a bound compute pipeline");
        return None;
    };
    let PipelineKind::Compute(shader) = &pipeline.kind else {
        debug::log_error("vkCmdDispatch with a graphics pipeline");
        return None;
    };
    let bindings = r.compute.bindings(&pipeline, &r.push, r.heaps);
    Some(Box::new(Dispatch {
        pipeline: shader.clone(),
        bindings,
        base,
        instrumentation: instrumentation.or_else(|| pipeline.measured.clone()),
        dealing: r.dealing,
    }))
}

pub(crate) fn cmd_set_dispatch_parameters_arm(b: &CommandBuffer, info: In<vk::DispatchParametersARM>) {
    let i = info;
    let warps = counters::model::current().core.warps;
    let [batch, queued, most] =
        [i.work_group_batch_size, i.max_queued_work_group_batches, i.max_warps_per_shader_core]
            .map(u64::from);
    if batch > MAX_BATCH.into() || queued > warps || most > warps {
        return debug::log_error(&format!(
            "vkCmdSetDispatchParametersARM: {batch} workgroups a batch, {queued} batches and {most} warps a core; \
             {MAX_BATCH}, {warps} and {warps} are the limits"
        ));
    }
    let Some(mut r) = b.recording() else { return };
    r.dealing = Dealing { batch, queued, warps: most };
}

pub(crate) fn cmd_dispatch_base(
    b: &CommandBuffer,
    base_x: u32,
    base_y: u32,
    base_z: u32,
    x: u32,
    y: u32,
    z: u32,
) {
    let Some(mut r) = b.recording() else { return };
    if let Some(dispatch) = prepare(&mut r, [base_x, base_y, base_z]) {
        r.push(Command::Dispatch { dispatch, groups: [x, y, z] });
    }
}

pub(crate) fn cmd_dispatch_indirect(b: &CommandBuffer, buffer: vk::Buffer, offset: u64) {
    let (Some(buffer), Some(mut r)) = (crate::memory::buffer::get(b, buffer), b.recording()) else { return };
    if let Some(dispatch) = prepare(&mut r, [0; 3]) {
        r.push(Command::DispatchIndirect { dispatch, buffer, offset });
    }
}

//! Dispatches of data graphs.

use crate::base::debug::log_error;
use crate::base::given::{Call, In};
use crate::pipeline::data_graph_session::DataGraphSession;
use crate::pipeline::pipeline_data_graph;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;
use gpu::graphs::GraphDispatch;
use gpu::graphs::flow::Said;
use std::sync::Arc;

pub(crate) fn cmd_dispatch_data_graph_arm(
    b: &CommandBuffer,
    session: vk::DataGraphPipelineSessionARM,
    info: Option<In<vk::DataGraphPipelineDispatchInfoARM>>,
) {
    let (Some(session), Some(mut r)) = (b.object::<DataGraphSession>(session), b.recording()) else { return };
    let Some(pipeline) = r.data_graphs.pipeline.clone() else {
        return log_error("vkCmdDispatchDataGraphARM without a bound pipeline of a data graph");
    };
    let Some(graph) = pipeline_data_graph::of(&pipeline) else {
        return log_error("vkCmdDispatchDataGraphARM with a pipeline of another kind");
    };
    if !Arc::ptr_eq(&graph.plan, &session.plan) {
        return log_error("vkCmdDispatchDataGraphARM: the session was created with another pipeline");
    }
    let mut said = Said { past: session.past.clone(), ..Said::default() };
    let of_flow = info.and_then(|i| i.find::<vk::DataGraphPipelineOpticalFlowDispatchInfoARM>());
    if let Some(i) = of_flow {
        let most = graph.flow.as_ref().map(|n| n.flow.size[0].max(n.flow.size[1]));
        if most.is_none_or(|most| i.mean_flow_l1_norm_hint > most) {
            return log_error(
                "vkCmdDispatchDataGraphARM: optical flow with a pipeline without, or a mean longer than its images",
            );
        }
        said.mean = i.mean_flow_l1_norm_hint;
        said.fresh = i.flags.contains(vk::DataGraphOpticalFlowExecuteFlagsARM::DISABLE_TEMPORAL_HINTS);
    }
    let statistics = session.statistics.clone();
    let push = r.push;
    let heaps = r.heaps;
    let bindings = r.data_graphs.bindings(&pipeline, &push, heaps);
    let (pipeline, memory) = (graph.clone(), session.memory.clone());
    r.push(Command::Graph(Box::new(GraphDispatch { pipeline, bindings, memory, statistics, said })));
}

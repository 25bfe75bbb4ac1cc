//! Dispatches of data graphs.

use crate::base::debug::log_error;
use crate::base::given::{Call, In};
use crate::pipeline::data_graph_session::DataGraphSession;
use crate::pipeline::pipeline_data_graph;
use crate::record::command_buffer::CommandBuffer;
use gpu::command::Command;
use gpu::graphs::GraphDispatch;
use std::sync::Arc;

pub(crate) fn cmd_dispatch_data_graph_arm(
    b: &CommandBuffer,
    session: vk::DataGraphPipelineSessionARM,
    _: Option<In<vk::DataGraphPipelineDispatchInfoARM>>,
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
    let push = r.push;
    let heaps = r.heaps;
    let bindings = r.data_graphs.bindings(&pipeline, &push, heaps);
    let (pipeline, memory) = (graph.clone(), session.memory.clone());
    r.push(Command::Graph(Box::new(GraphDispatch { pipeline, bindings, memory })));
}

//! VkDataGraphPipelineSessionARM: a pipeline with memory for intermediate values.

use crate::base::answer::{Answer, created, invalid};
use crate::base::given::{Call, Doomed, Fill, In, List, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::memory::{Memory, buffer};
use crate::pipeline::{Pipeline, pipeline_data_graph};
use graph::Plan;
use std::sync::Arc;
use vk::DataGraphPipelineSessionBindPointARM as Point;

pub struct DataGraphSession {
    pub(crate) plan: Arc<Plan>,
    pub(crate) memory: Arc<texel::buffer::Buffer>,
}

impl Object for DataGraphSession {
    type Handle = vk::DataGraphPipelineSessionARM;
}

fn new(info: In<vk::DataGraphPipelineSessionCreateInfoARM>) -> Answer<DataGraphSession> {
    const CREATE: &str = "vkCreateDataGraphPipelineSessionARM";
    if info.flags != vk::DataGraphPipelineSessionCreateFlagsARM::empty() {
        return Err(invalid(&format!("{CREATE}: sessions of these flags are not supported")));
    }
    let pipeline = info.object::<Pipeline>(info.data_graph_pipeline).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let graph = pipeline_data_graph::of(pipeline.shared())
        .ok_or_else(|| invalid(&format!("{CREATE}: no pipeline of a data graph")))?;
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
    let memory = texel::buffer::Buffer::new(graph.plan.bytes(), usage, Default::default());
    Ok(DataGraphSession { plan: graph.plan.clone(), memory: Arc::new(memory) })
}

pub(crate) fn create_data_graph_pipeline_session_arm(
    _: &Device,
    info: In<vk::DataGraphPipelineSessionCreateInfoARM>,
    out: Out<vk::DataGraphPipelineSessionARM>,
) -> vk::Result {
    created(out, new(info))
}

pub(crate) fn destroy_data_graph_pipeline_session_arm(_: &Device, session: Doomed<DataGraphSession>) {
    if let Some(s) = session.destroy()
        && let Some(bound) = s.memory.bound.get()
    {
        bound.memory.released();
    }
}

/// A graph without intermediate values needs no memory.
pub(crate) fn get_data_graph_pipeline_session_bind_point_requirements_arm(
    _: &Device,
    info: In<vk::DataGraphPipelineSessionBindPointRequirementsInfoARM>,
    out: List<vk::DataGraphPipelineSessionBindPointRequirementARM>,
) -> vk::Result {
    let Some(s) = info.object::<DataGraphSession>(info.session) else { return vk::Result::ERROR_UNKNOWN };
    out.fill_with((s.plan.bytes() > 0) as usize, |mut o, _| {
        o.bind_point = Point::TRANSIENT;
        o.bind_point_type = vk::DataGraphPipelineSessionBindPointTypeARM::MEMORY;
        o.num_objects = 1;
    })
}

pub(crate) fn get_data_graph_pipeline_session_memory_requirements_arm(
    _: &Device,
    info: In<vk::DataGraphPipelineSessionMemoryRequirementsInfoARM>,
    out: Fill<vk::MemoryRequirements2>,
) {
    if let Some(s) = info.object::<DataGraphSession>(info.session) {
        buffer::require(s.memory.size, s.memory.usage, s.memory.flags, out);
    }
}

pub(crate) fn bind_data_graph_pipeline_session_memory_arm(
    _: &Device,
    infos: In<[vk::BindDataGraphPipelineSessionMemoryInfoARM]>,
) -> vk::Result {
    infos.iter().map(bind).find(|r| *r != vk::Result::SUCCESS).unwrap_or(vk::Result::SUCCESS)
}

fn bind(i: In<vk::BindDataGraphPipelineSessionMemoryInfoARM>) -> vk::Result {
    const BIND: &str = "vkBindDataGraphPipelineSessionMemoryARM";
    let (Some(s), Some(m)) = (i.object::<DataGraphSession>(i.session), i.object::<Memory>(i.memory)) else {
        return vk::Result::ERROR_UNKNOWN;
    };
    if i.bind_point != Point::TRANSIENT || i.object_index != 0 {
        return invalid(&format!("{BIND}: the session has no such bind point or object"));
    }
    if !i.memory_offset.is_multiple_of(buffer::ALIGN) {
        return invalid(&format!("{BIND}: offset {} is no multiple of {}", i.memory_offset, buffer::ALIGN));
    }
    buffer::place(BIND, &s.memory, m, i.memory_offset)
}

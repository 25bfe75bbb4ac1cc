//! VkDataGraphPipelineSessionARM: a pipeline with memory for intermediate values.

use crate::base::answer::{Answer, created, invalid};
use crate::base::debug::log_error;
use crate::base::given::{Call, Doomed, Fill, In, List, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::device::addresses::Binding;
use crate::memory::{Memory, buffer};
use crate::pipeline::{Pipeline, pipeline_data_graph};
use gpu::graphs::flow::Past;
use gpu::graphs::statistics::{self, Statistics};
use graph::Plan;
use std::sync::Arc;
use texel::buffer::Buffer;
use vk::DataGraphPipelineSessionBindPointARM as Point;
use vk::Handle;
use vk::NeuralAcceleratorStatisticsModeARM as Mode;

pub struct DataGraphSession {
    pub(crate) plan: Arc<Plan>,
    pub(crate) memory: Arc<Buffer>,
    pub(crate) statistics: Option<Statistics>,
    pub(crate) past: Option<Arc<Past>>,
}

impl Object for DataGraphSession {
    type Handle = vk::DataGraphPipelineSessionARM;
}

impl DataGraphSession {
    /// What memory is bound to; a graph without intermediate values needs none for them.
    fn points(&self) -> impl Iterator<Item = (Point, &Arc<Buffer>)> {
        let transient = (self.memory.size > 0).then_some((Point::TRANSIENT, &self.memory));
        let past = self.past.iter().map(|p| (Point::OPTICAL_FLOW_CACHE, &p.memory));
        let statistics = self.statistics.iter().map(|s| (Point::NEURAL_ACCELERATOR_STATISTICS, &s.memory));
        transient.into_iter().chain(past).chain(statistics)
    }

    fn point(&self, point: Point) -> Option<&Arc<Buffer>> {
        self.points().find(|p| p.0 == point).map(|p| p.1)
    }
}

fn new(device: &Device, info: In<vk::DataGraphPipelineSessionCreateInfoARM>) -> Answer<DataGraphSession> {
    use vk::DataGraphPipelineSessionCreateFlagsARM as Flags;
    const CREATE: &str = "vkCreateDataGraphPipelineSessionARM";
    let pipeline = info.object::<Pipeline>(info.data_graph_pipeline).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let graph = pipeline_data_graph::of(pipeline.shared())
        .ok_or_else(|| invalid(&format!("{CREATE}: no pipeline of a data graph")))?;
    let cached = info.flags.contains(Flags::OPTICAL_FLOW_CACHE);
    let flow = graph.flow.as_ref().filter(|_| cached);
    if !(Flags::OPTICAL_FLOW_CACHE | Flags::PROTECTED).contains(info.flags) || cached && flow.is_none() {
        return Err(invalid(&format!("{CREATE}: sessions of these flags are not supported")));
    }
    let protected = info.flags.contains(Flags::PROTECTED);
    if protected {
        device.protect(CREATE, false)?;
    }
    let memory = |bytes| {
        let flags = if protected { vk::BufferCreateFlags::PROTECTED } else { Default::default() };
        Arc::new(Buffer::new(bytes, vk::BufferUsageFlags::STORAGE_BUFFER, flags))
    };
    let mode = info.find::<vk::DataGraphPipelineSessionNeuralStatisticsCreateInfoARM>().map(|s| s.mode);
    let of_nodes = match mode.filter(|m| *m != Mode::DISABLED) {
        None => None,
        Some(m) if m == Mode::STATISTICS0 || m == Mode::STATISTICS1 => Some(m == Mode::STATISTICS1),
        Some(m) => return Err(invalid(&format!("{CREATE}: there is no mode {} of statistics", m.as_raw()))),
    };
    if mode.is_some() && (!graph.counts || protected) {
        return Err(invalid(&format!(
            "{CREATE}: statistics of a pipeline without allowNeuralStatistics, or of a protected session"
        )));
    }
    let statistics = of_nodes
        .map(|of_nodes| Statistics { memory: memory(statistics::bytes(&graph.plan, of_nodes)), of_nodes });
    let past = flow.map(|node| {
        let cells = node.flow.cells().iter().product::<usize>() as u64;
        Arc::new(Past { memory: memory(4 * cells), is_there: Default::default() })
    });
    Ok(DataGraphSession { plan: graph.plan.clone(), memory: memory(graph.plan.bytes()), statistics, past })
}

pub(crate) fn create_data_graph_pipeline_session_arm(
    device: &Device,
    info: In<vk::DataGraphPipelineSessionCreateInfoARM>,
    out: Out<vk::DataGraphPipelineSessionARM>,
) -> vk::Result {
    created(out, new(device, info))
}

pub(crate) fn destroy_data_graph_pipeline_session_arm(device: &Device, session: Doomed<DataGraphSession>) {
    let handle = session.handle();
    let Some(s) = session.destroy() else { return };
    s.points().for_each(|(_, m)| tell(device, handle, m, Binding::UNBIND));
    s.points().filter_map(|(_, m)| m.bound.get()).for_each(|bound| bound.memory.released());
}

pub(crate) fn get_data_graph_pipeline_session_bind_point_requirements_arm(
    _: &Device,
    info: In<vk::DataGraphPipelineSessionBindPointRequirementsInfoARM>,
    out: List<vk::DataGraphPipelineSessionBindPointRequirementARM>,
) -> vk::Result {
    let Some(s) = info.object::<DataGraphSession>(info.session) else { return vk::Result::ERROR_UNKNOWN };
    let points: Vec<Point> = s.points().map(|p| p.0).collect();
    out.fill_with(points.len(), |mut o, i| {
        o.bind_point = points[i];
        o.bind_point_type = vk::DataGraphPipelineSessionBindPointTypeARM::MEMORY;
        o.num_objects = 1;
    })
}

pub(crate) fn get_data_graph_pipeline_session_memory_requirements_arm(
    _: &Device,
    info: In<vk::DataGraphPipelineSessionMemoryRequirementsInfoARM>,
    out: Fill<vk::MemoryRequirements2>,
) {
    let Some(s) = info.object::<DataGraphSession>(info.session) else { return };
    match s.point(info.bind_point) {
        Some(m) => buffer::require(m.size, m.usage, m.flags, out),
        None => log_error(
            "vkGetDataGraphPipelineSessionMemoryRequirementsARM: the session has no such bind point",
        ),
    }
}

pub(crate) fn bind_data_graph_pipeline_session_memory_arm(
    device: &Device,
    infos: In<[vk::BindDataGraphPipelineSessionMemoryInfoARM]>,
) -> vk::Result {
    infos.iter().map(|i| bind(device, i)).find(|r| *r != vk::Result::SUCCESS).unwrap_or(vk::Result::SUCCESS)
}

/// Findings name it.
fn tell(device: &Device, session: vk::DataGraphPipelineSessionARM, memory: &Buffer, binding: Binding) {
    let at = memory.ptr() as u64;
    device.resource("session", session.as_raw(), at..at + memory.size, None, binding);
}

fn bind(device: &Device, i: In<vk::BindDataGraphPipelineSessionMemoryInfoARM>) -> vk::Result {
    const BIND: &str = "vkBindDataGraphPipelineSessionMemoryARM";
    let (Some(s), Some(m)) = (i.object::<DataGraphSession>(i.session), i.object::<Memory>(i.memory)) else {
        return vk::Result::ERROR_UNKNOWN;
    };
    let Some(memory) = s.point(i.bind_point).filter(|_| i.object_index == 0) else {
        return invalid(&format!("{BIND}: the session has no such bind point or object"));
    };
    if !i.memory_offset.is_multiple_of(buffer::ALIGN) {
        return invalid(&format!("{BIND}: offset {} is no multiple of {}", i.memory_offset, buffer::ALIGN));
    }
    let placed = buffer::place(BIND, memory, m, i.memory_offset);
    if placed == vk::Result::SUCCESS {
        tell(device, i.session, memory, Binding::BIND);
    }
    placed
}

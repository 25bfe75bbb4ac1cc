//! Data graph pipelines (VK_ARM_data_graph): a graph from SPIR-V, or one that a cache has; what is told of them.

use crate::base::answer::{Answer, invalid};
use crate::base::given::{Call, In, List, OutSlice};
use crate::base::hash::Hasher128;
use crate::descriptor::descriptor_layout;
use crate::device::Device;
use crate::instance::data_graph;
use crate::pipeline::pipeline_cache::PipelineCache;
use crate::pipeline::pipeline_layout::{self, Layout};
use crate::pipeline::stored_graph::Stored;
use crate::pipeline::{self, Pipeline, PipelineKind, Shared, optical_flow, shader_module};
use crate::sync::deferred_operation;
use gpu::graphs::statistics::INFO;
use gpu::graphs::{GraphPipeline, Slot};
use graph::{Constant, Plan, Port};
use machine::lost::Title;
use machine::tensor::{Shape, graph_type};
use std::fmt::Write;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Instant;
use vk::DataGraphPipelinePropertyARM as Property;

const CREATE: &str = "vkCreateDataGraphPipelinesARM";

/// A pipeline's own part, if it is one of a data graph.
pub(crate) fn of(shared: &Shared) -> Option<&Arc<GraphPipeline>> {
    match &shared.kind {
        PipelineKind::DataGraph(p) => Some(p),
        _ => None,
    }
}

/// A tensor as an application describes it: for its elements' type, and its shape.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Described {
    pub format: i32,
    tiling: i32,
    pub dimensions: Vec<u32>,
    strides: Vec<u32>,
    bytes: u64,
}

impl Described {
    /// What a graph is made from.
    pub fn of(format: i32, dimensions: Vec<u32>) -> Described {
        Described { format, dimensions, ..Described::default() }
    }
}

fn described(d: Option<In<vk::TensorDescriptionARM>>, what: &str) -> Answer<Described> {
    let d = d.ok_or_else(|| invalid(&format!("{CREATE}: {what} has no description of a tensor")))?;
    let strides = (!d.p_strides.is_null() && d.tiling == vk::TensorTilingARM::LINEAR).then(|| d.strides());
    let shape = Shape::new(d.format, d.dimensions(), strides)
        .map_err(|why| invalid(&format!("{CREATE}: {what}: {why}")))?;
    Ok(Described {
        format: d.format.as_raw(),
        tiling: d.tiling.as_raw(),
        bytes: shape.bytes(),
        dimensions: shape.dimensions,
        strides: shape.strides,
    })
}

/// A constant that the application gives.
pub(super) struct Given {
    pub id: u32,
    pub tensor: Described,
    pub elements: Constant,
}

/// What a creation says, before it is made to a graph.
pub(super) struct Source {
    pub entry: String,
    pub spec: Vec<(u32, u64)>,
    pub resources: Vec<(Port, Described)>,
    pub constants: Vec<Given>,
}

fn resources(info: In<vk::DataGraphPipelineCreateInfoARM>) -> Answer<Vec<(Port, Described)>> {
    let each = info.resource_infos().iter().map(|r| {
        let port = Port { set: r.descriptor_set, binding: r.binding, element: r.array_element };
        Ok((port, described(r.find(), "a resource")?))
    });
    each.collect()
}

fn source(
    info: In<vk::DataGraphPipelineCreateInfoARM>,
    module: In<vk::DataGraphPipelineShaderModuleCreateInfoARM>,
) -> Answer<Source> {
    let mut constants = vec![];
    for c in module.constants() {
        let tensor = described(c.find(), "a constant")?;
        let packed = tensor.dimensions.iter().map(|n| *n as u64).product::<u64>();
        if packed * tensor.strides.last().map_or(1, |s| *s as u64) != tensor.bytes {
            return Err(invalid(&format!("{CREATE}: constant {} has gaps between its elements", c.id)));
        }
        // SAFETY: valid usage: as many bytes as the description says.
        let elements =
            unsafe { crate::base::given::array(c.p_constant_data.cast::<u8>(), tensor.bytes as usize) };
        if elements.is_empty() {
            return Err(invalid(&format!("{CREATE}: constant {} has no data", c.id)));
        }
        constants.push(Given { id: c.id, tensor, elements: elements.into() });
    }
    Ok(Source {
        entry: module.name().unwrap_or_default().to_string_lossy().into_owned(),
        spec: pipeline::specialisation(module.specialization_info()),
        resources: resources(info)?,
        constants,
    })
}

impl Source {
    /// Everything that the graph depends on.
    fn key(&self, code: u128) -> u128 {
        let mut h = Hasher128::default();
        (code, &self.entry, &self.spec, &self.resources).hash(&mut h);
        for c in &self.constants {
            (c.id, &c.tensor, &c.elements).hash(&mut h);
        }
        pipeline::machine_hash(&mut h);
        h.done()
    }

    pub(super) fn translate(&self, module: &shader::Module) -> Answer<Plan> {
        let constant = |id: u32| {
            let c = self.constants.iter().find(|c| c.id == id)?;
            Some((c.tensor.dimensions.clone(), c.elements.clone()))
        };
        let shape = |port: Port| Some(self.resources.iter().find(|r| r.0 == port)?.1.dimensions.clone());
        let given = shader::data_graph::Given {
            entry: &self.entry,
            spec: &self.spec,
            constant: &constant,
            shape: &shape,
        };
        let what = format!("data graph '{}'", self.entry);
        let graph =
            shader::data_graph::data_graph(module, &given).map_err(|e| shader_module::failed(&what, &e))?;
        for (port, v) in graph.inputs.iter().chain(&graph.outputs) {
            let value = &graph.values[*v as usize];
            let resource = self.resources.iter().find(|r| r.0 == *port).map(|r| &r.1);
            let same = resource.is_some_and(|r| {
                graph_type(vk::Format::from_raw(r.format)) == Some(value.ty) && r.dimensions == value.shape
            });
            if !same {
                return Err(invalid(&format!(
                    "{CREATE}: {what}: the resource of {port:?} is missing, or differs in format or shape from {:?} {:?}",
                    value.ty, value.shape
                )));
            }
        }
        Plan::new(graph).map_err(|why| {
            crate::base::debug::log_error(&format!("{CREATE}: {what}: {why}"));
            vk::Result::ERROR_INVALID_SHADER_NV
        })
    }
}

/// Where ports are in sets of a layout.
fn slots(layout: &Layout, ports: &[(Port, u32)]) -> Answer<Vec<Slot>> {
    let slot = |port: &Port| {
        let set = layout.sets.get(port.set as usize)?.as_ref()?;
        let binding: &descriptor_layout::Binding = &set.bindings[set.index(port.binding)?];
        let fits = binding.ty == vk::DESCRIPTOR_TYPE_TENSOR_ARM && port.element < binding.count;
        fits.then(|| Slot { set: port.set, offset: binding.place(port.element) })
    };
    let each = ports.iter().map(|(port, _)| {
        slot(port).ok_or_else(|| {
            invalid(&format!("{CREATE}: the layout has no descriptor of a tensor at {port:?}"))
        })
    });
    each.collect()
}

fn create(cache: Option<&PipelineCache>, info: In<vk::DataGraphPipelineCreateInfoARM>) -> Answer<Pipeline> {
    let began = Instant::now();
    if let Some(e) = info.find::<vk::DataGraphProcessingEngineCreateInfoARM>() {
        let engines = e.processing_engines();
        // SAFETY: valid usage: as many engines as the structure says.
        let engines = unsafe { crate::base::given::array(engines.start().cast_const(), engines.len()) };
        if !engines.iter().all(data_graph::has_engine) {
            return Err(invalid(&format!("{CREATE}: there is no such processing engine")));
        }
    }
    let layout =
        pipeline_layout::of_pipeline(info, info.layout, info.flags).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let counts = info.find::<vk::DataGraphPipelineNeuralStatisticsCreateInfoARM>();
    let counts = counts.is_some_and(|c| c.allow_neural_statistics != vk::FALSE);
    if let Some(node) = optical_flow::node(info, &layout)? {
        let mut h = Hasher128::default();
        optical_flow::hash(&node, &mut h);
        let identifier = h.done();
        let made = GraphPipeline {
            plan: Arc::default(),
            flow: Some(node),
            counts,
            inputs: vec![],
            outputs: vec![],
            title: Title::new("optical flow", identifier as u64, vec![]),
            identifier,
        };
        pipeline::feedback(info.find(), began, &[false]);
        return Ok(Pipeline::new(layout, info.flags, PipelineKind::DataGraph(Arc::new(made)), vec![]));
    }
    let must =
        info.flags.contains(pipeline::wide(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED));
    let (key, hit, plan, entry) = match info.find::<vk::DataGraphPipelineShaderModuleCreateInfoARM>() {
        Some(module) => {
            let source = source(info, module)?;
            let code = shader_module::of_graph(info, module.module)?;
            let key = source.key(code.hash);
            let entry = source.entry.clone();
            match cache.and_then(|c| c.graph(key)) {
                Some(plan) => (key, true, plan, entry),
                None if must => return Err(vk::Result::PIPELINE_COMPILE_REQUIRED),
                None => {
                    let plan = Arc::new(source.translate(&code.module)?);
                    if let Some(cache) = cache {
                        cache.put_graph(key, Stored::new(source, code, plan.clone()));
                    }
                    (key, false, plan, entry)
                }
            }
        }
        None => {
            let (key, plan) = identified(cache, info)?;
            (key, true, plan, String::new())
        }
    };
    let made = GraphPipeline {
        inputs: slots(&layout, &plan.graph().inputs)?,
        outputs: slots(&layout, &plan.graph().outputs)?,
        title: Title::new(entry, key as u64, vec![]),
        identifier: key,
        flow: None,
        counts,
        plan,
    };
    pipeline::feedback(info.find(), began, &[hit]);
    Ok(Pipeline::new(layout, info.flags, PipelineKind::DataGraph(Arc::new(made)), vec![]))
}

/// The graph of an identifier, which a cache has.
fn identified(
    cache: Option<&PipelineCache>,
    info: In<vk::DataGraphPipelineCreateInfoARM>,
) -> Answer<(u128, Arc<Plan>)> {
    let Some(i) = info.find::<vk::DataGraphPipelineIdentifierCreateInfoARM>() else {
        return Err(invalid(&format!("{CREATE}: neither a module nor an identifier")));
    };
    let key = std::str::from_utf8(i.identifier()).ok().and_then(|t| u128::from_str_radix(t, 16).ok());
    let found = key.and_then(|k| Some((k, cache?.graph(k)?)));
    found.ok_or(vk::Result::PIPELINE_COMPILE_REQUIRED)
}

pub(crate) fn create_data_graph_pipelines_arm(
    device: &Device,
    operation: vk::DeferredOperationKHR,
    cache: vk::PipelineCache,
    infos: In<[vk::DataGraphPipelineCreateInfoARM]>,
    out: OutSlice<vk::Pipeline>,
) -> vk::Result {
    let (n, infos, out) = (infos.len(), infos.as_ptr() as usize, out.start() as usize);
    let work = move |device: &Device| {
        // SAFETY: valid usage: the call's arrays stay until a deferred operation has ended.
        let (infos, out) = unsafe {
            let infos = In::array(infos as *const vk::DataGraphPipelineCreateInfoARM, n);
            (infos, OutSlice::new(out as *mut vk::Pipeline, n))
        };
        pipeline::create_all(device, cache, infos, out, |i| i.flags, create)
    };
    deferred_operation::perform(device, operation, work)
}

/// The last one is of pipelines that may have statistics.
const PROPERTIES: [Property; 4] = [
    Property::CREATION_LOG,
    Property::IDENTIFIER,
    Property::NEURAL_ACCELERATOR_DEBUG_DATABASE,
    Property::NEURAL_ACCELERATOR_STATISTICS_INFO,
];

pub(crate) fn get_data_graph_pipeline_available_properties_arm(
    _: &Device,
    info: In<vk::DataGraphPipelineInfoARM>,
    out: List<Property>,
) -> vk::Result {
    match info.object::<Pipeline>(info.data_graph_pipeline).and_then(|p| of(p.shared())) {
        Some(p) => out.fill(&PROPERTIES[..3 + p.counts as usize]),
        None => invalid("vkGetDataGraphPipelineAvailablePropertiesARM: no pipeline of a data graph"),
    }
}

/// What a graph has become: a line each node.
fn log(p: &GraphPipeline) -> String {
    if let Some(node) = &p.flow {
        return format!("{:?} of images in {:?}\n", node.flow, node.format);
    }
    let g = p.plan.graph();
    let mut text = format!("{} nodes, {} bytes of session memory\n", g.nodes.len(), p.plan.bytes());
    for (i, n) in g.nodes.iter().enumerate() {
        let results = n.results.iter().map(|v| &g.values[*v as usize]);
        let results: Vec<String> = results.map(|v| format!("{:?} {:?}", v.ty, v.shape)).collect();
        let _ = writeln!(text, "{i} {} -> {}", n.op.name(), results.join(", "));
    }
    text
}

pub(crate) fn get_data_graph_pipeline_properties_arm(
    _: &Device,
    info: In<vk::DataGraphPipelineInfoARM>,
    out: OutSlice<vk::DataGraphPipelinePropertyQueryResultARM>,
) -> vk::Result {
    let Some(p) = info.object::<Pipeline>(info.data_graph_pipeline).and_then(|p| of(p.shared())) else {
        return invalid("vkGetDataGraphPipelinePropertiesARM: no pipeline of a data graph");
    };
    let mut cut = false;
    for i in 0..out.len() {
        // SAFETY: one of the elements, which the application has prepared.
        let o = unsafe { &mut *out.start().add(i) };
        let is_text = o.property != Property::IDENTIFIER;
        let mut bytes = match o.property {
            // Which node a number stands for is what there is to say.
            Property::CREATION_LOG | Property::NEURAL_ACCELERATOR_DEBUG_DATABASE => log(p).into_bytes(),
            Property::NEURAL_ACCELERATOR_STATISTICS_INFO if p.counts => INFO.into(),
            Property::IDENTIFIER => format!("{:032x}", p.identifier).into_bytes(),
            _ => vec![],
        };
        if is_text {
            bytes.push(0);
        }
        o.is_text = is_text as vk::Bool32;
        if o.p_data.is_null() {
            o.data_size = bytes.len();
            continue;
        }
        if o.data_size < bytes.len() {
            cut = true;
            bytes.truncate(o.data_size);
            if let Some(last) = bytes.last_mut().filter(|_| is_text) {
                *last = 0;
            }
        }
        // SAFETY: the application gave `data_size` bytes.
        unsafe { OutSlice::new(o.p_data.cast::<u8>(), o.data_size) }.copy(&bytes);
        o.data_size = bytes.len();
    }
    if cut { vk::Result::INCOMPLETE } else { vk::Result::SUCCESS }
}

//! Data graphs (VK_ARM_data_graph and what extends it) for tests and examples: SPIR-V of TOSA's operators, and a pipeline and session that run it.

use crate::context::Context;
use crate::cooperative::{Module, op, text};
use crate::tensor::{self, Allocator, Element, Tensor, functions};
use crate::{Error, Library, Result};
use std::ffi::CStr;
use std::rc::Rc;
use vk::DataGraphPipelineSessionBindPointARM as Point;

/// Extensions that a device for data graphs needs.
pub const EXTENSIONS: [&CStr; 6] = [
    c"VK_ARM_data_graph",
    c"VK_ARM_data_graph_instruction_set_tosa",
    c"VK_ARM_data_graph_neural_accelerator_statistics",
    c"VK_ARM_data_graph_optical_flow",
    c"VK_ARM_tensors",
    c"VK_KHR_deferred_host_operations",
];

/// Capabilities GraphARM and TensorsARM, Shader, and those of the types of elements.
const CAPABILITIES: [u32; 6] = [1, 4174, 4191, 39, 22, 9];

/// A graph as it grows. Values and constants are ids.
#[derive(Clone, Default)]
pub struct Code {
    m: Module,
    tosa: u32,
    boolean: u32,
    inputs: Vec<[u32; 2]>,
    outputs: Vec<[u32; 2]>,
    input_code: Vec<u32>,
    output_code: Vec<u32>,
    types: Vec<(Element, u32)>,
}

impl Code {
    pub fn new() -> Code {
        let mut code = Code::default();
        code.tosa = code.m.id();
        code.m.uint = code.m.global(|id| op(21, &[id, 32, 0]));
        code
    }

    fn element(&mut self, element: Element) -> u32 {
        if let Some((_, id)) = self.types.iter().find(|t| t.0 == element) {
            return *id;
        }
        let id = element.declare(&mut self.m);
        self.types.push((element, id));
        id
    }

    fn tensor(&mut self, element: Element, shape: &[u32]) -> u32 {
        let element = self.element(element);
        let uint = self.m.uint;
        let rank = self.m.constant(shape.len() as u32);
        let array = self.m.global(|id| op(28, &[id, uint, rank]));
        let shape: Vec<u32> = shape.iter().map(|n| self.m.constant(*n)).collect();
        let shape = self.m.global(|id| op(44, &[&[array, id], &shape[..]].concat()));
        self.m.global(|id| op(4163, &[id, element, rank, shape]))
    }

    /// A variable of the next binding of set 0.
    fn variable(&mut self, ty: u32) -> u32 {
        let binding = (self.inputs.len() + self.outputs.len()) as u32;
        let pointer = self.m.global(|id| op(32, &[id, 0, ty]));
        let variable = self.m.global(|id| op(59, &[pointer, id, 0]));
        self.m.decorations.extend([op(71, &[variable, 34, 0]), op(71, &[variable, 33, binding])].concat());
        variable
    }

    /// An input: the tensor of the next binding.
    pub fn input(&mut self, element: Element, shape: &[u32]) -> u32 {
        let ty = self.tensor(element, shape);
        let variable = self.variable(ty);
        let index = self.m.constant(self.inputs.len() as u32);
        let id = self.m.id();
        self.input_code.extend(op(4184, &[ty, id, index]));
        self.inputs.push([variable, ty]);
        id
    }

    /// An output: the tensor of the next binding gets a value.
    pub fn output(&mut self, value: u32, element: Element, shape: &[u32]) {
        let ty = self.tensor(element, shape);
        let variable = self.variable(ty);
        let index = self.m.constant(self.outputs.len() as u32);
        self.output_code.extend(op(4185, &[value, index]));
        self.outputs.push([variable, ty]);
    }

    /// A constant that the pipeline gives by its number.
    pub fn given(&mut self, number: u32, element: Element, shape: &[u32]) -> u32 {
        let ty = self.tensor(element, shape);
        self.m.global(|id| op(4181, &[ty, id, number]))
    }

    /// An attribute of one integer.
    pub fn integer(&mut self, n: u32) -> u32 {
        self.m.constant(n)
    }

    fn boolean(&mut self) -> u32 {
        if self.boolean == 0 {
            self.boolean = self.m.global(|id| op(20, &[id]));
        }
        self.boolean
    }

    pub fn no(&mut self) -> u32 {
        let boolean = self.boolean();
        self.m.global(|id| op(42, &[boolean, id]))
    }

    pub fn yes(&mut self) -> u32 {
        let boolean = self.boolean();
        self.m.global(|id| op(41, &[boolean, id]))
    }

    /// One element by its bits.
    pub fn scalar(&mut self, element: Element, bits: u32) -> u32 {
        let ty = self.element(element);
        self.m.global(|id| op(43, &[ty, id, bits]))
    }

    /// A tensor of one dimension, by the bits of its elements.
    pub fn list(&mut self, element: Element, bits: &[u32]) -> u32 {
        let ty = self.tensor(element, &[bits.len() as u32]);
        let all: Vec<u32> = bits.iter().map(|b| self.scalar(element, *b)).collect();
        self.m.global(|id| op(44, &[&[ty, id], &all[..]].concat()))
    }

    /// What an operator makes, by the instruction set's number and operands.
    pub fn operator(&mut self, number: u32, element: Element, shape: &[u32], operands: &[u32]) -> u32 {
        let ty = self.tensor(element, shape);
        let tosa = self.tosa;
        self.m.value(12, ty, &[&[tosa, number], operands].concat())
    }

    /// The module, whose graph is `main`.
    pub fn spirv(mut self) -> Vec<u32> {
        let all: Vec<[u32; 2]> = self.inputs.iter().chain(&self.outputs).copied().collect();
        let types: Vec<u32> = all.iter().map(|v| v[1]).collect();
        let count = self.inputs.len() as u32;
        let ty = self.m.global(|id| op(4190, &[&[id, count], &types[..]].concat()));
        let graph = self.m.id();
        let mut words = vec![0x0723_0203, 0x0001_0600, 0, self.m.ids + 1, 0];
        words.extend(CAPABILITIES.iter().flat_map(|c| op(17, &[*c])));
        for extension in ["SPV_ARM_graph", "SPV_ARM_tensors"] {
            words.extend(op(10, &text(extension)));
        }
        words.extend(op(11, &[&[self.tosa], &text("TOSA.001000.1")[..]].concat()));
        words.extend(op(14, &[0, 1]));
        words.extend(&self.m.decorations);
        words.extend(&self.m.globals);
        let variables: Vec<u32> = all.iter().map(|v| v[0]).collect();
        words.extend(op(4182, &[&[graph], &text("main")[..], &variables[..]].concat()));
        words.extend(op(4183, &[ty, graph]));
        words.extend(&self.input_code);
        words.extend(&self.m.body);
        words.extend(&self.output_code);
        words.extend(op(4186, &[]));
        words
    }
}

functions! {
    Functions:
    create = c"vkCreateDataGraphPipelinesARM": fn(vk::Device, vk::DeferredOperationKHR, vk::PipelineCache, u32, *const vk::DataGraphPipelineCreateInfoARM<'_>, Allocator, *mut vk::Pipeline) -> vk::Result,
    create_session = c"vkCreateDataGraphPipelineSessionARM": fn(vk::Device, *const vk::DataGraphPipelineSessionCreateInfoARM<'_>, Allocator, *mut vk::DataGraphPipelineSessionARM) -> vk::Result,
    destroy_session = c"vkDestroyDataGraphPipelineSessionARM": fn(vk::Device, vk::DataGraphPipelineSessionARM, Allocator),
    bind_points = c"vkGetDataGraphPipelineSessionBindPointRequirementsARM": fn(vk::Device, *const vk::DataGraphPipelineSessionBindPointRequirementsInfoARM<'_>, *mut u32, *mut vk::DataGraphPipelineSessionBindPointRequirementARM<'_>) -> vk::Result,
    requirements = c"vkGetDataGraphPipelineSessionMemoryRequirementsARM": fn(vk::Device, *const vk::DataGraphPipelineSessionMemoryRequirementsInfoARM<'_>, *mut vk::MemoryRequirements2<'_>),
    bind = c"vkBindDataGraphPipelineSessionMemoryARM": fn(vk::Device, u32, *const vk::BindDataGraphPipelineSessionMemoryInfoARM<'_>) -> vk::Result,
    properties = c"vkGetDataGraphPipelinePropertiesARM": fn(vk::Device, *const vk::DataGraphPipelineInfoARM<'_>, u32, *mut vk::DataGraphPipelinePropertyQueryResultARM<'_>) -> vk::Result,
    dispatch = c"vkCmdDispatchDataGraphARM": fn(vk::CommandBuffer, vk::DataGraphPipelineSessionARM, *const vk::DataGraphPipelineDispatchInfoARM<'_>),
}

impl Functions {
    /// Of a device with the extension.
    pub fn of(context: &Context) -> Result<Functions> {
        Self::load(context)
    }
}

/// A tensor as graphs are told of it.
pub struct Described<'a> {
    pub element: Element,
    pub dimensions: &'a [i64],
    pub strides: Option<&'a [i64]>,
}

impl Described<'_> {
    fn description(&self) -> vk::TensorDescriptionARM<'_> {
        vk::TensorDescriptionARM {
            tiling: vk::TensorTilingARM::LINEAR,
            format: self.element.format(),
            dimension_count: self.dimensions.len() as u32,
            p_dimensions: self.dimensions.as_ptr(),
            p_strides: self.strides.map_or(std::ptr::null(), |s| s.as_ptr()),
            usage: vk::TensorUsageFlagsARM::DATA_GRAPH,
            ..Default::default()
        }
    }
}

/// A device with tensors and data graphs, and the commands of both extensions.
pub fn open() -> Result<(Rc<Context>, Rc<tensor::Functions>, Functions)> {
    let mut tensors = vk::PhysicalDeviceTensorFeaturesARM {
        tensors: vk::TRUE,
        shader_tensor_access: vk::TRUE,
        ..Default::default()
    };
    let mut counted = vk::PhysicalDeviceDataGraphNeuralAcceleratorStatisticsFeaturesARM {
        p_next: (&raw mut tensors).cast(),
        data_graph_neural_accelerator_statistics: vk::TRUE,
        ..Default::default()
    };
    let mut flow = vk::PhysicalDeviceDataGraphOpticalFlowFeaturesARM {
        p_next: (&raw mut counted).cast(),
        data_graph_optical_flow: vk::TRUE,
        ..Default::default()
    };
    let mut graphs = vk::PhysicalDeviceDataGraphFeaturesARM {
        p_next: (&raw mut flow).cast(),
        data_graph: vk::TRUE,
        data_graph_shader_module: vk::TRUE,
        ..Default::default()
    };
    // SAFETY: a chain of features that outlives the call.
    let context = Context::extended(Library::any()?, &EXTENSIONS, (&raw mut graphs).cast())?;
    let (of_tensors, of_graphs) = (tensor::Functions::of(&context)?, Functions::of(&context)?);
    Ok((context, of_tensors, of_graphs))
}

/// Runs the graph `main` of a module once and waits. `tensors`: of the bindings of set 0 in their order; `constants`: by number, with
/// their elements.
pub fn run(
    context: &Context,
    f: &Functions,
    code: &[u32],
    tensors: &[(&Tensor, Described)],
    constants: &[(u32, Described, &[u8])],
) -> Result<()> {
    run_among(context, f, code, tensors, constants, None, |_, dispatch| dispatch()).map(|_| ())
}

/// As [`run`], among the commands that `record` records: it calls its second parameter for the dispatch. `statistics`: of the neural
/// engine (VK_ARM_data_graph_neural_accelerator_statistics), of each node too if true; their words are given back.
pub fn run_among(
    context: &Context,
    f: &Functions,
    code: &[u32],
    tensors: &[(&Tensor, Described)],
    constants: &[(u32, Described, &[u8])],
    statistics: Option<bool>,
    record: impl FnOnce(vk::CommandBuffer, &dyn Fn()),
) -> Result<Vec<u64>> {
    let from = From { code, cache: vk::PipelineCache::null(), identifier: None };
    Ok(run_from(context, f, &from, tensors, constants, statistics, record)?.0)
}

/// What a pipeline is made from.
pub struct From<'a> {
    pub code: &'a [u32],
    pub cache: vk::PipelineCache,
    /// By this alone, which the cache has; then the pipeline is made without the code, and may not need to be compiled.
    pub identifier: Option<&'a [u8]>,
}

fn identifier(context: &Context, f: &Functions, pipeline: vk::Pipeline) -> Result<Vec<u8>> {
    let of = vk::DataGraphPipelineInfoARM { data_graph_pipeline: pipeline, ..Default::default() };
    let mut bytes = vec![0u8; 64];
    let mut told = vk::DataGraphPipelinePropertyQueryResultARM {
        property: vk::DataGraphPipelinePropertyARM::IDENTIFIER,
        data_size: bytes.len(),
        p_data: bytes.as_mut_ptr().cast(),
        ..Default::default()
    };
    // SAFETY: structures outlive the call; the pipeline is one of a data graph.
    let result = unsafe { (f.properties)(context.device.handle(), &of, 1, &mut told) };
    result.result().map_err(Error::vk("vkGetDataGraphPipelinePropertiesARM"))?;
    bytes.truncate(told.data_size);
    Ok(bytes)
}

/// # Safety
/// The structures are valid.
unsafe fn create(
    context: &Context,
    f: &Functions,
    from: &From,
    of_module: &vk::DataGraphPipelineShaderModuleCreateInfoARM,
    counts: bool,
    mut info: vk::DataGraphPipelineCreateInfoARM,
) -> Result<vk::Pipeline> {
    let of_module = std::ptr::from_ref(of_module).cast();
    let counted = vk::DataGraphPipelineNeuralStatisticsCreateInfoARM {
        p_next: of_module,
        allow_neural_statistics: vk::TRUE,
        ..Default::default()
    };
    let named = vk::DataGraphPipelineIdentifierCreateInfoARM {
        identifier_size: from.identifier.map_or(0, |i| i.len() as u32),
        p_identifier: from.identifier.map_or(std::ptr::null(), |i| i.as_ptr()),
        ..Default::default()
    };
    info.p_next = if counts { (&raw const counted).cast() } else { of_module };
    if from.identifier.is_some() {
        info.p_next = (&raw const named).cast();
        // VK_PIPELINE_CREATE_2_FAIL_ON_PIPELINE_COMPILE_REQUIRED_BIT
        info.flags = vk::PipelineCreateFlags2::from_raw(1 << 8);
    }
    let mut pipeline = vk::Pipeline::null();
    let (device, operation) = (context.device.handle(), vk::DeferredOperationKHR::null());
    // SAFETY: the caller's.
    let made =
        unsafe { (f.create)(device, operation, from.cache, 1, &info, std::ptr::null(), &mut pipeline) };
    if made == vk::Result::PIPELINE_COMPILE_REQUIRED {
        return Err(Error("the pipeline would have to be compiled".into()));
    }
    made.result().map_err(Error::vk("vkCreateDataGraphPipelinesARM"))?;
    Ok(pipeline)
}

/// As [`run_among`], of a pipeline that is made so; its identifier is given back besides.
pub fn run_from(
    context: &Context,
    f: &Functions,
    from: &From,
    tensors: &[(&Tensor, Described)],
    constants: &[(u32, Described, &[u8])],
    statistics: Option<bool>,
    record: impl FnOnce(vk::CommandBuffer, &dyn Fn()),
) -> Result<(Vec<u64>, Vec<u8>)> {
    let device = &context.device;
    let tensor = vk::DESCRIPTOR_TYPE_TENSOR_ARM;
    let count = tensors.len() as u32;
    let binding = |b| {
        let b = vk::DescriptorSetLayoutBinding::default().binding(b).descriptor_type(tensor);
        b.descriptor_count(1).stage_flags(vk::ShaderStageFlags::ALL)
    };
    let bindings: Vec<_> = (0..count).map(binding).collect();
    let descriptions: Vec<_> = tensors.iter().map(|t| t.1.description()).collect();
    let of_constants: Vec<_> = constants.iter().map(|c| c.1.description()).collect();
    let resource = |(binding, d): (u32, &vk::TensorDescriptionARM)| vk::DataGraphPipelineResourceInfoARM {
        p_next: (&raw const *d).cast(),
        binding,
        ..Default::default()
    };
    let resources: Vec<_> = (0..).zip(&descriptions).map(resource).collect();
    let given: Vec<_> = constants
        .iter()
        .zip(&of_constants)
        .map(|(c, d)| vk::DataGraphPipelineConstantARM {
            p_next: (&raw const *d).cast(),
            id: c.0,
            p_constant_data: c.2.as_ptr().cast(),
            ..Default::default()
        })
        .collect();
    let pool_sizes = [vk::DescriptorPoolSize { ty: tensor, descriptor_count: count }];
    // SAFETY: structures outlive the calls; nothing is destroyed before the device is idle. On an error what was made before is left to the
    // device's end.
    unsafe {
        let module = vk::ShaderModuleCreateInfo::default().code(from.code);
        let module = device.create_shader_module(&module, None).map_err(Error::vk("vkCreateShaderModule"))?;
        let (layout, pipeline_layout) = context.layouts(&bindings, Default::default())?;
        let layouts = [layout];
        let of_module = vk::DataGraphPipelineShaderModuleCreateInfoARM {
            module,
            p_name: c"main".as_ptr(),
            constant_count: given.len() as u32,
            p_constants: given.as_ptr(),
            ..Default::default()
        };
        let info = vk::DataGraphPipelineCreateInfoARM {
            layout: pipeline_layout,
            resource_info_count: count,
            p_resource_infos: resources.as_ptr(),
            ..Default::default()
        };
        let pipeline = create(context, f, from, &of_module, statistics.is_some(), info)?;
        let of_session = Session::new(context, f, pipeline, statistics, Default::default())?;
        let session = of_session.handle;
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&pool_sizes);
        let pool = device.create_descriptor_pool(&info, None).map_err(Error::vk("vkCreateDescriptorPool"))?;
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        let set = device.allocate_descriptor_sets(&info).map_err(Error::vk("vkAllocateDescriptorSets"))?[0];
        for (binding, (t, _)) in (0..).zip(tensors) {
            let view = vk::WriteDescriptorSetTensorARM {
                tensor_view_count: 1,
                p_tensor_views: &t.view,
                ..Default::default()
            };
            let mut write =
                vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding).descriptor_type(tensor);
            write.descriptor_count = 1;
            write.p_next = (&raw const view).cast();
            device.update_descriptor_sets(&[write], &[]);
        }
        let point = vk::PIPELINE_BIND_POINT_DATA_GRAPH_ARM;
        context.run(|d, c| {
            d.cmd_bind_pipeline(c, point, pipeline);
            d.cmd_bind_descriptor_sets(c, point, pipeline_layout, 0, &[set], &[]);
            record(c, &|| (f.dispatch)(c, session, std::ptr::null()));
        })?;
        let (words, identifier) = (of_session.statistics(context)?, identifier(context, f, pipeline)?);
        of_session.destroy(context, f);
        device.destroy_descriptor_pool(pool, None);
        device.destroy_pipeline(pipeline, None);
        device.destroy_pipeline_layout(pipeline_layout, None);
        device.destroy_descriptor_set_layout(layout, None);
        device.destroy_shader_module(module, None);
        Ok((words, identifier))
    }
}

/// A session with the memory that it asks for.
pub(crate) struct Session {
    pub handle: vk::DataGraphPipelineSessionARM,
    memories: Vec<(Point, vk::DeviceMemory, u64)>,
}

impl Session {
    /// # Safety
    /// `pipeline` is one of a data graph.
    pub unsafe fn new(
        context: &Context,
        f: &Functions,
        pipeline: vk::Pipeline,
        statistics: Option<bool>,
        flags: vk::DataGraphPipelineSessionCreateFlagsARM,
    ) -> Result<Session> {
        use vk::NeuralAcceleratorStatisticsModeARM as Mode;
        let device = &context.device;
        let counted = vk::DataGraphPipelineSessionNeuralStatisticsCreateInfoARM {
            mode: if statistics == Some(true) { Mode::STATISTICS1 } else { Mode::STATISTICS0 },
            ..Default::default()
        };
        let info = vk::DataGraphPipelineSessionCreateInfoARM {
            p_next: if statistics.is_some() { (&raw const counted).cast() } else { std::ptr::null() },
            flags,
            data_graph_pipeline: pipeline,
            ..Default::default()
        };
        let mut handle = vk::DataGraphPipelineSessionARM::null();
        let mut memories = vec![];
        // SAFETY: structures outlive the calls.
        unsafe {
            let made = (f.create_session)(device.handle(), &info, std::ptr::null(), &mut handle);
            made.result().map_err(Error::vk("vkCreateDataGraphPipelineSessionARM"))?;
            let of = vk::DataGraphPipelineSessionBindPointRequirementsInfoARM {
                session: handle,
                ..Default::default()
            };
            let mut points = [vk::DataGraphPipelineSessionBindPointRequirementARM::default(); 4];
            let mut count = points.len() as u32;
            let told = (f.bind_points)(device.handle(), &of, &mut count, points.as_mut_ptr());
            told.result().map_err(Error::vk("vkGetDataGraphPipelineSessionBindPointRequirementsARM"))?;
            for p in &points[..count as usize] {
                let of = vk::DataGraphPipelineSessionMemoryRequirementsInfoARM {
                    session: handle,
                    bind_point: p.bind_point,
                    ..Default::default()
                };
                let mut needs = vk::MemoryRequirements2::default();
                (f.requirements)(device.handle(), &of, &mut needs);
                let needs = needs.memory_requirements;
                let flags = vk::MemoryPropertyFlags::HOST_VISIBLE;
                let allocate = vk::MemoryAllocateInfo::default()
                    .allocation_size(needs.size)
                    .memory_type_index(context.memory_type(needs.memory_type_bits, flags)?);
                let memory =
                    device.allocate_memory(&allocate, None).map_err(Error::vk("vkAllocateMemory"))?;
                let bind = vk::BindDataGraphPipelineSessionMemoryInfoARM {
                    session: handle,
                    bind_point: p.bind_point,
                    memory,
                    ..Default::default()
                };
                let bound = (f.bind)(device.handle(), 1, &bind);
                bound.result().map_err(Error::vk("vkBindDataGraphPipelineSessionMemoryARM"))?;
                memories.push((p.bind_point, memory, needs.size));
            }
        }
        Ok(Session { handle, memories })
    }

    /// The words of its statistics; none, if it has none.
    fn statistics(&self, context: &Context) -> Result<Vec<u64>> {
        let wanted = Point::NEURAL_ACCELERATOR_STATISTICS;
        let Some((_, memory, bytes)) = self.memories.iter().find(|m| m.0 == wanted) else {
            return Ok(vec![]);
        };
        // SAFETY: memory that the host sees, of so many bytes, which nothing writes meanwhile.
        unsafe {
            let flags = vk::MemoryMapFlags::empty();
            let at =
                context.device.map_memory(*memory, 0, *bytes, flags).map_err(Error::vk("vkMapMemory"))?;
            let words = std::slice::from_raw_parts(at.cast::<u64>(), *bytes as usize / 8).to_vec();
            context.device.unmap_memory(*memory);
            Ok(words)
        }
    }

    /// # Safety
    /// Nothing uses it any more.
    pub unsafe fn destroy(self, context: &Context, f: &Functions) {
        // SAFETY: the caller's.
        unsafe {
            (f.destroy_session)(context.device.handle(), self.handle, std::ptr::null());
            self.memories.iter().for_each(|m| context.device.free_memory(m.1, None));
        }
    }
}

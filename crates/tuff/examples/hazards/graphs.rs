//! Data graphs beside copies of the tensors that they read and write.

use crate::Situation;
use ::vk as new;
use ash::vk::{self as core, AccessFlags2 as A, PipelineStageFlags2 as S};
use client::Result;
use client::data_graph::{Code, Described, open, run_among};
use client::tensor::{Element, Tensor};

const DATA_GRAPH: S = S::from_raw(1 << 42);
const GRAPH_READ: A = A::from_raw(1 << 47);
const GRAPH_WRITE: A = A::from_raw(1 << 48);
/// TOSA's number of the operator.
const ADD: u32 = 14;
const SHAPE: [u32; 2] = [4, 6];

type Masks = (S, A);

/// Runs a graph of one operator from the first of three tensors to the second, after a copy of the third to the first or before one of
/// the second to the third. `masks`: of the barrier between them.
fn doubled(copy_first: bool, masks: Option<[Masks; 2]>) -> Result<()> {
    let (context, of_tensors, of_graphs) = open()?;
    let mut g = Code::new();
    let x = g.input(Element::F32, &SHAPE);
    let y = g.operator(ADD, Element::F32, &SHAPE, &[x, x]);
    g.output(y, Element::F32, &SHAPE);
    let dimensions = SHAPE.map(i64::from);
    let new = || Tensor::new(&context, &of_tensors, Element::F32, &dimensions, None, false);
    let (mut input, output, mut other) = (new()?, new()?, new()?);
    [&mut input, &mut other].into_iter().for_each(|t| t.bytes_mut().fill(0));
    let described = || Described { element: Element::F32, dimensions: &dimensions, strides: None };
    let tensors = [(&input, described()), (&output, described())];
    let done = run_among(&context, &of_graphs, &g.spirv(), &tensors, &[], None, |commands, dispatch| {
        let barrier = || {
            let Some([(src, from), (dst, to)]) = masks else { return };
            let memory = core::MemoryBarrier2::default().src_stage_mask(src).src_access_mask(from);
            let memory = [memory.dst_stage_mask(dst).dst_access_mask(to)];
            let info = core::DependencyInfo::default().memory_barriers(&memory);
            // SAFETY: recording, with structures of this function.
            unsafe { context.device.cmd_pipeline_barrier2(commands, &info) }
        };
        if copy_first {
            other.copy_to(commands, &input);
            barrier();
        }
        dispatch();
        if !copy_first {
            barrier();
            output.copy_to(commands, &other);
        }
    });
    done.map(|_| ())
}

/// Runs a graph with an intermediate value twice in one session. What lies in the session's memory is written by both: the barrier is of all
/// memory, or of the output alone.
fn twice_in_one_session(all_memory: bool) -> Result<()> {
    let (context, of_tensors, of_graphs) = open()?;
    let mut g = Code::new();
    let x = g.input(Element::F32, &SHAPE);
    let y = g.operator(ADD, Element::F32, &SHAPE, &[x, x]);
    let z = g.operator(ADD, Element::F32, &SHAPE, &[y, x]);
    g.output(z, Element::F32, &SHAPE);
    let dimensions = SHAPE.map(i64::from);
    let new = || Tensor::new(&context, &of_tensors, Element::F32, &dimensions, None, false);
    let (mut input, output) = (new()?, new()?);
    input.bytes_mut().fill(0);
    let described = || Described { element: Element::F32, dimensions: &dimensions, strides: None };
    let tensors = [(&input, described()), (&output, described())];
    let done = run_among(&context, &of_graphs, &g.spirv(), &tensors, &[], None, |commands, dispatch| {
        dispatch();
        let memory = core::MemoryBarrier2::default().src_stage_mask(DATA_GRAPH).src_access_mask(GRAPH_WRITE);
        let memory = [memory.dst_stage_mask(DATA_GRAPH).dst_access_mask(GRAPH_WRITE)];
        let of_output = new::TensorMemoryBarrierARM {
            src_stage_mask: DATA_GRAPH,
            src_access_mask: GRAPH_WRITE,
            dst_stage_mask: DATA_GRAPH,
            dst_access_mask: GRAPH_WRITE,
            src_queue_family_index: core::QUEUE_FAMILY_IGNORED,
            dst_queue_family_index: core::QUEUE_FAMILY_IGNORED,
            tensor: output.handle,
            ..Default::default()
        };
        let of_tensors = new::TensorDependencyInfoARM {
            tensor_memory_barrier_count: 1,
            p_tensor_memory_barriers: &of_output,
            ..Default::default()
        };
        let mut info = core::DependencyInfo::default();
        match all_memory {
            true => info = info.memory_barriers(&memory),
            false => info.p_next = (&raw const of_tensors).cast(),
        }
        // SAFETY: recording, with structures of this function.
        unsafe { context.device.cmd_pipeline_barrier2(commands, &info) };
        dispatch();
    });
    done.map(|_| ())
}

const COPIED: Masks = (S::COPY, A::TRANSFER_WRITE);
const READ: Masks = (DATA_GRAPH, GRAPH_READ);
const WRITTEN: Masks = (DATA_GRAPH, GRAPH_WRITE);
const COPIES: Masks = (S::COPY, A::TRANSFER_READ);

pub const ALL: &[Situation] = &[
    ("graph_after_copy", |_, fault| doubled(true, (!fault).then_some([COPIED, READ]))),
    // The barrier of the fault names the stage of dispatches.
    ("graph_after_barrier_of_another_stage", |_, fault| {
        let to = if fault { (S::COMPUTE_SHADER, A::SHADER_READ) } else { READ };
        doubled(true, Some([COPIED, to]))
    }),
    ("copy_after_graph", |_, fault| doubled(false, (!fault).then_some([WRITTEN, COPIES]))),
    ("graph_twice_in_one_session", |_, fault| twice_in_one_session(!fault)),
];

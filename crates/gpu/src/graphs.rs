//! Data graphs as commands have them (VK_ARM_data_graph): where the tensors of a graph are found in descriptor sets.

use graph::{Plan, Pool, Tensor};
use machine::bindings::Bindings;
use machine::descriptor::{DESCRIPTOR_BYTES, Descriptor};
use machine::lost::Title;
use machine::shared::Shared;
use shader::options::tensor::{STRIDES, WORDS};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use texel::buffer::Buffer;

/// Where a port's descriptors lie: a set, and the byte offset in it of the first of two.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub set: u32,
    pub offset: u32,
}

/// A pipeline: a graph, and where its ports are in sets of the pipeline's layout.
pub struct GraphPipeline {
    pub plan: Arc<Plan>,
    pub inputs: Vec<Slot>,
    pub outputs: Vec<Slot>,
    pub title: Arc<Title>,
    /// What a cache knows the graph by.
    pub identifier: u128,
}

/// A dispatch of a graph.
#[derive(Clone)]
pub struct GraphDispatch {
    pub pipeline: Arc<GraphPipeline>,
    pub bindings: Bindings,
    /// The session's memory.
    pub memory: Arc<Buffer>,
}

/// Descriptor `which` of a slot.
fn find(d: &GraphDispatch, slot: Slot, which: u32) -> Option<Descriptor> {
    let set = d.bindings.sets.get(slot.set as usize)?.as_ref()?;
    Some(set.read(slot.offset + which * DESCRIPTOR_BYTES)).filter(|f| f.words().address != 0)
}

impl GraphDispatch {
    /// The tensors of slots, which have to be of the shapes that the graph has. An error: which is not.
    fn tensors(&self, slots: &[Slot], ports: &[(graph::Port, u32)]) -> Result<Vec<Tensor>, String> {
        let each = slots.iter().zip(ports).map(|(slot, (port, v))| {
            let place = || format!("set {} binding {} element {}", port.set, port.binding, port.element);
            let found = |which| find(self, *slot, which);
            let (Some(elements), Some(kept)) = (found(0), found(1)) else {
                return Err(format!("{} has no tensor", place()));
            };
            let (elements, shape) = (elements.words(), kept.words());
            if shape.size < size_of::<[u32; WORDS]>() as u64 {
                return Err(format!("{} has no tensor's shape", place()));
            }
            // SAFETY: as many bytes as that, which a descriptor that was written leads to; `kept` keeps them.
            let words = unsafe { (shape.address as *const [u32; WORDS]).read_unaligned() };
            let own = &self.pipeline.plan.graph().values[*v as usize].shape;
            let rank = own.len();
            let bound = &words[..STRIDES as usize];
            if bound[..rank] != own[..] || bound[rank..].iter().any(|n| *n != 0) {
                return Err(format!("{} has a tensor of the shape {bound:?}, not {own:?}", place()));
            }
            let strides = words[STRIDES as usize..][..rank].iter().map(|s| *s as u64).collect();
            // SAFETY: a descriptor's buffer, which is there for as long as the application keeps it: freed memory stays mapped.
            Ok(unsafe { Tensor::new(elements.address as *mut u8, elements.size, strides) })
        });
        each.collect()
    }

    /// Inputs and outputs.
    pub(crate) fn connected(&self) -> Result<[Vec<Tensor>; 2], String> {
        let (p, g) = (&self.pipeline, self.pipeline.plan.graph());
        Ok([self.tensors(&p.inputs, &g.inputs)?, self.tensors(&p.outputs, &g.outputs)?])
    }

    /// The session's memory, as much as there is.
    pub(crate) fn room(&self) -> Tensor {
        let (p, n) = self.memory.range(0, u64::MAX);
        // SAFETY: the bytes of a buffer, which the dispatch keeps.
        unsafe { Tensor::new(p, n, vec![]) }
    }
}

/// The device's threads, which begin nothing more once the device stops.
pub(crate) struct Threads<'a>(pub &'a Shared);

impl Pool for Threads<'_> {
    fn run(&self, tasks: u64, each: &(dyn Fn(u64) + Sync)) {
        let next = AtomicU64::new(0);
        self.0.pool.run(tasks, &|| {
            while !self.0.hub.stops() {
                let task = next.fetch_add(1, Relaxed);
                if task >= tasks {
                    return;
                }
                each(task);
            }
        });
    }
}

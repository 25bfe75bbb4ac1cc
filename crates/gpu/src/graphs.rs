//! Data graphs as commands have them (VK_ARM_data_graph): where the tensors of a graph are found in descriptor sets; nodes of optical flow;
//! statistics.

pub mod flow;
pub mod statistics;

use graph::{Cost, Plan, Pool, Stop, Tensor};
use machine::bindings::Bindings;
use machine::descriptor::{DESCRIPTOR_BYTES, Descriptor};
use machine::descriptor_memory::meaning;
use machine::lost::Title;
use machine::shared::Shared;
use shader::options::tensor::{STRIDES, WORDS};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use texel::buffer::Buffer;
use texel::sample::ImageView;

/// Where a port's descriptors lie: a set, and the byte offset in it of the first of two.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub set: u32,
    pub offset: u32,
}

/// A pipeline: a graph, and where its ports are in sets of the pipeline's layout.
pub struct GraphPipeline {
    /// Without nodes, if it is one of optical flow.
    pub plan: Arc<Plan>,
    pub flow: Option<flow::Node>,
    /// Sessions may have statistics.
    pub counts: bool,
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
    pub statistics: Option<statistics::Statistics>,
    /// Of a node of optical flow.
    pub said: flow::Said,
}

/// What a dispatch has read, and what it has written.
#[derive(Default)]
pub struct Accessed {
    pub tensors: [Vec<Tensor>; 2],
    pub views: [Vec<Arc<ImageView>>; 2],
}

/// Why a dispatch has done nothing.
pub(crate) enum Failed {
    Told(String),
    /// The device is lost.
    Lost(Stop),
}

/// The bytes that a descriptor leads to.
struct Found {
    address: u64,
    size: u64,
    view: Option<Arc<ImageView>>,
    _kept: Option<Descriptor>,
}

/// Descriptor `which` of a slot, in a set or in a descriptor buffer.
fn find(shared: &Shared, d: &GraphDispatch, slot: Slot, which: u32) -> Option<Found> {
    let offset = slot.offset + which * DESCRIPTOR_BYTES;
    let buffer = d.bindings.addresses.as_ref().and_then(|a| a.get(slot.set as usize)).filter(|a| **a != 0);
    let found = match buffer {
        Some(set) => {
            let at = set.checked_add(offset as u64)?;
            if !shared.memory.is_live(at, size_of::<[u64; 4]>() as u64) {
                return None;
            }
            // SAFETY: memory of the device, whose freed ranges stay mapped.
            let raw = unsafe { (at as *const [u64; 4]).read_unaligned() };
            let [address, size, ..] = meaning(&shared.names, &shared.memory, &raw, false).words;
            Found { address, size, view: shared.names.image_view(&raw), _kept: None }
        }
        None => {
            let set = d.bindings.sets.get(slot.set as usize)?.as_ref()?;
            let kept = set.read(offset);
            let words = kept.words();
            let view = kept.image_view().cloned();
            Found { address: words.address, size: words.size, view, _kept: Some(kept) }
        }
    };
    Some(found).filter(|f| f.address != 0 || f.view.is_some())
}

impl GraphDispatch {
    /// The tensors of slots, which have to be of the shapes that the graph has. An error: which is not.
    fn tensors(
        &self,
        shared: &Shared,
        slots: &[Slot],
        ports: &[(graph::Port, u32)],
    ) -> Result<Vec<Tensor>, String> {
        let each = slots.iter().zip(ports).map(|(slot, (port, v))| {
            let place = || format!("set {} binding {} element {}", port.set, port.binding, port.element);
            let found = |which| find(shared, self, *slot, which);
            let (Some(elements), Some(shape)) = (found(0), found(1)) else {
                return Err(format!("{} has no tensor", place()));
            };
            if shape.size < size_of::<[u32; WORDS]>() as u64 {
                return Err(format!("{} has no tensor's shape", place()));
            }
            // SAFETY: as many bytes as that, which a descriptor that was written leads to; `shape`, or the view that it names, keeps them.
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

    /// Computes it.
    pub(crate) fn run(&self, shared: &Shared) -> Result<Accessed, Failed> {
        if let Some(node) = &self.pipeline.flow {
            let views = flow::run(node, self, shared).map_err(Failed::Told)?;
            return Ok(Accessed { views, ..Accessed::default() });
        }
        let [inputs, outputs] = self.connected(shared).map_err(Failed::Told)?;
        let stops = || shared.hub.stops();
        match self.pipeline.plan.run(&inputs, &outputs, &self.room(), &Threads(shared), &stops) {
            Ok(()) | Err(Stop::Asked) => Ok(Accessed { tensors: [inputs, outputs], ..Accessed::default() }),
            Err(Stop::Connections) => Err(Failed::Told("the session has no memory".into())),
            Err(why) => Err(Failed::Lost(why)),
        }
    }

    /// What its nodes ask of the modelled GPU.
    pub(crate) fn costs(&self) -> Vec<Cost> {
        match &self.pipeline.flow {
            Some(node) => vec![node.flow.cost()],
            None => self.pipeline.plan.costs().collect(),
        }
    }

    /// The memory of its session that it writes.
    pub fn session(&self) -> impl Iterator<Item = &Arc<Buffer>> {
        let past = self.said.past.iter().map(|p| &p.memory);
        let statistics = self.statistics.iter().map(|s| &s.memory);
        let all = [&self.memory].into_iter().chain(past).chain(statistics);
        all.filter(|b| b.size > 0)
    }

    /// Inputs and outputs.
    fn connected(&self, shared: &Shared) -> Result<[Vec<Tensor>; 2], String> {
        let (p, g) = (&self.pipeline, self.pipeline.plan.graph());
        Ok([self.tensors(shared, &p.inputs, &g.inputs)?, self.tensors(shared, &p.outputs, &g.outputs)?])
    }

    /// The session's memory, as much as there is.
    fn room(&self) -> Tensor {
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

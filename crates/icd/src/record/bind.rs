//! What is bound at a bind point, and its snapshot for a dispatch.

use crate::descriptor::descriptor_layout::SetLayout;
use crate::pipeline::Shared as Pipeline;
use crate::pipeline::pipeline_layout::Layout;
use machine::bindings::{Bindings, HeapRange, Push};
use machine::descriptor::{DESCRIPTOR_BYTES, SetMemory};
use smallvec::SmallVec;
use std::sync::Arc;

#[derive(Clone)]
pub(crate) struct BoundSet {
    pub memory: Arc<SetMemory>,
    pub layout: Arc<SetLayout>,
    /// Offsets of its dynamic buffers, in order.
    pub offsets: SmallVec<[u32; 4]>,
    /// Made of push descriptors: the memory belongs to this command buffer.
    pub pushed: bool,
}

#[derive(Clone, Default)]
pub(crate) struct BindPoint {
    pub pipeline: Option<Arc<Pipeline>>,
    pub sets: Vec<Option<BoundSet>>,
    /// Device addresses of sets in descriptor buffers; 0: none. Which of the two a set is, is the layout's to say.
    addresses: Vec<u64>,
    /// The snapshot of the last dispatch, until another set is bound or a pipeline of another layout.
    snapshot: Option<Snapshot>,
}

/// What is bound, as shaders compiled for a layout see it; without what is pushed.
#[derive(Clone)]
struct Snapshot {
    layout: Arc<Layout>,
    sets: SmallVec<[Option<Arc<SetMemory>>; 4]>,
    addresses: Option<Arc<[u64]>>,
    dynamic: Option<Arc<SetMemory>>,
}

impl BindPoint {
    /// Something bound here changes.
    pub fn touch(&mut self) {
        self.snapshot = None;
    }

    pub fn bind(&mut self, set: usize, bound: Option<BoundSet>) {
        self.touch();
        if self.sets.len() <= set {
            self.sets.resize_with(set + 1, || None);
        }
        self.sets[set] = bound;
    }

    /// Binds a descriptor set. One that is bound already is not looked at again, but for dynamic buffers, which are copied.
    pub fn bind_set(
        &mut self,
        set: usize,
        memory: &Arc<SetMemory>,
        layout: &Arc<SetLayout>,
        offsets: &[u32],
    ) {
        let same = |b: &BoundSet| {
            Arc::ptr_eq(&b.memory, memory)
                && Arc::ptr_eq(&b.layout, layout)
                && layout.dynamic_count == 0
                && !b.pushed
        };
        if self.sets.get(set).and_then(Option::as_ref).is_some_and(same) {
            return;
        }
        let (memory, layout) = (memory.clone(), layout.clone());
        self.bind(set, Some(BoundSet { memory, layout, offsets: offsets.into(), pushed: false }));
    }

    /// Set `set` lies in a descriptor buffer.
    pub fn locate(&mut self, set: usize, address: u64) {
        self.touch();
        if self.addresses.len() <= set {
            self.addresses.resize(set + 1, 0);
        }
        self.addresses[set] = address;
    }

    /// Sets, displaced dynamic buffers, push constants and heaps as they are now, for a shader compiled with `layout`.
    pub fn bindings(&mut self, pipeline: &Pipeline, push: &Push, heaps: [HeapRange; 2]) -> Bindings {
        let known = self.snapshot.as_ref().filter(|s| Arc::ptr_eq(&s.layout, &pipeline.layout));
        let Snapshot { sets, addresses, dynamic, .. } = match known {
            Some(s) => s.clone(),
            None => self.snapshot(pipeline),
        };
        Bindings { sets, addresses, dynamic, push: *push, heaps }
    }

    fn snapshot(&mut self, pipeline: &Pipeline) -> Snapshot {
        let layout = &pipeline.layout;
        let sets: SmallVec<[_; 4]> =
            (0..layout.sets.len()).map(|i| Some(self.set(pipeline, i)?.memory.clone())).collect();
        // Which sets of a layout are missing depends on the pipeline, so each pipeline reports its own.
        let whole = sets.iter().zip(&self.sets).all(|(seen, bound)| seen.is_some() || bound.is_none());
        let dynamic = self.dynamic(pipeline).map(Arc::new);
        let mut made = Snapshot { layout: layout.clone(), sets, addresses: None, dynamic };
        if layout.in_memory {
            self.in_memory(layout, &mut made);
        }
        self.snapshot = whole.then(|| made.clone());
        made
    }

    /// What is bound to set `i`, if it is laid out as the shader was compiled for: else its bytes would be taken for what they
    /// are not. What no shader reads may be of any layout (Vulkan, "Pipeline Layout Compatibility").
    fn set(&self, pipeline: &Pipeline, i: usize) -> Option<&BoundSet> {
        let (bound, wanted) = (self.sets.get(i)?.as_ref()?, pipeline.layout.sets.get(i)?.as_ref()?);
        if Arc::ptr_eq(&bound.layout, wanted) || bound.layout.is_like(wanted) {
            return Some(bound);
        }
        if pipeline.reads_set(i) {
            crate::base::debug::log_error(&format!(
                "set {i} is bound with another layout than the pipeline has: it counts as none"
            ));
        }
        None
    }

    /// Puts the addresses of sets that the layout has in descriptor buffers in the place of what else is bound there.
    fn in_memory(&self, layout: &Layout, b: &mut Snapshot) {
        let mut addresses = vec![0; layout.sets.len()];
        for (i, set) in layout.sets.iter().enumerate() {
            if set.as_ref().is_some_and(|s| s.in_memory) {
                b.sets[i] = None;
                addresses[i] = self.addresses.get(i).copied().unwrap_or(0);
            }
        }
        b.addresses = Some(addresses.into());
    }

    fn dynamic(&self, pipeline: &Pipeline) -> Option<SetMemory> {
        let layout = &pipeline.layout;
        if layout.dynamic_count == 0 {
            return None;
        }
        let table = SetMemory::new(layout.dynamic_count as usize * DESCRIPTOR_BYTES as usize)?;
        for (i, &base) in layout.dynamic_base.iter().enumerate() {
            let Some(set) = self.set(pipeline, i) else { continue };
            for b in set.layout.bindings.iter().filter(|b| b.is_dynamic()) {
                for e in 0..b.count {
                    let d = set.memory.words(b.place(e));
                    let offset = set.offsets.get((b.dynamic + e) as usize).copied().unwrap_or(0) as u64;
                    // The size stays the range, as VK_WHOLE_SIZE was resolved when the descriptor was written.
                    table.write_words((base + b.dynamic + e) * DESCRIPTOR_BYTES, d.displaced(offset));
                }
            }
        }
        Some(table)
    }
}

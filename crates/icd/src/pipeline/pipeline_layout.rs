//! VkPipelineLayout.

use crate::base::answer::{Answer, created, invalid};
use crate::base::given::{Call, Doomed, In, Out};
use crate::base::object::Object;
use crate::descriptor::descriptor_layout::{self, SetLayout};
use crate::device::Device;
use crate::instance::limits::MAX_PUSH_CONSTANTS;
use machine::descriptor::{DESCRIPTOR_BYTES, DYNAMIC_TABLE};
use shader::bytecode::Program;
use shader::options::Binding;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

/// `maxBoundDescriptorSets`: the tables 0..32 of a dispatch.
pub(crate) const MAX_SETS: u32 = crate::instance::limits::MAX_BOUND_DESCRIPTOR_SETS;

/// What pipelines and command buffers share of a layout.
pub(crate) struct Layout {
    /// `None` where independent sets leave a hole.
    pub sets: Vec<Option<Arc<SetLayout>>>,
    /// Number of each set's first dynamic buffer in the dynamic table.
    pub dynamic_base: Vec<u32>,
    pub dynamic_count: u32,
    pub push_bytes: u32,
    /// A set lies in a descriptor buffer.
    pub in_memory: bool,
    /// There are no sets: descriptors are in heaps, and each stage has its mappings.
    pub heaps: bool,
}

pub struct PipelineLayout {
    pub(crate) shared: Arc<Layout>,
}

impl Object for PipelineLayout {
    type Handle = vk::PipelineLayout;
}

impl Layout {
    fn new(sets: Vec<Option<Arc<SetLayout>>>, push_bytes: u32) -> Layout {
        let mut count = 0;
        let dynamic_base = sets
            .iter()
            .map(|s| {
                let first = count;
                count += s.as_ref().map_or(0, |s| s.dynamic_count);
                first
            })
            .collect();
        let in_memory = sets.iter().flatten().any(|s| s.in_memory);
        Layout { sets, dynamic_base, dynamic_count: count, push_bytes, in_memory, heaps: false }
    }

    /// What stands for a layout where descriptors are in heaps.
    pub fn of_heaps() -> Arc<Layout> {
        static ONE: LazyLock<Arc<Layout>> =
            LazyLock::new(|| Arc::new(Layout { heaps: true, ..Layout::new(Vec::new(), MAX_PUSH_CONSTANTS) }));
        ONE.clone()
    }

    /// Where a shader finds a binding.
    pub fn binding(&self, set: u32, binding: u32) -> Option<Binding> {
        let layout = self.sets.get(set as usize)?.as_ref()?;
        let b = &layout.bindings[layout.index(binding)?];
        let mut at = Binding { each: b.each, ..Binding::new(set, b.offset, b.count * b.each) };
        if b.is_dynamic() {
            at.table = DYNAMIC_TABLE;
            at.offset = (self.dynamic_base[set as usize] + b.dynamic) * DESCRIPTOR_BYTES;
        } else {
            at.inline_data = b.is_inline();
            at.in_memory = layout.in_memory;
        }
        Some(at)
    }

    /// The same as programs have it.
    fn place(&self, set: u32, binding: u32) -> Option<Binding> {
        Some(Binding { each: 1, ..self.binding(set, binding)? })
    }

    /// Whether a program finds in it all that it reads: one that comes from a blob may say anything.
    pub fn has_all(&self, program: &Program) -> bool {
        let sets = || self.sets.iter().enumerate().filter_map(|(s, set)| Some((s as u32, set.as_ref()?)));
        let has = |b: &Binding| {
            sets().any(|(s, set)| set.bindings.iter().any(|own| self.place(s, own.number) == Some(*b)))
        };
        program.bindings().iter().all(has)
    }

    /// Sets and bindings that a program does not use.
    pub fn unused(&self, program: &Program) -> Vec<(u32, u32)> {
        let used = program.bindings();
        let sets = self.sets.iter().enumerate().filter_map(|(s, set)| Some((s as u32, set.as_ref()?)));
        let all = sets.flat_map(|(s, set)| set.bindings.iter().map(move |b| (s, b.number)));
        all.filter(|&(s, b)| self.place(s, b).is_some_and(|b| !used.contains(&b))).collect()
    }

    /// The layout of a pipeline linked from libraries: the sets of all, and push constants for the one that has most.
    pub fn union(parts: &[Arc<Layout>]) -> Layout {
        let count = parts.iter().map(|l| l.sets.len()).max().unwrap_or(0);
        let set = |i: usize| parts.iter().find_map(|l| l.sets.get(i).cloned().flatten());
        let push_bytes = parts.iter().map(|l| l.push_bytes).max().unwrap_or(0);
        let heaps = parts.iter().any(|l| l.heaps);
        Layout { heaps, ..Layout::new((0..count).map(set).collect(), push_bytes) }
    }

    /// Whether a shader compiled with this layout finds everything where `whole` has it.
    pub fn within(&self, whole: &Layout) -> bool {
        self.push_bytes <= whole.push_bytes
            && self.heaps == whole.heaps
            && self.sets.iter().enumerate().all(|(s, set)| {
                set.iter()
                    .flat_map(|set| &set.bindings)
                    .all(|b| self.binding(s as u32, b.number) == whole.binding(s as u32, b.number))
            })
    }

    /// Everything that decides where a shader finds things.
    pub fn hash(&self, h: &mut impl Hasher) {
        (self.push_bytes, self.heaps).hash(h);
        for (s, set) in self.sets.iter().enumerate() {
            for b in set.iter().flat_map(|set| &set.bindings) {
                if let Some(at) = self.binding(s as u32, b.number) {
                    (s, b.number, at.table, at.offset, at.count, at.inline_data, at.in_memory).hash(h);
                }
            }
        }
    }
}

fn new(info: In<vk::PipelineLayoutCreateInfo>) -> Answer<PipelineLayout> {
    let sets = info.set_layouts();
    let ranges = info.push_constant_ranges();
    Ok(PipelineLayout { shared: Arc::new(described(info, sets, ranges, "vkCreatePipelineLayout")?) })
}

/// The layout of these sets and push constants. `command`: whose they are, for messages.
pub(crate) fn described<'a>(
    call: impl Call<'a>,
    sets: &[vk::DescriptorSetLayout],
    ranges: &[vk::PushConstantRange],
    command: &str,
) -> Answer<Layout> {
    if sets.len() > MAX_SETS as usize {
        return Err(invalid(&format!("{command}: more than {MAX_SETS} sets")));
    }
    let sets = sets
        .iter()
        .map(|&l| if l == vk::DescriptorSetLayout::null() { None } else { descriptor_layout::get(call, l) })
        .collect();
    let push_bytes = ranges.iter().map(|r| r.offset.saturating_add(r.size)).max().unwrap_or(0);
    if push_bytes > MAX_PUSH_CONSTANTS {
        return Err(invalid(&format!("{command}: push constants end after {MAX_PUSH_CONSTANTS} bytes")));
    }
    Ok(Layout::new(sets, push_bytes))
}

pub(crate) fn get<'a>(call: impl Call<'a>, layout: vk::PipelineLayout) -> Option<Arc<Layout>> {
    Some(call.object::<PipelineLayout>(layout)?.shared.clone())
}

/// The layout of a pipeline with these flags.
pub(crate) fn of_pipeline<'a>(
    call: impl Call<'a>,
    layout: vk::PipelineLayout,
    flags: vk::PipelineCreateFlags2,
) -> Option<Arc<Layout>> {
    if flags.contains(DESCRIPTOR_HEAP) { Some(Layout::of_heaps()) } else { get(call, layout) }
}

/// VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT
const DESCRIPTOR_HEAP: vk::PipelineCreateFlags2 = vk::PipelineCreateFlags2::from_raw(1 << 36);

pub(crate) fn create_pipeline_layout(
    _: &Device,
    info: In<vk::PipelineLayoutCreateInfo>,
    out: Out<vk::PipelineLayout>,
) -> vk::Result {
    created(out, new(info))
}

pub(crate) fn destroy_pipeline_layout(_: &Device, layout: Doomed<PipelineLayout>) {
    layout.destroy();
}

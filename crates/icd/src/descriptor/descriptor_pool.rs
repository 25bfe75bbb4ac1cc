//! VkDescriptorPool. Sets own their memory, so types and numbers of descriptors protect nothing: they are counted only to warn of
//! sets that a stricter driver refuses. `maxSets` holds, because programs allocate from a pool until it is empty.

use crate::base::answer::{Answer, created, invalid};
use crate::base::debug;
use crate::base::given::{Doomed, In, Out, OutSlice};
use crate::base::object::{self, Object};
use crate::descriptor::descriptor_layout::{self, SetLayout};
use crate::descriptor::descriptor_set::DescriptorSet;
use crate::device::Device;
use parking_lot::Mutex;
use std::sync::Arc;
use vk::Handle;

/// Descriptors by type, in order of first appearance; bytes of inline uniform blocks.
type Counts = Vec<(vk::DescriptorType, u64)>;

pub struct DescriptorPool {
    state: Mutex<State>,
    sizes: Counts,
    max_sets: u32,
}

#[derive(Default)]
struct State {
    sets: Vec<vk::DescriptorSet>,
    used: Counts,
    /// The pool's warning has been given.
    warned: bool,
}

impl Object for DescriptorPool {
    type Handle = vk::DescriptorPool;
}

/// What a descriptor takes the place of: those of texel buffers are alike, whether shaders store to them or not, and programs (the CTS's
/// sparse texel buffers) ask for the one and take the other.
fn kind(ty: vk::DescriptorType) -> vk::DescriptorType {
    match ty {
        vk::DescriptorType::UNIFORM_TEXEL_BUFFER => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
        ty => ty,
    }
}

fn add(counts: &mut Counts, ty: vk::DescriptorType, n: u64) {
    let ty = kind(ty);
    match counts.iter_mut().find(|c| c.0 == ty) {
        Some(c) => c.1 += n,
        None => counts.push((ty, n)),
    }
}

fn count(counts: &Counts, ty: vk::DescriptorType) -> u64 {
    counts.iter().find(|c| c.0 == kind(ty)).map_or(0, |c| c.1)
}

/// What a set of this layout takes. Inline uniform blocks take their bytes alone: how many they are may be more than the pool was
/// told (an allocation "may fail" then), as in programs that ask for one frame's blocks and take two frames'.
fn need(layout: &SetLayout, variable: u32) -> Counts {
    let mut counts = Counts::new();
    for b in &layout.bindings {
        let n = if b.is_variable() { variable.min(b.count) } else { b.count };
        if n > 0 {
            add(&mut counts, b.ty, n as u64);
        }
    }
    counts
}

/// Lets go of what a set took.
fn give_back(used: &mut Counts, set: &DescriptorSet) {
    for (ty, n) in need(&set.layout, set.variable) {
        if let Some(c) = used.iter_mut().find(|c| c.0 == ty) {
            c.1 -= n;
        }
    }
}

impl DescriptorPool {
    /// A set; with it the descriptors that the pool was not made for, if this is the first such set.
    fn take(&self, layout: &Arc<SetLayout>, variable: u32) -> Answer<(vk::DescriptorSet, Option<Excess>)> {
        let mut s = self.state.lock();
        if s.sets.len() >= self.max_sets as usize {
            return Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY);
        }
        let Some(set) = DescriptorSet::new(layout.clone(), variable) else {
            return Err(vk::Result::ERROR_OUT_OF_HOST_MEMORY);
        };
        let mut excess = None;
        for (ty, n) in need(layout, variable) {
            add(&mut s.used, ty, n);
            let (taken, room) = (count(&s.used, ty), count(&self.sizes, ty));
            if taken > room && !s.warned {
                s.warned = true;
                excess = Some(Excess { ty, taken, room });
            }
        }
        let handle = object::create(set);
        s.sets.push(handle);
        Ok((handle, excess))
    }

    fn give(&self, set: vk::DescriptorSet) {
        let mut s = self.state.lock();
        let Some(i) = s.sets.iter().rposition(|&o| o == set) else {
            crate::base::debug::log_error("vkFreeDescriptorSets: a set of another pool");
            return;
        };
        s.sets.swap_remove(i);
        // SAFETY: the application frees it, and so uses it no more (valid usage).
        if let Some(set) = unsafe { object::destroy::<DescriptorSet>(set) } {
            give_back(&mut s.used, &set);
        }
    }
}

/// What a pool has given beyond what it was made for.
struct Excess {
    ty: vk::DescriptorType,
    taken: u64,
    room: u64,
}

impl Excess {
    fn warn(&self, device: &Device, pool: vk::DescriptorPool) {
        let Excess { ty, taken, room } = self;
        let unit = if *ty == vk::DescriptorType::INLINE_UNIFORM_BLOCK { "bytes" } else { "descriptors" };
        let message = format!(
            "vkAllocateDescriptorSets: descriptor pool {} was made for {room} {unit} of type {ty:?}, and its sets have {taken}. Other \
             drivers may return VK_ERROR_OUT_OF_POOL_MEMORY",
            debug::called(pool.as_raw()),
        );
        debug::say(device, debug::Level::Warn, &message);
    }
}

fn free_all(state: State) {
    for s in state.sets {
        // SAFETY: sets end with their pool, or with its reset (valid usage).
        unsafe { object::destroy::<DescriptorSet>(s) };
    }
}

pub(crate) fn create_descriptor_pool(
    _: &Device,
    info: In<vk::DescriptorPoolCreateInfo>,
    out: Out<vk::DescriptorPool>,
) -> vk::Result {
    let i = info;
    let mut sizes = Counts::new();
    for s in i.pool_sizes() {
        add(&mut sizes, s.ty, s.descriptor_count as u64);
    }
    created(out, Ok(DescriptorPool { state: Mutex::default(), sizes, max_sets: i.max_sets }))
}

pub(crate) fn destroy_descriptor_pool(_: &Device, pool: Doomed<DescriptorPool>) {
    if let Some(p) = pool.destroy() {
        free_all(p.state.into_inner());
    }
}

pub(crate) fn reset_descriptor_pool(
    _: &Device,
    pool: vk::DescriptorPool,
    _: vk::DescriptorPoolResetFlags,
) -> vk::Result {
    if let Some(p) = object::hold::<DescriptorPool>(pool) {
        let mut s = p.state.lock();
        let warned = s.warned;
        free_all(std::mem::replace(&mut *s, State { warned, ..State::default() }));
    }
    vk::Result::SUCCESS
}

pub(crate) fn allocate_descriptor_sets(
    device: &Device,
    info: In<vk::DescriptorSetAllocateInfo>,
    out: OutSlice<vk::DescriptorSet>,
) -> vk::Result {
    let i = info;
    out.fill(vk::DescriptorSet::null());
    let Some(pool) = object::hold::<DescriptorPool>(i.descriptor_pool) else {
        return vk::Result::ERROR_UNKNOWN;
    };
    let variable = i
        .find::<vk::DescriptorSetVariableDescriptorCountAllocateInfo>()
        .map_or(&[][..], |v| v.descriptor_counts());
    let layouts = i.set_layouts();
    if layouts.len() != out.len() {
        return invalid("vkAllocateDescriptorSets: an array of layouts or of sets is null");
    }
    let mut made = Vec::with_capacity(layouts.len());
    for (n, &layout) in layouts.iter().enumerate() {
        let set = match descriptor_layout::get(device, layout) {
            Some(l) => pool.take(&l, variable.get(n).copied().unwrap_or(0)),
            None => Err(vk::Result::ERROR_UNKNOWN),
        };
        match set {
            Ok((set, excess)) => {
                out.set(n, set);
                made.push(set);
                if let Some(excess) = excess {
                    excess.warn(device, i.descriptor_pool);
                }
            }
            Err(e) => {
                // All or nothing (§ Allocation of Descriptor Sets).
                out.fill(vk::DescriptorSet::null());
                made.into_iter().for_each(|set| pool.give(set));
                return e;
            }
        }
    }
    vk::Result::SUCCESS
}

pub(crate) fn free_descriptor_sets(
    _: &Device,
    pool: vk::DescriptorPool,
    sets: &[vk::DescriptorSet],
) -> vk::Result {
    if let Some(p) = object::hold::<DescriptorPool>(pool) {
        for &s in sets.iter().filter(|&&s| s != vk::DescriptorSet::null()) {
            p.give(s);
        }
    }
    vk::Result::SUCCESS
}

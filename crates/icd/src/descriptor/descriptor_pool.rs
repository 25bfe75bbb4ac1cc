//! VkDescriptorPool. Sets own their memory, so types and numbers of descriptors protect nothing: they are counted only to warn of
//! sets that a stricter driver refuses. `maxSets` holds, because programs allocate from a pool until it is empty.

use crate::base::answer::{Answer, created, invalid};
use crate::base::chain;
use crate::base::debug;
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

    unsafe fn give(&self, set: vk::DescriptorSet) {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let mut s = self.state.lock();
            let Some(i) = s.sets.iter().rposition(|&o| o == set) else {
                crate::base::debug::log_error("vkFreeDescriptorSets: a set of another pool");
                return;
            };
            s.sets.swap_remove(i);
            if let Some(set) = object::destroy::<DescriptorSet>(set) {
                give_back(&mut s.used, &set);
            }
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

unsafe fn free_all(state: State) {
    // SAFETY: the caller's.
    unsafe {
        for s in state.sets {
            object::destroy::<DescriptorSet>(s);
        }
    }
}

pub(crate) unsafe fn create_descriptor_pool(
    _: &Device,
    info: *const vk::DescriptorPoolCreateInfo,
    _: *const vk::AllocationCallbacks,
    out: *mut vk::DescriptorPool,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let mut sizes = Counts::new();
        for s in chain::slice(i.p_pool_sizes, i.pool_size_count) {
            add(&mut sizes, s.ty, s.descriptor_count as u64);
        }
        created(out, Ok(DescriptorPool { state: Mutex::default(), sizes, max_sets: i.max_sets }))
    }
}

pub(crate) unsafe fn destroy_descriptor_pool(
    _: &Device,
    pool: vk::DescriptorPool,
    _: *const vk::AllocationCallbacks,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(p) = object::destroy::<DescriptorPool>(pool) {
            free_all(p.state.into_inner());
        }
    }
}

pub(crate) unsafe fn reset_descriptor_pool(
    _: &Device,
    pool: vk::DescriptorPool,
    _: vk::DescriptorPoolResetFlags,
) -> vk::Result {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        if let Some(p) = object::hold::<DescriptorPool>(pool) {
            let mut s = p.state.lock();
            let warned = s.warned;
            free_all(std::mem::replace(&mut *s, State { warned, ..State::default() }));
        }
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn allocate_descriptor_sets(
    device: &Device,
    info: *const vk::DescriptorSetAllocateInfo,
    out: *mut vk::DescriptorSet,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let i = &*info;
        let out = chain::slice_mut(out, i.descriptor_set_count);
        out.fill(vk::DescriptorSet::null());
        let Some(pool) = object::hold::<DescriptorPool>(i.descriptor_pool) else {
            return vk::Result::ERROR_UNKNOWN;
        };
        let variable = chain::find::<vk::DescriptorSetVariableDescriptorCountAllocateInfo>(i.p_next)
            .map_or(&[][..], |v| chain::slice(v.p_descriptor_counts, v.descriptor_set_count));
        let layouts = chain::slice(i.p_set_layouts, i.descriptor_set_count);
        if layouts.len() != out.len() {
            return invalid("vkAllocateDescriptorSets: an array of layouts or of sets is null");
        }
        for (n, &layout) in layouts.iter().enumerate() {
            let made = match descriptor_layout::get(layout) {
                Some(l) => pool.take(&l, variable.get(n).copied().unwrap_or(0)),
                None => Err(vk::Result::ERROR_UNKNOWN),
            };
            match made {
                Ok((set, excess)) => {
                    out[n] = set;
                    if let Some(excess) = excess {
                        excess.warn(device, i.descriptor_pool);
                    }
                }
                Err(e) => {
                    // All or nothing (§ Allocation of Descriptor Sets).
                    for set in &mut out[..n] {
                        pool.give(*set);
                        *set = vk::DescriptorSet::null();
                    }
                    return e;
                }
            }
        }
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn free_descriptor_sets(
    _: &Device,
    pool: vk::DescriptorPool,
    count: u32,
    sets: *const vk::DescriptorSet,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(p) = object::hold::<DescriptorPool>(pool) {
            for &s in chain::slice(sets, count).iter().filter(|&&s| s != vk::DescriptorSet::null()) {
                p.give(s);
            }
        }
        vk::Result::SUCCESS
    }
}

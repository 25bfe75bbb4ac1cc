//! A device of the program's: its creation, what the layer knows of it, its end.

use crate::arena::Arena;
use crate::chain::{self, Chain};
use crate::counters::Counters;
use crate::frames::Frames;
use crate::instance::{self, Instance, PerformanceQuery};
use crate::interface::{self, DeviceLink, SetDeviceLoaderData};
use crate::line::Line;
use crate::names::Names;
use crate::output::Output;
use crate::queries::Queries;
use crate::queue::Queue;
use crate::recorded::{Recorded, Use};
use crate::recording::Recording;
use crate::settings::{self, Mode, Settings};
use crate::slots::Pools;
use crate::table::{Table, next};
use ash::vk;
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Once};
use vk::{Handle, Result as R};

/// A command pool's facts, which its buffers share.
pub(crate) struct PoolInfo {
    pub pool: vk::CommandPool,
    pub family: u32,
    /// Why workloads of its buffers have no time.
    pub unmeasured: Option<&'static str>,
}

/// A render pass object's facts.
pub(crate) struct PassInfo {
    /// Views of every subpass (1 without multiview), or 0 where they differ.
    pub views: u32,
    pub attachments: u32,
    pub subpasses: u32,
}

/// Where a device's counters come from.
pub(crate) enum Source {
    /// Time alone is measured.
    None,
    Channel(Mutex<Counters>),
    Queries(Queries),
}

pub(crate) struct Device {
    pub handle: vk::Device,
    /// Among the process's devices, in the order of creation.
    pub number: u32,
    name: String,
    pub table: Table,
    pub get: vk::PFN_vkGetDeviceProcAddr,
    pub settings: Arc<Settings>,
    pub output: Arc<Output>,
    pub names: Names,
    stamps: Pools,
    pub aside: Arena,
    pub frames: Frames,
    /// With serialisation.
    pub line: Option<Mutex<Line>>,
    pub source: Source,
    /// To be said once.
    pub held: Once,
    pub buffers: RwLock<HashMap<vk::CommandBuffer, Arc<Mutex<Recording>>>>,
    pub command_pools: RwLock<HashMap<vk::CommandPool, Arc<PoolInfo>>>,
    pub passes: RwLock<HashMap<vk::RenderPass, Arc<PassInfo>>>,
    pub queues: RwLock<HashMap<vk::Queue, Arc<Mutex<Queue>>>>,
    /// Of the creation: family, flags and queues, in order.
    families_used: Vec<(u32, vk::DeviceQueueCreateFlags, u32)>,
    families: Vec<vk::QueueFamilyProperties>,
    memory: vk::PhysicalDeviceMemoryProperties,
    /// Nanoseconds of a tick.
    period: f64,
    /// The bits of a timestamp that all queues have.
    mask: u64,
    set_loader_data: Option<SetDeviceLoaderData>,
    orders: AtomicU64,
    lost: AtomicBool,
}

static DEVICES: LazyLock<RwLock<HashMap<usize, Arc<Device>>>> = LazyLock::new(RwLock::default);

/// The tag of the next recorded workload.
pub(crate) fn next_tag() -> u32 {
    static TAGS: AtomicU32 = AtomicU32::new(0);
    TAGS.fetch_add(1, SeqCst)
}

/// What the loader puts first into every dispatchable object: the same for a device, its queues and command buffers.
pub(crate) fn key<H: Handle>(handle: H) -> usize {
    let at = handle.as_raw() as *const usize;
    // SAFETY: a dispatchable handle is a pointer to the loader's pointer.
    if at.is_null() { 0 } else { unsafe { at.read() } }
}

/// The device of a dispatchable object, if it is measured.
pub(crate) fn of<H: Handle>(handle: H) -> Option<Arc<Device>> {
    DEVICES.read().get(&key(handle)).cloned()
}

/// What a device must be able to do, or why it is left alone.
struct Wanted {
    /// Enable VK_KHR_timeline_semaphore: the version that the program uses has no timeline semaphores.
    extension: bool,
    /// Enable VK_KHR_performance_query, as far as the driver has it.
    queries: Option<PerformanceQuery>,
}

unsafe fn wanted(instance: &Instance, physical: vk::PhysicalDevice) -> Result<Wanted, &'static str> {
    // SAFETY: valid usage: nobody destroys the objects meanwhile.
    unsafe {
        let properties = instance.properties(physical);
        let version = properties.api_version.min(instance.api_version);
        if version < vk::API_VERSION_1_1 {
            return Err("the driver is of Vulkan 1.0");
        }
        let extension = version < vk::API_VERSION_1_2;
        if extension && !instance.has_extension(physical, ash::khr::timeline_semaphore::NAME) {
            return Err("the driver has no timeline semaphores");
        }
        if !instance.has_timeline_feature(physical) {
            return Err("the driver has no timeline semaphores");
        }
        let s = &instance.settings;
        let asked = s.mode == Mode::Counters && s.source != settings::Source::Channel;
        let queries = if asked { instance.performance_query(physical) } else { None };
        Ok(Wanted { extension, queries })
    }
}

pub(crate) unsafe extern "system" fn create_device(
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    device: *mut vk::Device,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let s_type = vk::StructureType::LOADER_DEVICE_CREATE_INFO;
        let failed = R::ERROR_INITIALIZATION_FAILED;
        let Some(link) = interface::find::<DeviceLink>((*info).p_next, s_type, interface::LINK) else {
            return failed;
        };
        let here = &*link.link;
        let (get_instance, get) = (here.get_instance_proc_addr, here.get_device_proc_addr);
        link.link = here.next;
        let Some(instance) = instance::of(physical) else { return failed };
        let create = get_instance(instance.handle, c"vkCreateDevice".as_ptr());
        let Some(create) =
            create.map(|f| std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkCreateDevice>(f))
        else {
            return failed;
        };
        let patched =
            crate::guard::caught(|| patched(&instance, physical, info)).unwrap_or(Err("a fault".into()));
        let result = match &patched {
            Ok(p) => create(physical, &p.info, allocator, device),
            Err(_) => create(physical, info, allocator, device),
        };
        if result != R::SUCCESS {
            return result;
        }
        let data = interface::find::<std::ffi::c_void>((*info).p_next, s_type, interface::LOADER_DATA);
        // SAFETY: the callback's function has this type (VkLayerDeviceCreateInfo).
        let set_loader_data =
            data.map(|d| std::mem::transmute::<*mut std::ffi::c_void, SetDeviceLoaderData>(d.link));
        let measured = patched.as_ref().map(|p| p.queries).map_err(Clone::clone);
        crate::guard::caught(|| {
            Device::enter(&instance, physical, &*info, *device, get, set_loader_data, measured)
        });
        R::SUCCESS
    }
}

/// VkDeviceCreateInfo with timeline semaphores enabled, and performance queries where they are wanted.
struct Patched<'a> {
    info: vk::DeviceCreateInfo<'a>,
    /// What of performance queries was enabled.
    queries: Option<PerformanceQuery>,
    // What `info` points to.
    _chain: Chain,
    _features: Box<Features>,
    _names: Vec<*const c_char>,
}

/// Structures for the chain, where the program has none of its own.
#[derive(Default)]
struct Features {
    timeline: vk::PhysicalDeviceTimelineSemaphoreFeatures<'static>,
    reset: vk::PhysicalDeviceHostQueryResetFeatures<'static>,
    queries: vk::PhysicalDevicePerformanceQueryFeaturesKHR<'static>,
}

/// Sets features in the program's structure, or in one that is put in front. An error where that is out of reach.
fn enable<T: vk::TaggedStructure>(
    chain: &mut Chain,
    spare: &mut T,
    set: impl FnOnce(&mut T),
) -> Result<(), vk::StructureType> {
    if let Some(own) = chain.find::<T>()? {
        set(own);
    } else {
        set(spare);
        chain.push(spare);
    }
    Ok(())
}

unsafe fn patched<'a>(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    info: *const vk::DeviceCreateInfo<'a>,
) -> Result<Patched<'a>, String> {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let wanted = wanted(instance, physical)?;
        let mut info = *info;
        let mut chain = Chain::copy(info.p_next);
        let unknown =
            |s: vk::StructureType| format!("VkDeviceCreateInfo's chain has a structure unknown here ({s:?})");
        let mut features = Box::<Features>::default();
        let mut names = chain::slice(info.pp_enabled_extension_names, info.enabled_extension_count).to_vec();
        let mut extension = |name: &'static CStr| {
            if !names.iter().any(|n| CStr::from_ptr(*n) == name) {
                names.push(name.as_ptr());
            }
        };
        if wanted.extension {
            extension(ash::khr::timeline_semaphore::NAME);
        }
        if let Some(f) = chain.find::<vk::PhysicalDeviceVulkan12Features>().map_err(unknown)? {
            f.timeline_semaphore = vk::TRUE;
            f.host_query_reset |= vk::Bool32::from(wanted.queries.is_some());
        } else {
            enable(&mut chain, &mut features.timeline, |f| f.timeline_semaphore = vk::TRUE)
                .map_err(unknown)?;
            if wanted.queries.is_some() {
                enable(&mut chain, &mut features.reset, |f| f.host_query_reset = vk::TRUE)
                    .map_err(unknown)?;
            }
        }
        if let Some(can) = wanted.queries {
            extension(ash::khr::performance_query::NAME);
            if wanted.extension {
                extension(ash::ext::host_query_reset::NAME);
            }
            let set = |f: &mut vk::PhysicalDevicePerformanceQueryFeaturesKHR| {
                f.performance_counter_query_pools = vk::TRUE;
                f.performance_counter_multiple_query_pools = can.multiple_pools.into();
            };
            enable(&mut chain, &mut features.queries, set).map_err(unknown)?;
        }
        info.p_next = chain.head();
        info.enabled_extension_count = names.len() as u32;
        info.pp_enabled_extension_names = names.as_ptr();
        Ok(Patched { info, queries: wanted.queries, _chain: chain, _features: features, _names: names })
    }
}

impl Source {
    /// As the settings say, with the counters' names. `queries`: what of them was enabled.
    unsafe fn open(
        instance: &Instance,
        (physical, device): (vk::PhysicalDevice, vk::Device),
        table: &Table,
        families: u32,
        queries: Option<PerformanceQuery>,
    ) -> Result<(Source, Vec<String>), String> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            use settings::Source as S;
            let s = &instance.settings;
            if s.mode == Mode::Time {
                return Ok((Source::None, vec![]));
            }
            let channel = |c: Counters| (c.names().to_vec(), Source::Channel(Mutex::new(c)));
            let by_query = || {
                let can = queries.ok_or("the driver has no VK_KHR_performance_query with hostQueryReset")?;
                Queries::open(instance, (physical, device), table, can, families, &s.counters)
                    .map(|q| (q.names().to_vec(), Source::Queries(q)))
            };
            let by_channel = || Counters::open(device, &s.counters).map(channel);
            let (names, source) = match s.source {
                S::Channel => by_channel()?,
                S::Query => by_query()?,
                S::Any => by_channel().or_else(|none| by_query().map_err(|e| format!("{none}, {e}")))?,
            };
            Ok((source, names))
        }
    }
}

impl Device {
    /// Takes up a device that was created, or says why it is left alone. `measured`: what of performance queries was
    /// enabled, or why nothing can be measured.
    unsafe fn enter(
        instance: &Arc<Instance>,
        physical: vk::PhysicalDevice,
        info: &vk::DeviceCreateInfo<'_>,
        handle: vk::Device,
        get: vk::PFN_vkGetDeviceProcAddr,
        set_loader_data: Option<SetDeviceLoaderData>,
        measured: Result<Option<PerformanceQuery>, String>,
    ) {
        // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
        unsafe {
            static COUNT: AtomicU32 = AtomicU32::new(0);
            let number = COUNT.fetch_add(1, SeqCst);
            let properties = instance.properties(physical);
            let name = properties.device_name_as_c_str().unwrap_or(c"?").to_string_lossy().into_owned();
            let queries = match measured {
                Ok(_) if properties.limits.timestamp_period <= 0.0 => {
                    Err("the driver has no timestamps".into())
                }
                other => other,
            };
            let queries = match queries {
                Ok(queries) => queries,
                Err(why) => {
                    crate::say(&format!("{name} is not measured: {why}"));
                    instance::skip(handle, get);
                    return;
                }
            };
            let table = Table::load(|name| get(handle, name.as_ptr()));
            let families = instance.families(physical);
            let created = chain::slice(info.p_queue_create_infos, info.queue_create_info_count);
            let bits = |f: &u32| families.get(*f as usize).map_or(0, |f| f.timestamp_valid_bits);
            let bits =
                created.iter().map(|q| q.queue_family_index).map(|f| bits(&f)).filter(|b| *b > 0).min();
            let settings = instance.settings.clone();
            let (source, names) =
                Source::open(instance, (physical, handle), &table, families.len() as u32, queries)
                    .inspect_err(|why| crate::say(&format!("{name}: {why}; time alone is measured")))
                    .unwrap_or((Source::None, vec![]));
            let mut d = Device {
                handle,
                number,
                name: name.clone(),
                table,
                get,
                output: crate::output::open(&settings, &names),
                settings,
                names: Names::default(),
                stamps: Pools::of_timestamps(),
                aside: Arena::default(),
                frames: Frames::default(),
                line: None,
                source,
                held: Once::new(),
                buffers: RwLock::default(),
                command_pools: RwLock::default(),
                passes: RwLock::default(),
                queues: RwLock::default(),
                families_used: created
                    .iter()
                    .map(|q| (q.queue_family_index, q.flags, q.queue_count))
                    .collect(),
                families,
                memory: instance.memory(physical),
                period: f64::from(properties.limits.timestamp_period),
                mask: bits.map_or(u64::MAX, |b| u64::MAX >> (64 - b.min(64))),
                set_loader_data,
                orders: AtomicU64::new(0),
                lost: AtomicBool::new(false),
            };
            if d.settings.serialise {
                match d.timeline() {
                    Ok(s) => d.line = Some(Mutex::new(Line::new(s))),
                    Err(e) => crate::say(&format!("{name} is not serialised: vkCreateSemaphore: {e:?}")),
                }
            }
            DEVICES.write().insert(key(handle), Arc::new(d));
        }
    }

    /// Query pools for a use, in command buffers of a queue family.
    pub fn pools(&self, what: Use, family: u32) -> &Pools {
        match (&self.source, what) {
            (Source::Queries(q), Use::Counts { .. }) => q.pools(family).unwrap_or(&self.stamps),
            _ => &self.stamps,
        }
    }

    /// A command buffer is recorded again, or gone: it is reset, and what the host reads of its queries is read before.
    pub unsafe fn reset(&self, r: &Mutex<Recording>) {
        // SAFETY: the caller's.
        unsafe {
            let done = r.lock().done().filter(|_| matches!(self.source, Source::Queries(_)));
            if let Some(done) = done {
                let queues: Vec<_> = self.queues.read().values().cloned().collect();
                queues.iter().for_each(|q| q.lock().settle(self, &done));
            }
            r.lock().reset(self);
        }
    }

    /// A timeline semaphore at 0.
    pub unsafe fn timeline(&self) -> Result<vk::Semaphore, R> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let mut ty = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
            let info = vk::SemaphoreCreateInfo::default().push_next(&mut ty);
            let mut s = vk::Semaphore::null();
            let missing = R::ERROR_INITIALIZATION_FAILED;
            next!(self, create_semaphore(self.handle, &info, std::ptr::null(), &mut s), else missing)
                .result()?;
            Ok(s)
        }
    }

    /// Memory that the host reads without flushes, cached where there is such.
    pub fn host_memory(&self, bits: u32) -> Option<u32> {
        use vk::MemoryPropertyFlags as F;
        let least = F::HOST_VISIBLE | F::HOST_COHERENT;
        let of = |flags: F| {
            let types = self.memory.memory_types_as_slice();
            let fits = |i: &u32| bits >> i & 1 != 0 && types[*i as usize].property_flags.contains(flags);
            (0..types.len() as u32).find(fits)
        };
        of(least | F::HOST_CACHED).or_else(|| of(least))
    }

    /// Makes a command buffer of the layer's own one that the layers below know.
    pub unsafe fn adopt(&self, c: vk::CommandBuffer) {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let object = c.as_raw() as *mut std::ffi::c_void;
            match self.set_loader_data {
                Some(f) => drop(f(self.handle, object)),
                None => object.cast::<usize>().write(key(self.handle)),
            }
        }
    }

    pub fn next_order(&self) -> u64 {
        self.orders.fetch_add(1, SeqCst)
    }

    pub fn recording(&self, c: vk::CommandBuffer) -> Option<Arc<Mutex<Recording>>> {
        self.buffers.read().get(&c).cloned()
    }

    pub fn recorded(&self, c: vk::CommandBuffer) -> Option<Arc<Recorded>> {
        self.recording(c)?.lock().done()
    }

    pub fn queue(&self, queue: vk::Queue) -> Option<Arc<Mutex<Queue>>> {
        self.queues.read().get(&queue).cloned()
    }

    /// The program has got a queue.
    pub fn found_queue(&self, queue: vk::Queue, family: u32, flags: vk::DeviceQueueCreateFlags, index: u32) {
        let before = self.families_used.iter().take_while(|q| (q.0, q.1) != (family, flags));
        let number = before.map(|q| q.2).sum::<u32>() + index;
        let mut queues = self.queues.write();
        queues.entry(queue).or_insert_with(|| Arc::new(Mutex::new(Queue::new(queue, number, family))));
    }

    /// Why workloads of a command pool have no time.
    pub fn unmeasured(&self, family: u32, flags: vk::CommandPoolCreateFlags) -> Option<&'static str> {
        use vk::QueueFlags as Q;
        let Some(f) = self.families.get(family as usize) else { return Some("no such queue family") };
        if f.timestamp_valid_bits == 0 {
            Some("the queue family has no timestamps")
        } else if !f.queue_flags.intersects(Q::GRAPHICS | Q::COMPUTE) {
            // vkCmdResetQueryPool and vkCmdCopyQueryPoolResults are for graphics and compute queues.
            Some("the queue family cannot reset queries")
        } else if flags.contains(vk::CommandPoolCreateFlags::PROTECTED) {
            Some("the results of protected command buffers cannot be copied")
        } else {
            None
        }
    }

    pub fn nanoseconds(&self, ticks: u64) -> f64 {
        ticks as f64 * self.period
    }

    /// Nanoseconds from one timestamp to another; the counter may have wrapped.
    pub fn ticks_between(&self, begin: u64, end: u64) -> f64 {
        self.nanoseconds(end.wrapping_sub(begin) & self.mask)
    }

    /// Reads what has ended on all queues. `idle`: all has.
    pub fn collect(&self, idle: bool) {
        let queues: Vec<_> = self.queues.read().values().cloned().collect();
        queues.iter().for_each(|q| q.lock().collect(self, idle));
    }

    /// Passes a result on; a lost device's queries are given back, and what it did not finish is listed.
    pub fn seen(&self, result: R) -> R {
        if result == R::ERROR_DEVICE_LOST && !self.lost.swap(true, SeqCst) {
            let queues: Vec<_> = self.queues.read().values().cloned().collect();
            queues.iter().for_each(|q| q.lock().lose(self));
            let buffers: Vec<_> = self.buffers.read().values().cloned().collect();
            buffers.iter().for_each(|b| b.lock().reset(self));
        }
        result
    }
}

pub(crate) unsafe extern "system" fn destroy_device(
    handle: vk::Device,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if handle == vk::Device::null() {
            return;
        }
        if let Some(get) = instance::skipped(handle) {
            // SAFETY: vkDestroyDevice has this type.
            if let Some(f) = get(handle, c"vkDestroyDevice".as_ptr())
                .map(|f| std::mem::transmute::<unsafe extern "system" fn(), vk::PFN_vkDestroyDevice>(f))
            {
                instance::unskip(handle);
                f(handle, allocator);
            }
            return;
        }
        let Some(d) = DEVICES.write().remove(&key(handle)) else { return };
        crate::guard::caught(|| {
            // The program has waited for its own work; this is for the copies after it.
            let result = next!(d, device_wait_idle(handle), else R::SUCCESS);
            match d.seen(result) {
                R::SUCCESS => d.collect(true),
                _ => {
                    let _ = d.seen(R::ERROR_DEVICE_LOST);
                }
            }
            for q in d.queues.read().values() {
                q.lock().destroy(&d);
            }
            let (mut pools, mut free) = d.stamps.counts();
            d.stamps.destroy(handle, &d.table);
            if let Source::Queries(q) = &d.source {
                let (all, unused) = q.counts();
                (pools, free) = (pools + all, free + unused);
                q.destroy(handle, &d.table);
            }
            d.aside.destroy(&d);
            if let Some(line) = &d.line {
                next!(d, destroy_semaphore(handle, line.lock().semaphore, std::ptr::null()));
            }
            d.output.close(d.number, &d.name, (pools, free));
        });
        next!(d, destroy_device(handle, allocator));
    }
}

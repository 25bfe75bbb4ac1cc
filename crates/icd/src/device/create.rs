//! Logical devices.

use crate::base::answer::{Answer, created, invalid};
use crate::base::debug;
use crate::base::given::{Call, Doomed, In, Out};
use crate::base::object::{self, Object};
use crate::device::addresses::Binding;
use crate::device::quarantine::Quarantine;
use crate::device::queue::Queue;
use crate::instance::Shared;
use crate::instance::extensions;
use crate::instance::features;
use crate::instance::physical_device::{self, FAMILIES, PhysicalDevice};
use machine::hazards::Resource;
use machine::sync::Hub;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use texel::image::Image;
use texel::memory::AddressSpace;

/// What the device's children hold of it; it ends with the last of them.
pub struct Inner {
    pub(crate) instance: Arc<Shared>,
    pub(crate) extensions: extensions::Set,
    #[allow(dead_code)] // graphics will ask
    pub(crate) features: features::Enabled,
    pub gpu: gpu::device::Device,
    pub(crate) quarantine: Quarantine,
    /// There are protected resources: submissions are looked at.
    pub(crate) protects: AtomicBool,
}

impl Inner {
    /// A protected resource is about to be made by a call.
    ///
    /// # Errors
    /// If it is sparse, or the feature is not enabled.
    pub(crate) fn protect(&self, call: &str, sparse: bool) -> Answer {
        if sparse || !self.features.has("protectedMemory") {
            let why = if sparse {
                "sparse resources cannot be"
            } else {
                "the feature protectedMemory is not enabled"
            };
            return Err(invalid(&format!("{call}: a protected resource, but {why}")));
        }
        self.protects.store(true, Relaxed);
        Ok(())
    }

    /// Lets go of what descriptors kept, once no work can look at it any more.
    pub(crate) fn retire<T: Send + 'static>(&self, replaced: Vec<T>) {
        if !replaced.is_empty() {
            self.quarantine.keep(Box::new(replaced), &self.gpu);
        }
    }
}

pub struct Device {
    pub(crate) inner: Arc<Inner>,
    queues: Vec<QueueSlot>,
}

struct QueueSlot {
    family: u32,
    flags: vk::DeviceQueueCreateFlags,
    index: u32,
    handle: vk::Queue,
}

impl debug::Speaks for Device {
    fn sink(&self) -> &debug::Sink {
        &self.instance.debug
    }
}

impl Object for Device {
    type Handle = vk::Device;
}

// SAFETY: calls get references to it, and only they do; a thread holds parts of it.
unsafe impl<'a> Call<'a> for &'a Device {}

impl Deref for Device {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl Inner {
    /// Modelled time.
    pub fn clock(&self) -> &machine::time::Clock {
        &self.gpu.shared.clock
    }
    /// A resource has been bound to memory, or is no more: sanitised devices name it.
    pub fn resource(
        &self,
        kind: &'static str,
        handle: u64,
        bytes: Range<u64>,
        image: Option<&Arc<Image>>,
        binding: Binding,
    ) {
        if let Some(h) = &self.gpu.shared.hazards {
            let image = image.map(Arc::downgrade);
            match binding {
                Binding::BIND => h.bound(Resource { kind, handle, bytes, image }),
                _ => h.released(bytes.start, handle),
            }
        }
    }
    /// The host has waited for what has these marks, of a sanitised device.
    pub fn saw(&self, marks: impl FnOnce() -> Vec<u64>) {
        if self.gpu.shared.hazards.is_some() {
            marks().into_iter().for_each(|m| gpu::hazards::host::saw(&self.gpu.shared, m));
        }
    }
    /// What descriptors in buffers name.
    pub fn names(&self) -> &machine::descriptor_memory::Names {
        &self.gpu.shared.names
    }
    /// The addresses of its memory.
    pub fn space(&self) -> &Arc<AddressSpace> {
        &self.gpu.shared.memory
    }
    pub fn hub(&self) -> &Hub {
        self.gpu.hub()
    }
    /// In which order queues work.
    pub fn turns(&self) -> &machine::turns::Turns {
        &self.gpu.shared.turns
    }

    /// `ERROR_DEVICE_LOST` once the device is.
    pub fn alive(&self) -> vk::Result {
        if self.hub().is_lost() { vk::Result::ERROR_DEVICE_LOST } else { vk::Result::SUCCESS }
    }

    /// The answer of a wait that ended (`done`) or timed out; a lost device ends waits too.
    pub fn waited(&self, done: bool, ready: impl Fn() -> bool) -> vk::Result {
        if self.hub().is_lost() && !ready() {
            vk::Result::ERROR_DEVICE_LOST
        } else if done {
            vk::Result::SUCCESS
        } else {
            vk::Result::TIMEOUT
        }
    }
}

pub(crate) fn create_device(
    physical: &PhysicalDevice,
    info: In<vk::DeviceCreateInfo>,
    out: Out<vk::Device>,
) -> vk::Result {
    let made = new(physical, info);
    let queues: Vec<vk::Queue> =
        made.as_ref().map_or(vec![], |d| d.queues.iter().map(|q| q.handle).collect());
    let result = created(out, made);
    if result != vk::Result::SUCCESS {
        for q in queues {
            // SAFETY: the application does not have it yet.
            unsafe { object::destroy::<Queue>(q) };
        }
    }
    result
}

/// Modelled cores that each queue uses (VK_ARM_scheduling_controls); 0: all.
fn cores(physical: &PhysicalDevice, info: In<vk::DeviceCreateInfo>) -> Answer<Vec<u64>> {
    let all = info.find::<vk::DeviceQueueShaderCoreControlCreateInfoARM>();
    let mut cores = vec![];
    for q in info.queue_create_infos() {
        let own = q.find::<vk::DeviceQueueShaderCoreControlCreateInfoARM>();
        let asked = own.or(all).map(|c| u64::from(c.shader_core_count));
        let there = counters::model::current().cores;
        if let Some(n) = asked.filter(|n| *n == 0 || *n > there) {
            debug::error(
                physical,
                &format!("vkCreateDevice: shaderCoreCount is {n}; there are {there} cores"),
            );
            return Err(vk::Result::ERROR_INITIALIZATION_FAILED);
        }
        cores.extend((0..q.queue_count).map(|_| asked.unwrap_or(0)));
    }
    Ok(cores)
}

/// Features with which a device's counters can be seen. (Timestamps need none: queries are created for them.)
const OBSERVE: [&str; 3] =
    ["performanceCounterQueryPools", "performanceCountersByRegion", "shaderInstrumentation"];

fn new(physical: &PhysicalDevice, info: In<vk::DeviceCreateInfo>) -> Answer<Device> {
    let extensions = extensions::Set::read(info.enabled_extension_names(), false).map_err(|name| {
        debug::error(physical, &format!("vkCreateDevice: no device extension {}", name.to_string_lossy()));
        vk::Result::ERROR_EXTENSION_NOT_PRESENT
    })?;
    let features = crate::instance::features::enabled(info).map_err(|line| {
        debug::error(physical, &format!("vkCreateDevice: {line}"));
        vk::Result::ERROR_FEATURE_NOT_PRESENT
    })?;
    let asked = info.queue_create_infos();
    let mut left = FAMILIES.each_ref().map(|f| f.queues);
    for q in asked {
        let there = physical_device::family(q.queue_family_index).map_or(0, |f| f.queues);
        let count = left.get_mut(q.queue_family_index as usize);
        let taken = count.and_then(|left| {
            *left = left.checked_sub(q.queue_count)?;
            Some(())
        });
        if taken.is_none() {
            debug::error(
                physical,
                &format!(
                    "vkCreateDevice: {} queues of family {}; there are {there}",
                    q.queue_count, q.queue_family_index
                ),
            );
            return Err(vk::Result::ERROR_INITIALIZATION_FAILED);
        }
    }
    let cores = cores(physical, info)?;
    let instance = physical.instance.clone();
    let report = Arc::new(crate::instance::Reporter(instance));
    let presents = extensions.has(c"VK_KHR_swapchain");
    let s = settings::get();
    let told = [&s.counters, &s.capture, &s.instrument].iter().any(|path| path.is_some());
    let observed = told || OBSERVE.iter().any(|f| features.has(f));
    let gpu = gpu::device::Device::new(&cores, presents, observed, report)?;
    let (threads, level) = (gpu.shared.pool.threads(), gpu.shared.level);
    debug::say(physical, debug::Level::Info, &format!("a device of {threads} threads, kernels {level:?}"));
    let inner = Arc::new(Inner {
        instance: physical.instance.clone(),
        extensions,
        features,
        gpu,
        quarantine: Quarantine::default(),
        protects: AtomicBool::new(false),
    });
    let mut queues = Vec::new();
    for q in asked {
        for index in 0..q.queue_count {
            let protected = q.flags.contains(vk::DeviceQueueCreateFlags::PROTECTED);
            let handle = object::create(Queue { device: inner.clone(), index: queues.len(), protected });
            queues.push(QueueSlot { family: q.queue_family_index, flags: q.flags, index, handle });
        }
    }
    Ok(Device { inner, queues })
}

pub(crate) fn destroy_device(device: Doomed<Device>) {
    if let Some(d) = device.destroy() {
        d.gpu.end();
        crate::device::profiling_lock::release(d.gpu.number);
        crate::device::measured::write();
        for q in &d.queues {
            // SAFETY: a queue ends with its device, and so do its calls (valid usage).
            unsafe { object::destroy::<Queue>(q.handle) };
        }
        gpu::ledger::write();
        gpu::findings::write();
        gpu::debugged::write();
    }
    crate::base::alloc::give_back();
}

pub(crate) fn get_device_queue2(device: &Device, info: In<vk::DeviceQueueInfo2>, out: Out<vk::Queue>) {
    let i = info;
    let found = device
        .queues
        .iter()
        .find(|q| q.family == i.queue_family_index && q.index == i.queue_index && q.flags == i.flags);
    out.set(found.map_or(vk::Queue::null(), |q| q.handle));
}

pub(crate) fn device_wait_idle(device: &Device) -> vk::Result {
    device.gpu.wait_idle();
    device.quarantine.empty_if_idle(&device.gpu);
    device.alive()
}

pub(crate) fn get_device_group_peer_memory_features(
    _: &Device,
    _heap: u32,
    _local: u32,
    _remote: u32,
    out: Out<vk::PeerMemoryFeatureFlags>,
) {
    // A group of one has no peers: its own memory is all there is.
    out.set(
        vk::PeerMemoryFeatureFlags::COPY_SRC
            | vk::PeerMemoryFeatureFlags::COPY_DST
            | vk::PeerMemoryFeatureFlags::GENERIC_SRC
            | vk::PeerMemoryFeatureFlags::GENERIC_DST,
    );
}

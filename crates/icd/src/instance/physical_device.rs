//! The one physical device: features, properties, queues, memory, external handles, tools.

use crate::base::debug;
use crate::base::given::{Call, Fill, In, List};
use crate::base::object::Object;
use crate::instance::Shared;
use crate::instance::extensions;
use crate::instance::features;
use crate::instance::generated::structs::HEADER_VERSION;
use crate::instance::host_memory::{self, heap_size};
use crate::instance::properties;
use std::ffi::CStr;
use std::sync::Arc;
use vk::ExternalMemoryFeatureFlags as X;
use vk::ExternalMemoryHandleTypeFlags as H;
use vk::MemoryPropertyFlags as M;

/// The version of Vulkan the device has.
pub(crate) const API_VERSION: u32 = vk::make_api_version(0, 1, 4, HEADER_VERSION);

pub(crate) use texel::memory::sparse::THERE as SPARSE;

/// A family of queues. All feed the same three queues of the modelled GPU (docs/model.md), all count and tell the time.
pub(crate) struct Family {
    pub(crate) flags: vk::QueueFlags,
    pub(crate) queues: u32,
}

impl Family {
    pub(crate) fn draws(&self) -> bool {
        self.flags.contains(vk::QueueFlags::GRAPHICS)
    }
}

/// What the first family can do, and so what any can.
pub(crate) const QUEUE_FLAGS: vk::QueueFlags = vk::QueueFlags::from_raw(
    vk::QueueFlags::GRAPHICS.as_raw()
        | vk::QueueFlags::COMPUTE.as_raw()
        | vk::QueueFlags::TRANSFER.as_raw()
        | vk::QUEUE_DATA_GRAPH_BIT_ARM.as_raw()
        | if SPARSE { vk::QueueFlags::SPARSE_BINDING.as_raw() } else { 0 },
);

/// The same of a family, whose queues may execute protected submissions as well.
const PROTECTED_FLAGS: u32 = QUEUE_FLAGS.as_raw() | vk::QueueFlags::PROTECTED.as_raw();

/// Programs that take the first family get the one that can do everything.
pub(crate) const FAMILIES: [Family; 2] = [
    Family { flags: vk::QueueFlags::from_raw(PROTECTED_FLAGS), queues: 2 },
    Family {
        flags: vk::QueueFlags::from_raw(PROTECTED_FLAGS & !vk::QueueFlags::GRAPHICS.as_raw()),
        queues: 1,
    },
];

pub(crate) fn family(index: u32) -> Option<&'static Family> {
    FAMILIES.get(index as usize)
}

/// The host's memory, cached and coherent.
const HOSTS: M = M::from_raw(
    M::DEVICE_LOCAL.as_raw() | M::HOST_VISIBLE.as_raw() | M::HOST_COHERENT.as_raw() | M::HOST_CACHED.as_raw(),
);

/// Memory types, all of heap 0: the host's memory; lazily allocated memory, which holds attachments that live in tile memory; host's
/// memory that can be in several places, for sparse resources ([`texel::memory::sparse`]), whose pages the system gives more slowly; and
/// protected memory.
pub(crate) const MEMORY_TYPES: [M; 4] = [
    HOSTS,
    M::from_raw(M::DEVICE_LOCAL.as_raw() | M::LAZILY_ALLOCATED.as_raw()),
    HOSTS,
    M::from_raw(M::DEVICE_LOCAL.as_raw() | M::PROTECTED.as_raw()),
];
pub(crate) const SPARSE_TYPE: u32 = 2;
pub(crate) const PROTECTED_TYPE: u32 = 3;
/// `memoryTypeBits` of host pointers.
pub(crate) const HOST_TYPE_BITS: u32 = 0b001;
/// `memoryTypeBits` of buffers and of images that are not transient attachments.
pub(crate) const PLAIN_TYPE_BITS: u32 = 0b101;
/// `memoryTypeBits` of transient attachments.
pub(crate) const TRANSIENT_TYPE_BITS: u32 = 0b111;
/// `memoryTypeBits` of sparse resources.
pub(crate) const SPARSE_TYPE_BITS: u32 = 1 << SPARSE_TYPE;
/// `memoryTypeBits` of protected resources.
pub(crate) const PROTECTED_TYPE_BITS: u32 = 1 << PROTECTED_TYPE;

pub struct PhysicalDevice {
    pub(crate) instance: Arc<Shared>,
}

impl Object for PhysicalDevice {
    type Handle = vk::PhysicalDevice;
}

// SAFETY: calls get references to it, and only they do; a thread holds parts of it.
unsafe impl<'a> Call<'a> for &'a PhysicalDevice {}

impl debug::Speaks for PhysicalDevice {
    fn sink(&self) -> &debug::Sink {
        &self.instance.debug
    }
}

impl PhysicalDevice {
    pub(crate) fn new(instance: Arc<Shared>) -> Self {
        PhysicalDevice { instance }
    }
}

/// Bytes of device memory that this process has allocated.
pub(crate) static HEAP_USED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

pub(crate) fn get_physical_device_features2(
    _physical_device: &PhysicalDevice,
    mut p_features: Fill<vk::PhysicalDeviceFeatures2>,
) {
    features::fill(&mut p_features);
}

pub(crate) fn get_physical_device_properties2(
    _physical_device: &PhysicalDevice,
    mut p_properties: Fill<vk::PhysicalDeviceProperties2>,
) {
    properties::fill(&mut p_properties);
}

pub(crate) fn enumerate_device_extension_properties(
    physical_device: &PhysicalDevice,
    p_layer_name: Option<&CStr>,
    p_properties: List<vk::ExtensionProperties>,
) -> vk::Result {
    if p_layer_name.is_some() {
        return vk::Result::ERROR_LAYER_NOT_PRESENT;
    }
    extensions::enumerate(false, physical_device.instance.client, p_properties)
}

pub(crate) fn enumerate_device_layer_properties(
    _physical_device: &PhysicalDevice,
    p_properties: List<vk::LayerProperties>,
) -> vk::Result {
    p_properties.fill(&[])
}

pub(crate) fn get_physical_device_queue_family_properties2(
    _physical_device: &PhysicalDevice,
    p_properties: List<vk::QueueFamilyProperties2>,
) {
    let _ = p_properties.fill_with(FAMILIES.len(), |mut family, i| {
        family.queue_family_properties = vk::QueueFamilyProperties {
            queue_flags: FAMILIES[i].flags,
            queue_count: FAMILIES[i].queues,
            timestamp_valid_bits: 64,
            min_image_transfer_granularity: vk::Extent3D { width: 1, height: 1, depth: 1 },
        };
        if let Some(mut p) = family.find::<vk::QueueFamilyOptimalImageTransferGranularityPropertiesKHR>() {
            p.optimal_image_transfer_granularity = vk::Extent3D { width: 1, height: 1, depth: 1 };
        }
        if let Some(mut p) = family.find::<vk::QueueFamilyOwnershipTransferPropertiesKHR>() {
            // Images look the same to all.
            p.optimal_image_transfer_to_queue_families = (1 << FAMILIES.len()) - 1;
        }
        if let Some(mut p) = family.find::<vk::QueueFamilyGlobalPriorityPropertiesKHR>() {
            // Any may be asked for; they are hints, and all queues here share the same threads.
            let all = [
                vk::QueueGlobalPriorityKHR::LOW,
                vk::QueueGlobalPriorityKHR::MEDIUM,
                vk::QueueGlobalPriorityKHR::HIGH,
                vk::QueueGlobalPriorityKHR::REALTIME,
            ];
            p.priority_count = all.len() as u32;
            p.priorities = Default::default();
            p.priorities[..all.len()].copy_from_slice(&all);
        }
    });
}

pub(crate) fn get_physical_device_memory_properties2(
    _physical_device: &PhysicalDevice,
    p_memory_properties: Fill<vk::PhysicalDeviceMemoryProperties2>,
) {
    let mut out = p_memory_properties;
    let mut p = vk::PhysicalDeviceMemoryProperties {
        memory_type_count: MEMORY_TYPES.len() as u32,
        memory_heap_count: 1,
        ..Default::default()
    };
    for (t, &property_flags) in p.memory_types.iter_mut().zip(&MEMORY_TYPES) {
        *t = vk::MemoryType { property_flags, heap_index: 0 };
    }
    p.memory_heaps[0] = vk::MemoryHeap { size: heap_size(), flags: vk::MemoryHeapFlags::DEVICE_LOCAL };
    out.memory_properties = p;
    if let Some(mut budget) = out.find::<vk::PhysicalDeviceMemoryBudgetPropertiesEXT>() {
        let used = HEAP_USED.load(std::sync::atomic::Ordering::Relaxed);
        let free = host_memory::available();
        budget.heap_budget = [0; vk::MAX_MEMORY_HEAPS];
        budget.heap_usage = [0; vk::MAX_MEMORY_HEAPS];
        budget.heap_budget[0] = free.saturating_add(used).clamp(1, heap_size());
        budget.heap_usage[0] = used;
    }
}

/// What can be done with memory shared by one kind of handle.
pub(crate) fn external_memory(handle: H) -> vk::ExternalMemoryProperties {
    let (features, together) = match handle {
        H::OPAQUE_FD if cfg!(unix) => (X::EXPORTABLE | X::IMPORTABLE, H::OPAQUE_FD),
        H::OPAQUE_WIN32 if cfg!(windows) => (X::EXPORTABLE | X::IMPORTABLE, H::OPAQUE_WIN32),
        H::DMA_BUF_EXT if texel::dma_buf::available() => (X::EXPORTABLE | X::IMPORTABLE, H::DMA_BUF_EXT),
        H::HOST_ALLOCATION_EXT => (X::IMPORTABLE, H::HOST_ALLOCATION_EXT),
        _ => (X::empty(), H::empty()),
    };
    vk::ExternalMemoryProperties {
        external_memory_features: features,
        export_from_imported_handle_types: if features.contains(X::EXPORTABLE) {
            together
        } else {
            H::empty()
        },
        compatible_handle_types: together,
    }
}

pub(crate) fn get_physical_device_external_buffer_properties(
    _physical_device: &PhysicalDevice,
    p_info: In<vk::PhysicalDeviceExternalBufferInfo>,
    mut p_properties: Fill<vk::ExternalBufferProperties>,
) {
    // Protected memory is shared with nobody.
    let protected = p_info.flags.contains(vk::BufferCreateFlags::PROTECTED);
    let handle = if protected { H::empty() } else { p_info.handle_type };
    p_properties.external_memory_properties = external_memory(handle);
}

pub(crate) fn get_physical_device_external_fence_properties(
    _physical_device: &PhysicalDevice,
    p_info: In<vk::PhysicalDeviceExternalFenceInfo>,
    p_properties: Fill<vk::ExternalFenceProperties>,
) {
    let mut out = p_properties;
    let can = super::external::fence(p_info.handle_type);
    out.export_from_imported_handle_types = can;
    out.compatible_handle_types = can;
    out.external_fence_features = match can.is_empty() {
        true => Default::default(),
        false => vk::ExternalFenceFeatureFlags::EXPORTABLE | vk::ExternalFenceFeatureFlags::IMPORTABLE,
    };
}

pub(crate) fn get_physical_device_external_semaphore_properties(
    _physical_device: &PhysicalDevice,
    p_info: In<vk::PhysicalDeviceExternalSemaphoreInfo>,
    p_properties: Fill<vk::ExternalSemaphoreProperties>,
) {
    let mut out = p_properties;
    let timeline = p_info
        .find::<vk::SemaphoreTypeCreateInfo>()
        .is_some_and(|t| t.semaphore_type == vk::SemaphoreType::TIMELINE);
    let can = super::external::semaphore(p_info.handle_type, timeline);
    out.export_from_imported_handle_types = can;
    out.compatible_handle_types = can;
    use vk::ExternalSemaphoreFeatureFlags as Features;
    out.external_semaphore_features =
        if can.is_empty() { Features::empty() } else { Features::EXPORTABLE | Features::IMPORTABLE };
}

pub(crate) fn get_physical_device_tool_properties(
    _physical_device: &PhysicalDevice,
    p_tools: List<vk::PhysicalDeviceToolProperties>,
) -> vk::Result {
    p_tools.fill_with(0, |_, _| ())
}

pub(crate) fn get_physical_device_calibrateable_time_domains_khr(
    _physical_device: &PhysicalDevice,
    p_domains: List<vk::TimeDomainKHR>,
) -> vk::Result {
    p_domains.fill(&super::clock::DOMAINS)
}

/// `major * 100 + minor` of a packed version, at most the device's own.
pub(crate) fn core_of(api_version: u32) -> u32 {
    let v = api_version.clamp(vk::API_VERSION_1_0, API_VERSION);
    vk::api_version_major(v) * 100 + vk::api_version_minor(v)
}

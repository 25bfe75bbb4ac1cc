//! An instance of the program's: the settings, and what the next layer says of physical devices.

use crate::interface::{self, InstanceLink};
use crate::settings::{Mode, Settings};
use crate::{chain, device};
use ash::vk;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Arc, LazyLock};
use vk::{Handle, Result as R};

pub(crate) struct Instance {
    pub handle: vk::Instance,
    pub get: vk::PFN_vkGetInstanceProcAddr,
    pub settings: Arc<Settings>,
    /// What the program says that it uses; 1.1 at least.
    pub api_version: u32,
    destroy: Option<vk::PFN_vkDestroyInstance>,
    get_properties: Option<vk::PFN_vkGetPhysicalDeviceProperties>,
    get_families: Option<vk::PFN_vkGetPhysicalDeviceQueueFamilyProperties>,
    get_memory: Option<vk::PFN_vkGetPhysicalDeviceMemoryProperties>,
    get_features: Option<vk::PFN_vkGetPhysicalDeviceFeatures2>,
    get_extensions: Option<vk::PFN_vkEnumerateDeviceExtensionProperties>,
    get_properties2: Option<vk::PFN_vkGetPhysicalDeviceProperties2>,
    get_counters: Option<vk::PFN_vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR>,
    get_passes: Option<vk::PFN_vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR>,
}

/// What a driver's VK_KHR_performance_query can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PerformanceQuery {
    /// A command buffer may use several pools.
    pub multiple_pools: bool,
    /// Results can be copied in command buffers.
    pub copies: bool,
}

/// A counter of VK_KHR_performance_query.
pub(crate) struct Described {
    pub counter: vk::PerformanceCounterKHR<'static>,
    pub text: vk::PerformanceCounterDescriptionKHR<'static>,
}

static INSTANCES: LazyLock<RwLock<HashMap<usize, Arc<Instance>>>> = LazyLock::new(RwLock::default);
/// Devices that are not measured: the next layer's functions.
static SKIPPED: LazyLock<RwLock<HashMap<usize, vk::PFN_vkGetDeviceProcAddr>>> =
    LazyLock::new(RwLock::default);

/// The instance of an instance or a physical device.
pub(crate) fn of<H: Handle>(handle: H) -> Option<Arc<Instance>> {
    INSTANCES.read().get(&device::key(handle)).cloned()
}

/// A device is left alone.
pub(crate) fn skip(handle: vk::Device, get: vk::PFN_vkGetDeviceProcAddr) {
    SKIPPED.write().insert(device::key(handle), get);
}

pub(crate) fn skipped(handle: vk::Device) -> Option<vk::PFN_vkGetDeviceProcAddr> {
    SKIPPED.read().get(&device::key(handle)).copied()
}

pub(crate) fn unskip(handle: vk::Device) {
    SKIPPED.write().remove(&device::key(handle));
}

macro_rules! load {
    ($get:expr, $handle:expr, $pfn:ident, $($name:literal)|+) => {
        None$(.or_else(|| $get($handle, $name.as_ptr())))+
            .map(|f| std::mem::transmute::<unsafe extern "system" fn(), vk::$pfn>(f))
    };
}

pub(crate) unsafe extern "system" fn create_instance(
    info: *const vk::InstanceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    instance: *mut vk::Instance,
) -> R {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let s_type = vk::StructureType::LOADER_INSTANCE_CREATE_INFO;
        let failed = R::ERROR_INITIALIZATION_FAILED;
        let Some(link) = interface::find::<InstanceLink>((*info).p_next, s_type, interface::LINK) else {
            return failed;
        };
        let get = (*link.link).get_instance_proc_addr;
        link.link = (*link.link).next;
        let Some(create) = load!(get, vk::Instance::null(), PFN_vkCreateInstance, c"vkCreateInstance") else {
            return failed;
        };
        let settings = crate::guard::caught(|| Settings::read((*info).p_next)).unwrap_or_default();
        let mut patched = *info;
        let mut names =
            chain::slice(patched.pp_enabled_extension_names, patched.enabled_extension_count).to_vec();
        let labels = ash::ext::debug_utils::NAME;
        // The tags of counter mode are labels.
        if settings.mode == Mode::Counters && !names.iter().any(|n| CStr::from_ptr(*n) == labels) {
            names.push(labels.as_ptr());
            patched.enabled_extension_count = names.len() as u32;
            patched.pp_enabled_extension_names = names.as_ptr();
        }
        // Timeline semaphores need Vulkan 1.1. A program of 1.0 is told to the driver as one of 1.1, which changes nothing of
        // what it may do.
        let mut application = (*info).p_application_info.as_ref().map_or_else(Default::default, |a| *a);
        application.api_version = application.api_version.max(vk::API_VERSION_1_1);
        patched.p_application_info = &application;
        let result = create(&patched, allocator, instance);
        if result != R::SUCCESS {
            return result;
        }
        let handle = *instance;
        let i = Instance {
            handle,
            get,
            settings: Arc::new(settings),
            api_version: application.api_version,
            destroy: load!(get, handle, PFN_vkDestroyInstance, c"vkDestroyInstance"),
            get_properties: load!(
                get,
                handle,
                PFN_vkGetPhysicalDeviceProperties,
                c"vkGetPhysicalDeviceProperties"
            ),
            get_families: load!(
                get,
                handle,
                PFN_vkGetPhysicalDeviceQueueFamilyProperties,
                c"vkGetPhysicalDeviceQueueFamilyProperties"
            ),
            get_memory: load!(
                get,
                handle,
                PFN_vkGetPhysicalDeviceMemoryProperties,
                c"vkGetPhysicalDeviceMemoryProperties"
            ),
            get_features: load!(
                get,
                handle,
                PFN_vkGetPhysicalDeviceFeatures2,
                c"vkGetPhysicalDeviceFeatures2" | c"vkGetPhysicalDeviceFeatures2KHR"
            ),
            get_extensions: load!(
                get,
                handle,
                PFN_vkEnumerateDeviceExtensionProperties,
                c"vkEnumerateDeviceExtensionProperties"
            ),
            get_properties2: load!(
                get,
                handle,
                PFN_vkGetPhysicalDeviceProperties2,
                c"vkGetPhysicalDeviceProperties2" | c"vkGetPhysicalDeviceProperties2KHR"
            ),
            get_counters: load!(
                get,
                handle,
                PFN_vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR,
                c"vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR"
            ),
            get_passes: load!(
                get,
                handle,
                PFN_vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR,
                c"vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR"
            ),
        };
        INSTANCES.write().insert(device::key(handle), Arc::new(i));
        R::SUCCESS
    }
}

pub(crate) unsafe extern "system" fn destroy_instance(
    handle: vk::Instance,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if handle == vk::Instance::null() {
            return;
        }
        let instance = INSTANCES.write().remove(&device::key(handle));
        if let Some(destroy) = instance.and_then(|i| i.destroy) {
            destroy(handle, allocator);
        }
    }
}

impl Instance {
    pub unsafe fn properties(&self, physical: vk::PhysicalDevice) -> vk::PhysicalDeviceProperties {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let mut p = vk::PhysicalDeviceProperties::default();
            if let Some(f) = self.get_properties {
                f(physical, &mut p);
            }
            p
        }
    }

    pub unsafe fn families(&self, physical: vk::PhysicalDevice) -> Vec<vk::QueueFamilyProperties> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let Some(f) = self.get_families else { return vec![] };
            let mut count = 0;
            f(physical, &mut count, std::ptr::null_mut());
            let mut all = vec![vk::QueueFamilyProperties::default(); count as usize];
            f(physical, &mut count, all.as_mut_ptr());
            all
        }
    }

    pub unsafe fn memory(&self, physical: vk::PhysicalDevice) -> vk::PhysicalDeviceMemoryProperties {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let mut m = vk::PhysicalDeviceMemoryProperties::default();
            if let Some(f) = self.get_memory {
                f(physical, &mut m);
            }
            m
        }
    }

    pub unsafe fn has_extension(&self, physical: vk::PhysicalDevice, name: &CStr) -> bool {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let Some(f) = self.get_extensions else { return false };
            let mut count = 0;
            if f(physical, std::ptr::null(), &mut count, std::ptr::null_mut()) != R::SUCCESS {
                return false;
            }
            let mut all = vec![vk::ExtensionProperties::default(); count as usize];
            let result = f(physical, std::ptr::null(), &mut count, all.as_mut_ptr());
            matches!(result, R::SUCCESS | R::INCOMPLETE)
                && all.iter().any(|e| e.extension_name_as_c_str().is_ok_and(|n| n == name))
        }
    }

    pub unsafe fn has_timeline_feature(&self, physical: vk::PhysicalDevice) -> bool {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let Some(f) = self.get_features else { return false };
            let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
            f(physical, &mut vk::PhysicalDeviceFeatures2::default().push_next(&mut timeline));
            timeline.timeline_semaphore == vk::TRUE
        }
    }

    /// Features and the property of VK_KHR_performance_query, where the driver has it, and what resets queries.
    pub unsafe fn performance_query(&self, physical: vk::PhysicalDevice) -> Option<PerformanceQuery> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            if !self.has_extension(physical, ash::khr::performance_query::NAME) {
                return None;
            }
            let (get_features, get_properties) = (self.get_features?, self.get_properties2?);
            let mut features = vk::PhysicalDevicePerformanceQueryFeaturesKHR::default();
            get_features(physical, &mut vk::PhysicalDeviceFeatures2::default().push_next(&mut features));
            let mut properties = vk::PhysicalDevicePerformanceQueryPropertiesKHR::default();
            get_properties(
                physical,
                &mut vk::PhysicalDeviceProperties2::default().push_next(&mut properties),
            );
            let mut reset = vk::PhysicalDeviceHostQueryResetFeatures::default();
            get_features(physical, &mut vk::PhysicalDeviceFeatures2::default().push_next(&mut reset));
            if features.performance_counter_query_pools == vk::FALSE || reset.host_query_reset == vk::FALSE {
                return None;
            }
            Some(PerformanceQuery {
                multiple_pools: features.performance_counter_multiple_query_pools == vk::TRUE,
                copies: properties.allow_command_buffer_query_copies == vk::TRUE,
            })
        }
    }

    /// Counters of a queue family, and what the driver says of them.
    pub unsafe fn counters(&self, physical: vk::PhysicalDevice, family: u32) -> Vec<Described> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let Some(f) = self.get_counters else { return vec![] };
            let none = std::ptr::null_mut();
            let mut count = 0;
            if f(physical, family, &mut count, none, std::ptr::null_mut()) != R::SUCCESS {
                return vec![];
            }
            let mut counters = vec![vk::PerformanceCounterKHR::default(); count as usize];
            let mut texts = vec![vk::PerformanceCounterDescriptionKHR::default(); count as usize];
            let result = f(physical, family, &mut count, counters.as_mut_ptr(), texts.as_mut_ptr());
            if !matches!(result, R::SUCCESS | R::INCOMPLETE) {
                return vec![];
            }
            let all = counters.into_iter().zip(texts).take(count as usize);
            all.map(|(counter, text)| Described { counter, text }).collect()
        }
    }

    /// How often work must be submitted for these counters.
    pub unsafe fn passes(&self, physical: vk::PhysicalDevice, family: u32, counters: &[u32]) -> u32 {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let info = vk::QueryPoolPerformanceCreateInfoKHR::default()
                .queue_family_index(family)
                .counter_indices(counters);
            let mut passes = u32::MAX;
            if let Some(f) = self.get_passes {
                f(physical, &info, &mut passes);
            }
            passes
        }
    }
}

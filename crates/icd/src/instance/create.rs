//! Instances.

use crate::base::chain;
use crate::base::debug;
use crate::base::debug::{Listener, Sink};
use crate::base::object::{self, Object};
use crate::instance::clients::Client;
use crate::instance::extensions::{self, Set};
use crate::instance::physical_device::{self, PhysicalDevice};
use std::ffi::{CStr, c_char};
use std::sync::Arc;

/// What an instance's devices need of it.
pub(crate) struct Shared {
    /// The version the application asked for (`VkApplicationInfo::apiVersion`), 1.0 if it did not.
    pub api_version: u32,
    pub extensions: Set,
    pub client: Client,
    /// Where messages go.
    pub debug: Arc<Sink>,
}

pub struct Instance {
    pub(crate) shared: Arc<Shared>,
    /// Its one physical device.
    pub(crate) physical_device: vk::PhysicalDevice,
    /// Who listens only while the instance is made and unmade.
    creation: Vec<Listener>,
}

impl debug::Speaks for Shared {
    fn sink(&self) -> &Sink {
        &self.debug
    }
}

impl debug::Speaks for Instance {
    fn sink(&self) -> &Sink {
        &self.shared.debug
    }
}

impl Object for Instance {
    type Handle = vk::Instance;
}

/// Checks what an application asks an instance to be.
unsafe fn check(info: &vk::InstanceCreateInfo<'_>) -> Result<Set, (vk::Result, String)> {
    // SAFETY: valid usage: the structure's pointers and its chain lead to what they are said to.
    unsafe {
        if info.enabled_layer_count != 0 {
            return Err((vk::Result::ERROR_LAYER_NOT_PRESENT, "the driver itself has no layers".into()));
        }
        Set::read(info.pp_enabled_extension_names, info.enabled_extension_count, true).map_err(|name| {
            let message = format!("no instance extension {}", name.to_string_lossy());
            (vk::Result::ERROR_EXTENSION_NOT_PRESENT, message)
        })
    }
}

pub(crate) unsafe fn create_instance(
    p_create_info: *const vk::InstanceCreateInfo<'_>,
    _p_allocator: *const vk::AllocationCallbacks<'_>,
    p_instance: *mut vk::Instance,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let info = &*p_create_info;
        crate::base::panics::install();
        let creation = super::messenger::listeners_of_chain(info.p_next);
        let sink = Arc::new(Sink::default());
        sink.set_creation(&creation);
        let extensions = match check(info) {
            Ok(set) => set,
            Err((result, message)) => {
                debug::say_to(&sink, debug::Level::Error, &format!("vkCreateInstance: {message}"));
                return result;
            }
        };
        debug::say_bad_settings(&sink);
        sink.set_creation(&[]);
        let application = info.p_application_info.as_ref();
        let asked = application.map_or(0, |a| a.api_version);
        let api_version = if asked == 0 { vk::API_VERSION_1_0 } else { asked };
        let engine =
            application.and_then(|a| (!a.p_engine_name.is_null()).then(|| CStr::from_ptr(a.p_engine_name)));
        let shared =
            Arc::new(Shared { api_version, extensions, client: Client::of(engine), debug: sink.clone() });
        debug::register(Arc::downgrade(&sink));
        let physical_device = object::create(PhysicalDevice::new(shared.clone()));
        *p_instance = object::create(Instance { shared, physical_device, creation });
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn destroy_instance(
    instance: vk::Instance,
    _p_allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if let Some(instance) = object::destroy::<Instance>(instance) {
            instance.shared.debug.set_creation(&instance.creation);
            object::destroy::<PhysicalDevice>(instance.physical_device);
        }
    }
}

pub(crate) unsafe fn enumerate_instance_version(p_api_version: *mut u32) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        *p_api_version = physical_device::API_VERSION;
        vk::Result::SUCCESS
    }
}

pub(crate) unsafe fn enumerate_instance_extension_properties(
    p_layer_name: *const c_char,
    p_property_count: *mut u32,
    p_properties: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if !p_layer_name.is_null() {
            return vk::Result::ERROR_LAYER_NOT_PRESENT;
        }
        extensions::enumerate(true, Client::Any, p_property_count, p_properties)
    }
}

pub(crate) unsafe fn enumerate_instance_layer_properties(
    p_property_count: *mut u32,
    p_properties: *mut vk::LayerProperties,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { chain::fill(&[], p_property_count, p_properties) }
}

pub(crate) unsafe fn enumerate_physical_devices(
    instance: &Instance,
    p_physical_device_count: *mut u32,
    p_physical_devices: *mut vk::PhysicalDevice,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe { chain::fill(&[instance.physical_device], p_physical_device_count, p_physical_devices) }
}

pub(crate) unsafe fn enumerate_physical_device_groups(
    instance: &Instance,
    p_count: *mut u32,
    p_properties: *mut vk::PhysicalDeviceGroupProperties<'_>,
) -> vk::Result {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        chain::fill_with(1, p_count, p_properties, |group, _| {
            group.physical_device_count = 1;
            group.physical_devices = [vk::PhysicalDevice::null(); vk::MAX_DEVICE_GROUP_SIZE];
            group.physical_devices[0] = instance.physical_device;
            group.subset_allocation = vk::FALSE;
        })
    }
}

/// Takes messages from below to an instance's listeners.
pub(crate) struct Reporter(pub Arc<Shared>);

impl machine::shared::Report for Reporter {
    fn error(&self, message: &str) {
        debug::error(&*self.0, message);
    }
    fn warn(&self, message: &str) {
        debug::say(&*self.0, debug::Level::Warn, message);
    }
    fn called(&self, handle: u64) -> String {
        debug::called(handle)
    }
}

//! Instances.

use crate::base::debug;
use crate::base::debug::{Listener, Sink};
use crate::base::given::{Call, Doomed, In, List, Out};
use crate::base::object::{self, Object};
use crate::instance::clients::Client;
use crate::instance::extensions::{self, Set};
use crate::instance::physical_device::{self, PhysicalDevice};
use std::ffi::CStr;
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

// SAFETY: calls get references to it, and only they do; a thread holds parts of it.
unsafe impl<'a> Call<'a> for &'a Instance {}

/// Checks what an application asks an instance to be.
fn check(info: In<vk::InstanceCreateInfo>) -> Result<Set, (vk::Result, String)> {
    if info.enabled_layer_count != 0 {
        return Err((vk::Result::ERROR_LAYER_NOT_PRESENT, "the driver itself has no layers".into()));
    }
    Set::read(info.enabled_extension_names(), true).map_err(|name| {
        let message = format!("no instance extension {}", name.to_string_lossy());
        (vk::Result::ERROR_EXTENSION_NOT_PRESENT, message)
    })
}

pub(crate) fn create_instance(
    p_create_info: In<vk::InstanceCreateInfo>,
    p_instance: Out<vk::Instance>,
) -> vk::Result {
    let info = p_create_info;
    crate::base::panics::install();
    let creation = super::messenger::listeners_of_chain(info);
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
    let application = info.application_info();
    let asked = application.map_or(0, |a| a.api_version);
    let api_version = if asked == 0 { vk::API_VERSION_1_0 } else { asked };
    let engine = application.and_then(|a| a.engine_name());
    let shared =
        Arc::new(Shared { api_version, extensions, client: Client::of(engine), debug: sink.clone() });
    debug::register(Arc::downgrade(&sink));
    let physical_device = object::create(PhysicalDevice::new(shared.clone()));
    p_instance.set(object::create(Instance { shared, physical_device, creation }));
    vk::Result::SUCCESS
}

pub(crate) fn destroy_instance(instance: Doomed<Instance>) {
    if let Some(instance) = instance.destroy() {
        instance.shared.debug.set_creation(&instance.creation);
        // SAFETY: it ends with its instance, and so do its calls (valid usage).
        unsafe { object::destroy::<PhysicalDevice>(instance.physical_device) };
    }
}

pub(crate) fn enumerate_instance_version(p_api_version: Out<u32>) -> vk::Result {
    p_api_version.set(physical_device::API_VERSION);
    vk::Result::SUCCESS
}

pub(crate) fn enumerate_instance_extension_properties(
    p_layer_name: Option<&CStr>,
    p_properties: List<vk::ExtensionProperties>,
) -> vk::Result {
    if p_layer_name.is_some() {
        return vk::Result::ERROR_LAYER_NOT_PRESENT;
    }
    extensions::enumerate(true, Client::Any, p_properties)
}

pub(crate) fn enumerate_instance_layer_properties(p_properties: List<vk::LayerProperties>) -> vk::Result {
    p_properties.fill(&[])
}

pub(crate) fn enumerate_physical_devices(
    instance: &Instance,
    p_physical_devices: List<vk::PhysicalDevice>,
) -> vk::Result {
    p_physical_devices.fill(&[instance.physical_device])
}

pub(crate) fn enumerate_physical_device_groups(
    instance: &Instance,
    p_properties: List<vk::PhysicalDeviceGroupProperties>,
) -> vk::Result {
    p_properties.fill_with(1, |mut group, _| {
        group.physical_device_count = 1;
        group.physical_devices = [vk::PhysicalDevice::null(); vk::MAX_DEVICE_GROUP_SIZE];
        group.physical_devices[0] = instance.physical_device;
        group.subset_allocation = vk::FALSE;
    })
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

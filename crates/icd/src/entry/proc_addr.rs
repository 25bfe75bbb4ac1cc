//! vkGetInstanceProcAddr, vkGetDeviceProcAddr and the three functions that the loader finds by name in the library
//! (loader-driver interface version 7: everything may also be had through vk_icdGetInstanceProcAddr).

use crate::base::chain;
use crate::base::guard;
use crate::base::object;
use crate::device::Device;
use crate::entry::generated::entrypoints::ENTRIES;
use crate::instance::Instance;
use crate::instance::extensions::Set;
use crate::instance::physical_device;
use std::ffi::{CStr, c_char};

/// What a command acts on. It decides which queries return the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    Global,
    Instance,
    PhysicalDevice,
    Device,
}

/// A command the driver has.
pub(crate) struct Entry {
    pub name: &'static CStr,
    pub function: *const (),
    pub level: Level,
    /// The core version that has it (`100 * major + minor`), 0 for none.
    pub core: u32,
    /// The extensions that have it, by id.
    pub extensions: &'static [usize],
}

// SAFETY: the pointers are functions'.
unsafe impl Sync for Entry {}

/// Loader-driver interface versions that the driver speaks.
const NEWEST_INTERFACE: u32 = 7;
const OLDEST_INTERFACE: u32 = 2;

fn entry(name: &CStr) -> Option<&'static Entry> {
    ENTRIES.binary_search_by(|e| e.name.cmp(name)).ok().map(|i| &ENTRIES[i])
}

fn function(e: &Entry) -> vk::PFN_vkVoidFunction {
    // SAFETY: the table holds addresses of `extern "system"` functions only.
    Some(unsafe { std::mem::transmute::<*const (), unsafe extern "system" fn()>(e.function) })
}

impl Entry {
    /// Whether the driver's own version, or an extension for which `enabled` holds, has it.
    fn available(&self, version: u32, enabled: impl Fn(usize) -> bool) -> bool {
        (self.core != 0 && self.core <= version) || self.extensions.iter().any(|&e| enabled(e))
    }
}

/// Commands that are there without an instance.
fn global(name: &CStr) -> vk::PFN_vkVoidFunction {
    entry(name).filter(|e| e.level == Level::Global || name == c"vkGetInstanceProcAddr").and_then(function)
}

pub(crate) fn get_instance_proc_addr(instance: vk::Instance, name: &CStr) -> vk::PFN_vkVoidFunction {
    if instance == vk::Instance::null() {
        return global(name);
    }
    // SAFETY: the instance is not destroyed during a call with it (valid usage).
    let instance = unsafe { object::get::<Instance>(instance) }?;
    let newest = physical_device::core_of(physical_device::API_VERSION);
    let e = entry(name)?;
    match e.level {
        // With an instance, no global command but this (Vulkan specification, "Command Function Pointers").
        Level::Global => (name == c"vkGetInstanceProcAddr").then(|| function(e)).flatten(),
        // Commands of instance extensions need the extension to be enabled. Those of device extensions are always returned, because
        // the device and its extensions are not known yet.
        Level::Instance | Level::PhysicalDevice | Level::Device => {
            let enabled = |id: usize| {
                !crate::instance::extensions::EXTENSIONS[id].instance
                    || instance.shared.extensions.contains(id)
            };
            e.available(newest, enabled).then(|| function(e)).flatten()
        }
    }
}

pub(crate) fn get_device_proc_addr(device: &Device, name: &CStr) -> vk::PFN_vkVoidFunction {
    let (own, instance) = (&device.extensions, &device.instance);
    device_function(name, own, &instance.extensions, instance.api_version)
}

/// A device command that core up to the application's version or an enabled extension has.
fn device_function(name: &CStr, device: &Set, instance: &Set, api_version: u32) -> vk::PFN_vkVoidFunction {
    let e = entry(name).filter(|e| e.level == Level::Device)?;
    e.available(physical_device::core_of(api_version), |id| device.contains(id) || instance.contains(id))
        .then(|| function(e))
        .flatten()
}

/// Agrees on the loader-driver interface version: the older of ours and the loader's.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdNegotiateLoaderICDInterfaceVersion(version: *mut u32) -> vk::Result {
    // SAFETY: null or the loader's version, which it lets the driver change.
    match unsafe { version.as_mut() } {
        Some(v) if *v >= OLDEST_INTERFACE => {
            *v = (*v).min(NEWEST_INTERFACE);
            vk::Result::SUCCESS
        }
        _ => vk::Result::ERROR_INCOMPATIBLE_DRIVER,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetInstanceProcAddr(
    instance: vk::Instance,
    p_name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    guard::raw(c"vk_icdGetInstanceProcAddr", None, || {
        // SAFETY: the loader gives a name, or null.
        let name = unsafe { chain::str(p_name) };
        // Since version 7 the three functions of the interface are found here as well.
        let own = match name.to_bytes() {
            b"vk_icdNegotiateLoaderICDInterfaceVersion" => {
                vk_icdNegotiateLoaderICDInterfaceVersion as *const ()
            }
            b"vk_icdGetPhysicalDeviceProcAddr" => vk_icdGetPhysicalDeviceProcAddr as *const (),
            b"vk_icdGetInstanceProcAddr" => vk_icdGetInstanceProcAddr as *const (),
            _ => return get_instance_proc_addr(instance, name),
        };
        // SAFETY: all three are functions.
        Some(unsafe { std::mem::transmute::<*const (), unsafe extern "system" fn()>(own) })
    })
}

/// Physical-device commands only, so that the loader can pass on ones that it does not know.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn vk_icdGetPhysicalDeviceProcAddr(
    _instance: vk::Instance,
    p_name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    guard::raw(c"vk_icdGetPhysicalDeviceProcAddr", None, || {
        // SAFETY: the loader gives a name, or null.
        let name = unsafe { chain::str(p_name) };
        let e = entry(name).filter(|e| e.level == Level::PhysicalDevice)?;
        let core = physical_device::core_of(physical_device::API_VERSION);
        e.available(core, |_| true).then(|| function(e)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_extensions_gate_their_commands() {
        assert!(ENTRIES.windows(2).all(|w| w[0].name < w[1].name));
        let none = Set::default();
        let newest = physical_device::API_VERSION;
        assert!(device_function(c"vkCreateInstance", &none, &none, newest).is_none());
        assert!(device_function(c"vkGetPhysicalDeviceFeatures2", &none, &none, newest).is_none());
        for e in ENTRIES.iter().filter(|e| e.level == Level::Device) {
            let bare = device_function(e.name, &none, &none, newest).is_some();
            assert_eq!(bare, (100..=104).contains(&e.core), "{:?}", e.name);
            for &id in e.extensions {
                let mut set = Set::default();
                set.insert(id);
                assert!(device_function(e.name, &set, &none, newest).is_some());
            }
        }
    }
}

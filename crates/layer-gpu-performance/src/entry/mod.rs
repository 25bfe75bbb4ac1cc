//! The layer's functions by their names, and the next layer's for all others.

mod buffers;
mod commands;
mod objects;
mod passes;
mod queues;
mod rays;

use crate::{device, instance};
use ash::vk;
use std::ffi::{CStr, c_char};

type Function = unsafe extern "system" fn();

/// A function of the layer's as the loader wants it.
macro_rules! function {
    ($f:expr, $pfn:ident) => {{
        let f: vk::$pfn = $f;
        // SAFETY: a function pointer; the caller knows its type by the name.
        unsafe { std::mem::transmute::<vk::$pfn, Function>(f) }
    }};
}

/// `name => function: type`, several names for one function.
macro_rules! functions {
    ($(#[$doc:meta])* $visibility:vis fn $lookup:ident; $($($name:literal)|+ => $f:expr, $pfn:ident;)*) => {
        $(#[$doc])*
        $visibility fn $lookup(name: &[u8]) -> Option<Function> {
            match name {
                $($($name)|+ => Some(function!($f, $pfn)),)*
                _ => None,
            }
        }
    };
}
use {function, functions};

functions! {
    fn of_instance;
    b"vkGetInstanceProcAddr" => get_instance_proc_addr, PFN_vkGetInstanceProcAddr;
    b"vkCreateInstance" => instance::create_instance, PFN_vkCreateInstance;
    b"vkDestroyInstance" => instance::destroy_instance, PFN_vkDestroyInstance;
    b"vkCreateDevice" => device::create_device, PFN_vkCreateDevice;
}

functions! {
    fn of_every_device;
    b"vkGetDeviceProcAddr" => get_device_proc_addr, PFN_vkGetDeviceProcAddr;
    b"vkDestroyDevice" => device::destroy_device, PFN_vkDestroyDevice;
}

/// A function of a device that is measured.
fn of_device(name: &[u8]) -> Option<Function> {
    let parts = [
        of_every_device,
        objects::lookup,
        buffers::lookup,
        commands::lookup,
        rays::lookup,
        passes::lookup,
        queues::lookup,
    ];
    parts.iter().find_map(|part| part(name))
}

pub(crate) unsafe extern "system" fn get_instance_proc_addr(
    handle: vk::Instance,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if name.is_null() {
            return None;
        }
        if let Some(f) = of_instance(CStr::from_ptr(name).to_bytes()) {
            return Some(f);
        }
        let i = instance::of(handle)?;
        // The layer's only where the next layer has one: the program asks what there is.
        let next = (i.get)(handle, name)?;
        Some(of_device(CStr::from_ptr(name).to_bytes()).unwrap_or(next))
    }
}

pub(crate) unsafe extern "system" fn get_device_proc_addr(
    handle: vk::Device,
    name: *const c_char,
) -> vk::PFN_vkVoidFunction {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if name.is_null() {
            return None;
        }
        let bytes = CStr::from_ptr(name).to_bytes();
        if let Some(f) = of_every_device(bytes) {
            return Some(f);
        }
        if let Some(get) = instance::skipped(handle) {
            return get(handle, name);
        }
        let d = device::of(handle)?;
        let next = (d.get)(handle, name)?;
        Some(of_device(bytes).unwrap_or(next))
    }
}

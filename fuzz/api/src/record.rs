//! The driver as the fixture sees it: every command it asks for is one of ours, which keeps a copy of the call, passes
//! it on and remembers what came of it.

use crate::COMMANDS;
use crate::fixture;
use crate::world::World;
use ash::vk::{self, Handle};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::sync::LazyLock;

type Get = unsafe extern "system" fn(vk::Instance, *const c_char) -> vk::PFN_vkVoidFunction;

/// The driver, for another thread.
#[derive(Clone, Copy)]
pub struct Shared(Get);

/// The driver's library and what was found in it.
pub struct Driver {
    get: Get,
    functions: Vec<usize>,
    pub world: World,
}

thread_local! {
    static DRIVER: RefCell<Option<Driver>> = const { RefCell::new(None) };
}

fn ids() -> &'static HashMap<&'static str, u16> {
    static IDS: LazyLock<HashMap<&'static str, u16>> = LazyLock::new(|| {
        let own = COMMANDS.iter().enumerate();
        own.flat_map(|(i, c)| c.aliases.iter().chain([&c.name]).map(move |n| (*n, i as u16))).collect()
    });
    &IDS
}

pub fn id(name: &str) -> Option<u16> {
    ids().get(name).copied()
}

impl Driver {
    /// Loads a driver without the loader, which would follow invented handles itself.
    pub fn load(path: &Path) -> Result<(), String> {
        // SAFETY: a Vulkan driver, whose two functions have the types of vk_icd.h; it stays loaded.
        unsafe {
            let library = libloading::Library::new(path).map_err(|e| format!("{}: {e}", path.display()))?;
            let negotiate = library
                .get::<unsafe extern "system" fn(*mut u32) -> i32>(
                    b"vk_icdNegotiateLoaderICDInterfaceVersion\0",
                )
                .map_err(|e| e.to_string())?;
            let mut version = 7;
            negotiate(&mut version);
            let get = *library.get::<Get>(b"vk_icdGetInstanceProcAddr\0").map_err(|e| e.to_string())?;
            std::mem::forget(library);
            let d = Driver { get, functions: vec![0; COMMANDS.len()], world: World::new() };
            DRIVER.with(|slot| *slot.borrow_mut() = Some(d));
        }
        Ok(())
    }

    /// A world of this thread's own, in which nothing is but what it shares with another's.
    pub fn join(get: Shared, base: &fixture::Base) {
        let mut world = World::new();
        world.is_shared = true;
        let all = [base.instance.as_raw(), base.physical.as_raw(), base.device.as_raw()];
        for (name, h) in ["VkInstance", "VkPhysicalDevice", "VkDevice"].into_iter().zip(all) {
            world.share(name, h);
        }
        let d = Driver { get: get.0, functions: vec![0; COMMANDS.len()], world };
        DRIVER.with(|slot| *slot.borrow_mut() = Some(d));
    }

    /// What another thread joins with.
    pub fn shared(&mut self) -> Shared {
        self.world.is_shared = true;
        Shared(self.get)
    }

    /// The command's address in the driver; 0 for one that it does not have now.
    fn function(&mut self, command: u16) -> usize {
        if self.functions[command as usize] == 0 {
            let c = &COMMANDS[command as usize];
            let mut instances = self.world.live("VkInstance").to_vec();
            instances.push(0);
            for name in c.aliases.iter().chain([&c.name]) {
                let name = CString::new(*name).unwrap_or_default();
                for i in &instances {
                    let i = <vk::Instance as Handle>::from_raw(*i);
                    // SAFETY: a live instance or none.
                    if let Some(f) = unsafe { (self.get)(i, name.as_ptr()) } {
                        self.functions[command as usize] = f as usize;
                    }
                }
            }
        }
        self.functions[command as usize]
    }
}

/// Runs `f` on the driver; not for calls of it, which may come back.
pub fn driver<R>(f: impl FnOnce(&mut Driver) -> R) -> R {
    DRIVER.with(|d| f(d.borrow_mut().as_mut().expect("a driver was loaded")))
}

pub fn world<R>(f: impl FnOnce(&mut World) -> R) -> R {
    driver(|d| f(&mut d.world))
}

/// Makes a call of words. `None` where the driver does not have the command.
///
/// # Safety
/// Parameters of this command, whose pointers lead to what they are said to.
pub unsafe fn call(command: u16, words: &[u64]) -> Option<u64> {
    let f = driver(|d| d.function(command));
    if f == 0 {
        return None;
    }
    // SAFETY: the command's own address, and the caller's word for the rest.
    unsafe {
        world(|w| w.before(command, words));
        let ret = (COMMANDS[command as usize].call)(f, words);
        world(|w| w.after(command, words, ret));
        Some(ret)
    }
}

/// A call of the fixture's.
///
/// # Safety
/// As [`call`].
pub(crate) unsafe fn recorded(command: u16, words: &[u64]) -> u64 {
    // SAFETY: the caller's word for it.
    unsafe {
        let copy = crate::tree::Tree::of_call(command, words);
        world(|w| w.templates.push(copy));
        call(command, words).unwrap_or(0)
    }
}

unsafe extern "system" fn ours(_: *const c_void, name: *const c_char) -> vk::PFN_vkVoidFunction {
    // SAFETY: ash passes names.
    let name = unsafe { CStr::from_ptr(name) }.to_str().ok()?;
    let to: *const () = match name {
        "vkGetInstanceProcAddr" | "vkGetDeviceProcAddr" => ours as *const (),
        _ => {
            let command = id(name)?;
            (driver(|d| d.function(command)) != 0).then(|| COMMANDS[command as usize].record)?
        }
    };
    // SAFETY: functions of the commands' own types.
    Some(unsafe { std::mem::transmute::<*const (), unsafe extern "system" fn()>(to) })
}

/// Vulkan as the fixture sees it.
pub fn entry() -> ash::Entry {
    // SAFETY: a function of this type; the first handle is not looked at.
    unsafe {
        let get = std::mem::transmute::<*const (), Get>(ours as *const ());
        ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: get })
    }
}

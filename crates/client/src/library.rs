//! Finding a Vulkan library: the loader, or a driver's shared object itself.

use crate::{Error, Result};
use ash::vk;
use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};

type GetInstanceProcAddr =
    unsafe extern "system" fn(instance: vk::Instance, name: *const c_char) -> vk::PFN_vkVoidFunction;
type Negotiate = unsafe extern "system" fn(version: *mut u32) -> vk::Result;

/// A loaded Vulkan library and its global entry points.
pub struct Library {
    pub entry: ash::Entry,
    /// What was loaded: for messages.
    pub path: PathBuf,
    /// Loaded without the loader, by the loader–ICD interface.
    pub direct: bool,
    // Dropped last: the entry points above point into it.
    _library: libloading::Library,
}

impl Library {
    /// The system's Vulkan loader. It chooses drivers by `VK_ICD_FILENAMES` and its search folders.
    pub fn loader() -> Result<Self> {
        let path = PathBuf::from(if cfg!(windows) { "vulkan-1.dll" } else { "libvulkan.so.1" });
        // SAFETY: the Vulkan loader's initialisers are safe to run; the symbol has the type the specification gives.
        unsafe {
            let library =
                libloading::Library::new(&path).map_err(|e| Error(format!("no Vulkan loader: {e}")))?;
            let get = *library
                .get::<GetInstanceProcAddr>(b"vkGetInstanceProcAddr\0")
                .map_err(|e| Error(format!("{}: {e}", path.display())))?;
            let entry = ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: get });
            Ok(Self { entry, path, direct: false, _library: library })
        }
    }

    /// A driver's shared object, without any loader (interface version 2 or newer, `vk_icdGetInstanceProcAddr`).
    pub fn driver(path: &Path) -> Result<Self> {
        let at = |e: libloading::Error| Error(format!("{}: {e}", path.display()));
        // SAFETY: a Vulkan driver's initialisers are safe to run; both symbols have the types of vk_icd.h.
        unsafe {
            let library = libloading::Library::new(path).map_err(at)?;
            let negotiate =
                *library.get::<Negotiate>(b"vk_icdNegotiateLoaderICDInterfaceVersion\0").map_err(at)?;
            let mut version = 5;
            let result = negotiate(&mut version);
            if result != vk::Result::SUCCESS {
                return Err(Error(format!("{}: interface negotiation failed: {result:?}", path.display())));
            }
            let get = *library.get::<GetInstanceProcAddr>(b"vk_icdGetInstanceProcAddr\0").map_err(at)?;
            let entry = ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr: get });
            Ok(Self { entry, path: path.to_owned(), direct: true, _library: library })
        }
    }

    /// The loader where there is one, else the driver that the first file of `VK_DRIVER_FILES` or
    /// `VK_ICD_FILENAMES` names. `TUFF_NO_LOADER` in the environment stands for a machine without a loader.
    pub fn any() -> Result<Self> {
        let loader = match std::env::var_os("TUFF_NO_LOADER") {
            Some(_) => Err(Error("TUFF_NO_LOADER is set".into())),
            None => Self::loader(),
        };
        let missing = match loader {
            Ok(l) => return Ok(l),
            Err(e) => e,
        };
        let files = std::env::var_os("VK_DRIVER_FILES").or_else(|| std::env::var_os("VK_ICD_FILENAMES"));
        let Some(files) = files else {
            return Err(Error(format!("{missing}; and VK_ICD_FILENAMES names no driver to load directly")));
        };
        let first = std::env::split_paths(&files).next().unwrap_or_default();
        Self::driver(&crate::drivers::library_of(&first)?)
    }

    /// Names of the instance extensions, for the choice of what to enable.
    pub fn instance_extensions(&self) -> Vec<String> {
        // SAFETY: a global command of a loaded library.
        let list = unsafe { self.entry.enumerate_instance_extension_properties(None) }.unwrap_or_default();
        list.iter().map(|e| name(&e.extension_name)).collect()
    }
}

/// A fixed-size, NUL-terminated name as a string.
pub fn name(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|c| *c as u8).collect();
    CStr::from_bytes_until_nul(&bytes).map(|c| c.to_string_lossy().into_owned()).unwrap_or_default()
}

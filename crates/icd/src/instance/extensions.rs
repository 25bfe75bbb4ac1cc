//! Extensions: the table (generated from `extensions.tsv` and vk.xml), sets of enabled ones, enumeration.

use crate::base::chain;
use crate::base::given::{In, List};
use crate::instance::clients::Client;
pub(crate) use crate::instance::generated::extensions::EXTENSIONS;
use std::ffi::{CStr, c_char};

/// An extension the driver reports.
pub(crate) struct Extension {
    pub name: &'static CStr,
    pub spec_version: u32,
    pub instance: bool,
}

impl Extension {
    /// Whether this machine has what it takes.
    fn is_there(&self) -> bool {
        match self.name {
            name if name == c"VK_EXT_external_memory_dma_buf" => texel::dma_buf::available(),
            name if OF_RAYS.contains(&name) => rays(),
            name if OF_UNIX.contains(&name) => cfg!(unix),
            name if OF_WINDOWS.contains(&name) => cfg!(windows),
            _ => true,
        }
    }
}

/// Extensions that need a ray tracing unit.
const OF_RAYS: &[&CStr] = &[
    c"VK_ARM_pipeline_opacity_micromap",
    c"VK_EXT_opacity_micromap",
    c"VK_EXT_pipeline_library_group_handles",
    c"VK_EXT_ray_tracing_invocation_reorder",
    c"VK_KHR_acceleration_structure",
    c"VK_KHR_ray_query",
    c"VK_KHR_ray_tracing_maintenance1",
    c"VK_KHR_ray_tracing_pipeline",
    c"VK_KHR_ray_tracing_position_fetch",
];

/// Extensions of systems with file descriptors, and of their window systems.
const OF_UNIX: &[&CStr] = &[
    c"VK_EXT_image_drm_format_modifier",
    c"VK_KHR_external_fence_fd",
    c"VK_KHR_external_memory_fd",
    c"VK_KHR_external_semaphore_fd",
    c"VK_KHR_wayland_surface",
    c"VK_KHR_xcb_surface",
    c"VK_KHR_xlib_surface",
];

/// Extensions of systems with handles, and of their windows.
const OF_WINDOWS: &[&CStr] = &[
    c"VK_KHR_external_fence_win32",
    c"VK_KHR_external_memory_win32",
    c"VK_KHR_external_semaphore_win32",
    c"VK_KHR_win32_surface",
];

/// Whether the device traces rays: the modelled GPU has a unit for them, or the user allows them without one.
pub(crate) fn rays() -> bool {
    counters::model::current().core.ray_nodes > 0 || settings::get().rays
}

/// Whether the driver reports the extension of this name.
pub(crate) fn is_reported(name: &str) -> bool {
    EXTENSIONS.iter().any(|e| e.name.to_bytes() == name.as_bytes() && e.is_there())
}

/// The place of an extension in [`EXTENSIONS`].
pub(crate) fn id(name: &CStr) -> Option<usize> {
    EXTENSIONS.binary_search_by(|e| e.name.cmp(name)).ok()
}

/// A set of extensions by their ids.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Set([u64; 5]);

const _: () = assert!(EXTENSIONS.len() <= 320);

impl Set {
    pub fn insert(&mut self, id: usize) {
        self.0[id / 64] |= 1 << (id % 64);
    }

    pub fn contains(&self, id: usize) -> bool {
        self.0[id / 64] >> (id % 64) & 1 != 0
    }

    /// Whether the extension of this name is enabled.
    #[allow(dead_code)] // graphics will ask
    pub fn has(&self, name: &CStr) -> bool {
        id(name).is_some_and(|id| self.contains(id))
    }

    /// The extensions that an application asks for. An unknown one, or one of the other kind, is the error.
    pub fn read<'a>(names: In<'a, [*const c_char]>, instance: bool) -> Result<Set, &'a CStr> {
        let mut set = Set::default();
        for name in names.strings() {
            match id(name).filter(|&i| EXTENSIONS[i].instance == instance && EXTENSIONS[i].is_there()) {
                Some(id) => set.insert(id),
                None => return Err(name),
            }
        }
        Ok(set)
    }
}

/// The instance's or the device's extensions, in the two-call way.
pub(crate) fn enumerate(instance: bool, client: Client, out: List<vk::ExtensionProperties>) -> vk::Result {
    let list: Vec<_> = EXTENSIONS
        .iter()
        .filter(|e| e.instance == instance && e.is_there() && !client.lacks(e.name))
        .map(|e| {
            let mut p = vk::ExtensionProperties { spec_version: e.spec_version, ..Default::default() };
            chain::write_str(&mut p.extension_name, &e.name.to_string_lossy());
            p
        })
        .collect();
    out.fill(&list)
}

//! libvulkan_tuff.so: the Vulkan objects and entry points of Tuff. See `crates/icd/README.md` for the convention
//! by which commands find their implementation.

pub(crate) mod chain;
pub(crate) mod command_buffer;
pub(crate) mod debug;
pub(crate) mod device;
pub(crate) mod extensions;
pub(crate) mod features;
pub(crate) mod formats;
pub(crate) mod generated;
pub(crate) mod guard;
pub(crate) mod instance;
pub(crate) mod legacy;
pub(crate) mod limits;
pub(crate) mod object;
pub(crate) mod physical_device;
pub(crate) mod private_data;
pub(crate) mod proc_addr;
pub(crate) mod properties;
pub(crate) mod queue;
pub(crate) mod structs;

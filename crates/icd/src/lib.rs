//! libvulkan_tuff.so: the Vulkan objects and entry points of Tuff. See `crates/icd/README.md` for the convention
//! by which commands find their implementation.

mod base;
mod descriptor;
mod device;
mod entry;
mod instance;
mod legacy;
mod memory;
mod pass;
mod pipeline;
mod queue;
mod record;
mod sync;
mod wsi;

//! Descriptors: layouts, pools, sets, templates, descriptor buffers and descriptor heaps.
//!
//! It must not know shaders, pipelines or commands.

pub(crate) mod descriptor_buffer;
pub(crate) mod descriptor_heap;
pub(crate) mod descriptor_layout;
pub(crate) mod descriptor_pool;
pub(crate) mod descriptor_set;
pub(crate) mod mappings;
pub(crate) mod update_template;

//! Allocations, the resources that they are bound to, and views of these; formats and what images of them can do.
//!
//! It must not know descriptors, commands or queues.

pub(crate) mod acceleration_structure;
pub(crate) mod allocation;
pub(crate) mod buffer;
pub(crate) mod buffer_view;
pub(crate) mod capture;
pub(crate) mod drm;
pub(crate) mod formats;
pub(crate) mod host_copy;
pub(crate) mod image;
pub(crate) mod image_view;
pub(crate) mod micromap;
pub(crate) mod sampler;
pub(crate) mod sparse;
pub(crate) mod tensor;
pub(crate) mod ycbcr_conversion;

pub(crate) use allocation::*;

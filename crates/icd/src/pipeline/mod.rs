//! Shaders and pipelines: modules, layouts, compilation, caches and binaries, and the state of draws that pipelines have.
//!
//! It must not know command buffers.

pub(crate) mod create;
pub(crate) mod data_graph_session;
pub(crate) mod draw_settings;
pub(crate) mod names;
mod optical_flow;
pub(crate) mod pipeline_binary;
pub(crate) mod pipeline_cache;
pub(crate) mod pipeline_compute;
pub(crate) mod pipeline_data_graph;
pub(crate) mod pipeline_executable;
pub(crate) mod pipeline_graphics;
pub(crate) mod pipeline_layout;
pub(crate) mod pipeline_ray_tracing;
pub(crate) mod pipeline_state;
pub(crate) mod shader_binary;
pub(crate) mod shader_combinations;
pub(crate) mod shader_module;
pub(crate) mod shader_object;
mod stored_graph;

pub(crate) use create::*;

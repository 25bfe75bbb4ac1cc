//! Command buffers and what each vkCmd* records. A recorded command holds its resources by `Arc`, so an object destroyed early cannot hurt a queue.
//!
//! It must not know queues or surfaces.

pub(crate) mod absent_state;
pub(crate) mod address;
pub(crate) mod barrier;
pub(crate) mod bind;
pub(crate) mod command_buffer;
pub(crate) mod command_pool;
pub(crate) mod data_graph;
pub(crate) mod descriptor_buffers;
pub(crate) mod descriptor_heaps;
pub(crate) mod descriptors;
pub(crate) mod dispatch;
pub(crate) mod draw;
pub(crate) mod dynamic_state;
pub(crate) mod execute;
pub(crate) mod feedback;
pub(crate) mod generated;
pub(crate) mod generated_commands;
pub(crate) mod instrumentation;
pub(crate) mod labels;
pub(crate) mod matrices;
pub(crate) mod mesh;
pub(crate) mod pass;
pub(crate) mod query;
pub(crate) mod rays;
pub(crate) mod shaders;
pub(crate) mod structures;
pub(crate) mod sync;
pub(crate) mod transfer;

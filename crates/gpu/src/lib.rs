//! The modelled GPU: memory, images, queues, and the execution of recorded commands.
//!
//! Knows pixels and no Vulkan entry points (it uses ash's plain enums and structs). The driver builds its objects
//! out of these types, records [`command::Command`]s and submits them.

pub mod buffer;
pub mod channel;
pub mod command;
pub mod count;
pub mod descriptor;
pub mod descriptor_memory;
pub mod device;
pub mod exclusive;
pub mod executor;
pub mod format;
pub mod graphics;
pub mod host;
pub mod image;
mod image_op;
pub mod instrumentation;
pub mod ledger;
pub mod lost;
pub mod memory;
pub mod pipeline;
pub mod query;
pub mod sample;
pub mod stripes;
pub mod sync;
pub mod time;
pub mod transfer;

//! The modelled GPU: memory, images, queues, and the execution of recorded commands.
//!
//! Knows pixels and no Vulkan entry points (it uses ash's plain enums and structs). The driver builds its objects
//! out of these types, records [`command::Command`]s and submits them.

pub mod channel;
mod chunks;
pub mod command;
pub mod count;
pub mod descriptor;
pub mod descriptor_memory;
pub mod device;
pub mod exclusive;
pub mod executor;
pub mod graphics;
pub mod host;
mod image_op;
pub mod instrumentation;
pub mod ledger;
pub mod lost;
pub mod pipeline;
pub mod query;
pub mod stripes;
pub mod sync;
pub mod texture;
pub mod time;
pub mod transfer;

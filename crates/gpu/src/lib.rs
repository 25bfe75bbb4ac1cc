//! The modelled GPU's front: commands, the queues that execute them, queries, and what is told of it all.
//!
//! Knows no Vulkan entry points (it uses ash's plain enums and structs). The driver builds its objects out of the types
//! here and in the rooms below, records [`command::Command`]s and submits them.

pub mod channel;
mod chunks;
pub mod command;
pub mod debugged;
pub mod device;
pub mod discarded;
pub mod exclusive;
pub mod executor;
pub mod findings;
pub mod graphs;
pub mod hazards;
pub mod ledger;
pub mod matrix;
pub mod ordering;
mod pass_time;
pub mod pipeline;
pub mod process;
pub mod protection;
pub mod query;
pub mod record;
#[cfg_attr(windows, path = "remote/windows.rs")]
mod remote;
pub mod steps;
pub mod stripes;
pub mod structure;
pub mod trace;
pub mod transfer;
pub mod watch;

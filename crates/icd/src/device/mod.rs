//! Logical devices, their queues as objects, and what belongs to a device as a whole: clocks, counters and their channel, queries, instrumentation, faults.
//!
//! It must not know resources, pipelines or commands.

pub(crate) mod addresses;
pub(crate) mod border_colors;
pub(crate) mod calibration;
pub(crate) mod channel;
pub(crate) mod code;
pub(crate) mod create;
pub(crate) mod device_fault;
pub(crate) mod instrumentation;
pub(crate) mod measured;
pub(crate) mod performance;
pub(crate) mod private_data;
pub(crate) mod profiling_lock;
pub(crate) mod quarantine;
pub(crate) mod query_pool;
pub(crate) mod queue;

pub(crate) use create::*;
pub(crate) use queue::Queue;

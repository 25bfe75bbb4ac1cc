//! The machine around a wave: what all workloads of a device stand on, be they dispatches or draws.
//!
//! Threads and their workers, the host that answers a wave's image operations and descriptors ([`wave::Host`]), what is
//! recorded with a workload, and what comes of one: counts, a place in modelled time, a fault. Knows no commands,
//! queues or render passes.

pub mod bindings;
pub mod count;
pub mod debugger;
pub mod descriptor;
pub mod descriptor_memory;
pub mod facts;
pub mod footprint;
pub mod hazards;
pub mod host;
mod image_op;
pub mod instrumentation;
pub mod l2;
pub mod lookout;
pub mod lost;
pub mod observed;
pub mod payload;
pub mod pool;
pub mod rays;
pub mod record;
pub mod sanitizer;
pub mod shared;
pub mod sources;
pub mod sync;
pub mod tensor;
mod texel_wave;
mod texture;
pub mod threads;
pub mod time;
pub mod turns;
pub mod undefined;
pub mod watched;

pub use wave::flush::Mode;

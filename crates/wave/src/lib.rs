//! The wave engine: runs [`shader::bytecode`] on waves of 64, 128 or 256 lanes.
//!
//! Knows neither Vulkan nor images' layouts: buffers are (address, size) descriptors, images are opaque addresses
//! handed to a [`Host`]. Kernels exist in three forms ([`simd::Level`]), chosen at run time, with the same bits.

pub mod arena;
pub mod cache;
mod engine;
pub mod flush;
pub mod graphics;
pub mod held;
pub mod host;
#[cfg(target_arch = "x86_64")]
pub mod jit;
pub mod kernels;
pub mod made;
pub mod memory;
pub mod packing;
pub mod rays;
pub mod reach;
mod recording;
mod shared_l2;
pub mod state;
pub mod tally;
mod tier;
pub mod worker;

pub use arena::Arena;
pub use graphics::{Job, Lanes};
pub use host::{Filter, Filtering, Group, Host, HostRef, ImageWarp, ImageWave, Own, Table};
pub use made::{MadeUp, Meaning};
pub use rays::{Queries, RayWave, TraceWave};
pub use shared_l2::L2;
pub use state::{At, Fault, Kernel, State, Status, Stop};
pub use tally::{BlockRow, Usage};
pub use tier::Compile;
pub use worker::{Around, Dispatch, Worker};

//! The wave engine: runs [`shader::bytecode`] on waves of 64, 128 or 256 lanes.
//!
//! Knows neither Vulkan nor images' layouts: buffers are (address, size) descriptors, images are opaque addresses
//! handed to a [`Host`]. Kernels exist in three forms ([`simd::Level`]), chosen at run time, with the same bits.

pub mod arena;
mod bits;
pub mod counting;
mod engine;
pub mod flush;
pub mod host;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod jit;
pub mod kernels;
pub mod made;
pub mod memory;
pub mod note;
pub mod probe;
pub mod rays;
mod recording;
pub mod state;
mod tier;
pub mod worker;

pub use arena::Arena;
pub use counting::shared_l2::L2;
pub use counting::tally::{BlockRow, Usage};
pub use counting::{cache, held, reach, tally};
pub use host::{Filter, Filtering, Group, Host, HostRef, ImageWarp, ImageWave, Own, Table};
pub use made::{MadeUp, Meaning};
pub use note::NoteWave;
pub use probe::{ImageProbe, ProbeWave};
pub use rays::{Queries, RayWave, TraceWave};
pub use state::{At, Fault, Kernel, State, Status, Stop};
pub use tier::Compile;
pub use worker::graphics::{Job, Lanes};
pub use worker::{Around, Dispatch, Worker, graphics, packing};

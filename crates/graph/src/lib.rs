//! Data graphs: nodes of TOSA 1.0's operators between tensors, checked once and run many times.
//!
//! A [`Graph`] is a list of values, and of nodes in an order in which each uses only what was made before it. [`Graph::check`] applies the
//! rules of the TOSA 1.0 specification to types and shapes; a [`Plan`] says where intermediate values lie in the session's memory;
//! [`Plan::run`] computes. Integers are exact. Floats are computed in f32 in a fixed order, and rounded once to their type, so that results
//! have the same bits on any number of threads and on any CPU.
//!
//! Knows neither Vulkan nor SPIR-V. Each family of operators is a file of `op`, with its rules and its arithmetic.

mod cost;
pub mod flow;
mod math;
mod op;
mod plan;
mod table;
mod types;
mod value;
mod view;

pub use cost::Cost;
pub use op::Pool;
pub use plan::{Plan, Stop};
pub use table::Op;
pub use types::Type;
pub use value::{Constant, Graph, MAX_RANK, Node, Port, Value, Wrong};
pub use view::Tensor;

/// All work on the calling thread.
pub struct Alone;

impl Pool for Alone {
    fn run(&self, tasks: u64, each: &(dyn Fn(u64) + Sync)) {
        (0..tasks).for_each(each);
    }
}

//! When jobs run on the one GPU that a device's queues share.
//!
//! A [`Line`], one a Vulkan queue, hands jobs out one after another: a render pass's main phase follows its binning, and nothing begins
//! before the barriers, events, semaphores and submissions that it depends on allow. The [`Gpu`] runs them: what depends on nothing
//! overlaps, as far as there is room. Those of a submission are run together ([`Ahead`]), so that it does not matter which comes first.
//! Ticks are nanoseconds.
//!
//! What is asked of lines can be written down ([`Step`]) and asked again of another model ([`Replay`]).

mod ahead;
mod gpu;
mod line;
mod replay;
mod step;

pub use ahead::Ahead;
pub use gpu::{Front, Gpu, Known, Ran, Runs};
pub use line::{Line, Span, Told, Transfer};
pub use replay::{Altered, Jobs, Replay, Replayed};
pub use step::{Step, Steps, What};

//! The one catalogue of counters, and the model that gives them.
//!
//! - [`names`]: numbers by name, summed as a whole.
//! - [`event`]: the facts the engine counts while it executes, exactly, once. [`event::Counts`] is a workload's.
//! - [`model`]: the GPU that is modelled, a data file chosen by `TUFF_GPU`.
//! - [`cost`]: cycles of a workload, from its counts and the model; [`once`]: of a shader, from its code alone.
//! - [`work`]: what that cost follows from, kept, so that it can be asked of another model.
//! - [`stalls`]: what units, caches and memory wait for meanwhile.
//! - [`bound`]: what a job's time goes to, for people.
//! - [`formula`], [`catalogue`]: counters as tools know them, each a formula over events and the model's constants;
//!   what the model does not give is not reported.
//! - [`sweep`]: what single keys of the model do, the table of `docs/model.md`.
//! - [`blocks`]: what is measured of each basic block of an instrumented shader.
//! - [`docs`]: `docs/counters.md`, generated from the catalogue.

pub mod blocks;
pub mod bound;
pub mod catalogue;
pub mod cost;
pub mod docs;
pub mod event;
pub mod formula;
pub mod how;
pub mod model;
pub mod names;
pub mod once;
pub mod stalls;
pub mod sweep;
pub mod work;

pub use catalogue::{Block, Counter, Measure, Storage, Value};
pub use cost::{Ask, Job, Load};
pub use event::{Counts, Event, EventCounts, Phase, Unit, UnitCounts};
pub use model::Model;
pub use names::By;
pub use work::{Curve, Work};

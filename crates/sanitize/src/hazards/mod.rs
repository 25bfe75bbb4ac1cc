//! Hazards between commands (Vulkan specification, "Synchronization and Cache Control").
//!
//! [`Memory`] is told of each access, barrier, signal and wait in the order in which commands were executed. It remembers, for each byte, the
//! last write and the readers since, each with what orders it before later commands, and says which access conflicts with an earlier one.
//! It knows addresses alone: what aliases is the same memory.
//!
//! What a barrier does to an access that came before it:
//! - it is in the barrier's first scope if it was made on that line by a stage of the scope, or if an earlier barrier leads from it to such
//!   a stage (an execution dependency chain);
//! - then stages of the second scope come after it ([`Order::chain`]);
//! - a write becomes available if the barrier names its stage and its access, and what is available becomes visible to the accesses of the
//!   second scope.
//!
//! Barriers wait in a list until an access needs them: each range of bytes knows how many it has had.

mod host;
mod map;
mod scope;
mod state;
#[cfg(test)]
mod tests;

pub use host::HostWrites;
pub use map::{Barrier, Memory, Transition};
pub use scope::{Scope, access, access_name, stage, stage_name};
pub use state::{Access, Conflict, Contents, Fences, Hazard, Lacks, Line, Seen, What, Who};

//! The rules of `tuff sanitize`: which accesses of a shader's invocations are data races, and what a finding is.
//!
//! [`Races`] is told of each access, barrier and fence of a dispatch in the order in which the engine executes them, and says which access
//! conflicts with an earlier one. It knows no shaders and no Vulkan. [`Finding`] is what the driver writes and `tuff sanitize` reads.

mod barriers;
mod cells;
mod finding;
mod hash;
pub mod hazards;
mod kept;
mod order;
mod races;

pub use barriers::{Barriers, Divergence};
pub use finding::{
    Between, FILE_VERSION, File, Finding, Findings, Kind, Location, Memory, Side, Space, Texel,
};
pub use order::Order;
pub use races::{Access, Conflict, Invocation, Plain, Races, Told, What};

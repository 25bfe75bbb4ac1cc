//! An API fuzzer: sequences of Vulkan calls with valid, stale, wrong and huge arguments, on a driver's library.
//!
//! A *fixture* of ordinary code does valid work of many kinds; each of its calls is kept with all that its arguments lead
//! to (`tree`), by tables from vk.xml (`table`, `generated`). A run then makes calls of what was kept, one by one or whole
//! command buffers, with some of their values changed (`mutate`), and of nothing at all (`generate`). What no driver can
//! check stays right: memory behind a pointer is as large as is said, descriptors and addresses of host memory are ours.

mod arguments;
pub mod fixture;
mod generate;
#[allow(clippy::all)]
mod generated;
mod host;
mod mutate;
pub mod record;
pub mod run;
pub mod shared;
mod show;
pub mod supervise;
mod table;
#[cfg(test)]
mod tests;
mod tree;
mod world;

pub use generated::{COMMANDS, ENUMS, FLAGS, HANDLES, STRUCTS};

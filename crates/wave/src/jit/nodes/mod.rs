//! From bytecode to nodes: segments and loops, each with its [`body::Body`].
//!
//! [`live`] finds what is read later. [`segment`] builds runs of lane-wise ops ([`builder`], [`ops`]), with the branches that lie within
//! ([`branch`]); [`region`] builds innermost loops, block by block ([`trace`]). [`order`] saves registers.

pub mod body;
pub mod branch;
mod builder;
mod compare;
pub mod live;
mod ops;
pub mod order;
pub mod region;
mod registers;
pub mod segment;
mod trace;

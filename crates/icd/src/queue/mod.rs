//! Submissions to queues: command buffers and binds of sparse memory.
//!
//! It must not know how commands are recorded, or surfaces.

pub(crate) mod sparse;
pub(crate) mod submit;

pub(crate) use submit::*;

//! Entry points and how the loader finds them.
//!
//! No other room may know it.

pub(crate) mod generated;
pub(crate) mod proc_addr;

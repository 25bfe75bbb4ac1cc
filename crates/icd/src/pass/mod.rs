//! Render passes, framebuffers and dynamic rendering: what a pass attaches, loads and stores.
//!
//! It must not know pipelines or commands.

pub(crate) mod convert;
pub(crate) mod framebuffer;
pub(crate) mod render_pass;
pub(crate) mod rendering;

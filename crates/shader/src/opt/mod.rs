//! What makes code better wherever it is looked at: while it is built and by the passes.

pub mod known;
pub mod rules;

//! Older commands in terms of the newest, if that is more than renaming members (such commands are generated, see
//! `generated/legacy.rs`), and the step from C's parameters to safe types that all commands take (`generated/imp.rs`).
//!
//! It must not know how entry points are found.

pub(crate) mod barriers;
pub(crate) mod generated;
pub(crate) mod queries;
pub(crate) mod render_pass;
pub(crate) mod sparse;
pub(crate) mod submit;

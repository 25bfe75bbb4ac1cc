//! Older commands in terms of the newest, where that is more than renaming members (those are generated, see
//! `generated/legacy.rs`).

pub(crate) mod barriers;
pub(crate) mod generated;
pub(crate) mod queries;
pub(crate) mod render_pass;
pub(crate) mod sparse;
pub(crate) mod submit;

//! Older commands in terms of the newest, where that is more than renaming members (those are generated, see
//! `generated/legacy.rs`).

pub(crate) mod queries;

//! Files written by `cargo xtask codegen`.

pub(crate) mod capabilities;
pub(crate) mod entrypoints;
pub(crate) mod extensions;
pub(crate) mod imp;
pub(crate) mod legacy;
pub(crate) mod structs;

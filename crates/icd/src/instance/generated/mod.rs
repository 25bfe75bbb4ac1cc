//! Files written by `cargo xtask codegen`.

pub(crate) mod capabilities;
pub(crate) mod extensions;
pub(crate) mod structs;

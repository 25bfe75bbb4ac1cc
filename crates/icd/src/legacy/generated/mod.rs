//! Files written by `cargo xtask codegen`.

pub(crate) mod imp;
pub(crate) mod legacy;

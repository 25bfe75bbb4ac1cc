//! Files written by `cargo xtask codegen`.

pub(crate) mod entrypoints;

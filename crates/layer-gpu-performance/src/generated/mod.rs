//! Made by `cargo xtask codegen`.

pub(crate) mod sizes;

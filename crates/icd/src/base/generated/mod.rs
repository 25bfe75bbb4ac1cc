//! Files written by `cargo xtask codegen`.

mod given;

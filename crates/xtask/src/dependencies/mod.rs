//! `cargo deny` on what the workspace depends on.

#[cfg(test)]
mod tests;

use crate::cargo::{call, cargo};
use crate::needs::has_program;

/// Licences, advisories, doubles and sources as `deny.toml` wants them; said where cargo-deny is not installed.
pub fn deny() -> Result<(), String> {
    if !has_program("cargo-deny") {
        not_run::say(
            "advisories and bans of deny.toml (its licences are in xtask's tests)",
            "cargo-deny (cargo install cargo-deny)",
        );
        return Ok(());
    }
    call(cargo(&["deny", "check", "licenses", "advisories", "bans", "sources"]))
}

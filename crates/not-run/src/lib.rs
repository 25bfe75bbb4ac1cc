//! What cannot be run here is said aloud: a test that returns early looks like one that passed.
//!
//! A test calls [`say`] with what it lacks and returns. The line goes to stderr past libtest's capture, and to the file
//! that [`FILE`] names, where `cargo xtask test` counts it.

use std::io::Write;

/// The environment variable that names the file to which a line is added for each test that was not run.
pub const FILE: &str = "TUFF_NOT_RUN";

/// Says that `test` (or the part of the tests that it names) was not run, and what it `needs`.
///
/// # Panics
/// If the file cannot be written to: a test must not be left out in silence.
pub fn say(test: &str, needs: &str) {
    let line = format!("not run: {test}: needs {needs}\n");
    // Whole lines, for other tests write at the same time. Not `eprint!`, which libtest captures.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os(FILE) {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
        let added = file.and_then(|mut f| f.write_all(line.as_bytes()));
        added.unwrap_or_else(|e| panic!("{FILE}={}: {e}", path.display()));
    }
}

/// Whether a program is found by PATH.
pub fn has_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

//! The build whose bytes say nothing of the machine, folder and time of it.

use super::output;
use crate::cargo::call;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What paths of this machine are called in what is built.
const SOURCES: &str = "/usr/src/tuff";
const CRATES: &str = "/usr/src/crates";
const BUILT: &str = "/usr/src/built";
const STD: &str = "/usr/src/rust";

/// Builds what is shipped, and returns the folder that it lies in. Crates are fetched first; the build itself has no network:
/// cargo is told so, and where that is possible (as root) it runs in a network namespace with nothing in it.
pub fn build(source: &Path, target: &Path, time: u64, packages: &[&str]) -> Result<PathBuf, String> {
    let mut fetch = Command::new("cargo");
    fetch.args(["fetch", "--locked"]).current_dir(source);
    call(fetch)?;
    let mut words = vec!["cargo", "build", "--release", "--locked", "--offline"];
    words.extend(packages.iter().flat_map(|p| ["-p", p]));
    if let Some(foreign) = super::target() {
        words.extend(["--target", foreign.triple]);
    }
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } == 0 {
        words.splice(0..0, ["unshare", "--net"]);
    }
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .current_dir(source)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_ENCODED_RUSTFLAGS", flags(source, target)?.join("\x1f"))
        .env("CARGO_INCREMENTAL", "0")
        .env("SOURCE_DATE_EPOCH", time.to_string())
        // `client` leaves the checkout's path out.
        .env("TUFF_DIST", "1")
        .env_remove("RUSTFLAGS");
    if let Some(foreign) = super::target() {
        foreign.prepare(&mut command);
    }
    call(command)?;
    Ok(super::target().map_or(target.into(), |foreign| target.join(foreign.triple)).join("release"))
}

/// rustc's flags: the last prefix that fits is the one that counts.
fn flags(source: &Path, target: &Path) -> Result<Vec<String>, String> {
    let home = std::env::var("HOME").unwrap_or("/root".into());
    let cargo = std::env::var("CARGO_HOME").unwrap_or(format!("{home}/.cargo"));
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]).current_dir(source))?;
    let std = format!("{}/lib/rustlib/src/rust", sysroot.trim());
    let of = |path: &Path| path.canonicalize().unwrap_or(path.to_path_buf()).display().to_string();
    let mut prefixes = vec![(std, STD), (cargo, CRATES), (of(source), SOURCES), (of(target), BUILT)];
    // cargo names the target folder as it was told.
    prefixes.push((target.display().to_string(), BUILT));
    let mut flags: Vec<_> =
        prefixes.into_iter().map(|(from, to)| format!("--remap-path-prefix={from}={to}")).collect();
    if super::target().is_some_and(|to| to.triple == crate::windows::WINDOWS.triple) {
        // The linker would write the time into the headers of programs and libraries.
        flags.push("-Clink-arg=-Wl,--no-insert-timestamp".into());
    }
    Ok(flags)
}

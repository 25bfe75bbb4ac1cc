//! The environment of `tuff gl`, for children of the tests; and what a machine must have for them.

use client::drivers::{library_of, tuff_icd};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What this test program lies in: `target/debug`.
fn folder() -> PathBuf {
    let exe = std::env::current_exe().expect("its own path");
    exe.ancestors().nth(2).expect("target/debug/deps/test").to_path_buf()
}

pub fn library() -> PathBuf {
    let file = "libtuff_perfmon.so";
    // Both builds leave it in the first.
    let places = [folder().join("deps").join(file), folder().join(file)];
    let found = places.into_iter().find(|p| p.exists());
    found.expect("cargo build -p perfmon-gl")
}

pub fn example(name: &str) -> PathBuf {
    let path = folder().join("examples").join(name);
    assert!(path.exists(), "{} is not built: cargo build -p perfmon-gl --examples", path.display());
    path
}

/// Whether Mesa's zink is here; if not, says that `test` was not run.
pub fn has_zink(test: &str) -> bool {
    let here = std::process::Command::new("ldconfig").arg("-p").output();
    let here = here.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains("libEGL.so.1"));
    let drivers =
        ["/usr/lib/x86_64-linux-gnu/dri", "/usr/lib/aarch64-linux-gnu/dri", "/usr/lib/dri", "/usr/lib64/dri"];
    let zink = drivers.iter().any(|d| Path::new(d).join("zink_dri.so").exists());
    if !(here && zink) {
        not_run::say(test, "Mesa's zink (Debian's libegl1, libgles2 and libgl1-mesa-dri)");
    }
    here && zink
}

/// As `tuff gl` would run it.
pub fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let icd = tuff_icd();
    let driver = library_of(&icd).expect("an ICD file");
    assert!(driver.exists(), "{} is not built: cargo build --release -p icd", driver.display());
    let mut command = Command::new(program);
    command
        .env("VK_ICD_FILENAMES", &icd)
        .env("VK_DRIVER_FILES", &icd)
        .env("LIBGL_ALWAYS_SOFTWARE", "1")
        .env("MESA_LOADER_DRIVER_OVERRIDE", "zink")
        .env("GALLIUM_DRIVER", "zink")
        .env("XDG_RUNTIME_DIR", "/dev/null")
        .env("LD_PRELOAD", library());
    command
}

/// What it prints; a failure is the test's.
pub fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}\n{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

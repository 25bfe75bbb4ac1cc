//! `tuff gl`: an OpenGL program on Tuff, through Mesa's zink, with GL_AMD_performance_monitor (docs/opengl.md).

use client::{Error, Result, drivers};
use std::ffi::OsString;
use std::path::PathBuf;

/// The library that is put into the program.
const LIBRARY: &str = "libtuff_perfmon.so";

/// Mesa's own switches: zink, and on it a GPU that is a CPU.
const MESA: [(&str, &str); 3] =
    [("LIBGL_ALWAYS_SOFTWARE", "1"), ("MESA_LOADER_DRIVER_OVERRIDE", "zink"), ("GALLIUM_DRIVER", "zink")];

/// `TUFF_PERFMON`, or beside this program or the driver.
fn library() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("TUFF_PERFMON") {
        return Ok(path.into());
    }
    let driver = drivers::library_of(&drivers::tuff_icd())?;
    let places = [std::env::current_exe().ok(), driver.canonicalize().ok()];
    let found = places.into_iter().flatten().map(|p| p.with_file_name(LIBRARY)).find(|p| p.exists());
    found.ok_or_else(|| Error(format!("{LIBRARY} is not built: cargo build --release -p perfmon-gl")))
}

/// The environment of such a program.
pub fn environment() -> Result<Vec<(&'static str, OsString)>> {
    if cfg!(windows) {
        return Err(Error(
            "`tuff gl` puts a library into programs of Linux: it does not work on Windows".into(),
        ));
    }
    let mut preload = library()?.into_os_string();
    // The program's own come after ours.
    if let Some(others) = std::env::var_os("LD_PRELOAD").filter(|o| !o.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    let mut all: Vec<_> = MESA.iter().map(|&(name, value)| (name, value.into())).collect();
    all.push(("LD_PRELOAD", preload));
    // Mesa's loader complains of a session without one. Nothing is to be put there: what is not private is no runtime folder.
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        all.push(("XDG_RUNTIME_DIR", "/dev/null".into()));
    }
    Ok(all)
}

//! rustc's static run time of a sanitizer as a shared library.

use super::TARGET;
use crate::cargo::call;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the toolchain says to a question about itself.
fn ask(words: &[&str]) -> Result<String, String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let out = Command::new(rustc).args(words).output().map_err(|e| format!("rustc: {e}"))?;
    String::from_utf8(out.stdout).map(|s| s.trim().into()).map_err(|e| format!("rustc: {e}"))
}

/// The static library: `librustc-stable_rt.asan.a` or as the channel is called.
fn original(name: &str) -> Result<PathBuf, String> {
    let folder = Path::new(&ask(&["--print", "sysroot"])?).join("lib/rustlib").join(TARGET).join("lib");
    let end = format!("_rt.{name}.a");
    let files = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let found = files.flatten().map(|f| f.path()).find(|p| p.to_string_lossy().ends_with(&end));
    found.ok_or_else(|| format!("this toolchain has no {end} in {}", folder.display()))
}

/// Clang's own shared run time of threads: rustc's was compiled for programs alone. The oldest that knows what this rustc's
/// LLVM emits is 15's.
pub fn of_clang() -> Result<PathBuf, String> {
    let folders = std::fs::read_dir("/usr/lib").map_err(|e| format!("/usr/lib: {e}"))?;
    let names = folders.flatten().map(|f| f.file_name().to_string_lossy().into_owned());
    let versions = names.filter_map(|n| n.strip_prefix("llvm-").and_then(|v| v.parse::<u32>().ok()));
    let file =
        |v| PathBuf::from(format!("/usr/lib/llvm-{v}/lib/clang/{v}/lib/linux/libclang_rt.tsan-x86_64.so"));
    let mut found: Vec<(u32, PathBuf)> =
        versions.filter(|v| *v >= 15).map(|v| (v, file(v))).filter(|f| f.1.exists()).collect();
    found.sort();
    let newest = found.pop().map(|f| f.1);
    newest.ok_or("no libclang_rt.tsan-x86_64.so (Debian: libclang-rt-19-dev), and none by --runtime".into())
}

/// `folder/libtuff_asan.so`, of rustc's.
pub fn make(name: &str, folder: &Path) -> Result<PathBuf, String> {
    let library = folder.join(format!("libtuff_{name}.so"));
    if library.exists() {
        return Ok(library);
    }
    let copy = folder.join(format!("{name}.a"));
    let from = original(name)?;
    std::fs::copy(&from, &copy).map_err(|e| format!("{}: {e}", from.display()))?;
    // A shared library can have no .preinit_array; its constructors do the same.
    let mut remove = Command::new("ar");
    call({
        remove.arg("d").arg(&copy).arg(format!("{name}_preinit.cpp.o"));
        remove
    })?;
    let mut link = Command::new("cc");
    link.args(["-shared", "-o"]).arg(&library).arg("-Wl,--whole-archive").arg(&copy);
    link.args(["-Wl,--no-whole-archive", "-lgcc_s", "-lpthread", "-ldl", "-lm", "-lrt"]);
    call(link)?;
    Ok(library)
}

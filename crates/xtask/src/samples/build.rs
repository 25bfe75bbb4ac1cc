//! Building the examples, in the target folder; the source folder is only read.

use crate::cargo::call;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Parts that a clone with its submodules has.
const PARTS: [&str; 4] =
    ["CMakeLists.txt", "examples/CMakeLists.txt", "external/glm/glm/glm.hpp", "assets/models"];

/// The folder, if everything is there.
pub fn source(folder: &Path) -> Result<PathBuf, String> {
    let absolute = std::path::absolute(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    match PARTS.iter().find(|p| !absolute.join(p).exists()) {
        None => Ok(absolute),
        Some(part) => Err(format!(
            "{} is no clone of the examples with its submodules, for it lacks {part}: \
             git clone --recursive https://github.com/SaschaWillems/Vulkan",
            folder.display()
        )),
    }
}

/// All examples, by name.
pub fn names(source: &Path) -> Result<Vec<String>, String> {
    let folder = source.join("examples");
    let list = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut names: Vec<_> = list
        .flatten()
        .filter(|e| e.path().is_dir())
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

/// What `<format>` has and the examples use, for compilers older than the header (g++ 12): `{}` replaced in order.
const FORMAT: &str = include_str!("format.hpp");

/// Builds examples, or looks for what was built before; gives the folder with their programs.
pub fn examples(source: &Path, folder: &Path, names: &[String], ready: bool) -> Result<PathBuf, String> {
    let programs = folder.join("bin");
    if ready {
        return Ok(programs);
    }
    let mut flags = "-O1 -w".to_string();
    if !has_format() {
        let include = folder.join("include");
        let file = include.join("format");
        let written = std::fs::create_dir_all(&include).and_then(|()| std::fs::write(&file, FORMAT));
        written.map_err(|e| format!("{}: {e}", file.display()))?;
        flags += &format!(" -I{}", include.display());
    }
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(source).arg("-B").arg(folder).args(["-G", "Ninja", "-DUSE_HEADLESS=ON"]);
    // Of a build type's own flags there are none; examples leave out what an assert() would do.
    configure.arg(format!("-DCMAKE_CXX_FLAGS={flags} -DNDEBUG")).arg("-DCMAKE_BUILD_TYPE=");
    call(configure)?;
    let mut ninja = Command::new("ninja");
    // Others are built where one cannot be, which is said later.
    ninja.arg("-C").arg(folder).args(["-k", "0"]).args(names);
    if let Err(e) = call(ninja) {
        eprintln!("xtask: {e}");
    }
    Ok(programs)
}

/// Whether the compiler has the header `<format>`.
fn has_format() -> bool {
    let mut compiler = Command::new(std::env::var_os("CXX").unwrap_or("c++".into()));
    compiler.args(["-std=c++20", "-fsyntax-only", "-include", "format", "-x", "c++", "/dev/null"]);
    compiler.stderr(std::process::Stdio::null());
    compiler.status().is_ok_and(|s| s.success())
}

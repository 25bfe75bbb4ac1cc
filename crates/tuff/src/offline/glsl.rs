//! GLSL to SPIR-V with line numbers, by whichever shader compiler is installed.

use super::names;
use client::{Error, Result};
use shader::instrument::Source;
use shader::ir::Stage;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How SPIR-V begins.
pub const SPIRV: [u8; 4] = [0x03, 0x02, 0x23, 0x07];

/// Compilers in the order in which they are looked for.
pub const COMPILERS: [&str; 3] = ["glslangValidator", "glslang", "glslc"];

fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|p| p.is_file())
}

/// The SPIR-V's bytes.
pub fn compile(file: &Path, stage: Stage) -> Result<Vec<u8>> {
    let compiler = COMPILERS.iter().find_map(|name| found(name)).ok_or_else(|| {
        let why = "is no SPIR-V, and neither glslangValidator (glslang-tools) nor glslc is installed";
        Error::file(file, why)
    })?;
    // Threads compile too, each into a file of its own.
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let out = client::scratch(&format!("{number}.spv"))?;
    let mut command = Command::new(&compiler);
    let stage = names(stage).0;
    match compiler.ends_with("glslc") {
        true => command.args(["-g", "--target-env=vulkan1.3"]).arg(format!("-fshader-stage={stage}")),
        false => command.args(["-g", "-V", "--target-env", "vulkan1.3", "-S", stage]),
    };
    let output = command.arg(file).arg("-o").arg(&out).output();
    let bytes = std::fs::read(&out);
    let _ = std::fs::remove_file(&out);
    let output = output.map_err(|e| Error::file(&compiler, e))?;
    match bytes {
        Ok(bytes) if output.status.success() => Ok(bytes),
        _ => {
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said).trim().to_string();
            Err(Error(format!("{}: {} says\n{said}", file.display(), compiler.display())))
        }
    }
}

/// The file itself in place of the copy that glslang keeps, which begins with its own comments.
pub fn own(sources: &mut [Source], file: &Path) {
    for s in sources.iter_mut().filter(|s| Path::new(&s.file).file_name() == file.file_name()) {
        s.text = std::fs::read_to_string(file).unwrap_or_default();
    }
}

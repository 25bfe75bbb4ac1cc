//! The GPU Performance layer, above the driver by the loader: it must say of programs what it says on Linux.

use super::{Wine, of_windows};
use crate::cargo::{on_driver, root, target_folder};
use crate::same::{Outcome, Report};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The conformance program that has them.
pub const CHILD: &str = "layer-child";

/// The layer's crate.
pub const CRATE: &str = "layer-gpu-performance";

/// Programs whose rows are the same in every run.
const PROGRAMS: [&str; 9] = [
    "diagram",
    "passes",
    "multiview",
    "suspended",
    "labelled",
    "transfers",
    "resubmitted",
    "secondaries",
    "rays",
];

const NAME: &str = "VK_LAYER_TUFF_gpu_performance";
const MANIFEST: &str = "VkLayer_TUFF_gpu_performance.json";

/// Where a program and the loader's things for it are.
pub struct Place<'a> {
    pub program: &'a Path,
    /// The driver's ICD file.
    pub icd: &'a Path,
    /// The layer's library.
    pub library: PathBuf,
}

impl Place<'_> {
    /// The library as cargo builds it for Linux, as it is released.
    pub fn linux() -> PathBuf {
        target_folder().join("release/libVkLayer_TUFF_gpu_performance.so")
    }

    pub fn windows(built: &Path) -> PathBuf {
        built.join("VkLayer_TUFF_gpu_performance.dll")
    }
}

/// Writes a manifest for a library, with the path that the loader is to read; the manifest's path.
fn manifest(folder: &Path, library: &str) -> Result<PathBuf, String> {
    let at = |path: &Path, e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let source = root().join("crates/layer-gpu-performance").join(MANIFEST);
    let text = std::fs::read_to_string(&source).map_err(|e| at(&source, &e))?;
    let mut json: serde_json::Value = serde_json::from_str(&text).map_err(|e| at(&source, &e))?;
    json["layer"]["library_path"] = library.into();
    let file = folder.join(MANIFEST);
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&file, format!("{json:#}\n")))
        .map_err(|e| at(&file, &e))?;
    Ok(file)
}

/// Runs a command, and gives the rows that the layer has written.
fn rows(mut command: Command, csv: &Path) -> Result<Outcome, String> {
    let _ = std::fs::remove_file(csv);
    command.env("TUFF_PERFORMANCE_MODE", "counters");
    let output = command.output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let text = std::fs::read_to_string(csv).map_err(|e| format!("{}: {e}", csv.display()))?;
    Ok(Outcome::of_rows(&text))
}

/// Compares what the layer says of each program.
pub fn compare(
    wine: &Wine,
    folder: &Path,
    here: &Place,
    there: &Place,
    report: &mut Report,
) -> Result<(), String> {
    let own = folder.join("linux/layer");
    manifest(&own, &here.library.display().to_string())?;
    let other = manifest(&folder.join("layer"), &of_windows(&there.library))?;
    wine.register("ExplicitLayers", &other)?;
    let batch = folder.join("layer.bat");
    let text = format!("@set VK_INSTANCE_LAYERS={NAME}\r\n@%*\r\n");
    std::fs::write(&batch, text).map_err(|e| format!("{}: {e}", batch.display()))?;
    let csv = folder.join("layer.csv");
    for program in PROGRAMS {
        let mut command = Command::new(here.program);
        on_driver(command.arg(program), here.icd)
            .env("VK_LAYER_PATH", &own)
            .env("VK_INSTANCE_LAYERS", NAME)
            .env("TUFF_PERFORMANCE_CSV", &csv);
        let want = rows(command, &csv).map_err(|e| format!("{program}, on Linux: {e}"))?;
        let mut command = wine.show("cmd");
        command
            .args(["/c", &of_windows(&batch), &of_windows(there.program), program])
            .env("TUFF_PERFORMANCE_CSV", of_windows(&csv));
        report.compare(&format!("{CHILD} {program}"), &want, rows(command, &csv), false);
    }
    Ok(())
}

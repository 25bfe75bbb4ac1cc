//! The package for Windows: a zip with the driver, the layer, `tuff.exe`, their manifests, a script that tells the loader of them, and the
//! page about Windows.

use super::sbom::Crates;
use super::tree::{read, text};
use super::{Args, VERSION, build, copy, licences, time, wheel};
use crate::cargo::{root, target_folder};
use std::path::{Path, PathBuf};

/// What is shipped.
const PACKAGES: [&str; 3] = ["tuff", "icd", "layer-gpu-performance"];

const DRIVER: &str = "vulkan_tuff.dll";
const MANIFEST: &str = "tuff_icd.json";
const LAYER: &str = "VkLayer_TUFF_gpu_performance.dll";
const LAYER_MANIFEST: &str = "VkLayer_TUFF_gpu_performance.json";

/// What an administrator runs to have all programs of the machine find the driver and the layer, or to undo that. (The loader looks for
/// drivers in the machine's part of the registry alone.)
const SCRIPT: &str = r#"@echo off
rem Tells the Vulkan loader of Tuff and its layer, for all programs of this machine. To be run as administrator.
rem register.bat remove: undoes it.
setlocal
set KEY=HKLM\SOFTWARE\Khronos\Vulkan
if "%~1"=="remove" goto remove
reg add %KEY%\Drivers /v "%~dp0tuff_icd.json" /t REG_DWORD /d 0 /f
if errorlevel 1 goto failed
reg add %KEY%\ExplicitLayers /v "%~dp0VkLayer_TUFF_gpu_performance.json" /t REG_DWORD /d 0 /f
if errorlevel 1 goto failed
exit /b 0
:remove
reg delete %KEY%\Drivers /v "%~dp0tuff_icd.json" /f
if errorlevel 1 goto failed
reg delete %KEY%\ExplicitLayers /v "%~dp0VkLayer_TUFF_gpu_performance.json" /f
if errorlevel 1 goto failed
exit /b 0
:failed
echo The registry was not changed: run this as administrator.
exit /b 1
"#;

/// Makes the zip, and with --check makes it again from a copy of the sources in another folder.
pub fn run(args: &Args) -> Result<(), String> {
    let out = args.out.clone().unwrap_or_else(|| target_folder().join("dist/windows"));
    let time = time(&root())?;
    if args.built.is_none() {
        crate::windows::provide_tools("packages")?;
    }
    let made = match &args.built {
        Some(folder) => folder.clone(),
        None => build::build(&root(), &out.join("build"), time, &PACKAGES)?,
    };
    let bytes = package(&root(), &made, time)?;
    let file: PathBuf = out.join(format!("{}.zip", folder()));
    std::fs::create_dir_all(&out)
        .and_then(|()| std::fs::write(&file, &bytes))
        .map_err(|e| format!("{}: {e}", file.display()))?;
    println!("{:>10} bytes  {}", bytes.len(), file.display());
    if args.check {
        let sources = out.join("again/elsewhere/sources");
        if sources.exists() {
            std::fs::remove_dir_all(&sources).map_err(|e| format!("{}: {e}", sources.display()))?;
        }
        copy(&root(), &sources)?;
        let made = build::build(&sources, &out.join("again/build"), time, &PACKAGES)?;
        if package(&sources, &made, time)? != bytes {
            return Err(format!("{} differs the second time", file.display()));
        }
        println!("xtask: two builds in two folders, the same bytes in {}", out.display());
    }
    Ok(())
}

/// The folder in the zip.
fn folder() -> String {
    format!("tuff-{VERSION}-windows-x86_64")
}

/// The zip of what was built to a folder.
fn package(source: &Path, made: &Path, time: u64) -> Result<Vec<u8>, String> {
    let crates = Crates::read(source)?;
    let files = [
        ("tuff.exe", read(&made.join("tuff.exe"))?),
        (DRIVER, read(&made.join(DRIVER))?),
        (MANIFEST, manifest().into_bytes()),
        (LAYER, read(&made.join(LAYER))?),
        (LAYER_MANIFEST, layer_manifest(source)?.into_bytes()),
        ("register.bat", SCRIPT.replace('\n', "\r\n").into_bytes()),
        ("windows.md", read(&source.join("docs/windows.md"))?),
        ("tuff_channel.h", read(&source.join("include/tuff_channel.h"))?),
        ("LICENSE-APACHE", read(&source.join("LICENSE-APACHE"))?),
        ("LICENSE-MIT", text(&source.join("LICENSE-MIT"))?.into_bytes()),
        ("licences.txt", licences::texts(&crates, source)?.into_bytes()),
    ];
    for (name, bytes) in files.iter().filter(|(name, _)| name.ends_with(".dll") || name.ends_with(".exe")) {
        println!("{:>10} bytes  {name}", bytes.len());
    }
    let files = files.into_iter().map(|(name, bytes)| (format!("{}/{name}", folder()), (bytes, 0o644)));
    wheel::archive(files, time)
}

/// A relative path counts from the manifest's folder.
fn manifest() -> String {
    let json = serde_json::json!({
        "file_format_version": "1.0.1",
        "ICD": { "library_path": format!(".\\{DRIVER}"), "api_version": "1.4.0" }
    });
    format!("{json:#}\n")
}

/// The checkout's, with a library beside it.
fn layer_manifest(source: &Path) -> Result<String, String> {
    let path = source.join("crates/layer-gpu-performance").join(LAYER_MANIFEST);
    let at = |e: String| format!("{}: {e}", path.display());
    let json: Result<serde_json::Value, _> = serde_json::from_str(&text(&path)?);
    let mut json = json.map_err(|e| at(e.to_string()))?;
    let library =
        json.pointer_mut("/layer/library_path").ok_or_else(|| at("no layer.library_path".into()))?;
    *library = format!(".\\{LAYER}").into();
    Ok(format!("{json:#}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_and_the_script_name_what_lies_beside_them() {
        let json: serde_json::Value = serde_json::from_str(&manifest()).unwrap();
        assert_eq!(json["ICD"]["library_path"], ".\\vulkan_tuff.dll");
        let json: serde_json::Value = serde_json::from_str(&layer_manifest(&root()).unwrap()).unwrap();
        assert_eq!(json["layer"]["library_path"], ".\\VkLayer_TUFF_gpu_performance.dll");
        assert_eq!(json["layer"]["name"], "VK_LAYER_TUFF_gpu_performance");
        assert_eq!(SCRIPT.matches(&format!("%~dp0{MANIFEST}\"")).count(), 2);
        assert_eq!(SCRIPT.matches(&format!("%~dp0{LAYER_MANIFEST}\"")).count(), 2);
    }
}

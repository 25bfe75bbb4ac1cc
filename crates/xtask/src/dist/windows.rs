//! The package for Windows: a zip with the driver, its manifest, a script that tells the loader of it, and the page about Windows.

use super::sbom::Crates;
use super::tree::{read, text};
use super::{Args, VERSION, build, copy, licences, time, wheel};
use crate::cargo::{root, target_folder};
use std::path::{Path, PathBuf};

/// What is shipped.
const PACKAGES: [&str; 1] = ["icd"];

const MANIFEST: &str = "tuff_icd.json";

/// What a user runs to have all programs of the machine find the driver, or to undo that.
const SCRIPT: &str = r#"# Tells the Vulkan loader of Tuff, for all programs of this machine (as administrator) or, without these rights, for this user's.
# register.ps1 -Remove undoes it.
param([switch]$Remove)
$admin = ([Security.Principal.WindowsPrincipal][Security.Principal.WindowsIdentity]::GetCurrent()).IsInRole(
    [Security.Principal.WindowsBuiltInRole]::Administrator)
$key = "$(if ($admin) { 'HKLM' } else { 'HKCU' }):\SOFTWARE\Khronos\Vulkan\Drivers"
$manifest = Join-Path $PSScriptRoot 'tuff_icd.json'
if ($Remove) {
    Remove-ItemProperty -Path $key -Name $manifest
} else {
    New-Item -Path $key -Force -ErrorAction SilentlyContinue | Out-Null
    New-ItemProperty -Path $key -Name $manifest -PropertyType DWord -Value 0 -Force | Out-Null
}
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
        ("vulkan_tuff.dll", read(&made.join("vulkan_tuff.dll"))?),
        (MANIFEST, manifest().into_bytes()),
        ("register.ps1", SCRIPT.replace('\n', "\r\n").into_bytes()),
        ("windows.md", read(&source.join("docs/windows.md"))?),
        ("tuff_channel.h", read(&source.join("include/tuff_channel.h"))?),
        ("LICENSE-APACHE", read(&source.join("LICENSE-APACHE"))?),
        ("LICENSE-MIT", text(&source.join("LICENSE-MIT"))?.into_bytes()),
        ("licences.txt", licences::texts(&crates, source)?.into_bytes()),
    ];
    let files = files.into_iter().map(|(name, bytes)| (format!("{}/{name}", folder()), (bytes, 0o644)));
    wheel::archive(files, time)
}

/// A relative path counts from the manifest's folder.
fn manifest() -> String {
    let json = serde_json::json!({
        "file_format_version": "1.0.1",
        "ICD": { "library_path": ".\\vulkan_tuff.dll", "api_version": "1.4.0" }
    });
    format!("{json:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_and_the_script_name_what_lies_beside_them() {
        let json: serde_json::Value = serde_json::from_str(&manifest()).unwrap();
        assert_eq!(json["ICD"]["library_path"], ".\\vulkan_tuff.dll");
        assert!(SCRIPT.contains(&format!("'{MANIFEST}'")));
    }
}

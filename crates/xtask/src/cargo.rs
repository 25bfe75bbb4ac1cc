//! Calling cargo and other programs: with one line of what and how long.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The checkout.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    manifest.canonicalize().unwrap_or(manifest)
}

/// Where cargo builds to.
pub fn target_folder() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => std::path::absolute(&folder).unwrap_or(folder.into()),
        None => root().join("target"),
    }
}

/// A cargo command in the checkout. Incremental compilation pays from the second time on: here it is left off, unless
/// the driver has been built with it before.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(arguments).current_dir(root());
    if std::env::var_os("CARGO_INCREMENTAL").is_none() && !is_incremental() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Options for a debug build of everything: fewer units of the crates with kernels, where nothing is kept for the next time.
/// What is inlined is compiled in each unit anew: a tenth of all compilation, and there are other crates for the cores.
pub fn whole() -> impl Iterator<Item = String> {
    const UNITS: [(&str, u32); 6] =
        [("wave", 4), ("shader", 4), ("texel", 2), ("raster", 2), ("icd", 4), ("conformance", 4)];
    let units = UNITS.iter().map(|(c, n)| format!("profile.dev.package.{c}.codegen-units={n}"));
    // A panic says its place without.
    let settings = units.chain(["profile.dev.debug=false".into()]).filter(|_| !is_incremental());
    settings.flat_map(|s| ["--config".into(), s])
}

/// Whether there is something to build on from the last compilation of the driver's crate.
fn is_incremental() -> bool {
    let crates = std::fs::read_dir(target_folder().join("debug/incremental")).into_iter().flatten().flatten();
    crates.into_iter().any(|c| c.file_name().to_string_lossy().starts_with("vulkan_tuff-"))
}

/// Builds packages as they are released. `tuff` always takes part: cargo gives procedural macros other features where a
/// program with clap is among the packages, and would build the whole driver anew each time that changed.
pub fn release(packages: &[&str], arguments: &[&str]) -> Result<(), String> {
    let packages = ["tuff"].iter().chain(packages).flat_map(|p| ["-p", p]);
    let words: Vec<_> =
        ["build", "--release"].into_iter().chain(packages).chain(arguments.iter().copied()).collect();
    call(cargo(&words))
}

/// Runs cargo, and gives the programs it has made: package, target, path.
pub fn programs(
    arguments: &[&str],
    prepare: impl FnOnce(&mut Command),
) -> Result<Vec<(String, String, PathBuf)>, String> {
    let mut command = cargo(arguments);
    prepare(&mut command);
    command.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
    println!("xtask: cargo {}", arguments.join(" "));
    let output = command.output().map_err(|e| format!("cargo: {e}"))?;
    if !output.status.success() {
        return Err(format!(
            "cargo {}: {}\n{}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let mut list = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(m) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        if let (Some(path), Some(target)) = (m["executable"].as_str(), m["target"]["name"].as_str()) {
            // path+file:///…/crates/wave#0.1.0
            let id = m["package_id"].as_str().unwrap_or_default();
            let package = id.split('#').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
            list.push((package.to_string(), target.to_string(), path.into()));
        }
    }
    Ok(list)
}

/// An ICD file that names the library.
pub fn icd_file(library: &Path) -> String {
    let library = library.display();
    format!(
        "{{\"file_format_version\": \"1.0.1\", \"ICD\": {{\"library_path\": \"{library}\", \"api_version\": \"1.4.0\"}}}}"
    )
}

/// Runs `command` to its end; anything but success is an error that names it.
pub fn call(command: Command) -> Result<(), String> {
    call_with(command, |_| Ok(()))
}

/// As [`call`]; `meanwhile` has the process while it runs, for what it prints.
pub fn call_with(
    mut command: Command,
    meanwhile: impl FnOnce(&mut Child) -> Result<(), String>,
) -> Result<(), String> {
    let words: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|w| w.to_string_lossy().into_owned())
        .collect();
    let line = words.join(" ");
    println!("xtask: {line}");
    let start = Instant::now();
    let mut child = command.spawn().map_err(|e| format!("{line}: {e}"))?;
    let seen = meanwhile(&mut child);
    let status = child.wait().map_err(|e| format!("{line}: {e}"))?;
    println!("xtask: {:.0} s", start.elapsed().as_secs_f64());
    if status.success() { seen } else { Err(format!("{line}: {status}")) }
}

/// Another task of this program.
pub fn own(arguments: &[&str]) -> Result<Command, String> {
    // Asked once, early: the tests' build may put another file in this one's place, and what runs is "(deleted)" then.
    static PATH: LazyLock<Result<PathBuf, String>> =
        LazyLock::new(|| std::env::current_exe().map_err(|e| format!("own path: {e}")));
    let mut command = Command::new(PATH.as_ref().map_err(String::clone)?);
    command.args(arguments).current_dir(root());
    Ok(command)
}

/// Builds packages and the driver as they are released, and writes an ICD file into a folder that names the driver, wherever it
/// is built to. A driver that TUFF_ICD names is taken as it is, and is not built.
pub fn own_driver(folder: &Path, packages: &[&str]) -> Result<PathBuf, String> {
    if let Some(icd) = std::env::var_os("TUFF_ICD") {
        if !packages.is_empty() {
            release(packages, &[])?;
        }
        return std::path::absolute(&icd).map_err(|e| format!("TUFF_ICD: {e}"));
    }
    release(&[packages, &["icd"]].concat(), &[])?;
    let library = target_folder().join("release/libvulkan_tuff.so");
    let icd = folder.join("tuff_icd.json");
    let text = serde_json::json!({
        "file_format_version": "1.0.1", "ICD": { "library_path": library, "api_version": "1.4.0" }
    });
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&icd, text.to_string()))
        .map_err(|e| format!("{}: {e}", icd.display()))?;
    Ok(icd)
}

/// Has a command meet the driver of this ICD file alone.
pub fn on_driver<'a>(command: &'a mut Command, icd: &Path) -> &'a mut Command {
    command.env("VK_DRIVER_FILES", icd).env("VK_ICD_FILENAMES", icd)
}

/// Waits for a child; `None`: it was ended, for it did not end by itself in time.
pub fn wait_for(child: &mut Child, patience: Duration) -> std::io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None if start.elapsed() > patience => {
                let _ = child.kill();
                let _ = child.wait();
                return Ok(None);
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

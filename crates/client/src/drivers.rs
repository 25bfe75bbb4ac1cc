//! Drivers by their ICD files: Tuff's own, and the peers it is compared with where they are installed; and the
//! environment in which a child process meets just one of them.

use crate::{Error, Result, scratch};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A driver that a child process can be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// `tuff`, `lavapipe`, `swiftshader`, or what the user called it.
    pub name: String,
    /// Its ICD file, absolute.
    pub icd: PathBuf,
}

/// Folders in which drivers leave their ICD files: on Windows the registry has these, and peers are not looked for.
const FOLDERS: &[&str] = if cfg!(windows) {
    &[]
} else {
    &[
        "/etc/vulkan/icd.d",
        "/usr/local/share/vulkan/icd.d",
        "/usr/share/vulkan/icd.d",
        "/usr/lib/chromium",
        "/usr/lib/chromium-browser",
        "/opt/google/chrome",
    ]
};

/// The checkout that this was built in; nobody's, and no path in the program, where it was built to be installed
/// (`cargo xtask dist`) or for another system than the checkout's.
const CHECKOUT: Option<&str> = match option_env!("TUFF_DIST") {
    _ if cfg!(windows) => None,
    Some(_) => None,
    None => Some(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")),
};

/// A path in the checkout, without its turns.
fn checkout(path: &str) -> Option<PathBuf> {
    let path = Path::new(CHECKOUT?).join(path);
    Some(path.canonicalize().unwrap_or(path))
}

/// Tuff's ICD file: `TUFF_ICD`, or the one that this program was installed with, or the checkout's own where the library
/// that it names has been built, or else one written beside a library that lies where this program was built to (a target
/// folder elsewhere).
pub fn tuff_icd() -> PathBuf {
    if let Some(icd) = std::env::var_os("TUFF_ICD") {
        return icd.into();
    }
    let name =
        if cfg!(windows) { ICD.to_string() } else { format!("tuff_icd.{}.json", std::env::consts::ARCH) };
    if let Some(icd) = installed(&format!("icd.d/{name}")) {
        return icd;
    }
    let checkout = checkout("icd.json");
    if let Some(icd) = checkout.as_ref().filter(|c| library_of(c).is_ok_and(|l| l.exists())) {
        return icd.clone();
    }
    beside_this_program().or(checkout).unwrap_or(name.into())
}

/// A file that was installed with this program, by its path below `PREFIX/share/vulkan` (`PREFIX/bin/tuff`). On Windows all files lie
/// in one folder.
fn installed(path: &str) -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    if cfg!(windows) {
        let file = exe.with_file_name(Path::new(path).file_name()?);
        return file.exists().then_some(file);
    }
    let bin = exe.parent().filter(|f| f.ends_with("bin"))?;
    let file = bin.parent()?.join("share/vulkan").join(path);
    file.exists().then_some(file)
}

/// `.../release/tuff` and `.../debug/deps/test-123` both have `.../release` with this library two folders up or nearer.
fn beside(library: &str) -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    exe.ancestors().skip(2).take(2).map(|f| f.join("release")).find(|f| f.join(library).exists())
}

/// Writes a file where it differs: renamed into place, for another process or thread may be reading it.
fn put(folder: &Path, name: &str, text: &str) -> std::io::Result<()> {
    static DRAFTS: AtomicUsize = AtomicUsize::new(0);
    let file = folder.join(name);
    if std::fs::read_to_string(&file).is_ok_and(|t| t == text) {
        return Ok(());
    }
    let draft = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let draft = folder.join(format!("{name}.{}.{draft}", std::process::id()));
    std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, &file))
}

fn beside_this_program() -> Option<PathBuf> {
    let folder = beside(LIBRARY)?;
    // The loader of Windows knows a path by its backslash.
    let here = if cfg!(windows) { r".\\" } else { "./" };
    let text = format!(
        "{{\"file_format_version\": \"1.0.1\", \"ICD\": {{\"library_path\": \"{here}{LIBRARY}\", \"api_version\": \"1.4.0\"}}}}\n"
    );
    put(&folder, ICD, &text).ok()?;
    Some(folder.join(ICD))
}

/// The name of the GPU Performance layer, of its library and its manifest.
pub const LAYER: &str = "VK_LAYER_TUFF_gpu_performance";
const LAYER_LIBRARY: &str =
    if cfg!(windows) { "VkLayer_TUFF_gpu_performance.dll" } else { LAYER_OF_MANIFEST };
/// As the checkout's manifest has it.
const LAYER_OF_MANIFEST: &str = "libVkLayer_TUFF_gpu_performance.so";
const LAYER_MANIFEST: &str = "VkLayer_TUFF_gpu_performance.json";

/// The folder with the manifest of the GPU Performance layer, for VK_LAYER_PATH: `TUFF_LAYER`, or where it was installed
/// with this program, or the checkout's where its library has been built, or else one beside a library that lies where this
/// program was built to.
pub fn layer_folder() -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os("TUFF_LAYER") {
        return Ok(folder.into());
    }
    if let Some(manifest) = installed(&format!("explicit_layer.d/{LAYER_MANIFEST}")) {
        return Ok(manifest.parent().unwrap_or(Path::new("/")).to_path_buf());
    }
    if let Some(folder) = checkout("crates/layer-gpu-performance")
        && folder.join("../../target/release").join(LAYER_LIBRARY).exists()
    {
        return Ok(folder);
    }
    let missing = || Error(format!("{LAYER} is not built: cargo build --release -p layer-gpu-performance"));
    let release = beside(LAYER_LIBRARY).ok_or_else(missing)?;
    let text = include_str!("../../layer-gpu-performance/VkLayer_TUFF_gpu_performance.json");
    let folder = release.join("layers");
    let above = if cfg!(windows) { r"..\\" } else { "../" };
    let text = text.replace("../../target/release/", above).replace(LAYER_OF_MANIFEST, LAYER_LIBRARY);
    let written = std::fs::create_dir_all(&folder).and_then(|()| put(&folder, LAYER_MANIFEST, &text));
    written.map_err(|e| Error(format!("{}: {e}", folder.display())))?;
    Ok(folder)
}

/// The name of Tuff as it is when every pipeline is instrumented.
pub const INSTRUMENTED: &str = "instrumented";

/// The name of Tuff as it is when all that it counts is read, workload by workload.
pub const READ: &str = "read";

/// Its ICD file beside a library that lies where it was built to.
const ICD: &str = "tuff_icd.json";

/// The driver's file name.
pub const LIBRARY: &str = if cfg!(windows) { "vulkan_tuff.dll" } else { "libvulkan_tuff.so" };

/// The shared object that an ICD file names: a relative path with a slash (or Windows' backslash) counts from the file's folder.
pub fn library_of(icd: &Path) -> Result<PathBuf> {
    let text = std::fs::read_to_string(icd).map_err(|e| Error(format!("{}: {e}", icd.display())))?;
    let json: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| Error(format!("{}: {e}", icd.display())))?;
    let path = json["ICD"]["library_path"]
        .as_str()
        .ok_or_else(|| Error(format!("{}: no ICD.library_path", icd.display())))?;
    if path.contains(std::path::is_separator) && !Path::new(path).has_root() {
        Ok(icd.parent().unwrap_or(Path::new(".")).join(path))
    } else {
        Ok(PathBuf::from(path))
    }
}

/// Whose ICD file this is, by the library it names; its file stem where nobody knows.
pub fn name_of(icd: &Path) -> String {
    let library = library_of(icd).map(|l| l.to_string_lossy().into_owned()).unwrap_or_default();
    for (part, name) in [("vulkan_tuff", "tuff"), ("lvp", "lavapipe"), ("swiftshader", "swiftshader")] {
        if library.contains(part) {
            return name.into();
        }
    }
    icd.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The ICD file of an installed peer (`lavapipe` or `swiftshader`), if there is one.
pub fn find(peer: &str) -> Option<Driver> {
    FOLDERS.iter().find_map(|folder| {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.flatten().map(|e| e.path()).collect();
        files.sort();
        files
            .into_iter()
            .filter(|f| f.extension().is_some_and(|e| e == "json"))
            .find(|f| name_of(f) == peer)
            .map(|icd| Driver { name: peer.into(), icd })
    })
}

/// Tuff, and the installed peers in a fixed order; the names of the absent ones come second.
pub fn all() -> (Vec<Driver>, Vec<String>) {
    let mut here = vec![Driver { name: "tuff".into(), icd: tuff_icd() }];
    let mut absent = Vec::new();
    for peer in ["lavapipe", "swiftshader"] {
        match find(peer) {
            Some(d) => here.push(d),
            None => absent.push(peer.to_string()),
        }
    }
    (here, absent)
}

/// How many threads a driver may use in a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    Count(usize),
    All,
}

impl Driver {
    fn is_tuff(&self) -> bool {
        ["tuff", "uncounted", INSTRUMENTED, READ].contains(&self.name.as_str())
    }

    /// Prepares `command` to see this driver alone, without shader caches on disk, on `threads` threads.
    pub fn prepare(&self, command: &mut Command, threads: Threads) {
        command
            .env("VK_ICD_FILENAMES", &self.icd)
            .env("VK_DRIVER_FILES", &self.icd)
            .env("VK_LOADER_LAYERS_DISABLE", "~all~")
            .env("MESA_SHADER_CACHE_DISABLE", "true");
        if self.name == INSTRUMENTED {
            // Without a folder it would not be what is measured.
            command.env("TUFF_INSTRUMENT", scratch("instrumented").expect("a temporary folder"));
        }
        if self.name == READ {
            command.env("TUFF_COUNTERS", scratch("read.json").expect("a temporary folder"));
        }
        // What is to be measured is Tuff.
        if !self.is_tuff() {
            command.env_remove("VK_INSTANCE_LAYERS").env_remove("VK_LOADER_LAYERS_ENABLE");
        }
        let Threads::Count(n) = threads else { return };
        match self.name.as_str() {
            _ if self.is_tuff() => drop(command.env("TUFF_THREADS", n.to_string())),
            "lavapipe" => drop(command.env("LP_NUM_THREADS", n.to_string())),
            // SwiftShader reads SwiftShader.ini in the working folder, and counts the CPUs of the affinity mask.
            "swiftshader" => {
                let ini = format!("[Processor]\nThreadCount={n}\n");
                if let Ok(folder) = scratch(&format!("swiftshader-{n}"))
                    && std::fs::create_dir_all(&folder).is_ok()
                    && std::fs::write(folder.join("SwiftShader.ini"), ini).is_ok()
                {
                    command.current_dir(folder);
                }
                limit_cpus(command, n);
            }
            _ => limit_cpus(command, n),
        }
    }
}

/// Threads of peers are not limited here.
#[cfg(windows)]
fn limit_cpus(_: &mut Command, _: usize) {}

/// Gives the child the first `n` CPUs of this process's affinity mask.
#[cfg(unix)]
fn limit_cpus(command: &mut Command, n: usize) {
    use std::os::unix::process::CommandExt;
    let limit = move || {
        // SAFETY: the mask is plain data; sched_* are async-signal-safe system calls.
        unsafe {
            let mut have: libc::cpu_set_t = std::mem::zeroed();
            let mut want: libc::cpu_set_t = std::mem::zeroed();
            let size = std::mem::size_of::<libc::cpu_set_t>();
            if libc::sched_getaffinity(0, size, &mut have) == 0 {
                let cpus = (0..libc::CPU_SETSIZE as usize).filter(|c| libc::CPU_ISSET(*c, &have));
                cpus.take(n).for_each(|c| libc::CPU_SET(c, &mut want));
                libc::sched_setaffinity(0, size, &want);
            }
        }
        Ok(())
    };
    // SAFETY: the closure only makes system calls.
    unsafe { command.pre_exec(limit) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_count_from_the_icd_files_folder() {
        let folder = scratch("drivers").unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        let icd = folder.join("x.json");
        let write = |path: &str| {
            std::fs::write(&icd, format!("{{\"ICD\": {{\"library_path\": \"{path}\"}}}}")).unwrap();
        };
        write("./libvulkan_tuff.so");
        assert_eq!(library_of(&icd).unwrap(), folder.join("./libvulkan_tuff.so"));
        assert_eq!(name_of(&icd), "tuff");
        write("/usr/lib/libvulkan_lvp.so");
        assert_eq!(library_of(&icd).unwrap(), Path::new("/usr/lib/libvulkan_lvp.so"));
        assert_eq!(name_of(&icd), "lavapipe");
        write("libother.so");
        assert_eq!(library_of(&icd).unwrap(), Path::new("libother.so"));
        assert_eq!(name_of(&icd), "x");
        std::fs::write(&icd, "{").unwrap();
        assert!(library_of(&icd).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_checkouts_icd_file_names_tuff() {
        assert_eq!(name_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../icd.json")), "tuff");
    }
}

//! The build's key: a hash of the sources that say what a compiled program is and means. Blobs of pipeline caches belong
//! to one key (pipelineCacheUUID), so those of another build are not taken. Same sources, same key: no clock, no paths
//! of this machine.

use std::hash::Hasher;
use std::path::{Path, PathBuf};

#[allow(dead_code, reason = "the driver uses the rest")]
#[path = "src/base/hash.rs"]
mod hash;

/// Compiler, engine, GPU and driver. The lock file has the versions of what they depend on.
const PARTS: [&str; 14] = [
    "../settings/src",
    "../fused/src",
    "../small-sort/src",
    "../simd/src",
    "../graph/src",
    "../shader/src",
    "../wave/src",
    "../texel/src",
    "../bvh/src",
    "../machine/src",
    "../raster/src",
    "../gpu/src",
    "src",
    "../../Cargo.lock",
];

fn files(at: &Path, found: &mut Vec<PathBuf>) {
    if at.is_dir() {
        let entries = std::fs::read_dir(at).unwrap_or_else(|e| panic!("{}: {e}", at.display()));
        entries.for_each(|e| files(&e.expect("an entry").path(), found));
    } else if at.extension().is_some_and(|e| e == "rs" || e == "lock") {
        // Not what an editor leaves there.
        found.push(at.to_path_buf());
    }
}

fn main() {
    let mut all = vec![];
    for part in PARTS {
        println!("cargo::rerun-if-changed={part}");
        files(Path::new(part), &mut all);
    }
    // The order of a directory's entries is the system's, and so is the separator.
    let mut named: Vec<(String, PathBuf)> =
        all.into_iter().map(|p| (p.to_string_lossy().replace('\\', "/"), p)).collect();
    named.sort();
    let mut h = hash::Hasher128::default();
    for (name, path) in &named {
        h.write(name.as_bytes());
        h.write(&std::fs::read(path).unwrap_or_else(|e| panic!("{name}: {e}")));
    }
    h.write(if std::env::var_os("CARGO_FEATURE_UNCOUNTED").is_some() { b"uncounted" } else { b"" });
    println!("cargo::rustc-env=TUFF_BUILD={:032x}", h.done());
    let windows = std::env::var_os("CARGO_CFG_WINDOWS").is_some();
    // OUT_DIR is <target>/<profile>/build/<crate>/out; the library lies in <target>/<profile>.
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from);
    if let Some(folder) = out.as_deref().and_then(|o| o.ancestors().nth(3)) {
        // The release library is stripped: its symbols are in a file of their own (src/base/panics.rs reads it).
        println!(
            "cargo::rustc-cdylib-link-arg=-Wl,--no-demangle,-Map={}",
            folder.join(if windows { "vulkan_tuff.map" } else { "libvulkan_tuff.map" }).display()
        );
    }
    // The rest is for linkers of ELF; Windows' library stays in the process by itself (texel/memory/system/windows.rs).
    if windows {
        // The same bytes at any time.
        println!("cargo::rustc-cdylib-link-arg=-Wl,--no-insert-timestamp");
        println!("cargo::rustc-check-cfg=cfg(sanitized)");
        return;
    }
    // A program that destroys its last instance and makes another finds the library as it was: with the one range of addresses that it
    // reserves (texel/memory/space.rs), which nobody gives back.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // A sanitizer stands there itself, and looks at what each caller does (CARGO_CFG_SANITIZE is set where rustc was asked
    // for one).
    println!("cargo::rustc-check-cfg=cfg(sanitized)");
    if std::env::var_os("CARGO_CFG_SANITIZE").is_some() {
        println!("cargo::rustc-cfg=sanitized");
        return;
    }
    // src/base/alloc.rs stands in their place.
    for name in ["malloc", "calloc", "realloc", "posix_memalign", "free"] {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--wrap={name}");
    }
}

//! Who reads the environment.

use std::path::{Path, PathBuf};

/// The driver's crates ask here. Programs, layers and tests have variables of their own, and say what is wrong.
#[test]
fn nobody_else_in_the_driver_reads_the_environment() {
    const OTHERS: [&str; 10] = [
        "settings/",
        "client/",
        "conformance/",
        "frame-preload/",
        "layer-gpu-performance/",
        "not-run/",
        "tuff/",
        "xtask/",
        // TUFF_TEST_SIMD, for tests alone.
        "simd/src/levels.rs",
        // A test's child, likewise.
        "files/src/lib.rs",
    ];
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut folders: Vec<PathBuf> =
        crates.read_dir().unwrap().map(|e| e.unwrap().path().join("src")).filter(|p| p.exists()).collect();
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for path in folder.read_dir().unwrap().map(|e| e.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&crates).unwrap().to_string_lossy().into_owned();
            let reads = std::fs::read_to_string(&path).is_ok_and(|t| t.contains("env::var"));
            assert!(!reads || OTHERS.iter().any(|o| name.starts_with(o)), "{name} reads the environment");
            files += 1;
        }
    }
    assert!(files > 100, "{files}");
}

//! The Python package (`python/tuff`) with the driver and the program of this build: its own tests.

use std::path::Path;
use std::process::Command;

#[test]
fn the_python_package_runs_programs() {
    let test = "the_python_package_runs_programs";
    if !not_run::has_program("python3") {
        return not_run::say(test, "python3");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let tuff = Path::new(env!("CARGO_BIN_EXE_tuff"));
    let program = tuff.with_file_name("examples").join("dispatch");
    assert!(program.exists(), "{} is not built: cargo build -p tuff --examples", program.display());
    // The folder as a package has it.
    let prefix = temporary::folder("tuff-prefix-").unwrap();
    let make = |name: &str| {
        let path = prefix.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    std::os::unix::fs::symlink(tuff, make("bin/tuff")).unwrap();
    let manifest = make(&format!("share/vulkan/icd.d/tuff_icd.{}.json", std::env::consts::ARCH));
    let icd = client::drivers::tuff_icd();
    let library = client::drivers::library_of(&icd).unwrap();
    let text = serde_json::json!({
        "file_format_version": "1.0.1",
        "ICD": { "library_path": library, "api_version": "1.4.0" },
    });
    std::fs::write(manifest, text.to_string()).unwrap();
    let shader = root.join("crates/tuff/tests/coverage/collatz.spv");
    assert!(shader.exists(), "{}", shader.display());
    let output = Command::new("python3")
        .arg(root.join("python/tests/test_package.py"))
        .env("PYTHONPATH", root.join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("TUFF_PREFIX", prefix.path())
        .env("TUFF_TEST_PROGRAM", format!("{} {} 4", program.display(), shader.display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("Ran 11 tests") && said.contains("\nOK\n"), "{said}");
}

//! What is left out of `cargo test` to spare its compilation has no tests.

use std::path::{Path, PathBuf};
use toml::{Table, Value};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for e in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = e.path();
        match path.extension() {
            _ if path.is_dir() => sources(&path, found),
            Some(e) if e == "rs" => found.push(path),
            _ => {}
        }
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn is(target: &Value, key: &str, value: bool) -> bool {
    target.get(key).and_then(Value::as_bool) == Some(value)
}

#[test]
fn every_test_is_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut crates: Vec<PathBuf> =
        std::fs::read_dir(root.join("crates")).unwrap().map(|e| e.unwrap().path()).collect();
    crates.extend(["benches", "cts-subset", "fuzz/api"].map(|c| root.join(c)));
    let mut seen = [0; 3];
    for folder in crates.iter().filter(|c| c.join("Cargo.toml").is_file()) {
        let manifest: Table = read(&folder.join("Cargo.toml")).parse().expect("a manifest");
        let name = folder.display();
        let (mut files, bin) = (vec![], folder.join("src/bin"));
        sources(&folder.join("src"), &mut files);
        files.retain(|f| !f.starts_with(&bin) && f.file_name().is_some_and(|n| n != "main.rs"));
        if let Some(lib) = manifest.get("lib") {
            for f in files.iter().filter(|_| is(lib, "test", false)) {
                assert!(
                    !read(f).contains("#[test]"),
                    "{}: a test of a library whose manifest says test = false",
                    f.display()
                );
                seen[0] += 1;
            }
            for f in files.iter().filter(|_| is(lib, "doctest", false)) {
                // Every second fence opens a block: without a language that is Rust.
                let text = read(f);
                let fences = text
                    .lines()
                    .filter_map(|l| l.trim_start().trim_start_matches(['/', '!']).trim().strip_prefix("```"));
                let example = fences.step_by(2).any(str::is_empty);
                assert!(
                    !example,
                    "{}: an example in a library whose manifest says doctest = false",
                    f.display()
                );
            }
        }
        for b in manifest
            .get("bin")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter(|b| is(b, "test", false))
        {
            let own = format!("src/bin/{}.rs", b["name"].as_str().expect("a name"));
            let path = folder.join(b.get("path").and_then(Value::as_str).unwrap_or(&own));
            assert!(
                !read(&path).contains("#[test]"),
                "{}: a test of a program whose manifest says test = false",
                path.display()
            );
            seen[1] += 1;
        }
        if manifest["package"].get("autotests").and_then(Value::as_bool) == Some(false) {
            let programs: Vec<&str> = manifest["test"]
                .as_array()
                .expect("tests")
                .iter()
                .map(|t| t["path"].as_str().expect("a path"))
                .collect();
            let main = read(&folder.join("tests/main.rs"));
            for e in std::fs::read_dir(folder.join("tests")).unwrap() {
                let file = e.unwrap().file_name().into_string().expect("a name");
                let Some(stem) = file.strip_suffix(".rs") else { continue };
                let listed = programs.contains(&format!("tests/{file}").as_str())
                    || main.lines().any(|l| l == format!("mod {stem};"));
                assert!(listed, "{name}/tests/{file} belongs to no program");
                seen[2] += 1;
            }
        }
    }
    assert!(seen.iter().all(|n| *n > 5), "{seen:?}");
}

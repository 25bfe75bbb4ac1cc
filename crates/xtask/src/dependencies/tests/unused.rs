//! Each dependency in a `Cargo.toml` of the workspace is named in code that can use it: `[dependencies]` in `src` outside tests,
//! `[build-dependencies]` in `build.rs`, `[dev-dependencies]` anywhere.

use super::{list, metadata, text};
use crate::cargo::root;
use serde_json::Value;
use std::path::Path;

/// The sources below a folder without comments; without tests unless they are asked for.
fn sources(folder: &Path, tests: bool, out: &mut String) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let stem = name.trim_end_matches(".rs");
        if !tests && (stem == "tests" || stem.ends_with("_tests")) {
            continue;
        }
        if path.is_dir() {
            sources(&path, tests, out);
        } else if name.ends_with(".rs") {
            out.push_str(&code(&std::fs::read_to_string(&path).expect("a source"), tests));
        }
    }
}

/// A file's lines without comments, up to a module of tests that stands at its end.
fn code(text: &str, tests: bool) -> String {
    let mut lines = text.lines().map(|l| l.split("//").next().unwrap_or_default()).peekable();
    let mut kept = String::new();
    while let Some(line) = lines.next() {
        let module = |next: &&str| next.contains("mod ") && next.ends_with('{');
        if !tests && line == "#[cfg(test)]" && lines.peek().is_some_and(module) {
            break;
        }
        kept.push_str(line);
        kept.push('\n');
    }
    kept
}

/// Whether code names a crate: its name as the first part of a path, or in a `use` or `extern crate` of its own.
fn names(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(i, _)| {
        let (before, after) = (&code[..i], &code[i + name.len()..]);
        let part = |c: char| c.is_alphanumeric() || c == '_';
        let whole = !before.ends_with(part) && !after.starts_with(part);
        let first = !before.ends_with("::") || before.ends_with(" ::");
        let alone = before.ends_with("use ") || before.ends_with("crate ");
        whole && first && !before.ends_with('.') && (after.starts_with("::") || alone)
    })
}

/// Whether a package of the workspace has a shared library: tests depend on it so that cargo builds it for them.
fn loaded(packages: &[Value], name: &str) -> bool {
    let targets = packages.iter().filter(|p| text(p, "name") == name).flat_map(|p| list(p, "targets"));
    targets.flat_map(|t| list(t, "kind")).any(|k| k == "cdylib")
}

/// A build script, with the files that it takes from the crate by `#[path]`.
fn build_script(folder: &Path) -> String {
    let script = std::fs::read_to_string(folder.join("build.rs")).unwrap_or_default();
    let parts = script.split("#[path = \"").skip(1).filter_map(|p| p.split('"').next());
    let parts: String = parts.map(|p| std::fs::read_to_string(folder.join(p)).expect("a source")).collect();
    code(&(script.clone() + &parts), true)
}

#[test]
fn every_dependency_is_used() {
    let workspace = metadata(&["--no-deps"]).expect("the workspace");
    let packages = list(&workspace, "packages");
    let mut unused = vec![];
    for package in packages {
        let manifest = Path::new(text(package, "manifest_path"));
        let folder = manifest.parent().expect("a folder");
        let build = build_script(folder);
        let (mut product, mut all) = (String::new(), build.clone());
        sources(&folder.join("src"), false, &mut product);
        ["src", "tests", "examples", "benches"].iter().for_each(|f| sources(&folder.join(f), true, &mut all));
        for d in list(package, "dependencies") {
            let name = d["rename"].as_str().unwrap_or(text(d, "name"));
            let (table, code) = match text(d, "kind") {
                "dev" => ("dev-dependencies", &all),
                "build" => ("build-dependencies", &build),
                _ => ("dependencies", &product),
            };
            let built = text(d, "kind") == "dev" && loaded(packages, text(d, "name"));
            if !built && !names(code, &name.replace('-', "_")) {
                let at = manifest.strip_prefix(root()).unwrap_or(manifest).display();
                unused.push(format!("{at}: [{table}] {name}"));
            }
        }
    }
    assert!(unused.is_empty(), "no code names these:\n{}", unused.join("\n"));
}

#[test]
fn a_name_is_the_first_part_of_a_path() {
    for named in
        ["use half::f16;", "x(half::f16)", "use half;", "<half::f16>", "use half as h;", "x = ::half::f16"]
    {
        assert!(names(named, "half"), "{named}");
    }
    for other in ["use crate::half::f16;", "half", "behalf::f16", "halfway::f16", "x.half::<u8>()"] {
        assert!(!names(other, "half"), "{other}");
    }
    assert!(!names(&code("// half::f16\n#[cfg(test)]\nmod tests {\n half::f16\n", false), "half"));
}

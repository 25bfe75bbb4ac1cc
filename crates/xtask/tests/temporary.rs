//! Temporary files and folders are made by `crates/temporary`: exclusively, for their owner alone, under names that nobody can foretell. A name
//! that is put together in a folder that all may write to is one that somebody else may have made before, as a link to anywhere.

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for e in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = e.path();
        match path.extension() {
            _ if path.is_dir() && !path.ends_with("target") => sources(&path, found),
            Some(e) if ["rs", "sh", "c", "py"].iter().any(|k| e == *k) => found.push(path),
            _ => {}
        }
    }
}

/// Lines of a source that name something in the system's temporary folder by hand.
fn by_hand(text: &str) -> Vec<String> {
    let mut wrong = vec![];
    for (n, line) in text.lines().enumerate() {
        // The folder itself may be told of.
        let told = ["Error::file(&std::env::temp_dir()", "temp_dir().display()"];
        let rest = told.iter().fold(line.to_string(), |l, t| l.replace(t, ""));
        if ["temp_dir()", "tempfile::", "\"/tmp/", "/tmp/$"].iter().any(|w| rest.contains(w)) {
            wrong.push(format!("{}: {}", n + 1, line.trim()));
        }
    }
    wrong
}

#[test]
fn temporary_files_are_made_by_the_library() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![];
    for folder in ["crates", "benches", "cts-subset", "fuzz", "docs", ".ci"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 500, "{}", files.len());
    // This file, a table of mounts, and who makes them.
    let left_out = ["xtask/tests/temporary.rs", "xtask/src/fresh/chroot.rs", "temporary/src/lib.rs"];
    for file in files.iter().filter(|f| !left_out.iter().any(|l| f.ends_with(l))) {
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let wrong = by_hand(&text);
        assert!(wrong.is_empty(), "{}: use temporary::folder, or client::scratch: {wrong:?}", file.display());
    }
}

#[test]
fn names_made_by_hand_are_found() {
    for wrong in [
        "let f = std::env::temp_dir().join(format!(\"x-{}\", std::process::id()));",
        "    std::env::temp_dir()\n        .join(\"x\")",
        "let f = format!(\"/tmp/x-{n}\");",
        "cc -o /tmp/$$.out x.c",
        "let f = tempfile::tempdir();",
    ] {
        assert_eq!(by_hand(wrong).len(), 1, "{wrong}");
    }
    assert!(by_hand("made.map_err(|e| Error::file(&std::env::temp_dir(), e))").is_empty());
}

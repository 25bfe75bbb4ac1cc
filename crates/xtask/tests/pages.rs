//! What the pages name is where they say.

use std::path::Path;

#[test]
fn files_that_pages_name_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    for page in
        ["docs/contributing.md", "docs/dependencies.md", "README.md", "ARCHITECTURE.md", "CHANGELOG.md"]
    {
        let text = std::fs::read_to_string(root.join(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
        // Code in a line: between two backticks of it.
        let codes = text.lines().flat_map(|l| l.split('`').skip(1).step_by(2));
        let places = ["crates/", "docs/", "include/", "benches/", "fuzz/"];
        for code in codes.filter(|c| places.iter().any(|p| c.starts_with(p))) {
            // Patterns, and names to be chosen.
            if code.contains(['*', '…', ' ']) || code.contains("NAME") {
                continue;
            }
            assert!(root.join(code).exists(), "{page}: {code}");
            seen += 1;
        }
    }
    assert!(seen > 30, "{seen}");
}

/// What is to be copied from a page fits the packages that `cargo xtask dist` makes now: by a pattern, or by this version.
#[test]
fn packages_that_pages_name_are_of_this_version() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read =
        |page: &str| std::fs::read_to_string(root.join(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
    let mut seen = 0;
    for page in [
        "README.md",
        "docs/ci.md",
        "docs/ci/Dockerfile",
        "docs/ci/github.yml",
        "docs/ci/gitlab-ci.yml",
        ".github/workflows/ci.yml",
        ".github/actions/setup-tuff/action.yml",
    ] {
        let text = read(page);
        for name in ["tuff_", "tuff-"] {
            let versions =
                text.split(name).skip(1).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            for rest in versions {
                let version: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
                assert_eq!(version, env!("CARGO_PKG_VERSION"), "{page}: {name}{version}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 1, "{seen}");
    // And the oldest compiler that the pages name is the manifest's.
    let manifest: toml::Table = read("Cargo.toml").parse().expect("a manifest");
    let oldest = manifest["workspace"]["package"]["rust-version"].as_str().expect("a version");
    for (page, words) in
        [("README.md", format!("Rust {oldest} or newer")), (".ci/run", format!("of {oldest} or newer"))]
    {
        assert!(read(page).contains(&words), "{page}: no {words:?}");
    }
}

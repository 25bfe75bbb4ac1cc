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

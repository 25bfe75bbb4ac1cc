//! The npm package: a tar.gz with the tree of files below `prefix`, and the scripts of `npm`.

use super::tree::{File, Tree, files, read, text};
use super::{VERSION, pack, wheel};
use std::path::Path;

pub fn file_name() -> String {
    format!("tuff-gpu-{VERSION}.tgz")
}

pub fn package(tree: &Tree, source: &Path, time: u64) -> Result<Vec<u8>, String> {
    let mut all = Tree::new();
    for (path, file) in wheel::needed(tree) {
        all.insert(format!("prefix/{path}"), file);
    }
    let folder = source.join("npm");
    for path in files(&folder)? {
        let name = path.strip_prefix(&folder).unwrap_or(&path).display().to_string();
        let mode = if name == "tuff.js" { 0o755 } else { 0o644 };
        all.insert(name, File { bytes: text(&path)?.replace("@VERSION@", VERSION).into_bytes(), mode });
    }
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        all.insert(licence.into(), File { bytes: read(&source.join(licence))?, mode: 0o644 });
    }
    pack::gzip(&pack::tar(&all, "package", time)?)
}

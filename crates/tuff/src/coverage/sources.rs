//! Where the sources of shaders are for readers of a tracefile: on disk, or written there from what a module embeds.

use client::{Error, Result};
use shader::Module;
use shader::instrument::sources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// No source is longer; a `#line` directive may claim more.
const MOST_LINES: u32 = 1_000_000;

/// The texts that a module embeds, by the names of their files. Each line is where compilers count it: a compiler's preamble is left
/// out, and files that `#line` directives name are apart.
pub fn texts(m: &Module) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, BTreeMap<u32, String>> = BTreeMap::new();
    for s in sources(m) {
        for ((file, line), row) in s.rows().into_iter().zip(s.text.lines()) {
            if line <= MOST_LINES {
                files.entry(file).or_default().insert(line, row.to_string());
            }
        }
    }
    let joined = |rows: BTreeMap<u32, String>| {
        let last = rows.keys().next_back().copied().unwrap_or(0);
        (1..=last).fold(String::new(), |all, line| all + rows.get(&line).map_or("", String::as_str) + "\n")
    };
    files.into_iter().map(|(file, rows)| (file, joined(rows))).collect()
}

/// The folder for sources that are not on disk.
pub struct Folder {
    path: PathBuf,
    /// What an earlier run has written there stays.
    keep: bool,
    written: BTreeSet<PathBuf>,
}

impl Folder {
    pub fn new(path: PathBuf, keep: bool) -> Folder {
        Folder { path, keep, written: BTreeSet::new() }
    }

    /// The path for SF records of a file of which a module has this name and text.
    pub fn path(&mut self, name: &str, text: Option<&str>) -> Result<String> {
        let line = |path: &str| path.replace(char::is_control, "_");
        let (false, Some(text)) = (Path::new(name).is_file(), text) else { return Ok(line(name)) };
        let clean = line(name);
        let parts = Path::new(&clean).components();
        let inside: PathBuf = parts.filter(|c| matches!(c, Component::Normal(_))).collect();
        // Different sources may have the same name.
        for n in 1.. {
            let to = self.path.join(numbered(&inside, n));
            let taken = self.written.contains(&to) || self.keep && to.exists();
            if taken && std::fs::read(&to).ok().as_deref() != Some(text.as_bytes()) {
                continue;
            }
            if !taken {
                let folder = to.parent().unwrap_or(&self.path);
                std::fs::create_dir_all(folder).map_err(|e| Error::file(folder, e))?;
                std::fs::write(&to, text).map_err(|e| Error::file(&to, e))?;
            }
            self.written.insert(to.clone());
            return Ok(to.display().to_string());
        }
        unreachable!("numbers do not end")
    }
}

/// `a/lit.frag`, `a/lit.2.frag`, …
fn numbered(path: &Path, n: u32) -> PathBuf {
    if n == 1 {
        return path.to_path_buf();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let end = path.extension().map_or(String::new(), |e| format!(".{}", e.to_string_lossy()));
    path.with_file_name(format!("{stem}.{n}{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_one_name_are_kept_apart() {
        let place = temporary::folder("tuff-").unwrap();
        let at = |name: &str| place.path().join(name).display().to_string();
        let mut folder = Folder::new(place.path().into(), false);
        let mut path = |name: &str, text| folder.path(name, text).unwrap();
        assert_eq!(path("/nowhere/a.frag", Some("1")), at("nowhere/a.frag"));
        assert_eq!(path("../../nowhere/a.frag", Some("2")), at("nowhere/a.2.frag"));
        assert_eq!(path("/nowhere/a.frag", Some("1")), at("nowhere/a.frag"));
        assert_eq!(path("shader", Some("1")), at("shader"));
        assert_eq!(path("shader", Some("2")), at("shader.2"));
        assert_eq!(path("b\n.frag", None), "b_.frag");
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml").display().to_string();
        assert_eq!(path(&here, Some("1")), here);
        // A later run adds to them, or begins anew.
        let mut later = Folder::new(place.path().into(), true);
        assert_eq!(later.path("shader", Some("3")).unwrap(), at("shader.3"));
        assert_eq!(later.path("shader", Some("2")).unwrap(), at("shader.2"));
        let mut anew = Folder::new(place.path().into(), false);
        assert_eq!(anew.path("shader", Some("3")).unwrap(), at("shader"));
    }
}

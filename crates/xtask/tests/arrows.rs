//! The arrows of ARCHITECTURE.md are those of the code: crates know the crates below them that the page names, and the
//! rooms of a crate know those to the right of them. Files of one room may know each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The rows of the page's block below a line: a name, and the names after it.
fn rows(below: &str) -> Vec<(String, Vec<String>)> {
    let page = read(&root().join("ARCHITECTURE.md"));
    let (_, rest) = page.split_once(&format!("\n{below}\n")).unwrap_or_else(|| panic!("no line {below}"));
    let block = rest.lines().skip_while(|l| l.is_empty()).take_while(|l| l.starts_with("    "));
    let words = block.map(|l| l.split_whitespace().map(str::to_string).collect::<Vec<_>>());
    let rows: Vec<_> = words.map(|w| (w[0].clone(), w[1..].to_vec())).collect();
    assert!(!rows.is_empty(), "nothing below {below}");
    rows
}

#[test]
fn crates_know_those_that_the_page_says() {
    let rows = rows("Each crate depends on the crates after it in its row:");
    let mut above = BTreeSet::new();
    for (name, told) in &rows {
        above.insert(name);
        if let Some(up) = told.iter().find(|d| above.contains(d)) {
            panic!("{name} -> {up} points upward");
        }
        let file = root().join("crates").join(name).join("Cargo.toml");
        let file: toml::Table = read(&file).parse().expect("TOML");
        let all = file["dependencies"].as_table().expect("a table");
        let here = |d: &&String| root().join("crates").join(d).is_dir();
        let real: BTreeSet<&String> = all.keys().filter(here).collect();
        assert_eq!(real, told.iter().collect(), "{name}: what Cargo.toml has, what ARCHITECTURE.md says");
    }
}

/// The key of pipeline caches follows from all that runs a compiled program.
#[test]
fn the_builds_key_is_of_all_crates_that_run_programs() {
    let build = read(&root().join("crates/icd/build.rs"));
    for (name, _) in rows("Each crate depends on the crates after it in its row:") {
        // What is counted and how it is told is no part of a compiled program.
        if !["icd", "counters", "sanitize", "schedule", "channel", "vk", "plain", "files"]
            .contains(&name.as_str())
        {
            assert!(build.contains(&format!("\"../{name}/src\"")), "crates/icd/build.rs leaves {name} out");
        }
    }
}

/// A room's source without comments and tests.
fn code(path: &Path) -> String {
    let text = read(path);
    let mut kept = vec![];
    let mut lines = text.lines().map(|l| l.split("//").next().unwrap_or_default()).peekable();
    while let Some(line) = lines.next() {
        // A module of tests with its body stands at a file's end; one without is a line.
        match lines.peek().filter(|next| line == "#[cfg(test)]" && next.contains("mod ")) {
            Some(module) if module.ends_with('{') => break,
            Some(_) => drop(lines.next()),
            None => kept.push(line),
        }
    }
    kept.join("\n")
}

/// Files of a folder and of those in it, with how many modules deep each lies.
fn files(at: &Path, depth: usize, found: &mut Vec<(PathBuf, usize)>) {
    for e in std::fs::read_dir(at).unwrap_or_else(|e| panic!("{}: {e}", at.display())).flatten() {
        let (path, name) = (e.path(), e.file_name().to_string_lossy().into_owned());
        let stem = name.trim_end_matches(".rs");
        if stem == "tests" || stem.ends_with("_tests") || stem == "for_tests" {
            continue;
        }
        if path.is_dir() {
            files(&path, depth + 1, found);
        } else if name.ends_with(".rs") {
            found.push((path, if ["mod", "lib"].contains(&stem) { depth } else { depth + 1 }));
        }
    }
}

/// Names that follow a path's beginning: one, or those of a group.
fn names(after: &str) -> Vec<String> {
    let word = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(group) = after.strip_prefix('{') else { return vec![word(after)] };
    let (mut depth, mut begins, mut all) = (0, true, vec![]);
    for (i, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            c if begins && !c.is_whitespace() => {
                all.push(word(&group[i..]));
                begins = false;
            }
            _ => {}
        }
    }
    all
}

/// What source `depth` modules deep in the module `root` (`crate::`, or `crate::tile::`) names there.
fn known(code: &str, root: &str, depth: usize) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (start, up) in [(root.to_string(), 0), ("super::".repeat(depth.max(1)), depth)] {
        for (i, _) in code.match_indices(&start) {
            let before = code[..i].chars().next_back().unwrap_or(' ');
            let after = &code[i + start.len()..];
            let whole = !(before.is_alphanumeric() || [':', '_', '$'].contains(&before));
            // `super::` of the root's own file would lead out of the crate.
            if whole && (up > 0 || start == root) && !after.starts_with("super::") {
                found.extend(names(after));
            }
        }
    }
    found
}

#[test]
fn rooms_of_a_crate_know_those_to_their_right() {
    for (name, rooms) in rows("Within these crates, a room depends only on rooms to its right:") {
        // `raster/tile`: rooms of a module of a crate.
        let (name, inner) = name.split_once('/').unwrap_or((&name, ""));
        let src = root().join("crates").join(name).join("src").join(inner);
        let module = if inner.is_empty() { "crate::".to_string() } else { format!("crate::{inner}::") };
        let mut sources: BTreeMap<String, Vec<(PathBuf, usize)>> = BTreeMap::new();
        let mut all = vec![];
        files(&src, 0, &mut all);
        for (path, depth) in all {
            let first = path.strip_prefix(&src).expect("inside").components().next().expect("a name");
            let room = first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_string();
            sources.entry(room).or_default().push((path, depth));
        }
        // The file of the crate or module itself.
        sources.remove(if inner.is_empty() { "lib" } else { "mod" });
        // `a+b` is one room of several modules.
        let modules = |rooms: &[String]| -> Vec<String> {
            rooms.iter().flat_map(|r| r.split('+')).map(str::to_string).collect()
        };
        assert_eq!(
            sources.keys().cloned().collect::<BTreeSet<_>>(),
            modules(&rooms).into_iter().collect::<BTreeSet<_>>(),
            "{name}/{inner}: the rooms that there are, those that ARCHITECTURE.md names"
        );
        for (i, room) in rooms.iter().enumerate() {
            for (path, depth) in room.split('+').flat_map(|module| &sources[module]) {
                let known = known(&code(path), &module, *depth);
                let wrong: Vec<_> = modules(&rooms[..i]).into_iter().filter(|r| known.contains(r)).collect();
                assert!(wrong.is_empty(), "{} knows {wrong:?}", path.display());
            }
        }
    }
}

#[test]
fn names_are_found() {
    let code = "use crate::{a::{b, c}, d};\nuse super::super::e::F;\nfn g() { $crate::h(); super::i(); crate::j::k() }";
    let all = |s: &[&str]| s.iter().map(|s| s.to_string()).collect::<BTreeSet<_>>();
    assert_eq!(known(code, "crate::", 2), all(&["a", "d", "e", "j"]));
    assert_eq!(known("use super::e::F;", "crate::", 1), all(&["e"]));
    assert_eq!(known("use super::{e::F, g};", "crate::", 2), all(&[]));
    let code = "use crate::k::{a::B, c::{D, E}};\nuse crate::l::F;\nuse super::super::g::H;";
    assert_eq!(known(code, "crate::k::", 2), all(&["a", "c", "g"]));
}

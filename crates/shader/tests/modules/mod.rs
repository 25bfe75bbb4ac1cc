//! SPIR-V modules in files, for tests and examples.

use random::Random;
use shader::Module;
use shader::ir::Stage;
use shader::options::{Binding, Options};
use std::path::{Path, PathBuf};

/// The words of a file.
pub fn read(path: impl AsRef<Path>) -> Vec<u32> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    shader::words(&bytes)
}

/// The modules in these folders and below them, by their paths.
pub fn below(mut folders: Vec<PathBuf>) -> Vec<(PathBuf, Vec<u32>)> {
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for e in entries {
            let path = e.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|x| x == "spv") {
                let words = read(&path);
                out.push((path, words));
            }
        }
    }
    out.sort();
    out
}

/// A module's entry points of the stages that there are.
pub fn entries(module: &Module) -> Vec<(String, Stage)> {
    let stage = |model| match model {
        0 => Some(Stage::Vertex),
        1 => Some(Stage::TessControl),
        2 => Some(Stage::TessEval),
        3 => Some(Stage::Geometry),
        4 => Some(Stage::Fragment),
        5364 => Some(Stage::Task),
        5365 => Some(Stage::Mesh),
        5 => Some(Stage::Compute),
        _ => None,
    };
    module.entry_points().into_iter().filter_map(|(name, model)| Some((name, stage(model)?))).collect()
}

/// With every binding there, and nothing specialised.
pub fn options(stage: Stage, entry: &str) -> Options<'_> {
    Options::new(stage, entry, &|_, b| Some(Binding::new(0, b % 64 * 32, 64)))
}

/// A program's arguments, `[--mutate N] FILE…`: the files, and N.
pub fn arguments() -> (Vec<String>, u32) {
    let mut files: Vec<String> = std::env::args().skip(1).collect();
    let mut mutations = 0;
    if files.first().is_some_and(|a| a == "--mutate") {
        mutations = files.get(1).and_then(|n| n.parse().ok()).unwrap_or(1);
        files.drain(..2.min(files.len()));
    }
    (files, mutations)
}

/// A copy with one to three words changed.
pub fn damaged(words: &[u32], r: &mut Random) -> Vec<u32> {
    let mut w = words.to_vec();
    for _ in 0..1 + r.below(3) {
        let at = 5 + r.index(w.len() - 5);
        let other = r.index(w.len());
        w[at] = match r.below(16) {
            0..=5 => w[other],
            6..=9 => w[at] ^ 1 << r.below(32),
            10..=13 => w[at].wrapping_add(1 + r.below(4)),
            _ => r.u32(),
        };
    }
    w
}

//! What `tuff shader` is given: files, folders and standard input.

use super::languages::{Language, SPIRV, by_name};
use client::{Error, Result};
use shader::ir::Stage;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Folders within one another, so that a link to a parent does not lead on for ever.
const DEEPEST: u32 = 64;

/// A shader's text or module.
pub struct Input {
    /// The file; `stdin` for standard input.
    pub file: PathBuf,
    pub contents: Vec<u8>,
    /// By its name; `None`: it has none of a language's, or is SPIR-V.
    pub language: Option<Language>,
    pub stage: Option<Stage>,
    /// It was found in a folder, where there are other files than shaders as well.
    pub found: bool,
    /// The contents are those of `file`.
    pub on_disk: bool,
}

impl Input {
    fn new(file: PathBuf, contents: Vec<u8>, found: bool, on_disk: bool) -> Input {
        let (language, stage) = by_name(&file);
        Input { file, contents, language, stage, found, on_disk }
    }
    pub fn is_spirv(&self) -> bool {
        self.contents.starts_with(&SPIRV)
    }
}

fn read(file: &Path, found: bool) -> Result<Input> {
    let contents = std::fs::read(file).map_err(|e| Error::file(file, e))?;
    Ok(Input::new(file.into(), contents, found, true))
}

/// Whether a file of a folder is a shader by its name. `common.glsl` and `common.hlsl` are not: their stage is unknown, so other files
/// include them.
fn is_shader(file: &Path) -> bool {
    match by_name(file) {
        (Some(language), stage) => stage.is_some() || !language.needs_stage(),
        (None, _) => file.extension().is_some_and(|e| e == "spv"),
    }
}

fn folder(path: &Path, deep: u32, all: &mut Vec<Input>) -> Result<()> {
    if deep > DEEPEST {
        return Err(Error::file(path, format!("more than {DEEPEST} folders within one another")));
    }
    let entries = std::fs::read_dir(path).and_then(|e| e.collect::<std::io::Result<Vec<_>>>());
    let mut paths: Vec<_> = entries.map_err(|e| Error::file(path, e))?.iter().map(|e| e.path()).collect();
    paths.sort();
    for path in paths {
        // A link may lead to a file, and not to a folder.
        if std::fs::symlink_metadata(&path).is_ok_and(|m| m.is_dir()) {
            folder(&path, deep + 1, all)?;
        } else if is_shader(&path) && path.is_file() {
            all.push(read(&path, true)?);
        }
    }
    Ok(())
}

/// All shaders that these paths name, in the order of the paths, those of a folder by name. `-` is standard input.
pub fn inputs(paths: &[PathBuf]) -> Result<Vec<Input>> {
    let mut all = vec![];
    for path in paths {
        if path.as_os_str() == "-" {
            let mut contents = vec![];
            std::io::stdin().read_to_end(&mut contents).map_err(|e| Error(format!("standard input: {e}")))?;
            all.push(Input::new("stdin".into(), contents, false, false));
        } else if path.is_dir() {
            let before = all.len();
            folder(path, 0, &mut all)?;
            if all.len() == before {
                return Err(Error::file(path, "no shaders in this folder"));
            }
        } else {
            all.push(read(path, false)?);
        }
    }
    Ok(all)
}

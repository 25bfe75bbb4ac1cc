//! Which pictures a file, a folder or a capture has.

use crate::report::capture::FILE;
use client::{Error, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// By name: of a folder, its path in there without the extension.
pub type Pictures = BTreeMap<String, PathBuf>;

/// Folders within one another.
const DEEPEST: u32 = 64;

pub fn is_capture(path: &Path) -> bool {
    path.join(FILE).is_file()
}

fn is_picture(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "png" || e == "ppm")
}

fn folder(path: &Path, inside: &str, deep: u32, all: &mut Pictures) -> Result<()> {
    let say = |e: std::io::Error| Error::file(path, e);
    for entry in std::fs::read_dir(path).map_err(say)? {
        let entry = entry.map_err(say)?;
        let (file, kind) = (entry.path(), entry.file_type().map_err(say)?);
        let name = |of: &Path| format!("{inside}{}", of.file_name().unwrap_or_default().to_string_lossy());
        if kind.is_dir() && deep < DEEPEST {
            folder(&file, &format!("{}/", name(&file)), deep + 1, all)?;
        } else if is_picture(&file) {
            let name = name(&file.with_extension(""));
            if let Some(other) = all.insert(name, file.clone()) {
                return Err(Error::file(&file, format!("{} has the same name", other.display())));
            }
        }
    }
    Ok(())
}

/// A capture's render passes by their labels and names; of equal ones, the second has a number.
fn capture(path: &Path) -> Result<Pictures> {
    let file = path.join(FILE);
    let say = |e: String| Error::file(&file, e);
    let text = std::fs::read_to_string(&file).map_err(|e| say(e.to_string()))?;
    let capture: Value = serde_json::from_str(&text).map_err(|e| say(e.to_string()))?;
    let mut all = Pictures::new();
    for pass in capture["passes"].as_array().into_iter().flatten() {
        let Some(picture) = pass["picture"].as_str() else { continue };
        let workload = &capture["workloads"][pass["workload"].as_u64().unwrap_or(u64::MAX) as usize];
        let text = |key: &str| workload[key].as_str().unwrap_or_default();
        let name = [text("label"), text("name")]
            .into_iter()
            .filter(|t| !t.is_empty())
            .collect::<Vec<_>>()
            .join(": ");
        let mut free = name.clone();
        for n in 2.. {
            if !all.contains_key(&free) {
                break;
            }
            free = format!("{name} ({n})");
        }
        all.insert(free, path.join(picture));
    }
    Ok(all)
}

/// # Errors
/// There are none, or they cannot be listed.
pub fn pictures(path: &Path) -> Result<Pictures> {
    let mut all = Pictures::new();
    if is_capture(path) {
        all = capture(path)?;
    } else if path.is_dir() {
        folder(path, "", 0, &mut all)?;
    } else {
        std::fs::metadata(path).map_err(|e| Error::file(path, e))?;
        all.insert(String::new(), path.into());
    }
    match all.is_empty() {
        true => Err(Error::file(path, "no pictures (.png or .ppm) here")),
        false => Ok(all),
    }
}

//! Commits and what they cost: files of `run --counters`, and histories of them with a line each.

use super::series::COUNTERS;
use crate::diff::file::{self, File};
use client::{Error, Result};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// A commit's costs.
pub struct Entry {
    pub commit: String,
    pub title: String,
    pub file: File,
    /// As it stands in a history: counters that pages show, and what workloads are known by.
    line: Value,
}

/// Counters that a page shows, and what else of a workload (or of the total) is known it by.
fn reduced(v: &Value, keep: &[&str]) -> Value {
    let Some(all) = v.as_object() else { return Value::Null };
    let counters = |v: &Value| -> Value {
        let of = v.as_object().into_iter().flatten();
        of.filter(|(k, _)| COUNTERS.contains(&k.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect()
    };
    let some = all.iter().filter_map(|(k, v)| match k.as_str() {
        "counters" => Some((k.clone(), counters(v))),
        _ if keep.contains(&k.as_str()) => Some((k.clone(), v.clone())),
        _ => None,
    });
    Value::Object(some.collect::<Map<String, Value>>())
}

const KEPT: [&str; 8] = ["kind", "label", "name", "pipelines", "shaders", "stages", "times", "elapsed_ns"];

impl Entry {
    /// Of a file's text, which may be a line of a history.
    fn parse(text: &str, commit: Option<(String, String)>) -> std::result::Result<Entry, String> {
        let v: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let own = |k: &str| plain::line(v[k].as_str().unwrap_or_default()).into_owned();
        let (commit, title) = commit.unwrap_or_else(|| (own("commit"), own("title")));
        let total = json!({ "counters": v["total"] });
        let rows = |key: &str, keep: &[&str]| -> Value {
            v[key].as_array().map_or(&[][..], |l| l).iter().map(|w| reduced(w, keep)).collect()
        };
        // Frames' counters tell means; a device and a number each.
        let line = json!({
            "commit": commit, "title": title, "gpu": v["gpu"], "model": v["model"], "total": reduced(&total, &[])["counters"],
            "workloads": rows("workloads", &KEPT), "shaders": v["shaders"], "frames": rows("frames", &["device", "frame"]),
        });
        let file = file::parse(&line.to_string())?;
        Ok(Entry { commit, title, file, line })
    }

    /// Of a file of `run --counters`, as this commit's.
    pub fn of_file(path: &Path, commit: String, title: String) -> Result<Entry> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::file(path, e))?;
        let v: Value = serde_json::from_str(&text).map_err(|e| Error::file(path, e))?;
        if v["workloads"].as_array().is_none() {
            return Err(Error::file(path, "not a file of `tuff run --counters`"));
        }
        Entry::parse(&text, Some((plain::line(&commit).into_owned(), plain::line(&title).into_owned())))
            .map_err(|e| Error::file(path, e))
    }
}

/// All of a file, a history or a folder.
pub fn read(path: &Path) -> Result<Vec<Entry>> {
    let is = |p: &Path, ending: &str| p.extension().is_some_and(|e| e == ending);
    if path.is_dir() {
        let entries = std::fs::read_dir(path).map_err(|e| Error::file(path, e))?;
        let mut files: Vec<(std::time::SystemTime, PathBuf)> = vec![];
        for e in entries.flatten().filter(|e| is(&e.path(), "json") || is(&e.path(), "jsonl")) {
            let written = e.metadata().and_then(|m| m.modified());
            files.push((written.unwrap_or(std::time::UNIX_EPOCH), e.path()));
        }
        files.sort();
        // What is kept of earlier runs comes first.
        files.sort_by_key(|f| !is(&f.1, "jsonl"));
        return files
            .iter()
            .map(|f| read(&f.1))
            .collect::<Result<Vec<_>>>()
            .map(|l| l.into_iter().flatten().collect());
    }
    if !is(path, "jsonl") {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        return Ok(vec![Entry::of_file(path, name, String::new())?]);
    }
    let text = std::fs::read_to_string(path).map_err(|e| Error::file(path, e))?;
    let of = |(n, line): (usize, &str)| {
        Entry::parse(line, None).map_err(|e| Error::file(path, format!("line {}: {e}", n + 1)))
    };
    text.lines().enumerate().filter(|l| !l.1.trim().is_empty()).map(of).collect()
}

/// A history of these; whole at any time.
pub fn write(path: &Path, all: &[Entry]) -> Result<()> {
    let text: String = all.iter().map(|e| format!("{}\n", e.line)).collect();
    crate::diff::replace(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line says of a file what pages show, and is read as the file was.
    #[test]
    fn a_line_is_a_smaller_file() {
        let text = json!({
            "version": 1, "gpu": "x", "model": {}, "total": { "TuffFmaInstr": 7, "MaliFragWarpX": 3 },
            "workloads": [{
                "kind": "dispatch", "label": "", "name": "a", "jobs": [1, 2], "shaders": "ff", "stages": [0], "times": 2, "elapsed_ns": 5,
                "counters": { "TuffFmaInstr": 7, "Unheard": 1 },
            }],
            "shaders": [{ "stage": "compute", "entry": "main", "hash": "ff", "interface": "1", "sketch": "00000001" }], "frames": [],
        });
        let first = Entry::parse(&text.to_string(), Some(("c0ffee".into(), "Add a".into()))).unwrap();
        let again = Entry::parse(&first.line.to_string(), None).unwrap();
        assert_eq!((&*again.commit, &*again.title, again.line == first.line), ("c0ffee", "Add a", true));
        let w = again.file.workloads.values().next().unwrap();
        assert_eq!(
            (w.counters["TuffFmaInstr"], w.counters.contains_key("Unheard"), w.stages.len()),
            (7.0, false, 1)
        );
        assert!(first.line["workloads"][0].get("jobs").is_none());
    }
}

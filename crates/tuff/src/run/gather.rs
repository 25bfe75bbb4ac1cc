//! From the run's own folder to where the user wants it: one process's files as they are, those of several put together.

use super::merge::{self, Part};
use super::private::{Kind, Private, Process};
use crate::frame::FOLDER;
use crate::report::capture::{COMMAND, FACTS, FILE, SCHEDULE};
use client::{Error, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Moves a file or folder, to another file system too.
fn move_to(from: &Path, to: &Path) -> Result<()> {
    if std::fs::rename(from, to).is_ok() {
        return Ok(());
    }
    if from.is_dir() {
        std::fs::create_dir_all(to).map_err(|e| Error::file(to, e))?;
        let inside = std::fs::read_dir(from).map_err(|e| Error::file(from, e))?;
        return inside
            .flatten()
            .map(|e| e.path())
            .try_for_each(|e| move_to(&e, &to.join(e.file_name().unwrap_or_default())));
    }
    std::fs::copy(from, to).map(drop).map_err(|e| Error::file(to, e))
}

pub fn write(to: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    std::fs::write(to, text).map_err(|e| Error::file(to, e))
}

fn make(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::file(folder, e))
}

/// The program of the process with these files.
pub fn program(processes: &[Process], file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let of = processes
        .iter()
        .find(|p| name.strip_prefix(&*p.name).is_some_and(|end| end.is_empty() || end == ".json"));
    of.map(|p| p.program.clone()).unwrap_or_default()
}

/// The file of counters; whether there is one.
pub fn counters(private: &Private, processes: &[Process], to: &Path) -> Result<bool> {
    let left = private.left(Kind::Counters);
    match &left[..] {
        [] => return Ok(false),
        [one] => move_to(one, to)?,
        several => {
            let parts = several.iter().map(|f| Part::read(program(processes, f), f));
            let mut parts = parts.collect::<Result<Vec<_>>>()?;
            merge::sort(&mut parts);
            write(to, merge::counters(&parts)?)?;
        }
    }
    Ok(true)
}

/// What of an earlier capture lies in a folder goes: the page would show it.
fn emptied(folder: &Path) -> Result<()> {
    make(folder)?;
    for name in [FILE, SCHEDULE, FACTS, COMMAND, FOLDER, "passes", "shaders"] {
        let at = folder.join(name);
        let gone = if at.is_dir() { std::fs::remove_dir_all(&at) } else { std::fs::remove_file(&at) };
        match gone {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(Error::file(&at, e)),
            _ => {}
        }
    }
    Ok(())
}

/// The folder of a capture; whether there is one.
pub fn capture(private: &Private, processes: &[Process], to: &Path) -> Result<bool> {
    let mut left = private.left(Kind::Capture);
    left.retain(|f| f.join(FILE).exists());
    if left.is_empty() {
        return Ok(false);
    }
    emptied(to)?;
    if let [one] = &left[..] {
        move_to(one, to)?;
        return Ok(true);
    }
    let mut parts = vec![];
    for folder in left {
        let mut part = Part::read(program(processes, &folder), &folder.join(FILE))?;
        let schedule = folder.join(SCHEDULE);
        if schedule.exists() {
            let text = std::fs::read_to_string(&schedule).map_err(|e| Error::file(&schedule, e))?;
            part.steps = Some(serde_json::from_str(&text).map_err(|e| Error::file(&schedule, e))?);
        }
        let facts = folder.join(FACTS);
        if facts.exists() {
            let text = std::fs::read_to_string(&facts).map_err(|e| Error::file(&facts, e))?;
            part.facts = Some(serde_json::from_str(&text).map_err(|e| Error::file(&facts, e))?);
        }
        parts.push((part, folder));
    }
    parts.sort_by(|a, b| (&a.0.program, &a.0.text).cmp(&(&b.0.program, &b.0.text)));
    let (mut parts, folders): (Vec<Part>, Vec<PathBuf>) = parts.into_iter().unzip();
    make(&to.join("passes"))?;
    for (folder, first) in folders.iter().zip(merge::first_workloads(&parts)) {
        for picture in files(&folder.join("passes")) {
            let name = format!("passes/{}", picture.file_name().unwrap_or_default().to_string_lossy());
            if let Some(name) = merge::picture(&name, first) {
                move_to(&picture, &to.join(name))?;
            }
        }
    }
    // The first process's record is the capture's; those of others are numbered.
    let records = folders.iter().map(|f| f.join(FOLDER)).filter(|f| f.exists());
    for (record, n) in records.zip(1..) {
        let name = if n == 1 { FOLDER.into() } else { format!("{FOLDER}-{n}") };
        move_to(&record, &to.join(name))?;
    }
    let shaders: Vec<PathBuf> = folders.iter().map(|f| f.join("shaders")).collect();
    gather_shaders(&shaders, &to.join("shaders"))?;
    write(&to.join(FILE), merge::counters(&parts)?)?;
    if let Some(facts) = merge::facts(&parts) {
        write(&to.join(FACTS), facts.to_string())?;
    }
    if let Some(steps) = merge::schedules(&mut parts) {
        let text = serde_json::to_string(&steps).map_err(|e| Error::file(&to.join(SCHEDULE), e))?;
        write(&to.join(SCHEDULE), text)?;
    }
    Ok(true)
}

/// Of a folder, by their names.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    all.sort();
    all
}

/// Shaders and what their blocks cost; whether there are any.
pub fn shaders(private: &Private, to: &Path) -> Result<bool> {
    gather_shaders(&private.left(Kind::Shaders), to)
}

fn gather_shaders(folders: &[PathBuf], to: &Path) -> Result<bool> {
    let mut by_name: BTreeMap<std::ffi::OsString, Vec<PathBuf>> = BTreeMap::new();
    for file in folders.iter().flat_map(|f| files(f)) {
        by_name.entry(file.file_name().unwrap_or_default().into()).or_default().push(file);
    }
    if by_name.is_empty() {
        return Ok(false);
    }
    make(to)?;
    for (name, of) in &by_name {
        let to = to.join(name);
        let is_json = to.extension().is_some_and(|e| e == "json");
        // Modules of the same name are the same.
        let [first, more @ ..] = &of[..] else { continue };
        if more.is_empty() || !is_json {
            move_to(first, &to)?;
            continue;
        }
        let read = |f: &PathBuf| -> Result<Value> {
            let text = std::fs::read_to_string(f).map_err(|e| Error::file(f, e))?;
            serde_json::from_str(&text).map_err(|e| Error::file(f, e))
        };
        let mut sum = read(first)?;
        for f in more {
            merge::shaders(&mut sum, &read(f)?);
        }
        write(&to, sum.to_string())?;
    }
    Ok(true)
}

/// Rows of the GPU Performance layer; whether there are any.
pub fn rows(private: &Private, json: bool, to: &Path) -> Result<bool> {
    let left = private.left(Kind::Rows { json });
    let read = |f: &PathBuf| std::fs::read_to_string(f).map_err(|e| Error::file(f, e));
    match &left[..] {
        [] => return Ok(false),
        [one] => move_to(one, to)?,
        several => {
            let texts = several.iter().map(read).collect::<Result<Vec<String>>>()?;
            let text = if json {
                let value = |t: &String| serde_json::from_str(t).map_err(|e| Error::file(to, e));
                let values = texts.iter().map(value).collect::<Result<Vec<Value>>>()?;
                merge::json_rows(&values).to_string() + "\n"
            } else {
                merge::csv(&texts)
            };
            write(to, text)?;
        }
    }
    Ok(true)
}

//! `tuff` on Windows: its commands must print and write what they do on Linux, byte for byte but for the names of the programs that they run.

use super::{Wine, of_windows};
use crate::cargo::{root, target_folder};
use crate::same::{Outcome, Report, of};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `--only` calls it, and its crate.
pub const NAME: &str = "tuff";

/// Shaders of the checkout that commands read, by their names in the folder where these run.
const SHADERS: [(&str, &str); 2] = [
    ("sample.spv", "crates/conformance/shaders/static/sample.frag.spv"),
    ("many.spv", "crates/conformance/shaders/static/many.comp.spv"),
];

/// Conformance programs that commands run: `@scene-child` stands for its path.
const PROGRAMS: [&str; 3] = ["scene-child", "compute-child", "frames-child"];

/// Commands in their order: a later one reads what an earlier one has left. The first word is the command's name in messages.
const COMMANDS: [&[&str]; 25] = [
    &["run", "run", "--counters", "cost.json", "--capture", "capture", "--shaders", "blocks", "@scene-child"],
    &["run --trace", "run", "--trace", "trace.pb", "@scene-child", "plain"],
    &["run --frame", "run", "--frame", "0-9", "--capture", "frames", "@scene-child", "plain"],
    &["frame", "frame", "frames", "-o", "frame.html"],
    &["frame --pixel", "frame", "frames", "--pixel", "20,20"],
    &["frames", "frames", "pictures", "@frames-child", "presented"],
    &["compare", "compare", "pictures", "pictures", "--report", "difference.html"],
    &["report", "report", "capture", "-o", "report.html"],
    &["report --against", "report", "capture", "--against", "capture", "-o", "both.html"],
    &["diff", "diff", "cost.json", "cost.json", "--all", "--markdown", "diff.md", "--junit", "diff.xml"],
    &["diff of captures", "diff", "capture", "capture", "--markdown", "lines.md"],
    &["advise", "advise", "capture", "--all", "--markdown", "advice.md", "--sarif", "advice.sarif"],
    &["advise --rules", "advise", "--rules"],
    &["whatif", "whatif", "capture", "--cores", "14", "--bus", "32"],
    &["whatif --json", "whatif", "capture", "--set", "core.warps=32", "--json"],
    &["history", "history", "cost.json", "-o", "history.html"],
    &["shader", "shader", "sample.spv", "many.spv"],
    &["shader --format json", "shader", "many.spv", "--format", "json"],
    &["instrument", "instrument", "many.spv", "-o", "marked.spv", "--table", "marks.json"],
    &["instrument --atomics", "instrument", "many.spv", "-o", "counting.spv", "--atomics", "--binding", "0"],
    &["annotate", "annotate", "?.spv", "?.json"],
    &["sanitize", "sanitize", "--report", "findings.html", "@scene-child", "plain"],
    &["coverage", "coverage", "-o", "shaders.info", "@scene-child", "plain"],
    &["debug", "debug", "--thread", "3,0,0", "--print", "@compute-child"],
    &["an unknown command", "nothing"],
];

/// A page that is left out: the program's path is in it, packed.
const PACKED: &str = "frame.html";

/// A recorded frame has its tiles in the order in which they were drawn.
const ONE: (&str, &str) = ("TUFF_THREADS", "1");

/// One system's `tuff`, and where it runs.
pub struct Place<'a> {
    pub folder: PathBuf,
    pub programs: &'a [(String, PathBuf)],
}

/// A command for this program, and a path as the program is to see it.
struct System<'a> {
    command: &'a dyn Fn() -> Command,
    path: &'a dyn Fn(&Path) -> String,
}

pub fn linux() -> PathBuf {
    target_folder().join("release/tuff")
}

/// Runs all commands in an empty folder: what each printed, and each file that is there afterwards, by hashes.
fn run(place: &Place, system: &System) -> Result<Outcome, String> {
    let folder = &place.folder;
    let at = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|e| at(folder, e))?;
    }
    std::fs::create_dir_all(folder).map_err(|e| at(folder, e))?;
    for (name, source) in SHADERS {
        let source = root().join(source);
        std::fs::copy(&source, folder.join(name)).map_err(|e| at(&source, e))?;
    }
    let mut programs = vec![];
    for name in PROGRAMS {
        programs.push((name, (system.path)(&of(place.programs, name)?)));
    }
    let mut lines = BTreeMap::new();
    for (name, words) in COMMANDS.iter().filter_map(|words| words.split_first()) {
        let mut command = (system.command)();
        command.current_dir(folder);
        for word in words {
            match (word.strip_prefix('@'), word.strip_prefix('?')) {
                (Some(program), _) => {
                    let path = programs.iter().find(|p| p.0 == program).map_or("", |p| &p.1);
                    command.args(["--", path]);
                }
                // Of the blocks that the first command has left.
                (_, Some(end)) => drop(command.arg(first_of(&folder.join("blocks"), end)?)),
                _ => drop(command.arg(word)),
            }
        }
        let output = command.output().map_err(|e| format!("tuff: {e}"))?;
        let text = [output.stdout, output.stderr].concat();
        let code = output.status.code().unwrap_or(-1);
        lines.insert(format!("{name}: output"), format!("{code} {}", hash(&text, &programs)));
    }
    let mut files = vec![];
    gather(folder, &mut files).map_err(|e| at(folder, e))?;
    for file in files {
        let bytes = std::fs::read(&file).map_err(|e| at(&file, e))?;
        let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        if name == PACKED {
            continue;
        }
        lines.insert(name, hash(&bytes, &programs));
    }
    Ok(Outcome::of(lines))
}

/// The first file of a folder with this end, as a path from where commands run.
fn first_of(folder: &Path, end: &str) -> Result<String, String> {
    let mut files = vec![];
    gather(folder, &mut files).map_err(|e| format!("{}: {e}", folder.display()))?;
    files.sort();
    let names = files.iter().filter_map(|f| f.file_name()?.to_str());
    let found = names.into_iter().find(|name| name.ends_with(end));
    found.map(|name| format!("blocks/{name}")).ok_or(format!("{} has no {end}", folder.display()))
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        match path.is_dir() {
            true => gather(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}

/// Of bytes; in a text, a program's path is its name (also where it is quoted), and sizes of what has such a path are left out.
fn hash(bytes: &[u8], programs: &[(&str, String)]) -> String {
    let mut bytes = bytes.to_vec();
    if let Ok(text) = std::str::from_utf8(&bytes) {
        let mut text = text.to_string();
        for (name, path) in programs {
            let escaped = path.replace('\\', "\\\\");
            // (A command line has quotes around what has a backslash.)
            for written in [format!("'{escaped}'"), escaped, path.clone(), format!("{name}.exe")] {
                text = text.replace(&written, name);
            }
        }
        // What is measured of a page of HTML has the path's length in it; and clap's usage lines have the program's own name.
        let lines = text.lines().map(|line| match line.starts_with("tuff: ") && line.ends_with("kB") {
            true => line.rsplit_once(", ").map_or(line, |l| l.0),
            false => line,
        });
        let text = lines.collect::<Vec<_>>().join("\n").replace("tuff.exe", "tuff");
        bytes = text.into_bytes();
    }
    Sha256::digest(&bytes).iter().take(8).map(|b| format!("{b:02x}")).collect()
}

/// Compares all commands.
pub fn compare(
    wine: &Wine,
    here: &Place,
    there: &Place,
    icds: [&Path; 2],
    built: &Path,
    report: &mut Report,
) -> Result<(), String> {
    let own = linux();
    let command = || {
        let mut command = Command::new(&own);
        command.env("TUFF_ICD", icds[0]).env("TUFF_NO_LOADER", "1").env(ONE.0, ONE.1);
        command
    };
    let want = run(here, &System { command: &command, path: &|p| p.display().to_string() })?;
    let exe = built.join("tuff.exe");
    let command = || {
        let mut command = wine.run(&exe);
        command.env("TUFF_ICD", of_windows(icds[1])).env("TUFF_NO_LOADER", "1").env(ONE.0, ONE.1);
        command
    };
    let got = run(there, &System { command: &command, path: &of_windows });
    report.compare(NAME, &want, got, false);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_programs_are_overlooked() {
        let of = |text: &str, path: &str| hash(text.as_bytes(), &[("scene-child", path.to_string())]);
        let (own, other) = ("/a/scene-child", "Z:\\a\\scene-child.exe");
        assert_eq!(of("run /a/scene-child: 3 µs", own), of("run Z:\\a\\scene-child.exe: 3 µs", other));
        assert_eq!(of("\"/a/scene-child\"", own), of("\"Z:\\\\a\\\\scene-child.exe\"", other));
        assert_eq!(of("\"/a/scene-child\"", own), of("\"'Z:\\\\a\\\\scene-child.exe'\"", other));
        assert_ne!(of("run /a/scene-child: 3 µs", own), of("run Z:\\a\\scene-child.exe: 4 µs", other));
        assert_eq!(of("tuff: x.html: 2 passes, 3 kB", own), of("tuff: x.html: 2 passes, 4 kB", other));
        assert_ne!(of("tuff: x.html: 2 passes, 3 kB", own), of("tuff: x.html: 3 passes, 3 kB", other));
    }
}

//! `cargo xtask shaders`: makes every .spv file of its source, as `shaders.toml` says; `--check` compares them with what
//! is checked in, and tells of files that nothing says how to make, of sources that nothing is made of, and of modules
//! that stand twice.

use crate::cargo::root;
use not_run::has_program;
use rspirv::spirv::{Decoration, Op};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use toml::{Table, Value};

#[derive(clap::Args)]
pub struct Args {
    /// Compare the checked-in files with fresh ones instead of writing them.
    #[arg(long)]
    check: bool,
}

const TABLE: &str = "shaders.toml";
/// Where shaders are.
const FOLDERS: [&str; 2] = ["benches", "crates"];
const SOURCES: [&str; 15] = [
    "comp", "vert", "tesc", "tese", "geom", "task", "mesh", "frag", "rgen", "rmiss", "rchit", "rahit",
    "rint", "rcall", "spvasm",
];
/// What has each tool, as Debian calls it, and the words before its version.
const TOOLS: [(&str, &str, &str); 2] =
    [("glslangValidator", "glslang-tools", "Glslang Version: "), ("spirv-as", "spirv-tools", "SPIRV-Tools ")];

/// How a file is made.
struct Recipe {
    /// The file, from the checkout.
    file: String,
    folder: PathBuf,
    /// From the folder: with debug information the module has this name.
    source: String,
    options: String,
    precise: bool,
}

impl Recipe {
    fn tool(&self) -> &'static str {
        TOOLS[usize::from(self.source.ends_with(".spvasm"))].0
    }

    /// The module, made anew.
    fn make(&self, to: &Path) -> Result<Vec<u8>, String> {
        let mut command = Command::new(self.tool());
        command.current_dir(&self.folder);
        if self.tool() == TOOLS[0].0 {
            command.arg("-V");
        }
        command.args(self.options.split_whitespace()).arg(&self.source).arg("-o").arg(to);
        let out = command.output().map_err(|e| format!("{}: {e}", self.tool()))?;
        if !out.status.success() {
            let said = [&out.stdout[..], &out.stderr].concat();
            return Err(format!("{}: {}", self.file, String::from_utf8_lossy(&said).trim()));
        }
        let made = read(to)?;
        Ok(if self.precise { precise(&made) } else { made })
    }
}

/// The modules of `recipes`, by as many threads as there are cores: most of the time is that of the tools' starts.
fn make(recipes: &[&Recipe]) -> Vec<Result<Vec<u8>, String>> {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let folder = temporary::folder("tuff-").expect("a temporary folder");
    let scratch = |thread: usize| folder.path().join(format!("{thread}.spv"));
    let each = recipes.len().div_ceil(threads).max(1);
    std::thread::scope(|s| {
        let threads: Vec<_> = recipes
            .chunks(each)
            .zip(0..)
            .map(|(part, thread)| {
                let scratch = scratch(thread);
                s.spawn(move || part.iter().map(|r| r.make(&scratch)).collect::<Vec<_>>())
            })
            .collect();
        threads.into_iter().flat_map(|t| t.join().unwrap_or_else(|p| std::panic::resume_unwind(p))).collect()
    })
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// What a compiler may make other arithmetic of, by fusing or by reciprocals.
const FUSED: [Op; 6] = [Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::VectorTimesScalar, Op::Dot];

/// The module with NoContraction on all of [`FUSED`].
fn precise(module: &[u8]) -> Vec<u8> {
    let words: Vec<u32> = module.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect();
    let (mut decorations, mut first, mut at) = (vec![], words.len(), 5);
    while at < words.len() {
        let op = words[at] & 0xFFFF;
        if op == Op::Decorate as u32 || op == Op::MemberDecorate as u32 {
            first = first.min(at);
        }
        if FUSED.iter().any(|f| *f as u32 == op) {
            decorations.extend([
                3 << 16 | Op::Decorate as u32,
                words[at + 2],
                Decoration::NoContraction as u32,
            ]);
        }
        at += ((words[at] >> 16) as usize).max(1);
    }
    let all = [&words[..first], &decorations, &words[first..]].concat();
    all.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Files below `folder` with one of these endings, as paths from the checkout.
fn below(folder: &str, endings: &[&str], found: &mut BTreeSet<String>) -> Result<(), String> {
    let entries = std::fs::read_dir(root().join(folder)).map_err(|e| format!("{folder}: {e}"))?;
    for e in entries.flatten() {
        let name = e.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        if e.path().is_dir() {
            below(&path, endings, found)?;
        } else if name.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending)) {
            found.insert(path);
        }
    }
    Ok(())
}

fn all(endings: &[&str]) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    FOLDERS.iter().try_for_each(|f| below(f, endings, &mut found))?;
    Ok(found)
}

fn text<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    table.get(key).and_then(Value::as_str)
}

fn section<'a>(table: &'a Table, name: &str) -> Result<&'a Table, String> {
    table.get(name).and_then(Value::as_table).ok_or_else(|| format!("{TABLE} has no [{name}]"))
}

/// How `file` is made, by its own row or its folder's.
fn recipe(table: &Table, file: &str) -> Result<Recipe, String> {
    let unknown = || format!("{file}: {TABLE} does not say how it is made");
    let empty = Table::new();
    let own = section(table, "files")?.get(file).and_then(Value::as_table).unwrap_or(&empty);
    let (folder, name) = file.rsplit_once('/').ok_or_else(unknown)?;
    let options = text(own, "options").or(text(section(table, "folders")?, folder)).ok_or_else(unknown)?;
    let path = root().join(folder);
    let stem = name.trim_end_matches(".spv");
    let source = match text(own, "source") {
        Some(source) => source.to_string(),
        None => ["", ".comp", ".spvasm"]
            .map(|ending| format!("{stem}{ending}"))
            .into_iter()
            .find(|source| path.join(source).is_file())
            .ok_or_else(|| format!("{file}: no source beside it"))?,
    };
    let precise = own.get("precise").and_then(Value::as_bool).unwrap_or(false);
    Ok(Recipe { file: file.into(), folder: path, source, options: options.into(), precise })
}

/// What of the rows, the sources and the files does not belong together.
fn strays(table: &Table, recipes: &[Recipe]) -> Result<Vec<String>, String> {
    let mut wrong = vec![];
    for file in section(table, "files")?.keys() {
        if !recipes.iter().any(|r| r.file == *file) {
            wrong.push(format!("{file}: in {TABLE}, but not there"));
        }
    }
    let used: BTreeSet<PathBuf> = recipes.iter().map(|r| r.folder.join(&r.source)).collect();
    for source in all(&SOURCES)? {
        if !used.contains(&root().join(&source)) {
            wrong.push(format!("{source}: nothing is made of it"));
        }
    }
    let mut seen = BTreeMap::new();
    for file in recipes.iter().map(|r| r.file.clone()).chain(all(&SOURCES)?) {
        if let Some(other) = seen.insert(read(&root().join(&file))?, file.clone()) {
            wrong.push(format!("{file}: the same as {other}"));
        }
    }
    Ok(wrong)
}

/// The version of a tool that is here.
fn version(tool: &str, before: &str) -> Result<String, String> {
    let out = Command::new(tool).arg("--version").output().map_err(|e| format!("{tool}: {e}"))?;
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    let rest = said.split_once(before).map(|(_, rest)| rest.split_whitespace().next().unwrap_or_default());
    rest.map(String::from).ok_or_else(|| format!("{tool} --version says {said}"))
}

/// Alike but for the word that names the tool and its version.
fn alike(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.len() >= 12 && a[..8] == b[..8] && a[12..] == b[12..]
}

pub fn run(args: &Args) -> Result<(), String> {
    let path = root().join(TABLE);
    let table: Table = String::from_utf8_lossy(&read(&path)?).parse().map_err(|e| format!("{TABLE}: {e}"))?;
    let files = all(&["spv"])?;
    let recipes = files.iter().map(|file| recipe(&table, file)).collect::<Result<Vec<_>, _>>()?;
    let mut wrong = vec![];
    for (tool, package, before) in TOOLS {
        let mine: Vec<_> = recipes.iter().filter(|r| r.tool() == tool).collect();
        let wanted = text(section(&table, "tools")?, tool).ok_or_else(|| format!("{TABLE} has no {tool}"))?;
        if !has_program(tool) {
            let lacks = format!("{tool} (Debian's {package})");
            if !args.check {
                return Err(format!("the shaders need {lacks}"));
            }
            not_run::say(&format!("shaders --check of {} files", mine.len()), &lacks);
            continue;
        }
        let here = version(tool, before)?;
        let same = here == wanted;
        if !same && !args.check {
            return Err(format!("{TABLE} says {tool} {wanted}, here is {here}: all are made by one version"));
        }
        let mut other = 0;
        for (r, made) in mine.iter().zip(make(&mine)) {
            let (made, had) = (made?, read(&root().join(&r.file))?);
            if made == had || !same && alike(&made, &had) {
                continue;
            }
            if !args.check {
                std::fs::write(root().join(&r.file), made).map_err(|e| format!("{}: {e}", r.file))?;
                println!("wrote {}", r.file);
            } else if same {
                wrong.push(format!("{}: not what its source gives, run `cargo xtask shaders`", r.file));
            } else {
                // Whether the source or the compiler differs cannot be told.
                other += 1;
            }
        }
        if other > 0 {
            not_run::say(
                &format!("shaders --check of {other} files"),
                &format!("{tool} {wanted}, not {here}"),
            );
        }
    }
    wrong.extend(strays(&table, &recipes)?);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::precise;

    #[test]
    fn float_arithmetic_is_made_precise() {
        // Header, OpDecorate %9 RelaxedPrecision, %3 = OpFAdd, %4 = OpFNegate, %5 = OpFMul.
        let head = [0x0723_0203, 0x1_0000, 0, 10, 0];
        let decoration = [3 << 16 | 71, 9, 0];
        let code = [5 << 16 | 129, 1, 3, 2, 2, 4 << 16 | 127, 1, 4, 3, 5 << 16 | 133, 1, 5, 3, 4];
        let bytes = |words: &[u32]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
        let added = [3 << 16 | 71, 3, 42, 3 << 16 | 71, 5, 42];
        let made = precise(&bytes(&[&head[..], &decoration, &code].concat()));
        assert_eq!(made, bytes(&[&head[..], &added, &decoration, &code].concat()));
    }
}

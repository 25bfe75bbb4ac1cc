//! `cargo xtask codegen`: writes the files that are generated from vk.xml (what `registry/` has of it) and the driver's
//! own tables (`crates/icd/commands.tsv`, `crates/icd/extensions.tsv`), the shapes of SPIR-V's instructions from
//! `rspirv`'s grammar, the page on counters from their catalogue, other pages' tables, and README's of settings.

mod ash;
mod bindings;
mod calls;
mod capabilities;
mod entrypoints;
mod extract;
mod fuzz;
mod grammar;
mod legacy;
mod names;
mod pages;
mod registry;
mod sizes;
mod structs;
#[cfg(test)]
mod tests;

use names::Names;
use registry::Registry;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(clap::Args)]
pub struct Args {
    /// First make `registry/vulkan.xml` from this vk.xml from Khronos.
    #[arg(long, value_name = "VK_XML", conflicts_with = "check")]
    extract: Option<PathBuf>,
    /// Compare the checked-in files with a fresh run instead of writing them.
    #[arg(long)]
    check: bool,
}

/// The driver's own tables.
pub struct Tables {
    /// Command → module of `crates/icd/src` that implements it.
    pub modules: BTreeMap<String, String>,
    /// Extensions the driver reports.
    pub extensions: Vec<String>,
}

/// Lines of a .tsv as columns; `#` starts a comment.
fn tsv(path: &Path) -> Result<Vec<Vec<String>>, String> {
    Ok(read(path)?
        .lines()
        .map(|l| l.split('#').next().unwrap_or_default().trim())
        .filter(|l| !l.is_empty())
        .map(|l| l.split('\t').map(|c| c.trim().to_string()).filter(|c| !c.is_empty()).collect())
        .collect())
}

fn tables(root: &Path) -> Result<Tables, String> {
    let mut modules = BTreeMap::new();
    for row in tsv(&root.join("crates/icd/commands.tsv"))? {
        let [command, module] = &row[..] else {
            return Err(format!("commands.tsv: not `command<tab>module`: {row:?}"));
        };
        if modules.insert(command.clone(), module.clone()).is_some() {
            return Err(format!("commands.tsv names {command} twice"));
        }
    }
    let mut extensions: Vec<String> =
        tsv(&root.join("crates/icd/extensions.tsv"))?.into_iter().map(|mut row| row.swap_remove(0)).collect();
    extensions.sort();
    if let Some(twice) = extensions.windows(2).find(|w| w[0] == w[1]) {
        return Err(format!("extensions.tsv names {} twice", twice[0]));
    }
    Ok(Tables { modules, extensions })
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn rustfmt(root: &Path, text: &str) -> Result<String, String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("rustfmt: {e}"))?;
    let mut stdin = child.stdin.take().ok_or("rustfmt has no input")?;
    let input = text.to_string();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let out = child.wait_with_output().map_err(|e| format!("rustfmt: {e}"))?;
    let _ = writer.join();
    if !out.status.success() {
        return Err("rustfmt refused a generated file".into());
    }
    String::from_utf8(out.stdout).map_err(|e| e.to_string())
}

/// Writes a generated file where it differs, or with `check` notes that it does.
fn put(
    root: &Path,
    name: &'static str,
    text: String,
    check: bool,
    stale: &mut Vec<&'static str>,
) -> Result<(), String> {
    let path = root.join(name);
    if std::fs::read_to_string(&path).unwrap_or_default() == text {
        return Ok(());
    }
    if check {
        stale.push(name);
        return Ok(());
    }
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    }
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    println!("wrote {name}");
    Ok(())
}

fn up_to_date(stale: &[&str]) -> Result<(), String> {
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!("not up to date, run `cargo xtask codegen`: {}", stale.join(", ")))
}

pub fn run(args: &Args) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut stale = vec![];
    let page = std::fs::read_to_string(root.join("docs/counters.md")).unwrap_or_default();
    put(&root, "docs/counters.md", counters::docs::page(&page), args.check, &mut stale)?;
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap_or_default();
    let with_table = settings::readme_with_table(&readme).ok_or("README.md: no marks for the settings")?;
    put(&root, "README.md", with_table, args.check, &mut stale)?;
    for (name, text) in pages::generate(|name| read(&root.join(name)))? {
        put(&root, name, text, args.check, &mut stale)?;
    }
    if let Some(vk_xml) = &args.extract {
        put(&root, extract::FILE, extract::extract(&read(vk_xml)?)?, false, &mut stale)?;
    }
    let text = read(&root.join(extract::FILE))?;
    let registry = Registry::parse(&text)?;
    let ash = ash::Ash::read()?;
    let names = Names::new(&registry, &ash);
    let tables = tables(&root)?;
    let thunks = entrypoints::generate(&names, &tables)?;
    let bindings = bindings::generate(&names)?;
    let files = [
        ("crates/icd/src/base/generated/given.rs", calls::readers(&names, &tables, &bindings)),
        ("crates/vk/src/generated.rs", bindings),
        ("crates/vk/src/formats.rs", bindings::formats(&registry)),
        ("crates/icd/src/entry/generated/entrypoints.rs", thunks.entrypoints),
        ("crates/icd/src/legacy/generated/legacy.rs", thunks.legacy),
        ("crates/icd/src/legacy/generated/imp.rs", thunks.imp),
        ("crates/icd/src/instance/generated/structs.rs", structs::generate(&names)?),
        ("crates/icd/src/instance/generated/capabilities.rs", capabilities::generate(&registry)),
        ("crates/icd/src/instance/generated/extensions.rs", structs::extensions(&names, &tables)?),
        ("crates/shader/src/spirv/shapes.rs", grammar::generate()),
        ("crates/layer-gpu-performance/src/generated/sizes.rs", sizes::generate(&registry)),
        ("fuzz/api/src/generated.rs", fuzz::generate(&registry, &tables)?),
    ];
    for (name, text) in files {
        put(&root, name, rustfmt(&root, &text)?, args.check, &mut stale)?;
    }
    up_to_date(&stale)?;
    if !args.check {
        println!("{} entry points; missing {}:", thunks.present, thunks.missing.len());
        for m in thunks.missing {
            println!("  {m}");
        }
    }
    Ok(())
}

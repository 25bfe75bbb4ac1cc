//! `cargo xtask clients`: real programs on Tuff and lavapipe, side by side. Installs what they need and runs
//! `benches --clients`, which skips none in silence.

use crate::cargo::{call, release, root, target_folder};
use crate::needs::{LAVAPIPE, Need, VENV, has_program, provide};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub struct Args {
    /// Leave out these clients (comma-separated).
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
    /// Number of rounds for each timing.
    #[arg(long, default_value = "3")]
    rounds: String,
    /// Further arguments for `benches --clients`.
    #[arg(last = true)]
    arguments: Vec<String>,
}

/// Besides what the clients' table names.
const NEEDS: [Need; 3] = [LAVAPIPE, Need { what: "python3", package: "python3", here: has_program }, VENV];

pub fn run(args: &Args) -> Result<(), String> {
    let folder = root().join("benches/clients");
    let table = folder.join("clients.toml");
    let text = std::fs::read_to_string(&table).map_err(|e| format!("{}: {e}", table.display()))?;
    let programs = programs(&text, &args.without).map_err(|e| format!("{}: {e}", table.display()))?;
    let own = NEEDS.iter().map(|n| Need { what: n.what, package: n.package, here: n.here });
    let theirs = programs.iter().map(|(what, package)| Need { what, package, here: has_program });
    // What cannot be had is no reason to leave the others out: benches says who lacks it, and fails.
    let mut missing = Vec::new();
    missing.extend(provide("the clients", &own.chain(theirs).collect::<Vec<_>>()).err());
    let venv = target_folder().join("clients");
    missing.extend(modules(&venv, &folder.join("requirements.txt")).err());
    missing.iter().for_each(|m| eprintln!("xtask: {m}"));
    release(&["icd", "benches"], &[])?;
    let mut benches = Command::new(target_folder().join("release/benches"));
    benches.args(["--clients", "--drivers", "tuff,lavapipe", "--rounds", &args.rounds]);
    benches.arg("--python").arg(python(&venv)).args(&args.arguments).current_dir(root());
    if !args.without.is_empty() {
        benches.arg("--without").arg(args.without.join(","));
    }
    call(benches)
}

/// The programs of the table's clients, and the packages that bring them, but for some clients.
fn programs(table: &str, without: &[String]) -> Result<Vec<(String, String)>, String> {
    let table: toml::Table = table.parse().map_err(|e| format!("{e}"))?;
    let clients = table.get("client").and_then(|c| c.as_array()).ok_or("no clients")?;
    let wanted = clients.iter().filter(|c| {
        let name = c.get("name").and_then(|n| n.as_str()).unwrap_or_default();
        !without.iter().any(|w| w == name)
    });
    let pairs = wanted.filter_map(|c| c.get("programs")?.as_table()).flatten();
    let mut list: Vec<_> = pairs
        .filter_map(|(program, package)| Some((program.clone(), package.as_str()?.to_string())))
        .collect();
    list.sort();
    list.dedup();
    Ok(list)
}

/// A virtual environment's program.
fn python(venv: &Path) -> PathBuf {
    venv.join("bin/python")
}

/// A Python of our own with modules of pinned versions.
fn modules(venv: &Path, requirements: &Path) -> Result<(), String> {
    let python = python(venv);
    if !python.exists() {
        let mut make = Command::new("python3");
        make.args(["-m", "venv"]).arg(venv);
        call(make)?;
    }
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "-q", "-r"]).arg(requirements);
    call(pip)
}

#[cfg(test)]
mod tests {
    use super::programs;

    #[test]
    fn the_table_names_packages() {
        let table = "[[client]]\nname = \"a\"\nprograms = { mpv = \"mpv\", Xvfb = \"xvfb\" }\n\
            [[client]]\nname = \"b\"\nprograms = { vkcube = \"vulkan-tools\", Xvfb = \"xvfb\" }\n\
            [[client]]\nname = \"c\"\n";
        let pair = |program: &str, package: &str| (program.to_string(), package.to_string());
        let all = [pair("Xvfb", "xvfb"), pair("mpv", "mpv"), pair("vkcube", "vulkan-tools")];
        assert_eq!(programs(table, &[]).unwrap(), all);
        assert_eq!(programs(table, &["a".into()]).unwrap(), [all[0].clone(), all[2].clone()]);
        assert!(programs("nothing", &[]).is_err());
    }
}

//! Instructions that benchmarks execute on Tuff and on Debian's lavapipe, both on AArch64 under QEMU, counted by a plugin of QEMU's
//! ([`COUNTER`]). They are numbers of instructions, which say nothing of how long each takes.

use super::driver;
use super::system::System;
use super::{AARCH64, CPU};
use crate::cargo::{call, on_driver, programs, target_folder};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const COUNTER: &str = include_str!("count.c");

/// What lavapipe and the loader come from: the Debian whose lavapipe docs/performance.md has.
const SUITE: &str = "trixie";
const PACKAGES: [&str; 2] = ["libvulkan1", "mesa-vulkan-drivers"];

/// What `usual` stands for.
const USUAL: [&str; 9] = ["mandel", "saxpy", "nbody", "trans", "lut", "march", "med", "flat", "tex"];
/// Of `benches`, those that are pictures.
const PICTURES: [&str; 7] = ["flat", "tex", "tri", "blend", "geom", "tess", "mesh"];

/// A driver's name and its ICD file.
type Driver<'a> = (&'a str, &'a Path);

pub fn run(names: &[String]) -> Result<(), String> {
    let folder = target_folder().join("aarch64-instructions");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let counter = plugin(&folder)?;
    let system = System::get(SUITE, &PACKAGES)?;
    let own = driver::build(&folder)?;
    let lavapipe = lavapipe(&system)?;
    let words = ["build", "--bin", "session-child", "-p", "conformance", "--target"];
    let made = programs(&[&words[..], &[AARCH64.triple]].concat(), |command| AARCH64.prepare(command))?;
    let (_, _, child) = made.first().ok_or("no session-child")?;
    let usual = USUAL.map(String::from);
    let names = if names == ["usual"] { &usual[..] } else { names };
    println!("| | Tuff, million instructions | lavapipe | lavapipe / Tuff |\n|---|---|---|---|");
    for name in names {
        let count = |driver: Driver| per_run(&system, &counter, child, driver, name);
        let [tuff, peer] = [count(("Tuff", &own))?, count(("lavapipe", &lavapipe))?];
        println!("| {name} | {:.2} | {:.2} | {:.2} |", tuff / 1e6, peer / 1e6, peer / tuff);
    }
    Ok(())
}

fn plugin(folder: &Path) -> Result<PathBuf, String> {
    let (source, library) = (folder.join("count.c"), folder.join("count.so"));
    std::fs::write(&source, COUNTER).map_err(|e| format!("{}: {e}", source.display()))?;
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    call(compile)?;
    Ok(library)
}

fn lavapipe(system: &System) -> Result<PathBuf, String> {
    let folder = system.root.join("usr/share/vulkan/icd.d");
    let files = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?.flatten();
    let mut files = files.map(|e| e.path());
    let found = files.find(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("lvp_icd")));
    found.ok_or(format!("no lavapipe in {}", folder.display()))
}

/// Instructions of one run: what three runs of a process take and one does not, halved. A process's first run is its second dispatch:
/// the first one, in which pipelines are compiled, is in both numbers.
fn per_run(system: &System, counter: &Path, child: &Path, driver: Driver, name: &str) -> Result<f64, String> {
    let count = |runs: usize| count(system, counter, child, driver, name, runs);
    let [one, three] = [count(1)?, count(3)?];
    Ok((three as f64 - one as f64) / 2.0)
}

/// Instructions of a process that runs a benchmark so many times.
fn count(
    system: &System,
    counter: &Path,
    child: &Path,
    (driver, icd): Driver,
    name: &str,
    runs: usize,
) -> Result<u64, String> {
    let plugin = format!("{}", counter.display());
    let mut command = system.run(&["-cpu", CPU, "-plugin", &plugin], child);
    on_driver(&mut command, icd).env("TUFF_THREADS", "1").env("LP_NUM_THREADS", "1");
    // A process that finds the other one's shaders there would not compile them.
    command.env("MESA_SHADER_CACHE_DISABLE", "true");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |e: &dyn std::fmt::Display| format!("{name} on {driver}: {e}");
    let mut process = command.spawn().map_err(|e| failed(&e))?;
    let request = match PICTURES.contains(&name) {
        true => serde_json::json!({ "Picture": { "picture": name, "budget_ms": 0, "whole": true } }),
        false => serde_json::json!({ "Time": { "kernel": name, "budget_ms": 0 } }),
    };
    let lines = format!("{request}\n").repeat(runs);
    // It is dropped, so that the child ends.
    let mut stdin = process.stdin.take().ok_or_else(|| failed(&"no input"))?;
    stdin.write_all(lines.as_bytes()).map_err(|e| failed(&e))?;
    drop(stdin);
    let output = process.wait_with_output().map_err(|e| failed(&e))?;
    let (said, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if said.lines().filter(|l| l.contains("Span")).count() != runs {
        return Err(failed(&format!("{}\n{said}\n{log}", output.status)));
    }
    counted(&log).ok_or_else(|| failed(&format!("no count: {log}")))
}

fn counted(log: &str) -> Option<u64> {
    log.lines().find_map(|l| l.strip_prefix("instructions ")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counters_line_is_found_among_others() {
        assert_eq!(counted("tuff: a\ninstructions 21688\n"), Some(21688));
        assert_eq!(counted("instructions\nno instructions 7\n"), None);
    }
}

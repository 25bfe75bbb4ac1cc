//! The driver as programs of AArch64 see it: the conformance programs, built for both machines, must say the same and cost the same.

use super::system::System;
use super::{AARCH64, CPU};
use crate::cargo::{call, icd_file, on_driver, own_driver, programs, target_folder};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What programs and the loader come from.
pub const SUITE: &str = "bookworm";
pub const PACKAGES: [&str; 2] = ["libvulkan1", "vulkan-tools"];

/// A program of `conformance`. An emulator takes some forty times as long as the CPU.
struct Program {
    name: &'static str,
    /// Whether its counters are compared.
    counts: bool,
    /// A case that is left out, for its invocations race: how often they try again is nobody's to say.
    racing: &'static str,
}

const PROGRAMS: [Program; 5] = [
    Program { name: "scene-child", counts: true, racing: "" },
    Program { name: "compute-child", counts: true, racing: "atomics" },
    // One of its passes lasts as long as another thread takes.
    Program { name: "instrumentation-child", counts: false, racing: "" },
    Program { name: "descriptor-buffers-child", counts: true, racing: "" },
    Program { name: "extensions-child", counts: true, racing: "" },
];

/// How the driver runs.
#[derive(Clone, Copy)]
struct Way {
    level: &'static str,
    threads: &'static str,
}

const USUAL: [Way; 1] = [Way { level: "neon", threads: "2" }];
const ALL: [Way; 4] = [
    Way { level: "neon", threads: "1" },
    Way { level: "neon", threads: "2" },
    Way { level: "portable", threads: "1" },
    Way { level: "portable", threads: "2" },
];

/// What a program said and what it cost.
struct Outcome {
    lines: BTreeMap<String, String>,
    counters: String,
}

pub fn run(all: bool) -> Result<(), String> {
    let folder = target_folder().join("aarch64-driver");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let system = System::get(SUITE, &PACKAGES)?;
    let own = own_driver(&folder, &[])?;
    let icd = build(&folder)?;
    summary(&system, &icd)?;
    let here = children(&[])?;
    let there = children(&["--target", AARCH64.triple])?;
    let mut wrong = Vec::new();
    for program in &PROGRAMS {
        let of = |list: &[(String, PathBuf)]| {
            let found = list.iter().find(|(name, _)| name == program.name);
            found.map(|(_, path)| path.clone()).ok_or(format!("conformance has no {}", program.name))
        };
        let native = of(&here)?;
        let mut want = outcome(Command::new(&native), &own, &folder, &[], program.counts)?;
        let mut cases = Vec::new();
        if want.lines.contains_key(program.racing) {
            cases = want.lines.keys().filter(|c| *c != program.racing).cloned().collect();
            want = outcome(Command::new(&native), &own, &folder, &cases, program.counts)?;
        }
        for way in if all { &ALL[..] } else { &USUAL[..] } {
            let start = Instant::now();
            let mut command = system.run(&["-cpu", CPU], &of(&there)?);
            command.env("TUFF_SIMD", way.level).env("TUFF_THREADS", way.threads);
            let name = format!("{} ({}, {} threads)", program.name, way.level, way.threads);
            match outcome(command, &icd, &folder, &cases, program.counts) {
                Ok(got) => compare(&name, &want, &got, program.counts, &mut wrong),
                Err(e) => wrong.push(format!("{name}: {e}")),
            }
            println!("xtask: {:.0} s", start.elapsed().as_secs_f64());
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Builds the driver as it is released, and gives an ICD file for it.
pub fn build(folder: &Path) -> Result<PathBuf, String> {
    call(AARCH64.cargo(&["build", "--release", "-p", "icd"]))?;
    let library = target_folder().join(AARCH64.triple).join("release/libvulkan_tuff.so");
    let size = library.metadata().map_err(|e| format!("{}: {e}", library.display()))?.len();
    println!("xtask: {size} bytes of {}", library.display());
    let icd = folder.join("icd.json");
    std::fs::write(&icd, icd_file(&library)).map_err(|e| format!("{}: {e}", icd.display()))?;
    Ok(icd)
}

/// Debian's vulkaninfo must find the device.
fn summary(system: &System, icd: &Path) -> Result<(), String> {
    let mut command = system.run(&["-cpu", CPU], &system.root.join("usr/bin/vulkaninfo"));
    on_driver(command.arg("--summary"), icd).env_remove("DISPLAY");
    let output = command.output().map_err(|e| format!("vulkaninfo: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let name = text.lines().map(str::trim).find(|l| l.starts_with("deviceName") && l.contains("Tuff"));
    match (output.status.success(), name) {
        (true, Some(name)) => {
            println!("xtask: vulkaninfo: {name}");
            Ok(())
        }
        _ => {
            Err(format!("vulkaninfo: {}\n{text}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
        }
    }
}

/// The conformance programs, by name.
fn children(arguments: &[&str]) -> Result<Vec<(String, PathBuf)>, String> {
    let words = [&["build", "--bins", "-p", "conformance"], arguments].concat();
    let made = programs(&words, |command| AARCH64.prepare(command))?;
    Ok(made.into_iter().map(|(_, name, path)| (name, path)).collect())
}

fn outcome(
    mut command: Command,
    icd: &Path,
    folder: &Path,
    cases: &[String],
    counts: bool,
) -> Result<Outcome, String> {
    let file = folder.join("counters.json");
    let _ = std::fs::remove_file(&file);
    on_driver(command.args(cases), icd);
    if counts {
        command.env("TUFF_COUNTERS", &file);
    }
    let output = command.output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = text.lines().filter(|l| l.starts_with("WRONG")).collect();
        return Err(format!("{}\n{}\n{said}", output.status, lines.join("\n")));
    }
    let lines = text.lines().filter_map(|l| l.split_once(' ')).map(|(n, h)| (n.into(), h.into())).collect();
    let counters = match counts {
        true => std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?,
        false => String::new(),
    };
    Ok(Outcome { lines, counters })
}

fn compare(name: &str, want: &Outcome, got: &Outcome, counts: bool, wrong: &mut Vec<String>) {
    let equal = want.lines.iter().filter(|(case, hash)| got.lines.get(*case) == Some(hash)).count();
    println!("xtask: {name}: {equal} of {} cases have x86-64's bits", want.lines.len());
    for (case, hash) in want.lines.iter().filter(|(case, hash)| got.lines.get(*case) != Some(hash)) {
        wrong.push(format!("{name}: {case}: {:?}, on x86-64 {hash}", got.lines.get(case)));
    }
    if want.lines.is_empty() {
        wrong.push(format!("{name}: no case ran"));
    }
    if !counts {
        return;
    }
    let (a, b) = (want.counters.lines(), got.counters.lines());
    let all = a.clone().count();
    let same = a.clone().zip(b.clone()).filter(|(a, b)| a == b).count();
    println!("xtask: {name}: {same} of {all} lines of counters are x86-64's");
    if want.counters != got.counters {
        let first = a.zip(b).find(|(a, b)| a != b);
        wrong.push(format!("{name}: counters differ, first {first:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(lines: &[(&str, &str)], counters: &str) -> Outcome {
        let lines = lines.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
        Outcome { lines, counters: counters.into() }
    }

    #[test]
    fn only_equal_bits_and_counters_pass() {
        let want = outcome(&[("a", "1"), ("b", "2")], "x\ny\n");
        let differences = |got: Outcome| {
            let mut wrong = Vec::new();
            compare("p", &want, &got, true, &mut wrong);
            wrong.len()
        };
        assert_eq!(differences(outcome(&[("a", "1"), ("b", "2")], "x\ny\n")), 0);
        assert_eq!(differences(outcome(&[("a", "1"), ("b", "3")], "x\ny\n")), 1);
        assert_eq!(differences(outcome(&[("a", "1")], "x\nz\n")), 2);
        assert_eq!(differences(outcome(&[("a", "1"), ("b", "2")], "x\n")), 1);
        let mut wrong = Vec::new();
        compare("p", &outcome(&[], ""), &outcome(&[], ""), true, &mut wrong);
        assert_eq!(wrong, ["p: no case ran"]);
    }
}

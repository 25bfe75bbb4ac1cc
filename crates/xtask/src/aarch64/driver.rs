//! The driver as programs of AArch64 see it: the conformance programs, built for both machines, must say the same and cost the same.

use super::system::System;
use super::{AARCH64, CPU};
use crate::cargo::{call, icd_file, on_driver, own_driver, target_folder};
use crate::same::{PROGRAMS, Report, children, outcome};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What programs and the loader come from.
pub const SUITE: &str = "bookworm";
pub const PACKAGES: [&str; 2] = ["libvulkan1", "vulkan-tools"];

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

pub fn run(all: bool) -> Result<(), String> {
    let folder = target_folder().join("aarch64-driver");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let system = System::get(SUITE, &PACKAGES)?;
    let own = own_driver(&folder, &[])?;
    let icd = build(&folder)?;
    summary(&system, &icd)?;
    let here = children(&[], |_| ())?;
    let there = children(&["--target", AARCH64.triple], |command| AARCH64.prepare(command))?;
    let mut report = Report::new("x86-64");
    for program in &PROGRAMS {
        let (cases, want) = program.native(&here, &own, &folder)?;
        for way in if all { &ALL[..] } else { &USUAL[..] } {
            let start = Instant::now();
            let mut command = system.run(&["-cpu", CPU], &program.of(&there)?);
            command.env("TUFF_SIMD", way.level).env("TUFF_THREADS", way.threads);
            // Whatever runs, not what runs often alone.
            command.env("TUFF_JIT", "always");
            let name = format!("{} ({}, {} threads)", program.name, way.level, way.threads);
            report.compare(
                &name,
                &want,
                outcome(command, &icd, &folder, &cases, program.counts),
                program.counts,
            );
            println!("xtask: {:.0} s", start.elapsed().as_secs_f64());
        }
    }
    report.end()
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

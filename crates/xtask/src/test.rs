//! `cargo xtask test`: everything that must pass, from a clean checkout; and what could not be run there.

use crate::cargo::{call, call_with, cargo, own, release, root, target_folder, whole};
use crate::needs::{HEADERS, LAVAPIPE, LOADER, Need, has_library, has_program, has_zink, provide};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

const NEEDS: [Need; 6] = [
    LOADER,
    Need { what: "vulkaninfo", package: "vulkan-tools", here: has_program },
    Need {
        what: "VK_LAYER_KHRONOS_validation",
        package: "vulkan-validationlayers",
        here: |_| has_validation(),
    },
    Need { what: "Xvfb", package: "xvfb", here: has_program },
    Need { what: "spirv-val", package: "spirv-tools", here: has_program },
    Need { what: "readelf", package: "binutils", here: has_program },
];

/// What single tests need, which say so where it is missing.
const WANTS: [Need; 14] = [
    Need { what: "glslangValidator", package: "glslang-tools", here: has_program },
    Need { what: "genhtml", package: "lcov", here: has_program },
    Need {
        what: "RenderDoc's Python module",
        package: "python3-renderdoc",
        here: |_| Path::new("/usr/lib/python3/dist-packages/renderdoc.so").exists(),
    },
    LAVAPIPE,
    Need { what: "Mesa's zink", package: "libgl1-mesa-dri", here: |_| has_zink() },
    Need { what: "libEGL.so.1", package: "libegl1", here: has_library },
    Need {
        what: "piglit's amd_performance_monitor_api",
        package: "piglit",
        here: |_| Path::new("/usr/lib/x86_64-linux-gnu/piglit/bin/amd_performance_monitor_api").exists(),
    },
    Need { what: "glxinfo", package: "mesa-utils", here: has_program },
    Need { what: "eglretrace", package: "apitrace", here: has_program },
    Need { what: "chromium", package: "chromium", here: has_program },
    Need { what: "weston", package: "weston", here: has_program },
    HEADERS[0],
    HEADERS[1],
    HEADERS[2],
];

fn has_validation() -> bool {
    ["/etc", "/usr/share", "/usr/local/share"]
        .iter()
        .any(|f| Path::new(f).join("vulkan/explicit_layer.d/VkLayer_khronos_validation.json").exists())
}

/// What became of the tests.
#[derive(Default, Debug, PartialEq)]
pub struct Tally {
    passed: u64,
    pub failed: u64,
    /// What was not run and what it needs, a line each.
    pub not_run: BTreeSet<String>,
}

impl Tally {
    /// Takes in a line of what test programs print.
    pub fn read(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            let count = |what| {
                let part = counts.split([';', '.']).map(str::trim).find_map(|p| p.strip_suffix(what));
                part.and_then(|n| n.trim().parse::<u64>().ok()).unwrap_or(0)
            };
            self.passed += count("passed");
            self.failed += count("failed");
        } else if let Some((test, why)) =
            line.strip_prefix("test ").and_then(|l| l.split_once(" ... ignored"))
        {
            let why = why.trim_start_matches(", ");
            self.not_run.insert(format!("not run: {test}: needs to be asked for ({why})"));
        }
    }

    /// The reasons, and the closing line.
    pub fn show(&self) {
        self.not_run.iter().for_each(|line| println!("{line}"));
        println!("{} passed, {} failed, {} not run", self.passed, self.failed, self.not_run.len());
    }
}

/// The packages whose tests start their examples.
const WITH_EXAMPLES: [&str; 2] = ["tuff", "perfmon-gl"];

/// The options that name all examples of these packages.
fn examples_of(packages: &[&str]) -> Result<Vec<String>, String> {
    let mut options = Vec::new();
    for package in packages {
        let folder = root().join("crates").join(package).join("examples");
        let entries = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        // A file, or a folder with its main file.
        let is_source = |p: &PathBuf| p.extension().is_some_and(|e| e == "rs") || p.join("main.rs").exists();
        let sources = entries.flatten().map(|e| e.path()).filter(is_source);
        let names = sources.filter_map(|p| Some(p.file_stem()?.to_str()?.to_owned()));
        options.extend(names.flat_map(|name| ["--example".into(), name]));
    }
    Ok(options)
}

/// Runs `cargo test`, and counts what it prints. `--tests` builds no examples, so those that tests start are built first;
/// clippy has looked at the others.
fn tests(tally: &mut Tally) -> Result<(), String> {
    // The whole workspace, so that dependencies have the features that the tests build them with.
    let mut examples = cargo(&["build", "--workspace"]);
    examples.args(examples_of(&WITH_EXAMPLES)?).args(whole());
    call(examples)?;
    let mut command = cargo(&["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests"]);
    command.args(whole()).stdout(Stdio::piped());
    call_with(command, |child| {
        let stdout = child.stdout.take().ok_or("cargo test has no output")?;
        for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            tally.read(&line);
        }
        Ok(())
    })
}

/// Runs every step, also after one has failed, and says in the end which ones did, and what could not be run.
pub fn run() -> Result<(), String> {
    provide("the tests", &NEEDS)?;
    let said = target_folder().join("not-run.txt");
    std::fs::create_dir_all(target_folder()).map_err(|e| format!("{}: {e}", target_folder().display()))?;
    std::fs::write(&said, "").map_err(|e| format!("{}: {e}", said.display()))?;
    // SAFETY: no other thread runs.
    unsafe { std::env::set_var(not_run::FILE, &said) };
    // Large packages come while what does not want them is compiled.
    let mut wants = Some(std::thread::spawn(|| provide("some tests", &WANTS)));
    let mut tally = Tally::default();
    let steps: [(&str, &mut dyn FnMut() -> Result<(), String>); 10] = [
        ("format", &mut || call(cargo(&["fmt", "--all", "--check"]))),
        ("generated files", &mut || call(own(&["codegen", "--check"])?)),
        ("dependencies", &mut crate::dependencies::deny),
        ("release driver, layer and GL library", &mut || {
            release(&["icd", "layer-gpu-performance", "perfmon-gl"], &[])
        }),
        ("clippy", &mut || call(cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))),
        ("what some tests want", &mut || {
            // Where it cannot be had, those tests say so.
            match wants.take().map(std::thread::JoinHandle::join) {
                Some(Ok(Err(e))) => println!("{e}"),
                Some(Err(_)) => return Err("the installation panicked".into()),
                _ => {}
            }
            Ok(())
        }),
        ("shaders", &mut || call(own(&["shaders", "--check"])?)),
        ("tests", &mut || tests(&mut tally)),
        ("one scene measured four ways", &mut || call(own(&["five-ways"])?)),
        ("the pages' quick commands", &mut crate::docs::quick),
    ];
    let mut failed = Vec::new();
    for (name, step) in steps {
        if let Err(e) = step() {
            eprintln!("xtask: {name}: {e}");
            failed.push(name);
        }
    }
    let lines = std::fs::read_to_string(&said).map_err(|e| format!("{}: {e}", said.display()))?;
    tally.not_run.extend(lines.lines().map(String::from));
    tally.show();
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn results_of_several_programs_are_added_up() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test a::b ... ok",
            "test c ... ignored, takes a day",
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.52s",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s",
        ] {
            tally.read(line);
        }
        let not_run = ["not run: c: needs to be asked for (takes a day)".to_string()].into();
        assert_eq!(tally, Tally { passed: 15, failed: 2, not_run });
    }
}

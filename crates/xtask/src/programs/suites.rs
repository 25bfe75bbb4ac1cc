//! Test suites of others, of clones, on Tuff and on lavapipe: how many tests pass, and which do so on one alone.

use super::Installed;
use crate::cargo::on_driver;
use crate::needs::{LAVAPIPE, lavapipe, provide};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

struct Suite {
    name: &'static str,
    /// Of the clone, to run in, so that the packages are those that are installed and not the clone's.
    copied: &'static [&'static str],
    packages: &'static [&'static str],
    kind: Kind,
    /// Tests that pass on lavapipe alone, and why.
    explained: &'static [(&'static str, &'static str)],
}

enum Kind {
    Pytest(&'static [&'static str]),
    Cargo(&'static [&'static str]),
}

const SUITES: [Suite; 3] = [
    Suite {
        name: "wgpu-py",
        copied: &["tests", "tests_mem", "examples", "conftest.py"],
        packages: &["wgpu", "rendercanvas", "numpy", "pytest", "anyio", "trio", "psutil", "imageio", "pypng"],
        kind: Kind::Pytest(&["tests"]),
        explained: &[],
    },
    Suite {
        name: "pygfx",
        copied: &["tests", "examples", "conftest.py"],
        packages: &["pygfx", "numpy", "pytest", "imageio", "scipy", "trimesh", "gltflib", "httpx", "psutil"],
        // This one wants a picture from the network.
        kind: Kind::Pytest(&["tests", "--ignore", "tests/renderers/test_output_pass.py"]),
        explained: &[(
            "tests/utils/test_text_atlas.py::test_against_glyph_bleeding",
            "text in two places of an atlas is to give equal bytes; lavapipe rounds what it samples to bytes, so that it does; on Tuff, which \
             does not round, places differ in the last bit, and where an alpha is about 0 that bit decides whether a fragment is discarded",
        )],
    },
    Suite {
        name: "vello",
        copied: &[],
        packages: &[],
        kind: Kind::Cargo(&["test", "--release", "-p", "vello_tests", "--no-fail-fast"]),
        explained: &[],
    },
];

/// Each test's name, and whether it passed.
type Results = BTreeMap<String, bool>;

pub fn run(clones: &Path, installed: &Installed, icd: &Path) -> Result<(), String> {
    provide("the suites", &[LAVAPIPE])?;
    let peer = lavapipe().ok_or("no lavapipe")?;
    let mut wrong = vec![];
    for suite in &SUITES {
        let clone = clones.join(suite.name);
        if !clone.exists() {
            not_run::say(suite.name, &format!("a clone at {}", clone.display()));
            continue;
        }
        let own = suite.results(&clone, installed, icd)?;
        let peers = suite.results(&clone, installed, &peer)?;
        let passed = |r: &Results| r.values().filter(|ok| **ok).count();
        println!(
            "{}: Tuff {} of {}, lavapipe {} of {}",
            suite.name,
            passed(&own),
            own.len(),
            passed(&peers),
            peers.len()
        );
        if own.is_empty() || peers.is_empty() {
            wrong.push(format!("{}: no test has run", suite.name));
        }
        for (test, _) in peers.iter().filter(|(t, ok)| **ok && own.get(*t) != Some(&true)) {
            match suite.explained.iter().find(|e| e.0 == test) {
                Some((_, why)) => println!("  {test}: {why}"),
                None => wrong.push(format!("{}: {test} passes on lavapipe alone", suite.name)),
            }
        }
        for (test, _) in own.iter().filter(|(t, ok)| **ok && peers.get(*t) != Some(&true)) {
            println!("  {test}: passes on Tuff alone");
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n       ")) }
}

impl Suite {
    fn results(&self, clone: &Path, installed: &Installed, icd: &Path) -> Result<Results, String> {
        let failed = |e: std::io::Error| format!("{}: {e}", self.name);
        let mut command = match self.kind {
            Kind::Pytest(arguments) => {
                installed.pip(self.packages)?;
                let folder = installed.folder.join("suites").join(self.name);
                std::fs::create_dir_all(&folder).map_err(failed)?;
                for part in self.copied {
                    let mut copy = Command::new("cp");
                    copy.arg("-r").arg(clone.join(part)).arg(&folder);
                    copy.status().map_err(failed)?;
                }
                let mut command = Command::new(installed.python());
                command.args(["-m", "pytest", "-v"]).args(arguments).current_dir(folder);
                command
            }
            Kind::Cargo(arguments) => {
                let mut command = Command::new("cargo");
                command.args(arguments).current_dir(clone);
                command
            }
        };
        on_driver(&mut command, icd).env("TUFF_CONFORMANCE", "1.4.0.0");
        // vello compares with pictures that a clone without git-lfs does not have.
        command.env("VELLO_SKIP_LFS_SNAPSHOTS", "all");
        let out = command.output().map_err(failed)?;
        Ok(results(&String::from_utf8_lossy(&out.stdout)))
    }
}

/// Of pytest's lines (`FILE::TEST PASSED`) and libtest's (`test NAME ... ok`).
fn results(text: &str) -> Results {
    let line = |line: &str| {
        if let Some((name, end)) = line.strip_prefix("test ").and_then(|l| l.rsplit_once(" ... ")) {
            return matches!(end, "ok" | "FAILED").then(|| (name.to_string(), end == "ok"));
        }
        let (name, rest) = line.split_once(' ')?;
        let word = rest.split_whitespace().next()?;
        let ran = name.contains("::") && matches!(word, "PASSED" | "FAILED" | "ERROR");
        ran.then(|| (name.to_string(), word == "PASSED"))
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_of_both_kinds_are_results() {
        let text = "tests/a.py::b PASSED [ 1%]\ntests/a.py::c[x y] FAILED\ntests/a.py::d SKIPPED (no)\n\
                    test one::two ... ok\ntest three ... FAILED\ntest four ... ignored\n= 2 passed =";
        let found: Vec<_> = super::results(text).into_iter().collect();
        let expected = [("one::two", true), ("tests/a.py::b", true), ("three", false)];
        assert_eq!(found, expected.map(|(name, ok)| (name.to_string(), ok)));
    }
}

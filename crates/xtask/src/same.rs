//! The conformance programs on another machine or system: they must say the same as on this one, and cost the same.

use crate::cargo::{on_driver, programs};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of `conformance`.
pub struct Program {
    pub name: &'static str,
    /// Whether its counters are compared.
    pub counts: bool,
    /// A case that is left out, for its invocations race: how often they try again is nobody's to say.
    racing: &'static str,
}

pub const PROGRAMS: [Program; 5] = [
    Program { name: "scene-child", counts: true, racing: "" },
    Program { name: "compute-child", counts: true, racing: "atomics" },
    // One of its passes lasts as long as another thread takes.
    Program { name: "instrumentation-child", counts: false, racing: "" },
    Program { name: "descriptor-buffers-child", counts: true, racing: "" },
    Program { name: "extensions-child", counts: true, racing: "" },
];

/// What a program said and what it cost.
pub struct Outcome {
    lines: BTreeMap<String, String>,
    counters: String,
}

/// Programs by name.
type Made = Vec<(String, PathBuf)>;

impl Program {
    /// Its file among those.
    ///
    /// # Errors
    /// There is none.
    pub fn of(&self, list: &[(String, PathBuf)]) -> Result<PathBuf, String> {
        let found = list.iter().find(|(name, _)| name == self.name);
        found.map(|(_, path)| path.clone()).ok_or(format!("conformance has no {}", self.name))
    }

    /// What it says here, and the cases that are to be named elsewhere: none, if all of them are compared.
    ///
    /// # Errors
    /// It fails.
    pub fn native(
        &self,
        here: &[(String, PathBuf)],
        icd: &Path,
        folder: &Path,
    ) -> Result<(Vec<String>, Outcome), String> {
        let native = self.of(here)?;
        let want = outcome(Command::new(&native), icd, folder, &[], self.counts)?;
        if !want.lines.contains_key(self.racing) {
            return Ok((vec![], want));
        }
        let cases: Vec<String> = want.lines.keys().filter(|c| *c != self.racing).cloned().collect();
        let want = outcome(Command::new(&native), icd, folder, &cases, self.counts)?;
        Ok((cases, want))
    }
}

/// The conformance programs, by name.
pub fn children(arguments: &[&str], prepare: impl FnOnce(&mut Command)) -> Result<Made, String> {
    let words = [&["build", "--bins", "-p", "conformance"], arguments].concat();
    let made = programs(&words, prepare)?;
    Ok(made.into_iter().map(|(_, name, path)| (name, path)).collect())
}

pub fn outcome(
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

pub fn compare(name: &str, want: &Outcome, got: &Outcome, counts: bool, wrong: &mut Vec<String>) {
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

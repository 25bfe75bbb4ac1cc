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

impl Outcome {
    /// Of cases, and what they gave.
    pub fn of(lines: BTreeMap<String, String>) -> Outcome {
        Outcome { lines, counters: String::new() }
    }

    /// Of a table's text: each row is a case.
    pub fn of_rows(text: &str) -> Outcome {
        let lines = text.lines().enumerate().map(|(n, line)| (format!("row {n:04}"), line.to_string()));
        Outcome::of(lines.collect())
    }
}

/// Programs by name.
type Made = Vec<(String, PathBuf)>;

impl Program {
    /// Its file among those.
    ///
    /// # Errors
    /// There is none.
    pub fn of(&self, list: &[(String, PathBuf)]) -> Result<PathBuf, String> {
        of(list, self.name)
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

/// The program of this name.
///
/// # Errors
/// There is none.
pub fn of(list: &[(String, PathBuf)], name: &str) -> Result<PathBuf, String> {
    let found = list.iter().find(|(n, _)| n == name);
    found.map(|(_, path)| path.clone()).ok_or(format!("conformance has no {name}"))
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

/// How much is equal, of programs that ran on another machine or system.
pub struct Report {
    /// Where they ran first, as messages have it.
    first: &'static str,
    programs: Share,
    cases: Share,
    counters: Share,
    wrong: Vec<String>,
}

/// So many of so many.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Share(usize, usize);

impl Share {
    fn add(&mut self, other: Share) {
        *self = Share(self.0 + other.0, self.1 + other.1);
    }
}

impl Report {
    pub fn new(first: &'static str) -> Report {
        let none = Share::default();
        Report { first, programs: none, cases: none, counters: none, wrong: vec![] }
    }

    /// Something else is not as it should be.
    pub fn wrong(&mut self, why: String) {
        self.wrong.push(why);
    }

    /// Compares what a program said there, or why it could not.
    pub fn compare(&mut self, name: &str, want: &Outcome, got: Result<Outcome, String>, counts: bool) {
        let before = self.wrong.len();
        match got {
            Ok(got) => self.equal(name, want, &got, counts),
            Err(e) => {
                self.cases.add(Share(0, want.lines.len()));
                self.counters.add(Share(0, want.counters.lines().count()));
                self.wrong.push(format!("{name}: {e}"));
            }
        }
        self.programs.add(Share((self.wrong.len() == before) as usize, 1));
    }

    fn equal(&mut self, name: &str, want: &Outcome, got: &Outcome, counts: bool) {
        let first = self.first;
        let equal = want.lines.iter().filter(|(case, hash)| got.lines.get(*case) == Some(hash)).count();
        println!("xtask: {name}: {equal} of {} cases have {first}'s bits", want.lines.len());
        self.cases.add(Share(equal, want.lines.len()));
        for (case, hash) in want.lines.iter().filter(|(case, hash)| got.lines.get(*case) != Some(hash)) {
            self.wrong.push(format!("{name}: {case}: {:?}, on {first} {hash}", got.lines.get(case)));
        }
        if want.lines.is_empty() {
            self.wrong.push(format!("{name}: no case ran"));
        }
        if !counts {
            return;
        }
        let (a, b) = (want.counters.lines(), got.counters.lines());
        let all = a.clone().count();
        let same = a.clone().zip(b.clone()).filter(|(a, b)| a == b).count();
        println!("xtask: {name}: {same} of {all} lines of counters are {first}'s");
        self.counters.add(Share(same, all));
        if want.counters != got.counters {
            let first = a.zip(b).find(|(a, b)| a != b);
            self.wrong.push(format!("{name}: counters differ, first {first:?}"));
        }
    }

    /// Tells what all programs have in common.
    ///
    /// # Errors
    /// Anything is not equal.
    pub fn end(self) -> Result<(), String> {
        let (programs, cases, counters) = (self.programs, self.cases, self.counters);
        println!(
            "xtask: as on {}: {} of {} programs, {} of {} cases, {} of {} lines of counters",
            self.first, programs.0, programs.1, cases.0, cases.1, counters.0, counters.1
        );
        if self.wrong.is_empty() { Ok(()) } else { Err(self.wrong.join("\n")) }
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
        let compared = |got: Result<Outcome, String>| {
            let mut report = Report::new("x86-64");
            report.compare("p", &want, got, true);
            assert_eq!(report.programs, Share(report.wrong.is_empty() as usize, 1));
            (report.wrong.len(), report.cases, report.counters)
        };
        assert_eq!(compared(Ok(outcome(&[("a", "1"), ("b", "2")], "x\ny\n"))), (0, Share(2, 2), Share(2, 2)));
        assert_eq!(compared(Ok(outcome(&[("a", "1"), ("b", "3")], "x\ny\n"))), (1, Share(1, 2), Share(2, 2)));
        assert_eq!(compared(Ok(outcome(&[("a", "1")], "x\nz\n"))), (2, Share(1, 2), Share(1, 2)));
        assert_eq!(compared(Ok(outcome(&[("a", "1"), ("b", "2")], "x\n"))), (1, Share(2, 2), Share(1, 2)));
        assert_eq!(compared(Err("ended".into())), (1, Share(0, 2), Share(0, 2)));
        let mut report = Report::new("x86-64");
        report.compare("p", &outcome(&[], ""), Ok(outcome(&[], "")), true);
        assert_eq!(report.end(), Err("p: no case ran".into()));
    }
}

//! What `tuff shader --golden` says: lines for a terminal, Markdown for a pull request, JUnit for a CI system.

use super::golden::{Key, Verdict};
use crate::junit::{failed, suite, xml};
use plain::markdown as cell;
use quick_junit::TestCaseStatus;
use std::fmt::Write;

/// How many rows a table has at most: a comment on GitHub holds 65 536 characters.
const ROWS: usize = 60;

/// Shaders with their verdicts, and what could not be looked at, a message each.
pub struct Verdicts {
    pub all: Vec<(Key, Verdict)>,
    pub errors: Vec<String>,
}

impl Verdicts {
    /// Shaders that are dearer than allowed, or that have no golden costs.
    pub fn failures(&self) -> usize {
        self.all.iter().filter(|(_, v)| matches!(v, Verdict::Dearer(_) | Verdict::New)).count()
    }

    fn head(&self) -> String {
        let of = |is: fn(&Verdict) -> bool| self.all.iter().filter(|(_, v)| is(v)).count();
        let counts = [
            (of(|v| matches!(v, Verdict::Dearer(_))), "dearer"),
            (of(|v| matches!(v, Verdict::New)), "without golden costs"),
            (self.errors.len(), "not compiled"),
            (of(|v| matches!(v, Verdict::Allowed(_))), "changed, not dearer than allowed"),
            (of(|v| matches!(v, Verdict::Same)), "the same"),
            (of(|v| matches!(v, Verdict::Gone)), "gone"),
        ];
        let parts = counts.iter().filter(|c| c.0 > 0).map(|(n, what)| format!("{n} {what}"));
        let parts: Vec<_> = parts.collect();
        if parts.is_empty() { "no shaders".into() } else { parts.join(", ") }
    }

    /// What differs, the dearer ones last, where a terminal shows them.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut put = |which: fn(&Verdict) -> bool, what: &str| {
            for (key, verdict) in self.all.iter().filter(|(_, v)| which(v)) {
                let _ = writeln!(out, "{}: {what}", key.name());
                let (Verdict::Dearer(list) | Verdict::Allowed(list)) = verdict else { continue };
                for change in list {
                    let _ =
                        writeln!(out, "  {}{}", change.line(), if change.dearer { "  dearer" } else { "" });
                }
            }
        };
        put(|v| matches!(v, Verdict::Gone), "only in the golden file (--update removes it)");
        put(|v| matches!(v, Verdict::Allowed(_)), "changed");
        put(|v| matches!(v, Verdict::New), "has no golden costs (--update adds them)");
        put(|v| matches!(v, Verdict::Dearer(_)), "dearer");
        let _ = writeln!(out, "{}", self.head());
        out
    }

    pub fn markdown(&self) -> String {
        let mut out = format!("### Tuff: shaders: {}\n", self.head());
        for message in &self.errors {
            let _ = write!(out, "\n- {}", cell(message));
        }
        let rows: Vec<_> = self.all.iter().filter(|(_, v)| *v != Verdict::Same).collect();
        if !rows.is_empty() {
            out.push_str("\n| shader | what | before | after | growth |\n|---|---|--:|--:|--:|\n");
        }
        let mut lines = vec![];
        for (key, verdict) in rows {
            let name = cell(&key.name());
            match verdict {
                Verdict::New => lines.push(format!("| {name} | **no golden costs** | | | |")),
                Verdict::Gone => lines.push(format!("| {name} | gone | | | |")),
                Verdict::Same => {}
                Verdict::Dearer(list) | Verdict::Allowed(list) => lines.extend(list.iter().map(|c| {
                    let mark = if c.dearer { "**" } else { "" };
                    let growth =
                        if c.growth.is_finite() { format!("{:+.1} %", c.growth) } else { String::new() };
                    let [before, after] = [c.before, c.after].map(super::table::number);
                    format!("| {name} | {mark}{}{mark} | {before} | {after} | {growth} |", c.what)
                })),
            }
        }
        for line in lines.iter().take(ROWS) {
            let _ = writeln!(out, "{line}");
        }
        if lines.len() > ROWS {
            let _ = writeln!(out, "\nand {} more", lines.len() - ROWS);
        }
        out
    }

    pub fn junit(&self) -> String {
        let of = |verdict: &Verdict| match verdict {
            Verdict::Dearer(list) => {
                let lines = |dearer: bool| {
                    list.iter().filter(|c| !dearer || c.dearer).map(|c| c.line()).collect::<Vec<_>>()
                };
                failed("dearer", lines(true).join("; "), lines(false).join("\n"))
            }
            Verdict::New => {
                let what = "no golden costs: tuff shader --golden FILE --update adds them";
                failed("new", what.into(), what.into())
            }
            _ => TestCaseStatus::success(),
        };
        let costs = self.all.iter().map(|(key, v)| (key.name(), of(v)));
        let errors = self.errors.iter().map(|e| {
            let (file, _) = e.split_once(": ").unwrap_or((e, ""));
            (plain::line(file).into_owned(), failed("error", plain::message(e), plain::message(e)))
        });
        xml("tuff shader", vec![suite("shader costs", costs.chain(errors))])
    }
}

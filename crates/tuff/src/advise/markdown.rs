//! Advice as Markdown, for a pull request or an issue.

use super::rules::{GUIDE, GUIDE_URL};
use super::text::{about, cure, gain, plain_text};
use super::{Advice, Item};
use crate::report::{bytes, many, time};
use std::fmt::Write;

/// What would be markup is none.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '|' | '#') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn item(out: &mut String, a: &Advice, n: usize, i: &Item) {
    let _ = writeln!(out, "\n## {n}. {}\n", escaped(i.rule.title));
    let _ = writeln!(out, "{}\n", escaped(&i.says));
    let _ = writeln!(
        out,
        "- **Gain**: {}; estimated as {}",
        escaped(&gain(&i.gain, a.case.whole, a.case.bytes)),
        escaped(i.gain.how)
    );
    let _ = writeln!(out, "- **Do**: {}", escaped(&cure(i)));
    let _ = writeln!(out, "- **Why**: {}", escaped(&plain_text(i.rule.why)));
    let _ = writeln!(out, "- **Rule**: `{}`; {GUIDE}: {}\n", i.rule.id, escaped(i.rule.source));
    for about in i.about.iter().map(about) {
        let _ = writeln!(out, "  - {}", escaped(&about));
    }
    if i.more > 0 {
        let _ = writeln!(out, "  - and {} more", i.more);
    }
    for line in &i.lines {
        let _ = writeln!(out, "  - {}", escaped(&line.text()));
    }
}

pub fn markdown(a: &Advice) -> String {
    let mut out = String::from("# Advice\n\n");
    let _ = writeln!(
        out,
        "{} for {} and {} of external traffic on {}.",
        many(a.items.len(), "item"),
        time(a.case.whole as f64),
        bytes(a.case.bytes as f64),
        escaped(&plain::line(&a.case.capture.gpu))
    );
    if !a.items.is_empty() {
        out += "\n| | rule | gain in time | in traffic |\n|---|---|---|---|\n";
        for (n, i) in a.items.iter().enumerate() {
            let share = 100.0 * i.gain.ns / a.case.whole.max(1) as f64;
            let _ = writeln!(
                out,
                "| {} | {} | {share:.1} % | {} |",
                n + 1,
                escaped(i.rule.title),
                bytes(i.gain.bytes.max(0.0))
            );
        }
    }
    for (n, i) in a.items.iter().enumerate() {
        item(&mut out, a, n + 1, i);
    }
    if a.small > 0 {
        let _ = writeln!(out, "\n{} of little gain are left out.", many(a.small, "item"));
    }
    let _ = writeln!(out, "\nTopics are those of the [{GUIDE}]({GUIDE_URL}).");
    out
}

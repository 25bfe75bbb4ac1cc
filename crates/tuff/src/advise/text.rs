//! Advice for a terminal.

use super::rules::{GUIDE, GUIDE_URL, Rule};
use super::{About, Advice, Gain, Item};
use crate::report::{bytes, many, time};
use std::fmt::Write;

/// Columns of a line.
const WIDTH: usize = 110;

/// In lines of at most [`WIDTH`], each after the first with this before it.
fn wrapped(text: &str, indent: &str) -> String {
    let (mut out, mut column) = (String::new(), indent.chars().count());
    for word in text.split_whitespace() {
        let n = word.chars().count();
        if column > indent.chars().count() && column + 1 + n > WIDTH {
            out.push('\n');
            out.push_str(indent);
            column = indent.chars().count();
        } else if !out.is_empty() {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += n;
    }
    out
}

/// Words of a text that may have line breaks and spaces of its source.
pub fn plain_text(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a change gains, of the captured whole.
pub fn gain(g: &Gain, whole: u64, all_bytes: u64) -> String {
    let mut parts = vec![];
    if g.ns >= 1.0 {
        parts.push(format!(
            "{} of {} ({:.1} %)",
            time(g.ns),
            time(whole as f64),
            100.0 * g.ns / whole.max(1) as f64
        ));
    }
    if g.bytes >= 1.0 {
        let share = 100.0 * g.bytes / all_bytes.max(1) as f64;
        parts.push(format!("{} of external traffic ({share:.1} %)", bytes(g.bytes)));
    }
    if g.memory >= 1.0 {
        parts.push(format!("{} of memory", bytes(g.memory)));
    }
    if parts.is_empty() { "nothing that the model can tell".into() } else { parts.join(", ") }
}

/// What an item is about, in a line.
pub fn about(a: &About) -> String {
    // An image's label is its name.
    let label = match a.label.is_empty() || a.kind == "image" {
        true => String::new(),
        false => format!("{}: ", a.label),
    };
    let detail = if a.detail.is_empty() { String::new() } else { format!(": {}", a.detail) };
    // The line of a workload begins with its label.
    let label = if matches!(a.kind, "barrier" | "submission") { String::new() } else { label };
    format!("{label}{}{detail}", a.name)
}

/// What to do.
pub fn cure(i: &Item) -> String {
    i.cure.clone().unwrap_or_else(|| plain_text(i.rule.cure))
}

pub fn text(a: &Advice) -> String {
    let mut out = String::new();
    let whole = a.case.whole;
    let _ = writeln!(
        out,
        "tuff advise: {} for {} and {} of external traffic on {}",
        many(a.items.len(), "item"),
        time(whole as f64),
        bytes(a.case.bytes as f64),
        plain::line(&a.case.capture.gpu)
    );
    for (n, i) in a.items.iter().enumerate() {
        let _ = writeln!(out, "\n{}. {} [{}]", n + 1, i.rule.title, i.rule.id);
        let mut line = |what: &str, text: &str| {
            let _ = writeln!(out, "   {}", wrapped(&format!("{what}{text}"), "   "));
        };
        line("", &i.says);
        line("Gain: ", &gain(&i.gain, whole, a.case.bytes));
        line("Estimate: ", i.gain.how);
        // What was said of the same rule is not said again.
        match a.items[..n].iter().position(|e| e.rule.id == i.rule.id && cure(e) == cure(i)) {
            Some(earlier) => line("", &format!("Do, and why: as for item {}.", earlier + 1)),
            None => {
                line("Do: ", &cure(i));
                line("Why: ", i.rule.why);
            }
        }
        for about in i.about.iter().map(about) {
            let _ = writeln!(out, "     - {}", wrapped(&about, "       "));
        }
        if i.more > 0 {
            let _ = writeln!(out, "     - and {} more", i.more);
        }
        for line in &i.lines {
            let _ = writeln!(out, "     > {}", wrapped(&line.text(), "       "));
        }
    }
    if a.small > 0 {
        let _ = writeln!(out, "\n{} of little gain: --all prints them too", many(a.small, "item"));
    }
    out
}

/// All rules, for people.
pub fn rules(all: &[Rule]) -> String {
    let mut out = format!("{} rules. Topics are those of the {GUIDE}, {GUIDE_URL}\n", all.len());
    for r in all {
        let _ = writeln!(out, "\n{}: {}", r.id, r.title);
        for (what, text) in [("When", r.threshold), ("Why", r.why), ("Do", r.cure), ("Topic", r.source)] {
            let _ = writeln!(out, "  {what}: {}", wrapped(text, "  "));
        }
    }
    out
}

/// The same as the table of docs/advise.md.
#[cfg(test)]
pub fn table(all: &[Rule]) -> String {
    let mut out =
        String::from("| rule | says that | when | why | topic of the guide |\n|---|---|---|---|---|\n");
    for r in all {
        let cell = |text: &str| plain_text(text).replace('|', "\\|");
        let [title, threshold, why, source] = [r.title, r.threshold, r.why, r.source].map(cell);
        let _ = writeln!(out, "| `{}` | {title} | {threshold} | {why} | {source} |", r.id);
    }
    out
}

//! `docs/counters.md`, written from the catalogue (`cargo xtask codegen`).

use crate::catalogue::{self, Block, Counter, OWN};
use crate::event::{Event, Phase, Unit};
use std::fmt::Write as _;

const INTRODUCTION: &str = include_str!("../data/introduction.md");

/// The whole page.
pub fn page() -> String {
    let mut out = String::from(INTRODUCTION);
    let all = catalogue::all();
    let (mali, own): (Vec<_>, Vec<_>) = all.iter().partition(|c| c.id < OWN);
    let reported = mali.iter().filter(|c| c.formula.is_some()).count();
    let _ = write!(
        out,
        "\n## Counters\n\nOf the {} counters of the G720 database {reported} are reported; {} more are Tuff's own.\n",
        mali.len(),
        own.len()
    );
    for block in Block::ALL {
        table(&mut out, block.title(), mali.iter().filter(|c| c.block == block && c.formula.is_some()));
    }
    table(&mut out, "Tuff's own", own.iter());
    out.push_str("\n## Not modelled\n\nThese have no value in this model, so no interface reports them.\n\n");
    out.push_str("| why | counters |\n|---|---|\n");
    let absent: Vec<_> = mali.iter().filter(|c| c.formula.is_none()).collect();
    let mut reasons: Vec<&str> = vec![];
    absent.iter().for_each(|c| {
        if !reasons.contains(&c.description) {
            reasons.push(c.description);
        }
    });
    for reason in reasons {
        let names: Vec<_> = absent.iter().filter(|c| c.description == reason).map(|c| c.human).collect();
        let _ = writeln!(out, "| {reason} | {} |", names.join("; "));
    }
    events(&mut out);
    out
}

fn table<'a>(out: &mut String, title: &str, counters: impl Iterator<Item = &'a &'a Counter>) {
    let _ = write!(
        out,
        "\n### {title}\n\n| name | id | unit | formula | what it tells |\n|---|---|---|---|---|\n"
    );
    for c in counters {
        let _ = writeln!(
            out,
            "| {}<br>`{}` | {} | {} | `{}` | {} |",
            c.human,
            c.machine,
            if c.id < OWN { c.id.to_string() } else { format!("{:#x}", c.id) },
            c.unit,
            c.formula.unwrap_or_default(),
            c.description
        );
    }
}

fn events(out: &mut String) {
    out.push_str("\n## Events\n\nWhat the engine counts while it executes.\n\n| event | what is counted |\n|---|---|\n");
    for e in Event::ALL {
        let _ = writeln!(out, "| `{}` | {} |", e.name(), e.doc());
    }
    let phases: Vec<_> = Phase::ALL.iter().map(|p| format!("`{}`", p.name())).collect();
    let _ = write!(
        out,
        "\nThe shader cores' events are counted apart for {}; without a phase a formula means their sum.\n\n\
         | event | what is counted |\n|---|---|\n",
        phases.join(", ")
    );
    for u in Unit::ALL {
        let _ = writeln!(out, "| `{}` | {} |", u.name(), u.doc());
    }
}

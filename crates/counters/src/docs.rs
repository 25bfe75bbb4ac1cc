//! Writes `docs/counters.md` from the catalogue (`cargo xtask codegen`).

use crate::catalogue::{self, Block, Counter, OWN};
use crate::event::{Event, Phase, Unit};
use std::fmt::Write as _;

const INTRODUCTION: &str = include_str!("../data/introduction.md");

/// What was measured stands between these in the page (`cargo xtask five-ways`).
const MARKERS: [&str; 2] = ["<!-- measured -->\n", "<!-- end of what was measured -->\n"];
const MEASURED: &str = "
## One scene, measured five ways

`cargo xtask five-ways --source DIR` (a clone of libGPULayers: [arm-layers.md](arm-layers.md)) runs an OpenGL program on
Mesa's zink (`crates/perfmon-gl/examples/perfmon_scene.rs`) once for each interface, and compares every counter of every
workload that the interface has with the ledger's. It writes this table, with sums over the scene's six workloads:

";
const MEASURED_HOW: &str = "
Each of the scene's workloads is one render pass or one copy inside one session, so that every interface has the same number of
rows: Arm's layer has no rows for blits and resolves, and a session includes everything after its mark
([opengl.md](opengl.md)). Tuff's counts are the same in every run, so each interface can be measured in a run of its own; only the ledger and our
layer's channel share one. Arm's layer shows 15 counters, one of them (texture unit cycles) as a ratio, and the command also compares kinds and
numbers of workloads with it. GL gives percentages from 0 to 100, and 32-bit fractions. Our layer makes the workloads run one after the
other.
";

/// What stands between the markers of a page.
fn measured(page: &str) -> Option<&str> {
    let [begin, end] = MARKERS;
    let rest = &page[page.find(begin)? + begin.len()..];
    Some(&rest[..rest.find(end)?])
}

/// The page with this between its markers, if it has them.
pub fn with_measured(page: &str, text: &str) -> Option<String> {
    let old = measured(page)?;
    let at = old.as_ptr() as usize - page.as_ptr() as usize;
    Some(format!("{}{text}{}", &page[..at], &page[at + old.len()..]))
}

/// The whole page; what was measured is as it stands in `before`, the page so far.
pub fn page(before: &str) -> String {
    let all = whole();
    measured(before).and_then(|m| with_measured(&all, m)).unwrap_or(all)
}

fn whole() -> String {
    let mut out = String::from(INTRODUCTION);
    let [begin, end] = MARKERS;
    out.extend([MEASURED, begin, end, MEASURED_HOW]);
    let all = catalogue::all();
    let (mali, own): (Vec<_>, Vec<_>) = all.iter().partition(|c| c.id < OWN);
    let reported = mali.iter().filter(|c| c.formula.is_some()).count();
    let _ = write!(
        out,
        "\n## Counters\n\nOf the {} counters of the G720 database {reported} are reported; {} more are Tuff's own.\n\
         Counters marked \\* can change with other work of the device, either concurrent work or what earlier work left in the L2 \
         (`VK_PERFORMANCE_COUNTER_DESCRIPTION_CONCURRENTLY_IMPACTED_BIT_KHR`).\n",
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
    let _ =
        write!(out, "\n### {title}\n\n| name | id | unit | formula | description |\n|---|---|---|---|---|\n");
    for c in counters {
        let _ = writeln!(
            out,
            "| {}<br>`{}`{} | {} | {} | `{}` | {} |",
            c.human,
            c.machine,
            if c.is_shared() { " *" } else { "" },
            if c.id < OWN { c.id.to_string() } else { format!("{:#x}", c.id) },
            c.unit,
            c.formula.unwrap_or_default(),
            c.description
        );
    }
}

fn events(out: &mut String) {
    out.push_str("\n## Events\n\nThe engine counts these events while it executes.\n\n| event | description |\n|---|---|\n");
    for e in Event::ALL {
        let _ = writeln!(out, "| `{}` | {} |", e.name(), e.doc());
    }
    let phases: Vec<_> = Phase::ALL.iter().map(|p| format!("`{}`", p.name())).collect();
    let _ = write!(
        out,
        "\nThe shader cores' events are counted separately for {}; in a formula, an event without a phase means the sum of all phases.\n\n\
         | event | description |\n|---|---|\n",
        phases.join(", ")
    );
    for u in Unit::ALL {
        let _ = writeln!(out, "| `{}` | {} |", u.name(), u.doc());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_outlives_generation() {
        let first = page("");
        assert_eq!(measured(&first), Some(""));
        let filled = with_measured(&first, "| a | 1 |\n").unwrap();
        assert_eq!(measured(&filled), Some("| a | 1 |\n"));
        // Generated again it stays; the rest is as generated.
        assert_eq!(page(&filled), filled);
        assert_eq!(page(&filled.replace("# Counters", "# Numbers")), filled);
        assert_eq!(with_measured(&filled, "").as_deref(), Some(&*first));
        assert_eq!(with_measured("no markers", "x"), None);
    }
}

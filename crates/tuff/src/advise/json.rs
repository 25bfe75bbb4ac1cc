//! Advice as JSON: for scripts, and for the report's page.

use super::text::{cure, plain_text};
use super::{Advice, Item};
use serde_json::{Value, json};

fn item(i: &Item) -> Value {
    let about = i.about.iter().map(|a| {
        json!({
            "kind": a.kind, "label": a.label, "name": a.name, "of": a.of, "detail": a.detail, "workload": a.workload, "draw": a.draw,
        })
    });
    let lines = i.lines.iter().map(|l| {
        json!({ "shader": l.shader, "file": l.file, "line": l.line, "function": l.function, "share": l.share, "registers": l.registers })
    });
    json!({
        "rule": i.rule.id, "title": i.rule.title, "says": i.says, "do": cure(i), "why": plain_text(i.rule.why),
        "threshold": plain_text(i.rule.threshold), "source": i.rule.source,
        "gain": { "ns": i.gain.ns, "bytes": i.gain.bytes, "memory": i.gain.memory, "how": i.gain.how },
        "about": about.collect::<Vec<_>>(), "more": i.more, "lines": lines.collect::<Vec<_>>(),
    })
}

pub fn json(a: &Advice) -> Value {
    json!({
        "version": 1, "gpu": a.case.capture.gpu, "whole_ns": a.case.whole, "bytes": a.case.bytes, "small": a.small,
        "items": a.items.iter().map(item).collect::<Vec<_>>(),
    })
}

//! What is sent: a line of JSON each. Names and labels are the program's; JSON's escapes keep them within their line.

use crate::channel::{self, Record, WorkloadKind, text};
use counters::bound;
use counters::catalogue::{Counter, modelled};
use counters::{Counts, Phase, Storage, Value};
use machine::time::Span;
use serde_json::{Map, json};

/// The version of the protocol. Later ones add members and kinds of lines.
const VERSION: u32 = 1;

fn line(value: &serde_json::Value) -> Vec<u8> {
    let mut out = vec![];
    push(&mut out, value);
    out
}

fn push(out: &mut Vec<u8>, value: &serde_json::Value) {
    // Writing into memory fails never.
    let _ = serde_json::to_writer(&mut *out, value);
    out.push(b'\n');
}

/// The process, its GPU and the counters that it has.
pub fn info() -> Vec<u8> {
    let counters: Vec<_> = modelled()
        .iter()
        .map(|c| {
            json!({
                "id": c.id,
                "machine": c.machine,
                "name": c.human,
                "unit": c.unit,
                "block": c.block.title(),
                "float": matches!(c.storage, Storage::Float64),
            })
        })
        .collect();
    let program = std::env::args_os().next().unwrap_or_default();
    line(&json!({
        "tuff": VERSION,
        "process": std::process::id(),
        "program": program.to_string_lossy(),
        "gpu": counters::model::current().name,
        "counters": counters,
    }))
}

/// What all devices have finished so far.
pub fn totals(counters: &[&Counter]) -> Vec<u8> {
    let counts = channel::totals(None).unwrap_or_default();
    line(&json!({ "totals": values(&counts, counters) }))
}

pub fn error(why: &str) -> Vec<u8> {
    line(&json!({ "error": why }))
}

/// Records come from now on.
pub fn reading() -> Vec<u8> {
    line(&json!({ "reading": true }))
}

/// So many records were lost since then.
pub fn lost(out: &mut Vec<u8>, lost: u64) {
    push(out, &json!({ "lost": lost }));
}

/// No more will come.
pub fn ended(out: &mut Vec<u8>) {
    push(out, &json!({ "ended": true }));
}

pub fn record(out: &mut Vec<u8>, r: &Record, counters: &[&Counter]) {
    let span = |s: Span| [s.begin, s.end];
    let mut it = json!({
        "order": r.number.order,
        "queue_order": r.number.queue_order,
        "submission": r.number.submission,
        "device": r.device,
        "queue": r.queue,
        "kind": r.kind.words(),
        "views": r.views,
        "frame": r.frame,
        "span": span(r.span),
        "label": text(&r.label),
        "name": text(&r.name),
        "counters": values(&r.counts, counters),
    });
    if r.kind == WorkloadKind::RenderPass {
        it["binning"] = json!(span(r.binning));
        it["main"] = json!(span(r.main));
    }
    if r.kind != WorkloadKind::Mark {
        it["bound"] = json!(bound(r));
    }
    push(out, &it);
}

/// What took longest in the workload's longest phase, for people.
fn bound(r: &Record) -> Option<&'static str> {
    let phases = Phase::ALL.iter().zip(&r.spent);
    let (phase, _) = phases.max_by_key(|(_, spent)| spent.time)?;
    bound::bound(&bound::takes(&r.counts, *phase, counters::model::current())).map(|t| t.words())
}

fn values(counts: &Counts, counters: &[&Counter]) -> Map<String, serde_json::Value> {
    let model = counters::model::current();
    let value = |c: &Counter| match c.value(counts, model) {
        Value::Uint64(n) => json!(n),
        Value::Float64(f) => json!(f),
    };
    counters.iter().map(|c| (c.machine.to_string(), value(c))).collect()
}

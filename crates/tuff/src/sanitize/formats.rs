//! Findings for other tools.

use super::{Report, text};
use crate::junit;
use ::sanitize::{Finding, Kind, Location};
use quick_junit::TestCaseStatus;
use serde_json::{Value, json};

pub fn json(report: &Report) -> String {
    let file = json!({
        "version": ::sanitize::FILE_VERSION,
        "accesses": report.accesses,
        "suppressed": report.suppressed,
        "unfollowed": report.unfollowed,
        "findings": report.findings,
    });
    format!("{file:#}\n")
}

/// A suite with a case for each finding; one passed case if there is none, because CI systems take an empty suite for a mistake.
pub fn junit(report: &Report, program: &str) -> String {
    let case = |f: &Finding| {
        let status = junit::failed(f.kind.name(), text::line(f), text::details(f).join("\n"));
        (format!("{} {}", f.kind.name(), text::at(f)), status)
    };
    let mut cases: Vec<_> = report.findings.iter().map(case).collect();
    if cases.is_empty() {
        cases.push(("shaders".into(), TestCaseStatus::success()));
    }
    junit::xml("tuff sanitize", vec![junit::suite(program, cases)])
}

/// What a rule is about, for lists of rules.
fn rule(kind: Kind) -> Value {
    let about = match kind {
        Kind::DataRace => "Two accesses to the same byte, at least one of which writes, that nothing orders",
        Kind::OutOfBounds => "An access past the end of a buffer or of the workgroup's memory",
        Kind::NullDescriptor => "An access through a descriptor that names nothing",
        Kind::Uninitialized => "A value that nothing has written decides something",
        Kind::Divergence => "Not all invocations that have to take part are there together",
        Kind::EndlessLoop => "A loop never ends, or a shader did not end in time",
        Kind::DeadStore => "A store is replaced before anything reads it",
        Kind::UnusedBinding => "A binding of the pipeline's layout that the shader does not use",
        Kind::Arithmetic => "A result that SPIR-V leaves undefined, or that is not finite, is stored",
        Kind::Hazard => {
            "Accesses of two commands to the same bytes, at least one a write, that nothing orders"
        }
        Kind::DiscardedRead => "A read of what a render pass did not store, or a load of what nothing stored",
        Kind::FeedbackLoop => "A shader accesses an attachment of its own pass without declaring that",
        Kind::Protection => {
            "Protected memory in an unprotected submission, or a write of other memory in a protected one"
        }
        Kind::NeedlessTraffic => "Memory traffic of a render pass that nothing needs",
    };
    json!({ "id": kind.name(), "shortDescription": { "text": about } })
}

/// SARIF 2.1.0.
pub fn sarif(report: &Report) -> String {
    let place = |l: &Location| {
        if l.file.is_empty() {
            let name = format!("%{}", l.function);
            return json!({ "logicalLocations": [{ "fullyQualifiedName": name, "kind": "function" }] });
        }
        let region = json!({ "startLine": l.line });
        json!({ "physicalLocation": { "artifactLocation": { "uri": l.file }, "region": region } })
    };
    let related = |l: &Location| {
        let mut place = place(l);
        place["message"] = json!({ "text": format!("{} before it", l.what) });
        place
    };
    let places = |f: &Finding| match &f.between {
        Some(_) => vec![json!({ "logicalLocations": [{ "fullyQualifiedName": text::at(f) }] })],
        None => vec![place(&f.here)],
    };
    let result = |f: &Finding| {
        json!({
            "ruleId": f.kind.name(),
            "level": if f.kind.is_advice() { "note" } else { "error" },
            "message": { "text": text::line(f) },
            "locations": places(f),
            "relatedLocations": f.there.iter().map(related).collect::<Vec<_>>(),
            "occurrenceCount": f.count,
        })
    };
    let file = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "tuff sanitize",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": Kind::ALL.map(rule),
            } },
            "results": report.findings.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    format!("{file:#}\n")
}

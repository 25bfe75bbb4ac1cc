//! Advice as SARIF 2.1.0.

use super::rules::{self, GUIDE_URL, Rule};
use super::text::{about, cure, gain, plain_text};
use super::{About, Advice, Item};
use serde_json::{Value, json};

fn rule(r: &Rule) -> Value {
    let text = |t: &str| json!({ "text": plain_text(t) });
    json!({
        "id": r.id, "shortDescription": text(r.title), "fullDescription": text(r.why), "help": text(r.cure), "helpUri": GUIDE_URL,
        "defaultConfiguration": { "level": "note" },
    })
}

/// Draws, images and barriers have no file: a logical place.
fn place(a: &About) -> Value {
    let name = match a.label.is_empty() {
        true => a.name.clone(),
        false => format!("{}/{}", a.label, a.name),
    };
    json!({ "logicalLocations": [{ "fullyQualifiedName": name, "kind": a.kind }], "message": { "text": about(a) } })
}

fn result(a: &Advice, i: &Item) -> Value {
    let lines = i.lines.iter().filter(|l| !l.file.is_empty());
    let lines = lines.map(|l| {
        let region = json!({ "startLine": l.line.max(1) });
        json!({
            "physicalLocation": { "artifactLocation": { "uri": l.file }, "region": region }, "message": { "text": l.text() },
        })
    });
    // Viewers show the first place: a line of source, where there is one.
    let places: Vec<Value> = lines.chain(i.about.iter().map(place)).collect();
    let (first, rest) = places.split_at(places.len().min(1));
    let gains = gain(&i.gain, a.case.whole, a.case.bytes);
    json!({
        "ruleId": i.rule.id,
        "level": if i.gain.ns >= 0.05 * a.case.whole as f64 { "warning" } else { "note" },
        "message": { "text": format!("{} {} Gain: {gains}.", i.says, cure(i)) },
        "locations": first,
        "relatedLocations": rest,
        "rank": (100.0 * i.gain.ns / a.case.whole.max(1) as f64).clamp(0.0, 100.0),
        "properties": { "ns": i.gain.ns, "bytes": i.gain.bytes, "memory": i.gain.memory, "estimate": i.gain.how },
    })
}

pub fn sarif(a: &Advice) -> String {
    let file = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "tuff advise",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules::ALL.iter().map(rule).collect::<Vec<_>>(),
            } },
            "results": a.items.iter().map(|i| result(a, i)).collect::<Vec<_>>(),
        }],
    });
    format!("{file:#}\n")
}

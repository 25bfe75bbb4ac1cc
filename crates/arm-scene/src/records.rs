//! What the channel says, as JSON: every workload with its counters by machine name.

use channel::{Channel, Read, Reader, Value, WorkloadKind};
use client::{Error, Result};
use serde_json::{Map, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Records that are kept until the end: many more than there are.
pub const CAPACITY: u32 = 4096;

fn kind(kind: WorkloadKind) -> &'static str {
    match kind {
        WorkloadKind::Dispatch => "dispatch",
        WorkloadKind::TraceRays => "trace rays",
        WorkloadKind::RenderPass => "render pass",
        WorkloadKind::Transfer => "transfer",
        WorkloadKind::Mark | WorkloadKind::Other(_) => "other",
    }
}

/// The counters of so many events, by machine name.
fn counters(channel: &Channel, events: &[u64]) -> Result<Map<String, serde_json::Value>> {
    let values = channel.evaluate(events).ok_or_else(|| Error("events of the wrong number".into()))?;
    let number = |v| match v {
        Value::Uint64(u) => json!(u),
        Value::Float64(f) => json!(f),
    };
    let all = channel.counters();
    Ok(all.iter().zip(values).map(|(c, v)| (c.machine.to_string(), number(v))).collect())
}

/// Every record of a stopped reader, and the sum of each frame's.
pub fn json(channel: &Channel, reader: &mut Reader) -> Result<String> {
    let mut workloads = Vec::new();
    let mut sums: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    while let Read::Record(r) = reader.read(Some(Duration::ZERO)) {
        if let Some(frame) = r.frame {
            let sum = sums.entry(frame).or_insert_with(|| vec![0; r.events.len()]);
            sum.iter_mut().zip(r.events).for_each(|(s, e)| *s = s.wrapping_add(*e));
        }
        workloads.push(json!({
            "kind": kind(r.kind), "label": r.label, "name": r.name, "frame": r.frame,
            "counters": counters(channel, r.events)?,
        }));
    }
    let mut frames = Vec::new();
    for (frame, events) in sums {
        frames.push(json!({ "frame": frame, "counters": counters(channel, &events)? }));
    }
    match reader.lost() {
        0 => Ok(json!({ "gpu": channel.gpu(), "workloads": workloads, "frames": frames }).to_string()),
        n => Err(Error(format!("{n} records were lost"))),
    }
}

//! Findings of hazards and of tiles, in words.

use super::ranges;
use machine::hazards::Hazards;
use machine::sanitizer::FOUND;
use machine::shared::Report;
use sanitize::hazards::{Access, Conflict, Hazard, Lacks, What, access_name, stage_name};
use sanitize::{Between, Finding, Kind, Location, Memory, Side, Space};
use std::ops::Range;

/// A conflict with all its bytes.
pub struct Told {
    pub first: Range<u64>,
    pub bytes: u64,
    pub conflict: Conflict,
}

/// Joins conflicts of one access that are alike.
pub fn join(all: &mut Vec<Told>, range: Range<u64>, conflict: Conflict) {
    let bytes = range.end - range.start;
    let alike = |t: &&mut Told| {
        let (a, b) = (&t.conflict, &conflict);
        a.hazard == b.hazard
            && a.lacks == b.lacks
            && a.earlier.who.tag == b.earlier.who.tag
            && a.earlier.stage == b.earlier.stage
    };
    match all.iter_mut().find(alike) {
        Some(t) => {
            t.bytes += bytes;
            if t.first.end == range.start {
                t.first.end = range.end;
            }
        }
        None => all.push(Told { first: range, bytes, conflict }),
    }
}

fn side(a: &Access) -> Side {
    Side {
        command: a.who.place.clone(),
        part: a.who.part.clone(),
        stage: stage_name(a.stage).into(),
        access: access_name(a.access).into(),
    }
}

/// The resource that has a byte, what part of it, and its size.
pub fn resource(hazards: &Hazards, report: &dyn Report, at: u64) -> (String, u64, Option<u64>) {
    let Some(r) = hazards.resource(at) else { return ("memory".into(), at, None) };
    let (offset, size) = (at - r.bytes.start, r.bytes.end - r.bytes.start);
    let name = Some(report.called(r.handle)).filter(|n| n.starts_with('\''));
    let name = name.map_or(String::new(), |n| format!(" {n}"));
    match r.image.and_then(|i| i.upgrade()) {
        Some(image) => {
            let [w, h, d] = image.extent;
            let shape = if d > 1 { format!("{w}x{h}x{d}") } else { format!("{w}x{h}") };
            let place = ranges::place(&image, at);
            let format = image.format.format;
            (format!("image{name} ({shape}, {format:?}), {place}"), offset, Some(size))
        }
        None => (format!("{}{name}", r.kind), offset, Some(size)),
    }
}

fn missing(lacks: Lacks, earlier: &Access, later: &Access) -> String {
    let (from, to) = (stage_name(earlier.stage), stage_name(later.stage));
    match lacks {
        Lacks::Order => "nothing orders the two commands".into(),
        Lacks::Stage => format!("what comes between them does not wait in stage {to}"),
        Lacks::Available => {
            format!(
                "the barrier does not make the write available: stage {from} with {} is not in its first scope",
                access_name(earlier.access)
            )
        }
        Lacks::Visible => {
            format!(
                "the barrier does not make the write visible: stage {to} with {} is not in its second scope",
                access_name(later.access)
            )
        }
        Lacks::HostWait => "the host has not waited for the command".into(),
        Lacks::Transition if earlier.stage == sanitize::hazards::stage::TRANSITION => {
            "the barrier that changes the layout does not wait for the change before it".into()
        }
        Lacks::Transition => {
            format!(
                "the barrier that changes the layout does not wait for {} in stage {from}",
                access_name(earlier.access)
            )
        }
    }
}

fn verb(a: &Access) -> &'static str {
    match a.what {
        What::Read => "read",
        What::Write => "write",
        What::Atomic => "atomic",
    }
}

/// Tells of a conflict.
pub fn conflict(hazards: &Hazards, report: &dyn Report, later: &Access, told: &Told, feedback: bool) {
    let c = &told.conflict;
    let hazard = match c.hazard {
        Hazard::ReadAfterWrite => "read-after-write",
        Hazard::WriteAfterRead => "write-after-read",
        Hazard::WriteAfterWrite => "write-after-write",
    };
    let (resource, offset, size) = resource(hazards, report, told.first.start);
    let (kind, message) = match feedback {
        true => (
            Kind::FeedbackLoop,
            "a shader accesses an attachment of its own pass, and no feedback loop is declared".to_string(),
        ),
        false => (Kind::Hazard, format!("{hazard}: {}", missing(c.lacks, &c.earlier, later))),
    };
    let between = Between { earlier: Some(side(&c.earlier)), later: side(later), resource };
    add(kind, message, later, between, offset, told.bytes, size);
}

/// Adds a finding about memory of a resource, which the command of `later` is told of.
fn add(
    kind: Kind,
    message: String,
    later: &Access,
    between: Between,
    offset: u64,
    bytes: u64,
    size: Option<u64>,
) {
    FOUND.findings.lock().add(Finding {
        kind,
        message,
        pipeline: String::new(),
        stage: String::new(),
        command: later.who.place.clone(),
        here: Location { what: verb(later).into(), ..Location::default() },
        there: None,
        invocations: vec![],
        memory: Memory {
            space: Space::Resource,
            binding: None,
            offset,
            bytes: bytes.min(u32::MAX as u64) as u32,
            size,
            texel: None,
        },
        between: Some(between),
        count: 1,
    });
}

/// Tells of what a pass does to tiles. `cost`: bytes.
pub fn tile(
    kind: Kind,
    message: String,
    later: &Access,
    earlier: Option<&Access>,
    resource: String,
    cost: u64,
) {
    let between = Between { earlier: earlier.map(side), later: side(later), resource };
    add(kind, message, later, between, 0, cost, None);
}

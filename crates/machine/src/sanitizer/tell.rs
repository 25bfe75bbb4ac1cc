//! Findings as they are told: places, kinds and messages.

use super::{FOUND, wanted};
use crate::lost::{Blame, Place};
use sanitize::{Conflict, Finding, Kind, Location, Memory, Space, Told, What};
use shader::bytecode::Program;
use shader::ir::{ProbeOp, Site, Stage};
use wave::Fault;

pub(super) fn location(program: &Program, site: &Site) -> Location {
    let o = site.origin;
    let file = if o.line == 0 { None } else { program.files.get(o.file as usize) };
    Location {
        what: what(site.op).into(),
        file: file.cloned().unwrap_or_default(),
        line: o.line,
        function: o.function,
        block: o.label,
    }
}

pub(super) fn what(op: ProbeOp) -> &'static str {
    match op {
        ProbeOp::Read => "read",
        ProbeOp::Write => "write",
        ProbeOp::Atomic => "atomic",
        ProbeOp::Barrier => "barrier",
        ProbeOp::Fence => "fence",
        ProbeOp::Quad => "derivative",
        ProbeOp::Begin => "begin",
        ProbeOp::Fault => "result",
    }
}

fn told(what: What) -> &'static str {
    match what {
        What::Read => "read",
        What::Write => "write",
        What::Atomic => "atomic",
    }
}

pub(super) const DERIVATIVE: &str = "a derivative that some fragments of the quad do not take part in";

/// Lanes that live, but take no part in what those of `lanes` do in quads. `executing`: helpers among them.
pub(super) fn missing_of_quads(executing: u16, lanes: u16, alive: u16) -> u16 {
    let quads = (0..4).map(|q| 0xF << (4 * q)).filter(|q| lanes & q != 0).fold(0, |all, q: u16| all | q);
    alive & !executing & quads
}

/// The memory of a finding that is about none.
pub(super) fn nothing() -> Memory {
    Memory { space: Space::Value, binding: None, offset: 0, bytes: 0, size: None, texel: None }
}

/// A shader lost the device. `now`: the command under way.
pub fn stopped(blame: &Blame, now: &Place) {
    let Some((shader, place)) = blame.stopped().filter(|_| wanted()) else { return };
    let (kind, message) = match shader.fault {
        Fault::Watchdog => (Kind::EndlessLoop, "a shader did not end in time; the device is lost"),
        Fault::Address(_) => {
            (Kind::OutOfBounds, "an access by an address that is not device memory; the device is lost")
        }
        _ => return,
    };
    let o = shader.origin;
    FOUND.findings.lock().add(Finding {
        kind,
        message: message.into(),
        pipeline: shader.pipeline.clone(),
        stage: shader.stage.name().into(),
        command: place.unwrap_or(now).steady(),
        here: Location {
            what: "stop".into(),
            file: if o.line == 0 { String::new() } else { shader.file.clone() },
            line: o.line,
            function: o.function,
            block: o.label,
        },
        there: None,
        invocations: vec![],
        memory: nothing(),
        between: None,
        count: 1,
    });
}

/// A compute pipeline of this program has bindings that it does not use.
pub fn unused(program: &Program, entry: &str, bindings: &[(u32, u32)]) {
    let Some(&first) = bindings.first() else { return };
    let list: Vec<String> = bindings.iter().map(|(set, binding)| format!("{set}.{binding}")).collect();
    FOUND.findings.lock().add(Finding {
        kind: Kind::UnusedBinding,
        message: format!(
            "these bindings of the pipeline's layout (set.binding) are not used: {}",
            list.join(", ")
        ),
        pipeline: entry.into(),
        stage: program.stage.name().into(),
        command: "vkCreateComputePipelines".into(),
        here: Location { what: "layout".into(), ..Location::default() },
        there: None,
        invocations: vec![],
        memory: Memory { binding: Some(first), ..nothing() },
        between: None,
        count: 1,
    });
}

/// What is told of an access.
pub(super) fn told_as(told: Told, race: impl FnOnce() -> String) -> (Kind, String) {
    match told {
        Told::Race => (Kind::DataRace, race()),
        Told::Dead => (
            Kind::DeadStore,
            "a store replaces what nothing has read since the same invocation wrote it".into(),
        ),
    }
}

/// What a data race is.
pub(super) fn race(program: &Program, conflict: &Conflict, what: What, group: u32) -> String {
    let of = match conflict.by.group == group {
        _ if program.stage == Stage::Fragment => "of two fragments of a draw",
        true => "of one workgroup",
        false => "of different workgroups",
    };
    format!("{} and {} {of} are not ordered", told(conflict.what), told(what))
}

//! Findings for a terminal, and the sentences that all forms share.

use super::Report;
use ::sanitize::{Finding, Location, Side, Space};
use std::fmt::Write;

/// A place in a shader, as compilers write it if the module has lines.
pub fn place(l: &Location) -> String {
    match l.file.is_empty() {
        true if l.function == 0 => "the pipeline's layout".into(),
        true => format!("block %{} of function %{}", l.block, l.function),
        false => format!("{}:{}", l.file, l.line),
    }
}

/// Where a finding is: in a shader, or at a command.
pub fn at(f: &Finding) -> String {
    match &f.between {
        Some(b) => command(&b.later),
        None => place(&f.here),
    }
}

fn command(s: &Side) -> String {
    match s.part.is_empty() {
        true => s.command.clone(),
        false => format!("{}, {}", s.command, s.part),
    }
}

/// What a command does.
pub fn side(s: &Side) -> String {
    // A layout transition has no access of its own.
    match s.stage == s.access {
        true => format!("{}: {}", s.stage, command(s)),
        false => format!("{} in {}: {}", s.access, s.stage, command(s)),
    }
}

/// The lines below a finding's: where it was seen first, and how often.
pub fn details(f: &Finding) -> Vec<String> {
    let mut lines = vec![];
    if let Some(b) = &f.between {
        lines.push(format!("later: {}", side(&b.later)));
        lines.extend(b.earlier.iter().map(|e| format!("earlier: {}", side(e))));
    } else {
        if let Some(there) = &f.there {
            lines.push(format!("{} here: {}", f.here.what, place(&f.here)));
            lines.push(format!("{}: {}", origin(f, there), place(there)));
        }
        let by = invocations(f);
        let by = if by.is_empty() { by } else { format!(", {by}") };
        lines.push(format!("first seen in {}{by}", f.command));
    }
    lines.push(times(f.count));
    lines
}

/// What the other place is.
pub fn origin(f: &Finding, there: &Location) -> String {
    match f.memory.space {
        Space::Value => "the value comes from".into(),
        _ => format!("{} before it", there.what),
    }
}

/// The memory of the first occurrence.
pub fn memory(f: &Finding) -> String {
    let m = &f.memory;
    let of = |size: Option<u64>| size.map_or(String::new(), |s| format!(" of {s}"));
    match (m.space, m.binding) {
        (Space::Buffer, Some((set, binding))) => {
            format!(
                "bytes {} to {}{} of the buffer at set {set}, binding {binding}",
                m.offset,
                last(f),
                of(m.size)
            )
        }
        (Space::Buffer, None) => format!("bytes {} to {}{} of a buffer", m.offset, last(f), of(m.size)),
        (Space::Address, _) => format!("device address {:#x}, {} bytes", m.offset, m.bytes),
        (Space::Shared, _) => {
            format!("bytes {} to {}{} of the workgroup's memory", m.offset, last(f), of(m.size))
        }
        (Space::Texel, _) => {
            let list = |of: Vec<String>| of.join(", ");
            let texel = m.texel.as_ref().map_or("texels".into(), |t| {
                let at = list(t.at.iter().map(i64::to_string).collect());
                let of: Vec<String> = t.of.iter().map(u32::to_string).collect();
                format!("texel ({at}) of {}", of.join(" × "))
            });
            let image = match m.binding {
                Some((set, binding)) => format!(" of the image at set {set}, binding {binding}"),
                None => " of an image".into(),
            };
            texel + &image
        }
        // A cost is told by the message.
        (Space::Resource, _) if m.size.is_none() => resource(f),
        (Space::Resource, _) => {
            format!("{} bytes from byte {}{} of {}", m.bytes, m.offset, of(m.size), resource(f))
        }
        (Space::Value, _) => String::new(),
    }
}

fn resource(f: &Finding) -> String {
    f.between.as_ref().map_or(String::new(), |b| b.resource.clone())
}

fn last(f: &Finding) -> u64 {
    f.memory.offset + (f.memory.bytes as u64).saturating_sub(1)
}

/// The invocations of the first occurrence.
pub fn invocations(f: &Finding) -> String {
    let one = |[group, local]: [u32; 2]| format!("workgroup {group}, invocation {local}");
    match f.invocations[..] {
        [here, there] => format!("{} and {}", one(here), one(there)),
        [here, ..] => one(here),
        [] => String::new(),
    }
}

/// The line that says what it is and where: what suppressions are compared with.
pub fn line(f: &Finding) -> String {
    let mut line = format!("{}: {}: {}", at(f), f.kind.name(), f.message);
    if f.memory.space != Space::Value {
        let _ = write!(line, ": {}", memory(f));
    }
    if f.between.is_some() {
        return line;
    }
    let _ = write!(line, " [pipeline {}, {} shader]", f.pipeline, f.stage);
    line
}

pub fn told(report: &Report) -> String {
    let mut out = String::new();
    for f in &report.findings {
        let _ = writeln!(out, "{}", line(f));
        details(f).iter().for_each(|line| _ = writeln!(out, "  {line}"));
    }
    let n = report.findings.len();
    let _ = write!(out, "tuff: {} in {} accesses of shaders", many(n as u64, "finding"), report.accesses);
    if report.suppressed != 0 {
        let _ = write!(out, "; {} suppressed", report.suppressed);
    }
    let _ = writeln!(out);
    if report.unfollowed != 0 {
        let what = many(report.unfollowed, "dispatch");
        let _ =
            writeln!(out, "tuff: {what} accessed too much memory to be checked for data races to the end");
    }
    out
}

fn times(n: u64) -> String {
    if n == 1 { "once".into() } else { format!("{n} times") }
}

fn many(n: u64, what: &str) -> String {
    match (n, what) {
        (1, _) => format!("1 {what}"),
        (_, "dispatch") => format!("{n} dispatches"),
        _ => format!("{n} {what}s"),
    }
}

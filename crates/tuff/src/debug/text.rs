//! Text of a debugged invocation: all of its steps, and a few commands to move by.

use super::session::{Pace, Session, View};
use super::state::Moment;
use super::trace::LANES;
use super::types::Value;
use shader::notes::What;
use std::io::{BufRead, Result, Write};

/// `sum.comp:7`, or that of the SPIR-V.
fn place(s: &Session, step: usize) -> String {
    let at = s.state.trace.note(step).at;
    let line = s.state.trace.module.places.get(&at).and_then(|p| p.line);
    s.show(line)
}

/// The values of a step's result: that of the lane, or of all lanes where they are asked for.
fn values(s: &Session, step: usize, all: bool) -> String {
    if !all {
        let value = s.state.result_of(step, s.lane);
        return value.map_or(String::new(), |v| format!(" = {v}"));
    }
    let lanes: Vec<(usize, Value)> =
        (0..LANES).filter_map(|l| Some((l, s.state.result_of(step, l)?))).collect();
    match lanes.first() {
        None => String::new(),
        Some((_, first)) if lanes.iter().all(|l| l.1 == *first) => format!(" = {first}"),
        _ => {
            let each: Vec<String> = lanes.iter().map(|(l, v)| format!("{l}: {v}")).collect();
            format!(" = {{{}}}", each.join(", "))
        }
    }
}

/// An instruction with its names.
fn instruction(s: &Session, step: usize) -> String {
    let note = s.state.trace.note(step);
    let text = &s.disassembly.lines[s.disassembly.line(note.at).max(1) as usize - 1];
    let text = &named(s, text);
    match note.what {
        What::Enter => format!("call of {text}"),
        What::Leave => format!("return to {text}"),
        _ => text.clone(),
    }
}

/// Ids with the names that they have: `%23:light`.
fn named(s: &Session, text: &str) -> String {
    let word = |w: &str| {
        let name =
            w.strip_prefix('%').and_then(|n| n.parse().ok()).and_then(|id| s.state.trace.module.name(id));
        name.map_or_else(|| w.to_string(), |n| format!("{w}:{n}"))
    };
    let words: Vec<String> = text.split(' ').filter(|w| !w.is_empty()).map(word).collect();
    words.join(" ")
}

/// All steps of the lane, or of the warp.
pub fn print(s: &Session, all: bool, out: &mut impl Write) -> Result<()> {
    let mut depth = 0;
    let mut last = String::new();
    for step in 0..s.end() {
        let at = s.state.trace.steps[step];
        if !all && !at.has(s.lane) {
            continue;
        }
        let note = s.state.trace.note(step);
        let here = place(s, step);
        if here != last && here != "-" {
            let line = s.state.trace.module.places.get(&note.at).and_then(|p| p.line);
            let text = line.map(|l| s.text(l)).unwrap_or_default();
            writeln!(out, "{here}: {}", text.trim())?;
            last = here;
        }
        if note.frame != depth {
            depth = note.frame;
        }
        let indent = "  ".repeat(s.state.trace.depth(depth));
        let lanes = if all { format!("{:04x} ", at.lanes) } else { String::new() };
        let helper = if at.helpers >> s.lane & 1 == 1 && !all { " (helper)" } else { "" };
        let stored = stored(s, step);
        writeln!(
            out,
            "{step:6} {lanes}{indent}{}{}{stored}{helper}",
            instruction(s, step),
            values(s, step, all)
        )?;
    }
    if s.state.trace.lost > 0 {
        writeln!(out, "{} more steps were not recorded (--limit)", s.state.trace.lost)?;
    }
    Ok(())
}

/// What a store has stored, and where.
fn stored(s: &Session, step: usize) -> String {
    if s.state.inst(step).class.opcode != rspirv::spirv::Op::Store || !s.state.trace.steps[step].has(s.lane) {
        return String::new();
    }
    match s.state.access(step, s.lane) {
        Some((_, pointer, value, _)) => format!("  {} = {value}", s.state.path(&pointer)),
        None => String::new(),
    }
}

/// Where the lane is now: the line that comes next.
pub fn here(s: &Session, out: &mut impl Write) -> Result<()> {
    let Some(spot) = s.spot(s.lane) else { return writeln!(out, "lane {} does nothing", s.lane) };
    if spot.ended {
        return writeln!(out, "lane {} has ended", s.lane);
    }
    let line = s.line_of(spot.at);
    let text = line.map(|l| s.text(l)).unwrap_or_default();
    writeln!(out, "step {} {}: {}", spot.step, s.show(line), text.trim())
}

const HELP: &str = "\
n, s, o       to the next line; into calls; out of the function (with a number: so often)
rn, rs, ro    the same backwards
i, ri         to the next instruction, or back by one
c, rc         to the next breakpoint; back to the one before
b [FILE:]LINE a breakpoint; b alone lists them; d [FILE:]LINE deletes one
p NAME        a variable or id with its parts: p light.color, p v[2].x, p %23; p alone: all variables
pl NAME       the same in all lanes
bt            the calls that lead here
l             source around the line
lanes, lane N all lanes; another lane
v source|spirv  what is stepped through
start, end    the beginning, the end
q             ends";

/// Answers commands, a line each, until there are no more.
pub fn interactive(
    s: &mut Session,
    input: &mut impl BufRead,
    out: &mut impl Write,
    prompt: bool,
) -> Result<()> {
    here(s, out)?;
    let mut line = String::new();
    let mut last = String::new();
    loop {
        if prompt {
            write!(out, "(tuff) ")?;
        }
        out.flush()?;
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let words = line.trim().to_string();
        // As debuggers do: an empty line is the last one again.
        let words = if words.is_empty() { last.clone() } else { words };
        last = words.clone();
        if matches!(words.as_str(), "q" | "quit") {
            return Ok(());
        }
        command(s, &words, out)?;
    }
}

fn command(s: &mut Session, words: &str, out: &mut impl Write) -> Result<()> {
    let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
    let rest = rest.trim();
    let (back, pace) = match word {
        "" | "#" => return Ok(()),
        "n" | "next" => (false, Pace::Over),
        "s" | "step" => (false, Pace::Into),
        "o" | "out" | "finish" => (false, Pace::Out),
        "i" | "si" | "stepi" => (false, Pace::Instruction),
        "c" | "continue" => (false, Pace::Run),
        "rn" => (true, Pace::Over),
        "rs" => (true, Pace::Into),
        "ro" => (true, Pace::Out),
        "ri" => (true, Pace::Instruction),
        "rc" => (true, Pace::Run),
        _ => return other(s, word, rest, out),
    };
    let times = if rest.is_empty() { 1 } else { rest.parse().unwrap_or(1) };
    for _ in 0..times {
        if if back { s.backwards(pace) } else { s.forwards(pace) } && times > 1 {
            break;
        }
    }
    here(s, out)
}

fn other(s: &mut Session, word: &str, rest: &str, out: &mut impl Write) -> Result<()> {
    match word {
        "b" | "break" if rest.is_empty() => {
            for b in s.breakpoints.clone() {
                writeln!(out, "{}: {}", s.show(Some(b)), s.text(b).trim())?;
            }
            Ok(())
        }
        "b" | "break" | "d" | "delete" => breakpoint(s, rest, word.starts_with('b'), out),
        "p" | "print" | "pl" if !rest.is_empty() => printed(s, rest, word == "pl", out),
        "p" | "print" => variables(s, out),
        "bt" => calls(s, out),
        "l" | "list" => list(s, out),
        "lanes" => lanes(s, out),
        "lane" => match rest.parse::<usize>() {
            Ok(lane) if lane < LANES && s.state.trace.lanes[lane].is_some() => {
                s.select(lane);
                here(s, out)
            }
            _ => writeln!(out, "there is no lane {rest}"),
        },
        "v" | "view" => {
            match rest {
                "source" if s.state.trace.module.has_lines() => s.view = View::Source,
                "source" => return writeln!(out, "the shader has no line information"),
                "spirv" => s.view = View::Spirv,
                _ => return writeln!(out, "source or spirv"),
            }
            here(s, out)
        }
        "start" => {
            s.rewind();
            here(s, out)
        }
        "end" => {
            s.now = s.end();
            here(s, out)
        }
        "h" | "help" => writeln!(out, "{HELP}"),
        _ => writeln!(out, "what is {word}? (h: help)"),
    }
}

/// The file and the line that are meant.
fn meant(s: &Session, text: &str) -> Option<(u32, u32)> {
    let (file, line) = match text.rsplit_once(':') {
        Some((file, line)) => (Some(file), line),
        None => (None, text),
    };
    let line = line.parse().ok()?;
    let here = s.spot(s.lane).and_then(|spot| s.line_of(spot.at)).map(|l| l.file);
    let all = &s.state.trace.module.files;
    let file = match file {
        None => here.unwrap_or(if s.view == View::Spirv { super::session::DISASSEMBLY } else { 0 }),
        Some("SPIR-V") => super::session::DISASSEMBLY,
        Some(name) => all.iter().position(|f| f == name || f.rsplit('/').next() == Some(name))? as u32,
    };
    Some((file, line))
}

fn breakpoint(s: &mut Session, rest: &str, add: bool, out: &mut impl Write) -> Result<()> {
    let Some((file, line)) = meant(s, rest) else { return writeln!(out, "there is no {rest}") };
    let mut lines: Vec<u32> = s.breakpoints.iter().filter(|b| b.file == file).map(|b| b.line).collect();
    if !add {
        lines.retain(|l| *l != line);
        s.set_breakpoints(file, &lines);
        return Ok(());
    }
    lines.push(line);
    match s.set_breakpoints(file, &lines).last().copied().flatten() {
        Some(line) => {
            let at = super::module::Line { file, line };
            writeln!(out, "breakpoint at {}: {}", s.show(Some(at)), s.text(at).trim())
        }
        None => writeln!(out, "no code follows line {line}"),
    }
}

fn printed(s: &Session, name: &str, all: bool, out: &mut impl Write) -> Result<()> {
    if !all {
        return match s.evaluate(name, s.moment()) {
            Ok((value, ty)) => writeln!(out, "{name} = {value} ({ty})"),
            Err(why) => writeln!(out, "{why}"),
        };
    }
    for lane in (0..LANES).filter(|l| s.state.trace.lanes[*l].is_some()) {
        match s.evaluate(name, Moment { lane, ..s.moment() }) {
            Ok((value, _)) => writeln!(out, "lane {lane}: {name} = {value}")?,
            Err(why) => writeln!(out, "lane {lane}: {why}")?,
        }
    }
    Ok(())
}

fn variables(s: &Session, out: &mut impl Write) -> Result<()> {
    for (scope, all) in s.scopes(s.moment(), 0) {
        if scope == super::variables::IDS {
            continue;
        }
        for v in all {
            writeln!(out, "{scope}: {} = {}", v.0, v.1)?;
        }
    }
    Ok(())
}

fn calls(s: &Session, out: &mut impl Write) -> Result<()> {
    let Some(spot) = s.spot(s.lane) else { return Ok(()) };
    for (k, level) in s.levels(spot.frame, spot.at).iter().enumerate() {
        writeln!(out, "#{k} {} at {}", level.name, s.show(level.line))?;
    }
    Ok(())
}

fn list(s: &Session, out: &mut impl Write) -> Result<()> {
    let Some(here) = s.spot(s.lane).and_then(|spot| s.line_of(spot.at)) else { return Ok(()) };
    for line in here.line.saturating_sub(5).max(1)..=here.line + 5 {
        let at = super::module::Line { line, ..here };
        let text = s.text(at);
        let mark = if line == here.line { ">" } else { " " };
        let stop = if s.breakpoints.contains(&at) { "*" } else { " " };
        writeln!(out, "{mark}{stop}{line:5} {text}")?;
    }
    Ok(())
}

fn lanes(s: &Session, out: &mut impl Write) -> Result<()> {
    for lane in 0..LANES {
        let Some(which) = s.state.trace.lanes[lane] else { continue };
        let mark = if lane == s.lane { ">" } else { " " };
        let state = match s.spot(lane) {
            None => "does nothing".to_string(),
            Some(spot) if spot.ended => "has ended".into(),
            Some(spot) if spot.active => format!("at {}", s.show(s.line_of(spot.at))),
            Some(spot) => format!("waits for {}", s.show(s.line_of(spot.at))),
        };
        writeln!(out, "{mark}lane {lane:2}: {which}: {state}")?;
    }
    Ok(())
}

/// All steps, as JSON: an object a line.
pub fn json(s: &Session, out: &mut impl Write) -> Result<()> {
    let trace = &s.state.trace;
    let lanes: Vec<Option<String>> = trace.lanes.iter().map(|l| l.map(|l| l.to_string())).collect();
    let head = serde_json::json!({
        "stage": trace.stage.name(), "entry": trace.entry, "lane": trace.lane, "lanes": lanes, "steps": trace.steps.len(), "lost": trace.lost,
    });
    writeln!(out, "{head}")?;
    for step in 0..s.end() {
        let at = trace.steps[step];
        let note = trace.note(step);
        let line = trace.module.places.get(&note.at).and_then(|p| p.line);
        let values: Vec<serde_json::Value> = (0..LANES)
            .map(|l| s.state.result_of(step, l).map_or(serde_json::Value::Null, |v| of_value(&v)))
            .collect();
        let what = match note.what {
            What::Enter => "call",
            What::Leave => "return",
            _ => "step",
        };
        let i = s.state.inst(step);
        let mut row = serde_json::json!({
            "step": step, "what": what, "word": note.at, "op": format!("Op{:?}", i.class.opcode), "id": i.result_id,
            "depth": trace.depth(note.frame) - 1, "lanes": at.lanes, "helpers": at.helpers,
        });
        if let Some(l) = line {
            row["file"] = s.file(l.file).into();
            row["line"] = l.line.into();
        }
        if values.iter().any(|v| !v.is_null()) {
            row["values"] = values.into();
        }
        if i.class.opcode == rspirv::spirv::Op::Store {
            let stored = |l: usize| {
                let (_, pointer, value, _) = s.state.access(step, l).filter(|_| at.has(l))?;
                Some(serde_json::json!({ "to": s.state.path(&pointer), "value": of_value(&value) }))
            };
            row["stored"] = (0..LANES).map(|l| stored(l).unwrap_or_default()).collect();
        }
        writeln!(out, "{row}")?;
    }
    Ok(())
}

/// Numbers that JSON has no word for are texts.
fn of_value(v: &Value) -> serde_json::Value {
    match v {
        Value::Composite(parts) => parts.iter().map(of_value).collect(),
        Value::Bool(b) => (*b).into(),
        Value::Int { of, signed: false, .. } => (*of).into(),
        Value::Int { .. } => v.int().into(),
        Value::Float { .. } => match v.float().filter(|f| f.is_finite()) {
            Some(f) => f.into(),
            None => v.to_string().into(),
        },
        Value::Unknown => serde_json::Value::Null,
        _ => v.to_string().into(),
    }
}

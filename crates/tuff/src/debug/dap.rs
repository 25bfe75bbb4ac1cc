//! A server of the Debug Adapter Protocol (microsoft.github.io/debug-adapter-protocol, 1.66): lanes are threads.

use super::Request;
use super::module::Line;
use super::session::{DISASSEMBLY, Pace, Session, View};
use super::state::Moment;
use super::trace::LANES;
use super::types::{Type, Value};
use super::variables::{IDS, LOCALS, MEMORY, Variable};
use client::{Error, Result};
use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::ExitCode;

/// Bytes of a message that is read.
const MAX_MESSAGE: usize = 16 << 20;
/// Bytes of a message's header.
const MAX_HEADER: u64 = 4096;
/// The source reference of the disassembly; those of files follow.
const REFERENCE: u64 = 1;
/// Parts of a variable that are shown at once.
const MAX_CHILDREN: usize = 4096;

/// Serves one client on stdin and stdout, or one after the other on a port.
pub fn serve(port: Option<u16>) -> Result<ExitCode> {
    let failed = |e: std::io::Error| Error(e.to_string());
    let Some(port) = port else {
        Server::new(std::io::stdout().lock()).serve(&mut std::io::stdin().lock()).map_err(failed)?;
        return Ok(ExitCode::SUCCESS);
    };
    let listener = TcpListener::bind(("127.0.0.1", port)).map_err(|e| Error(format!("port {port}: {e}")))?;
    let port = listener.local_addr().map_err(failed)?.port();
    eprintln!("tuff: listening on 127.0.0.1:{port}");
    loop {
        let (stream, _) = listener.accept().map_err(failed)?;
        let mut input = BufReader::new(stream.try_clone().map_err(failed)?);
        // A client that goes away is no failure of the server's.
        if let Err(e) = Server::new(stream).serve(&mut input) {
            eprintln!("tuff: {e}");
        }
    }
}

/// The body of the next message; `None` at the end.
fn message(input: &mut impl BufRead) -> std::io::Result<Option<Json>> {
    let bad = |what: &str| std::io::Error::new(std::io::ErrorKind::InvalidData, what.to_string());
    let mut length = None;
    loop {
        let mut line = vec![];
        if input.by_ref().take(MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let length = length.filter(|n| *n <= MAX_MESSAGE).ok_or_else(|| bad("a message without a length"))?;
    let mut body = vec![0; length];
    input.read_exact(&mut body)?;
    serde_json::from_slice(&body).map(Some).map_err(|e| bad(&e.to_string()))
}

/// What a variables reference names, as long as the session stands still.
enum Shown {
    Scope(Vec<Variable>),
    Value(Value, Option<u32>),
}

struct Server<W> {
    out: W,
    seq: u64,
    session: Option<Session>,
    request: Option<Request>,
    configured: bool,
    started: bool,
    /// Breakpoints of sources that were told before the session began.
    early: Vec<(Json, Vec<u32>)>,
    shown: Vec<Shown>,
    /// Why the session stands where it does.
    reason: &'static str,
    over: bool,
}

type Answer = std::result::Result<Json, String>;

impl<W: Write> Server<W> {
    fn new(out: W) -> Server<W> {
        Server {
            out,
            seq: 0,
            session: None,
            request: None,
            configured: false,
            started: false,
            early: vec![],
            shown: vec![],
            reason: "entry",
            over: false,
        }
    }

    fn serve(&mut self, input: &mut impl BufRead) -> std::io::Result<()> {
        while let Some(message) = message(input)? {
            if message["type"] != "request" {
                continue;
            }
            let command = message["command"].as_str().unwrap_or_default().to_string();
            let answer = self.answer(&command, &message["arguments"]);
            let mut reply = json!({
                "type": "response", "request_seq": message["seq"], "command": command, "success": answer.is_ok(),
            });
            match answer {
                Ok(Json::Null) => {}
                Ok(body) => reply["body"] = body,
                Err(why) => {
                    reply["message"] = plain::line(&why).into();
                    reply["body"] =
                        json!({ "error": { "id": 1, "format": plain::line(&why), "showUser": true } });
                }
            }
            let failed = reply["success"] == false;
            self.send(reply)?;
            self.follow(&command, failed)?;
            if self.over {
                return Ok(());
            }
        }
        Ok(())
    }

    fn send(&mut self, mut message: Json) -> std::io::Result<()> {
        self.seq += 1;
        message["seq"] = self.seq.into();
        let body = message.to_string();
        write!(self.out, "Content-Length: {}\r\n\r\n{body}", body.len())?;
        self.out.flush()
    }

    fn event(&mut self, event: &str, body: Json) -> std::io::Result<()> {
        self.send(json!({ "type": "event", "event": event, "body": body }))
    }

    /// What comes after a response.
    fn follow(&mut self, command: &str, failed: bool) -> std::io::Result<()> {
        match command {
            "initialize" => self.event("initialized", json!({})),
            "launch" | "attach" if failed => {
                self.over = true;
                self.event("terminated", json!({}))
            }
            _ if self.session.is_some() && self.configured && !self.started => {
                self.started = true;
                let stops = self.request.as_ref().is_none_or(|r| r.stop_on_entry.unwrap_or(true));
                let reason = if stops { "entry" } else { self.run(Pace::Run, true) };
                self.stopped(reason)
            }
            "next" | "stepIn" | "stepOut" | "continue" | "stepBack" | "reverseContinue" | "goto"
                if !failed =>
            {
                let reason = self.reason;
                self.stopped(reason)
            }
            _ => Ok(()),
        }
    }

    fn stopped(&mut self, reason: &str) -> std::io::Result<()> {
        self.shown.clear();
        let Some(session) = &self.session else { return Ok(()) };
        let lane = session.lane;
        let reason = if session.ended() { "end" } else { reason };
        // Clients know these reasons; the description says the rest.
        let (reason, description) = match reason {
            "end" => ("step", "The invocation has ended; step back, or continue to end the session"),
            "breakpoint" => ("breakpoint", "At a breakpoint"),
            "entry" => ("entry", "Where the invocation begins"),
            _ => ("step", "After a step"),
        };
        self.event(
            "stopped",
            json!({ "reason": reason, "description": description, "threadId": lane + 1, "allThreadsStopped": true }),
        )
    }

    fn run(&mut self, pace: Pace, forwards: bool) -> &'static str {
        let Some(session) = &mut self.session else { return "step" };
        let hit = if forwards { session.forwards(pace) } else { session.backwards(pace) };
        if hit { "breakpoint" } else { "step" }
    }

    fn answer(&mut self, command: &str, arguments: &Json) -> Answer {
        match command {
            "initialize" => Ok(capabilities()),
            "launch" | "attach" => self.launch(arguments),
            "configurationDone" => {
                self.configured = true;
                Ok(Json::Null)
            }
            "disconnect" | "terminate" => {
                self.over = true;
                Ok(Json::Null)
            }
            "setBreakpoints" => self.breakpoints(arguments),
            "setInstructionBreakpoints" | "setExceptionBreakpoints" | "setFunctionBreakpoints" => {
                Ok(json!({ "breakpoints": [] }))
            }
            "threads" => Ok(self.threads()),
            _ => self.of_session(command, arguments),
        }
    }

    fn launch(&mut self, arguments: &Json) -> Answer {
        let request: Request = serde_json::from_value(arguments.clone()).map_err(|e| e.to_string())?;
        let files = request.files().map_err(|e| e.to_string())?;
        let problems: Vec<String> = files.iter().flat_map(|f| f.made.problems.clone()).collect();
        let session = request.session(&files).map_err(|e| e.to_string())?;
        self.session = Some(session);
        self.request = Some(request);
        for (source, lines) in std::mem::take(&mut self.early) {
            self.place(&source, &lines);
        }
        for problem in problems {
            let line = plain::line(&problem).to_string() + "\n";
            self.event("output", json!({ "category": "console", "output": line }))
                .map_err(|e| e.to_string())?;
        }
        Ok(Json::Null)
    }

    fn threads(&self) -> Json {
        let lanes = self.session.as_ref().map(|s| s.state.trace.lanes);
        let mut all = vec![];
        for (lane, which) in lanes.into_iter().flatten().enumerate() {
            if let Some(which) = which {
                let of = self.session.as_ref();
                let off = match of.and_then(|s| s.spot(lane)) {
                    Some(spot) if spot.active => "",
                    Some(spot) if spot.ended => " (ended)",
                    Some(_) => " (inactive)",
                    None => " (does nothing)",
                };
                all.push(json!({ "id": lane + 1, "name": format!("lane {lane}: {which}{off}") }));
            }
        }
        json!({ "threads": all })
    }

    fn breakpoints(&mut self, arguments: &Json) -> Answer {
        let lines = arguments["breakpoints"].as_array().map(|all| all.iter().map(|b| &b["line"]).collect());
        let lines: Vec<&Json> =
            lines.unwrap_or_else(|| arguments["lines"].as_array().into_iter().flatten().collect());
        let lines: Vec<u32> = lines.iter().map(|l| l.as_u64().unwrap_or(0) as u32).collect();
        let source = &arguments["source"];
        if self.session.is_none() {
            self.early.push((source.clone(), lines.clone()));
            let all: Vec<Json> = lines.iter().map(|l| json!({ "verified": true, "line": l })).collect();
            return Ok(json!({ "breakpoints": all }));
        }
        let placed = self.place(source, &lines);
        let one = |p: &Option<u32>| match p {
            Some(line) => json!({ "verified": true, "line": line }),
            None => json!({ "verified": false, "message": "no code of the shader follows this line" }),
        };
        Ok(json!({ "breakpoints": placed.iter().map(one).collect::<Vec<_>>() }))
    }

    /// Sets breakpoints by the rows of a client's source; the rows that they come to lie on.
    fn place(&mut self, source: &Json, rows: &[u32]) -> Vec<Option<u32>> {
        let Some(session) = &mut self.session else { return vec![None; rows.len()] };
        let Some(file) = file_of(session, source) else { return vec![None; rows.len()] };
        if file == DISASSEMBLY {
            return session.set_breakpoints(file, rows);
        }
        // Rows of the text are lines of a `#line` of theirs.
        let module = &session.state.trace.module;
        let name = session.file(file).to_string();
        let own = module.sources.iter().find(|s| s.file == name).map(|s| s.rows());
        let line = |row: u32| match &own {
            Some(rows) => rows.get((row as usize).wrapping_sub(1)).map_or(row, |r| r.1),
            None => row,
        };
        let lines: Vec<u32> = rows.iter().map(|r| line(*r)).collect();
        let placed = session.set_breakpoints(file, &lines);
        let module = &session.state.trace.module;
        placed.iter().map(|p| p.map(|line| super::source::row(module, Line { file, line }))).collect()
    }

    fn of_session(&mut self, command: &str, arguments: &Json) -> Answer {
        if self.session.is_none() {
            return Err(format!("nothing is debugged yet: '{command}' comes too early"));
        }
        match command {
            "stackTrace" => self.stack(arguments),
            "scopes" => self.scopes(arguments),
            "variables" => self.variables(arguments),
            "evaluate" => self.evaluate(arguments),
            "source" => self.source(arguments),
            "loadedSources" => Ok(json!({ "sources": self.sources() })),
            "next" | "stepIn" | "stepOut" | "stepBack" | "continue" | "reverseContinue" => {
                self.step(command, arguments)
            }
            "pause" => Ok(Json::Null),
            _ => Err(format!("'{command}' is not known here")),
        }
    }

    fn step(&mut self, command: &str, arguments: &Json) -> Answer {
        if let Some(session) = &mut self.session {
            if let Some(lane) =
                lane(&arguments["threadId"]).filter(|l| session.state.trace.lanes[*l].is_some())
            {
                session.select(lane);
            }
            if command == "continue" && session.ended() {
                self.over = true;
                let body = json!({ "type": "event", "event": "terminated" });
                self.send(body).map_err(|e| e.to_string())?;
                return Ok(json!({ "allThreadsContinued": true }));
            }
        }
        let fine = arguments["granularity"] == "instruction";
        let (pace, forwards) = match command {
            "next" | "stepIn" if fine => (Pace::Instruction, true),
            "stepBack" if fine => (Pace::Instruction, false),
            "next" => (Pace::Over, true),
            "stepIn" => (Pace::Into, true),
            "stepOut" => (Pace::Out, true),
            "stepBack" => (Pace::Over, false),
            "continue" => (Pace::Run, true),
            _ => (Pace::Run, false),
        };
        self.reason = self.run(pace, forwards);
        Ok(if command == "continue" { json!({ "allThreadsContinued": true }) } else { Json::Null })
    }

    fn stack(&self, arguments: &Json) -> Answer {
        let session = self.session.as_ref().ok_or("nothing is debugged")?;
        let lane = lane(&arguments["threadId"]).ok_or("there is no such lane")?;
        let Some(spot) = session.spot(lane) else {
            return Ok(json!({ "stackFrames": [], "totalFrames": 0 }));
        };
        let mut frames = vec![];
        for (k, level) in session.levels(spot.frame, spot.at).iter().enumerate() {
            let mut frame = json!({
                "id": frame_id(lane, k), "name": level.name, "line": 0, "column": 0,
                "instructionPointerReference": level.at.to_string(),
            });
            if let Some(line) = level.line {
                frame["source"] = source(session, line.file);
                frame["line"] = match line.file {
                    DISASSEMBLY => line.line,
                    _ => super::source::row(&session.state.trace.module, line),
                }
                .into();
                frame["column"] = 1.into();
            }
            if k == 0 && !spot.active {
                let why = if spot.ended { "ended" } else { "inactive" };
                frame["name"] = format!("{} ({why})", level.name).into();
                frame["presentationHint"] = "subtle".into();
            }
            frames.push(frame);
        }
        let total = frames.len();
        let start = (arguments["startFrame"].as_u64().unwrap_or(0) as usize).min(total);
        let levels = arguments["levels"].as_u64().filter(|n| *n > 0).map_or(total, |n| n as usize);
        let some: Vec<Json> = frames.drain(start..).take(levels).collect();
        Ok(json!({ "stackFrames": some, "totalFrames": total }))
    }

    fn scopes(&mut self, arguments: &Json) -> Answer {
        let session = self.session.as_ref().ok_or("nothing is debugged")?;
        let (lane, level) = of_frame(&arguments["frameId"]).ok_or("there is no such frame")?;
        let all = session.scopes(Moment { lane, ..session.moment() }, level);
        let mut scopes = vec![];
        for (name, variables) in all {
            let hint = match name {
                LOCALS => "locals",
                IDS => "registers",
                _ => "arguments",
            };
            let n = variables.len();
            self.shown.push(Shown::Scope(variables));
            scopes.push(json!({
                "name": name, "presentationHint": hint, "variablesReference": self.shown.len(), "namedVariables": n,
                "expensive": matches!(name, IDS | MEMORY),
            }));
        }
        Ok(json!({ "scopes": scopes }))
    }

    fn variables(&mut self, arguments: &Json) -> Answer {
        let session = self.session.as_ref().ok_or("nothing is debugged")?;
        let k = arguments["variablesReference"].as_u64().unwrap_or(0) as usize;
        let shown =
            k.checked_sub(1).and_then(|k| self.shown.get(k)).ok_or("there is no such variable any more")?;
        let mut parts: Vec<Variable> = match shown {
            Shown::Scope(all) => all.clone(),
            Shown::Value(value, ty) => children(session, value, *ty),
        };
        let start = (arguments["start"].as_u64().unwrap_or(0) as usize).min(parts.len());
        let count = arguments["count"].as_u64().filter(|n| *n > 0).map_or(MAX_CHILDREN, |n| n as usize);
        parts = parts.drain(start..).take(count.min(MAX_CHILDREN)).collect();
        let mut all = vec![];
        for (name, value, ty) in parts {
            let type_name = self.session.as_ref().map_or(String::new(), |s| s.type_name(ty));
            let text = shown_as(&value);
            let reference = self.reference(value, ty);
            all.push(json!({
                "name": plain::line(&name), "value": text, "type": plain::line(&type_name), "variablesReference": reference,
                "evaluateName": name.split(" (").next().unwrap_or_default(),
            }));
        }
        Ok(json!({ "variables": all }))
    }

    /// A reference by which a value's parts are asked for; 0 if it has none.
    fn reference(&mut self, value: Value, ty: Option<u32>) -> usize {
        if value.parts().is_empty() {
            return 0;
        }
        self.shown.push(Shown::Value(value, ty));
        self.shown.len()
    }

    fn evaluate(&mut self, arguments: &Json) -> Answer {
        let session = self.session.as_ref().ok_or("nothing is debugged")?;
        let (lane, level) = of_frame(&arguments["frameId"]).unwrap_or((session.lane, 0));
        let text = arguments["expression"].as_str().unwrap_or_default();
        let when = Moment { lane, ..session.moment() };
        let (value, ty) = session.evaluate_at(text, when, level)?;
        let type_name = session.type_name(ty);
        let text = shown_as(&value);
        let reference = self.reference(value, ty);
        Ok(json!({ "result": text, "type": plain::line(&type_name), "variablesReference": reference }))
    }

    fn sources(&self) -> Vec<Json> {
        let Some(session) = &self.session else { return vec![] };
        let files = 0..session.state.trace.module.files.len() as u32;
        files.chain([DISASSEMBLY]).map(|f| source(session, f)).collect()
    }

    fn source(&self, arguments: &Json) -> Answer {
        let session = self.session.as_ref().ok_or("nothing is debugged")?;
        let source = &arguments["source"];
        let reference =
            source["sourceReference"].as_u64().or(arguments["sourceReference"].as_u64()).unwrap_or(0);
        if reference == REFERENCE {
            return Ok(json!({ "content": session.disassembly.lines.join("\n"), "mimeType": "text/plain" }));
        }
        let module = &session.state.trace.module;
        let file = reference.checked_sub(REFERENCE + 1).and_then(|k| module.files.get(k as usize));
        let named = || source["path"].as_str().filter(|p| module.files.iter().any(|f| f == p));
        let name = file.map(String::as_str).or_else(named).ok_or("there is no such source")?;
        let text =
            super::source::text(module, name).ok_or("the source is neither in the module nor on disk")?;
        Ok(json!({ "content": text, "mimeType": "text/plain" }))
    }
}

fn capabilities() -> Json {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsStepBack": true,
        "supportsSteppingGranularity": true,
        "supportsEvaluateForHovers": true,
        "supportsLoadedSourcesRequest": true,
        "supportsTerminateRequest": true,
    })
}

fn shown_as(value: &Value) -> String {
    match value {
        Value::Unknown => "not written".into(),
        v => plain::line(&v.to_string()).to_string(),
    }
}

/// The lane of a thread's number.
fn lane(thread: &Json) -> Option<usize> {
    (thread.as_u64()? as usize).checked_sub(1).filter(|l| *l < LANES)
}

fn frame_id(lane: usize, level: usize) -> usize {
    1 + lane + LANES * level
}

fn of_frame(id: &Json) -> Option<(usize, usize)> {
    let id = (id.as_u64()? as usize).checked_sub(1)?;
    Some((id % LANES, id / LANES))
}

/// A file as clients know it: by its path, if it is on disk; else they ask for its text.
fn source(session: &Session, file: u32) -> Json {
    if file == DISASSEMBLY {
        let name = format!("{}.spvasm", session.state.trace.entry);
        return json!({ "name": plain::line(&name), "sourceReference": REFERENCE, "origin": "SPIR-V" });
    }
    let path = session.file(file);
    let name = path.rsplit('/').next().unwrap_or(path);
    let name = if name.is_empty() { "source" } else { name };
    match std::fs::canonicalize(path) {
        Ok(full) if full.is_file() => json!({ "name": plain::line(name), "path": full.to_string_lossy() }),
        _ => json!({ "name": plain::line(name), "sourceReference": REFERENCE + 1 + file as u64 }),
    }
}

/// The file that a client's source is.
fn file_of(session: &mut Session, source: &Json) -> Option<u32> {
    if let Some(reference) = source["sourceReference"].as_u64().filter(|r| *r != 0) {
        if reference == REFERENCE {
            // Whoever sets breakpoints there wants to step there.
            session.view = View::Spirv;
            return Some(DISASSEMBLY);
        }
        let file = (reference - REFERENCE - 1) as u32;
        return session.state.trace.module.files.get(file as usize).map(|_| file);
    }
    let files = &session.state.trace.module.files;
    let path = source["path"].as_str()?;
    let last = |p: &str| p.rsplit('/').next().unwrap_or(p).to_string();
    let full = std::fs::canonicalize(path).ok();
    let exact =
        files.iter().position(|f| f == path || full.is_some() && std::fs::canonicalize(f).ok() == full);
    exact.or_else(|| files.iter().position(|f| last(f) == last(path))).map(|k| k as u32)
}

/// The parts of a value, by name.
fn children(session: &Session, value: &Value, ty: Option<u32>) -> Vec<Variable> {
    let module = &session.state.trace.module;
    let of = ty.and_then(|t| module.types.get(t));
    let name = |k: usize| match of {
        Some(Type::Struct(_)) => module.member(ty.unwrap_or(0), k as u32),
        Some(Type::Vector(..)) if k < 4 => ["x", "y", "z", "w"][k].to_string(),
        _ => format!("[{k}]"),
    };
    let part = |k: usize| ty.and_then(|t| module.types.part(t, k));
    value.parts().iter().enumerate().map(|(k, v)| (name(k), v.clone(), part(k))).collect()
}

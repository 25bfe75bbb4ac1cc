//! What lost a device: the command, the pipeline, the shader and its block, for the one line that says so.

use crate::sources::Sources;
use parking_lot::Mutex;
use shader::bytecode::{BlockRange, Code, Program};
use shader::ir::{Origin, Stage};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use wave::{Fault, Stop};

/// What a pipeline is called in messages.
#[derive(Default)]
pub struct Title {
    /// Its shaders' entry points.
    entries: String,
    /// A hash of what its shaders are made of: the same on every run and machine.
    shaders: u64,
    /// What the application calls it, or its handle.
    given: Mutex<String>,
    /// While frames are recorded.
    sources: OnceLock<Sources>,
    /// What its stages are known by, in the order of the pipeline; empty unless files of counters are wanted.
    stages: Vec<Arc<Made>>,
}

/// What a stage is known by, in files of counters (docs/capture.md).
#[derive(Debug)]
pub struct Made {
    pub stage: &'static str,
    pub entry: String,
    /// What the application calls its module; empty if it does not.
    pub module: String,
    /// Of module, entry point and specialisation: the same in every run.
    pub hash: u64,
    pub sketch: shader::instrument::Sketch,
}

impl Title {
    pub fn new(entries: impl Into<String>, shaders: u64, stages: Vec<Arc<Made>>) -> Arc<Title> {
        Arc::new(Title { entries: entries.into(), shaders, stages, ..Title::default() })
    }
    pub fn stages(&self) -> &[Arc<Made>] {
        &self.stages
    }
    pub fn shaders(&self) -> u64 {
        self.shaders
    }
    /// What the application calls it, if it does: names stand between quotes.
    pub fn name(&self) -> Option<String> {
        let given = self.given.lock();
        given.strip_prefix('\'').and_then(|g| g.strip_suffix('\'')).map(String::from)
    }
    /// The same in every run: a handle would be another one.
    pub fn steady(&self) -> String {
        match self.name() {
            Some(name) => format!("'{name}' ({})", self.entries),
            None => format!("{:016x} ({})", self.shaders, self.entries),
        }
    }
    pub fn entries(&self) -> &str {
        &self.entries
    }
    /// What it was made of, if frames are recorded.
    pub fn sources(&self) -> Option<&Sources> {
        self.sources.get()
    }
    pub fn made_of(&self, sources: impl FnOnce() -> Sources) {
        self.sources.get_or_init(sources);
    }
    pub fn call(&self, name: impl Into<String>) {
        *self.given.lock() = name.into();
    }
}

impl fmt::Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pipeline {} ({})", self.given.lock(), self.entries)
    }
}

/// A fault as it is told to the application (VK_KHR_device_fault).
#[derive(Clone)]
pub struct Told {
    pub line: String,
    pub why: Why,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// Of an address where there is no device memory.
    Read(u64),
    Write(u64),
    Watchdog,
    Other,
}

/// Faults of which reports are kept: queues may fault at once.
pub const MAX_FAULTS: usize = 16;

/// What a device's faults were, and how many the application has asked for.
#[derive(Default)]
pub struct Faults {
    pub all: Vec<Told>,
    pub read: usize,
}

impl Faults {
    pub fn add(&mut self, t: Told) {
        if self.all.len() < MAX_FAULTS {
            self.all.push(t);
        }
    }
    pub fn unread(&self) -> &[Told] {
        self.all.get(self.read..).unwrap_or(&[])
    }
}

/// Host time that something may take.
#[derive(Clone, Copy)]
pub struct Limits {
    pub wave: Duration,
    pub submission: Duration,
}

/// Why.
enum Cause {
    Fault(Fault),
    /// There is no memory for something.
    Memory,
}

/// Where a shader was stopped.
pub struct Stopped {
    pub fault: Fault,
    pub stage: Stage,
    pub origin: Origin,
    pub file: String,
    /// As findings call its pipeline ([`Title::steady`]).
    pub pipeline: String,
}

impl Stopped {
    fn new(stop: Stop, program: &Program, title: &Title) -> Stopped {
        let origin = block_of(program, stop.op).map(|b| b.origin).unwrap_or_default();
        let file = program.files.get(origin.file as usize).cloned().unwrap_or_default();
        Stopped { fault: stop.fault, stage: program.stage, origin, file, pipeline: title.steady() }
    }
}

/// What lost a device, and the shader it was in.
pub struct Blame {
    why: Cause,
    /// The address was to be written.
    writes: bool,
    shader: String,
    /// Where the command is that the shader ran for, if that is not the one under way: draws are shaded when their pass
    /// ends.
    place: Option<Place>,
    /// Of a shader: where it was, and its pipeline.
    stopped: Option<Box<Stopped>>,
}

impl Blame {
    /// `stage`: as people call it.
    pub fn new(stop: Stop, stage: &str, program: &Program, title: &Title) -> Blame {
        let op = program.code.get(stop.op as usize).map(|op| op.code);
        Blame {
            why: Cause::Fault(stop.fault),
            writes: matches!(op, Some(Code::ST_GLOBAL | Code::AT_GLOBAL)),
            shader: format!("{stage} shader of {title}, {}", block(program, stop.op)),
            place: None,
            stopped: Some(Box::new(Stopped::new(stop, program, title))),
        }
    }

    /// Where a shader was stopped, and the command that it ran for, if that is not the one under way.
    pub fn stopped(&self) -> Option<(&Stopped, Option<&Place>)> {
        Some((self.stopped.as_deref()?, self.place.as_ref()))
    }

    /// Whether it was told to stop, for no fault of its own.
    pub fn is_stopped(&self) -> bool {
        matches!(self.why, Cause::Fault(Fault::Stopped))
    }

    /// No shader's: `what` the driver does for one.
    pub fn of(fault: Fault, what: &str) -> Blame {
        Blame {
            why: Cause::Fault(fault),
            writes: false,
            shader: what.to_string(),
            place: None,
            stopped: None,
        }
    }

    /// There is none for `what`.
    pub fn memory(what: &str) -> Blame {
        Blame { why: Cause::Memory, writes: false, shader: what.to_string(), place: None, stopped: None }
    }

    /// Of a command there.
    pub fn at(self, place: &Place) -> Blame {
        Blame { place: Some(place.clone()), ..self }
    }

    /// What of it is told to the application; parameters as [`Blame::line`]'s.
    pub fn told(&self, now: &Place, limits: Limits) -> Told {
        let why = match self.why {
            Cause::Fault(Fault::Address(a)) if self.writes => Why::Write(a),
            Cause::Fault(Fault::Address(a)) => Why::Read(a),
            Cause::Fault(Fault::Watchdog | Fault::Stopped) => Why::Watchdog,
            _ => Why::Other,
        };
        Told { line: self.line(now, limits), why }
    }

    /// The line for people. `now`: the command under way.
    pub fn line(&self, now: &Place, limits: Limits) -> String {
        let place = self.place.as_ref().unwrap_or(now);
        let why = match self.why {
            Cause::Memory => "found no memory".to_string(),
            Cause::Fault(Fault::Address(a)) => format!("accessed {a:#x}, which is not device memory"),
            Cause::Fault(Fault::Code(c)) => format!("has an unknown op {c} (an error of the driver's)"),
            Cause::Fault(Fault::Depth) => {
                "was called, or traced a ray, deeper than the pipeline's recursion allows".to_string()
            }
            Cause::Fault(Fault::Watchdog) => format!("did not end within {:?}", limits.wave),
            Cause::Fault(Fault::Stopped) => {
                format!("was under way when the submission did not end within {:?}", limits.submission)
            }
        };
        format!("device fault: {place}: {} {why}; the device is lost", self.shader)
    }
}

fn block_of(p: &Program, op: u32) -> Option<&BlockRange> {
    let after = p.blocks.partition_point(|b| b.first_op <= op);
    p.blocks.get(after.saturating_sub(1))
}

/// The application's block that op `op` of a program belongs to.
fn block(p: &Program, op: u32) -> String {
    let Some(b) = block_of(p, op) else { return "no block".into() };
    let o = b.origin;
    let mut text = format!("block %{} of function %{}", o.label, o.function);
    if o.line != 0 {
        let file = p.files.get(o.file as usize).map_or("", |f| f.as_str());
        text += &format!(" ({file}:{})", o.line);
    }
    text
}

/// Where a queue is in what it executes. Each draw keeps it: what changes seldom is shared.
#[derive(Clone, Default)]
pub struct Place {
    around: Arc<Around>,
    /// Place and call of the command under way, in the innermost list.
    at: At,
}

/// Command buffers that are under way, the primary first, and labels.
#[derive(Clone, Default)]
struct Around {
    /// Name, and which command of those before the last leads to the next.
    lists: Vec<(Arc<str>, At)>,
    labels: Labels,
}

type At = (u32, &'static str);

/// VK_EXT_debug_utils labels that are open.
#[derive(Clone, Default)]
pub struct Labels {
    /// Outermost first.
    named: Vec<Arc<str>>,
    /// Labels below those, which have no names: a queue's stay open over submissions, and nothing ends them but the
    /// application.
    deeper: u64,
}

impl Labels {
    /// Their names, `/` between them.
    pub fn joined(&self) -> String {
        self.named.join("/")
    }
}

/// Labels that are known by name.
const MAX_LABELS: usize = 64;

impl Place {
    pub fn enter(&mut self, list: &Arc<str>) {
        let around = Arc::make_mut(&mut self.around);
        if let Some(last) = around.lists.last_mut() {
            last.1 = self.at;
        }
        around.lists.push((list.clone(), At::default()));
        self.at = At::default();
    }
    pub fn leave(&mut self) {
        let around = Arc::make_mut(&mut self.around);
        around.lists.pop();
        self.at = around.lists.last().map_or(At::default(), |l| l.1);
    }
    #[inline]
    pub fn at(&mut self, index: usize, call: &'static str) {
        self.at = (index as u32, call);
    }
    pub fn begin_label(&mut self, name: &str) {
        let Labels { named, deeper } = &mut Arc::make_mut(&mut self.around).labels;
        match named.len() < MAX_LABELS {
            true => named.push(name.into()),
            false => *deeper += 1,
        }
    }
    pub fn end_label(&mut self) {
        let labels = &mut Arc::make_mut(&mut self.around).labels;
        match labels.deeper {
            0 => drop(labels.named.pop()),
            _ => labels.deeper -= 1,
        }
    }
    pub fn labels(&self) -> &Labels {
        &self.around.labels
    }

    /// The same text in every run: without the handles of lists that have no name.
    pub fn steady(&self) -> String {
        let Around { lists, labels } = &*self.around;
        let mut text = String::new();
        for (i, (list, outer)) in lists.iter().rev().enumerate() {
            let (of, (at, call)) = if i == 0 { ("", &self.at) } else { (" by ", outer) };
            text += &format!("{of}{call} (command {at}");
            if list.starts_with('\'') {
                text += &format!(" of {list}");
            }
            text.push(')');
        }
        if !labels.named.is_empty() {
            text += &format!(" in '{}'", labels.joined());
        }
        text
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Around { lists, labels } = &*self.around;
        for (i, (list, outer)) in lists.iter().rev().enumerate() {
            let (of, (at, call)) = if i == 0 { ("", &self.at) } else { (" by ", outer) };
            write!(f, "{of}{call} (command {at} of {list})")?;
        }
        if !labels.named.is_empty() {
            write!(f, " in '{}'", labels.joined())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod place_tests {
    use super::*;

    #[test]
    fn a_place_is_told_from_the_inside_out_and_kept_as_it_was() {
        let mut p = Place::default();
        p.enter(&"outer".into());
        p.at(7, "vkCmdExecuteCommands");
        p.begin_label("shadows");
        p.enter(&"inner".into());
        p.at(3, "vkCmdDraw");
        let kept = p.clone();
        p.at(4, "vkCmdDispatch");
        p.end_label();
        p.leave();
        let inside =
            "vkCmdDraw (command 3 of inner) by vkCmdExecuteCommands (command 7 of outer) in 'shadows'";
        assert_eq!(kept.to_string(), inside);
        let steady = "vkCmdDraw (command 3) by vkCmdExecuteCommands (command 7) in 'shadows'";
        assert_eq!(kept.steady(), steady);
        assert_eq!(p.to_string(), "vkCmdExecuteCommands (command 7 of outer)");
        p.leave();
        assert_eq!(p.to_string(), "");
    }
}

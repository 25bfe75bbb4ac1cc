//! A place in a trace, and moves in it, forwards and backwards.

use super::module::Line;
use super::state::{Moment, State};
use rspirv::binary::Disassemble;
use std::collections::{BTreeMap, BTreeSet};

/// What is stepped through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    Source,
    /// Lines are those of the disassembly.
    Spirv,
}

/// How far a step goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    /// To the next instruction.
    Instruction,
    /// To the next line, into calls.
    Into,
    /// To the next line of this function or of its caller.
    Over,
    /// To the caller.
    Out,
    /// To the next breakpoint, or the end.
    Run,
}

/// Where a lane is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    /// The step that the lane executes next; its last one, if it has come to its end.
    pub step: usize,
    pub frame: u32,
    pub at: u32,
    /// It takes part in the step that the session is at.
    pub active: bool,
    pub ended: bool,
}

/// A frame of a lane's stack, as people see it: inlined functions have frames of their own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Level {
    pub frame: u32,
    /// The instruction that is under way in it.
    pub at: u32,
    pub name: String,
    pub line: Option<Line>,
}

pub struct Session {
    pub state: State,
    pub view: View,
    /// Steps before it have been executed.
    pub now: usize,
    pub lane: usize,
    pub breakpoints: BTreeSet<Line>,
    /// Lines of the disassembly, and the words at which they begin.
    pub disassembly: Disassembly,
    /// By note: how many functions are under way, those that were inlined before among them.
    depths: Vec<u32>,
}

pub struct Disassembly {
    pub lines: Vec<String>,
    /// Line (from 1) by word offset.
    of: BTreeMap<u32, u32>,
}

impl Disassembly {
    fn new(state: &State) -> Disassembly {
        let mut made = Disassembly { lines: vec![], of: BTreeMap::new() };
        for (at, place) in &state.trace.module.places {
            let text = place.inst.disassemble();
            // Sources among the strings have lines of their own.
            let mut text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            if text.chars().count() > 400 {
                text = text.chars().take(400).chain("…".chars()).collect();
            }
            made.lines.push(text);
            made.of.insert(*at, made.lines.len() as u32);
        }
        made
    }
    pub fn line(&self, at: u32) -> u32 {
        self.of.get(&at).copied().unwrap_or(0)
    }
}

fn depths(state: &State) -> Vec<u32> {
    let trace = &state.trace;
    let own = |at: u32| {
        let place = trace.module.places.get(&at);
        place.map_or(1, |p| super::scopes::inlined(&trace.module, p).len().max(1) as u32)
    };
    // A frame's callers come before it.
    let mut outside: Vec<u32> = vec![];
    for (k, f) in trace.frames.iter().enumerate() {
        outside.push(if k == 0 { 0 } else { outside[f.parent as usize] + own(f.at) });
    }
    trace.notes.iter().map(|n| outside[n.frame as usize] + own(n.at)).collect()
}

/// The index of the disassembly among files.
pub const DISASSEMBLY: u32 = u32::MAX;

impl Session {
    pub fn new(state: State) -> Session {
        let view = if state.trace.module.has_lines() { View::Source } else { View::Spirv };
        let lane = state.trace.lane;
        let disassembly = Disassembly::new(&state);
        let depths = depths(&state);
        let breakpoints = BTreeSet::new();
        let mut session = Session { state, view, now: 0, lane, breakpoints, disassembly, depths };
        session.rewind();
        session
    }

    pub fn end(&self) -> usize {
        self.state.trace.steps.len()
    }

    pub fn ended(&self) -> bool {
        self.now >= self.end()
    }

    /// The line of a step, in the view.
    pub fn line(&self, step: usize) -> Option<Line> {
        self.line_of(self.state.trace.note(step).at)
    }

    pub fn line_of(&self, at: u32) -> Option<Line> {
        match self.view {
            View::Source => self.state.trace.module.places.get(&at)?.line,
            View::Spirv => Some(Line { file: DISASSEMBLY, line: self.disassembly.line(at) }),
        }
    }

    fn has(&self, step: usize) -> bool {
        self.state.trace.steps[step].has(self.lane)
    }

    fn next(&self, step: usize) -> Option<usize> {
        (step + 1..self.end()).find(|s| self.has(*s))
    }

    fn before(&self, step: usize) -> Option<usize> {
        (0..step.min(self.end())).rev().find(|s| self.has(*s))
    }

    /// The step before, of those that are no deeper in calls.
    fn before_within(&self, step: usize, depth: u32) -> Option<usize> {
        let mut step = self.before(step)?;
        while self.depth(step) > depth {
            step = self.before(step)?;
        }
        Some(step)
    }

    /// The beginning of the lane's first line.
    pub fn rewind(&mut self) {
        let first = (0..self.end()).find(|s| self.has(*s));
        let lined = (0..self.end()).find(|s| self.has(*s) && self.line(*s).is_some());
        self.now = lined.or(first).unwrap_or(self.end());
    }

    /// Another lane is looked at; the place stays, or is the next one that the lane comes by.
    pub fn select(&mut self, lane: usize) {
        self.lane = lane;
    }

    /// What is executed up to the step that comes next.
    pub fn moment(&self) -> Moment {
        Moment { lane: self.lane, end: self.now }
    }

    fn depth(&self, step: usize) -> u32 {
        self.depths[self.state.trace.steps[step].note as usize]
    }

    /// The calls that lead to an instruction, from it outwards.
    pub fn levels(&self, frame: u32, at: u32) -> Vec<Level> {
        let module = &self.state.trace.module;
        let mut all = vec![];
        for (frame, at) in self.state.trace.stack(frame, at) {
            let Some(place) = module.places.get(&at) else { continue };
            let own = module.named(place.function);
            let own = own.split('(').next().unwrap_or_default().to_string();
            let line = self.line_of(at);
            let chain = super::scopes::inlined(module, place);
            match chain.as_slice() {
                [] => all.push(Level { frame, at, name: own, line }),
                chain => {
                    for (k, (name, call)) in chain.iter().enumerate() {
                        let line = if k == 0 || self.view == View::Spirv { line } else { *call };
                        let name = if name.is_empty() { own.clone() } else { name.clone() };
                        all.push(Level { frame, at, name, line });
                    }
                }
            }
        }
        all
    }

    /// Where a lane is.
    pub fn spot(&self, lane: usize) -> Option<Spot> {
        let steps = &self.state.trace.steps;
        let active = !self.ended() && steps[self.now].has(lane);
        let ahead = (self.now..self.end()).find(|s| steps[*s].has(lane));
        let behind = || (0..self.now).rev().find(|s| steps[*s].has(lane));
        let step = ahead.or_else(behind)?;
        let note = self.state.trace.note(step);
        Some(Spot { step, frame: note.frame, at: note.at, active, ended: ahead.is_none() })
    }

    /// A breakpoint is where the lane comes to a line from another one.
    fn stops_at(&self, step: usize, before: Option<usize>) -> bool {
        let Some(line) = self.line(step).filter(|l| self.breakpoints.contains(l)) else { return false };
        let frame = self.state.trace.note(step).frame;
        // Who returns to a line has been there.
        before.is_none_or(|b| {
            let new = self.line(b) != Some(line) || self.state.trace.note(b).frame != frame;
            new && self.depth(b) <= self.depth(step)
        })
    }

    /// Moves forwards; whether a breakpoint is why it stopped.
    pub fn forwards(&mut self, pace: Pace) -> bool {
        if self.ended() {
            return false;
        }
        let (line, depth) = (self.line(self.now), self.depth(self.now));
        let frame = self.state.trace.note(self.now).frame;
        let mut last = self.now;
        while let Some(step) = self.next(last) {
            let stop = self.stops_at(step, Some(last));
            let new = |s: &Session| {
                s.line(step).is_some() && (s.line(step) != line || s.state.trace.note(step).frame != frame)
            };
            let done = match pace {
                Pace::Instruction => true,
                Pace::Into => new(self),
                Pace::Over => self.depth(step) <= depth && new(self),
                Pace::Out => self.depth(step) < depth,
                Pace::Run => false,
            };
            last = step;
            if done || stop {
                self.now = step;
                return stop;
            }
        }
        self.now = self.end();
        false
    }

    /// Moves backwards; whether a breakpoint is why it stopped.
    pub fn backwards(&mut self, pace: Pace) -> bool {
        let Some(first) = self.before(self.now) else { return false };
        if pace == Pace::Instruction {
            self.now = first;
            return false;
        }
        let depth = if self.ended() { self.depth(first) } else { self.depth(self.now) };
        let mut step = first;
        loop {
            let fits = match pace {
                Pace::Over => self.depth(step) <= depth,
                Pace::Out => self.depth(step) < depth,
                _ => true,
            };
            let before = self.before(step);
            let stop = self.stops_at(step, before);
            // To where the line begins: of a line that calls, if calls are stepped over, before that.
            let outer = match pace {
                Pace::Over => self.before_within(step, self.depth(step)),
                _ => before,
            };
            let begins = self.line(step).is_some()
                && outer.is_none_or(|b| {
                    let (here, there) = (self.state.trace.note(step), self.state.trace.note(b));
                    self.line(b) != self.line(step)
                        || here.frame != there.frame && self.depth(b) <= self.depth(step)
                });
            if stop || (begins && fits && pace != Pace::Run) {
                self.now = step;
                return stop;
            }
            match before {
                Some(b) => step = b,
                None => {
                    self.rewind();
                    return false;
                }
            }
        }
    }

    /// Breakpoints of a file: the lines that they come to lie on, `None` where no code follows.
    pub fn set_breakpoints(&mut self, file: u32, lines: &[u32]) -> Vec<Option<u32>> {
        self.breakpoints.retain(|b| b.file != file);
        let known: BTreeSet<u32> = match file {
            DISASSEMBLY => self.disassembly.of.values().copied().collect(),
            _ => {
                let places = self.state.trace.module.places.values();
                let lines = places.filter(|p| p.function != 0).filter_map(|p| p.line);
                lines.filter(|l| l.file == file).map(|l| l.line).collect()
            }
        };
        let mut place = |line: &u32| {
            let line = known.range(line..).next().copied()?;
            self.breakpoints.insert(Line { file, line });
            Some(line)
        };
        lines.iter().map(&mut place).collect()
    }

    /// The text of a line; empty if the source is not to be had.
    pub fn text(&self, line: Line) -> String {
        if line.file == DISASSEMBLY {
            return self.disassembly.lines.get(line.line as usize - 1).cloned().unwrap_or_default();
        }
        super::source::line(&self.state.trace.module, line).unwrap_or_default()
    }

    pub fn file(&self, file: u32) -> &str {
        match file {
            DISASSEMBLY => "SPIR-V",
            k => self.state.trace.module.files.get(k as usize).map_or("", String::as_str),
        }
    }

    /// `sum.comp:7`
    pub fn show(&self, line: Option<Line>) -> String {
        match line {
            Some(l) => {
                let file = self.file(l.file);
                format!("{}:{}", file.rsplit('/').next().unwrap_or(file), l.line)
            }
            None => "-".into(),
        }
    }
}

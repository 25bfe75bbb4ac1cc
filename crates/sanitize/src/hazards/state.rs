//! What a range of bytes remembers of its last accesses, and when a new one conflicts with them.

use super::scope::{Scope, stage};
use std::sync::Arc;

/// Along which commands come one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Line {
    Queue(u32),
    /// A subpass of a render pass instance on a queue.
    Subpass {
        queue: u32,
        pass: u64,
        index: u32,
    },
    /// What follows a semaphore's signal, or the setting of an event.
    Signal(u64),
}

impl Line {
    /// Whether what is ordered on this line is ordered for a barrier from `from`.
    fn feeds(self, from: Line) -> bool {
        match (self, from) {
            (Line::Subpass { queue, .. }, Line::Queue(q))
            | (Line::Queue(queue), Line::Subpass { queue: q, .. }) => queue == q,
            _ => self == from,
        }
    }

    fn queue(self) -> Option<u32> {
        match self {
            Line::Queue(queue) | Line::Subpass { queue, .. } => Some(queue),
            Line::Signal(_) => None,
        }
    }
}

/// A command, for people. Accesses of one command are not compared with each other.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Who {
    /// Among all commands of the device.
    pub tag: u64,
    /// The command, with the labels around it.
    pub place: String,
    /// What it is part of: the pass, the pipeline.
    pub part: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    Read,
    Write,
    /// Reads and writes, in no order with other atomics.
    Atomic,
}

/// What a write leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contents {
    Values,
    /// A render pass stored them.
    Stored,
    /// Nothing that may be relied on: a pass did not store them, or a layout transition did not keep them.
    Discarded,
    Forgotten,
    /// What was there before: a layout transition's.
    Kept,
}

/// What a shader's own fences do for the whole device (specification, "Memory Model": "Availability and Visibility Semantics").
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fences {
    /// They make what it writes available.
    pub available: bool,
    /// They make what is available visible to it.
    pub visible: bool,
}

impl Fences {
    /// Either's.
    pub fn or(self, o: Fences) -> Fences {
        Fences { available: self.available || o.available, visible: self.visible || o.visible }
    }
}

/// An access of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    pub who: Arc<Who>,
    pub line: Line,
    /// One stage, and the accesses that it may be (a shader's read may be one of several).
    pub stage: u64,
    pub access: u64,
    pub what: What,
    /// An attachment's, which rasterization order puts after earlier ones of the same subpass.
    pub attachment: bool,
    pub contents: Contents,
    pub fences: Fences,
}

impl Access {
    fn tag(&self) -> u64 {
        self.who.tag
    }
    pub fn writes(&self) -> bool {
        self.what != What::Read
    }
}

/// What the host had waited for when it submitted a command: for each queue, the last of its commands that had ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Seen(Vec<(u32, u64)>);

impl Seen {
    pub fn add(&mut self, queue: u32, tag: u64) {
        match self.0.iter_mut().find(|(q, _)| *q == queue) {
            Some((_, t)) => *t = (*t).max(tag),
            None => self.0.push((queue, tag)),
        }
    }
    pub fn join(&mut self, other: &Seen) {
        other.0.iter().for_each(|(q, t)| self.add(*q, *t));
    }
    fn has(&self, queue: u32, tag: u64) -> bool {
        self.0.iter().any(|(q, t)| *q == queue && tag <= *t)
    }
}

/// What comes after an access.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Order {
    /// Stages of each line that come after it.
    chain: Vec<(Line, u64)>,
}

impl Order {
    fn stages(&self, of: impl Fn(Line) -> bool) -> u64 {
        self.chain.iter().filter(|(l, _)| of(*l)).fold(0, |a, (_, s)| a | s)
    }
    fn add(&mut self, line: Line, stages: u64) {
        match self.chain.iter_mut().find(|(l, _)| *l == line) {
            Some((_, s)) => *s |= stages,
            None => self.chain.push((line, stages)),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Write {
    pub by: Access,
    order: Order,
    available: bool,
    /// Stages and accesses of each line that see it.
    visible: Vec<(Line, u64, u64)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Read {
    pub by: Access,
    order: Order,
}

/// A range's last accesses.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct State {
    pub write: Option<Write>,
    /// Since the write: the last one of each line's stages.
    pub reads: Vec<Read>,
}

/// Which conflict it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Hazard {
    ReadAfterWrite,
    WriteAfterRead,
    WriteAfterWrite,
}

/// What is missing between two accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Lacks {
    /// Nothing comes between them.
    Order,
    /// Something does, but not for the later one's stage.
    Stage,
    /// Execution is ordered, but nothing makes the write available: a first scope without its stage and access.
    Available,
    /// The write is available, but not visible to the later access.
    Visible,
    /// A transition of the image's layout whose barrier does not wait for the earlier access.
    Transition,
    /// The host has not waited for the earlier one's end.
    HostWait,
}

/// An earlier access that a new one conflicts with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    pub hazard: Hazard,
    pub earlier: Access,
    pub lacks: Lacks,
}

/// A barrier's scopes, as accesses that it applies to see it.
#[derive(Clone, Copy)]
pub(super) struct Between {
    pub from: Line,
    pub to: Line,
    pub first: Scope,
    pub second: Scope,
    /// These bytes are among those whose writes it makes available and visible.
    pub memory: bool,
}

/// Whether an access, or what is chained to it, is in the first scope.
fn in_first(by: &Access, order: &Order, b: &Between) -> bool {
    if let Line::Signal(_) = b.from {
        return order.stages(|l| l == b.from) != 0;
    }
    is_direct(by, order, b) && by.stage & b.first.execution != 0
        || order.stages(|l| l.feeds(b.from)) & b.first.execution != 0
}

/// Whether an access was made where the barrier is.
fn is_direct(by: &Access, order: &Order, b: &Between) -> bool {
    match b.from {
        Line::Queue(q) => by.line.queue() == Some(q),
        Line::Subpass { .. } => by.line == b.from,
        Line::Signal(_) => order.stages(|l| l == b.from) != 0,
    }
}

impl Write {
    /// Whether a barrier makes it available, or it is so already.
    fn becomes_available(&self, b: &Between) -> bool {
        let named = self.by.stage & b.first.memory != 0 && self.by.access & b.first.accesses != 0;
        self.available || b.memory && named && is_direct(&self.by, &self.order, b)
    }

    fn is_visible(&self, new: &Access) -> bool {
        let sees = |l: Line| l == new.line || l.queue().is_some() && l == queue_of(new.line);
        self.visible.iter().any(|(l, s, a)| sees(*l) && s & new.stage != 0 && a & new.access != 0)
    }
}

fn queue_of(line: Line) -> Line {
    line.queue().map_or(line, Line::Queue)
}

/// Stages on a new access's line that come after an earlier one.
fn after(order: &Order, new: &Access) -> u64 {
    let queue = queue_of(new.line);
    order.stages(|l| l == new.line || l == queue)
}

/// Whether the host saw the earlier access end before it submitted the new one.
fn seen(by: &Access, order: &Order, seen: &Seen) -> bool {
    let on = |l: Line| l.queue().is_some_and(|q| seen.has(q, by.tag()));
    on(by.line) || order.chain.iter().any(|(l, _)| on(*l))
}

/// Attachments of one subpass are accessed in rasterization order.
fn in_raster_order(a: &Access, b: &Access) -> bool {
    a.attachment && b.attachment && a.line == b.line && matches!(a.line, Line::Subpass { .. })
}

/// Subpasses of one pass need execution alone between the accesses of an attachment, which tiles keep; and a layout that changes between
/// subpasses is changed before any subpass that uses the new one.
fn in_pass(w: &Write, new: &Access) -> bool {
    let (Line::Subpass { pass: a, .. }, Line::Subpass { pass: b, .. }) = (w.by.line, new.line) else {
        return false;
    };
    let stages = after(&w.order, new);
    let attached = w.by.attachment && new.attachment && stages & new.stage != 0;
    a == b && (attached || w.by.stage == stage::TRANSITION && stages == 0)
}

impl State {
    /// A barrier comes after all that is here.
    pub fn barrier(&mut self, b: &Between) {
        if let Some(w) = &mut self.write
            && in_first(&w.by, &w.order, b)
        {
            w.available = w.becomes_available(b);
            w.order.add(b.to, b.second.execution);
            if w.available && b.memory {
                let new = (b.to, b.second.memory, b.second.accesses);
                if new.1 != 0 && new.2 != 0 && !w.visible.contains(&new) {
                    w.visible.push(new);
                }
            }
        }
        for r in &mut self.reads {
            if in_first(&r.by, &r.order, b) {
                r.order.add(b.to, b.second.execution);
            }
        }
    }

    /// A render pass has ended: nothing more comes on its subpasses' lines, but what was ordered there stays so for the queue's barriers.
    pub fn pass_ended(&mut self, ended: u64) {
        let of = |l: Line| matches!(l, Line::Subpass { pass, .. } if pass == ended);
        if let Some(w) = &mut self.write {
            w.visible.retain(|(l, ..)| !of(*l));
        }
    }

    /// The host's work is ordered by what it waited for.
    fn lacks(w: &Write, new: &Access, host: &Seen) -> Option<Lacks> {
        let ordered = w.by.tag() == new.tag()
            // Submissions make what the host has written visible.
            || w.by.stage == stage::HOST
            || in_raster_order(&w.by, new)
            || in_pass(w, new)
            || w.by.what == What::Atomic && new.what == What::Atomic
            || w.is_visible(new)
            || w.available && new.fences.visible && after(&w.order, new) & new.stage != 0
            || seen(&w.by, &w.order, host);
        if ordered {
            return None;
        }
        let stages = after(&w.order, new);
        Some(match stages {
            0 => Lacks::Order,
            s if s & new.stage == 0 => Lacks::Stage,
            _ if !w.available => Lacks::Available,
            _ => Lacks::Visible,
        })
    }

    /// What a new access conflicts with.
    pub fn conflicts(&self, new: &Access, host: &Seen, mut found: impl FnMut(Conflict)) {
        let mut ordered_by_read = false;
        if new.writes() {
            for r in &self.reads {
                let ordered = r.by.tag() == new.tag()
                    || in_raster_order(&r.by, new)
                    || after(&r.order, new) & new.stage != 0
                    || seen(&r.by, &r.order, host);
                if ordered {
                    ordered_by_read |= r.by.tag() != new.tag();
                    continue;
                }
                let lacks = if after(&r.order, new) == 0 { Lacks::Order } else { Lacks::Stage };
                found(Conflict { hazard: Hazard::WriteAfterRead, earlier: r.by.clone(), lacks });
                ordered_by_read = true;
            }
        }
        // A read between them has come after the first write: that was asked when it was made.
        if let Some(w) = &self.write
            && !ordered_by_read
            && let Some(lacks) = State::lacks(w, new, host)
        {
            let hazard = if new.writes() { Hazard::WriteAfterWrite } else { Hazard::ReadAfterWrite };
            found(Conflict { hazard, earlier: w.by.clone(), lacks });
        }
    }

    /// What a layout transition conflicts with: what its barrier's first scope does not have.
    pub fn conflicts_with_transition(
        &self,
        new: &Access,
        b: &Between,
        host: &Seen,
        mut found: impl FnMut(Conflict),
    ) {
        for r in &self.reads {
            // What waits for an image in all stages waits with the transitions of its later commands, too.
            let acquired = r.by.stage == stage::PRESENTATION && after(&r.order, new) & stage::TRANSITION != 0;
            let ordered = acquired || in_first(&r.by, &r.order, b) || seen(&r.by, &r.order, host);
            if r.by.tag() != new.tag() && !ordered {
                let hazard = Hazard::WriteAfterRead;
                found(Conflict { hazard, earlier: r.by.clone(), lacks: Lacks::Transition });
            }
        }
        if let Some(w) = self.write.as_ref().filter(|_| self.reads.is_empty()) {
            // § Image Layout Transitions: those of one queue are executed in submission order.
            let in_order = w.by.stage == stage::TRANSITION && w.by.line.queue() == new.line.queue();
            let ordered = in_order || in_first(&w.by, &w.order, b) && w.becomes_available(b);
            if w.by.tag() != new.tag()
                && w.by.stage != stage::HOST
                && !ordered
                && !seen(&w.by, &w.order, host)
            {
                let lacks = if in_first(&w.by, &w.order, b) { Lacks::Available } else { Lacks::Transition };
                found(Conflict { hazard: Hazard::WriteAfterWrite, earlier: w.by.clone(), lacks });
            }
        }
    }

    /// The access has been made.
    pub fn accessed(&mut self, new: &Access) {
        if new.writes() {
            let (order, visible) = Default::default();
            let available = new.fences.available;
            self.write = Some(Write { by: new.clone(), order, available, visible });
            self.reads.clear();
            return;
        }
        let read = Read { by: new.clone(), order: Order::default() };
        match self.reads.iter_mut().find(|r| r.by.line == new.line && r.by.stage == new.stage) {
            Some(r) => *r = read,
            None => self.reads.push(read),
        }
    }

    /// A transition has been made; what follows its barrier sees it.
    pub fn transitioned(&mut self, new: &Access, b: &Between) {
        let contents = match (new.contents, self.write.as_ref().map(|w| w.by.contents)) {
            (Contents::Kept, Some(Contents::Stored)) if !self.reads.is_empty() => Contents::Values,
            (Contents::Kept, Some(before)) => before,
            // Nothing has written it, so the transition has nothing to keep.
            (Contents::Kept, None) => Contents::Forgotten,
            (given, _) => given,
        };
        let by = Access { stage: stage::TRANSITION, contents, ..new.clone() };
        let mut order = Order::default();
        order.add(b.to, b.second.execution);
        let visible = vec![(b.to, b.second.memory, b.second.accesses)];
        self.write = Some(Write { by, order, available: true, visible });
        self.reads.clear();
    }
}

//! Hazards between the commands that a sanitised device executes: each command's accesses and barriers, for the rules of
//! [`sanitize::hazards`].
//!
//! The device executes commands one after the other, in the order of their submission over all queues. A command's accesses are told when
//! it has run: transfers and vertex input by their regions, shaders by the bytes that they touched ([`machine::footprint`]). Those of a
//! render pass are told when it ends ([`pass`]), because its fragments run then.

mod attachments;
mod draws;
mod graphs;
pub mod host;
mod pass;
pub mod presents;
mod protection;
mod ranges;
mod structures;
mod tell;
mod transfers;

use crate::command::{Command, Dispatch, SemaphoreOp};
use crate::ordering::{Dependencies, ImageBarrier, Masks, Pass, Sync};
use machine::footprint;
use machine::hazards::{Hazards, Mark};
use machine::lost::Place;
use machine::sanitizer::FOUND;
use machine::shared::Shared;
use machine::sync::Fence;
use pass::Journal;
use sanitize::hazards::{
    Access, Barrier, Contents, Fences, Line, Scope, Seen, Transition, What, Who, access, stage,
};
use shader::bytecode::Program;
use shader::ir::{Order, Stage};
use small_sort::SmallSort;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use tell::Told;
use texel::buffer::Buffer;

/// More ranges of one access than this are not followed.
const MOST_RANGES: usize = 1 << 18;

/// What a queue's executor knows of hazards.
pub struct Tracker {
    shared: Arc<Shared>,
    queue: u32,
    /// What the host had waited for when it made the submission under way.
    seen: Seen,
    /// Whether that is a protected submission; none: a present, which may read any memory.
    pub protected: Option<bool>,
    /// Marks of the semaphores that it waited for.
    waited: Vec<Option<Mark>>,
    /// Of the render pass that begins next.
    next: Option<Arc<Pass>>,
    pass: Option<Journal>,
}

/// An access without its command.
#[derive(Clone, Copy)]
struct Use {
    stage: u64,
    access: u64,
    what: What,
    contents: Contents,
    fences: Fences,
}

impl Use {
    const fn read(stage: u64, access: u64) -> Use {
        Use::of(stage, access, What::Read, Fences { available: false, visible: false })
    }
    const fn write(stage: u64, access: u64) -> Use {
        Use::of(stage, access, What::Write, Fences { available: false, visible: false })
    }
    const fn of(stage: u64, access: u64, what: What, fences: Fences) -> Use {
        Use { stage, access, what, contents: Contents::Values, fences }
    }
}

/// What a shader's fences and accesses do for the whole device.
fn fences(program: &Program) -> Fences {
    let any = |of: fn(&Order) -> bool| program.sites.iter().any(|s| s.order.wide && of(&s.order));
    Fences { available: any(|o| o.available), visible: any(|o| o.visible) }
}

pub(crate) fn stage_of(stage: Stage) -> u64 {
    match stage {
        Stage::Vertex => stage::VERTEX,
        Stage::TessControl => stage::CONTROL,
        Stage::TessEval => stage::EVALUATION,
        Stage::Geometry => stage::GEOMETRY,
        Stage::Task => stage::TASK,
        Stage::Mesh => stage::MESH,
        Stage::Fragment => stage::FRAGMENT,
        Stage::Compute => stage::COMPUTE,
        _ => stage::RAYS,
    }
}

impl Tracker {
    /// `None`: the device is not sanitised.
    pub fn new(shared: &Arc<Shared>, queue: usize) -> Option<Box<Tracker>> {
        shared.hazards.as_ref()?;
        let (seen, protected, waited, next, pass) = Default::default();
        let (shared, queue) = (shared.clone(), queue as u32);
        Some(Box::new(Tracker { shared, queue, seen, protected, waited, next, pass }))
    }

    fn hazards(&self) -> &Hazards {
        static NONE: std::sync::LazyLock<Hazards> = std::sync::LazyLock::new(Hazards::default);
        self.shared.hazards.as_deref().unwrap_or(&NONE)
    }

    fn line(&self) -> Line {
        Line::Queue(self.queue)
    }

    fn who(&self, place: &Place, part: String) -> Arc<Who> {
        Arc::new(Who { tag: self.hazards().tag(), place: place.steady(), part })
    }

    /// A submission begins: what it waits for is there. `presents`: it is a presentation, whose waits are not those of later commands.
    pub fn begin(&mut self, seen: Option<Seen>, waits: &[SemaphoreOp], presents: bool) {
        host::works(&self.shared, true);
        self.seen = seen.unwrap_or_default();
        self.waited.clear();
        for w in waits {
            let stages = w.stages.as_raw();
            let mark = w.semaphore.marked(w.value).and_then(Mark::of);
            self.waited.push(mark);
            if presents {
                continue;
            }
            let from = match mark {
                Some(mark) => Line::Signal(mark.tag),
                // The host's signal: of what it has waited for.
                None if w.semaphore.timeline => {
                    let now = self.hazards().seen();
                    self.seen.join(&now);
                    continue;
                }
                // Something that is no queue of this device: all that came before it is taken to be ordered.
                None => {
                    self.all_before(stages);
                    continue;
                }
            };
            let second = Scope::second(stages, access::ALL);
            self.order(Barrier { from, to: self.line(), first: Scope::ALL, second, memory: None });
        }
    }

    /// All that any queue has done is ordered before these stages of this one.
    fn all_before(&self, stages: u64) {
        for queue in 0..16 {
            let second = Scope::second(stages, access::ALL);
            self.order(Barrier {
                from: Line::Queue(queue),
                to: self.line(),
                first: Scope::ALL,
                second,
                memory: None,
            });
        }
    }

    /// A submission is done, and is about to signal.
    pub fn end(&mut self, signals: &[SemaphoreOp], fence: Option<&Arc<Fence>>) {
        host::works(&self.shared, false);
        for s in signals {
            let tag = self.hazards().tag();
            let first = Scope::first(s.stages.as_raw(), access::ALL);
            self.order(Barrier {
                from: self.line(),
                to: Line::Signal(tag),
                first,
                second: Scope::ALL,
                memory: None,
            });
            s.semaphore.mark(s.value, Mark { queue: self.queue, tag }.packed());
        }
        if let Some(f) = fence {
            let tag = self.hazards().tag();
            f.mark.store(Mark { queue: self.queue, tag }.packed(), SeqCst);
        }
    }

    fn order(&self, barrier: Barrier) {
        self.hazards().memory.lock().barrier(barrier);
    }

    /// What orders commands, outside of render passes or inside.
    pub fn sync(&mut self, sync: &Sync, place: &Place) {
        match sync {
            Sync::Pass(p) => self.next = Some(p.clone()),
            Sync::Barrier(d) => match &mut self.pass {
                Some(pass) => pass.barrier(d, place),
                None => self.depend(d, self.line(), self.line(), true, place),
            },
            Sync::Set(event, d) => {
                let tag = self.hazards().tag();
                for m in all_masks(d) {
                    let first = m.scopes()[0];
                    self.order(Barrier {
                        from: self.line(),
                        to: Line::Signal(tag),
                        first,
                        second: Scope { memory: 0, accesses: 0, ..Scope::ALL },
                        memory: None,
                    });
                }
                event.mark.store(Mark { queue: self.queue, tag }.packed(), SeqCst);
            }
            Sync::Wait(events) => {
                for (event, _) in events {
                    let Some(mark) = Mark::of(event.mark.load(SeqCst)) else {
                        // The host has set it.
                        let now = self.hazards().seen();
                        self.seen.join(&now);
                        self.all_before(stage::ALL_COMMANDS);
                        continue;
                    };
                    // The older call has all its barriers with the last event.
                    for (_, d) in events {
                        self.depend(d, Line::Signal(mark.tag), self.line(), events.len() == 1, place);
                    }
                }
            }
        }
    }

    /// The barriers of a dependency. `checked`: transitions must be ordered after earlier accesses by it.
    fn depend(&self, d: &Dependencies, from: Line, to: Line, checked: bool, place: &Place) {
        let who = (!d.images.is_empty()).then(|| self.who(place, String::new()));
        // Transitions come between the scopes of all barriers of the command.
        for m in &d.memory {
            let [first, second] = m.scopes();
            self.order(Barrier { from, to, first, second, memory: None });
        }
        for b in &d.buffers {
            let [first, second] = moved(b.masks.scopes(), b.families[0] != b.families[1]);
            let memory = Some(ranges::buffer(&b.buffer, b.offset, b.size).into());
            self.order(Barrier { from, to, first, second, memory });
        }
        for (i, who) in d.images.iter().zip(who.iter().cycle()) {
            let moves = i.families[0] != i.families[1];
            let [first, second] = moved(i.masks.scopes(), moves);
            let bytes = ranges::subresources(&i.image, &i.range);
            let barrier = Barrier { from, to, first, second, memory: Some(bytes.clone().into()) };
            // Of the two barriers of a move between queues the first one changes the layout.
            let changed = i.layouts[0] != i.layouts[1] && (!moves || self.hazards().releases(key(i)));
            if changed {
                self.transition(who, &barrier, &bytes, i.layouts[0], i.layouts[1], checked);
            }
            self.order(barrier);
        }
    }

    /// The layout of some bytes changes.
    fn transition(
        &self,
        who: &Arc<Who>,
        barrier: &Barrier,
        bytes: &[Range<u64>],
        old: ash::vk::ImageLayout,
        new: ash::vk::ImageLayout,
        checked: bool,
    ) {
        use ash::vk::ImageLayout as Layout;
        let contents = match (old, new) {
            (_, Layout::PRESENT_SRC_KHR | Layout::SHARED_PRESENT_KHR) => Contents::Values,
            (Layout::UNDEFINED, _) => Contents::Forgotten,
            _ => Contents::Kept,
        };
        let by = Access {
            who: who.clone(),
            line: barrier.from,
            stage: stage::TRANSITION,
            access: access::TRANSITION,
            what: What::Write,
            attachment: false,
            contents,
            fences: Fences::default(),
        };
        // What follows is on the barrier's line.
        let by = Access { line: if let Line::Signal(_) = by.line { self.line() } else { by.line }, ..by };
        if contents == Contents::Forgotten {
            self.tell_unread(&by, bytes);
        }
        let t = Transition { by, barrier: barrier.clone() };
        let mut found = vec![];
        let mut memory = self.hazards().memory.lock();
        for r in bytes {
            memory.transition(&t, r.clone(), &self.seen, |range, c| tell::join(&mut found, range, c));
        }
        drop(memory);
        if checked {
            self.tell(&t.by, &found, false);
        }
    }

    fn unfollowed(&self) {
        FOUND.unfollowed.fetch_add(1, Relaxed);
    }

    /// A command accesses some bytes.
    fn touch(&self, new: &Access, bytes: &[Range<u64>]) -> Vec<Told> {
        let mut found = vec![];
        if bytes.len() > MOST_RANGES {
            self.unfollowed();
            return found;
        }
        protection::check(self.hazards(), &*self.shared.report, self.protected, new, bytes);
        self.hazards().host.lock().touched(new, bytes);
        let mut memory = self.hazards().memory.lock();
        for r in bytes {
            memory.access(new, r.clone(), &self.seen, |range, c| tell::join(&mut found, range, c));
        }
        found
    }

    fn tell(&self, new: &Access, found: &[Told], feedback: bool) {
        for t in found {
            tell::conflict(self.hazards(), &*self.shared.report, new, t, feedback);
        }
    }

    /// A command outside of render passes accesses some bytes.
    fn accessed(&self, who: &Arc<Who>, of: Use, bytes: &[Range<u64>]) {
        let new = self.access(who, self.line(), of);
        if of.what == What::Read {
            self.tell_discarded(&new, bytes, false);
        } else if of.contents == Contents::Values
            && of.stage & (stage::COPY | stage::CLEAR | stage::BLIT | stage::RESOLVE) != 0
        {
            self.tell_unread(&new, bytes);
        }
        let found = self.touch(&new, bytes);
        self.tell(&new, &found, false);
    }

    fn access(&self, who: &Arc<Who>, line: Line, of: Use) -> Access {
        let Use { stage, access, what, contents, fences } = of;
        Access { who: who.clone(), line, stage, access, what, attachment: false, contents, fences }
    }

    /// A command is about to be executed.
    pub fn command(&mut self, c: &Command, place: &Place) {
        match c {
            Command::Sync(sync) => self.sync(sync, place),
            Command::DispatchIndirect { buffer, offset, .. } => {
                self.read(place, Use::read(stage::INDIRECT, access::INDIRECT), buffer, *offset, 12)
            }
            Command::BeginConditional { buffer, offset, .. } => {
                self.read(place, Use::read(stage::CONDITIONAL, access::CONDITIONAL), buffer, *offset, 4)
            }
            Command::Structure(c) => self.structure(c, place),
            Command::NextSubpass => self.next_subpass(),
            Command::ClearAttachments { attachments, rects } => self.cleared(attachments, rects),
            _ => self.transfer(c, place),
        }
    }

    /// A dispatch has run.
    pub fn dispatched(&mut self, d: &Dispatch, place: &Place) {
        let who = self.who(place, format!("pipeline {}", d.pipeline.title.steady()));
        for t in in_order(footprint::take()) {
            let of = Use::of(stage::COMPUTE, t.access, t.what, fences(&d.pipeline.program));
            self.accessed(&who, of, &t.bytes);
        }
    }

    /// Words of a buffer say what commands do.
    fn read(&mut self, place: &Place, of: Use, buffer: &Buffer, offset: u64, size: u64) {
        let who = self.who(place, String::new());
        self.accessed(&who, of, &ranges::buffer(buffer, offset, size));
    }

    /// Reads of what a pass did not store are told of. `all`: only if nothing of the bytes is defined; then what nothing has ever written
    /// is told of too.
    fn tell_discarded(&self, new: &Access, bytes: &[Range<u64>], all: bool) {
        let (mut lost, mut by) = (0, None::<Access>);
        let mut first = None;
        let mut memory = self.hazards().memory.lock();
        for r in bytes {
            memory.last(r.clone(), |range, write, _| {
                let gone = match write.map(|w| w.contents) {
                    Some(Contents::Discarded) => write.is_some_and(|w| w.who.tag != new.who.tag),
                    Some(Contents::Forgotten) | None => all,
                    _ => false,
                };
                if gone {
                    lost += range.end - range.start;
                    first.get_or_insert(range.start);
                    by = by.take().or(write.cloned());
                }
            });
        }
        drop(memory);
        let Some(first) = first else { return };
        if all && lost != ranges::count(bytes) {
            return;
        }
        let message = match by.as_ref().map(|b| b.contents) {
            Some(Contents::Discarded) => {
                "reads what a render pass did not store (VK_ATTACHMENT_STORE_OP_DONT_CARE)"
            }
            Some(_) => "reads what a layout transition from VK_IMAGE_LAYOUT_UNDEFINED did not keep",
            None => "reads an image that nothing has written",
        };
        let message = match all {
            true => format!("VK_ATTACHMENT_LOAD_OP_LOAD {message}: {lost} bytes are read for nothing"),
            false => format!("{message}: {lost} bytes"),
        };
        let (resource, ..) = tell::resource(self.hazards(), &*self.shared.report, first);
        tell::tile(sanitize::Kind::DiscardedRead, message, new, by.as_ref(), resource, lost);
    }

    /// What a pass stored is overwritten, and nothing has read it: all of these bytes.
    fn tell_unread(&self, new: &Access, bytes: &[Range<u64>]) {
        let (mut lost, mut by) = (0, None::<Access>);
        let mut memory = self.hazards().memory.lock();
        for r in bytes {
            memory.last(r.clone(), |range, write, read| {
                if let Some(w) =
                    write.filter(|w| w.contents == Contents::Stored && !read && w.who.tag != new.who.tag)
                {
                    lost += range.end - range.start;
                    by.get_or_insert_with(|| w.clone());
                }
            });
        }
        drop(memory);
        let Some(by) = by.filter(|_| lost == ranges::count(bytes)) else { return };
        let message = format!(
            "what VK_ATTACHMENT_STORE_OP_STORE wrote is overwritten, and nothing has read it: {lost} bytes are stored for nothing"
        );
        let first = bytes.first().map_or(0, |r| r.start);
        let (resource, ..) = tell::resource(self.hazards(), &*self.shared.report, first);
        tell::tile(sanitize::Kind::NeedlessTraffic, message, new, Some(&by), resource, lost);
    }
}

/// Reads come before writes: what one command reads and writes is its own matter.
fn in_order(mut all: Vec<footprint::Touched>) -> Vec<footprint::Touched> {
    all.small_sort_by_key(|t| t.what != What::Read);
    all
}

fn all_masks(d: &Dependencies) -> impl Iterator<Item = Masks> {
    d.memory.iter().copied().chain(d.buffers.iter().map(|b| b.masks)).chain(d.images.iter().map(|i| i.masks))
}

/// Scopes of a barrier, or of one of two that move a resource between queues: what the semaphore between them orders.
fn moved([first, second]: [Scope; 2], moves: bool) -> [Scope; 2] {
    match moves {
        true => [Scope::ALL, Scope { execution: stage::ALL, ..second }],
        false => [first, second],
    }
}

/// What both barriers of a move have in common.
fn key(i: &ImageBarrier) -> [u64; 6] {
    let r = &i.range;
    let [old, new] = i.layouts.map(|l| l.as_raw() as u64);
    [
        Arc::as_ptr(&i.image).addr() as u64,
        old << 32 | new,
        (i.families[0] as u64) << 32 | i.families[1] as u64,
        (r.base_mip_level as u64) << 32 | r.level_count as u64,
        (r.base_array_layer as u64) << 32 | r.layer_count as u64,
        r.aspect_mask.as_raw() as u64,
    ]
}

//! Runs recorded commands in order on a queue's thread; shading goes to the device's pool.

mod dispatch;
mod graph;
mod later;
mod structures;
mod trace;
mod transfer;

use crate::channel::{self, Asked, ByPhase, Done, MadeBy, Mark, Publisher, WorkloadKind, listening};
use crate::command::generated::{Generated, Sequence, Wild};
use crate::command::{Binds, Command, CommandList, CounterPlace};
use crate::discarded;
use crate::exclusive::{self, Turn};
use crate::hazards::Tracker;
use crate::pass_time;
use crate::query::{InPass, Queries};
use crate::record;
use crate::stripes::Stripes;
use crate::watch::{Pulse, submission_time};
use ash::vk;
use counters::bound::Spent;
use counters::{Counts, Model};
use machine::count;
use machine::facts::{self, Finder, Uses};
use machine::lost::{Blame, Limits, Place, Told, Why};
use machine::record::Record;
use machine::sanitizer;
use machine::shared::Shared;
use machine::time::{Line, Span};
use machine::turns::Slot;
use raster::draw::Draw;
use raster::geometry::feedback::{Feedback, Target};
use raster::record::MOST_PLANES;
use raster::recorded::PassLine;
use raster::run::PassRun;
use raster::tile::Scratches;
use schedule::{Step, What};
use shader::stage_io::FEEDBACK_BUFFERS;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use texel::memory::sparse::resident;

use later::Later;

pub struct Executor {
    shared: Arc<Shared>,
    scratches: Arc<Scratches>,
    pass: Option<Box<PassRun>>,
    /// Transform feedback, while it is active.
    feedback: Option<Feedback>,
    queries: Queries,
    /// Where this queue's work lies in modelled time.
    pub line: Line,
    pub stripes: Stripes,
    /// The place of the submission under way among those of all queues.
    pub slot: Slot,
    pub publisher: Publisher,
    /// What has been executed, as long as it is not known when it ran.
    later: Later,
    /// Marks in the pass under way, with their epochs.
    marks: Vec<(usize, Mark)>,
    /// Lines that cleaning the L2 has written, before the next workload.
    cleaned: Option<u64>,
    /// Conditional rendering is active, and discards.
    discards: bool,
    /// Transfers that are not told of yet.
    quiet: count::Streams,
    /// The command under way.
    pub place: Place,
    pulse: Arc<Pulse>,
    /// Of a sanitised device.
    pub hazards: Option<Box<Tracker>>,
    /// The model, with the cores only that this queue uses: what its jobs cost.
    cores: &'static Model,
}

impl Executor {
    pub fn new(
        queue: usize,
        shared: Arc<Shared>,
        scratches: Arc<Scratches>,
        publisher: Publisher,
        pulse: Arc<Pulse>,
        cores: u64,
    ) -> Executor {
        Executor {
            queries: Queries::new(shared.clone()),
            hazards: Tracker::new(&shared, queue),
            cores: shared.model.with_cores(cores),
            shared,
            scratches,
            pass: None,
            feedback: None,
            line: Line::default(),
            stripes: Stripes::default(),
            slot: Slot::default(),
            publisher,
            later: Later::default(),
            marks: vec![],
            cleaned: None,
            discards: false,
            quiet: Default::default(),
            place: Place::default(),
            pulse,
        }
    }

    /// Performance queries in what follows measure this pass.
    pub fn performance_pass(&mut self, pass: u32) {
        self.queries.performance_pass = pass;
    }

    /// A primary command buffer begins: what those before it wrote, the host is to see. While a render pass is suspended there
    /// is nothing of it to see yet.
    pub fn clean_l2(&mut self) {
        self.discards = false;
        if self.pass.is_some() {
            return;
        }
        if let Some(mut l2) = self.shared.l2() {
            *self.cleaned.get_or_insert(0) += l2.clean();
        }
    }

    /// Binds memory to sparse resources, as the host of a Mali GPU does: it takes the GPU no time.
    pub fn bind(&mut self, binds: Binds) {
        for b in binds.list {
            let address = b.resource.ptr() as u64 + b.at;
            if !b.resource.bind_part(b.at, b.bytes, b.to) {
                let line = format!(
                    "device fault: vkQueueBindSparse: the system has not mapped {} bytes at {address:#x}; the device is lost",
                    b.bytes
                );
                return self.shared.fault(Told { line, why: Why::Other });
            }
            // Other memory: what the caches have of it is not what is there.
            self.shared.forget_memory(address, b.bytes);
        }
    }

    pub fn run(&mut self, list: &CommandList) {
        self.place.enter(&list.name);
        let mut more = 0;
        for (i, c) in list.commands.iter().enumerate() {
            if self.shared.hub.stops() {
                break;
            }
            // Commands have the numbers that they would have if the device were not sanitised.
            self.place.at(i - more, c.call());
            more += matches!(c, Command::Sync(_)) as usize;
            self.pulse.work();
            self.command(c, &list.draws);
        }
        self.stop();
        self.place.leave();
    }

    /// Ends the device, if work was asked to stop and nobody has ended it yet.
    fn stop(&self) {
        let hub = &self.shared.hub;
        if !hub.stops() || hub.is_lost() {
            return;
        }
        if self.pulse.expired() {
            let limit = self.limits().submission;
            let line = format!(
                "device fault: {}: the submission did not end within {limit:?}; the device is lost",
                self.place
            );
            self.shared.fault(Told { line, why: Why::Watchdog });
        } else {
            // Another queue's work: that queue says so.
            hub.wait(5_000_000_000, || false);
        }
        hub.lose();
    }

    /// `draws`: the list's.
    fn command(&mut self, c: &Command, draws: &Arc<Vec<Draw>>) {
        if self.discards && c.is_conditional() {
            return;
        }
        if c.is_outside() {
            self.leave_suspended();
        }
        if let Some(h) = &mut self.hazards {
            h.command(c, &self.place);
        }
        match c {
            Command::Dispatch { dispatch, groups } => self.dispatch(dispatch, *groups),
            Command::DispatchIndirect { dispatch, buffer, offset } => {
                let (p, n) = buffer.range(*offset, 12);
                if n == 12 {
                    // SAFETY: twelve bytes of the buffer.
                    let groups = unsafe { p.cast::<[u32; 3]>().read_unaligned() };
                    self.dispatch(dispatch, groups);
                }
            }
            Command::Graph(g) => self.graph(g),
            Command::Generated(g) => self.generated(g),
            Command::Wild { address, call } => self.blame(Blame::of(wave::Fault::Address(*address), call)),
            Command::BeginRendering(r) => {
                if self.pass.as_mut().is_some_and(|p| p.resume(r)) {
                    return;
                }
                // One that was never ended ends now: its queries' counts are of its own epochs.
                self.end_pass();
                self.stripes.begin(r);
                let captured = facts::wanted().then(|| self.finder());
                let observed = self.shared.observed.counts();
                let alone = r.resuming.then(|| Arc::new(r.without_first_part()));
                let rendering = alone.as_ref().unwrap_or(r);
                discarded::pass_begins(&*self.shared.report, rendering, &self.place);
                self.pass = Some(Box::new(PassRun::new(
                    rendering,
                    &self.line,
                    self.place.labels(),
                    &self.scratches,
                    captured,
                    observed,
                    self.recording(),
                )));
                if let Some(h) = &mut self.hazards {
                    h.pass_begins(rendering, &self.place);
                }
            }
            Command::NextSubpass => self.in_pass(|p, shared, _| p.next_subpass(shared)),
            Command::Draw(n, _) => self.draw(draws, *n as usize),
            Command::BeginFeedback { targets, counters } => self.begin_feedback(targets, counters),
            Command::EndFeedback { counters } => self.end_feedback(counters),
            Command::ClearAttachments { attachments, rects } => self.in_pass(|p, _, place| {
                p.clear(attachments, rects, place);
                Ok(())
            }),
            Command::EndRendering => {
                if !self.pass.as_mut().is_some_and(|p| p.suspend()) {
                    self.end_pass();
                }
            }
            Command::CopyBuffer { .. }
            | Command::UpdateBuffer { .. }
            | Command::FillBuffer { .. }
            | Command::CopyImage { .. }
            | Command::CopyBufferToImage { .. }
            | Command::CopyImageToBuffer { .. }
            | Command::BlitImage { .. }
            | Command::ResolveImage { .. }
            | Command::ClearColorImage { .. }
            | Command::ClearDepthStencilImage { .. }
            | Command::ConvertMatrix { .. }
            | Command::CopyMemoryIndirect { .. }
            | Command::CopyMemoryToImageIndirect { .. } => self.transfer(c),
            Command::Trace(t) => self.trace(t),
            Command::Structure(c) => self.structure(c),
            // Commands run one after the other: every dependency within the queue is met already, but in modelled time.
            Command::Sync(_) => {}
            Command::Barrier(d) => {
                if let Some(p) = &mut self.pass {
                    p.barrier();
                } else {
                    let (src, dst) = (d.src_stages, d.dst_stages);
                    if self.timed() {
                        let (src, dst) = (src.as_raw(), dst.as_raw());
                        self.publisher.asks(|| Asked::Step(Step::Barrier(src, dst)));
                        self.ahead().barrier(d.src_stages, d.dst_stages);
                    }
                    self.then(move |e, _| e.line.barrier(src, dst));
                }
            }
            Command::Undefine { image, range } => discarded::transition(image, range),
            Command::SetEvent { event, stages } => {
                self.settle();
                self.publisher.asks(|| Asked::Step(Step::Done(stages.as_raw())));
                event.time.store(self.line.done(*stages), SeqCst);
                self.shared.hub.change(|| event.set.store(true, SeqCst));
            }
            Command::ResetEvent { event, .. } => self.shared.hub.change(|| event.set.store(false, SeqCst)),
            Command::WaitEvents { events, dependency } => {
                self.settle();
                self.publisher.asks(|| Asked::Step(Step::Ended));
                self.shared.clock.reached(self.line.latest());
                self.pulse.rest();
                let Shared { hub, turns, .. } = &*self.shared;
                turns.part(hub, &mut self.slot);
                turns.wait(hub, || events.iter().all(|e| e.set.load(SeqCst)));
                for e in events {
                    let (t, stages) = (e.time.load(SeqCst), dependency.dst_stages);
                    self.publisher.asks(|| Asked::Step(Step::Wait(t, stages.as_raw())));
                    self.line.wait(t, stages);
                }
            }
            Command::BeginQuery { .. } | Command::EndQuery { .. } if !self.quiet.is_none() => {
                self.tell_quiet();
                self.command(c, draws);
            }
            Command::WriteTimestamp { pool, query, stages } => {
                let (at, pool, query, stages) = (self.in_pass_now(), pool.clone(), *query, *stages);
                self.then(move |e, _| e.queries.stamp(at, &mut e.line, pool, query, stages));
            }
            Command::BeginQuery { pool, query, index, .. } => {
                let pass = [self.queries.performance_pass, *index];
                let (at, pool, query) = (self.in_pass_now(), pool.clone(), *query);
                self.queries.opens(&pool, query);
                self.then(move |e, _| e.queries.begin(at, pool, query, pass));
            }
            Command::EndQuery { pool, query } => {
                let (at, pool, query) = (self.in_pass_now(), pool.clone(), *query);
                self.queries.closes(&pool, query);
                self.then(move |e, _| e.queries.end(at, &pool, query));
            }
            Command::ResetQueryPool { pool, first, count } => {
                let (pool, first, count) = (pool.clone(), *first, *count);
                self.then(move |e, _| e.shared.hub.change(|| pool.reset(first, count)));
            }
            Command::CopyQueryResults { pool, first, count, dst, offset, stride, flags } => {
                self.settle();
                let (p, n) = dst.range(*offset, vk::WHOLE_SIZE);
                let last = (*count as u64).checked_sub(1).and_then(|i| i.checked_mul(*stride));
                let end = last.and_then(|at| at.checked_add(pool.result_size(*flags)));
                if end.is_some_and(|end| end <= n) {
                    // SAFETY: the last query's words end in the buffer.
                    unsafe { pool.write(*first, *count, p, *stride, *flags) };
                }
            }
            Command::Execute(lists) => lists.iter().for_each(|l| self.run(l)),
            Command::BeginConditional { buffer, offset, inverted } => {
                let (p, n) = buffer.range(*offset, 4);
                // SAFETY: four bytes of the buffer. What lies outside reads as 0.
                let predicate = if n == 4 { unsafe { p.cast::<u32>().read_unaligned() } } else { 0 };
                self.discards = (predicate == 0) != *inverted;
            }
            Command::EndConditional => self.discards = false,
            Command::BeginLabel(name) => self.place.begin_label(name),
            Command::EndLabel => self.place.end_label(),
            Command::Mark(name) => {
                // While nobody listens no epoch is begun for it: epochs cost memory, a tile pass some time.
                self.tell_quiet();
                let Some(mark) = self.publisher.mark(self.place.labels(), name) else { return };
                match &mut self.pass {
                    Some(p) => self.marks.push((p.epochs.advance(), mark)),
                    None => self.then(|e, _| {
                        e.publisher.publish_mark(mark, *e.queries.total(), e.line.latest());
                    }),
                }
            }
        }
    }

    /// Only state may change between the parts of a render pass: what does more finds the pass as if it had ended.
    fn leave_suspended(&mut self) {
        if self.pass.as_ref().is_some_and(|p| p.is_suspended()) {
            self.end_pass();
        }
    }

    fn draw(&mut self, draws: &Arc<Vec<Draw>>, n: usize) {
        // A shader that reads the clock must find when the pass may begin.
        if let Some(d) = draws.get(n).filter(|_| self.is_waiting())
            && self.later.reads_clock(&d.pipeline)
        {
            self.settle();
            self.pass.iter_mut().for_each(|p| p.begins(&self.line));
        }
        let counted = self.queries.need_all();
        let mut feedback = self.feedback.take();
        self.in_pass(|p, shared, place| p.draw(shared, draws, n, place, counted, feedback.as_mut()));
        self.feedback = feedback;
        if let (Some(h), Some(d)) = (&mut self.hazards, draws.get(n)) {
            h.drew(d, &self.place);
        }
    }

    /// Each sequence is worked on before the next is read.
    fn generated(&mut self, g: &Generated) {
        let wild = |w: Wild| Blame::of(wave::Fault::Address(w.0), "vkCmdExecuteGeneratedCommandsEXT");
        let sequences = match g.sequences(&self.shared.memory) {
            Ok(n) => n,
            Err(w) => return self.blame(wild(w)),
        };
        for number in 0..sequences {
            if self.shared.hub.stops() {
                return;
            }
            match g.sequence(&self.shared.memory, number) {
                Ok(Some(Sequence::Draw(d))) => self.draw(&Arc::new(vec![*d]), 0),
                Ok(Some(Sequence::Dispatch(d, groups))) => {
                    self.leave_suspended();
                    self.dispatch(&d, groups);
                }
                Ok(None) => {}
                Err(w) => return self.blame(wild(w)),
            }
        }
    }

    fn begin_feedback(
        &mut self,
        targets: &[Option<Target>; FEEDBACK_BUFFERS],
        counters: &[Option<CounterPlace>; FEEDBACK_BUFFERS],
    ) {
        let mut feedback = Feedback::to(targets.clone());
        for (t, c) in feedback.targets.iter_mut().zip(counters) {
            let (Some(t), Some(c)) = (t, c) else { continue };
            let (p, room) = c.buffer.range(c.offset, 4);
            if room == 4 {
                // SAFETY: four bytes of the buffer.
                t.written = unsafe { p.cast::<u32>().read_unaligned() } as u64;
            }
        }
        self.feedback = Some(feedback);
    }

    fn end_feedback(&mut self, counters: &[Option<CounterPlace>; FEEDBACK_BUFFERS]) {
        let Some(feedback) = self.feedback.take() else { return };
        for (t, c) in feedback.targets.iter().zip(counters) {
            let Some(c) = c else { continue };
            let (p, room) = c.buffer.range(c.offset, 4);
            if room == 4 && resident(p) {
                let written = t.as_ref().map_or(0, |t| t.written) as u32;
                // SAFETY: four bytes of the buffer.
                unsafe { p.cast::<u32>().write_unaligned(written) };
            }
        }
    }

    /// Ends a render pass that is under way, or suspended with nothing left to resume it.
    pub fn end_pass(&mut self) {
        if let Some(mut p) = self.pass.take() {
            self.tell_quiet();
            let _turn = self.turn(Some(&mut p));
            let (name, views, rendering) = (p.name(), p.all_views(), p.rendering().clone());
            let made_by = MadeBy::of(p.pipelines());
            let alone = p.by_region();
            let labels = std::mem::take(&mut p.labels);
            let mut executed = self.publisher.executed(&labels, || (name.clone(), made_by));
            executed.uses = p.uses();
            let (result, mut ended) = p.end(&self.shared);
            channel::traced(&executed, &self.shared.rays_begun.take());
            if let Some(to) = self.recording() {
                self.record_pass(to, ended.recorded.take(), executed.order(), &labels.joined(), &name);
            }
            if let Some(h) = &mut self.hazards {
                h.pass_ended(&name, &self.place);
            }
            discarded::pass_ended(&rendering, &name, &self.place);
            if let Some(lines) = self.cleaned.take() {
                let mut c = Counts::default();
                count::cleaned(&mut c, lines, self.shared.model);
                ended.epochs.add_at(0, &c);
            }
            let jobs = self.timed().then(|| pass_time::Jobs::new(&mut ended, self.cores));
            if let Some(jobs) = &jobs {
                self.publisher.asks(|| {
                    let both = [&jobs.binning, &jobs.main];
                    let work = Box::new(ended.drawn.work(&jobs.all, both, self.shared.model));
                    Asked::Job { what: What::Pass, work, order: executed.order() }
                });
                self.ahead().pass([&jobs.binning, &jobs.main]);
            }
            let (marks, whole) = (std::mem::take(&mut self.marks), result.is_ok());
            let stripes = !self.stripes.is_empty();
            self.then(move |e, known| {
                let (line, epochs) = (&mut e.line, &mut ended.epochs);
                let times = match jobs {
                    Some(jobs) => pass_time::run(line, known, jobs, epochs, listening(), e.shared.model),
                    None => pass_time::unseen(line, epochs),
                };
                let sums = ended.epochs.sums();
                for (epoch, mark) in marks {
                    let [_, main] = times.at(epoch);
                    e.publisher.publish_mark(mark, e.queries.at(&sums, epoch), main);
                }
                e.queries.pass_ended(&sums, &times, &mut e.line);
                if alone {
                    exclusive::ended(times.spans[1].end);
                }
                let (kind, phases, counts) = (WorkloadKind::RenderPass, Some(times.spans), sums.all());
                let counts = &counts;
                let (span, spent) = (Span::default(), times.spent);
                let done = Done { kind, views, span, phases, spent, counts, seen: ended.seen };
                e.publisher.publish(executed, done);
                if whole {
                    e.stripes.end(&e.shared.hub, times.spans[1]);
                }
            });
            // Others wait for when it has ended.
            if alone || stripes {
                self.settle();
            }
            if let Err(b) = result {
                self.blame(b);
            }
        }
    }

    /// Where what is executed now is recorded, if it is.
    fn recording(&self) -> Option<&'static Arc<Record>> {
        if !record::wanted() {
            return None;
        }
        let (_, frame, submission) = self.publisher.at();
        record::of(frame.unwrap_or(submission))
    }

    /// The line of a pass that has ended; `None`: it was not recorded.
    #[cold]
    fn record_pass(&self, to: &Record, line: Option<Box<PassLine>>, order: u64, label: &str, name: &str) {
        match line {
            Some(line) => record::pass(to, self.told("render pass", order, label, name), &line),
            None => {
                let why = format!(
                    "it has more than {MOST_PLANES} planes of attachments, or began before the frame"
                );
                let of = self.told("render pass that is not recorded", order, label, name);
                record::command(to, of, vec![("not recorded", why)]);
            }
        }
    }

    /// A command of a record.
    fn told<'a>(&self, kind: &'static str, order: u64, label: &'a str, name: &'a str) -> record::Of<'a> {
        let ([device, queue], frame, submission) = self.publisher.at();
        record::Of { kind, device, queue, frame, submission, order, label, name }
    }

    /// Where the pass under way is, if there is one.
    fn in_pass_now(&mut self) -> Option<InPass> {
        self.pass.as_deref_mut().map(InPass::of)
    }

    fn in_pass(&mut self, f: impl FnOnce(&mut PassRun, &Shared, &Place) -> Result<(), Blame>) {
        let Some(mut p) = self.pass.take() else { return };
        let turn = self.turn(Some(&mut p));
        let r = f(&mut p, &self.shared, &self.place);
        drop(turn);
        self.pass = Some(p);
        if let Err(b) = r {
            self.blame(b);
        }
    }

    /// Waits until this device may work: alone, where the pass under way counts by region.
    fn turn(&mut self, pass: Option<&mut PassRun>) -> Turn {
        let Some(p) = pass.filter(|p| p.by_region()) else { return exclusive::shared() };
        self.settle();
        let (turn, from) = exclusive::alone();
        self.publisher.asks(|| Asked::Step(Step::Floor(from)));
        self.line.floor(from);
        p.begins(&self.line);
        turn
    }

    /// Reports a fault, which loses the device.
    fn blame(&self, blame: Blame) {
        // Stopped for what another queue does, it is no fault of this one's.
        if !blame.is_stopped() || self.pulse.expired() {
            sanitizer::stopped(&blame, &self.place);
            self.shared.fault(blame.told(&self.place, self.limits()));
        }
    }

    fn finder(&self) -> Finder<'_> {
        Finder { report: &*self.shared.report, arena: self.shared.arena().start }
    }

    /// What a workload reads and writes, for a capture.
    fn uses(&self, find: impl FnOnce(Finder, &mut Uses)) -> Option<Box<Uses>> {
        facts::wanted().then(|| {
            let mut uses = Uses::default();
            find(self.finder(), &mut uses);
            Box::new(uses)
        })
    }

    fn limits(&self) -> Limits {
        let wave = self.shared.watchdog;
        Limits { wave, submission: submission_time(wave) }
    }
}

/// A workload outside render passes has run.
fn done(kind: WorkloadKind, span: Span, counts: &Counts, spent: ByPhase<Spent>) -> Done<'_> {
    Done { kind, views: 1, span, phases: None, spent, counts, seen: None }
}

//! A queue: what is put into each batch, the batches that have not been read, and reading them.

use crate::arena::{Arena, Region};
use crate::device::{Device, Source};
use crate::line::{Line, Operation};
use crate::recorded::{LastUse, Recorded, WORD};
use crate::recording::memory_barrier;
use crate::table::next;
use ash::vk;
use std::collections::VecDeque;
use std::sync::Arc;
use vk::{AccessFlags as Access, PipelineStageFlags as Stages};

/// A batch as the program submits it.
#[derive(Default)]
pub(crate) struct App {
    pub buffers: Vec<vk::CommandBuffer>,
    pub waits: Vec<Operation>,
    pub signals: Vec<Operation>,
    pub frame: Option<u64>,
}

/// What is changed of a batch.
#[derive(Default, Debug)]
pub(crate) struct Change {
    /// All its command buffers, with their places among the program's; `None`: one of the layer's.
    pub buffers: Option<Vec<(vk::CommandBuffer, Option<usize>)>>,
    /// Operations that are added.
    pub waits: Vec<Operation>,
    pub signals: Vec<Operation>,
}

/// An execution of a command buffer in a batch.
pub(crate) struct Entry {
    pub recorded: Arc<Recorded>,
    /// Results of its queries, once they are there; none where it has none.
    pub region: Option<Region>,
    /// Labels around it.
    pub outer: Vec<Arc<str>>,
    pub name: Option<Arc<str>>,
    /// Why it could not be read.
    pub lost: Option<&'static str>,
}

pub(crate) struct Batch {
    /// Among the device's, from 0.
    pub order: u64,
    /// Among the queue's, from 0, as the driver counts them.
    pub number: u64,
    pub frame: Option<u64>,
    /// Why it ran beside others although one at a time was asked for.
    pub beside: Option<&'static str>,
    pub entries: Vec<Entry>,
    /// Command buffers with queries that the host reads and resets when this has ended, chosen or not.
    by_host: Vec<Arc<Recorded>>,
    injected: Vec<vk::CommandBuffer>,
    /// What it signals when it has ended.
    end: Option<Operation>,
    /// What it signals of the program's, if it stands outside of the line.
    signals: Vec<Operation>,
}

pub(crate) struct Queue {
    pub handle: vk::Queue,
    /// Among the device's, from 0.
    pub number: u32,
    family: u32,
    labels: Vec<Arc<str>>,
    /// A label that was inserted: the next command buffer's.
    inserted: Option<Arc<str>>,
    /// Where its command buffers come from, once there are some.
    pool: vk::CommandPool,
    free: Vec<vk::CommandBuffer>,
    results: Arena,
    batches: VecDeque<Batch>,
    /// Batches so far.
    submitted: u64,
    /// What batches outside of the line signal, where their end must be known.
    lane: Option<Operation>,
    /// The batch outside of the line that what follows must not overtake.
    blocked: Option<u64>,
}

/// Of one call: what is changed of each batch, and the batches as they are if the call succeeds.
#[derive(Default)]
pub(crate) struct Plan {
    pub changes: Vec<Change>,
    batches: Vec<Batch>,
}

/// Nanoseconds that are more than a driver takes to tell of what has ended.
const SOON: u64 = 1_000_000_000;

const AHEAD: &str = "not serialised: it waits for what was not submitted yet";
const BEHIND: &str = "not serialised: it is behind a batch that waits for what was not submitted yet";

impl Queue {
    pub fn new(handle: vk::Queue, number: u32, family: u32) -> Queue {
        Queue {
            handle,
            number,
            family,
            labels: vec![],
            inserted: None,
            pool: vk::CommandPool::null(),
            free: vec![],
            results: Arena::default(),
            batches: VecDeque::new(),
            submitted: 0,
            lane: None,
            blocked: None,
        }
    }

    pub fn begin_label(&mut self, name: Arc<str>) {
        self.labels.push(name);
    }

    pub fn end_label(&mut self) {
        self.labels.pop();
    }

    pub fn insert_label(&mut self, name: Arc<str>) {
        self.inserted = Some(name);
    }

    /// A batch of the layer's own goes to the driver.
    pub fn count_one(&mut self) {
        self.submitted += 1;
    }

    /// What is done to the next batch.
    pub unsafe fn plan(&mut self, d: &Device, line: Option<&mut Line>, app: App, plan: &mut Plan) {
        // SAFETY: the caller's.
        unsafe {
            let mut change = Change::default();
            let recorded: Vec<_> = app.buffers.iter().map(|b| d.recorded(*b)).collect();
            let order = d.next_order();
            let mut batch = Batch {
                order,
                number: self.submitted,
                frame: app.frame,
                beside: None,
                entries: vec![],
                by_host: vec![],
                injected: vec![],
                end: None,
                signals: vec![],
            };
            self.submitted += 1;
            let chosen = d.settings.frames.has(app.frame);
            let counting =
                |by_device| recorded.iter().flatten().filter(move |r| r.counts(by_device)).cloned();
            batch.by_host = counting(false).collect();
            let copied: Vec<_> = counting(true).collect();
            let read = !batch.by_host.is_empty()
                || !copied.is_empty()
                || chosen && recorded.iter().flatten().any(|r| !r.items.is_empty());
            self.place(d, line, &app, &recorded, read, &mut change, &mut batch);
            let mut list = vec![];
            // Chosen or not: what was not reset must not be begun again.
            list.extend(self.resets(d, &copied, &mut batch).map(|c| (c, None)));
            let mut begun: Vec<Arc<Recorded>> = vec![];
            // Executions that have run by this place, but are not copied.
            let mut waiting = 0;
            for (i, (handle, r)) in app.buffers.iter().zip(recorded).enumerate() {
                let outer: Vec<_> = self.labels.iter().cloned().chain(self.inserted.take()).collect();
                if let Some(r) = r {
                    self.labels = r.labels.within(&self.labels);
                    if chosen && !r.items.is_empty() {
                        let shared = |e: &Entry| r.all().any(|a| e.recorded.all().any(|b| Arc::ptr_eq(a, b)));
                        if batch.entries[waiting..].iter().any(shared) {
                            // What it measured is about to be overwritten.
                            if batch.entries.last().is_some_and(|e| e.recorded.ends_suspended) {
                                let overwritten = "submitted again inside of a suspended pass";
                                batch.entries[waiting..].iter_mut().for_each(|e| e.lost = Some(overwritten));
                            } else {
                                list.extend(self.copies(d, &mut batch, waiting).map(|c| (c, None)));
                            }
                            waiting = batch.entries.len();
                        }
                        let (name, recorded) = (d.names.get(*handle), r.clone());
                        batch.entries.push(Entry { recorded, region: None, outer, name, lost: None });
                    }
                    if r.counts(true) {
                        if begun.iter().any(|b| Arc::ptr_eq(b, &r)) {
                            list.extend(
                                self.resets(d, std::slice::from_ref(&r), &mut batch).map(|c| (c, None)),
                            );
                        }
                        begun.push(r);
                    }
                }
                list.push((*handle, Some(i)));
            }
            list.extend(self.copies(d, &mut batch, waiting).map(|c| (c, None)));
            change.buffers = (list.len() > app.buffers.len()).then_some(list);
            plan.changes.push(change);
            plan.batches.push(batch);
        }
    }

    /// Its place in the line, or beside it. `read`: something of it will be read, so its end must be told.
    unsafe fn place(
        &mut self,
        d: &Device,
        line: Option<&mut Line>,
        app: &App,
        recorded: &[Option<Arc<Recorded>>],
        read: bool,
        change: &mut Change,
        batch: &mut Batch,
    ) {
        // SAFETY: the caller's.
        unsafe {
            let mut signal = None;
            if let Some(line) = line {
                if self.blocked.is_some() {
                    batch.beside = Some(BEHIND);
                } else if !line.will_end(&app.waits) {
                    batch.beside = Some(AHEAD);
                    self.blocked = Some(batch.order);
                }
                match batch.beside {
                    None => {
                        let (wait, signals) = line.next();
                        line.signals(&app.signals);
                        change.waits.extend(wait);
                        signal = Some(signals);
                    }
                    Some(_) => batch.signals.clone_from(&app.signals),
                }
            }
            let mut many =
                recorded.iter().flatten().filter(|r| r.simultaneous).flat_map(|r| r.all()).peekable();
            if signal.is_none() && (read || batch.beside.is_some() || many.peek().is_some()) {
                signal = self.lane_signal(d);
            }
            // The same command buffer at the same time on two queues would write the same queries: the second waits.
            for r in many {
                let mut last = r.last_use.lock();
                if let Some(l) = last.filter(|l| l.queue != self.handle && !change.waits.contains(&l.signal))
                {
                    change.waits.push(l.signal);
                    d.held.call_once(|| {
                    crate::say(
                        "a command buffer is pending on two queues at once: the second waits for the first",
                    );
                });
                }
                *last = signal.map(|signal| LastUse { queue: self.handle, signal });
            }
            batch.end = signal;
            change.signals.extend(signal);
        }
    }

    unsafe fn lane_signal(&mut self, d: &Device) -> Option<Operation> {
        // SAFETY: the caller's.
        unsafe {
            if self.lane.is_none() {
                self.lane = d.timeline().ok().map(|s| (s, 0));
            }
            let (semaphore, value) = self.lane.as_mut()?;
            *value += 1;
            Some((*semaphore, *value))
        }
    }

    /// Records a command buffer that resets what is copied of these; `None` where there are none. Where that
    /// fails there is no memory, and what they count is of no meaning.
    unsafe fn resets(
        &mut self,
        d: &Device,
        all: &[Arc<Recorded>],
        batch: &mut Batch,
    ) -> Option<vk::CommandBuffer> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            if all.is_empty() {
                return None;
            }
            let commands = self.record(d, |_, commands| {
                all.iter().for_each(|r| r.reset_by_device(d, commands));
                Ok(())
            });
            batch.injected.extend(&commands);
            commands.ok()
        }
    }

    /// Records a command buffer that copies the results of entries from `first` on; `None` where there are none, or
    /// where that fails, which the entries say then.
    unsafe fn copies(&mut self, d: &Device, batch: &mut Batch, first: usize) -> Option<vk::CommandBuffer> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let entries = &mut batch.entries[first..];
            if entries.iter().all(|e| e.recorded.total() == 0 || e.lost.is_some()) {
                return None;
            }
            match self.try_copies(d, entries) {
                Ok(commands) => {
                    batch.injected.push(commands);
                    Some(commands)
                }
                Err(_) => {
                    for e in entries {
                        e.region.take().iter().for_each(|r| self.results.give_back(r));
                        e.lost = Some("no memory for its results");
                    }
                    None
                }
            }
        }
    }

    unsafe fn try_copies(
        &mut self,
        d: &Device,
        entries: &mut [Entry],
    ) -> Result<vk::CommandBuffer, vk::Result> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            self.record(d, |queue, commands| {
                if entries.iter().any(|e| e.recorded.has_aside()) {
                    let access = [Access::TRANSFER_WRITE, Access::TRANSFER_READ];
                    memory_barrier(d, commands, [Stages::TRANSFER, Stages::TRANSFER], access);
                }
                for e in entries.iter_mut().filter(|e| e.lost.is_none() && e.recorded.total() > 0) {
                    let region = queue.results.take(d, u64::from(e.recorded.total()) * WORD)?;
                    e.region = Some(region);
                    e.recorded.copy_all(d, commands, region.buffer, region.offset);
                }
                let access = [Access::TRANSFER_WRITE, Access::HOST_READ];
                memory_barrier(d, commands, [Stages::TRANSFER, Stages::HOST], access);
                Ok(())
            })
        }
    }

    /// A command buffer of the layer's own with what `f` records.
    unsafe fn record(
        &mut self,
        d: &Device,
        f: impl FnOnce(&mut Queue, vk::CommandBuffer) -> Result<(), vk::Result>,
    ) -> Result<vk::CommandBuffer, vk::Result> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            let commands = self.commands(d)?;
            let missing = vk::Result::ERROR_INITIALIZATION_FAILED;
            let once = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
            let info = vk::CommandBufferBeginInfo::default().flags(once);
            let recorded = (next!(d, begin_command_buffer(commands, &info), else missing).result())
                .and_then(|()| f(self, commands))
                .and_then(|()| next!(d, end_command_buffer(commands), else missing).result());
            recorded.map(|()| commands).inspect_err(|_| self.free.push(commands))
        }
    }

    unsafe fn commands(&mut self, d: &Device) -> Result<vk::CommandBuffer, vk::Result> {
        // SAFETY: valid usage: nobody destroys the objects meanwhile.
        unsafe {
            if let Some(c) = self.free.pop() {
                return Ok(c);
            }
            let missing = vk::Result::ERROR_INITIALIZATION_FAILED;
            if self.pool == vk::CommandPool::null() {
                let info = vk::CommandPoolCreateInfo::default()
                    .queue_family_index(self.family)
                    .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
                next!(d, create_command_pool(d.handle, &info, std::ptr::null(), &mut self.pool), else missing)
                .result()?;
            }
            let info =
                vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
            let mut c = vk::CommandBuffer::null();
            next!(d, allocate_command_buffers(d.handle, &info, &mut c), else missing).result()?;
            d.adopt(c);
            Ok(c)
        }
    }

    /// The call has succeeded.
    pub fn commit(&mut self, plan: Plan) {
        let is_over = |b: &Batch| {
            b.entries.is_empty() && b.beside.is_none() && b.injected.is_empty() && b.by_host.is_empty()
        };
        self.batches.extend(plan.batches.into_iter().filter(|b| !is_over(b)));
    }

    /// The call has failed: nothing of it was submitted.
    pub fn cancel(&mut self, plan: Plan) {
        self.submitted -= plan.changes.len() as u64;
        for b in plan.batches {
            if self.blocked == Some(b.order) {
                self.blocked = None;
            }
            // What a semaphore of the lane would have signalled, nobody must wait for.
            for r in b.entries.iter().flat_map(|e| e.recorded.all()) {
                *r.last_use.lock() = None;
            }
            self.recycle(b);
        }
    }

    fn recycle(&mut self, b: Batch) {
        self.free.extend(b.injected);
        b.entries.iter().filter_map(|e| e.region.as_ref()).for_each(|r| self.results.give_back(r));
    }

    /// What the semaphores are at that tell when batches have ended.
    fn reached(&self, d: &Device) -> Vec<Operation> {
        let mut all: Vec<Operation> = vec![];
        for (s, _) in self.batches.iter().filter_map(|b| b.end) {
            if !all.iter().any(|a| a.0 == s) {
                let mut value = 0;
                // SAFETY: a live semaphore of the layer's own. Of a lost device's, nothing is known.
                let result = unsafe {
                    let missing = vk::Result::ERROR_INITIALIZATION_FAILED;
                    next!(d, get_semaphore_counter_value(d.handle, s, &mut value), else missing)
                };
                all.push((s, if result == vk::Result::SUCCESS { value } else { 0 }));
            }
        }
        all
    }

    /// Reads what has ended. `idle`: all has.
    pub fn collect(&mut self, d: &Device, idle: bool) {
        // No wait, and no fence: what the host waits for is an event of its own in Tuff's modelled time.
        let reached = self.reached(d);
        while self.batches.front().is_some_and(|b| idle || b.ended(&reached)) {
            let Some(b) = self.batches.pop_front() else { break };
            if self.blocked == Some(b.order) {
                self.blocked = None;
            }
            if let (Some(line), false) = (&d.line, b.signals.is_empty()) {
                line.lock().signals(&b.signals);
            }
            crate::rows::write(d, (self.number, self.handle), &b);
            // SAFETY: what begins these queries has ended.
            b.by_host.iter().for_each(|r| unsafe { r.reset_by_host(d) });
            self.recycle(b);
        }
        if idle {
            self.blocked = None;
        }
        if let (Source::Channel(counters), true) = (&d.source, self.batches.is_empty()) {
            counters.lock().forget(self.handle, self.submitted);
        }
    }

    /// A command buffer is not pending (the program says so), so that its batches have ended: what the host has to read of
    /// them is read.
    pub unsafe fn settle(&mut self, d: &Device, r: &Arc<Recorded>) {
        // SAFETY: the caller's.
        unsafe {
            if !r.counts(false) {
                return;
            }
            let holds = |b: &Batch| b.by_host.iter().any(|h| Arc::ptr_eq(h, r));
            while let Some(end) = self.batches.iter().find(|b| holds(b)).and_then(|b| b.end) {
                self.collect(d, false);
                if !self.batches.iter().any(holds) {
                    return;
                }
                // The driver has not told yet.
                let (semaphores, values) = ([end.0], [end.1]);
                let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
                let missing = vk::Result::ERROR_INITIALIZATION_FAILED;
                if next!(d, wait_semaphores(d.handle, &info, SOON), else missing) != vk::Result::SUCCESS {
                    return;
                }
            }
        }
    }

    /// The device is lost: what ran is read, the rest is listed.
    pub fn lose(&mut self, d: &Device) {
        let reached = self.reached(d);
        for mut b in std::mem::take(&mut self.batches) {
            if !b.ended(&reached) {
                b.entries.iter_mut().for_each(|e| e.lost = Some("the device was lost"));
            }
            crate::rows::write(d, (self.number, self.handle), &b);
            self.recycle(b);
        }
    }

    pub unsafe fn destroy(&mut self, d: &Device) {
        // SAFETY: the caller's.
        unsafe {
            if self.pool != vk::CommandPool::null() {
                next!(d, destroy_command_pool(d.handle, self.pool, std::ptr::null()));
            }
            if let Some((semaphore, _)) = self.lane {
                next!(d, destroy_semaphore(d.handle, semaphore, std::ptr::null()));
            }
            self.results.destroy(d);
        }
    }
}

impl Batch {
    fn ended(&self, reached: &[Operation]) -> bool {
        self.end.is_some_and(|(s, value)| reached.iter().any(|r| r.0 == s && r.1 >= value))
    }
}

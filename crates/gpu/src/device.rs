//! The device: its queues and their threads.

use crate::channel;
use crate::channel::Asked;
use crate::command::Submission;
use crate::executor::Executor;
use crate::hazards;
use crate::steps::steps;
use crate::watch::{Pulse, Watch};
use machine::Mode;
use machine::lookout::Lookout;
use machine::lost::{Told, Why};
use machine::payload::Payload;
use machine::shared::{Report, Shared};
use machine::sync::Hub;
use machine::threads::Thread;
use machine::watched::Watched;
use raster::tile::Scratches;
use schedule::Step;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;

/// How long the end of a device waits for its work, in ns. There should be none (VUID-vkDestroyDevice-device-05137).
const PATIENCE: u64 = 2_000_000_000;

pub struct Device {
    pub shared: Arc<Shared>,
    /// In order of creation, among all of the process.
    pub number: u32,
    queues: Vec<Queue>,
    watch: Arc<Watch>,
    /// What it shares with others.
    watched: Watched,
}

/// A queue: submissions in order, executed by a thread of its own. The thread starts with the first submission.
pub struct Queue {
    inner: Arc<Inner>,
    /// What it is to do comes through the sender; it ends when that is dropped.
    thread: parking_lot::Mutex<Option<(Sender<Submission>, Thread)>>,
}

struct Inner {
    /// Among the device's.
    index: usize,
    shared: Arc<Shared>,
    scratches: Arc<Scratches>,
    watch: Arc<Watch>,
    /// Submissions made and finished: idle when equal.
    submitted: AtomicU64,
    finished: AtomicU64,
    /// Modelled end of what has finished.
    latest: AtomicU64,
    /// For the next submission.
    next: Lookout,
    /// For the thread, once it starts.
    publisher: parking_lot::Mutex<Option<channel::Publisher>>,
    /// Modelled cores that it uses; 0: all.
    cores: u64,
}

impl Device {
    /// `queues`: modelled cores that each uses, 0 for all; `presents`: the application may present with it; `observed`: it is counted from
    /// the start.
    pub fn new(
        queues: &[u64],
        presents: bool,
        observed: bool,
        report: Arc<dyn Report>,
    ) -> Result<Device, ash::vk::Result> {
        let shared = Arc::new(Shared::new(report, observed)?);
        let (scratches, watch) = (Arc::new(Scratches::default()), Arc::new(Watch::default()));
        crate::process::open();
        crate::ledger::open();
        crate::findings::open();
        crate::debugged::open();
        crate::remote::open();
        let (number, publishers) = channel::open(queues.len(), presents);
        let queues = publishers
            .into_iter()
            .zip(queues)
            .enumerate()
            .map(|(index, (publisher, cores))| Queue {
                inner: Arc::new(Inner {
                    index,
                    shared: shared.clone(),
                    scratches: scratches.clone(),
                    watch: watch.clone(),
                    submitted: AtomicU64::new(0),
                    finished: AtomicU64::new(0),
                    latest: AtomicU64::new(1),
                    next: Lookout::default(),
                    publisher: parking_lot::Mutex::new(Some(publisher)),
                    cores: *cores,
                }),
                thread: Default::default(),
            })
            .collect();
        Ok(Device { shared, number, queues, watch, watched: Watched::default() })
    }

    pub fn queue(&self, index: usize) -> &Queue {
        &self.queues[index]
    }
    pub fn hub(&self) -> &Hub {
        &self.shared.hub
    }
    /// Has those look who wait at this device, whenever a shared payload changes.
    ///
    /// # Errors
    /// Out of memory, where there is no thread to watch it.
    pub fn watch(&self, payload: &Arc<Payload>) -> Result<(), ash::vk::Result> {
        let none = ash::vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        self.watched.add(payload, &self.shared).map_err(|_| none)
    }
    pub fn wait_idle(&self) {
        for q in &self.queues {
            q.wait_idle();
        }
        self.shared.clock.all_seen();
    }
    /// Waits for what still goes on, but not for ever: what waits for something that nobody does is lost.
    pub fn end(&self) {
        self.queues.iter().for_each(Queue::end);
        self.shared.clock.all_seen();
    }
    /// True when no queue has work left.
    pub fn is_idle(&self) -> bool {
        self.queues.iter().all(|q| q.inner.finished.load(SeqCst) >= q.inner.submitted.load(SeqCst))
    }
}

impl Queue {
    /// Hands work to the queue's thread and returns at once.
    pub fn submit(&self, submissions: Vec<Submission>) {
        // Held to the end: submissions of several threads keep their order.
        let mut thread = self.thread.lock();
        if thread.is_none() {
            match self.inner.clone().start() {
                Ok(started) => *thread = Some(started),
                Err(e) => {
                    self.inner
                        .shared
                        .report
                        .error(&format!("no thread for a queue: {e}; the device is lost"));
                    return self.inner.shared.hub.lose();
                }
            }
        }
        let Some((sender, own)) = &*thread else { return };
        if !own.is_here() {
            return self.inner.lose_forked();
        }
        self.inner.submitted.fetch_add(submissions.len() as u64, SeqCst);
        self.inner.next.here();
        let shared = &self.inner.shared;
        let (floor, observed) = (shared.clock.floor(), shared.observed.asked());
        for s in submissions {
            let (slot, others) = shared.turns.submit(self.inner.index, steps(&s));
            // The thread receives until the sender is gone.
            let made = Some(Instant::now());
            let seen = shared.hazards.as_ref().map(|h| h.seen());
            let _ = sender.send(Submission { slot, floor, observed, made, seen, ..s });
            if others {
                shared.hub.change(|| ());
            }
        }
    }

    /// Work that was under way when the process was forked ends in the parent alone: nobody is to wait for it here.
    fn ask_thread(&self) {
        let elsewhere = self.thread.lock().as_ref().is_some_and(|(_, own)| !own.is_here());
        if elsewhere && self.inner.finished.load(SeqCst) < self.inner.submitted.load(SeqCst) {
            self.inner.lose_forked();
        }
    }

    /// Waits for a while, as [`Queue::wait_idle`] does; then the device is lost, so that what waits for an event or a
    /// semaphore that nobody sets ends too.
    fn end(&self) {
        self.ask_thread();
        let target = self.inner.submitted.load(SeqCst);
        let finished = || self.inner.finished.load(SeqCst) >= target;
        if !self.inner.shared.hub.wait(PATIENCE, finished) {
            self.inner
                .shared
                .report
                .error("the device is destroyed while a queue waits or works: it is lost");
            self.inner.shared.hub.lose();
        }
    }

    pub fn wait_idle(&self) {
        self.ask_thread();
        let target = self.inner.submitted.load(SeqCst);
        self.inner.shared.hub.wait(u64::MAX, || self.inner.finished.load(SeqCst) >= target);
        self.inner.shared.clock.seen(self.inner.latest.load(SeqCst));
        hazards::host::saw_all(&self.inner.shared, self.inner.index);
    }
}

impl Inner {
    fn lose_forked(&self) {
        if self.shared.hub.is_lost() {
            return;
        }
        self.shared
            .report
            .error("a queue is used in a fork of its process, where it has no thread: the device is lost");
        self.shared.hub.lose();
    }

    fn start(self: Arc<Self>) -> std::io::Result<(Sender<Submission>, Thread)> {
        let pulse = self.watch.over(&self.shared)?;
        let (sender, work) = mpsc::channel();
        let thread = std::thread::Builder::new().name("tuff-queue".into()).stack_size(machine::pool::STACK);
        Ok((sender, Thread::spawn(thread, move || self.run(work, pulse))?))
    }

    fn run(self: Arc<Self>, work: Receiver<Submission>, pulse: Arc<Pulse>) {
        let _mode = Mode::plain();
        let Some(publisher) = self.publisher.lock().take() else { return };
        let mut executor = Executor::new(
            self.index,
            self.shared.clone(),
            self.scratches.clone(),
            publisher,
            pulse.clone(),
            self.cores,
        );
        // Programs that wait for one often make another right after.
        let (next, mut idle) = (&self.next, None::<Instant>);
        while let Some(submission) = next.look(|| work.try_recv().ok()).or_else(|| work.recv().ok()) {
            let begin = Instant::now();
            self.shared.hub.lookout.here();
            if let Some((idle, made)) = idle.zip(submission.made) {
                next.came(made.saturating_duration_since(idle));
            }
            pulse.submission();
            let run = std::panic::AssertUnwindSafe(|| self.execute(&mut executor, submission));
            let panicked = std::panic::catch_unwind(run).is_err();
            pulse.rest();
            if panicked {
                let place = std::mem::take(&mut executor.place);
                let line = format!("internal error: {place}; the device is lost");
                self.shared.fault(Told { line, why: Why::Other });
                self.shared.hub.change(|| self.finished.fetch_add(1, SeqCst));
            }
            let end = Instant::now();
            self.shared.hub.lookout.came(end - begin);
            idle = Some(end);
        }
    }

    fn execute(&self, executor: &mut Executor, mut s: Submission) {
        let (hub, turns) = (&self.shared.hub, &self.shared.turns);
        turns.begin(hub, &mut s.slot);
        executor.slot = s.slot;
        self.shared.observed.begin(s.observed);
        executor.publisher.asks(|| Asked::Step(Step::Floor(s.floor)));
        executor.line.floor(s.floor);
        for w in &s.waits {
            turns.wait(hub, || {
                let ready = w.semaphore.ready(w.value);
                if ready {
                    w.semaphore.take();
                }
                ready
            });
            let t = w.semaphore.time(w.value);
            executor.publisher.asks(|| Asked::Step(Step::Wait(t, w.stages.as_raw())));
            executor.line.wait(t, w.stages);
        }
        executor.publisher.asks(|| Asked::Step(Step::Submission));
        executor.line.submission();
        if let Some(h) = &mut executor.hazards {
            h.begin(s.seen.take(), &s.waits, s.presents);
            h.protected = (!s.presents).then_some(s.protected);
        }
        if let Some(binds) = s.binds.take()
            && !hub.stops()
        {
            executor.bind(binds);
        }
        if !hub.stops() {
            executor.performance_pass(s.performance_pass);
            executor.publisher.begin_batch(s.frame, s.submitted);
            for (list, stripes) in &s.lists {
                executor.stripes.list(stripes);
                executor.clean_l2();
                executor.run(list);
                s.signals.extend(executor.stripes.rest());
            }
            // Another batch can't resume what this one has suspended.
            executor.end_pass();
            executor.tell_quiet();
            executor.settle();
            executor.publisher.end_batch(s.presents);
        }
        if let Some(h) = &mut executor.hazards {
            h.presents(&s.shown);
            h.end(&s.signals, s.fence.as_ref());
        }
        drop(s.lists);
        if let Some(done) = s.done {
            done();
        }
        let (line, publisher) = (&executor.line, &executor.publisher);
        publisher.asks(|| Asked::Step(Step::Ended));
        for sig in &s.signals {
            publisher.asks(|| Asked::Step(Step::Done(sig.stages.as_raw())));
        }
        self.shared.clock.reached(line.latest());
        self.latest.store(line.latest(), SeqCst);
        hub.change(|| {
            self.finished.fetch_add(1, SeqCst);
            turns.end(&mut executor.slot);
            // Work that a lost device left undone signals nothing: who waits for it hears of the loss, every time.
            if hub.stops() {
                return;
            }
            for sig in &s.signals {
                sig.semaphore.signal(sig.value, line.done(sig.stages));
            }
            if let Some(f) = &s.fence {
                f.time.store(line.latest(), SeqCst);
                f.set(true);
            }
        });
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.end();
        let thread = self.thread.lock().take();
        if let Some((sender, t)) = thread {
            drop(sender);
            t.join();
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.queues.clear();
        self.watch.end();
    }
}

//! The device: its queues and their threads.

use crate::channel;
use crate::command::Submission;
use crate::executor::Executor;
use machine::shared::{Report, Shared};
use machine::sync::Hub;
use raster::tile::Scratches;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

pub struct Device {
    pub shared: Arc<Shared>,
    /// In order of creation, among all of the process.
    pub number: u32,
    queues: Vec<Queue>,
}

/// A queue: submissions in order, executed by a thread of its own. The thread starts with the first submission.
pub struct Queue {
    inner: Arc<Inner>,
    /// What it is to do comes through the sender; it ends when that is dropped.
    thread: parking_lot::Mutex<Option<(Sender<Submission>, JoinHandle<()>)>>,
}

struct Inner {
    shared: Arc<Shared>,
    scratches: Arc<Scratches>,
    /// Submissions made and finished: idle when equal.
    submitted: AtomicU64,
    finished: AtomicU64,
    /// Modelled end of what has finished.
    latest: AtomicU64,
    /// For the thread, once it starts.
    publisher: parking_lot::Mutex<Option<channel::Publisher>>,
}

impl Device {
    /// `presents`: the application may present with it.
    pub fn new(queue_count: usize, presents: bool, report: Report) -> Result<Device, ash::vk::Result> {
        let shared = Arc::new(Shared::new(report)?);
        let scratches = Arc::new(Scratches::default());
        crate::ledger::open();
        let (number, publishers) = channel::open(queue_count, presents);
        let queues = publishers
            .into_iter()
            .map(|publisher| Queue {
                inner: Arc::new(Inner {
                    shared: shared.clone(),
                    scratches: scratches.clone(),
                    submitted: AtomicU64::new(0),
                    finished: AtomicU64::new(0),
                    latest: AtomicU64::new(1),
                    publisher: parking_lot::Mutex::new(Some(publisher)),
                }),
                thread: Default::default(),
            })
            .collect();
        Ok(Device { shared, number, queues })
    }

    pub fn queue(&self, index: usize) -> &Queue {
        &self.queues[index]
    }
    pub fn hub(&self) -> &Hub {
        &self.shared.hub
    }
    pub fn wait_idle(&self) {
        for q in &self.queues {
            q.wait_idle();
        }
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
            let inner = self.inner.clone();
            let (sender, work) = mpsc::channel();
            let spawned =
                std::thread::Builder::new().name("tuff-queue".into()).spawn(move || inner.run(work));
            match spawned {
                Ok(t) => *thread = Some((sender, t)),
                Err(_) => return self.inner.shared.hub.lose(),
            }
        }
        let Some((sender, _)) = &*thread else { return };
        self.inner.submitted.fetch_add(submissions.len() as u64, SeqCst);
        let floor = self.inner.shared.clock.floor();
        for s in submissions {
            // The thread receives until the sender is gone.
            let _ = sender.send(Submission { floor, ..s });
        }
    }

    pub fn wait_idle(&self) {
        let target = self.inner.submitted.load(SeqCst);
        self.inner.shared.hub.wait(u64::MAX, || self.inner.finished.load(SeqCst) >= target);
        self.inner.shared.clock.seen(self.inner.latest.load(SeqCst));
    }
}

impl Inner {
    fn run(self: Arc<Self>, work: Receiver<Submission>) {
        let Some(publisher) = self.publisher.lock().take() else { return };
        let mut executor = Executor::new(self.shared.clone(), self.scratches.clone(), publisher);
        for submission in work {
            let run = std::panic::AssertUnwindSafe(|| self.execute(&mut executor, submission));
            if std::panic::catch_unwind(run).is_err() {
                let place = std::mem::take(&mut executor.place);
                (self.shared.report)(&format!("internal error: {place}; the device is lost"));
                self.shared.hub.lose();
                self.shared.hub.change(|| self.finished.fetch_add(1, SeqCst));
            }
        }
    }

    fn execute(&self, executor: &mut Executor, mut s: Submission) {
        let hub = &self.shared.hub;
        executor.line.floor(s.floor);
        for w in &s.waits {
            hub.wait(u64::MAX, || {
                let ready = w.semaphore.ready(w.value);
                if ready {
                    w.semaphore.take();
                }
                ready
            });
            executor.line.wait(w.semaphore.time.load(SeqCst), w.stages);
        }
        if !hub.is_lost() {
            executor.performance_pass(s.performance_pass);
            executor.publisher.begin_batch(s.frame, s.submitted);
            for (list, stripes) in &s.lists {
                executor.stripes.list(stripes);
                executor.run(list);
                s.signals.extend(executor.stripes.rest());
            }
            executor.publisher.end_batch(s.presents);
        }
        drop(s.lists);
        if let Some(done) = s.done {
            done();
        }
        let line = &executor.line;
        self.shared.clock.reached(line.latest());
        self.latest.store(line.latest(), SeqCst);
        hub.change(|| {
            self.finished.fetch_add(1, SeqCst);
            // Work that a lost device left undone signals nothing: who waits for it hears of the loss, every time.
            if hub.is_lost() {
                return;
            }
            for sig in &s.signals {
                sig.semaphore.time.fetch_max(line.done(sig.stages), SeqCst);
                sig.semaphore.signal(sig.value);
            }
            if let Some(f) = &s.fence {
                f.time.store(line.latest(), SeqCst);
                f.signaled.store(true, SeqCst);
            }
        });
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if let Some((sender, t)) = self.thread.lock().take() {
            drop(sender);
            // A queue that waits for a semaphore nobody signals can't be joined: losing the device frees it.
            let target = self.inner.submitted.load(SeqCst);
            if self.inner.finished.load(SeqCst) < target {
                self.inner.shared.hub.wait(2_000_000_000, || self.inner.finished.load(SeqCst) >= target);
            }
            if self.inner.finished.load(SeqCst) < target {
                self.inner.shared.hub.lose();
            }
            let _ = t.join();
        }
    }
}

//! The channel: every finished workload is published once, as one [`Record`], to all listeners: the ledger, and
//! readers in this process (`include/tuff_channel.h`, which the driver answers out of [`Reader`] and [`totals`]).
//!
//! Each queue's thread has a [`Publisher`]. While nobody listens, publishing costs the numbering, the totals, which are
//! always kept, and a test of one atomic. Nothing here is seen by what is executed: no count, no modelled time.

mod reader;

/// Inserted labels whose names begin so are marks.
pub use ::channel::MARK_PREFIX;
pub use reader::{Read, Reader};

use crate::command::Frame;
use crate::structure;
use counters::bound::Spent;
use counters::{Counts, Phase, Work};
use graph::Plan;
use machine::facts::Uses;
use machine::lost::{Labels, Made, Title};
use machine::time::Span;
use parking_lot::{Mutex, RwLock};
use raster::drawn::Seen;
use schedule::{Step, What};
use small_sort::SmallSort;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WorkloadKind {
    Dispatch,
    /// A launch of a ray tracing pipeline.
    Trace,
    RenderPass,
    /// A copy, blit, resolve, fill or clear outside render passes.
    Transfer,
    /// A place in a command buffer ([`MARK_PREFIX`]).
    Mark,
}

impl WorkloadKind {
    /// In files, and for people.
    pub fn words(self) -> &'static str {
        match self {
            WorkloadKind::Dispatch => "dispatch",
            WorkloadKind::Trace => "trace rays",
            WorkloadKind::RenderPass => "render pass",
            WorkloadKind::Transfer => "transfer",
            WorkloadKind::Mark => "mark",
        }
    }
}

/// Bytes of a mark's name that are kept.
pub const MAX_MARK: usize = 256;

/// Where a record stands among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Among the process's records; in order within each queue.
    pub order: u64,
    /// Among its queue's.
    pub queue_order: u64,
    /// The index of its VkSubmitInfo2 among those of the queue.
    pub submission: u64,
}

/// A workload that has finished, or a mark.
pub struct Record {
    pub number: Number,
    pub device: u32,
    pub queue: u32,
    pub kind: WorkloadKind,
    /// Of a multiview render pass; else 1.
    pub views: u32,
    /// The application's number, or how often the queue had presented; `None`: of no frame.
    pub frame: Option<u64>,
    /// First begin and last end; of a mark twice its time.
    pub span: Span,
    /// Phases of a render pass; else zeros.
    pub binning: Span,
    pub main: Span,
    /// By phase, in their order: the parts of its jobs' times.
    pub spent: ByPhase<Spent>,
    /// VK_EXT_debug_utils labels that were open as it began, outermost first, with `/` between them.
    pub label: CString,
    /// Entry point and workgroups; size and attachments; kind of transfer; the mark's name.
    pub name: CString,
    pub made_by: MadeBy,
    /// What it counted; of a mark, what its queue has counted up to it.
    pub counts: Counts,
    /// Of a render pass, for a capture.
    pub seen: Option<Box<Seen>>,
    /// What it reads and writes, for a capture.
    pub uses: Option<Box<Uses>>,
    /// Of a data graph's dispatch, for the ledger.
    pub graph: Option<Arc<Plan>>,
}

/// Of each phase.
pub type ByPhase<T> = [T; Phase::ALL.len()];

/// What a queue asks of its line of modelled time, for a capture.
pub enum Asked {
    Step(Step),
    /// A workload's jobs: its place among the process's records.
    Job {
        what: What,
        work: Box<Work>,
        order: u64,
    },
}

/// The pipelines that a workload ran.
#[derive(Clone, Debug, Default)]
pub struct MadeBy {
    /// What the application calls them, of those that have a name.
    pub names: Vec<String>,
    /// A hash of what their shaders are made of; `None`: it ran none.
    pub shaders: Option<u64>,
    /// Its shaders, with the name of each one's pipeline (empty if it has none), in the order in which they were first used.
    pub stages: Vec<(Arc<Made>, String)>,
}

/// Shaders follow from their hash, but for their order.
impl PartialEq for MadeBy {
    fn eq(&self, o: &MadeBy) -> bool {
        (&self.names, self.shaders) == (&o.names, o.shaders)
    }
}
impl Eq for MadeBy {}
impl std::hash::Hash for MadeBy {
    fn hash<H: std::hash::Hasher>(&self, h: &mut H) {
        (&self.names, self.shaders).hash(h);
    }
}

impl MadeBy {
    /// Whatever their order, and however many times each.
    pub fn of(pipelines: &[Arc<Title>]) -> MadeBy {
        let mut names: Vec<String> = pipelines.iter().filter_map(|t| t.name()).collect();
        names.small_sort();
        names.dedup();
        let mut shaders: Vec<u64> = pipelines.iter().map(|t| t.shaders()).collect();
        shaders.small_sort();
        shaders.dedup();
        let mut stages: Vec<(Arc<Made>, String)> = vec![];
        for (title, stage) in pipelines.iter().flat_map(|t| t.stages().iter().map(move |s| (t, s))) {
            let name = title.name().unwrap_or_default();
            if !stages.iter().any(|(s, n)| s.hash == stage.hash && *n == name) {
                stages.push((stage.clone(), name));
            }
        }
        MadeBy { names, shaders: shaders.into_iter().reduce(mixed), stages }
    }
}

/// A hash of two (the finaliser of splitmix64 on their sum, the first turned).
fn mixed(a: u64, b: u64) -> u64 {
    let mut h = a.rotate_left(23).wrapping_add(b);
    h = (h ^ h >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ h >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ h >> 31
}

/// Whether files have the work of this frame.
pub(crate) fn of_interest(frame: Option<u64>) -> bool {
    let ranges = &settings::get().capture_frames;
    ranges.is_empty() || frame.is_some_and(|f| ranges.iter().any(|r| r.contains(&f)))
}

/// A batch has run, or something was presented.
pub struct Batch {
    pub device: u32,
    pub queue: u32,
    /// As in [`Record::frame`].
    pub frame: Option<u64>,
    /// The frame's number is counted by presents, not the application's.
    pub counted: bool,
    /// It was the frame's last.
    pub ends: bool,
}

/// Who is told of everything, on the queues' threads: what it does should be short.
pub trait Listener: Send + Sync {
    fn record(&self, record: &Arc<Record>);
    fn batch(&self, _: &Batch) {}
    /// A command on acceleration structures has run, if this is captured.
    fn structures(&self, _: &structure::Command) {}
    /// The workload of this place has begun so many rays in the structures at these addresses, as they are now.
    fn traced(&self, _order: u64, _rays: &BTreeMap<u64, u64>) {}
    /// What `queue` of `device` asks of its line, if this is captured.
    fn asked(&self, _device: u32, _queue: u32, _: &Asked) {}
}

static LISTENERS: RwLock<Vec<Arc<dyn Listener>>> = RwLock::new(Vec::new());
/// As many as [`LISTENERS`] has.
static LISTENING: AtomicUsize = AtomicUsize::new(0);
static ORDER: AtomicU64 = AtomicU64::new(0);
/// What each device has done, in order of creation; also of those that are destroyed.
static DEVICES: RwLock<Vec<Arc<Mutex<Counts>>>> = RwLock::new(Vec::new());

/// It hears of all that finishes from now on.
pub fn listen(listener: Arc<dyn Listener>) {
    machine::observed::ask_all();
    let mut all = LISTENERS.write();
    all.push(listener);
    LISTENING.store(all.len(), SeqCst);
}

/// It hears nothing more once this returns.
fn forget(listener: *const Reader) {
    let mut all = LISTENERS.write();
    all.retain(|l| !std::ptr::addr_eq(Arc::as_ptr(l), listener));
    LISTENING.store(all.len(), SeqCst);
}

fn tell(f: impl Fn(&dyn Listener)) {
    LISTENERS.read().iter().for_each(|l| f(&**l));
}

/// Says that a command on acceleration structures has run, if this is captured.
pub fn structures(c: &structure::Command) {
    if settings::get().capture.is_some() {
        tell(|l| l.structures(c));
    }
}

/// Says where a workload's rays have begun, which are told only if this is captured.
pub fn traced(executed: &Executed, rays: &BTreeMap<u64, u64>) {
    if !rays.is_empty() {
        tell(|l| l.traced(executed.order(), rays));
    }
}

/// Everything that a device, or (`None`) all of them, has finished; `None` where there is no such device.
pub fn totals(device: Option<u32>) -> Option<Counts> {
    let devices = DEVICES.read();
    match device {
        Some(n) => devices.get(n as usize).map(|d| *d.lock()),
        None => {
            let mut sum = Counts::default();
            devices.iter().for_each(|d| sum += &*d.lock());
            Some(sum)
        }
    }
}

/// Publishers of a new device's queues, and its number. `presents`: the application may present with it.
pub fn open(queues: usize, presents: bool) -> (u32, Vec<Publisher>) {
    let mut devices = DEVICES.write();
    let device = devices.len() as u32;
    let total = Arc::new(Mutex::new(Counts::default()));
    devices.push(total.clone());
    let publisher = |queue| Publisher {
        device,
        queue: queue as u32,
        total: total.clone(),
        next: 0,
        begun: 0,
        frame: None,
        told: false,
        presented: presents.then_some(0),
    };
    (device, (0..queues).map(publisher).collect())
}

/// What has finished, for [`Publisher::publish`].
pub struct Done<'a> {
    pub kind: WorkloadKind,
    pub views: u32,
    /// Of a dispatch or transfer.
    pub span: Span,
    /// Binning and main phase of a render pass.
    pub phases: Option<[Span; 2]>,
    pub spent: ByPhase<Spent>,
    pub counts: &'a Counts,
    /// Of a render pass, for a capture.
    pub seen: Option<Box<Seen>>,
}

/// A workload whose time is not known yet: its place, its labels and names if anybody wants to know.
pub struct Executed {
    number: Number,
    told: Option<(String, (String, MadeBy))>,
    /// What it reads and writes, for a capture.
    pub uses: Option<Box<Uses>>,
    /// A data graph, for the ledger.
    pub graph: Option<Arc<Plan>>,
}

impl Executed {
    /// Its place among the process's records.
    pub fn order(&self) -> u64 {
        self.number.order
    }
}

/// A mark in a render pass, until its counts are known.
pub struct Mark {
    number: Number,
    label: String,
    name: Arc<str>,
}

/// Where a queue's thread says what it did.
pub struct Publisher {
    device: u32,
    queue: u32,
    total: Arc<Mutex<Counts>>,
    /// The next record's place.
    next: u64,
    /// VkSubmitInfo2s so far, the one under way included.
    begun: u64,
    /// The frame of the batch under way, if the application says.
    frame: Option<Frame>,
    /// The application has said which frame a batch is of. What has no number then is of no frame; before, frames end
    /// where it presents.
    told: bool,
    /// Presents so far; `None` where there can be none.
    presented: Option<u64>,
}

impl Publisher {
    /// A batch begins, of this frame if the application says; it is a VkSubmitInfo2 or something of the driver's own.
    pub fn begin_batch(&mut self, frame: Option<Frame>, submitted: bool) {
        self.begun += submitted as u64;
        self.told |= frame.is_some();
        self.frame = frame;
        machine::instrumentation::gather(of_interest(self.frame()));
    }

    /// The batch has run; `presents`: it was a present.
    pub fn end_batch(&mut self, presents: bool) {
        if listening() {
            let ends = self.frame.map_or(presents, |f| f.ends);
            let (device, queue) = (self.device, self.queue);
            let batch = Batch { device, queue, frame: self.frame(), counted: !self.told, ends };
            tell(|l| l.batch(&batch));
        }
        if presents && let Some(n) = &mut self.presented {
            *n += 1;
        }
    }

    /// Device and queue, the frame under way, and the submission.
    pub fn at(&self) -> ([u32; 2], Option<u64>, u64) {
        ([self.device, self.queue], self.frame(), self.begun.saturating_sub(1))
    }

    fn frame(&self) -> Option<u64> {
        match self.told {
            true => self.frame.map(|f| f.id),
            false => self.presented,
        }
    }

    fn number(&mut self) -> Number {
        let queue_order = self.next;
        self.next += 1;
        Number { order: ORDER.fetch_add(1, Relaxed), queue_order, submission: self.begun.saturating_sub(1) }
    }

    /// Says what the queue asks of its line, if this is captured.
    pub fn asks(&self, asked: impl FnOnce() -> Asked) {
        if settings::get().capture.is_some() {
            let asked = asked();
            tell(|l| l.asked(self.device, self.queue, &asked));
        }
    }

    /// A workload has finished of which nobody asks for more than [`Publisher::add`] will tell. False: somebody does.
    pub fn publish_quietly(&mut self) -> bool {
        let quiet = !listening();
        if quiet {
            self.number();
        }
        quiet
    }

    /// Adds to what the device has done.
    pub fn add(&self, counts: &Counts) {
        *self.total.lock() += counts;
    }

    /// A workload has been executed. `names` gives its name and what made it; it is called if anybody wants to know.
    pub fn executed(&mut self, labels: &Labels, names: impl FnOnce() -> (String, MadeBy)) -> Executed {
        let number = self.number();
        Executed { number, told: listening().then(|| (labels.joined(), names())), uses: None, graph: None }
    }

    /// It is known when it ran.
    pub fn publish(&mut self, executed: Executed, done: Done) {
        *self.total.lock() += done.counts;
        let Executed { number, told, uses, graph } = executed;
        let Some((label, (name, made_by))) = told else { return };
        let [binning, main] = done.phases.unwrap_or_default();
        let span = done.phases.map_or(done.span, |_| Span { begin: binning.begin, end: main.end });
        self.tell(Record {
            number,
            device: self.device,
            queue: self.queue,
            kind: done.kind,
            views: done.views,
            frame: self.frame(),
            span,
            binning,
            main,
            spent: done.spent,
            label: c_string(label),
            name: c_string(name),
            made_by,
            counts: *done.counts,
            seen: done.seen,
            uses,
            graph,
        });
    }

    /// A mark is reached; `None` when nobody listens. [`Publisher::publish_mark`] takes it when its counts are known.
    pub fn mark(&mut self, labels: &Labels, name: &Arc<str>) -> Option<Mark> {
        let number = self.number();
        listening().then(|| Mark { number, label: labels.joined(), name: name.clone() })
    }

    /// `counts`: what the queue has counted up to the mark; `time`: when that has ended.
    pub fn publish_mark(&self, mark: Mark, counts: Counts, time: u64) {
        self.tell(Record {
            number: mark.number,
            device: self.device,
            queue: self.queue,
            kind: WorkloadKind::Mark,
            views: 1,
            frame: self.frame(),
            span: Span { begin: time, end: time },
            binning: Span::default(),
            main: Span::default(),
            spent: Default::default(),
            label: c_string(mark.label),
            name: c_string(mark.name.to_string()),
            made_by: MadeBy::default(),
            counts,
            seen: None,
            uses: None,
            graph: None,
        });
    }

    fn tell(&self, record: Record) {
        let record = Arc::new(record);
        tell(|l| l.record(&record));
    }
}

pub fn listening() -> bool {
    LISTENING.load(Relaxed) != 0
}

/// Texts come from C strings, so nothing is lost.
fn c_string(text: String) -> CString {
    CString::new(text).unwrap_or_default()
}

/// A record's text in Rust.
pub fn text(s: &CStr) -> &str {
    s.to_str().unwrap_or_default()
}

/// The name of the mark that an inserted label is, if it is one: whole characters of at most [`MAX_MARK`] bytes.
pub fn mark_name(label: &str) -> Option<&str> {
    label.starts_with(MARK_PREFIX).then(|| {
        let end = (0..=label.len().min(MAX_MARK)).rev().find(|&i| label.is_char_boundary(i)).unwrap_or(0);
        &label[..end]
    })
}

#[cfg(test)]
pub(crate) mod tests;

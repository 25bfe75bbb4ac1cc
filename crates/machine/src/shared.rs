//! What all queues of a device share, and the threads that its work goes to.

use crate::descriptor_memory::Names;
use crate::hazards::Hazards;
use crate::l2::L2s;
use crate::lost::{Faults, Told};
use crate::observed::Observed;
use crate::pool::Pool;
use crate::rays::Begun;
use crate::sync::Hub;
use crate::time::Clock;
use crate::turns::Turns;
use crate::{count, debugger};
use ash::vk;
use counters::Model;
use counters::model::LINE;
use parking_lot::{Mutex, MutexGuard};
use simd::Level;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use texel::memory::{AddressSpace, sparse};
use wave::cache::{self, Sizes, Whole};
use wave::held::Held;
use wave::reach::{Asked, Asks};
use wave::tally::AccessKind;
use wave::{Arena, L2, Worker};

/// Idle workers (register files and scratch), one a thread that is shading.
#[derive(Default)]
pub struct Workers(Mutex<Vec<Worker>>);

impl Workers {
    pub fn take(&self, level: Level) -> Worker {
        self.0.lock().pop().unwrap_or_else(|| Worker::new(level))
    }
    pub fn give(&self, w: Worker) {
        self.0.lock().push(w);
    }
}

/// Takes messages of the driver's own to the application (VK_EXT_debug_utils) and the log.
pub trait Report: Send + Sync {
    fn error(&self, message: &str);
    fn warn(&self, message: &str);
    /// For messages: the name that the application gave to the object of this handle, or the handle.
    fn called(&self, handle: u64) -> String;
}

/// Of a device without an application: all goes to one function.
impl<F: Fn(&str) + Send + Sync> Report for F {
    fn error(&self, message: &str) {
        self(message);
    }
    fn warn(&self, message: &str) {
        self(message);
    }
    fn called(&self, handle: u64) -> String {
        format!("{handle:#x}")
    }
}

/// What all queues of one device share.
pub struct Shared {
    pub hub: Hub,
    pub turns: Turns,
    pub report: Arc<dyn Report>,
    pub pool: Pool,
    pub level: Level,
    pub workers: Workers,
    pub clock: Clock,
    /// Views and samplers that descriptors in buffers name.
    pub names: Names,
    pub observed: Observed,
    /// Where the rays of the workload under way begin.
    pub rays_begun: Begun,
    /// What its L2 holds.
    l2: Mutex<L2s>,
    /// What lost the device.
    pub faults: Mutex<Faults>,
    /// The GPU that is modelled.
    pub model: &'static Model,
    /// Host time after which a wave that has not ended loses the device; [`Duration::MAX`]: none.
    pub watchdog: Duration,
    /// The device's addresses.
    pub memory: Arc<AddressSpace>,
    /// Of a sanitised device.
    pub hazards: Option<Box<Hazards>>,
}

impl Shared {
    /// With the threads, kernels and model that the environment asks for; `observed`: from the start.
    pub fn new(report: Arc<dyn Report>, observed: bool) -> Result<Shared, vk::Result> {
        // What all goes through, one after the other goes through.
        let all = settings::get().trace == Some(settings::Trace::All);
        // Findings are the same in every run: accesses are heard of in one order.
        let alone = all || settings::get().sanitize.is_some() || debugger::wanted();
        let threads = if alone { 1 } else { thread_count() };
        if settings::lacks_level() {
            report.error(&format!("TUFF_SIMD: this CPU lacks that level; {:?} runs", settings::level()));
        }
        let memory = AddressSpace::new().ok_or_else(|| {
            report.error("no address space for the device's memory");
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        })?;
        let pool = Pool::new(threads).map_err(|e| {
            report.error(&format!("no threads to shade with: {e}"));
            vk::Result::ERROR_OUT_OF_HOST_MEMORY
        })?;
        Ok(Shared {
            hub: Hub::default(),
            turns: Turns::default(),
            report,
            pool,
            level: settings::level(),
            workers: Default::default(),
            clock: Default::default(),
            names: Default::default(),
            observed: if observed || all { Observed::always() } else { Observed::default() },
            rays_begun: Default::default(),
            l2: Default::default(),
            faults: Default::default(),
            model: counters::model::current(),
            watchdog: settings::get().watchdog,
            memory,
            hazards: settings::get().sanitize.is_some().then(Box::default),
        })
    }

    /// Where the device's memory lies now.
    pub fn arena(&self) -> Arena {
        Arena::new(self.memory.arena(), sparse::holed())
    }

    /// A worker for the thread at hand; [`Workers::give`] takes it back.
    pub fn worker(&self) -> Worker {
        let mut worker = self.workers.take(self.level);
        // Queues do one thing at a time ([`crate::turns`]), and shading has this thread then.
        worker.alone = self.pool.threads() == 1;
        worker
    }

    /// Tells of a fault, which loses the device.
    pub fn fault(&self, told: Told) {
        self.report.error(&told.line);
        self.faults.lock().add(told);
        self.hub.lose();
    }

    /// The caches that chunk `c` of so many goes through, if it is one of every `n`th that do ([`count::traced`]); or all do.
    /// None is while nobody looks.
    pub fn traced(&self, c: u64, chunks: u64, n: u64) -> Option<Sizes> {
        if !self.observed.counts() {
            return None;
        }
        if settings::get().trace == Some(settings::Trace::All) {
            return Some(Sizes {
                whole: Some(Whole::now(self.memory.arena().0, self.l2.lock().cleanings())),
                ..count::caches(self.model)
            });
        }
        count::traced(self.model, c, chunks, n)
    }

    /// What the L2 holds; none while nobody looks.
    pub fn l2(&self) -> Option<MutexGuard<'_, L2s>> {
        self.observed.counts().then(|| self.l2.lock())
    }

    /// What an L2 has of these bytes of device memory, by address, that are read and written once: lines. It has them from now on.
    pub fn find_in_l2(&self, l2: L2, held: &mut Held, [reads, writes]: [&[Range<u64>]; 2]) -> [u64; 2] {
        let base = self.memory.arena().0;
        let lines = |r: &Range<u64>| {
            let line = |at: u64| at.saturating_sub(base);
            line(r.start) / LINE..line(r.end).div_ceil(LINE)
        };
        let l2 = l2.lines;
        let all: u64 = reads.iter().chain(writes).map(lines).map(|l| l.end - l.start).sum();
        if all > 2 * l2 {
            held.stream(all, l2);
            return [0; 2];
        }
        let of = |kind| move |r: &Range<u64>| (Asks::LoadStore(kind), lines(r));
        let asked = reads.iter().map(of(AccessKind::Read)).chain(writes.iter().map(of(AccessKind::Write)));
        let hits = held.ask(&Asked::of(asked), l2);
        [AccessKind::Read, AccessKind::Write].map(|kind| hits[kind as usize])
    }

    /// Memory is freed: the host writes it no more.
    pub fn memory_ends(&self, address: u64, bytes: u64) {
        if let Some(h) = &self.hazards {
            h.host.lock().forget(&(address..address.saturating_add(bytes)));
        }
    }

    /// Memory is newly allocated: the L2 has nothing of it, whatever it was used for before.
    pub fn forget_memory(&self, address: u64, bytes: u64) {
        if let Some(h) = &self.hazards {
            h.memory.lock().forget(address..address.saturating_add(bytes));
        }
        self.memory_ends(address, bytes);
        let lines = |bytes: u64| bytes / LINE;
        let base = self.memory.arena().0;
        if let Some(at) = address.checked_sub(base) {
            let lines = lines(at)..lines(at.saturating_add(bytes));
            if settings::get().trace == Some(settings::Trace::All) {
                cache::lose(base, lines.clone());
            }
            self.l2.lock().forget_memory(lines);
        }
    }
}

/// Threads to shade with: what the settings say, or what the machine has.
fn thread_count() -> usize {
    let threads = settings::get().threads.or_else(|| std::thread::available_parallelism().ok());
    threads.map_or(1, |n| n.get()).min(settings::MAX_THREADS)
}

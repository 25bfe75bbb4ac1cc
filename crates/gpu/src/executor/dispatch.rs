//! Dispatches: workgroups in chunks, which threads run and count.

use super::later::Asks;
use super::{Executor, done};
use crate::channel::{self, MadeBy, WorkloadKind};
use crate::chunks::Chunks;
use crate::command::Dispatch;
use crate::exclusive;
use crate::record;
use ash::vk;
use counters::cost::{self, Dealing};
use counters::{Counts, Curve, Event, Phase};
use machine::facts::{Uses, how};
use machine::host::DeviceHost;
use machine::instrumentation::{Blocks, Work};
use machine::lost::{Blame, Title};
use machine::record::bound::{self, Seen};
use machine::sanitizer::{self, Sanitizer};
use machine::time::Ahead;
use machine::{count, debugger};
use parking_lot::Mutex;
use schedule::What;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

impl Executor {
    pub(super) fn dispatch(&mut self, d: &Dispatch, groups: [u32; 3]) {
        /// Waves of chunks that are run several at once.
        const SMALL: u64 = 4;
        let total = groups.iter().map(|&g| g as u64).product::<u64>();
        if total == 0 {
            return;
        }
        let _turn = exclusive::shared();
        let program = &d.pipeline.program;
        // (What is bound is recorded as it is before.)
        let found = self.recording().map(|to| {
            let programs = std::iter::once(&**program);
            let bindings =
                bound::find(to, &self.shared, &d.pipeline.title, programs, &d.bindings, &mut Seen::default());
            (to, record::Dispatched { groups, local: program.workgroup, bindings })
        });
        let size = program.workgroup.iter().map(|&n| n as u64).product::<u64>();
        let instrumented = d.instrumentation.as_ref().filter(|_| program.profile.mark_count > 0);
        let tables = d.bindings.tables();
        if self.is_waiting() && program.reads_clock() {
            self.settle();
        }
        let shared = &*self.shared;
        let begin = self.line.dispatch_begins(&shared.clock.gpu());
        debugger::workload(&self.place, &d.pipeline.title);
        let told = || Sanitizer::of_dispatch(&self.place, &d.pipeline.title, program, &tables);
        let sanitizer = sanitizer::wanted().then(told);
        let host = DeviceHost::at(shared, begin).sanitized(sanitizer.as_ref());
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        let job = wave::Dispatch {
            serial: SERIAL.fetch_add(1, Relaxed),
            program,
            tables: &tables,
            push: &d.bindings.push,
            host: &host,
            base: d.base,
            groups,
            arena: shared.arena(),
            draw: [0; 2],
        };
        // Chunks are whole waves' worth of workgroups, small enough to balance, large enough to amortise.
        let per_wave = (program.lanes as u64 / (size.div_ceil(16) * 16)).max(1);
        let waves = total.div_ceil(per_wave);
        // The same on any number of threads, for chunks decide what is traced.
        let waves_each = (waves / 256).clamp(1, 64);
        let chunk = per_wave * waves_each;
        let chunks = total.div_ceil(chunk);
        let fault: Mutex<Option<wave::Stop>> = Mutex::new(None);
        let deal = Chunks::new(chunks, shared.pool.threads());
        let usage = Mutex::new(wave::Usage::default());
        let blocks = Blocks::default();
        let work = || {
            let mut worker = shared.worker();
            let thread = deal.join();
            while let Some(c) = deal.take(thread) {
                if shared.hub.stops() {
                    break;
                }
                // Half a chunk speaks for all of it; those that nobody follows are run at once, if they are small.
                let followed = shared.traced(c, chunks, count::TRACED);
                let more = if followed.is_none() && waves_each < SMALL {
                    deal.more(thread, |c| shared.traced(c, chunks, count::TRACED).is_none())
                } else {
                    0
                };
                let (first, last) = (c * chunk, total.min((c + 1 + more) * chunk));
                let whole = waves_each == 1 || followed.is_none_or(|f| f.whole.is_some());
                let half = if whole { last } else { last.min(first + per_wave * (waves_each / 2)) };
                worker.tally.trace(followed);
                let mut ran = worker.run(&job, first, half - first);
                if half < last {
                    worker.tally.trace(None);
                    ran = ran.and_then(|_| worker.run(&job, half, last - half));
                }
                if let Err(f) = ran {
                    fault.lock().get_or_insert(f);
                    deal.stop();
                    break;
                }
            }
            usage.lock().add(&blocks.take(&mut worker, program, instrumented.is_some()));
            shared.workers.give(worker);
        };
        shared.pool.run(chunks, &work);
        let [x, y, z] = groups;
        let name = || format!("{} {x}x{y}x{z}", d.pipeline.title.entries());
        let work = || Work { label: self.place.labels().joined(), workload: name(), draw: None };
        let active = instrumented.map(|(object, result)| object.at(*result, work));
        blocks.add_to(&self.shared.model.core, active.as_ref(), 0, vk::ShaderStageFlags::COMPUTE);
        let model = self.cores;
        let counted = |mut usage: wave::Usage| {
            usage.fare_as(&wave::Usage::default());
            let mut units = count::units(&usage);
            count::launch(&mut units, program, total * size.div_ceil(16), total * size, total * (size / 16));
            count::descriptors(&mut units, program, total.min(model.cores));
            let mut counts = Counts::default();
            counts.add_units(Phase::Compute, &units);
            counts[Event::ComputeInvocations] = total * size;
            counts[Event::ComputeJobs] = 1;
            counts[Event::ComputeTasks] = total;
            counts
        };
        let uses = self.uses(|f, to| {
            to.shader(f, program, &d.bindings, how::COMPUTE_READ, how::COMPUTE_WRITE);
        });
        let kind = WorkloadKind::Dispatch;
        let order =
            self.computed((kind, d.dealing), usage.into_inner(), counted, name, &d.pipeline.title, uses);
        if let Some((to, line)) = found {
            let (label, name) = (self.place.labels().joined(), name());
            record::dispatch(to, self.told("dispatch", order, &label, &name), &line);
        }
        if let Some(h) = &mut self.hazards {
            h.dispatched(d, &self.place);
        }
        if let Some(f) = fault.into_inner() {
            self.blame(Blame::new(f, "compute", program, &d.pipeline.title));
        }
    }

    /// The job of what ran on the compute queue: its counts from its use, with each size of L2, and its record. Its place among
    /// the process's records.
    pub(super) fn computed(
        &mut self,
        (kind, dealing): (WorkloadKind, Dealing),
        mut usage: wave::Usage,
        counted: impl Fn(wave::Usage) -> Counts,
        name: impl Fn() -> String,
        title: &Arc<Title>,
        uses: Option<Box<Uses>>,
    ) -> u64 {
        let model = self.shared.model;
        let (counts, curve) = match self.shared.l2() {
            Some(mut l2) => l2.count(|l2, held| {
                let mut usage = usage.take_in_l2(l2);
                usage.share_l2(l2.lines, held);
                counted(usage)
            }),
            None => (counted(usage), Curve::default()),
        };
        let job = cost::compute_dealt(&counts, self.cores, dealing);
        let names = || (name(), MadeBy::of(std::slice::from_ref(title)));
        let mut executed = self.publisher.executed(self.place.labels(), names);
        channel::traced(&executed, &self.shared.rays_begun.take());
        executed.uses = uses;
        let order = executed.order();
        self.job(
            counts,
            Phase::Compute,
            job,
            Asks { what: What::Dispatch, order: executed.order(), weights: None, curve },
            Ahead::dispatch,
            |line, known, job| line.dispatch(known, job, model),
            move |e, span, counts, spent| {
                e.publisher.publish(executed, done(kind, span, counts, spent));
            },
        );
        order
    }
}

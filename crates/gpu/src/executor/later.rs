//! What a submission has executed, and when it ran.
//!
//! Commands are executed one after another, but what they cost is placed in modelled time together, so that jobs that are ready share the
//! GPU whichever was recorded first. Until then all that depends on time (stamps, queries, records for readers) is kept, and done in its
//! order by [`Executor::settle`]: when a submission ends, when so many jobs are waiting, and before anything that needs to know a time.
//! While nobody looks at counters there is nothing to keep.

use super::Executor;
use crate::channel::{Asked, ByPhase, listening};
use counters::bound::Spent;
use counters::{Counts, Curve, Job, Phase, Work};
use machine::count;
use machine::time::{Ahead, Known, Line, Ran, Span};
use raster::state::GraphicsPipeline;
use schedule::{Step, What};
use std::sync::Arc;

/// Jobs that are placed together at most: what is kept of each takes memory.
const MOST: usize = 128;

type Kept = Box<dyn FnOnce(&mut Executor, &mut Known)>;

/// What a workload that is one job is to its line.
pub(super) struct Asks {
    pub what: What,
    /// Among the process's records.
    pub order: u64,
    /// What its tasks weigh, of a job of the main queue.
    pub weights: Option<Vec<u64>>,
    /// What it would have counted with other L2s.
    pub curve: Curve,
}

#[derive(Default)]
pub(super) struct Later {
    ahead: Option<Ahead>,
    steps: Vec<Kept>,
    /// A pipeline that reads no clock, asked about last.
    timeless: Option<Arc<GraphicsPipeline>>,
}

impl Later {
    pub fn reads_clock(&mut self, p: &Arc<GraphicsPipeline>) -> bool {
        if self.timeless.as_ref().is_some_and(|t| Arc::ptr_eq(t, p)) {
            return false;
        }
        let reads = p.reads_clock();
        if !reads {
            self.timeless = Some(p.clone());
        }
        reads
    }
}

impl Executor {
    /// Somebody looks at counters: jobs take time.
    pub(super) fn timed(&self) -> bool {
        self.shared.observed.counts()
    }

    /// Jobs and barriers to come, while they take time.
    pub(super) fn ahead(&mut self) -> &mut Ahead {
        let line = &self.line;
        self.later.ahead.get_or_insert_with(|| line.ahead())
    }

    /// Does `step` when it is known when everything so far ran.
    pub(super) fn then(&mut self, step: impl FnOnce(&mut Executor, &mut Known) + 'static) {
        if !self.timed() {
            return step(self, &mut Known::default());
        }
        self.later.steps.push(Box::new(step));
        if self.later.ahead.as_ref().is_some_and(|a| a.jobs() >= MOST) {
            self.settle();
        }
    }

    /// It is not known of all that was executed when it ran.
    pub(super) fn is_waiting(&self) -> bool {
        !self.later.steps.is_empty()
    }

    /// Places all that is waiting in modelled time.
    pub fn settle(&mut self) {
        let Later { ahead, steps, .. } = std::mem::take(&mut self.later);
        if ahead.is_some() {
            self.publisher.asks(|| Asked::Step(Step::Settle));
        }
        let ran = ahead.map(|a| a.run(&mut self.shared.clock.gpu(), self.shared.model));
        let mut known = Known(ran.unwrap_or_default().into());
        steps.into_iter().for_each(|step| step(self, &mut known));
    }

    /// A workload that has counted this runs as one job, which `ahead` has: `then` gets it with its time, when that is known.
    pub(super) fn job(
        &mut self,
        mut counts: Counts,
        phase: Phase,
        job: Job,
        asks: Asks,
        ahead: impl FnOnce(&mut Ahead, &Job),
        run: impl FnOnce(&mut Line, &mut Known, &Job) -> Ran + 'static,
        then: impl FnOnce(&mut Executor, Span, &Counts, ByPhase<Spent>) + 'static,
    ) {
        if !self.timed() {
            let now = self.line.latest();
            self.queries.add(&counts, now);
            return then(self, Span { begin: now, end: now }, &counts, Default::default());
        }
        if let Some(lines) = self.cleaned.take() {
            count::cleaned(&mut counts, lines, self.shared.model);
        }
        let Asks { what, order, weights, curve } = asks;
        self.publisher.asks(|| {
            let work = match weights {
                Some(weights) => Work::tiles(&counts, weights, &job),
                None => Work::compute(&counts, &job),
            };
            let work = Box::new(work.with_l2s(&counts, &curve, self.shared.model));
            Asked::Job { what, work, order }
        });
        ahead(self.ahead(), &job);
        self.then(move |e, known| {
            let ran = run(&mut e.line, known, &job);
            count::job(&mut counts, phase, &job, &ran, e.shared.model);
            e.queries.add(&counts, ran.end);
            let mut spent = ByPhase::default();
            if listening() {
                spent[phase as usize] = ran.spent(&counts, phase, &job, e.shared.model);
            }
            then(e, ran.span(), &counts, spent);
        });
    }
}

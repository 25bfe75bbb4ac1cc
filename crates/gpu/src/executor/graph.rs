//! Dispatches of data graphs: work of the compute queue.

use super::later::Asks;
use super::{Executor, done};
use crate::channel::{MadeBy, WorkloadKind};
use crate::exclusive;
use crate::graphs::{Failed, GraphDispatch};
use counters::{Curve, Phase, cost};
use machine::count;
use machine::facts::how;
use machine::lost::{Told, Why};
use machine::time::Ahead;
use schedule::What;

impl Executor {
    pub(super) fn graph(&mut self, d: &GraphDispatch) {
        let _turn = exclusive::shared();
        let shared = self.shared.clone();
        let accessed = match d.run(&shared) {
            Ok(accessed) => accessed,
            Err(Failed::Told(why)) => {
                return shared
                    .report
                    .error(&format!("{}: vkCmdDispatchDataGraphARM: {why}; it does nothing", self.place));
            }
            Err(Failed::Lost(why)) => {
                let line = format!("device fault: {}: a data graph: {why}; the device is lost", self.place);
                return shared.fault(Told { line, why: Why::Other });
            }
        };
        if let Some(h) = &mut self.hazards {
            h.graph(d, &accessed, &self.place);
        }
        let model = shared.model;
        let costs = d.costs();
        if let Some(s) = &d.statistics {
            s.write(&costs, model);
        }
        let mut all = graph::Cost::default();
        costs.into_iter().for_each(|c| all += c);
        if let Some(mut l2) = shared.l2() {
            l2.stream((all.read + all.written).div_ceil(counters::model::LINE));
        }
        let counts = count::graph(&all);
        let job = cost::compute(&counts, self.cores);
        let title = &d.pipeline.title;
        let names = || (format!("data graph {}", title.entries()), MadeBy::of(std::slice::from_ref(title)));
        let mut executed = self.publisher.executed(self.place.labels(), names);
        executed.graph = Some(d.pipeline.plan.clone());
        executed.uses = self.uses(|_, to| to.anything |= how::COMPUTE_READ | how::COMPUTE_WRITE);
        self.job(
            counts,
            Phase::Compute,
            job,
            Asks { what: What::Dispatch, order: executed.order(), weights: None, curve: Curve::default() },
            Ahead::dispatch,
            move |line, known, job| line.dispatch(known, job, model),
            |e, span, counts, spent| {
                e.publisher.publish(executed, done(WorkloadKind::Dispatch, span, counts, spent));
            },
        );
    }
}

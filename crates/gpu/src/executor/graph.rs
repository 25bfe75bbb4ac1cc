//! Dispatches of data graphs: work of the compute queue.

use super::later::Asks;
use super::{Executor, done};
use crate::channel::{MadeBy, WorkloadKind};
use crate::exclusive;
use crate::graphs::{GraphDispatch, Threads};
use crate::ledger;
use counters::{Curve, Phase, cost};
use graph::Stop;
use machine::count;
use machine::facts::how;
use machine::lost::{Told, Why};
use machine::time::Ahead;
use schedule::What;

impl Executor {
    pub(super) fn graph(&mut self, d: &GraphDispatch) {
        let _turn = exclusive::shared();
        let (shared, plan) = (self.shared.clone(), &d.pipeline.plan);
        let connected = d.connected(&shared);
        let [inputs, outputs] = match connected {
            Ok(tensors) => tensors,
            Err(why) => {
                return shared
                    .report
                    .error(&format!("{}: vkCmdDispatchDataGraphARM: {why}; it does nothing", self.place));
            }
        };
        let ran = plan.run(&inputs, &outputs, &d.room(), &Threads(&shared), &|| shared.hub.stops());
        match ran {
            Ok(()) | Err(Stop::Asked) => {}
            Err(Stop::Connections) => {
                return shared.report.error(&format!(
                    "{}: vkCmdDispatchDataGraphARM: the session has no memory; it does nothing",
                    self.place
                ));
            }
            Err(Stop::Memory) => {
                let line = format!(
                    "device fault: {}: a data graph: {}; the device is lost",
                    self.place,
                    Stop::Memory
                );
                return shared.fault(Told { line, why: Why::Other });
            }
        }
        if let Some(h) = &mut self.hazards {
            h.graph(d, &inputs, &outputs, &self.place);
        }
        let model = shared.model;
        let mut all = graph::Cost::default();
        plan.costs().for_each(|c| all += c);
        if let Some(mut l2) = shared.l2() {
            l2.stream((all.read + all.written).div_ceil(counters::model::LINE));
        }
        let counts = count::graph(&all);
        let job = cost::compute(&counts, self.cores);
        let title = &d.pipeline.title;
        let names = || (format!("data graph {}", title.entries()), MadeBy::of(std::slice::from_ref(title)));
        let mut executed = self.publisher.executed(self.place.labels(), names);
        executed.graph = ledger::wanted().then(|| plan.clone());
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

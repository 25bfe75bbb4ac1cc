//! Dispatches of data graphs: work of the compute queue.

use super::later::Asks;
use super::{Executor, done};
use crate::channel::{MadeBy, WorkloadKind};
use crate::exclusive;
use crate::graphs::{GraphDispatch, Threads};
use counters::{Curve, Phase, cost};
use graph::Stop;
use machine::count::{self, Moved};
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
        let model = shared.model;
        let moved = plan.traffic();
        let moved = Moved { read: moved[0], written: moved[1] };
        if let Some(mut l2) = shared.l2() {
            l2.stream((moved.read + moved.written).div_ceil(counters::model::LINE));
        }
        let counts = count::transfer(moved, [0; 2]);
        let job = cost::compute(&counts, self.cores);
        let names = || (format!("data graph {}", d.pipeline.title.entries()), MadeBy::default());
        let mut executed = self.publisher.executed(self.place.labels(), names);
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

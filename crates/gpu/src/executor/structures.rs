//! Builds and copies of acceleration structures: work of the compute queue.

use super::later::Asks;
use super::{Executor, done};
use crate::channel::{self, MadeBy, WorkloadKind};
use crate::exclusive;
use crate::structure::{self, Command, Failure, Memory};
use ash::vk;
use counters::{Curve, Phase, cost};
use machine::count::{self, Moved};
use machine::facts::how;
use machine::lost::{Blame, Told, Why};
use machine::rays::Builders;
use machine::time::Transfer;
use schedule::What;

const FAST_BUILD: vk::BuildAccelerationStructureFlagsKHR =
    vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_BUILD;

impl Executor {
    pub(super) fn structure(&mut self, c: &Command) {
        let _turn = exclusive::shared();
        if let Command::WriteProperties { of, property, pool, first } = c {
            for (i, s) in of.iter().enumerate() {
                let (value, query, pool) =
                    (structure::property(s, *property), *first + i as u32, pool.clone());
                self.then(move |e, _| {
                    let now = e.line.latest();
                    e.shared.hub.change(|| pool.finish(query, &[value], now));
                });
            }
            return;
        }
        let shared = self.shared.clone();
        let moved =
            match structure::run(c, &Memory::Device(&shared.memory), shared.level, &Builders(&shared.pool)) {
                Ok(moved) => moved,
                Err(Failure::Address(at)) => {
                    return self.blame(Blame::of(wave::Fault::Address(at), c.call()));
                }
                Err(e) => {
                    let line = format!("device fault: {}: {}: {e}; the device is lost", self.place, c.call());
                    return self.shared.fault(Told { line, why: Why::Other });
                }
            };
        channel::structures(c);
        let name = match c {
            Command::Build(list) if list.iter().all(|b| b.from.is_some()) => "update acceleration structures",
            Command::Build(list) if list.iter().all(|b| b.flags.contains(FAST_BUILD)) => {
                "build acceleration structures (fast build)"
            }
            Command::Build(_) => "build acceleration structures",
            Command::BuildMicromaps(_) => "build micromaps",
            Command::Serialize { .. } => "serialize acceleration structure",
            Command::Deserialize { .. } => "deserialize acceleration structure",
            _ => "copy acceleration structure",
        };
        let model = self.shared.model;
        let moved = Moved { read: moved.read, written: moved.written };
        if let Some(mut l2) = self.shared.l2() {
            l2.stream((moved.read + moved.written).div_ceil(counters::model::LINE));
        }
        let counts = count::transfer(moved, [0; 2]);
        let job = cost::compute(&counts, self.cores);
        let mut executed = self.publisher.executed(self.place.labels(), || (name.into(), MadeBy::default()));
        executed.uses = self.uses(|_, to| to.anything |= how::TRANSFER_READ | how::TRANSFER_WRITE);
        let (kind, phase) = (Transfer::Structure, Phase::Compute);
        self.job(
            counts,
            phase,
            job,
            Asks {
                what: What::transfer(kind),
                order: executed.order(),
                weights: None,
                curve: Curve::default(),
            },
            |ahead, job| ahead.transfer(kind, phase, job),
            move |line, known, job| line.transfer(known, kind, phase, job, model),
            |e, span, counts, spent| {
                e.publisher.publish(executed, done(WorkloadKind::Transfer, span, counts, spent));
            },
        );
    }
}

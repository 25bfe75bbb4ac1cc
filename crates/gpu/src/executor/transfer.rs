//! Copies, blits, resolves, fills and clears outside render passes.

use super::later::Asks;
use super::{Executor, done};
use crate::channel::{MadeBy, WorkloadKind};
use crate::command::Command;
use crate::transfer::{self, Transferred};
use crate::{discarded, exclusive, record};
use counters::model::LINE;
use counters::{Curve, Job, Phase, cost};
use machine::count;
use machine::facts::{Finder, Uses, how};
use machine::lost::Blame;
use schedule::What;

impl Executor {
    /// A copy, blit, resolve, fill or clear outside render passes: the compute queue's work, or the main queue's.
    pub(super) fn transfer(&mut self, c: &Command) {
        let _turn = exclusive::shared();
        let observed = self.shared.observed.counts();
        discarded::transfer(&*self.shared.report, c, &self.place);
        let Some(Transferred { name, kind, moved, spans: [reads, writes], covered, fault }) =
            transfer::run(c, &self.shared.memory, &self.shared.hub, observed)
        else {
            return;
        };
        if let Some(address) = fault {
            self.blame(Blame::of(wave::Fault::Address(address), c.call()));
        }
        if !observed && covered.is_none() && self.publisher.publish_quietly() {
            return self.quiet.add(moved);
        }
        let model = self.shared.model;
        // Of what is elsewhere nothing is looked for.
        let located: u64 = reads.iter().chain(&writes).map(|r| r.end - r.start).sum();
        let others = (moved.read + moved.written).saturating_sub(located).div_ceil(LINE);
        let counted = |found| match &covered {
            Some(covered) => count::drawn(moved, covered),
            None => count::transfer(moved, found),
        };
        let (counts, curve) = match self.shared.l2() {
            Some(mut l2) => l2.count(|l2, held| {
                let found = self.shared.find_in_l2(l2, held, [&reads, &writes]);
                held.stream(others, l2.lines);
                counted(found)
            }),
            None => (counted([0; 2]), Curve::default()),
        };
        let (phase, job, weights) = match covered {
            Some(covered) => {
                // Nobody is told how long it takes while nobody looks.
                let mut job = Job::default();
                if observed {
                    job = cost::main(&counts, &[], &covered.weights, 0, self.cores).job;
                    // What reads does so by a small shader, which runs as long as its cores work.
                    job.exec = if moved.read > 0 { job.core } else { 0 };
                }
                (Phase::Main, job, Some(covered.weights))
            }
            None => (Phase::Compute, cost::compute(&counts, self.cores), None),
        };
        let mut executed = self.publisher.executed(self.place.labels(), || (name.into(), MadeBy::default()));
        executed.uses = self.uses(|f, to| touches(c, f, to));
        if let Some(to) = self.recording() {
            let label = self.place.labels().joined();
            let of = self.told("transfer", executed.order(), &label, name);
            record::command(to, of, record::details(&self.shared, c));
        }
        self.job(
            counts,
            phase,
            job,
            Asks { what: What::transfer(kind), order: executed.order(), weights, curve },
            |ahead, job| ahead.transfer(kind, phase, job),
            move |line, known, job| line.transfer(known, kind, phase, job, model),
            |e, span, counts, spent| {
                e.publisher.publish(executed, done(WorkloadKind::Transfer, span, counts, spent));
            },
        );
    }

    /// What small transfers have moved while nobody looked at counters is told of in one go, before anybody could ask.
    pub fn tell_quiet(&mut self) {
        if self.quiet.is_none() {
            return;
        }
        let counts = std::mem::take(&mut self.quiet).counts([0; 2]);
        self.queries.add(&counts, self.line.latest());
        self.publisher.add(&counts);
    }
}

/// What a transfer reads and writes, for a capture.
fn touches(c: &Command, f: Finder, to: &mut Uses) {
    use how::{CLEARED, TRANSFER_READ as READ, TRANSFER_WRITE as WRITE};
    match c {
        Command::CopyBuffer { src, dst, .. } | Command::ConvertMatrix { src, dst, .. } => {
            to.buffer(f, src, READ);
            to.buffer(f, dst, WRITE);
        }
        Command::UpdateBuffer { dst, .. } | Command::FillBuffer { dst, .. } => to.buffer(f, dst, WRITE),
        Command::CopyImage { src, dst, .. }
        | Command::BlitImage { src, dst, .. }
        | Command::ResolveImage { src, dst, .. } => {
            to.image(f, src, READ);
            to.image(f, dst, WRITE);
        }
        Command::CopyBufferToImage { src, dst, .. } => {
            to.buffer(f, src, READ);
            to.image(f, dst, WRITE);
        }
        Command::CopyImageToBuffer { src, dst, .. } => {
            to.image(f, src, READ);
            to.buffer(f, dst, WRITE);
        }
        Command::ClearColorImage { dst, .. } | Command::ClearDepthStencilImage { dst, .. } => {
            to.image(f, dst, WRITE | CLEARED)
        }
        _ => to.anything |= READ | WRITE,
    }
}

//! The schedule of a capture once more, under another model.
//!
//! It is run under both models side by side. A time that a queue was told (what the host had heard of, a semaphore's, an event's) is one that some
//! queue told before: it stands for the same moment of the other schedule. What the host's clock said (calibrated timestamps) stays as long behind
//! the last such moment as it was.

use crate::ahead::Ahead;
use crate::gpu::{Gpu, Known, Ran};
use crate::line::{Line, Stages};
use crate::step::{Step, Steps, What};
use counters::{Job, Model, Phase, Work};
use std::collections::{BTreeMap, HashMap};

/// A workload's jobs, binning (or the only one) and main phase, under one model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Jobs {
    pub jobs: [Job; 2],
    pub ran: [Ran; 2],
}

/// A workload under both models.
#[derive(Clone, Copy, Debug)]
pub struct Replayed {
    pub device: usize,
    pub queue: usize,
    /// Among the process's records.
    pub order: u64,
    pub work: usize,
    pub was: Jobs,
    pub now: Jobs,
}

/// A device's schedule under one model.
struct Side<'a> {
    model: &'a Model,
    ran: &'a Model,
    gpu: Gpu,
    lines: Vec<Line>,
    jobs: HashMap<usize, [Job; 2]>,
}

/// What waits for [`Step::Settle`].
#[derive(Clone, Copy)]
enum Pending {
    Barrier(Stages, Stages),
    Job { what: What, work: usize, order: u64 },
}

impl<'a> Side<'a> {
    fn new(model: &'a Model, ran: &'a Model) -> Side<'a> {
        Side { model, ran, gpu: Gpu::default(), lines: vec![], jobs: HashMap::new() }
    }
    fn line(&mut self, queue: usize) -> &mut Line {
        if self.lines.len() <= queue {
            self.lines.resize_with(queue + 1, Line::default);
        }
        &mut self.lines[queue]
    }
    fn jobs(&mut self, works: &[Work], work: usize) -> [Job; 2] {
        let (model, ran) = (self.model, self.ran);
        *self
            .jobs
            .entry(work)
            .or_insert_with(|| works.get(work).map_or_else(Default::default, |w| w.jobs(model, ran)))
    }

    /// Places all that waits; how each job ran, in order.
    fn settle(&mut self, works: &[Work], queue: usize, pending: &[Pending]) -> Vec<Jobs> {
        let mut ahead: Ahead = self.line(queue).ahead();
        let jobs: Vec<[Job; 2]> = pending
            .iter()
            .map(|p| match p {
                Pending::Barrier(..) => [Job::default(); 2],
                Pending::Job { work, .. } => self.jobs(works, *work),
            })
            .collect();
        for (p, [first, main]) in pending.iter().zip(&jobs) {
            match *p {
                Pending::Barrier(src, dst) => ahead.barrier(src, dst),
                Pending::Job { what, work, .. } => match what.as_transfer() {
                    Some(t) => {
                        let (phase, job) = only(works, work, first, main);
                        ahead.transfer(t, phase, job);
                    }
                    None if what == What::Dispatch => ahead.dispatch(first),
                    None => ahead.pass([first, main]),
                },
            }
        }
        let mut known = Known(ahead.run(&mut self.gpu, self.model).into());
        let m = self.model;
        let line = self.line(queue);
        let mut all = vec![];
        for (p, [first, main]) in pending.iter().zip(&jobs) {
            match *p {
                Pending::Barrier(src, dst) => line.barrier(src, dst),
                Pending::Job { what, work, .. } => {
                    let ran = match what.as_transfer() {
                        Some(t) => {
                            let (phase, job) = only(works, work, first, main);
                            let ran = line.transfer(&mut known, t, phase, job, m);
                            if phase == Phase::Main { [Ran::default(), ran] } else { [ran, Ran::default()] }
                        }
                        None if what == What::Dispatch => {
                            [line.dispatch(&mut known, first, m), Ran::default()]
                        }
                        None => line.pass(&mut known, [first, main], m),
                    };
                    all.push(Jobs { jobs: [*first, *main], ran });
                }
            }
        }
        all
    }
}

/// The one job of what is no render pass.
fn only<'j>(works: &[Work], work: usize, first: &'j Job, main: &'j Job) -> (Phase, &'j Job) {
    match works.get(work).map(|w| w.phases()[0]) {
        Some(Phase::Compute) => (Phase::Compute, first),
        _ => (Phase::Main, main),
    }
}

/// The device whose schedule is run.
pub struct Replay<'a> {
    works: [&'a [Work]; 2],
    was: Side<'a>,
    now: Side<'a>,
    /// What others were told, and what that is now.
    told: BTreeMap<u64, u64>,
    /// As it was, and as it is now.
    pending: HashMap<usize, [Vec<Pending>; 2]>,
}

/// Another schedule of the same steps: other works in the place of the captured ones, by their numbers, and other steps in the place of
/// those of this device and place.
pub struct Altered {
    pub works: Vec<Work>,
    pub steps: HashMap<(usize, usize), Step>,
}

impl<'a> Replay<'a> {
    /// All workloads of all devices, in the order in which they were placed.
    pub fn run(steps: &'a Steps, model: &'a Model) -> Vec<Replayed> {
        Replay::both(steps, model, &steps.works, |_, _, step| step)
    }

    /// The same under the captured model, with other works and steps.
    pub fn altered(steps: &'a Steps, to: &'a Altered) -> Vec<Replayed> {
        Replay::both(steps, &steps.model, &to.works, |device, n, step| {
            to.steps.get(&(device, n)).unwrap_or(step)
        })
    }

    fn both<'s>(
        steps: &'a Steps,
        model: &'a Model,
        works: &'a [Work],
        now_step: impl Fn(usize, usize, &'s Step) -> &'s Step,
    ) -> Vec<Replayed>
    where
        'a: 's,
    {
        let mut all = vec![];
        for (device, asked) in steps.devices.iter().enumerate() {
            let (was, now) = (Side::new(&steps.model, &steps.model), Side::new(model, &steps.model));
            let (told, pending) = (BTreeMap::from([(1, 1)]), HashMap::new());
            let mut replay = Replay { works: [&steps.works, works], was, now, told, pending };
            for (n, (queue, step)) in asked.iter().enumerate() {
                replay.step(device, *queue, step, now_step(device, n, step), &mut all);
            }
        }
        all
    }

    /// The same moment, of the other schedule.
    fn moment(&self, t: u64) -> u64 {
        self.told.range(..=t).next_back().map_or(t, |(was, now)| now + (t - was))
    }
    fn tell(&mut self, was: u64, now: u64) {
        let to = self.told.entry(was).or_insert(now);
        *to = now.max(*to);
    }

    /// `now`: what is asked of the changed schedule: of the same kind, or a barrier in the place of a floor.
    fn step(&mut self, device: usize, queue: usize, step: &Step, now: &Step, all: &mut Vec<Replayed>) {
        let stages = Stages::from_raw;
        match *step {
            Step::Floor(t) => {
                self.was.line(queue).floor(t);
                match *now {
                    Step::Barrier(src, dst) => {
                        let pending = self.pending.entry(queue).or_default();
                        pending[1].push(Pending::Barrier(stages(src), stages(dst)));
                    }
                    Step::Floor(t) => {
                        let now = self.moment(t);
                        self.now.line(queue).floor(now);
                    }
                    _ => {}
                }
            }
            Step::Wait(t, dst) => {
                let (then, to) = if let Step::Wait(t, dst) = *now { (t, dst) } else { (t, dst) };
                let then = self.moment(then);
                self.was.line(queue).wait(t, stages(dst));
                self.now.line(queue).wait(then, stages(to));
            }
            Step::Submission => {
                self.was.line(queue).submission();
                self.now.line(queue).submission();
            }
            Step::Barrier(..) | Step::Job { .. } => {
                let pending = self.pending.entry(queue).or_default();
                for (to, step) in pending.iter_mut().zip([step, now]) {
                    match *step {
                        Step::Job { what, work, order } => to.push(Pending::Job { what, work, order }),
                        Step::Barrier(src, dst) => to.push(Pending::Barrier(stages(src), stages(dst))),
                        _ => {}
                    }
                }
            }
            Step::Settle => {
                let [was, now] = self.pending.remove(&queue).unwrap_or_default();
                let jobs = was.iter().filter_map(|p| match p {
                    Pending::Job { work, order, .. } => Some((*work, *order)),
                    Pending::Barrier(..) => None,
                });
                let was_ran = self.was.settle(self.works[0], queue, &was);
                let now_ran = self.now.settle(self.works[1], queue, &now);
                for (((work, order), was), now) in jobs.zip(was_ran).zip(now_ran) {
                    all.push(Replayed { device, queue, order, work, was, now });
                }
            }
            Step::Done(src) => {
                let (was, now) =
                    (self.was.line(queue).done(stages(src)), self.now.line(queue).done(stages(src)));
                self.tell(was, now);
            }
            Step::Ended => {
                let (was, now) = (self.was.line(queue).latest(), self.now.line(queue).latest());
                self.tell(was, now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counters::{Counts, Event, Unit, cost};

    /// A dispatch of so many FMA instructions, which arithmetic binds.
    fn work(fma: u64, m: &Model) -> Work {
        let mut c = Counts::default();
        c[(Phase::Compute, Unit::Fma)] = fma;
        c[(Phase::Compute, Unit::Warps)] = 64_000;
        c[Event::ComputeTasks] = 16_000;
        c[Event::ComputeJobs] = 1;
        Work::compute(&c, &cost::compute(&c, m))
    }

    /// Two submissions of two queues, the second of which waits for a semaphore of the first's, the third for the host, which waited for both: with
    /// the captured model all is as it was; with twice the cores arithmetic takes half as long, and everything moves with it.
    #[test]
    fn moments_follow_what_they_stand_for() {
        let m = Model { clock_mhz: 1000, ..Model::default() };
        let works = vec![work(80_000_000, &m), work(16_000_000, &m)];
        let all = Stages::ALL_COMMANDS.as_raw();
        let job = |work, order| Step::Job { what: What::Dispatch, work, order };
        let [first, second] = [0, 1].map(|w: usize| works[w].jobs(&m, &m)[0].cycles);
        let end = [1 + first, 1 + first + second];
        let asked = vec![
            (0, Step::Floor(1)),
            (0, Step::Submission),
            (0, job(0, 0)),
            (0, Step::Settle),
            (0, Step::Ended),
            (0, Step::Done(all)),
            (1, Step::Floor(1)),
            (1, Step::Wait(end[0], all)),
            (1, Step::Submission),
            (1, job(1, 1)),
            (1, Step::Settle),
            (1, Step::Ended),
            (0, Step::Floor(end[1])),
            (0, Step::Submission),
            (0, job(0, 2)),
            (0, Step::Settle),
        ];
        let steps =
            Steps { version: 1, model: m.clone(), l2_kib: vec![], works, devices: vec![asked], lost: 0 };
        let same = Replay::run(&steps, &m);
        let spans = |r: &[Replayed], of: fn(&Replayed) -> Ran| -> Vec<[u64; 2]> {
            r.iter().map(|r| [of(r).begin, of(r).end]).collect()
        };
        assert_eq!(spans(&same, |r| r.now.ran[0]), spans(&same, |r| r.was.ran[0]));
        assert_eq!(spans(&same, |r| r.now.ran[0]), [[1, end[0]], end, [end[1], end[1] + first]]);
        let twice = Model { cores: 20, ..m.clone() };
        let now = spans(&Replay::run(&steps, &twice), |r| r.now.ran[0]);
        // A thousand cycles are the front end's.
        let half = |cycles: u64| 1000 + (cycles - 1000) / 2;
        let near = |a: u64, b: u64| assert!(a.abs_diff(b) <= 4, "{a} {b}");
        near(now[0][1], 1 + half(first));
        assert_eq!((now[1][0], now[2][0]), (now[0][1], now[1][1]));
        near(now[2][1] - now[2][0], half(first));
    }

    /// The same steps with other ones in their places: a job with half of the work ends earlier, and what waited for it begins then; a wait of the host
    /// that becomes a barrier of stages without work lets the next job begin at once, as far as the GPU has room.
    #[test]
    fn other_works_and_steps_in_the_place_of_some() {
        let m = Model { clock_mhz: 1000, ..Model::default() };
        let works = vec![work(80_000_000, &m), work(40_000_000, &m)];
        let job = |work, order| Step::Job { what: What::Dispatch, work, order };
        let [whole, half] = [0, 1].map(|w: usize| works[w].jobs(&m, &m)[0].cycles);
        let asked = vec![
            (0, Step::Floor(1)),
            (0, Step::Submission),
            (0, job(0, 0)),
            (0, Step::Settle),
            (0, Step::Ended),
            (0, Step::Floor(1 + whole)),
            (0, Step::Submission),
            (0, job(1, 1)),
            (0, Step::Settle),
        ];
        let devices = vec![asked];
        let steps =
            Steps { version: 1, model: m.clone(), l2_kib: vec![], works: works.clone(), devices, lost: 0 };
        let spans = |to: Altered| -> Vec<[u64; 2]> {
            let all = Replay::altered(&steps, &to);
            assert_eq!(all[1].was.ran[0].begin, 1 + whole);
            all.iter().map(|r| [r.now.ran[0].begin, r.now.ran[0].end]).collect()
        };
        let same = spans(Altered { works: works.clone(), steps: HashMap::new() });
        assert_eq!(same, [[1, 1 + whole], [1 + whole, 1 + whole + half]]);
        let less = spans(Altered { works: works.clone(), steps: HashMap::from([((0, 2), job(1, 0))]) });
        assert_eq!(less, [[1, 1 + half], [1 + half, 1 + 2 * half]]);
        // Both are jobs of the compute queue, which has one at a time: nothing is gained but the order stays.
        let queued = spans(Altered { works, steps: HashMap::from([((0, 5), Step::Barrier(0, 0))]) });
        assert_eq!(queued, same);
    }
}

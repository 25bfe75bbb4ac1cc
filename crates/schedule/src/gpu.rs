//! What runs when on the one GPU that a device's queues share.
//!
//! The front end has three queues (binning, compute, main), each of which works on one job at a time. What they run at once shares
//! the cores, their links to the L2, the warps that they hold, the L2 and the external memory. Jobs that are known together (those of
//! a submission, [`Gpu::run_all`]) share them fairly, whichever was submitted first: all go on at the same part of their own pace, as
//! far as there is room, and one that something else holds up less goes on faster. What has been told already (jobs of submissions
//! before) keeps what it has; so nothing is ever used by more than there is of it, and a time that was told stays.
//!
//! Times are ticks of a nanosecond. A job takes a whole number of them: equal ones take equally long.

use crate::line::Span;
use counters::bound::{Spent, Wait};
use counters::{By, Counts, Job, Model, Phase};
use std::collections::VecDeque;

/// A queue of the front end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Front {
    Binning,
    Compute,
    Main,
}
impl Front {
    pub const COUNT: usize = 3;
}
const FRONTS: usize = Front::COUNT;

/// What jobs share: units of cores, their links to the L2, warps, slices of the L2, external memory.
const SHARED: usize = 5;
/// All there is of something, and a job's own pace.
const ONE: u64 = counters::stalls::WHOLE;
/// Of what is shared, the cores, and external memory.
const CORES: usize = 0;
const MEMORY: usize = SHARED - 1;
/// A job that is left less than this of its pace waits.
const LEAST: u64 = ONE / 64;
/// Stretches that are remembered: work that comes too late for them begins later.
const REMEMBERED: usize = 4096;

/// Ticks in which the same jobs run at the same pace.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    begin: u64,
    end: u64,
    runs: [bool; FRONTS],
    used: [u64; SHARED],
    /// Part of the cores' cycles in which these jobs are on them.
    held: u64,
}

/// When a job ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    pub begin: u64,
    pub end: u64,
    /// Cycles, until the end, in which it went on, and in which others left it nothing.
    pub active: u64,
    pub blocked: u64,
    /// Cycles in which no earlier job ran beside it.
    pub alone: u64,
    /// Of the blocked cycles, those in which binning kept compute work out, or compute work binning.
    pub drained: u64,
    /// Part of external memory that other jobs used on average while it went on, of [`ONE`].
    pub beside: u64,
    /// Cycles in which cores were on it, summed: where jobs have them at once, each has what its units take, and its part of the rest.
    pub held: u64,
    /// Cycles in which its command stream had it, and of these, cycles in which it waited for what it depends on ([`crate::Line`]).
    pub stream: u64,
    pub waited: u64,
    /// When its command stream came to it. From then to its end are the ticks that it takes alone, and those that it waited besides.
    pub at: u64,
    pub own: u64,
    pub waits: By<Wait, { Wait::COUNT }>,
}

impl Ran {
    /// Active, blocked, alone.
    pub fn cycles(&self) -> [u64; 3] {
        [self.active, self.blocked, self.alone]
    }
    /// Drained, in its stream, waited.
    pub fn streamed(&self) -> [u64; 3] {
        [self.drained, self.stream, self.waited]
    }
    pub fn went(&self, job: &Job) -> counters::stalls::Went {
        let [_, exec] = self.cores(job);
        counters::stalls::Went { active: self.active, exec, beside: self.beside }
    }
    pub fn span(&self) -> Span {
        Span { begin: self.begin, end: self.end }
    }
    /// The parts of its time, of a job that counted `c`.
    pub fn spent(&self, c: &Counts, phase: Phase, job: &Job, m: &Model) -> Spent {
        Spent::of(self.end - self.at, self.waits, self.own, c, phase, job, m)
    }
    /// A job's cycles of cores, and of these with a warp.
    pub fn cores(&self, job: &Job) -> [u64; 2] {
        let exec = (self.held as u128 * job.exec as u128).checked_div(job.core as u128).unwrap_or(0);
        [self.held, exec as u64]
    }
}

/// A job that waits until it may begin: at `from`, and when so many of the jobs that are handed out together with it have ended, by
/// their queues of the front end.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'a> {
    pub front: Front,
    pub job: &'a Job,
    pub from: u64,
    pub after: [usize; FRONTS],
}

#[derive(Debug, Default)]
pub struct Gpu {
    /// In order of time, with gaps where nothing runs.
    stretches: VecDeque<Stretch>,
    /// Nothing begins before.
    horizon: u64,
}

/// Who says when jobs run.
pub trait Runs {
    /// A job that may begin at `ready`.
    fn run(&mut self, front: Front, ready: u64, job: &Job, m: &Model) -> Ran;
}

/// What is known already of jobs that ran, in the order in which they are asked for.
#[derive(Debug, Default)]
pub struct Known(pub VecDeque<Ran>);

impl Runs for Known {
    fn run(&mut self, _: Front, ready: u64, _: &Job, _: &Model) -> Ran {
        self.0.pop_front().unwrap_or(Ran { begin: ready, end: ready, ..Ran::default() })
    }
}

impl Runs for Gpu {
    fn run(&mut self, front: Front, ready: u64, job: &Job, m: &Model) -> Ran {
        let one = Waiting { front, job, from: ready, after: [0; FRONTS] };
        self.run_all(&[one], m).pop().unwrap_or_default()
    }
}

/// `n · part / ONE`.
fn part_of(n: u64, part: u64) -> u64 {
    (n as u128 * part as u128 / ONE as u128) as u64
}

/// What a job uses of each of what is shared while it goes on at its own pace, and the part of the cores' cycles that it holds.
fn demand(job: &Job, m: &Model) -> ([u64; SHARED], u64) {
    let of = |n: u64, a_cycle: u64| {
        let all = job.cycles as u128 * a_cycle as u128;
        // Rounded down: what fits beside each other by the model's figures does.
        (n as u128 * ONE as u128).checked_div(all).unwrap_or(0).min(ONE as u128) as u64
    };
    let line = counters::model::LINE;
    let want = [
        of(job.uses.cores, m.cores),
        of(job.uses.links, m.cores),
        of(job.uses.warps, m.cores * m.core.warps),
        of(job.lines * line, m.memory.l2_slices * m.memory.slice_bytes),
        of(job.bytes, m.memory.external_bytes_per_cycle),
    ];
    (want, of(job.core, m.cores))
}

/// The pace of each of some jobs that want so much, of which so much is used: the same of all, but that what one of them lacks does not
/// hold up those that do not want it.
fn paces(want: &[[u64; SHARED]], used: &[u64; SHARED]) -> Vec<u64> {
    let mut pace = vec![None; want.len()];
    loop {
        // The pace of those that are left, and what holds them to it.
        let mut least = (ONE, None);
        for r in 0..SHARED {
            let (mut left, mut asked) = (ONE - used[r], 0);
            for (w, pace) in want.iter().zip(&pace) {
                match pace {
                    Some(p) => left = left.saturating_sub(part_of(w[r], *p)),
                    None => asked += w[r],
                }
            }
            if asked > left {
                let p = (left as u128 * ONE as u128 / asked as u128) as u64;
                if p < least.0 {
                    least = (p, Some(r));
                }
            }
        }
        for (w, pace) in want.iter().zip(&mut pace) {
            if pace.is_none() && least.1.is_none_or(|r: usize| w[r] > 0) {
                *pace = Some(least.0);
            }
        }
        if pace.iter().all(Option::is_some) {
            return pace.into_iter().flatten().collect();
        }
    }
}

/// A job at the head of its queue of the front end.
struct Head {
    /// Among those that are run together.
    number: usize,
    ready: u64,
    /// In parts of a tick.
    left: u128,
    ticks: u64,
    want: [u64; SHARED],
    holds: u64,
    begun: bool,
    beside: u128,
    /// Parts of all cores' ticks.
    held: u128,
    /// It has had all that it holds, and its own pace.
    undisturbed: bool,
    ran: Ran,
}

impl Head {
    fn new(number: usize, ready: u64, job: &Job, m: &Model) -> Head {
        let ticks = m.nanoseconds(job.cycles);
        let (want, holds) = demand(job, m);
        let ran = Ran { begin: ready, end: ready, ..Ran::default() };
        let left = ticks as u128 * ONE as u128;
        Head {
            number,
            ready,
            left,
            ticks,
            want,
            holds,
            begun: false,
            beside: 0,
            held: 0,
            undisturbed: true,
            ran,
        }
    }

    /// How it ran, at last.
    fn ended(self, t: u64, job: &Job, m: &Model) -> Ran {
        let mut ran = self.ran;
        ran.end = t;
        ran.own = self.ticks;
        ran.waits[Wait::Blocked] = ran.blocked;
        ran.waits[Wait::Beside] = ran.active.saturating_sub(self.ticks);
        // Neither going on nor blocked: its queue of the front end was another's.
        ran.waits[Wait::Queue] = (t - self.ready).saturating_sub(ran.blocked + ran.active);
        ran.beside = self.beside.checked_div(ran.active as u128).unwrap_or(0) as u64;
        // Those of all ticks are the job's.
        let cycles =
            |n: u64| (n as u128 * job.cycles as u128).checked_div(self.ticks as u128).unwrap_or(0) as u64;
        (ran.active, ran.blocked, ran.alone) = (cycles(ran.active), cycles(ran.blocked), cycles(ran.alone));
        ran.drained = cycles(ran.drained);
        let held = || cycles((self.held / ONE as u128) as u64).saturating_mul(m.cores).min(job.core);
        ran.held = if self.undisturbed { job.core } else { held() };
        ran
    }
}

impl Gpu {
    /// When a job that is ready then would find its queue free.
    pub fn free(&self, front: Front, ready: u64) -> u64 {
        let mut t = ready.max(self.horizon);
        for s in self.from(t) {
            if !s.runs[front as usize] || t < s.begin {
                break;
            }
            t = s.end;
        }
        t
    }

    /// Stretches that end after `t`.
    fn from(&self, t: u64) -> impl Iterator<Item = &Stretch> {
        let first = self.stretches.partition_point(|s| s.end <= t);
        self.stretches.range(first..)
    }

    /// Runs jobs, those of each queue of the front end in their order. When each ran.
    pub fn run_all(&mut self, jobs: &[Waiting], m: &Model) -> Vec<Ran> {
        let mut all = vec![Ran::default(); jobs.len()];
        let mut queues: [VecDeque<usize>; FRONTS] = Default::default();
        for (n, job) in jobs.iter().enumerate() {
            queues[job.front as usize].push_back(n);
        }
        // When the first, second, … of each queue ended.
        let mut ends: [Vec<u64>; FRONTS] = Default::default();
        let mut heads: [Option<Head>; FRONTS] = Default::default();
        let mut t = self.horizon;
        loop {
            // What comes to the head of its queue, and what takes no time.
            let mut came = true;
            while std::mem::take(&mut came) {
                for f in 0..FRONTS {
                    let Some(&n) = queues[f].front().filter(|_| heads[f].is_none()) else { continue };
                    let w = &jobs[n];
                    if (0..FRONTS).any(|g| ends[g].len() < w.after[g]) {
                        continue;
                    }
                    let after = (0..FRONTS).filter_map(|g| ends[g].get(w.after[g].checked_sub(1)?)).max();
                    let last = ends[f].last().copied().unwrap_or(0);
                    let ready = w.from.max(after.copied().unwrap_or(0)).max(last).max(self.horizon);
                    queues[f].pop_front();
                    came = true;
                    let head = Head::new(n, ready, w.job, m);
                    if head.left > 0 {
                        heads[f] = Some(head);
                    } else {
                        let free = self.free(w.front, ready);
                        all[n] = Ran { begin: free, end: free, held: w.job.core, ..Ran::default() };
                        ends[f].push(free);
                    }
                }
            }
            let Some(first) = heads.iter().flatten().map(|h| h.ready).min() else { break };
            t = t.max(first);
            let until = self.go_on(&mut heads, t);
            t = until;
            for f in 0..FRONTS {
                if let Some(h) = heads[f].take_if(|h| h.left == 0) {
                    let n = h.number;
                    all[n] = h.ended(t, jobs[n].job, m);
                    ends[f].push(t);
                }
            }
        }
        while self.stretches.len() > REMEMBERED {
            self.horizon = self.stretches.pop_front().map_or(self.horizon, |s| s.end);
        }
        all
    }

    /// Those that are ready go on from `t`, as long as the same ones run: until when.
    fn go_on(&mut self, heads: &mut [Option<Head>; FRONTS], t: u64) -> u64 {
        let i = self.stretches.partition_point(|s| s.end <= t);
        // Until when what was told before stays the same: in a gap, as long as it lasts.
        let (others, mut until) = match self.stretches.get(i) {
            Some(s) if s.begin <= t => (Some(*s), s.end),
            Some(s) => (None, s.begin),
            None => (None, u64::MAX),
        };
        let used = others.map_or([0; SHARED], |s| s.used);
        let busy = |f: usize| others.is_some_and(|s| s.runs[f]);
        let waiting = heads.iter().flatten().filter(|h| h.ready > t).map(|h| h.ready);
        until = waiting.fold(until, u64::min);
        // Who may go on, and at what pace; who is left next to nothing leaves that to the others.
        let mut going: Vec<usize> =
            (0..FRONTS).filter(|f| heads[*f].as_ref().is_some_and(|h| h.ready <= t) && !busy(*f)).collect();
        let mut pace = loop {
            let want: Vec<_> = going.iter().flat_map(|f| &heads[*f]).map(|h| h.want).collect();
            let pace = paces(&want, &used);
            match pace.iter().position(|p| *p < LEAST) {
                Some(none) => going.remove(none),
                None => break pace.into_iter(),
            };
        };
        let pace: [u64; FRONTS] =
            std::array::from_fn(|f| if going.contains(&f) { pace.next().unwrap_or(0) } else { 0 });
        for f in 0..FRONTS {
            if let Some(h) = heads[f].as_ref().filter(|_| pace[f] > 0) {
                until =
                    until.min(t + h.left.div_ceil(pace[f] as u128).min(u64::MAX as u128 - t as u128) as u64);
            }
        }
        let length = until - t;
        let (mut runs, mut sum) = (others.map_or([false; FRONTS], |s| s.runs), used);
        for f in 0..FRONTS {
            let Some(h) = heads[f].as_ref().filter(|_| pace[f] > 0) else { continue };
            runs[f] = true;
            for (sum, want) in sum.iter_mut().zip(h.want) {
                *sum = (*sum + part_of(want, pace[f])).min(ONE);
            }
        }
        let held = share_cores(heads, &pace, ONE - others.map_or(0, |s| s.held));
        // The first of those that run has what all do to itself: of those told before, all came first.
        let first = heads.iter().enumerate().filter(|(f, _)| pace[*f] > 0);
        let first = first.filter_map(|(_, h)| h.as_ref().map(|h| h.number)).min();
        let alone = others.is_none_or(|s| s.runs == [false; FRONTS]);
        for f in 0..FRONTS {
            let Some(h) = heads[f].as_mut().filter(|h| h.ready <= t) else { continue };
            if pace[f] == 0 {
                // A job is blocked if it could run but for lack of room. The queue beside it drains first: both use the same endpoints.
                let blocked = if busy(f) { 0 } else { length };
                let peer = [Front::Compute as usize, Front::Binning as usize];
                let drains = f < peer.len() && runs[peer[f]];
                h.ran.blocked += blocked;
                h.ran.drained += if drains { blocked } else { 0 };
                continue;
            }
            if !h.begun {
                (h.ran.begin, h.begun) = (t, true);
            }
            h.left = h.left.saturating_sub(length as u128 * pace[f] as u128);
            h.ran.active += length;
            h.beside +=
                length as u128 * (sum[MEMORY] - part_of(h.want[MEMORY], pace[f]).min(sum[MEMORY])) as u128;
            h.ran.alone += if alone && first == Some(h.number) { length } else { 0 };
            h.held += length as u128 * held[f] as u128;
            h.undisturbed &= pace[f] == ONE && held[f] == h.holds;
        }
        if !going.is_empty() && length > 0 {
            let held = (held.iter().sum::<u64>() + others.map_or(0, |s| s.held)).min(ONE);
            self.put(i, Stretch { begin: t, end: until, runs, used: sum, held }, others);
        }
        until
    }

    /// Puts `mine` in a gap before place `i`, or over a part of what is there.
    fn put(&mut self, i: usize, mine: Stretch, over: Option<Stretch>) {
        let Some(over) = over else {
            return self.stretches.insert(i, mine);
        };
        self.stretches[i] = mine;
        let mut i = i;
        if over.begin < mine.begin {
            self.stretches.insert(i, Stretch { end: mine.begin, ..over });
            i += 1;
        }
        if mine.end < over.end {
            self.stretches.insert(i + 1, Stretch { begin: mine.end, ..over });
        }
    }
}

/// The part of all cores' cycles that each job has at these paces, of so much: what its units take, and of what is left by what it holds
/// while its warps wait.
fn share_cores(heads: &[Option<Head>; FRONTS], pace: &[u64; FRONTS], room: u64) -> [u64; FRONTS] {
    let of = |f: usize, n: fn(&Head) -> u64| heads[f].as_ref().map_or(0, |h| part_of(n(h), pace[f]));
    let works: [u64; FRONTS] = std::array::from_fn(|f| of(f, |h| h.want[CORES].min(h.holds)));
    let more: [u64; FRONTS] = std::array::from_fn(|f| of(f, |h| h.holds) - works[f]);
    let (left, asked) = (room.saturating_sub(works.iter().sum()), more.iter().sum::<u64>());
    std::array::from_fn(|f| {
        let part =
            if asked <= left { more[f] } else { (more[f] as u128 * left as u128 / asked as u128) as u64 };
        works[f] + part
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Model {
        Model { clock_mhz: 1000, ..Model::default() }
    }

    /// Ten cores: so many of them for so many cycles.
    fn cores(n: u64, cycles: u64) -> Job {
        let uses = counters::cost::Uses { cores: n * cycles, ..Default::default() };
        Job { cycles, core: n * cycles, exec: n * cycles, uses, ..Job::default() }
    }

    #[test]
    fn one_after_the_other_in_a_queue_side_by_side_in_others() {
        let (mut gpu, m) = (Gpu::default(), model());
        let ran = gpu.run(Front::Compute, 5, &cores(4, 100), &m);
        assert_eq!(ran, Ran { begin: 5, end: 105, active: 100, blocked: 0, alone: 100, ..ran });
        let ran = gpu.run(Front::Compute, 5, &cores(4, 100), &m);
        assert_eq!(ran, Ran { begin: 105, end: 205, active: 100, blocked: 0, alone: 100, ..ran });
        let ran = gpu.run(Front::Main, 55, &cores(6, 100), &m);
        assert_eq!(ran, Ran { begin: 55, end: 155, active: 100, blocked: 0, alone: 0, ..ran });
        assert_eq!(
            [gpu.free(Front::Compute, 0), gpu.free(Front::Compute, 7), gpu.free(Front::Main, 60)],
            [0, 205, 155]
        );
    }

    #[test]
    fn what_there_is_of_cores_is_used_once() {
        // Eight of ten cores until 100: of eight more, two work, a quarter of the pace: 25 of 100 cycles' work by then.
        let (mut gpu, m) = (Gpu::default(), model());
        gpu.run(Front::Main, 0, &cores(8, 100), &m);
        let ran = gpu.run(Front::Compute, 0, &cores(8, 100), &m);
        assert_eq!((ran.begin, ran.active, ran.blocked, ran.alone), (0, ran.end, 0, ran.end - 100));
        assert!((175..=176).contains(&ran.end), "{ran:?}");
        // All of them until 100: the other waits.
        let mut gpu = Gpu::default();
        gpu.run(Front::Main, 0, &cores(10, 100), &m);
        let ran = gpu.run(Front::Compute, 20, &cores(1, 100), &m);
        assert_eq!(ran, Ran { begin: 100, end: 200, active: 100, blocked: 80, alone: 100, ..ran });
    }

    #[test]
    fn compute_and_binning_drain_each_other() {
        let (mut gpu, m) = (Gpu::default(), model());
        gpu.run(Front::Compute, 0, &cores(10, 100), &m);
        let ran = gpu.run(Front::Binning, 20, &cores(1, 100), &m);
        assert_eq!((ran.blocked, ran.drained), (80, 80));
        // Drawing keeps it out, but not as binning does; half of memory is in use meanwhile, by nobody else.
        let mut gpu = Gpu::default();
        gpu.run(Front::Main, 0, &cores(10, 100), &m);
        let ran = gpu.run(Front::Compute, 20, &Job { bytes: 56 * 50, ..cores(1, 100) }, &m);
        assert_eq!((ran.blocked, ran.drained, ran.beside), (80, 0, 0));
        // Half of its time beside a job that uses half of memory.
        let mut gpu = Gpu::default();
        gpu.run(Front::Main, 0, &Job { bytes: 56 * 25, ..cores(1, 50) }, &m);
        assert_eq!(gpu.run(Front::Compute, 0, &cores(1, 100), &m).beside, ONE / 4);
    }

    #[test]
    fn memory_is_shared_too() {
        // Two jobs of a core each that want three quarters of what memory sustains.
        let (mut gpu, m) = (Gpu::default(), model());
        let job = Job { bytes: 56 * 300 * 3 / 4, ..cores(1, 300) };
        gpu.run(Front::Main, 0, &job, &m);
        let ran = gpu.run(Front::Compute, 0, &job, &m);
        // A third of its pace for 300 cycles, then alone.
        assert!((499..=502).contains(&ran.end), "{ran:?}");
        let mut gpu = Gpu::default();
        let job = Job { lines: 4 * 300, ..cores(1, 300) };
        gpu.run(Front::Main, 0, &job, &m);
        assert_eq!(gpu.run(Front::Compute, 0, &job, &m).begin, 300);
    }

    #[test]
    fn equal_jobs_take_equally_long() {
        let (mut gpu, m) = (Gpu::default(), Model { clock_mhz: 1300, ..model() });
        for n in 0..5 {
            // 10 cycles are 7.7 ns.
            let ran = gpu.run(Front::Main, 0, &cores(1, 10), &m);
            assert_eq!(ran, Ran { begin: n * 8, end: n * 8 + 8, active: 10, blocked: 0, alone: 10, ..ran });
        }
    }

    #[test]
    fn gaps_are_filled() {
        let (mut gpu, m) = (Gpu::default(), model());
        gpu.run(Front::Main, 0, &cores(10, 100), &m);
        gpu.run(Front::Main, 150, &cores(10, 100), &m);
        // Fifty cycles between them, the rest after.
        let ran = gpu.run(Front::Compute, 0, &cores(5, 100), &m);
        assert_eq!(ran, Ran { begin: 100, end: 300, active: 100, blocked: 200, alone: 100, ..ran });
        // Nothing takes no time, but its turn.
        assert_eq!(gpu.run(Front::Main, 160, &Job::default(), &m).end, 250);
    }

    #[test]
    fn what_is_long_over_is_forgotten() {
        let (mut gpu, m) = (Gpu::default(), model());
        for i in 0..2 * REMEMBERED as u64 {
            gpu.run(Front::Main, i * 10, &cores(1, 5), &m);
        }
        assert_eq!(gpu.stretches.len(), REMEMBERED);
        let horizon = (REMEMBERED as u64 - 1) * 10 + 5;
        assert_eq!(gpu.run(Front::Compute, 0, &cores(1, 5), &m).begin, horizon);
    }
}

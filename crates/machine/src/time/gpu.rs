//! What runs when on the one GPU that a device's queues share.
//!
//! The front end has three queues (binning, compute, main), each of which works on one job at a time. What they run at once shares
//! the cores, the L2 and the external memory: a job goes on at its own pace as long as there is room for it, slower where others
//! leave it less, and not at all where they leave nothing. Who came first keeps what it has, for when it ends has been told
//! already; so nothing is ever used by more than there is of it, and a time that was told stays.
//!
//! Times are ticks of a nanosecond. A job takes a whole number of them: equal ones take equally long.

use super::Span;
use counters::{Job, Model};
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

/// What jobs share: cores, slices of the L2, external memory.
const SHARED: usize = 3;
/// All there is of something, and a job's own pace.
const ONE: u64 = counters::stalls::WHOLE;
/// Of what is shared, external memory.
const MEMORY: usize = 2;
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
    /// Part of external memory that earlier jobs used on average while it went on, of [`ONE`].
    pub beside: u64,
    /// Cycles in which its command stream had it, and of these, cycles in which it waited for what it depends on ([`super::Line`]).
    pub stream: u64,
    pub waited: u64,
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
    pub fn went(&self) -> counters::stalls::Went {
        counters::stalls::Went { active: self.active, beside: self.beside }
    }
    pub fn span(&self) -> Span {
        Span { begin: self.begin, end: self.end }
    }
}

#[derive(Debug, Default)]
pub struct Gpu {
    /// In order of time, with gaps where nothing runs.
    stretches: VecDeque<Stretch>,
    /// Nothing begins before.
    horizon: u64,
}

/// What a job uses of each of what is shared while it goes on at its own pace.
fn demand(job: &Job, m: &Model) -> [u64; SHARED] {
    let of = |n: u64, a_cycle: u64| {
        let all = job.cycles as u128 * a_cycle as u128;
        // Rounded down: what fits beside each other by the model's figures does.
        (n as u128 * ONE as u128).checked_div(all).unwrap_or(0).min(ONE as u128) as u64
    };
    let line = counters::model::LINE;
    [
        of(job.core, m.cores),
        of(job.lines * line, m.memory.l2_slices * m.memory.slice_bytes),
        of(job.bytes, m.memory.external_bytes_per_cycle),
    ]
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

    /// Runs a job that may begin at `ready`.
    pub fn run(&mut self, front: Front, ready: u64, job: &Job, m: &Model) -> Ran {
        let want = demand(job, m);
        let mut t = ready.max(self.horizon);
        let ticks = m.nanoseconds(job.cycles);
        let mut left = ticks as u128 * ONE as u128;
        let mut ran = Ran { begin: t, end: t, ..Ran::default() };
        if left == 0 {
            let free = self.free(front, t);
            return Ran { begin: free, end: free, ..ran };
        }
        // Who drains before this may begin: they share endpoints.
        let peer = match front {
            Front::Binning => Some(Front::Compute),
            Front::Compute => Some(Front::Binning),
            Front::Main => None,
        };
        let mut beside = 0u128;
        let mut begun = false;
        let mut i = self.stretches.partition_point(|s| s.end <= t);
        while left > 0 {
            // Until when what else runs stays the same: in a gap, as long as it lasts.
            let (others, until) = match self.stretches.get(i) {
                Some(s) if s.begin <= t => (Some(*s), s.end),
                Some(s) => (None, s.begin),
                None => (None, u64::MAX),
            };
            let used = others.map_or([0; SHARED], |s| s.used);
            let queue_runs = others.is_some_and(|s| s.runs[front as usize]);
            let pace = (0..SHARED).filter(|r| want[*r] > 0).fold(ONE, |pace, r| {
                pace.min(((ONE - used[r]) as u128 * ONE as u128 / want[r] as u128) as u64)
            });
            let pace = if queue_runs || pace < LEAST { 0 } else { pace };
            if pace == 0 {
                // Blocked is who could run but for room.
                ran.blocked += if queue_runs { 0 } else { until - t };
                let drains = !queue_runs && others.zip(peer).is_some_and(|(s, p)| s.runs[p as usize]);
                ran.drained += if drains { until - t } else { 0 };
                t = until;
                i += others.is_some() as usize;
                continue;
            }
            if !begun {
                (ran.begin, begun) = (t, true);
            }
            let length = left.div_ceil(pace as u128).min((until - t) as u128) as u64;
            left = left.saturating_sub(length as u128 * pace as u128);
            ran.active += length;
            beside += length as u128 * used[MEMORY] as u128;
            ran.alone += if others.is_none_or(|s| s.runs == [false; FRONTS]) { length } else { 0 };
            let mut mine = Stretch { begin: t, end: t + length, runs: [false; FRONTS], used };
            if let Some(s) = others {
                mine.runs = s.runs;
            }
            mine.runs[front as usize] = true;
            for r in 0..SHARED {
                mine.used[r] = (used[r] + (want[r] as u128 * pace as u128 / ONE as u128) as u64).min(ONE);
            }
            t += length;
            i = self.put(i, mine, others);
        }
        ran.end = t;
        ran.beside = beside.checked_div(ran.active as u128).unwrap_or(0) as u64;
        // Those of all ticks are the job's.
        let cycles = |n: u64| (n as u128 * job.cycles as u128 / ticks as u128) as u64;
        (ran.active, ran.blocked, ran.alone) = (cycles(ran.active), cycles(ran.blocked), cycles(ran.alone));
        ran.drained = cycles(ran.drained);
        while self.stretches.len() > REMEMBERED {
            self.horizon = self.stretches.pop_front().map_or(self.horizon, |s| s.end);
        }
        ran
    }

    /// Puts `mine` in a gap before place `i`, or over a part of what is there; the place behind it.
    fn put(&mut self, i: usize, mine: Stretch, over: Option<Stretch>) -> usize {
        let Some(over) = over else {
            self.stretches.insert(i, mine);
            return i + 1;
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
        i + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Model {
        Model { clock_mhz: 1000, ..Model::default() }
    }

    /// Ten cores: so many of them for so many cycles.
    fn cores(n: u64, cycles: u64) -> Job {
        Job { cycles, core: n * cycles, exec: n * cycles, ..Job::default() }
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
        // Fifty cycles between them, the rest behind.
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

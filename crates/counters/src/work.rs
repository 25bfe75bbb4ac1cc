//! What the cost of a workload follows from, kept: its jobs' cycles under another model, without running the program again.
//!
//! Counts stay those of the model that ran. What is counted does not depend on most keys of a model file; [`COUNTED`] are those on which it does.

use crate::cost::{self, Draw, Job, Load};
use crate::event::{Counts, Event, Phase};
use crate::model::Model;
use crate::names::Named;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use small_sort::SmallSort;
use std::collections::BTreeMap;

/// What the jobs of a workload are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// One of the compute queue: a dispatch or a transfer.
    Compute,
    /// A render pass: binning and main phase.
    Pass,
    /// A transfer that is one of the main queue.
    Tiles,
}

/// A workload's work.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Work {
    kind: Kind,
    counted: Counted,
    /// Of a main phase: groups of draws that share a core, what tasks weigh, how many tasks have something to draw.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    draws: Vec<Group>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    weights: Vec<u64>,
    #[serde(default)]
    touched: u64,
    /// Tasks follow one another, on one core.
    #[serde(default)]
    serial: bool,
    /// What it would have counted with other L2s, where that differs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    l2s: Vec<WithL2>,
    /// Cycles of its jobs under the model that ran.
    cycles: [u64; 2],
}

/// What a workload would have counted with an L2 of another size.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct WithL2 {
    kib: u64,
    /// Only what differs.
    counted: Counted,
    /// Of groups of draws, [`cost::Ask::Far`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    far: Vec<u64>,
}

/// KiB of the L2s that a capture tells of, besides the modelled one.
const L2_KIB: [u64; 6] = [256, 512, 1024, 2048, 4096, 8192];

/// Sizes of L2s that a capture under this model tells of, besides the model's own.
pub fn other_l2s(m: &Model) -> Vec<u64> {
    L2_KIB.into_iter().filter(|kib| *kib != m.memory.l2_kib).collect()
}

/// What work counts with each of [`other_l2s`], by how much it differs from what it counts with the modelled L2. Differences wrap around. It is
/// empty where there is no capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Curve {
    counts: Vec<Counts>,
    /// The same of [`cost::Ask::Far`], of each draw in order.
    far: Vec<Vec<u64>>,
}

impl Curve {
    /// Of what counts this, and with other L2s those.
    pub fn of(counts: &Counts, others: &[Counts]) -> Curve {
        Curve { counts: others.iter().map(|o| o.since(counts)).collect(), far: vec![] }
    }
    pub fn add(&mut self, o: &Curve) {
        if self.counts.len() < o.counts.len() {
            self.counts.resize(o.counts.len(), Counts::default());
        }
        self.counts.iter_mut().zip(&o.counts).for_each(|(a, b)| *a += b);
    }
    /// Of one more draw, which counted `counts`.
    pub fn draw(&mut self, counts: &Counts, more: &Curve) {
        self.add(more);
        self.far.resize(self.counts.len(), vec![]);
        let far = |c: &Counts| Load::of(c, Phase::Main)[cost::Ask::Far];
        for (all, more) in self.far.iter_mut().zip(&more.counts) {
            let mut with = *counts;
            with += more;
            all.push(far(&with).wrapping_sub(far(counts)));
        }
    }
}

/// Draws that share a core.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Group {
    /// By [`cost::Ask`], as far as there is something.
    load: Vec<u64>,
    tasks: u64,
}

/// Groups of draws that are kept apart: of more, neighbours count as one.
const GROUPS: usize = 512;

/// What is not 0, by place: in a file by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counted(Vec<(u16, u64)>);

impl Counted {
    /// Without what follows from when it ran.
    pub fn of(c: &Counts) -> Counted {
        let timed = Event::BinningQueuedCycles as usize..Event::COUNT;
        let some = c.0.iter().enumerate().filter(|(i, n)| **n != 0 && !timed.contains(i));
        Counted(some.map(|(i, n)| (i as u16, *n)).collect())
    }
    /// Of `c` only what it was not `before`.
    fn changed(c: &Counts, before: &Counts) -> Counted {
        let some = c.0.iter().zip(&before.0).enumerate().filter(|(_, (n, before))| n != before);
        Counted(some.map(|(i, (n, _))| (i as u16, *n)).collect())
    }
    pub fn counts(&self) -> Counts {
        let mut c = Counts::default();
        self.change(&mut c);
        c
    }
    fn change(&self, c: &mut Counts) {
        self.0.iter().for_each(|(i, n)| c.0[*i as usize] = *n);
    }
}

impl Serialize for Counted {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(self.0.iter().map(|(i, n)| (crate::event::Anything::name(*i as usize), n)))
    }
}

impl<'d> Deserialize<'d> for Counted {
    fn deserialize<D: Deserializer<'d>>(d: D) -> Result<Counted, D::Error> {
        let all = BTreeMap::<String, u64>::deserialize(d)?;
        let mut places: BTreeMap<String, u16> =
            (0..Counts::LEN).map(|i| (crate::event::Anything::name(i), i as u16)).collect();
        let mut of = |(name, n): (String, u64)| {
            let place = places.remove(&name);
            place.map(|p| (p, n)).ok_or_else(|| serde::de::Error::custom(format!("no event {name}")))
        };
        let mut all = all.into_iter().map(&mut of).collect::<Result<Vec<_>, _>>()?;
        all.small_sort();
        Ok(Counted(all))
    }
}

/// Keys of a model file that decide what is counted: of another value a capture cannot tell, but for the sizes of L2s in [`other_l2s`].
pub const COUNTED: [&str; 6] =
    ["core.l1_kib", "core.texture_l1_kib", "core.tile_kib", "tiler.deferred", "memory.l2_kib", "memory.afbc"];

impl Work {
    /// A dispatch, or a transfer of the compute queue, that took this job.
    pub fn compute(c: &Counts, job: &Job) -> Work {
        Work::new(Kind::Compute, c, [job.cycles, 0])
    }
    /// What it would have counted with other L2s than this model's; it is no render pass.
    pub fn with_l2s(mut self, c: &Counts, curve: &Curve, m: &Model) -> Work {
        self.l2s = self.curve(c, curve, m, |_| vec![]);
        self
    }
    /// `far`: of groups of draws, with each L2.
    fn curve(&self, c: &Counts, curve: &Curve, m: &Model, far: impl Fn(usize) -> Vec<u64>) -> Vec<WithL2> {
        let own = Counted::of(c).counts();
        let with = |(n, (kib, more)): (usize, (u64, &Counts))| {
            let mut with = own;
            with += more;
            WithL2 { kib, counted: Counted::changed(&with, &own), far: far(n) }
        };
        let all = other_l2s(m).into_iter().zip(&curve.counts).enumerate().map(with);
        all.filter(|w| !w.counted.0.is_empty()).collect()
    }
    /// A transfer of the main queue, whose tasks weigh so much.
    pub fn tiles(c: &Counts, weights: Vec<u64>, job: &Job) -> Work {
        Work { weights, ..Work::new(Kind::Tiles, c, [0, job.cycles]) }
    }
    /// A render pass: `draws`, `weights` and `touched` as of [`cost::main`], of this model if tasks are not serial.
    pub fn pass(
        c: &Counts,
        draws: &[Draw],
        weights: Vec<u64>,
        touched: u64,
        serial: bool,
        jobs: [&Job; 2],
        m: &Model,
        curve: &Curve,
    ) -> Work {
        let groups = cost::grouped(draws, touched, m);
        let together = groups.len().div_ceil(GROUPS).max(1);
        let sum_of = |some: &[(usize, Draw)]| {
            let mut sum = Draw::default();
            some.iter().for_each(|(_, d)| sum.add(d));
            sum
        };
        let kept = groups.chunks(together).map(|some| {
            let sum = sum_of(some);
            let load = &sum.load.0;
            let some = load.iter().rposition(|n| *n > 0).map_or(0, |last| last + 1);
            Group { load: load[..some].to_vec(), tasks: sum.tasks }
        });
        let kept = kept.collect();
        // With another L2 the same draws share a core.
        let far = |n: usize| {
            let mut more = curve.far.get(n).into_iter().flatten();
            let of = |some: &[(usize, Draw)]| {
                let draws = some.iter().map(|(n, _)| n).sum();
                let own = sum_of(some).load[cost::Ask::Far];
                more.by_ref().take(draws).fold(own, |sum, far| sum.wrapping_add(*far))
            };
            groups.chunks(together).map(of).collect()
        };
        let cycles = jobs.map(|j| j.cycles);
        let work = Work { draws: kept, weights, touched, serial, ..Work::new(Kind::Pass, c, cycles) };
        Work { l2s: work.curve(c, curve, m, far), ..work }
    }
    fn new(kind: Kind, c: &Counts, cycles: [u64; 2]) -> Work {
        let counted = Counted::of(c);
        Work { kind, counted, draws: vec![], weights: vec![], touched: 0, serial: false, l2s: vec![], cycles }
    }

    /// About as many as it takes in memory.
    pub fn bytes(&self) -> usize {
        let groups: usize = self.draws.iter().map(|g| 32 + g.load.len() * 8).sum();
        let with_l2 = |w: &WithL2| size_of::<WithL2>() + w.counted.0.len() * 16 + w.far.len() * 8;
        let l2s: usize = self.l2s.iter().map(with_l2).sum();
        size_of::<Work>() + self.counted.0.len() * 16 + self.weights.len() * 8 + groups + l2s
    }
    pub fn kind(&self) -> Kind {
        self.kind
    }
    pub fn counts(&self) -> Counts {
        self.counted.counts()
    }
    fn with_l2(&self, kib: u64) -> Option<&WithL2> {
        self.l2s.iter().find(|w| w.kib == kib)
    }
    /// What it counts with this model's L2.
    pub fn counts_in(&self, m: &Model) -> Counts {
        let mut c = self.counts();
        self.with_l2(m.memory.l2_kib).into_iter().for_each(|w| w.counted.change(&mut c));
        c
    }
    /// The phases of [`Work::jobs`].
    pub fn phases(&self) -> [Phase; 2] {
        let first = if self.kind == Kind::Compute { Phase::Compute } else { Phase::Binning };
        [first, Phase::Main]
    }

    /// The same work, had it counted other things: `was` and `now` are what one run of it counted, and would. Events that both have change
    /// by their ratio, so that other runs of the workload can be asked too. Draws change as the main phase's counts of them do, each by the
    /// same ratio. `m`: the model that ran.
    pub fn changed(&self, was: &Counts, now: &Counts, m: &Model) -> Work {
        let ratio = |n: u64, was: u64, now: u64| match was {
            0 => n.saturating_add(now),
            _ => (n as u128 * now as u128 / was as u128) as u64,
        };
        let mut c = self.counts();
        for (n, (was, now)) in c.0.iter_mut().zip(was.0.iter().zip(&now.0)) {
            if was != now {
                *n = ratio(*n, *was, *now);
            }
        }
        let mut work = Work { counted: Counted::of(&c), l2s: vec![], ..self.clone() };
        let [was, now] = [was, now].map(cost::draws_load);
        for (i, (was, now)) in was.0.iter().zip(&now.0).enumerate().filter(|(_, (was, now))| was != now) {
            let groups = work.draws.iter_mut().filter_map(|g| g.load.get_mut(i));
            groups.filter(|n| **n > 0).for_each(|n| *n = ratio(*n, *was, *now));
        }
        let (before, after) = (self.follow(m), work.follow(m));
        work.cycles = std::array::from_fn(|i| ratio(self.cycles[i], before[i].cycles, after[i].cycles));
        work
    }

    /// Its jobs under a model; `ran` is the one under which it ran. Of what is no render pass one takes no time.
    pub fn jobs(&self, m: &Model, ran: &Model) -> [Job; 2] {
        let (now, then) = (self.follow(m), self.follow(ran));
        // Where groups of draws were added up, the rest is taken to be as much longer as it was.
        let exact = |i: usize| {
            let (mut job, was, should) = (now[i], then[i].cycles, self.cycles[i]);
            if was != should && was > 0 {
                job.cycles = (job.cycles as u128 * should as u128 / was as u128) as u64;
            }
            job
        };
        [exact(0), exact(1)]
    }

    fn follow(&self, m: &Model) -> [Job; 2] {
        let c = self.counts_in(m);
        match self.kind {
            Kind::Compute => [cost::compute(&c, m), Job::default()],
            Kind::Tiles => [Job::default(), cost::main(&c, &[], &self.weights, 0, m).job],
            Kind::Pass => {
                let with_l2 = self.with_l2(m.memory.l2_kib);
                let draws = self.draws.iter().enumerate().map(|(n, g)| {
                    let mut load = Load::default();
                    load.0.iter_mut().zip(&g.load).for_each(|(to, n)| *to = *n);
                    if let Some(far) = with_l2.and_then(|w| w.far.get(n)) {
                        load[cost::Ask::Far] = *far;
                    }
                    Draw { load, tasks: g.tasks }
                });
                let draws: Vec<Draw> = draws.collect();
                let alone = self.serial.then(|| cost::serial(m));
                let main = cost::main_of_groups(
                    &c,
                    &draws,
                    &self.weights,
                    self.touched,
                    alone.as_ref().unwrap_or(m),
                );
                [cost::binning(&c, m), main.job]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ask, Unit};

    /// A pass of a hundred draws of several sizes, in eleven tasks: from what is kept of it follow the jobs that it had, also after it was
    /// written and read; with half of the cores it takes about twice as long.
    #[test]
    fn what_is_kept_tells_the_jobs() {
        let m = Model::default();
        let mut c = Counts::default();
        c[Event::MainJobs] = 1;
        c[Event::BinningJobs] = 1;
        c[Event::MainTasks] = 11;
        c[Event::InputPrimitives] = 5000;
        c[(Phase::Main, Unit::Warps)] = 40_000;
        c[Event::MainActiveCycles] = 77;
        let draws: Vec<Draw> = (0..100u64)
            .map(|n| {
                let mut load = Load::default();
                load[Ask::Warps] = 1 + n * 7;
                load[Ask::Fma] = 90_000 + 31 * n;
                load[Ask::Accesses] = n * 50;
                Draw { load, tasks: 1 + n % 11 }
            })
            .collect();
        let weights: Vec<u64> = (0..11).map(|n| 1000 + 37 * n).collect();
        let main = cost::main(&c, &draws, &weights, 11, &m).job;
        let binning = cost::binning(&c, &m);
        // With an L2 of 256 KiB each draw waits for memory more often.
        let mut curve = Curve::default();
        for n in 0..draws.len() as u64 {
            let mut before = Counts::default();
            before[(Phase::Main, Unit::Warps)] = 1;
            before[(Phase::Main, Unit::LsReadFull)] = n * 50;
            let mut after = before;
            after[(Phase::Main, Unit::LsExtReadBeats)] = n * 4;
            after[(Phase::Main, Unit::ExtReads)] = n;
            curve.draw(&before, &Curve::of(&before, &[after, before]));
        }
        let work = Work::pass(&c, &draws, weights, 11, false, [&binning, &main], &m, &curve);
        let text = toml::to_string(&work).unwrap();
        let read: Work = toml::from_str(&text).unwrap();
        assert!(read == work && work.draws.len() < 100);
        assert_eq!(read.jobs(&m, &m), [binning, main]);
        assert_eq!(read.counts()[Event::MainActiveCycles], 0);
        let l2_of = |kib: u64| {
            let mut with = m.clone();
            with.memory.l2_kib = kib;
            with
        };
        // 0 + 1 + … + 99 lines, and waits for them.
        let far = |kib: u64| read.counts_in(&l2_of(kib))[(Phase::Main, Unit::ExtReads)];
        assert_eq!([256, 512, 2048].map(far), [4950, 0, 0]);
        let small = read.with_l2(256).expect("it differs");
        assert_eq!(small.far.iter().sum::<u64>(), 4950);
        assert!(read.with_l2(512).is_none());
        assert!(read.jobs(&l2_of(256), &m)[1].bytes == main.bytes + 4950 * crate::model::LINE);
        let half = Model { cores: 5, ..m.clone() };
        let [_, slow] = read.jobs(&half, &m);
        let ratio = (slow.cycles - 1000) as f64 / (main.cycles - 1000) as f64;
        assert!((1.4..2.2).contains(&ratio), "{ratio}");
        assert!(toml::from_str::<Work>(&text.replace("InputPrimitives", "NoSuch")).is_err());
    }

    /// A pass of two draws that arithmetic binds: with half of the fragments' instructions its main phase takes about half as long, another run of it
    /// with twice the work too, and what does not bind it changes nothing but bytes. Nothing changed is the same work.
    #[test]
    fn other_counts_are_other_jobs() {
        let m = Model::default();
        let pass = |n: u64| {
            let mut c = Counts::default();
            c[Event::MainJobs] = 1;
            c[Event::MainTasks] = 64;
            c[(Phase::Main, Unit::Warps)] = 16_000 * n;
            c[(Phase::Main, Unit::Fma)] = 8_000_000 * n;
            c[(Phase::Main, Unit::ExtReads)] = 1000 * n;
            let mut load = Load::of(&c, Phase::Main);
            load.0.iter_mut().for_each(|n| *n /= 2);
            let draws = [Draw { load, tasks: 64 }; 2];
            let main = cost::main(&c, &draws, &[1; 64], 64, &m).job;
            let jobs = [&Job::default(), &main];
            (c, Work::pass(&c, &draws, vec![1; 64], 64, false, jobs, &m, &Curve::default()))
        };
        let ((was, work), (_, twice)) = (pass(1), pass(2));
        assert_eq!(work.changed(&was, &was, &m).jobs(&m, &m), work.jobs(&m, &m));
        let mut now = was;
        now[(Phase::Main, Unit::Fma)] /= 2;
        for work in [&work, &twice] {
            let [before, after] =
                [work, &work.changed(&was, &now, &m)].map(|w| w.jobs(&m, &m)[1].cycles as f64);
            assert!((0.48..0.52).contains(&(after / before)), "{before} {after}");
        }
        let mut now = was;
        now[(Phase::Main, Unit::ExtReads)] = 250;
        let less = work.changed(&was, &now, &m);
        assert_eq!(less.counts()[(Phase::Main, Unit::ExtReads)], 250);
        assert_eq!(twice.changed(&was, &now, &m).counts()[(Phase::Main, Unit::ExtReads)], 500);
        assert_eq!(less.jobs(&m, &m)[1].cycles, work.jobs(&m, &m)[1].cycles);
    }
}

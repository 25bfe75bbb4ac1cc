//! What the cost of a workload follows from, kept: its jobs' cycles under another model, without running the program again.
//!
//! Counts stay those of the model that ran. What is counted does not depend on most keys of a model file; [`COUNTED`] are those on which it does.

use crate::cost::{self, Draw, Job, Load};
use crate::event::{Counts, Event, Phase};
use crate::model::Model;
use crate::names::Named;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
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
    /// Cycles of its jobs under the model that ran.
    cycles: [u64; 2],
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

/// What is not 0, by place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Counted(Vec<(u16, u64)>);

impl Counted {
    /// Without what follows from when it ran.
    fn of(c: &Counts) -> Counted {
        let timed = Event::BinningQueuedCycles as usize..Event::COUNT;
        let some = c.0.iter().enumerate().filter(|(i, n)| **n != 0 && !timed.contains(i));
        Counted(some.map(|(i, n)| (i as u16, *n)).collect())
    }
    fn counts(&self) -> Counts {
        let mut c = Counts::default();
        self.0.iter().for_each(|(i, n)| c.0[*i as usize] = *n);
        c
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
        all.sort_unstable();
        Ok(Counted(all))
    }
}

/// Keys of a model file that decide what is counted: of another value a capture cannot tell.
pub const COUNTED: [&str; 6] =
    ["core.l1_kib", "core.texture_l1_kib", "core.tile_kib", "tiler.deferred", "memory.l2_kib", "memory.afbc"];

impl Work {
    /// A dispatch, or a transfer of the compute queue, that took this job.
    pub fn compute(c: &Counts, job: &Job) -> Work {
        Work::new(Kind::Compute, c, [job.cycles, 0])
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
    ) -> Work {
        let groups = cost::grouped(draws, touched, m);
        let groups = groups.chunks(groups.len().div_ceil(GROUPS).max(1)).map(|some| {
            let mut sum = Draw::default();
            some.iter().for_each(|(_, d)| sum.add(d));
            let load = &sum.load.0;
            let some = load.iter().rposition(|n| *n > 0).map_or(0, |last| last + 1);
            Group { load: load[..some].to_vec(), tasks: sum.tasks }
        });
        let draws = groups.collect();
        let cycles = jobs.map(|j| j.cycles);
        Work { draws, weights, touched, serial, ..Work::new(Kind::Pass, c, cycles) }
    }
    fn new(kind: Kind, c: &Counts, cycles: [u64; 2]) -> Work {
        let counted = Counted::of(c);
        Work { kind, counted, draws: vec![], weights: vec![], touched: 0, serial: false, cycles }
    }

    /// About as many as it takes in memory.
    pub fn bytes(&self) -> usize {
        let groups: usize = self.draws.iter().map(|g| 32 + g.load.len() * 8).sum();
        size_of::<Work>() + self.counted.0.len() * 16 + self.weights.len() * 8 + groups
    }
    pub fn kind(&self) -> Kind {
        self.kind
    }
    pub fn counts(&self) -> Counts {
        self.counted.counts()
    }
    /// The phases of [`Work::jobs`].
    pub fn phases(&self) -> [Phase; 2] {
        let first = if self.kind == Kind::Compute { Phase::Compute } else { Phase::Binning };
        [first, Phase::Main]
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
        let c = self.counts();
        match self.kind {
            Kind::Compute => [cost::compute(&c, m), Job::default()],
            Kind::Tiles => [Job::default(), cost::main(&c, &[], &self.weights, 0, m).job],
            Kind::Pass => {
                let draws = self.draws.iter().map(|g| {
                    let mut load = Load::default();
                    load.0.iter_mut().zip(&g.load).for_each(|(to, n)| *to = *n);
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
        let work = Work::pass(&c, &draws, weights, 11, false, [&binning, &main], &m);
        let text = toml::to_string(&work).unwrap();
        let read: Work = toml::from_str(&text).unwrap();
        assert!(read == work && work.draws.len() < 100);
        assert_eq!(read.jobs(&m, &m), [binning, main]);
        assert_eq!(read.counts()[Event::MainActiveCycles], 0);
        let half = Model { cores: 5, ..m.clone() };
        let [_, slow] = read.jobs(&half, &m);
        let ratio = (slow.cycles - 1000) as f64 / (main.cycles - 1000) as f64;
        assert!((1.4..2.2).contains(&ratio), "{ratio}");
        assert!(toml::from_str::<Work>(&text.replace("InputPrimitives", "NoSuch")).is_err());
    }
}

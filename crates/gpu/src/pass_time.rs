//! When the parts of a render pass ran: its draws share the pass's time by what they cost, and the pass itself has the rest.

use counters::cost::{self, share};
use counters::stalls::{self, By};
use counters::{Counts, Job, Model, Phase};
use machine::count;
use machine::shared::Shared;
use machine::time::{Line, Ran, Span};
use raster::drawn::Ended;
use raster::statistics::Epochs;

/// Of a render pass.
pub struct Times {
    /// Binning and main phase.
    pub spans: [Span; 2],
    /// By epoch of queries: when what comes before it has been binned, and drawn.
    epochs: Vec<[u64; 2]>,
}

impl Times {
    pub fn at(&self, epoch: usize) -> [u64; 2] {
        self.epochs.get(epoch).copied().unwrap_or(self.spans.map(|s| s.end))
    }
}

/// `whole` by what epochs weigh; the last has `own` of it before, or all where nothing weighs.
fn split(whole: u64, weights: &[u64], own: u64) -> Vec<u64> {
    let own = if weights.iter().all(|w| *w == 0) { whole } else { own.min(whole) };
    let mut parts: Vec<u64> = share(weights.iter().copied(), whole - own).collect();
    if let Some(last) = parts.last_mut() {
        *last += own;
    }
    parts
}

/// What a phase of a pass took, and how its epochs share it.
struct Phased<'a> {
    phase: Phase,
    job: &'a Job,
    ran: Ran,
    weights: &'a [u64],
    /// Cycles of the front end, and of all cycles this many of `of` that are the pass's own.
    overhead: u64,
    own: u64,
    of: u64,
}

impl Phased<'_> {
    fn split(&self, whole: u64) -> Vec<u64> {
        let overhead = self.overhead.min(whole);
        let own = match self.of {
            0 => 0,
            of => ((whole - overhead) as u128 * self.own as u128 / of as u128) as u64,
        };
        split(whole, self.weights, overhead + own)
    }

    /// Adds what it waited for to epochs, of a pass that counted `all`.
    fn stall(&self, epochs: &mut Epochs, all: &Counts, m: &Model) {
        let whole = stalls::of(all, self.phase, self.job, self.ran.went(), m);
        let of = |unit| epochs.each().iter().map(|c| c[(self.phase, unit)]).collect::<Vec<u64>>();
        let mut each = vec![Counts::default(); self.weights.len()];
        for (event, by) in stalls::SHARED.into_iter().filter(|s| whole[s.0] > 0) {
            let parts = match by {
                By::Time => split(whole[event], self.weights, 0),
                By::Unit(unit) => split(whole[event], &of(unit), 0),
            };
            each.iter_mut().zip(parts).for_each(|(c, part)| c[event] = part);
        }
        for (events, unit) in stalls::BANDS {
            let bands: Vec<u64> = events.iter().map(|e| whole[*e]).collect();
            for (c, parts) in each.iter_mut().zip(stalls::deal(&bands, &of(unit))) {
                events.iter().zip(parts).for_each(|(event, part)| c[*event] = part);
            }
        }
        each.iter().enumerate().for_each(|(e, c)| epochs.add_at(e, c));
    }

    /// Adds its events to epochs; when each ended.
    fn add(&self, epochs: &mut Epochs) -> Vec<u64> {
        let parts = self.ran.cycles().map(|n| self.split(n));
        let streamed = self.ran.streamed().map(|n| self.split(n));
        let mut at = self.ran.begin;
        let times = self.split(self.ran.end - self.ran.begin);
        (0..self.weights.len())
            .map(|e| {
                let mut c = Counts::default();
                count::ran(&mut c, self.phase, [0, 1, 2].map(|i: usize| parts[i][e]));
                count::streamed(&mut c, self.phase, [0, 1, 2].map(|i: usize| streamed[i][e]));
                epochs.add_at(e, &c);
                at += times[e];
                at
            })
            .collect()
    }
}

/// Runs the pass's jobs, and adds their time to its counts. While nobody looks it takes no time.
pub fn run(shared: &Shared, line: &mut Line, ended: &mut Ended) -> Times {
    if !shared.observed.counts() {
        let now = line.latest();
        return Times { spans: [Span { begin: now, end: now }; 2], epochs: vec![] };
    }
    let m: &Model = shared.model;
    let epochs = &mut ended.epochs;
    let all = epochs.all();
    let n = epochs.each().len();
    let binning = cost::binning(&all, m);
    let (main, drawn) = ended.drawn.main(&all, n, m);
    if let Some(seen) = &mut ended.seen {
        ended.drawn.tell(&mut seen.draws, &binning, &main, m);
    }
    let ran = line.pass(&mut shared.clock.gpu(), [&binning, &main.job], m);
    let binned: Vec<u64> = epochs.each().iter().map(|c| cost::binning_weight(c, m)).collect();
    let (core, exec) = (split(binning.core, &binned, 0), split(binning.exec, &binned, 0));
    let draws: Vec<u64> = drawn.iter().map(|d| d[0]).collect();
    let own = main.job.core.saturating_sub(draws.iter().sum());
    for e in 0..n {
        let mut c = Counts::default();
        count::cores(&mut c, Phase::Binning, core[e], exec[e]);
        let last = if e + 1 == n { own } else { 0 };
        count::cores(&mut c, Phase::Main, draws[e] + last, drawn[e][1]);
        epochs.add_at(e, &c);
    }
    let jobs = |job: counters::Event, cycles: u64| all[job] * cycles;
    let bin = Phased {
        phase: Phase::Binning,
        job: &binning,
        ran: ran[0],
        weights: &binned,
        overhead: jobs(counters::Event::BinningJobs, m.overhead.binning_job),
        own: 0,
        of: 0,
    };
    let draw = Phased {
        phase: Phase::Main,
        job: &main.job,
        ran: ran[1],
        weights: &draws,
        overhead: jobs(counters::Event::MainJobs, m.overhead.main_job),
        own,
        of: main.job.core,
    };
    [&bin, &draw].into_iter().for_each(|p| p.stall(epochs, &all, m));
    let ends = [bin.add(epochs), draw.add(epochs)];
    let begins = [0, 1].map(|p: usize| ran[p].begin);
    let before = |e: usize| [0, 1].map(|p: usize| e.checked_sub(1).map_or(begins[p], |e| ends[p][e]));
    Times { spans: ran.map(|r| r.span()), epochs: (0..=n).map(before).collect() }
}

//! When the parts of a render pass ran: its draws share the pass's time by what they cost, and the pass itself has the rest.
//!
//! Views run one after the other, each with its draws in their order, so that a view's time is its own draws'.

use counters::bound::Spent;
use counters::cost::{self, share};
use counters::stalls::{self, By};
use counters::{Counts, Job, Model, Phase};
use machine::count;
use machine::time::{Known, Line, Ran, Span};
use raster::drawn::Ended;
use raster::statistics::{Epochs, Views};

/// Of a render pass.
pub struct Times {
    /// Binning and main phase.
    pub spans: [Span; 2],
    /// By view, then by epoch of queries: when what of the view comes before it has been binned, and drawn.
    views: Vec<Vec<[u64; 2]>>,
    places: Views,
    /// What the phases waited for, if anybody listens.
    pub spent: [Spent; Phase::ALL.len()],
}

impl Times {
    /// When everything before an epoch is done.
    pub fn at(&self, epoch: usize) -> [u64; 2] {
        self.of(self.places.count() - 1, epoch)
    }
    /// When this view has got so far.
    pub fn at_of(&self, epoch: usize, view: u32) -> [u64; 2] {
        self.of(self.place(view), epoch)
    }
    /// Views that are told apart, and which of them this one is.
    pub fn views(&self) -> usize {
        self.places.count()
    }
    pub fn place(&self, view: u32) -> usize {
        self.places.place(view)
    }
    fn of(&self, place: usize, epoch: usize) -> [u64; 2] {
        let times = self.views.get(place).and_then(|v| v.get(epoch));
        times.copied().unwrap_or(self.spans.map(|s| s.end))
    }
}

/// `whole` by what cells weigh; those of the last epoch, one for each of so many views, have `own` of it before, in equal parts, or
/// all where nothing weighs.
fn split(whole: u64, weights: &[u64], own: u64, views: usize) -> Vec<u64> {
    let own = if weights.iter().all(|w| *w == 0) { whole } else { own.min(whole) };
    let mut parts: Vec<u64> = share(weights.iter().copied(), whole - own).collect();
    let last = parts.len().saturating_sub(views);
    parts[last..].iter_mut().zip(share(std::iter::repeat_n(1, views), own)).for_each(|(p, own)| *p += own);
    parts
}

/// When each view of a phase that began then has done what comes before each epoch, and at last all of it.
fn ends(begin: u64, times: &[u64], views: usize) -> Vec<Vec<u64>> {
    let mut at = begin;
    let view = |v: usize| {
        let mut all = vec![at];
        for time in times.iter().skip(v).step_by(views) {
            at += time;
            all.push(at);
        }
        all
    };
    (0..views).map(view).collect()
}

/// What a phase of a pass took, and how the cells of its epochs share it.
struct Phased<'a> {
    phase: Phase,
    job: &'a Job,
    ran: Ran,
    weights: &'a [u64],
    /// Cycles of the front end, and of all cycles this many of `of` that are the pass's own.
    overhead: u64,
    own: u64,
    of: u64,
    views: usize,
}

impl Phased<'_> {
    fn split(&self, whole: u64) -> Vec<u64> {
        let overhead = self.overhead.min(whole);
        let own = match self.of {
            0 => 0,
            of => ((whole - overhead) as u128 * self.own as u128 / of as u128) as u64,
        };
        split(whole, self.weights, overhead + own, self.views)
    }

    /// Adds what it waited for to cells, of a pass that counted `all`.
    fn stall(&self, epochs: &mut Epochs, all: &Counts, m: &Model) {
        let whole = stalls::of(all, self.phase, self.job, self.ran.went(self.job), m);
        let of = |unit| epochs.each().iter().map(|c| c[(self.phase, unit)]).collect::<Vec<u64>>();
        let mut each = vec![Counts::default(); self.weights.len()];
        for (event, by) in stalls::SHARED.into_iter().filter(|s| whole[s.0] > 0) {
            let parts = match by {
                By::Time => split(whole[event], self.weights, 0, self.views),
                By::Unit(unit) => split(whole[event], &of(unit), 0, self.views),
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

    /// Adds its events to cells; when views got how far.
    fn add(&self, epochs: &mut Epochs) -> Vec<Vec<u64>> {
        let parts = self.ran.cycles().map(|n| self.split(n));
        let streamed = self.ran.streamed().map(|n| self.split(n));
        for cell in 0..self.weights.len() {
            let mut c = Counts::default();
            count::ran(&mut c, self.phase, [0, 1, 2].map(|i: usize| parts[i][cell]));
            count::streamed(&mut c, self.phase, [0, 1, 2].map(|i: usize| streamed[i][cell]));
            epochs.add_at(cell, &c);
        }
        ends(self.ran.begin, &self.split(self.ran.end - self.ran.begin), self.views)
    }
}

/// The jobs of a pass.
pub struct Jobs {
    pub all: Counts,
    pub binning: Job,
    pub main: Job,
    /// What each cell weighs in binning.
    binned: Vec<u64>,
    /// Of the main phase, cores' cycles of the draws in each cell.
    drawn: Vec<u64>,
}

impl Jobs {
    pub fn new(ended: &mut Ended, m: &Model) -> Jobs {
        let all = ended.epochs.all();
        let binning = cost::binning(&all, m);
        let cells = ended.epochs.each().len();
        let (main, drawn) = ended.drawn.main(&all, cells, m);
        if let Some(seen) = &mut ended.seen {
            ended.drawn.tell(&mut seen.draws, &binning, &main);
        }
        Jobs { all, binning, main: main.job, binned: ended.drawn.binning_weights(cells), drawn }
    }
}

/// Of a pass that nobody looks at: it takes no time.
pub fn unseen(line: &Line, epochs: &Epochs) -> Times {
    let now = line.latest();
    Times {
        spans: [Span { begin: now, end: now }; 2],
        views: vec![],
        places: epochs.views(),
        spent: Default::default(),
    }
}

/// Runs the pass's jobs, and adds their time to its counts. `heard`: somebody wants to know what they waited for.
pub fn run(
    line: &mut Line,
    known: &mut Known,
    jobs: Jobs,
    epochs: &mut Epochs,
    heard: bool,
    m: &Model,
) -> Times {
    let places = epochs.views();
    let views = places.count();
    let n = epochs.each().len();
    let Jobs { all, binning, main, binned, drawn: draws } = jobs;
    let ran = line.pass(known, [&binning, &main], m);
    let [core, exec] = ran[0].cores(&binning).map(|all| split(all, &binned, 0, views));
    let own = main.core.saturating_sub(draws.iter().sum());
    // What the draws hold the cores for, and what is the pass's own.
    let [held, drawn] = ran[1].cores(&main);
    let with_own = split(held, &draws, held - drawn, views);
    let drawn = split(drawn, &draws, 0, views);
    for cell in 0..n {
        let mut c = Counts::default();
        count::cores(&mut c, Phase::Binning, core[cell], exec[cell]);
        count::cores(&mut c, Phase::Main, with_own[cell], drawn[cell]);
        epochs.add_at(cell, &c);
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
        views,
    };
    let draw = Phased {
        phase: Phase::Main,
        job: &main,
        ran: ran[1],
        weights: &draws,
        overhead: jobs(counters::Event::MainJobs, m.overhead.main_job),
        own,
        of: main.core,
        views,
    };
    [&bin, &draw].into_iter().for_each(|p| p.stall(epochs, &all, m));
    let [binned, drawn] = [bin.add(epochs), draw.add(epochs)];
    let both = |(b, d): (Vec<u64>, Vec<u64>)| b.into_iter().zip(d).map(|(b, d)| [b, d]).collect();
    let mut spent = [Spent::default(); Phase::ALL.len()];
    if heard {
        for (p, job, ran) in [(Phase::Binning, &binning, &ran[0]), (Phase::Main, &main, &ran[1])] {
            spent[p as usize] = ran.spent(&all, p, job, m);
        }
    }
    let views = binned.into_iter().zip(drawn).map(both).collect();
    Times { spans: ran.map(|r| r.span()), views, places, spent }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_have_their_own_parts() {
        // Two epochs of two views; the pass's own ten are shared by the views of the last epoch.
        assert_eq!(split(110, &[10, 20, 30, 40], 10, 2), [10, 20, 35, 45]);
        assert_eq!(split(7, &[0, 0, 0, 0], 0, 2), [0, 0, 3, 4]);
        // The first view's epochs, then the second's.
        assert_eq!(ends(1000, &[10, 20, 35, 45], 2), [[1000, 1010, 1045], [1045, 1065, 1110]]);
        assert_eq!(ends(5, &[1, 2], 1), [[5, 6, 8]]);
    }
}

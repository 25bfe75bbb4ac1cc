//! What a render pass's draws and tiles ask of the GPU, for the time that they take.

use crate::facts::{DrawFacts, PassFacts};
use crate::picture::Picture;
use crate::recorded::PassLine;
use crate::regions::Map;
use crate::statistics::Epochs;
use counters::cost::{self, MainPhase};
use counters::model::LINE;
use counters::{Ask, Counts, Curve, Job, Load, Model, Phase, Unit, Work};
use machine::{count, l2};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use wave::L2;

/// Tasks that are told apart: of more, neighbours count as one.
const TOLD: u64 = 1 << 16;

/// What a render pass counted.
pub struct Ended {
    pub epochs: Epochs,
    pub drawn: Drawn,
    /// For a capture.
    pub seen: Option<Box<Seen>>,
    /// Of a recorded frame.
    pub recorded: Option<Box<PassLine>>,
}

/// What a capture has of a render pass besides counts.
pub struct Seen {
    pub regions: Option<Map>,
    pub picture: Option<Picture>,
    pub draws: Draws,
    pub facts: PassFacts,
}

/// Draws of a pass that a capture tells apart.
const MOST_DRAWS: usize = 1024;

/// A command that drew, in a captured pass.
pub struct Told {
    /// The call, how much it draws if the call says so, and the pipeline's entry points.
    pub name: String,
    /// VK_EXT_debug_utils, outermost first, `/` between.
    pub label: String,
    /// What it counted, and cores' cycles; what the pass took in nanoseconds is the pass's.
    pub counts: Counts,
    pub facts: DrawFacts,
}

/// The draws of a captured pass, in order.
#[derive(Default)]
pub struct Draws {
    pub told: Vec<Told>,
    /// How many more there were.
    pub lost: u64,
}

impl Draws {
    /// One more begins; its place, if it is told apart.
    pub fn begin(&mut self, name: String, label: String, facts: impl FnOnce() -> DrawFacts) -> Option<usize> {
        if self.told.len() >= MOST_DRAWS {
            self.lost += 1;
            return None;
        }
        self.told.push(Told { name, label, counts: Counts::default(), facts: facts() });
        Some(self.told.len() - 1)
    }

    pub fn add(&mut self, place: Option<usize>, counts: &Counts) {
        if let Some(t) = place.and_then(|p| self.told.get_mut(p)) {
            t.counts += counts;
        }
    }
}

#[derive(Default)]
pub struct Drawn {
    /// In order; a large draw may be several.
    draws: Vec<Part>,
    /// Cycles of a core by task.
    weights: Box<[AtomicU64]>,
    tasks: u64,
    /// Tasks with something to draw.
    touched: AtomicU64,
    /// Bytes that binning has left for the tiles, by cell of [`Epochs`].
    between: Vec<(usize, u64)>,
    /// What draws weigh in binning ([`cost::binning_weight`]), in order.
    binned: Vec<Binned>,
    /// Tasks follow one another.
    serial: bool,
    /// What it would have counted with other L2s.
    curve: Curve,
}

/// A draw, or a part of one.
struct Part {
    /// Of [`Epochs`].
    cell: usize,
    /// Which of [`Draws`] it is.
    told: Option<usize>,
    draw: cost::Draw,
}

/// What draws of one cell of [`Epochs`] and one place in [`Draws`] weigh.
struct Binned {
    cell: usize,
    told: Option<usize>,
    weight: u64,
}

/// The weights of tasks that are being drawn.
#[derive(Clone, Copy)]
pub(crate) struct Weights<'a> {
    of: &'a [AtomicU64],
    tasks: u64,
    touched: &'a AtomicU64,
}

impl Weights<'_> {
    /// Task `n` is drawn; `load`: of its draws, `fixed`: what it counted besides.
    pub fn add(&self, n: u64, load: &Load, fixed: &Counts, m: &Model) {
        let mut all = Load::of(fixed, Phase::Main);
        all += load;
        let cycles = all.busy(&m.core) + fixed[counters::Event::MainTasks] * m.overhead.main_task;
        // As many places as tasks, or fewer.
        let place = (n as u128 * self.of.len() as u128 / self.tasks.max(1) as u128) as usize;
        if let Some(w) = self.of.get(place) {
            w.fetch_add(cycles, Relaxed);
        }
        self.touched.fetch_add((load[Ask::Quads] > 0) as u64, Relaxed);
    }
}

impl Drawn {
    /// `serial`: tasks follow one another, each with a core of its own.
    pub(crate) fn new(serial: bool) -> Drawn {
        Drawn { serial, ..Drawn::default() }
    }

    /// There are so many tasks: in each part of a pass as many.
    pub(crate) fn expect(&mut self, tasks: u64) {
        if self.weights.is_empty() {
            self.weights = (0..tasks.min(TOLD)).map(|_| AtomicU64::new(0)).collect();
            self.tasks = tasks;
        }
    }
    pub(crate) fn weights(&self) -> Weights<'_> {
        Weights { of: &self.weights, tasks: self.tasks, touched: &self.touched }
    }
    /// It counted `counts`.
    pub(crate) fn draw(
        &mut self,
        cell: usize,
        told: Option<usize>,
        draw: cost::Draw,
        counts: &Counts,
        curve: &Curve,
    ) {
        self.draws.push(Part { cell, told, draw });
        self.curve.draw(counts, curve);
    }
    /// What else would have been counted with other L2s.
    pub(crate) fn curve(&mut self, more: &Curve) {
        self.curve.add(more);
    }

    /// Adds cores' cycles of a pass's phases to its draws.
    pub fn tell(&self, draws: &mut Draws, binning: &Job, main: &MainPhase) {
        let weights = self.binned.iter().map(|b| b.weight);
        let [core, exec] = [binning.core, binning.exec].map(|all| cost::share(weights.clone(), all));
        for ((b, core), exec) in self.binned.iter().zip(core).zip(exec) {
            let mut c = Counts::default();
            count::cores(&mut c, Phase::Binning, core, exec);
            draws.add(b.told, &c);
        }
        for (part, cycles) in self.draws.iter().zip(&main.draws) {
            let mut c = Counts::default();
            count::cores(&mut c, Phase::Main, *cycles, *cycles);
            draws.add(part.told, &c);
        }
    }

    /// A draw that counted `c` has been binned. Each is weighed by itself: its part of the pass's time is the same whatever is told apart.
    pub(crate) fn binned(&mut self, cell: usize, told: Option<usize>, c: &Counts, m: &Model) {
        let weight = cost::binning_weight(c, m);
        match self.binned.last_mut() {
            Some(b) if b.cell == cell && b.told == told => b.weight += weight,
            _ => self.binned.push(Binned { cell, told, weight }),
        }
    }

    /// What each of so many cells of [`Epochs`] weighs in binning.
    pub fn binning_weights(&self, cells: usize) -> Vec<u64> {
        let mut all = vec![0; cells];
        for b in &self.binned {
            if let Some(sum) = all.get_mut(b.cell) {
                *sum += b.weight;
            }
        }
        all
    }

    /// Binning has written so many bytes for the tiles.
    pub(crate) fn between(&mut self, cell: usize, bytes: u64) {
        match self.between.last_mut() {
            Some((e, sum)) if *e == cell => *sum += bytes,
            _ => self.between.push((cell, bytes)),
        }
    }

    /// Tiles read what binning has left: the L2 has it still if all of a pass fits, else each line comes from memory once.
    pub(crate) fn read_again(&mut self, epochs: &mut Epochs, m: &Model) {
        let all: u64 = self.between.iter().map(|(_, bytes)| bytes).sum();
        let lines: u64 = self.between.iter().map(|(_, bytes)| bytes.div_ceil(LINE)).sum();
        let read = |l2: &L2| {
            let mut c = Counts::default();
            c[(Phase::Main, Unit::ExtReads)] = if all > l2.lines * LINE { lines } else { 0 };
            c
        };
        let others: Vec<Counts> = l2::others().iter().map(read).collect();
        self.curve.add(&Curve::of(&read(&l2::modelled()), &others));
        if all <= m.memory.l2_kib << 10 {
            return;
        }
        for (cell, bytes) in self.between.drain(..) {
            let mut c = Counts::default();
            c[(Phase::Main, Unit::ExtReads)] = bytes.div_ceil(LINE);
            epochs.add_at(cell, &c);
        }
    }

    fn shares(&self) -> (Vec<cost::Draw>, Vec<u64>) {
        let draws = self.draws.iter().map(|d| d.draw).collect();
        (draws, self.weights.iter().map(|w| w.load(Relaxed)).collect())
    }

    /// What the pass's jobs follow from, for a capture.
    pub fn work(&self, all: &Counts, jobs: [&Job; 2], m: &Model) -> Work {
        let (draws, weights) = self.shares();
        let alone = self.serial.then(|| cost::serial(m));
        let m = alone.as_ref().unwrap_or(m);
        Work::pass(all, &draws, weights, self.touched.load(Relaxed), self.serial, jobs, m, &self.curve)
    }

    /// The main phase of a pass that counted `all`; and, by cell of so many, the cycles in which cores hold warps of its draws.
    pub fn main(&self, all: &Counts, cells: usize, m: &Model) -> (MainPhase, Vec<u64>) {
        let (draws, weights) = self.shares();
        let alone = self.serial.then(|| cost::serial(m));
        let m = alone.as_ref().unwrap_or(m);
        let main = cost::main(all, &draws, &weights, self.touched.load(Relaxed), m);
        let mut by_cell = vec![0; cells];
        for (part, cycles) in self.draws.iter().zip(&main.draws) {
            if let Some(e) = by_cell.get_mut(part.cell) {
                *e += cycles;
            }
        }
        (main, by_cell)
    }
}

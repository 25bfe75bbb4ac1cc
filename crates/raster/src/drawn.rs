//! What a render pass's draws and tiles ask of the GPU, for the time that they take.

use crate::statistics::Epochs;
use counters::cost::{self, MainPhase};
use counters::{Counts, Load, Model, Phase};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Tasks that are told apart: of more, neighbours count as one.
const TOLD: u64 = 1 << 16;

/// What a render pass counted.
pub struct Ended {
    pub epochs: Epochs,
    pub drawn: Drawn,
}

#[derive(Default)]
pub struct Drawn {
    /// With their epochs, in order.
    draws: Vec<(usize, cost::Draw)>,
    /// Cycles of a core by task.
    weights: Box<[AtomicU64]>,
    tasks: u64,
    /// Tasks with something to draw.
    touched: AtomicU64,
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
        let mut all = Load::of(fixed, Phase::Main, m);
        all.add(load);
        let cycles = all.busy(&m.core) + fixed[counters::Event::MainTasks] * m.overhead.main_task;
        // As many places as tasks, or fewer.
        let place = (n as u128 * self.of.len() as u128 / self.tasks.max(1) as u128) as usize;
        if let Some(w) = self.of.get(place) {
            w.fetch_add(cycles, Relaxed);
        }
        self.touched.fetch_add((load.quads > 0) as u64, Relaxed);
    }
}

impl Drawn {
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
    pub(crate) fn draw(&mut self, epoch: usize, draw: cost::Draw) {
        self.draws.push((epoch, draw));
    }

    /// The main phase of a pass that counted `all`; and, by epoch, the cores' cycles of its draws, all and with a warp.
    pub fn main(&self, all: &Counts, epochs: usize, m: &Model) -> (MainPhase, Vec<[u64; 2]>) {
        let draws: Vec<cost::Draw> = self.draws.iter().map(|d| d.1).collect();
        let weights: Vec<u64> = self.weights.iter().map(|w| w.load(Relaxed)).collect();
        let main = cost::main(all, &draws, &weights, self.touched.load(Relaxed), m);
        let mut by_epoch = vec![[0; 2]; epochs];
        for ((epoch, _), [core, exec]) in self.draws.iter().zip(&main.draws) {
            if let Some(e) = by_epoch.get_mut(*epoch) {
                e[0] += core;
                e[1] += exec;
            }
        }
        (main, by_epoch)
    }
}

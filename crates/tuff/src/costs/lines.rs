//! What each line of a shader cost: its blocks' measured costs, shared by their lines as the compiler's costs of one warp are.

use super::Shader;
use crate::offline::cost_of_lines;
use counters::Model;
use shader::cost::Cost;
use shader::instrument::Stretch;
use std::collections::BTreeMap;

/// Cycles of units of a core, and what the units did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    pub arithmetic: f64,
    pub fma: f64,
    pub cvt: f64,
    pub sfu: f64,
    pub load_store: f64,
    pub texture: f64,
    pub varying: f64,
    /// Cache lines that loads, stores and atomics touched.
    pub lines: f64,
    /// Warps that ran the dearest of the line's blocks.
    pub warps: f64,
    /// Cycles that its warps waited, by the model's latencies and without caches' misses, shared by the warps that a core holds.
    pub latency: f64,
}

/// Metrics by name, and where they stand here.
const METRICS: [(&str, fn(&mut Spent) -> &mut f64); 9] = [
    ("Arithmetic cycles", |s| &mut s.arithmetic),
    ("FMA cycles", |s| &mut s.fma),
    ("CVT cycles", |s| &mut s.cvt),
    ("SFU cycles", |s| &mut s.sfu),
    ("Load/store cycles", |s| &mut s.load_store),
    ("Texture cycles", |s| &mut s.texture),
    ("Varying cycles", |s| &mut s.varying),
    ("Cache lines", |s| &mut s.lines),
    ("Executed warps", |s| &mut s.warps),
];

impl Spent {
    /// Of a row of a capture's metrics.
    pub fn of(metrics: &[String], values: &[u64]) -> Spent {
        let mut all = Spent::default();
        for (name, place) in METRICS {
            let at = metrics.iter().position(|m| m == name);
            *place(&mut all) = at.and_then(|i| values.get(i)).map_or(0.0, |v| *v as f64);
        }
        all
    }

    /// Cycles of the busiest unit.
    pub fn cycles(&self) -> f64 {
        self.arithmetic.max(self.load_store).max(self.texture).max(self.varying)
    }

    pub fn add(&mut self, o: &Spent) {
        let warps = self.warps.max(o.warps);
        let mut o = *o;
        METRICS.iter().for_each(|(_, place)| *place(self) += *place(&mut o));
        self.latency += o.latency;
        self.warps = warps;
    }

    pub fn scaled(mut self, by: f64) -> Spent {
        METRICS.iter().for_each(|(_, place)| *place(&mut self) *= by);
        self.latency *= by;
        self
    }
}

/// What one warp waits that runs this once, by the model's latencies where caches miss nothing.
fn waits(c: &Cost, m: &Model) -> f64 {
    let n = u64::from;
    let arithmetic = n(c.fma) + n(c.cvt) + n(c.sfu);
    (m.core.waits(arithmetic, n(c.loads) + n(c.single), n(c.tex)) + n(c.barriers) * m.core.barrier_latency)
        as f64
}

/// The share of a block's cost that is a line's.
fn part(of: u32, all: u32, first: bool) -> f64 {
    match all {
        0 => f64::from(u8::from(first)),
        _ => f64::from(of) / f64::from(all),
    }
}

/// The part of a block's metrics that is one stretch's, of all that the block has.
fn share(whole: &Spent, own: &Cost, all: &Cost, first: bool, m: &Model, resident: f64) -> Spent {
    let sum = |c: &Cost| c.fma + c.cvt + c.sfu;
    let mut s = *whole;
    s.arithmetic *= part(sum(own), sum(all), first);
    s.fma *= part(own.fma, all.fma, first);
    s.cvt *= part(own.cvt, all.cvt, first);
    s.sfu *= part(own.sfu, all.sfu, first);
    s.load_store *= part(own.ls, all.ls, first);
    s.lines *= part(own.ls, all.ls, first);
    s.texture *= part(own.tex, all.tex, first);
    s.varying *= part(own.varying, all.varying, first);
    s.latency = whole.warps * waits(own, m) / resident;
    s
}

/// By file and line (empty and 0: the module does not say), what they cost. Metrics add up to those of the blocks.
pub fn of(shader: &Shader, m: &Model) -> BTreeMap<(String, u32), Spent> {
    let mut all: BTreeMap<(String, u32), Spent> = BTreeMap::new();
    let costs: Vec<(Stretch, Cost)> =
        cost_of_lines(&shader.module, &shader.stage, &shader.entry, m).unwrap_or_default();
    // A core holds half as many of more than 32 registers.
    let resident = (m.core.warps as f64 / if shader.registers > 32 { 2.0 } else { 1.0 }).max(1.0);
    for (b, whole) in shader.spent() {
        let own: Vec<&(Stretch, Cost)> = costs.iter().filter(|(s, _)| s.label == b.label).collect();
        if own.is_empty() {
            let at = if b.line > 0 { (b.file.clone(), b.line) } else { Default::default() };
            all.entry(at).or_default().add(&whole);
            continue;
        }
        let mut sum = Cost::FREE;
        own.iter().for_each(|(_, c)| sum.add(c));
        for (i, (s, c)) in own.into_iter().enumerate() {
            // A block begins with what is of no line of its own: its first line's.
            let at = if s.line > 0 { (s.file.clone(), s.line) } else { (b.file.clone(), b.line) };
            all.entry(at).or_default().add(&share(&whole, c, &sum, i == 0, m, resident));
        }
    }
    all
}

/// By index of a block, what its warps waited in it.
pub fn latencies(shader: &Shader, m: &Model) -> BTreeMap<u32, f64> {
    let costs = cost_of_lines(&shader.module, &shader.stage, &shader.entry, m).unwrap_or_default();
    let resident = (m.core.warps as f64 / if shader.registers > 32 { 2.0 } else { 1.0 }).max(1.0);
    let of = |(b, whole): (&shader::instrument::Block, Spent)| {
        let once: f64 = costs.iter().filter(|(s, _)| s.label == b.label).map(|(_, c)| waits(c, m)).sum();
        (b.index, whole.warps * once / resident)
    };
    shader.spent().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of two lines: three FMA and one load, and one FMA; it ran 32 times. By hand: a quarter of the FMA cycles is the second's.
    #[test]
    fn lines_share_what_their_block_cost() {
        let metrics: Vec<String> = METRICS.iter().map(|m| m.0.to_string()).collect();
        let whole = Spent::of(&metrics, &[16, 16, 0, 0, 32, 0, 8, 64, 32]);
        let (a, b) = (Cost { fma: 3, ls: 1, loads: 1, ..Cost::FREE }, Cost { fma: 1, ..Cost::FREE });
        let mut sum = a;
        sum.add(&b);
        let m = Model::load(Some("g720")).unwrap();
        let [first, second] =
            [(&a, true), (&b, false)].map(|(c, first)| share(&whole, c, &sum, first, &m, 64.0));
        assert_eq!([first.fma, second.fma], [12.0, 4.0]);
        assert_eq!([first.load_store, second.load_store, first.lines], [32.0, 0.0, 64.0]);
        // No line interpolates by the compiler: that was moved here, and the first has it.
        assert_eq!([first.varying, second.varying], [8.0, 0.0]);
        assert_eq!([first.warps, second.warps], [32.0, 32.0]);
        let waited = |fma: u64, loads: u64| 32.0 * m.core.waits(fma, loads, 0) as f64 / 64.0;
        assert_eq!([first.latency, second.latency], [waited(3, 1), waited(1, 0)]);
        assert_eq!([first.cycles(), second.cycles()], [32.0, 4.0]);
    }
}

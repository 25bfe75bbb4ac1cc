//! What the rules look at: a capture with its schedule and facts, and what changes of it would gain.

use super::facts::{Attachment, Draw, Facts, Image, Pass, Uses};
use super::lines::Shaders;
use super::{About, Gain};
use crate::report::Capture;
use crate::report::capture::Workload;
use client::{Error, Result};
use counters::model::{BEAT, LINE};
use counters::{Counts, Event, Model, Phase, Unit, UnitCounts};
use schedule::{Altered, Replay, Replayed, Step, Steps};
use std::collections::HashMap;
use std::path::Path;

pub struct Case {
    pub capture: Capture,
    pub steps: Steps,
    pub facts: Facts,
    pub shaders: Shaders,
    /// By order of a run: device, place among its steps, work.
    jobs: HashMap<u64, (usize, usize, usize)>,
    /// Order of runs by workload.
    orders: Vec<Vec<u64>>,
    /// Nanoseconds of all.
    pub whole: u64,
    /// Bytes to and from external memory of all.
    pub bytes: u64,
}

/// A run of a workload that would count something else.
pub struct Change<'a> {
    pub pass: &'a Pass,
    pub was: Counts,
    pub now: Counts,
}

impl Case {
    pub fn read(folder: &Path) -> Result<Case> {
        let steps = crate::whatif::steps(folder)?;
        let capture = Capture::read(folder)?;
        let facts = Facts::read(folder)?;
        let mut jobs = HashMap::new();
        for (device, asked) in steps.devices.iter().enumerate() {
            for (n, (_, step)) in asked.iter().enumerate() {
                if let Step::Job { work, order, .. } = step {
                    jobs.insert(*order, (device, n, *work));
                }
            }
        }
        let mut orders = vec![vec![]; capture.workloads.len()];
        for r in capture.runs.iter().flatten() {
            orders[r.workload].push(r.order);
        }
        if facts.passes.iter().any(|p| p.workload >= orders.len() || !jobs.contains_key(&p.order)) {
            return Err(Error::file(
                &folder.join(crate::report::capture::FACTS),
                "names a pass that does not exist",
            ));
        }
        let shaders = Shaders::read(&folder.join("shaders"))?;
        let mut case = Case { capture, steps, facts, shaders, jobs, orders, whole: 0, bytes: 0 };
        let same = Altered { works: case.steps.works.clone(), steps: HashMap::new() };
        let all = Replay::altered(&case.steps, &same);
        case.whole = whole(&all, |r| r.was.ran);
        case.bytes = all.iter().map(|r| case.steps.works[r.work].counts()).map(|c| external(&c)).sum();
        Ok(case)
    }

    pub fn model(&self) -> &Model {
        &self.steps.model
    }
    pub fn workload(&self, p: &Pass) -> &Workload {
        &self.capture.workloads[p.workload]
    }
    /// Runs of a workload that the capture has.
    pub fn orders(&self, workload: usize) -> &[u64] {
        &self.orders[workload]
    }
    pub fn image(&self, number: usize) -> &Image {
        &self.facts.images[number]
    }
    /// What the run of a pass counted that its facts are of.
    pub fn counts(&self, p: &Pass) -> Counts {
        self.steps.works[self.jobs[&p.order].2].counts()
    }
    /// Bytes that the tiles of a pass load of attachments, and store.
    pub fn moved(&self, p: &Pass) -> [u64; 2] {
        let c = self.counts(p);
        let of = |e: Event| {
            let draws: u64 = p.draws.iter().map(|d| d.counted.counts()[e]).sum();
            c[e].saturating_sub(draws) * BEAT
        };
        [of(Event::FfeExtReadBeats), of(Event::TileWriteBeats)]
    }
    /// Of what a pass moves of attachments, the bytes of one: all of its pixels, if the GPU does not compress it; of those that it compresses, its
    /// part by the width of their pixels. `of`: those that are moved so.
    pub fn part_of(&self, p: &Pass, a: &Attachment, moved: u64, of: fn(&Attachment) -> bool) -> u64 {
        let compressed = |a: &Attachment| a.image.is_some_and(|i| self.image(i).compressed);
        let whole = |a: &Attachment| p.pixels() * a.bytes as u64;
        let sum = |is: bool| -> u64 {
            p.attachments.iter().filter(|a| of(a) && compressed(a) == is).map(whole).sum()
        };
        let part = |all: u64, of: u64| (whole(a) as u128 * all as u128 / of.max(1) as u128) as u64;
        let plain = sum(false);
        match compressed(a) {
            true => part(moved.saturating_sub(plain), sum(true)),
            // Tiles that do not change are not written.
            false => part(moved.min(plain), plain),
        }
    }
    /// What runs read and write, in the order of the runs.
    pub fn uses(&self) -> impl Iterator<Item = (u64, &Uses)> {
        self.facts.runs.iter().map(|(order, at)| (*order, &self.facts.uses[*at]))
    }

    /// What runs of these passes would gain, each with other counts, together.
    pub fn gain(&self, changes: &[Change], how: &'static str) -> Gain {
        let mut works = self.steps.works.clone();
        let mut steps = HashMap::new();
        let mut bytes = 0i64;
        for c in changes {
            let mut c = Change { pass: c.pass, was: c.was, now: c.now };
            let draws = c.pass.draws.iter().map(|d| d.counted.counts()[(Phase::Main, Unit::ExtReads)]).sum();
            let [loaded, _] = self.moved(c.pass);
            read_again(&c.was, &mut c.now, draws, loaded, self.model());
            let mut known: HashMap<usize, usize> = HashMap::new();
            for order in self.orders(c.pass.workload) {
                let Some(&(device, n, old)) = self.jobs.get(order) else { continue };
                let new = *known.entry(old).or_insert_with(|| {
                    works.push(self.steps.works[old].changed(&c.was, &c.now, self.model()));
                    works.len() - 1
                });
                bytes += external(&works[old].counts()) as i64 - external(&works[new].counts()) as i64;
                if let Step::Job { what, order, .. } = self.steps.devices[device][n].1 {
                    steps.insert((device, n), Step::Job { what, work: new, order });
                }
            }
        }
        let all = Replay::altered(&self.steps, &Altered { works, steps });
        self.gained(&all, bytes as f64, how)
    }

    /// What other steps would gain.
    pub fn gain_of_steps(&self, steps: HashMap<(usize, usize), Step>, how: &'static str) -> Gain {
        let all = Replay::altered(&self.steps, &Altered { works: self.steps.works.clone(), steps });
        self.gained(&all, 0.0, how)
    }

    fn gained(&self, all: &[Replayed], bytes: f64, how: &'static str) -> Gain {
        let now = whole(all, |r| r.now.ran);
        Gain { ns: self.whole as f64 - now as f64, bytes, memory: 0.0, how }
    }

    /// A draw for people.
    pub fn draw(&self, p: &Pass, n: usize, detail: String) -> About {
        let Draw { name, label, .. } = &p.draws[n];
        let pipeline = p.draws[n].pipeline.as_ref().map(|p| format!(", pipeline '{}'", plain::line(p)));
        About {
            kind: "draw",
            label: plain::line(label).into_owned(),
            name: format!("draw {} ({}{})", n + 1, plain::line(name), pipeline.unwrap_or_default()),
            of: self.workload(p).line(),
            detail,
            workload: Some(p.workload),
            draw: Some(n),
        }
    }

    /// So many draws of a pass do something: `one` or `several` is the verb.
    pub fn draws_of(&self, p: &Pass, n: usize, one: &str, several: &str) -> String {
        let verb = if n == 1 { one } else { several };
        format!("In {}, {} {verb}", self.workload(p).line(), crate::report::many(n, "draw"))
    }

    pub fn pass(&self, p: &Pass, detail: String) -> About {
        let w = self.workload(p);
        let times = if w.times > 1 { format!(", {} times", w.times) } else { String::new() };
        About {
            kind: "pass",
            label: plain::line(&w.label).into_owned(),
            name: format!("{}{times}", w.what()),
            of: String::new(),
            detail,
            workload: Some(p.workload),
            draw: None,
        }
    }

    pub fn image_about(&self, number: usize, detail: String) -> About {
        let i = self.image(number);
        About {
            kind: "image",
            label: plain::line(&i.name).into_owned(),
            name: i.called(number),
            of: String::new(),
            detail,
            workload: None,
            draw: None,
        }
    }
}

/// Bytes to and from external memory.
pub fn external(c: &Counts) -> u64 {
    (c.total(Unit::ExtReads) + c.total(Unit::ExtWrites)) * LINE
}

/// From the first begin to the last end, of each device, together.
fn whole(all: &[Replayed], ran: impl Fn(&Replayed) -> [schedule::Ran; 2]) -> u64 {
    let mut spans: HashMap<usize, [u64; 2]> = HashMap::new();
    for r in all {
        let span = spans.entry(r.device).or_insert([u64::MAX, 0]);
        for ran in ran(r).into_iter().filter(|r| r.end > r.begin) {
            *span = [span[0].min(ran.begin), span[1].max(ran.end)];
        }
    }
    spans.values().map(|[b, e]| e.saturating_sub(*b)).sum()
}

/// `n` · `part`, where that is at most 1.
pub fn part(n: u64, part: f64) -> u64 {
    (n as f64 * part.clamp(0.0, 1.0)).round() as u64
}

/// What the main phase does for vertices that it shades: for each of them as much as binning does, if it counted that.
fn deferred(c: &Counts) -> UnitCounts {
    let (vertices, shaded) = (c[Event::DeferredVertices], c[Event::VertexInvocations].max(1));
    let mut own = UnitCounts::default();
    for u in Unit::ALL {
        let each = c[(Phase::Binning, *u)] as u128 * vertices as u128 / shaded as u128;
        own[*u] = (each as u64).min(c[(Phase::Main, *u)]);
    }
    // Binning reads positions alone of those that do not pass through memory.
    for u in [Unit::LsReadPartial, Unit::LsL2ReadBeats] {
        own[u] = if vertices > 0 { c[(Phase::Main, u)] } else { 0 };
    }
    own[Unit::Warps] = c[Event::DeferredWarps];
    own[Unit::Threads] = vertices;
    own
}

/// Fewer fragments: what their shading costs, and what they write to the tile.
pub fn fragments(c: &mut Counts, by: f64) {
    let vertices = deferred(c);
    for u in Unit::ALL {
        let all = c[(Phase::Main, *u)];
        let own = vertices[*u].min(all);
        c[(Phase::Main, *u)] = own + part(all - own, by);
    }
    let events = [
        Event::QuadsShaded,
        Event::CoarseQuads,
        Event::BlendQuads,
        Event::BlendShaderQuads,
        Event::FragmentInvocations,
    ];
    for e in events {
        c[e] = part(c[e], by);
    }
}

/// Fewer vertices: shading and fetching, in both phases.
pub fn vertices(c: &mut Counts, by: f64) {
    let vertices = deferred(c);
    for u in Unit::ALL {
        c[(Phase::Binning, *u)] = part(c[(Phase::Binning, *u)], by);
        let own = vertices[*u];
        let left = &mut c[(Phase::Main, *u)];
        *left = left.saturating_sub(own - part(own, by));
    }
    let events = [
        Event::VertexInvocations,
        Event::PositionTasks,
        Event::VaryingTasks,
        Event::VaryingCacheMisses,
        Event::TilerReadBeats,
        Event::BinningTasks,
        Event::DeferredVertices,
        Event::DeferredWarps,
    ];
    for e in events {
        c[e] = part(c[e], by);
    }
}

/// Tiles read from memory what binning left for them if all of it is more than the L2 holds: with fewer vertices and primitives that is less, or
/// nothing. `draws`: what the draws counted, `loaded`: bytes of attachments.
fn read_again(was: &Counts, now: &mut Counts, draws: u64, loaded: u64, m: &Model) {
    let external = (Phase::Main, Unit::ExtReads);
    let again = was[external].saturating_sub(draws + loaded / LINE);
    let ratio = |of: &dyn Fn(&Counts) -> u64| of(now) as f64 / of(was).max(1) as f64;
    let vertices = ratio(&|c| c[Event::VertexInvocations] + c[Event::DeferredVertices]);
    let lists = ratio(&|c| c[Event::BinEntries]);
    // A reference in a list has eight bytes.
    let of_lists = (was[Event::BinEntries] * 8).div_ceil(LINE).min(again);
    let left = part(again - of_lists, vertices) + part(of_lists, lists);
    let left = if left * LINE > m.memory.l2_kib << 10 { left } else { 0 };
    now[external] = now[external].saturating_sub(again - left.min(again));
}

/// Fewer primitives.
pub fn primitives(c: &mut Counts, by: f64) {
    for e in [
        Event::InputVertices,
        Event::InputPrimitives,
        Event::ClippingInvocations,
        Event::ClippingPrimitives,
        Event::Triangles,
        Event::BinEntries,
        Event::PrimsRasterised,
    ] {
        c[e] = part(c[e], by);
    }
}

/// The pass with other counts of some of its draws.
pub fn with_draws(mut all: Counts, p: &Pass, draws: &[usize], change: impl Fn(usize, &mut Counts)) -> Counts {
    for n in draws {
        let was = p.draws[*n].counted.counts();
        let mut now = was;
        change(*n, &mut now);
        for ((a, was), now) in all.0.iter_mut().zip(&was.0).zip(&now.0) {
            *a = a.saturating_sub(*was).saturating_add(*now);
        }
    }
    all
}

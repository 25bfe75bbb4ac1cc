//! A render pass under way: draws are gathered, and drawn tile by tile when the pass ends.
//!
//! A render pass instance that is suspended and resumed is one pass here too: the parts add to the same [`PassRun`], as a GPU
//! keeps its lists of primitives until the last part ends. Nothing but state may be recorded between the parts.

mod flush;
mod gather;
mod tile;

use crate::draw::{Draw, Kept, What};
use crate::drawn::{Drawn, Draws, Ended, Seen};
use crate::facts::{self, DrawFacts, PassFacts};
use crate::geometry::bin::Tiles;
use crate::geometry::feedback::Feedback;
use crate::geometry::{self, Batch, GeometryContext, mesh};
use crate::pass::{self, Rendering};
use crate::picture;
use crate::record::mesh::MeshOut;
use crate::record::{MOST_PLANES, PassRecord};
use crate::recorded::{self, PassLine};
use crate::regions::Collected;
use crate::statistics::{Epochs, Views};
use crate::tile::Scratches;
use crate::tile::item::op::{Gathered, Op};
use crate::tile::item::plan::{Plan, Plans};
use crate::tile::memory::clear::Clear;
use crate::tile::memory::expand::Aside;
use crate::tile::memory::target::Targets;
use crate::tile::record::planes;
use ash::vk;
use counters::model::BEAT;
use counters::{Event, Phase, Unit};
use machine::facts::{Finder, Uses};
use machine::host::DeviceHost;
use machine::instrumentation::{Active, Work};
use machine::lost::{Blame, Labels, Place, Title};
use machine::record::Record;
use machine::sanitizer::{self, Sanitizer};
use machine::shared::Shared;
use machine::time::Line;
use machine::{count, debugger};
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::collections::HashSet;
use std::sync::Arc;
use wave::{Fault, Table};

/// What tiles are written for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// To make room, or until the pass goes on: a GPU would keep them.
    Room,
    /// Somebody may read them.
    Read,
}

/// Of which draw primitives are.
struct Made<'a> {
    draw: &'a Kept,
    tables: &'a [Table],
    place: &'a Place,
    index: u32,
    view: u32,
    layers: u32,
    plan: &'a Arc<Plan>,
    told: Option<usize>,
    active: Option<&'a Active>,
}

pub struct PassRun {
    rendering: Arc<Rendering>,
    targets: Targets,
    subpass: usize,
    /// Those of a layer.
    tiles: Tiles,
    gathered: Gathered,
    plans: Plans,
    /// Subpasses whose resolves are done.
    resolved: usize,
    /// The first subpass that is not resolved has been drawn to.
    begun: bool,
    /// Its samples that memory has no room for.
    aside: Aside,
    primitives: usize,
    words: usize,
    /// No tile has been drawn yet.
    first: bool,
    /// By attachment: tiles have been drawn with it.
    loaded: Vec<bool>,
    /// Memory holds what a GPU would still have in its tiles: that the next ones load it is none of the GPU's traffic.
    put_aside: bool,
    /// What was drawn before is to be seen by fragment shaders that read attachments as images.
    barrier: bool,
    pub epochs: Epochs,
    /// What its tiles take.
    drawn: Drawn,
    /// What each task counted, if the application or a capture asks for that.
    regions: Option<Collected>,
    /// A capture wants what it shows.
    captured: bool,
    /// Those that it tells apart.
    draws: Draws,
    facts: PassFacts,
    /// The pipelines that it has drawn with, if somebody looks at counters.
    used: Option<Used>,
    /// Modelled time as the pass begins.
    line: Line,
    scratches: Arc<Scratches>,
    part: Part,
    /// Labels that were open as it began.
    pub labels: Labels,
    /// Commands that drew.
    drew: u32,
    /// The frame is recorded.
    record: Option<Box<PassRecord>>,
}

/// Where a render pass instance stands that may come in parts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The last, or only, part is under way.
    Last,
    /// A part is under way that ends by suspending the pass.
    Suspends,
    /// It is suspended: the next part may come.
    Suspended,
}

impl Part {
    fn of(r: &Rendering) -> Part {
        if r.suspending { Part::Suspends } else { Part::Last }
    }
}

/// Pipelines, each once.
#[derive(Default)]
struct Used {
    all: Vec<Arc<Title>>,
    /// Their addresses, and the last one's.
    known: HashSet<usize>,
    last: usize,
}

impl Used {
    fn note(&mut self, title: &Arc<Title>) {
        let at = Arc::as_ptr(title).addr();
        if std::mem::replace(&mut self.last, at) != at && self.known.insert(at) {
            self.all.push(title.clone());
        }
    }
}

impl PassRun {
    /// `facts`: what it shows, what its regions count and facts about it are wanted when it ends. `observed`: somebody looks at counters.
    /// `record`: its frame is recorded there, unless it has too many attachments for that.
    pub fn new(
        rendering: &Arc<Rendering>,
        line: &Line,
        labels: &Labels,
        scratches: &Arc<Scratches>,
        facts: Option<Finder>,
        observed: bool,
        record: Option<&Arc<Record>>,
    ) -> PassRun {
        let captured = facts.is_some();
        let mut targets = Targets::new(rendering, observed);
        let record = record.filter(|_| planes(&targets).count() <= MOST_PLANES);
        targets.recorded = record.is_some();
        let within = observed.then_some(targets.within);
        let (area, grid) = (targets.area, targets.grid);
        let new = |r| Collected::new(r, area, grid, pass::layers(&rendering.subpasses, rendering.layers));
        let asked = rendering.regions.as_ref().map(new);
        let subpasses = &rendering.subpasses;
        let physical = pass::physical(subpasses, subpasses.len().saturating_sub(1)) + 1;
        let whole = || Collected::whole(physical, pass::layers(subpasses, rendering.layers), targets.area);
        // One is laid out as the application asked, the other not.
        let regions = asked.or_else(|| captured.then(whole).flatten());
        PassRun {
            loaded: vec![false; targets.own],
            put_aside: false,
            captured,
            draws: Draws::default(),
            facts: facts.map_or_else(PassFacts::default, |f| PassFacts::new(f, rendering)),
            used: observed.then(Used::default),
            barrier: true,
            targets,
            regions,
            rendering: rendering.clone(),
            subpass: 0,
            tiles: Tiles::new(area, grid, 1, within),
            gathered: scratches.gather(),
            plans: Plans::default(),
            resolved: 0,
            begun: false,
            aside: Aside::default(),
            primitives: 0,
            words: 0,
            first: true,
            epochs: Epochs::new(Views::new(pass::view_mask(&rendering.subpasses))),
            drawn: Drawn::new(rendering.regions.as_ref().is_some_and(|r| r.serialize)),
            line: line.clone(),
            scratches: scratches.clone(),
            part: Part::of(rendering),
            labels: labels.clone(),
            drew: 0,
            record: record.map(|r| PassRecord::new(r.clone())),
        }
    }

    /// A part of the pass ends. True if another will continue it; else the pass is to end.
    pub fn suspend(&mut self) -> bool {
        let suspends = self.part == Part::Suspends;
        if suspends {
            self.part = Part::Suspended;
        }
        suspends
    }
    /// Whether it waits for its next part.
    pub fn is_suspended(&self) -> bool {
        self.part == Part::Suspended
    }
    /// The next part begins, if this is one.
    pub fn resume(&mut self, next: &Rendering) -> bool {
        let continues = self.is_suspended() && next.resuming && self.rendering.is_continued_by(next);
        if continues {
            self.part = Part::of(next);
        }
        continues
    }

    /// The application counts by region: is to have the machine alone.
    pub fn by_region(&self) -> bool {
        self.rendering.regions.is_some()
    }
    /// It begins at this place in modelled time.
    pub fn begins(&mut self, line: &Line) {
        self.line = line.clone();
    }

    pub fn rendering(&self) -> &Arc<Rendering> {
        &self.rendering
    }

    fn view_mask(&self) -> u32 {
        self.rendering.subpasses.get(self.subpass).map_or(0, |s| s.view_mask)
    }
    /// For people: size, layers and attachments.
    pub fn name(&self) -> String {
        let r = &self.rendering;
        let (w, h) = (r.area.x1 - r.area.x0, r.area.y1 - r.area.y0);
        format!("{w}x{h}x{} of {} attachments", r.layers, r.attachments.len())
    }
    /// The pipelines that it has drawn with.
    pub fn pipelines(&self) -> &[Arc<Title>] {
        self.used.as_ref().map_or(&[], |u| &u.all)
    }
    /// Views of the current subpass, of which each has a query of its own; in a pass of layers the one that stands for them.
    pub fn views(&self) -> Vec<u32> {
        match self.view_mask() {
            0 => vec![0],
            mask => (0..32).filter(|v| mask >> v & 1 != 0).collect(),
        }
    }

    /// How many views all its subpasses have.
    pub fn all_views(&self) -> u32 {
        self.epochs.views().count() as u32
    }

    /// Geometry of a draw recorded at `place`. `counted`: a query is active.
    pub fn draw(
        &mut self,
        shared: &Shared,
        draws: &Arc<Vec<Draw>>,
        n: usize,
        place: &Place,
        counted: bool,
        mut feedback: Option<&mut Feedback>,
    ) -> Result<(), Blame> {
        let Some(sub) = self.targets.subpasses.get(self.subpass) else { return Ok(()) };
        let view_mask = sub.view_mask;
        let Some(kept) = Kept::new(draws, n) else { return Ok(()) };
        let d = &draws[n];
        if let Some(next) = draws.get(n + 1) {
            next.soon();
        }
        if d.feedback && std::mem::take(&mut self.barrier) {
            self.reach_memory(shared)?;
        }
        let Some(sub) = self.targets.subpasses.get(self.subpass) else { return Ok(()) };
        let at = (self.subpass, sub);
        let prepared = self.plans.of(&d.pipeline, &d.state, at, &self.targets, counted);
        let begin = self.line.pass_begins(&shared.clock.gpu(), 0)[0];
        let sanitizer = sanitizer::wanted().then(|| {
            let p = &d.pipeline;
            let all = [Some(&p.vertex), p.geometry.as_ref(), p.task.as_ref(), p.fragment.as_ref()];
            let all = all.into_iter().flatten().chain(p.tessellation.iter().flatten());
            sanitizer::name(all.map(|program| &**program), &p.title);
            Sanitizer::of_others(place.steady())
        });
        let host = DeviceHost::at(shared, begin).sanitized(sanitizer.as_ref());
        let serial = crate::serial();
        debugger::workload(place, &d.pipeline.title);
        let tables = d.bindings.tables();
        let views: SmallVec<[Option<u32>; 1]> = match view_mask {
            0 => SmallVec::from_buf([None]),
            m => (0..32).filter(|v| m >> v & 1 != 0).map(Some).collect(),
        };
        let layers = match view_mask {
            0 => self.rendering.layers,
            m => 32 - m.leading_zeros(),
        };
        let meshes = matches!(d.what, What::Mesh(_) | What::MeshIndirect { .. });
        if meshes != d.pipeline.is_mesh() {
            // Undefined: nothing is drawn.
            return Ok(());
        }
        if let Some(used) = &mut self.used {
            used.note(&d.pipeline.title);
        }
        let told = if self.captured { self.tell(shared, d, place) } else { None };
        let active =
            d.instrumentation.as_ref().map(|(object, result)| object.at(*result, || self.work(d, place)));
        self.drew += 1;
        if let Some(r) = &mut self.record {
            r.draw(shared, d, place, self.subpass);
        }
        for index in 0..d.what.count() {
            if shared.hub.stops() {
                break;
            }
            let (call, groups) = (d.what.nth(index), d.what.groups(index));
            match (&call, groups) {
                (None, None) => break,
                (Some(call), _) if call.count == 0 || call.instances == 0 => continue,
                _ => {}
            }
            for &view in &views {
                let made_out = self.record.is_some().then(|| Mutex::new(MeshOut::default()));
                let ctx = GeometryContext {
                    shared,
                    host: &host,
                    tables: &tables,
                    area: self.targets.area,
                    grid: self.targets.grid,
                    active: active.as_ref(),
                    layers,
                    index,
                    view,
                    serial,
                    prepared: &prepared.geometry,
                    record: made_out.as_ref(),
                };
                let made = Made {
                    draw: &kept,
                    tables: &tables,
                    place,
                    index,
                    view: view.unwrap_or(0),
                    layers,
                    plan: &prepared.plan,
                    told,
                    active: active.as_ref(),
                };
                let mut gathered = Ok(());
                let mut open = self.gathered.open.take().unwrap_or_else(Batch::recycled);
                open.begin();
                let mut each = |batch: &mut Box<Batch>| {
                    gathered = self.gather(shared, &made, batch);
                    gathered.is_ok()
                };
                let run = match (&call, groups) {
                    (Some(call), _) => {
                        geometry::run(&ctx, d, call, feedback.as_deref_mut(), &mut open, &mut each)
                    }
                    (None, Some(groups)) => mesh::run(&ctx, d, groups, &mut open, &mut each),
                    (None, None) => Ok(()),
                };
                self.gathered.open = Some(open);
                if let (Some(r), Some(out)) = (&mut self.record, made_out) {
                    r.made(out.into_inner(), (index, view));
                }
                run.map_err(|s| s.blame(&d.pipeline.title))?;
                gathered?;
            }
        }
        Ok(())
    }

    /// Tells a draw of a captured pass apart.
    fn tell(&mut self, shared: &Shared, d: &Draw, place: &Place) -> Option<usize> {
        let finder = Finder { report: &*shared.report, arena: shared.arena().start };
        facts::uses(finder, d, &mut self.facts.uses);
        let image = |a: u32| {
            let view = self.rendering.attachments.get(a as usize)?.view.as_ref();
            view.map(|v| machine::facts::image(finder.report, &v.image))
        };
        let sub = self.rendering.subpasses.get(self.subpass);
        let colors = sub.map_or(&[][..], |s| &s.colors).iter();
        let targets: Vec<Option<u32>> = colors.map(|a| a.and_then(image)).collect();
        self.draws.begin(d.title(), place.labels().joined(), || DrawFacts::new(finder, d, &targets))
    }

    /// What a captured pass reads and writes.
    pub fn uses(&mut self) -> Option<Box<Uses>> {
        self.captured.then(|| Box::new(std::mem::take(&mut self.facts.uses)))
    }

    /// What the next draw is among others.
    fn work(&self, d: &Draw, place: &Place) -> Work {
        let draw = Some((self.drew, place.labels().joined(), d.title()));
        Work { label: self.labels.joined(), workload: self.name(), draw }
    }

    pub fn clear(&mut self, attachments: &[vk::ClearAttachment], rects: &[vk::ClearRect], place: &Place) {
        if self.captured && self.drew == 0 {
            self.facts.clears(&self.rendering, self.subpass, attachments, rects);
        }
        let clear = Clear { attachments: attachments.to_vec(), rects: rects.to_vec() };
        let (at, cell) = (self.gathered.ops.len(), self.epochs.cell(0));
        self.gathered.lists.add_everywhere(at);
        self.gathered.push((self.subpass, cell), Op::Clear(clear), None);
        if let Some(r) = &mut self.record {
            let all = attachments.iter().map(recorded::cleared);
            let name = format!("vkCmdClearAttachments: {}", all.collect::<Vec<_>>().join(", "));
            r.command("clear", name, Some(place), self.subpass);
            r.gathered();
        }
    }

    /// A dependency within the pass.
    pub fn barrier(&mut self) {
        self.barrier = true;
    }

    /// Brings what has been drawn or cleared to memory, for a fragment shader that reads an attachment as an image
    /// (§ Feedback Loop): reads of input attachments need none of this.
    fn reach_memory(&mut self, shared: &Shared) -> Result<(), Blame> {
        let clears = self.first && self.targets.clears();
        if clears || !self.gathered.ops.is_empty() { self.flush(shared, true, Until::Read) } else { Ok(()) }
    }

    pub fn next_subpass(&mut self, shared: &Shared) -> Result<(), Blame> {
        self.subpass += 1;
        self.barrier = true;
        if let Some(r) = &mut self.record {
            r.command("subpass", "vkCmdNextSubpass".into(), None, self.subpass);
        }
        match self.rendering.subpasses.get(self.subpass) {
            Some(s) if s.flush || self.targets.aliased => self.flush(shared, false, Until::Read),
            _ => Ok(()),
        }
    }

    /// The pass is over.
    pub fn end(mut self, shared: &Shared) -> (Result<(), Blame>, Ended) {
        self.subpass = self.rendering.subpasses.len();
        let mut r = self.flush(shared, false, Until::Read);
        self.scratches.gathered(std::mem::take(&mut self.gathered));
        self.drawn.read_again(&mut self.epochs, shared.model);
        // One job each; without primitives there is nothing to bin.
        let all = self.epochs.all();
        let bins = all[Event::InputPrimitives] > 0;
        // Attachments fill their pages' sections.
        let bytes = (all[Event::FfeExtReadBeats] + all[Event::TileWriteBeats]) * BEAT;
        self.epochs.current()[(Phase::Main, Unit::SectionReads)] += bytes.div_ceil(count::SECTION);
        self.epochs.current()[Event::BinningJobs] += bins as u64;
        self.epochs.current()[Event::MainJobs] += 1;
        if let (Some(asked), Some(counted)) = (&self.rendering.regions, &self.regions)
            && counted.is_asked()
            && let Err(address) = counted.write(asked, shared.model, &shared.memory)
        {
            r = r.and(Err(Blame::of(Fault::Address(address), "counters by region")));
        }
        let seen = self.captured.then(|| {
            let regions = self.regions.as_ref().map(|c| c.map(shared.model));
            Box::new(Seen {
                regions,
                picture: picture::of(&self.rendering),
                draws: self.draws,
                facts: self.facts,
            })
        });
        let recorded =
            self.record.take().map(|r| Box::new(PassLine::new(&self.rendering, &self.targets, *r, shared)));
        (r, Ended { epochs: self.epochs, drawn: self.drawn, seen, recorded })
    }
}

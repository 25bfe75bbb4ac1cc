//! A render pass under way: draws are gathered, and drawn tile by tile when the pass ends.

mod flush;
mod tile;

use crate::draw::{Draw, What};
use crate::drawn::{Drawn, Draws, Ended, Seen};
use crate::geometry::bin::{Bins, Full};
use crate::geometry::feedback::Feedback;
use crate::geometry::{self, Batch, GeometryContext, mesh, traffic};
use crate::pass::{self, Rendering, Subpass};
use crate::picture;
use crate::regions::Collected;
use crate::statistics::Epochs;
use crate::tile::Scratches;
use crate::tile::clear::Clear;
use crate::tile::expand::Aside;
use crate::tile::item::{Item, Plan};
use crate::tile::op::Op;
use crate::tile::target::Targets;
use ash::vk;
use counters::model::{BEAT, LINE};
use counters::{Counts, Event, Phase, Unit};
use machine::count;
use machine::host::DeviceHost;
use machine::lost::{Blame, Place, Title};
use machine::shared::Shared;
use machine::time::Line;
use std::collections::HashSet;
use std::sync::Arc;
use wave::Fault;

/// Primitives gathered before tiles are drawn even though the pass goes on, and words of their lists.
const MANY: usize = 1 << 20;
const MANY_WORDS: usize = 1 << 26;

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
    draw: &'a Draw,
    place: &'a Place,
    sub: &'a Subpass,
    index: u32,
    view: u32,
    layers: u32,
    counted: bool,
    told: Option<usize>,
}

pub struct PassRun {
    rendering: Arc<Rendering>,
    targets: Targets,
    subpass: usize,
    /// (subpass, epoch of queries, what).
    ops: Vec<(usize, usize, Op)>,
    /// By op: which of `draws` it is of.
    told: Vec<Option<usize>>,
    /// Subpasses whose resolves are done.
    resolved: usize,
    /// The first subpass that is not resolved has been drawn to.
    begun: bool,
    /// Its samples that memory has no room for.
    aside: Arc<Aside>,
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
    /// Binning is under way since a pass that this one resumes.
    binned: bool,
    /// What each task counted, if the application or a capture asks for that.
    regions: Option<Collected>,
    /// A capture wants what it shows.
    captured: bool,
    /// Those that it tells apart.
    draws: Draws,
    /// The pipelines that it has drawn with, if somebody looks at counters.
    used: Option<Used>,
    /// Modelled time as the pass begins.
    line: Line,
    scratches: Arc<Scratches>,
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

/// What a suspended pass leaves to the one that resumes it.
pub struct Suspended {
    aside: Arc<Aside>,
    /// It had primitives.
    binned: bool,
    /// The render pass instance goes on, so its values come when it ends.
    regions: Option<Collected>,
    draws: Draws,
}

impl PassRun {
    /// `suspended`: what [`PassRun::end`] gave of the pass that this one may resume. `captured`: what it shows and what its regions
    /// count is wanted when it ends. `observed`: somebody looks at counters.
    pub fn new(
        rendering: &Arc<Rendering>,
        line: &Line,
        suspended: Option<Suspended>,
        scratches: &Arc<Scratches>,
        captured: bool,
        observed: bool,
    ) -> PassRun {
        let targets = Targets::new(rendering, observed);
        let before = suspended.filter(|_| rendering.resuming);
        let (aside, counted, binned, draws) =
            before.map_or_else(Default::default, |s| (s.aside, s.regions, s.binned, s.draws));
        let new = |r| Collected::new(r, targets.area, pass::layers(&rendering.subpasses, rendering.layers));
        let asked = rendering.regions.as_ref().map(new);
        let subpasses = &rendering.subpasses;
        let physical = pass::physical(subpasses, subpasses.len().saturating_sub(1)) + 1;
        let whole = || Collected::whole(physical, pass::layers(subpasses, rendering.layers), targets.area);
        // One is laid out as the application asked, the other not.
        let regions = counted.filter(|c| c.is_asked() == asked.is_some());
        let regions = regions.or(asked).or_else(|| captured.then(whole).flatten());
        PassRun {
            loaded: vec![false; targets.own],
            put_aside: rendering.resuming,
            captured,
            draws,
            used: observed.then(Used::default),
            binned,
            barrier: true,
            targets,
            regions,
            rendering: rendering.clone(),
            subpass: 0,
            ops: Vec::new(),
            told: Vec::new(),
            resolved: 0,
            begun: rendering.resuming,
            aside,
            primitives: 0,
            words: 0,
            first: true,
            epochs: Epochs::default(),
            drawn: Drawn::default(),
            line: line.clone(),
            scratches: scratches.clone(),
        }
    }

    /// The application counts by region: is to have the machine alone.
    pub fn by_region(&self) -> bool {
        self.rendering.regions.is_some()
    }
    /// It begins at this place in modelled time.
    pub fn begins(&mut self, line: &Line) {
        self.line = line.clone();
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
    /// Views of the current subpass: queries take as many.
    pub fn views(&self) -> u32 {
        self.view_mask().count_ones().max(1)
    }

    /// Views of all its subpasses.
    pub fn all_views(&self) -> u32 {
        pass::view_mask(&self.rendering.subpasses).count_ones().max(1)
    }

    /// Geometry of a draw recorded at `place`. `counted`: a query is active.
    pub fn draw(
        &mut self,
        shared: &Shared,
        d: &Draw,
        place: &Place,
        counted: bool,
        mut feedback: Option<&mut Feedback>,
    ) -> Result<(), Blame> {
        let Some(sub) = self.targets.subpasses.get(self.subpass).cloned() else { return Ok(()) };
        if d.feedback && std::mem::take(&mut self.barrier) {
            self.reach_memory(shared)?;
        }
        let begin = self.line.pass_begins(&shared.clock.gpu(), 0)[0];
        let host = DeviceHost::at(shared, begin);
        let serial = crate::serial();
        let views: Vec<Option<u32>> = match sub.view_mask {
            0 => vec![None],
            m => (0..32).filter(|v| m >> v & 1 != 0).map(Some).collect(),
        };
        let layers = match sub.view_mask {
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
        let told = match self.captured {
            true => self.draws.begin(|| d.title(), || place.labels()),
            false => None,
        };
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
                let depth = sub.depth.and_then(|a| self.targets.list.get(a as usize)?.depth.as_ref());
                let ctx = GeometryContext {
                    shared,
                    host: &host,
                    area: self.targets.area,
                    layers,
                    serial,
                    depth: depth.map(|p| p.format),
                };
                let made =
                    Made { draw: d, place, sub: &sub, index, view: view.unwrap_or(0), layers, counted, told };
                let mut gathered = Ok(());
                let mut each = |batch| {
                    gathered = self.gather(shared, &made, batch);
                    gathered.is_ok()
                };
                let run = match (&call, groups) {
                    (Some(call), _) => {
                        geometry::run(&ctx, d, call, index, view, feedback.as_deref_mut(), &mut each)
                    }
                    (None, Some(groups)) => mesh::run(&ctx, d, groups, index, view, &mut each),
                    (None, None) => Ok(()),
                };
                run.map_err(|s| Blame::new(s.stop, s.stage, s.program, &d.pipeline.title))?;
                gathered?;
            }
        }
        Ok(())
    }

    /// Takes what geometry has made of a draw, or of a part of it.
    fn gather(&mut self, shared: &Shared, made: &Made, batch: Batch) -> Result<(), Blame> {
        let d = made.draw;
        let counts = batch.counts.finish(&d.pipeline, shared.l2().as_deref_mut());
        *self.epochs.current() += &counts;
        self.draws.add(made.told, &counts);
        if self.targets.observed {
            let between = batch.counts.between(&d.pipeline.vertex, batch.prims.len() as u64);
            self.drawn.between(self.epochs.now(), between);
        }
        if d.state.raster.discard {
            return Ok(());
        }
        let batch = Arc::new(batch);
        let (mut from, mut size) = (0, batch.prims.len());
        while from < batch.prims.len() {
            let range = from..batch.prims.len().min(from + size);
            let bins = match Bins::new(shared, &batch, range.clone(), self.targets.area, made.layers) {
                Ok(bins) => bins,
                Err(Full::Entries) => {
                    size = range.len().div_ceil(2);
                    continue;
                }
                Err(Full::Memory) => return Err(Blame::memory("lists of primitives by tile").at(made.place)),
            };
            from = range.end;
            self.primitives += range.len();
            self.words += bins.words();
            let plan = Plan::new(&d.pipeline, &d.state, made.sub, &self.targets, made.counted);
            let batch = batch.clone();
            let mut item =
                Item::new(&d.pipeline, &d.state, &d.bindings, batch, bins, made.view, plan, made.place);
            item.instrument(d.instrumentation.as_ref(), made.index);
            if self.targets.observed {
                self.count_lists(item.bins.entries() as u64, made.told);
            }
            self.ops.push((self.subpass, self.epochs.now(), Op::Draw(Box::new(item))));
            self.told.push(made.told);
            if self.primitives > MANY || self.words > MANY_WORDS {
                self.flush(shared, true, Until::Room)?;
            }
        }
        Ok(())
    }

    /// So many references were written into lists of tasks.
    fn count_lists(&mut self, entries: u64, told: Option<usize>) {
        let bytes = entries * traffic::ENTRY;
        let mut c = Counts::default();
        c[Event::BinEntries] += entries;
        c[(Phase::Binning, Unit::L2WriteLookups)] += bytes.div_ceil(LINE);
        c[(Phase::Binning, Unit::ExtWrites)] += bytes.div_ceil(LINE);
        *self.epochs.current() += &c;
        self.draws.add(told, &c);
        self.drawn.between(self.epochs.now(), bytes);
    }

    pub fn clear(&mut self, attachments: &[vk::ClearAttachment], rects: &[vk::ClearRect]) {
        let clear = Clear { attachments: attachments.to_vec(), rects: rects.to_vec() };
        self.ops.push((self.subpass, self.epochs.now(), Op::Clear(clear)));
        self.told.push(None);
    }

    /// A dependency within the pass.
    pub fn barrier(&mut self) {
        self.barrier = true;
    }

    /// Brings what has been drawn or cleared to memory, for a fragment shader that reads an attachment as an image
    /// (§ Feedback Loop): reads of input attachments need none of this.
    fn reach_memory(&mut self, shared: &Shared) -> Result<(), Blame> {
        let clears = self.first && self.targets.clears();
        if clears || !self.ops.is_empty() { self.flush(shared, true, Until::Read) } else { Ok(()) }
    }

    pub fn next_subpass(&mut self, shared: &Shared) -> Result<(), Blame> {
        self.subpass += 1;
        self.barrier = true;
        match self.rendering.subpasses.get(self.subpass) {
            Some(s) if s.flush || self.targets.aliased => self.flush(shared, false, Until::Read),
            _ => Ok(()),
        }
    }

    /// The pass is over; also what one that resumes it goes on from.
    pub fn end(mut self, shared: &Shared) -> (Result<(), Blame>, Ended, Option<Suspended>) {
        self.subpass = self.rendering.subpasses.len();
        let suspending = self.rendering.suspending;
        let mut r = self.flush(shared, false, if suspending { Until::Room } else { Until::Read });
        self.drawn.read_again(&mut self.epochs, shared.model);
        // One job each, however many parts a render pass instance comes in; without primitives there is nothing to bin.
        let all = self.epochs.all();
        let bins = all[Event::InputPrimitives] > 0;
        // Attachments fill their pages' sections.
        let bytes = (all[Event::FfeExtReadBeats] + all[Event::TileWriteBeats]) * BEAT;
        self.epochs.current()[(Phase::Main, Unit::SectionReads)] += bytes.div_ceil(count::SECTION);
        self.epochs.current()[Event::BinningJobs] += (bins && !self.binned) as u64;
        if suspending {
            let left = Suspended {
                aside: self.aside,
                binned: bins || self.binned,
                regions: self.regions,
                draws: self.draws,
            };
            return (r, Ended { epochs: self.epochs, drawn: self.drawn, seen: None }, Some(left));
        }
        self.epochs.current()[Event::MainJobs] += 1;
        if let (Some(asked), Some(counted)) = (&self.rendering.regions, &self.regions)
            && counted.is_asked()
            && let Err(address) = counted.write(asked, shared.model)
        {
            r = r.and(Err(Blame::of(Fault::Address(address), "counters by region")));
        }
        let seen = self.captured.then(|| {
            let regions = self.regions.as_ref().map(|c| c.map(shared.model));
            Box::new(Seen { regions, picture: picture::of(&self.rendering), draws: self.draws })
        });
        (r, Ended { epochs: self.epochs, drawn: self.drawn, seen }, None)
    }
}

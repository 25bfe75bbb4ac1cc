//! A render pass under way: draws are gathered, and drawn tile by tile when the pass ends.

use super::draw::{Draw, What};
use super::drawn::{Drawn, Ended, Seen};
use super::geometry::bin::{Bins, Full};
use super::geometry::feedback::Feedback;
use super::geometry::{self, Batch, GeometryContext, mesh, traffic};
use super::layout::TILE;
use super::pass::{self, Rendering, Subpass};
use super::picture;
use super::regions::Collected;
use super::state::Rect;
use super::statistics::Epochs;
use super::tile::clear::Clear;
use super::tile::counts::{self, DrawCounts};
use super::tile::expand::Aside;
use super::tile::hiz::Hiz;
use super::tile::host::TileHost;
use super::tile::item::{Item, Plan};
use super::tile::op::Op;
use super::tile::parts::Parts;
use super::tile::target::Targets;
use super::tile::task::Task;
use super::tile::transfer::{Traffic, Way};
use super::tile::{Scratches, hidden, resolve};
use ash::vk;
use counters::model::{BEAT, LINE};
use counters::{Counts, Event, Load, Phase, Unit, cost};
use machine::count;
use machine::host::DeviceHost;
use machine::lost::{Blame, Place};
use machine::shared::Shared;
use machine::time::Line;
use parking_lot::Mutex;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use wave::{Fault, Stop};

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
}

pub struct PassRun {
    rendering: Arc<Rendering>,
    targets: Targets,
    subpass: usize,
    /// (subpass, epoch of queries, what).
    ops: Vec<(usize, usize, Op)>,
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
    /// Modelled time as the pass begins.
    line: Line,
    scratches: Arc<Scratches>,
}

/// What a suspended pass leaves to the one that resumes it.
pub struct Suspended {
    aside: Arc<Aside>,
    /// It had primitives.
    binned: bool,
    /// The render pass instance goes on, so its values come when it ends.
    regions: Option<Collected>,
}

impl PassRun {
    /// `suspended`: what [`PassRun::end`] gave of the pass that this one may resume. `captured`: what it shows and what its regions
    /// count is wanted when it ends.
    pub fn new(
        rendering: &Arc<Rendering>,
        line: &Line,
        suspended: Option<Suspended>,
        scratches: &Arc<Scratches>,
        captured: bool,
    ) -> PassRun {
        let targets = Targets::new(rendering);
        let before = suspended.filter(|_| rendering.resuming);
        let (aside, counted, binned) =
            before.map_or_else(Default::default, |s| (s.aside, s.regions, s.binned));
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
            binned,
            barrier: true,
            targets,
            regions,
            rendering: rendering.clone(),
            subpass: 0,
            ops: Vec::new(),
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
        if d.pipeline.feedback && std::mem::take(&mut self.barrier) {
            self.reach_memory(shared)?;
        }
        let begin = self.line.pass_begins(&shared.clock.gpu(), 0)[0];
        let host = DeviceHost::at(shared, begin);
        let serial = super::serial();
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
                    Made { draw: d, place, sub: &sub, index, view: view.unwrap_or(0), layers, counted };
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
        *self.epochs.current() += &batch.counts.finish(&d.pipeline, &mut shared.l2.lock());
        let between = batch.counts.between(&d.pipeline.vertex, batch.prims.len() as u64);
        self.drawn.between(self.epochs.now(), between);
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
            self.count_lists(item.bins.entries() as u64);
            self.ops.push((self.subpass, self.epochs.now(), Op::Draw(Box::new(item))));
            if self.primitives > MANY || self.words > MANY_WORDS {
                self.flush(shared, true, Until::Room)?;
            }
        }
        Ok(())
    }

    /// So many references were written into lists of tasks.
    fn count_lists(&mut self, entries: u64) {
        let bytes = entries * traffic::ENTRY;
        let c = self.epochs.current();
        c[Event::BinEntries] += entries;
        c[(Phase::Binning, Unit::L2WriteLookups)] += bytes.div_ceil(LINE);
        c[(Phase::Binning, Unit::ExtWrites)] += bytes.div_ceil(LINE);
        self.drawn.between(self.epochs.now(), bytes);
    }

    pub fn clear(&mut self, attachments: &[vk::ClearAttachment], rects: &[vk::ClearRect]) {
        let clear = Clear { attachments: attachments.to_vec(), rects: rects.to_vec() };
        self.ops.push((self.subpass, self.epochs.now(), Op::Clear(clear)));
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
            let left = Suspended { aside: self.aside, binned: bins || self.binned, regions: self.regions };
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
            Box::new(Seen { regions, picture: picture::of(&self.rendering) })
        });
        (r, Ended { epochs: self.epochs, drawn: self.drawn, seen }, None)
    }

    /// Draws all tiles with what has been gathered; `here`: of the current subpass too.
    fn flush(&mut self, shared: &Shared, here: bool, until: Until) -> Result<(), Blame> {
        let area = self.targets.area;
        let ops = std::mem::take(&mut self.ops);
        (self.primitives, self.words) = (0, 0);
        // Subpasses whose ops are all here, and all that are drawn now.
        let done = self.resolved..self.subpass;
        let drawn = self.resolved..self.subpass + here as usize;
        let begun =
            ops.iter().any(|(s, ..)| *s == self.subpass) || (self.begun && self.resolved == self.subpass);
        let whole = self.first && done == (0..self.rendering.subpasses.len()) && drawn == done;
        let parts = self.rendering.suspending || self.rendering.resuming;
        let passes_over = whole && !parts && self.targets.may_pass_over();
        let mask = pass::view_mask(&self.rendering.subpasses);
        let layers = pass::layers(&self.rendering.subpasses, self.rendering.layers);
        let physical = pass::physical(&self.rendering.subpasses, self.resolved);
        let (tx0, ty0) = (area.x0.div_euclid(TILE), area.y0.div_euclid(TILE));
        let (tx1, ty1) = ((area.x1 + TILE - 1).div_euclid(TILE), (area.y1 + TILE - 1).div_euclid(TILE));
        let (w, h) = ((tx1 - tx0).max(0) as u64, (ty1 - ty0).max(0) as u64);
        let per_layer = w * h;
        let tasks = per_layer * layers as u64;
        let next = AtomicU64::new(0);
        let fault: Mutex<Option<Blame>> = Mutex::new(None);
        let binning = cost::binning(&self.epochs.all(), shared.model).cycles;
        let binning = shared.model.nanoseconds(binning);
        let begin = self.line.pass_begins(&shared.clock.gpu(), binning)[1];
        let device = DeviceHost::at(shared, begin);
        let mut took = std::mem::take(&mut self.drawn);
        took.expect(tasks);
        let weights = took.weights();
        let (this, ops_ref, device) = (&*self, &ops, &device);
        let epochs = self.epochs.now() + 1;
        // Of tiles, and by op.
        let counted = Mutex::new((vec![Counts::default(); epochs], vec![DrawCounts::default(); ops.len()]));
        // By op, where counts are a region's: what they leave of a draw as a whole.
        let asked = self.regions.as_ref().filter(|r| r.is_asked());
        let mapped = self.regions.as_ref().filter(|r| !r.is_asked());
        let by_region = if asked.is_some() { ops.len() } else { 0 };
        let parts = Parts::default();
        let whole_draws = Mutex::new(vec![cost::Draw::default(); by_region]);
        let work = || {
            let mut worker = shared.workers.take(shared.level);
            let mut scratch = this.scratches.take();
            scratch.tile.reserve(this.targets.bytes + 64);
            let mut sum = vec![Counts::default(); epochs];
            let mut draws = vec![DrawCounts::default(); ops_ref.len()];
            let mut own = vec![DrawCounts::default(); if mapped.is_some() { ops_ref.len() } else { 0 }];
            loop {
                let n = next.fetch_add(1, Relaxed);
                if n >= tasks || shared.hub.stops() {
                    break;
                }
                let layer = (n / per_layer) as u32;
                if mask != 0 && mask >> layer & 1 == 0 {
                    continue;
                }
                // A region's own traffic can't be taken from its neighbours.
                let all = asked.map(|_| count::caches(shared.model));
                worker.tally.trace(all.or_else(|| shared.traced(n, tasks, count::TRACED_TILES)));
                let t = n % per_layer;
                let (tx, ty) = (tx0 + (t % w) as i32, ty0 + (t / w) as i32);
                let mut fixed = Counts::default();
                // SAFETY: the scratch has room for a tile; every tile of a layer is one task's.
                let r = unsafe {
                    this.tile(
                        shared,
                        ops_ref,
                        device,
                        &mut worker,
                        &mut scratch,
                        layer,
                        [tx, ty],
                        done.clone(),
                        &drawn,
                        passes_over,
                        until,
                        if mapped.is_some() { &mut own } else { &mut draws },
                        &mut fixed,
                    )
                };
                let r = r.map(|load| weights.add(n, &load, &fixed, shared.model));
                sum[epochs - 1] += &fixed;
                if let Some(map) = mapped {
                    parts.take(layer, [tx, ty], &mut own, &mut draws);
                    map.add(physical, layer, [tx, ty], &fixed);
                }
                if let Some(regions) = asked {
                    // A region's own: what its draws counted in it.
                    for (i, (d, (_, epoch, op))) in draws.iter_mut().zip(ops_ref).enumerate() {
                        if let Op::Draw(item) = op
                            && let Some((c, tiles)) = d.take(item)
                        {
                            sum[*epoch] += &c;
                            fixed += &c;
                            let load = Load::of(&c, Phase::Main, shared.model);
                            whole_draws.lock()[i].add(&cost::Draw { load, tasks: tiles });
                        }
                    }
                    regions.add(physical, layer, [tx, ty], &fixed);
                }
                if let Err(blame) = r {
                    fault.lock().get_or_insert(blame);
                    next.store(tasks, Relaxed);
                    break;
                }
            }
            this.scratches.give(scratch);
            shared.workers.give(worker);
            let mut all = counted.lock();
            all.0.iter_mut().zip(&sum).for_each(|(all, c)| *all += c);
            all.1.iter_mut().zip(&draws).for_each(|(all, d)| all.add(d));
        };
        shared.run_parallel(tasks, &work);
        let (mut counts, mut draws) = counted.into_inner();
        if until == Until::Read {
            let saved = self.targets.settle();
            count::compressed(&mut counts[epochs - 1], saved);
        } else {
            self.targets.forget();
        }
        // Draws in tiles that were not followed are like those of the pass that were.
        DrawCounts::share_l2(&mut draws, count::l2_lines(shared.model), &mut shared.l2.lock());
        let told = mapped.is_none_or(|map| parts.tell(&ops, &draws, map, physical));
        for ((_, epoch, op), d) in ops.iter().zip(&mut draws) {
            if let Op::Draw(i) = op {
                if let Some((c, tasks)) = d.take(i) {
                    counts[*epoch] += &c;
                    let load = Load::of(&c, Phase::Main, shared.model);
                    took.draw(*epoch, cost::Draw { load, tasks });
                }
                i.tell_blocks(&shared.model.core);
            }
        }
        for ((_, epoch, _), d) in ops.iter().zip(whole_draws.into_inner()).filter(|(_, d)| d.tasks > 0) {
            took.draw(*epoch, d);
        }
        if !told {
            self.regions = None;
        }
        self.drawn = took;
        counts.iter().enumerate().for_each(|(epoch, c)| self.epochs.add_at(epoch, c));
        self.first = false;
        self.put_aside = until == Until::Room;
        self.targets.have_loaded(&drawn, &mut self.loaded);
        self.resolved = self.subpass;
        self.begun = begun;
        fault.into_inner().map_or(Ok(()), Err)
    }

    /// # Safety
    /// The scratch has room for a tile; no other thread draws this one.
    #[allow(clippy::too_many_arguments)]
    unsafe fn tile(
        &self,
        shared: &Shared,
        ops: &[(usize, usize, Op)],
        device: &DeviceHost,
        worker: &mut wave::Worker,
        scratch: &mut super::tile::Scratch,
        layer: u32,
        [tx, ty]: [i32; 2],
        done: Range<usize>,
        drawn: &Range<usize>,
        passes_over: bool,
        until: Until,
        draws: &mut [DrawCounts],
        fixed: &mut Counts,
    ) -> Result<Load, Blame> {
        let origin = [tx * TILE, ty * TILE];
        let tile = scratch.tile.ptr();
        let targets = &self.targets;
        let seen = |s: &usize| targets.subpasses.get(*s).is_none_or(|s| s.has_view(layer));
        if passes_over && ops.iter().all(|(s, _, op)| !seen(s) || op.misses(layer, tx, ty)) {
            // SAFETY: the scratch has room for a tile, which is this thread's, says the caller.
            let [loaded, stored] = unsafe { targets.pass_over(shared.level, tile, layer, origin) };
            self.count_tile(fixed, origin, &loaded, &stored, until);
            return Ok(Load::default());
        }
        // SAFETY: the scratch has room for a tile, which is this thread's, says the caller.
        let loaded = unsafe { targets.load(shared.level, tile, layer, origin, drawn, &self.loaded) };
        let follows = worker.tally.tracing;
        let mut hiz = Hiz::default();
        if let Some((a, z)) = targets.cleared_depth(layer).filter(|_| self.first && !targets.aliased) {
            hiz.reset(Some(a), z, z);
        }
        let host = TileHost { device, targets, tile, layer, origin, subpass: Cell::new(0) };
        // SAFETY: laid out by these targets; what else works on it below does so between two draws.
        let mut task = unsafe {
            Task::new(
                targets,
                worker,
                &mut scratch.packer,
                &mut scratch.cover,
                &mut scratch.covered,
                &mut hiz,
                &mut scratch.log,
                &host,
                tile,
                layer,
                origin,
                shared.level,
            )
        };
        let mut at = 0;
        let all = self.rendering.subpasses.len().max(1);
        for s in done.start.min(all)..all {
            let end = at + ops[at..].iter().take_while(|(n, ..)| *n == s).count();
            let (mine, mine_draws) = (&ops[at..end], &mut draws[at..end]);
            at = end;
            let sub = targets.subpasses.get(s);
            if sub.is_some_and(|s| !s.has_view(layer)) {
                continue;
            }
            host.subpass.set(s);
            let expanded = targets.expanded.get(s).filter(|e| !e.pairs.is_empty());
            // Of what subpasses to come will draw to, nothing is known yet.
            let expanded = expanded.filter(|_| done.contains(&s) || !mine.is_empty());
            if let Some(e) = expanded {
                let under_way = s == done.start && self.begun;
                // SAFETY: the tile is this thread's, and nothing else works on it now.
                let kept = under_way && unsafe { self.aside.restore(e, tile, layer, [tx, ty]) };
                if !kept {
                    // SAFETY: as above.
                    unsafe { e.spread(targets, tile) };
                    task.hiz.of = task.hiz.of.map(|a| e.stand_in(a).unwrap_or(a));
                }
            }
            let hidden = hidden::find(
                shared.level,
                task.cover,
                task.covered,
                mine,
                layer,
                tx as u32,
                ty as u32,
                origin,
            );
            for (i, (.., op)) in mine.iter().enumerate() {
                match op {
                    Op::Draw(item) => {
                        let entries = item.bins.list(layer, tx as u32, ty as u32);
                        if entries.is_empty() {
                            continue;
                        }
                        if item.plan.deferred {
                            let r = task.defer(i, item, entries);
                            let counts = r.map_err(|s| blame(mine, task.blamed.unwrap_or(i), s))?;
                            task.load += &counts::load(&counts, item, None);
                            mine_draws[i].add_tile(&counts, None);
                            continue;
                        }
                        show(&mut task, mine, mine_draws)?;
                        let h = hidden.as_ref().map_or(&[][..], |h| h.of(i));
                        task.draw(item, entries, h, &mut mine_draws[i]).map_err(|s| item.blame(s))?;
                    }
                    Op::Clear(c) => {
                        show(&mut task, mine, mine_draws)?;
                        if let Some(sub) = sub {
                            // SAFETY: as above.
                            unsafe { c.run(targets, sub, tile, layer, origin, sub.view_mask == 0) };
                            task.hiz.forget(None);
                        }
                    }
                }
            }
            show(&mut task, mine, mine_draws)?;
            if let Some(sub) = sub.filter(|_| done.contains(&s)) {
                // SAFETY: as above.
                unsafe { resolve::run(targets, sub, tile) };
            }
            if let Some(e) = expanded.filter(|_| !done.contains(&s) || self.rendering.suspending) {
                // SAFETY: as above.
                unsafe { self.aside.save(e, tile, layer, [tx, ty]) };
            }
        }
        // SAFETY: as above.
        let way = if follows { Way::Look } else { Way::Store };
        // SAFETY: as above.
        let stored = unsafe { targets.store(shared.level, tile, layer, origin, drawn, done.end, way) };
        let load = task.load;
        self.count_tile(fixed, origin, &loaded, &stored, until);
        Ok(load)
    }
}

/// Shades what waits, and counts it as its draws'.
fn show(task: &mut Task, ops: &[(usize, usize, Op)], draws: &mut [DrawCounts]) -> Result<(), Blame> {
    let r = task.show_all();
    for s in task.shown.drain(..) {
        if let Some((.., Op::Draw(item))) = ops.get(s.op) {
            task.load += &counts::load(&s.counts, item, s.usage.as_ref());
        }
        draws[s.op].add_more(&s.counts, s.usage.as_ref());
    }
    r.map_err(|s| blame(ops, task.blamed.unwrap_or(0), s))
}

/// Who is to blame for a fault of op `i`'s.
fn blame(ops: &[(usize, usize, Op)], i: usize, stop: Stop) -> Blame {
    match ops.get(i) {
        Some((.., Op::Draw(item))) => item.blame(stop),
        _ => Blame::of(stop.fault, "fragment"),
    }
}

impl PassRun {
    /// What a tile costs whatever is drawn in it. A GPU draws all of a render pass at once, so parts that this makes of it
    /// for want of room, or because it is suspended, cost nothing.
    fn count_tile(&self, c: &mut Counts, origin: [i32; 2], loaded: &Traffic, stored: &Traffic, until: Until) {
        let none = Traffic::default();
        let loaded = if self.put_aside { &none } else { loaded };
        // What memory held before the pass is gone by now.
        let all = stored.without_elimination();
        let stored = match until {
            Until::Room => &none,
            Until::Read if self.put_aside => &all,
            Until::Read => stored,
        };
        let here = Rect { x0: origin[0], y0: origin[1], x1: origin[0] + TILE, y1: origin[1] + TILE };
        let r = self.targets.area.intersect(&here);
        let sides = |from: i32, to: i32| ((to + 31).div_euclid(32) - from.div_euclid(32)).max(0) as u64;
        if until == Until::Read {
            c[Event::MainTasks] += 1;
            c[Event::Tiles] += sides(r.x0, r.x1) * sides(r.y0, r.y1);
        }
        c[Event::TilesKilled] += stored.unchanged();
        c[Event::TilePixelsWritten] += stored.pixels;
        c[Event::TileWriteBeats] += stored.bytes.div_ceil(16);
        // Attachments come from external memory and go there.
        c[Event::FfeL2ReadBeats] += loaded.bytes.div_ceil(16);
        c[Event::FfeExtReadBeats] += loaded.bytes.div_ceil(16);
        let (read, written) = (loaded.bytes.div_ceil(64), stored.bytes.div_ceil(64));
        c[(Phase::Main, Unit::L2ReadLookups)] += read;
        c[(Phase::Main, Unit::L2WriteLookups)] += written;
        c[(Phase::Main, Unit::ExtReads)] += read;
        c[(Phase::Main, Unit::ExtWrites)] += written;
        let pages = loaded.bytes.div_ceil(count::PAGE) + stored.bytes.div_ceil(count::PAGE);
        c[(Phase::Main, Unit::PageLookups)] += pages;
        c[(Phase::Main, Unit::PageReads)] += pages;
    }
}

//! All tiles, in parallel, with what a pass has gathered; their sums by epoch, view and draw.

use super::tile::{Hands, Tiling};
use super::{PassRun, Until};
use crate::geometry::bin::Tiles;
use crate::layout::TILE;
use crate::pass;
use crate::tile::item::events::{self as tile_counts, DrawCounts};
use crate::tile::item::op::{Gathered, Op, Step};
use crate::tile::item::parts::Parts;
use counters::{Counts, Curve, Event, Load, Phase, cost};
use machine::count;
use machine::host::DeviceHost;
use machine::l2;
use machine::lost::Blame;
use machine::sanitizer::{self, Sanitizer};
use machine::shared::Shared;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use wave::L2;

impl PassRun {
    /// Draws all tiles with what has been gathered; `here`: of the current subpass too.
    pub(super) fn flush(&mut self, shared: &Shared, here: bool, until: Until) -> Result<(), Blame> {
        let area = self.targets.area;
        let mut gathered = std::mem::take(&mut self.gathered);
        if let Some(mut open) = gathered.open.take() {
            gathered.close(&mut open);
            gathered.open = Some(open);
        }
        let Gathered { ops, told, lists, .. } = &gathered;
        (self.primitives, self.words) = (0, 0);
        // Subpasses whose ops are all here, and all that are drawn now.
        let done = self.resolved..self.subpass;
        let drawn = self.resolved..self.subpass + here as usize;
        let begun =
            ops.iter().any(|s| s.subpass == self.subpass) || (self.begun && self.resolved == self.subpass);
        let whole = self.first && done == (0..self.rendering.subpasses.len()) && drawn == done;
        let passes_over = whole && self.targets.may_pass_over() && self.record.is_none();
        let mask = pass::view_mask(&self.rendering.subpasses);
        let layers = pass::layers(&self.rendering.subpasses, self.rendering.layers);
        let physical = pass::physical(&self.rendering.subpasses, self.resolved);
        let grid = self.targets.grid;
        let ([tx0, ty0], [tx1, ty1]) =
            (grid.tile([area.x0, area.y0]), grid.tile([area.x1 + TILE - 1, area.y1 + TILE - 1]));
        let (w, h) = ((tx1 - tx0).max(0) as u64, (ty1 - ty0).max(0) as u64);
        let per_layer = w * h;
        let tasks = per_layer * layers as u64;
        let next = AtomicU64::new(0);
        let fault: Mutex<Option<Blame>> = Mutex::new(None);
        let observed = self.targets.observed;
        let binning = if observed { cost::binning(&self.epochs.all(), shared.model).cycles } else { 0 };
        let binning = shared.model.nanoseconds(binning);
        let begin = self.line.pass_begins(&shared.clock.gpu(), binning)[1];
        let sanitizer = sanitizer::wanted().then(|| Sanitizer::of_others("a render pass".into()));
        let device = DeviceHost::at(shared, begin).sanitized(sanitizer.as_ref());
        let mut took = std::mem::take(&mut self.drawn);
        if observed {
            took.expect(tasks);
        }
        let weights = took.weights();
        let this = &*self;
        let cells = self.epochs.each().len();
        let views = self.epochs.views();
        // Those of the last epoch begin here.
        let last = cells - views.count();
        // By op, where counts are a region's: what they leave of a draw as a whole.
        let asked = self.regions.as_ref().filter(|r| r.is_asked());
        let mapped = self.regions.as_ref().filter(|r| !r.is_asked());
        // Whether somebody asks for what each draw counted. If not, those of a cell count together.
        let apart = observed || self.regions.is_some();
        let counts_of_draws = || vec![DrawCounts::default(); if apart { ops.len() } else { cells }];
        // Of tiles, and of draws.
        let counted = Mutex::new((vec![Counts::default(); cells], counts_of_draws()));
        let places = Tiles::new(area, grid, layers, None);
        let by_region = if asked.is_some() { ops.len() } else { 0 };
        let parts = Parts::default();
        let whole_draws =
            Mutex::new(vec![(cost::Draw::default(), Counts::default(), Curve::default()); by_region]);
        let tiling =
            &Tiling { shared, device: &device, ops, done, drawn: drawn.clone(), passes_over, until, apart };
        let work = || {
            let mut worker = shared.worker();
            let mut scratch = this.scratches.take();
            scratch.tile.reserve(this.targets.bytes + 64);
            let mut sum = vec![Counts::default(); cells];
            let mut draws = counts_of_draws();
            let mut own = if mapped.is_some() { counts_of_draws() } else { vec![] };
            let (mut spare, mut joined) = (Vec::new(), Vec::new());
            let mut fixed = Counts::default();
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
                if observed {
                    fixed = Counts::default();
                }
                let mut list = emptied(std::mem::take(&mut spare));
                lists.of(places, ops, (layer, tx as u32, ty as u32), &mut joined, &mut list);
                // SAFETY: the scratch has room for a tile; every tile of a layer is one task's.
                let r = unsafe {
                    let hands = Hands { worker: &mut worker, scratch: &mut scratch };
                    let draws = if mapped.is_some() { &mut own } else { &mut draws };
                    this.tile(tiling, &list, (layer, [tx, ty]), hands, draws, &mut fixed)
                };
                spare = emptied(list);
                if observed {
                    if let Ok(load) = &r {
                        weights.add(n, load, &fixed, shared.model);
                    }
                    sum[last + views.place(layer)] += &fixed;
                }
                if let Some(map) = mapped {
                    parts.take(layer, [tx, ty], &mut own, &mut draws);
                    map.add(physical, layer, [tx, ty], &fixed);
                }
                if let Some(regions) = asked {
                    // A region's own: what its draws counted in it.
                    for (i, (d, Step { cell, op, .. })) in draws.iter_mut().zip(ops).enumerate() {
                        let others = l2::others().iter();
                        let mut others: Vec<DrawCounts> = others.map(|l2| d.in_l2(*l2)).collect();
                        if let Some((c, tiles)) = tile_counts::take(d, op, l2::modelled()) {
                            sum[*cell] += &c;
                            fixed += &c;
                            let load = Load::of(&c, Phase::Main);
                            let whole = &mut whole_draws.lock()[i];
                            whole.0.add(&cost::Draw { load, tasks: tiles });
                            whole.1 += &c;
                            whole.2.add(&curve(op, &c, others.iter_mut()));
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
            this.targets.unseen(&mut scratch.unseen);
            this.scratches.give(scratch);
            shared.workers.give(worker);
            let mut all = counted.lock();
            all.0.iter_mut().zip(&sum).for_each(|(all, c)| *all += c);
            all.1.iter_mut().zip(&draws).for_each(|(all, d)| all.add(d));
        };
        match self.rendering.regions.as_ref().is_some_and(|r| r.serialize) {
            true => work(),
            false => shared.pool.run(tasks, &work),
        }
        let (mut counts, mut draws) = counted.into_inner();
        if until == Until::Read {
            let saved = self.targets.settle();
            let last = &mut counts[last..];
            let written: Vec<u64> = last.iter().map(|c| c[Event::TileWriteBeats]).collect();
            for (c, saved) in last.iter_mut().zip(cost::share(written.iter().copied(), saved)) {
                count::compressed(c, saved);
            }
        } else {
            self.targets.forget();
        }
        // Draws in tiles that were not followed are like those of the pass that were.
        let mut with_others = vec![];
        if let Some(mut l2) = shared.l2() {
            (draws, with_others) = l2.each(|l2, held| {
                let mut own = match l2.other {
                    None => std::mem::take(&mut draws),
                    Some(_) => draws.iter().map(|d| d.in_l2(l2)).collect(),
                };
                DrawCounts::share_l2(&mut own, l2.lines, held);
                own
            });
        }
        let all_regions = mapped.is_none_or(|map| parts.tell(ops, &draws, map, physical));
        let mut of_draws = std::mem::take(&mut self.draws);
        if !apart {
            counts.iter_mut().zip(&draws).for_each(|(c, d)| *c += &d.plain());
        }
        for (n, (Step { cell, op, .. }, told)) in ops.iter().zip(told).enumerate() {
            if apart && let Some((c, tasks)) = tile_counts::take(&mut draws[n], op, l2::modelled()) {
                counts[*cell] += &c;
                if observed {
                    let load = Load::of(&c, Phase::Main);
                    let curve = curve(op, &c, with_others.iter_mut().filter_map(|d| d.get_mut(n)));
                    took.draw(*cell, *told, cost::Draw { load, tasks }, &c, &curve);
                    of_draws.add(*told, &c);
                }
            }
            if let Op::Draw(i) = op {
                i.tell_blocks(&shared.model.core);
            }
        }
        let whole_draws = ops.iter().zip(whole_draws.into_inner()).zip(told);
        for ((Step { cell, .. }, (d, c, curve)), told) in whole_draws.filter(|((_, d), _)| d.0.tasks > 0) {
            took.draw(*cell, *told, d, &c, &curve);
            of_draws.add(*told, &c);
        }
        if let Some(r) = &mut self.record {
            r.drawn();
        }
        gathered.clear();
        self.gathered = gathered;
        self.draws = of_draws;
        if !all_regions {
            self.regions = None;
        }
        self.drawn = took;
        counts.iter().enumerate().for_each(|(cell, c)| self.epochs.add_at(cell, c));
        self.first = false;
        self.put_aside = until == Until::Room;
        self.targets.have_loaded(&drawn, &mut self.loaded);
        self.resolved = self.subpass;
        self.begun = begun;
        fault.into_inner().map_or(Ok(()), Err)
    }
}

/// What a draw that counted `c` would have counted with other L2s, by what it did in them.
fn curve<'a>(op: &Op, c: &Counts, others: impl Iterator<Item = &'a mut DrawCounts>) -> Curve {
    let take = |(d, l2): (&mut DrawCounts, &L2)| tile_counts::take(d, op, *l2).map_or(*c, |(c, _)| c);
    Curve::of(c, &others.zip(l2::others()).map(take).collect::<Vec<_>>())
}

/// The room of a tile's list, for another tile's.
fn emptied<'a>(mut list: Vec<(usize, &[u32])>) -> Vec<(usize, &'a [u32])> {
    list.clear();
    list.into_iter().map(|_| (0, &[][..])).collect()
}

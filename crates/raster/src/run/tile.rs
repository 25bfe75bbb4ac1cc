//! One tile of a pass: loaded, drawn to op by op, resolved, stored; and what it costs whatever is drawn in it.

use super::{PassRun, Until};
use crate::layout::TILE;
use crate::prim::prefetch;
use crate::state::Rect;
use crate::tile::item::events::{self, DrawCounts};
use crate::tile::item::hidden;
use crate::tile::item::op::Op;
use crate::tile::memory::resolve;
use crate::tile::memory::traffic::{Traffic, Way};
use crate::tile::shade::host::TileHost;
use crate::tile::task::Task;
use crate::tile::test::hiz::Hiz;
use counters::{Counts, Event, Load, Phase, Unit};
use machine::count;
use machine::host::DeviceHost;
use machine::lost::Blame;
use machine::shared::Shared;
use std::cell::Cell;
use std::ops::Range;
use wave::Stop;

impl PassRun {
    /// # Safety
    /// The scratch has room for a tile; no other thread draws this one.
    #[allow(clippy::too_many_arguments)]
    pub(super) unsafe fn tile(
        &self,
        shared: &Shared,
        ops: &[(usize, usize, Op)],
        list: &[(usize, &[u32])],
        device: &DeviceHost,
        worker: &mut wave::Worker,
        scratch: &mut crate::tile::Scratch,
        layer: u32,
        [tx, ty]: [i32; 2],
        done: Range<usize>,
        drawn: &Range<usize>,
        passes_over: bool,
        until: Until,
        draws: &mut [DrawCounts],
        apart: bool,
        fixed: &mut Counts,
    ) -> Result<Load, Blame> {
        let origin = self.targets.grid.origin([tx, ty]);
        let tile = scratch.tile.ptr();
        let targets = &self.targets;
        let seen = |s: &usize| targets.subpasses.get(*s).is_none_or(|s| s.has_view(layer));
        if passes_over && list.iter().all(|(op, _)| !seen(&ops[*op].0)) {
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
                shared.arena(),
                tile,
                layer,
                origin,
                shared.level,
            )
        };
        let mut at = 0;
        let all = self.rendering.subpasses.len().max(1);
        for s in done.start.min(all)..all {
            let end = at + list[at..].iter().take_while(|(op, _)| ops[*op].0 == s).count();
            let mine = &list[at..end];
            at = end;
            let sub = targets.subpasses.get(s);
            if sub.is_some_and(|s| !s.has_view(layer)) {
                continue;
            }
            host.subpass.set(s);
            let expanded = targets.expanded.get(s).filter(|e| !e.pairs.is_empty());
            // Of what subpasses to come will draw to, nothing is known yet.
            let expanded = expanded.filter(|_| done.contains(&s) || draws_in(ops, s));
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
            let hidden = hidden::find(shared.level, task.cover, task.covered, ops, mine, origin);
            for (i, &(n, entries)) in mine.iter().enumerate() {
                if let Some((next, _)) = mine.get(i + 1) {
                    prefetch(&ops[*next]);
                }
                match &ops[n].2 {
                    Op::Draw(item) => {
                        let own = place(ops, n, apart);
                        if item.plan.deferred {
                            let r = task.defer(n, item, entries);
                            let counts = r.map_err(|s| blame(ops, task.blamed.unwrap_or(n), s))?;
                            task.load += &events::load(&counts, item, None);
                            draws[own].add_tile(&counts, None);
                            continue;
                        }
                        show(&mut task, ops, draws, apart)?;
                        let h = hidden.as_ref().map_or(&[][..], |h| h.of(i));
                        task.draw(item, entries, h, &mut draws[own]).map_err(|s| item.blame(s))?;
                    }
                    Op::Clear(c) => {
                        show(&mut task, ops, draws, apart)?;
                        if let Some(sub) = sub {
                            // SAFETY: as above.
                            let counts =
                                unsafe { c.run(targets, sub, tile, layer, origin, sub.view_mask == 0) };
                            if targets.observed && counts != Default::default() {
                                task.load += &events::load_of_clear(&counts, c);
                                draws[place(ops, n, apart)].add_tile(&counts, None);
                            }
                            task.hiz.forget(None);
                        }
                    }
                }
            }
            task.depth_ends = done.contains(&s) && targets.depth_ends();
            show(&mut task, ops, draws, apart)?;
            if let Some(sub) = sub.filter(|_| done.contains(&s)) {
                // SAFETY: as above.
                unsafe { resolve::run(shared.level, targets, sub, tile) };
            }
            if let Some(e) = expanded.filter(|_| !done.contains(&s)) {
                // SAFETY: as above.
                unsafe { self.aside.save(e, tile, layer, [tx, ty]) };
            }
        }
        let way = if follows { Way::Look } else { Way::Store };
        // SAFETY: as above.
        let load = task.load;
        let unseen = &mut scratch.unseen;
        // SAFETY: as above.
        let stored =
            unsafe { targets.store(shared.level, tile, layer, origin, drawn, done.end, way, unseen) };
        self.count_tile(fixed, origin, &loaded, &stored, until);
        Ok(load)
    }

    /// What a tile costs whatever is drawn in it. A GPU draws all of a render pass at once, so parts that this makes of it
    /// for want of room cost nothing.
    fn count_tile(&self, c: &mut Counts, origin: [i32; 2], loaded: &Traffic, stored: &Traffic, until: Until) {
        if !self.targets.observed {
            return;
        }
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
        if until == Until::Read {
            c[Event::MainTasks] += 1;
            let [x, y] = origin;
            let r = Rect { x0: r.x0 - x, y0: r.y0 - y, x1: r.x1 - x, y1: r.y1 - y };
            c[Event::Tiles] += self.targets.within.count(&r);
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

/// Where op `n` counts: `apart`, each for itself; else all of a cell together.
pub(super) fn place(ops: &[(usize, usize, Op)], n: usize, apart: bool) -> usize {
    if apart { n } else { ops[n].1 }
}

/// Whether a subpass has any op. They are in its order.
fn draws_in(ops: &[(usize, usize, Op)], subpass: usize) -> bool {
    ops.get(ops.partition_point(|(s, ..)| *s < subpass)).is_some_and(|(s, ..)| *s == subpass)
}

/// Shades what waits, and counts it as its draws'.
fn show(
    task: &mut Task,
    ops: &[(usize, usize, Op)],
    draws: &mut [DrawCounts],
    apart: bool,
) -> Result<(), Blame> {
    let r = task.show_all();
    for s in task.shown.drain(..) {
        if let Some((.., Op::Draw(item))) = ops.get(s.op) {
            task.load += &events::load(&s.counts, item, s.usage.as_ref());
        }
        draws[place(ops, s.op, apart)].add_more(&s.counts, s.usage.as_ref());
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

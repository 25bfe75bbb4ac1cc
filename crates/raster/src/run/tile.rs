//! One tile of a pass: loaded, drawn to op by op, resolved, stored; and what it costs whatever is drawn in it.

use super::{PassRun, Until};
use crate::layout::{Blocks, TILE};
use crate::pass::Subpass;
use crate::prim::prefetch;
use crate::state::Rect;
use crate::tile::Scratch;
use crate::tile::item::events::{self, DrawCounts};
use crate::tile::item::op::{Op, Step};
use crate::tile::item::{Item, hidden};
use crate::tile::memory::clear::Clear;
use crate::tile::memory::traffic::{Traffic, Way};
use crate::tile::memory::{Here, resolve};
use crate::tile::record::{self, Recorder};
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
use wave::{Stop, Worker};

/// What tiles have in common that are drawn at once.
pub(super) struct Tiling<'a> {
    pub shared: &'a Shared,
    pub device: &'a DeviceHost<'a>,
    pub ops: &'a [Step],
    /// Subpasses whose ops are all here, and all that are drawn now.
    pub done: Range<usize>,
    pub drawn: Range<usize>,
    /// A tile that nothing is drawn in needs no tile buffer.
    pub passes_over: bool,
    pub until: Until,
    /// Each op counts for itself; else all ops of a cell count together.
    pub apart: bool,
}

impl Tiling<'_> {
    /// Where op `n` counts.
    fn place(&self, n: usize) -> usize {
        if self.apart { n } else { self.ops[n].cell }
    }

    /// Whether a subpass has any op. They are in its order.
    fn draws_in(&self, subpass: usize) -> bool {
        self.ops.get(self.ops.partition_point(|s| s.subpass < subpass)).is_some_and(|s| s.subpass == subpass)
    }

    /// What is to blame for a fault of op `i`'s.
    fn blame(&self, i: usize, stop: Stop) -> Blame {
        match self.ops.get(i).map(|s| &s.op) {
            Some(Op::Draw(item)) => item.blame(stop),
            _ => Blame::of(stop.fault, "fragment"),
        }
    }
}

/// What a thread draws tiles with.
pub(super) struct Hands<'a> {
    pub worker: &'a mut Worker,
    pub scratch: &'a mut Scratch,
}

/// A tile that is being drawn.
struct UnderWay<'a, 't> {
    task: &'t mut Task<'a>,
    host: &'t TileHost<'a>,
    here: &'t Here,
    /// Its column and row.
    at: [i32; 2],
    of: &'a Tiling<'a>,
    /// By op or by cell ([`Tiling::place`]).
    draws: &'t mut [DrawCounts],
}

impl PassRun {
    /// Draws the tile of layer and place `(layer, at)`; `list`: its ops, with references to their primitives. What draws count goes to
    /// `draws`, and what the tile costs whatever is drawn in it to `fixed`.
    ///
    /// # Safety
    /// The scratch has room for a tile; no other thread draws this one.
    pub(super) unsafe fn tile(
        &self,
        of: &Tiling,
        list: &[(usize, &[u32])],
        (layer, at): (u32, [i32; 2]),
        hands: Hands,
        draws: &mut [DrawCounts],
        fixed: &mut Counts,
    ) -> Result<Load, Blame> {
        let Hands { worker, scratch } = hands;
        let (shared, targets) = (of.shared, &self.targets);
        let origin = targets.grid.origin(at);
        let here = Here { level: shared.level, tile: scratch.tile.ptr(), layer, origin };
        let seen = |s: &usize| targets.subpasses.get(*s).is_none_or(|s| s.has_view(layer));
        if of.passes_over && list.iter().all(|(op, _)| !seen(&of.ops[*op].subpass)) {
            // SAFETY: the scratch has room for a tile, which is this thread's, says the caller.
            let [loaded, stored] = unsafe { targets.pass_over(&here) };
            self.count_tile(fixed, origin, &loaded, &stored, of.until);
            return Ok(Load::default());
        }
        if self.record.is_some() {
            // What is undefined is the same on any number of threads.
            // SAFETY: the scratch has room for a tile.
            unsafe { here.tile.write_bytes(0, targets.bytes) };
        }
        // SAFETY: the scratch has room for a tile, which is this thread's, says the caller.
        let loaded = unsafe { targets.load(&here, &of.drawn, &self.loaded) };
        let follows = worker.tally.tracing;
        let mut hiz = Hiz::default();
        if let Some((a, z)) = targets.cleared_depth(layer).filter(|_| self.first && !targets.aliased) {
            hiz.reset(Some(a), z, z);
        }
        let host =
            TileHost { device: of.device, targets, tile: here.tile, layer, origin, subpass: Cell::new(0) };
        // SAFETY: laid out by these targets; what else works on it below does so between two draws.
        let mut task =
            unsafe { Task::new(targets, &here, &mut *scratch, &mut hiz, worker, &host, shared.arena()) };
        // SAFETY: as above.
        task.record = self.record.as_ref().map(|r| unsafe { Recorder::new(targets, here.tile, &r.ops) });
        let mut under_way = UnderWay { task: &mut task, host: &host, here: &here, at, of, draws };
        let mut from = 0;
        let all = self.rendering.subpasses.len().max(1);
        for s in of.done.start.min(all)..all {
            let end = from + list[from..].iter().take_while(|(op, _)| of.ops[*op].subpass == s).count();
            if targets.subpasses.get(s).is_none_or(|s| s.has_view(layer)) {
                // SAFETY: the tile is this thread's.
                unsafe { self.subpass(s, &list[from..end], &mut under_way)? };
            }
            from = end;
        }
        if let (Some(own), Some(r)) = (&task.record, &self.record) {
            r.tile(layer, origin, own.stream());
        }
        let way = if follows { Way::Look } else { Way::Store };
        let load = task.load;
        // SAFETY: as above.
        let stored = unsafe { targets.store(&here, &of.drawn, of.done.end, way, &mut scratch.unseen) };
        self.count_tile(fixed, origin, &loaded, &stored, of.until);
        Ok(load)
    }

    /// Draws the ops of subpass `s` in a tile, and resolves what they drew.
    ///
    /// # Safety
    /// The tile is laid out by the pass's targets, and nobody else uses it.
    unsafe fn subpass(&self, s: usize, list: &[(usize, &[u32])], tile: &mut UnderWay) -> Result<(), Blame> {
        let (of, here, targets) = (tile.of, tile.here, &self.targets);
        let sub = targets.subpasses.get(s);
        tile.host.subpass.set(s);
        let expanded = targets.expanded.get(s).filter(|e| !e.pairs.is_empty());
        // Of what subpasses to come will draw to, nothing is known yet.
        let expanded = expanded.filter(|_| of.done.contains(&s) || of.draws_in(s));
        if let Some(e) = expanded {
            let under_way = s == of.done.start && self.begun;
            // SAFETY: the tile is this thread's, and nothing else works on it now.
            let kept = under_way && unsafe { self.aside.restore(e, here.tile, here.layer, tile.at) };
            if !kept {
                // SAFETY: as above.
                unsafe { e.spread(targets, here.tile) };
                let hiz = &mut tile.task.hiz;
                hiz.of = hiz.of.map(|a| e.stand_in(a).unwrap_or(a));
            }
        }
        // SAFETY: the tile is this thread's (here and below).
        unsafe { tile.changed(record::BEGUN | s as u32) };
        let Task { cover, covered, .. } = &mut *tile.task;
        let hidden = hidden::find(here.level, cover, covered, of.ops, list, here.origin);
        for (i, &(n, entries)) in list.iter().enumerate() {
            if let Some((next, _)) = list.get(i + 1) {
                prefetch(&of.ops[*next]);
            }
            let hidden = hidden.as_ref().map_or(&[][..], |h| h.of(i));
            match &of.ops[n].op {
                Op::Draw(item) => tile.draw(n, item, entries, hidden)?,
                // SAFETY: as above.
                Op::Clear(clear) => unsafe { tile.clear(n, clear, sub)? },
            }
        }
        tile.task.depth_ends = of.done.contains(&s) && targets.depth_ends();
        tile.show()?;
        if let Some(sub) = sub.filter(|_| of.done.contains(&s)) {
            // SAFETY: as above.
            unsafe { resolve::run(here.level, targets, sub, here.tile) };
        }
        // SAFETY: as above.
        unsafe { tile.changed(record::RESOLVED | s as u32) };
        if let Some(e) = expanded.filter(|_| !of.done.contains(&s)) {
            // SAFETY: as above.
            unsafe { self.aside.save(e, here.tile, here.layer, tile.at) };
        }
        Ok(())
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

impl<'a> UnderWay<'a, '_> {
    /// Draws an item, op `n`; `hidden`: blocks that later draws cover, by entry, or empty.
    fn draw(&mut self, n: usize, item: &'a Item, entries: &[u32], hidden: &[Blocks]) -> Result<(), Blame> {
        let own = self.of.place(n);
        if item.plan.deferred {
            let r = self.task.defer(n, item, entries);
            let counts = r.map_err(|s| self.of.blame(self.task.blamed.unwrap_or(n), s))?;
            self.task.load += &events::load(&counts, item, None);
            self.draws[own].add_tile(&counts, None);
            return Ok(());
        }
        self.show()?;
        self.of.device.draws(Some((item.serial, &item.place)));
        self.task.draw(item, entries, hidden, &mut self.draws[own]).map_err(|s| item.blame(s))?;
        if let Some(r) = &mut self.task.record {
            let command = r.command(n);
            r.drew(command);
            // SAFETY: the task's tile.
            unsafe { self.changed(command) };
        }
        Ok(())
    }

    /// What has changed in the tile of a recorded pass is this command's.
    ///
    /// # Safety
    /// The tile is laid out by the task's targets, and nobody else uses it.
    unsafe fn changed(&mut self, command: u32) {
        if let Some(r) = &mut self.task.record {
            // SAFETY: the caller's tile.
            unsafe { r.changes(self.host.targets, self.here.tile, command) };
        }
    }

    /// Clears, as op `n`.
    ///
    /// # Safety
    /// The tile is laid out by the task's targets, and nobody else uses it.
    unsafe fn clear(&mut self, n: usize, clear: &Clear, sub: Option<&Subpass>) -> Result<(), Blame> {
        self.show()?;
        let Some(sub) = sub else { return Ok(()) };
        let targets = self.host.targets;
        // SAFETY: the caller's tile.
        let counts = unsafe { clear.run(targets, sub, self.here, sub.view_mask == 0) };
        if targets.observed && counts != Default::default() {
            self.task.load += &events::load_of_clear(&counts, clear);
            self.draws[self.of.place(n)].add_tile(&counts, None);
        }
        if let Some(r) = &self.task.record {
            let command = r.command(n);
            // SAFETY: the caller's tile.
            unsafe { self.changed(command) };
        }
        self.task.hiz.forget(None);
        Ok(())
    }

    /// Shades what waits, and counts it as its draws'.
    fn show(&mut self) -> Result<(), Blame> {
        let (task, of) = (&mut *self.task, self.of);
        of.device.draws(None);
        let r = task.show_all();
        for s in task.shown.drain(..) {
            if let Some(Op::Draw(item)) = of.ops.get(s.op).map(|s| &s.op) {
                task.load += &events::load(&s.counts, item, s.usage.as_ref());
            }
            self.draws[of.place(s.op)].add_more(&s.counts, s.usage.as_ref());
        }
        r.map_err(|s| of.blame(task.blamed.unwrap_or(0), s))
    }
}

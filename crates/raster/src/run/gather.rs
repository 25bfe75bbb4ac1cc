//! Draws are gathered: what geometry has made of them goes into the lists of tiles, until there is so much that tiles are drawn.

use super::{Made, PassRun, Until};
use crate::geometry::bin::{Bins, Entries, Full, Tiles};
use crate::geometry::{Batch, traffic};
use crate::tile::item::Item;
use crate::tile::item::op::Op;
use counters::model::LINE;
use counters::{Counts, Curve, Event, Phase, Unit};
use machine::debugger;
use machine::lost::Blame;
use machine::shared::Shared;
use std::sync::Arc;

/// Primitives gathered before tiles are drawn even though the pass goes on, and words of their lists.
const MANY: usize = 1 << 20;
const MANY_WORDS: usize = 1 << 26;

/// Primitives of several draws that lie together.
const OPEN: usize = 1 << 15;

impl PassRun {
    /// Takes what geometry has made of a draw, or of a part of it: what `batch` has since the draw began.
    pub(super) fn gather(
        &mut self,
        shared: &Shared,
        made: &Made,
        batch: &mut Box<Batch>,
    ) -> Result<(), Blame> {
        let d = made.draw;
        let cell = self.epochs.cell(made.view);
        let l2 = shared.l2();
        if l2.is_none() && made.told.is_none() {
            batch.counts.finish_plain(self.epochs.at(cell));
        } else {
            let (all, curve) = match l2 {
                Some(mut l2) => l2.count(|l2, held| batch.counts.finish(&d.pipeline, Some((l2, held)))),
                None => (batch.counts.finish(&d.pipeline, None), Curve::default()),
            };
            self.drawn.curve(&curve);
            self.epochs.add_at(cell, &all);
            self.drawn.binned(cell, made.told, &all, shared.model);
            self.draws.add(made.told, &all);
        }
        let (mut from, all) = (batch.before, batch.prims.len());
        let mut counts = None;
        if self.targets.observed {
            let own = std::mem::take(&mut batch.counts);
            self.drawn.between(cell, own.between(&d.pipeline.vertex, (all - from) as u64));
            counts = Some(Arc::new(own));
        } else if shared.observed.counts() || d.instrumentation.is_some() {
            batch.counts = Default::default();
        } else {
            batch.counts.clear_plain();
        }
        // What comes next of the draw, if it is large, comes after this.
        batch.before = all;
        if d.state.raster.discard || from == all {
            return Ok(());
        }
        let item = |batch, bins| {
            let mut item = Item {
                draw: d.clone(),
                tables: made.tables.into(),
                batch,
                counts: counts.clone(),
                bins,
                serial: debugger::item(crate::serial()),
                view: made.view,
                plan: made.plan.clone(),
                place: made.place.clone(),
                instrumentation: None,
            };
            item.instrument(made.active, made.index);
            Op::Draw(item)
        };
        let area = self.targets.area;
        let tiles = self.tiles.of_layers(made.layers);
        let at = (self.subpass, cell);
        let blame = |_| Blame::memory("lists of primitives by tile").at(made.place);
        let g = &mut self.gathered;
        if let Some(entries) = g.lists.add(tiles, batch, from..all, area, g.ops.len()).map_err(blame)? {
            g.push(at, item(self.scratches.none(), None), made.told);
            self.record.iter_mut().for_each(|r| r.gathered());
            if self.listed(all - from, tiles, entries, made.told, cell) {
                self.gathered.close(batch);
                return self.flush(shared, true, Until::Room);
            }
            if all >= OPEN {
                self.gathered.close(batch);
            }
            return Ok(());
        }
        // Lists of its own.
        let mut size = all - from;
        let closed = g.close(batch);
        let batch = closed.unwrap_or_else(|| std::mem::replace(batch, Batch::recycled()).into());
        while from < all {
            let range = from..all.min(from + size);
            let bins = match Bins::new(shared, &batch, range.clone(), area, tiles) {
                Ok(bins) => bins,
                Err(Full::Entries) => {
                    size = range.len().div_ceil(2);
                    continue;
                }
                Err(Full::Memory) => return Err(blame(Full::Memory)),
            };
            from = range.end;
            let entries = bins.entries();
            let g = &mut self.gathered;
            g.lists.add_everywhere(g.ops.len());
            g.push_closed(at, item(batch.clone(), Some(bins)), made.told);
            self.record.iter_mut().for_each(|r| r.gathered());
            if self.listed(range.len(), tiles, entries, made.told, cell) {
                self.flush(shared, true, Until::Room)?;
            }
        }
        Ok(())
    }

    /// So many primitives have been sorted into lists of tiles. True: there are so many by now that tiles are to be drawn.
    fn listed(
        &mut self,
        primitives: usize,
        tiles: Tiles,
        entries: Entries,
        told: Option<usize>,
        cell: usize,
    ) -> bool {
        if self.targets.observed {
            self.count_lists(entries.told, told, cell);
        }
        self.primitives += primitives;
        // As if each draw had a list for each tile: where a pass is cut does not depend on how they are kept.
        self.words += tiles.count() + 1 + entries.kept;
        self.primitives > MANY || self.words > MANY_WORDS
    }

    /// So many references were written into lists of tiles.
    fn count_lists(&mut self, entries: u64, told: Option<usize>, cell: usize) {
        let bytes = entries * traffic::ENTRY;
        let mut c = Counts::default();
        c[Event::BinEntries] += entries;
        c[(Phase::Binning, Unit::L2WriteLookups)] += bytes.div_ceil(LINE);
        c[(Phase::Binning, Unit::ExtWrites)] += bytes.div_ceil(LINE);
        self.epochs.add_at(cell, &c);
        self.draws.add(told, &c);
        self.drawn.between(cell, bytes);
    }
}

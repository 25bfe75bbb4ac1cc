//! What tiles count while a draw is drawn in them.

use super::fill::Fill;
use super::item::Item;
use crate::state::Rect;
use counters::{Counts, Event, Phase, Unit};
use shader::cost::COUNTED;
use wave::Usage;

/// Plain numbers, for the hot paths; names are the events' ([`Event`], [`Unit`]).
#[derive(Clone, Copy, Default, Debug)]
pub struct TileCounts {
    pub primitives: u64,
    pub quads: u64,
    pub partial: u64,
    pub early_tested: u64,
    pub early_updated: u64,
    pub early_killed: u64,
    pub late_tested: u64,
    pub late_killed: u64,
    pub hidden: u64,
    pub passed: u64,
    pub invocations: u64,
    pub warps: u64,
    pub full_warps: u64,
    pub shaded: u64,
    pub blended: u64,
}

/// What a draw counts in some tiles: sums, which become events once, for shares of caches are taken of the whole.
#[derive(Clone, Default, Debug)]
pub struct DrawCounts {
    tile: TileCounts,
    usage: Usage,
    /// Tiles it was drawn in.
    tiles: u64,
}

impl DrawCounts {
    /// Adds what one more tile counted; `usage`: of the fragment shader, if it ran.
    pub fn add_tile(&mut self, tile: &TileCounts, usage: Option<&Usage>) {
        self.tiles += 1;
        self.tile.add(tile);
        if let Some(u) = usage {
            self.usage.add(u);
        }
    }
    pub fn add(&mut self, o: &DrawCounts) {
        self.tiles += o.tiles;
        self.tile.add(&o.tile);
        self.usage.add(&o.usage);
    }
    /// Takes it all, as events of `item`; `None` if it was drawn in no tile.
    pub fn take(&mut self, item: &Item) -> Option<Counts> {
        if self.tiles == 0 {
            return None;
        }
        let mut c = Counts::default();
        self.tile.add_to(&mut c, item, &self.usage);
        *self = DrawCounts::default();
        Some(c)
    }
}

/// Quads with a lane in `m`.
#[inline(always)]
pub fn quads(m: u16) -> u64 {
    ((m | m >> 1 | m >> 2 | m >> 3) & 0x1111).count_ones() as u64
}
/// Quads all of whose lanes are in `m`.
#[inline(always)]
fn whole_quads(m: u16) -> u64 {
    (m & m >> 1 & m >> 2 & m >> 3 & 0x1111).count_ones() as u64
}
/// Quads with a lane in one of the samples' masks.
#[inline(always)]
pub fn any_quads(masks: &[u16]) -> u64 {
    quads(masks.iter().fold(0, |a, m| a | m))
}

impl TileCounts {
    /// A block's quads come out of the rasteriser; `masks` by sample.
    #[inline(always)]
    pub fn rasterised(&mut self, masks: &[u16]) {
        if !COUNTED {
            return;
        }
        let n = any_quads(masks);
        self.quads += n;
        self.partial += n - whole_quads(masks.iter().fold(!0, |a, m| a & m));
    }

    /// All pixels of a rectangle are covered, one sample each, and hidden.
    pub fn gone(&mut self, r: &Rect) {
        let side =
            |from: i32, to: i32| (((to + 1) / 2 - from / 2) as u64, (to / 2 - (from + 1) / 2).max(0) as u64);
        let ((w, whole_w), (h, whole_h)) = (side(r.x0, r.x1), side(r.y0, r.y1));
        self.quads += w * h;
        self.partial += w * h - whole_w * whole_h;
        self.hidden += w * h;
    }

    fn add(&mut self, o: &TileCounts) {
        self.primitives += o.primitives;
        self.quads += o.quads;
        self.partial += o.partial;
        self.early_tested += o.early_tested;
        self.early_updated += o.early_updated;
        self.early_killed += o.early_killed;
        self.late_tested += o.late_tested;
        self.late_killed += o.late_killed;
        self.hidden += o.hidden;
        self.passed += o.passed;
        self.invocations += o.invocations;
        self.warps += o.warps;
        self.full_warps += o.full_warps;
        self.shaded += o.shaded;
        self.blended += o.blended;
    }

    /// Adds what was counted of `item`, and what its fragment program did.
    fn add_to(&self, c: &mut Counts, item: &Item, usage: &Usage) {
        c[Event::PrimsRasterised] += self.primitives;
        c[Event::QuadsRasterised] += self.quads;
        c[Event::QuadsPartial] += self.partial;
        c[Event::CoarseQuads] += self.quads * if item.plan.per_sample { item.plan.samples as u64 } else { 1 };
        c[Event::QuadsEzsTested] += self.early_tested;
        c[Event::QuadsEzsUpdated] += self.early_updated;
        c[Event::QuadsEzsKilled] += self.early_killed;
        c[Event::QuadsLzsTested] += self.late_tested;
        c[Event::QuadsLzsKilled] += self.late_killed;
        c[Event::QuadsFpkKilled] += self.hidden;
        if item.plan.opaque {
            c[Event::QuadsOccluding] += self.shaded + self.hidden;
        }
        c[Event::QuadsShaded] += self.shaded;
        c[Event::BlendQuads] += self.blended;
        c[Event::SamplesPassed] += self.passed;
        c[Event::FragmentInvocations] += self.invocations;
        let program = item.pipeline.fragment.as_deref().filter(|_| COUNTED);
        let Some(program) = program else { return };
        let mut u = machine::count::units(usage);
        machine::count::launch(&mut u, program, self.warps, self.shaded * 4, self.full_warps);
        let varying = |f: &&Fill| matches!(f, Fill::Varying { .. });
        let varyings = item.plan.fills.iter().filter(varying).count() as u64;
        // An instruction interpolates up to four components of a location.
        u[Unit::VaryingInstr] = self.warps * varyings.div_ceil(4);
        u[Unit::VaryingSlots32] = self.shaded * varyings;
        c.add_units(Phase::Main, &u);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quads_of_a_rectangle() {
        let gone = |x0, y0, x1, y1| {
            let mut c = TileCounts::default();
            c.gone(&Rect { x0, y0, x1, y1 });
            (c.quads, c.partial, c.hidden)
        };
        assert_eq!(gone(0, 0, 64, 64), (1024, 0, 1024));
        // One pixel; a row of three, which touches two quads.
        assert_eq!(gone(5, 7, 6, 8), (1, 1, 1));
        assert_eq!(gone(0, 0, 3, 1), (2, 2, 2));
        // 1 to 6 by 2 to 6: quads 0 to 2 by 1 to 2, of which columns 1 and 2 are whole.
        assert_eq!(gone(1, 2, 6, 6), (6, 2, 6));
    }
}

//! What the tiles of a draw counted, as events and as work of a core.

/// What counts as an event as it is.
use super::Item;
use super::fill::Fill;
use super::op::Op;
use crate::geometry::{bin, traffic};
use crate::prim::Prim;
use crate::tile::blend::shader as blend_shader;
use crate::tile::counts::{InTile, TileCounts};
use crate::tile::memory::clear::Clear;
use counters::{Ask, Counts, Event, Load, Phase, Unit, UnitCounts};
use shader::bytecode::Program;
use shader::cost::COUNTED;
use shader::interface;
use wave::held::Held;
use wave::tally::{Ran, Tex};
use wave::{L2, Usage};

const EVENTS: [(InTile, Event); 13] = [
    (InTile::Primitives, Event::PrimsRasterised),
    (InTile::Quads, Event::QuadsRasterised),
    (InTile::Partial, Event::QuadsPartial),
    (InTile::EarlyTested, Event::QuadsEzsTested),
    (InTile::EarlyUpdated, Event::QuadsEzsUpdated),
    (InTile::EarlyKilled, Event::QuadsEzsKilled),
    (InTile::LateTested, Event::QuadsLzsTested),
    (InTile::LateKilled, Event::QuadsLzsKilled),
    (InTile::Hidden, Event::QuadsFpkKilled),
    (InTile::Shaded, Event::QuadsShaded),
    (InTile::Blended, Event::BlendQuads),
    (InTile::Passed, Event::SamplesPassed),
    (InTile::Invocations, Event::FragmentInvocations),
];

/// What a draw counts in some tiles: sums, which become events once, for shares of caches are taken of the whole.
#[derive(Clone, Default, Debug)]
pub struct DrawCounts {
    tile: TileCounts,
    /// What the fragment shader did, if it ran and counters are observed.
    usage: Option<Box<Usage>>,
    /// Tiles it was drawn in.
    tiles: u64,
}

impl DrawCounts {
    /// Adds what one more tile counted; `usage`: of the fragment shader, if it ran.
    pub fn add_tile(&mut self, tile: &TileCounts, usage: Option<&Usage>) {
        self.tiles += 1;
        self.tile += tile;
        self.add_usage(usage);
    }
    fn add_usage(&mut self, usage: Option<&Usage>) {
        if let Some(u) = usage {
            self.usage.get_or_insert_default().add(u);
        }
    }
    /// Adds what came of a tile that has been added already.
    pub fn add_more(&mut self, tile: &TileCounts, usage: Option<&Usage>) {
        self.tile += tile;
        self.add_usage(usage);
    }
    pub fn add(&mut self, o: &DrawCounts) {
        self.tiles += o.tiles;
        self.tile += &o.tile;
        self.add_usage(o.usage.as_deref());
    }
    pub fn is_empty(&self) -> bool {
        self.tiles == 0
    }
    /// Without what was followed through caches.
    pub fn unfollowed(mut self) -> DrawCounts {
        if let Some(Usage { traced, texels, reach, others, pages, .. }) = self.usage.as_deref_mut() {
            (*traced, *texels, *reach, *others, *pages) = Default::default();
        }
        self
    }
    /// As a part of a draw, of which nothing was followed.
    pub fn fare_as(&mut self, whole: &DrawCounts) {
        if let (Some(own), Some(whole)) = (&mut self.usage, &whole.usage) {
            own.fare_as(whole);
        }
    }
    /// What there is of it in this L2, as if it were the modelled one.
    pub fn in_l2(&self, l2: L2) -> DrawCounts {
        let usage = self.usage.as_deref().map(|u| Box::new(u.in_l2(l2)));
        DrawCounts { tile: self.tile, usage, tiles: self.tiles }
    }
    /// Draws of a pass share an L2. What was not followed of one fares as what was of the others'.
    pub fn share_l2(draws: &mut [DrawCounts], lines: u64, l2: &mut Held) {
        let mut ran: Vec<&mut Usage> =
            draws.iter_mut().filter(|d| d.tiles > 0).filter_map(|d| d.usage.as_deref_mut()).collect();
        Usage::share_l2_between(&mut ran, lines, l2);
    }
    /// The sum as events, for draws whose counters are not observed.
    pub fn plain(&self) -> Counts {
        let mut c = Counts::default();
        EVENTS.into_iter().for_each(|(of, event)| c[event] = self.tile[of]);
        c
    }
    /// Takes it all, as events of a clear, which is drawn as rectangles whose fragments have their colours already.
    fn take_clear(&mut self, clear: &Clear) -> Option<(Counts, u64)> {
        if self.tiles == 0 {
            return None;
        }
        let this = std::mem::take(self);
        let mut c = this.plain();
        let (warps, shaded) = (this.tile[InTile::Warps], this.tile[InTile::Shaded]);
        c[Event::CoarseQuads] = this.tile[InTile::Quads];
        c[Event::QuadsOccluding] = shaded;
        let mut u = UnitCounts::default();
        u[Unit::Warps] = warps;
        u[Unit::Threads] = shaded * 4;
        u[Unit::FullWarps] = this.tile[InTile::FullWarps];
        u[Unit::Cvt] = ends(warps, clear.attachments.len());
        c.add_units(Phase::Main, &u);
        Some((c, this.tiles))
    }
    /// Takes it all, as events of `item`, and the tiles that they are of; `None` if it was drawn in no tile.
    fn take(&mut self, item: &Item, l2: L2) -> Option<(Counts, u64)> {
        if self.tiles == 0 {
            return None;
        }
        let this = std::mem::take(self);
        let mut c = events(&this.tile, item, this.usage.as_deref(), l2);
        let shaded = item.plan.observed && this.tile[InTile::Warps] > 0;
        if let Some(program) = item.plan.pipeline.fragment.as_deref().filter(|_| shaded) {
            let mut u = UnitCounts::default();
            machine::count::descriptors(&mut u, program, this.tiles.min(counters::model::current().cores));
            c.add_units(Phase::Main, &u);
        }
        Some((c, this.tiles))
    }
}

/// What an operation counted in all of its tiles, with this L2, as [`DrawCounts::take`].
pub fn take(counts: &mut DrawCounts, op: &Op, l2: L2) -> Option<(Counts, u64)> {
    match op {
        Op::Draw(item) => counts.take(item, l2),
        Op::Clear(clear) => counts.take_clear(clear),
    }
}

/// Warp-instructions with which a fragment program ends ([`shader::cost::ends`]).
fn ends(warps: u64, colors: usize) -> u64 {
    warps * u64::from(shader::cost::ends(colors as u32).cvt)
}

/// What a draw in one tile asks of a core, as far as it tells how long one tile takes beside others.
pub fn load(tile: &TileCounts, item: &Item, usage: Option<&Usage>) -> Load {
    let mut load = Load::default();
    if !item.plan.observed {
        return load;
    }
    let none = Usage::default();
    let u = usage.unwrap_or(&none);
    let blended = by_shader(tile, item);
    load[Ask::Fma] = u.ran[Ran::Fma] + blended * blend_shader::FMA;
    load[Ask::Cvt] = u.ran[Ran::Cvt] + blended * blend_shader::CVT;
    if item.plan.pipeline.fragment.is_some() {
        load[Ask::Cvt] += ends(tile[InTile::Warps], item.plan.colors.len());
    }
    load[Ask::Sfu] = u.ran[Ran::Sfu];
    load[Ask::Issues] = u.single + u.lines.sum();
    load[Ask::Slots] = tile[InTile::Shaded] * item.plan.interpolated.slots.iter().sum::<u64>();
    load[Ask::Filters] = u.texture[Tex::Operations];
    [load[Ask::BoxNodes], load[Ask::TriangleNodes]] = u.ray_nodes();
    load[Ask::Primitives] = tile[InTile::Primitives];
    load[Ask::Quads] = tile[InTile::Quads];
    load[Ask::Blended] = tile[InTile::Blended];
    load[Ask::Warps] = tile[InTile::Warps];
    let vertices = tile[InTile::Vertices];
    if let Some(counts) = item.counts.as_deref().filter(|_| vertices > 0) {
        let [a, b] = &counts.usage.halves;
        let all = counts.events[Event::VertexInvocations].max(1);
        let whole = item.plan.pipeline.vertex.profile.halves.is_none();
        for (ask, ran) in [(Ask::Fma, Ran::Fma), (Ask::Cvt, Ran::Cvt), (Ask::Sfu, Ran::Sfu)] {
            let others = if item.plan.varyings > 0 { b.ran[ran] } else { 0 };
            let once = if whole { counts.usage.ran[ran] } else { a.ran[ran] + others };
            load[ask] += (once as u128 * vertices as u128 / all as u128) as u64;
        }
        let lines = counts.later[0] as u128 * vertices as u128 / counts.deferred.max(1) as u128;
        load[Ask::Issues] += lines as u64;
        load[Ask::Warps] += tile[InTile::VertexWarps];
    }
    load
}

/// The same of a clear.
pub fn load_of_clear(tile: &TileCounts, clear: &Clear) -> Load {
    let mut load = Load::default();
    load[Ask::Cvt] = ends(tile[InTile::Warps], clear.attachments.len());
    load[Ask::Primitives] = tile[InTile::Primitives];
    load[Ask::Quads] = tile[InTile::Quads];
    load[Ask::Blended] = tile[InTile::Blended];
    load[Ask::Warps] = tile[InTile::Warps];
    load
}

/// A primitive of a list is looked at: entry `entry` of the region at `origin`.
#[inline(always)]
pub fn entered(c: &mut TileCounts, item: &Item, prim: &Prim, entry: u32, origin: [i32; 2]) {
    if !item.plan.observed {
        return;
    }
    let covers = entry & bin::COVERS != 0;
    let tiles = item.plan.within.touched(prim, &item.batch.edges, &item.batch.pixels, origin, covers);
    c[InTile::Primitives] += tiles;
    let deferred = prim.form.deferred();
    if deferred > 0 {
        c[InTile::Deferred] += tiles;
        c[InTile::Vertices] += deferred as u64 - 1;
    }
}

/// All primitives of a list were looked at.
pub fn all_entered(c: &mut TileCounts) {
    c[InTile::VertexWarps] = c[InTile::Vertices].div_ceil(16);
    c[InTile::FullVertexWarps] = c[InTile::Vertices] / 16;
}

/// What a fragment program has interpolated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interpolated {
    /// Slots of a quad, of 32 bits and of 16.
    pub slots: [u64; 2],
    /// Instructions of a warp: up to four components of a location each.
    instructions: u64,
    /// Of a vertex, that are read of it.
    bytes: u64,
}

impl Interpolated {
    /// Of a program with these inputs.
    pub fn new(program: &Program, fills: &[Fill]) -> Interpolated {
        let mut planes: Vec<usize> = fills
            .iter()
            .filter_map(|f| if let Fill::Varying { plane, .. } = f { Some(*plane as usize) } else { None })
            .collect();
        planes.sort_unstable();
        planes.dedup();
        let read = || planes.iter().filter_map(|p| program.interface.varyings.get(*p));
        let mut slots = [0; 2];
        interface::interpolated(read()).for_each(|v| slots[v.half as usize] += 1);
        let of = |half| read().filter(|v| v.half == half).count() as u64;
        Interpolated {
            slots,
            instructions: of(false).div_ceil(4) + of(true).div_ceil(4),
            bytes: read().map(interface::Varying::bytes).sum(),
        }
    }
}

/// Of the quads blended, those that a shader blends: attachments have as many each.
fn by_shader(tile: &TileCounts, item: &Item) -> u64 {
    let colors = &item.plan.colors;
    let shaders = colors.iter().filter(|c| c.writer.by_shader()).count() as u64;
    (tile[InTile::Blended] * shaders).checked_div(colors.len() as u64).unwrap_or(0)
}

/// What was counted of `item` as events, with what its fragment program did.
fn events(tile: &TileCounts, item: &Item, usage: Option<&Usage>, l2: L2) -> Counts {
    let mut c = Counts::default();
    EVENTS.into_iter().for_each(|(of, event)| c[event] = tile[of]);
    if !item.plan.observed {
        return c;
    }
    let (quads, shaded) = (tile[InTile::Quads], tile[InTile::Shaded]);
    c[Event::CoarseQuads] = match &item.plan.coarse {
        Some(_) => tile[InTile::Coarse],
        None => quads * if item.plan.per_sample { item.plan.samples as u64 } else { 1 },
    };
    if item.plan.opaque || item.plan.deferred {
        c[Event::QuadsOccluding] = shaded + tile[InTile::Hidden];
    }
    // Of each primitive: its reference, and three positions that binning has left.
    let left = tile[InTile::Primitives].saturating_sub(tile[InTile::Deferred]);
    let beats = (tile[InTile::Primitives] * traffic::ENTRY + left * 3 * traffic::POSITION).div_ceil(16);
    c[Event::FfeL2ReadBeats] = beats;
    c[(Phase::Main, Unit::L2ReadLookups)] = beats.div_ceil(4);
    if let Some(counts) = item.counts.as_deref().filter(|_| tile[InTile::Vertices] > 0) {
        let of = [InTile::Vertices, InTile::VertexWarps, InTile::FullVertexWarps].map(|n| tile[n]);
        c[Event::DeferredVertices] = of[0];
        c[Event::DeferredWarps] = of[1];
        let u = counts.shaded_later(&item.plan.pipeline.vertex, item.plan.varyings > 0, of, l2);
        c.add_units(Phase::Main, &u);
    }
    let Some(program) = item.plan.pipeline.fragment.as_deref().filter(|_| COUNTED) else { return c };
    let warps = tile[InTile::Warps];
    let mut u = machine::count::units(usage.unwrap_or(&Usage::default()));
    machine::count::launch(&mut u, program, warps, shaded * 4, tile[InTile::FullWarps]);
    let blended = by_shader(tile, item);
    c[Event::BlendShaderQuads] = blended;
    u[Unit::Fma] += blended * blend_shader::FMA;
    u[Unit::Cvt] += blended * blend_shader::CVT + ends(warps, item.plan.colors.len());
    let read = &item.plan.interpolated;
    u[Unit::VaryingInstr] = warps * read.instructions;
    u[Unit::VaryingSlots32] = shaded * read.slots[0];
    u[Unit::VaryingSlots16] = shaded * read.slots[1];
    // Three vertices' varyings of each primitive that is seen.
    let beats = (left.min(shaded) * 3 * read.bytes).div_ceil(16);
    u[Unit::LsL2ReadBeats] += beats;
    u[Unit::L2ReadLookups] += beats.div_ceil(4);
    c.add_units(Phase::Main, &u);
    c
}

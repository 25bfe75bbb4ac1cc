//! What geometry counts, and what it comes to.

use super::stages::{STAGES, StageCounts};
use super::traffic;
use crate::state::GraphicsPipeline;
use counters::model::LINE;
use counters::{Counts, Event, EventCounts, Phase, Unit, UnitCounts};
use machine::count;
use shader::bytecode::Program;
use shader::ir::Input;
use small_sort::SmallSort;
use wave::L2;
use wave::held::Held;
use wave::tally::Access;

/// What geometry counts.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct GeometryCounts {
    /// What is counted as it happens. Each input primitive is visible or culled once; here `PrimsVisible` are those
    /// without a facing, lines and points.
    pub events: EventCounts,
    /// Vertices that are shaded apart, beyond their positions, for a visible primitive uses them.
    pub apart: u64,
    /// Vertex warps: of positions (or of all at once), and of what is shaded apart; and those with all lanes.
    pub warps: [u64; 2],
    pub full_warps: u64,
    pub usage: wave::Usage,
    /// Lines of vertices' attributes that were read, by the warps that do.
    pub fetched: u64,
    /// Lines of positions and of varyings that were written for tiles.
    pub written: [u64; 2],
    /// Vertices that tiles shade, by chunk; lines of attributes that their warps read, and those of them that binning has not read.
    pub deferred: u64,
    pub later: [u64; 2],
    /// Lines that transform feedback wrote.
    pub captured: u64,
    /// Of a draw with stages of its own between vertices and rasterisation, or of mesh shading: vertices that the last one has made,
    /// 16-byte beats of their positions and indices, which the tiler reads, and lines that what comes first has left for what follows it.
    pub made: u64,
    pub beats: u64,
    pub left: u64,
    /// Lines of these, and of what transform feedback wrote, that are stores of registers: what else stages leave their programs store.
    pub stored: u64,
    /// Stages between vertices and rasterisation, where a draw has any.
    pub stages: Option<Box<[StageCounts; STAGES]>>,
}

impl GeometryCounts {
    /// Nothing is counted, of a draw whose programs' usage nobody has taken.
    pub fn clear_plain(&mut self) {
        debug_assert!(self.usage == wave::Usage::default());
        let GeometryCounts { events, apart, warps, full_warps, usage: _, fetched, written, .. } = self;
        (*events, *apart, *warps, *full_warps) = Default::default();
        (*fetched, *written) = Default::default();
        let GeometryCounts { deferred, later, captured, made, beats, left, stored, stages, .. } = self;
        (*deferred, *later, *captured, *made) = Default::default();
        (*beats, *left, *stored, *stages) = Default::default();
    }

    pub fn add(&mut self, o: &GeometryCounts) {
        self.events += &o.events;
        self.apart += o.apart;
        self.full_warps += o.full_warps;
        self.usage.add(&o.usage);
        self.fetched += o.fetched;
        for k in 0..2 {
            self.warps[k] += o.warps[k];
            self.written[k] += o.written[k];
            self.later[k] += o.later[k];
        }
        self.deferred += o.deferred;
        self.captured += o.captured;
        self.made += o.made;
        self.beats += o.beats;
        self.left += o.left;
        self.stored += o.stored;
        if let Some(stages) = &o.stages {
            let own = self.stages.get_or_insert_default();
            own.iter_mut().zip(&**stages).for_each(|(a, b)| a.add(b));
        }
    }

    /// A last stage has left so many vertices, each with a position and so many bytes of what fragments read, and indices: lines of
    /// the vertices.
    pub fn leave(&mut self, vertices: u64, indices: u64, bytes: u64) -> u64 {
        self.made += vertices;
        self.beats += vertices + (4 * indices).div_ceil(16);
        self.left += (4 * indices).div_ceil(LINE);
        let lines = [traffic::POSITION, bytes].map(|bytes| (vertices * bytes).div_ceil(LINE));
        (0..2).for_each(|k| self.written[k] += lines[k]);
        lines.iter().sum()
    }

    /// Bytes of vertices that tiles read: of those that primitives which they see use, three each of `prims` at most.
    /// `program`: the vertex program.
    pub fn between(&self, program: &Program, prims: u64) -> u64 {
        let vertices = if self.made > 0 { self.made } else { self.events[Event::VertexInvocations].max(1) };
        let prims = prims.saturating_sub(self.events[Event::PrimsDeferred]);
        let seen = |lines: u64| lines * LINE * (prims * 3).min(vertices) / vertices;
        let [positions, varyings] = self.written;
        // Those that are shaded apart are seen.
        let apart = program.profile.halves.is_some() && self.made == 0;
        let [attributes, first] = self.later;
        let left = seen(positions) + if apart { varyings * LINE } else { seen(varyings) };
        left + (attributes - first) * LINE
    }

    /// What the main phase does for `vertices` that it shades, in so many warps, of which `full` have all lanes. `read`: the fragment program
    /// reads something of them.
    pub fn shaded_later(
        &self,
        program: &Program,
        read: bool,
        [vertices, warps, full]: [u64; 3],
        l2: L2,
    ) -> UnitCounts {
        let mut usage = self.usage.in_l2(l2);
        if program.profile.halves.is_none() {
            usage.run_at_once();
        }
        let others = |n: u64| if read { n } else { 0 };
        usage.run_in_halves([vertices, others(vertices)], self.events[Event::VertexInvocations]);
        usage.find_in_l2(l2.lines);
        usage.fare_as(&wave::Usage::default());
        let mut u = count::units(&usage);
        count::launch(&mut u, program, warps, vertices, full);
        u[Unit::AttributeInstr] = attributes(program, [warps, others(warps)]);
        let part = |n: u64| (n as u128 * vertices as u128).div_ceil(self.deferred.max(1) as u128) as u64;
        let [lines, first] = self.later.map(part);
        u[Unit::LsReadPartial] += lines;
        u[Unit::LsL2ReadBeats] += lines * 4;
        u[Unit::L2ReadLookups] += lines;
        u[Unit::LsExtReadBeats] += first * 4;
        u[Unit::ExtReads] += first;
        u
    }

    /// Adds what there is while nobody looks: nothing but what was counted as it happened.
    pub fn finish_plain(&self, c: &mut Counts) {
        use Event::*;
        c.add_events(&self.events);
        c[PrimsVisible] += self.events[PrimsFrontVisible] + self.events[PrimsBackVisible];
    }

    /// With what follows, in this L2; while nobody looks there is none, and nothing but what was counted as it happened.
    pub fn finish(&self, pipeline: &GraphicsPipeline, l2: Option<(L2, &mut Held)>) -> Counts {
        use Event::*;
        let program: &Program = &pipeline.vertex;
        let mut c = Counts::default();
        self.finish_plain(&mut c);
        let (references, invocations) = (c[InputVertices], c[VertexInvocations]);
        let Some((l2, held)) = l2 else { return c };
        // Positions are shaded for each reference that assembly did not merge.
        c[PositionTasks] = invocations.div_ceil(4);
        c[VaryingTasks] = c[VaryingCacheMisses].div_ceil(4);
        c[PositionCacheHits] = references.saturating_sub(invocations);
        // A vertex's position is 16 bytes, a beat, for the tiler, from where it has just been written. Indices come from memory.
        // So are those of the last stage, with what indices there are.
        let indices = c[TilerReadBeats];
        let staged = self.stages.is_some() || program.interface.io.mesh.is_some();
        let left = if staged { self.beats } else { invocations };
        c[TilerReadBeats] += left;
        let mut usage = self.usage.in_l2(l2);
        // Stages take all that a vertex leaves.
        if program.profile.halves.is_some() && !staged {
            usage.run_in_halves([invocations, self.apart], invocations);
        }
        // Mesh workgroups fetch what their tasks have left.
        let mesh = program.interface.io.mesh.is_some();
        let (fetched, passed) = if mesh { (0, self.fetched) } else { (self.fetched, 0) };
        usage.lines[Access::ReadPartial] += fetched;
        let written: u64 = self.written.iter().sum();
        usage.lines[Access::WriteFull] += if staged { 0 } else { written };
        usage.share_l2(l2.lines, held);
        usage.fare_as(&wave::Usage::default());
        let mut u = count::units(&usage);
        u[Unit::LsWriteFull] += self.stored;
        pass_on(&mut u, passed, self.left + self.captured + if staged { written } else { 0 });
        u[Unit::L2ReadLookups] += indices.div_ceil(4) + left.div_ceil(4);
        u[Unit::ExtReads] += indices.div_ceil(4);
        let warps: u64 = self.warps.iter().sum();
        count::launch(&mut u, program, warps, invocations + self.apart, self.full_warps);
        count::descriptors(&mut u, program, c[BinningTasks].min(counters::model::current().cores));
        u[Unit::AttributeInstr] = attributes(program, if staged { [self.warps[0]; 2] } else { self.warps });
        c.add_units(Phase::Binning, &u);
        if let Some(stages) = &self.stages {
            for (program, own) in pipeline.stages().into_iter().zip(&**stages) {
                if let Some(program) = program {
                    own.finish(program, &mut c, l2, held);
                }
            }
        }
        c
    }
}

/// Lines that a stage reads of the one before it, which the L2 has, and those that it leaves in memory.
pub(super) fn pass_on(u: &mut UnitCounts, read: u64, written: u64) {
    u[Unit::LsL2ReadBeats] += read * 4;
    u[Unit::L2ReadLookups] += read;
    u[Unit::LsWriteBackBeats] += written * 4;
    u[Unit::L2WriteLookups] += written;
    u[Unit::ExtWrites] += written;
}

/// Instructions that fetch attributes, of so many warps of each half (of all and none, where a program has no halves): one for up to four
/// components, which are four slots.
fn attributes(program: &Program, warps: [u64; 2]) -> u64 {
    if let Some(h) = &program.profile.halves {
        let locations = [&h.position, &h.others].map(|h| h.attributes.len() as u64);
        return warps[0] * locations[0] + warps[1] * locations[1];
    }
    let location = |i: &Input| if let Input::Varying(slot) = i { Some(slot / 4) } else { None };
    let mut locations: Vec<u16> = program.inputs.iter().filter_map(|(i, _)| location(i)).collect();
    locations.small_sort();
    locations.dedup();
    warps[0] * locations.len() as u64
}

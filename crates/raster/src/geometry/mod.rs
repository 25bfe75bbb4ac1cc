//! Geometry: from a recorded draw to primitives that tiles can draw (design, section 3).
//!
//! A draw's primitives are cut into chunks of about a thousand, the same at any thread count. For each chunk a thread
//! assembles ([`assembly`]: which vertices, each once), fetches and shades ([`fetch`], [`vertex`]: waves whose outputs
//! become columns), culls, clips ([`clip`]) and sets up ([`setup`] for sixteen filled triangles at a time, [`points`],
//! [`raster`], [`line`], [`bresenham`] for what is rarer). What chunks made is appended in their order. [`bin`] then sorts
//! primitives into tiles.

pub mod assembly;
mod batch;
pub mod bin;
pub mod bresenham;
pub mod clip;
pub mod feedback;
pub mod fetch;
pub mod line;
mod parallel;
pub mod plane;
mod points;
pub mod raster;
pub mod setup;
pub mod stages;
#[cfg(test)]
mod tests;
pub mod traffic;
#[cfg(test)]
pub(crate) use tests::polygons::every_level_gives_the_same_bits;
pub mod vertex;
pub mod viewport;

use crate::draw::{Call, Draw};
use crate::state::{GraphicsPipeline, Rect};
use assembly::{Assembled, Assembly, TopologyClass};
pub use batch::Batch;
use counters::model::LINE;
use counters::{Counts, Event, EventCounts, Phase, Unit, UnitCounts};
use feedback::Feedback;
use fetch::Fetch;
use line::Stipple;
use machine::count;
use machine::instrumentation::Blocks;
use machine::shared::Shared;
use plane::Bias;
use raster::Rasterizer;
use shader::bytecode::Program;
use shader::cost::COUNTED;
use shader::ir::Input;
use shader::stage_io::FEEDBACK_BUFFERS;
use stages::{STAGES, StageCounts, Stages};
use std::ops::Range;
use texel::format::FormatInfo;
use traffic::{Left, Stream};
use vertex::{Outputs, Vertices};
use viewport::Map;
use wave::graphics::{Job, Lanes};
use wave::held::Held;
use wave::tally::Access;
use wave::{Host, Stop, Worker};

/// What a draw is drawn in.
pub struct GeometryContext<'a> {
    pub shared: &'a Shared,
    pub host: &'a dyn Host,
    /// Names the draw's vertex program with its bindings, as [`Job::serial`].
    pub serial: u64,
    /// Pixels that may be drawn.
    pub area: Rect,
    /// Layers of the framebuffer (without multiview).
    pub layers: u32,
    /// The depth attachment's format.
    pub depth: Option<&'static FormatInfo>,
}

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
    /// Stages between vertices and rasterisation, where a draw has any.
    pub stages: Option<Box<[StageCounts; STAGES]>>,
}

impl GeometryCounts {
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
        if let Some(stages) = &o.stages {
            let own = self.stages.get_or_insert_default();
            own.iter_mut().zip(&**stages).for_each(|(a, b)| a.add(b));
        }
    }

    /// Bytes of vertices that tiles read: of those that primitives which they see use, three each of `prims` at most.
    /// `program`: the vertex program.
    pub fn between(&self, program: &Program, prims: u64) -> u64 {
        let vertices = self.events[Event::VertexInvocations].max(1);
        let prims = prims.saturating_sub(self.events[Event::PrimsDeferred]);
        let seen = |lines: u64| lines * LINE * (prims * 3).min(vertices) / vertices;
        let [positions, varyings] = self.written;
        // Those that are shaded apart are seen.
        let apart = program.profile.halves.is_some();
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
    ) -> UnitCounts {
        let mut usage = self.usage.clone();
        if program.profile.halves.is_none() {
            usage.run_at_once();
        }
        let others = |n: u64| if read { n } else { 0 };
        usage.run_in_halves([vertices, others(vertices)], self.events[Event::VertexInvocations]);
        usage.find_in_l2(count::l2_lines(counters::model::current()));
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

    /// With what follows.
    pub fn finish(&self, pipeline: &GraphicsPipeline, l2: &mut Held) -> Counts {
        use Event::*;
        let program: &Program = &pipeline.vertex;
        let mut c = Counts::default();
        c.add_events(&self.events);
        let (references, invocations) = (c[InputVertices], c[VertexInvocations]);
        c[PrimsVisible] += c[PrimsFrontVisible] + c[PrimsBackVisible];
        // Positions are shaded for each reference that assembly did not merge.
        c[PositionTasks] = invocations.div_ceil(4);
        c[VaryingTasks] = c[VaryingCacheMisses].div_ceil(4);
        c[PositionCacheHits] = references.saturating_sub(invocations);
        // A vertex's position is 16 bytes, a beat, for the tiler, from where it has just been written. Indices come from memory.
        let indices = c[TilerReadBeats];
        c[TilerReadBeats] += invocations;
        let mut usage = self.usage.clone();
        if program.profile.halves.is_some() {
            usage.run_in_halves([invocations, self.apart], invocations);
        }
        usage.lines[Access::ReadPartial] += self.fetched;
        usage.lines[Access::WriteFull] += self.written.iter().sum::<u64>() + self.captured;
        usage.share_l2(count::l2_lines(counters::model::current()), l2);
        usage.fare_as(&wave::Usage::default());
        let mut u = count::units(&usage);
        u[Unit::L2ReadLookups] += indices.div_ceil(4) + invocations.div_ceil(4);
        u[Unit::ExtReads] += indices.div_ceil(4);
        let warps: u64 = self.warps.iter().sum();
        count::launch(&mut u, program, warps, invocations + self.apart, self.full_warps);
        count::descriptors(&mut u, program, c[BinningTasks].min(counters::model::current().cores));
        u[Unit::AttributeInstr] = attributes(program, self.warps);
        c.add_units(Phase::Binning, &u);
        if let Some(stages) = &self.stages {
            for (program, own) in pipeline.stages().into_iter().zip(&**stages) {
                if let Some(program) = program {
                    own.finish(program, &mut c, l2);
                }
            }
        }
        c
    }
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
    locations.sort_unstable();
    locations.dedup();
    warps[0] * locations.len() as u64
}

/// What a thread keeps from draw to draw.
#[derive(Default)]
struct Scratch {
    chunk: Assembled,
    vertices: Vertices,
    stages: stages::Scratch,
}

thread_local! {
    static SCRATCH: std::cell::RefCell<Option<Box<Scratch>>> = const { std::cell::RefCell::new(None) };
}

/// Runs `f` with the thread's scratch (with a new one if a draw is under way on this thread already, which happens
/// when the pool makes it help elsewhere).
fn with_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    let mut scratch = SCRATCH.with(|s| s.borrow_mut().take()).unwrap_or_default();
    let result = f(&mut scratch);
    SCRATCH.with(|s| *s.borrow_mut() = Some(scratch));
    result
}

/// Primitives for which room is made beforehand.
const MOST: u64 = 1 << 22;
/// Chunks whose primitives are handed on together: some two million. A draw may have 2⁶⁴.
const RANGE: u64 = 2048;

/// One call of a draw, ready to be run chunk by chunk.
struct Work<'a> {
    assembly: Assembly,
    fetch: Fetch,
    raster: Rasterizer<'a>,
    /// What rasterisation reads of the last stage, and what of other vertex streams is captured.
    outputs: &'a Outputs,
    staged: Option<(Stages<'a>, &'a [Option<Outputs>; FEEDBACK_BUFFERS])>,
    program: &'a Program,
    /// The vertex stream that is rasterised.
    stream: usize,
    /// The last program before rasterisation.
    last: &'a Program,
    /// Regions that a primitive lies in at most for its vertices to be shaded there; 0: none is.
    deferred: u64,
    /// Its basic blocks' numbers are wanted, and what they are so far.
    instrumented: bool,
    blocks: Blocks,
}

impl Work<'_> {
    fn run_chunk(
        &self,
        shared: &Shared,
        worker: &mut Worker,
        job: &Job,
        c: u64,
        s: &mut Scratch,
        stipple: &mut Stipple,
        feedback: Option<&mut Feedback>,
        out: &mut Batch,
    ) -> Result<(), Stop> {
        match &self.staged {
            None => self.chunk(c, s, &mut worker.open(job)?, stipple, feedback, out),
            Some((stages, streams)) => {
                self.staged(stages, streams, shared, worker, job, c, s, stipple, feedback, out)
            }
        }
    }

    /// Assembly and vertices of a chunk; the lines of attributes that were read.
    fn vertices(
        &self,
        c: u64,
        s: &mut Scratch,
        lanes: &mut Lanes,
        outputs: &Outputs,
        out: &mut Batch,
    ) -> Result<u64, Stop> {
        self.assembly.assemble(c, &mut s.chunk);
        let vertices = s.chunk.index.len() as u64;
        let counts = &mut out.counts;
        counts.events[Event::VertexInvocations] += vertices;
        counts.events[Event::BinningTasks] += 1;
        counts.warps[0] += vertices.div_ceil(16);
        counts.full_warps += vertices / 16;
        let mut fetched = 0;
        if COUNTED {
            let all = [&s.chunk.index[..], &s.chunk.instance[..]];
            fetched = self.read(&self.fetch.streams[0], all, Some(lanes));
            counts.fetched += fetched;
        }
        s.vertices.shade(outputs, &self.fetch, &s.chunk, lanes)?;
        Ok(fetched)
    }

    /// A chunk with stages between its vertices and rasterisation.
    fn staged(
        &self,
        stages: &Stages,
        streams: &[Option<Outputs>; FEEDBACK_BUFFERS],
        shared: &Shared,
        worker: &mut Worker,
        job: &Job,
        c: u64,
        s: &mut Scratch,
        stipple: &mut Stipple,
        mut feedback: Option<&mut Feedback>,
        out: &mut Batch,
    ) -> Result<(), Stop> {
        let mut lanes = worker.open(job)?;
        self.vertices(c, s, &mut lanes, &stages.vertex, out)?;
        // What one stage leaves for the next is its whole output: nothing of it is shaded apart.
        let bytes = traffic::POSITION + 4 * stages.vertex.sources.len() as u64;
        out.counts.written[1] += (s.chunk.index.len() as u64 * bytes).div_ceil(LINE);
        take(worker, self, out);
        let mut counts: Box<[StageCounts; STAGES]> = Default::default();
        let Scratch { chunk, vertices, stages: scratch } = s;
        let mut sink = |made: stages::Made| {
            let stages::Made { vertices, flow, stream, outputs } = made;
            self.capture(stream, outputs, vertices, flow, feedback.as_deref_mut(), out);
            if stream != self.stream || self.raster.state.raster.discard {
                return;
            }
            if !self.raster.maps.is_empty() {
                vertices.place(self.raster.level, outputs, &self.raster.maps, self.raster.clip_z);
            }
            out.used.begin(vertices.count, 0);
            self.raster.chunk(vertices, flow, stipple, out);
            let [used, again] = out.used.counts();
            out.counts.events[Event::VaryingCacheMisses] += used;
            out.counts.events[Event::VaryingCacheHits] += again;
            // Tiles read positions and what fragments read of what the last stage has left.
            out.counts.written[0] += (used * traffic::POSITION).div_ceil(LINE);
            out.counts.written[1] += (used * outputs.bytes).div_ceil(LINE);
        };
        let each = self.assembly.each;
        let r =
            stages.run(shared, worker, job, chunk, each, vertices, streams, &mut counts, scratch, &mut sink);
        let events = &mut out.counts.events;
        events[Event::ControlPatches] += if counts[0].invocations > 0 { chunk.ids.len() as u64 } else { 0 };
        events[Event::EvaluationInvocations] += counts[1].invocations;
        events[Event::GeometryInvocations] += counts[2].invocations;
        let own = out.counts.stages.get_or_insert_default();
        own.iter_mut().zip(&*counts).for_each(|(a, b)| a.add(b));
        r
    }

    /// Primitives of the last stage before rasterisation: counted, and captured by transform feedback.
    fn capture(
        &self,
        stream: usize,
        outputs: &Outputs,
        vertices: &Vertices,
        flow: &Assembled,
        feedback: Option<&mut Feedback>,
        out: &mut Batch,
    ) {
        let n = flow.v[0].len() as u64;
        let events = &mut out.counts.events;
        events[Event::generated(stream)] += n;
        if self.staged.as_ref().is_some_and(|(s, _)| s.has_geometry()) {
            events[Event::GeometryPrimitives] += n;
        }
        let Some(feedback) = feedback else { return };
        let captured = feedback.write(
            &self.last.interface.io.feedback,
            outputs,
            stream,
            vertices,
            flow,
            self.raster.kind,
        );
        events[Event::needed(stream)] += n;
        events[Event::captured(stream)] += captured.primitives;
        out.counts.captured += captured.lines;
    }

    fn chunk(
        &self,
        c: u64,
        s: &mut Scratch,
        lanes: &mut Lanes,
        stipple: &mut Stipple,
        feedback: Option<&mut Feedback>,
        out: &mut Batch,
    ) -> Result<(), Stop> {
        let fetched = self.vertices(c, s, lanes, self.outputs, out)?;
        let vertices = s.chunk.index.len() as u64;
        let apart = self.program.profile.halves.is_some();
        self.capture(0, self.outputs, &s.vertices, &s.chunk, feedback, out);
        if !self.raster.maps.is_empty() {
            s.vertices.place(self.raster.level, self.outputs, &self.raster.maps, self.raster.clip_z);
        }
        out.used.begin(s.chunk.index.len(), self.deferred);
        self.raster.chunk(&s.vertices, &s.chunk, stipple, out);
        let [used, again] = out.used.counts();
        out.counts.events[Event::VaryingCacheMisses] += used;
        out.counts.events[Event::VaryingCacheHits] += again;
        if !COUNTED {
            return Ok(());
        }
        let later = out.used.postponed();
        out.counts.written[0] += traffic::write(Left::Positions, vertices - later.only, c, lanes);
        if !apart {
            out.counts.written[1] += self.write_varyings(vertices - later.only, c, lanes);
        } else if self.outputs.bytes > 0 {
            // Else tiles read nothing but positions: then there is no more to shade.
            let counts = &mut out.counts;
            counts.apart += used;
            counts.warps[1] += used.div_ceil(16);
            counts.full_warps += used / 16;
            let streams = &self.fetch.streams[1];
            let again = if streams.is_empty() { [&[][..]; 2] } else { out.used.of(false, &s.chunk) };
            counts.fetched += self.read(streams, again, Some(lanes));
            counts.written[1] += self.write_varyings(used, c, lanes);
        }
        if later.primitives > 0 {
            let counts = &mut out.counts;
            counts.events[Event::PrimsDeferred] += later.primitives;
            counts.deferred += later.vertices;
            let [positions, second, both] = &self.fetch.streams;
            if self.outputs.bytes > 0 && !second.is_empty() {
                // A warp shades both halves at once.
                let of = out.used.of(true, &s.chunk);
                counts.later[0] += self.read(both, of, None);
                counts.later[1] += self.read(&self.fetch.others, of, None);
            } else if !positions.is_empty() {
                // Of what positions need as large a part as of the vertices.
                counts.later[0] += (fetched * later.vertices).div_ceil(vertices.max(1));
            }
        }
        Ok(())
    }

    /// Lines of attributes that are read of vertices by index and instance.
    fn read(&self, streams: &[Stream], vertices: [&[u32]; 2], lanes: Option<&mut Lanes>) -> u64 {
        let arena = texel::memory::arena().0;
        traffic::read(streams, vertices, self.fetch.first_instance, arena, lanes)
    }

    /// Lines of so many vertices' varyings.
    fn write_varyings(&self, vertices: u64, c: u64, lanes: &mut Lanes) -> u64 {
        traffic::write(Left::Varyings(self.outputs.bytes), vertices, c, lanes)
    }
}

/// Where a draw's geometry stopped.
pub struct Stopped<'d> {
    pub stop: Stop,
    pub stage: &'static str,
    pub program: &'d Program,
}

/// Runs one call of a draw and hands its primitives to `each`, in order, until that says false: most draws' at once, those of
/// large ones in parts. `view`: the view to draw, with multiview.
///
/// # Errors
/// The fault that ended a vertex wave; what came before it has been handed on.
pub fn run<'d>(
    ctx: &GeometryContext,
    draw: &'d Draw,
    call: &Call,
    draw_index: u32,
    view: Option<u32>,
    mut feedback: Option<&mut Feedback>,
    each: &mut dyn FnMut(Batch) -> bool,
) -> Result<(), Stopped<'d>> {
    let assembly = Assembly::new(draw, call);
    let mut out = Batch::recycled();
    let events = &mut out.counts.events;
    events[Event::InputVertices] += assembly.vertices * call.instances as u64;
    events[Event::InputPrimitives] += assembly.total;
    events[assembly.kind.event()] += assembly.total;
    // Of all instances: what one has read, the L2 has for the next, and a draw that large has few.
    events[Event::TilerReadBeats] += assembly.index_bytes().div_ceil(16);
    if assembly.total == 0 {
        each(out);
        return Ok(());
    }
    let pipeline = &*draw.pipeline;
    let state = &*draw.state;
    let last = &**pipeline.last();
    let stages = Stages::new(draw, view);
    let streams = streams(draw, feedback.is_some());
    // Where a stream is chosen that nothing is emitted to, nothing is drawn.
    let nothing = Outputs::default();
    let outputs = streams[stream_of(draw)].as_ref().unwrap_or(&nothing);
    let kind = stages.as_ref().map_or(assembly.kind, |s| s.kind);
    let bias = state.raster.depth_bias.as_ref().map(|b| Bias::new(b, ctx.depth));
    let raster = Rasterizer::new(
        ctx.shared.level,
        state,
        outputs,
        Map::all(state, ctx.area),
        bias,
        kind,
        assembly.provoking_of(kind),
        (ctx.layers, view),
    );
    let fetch = Fetch::new(draw, call, &pipeline.vertex, draw_index, view);
    let strips = kind == TopologyClass::Line && state.raster.stipple.is_some();
    let chunks = assembly.chunks();
    let program = &*pipeline.vertex;
    let active = draw.instrumentation.as_ref().filter(|_| program.profile.mark_count > 0);
    let (instrumented, blocks) = (active.is_some(), Blocks::default());
    // What a program writes it must write once.
    let once = program.interface.writes_memory || !COUNTED || stages.is_some();
    let deferred = if once { 0 } else { counters::model::current().tiler.deferred };
    let staged = match stages {
        Some(s) => Some((s, &streams)),
        None => None,
    };
    let work = Work {
        assembly,
        fetch,
        raster,
        outputs,
        staged,
        program,
        stream: stream_of(draw),
        last,
        deferred,
        instrumented,
        blocks,
    };

    let tables = draw.bindings.tables();
    let job = Job {
        serial: ctx.serial,
        program: &pipeline.vertex,
        tables: &tables,
        push: &draw.bindings.push,
        host: ctx.host,
        arena: texel::memory::arena(),
    };

    let shared = ctx.shared;
    let mut stipple = Stipple::default();
    let mut result = Ok(());
    for first in (0..chunks).step_by(RANGE as usize) {
        let range = first..chunks.min(first + RANGE);
        let threads = (shared.threads as u64).min(range.end - range.start) as usize;
        // A stipple pattern goes on from chunk to chunk, and so does what transform feedback has written.
        result = if threads <= 1 || strips || feedback.is_some() {
            serial(shared, &work, &job, range, &mut stipple, feedback.as_deref_mut(), &mut out)
        } else {
            parallel::run(shared, threads, &work, &job, range, &mut out)
        };
        if result.is_err() || shared.hub.stops() || !each(std::mem::replace(&mut out, Batch::recycled())) {
            break;
        }
    }
    work.blocks.add_to(&shared.model.core, active, draw_index, ash::vk::ShaderStageFlags::VERTEX);
    for (_, stage) in work.staged.iter().flat_map(|(s, _)| s.each()) {
        let active = draw.instrumentation.as_ref().filter(|_| stage.instrumented);
        stage.blocks.add_to(&shared.model.core, active, draw_index, stage.stage);
    }
    result.map_err(|stop| {
        let stopped = work.staged.as_ref().and_then(|(s, _)| s.stopped());
        let of = |i: usize| Some((stages::NAMES[i], draw.pipeline.stages()[i]?));
        let (stage, program) = stopped.and_then(of).unwrap_or(("vertex", &pipeline.vertex));
        Stopped { stop, stage, program }
    })
}

/// The vertex stream that is rasterised: without a geometry shader there is one.
fn stream_of(draw: &Draw) -> usize {
    match draw.pipeline.geometry {
        Some(_) => (draw.state.raster.stream as usize).min(FEEDBACK_BUFFERS - 1),
        None => 0,
    }
}

/// By vertex stream, what is wanted of the last stage: for rasterisation, and what is captured.
fn streams(draw: &Draw, captured: bool) -> [Option<Outputs>; FEEDBACK_BUFFERS] {
    let pipeline = &*draw.pipeline;
    let last = &**pipeline.last();
    let drawn = stream_of(draw);
    std::array::from_fn(|stream| {
        let emits = match &last.interface.io.geometry {
            Some(g) => g.streams >> stream & 1 != 0,
            None => stream == 0,
        };
        let mut outputs = match emits || stream == 0 {
            false => return None,
            true if stream == drawn => Outputs::new(last, pipeline.fragment.as_deref(), stream as u8),
            true => Outputs::default(),
        };
        if captured {
            outputs.captured(last, stream as u8);
        }
        Some(outputs)
    })
}

/// Runs chunks one after the other.
fn serial(
    shared: &Shared,
    work: &Work,
    job: &Job,
    range: Range<u64>,
    stipple: &mut Stipple,
    mut feedback: Option<&mut Feedback>,
    out: &mut Batch,
) -> Result<(), Stop> {
    let expected = work.assembly.total.min(MOST) as usize;
    out.make_room(expected, expected * work.outputs.planes());
    with_worker(shared, |worker| {
        with_scratch(|scratch| {
            let mut counted = Ok(());
            for c in range {
                if shared.hub.stops() {
                    break;
                }
                worker.tally.trace(shared.traced(c, work.assembly.chunks(), count::TRACED));
                counted =
                    work.run_chunk(shared, worker, job, c, scratch, stipple, feedback.as_deref_mut(), out);
                if counted.is_err() {
                    break;
                }
            }
            take(worker, work, out);
            counted
        })
    })
}

/// Adds what the worker has counted.
fn take(worker: &mut Worker, work: &Work, out: &mut Batch) {
    out.counts.usage.add(&work.blocks.take(worker, work.program, work.instrumented));
}

fn with_worker<R>(shared: &Shared, f: impl FnOnce(&mut Worker) -> R) -> R {
    let mut worker = shared.workers.take(shared.level);
    let result = f(&mut worker);
    shared.workers.give(worker);
    result
}

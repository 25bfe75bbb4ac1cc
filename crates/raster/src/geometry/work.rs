//! A chunk of a draw's primitives, from vertices to set-up.

use super::assembly::Assembly;
use super::feedback::{self, Feedback};
use super::fetch::Fetch;
use super::line::Stipple;
use super::pieces::{Pieces, Scratch};
use super::raster::Rasterizer;
use super::stages::{self, STAGES, StageCounts, Stages};
use super::traffic::{self, Left, Stream};
use super::vertex::Outputs;
use super::{Batch, MOST};
use crate::draw::Draw;
use crate::layout::Grid;
use counters::Event;
use counters::model::LINE;
use machine::instrumentation::Blocks;
use machine::shared::Shared;
use shader::bytecode::Program;
use shader::stage_io::FEEDBACK_BUFFERS;
use std::ops::Range;
use wave::graphics::{Job, Lanes};
use wave::{Stop, Worker};

/// One call of a draw, ready to be run chunk by chunk.
pub(super) struct Work<'a> {
    pub shared: &'a Shared,
    pub job: Job<'a>,
    pub assembly: Assembly,
    pub fetch: Fetch,
    pub raster: Rasterizer<'a>,
    /// What rasterisation reads of the last stage, and what of other vertex streams is captured.
    pub outputs: &'a Outputs,
    pub staged: Option<(Stages<'a>, &'a [Option<Outputs>; FEEDBACK_BUFFERS])>,
    pub program: &'a Program,
    /// The vertex stream that is rasterised.
    pub stream: usize,
    /// The last program before rasterisation.
    pub last: &'a Program,
    /// Whether what it reads and leaves in memory is counted.
    pub counted: bool,
    /// Regions that a primitive lies in at most for its vertices to be shaded there; 0: none is.
    pub deferred: u64,
    pub grid: Grid,
    /// Its basic blocks' numbers are wanted, and what they are so far.
    pub instrumented: bool,
    pub blocks: Blocks,
}

impl Work<'_> {
    /// Assembly and vertices of a chunk; the lines of attributes that were read.
    fn vertices(
        &self,
        c: u64,
        s: &mut Scratch,
        lanes: &mut Lanes,
        outputs: &Outputs,
        out: &mut Batch,
    ) -> Result<u64, Stop> {
        self.assembly.assemble(&self.shared.hub, c, &mut s.chunk);
        let vertices = s.chunk.index.len() as u64;
        let counts = &mut out.counts;
        counts.events[Event::VertexInvocations] += vertices;
        counts.events[Event::BinningTasks] += 1;
        counts.warps[0] += vertices.div_ceil(16);
        counts.full_warps += vertices / 16;
        let mut fetched = 0;
        if self.counted {
            let all = [&s.chunk.index[..], &s.chunk.instance[..]];
            // Before another stage a program runs as a whole.
            let streams = &self.fetch.streams[if self.staged.is_some() { 2 } else { 0 }];
            fetched = self.read(streams, all, Some(lanes));
            counts.fetched += fetched;
        }
        s.vertices.shade(self.raster.level, outputs, &self.fetch, &s.chunk, lanes)?;
        Ok(fetched)
    }

    /// A chunk with stages between its vertices and rasterisation.
    fn staged(
        &self,
        worker: &mut Worker,
        c: u64,
        s: &mut Scratch,
        stipple: &mut Stipple,
        mut feedback: Option<&mut Feedback>,
        out: &mut Batch,
    ) -> Result<(), Stop> {
        let Some((stages, streams)) = &self.staged else { return Ok(()) };
        let mut lanes = worker.open(&self.job)?;
        self.vertices(c, s, &mut lanes, &stages.vertex, out)?;
        // All that the next stage reads is left in memory: nothing of it is shaded apart.
        let left = (s.chunk.index.len() as u64 * stages.vertex.left()).div_ceil(LINE);
        out.counts.left += left;
        out.counts.stored += left;
        self.take(worker, out);
        let mut counts: Box<[StageCounts; STAGES]> = Default::default();
        let Scratch { chunk, vertices, stages: scratch, .. } = s;
        let mut sink = |made: stages::Made| {
            let stages::Made { vertices, flow, stream, outputs, count } = made;
            let of = feedback::Made { outputs, stream, vertices, flow, kind: self.raster.kind };
            self.capture(&of, feedback.as_deref_mut(), out);
            if stream != self.stream || self.raster.state.raster.discard {
                return;
            }
            if !self.raster.maps.is_empty() {
                vertices.place(self.raster.level, outputs, self.raster.maps, self.raster.clip_z);
            }
            out.used.begin(if self.counted { vertices.count } else { 0 }, 0, self.grid);
            self.raster.chunk(vertices, flow, stipple, out);
            let [used, again] = out.used.counts();
            out.counts.events[Event::VaryingCacheMisses] += used;
            out.counts.events[Event::VaryingCacheHits] += again;
            // What the last stage leaves is all written: positions for the tiler, and what fragments read, for tiles.
            let lines = out.counts.leave(count, 0, outputs.bytes);
            out.counts.stored += if stages.has_geometry() { 0 } else { lines };
        };
        let input =
            stages::Primitives { all: &chunk.all, each: self.assembly.each, ids: &chunk.ids, vertices };
        let mut on = stages::Runner { shared: self.shared, worker, job: &self.job, streams };
        let r = stages.run(&mut on, &input, &mut counts, scratch, &mut sink);
        let events = &mut out.counts.events;
        events[Event::ControlPatches] += if counts[0].invocations > 0 { chunk.ids.len() as u64 } else { 0 };
        events[Event::EvaluationInvocations] += counts[1].invocations;
        events[Event::GeometryInvocations] += counts[2].invocations;
        let own = out.counts.stages.get_or_insert_default();
        own.iter_mut().zip(&*counts).for_each(|(a, b)| a.add(b));
        r
    }

    /// Primitives of the last stage before rasterisation: counted, and captured by transform feedback.
    fn capture(&self, made: &feedback::Made, feedback: Option<&mut Feedback>, out: &mut Batch) {
        let (stream, n) = (made.stream, made.flow.v[0].len() as u64);
        let events = &mut out.counts.events;
        events[Event::generated(stream)] += n;
        if self.staged.as_ref().is_some_and(|(s, _)| s.has_geometry()) {
            events[Event::GeometryPrimitives] += n;
        }
        let Some(feedback) = feedback else { return };
        let captured = feedback.write(self.raster.level, &self.last.interface.io.feedback, made);
        events[Event::needed(stream)] += n;
        events[Event::captured(stream)] += captured.primitives;
        out.counts.captured += captured.lines;
        out.counts.stored += captured.lines;
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
        let (outputs, kind) = (self.outputs, self.raster.kind);
        let made = feedback::Made { outputs, stream: 0, vertices: &s.vertices, flow: &s.chunk, kind };
        self.capture(&made, feedback, out);
        if !self.raster.maps.is_empty() {
            s.vertices.place(self.raster.level, self.outputs, self.raster.maps, self.raster.clip_z);
        }
        out.used.begin(if self.counted { s.chunk.index.len() } else { 0 }, self.deferred, self.grid);
        self.raster.chunk(&s.vertices, &s.chunk, stipple, out);
        let [used, again] = out.used.counts();
        out.counts.events[Event::VaryingCacheMisses] += used;
        out.counts.events[Event::VaryingCacheHits] += again;
        if !self.counted {
            return Ok(());
        }
        let later = out.used.postponed();
        // A tiler that can leave shading to tiles keeps positions until it knows who sees them: what is culled goes to no memory.
        let left = if self.deferred > 0 { used } else { vertices };
        out.counts.written[0] += traffic::write(Left::Positions, left, c, lanes);
        if !apart {
            out.counts.written[1] += self.write_varyings(left, c, lanes);
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
        let arena = self.shared.memory.arena().0;
        traffic::read(streams, vertices, self.fetch.first_instance, arena, lanes)
    }

    /// Lines of so many vertices' varyings.
    fn write_varyings(&self, vertices: u64, c: u64, lanes: &mut Lanes) -> u64 {
        traffic::write(Left::Varyings(self.outputs.bytes), vertices, c, lanes)
    }
}

impl Pieces for Work<'_> {
    fn count(&self) -> u64 {
        self.assembly.chunks()
    }
    fn expected(&self) -> usize {
        self.assembly.total.min(MOST) as usize
    }
    fn lists(&self) -> [usize; 2] {
        self.raster.lists()
    }
    fn advanced(&self, feedback: &Feedback, pieces: Range<u64>) -> Option<Feedback> {
        // What stages make of a primitive is seen when they have run.
        let primitives = self.assembly.primitives_of(pieces).filter(|_| self.staged.is_none())?;
        Some(feedback.advanced(&self.last.interface.io.feedback, primitives, self.raster.kind))
    }
    fn run(
        &self,
        worker: &mut Worker,
        c: u64,
        s: &mut Scratch,
        stipple: &mut Stipple,
        feedback: Option<&mut Feedback>,
        out: &mut Batch,
    ) -> Result<(), Stop> {
        match &self.staged {
            None => self.chunk(c, s, &mut worker.open(&self.job)?, stipple, feedback, out),
            Some(_) => self.staged(worker, c, s, stipple, feedback, out),
        }
    }
    fn take(&self, worker: &mut Worker, out: &mut Batch) {
        if self.counted || self.instrumented {
            out.counts.usage.add(&self.blocks.take(worker, self.program, self.instrumented));
        } else {
            worker.tally.forget(self.program);
        }
    }
}

/// The vertex stream that is rasterised: without a geometry shader there is one.
pub(super) fn stream_of(draw: &Draw) -> usize {
    match draw.pipeline.geometry {
        Some(_) => (draw.state.raster.stream as usize).min(FEEDBACK_BUFFERS - 1),
        None => 0,
    }
}

/// By vertex stream, what is wanted of the last stage: for rasterisation, and what is captured.
pub(super) fn streams(draw: &Draw, captured: bool) -> [Option<Outputs>; FEEDBACK_BUFFERS] {
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

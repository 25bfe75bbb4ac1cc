//! The stages between vertices and rasterisation: of a chunk's vertices and primitives each makes others, in their order.
//!
//! A geometry shader's invocation has its primitive in its private words and leaves what it emits there ([`emit`]). A patch's
//! invocations share memory ([`control`]); what they leave is given to the evaluation of the points that
//! [`tessellator`] places ([`evaluate`]). Whatever is last hands its primitives to transform feedback ([`super::feedback`]) and
//! to rasterisation.

mod control;
mod emit;
mod evaluate;
pub(super) mod tessellator;

use super::assembly::{Assembled, TopologyClass};
use super::vertex::{Outputs, Vertices};
use crate::draw::Draw;
use ash::vk;
use counters::{Counts, Event, Phase, Unit};
use machine::count;
use machine::instrumentation::Blocks;
use machine::shared::Shared;
use shader::bytecode::Program;
use shader::ir::Input;
use shader::stage_io::{Cell, Emitted, FEEDBACK_BUFFERS};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use wave::graphics::{Job, Lanes};
use wave::held::Held;
use wave::{L2, Stop, Usage, Worker};

/// Stages there may be, in order: control, evaluation, geometry, task.
pub const STAGES: usize = 4;
pub const TASK: usize = 3;

/// For people.
pub const NAMES: [&str; STAGES] = ["tessellation control", "tessellation evaluation", "geometry", "task"];

/// What a stage has run.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub struct StageCounts {
    pub usage: Usage,
    pub invocations: u64,
    pub warps: u64,
    pub full_warps: u64,
    /// Lines of memory between it and the stage before, written and read.
    pub written: u64,
    pub read: u64,
    /// Of those that are written, those that are stores of registers: the others the program itself stores.
    pub stored: u64,
}

impl StageCounts {
    pub fn add(&mut self, o: &StageCounts) {
        self.usage.add(&o.usage);
        self.invocations += o.invocations;
        self.warps += o.warps;
        self.full_warps += o.full_warps;
        self.written += o.written;
        self.stored += o.stored;
        self.read += o.read;
    }

    /// Adds what it comes to: as compute shaders do it in the binning phase.
    pub fn finish(&self, program: &Program, c: &mut Counts, l2: L2, held: &mut Held) {
        let mut usage = self.usage.in_l2(l2);
        usage.share_l2(l2.lines, held);
        usage.fare_as(&Usage::default());
        let mut u = count::units(&usage);
        u[Unit::LsWriteFull] += self.stored;
        super::counts::pass_on(&mut u, self.read, self.written);
        count::launch(&mut u, program, self.warps, self.invocations, self.full_warps);
        count::descriptors(&mut u, program, c[Event::BinningTasks].min(counters::model::current().cores));
        c.add_units(Phase::Binning, &u);
    }

    /// A wave of so many lanes has run.
    fn wave(&mut self, lanes: usize) {
        self.invocations += lanes as u64;
        self.warps += lanes.div_ceil(16) as u64;
        self.full_warps += lanes as u64 / 16;
    }
}

/// A stage of a draw.
pub struct Stage<'a> {
    pub program: &'a Program,
    pub stage: vk::ShaderStageFlags,
    serial: u64,
    /// A wave of it stopped.
    stopped: AtomicBool,
    pub blocks: Blocks,
    pub instrumented: bool,
}

impl<'a> Stage<'a> {
    pub fn new(draw: &'a Draw, stage: vk::ShaderStageFlags, program: &'a Program) -> Stage<'a> {
        let instrumented = draw.instrumentation.is_some() && program.profile.mark_count > 0;
        let (serial, stopped) = (crate::serial(), AtomicBool::new(false));
        Stage { program, stage, serial, stopped, blocks: Blocks::default(), instrumented }
    }

    pub fn has_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }
    /// How its workgroups ended.
    pub fn note(&self, ran: &Result<(), Stop>) {
        self.stopped.fetch_or(ran.is_err(), Relaxed);
    }
    /// Bytes of the payload that it makes or takes.
    pub fn payload(&self) -> u32 {
        self.program.interface.io.mesh.as_ref().map_or(0, |m| m.payload)
    }

    /// Runs a wave.
    fn wave(&self, lanes: &mut Lanes) -> Result<(), Stop> {
        let r = lanes.run();
        self.stopped.fetch_or(r.is_err(), Relaxed);
        r
    }

    /// The vertex program's job with this stage's program.
    fn job<'j>(&'j self, job: &Job<'j>) -> Job<'j> {
        Job { serial: self.serial, program: self.program, ..*job }
    }
}

/// What a stage reads of the one before it: cells, and the column of each.
type Wanted = Vec<(Cell, usize)>;

/// The stages of a draw.
pub struct Stages<'a> {
    /// Vertices' outputs that the first of them reads.
    pub vertex: Outputs,
    tessellation: Option<(control::Control<'a>, evaluate::Evaluate<'a>)>,
    geometry: Option<emit::Emit<'a>>,
    /// What its last stage makes.
    pub kind: TopologyClass,
}

/// What a thread keeps for them.
#[derive(Default)]
pub struct Scratch {
    evaluated: evaluate::Points,
    emitted: Vertices,
    emission: Assembled,
    /// How many vertices each lane has emitted; a lane's strips; and which vertex provokes each primitive.
    counts: Vec<u32>,
    strip: emit::Strip,
    provoking: Vec<u32>,
    points: Vec<[f32; 2]>,
    patches: Vec<u32>,
    memory: Vec<u32>,
}

/// Primitives of the last stage, of one vertex stream.
pub struct Made<'m> {
    pub vertices: &'m mut Vertices,
    pub flow: &'m Assembled,
    pub stream: usize,
    pub outputs: &'m Outputs,
    /// Vertices that there are: among `vertices` may be some that nobody has made.
    pub count: u64,
}

/// Where they go.
pub type Sink<'s> = dyn FnMut(Made) + 's;

impl<'a> Stages<'a> {
    /// `outputs`: by stream, what is wanted of the last one.
    pub fn new(draw: &'a Draw, view: Option<u32>) -> Option<Stages<'a>> {
        let pipeline = &*draw.pipeline;
        if !pipeline.is_staged() {
            return None;
        }
        let state = &*draw.state;
        // Views are drawn apart.
        let view = view.unwrap_or(0);
        let mut kind = TopologyClass::Triangle;
        let mut before: &Program = &pipeline.vertex;
        let mut vertex = None;
        let mut tessellation = None;
        if let Some([control, evaluation]) = &pipeline.tessellation {
            let (outputs, wanted) = wanted(before, control);
            vertex = Some(outputs);
            let control = Stage::new(draw, vk::ShaderStageFlags::TESSELLATION_CONTROL, control);
            let evaluation = Stage::new(draw, vk::ShaderStageFlags::TESSELLATION_EVALUATION, evaluation);
            before = evaluation.program;
            let control = control::Control::new(control, wanted, view);
            let evaluate = evaluate::Evaluate::new(evaluation, control.program(), state, view);
            kind = evaluate.kind();
            tessellation = Some((control, evaluate));
        }
        let mut geometry = None;
        if let Some(g) = &pipeline.geometry {
            let (outputs, wanted) = wanted(before, g);
            if let Some((_, e)) = &mut tessellation {
                e.outputs = outputs;
                e.in_turn = true;
            } else {
                vertex = Some(outputs);
            }
            let stage = Stage::new(draw, vk::ShaderStageFlags::GEOMETRY, g);
            kind = match stage.program.interface.io.geometry.as_ref().map(|g| g.emitted) {
                Some(Emitted::LineStrip) => TopologyClass::Line,
                Some(Emitted::TriangleStrip) => TopologyClass::Triangle,
                _ => TopologyClass::Point,
            };
            geometry = Some(emit::Emit::new(stage, wanted, view, state.raster.provoking_last));
        }
        Some(Stages { vertex: vertex.unwrap_or_default(), tessellation, geometry, kind })
    }

    /// Which of [`STAGES`] a wave stopped of, if it was one of these.
    pub fn stopped(&self) -> Option<usize> {
        self.each().find_map(|(i, s)| s.stopped.load(Relaxed).then_some(i))
    }

    pub fn has_geometry(&self) -> bool {
        self.geometry.is_some()
    }

    /// Its stages, and the place of each among [`STAGES`].
    pub fn each(&self) -> impl Iterator<Item = (usize, &Stage<'a>)> {
        let tessellation = self.tessellation.as_ref().map(|(c, e)| [(0, &c.stage), (1, &e.stage)]);
        tessellation.into_iter().flatten().chain(self.geometry.as_ref().map(|g| (2, &g.stage)))
    }

    /// Runs them for a chunk whose vertices are shaded.
    pub fn run(
        &self,
        on: &mut Runner,
        chunk: &Primitives,
        counts: &mut [StageCounts; STAGES],
        s: &mut Scratch,
        sink: &mut Sink,
    ) -> Result<(), Stop> {
        let Some((control, evaluate)) = &self.tessellation else {
            return self.emit(on, chunk, &mut counts[2], s, sink);
        };
        // What the stages in between are working with.
        let (mut points, mut memory) = (std::mem::take(&mut s.evaluated), std::mem::take(&mut s.memory));
        let mut result = Ok(());
        for first in (0..chunk.ids.len()).step_by(control.patches()) {
            let n = control.patches().min(chunk.ids.len() - first);
            result = control.run(on, chunk, first..first + n, &mut memory, &mut counts[0]);
            let mut from = 0;
            while result.is_ok() && from < n && !on.shared.hub.stops() {
                let ids = &chunk.ids[first..first + n];
                let at = evaluate::Patches { memory: &memory, ids, from };
                let outputs = match (&self.geometry, &on.streams[0]) {
                    (None, Some(o)) => o,
                    _ => &evaluate.outputs,
                };
                result = match evaluate.run(on, at, outputs, &mut points, &mut counts[1], s) {
                    Ok(next) => {
                        from = next;
                        let evaluate::Points { vertices, flow } = &mut points;
                        let count = vertices.count as u64;
                        if self.geometry.is_some() {
                            let lines = (count * outputs.left()).div_ceil(64);
                            counts[1].written += lines;
                            counts[1].stored += lines;
                            let each = evaluate.each();
                            let input = Primitives { all: &flow.all, each, ids: &flow.ids, vertices };
                            self.emit(on, &input, &mut counts[2], s, sink)
                        } else {
                            sink(Made { vertices, flow, stream: 0, outputs, count });
                            Ok(())
                        }
                    }
                    Err(stop) => Err(stop),
                };
            }
            if result.is_err() || on.shared.hub.stops() {
                break;
            }
        }
        (s.evaluated, s.memory) = (points, memory);
        result
    }

    fn emit(
        &self,
        on: &mut Runner,
        input: &Primitives,
        counts: &mut StageCounts,
        s: &mut Scratch,
        sink: &mut Sink,
    ) -> Result<(), Stop> {
        let Some(g) = &self.geometry else { return Ok(()) };
        g.run(on, input, counts, s, sink)
    }
}

/// What the stages of a chunk are run with.
pub struct Runner<'r, 'j> {
    pub shared: &'r Shared,
    pub worker: &'r mut Worker,
    /// The vertex program's.
    pub job: &'r Job<'j>,
    /// What is wanted of each vertex stream, the first of which every stage makes.
    pub streams: &'r [Option<Outputs>; FEEDBACK_BUFFERS],
}

/// Primitives that a stage is given: `each` vertices of each.
pub struct Primitives<'p> {
    pub all: &'p [u32],
    pub each: u32,
    pub ids: &'p [u32],
    pub vertices: &'p Vertices,
}

/// What a program reads of the one before it.
fn wanted(before: &Program, program: &Program) -> (Outputs, Wanted) {
    let cells = &program.interface.io.inputs;
    let (outputs, columns) = Outputs::of(before, cells.iter().map(|c| c.slot));
    (outputs, cells.iter().copied().zip(columns).collect())
}

/// Bytes of a vertex that a stage reads: of what the one before it writes.
fn bytes(wanted: &Wanted) -> u64 {
    4 * wanted.iter().filter(|(_, column)| *column > 0).count() as u64
}

/// Fills the inputs of a wave's first `n` lanes; `of` gives the words of those that it knows by lane, or one for all lanes.
fn fill(program: &Program, lanes: &mut Lanes, n: usize, view: u32, of: impl Fn(Input, &mut Vec<u32>)) {
    let mut words = Vec::new();
    for (i, (input, _)) in program.inputs.iter().enumerate() {
        words.clear();
        match input {
            Input::ViewIndex => words.push(view),
            _ => of(*input, &mut words),
        }
        let rows = lanes.input(i);
        match &words[..] {
            // One device, and nothing of a dispatch or a fragment.
            [] => rows.iter_mut().for_each(|r| r.fill(0)),
            [one] => rows.iter_mut().for_each(|r| r.fill(*one)),
            words => {
                let cells = rows.as_flattened_mut();
                let n = n.min(words.len()).min(cells.len());
                cells[..n].copy_from_slice(&words[..n]);
            }
        }
    }
}

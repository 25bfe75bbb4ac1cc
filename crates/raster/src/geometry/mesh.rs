//! Mesh shading: task workgroups that ask for mesh workgroups, whose vertices and primitives go to set-up in their order
//! (§ Mesh Shading).

use super::assembly::{Assembled, TopologyClass};
use super::feedback::Feedback;
use super::line::Stipple;
use super::pieces::{self, Halt, Pieces, Scratch};
use super::raster::Rasterizer;
use super::stages::Stage;
use super::vertex::{Outputs, Vertices};
use super::{Batch, GeometryContext, Stopped};
use crate::draw::Draw;
use ash::vk;
use counters::Event;
use counters::model::LINE;
use shader::interface::{CULL_PRIMITIVE, INDICES, POINT_SIZE};
use shader::stage_io::{Cell, Emitted, Mesh, PAYLOAD};
use std::ops::Range;
use wave::{Around, Dispatch, Stop, Table, Worker};

/// Primitives after which those that wait are set up.
const ENOUGH: usize = 1024;
/// Mesh workgroups that one task workgroup may ask for: maxMeshWorkGroupTotalCount. More is valid to no one.
pub const MAX_GROUPS: u64 = 1 << 22;

/// What mesh workgroups have made that is not set up yet.
#[derive(Default)]
pub struct Pending {
    columns: Vec<Vec<u32>>,
    flow: Assembled,
    vertices: Vertices,
    count: u32,
}

impl Pending {
    fn clear(&mut self, columns: usize) {
        self.columns.resize_with(columns, Vec::new);
        self.columns.iter_mut().for_each(Vec::clear);
        self.flow.v.iter_mut().for_each(Vec::clear);
        self.flow.ids.clear();
        self.flow.starts.clear();
        self.count = 0;
    }
}

/// What a task workgroup leaves.
struct Asked {
    groups: [u32; 3],
    payload: Vec<u8>,
}

/// Mesh workgroups of a dispatch, from one to before another, and what their task workgroup has left them.
struct Groups<'g> {
    of: &'g Dispatch<'g>,
    range: [u64; 2],
    payload: &'g [u8],
}

struct MeshWork<'a> {
    ctx: &'a GeometryContext<'a>,
    tables: &'a [Table],
    push: &'a [u8],
    task: Option<Stage<'a>>,
    mesh: Stage<'a>,
    io: &'a Mesh,
    raster: Rasterizer<'a>,
    outputs: &'a Outputs,
    groups: [u32; 3],
    /// Names the draw's dispatch of its first stage.
    serial: u64,
    draw: [u32; 2],
    /// Where each column's values lie: in a vertex's cells, or in a primitive's.
    sources: Vec<(Cell, bool)>,
    indices: [Option<Cell>; 3],
    culled: Option<Cell>,
    /// The PointSize column.
    size: Option<usize>,
}

/// Runs one draw of mesh tasks, as [`super::run`] does others.
///
/// # Errors
/// As there.
pub fn run<'d>(
    ctx: &GeometryContext,
    draw: &'d Draw,
    groups: [u32; 3],
    out: &mut Box<Batch>,
    each: &mut dyn FnMut(&mut Box<Batch>) -> bool,
) -> Result<(), Stopped<'d>> {
    let pipeline = &*draw.pipeline;
    let Some(io) = &pipeline.vertex.interface.io.mesh else { return Ok(()) };
    let state = &*draw.state;
    let outputs = &ctx.prepared.outputs;
    let kind = match io.emitted {
        Emitted::Points => TopologyClass::Point,
        Emitted::LineStrip => TopologyClass::Line,
        Emitted::TriangleStrip => TopologyClass::Triangle,
    };
    let provoking = match (state.raster.provoking_last, kind) {
        (true, TopologyClass::Line) => 1,
        (true, TopologyClass::Triangle) => 2,
        _ => 0,
    };
    let raster = Rasterizer::new(ctx, state, outputs, kind, provoking);
    let all: Vec<(Cell, bool)> = io.cells().collect();
    let of_primitive = |slot: u16| io.primitives.iter().find(|c| c.slot == slot).copied();
    let task = pipeline.task.as_deref().map(|t| Stage::new(draw, vk::ShaderStageFlags::TASK_EXT, t));
    let work = MeshWork {
        ctx,
        tables: ctx.tables,
        push: &draw.bindings.push,
        task,
        mesh: Stage::new(draw, vk::ShaderStageFlags::MESH_EXT, &pipeline.vertex),
        io,
        raster,
        outputs,
        groups,
        serial: crate::serial(),
        draw: [ctx.index, ctx.view.unwrap_or(0)],
        sources: outputs.sources.iter().filter_map(|s| all.get(*s).copied()).collect(),
        indices: std::array::from_fn(|k| of_primitive(INDICES + k as u16)),
        culled: of_primitive(CULL_PRIMITIVE),
        size: outputs.sources.iter().position(|s| all.get(*s).is_some_and(|c| c.0.slot == POINT_SIZE)),
    };
    // A stipple pattern goes on from primitive to primitive.
    let strips = kind == TopologyClass::Line && state.raster.stipple.is_some() || ctx.record.is_some();
    let result = pieces::deal(ctx.shared, &work, strips, None, out, each);
    let model = &ctx.shared.model.core;
    for stage in work.task.iter().chain([&work.mesh]) {
        let active = ctx.active.filter(|_| stage.instrumented);
        stage.blocks.add_to(model, active, ctx.index, stage.stage);
    }
    result.map_err(|halt| match (halt, &pipeline.task) {
        (Halt::Memory, _) => Stopped::PRIMITIVES,
        (Halt::Stop(stop), Some(program)) if work.task.as_ref().is_some_and(Stage::has_stopped) => {
            Stopped::Stage { stop, stage: "task", program }
        }
        (Halt::Stop(stop), _) => Stopped::Stage { stop, stage: "mesh", program: &pipeline.vertex },
    })
}

impl MeshWork<'_> {
    /// `serial`: of dispatches of the stage with as many workgroups.
    fn dispatch<'d>(&'d self, stage: &'d Stage, serial: u64, groups: [u32; 3]) -> Dispatch<'d> {
        Dispatch {
            serial,
            program: stage.program,
            tables: self.tables,
            push: self.push,
            host: self.ctx.host,
            base: [0; 3],
            groups,
            arena: self.ctx.shared.arena(),
            draw: self.draw,
        }
    }

    /// Workgroups of the draw: of the first stage.
    fn total(&self) -> u64 {
        self.groups.iter().fold(1u64, |n, g| n.saturating_mul(*g as u64))
    }

    /// Of a piece.
    fn each(&self) -> u64 {
        match self.task {
            Some(_) => 1,
            None => (ENOUGH as u64 / self.io.max_primitives.max(1) as u64).clamp(1, 64),
        }
    }

    /// Runs mesh workgroups, and sets up what they make.
    fn meshes(
        &self,
        worker: &mut Worker,
        Groups { of: d, range: [first, last], payload }: Groups,
        s: &mut Scratch,
        stipple: &mut Stipple,
        out: &mut Batch,
    ) -> Result<(), Stop> {
        let size = self.mesh.program.workgroup.iter().map(|n| *n as u64).product::<u64>();
        let step = self.each().max(1);
        let mut g = first;
        while g < last && !self.ctx.shared.hub.stops() {
            let n = step.min(last - g);
            let mut taking = Taking { work: self, payload, pending: &mut s.mesh, primitives: 0 };
            let ran = worker.run_around(d, g, n, &mut taking);
            let primitives = taking.primitives;
            self.mesh.note(&ran);
            ran?;
            let events = &mut out.counts.events;
            events[Event::MeshInvocations] += n * size;
            events[Event::MeshPrimitives] += primitives;
            events[Event::BinningTasks] += n;
            // Of what its task workgroup has left, each reads all.
            out.counts.fetched += n * (payload.len() as u64).div_ceil(LINE);
            out.counts.warps[0] += n * size.div_ceil(16);
            out.counts.full_warps += n * (size / 16);
            g += n;
            if s.mesh.flow.v[0].len() >= ENOUGH {
                self.flush(s, stipple, out);
            }
        }
        Ok(())
    }

    /// Sets up what waits.
    fn flush(&self, s: &mut Scratch, stipple: &mut Stipple, out: &mut Batch) {
        let Pending { columns, flow, vertices, count } = &mut s.mesh;
        vertices.room(self.outputs, *count as usize);
        for (k, column) in columns.iter_mut().enumerate() {
            if Some(k) == self.size {
                // A point without a size has one of 1.
                let one = |v: &u32| if *v == 0 { 1f32.to_bits() } else { *v };
                vertices.fill(k + 1, column.iter().map(one));
            } else {
                vertices.set(k + 1, 0, column);
            }
        }
        let n = flow.v[0].len() as u64;
        out.counts.events[self.raster.kind.event()] += n;
        out.counts.events[Event::InputPrimitives] += n;
        if !self.raster.state.raster.discard && n > 0 {
            if !self.raster.maps.is_empty() {
                vertices.place(self.raster.level, self.outputs, self.raster.maps, self.raster.clip_z);
            }
            out.used.begin(
                if self.ctx.shared.observed.counts() { *count as usize } else { 0 },
                0,
                self.ctx.grid,
            );
            self.raster.chunk(vertices, flow, stipple, out);
            let [used, again] = out.used.counts();
            out.counts.events[Event::VaryingCacheMisses] += used;
            out.counts.events[Event::VaryingCacheHits] += again;
        }
        // All that workgroups make is in memory, for the tiler and for tiles.
        let indices = match self.raster.kind {
            TopologyClass::Point => n,
            TopologyClass::Line => 2 * n,
            TopologyClass::Triangle => 3 * n,
        };
        out.counts.leave(*count as u64, indices, self.outputs.bytes);
        let columns = columns.len();
        s.mesh.clear(columns);
    }
}

impl Pieces for MeshWork<'_> {
    fn count(&self) -> u64 {
        self.total().div_ceil(self.each())
    }
    fn expected(&self) -> usize {
        let all = self.total().saturating_mul(self.io.max_primitives as u64);
        all.min(1 << 18) as usize
    }
    fn lists(&self) -> [usize; 2] {
        self.raster.lists()
    }
    fn advanced(&self, _: &Feedback, _: Range<u64>) -> Option<Feedback> {
        None
    }

    fn run(
        &self,
        worker: &mut Worker,
        c: u64,
        s: &mut Scratch,
        stipple: &mut Stipple,
        _: Option<&mut Feedback>,
        out: &mut Batch,
    ) -> Result<(), Stop> {
        s.mesh.clear(self.sources.len());
        let (first, last) = (c * self.each(), self.total().min((c + 1) * self.each()));
        let Some(task) = &self.task else {
            let d = self.dispatch(&self.mesh, self.serial, self.groups);
            self.meshes(worker, Groups { of: &d, range: [first, last], payload: &[] }, s, stipple, out)?;
            self.flush(s, stipple, out);
            return Ok(());
        };
        let d = self.dispatch(task, self.serial, self.groups);
        let mut asking = Asking { payload: task.payload(), asked: Vec::new() };
        let ran = worker.run_around(&d, first, last - first, &mut asking);
        task.note(&ran);
        ran?;
        let n = last - first;
        let size = task.program.workgroup.iter().map(|n| *n as u64).product::<u64>();
        out.counts.events[Event::TaskInvocations] += n * size;
        let counts = &mut out.counts.stages.get_or_insert_default()[super::stages::TASK];
        counts.invocations += n * size;
        counts.warps += n * size.div_ceil(16);
        counts.full_warps += n * (size / 16);
        counts.written += n * (task.payload() as u64 + 12).div_ceil(LINE);
        counts.usage.add(&self.usage(worker, task));
        for asked in asking.asked {
            let total = asked.groups.iter().fold(1u64, |n, g| n.saturating_mul(*g as u64)).min(MAX_GROUPS);
            if total == 0 {
                continue;
            }
            let d = self.dispatch(&self.mesh, crate::serial(), asked.groups);
            self.meshes(
                worker,
                Groups { of: &d, range: [0, total], payload: &asked.payload },
                s,
                stipple,
                out,
            )?;
        }
        self.flush(s, stipple, out);
        self.take(worker, out);
        Ok(())
    }

    fn take(&self, worker: &mut Worker, out: &mut Batch) {
        out.counts.usage.add(&self.usage(worker, &self.mesh));
    }
}

impl MeshWork<'_> {
    /// What a worker has counted of a stage's program; nothing while nobody looks.
    fn usage(&self, worker: &mut Worker, stage: &Stage) -> wave::Usage {
        if self.ctx.shared.observed.counts() || stage.instrumented {
            return stage.blocks.take(worker, stage.program, stage.instrumented);
        }
        worker.tally.forget(stage.program);
        wave::Usage::default()
    }
}

/// Around task workgroups: what each asks for.
struct Asking {
    payload: u32,
    asked: Vec<Asked>,
}

impl Around for Asking {
    fn before(&mut self, _: u64, _: &mut [u8]) {}
    fn after(&mut self, _: u64, memory: &[u8]) {
        let groups = [0, 1, 2].map(|k| word(memory.as_chunks().0, k));
        let payload = memory.get(PAYLOAD as usize..(PAYLOAD + self.payload) as usize).unwrap_or(&[]).to_vec();
        self.asked.push(Asked { groups, payload });
    }
}

/// Around mesh workgroups: their payload, and what each has made.
struct Taking<'t, 'a> {
    work: &'t MeshWork<'a>,
    payload: &'t [u8],
    pending: &'t mut Pending,
    primitives: u64,
}

/// Words of a workgroup's memory.
type Words<'m> = &'m [[u8; 4]];

fn word(memory: Words, k: usize) -> u32 {
    memory.get(k).map_or(0, |b| u32::from_le_bytes(*b))
}

fn of(memory: Words, cell: &Cell, i: u32) -> u32 {
    cell.fit(word(memory, (cell.word as usize).saturating_add(cell.stride as usize * i as usize)))
}

/// The first `n` of a cell.
fn all_of<'m>(memory: Words<'m>, cell: &Cell, n: u32) -> impl Iterator<Item = u32> + 'm {
    let (bits, from) = (cell.fit(!0), (cell.word as usize).min(memory.len()));
    let words = memory[from..].iter().step_by(cell.stride.max(1) as usize).take(n as usize);
    words.map(move |w| u32::from_le_bytes(*w) & bits)
}

impl Around for Taking<'_, '_> {
    fn before(&mut self, _: u64, memory: &mut [u8]) {
        let n = self.payload.len().min(self.work.io.payload as usize);
        if let Some(to) = memory.get_mut(PAYLOAD as usize..PAYLOAD as usize + n) {
            to.copy_from_slice(&self.payload[..n]);
        }
    }

    fn after(&mut self, _: u64, memory: &[u8]) {
        let (work, p) = (self.work, &mut *self.pending);
        let memory = memory.as_chunks().0;
        let vertices = word(memory, 0).min(work.io.max_vertices);
        let primitives = word(memory, 1).min(work.io.max_primitives);
        let each = match work.raster.kind {
            TopologyClass::Point => 1,
            TopologyClass::Line => 2,
            TopologyClass::Triangle => 3,
        };
        self.primitives += primitives as u64;
        // Where primitives have outputs of their own, each has its own vertices.
        let apart = work.sources.iter().any(|(_, of_primitive)| *of_primitive);
        let base = p.count;
        if !apart {
            for ((cell, _), column) in work.sources.iter().zip(&mut p.columns) {
                column.extend(all_of(memory, cell, vertices));
                // Where memory ends before (it does not), nothing is read.
                column.resize((base + vertices) as usize, 0);
            }
            p.count += vertices;
        }
        for i in 0..primitives {
            if work.culled.is_some_and(|c| of(memory, &c, i) != 0) {
                continue;
            }
            let corner = |k: usize| work.indices[k].map_or(0, |c| of(memory, &c, i));
            let corners: [u32; 3] = [0, 1, 2].map(|k| if k < each { corner(k) } else { 0 });
            // Indices beyond the vertices mean nothing.
            if corners.iter().any(|c| *c >= vertices) {
                continue;
            }
            if apart {
                for ((cell, of_primitive), column) in work.sources.iter().zip(&mut p.columns) {
                    column.extend(
                        corners[..each].iter().map(|v| of(memory, cell, if *of_primitive { i } else { *v })),
                    );
                }
                (0..each).for_each(|k| p.flow.v[k].push(p.count + k as u32));
                p.count += each as u32;
            } else {
                (0..each).for_each(|k| p.flow.v[k].push(base + corners[k]));
            }
            let written = work.outputs.primitive;
            let id = written.checked_sub(1).and_then(|k| work.sources.get(k));
            p.flow.ids.push(id.map_or(0, |(cell, _)| of(memory, cell, i)));
        }
    }
}

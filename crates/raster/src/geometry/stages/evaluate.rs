//! Tessellation evaluation: the points of several patches in a wave.

use super::tessellator::{Figure, Tessellator};
use super::{Scratch, Stage, StageCounts, fill};
use crate::geometry::assembly::{Assembled, TopologyClass};
use crate::geometry::vertex::{Outputs, Vertices};
use crate::state::State;
use shader::bytecode::Program;
use shader::interface::{TESS_INNER, TESS_OUTER};
use shader::ir::Input;
use shader::stage_io::{Cell, Domain, Spacing, Tessellation};
use wave::graphics::Job;
use wave::{Stop, Worker};

/// Points after which no more patches are taken at once.
const POINTS: usize = 8192;

pub struct Evaluate<'a> {
    pub stage: Stage<'a>,
    /// What the next stage reads, if there is one.
    pub outputs: Outputs,
    tessellator: Tessellator,
    /// Cells, and where the control stage has left them: word of vertex 0 and distance to the next, if it has.
    given: Vec<(Cell, Option<Cell>)>,
    outer: [Option<u32>; 4],
    inner: [Option<u32>; 2],
    /// Of a patch's memory in the control stage and in this one.
    words: [usize; 2],
    /// Control points of the patch.
    vertices: u32,
    /// Lines of what a patch's points read.
    lines: u64,
}

/// The control stage's memory of some patches; those before `from` are done.
pub struct Patches<'p> {
    pub memory: &'p [u32],
    pub ids: &'p [u32],
    pub from: usize,
}

impl<'a> Evaluate<'a> {
    pub fn new(stage: Stage<'a>, control: &Program, state: &State) -> Evaluate<'a> {
        let none = Tessellation::default();
        let c = control.interface.io.tessellation.as_ref().unwrap_or(&none);
        let e = stage.program.interface.io.tessellation.as_ref().unwrap_or(&none);
        let left = |slot: u16| c.outputs.iter().find(|cell| cell.slot == slot).copied();
        let given: Vec<(Cell, Option<Cell>)> =
            stage.program.interface.io.inputs.iter().map(|cell| (*cell, left(cell.slot))).collect();
        let clockwise = e.clockwise.or(c.clockwise).unwrap_or(false);
        let tessellator = Tessellator {
            domain: e.domain.or(c.domain).unwrap_or(Domain::Triangles),
            spacing: e.spacing.or(c.spacing).unwrap_or(Spacing::Equal),
            turned: clockwise == state.lower_left,
            points: e.point_mode || c.point_mode,
        };
        let lines = (given.iter().map(|(cell, _)| cell.count as u64 * 4).sum::<u64>()).div_ceil(64);
        Evaluate {
            outputs: Outputs::default(),
            tessellator,
            given,
            outer: std::array::from_fn(|k| left(TESS_OUTER + k as u16).map(|c| c.word)),
            inner: std::array::from_fn(|k| left(TESS_INNER + k as u16).map(|c| c.word)),
            words: [c.words as usize, e.words as usize],
            vertices: c.vertices,
            lines,
            stage,
        }
    }

    /// What it makes.
    pub fn kind(&self) -> TopologyClass {
        match self.tessellator.domain {
            _ if self.tessellator.points => TopologyClass::Point,
            Domain::Isolines => TopologyClass::Line,
            _ => TopologyClass::Triangle,
        }
    }
    pub fn each(&self) -> u32 {
        match self.kind() {
            TopologyClass::Point => 1,
            TopologyClass::Line => 2,
            TopologyClass::Triangle => 3,
        }
    }

    /// Evaluates some of the patches; which is the next. `in_turn`: primitives' vertices are wanted one after the other too.
    pub fn run(
        &self,
        worker: &mut Worker,
        job: &Job,
        view: u32,
        patches: Patches,
        outputs: &Outputs,
        vertices: &mut Vertices,
        flow: &mut Assembled,
        counts: &mut StageCounts,
        s: &mut Scratch,
        in_turn: bool,
    ) -> Result<usize, Stop> {
        let (points, of) = (&mut s.points, &mut s.patches);
        points.clear();
        of.clear();
        flow.v.iter_mut().for_each(Vec::clear);
        flow.ids.clear();
        flow.starts.clear();
        flow.all.clear();
        let [before, own] = self.words;
        let level = |p: usize, word: Option<u32>| {
            let at = word.map(|w| p * before + w as usize);
            at.and_then(|at| patches.memory.get(at)).map_or(0.0, |v| f32::from_bits(*v))
        };
        let mut next = patches.from;
        // Levels of the patch before, and where its points and primitives begin: the next one is often cut alike.
        let mut last: Option<([u32; 6], usize, usize)> = None;
        while next < patches.ids.len() && points.len() < POINTS {
            let outer = self.outer.map(|w| level(next, w));
            let inner = self.inner.map(|w| level(next, w));
            let bits = [outer[0], outer[1], outer[2], outer[3], inner[0], inner[1]].map(f32::to_bits);
            let (first, primitives) = (points.len(), flow.v[0].len());
            match last {
                Some((levels, from, p)) if levels == bits => {
                    points.extend_from_within(from..first);
                    let by = (first - from) as u32;
                    for v in flow.v.iter_mut().filter(|v| v.len() == primitives) {
                        v.extend_from_within(p..);
                        v[primitives..].iter_mut().for_each(|v| *v += by);
                    }
                    if flow.starts.len() == primitives {
                        flow.starts.extend_from_within(p..);
                    }
                }
                _ => {
                    let mut figure = Figure { points: &mut *points, flow: &mut *flow };
                    self.tessellator.patch(outer, inner, &mut figure);
                }
            }
            last = Some((bits, first, primitives));
            of.resize(points.len(), (next - patches.from) as u32);
            flow.ids.resize(flow.v[0].len(), patches.ids[next]);
            next += 1;
        }
        let each = self.each() as usize;
        // A geometry shader reads them so.
        if in_turn {
            for i in 0..flow.v[0].len() {
                for v in &flow.v[..each] {
                    flow.all.push(v[i]);
                }
            }
        }
        vertices.room(outputs, points.len());
        let program = self.stage.program;
        let job = self.stage.job(job);
        let mut lanes = worker.open(&job)?;
        let count = next - patches.from;
        let memory = lanes.shared((count * own * 4) as u32);
        for j in 0..count {
            let from = &patches.memory[(patches.from + j) * before..][..before];
            for (cell, left) in &self.given {
                let Some(left) = left else { continue };
                for v in 0..cell.count.min(left.count) {
                    let source = from.get((left.word + v * left.stride) as usize);
                    let at = j * own + (cell.word + v * cell.stride) as usize;
                    if let (Some(to), Some(v)) = (memory.get_mut(at), source) {
                        *to = cell.fit(*v);
                    }
                }
            }
        }
        let mut result = Ok(());
        for first in (0..points.len()).step_by(program.lanes as usize) {
            let n = lanes.count().min(points.len() - first);
            fill(program, &mut lanes, n, view, |i, l| match i {
                Input::TessCoord(k) => {
                    let [u, v] = points[first + l];
                    Some(match (k, self.tessellator.domain) {
                        (0, _) => u.to_bits(),
                        (1, _) => v.to_bits(),
                        (_, Domain::Triangles) => (1.0 - u - v).to_bits(),
                        _ => 0,
                    })
                }
                Input::PatchBase => Some(of[first + l] * own as u32 * 4),
                Input::PrimitiveId => Some(patches.ids[patches.from + of[first + l] as usize]),
                Input::PatchVertices => Some(self.vertices),
                _ => None,
            });
            lanes.begin(n);
            result = self.stage.wave(&mut lanes);
            if result.is_err() {
                break;
            }
            vertices.take(outputs, &lanes, first, n);
            counts.wave(n);
        }
        counts.read += self.lines * count as u64;
        counts.usage.add(&self.stage.blocks.take(worker, program, self.stage.instrumented));
        result.map(|()| next)
    }
}

//! Tessellation evaluation: the points of several patches in a wave.

use super::tessellator::{Figure, Tessellator};
use super::{Runner, Scratch, Stage, StageCounts, fill};
use crate::geometry::assembly::{Assembled, TopologyClass};
use crate::geometry::vertex::{Outputs, Vertices};
use crate::state::State;
use shader::bytecode::Program;
use shader::interface::{TESS_INNER, TESS_OUTER};
use shader::ir::Input;
use shader::stage_io::{Domain, Spacing, Tessellation};
use wave::Stop;

/// Points after which no more patches are taken at once.
const POINTS: usize = 8192;

pub struct Evaluate<'a> {
    pub stage: Stage<'a>,
    /// What the next stage reads, if there is one.
    pub outputs: Outputs,
    tessellator: Tessellator,
    /// What is moved from the control stage's memory of a patch to this one's.
    moves: Vec<Move>,
    outer: [Option<u32>; 4],
    inner: [Option<u32>; 2],
    /// Of a patch's memory in the control stage and in this one.
    words: [usize; 2],
    /// Control points of the patch.
    vertices: u32,
    /// Lines of what a patch's points read.
    lines: u64,
    view: u32,
    /// A geometry shader reads primitives' vertices, one after the other.
    pub in_turn: bool,
}

/// Points that were evaluated, and their primitives.
#[derive(Default)]
pub struct Points {
    pub vertices: Vertices,
    pub flow: Assembled,
}

/// A word of a patch from one stage's memory to the next one's.
struct Move {
    from: u32,
    to: u32,
    /// Those that the word has there.
    bits: u32,
}

/// The control stage's memory of some patches; those before `from` are done.
pub struct Patches<'p> {
    pub memory: &'p [u32],
    pub ids: &'p [u32],
    pub from: usize,
}

impl<'a> Evaluate<'a> {
    pub fn new(stage: Stage<'a>, control: &Program, state: &State, view: u32) -> Evaluate<'a> {
        let none = Tessellation::default();
        let c = control.interface.io.tessellation.as_ref().unwrap_or(&none);
        let e = stage.program.interface.io.tessellation.as_ref().unwrap_or(&none);
        let left = |slot: u16| c.outputs.iter().find(|cell| cell.slot == slot).copied();
        let inputs = &stage.program.interface.io.inputs;
        let moves =
            inputs.iter().filter_map(|cell| Some((cell, left(cell.slot)?))).flat_map(|(cell, left)| {
                (0..cell.count.min(left.count)).map(move |v| Move {
                    from: left.word + v * left.stride,
                    to: cell.word + v * cell.stride,
                    bits: cell.fit(!0),
                })
            });
        let moves = moves.collect();
        let clockwise = e.clockwise.or(c.clockwise).unwrap_or(false);
        let tessellator = Tessellator {
            domain: e.domain.or(c.domain).unwrap_or(Domain::Triangles),
            spacing: e.spacing.or(c.spacing).unwrap_or(Spacing::Equal),
            turned: clockwise == state.lower_left,
            points: e.point_mode || c.point_mode,
        };
        let lines = (inputs.iter().map(|cell| cell.count as u64 * 4).sum::<u64>()).div_ceil(64);
        Evaluate {
            outputs: Outputs::default(),
            tessellator,
            moves,
            outer: std::array::from_fn(|k| left(TESS_OUTER + k as u16).map(|c| c.word)),
            inner: std::array::from_fn(|k| left(TESS_INNER + k as u16).map(|c| c.word)),
            words: [c.words as usize, e.words as usize],
            vertices: c.vertices,
            lines,
            stage,
            view,
            in_turn: false,
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

    /// Evaluates some of the patches, and returns the number of the next one.
    pub fn run(
        &self,
        on: &mut Runner,
        patches: Patches,
        outputs: &Outputs,
        to: &mut Points,
        counts: &mut StageCounts,
        s: &mut Scratch,
    ) -> Result<usize, Stop> {
        let Points { vertices, flow } = to;
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
        if self.in_turn {
            for i in 0..flow.v[0].len() {
                for v in &flow.v[..each] {
                    flow.all.push(v[i]);
                }
            }
        }
        vertices.room(outputs, points.len());
        let program = self.stage.program;
        let job = self.stage.job(on.job);
        let mut lanes = on.worker.open(&job)?;
        let count = next - patches.from;
        let memory = lanes.shared((count * own * 4) as u32);
        let given = patches.memory[patches.from * before..].chunks_exact(before.max(1));
        for (to, from) in memory.chunks_exact_mut(own.max(1)).zip(given).take(count) {
            for m in &self.moves {
                if let (Some(to), Some(v)) = (to.get_mut(m.to as usize), from.get(m.from as usize)) {
                    *to = v & m.bits;
                }
            }
        }
        let mut result = Ok(());
        for first in (0..points.len()).step_by(program.lanes as usize) {
            let n = lanes.count().min(points.len() - first);
            let (points, of) = (&points[first..first + n], &of[first..first + n]);
            fill(program, &mut lanes, n, self.view, |i, to| match (i, self.tessellator.domain) {
                (Input::TessCoord(0), _) => to.extend(points.iter().map(|[u, _]| u.to_bits())),
                (Input::TessCoord(1), _) => to.extend(points.iter().map(|[_, v]| v.to_bits())),
                (Input::TessCoord(_), Domain::Triangles) => {
                    to.extend(points.iter().map(|[u, v]| (1.0 - u - v).to_bits()));
                }
                (Input::PatchBase, _) => to.extend(of.iter().map(|p| p * own as u32 * 4)),
                (Input::PrimitiveId, _) => {
                    to.extend(of.iter().map(|p| patches.ids[patches.from + *p as usize]));
                }
                (Input::PatchVertices, _) => to.push(self.vertices),
                _ => {}
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
        counts.usage.add(&self.stage.blocks.take(on.worker, program, self.stage.instrumented));
        result.map(|()| next)
    }
}

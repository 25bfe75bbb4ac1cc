//! Geometry shaders: a lane an invocation, of several primitives in a wave. A lane's vertices are taken from its private words
//! in order of primitives, invocations and emission.

use super::{Made, Primitives, Runner, Scratch, Sink, Stage, StageCounts, Wanted, bytes, fill};
use crate::geometry::assembly::Assembled;
use crate::geometry::vertex::{Outputs, Vertices};
use shader::interface::EMITTED;
use shader::ir::Input;
use shader::stage_io::{Emitted, Geometry, STARTS};
use wave::Stop;
use wave::graphics::Lanes;

/// Lanes of the widest wave.
const MOST_LANES: usize = 256;

pub struct Emit<'a> {
    pub stage: Stage<'a>,
    wanted: Wanted,
    io: Geometry,
    /// Which of the program's outputs says how many vertices there are.
    emitted: Option<usize>,
    view: u32,
    /// The last vertex of a primitive is its provoking one.
    last_provokes: bool,
}

impl<'a> Emit<'a> {
    pub fn new(stage: Stage<'a>, wanted: Wanted, view: u32, last_provokes: bool) -> Emit<'a> {
        let io = stage.program.interface.io.geometry.clone().unwrap_or_default();
        let emitted = stage.program.outputs.iter().position(|(s, _)| *s == EMITTED);
        Emit { stage, wanted, io, emitted, view, last_provokes }
    }

    pub fn run(
        &self,
        on: &mut Runner,
        input: &Primitives,
        counts: &mut StageCounts,
        s: &mut Scratch,
        sink: &mut Sink,
    ) -> Result<(), Stop> {
        let program = self.stage.program;
        let invocations = self.io.invocations.max(1) as usize;
        let all = input.ids.len() * invocations;
        let job = self.stage.job(on.job);
        let mut result = Ok(());
        for first in (0..all).step_by(program.lanes as usize) {
            if on.shared.hub.stops() {
                break;
            }
            let mut lanes = on.worker.open(&job)?;
            let n = lanes.count().min(all - first);
            self.give(&mut lanes, input, first, n);
            fill(program, &mut lanes, n, self.view, |i, words| match i {
                Input::InvocationId => words.extend((first..first + n).map(|l| (l % invocations) as u32)),
                Input::PrimitiveId => words.extend((first..first + n).map(|l| input.ids[l / invocations])),
                _ => {}
            });
            lanes.begin(n);
            result = self.stage.wave(&mut lanes);
            if result.is_err() {
                break;
            }
            counts.wave(n);
            // Each line of what it reads is another's, who wrote it for this.
            let all = n as u64 * (bytes(&self.wanted) * input.each as u64) / invocations as u64;
            counts.read += all.div_ceil(64);
            self.count(&lanes, n, &mut s.counts);
            for (stream, outputs) in on.streams.iter().enumerate() {
                let Some(outputs) = outputs else { continue };
                let own = |lane: usize| input.ids[(first + lane) / invocations];
                let grid = self.assemble(&mut lanes, n, stream as u32, own, s);
                if grid.made == 0 {
                    continue;
                }
                self.take(&mut lanes, outputs, &grid, &mut s.emitted);
                let Scratch { emitted, emission, provoking, .. } = s;
                if outputs.primitive > 0 {
                    let written = emitted.column(outputs.primitive);
                    emission.ids.clear();
                    emission.ids.extend(provoking.iter().map(|v| written[*v as usize]));
                }
                sink(Made { vertices: emitted, flow: emission, stream, outputs, count: grid.made });
            }
        }
        counts.usage.add(&self.stage.blocks.take(on.worker, program, self.stage.instrumented));
        result
    }

    /// The lanes' primitives.
    fn give(&self, lanes: &mut Lanes, input: &Primitives, first: usize, n: usize) {
        let wave = lanes.count();
        let invocations = self.io.invocations.max(1) as usize;
        let each = input.each as usize;
        let words = lanes.private();
        for v in 0..each {
            // The lanes' vertices of this number.
            let mut own = [0u32; MOST_LANES];
            let own = &mut own[..n.min(MOST_LANES)];
            if invocations == 1 {
                let all = input.all[first * each..].chunks_exact(each);
                own.iter_mut().zip(all).for_each(|(to, of)| *to = of[v]);
            } else {
                for (l, to) in own.iter_mut().enumerate() {
                    *to = input.all[(first + l) / invocations * each + v];
                }
            }
            for (cell, column) in self.wanted.iter().filter(|(c, _)| v < c.count as usize) {
                let column = input.vertices.column(*column);
                let at = (cell.word as usize + v * cell.stride as usize) * wave;
                let Some(row) = words.get_mut(at..at + n) else { continue };
                let bits = cell.fit(!0);
                row.iter_mut().zip(&*own).for_each(|(to, v)| *to = column[*v as usize] & bits);
            }
        }
    }

    /// How many vertices each lane has emitted, of all streams.
    fn count(&self, lanes: &Lanes, n: usize, counts: &mut Vec<u32>) {
        counts.clear();
        match self.emitted.map(|o| lanes.output(o)) {
            None => counts.resize(n, 0),
            Some([row]) => counts.resize(n, row[0]),
            Some(rows) => counts.extend_from_slice(&rows.as_flattened()[..n]),
        }
        counts.iter_mut().for_each(|c| *c = (*c).min(self.io.max_vertices));
    }

    /// Strips of a stream to primitives, in order of lanes; `of`: the primitive that a lane was given.
    fn assemble(
        &self,
        lanes: &mut Lanes,
        n: usize,
        stream: u32,
        of: impl Fn(usize) -> u32,
        s: &mut Scratch,
    ) -> Grid {
        let (wave, last) = (lanes.count(), self.last_provokes);
        let Scratch { counts, emission, strip, provoking, .. } = s;
        let Assembled { v, ids, starts, .. } = emission;
        v.iter_mut().for_each(Vec::clear);
        ids.clear();
        starts.clear();
        provoking.clear();
        let steps = counts.iter().copied().max().unwrap_or(0) as usize;
        let mut grid = Grid { pitch: n.next_multiple_of(16).min(wave), steps, made: 0 };
        let (entry, ring) = (self.io.entry() as usize, self.io.ring as usize);
        let words = lanes.private();
        let flags = |e: usize| {
            let at = (ring + e * entry + entry - 1) * wave;
            words.get(at..at + n).unwrap_or(&[])
        };
        let alike = counts.iter().all(|c| *c as usize == steps)
            && (0..steps).all(|e| flags(e).iter().all(|f| *f == flags(e)[0]));
        let corners = match self.io.emitted {
            Emitted::Points => 1,
            Emitted::LineStrip => 2,
            Emitted::TriangleStrip => 3,
        };
        let first = if last { corners - 1 } else { 0 };
        for (l, count) in counts.iter().enumerate() {
            // Most programs emit the same strips in all lanes.
            if l == 0 || !alike {
                let own = (0..*count as usize).map(|e| flags(e).get(l).copied().unwrap_or(!0));
                strip.cut(self.io.emitted, last, stream, own);
            }
            grid.made += strip.vertices;
            let at = |step: &u32| step * grid.pitch as u32 + l as u32;
            for (to, steps) in v[..corners].iter_mut().zip(&strip.corners) {
                to.extend(steps.iter().map(at));
            }
            provoking.extend(strip.corners[first].iter().map(at));
            ids.resize(ids.len() + strip.corners[0].len(), of(l));
            starts.extend_from_slice(&strip.starts);
        }
        grid
    }

    /// What is wanted of the vertices, as columns.
    fn take(&self, lanes: &mut Lanes, outputs: &Outputs, grid: &Grid, to: &mut Vertices) {
        let wave = lanes.count();
        to.room(outputs, grid.steps * grid.pitch);
        let (entry, ring) = (self.io.entry() as usize, self.io.ring as usize);
        let words = lanes.private();
        for (k, &source) in outputs.sources.iter().enumerate() {
            for step in 0..grid.steps {
                let at = (ring + step * entry + source) * wave;
                if let Some(row) = words.get(at..at + grid.pitch) {
                    to.set(k + 1, step * grid.pitch, row);
                }
            }
        }
    }
}

/// Emitted vertices by step and lane, as they lie in the lanes' words: vertex `step · pitch + lane`, whether or not the lane has
/// emitted so many.
struct Grid {
    pitch: usize,
    steps: usize,
    /// Vertices of the stream that there are.
    made: u64,
}

/// The primitives of a lane: corners by step.
#[derive(Default)]
pub struct Strip {
    corners: [Vec<u32>; 3],
    /// Lines: those that begin a strip.
    starts: Vec<bool>,
    vertices: u64,
}

impl Strip {
    /// Cuts strips of a stream to primitives; `flags`: of the vertices that a lane has emitted to all streams.
    fn cut(&mut self, emitted: Emitted, last: bool, stream: u32, flags: impl Iterator<Item = u32>) {
        let Strip { corners: [v0, v1, v2], starts, vertices } = self;
        v0.clear();
        v1.clear();
        v2.clear();
        starts.clear();
        *vertices = 0;
        // Vertices of the strip so far, and the last two of them.
        let (mut n, mut before) = (0u32, [0; 2]);
        for (step, flags) in (0u32..).zip(flags) {
            if flags >> 1 != stream {
                continue;
            }
            *vertices += 1;
            n = if flags & STARTS != 0 { 1 } else { n + 1 };
            match emitted {
                Emitted::Points => v0.push(step),
                Emitted::LineStrip if n >= 2 => {
                    v0.push(before[1]);
                    v1.push(step);
                    starts.push(n == 2);
                }
                Emitted::TriangleStrip if n >= 3 => {
                    // As in assembly: odd ones keep their winding, and their provoking vertex its place.
                    let [a, b, c] = match (n & 1, last) {
                        (1, _) => [before[0], before[1], step],
                        (_, false) => [before[0], step, before[1]],
                        (_, true) => [before[1], before[0], step],
                    };
                    v0.push(a);
                    v1.push(b);
                    v2.push(c);
                }
                _ => {}
            }
            before = [before[1], step];
        }
    }
}

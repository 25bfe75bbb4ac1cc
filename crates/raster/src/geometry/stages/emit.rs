//! Geometry shaders: a lane an invocation, of several primitives in a wave. A lane's vertices are taken from its private words
//! in order of primitives, invocations and emission.

use super::{Made, Primitives, Scratch, Sink, Stage, StageCounts, Wanted, bytes, fill};
use crate::geometry::assembly::Assembled;
use crate::geometry::vertex::Outputs;
use machine::shared::Shared;
use shader::interface::EMITTED;
use shader::ir::Input;
use shader::stage_io::{Emitted, FEEDBACK_BUFFERS, Geometry, STARTS};
use wave::graphics::{Job, Lanes};
use wave::{Stop, Worker};

pub struct Emit<'a> {
    pub stage: Stage<'a>,
    wanted: Wanted,
    io: Geometry,
    /// Which of the program's outputs says how many vertices there are.
    emitted: Option<usize>,
}

impl<'a> Emit<'a> {
    pub fn new(stage: Stage<'a>, wanted: Wanted) -> Emit<'a> {
        let io = stage.program.interface.io.geometry.clone().unwrap_or_default();
        let emitted = stage.program.outputs.iter().position(|(s, _)| *s == EMITTED);
        Emit { stage, wanted, io, emitted }
    }

    pub fn run(
        &self,
        shared: &Shared,
        worker: &mut Worker,
        job: &Job,
        view: u32,
        last_provokes: bool,
        input: &Primitives,
        streams: &[Option<Outputs>; FEEDBACK_BUFFERS],
        counts: &mut StageCounts,
        s: &mut Scratch,
        sink: &mut Sink,
    ) -> Result<(), Stop> {
        let program = self.stage.program;
        let invocations = self.io.invocations.max(1) as usize;
        let all = input.ids.len() * invocations;
        let job = self.stage.job(job);
        let mut result = Ok(());
        for first in (0..all).step_by(program.lanes as usize) {
            if shared.hub.stops() {
                break;
            }
            let mut lanes = worker.open(&job)?;
            let n = lanes.count().min(all - first);
            self.give(&mut lanes, input, first, n);
            fill(program, &mut lanes, n, view, |i, l| match i {
                Input::InvocationId => Some(((first + l) % invocations) as u32),
                Input::PrimitiveId => Some(input.ids[(first + l) / invocations]),
                _ => None,
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
            for (stream, outputs) in streams.iter().enumerate() {
                let Some(outputs) = outputs else { continue };
                self.pick(&mut lanes, n, stream as u32, s);
                if s.picked.is_empty() {
                    continue;
                }
                self.take(&mut lanes, outputs, s);
                let Scratch { emitted, emission, picked, begins, .. } = s;
                self.assemble(picked, begins, last_provokes, emission);
                let provoking = |i: usize| {
                    let v = if last_provokes {
                        match self.io.emitted {
                            Emitted::Points => emission.v[0][i],
                            Emitted::LineStrip => emission.v[1][i],
                            Emitted::TriangleStrip => emission.v[2][i],
                        }
                    } else {
                        emission.v[0][i]
                    };
                    v as usize
                };
                let written = outputs.primitive;
                let mut ids = std::mem::take(&mut emission.ids);
                ids.clear();
                ids.extend((0..emission.v[0].len()).map(|i| match written {
                    0 => input.ids[(first + picked[provoking(i)].0 as usize) / invocations],
                    c => emitted.column(c)[provoking(i)],
                }));
                emission.ids = ids;
                sink(Made { vertices: emitted, flow: emission, stream, outputs });
            }
        }
        counts.usage.add(&self.stage.blocks.take(worker, program, self.stage.instrumented));
        result
    }

    /// The lanes' primitives.
    fn give(&self, lanes: &mut Lanes, input: &Primitives, first: usize, n: usize) {
        let wave = lanes.count();
        let invocations = self.io.invocations.max(1) as usize;
        let each = input.each as usize;
        let words = lanes.private();
        for (cell, column) in &self.wanted {
            let column = input.vertices.column(*column);
            for v in 0..(cell.count as usize).min(each) {
                let at = (cell.word as usize + v * cell.stride as usize) * wave;
                let Some(row) = words.get_mut(at..at + n) else { continue };
                for (l, to) in row.iter_mut().enumerate() {
                    let p = (first + l) / invocations;
                    *to = cell.fit(column[input.all[p * each + v] as usize]);
                }
            }
        }
    }

    /// Which vertices of the lanes are of a stream, and which of them begin a strip.
    fn pick(&self, lanes: &mut Lanes, n: usize, stream: u32, s: &mut Scratch) {
        s.picked.clear();
        s.begins.clear();
        let Some(output) = self.emitted else { return };
        let wave = lanes.count();
        let rows = lanes.output(output);
        s.counts.clear();
        match rows {
            [row] => s.counts.resize(n, row[0]),
            rows => s.counts.extend_from_slice(&rows.as_flattened()[..n]),
        }
        let (entry, ring) = (self.io.entry() as usize, self.io.ring as usize);
        let words = lanes.private();
        for (l, count) in s.counts.iter().enumerate() {
            for e in 0..(*count).min(self.io.max_vertices) {
                let at = (ring + e as usize * entry) * wave + l;
                let Some(&flags) = words.get(at + (entry - 1) * wave) else { continue };
                if flags >> 1 == stream {
                    s.picked.push((l as u32, at as u32));
                    s.begins.push(flags & STARTS != 0);
                }
            }
        }
    }

    /// What is wanted of them, as columns.
    fn take(&self, lanes: &mut Lanes, outputs: &Outputs, s: &mut Scratch) {
        let wave = lanes.count();
        s.emitted.room(outputs, s.picked.len());
        let words = lanes.private();
        for (k, &source) in outputs.sources.iter().enumerate() {
            let words = words.get(source * wave..).unwrap_or(&[]);
            let of = |&(_, at): &(u32, u32)| words.get(at as usize).copied().unwrap_or(0);
            s.emitted.fill(k + 1, s.picked.iter().map(of));
        }
    }

    /// Strips to primitives.
    fn assemble(&self, picked: &[(u32, u32)], begins: &[bool], last: bool, to: &mut Assembled) {
        let Assembled { v: [v0, v1, v2], starts, .. } = to;
        v0.clear();
        v1.clear();
        v2.clear();
        starts.clear();
        // Vertices of the strip before this one.
        let mut n = 0u32;
        for (i, &(lane, _)) in picked.iter().enumerate() {
            let at = i as u32;
            if begins[i] || i > 0 && picked[i - 1].0 != lane {
                n = 0;
            }
            n += 1;
            match self.io.emitted {
                Emitted::Points => v0.push(at),
                Emitted::LineStrip if n >= 2 => {
                    v0.push(at - 1);
                    v1.push(at);
                    starts.push(n == 2);
                }
                Emitted::TriangleStrip if n >= 3 => {
                    // As in assembly: odd ones keep their winding, and their provoking vertex its place.
                    let [a, b, c] = match (n & 1, last) {
                        (1, _) => [at - 2, at - 1, at],
                        (_, false) => [at - 2, at, at - 1],
                        (_, true) => [at - 1, at - 2, at],
                    };
                    v0.push(a);
                    v1.push(b);
                    v2.push(c);
                }
                _ => {}
            }
        }
    }
}

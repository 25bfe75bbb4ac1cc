//! Tessellation control: a lane an invocation, several patches in a wave, each with memory of its own.

use super::{Primitives, Runner, Stage, StageCounts, Wanted, bytes, fill};
use shader::bytecode::Program;
use shader::ir::Input;
use shader::stage_io::Tessellation;
use std::ops::Range;
use wave::Stop;

pub struct Control<'a> {
    pub stage: Stage<'a>,
    wanted: Wanted,
    io: Tessellation,
    view: u32,
}

impl<'a> Control<'a> {
    pub fn new(stage: Stage<'a>, wanted: Wanted, view: u32) -> Control<'a> {
        let io = stage.program.interface.io.tessellation.clone().unwrap_or_default();
        Control { stage, wanted, io, view }
    }

    pub fn program(&self) -> &'a Program {
        self.stage.program
    }

    /// Patches of a wave.
    pub fn patches(&self) -> usize {
        (self.stage.program.lanes / self.io.vertices.max(1)).max(1) as usize
    }

    /// Runs patches `which` of the input, no more than [`Self::patches`]; leaves their memory in `memory`.
    pub fn run(
        &self,
        on: &mut Runner,
        input: &Primitives,
        which: Range<usize>,
        memory: &mut Vec<u32>,
        counts: &mut StageCounts,
    ) -> Result<(), Stop> {
        let program = self.stage.program;
        let (points, words) = (self.io.vertices.max(1) as usize, self.io.words as usize);
        let each = input.each as usize;
        let job = self.stage.job(on.job);
        let mut lanes = on.worker.open(&job)?;
        let n = which.len().min(self.patches());
        let own = lanes.shared((n * words * 4) as u32);
        for (cell, column) in &self.wanted {
            let (column, bits) = (input.vertices.column(*column), cell.fit(!0));
            for v in 0..(cell.count as usize).min(each) {
                let at = cell.word as usize + v * cell.stride as usize;
                for (own, p) in own.chunks_exact_mut(words.max(1)).zip(which.clone()) {
                    if let Some(to) = own.get_mut(at) {
                        *to = column[input.all[p * each + v] as usize] & bits;
                    }
                }
            }
        }
        let live = (n * points).min(lanes.count());
        fill(program, &mut lanes, live, self.view, |i, to| match i {
            Input::InvocationId => to.extend((0..live).map(|l| (l % points) as u32)),
            Input::PatchBase => to.extend((0..live).map(|l| (l / points * words * 4) as u32)),
            Input::PrimitiveId => to.extend((0..live).map(|l| input.ids[which.start + l / points])),
            Input::PatchVertices => to.push(input.each),
            _ => {}
        });
        lanes.begin(live);
        self.stage.wave(&mut lanes)?;
        memory.clear();
        memory.extend_from_slice(&lanes.shared((n * words * 4) as u32)[..n * words]);
        counts.wave(live);
        counts.read += (n as u64 * bytes(&self.wanted) * input.each as u64).div_ceil(64);
        let left: u64 = self.io.outputs.iter().map(|c| c.count as u64 * 4).sum();
        counts.written += (n as u64 * left).div_ceil(64);
        counts.usage.add(&self.stage.blocks.take(on.worker, program, self.stage.instrumented));
        Ok(())
    }
}

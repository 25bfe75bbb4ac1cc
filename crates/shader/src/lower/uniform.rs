//! Which values are the same for all lanes of the wave that execute their definition, and which branches split lanes.
//!
//! A value is **uniform** when every lane that is active where it is defined has the same bits. It may stop to be so
//! for its readers: lanes leave a loop with divergent exits in different iterations, each with the value of its own
//! (temporal divergence). Readers outside such a loop see a varying copy made at the exits; see [`super::edges`].

use super::park::Parks;
use crate::cfg::{Cfg, Loop, NONE};
use crate::ir::{Input, Inst, Readers, Shader, Term, Value};
use crate::isa::{Motion, SameResult, lanes, motion, operands};
use crate::options::Result;

/// Walks over all blocks until values that vary are followed to their readers instead.
const WALKS: usize = 8;

pub struct Uniformity {
    pub varying: Vec<bool>,
    pub parks: Parks,
    /// Per loop: lanes may leave it at different times.
    pub divergent: Vec<bool>,
    /// Per loop: the innermost divergent loop that is or holds it, or [`NONE`].
    pub innermost: Vec<u32>,
    /// Block that defines each value ([`NONE`]: nowhere); parts are defined with their tuple.
    pub def_block: Vec<u32>,
    /// The loop of that block, of what is not [`Self::fixed`]; else [`NONE`].
    def_loop: Vec<u32>,
    /// Constants, inputs and what the prologue computes: the same at any time.
    pub fixed: Vec<bool>,
    /// Block that lists each value.
    home: Vec<u32>,
    /// Computed in the prologue: from constants, push constants and read-only memory alone.
    pub prologue: Vec<bool>,
}

/// Whether an input differs between lanes.
pub fn input_varies(input: Input, packed: bool) -> bool {
    match input {
        Input::WorkgroupId(_) => packed,
        Input::NumWorkgroups(_)
        | Input::NumSubgroups
        | Input::DeviceIndex
        | Input::BaseVertex
        | Input::BaseInstance
        | Input::DrawIndex
        | Input::ViewIndex
        | Input::PatchVertices
        | Input::SampleOffset(_) => false,
        _ => true,
    }
}

/// What the prologue may compute.
fn prologue_op(inst: &Inst) -> bool {
    matches!(motion(inst), Motion::Moves | Motion::Follows)
}

impl Uniformity {
    /// `packed`: several workgroups share a wave. `prologue`: look for operations to run once a dispatch.
    pub fn new(shader: &Shader, cfg: &Cfg, packed: bool, prologue: bool) -> Result<Uniformity> {
        let n = shader.values.len();
        let mut u = Uniformity {
            varying: vec![false; n],
            parks: Parks::new(cfg.len()),
            divergent: vec![false; cfg.loops.len()],
            innermost: vec![NONE; cfg.loops.len()],
            def_block: vec![NONE; n],
            def_loop: vec![NONE; n],
            home: vec![NONE; n],
            fixed: vec![false; n],
            prologue: vec![false; n],
        };
        u.find_definitions(shader, prologue);
        for (i, v) in shader.values.iter().enumerate() {
            match v.inst {
                Inst::Const(_) => u.fixed[i] = true,
                Inst::Input(input) => {
                    u.fixed[i] = true;
                    u.varying[i] = input_varies(input, packed);
                }
                _ => {}
            }
        }
        if !cfg.loops.is_empty() {
            for (i, l) in u.def_loop.iter_mut().enumerate() {
                if let Some(&of) = cfg.loop_of.get(u.def_block[i] as usize).filter(|_| !u.fixed[i]) {
                    *l = of;
                }
            }
        }
        // All of it only grows, so what it comes to does not depend on the order: a walk takes in at once whatever
        // it finds, and what goes on against the order of blocks (over loops' back edges) is left to the next one.
        let mut walks = 0;
        while u.sweep(shader, cfg, packed) {
            walks += 1;
            shader.work.spend(n)?;
            if walks == WALKS {
                walks = 0;
                u.follow(shader, cfg, packed)?;
            }
        }
        Ok(u)
    }

    /// Takes every value that varies to those that read it, until nothing is new. For long ways over back edges, of
    /// which a walk goes one step.
    #[cold]
    fn follow(&mut self, shader: &Shader, cfg: &Cfg, packed: bool) -> Result<()> {
        let readers = Readers::of(shader);
        let all = (0..shader.values.len() as u32).map(Value);
        let mut left: Vec<Value> = all.filter(|v| self.varying[v.0 as usize]).collect();
        while let Some(v) = left.pop() {
            let own = readers.of_value(v);
            shader.work.spend(1 + own.len())?;
            for &v in own {
                let k = v.0 as usize;
                let b = self.home[k];
                if !self.varying[k] && !self.fixed[k] && self.value_varies(shader, cfg, packed, v, b) {
                    self.varying[k] = true;
                    left.push(v);
                }
            }
        }
        Ok(())
    }

    fn find_definitions(&mut self, shader: &Shader, prologue: bool) {
        let mut budget = if prologue { 256 } else { 0 };
        for (b, block) in shader.blocks.iter().enumerate() {
            for &v in &block.insts {
                let inst = &shader.data(v).inst;
                self.home[v.0 as usize] = b as u32;
                self.def_block[v.0 as usize] = match inst {
                    Inst::Part(t, _) => self.def_block[t.0 as usize],
                    _ => b as u32,
                };
                if budget == 0 || !prologue_op(inst) {
                    continue;
                }
                let mut known = true;
                operands(inst, |o| {
                    known &= self.prologue[o.0 as usize] || matches!(shader.data(o).inst, Inst::Const(_));
                });
                if known {
                    self.prologue[v.0 as usize] = true;
                    self.fixed[v.0 as usize] = true;
                    // A tuple's parts must follow it, whatever the budget says.
                    if let Inst::Load { n, .. } = inst {
                        budget -= (*n as i32).min(budget);
                    } else if !matches!(inst, Inst::Part(..)) {
                        budget -= 1;
                    }
                }
            }
        }
        // Parts of a prologue tuple that the budget cut off.
        for (i, v) in shader.values.iter().enumerate() {
            if let Inst::Part(t, _) = v.inst
                && self.prologue[t.0 as usize]
            {
                self.prologue[i] = true;
                self.fixed[i] = true;
            }
        }
    }

    /// Lanes may leave the loops that are left from block `p` on at different times, if any may part there.
    fn note_divergent_loops(&mut self, cfg: &Cfg, p: usize) -> bool {
        let mut top = NONE;
        for k in 0..2 {
            let t = cfg.succ[p][k];
            if t == NONE || !(self.parks.mask[p] || self.parks.parked[p][k]) {
                continue;
            }
            let mut l = cfg.loop_of[p];
            while l != NONE && !cfg.in_loop(t, l) {
                if !std::mem::replace(&mut self.divergent[l as usize], true) {
                    top = top.min(l);
                }
                l = cfg.parent(l);
            }
        }
        if top == NONE {
            return false;
        }
        // Loops within come after those around them.
        let last = cfg.loops[top as usize].last;
        for l in top as usize..cfg.loops.len() {
            let Loop { first, parent, .. } = cfg.loops[l];
            if first > last {
                break;
            }
            self.innermost[l] = match parent {
                _ if self.divergent[l] => l as u32,
                NONE => NONE,
                parent => self.innermost[parent as usize],
            };
        }
        true
    }

    /// The innermost divergent loop around the definition of `v` which block `b` is outside of, or [`NONE`].
    pub fn escapes(&self, cfg: &Cfg, v: Value, b: u32) -> u32 {
        let l = self.def_loop[v.0 as usize];
        if l == NONE {
            return NONE;
        }
        let d = self.innermost[l as usize];
        if d != NONE && !cfg.in_loop(b, d) {
            return d;
        }
        NONE
    }

    /// Readers in block `b` see differing values of `v`. `d` may be an outer divergent loop only: that counts too.
    pub fn varies_at(&self, cfg: &Cfg, v: Value, b: u32) -> bool {
        self.varying[v.0 as usize] || self.escapes(cfg, v, b) != NONE
    }

    fn sweep(&mut self, shader: &Shader, cfg: &Cfg, packed: bool) -> bool {
        let mut changed = false;
        for (b, block) in shader.blocks.iter().enumerate() {
            for &v in &block.insts {
                let i = v.0 as usize;
                if self.varying[i] || self.fixed[i] {
                    continue;
                }
                if self.value_varies(shader, cfg, packed, v, b as u32) {
                    self.varying[i] = true;
                    changed = true;
                }
            }
            if let Term::Branch { cond, yes, no } = block.term
                && yes != no
                && !self.parks.mask[b]
                && self.varies_at(cfg, cond, b as u32)
            {
                self.parks.mask[b] = true;
                changed = true;
            }
            changed |= self.parks.settle(cfg, b);
            changed |= self.note_divergent_loops(cfg, b);
        }
        changed
    }

    #[inline(always)]
    fn value_varies(&self, shader: &Shader, cfg: &Cfg, packed: bool, v: Value, b: u32) -> bool {
        let inst = &shader.data(v).inst;
        let any = || {
            let mut any = false;
            operands(inst, |o| any |= self.varies_at(cfg, o, b));
            any
        };
        match (lanes(inst), inst) {
            (SameResult::Ways, Inst::Phi(sources)) => self.phi_varies(cfg, sources, b),
            (SameResult::Tuple, Inst::Part(t, _)) => self.varying[t.0 as usize],
            (SameResult::OneGroup, _) => packed || any(),
            (SameResult::Operands, _) => any(),
            (SameResult::Differ | SameResult::Ways | SameResult::Tuple, _) => true,
        }
    }

    fn phi_varies(&self, cfg: &Cfg, sources: &[(crate::ir::Block, Value)], b: u32) -> bool {
        // Lanes that left a loop in different iterations bring different values, even by one edge: as seen from `b`.
        if sources.iter().any(|(p, v)| self.varies_at(cfg, *v, p.0) || self.escapes(cfg, *v, b) != NONE) {
            return true;
        }
        let forward = sources.iter().filter(|s| s.0.0 < b);
        if forward.clone().count() < 2 {
            return false;
        }
        let first = sources[0].1;
        if sources.iter().all(|s| s.1 == first) {
            return false;
        }
        forward.clone().any(|(p, _)| {
            let p = p.0 as usize;
            (0..2).any(|k| cfg.succ[p][k] == b && self.parks.parked[p][k])
        })
    }
}

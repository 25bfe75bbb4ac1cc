//! Which values are the same for all lanes of the wave that execute their definition, and which branches split lanes.
//!
//! A value is **uniform** when every lane that is active where it is defined has the same bits. It may stop to be so
//! for its readers: lanes leave a loop with divergent exits in different iterations, each with the value of its own
//! (temporal divergence). Readers outside such a loop see a varying copy made at the exits; see [`super::edges`].

use super::park::Parks;
use crate::cfg::{Cfg, NONE};
use crate::ir::{Input, Inst, Shader, Term, Value};
use crate::isa::{Lanes, Motion, lanes, motion, operands};

pub struct Uniformity {
    pub varying: Vec<bool>,
    pub parks: Parks,
    /// Per loop: lanes may leave it at different times.
    pub divergent: Vec<bool>,
    /// Per loop: the innermost divergent loop that is or holds it, or [`NONE`].
    pub innermost: Vec<u32>,
    /// Block that defines each value ([`NONE`]: nowhere); parts are defined with their tuple.
    pub def_block: Vec<u32>,
    /// Constants, inputs and what the prologue computes: the same at any time.
    pub fixed: Vec<bool>,
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
    pub fn new(shader: &Shader, cfg: &Cfg, packed: bool, prologue: bool) -> Uniformity {
        let n = shader.values.len();
        let mut u = Uniformity {
            varying: vec![false; n],
            parks: Parks::new(cfg.len()),
            divergent: vec![false; cfg.loops.len()],
            innermost: vec![NONE; cfg.loops.len()],
            def_block: vec![NONE; n],
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
        loop {
            u.parks.solve(cfg);
            u.find_divergent_loops(cfg);
            if !u.sweep(shader, cfg, packed) {
                return u;
            }
        }
    }

    fn find_definitions(&mut self, shader: &Shader, prologue: bool) {
        let mut budget = if prologue { 256 } else { 0 };
        for (b, block) in shader.blocks.iter().enumerate() {
            for &v in &block.insts {
                let inst = &shader.data(v).inst;
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

    fn find_divergent_loops(&mut self, cfg: &Cfg) {
        for p in 0..cfg.len() - 1 {
            for k in 0..2 {
                let t = cfg.succ[p][k];
                if t == NONE || !(self.parks.mask[p] || self.parks.parked[p][k]) {
                    continue;
                }
                let mut l = cfg.loop_of[p];
                while l != NONE && !cfg.in_loop(t, l) {
                    self.divergent[l as usize] = true;
                    l = cfg.parent(l);
                }
            }
        }
        for l in 0..cfg.loops.len() {
            let parent = cfg.loops[l].parent;
            self.innermost[l] = if self.divergent[l] {
                l as u32
            } else if parent != NONE {
                self.innermost[parent as usize]
            } else {
                NONE
            };
        }
    }

    /// The innermost divergent loop around the definition of `v` which block `b` is outside of, or [`NONE`].
    pub fn escapes(&self, cfg: &Cfg, v: Value, b: u32) -> u32 {
        let i = v.0 as usize;
        if self.fixed[i] || self.def_block[i] == NONE {
            return NONE;
        }
        let l = cfg.loop_of[self.def_block[i] as usize];
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
        }
        changed
    }

    fn value_varies(&self, shader: &Shader, cfg: &Cfg, packed: bool, v: Value, b: u32) -> bool {
        let inst = &shader.data(v).inst;
        let any = || {
            let mut any = false;
            operands(inst, |o| any |= self.varies_at(cfg, o, b));
            any
        };
        match (lanes(inst), inst) {
            (Lanes::Ways, Inst::Phi(sources)) => self.phi_varies(cfg, sources, b),
            (Lanes::Tuple, Inst::Part(t, _)) => self.varying[t.0 as usize],
            (Lanes::OneGroup, _) => packed || any(),
            (Lanes::Operands, _) => any(),
            (Lanes::Differ | Lanes::Ways | Lanes::Tuple, _) => true,
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

//! The two halves of a vertex program on the modelled GPU, which shades the positions of all vertices, and what else they
//! leave only of those that something visible uses (index-driven vertex shading).
//!
//! A half is what its outputs need, backwards: operands, stores to the invocation's own memory where that is read, and
//! the branches that decide whether and how often any of it runs. What has an effect is done with positions. What both
//! halves need, both have.

use super::Lowering;
use super::count::postdominators;
use crate::cfg::{Cfg, NONE};
use crate::interface::POSITION;
use crate::ir::{Inst, Place, Stage, Term, Value};
use crate::isa::{self, Effect};
use crate::options::Result;

/// By value: whether positions need it, and whether the other outputs do.
pub(super) type Needs = [Vec<bool>; 2];

/// Which blocks' branches decide of others.
struct Control {
    /// By block, of those that end in a branch: whether it runs is decided there.
    deciders: Vec<Vec<u32>>,
    /// By loop: blocks from which it is left.
    exits: Vec<Vec<u32>>,
}

impl Control {
    fn new(lower: &Lowering) -> Result<Control> {
        let cfg: &Cfg = lower.cfg;
        let work = &lower.shader.work;
        let after = postdominators(cfg);
        let mut control = Control { deciders: vec![vec![]; cfg.len()], exits: vec![vec![]; cfg.loops.len()] };
        for (b, succ) in cfg.succ.iter().enumerate().filter(|(b, _)| cfg.reachable(*b as u32)) {
            let b = b as u32;
            for s in succ.iter().copied().filter(|s| *s != NONE) {
                let mut l = cfg.loop_of[b as usize];
                while l != NONE && !cfg.in_loop(s, l) {
                    work.spend(1)?;
                    control.exits[l as usize].push(b);
                    l = cfg.parent(l);
                }
                // Round a loop once: its exits tell how often.
                let mut z = match cfg.heads(s) {
                    Some(l) if s <= b => cfg.loops[l as usize].last + 1,
                    _ => s,
                };
                while succ[1] != NONE && z != after[b as usize] {
                    work.spend(1)?;
                    control.deciders[z as usize].push(b);
                    z = after[z as usize];
                }
            }
        }
        Ok(control)
    }
}

/// What one half needs, as it is found.
struct Half<'a> {
    lower: &'a Lowering<'a>,
    control: &'a Control,
    needs: Vec<bool>,
    values: Vec<Value>,
    /// Blocks of which it matters whether they run, and loops of which how often.
    runs: Vec<bool>,
    loops: Vec<bool>,
    blocks: Vec<u32>,
    own_memory: bool,
}

impl Half<'_> {
    fn value(&mut self, v: Value) {
        if !std::mem::replace(&mut self.needs[v.0 as usize], true) {
            self.values.push(v);
        }
    }
    fn block(&mut self, b: u32) {
        if b != NONE && !std::mem::replace(&mut self.runs[b as usize], true) {
            self.blocks.push(b);
        }
    }
    /// Where block `b` goes matters.
    fn way(&mut self, b: u32) {
        self.block(b);
        if let Some(Term::Branch { cond, yes, no }) = self.lower.shader.blocks.get(b as usize).map(|b| b.term)
            && yes != no
        {
            self.value(cond);
        }
    }

    fn follow(&mut self) -> Result<()> {
        let (lower, control) = (self.lower, self.control);
        let shader = lower.shader;
        loop {
            if let Some(v) = self.values.pop() {
                self.block(lower.u.def_block[v.0 as usize]);
                match &shader.data(v).inst {
                    Inst::Phi(sources) => sources.iter().for_each(|(from, _)| self.way(from.0)),
                    Inst::Load { place: Place::Scratch { .. }, .. } if !self.own_memory => {
                        self.own_memory = true;
                        let all = shader.blocks.iter().flat_map(|b| &b.insts);
                        all.filter(|v| writes_own(&shader.data(**v).inst)).for_each(|v| self.value(*v));
                    }
                    _ => {}
                }
                lower.operands(v, |o| self.value(o));
            } else if let Some(b) = self.blocks.pop() {
                control.deciders[b as usize].iter().for_each(|d| self.way(*d));
                let mut l = lower.cfg.loop_of[b as usize];
                while l != NONE && !std::mem::replace(&mut self.loops[l as usize], true) {
                    control.exits[l as usize].iter().for_each(|e| self.way(*e));
                    l = lower.cfg.parent(l);
                }
            } else {
                return Ok(());
            }
        }
    }
}

fn writes_own(inst: &Inst) -> bool {
    matches!(inst, Inst::Store { place: Place::Scratch { .. }, .. })
}

impl Lowering<'_> {
    /// `None`: of another stage than the vertex stage, of positions alone, or what can't be told apart, as the other outputs need
    /// what an atomic has returned.
    pub(super) fn find_halves(&self) -> Result<Option<Needs>> {
        let shader = self.shader;
        let all = || shader.blocks.iter().flat_map(|b| &b.insts).copied();
        let rest = |v: &Value| matches!(shader.data(*v).inst, Inst::Output { slot, .. } if slot < POSITION);
        if shader.stage != Stage::Vertex || !all().any(|v| rest(&v)) {
            return Ok(None);
        }
        let effect = |v: &Value| {
            let inst = &shader.data(*v).inst;
            isa::has_effect(inst)
                && !matches!(inst, Inst::Mark(_) | Inst::Resume(_))
                && !writes_own(inst)
                && !rest(v)
        };
        let control = Control::new(self)?;
        let half = |roots: Vec<Value>| -> Result<Vec<bool>> {
            let mut half = Half {
                lower: self,
                control: &control,
                needs: vec![false; shader.values.len()],
                values: vec![],
                runs: vec![false; self.cfg.len()],
                loops: vec![false; self.cfg.loops.len()],
                blocks: vec![],
                own_memory: false,
            };
            roots.into_iter().for_each(|v| half.value(v));
            half.follow()?;
            Ok(half.needs)
        };
        let others = half(all().filter(rest).collect())?;
        if all().any(|v| others[v.0 as usize] && isa::effect(&shader.data(v).inst) == Effect::Memory) {
            return Ok(None);
        }
        let mut positions = half(all().filter(effect).collect())?;
        // What neither needs (a branch around nothing) is run once.
        for (i, p) in positions.iter_mut().enumerate() {
            *p |= self.needed[i] && !others[i];
        }
        Ok(Some([positions, others]))
    }
}

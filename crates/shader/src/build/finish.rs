//! From the blocks under construction to [`Shader`].

use super::Builder;
use crate::ir::*;
use crate::options::{Error, Result};
use crate::spirv::*;

impl Builder<'_> {
    pub(crate) fn finish(mut self) -> Result<Shader> {
        // Phis that became trivial late.
        let all: Vec<Value> =
            self.e.order.iter().flat_map(|&b| self.e.blocks[b as usize].phis.iter().copied()).collect();
        self.simplify_phis(&all)?;
        self.work.spend(self.e.values.len())?;
        let n = self.e.order.len();
        let mut number = vec![u32::MAX; self.e.blocks.len()];
        for (k, &b) in self.e.order.iter().enumerate() {
            number[b as usize] = k as u32;
        }
        let lost = || Error::Invalid { word: 0, what: "a branch to a block outside the structure".into() };
        let to = |b: Block| match number[b.0 as usize] {
            u32::MAX => Err(lost()),
            k => Ok(Block(k)),
        };
        let mut blocks = Vec::with_capacity(n);
        for (k, &b) in self.e.order.iter().enumerate() {
            let bb = &self.e.blocks[b as usize];
            let body = &self.e.insts[bb.insts.start as usize..bb.insts.end as usize];
            let prelude: &[Value] = if k == 0 { &self.e.prelude } else { &[] };
            let mut insts = Vec::with_capacity(bb.phis.len() + prelude.len() + body.len());
            insts.extend(bb.phis.iter().copied().filter(|&p| !self.e.is_replaced(p)));
            insts.extend_from_slice(prelude);
            insts.extend_from_slice(body);
            let term = match bb.term {
                Term::Jump(t) => Term::Jump(to(t)?),
                Term::Branch { cond, yes, no } => Term::Branch { cond, yes: to(yes)?, no: to(no)? },
                Term::Return => Term::Return,
            };
            let merge = match bb.merge {
                Merge::None => Merge::None,
                Merge::Selection(m) => to(m).map_or(Merge::None, Merge::Selection),
                Merge::Loop { merge, cont } => Merge::Loop { merge: to(merge)?, cont: to(cont)? },
            };
            blocks.push(BlockData { insts, term, merge, origin: bb.origin });
        }
        for b in &mut blocks {
            if let Term::Branch { cond, .. } = &mut b.term {
                *cond = self.e.res(*cond);
            }
        }
        // Operands: what stands for them now, and the new block numbers in phis.
        let mut values = std::mem::take(&mut self.e.values);
        for (k, data) in values.iter_mut().enumerate() {
            match &mut data.inst {
                // Listed nowhere any more.
                inst @ Inst::Phi(_) if self.e.is_replaced(Value(k as u32)) => *inst = Inst::Const(0),
                Inst::Const(_) | Inst::Input(_) => {}
                Inst::Un(_, a) => *a = self.e.res(*a),
                Inst::Bin(_, a, b) => {
                    *a = self.e.res(*a);
                    *b = self.e.res(*b);
                }
                Inst::Phi(args) => {
                    for (b, v) in args {
                        *b = Block(number[b.0 as usize]);
                        *v = self.e.res(*v);
                    }
                }
                inst => crate::isa::operands_mut(inst, |v| *v = self.e.res(*v)),
            }
        }
        // What passes make is of no one place.
        self.origins.push((values.len() as u32, Origin::default()));
        let mut interface = self.finish_interface();
        if let Some(t) = &mut interface.io.tessellation {
            t.words = self.stage_words;
            self.shared_bytes = self.stage_words * 4;
        }
        let mut shader = Shader {
            stage: self.opt.stage,
            interface,
            workgroup: self.workgroup,
            shared_bytes: self.shared_bytes,
            shared_is_initialized: self.shared_is_initialized,
            scratch_words: self.scratch_words,
            zeroed: self.zeroed,
            queries: self.queries,
            values,
            blocks,
            files: std::mem::take(&mut self.debug.files),
            signed_zero_inf_nan: self.signed_zero_inf_nan,
            keeps_denormals: self.keeps_denormals,
            quad_derivatives: self.quad_derivatives,
            varying_loads: std::mem::take(&mut self.varying_loads),
            origins: std::mem::take(&mut self.origins),
            embedded: std::mem::take(&mut self.embedded),
            sites: vec![],
            notes: self.notebook.take().map(|b| b.notes).unwrap_or_default(),
            data: std::mem::take(&mut self.data),
            work: std::mem::take(&mut self.work),
        };
        super::handles::settle(&mut shader)?;
        if cfg!(debug_assertions)
            && let Err(e) = crate::verify::verify(&shader)
        {
            return Err(unsupported(format!("the translation broke its own rules: {e}")));
        }
        Ok(shader)
    }
}

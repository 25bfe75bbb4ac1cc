//! OpPhi: an operand for each edge that reaches its block; those of a loop's back edge come later.

use super::emit::NO_BLOCK;
use super::function::Frame;
use super::{Builder, PTR};
use crate::ir::*;
use crate::options::Result;
use crate::spirv::*;

impl<'m> Builder<'m> {
    /// Values of an OpPhi, appended to the pool.
    pub(super) fn phi(&mut self, fr: &mut Frame, i: Code<'m>) -> Result<usize> {
        let (ty, id) = self.result(&i)?;
        if i.len().is_multiple_of(2) {
            return Err(i.bad("an odd number of operands"));
        }
        let cur = self.e.cur;
        let n = self.e.blocks[cur as usize].preds.len();
        let open = self.e.blocks[cur as usize].open_loop != NO_BLOCK;
        if n == 1 && !open {
            let (from, label) = self.e.blocks[cur as usize].preds[0];
            let (start, len) = self.phi_operand(&i, label, from)?;
            if len != self.types.get(ty).scalars as usize {
                return Err(i.bad("an operand of another type"));
            }
            let new = self.pool.len();
            self.pool.extend_from_within(start..start + len);
            return Ok(new);
        }
        let mut kinds = Vec::new();
        self.types.flatten(ty, &mut kinds)?;
        if kinds.is_empty() && self.types.get(ty).scalars != 0 {
            return Err(unsupported(format!("a phi of this type, id {id}")));
        }
        let values: Vec<Value> = kinds.iter().map(|k| self.e.new_phi(cur, k.ty())).collect();
        for p in 0..n {
            let (from, label) = self.e.blocks[cur as usize].preds[p];
            self.fill_phi(&i, &values, from, label)?;
        }
        let mut out = values.clone();
        if open {
            let l = fr.loops.last_mut().expect("an open loop");
            l.phis.push((i.at as u32, values));
        } else {
            for v in &mut out {
                if let Some(s) = self.simplify_phi(*v) {
                    *v = s;
                }
            }
        }
        let start = self.pool.len();
        self.pool.extend(out);
        Ok(start)
    }

    pub(super) fn fill_phi(&mut self, i: &Code, values: &[Value], from: u32, label: u32) -> Result<()> {
        let (start, len) = self.phi_operand(i, label, from)?;
        if len != values.len() {
            return Err(i.bad("an operand of another type"));
        }
        for (k, &phi) in values.iter().enumerate() {
            let v = self.pool[start + k];
            if self.e.ty(v) != self.e.ty(phi) {
                return Err(i.bad("an operand of another type"));
            }
            self.push_phi(phi, from, v);
        }
        Ok(())
    }

    /// The id that a phi reads over the edge from a label; of several the first.
    fn phi_source(&mut self, i: &Code, label: u32) -> Option<u32> {
        let pairs = i.rest(3).chunks_exact(2);
        if pairs.len() <= 16 {
            return pairs.into_iter().find(|p| p[1] == label).map(|p| p[0]);
        }
        // A long list is gone through once, for all edges.
        let (at, sources) = &mut self.long_phi;
        if *at != i.at {
            *at = i.at;
            sources.clear();
            sources.extend(pairs.rev().map(|p| (p[1], p[0])));
        }
        sources.get(&label).copied()
    }

    /// Pool index and length of the operand for the edge from a label.
    fn phi_operand(&mut self, i: &Code, label: u32, from: u32) -> Result<(usize, usize)> {
        let id = self.phi_source(i, label);
        let id = id.ok_or_else(|| i.bad(format!("no operand for the predecessor {label}")))?;
        if self.ids.get(id as usize).is_some_and(|s| s.ty == 0) {
            self.global_variable(id, i.at)?;
        }
        let s = *self.ids.get(id as usize).ok_or_else(|| i.bad(format!("id {id} is not defined")))?;
        if !self.e.dominates(s.block, from) {
            return Err(i.bad(format!("id {id} does not dominate the edge it comes over")));
        }
        if s.len == PTR {
            // Only pointers at constant places get here: others were made values where they were defined.
            return self.pointer_value(s.start as usize, i.at);
        }
        Ok((s.start as usize, s.len as usize))
    }
}

//! Code that runs where a condition holds.

use super::Builder;
use super::sums::Truth;
use crate::ir::*;
use crate::options::Result;

impl Builder<'_> {
    /// What `then` gives where `holds` does, `other` elsewhere. `then` that never comes back leaves `other` alone.
    pub(super) fn where_holds(
        &mut self,
        holds: Truth,
        other: Value,
        then: impl FnOnce(&mut Self) -> Result<Option<Value>>,
    ) -> Result<Option<Value>> {
        let cond = match holds {
            Truth::Always => return then(self),
            Truth::Never => return Ok(Some(other)),
            Truth::If(cond) => cond,
        };
        let origin = self.e.blocks[self.e.cur as usize].origin;
        let [head, yes, rest] = [0; 3].map(|_| self.e.new_block());
        // The current block may head a loop already, so a new one heads the selection.
        let before = self.e.cur;
        self.e.blocks[head as usize].preds.push((before, 0));
        self.e.end(Term::Jump(Block(head)));
        self.begin(head, origin);
        self.e.blocks[head as usize].merge = Merge::Selection(Block(rest));
        self.e.blocks[yes as usize].preds.push((head, 0));
        self.e.blocks[rest as usize].preds.push((head, 0));
        self.e.end(Term::Branch { cond, yes: Block(yes), no: Block(rest) });
        self.begin(yes, origin);
        let v = then(self)?;
        let Some(v) = v else {
            self.begin(rest, origin);
            return Ok(Some(other));
        };
        let from = self.e.cur;
        self.e.blocks[rest as usize].preds.push((from, 0));
        self.e.end(Term::Jump(Block(rest)));
        self.begin(rest, origin);
        let (v, other) = (self.e.res(v), self.e.res(other));
        if v == other {
            return Ok(Some(v));
        }
        let ty = self.e.ty(v);
        let phi = self.e.new_phi(rest, ty);
        self.push_phi(phi, head, other);
        self.push_phi(phi, from, v);
        Ok(Some(phi))
    }
}

//! Loops that the translation makes itself.

use super::Builder;
use crate::ir::*;
use crate::options::Result;

/// A loop that [`Builder::open_turns`] began.
pub(super) struct Turns {
    header: u32,
    merge: u32,
    cont: u32,
    origin: Origin,
    /// The number of the turn (B32), from 0.
    pub k: Value,
}

impl Builder<'_> {
    /// Begins a loop. What is emitted next, which stores no variable in SSA form, is what each turn does.
    pub(super) fn open_turns(&mut self) -> Turns {
        let origin = self.e.blocks[self.e.cur as usize].origin;
        let [header, cont, merge] = [0; 3].map(|_| self.e.new_block());
        let before = self.e.cur;
        self.e.blocks[header as usize].preds.push((before, 0));
        self.e.end(Term::Jump(Block(header)));
        // Variables are in the loop what they are before it, so its blocks may be of the line of the block before.
        self.begin(header, origin);
        self.e.blocks[header as usize].merge = Merge::Loop { merge: Block(merge), cont: Block(cont) };
        let k = self.e.new_phi(header, Ty::B32);
        let zero = self.e.u32(0);
        self.push_phi(k, before, zero);
        Turns { header, merge, cont, origin, k }
    }

    /// Ends a loop of `n` turns, 1 at least.
    pub(super) fn close_turns(&mut self, t: Turns, n: u32) -> Result<()> {
        let close = self.e.new_block();
        let from = self.e.cur;
        self.e.blocks[t.cont as usize].preds.push((from, 0));
        self.e.end(Term::Jump(Block(t.cont)));
        self.begin(t.cont, t.origin);
        let (one, n) = (self.e.u32(1), self.e.u32(n));
        let next = self.e.add(t.k, one);
        let cond = self.e.bin(Bin::ULt, next, n);
        self.e.blocks[close as usize].preds.push((t.cont, 0));
        self.e.blocks[t.merge as usize].preds.push((t.cont, 0));
        self.e.end(Term::Branch { cond, yes: Block(close), no: Block(t.merge) });
        self.begin(close, t.origin);
        self.e.end(Term::Jump(Block(t.header)));
        self.e.blocks[t.header as usize].preds.push((close, 0));
        self.push_phi(t.k, close, next);
        self.e.blocks[t.merge as usize].loop_merge = true;
        self.begin(t.merge, t.origin);
        self.check_size()
    }
}

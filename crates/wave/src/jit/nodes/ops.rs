//! Lane-wise ops, moves, and ops across lanes, as nodes of a segment.

use super::body::{Item, Sharing};
use super::builder::Builder;
use super::region::Check;
use super::registers::operands;
use crate::kernels::across;
use crate::kernels::subgroup::FROM;
use crate::recording::{Id, Kind, Node, Tri, Un, with};
use shader::bytecode::{Code, Op, Reg};
use smallvec::SmallVec;

impl Builder {
    /// Takes the op on, or leaves all as it was.
    pub fn op(&mut self, op: &Op) -> bool {
        match op.code {
            Code::MOVM32 | Code::MOVIF32 => return self.masked(op),
            Code::QUAD32 => return self.quad(op),
            code if across::kinds(code).is_some() => return self.across(op),
            _ => (),
        }
        let Some(recording) = crate::kernels::recording(op.code) else { return false };
        let before = self.tape.nodes.len();
        let regs = operands(op);
        let mut x = [0; 5];
        for ((x, r), kind) in x.iter_mut().zip(regs).zip(recording.operands) {
            if r.is_none() {
                return self.undo(before);
            }
            *x = self.value(r, *kind);
        }
        // Within a branch a kernel can't be called for the wave.
        self.tape.one_way = self.functions || !self.open.is_empty();
        self.tape.odd = self.tape.one_way.then(Vec::new);
        self.tape.exec = self.tape.one_way.then(|| self.exec());
        let made = with(&mut self.tape, || (recording.run)(&x));
        let odd = self.tape.odd.take().unwrap_or_default();
        let rare = std::mem::take(&mut self.tape.rare);
        if self.tape.unsaid {
            return self.undo(before);
        }
        // What a branch leaves in such registers nobody merges.
        if recording.results[0] == Kind::Wide && !self.open.is_empty() {
            return self.undo(before);
        }
        let n = recording.results.len();
        let made: SmallVec<[Id; 2]> = made[..n].into();
        let mask = recording.results[0] == Kind::Mask;
        let odd = self.odd(&odd);
        self.settle();
        let results: SmallVec<[Reg; 2]> = [op.d, op.b][..n].into();
        for (r, id) in results.iter().zip(&made) {
            let lanes = self.lanes[*id as usize];
            // A uniform register's value is computed once; a Bool that may be uniform is whole wherever it is looked at.
            let odd = if mask { lanes == Sharing::Unknown } else { r.is_uniform() && lanes != Sharing::Same };
            if odd || r.is_none() {
                return self.undo(before);
            }
        }
        for (r, id) in results.iter().zip(&made) {
            if !self.may_write(*r, mask, self.lanes[*id as usize] == Sharing::Same) {
                return self.undo(before);
            }
        }
        let words = || recording.operands.iter().chain(recording.results).all(|k| *k == Kind::Word);
        if odd.is_some() && !words()
            || odd.is_some() && made.iter().chain(&odd).any(|id| self.lanes[*id as usize] != Sharing::Differ)
            || !rare.is_empty()
                && x[..recording.operands.len()].iter().any(|id| self.lanes[*id as usize] != Sharing::Differ)
        {
            return self.undo(before);
        }
        self.rare += rare.len();
        let mut rare = rare.into_iter().peekable();
        let mut id = before as Id;
        while (id as usize) < self.tape.nodes.len() {
            let Some(r) = rare.next_if(|r| r.first == id) else {
                self.items.push(Item::Compute(id));
                id += 1;
                continue;
            };
            self.items.push(Item::If(r.mask));
            self.items.extend((r.first..r.phis).map(Item::Compute));
            self.items.extend([r.phis, r.phis + 1].map(|id| Item::Phi(Reg::NONE, id)));
            self.items.push(Item::End);
            id = r.phis + 2;
        }
        if let Some(odd) = odd {
            self.items.push(Item::Check(self.checks.len() as u32));
            let args = x[..recording.operands.len()].to_vec();
            self.checks.push(Check { code: op.code, args, results: made.to_vec(), odd });
        }
        for (r, id) in results.into_iter().zip(made) {
            self.write(r, id);
        }
        true
    }

    /// Sharing from others of their quads, of which all execute or none ([`Code::QUAD_SEGMENT`]): so not where the segment changes who does.
    fn quad(&mut self, op: &Op) -> bool {
        let only_some = !self.open.is_empty() || !self.checks.is_empty() || self.rare > 0;
        if only_some || self.items.iter().any(|i| matches!(i, Item::Move(..))) || op.d.is_uniform() {
            return false;
        }
        let Some(from) = FROM.get(op.e as usize) else { return false };
        let before = self.tape.nodes.len();
        let a = self.value(op.a, Kind::Word);
        let id = self.tape.put(Node::Un(Un::Quad(*from as u8), a));
        self.settle();
        if !self.may_write(op.d, false, self.lanes[id as usize] == Sharing::Same) {
            return self.undo(before);
        }
        self.items.extend((before..self.tape.nodes.len()).map(|id| Item::Compute(id as Id)));
        self.write(op.d, id);
        true
    }

    /// An op that reads the lanes of its warp.
    fn across(&mut self, op: &Op) -> bool {
        let Some((operands, result)) = across::kinds(op.code) else { return false };
        // What a branch leaves in such registers nobody merges.
        if self.tape.narrow || result == Kind::Wide && !self.open.is_empty() {
            return false;
        }
        let before = self.tape.nodes.len();
        let mut x = [0; 2];
        for ((x, r), kind) in x.iter_mut().zip([op.a, op.b]).zip(operands) {
            *x = self.value(r, *kind);
        }
        let exec = self.exec();
        let id = with(&mut self.tape, || across::recorded(op, exec, x));
        self.settle();
        let lanes = self.lanes[id as usize];
        if self.tape.unsaid
            || op.d.is_none()
            || op.d.is_uniform() && lanes != Sharing::Same
            || !self.may_write(op.d, false, lanes == Sharing::Same)
        {
            return self.undo(before);
        }
        self.items.extend((before..self.tape.nodes.len()).map(|id| Item::Compute(id as Id)));
        self.write(op.d, id);
        true
    }

    /// A move of some lanes.
    fn masked(&mut self, op: &Op) -> bool {
        if !self.open.is_empty() {
            return self.masked_within(op);
        }
        let before = self.tape.nodes.len();
        let new = self.value(op.a, Kind::Word);
        // All that is computed here is for the lanes that execute: who reads the register later in the segment need not know what it
        // holds for others. A mask of its own is one of them.
        let id = if op.d.is_uniform() || op.code == Code::MOVM32 {
            new
        } else {
            let old = self.value(op.d, Kind::Word);
            let m = self.value(op.b, Kind::Mask);
            self.tape.put(Node::Tri(Tri::Sel, m, new, old))
        };
        self.tape.put(Node::Exec);
        self.settle();
        if op.d.is_uniform() && self.lanes[id as usize] != Sharing::Same
            || !self.may_write(op.d, false, self.lanes[id as usize] == Sharing::Same)
        {
            return self.undo(before);
        }
        for id in before..self.tape.nodes.len() {
            self.items.push(Item::Compute(id as Id));
        }
        if op.d.is_uniform() {
            self.write(op.d, id);
        } else {
            self.now.insert(op.d.unit(), id);
            self.part.insert(op.d.unit());
            self.items.push(Item::Move(op.d, id));
        }
        true
    }
}

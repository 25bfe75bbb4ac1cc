//! Branches within a segment: an `if` that some lanes of the wave enter, and that ends where they meet the others.
//!
//! A warp without lanes in it jumps over it. Nothing is written to registers within; what is read after it is merged where it ends
//! ([`Node::Phi`]), so that values stay where they are. Of these ops the interpreter would do the same for each warp by itself.

use super::body::{Item, MOST_NODES, Sharing};
use super::builder::Builder;
use super::compare::compared;
use super::live::Liveness;
use super::registers::{Consts, consts};
use crate::kernels::mask_steps::{self, MaskMachine};
use crate::recording::{Bin, Id, Kind, Node, Tri, Un};
use rustc_hash::FxHashMap;
use shader::bytecode::{Code, Op, Program, Reg};
use shader::isa::code::extension_words;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Branches within each other at most.
const MOST_DEEP: usize = 6;

/// Which ops begin and end what a segment may have within.
pub struct Flow<'l, 'p> {
    liveness: &'l Liveness<'p>,
    /// By op that splits: the one after where the branch ends.
    branches: FxHashMap<usize, usize>,
    /// Where ops begin that are come to from elsewhere too.
    begins: Vec<bool>,
    pub consts: Rc<Consts>,
    /// Units of a varying register.
    pub warps: usize,
}

impl<'l, 'p> Flow<'l, 'p> {
    /// `all`: with branches.
    pub fn new(program: &Program, liveness: &'l Liveness<'p>, all: bool) -> Flow<'l, 'p> {
        let code = &program.code;
        let mut begins = vec![false; code.len() + 1];
        liveness.blocks.iter().for_each(|b| begins[b.first] = true);
        begins[code.len()] = true;
        let mut it = Flow {
            liveness,
            branches: FxHashMap::default(),
            begins,
            consts: consts(program),
            warps: program.lanes as usize / 16,
        };
        // An instrumented program's counters have lines of their own.
        if all && program.profile.mark_count == 0 {
            it.find(code);
        }
        it
    }

    fn find(&mut self, code: &[Op]) {
        let blocks = &self.liveness.blocks;
        // How many come to each block.
        let mut ways = vec![0; blocks.len()];
        for b in blocks {
            b.next.iter().flatten().for_each(|n| ways[*n] += 1);
        }
        let at = |pc: usize| blocks.binary_search_by_key(&pc, |b| b.first).ok();
        // (op that splits, its lanes' register for the others, op after the branch)
        let mut open: Vec<(usize, Reg, usize)> = vec![];
        let mut pc = 0;
        while pc < code.len() {
            let op = &code[pc];
            let after = pc + 1 + extension_words(op);
            match op.code.unfused() {
                Code::SPLIT_RARE | Code::CMP_SPLIT_RARE => {
                    let no = if op.code == Code::SPLIT_RARE { op.b } else { code[pc + 1].regs()[1] };
                    let to = op.imm as usize;
                    let alone = at(after).is_some_and(|b| ways[b] == 1);
                    let behind =
                        at(to).is_some_and(|b| ways[b] == 2) && !self.liveness.begins(at(to).unwrap_or(0));
                    let inner = open.last().is_none_or(|o| to < o.2);
                    if alone && behind && inner && to > after && !no.is_none() && open.len() < MOST_DEEP {
                        open.push((pc, no, to));
                    } else {
                        open.clear();
                    }
                }
                Code::JOIN => match open.pop() {
                    Some((first, no, to)) if to == after && op.a == no => {
                        self.branches.insert(first, to);
                    }
                    _ => open.clear(),
                },
                Code::TALLY if op.e == 0 && u16::try_from(op.imm).is_ok() => (),
                Code::MOVM32 | Code::MOVIF32 => (),
                c if crate::kernels::recording(c).is_some() => (),
                _ => open.clear(),
            }
            pc = after;
        }
        // What follows them is come to from within alone.
        for (first, to) in &self.branches {
            self.begins[*to] = false;
            self.begins[*first + 1 + extension_words(&code[*first])] = false;
        }
    }

    /// Somebody else may come to op `pc`.
    pub fn begins(&self, pc: usize) -> bool {
        self.begins[pc]
    }
    /// Of an op that splits: the op after the branch.
    pub fn branch(&self, pc: usize) -> Option<usize> {
        self.branches.get(&pc).copied()
    }
    fn read_at(&self, pc: usize, unit: usize) -> bool {
        let blocks = &self.liveness.blocks;
        match blocks.binary_search_by_key(&pc, |b| b.first) {
            Ok(b) => blocks[b].before.has(unit),
            Err(_) => true,
        }
    }
}

/// A branch that is open.
pub struct Branch {
    /// Its lanes.
    exec: Id,
    /// The first node that is made within.
    inside: usize,
    /// Registers that are written within.
    pub changed: BTreeSet<u16>,
}

/// Masks as nodes of a segment. Lanes part only where a branch within begins.
impl MaskMachine for Builder {
    type Mask = Id;
    fn executing(&mut self) -> Id {
        self.exec()
    }
    /// The branch's lanes, since it is open.
    fn execute(&mut self, _: Id) {}
    fn load(&mut self, r: Reg) -> Id {
        self.value(r, Kind::Mask)
    }
    fn store(&mut self, r: Reg, lanes: Id) {
        self.now.insert(r.unit(), lanes);
    }
    fn none(&mut self) -> Id {
        self.computed(Node::Truth(false))
    }
    fn and(&mut self, a: Id, b: Id) -> Id {
        self.computed(Node::Bin(Bin::MAnd, a, b))
    }
    fn or(&mut self, a: Id, b: Id) -> Id {
        self.computed(Node::Bin(Bin::MOr, a, b))
    }
    fn and_not(&mut self, a: Id, b: Id) -> Id {
        let b = self.computed(Node::Un(Un::MNot, b));
        self.and(a, b)
    }
    fn select(&mut self, lanes: Id, new: Id, old: Id) -> Id {
        let differ = self.computed(Node::Bin(Bin::MXor, new, old));
        let differ = self.and(differ, lanes);
        self.computed(Node::Bin(Bin::MXor, old, differ))
    }
    /// Opens the branch: warps without lanes in it jump over it.
    fn skips(&mut self, lanes: Id) -> bool {
        self.items.push(Item::If(lanes));
        self.open.push(Branch { exec: lanes, inside: self.tape.nodes.len(), changed: BTreeSet::new() });
        false
    }
}

/// What a branch that can't be had leaves as it was.
struct Before {
    nodes: usize,
    items: usize,
    checks: usize,
    rare: usize,
    now: FxHashMap<usize, Id>,
    whole: FxHashMap<usize, Id>,
}

impl Builder {
    /// Lanes that execute.
    pub fn exec(&mut self) -> Id {
        match self.open.last() {
            Some(b) => b.exec,
            None => self.tape.put(Node::Exec),
        }
    }

    /// A node that is computed here.
    fn computed(&mut self, node: Node) -> Id {
        let before = self.tape.nodes.len();
        let id = self.tape.put(node);
        self.note(before);
        id
    }
    /// Nodes from `before` on are computed here.
    fn note(&mut self, before: usize) {
        self.settle();
        for id in before..self.tape.nodes.len() {
            self.items.push(Item::Compute(id as Id));
        }
    }

    /// Lanes for which a function's quick way is wrong; their nodes are the caller's to take note of.
    pub fn odd(&mut self, masks: &[Id]) -> Option<Id> {
        let (first, rest) = masks.split_first()?;
        let all = rest.iter().fold(*first, |a, b| self.tape.put(Node::Bin(Bin::MOr, a, *b)));
        let exec = self.exec();
        Some(self.tape.put(Node::Bin(Bin::MAnd, exec, all)))
    }

    /// A move of some lanes, within a branch.
    pub fn masked_within(&mut self, op: &Op) -> bool {
        if op.d.is_uniform() {
            return false;
        }
        let new = self.value(op.a, Kind::Word);
        let old = match self.whole.get(&op.d.unit()) {
            Some(id) => *id,
            None => self.value(op.d, Kind::Word),
        };
        let all = op.code == Code::MOVM32;
        let lanes = if all { self.exec() } else { self.value(op.b, Kind::Mask) };
        let id = self.computed(Node::Tri(Tri::Sel, lanes, new, old));
        self.now.insert(op.d.unit(), if all { new } else { id });
        self.whole.insert(op.d.unit(), id);
        if let Some(branch) = self.open.last_mut() {
            branch.changed.insert(op.d.0);
        }
        true
    }

    /// Takes a branch on, from the op that splits to `to`, or leaves all as it was.
    pub fn branch(&mut self, code: &[Op], flow: &Flow, first: usize, to: usize) -> bool {
        let before = Before {
            nodes: self.tape.nodes.len(),
            items: self.items.len(),
            checks: self.checks.len(),
            rare: self.rare,
            now: self.now.clone(),
            whole: self.whole.clone(),
        };
        let depth = self.open.len();
        if self.try_branch(code, flow, first, to, &before).is_some() {
            return true;
        }
        self.open.truncate(depth);
        self.items.truncate(before.items);
        self.checks.truncate(before.checks);
        self.rare = before.rare;
        (self.now, self.whole) = (before.now, before.whole);
        self.undo(before.nodes)
    }

    fn try_branch(
        &mut self,
        code: &[Op],
        flow: &Flow,
        first: usize,
        to: usize,
        before: &Before,
    ) -> Option<()> {
        let op = &code[first];
        let mut pc = first + 1 + extension_words(op);
        let (c, yes, no) = match op.code {
            Code::SPLIT_RARE => (self.value(op.a, Kind::Mask), op.d, op.b),
            _ => {
                let r = code[first + 1].regs();
                (self.condition(op)?, r[0], r[1])
            }
        };
        // Only their join reads them.
        let dead = |r: Reg| r.is_none() || !flow.read_at(to, r.unit());
        if !dead(yes) || !dead(no) {
            return None;
        }
        mask_steps::split(self, c, yes, no, true);
        let (y, inside) = self.open.last().map(|b| (b.exec, b.inside))?;
        while code[pc].code != Code::JOIN {
            let op = &code[pc];
            if op.code == Code::TALLY {
                self.items.push(Item::Count(op.imm as u16, y));
                pc += 1;
            } else if let Some(inner) = flow.branch(pc) {
                if !self.branch(code, flow, pc, inner) {
                    return None;
                }
                pc = inner;
            } else {
                if !self.op(op) {
                    return None;
                }
                pc += 1 + extension_words(op);
            }
            if pc >= to || self.tape.nodes.len() > MOST_NODES {
                return None;
            }
        }
        if pc + 1 != to {
            return None;
        }
        self.merge(flow, to, before, inside)
    }

    /// Has the segment compute the condition of the op after it, which splits the lanes by a comparison: what is left of that op. Its
    /// first mask has the condition until then.
    pub fn split(&mut self, code: &[Op], flow: &Flow, pc: usize) -> Option<Op> {
        let op = &code[pc];
        let split = match op.code.unfused() {
            Code::CMP_SPLIT => Code::SPLIT,
            Code::CMP_SPLIT_RARE => Code::SPLIT_RARE,
            _ => return None,
        };
        let r = code[pc + 1].regs();
        // Where no lane is chosen nothing is written: nobody may read it then.
        if r[0].is_none() || flow.read_at(op.imm as usize, r[0].unit()) {
            return None;
        }
        let (before, items) = (self.tape.nodes.len(), self.items.len());
        let c = self.condition(op);
        match c {
            Some(c) if self.lanes[c as usize] == Sharing::Differ && self.may_write(r[0], true, false) => {
                self.write(r[0], c);
                Some(Op { d: r[0], a: r[0], b: r[1], imm: op.imm, ..Op::new(split) })
            }
            _ => {
                self.items.truncate(items);
                self.undo(before);
                None
            }
        }
    }

    /// The branch ends: what it leaves in registers that are read behind it.
    fn merge(&mut self, flow: &Flow, to: usize, before: &Before, inside: usize) -> Option<()> {
        let branch = self.open.pop()?;
        let mut merged = vec![];
        for r in branch.changed.iter().map(|r| Reg(*r)) {
            let unit = r.unit();
            if !flow.read_at(to, unit) {
                continue;
            }
            let new = *self.whole.get(&unit).or_else(|| self.now.get(&unit))?;
            if self.tape.nodes[new as usize].is_mask() {
                return None;
            }
            let old = match before.whole.get(&unit).or_else(|| before.now.get(&unit)) {
                Some(id) if !self.tape.nodes[*id as usize].is_mask() => *id,
                Some(_) => return None,
                None => self.tape.put(Node::Word(r)),
            };
            if old != new {
                let id = self.tape.fresh(Node::Phi(old, new));
                self.items.push(Item::Phi(r, id));
                merged.push((r, id));
            }
        }
        self.settle();
        self.items.push(Item::End);
        (self.now, self.whole) = (before.now.clone(), before.whole.clone());
        // Of what was made within nothing is there after it, but for what the wave has in common.
        let lanes = &self.lanes;
        self.tape.forget(inside, |id| lanes[id as usize] != Sharing::Same);
        for (r, id) in merged {
            self.now.insert(r.unit(), id);
            self.whole.remove(&r.unit());
            match self.open.last_mut() {
                Some(outer) => {
                    outer.changed.insert(r.0);
                }
                None if self.part.contains(&r.unit()) => self.items.push(Item::Move(r, id)),
                None => self.items.push(Item::Store(r, id)),
            }
        }
        Some(())
    }

    /// The condition of an op that compares.
    fn condition(&mut self, op: &Op) -> Option<Id> {
        let before = self.tape.nodes.len();
        let mut made = |it: &mut Builder, code: Code, x: &[Id]| {
            let recording = crate::kernels::recording(code)?;
            let mut all = [0; 5];
            all[..x.len()].copy_from_slice(x);
            let made = crate::recording::with(&mut it.tape, || (recording.run)(&all));
            (!it.tape.unsaid).then_some(made[0])
        };
        let c = compared(op, self, |it, r| it.value(r, Kind::Word), &mut made)?;
        let c = if op.e & 0x100 != 0 { self.tape.put(Node::Un(Un::MNot, c)) } else { c };
        self.note(before);
        Some(c)
    }
}

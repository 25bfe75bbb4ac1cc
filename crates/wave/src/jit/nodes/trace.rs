//! A block of a region as nodes. Sharing that execute are a value like others: a block begins with [`Node::Exec`], and at its end
//! says who executes next.

use super::body::{Body, Item, MOST_NODES, Readers, Sharing, eliminate, settle};
use super::compare::compared;
use super::live::Set;
use super::region::{Check, Counts, End, Load, To};
use super::registers::{Consts, given, operands};
use crate::kernels::across;
use crate::kernels::compiled::{Part, Storage};
use crate::kernels::mask_steps::{self, MaskMachine};
use crate::recording::{Bin, Id, Kind, Node, Record, Tape, Tri, Un, Wide, with};
use rustc_hash::FxHashMap;
use shader::bytecode::{Code, Op, Reg, SHAPE_RUN, SHAPE_SAME, SHAPE_SINGLE, mem_of, n_of, parts_of};
use shader::ir::Mem;
use simd::Simd;
use smallvec::SmallVec;
use std::rc::Rc;

pub struct Trace {
    tape: Tape,
    lanes: Vec<Sharing>,
    /// By unit, and how it lies: what the register holds, of lanes that execute.
    now: FxHashMap<(usize, Kind), Id>,
    /// Of all lanes, where that is another value.
    whole: FxHashMap<usize, Id>,
    items: Vec<Item>,
    /// Where [`Item::Test`] leads.
    pub none: Option<To>,
    /// What registers hold all along.
    consts: Rc<Consts>,
}

impl Trace {
    pub fn new(narrow: bool, one_way: bool, consts: Rc<Consts>) -> Trace {
        let mut tape = Tape::default();
        (tape.narrow, tape.one_way) = (narrow, one_way);
        Trace {
            tape,
            lanes: vec![],
            now: FxHashMap::default(),
            whole: FxHashMap::default(),
            items: vec![],
            none: None,
            consts,
        }
    }

    // ---- values ----

    fn put(&mut self, node: Node) -> Id {
        let before = self.tape.nodes.len();
        let id = self.tape.put(node);
        self.computed(before);
        id
    }
    /// Nodes from `before` on are computed here.
    fn computed(&mut self, before: usize) {
        settle(&self.tape, &mut self.lanes);
        for id in before..self.tape.nodes.len() {
            if !self.tape.nodes[id].is_given() {
                self.items.push(Item::Compute(id as Id));
            }
        }
    }
    fn exec(&mut self) -> Id {
        self.put(Node::Exec)
    }
    fn both(&mut self, a: Id, b: Id) -> Id {
        self.put(Node::Bin(Bin::MAnd, a, b))
    }
    fn either(&mut self, a: Id, b: Id) -> Id {
        self.put(Node::Bin(Bin::MOr, a, b))
    }
    fn not(&mut self, a: Id) -> Id {
        self.put(Node::Un(Un::MNot, a))
    }

    /// What a register holds now.
    pub fn value(&mut self, r: Reg, kind: Kind) -> Id {
        if let Some(id) = self.now.get(&(r.unit(), kind)) {
            return *id;
        }
        let before = self.tape.nodes.len();
        let id = given(&mut self.tape, &self.consts, r, kind);
        self.computed(before);
        self.now.insert((r.unit(), kind), id);
        id
    }
    fn write(&mut self, r: Reg, id: Id) {
        let kind = self.tape.nodes[id as usize].kind();
        for other in [Kind::Word, Kind::Mask, Kind::Wide] {
            self.now.remove(&(r.unit(), other));
        }
        self.now.insert((r.unit(), kind), id);
        self.whole.remove(&r.unit());
        self.items.push(match self.tape.nodes[id as usize] {
            Node::Parts(a, b) => Item::Wide(r, a, b),
            _ => Item::Store(if kind == Kind::Mask { mask_of(r) } else { r }, id),
        });
    }
    /// The same, if all lanes share it.
    pub fn shared(&self, id: Id) -> Option<Id> {
        (self.lanes[id as usize] == Sharing::Same).then_some(id)
    }

    // ---- ops ----

    /// What a kernel makes of these values.
    fn made(&mut self, code: Code, x: &[Id], checks: &mut Vec<Check>) -> Option<SmallVec<[Id; 2]>> {
        let recording = crate::kernels::recording(code)?;
        let mut all = [0; 5];
        all[..x.len()].copy_from_slice(x);
        let before = self.tape.nodes.len();
        self.tape.odd = Some(vec![]);
        let made = with(&mut self.tape, || (recording.run)(&all));
        let odd = self.tape.odd.take().unwrap_or_default();
        if self.tape.unsaid || self.tape.nodes.len() > MOST_NODES {
            return None;
        }
        self.computed(before);
        let results: SmallVec<[Id; 2]> = made[..recording.results.len()].into();
        if let Some(first) = odd.first() {
            if recording.operands.iter().chain(recording.results).any(|k| *k != Kind::Word) {
                return None;
            }
            let odd = odd[1..].iter().fold(*first, |a, b| self.either(a, *b));
            let exec = self.exec();
            let odd = self.both(odd, exec);
            self.items.push(Item::Check(checks.len() as u32));
            checks.push(Check { code, args: x.to_vec(), results: results.to_vec(), odd });
        }
        Some(results)
    }

    /// Takes an op on that neither jumps nor loads.
    pub fn op(&mut self, op: &Op, checks: &mut Vec<Check>) -> Option<()> {
        match op.code {
            Code::MOVM32 if op.d.is_uniform() => {
                let new = self.value(op.a, Kind::Word);
                self.shared(new)?;
                self.write(op.d, new);
            }
            Code::MOVM32 | Code::MOVIF32 => {
                let new = self.value(op.a, Kind::Word);
                let old = match self.whole.get(&op.d.unit()) {
                    Some(id) => *id,
                    None => self.value(op.d, Kind::Word),
                };
                let all = op.code == Code::MOVM32;
                let lanes = if all { self.exec() } else { self.value(op.b, Kind::Mask) };
                let id = self.put(Node::Tri(Tri::Sel, lanes, new, old));
                if op.d.is_uniform() {
                    return None;
                }
                self.write(op.d, id);
                if all {
                    // Who reads the register later in the block need not know what it holds for others.
                    self.now.insert((op.d.unit(), Kind::Word), new);
                    self.whole.insert(op.d.unit(), id);
                }
            }
            Code::MOVM64 | Code::MOVIF64 if !op.d.is_uniform() => {
                let (new, old) = (self.value(op.a, Kind::Wide), self.value(op.d, Kind::Wide));
                let lanes = if op.code == Code::MOVM64 { self.exec() } else { self.value(op.b, Kind::Mask) };
                let before = self.tape.nodes.len();
                let id = with(&mut self.tape, || Record.lsel(lanes, Wide::of(new), Wide::of(old)).id());
                self.computed(before);
                self.write(op.d, id);
            }
            Code::MOVMB => mask_steps::move_some(self, op.d, op.a, None),
            Code::MOVIFB => mask_steps::move_some(self, op.d, op.a, Some(op.b)),
            Code::GETEXEC => mask_steps::get_exec(self, op.d),
            Code::OREXEC => mask_steps::wait(self, op.d),
            Code::MASK_CLEAR => mask_steps::clear(self, op.d),
            Code::MASK_ANDN => mask_steps::and_not(self, op.d, op.a, op.b),
            code if across::kinds(code).is_some() => return self.across(op),
            _ => return self.arithmetic(op, checks),
        }
        Some(())
    }

    /// An op that reads the lanes of its warp.
    fn across(&mut self, op: &Op) -> Option<()> {
        let (operands, _) = across::kinds(op.code)?;
        if self.tape.narrow || op.d.is_none() {
            return None;
        }
        let mut x = [0; 2];
        for ((x, r), kind) in x.iter_mut().zip([op.a, op.b]).zip(operands) {
            *x = self.value(r, *kind);
        }
        let exec = self.exec();
        let before = self.tape.nodes.len();
        let id = with(&mut self.tape, || across::recorded(op, exec, x));
        if self.tape.unsaid || self.tape.nodes.len() > MOST_NODES {
            return None;
        }
        self.computed(before);
        if op.d.is_uniform() && self.lanes[id as usize] != Sharing::Same {
            return None;
        }
        self.write(op.d, id);
        Some(())
    }

    fn arithmetic(&mut self, op: &Op, checks: &mut Vec<Check>) -> Option<()> {
        let recording = crate::kernels::recording(op.code)?;
        let mut x: SmallVec<[Id; 5]> = SmallVec::new();
        for (r, kind) in operands(op).into_iter().zip(recording.operands) {
            if r.is_none() {
                return None;
            }
            x.push(self.value(r, *kind));
        }
        let made = self.made(op.code, &x, checks)?;
        let mask = recording.results[0] == Kind::Mask;
        for (r, id) in [op.d, op.b].into_iter().zip(made) {
            if r.is_none() || !mask && r.is_uniform() && self.lanes[id as usize] != Sharing::Same {
                return None;
            }
            self.write(r, id);
        }
        Some(())
    }

    /// d = a + b, of a counting loop's end.
    pub fn sum(&mut self, op: &Op) -> Option<()> {
        let (a, b) = (self.value(op.a, Kind::Word), self.value(op.b, Kind::Word));
        let id = self.put(Node::Bin(Bin::IAdd, a, b));
        self.shared(id)?;
        self.write(op.d, id);
        Some(())
    }

    pub fn tally(&mut self, row: u16) {
        self.items.push(Item::Tally(row));
    }

    /// The condition of an op that compares.
    pub fn condition(&mut self, op: &Op) -> Option<Id> {
        let made = |it: &mut Trace, code: Code, x: &[Id]| Some(it.made(code, x, &mut vec![])?[0]);
        let c = compared(op, self, |it, r| it.value(r, Kind::Word), made)?;
        let negated = op.e & 0x100 != 0;
        Some(if negated { self.not(c) } else { c })
    }

    // ---- memory ----

    /// Takes a load on; whether its result is the same for all lanes.
    pub fn load(
        &mut self,
        op: &Op,
        ext: &[Op],
        loads: &mut Vec<Load>,
        places: &mut Vec<Storage>,
    ) -> Option<bool> {
        let n = n_of(op.e);
        // Scalars of each load that the op stands for.
        let each = if op.code.is_plain_load() { n / parts_of(op.e) } else { n };
        let mem = mem_of(op.e);
        let halves = matches!(mem, Mem::F16 | Mem::U16);
        if mem != Mem::B32 && !halves {
            return None;
        }
        let place = match op.code {
            Code::LD_BUF if op.b.is_uniform() && !op.b.is_none() => Storage::Buffer(op.b),
            Code::LD_SHARED => Storage::Shared,
            Code::LD_PUSH => Storage::Push,
            _ => return None,
        };
        let place = match places.iter().position(|p| *p == place) {
            Some(i) => i,
            None => {
                places.push(place);
                places.len() - 1
            }
        } as u32;
        let zero = self.put(Node::Splat(0));
        let a = if op.a.is_none() { zero } else { self.value(op.a, Kind::Word) };
        let c = if op.c.is_none() { zero } else { self.value(op.c, Kind::Word) };
        self.shared(c)?;
        let same = op.a.is_none() || op.a.is_uniform();
        if same != self.shared(a).is_some() || same && each != n {
            // What is counted goes by the register, of the first word.
            return None;
        }
        let together = !same && (halves && n == 1 || n == 2 || n == 4);
        let shape = op.e & (SHAPE_RUN | SHAPE_SAME);
        // (Of scalars of 16 bits in a row it is told which lines they are on.)
        if halves && (!together || n == 1 && shape != 0) {
            return None;
        }
        let counts = if op.code == Code::LD_PUSH || op.e & SHAPE_SINGLE != 0 {
            None
        } else if same {
            Some(Counts::Bytes(4 * each as u32))
        } else if shape != 0 && n == 1 {
            Some(Counts::Shape)
        } else {
            Some(Counts::Unknown)
        };
        // All words are asked for before any is written: a result may take the offsets' register.
        let mut results = vec![];
        for i in 0..n {
            let r = if n == 1 { op.d } else { ext[i / 8].regs()[i % 8] };
            let counts = if i.is_multiple_of(each) { counts } else { None };
            if r.is_none() && counts.is_none() && !together {
                continue;
            }
            let id = self.put(Node::Load(loads.len() as u32, a, c));
            let load = Load { place, word: 0, imm: op.imm, shape: 0, counts, part: None };
            loads.push(if together {
                // The nodes of one op follow each other.
                let first = results.first().map_or(id, |(_, first)| *first);
                if id != first + i as Id {
                    return None;
                }
                let part = Part { mem, n: n as u8, each: each as u8, i: i as u8 };
                Load { part: Some(part), ..load }
            } else {
                // Each of the loads that the op stands for wraps by itself.
                let (word, imm) = ((i % each) as u32, op.imm.wrapping_add(4 * (i - i % each) as u32));
                Load { word, imm, shape: if n == 1 { shape } else { 0 }, ..load }
            });
            results.push((r, id));
        }
        for (r, id) in results {
            if r.is_none() {
                continue;
            }
            if r.is_uniform() && !same {
                return None;
            }
            self.write(r, id);
        }
        Some(same)
    }

    // ---- all of it ----

    /// What is done in the end, if `live` is read after the block.
    pub fn finish(
        mut self,
        live: &Set,
        checks: &[Check],
        loads: &[Load],
        end: End,
        unsure: &mut Vec<usize>,
    ) -> Body {
        let nodes = std::mem::take(&mut self.tape.nodes);
        let end = if let End::If(c, ..) = end { Some(c) } else { None };
        let readers = Readers { later: |r: Reg| live.has(r.unit()), end, checks, loads };
        let (each, _) = eliminate(self.items, &nodes, &readers);
        for item in &each {
            if let Item::Store(r, id) = *item
                && nodes[id as usize].is_mask()
                && self.lanes[id as usize] != Sharing::Differ
            {
                unsure.push(r.unit());
            }
        }
        let uniform = self.lanes.iter().map(|l| *l == Sharing::Same).collect();
        Body { nodes, uniform, once: vec![], each }
    }
}

/// Masks as nodes of a block.
impl MaskMachine for Trace {
    type Mask = Id;
    fn executing(&mut self) -> Id {
        self.exec()
    }
    fn execute(&mut self, lanes: Id) {
        self.items.push(Item::Exec(lanes));
    }
    fn load(&mut self, r: Reg) -> Id {
        self.value(r, Kind::Mask)
    }
    fn store(&mut self, r: Reg, lanes: Id) {
        self.write(r, lanes);
    }
    fn none(&mut self) -> Id {
        self.put(Node::Truth(false))
    }
    fn and(&mut self, a: Id, b: Id) -> Id {
        self.both(a, b)
    }
    fn or(&mut self, a: Id, b: Id) -> Id {
        self.either(a, b)
    }
    fn and_not(&mut self, a: Id, b: Id) -> Id {
        let b = self.not(b);
        self.both(a, b)
    }
    fn select(&mut self, lanes: Id, new: Id, old: Id) -> Id {
        let differ = self.put(Node::Bin(Bin::MXor, new, old));
        let differ = self.both(differ, lanes);
        self.put(Node::Bin(Bin::MXor, old, differ))
    }
    /// The block is left here, warp by warp.
    fn skips(&mut self, lanes: Id) -> bool {
        self.items.push(Item::Test(lanes));
        false
    }
}

/// A Bool register's name.
fn mask_of(r: Reg) -> Reg {
    Reg::varying(r.unit() as u16)
}

//! Which 16- and 8-bit operations share an instruction of the modelled machine.
//!
//! A register holds two values of 16 bits or four of 8, and an instruction works on all of them. What a compiler would
//! put together is taken to be: operations of one kind in one block, none needing another's result, no memory written
//! between them. Minima, comparisons, selections and logic on such values are counted one by one.
//!
//! Arithmetic of medium precision (RelaxedPrecision) is taken to have 16 bits where its operands come without a conversion: other
//! results of medium precision, values of 16 bits, constants, and what is uniform and so converted once.

use super::Lowering;
use crate::cost::Cost;
use crate::ir::{Bin, Input, Inst, Mem, Stage, Tri, Ty, Un, Value, ValueData};
use crate::isa::{Facts, ResultWidth};
use std::cell::Cell;

/// How deep an operand's width is looked for.
const DEPTH: u32 = 6;
/// Values looked at for the width of an operation's operands.
const LOOKS: u32 = 1000;
/// Instructions looked at for a dependence; more are taken to have one.
const REACH: usize = 64;

#[derive(Clone, Copy, PartialEq)]
pub(super) enum NarrowOp {
    Un(Un),
    Bin(Bin),
    Tri(Tri),
}

/// An instruction with room for more operations.
struct Open {
    kind: NarrowOp,
    room: usize,
    members: Vec<Value>,
}

/// Operations per instruction when `round` brings results to their width.
fn room(round: Un) -> Option<usize> {
    match round.facts().width {
        ResultWidth::Cut16 => Some(2),
        ResultWidth::Cut8 => Some(4),
        _ => None,
    }
}

impl Lowering<'_> {
    /// By value, of those that are needed: whether it goes with an earlier one's instruction, and costs nothing of its own. Empty: none does.
    pub(super) fn find_packed(&self, needed: &[bool]) -> Vec<bool> {
        let shader = self.shader;
        let mut packed = vec![];
        let packs =
            |v: &ValueData| v.flags.relaxed || matches!(v.inst, Inst::Un(op, _) if room(op).is_some());
        if !shader.values.iter().any(packs) {
            return packed;
        }
        packed.resize(shader.values.len(), false);
        let mut place = vec![u32::MAX; shader.values.len()];
        for block in &shader.blocks {
            let mut open: Vec<Open> = vec![];
            for (i, &v) in block.insts.iter().enumerate() {
                place[v.0 as usize] = i as u32;
                let inst = &shader.data(v).inst;
                if crate::isa::has_effect(inst) {
                    open.clear();
                    continue;
                }
                // The operation, and how many of its kind share an instruction.
                let (x, room, kind) = match (self.relaxed_kind(v), inst) {
                    (Some(kind), _) => (v, 2, kind),
                    (None, Inst::Un(round, x)) => match (room(*round), self.narrow_kind(*x)) {
                        (Some(room), Some(kind)) => (*x, room, kind),
                        _ => continue,
                    },
                    _ => continue,
                };
                let here = place[x.0 as usize] != u32::MAX;
                if !here || !needed[v.0 as usize] || self.u.prologue[v.0 as usize] {
                    continue;
                }
                let alike = open.iter_mut().find(|o| o.kind == kind && o.room == room);
                if let Some(o) = alike {
                    if !o.members.iter().any(|m| self.depends(x, *m, &place)) {
                        o.members.push(v);
                        packed[x.0 as usize] = true;
                        packed[v.0 as usize] = true;
                        if o.members.len() < room {
                            continue;
                        }
                    }
                    let full = o.members.len() == room;
                    open.retain(|o| o.kind != kind || o.room != room);
                    if full {
                        continue;
                    }
                }
                open.push(Open { kind, room, members: vec![v] });
            }
            block.insts.iter().for_each(|v| place[v.0 as usize] = u32::MAX);
        }
        packed
    }

    /// What operation `x` is, if packed registers are for such, and all its operands are as `is_narrow` says.
    fn kind(&self, x: Value, is_narrow: impl Fn(Value) -> bool) -> Option<NarrowOp> {
        let data = self.shader.data(x);
        let kind = match data.inst {
            Inst::Un(op, _) => NarrowOp::Un(op),
            Inst::Bin(op, ..) => NarrowOp::Bin(op),
            Inst::Tri(op, ..) => NarrowOp::Tri(op),
            _ => return None,
        };
        let cost = Cost::of(&data.inst, data.ty);
        let mut narrow = data.ty == Ty::B32 && cost.sfu == 0 && cost.fma + cost.cvt != 0;
        crate::isa::operands(&data.inst, |o| narrow = narrow && is_narrow(o));
        narrow.then_some(kind)
    }

    /// What operation `x` is, if it is one on narrow values.
    fn narrow_kind(&self, x: Value) -> Option<NarrowOp> {
        let looks = Cell::new(LOOKS);
        self.kind(x, |o| self.is_narrow(o, DEPTH, &looks))
    }

    /// What operation `x` is, if it is one of medium precision whose operands need no conversion.
    pub(super) fn relaxed_kind(&self, x: Value) -> Option<NarrowOp> {
        if !self.shader.data(x).flags.relaxed {
            return None;
        }
        let looks = Cell::new(LOOKS);
        let halves = &self.shader.interface.varyings;
        self.kind(x, |o| {
            let data = self.shader.data(o);
            let given = match data.inst {
                Inst::Const(_) => true,
                Inst::Input(Input::Varying(slot)) => {
                    self.shader.stage == Stage::Fragment && halves.iter().any(|v| v.slot == slot && v.half)
                }
                Inst::Part(tuple, _) => {
                    matches!(&self.shader.data(tuple).inst, Inst::Image(image) if image.half)
                }
                _ => false,
            };
            given || data.flags.relaxed || self.u.prologue[o.0 as usize] || self.is_narrow(o, DEPTH, &looks)
        })
    }

    /// Whether `v` has 16 bits at most.
    fn is_narrow(&self, v: Value, depth: u32, looks: &Cell<u32>) -> bool {
        // Phis of phis are many.
        let Some(left) = looks.get().checked_sub(1) else { return false };
        looks.set(left);
        // A way round a loop ends here.
        let Some(depth) = depth.checked_sub(1) else { return true };
        let of = |x: &Value| self.is_narrow(*x, depth, looks);
        let by_row = |facts: &Facts, of: &dyn Fn() -> bool| match facts.width {
            ResultWidth::Half | ResultWidth::Cut16 | ResultWidth::Cut8 => true,
            ResultWidth::Keep => of(),
            ResultWidth::Full => false,
        };
        match &self.shader.data(v).inst {
            Inst::Un(op, a) => by_row(op.facts(), &|| of(a)),
            Inst::Bin(op, a, b) => by_row(op.facts(), &|| of(a) && of(b)),
            // Of a select those that it chooses from.
            Inst::Tri(op, _, a, b) => by_row(op.facts(), &|| of(a) && of(b)),
            // As a half or as an integer.
            Inst::Const(c) => c & 0x1FFF == 0 || (-0x8000..=0xFFFF).contains(&(*c as u32 as i32)),
            Inst::Load { mem, .. } | Inst::LoadRows { mem, .. } => {
                matches!(mem, Mem::F16 | Mem::U16 | Mem::U8)
            }
            Inst::Part(a, _) | Inst::Shuffle(a, _) | Inst::Quad(_, a) | Inst::First(a) => of(a),
            Inst::Phi(sources) => sources.iter().all(|s| of(&s.1)),
            _ => false,
        }
    }

    /// Whether `x` needs `on`, both in the block of which `place` tells the order.
    fn depends(&self, x: Value, on: Value, place: &[u32]) -> bool {
        let from = place[on.0 as usize];
        let mut seen = vec![x];
        let mut next = 0;
        while let Some(&v) = seen.get(next) {
            next += 1;
            if v == on || next > REACH {
                return true;
            }
            crate::isa::operands(&self.shader.data(v).inst, |o| {
                let at = place[o.0 as usize];
                if at != u32::MAX && at >= from && !seen.contains(&o) {
                    seen.push(o);
                }
            });
        }
        false
    }
}

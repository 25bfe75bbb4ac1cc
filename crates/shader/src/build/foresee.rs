//! How many turns a loop has: its counters are followed from turn to turn, by what is known before the translation, or
//! by what the variables hold where the translation comes to the loop.

use super::access::Base;
use super::control::{FnInfo, NONE};
use super::types::Sk;
use super::unroll::{Found, MAX_DEPTH, MAX_TURNS, Plan};
use super::{Builder, PTR};
use crate::options::Result;
use crate::spirv::*;
use rustc_hash::FxHashMap;

/// A loop's counters, turn by turn.
struct Turns<'a> {
    info: &'a FnInfo,
    plan: &'a Plan,
    /// The IR block before the loop; none before the translation.
    before: Option<u32>,
    /// Counters, and what they are as the turn begins.
    state: Vec<(u32, u32)>,
    /// Where counters that are variables are stored (position, offset), and the value's id.
    stored: FxHashMap<u32, (u32, u32, u32)>,
}

impl Builder<'_> {
    /// How often a loop's first exit of a known condition is passed by, and what that depends on.
    pub(super) fn turns(&mut self, info: &FnInfo, plan: &Plan, before: Option<u32>) -> Result<Option<Found>> {
        let mut tried = 0;
        for pos in plan.first..=plan.last {
            let i = self.m.inst(info.at_position(pos).term);
            if i.op != Op::BranchConditional {
                continue;
            }
            let [yes, no] = info.successors(info.order[pos as usize])[..] else { continue };
            let out = [yes, no].map(|b| info.leads(b, plan.last) > plan.last);
            if out[0] == out[1] {
                continue;
            }
            tried += 1;
            if tried > 4 {
                break;
            }
            let mut t = Turns { info, plan, before, state: Vec::new(), stored: FxHashMap::default() };
            if let Some(turns) = self.passes(&mut t, i.w[1], out[0])? {
                let counters = t.state.into_iter().map(|s| s.0).collect();
                let way = (plan.first..=pos).map(|p| info.at_position(p));
                let straight = way.clone().skip(1).all(|b| b.loop_end == NONE);
                let lead = if straight { way.map(|b| b.instructions).sum() } else { u32::MAX };
                return Ok(Some(Found { turns, lead, counters }));
            }
        }
        Ok(None)
    }

    /// Turns until the condition is `out`.
    fn passes(&mut self, t: &mut Turns, cond: u32, out: bool) -> Result<Option<u32>> {
        for turn in 0..=MAX_TURNS {
            match self.foresee(t, cond, 0)? {
                Some(c) if (c != 0) == out => return Ok(Some(turn)),
                Some(_) if !t.state.is_empty() => {}
                _ => return Ok(None),
            }
            let mut next = Vec::with_capacity(t.state.len());
            while let Some(&(key, _)) = t.state.get(next.len()) {
                let value = match t.stored.get(&key) {
                    Some(s) => Some(s.2),
                    None => self.incoming(t, key, true),
                };
                let Some(value) = value else { return Ok(None) };
                let Some(v) = self.foresee(t, value, 0)? else { return Ok(None) };
                next.push((key, v));
            }
            t.state = next;
        }
        Ok(None)
    }

    /// The operand of a header's OpPhi for the back edge, or for the way in.
    fn incoming(&self, t: &Turns, phi: u32, back: bool) -> Option<u32> {
        let i = self.m.inst(self.m.def_at(phi)?);
        let end = t.info.at_position(t.plan.last).label;
        let pairs = i.rest(3).as_chunks::<2>().0;
        pairs.iter().find(|p| (p[1] == end) == back).map(|p| p[0])
    }

    /// A 32-bit integer or a boolean in the turn that `t` has come to.
    fn foresee(&mut self, t: &mut Turns, id: u32, depth: u32) -> Result<Option<u32>> {
        let Some(at) = self.m.def_at(id) else { return Ok(None) };
        let i = self.m.inst(at);
        let kind = self.types.of(i.word(1)?, i.at).ok().and_then(|ty| self.types.numeric(ty));
        if !matches!(kind, Some((Sk::I32 | Sk::Bool, 1))) || depth == MAX_DEPTH {
            return Ok(None);
        }
        self.work.spend(1)?;
        let Some(pos) = t.info.position(at).filter(|&p| t.plan.holds(p)) else {
            return Ok(self.try_const(id).map(|c| c as u32));
        };
        match i.op {
            Op::Phi if pos == t.plan.first => {
                if let Some(s) = t.state.iter().find(|s| s.0 == id) {
                    return Ok(Some(s.1));
                }
                let Some(first) = self.incoming(t, id, false) else { return Ok(None) };
                let v = self.try_const(first).map(|c| c as u32);
                t.state.extend(v.map(|v| (id, v)));
                return Ok(v);
            }
            Op::Load => {
                let Some(var) = self.variable(i.w[3]) else { return Ok(None) };
                if !t.info.stored_between(var, t.plan.first, t.plan.last) {
                    return self.before(t, var, i.w[3]);
                }
                let stored = match t.stored.get(&var) {
                    Some(s) => *s,
                    None => {
                        let Some(place) = t.info.only_store(var, t.plan.first, t.plan.last) else {
                            return Ok(None);
                        };
                        let Some((at, value)) = self.store_at(t.info, var, place) else { return Ok(None) };
                        t.stored.insert(var, (place, at, value));
                        (place, at, value)
                    }
                };
                if (stored.0, stored.1) < (pos, at) {
                    return self.foresee(t, stored.2, depth + 1);
                }
                if let Some(s) = t.state.iter().find(|s| s.0 == var) {
                    return Ok(Some(s.1));
                }
                let v = self.before(t, var, i.w[3])?;
                t.state.extend(v.map(|v| (var, v)));
                return Ok(v);
            }
            _ => {}
        }
        let Some(ids) = operands(&i) else { return Ok(None) };
        let mut x = [0u32; 3];
        if ids.len() > x.len() {
            return Ok(None);
        }
        for (k, &id) in ids.iter().enumerate() {
            let Some(v) = self.foresee(t, id, depth + 1)? else { return Ok(None) };
            x[k] = v;
        }
        Ok(compute(&i, x))
    }

    /// What a variable holds before the loop.
    fn before(&mut self, t: &Turns, var: u32, id: u32) -> Result<Option<u32>> {
        if let Some(before) = t.before {
            let s = self.ids[id as usize];
            if s.len != PTR {
                return Ok(None);
            }
            let p = self.ptrs[s.start as usize];
            let Base::Slots(first) = p.base else { return Ok(None) };
            let v = self.read_at_end(first + p.offset, before)?;
            let v = self.e.res(v);
            return Ok(self.e.as_const(v).map(|c| c as u32));
        }
        // The last store before it, or the first value.
        let place = t.info.stores.get(&var).and_then(|p| {
            let k = p.partition_point(|&x| x < t.plan.first);
            k.checked_sub(1).map(|k| p[k])
        });
        let value = match place {
            Some(place) => self.store_at(t.info, var, place).map(|s| s.1),
            None => self.m.def_at(id).and_then(|d| self.m.inst(d).get(4)),
        };
        Ok(value.and_then(|v| self.try_const(v)).map(|c| c as u32))
    }

    /// The set of pointers that a whole variable is of.
    pub(super) fn variable(&mut self, id: u32) -> Option<u32> {
        let op = self.m.inst(self.m.def_at(id)?).op;
        matches!(op, Op::Variable | Op::FunctionParameter).then(|| self.uses.find(id))
    }

    /// Offset and value of the last store to a variable in the block at a position.
    pub(super) fn store_at(&mut self, info: &FnInfo, var: u32, pos: u32) -> Option<(u32, u32)> {
        let b = *info.at_position(pos);
        let (mut at, mut found) = (b.start, None);
        while at < b.term {
            let i = self.m.inst(at);
            if i.op == Op::Store && self.uses.find(i.w[1]) == var {
                found = self.variable(i.w[1]).map(|_| (at, i.w[2]));
            }
            at += i.len() as u32;
        }
        self.work.spend((b.term - b.start) as usize / 4).ok()?;
        found
    }
}

/// Ids that an instruction computes with, of those that counters are made of.
pub(super) fn operands<'a>(i: &Code<'a>) -> Option<&'a [u32]> {
    match i.op {
        Op::IAdd
        | Op::ISub
        | Op::IMul
        | Op::UDiv
        | Op::SDiv
        | Op::UMod
        | Op::SNegate
        | Op::BitwiseAnd
        | Op::BitwiseOr
        | Op::BitwiseXor
        | Op::Not
        | Op::ShiftLeftLogical
        | Op::ShiftRightLogical
        | Op::ShiftRightArithmetic
        | Op::IEqual
        | Op::INotEqual
        | Op::ULessThan
        | Op::ULessThanEqual
        | Op::UGreaterThan
        | Op::UGreaterThanEqual
        | Op::SLessThan
        | Op::SLessThanEqual
        | Op::SGreaterThan
        | Op::SGreaterThanEqual
        | Op::LogicalAnd
        | Op::LogicalOr
        | Op::LogicalNot
        | Op::Select
        | Op::Bitcast
        | Op::CopyObject
        | Op::UConvert
        | Op::SConvert => Some(i.rest(3)),
        Op::ExtInst => Some(i.rest(5)),
        _ => None,
    }
}

fn compute(i: &Code, x: [u32; 3]) -> Option<u32> {
    let [a, b, c] = x;
    let (sa, sb) = (a as i32, b as i32);
    Some(match i.op {
        Op::IAdd => a.wrapping_add(b),
        Op::ISub => a.wrapping_sub(b),
        Op::IMul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b)?,
        Op::SDiv => sa.checked_div(sb)? as u32,
        Op::UMod => a.checked_rem(b)?,
        Op::SNegate => a.wrapping_neg(),
        Op::BitwiseAnd => a & b,
        Op::BitwiseOr => a | b,
        Op::BitwiseXor => a ^ b,
        Op::Not => !a,
        Op::ShiftLeftLogical => a.checked_shl(b)?,
        Op::ShiftRightLogical => a.checked_shr(b)?,
        Op::ShiftRightArithmetic => sa.checked_shr(b)? as u32,
        Op::IEqual => (a == b) as u32,
        Op::INotEqual => (a != b) as u32,
        Op::ULessThan => (a < b) as u32,
        Op::ULessThanEqual => (a <= b) as u32,
        Op::UGreaterThan => (a > b) as u32,
        Op::UGreaterThanEqual => (a >= b) as u32,
        Op::SLessThan => (sa < sb) as u32,
        Op::SLessThanEqual => (sa <= sb) as u32,
        Op::SGreaterThan => (sa > sb) as u32,
        Op::SGreaterThanEqual => (sa >= sb) as u32,
        Op::LogicalAnd => a & b,
        Op::LogicalOr => a | b,
        Op::LogicalNot => (a == 0) as u32,
        Op::Select => {
            if a != 0 {
                b
            } else {
                c
            }
        }
        Op::Bitcast | Op::CopyObject => a,
        _ => return None,
    })
}

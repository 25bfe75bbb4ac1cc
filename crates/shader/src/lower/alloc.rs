//! Linear scan: registers as slots of two pools, varying (one slot a B32, two a B64) and small (units of 64 bytes).

use super::lir::{COPIES, Lir, NONE, V, VReg, flag::ELEM};
use super::live::{Segment, Webs, webs};
use crate::ir::Ty;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// One move of a resolved group of copies, between slots.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    pub dst: Place,
    pub src: Place,
    pub masked: bool,
    pub ty: Ty,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub small: bool,
    pub uniform: bool,
    pub slot: u32,
}

pub struct Allocation {
    /// Slot of each virtual register or [`NONE`].
    pub slot: Vec<u32>,
    pub varying_slots: u32,
    pub small_slots: u32,
    /// Constants that have a register.
    pub consts: Vec<(V, Ty, u64)>,
    /// Slots of temporaries of ops whose result is then moved under the mask, by the register they define.
    pub temporary: Vec<u32>,
    /// Moves of each group of copies in order of groups.
    pub moves: Vec<Vec<Move>>,
}

/// The register lies in the small pool.
pub fn small(v: &VReg) -> bool {
    v.uniform || v.ty == Ty::Bool
}
fn wide(v: &VReg) -> bool {
    v.ty == Ty::B64
}

#[derive(Default)]
struct Pool {
    used: Vec<u64>,
    top: u32,
}

impl Pool {
    fn is_free(&self, i: u32) -> bool {
        self.used.get(i as usize / 64).is_none_or(|w| w >> (i % 64) & 1 == 0)
    }
    fn set(&mut self, i: u32, on: bool) {
        let w = i as usize / 64;
        if w >= self.used.len() {
            self.used.resize(w + 1, 0);
        }
        if on {
            self.used[w] |= 1 << (i % 64);
        } else {
            self.used[w] &= !(1 << (i % 64));
        }
    }
    fn take(&mut self, wide: bool) -> u32 {
        let mut i = self.used.iter().position(|w| *w != u64::MAX).unwrap_or(self.used.len()) as u32 * 64;
        while !(self.is_free(i) && (!wide || self.is_free(i + 1))) {
            i += 1;
        }
        self.set(i, true);
        if wide {
            self.set(i + 1, true);
        }
        self.top = self.top.max(i + 1 + wide as u32);
        i
    }
    fn give(&mut self, i: u32, wide: bool) {
        self.set(i, false);
        if wide {
            self.set(i + 1, false);
        }
    }
}

/// Kinds of registers that may be handed over in place: equal shape.
fn class(v: &VReg) -> usize {
    match (v.ty, v.uniform) {
        (Ty::Bool, _) => 0,
        (Ty::B64, true) => 1,
        (Ty::B64, false) => 2,
        (_, true) => 3,
        (_, false) => 4,
    }
}

pub fn allocate(lir: &mut Lir) -> Allocation {
    let mut webs = webs(lir);
    for flag in std::mem::take(&mut webs.masked_copies) {
        lir.ext[flag as usize] = 1;
    }
    let lir: &Lir = lir;
    let n = lir.vregs.len();
    let mut is_const = vec![false; n];
    lir.consts.iter().for_each(|c| is_const[c.0 as usize] = true);
    let mut order: Vec<(Segment, V, bool)> = (0..n as V)
        .filter_map(|v| {
            let root = webs.find(v) == v && webs.hull[v as usize].lo != u32::MAX && !is_const[v as usize];
            root.then(|| (webs.hull[v as usize], v, false))
        })
        .collect();
    webs.masked_defs.sort();
    webs.masked_defs.dedup();
    order.extend(webs.masked_defs.iter().map(|&(p, v)| (Segment { lo: p, hi: p }, v, true)));
    order.sort();
    let mut temporary = vec![NONE; if webs.masked_defs.is_empty() { 0 } else { n }];
    let mut pools = [Pool::default(), Pool::default()];
    let mut active: [BinaryHeap<Reverse<(u32, u32)>>; 5] = Default::default();
    let mut root_slot = vec![NONE; n];
    for (Segment { lo, hi }, v, temp) in order {
        let vreg = &lir.vregs[v as usize];
        let own = class(vreg);
        // Inputs are there before the first op: one that dies in it cannot hand its register to another.
        let in_place = lo > 0 && lir.insts.get(lo as usize).is_some_and(|op| op.flags & ELEM != 0);
        for (k, heap) in active.iter_mut().enumerate() {
            while let Some(&Reverse((end, slot))) = heap.peek() {
                if end < lo || (end == lo && in_place && k == own) {
                    heap.pop();
                    pools[(k != 2 && k != 4) as usize].give(slot, k == 1 || k == 2);
                } else {
                    break;
                }
            }
        }
        let slot = pools[small(vreg) as usize].take(wide(vreg));
        // A register held through a loop may begin where a temporary does, by an op that could hand over.
        active[own].push(Reverse((hi.saturating_add(temp as u32), slot)));
        if temp {
            temporary[v as usize] = slot;
        } else {
            root_slot[v as usize] = slot;
        }
    }
    let mut slot: Vec<u32> = (0..n as V).map(|v| root_slot[webs.find(v) as usize]).collect();
    let [varying, mut smalls] = pools;
    let mut consts = vec![];
    let mut by_bits: HashMap<(Ty, u64), u32> = HashMap::new();
    for &(v, ty, bits) in &lir.consts {
        if webs.hull[v as usize].lo == u32::MAX {
            continue;
        }
        slot[v as usize] = *by_bits.entry((ty, bits)).or_insert_with(|| {
            let at = smalls.top;
            smalls.top += 1 + (ty == Ty::B64) as u32;
            consts.push((v, ty, bits));
            at
        });
    }
    let mut allocation = Allocation {
        slot,
        varying_slots: varying.top,
        small_slots: smalls.top,
        consts,
        temporary,
        moves: vec![],
    };
    resolve_copies(lir, &mut webs, &mut allocation);
    allocation
}

/// Orders the moves of each group so that nothing is overwritten before it is read; cycles go through a spare slot.
fn resolve_copies(lir: &Lir, _webs: &mut Webs, allocation: &mut Allocation) {
    let place = |v: V, slots: &[u32]| {
        let vreg = &lir.vregs[v as usize];
        Place { small: small(vreg), uniform: vreg.uniform, slot: slots[v as usize] }
    };
    let mut spare: [Option<u32>; 2] = [None, None];
    let mut all = vec![];
    for op in lir.insts.iter().filter(|op| op.code == COPIES) {
        let group = &lir.ext[op.ext as usize..(op.ext + op.ext_len) as usize];
        let mut rest: Vec<Move> = group
            .chunks_exact(3)
            .map(|c| {
                let ty = lir.vregs[c[0] as usize].ty;
                let (dst, src) = (place(c[0], &allocation.slot), place(c[1], &allocation.slot));
                Move { dst, src, masked: c[2] != 0, ty }
            })
            .filter(|m| !same(m.dst, m.src))
            .collect();
        let mut done = Vec::with_capacity(rest.len());
        while !rest.is_empty() {
            let before = rest.len();
            let mut i = 0;
            while i < rest.len() {
                let dst = rest[i].dst;
                if rest.iter().enumerate().any(|(j, m)| j != i && same(m.src, dst)) {
                    i += 1;
                } else {
                    done.push(rest.swap_remove(i));
                }
            }
            if rest.len() == before {
                // Every destination is read by another move: put one aside.
                let aside = rest[0].dst;
                let at = *spare[aside.small as usize].get_or_insert_with(|| {
                    let top =
                        if aside.small { &mut allocation.small_slots } else { &mut allocation.varying_slots };
                    *top += 2;
                    *top - 2
                });
                let to = Place { slot: at, ..aside };
                done.push(Move { dst: to, src: aside, masked: false, ty: rest[0].ty });
                for m in rest.iter_mut().filter(|m| same(m.src, aside)) {
                    m.src = Place { slot: at, ..m.src };
                }
            }
        }
        all.push(done);
    }
    allocation.moves = all;
}

fn same(a: Place, b: Place) -> bool {
    a.small == b.small && a.slot == b.slot
}

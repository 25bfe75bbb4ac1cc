//! Groups of parallel copies → moves one after the other.

use super::alloc::{Allocation, Move, Pools, RegisterSlot};
use super::lir::{COPIES, Lir, V};
use crate::options::Result;
use crate::work::Work;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Moves of a group up to which who reads a place is searched for.
const FEW: usize = 16;

/// A group's moves that are still to come.
struct Rest {
    moves: Vec<Move>,
    /// There are many, and what follows tells of them.
    long: bool,
    /// Of a place by what [`key`] says: how many moves read it.
    reads: FxHashMap<(Pools, u32), u32>,
    /// Where the move that writes it stands.
    writer: FxHashMap<(Pools, u32), usize>,
    /// Moves that nobody has to read before, by where they stand.
    ready: BTreeSet<usize>,
}

fn key(p: RegisterSlot) -> (Pools, u32) {
    (p.pool, p.slot)
}

fn same(a: RegisterSlot, b: RegisterSlot) -> bool {
    key(a) == key(b)
}

impl Rest {
    fn new(moves: Vec<Move>) -> Rest {
        let mut rest = Rest {
            long: moves.len() > FEW,
            moves,
            reads: Default::default(),
            writer: Default::default(),
            ready: BTreeSet::new(),
        };
        if !rest.long {
            return rest;
        }
        for (i, m) in rest.moves.iter().enumerate() {
            *rest.reads.entry(key(m.src)).or_default() += 1;
            // Two into one place would be a mistake; then every search goes through all.
            rest.long &= rest.writer.insert(key(m.dst), i).is_none();
        }
        let free = |m: &Move| !rest.reads.contains_key(&key(m.dst));
        rest.ready = (0..rest.moves.len()).filter(|i| free(&rest.moves[*i])).collect();
        rest
    }

    /// Takes out the first move from place `from` on, around the end if need be, that overwrites nothing still to be
    /// read; and where it stood, to which the last one has come. None when each does.
    fn take(&mut self, from: usize) -> Option<(usize, Move)> {
        if !self.long {
            let free = |i: &usize| {
                let dst = self.moves[*i].dst;
                !self.moves.iter().any(|m| same(m.src, dst))
            };
            let i = (from..self.moves.len()).chain(0..from.min(self.moves.len())).find(free)?;
            return Some((i, self.moves.swap_remove(i)));
        }
        let i = *self.ready.range(from..).next().or_else(|| self.ready.first())?;
        self.ready.remove(&i);
        let last = self.moves.len() - 1;
        let m = self.moves.swap_remove(i);
        if i != last {
            if self.ready.remove(&last) {
                self.ready.insert(i);
            }
            self.writer.insert(key(self.moves[i].dst), i);
        }
        self.writer.remove(&key(m.dst));
        self.forget(m.src, 1);
        Some((i, m))
    }

    /// `n` moves less read a place.
    fn forget(&mut self, p: RegisterSlot, n: u32) {
        if let Some(reads) = self.reads.get_mut(&key(p)) {
            *reads -= n;
            if *reads == 0 {
                self.reads.remove(&key(p));
                self.ready.extend(self.writer.get(&key(p)));
            }
        }
    }

    /// Whoever reads `from` reads `to` instead.
    fn redirect(&mut self, from: RegisterSlot, to: u32) {
        let mut n = 0;
        for m in self.moves.iter_mut().filter(|m| same(m.src, from)) {
            m.src = RegisterSlot { slot: to, ..m.src };
            n += 1;
        }
        if self.long {
            *self.reads.entry((from.pool, to)).or_default() += n;
            self.forget(from, n);
        }
    }
}

/// Orders the moves of each group so that nothing is overwritten before it is read; cycles go through a spare slot.
pub fn resolve(lir: &Lir, allocation: &mut Allocation, work: &Work) -> Result<()> {
    let place = |v: V, slots: &[u32]| {
        let vreg = &lir.vregs[v as usize];
        RegisterSlot { pool: Pools::of(vreg), uniform: vreg.uniform, slot: slots[v as usize] }
    };
    let mut spare: [Option<u32>; 4] = [None; 4];
    let mut all = vec![];
    for op in lir.insts.iter().filter(|op| op.code == COPIES) {
        let group = &lir.ext[op.ext as usize..(op.ext + op.ext_len) as usize];
        let moves: Vec<Move> = group
            .chunks_exact(3)
            .map(|c| {
                let ty = lir.vregs[c[0] as usize].ty;
                let (dst, src) = (place(c[0], &allocation.slot), place(c[1], &allocation.slot));
                Move { dst, src, masked: c[2] != 0, ty }
            })
            .filter(|m| !same(m.dst, m.src))
            .collect();
        let mut done = Vec::with_capacity(moves.len());
        let mut rest = Rest::new(moves);
        if !rest.long {
            work.spend(rest.moves.len() * rest.moves.len() / FEW)?;
        }
        let mut at = 0;
        while let Some(first) = rest.moves.first().copied() {
            if let Some((i, m)) = rest.take(at) {
                done.push(m);
                at = i;
                continue;
            }
            // Every destination is read by another move: put one aside.
            let aside = first.dst;
            let slot = *spare[aside.pool as usize].get_or_insert_with(|| {
                let top = &mut allocation.slots[aside.pool as usize];
                *top += 2;
                *top - 2
            });
            done.push(Move { dst: RegisterSlot { slot, ..aside }, src: aside, masked: false, ty: first.ty });
            work.spend(rest.moves.len())?;
            rest.redirect(aside, slot);
            at = 0;
        }
        all.push(done);
    }
    allocation.moves = all;
    Ok(())
}

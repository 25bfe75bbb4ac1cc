//! Branches within a segment: where values lie when a warp jumps over one, and when it has been through it.

use super::super::machine::{Jump, row};
use super::{Emit, Made, NEVER, Place, TooMuch};
use crate::jit::nodes::body::Item;
use crate::recording::{Id, Node};
use rustc_hash::FxHashMap;
use shader::bytecode::Reg;

/// Where a merged value lies after its branch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Reg(u8),
    Slot(u32),
    /// In the wave's register.
    Home(Reg),
}

struct Merged {
    /// Its item.
    at: u32,
    phi: Id,
    old: Id,
    new: Id,
    to: To,
}

/// Branches that are open, and what those that ended left.
#[derive(Default)]
pub struct Forks {
    open: Vec<Fork>,
    /// By register of the wave's: the merged value that lies there.
    homes: FxHashMap<Reg, Id>,
}

/// A branch that is open: what was where when it began.
struct Fork {
    over: Jump,
    vectors: Vec<Option<Id>>,
    masks: Vec<Option<Id>>,
    place: Vec<Place>,
    merged: Vec<Merged>,
}

/// Registers that merged values leave for all else.
const REST: u32 = 6;

impl Emit<'_> {
    /// What follows is for warps with a lane in `mask`.
    pub fn fork(&mut self, at: u32, mask: Id) -> Made<()> {
        let merged = self.merged(at)?;
        let r = self.in_register(mask)?;
        let over = self.m.jump_if(false, r)?;
        self.used(at, mask);
        let (vectors, masks, place) = (self.vectors.clone(), self.masks.clone(), self.place.clone());
        for m in &merged {
            if let To::Reg(r) = m.to {
                self.hints.entry(m.new).or_insert(r);
                if self.next_use(m.old) == NEVER {
                    self.vectors[r as usize] = None;
                    self.place[m.old as usize].reg = None;
                }
            }
        }
        self.forks.open.push(Fork { over, vectors, masks, place, merged });
        Ok(())
    }

    /// Finds places for what the branch that begins at item `at` merges; what was there before lies there then.
    fn merged(&mut self, at: u32) -> Made<Vec<Merged>> {
        let body = self.body;
        let (mut depth, mut list) = (0, vec![]);
        for (i, item) in body.each.iter().enumerate().skip(at as usize + 1) {
            match *item {
                Item::If(_) => depth += 1,
                Item::End if depth == 0 => break,
                Item::End => depth -= 1,
                Item::Phi(r, id) if depth == 0 => list.push((i as u32, r, id)),
                _ => (),
            }
        }
        let first = list.first().map_or(NEVER, |l| l.0);
        let mut merged = vec![];
        for (i, r, phi) in list {
            let Node::Phi(old, new) = body.nodes[phi as usize] else { return Err(TooMuch) };
            let later = self.uses[old as usize].iter().any(|u| *u >= first && *u != i);
            let p = self.place[old as usize];
            let at_home =
                p.slot.is_none() && (p.at == Some(r) || body.nodes[old as usize] == Node::Word(r) && !p.gone);
            let stored = |u: &[u32]| {
                u.len() == 1 && matches!(body.each[u[0] as usize], Item::Store(..) | Item::Move(..))
            };
            let full = self.held.count_ones() + REST > self.vectors.len() as u32;
            let to = if !later && at_home && (p.reg.is_none() || full || stored(&self.uses[phi as usize])) {
                To::Home(r)
            } else if !later && p.reg.is_none() && p.slot.is_some() && !self.is_common(old) {
                To::Slot(p.slot.ok_or(TooMuch)?)
            } else {
                // (Its register may be taken for the next else.)
                let s = self.in_register(old)?;
                if later || full || self.place[old as usize].pinned {
                    let slot = self.rows;
                    self.rows += 1;
                    self.save(old, s, slot)?;
                    if self.held.count_ones() + REST > self.vectors.len() as u32 {
                        self.held &= !(1 << s);
                    }
                    To::Slot(slot)
                } else {
                    To::Reg(s)
                }
            };
            self.uses[old as usize].retain(|u| *u != i);
            merged.push(Merged { at: i, phi, old, new, to });
        }
        Ok(merged)
    }

    /// The branch ends: all is where it was, or is to be.
    pub fn merge(&mut self) -> Made<()> {
        let fork = self.forks.open.pop().ok_or(TooMuch)?;
        self.store_merged(&fork.merged)?;
        self.held = 0;
        let mut wanted: Vec<(u8, Id)> = vec![];
        for (r, id) in fork.vectors.iter().enumerate() {
            let Some(id) = *id else { continue };
            let new = fork.merged.iter().find(|m| m.to == To::Reg(r as u8)).map(|m| m.new);
            let stays = (self.next_use(id) != NEVER || fork.place[id as usize].pinned).then_some(id);
            wanted.extend(new.or(stays).map(|id| (r as u8, id)));
        }
        self.bring(wanted, false)?;
        let wanted = fork.masks.iter().enumerate().filter_map(|(k, id)| {
            let id = (*id)?;
            (self.next_use(id) != NEVER).then_some((k as u8, id))
        });
        self.bring(wanted.collect(), true)?;
        for m in &fork.merged {
            self.used(m.at, m.new);
        }
        (self.vectors, self.masks, self.place) = (fork.vectors, fork.masks, fork.place);
        for m in fork.merged {
            let place = &mut self.place[m.phi as usize];
            match m.to {
                To::Reg(r) => {
                    place.reg = Some(r);
                    self.vectors[r as usize] = Some(m.phi);
                    self.place[m.old as usize].reg = None;
                }
                To::Slot(slot) => place.slot = Some(slot),
                To::Home(r) => {
                    place.at = Some(r);
                    self.forks.homes.insert(r, m.phi);
                    let old = &mut self.place[m.old as usize];
                    (old.at, old.gone) = (None, true);
                }
            }
        }
        for (r, masks) in (0..self.vectors.len()).map(|r| (r, false)).chain((0..8).map(|k| (k, true))) {
            let file = if masks { &mut self.masks } else { &mut self.vectors };
            if let Some(id) = file[r]
                && self.uses[id as usize].is_empty()
                && !self.place[id as usize].pinned
            {
                file[r] = None;
                self.place[id as usize].reg = None;
            }
        }
        self.m.land(fork.over);
        Ok(())
    }

    /// Merged values that lie in memory get there.
    fn store_merged(&mut self, merged: &[Merged]) -> Made<()> {
        for (i, m) in merged.iter().enumerate() {
            let is_there = |p: Place| match m.to {
                To::Reg(_) => true,
                To::Slot(s) => p.slot == Some(s),
                To::Home(r) => p.slot.is_none() && p.at == Some(r),
            };
            if is_there(self.place[m.new as usize]) {
                continue;
            }
            // What others are to have from there is fetched first.
            for other in merged.iter().skip(i + 1).filter(|o| o.new != m.new) {
                if is_there(self.place[other.new as usize]) {
                    self.held = 0;
                    self.in_register(other.new)?;
                    let p = &mut self.place[other.new as usize];
                    (p.slot, p.at) = (None, None);
                }
            }
            self.held = 0;
            let s = self.in_register(m.new)?;
            match m.to {
                To::Reg(_) => (),
                To::Slot(slot) => self.m.store(row(slot), s)?,
                To::Home(r) => {
                    let to = self.register(r);
                    self.m.store(to, s)?;
                }
            }
        }
        Ok(())
    }

    /// Brings values to registers, all at once.
    fn bring(&mut self, wanted: Vec<(u8, Id)>, masks: bool) -> Made<()> {
        let mut moves: Vec<(u8, u8)> = vec![];
        let (mut loads, mut late) = (vec![], vec![]);
        for (to, id) in wanted {
            match self.place[id as usize].reg {
                Some(from) if from == to => (),
                Some(from) => moves.push((to, from)),
                None => loads.push((to, id)),
            }
        }
        while !moves.is_empty() {
            // One whose target nobody comes from any more.
            let next = (0..moves.len()).find(|i| !moves.iter().any(|m| m.1 == moves[*i].0));
            let Some(i) = next else {
                // In a circle: one of them goes by the stack.
                let (to, from) = moves[0];
                let slot = self.rows;
                self.rows += 1;
                let at = row(slot);
                if masks {
                    self.m.store_mask(at, from)?;
                } else {
                    self.m.store(at, from)?;
                }
                moves.swap_remove(0);
                // Nobody else comes from there: it is loaded when all others have moved.
                late.push((to, slot));
                continue;
            };
            let (to, from) = moves.swap_remove(i);
            if masks {
                self.m.copy_mask(to, from)?;
            } else {
                self.m.copy(to, from)?;
            }
        }
        for (to, slot) in late {
            if masks {
                self.m.load_mask(to, row(slot))?;
            } else {
                self.m.load(to, row(slot))?;
            }
        }
        for (to, id) in loads {
            self.fetch(id, to)?;
        }
        Ok(())
    }

    /// The wave's register is to have something else: the value that lies there goes elsewhere, if it is needed again.
    pub fn leave_home(&mut self, r: Reg, id: Id) -> Made<()> {
        let Some(&old) = self.forks.homes.get(&r) else { return Ok(()) };
        if old != id && self.place[old as usize].at == Some(r) {
            if self.next_use(old) != NEVER {
                self.in_register(old)?;
            }
            self.place[old as usize].at = None;
        }
        Ok(())
    }
}

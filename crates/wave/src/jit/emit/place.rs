//! Where values are: registers, rows of the stack frame, what the wave's registers still hold.

use super::super::machine::{Mem, row};
use super::{Emit, Made, NEVER, TooMuch};
use crate::recording::{Id, Node};
use shader::bytecode::Reg;

/// Where a value is.
#[derive(Clone, Copy, Default)]
pub struct Place {
    pub reg: Option<u8>,
    /// Row of the stack frame.
    pub slot: Option<u32>,
    /// Its register stays its own.
    pub pinned: bool,
    /// Its register of the wave's has something else by now.
    pub gone: bool,
    /// This register of the wave's has it.
    pub at: Option<Reg>,
}

impl Emit<'_> {
    /// Where a vector may be read from memory.
    pub fn home(&mut self, id: Id) -> Option<Mem> {
        let p = self.place[id as usize];
        if let Some(slot) = p.slot {
            return Some(row(slot));
        }
        if let Some(r) = p.at {
            return Some(self.register(r));
        }
        match self.node(id) {
            Node::Splat(x) => Some(self.m.constant(x)),
            Node::Splat64(x) => Some(self.m.constant64(x)),
            Node::Line(table) => self.m.line(&table.0),
            Node::Word(r) if !p.gone => Some(self.register(r)),
            Node::Part(r, part) if !p.gone => Some(self.register_part(r, part)),
            _ => None,
        }
    }

    /// A row of the frame for the value.
    pub fn slot(&mut self, id: Id) -> u32 {
        let p = &mut self.place[id as usize];
        *p.slot.get_or_insert_with(|| {
            self.rows += 1;
            self.rows - 1
        })
    }

    pub fn save(&mut self, id: Id, s: u8, slot: u32) -> Made<()> {
        if self.in_masks(id) {
            return self.m.store_mask(row(slot), s);
        }
        self.m.store(row(slot), s)
    }

    /// The value's register; it is brought to one if need be.
    pub fn in_register(&mut self, id: Id) -> Made<u8> {
        let masks = self.in_masks(id);
        if let Some(r) = self.place[id as usize].reg {
            *(if masks { &mut self.held_masks } else { &mut self.held }) |= 1 << r;
            return Ok(r);
        }
        let d = self.define(id)?;
        self.fetch(id, d)?;
        Ok(d)
    }

    /// Loads a value that is in no register.
    pub fn fetch(&mut self, id: Id, d: u8) -> Made<()> {
        let masks = self.in_masks(id);
        match self.node(id) {
            Node::Truth(t) => self.m.truth(d, t)?,
            Node::Lanes(bits) => self.m.lanes(d, bits)?,
            Node::Splat(0) | Node::Splat64(0) => self.m.zero(d)?,
            _ if self.place[id as usize].slot.is_some() && masks => {
                let slot = self.slot(id);
                self.m.load_mask(d, row(slot))?;
            }
            Node::Mask(r) if self.place[id as usize].slot.is_none() => self.read_mask(d, Some(r))?,
            Node::Exec if self.full => self.m.truth(d, true)?,
            Node::Exec if self.place[id as usize].slot.is_none() => self.read_mask(d, None)?,
            _ => {
                let m = self.home(id).ok_or(TooMuch)?;
                self.load_home(id, d, m)?;
            }
        }
        Ok(())
    }
    /// A register for the value, whose register it is from here on.
    pub fn define(&mut self, id: Id) -> Made<u8> {
        if let Some(&r) = self.hints.get(&id)
            && self.may_take(r)
        {
            self.held |= 1 << r;
            self.take(r, id);
            return Ok(r);
        }
        let d = if self.in_masks(id) { self.mask()? } else { self.vector()? };
        let file = if self.in_masks(id) { &mut self.masks } else { &mut self.vectors };
        file[d as usize] = Some(id);
        self.place[id as usize].reg = Some(d);
        Ok(d)
    }

    /// What the reserved register has is read no more: it may have the value that is stored there in the end.
    pub fn may_take(&self, r: u8) -> bool {
        self.vectors[r as usize]
            .is_none_or(|old| self.next_use(old) == NEVER && !self.hints.contains_key(&old))
    }
    /// Register `r` is the value's from here on.
    pub fn take(&mut self, r: u8, id: Id) {
        if let Some(old) = self.vectors[r as usize].replace(id) {
            self.place[old as usize].reg = None;
        }
        self.place[id as usize].reg = Some(r);
        self.place[id as usize].pinned |= self.reserved >> r & 1 != 0;
    }

    /// Register `r`, which `old` has for the last time, is `new`'s.
    pub fn rename(&mut self, old: Id, new: Id, r: u8) {
        self.place[old as usize].reg = None;
        self.vectors[r as usize] = None;
        self.take(r, new);
    }

    pub fn vector(&mut self) -> Made<u8> {
        let r = self.free(&self.vectors, self.held | self.reserved, 0)?;
        self.held |= 1 << r;
        self.evict(r, false)?;
        Ok(r)
    }
    pub fn mask(&mut self) -> Made<u8> {
        // The first cannot say which lanes an instruction is for.
        let r = self.free(&self.masks, self.held_masks | self.reserved_masks, 1)?;
        self.held_masks |= 1 << r;
        self.evict(r, true)?;
        Ok(r)
    }

    /// A register that nobody has, or else that of the value which is needed last.
    pub fn free(&self, file: &[Option<Id>], held: u32, from: usize) -> Made<u8> {
        let mut best = None;
        for (r, id) in file.iter().enumerate().skip(from) {
            if held >> r & 1 != 0 {
                continue;
            }
            let Some(id) = id else { return Ok(r as u8) };
            if self.place[*id as usize].pinned {
                continue;
            }
            let next = self.next_use(*id);
            if best.is_none_or(|(n, _)| next > n) {
                best = Some((next, r as u8));
            }
        }
        best.map(|b| b.1).ok_or(TooMuch)
    }

    /// What is in the register goes to the stack, if it is needed again and nowhere else.
    pub fn evict(&mut self, r: u8, masks: bool) -> Made<()> {
        let file = if masks { &mut self.masks } else { &mut self.vectors };
        let Some(id) = file[r as usize].take() else { return Ok(()) };
        self.place[id as usize].reg = None;
        if self.next_use(id) == NEVER {
            return Ok(());
        }
        let given = match self.node(id) {
            Node::Splat(_) | Node::Splat64(_) | Node::Truth(_) | Node::Exec => true,
            Node::Line(_) | Node::Lanes(_) => true,
            Node::Word(_) | Node::Part(..) | Node::Mask(_) => !self.place[id as usize].gone,
            _ => false,
        };
        let p = &self.place[id as usize];
        if !given && p.slot.is_none() && p.at.is_none() {
            let slot = self.slot(id);
            self.save(id, r, slot)?;
        }
        Ok(())
    }
}

//! Where values are: registers, rows of the stack frame, what the wave's registers still hold.

use super::super::assembler::{Made, Source, TooMuch, VectorWidth};
use super::{EXEC, Emit, NEVER, OFFSETS, REGS, WARPS};
use crate::recording::{Bin, Id, Node};
use iced_x86::{Code, MemoryOperand, Register};
use shader::bytecode::{Reg, UNIT_BYTES};

/// A row of the stack frame.
pub fn row(i: u32) -> MemoryOperand {
    MemoryOperand::with_base_displ(Register::RSP, (i * 64).into())
}

impl Emit<'_> {
    /// Where a word register of the wave lies, for this warp.
    pub fn register(&self, r: Reg) -> MemoryOperand {
        let at = (r.unit() * UNIT_BYTES) as i64;
        if r.is_uniform() || !self.inside {
            return MemoryOperand::with_base_displ(REGS, at);
        }
        if let Some(n) = self.sides_of_warp {
            let at = at + (64 * (self.k / n) + 32 * (self.k % n)) as i64;
            return MemoryOperand::with_base_index_scale_displ_size(REGS, OFFSETS[0], 1, at, 1);
        }
        MemoryOperand::with_base_index_scale_displ_size(REGS, OFFSETS[self.k], 1, at, 1)
    }
    /// Where a part of a register of 64-bit lanes lies: of as many lanes as a vector has words, the first half and the last.
    pub fn register_part(&self, r: Reg, part: u8) -> MemoryOperand {
        let bytes = if self.m.width == VectorWidth::Whole { 64 } else { 32 };
        let at = (r.unit() * UNIT_BYTES) as i64 + bytes * part as i64;
        if r.is_uniform() || !self.inside {
            return MemoryOperand::with_base_displ(REGS, at);
        }
        // Twice as far as words.
        if let Some(n) = self.sides_of_warp {
            let at = at + (128 * (self.k / n) + 64 * (self.k % n)) as i64;
            return MemoryOperand::with_base_index_scale_displ_size(REGS, OFFSETS[0], 2, at, 1);
        }
        MemoryOperand::with_base_index_scale_displ_size(REGS, OFFSETS[self.k], 2, at, 1)
    }
    /// Where this warp's bits of a mask lie.
    pub fn mask_at(&self, base: Register, at: i64) -> MemoryOperand {
        let scale = if self.m.width == VectorWidth::Whole { 2 } else { 1 };
        if let Some(n) = self.sides_of_warp {
            let at = at + (2 * (self.k / n) + self.k % n) as i64;
            return MemoryOperand::with_base_index_scale_displ_size(base, WARPS[0], scale, at, 1);
        }
        MemoryOperand::with_base_index_scale_displ_size(base, WARPS[self.k], scale, at, 1)
    }

    /// Where a vector may be read from memory.
    pub fn home(&mut self, id: Id) -> Option<MemoryOperand> {
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
            Node::Line(table) => Some(self.m.in_pool(&table.0)),
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
            return self.m.mr(Code::VEX_Kmovw_m16_kr, row(slot), Register::K0 + s as u32);
        }
        self.m.store(row(slot), s)
    }

    /// What an instruction may have as its last operand: a register, or memory for what is not read again soon.
    pub fn source(&mut self, at: u32, id: Id) -> Made<Source> {
        // The warp beside this one wants it next: then it is loaded once for all.
        let soon = self.uses[id as usize]
            .iter()
            .rev()
            .any(|u| *u > at && *u / self.side as u32 == at / self.side as u32);
        if self.place[id as usize].reg.is_none()
            && (self.dies(at, id) || self.is_common(id) && !soon)
            && let Some(m) = self.home(id)
        {
            return Ok(Source::Mem(m));
        }
        self.in_register(id).map(Source::Reg)
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
            Node::Lanes(bits) => {
                let m = MemoryOperand { is_broadcast: false, ..self.m.constant(bits.into()) };
                self.m.rm(Code::VEX_Kmovw_kr_km16, Register::K0 + d as u32, m)?;
            }
            Node::Splat(0) | Node::Splat64(0) => self.m.zero(d)?,
            _ if self.place[id as usize].slot.is_some() && masks => {
                let slot = self.slot(id);
                self.m.rm(Code::VEX_Kmovw_kr_km16, Register::K0 + d as u32, row(slot))?;
            }
            Node::Mask(r) if self.place[id as usize].slot.is_none() => {
                let m = self.mask_at(REGS, (r.unit() * UNIT_BYTES) as i64);
                self.load_mask(d, m)?;
            }
            Node::Exec if self.full => self.m.truth(d, true)?,
            Node::Exec if self.place[id as usize].slot.is_none() => {
                let m = self.mask_at(EXEC, 0);
                self.load_mask(d, m)?;
            }
            _ => {
                let m = self.home(id).ok_or(TooMuch)?;
                self.load_home(id, d, m)?;
            }
        }
        Ok(())
    }
    /// Loads a value from its home.
    pub fn load_home(&mut self, id: Id, d: u8, home: MemoryOperand) -> Made<()> {
        let wide = matches!(self.node(id), Node::Splat64(_)) && home.is_broadcast;
        if wide { self.m.load64(d, home) } else { self.m.load(d, home) }
    }

    pub fn load_mask(&mut self, d: u8, m: MemoryOperand) -> Made<()> {
        if self.m.width == VectorWidth::Whole {
            return self.m.rm(Code::VEX_Kmovw_kr_km16, Register::K0 + d as u32, m);
        }
        let v = self.m.vector(d);
        self.m.rm(Code::VEX_Vpbroadcastb_ymm_xmmm8, v, m)?;
        let bits = self.m.bits();
        self.m.bin(Bin::And, d, d, Source::Mem(bits))?;
        self.m.compare(Bin::IEq, d, d, Source::Mem(bits))
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

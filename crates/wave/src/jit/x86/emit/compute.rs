//! Nodes and stores as instructions.

use super::super::assembler::{Made, Source, TooMuch, VectorWidth};
use super::{Emit, NEVER, REGS, row};
use crate::recording::{Bin, Id, Node, Tri, Un};
use iced_x86::{Code, MemoryOperand, Register};
use shader::bytecode::{Reg, UNIT_BYTES};

impl Emit<'_> {
    pub fn compute(&mut self, at: u32, id: Id) -> Made<()> {
        match self.node(id) {
            Node::Un(Un::MNot, a) => {
                let a_in = self.in_register(a)?;
                self.used(at, a);
                let d = self.define(id)?;
                self.m.not(d, a_in)
            }
            Node::Un(Un::Look16(table), a) => self.look(at, id, &table.0, a),
            Node::Un(Un::Look(table), a) => self.look(at, id, &table.0, a),
            Node::Un(op @ Un::LPartner(_), a) => {
                let s = self.in_register(a)?;
                self.used(at, a);
                let d = self.define(id)?;
                self.m.un(op, d, Source::Reg(s))
            }
            Node::Un(Un::Ballot, a) => {
                let k = self.in_register(a)?;
                self.used(at, a);
                let bits = row(self.slot(id));
                self.m.mr(Code::VEX_Kmovw_m16_kr, bits, Register::K0 + k as u32)?;
                self.place[id as usize].slot = None;
                let d = self.define(id)?;
                self.m.ballot(d, bits)
            }
            Node::Un(op @ (Un::SToD(_) | Un::UToD(_) | Un::FToD(_) | Un::Zext(_) | Un::MPart(_)), a) => {
                let s = self.in_register(a)?;
                self.used(at, a);
                let d = self.define(id)?;
                self.m.part_of(op, d, s)
            }
            Node::Un(op, a) => {
                let s = self.source(at, a)?;
                self.used(at, a);
                let d = self.define(id)?;
                self.m.un(op, d, s)
            }
            Node::Bin(op @ (Bin::Lo | Bin::Hi), a, b) => {
                let (ra, rb) = (self.in_register(a)?, self.in_register(b)?);
                // Its own, for which words they are is there first.
                let d = self.define(id)?;
                self.used(at, a);
                self.used(at, b);
                self.m.words_of(op, d, ra, rb)
            }
            Node::Bin(Bin::First, a, b) => {
                let (k, r) = (self.in_register(a)?, self.in_register(b)?);
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                self.m.first(d, k, r)
            }
            Node::Tri(op @ (Tri::Bits | Tri::LBits), a, b, c) => {
                let (from, rb) = (self.in_register(a)?, self.in_register(b)?);
                let s = self.source(at, c)?;
                let d = if self.dies(at, a) && a != b {
                    self.rename(a, id, from);
                    from
                } else {
                    let d = self.vector()?;
                    self.m.copy(d, from)?;
                    self.take(d, id);
                    d
                };
                [a, b, c].into_iter().for_each(|x| self.used(at, x));
                self.m.bits_of(op, d, rb, s)
            }
            Node::Tri(Tri::LShuffle, idx, a, b) => {
                let from = self.in_register(idx)?;
                let (ra, rb) = (self.in_register(a)?, self.in_register(b)?);
                let d = self.vector()?;
                self.m.copy(d, from)?;
                self.take(d, id);
                [idx, a, b].into_iter().for_each(|x| self.used(at, x));
                self.m.shuffle64(d, ra, rb)
            }
            Node::Bin(op @ Bin::LAfter(_), a, b) => {
                let (ra, rb) = (self.in_register(a)?, self.in_register(b)?);
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                self.m.bin(op, d, ra, Source::Reg(rb))
            }
            Node::Bin(Bin::Join, a, b) => {
                let (ra, rb) = (self.in_register(a)?, self.in_register(b)?);
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                self.m.join(d, ra, rb)
            }
            Node::Bin(op @ (Bin::LShl | Bin::LShr | Bin::LSar), a, b)
                if matches!(self.node(b), Node::Splat64(..64)) =>
            {
                let Node::Splat64(n) = self.node(b) else { return Err(TooMuch) };
                let ra = self.in_register(a)?;
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                self.m.shift(op, d, ra, n as u32)
            }
            Node::Bin(op @ (Bin::MAnd | Bin::MOr | Bin::MXor | Bin::MJoin), a, b) => {
                let (ra, rb) = (self.in_register(a)?, self.in_register(b)?);
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                self.m.masks(op, d, ra, rb)
            }
            Node::Bin(op @ (Bin::Shl | Bin::Shr | Bin::Sar), a, b) if matches!(self.node(b), Node::Splat(n) if n < 32) =>
            {
                let Node::Splat(n) = self.node(b) else { return Err(TooMuch) };
                let ra = self.in_register(a)?;
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                self.m.shift(op, d, ra, n)
            }
            Node::Bin(op, mut a, mut b) => {
                if op.commutes()
                    && self.place[a as usize].reg.is_none()
                    && self.place[b as usize].reg.is_some()
                {
                    (a, b) = (b, a);
                }
                let ra = self.in_register(a)?;
                let s = self.source(at, b)?;
                self.used(at, a);
                self.used(at, b);
                let d = self.define(id)?;
                if op.is_mask() { self.m.compare(op, d, ra, s) } else { self.m.bin(op, d, ra, s) }
            }
            Node::Tri(op @ (Tri::Sel | Tri::LSel), mask, a, b) => {
                let m = self.in_register(mask)?;
                let rb = self.in_register(b)?;
                let s = self.source(at, a)?;
                [mask, a, b].into_iter().for_each(|x| self.used(at, x));
                let d = self.define(id)?;
                self.m.select_of(op, d, m, s, rb)
            }
            Node::Tri(Tri::Fix, a, table, c) => {
                let ra = self.in_register(a)?;
                let s = self.source(at, table)?;
                let from = self.in_register(c)?;
                let d = if self.dies(at, c) && c != a {
                    self.rename(c, id, from);
                    from
                } else {
                    let d = self.vector()?;
                    self.m.copy(d, from)?;
                    self.take(d, id);
                    d
                };
                [a, table, c].into_iter().for_each(|x| self.used(at, x));
                self.m.fix(d, ra, s)
            }
            Node::Tri(op, a, b, c) => self.fma(at, id, op, [a, b, c]),
            _ => Err(TooMuch),
        }
    }

    /// `table`'s entries of index `a`.
    fn look(&mut self, at: u32, id: Id, table: &'static [u32], a: Id) -> Made<()> {
        let idx = self.in_register(a)?;
        let mut free = [0; 3];
        if self.m.width == VectorWidth::Half {
            for r in &mut free[(table.len() <= 16) as usize..] {
                *r = self.vector()?;
            }
        }
        let d = self.define(id)?;
        self.used(at, a);
        self.m.look(table, d, idx, free)
    }

    fn fma(&mut self, at: u32, id: Id, op: Tri, [mut a, mut b, c]: [Id; 3]) -> Made<()> {
        // The factor that stays in a register of its own comes first.
        if self.place[a as usize].reg.is_none() && self.place[b as usize].reg.is_some() {
            (a, b) = (b, a);
        }
        // Where the result is to be in the end, one of the operands may lie for the last time.
        let ends = |it: &Self, r: u8| {
            [a, b, c].iter().any(|x| it.place[*x as usize].reg == Some(r) && it.ends(at, *x))
        };
        let hint = self.hints.get(&id).copied().filter(|r| self.may_take(*r) || ends(self, *r));
        let free = |it: &Self, x: Id| match it.place[x as usize].reg {
            Some(r) if hint.is_some() => hint == Some(r) && it.ends(at, x),
            Some(_) => it.dies(at, x),
            None => false,
        };
        if (!free(self, c) || c == a || c == b) && (free(self, a) || free(self, b)) && a != b {
            // d = a · d + c
            let (d_id, other) = if free(self, a) { (a, b) } else { (b, a) };
            let d = self.in_register(d_id)?;
            let o = self.in_register(other)?;
            let s = self.source(at, c)?;
            self.rename(d_id, id, d);
            [a, b, c].into_iter().for_each(|x| self.used(at, x));
            return self.m.fma213(op, d, o, s);
        }
        let ra = self.in_register(a)?;
        if free(self, c) && c != a && c != b {
            let d = self.in_register(c)?;
            let s = self.source(at, b)?;
            self.rename(c, id, d);
            [a, b, c].into_iter().for_each(|x| self.used(at, x));
            return self.m.fma231(op, d, ra, s);
        }
        // A copy of the addend, which may come from memory.
        let s = self.source(at, b)?;
        let from = self.place[c as usize].reg;
        let home = self.home(c);
        let taken = |it: &Self, r: u8| [a, b].iter().any(|x| it.place[*x as usize].reg == Some(r));
        let d = match hint {
            Some(r) if !taken(self, r) && self.may_take(r) => r,
            _ => self.vector()?,
        };
        match (from, home) {
            (Some(r), _) => self.m.copy(d, r)?,
            (None, Some(m)) => self.load_home(c, d, m)?,
            (None, None) => match self.node(c) {
                Node::Splat(0) => self.m.zero(d)?,
                _ => return Err(TooMuch),
            },
        }
        [a, b, c].into_iter().for_each(|x| self.used(at, x));
        self.take(d, id);
        self.m.fma231(op, d, ra, s)
    }

    /// Register `r`, which `old` has for the last time, is `new`'s.
    fn rename(&mut self, old: Id, new: Id, r: u8) {
        self.place[old as usize].reg = None;
        self.vectors[r as usize] = None;
        self.take(r, new);
    }

    pub fn store(&mut self, at: u32, r: Reg, id: Id, some: bool) -> Made<()> {
        let mask = self.node(id).is_mask();
        if self.place[id as usize].at == Some(r) && !mask {
            // It is there.
            self.used(at, id);
            if some {
                let exec = self.value(*self.given.get(&Node::Exec).ok_or(TooMuch)?);
                self.used(at, exec);
            }
            return Ok(());
        }
        self.leave_home(r, id)?;
        // Who reads later what the register holds now has it elsewhere by then.
        if self.inside {
            let old = if mask { Node::Mask(Reg::varying(r.unit() as u16)) } else { Node::Word(r) };
            if let Some(&old) = self.given.get(&old)
                && let old = self.value(old)
                && old != id
                && self.next_use(old) != NEVER
            {
                self.in_register(old)?;
                self.place[old as usize].gone = true;
            }
        }
        let s = self.in_register(id)?;
        let unit = (r.unit() * UNIT_BYTES) as i64;
        if some {
            let exec = self.value(*self.given.get(&Node::Exec).ok_or(TooMuch)?);
            let k = self.in_register(exec)?;
            let to = self.register(r);
            if self.m.width == VectorWidth::Whole {
                self.m.store_some(to, k, s)?;
            } else {
                let d = self.vector()?;
                self.m.load(d, to)?;
                self.m.select(d, k, Source::Reg(s), d)?;
                self.m.store(to, d)?;
            }
            self.used(at, exec);
        } else if !mask {
            let to = self.register(r);
            self.m.store(to, s)?;
            if (!self.inside || r.is_uniform()) && self.m.width == VectorWidth::Half {
                // A uniform register has its value sixteen times.
                let rest = MemoryOperand { displacement: to.displacement + 32, ..to };
                self.m.store(rest, s)?;
            }
        } else if !self.inside {
            // All sixteen masks of a uniform Bool.
            let to = MemoryOperand::with_base_displ(REGS, unit);
            if self.m.width == VectorWidth::Whole {
                let free = self.vector()?;
                let y = Register::YMM0 + free as u32;
                self.m.rr(Code::EVEX_Vpmovm2w_ymm_kr, y, Register::K0 + s as u32)?;
                self.m.mr(Code::EVEX_Vmovdqu32_ymmm256_k1z_ymm, to, y)?;
            } else {
                self.m.mr(Code::VEX_Vmovdqu_ymmm256_ymm, to, self.m.vector(s))?;
            }
        } else {
            let to = self.mask_at(REGS, unit);
            self.save_mask(to, s)?;
        }
        self.used(at, id);
        Ok(())
    }

    /// A register of 64-bit lanes gets its parts.
    pub fn store_parts(&mut self, at: u32, r: Reg, ids: [Id; 2]) -> Made<()> {
        if self.inside {
            // Both, before either of them is written.
            for part in 0..2 {
                if let Some(&old) = self.given.get(&Node::Part(r, part))
                    && let old = self.value(old)
                    && ids[part as usize] != old
                    && self.next_use(old) != NEVER
                {
                    self.in_register(old)?;
                    self.place[old as usize].gone = true;
                }
            }
        }
        for (part, id) in ids.into_iter().enumerate() {
            let s = self.in_register(id)?;
            let to = self.register_part(r, part as u8);
            self.m.store(to, s)?;
            if (!self.inside || r.is_uniform()) && self.m.width == VectorWidth::Half {
                // A uniform register has its value sixteen times.
                let rest = MemoryOperand { displacement: to.displacement + 64, ..to };
                self.m.store(rest, s)?;
            }
        }
        ids.into_iter().for_each(|id| self.used(at, id));
        Ok(())
    }

    pub fn save_mask(&mut self, to: MemoryOperand, s: u8) -> Made<()> {
        if self.m.width == VectorWidth::Whole {
            return self.m.mr(Code::VEX_Kmovw_m16_kr, to, Register::K0 + s as u32);
        }
        let v = self.m.vector(s);
        self.m.rr(Code::VEX_Vmovmskps_r32_ymm, Register::ECX, v)?;
        self.m.mr(Code::Mov_rm8_r8, to, Register::CL)
    }
}

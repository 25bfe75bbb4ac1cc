//! Nodes as instructions.

use super::assembler::{Made, Source, TooMuch, VectorWidth};
use super::frame::row;
use crate::jit::emit::Emit;
use crate::recording::{Bin, Id, Node, Tri, Un};
use iced_x86::{Code, MemoryOperand, Register};

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
    /// Loads a value from its home.
    pub fn load_home(&mut self, id: Id, d: u8, home: MemoryOperand) -> Made<()> {
        let wide = matches!(self.node(id), Node::Splat64(_)) && home.is_broadcast;
        if wide { self.m.load64(d, home) } else { self.m.load(d, home) }
    }

    /// No item after `at` uses the value.
    pub fn ends(&self, at: u32, id: Id) -> bool {
        self.uses[id as usize].iter().all(|u| *u == at)
    }
}

//! Stores to registers of the wave.

use super::{Emit, Made, NEVER, TooMuch};
use crate::recording::{Id, Node};
use shader::bytecode::Reg;

impl Emit<'_> {
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
        if some {
            let exec = self.value(*self.given.get(&Node::Exec).ok_or(TooMuch)?);
            let lanes = self.in_register(exec)?;
            self.store_some(r, lanes, s)?;
            self.used(at, exec);
        } else if mask {
            self.store_bits(r, s)?;
        } else {
            let to = self.register(r);
            self.m.store(to, s)?;
            if !self.inside || r.is_uniform() {
                self.spread(to, s, 1)?;
            }
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
            if !self.inside || r.is_uniform() {
                self.spread(to, s, 2)?;
            }
        }
        ids.into_iter().for_each(|id| self.used(at, id));
        Ok(())
    }
}

//! A function's frame, and where the registers of the wave are.
//!
//! The function is one of (registers, live warps, lanes that execute, state), by the procedure call standard (AAPCS64). It changes
//! none of the registers x18 to x28, and puts the lower halves of v8 to v15 aside.

use super::assembler::{A, B, Made, Mem, SP, T0, TooMuch};
use super::encode::*;
use crate::jit::emit::Emit;
use shader::bytecode::{Reg, UNIT_BYTES};

/// First byte of the wave's registers, live warps yet to come, lanes that execute, and whose all that is.
pub const REGS: u8 = 0;
pub const LIVE: u8 = 1;
pub const EXEC: u8 = 2;
pub const STATE: u8 = 3;
/// Where the quad's lanes of the first word register are, and those of 64 bits.
pub const WORDS: u8 = 4;
pub const LONGS: u8 = 5;
/// Where the warp's bits of the first Bool register are, and of the lanes that execute.
pub const BITS: u8 = 6;
pub const LANES: u8 = 7;
/// The bits of the quad's lanes among those of the warp.
pub const QUAD: u8 = 8;
/// The counters' rows, and the lanes that the warp began with.
pub const ROWS: u8 = 9;
pub const BEGAN: u8 = 10;
/// The last of a segment's own.
pub const LAST: u8 = BEGAN;

/// The vector that has the bits of the lanes of the quad that is `k`th of those side by side, where code asks for them.
pub fn bits_of(k: usize) -> u8 {
    29 - k as u8
}

/// A row of the stack frame.
pub fn row(i: u32) -> Mem {
    Mem::at(SP, 16 * i as usize)
}

impl Emit<'_> {
    /// The function's begin; where the size of its frame is told later.
    pub fn enter(&mut self) -> Made<usize> {
        let m = &mut self.m;
        [PUSH, SAVE_8, SAVE_10, SAVE_12, SAVE_14].into_iter().try_for_each(|word| m.put(word))?;
        m.d(FROM_SP, 29)?;
        let frame = m.here();
        m.d(MOVZ, A)?;
        m.dnm(SUB_X, A, 29, A)?;
        m.put(ALIGN_SP | u32::from(A) << 5)?;
        Ok(frame)
    }
    /// Its end.
    pub fn leave(&mut self) -> Made<()> {
        let words = [TO_SP | 29 << 5, RESTORE_8, RESTORE_10, RESTORE_12, RESTORE_14, POP, RET];
        words.into_iter().try_for_each(|word| self.m.put(word))
    }

    // ---- where things are ----

    /// Where a word register of the wave lies, for this quad.
    pub fn register(&self, r: Reg) -> Mem {
        let at = r.unit() * UNIT_BYTES;
        if r.is_uniform() || !self.inside { Mem::at(REGS, at) } else { Mem::at(WORDS, at + 16 * self.k) }
    }
    /// Where a part of a register of 64-bit lanes lies: the quad's first two lanes, or its last two.
    pub fn register_part(&self, r: Reg, part: u8) -> Mem {
        let at = r.unit() * UNIT_BYTES + 16 * part as usize;
        if r.is_uniform() || !self.inside { Mem::at(REGS, at) } else { Mem::at(LONGS, at + 32 * self.k) }
    }
    /// Where the warp's bits of a Bool register lie, or those of the lanes that execute.
    fn bits_at(&self, r: Option<Reg>) -> Mem {
        match r {
            Some(r) => Mem::at(BITS, r.unit() * UNIT_BYTES),
            None => Mem::at(LANES, 0),
        }
    }
    /// Loads a value from its home.
    pub fn load_home(&mut self, _: u32, d: u8, home: Mem) -> Made<()> {
        self.m.load(d, home)
    }

    // ---- writes ----

    /// A uniform register, of which so many units are written, has its value sixteen times: `to` has the first ones.
    pub fn spread(&mut self, to: Mem, s: u8, units: u32) -> Made<()> {
        (1..4).try_for_each(|i| self.m.store(to.beyond(16 * units * i), s))
    }
    /// The lanes of a mask have the value of vector s.
    pub fn store_some(&mut self, r: Reg, lanes: u8, s: u8) -> Made<()> {
        let to = self.register(r);
        self.m.load(T0, to)?;
        self.m.dnm(BIT, T0, s, lanes)?;
        self.m.store(to, T0)
    }
    /// A Bool register has a mask: this quad's, or, before the loop, all sixteen warps' of a uniform one.
    pub fn store_bits(&mut self, r: Reg, s: u8) -> Made<()> {
        if !self.inside {
            let to = Mem::at(REGS, r.unit() * UNIT_BYTES);
            self.m.store(to, s)?;
            return self.m.store(to.beyond(16), s);
        }
        if let Some(to) = self.row_of(r)? {
            return self.m.store(to, s);
        }
        let to = self.bits_at(Some(r));
        self.warp_bits(s)?;
        self.m.memory(LDRH_W, 1, B, to)?;
        let word = [BIC_W, BIC_W_4, BIC_W_8, BIC_W_12][self.k];
        self.m.dnm(word, B, B, QUAD)?;
        self.m.dnm(ORR_W, B, B, A)?;
        self.m.memory(STRH_W, 1, B, to)
    }

    // ---- masks ----

    /// Where a Bool register lies as vectors, in a loop.
    fn row_of(&self, r: Reg) -> Made<Option<Mem>> {
        if self.sides_of_warp.is_none() {
            return Ok(None);
        }
        let first = self.bools.get(&r.unit()).ok_or(TooMuch)?;
        Ok(Some(row(first + self.k as u32)))
    }
    /// w{A} = the bits of a mask's lanes among those of the warp.
    pub fn warp_bits(&mut self, mask: u8) -> Made<()> {
        self.m.dnm(AND, T0, mask, bits_of(self.k))?;
        self.m.dn(ADDV, T0, T0)?;
        self.m.dn(TO_WORD, A, T0)
    }
    /// Vector d = the quad's lanes in a Bool register, or those that execute.
    pub fn read_mask(&mut self, d: u8, r: Option<Reg>) -> Made<()> {
        if let Some(r) = r
            && let Some(from) = self.row_of(r)?
        {
            return self.m.load(d, from);
        }
        let from = self.bits_at(r);
        self.m.memory(LDR_H, 1, d, from)?;
        self.m.dn(DUP0, d, d)?;
        self.m.dnm(CMTST, d, d, bits_of(self.k))
    }
}

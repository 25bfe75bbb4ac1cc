//! Words of code, jumps, and constants after them.

use super::encode::*;
pub use crate::jit::emit::{Made, TooMuch};
use rustc_hash::FxHashMap;
use simd::Level;

/// The CPU that code is for: every one of the architecture has the instructions.
#[derive(Clone, Copy, Debug)]
pub struct Target;

impl Target {
    /// None for a level without code.
    pub fn of(level: Level) -> Option<Target> {
        (level != Level::PORTABLE).then_some(Target)
    }
    /// Targets by their names, for listings.
    pub fn all() -> [(&'static str, Target); 1] {
        [("NEON", Target)]
    }
    /// Its level has few operations beyond those that all have.
    pub fn is_narrow(self) -> bool {
        true
    }
    /// Vector registers that values may have: [`T0`] and [`T1`] are the instructions' own.
    pub fn vectors(self) -> usize {
        30
    }
    /// Vectors that a warp takes.
    pub fn sides_of_warp(self) -> usize {
        4
    }
}

/// Vectors between the instructions of one operation.
pub const T0: u8 = 30;
pub const T1: u8 = 31;

/// General registers between instructions; [`FAR`] is for addresses of memory operands alone.
pub const A: u8 = 16;
pub const B: u8 = 17;
pub const FAR: u8 = 15;
/// The stack pointer, as the base of memory operands.
pub const SP: u8 = 31;
/// Zero, as what is stored.
pub const NONE: u8 = 31;

/// What a load or a store is of.
#[derive(Clone, Copy)]
pub enum Mem {
    /// So many bytes after what a register has.
    At { base: u8, offset: u32 },
    /// A constant.
    Pool(u32),
}

impl Mem {
    pub fn at(base: u8, offset: usize) -> Mem {
        Mem::At { base, offset: offset as u32 }
    }
    /// So many bytes later.
    pub fn beyond(self, n: u32) -> Mem {
        match self {
            Mem::At { base, offset } => Mem::At { base, offset: offset + n },
            Mem::Pool(i) => Mem::Pool(i + n / 16),
        }
    }
}

/// Words of a function at most: jumps and constants are within reach.
const MOST_WORDS: usize = 1 << 17;
/// Constants of 16 bytes that code may refer to.
const MOST_CONSTANTS: u32 = 1 << 14;

/// A jump whose target is not known yet: where it is.
#[must_use]
#[derive(Clone, Copy)]
pub struct Jump(usize);

fn four(x: &[u32; 4]) -> u128 {
    (0..4).fold(0, |all, i| all | u128::from(x[i]) << (32 * i))
}

#[derive(Default)]
pub struct Assembler {
    words: Vec<u32>,
    /// Words whose place in words leads to a constant.
    refers: Vec<(usize, u32)>,
    constants: Vec<u128>,
    known: FxHashMap<u128, u32>,
    /// By table: where it begins.
    tables: FxHashMap<&'static [u32], u32>,
}

impl Assembler {
    pub fn new(_: Target) -> Assembler {
        Assembler::default()
    }

    pub fn put(&mut self, word: u32) -> Made<()> {
        if self.words.len() == MOST_WORDS {
            return Err(TooMuch);
        }
        self.words.push(word);
        Ok(())
    }
    /// Of one operand.
    pub fn d(&mut self, word: u32, d: u8) -> Made<()> {
        self.put(word | u32::from(d))
    }
    pub fn dn(&mut self, word: u32, d: u8, n: u8) -> Made<()> {
        self.put(word | u32::from(d) | u32::from(n) << 5)
    }
    pub fn dnm(&mut self, word: u32, d: u8, n: u8, m: u8) -> Made<()> {
        self.put(word | u32::from(d) | u32::from(n) << 5 | u32::from(m) << 16)
    }

    // ---- jumps ----

    pub fn here(&self) -> usize {
        self.words.len()
    }
    /// A jump to where [`Assembler::land`] is called with it: `word` is [`JUMP`], one of its conditional kind, [`CBZ`] or [`CBNZ`].
    pub fn jump(&mut self, word: u32) -> Made<Jump> {
        self.put(word)?;
        Ok(Jump(self.words.len() - 1))
    }
    pub fn land(&mut self, j: Jump) {
        self.lead(j.0, self.words.len());
    }
    pub fn jump_back(&mut self, word: u32, to: usize) -> Made<()> {
        self.put(word)?;
        self.lead(self.words.len() - 1, to);
        Ok(())
    }
    fn lead(&mut self, from: usize, to: usize) {
        let word = &mut self.words[from];
        let n = (to as u32).wrapping_sub(from as u32);
        // (Functions are short enough for both.)
        *word |= if *word == JUMP { n & 0x3FF_FFFF } else { (n & 0x7_FFFF) << 5 };
    }
    /// A jump for a mask without lanes, or with some.
    pub fn jump_if(&mut self, some: bool, mask: u8) -> Made<Jump> {
        self.dn(UMAXV, T0, mask)?;
        self.dn(TO_WORD, A, T0)?;
        self.jump(if some { CBNZ } else { CBZ } | u32::from(A))
    }

    // ---- constants ----

    fn pooled(&mut self, x: u128) -> Mem {
        let constants = &mut self.constants;
        Mem::Pool(*self.known.entry(x).or_insert_with(|| {
            constants.push(x);
            constants.len() as u32 - 1
        }))
    }
    /// Where a constant lies four times.
    pub fn constant(&mut self, x: u32) -> Mem {
        self.pooled(u128::from(x) * (1 | 1 << 32 | 1 << 64 | 1 << 96))
    }
    /// The same of eight bytes, twice.
    pub fn constant64(&mut self, x: u64) -> Mem {
        self.pooled(u128::from(x) * (1 | 1 << 64))
    }
    /// Four words that differ.
    pub fn words(&mut self, x: [u32; 4]) -> Mem {
        self.pooled(four(&x))
    }
    /// A table there.
    pub fn in_pool(&mut self, table: &'static [u32]) -> Mem {
        let constants = &mut self.constants;
        Mem::Pool(*self.tables.entry(table).or_insert_with(|| {
            let at = constants.len() as u32;
            constants.extend(table.as_chunks::<4>().0.iter().map(four));
            at
        }))
    }
    /// Numbers of a warp's lanes there: a vector has not all of them.
    pub fn line(&mut self, _: &'static [u32; 16]) -> Option<Mem> {
        None
    }
    /// x{d} = where a constant lies.
    pub fn address(&mut self, d: u8, m: Mem) -> Made<()> {
        let Mem::Pool(i) = m else { return Err(TooMuch) };
        self.refer(ADR, d, i)
    }
    fn refer(&mut self, word: u32, d: u8, i: u32) -> Made<()> {
        if i > MOST_CONSTANTS {
            return Err(TooMuch);
        }
        self.d(word, d)?;
        self.refers.push((self.words.len() - 1, i));
        Ok(())
    }

    // ---- general registers ----

    /// x{d} = n.
    pub fn number(&mut self, d: u8, n: u64) -> Made<()> {
        self.d(MOVZ | (n as u32 & 0xFFFF) << 5, d)?;
        for i in 1..4 {
            let part = (n >> (16 * i)) as u32 & 0xFFFF;
            if part != 0 {
                self.d(MOVK | i << 21 | part << 5, d)?;
            }
        }
        Ok(())
    }
    /// x{d} = x{n} + so many.
    pub fn add(&mut self, d: u8, n: u8, by: u32) -> Made<()> {
        if by >> 24 != 0 {
            return Err(TooMuch);
        }
        let (low, high) = (by & 0xFFF, by >> 12);
        let mut n = n;
        if high != 0 {
            self.dn(ADD_24 | high << 10, d, n)?;
            n = d;
        }
        if low != 0 || high == 0 { self.dn(ADD_12 | low << 10, d, n) } else { Ok(()) }
    }

    // ---- memory ----

    /// A load or store of `1 << size` bytes.
    pub fn memory(&mut self, word: u32, size: u32, r: u8, m: Mem) -> Made<()> {
        let Mem::At { base, offset } = m else { return Err(TooMuch) };
        if offset & ((1 << size) - 1) != 0 {
            return Err(TooMuch);
        }
        if offset >> size < 1 << 12 {
            return self.dn(word | offset >> size << 10, r, base);
        }
        self.add(FAR, base, offset & !0xFFF)?;
        self.dn(word | (offset & 0xFFF) >> size << 10, r, FAR)
    }
    pub fn load(&mut self, d: u8, m: Mem) -> Made<()> {
        match m {
            Mem::At { .. } => self.memory(LDR_Q, 4, d, m),
            Mem::Pool(i) => self.refer(LDR_Q_HERE, d, i),
        }
    }
    pub fn store(&mut self, m: Mem, s: u8) -> Made<()> {
        self.memory(STR_Q, 4, s, m)
    }
    pub fn copy(&mut self, d: u8, s: u8) -> Made<()> {
        if d == s { Ok(()) } else { self.dnm(ORR, d, s, s) }
    }
    pub fn zero(&mut self, d: u8) -> Made<()> {
        self.d(ZERO, d)
    }

    // ---- masks, which are vectors ----

    /// Masks have registers of their own.
    pub fn has_masks(&self) -> bool {
        false
    }
    pub fn store_mask(&mut self, _: Mem, _: u8) -> Made<()> {
        Err(TooMuch)
    }
    pub fn load_mask(&mut self, _: u8, _: Mem) -> Made<()> {
        Err(TooMuch)
    }
    pub fn copy_mask(&mut self, _: u8, _: u8) -> Made<()> {
        Err(TooMuch)
    }
    /// These lanes of a warp.
    pub fn lanes(&mut self, _: u8, _: u16) -> Made<()> {
        Err(TooMuch)
    }
    pub fn truth(&mut self, d: u8, t: bool) -> Made<()> {
        self.d(if t { ONES } else { ZERO }, d)
    }

    /// Registers for what all warps use often.
    pub fn pins(&self) -> usize {
        8
    }
    /// The frame has so many bytes: `at` is what [`crate::jit::emit::Emit::enter`] gave.
    pub fn set_frame(&mut self, at: usize, bytes: u32) {
        self.words[at] |= bytes << 5;
    }

    /// The code, with the constants after it.
    pub fn finish(mut self) -> Vec<u8> {
        let pool = self.words.len().next_multiple_of(4);
        for (at, i) in self.refers {
            // Of `adr`, which counts bytes, the first two bits are elsewhere, and 0.
            let n = (pool + 4 * i as usize - at) as u32;
            self.words[at] |= (n & 0x7_FFFF) << 5;
        }
        self.words.resize(pool, 0);
        let code = self.words.iter().flat_map(|w| w.to_le_bytes());
        code.chain(self.constants.iter().flat_map(|c| c.to_le_bytes())).collect()
    }
}

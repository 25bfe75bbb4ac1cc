//! Loads of several scalars a lane, or of 16 bits: read by whole vectors where each lane's follow those of the lane before, and scalar
//! by scalar where they do not, or where some of them lie out of bounds.

use super::super::assembler::{A, B, FAR, Made, Mem, SP, T0, T1};
use super::super::call::UNIT;
use super::super::encode::*;
use super::super::frame::row;
use super::CONTEXT;
use super::access::memory;
use crate::jit::cycle::{Cycle, Rare, Stub};
use crate::jit::emit::{NEVER, Source};
use crate::jit::nodes::region::Load;
use crate::kernels::compiled::{Memory, Part, load_parts};
use crate::recording::Id;
use shader::ir::Mem as Scalar;
use std::mem::offset_of;

/// A load of parts, of one side.
#[derive(Clone, Copy)]
pub struct Parts {
    place: u32,
    part: Part,
    imm: u32,
    /// Offsets, and what all lanes add.
    a: u8,
    c: Option<Source>,
    /// Where scalars go.
    d: [u8; 4],
}

impl Cycle<'_> {
    /// The first of an op's scalars at hand reads all of them.
    pub fn load_part(&mut self, at: u32, id: Id, l: &Load, part: Part, [a, c]: [Id; 2]) -> Made<()> {
        let first = id - part.i as Id;
        if self.loaded.contains(&first) {
            self.both_used(at, [a, c]);
            return Ok(());
        }
        self.loaded.push(first);
        // What is put aside for these is put aside on either way.
        let ra = self.e.in_register(a)?;
        let rc = self.operand(c, true)?;
        let mut d = [0; 4];
        for (i, d) in d.iter_mut().enumerate().take(part.n as usize) {
            let id = first + i as Id;
            *d = if self.e.next_use(id) == NEVER { self.e.vector()? } else { self.e.define(id)? };
        }
        let p = Parts { place: l.place, part, imm: l.imm, a: ra, c: rc, d };
        self.scalar([a, c], l.imm)?;
        // Each lane's follow those of the lane before.
        let bytes = part.bytes();
        let steps = self.e.m.words([0, bytes, 2 * bytes, 3 * bytes]);
        let m = &mut self.e.m;
        m.dn(DUP0, T0, ra)?;
        m.load(T1, steps)?;
        m.dnm(ADD, T0, T0, T1)?;
        m.dnm(CMEQ, T0, T0, ra)?;
        m.dn(UMINV, T0, T0)?;
        m.dn(TO_WORD, B, T0)?;
        let apart = m.jump(CBZ | u32::from(B))?;
        // All lie within.
        m.add(B, A, 4 * bytes)?;
        m.memory(LDR_X, 3, FAR, memory(l.place, offset_of!(Memory, size)))?;
        m.dnm(CMP_X, 0, B, FAR)?;
        let beyond = m.jump(JUMP_HI)?;
        m.memory(LDR_X, 3, B, memory(l.place, offset_of!(Memory, ptr)))?;
        m.dnm(ADD_X, B, B, A)?;
        self.read(&p)?;
        self.stubs.push(Stub {
            from: [Some(apart), Some(beyond)],
            back: self.e.m.here(),
            what: Rare::Parts(p),
            held: self.e.taken(),
        });
        self.both_used(at, [a, c]);
        Ok(())
    }

    /// Reads from x{B} on, each lane after the one before.
    fn read(&mut self, p: &Parts) -> Made<()> {
        let ([d0, d1, d2, d3], mem) = (p.d, p.part.mem);
        let from = |i: usize| Mem::at(B, 16 * i);
        let m = &mut self.e.m;
        match (mem == Scalar::B32, p.part.n) {
            (true, 4) => {
                (0..4).try_for_each(|i| m.load(p.d[i], from(i)))?;
                for (word, d, a, b) in [
                    (ZIP1, T0, d0, d1),
                    (ZIP2, d1, d0, d1),
                    (ZIP1, T1, d2, d3),
                    (ZIP2, d3, d2, d3),
                    (ZIP1_LONG, d0, T0, T1),
                    (ZIP1_LONG, d2, d1, d3),
                    (ZIP2_LONG, d3, d1, d3),
                    (ZIP2_LONG, d1, T0, T1),
                ] {
                    m.dnm(word, d, a, b)?;
                }
                Ok(())
            }
            (true, _) => {
                m.load(T0, from(0))?;
                m.load(T1, from(1))?;
                m.dnm(UZP1, d0, T0, T1)?;
                m.dnm(UZP2, d1, T0, T1)
            }
            (false, 4) => {
                m.load(T0, from(0))?;
                m.load(T1, from(1))?;
                // Of each lane the first and the third, and the second and the fourth.
                m.dnm(UZP1_HALF, d0, T0, T1)?;
                m.dnm(UZP2_HALF, d1, T0, T1)?;
                m.dnm(UZP2_HALF, d2, d0, d0)?;
                m.dnm(UZP1_HALF, d0, d0, d0)?;
                m.dnm(UZP2_HALF, d3, d1, d1)?;
                m.dnm(UZP1_HALF, d1, d1, d1)?;
                p.d.into_iter().try_for_each(|d| self.widen(mem, d, d))
            }
            (false, 2) => {
                m.load(T0, from(0))?;
                m.dnm(UZP1_HALF, T1, T0, T0)?;
                m.dnm(UZP2_HALF, T0, T0, T0)?;
                self.widen(mem, d0, T1)?;
                self.widen(mem, d1, T0)
            }
            (false, _) => {
                m.memory(LDR_D, 3, T0, from(0))?;
                self.widen(mem, d0, T0)
            }
        }
    }

    /// Scalars of 16 bits in the first half of a vector, as lanes.
    fn widen(&mut self, mem: Scalar, d: u8, s: u8) -> Made<()> {
        self.e.m.dn(if mem == Scalar::F16 { FCVTL_HALF } else { USHLL_HALF }, d, s)
    }

    /// What lanes do that are not as [`Self::load_part`] has them: the quad's lanes are all that is loaded, four times.
    pub fn parts_apart(&mut self, p: &Parts, held: u32) -> Made<()> {
        self.offsets(Source::Reg(p.a), p.c, p.imm)?;
        let rows = self.call;
        (0..UNIT).try_for_each(|n| self.e.m.store(row(rows + n), T0))?;
        self.keep(held, true)?;
        let m = &mut self.e.m;
        m.dnm(MOV, 0, 0, CONTEXT)?;
        m.number(1, p.part.named(p.place).into())?;
        m.add(2, SP, 16 * rows)?;
        m.number(A, load_parts as *const () as u64)?;
        m.put(BLR | u32::from(A) << 5)?;
        self.keep(held, false)?;
        for (i, d) in p.d.into_iter().enumerate().take(p.part.n as usize) {
            self.e.m.load(d, row(rows + UNIT * (1 + i as u32)))?;
        }
        Ok(())
    }
}

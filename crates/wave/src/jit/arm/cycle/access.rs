//! Loads of words: one for all lanes, four in a row, or each lane's own.
//!
//! An offset within is found as the interpreter finds it: what lies out of bounds is 0.

use super::super::assembler::{A, B, FAR, Made, Mem, T0, T1, TooMuch};
use super::super::encode::*;
use super::{MISSING, context};
use crate::jit::cycle::{Cycle, Rare, Stub};
use crate::jit::emit::Source;
use crate::jit::machine::Jump;
use crate::jit::nodes::body::Body;
use crate::jit::nodes::region::{Counts, Load};
use crate::kernels::compiled::{Context, Memory};
use crate::recording::{Id, Node};
use shader::bytecode::SHAPE_RUN;
use std::mem::offset_of;

/// Words at each lane's own offset.
#[derive(Clone, Copy)]
pub struct Gather {
    place: u32,
    word: u32,
    imm: u32,
    /// Offsets, and what all lanes add: registers, or memory that has them.
    a: Source,
    c: Option<Source>,
    /// Where they go.
    d: u8,
}

/// A member of a place's memory.
pub fn memory(place: u32, member: usize) -> Mem {
    context(offset_of!(Context, memory) + place as usize * size_of::<Memory>() + member)
}

impl Cycle<'_> {
    /// Counts a block's accesses, all at once, but for those that are odd.
    pub fn count_loads(&mut self, body: &Body) -> Made<()> {
        self.loads_of(body).try_for_each(|(at, n)| self.add(at, n))
    }

    /// w{A} is the sum of the first lanes and `imm`.
    pub fn scalar(&mut self, ids: [Id; 2], imm: u32) -> Made<()> {
        let (mut imm, mut first) = (imm, true);
        for id in ids {
            if self.e.slot_of(id).is_none()
                && let Node::Splat(x) = self.e.node(id)
            {
                imm = imm.wrapping_add(x);
                continue;
            }
            self.first_lane(if first { A } else { B }, id)?;
            if !first {
                self.e.m.dnm(ADD_W, A, A, B)?;
            }
            first = false;
        }
        if first {
            return self.e.m.number(A, imm.into());
        }
        match imm {
            0 => Ok(()),
            _ => {
                self.e.m.number(B, imm.into())?;
                self.e.m.dnm(ADD_W, A, A, B)
            }
        }
    }

    /// A jump for if not all `words` from the offset in w{A} on lie within.
    fn unless_within(&mut self, place: u32, words: u32) -> Made<Jump> {
        let end = memory(place, offset_of!(Memory, below) + 4 * (words as usize - 1));
        self.e.m.memory(LDR_W, 2, B, end)?;
        self.e.m.dnm(CMP_W, 0, A, B)?;
        self.e.m.jump(JUMP_HS)
    }

    /// Leads from here to code that is seldom run, and back.
    fn aside(&mut self, from: Jump, what: Rare) {
        let held = self.e.reserved();
        self.stubs.push(Stub { from: [Some(from), None], back: self.e.m.here(), what, held });
    }

    pub fn load(&mut self, at: u32, id: Id, l: &Load, a: Id, c: Id) -> Made<()> {
        let ptr = memory(l.place, offset_of!(Memory, ptr));
        if self.e.is_common(a) {
            self.scalar([a, c], l.imm)?;
            self.both_used(at, [a, c]);
            if let Some(Counts::Bytes(bytes)) = l.counts {
                self.lines(l.place, bytes)?;
            }
            let d = self.e.define(id)?;
            let from = self.unless_within(l.place, l.word + 1)?;
            let m = &mut self.e.m;
            m.memory(LDR_X, 3, B, ptr)?;
            m.dnm(ADD_X, B, B, A)?;
            if l.word != 0 {
                m.add(B, B, 4 * l.word)?;
            }
            m.dn(LD1R, d, B)?;
            self.aside(from, Rare::Zero(d));
            return Ok(());
        }
        let shaped = l.shape != 0;
        let ra = self.operand(a, shaped)?.ok_or(TooMuch)?;
        let rc = self.operand(c, shaped)?;
        let gather = |d: u8| Gather { place: l.place, word: l.word, imm: l.imm, a: ra, c: rc, d };
        if !shaped {
            self.both_used(at, [a, c]);
            let d = self.e.define(id)?;
            return self.each(&gather(d));
        }
        let d = self.e.define(id)?;
        // All lanes of the warp execute, and what they ask for lies within.
        let some = self.e.m.jump(CBNZ | u32::from(MISSING))?;
        self.scalar([a, c], l.imm)?;
        let run = l.shape & SHAPE_RUN != 0;
        if run && l.counts == Some(Counts::Shape) && self.e.this_side() == 0 {
            // A run that begins within a line is counted.
            self.in_line(l.place)?;
            let from = self.e.m.jump(CBNZ | u32::from(B))?;
            self.aside(from, Rare::Odd);
        }
        let out = self.unless_within(l.place, if run { 4 } else { 1 })?;
        let m = &mut self.e.m;
        m.memory(LDR_X, 3, B, ptr)?;
        if run {
            m.dnm(LDR_Q_X, d, B, A)?;
        } else {
            m.dnm(ADD_X, B, B, A)?;
            m.dn(LD1R, d, B)?;
        }
        self.aside(some, Rare::Gather(gather(d)));
        self.aside(out, Rare::Gather(gather(d)));
        self.both_used(at, [a, c]);
        Ok(())
    }

    pub fn both_used(&mut self, at: u32, ids: [Id; 2]) {
        ids.into_iter().for_each(|id| self.e.used(at, id));
    }

    /// w{B} is where in its line the offset in w{A} lies.
    fn in_line(&mut self, place: u32) -> Made<()> {
        let m = &mut self.e.m;
        m.memory(LDR_W, 2, B, memory(place, offset_of!(Memory, lead)))?;
        m.dnm(ADD_W, B, B, A)?;
        m.dn(IN_LINE, B, B)
    }

    /// `bytes` at the offset in w{A}, 64 at most, have a line, or two: the second is counted.
    fn lines(&mut self, place: u32, bytes: u32) -> Made<()> {
        self.in_line(place)?;
        self.e.m.number(FAR, u64::from(64 - bytes))?;
        self.e.m.dnm(CMP_W, 0, B, FAR)?;
        let from = self.e.m.jump(JUMP_HI)?;
        self.aside(from, Rare::Line(Some(1)));
        Ok(())
    }

    /// An offset or what is added to it, as a gather has it; where that is seldom run, it may lie in memory.
    pub fn operand(&mut self, id: Id, seldom: bool) -> Made<Option<Source>> {
        if matches!(self.e.node(id), Node::Splat(0)) {
            return Ok(None);
        }
        if seldom
            && self.e.register_of(id).is_none()
            && let Some(m) = self.e.home(id)
        {
            return Ok(Some(Source::Mem(m)));
        }
        Ok(Some(Source::Reg(self.e.in_register(id)?)))
    }

    /// The first temporary is each lane's offset: what all lanes add, and `imm`.
    pub fn offsets(&mut self, a: Source, c: Option<Source>, imm: u32) -> Made<()> {
        let a = match a {
            Source::Reg(a) => a,
            Source::Mem(a) => {
                self.e.m.load(T0, a)?;
                T0
            }
        };
        let mut from = a;
        if imm != 0 {
            let imm = self.e.m.constant(imm);
            self.e.m.load(T1, imm)?;
            self.e.m.dnm(ADD, T0, from, T1)?;
            from = T0;
        }
        match c {
            Some(Source::Reg(c)) => self.e.m.dnm(ADD, T0, from, c),
            Some(Source::Mem(c)) => {
                self.e.m.load(T1, c)?;
                self.e.m.dnm(ADD, T0, from, T1)
            }
            None => self.e.m.copy(T0, from),
        }
    }

    /// w{FAR} is what offsets lie below.
    fn below(&mut self, g: &Gather) -> Made<()> {
        self.e.m.memory(LDR_W, 2, FAR, memory(g.place, offset_of!(Memory, below) + 4 * g.word as usize))
    }

    /// Each lane's word, where all of them lie within.
    fn each(&mut self, g: &Gather) -> Made<()> {
        self.offsets(g.a, g.c, g.imm)?;
        self.below(g)?;
        let m = &mut self.e.m;
        m.dn(DUP_W, T1, FAR)?;
        m.dnm(CMHI, T1, T1, T0)?;
        m.dn(UMINV, T1, T1)?;
        m.dn(TO_WORD, A, T1)?;
        let from = m.jump(CBZ | u32::from(A))?;
        self.base(g)?;
        for lane in 0..4 {
            let m = &mut self.e.m;
            m.dn(LANE[lane], A, T0)?;
            m.dnm(ADD_X, A, B, A)?;
            m.dn(TO_LANE[lane], g.d, A)?;
        }
        self.aside(from, Rare::Outside(*g));
        Ok(())
    }

    /// x{B} is where offsets begin.
    fn base(&mut self, g: &Gather) -> Made<()> {
        let m = &mut self.e.m;
        m.memory(LDR_X, 3, B, memory(g.place, offset_of!(Memory, ptr)))?;
        if g.word != 0 { m.add(B, B, 4 * g.word) } else { Ok(()) }
    }

    /// What is left of [`Self::each`] where a lane's word does not lie within: the first temporary has the offsets.
    pub fn outside(&mut self, g: &Gather) -> Made<()> {
        self.below(g)?;
        self.base(g)?;
        self.e.m.zero(g.d)?;
        for lane in 0..4 {
            let m = &mut self.e.m;
            m.dn(LANE[lane], A, T0)?;
            m.dnm(CMP_W, 0, A, FAR)?;
            let over = m.jump(JUMP_HS)?;
            m.dnm(ADD_X, A, B, A)?;
            m.dn(TO_LANE[lane], g.d, A)?;
            m.land(over);
        }
        Ok(())
    }

    /// Each lane's word, wherever it lies.
    pub fn gather(&mut self, g: &Gather) -> Made<()> {
        self.offsets(g.a, g.c, g.imm)?;
        self.outside(g)
    }
}

/// A lane's word in a general register, and a vector's lane from memory.
const LANE: [u32; 4] = [TO_WORD, LANE_1, LANE_2, LANE_3];
const TO_LANE: [u32; 4] = [LD1_0, LD1_1, LD1_2, LD1_3];

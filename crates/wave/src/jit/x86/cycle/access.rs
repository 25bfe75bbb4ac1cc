//! Loads of words: one for all lanes, sixteen in a row, or each lane's own.
//!
//! An offset within is found as the interpreter finds it: what lies out of bounds is 0.

use super::super::assembler::{Jump, Made, Source, TooMuch, VectorWidth};
use super::super::frame::low;
use super::counters::SPARE;
use super::{A, A32, B, B32, context};
use crate::jit::cycle::{Cycle, Rare, Stub};
use crate::jit::nodes::body::Body;
use crate::jit::nodes::region::{Counts, Load};
use crate::kernels::compiled::{Context, Memory};
use crate::recording::{Bin, Id, Node};
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use shader::bytecode::{SHAPE_RUN, SHAPE_SAME};
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
    /// Where they go, and what is free for it: two vectors with AVX2, a vector and a mask else.
    d: u8,
    index: u8,
    inside: u8,
    /// For loads of their own: vectors for offsets of lanes other than the first, and their words.
    spare: Option<[u8; 2]>,
}

/// A member of a place's memory.
pub fn memory(place: u32, member: usize) -> MemoryOperand {
    context(offset_of!(Context, memory) + place as usize * size_of::<Memory>() + member)
}

impl Cycle<'_> {
    /// Counts a block's accesses, all at once, but for those that are odd.
    pub fn count_loads(&mut self, body: &Body) -> Made<()> {
        self.loads_of(body).try_for_each(|(at, n)| self.add(at, n))
    }

    /// ecx is the sum of the first lanes and `imm`; `again`: for each of the warps side by side.
    pub fn scalar(&mut self, ids: [Id; 2], imm: u32, again: bool) -> Made<()> {
        let mut imm = imm;
        let mut first = true;
        for id in ids {
            if self.e.slot_of(id).is_none()
                && let Node::Splat(x) = self.e.node(id)
            {
                imm = imm.wrapping_add(x);
                continue;
            }
            match self.e.register_of(id) {
                Some(r) => match (if again { self.kept(id, r)? } else { None }, first) {
                    (Some(kept), true) => self.e.m.rr(Code::Mov_r32_rm32, A32, kept)?,
                    (Some(kept), false) => self.e.m.rr(Code::Add_r32_rm32, A32, kept)?,
                    (None, true) => self.e.m.first_lane(A32, r)?,
                    (None, false) => {
                        self.e.m.first_lane(B32, r)?;
                        self.e.m.rr(Code::Add_r32_rm32, A32, B32)?;
                    }
                },
                None => {
                    let from = self.e.home(id).ok_or(TooMuch)?;
                    let from = MemoryOperand { is_broadcast: false, ..from };
                    let code = if first { Code::Mov_r32_rm32 } else { Code::Add_r32_rm32 };
                    self.e.m.rm(code, A32, from)?;
                }
            }
            first = false;
        }
        if first {
            return self.e.m.ri(Code::Mov_rm32_imm32, A32, imm as i32);
        }
        if imm != 0 { self.e.m.ri(Code::Add_rm32_imm32, A32, imm as i32) } else { Ok(()) }
    }

    /// A jump for if not all `words` from the offset in ecx on lie within.
    fn unless_within(&mut self, place: u32, words: u32) -> Made<Jump> {
        let end = memory(place, offset_of!(Memory, below) + 4 * (words as usize - 1));
        self.e.m.rm(Code::Cmp_r32_rm32, A32, end)?;
        self.e.m.jump(Code::Jae_rel32_64)
    }

    /// A general register with the first lane of what all sides have in common, while the block goes on: if there is one.
    fn kept(&mut self, id: Id, from: u8) -> Made<Option<Register>> {
        if self.warps_beside() == 1 || !self.e.is_common(id) {
            return Ok(None);
        }
        if let Some(kept) = self.scalars.iter().find(|s| s.0 == id) {
            return Ok(Some(kept.1));
        }
        let free = self.free_registers().get(self.scalars.len()).map(|r| low(*r));
        if let Some(to) = free {
            self.e.m.first_lane(to, from)?;
            self.scalars.push((id, to));
        }
        Ok(free)
    }

    /// Leads from here to code that is seldom run, and back.
    fn aside(&mut self, from: Jump, what: Rare) {
        let held = self.e.reserved();
        self.stubs.push(Stub { from: [Some(from), None], back: self.e.m.here(), what, held });
    }

    pub fn load(&mut self, at: u32, id: Id, l: &Load, a: Id, c: Id) -> Made<()> {
        let same = self.e.is_common(a);
        let shape = if same { SHAPE_SAME } else { l.shape };
        if same {
            self.scalar([a, c], l.imm, false)?;
            self.used(at, [a, c]);
            if let Some(Counts::Bytes(bytes)) = l.counts {
                self.lines(l.place, bytes)?;
            }
            let d = self.e.define(id)?;
            let from = self.unless_within(l.place, l.word + 1)?;
            self.e.m.rm(Code::Mov_r64_rm64, B, memory(l.place, offset_of!(Memory, ptr)))?;
            let v = self.e.m.vector(d);
            self.broadcast(v, 4 * l.word)?;
            self.aside(from, Rare::Zero(d));
            return Ok(());
        }
        let shaped = shape != 0;
        let operands = (self.operand(a, shaped)?, self.operand(c, shaped)?);
        let operands = (operands.0.ok_or(TooMuch)?, operands.1);
        let index = self.e.vector()?;
        let inside = if self.halves() { self.e.vector()? } else { self.e.mask()? };
        let mut spare = None;
        if !shaped {
            if self.e.m.own_loads {
                // Of two halves, the second's offsets leave their place to its words.
                let halves = self.halves();
                spare = Some(if halves { [inside, index] } else { [self.e.vector()?, self.e.vector()?] });
            }
            // It may not lie where an operand does: they are read first, but by its way out of the ordinary not.
            self.used(at, [a, c]);
        }
        let d = self.e.define(id)?;
        let g = Gather {
            place: l.place,
            word: l.word,
            imm: l.imm,
            a: operands.0,
            c: operands.1,
            d,
            index,
            inside,
            spare,
        };
        if !shaped {
            return self.each(&g);
        }
        // All lanes of the warp execute, and what they ask for lies within.
        let some = self.unless_all_lanes()?;
        self.scalar([a, c], l.imm, true)?;
        let counts = l.counts == Some(Counts::Shape) && self.e.this_side().is_multiple_of(self.of_warp());
        if shape & SHAPE_RUN != 0 && counts {
            self.odd_run(l.place)?;
        }
        let words = match (shape & SHAPE_RUN != 0, self.halves()) {
            (true, true) => 8,
            (true, false) => 16,
            _ => 1,
        };
        let out = self.unless_within(l.place, words)?;
        self.e.m.rm(Code::Mov_r64_rm64, B, memory(l.place, offset_of!(Memory, ptr)))?;
        let v = self.e.m.vector(d);
        if shape & SHAPE_RUN != 0 {
            let code = if self.e.m.width == VectorWidth::Whole {
                Code::EVEX_Vmovups_zmm_k1z_zmmm512
            } else {
                Code::VEX_Vmovups_ymm_ymmm256
            };
            let from = MemoryOperand::with_base_index(B, A);
            self.e.m.rm(code, v, from)?;
        } else {
            self.broadcast(v, 0)?;
        }
        some.into_iter().for_each(|from| self.aside(from, Rare::Gather(g)));
        self.aside(out, Rare::Gather(g));
        self.used(at, [a, c]);
        Ok(())
    }

    /// A jump for a warp of which some lanes do not execute.
    fn unless_all_lanes(&mut self) -> Made<Option<Jump>> {
        if self.e.is_full() {
            return Ok(None);
        }
        let k = self.e.this_side() / self.of_warp();
        if !self.region.diverges {
            let lanes = self.lanes_at(offset_of!(Context, exec), k);
            self.e.m.mi(Code::Cmp_rm16_imm8, lanes, -1)?;
            return self.e.m.jump(Code::Jne_rel32_64).map(Some);
        }
        self.bits(k)?;
        self.e.m.ri(Code::Cmp_rm32_imm32, A32, 0xFFFF)?;
        self.e.m.jump(Code::Jne_rel32_64).map(Some)
    }

    pub fn used(&mut self, at: u32, ids: [Id; 2]) {
        ids.into_iter().for_each(|id| self.e.used(at, id));
    }

    /// v = the word at rdx + rcx + `add`, in all lanes.
    fn broadcast(&mut self, v: Register, add: u32) -> Made<()> {
        let code = if self.e.m.width == VectorWidth::Whole {
            Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32
        } else {
            Code::VEX_Vbroadcastss_ymm_m32
        };
        let from = MemoryOperand::with_base_index_scale_displ_size(B, A, 1, add.into(), 1);
        self.e.m.rm(code, v, from)
    }

    /// edx is where in its line the offset in ecx lies.
    fn in_line(&mut self, place: u32) -> Made<()> {
        let m = &mut self.e.m;
        m.rm(Code::Mov_r32_rm32, B32, memory(place, offset_of!(Memory, lead)))?;
        m.rr(Code::Add_r32_rm32, B32, A32)?;
        m.ri(Code::And_rm32_imm8, B32, 63)
    }

    /// `bytes` at the offset in ecx, 64 at most, have a line, or two: the second is counted here, for each warp.
    fn lines(&mut self, place: u32, bytes: u32) -> Made<()> {
        self.in_line(place)?;
        self.e.m.ri(Code::Cmp_rm32_imm8, B32, 64 - bytes as i32)?;
        let from = self.e.m.jump(Code::Ja_rel32_64)?;
        let beside = self.warps_beside();
        self.aside(from, Rare::Line((self.e.is_full() || beside == 1).then_some(beside)));
        Ok(())
    }

    /// Counts one warp's run, whose first lane's offset is in ecx, if it begins within a line.
    fn odd_run(&mut self, place: u32) -> Made<()> {
        self.in_line(place)?;
        let from = self.e.m.jump(Code::Jne_rel32_64)?;
        self.aside(from, Rare::Odd);
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

    /// Each lane's word, by a load of its own where all of them lie within and that is quicker: with AVX2 gathers take half as long again
    /// on Zen 3, and more on CPUs where they have been mended.
    fn each(&mut self, g: &Gather) -> Made<()> {
        let Some([far, spare]) = g.spare else { return self.gather(g) };
        self.offsets(g.index, g.a, g.c, g.imm)?;
        let from = self.unless_within_lanes(g.place, g.word as usize, [g.index, g.d, g.inside])?;
        self.e.m.rm(Code::Mov_r64_rm64, B, memory(g.place, offset_of!(Memory, ptr)))?;
        let (extract, insert, parts) = if self.halves() {
            (Code::VEX_Vextracti128_xmmm128_ymm_imm8, Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8, 2)
        } else {
            let extract = Code::EVEX_Vextracti32x4_xmmm128_k1z_zmm_imm8;
            (extract, Code::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8, 4)
        };
        let xmm = |n: u8| Register::XMM0 + n as u32;
        let (d, index) = (self.e.m.vector(g.d), self.e.m.vector(g.index));
        self.four(g, xmm(g.index), xmm(g.d))?;
        for part in 1..parts {
            self.e.m.made(Instruction::with3(extract, xmm(far), index, part))?;
            self.four(g, xmm(far), xmm(spare))?;
            self.e.m.made(Instruction::with4(insert, d, d, xmm(spare), part))?;
        }
        self.aside(from, Rare::Outside(*g));
        Ok(())
    }

    /// A jump for if word `word` of not all lanes lies within. `index` has the lanes' offsets. `end` and `inside` are lost: vectors, the
    /// latter of AVX-512 a mask; with AVX2 it may be `index`.
    pub fn unless_within_lanes(
        &mut self,
        place: u32,
        word: usize,
        [index, end, inside]: [u8; 3],
    ) -> Made<Jump> {
        if !self.halves() {
            let (k, index) = (Register::K0 + inside as u32, self.e.m.vector(index));
            let mut end = memory(place, offset_of!(Memory, below) + 4 * word);
            end.is_broadcast = true;
            let code = Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8;
            self.e.m.made(Instruction::with4(code, k, index, end, 1))?;
            self.e.m.rr(Code::VEX_Kortestw_kr_kr, k, k)?;
            // All bits are set: carry.
            return self.e.m.jump(Code::Jae_rel32_64);
        }
        // Less 2^31 they are in the order of signed numbers.
        let middle = self.e.m.constant(1 << 31);
        self.e.m.bin(Bin::IAdd, inside, index, Source::Mem(middle))?;
        let (d, inside) = (self.e.m.vector(end), self.e.m.vector(inside));
        let end = memory(place, offset_of!(Memory, ends) + 4 * word);
        self.e.m.rm(Code::VEX_Vpbroadcastd_ymm_xmmm32, d, end)?;
        self.e.m.rrr(Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256, inside, d, inside)?;
        self.e.m.rr(Code::VEX_Vmovmskps_r32_ymm, A32, inside)?;
        self.e.m.ri(Code::Cmp_rm32_imm32, A32, 0xFF)?;
        self.e.m.jump(Code::Jne_rel32_64)
    }

    /// Words at rdx and four offsets.
    fn four(&mut self, g: &Gather, from: Register, to: Register) -> Made<()> {
        let [low_two, high_two, first, insert] = if self.halves() {
            [
                Code::VEX_Vmovq_rm64_xmm,
                Code::VEX_Vpextrq_rm64_xmm_imm8,
                Code::VEX_Vmovd_xmm_rm32,
                Code::VEX_Vpinsrd_xmm_xmm_rm32_imm8,
            ]
        } else {
            [
                Code::EVEX_Vmovq_rm64_xmm,
                Code::EVEX_Vpextrq_rm64_xmm_imm8,
                Code::EVEX_Vmovd_xmm_rm32,
                Code::EVEX_Vpinsrd_xmm_xmm_rm32_imm8,
            ]
        };
        let m = &mut self.e.m;
        for pair in 0..2 {
            if pair == 0 {
                m.rr(low_two, A, from)?;
            } else {
                m.made(Instruction::with3(high_two, A, from, 1))?;
            }
            m.rr(Code::Mov_r32_rm32, low(SPARE), A32)?;
            m.made(Instruction::with2(Code::Shr_rm64_imm8, A, 32))?;
            for (k, offset) in [SPARE, A].into_iter().enumerate() {
                let at =
                    MemoryOperand::with_base_index_scale_displ_size(B, offset, 1, (4 * g.word).into(), 1);
                let lane = 2 * pair + k as i32;
                if lane == 0 {
                    m.rm(first, to, at)?;
                } else {
                    m.made(Instruction::with4(insert, to, to, at, lane))?;
                }
            }
        }
        Ok(())
    }

    /// `index` is each lane's offset, what all lanes add, and `add`.
    pub fn offsets(&mut self, index: u8, a: Source, c: Option<Source>, add: u32) -> Made<()> {
        let a = match a {
            Source::Reg(a) => a,
            Source::Mem(a) => {
                self.e.m.load(index, a)?;
                index
            }
        };
        if add != 0 {
            let add = self.e.m.constant(add);
            self.e.m.bin(Bin::IAdd, index, a, Source::Mem(add))?;
        } else if a != index {
            self.e.m.copy(index, a)?;
        }
        match c {
            Some(c) => self.e.m.bin(Bin::IAdd, index, index, c),
            None => Ok(()),
        }
    }

    /// What is left of [`Self::each`] where a lane's word does not lie within.
    pub fn outside(&mut self, g: &Gather) -> Made<()> {
        let middle = self.e.m.constant(1 << 31);
        self.e.m.bin(Bin::IAdd, g.index, g.index, Source::Mem(middle))?;
        self.e.m.rm(Code::Mov_r64_rm64, B, memory(g.place, offset_of!(Memory, middle)))?;
        self.masked(g)
    }

    /// Words at rdx and each lane's index where that is inside, else 0.
    fn masked(&mut self, g: &Gather) -> Made<()> {
        self.e.m.zero(g.d)?;
        let (d, index) = (self.e.m.vector(g.d), self.e.m.vector(g.index));
        let from = MemoryOperand::with_base_index_scale_displ_size(B, index, 1, (4 * g.word).into(), 1);
        if !self.halves() {
            let i = Instruction::with2(Code::EVEX_Vpgatherdd_zmm_k1_vm32z, d, from);
            let mut i = i.map_err(|_| TooMuch)?;
            i.set_op_mask(Register::K0 + g.inside as u32);
            return self.e.m.put(&i);
        }
        let inside = self.e.m.vector(g.inside);
        self.e.m.made(Instruction::with3(Code::VEX_Vpgatherdd_ymm_vm32y_ymm, d, from, inside))
    }

    /// Each lane's word.
    pub fn gather(&mut self, g: &Gather) -> Made<()> {
        // Less 2^31 they are in the order of signed numbers, as which they are taken.
        self.offsets(g.index, g.a, g.c, g.imm.wrapping_add(1 << 31))?;
        self.e.m.rm(Code::Mov_r64_rm64, B, memory(g.place, offset_of!(Memory, middle)))?;
        let mut end = memory(g.place, offset_of!(Memory, ends) + 4 * g.word as usize);
        let index = self.e.m.vector(g.index);
        if self.e.m.width == VectorWidth::Whole {
            let k = Register::K0 + g.inside as u32;
            end.is_broadcast = true;
            self.e.m.made(Instruction::with4(
                Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
                k,
                index,
                end,
                1,
            ))?;
            return self.masked(g);
        }
        let inside = self.e.m.vector(g.inside);
        self.e.m.rm(Code::VEX_Vpbroadcastd_ymm_xmmm32, inside, end)?;
        self.e.m.rrr(Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256, inside, inside, index)?;
        self.masked(g)
    }
}

//! Loads of words: one for all lanes, sixteen in a row, or each lane's own.
//!
//! An offset within is found as the interpreter finds it: what lies out of bounds is 0.

use super::emit::Emit;
use super::machine::{Made, Source, TooMuch, Width};
use super::region::{A, A32, B, B32, Cycle, Rare, Stub, context};
use crate::jit::enter::{Context, Memory};
use crate::jit::region::{Counts, Load};
use crate::jit::segment::{Item, Segment};
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
}

/// A member of a place's memory.
fn memory(place: u32, member: usize) -> MemoryOperand {
    context(offset_of!(Context, memory) + place as usize * size_of::<Memory>() + member)
}

impl Cycle<'_> {
    /// Accesses of which the lines are not told, all of a block's at once.
    pub fn unknown_loads(&mut self, seg: &Segment) -> Made<()> {
        let unknown = |item: &&Item| match item {
            Item::Compute(id) => match seg.nodes[*id as usize] {
                Node::Load(i, ..) => self.region.loads[i as usize].counts == Some(Counts::Unknown),
                _ => false,
            },
            _ => false,
        };
        let n = seg.each.iter().filter(unknown).count();
        if n == 0 {
            return Ok(());
        }
        self.add(offset_of!(Context, unknown), n * self.warps_beside())
    }

    /// ecx is the sum of the first lanes and `imm`.
    fn scalar(&mut self, ids: [Id; 2], imm: u32) -> Made<()> {
        let mut imm = imm;
        let mut first = true;
        for id in ids {
            let place = self.e.place[id as usize];
            if place.slot.is_none()
                && let Node::Splat(x) = self.e.node(id)
            {
                imm = imm.wrapping_add(x);
                continue;
            }
            let xmm = |r: u8| Register::XMM0 + r as u32;
            let whole = self.e.m.width == Width::Whole;
            let code = if whole { Code::EVEX_Vmovd_rm32_xmm } else { Code::VEX_Vmovd_rm32_xmm };
            match place.reg {
                Some(r) if first => self.e.m.rr(code, A32, xmm(r))?,
                Some(r) => {
                    self.e.m.rr(code, B32, xmm(r))?;
                    self.e.m.rr(Code::Add_r32_rm32, A32, B32)?;
                }
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

    /// Whether `bytes` from the offset in ecx on lie within (flags: above if not); rdx is lost.
    fn within(&mut self, place: u32, bytes: u32) -> Made<()> {
        self.e.m.rm(Code::Lea_r64_m, B, MemoryOperand::with_base_displ(A, bytes as i64))?;
        self.e.m.rm(Code::Cmp_r64_rm64, B, memory(place, offset_of!(Memory, size)))
    }

    /// Leads from here to code that is seldom run, and back.
    fn aside(&mut self, from: super::machine::Jump, what: Rare) {
        let held = self.e.reserved;
        self.stubs.push(Stub { from, back: self.e.m.here(), what, held });
    }

    pub fn load(&mut self, at: u32, id: Id, l: &Load, a: Id, c: Id) -> Made<()> {
        let same = self.e.is_common(a);
        let shape = if same { SHAPE_SAME } else { l.shape };
        let xmm_of = |it: &Emit, d: u8| it.m.vector(d);
        if same {
            self.scalar([a, c], l.imm)?;
            self.used(at, [a, c]);
            if let Some(Counts::Bytes(bytes)) = l.counts {
                self.lines(l.place, bytes)?;
            }
            let d = self.e.define(id)?;
            self.within(l.place, 4 * l.word + 4)?;
            let from = self.e.m.jump(Code::Ja_rel32_64)?;
            self.e.m.rm(Code::Mov_r64_rm64, B, memory(l.place, offset_of!(Memory, ptr)))?;
            let v = xmm_of(&self.e, d);
            self.broadcast(v, 4 * l.word)?;
            self.aside(from, Rare::Zero(d));
            return Ok(());
        }
        // All words' offsets, where the shape does not help.
        let operands = self.gather_operands(a, c)?;
        let index = self.e.vector()?;
        let inside = if self.e.halves { self.e.vector()? } else { self.e.mask()? };
        let shaped = matches!(l.counts, Some(Counts::Shape)) && shape != 0;
        if !shaped {
            // It may not lie where an operand does: they are read first, but by its way out of the ordinary not.
            self.used(at, [a, c]);
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
            };
            return self.gather(&g);
        }
        let d = self.e.define(id)?;
        let g =
            Gather { place: l.place, word: l.word, imm: l.imm, a: operands.0, c: operands.1, d, index, inside };
        // All lanes of the warp execute, and what they ask for lies within.
        let k = if self.e.halves { 0 } else { self.e.k };
        let lanes = self.lanes_at(offset_of!(Context, exec), k);
        let half = if self.e.halves { 32 * self.e.k as u32 } else { 0 };
        self.scalar([a, c], l.imm)?;
        if self.e.k == 0 || !self.e.halves {
            self.count_shape(l.place, shape)?;
        }
        self.e.m.mi(Code::Cmp_rm16_imm8, lanes, -1)?;
        let some = self.e.m.jump(Code::Jne_rel32_64)?;
        let bytes = match (shape & SHAPE_RUN != 0, self.e.halves) {
            (true, true) => 32,
            (true, false) => 64,
            _ => 4,
        };
        let _ = half;
        self.within(l.place, bytes)?;
        let out = self.e.m.jump(Code::Ja_rel32_64)?;
        self.e.m.rm(Code::Mov_r64_rm64, B, memory(l.place, offset_of!(Memory, ptr)))?;
        let v = xmm_of(&self.e, d);
        if shape & SHAPE_RUN != 0 {
            let code = if self.e.m.width == Width::Whole {
                Code::EVEX_Vmovups_zmm_k1z_zmmm512
            } else {
                Code::VEX_Vmovups_ymm_ymmm256
            };
            let from = MemoryOperand::with_base_index(B, A);
            self.e.m.rm(code, v, from)?;
        } else {
            self.broadcast(v, 0)?;
        }
        self.aside(some, Rare::Gather(g));
        self.aside(out, Rare::Gather(g));
        self.used(at, [a, c]);
        Ok(())
    }

    fn used(&mut self, at: u32, ids: [Id; 2]) {
        ids.into_iter().for_each(|id| self.e.used(at, id));
    }

    /// v = the word at rdx + rcx + `add`, in all lanes.
    fn broadcast(&mut self, v: Register, add: u32) -> Made<()> {
        let code = if self.e.m.width == Width::Whole {
            Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32
        } else {
            Code::VEX_Vbroadcastss_ymm_m32
        };
        let from = MemoryOperand::with_base_index_scale_displ_size(B, A, 1, add.into(), 1);
        self.e.m.rm(code, v, from)
    }

    /// Counts the lines of `bytes` at the offset in ecx, for each warp.
    fn lines(&mut self, place: u32, bytes: u32) -> Made<()> {
        let m = &mut self.e.m;
        m.rm(Code::Mov_r32_rm32, B32, memory(place, offset_of!(Memory, lead)))?;
        m.rr(Code::Add_r32_rm32, B32, A32)?;
        m.ri(Code::And_rm32_imm32, B32, 63)?;
        m.ri(Code::Add_rm32_imm32, B32, bytes as i32 + 63)?;
        m.ri(Code::Shr_rm32_imm8, B32, 6)?;
        let beside = self.warps_beside() as i32;
        if beside > 1 {
            self.e.m.made(Instruction::with3(Code::Imul_r32_rm32_imm32, B32, B32, beside))?;
        }
        self.e.m.mr(Code::Add_rm64_r64, context(offset_of!(Context, lines)), B)
    }

    /// Counts one warp's access, whose first lane's offset is in ecx.
    fn count_shape(&mut self, place: u32, shape: u16) -> Made<()> {
        if shape & SHAPE_RUN == 0 {
            return self.add(offset_of!(Context, same), 1);
        }
        let m = &mut self.e.m;
        m.rm(Code::Mov_r32_rm32, B32, memory(place, offset_of!(Memory, lead)))?;
        m.rr(Code::Add_r32_rm32, B32, A32)?;
        m.ri(Code::Test_rm32_imm32, B32, 63)?;
        // Which of two numbers that lie side by side.
        m.r(Code::Setne_rm8, Register::DL)?;
        m.rr(Code::Movzx_r32_rm8, B32, Register::DL)?;
        let first = offset_of!(Context, aligned) as i64;
        let to = MemoryOperand::with_base_index_scale_displ_size(super::region::CONTEXT, B, 8, first, 1);
        m.mi(Code::Add_rm64_imm32, to, 1)
    }

    fn gather_operands(&mut self, a: Id, c: Id) -> Made<(Source, Option<Source>)> {
        let a = self.e.in_register(a)?;
        let none = matches!(self.e.node(c), Node::Splat(0));
        let c = if none { None } else { Some(Source::Reg(self.e.in_register(c)?)) };
        Ok((Source::Reg(a), c))
    }

    /// Each lane's word.
    pub fn gather(&mut self, g: &Gather) -> Made<()> {
        // Less 2^31 they are in the order of signed numbers, as which they are taken.
        let add = self.e.m.constant(g.imm.wrapping_add(1 << 31));
        let Source::Reg(a) = g.a else { return Err(TooMuch) };
        self.e.m.bin(Bin::IAdd, g.index, a, Source::Mem(add))?;
        if let Some(c) = g.c {
            self.e.m.bin(Bin::IAdd, g.index, g.index, c)?;
        }
        self.e.m.rm(Code::Mov_r64_rm64, B, memory(g.place, offset_of!(Memory, middle)))?;
        let mut end = memory(g.place, offset_of!(Memory, ends) + 4 * g.word as usize);
        let from = |index: Register| {
            MemoryOperand::with_base_index_scale_displ_size(B, index, 1, (4 * g.word).into(), 1)
        };
        let (d, index) = (self.e.m.vector(g.d), self.e.m.vector(g.index));
        if self.e.m.width == Width::Whole {
            let k = Register::K0 + g.inside as u32;
            end.is_broadcast = true;
            self.e.m.made(Instruction::with4(
                Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8,
                k,
                index,
                end,
                1,
            ))?;
            self.e.m.zero(g.d)?;
            let i = Instruction::with2(Code::EVEX_Vpgatherdd_zmm_k1_vm32z, d, from(index));
            let mut i = i.map_err(|_| TooMuch)?;
            i.set_op_mask(k);
            return self.e.m.put(&i);
        }
        let inside = self.e.m.vector(g.inside);
        self.e.m.rm(Code::VEX_Vpbroadcastd_ymm_xmmm32, inside, end)?;
        self.e.m.rrr(Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256, inside, inside, index)?;
        self.e.m.zero(g.d)?;
        self.e.m.made(Instruction::with3(Code::VEX_Vpgatherdd_ymm_vm32y_ymm, d, from(index), inside))
    }
}

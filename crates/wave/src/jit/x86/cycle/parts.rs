//! Loads of several scalars a lane, or of 16 bits: read by whole vectors where each lane's follow those of the lane before, lane by
//! lane where they do not, and scalar by scalar where some of them lie out of bounds.

use super::super::assembler::{Jump, Made, Source};
use super::super::frame::row;
use super::access::memory;
use super::{A, A32, B, B32, CONTEXT};
use crate::jit::cycle::Cycle;
use crate::jit::cycle::{Rare, Stub};
use crate::jit::emit::NEVER;
use crate::jit::nodes::region::Load;
use crate::kernels::compiled::{Memory, Part, load_parts};
use crate::recording::{Bin, Id};
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use shader::ir::Mem;
use std::mem::offset_of;

/// Bytes on, at which a loop that reads row after row is likely to read soon: the rows of matrices are too short for what the CPU
/// guesses by itself. (Generation with a model of rows of 4 KiB is 1.3 times as fast, and 1.15 times with 1 KiB here.)
const AHEAD: u32 = 8192;
/// What the lanes' offsets add to the first one's, of lanes of 2, 4, 8 and 16 bytes.
static STEPS: [[u32; 16]; 4] = [steps(2), steps(4), steps(8), steps(16)];
/// Of four lanes of two scalars: the first ones, then the second ones. Of two lanes of four: pairs of each.
static SORTED: [[u32; 16]; 2] = [
    four([0x0504_0100, 0x0D0C_0908, 0x0706_0302, 0x0F0E_0B0A]),
    four([0x0908_0100, 0x0B0A_0302, 0x0D0C_0504, 0x0F0E_0706]),
];
/// Every second 64 bits, then the others.
static SECONDS: [u32; 16] = [0, 0, 2, 0, 4, 0, 6, 0, 1, 0, 3, 0, 5, 0, 7, 0];

const fn steps(n: u32) -> [u32; 16] {
    let mut all = [0; 16];
    let mut i = 0;
    while i < 16 {
        all[i] = i as u32 * n;
        i += 1;
    }
    all
}
const fn four(x: [u32; 4]) -> [u32; 16] {
    let mut all = [0; 16];
    let mut i = 0;
    while i < 16 {
        all[i] = x[i % 4];
        i += 1;
    }
    all
}

/// A load of parts, of one side.
#[derive(Clone, Copy)]
pub struct Parts {
    place: u32,
    part: Part,
    imm: u32,
    /// Offsets, and what all lanes add.
    a: u8,
    c: Option<Source>,
    /// Where scalars go, two vectors that are free, and, of AVX-512, such a mask.
    d: [u8; 4],
    free: [u8; 2],
    mask: u8,
}

impl Cycle<'_> {
    fn code(&self, half: Code, whole: Code) -> Code {
        if self.halves() { half } else { whole }
    }
    fn xmm(r: u8) -> Register {
        Register::XMM0 + r as u32
    }

    /// The first of an op's scalars at hand reads all of them.
    pub fn load_part(&mut self, at: u32, id: Id, l: &Load, part: Part, [a, c]: [Id; 2]) -> Made<()> {
        let first = id - part.i as Id;
        if self.loaded.contains(&first) {
            self.used(at, [a, c]);
            return Ok(());
        }
        self.loaded.push(first);
        // What is put aside for these is put aside on either way.
        let ra = self.e.in_register(a)?;
        let rc = self.operand(c, true)?;
        let free = [self.e.vector()?, self.e.vector()?];
        let mask = if self.halves() { 0 } else { self.e.mask()? };
        let mut d = [0; 4];
        for (i, d) in d.iter_mut().enumerate().take(part.n as usize) {
            let id = first + i as Id;
            *d = if self.e.next_use(id) == NEVER { self.e.vector()? } else { self.e.define(id)? };
        }
        let p = Parts { place: l.place, part, imm: l.imm, a: ra, c: rc, d, free, mask };
        self.scalar([a, c], l.imm, true)?;
        let apart = self.unless_steps(&p)?;
        let lanes = if self.halves() { 8 } else { 16 };
        let end = MemoryOperand::with_base_displ(A, i64::from(lanes * part.bytes()));
        self.e.m.rm(Code::Lea_r64_m, B, end)?;
        self.e.m.rm(Code::Cmp_r64_rm64, B, memory(l.place, offset_of!(Memory, size)))?;
        let beyond = self.e.m.jump(Code::Ja_rel32_64)?;
        self.e.m.rm(Code::Mov_r64_rm64, B, memory(l.place, offset_of!(Memory, ptr)))?;
        for line in 0..(lanes * part.bytes()).div_ceil(64) {
            let ahead = i64::from(AHEAD + 64 * line);
            let on = MemoryOperand::with_base_index_scale_displ_size(B, A, 1, ahead, 1);
            self.e.m.m(Code::Prefetcht0_m8, on)?;
        }
        self.read(&p, None)?;
        let back = self.e.m.here();
        self.stubs.push(Stub {
            from: [Some(apart), Some(beyond)],
            back,
            what: Rare::Parts(p),
            held: self.e.taken(),
        });
        self.used(at, [a, c]);
        Ok(())
    }

    /// A jump for lanes whose scalars do not follow those of the lane before.
    fn unless_steps(&mut self, p: &Parts) -> Made<Jump> {
        let t = p.free[0];
        let code = self.code(Code::VEX_Vpbroadcastd_ymm_xmmm32, Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32);
        let v = self.e.m.vector(t);
        self.e.m.rr(code, v, Self::xmm(p.a))?;
        let steps = self.e.m.in_pool(&STEPS[p.part.bytes().ilog2() as usize - 1]);
        self.e.m.bin(Bin::IAdd, t, t, Source::Mem(steps))?;
        if self.halves() {
            self.e.m.compare(Bin::IEq, t, t, Source::Reg(p.a))?;
            self.e.m.rr(Code::VEX_Vmovmskps_r32_ymm, B32, v)?;
            self.e.m.ri(Code::Cmp_rm32_imm32, B32, 0xFF)?;
            return self.e.m.jump(Code::Jne_rel32_64);
        }
        self.e.m.compare(Bin::IEq, p.mask, t, Source::Reg(p.a))?;
        let k = Register::K0 + p.mask as u32;
        self.e.m.rr(Code::VEX_Kortestw_kr_kr, k, k)?;
        // All bits are set: carry.
        self.e.m.jump(Code::Jae_rel32_64)
    }

    /// Reads from rdx on: at rcx, each lane after the one before, or at the offsets in a row of the stack.
    fn read(&mut self, p: &Parts, each: Option<u32>) -> Made<()> {
        let ([d0, d1, d2, d3], [t, u]) = (p.d, p.free);
        let words = p.part.mem == Mem::B32;
        let low =
            self.code(Code::VEX_Vpunpckldq_ymm_ymm_ymmm256, Code::EVEX_Vpunpckldq_zmm_k1z_zmm_zmmm512b32);
        let high =
            self.code(Code::VEX_Vpunpckhdq_ymm_ymm_ymmm256, Code::EVEX_Vpunpckhdq_zmm_k1z_zmm_zmmm512b32);
        match (words, p.part.n) {
            (true, 4) => {
                for (i, r) in p.d.into_iter().enumerate() {
                    self.pieces(p, r, (i, 4), each, t)?;
                }
                let first = self.code(
                    Code::VEX_Vpunpcklqdq_ymm_ymm_ymmm256,
                    Code::EVEX_Vpunpcklqdq_zmm_k1z_zmm_zmmm512b64,
                );
                let last = self.code(
                    Code::VEX_Vpunpckhqdq_ymm_ymm_ymmm256,
                    Code::EVEX_Vpunpckhqdq_zmm_k1z_zmm_zmmm512b64,
                );
                for (code, to, a, b) in [
                    (low, t, d0, d1),
                    (high, d1, d0, d1),
                    (low, u, d2, d3),
                    (high, d3, d2, d3),
                    (first, d0, t, u),
                    (first, d2, d1, d3),
                    (last, d3, d1, d3),
                    (last, d1, t, u),
                ] {
                    self.of_two(code, to, a, b)?;
                }
                Ok(())
            }
            (true, _) => {
                self.pieces(p, u, (0, 2), each, t)?;
                self.pieces(p, d1, (1, 2), each, t)?;
                let code = self.code(
                    Code::VEX_Vshufps_ymm_ymm_ymmm256_imm8,
                    Code::EVEX_Vshufps_zmm_k1z_zmm_zmmm512b32_imm8,
                );
                for (to, which) in [(d0, 0x88u32), (d1, 0xDD)] {
                    let [to, u, d1] = [to, u, d1].map(|r| self.e.m.vector(r));
                    self.e.m.made(Instruction::with4(code, to, u, d1, which))?;
                }
                Ok(())
            }
            (false, 4) => {
                self.pieces(p, u, (0, 2), each, t)?;
                self.pieces(p, d3, (1, 2), each, t)?;
                self.sort(u, 1)?;
                self.sort(d3, 1)?;
                self.of_two(low, d0, u, d3)?;
                self.of_two(high, d2, u, d3)?;
                self.widen_two(p.part.mem, d0, d1, t)?;
                self.widen_two(p.part.mem, d2, d3, t)
            }
            (false, 2) => {
                self.pieces(p, d0, (0, 1), each, t)?;
                self.sort(d0, 0)?;
                self.widen_two(p.part.mem, d0, d1, t)
            }
            (false, _) => {
                self.pieces(p, d0, (0, 1), each, t)?;
                self.widen(p.part.mem, d0, d0)
            }
        }
    }

    fn of_two(&mut self, code: Code, to: u8, a: u8, b: u8) -> Made<()> {
        let [to, a, b] = [to, a, b].map(|r| self.e.m.vector(r));
        self.e.m.rrr(code, to, a, b)
    }
    /// Sorts scalars of 16 bits within 16 bytes each.
    fn sort(&mut self, r: u8, how: usize) -> Made<()> {
        let code = self.code(Code::VEX_Vpshufb_ymm_ymm_ymmm256, Code::EVEX_Vpshufb_zmm_k1z_zmm_zmmm512);
        let table = self.e.m.in_pool(&SORTED[how]);
        let r = self.e.m.vector(r);
        self.e.m.with_source(code, r, r, Source::Mem(table))
    }
    /// Of each 16 bytes of `d`, the first half has scalars that become `d`, the second those that become `e`.
    fn widen_two(&mut self, mem: Mem, d: u8, e: u8, t: u8) -> Made<()> {
        let v = self.e.m.vector(d);
        if self.halves() {
            self.e.m.made(Instruction::with3(Code::VEX_Vpermq_ymm_ymmm256_imm8, v, v, 0xD8))?;
            self.e.m.made(Instruction::with3(Code::VEX_Vextracti128_xmmm128_ymm_imm8, Self::xmm(e), v, 1))?;
        } else {
            let order = self.e.m.in_pool(&SECONDS);
            self.e.m.load(t, order)?;
            let t = self.e.m.vector(t);
            self.e.m.rrr(Code::EVEX_Vpermq_zmm_k1z_zmm_zmmm512b64, v, t, v)?;
            let to = Register::YMM0 + e as u32;
            self.e.m.made(Instruction::with3(Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8, to, v, 1))?;
        }
        self.widen(mem, e, e)?;
        self.widen(mem, d, d)
    }
    /// Scalars of 16 bits in the first half of a vector, as lanes.
    fn widen(&mut self, mem: Mem, d: u8, s: u8) -> Made<()> {
        let code = match mem {
            Mem::F16 => self.code(Code::VEX_Vcvtph2ps_ymm_xmmm128, Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae),
            _ => self.code(Code::VEX_Vpmovzxwd_ymm_xmmm128, Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256),
        };
        let s = if self.halves() { Self::xmm(s) } else { Register::YMM0 + s as u32 };
        let d = self.e.m.vector(d);
        self.e.m.rr(code, d, s)
    }

    /// `to` gets pieces of 16 bytes of all that is read: the one of the number, and each so many after it.
    fn pieces(
        &mut self,
        p: &Parts,
        to: u8,
        (first, step): (usize, usize),
        each: Option<u32>,
        t: u8,
    ) -> Made<()> {
        let lanes = if self.halves() { 8 } else { 16 };
        let bytes = lanes * p.part.bytes() as usize;
        // Of one scalar of 16 bits there is half a vector.
        let n = bytes / 16 / step;
        let insert = self.code(
            Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8,
            Code::EVEX_Vinserti32x4_zmm_k1z_zmm_xmmm128_imm8,
        );
        let load = self.code(Code::VEX_Vmovdqu_xmm_xmmm128, Code::EVEX_Vmovdqu32_xmm_k1z_xmmm128);
        let v = self.e.m.vector(to);
        for k in 0..n {
            let piece = first + k * step;
            let from = MemoryOperand::with_base_index_scale_displ_size(B, A, 1, 16 * piece as i64, 1);
            match (each, k) {
                (None, 0) => self.e.m.rm(load, Self::xmm(to), from)?,
                (None, _) => self.e.m.made(Instruction::with4(insert, v, v, from, k as u32))?,
                (Some(row), 0) => self.piece(p, to, piece, row)?,
                (Some(row), _) => {
                    self.piece(p, t, piece, row)?;
                    self.e.m.made(Instruction::with4(insert, v, v, Self::xmm(t), k as u32))?;
                }
            }
        }
        Ok(())
    }

    /// 16 bytes of lanes that have offsets of their own.
    fn piece(&mut self, p: &Parts, to: u8, piece: usize, offsets: u32) -> Made<()> {
        let bytes = p.part.bytes() as usize;
        let lanes = 16 / bytes;
        let x = Self::xmm(to);
        for i in 0..lanes {
            let offset = row(offsets);
            let offset = MemoryOperand {
                displacement: offset.displacement + 4 * (piece * lanes + i) as i64,
                ..offset
            };
            self.e.m.rm(Code::Mov_r32_rm32, A32, offset)?;
            let from = MemoryOperand::with_base_index(B, A);
            match (bytes, i) {
                (16, _) => {
                    let code = self.code(Code::VEX_Vmovdqu_xmm_xmmm128, Code::EVEX_Vmovdqu32_xmm_k1z_xmmm128);
                    self.e.m.rm(code, x, from)?;
                }
                (8, 0) => {
                    let code = self.code(Code::VEX_Vmovq_xmm_xmmm64, Code::EVEX_Vmovq_xmm_xmmm64);
                    self.e.m.rm(code, x, from)?;
                }
                (8, _) => {
                    let code = self.code(Code::VEX_Vmovhps_xmm_xmm_m64, Code::EVEX_Vmovhps_xmm_xmm_m64);
                    self.e.m.made(Instruction::with3(code, x, x, from))?;
                }
                (4, 0) => {
                    let code = self.code(Code::VEX_Vmovd_xmm_rm32, Code::EVEX_Vmovd_xmm_rm32);
                    self.e.m.rm(code, x, from)?;
                }
                (4, _) => {
                    let code =
                        self.code(Code::VEX_Vpinsrd_xmm_xmm_rm32_imm8, Code::EVEX_Vpinsrd_xmm_xmm_rm32_imm8);
                    self.e.m.made(Instruction::with4(code, x, x, from, i as u32))?;
                }
                _ => {
                    let code = self
                        .code(Code::VEX_Vpinsrw_xmm_xmm_r32m16_imm8, Code::EVEX_Vpinsrw_xmm_xmm_r32m16_imm8);
                    self.e.m.made(Instruction::with4(code, x, x, from, i as u32))?;
                }
            }
        }
        Ok(())
    }

    /// What lanes do that are not as [`Self::load_part`] has them.
    pub fn parts_apart(&mut self, p: &Parts, held: u32, back: usize) -> Made<()> {
        let [t, _] = p.free;
        let offsets = self.call;
        self.offsets(t, Source::Reg(p.a), p.c, p.imm)?;
        self.e.m.store(row(offsets), t)?;
        // Its last word lies within (of less than a word: the word that begins there).
        let last = (p.part.bytes() as usize / 4).saturating_sub(1);
        let inside = if self.halves() { t } else { p.mask };
        let beyond = self.unless_within_lanes(p.place, last, [t, p.d[0], inside])?;
        self.e.m.rm(Code::Mov_r64_rm64, B, memory(p.place, offset_of!(Memory, ptr)))?;
        self.read(p, Some(offsets))?;
        self.e.m.jump_back(Code::Jmp_rel32_64, back)?;
        self.e.m.land(beyond);
        self.keep(held, true)?;
        let m = &mut self.e.m;
        m.rr(Code::Mov_r64_rm64, Register::RDI, CONTEXT)?;
        m.ri(Code::Mov_rm32_imm32, Register::ESI, p.part.named(p.place) as i32)?;
        m.rm(Code::Lea_r64_m, Register::RDX, row(offsets))?;
        m.r64(Register::RAX, load_parts as *const () as u64)?;
        m.op0(Code::VEX_Vzeroupper)?;
        m.r(Code::Call_rm64, Register::RAX)?;
        self.keep(held, false)?;
        for (i, d) in p.d.into_iter().enumerate().take(p.part.n as usize) {
            self.e.m.load(d, row(offsets + 1 + i as u32))?;
        }
        Ok(())
    }
}

//! Instructions that make words of 64-bit lanes, and these of words. (Operations on them are like others: [`super::machine`].)

use super::assembler::{Assembler, Made, Source, TooMuch, VectorWidth};
use crate::recording::{Bin, Tri, Un};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// Every second word of two vectors, from the first on and from the second on.
static EVEN: [u32; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];
static ODD: [u32; 16] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31];

impl Assembler {
    fn half(&self, n: u8) -> Register {
        match self.width {
            VectorWidth::Whole => Register::YMM0 + n as u32,
            VectorWidth::Half => Register::XMM0 + n as u32,
        }
    }

    /// d = the part of that number of what words become, or of a mask.
    pub fn part_of(&mut self, op: Un, d: u8, s: u8) -> Made<()> {
        let whole = self.width == VectorWidth::Whole;
        let part = match op {
            Un::SToD(p) | Un::UToD(p) | Un::FToD(p) | Un::Zext(p) | Un::MPart(p) => p,
            _ => return Err(TooMuch),
        };
        if let (Un::MPart(_), true) = (op, whole) {
            let (d, s) = (Register::K0 + d as u32, Register::K0 + s as u32);
            return self.made(Instruction::with3(Code::VEX_Kshiftrw_kr_kr_imm8, d, s, 8 * part as u32));
        }
        let mut from = self.half(s);
        if part != 0 {
            let (to, all) = (self.half(d), self.vector(s));
            let code = match whole {
                true => Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8,
                false => Code::VEX_Vextracti128_xmmm128_ymm_imm8,
            };
            self.made(Instruction::with3(code, to, all, 1))?;
            from = to;
        }
        let code = match (op, whole) {
            (Un::SToD(_), true) => Code::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er,
            (Un::SToD(_), false) => Code::VEX_Vcvtdq2pd_ymm_xmmm128,
            (Un::UToD(_), true) => Code::EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er,
            (Un::UToD(_), false) => return Err(TooMuch),
            (Un::FToD(_), true) => Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae,
            (Un::FToD(_), false) => Code::VEX_Vcvtps2pd_ymm_xmmm128,
            (Un::Zext(_), true) => Code::EVEX_Vpmovzxdq_zmm_k1z_ymmm256,
            (Un::Zext(_), false) => Code::VEX_Vpmovzxdq_ymm_xmmm128,
            _ => Code::VEX_Vpmovsxdq_ymm_xmmm128,
        };
        let d = self.vector(d);
        self.rr(code, d, from)
    }

    /// d = the lower or the higher words of the parts a and b, which d is neither of.
    pub fn words_of(&mut self, op: Bin, d: u8, a: u8, b: u8) -> Made<()> {
        if self.width == VectorWidth::Whole {
            let which = self.in_pool(if op == Bin::Lo { &EVEN } else { &ODD });
            self.load(d, which)?;
            let (d, a) = (self.vector(d), self.vector(a));
            return self.with_source(Code::EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32, d, a, Source::Reg(b));
        }
        let which = if op == Bin::Lo { 0x88 } else { 0xDD };
        self.pairs(which, d, a, b)
    }

    /// By d's numbers the 64 bits of the parts a and b; AVX-512's.
    pub fn shuffle64(&mut self, d: u8, a: u8, b: u8) -> Made<()> {
        let (d, a) = (self.vector(d), self.vector(a));
        self.with_source(Code::EVEX_Vpermi2q_zmm_k1z_zmm_zmmm512b64, d, a, Source::Reg(b))
    }
    /// d = bits of d where s has ones, else those of b; AVX-512's.
    pub fn bits_of(&mut self, op: Tri, d: u8, b: u8, s: Source) -> Made<()> {
        let code = match op {
            Tri::LBits => Code::EVEX_Vpternlogq_zmm_k1z_zmm_zmmm512b64_imm8,
            _ => Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8,
        };
        // By three bits, of d, b and s: s ? d : b.
        let (d, b) = (self.vector(d), self.vector(b));
        self.with_source_imm(code, d, b, s, 0b1110_0100)
    }
    /// d = the word of the first lane of mask k; AVX-512's.
    pub fn first(&mut self, d: u8, k: u8, a: u8) -> Made<()> {
        let (to, a) = (self.vector(d), self.vector(a));
        let mut i = Instruction::with2(Code::EVEX_Vpcompressd_zmmm512_k1z_zmm, to, a).map_err(|_| TooMuch)?;
        i.set_op_mask(Register::K0 + k as u32);
        i.set_zeroing_masking(true);
        self.put(&i)?;
        self.rr(Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32, to, Register::XMM0 + d as u32)
    }
    /// d = the 16 bits that lie there, in all lanes; AVX-512's.
    pub fn ballot(&mut self, d: u8, bits: MemoryOperand) -> Made<()> {
        let to = self.vector(d);
        self.rm(Code::EVEX_Vpbroadcastw_zmm_k1z_xmmm16, to, bits)?;
        let low = self.constant(0xFFFF);
        self.with_source(Code::EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32, to, to, Source::Mem(low))
    }

    /// d = the lower half of a, then that of b.
    pub fn join(&mut self, d: u8, a: u8, b: u8) -> Made<()> {
        let code = match self.width {
            VectorWidth::Whole => Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8,
            VectorWidth::Half => Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8,
        };
        let (d, a, b) = (self.vector(d), self.vector(a), self.half(b));
        self.made(Instruction::with4(code, d, a, b, 1))
    }

    /// A mask of the masks of both parts.
    pub fn join_masks(&mut self, d: u8, a: u8, b: u8) -> Made<()> {
        if self.width == VectorWidth::Whole {
            let k = |n: u8| Register::K0 + n as u32;
            return self.rrr(Code::VEX_Kunpckbw_kr_kr_kr, k(d), k(b), k(a));
        }
        self.pairs(0x88, d, a, b)
    }

    /// Of each two words of a, then of b, those that `which` says: AVX2's.
    fn pairs(&mut self, which: u32, d: u8, a: u8, b: u8) -> Made<()> {
        let (d, a, b) = (self.vector(d), self.vector(a), self.vector(b));
        self.made(Instruction::with4(Code::VEX_Vshufps_ymm_ymm_ymmm256_imm8, d, a, b, which))?;
        self.made(Instruction::with3(Code::VEX_Vpermq_ymm_ymmm256_imm8, d, d, 0xD8))
    }

    /// Numbers of half the width, in the lower half of d.
    pub fn halved(&mut self, op: Un, d: u8, s: Source) -> Made<()> {
        let code = match (op, self.width) {
            (Un::DToF, VectorWidth::Whole) => Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er,
            (Un::DToF, VectorWidth::Half) => Code::VEX_Vcvtpd2ps_xmm_ymmm256,
            (Un::DToS, VectorWidth::Whole) => Code::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae,
            (Un::DToS, VectorWidth::Half) => Code::VEX_Vcvttpd2dq_xmm_ymmm256,
            _ => return Err(TooMuch),
        };
        let to = self.half(d);
        self.one_source(code, to, s)
    }
}

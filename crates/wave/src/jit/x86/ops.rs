//! Operations of nodes as instructions of the two widths.

use super::assembler::{Assembler, Made, Source, TooMuch, VectorWidth};
use crate::recording::{Bin, Tri, Un};
use iced_x86::{Code, Instruction, Register};

impl Assembler {
    pub fn un(&mut self, op: Un, d: u8, s: Source) -> Made<()> {
        let whole = self.width == VectorWidth::Whole;
        let r = self.vector(d);
        // The rounding of `roundscale` and `round`, exceptions off.
        let round = match op {
            Un::FRoundEven => Some(8),
            Un::FFloor => Some(9),
            Un::FCeil => Some(10),
            Un::FTrunc => Some(11),
            // Four bits after the binary point.
            Un::FRound16 if whole => Some(0x48),
            _ => None,
        };
        if let Some(imm) = round {
            let code = if whole {
                Code::EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae
            } else {
                Code::VEX_Vroundps_ymm_ymmm256_imm8
            };
            return self.one_source_imm(code, r, s, imm);
        }
        let round = match op {
            Un::DRoundEven => Some(8),
            Un::DFloor => Some(9),
            Un::DCeil => Some(10),
            Un::DTrunc => Some(11),
            _ => None,
        };
        if let Some(imm) = round {
            let code = if whole {
                Code::EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae
            } else {
                Code::VEX_Vroundpd_ymm_ymmm256_imm8
            };
            return self.one_source_imm(code, r, s, imm);
        }
        if let (Un::LPartner(n), true) = (op, whole) {
            // Of pairs, of fours, of all eight.
            let code = match n {
                1 => Code::EVEX_Vpshufd_zmm_k1z_zmmm512b32_imm8,
                2 => Code::EVEX_Vpermq_zmm_k1z_zmmm512b64_imm8,
                _ => {
                    let Source::Reg(a) = s else { return Err(TooMuch) };
                    let a = self.vector(a);
                    let code = Code::EVEX_Vshufi64x2_zmm_k1z_zmm_zmmm512b64_imm8;
                    return self.made(Instruction::with4(code, r, a, a, 0x4E));
                }
            };
            return self.one_source_imm(code, r, s, 0x4E);
        }
        let quad = match op {
            Un::Quad(from) => Some(from),
            Un::LSwap => Some(0xB1),
            _ => None,
        };
        if let Some(from) = quad {
            // (Within 128 bits each: a quad.)
            let code = if whole {
                Code::EVEX_Vpshufd_zmm_k1z_zmmm512b32_imm8
            } else {
                Code::VEX_Vpshufd_ymm_ymmm256_imm8
            };
            return self.one_source_imm(code, r, s, from as u32);
        }
        if op == Un::Mantissa && whole {
            // Of [3/4, 3/2), of the operand's sign.
            return self.one_source_imm(Code::EVEX_Vgetmantps_zmm_k1z_zmmm512b32_imm8_sae, r, s, 3);
        }
        let code = match (op, whole) {
            (Un::FSqrt, true) => Code::EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er,
            (Un::FSqrt, false) => Code::VEX_Vsqrtps_ymm_ymmm256,
            (Un::SToF, true) => Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er,
            (Un::SToF, false) => Code::VEX_Vcvtdq2ps_ymm_ymmm256,
            (Un::UToF, true) => Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er,
            (Un::Exponent, true) => Code::EVEX_Vgetexpps_zmm_k1z_zmmm512b32_sae,
            (Un::FToS, true) => Code::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae,
            (Un::FToS, false) => Code::VEX_Vcvttps2dq_ymm_ymmm256,
            (Un::DSqrt, true) => Code::EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er,
            (Un::DSqrt, false) => Code::VEX_Vsqrtpd_ymm_ymmm256,
            (Un::SlToD, true) => Code::EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er,
            (Un::UlToD, true) => Code::EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er,
            (Un::DToUl, true) => Code::EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae,
            (Un::DToF | Un::DToS, _) => return self.halved(op, d, s),
            _ => return self.half_float(op, d, s),
        };
        self.one_source(code, r, s)
    }

    /// Conversions of 16-bit floats, a word each in a lane. (Of a masked value there is nothing in a register.)
    fn half_float(&mut self, op: Un, d: u8, s: Source) -> Made<()> {
        let n = match s {
            Source::Reg(r) => r,
            Source::Mem(m) => {
                self.load(d, m)?;
                d
            }
        };
        let xd = Register::XMM0 + d as u32;
        let (yd, ys) = (Register::YMM0 + d as u32, Register::YMM0 + n as u32);
        let (zd, zs) = (Register::ZMM0 + d as u32, Register::ZMM0 + n as u32);
        match (op, self.width) {
            (Un::F16Round, VectorWidth::Whole) => {
                self.made(Instruction::with3(Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae, yd, zs, 0))?;
                self.rr(Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae, zd, yd)
            }
            (Un::F16Round, VectorWidth::Half) => {
                self.made(Instruction::with3(Code::VEX_Vcvtps2ph_xmmm128_ymm_imm8, xd, ys, 0))?;
                self.rr(Code::VEX_Vcvtph2ps_ymm_xmmm128, yd, xd)
            }
            (Un::FToF16, VectorWidth::Whole) => {
                self.made(Instruction::with3(Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae, yd, zs, 0))?;
                self.rr(Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256, zd, yd)
            }
            (Un::FToF16, VectorWidth::Half) => {
                self.made(Instruction::with3(Code::VEX_Vcvtps2ph_xmmm128_ymm_imm8, xd, ys, 0))?;
                self.rr(Code::VEX_Vpmovzxwd_ymm_xmmm128, yd, xd)
            }
            (Un::HighBytes, VectorWidth::Whole) => {
                self.made(Instruction::with3(Code::EVEX_Vpsraw_zmm_k1z_zmmm512_imm8, zd, zs, 8))
            }
            (Un::HighBytes, VectorWidth::Half) => {
                self.made(Instruction::with3(Code::VEX_Vpsraw_ymm_ymm_imm8, yd, ys, 8))
            }
            (Un::F16ToF, VectorWidth::Whole) => {
                self.rr(Code::EVEX_Vpmovdw_ymmm256_k1z_zmm, yd, zs)?;
                self.rr(Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae, zd, yd)
            }
            (Un::F16ToF, VectorWidth::Half) => {
                let m = self.constant(0xFFFF);
                self.made(Instruction::with3(Code::VEX_Vpand_ymm_ymm_ymmm256, yd, ys, m))?;
                self.rrr(Code::VEX_Vpackusdw_ymm_ymm_ymmm256, yd, yd, yd)?;
                self.made(Instruction::with3(Code::VEX_Vpermq_ymm_ymmm256_imm8, yd, yd, 0xD8))?;
                self.rr(Code::VEX_Vcvtph2ps_ymm_xmmm128, yd, xd)
            }
            _ => Err(TooMuch),
        }
    }

    /// An operation whose result is a vector.
    pub fn bin(&mut self, op: Bin, d: u8, a: u8, s: Source) -> Made<()> {
        use Bin::*;
        let whole = self.width == VectorWidth::Whole;
        macro_rules! pick {
            ($($op:ident: $w:ident $h:ident;)*) => {
                match op {
                    $($op => if whole { Code::$w } else { Code::$h },)*
                    _ => return Err(TooMuch),
                }
            };
        }
        if op == FScale {
            if !whole {
                return Err(TooMuch);
            }
            let code = Code::EVEX_Vscalefps_zmm_k1z_zmm_zmmm512b32_er;
            return self.with_source(code, self.vector(d), self.vector(a), s);
        }
        if let LMul | LSar | Shuffle | LSMin | LSMax | LUMin | LUMax = op {
            if !whole {
                return Err(TooMuch);
            }
            let code = match op {
                LMul => Code::EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64,
                Shuffle => Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32,
                LSMin => Code::EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64,
                LSMax => Code::EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64,
                LUMin => Code::EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64,
                LUMax => Code::EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64,
                _ => Code::EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64,
            };
            return self.with_source(code, self.vector(d), self.vector(a), s);
        }
        if let LAfter(n) = op {
            let code = Code::EVEX_Valignq_zmm_k1z_zmm_zmmm512b64_imm8;
            // Of both, b above a: from the last ones of a on.
            let Source::Reg(b) = s else { return Err(TooMuch) };
            let (d, b) = (self.vector(d), self.vector(b));
            return self.with_source_imm(code, d, b, Source::Reg(a), 8 - n as u32);
        }
        let code = pick! {
            DAdd: EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er VEX_Vaddpd_ymm_ymm_ymmm256;
            DSub: EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er VEX_Vsubpd_ymm_ymm_ymmm256;
            DMul: EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er VEX_Vmulpd_ymm_ymm_ymmm256;
            DDiv: EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er VEX_Vdivpd_ymm_ymm_ymmm256;
            DMin: EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae VEX_Vminpd_ymm_ymm_ymmm256;
            DMax: EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae VEX_Vmaxpd_ymm_ymm_ymmm256;
            LAdd: EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64 VEX_Vpaddq_ymm_ymm_ymmm256;
            LSub: EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64 VEX_Vpsubq_ymm_ymm_ymmm256;
            LMulLow: EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64 VEX_Vpmuludq_ymm_ymm_ymmm256;
            LAnd: EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64 VEX_Vpand_ymm_ymm_ymmm256;
            LOr: EVEX_Vporq_zmm_k1z_zmm_zmmm512b64 VEX_Vpor_ymm_ymm_ymmm256;
            LXor: EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64 VEX_Vpxor_ymm_ymm_ymmm256;
            LShl: EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64 VEX_Vpsllvq_ymm_ymm_ymmm256;
            LShr: EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64 VEX_Vpsrlvq_ymm_ymm_ymmm256;
            FAdd: EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er VEX_Vaddps_ymm_ymm_ymmm256;
            FSub: EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er VEX_Vsubps_ymm_ymm_ymmm256;
            FMul: EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er VEX_Vmulps_ymm_ymm_ymmm256;
            FDiv: EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er VEX_Vdivps_ymm_ymm_ymmm256;
            FMin: EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae VEX_Vminps_ymm_ymm_ymmm256;
            FMax: EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae VEX_Vmaxps_ymm_ymm_ymmm256;
            IAdd: EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32 VEX_Vpaddd_ymm_ymm_ymmm256;
            ISub: EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32 VEX_Vpsubd_ymm_ymm_ymmm256;
            IMul: EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32 VEX_Vpmulld_ymm_ymm_ymmm256;
            IMadd16: EVEX_Vpmaddwd_zmm_k1z_zmm_zmmm512 VEX_Vpmaddwd_ymm_ymm_ymmm256;
            And: EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32 VEX_Vpand_ymm_ymm_ymmm256;
            Or: EVEX_Vpord_zmm_k1z_zmm_zmmm512b32 VEX_Vpor_ymm_ymm_ymmm256;
            Xor: EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32 VEX_Vpxor_ymm_ymm_ymmm256;
            AndN: EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32 VEX_Vpandn_ymm_ymm_ymmm256;
            Shl: EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32 VEX_Vpsllvd_ymm_ymm_ymmm256;
            Shr: EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32 VEX_Vpsrlvd_ymm_ymm_ymmm256;
            Sar: EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32 VEX_Vpsravd_ymm_ymm_ymmm256;
            SMin: EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32 VEX_Vpminsd_ymm_ymm_ymmm256;
            SMax: EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32 VEX_Vpmaxsd_ymm_ymm_ymmm256;
            UMin: EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32 VEX_Vpminud_ymm_ymm_ymmm256;
            UMax: EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32 VEX_Vpmaxud_ymm_ymm_ymmm256;
        };
        self.with_source(code, self.vector(d), self.vector(a), s)
    }

    /// A shift by a constant.
    pub fn shift(&mut self, op: Bin, d: u8, a: u8, n: u32) -> Made<()> {
        let code = match (op, self.width) {
            (Bin::Shl, VectorWidth::Whole) => Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8,
            (Bin::Shr, VectorWidth::Whole) => Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8,
            (Bin::Sar, VectorWidth::Whole) => Code::EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8,
            (Bin::Shl, VectorWidth::Half) => Code::VEX_Vpslld_ymm_ymm_imm8,
            (Bin::Shr, VectorWidth::Half) => Code::VEX_Vpsrld_ymm_ymm_imm8,
            (Bin::Sar, VectorWidth::Half) => Code::VEX_Vpsrad_ymm_ymm_imm8,
            (Bin::LShl, VectorWidth::Whole) => Code::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8,
            (Bin::LShr, VectorWidth::Whole) => Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8,
            (Bin::LSar, VectorWidth::Whole) => Code::EVEX_Vpsraq_zmm_k1z_zmmm512b64_imm8,
            (Bin::LShl, VectorWidth::Half) => Code::VEX_Vpsllq_ymm_ymm_imm8,
            (Bin::LShr, VectorWidth::Half) => Code::VEX_Vpsrlq_ymm_ymm_imm8,
            _ => return Err(TooMuch),
        };
        let (d, a) = (self.vector(d), self.vector(a));
        self.made(Instruction::with3(code, d, a, n))
    }

    /// A comparison; its result is a mask.
    pub fn compare(&mut self, op: Bin, d: u8, a: u8, s: Source) -> Made<()> {
        use Bin::*;
        let float = match op {
            FEq | DEq => Some(0),
            FLt | DLt => Some(17),
            FLe | DLe => Some(18),
            FNe | DNe => Some(4),
            _ => None,
        };
        let wide = matches!(op, DEq | DLt | DLe | DNe);
        if self.width == VectorWidth::Whole {
            let (d, a) = (Register::K0 + d as u32, self.vector(a));
            if let Some(imm) = float {
                let code = match wide {
                    true => Code::EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae,
                    false => Code::EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae,
                };
                return self.with_source_imm(code, d, a, s, imm);
            }
            let (code, imm) = match op {
                IEq => (Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, 0),
                SGt => (Code::EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8, 6),
                UGt => (Code::EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8, 6),
                LEq => (Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8, 0),
                LGt => (Code::EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8, 6),
                _ => return Err(TooMuch),
            };
            return self.with_source_imm(code, d, a, s, imm);
        }
        let (d, a) = (self.vector(d), self.vector(a));
        if let Some(imm) = float {
            let code = match wide {
                true => Code::VEX_Vcmppd_ymm_ymm_ymmm256_imm8,
                false => Code::VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
            };
            return self.with_source_imm(code, d, a, s, imm);
        }
        let code = match op {
            IEq => Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256,
            SGt => Code::VEX_Vpcmpgtd_ymm_ymm_ymmm256,
            LEq => Code::VEX_Vpcmpeqq_ymm_ymm_ymmm256,
            LGt => Code::VEX_Vpcmpgtq_ymm_ymm_ymmm256,
            _ => return Err(TooMuch),
        };
        self.with_source(code, d, a, s)
    }

    /// Of masks.
    pub fn masks(&mut self, op: Bin, d: u8, a: u8, b: u8) -> Made<()> {
        if op == Bin::MJoin {
            return self.join_masks(d, a, b);
        }
        if self.width == VectorWidth::Half {
            let op = match op {
                Bin::MAnd => Bin::And,
                Bin::MOr => Bin::Or,
                Bin::MXor => Bin::Xor,
                _ => return Err(TooMuch),
            };
            return self.bin(op, d, a, Source::Reg(b));
        }
        let code = match op {
            Bin::MAnd => Code::VEX_Kandw_kr_kr_kr,
            Bin::MOr => Code::VEX_Korw_kr_kr_kr,
            Bin::MXor => Code::VEX_Kxorw_kr_kr_kr,
            _ => return Err(TooMuch),
        };
        let k = |n: u8| Register::K0 + n as u32;
        self.rrr(code, k(d), k(a), k(b))
    }
    pub fn not(&mut self, d: u8, a: u8) -> Made<()> {
        if self.width == VectorWidth::Half {
            let ones = self.constant(!0);
            return self.bin(Bin::Xor, d, a, Source::Mem(ones));
        }
        self.rr(Code::VEX_Knotw_kr_kr, Register::K0 + d as u32, Register::K0 + a as u32)
    }
    pub fn truth(&mut self, d: u8, t: bool) -> Made<()> {
        if self.width == VectorWidth::Half {
            let r = self.vector(d);
            let code = if t { Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256 } else { Code::VEX_Vpxor_ymm_ymm_ymmm256 };
            return self.rrr(code, r, r, r);
        }
        let k = Register::K0 + d as u32;
        self.rrr(if t { Code::VEX_Kxnorw_kr_kr_kr } else { Code::VEX_Kxorw_kr_kr_kr }, k, k, k)
    }

    /// d = mask m ? s : b.
    pub fn select(&mut self, d: u8, m: u8, s: Source, b: u8) -> Made<()> {
        self.select_of(Tri::Sel, d, m, s, b)
    }
    pub fn select_of(&mut self, op: Tri, d: u8, m: u8, s: Source, b: u8) -> Made<()> {
        let (d, b) = (self.vector(d), self.vector(b));
        let wide = op == Tri::LSel;
        if self.width == VectorWidth::Whole {
            let code = match wide {
                true => Code::EVEX_Vblendmpd_zmm_k1z_zmm_zmmm512b64,
                false => Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32,
            };
            let i = match s {
                Source::Reg(r) => Instruction::with3(code, d, b, self.vector(r)),
                Source::Mem(m) => Instruction::with3(code, d, b, m),
            };
            let mut i = i.map_err(|_| TooMuch)?;
            i.set_op_mask(Register::K0 + m as u32);
            return self.put(&i);
        }
        let m = self.vector(m);
        let code = match wide {
            true => Code::VEX_Vblendvpd_ymm_ymm_ymmm256_ymm,
            false => Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm,
        };
        let i = match s {
            Source::Reg(r) => Instruction::with4(code, d, b, self.vector(r), m),
            Source::Mem(s) => Instruction::with4(code, d, b, s, m),
        };
        self.made(i)
    }

    /// d = d, but for lanes of a of some classes what table s says; AVX-512's.
    pub fn fix(&mut self, d: u8, a: u8, s: Source) -> Made<()> {
        if self.width == VectorWidth::Half {
            return Err(TooMuch);
        }
        let code = Code::EVEX_Vfixupimmps_zmm_k1z_zmm_zmmm512b32_imm8_sae;
        self.with_source_imm(code, self.vector(d), self.vector(a), s, 0)
    }
    /// d = ±(a · s) + d.
    pub fn fma231(&mut self, op: Tri, d: u8, a: u8, s: Source) -> Made<()> {
        let code = match (op, self.width) {
            (Tri::DFma, VectorWidth::Whole) => Code::EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
            (Tri::DFma, VectorWidth::Half) => Code::VEX_Vfmadd231pd_ymm_ymm_ymmm256,
            (Tri::DFnma, VectorWidth::Whole) => Code::EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er,
            (Tri::DFnma, VectorWidth::Half) => Code::VEX_Vfnmadd231pd_ymm_ymm_ymmm256,
            (Tri::Fnma, VectorWidth::Whole) => Code::EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
            (Tri::Fnma, VectorWidth::Half) => Code::VEX_Vfnmadd231ps_ymm_ymm_ymmm256,
            (_, VectorWidth::Whole) => Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
            (_, VectorWidth::Half) => Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
        };
        self.with_source(code, self.vector(d), self.vector(a), s)
    }
    /// d = ±(a · d) + s.
    pub fn fma213(&mut self, op: Tri, d: u8, a: u8, s: Source) -> Made<()> {
        let code = match (op, self.width) {
            (Tri::DFma, VectorWidth::Whole) => Code::EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
            (Tri::DFma, VectorWidth::Half) => Code::VEX_Vfmadd213pd_ymm_ymm_ymmm256,
            (Tri::DFnma, VectorWidth::Whole) => Code::EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er,
            (Tri::DFnma, VectorWidth::Half) => Code::VEX_Vfnmadd213pd_ymm_ymm_ymmm256,
            (Tri::Fnma, VectorWidth::Whole) => Code::EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
            (Tri::Fnma, VectorWidth::Half) => Code::VEX_Vfnmadd213ps_ymm_ymm_ymmm256,
            (_, VectorWidth::Whole) => Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
            (_, VectorWidth::Half) => Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
        };
        self.with_source(code, self.vector(d), self.vector(a), s)
    }
}

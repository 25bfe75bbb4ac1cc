//! Operations of nodes as instructions. What `simd`'s NEON level does with an operation is done here too, so that no bit differs.
//!
//! The result may lie in an operand's register: the last instruction alone writes it. (Between them [`T0`] and [`T1`] have values.)

use super::assembler::{Assembler, FAR, Made, T0, T1, TooMuch};
use super::encode::*;
use crate::recording::{Bin, Tri, Un};

/// First vector of those that have a table ([`Assembler::look`]).
pub const TABLE: u8 = 0;

impl Assembler {
    pub fn un(&mut self, op: Un, d: u8, s: u8) -> Made<()> {
        let word = match op {
            Un::FSqrt => FSQRT,
            Un::FFloor => FRINTM,
            Un::FCeil => FRINTP,
            Un::FTrunc => FRINTZ,
            Un::FRoundEven => FRINTN,
            Un::SToF => SCVTF,
            Un::UToF => UCVTF,
            Un::DSqrt => DSQRT,
            Un::DFloor => DRINTM,
            Un::DCeil => DRINTP,
            Un::DTrunc => DRINTZ,
            Un::DRoundEven => DRINTN,
            Un::SlToD => SCVTF_LONG,
            Un::UlToD => UCVTF_LONG,
            Un::DToUl => FCVTZU_LONG,
            Un::DToF => FCVTN,
            Un::HighBytes => HIGH_BYTES,
            Un::LSwap => REV64,
            Un::MNot => NOT,
            Un::Zext(0) => USHLL,
            Un::Zext(1) => USHLL2,
            Un::FToD(0) => FCVTL,
            Un::FToD(1) => FCVTL2,
            Un::MPart(0) => return self.dnm(ZIP1, d, s, s),
            Un::MPart(1) => return self.dnm(ZIP2, d, s, s),
            Un::SToD(p @ 0..2) => {
                self.dn([SSHLL, SSHLL2][p as usize], T0, s)?;
                return self.dn(SCVTF_LONG, d, T0);
            }
            Un::UToD(p @ 0..2) => {
                self.dn([USHLL, USHLL2][p as usize], T0, s)?;
                return self.dn(UCVTF_LONG, d, T0);
            }
            Un::F16Round => {
                self.dn(FCVTN_HALF, T0, s)?;
                return self.dn(FCVTL_HALF, d, T0);
            }
            Un::FToF16 => {
                self.dn(FCVTN_HALF, T0, s)?;
                return self.dn(USHLL_HALF, d, T0);
            }
            Un::F16ToF => {
                self.dn(XTN_HALF, T0, s)?;
                return self.dn(FCVTL_HALF, d, T0);
            }
            // Those from 2^31 on, and NaN, are the least integer; the instruction saturates, and makes 0 of NaN.
            Un::FToS => {
                self.d(MOVI_2_31, T0)?;
                self.dnm(FCMGT, T1, T0, s)?;
                self.dn(FCVTZS, T0, s)?;
                return self.fitting(d);
            }
            // To the first words.
            Un::DToS => {
                let limit = self.constant64(2147483648.0f64.to_bits());
                self.load(T0, limit)?;
                self.dnm(DCMGT, T1, T0, s)?;
                self.dn(XTN, T1, T1)?;
                self.dn(FCVTZS_LONG, T0, s)?;
                self.dn(SQXTN, T0, T0)?;
                return self.fitting(d);
            }
            Un::Quad(from) => return self.quad(from, d, s),
            _ => return Err(TooMuch),
        };
        self.dn(word, d, s)
    }

    /// d = the first temporary's integers where the second is true, else the least.
    fn fitting(&mut self, d: u8) -> Made<()> {
        self.d(MOVI_SIGN, d)?;
        self.dnm(BIT, d, T0, T1)
    }

    /// Each lane of a quad has what another of it has, two bits a lane ([`crate::kernels::subgroup::FROM`]).
    fn quad(&mut self, from: u8, d: u8, s: u8) -> Made<()> {
        match from {
            0x00 => self.dn(DUP0, d, s),
            0x55 => self.dn(DUP1, d, s),
            0xAA => self.dn(DUP2, d, s),
            0xFF => self.dn(DUP3, d, s),
            0xB1 => self.dn(REV64, d, s),
            0x4E => self.dnm(EXT8, d, s, s),
            0x1B => {
                self.dn(REV64, T0, s)?;
                self.dnm(EXT8, d, T0, T0)
            }
            0xA0 => self.dnm(TRN1, d, s, s),
            0xF5 => self.dnm(TRN2, d, s, s),
            0x44 => self.dnm(ZIP1_LONG, d, s, s),
            0xEE => self.dnm(ZIP2_LONG, d, s, s),
            _ => Err(TooMuch),
        }
    }

    /// An operation of two vectors, comparisons and operations of masks among them.
    pub fn bin(&mut self, op: Bin, d: u8, a: u8, b: u8) -> Made<()> {
        use Bin::*;
        let word = match op {
            FAdd => FADD,
            FSub => FSUB,
            FMul => FMUL,
            FDiv => FDIV,
            DAdd => DADD,
            DSub => DSUB,
            DMul => DMUL,
            DDiv => DDIV,
            IAdd => ADD,
            ISub => SUB,
            IMul => MUL,
            SMin => SMIN,
            SMax => SMAX,
            UMin => UMIN,
            UMax => UMAX,
            And | LAnd | MAnd => AND,
            Or | LOr | MOr => ORR,
            Xor | LXor | MXor => EOR,
            LAdd => ADD_LONG,
            LSub => SUB_LONG,
            LShl => USHL_LONG,
            FEq => FCMEQ,
            DEq => DCMEQ,
            IEq => CMEQ,
            SGt => CMGT,
            UGt => CMHI,
            LEq => CMEQ_LONG,
            LGt => CMGT_LONG,
            Lo | MJoin => UZP1,
            Hi => UZP2,
            Join => ZIP1_LONG,
            AndN => return self.dnm(BIC, d, b, a),
            FLt => return self.dnm(FCMGT, d, b, a),
            FLe => return self.dnm(FCMGE, d, b, a),
            DLt => return self.dnm(DCMGT, d, b, a),
            DLe => return self.dnm(DCMGE, d, b, a),
            FNe | DNe => {
                self.dnm(if op == FNe { FCMEQ } else { DCMEQ }, T0, a, b)?;
                return self.dn(NOT, d, T0);
            }
            // a < b ? a : b, and a > b ? a : b, denormals flushed: not the machine's own, which differ in NaN.
            FMin | FMax | DMin | DMax => {
                let wide = matches!(op, DMin | DMax);
                let (x, y) = if matches!(op, FMin | DMin) { (b, a) } else { (a, b) };
                self.dnm(if wide { DCMGT } else { FCMGT }, T0, x, y)?;
                self.dnm(BSL, T0, a, b)?;
                return self.dnm(if wide { DMIN } else { FMIN }, d, T0, T0);
            }
            IMadd16 => {
                self.dnm(SMULL, T0, a, b)?;
                self.dnm(SMULL2, T1, a, b)?;
                return self.dnm(ADDP, d, T0, T1);
            }
            LMulLow => {
                self.dn(XTN, T0, a)?;
                self.dn(XTN, T1, b)?;
                return self.dnm(UMULL, d, T0, T1);
            }
            // Of a count the lowest byte is taken, signed: to the right if negative.
            Shl | Shr | Sar => {
                self.d(if op == Sar { MOVI_31 } else { MOVI_32 }, T0)?;
                self.dnm(UMIN, T0, b, T0)?;
                if op != Shl {
                    self.dn(NEG, T0, T0)?;
                }
                return self.dnm(if op == Sar { SSHL } else { USHL }, d, a, T0);
            }
            LShr | LSar => {
                self.dn(NEG_LONG, T0, b)?;
                return self.dnm(if op == LSar { SSHL_LONG } else { USHL_LONG }, d, a, T0);
            }
            _ => return Err(TooMuch),
        };
        self.dnm(word, d, a, b)
    }

    /// A shift by a constant, below the lanes' bits.
    pub fn shift(&mut self, op: Bin, d: u8, a: u8, n: u32) -> Made<()> {
        if n == 0 {
            return self.copy(d, a);
        }
        let (word, by) = match op {
            Bin::Shl => (SHL, n),
            Bin::Shr => (USHR, 32 - n),
            Bin::Sar => (SSHR, 32 - n),
            Bin::LShl => (SHL_LONG, n),
            Bin::LShr => (USHR_LONG, 64 - n),
            Bin::LSar => (SSHR_LONG, 64 - n),
            _ => return Err(TooMuch),
        };
        self.dn(word | by << 16, d, a)
    }

    /// d = ±(a · b) + d.
    pub fn fma(&mut self, op: Tri, d: u8, a: u8, b: u8) -> Made<()> {
        let word = match op {
            Tri::Fma => FMLA,
            Tri::Fnma => FMLS,
            Tri::DFma => DMLA,
            Tri::DFnma => DMLS,
            _ => return Err(TooMuch),
        };
        self.dnm(word, d, a, b)
    }

    /// d = table[idx], by lane, of 16 words or 32: vectors from [`TABLE`] on are this one's.
    pub fn look(&mut self, table: &'static [u32], d: u8, idx: u8) -> Made<()> {
        let both = table.len() > 16;
        let at = self.in_pool(table);
        self.address(FAR, at)?;
        for i in (0..table.len() as u32 / 4).step_by(2) {
            let r = TABLE + i as u8;
            self.dn(LDP_Q | u32::from(r + 1) << 10 | i << 15, r, FAR)?;
        }
        // The places of words' bytes.
        self.d(if both { MOVI_31 } else { MOVI_15 }, T0)?;
        self.dnm(AND, T0, idx, T0)?;
        self.d(MOVI_4, T1)?;
        self.dnm(MUL, T0, T0, T1)?;
        let bytes = self.constant(0x0302_0100);
        self.load(T1, bytes)?;
        self.dnm(ADD, T0, T0, T1)?;
        self.dnm(TBL4, d, TABLE, T0)?;
        if !both {
            return Ok(());
        }
        // A place outside of a table leaves what there is, or 0.
        self.d(MOVI_64, T1)?;
        self.dnm(SUB_BYTES, T0, T0, T1)?;
        self.dnm(TBX4, d, TABLE + 4, T0)
    }
}

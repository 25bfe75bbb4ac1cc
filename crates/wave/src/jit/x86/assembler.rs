//! Instructions of the two widths, and the bytes they become: iced-x86 does the encoding.

pub use crate::jit::emit::{Made, Source, TooMuch};
use crate::recording::Bin;
use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register};
use rustc_hash::FxHashMap;
use simd::Level;

/// AVX-512: a warp in one register, masks in registers of their own. AVX2: half a warp, masks as vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VectorWidth {
    Half,
    Whole,
}

/// The CPU that code is for.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub width: VectorWidth,
    /// Lanes' words come by loads of their own, not by gathers, because those are slower.
    pub own_loads: bool,
}

impl Target {
    /// None for a level without code.
    pub fn of(level: Level) -> Option<Target> {
        let width = match level {
            Level::PORTABLE => return None,
            Level::Avx2(_) => VectorWidth::Half,
            Level::Avx512(_) => VectorWidth::Whole,
        };
        Some(Target { width, own_loads: width == VectorWidth::Half || simd::gathers_are_slow() })
    }
    /// Targets by their names, for listings.
    pub fn all() -> [(&'static str, Target); 2] {
        [
            ("AVX-512", Target { width: VectorWidth::Whole, own_loads: false }),
            ("AVX2", Target { width: VectorWidth::Half, own_loads: true }),
        ]
    }
    /// Its level has few operations beyond those that all have.
    pub fn is_narrow(self) -> bool {
        self.width == VectorWidth::Half
    }
    /// Vector registers.
    pub fn vectors(self) -> usize {
        if self.width == VectorWidth::Whole { 32 } else { 16 }
    }
    /// Vectors that a warp takes.
    pub fn sides_of_warp(self) -> usize {
        if self.width == VectorWidth::Half { 2 } else { 1 }
    }
}

/// A jump whose target is not known yet.
#[must_use]
#[derive(Clone, Copy)]
pub struct Jump(usize);

pub struct Assembler {
    pub width: VectorWidth,
    /// As [`Target::own_loads`].
    pub own_loads: bool,
    encoder: Encoder,
    at: usize,
    /// What is patched: where four bytes lie, and what they shall be.
    patches: Vec<(usize, i32)>,
    /// The constants, by their 32 bits.
    pool: FxHashMap<u32, u32>,
    pool64: FxHashMap<u64, u32>,
    constants: Vec<u32>,
    /// Tables are among them: where.
    tables: FxHashMap<&'static [u32], u32>,
    /// Where code refers to the pool.
    pool_at: usize,
}

pub const POOL: Register = Register::R9;

impl Assembler {
    pub fn new(target: Target) -> Assembler {
        Assembler {
            width: target.width,
            own_loads: target.own_loads,
            encoder: Encoder::new(64),
            at: 0,
            patches: vec![],
            pool: FxHashMap::default(),
            pool64: FxHashMap::default(),
            constants: vec![],
            tables: FxHashMap::default(),
            pool_at: 0,
        }
    }

    pub fn put(&mut self, i: &Instruction) -> Made<()> {
        self.at += self.encoder.encode(i, self.at as u64).map_err(|_| TooMuch)?;
        Ok(())
    }
    pub fn made(&mut self, i: Result<Instruction, iced_x86::IcedError>) -> Made<()> {
        let i = i.map_err(|_| TooMuch)?;
        self.put(&i)
    }
    pub fn here(&self) -> usize {
        self.at
    }
    pub fn op0(&mut self, code: Code) -> Made<()> {
        self.put(&Instruction::with(code))
    }
    pub fn rr(&mut self, code: Code, a: Register, b: Register) -> Made<()> {
        self.made(Instruction::with2(code, a, b))
    }
    pub fn ri(&mut self, code: Code, a: Register, n: i32) -> Made<()> {
        self.made(Instruction::with2(code, a, n))
    }
    pub fn r(&mut self, code: Code, a: Register) -> Made<()> {
        self.made(Instruction::with1(code, a))
    }
    pub fn rm(&mut self, code: Code, a: Register, m: MemoryOperand) -> Made<()> {
        self.made(Instruction::with2(code, a, m))
    }
    pub fn mr(&mut self, code: Code, m: MemoryOperand, a: Register) -> Made<()> {
        self.made(Instruction::with2(code, m, a))
    }
    pub fn mi(&mut self, code: Code, m: MemoryOperand, n: i32) -> Made<()> {
        self.made(Instruction::with2(code, m, n))
    }
    pub fn m(&mut self, code: Code, m: MemoryOperand) -> Made<()> {
        self.made(Instruction::with1(code, m))
    }
    pub fn r64(&mut self, a: Register, n: u64) -> Made<()> {
        self.made(Instruction::with2(Code::Mov_r64_imm64, a, n))
    }
    pub fn rrr(&mut self, code: Code, a: Register, b: Register, c: Register) -> Made<()> {
        self.made(Instruction::with3(code, a, b, c))
    }

    /// A jump to where [`Assembler::land`] is called with it.
    pub fn jump(&mut self, code: Code) -> Made<Jump> {
        // Far enough that the encoder takes four bytes.
        self.made(Instruction::with_branch(code, self.at as u64 + (1 << 20)))?;
        Ok(Jump(self.at))
    }
    pub fn land(&mut self, j: Jump) {
        self.patches.push((j.0 - 4, (self.at - j.0) as i32));
    }
    pub fn jump_back(&mut self, code: Code, to: usize) -> Made<()> {
        let j = self.jump(code)?;
        self.patches.push((j.0 - 4, to as i32 - j.0 as i32));
        Ok(())
    }
    /// The last four bytes of what was put last are `n`, when it is known.
    pub fn later(&self) -> usize {
        self.at - 4
    }
    pub fn patch(&mut self, at: usize, n: i32) {
        self.patches.push((at, n));
    }

    /// Makes [`POOL`] lead to the constants.
    pub fn find_pool(&mut self) -> Made<()> {
        let m = MemoryOperand::with_base_displ(Register::RIP, self.at as i64 + (1 << 20));
        self.rm(Code::Lea_r64_m, POOL, m)?;
        self.pool_at = self.at;
        Ok(())
    }

    /// The code, with the constants after it.
    pub fn finish(mut self) -> Vec<u8> {
        let mut bytes = self.encoder.take_buffer();
        while !bytes.len().is_multiple_of(64) {
            bytes.push(0xCC);
        }
        if self.pool_at != 0 {
            self.patches.push((self.pool_at - 4, (bytes.len() - self.pool_at) as i32));
        }
        for c in &self.constants {
            bytes.extend(c.to_le_bytes());
        }
        for (at, n) in self.patches {
            bytes[at..at + 4].copy_from_slice(&n.to_le_bytes());
        }
        bytes
    }

    /// Where a constant lies: AVX-512 repeats four bytes by itself.
    pub fn constant(&mut self, x: u32) -> MemoryOperand {
        let repeats = if self.width == VectorWidth::Whole { 1 } else { 8 };
        let constants = &mut self.constants;
        let at = *self.pool.entry(x).or_insert_with(|| {
            constants.extend(std::iter::repeat_n(x, repeats));
            (constants.len() - repeats) as u32 * 4
        });
        let mut m = MemoryOperand::with_base_displ(POOL, at.into());
        m.is_broadcast = self.width == VectorWidth::Whole;
        m
    }
    /// The same of eight bytes.
    pub fn constant64(&mut self, x: u64) -> MemoryOperand {
        let repeats = if self.width == VectorWidth::Whole { 1 } else { 4 };
        let constants = &mut self.constants;
        let at = *self.pool64.entry(x).or_insert_with(|| {
            let at = constants.len() as u32 * 4;
            (0..repeats).for_each(|_| constants.extend([x as u32, (x >> 32) as u32]));
            at
        });
        let mut m = MemoryOperand::with_base_displ(POOL, at.into());
        m.is_broadcast = self.width == VectorWidth::Whole;
        m
    }
    /// A table there.
    pub fn in_pool(&mut self, table: &'static [u32]) -> MemoryOperand {
        let at = self.table(table);
        MemoryOperand::with_base_displ(POOL, at.into())
    }
    /// Numbers of a warp's lanes there.
    pub fn line(&mut self, table: &'static [u32; 16]) -> Option<MemoryOperand> {
        Some(self.in_pool(table))
    }
    /// Where a table begins in the pool.
    fn table(&mut self, table: &'static [u32]) -> u32 {
        let constants = &mut self.constants;
        *self.tables.entry(table).or_insert_with(|| {
            constants.resize(constants.len().next_multiple_of(16), 0);
            let at = constants.len() as u32 * 4;
            constants.extend(table);
            at
        })
    }
    /// d = table[idx], by lane; `free`: what AVX2 has need of. All of them differ. The table has 16 words or 32.
    pub fn look(&mut self, table: &'static [u32], d: u8, idx: u8, free: [u8; 3]) -> Made<()> {
        let first = self.table(table);
        let part = |at: u32| Source::Mem(MemoryOperand::with_base_displ(POOL, (first + at).into()));
        let both = table.len() > 16;
        if self.width == VectorWidth::Whole {
            let (d, idx) = (self.vector(d), self.vector(idx));
            if !both {
                return self.with_source(Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32, d, idx, part(0));
            }
            let low = MemoryOperand::with_base_displ(POOL, first.into());
            self.rm(Code::EVEX_Vmovaps_zmm_k1z_zmmm512, d, low)?;
            return self.with_source(Code::EVEX_Vpermt2d_zmm_k1z_zmm_zmmm512b32, d, idx, part(64));
        }
        let [high, other, pick] = free;
        self.shift(Bin::Shl, pick, idx, 28)?;
        let code = Code::VEX_Vpermd_ymm_ymm_ymmm256;
        for (to, at) in [(d, 0), (high, 64)] {
            if at == 0 || both {
                self.with_source(code, self.vector(to), self.vector(idx), part(at))?;
                self.with_source(code, self.vector(other), self.vector(idx), part(at + 32))?;
                self.select(to, pick, Source::Reg(other), to)?;
            }
        }
        if !both {
            return Ok(());
        }
        self.shift(Bin::Shl, pick, idx, 27)?;
        self.select(d, pick, Source::Reg(high), d)
    }
    /// 1, 2, 4 … by lane.
    pub fn bits(&mut self) -> MemoryOperand {
        // No constant of a kernel's looks like it: its key is one that `constant` may take too, with other bytes.
        let at = match self.pool.get(&BITS) {
            Some(at) => *at,
            None => {
                let at = self.constants.len() as u32 * 4;
                self.constants.extend((0..8).map(|i| 1u32 << i));
                self.pool.insert(BITS, at);
                at
            }
        };
        MemoryOperand::with_base_displ(POOL, at.into())
    }

    pub fn vector(&self, n: u8) -> Register {
        match self.width {
            VectorWidth::Whole => Register::ZMM0 + n as u32,
            VectorWidth::Half => Register::YMM0 + n as u32,
        }
    }

    pub fn with_source(&mut self, code: Code, d: Register, a: Register, s: Source) -> Made<()> {
        let i = match s {
            Source::Reg(r) => Instruction::with3(code, d, a, self.vector(r)),
            Source::Mem(m) => Instruction::with3(code, d, a, m),
        };
        self.made(i)
    }
    pub fn with_source_imm(&mut self, code: Code, d: Register, a: Register, s: Source, imm: u32) -> Made<()> {
        let i = match s {
            Source::Reg(r) => Instruction::with4(code, d, a, self.vector(r), imm),
            Source::Mem(m) => Instruction::with4(code, d, a, m, imm),
        };
        self.made(i)
    }
    pub fn one_source(&mut self, code: Code, d: Register, s: Source) -> Made<()> {
        let i = match s {
            Source::Reg(r) => Instruction::with2(code, d, self.vector(r)),
            Source::Mem(m) => Instruction::with2(code, d, m),
        };
        self.made(i)
    }
    pub fn one_source_imm(&mut self, code: Code, d: Register, s: Source, imm: u32) -> Made<()> {
        let i = match s {
            Source::Reg(r) => Instruction::with3(code, d, self.vector(r), imm),
            Source::Mem(m) => Instruction::with3(code, d, m, imm),
        };
        self.made(i)
    }

    pub fn load(&mut self, d: u8, m: MemoryOperand) -> Made<()> {
        let r = self.vector(d);
        let code = match (self.width, m.is_broadcast) {
            (VectorWidth::Whole, true) => {
                let m = MemoryOperand { is_broadcast: false, ..m };
                return self.rm(Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32, r, m);
            }
            (VectorWidth::Whole, false) => Code::EVEX_Vmovaps_zmm_k1z_zmmm512,
            (VectorWidth::Half, _) => Code::VEX_Vmovaps_ymm_ymmm256,
        };
        self.rm(code, r, m)
    }
    /// The same eight bytes in all lanes; AVX-512's.
    pub fn load64(&mut self, d: u8, m: MemoryOperand) -> Made<()> {
        let m = MemoryOperand { is_broadcast: false, ..m };
        let r = self.vector(d);
        self.rm(Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64, r, m)
    }
    pub fn store(&mut self, m: MemoryOperand, s: u8) -> Made<()> {
        let code = match self.width {
            VectorWidth::Whole => Code::EVEX_Vmovaps_zmmm512_k1z_zmm,
            VectorWidth::Half => Code::VEX_Vmovaps_ymmm256_ymm,
        };
        self.mr(code, m, self.vector(s))
    }
    /// Lanes of mask `k`; AVX-512's.
    pub fn store_some(&mut self, m: MemoryOperand, k: u8, s: u8) -> Made<()> {
        let i = Instruction::with2(Code::EVEX_Vmovaps_zmmm512_k1z_zmm, m, self.vector(s));
        let mut i = i.map_err(|_| TooMuch)?;
        i.set_op_mask(Register::K0 + k as u32);
        self.put(&i)
    }
    pub fn copy(&mut self, d: u8, s: u8) -> Made<()> {
        let code = match self.width {
            VectorWidth::Whole => Code::EVEX_Vmovaps_zmm_k1z_zmmm512,
            VectorWidth::Half => Code::VEX_Vmovaps_ymm_ymmm256,
        };
        self.rr(code, self.vector(d), self.vector(s))
    }
    /// Registers for what all warps use often.
    pub fn pins(&self) -> usize {
        if self.width == VectorWidth::Whole { 2 } else { 3 }
    }
    /// Masks have registers of their own.
    pub fn has_masks(&self) -> bool {
        self.width == VectorWidth::Whole
    }
    /// Of such a register.
    pub fn store_mask(&mut self, m: MemoryOperand, s: u8) -> Made<()> {
        self.mr(Code::VEX_Kmovw_m16_kr, m, Register::K0 + s as u32)
    }
    pub fn load_mask(&mut self, d: u8, m: MemoryOperand) -> Made<()> {
        self.rm(Code::VEX_Kmovw_kr_km16, Register::K0 + d as u32, m)
    }
    pub fn copy_mask(&mut self, d: u8, s: u8) -> Made<()> {
        self.rr(Code::VEX_Kmovw_kr_km16, Register::K0 + d as u32, Register::K0 + s as u32)
    }
    /// These lanes.
    pub fn lanes(&mut self, d: u8, bits: u16) -> Made<()> {
        let m = MemoryOperand { is_broadcast: false, ..self.constant(bits.into()) };
        self.load_mask(d, m)
    }
    /// A jump for a mask without lanes, or with some.
    pub fn jump_if(&mut self, some: bool, mask: u8) -> Made<Jump> {
        if self.width == VectorWidth::Whole {
            let k = Register::K0 + mask as u32;
            self.rr(Code::VEX_Kortestw_kr_kr, k, k)?;
        } else {
            let v = self.vector(mask);
            self.rr(Code::VEX_Vmovmskps_r32_ymm, Register::ECX, v)?;
            self.rr(Code::Test_rm32_r32, Register::ECX, Register::ECX)?;
        }
        self.jump(if some { Code::Jne_rel32_64 } else { Code::Je_rel32_64 })
    }
    /// The frame has so many bytes: `at` is what [`Emit::enter`] gave.
    pub fn set_frame(&mut self, at: usize, bytes: u32) {
        self.patch(at, bytes as i32);
    }
    /// A general register gets the first lane's word.
    pub fn first_lane(&mut self, to: Register, s: u8) -> Made<()> {
        let code = match self.width {
            VectorWidth::Whole => Code::EVEX_Vmovd_rm32_xmm,
            VectorWidth::Half => Code::VEX_Vmovd_rm32_xmm,
        };
        self.rr(code, to, Register::XMM0 + s as u32)
    }
    pub fn zero(&mut self, d: u8) -> Made<()> {
        let code = match self.width {
            VectorWidth::Whole => Code::EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32,
            VectorWidth::Half => Code::VEX_Vpxor_ymm_ymm_ymmm256,
        };
        let r = self.vector(d);
        self.rrr(code, r, r, r)
    }
}

/// The pool's key for [`Assembler::bits`]: the bits of a NaN that no kernel has.
const BITS: u32 = 0xFFC0_B175;

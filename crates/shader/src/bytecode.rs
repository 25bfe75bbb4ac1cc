//! The bytecode that the wave engine runs: 16-byte ops over a register file of 64-byte units.
//!
//! **Registers.** A wave has 64, 128 or 256 lanes: warps of 16 lanes. The file is one 64-byte aligned run of bytes;
//! a [`Reg`] names its first unit of 64 bytes.
//!
//! | register | units | layout |
//! |---|---|---|
//! | varying B32 | lanes / 16 | warp w's 16 lanes at unit w |
//! | varying B64 | 2 · lanes / 16 | warp w's 16 lanes at units 2w, 2w+1 |
//! | uniform B32, B64 | 1, 2 | the value, 16 times |
//! | Bool, uniform or not | 1 | one u16 mask a warp, lane i = bit i; unused warps' masks are ignored |
//!
//! A uniform register is read with stride 0 by the same kernels that read varying ones; an op whose destination is
//! uniform runs over one warp only. A uniform Bool is all ones or all zeros over the wave's 16 masks.
//! Operands may mix; a uniform destination needs uniform sources only.
//!
//! **Masks.** `exec` holds one bit a lane; `live` has one bit per non-empty warp. Ops without side effects may write
//! any lane of any *live* warp (values of inactive lanes are nobody's business) and must leave dead warps alone.
//! Fragment waves also have `alive`, the lanes that are no helpers, which only [`Code::NARROW`], [`Code::DEMOTE`] and
//! [`Code::HELPER`] know.
//! Only masked moves, stores, atomics and image writes look at the lanes of `exec`; subgroup ops read them.
//! An op never executes with an empty `exec`: every op that narrows it carries a target to jump to instead.
//!
//! **Control.** Jump targets are absolute op indices (`imm`). Structured control flow is made of [`Code::SPLIT`],
//! [`Code::SETEXEC`] and mask registers in which lanes wait at the block where they meet.

use crate::ir::{AtomicOp, Bin, Dim, ImageOp, Input, Mem, Quad, ReduceOp, Scan, TexelType, Tri, Ty, Un};

/// Register name: bits 0..15 the unit, bit 15 set when uniform. Bools never set it in operands of mask ops, and
/// their kernels ignore it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct Reg(pub u16);

impl Reg {
    pub const NONE: Reg = Reg(0xFFFF);
    pub const UNIFORM: u16 = 0x8000;
    pub fn varying(unit: u16) -> Reg {
        Reg(unit)
    }
    pub fn uniform(unit: u16) -> Reg {
        Reg(unit | Self::UNIFORM)
    }
    #[inline(always)]
    pub fn unit(self) -> usize {
        (self.0 & 0x7FFF) as usize
    }
    #[inline(always)]
    pub fn is_uniform(self) -> bool {
        self.0 & Self::UNIFORM != 0
    }
    #[inline(always)]
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

pub const UNIT_BYTES: usize = 64;
/// Units a program may use (the register file's largest size is 2 MiB − 64).
pub const MAX_UNITS: usize = 0x7FFF;

/// One op. What each field means is told at its [`Code`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(16))]
pub struct Op {
    pub code: Code,
    pub d: Reg,
    pub a: Reg,
    pub b: Reg,
    pub c: Reg,
    pub e: u16,
    pub imm: u32,
}

impl Op {
    pub fn new(code: Code) -> Op {
        Op { code, d: Reg::NONE, a: Reg::NONE, b: Reg::NONE, c: Reg::NONE, e: 0, imm: 0 }
    }
    /// An extension word: eight registers of the op before it (its `code` field is the first of them).
    pub fn ext(r: [Reg; 8]) -> Op {
        Op {
            code: Code(r[0].0),
            d: r[1],
            a: r[2],
            b: r[3],
            c: r[4],
            e: r[5].0,
            imm: r[6].0 as u32 | (r[7].0 as u32) << 16,
        }
    }
    /// Reads an extension word back.
    #[inline(always)]
    pub fn regs(&self) -> [Reg; 8] {
        [
            Reg(self.code.0),
            self.d,
            self.a,
            self.b,
            self.c,
            Reg(self.e),
            Reg(self.imm as u16),
            Reg((self.imm >> 16) as u16),
        ]
    }
}

/// Op numbers. Arithmetic is numbered from the IR's own enums: [`Code::un`], [`Code::bin`], [`Code::tri`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Code(pub u16);

impl Code {
    /// End of the program for all lanes.
    pub const END: Code = Code(0);
    /// pc = imm.
    pub const JMP: Code = Code(1);
    /// If uniform Bool `a` is false, pc = imm.
    pub const JMP_UNLESS: Code = Code(2);
    /// d = exec & a; b = exec & !a; exec = d; if exec is empty, pc = imm.
    pub const SPLIT: Code = Code(3);
    /// exec = a; if empty, pc = imm.
    pub const SETEXEC: Code = Code(4);
    /// d = exec.
    pub const GETEXEC: Code = Code(5);
    /// d |= exec.
    pub const OREXEC: Code = Code(6);
    /// d |= exec; exec = ∅; pc = imm (an unconditional branch to a place where lanes wait).
    pub const PARK: Code = Code(7);
    /// b |= exec & a; exec &= !a; if empty, pc = imm (a conditional `break`).
    pub const PARK_IF: Code = Code(8);
    /// Loop end: exec = a; a = ∅; if exec is not empty, pc = imm. Counts for the watchdog. When control falls
    /// through, exec is empty and a SETEXEC follows. Without `a` (NONE): exec is unchanged and pc = imm always.
    /// Counts first, as TALLY does, at row e unless that is 0.
    pub const LOOP: Code = Code(9);
    /// d = a & !b (masks).
    pub const MASK_ANDN: Code = Code(10);
    /// d = ∅.
    pub const MASK_CLEAR: Code = Code(11);
    /// Control barrier: the wave yields; it resumes at the next op.
    pub const BARRIER: Code = Code(12);
    /// Masked moves under exec: d's active lanes = a's. 32, 64 bit, Bool.
    pub const MOVM32: Code = Code(13);
    pub const MOVM64: Code = Code(14);
    pub const MOVMB: Code = Code(15);
    /// Masked moves under mask `b` (a subset of exec).
    pub const MOVIF32: Code = Code(16);
    pub const MOVIF64: Code = Code(17);
    pub const MOVIFB: Code = Code(18);
    /// Memory barrier (a compiler and CPU fence).
    pub const FENCE: Code = Code(19);
    /// Lanes that waited in `a` join those that arrive: exec |= a; if exec is empty, pc = imm.
    pub const JOIN: Code = Code(20);
    /// If uniform Bool `a` is true, pc = imm.
    pub const JMP_IF: Code = Code(21);
    /// As SPLIT, for rare conditions: when exec & a is empty, exec and the masks stay as they are and pc = imm.
    pub const SPLIT_RARE: Code = Code(22);
    /// Fragment: d = exec; exec &= alive; if empty, pc = imm, where a SETEXEC of `d` stands. Around side effects.
    pub const NARROW: Code = Code(23);
    /// Fragment: alive &= !exec. The program ends when no lane is left alive.
    pub const DEMOTE: Code = Code(24);
    /// Fragment: d = !alive.
    pub const HELPER: Code = Code(25);

    /// What passes here is counted: live warps, and those with fewer lanes than their wave began with, at row imm of
    /// the wave's tally; lanes too when e is 1.
    pub const TALLY: Code = Code(26);

    /// Memory. Fields: d = register loaded or stored (n = 1) else NONE and ext words follow with n registers;
    /// a = byte offset B32 (address B64 for GLOBAL; word index for SCRATCH), uniform or varying;
    /// b = descriptor B64 (BUF only); c = second addend, uniform B32 or NONE; e = [`mem_bits`]; imm = constant addend (bytes; words for SCRATCH).
    /// The offset is (a + c + imm) mod 2^32 for BUF, SHARED, SCRATCH, PUSH. `a` may be NONE (0).
    /// Component i is at + i · mem bytes (words of its size for SCRATCH).
    pub const LD_BUF: Code = Code(32);
    pub const LD_GLOBAL: Code = Code(33);
    pub const LD_SHARED: Code = Code(34);
    pub const LD_SCRATCH: Code = Code(35);
    pub const LD_PUSH: Code = Code(36);
    pub const ST_BUF: Code = Code(37);
    pub const ST_GLOBAL: Code = Code(38);
    pub const ST_SHARED: Code = Code(39);
    pub const ST_SCRATCH: Code = Code(40);
    /// Atomics: as loads; e = mem bits with the [`AtomicOp`] in bits 8..; d = old value or NONE; an ext word follows:
    /// [value, comparator or NONE, ..].
    pub const AT_BUF: Code = Code(41);
    pub const AT_GLOBAL: Code = Code(42);
    pub const AT_SHARED: Code = Code(43);
    pub const AT_SCRATCH: Code = Code(44);
    /// d (B64) = address of a descriptor: table e, byte offset imm + index a (B32) · stride; ext word as four u32
    /// (its bytes): [stride, count, `DESC_…` bits, 0]. Outside the table, or index ≥ count: the null descriptor's
    /// address. With [`DESC_INLINE`]: d = address of a descriptor {data address, count bytes} that the engine keeps.
    /// With [`DESC_IN_MEMORY`]: of what the host says the table's bytes mean, which the engine keeps too.
    pub const DESC: Code = Code(45);
    /// d (B32) = size in bytes of buffer descriptor b, saturated to 32 bits.
    pub const BUF_SIZE: Code = Code(46);
    /// Image operation: imm indexes [`Program::images`].
    pub const IMAGE: Code = Code(47);
    /// d (B64) = clock.
    pub const CLOCK: Code = Code(48);

    /// Subgroups (warps of 16), reading exec. d, a; SHUFFLE: b = lane; QUAD: e = [`Quad`];
    /// REDUCE: e = ReduceOp | Scan << 4 | log2(cluster) << 8 (cluster 16 = whole warp).
    pub const BALLOT: Code = Code(64);
    pub const FIRST32: Code = Code(65);
    pub const FIRST64: Code = Code(66);
    pub const SHUFFLE32: Code = Code(67);
    pub const SHUFFLE64: Code = Code(68);
    pub const QUAD32: Code = Code(69);
    pub const QUAD64: Code = Code(70);
    pub const REDUCE32: Code = Code(71);
    pub const REDUCE64: Code = Code(72);

    /// Superinstructions a peephole may form; see their kernels.
    /// Of those that compare and split or park, bits 9 to 11 of e are a [`Before`]: what stands for the right operand
    /// is computed from b, c and d by that op; with bit 12 it is the left one, and a the right one.
    /// Compare and split: as SPLIT with cond = Bin(e)(a, b) of 32 bits; masks in the ext word [yes, no, ..].
    pub const CMP_SPLIT: Code = Code(80);
    /// Compare and park: as PARK_IF with the condition Bin(e & 0xFF)(a, b), negated if e bit 8; ext word [target mask].
    pub const CMP_PARK: Code = Code(81);
    /// If the uniform condition Bin(e & 0xFF)(a, b) of 32 bits, negated if e bit 8, is true, pc = imm.
    pub const CMP_JMP: Code = Code(82);
    /// As SPLIT_RARE with the condition Bin(e & 0xFF)(a, b) of 32 bits, negated if e bit 8; ext word [yes, no, ..].
    pub const CMP_SPLIT_RARE: Code = Code(83);
    /// The end of a counting loop: d = a + b (uniform, 32 bits), then as LOOP; at op imm there is a CMP_JMP, which is
    /// done at once.
    pub const LOOP_NEXT: Code = Code(84);

    const UN: u16 = 256;
    const BIN: u16 = 512;
    const TRI: u16 = 768;
    /// Added for 64-bit operands, or for Bool operands.
    const WIDE: u16 = 1;
    const BOOL: u16 = 2;
    /// Codes from here on are [`crate::pairs`]: operands in a, b, c, e, low half of imm.
    pub const UNPAIRED: usize = 1024;
    /// Codes from here on are [`crate::twins`]: results in d and b; operands in a, c, e, low and high half of imm.
    pub const TWINS: usize = 1792;
    /// Codes are below this.
    pub const COUNT: usize = 2048;

    /// Codes from here on are CMP_SPLIT, CMP_PARK and CMP_SPLIT_RARE with the condition in the code, 64 each.
    const FUSED: u16 = 1536;

    /// One of the three comparing codes for the condition in `e`, which stays there too; itself if there is none.
    pub fn fused(self, e: u16) -> Code {
        let kind = match self {
            Code::CMP_SPLIT => 0,
            Code::CMP_PARK => 1,
            Code::CMP_SPLIT_RARE => 2,
            _ => return self,
        };
        use Bin::*;
        let list = [FLt, FLe, FEq, FNe, IEq, INe, SLt, SLe, ULt, ULe];
        let Some(c) = list.iter().position(|b| *b as u16 == e & 0xFF) else { return self };
        let c = c as u16;
        let i = match Before::of(e) {
            Before::Nothing => c,
            before if c < 2 => 12 + before as u16 * 4 + c * 2 + (e & BEFORE_LEFT != 0) as u16,
            _ => return self,
        };
        Code(Self::FUSED + kind * 64 + i)
    }
    /// The code that [`Code::fused`] was called on.
    pub fn unfused(self) -> Code {
        match self.0.checked_sub(Self::FUSED).map(|i| i / 64) {
            Some(0) => Code::CMP_SPLIT,
            Some(1) => Code::CMP_PARK,
            Some(2) => Code::CMP_SPLIT_RARE,
            _ => self,
        }
    }

    /// The code of the pair of this number.
    pub const fn pair(i: usize) -> Code {
        Code((Self::UNPAIRED + i) as u16)
    }

    /// The code of the twin of this number.
    pub const fn twin(i: usize) -> Code {
        Code((Self::TWINS + i) as u16)
    }

    /// `ty`: the operand's width.
    pub const fn un(op: Un, ty: Ty) -> Code {
        Code(Self::UN + (op as u16) * 2 + matches!(ty, Ty::B64) as u16 * Self::WIDE)
    }
    pub const fn bin(op: Bin, ty: Ty) -> Code {
        Code(Self::BIN + (op as u16) * 2 + matches!(ty, Ty::B64) as u16 * Self::WIDE)
    }
    /// Select's `ty` is that of its result; the others' that of their operands.
    pub const fn tri(op: Tri, ty: Ty) -> Code {
        let w = match ty {
            Ty::B64 => Self::WIDE,
            Ty::Bool => Self::BOOL,
            _ => 0,
        };
        Code(Self::TRI + (op as u16) * 4 + w)
    }
}

/// What a fused comparison computes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub enum Before {
    Nothing,
    FAdd,
    FSub,
    FMul,
    Fma,
    FSumSquares,
}

impl Before {
    /// From and to `e` of a fused comparison.
    pub fn of(e: u16) -> Before {
        use Before::*;
        [Nothing, FAdd, FSub, FMul, Fma, FSumSquares]
            .get(e as usize >> 9 & 7)
            .copied()
            .unwrap_or(Before::Nothing)
    }
    pub fn bits(self, swapped: bool) -> u16 {
        (self as u16) << 9 | (swapped as u16) << 12
    }
}
/// Bit of `e`: the computed operand is the left one.
pub const BEFORE_LEFT: u16 = 1 << 12;

/// A binding's form in [`Code::DESC`]: the table holds the data of an inline uniform block.
pub const DESC_INLINE: u32 = 1;
/// The table lies in memory that the application writes.
pub const DESC_IN_MEMORY: u32 = 2;
/// A texel buffer's, in such memory.
pub const DESC_TEXELS: u32 = 4;

/// `e` of memory ops: bits 0..4 [`Mem`], bits 3..8 n − 1.
#[inline(always)]
pub const fn mem_bits(mem: Mem, n: u8) -> u16 {
    mem as u16 | ((n - 1) as u16) << 3
}
/// Added to `e` of loads and stores when it is known how `a` lies within each warp whose lanes are all active: the
/// same for all lanes, or each lane's n scalars after the one's before.
pub const SHAPE_SAME: u16 = 0x100;
pub const SHAPE_RUN: u16 = 0x200;
/// Added to [`SHAPE_SAME`] of loads whose line is counted with their block ([`crate::cost::Cost::single`]).
pub const SHAPE_SINGLE: u16 = 0x400;

#[inline(always)]
pub fn mem_of(e: u16) -> Mem {
    match e & 7 {
        0 => Mem::U8,
        1 => Mem::U16,
        2 => Mem::F16,
        3 => Mem::B32,
        _ => Mem::B64,
    }
}
/// Components: 1 to 16.
#[inline(always)]
pub fn n_of(e: u16) -> usize {
    ((e >> 3) & 15) as usize + 1
}
pub fn atomic_bits(mem: Mem, op: AtomicOp) -> u16 {
    mem_bits(mem, 1) | (op as u16) << 8
}
pub fn reduce_bits(op: ReduceOp, scan: Scan, cluster: u32) -> u16 {
    op as u16 | (scan as u16) << 4 | (cluster.min(16).trailing_zeros() as u16) << 8
}
pub fn quad_bits(q: Quad) -> u16 {
    q as u16
}

/// Registers of one image operation; see [`crate::ir::ImageInst`] for what each means.
#[derive(Clone, PartialEq, Debug)]
pub struct ImageCode {
    pub op: ImageOp,
    pub dim: Dim,
    pub arrayed: bool,
    pub multisampled: bool,
    pub texel: TexelType,
    pub format: u32,
    pub image: Reg,
    pub sampler: Reg,
    pub coords: Vec<Reg>,
    pub dref: Reg,
    pub lod: Reg,
    pub bias: Reg,
    pub grad: Vec<Reg>,
    pub offsets: Vec<Reg>,
    pub sample: Reg,
    pub min_lod: Reg,
    pub component: u32,
    pub data: Vec<Reg>,
    /// Result registers; NONE for parts nobody reads. A varying register unless image, sampler and every operand
    /// are uniform.
    pub results: Vec<Reg>,
    /// Register of the residency code, or NONE.
    pub residency: Reg,
}

/// Units used by one range of ops, kept for counters: which of the application's blocks they come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockRange {
    pub first_op: u32,
    pub origin: crate::ir::Origin,
}

/// A shader ready to run.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    pub stage: crate::ir::Stage,
    /// Vertex and fragment: what the stage needs to know.
    pub interface: crate::interface::Interface,
    /// Vertex and fragment: where each slot's value lies when the program has ended ([`crate::interface`]).
    pub outputs: Vec<(u16, Reg)>,
    /// 64, 128 or 256.
    pub lanes: u32,
    /// Lanes of one workgroup; workgroups start on a warp boundary and never share a warp.
    pub workgroup: [u32; 3],
    pub code: Vec<Op>,
    pub images: Vec<ImageCode>,
    /// Units of the register file.
    pub units: u32,
    /// Written once per thread and dispatch: uniform registers of constants.
    pub consts: Vec<(Reg, Ty, u64)>,
    /// Filled by the engine at each wave's start.
    pub inputs: Vec<(Input, Reg)>,
    /// Ops `0..prologue` depend on nothing but push constants and descriptors: run once per thread and dispatch (with
    /// exec full), the rest once a wave. They write uniform registers that nobody else writes.
    pub prologue: u32,
    /// Bytes of workgroup memory, which starts as zero.
    pub shared_bytes: u32,
    pub scratch_words: u32,
    /// True when several workgroups may be packed into one wave: then WorkgroupId is varying.
    pub packed: bool,
    /// The wave must yield at barriers (a workgroup has more invocations than lanes).
    pub multi_wave: bool,
    pub quad_derivatives: bool,
    pub blocks: Vec<BlockRange>,
    pub files: Vec<String>,
    pub profile: crate::cost::Profile,
}

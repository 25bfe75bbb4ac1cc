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

use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

use crate::data::Data;
use crate::notes::Notes;
use crate::options::{Binding, Heap};

use crate::ir::{
    AtomicOp, Bin, Dim, ImageOp, Input, Intersection, Mem, Quad, RayAttribute, ReduceOp, Scan, Site,
    TexelType, Tri, Ty, Un,
};

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

/// Of a product, besides its [`crate::ir::Product`]: a row of the result may be written before later rows are computed.
pub const PRODUCT_AT_ONCE: u16 = 0x100;

/// What `imm` of a product says of it and of the products that follow it at once: a kernel computes them together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProductGroup {
    /// Products from this one on, this one included: 1 to [`ProductGroup::MOST`].
    pub count: u8,
    /// Numbers of the left and of the right matrix, below [`ProductGroup::MOST`]. Products of a group whose numbers agree read the same
    /// matrix: it lies in the same registers, and nothing is written there in between.
    pub matrices: [u8; 2],
    /// The next product has the same left matrix, and the two may be computed row by row together: none reads or writes what the
    /// other one writes.
    pub pair: bool,
}

impl ProductGroup {
    pub const MOST: usize = 16;

    pub fn of(imm: u32) -> ProductGroup {
        let number = |shift: u32| (imm >> shift) as u8 % Self::MOST as u8;
        ProductGroup { count: number(0) + 1, matrices: [number(4), number(8)], pair: imm >> 12 & 1 != 0 }
    }
    pub fn imm(self) -> u32 {
        let [left, right] = self.matrices;
        (self.count - 1) as u32 | (left as u32) << 4 | (right as u32) << 8 | (self.pair as u32) << 12
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

/// Op numbers: those of [`crate::isa::code`], which says what the fields of each mean. Arithmetic is numbered from the
/// IR's own enums: [`Code::un`], [`Code::bin`], [`Code::tri`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Code(pub u16);

// Each kind's ops fit below the next kind's codes; a comparison's number has eight bits of `e`.
const _: () = assert!(Un::ALL.len() * 2 <= 256 && Bin::ALL.len() * 2 <= 256 && Tri::ALL.len() * 4 <= 256);

impl Code {
    /// Codes from here to [`Code::UNPAIRED`] are arithmetic.
    pub const ARITHMETIC: usize = 256;
    const UN: u16 = Self::ARITHMETIC as u16;
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

    /// Comparisons that a branch may make itself, in the order of their codes.
    pub const COMPARES: [Bin; 10] = {
        use Bin::*;
        [FLt, FLe, FEq, FNe, IEq, INe, SLt, SLe, ULt, ULe]
    };

    /// One of the three comparing codes for the condition in `e`, which stays there too; itself if there is none.
    pub fn fused(self, e: u16) -> Code {
        let kind = match self {
            Code::CMP_SPLIT => 0,
            Code::CMP_PARK => 1,
            Code::CMP_SPLIT_RARE => 2,
            _ => return self,
        };
        let Some(c) = Self::COMPARES.iter().position(|b| *b as u16 == e & 0xFF) else { return self };
        let c = c as u16;
        let i = match Before::of(e) {
            Before::Nothing => c,
            before if c < 2 => 12 + before as u16 * 4 + c * 2 + (e & BEFORE_LEFT != 0) as u16,
            _ => return self,
        };
        Code(Self::FUSED + kind * 64 + i)
    }
    /// A load, a store or an atomic, of single values or of rows.
    pub fn is_memory(self) -> bool {
        matches!(self.0, 32..=44 | 57..=62)
    }
    /// A load that may stand for several ([`parts_of`]).
    #[inline]
    pub fn is_plain_load(self) -> bool {
        matches!(self, Code::LD_BUF | Code::LD_GLOBAL | Code::LD_SHARED)
    }
    pub fn is_atomic(self) -> bool {
        matches!(self.0, 41..=44)
    }
    /// Of rows, the code that loads or stores one of them.
    pub fn one_row(self) -> Option<Code> {
        let [loads, stores] =
            [self.0.wrapping_sub(Code::LD_ROWS_BUF.0), self.0.wrapping_sub(Code::ST_ROWS_BUF.0)];
        match (loads, stores) {
            (0..3, _) => Some(Code(Code::LD_BUF.0 + loads)),
            (_, 0..3) => Some(Code(Code::ST_BUF.0 + stores)),
            _ => None,
        }
    }
    /// The code that [`Code::fused`] was called on.
    #[inline]
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
/// `a` (B64) is the device address at which a buffer begins.
pub const DESC_ADDRESS: u32 = 8;
/// `imm` indexes [`Program::embedded`].
pub const DESC_EMBEDDED: u32 = 16;
/// `imm` indexes [`Program::data`].
pub const DESC_DATA: u32 = 32;

/// `e` of memory ops: bits 0..4 [`Mem`], bits 3..8 n − 1.
#[inline(always)]
pub const fn mem_bits(mem: Mem, n: u8) -> u16 {
    mem as u16 | ((n - 1) as u16) << 3
}
/// Added to `e` of loads and stores when it is known how `a` lies within each warp whose lanes are all active: the
/// same for all lanes, or each lane's n scalars after the one's before.
pub const SHAPE_SAME: u16 = 0x100;
pub const SHAPE_RUN: u16 = 0x200;
/// Of loads whose line is counted with their block ([`crate::cost::Cost::single`]): added to [`SHAPE_SAME`], or alone, of the program's
/// own words ([`Program::data`]).
pub const SHAPE_SINGLE: u16 = 0x400;

/// Added to `e` of a load that stands for `parts` (1 to 16) loads, one after the other in memory, of as many scalars each. They are
/// counted as if each were an op of its own.
#[inline(always)]
pub const fn parts_bits(parts: u8) -> u16 {
    ((parts - 1) as u16) << 12
}
#[inline(always)]
pub fn parts_of(e: u16) -> usize {
    (e >> 12) as usize + 1
}

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

/// Ray queries of a lane. Each takes some kilobytes while its candidates are decided on.
pub const MOST_QUERIES: u32 = 256;

/// `imm` of [`Code::RAY_GET`].
pub fn ray_bits(attribute: RayAttribute, which: Intersection) -> u32 {
    attribute as u32 | (which as u32) << 8
}
/// What [`ray_bits`] made, or an error of the program's.
pub fn ray_attribute(imm: u32) -> Option<(RayAttribute, Intersection)> {
    let attribute = RayAttribute::ALL.get(imm as usize & 0xFF)?;
    Some((*attribute, *Intersection::ALL.get(imm as usize >> 8)?))
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
    /// As [`crate::ir::ImageInst::half`].
    pub half: bool,
}

impl ImageCode {
    /// All of its registers, NONE among them.
    pub fn registers(&self) -> impl Iterator<Item = Reg> {
        let one = [self.image, self.sampler, self.dref, self.lod, self.bias, self.sample, self.min_lod];
        let lists = [&self.coords, &self.grad, &self.offsets, &self.data, &self.results];
        one.into_iter().chain([self.residency]).chain(lists.into_iter().flatten().copied())
    }
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
    /// Descriptors that are part of the pipeline, in the host's form for those in memory.
    pub embedded: Vec<[u64; 4]>,
    /// What its probes tell of ([`crate::ir::Shader::sites`]).
    pub sites: Vec<Site>,
    /// What its notes mean, if it is debugged. No part of its bytes: such a program does not come from a cache.
    pub notes: Notes,
    /// Buffers of words that it only reads.
    pub data: Vec<Data>,
    /// Units of the register file.
    pub units: u32,
    /// The first of these hold addresses of descriptors and nothing else, which the engine follows unasked: ops put there what DESC gave
    /// or what was there, and before the first of them the engine puts the null descriptor's address.
    pub handles: u32,
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
    /// Private words, from the first to one past the last, that are zero when a wave begins: others' are never seen in them.
    pub zeroed: [u32; 2],
    /// Ray queries of a lane.
    pub queries: u32,
    /// True when several workgroups may be packed into one wave: then WorkgroupId is varying.
    pub packed: bool,
    /// The wave must yield at barriers (a workgroup has more invocations than lanes).
    pub multi_wave: bool,
    /// [`crate::ir::Shader::keeps_denormals`]
    pub keeps_denormals: bool,
    pub quad_derivatives: bool,
    pub blocks: Vec<BlockRange>,
    pub files: Vec<String>,
    pub profile: crate::cost::Profile,
    /// The same, as the engine has made it faster.
    pub compiled: Compiled,
}

/// Ops with the numbers and meaning of a program's, some of which may be a [`Code::SEGMENT`] that does what several did.
pub trait CompiledCode: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe {
    fn code(&self) -> &[Op];
    /// For which of the engine's levels it is.
    fn level(&self) -> usize;
    /// Memory that it takes, in bytes.
    fn bytes(&self) -> usize;
}

/// A place for a program's compiled code, and how often it has run without. No part of what a program is: copies begin without,
/// and compare without.
#[derive(Default)]
pub struct Compiled {
    code: OnceLock<Option<Box<dyn CompiledCode>>>,
    pub runs: AtomicU32,
}

impl Compiled {
    /// The code, once somebody has tried to make it; `Some(None)`: there is none to be had.
    pub fn get(&self) -> Option<Option<&dyn CompiledCode>> {
        self.code.get().map(Option::as_deref)
    }
    /// What `make` gives, unless somebody was quicker.
    pub fn set(&self, make: impl FnOnce() -> Option<Box<dyn CompiledCode>>) {
        self.code.get_or_init(make);
    }
}

impl Clone for Compiled {
    fn clone(&self) -> Compiled {
        Compiled::default()
    }
}
impl PartialEq for Compiled {
    fn eq(&self, _: &Compiled) -> bool {
        true
    }
}
impl std::fmt::Debug for Compiled {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(if self.code.get().is_some() { "compiled" } else { "not compiled" })
    }
}

impl Program {
    /// A compute program of one invocation, without code.
    pub fn empty() -> Program {
        Program {
            stage: crate::ir::Stage::Compute,
            interface: Default::default(),
            outputs: vec![],
            lanes: 0,
            workgroup: [1; 3],
            code: vec![],
            images: vec![],
            embedded: vec![],
            sites: vec![],
            notes: Notes::default(),
            data: vec![],
            units: 0,
            handles: 0,
            consts: vec![],
            inputs: vec![],
            prologue: 0,
            shared_bytes: 0,
            scratch_words: 0,
            zeroed: [0; 2],
            queries: 0,
            packed: false,
            multi_wave: false,
            keeps_denormals: false,
            quad_derivatives: false,
            blocks: vec![],
            files: vec![],
            profile: Default::default(),
            compiled: Default::default(),
        }
    }
    /// The bindings of sets whose descriptors it reads: each must be one of the pipeline's layout.
    pub fn bindings(&self) -> Vec<Binding> {
        let mut found = vec![];
        let mut pc = 0;
        while let Some(op) = self.code.get(pc) {
            if op.code == Code::DESC
                && (op.e as u32) < Heap::FIRST_TABLE
                && let Some(raw) = self.code.get(pc + 1).map(Op::regs)
            {
                let word = |i: usize| raw[2 * i].0 as u32 | (raw[2 * i + 1].0 as u32) << 16;
                let [stride, count, form] = [0, 1, 2].map(word);
                found.push(Binding {
                    table: op.e as u32,
                    offset: op.imm,
                    stride,
                    count,
                    inline_data: form & DESC_INLINE != 0,
                    in_memory: form & DESC_IN_MEMORY != 0,
                    each: 1,
                });
            }
            pc += 1 + crate::isa::code::extension_words(op);
        }
        found
    }
    /// Whether it reads descriptors of that table of a dispatch ([`crate::options::Binding::table`]).
    pub fn reads_table(&self, table: u32) -> bool {
        self.has(|op| op.code == Code::DESC && op.e as u32 == table)
    }
    /// Whether it reads the device's clock (OpReadClockKHR).
    pub fn reads_clock(&self) -> bool {
        self.has(|op| op.code == Code::CLOCK)
    }
    /// Whether it reads or writes memory by device addresses, without a descriptor.
    pub fn has_addresses(&self) -> bool {
        self.has(|op| {
            let code = op.code.one_row().unwrap_or(op.code);
            matches!(code, Code::LD_GLOBAL | Code::ST_GLOBAL | Code::AT_GLOBAL)
        })
    }
    fn has(&self, is: impl Fn(&Op) -> bool) -> bool {
        let mut pc = 0;
        while let Some(op) = self.code.get(pc) {
            if is(op) {
                return true;
            }
            pc += 1 + crate::isa::code::extension_words(op);
        }
        false
    }
}

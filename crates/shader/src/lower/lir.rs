//! The lowered form before registers are known: ops in their final order over virtual registers.

use crate::bytecode::Code;
use crate::ir::{Input, Origin, Ty};
use crate::isa::code::ROWS;

/// A virtual register: the number of an IR value, or above.
pub type V = u32;
pub const NONE: V = u32::MAX;

/// What an op does with its fields, from its row of [`crate::isa::code`]; `a` and `c` are always read, `b`, `d` and the
/// registers of extension words unless they are written.
pub mod flag {
    use crate::bytecode::Code;
    use crate::isa::code::{Words, layout};

    pub const D_DEF: u16 = 1;
    pub const B_DEF: u16 = 2;
    pub const EXT_DEF: u16 = 4;
    pub const EXT_USE: u16 = 8;
    /// The first [`ROWS`] registers of extension words are written, the others read.
    pub const ROWS_DEF: u16 = 64;
    /// Some register is written.
    pub const DEF: u16 = D_DEF | EXT_DEF | ROWS_DEF;
    /// Lane-wise: the destination may share a register with an operand of the same shape that dies here.
    pub const ELEM: u16 = 16;
    /// `imm` is a label.
    pub const LABEL: u16 = 32;

    pub fn of(code: Code) -> u16 {
        let it = layout(code);
        let when = |is: bool, flag: u16| if is { flag } else { 0 };
        when(it.d.writes(), D_DEF)
            | when(it.b.writes(), B_DEF)
            | when(it.registers.writes(), EXT_DEF)
            // The code that ends a program names the registers of outputs.
            | when(it.registers.reads() || code == Code::END, EXT_USE)
            | when(it.words == Words::Matrices, ROWS_DEF)
            | when(it.reads_first(), ELEM)
            | when(it.label, LABEL)
    }
}

/// Not real ops: a group of parallel copies (ext: dst, src, masked; `imm`: the loop that they read from; `b`: the loop that lanes are in
/// after them), an image operation (`imm` indexes [`Lir::images`]), a descriptor address (`ext` indexes [`Lir::raw`]).
pub const COPIES: Code = Code(0xFFFF);

#[derive(Clone, Copy, Debug)]
pub struct Inst {
    pub code: Code,
    pub flags: u16,
    pub e: u16,
    pub imm: u32,
    pub d: V,
    pub a: V,
    pub b: V,
    pub c: V,
    pub ext: u32,
    pub ext_len: u32,
}

impl Inst {
    pub fn new(code: Code) -> Inst {
        let flags = flag::of(code);
        Inst { code, flags, e: 0, imm: 0, d: NONE, a: NONE, b: NONE, c: NONE, ext: 0, ext_len: 0 }
    }
    /// Whether register `i` of the extension words is written.
    pub fn writes_extension(&self, i: u32) -> bool {
        self.flags & flag::EXT_DEF != 0 || self.flags & flag::ROWS_DEF != 0 && (i as usize) < ROWS
    }
    /// The same fields, for another op.
    pub fn code(self, code: Code) -> Inst {
        Inst { code, flags: flag::of(code), ..self }
    }
    pub fn d(mut self, d: V) -> Inst {
        self.d = d;
        self
    }
    pub fn a(mut self, a: V) -> Inst {
        self.a = a;
        self
    }
    pub fn b(mut self, b: V) -> Inst {
        self.b = b;
        self
    }
    pub fn c(mut self, c: V) -> Inst {
        self.c = c;
        self
    }
    pub fn e(mut self, e: u16) -> Inst {
        self.e = e;
        self
    }
    pub fn imm(mut self, imm: u32) -> Inst {
        self.imm = imm;
        self
    }
}

/// What a virtual register holds.
#[derive(Clone, Copy, Debug)]
pub struct VReg {
    pub ty: Ty,
    pub uniform: bool,
    /// Loop in which it lives ([`crate::cfg::NONE`]: none); occurrences in deeper loops hold it through them.
    pub home: u32,
    /// Loop whose header phi this is, if copies on the back edge may be coalesced.
    pub header_of: u32,
    /// Holds its register through the whole program.
    pub pinned: bool,
    /// A descriptor's address: in registers that hold nothing else ([`crate::bytecode::Program::handles`]).
    pub handle: bool,
}

/// Registers of an image operation, in the order of [`crate::ir::ImageInst`].
#[derive(Clone, Debug)]
pub struct Image {
    /// The IR value.
    pub value: u32,
    pub results: Vec<V>,
    pub residency: V,
    pub uses: Vec<V>,
}

#[derive(Default)]
pub struct Lir {
    pub insts: Vec<Inst>,
    pub ext: Vec<V>,
    pub raw: Vec<[u32; 4]>,
    pub images: Vec<Image>,
    /// Loop of each instruction for liveness.
    pub loop_at: Vec<u32>,
    /// Instruction of each label.
    pub labels: Vec<u32>,
    /// First and last instruction of each loop.
    pub loops: Vec<(u32, u32)>,
    pub loop_parent: Vec<u32>,
    pub vregs: Vec<VReg>,
    pub origins: Vec<(u32, Origin)>,
    /// Registers of inputs and constants (those that ops read get one).
    pub inputs: Vec<(Input, V)>,
    pub consts: Vec<(V, Ty, u64)>,
    /// Slots and the registers that hold them at the end.
    pub outputs: Vec<(u16, V)>,
    /// Instructions that run once a dispatch.
    pub prologue: u32,
    pub profile: crate::cost::Profile,
}

impl Lir {
    /// What begins at instruction `at`, after all that this was said of, comes from there.
    pub fn from(&mut self, at: usize, origin: Origin) {
        if self.origins.last().is_none_or(|o| o.1 != origin) {
            self.origins.push((at as u32, origin));
        }
    }

    pub fn new_vreg(&mut self, ty: Ty, uniform: bool, home: u32) -> V {
        self.vregs.push(VReg { ty, uniform, home, header_of: NONE, pinned: false, handle: false });
        self.vregs.len() as V - 1
    }
}

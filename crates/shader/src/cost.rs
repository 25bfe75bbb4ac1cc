//! What instructions cost on the modelled GPU: warp-instructions by pipe, counted per block.
//!
//! The pipes are those of a Valhall-class core: FMA (floating-point multiply and add), CVT (conversions, integer
//! addition, comparisons, selects by them), SFU (reciprocals, tables of transcendentals, integer multiplication, logic, shifts, counts
//! of bits, exchange between lanes), load/store and texture. Which instruction is of which pipe Mesa's table of the Valhall instruction
//! set says (`src/panfrost/compiler/valhall/ISA.xml`, `unit`); sequences for sin, cos, exp2 and log2 are those of its compiler. Of
//! asin, acos, atan, pow and integer division the SFU's part is what was measured on a Mali-G57 (azhirnov/as-en: 26, 26, 20, 2 to 4, 20 and
//! 22 additions), where an SFU instruction takes as long as four additions. An instruction of the IR stands for one of the machine's, or for the sequence that a compiler would emit
//! for it; 64-bit arithmetic costs twice. Modifiers (negation, absolute value, saturation), copies and what the engine
//! does for its own sake (NaN canonicalisation, flushes) are free. What each costs stands in its row of
//! [`crate::isa`]. What depends on constants and bindings alone runs once a draw (as a Mali's uniform preamble does) and
//! is not counted. Arithmetic on 16- and 8-bit values works on two or four of them at once, where a block has as many of
//! one kind.

use crate::ir::{Inst, Ty};
use crate::isa;

/// False in builds that count nothing, by which counting's own cost is measured.
pub const COUNTED: bool = !cfg!(feature = "uncounted");

/// Warp-instructions by pipe for one execution of some code by one warp.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cost {
    pub fma: u32,
    pub cvt: u32,
    pub sfu: u32,
    /// Load/store instructions (the cycles depend on the lines that they touch).
    pub ls: u32,
    /// Of these, loads that touch one line whatever happens: of a word that all of the warp's lanes share.
    pub single: u32,
    /// Of these, all other loads.
    pub loads: u32,
    /// Texture messages.
    pub tex: u32,
    /// Of the arithmetic ones, those on 8- and 16-bit values.
    pub narrow: u32,
    /// Barriers of workgroups.
    pub barriers: u32,
    /// Interpolation slots of a quad: a component of 32 bits, or two of 16.
    pub varying: u32,
}

impl Cost {
    pub const FREE: Cost = Cost {
        fma: 0,
        cvt: 0,
        sfu: 0,
        ls: 0,
        single: 0,
        loads: 0,
        tex: 0,
        narrow: 0,
        barriers: 0,
        varying: 0,
    };

    /// One instruction of the load/store unit, one of the texture unit.
    pub(crate) const LS: Cost = Cost { ls: 1, ..Cost::FREE };
    pub(crate) const TEX: Cost = Cost { tex: 1, ..Cost::FREE };
    /// All warps of a workgroup meet.
    pub(crate) const BARRIER: Cost = Cost { barriers: 1, ..Cost::FREE };

    pub(crate) const fn arithmetic(fma: u32, cvt: u32, sfu: u32) -> Cost {
        Cost { fma, cvt, sfu, ..Cost::FREE }
    }
    /// All instructions.
    pub fn instructions(&self) -> u32 {
        let all = [self.fma, self.cvt, self.sfu, self.ls, self.tex, self.barriers];
        all.into_iter().fold(0, u32::saturating_add)
    }
    /// Percent of the arithmetic instructions that work on 16 bits or fewer.
    pub fn narrow_percent(&self) -> f64 {
        let arithmetic = self.fma + self.cvt + self.sfu;
        if arithmetic == 0 { 0.0 } else { 100.0 * self.narrow as f64 / arithmetic as f64 }
    }
    pub fn is_free(&self) -> bool {
        self.instructions() == 0
    }
    pub fn add(&mut self, o: &Cost) {
        self.fma = self.fma.saturating_add(o.fma);
        self.cvt = self.cvt.saturating_add(o.cvt);
        self.sfu = self.sfu.saturating_add(o.sfu);
        self.ls = self.ls.saturating_add(o.ls);
        self.single = self.single.saturating_add(o.single);
        self.loads = self.loads.saturating_add(o.loads);
        self.tex = self.tex.saturating_add(o.tex);
        self.narrow = self.narrow.saturating_add(o.narrow);
        self.barriers = self.barriers.saturating_add(o.barriers);
        self.varying = self.varying.saturating_add(o.varying);
    }
    pub(crate) fn times(self, n: u32) -> Cost {
        Cost {
            fma: self.fma.saturating_mul(n),
            cvt: self.cvt.saturating_mul(n),
            sfu: self.sfu.saturating_mul(n),
            ls: self.ls.saturating_mul(n),
            single: self.single.saturating_mul(n),
            loads: self.loads.saturating_mul(n),
            tex: self.tex.saturating_mul(n),
            narrow: self.narrow.saturating_mul(n),
            barriers: self.barriers.saturating_mul(n),
            varying: self.varying.saturating_mul(n),
        }
    }

    /// Of one instruction. `operand`: type of the first operand (of the result where there is none).
    pub fn of(inst: &Inst, operand: Ty) -> Cost {
        isa::cost(inst, if operand == Ty::B64 { 2 } else { 1 })
    }
}

/// Instructions with which a fragment program ends: one that says which samples are left (ATEST), and one for each colour that goes to
/// the tile buffer (BLEND). They count as the CVT pipe's (ours).
pub const fn ends(colors: u32) -> Cost {
    Cost::arithmetic(0, 1 + colors, 0)
}

/// What a program counts while it runs, and what the counts mean.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Profile {
    /// By the number of a [`crate::bytecode::Code::COUNT`] op (0 is none's): what one warp that passes it costs, in all
    /// blocks whose executions that count stands for.
    pub counters: Vec<Cost>,
    /// Vertex programs whose positions can be shaded apart.
    pub halves: Option<Halves>,
    /// Instrumented programs: what each counter says of the application's own basic blocks.
    pub marks: Vec<MarkUse>,
    /// Basic blocks of the instrumented module.
    pub mark_count: u32,
    /// 32-bit registers an invocation needs, as far as a machine with one file for all would.
    pub registers: u32,
    /// Descriptors that its prologue reads.
    pub descriptors: u32,
    pub ways: Ways,
    /// Of what runs once a draw or dispatch, which is in none of the others.
    pub uniform: Cost,
    /// Instrumented programs: of the code of each basic block once through, by the mark's number.
    pub once: Vec<Cost>,
}

/// What code costs once through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ways {
    /// Every block. With a fragment program's end ([`ends`]), as the other two.
    pub total: Cost,
    /// The way with the fewest instructions.
    pub shortest: Cost,
    /// That with the most; `None`: there are loops whose iterations do not follow from constants.
    pub longest: Option<Cost>,
}

/// The halves of a vertex program: what positions need (and what else goes to memory), and what the other outputs need. What both need
/// is in both.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Halves {
    pub position: Half,
    pub others: Half,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Half {
    /// As [`Profile::counters`].
    pub costs: Vec<Cost>,
    /// Locations of attributes that are read, in order.
    pub attributes: Vec<u16>,
    pub ways: Ways,
}

/// A counter of an instrumented program belongs to a block of the application's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MarkUse {
    pub counter: u32,
    /// Index of the basic block, as [`crate::ir::Inst::Mark`] names it.
    pub mark: u32,
    /// The counter's counts are executions of the block (of several such, their sum is). Else only the cost counts.
    pub entry: bool,
    /// The memory and texture work at the counter's row is the block's.
    pub work: bool,
    pub cost: Cost,
}
